# SPDX-License-Identifier: Apache-2.0
"""modaldeform --fields strain,stress,von_mises: linear and St. Venant-Kirchhoff motion against numpy, elements of each type,
objects that turn, what a trajectory says of its models, threads, and what is refused.
usage: check_stress.py BIN_FOLDER"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from stvk_solid import Basis, Tools, write_inp

run = Tools(sys.argv[1], exact=True)
E, NU = 5e6, 0.3
FIELDS = ["--output-mesh", "volume", "--fields", "strain,stress,von_mises"]
SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))


def frames(folder):
    """{name: [frames, rows, components]}"""
    with h5py.File(f"{folder}/sequence.vtkhdf") as file:
        root = file["VTKHDF"]
        n = len(root["Steps/Values"])
        return {name: root[group][name][:].reshape(n, -1, *root[group][name].shape[1:]).astype(float)
                for group in ("PointData", "CellData") if group in root for name in root[group]}


def expected(basis, u, large):
    """Of the cells: strain, Cauchy's stress, von Mises' stress, as means of the points, by numpy."""
    lam, mu = E * NU / (1 + NU) / (1 - 2 * NU), E / 2 / (1 + NU)
    h = np.einsum("eap,eak->epk", u[basis.point_nodes], basis.gradients)
    strain = (h + h.transpose(0, 2, 1)) / 2
    if large:
        strain = strain + h.transpose(0, 2, 1) @ h / 2
    stress = 2 * mu * strain + lam * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    if large:
        f = h + np.eye(3)
        stress = f @ stress @ f.transpose(0, 2, 1) / np.linalg.det(f)[:, None, None]
    deviator = stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] * np.eye(3) / 3
    mises = np.sqrt(1.5 * (deviator**2).sum(axis=(1, 2)))
    mean = lambda x: ((x.reshape(len(x), -1).T * basis.volumes).T.reshape(basis.n_elements, -1, *x.shape[1:]).sum(axis=1).T
                      / basis.volumes.reshape(basis.n_elements, -1).sum(axis=1)).T
    return mean(strain), mean(stress), mean(mises)


def six(tensors):
    return np.stack([tensors[..., i, j] for i, j in SIX], axis=-1)


def close(found, wanted, what):
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    assert error < 2e-6, (what, error)


def compare(found, basis, q, large, turn=np.eye(3), first=0):
    """The cells [first, ...) of one frame."""
    own = slice(first, first + basis.n_elements)
    strain, stress, mises = expected(basis, np.tensordot(q, basis.modes, 1), large)
    close(found["strain"][own], six(turn @ strain @ turn.T), "strain")
    close(found["stress"][own], six(turn @ stress @ turn.T), "stress")
    close(found["von_mises"][own], mises, "von Mises")


def read(path):
    basis = Basis(path)
    with h5py.File(path) as file:
        basis.n_elements = len(file["shapes/0000/volume/element_types"])
    return basis


def refused(message, *words, code=2):
    got = run("modaldeform", *words, code=code)
    assert got.stderr.startswith("modaldeform: ") and got.stderr.count("\n") == 1 and message in got.stderr, got
    assert not os.path.exists("no"), words


def main():
    # every type, both models; the trajectory says which
    for kind, cells in ((0, (4, 1, 2)), (1, (3, 1, 2)), (2, (4, 2, 2)), (3, (3, 1, 2))):
        write_inp("bar.inp", kind, cells, (1.0, 0.2, 0.3))
        run("modalpack", "bar.inp", "b.h5", "--young", E, "--poisson", NU, "--density", 1000, "--fixed", "root",
            "--derivatives", 3, "--modes", 6, "--reduced-forces", "-f", "-q")
        basis = read("b.h5")
        for large in (False, True):
            with open("s.json", "w") as file:
                json.dump({"duration": 0.1, "fps": 20, "gravity": [3, 5, -30], "model": "stvk" if large else "linear"}, file)
            run("modalsim", "b.h5", "t.h5", "--scene", "s.json", "-f", "-q")
            with h5py.File("t.h5") as file:
                assert ("models" in file) == large and (not large or list(file["models"][:]) == [1])
                q = file["q"][:]
            run("modaldeform", "t.h5", "o", *FIELDS, "-f", "-q")
            found = frames("o")
            assert set(found) == {f"{name}{end}" for name in ("strain", "stress", "von_mises") for end in ("", "_nodes")}
            for i in (1, 2):
                assert np.abs(np.tensordot(q[i], basis.modes, 1)).max() > 0.01
                compare({name: x[i] for name, x in found.items()}, basis, q[i], large)
            assert run("modalinfo", "--check", "o").stdout == "o: valid output\n"
    # nodes: von Mises' stress is that of the averages, which are those of all elements at the node for TET4's constant values
    write_inp("bar.inp", 0, (4, 1, 2), (1.0, 0.2, 0.3))
    run("modalpack", "bar.inp", "b.h5", "--young", E, "--poisson", NU, "--density", 1000, "--fixed", "root", "--modes", 4, "-f", "-q")
    run("modaldeform", "b.h5", "m", *FIELDS, "--format", "vtkhdf,vtu", "-j", 1)
    run("modaldeform", "b.h5", "m2", *FIELDS, "-j", 2)
    assert pathlib.Path("m/sequence.vtkhdf").read_bytes() == pathlib.Path("m2/sequence.vtkhdf").read_bytes()
    found = {name: x[8] for name, x in frames("m").items()}
    elements = Basis("b.h5").tetrahedra
    total, count = np.zeros_like(found["stress_nodes"]), np.zeros(len(found["stress_nodes"]))
    np.add.at(total, elements, found["stress"][:, None])
    np.add.at(count, elements, 1)
    close(found["stress_nodes"], total / count[:, None], "nodes")
    a, b, c, d, e, f = found["stress_nodes"].T
    close(found["von_mises_nodes"], np.sqrt(((a - b)**2 + (b - c)**2 + (c - a)**2) / 2 + 3 * (d**2 + e**2 + f**2)), "von Mises at nodes")
    run("modaldeform", "b.h5", "alone", "--output-mesh", "volume", "--fields", "von_mises")
    assert (frames("alone")["von_mises_nodes"][8] == found["von_mises_nodes"]).all()

    # two objects, one of them turned and moving by the other model: each by its own law, in the world's axes
    run("modalpack", "bar.inp", "b.h5", "--young", E, "--poisson", NU, "--density", 1000, "--fixed", "root",
        "--derivatives", 3, "--modes", 6, "--reduced-forces", "-f", "-q")
    with open("places.csv", "w") as file:
        file.write("0,0,-1,0,0,0,0,0,0\n1,0,-1,3,0,0,0.4,0.5,-0.3\n")
    run("modalplace", "places.csv", "two.h5", "b.h5", "-f")
    with open("s.json", "w") as file:
        json.dump({"duration": 0.1, "fps": 20, "gravity": [3, 5, -30], "model": "linear", "objects": [{"object": 1, "model": "stvk"}]}, file)
    run("modalsim", "two.h5", "t.h5", "--scene", "s.json", "-f", "-q")
    with h5py.File("t.h5") as file:
        q, models = file["q"][:], list(file["models"][:])
    with h5py.File("two.h5") as file:
        turn = file["objects/rest_pose"][1][:, :3]
    assert json.loads(run("modalinfo", "--json", "t.h5").stdout)["models"] == ["linear", "stvk"]
    assert "1 by St. Venant-Kirchhoff's model, 1 by the linear one" in run("modalinfo", "t.h5").stdout
    assert models == [0, 1] and np.abs(turn - np.eye(3)).max() > 0.1
    run("modaldeform", "t.h5", "o", *FIELDS, "-f", "-q")
    found, basis = {name: x[2] for name, x in frames("o").items()}, read("b.h5")
    compare(found, basis, q[2, :6], False)
    compare(found, basis, q[2, 6:], True, turn, basis.n_elements)
    run("modalpack", "bar.inp", "c.h5", "--young", E, "--poisson", NU, "--density", 1000, "--fixed", "root",
        "--derivatives", 4, "--modes", 8, "--reduced-forces", "-f", "-q")
    run("modalplace", "places.csv", "two2.h5", "c.h5", "-f")
    run("modalsim", "two2.h5", "t2.h5", "--rebase", "t.h5", "-f", "-q")
    with h5py.File("t2.h5") as file:
        assert list(file["models"][:]) == [0, 1]

    # an element inside out: warned of, by the law for which it means something
    with h5py.File("t.h5", "r+") as file:
        q = file["q"][:]
        q[1:, 6:] = 200 * np.random.default_rng(1).uniform(-1, 1, 6)
        file["q"][:] = q
    h = np.einsum("eap,eak->epk", np.tensordot(q[1, 6:], basis.modes, 1)[basis.point_nodes], basis.gradients)
    assert np.linalg.det(h + np.eye(3)).min() < 0
    got = run("modaldeform", "t.h5", "o", *FIELDS, "-f")
    assert "of object 1 is inside out in frame 1" in got.stderr, got

    # what is refused
    refused("--fields: strain, stress, von_mises, jacobian and pressure are of solids", "t.h5", "no", "--fields", "stress")
    refused("not displacement, speed, strain, stress, von_mises, jacobian or pressure", "t.h5", "no", "--output-mesh", "volume", "--fields", "stres")
    refused("a trajectory has how much its basis leaves out in a frame, not where", "t.h5", "no", "--fields", "quality_residual")
    refused("twice", "t.h5", "no", "--output-mesh", "volume", "--fields", "stress,stress")
    refused("csv cannot carry this array of the cells, stress", "t.h5", "no", "--output-mesh", "volume", "--fields", "stress",
            "--format", "csv", "--probe", "0")
    refused("--memory-limit", "t.h5", "no", *FIELDS, "--memory-limit", "20K", code=4)
    with h5py.File("t.h5", "r+") as file:
        file["models"][1] = 2
    refused("/models: object 1: no model of number 2", "t.h5", "no", *FIELDS, code=3)
    assert "/models: object 1: no model of number 2" in run("modalinfo", "--check", "t.h5", code=1).stdout
    validate = pathlib.Path(__file__).resolve().parents[2] / "tools/python/validate"
    got = subprocess.run([sys.executable, validate, "t.h5"], capture_output=True, text=True)
    assert got.returncode == 1 and "/models" in got.stdout, got


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
