# SPDX-License-Identifier: Apache-2.0
"""Reduced forces as modalpack stores them, against the full element forces by numpy.
usage: check_reduced.py BIN_FOLDER SOURCE_FOLDER"""
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

bin_folder, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
STEEL = ["--young", "2.06e11", "--poisson", "0.29", "--density", "7850"]


def run(tool, *words, code=0):
    got = subprocess.run([bin_folder / tool, *map(str, words)], capture_output=True, text=True)
    assert got.returncode == code, (words, got)
    return got


class Basis:
    def __init__(self, path):
        with h5py.File(path) as file:
            shape = file["shapes/0000"]
            self.kind = shape["modes"].attrs["kind"].decode()
            self.eigenvalues = shape["modes/eigenvalues"][:]
            self.nodes = shape["volume/nodes"][:]
            self.tetrahedra = shape["volume/tetrahedra"][:]
            self.fixed = shape["volume/fixed_nodes"][:]
            self.modes = shape["volume/volume_modes"][:]
            group = shape.get("reduced_forces")
            self.forces = group and [group[name][:] for name in ("linear", "quadratic", "cubic")]
        edges = (self.nodes[self.tetrahedra[:, 1:]] - self.nodes[self.tetrahedra[:, :1]]).transpose(0, 2, 1)
        inverse = np.linalg.inv(edges)
        self.gradients = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
        self.volumes = np.abs(np.linalg.det(edges)) / 6

    def full_forces(self, u, young, poisson):
        lam, mu = young * poisson / (1 + poisson) / (1 - 2 * poisson), young / 2 / (1 + poisson)
        f = np.eye(3) + np.einsum("eap,eak->epk", u[self.tetrahedra], self.gradients)
        strain = (f.transpose(0, 2, 1) @ f - np.eye(3)) / 2
        stress = 2 * mu * strain + lam * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        p = (f @ stress) * self.volumes[:, None, None]
        forces = np.zeros_like(u)
        np.add.at(forces, self.tetrahedra, np.einsum("epk,eak->eap", p, self.gradients))
        return forces

    def reduced_forces(self, q):
        r = len(q)
        second = np.array([q[i] * q[j] for i, j in itertools.combinations_with_replacement(range(r), 2)])
        third = np.array([q[i] * q[j] * q[k]
                          for i, j, k in itertools.combinations_with_replacement(range(r), 3)])
        return self.forces[0] @ q + self.forces[1] @ second + self.forces[2] @ third


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
    assert run("modalinfo", "--check", path).stdout.endswith("a sound basis\n")
    assert "49 linear, 196 quadratic, 588 cubic terms" in run("modalinfo", path).stdout
    got = run("modalpack", fork, folder / "more.h5", *STEEL, "--modes", 201, "--reduced-forces", "-q", code=2)
    assert "--reduced-forces: for 1 to 200 modes, 201" in got.stderr and not (folder / "more.h5").exists()
print("reduced forces agree")
