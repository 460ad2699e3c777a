# SPDX-License-Identifier: Apache-2.0
"""Participation and effective masses as modalinfo and modalpack print them: against all modes of the same elements by
scipy, against the closed form of cantilevers, and of free, imported and partly held bodies.
usage: check_effective_mass.py BIN_FOLDER"""
import json
import os
import pathlib
import re
import struct
import sys
import tempfile

import numpy as np
import scipy.linalg
import scipy.optimize

from stvk_solid import Basis, Tools, write_bar, write_inp

run = Tools(sys.argv[1], exact=True)
E, RHO = 2e9, 1200.0


def pack(mesh, path, *words, poisson=0.3):
    return run("modalpack", mesh, path, "--young", E, "--poisson", poisson, "--density", RHO, "-f", *words)


def shape_of(path):
    return json.loads(run("modalinfo", "--json", path).stdout)["shapes"][0]


def column(shape, name):
    return np.array([mode[name] for mode in shape["modes"]])


def rows(text, label):
    """The three numbers at the end of the line that begins so."""
    found = re.search(rf"^ *{label} +(\S+) +(\S+) +(\S+)$", text, re.M)
    return [float(x.rstrip("%")) for x in found.groups()]


def main():
    mesh, path = pathlib.Path("bar.msh"), pathlib.Path("b.h5")

    # all modes of a held bar by scipy, from stiffness and mass made here
    write_bar(mesh, (5, 2, 2), (1.0, 0.2, 0.3))
    pack(mesh, path, "--fixed", "root", "--modes", 12, "--report", "r.json")
    basis, shape = Basis(path), shape_of(path)
    n = len(basis.nodes)
    stiffness = basis.full_stiffness(np.zeros((n, 3)), E, 0.3).toarray()
    mass = np.kron(basis.mass(RHO).toarray(), np.eye(3))
    free = np.setdiff1d(np.arange(3 * n), (3 * basis.fixed[:, None] + np.arange(3)).ravel())
    values, phi = scipy.linalg.eigh(stiffness[np.ix_(free, free)], mass[np.ix_(free, free)])
    participation = phi.T @ (mass @ np.tile(np.eye(3), (n, 1)))[free]
    total = RHO * 0.06
    assert abs(shape["total_mass"] / total - 1) < 1e-12
    assert np.allclose(column(shape, "eigenvalue"), values[:12], rtol=1e-8)
    assert np.abs(np.abs(column(shape, "participation")) - np.abs(participation[:12])).max() < 1e-6 * total**0.5
    assert np.abs(column(shape, "effective_mass") - participation[:12]**2).max() < 1e-6 * total
    assert np.allclose(shape["effective_mass_sum"], column(shape, "effective_mass").sum(axis=0), rtol=1e-14)
    # all modes carry all that is not held: less than the body, more than what these carry
    carried = (participation**2).sum(axis=0)
    assert np.all(shape["effective_mass_sum"] < carried) and np.all(carried < total)
    assert "effective_mass_rigid" not in shape

    # what is printed is that; the report has it, too
    report = json.load(open("r.json"))
    assert report["effective_mass_sum"] == shape["effective_mass_sum"] and report["modes"] == shape["modes"]
    for text in (run("modalinfo", path).stdout, pack(mesh, path, "--fixed", "root", "--modes", 12).stdout):
        assert np.allclose(rows(text, "sum"), shape["effective_mass_sum"], rtol=6e-3)
        assert np.allclose(rows(text, "of the mass"), 100 * np.array(shape["effective_mass_sum"]) / total, atol=0.006)
        first = re.search(r"^ *0 +(.*)$", text, re.M)[1].split()
        assert len(first) == 8, first  # no column of ones
        assert np.allclose(np.float64(first[2:5]), column(shape, "participation")[0], rtol=6e-3, atol=1e-6)
        assert np.allclose(np.float64(first[5:8]), column(shape, "effective_mass")[0], rtol=6e-3, atol=1e-9)
        assert "rigid modes that were left out" not in text

    # a slender cantilever: of the mass the bending modes carry 61.3 %, 18.8 %, 6.5 %, of Bernoulli's and Euler's beam
    # 4 sigma^2 / beta^2 with cos beta cosh beta = -1; the axial ones 8 / ((2 n - 1) pi)^2
    write_inp("beam.inp", 3, (24, 1, 1), (1.0, 0.02, 0.03))
    pack("beam.inp", path, "--fixed", "root", "--modes", 14, poisson=0)
    shape = shape_of(path)
    share = column(shape, "effective_mass") / shape["total_mass"]
    for axis in (1, 2):
        found = np.sort(share[:, axis])[::-1][:3]
        betas = [scipy.optimize.brentq(lambda b: np.cos(b) * np.cosh(b) + 1, *r) for r in ((1, 3), (4, 5.5), (7, 8.5))]
        exact = [4 * ((np.sinh(b) - np.sin(b)) / (np.cosh(b) + np.cos(b)))**2 / b**2 for b in betas]
        assert np.allclose(exact, [0.6131, 0.1883, 0.0647], atol=1e-4)
        assert np.abs(found / exact - 1).max() < 0.02, (axis, found, exact)
        assert abs(found[0] / exact[0] - 1) < 1e-3, (axis, found, exact)
    axial = share[:, 0].max()
    assert abs(axial - 8 / np.pi**2) < 1e-3, axial

    # free: nothing but the rigid motions moves with the ground, and carries all
    pack(mesh, path, "--modes", 4)
    shape, text = shape_of(path), run("modalinfo", path).stdout
    assert max(shape["effective_mass_sum"]) < 1e-12 * total
    assert np.allclose(shape["effective_mass_rigid"], shape["total_mass"], rtol=1e-15)
    assert np.allclose(rows(text, "the rigid modes that were left out"), total, rtol=6e-3)

    # held in part: it slides along y; how much its rigid motion carries is not said
    pack(mesh, path, "--fixed", "root@xz", "--modes", 4)
    shape = shape_of(path)
    assert shape["rigid_modes"] == 1 and "effective_mass_rigid" not in shape
    assert shape["effective_mass_sum"][1] < 1e-12 * total < shape["effective_mass_sum"][2]

    # imported columns have masses of their own and no sums
    with open("c.U", "wb") as file:
        u = Basis(path).modes
        u[0] *= 3
        u[1] += u[0]
        file.write(struct.pack("<ii", 3 * u.shape[1], 2) + u[:2].reshape(2, -1).astype("<f8").tobytes())
    pack(mesh, path, "--import", "c.U")
    shape, text = shape_of(path), run("modalinfo", path).stdout
    assert "effective_mass_sum" not in shape and not re.search("^ *sum", text, re.M)
    assert len(re.search(r"^ *0 +(.*)$", text, re.M)[1].split()) == 9 and " mass, kg" in text
    p, m = column(shape, "participation"), column(shape, "modal_mass")
    assert np.allclose(column(shape, "effective_mass"), p**2 / m[:, None], rtol=1e-14) and abs(m[0] - 9) < 1e-6


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
