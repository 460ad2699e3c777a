# SPDX-License-Identifier: Apache-2.0
"""modaldeform --fields curvature and the like: the values are those of modalcurv of the same frames, on both back ends, for every
number of threads, in every format that carries arrays, after --resume; what is refused.
usage: check_deform_curvature.py MODALDEFORM MODALCURV BASIS"""
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import surfaces

modaldeform, modalcurv, basis = (pathlib.Path(p).resolve() for p in sys.argv[1:])
os.chdir(tempfile.mkdtemp(prefix="deform-curvature-"))
FIELDS = "curvature,direction_max,curvature_derivative,boundary"
NAMES = ["k_max", "k_min", "mean_curvature", "gauss_curvature"]


def check(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, what)))


def run(program, *words, code=0, error=""):
    got = subprocess.run([program, *map(str, words), "-q"], capture_output=True, text=True)
    check(got.returncode == code and error in got.stderr, words, got.returncode, got.stderr)


def deform(*words, out="out"):
    run(modaldeform, basis, out, "-f", "--modes", "0", "--amplitude", "20%", "--frames", "::8", *words)


deform("--fields", FIELDS, "--format", "vtkhdf,ply,vtp,csv", "--probe", 17)
run(modalcurv, "out", "own", "--fields", FIELDS, "--format", "ply")
frames = sorted(os.listdir("out/ply"))
check(len(frames) > 3, frames)
changed = 0.0
with h5py.File("out/sequence.vtkhdf") as f:
    stored = {name: f["VTKHDF/PointData/" + name][:].reshape(len(frames), -1) for name in NAMES}
first = surfaces.read_ply("out/ply/" + frames[0])
for i, frame in enumerate(frames):
    ours, theirs = surfaces.read_ply("out/ply/" + frame), surfaces.read_ply("own/ply/" + frame)
    check(set(theirs) <= set(ours), sorted(ours), sorted(theirs))
    for name in NAMES:  # which measures positions from the middle of the first frame
        size = np.abs(theirs[name]).max()
        check(np.abs(ours[name] - theirs[name]).max() <= 2e-4 * size, frame, name, np.abs(ours[name] - theirs[name]).max() / size)
        check(np.array_equal(ours[name], stored[name][i]), frame, name, "of vtkhdf")
    check(np.array_equal(ours["boundary"], theirs["boundary"]), "boundary")
    changed = max(changed, np.abs(ours["k_max"] - first["k_max"]).max())
check(changed > 0.1, "curvature follows the motion", changed)
table = np.genfromtxt("out/probes.csv", delimiter=",", names=True)
check(np.allclose(table["k_max"], stored["k_max"][:, 17], rtol=1e-6), "probes", table["k_max"][:3])
deform("--fields", "k_max", "--format", "csv", "--probe", 17, out="table")  # alone: the surface is not cut down
check(np.array_equal(np.genfromtxt("table/probes.csv", delimiter=",", names=True)["k_max"], table["k_max"]), "probes alone")

data = pathlib.Path("out/ply", frames[2]).read_bytes()
for words in (["-j", 1], ["-j", 2], ["--backend", "cpu"]):
    deform("--fields", FIELDS, "--format", "ply", *words, out="again")
    check(pathlib.Path("again/ply", frames[2]).read_bytes() == data, words)
deform("--fields", FIELDS, "--format", "ply", "--backend", "ref", out="again")
reference = surfaces.read_ply("again/ply/" + frames[2])
cpu = surfaces.read_ply("out/ply/" + frames[2])
for name in NAMES:
    size = np.quantile(np.abs(reference[name]), 0.99)
    check(np.abs(reference[name] - cpu[name]).max() <= 1e-3 * size, "ref", name, np.abs(reference[name] - cpu[name]).max() / size)

for words, error in ((["--fields", "curvature", "--output-mesh", "volume"], "curvature is of surfaces"),
                     (["--fields", "curvature,k_max"], "twice, k_max"), (["--fields", "fit_degree"], "modalcurv"),
                     (["--fields", "k_max", "--show", "arrays"], "arrays go without curvature"),
                     (["--fields", "area_ratio"], "of modalcurv alone, area_ratio"), (["--fields", "k_mix"], "k_mix"), (["--fields", "k_max", "--format", "glb"], "glb cannot carry")):
    run(modaldeform, basis, "no", *words, code=2, error=error)
    check(not os.path.exists("no"), words)
print("curvature of modaldeform ok")
