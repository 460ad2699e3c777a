# SPDX-License-Identifier: Apache-2.0
"""Looks through the pipeline. usage: check_look.py BIN_FOLDER REPOSITORY PART, PART one of
  basis   modalpack keeps the names of an .obj's materials, outside of the content hash; what is refused
  convert modaltex look: a look of an .obj with its .mtl; names of files stay in the folder"""
import json
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from tool_run import binaries, must, run

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


def validate(path, code=0):
    got = subprocess.run([sys.executable, os.path.join(repository, "tools/python/validate"), path], capture_output=True, text=True)
    must(got.returncode == code, path, "validator:", got.returncode, got.stdout, got.stderr)
    return got.stdout + got.stderr


def names_of_triangles(path):
    """In the user's order."""
    with h5py.File(path) as f:
        s = f["shapes/0000"]
        names = bytes(s["look/material_names"][:]).decode().split("\n")[:-1]
        values = np.empty(len(s["surface/triangles"]), dtype=object)
        values[s["surface/user_triangle"][:]] = [names[i] if i >= 0 else None for i in s["look/triangle_material"][:]]
        return list(values)


def part_basis():
    write_box()
    write_box("plain", materials=False)
    run("modalpack", "box.node", "b.h5", "--surface", "box.obj", "--modes", 3, *RUBBER)
    run("modalpack", "box.node", "p.h5", "--surface", "plain.obj", "--modes", 3, *RUBBER)
    wanted = ["red paint"] * 18 + ["leaf"] * 16 + [None] * 2
    must(names_of_triangles("b.h5") == wanted, "names:", names_of_triangles("b.h5"))
    with h5py.File("b.h5") as f, h5py.File("p.h5") as g:
        must(f.attrs["content_hash"] == g.attrs["content_hash"], "the content hash has the names")
        must(b"modal_look" in f.attrs["extensions_used"] and "look" not in g["shapes/0000"], "extensions_used")
    must(json.loads(run("modalinfo", "b.h5", "--json").stdout)["shapes"][0]["materials"] == ["red paint", "leaf"], "modalinfo --json")
    must("red paint, leaf" in run("modalinfo", "b.h5").stdout, "modalinfo")
    put("places.csv", "0,0,-1,0,0,0,0,0,0\n1,0,-1,3,0,0,0,0,0\n")
    run("modalplace", "places.csv", "two.h5", "b.h5")
    run("modalplace", "places.csv", "linked.h5", "b.h5", "--link")
    run("modalinfo", "linked.h5", "packed.h5", "--pack")
    for name in ("b.h5", "two.h5", "linked.h5", "packed.h5"):
        run("modalinfo", name, "--check")
        validate(name)
    for name in ("two.h5", "packed.h5"):
        must(names_of_triangles(name) == wanted, name, "lost names")

    def broken(change, says):
        with open("b.h5", "rb") as f, open("bad.h5", "wb") as g:
            g.write(f.read())
        with h5py.File("bad.h5", "r+") as f:
            change(f["shapes/0000/look"])
        run("modalinfo", "bad.h5", code=3, says=says)
        must(run("modalinfo", "bad.h5", "--check", code=1).stdout, "--check")
        validate("bad.h5", 1)

    def put_name(look, values):
        del look["material_names"]
        look["material_names"] = np.frombuffer(values, "u1")

    broken(lambda g: g["triangle_material"].__setitem__(3, 2), "triangle_material: row 3: outside [-1, 2), 2")
    broken(lambda g: g["triangle_material"].__setitem__(3, -2), "triangle_material: row 3: outside [-1, 2), -2")
    broken(lambda g: g.__delitem__("material_names"), "must both be there")
    broken(lambda g: put_name(g, b"a\nb"), "byte 2")
    broken(lambda g: put_name(g, b"a\n\nb\n"), "byte 2")
    broken(lambda g: put_name(g, b"a\tb\n"), "byte 1")


