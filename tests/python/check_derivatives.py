# SPDX-License-Identifier: Apache-2.0
"""Bases of modes and modal derivatives: orthonormal, Ritz vectors, and better than modes alone where
deflections are large. usage: check_derivatives.py BIN_FOLDER"""
import json
import pathlib
import sys
import tempfile

import numpy as np
import scipy.sparse.linalg

from stvk_solid import Basis, Tools, write_bar

run = Tools(sys.argv[1], exact=True)
E, NU, RHO = 5e6, 0.35, 1000.0
RUBBER = ["--young", E, "--poisson", NU, "--density", RHO]


def check_ritz(basis):
    """U^T M U = I and U^T K U = diag(eigenvalues), with matrices assembled here."""
    u = basis.modes.reshape(len(basis.modes), -1)
    mass = np.einsum("inp,jnp->ij", basis.modes,
                     np.stack([basis.mass(RHO) @ mode for mode in basis.modes]))
    assert np.abs(mass - np.eye(len(u))).max() < 1e-11, mass
    stiffness = u @ (basis.full_stiffness(0 * basis.nodes, E, NU) @ u.T)
    error = np.abs(stiffness - np.diag(basis.eigenvalues)).max() / basis.eigenvalues[-1]
    assert error < 1e-11, error


def static_full(basis, load):
    """Newton with load steps; the answer is checked to be an equilibrium."""
    free = np.setdiff1d(np.arange(3 * len(basis.nodes)),
                        (3 * basis.fixed[:, None] + np.arange(3)).ravel())
    u = np.zeros(3 * len(basis.nodes))
    for share in (0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0):
        for _ in range(60):
            rest = (share * load).ravel() - basis.full_forces(u.reshape(-1, 3), E, NU).ravel()
            if np.abs(rest[free]).max() < 1e-10 * np.abs(load).max():
                break
            k = basis.full_stiffness(u.reshape(-1, 3), E, NU)[free][:, free]
            u[free] += scipy.sparse.linalg.spsolve(k.tocsc(), rest[free])
        else:
            raise AssertionError("no full equilibrium")
    return u.reshape(-1, 3)


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    bar, path = folder / "bar.msh", folder / "b.h5"
    write_bar(bar, (14, 2, 2), (1.0, 0.1, 0.1))

    # a cantilever with a load at its tip that bends it by almost half its length: modes alone cannot
    # shorten, and stay stiff however many of the lowest there are; derivatives can
    errors = {}
    for kind, r, words in [("modes", r, ["--modes", r]) for r in (3, 6, 12)] + \
            [("derivatives", r, ["--derivatives", k, "--modes", r]) for k, r in ((2, 3), (3, 6), (5, 12), (8, 30))]:
        run("modalpack", bar, path, *RUBBER, "--fixed", "root", *words, "--reduced-forces", "-f", "-q",
            "--report", folder / "report.json")
        basis = Basis(path)
        assert basis.kind == kind and len(basis.modes) == r
        check_ritz(basis)
        assert run("modalinfo", "--check", path).stdout.endswith("valid basis\n")
        if not errors:
            tip = basis.nodes[:, 0] == 1.0
            load = np.zeros_like(basis.nodes)
            load[tip, 2] = -6.3 * (E * 0.1**4 / 12) / tip.sum()  # P L^2 = 6.3 E I
            full = static_full(basis, load)
            deflection = -full[tip, 2].mean()
            assert 0.3 < deflection < 0.8, deflection
        answer = basis.static_answer(load, 20)
        errors[kind, r] = np.linalg.norm(answer - full) / np.linalg.norm(full)
    print(f"deflection {deflection:.3f}", {f"{k} {r}": f"{e:.2e}" for (k, r), e in errors.items()})
    assert errors["derivatives", 6] < errors["modes", 12] / 5
    assert errors["derivatives", 6] < errors["derivatives", 3]
    assert errors["derivatives", 12] < errors["derivatives", 6]
    assert errors["derivatives", 30] < 0.5 * errors["derivatives", 12]

    # all columns: the modes lie in the span, and the report tells rank and energy
    run("modalpack", bar, folder / "m.h5", *RUBBER, "--fixed", "root", "--modes", 3, "-q")
    run("modalpack", bar, path, *RUBBER, "--fixed", "root", "--derivatives", 3, "--modes", 9, "-f", "-q",
        "--report", folder / "report.json")
    report = json.loads((folder / "report.json").read_text())["derivatives"]
    assert report["rank"] == 9 and report["derivatives"] == 6 and report["load_residual"] < 1e-9, report
    assert abs(report["energy"] - 1) < 1e-14 and len(report["singular_values"]) == 9
    assert np.all(np.diff(report["singular_values"]) <= 0)
    all_columns, modes = Basis(path), Basis(folder / "m.h5")
    mass = all_columns.mass(RHO)
    for mode in modes.modes:
        rest = mode - np.tensordot(np.tensordot(all_columns.modes, mass @ mode, 2), all_columns.modes, 1)
        assert np.sqrt(np.sum(rest * (mass @ rest))) < 1e-9
    assert np.abs(all_columns.eigenvalues[:3] / modes.eigenvalues - 1).max() < 1e-9

    # free: nothing rigid in the basis
    run("modalpack", bar, path, *RUBBER, "--derivatives", 4, "--modes", 10, "-f", "-q", "--reduced-forces")
    basis = Basis(path)
    check_ritz(basis)
    mass = basis.mass(RHO)
    x = basis.nodes - basis.nodes.mean(axis=0)
    rigid = [np.eye(3)[p] + 0 * x for p in range(3)] + [np.cross(np.eye(3)[p], x) for p in range(3)]
    for motion in rigid:
        size = np.sqrt(np.sum(motion * (mass @ motion)))
        assert np.abs(np.tensordot(basis.modes, mass @ motion, 2)).max() < 1e-9 * size

    # a root that may slide: y is held at all of it, x and z at one side
    run("modalpack", bar, path, *RUBBER, "--fixed", "root@y", "--fixed", "box:0,0,0:0,0.1,0", "--derivatives", 4,
        "--modes", 10, "-f", "-q", "--reduced-forces")
    basis = Basis(path)
    root = basis.nodes[:, 0] == 0
    assert np.all(basis.modes[:, root, 1] == 0) and np.abs(basis.modes[:, root, 2]).max() > 0
    check_ritz(basis)

    for limit, words in (("1M", ("--derivatives", 30)), ("2M", ("--modes", 25, "--reduced-forces"))):
        name = "--reduced-forces" if "--reduced-forces" in words else words[0]
        got = run("modalpack", bar, folder / "n.h5", *RUBBER, *words, "--memory-limit", limit, code=4)
        assert f"modalpack: {name}: " in got.stderr and f"MiB needed, the limit is {limit[0]} MiB" in got.stderr, got

    got = run("modalpack", bar, folder / "n.h5", *RUBBER, "--derivatives", 3, "--modes", 10, code=2)
    assert "--modes: 3 modes and their derivatives are at most 9, 10" in got.stderr
    got = run("modalpack", bar, folder / "n.h5", *RUBBER, "--derivatives", 0, code=2)
    assert "--derivatives: must be in 1 .. 1000, 0" in got.stderr and not (folder / "n.h5").exists()
print("derivatives agree")
