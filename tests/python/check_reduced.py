# SPDX-License-Identifier: Apache-2.0
"""Reduced forces as modalpack stores them, against the full element forces by numpy.
usage: check_reduced.py BIN_FOLDER SOURCE_FOLDER"""
import json
import pathlib
import sys
import tempfile

import h5py
import numpy as np

from stvk_solid import STEEL, Basis, Tools

run, source = Tools(sys.argv[1], exact=True), pathlib.Path(sys.argv[2]).resolve()


def check_forces(basis, young, poisson, bend):
    """At random q, up to displacements of `bend` metres."""
    random = np.random.default_rng(3)
    r = len(basis.eigenvalues)
    top = np.abs(basis.modes).max(axis=(1, 2))
    for size in (1e-3, 1, 10):
        q = random.uniform(-1, 1, r) * size * bend / top
        full = basis.full_forces(np.tensordot(q, basis.modes, 1), young, poisson)
        wanted = np.tensordot(basis.modes, full, 2)
        error = np.abs(basis.reduced_forces(q) - wanted).max() / np.abs(wanted).max()
        assert error < 1e-9, (size, error)


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    fork, path = source / "data/tuning_fork.msh", folder / "basis.h5"
    run("modalpack", fork, path, *STEEL, "--fixed", "stem_end", "--modes", 7, "--reduced-forces",
        "--report", folder / "report.json", "-q")
    basis = Basis(path)
    assert basis.kind == "modes"
    report = json.loads((folder / "report.json").read_text())
    assert report["reduced_force_terms"] == {"linear": 49, "quadratic": 7 * 28, "cubic": 7 * 84}
    assert [f.shape for f in basis.forces] == [(7, 7), (7, 28), (7, 84)]
    error = np.abs(basis.forces[0] - np.diag(basis.eigenvalues)).max() / basis.eigenvalues[-1]
    assert error < 1e-9, error
    check_forces(basis, 2.06e11, 0.29, 0.01)
    run("modalpack", fork, folder / "ref.h5", *STEEL, "--fixed", "stem_end", "--modes", 7, "--reduced-forces",
        "--backend", "ref", "-q")
    other = Basis(folder / "ref.h5")
    for ours, theirs in zip(basis.forces, other.forces):
        assert np.abs(ours - theirs).max() < 1e-12 * np.abs(ours).max()
    with h5py.File(folder / "ref.h5") as file:
        assert file["provenance/0000"].attrs["backend"] == b"ref"
    got = run("modalpack", fork, folder / "n.h5", *STEEL, "--reduced-forces", "--backend", "cuda:99", code=4)
    assert "back end cuda:99: no" in got.stderr and not (folder / "n.h5").exists(), got
    assert run("modalinfo", "--check", path).stdout.endswith("valid basis\n")
    assert "49 linear, 196 quadratic, 588 cubic terms" in run("modalinfo", path).stdout
    got = run("modalpack", fork, folder / "more.h5", *STEEL, "--modes", 201, "--reduced-forces", "-q", code=2)
    assert "--reduced-forces: for 1 to 200 modes, 201" in got.stderr and not (folder / "more.h5").exists()
print("reduced forces agree")
