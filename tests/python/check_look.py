# SPDX-License-Identifier: Apache-2.0
"""Looks through the pipeline. usage: check_look.py BIN_FOLDER REPOSITORY PART, PART one of
  basis   modalpack keeps the names of an .obj's materials, outside of the content hash; what is refused
  images  modaltex pack: kinds of PNG and JPEG, mip levels by formats/textures.md, layouts; what is refused; modalinfo of the file
  glb     modaldeform --look: materials, uv, seams, images in a GLB, read on its own; what is refused
  obj     the same as frames of .obj with their .mtl; what is refused
  vtkhdf  texture coordinates in sequence.vtkhdf, refused on seams; its checkers
  vtk ROOT   these coordinates in VTK 9.3, in a system below ROOT (./run clients makes it)
  creases corners with normals of their own in glb and obj, beside an own computation: a cube, a fork; what is refused
  blender, gltf-validator PROGRAM   the same in these clients (a skip, 77, where they are absent)
  gltf    a .glb as a look: its materials and the images inside; modaltex look takes them out; what is refused
  convert modaltex look: a look of an .obj with its .mtl; names of files stay in the folder"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import images

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
    """A file, or several, of which each must end so."""
    files = [path] if isinstance(path, str) else path
    got = subprocess.run([sys.executable, os.path.join(repository, "tools/python/validate"), *files], capture_output=True, text=True)
    must(got.returncode == code, path, "validator:", got.returncode, got.stdout, got.stderr)
    return got.stdout + got.stderr


def sound(path):
    validate(path)
    must(run("modalinfo", path, "--check").stdout == f"{path}: a sound textures\n", "modalinfo --check")


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


def pack(*words, materials, code=0, says=""):
    with open("i.json", "w") as f:
        json.dump({"look": 1, "materials": materials}, f)
    return run("modaltex", "pack", "i.json", "i.h5", "-f", *words, code=code, says=says)


def levels(image, path="i.h5"):
    """Of an image of the file: its levels as arrays."""
    with h5py.File(path) as f:
        group, layer = f[f"classes/{f['images/class'][image]:04d}"], f["images/layer"][image]
        return [group[name][layer] for name in sorted(group)]


def part_images():
    random = np.random.default_rng(1)
    rgba = random.integers(0, 256, (11, 13, 4)).astype("u1")
    rgba[:, :5, 3] = 0
    rgba[4:, 6:, 3] = 255
    images.write_png("rgba.png", rgba)
    images.write_png("adam7.png", rgba, interlaced=True)
    images.write_png("rgb.png", rgba[..., :3])
    images.write_png("deep.png", rgba.astype("u2") * 257)
    images.write_png("grey.png", rgba[..., :1])
    images.write_png("palette.png", rgba[..., :1] % 4, palette=[(255, 0, 0), (0, 255, 0), (1, 2, 3), (9, 8, 7)])
    for name in ("colours", "grey", "progressive"):
        with open(os.path.join(repository, "tests/files/images", f"good-{name}.jpg"), "rb") as f, open(f"{name}.jpg", "wb") as g:
            g.write(f.read())
    opaque = np.full((11, 13, 1), 255, "u1")
    palette = np.array([(255, 0, 0), (0, 255, 0), (1, 2, 3), (9, 8, 7)], "u1")[rgba[..., 0] % 4]
    ramp = np.array([[(10 * x, 15 * y, 128) for x in range(24)] for y in range(16)])
    wanted = {"rgba.png": (rgba, 0), "adam7.png": (rgba, 0), "rgb.png": (np.concatenate([rgba[..., :3], opaque], 2), 0), "deep.png": (rgba, 0),
              "grey.png": (np.concatenate([rgba[..., :1]] * 3 + [opaque], 2), 0), "palette.png": (np.concatenate([palette, opaque], 2), 0),
              "colours.jpg": (np.dstack([ramp, np.full((16, 24), 255)]), 6), "progressive.jpg": (np.dstack([ramp, np.full((16, 24), 255)]), 12),
              "grey.jpg": (np.dstack([ramp @ [0.299, 0.587, 0.114]] * 3 + [np.full((16, 24), 255)]), 6)}
    pack(materials={name: {"image": name} for name in wanted})
    sound("i.h5")
    with h5py.File("i.h5") as f:
        must(bytes(f["images/names"][:]).decode().split("\n")[:-1] == list(wanted) and f["classes"].attrs["count"] == 2, "names or classes")
    for i, (name, (texels, most)) in enumerate(wanted.items()):
        got = levels(i)
        error = np.abs(got[0][::-1].astype(int) - texels).max()
        must(error <= most, name, "is off by", error)
        must([x.shape[:2] for x in got][-1] == (1, 1) and got[1].shape[:2] == (texels.shape[0] // 2, texels.shape[1] // 2), name, "levels")
        for n, (ours, exact) in enumerate(zip(got, images.mip_levels(got[0]))):
            off = np.abs(ours.astype(int) - exact)
            # linear light has 20 steps for the darkest of sRGB: one of 40 may be rounded the other way
            must(off.max() <= 1 and (off > 0).sum() <= 0.025 * off.size + 2, name, "level", n, "is off by", off.max(), (off > 0).mean())
    check_cutouts(random)
    check_normals(random)
    check_layouts(random)
    refuse_images(rgba)
    check_packed(rgba)


def check_cutouts(random):
    """The cover of each level is the nearest to that of level 0 that one factor can give; cutoffs do not share an image."""
    leaf = random.integers(0, 256, (64, 64, 4)).astype("u1")
    leaf[..., 3] = np.where(np.hypot(*(np.indices((64, 64)) % 16 - 8)) < 4.5, 230, 20)
    images.write_png("leaf.png", leaf)
    pack(materials={f"{cutoff}": {"image": "leaf.png", "alpha": "cutout", "cutoff": cutoff} for cutoff in (0.5, 0.25)} |
         {"plain": {"image": "leaf.png"}})
    with h5py.File("i.h5") as f:
        must(list(f["images/cutoff"][:]) == [0.5, 0.25, -1], "cutoffs")
    for i, cutoff in enumerate((0.5, 0.25)):
        got = levels(i)
        share = (got[0][..., 3] / 255 >= cutoff).mean()
        for ours, plain in zip(got[1:], images.mip_levels(got[0])[1:]):
            seen = (ours[..., 3] / 255 >= cutoff).mean()
            covers = [(plain[..., 3] >= t).mean() for t in np.unique(plain[..., 3])] + [0]
            best = min(abs(c - share) for c in covers)
            must(abs(seen - share) <= best + 1e-12, "cover", seen, "instead of", share, "nearest is off by", best)
    must(np.abs((levels(2)[5][..., 3] / 255 >= 0.5).mean() - share) > 0.05, "the test cannot fail: the cover is kept by itself")


def check_normals(random):
    n = random.normal(size=(8, 8, 3)) * (0.6, 0.6, 0.2) + (0, 0, 1)
    n /= np.linalg.norm(n, axis=2)[..., None]
    n[:2, :2] = [[(1, 0, 0), (-1, 0, 0)], [(-1, 0, 0), (1, 0, 0)]]  # no mean
    images.write_png("n.png", np.rint(n * 127.5 + 127.5).astype("u1"))
    pack(materials={"a": {"normal_image": "n.png"}})
    got = levels(0)
    for ours in got[1:]:
        length = np.linalg.norm(ours[..., :3] / 127.5 - 1, axis=2)
        must(np.abs(length - 1).max() <= 0.01, "a normal of length", length.min(), length.max())
    must(np.abs(levels(0)[1][3, 0, :3].astype(int) - (128, 128, 255)).max() <= 128, "normals")
    exact = got[0][:2, -2:, :3].astype(float).reshape(-1, 3) / 127.5 - 1
    mean = exact.sum(0) / np.linalg.norm(exact.sum(0))
    must(np.abs(got[1][0, 3, :3] / 127.5 - 1 - mean).max() <= 0.005, "mean normal", got[1][0, 3], mean)


def check_layouts(random):
    """Many images, several sizes; any number of threads gives the same bytes; the thesis's layout."""
    materials = {}
    for i in range(600):
        images.write_png(f"s{i}.png", random.integers(0, 256, (1 + i % 3, 4, 3)).astype("u1"))
        materials[f"m{i}"] = {"image": f"s{i}.png"}
    files = []
    for threads in (1, 2, 3):
        pack("-j", threads, materials=materials)
        with open("i.h5", "rb") as f:
            files.append(f.read())
    must(files[0] == files[1] == files[2], "bytes depend on the number of threads")
    sound("i.h5")
    with h5py.File("i.h5") as f:
        must([f[f"classes/{c:04d}/level_00"].shape[:3] for c in range(3)] == [(200, 1, 4), (200, 2, 4), (200, 3, 4)], "classes")
    pack("--layout", "thesis", materials=materials, code=3, says="at most 512 images, 600")
    few = dict(list(materials.items())[:3])
    pack(materials=few)
    own = [levels(i)[0] for i in range(3)]
    pack("--layout", "thesis", materials=few)
    sound("i.h5")
    with h5py.File("i.h5") as f:
        must(np.array_equal(f["images/scale"][:], [[1, 0], [1, 0.5], [1, 1]]) and f["classes/0000/level_00"].shape == (3, 3, 4, 4), "thesis")
        for i in range(3):
            must(np.array_equal(f["classes/0000/level_00"][i], np.concatenate([own[i]] * 3)[:3]), "repeats of image", i)
    pack("--layout", "other", materials=few, code=2, says="--layout: must be classes or thesis, other")
    pack(materials={"a": {}})  # no image at all
    sound("i.h5")


