# SPDX-License-Identifier: Apache-2.0
"""Reduced forces of more than 32 columns (formats/basis.md): they are the full element forces; files of both kinds step alike;
what is broken is refused by name.
usage: check_energy.py BIN_FOLDER SOURCE_FOLDER"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from stvk_solid import Basis, Tools, cubic_of, quartic_of, write_bar

run, source = Tools(sys.argv[1], exact=True), pathlib.Path(sys.argv[2]).resolve()
YOUNG, POISSON = 1e7, 0.45
RUBBER = ["--young", YOUNG, "--poisson", POISSON, "--density", 1000]
SCENE = {"duration": 0.3, "fps": 30, "step": 0.01, "model": "stvk", "gravity": [0, 0, -3], "newton": {"tolerance": 1e-10},
         "damping": {"alpha": 0.6, "beta": 0.002}, "wind": {"velocity": [0, 4, 0], "turbulence": 2, "scale": 2}}


def pack(path, modes, *more, derivatives=7, code=0):
    return run("modalpack", "bar.msh", path, *RUBBER, "--fixed", "root", "--modes", modes, "--derivatives", derivatives,
               "--reduced-forces", "-q", "-f", *more, code=code)


def step(basis, **more):
    with open("scene.json", "w", encoding="ascii") as file:
        json.dump({**SCENE, **more}, file)
    run("modalsim", basis, "run.h5", "--scene", "scene.json", "-q", "-f", "--quality", "steps")
    with h5py.File("run.h5") as file:
        return file["q"][()]


def turned(path, target):
    """A copy with the other kind of forces. Its hashes are not made anew: only checkers look."""
    shutil.copy(path, target)
    with h5py.File(target, "r+", libver=("v108", "v108")) as file:
        group = file["shapes/0000/reduced_forces"]
        if "quartic" in group:
            group["cubic"] = cubic_of(group["quartic"][()], len(group["linear"]))
            del group["quartic"]
        else:
            group["quartic"] = quartic_of(group["cubic"][()])
            del group["cubic"]


def check_forces():
    basis = Basis("many.h5")
    random, top = np.random.default_rng(3), np.abs(basis.modes).max(axis=(1, 2))
    for size in (1e-3, 1, 10):
        q = random.uniform(-1, 1, len(top)) * size * 0.01 / top
        wanted = np.tensordot(basis.modes, basis.full_forces(np.tensordot(q, basis.modes, 1), YOUNG, POISSON), 2)
        error = np.abs(basis.reduced_forces(q) - wanted).max() / np.abs(wanted).max()
        assert error < 1e-9, (size, error)


def check_kinds():
    """32 columns and fewer have the table, more the energy; either steps to the same q."""
    for path, last in (("few.h5", "cubic"), ("many.h5", "quartic")):
        with h5py.File(path) as file:
            assert set(file["shapes/0000/reduced_forces"]) == {"linear", "quadratic", last}, path
            assert {f"shapes/*/reduced_forces/{name}" for name in ("cubic", "quartic")} < set(file.attrs["hashed"].decode().split()), path
            assert "extensions_used" not in file.attrs and "extensions_required" not in file.attrs, dict(file.attrs)
        turned(path, "other.h5")
        q, other = step(path), step("other.h5")
        error = np.abs(q - other).max() / np.abs(q).max()
        print(f"{path}: {q.shape[1]} columns, files of both kinds differ by {error:.1e} of q")
        assert np.abs(q).max() > 1e-3 and error <= 1e-12, (path, error)


def check_file():
    assert run("modalinfo", "--check", "many.h5").stdout.endswith("valid basis\n")
    assert "1089 linear, 18513 quadratic terms, 58905 of the energy's fourth degree" in run("modalinfo", "many.h5").stdout
    found = subprocess.run([sys.executable, source / "tools/python/validate", "many.h5"], capture_output=True, text=True)
    assert found.returncode == 0, found
    with open("report.json", encoding="utf-8") as file:
        assert json.load(file)["reduced_force_terms"] == {"linear": 1089, "quadratic": 33 * 561, "quartic": 58905}
    pack("again.h5", 33, "-j", 1)
    with h5py.File("many.h5") as a, h5py.File("again.h5") as b:
        assert a.attrs["content_hash"] == b.attrs["content_hash"]
        assert a["shapes/0000/truncation/cubic"].shape == (10, 33 * 34 * 35 // 6)
    # assemblies and what is made of them have the same shapes, beside one of the other kind
    with open("places.csv", "w", encoding="ascii") as file:
        file.write("0,0,-1,0,0,0,0,0,0\n1,1,-1,5,0,0,0,0,0\n")
    run("modalplace", "places.csv", "both.h5", "few.h5", "many.h5", "-q")
    run("modalplace", "--link", "places.csv", "link.h5", "few.h5", "many.h5", "-q")
    run("modalinfo", "--pack", "link.h5", "packed.h5")
    hashes = set()
    for path in ("both.h5", "link.h5", "packed.h5"):
        assert run("modalinfo", "--check", path).stdout.endswith("valid basis\n"), path
        with h5py.File(path) as file:
            hashes.add(file.attrs["content_hash"])
    assert len(hashes) == 1
    assert np.array_equal(step("link.h5"), step("both.h5"))


def check_refused():
    def spoil(how):
        shutil.copy("many.h5", "bad.h5")
        with h5py.File("bad.h5", "r+", libver=("v108", "v108")) as file:
            how(file["shapes/0000"])

    def replace(shape):
        del shape["reduced_forces/quartic"]
        shape["reduced_forces/quartic"] = np.zeros(32 * 33 * 34 * 35 // 24)

    def both(shape):
        shape["reduced_forces/cubic"] = np.zeros((33, 33 * 34 * 35 // 6))

    def set_nan(shape):
        shape["reduced_forces/quartic"][5] = np.nan

    with open("scene.json", "w", encoding="ascii") as file:
        json.dump(SCENE, file)
    for what, how in (("linear, quadratic and either cubic or quartic must be there", lambda s: s.__delitem__("reduced_forces/quartic")),
                      ("reduced_forces/quartic: shape must be [58905], is [52360]", replace),
                      ("linear, quadratic and either cubic or quartic must be there", both), ("reduced_forces/quartic: value 5", set_nan)):
        spoil(how)
        got = run("modalsim", "bad.h5", "no.h5", "--scene", "scene.json", "-q", code=3)
        assert what in got.stderr and got.stderr.count("\n") == 1, (what, got)
        found = run("modalinfo", "--check", "bad.h5", code=1)
        assert what in found.stdout + found.stderr, (what, found)
        found = subprocess.run([sys.executable, source / "tools/python/validate", "bad.h5"], capture_output=True, text=True)
        assert found.returncode == 1 and "reduced_forces" in found.stdout, (what, found)
    spoil(lambda shape: shape.__delitem__("reduced_forces"))
    got = run("modalsim", "bad.h5", "no.h5", "--scene", "scene.json", "-q", code=3)
    assert "no reduced forces in the basis (modalpack --reduced-forces makes them)" in got.stderr, got
    # memory: the figure, before anything is computed
    got = pack("no.h5", 200, "--memory-limit", "1G", derivatives=20, code=4)
    assert "--reduced-forces: 4" in got.stderr and "MiB needed, the limit is 1024 MiB" in got.stderr, got
    got = run("modalsim", "many.h5", "no.h5", "--scene", "scene.json", "-q", "--memory-limit", "700K", code=4)
    assert "many.h5" in got.stderr or "the memory limit is" in got.stderr, got
    assert not os.path.exists("no.h5")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    write_bar("bar.msh", (6, 3, 3), (0.6, 0.06, 0.06))
    pack("few.h5", 32)
    pack("many.h5", 33, "-j", 2, "--report", "report.json")
    check_forces()
    check_kinds()
    check_file()
    check_refused()
print("files of both kinds step alike")
