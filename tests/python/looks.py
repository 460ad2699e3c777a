# SPDX-License-Identifier: Apache-2.0
"""What tests of looks share: a painted bar, its files, readers of what is made of it."""
import json
import os
import shutil
import struct
import sys
import tempfile

import h5py
import numpy as np

import images
import lacking

from tool_run import must, run
from validator import validate

repository = os.path.abspath(sys.argv[2])
RUBBER = ("--young", 1e6, "--poisson", 0.3, "--density", 1000)


def put(name, text):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)


def write_box(name="box", n=4, materials=True):
    """A bar 1 x 0.2 x 0.2 of n x 1 x 1 cells of six tetrahedra each (.node, .ele), and its surface of quads with a seam in its uv
    and two materials (.obj)."""
    nodes = [(x / n, 0.2 * y, 0.2 * z) for x in range(n + 1) for y in (0, 1) for z in (0, 1)]
    order = ((0, 4, 6, 7), (0, 6, 2, 7), (0, 2, 3, 7), (0, 3, 1, 7), (0, 1, 5, 7), (0, 5, 4, 7))
    cells = [[4 * x + k for k in t] for x in range(n) for t in order]
    put(f"{name}.node", f"{len(nodes)} 3 0 0\n" + "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(nodes)))
    put(f"{name}.ele", f"{len(cells)} 4 0\n" + "".join(f"{i} {' '.join(map(str, t))}\n" for i, t in enumerate(cells)))
    lines = [f"mtllib {name}.mtl"] if materials else []
    lines += [f"v {x} {y} {z}" for x, y, z in nodes]
    lines += [f"vt {x / n} {k / 4}" for x in range(n + 1) for k in range(5)]
    around = (0, 1, 3, 2) # y z: a quad a side; the fifth row of uv is the seam, at the place of the first
    lines += ["usemtl red paint"] if materials else []
    lines += ["f 1/1 2/2 4/3 3/4"]
    for x in range(n):
        if materials and x == n // 2:
            lines += ["usemtl leaf"]
        for k in range(4):
            a, b = around[k], around[(k + 1) % 4]
            corners = [(x, a, k), (x + 1, a, k), (x + 1, b, k + 1), (x, b, k + 1)]
            lines.append("f " + " ".join(f"{4 * i + c + 1}/{5 * i + u + 1}" for i, c, u in corners))
    lines += ["usemtl"] if materials else []
    lines += ["f " + " ".join(f"{4 * n + c + 1}/{5 * n + u + 1}" for c, u in ((0, 0), (2, 3), (3, 2), (1, 1)))]
    put(f"{name}.obj", "\n".join(lines) + "\n")


def paint_box():
    """box.obj with a .mtl and images, its basis b.h5 and a trajectory t.h5 that begins at rest."""
    write_box()
    random = np.random.default_rng(2)
    images.write_png("leaf.png", np.kron(random.integers(0, 256, (8, 8, 3)), np.ones((8, 8, 1))).astype("u1"))
    images.write_png("n.png", np.full((4, 4, 3), (128, 128, 255), "u1"))
    put("box.mtl", "newmtl red paint\nKd 0.5 0.25 0\nNs 0\nnewmtl leaf\nKd 1 1 1\nmap_Kd leaf.png\nnewmtl unused\nmap_Kd absent.png\n")
    with open("box.obj") as f:
        put("box.obj", f.read().replace("usemtl\n", "usemtl leaf\n"))
    run("modalpack", "box.node", "b.h5", "--surface", "box.obj", "--modes", 3, *RUBBER)
    run("modalsim", "b.h5", "t.h5", "--duration", 0.1, "--fps", 100, "--impulse", "1,0,0:0,0.01,0")


def write_sheet():
    """A sheet of 2 x 2 quads without seams in the box of paint_box, its basis and a motion."""
    lines = ["mtllib box.mtl", "usemtl leaf"] + [f"v {x / 2} {y / 10} 0.1" for y in range(3) for x in range(3)]
    lines += [f"vt {1 - x / 2} {0.25 + y / 8}" for y in range(3) for x in range(3)]
    for y, x in ((0, 0), (0, 1), (1, 0), (1, 1)):
        a = 3 * y + x + 1
        lines.append("f " + " ".join(f"{i}/{i}" for i in (a, a + 1, a + 4, a + 3)))
    put("sheet.obj", "\n".join(lines) + "\n")
    run("modalpack", "box.node", "s.h5", "--surface", "sheet.obj", "--modes", 3, *RUBBER)
    put("places.csv", "".join(f"{i},0,-1,{3 * i},0,0,0,0,0\n" for i in range(2)))
    run("modalplace", "places.csv", "sheets.h5", "s.h5")
    run("modalsim", "sheets.h5", "st.h5", "--duration", 0.05, "--fps", 100, "--initial", "0=0.001")


def sound(path):
    validate(path)
    must(run("modalinfo", path, "--check").stdout == f"{path}: valid textures\n", "modalinfo --check")


def levels(image, path="i.h5"):
    """Of an image of the file: its levels as arrays."""
    with h5py.File(path) as f:
        group, layer = f[f"classes/{f['images/class'][image]:04d}"], f["images/layer"][image]
        return [group[name][layer] for name in sorted(group)]


def read_glb(path):
    """Its description, and a function from numbers of accessors to arrays."""
    with open(path, "rb") as f:
        data = f.read()
    magic, version, length, n, kind = struct.unpack("<4sII I4s", data[:20])
    must((magic, version, length, kind) == (b"glTF", 2, len(data), b"JSON"), path, "head")
    description, body = json.loads(data[20:20 + n]), data[28 + n:]

    def view(number):
        v = description["bufferViews"][number]
        return body[v["byteOffset"]:v["byteOffset"] + v["byteLength"]]

    def array(number):
        a = description["accessors"][number]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[a["type"]]
        return np.frombuffer(view(a["bufferView"]), {5125: "<u4", 5126: "<f4"}[a["componentType"]]).reshape(a["count"], width)

    return description, array, view


def read_obj(path):
    """[(material, [(v, vt), ...] of a triangle), ...] in the order of the file, vertices, texture vertices."""
    v, vt, triangles, material = [], [], [], None
    with open(path) as f:
        for words in map(str.split, f):
            if words and words[0] in ("v", "vt"):
                (v if words[0] == "v" else vt).append([float(x) for x in words[1:]])
            elif words and words[0] == "usemtl":
                material = " ".join(words[1:]) or None
            elif words and words[0] == "f":
                corners = [tuple(int(x) - 1 for x in w.split("/")) for w in words[1:]]
                triangles += [(material, [corners[0], corners[i - 1], corners[i]]) for i in range(2, len(corners))]
    return triangles, np.array(v), np.array(vt)


def main(parts):
    """Runs part_PART of a test, its third argument, in a folder of its own, with a client's program or system as argument where there is a fourth."""
    name, client = os.path.splitext(os.path.basename(sys.argv[0]))[0], sys.argv[4:]
    if client and not (shutil.which(client[0]) or os.path.isdir(client[0])):
        print(f"{name}: no {sys.argv[3]} here; ./run clients installs it")
        sys.exit(77)
    client = [os.path.abspath(client[0])] if client and os.path.isdir(client[0]) else client
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        parts[f"part_{sys.argv[3]}".replace("-", "_")](*client)
    lacking.end(f"{name}: {sys.argv[3]} sound")
