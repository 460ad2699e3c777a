# SPDX-License-Identifier: Apache-2.0
"""modalpack's solids: elements of all types, materials by group, what is held of which nodes.
usage: check_solids.py MODALPACK MODALINFO SOURCE_FOLDER"""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from basis_file import node_modes

modalpack, modalinfo, files = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]) / "tests/files"
RUBBER = ["--young", "1e6", "--poisson", "0.4", "--density", "1000"]


def run(*words, code=0):
    got = subprocess.run([modalpack, *map(str, words)], capture_output=True, text=True)
    assert got.returncode == code, (words, code, got)
    return got


def refuse(code, message, *words):
    before = sorted(os.listdir("."))
    line = run(*words, code=code).stderr.rstrip("\n").split("\n")[-1]
    assert line.startswith("modalpack: ") and message in line, (words, message, line)
    assert sorted(os.listdir(".")) == before, os.listdir(".")


def solve(mesh, *words, material=RUBBER):
    run(mesh, "b.h5", "-f", *material, *words)
    checked = subprocess.run([modalinfo, "--check", "b.h5"], capture_output=True, text=True)
    assert checked.returncode == 0, checked
    return h5py.File("b.h5", "r")["shapes/0000"]


def bar(path, n=(8, 2, 2), size=(2.0, 0.2, 0.3), groups=("left", "right")):
    """Hexahedra in a .msh 2.2: volume groups "left" and "right" (1, 2), the surface group "root" (3)."""
    node = lambda i, j, k: (i * (n[1] + 1) + j) * (n[2] + 1) + k + 1
    out = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "3", f'3 1 "{groups[0]}"',
           f'3 2 "{groups[1]}"', '2 3 "root"', "$EndPhysicalNames", "$Nodes", str(math.prod(c + 1 for c in n))]
    points = [(i, j, k) for i in range(n[0] + 1) for j in range(n[1] + 1) for k in range(n[2] + 1)]
    out += [f"{node(*p)} " + " ".join(repr(s * c / m) for s, c, m in zip(size, p, n)) for p in points]
    cells = [(i, j, k) for i in range(n[0]) for j in range(n[1]) for k in range(n[2])]
    faces = [(j, k) for j in range(n[1]) for k in range(n[2])]
    out += ["$EndNodes", "$Elements", str(len(cells) + len(faces))]
    for e, (i, j, k) in enumerate(cells):
        a = [node(i + x, j + y, k + z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
        out.append(f"{e + 1} 5 2 {1 + (2 * i >= n[0])} 1 " + " ".join(map(str, a)))
    for e, (j, k) in enumerate(faces):
        a = [node(0, j, k), node(0, j + 1, k), node(0, j + 1, k + 1), node(0, j, k + 1)]
        out.append(f"{len(cells) + e + 1} 3 2 3 1 " + " ".join(map(str, a)))
    path = pathlib.Path(path)
    path.write_text("\n".join(out + ["$EndElements", ""]))
    return path


def materials(name="m.json", **root):
    pathlib.Path(name).write_text(json.dumps(root, indent=1))
    return name


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)

    # every type of element goes through; mid-side nodes are vertices
    for name, types in (("good-41-mixed.msh", [2, 5, 4, 0]), ("good-cubic.veg", [2, 2]), ("good-22-quadratic.msh", [1, 3])):
        for rule in ("consistent", "lumped"):
            shape = solve(files / name, "--modes", 5, "--mass", rule)
            assert shape["volume/element_types"][:].tolist() == types, name
            assert len(shape["modes/rigid_eigenvalues"]) == (12 if "quadratic" in name else 6), name
            assert shape["modes"].attrs["mass_rule"].decode() == rule
            n_nodes = len(shape["volume/nodes"])
            if "mixed" not in name:
                assert len(shape["surface/rest_positions"]) == n_nodes, name
    text = subprocess.run([modalinfo, "b.h5"], capture_output=True, text=True).stdout
    assert "2 elements, 1 TET10, 1 HEX20" in text, text

    # what is held
    mesh = bar("bar.msh")
    lowest = lambda *words, **more: solve(mesh, "--modes", 4, *words, **more)["modes/eigenvalues"][:]
    clamped = lowest("--fixed", "root")
    for same in ("box:-1,-1,-1:0,9,9", "plane:0,0,0:-1,0,0", "plane:0,5,7:-3,0,0", "2:root", "root@xyz", "root@zxy"):
        assert np.array_equal(lowest("--fixed", same), clamped), same
    assert np.array_equal(lowest("--fixed", "root@x", "--fixed", "root@yz"), clamped)
    shape = solve(mesh, "--modes", 4, "--fixed", "plane:0,0,0:0,0,-1@z")
    assert set(shape["volume/fixed_components"][:]) == {4} and len(shape["volume/fixed_nodes"]) == 27
    assert len(shape["modes/rigid_eigenvalues"]) == 3
    held = shape["volume/fixed_nodes"][:]
    phi = node_modes(shape)
    assert not phi[:, held, 2].any() and phi[:, held, 0].any()
    text = subprocess.run([modalinfo, "b.h5"], capture_output=True, text=True).stdout
    assert "(27 fixed, 27 of them in part), 32 elements, 32 HEX8" in text, text
    # a group may be called like a group with components: then it is that group
    named = bar("named.msh", groups=("root@x", "right"))
    solve(named, "--modes", 2, "--fixed", "root@x")
    with h5py.File("b.h5") as file:
        assert set(file["shapes/0000/volume/fixed_components"][:]) == {7}
        assert len(file["shapes/0000/volume/fixed_nodes"]) == 45
    for code, message, word in (
            (2, "--fixed: not box:X,Y,Z:X,Y,Z, 1,2,3", "box:1,2,3"),
            (2, "--fixed: needs 3 finite numbers", "box:1,2:3,4,5"),
            (2, "--fixed: needs 3 finite numbers", "plane:0,0,nan:1,0,0"),
            (2, "--fixed: low above high, box:0,0,1:1,1,0", "box:0,0,1:1,1,0"),
            (2, "--fixed: a normal without direction, plane:0,0,0:0,0,0", "plane:0,0,0:0,0,0"),
            (3, "--fixed: no node of the solid there, plane:9,0,0:1,0,0", "plane:9,0,0:1,0,0"),
            (3, "--fixed: neither a group nor a file, root@w (known groups: root, left, right)", "root@w"),
            (3, "--fixed: neither a group nor a file, root@xx (known", "root@xx"),
            (3, "--fixed: neither a group nor a file, foot (known", "foot@x")):
        refuse(code, message, mesh, "o.h5", *RUBBER, "--fixed", word)

    # linear elements of a material that hardly changes its volume: warned of
    for nu in (0.4899, 0.49):
        got = run(mesh, "b.h5", "--young", 1e6, "--poisson", nu, "--density", 1000, "--modes", 1, "-f", "--hex8", "conforming")
        assert ("much too stiff near nu = 0.5" in got.stderr) == (nu == 0.49), got.stderr

    # materials: isotropic in all ways that say the same
    steel = {"young": 1e6, "poisson": 0.4, "density": 1000}
    iron = {"young": 5e6, "poisson": 0.3, "density": 3000}
    free = lowest()
    by_file = lambda *words, **root: lowest("--materials", materials(**root), *words, material=[])
    assert np.array_equal(by_file(materials={"a": steel}, default="a"), free)
    assert np.array_equal(by_file(materials={"a": steel}, groups={"left": "a", "right": "a"}), free)
    both = by_file(materials={"b": iron, "a": steel}, groups={"right": "b", "left": "a"})
    assert np.array_equal(both, by_file(materials={"b": iron, "a": steel}, groups={"right": "b"}, default="a"))
    assert np.array_equal(both, lowest("--materials", materials(materials={"b": iron}, groups={"right": "b"})))
    assert np.array_equal(both, by_file("--material", "right=5e6,0.3,3000", materials={"a": steel}, default="a"))
    assert not np.allclose(both, free, rtol=1e-3)

    # orthotropic that is isotropic; turned by a quarter, and said in two ways
    g = 1e6 / 2.8
    alike = {"young": [1e6] * 3, "poisson": [0.4] * 3, "shear": [g] * 3, "density": 1000,
             "rotation": {"axis": [1, 2, 2], "angle": 0.7}}
    assert np.allclose(by_file(materials={"a": alike}, default="a"), free, rtol=1e-10, atol=0)
    wood = {"young": [11e9, 0.9e9, 0.6e9], "poisson": [0.35, 0.4, 0.45], "shear": [0.8e9, 0.7e9, 0.05e9],
            "density": 420}
    along = by_file(materials={"w": wood}, default="w")
    across = by_file(materials={"w": {**wood, "rotation": {"axis": [0, 0, 2], "angle": math.pi / 2}}}, default="w")
    assert np.allclose(across, by_file(materials={"w": {**wood, "axes": [[0, 3, 0], [-1, 1, 0]]}}, default="w"),
                       rtol=1e-9, atol=0)
    assert along[0] > 2 * across[0], (along, across)
    with h5py.File("b.h5") as file:
        kept = file["shapes/0000/volume/materials/0000"]
        assert kept.attrs["kind"].decode() == "orthotropic" and kept.attrs["shear_23"] == 0.05e9
        assert np.allclose(kept["axes"][:], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]], atol=1e-15)
    text = subprocess.run([modalinfo, "b.h5"], capture_output=True, text=True).stdout
    assert "w: E1 1.1e+10 Pa, E2 9e+08 Pa" in text and "G23 5e+07 Pa, rho 420 kg/m^3" in text, text

    # a bar along the grain without Poisson's ratios: axial mode at (pi / L) sqrt(E1 / rho) on a fine mesh
    fine = bar("fine.msh", n=(40, 1, 1), size=(2.0, 0.05, 0.05))
    lean = {**wood, "poisson": [0, 0, 0]}
    values = solve(fine, "--modes", 40, "--materials", materials(materials={"w": lean}, default="w"), material=[])
    exact = (math.pi / 2) ** 2 * 11e9 / 420
    assert np.abs(values["modes/eigenvalues"][:] / exact - 1).min() < 1e-3, values["modes/eigenvalues"][:] / exact

    good = {"materials": {"w": wood, "s": steel}, "default": "w"}
    change = lambda key, value: {**good, "materials": {"w": {**wood, key: value}}}
    for message, root in (
            ("m.json:1: /: ", [1]),
            ("m.json:2: /colour: ", {"colour": 1, **good}),
            ("/materials/w/colour: ", change("colour", 1)),
            ("/materials: ", {"materials": {}}),
            ('"materials" is missing', {"groups": {}}),
            ("/materials/w/young", change("young", "11 GPa")),
            ("/materials/w/young", change("young", [1e9, 2e9])),
            ("/materials/w/poisson", change("poisson", 0.3)),
            ("/materials/w/density", change("density", None)),
            ('/materials/w: "density" is missing', {"materials": {"w": {k: v for k, v in wood.items() if k != "density"}}}),
            ("G13 must be > 0 and finite, 0", change("shear", [1e9, 0, 1e9])),
            ("|nu12| must be less than sqrt(E1 / E2) = 3.49603, 4", change("poisson", [4, 0, 0])),
            ("nu12, nu13 and nu23 are not positive definite together", change("poisson", [3.0, 3.5, 1.0])),
            ("density rho must be > 0", change("density", -1)),
            ("the two axes are parallel", change("axes", [[1, 0, 0], [2, 0, 0]])),
            ("/materials/w/axes/1: has no direction", change("axes", [[1, 0, 0], [0, 0, 0]])),
            ("needs two axes, 3", change("axes", [[1, 0, 0], [0, 1, 0], [0, 0, 1]])),
            ("/materials/w/rotation/axis: has no direction", change("rotation", {"axis": [0, 0, 0], "angle": 1})),
            ("/materials/w/rotation: not together with axes",
             {"materials": {"w": {**wood, "axes": [[1, 0, 0], [0, 1, 0]],
                                  "rotation": {"axis": [1, 0, 0], "angle": 1}}}}),
            ("/materials/s/shear: only where young has three values", {"materials": {"s": {**steel, "shear": [1, 1, 1]}}}),
            ("Poisson's ratio nu must be in (-1, 0.5), 0.5", {"materials": {"s": {**steel, "poisson": 0.5}}}),
            ("/default: no material of that name, t", {**good, "default": "t"}),
            ("/groups/left: no material of that name, t", {**good, "groups": {"left": "t"}}),
            ("/groups", {**good, "groups": ["left"]}),
            ("m.json: unknown group, middle (known groups: left, right)", {**good, "groups": {"middle": "s"}})):
        pathlib.Path("m.json").write_text(json.dumps(root, indent=1))
        refuse(3, message, mesh, "o.h5", "--materials", "m.json")
    for text, message in (('{"materials": {"a": {}, "a": {}}}', "m.json:1: duplicate"), ('{"mat', "m.json:1: "),
                          ("", "m.json"), ('{"materials": "\0"}', "NUL")):
        pathlib.Path("m.json").write_text(text)
        refuse(3, message, mesh, "o.h5", "--materials", "m.json")
    refuse(3, "absent.json", mesh, "o.h5", "--materials", "absent.json")
    refuse(3, "element 17: no material", mesh, "o.h5", "--materials",
           materials("half.json", materials={"a": steel}, groups={"left": "a"}))
    refuse(2, "half.json: modalpack makes no .json", mesh, "half.json", "--materials", "half.json", "-f")
    shutil.copy("half.json", "half.txt")
    refuse(2, "input and output are one file", mesh, "half.txt", "--materials", "half.txt", "-f")

    # a folded element, by its number
    lines = mesh.read_text().replace("\n1 5 2 1 1 1 10 13 4 2 11 14 5", "\n1 5 2 1 1 1 10 13 4 11 2 14 5")
    pathlib.Path("folded.msh").write_text(lines)
    assert lines != mesh.read_text()
    refuse(3, "folded.msh: element 1: HEX8 with the Jacobian -", "folded.msh", "o.h5", *RUBBER)
print("solids ok")
