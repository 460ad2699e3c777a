# SPDX-License-Identifier: Apache-2.0
"""`"damping": {"tangent": true}` beside VegaFEM's implicit Newmark, whose damping is that of the tangent stiffness: one struck
bar, the same reduced forces, the same steps.
usage: check_vegafem.py BIN_FOLDER VEGAFEM, the folder of VegaFEM's sources (it has `libraries`), or nothing: skipped, exit code 77.
The few of its sources that are needed are compiled here."""
import os
import pathlib
import subprocess
import sys

VEGAFEM = pathlib.Path(sys.argv.pop() if len(sys.argv) == 3 and sys.argv[2] else "/nowhere")
if not (VEGAFEM / "libraries/integratorDense/implicitNewmarkDense.cpp").exists():
    print("check_vegafem: skipped: no sources of VegaFEM; -DMODAL_VEGAFEM=FOLDER")
    sys.exit(77)
CLIENT = pathlib.Path(__file__).resolve().parents[1] / "clients/vegafem_newmark.cpp"

import h5py
import numpy as np

from scenes import pack, simulate, small, write_bar

NEEDED = ["integratorDense/implicitNewmarkDense", "integratorDense/integratorBaseDense", "integrator/integratorBase",
          "reducedStvk/StVKReducedInternalForces", "reducedStvk/StVKReducedStiffnessMatrix",
          "reducedElasticForceModel/reducedStVKForceModel", "reducedForceModel/reducedForceModel", "matrixIO/matrixIO"]
# What it includes of its own configuration and of LAPACK.
LAPACK = """#define INTEGER int
#define dgesv dgesv_
#define dsysv dsysv_
#define dposv dposv_
extern "C" {
void dgesv(const int *, const int *, double *, const int *, int *, double *, const int *, int *);
void dsysv(const char *, const int *, const int *, double *, const int *, int *, double *, const int *, double *, const int *, int *);
void dposv(const char *, const int *, const int *, double *, const int *, double *, const int *, int *);
}
"""


def build():
    os.mkdir("own")
    for name, text in (("vega-config.h", ""), ("lapacke.h", LAPACK)):
        pathlib.Path("own", name).write_text("#pragma once\n" + text, encoding="utf-8")
    libraries = VEGAFEM / "libraries"
    folders = [f"-I{folder}" for folder in sorted(libraries.iterdir()) if folder.is_dir()]
    # what of a source is not needed would need others
    subprocess.run(["c++", "-O2", "-w", "-ffunction-sections", "-Wl,--gc-sections", "-Iown", *folders, CLIENT,
                    *(libraries / f"{name}.cpp" for name in NEEDED), "-lopenblas", "-o", "vegafem_newmark"], check=True)


def write_forces(basis, path):
    """The reduced forces as VegaFEM keeps them: int32 r and numbers of terms, then the coefficients of each coordinate."""
    with h5py.File(basis) as f:
        forces = f["shapes/0000/reduced_forces"]
        parts = [forces[name][:] for name in ("linear", "quadratic", "cubic")]
    with open(path, "wb") as file:
        file.write(np.array([len(parts[0]), *(part.shape[1] for part in parts)], "<i4").tobytes())
        for part in parts:
            file.write(part.astype("<f8").tobytes())


def main():
    build()
    write_bar("bar.msh", (8, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar.h5", 14, "--derivatives", 4)
    write_forces("bar.h5", "bar.cub")
    velocity, alpha, beta, frames, steps = [4.0, 3] + [0] * 12, 0.3, 0.01, 20, 160
    scene = {"duration": 1, "fps": frames, "model": "stvk", "tolerance": 1e300, "newton": {"tolerance": 1e-11, "iterations": 40},
             "integrator": "newmark", "step": 1 / frames / steps, "objects": [{"object": 0, "initial_velocity": velocity}]}
    got = {}
    for tangent in (True, False):
        got[tangent] = simulate("bar.h5", dict(scene, damping={"alpha": alpha, "beta": beta, "tangent": tangent}))["q"]
    done = subprocess.run(["./vegafem_newmark", "bar.cub", repr(1 / frames / steps), str(frames * steps), str(steps), str(alpha),
                           str(beta)], input=" ".join(map(str, velocity)), capture_output=True, text=True, check=True)
    wanted = np.array([[float(x) for x in line.split()[1:]] for line in done.stdout.splitlines() if line.startswith("q ")])
    assert wanted.shape == got[True].shape, (wanted.shape, got[True].shape)
    size = np.abs(wanted).max()
    small(np.abs(got[True] - wanted).max() / size, 1e-7, "beta K(q), off VegaFEM, of the motion")
    apart = np.abs(got[False] - wanted).max() / size
    print(f"beta K(0) is off it by {apart:.3g}")
    assert apart > 0.05, apart


main()
