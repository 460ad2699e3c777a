# SPDX-License-Identifier: Apache-2.0
"""normals_corner and curvature_tensor on the CPU beside trimesh2, which computes the same definition: equal curvatures, and processor
time on one thread, in turn. trimesh2's solution of 3 x 3 systems is mended first (in its ldltdc two entries are used before they are set);
it is compiled with -O3 -march=native -ffast-math, without OpenMP (whose atomics would double its time). Meshes in rows, in the order in
which tools store vertices (two bits of each coordinate in turn), and at random. Two threads: the larger share of the work against one's.
usage: check_curvature_trimesh2.py CURVATURE_TIMES [FOLDER of trimesh2]: 77 where it or g++ is absent"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import surfaces
from tool_run import must

TIMES = os.path.abspath(sys.argv[1])
FOLDER = pathlib.Path(sys.argv[2] if sys.argv[2:] and sys.argv[2] else "/nowhere").resolve()
CLIENT = pathlib.Path(__file__).resolve().parents[1] / "clients/trimesh2_curvature.cpp"
USED = ["TriMesh_curvature", "TriMesh_normals", "TriMesh_pointareas", "TriMesh_connectivity", "TriMesh_grid", "TriMesh_tstrips", "KDtree"]
WRONG = "\t\tA[2][0] = A[0][2];\n\t\tA[2][1] = A[1][2] - l10 * A[2][0];\n"
USES = "\t\tT d2 = "
ROUNDS = 5


def compile_program():
    if not (FOLDER / "libsrc/TriMesh_curvature.cc").exists() or not shutil.which("g++"):
        print(f"trimesh2: skipped: {FOLDER}/libsrc or g++ is absent; -DMODAL_TRIMESH2=FOLDER")
        sys.exit(77)
    shutil.copytree(FOLDER / "include", "include")
    header = pathlib.Path("include/lineqn.h")
    text = header.read_text()
    if WRONG in text and text.index(WRONG) > text.index(USES):
        text = text.replace(WRONG, "")
        header.write_text(text.replace(USES, WRONG + USES, 1))
    subprocess.run(["g++", "-O3", "-march=native", "-ffast-math", "-std=c++17", "-w", "-I", "include", CLIENT,
                    *(FOLDER / f"libsrc/{name}.cc" for name in USED), "-o", "opponent"], check=True)


def seconds(*words):
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def compare(name, x, t, runs):
    x, t = x.astype("<f4"), t.astype("<i4")
    with open("in", "wb") as f:
        f.write(np.array([len(x), len(t)], "<i8").tobytes() + x.tobytes() + t.tobytes())
    theirs, one, two = [], [], []
    for _ in range(ROUNDS):
        theirs += seconds("./opponent", "in", "theirs", str(runs))
        for to, value in zip((one, two), seconds(TIMES, "in", "ours", str(runs))):
            to.append(value)
    a, b = np.fromfile("ours", "<f4").reshape(-1, 2), np.fromfile("theirs", "<f4").reshape(-1, 2)
    error = np.abs(a.astype(float) - b).max() / np.quantile(np.abs(a), 0.99)
    times = [1e9 * min(s) / len(x) for s in (theirs, one, two)]
    print(f"| {name} | {len(x)} | {times[0]:.0f} | {times[1]:.1f} | {times[0] / times[1]:.2f} | {times[1] / times[2]:.2f} | {error:.1e} |",
          flush=True)
    must(error <= 1e-4, name, "curvatures differ", error)


os.chdir(tempfile.mkdtemp(prefix="trimesh2-"))
compile_program()
rng = np.random.default_rng(15)
print("| mesh | vertices | trimesh2, ns a vertex | ours | times | two threads | difference of k |\n| --- | --- | --- | --- | --- | --- | --- |")
saddle, triangles, _ = surfaces.saddle(501, rng, 0.2)


def reordered(order):
    """The saddle with vertices in this order, triangles by their first one."""
    place = np.empty(len(order), int)
    place[order] = np.arange(len(order))
    t = place[triangles]
    return saddle[order], t[np.argsort(t.min(1), kind="stable")]


def interleaved():
    cells = ((saddle[:, :2] + 1) * 511.5).astype(int)
    return np.argsort(sum(((cells[:, i] >> bit) & 1) << (2 * bit + i) for bit in range(10) for i in range(2)), kind="stable")


compare("saddle, in rows", saddle, triangles, 10)
compare("saddle, in order", *reordered(interleaved()), 10)
shuffled, t = reordered(rng.permutation(len(saddle)))
compare("saddle, at random", shuffled, rng.permutation(t), 5)
compare("torus of 4,096", *surfaces.torus(64, rng, 0.2)[:2], 40)
print("ok")
