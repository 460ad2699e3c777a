# SPDX-License-Identifier: Apache-2.0
"""The validator (tools/python/validate), which reads the tables of formats/*.md, and our programs agree on which files are
valid: on good files of every kind and on seeded mutations of them, by h5py (values, types, shapes, links, storage,
attributes, hashes) and of bytes. Bases, trajectories and sequences and snapshots are judged by modalinfo --check,
checkpoints by their reader. Where HDF5 itself crashes or hangs in the validator the file must be refused by us.
usage: check_validator.py --bin FOLDER --tests FOLDER --source FOLDER --count N [--seed N] [--first N] [--kind KIND]
[--keep FOLDER]: N mutations in all"""
import argparse
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

import h5py
import numpy as np

from damage import damage_bytes, damage_chunk
from mutate_h5 import MUTATIONS, plain_datasets, replace
from soft_box import snapshots

TOGETHER = 50  # files a run of the validator


# ---- hashes ----

def rehash(path):
    """Gives a basis the hashes that the validator computes of it, so that they do not hide what else is wrong."""
    for _ in range(4):
        try:
            checked = File(path)
            Basis(checked)
            checked.h5.close()
        except (Unreadable, *DAMAGE):
            return
        wrong = [(place, what[7:]) for place, what in checked.findings if re.fullmatch("is not [0-9a-f]{32}", what)]
        if not wrong:
            return
        place, digest = wrong[0]
        try:
            with h5py.File(path, "r+") as file:
                if place == "/@content_hash":
                    file.attrs["content_hash"] = np.bytes_(digest.encode())
                else:
                    file["shapes/hash"][int(place[13:-1])] = np.frombuffer(bytes.fromhex(digest), "u1")
        except DAMAGE:
            return


# ---- the two judges ----

def validate(paths):
    """({path: what the validator says}, {path: how HDF5 ended in it})"""
    done = subprocess.run([sys.executable, arguments.validator, "--seconds", "3", *paths], capture_output=True, text=True,
                          timeout=600, errors="replace", env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode in (0, 1, 3), (done.returncode, done.stderr[-3000:])
    says, ends = dict.fromkeys(paths, ""), {}
    for line in (done.stdout + done.stderr).split("\n"):
        path = line.removeprefix("validate: ").split(":", 1)[0]
        if path in says:
            says[path] += line + "\n"
            if "HDF5 ended by" in line:
                ends[path] = line.rsplit(" ", 1)[1]
    silent = [path for path, text in says.items() if not text]
    assert not silent, (silent[:3], done.stderr[-3000:])
    return says, ends


def judge(kind, path):
    """(is it sound?, what our program says)"""
    if kind == "checkpoint":
        command = [f"{arguments.tests}/dump_file", kind, path]
    else:
        command = [f"{arguments.bin}/modalinfo", "--check", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, errors="replace")
    assert done.returncode in (0, 1, 3), (command, done.returncode, done.stderr[-3000:])
    return done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]


def sources():
    """{kind: good files}, copied to the current folder; the mutations lie there, too, beside the bases of trajectories."""
    frozen, corpus = f"{arguments.source}/tests/files/frozen", f"{arguments.source}/tests/fuzz/corpus"
    subprocess.run([f"{arguments.tests}/write_samples", "."], check=True, stdout=subprocess.DEVNULL)
    with open("places.csv", "w", encoding="utf-8") as file:
        file.write("0,0,-1,0,0,0,0,0,0\n1,2,0,1,0,0,0,0,0.5\n2,1,-1,0,2,0,0,0,0\n3,2,-1,0,0,3,0,0.1,0\n")
    for command in (["modalpack", f"{frozen}/twig/twig.msh", "twig3.h5", "--modes", "4", "--reduced-forces", "--young", "4e6",
                     "--poisson", "0.3", "--density", "500", "--fixed", "root"],
                    ["modalplace", "--link", "places.csv", "assembly.h5", "basis.h5", "twig3.h5"],
                    ["modalsim", "twig3.h5", "twig3_traj.h5", "--duration", "0.1", "--fps", "60", "--impulse",
                     "0.4,0,0:0,2e-4,4e-4"]):
        subprocess.run([f"{arguments.bin}/{command[0]}", *command[1:]], check=True, capture_output=True)
    sequences = "good", "rounded", "cells", "solid", "solid-cells"
    for name in sequences:
        shutil.copy(f"{corpus}/sequence/{name}.vtkhdf", f"{name}.vtkhdf")
    shutil.copy(f"{corpus}/checkpoint/good.h5", "checkpoint.h5")
    shutil.copy(f"{corpus}/snapshots/good.h5", "snapshots.h5")
    snapshots("snapshots-all.h5")
    os.symlink("basis.h5", "linked-basis.h5")
    os.symlink(f"{corpus}/basis/good.h5", "outside.h5")
    versions = (("earliest", ("earliest", "v108")), ("latest", "latest"))
    return {"basis": ["basis.h5", "twig3.h5", "assembly.h5",
                      *(rewrite("basis.h5", f"basis-{a}.h5", b) for a, b in versions)],
            "trajectory": ["traj.h5", "still.h5", "twig3_traj.h5",
                           *(rewrite("traj.h5", f"traj-{a}.h5", b) for a, b in versions)],
            "snapshots": ["snapshots.h5", "snapshots-all.h5", rewrite("snapshots.h5", "snapshots-earliest.h5", ("earliest", "v108"))],
            "checkpoint": ["checkpoint.h5"],
            "sequence": [f"{name}.vtkhdf" for name in sequences]}


