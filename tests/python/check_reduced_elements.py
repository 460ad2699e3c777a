# SPDX-License-Identifier: Apache-2.0
"""Derivatives and reduced forces of other elements than linear tetrahedra: against the full element forces
by numpy, against an elastica, and of an orthotropic material.
usage: check_reduced_elements.py BIN_FOLDER"""
import json
import pathlib
import sys
import tempfile

import numpy as np
import scipy.integrate

from stvk_solid import Basis, Tools, write_inp

run = Tools(sys.argv[1], exact=True)
E, NU, RHO = 5e6, 0.3, 1000.0
LENGTH, HEIGHT, LOAD = 1.0, 0.05, 6.3  # P L^2 / (E I)


def elastica():
    """An inextensible cantilever under a load that keeps its direction, D. Bernoulli's and Euler's equation
    theta'' = -P L^2 / (E I) cos theta: places along it, m, and its deflection there."""
    s = np.linspace(0, 1, 200)
    got = scipy.integrate.solve_bvp(lambda s, y: np.stack([y[1], -LOAD * np.cos(y[0])]),
                                    lambda a, b: np.array([a[0], b[1]]), s, np.stack([s, 1 - s]), tol=1e-9)
    assert got.success
    angle = got.sol(s)[0]
    along = lambda slope: LENGTH * scipy.integrate.cumulative_trapezoid(slope, s, initial=0)
    return along(np.cos(angle)), along(np.sin(angle))


def answer(basis):
    """Displacements under the load."""
    tip = basis.nodes[:, 0] == LENGTH
    load = np.zeros_like(basis.nodes)
    load[tip, 2] = -LOAD * (E * HEIGHT**4 / 12) / LENGTH**2 / tip.sum()
    return basis.static_answer(load, 10)


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        mesh, path = folder / "bar.inp", folder / "b.h5"
        random = np.random.default_rng(4)

        # the stored polynomial is the full forces, integrated here
        for kind, cells in ((0, (4, 1, 2)), (1, (3, 1, 2)), (2, (4, 2, 2)), (3, (3, 1, 2))):
            write_inp(mesh, kind, cells, (1.0, 0.2, 0.3))
            run("modalpack", mesh, path, "--young", E, "--poisson", NU, "--density", RHO, "--fixed", "root",
                "--derivatives", 3, "--modes", 8, "--reduced-forces", "-f", "-q")
            assert run("modalinfo", "--check", path).stdout.endswith("valid basis\n")
            basis = Basis(path)
            assert abs(basis.volumes.sum() - 0.06) < 1e-12
            assert np.abs(basis.forces[0] - np.diag(basis.eigenvalues)).max() < 1e-9 * basis.eigenvalues[-1]
            for size in (1e-3, 0.1, 1):
                q = random.uniform(-1, 1, 8) * size / np.abs(basis.modes).max(axis=(1, 2))
                wanted = np.tensordot(basis.modes, basis.full_forces(np.tensordot(q, basis.modes, 1), E, NU), 2)
                error = np.abs(basis.reduced_forces(q) - wanted).max() / np.abs(wanted).max()
                assert error < 1e-9, (kind, size, error)

        # wood: the linear term is that of the stiffness matrix, which is made elsewhere; the bytes for all threads
        (folder / "wood.json").write_text(json.dumps({"default": "wood", "materials": {"wood": {
            "young": [11e9, 0.9e9, 0.6e9], "poisson": [0.35, 0.4, 0.45], "shear": [0.8e9, 0.7e9, 0.05e9], "density": 420,
            "axes": [[1, 1, 0], [0, 1, 1]]}}}))
        kept = []
        for threads in (1, 3):
            run("modalpack", mesh, path, "--materials", folder / "wood.json", "--fixed", "root", "--derivatives", 2,
                "--modes", 5, "--reduced-forces", "-f", "-q", "-j", threads)
            basis = Basis(path)
            assert np.abs(basis.forces[0] - np.diag(basis.eigenvalues)).max() < 1e-9 * basis.eigenvalues[-1]
            kept.append([f.tobytes() for f in basis.forces] + [basis.modes.tobytes()])
        assert kept[0] == kept[1]
        assert run("modalinfo", "--check", path).stdout.endswith("valid basis\n")

        # a slender cantilever bent by more than half its length: quadratic elements follow the elastica with
        # one element over the height, where tetrahedra of four nodes are far too stiff
        wanted = elastica()[1][-1]
        found = {}
        for name, kind, cells in (("TET4", 0, (24, 1, 1)), ("TET10", 1, (24, 1, 1)), ("HEX8", 2, (24, 1, 1)), ("HEX20", 3, (24, 1, 1))):
            write_inp(mesh, kind, cells, (LENGTH, HEIGHT, HEIGHT))
            run("modalpack", mesh, path, "--young", E, "--poisson", 0, "--density", RHO, "--fixed", "root",
                "--derivatives", 6, "--modes", 20, "--reduced-forces", "-f", "-q")
            basis = Basis(path)
            found[name] = -answer(basis)[basis.nodes[:, 0] == LENGTH, 2].mean()
        print(f"elastica {wanted:.4f} m", {name: round(d, 4) for name, d in found.items()})
        for name in ("TET10", "HEX20"):
            assert abs(found[name] / wanted - 1) < 0.02, (name, found[name])
    print("reduced elements agree")


if __name__ == "__main__":
    main()