def part_convert():
    write_box()
    os.makedirs("sub/deep")
    os.makedirs("other")
    put("box.mtl", "newmtl red paint\nKd 0.5 0.25 0\nnewmtl leaf\nmap_Kd images/leaf.png\nd 0.5\n")
    run("modaltex", "look", "box.obj", "box.json", "--runs")
    with open("box.json") as f:
        look = json.load(f)
    must(look == {"look": 1, "materials": {"red paint": {"diffuse": [0.5, 0.25, 0]},
                                           "leaf": {"diffuse": [0.8, 0.8, 0.8], "image": "images/leaf.png", "opacity": 0.5, "alpha": "blend"}},
                  "shapes": [{"shape": 0, "runs": [{"first": 0, "count": 18, "material": "red paint"},
                                                   {"first": 18, "count": 16, "material": "leaf"}]}]}, look)
    run("modaltex", "look", "box.obj", "box.json", code=2, says="box.json: exists")
    run("modaltex", "look", "box.obj", "again.json")
    must("shapes" not in json.load(open("again.json")), "runs without --runs")
    # what a look says can be read again: a .mtl, with one material: the default of all
    put("one.mtl", "newmtl a\nKd 1 1 1\n")
    run("modaltex", "look", "one.mtl", "one.json")
    must(json.load(open("one.json")) == {"look": 1, "materials": {"a": {"diffuse": [1, 1, 1]}}, "default": "a"}, "one.json")
    # names of images are seen from the look's folder
    put("sub/deep/p.mtl", "newmtl a\nmap_Kd x.png\n")
    put("sub/p.obj", "mtllib deep/p.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    run("modaltex", "look", "sub/p.obj", "p.json")
    must(json.load(open("p.json"))["materials"]["a"]["image"] == "sub/deep/x.png", "path")
    run("modaltex", "look", "sub/p.obj", "other/p.json", code=3, says="its images would not be below the folder of the look")
    run("modaltex", "look", "sub/p.obj", "other/p.json", "--any-path")
    must(json.load(open("other/p.json"))["materials"]["a"]["image"] == os.path.realpath("sub/deep/x.png"), "--any-path")

    def refused(obj, says, mtl="newmtl a\n"):
        put("w.obj", obj + "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        put("w.mtl", mtl)
        run("modaltex", "look", "w.obj", "w.json", code=3, says=says)
        must(not os.path.exists("w.json"), "w.json is there")

    refused("", "w.obj: names no materials (mtllib)")
    refused("mtllib absent.mtl\n", "absent.mtl: cannot open, No such file")
    refused("mtllib ../w.mtl\n", "mtllib: not in the folder of the .obj or below it, '../w.mtl'")
    refused("mtllib /etc/w.mtl\n", "mtllib: not in the folder")
    refused("mtllib w.mtl\nusemtl b\n", "w.obj: usemtl: no material of that name in its mtllib, b")
    refused("mtllib w.mtl\n", "no materials", "# nothing\n")
    refused("mtllib w.mtl\n", "w.mtl:2: map_Kd: the image is not in the look's folder or below it", "newmtl a\nmap_Kd ../x.png\n")
    refused("mtllib w.mtl w.mtl\n", "w.mtl:1: newmtl: the material is there twice, 'a'")
    run("modaltex", "look", "one.mtl", "w.json", "--runs", code=2, says="--runs: needs an .obj")
    run("modaltex", code=2, says="usage: modaltex look")
    run("modaltex", "lok", code=2, says="did you mean look?")
    run("modaltex", "-f", "look", "one.mtl", "w.json", code=2, says="usage")
    must("--runs" in run("modaltex", "look", "--help").stdout and "look" in run("modaltex", "--generate", "bash").stdout, "documents")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        globals()[f"part_{sys.argv[3]}"]()
    print(f"check_look: {sys.argv[3]} sound")
