# SPDX-License-Identifier: Apache-2.0
"""Stresses from CalculiX's own displacements: a cantilever of C3D10, C3D20 and C3D8 elements, curved, steel and orthotropic,
solved by ccx; its displacements are a snapshot, of which modalpack makes a basis of one column. At the points of integration,
which are CalculiX's, stresses agree to 1e-4; at the nodes what modaldeform averages is compared with the .frd file.
Exit 77 where ccx is absent.
usage: check_stress_calculix.py BIN_FOLDER STRESS_POINTS [table]"""
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "python"))
from basis_file import node_modes
from stvk_solid import REFERENCE, Tools, write_inp

if not shutil.which("ccx"):
    print("SKIPPED: no ccx (CalculiX)")
    sys.exit(77)
run = Tools(sys.argv[1], exact=True)
stress_points, table = os.path.abspath(sys.argv[2]), len(sys.argv) > 3
SIZE = np.array([2.0, 0.4, 0.3])
STEEL = "*ELASTIC\n2.1e11, 0.3"
SPRUCE = "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n11e9, 0.9e9, 0.6e9, 0.35, 0.4, 0.45, 0.8e9, 0.7e9,\n0.05e9"


def bend(x):
    return x[0] + 0.2 * x[1] * np.sin(3 * x[2]), x[1] + 0.06 * np.sin(2 * x[0]), x[2] + 0.05 * x[0] * x[1]


def mises(s):
    """Of [..., 6] xx yy zz xy yz xz."""
    a, b, c, d, e, f = np.moveaxis(s, -1, 0)
    return np.sqrt(((a - b)**2 + (b - c)**2 + (c - a)**2) / 2 + 3 * (d**2 + e**2 + f**2))


def blocks(text):
    """{title: numbers} of a .dat file."""
    found = {}
    for part in re.split(r"\n(?= *(?:displacements|stresses))", text)[1:]:
        lines = [line.split() for line in part.strip().split("\n")]
        found[lines[0][0]] = np.array([[float(w) for w in line] for line in lines[1:] if line])
    return found


def frd_stress(text):
    """{node: xx yy zz xy yz xz} of a .frd file, in columns of twelve letters."""
    found, inside = {}, False
    for line in text.split("\n"):
        if line.startswith(" -4"):
            inside = "STRESS" in line
        elif inside and line.startswith(" -1"):
            found[int(line[3:13])] = [float(line[13 + 12 * k:25 + 12 * k]) for k in range(6)]
    return found


def solve(kind, material):
    """Displacements of all nodes, stresses at points and nodes."""
    mesh = pathlib.Path("bar.inp").read_text()
    axes = "*ORIENTATION, NAME=AXES\n2, 1, 0.5, -1, 1, 0.3\n" if material is SPRUCE else ""
    law = f"*MATERIAL, NAME=m\n{material}\n*DENSITY\n1000\n{axes}*SOLID SECTION, ELSET=all, MATERIAL=m" + (", ORIENTATION=AXES" if axes else "")
    pathlib.Path("packed.inp").write_text(f"{mesh}*BOUNDARY\nroot, 1, 3\n")
    numbers = {STEEL: {"young": 2.1e11, "poisson": 0.3, "density": 1000},
               SPRUCE: {"young": [11e9, 0.9e9, 0.6e9], "poisson": [0.35, 0.4, 0.45], "shear": [0.8e9, 0.7e9, 0.05e9],
                        "density": 1000, "axes": [[2, 1, 0.5], [-1, 1, 0.3]]}}
    pathlib.Path("m.json").write_text(json.dumps({"materials": {"m": numbers[material]}, "default": "m"}))
    tip = [int(line.split(",")[0]) for line in mesh.split("*ELEMENT")[0].split("\n")[1:] if line and float(line.split(",")[1]) > 1.95]
    named = mesh.replace("*NODE", "*NODE, NSET=every", 1)
    loads = "".join(f"{n}, 3, {-1000 / len(tip)!r}\n{n}, 2, {300 / len(tip)!r}\n" for n in tip)
    pathlib.Path("static.inp").write_text(
        f"{named}{law}\n*BOUNDARY\nroot, 1, 3\n*STEP\n*STATIC\n*CLOAD\n{loads}*NODE PRINT, NSET=every\nU\n"
        "*EL PRINT, ELSET=all, GLOBAL=YES\nS\n*NODE FILE\nU\n*EL FILE\nS\n*END STEP\n")
    got = subprocess.run(["ccx", "static"], capture_output=True, text=True)
    found = blocks(pathlib.Path("static.dat").read_text())
    assert "displacements" in found and "stresses" in found, got.stdout[-800:]
    return found["displacements"], found["stresses"], frd_stress(pathlib.Path("static.frd").read_text())


