# SPDX-License-Identifier: Apache-2.0
"""What commands read, in a shape that it must not have: a named pipe in the place of every input of every command, into which nobody writes; and
HDF5 files of every kind without each of their attributes, datasets and groups in turn, before modalinfo and the commands that read them. Each run ends
soon, by no signal, with a documented exit code; with a line of its own where it fails.
usage: check_inputs.py BIN_FOLDER TOOL... [--all]; with --all every pipe before every command, and every part that is missing before modalinfo --check
and every command that reads it. Without: a pipe in the place of each HDF5 file once and of each other input of each tool once, modalinfo --check of what
lacks an attribute, each once for a kind of file, and of a few that lack a dataset or a group, and few of the commands that read these."""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

import h5py

import tool_commands as commands
from tool_commands import COMMANDS, fresh, run

everything = "--all" in sys.argv
folder, tools = os.path.abspath(sys.argv[1]), [name for name in sys.argv[2:] if not name.startswith("--")]
RUNS = 40 # one in so many, by their names: datasets and groups that modalinfo misses, and commands that miss anything


def ends(words, codes, what):
    got = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60)
    tool = os.path.basename(words[0])
    assert got.returncode in codes, (what, words[1:], got.returncode, got.stderr[-2000:])
    lines = got.stderr.splitlines()
    assert all(line.startswith(f"{tool}: ") for line in lines) and (got.returncode < 2 or lines), (what, words[1:], got.stderr)
    return got


def pipes():
    tried, n = set(), 0
    for command in (c for c in COMMANDS if c.tool in tools and c.tool != "modalbench"):
        for name in command.reads:
            way = name if name.endswith(".h5") else (command.tool, name)  # one door for all HDF5 files
            if os.path.isdir(f"../inputs/{name}") or (not everything and way in tried):
                continue
            tried.add(way)
            fresh("../inputs")
            os.remove(name)
            os.mkfifo(name)
            # 0: a file that such a run does not need, or 1: that a checker finds wrong
            ends(command.line(folder), range(5), f"{name} is a pipe")
            os.remove(name)
            n += 1
    return n


def parts_of(name):
    """What can be removed: (path, attribute) and (path, None)."""
    found = []
    with h5py.File(name) as file:
        def note(path, item):
            found.extend((path, key) for key in item.attrs)
            if path != "/":
                found.append((path, None))
        note("/", file)
        file.visititems(note)
    return found


def put_without(name, path, key):
    shutil.copy(f"../inputs/{name}", name)
    with h5py.File(name, "r+") as file:
        if key is None:
            del file[path]
        else:
            del file[path].attrs[key]


def absences():
    n, tried = 0, set()
    fresh("../inputs")
    for name in sorted(commands.files_below("../inputs")):
        if not h5py.is_hdf5(f"../inputs/{name}"):
            continue
        with h5py.File(f"../inputs/{name}") as file:
            kind = file.attrs.get("modal_format")
        readers = [c for c in COMMANDS if c.tool in tools and c.tool not in ("modalinfo", "modalbench") and name in c.reads]
        for path, key in parts_of(f"../inputs/{name}"):
            what = f"{name} without {path}{'@' + key if key else ''}"
            turn = zlib.crc32(what.encode())
            like = ("provenance" not in path and kind, re.sub("[0-9]+", "0", path), key)  # provenance is read alike
            if "modalinfo" in tools and (everything or (key and like not in tried) or turn % RUNS == 0):
                tried.add(like)
                put_without(name, path, key)
                ends([f"{folder}/modalinfo", "--check", name], (0, 1, 3), what)
                n += 1
            for command in readers if everything else readers[turn // RUNS % max(1, len(readers)):][:turn % RUNS == 0]:
                fresh("../inputs")
                put_without(name, path, key)
                ends(command.line(folder), range(6), what)
                n += 1
        shutil.copy(f"../inputs/{name}", name)
    return n


with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as leave:
    leave.callback(os.chdir, "/")
    os.makedirs(f"{place}/inputs")
    os.chdir(f"{place}/inputs")
    commands.write_inputs(folder)
    run([f"{folder}/modaltex", "pack", "lk.json", "tx.h5", "-q"])
    run([f"{folder}/modaltex", "bake", "oc.h5", "a.h5", "at.png", "--own-charts", "--size", "64", "-q"])
    os.makedirs(f"{place}/work")
    os.chdir(f"{place}/work")
    print(f"check_inputs: {pipes()} pipes, {absences()} runs without something")