def refuse_images(rgba):
    """Each of these is refused by name, quickly, and leaves nothing."""
    with open("rgba.png", "rb") as f:
        png = f.read()

    def refused(name, body, says):
        if body is not None:
            with open(name, "wb") as f:
                f.write(body)
        for old in ("i.h5",):
            os.path.exists(old) and os.remove(old)
        pack(materials={"a": {"image": name}}, code=3, says=says)
        must(not [x for x in os.listdir(".") if x.startswith("i.h5")], "something is left")

    refused("absent.png", None, "absent.png: cannot open, No such file or directory")
    refused("empty.png", b"", "empty.png")
    refused("cut.png", png[:len(png) // 2], "cut.png: libpng: cut off")
    refused("head.png", png[:20], "head.png: cut off in its head")
    refused("crc.png", png[:60] + bytes([png[60] ^ 1]) + png[61:], "crc.png: libpng: ")
    refused("zero.png", images.png_bytes(rgba, size=(0, 11)), "zero.png: an image of no size, 0 x 11")
    refused("bomb.png", images.png_bytes(rgba, size=(100000, 100000)), "bomb.png: too large, at most 16384 a side")
    refused("wide.png", images.png_bytes(rgba, size=(16384, 8192)), "wide.png: ")
    refused("text.png", b"not an image at all, but long enough", "text.png: neither a PNG nor a JPEG")
    for name, says in (("unsupported-cmyk.jpg", "CMYK is not supported"), ("bad-cut.jpg", "libjpeg: Premature end")):
        with open(os.path.join(repository, "tests/files/images", name), "rb") as f:
            refused(name, f.read(), says)
    os.makedirs("inner", exist_ok=True)
    os.symlink("../rgba.png", "inner/link.png")
    with open("inner/l.json", "w") as f:
        json.dump({"look": 1, "materials": {"a": {"image": "link.png"}}}, f)
    run("modaltex", "pack", "inner/l.json", "i.h5", code=3, says="link.png: a symbolic link that leads out of")
    run("modaltex", "pack", "inner/l.json", "i.h5", "--any-path")


def check_packed(rgba):
    """modalinfo of packed images: what it shows, and every rule that it checks, as the validator does."""
    images.write_png("rgba.png", rgba)
    images.write_png("small.png", rgba[:2, :4])
    pack(materials={"a": {"image": "rgba.png", "alpha": "cutout"}, "b": {"image": "small.png", "normal_image": "small.png"}, "c": {}})
    found = json.loads(run("modalinfo", "i.h5", "--json").stdout)
    must(found["materials"] == ["a", "b", "c"] and [x["role"] for x in found["images"]] == ["colours", "colours", "normals"], found)
    must([(x["width"], x["height"], x["layers"], x["levels"]) for x in found["classes"]] == [(13, 11, 1, 4), (4, 2, 2, 3)], found["classes"])
    must("4 x 2, 2 layers, 3 levels" in run("modalinfo", "i.h5").stdout, "modalinfo")

    bad = []

    def broken(change, says):
        bad.append(f"bad{len(bad)}.h5")
        shutil.copy("i.h5", bad[-1])
        with h5py.File(bad[-1], "r+") as f:
            change(f)
        run("modalinfo", bad[-1], code=3, says=says)
        must(says in run("modalinfo", bad[-1], "--check", code=1).stdout, says, "is not listed")

    def replace(path, values):
        def change(f):
            del f[path]
            f[path] = values
        return change

    def put(path, at, value):
        return lambda f: f[path].__setitem__(at, value)

    broken(lambda f: f.attrs.__setitem__("layout", "other"), '/@layout: must be classes or thesis, is "other"')
    broken(put("materials/values", (1, 3, 1), 3), "/materials/values: material 1, number 13: must be 0 to 2, 3")
    broken(put("materials/values", (0, 0, 0), np.nan), "/materials/values: material 0, number 0")
    broken(put("materials/images", (0, 0), 3), "/materials/images: row 0: outside [-1, 3), 3")
    broken(put("materials/images", (0, 0), 2), "/materials/images: material 0: image 2 has another role")
    broken(replace("materials/names", np.frombuffer(b"a\nb\n", "u1")), "/materials/names: 2 names of 3")
    broken(replace("images/names", np.frombuffer(b"a\n\nb\n", "u1")), "/images/names: byte 2")
    broken(put("images/role", 0, 2), "/images/role: image 0: neither 0 nor 1, 2")
    broken(put("images/cutoff", 1, 2), "/images/cutoff: image 1: neither -1 nor 0 to 1, 2")
    broken(put("images/scale", (1, 1), 0.5), "/images/scale: image 1: not what the layout has, 0.5")
    broken(put("images/class", 1, 2), "/images/class: image 1: there are 2 classes, 2")
    broken(put("images/layer", 1, 1), "/images/layer: image 2: layer 1 is not there, or another's")
    broken(put("images/layer", 1, -1), "/images/layer: image 1: layer -1 is not there, or another's")
    broken(lambda f: f.__delitem__("classes/0001/level_02"), "/classes/0001/level_02: missing")
    broken(replace("classes/0001/level_01", np.zeros((2, 2, 2, 4), "u1")), "/classes/0001/level_01: shape must be [2, 1, 2, 4]")
    broken(lambda f: f.__setitem__("classes/0001/level_03", np.zeros((2, 1, 1, 4), "u1")), "has a level after that of one texel, level_03")
    broken(replace("classes/0001/level_00", np.zeros((3, 2, 4, 4), "u1")), "/classes/0001/level_01: shape must be [3, 1, 2, 4]")
    broken(replace("classes/0001/level_00", np.zeros((0, 2, 4, 4), "u1")), "must be 1 to 2048 layers")
    got = validate(bad, 1)
    must("a sound" not in got and all(f"{name}: /" in got for name in bad), "the validator takes one of these:", got)
    with open("i.h5", "rb") as f:
        whole = f.read()
    with open("cut.h5", "wb") as f:
        f.write(whole[:len(whole) // 2])
    run("modalinfo", "cut.h5", code=3, says="cut.h5")


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


def part_glb():
    paint_box()
    triangles, v, vt = read_obj("box.obj")
    with h5py.File("b.h5") as f, h5py.File("t.h5") as g:
        s, q = f["shapes/0000"], g["q"][:]
        u = s["modes/modal_matrix"][:].transpose(0, 3, 2, 1).reshape(-1, 3, 3)[:len(v)].astype("f8")
        modes = np.empty_like(u)
        modes[s["surface/user_vertex"][:]] = u
    for words in ((), ("--order", "stored"), ("--normals", "dynamic"), ("--normals", "rigid")):
        run("modaldeform", "t.h5", "o", "-f", "--format", "glb", "--look", "box.obj", *words)
        d, array, view = read_glb("o/sequence.glb")
        must([m["name"] for m in d["materials"]] == ["red paint", "leaf"], "materials", d["materials"])
        must(d["materials"][0]["pbrMetallicRoughness"] == {"baseColorFactor": [0.5, 0.25, 0, 1], "metallicFactor": 0, "roughnessFactor": 1},
             d["materials"][0])
        with open("leaf.png", "rb") as f:
            must(len(d["images"]) == 1 and view(d["images"][0]["bufferView"]) == f.read(), "the image is another one")
        must(d["samplers"] == [{"wrapS": 10497, "wrapT": 10497}] and len(d["meshes"]) == 1, "samplers, meshes")
        weights = array(next(s["output"] for s, c in zip(d["animations"][0]["samplers"], d["animations"][0]["channels"])
                             if c["target"]["path"] == "weights")).reshape(len(q), -1)
        got = set()
        for p in d["meshes"][0]["primitives"]:
            attributes = p["attributes"]
            must(("NORMAL" in attributes) == ("--normals" in words), words, "normals")
            uv, base = array(attributes["TEXCOORD_0"]), array(attributes["POSITION"])
            must(len(uv) == len(base) and len(base) > len(v), "no seam is split", len(base))
            moved = base + np.tensordot(weights[7], [array(t["POSITION"]) for t in p["targets"]], 1)
            if words != ("--order", "stored"):
                wanted = (v + modes @ q[7])
                must(np.abs(moved[:len(v)] - wanted).max() <= 1e-6, "positions are off by", np.abs(moved[:len(v)] - wanted).max())
            name = d["materials"][p["material"]]["name"]
            for t in array(p["indices"]).reshape(-1, 3):
                got.add((name, tuple(tuple(np.rint(1e4 * np.append(moved[i], uv[i])).astype(int)) for i in t)))
        wanted = set()
        for name, t in triangles:
            corners = [tuple(np.rint(1e4 * np.append(v[a] + modes[a] @ q[7], (vt[b][0], 1 - vt[b][1]))).astype(int)) for a, b in t]
            wanted.add((name, tuple(corners)))
        must(got == wanted, words, "triangles differ:", len(got - wanted), "of", len(wanted), sorted(got - wanted)[:2], sorted(wanted - got)[:2])
    look_of_objects()
    refuse_looks()


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


def part_vtkhdf():
    paint_box()
    write_sheet()
    for words in ((), ("--order", "stored"), ("--precision", 1e-5)):
        run("modaldeform", "st.h5", "v", "-f", "--look", "sheet.obj", "--normals", "dynamic", *words)
        run("modalinfo", "v/sequence.vtkhdf", "--check")
        validate("v/sequence.vtkhdf")
        with h5py.File("v/sequence.vtkhdf") as f:
            uv, x = f["VTKHDF/PointData/TCoords"][:], f["VTKHDF/Points"][:18]
            must(uv.shape == (18, 2) and f.attrs["extensions_used"] == b"modal_uv", "TCoords", uv.shape)
            place = x - np.repeat([[0, 0, 0], [3, 0, 0]], 9, axis=0)
            must(np.abs(uv - np.stack([1 - place[:, 0], 0.25 + place[:, 1] * 10 / 8], 1)).max() < 0.01, "uv are others")
            must((f["VTKHDF/Steps/PointDataOffsets/TCoords"][:] == 0).all() and b"TCoords" not in f["modal"].attrs["arrays"], "steps or list")
    run("modaldeform", "st.h5", "plain", "-f")
    with h5py.File("plain/sequence.vtkhdf") as f:
        must("TCoords" not in f["VTKHDF/PointData"] and "extensions_used" not in f.attrs, "TCoords without a look")
    for words in (("--format", "vtkhdf"), ("--format", "glb,vtkhdf")):
        run("modaldeform", "t.h5", "no", *words, "--look", "box.obj", code=3, says="lies on a seam, with texture coordinates")
    run("modaldeform", "t.h5", "no", "--output-mesh", "volume", "--look", "box.obj", code=2, says="--look: not with --output-mesh volume")
    write_box("plain", materials=False)
    with open("plain.obj") as f:
        put("plain.obj", "".join("f " + " ".join(w.split("/")[0] for w in line.split()[1:]) + "\n" if line.startswith("f") else line
                                 for line in f if not line.startswith("vt")))
    run("modalpack", "box.node", "p.h5", "--surface", "plain.obj", "--modes", 3, *RUBBER)
    run("modalsim", "p.h5", "pt.h5", "--duration", 0.05, "--fps", 100)
    put("one.mtl", "newmtl a\nKd 1 0 0\n")
    run("modaldeform", "pt.h5", "no", "--look", "one.mtl", code=3, says="has no texture coordinates, which vtkhdf takes of a --look")
    must(not os.path.exists("no"), "no is there")

    def broken(change, says):
        shutil.copy("v/sequence.vtkhdf", "bad.vtkhdf")
        with h5py.File("bad.vtkhdf", "r+") as f:
            change(f["VTKHDF"])
        must(says in run("modalinfo", "bad.vtkhdf", "--check", code=1).stdout, says)
        validate("bad.vtkhdf", 1)

    def other_rows(v):
        del v["PointData/TCoords"]
        v["PointData/TCoords"] = np.zeros((17, 2), "f4")

    broken(lambda v: v["PointData/TCoords"].__setitem__((3, 1), np.nan), "TCoords: point 3")
    broken(lambda v: v["PointData"].__delitem__("TCoords"), "TCoords: missing")
    broken(lambda v: v["Steps/PointDataOffsets/TCoords"].__setitem__(2, 18), "Steps/PointDataOffsets/TCoords")
    broken(other_rows, "TCoords")


def part_vtk(root):
    """VTK 9.3 in a system that is entered by chroot."""
    if os.geteuid() != 0:
        print(f"check_look: only root can enter {root}")
        sys.exit(77)
    paint_box()
    write_sheet()
    run("modaldeform", "st.h5", "v", "--look", "sheet.obj", "--normals", "dynamic")
    with tempfile.TemporaryDirectory(dir=os.path.join(root, "tmp")) as away:
        shutil.copy("v/sequence.vtkhdf", away)
        shutil.copy(os.path.join(repository, "tests/clients/open_in_vtk.py"), away)
        inside = "/" + os.path.relpath(away, root)
        got = subprocess.run(["chroot", root, "python3", f"{inside}/open_in_vtk.py", f"{inside}/sequence.vtkhdf", f"{inside}/found.npz"],
                             capture_output=True, text=True)
        must(got.returncode == 0, got)
        found = dict(np.load(f"{away}/found.npz"))
    with h5py.File("v/sequence.vtkhdf") as f:
        for i in range(len(found["times"])):
            must(np.array_equal(found[f"{i}/TCoords"], f["VTKHDF/PointData/TCoords"][:]), "TCoords at step", i)
            must(np.array_equal(found[f"{i}/Points"], f["VTKHDF/Points"][18 * i:18 * i + 18]), "points at step", i)
    print(got.stdout.strip())


def glb_bytes(description, binary=b""):
    text = json.dumps(description).encode()
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + (struct.pack("<I4s", len(binary), b"BIN\0") + binary if binary else b"")
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def part_gltf():
    paint_box()
    # what modaldeform writes reads as the look that it was made of
    run("modaldeform", "t.h5", "o", "--format", "glb", "--look", "box.obj")
    run("modaldeform", "t.h5", "p", "--format", "glb", "--look", "o/sequence.glb")
    with open("o/sequence.glb", "rb") as f, open("p/sequence.glb", "rb") as g:
        must(f.read() == g.read(), "another file by the look of the first one")
    os.makedirs("l")
    run("modaltex", "look", "o/sequence.glb", "l/look.json", says="1 image beside l/look.json")
    with open("l/look.json") as f:
        look = json.load(f)["materials"]
    must(list(look) == ["red paint", "leaf"] and look["leaf"].get("image") == "leaf.png" and look["red paint"]["diffuse"] == [0.5, 0.25, 0], look)
    with open("leaf.png", "rb") as f, open("l/leaf.png", "rb") as g:
        must(f.read() == g.read(), "the image that was taken out")
    run("modaldeform", "t.h5", "p", "-f", "--format", "glb", "--look", "l/look.json")
    with open("o/sequence.glb", "rb") as f, open("p/sequence.glb", "rb") as g:
        must(f.read() == g.read(), "another file by the look that was taken out")
    run("modaltex", "look", "o/sequence.glb", "l/other.json", code=2, says="l/leaf.png: exists")
    must(sorted(os.listdir("l")) == ["leaf.png", "look.json"], os.listdir("l"))
    run("modaltex", "look", "o/sequence.glb", "l/look.json", "-f")
    run("modaltex", "look", "o/sequence.glb", "l/runs.json", "--runs", "-f", code=2, says="--runs: needs an .obj")
    for at in ("o/sequence.glb", "l/look.json"):
        run("modaltex", "pack", at, "packed.h5", "-f")
        sound("packed.h5")
        must((levels(0, "packed.h5")[0] == levels(0, "packed.h5")[0]).all() and len(levels(0, "packed.h5")) == 7, "levels")
    run("modaldeform", "t.h5", "no", "--format", "obj", "--look", "o/sequence.glb", code=3, says="leaf.png: is no file but inside of the .glb")
    must(not os.path.exists("no"), "no is there")
    look_of_gltf()
    refuse_gltf()


def gltf(**more):
    with open("n.png", "rb") as f:
        png = f.read()
    with open(os.path.join(repository, "tests/files/images/good-grey.jpg"), "rb") as f:
        jpeg = f.read()
    padded = png + bytes(-len(png) % 4)
    description = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": len(padded) + len(jpeg)}],
                   "bufferViews": [{"buffer": 0, "byteLength": len(png)}, {"buffer": 0, "byteOffset": len(padded), "byteLength": len(jpeg)}],
                   "images": [{"bufferView": 0, "mimeType": "image/png", "name": "../b\u00e9.png"}, {"bufferView": 1, "mimeType": "image/jpeg"},
                              {"uri": "l/le%61f.png"}, {"bufferView": 0, "mimeType": "image/png", "name": "../b\u00e9.png"}],
                   "samplers": [{"wrapS": 33071, "wrapT": 33071}, {"wrapS": 33648, "wrapT": 10497}],
                   "textures": [{"source": 0}, {"source": 1, "sampler": 0}, {"source": 2}, {"source": 3}, {"source": 0, "sampler": 1}],
                   "materials": [{"name": "a", "pbrMetallicRoughness": {"baseColorFactor": [0.5, 1, 0, 0.25], "baseColorTexture": {"index": 0},
                                                                        "roughnessFactor": 0.5}, "normalTexture": {"index": 3, "scale": 2},
                                  "alphaMode": "BLEND", "doubleSided": True},
                                 {"name": "a", "pbrMetallicRoughness": {"baseColorTexture": {"index": 1}}, "alphaMode": "MASK", "alphaCutoff": 0.25},
                                 {"pbrMetallicRoughness": {"baseColorTexture": {"index": 2}}}, {"name": "a 2"}]} | more
    return description, padded + jpeg


def look_of_gltf():
    with open("made.glb", "wb") as f:
        f.write(glb_bytes(*gltf()))
    run("modaltex", "look", "made.glb", "made.json", "-f")
    with open("made.json") as f:
        got = json.load(f)["materials"]
    must(list(got) == ["a", "a 2", "material 2", "a 2 2"], list(got))
    must(got["a"] == {"diffuse": [0.5, 1, 0], "shininess": 30, "opacity": 0.25, "alpha": "blend", "two_sided": True, "image": "_._b__.png",
                      "normal_image": "_._b___2.png"}, got["a"])
    must(got["a 2"] == {"shininess": 0, "alpha": "cutout", "cutoff": 0.25, "image": "image_1.jpg", "wrap": "clamp"}, got["a 2"])
    must(got["material 2"] == {"shininess": 0, "image": "l/leaf.png"}, got["material 2"])
    must(os.path.exists("image_1.jpg") and os.path.exists("_._b__.png"), "images")
    os.makedirs("deep", exist_ok=True)
    shutil.copy("made.glb", "deep/made.glb")
    run("modaltex", "look", "deep/made.glb", "deep.json", "-f")
    with open("deep.json") as f:
        must(json.load(f)["materials"]["material 2"]["image"] == "deep/l/leaf.png", "a file's name, seen from the look")
    run("modaltex", "look", "made.glb", "deep/up.json", "-f", code=3, says="its images would not be below the folder of the look")


def refuse_gltf():
    whole = glb_bytes(*gltf())

    def refused(says, content=None, **more):
        with open("bad.glb", "wb") as f:
            f.write(content if content is not None else glb_bytes(*gltf(**more)))
        run("modaldeform", "t.h5", "no", "--format", "glb", "--look", "bad.glb", code=3, says="bad.glb")
        must(not os.path.exists("no"), "no is there")
        got = run("modaltex", "look", "bad.glb", "bad.json", code=3, says=says)
        must(got.stderr.count("\n") == 1 and not os.path.exists("bad.json"), got)

    def material(**more):
        return [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0} | more}}]

    refused("bad.glb: not a binary glTF file", b"x" * 40)
    refused("bad.glb: empty file", b"")
    refused("bad.glb: only version 2 is read, 1", whole[:4] + struct.pack("<I", 1) + whole[8:])
    refused("bad.glb: cut off", whole[:-1])
    refused("bad.glb: cut off in its binary chunk", whole[:8] + struct.pack("<I", len(whole) - 4) + whole[12:-4])
    refused("only glTF 2 is read", asset={"version": "1.0"})
    refused("an extension that is not read, \"KHR_texture_basisu\"", extensionsRequired=["KHR_texture_basisu"])
    refused("/materials: too few items", materials=[])
    refused("KHR_texture_transform is not read", materials=material(extensions={"KHR_texture_transform": {}}))
    refused("the set of uv 1", materials=material(texCoord=1))
    refused("no such item in textures, 9", materials=material(index=9))
    refused("its wraps must be the same", materials=material(index=4))
    refused("not inside of the binary chunk", bufferViews=[{"buffer": 0, "byteOffset": 100, "byteLength": 100000}], materials=material())
    refused("neither a PNG nor a JPEG", bufferViews=[{"buffer": 0, "byteOffset": 1, "byteLength": 60}], materials=material())
    refused("images as data: URIs are not read", images=[{"uri": "data:image/png;base64,AAAA"}], materials=material())
    refused("a path inside of the file's folder", images=[{"uri": "%2e%2e/x.png"}], materials=material())
    refused("a path inside of the file's folder", images=[{"uri": "/etc/passwd"}], materials=material())
    refused("a % without two hexadecimal digits", images=[{"uri": "a%0"}], materials=material())
    refused("numbers in 0 .. 1", materials=[{"pbrMetallicRoughness": {"baseColorFactor": [2, 0, 0, 1]}}])
    refused("none of \"OPAQUE\"", materials=[{"alphaMode": "SOME"}])
    head, text = whole[:20], whole[20:20 + struct.unpack("<I", whole[12:16])[0]]
    refused("duplicate object key", head + text.replace(b'"textures"', b'"samplers"') + whole[20 + len(text):])
    for cut in range(0, len(whole), 97):
        with open("bad.glb", "wb") as f:
            f.write(whole[:cut])
        run("modaltex", "look", "bad.glb", "bad.json", code=3, says="bad.glb")


