#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds for the modes of many small solids, no two of them congruent: a mesh of N free bodies of 96 nodes, 8 modes
each, the whole run of modalpack --shapes bodies: reading, congruence, modes with Sturm counts, writing, sync.
For docs/results/modes.md. The least of ROUNDS.
usage: measure_shapes.py MODALPACK [N [ROUNDS]]"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

modalpack = os.path.abspath(sys.argv[1])
n_bodies, rounds = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((2, 2000), (3, 3)))
CELLS, MODES = np.array([3, 3, 5]), 8


def body():
    """Kuhn's six tetrahedra a cell."""
    shape = CELLS + 1
    elements = []
    for cell in np.ndindex(*CELLS):
        for t, path in enumerate(((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))):
            corner, nodes = list(cell), [np.ravel_multi_index(cell, shape)]
            for axis in path:
                corner[axis] += 1
                nodes.append(np.ravel_multi_index(corner, shape))
            elements.append([nodes[i] for i in ((0, 1, 2, 3) if t < 3 else (0, 1, 3, 2))])
    return np.indices(shape).reshape(3, -1).T, np.array(elements)


place = tempfile.mkdtemp(prefix="shapes-")
os.chdir(place)
grid, elements = body()
random = np.random.default_rng(1)
nodes = np.zeros(n_bodies * len(grid), [("tag", "<i4"), ("x", "<f8", 3)])
nodes["tag"] = np.arange(1, len(nodes) + 1)
for k in range(n_bodies):
    size = 0.05 * np.array([1, 1.1, 2.1]) / CELLS * (1 + 0.3 * random.random(3))
    nodes["x"][k * len(grid):(k + 1) * len(grid)] = (grid * size + 0.002 * random.standard_normal(grid.shape) +
                                                     [0.3 * (k % 50), 0.3 * (k // 50), 0])
rows = np.ones((n_bodies, len(elements), 7), "<i4")
rows[:, :, 0] = 1 + np.arange(n_bodies * len(elements)).reshape(n_bodies, -1)
rows[:, :, 3:] = 1 + elements + len(grid) * np.arange(n_bodies)[:, None, None]
with open("bodies.msh", "wb") as out:
    out.write(b"$MeshFormat\n2.2 1 8\n" + np.int32(1).tobytes() + b"\n$EndMeshFormat\n$Nodes\n%d\n" % len(nodes))
    out.write(nodes.tobytes() + b"\n$EndNodes\n$Elements\n%d\n" % (rows.size // 7))
    out.write(np.array([4, rows.size // 7, 2], "<i4").tobytes() + rows.tobytes() + b"\n$EndElements\n")
found = []
for _ in range(rounds):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([modalpack, "bodies.msh", "b.h5", "-f", "-q", "--modes", str(MODES), "--shapes", "bodies", "--young", "2e9",
                    "--poisson", "0.3", "--density", "1000", "--report", "r.json"], check=True)
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    with open("r.json", encoding="utf-8") as text:
        report = json.load(text)
    assert report["shapes"] == n_bodies, report
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found.append((seconds, processor, {s["name"]: round(s["seconds"], 2) for s in report["phases"]}))
least = min(found, key=lambda f: f[0])
print(f"{n_bodies} shapes of {len(grid)} nodes, {MODES} modes each: {least[0]:.2f} s, {least[1]:.2f} s of processors; "
      f"{os.path.getsize('b.h5') / 1e6:.0f} MB; {least[2]}")
os.chdir("/")
shutil.rmtree(place)
