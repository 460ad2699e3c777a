#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds to read a mesh of 150,000 nodes in each kind of .msh, and to write its basis of 30 columns beside dd
of as many bytes (with fsync), for docs/results/modes.md. The columns are imported, so nothing is solved. The
least of ROUNDS.
usage: measure_basis.py MODALPACK MODALMESH FOLDER [ROUNDS]   (FOLDER lies on the disk that is measured)"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

modalpack, modalmesh = (os.path.abspath(path) for path in sys.argv[1:3])
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 5
CELLS, MODES = (160, 30, 30), 30


def bar():
    """Kuhn's six tetrahedra a cell."""
    shape = [c + 1 for c in CELLS]
    corners = np.indices(CELLS).reshape(3, -1).T
    elements = []
    for t, path in enumerate(((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))):
        here, nodes = corners.copy(), [np.ravel_multi_index(corners.T, shape)]
        for axis in path:
            here[:, axis] += 1
            nodes.append(np.ravel_multi_index(here.T, shape))
        elements.append(np.stack(nodes, 1)[:, [0, 1, 2, 3] if t < 3 else [0, 1, 3, 2]])
    return np.indices(shape).reshape(3, -1).T / np.pi, 1 + np.concatenate(elements)


def write_text(name, points, elements):
    with open(name, "w", encoding="ascii") as out:
        out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(points))
        out.writelines("%d %.16g %.16g %.16g\n" % (k + 1, *p) for k, p in enumerate(points))
        out.write("$EndNodes\n$Elements\n%d\n" % len(elements))
        out.writelines("%d 4 2 1 1 %d %d %d %d\n" % (k + 1, *e) for k, e in enumerate(elements))
        out.write("$EndElements\n")


def write_binary(name, points, elements):
    nodes = np.zeros(len(points), [("tag", "<i4"), ("x", "<f8", 3)])
    nodes["tag"], nodes["x"] = np.arange(1, len(points) + 1), points
    rows = np.ones((len(elements), 7), "<i4")
    rows[:, 0], rows[:, 3:] = np.arange(1, len(elements) + 1), elements
    with open(name, "wb") as out:
        out.write(b"$MeshFormat\n2.2 1 8\n" + np.int32(1).tobytes() + b"\n$EndMeshFormat\n$Nodes\n%d\n" % len(points))
        out.write(nodes.tobytes() + b"\n$EndNodes\n$Elements\n%d\n" % len(elements))
        out.write(np.array([4, len(elements), 2], "<i4").tobytes() + rows.tobytes() + b"\n$EndElements\n")


def pack(mesh):
    """Seconds of reading and writing, and the bytes written."""
    subprocess.run([modalpack, mesh, "b.h5", "-f", "-q", "--import", "columns.U", "--young", "1e9", "--poisson", "0.3",
                    "--density", "1000", "--report", "r.json"], check=True)
    with open("r.json", encoding="utf-8") as text:
        stages = {s["name"]: s["seconds"] for s in json.load(text)["phases"]}
    return stages["read mesh"], stages["write basis"] + stages["sync"], os.path.getsize("b.h5")


def dd(size):
    start = time.monotonic()
    subprocess.run(["dd", "if=/dev/zero", "of=dd", "bs=1M", f"count={size}", "iflag=count_bytes", "conv=fsync",
                    "status=none"], check=True)
    return time.monotonic() - start


place = tempfile.mkdtemp(prefix="basis-", dir=sys.argv[3])
os.chdir(place)
points, elements = bar()
write_text("text.msh", points, elements)
write_binary("binary.msh", points, elements)
subprocess.run([modalmesh, "text.msh", "binary-41.msh", "-q"], check=True)
columns = np.random.default_rng(1).standard_normal((MODES, 3 * len(points)))
with open("columns.U", "wb") as out:
    out.write(np.array([3 * len(points), MODES], "<i4").tobytes() + columns.tobytes())
read, written, copied = {}, [], []
for _ in range(rounds):
    for mesh in ("text.msh", "binary.msh", "binary-41.msh"):
        seconds = pack(mesh)
        read.setdefault(mesh, []).append(seconds[0])
        written.append(seconds[1])
        copied.append(dd(seconds[2]))
print(f"{len(points)} nodes, {len(elements)} tetrahedra, the least of {rounds} rounds\n")
print("| mesh | MB | read and checked, s |\n| --- | --- | --- |")
for mesh, seconds in read.items():
    print("| %s | %.0f | %.2f |" % (mesh, os.path.getsize(mesh) / 1e6, min(seconds)))
print("\nbasis of %d columns, %.0f MB: written and synced in %.3f s (median %.3f), dd with fsync %.3f s (%.3f): %.0f %% (%.0f %%)" %
      (MODES, os.path.getsize("b.h5") / 1e6, min(written), statistics.median(written), min(copied),
       statistics.median(copied), 100 * min(copied) / min(written),
       100 * statistics.median(copied) / statistics.median(written)))
os.chdir("/")
shutil.rmtree(place)
