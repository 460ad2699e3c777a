# SPDX-License-Identifier: Apache-2.0
"""Every option with a value of every tool, at every extreme: a table made of the option tables. Each number in the value is put to 0, to the
largest and smallest numbers of float64 and past the ends of int32 and int64, to what is no number and to nothing, the others to 1. The tool does its
work, and what it wrote is sound, or ends with a documented exit code and a line of its own: by no signal, soon, in little memory.
usage: check_extremes.py BIN_FOLDER TOOL... [--all]; without --all one value in 120, by their names."""
import contextlib
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import zlib

import tool_commands as commands
from tool_commands import COMMANDS, Command, fresh, put, run

everything = "--all" in sys.argv
folder, tools = os.path.abspath(sys.argv[1]), [name for name in sys.argv[2:] if not name.startswith("--")]
EXTREMES = ["0", "-0", "-1", "1e308", "-1e308", "1e-320", "inf", "nan", "2147483648", "-2147483649", "9223372036854775808", "9" * 400, "", " 1", "0x10"]
SECONDS, MOST_BYTES, SAMPLE = 60, 1 << 30, 120
# options that tool_commands.py has no command for
MORE = [Command("modaltex", "build {a.h5} {n.h5} --resolution 8", ["a.h5"], ["n.h5"]),
        Command("modaltex", "sample {oc.h5} {at.csv} {n.csv}", ["oc.h5", "at.csv"], ["n.csv"]),
        Command("modalmesh", "{fine.obj} {n.msh}", ["fine.obj"], ["n.msh"]),
        Command("modaldeform", "{t.h5} o --format wav --listen 1,1,1", ["t.h5"], []),
        Command("modaldeform", "{t.h5} o --format csv --probe 0", ["t.h5"], []),
        Command("modalpack", "{x.node} {b.h5} --young 2e11 --poisson 0.3 --density 7800 --modes 3", ["x.node"], ["b.h5"]),
        Command("modalpack", "{x.node} {b.h5} --young 2e11 --poisson 0.3 --density 7800 --modes 3 --fixed plane:0,0,0:0,0,-1 --reduced-forces --derivatives 2",
                ["x.node"], ["b.h5"])]


def options_of(words):
    """{name: what --help calls its value} of options whose value is no file and no choice of words."""
    text = run([*words, "--generate", "zsh"]).stdout.decode().replace("\\\n", "\n")
    found = {}
    for line in text.split("\n"):
        # '--name[help]:VALUE:what', with a letter '(-x --name)'{-x,--name}'[help]:VALUE:what'
        match = re.match(r"\s+'(?:\([^)]*\)'\{-\w,)?\*?--([a-z0-9-]+)(?:\}')?\[(?:\\.|[^\]\\])*\]::?((?:\\.|[^:\\])*):([^']*)'", line)
        if match and match[3] != "_files" and re.search(r"[A-Z]", match[2]):
            found[match[1]] = re.sub(r"\\(.)", r"\1", match[2])
    return found


def values_of(shape):
    """(a value of ones, [values with one extreme]) of each way to write it: X,Y,Z[@T]|auto."""
    for way in re.sub(r"^\[(.*)\]$", r"\1", shape).replace("[GROUP=]", "").split("|"):
        way = re.sub(r"[\[\]]", "", way)
        words = list(re.finditer(r"[A-Z]+", way))
        if not words:
            continue

        def with_word(k, extreme):
            text, at = "", 0
            for i, word in enumerate(words):
                text += way[at:word.start()] + (extreme if i == k else "1")
                at = word.end()
            return text + way[at:]

        yield with_word(-1, ""), [with_word(k, extreme) for k in range(len(words)) for extreme in EXTREMES]


def without(words, option):
    if f"--{option}" not in words:
        return words
    at = words.index(f"--{option}")
    return words[:at] + words[at + 2:]


def run_bounded(words):
    """Exit code, stderr, peak memory in bytes."""
    with open("../err", "wb+") as err:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=err)
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        err.seek(0)
        return process.returncode, err.read().decode(errors="replace"), usage.ru_maxrss * 1024


def base_for(candidates, option, value):
    """The first of the commands that takes the option: the others refuse every value."""
    best = None
    for command in candidates:
        fresh("../inputs")
        words = without(command.line(folder), option)
        code = run_bounded([*words, f"--{option}={value}"])[0]
        if code == 0:
            return command
        best = best or (command if code != 2 else None)
    return best or candidates[0]


def check(command, option, value):
    fresh("../inputs")
    words = [*without(command.line(folder), option), f"--{option}={value}"]
    code, text, peak = run_bounded(words)
    what = (words[1:], code, text[-2000:])
    assert code in (0, 1, 2, 3, 4, 5), what
    assert peak < MOST_BYTES, (*what, peak)
    lines = text.rstrip("\n").split("\n") if text else []
    assert all(line.startswith(f"{command.tool}: ") for line in lines) and (code < 2 or lines), what
    for name in command.writes if code == 0 else []:
        if name.endswith(".h5") and os.path.exists(name):
            got = subprocess.run([f"{folder}/modalinfo", "--check", name], capture_output=True, text=True)
            assert got.returncode == 0, (*what, name, got.stdout, got.stderr)


def main():
    n, failed = 0, []
    for tool in tools:
        if tool == "modalbench":  # which measures for seconds whatever the option is
            continue
        kinds = {}
        for command in [*(c for c in MORE if c.tool == tool), *(c for c in COMMANDS if c.tool == tool)]:
            kinds.setdefault(command.words[0] if tool == "modaltex" else "", []).append(command)
        for kind, candidates in kinds.items():
            for option, shape in options_of([f"{folder}/{tool}", *[kind] * bool(kind)]).items():
                for one, values in values_of(shape):
                    chosen = [v for v in values if everything or zlib.crc32(f"{tool} {kind} {option} {v}".encode()) % SAMPLE == 0]
                    base = base_for(candidates, option, one) if chosen else None
                    for value in chosen:
                        try:
                            check(base, option, value)
                        except AssertionError as error:
                            failed.append(str(error))
                        n += 1
    assert not failed, "\n".join(failed)
    return n


with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as leave:
    leave.callback(os.chdir, "/")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.makedirs(f"{place}/inputs")
    os.chdir(f"{place}/inputs")
    commands.write_inputs(folder)
    put("at.csv", ["0.1,0.1,0", "0.2,0.2,0"])
    os.makedirs(f"{place}/work")
    os.chdir(f"{place}/work")
    print(f"check_extremes: {main()} values are taken or refused")
