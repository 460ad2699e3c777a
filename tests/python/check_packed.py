# SPDX-License-Identifier: Apache-2.0
"""The table "What is packed, and who reads it" of formats/README.md: every writer that it names makes a file with the dataset, and every reader refuses
a dataset that is false, or, where any value is good (a colour), makes another output of it.
README's table is a part of it.
usage: check_packed.py BIN_FOLDER REPOSITORY"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import looks
from looks import put
from tool_run import binaries, must, run

SHAPE = "shapes/0000/"
MATERIAL = looks.RUBBER


def table(page, title):
    """Of a section: [(file, dataset, [writer, ...], [reader, ...]), ...]"""
    text = (pathlib.Path(looks.repository) / page).read_text(encoding="utf-8")
    must(f"\n## {title}\n" in text, page, "has no section", title)
    rows = []
    for line in text.split(f"\n## {title}\n")[1].split("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if len(cells) == 5 and cells[0] != "data":
            words = [re.findall(r"`([^`]+)`", cell) for cell in cells]
            rows += [(words[1][0], path, words[3], words[4]) for path in words[2]]
    return rows


# ---- files ----

SAMPLES = {}  # (file, writer): a fresh one


def wrote(file, writer, path):
    SAMPLES[file, writer] = path


def make_files():
    looks.paint_box()
    with open("box.obj") as f:
        lines = [line for line in f if not line.startswith("mtllib")]
    numbered = [re.sub(r"(\d+)/(\d+)", r"\1/\2/1", line) if line.startswith("f ") else line for line in lines]
    put("hard.obj", "vn 0 0 1\n" + "".join(numbered))
    run("modalpack", "box.node", "b.h5", "--surface", "hard.obj", "--modes", 3, *MATERIAL, "-f", "-q")
    wrote("basis.h5", "modalpack", "b.h5")
    put("places.csv", "0,0,-1,0,0,0,0,0,0\n")
    run("modalplace", "places.csv", "placed.h5", "b.h5", "-q")
    wrote("basis.h5", "modalplace", "placed.h5")
    run("modalsim", "b.h5", "t.h5", "--duration", 0.05, "--fps", 100, "--impulse", "1,0,0:0,0.01,0", "-f", "-q")
    wrote("traj.h5", "modalsim", "t.h5")
    run("modaltex", "build", "b.h5", "o.h5", "--resolution", 32, "--neighbours", "-q")
    wrote("octree.h5", "modaltex build", "o.h5")
    wrote("octree.h5", "modaltex build --neighbours", "o.h5")
    put("layers.json", json.dumps({"layers": [{"kind": "marble", "from": [1, 0.9, 0.8], "to": [0, 0.1, 0.2], "scale": 0.1, "turbulence": 1}]}))
    run("modaltex", "paint", "o.h5", "layers.json", "painted.h5", "-q")
    wrote("octree.h5", "modaltex paint", "painted.h5")
    shutil.copy("painted.h5", "k.h5")
    run("modaltex", "bake", "k.h5", "b.h5", "baked.png", "--size", 128, "--own-charts", "--keep", "-f", "-q")
    wrote("octree.h5", "modaltex bake --keep", "k.h5")
    put("look.json", json.dumps({"look": 1, "materials": {"m": {"image": "leaf.png", "normal_image": "n.png"}}, "default": "m"}))
    run("modaltex", "pack", "look.json", "x.h5", "-q")
    wrote("textures.h5", "modaltex pack", "x.h5")
    put("solid.json", json.dumps({"step": "auto", "duration": 0.02, "fps": 100, "gravity": [0, 0, -9.81]}))
    run("modaltled", "box.node", "s.h5", "--scene", "solid.json", *MATERIAL, "-f", "-q")
    wrote("snapshots.h5", "modaltled", "s.h5")
    run("modaldeform", "t.h5", "sequence", "-f", "-q")
    wrote("sequence.vtkhdf", "modaldeform", "sequence/sequence.vtkhdf")
    put("octree.json", json.dumps({"look": 1, "materials": {"m": {"image": "bad.h5"}}, "default": "m"}))


# ---- readers ----

RENDER = ("--frames", 0, "--size", "80x60", "-f", "-q")
READ = {"basis.h5": "b.h5", "traj.h5": "t.h5", "snapshots.h5": "s.h5", "octree.h5": "painted.h5", "textures.h5": "x.h5",
        "sequence.vtkhdf": "sequence/sequence.vtkhdf"}
READERS = {  # of a file, bad.h5 or bad.vtkhdf, to out
    "basis.h5": {
        "modalsim": ("modalsim", "bad.h5", "out", "--duration", 0.02, "--fps", 100, "--impulse", "1,0,0:0,0.01,0", "-f", "-q"),
        "modaldeform": ("modaldeform", "t.h5", "out", "--basis", "bad.h5", "--normals", "dynamic", "-f", "-q"),
        "modaldeform --crease vn": ("modaldeform", "t.h5", "out", "--basis", "bad.h5", "--crease", "vn", "--format", "glb", "-f", "-q"),
        "modalrender": ("modalrender", "t.h5", "out", "--basis", "bad.h5", *RENDER),
        "modalrender --crease vn": ("modalrender", "t.h5", "out", "--basis", "bad.h5", "--crease", "vn", *RENDER),
        "modalview": ("modalview", "t.h5", "out", "--basis", "bad.h5", "-f", "-q"),
    },
    "traj.h5": {
        "modaldeform": ("modaldeform", "bad.h5", "out", "-f", "-q"),
        "modalrender": ("modalrender", "bad.h5", "out", *RENDER),
        "modalview": ("modalview", "bad.h5", "out", "-f", "-q"),
    },
    "snapshots.h5": {
        "modalpack --snapshots": ("modalpack", "box.node", "out", "--snapshots", "bad.h5", *MATERIAL, "-f", "-q"),
        "modalsim --project": ("modalsim", "b.h5", "out", "--project", "bad.h5", "-f", "-q"),
        "modaldeform": ("modaldeform", "bad.h5", "out", "-f", "-q"),
        "modalrender": ("modalrender", "bad.h5", "out", *RENDER),
        "modalview": ("modalview", "bad.h5", "out", "-f", "-q"),
    },
    "sequence.vtkhdf": {
        "modalcurv": ("modalcurv", "bad.vtkhdf", "out", "-f", "-q"),
        "modalrender": ("modalrender", "bad.vtkhdf", "out", *RENDER),
    },
    "octree.h5": {
        "modaltex paint": ("modaltex", "paint", "bad.h5", "layers.json", "out", "-f", "-q"),
        "modaltex sample": ("modaltex", "sample", "bad.h5", "hard.obj", "out.ply", "-f", "-q"),
        "modaltex sample --footprint": ("modaltex", "sample", "bad.h5", "hard.obj", "out.ply", "--footprint", 0.1, "-f", "-q"),
        "modaltex bake": ("modaltex", "bake", "bad.h5", "b.h5", "out.png", "--size", 64, "--own-charts", "-f", "-q"),
        "modaltex flow": ("modaltex", "flow", "t.h5", "bad.h5", "out", "--rain", 0.1, "-f", "-q"),
        "modaltex flow --images": ("modaltex", "flow", "t.h5", "bad.h5", "out", "--rain", 0.1, "--images", "wetness", "-f", "-q"),
        "modaldeform --texture": ("modaldeform", "t.h5", "out", "--texture", "bad.h5", "-f", "-q"),
        "modalrender --look": ("modalrender", "t.h5", "out", "--look", "octree.json", "--frames", 0, "--size", "16x12", "-f", "-q"),
    },
    "textures.h5": {
        "modalrender": ("modalrender", "t.h5", "out", "--look", "bad.h5", *RENDER),
        "modaldeform": ("modaldeform", "t.h5", "out", "--format", "glb", "--look", "bad.h5", "-f", "-q"),
        "modalview": ("modalview", "t.h5", "out", "--look", "bad.h5", "-f", "-q"),
        "modaltex pack": ("modaltex", "pack", "bad.h5", "out", "-f", "-q"),
    },
}


def set_one(place, value):
    return lambda values: values.__setitem__(place, value)


def last_of_row(f):
    """Another triangle at the end of a row, which still ascends."""
    offsets, faces = f[SHAPE + "tables/face_offsets"][:], f[SHAPE + "tables/faces"]
    last = int(faces[...].max())
    row = next(v for v in range(len(offsets) - 1) if faces[offsets[v + 1] - 1] != last)
    faces[offsets[row + 1] - 1] = last


def change(path, edit):
    def damage(f):
        values = f[path][...]
        edit(values)
        f[path][...] = values
    return damage


def complement(values):
    values[..., :3] = 255 - values[..., :3]


REFUSED = {
    SHAPE + "modes/modal_matrix": change(SHAPE + "modes/modal_matrix", set_one((0, 0, 0, 0), np.nan)),
    SHAPE + "tables/face_offsets": change(SHAPE + "tables/face_offsets", lambda v: v.__setitem__(1, v[1] + 1)),
    SHAPE + "tables/faces": last_of_row,
    SHAPE + "tables/boundary": change(SHAPE + "tables/boundary", lambda v: v.__setitem__(3, 1 - v[3])),
    SHAPE + "surface/corner_normals": change(SHAPE + "surface/corner_normals", set_one((0, 0), -1)),
    "displacements": change("displacements", set_one((1, 0, 0), np.nan)),
    "VTKHDF/Points": change("VTKHDF/Points", set_one((0, 0), np.nan)),
    "q": change("q", set_one((1, 0), np.nan)),
    "times": change("times", set_one(1, -1.0)),
    "tree/cells": change("tree/cells", set_one((0, 0), 2**30)),
    "samples/key": change("samples/key", set_one(0, 2**40)),
    "samples/neighbours": change("samples/neighbours", lambda v: v.__setitem__(0, v[0] | 1 << 27)),
    "samples/area": change("samples/area", set_one(0, -1.0)),
    "atlas/uv": change("atlas/uv", set_one((0, 0), np.nan)),
    "atlas/triangle_uv": change("atlas/triangle_uv", set_one((0, 0), -1)),
    "atlas/texel": change("atlas/texel", set_one(0, -1)),
    "atlas/sample": change("atlas/sample", set_one(0, -1)),
    "atlas/place": change("atlas/place", set_one((0, 0), 2.0)),
    "materials/values": change("materials/values", set_one((0, 0, 0), np.nan)),
    "materials/images": change("materials/images", set_one((0, 0), 9)),
}
OUTPUTS = ("out", "out.ply", "out.png", "out.vtkhdf", "out.look.json", "out.obj")


def output_hash():
    hashes = hashlib.sha256()
    for path in sorted(p for name in OUTPUTS for p in [pathlib.Path(name), *pathlib.Path(name).rglob("*")]):
        if path.is_file() and path.name != "manifest.json":  # which has a hash of the input
            hashes.update(path.name.encode() + path.read_bytes())
    return hashes.hexdigest()


def clean():
    for name in OUTPUTS:
        if os.path.isdir(name):
            shutil.rmtree(name)
        elif os.path.exists(name):
            os.remove(name)


def attempt(command, sample, damage):
    """(exit code, stderr, hash of the output) of a reader, with a copy of the sample that damage has changed, of a damage that does nothing, a good one."""
    clean()
    bad = "bad" + os.path.splitext(sample)[1]
    shutil.copy(sample, bad)
    with h5py.File(bad, "r+") as f:
        damage(f)
    got = subprocess.run([f"{binaries}/{command[0]}", *map(str, command[1:])], capture_output=True, text=True, timeout=120)
    return got.returncode, got.stderr, output_hash() if got.returncode == 0 else None


def datasets(path, sample):
    """The datasets of a path of the table: the first shape and class, all levels that its LL stands for."""
    path = path.lstrip("/").replace("NNNN", "0000")
    if "LL" not in path:
        return [path]
    group, name = path.rsplit("/", 1)
    with h5py.File(sample) as f:
        return [f"{group}/{level}" for level in f[group] if re.fullmatch(name.replace("LL", r"\d+"), level) and level != "level_00"]


def sample_of(file, path):
    """With an atlas only where the path is of one: modalrender shows its image instead of the values."""
    return "k.h5" if path.startswith("/atlas") else READ[file]


def check(file, path, reader):
    must(reader in READERS[file], f"{file}: no command of this test reads it by {reader}")
    command, sample = READERS[file][reader], sample_of(file, path)
    code, err, good = attempt(command, sample, lambda f: None)
    must(code == 0, *command, "not 0:", err)
    paths = datasets(path, sample)
    if paths[0] in REFUSED:
        code, err, _ = attempt(command, sample, REFUSED[paths[0]])
        must(code == 3 and "bad." in err and ("/" not in paths[0] or "/" + paths[0].rsplit("/", 1)[0] in err), file, path, f"{reader} takes a false one:", code, err)
        must(not any(os.path.exists(name) for name in OUTPUTS), file, path, f"{reader} left its output")
        return "refuses"

    def all_paths(f):
        for one in paths:
            change(one, complement)(f)
    code, err, other = attempt(command, sample, all_paths)
    must(code == 0 and other != good, file, path, f"{reader} makes the same of another one:", code, err)
    return "shows"


def main():
    rows = table("formats/README.md", "What is packed, and who reads it")
    must(len(rows) >= 20, "few rows in the table:", rows)
    short = table("README.md", "What is in the files")
    must(short and all(row in rows for row in short), "README has rows that formats/README.md lacks:", [row for row in short if row not in rows])
    make_files()
    for file, path, writers, readers in rows:
        must(writers and readers, path, "has no writer or no reader")
        for writer in writers:
            must((file, writer) in SAMPLES, f"{file}: no sample of this test is written by {writer}")
            sample = SAMPLES[file, writer]
            with h5py.File(sample) as f:
                must(datasets(path, sample) and all(isinstance(f.get(one), h5py.Dataset) for one in datasets(path, sample)), path, "is not in", sample, "of", writer)
        print(f"{file}{path}:", ", ".join(f"{reader} {check(file, path, reader)}" for reader in readers), flush=True)
    named = {datasets(path, sample_of(file, path))[0] for file, path, _, _ in rows}
    must(set(REFUSED) <= named, "not in the table:", set(REFUSED) - named)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
