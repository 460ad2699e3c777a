# SPDX-License-Identifier: Apache-2.0
"""modalinfo on meshes and surfaces, and modalinfo --compare, against numbers made here. usage: check_compare.py BIN"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from basis_file import node_modes

tools = pathlib.Path(sys.argv[1]).resolve()
CELLS, SIZE = (9, 2, 2), np.array([0.45, 0.12, 0.16])


def run(tool, *words):
    return subprocess.run([tools / tool, *map(str, words)], capture_output=True, text=True)


def good(tool, *words):
    got = run(tool, *words)
    assert got.returncode == 0, (words, got)
    return got.stdout


def refused(code, message, *words):
    before = sorted(os.listdir("."))
    got = run("modalinfo", *words)
    assert got.returncode == code and message in got.stderr and got.stderr.count("\n") == 1 and not got.stdout, (words, got)
    assert sorted(os.listdir(".")) == before, os.listdir(".")


def close(value, wanted, tolerance=1e-12):
    value, wanted = np.asarray(value, float), np.asarray(wanted, float)
    assert value.shape == wanted.shape and np.abs(value - wanted).max() <= tolerance * max(1e-300, np.abs(wanted).max()), (value, wanted)


def points():
    return np.stack(np.meshgrid(*(np.linspace(0, s, n + 1) for s, n in zip(SIZE, CELLS)), indexing="ij"), -1).reshape(-1, 3)


def write_box(name, scale=1.0, shift=0.0):
    """A box of hexahedra with sets of nodes at two ends."""
    x = points() * scale + shift
    number = lambda i, j, k: (i * (CELLS[1] + 1) + j) * (CELLS[2] + 1) + k + 1
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    with open(name, "w") as out:
        print("*NODE", *(f"{i + 1}, {p[0]:.17g}, {p[1]:.17g}, {p[2]:.17g}" for i, p in enumerate(x)), sep="\n", file=out)
        print("*ELEMENT, TYPE=C3D8, ELSET=BODY", file=out)
        for i, cell in enumerate(np.ndindex(CELLS)):
            print(i + 1, *(number(*np.add(cell, d)) for d in corners), sep=", ", file=out)
        for set_name, at in (("ROOT", 0), ("TIP", CELLS[0])):
            print(f"*NSET, NSET={set_name}", file=out)
            print(*(number(at, j, k) for j in range(CELLS[1] + 1) for k in range(CELLS[2] + 1)), sep=",\n", file=out)
        print("*MATERIAL, NAME=M\n*ELASTIC\n1e6, 0.3\n*DENSITY\n1000\n*SOLID SECTION, ELSET=BODY, MATERIAL=M", file=out)


def node_masses():
    """Lumped: an eighth of every cell's mass for each corner; all cells are equal."""
    shares = np.zeros([n + 1 for n in CELLS])
    for d in np.ndindex(2, 2, 2):
        shares[tuple(slice(a, n + a) for a, n in zip(d, CELLS))] += 1
    return shares.reshape(-1) / shares.sum() * 1000 * SIZE.prod()