def look_of_objects():
    """Objects with materials and tints of their own share positions."""
    put("places.csv", "".join(f"{i},0,-1,{3 * i},0,0,0,0,0\n" for i in range(4)))
    run("modalplace", "places.csv", "four.h5", "b.h5")
    run("modalsim", "four.h5", "f.h5", "--duration", 0.1, "--fps", 100, "--initial", "0=0.001")
    look = {"look": 1, "materials": {"red paint": {"diffuse": [1, 0.5, 0]}, "leaf": {"image": "leaf.png", "wrap": "clamp"},
                                     "cut": {"image": "leaf.png", "alpha": "cutout", "cutoff": 0.25, "two_sided": True}},
            "objects": [{"object": 1, "material": "cut"}, {"object": 3, "tint": [0.5, 4, 1]}]}
    with open("four.json", "w") as f:
        json.dump(look, f)
    run("modaldeform", "f.h5", "four", "--format", "glb", "--look", "four.json")
    d, array, view = read_glb("four/sequence.glb")
    must([n["mesh"] for n in d["nodes"]] == [0, 1, 0, 2], "meshes of the objects", d["nodes"])
    must(len({p["attributes"]["POSITION"] for m in d["meshes"] for p in m["primitives"]}) == 1, "positions are there twice")
    must([m["name"] for m in d["materials"]] == ["red paint", "leaf", "cut", "red paint", "leaf"], "materials")
    must(d["materials"][3]["pbrMetallicRoughness"]["baseColorFactor"] == [0.5, 1, 0, 1], "the tint, at most 1")
    must(d["materials"][2]["alphaMode"] == "MASK" and d["materials"][2]["alphaCutoff"] == 0.25 and d["materials"][2]["doubleSided"], "cut")
    must(len(d["images"]) == 1 and len(d["textures"]) == 2 and len(d["samplers"]) == 2, "textures")


