# SPDX-License-Identifier: Apache-2.0
"""Octree textures on what moves. usage: check_texture.py BIN_FOLDER REPOSITORY
modaldeform --texture: its values at the points in vtkhdf, ply and glb, beside modaltex sample; shares, orders, splits; what is refused."""
import os
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from looks import RUBBER, paint_box, put, read_glb, repository
from tool_run import must, run

WOOD = '{"layers": [{"kind": "noise", "from": [0.9, 0.1, 0.3], "to": [0.1, 0.8, 0], "scale": 0.1}]}'


def validate(path, code=0):
    got = subprocess.run([sys.executable, os.path.join(repository, "tools/python/validate"), path], capture_output=True, text=True)
    must(got.returncode == code, path, "validator:", got.returncode, got.stdout, got.stderr)


def colours(path):
    """Those of a .ply's vertices [n, 4], and its positions."""
    with open(path, "rb") as f:
        head, body = f.read().split(b"end_header\n", 1)
    n = int(head.split(b"element vertex ")[1].split()[0])
    kinds = {"double": "<f8", "float": "<f4", "uchar": "u1"}
    names = [line.split() for line in head.decode().split("\n") if line.startswith("property") and "list" not in line]
    rows = np.frombuffer(body, np.dtype([(name, kinds[kind]) for _, kind, name in names]), n)
    return np.stack([rows[k] for k in ("red", "green", "blue", "alpha")], 1), np.stack([rows[k] for k in "xyz"], 1)


