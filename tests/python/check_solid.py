# SPDX-License-Identifier: Apache-2.0
"""modaltools.solid: strain, stress, von Mises' stress and det F in numpy against modaldeform --fields, of elements of every kind,
both laws, incompatible modes, mean dilatation, orthotropic material. usage: check_solid.py BIN SOURCE"""
import json
import os
import sys
import tempfile

import h5py
import numpy as np

from stvk_solid import write_inp
from tool_run import run

sys.path.insert(0, f"{os.path.abspath(sys.argv[2])}/tools/python")
from modaltools import Basis, Sequence, Trajectory  # noqa: E402
from modaltools.solid import Solid  # noqa: E402

NAMES = ["strain", "stress", "von_mises", "jacobian"]
ORTHOTROPIC = {"young": [9e6, 5e6, 3e6], "poisson": [0.3, 0.2, 0.1], "shear": [2e6, 1e6, 3e6], "density": 1000,
               "rotation": {"axis": [1, 2, 3], "angle": 0.7}}


def write_msh(path, kind):
    """A bar of 3 boxes, each of two prisms (6) or six pyramids (7) around its centre; corners are moved a little. The group "root" is
    one end, "tail" the last box."""
    corner = lambda i, j, k: 4 * i + 2 * j + k
    rng = np.random.default_rng(5)
    x = np.array([(i / 3, 0.2 * j, 0.3 * k) for i in range(4) for j in range(2) for k in range(2)]) + rng.uniform(-0.02, 0.02, (16, 3))
    x[:4, 0] = 0
    cells = []
    for i in range(3):
        a, b, c, d, e, f, g, h = (corner(i + p, q, r) for r in (0, 1) for p, q in ((0, 0), (1, 0), (1, 1), (0, 1)))
        if kind == 6:
            cells += [(i, (a, b, c, e, f, g)), (i, (a, c, d, e, g, h))]
            continue
        x = np.vstack([x, x[[a, b, c, d, e, f, g, h]].mean(axis=0) + 0.01])
        cells += [(i, (*quad, len(x) - 1)) for quad in ((a, b, c, d), (e, h, g, f), (a, e, f, b), (b, f, g, c), (c, g, h, d), (d, h, e, a))]
    faces = [(0, 1, 3), (0, 3, 2)] if kind == 6 else [(0, 1, 3, 2)]
    with open(path, "w", encoding="utf-8") as out:
        out.write('$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n2 1 "root"\n3 2 "bar"\n3 3 "tail"\n$EndPhysicalNames\n')
        out.write(f"$Nodes\n{len(x)}\n" + "".join(f"{n} {p[0]!r} {p[1]!r} {p[2]!r}\n" for n, p in enumerate(x.tolist(), 1)) + "$EndNodes\n")
        rows = [f"{2 if len(f) == 3 else 3} 2 1 1 {' '.join(str(n + 1) for n in f)}" for f in faces]
        rows += [f"{kind} 2 {3 if i == 2 else 2} 1 {' '.join(str(n + 1) for n in c)}" for i, c in cells]
        out.write(f"$Elements\n{len(rows)}\n" + "".join(f"{n} {row}\n" for n, row in enumerate(rows, 1)) + "$EndElements\n")