def meshes():
    write_box("box.inp")
    write_box("box_mm.inp", 1000)
    info = json.loads(good("modalinfo", "--json", "box.inp"))
    assert info["type"] == "mesh" and info["nodes"] == len(points()) and info["elements"] == {"HEX8": 36}, info
    close(info["box_m"], [[0, 0, 0], SIZE])
    close(info["volume_m3"], SIZE.prod())
    close(info["boundary_area_m2"], 2 * (SIZE[0] * SIZE[1] + SIZE[1] * SIZE[2] + SIZE[2] * SIZE[0]))
    groups = {group["name"]: group for group in info["groups"]}
    for name, x, normal in (("ROOT", 0, -1), ("TIP", SIZE[0], 1)):
        group = groups[name]
        assert group["nodes"] == 9 and group["dimension"] == 0
        close(group["area_m2"], SIZE[1] * SIZE[2])
        close(group["centre_m"], [x, SIZE[1] / 2, SIZE[2] / 2])
        close(group["normal"], [normal, 0, 0])
        close(group["flatness"], 1)
    close(groups["BODY"]["volume_m3"], SIZE.prod())
    assert info["materials"][0]["young"] == 1e6
    scaled = json.loads(good("modalinfo", "--json", "--unit", "mm", "box_mm.inp"))
    close([g.get("area_m2", 0) for g in scaled["groups"]], [g.get("area_m2", 0) for g in info["groups"]])
    text = good("modalinfo", "box.inp")
    assert '"TIP" of dimension 0: 9 nodes, 0.0192 m^2, centre 0.45,0.06,0.08, normal 1,0,0' in text, text
    # what is seen is what --fixed takes
    good("modalpack", "box.inp", "held.h5", "--modes", 2, "--fixed", "ROOT")
    # a cylinder's mantle is curved: its normals cancel
    turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    with open("mantle.obj", "w") as out:
        for z in (0, 1):
            print(*(f"v {np.cos(a)} {np.sin(a)} {z}" for a in turn), sep="\n", file=out)
        print("v 0 0 0\nv 0 0 1\ng mantle", file=out)
        print(*(f"f {i + 1} {(i + 1) % 24 + 1} {(i + 1) % 24 + 25} {i + 25}" for i in range(24)), sep="\n", file=out)
        print("g bottom", *(f"f 49 {(i + 1) % 24 + 1} {i + 1}" for i in range(24)), sep="\n", file=out)
        print("g top", *(f"f 50 {i + 25} {(i + 1) % 24 + 25}" for i in range(24)), sep="\n", file=out)
    info = json.loads(good("modalinfo", "--json", "mantle.obj", "--unit", "cm"))
    mantle, bottom, top = info["groups"]
    assert info["type"] == "surface" and info["bounds_a_solid"] and info["triangles"] == 96
    close(mantle["area_m2"], 24 * 2 * np.sin(np.pi / 24) * 1e-4)
    close(top["normal"], [0, 0, 1])
    close(bottom["normal"], [0, 0, -1])
    close(top["area_m2"], 12 * np.sin(np.pi / 12) * 1e-4)
    assert mantle["flatness"] < 1e-12 and "normal" not in mantle, mantle
    pathlib.Path("open.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert "bounds a solid        no" in good("modalinfo", "open.obj")
    refused(3, "absent.stl: cannot open", "absent.stl")
    refused(3, "absent.msh: cannot open", "absent.msh")
    pathlib.Path("bad.msh").write_text("hello\n")
    refused(3, "bad.msh: not a volume mesh that can be read", "bad.msh")
    pathlib.Path("part.step").write_text("ISO-10303-21;\n")
    refused(3, "part.step: not an HDF5 file; modalmesh makes a mesh of it, and modalpack a basis", "part.step")
    got = run("modaldeform", "box.inp", "out")
    assert got.returncode == 3 and "box.inp: not an HDF5 file; modalpack makes a basis of a mesh" in got.stderr, got
    refused(2, "--check: of meshes and surfaces it is modalmesh --check, box.inp", "box.inp", "--check")
    refused(2, "--unit: must be one of", "box.inp", "--unit", "furlong")
    refused(2, "--unit: is for meshes and surfaces, held.h5", "held.h5", "--unit", "mm")


def rotation(seed):
    q, r = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.linalg.det(q)


def pose_motion(path, seed):
    """Random poses, in place."""
    with h5py.File(path, "r+") as f:
        n = len(f["times"])
        f["poses"] = np.stack([np.column_stack([rotation(seed + i), [0.01 * i, 0.2, -0.1 * seed]]) for i in range(n)])[:, None]


def world(path, basis):
    """Places of the nodes in every frame, [n, N, 3]."""
    with h5py.File(path) as t, h5py.File(basis) as b:
        shape = b["shapes/0000"]
        u = np.einsum("fk,knc->fnc", t["q"][:], node_modes(shape).astype(float))
        x = shape["volume/nodes"][:] + u
        if "poses" not in t:
            return x
        pose = t["poses"][:][:, 0]
        return np.einsum("fij,fnj->fni", pose[:, :, :3], x) + pose[:, None, :, 3]


def check_errors(a, basis_a, b, basis_b, same, tolerance):
    masses = node_masses()
    info = json.loads(good("modalinfo", "--json", "--compare", a, b))
    assert info["same_basis"] == same
    x, y = world(a, basis_a), world(b, basis_b)
    wanted = np.sqrt(np.einsum("fnc,n->f", (x - y) ** 2, masses))
    with h5py.File(basis_a) as f:
        rest = f["shapes/0000/volume/nodes"][:]
    motion = np.sqrt(np.einsum("fnc,n->f", (x - rest) ** 2, masses))
    found = np.array([frame["error"] for frame in info["frames"]])
    assert wanted.max() > 1e-3 * motion.max() and np.abs(found - wanted).max() <= tolerance * wanted.max(), (found, wanted)
    close([frame["motion"] for frame in info["frames"]], motion, tolerance)
    close(info["largest_error"], wanted.max(), tolerance)
    assert info["largest_error_frame"] == int(np.argmax(wanted)) and info["frames"][3]["time"] == 0.03
    close(info["largest_error_rms_m"], wanted.max() / np.sqrt(masses.sum()), tolerance)
    assert "sqrt(kg) m, in frame" in good("modalinfo", "--compare", a, b)


def trajectories():
    pack = ["--fixed", "plane:0,0,0:-1,0,0", "--mass", "lumped", "--volume-modes", "float64"]
    good("modalpack", "box.inp", "a.h5", "--modes", 8, *pack)
    good("modalpack", "box.inp", "b.h5", "--modes", 5, "--material", "BODY=1e6,0.2,1000", *pack)
    move = ["--duration", 0.1, "--fps", 100, "--initial", "0=1e-3", "--initial", "3=2e-4", "--damping-ratio"]
    good("modalsim", "a.h5", "one.h5", *move, 0.01)
    good("modalsim", "a.h5", "two.h5", *move, 0.02)
    good("modalsim", "b.h5", "other.h5", *move, 0.01)
    check_errors("one.h5", "a.h5", "two.h5", "a.h5", True, 1e-6)
    check_errors("one.h5", "a.h5", "other.h5", "b.h5", False, 1e-6)
    for name, seed in (("one", 1), ("two", 2), ("other", 3)):
        shutil.copy(f"{name}.h5", f"{name}_posed.h5")
        pose_motion(f"{name}_posed.h5", seed)
    check_errors("one_posed.h5", "a.h5", "two_posed.h5", "a.h5", True, 1e-9)
    check_errors("one_posed.h5", "a.h5", "other_posed.h5", "b.h5", False, 1e-9)
    check_errors("one.h5", "a.h5", "other_posed.h5", "b.h5", False, 1e-9)
    # a small difference keeps its digits, posed or not
    for name in ("one", "one_posed"):
        shutil.copy(f"{name}.h5", "near.h5")
        with h5py.File("near.h5", "r+") as f:
            f["q"][4, 2] += 1e-15
        found = [frame["error"] for frame in json.loads(good("modalinfo", "--json", "--compare", f"{name}.h5", "near.h5"))["frames"]]
        close(found, [1e-15 * (i == 4) for i in range(len(found))], 1e-2)
    same = json.loads(good("modalinfo", "--json", "--compare", "one.h5", "one.h5"))
    assert same["largest_error"] == 0 and same["relative_error"] == 0
    threads = [good("modalinfo", "--json", "--compare", "one_posed.h5", "other_posed.h5", "-j", n) for n in (1, 2)]
    assert threads[0] == threads[1]
    good("modalsim", "a.h5", "longer.h5", "--duration", 0.11, *move[2:], 0.01)
    refused(3, "longer.h5: 12 frames, one.h5 has 11", "--compare", "one.h5", "longer.h5")
    good("modalsim", "a.h5", "slower.h5", "--duration", 0.2, "--fps", 50, *move[4:], 0.01)
    refused(3, "slower.h5: frame 1 is at 0.02 s, at 0.01 s in one.h5", "--compare", "one.h5", "slower.h5")


def bases():
    info = json.loads(good("modalinfo", "--json", "--compare", "a.h5", "b.h5"))
    masses = node_masses()
    with h5py.File("a.h5") as a, h5py.File("b.h5") as b:
        u, v = (node_modes(f["shapes/0000"]).reshape(-1, len(masses), 3) for f in (a, b))
        product = lambda x, y: np.einsum("inc,n,jnc->ij", x, masses, y)
        mac = product(u, v) ** 2 / np.outer(np.diag(product(u, u)), np.diag(product(v, v)))
        frequencies = [f["shapes/0000/modes/frequencies"][:] for f in (a, b)]
    shape = info["shapes"][0]
    close(shape["mac"], mac, 1e-6)
    best = mac.argmax(axis=1)
    assert [m["best"] for m in shape["modes"]] == list(best) and len(shape["modes"]) == 8
    close([m["mac"] for m in shape["modes"]], mac.max(axis=1), 1e-6)
    close([m["difference"] for m in shape["modes"]], frequencies[1][best] / frequencies[0] - 1, 1e-9)
    close([m["in_span"] for m in shape["modes"]], mac.sum(axis=1), 1e-6)
    assert shape["modes"][0]["mac"] > 0.99 and min(m["in_span"] for m in shape["modes"]) < 0.2, shape["modes"]
    itself = json.loads(good("modalinfo", "--json", "--compare", "a.h5", "a.h5"))["shapes"][0]
    close(itself["mac"], np.eye(8), 1e-9)
    assert "in span" in good("modalinfo", "--compare", "a.h5", "b.h5")
    write_box("moved.inp", shift=1e-6)
    pack = ["--fixed", "plane:0,0,0:-1,0,0", "--modes", 4]
    good("modalpack", "moved.inp", "moved.h5", "--modes", 4, "--fixed", "ROOT")
    good("modalpack", "box.inp", "bare.h5", *pack, "--volume-modes", "none")
    refused(3, "moved.h5: shape 0: another solid: node 0 is 1e-06 m away", "--compare", "a.h5", "moved.h5")
    refused(3, "bare.h5: shape 0: shape solid of the new basis: no modes at the nodes", "--compare", "a.h5", "bare.h5")
    refused(3, "one.h5: a trajectory, where a.h5 is a basis", "--compare", "a.h5", "one.h5")
    refused(2, "--compare: needs two files", "--compare", "a.h5")
    refused(2, "--compare: not with --pack or --check", "--compare", "a.h5", "b.h5", "--check")
    refused(2, "only with --pack or --compare: b.h5", "a.h5", "b.h5")
    refused(2, "--report: exists, and is not a report of a tool, b.h5", "--compare", "a.h5", "b.h5", "--report", "b.h5")
    refused(3, "absent.h5", "--compare", "a.h5", "absent.h5")
    good("modaldeform", "one.h5", "seq", "-q")
    refused(3, "--compare is of bases and of trajectories, not of a sequence", "--compare", "seq/sequence.vtkhdf", "seq/sequence.vtkhdf")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in (meshes, trajectories, bases):
        part()
        print(f"check_compare: {part.__name__}: ok")
    os.chdir("/")
