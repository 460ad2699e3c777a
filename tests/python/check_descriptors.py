#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are started with some of the descriptors 0, 1 and 2 closed, as cron and daemons do: every tool writes the
bytes that it writes otherwise, messages land in no file, and - where that stream is closed is refused. With too few of them a run ends, and says so.
usage: check_descriptors.py BIN_FOLDER TOOL... [--all]; without --all the commands of a tool share the seven ways to close some, and each
has one at least; with it each command is run in all of them."""
import collections
import itertools
import os
import resource
import subprocess
import sys
import tempfile

import tool_commands as commands
from tool_commands import COMMANDS, files_below, fresh, kind_of, run

everything = "--all" in sys.argv
folder, tools = os.path.abspath(sys.argv[1]), [name for name in sys.argv[2:] if not name.startswith("--")]
CLOSED = [c for n in (1, 2, 3) for c in itertools.combinations((0, 1, 2), n)]


def without(words, closed, code=0):
    """Runs with these closed; returns what still came out of 1 and 2."""
    redirections = " ".join(f"{d}<&-" if d == 0 else f"{d}>&-" for d in closed)
    got = subprocess.run(["sh", "-c", f'exec "$@" {redirections}', "sh", *map(str, words)], capture_output=True,
                         stdin=subprocess.DEVNULL)
    assert got.returncode == code, (words, closed, got)
    return got


def lines_of(commands_of):
    for command in commands_of:
        if command.tool == "modalbench":
            continue
        words = command.line(folder)
        at = words.index("--report")
        yield kind_of(command), words[:at] + words[at + 2:] + ["-v"]


def surfaces():
    """Where modalmesh has a library, it works in a process of its own."""
    for engine in ("gmsh", "tetgen"):
        if engine in run([f"{folder}/modalmesh", "--version"]).stdout.decode().lower():
            yield engine, [f"{folder}/modalmesh", "fine.obj", "n.msh", "--engine", engine, "-v"]


def same_bytes():
    n, turn = 0, collections.Counter()
    lines = [*lines_of(c for c in COMMANDS if c.tool in tools), *(surfaces() if "modalmesh" in tools else [])]
    alike = collections.Counter(kind for kind, _ in lines)
    for kind, words in lines:
        i, turn[kind] = turn[kind], turn[kind] + 1
        ways = [c for k, c in enumerate(CLOSED) if everything or k % alike[kind] == i or k == i % len(CLOSED)]
        fresh("../inputs")
        want_out = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL)
        if want_out.returncode == 2 and "was built without" in want_out.stderr.decode():
            continue
        assert want_out.returncode == 0, (words, want_out)
        want = files_below()
        for closed in ways:
            fresh("../inputs")
            got = without(words, closed)
            found = files_below()
            assert found == want, (words, closed, [name for name in {*found, *want} if found.get(name) != want.get(name)])
            assert 1 in closed or got.stdout == want_out.stdout, (words, closed, got)
            assert bool(got.stderr) == (2 not in closed and want_out.stderr != b""), (words, closed, got)
            n += 1
    return n


def pipes():
    """What is asked for and cannot be given is an error."""
    fresh("../inputs")
    simulate = [f"{folder}/modalsim", "a.h5", "-", "--duration", "0.1", "--fps", "100", "--initial", "0=1"]
    for words, stream in ((simulate, 1), ([f"{folder}/modalinfo", "t.h5", "--report", "-"], 1),
                          ([f"{folder}/modalinfo", "-"], 0), ([f"{folder}/modalview", "-", "p.html"], 0),
                          ([f"{folder}/modaldeform", "-", "o"], 0)):
        if os.path.basename(words[0]) in tools:
            before = files_below()
            got = without(words, [stream], code=4)
            assert b"standard " in got.stderr and b" is closed, -" in got.stderr, (words, got)
            without(words, [0, 1, 2], code=4)
            assert files_below() == before, words


def few():
    """With too few descriptors (ulimit -n) that is what is said, and nothing is left."""
    n, tried = 0, set()
    for kind, words in lines_of(c for c in COMMANDS if c.tool in tools):
        if kind in tried and not everything:
            continue
        tried.add(kind)
        for limit in range(3, 100, 1 if everything else 2):
            fresh("../inputs")
            before = files_below()
            got = subprocess.run(words[:-1], capture_output=True, text=True, stdin=subprocess.DEVNULL, # without -v
                                 preexec_fn=lambda most=limit: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
            n += 1
            if got.returncode == 0:
                break
            if got.returncode == 127 and "shared librar" in got.stderr: # before any of the program's own code
                continue
            assert got.returncode == 4 and "Too many open files" in got.stderr.splitlines()[-1], (words, limit, got)
            assert files_below() == before, (words, limit)
        else:
            raise AssertionError(words)
    return n


with tempfile.TemporaryDirectory() as place:
    os.makedirs(f"{place}/inputs")
    os.chdir(f"{place}/inputs")
    commands.write_inputs(folder)
    os.makedirs(f"{place}/work")
    os.chdir(f"{place}/work")
    pipes()
    print(f"check_descriptors: {same_bytes()} runs, the same bytes; {few()} with few descriptors")
    os.chdir("/")