def part_obj():
    paint_box()
    triangles, v, vt = read_obj("box.obj")
    run("modaldeform", "t.h5", "o", "--format", "obj,ply", "--look", "box.obj")
    must("a sound output" in run("modalinfo", "o", "--check").stdout, "modalinfo")
    must({"manifest.json", "obj", "sequence.mtl"} <= set(os.listdir("o")), os.listdir("o"))
    with open("o/sequence.mtl") as f:
        text = f.read()
    must("newmtl red paint\nKa 0.5 0.25 0\nKd 0.5 0.25 0\n" in text and "newmtl leaf\n" in text and "map_Kd ../leaf.png\n" in text, text)
    must("unused" not in text, "a material that nobody has")
    got, points, uv = read_obj("o/obj/000007.obj")
    must(len(points) == len(v) and len(got) == len(triangles), "vertices are not split in text")
    key = lambda of, p, t: {(name, tuple(tuple(np.rint(1e4 * np.append(p[a], t[b])).astype(int)) for a, b, *_ in c)) for name, c in of}
    must(key(got, v, uv) == key(triangles, v, vt), "materials, uv or corners differ")
    # what is written is a look of its own
    run("modaltex", "look", "o/obj/000007.obj", "again.json", "--any-path")
    again = json.load(open("again.json"))["materials"]
    must(os.path.realpath(again["leaf"]["image"]) == os.path.realpath("leaf.png") and again["red paint"]["diffuse"] == [0.5, 0.25, 0], again)
    # objects with a tint have materials of their own names
    put("places.csv", "".join(f"{i},0,-1,{3 * i},0,0,0,0,0\n" for i in range(3)))
    run("modalplace", "places.csv", "three.h5", "b.h5")
    run("modalsim", "three.h5", "f.h5", "--duration", 0.02, "--fps", 100, "--initial", "0=0.001")
    put("three.json", '{"look": 1, "materials": {"red paint": {}, "leaf": {"image": "leaf.png", "wrap": "clamp", "alpha": "blend", "opacity": 0.5}}, '
        '"objects": [{"object": 1, "tint": [0.5, 1, 1]}]}')
    run("modaldeform", "f.h5", "three", "--format", "obj", "--look", "three.json")
    with open("three/sequence.mtl") as f:
        text = f.read()
    must([line[7:] for line in text.split("\n") if line.startswith("newmtl")] == ["red paint", "leaf", "red paint 2", "leaf 2"], text)
    must("map_Kd -clamp on ../leaf.png\nmap_d -clamp on ../leaf.png\n" in text and "d 0.5\n" in text and "Kd 0.5 1 1\n" in text, text)
    with open("three/obj/000000.obj") as f:
        must(sum(line.startswith("vt ") for line in f) == len(vt), "texture coordinates of a shape are there for each object")


