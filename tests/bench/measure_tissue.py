#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A cantilever at rest under a load that bends it far: error against processor seconds for tetrahedra, tetrahedra with nodal pressures
and hexahedra. The tables of docs/results/tissue.md. usage: measure_tissue.py BIN_FOLDER [--quick]"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from soft_box import box  # noqa: E402

modaltled = pathlib.Path(sys.argv[1]).resolve() / "modaltled"
QUICK = "--quick" in sys.argv
os.chdir(tempfile.mkdtemp(prefix="measure-tissue-"))
YOUNG, DENSITY, LENGTH, FORCE = 3e3, 1000, 0.08, 3e-3


def bend(cells, kind, poisson, **more):
    """The tip's place at rest, processor seconds of the run, elements and steps."""
    edge = LENGTH / cells[2]
    x, elements = box("c.msh", cells, edge, kind)
    tip = np.isclose(x[:, 2], LENGTH)
    # consistent with an even traction: a corner of the end face has a quarter of an inner node's share
    weight = np.prod([np.where(np.isclose(x[tip, k], 0) | np.isclose(x[tip, k], x[:, k].max()), 0.5, 1.0) for k in (0, 1)], axis=0)
    rows = "".join("%d,%.17g,0,0\n" % (i + 1, FORCE * w / weight.sum()) for i, w in zip(np.flatnonzero(tip), weight))
    pathlib.Path("f.csv").write_text("node,fx,fy,fz\n" + rows)
    pathlib.Path("s.json").write_text(json.dumps({"step": "auto", "duration": 6, "fps": 1, "damping": {"alpha": 5}, "forces":
                                                  [{"file": "f.csv", "curve": {"smooth": [0, 1.5]}}], **more}))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([modaltled, "c.msh", "c.h5", "-f", "-q", "-j", "1", "--scene", "s.json", "--young", str(YOUNG), "--poisson", str(poisson),
                    "--density", str(DENSITY), "--fixed", "low", "--fields", "none", "--report", "r.json"], check=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    with h5py.File("c.h5") as f:
        u = f["displacements"][:]
    rest = np.abs(u[-1] - u[-2]).max() / np.abs(u[-1]).max()
    return u[-1][tip].mean(axis=0), seconds, len(elements), json.loads(pathlib.Path("r.json").read_text())["steps_done"], rest


def main():
    fine = (6, 6, 24) if QUICK else (12, 12, 48)
    for poisson, hourglass in ((0.45, 0.02), (0.495, 0.002)):
        want = bend(fine, "hex", poisson, hourglass=hourglass)[0]
        print(f"\nnu {poisson}: the tip moves by {np.linalg.norm(want) / LENGTH:.3f} of the length (H8, {fine[0]} x {fine[1]} x {fine[2]}, hourglass {hourglass})\n")
        print("| elements | cells | number | error of the tip | processor s | steps | still moving |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for name, kind, more in (("T4", "tet", {}), ("T4, nodal pressure", "tet", {"nodal_pressure": True}), ("H8, hourglass 0.1", "hex", {"hourglass": 0.1}),
                                 (f"H8, hourglass {hourglass}", "hex", {"hourglass": hourglass})):
            for n in (2, 4) if QUICK else (2, 4, 8):
                tip, seconds, count, steps, rest = bend((n, n, 4 * n), kind, poisson, **more)
                error = np.linalg.norm(tip - want) / np.linalg.norm(want)
                print(f"| {name} | {n} x {n} x {4 * n} | {count:,} | {100 * error:.2f} % | {seconds:.2f} | {steps:,} | {rest:.0e} |", flush=True)


main()