def compare(kind, cells, title, material):
    write_inp("bar.inp", kind, cells, SIZE, bend)
    displacements, points, nodal = solve(kind, material)
    run("modalpack", "packed.inp", "free.h5", "--materials", "m.json", "--modes", 1, "-f", "-q")
    with h5py.File("free.h5") as file:
        tags = file["shapes/0000/volume/node_tags"][:] if "node_tags" in file["shapes/0000/volume"] else None
        n_nodes = len(file["shapes/0000/volume/nodes"])
    tags = np.arange(1, n_nodes + 1) if tags is None else tags
    u = np.zeros((n_nodes, 3))
    row = {int(t): i for i, t in enumerate(tags)}
    for line in displacements:
        u[row[int(line[0])]] = line[1:]
    with h5py.File("u.h5", "w", libver=("earliest", "v108")) as file:
        file.attrs.update(modal_format="snapshots", modal_format_version="1.0")
        file["displacements"] = u[None]
    run("modalpack", "packed.inp", "b.h5", "--materials", "m.json", "--snapshots", "u.h5", "--modes", 1, "-f", "-q")
    with h5py.File("b.h5") as file:
        phi, fixed = node_modes(file["shapes/0000"])[0].astype(float), file["shapes/0000/volume/fixed_nodes"][:]
        basis_hash = file.attrs["content_hash"]
    assert np.abs(u[fixed]).max() == 0
    q = (phi * u).sum() / (phi**2).sum()
    assert np.abs(q * phi - u).max() < 1e-9 * np.abs(u).max()

    # at the points: CalculiX counts along the first axis first, hexahedra of ours along the last one first
    got = subprocess.run([stress_points, "b.h5", repr(q)], capture_output=True, text=True, check=True)
    ours = np.array([[float(w) for w in line.split()] for line in got.stdout.splitlines()])
    per = {1: 4, 2: 8, 3: 27}[kind]
    theirs = points[np.lexsort((points[:, 1], points[:, 0]))].reshape(-1, per, 8)
    ours = ours[np.argsort(ours[:, 0], kind="stable")].reshape(-1, per, 11)
    if kind > 1:
        n = round(per ** (1 / 3))
        order = [i * n * n + j * n + k for k, j, i in itertools.product(range(n), repeat=3)]
        ours = ours[:, order]
    assert np.array_equal(theirs[:, 0, 0], ours[:, 0, 0])
    stress = theirs[:, :, [2, 3, 4, 5, 7, 6]]  # xx yy zz xy xz yz
    top = mises(stress).max()
    worst = np.abs(mises(stress) - ours[:, :, 10]).max() / top
    worst_stress = np.abs(stress - ours[:, :, 4:10]).max() / np.abs(stress).max()
    # (CalculiX prints displacements in seven digits, of which strains are differences)
    assert worst < 1e-4 and worst_stress < 1e-3, (kind, title, worst, worst_stress)

    # what modaldeform writes: cells are the means of the points, nodes are averages
    with h5py.File("t.h5", "w", libver=("earliest", "v108")) as file:
        file.attrs.update(modal_format="trajectory", modal_format_version="1.0", basis_hash=basis_hash, basis_path="b.h5")
        file["times"], file["mode_offsets"], file["q"] = np.zeros(1), np.array([0, 1]), np.array([[q]])
    shutil.rmtree("out", ignore_errors=True)
    run("modaldeform", "t.h5", "out", "--output-mesh", "volume", "--fields", "stress,von_mises")
    with h5py.File("out/sequence.vtkhdf") as file:
        cells_mises = file["VTKHDF/CellData/von_mises"][:]
        nodes_stress, nodes_mises = file["VTKHDF/PointData/stress_nodes"][:], file["VTKHDF/PointData/von_mises_nodes"][:]
    own = mises(stress)
    assert (own.min(axis=1) - 1e-4 * top <= cells_mises).all() and (cells_mises <= own.max(axis=1) + 1e-4 * top).all()
    theirs_nodes = np.array([nodal[int(t)] for t in tags])
    difference = np.abs(theirs_nodes - nodes_stress).max() / np.abs(theirs_nodes).max()
    mises_difference = np.abs(mises(theirs_nodes) - nodes_mises).max() / mises(theirs_nodes).max()
    assert np.abs(mises(nodes_stress) - nodes_mises).max() < 1e-5 * top
    # both average what the points of each element say of its nodes. CalculiX continues C3D10 and C3D8 as we do; C3D20 by all
    # twenty terms of the element, we by the eight of a trilinear function: from our points its values follow, too
    name = {1: "C3D10", 2: "C3D8", 3: "C3D20"}[kind]
    print(f"| {name} | {title} | {worst:.1e} | {difference:.1e} | {mises_difference:.1e} |")
    if kind < 3:
        assert difference < 2e-4 and mises_difference < 2e-4, (kind, title, difference)
        return
    with h5py.File("b.h5") as file:
        elements = file["shapes/0000/volume/element_nodes"][:].reshape(-1, 20)
    in_points = ours[:, np.argsort(order), 4:10]
    exponents = [p for p in itertools.product(range(3), repeat=3) if sorted(p)[1] < 2]
    for terms, wanted, limit in ((exponents, theirs_nodes, 2e-4),
                                 (list(itertools.product(range(2), repeat=3)), nodes_stress, 1e-5)):
        at = lambda x: (x[:, None, :].astype(float) ** np.array(terms)).prod(axis=2)
        continued = np.einsum("aq,eqk->eak", at(REFERENCE[3][0]) @ np.linalg.pinv(at(REFERENCE[3][2])), in_points)
        total, count = np.zeros((n_nodes, 6)), np.zeros(n_nodes)
        np.add.at(total, elements, continued)
        np.add.at(count, elements, 1)
        error = np.abs(total / count[:, None] - wanted).max() / np.abs(wanted).max()
        assert error < limit, (title, len(terms), error)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for title, material in (("steel", STEEL), ("spruce", SPRUCE)):
        for kind, cells in ((1, (5, 2, 2)), (2, (10, 3, 3)), (3, (5, 2, 2))):
            compare(kind, cells, title, material)
    os.chdir("/")