def wedge_normals(triangles, rest, x, degrees):
    """[triangles, 3, 3]: of each corner the area-weighted normal of the triangles at its vertex that edges lead to which are no creases at rest."""
    def cross(p):
        return np.cross(p[triangles[:, 1]] - p[triangles[:, 0]], p[triangles[:, 2]] - p[triangles[:, 0]])

    at_rest, now = cross(rest), cross(x)
    unit = at_rest / np.linalg.norm(at_rest, axis=1)[:, None]
    edges, found = {}, np.zeros((len(triangles), 3, 3))
    for t, corners in enumerate(triangles):
        for k in range(3):
            edges.setdefault(frozenset((corners[k], corners[k - 1])), []).append(t)
    smooth = {e: t for e, t in edges.items() if len(t) == 2 and unit[t[0]] @ unit[t[1]] >= np.cos(np.radians(degrees)) - 1e-9}
    for t, corners in enumerate(triangles):
        for k, vertex in enumerate(corners):
            group, open_ = {t}, [t]
            while open_:
                for other in triangles[(last := open_.pop())]:
                    for u in smooth.get(frozenset((vertex, other)), ()) if other != vertex else ():
                        if last in smooth[frozenset((vertex, other))] and u not in group:
                            group.add(u)
                            open_.append(u)
            found[t, k] = now[sorted(group)].sum(0)
    return found / np.linalg.norm(found, axis=2)[..., None]


