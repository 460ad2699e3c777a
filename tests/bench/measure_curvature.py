# SPDX-License-Identifier: Apache-2.0
"""Prints the table of docs/modalcurv.md: errors of modalcurv's methods on irregular surfaces whose curvature is known, rms over
k_max and k_min, in per cent of the largest absolute curvature; without noise, with finer meshes, and with vertices moved along
the normal by 1 % of an edge (Gaussian).
usage: PYTHONPATH=tests/python measure_curvature.py MODALCURV"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import surfaces

modalcurv = pathlib.Path(sys.argv[1]).resolve()
os.chdir(tempfile.mkdtemp(prefix="measure-"))
rng = np.random.default_rng(3)
METHODS = {"tensor": ["--method", "tensor"], "ring": ["--method", "ring"], "fit, degree 2, 2 rings": ["--method", "fit"],
           "fit, degree 2, 4 rings": ["--method", "fit", "--rings", "4"], "fit, degree 4, 3 rings": ["--method", "fit", "--degree", "4"],
           "tensor, smoothed over 2 edges": ["--smooth"]}
MESHES = {"sphere 20k": lambda: surfaces.sphere(20000, rng, 0.1), "torus 6k": lambda: surfaces.torus(78, rng),
          "torus 24k": lambda: surfaces.torus(156, rng), "torus 97k": lambda: surfaces.torus(312, rng),
          "ellipsoid 20k": lambda: surfaces.ellipsoid(20000, rng), "saddle 20k": lambda: surfaces.saddle(142, rng),
          "saddle 81k": lambda: surfaces.saddle(285, rng)}


def error(x, t, known, words):
    edge = np.linalg.norm(x[t[:, 0]] - x[t[:, 1]], axis=1).mean()
    surfaces.write_ply("in.ply", x, t)
    words = words + [repr(2 * edge)] if words[-1] == "--smooth" else words
    subprocess.run([modalcurv, "in.ply", "out", "-q", "-f", "--format", "ply", "--fields", "k_max,k_min", *words], check=True)
    v = surfaces.read_ply("out/ply/000000.ply")
    k = np.c_[v["k_max"], v["k_min"]]
    there = ~np.isnan(known[:, 0])
    return 100 * np.sqrt(np.mean((k - known)[there] ** 2)) / np.abs(known[there]).max()


columns = {}
for name, make in MESHES.items():
    x, t, known = make()
    columns[name] = [error(x, t, known, words) for words in METHODS.values()]
    if name in ("sphere 20k", "torus 24k", "ellipsoid 20k", "saddle 20k"):
        edge = np.linalg.norm(x[t[:, 0]] - x[t[:, 1]], axis=1).mean()
        normals = np.zeros_like(x)
        for k in range(3):
            np.add.at(normals, t[:, k], np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]]))
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        noisy = x + 0.01 * edge * rng.normal(size=(len(x), 1)) * normals
        columns[name + ", noise"] = [error(noisy, t, known, words) for words in METHODS.values()]
print("| method | " + " | ".join(columns) + " |\n| --- |" + " --- |" * len(columns))
for i, method in enumerate(METHODS):
    print(f"| {method} | " + " | ".join(f"{values[i]:.2g}" for values in columns.values()) + " |")
