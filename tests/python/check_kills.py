#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs that are killed before the n-th call that changes a file or a name, for every n of what gives outputs their names
(with --all: for every n from the start of the process, of more formats at once): what was there is there, every file that has its name is
complete, and the same command then succeeds and leaves nothing else. Runs that are told to end (SIGTERM) there either
have done it all and say so, or nothing.
usage: check_kills.py BIN_FOLDER KILL_AT_LIBRARY [--all]"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

import tool_commands as commands
from tool_commands import files_below, fresh, run

folder, library = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
everything = "--all" in sys.argv
LEFT = re.compile(r"\.(tmp-[0-9a-f]{8}~?(/.*)?|old-[0-9a-f]{8}(/.*)?|commit|part|journal)$")

# files, and a folder of them
MANY = ["modaldeform", "t.h5", "o", "--format", "vtkhdf,glb,ply,pc2" if everything else "vtkhdf,ply", "-j1"]
RESUME = ["modaldeform", "t.h5", "o", "--resume", "-j1"]
MESH = ["modalmesh", "y.veg", "n.msh", "--materials-out", "n.json"]
SCENE = ["modalsim", "a.h5", "n.h5", "--scene", "s.json", "--checkpoint", "k.h5", "--checkpoint-every", "4", "-j1"]
# name, command, what makes older outputs (or None), name of the output that says that all are there, from where
CASES = [
    ("many", MANY, None, "o/manifest.json", ".commit"),
    ("many, force", [*MANY, "-f"], [*MANY, "--frames", ":4"], "o/manifest.json", ".commit"),
    ("resume", RESUME, None, "o/manifest.json", ".commit"),
    ("resume, force", [*RESUME, "-f"], [*RESUME, "--frames", ":4"], "o/manifest.json", ".commit"),
    ("mesh", MESH, None, "n.msh", ".commit"),
    ("mesh, force", [*MESH, "-f"], ["modalmesh", "x.node", "n.msh"], "n.msh", ".commit"),
]
SINGLE = [
    ("scene", [*SCENE, "-f"], None, "n.h5", ""),
    ("basis", ["modalpack", "x.node", "n.h5", *commands.STEEL, "--modes", "2", "-j1", "-f"], None, "n.h5", ""),
    ("page", ["modalview", "t.h5", "n.html", "-f"], None, "n.html", ""),
    ("place", ["modalplace", "places.csv", "n.h5", "a.h5", "a2.h5", "-f"], None, "n.h5", ""),
]


def line(words):
    return [f"{folder}/{words[0]}", *words[1:]]


def outputs():
    """The files that the inputs do not have, but for what a killed run may leave."""
    return {n: text for n, text in files_below().items() if n not in inputs}


def killed(words, at, number, start):
    more = {**os.environ, "LD_PRELOAD": library, "KILL_AT": str(at), "KILL_SIGNAL": str(int(number)), "KILL_FROM": start,
            "ASAN_OPTIONS": "verify_asan_link_order=0"}
    return run(line(words), code=None, env=more)


def begin(older):
    fresh("../inputs")
    if older:
        run(line(older))
    return outputs()


def number_of_calls(words, older, start):
    begin(older)
    run(line(words), env={**os.environ, "LD_PRELOAD": library, "KILL_FROM": start, "KILL_COUNT": "../calls",
                          "ASAN_OPTIONS": "verify_asan_link_order=0"})
    with open("../calls", encoding="utf-8") as file:
        return int(file.read())


def complete(found, old, new, what):
    """Every name is as it was or as it will be; nothing is there that is neither. (A checkpoint is added to in place.)"""
    for name, text in found.items():
        if not LEFT.search(name) and name != "k.h5":
            assert text in (old.get(name), new.get(name)), (what, name, "is neither the old nor the new one")


def kill_case(name, words, older, last, start):
    begin(older)
    run(line(words))
    new = {n: t for n, t in outputs().items()}
    n_calls = number_of_calls(words, older, start)
    assert n_calls > 3, (name, n_calls)
    force = "-f" in words
    for at in range(1, n_calls + 1):
        what = (name, at, n_calls)
        old = begin(older)
        got = killed(words, at, signal.SIGKILL, start)
        assert got.returncode == -signal.SIGKILL, (what, got)
        assert all(text == inputs[n] for n, text in files_below().items() if n in inputs), what
        found = outputs()
        complete(found, old, new, what)
        done = found.get(last) == new[last] and (old.get(last) != new[last])
        if done:  # all others are there, too
            assert all(found.get(n) == text for n, text in new.items()), (what, "incomplete")
        if force and older and words[0] == "modaldeform":
            # a run that may not replace anything first puts all of the old or of the new ones there
            run(line([w for w in words if w != "-f"]), code=2)
            seen = {n: t for n, t in outputs().items() if not LEFT.search(n)}
            assert seen == (new if done else old), (what, sorted(seen))
            begin(older)
            killed(words, at, signal.SIGKILL, start)
        again = run(line(words), code=None)
        assert again.returncode == (2 if done and not force else 0), (what, done, again)
        left = outputs()
        assert left.keys() == new.keys() or done and not force, (what, sorted(left.keys() ^ new.keys()))
        assert all(left.get(n) == text for n, text in new.items()), (what, [n for n in new if left.get(n) != new[n]])
        if done and not force:
            assert not [n for n in left if LEFT.search(n) and ".tmp-" not in n], (what, sorted(left))
        if "--resume" in words and not done:
            assert b"goes on after 11 of 11 frames" in again.stderr or start == "", (what, again)
    return n_calls


def signal_case(name, words, older, last, start):
    """Told to end: all is there and the exit code 0, or nothing has changed."""
    begin(older)
    run(line(words))
    new = outputs()
    n_calls = number_of_calls(words, older, start)
    for at in range(1, n_calls + 1):
        old = begin(older)
        got = killed(words, at, signal.SIGTERM, start)
        found = outputs()
        if got.returncode == 0:
            assert found == new and b"interrupted" not in got.stderr, (name, at, n_calls, sorted(found), got.stderr)
        else:
            kept = {n: t for n, t in found.items() if "--resume" not in words or not LEFT.search(n)}
            kept = {n: t for n, t in kept.items() if n != "k.h5"}  # a checkpoint is a result of its own
            assert got.returncode == 143 and kept == old, (name, at, n_calls, got, sorted(found))
    return n_calls


with tempfile.TemporaryDirectory() as place:
    library = shutil.copy(library, f"{place}/preloaded.so")  # the loader takes spaces in LD_PRELOAD for ends of names
    os.makedirs(f"{place}/inputs")
    os.chdir(f"{place}/inputs")
    commands.write_inputs(folder)
    inputs = files_below()
    os.makedirs(f"{place}/work")
    os.chdir(f"{place}/work")
    cases = [(*c[:4], "") for c in CASES + SINGLE] if everything else CASES
    for case in cases:
        print(f"check_kills: {case[0]}: killed before each of {kill_case(*case)} calls", flush=True)
    for case in cases if everything else [c for c in CASES if "force" in c[0]]:
        print(f"check_kills: {case[0]}: told to end before each of {signal_case(*case)} calls", flush=True)
    os.chdir("/")