def check_creases(trajectory, degrees, frames):
    run("modaldeform", trajectory, "o", "-f", "--format", "glb,obj", "--crease", degrees)
    must("a sound output" in run("modalinfo", "o", "--check").stdout, "modalinfo")
    read = lambda i, keyword: np.array([line.split()[1:] for line in open(f"o/obj/{i:06}.obj") if line.startswith(keyword + " ")])
    rest = read(0, "v").astype(float)
    faces = np.array([[w.split("/") for w in line] for line in read(0, "f").tolist()])
    triangles, normals_at = faces[..., 0].astype(int) - 1, faces[..., 2].astype(int) - 1
    worst = 0
    for i in frames:
        x, normals = read(i, "v").astype(float), read(i, "vn").astype(float)
        wanted = wedge_normals(triangles, rest, x, degrees)
        worst = max(worst, np.abs(normals[normals_at] - wanted).max())
    must(worst <= 2e-5, trajectory, degrees, "normals in obj are off by", worst)  # text of float32 positions
    d, array, view = read_glb("o/sequence.glb")
    mesh = d["meshes"][0]["primitives"][0]
    base, normals = (array(mesh["attributes"][name]).astype(float) for name in ("POSITION", "NORMAL"))
    corners = array(mesh["indices"]).reshape(-1, 3)
    weights = array(next(s["output"] for s, c in zip(d["animations"][0]["samplers"], d["animations"][0]["channels"])
                         if c["target"]["path"] == "weights")).reshape(-1, len(mesh["targets"]))
    for t, w in zip(mesh["targets"], weights[0]):
        base, normals = base + w * array(t["POSITION"]), normals + w * array(t["NORMAL"])
    must(np.abs(base[corners] - rest[triangles]).max() <= 1e-5, "positions in glb")
    normals = normals[corners] / np.linalg.norm(normals[corners], axis=2)[..., None]
    wanted = wedge_normals(triangles, rest, rest, degrees)
    must(np.abs(normals - wanted).max() <= 1e-4, trajectory, degrees, "normals in glb are off by", np.abs(normals - wanted).max())
    return len(read(0, "vn")), len(base), len(rest)


