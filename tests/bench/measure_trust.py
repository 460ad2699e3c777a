#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What modalinfo --check says of random scenes, against how far their positions really are off: a bar of 6 hexahedra in bases of
six kinds, blows, slow forces and weight of random sizes and directions, the default step or one of half a period to a
fiftieth. Compared with all 72 modes of the mesh, which leave nothing out, in steps of 1/2400 s. Error: the largest distance of all frames in
the norm of the nodes, over the largest displacement.

usage: measure_trust.py BIN_FOLDER FOLDER [SCENES]"""
import json
import os
import pathlib
import subprocess
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from basis_file import node_modes

RUBBER = ("--young", "1e6", "--poisson", "0.3", "--density", "1000")
KINDS = {"6 modes": (6, 0), "12 modes": (12, 0), "9, derivatives of 3": (9, 3), "14, derivatives of 4": (14, 4),
         "20, derivatives of 6": (20, 6), "27, derivatives of 6": (27, 6)}
CELLS, SIZE = (6, 1, 1), (1.0, 0.12, 0.1)


def write_bar(path):
    count = [c + 1 for c in CELLS]
    number = lambda at: 1 + int(np.ravel_multi_index(at, count))
    corner = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    with open(path, "w", encoding="ascii") as file:
        file.write("*NODE\n")
        for at in np.ndindex(*count):
            file.write(f"{number(at)}, " + ", ".join(repr(a * s / c) for a, s, c in zip(at, SIZE, CELLS)) + "\n")
        file.write("*ELEMENT, TYPE=C3D8, ELSET=all\n")
        for i, at in enumerate(np.ndindex(*CELLS), 1):
            file.write(f"{i}, " + ", ".join(str(number(tuple(np.add(at, c)))) for c in corner) + "\n")
        for name, end in (("root", 0), ("tip", CELLS[0])):
            file.write(f"*NSET, NSET={name}\n" + "".join(f"{number(at)},\n" for at in np.ndindex(*count) if at[0] == end))


def main():
    tools, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    n_scenes = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    folder.mkdir(exist_ok=True)
    os.chdir(folder)
    tool = lambda name, *words: subprocess.run([tools / name, *map(str, words)], capture_output=True, text=True)
    pack = lambda basis, n, k: tool("modalpack", "bar.inp", basis, *RUBBER, "--fixed", "root", "--modes", n, "--reduced-forces", "-q",
                                    "-f", *(["--derivatives", k] if k else [])).check_returncode()
    write_bar("bar.inp")
    pack("whole.h5", 72, 0)
    for i, (n, k) in enumerate(KINDS.values()):
        pack(f"basis{i}.h5", n, k)
    modes, slowest = {}, 0
    for name in ("whole.h5", *(f"basis{i}.h5" for i in range(len(KINDS)))):
        with h5py.File(name) as f:
            modes[name] = node_modes(f["shapes/0000"]).astype(float)
            slowest = f["shapes/0000/modes/frequencies"][0]

    def move(basis, scene):
        with open("scene.json", "w", encoding="ascii") as file:
            json.dump(scene, file)
        got = tool("modalsim", basis, "t.h5", "--scene", "scene.json", "-f", "-q", "--allow-inversion")
        if got.returncode == 5:
            return None
        got.check_returncode()
        with h5py.File("t.h5") as f:
            return np.tensordot(f["q"][:], modes[basis], 1)

    random, counts, ends = np.random.default_rng(5), {}, 0
    for i in range(n_scenes):
        size, way = 10 ** random.uniform(-0.7, 1), random.normal(size=3) * [0.3, 1, 1]
        scene = {"duration": 0.4, "fps": 30, "model": "stvk", "damping": {"alpha": 1.0, "beta": 0.002}}
        load, steps, basis = random.integers(3), random.uniform(np.log(2), np.log(50)), f"basis{i % len(KINDS)}.h5"
        if load == 0:
            scene["impulses"] = [{"object": 0, "point": [1, 0, 0], "impulse": list(0.5 * size * way)}]
        elif load == 1:
            scene["forces"] = [{"object": 0, "group": "tip", "force": list(3 * size * way),
                                "curve": {"keys": [[0, 0], [0.2, 1], [0.4, 1]]}}]
        else:
            scene["gravity"] = list(5 * size * way)
        wanted = move("whole.h5", dict(scene, step=1 / 2400))
        got = move(basis, scene if random.integers(2) else dict(scene, step=1 / slowest / np.exp(steps)))
        if wanted is None or got is None:
            ends += 1
            continue
        error = np.sqrt(((wanted - got) ** 2).sum((1, 2)).max() / (wanted ** 2).sum((1, 2)).max())
        said = tool("modalinfo", "--check", "t.h5").stdout
        verdict = next(v for v in ("sound", "doubtful", "wrong") if f"a {v} trajectory" in said)
        row = counts.setdefault("up to 2 %" if error <= 0.02 else "2 to 10 %" if error <= 0.1 else "more than 10 %", {})
        row[verdict] = row.get(verdict, 0) + 1
        if error > 0.1 and verdict == "sound":
            print(f"scene {i}: off by {error:.3g}, called sound: {scene}, {list(KINDS)[i % len(KINDS)]}", file=sys.stderr)
    print("| positions off by | sound | doubtful | wrong |\n| --- | --- | --- | --- |")
    for name in ("up to 2 %", "2 to 10 %", "more than 10 %"):
        print(f"| {name} | " + " | ".join(str(counts.get(name, {}).get(v, 0)) for v in ("sound", "doubtful", "wrong")) + " |")
    print(f"{n_scenes} scenes, {ends} ended with exit code 5", file=sys.stderr)


main()