def compare(label, basis, motion, large):
    run("modaldeform", motion, "o", "--output-mesh", "volume", "--fields", ",".join(["displacement", *NAMES]), "-f", "-q")
    frames, trajectory = Sequence("o"), Trajectory(motion)
    worst = dict.fromkeys(NAMES, 0.0)
    with h5py.File(basis) as file:
        solids = [Solid(file[f"shapes/{i:04}"]) for i in range(int(file["shapes"].attrs["count"]))]
        of, rest = file["objects/shape"][:], file["objects/rest_pose"][:]
    with h5py.File("o/sequence.vtkhdf") as file:
        connectivity, offsets, types = (file[f"VTKHDF/{name}"][:] for name in ("Connectivity", "Offsets", "Types"))
    first, node, corner = 0, 0, 0
    for k, shape in enumerate(of):
        solid = solids[shape]
        m, n = len(solid.types), len(solid.nodes)
        assert np.array_equal(solid.connectivity + node, connectivity[corner:corner + len(solid.connectivity)])
        assert np.array_equal(solid.vtk_types, types[first:first + m]) and np.array_equal(solid.offsets + corner, offsets[first:first + m + 1])
        owner = np.repeat(np.arange(m), np.diff(solid.offsets))
        assert np.array_equal(solid.elements_at(solid.connectivity[solid.offsets[:-1, None] + np.arange(4)]),
                              [min(set.intersection(*[set(owner[solid.connectivity == c]) for c in solid.connectivity[a:a + 4]])) for a in solid.offsets[:-1]])
        own = slice(trajectory.offsets[k], trajectory.offsets[k + 1])
        for i in range(1, len(frames)):
            u = solid.displacement(trajectory.q[i, own])
            turn = rest[k, :, :3]
            size = np.abs(u).max()
            assert size > 1e-6 and np.abs(frames["displacement"][i][node:node + n] - u @ turn.T).max() <= 1e-6 * size
            found = solid.fields(u, NAMES, large[k], turn)
            for name in NAMES:
                wanted = frames[name][i][first:first + m]
                assert np.abs(wanted).max() > 0
                error = np.abs(found[name] - wanted).max() / np.abs(wanted).max()
                worst[name] = max(worst[name], error)
                assert error <= 2e-6, (label, name, i, error)
        first, node, corner = first + m, node + n, corner + len(solid.connectivity)
    print(f"check_solid: {label}: " + ", ".join(f"{name} {value:.1e}" for name, value in worst.items()))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("ortho.json", "w", encoding="utf-8") as out:
        json.dump({"materials": {"wood": ORTHOTROPIC, "rubber": {"young": 4e6, "poisson": 0.495, "density": 1000}},
                   "groups": {"tail": "rubber"}, "default": "wood"}, out)
    isotropic = ["--density", 1000, "--young", 5e6]
    for kind, name, cells in ((0, "TET4", (3, 1, 2)), (1, "TET10", (2, 1, 1)), (2, "HEX8", (4, 2, 2)), (3, "HEX20", (2, 1, 1))):
        write_inp("bar.inp", kind, cells, (1.0, 0.2, 0.3))
        for law, poisson, more in (("linear", 0.3, []), ("linear", 0.495, []), ("stvk", 0.3, ["--derivatives", 3, "--reduced-forces"])):
            run("modalpack", "bar.inp", "b.h5", *isotropic, "--poisson", poisson, "--fixed", "root", "--modes", 5, *more, "-f", "-q")
            with open("s.json", "w", encoding="utf-8") as out:
                json.dump({"duration": 0.1, "fps": 20, "gravity": [3, 5, -30], "model": law}, out)
            run("modalsim", "b.h5", "t.h5", "--scene", "s.json", "-f", "-q")
            compare(f"{name}, {law}, nu {poisson}", "b.h5", "t.h5", [law == "stvk"])
    for kind, name in ((6, "WEDGE6"), (7, "PYRAMID5")):  # two materials
        write_msh("bar.msh", kind)
        run("modalpack", "bar.msh", "c.h5", "--materials", "ortho.json", "--fixed", "root", "--modes", 5, "-f", "-q")
        run("modalsim", "c.h5", "t.h5", "--duration", 0.2, "--fps", 20, "--initial", "0=1", "--initial", "3=0.5", "--initial", "1=0.7", "-f", "-q")
        compare(f"{name}, linear, two materials", "c.h5", "t.h5", [False])
        with h5py.File("c.h5") as file:
            solid = Solid(file["shapes/0000"])
        (tail,) = [g for g in solid.groups if g.name == "tail"]
        assert tail.dimension == 3 and np.array_equal(tail.elements, np.flatnonzero(solid.material == solid.material_names.index("rubber")))
    # two objects, turned, one of each law
    with open("places.csv", "w", encoding="utf-8") as out:
        out.write("0,0,-1,0,0,0,0,0,0\n1,0,-1,3,0,0,0.4,0.5,-0.3\n")
    run("modalplace", "places.csv", "two.h5", "b.h5", "-f", "-q")
    with open("s.json", "w", encoding="utf-8") as out:
        json.dump({"duration": 0.1, "fps": 20, "gravity": [3, 5, -30], "model": "linear", "objects": [{"object": 1, "model": "stvk"}]}, out)
    run("modalsim", "two.h5", "t2.h5", "--scene", "s.json", "-f", "-q")
    compare("two objects", "two.h5", "t2.h5", [False, True])
    os.chdir("/")
