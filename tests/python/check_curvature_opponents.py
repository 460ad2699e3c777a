# SPDX-License-Identifier: Apache-2.0
"""Errors of `modalcurv --method fit` on irregular surfaces, rms in per cent of the largest absolute curvature, beside those of CGAL's jet
fitting (degree 2 over 2 rings, 4 over 3) and libigl's principal_curvature (radius 2): at most 1.05 times theirs, and smaller with each
refinement; `tensor` does not get better. Prints the tables of docs/modalcurv.md.
usage: check_curvature_opponents.py BIN cgal|libigl [FOLDER of libigl's headers]: 77 where its headers, or Eigen's, or g++ are absent"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import scipy.sparse

import surfaces
from tool_run import must, run

opponent, folder = sys.argv[2], pathlib.Path(sys.argv[3] if sys.argv[3:] and sys.argv[3] else "/nowhere")
CLIENTS = pathlib.Path(__file__).resolve().parents[1] / "clients"
SAMPLE = 2000  # vertices of a mesh that CGAL fits
MESHES = [("torus", lambda rng, k: surfaces.torus(78 << k, rng)),
          ("ellipsoid", lambda rng, k: surfaces.ellipsoid(5000 << 2 * k, rng)),
          ("saddle", lambda rng, k: surfaces.saddle(72 << k, rng))]


def compile_program():
    eigen = next((p for p in ("/usr/include/eigen3", "/usr/local/include/eigen3") if os.path.isdir(p)), None)
    headers = pathlib.Path("/usr/include/CGAL/Monge_via_jet_fitting.h") if opponent == "cgal" else folder / "igl/principal_curvature.h"
    if not headers.exists() or not eigen or not shutil.which("g++"):
        print(f"{opponent}: skipped: {headers} or Eigen or g++ is absent; libcgal-dev, -DMODAL_LIBIGL=FOLDER")
        sys.exit(77)
    source = CLIENTS / ("cgal_jets.cpp" if opponent == "cgal" else "libigl_curvature.cpp")
    words = ["-DCGAL_EIGEN3_ENABLED"] if opponent == "cgal" else ["-I", folder]
    subprocess.run(["g++", "-O2", "-w", "-I", eigen, *words, source, "-o", "opponent",
                    *(["-lgmp", "-lmpfr"] if opponent == "cgal" else [])], check=True)


def ours(x, t, *words):
    surfaces.write_ply("in.ply", x, t)
    run("modalcurv", "in.ply", "out", "-f", "-q", "--format", "ply", "--fields", "k_max,k_min", *words)
    v = surfaces.read_ply("out/ply/000000.ply")
    return np.stack([v["k_max"], v["k_min"]], 1)


def normals_of(x, t):
    n = np.zeros_like(x)
    for k in range(3):
        a, b = x[t[:, (k + 1) % 3]] - x[t[:, k]], x[t[:, (k + 2) % 3]] - x[t[:, k]]
        np.add.at(n, t[:, k], np.cross(a, b) / ((a * a).sum(1) * (b * b).sum(1))[:, None])
    return n / np.linalg.norm(n, axis=1)[:, None]


def cgal(x, t, some, degree):
    edges = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
    near = scipy.sparse.coo_matrix((np.ones(len(edges)), edges.T), (len(x), len(x))).tocsr()
    near = ((near + near.T + scipy.sparse.identity(len(x))) > 0).astype(float).tocsr()
    reach = near[some]
    for _ in range(degree // 2):  # 2 rings for degree 2, 3 for degree 4
        reach = reach @ near
    n = normals_of(x, t)
    with open("in", "wb") as f:
        np.array([len(some)], "<i8").tofile(f)
        for i, v in enumerate(some):
            others = reach.indices[reach.indptr[i]:reach.indptr[i + 1]]
            points = np.concatenate([[v], others[others != v]])
            f.write(n[v].tobytes() + np.int64(len(points)).tobytes() + x[points].tobytes())
    seconds = subprocess.run(["./opponent", "in", "out.bin", str(degree)], check=True, capture_output=True, text=True).stdout
    return np.fromfile("out.bin").reshape(-1, 2), float(seconds) / len(some)


def libigl(x, t):
    with open("in", "wb") as f:
        np.array([len(x), len(t)], "<i8").tofile(f)
        x.tofile(f)
        t.astype("<i4").tofile(f)
    seconds = subprocess.run(["./opponent", "in", "out.bin", "2"], check=True, capture_output=True, text=True).stdout
    return np.fromfile("out.bin").reshape(-1, 2), float(seconds) / len(x)


def error(k, known, some):
    return 100 * np.sqrt(np.mean((k[some] - known[some]) ** 2)) / np.nanmax(np.abs(known))


def widened(values, some, n):
    k = np.full((n, 2), np.nan)
    k[some] = values
    return k


os.chdir(tempfile.mkdtemp(prefix="opponents-"))
compile_program()
rng = np.random.default_rng(15)
print(f"| surface | vertices | tensor | fit 2 | fit 4 | {opponent} | us a vertex |\n| --- | --- | --- | --- | --- | --- | --- |")
for name, make in MESHES:
    before = None
    for k in range(2):
        x, t, known = make(rng, k)
        x = x.astype(np.float32).astype(float)
        there = np.flatnonzero(~np.isnan(known[:, 0]))  # CGAL ends where points do not determine a jet, as at rims
        some = np.sort(rng.choice(there, min(SAMPLE, len(there)), replace=False)) if opponent == "cgal" else there
        mine = [error(ours(x, t, *words), known, some) for words in ([], ["--method", "fit"], ["--method", "fit", "--degree", "4"])]
        if opponent == "cgal":
            jets = [cgal(x, t, some, degree) for degree in (2, 4)]
            theirs = [error(widened(values, some, len(x)), known, some) for values, _ in jets]
            limits = ((mine[1], theirs[0]), (mine[2], theirs[1]))
        else:
            jets = [libigl(x, t)]
            theirs = [error(jets[0][0], known, some)]
            limits = ((mine[1], theirs[0]),)
        print(f"| {name} | {len(x)} | " + " | ".join(f"{e:.2g}" for e in mine) + " | " + ", ".join(f"{e:.2g}" for e in theirs) + " | "
              + ", ".join(f"{1e6 * s:.0f}" for _, s in jets) + " |")
        for a, b in limits:  # a float32 position moves curvature by 1e-7 / h^2 of it
            must(a <= 1.05 * b + 0.002, name, len(x), "ours", a, opponent, b)
        if before:
            must(mine[1] < 0.6 * before[1] and mine[0] > 0.7 * before[0], name, "refined", before, mine)
            must(mine[2] < max(0.3 * before[2], 0.02), name, "refined, degree 4", before, mine)
        before = mine