def part_creases():
    write_box("cube", n=1, materials=False)
    run("modalpack", "cube.node", "cube.h5", "--surface", "cube.obj", "--modes", 3, *RUBBER)
    run("modalsim", "cube.h5", "c.h5", "--duration", 0.1, "--fps", 100, "--impulse", "1,0,0:0,0.001,0")
    must(check_creases("c.h5", 40, (0, 3, 10)) == (24, 24, 8), "a box of six sides has three normals a corner")
    must(check_creases("c.h5", 90, (0, 3)) == (8, 8, 8), "at 90 degrees an edge of 90 degrees is none")
    run("modalpack", os.path.join(repository, "data/tuning_fork.msh"), "fork.h5", "--material", "steel", "--fixed", "stem_end", "--modes", 2)
    run("modalsim", "fork.h5", "f.h5", "--duration", 0.02, "--fps", 100, "--initial", "0=0.0001")
    wedges, split, vertices = check_creases("f.h5", 40, (0, 2))
    must(wedges == split > vertices, "a fork has edges:", wedges, split, vertices)
    must(check_creases("f.h5", 180, (0,)) == (vertices,) * 3, "no edge is sharper than 180 degrees")
    # seams of uv and creases at once
    paint_box()
    run("modaldeform", "t.h5", "both", "--format", "glb,obj", "--look", "box.obj", "--crease", 40, "--order", "stored")
    d, array, view = read_glb("both/sequence.glb")
    attributes = d["meshes"][0]["primitives"][0]["attributes"]
    rows = np.concatenate([array(attributes[name]) for name in ("POSITION", "NORMAL", "TEXCOORD_0")], 1)
    must(len(np.unique(np.rint(1e4 * rows), axis=0)) == len(rows) > 40, "vertices that are the same, or no split:", len(rows))
    for words, says in ((("--format", "ply"), "--crease: only glb and obj split vertices, --format ply"),
                        (("--format", "glb", "--normals", "none"), "--crease: there are no normals"),
                        (("--format", "obj", "--normals", "rigid"), "--crease: obj has normals of the deformed surface, --normals rigid")):
        run("modaldeform", "t.h5", "w", "--crease", 40, *words, code=2, says=says)
    run("modaldeform", "t.h5", "w", "--format", "glb", "--crease", 181, code=2, says="--crease")
    run("modaldeform", "t.h5", "rigid", "--format", "glb", "--crease", 40, "--normals", "rigid")


