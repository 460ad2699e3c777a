# SPDX-License-Identifier: Apache-2.0
"""textures.h5 as a look, and for the images of a look: the bytes that the same images as PNG files give, in modalrender, modaldeform, modalview and
modaltex pack; what is refused.
usage: check_look_packed.py BIN_FOLDER REPOSITORY packed"""
import filecmp
import json
import os
import shutil

import h5py
import numpy as np

import images
import looks
from looks import put
from tool_run import must, run


def same(a, b):
    must(filecmp.cmp(a, b, shallow=False), f"{a} and {b} differ")


def make_look():
    """Images as the tools themselves encode them, so that copies are the same bytes: an opaque one, a cut-out, normals, sizes that are odd."""
    random = np.random.default_rng(7)
    leaf = np.kron(random.integers(0, 256, (9, 7, 4)), np.ones((5, 5, 1))).astype("u1")
    leaf[..., 3] = np.where(random.random(leaf.shape[:2]) < 0.7, 230, 20)
    raw = {"raw_leaf.png": leaf, "raw_paint.png": random.integers(0, 256, (16, 32, 3)).astype("u1"),
           "raw_n.png": np.dstack([random.integers(100, 156, (16, 32, 2)), np.full((16, 32), 250)]).astype("u1")}
    for name, texels in raw.items():
        images.write_png(name, texels)
    write = lambda name, leaf, paint, normals: put(name, json.dumps({"look": 1, "materials": {
        "leaf": {"image": leaf, "alpha": "cutout", "cutoff": 0.4, "two_sided": True, "wrap": "mirror"},
        "red paint": {"diffuse": [0.4, 0.3, 0.7], "specular": [0.1, 0.2, 0.3], "shininess": 31.7, "opacity": 0.9, "image": paint,
                      "normal_image": normals}}}))
    write("raw.json", "raw_leaf.png", "raw_paint.png", "raw_n.png")
    run("modaltex", "pack", "raw.json", "raw.h5", "-f", "-q")
    run("modaldeform", "t.h5", "raw_out", "--format", "glb", "--look", "raw.h5", "-f", "-q")
    os.makedirs("own", exist_ok=True)
    run("modaltex", "look", "raw_out/sequence.glb", "own/look.json", "-f", "-q")
    made = json.load(open("own/look.json"))["materials"]
    names = made["leaf"]["image"], made["red paint"]["image"], made["red paint"]["normal_image"]
    for name, texels in zip(names, raw.values()):
        must(np.array_equal(images.read_png(f"own/{name}"), texels), f"{name}: texels are not those of level 0")
    write("own/look.json", *names)
    write("own/inside.json", "t.h5", "t.h5", "t.h5")
    write("own/named.json", *(f"t.h5/{name}" for name in names))


def outputs(name, look):
    run("modalrender", "t.h5", f"{name}_r", "--look", look, "--frames", "0:2", "--size", "160x120", "--samples", 4, "-f", "-q")
    run("modaldeform", "t.h5", f"{name}_d", "--format", "glb", "--look", look, "-f", "-q")
    run("modalview", "t.h5", f"{name}.html", "--look", look, "-f", "-q")


def part_packed():
    looks.paint_box()
    make_look()
    run("modaltex", "pack", "own/look.json", "own/t.h5", "-f", "-q")
    run("modaltex", "pack", "own/look.json", "own/thesis.h5", "--layout", "thesis", "-f", "-q")
    outputs("png", "own/look.json")
    for look in ("t.h5", "thesis.h5"):
        outputs(look, f"own/{look}")
        run("modaltex", "pack", f"own/{look}", "again.h5", "-f", "-q")
        same("again.h5", "own/t.h5")
        same("png_d/sequence.glb", f"{look}_d/sequence.glb")
        same("png.html", f"{look}.html")
    for look in ("inside.json", "named.json"):
        run("modalrender", "t.h5", f"{look}_r", "--look", f"own/{look}", "--frames", "0:2", "--size", "160x120", "--samples", 4, "-f", "-q")
        run("modaldeform", "t.h5", f"{look}_d", "--format", "glb", "--look", f"own/{look}", "-f", "-q")
        run("modalview", "t.h5", f"{look}.html", "--look", f"own/{look}", "-f", "-q")
    for look in ("t.h5", "thesis.h5", "inside.json", "named.json"):
        for frame in ("000000.png", "000001.png"):
            same(f"png_r/png/{frame}", f"{look}_r/png/{frame}")
    check_levels()
    refuse()


