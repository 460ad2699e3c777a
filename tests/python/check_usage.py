# SPDX-License-Identifier: Apache-2.0
"""The same manners in every tool: usage: check_usage.py TOOL..."""
import os
import pathlib
import re
import subprocess
import sys

import lacking

COMMON = ["--quiet", "--verbose", "--progress", "--report", "--help", "--version"]


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)


def check(condition, *what):
    if not condition:
        sys.exit(" ".join(map(str, what)))


def on_terminal(words, **environment):
    """What the program writes to stderr when that is a terminal; None: there is none here."""
    both = lacking.terminal()
    if not both:
        return None
    ours, theirs = both
    got = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                         env={**os.environ, "TERM": "xterm", **environment})
    os.close(theirs)
    text = os.read(ours, 65536).decode()
    os.close(ours)
    return got.returncode, text


for tool in sys.argv[1:]:
    name = os.path.basename(tool)
    for words in (["--help", "all"], ["-h", "all"], ["--help=all"]):
        got = run(tool, *words)
        check(got.returncode == 0 and not got.stderr, name, words, got)
        check(got.stdout.startswith(f"{name}: "), name, "help does not start with its name")
        check(f"usage: {name} " in got.stdout and "examples:" in got.stdout, name, got.stdout)
        for option in COMMON:
            check(option in got.stdout, name, "help lacks", option)
        check(max(map(len, got.stdout.split("\n"))) <= 100, name, "help has lines over 100")
    every = got.stdout
    for flag in ("--help", "-h"):
        got = run(tool, flag)
        check(got.returncode == 0 and not got.stderr, name, flag, got)
        check(got.stdout.startswith(f"{name}: ") and "examples:" in got.stdout, name, got.stdout)
        if f"all options: {name} --help all" not in got.stdout:
            check(got.stdout == every and name not in ("modalmesh", "modalpack", "modalsim", "modaldeform"), name, got.stdout)
            continue
        check(got.stdout.count("\n") <= 36, name, "help is more than a screen,", got.stdout.count("\n"))
        shown, there = ([line.split()[0] for line in re.findall(r"^ +(?:-., +)?(--.*)", text, re.M)]
                        for text in (got.stdout, every))
        check(len(shown) >= 6 and set(shown) < set(there), name, "options of --help", shown)
    got = run(tool, "--help=some")
    check(got.returncode == 2 and got.stderr == f"{name}: --help: must be all, or nothing, some\n", name, got)
    got = run(tool, "--repotr", "x")
    check(got.returncode == 2 and got.stderr ==
          f"{name}: --repotr: unknown option, did you mean --report? (see --help all)\n", name, got)
    got = run(tool, "-V")
    check(got.returncode == 0 and re.match(rf"{name} \d+\.\d+\.\d+(\+[0-9a-f]{{7,}}(\.dirty)?)? ", got.stdout), name, got)
    if (pathlib.Path(__file__).resolve().parents[2] / ".git").exists():
        check("+" in got.stdout.split("\n")[0], name, "-V: no commit,", got.stdout)
    library = "TetGen" if name == "modalmesh" else "HDF5"
    check("compiler:" in got.stdout and library in got.stdout, name, "-V", got.stdout)
    # too few, too many
    operands = {"modalplace": ["a", "b"], "modalpack": ["a"]}.get(name, ["a", "b", "c", "d"])
    for words in (["--nonsense"], ["-Z"], [], operands, ["--report"]):
        got = run(tool, *words)
        check(got.returncode == 2 and not got.stdout, name, words, got)
        check(got.stderr.startswith(f"{name}: ") and got.stderr.count("\n") == 1, name, got)
    with open("/dev/full", "w") as full:
        got = subprocess.run([tool, "--help"], stdout=full, stderr=subprocess.PIPE)
    check(got.returncode == 4, name, "--help to a full device:", got)
    got = run(tool, "--generate", "fish")
    check(got.returncode == 2 and "--generate: must be" in got.stderr, name, got)
    got = run(tool, "--progress", "loud", "absent", "absent2")
    check(got.returncode == 2 and not got.stdout, name, got)
    if name != "modalbench":
        words = [tool, "absent.h5"] + {"modalinfo": [], "modalsim": ["out.h5", "--static"], "modalmesh": ["out.msh"],
                                        "modalplace": ["out.h5", "absent2.h5"], "modaldeform": ["out"], "modalrender": ["out"], "modalcurv": ["out"],
                                        "modalview": ["out.html"]}.get(name, ["out.h5"])
        if name == "modaltled":
            words += ["--scene", "absent.json"]
        if name == "modaltex":
            words = [tool, "look", "absent.obj", "out.json"]
        for code, text in filter(None, [on_terminal(words, NO_COLOR="")]):
            last = text.rstrip().split("\n")[-1]  # what it notes before comes first
            check(code == 3 and last.startswith("\033[31m" + name + ":\033[0m "), name, code, repr(text))
        for plain in ({"NO_COLOR": "1"}, {"TERM": "dumb", "NO_COLOR": ""}):
            for code, text in filter(None, [on_terminal(words, **plain)]):
                check(code == 3 and "\033" not in text, name, plain, repr(text))
        check("\033" not in run(*words).stderr, name, "colour in a pipe")
        # --verbose says where in the sources an error was found
        found = re.search(rf"^{name}: found at (\S+):(\d+)$", run(*words, "--verbose").stderr, re.M)
        check(found, name, "no place of the error", run(*words, "--verbose").stderr)
        source = pathlib.Path(__file__).parents[2] / found[1]
        near = source.read_text().split("\n")[int(found[2]) - 1:int(found[2]) + 3]
        check(any(word in "".join(near) for word in ("modal_error_set", "MODAL_FAIL")), name, found[0], near)
        check("found at" not in run(*words).stderr, name, "the place of the error without --verbose")
    print(name, "ok")
lacking.end("usage ok")