def refuse_looks():
    def refused(change, says, code=3, *words):
        look = {"look": 1, "materials": {"red paint": {}, "leaf": {"image": "leaf.png"}}}
        change(look)
        with open("w.json", "w") as f:
            json.dump(look, f)
        run("modaldeform", "t.h5", "w", "--format", "glb", "--look", "w.json", *words, code=code, says=says)
        must(not os.path.exists("w"), "w is there")

    refused(lambda k: k["materials"].pop("leaf"), ": no material for the name leaf, and no default")
    refused(lambda k: k["materials"]["leaf"].update(image="gone.png"), "gone.png: cannot open")
    refused(lambda k: k["materials"]["leaf"].update(image="box.obj"), "box.obj: neither a PNG nor a JPEG")
    refused(lambda k: k.update(objects=[{"object": 1}]), "w.json: objects: there are objects 0 .. 0, 1")
    refused(lambda k: k.update(shapes=[{"shape": 0, "runs": [{"first": 30, "count": 7, "material": "leaf"}]}]), "shape 0 has 36 triangles, 37")
    refused(lambda k: k.update(colour=1), "w.json:1: /colour: unknown key")
    with open("leaf.png", "rb") as f, open(os.path.join(repository, "tests/files/images/good-colours.jpg"), "rb") as g:
        whole = {"whole.png": f.read(), "whole.jpg": g.read()}
    for name, body in whole.items():
        kept = os.path.join("images_cut", name)
        os.makedirs("images_cut", exist_ok=True)
        put("images_cut/l.json", json.dumps({"look": 1, "materials": {"a": {"image": name}}, "default": "a", "shapes": [
            {"shape": 0, "names": {"red paint": "a", "leaf": "a"}}]}))
        for cut in (len(body), len(body) - 1, len(body) // 2, 8):
            with open(kept, "wb") as f:
                f.write(body[:cut])
            for words in (("modaldeform", "t.h5", "w", "--format", "glb"), ("modalview", "t.h5", "w.html")):
                run(*words, "--look", "images_cut/l.json", code=0 if cut == len(body) else 3, says="" if cut == len(body) else name)
                must(os.path.exists(words[2]) == (cut == len(body)), words, cut)
                shutil.rmtree("w", ignore_errors=True)
                os.path.exists("w.html") and os.remove("w.html")
        with open(kept, "wb") as f:
            f.write(body + b"\0" * 100) # more behind the end is another matter
        run("modaldeform", "t.h5", "w", "--format", "glb", "--look", "images_cut/l.json")
        shutil.rmtree("w")
    run("modaldeform", "t.h5", "w", "--look", "box.obj", "--format", "ply,pc2", code=2, says="--look: only glb, obj and vtkhdf have room for it")
    run("modaldeform", "t.h5", "w", "--any-path", "--format", "glb", code=2, says="--any-path: only with --look")
    # uv outside of [0, 1], and no uv at all
    with open("box.obj") as f:
        text = f.read()
    put("wide.obj", text.replace("vt 1.0 1.0", "vt 1.5 1.0"))
    put("bare.obj", "\n".join(" ".join(w.split("/")[0] for w in line.split()) for line in text.replace("box.mtl", "").split("\n")
                              if not line.startswith("vt")) + "\n")
    for name in ("wide", "bare"):
        run("modalpack", "box.node", f"{name}.h5", "--surface", f"{name}.obj", "--modes", 3, *RUBBER)
        run("modalsim", f"{name}.h5", f"{name}_t.h5", "--duration", 0.1, "--fps", 100, "--initial", "0=0.001")
    put("none.json", '{"look": 1, "materials": {"red paint": {}, "leaf": {"image": "leaf.png", "wrap": "none"}}}')
    run("modaldeform", "wide_t.h5", "w", "--format", "glb", "--look", "none.json", code=3, says="has wrap none, and shape 0, triangle")
    run("modaldeform", "t.h5", "w1", "--format", "glb", "--look", "none.json")
    run("modaldeform", "bare_t.h5", "w", "--format", "glb", "--look", "none.json", code=3,
        says="material leaf has an image, and shape 0 (solid) has no texture coordinates")


def client_files():
    paint_box()
    run("modaldeform", "t.h5", "o", "--format", "glb", "--look", "box.obj")


def part_blender(program):
    """The same materials on the same faces, and the same base colours, as Blender's own import of the .obj; with creases each corner of the box has
    the normal of its face."""
    client_files()
    run("modaldeform", "t.h5", "creased", "--format", "glb", "--look", "box.obj", "--crease", 40, "--normals", "rigid")
    script = os.path.join(repository, "tests/clients/look_in_blender.py")
    got = subprocess.run([program, "--background", "--factory-startup", "--python-exit-code", "1", "--python", script, "--", "box.obj",
                          "o/sequence.glb", "found.npz", "creased/sequence.glb"], capture_output=True, text=True, timeout=200)
    must(got.returncode == 0 and os.path.exists("found.npz"), got.stdout[-2000:], got.stderr[-2000:])
    with np.load("found.npz") as f:
        must(f["normals_off"] <= 2e-3, "normals of corners are off by", f["normals_off"]) # Blender keeps them in 16 bits
        must(len(f["obj_faces"]) == 36 and np.abs(f["obj_faces"] - f["glb_faces"]).max() <= 2e-4, "faces")
        must((f["obj_materials"] == f["glb_materials"]).all() and len(set(f["glb_materials"])) == 2, "materials", f["glb_materials"])
        a, b = f["obj_picture"][..., :3], f["glb_picture"][..., :3]
    psnr = -10 * np.log10(max(((a - b) ** 2).mean(), 1e-30))
    must(a.std() > 0.05, "nothing is seen")
    print(f"check_look: base colours as Blender's own import of the .obj has them, PSNR {psnr:.1f} dB")
    must(psnr >= 40, "PSNR", psnr)


def part_gltf_validator(program):
    client_files()
    script = ("const v = require(process.argv[1]), fs = require('fs');"
              "v.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2]))).then(r => console.log(JSON.stringify(r)))")
    look = {"look": 1, "materials": {"red paint": {"diffuse": [1, 0.5, 0], "alpha": "blend", "opacity": 0.5},
                                     "leaf": {"image": "leaf.png", "normal_image": "n.png", "wrap": "clamp", "alpha": "cutout", "two_sided": True}},
            "objects": [{"object": 0, "tint": [0.5, 1, 1]}]}
    put("all.json", json.dumps(look))
    for words in (("box.obj",), ("box.obj", "--normals", "dynamic"), ("box.obj", "--crease", 40), ("all.json", "--crease", 40, "--normals", "dynamic")):
        run("modaldeform", "t.h5", "o", "-f", "--format", "glb", "--look", *words)
        got = subprocess.run(["node", "-e", script, program, "o/sequence.glb"], capture_output=True, text=True, timeout=100)
        must(got.returncode == 0, got.stderr)
        issues = json.loads(got.stdout)["issues"]
        # viewers make the tangents of a normal image, which the validator warns of
        warnings = [m for m in issues["messages"] if m["severity"] == 1 and m["code"] != "MESH_PRIMITIVE_GENERATED_TANGENT_SPACE"]
        must(issues["numErrors"] == 0 and not warnings and (words[0] == "all.json" or issues["numWarnings"] == 0), issues["messages"][:5])


if __name__ == "__main__":
    client = sys.argv[4:]
    if client and not (shutil.which(client[0]) or os.path.isdir(client[0])):
        print(f"check_look: no {sys.argv[3]} here; ./run clients installs it")
        sys.exit(77)
    client = [os.path.abspath(client[0])] if client and os.path.isdir(client[0]) else client
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        globals()[f"part_{sys.argv[3]}".replace("-", "_")](*client)
    print(f"check_look: {sys.argv[3]} sound")