def check_levels():
    """Levels are read where they are the image's, in its role and cut-out; else they are made anew of level 0."""
    look = json.load(open("own/named.json"))
    look["materials"]["leaf"]["cutoff"] = 0.6
    put("own/other.json", json.dumps(look))
    run("modaltex", "pack", "own/other.json", "own/other.h5", "-f", "-q")
    look = json.load(open("own/look.json"))
    look["materials"]["leaf"]["cutoff"] = 0.6
    put("own/plain.json", json.dumps(look))
    run("modaltex", "pack", "own/plain.json", "own/plain.h5", "-f", "-q")
    with h5py.File("own/other.h5") as a, h5py.File("own/plain.h5") as b:
        names = []
        b["classes"].visititems(lambda name, thing: names.append(name) if isinstance(thing, h5py.Dataset) else None)
        must(names and all((a["classes"][name][:] == b["classes"][name][:]).all() for name in names), "levels of another cut-out")
    shutil.copy("own/t.h5", "own/far.h5")
    with h5py.File("own/far.h5", "r+") as f:
        for group in f["classes"].values():
            for name, level in group.items():
                if name != "level_00":
                    level[...] = 255 - level[...]
    run("modalrender", "t.h5", "far_r", "--look", "own/far.h5", "--frames", "0", "--size", "40x30", "-f", "-q")
    run("modalrender", "t.h5", "near_r", "--look", "own/t.h5", "--frames", "0", "--size", "40x30", "-f", "-q")
    must((images.read_png("far_r/png/000000.png") != images.read_png("near_r/png/000000.png")).any(), "the packed levels are not read")


def refuse():
    tools = (("modalrender", "x_r"), ("modaldeform", "x_d"), ("modalview", "x.html"))

    def all_refuse(look, says):
        for tool, out in tools:
            run(tool, "t.h5", out, *(["--format", "glb"] if tool == "modaldeform" else []), "--look", look, "-f", code=3, says=says)
            must(not os.path.exists(out), f"{tool} left {out}")

    def damaged(change, says):
        shutil.copy("own/t.h5", "bad.h5")
        with h5py.File("bad.h5", "r+") as f:
            change(f)
        all_refuse("bad.h5", says)

    damaged(lambda f: f["materials/images"].__setitem__((0, 0), 9), "/materials/images")
    damaged(lambda f: f["materials/values"].__setitem__((0, 0, 0), np.nan), "/materials/values")
    damaged(lambda f: f["materials/values"].__setitem__((1, 1, 1), -2), "outside of the ranges")
    damaged(lambda f: f["images/layer"].__setitem__(0, 7), "/images/layer")
    damaged(lambda f: f["images/class"].__setitem__(0, -1), "/images/class")
    damaged(lambda f: f.__delitem__("classes/0000/level_01"), "level_01")

    def rename(f):
        names = bytes(f["images/names"][:]).replace(b".png", b"x.h5", 1)
        f["images/names"][:] = np.frombuffer(names, "u1")
    damaged(rename, "no name of an image")
    with open("own/t.h5", "rb") as f, open("cut.h5", "wb") as g:
        g.write(f.read()[:5000])
    all_refuse("cut.h5", "cut.h5")
    all_refuse("b.h5", "this is a basis")
    look = json.load(open("own/look.json"))
    for image, says in (("t.h5/absent.png", "has no image of that name"), ("../b.h5", "inside of the look's folder")):
        look["materials"]["leaf"]["image"] = image
        put("own/bad.json", json.dumps(look))
        all_refuse("own/bad.json", says)
    look["materials"]["leaf"]["image"] = ""
    look["materials"]["leaf"]["normal_image"] = "t.h5"
    put("own/bad.json", json.dumps(look))
    all_refuse("own/bad.json", "no normals of a material of that name")
    run("modaltex", "look", "own/t.h5", "x.json", code=2, says="packed")
    run("modaldeform", "t.h5", "x_d", "--format", "obj", "--look", "own/t.h5", code=3, says="packed in")
    run("modalrender", "t.h5", "own/t.h5", "--look", "own/t.h5", "-f", code=2)


if __name__ == "__main__":
    looks.main(globals())