def main():
    paint_box()
    run("modaltex", "build", "b.h5", "white.h5", "--resolution", 64)
    put("l.json", WOOD)
    run("modaltex", "paint", "white.h5", "l.json", "tex.h5")
    run("modaltex", "sample", "tex.h5", "box.obj", "want.ply")
    want = colours("want.ply")[0]
    must(len(np.unique(want, axis=0)) > 15, "the texture is of one colour")
    with h5py.File("b.h5") as f:
        stored = f["shapes/0000/surface/user_vertex"][:]
    linear = np.where(want[:, :3] <= 10, want[:, :3] / 255 / 12.92, ((want[:, :3] / 255 + 0.055) / 1.055) ** 2.4)
    for words, order in (((), np.arange(len(want))), (("--order", "stored"), stored)):
        run("modaldeform", "t.h5", "o", "-f", "--format", "vtkhdf,ply,glb", "--texture", "tex.h5", "--fields", "colour,displacement", *words)
        run("modalinfo", "o/sequence.vtkhdf", "--check")
        validate("o/sequence.vtkhdf")
        with h5py.File("o/sequence.vtkhdf") as f:
            got = f["VTKHDF/PointData/colour"]
            must(got.dtype == "u1" and (got[:] == want[order]).all() and f.attrs["extensions_used"] == b"modal_colour", words, "colours of vtkhdf")
            must((f["VTKHDF/Steps/PointDataOffsets/colour"][:] == 0).all() and b"colour" not in f["modal"].attrs["arrays"], "steps or list")
            positions = f["VTKHDF/Points"][:].reshape(f["VTKHDF/Steps"].attrs["NSteps"], -1, 3)
        for frame in (0, 7):
            got, x = colours(f"o/ply/{frame:06}.ply")
            must((got == want[order]).all() and (x == positions[frame]).all(), words, "colours of ply")
        d, array, _ = read_glb("o/sequence.glb")
        primitive = d["meshes"][0]["primitives"][0]["attributes"]
        must(np.abs(array(primitive["COLOR_0"]) - np.column_stack([linear, want[:, 3] / 255])[order]).max() < 1e-6, words, "colours of glb")
    # vertices that a look and creases split have the colours of what they repeat
    run("modaldeform", "t.h5", "o", "-f", "--format", "glb", "--texture", "tex.h5", "--look", "box.obj", "--crease", 40, "--normals", "dynamic")
    d, array, _ = read_glb("o/sequence.glb")
    primitive = d["meshes"][0]["primitives"][0]["attributes"]
    at, got = array(primitive["POSITION"]), array(primitive["COLOR_0"])
    must(len(at) > len(want), "nothing is split")
    where = {tuple(np.rint(1e6 * x)): i for i, x in enumerate(at[:len(want)])}
    must(np.abs(got[:, :3] - linear[[where[tuple(np.rint(1e6 * x))] for x in at]]).max() < 1e-6, "colours of split vertices")
    # numbers; a second shape, which the texture was not built around
    run("modalpack", "box.node", "other.h5", "--modes", 2, *RUBBER)
    put("places.csv", "0,0,-1,0,0,0,0,0,0\n1,1,-1,3,0,0,0,0,0\n2,0,-1,6,0,0,0,0,0\n")
    run("modalplace", "places.csv", "two.h5", "b.h5", "other.h5")
    run("modalsim", "two.h5", "two_t.h5", "--duration", 0.05, "--fps", 100)
    n = len(want)
    for channels, width in (("float", 1), ("float3", 3)):
        run("modaltex", "build", "b.h5", "f.h5", "--resolution", 64, "--channels", channels, "-f")
        with h5py.File("f.h5", "r+") as f:
            size = f["samples/values"].shape
            f["samples/values"][:] = np.arange(size[1]) + 0.75
        got = run("modaldeform", "two_t.h5", "o", "-f", "--format", "vtkhdf,ply", "--texture", "f.h5")
        must("--texture: of " + channels + ", left out of ply" in got.stderr and "built around " in got.stderr, got.stderr)
        validate("o/sequence.vtkhdf")
        run("modalinfo", "o/sequence.vtkhdf", "--check")
        with h5py.File("o/sequence.vtkhdf") as f:
            values = f["VTKHDF/PointData/colour"][:].reshape(-1, width)
            must((values[:n] == np.arange(width) + 0.75).all() and (values[n:-n] == 0).all() and (values[-n:] == np.arange(width) + 0.75).all(), channels)
    # shares give the bytes of one run; another texture is another sequence
    run("modaldeform", "t.h5", "one", "--texture", "tex.h5")
    for i in (1, 0):
        run("modaldeform", "t.h5", "shared", "--texture", "tex.h5", "--share", f"{i}/2")
    with open("one/sequence.vtkhdf", "rb") as f, open("shared/sequence.vtkhdf", "rb") as g:
        must(f.read() == g.read(), "shares differ")
    run("modaldeform", "t.h5", "shared2", "--texture", "tex.h5", "--share", "0/2")
    run("modaldeform", "t.h5", "shared2", "--texture", "white.h5", "--share", "1/2", code=3, says="arguments")
    # refused
    run("modaldeform", "t.h5", "no", "--fields", "colour", code=2, says="--fields: colour is that of a --texture, which is absent")
    run("modaldeform", "t.h5", "no", "--fields", "colour,colour", "--texture", "tex.h5", code=2, says="--fields: twice, colour")
    run("modaldeform", "t.h5", "no", "--format", "obj", "--texture", "tex.h5", code=2, says="--texture: only vtkhdf, ply and glb have room for it, --format obj")
    run("modaldeform", "t.h5", "no", "--output-mesh", "volume", "--texture", "tex.h5", code=2, says="--texture: not with --output-mesh volume")
    run("modaldeform", "t.h5", "no", "--format", "ply", "--texture", "f.h5", code=3, says="f.h5: only vtkhdf has room for a texture of float3")
    run("modaltex", "build", "other.h5", "other_tex.h5", "--resolution", 32)
    run("modaldeform", "t.h5", "no", "--texture", "other_tex.h5", code=3, says="other_tex.h5: built around no surface of the basis, hash ")
    run("modaldeform", "t.h5", "no", "--texture", "b.h5", code=3, says="b.h5: ")
    run("modaldeform", "t.h5", "no", "--texture", "none.h5", code=3, says="none.h5: ")
    must(not os.path.exists("no"), "no is there")
    for change, says in ((lambda f: f["VTKHDF/Steps/PointDataOffsets/colour"].__setitem__(1, 3), "colour"),
                         (lambda f: f["VTKHDF/PointData"].pop("colour"), "colour"),
                         (lambda f: (f["VTKHDF/PointData"].pop("colour"), f["VTKHDF/PointData"].create_dataset("colour", data=np.full(n, np.nan, "f4"))), "colour")):
        with open("one/sequence.vtkhdf", "rb") as f, open("bad.vtkhdf", "wb") as g:
            g.write(f.read())
        with h5py.File("bad.vtkhdf", "r+") as f:
            change(f)
        got = run("modalinfo", "bad.vtkhdf", "--check", code=1)
        must(says in got.stdout + got.stderr, got)
        validate("bad.vtkhdf", 1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
    print("textures on moving meshes ok")