def rewrite(source, target, libver):
    """The same in other metadata."""
    def copy(old, new):
        for key in old.attrs:
            new.attrs.create(key, old.attrs[key], dtype=old.attrs.get_id(key).dtype)
        for name in old:
            if old.get(name, getclass=True, getlink=True) is h5py.ExternalLink:
                new[name] = h5py.ExternalLink(old.get(name, getlink=True).filename, "/")
            elif isinstance(old[name], h5py.Group):
                copy(old[name], new.create_group(name))
            else:
                empty = {} if old[name].size else {"maxshape": old[name].maxshape, "chunks": (1,)}
                new.create_dataset(name, data=old[name][()], **empty)
                for key in old[name].attrs:
                    new[name].attrs[key] = old[name].attrs[key]
    with h5py.File(source, "r") as old, h5py.File(target, "w", libver=libver) as new:
        copy(old, new)
    return target


def mutate(source, target, chance):
    """Makes one mutation; gives its name."""
    shutil.copy(source, target)
    level = chance.randrange(10)
    if level < 7:
        names = []
        with h5py.File(target, "r+") as file:
            for _ in range(chance.choice((1, 1, 1, 2))):
                change = chance.choice(MUTATIONS)
                try:
                    change(file, chance)
                except (OSError, ValueError, KeyError, RuntimeError, TypeError, IndexError):  # what is no longer there
                    pass
                names.append(change.__name__)
        if source in GOOD["basis"] and chance.random() < 0.7:
            rehash(target)
        return names[-1]
    if level == 7:
        with h5py.File(target, "r+") as file:
            for path in plain_datasets(file):
                if file[path].size and file[path].ndim:
                    storage = chance.choice(({"chunks": True, "compression": "gzip"}, {"chunks": True},
                                             {"chunks": True, "shuffle": True}))
                    replace(file, path, lambda group, name, values: group.create_dataset(name, data=values, **storage))
        damage_chunk(target, chance)
        return "damage_chunk"
    with open(target, "rb") as file:
        data = bytearray(file.read())
    if level == 8:                      # values
        with h5py.File(target) as file:
            places = [(file[name].id.get_offset(), file[name].id.get_storage_size()) for name in plain_datasets(file)]
        at, size = chance.choice([(a, n) for a, n in places if a and n])
        data[at + chance.randrange(size)] ^= 1 << chance.randrange(8)
        name = "flip_value"
    elif chance.random() < 0.2:         # a user block, or more bytes
        data = chance.choice((bytes(512) + data, bytes(1 << 20) + data, bytes(2 << 20) + data, bytes(700) + data,
                              data + b"\0", data[:-1]))
        name = "other_length"
    else:
        data, name = damage_bytes(data, chance), "damage_bytes"
    with open(target, "wb") as file:
        file.write(data)
    return name


def mutate_apart(source, target, chance):
    """`mutate` in a process of its own, in which HDF5 may crash; what it leaves then is a mutation, too."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            name = mutate(source, target, chance)
            with open("name", "w", encoding="utf-8") as file:
                file.write(name)
            code = 0
        except Exception:
            traceback.print_exc()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code <= 0, f"{target}: no mutation was made"
    if code < 0:
        return "HDF5 crashed"
    with open("name", encoding="utf-8") as file:
        return file.read()


def good_ends(kind, path):
    """What the validator says at last of a file that keeps all rules."""
    return f"{path}: valid {kind}\n", *(f"{path}: valid {kind}, rating {rating}\n" for rating in ("ok", "suspect", "not judged"))


def main():
    counts, differ, ended, n_sound = collections.Counter(), [], collections.Counter(), 0
    for kind, paths in GOOD.items():
        says, _ = validate(paths)
        for path in paths:
            assert says[path].endswith(good_ends(kind, path)) and judge(kind, path)[0], (says[path], judge(kind, path))
            checked = File(path)
            skipped = table_of(checked, kind).skipped
            checked.h5.close()
            assert not skipped, (path, skipped)  # every rule of the page that belongs to the file was applied
    todo = [(kind, n) for n in range(arguments.first, arguments.first + arguments.count)
            for kind in (random.Random(f"{arguments.seed} {n}").choice(list(GOOD) + ["basis", "basis", "sequence"]),)
            if arguments.kind in (None, kind)]
    for start in range(0, len(todo), TOGETHER):
        made = {}
        for kind, n in todo[start:start + TOGETHER]:
            chance = random.Random(f"{arguments.seed} {kind} {n}")
            path = f"{kind}-{n:06}.h5"
            made[path] = (kind, mutate_apart(chance.choice(GOOD[kind]), path, chance))
        says, ends = validate(list(made))
        for path, (kind, name) in made.items():
            sound, ours = judge(kind, path)
            theirs = says[path].endswith(good_ends(kind, path))
            counts[kind, sound] += 1
            n_sound += sound
            if path in ends:
                ended[ends[path]] += 1
            if sound != theirs:
                differ.append(f"{path} ({name}): ours: {ours.strip()}\n  the validator: {says[path].strip()}")
                print(differ[-1], flush=True)
            elif not arguments.keep:
                os.remove(path)
    print(f"{len(todo)} mutations, {n_sound} of them sound;", ", ".join(
        f"{kind}: {counts[kind, True]} + {counts[kind, False]}" for kind in GOOD), "sound + broken; HDF5 ended the validator:",
          ", ".join(f"{n} times by {name}" for name, n in ended.items()) or "never")
    assert not differ, f"{len(differ)} times the two do not agree"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for option in ("bin", "tests", "source"):
        parser.add_argument(f"--{option}", required=True, type=os.path.abspath)
    parser.add_argument("--count", required=True, type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kind")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    arguments.validator = f"{arguments.source}/tools/python/validate"
    sys.path.insert(0, arguments.validator)
    from container import DAMAGE, File, Unreadable
    from files import Basis, table_of
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(arguments.keep or temporary)
        GOOD = sources()
        main()
        os.chdir("/")
