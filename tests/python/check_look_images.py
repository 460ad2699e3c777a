# SPDX-License-Identifier: Apache-2.0
"""modaltex pack: kinds of PNG and JPEG, mip levels by formats/textures.md, layouts; what is refused; modalinfo of the file.
usage: check_look_images.py BIN_FOLDER REPOSITORY images"""
import json
import os
import shutil
import struct
import subprocess
import zlib

import h5py
import numpy as np

import images
import looks
from damage import replaced
from looks import levels, repository, sound, validate
from tool_run import binaries, must, run


def pack(*words, materials, code=0, says=""):
    with open("i.json", "w") as f:
        json.dump({"look": 1, "materials": materials}, f)
    return run("modaltex", "pack", "i.json", "i.h5", "-f", *words, code=code, says=says)


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
    check_limits()
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
    leaf[..., 3] = 255 * ((np.indices((64, 64)) // 16).sum(0) % 2)  # levels 1 to 4 of blocks have alpha 0 and 255 alone
    images.write_png("leaf.png", leaf)
    pack(materials={"blocks": {"image": "leaf.png", "alpha": "cutout", "cutoff": 0.5}})
    for level in levels(0)[1:5]:
        must(set(np.unique(level[..., 3])) == {0, 255}, "blocks shrink for look-ups between texels", np.unique(level[..., 3]))


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


def check_limits():
    """--memory-limit: fewer threads at once, the same bytes; images that do not fit are refused by the sizes in their heads, before they are decoded."""
    materials = {f"m{i}": {"image": f"s{i}.png"} for i in range(4)}
    for i in range(4):
        images.write_png(f"s{i}.png", np.full((1000, 1000, 3), 50 * i, "u1"))
    pack("-j4", materials=materials)
    with open("i.h5", "rb") as f:
        whole = f.read()
    pack("-j4", "--memory-limit", "8M", materials=materials)  # of one image with its levels, not of four
    with open("i.h5", "rb") as f:
        must(f.read() == whole, "bytes depend on the limit")
    os.remove("i.h5")
    pack("-j4", "--memory-limit", "4M", materials=materials, code=4, says="--memory-limit: the images of the look need ")
    # 16 KB that are 512 MB of texels
    packer = zlib.compressobj(9)
    rows = b"".join(packer.compress(bytes(2049 * 64)) for _ in range(128)) + packer.flush()
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    with open("large.png", "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16384, 8192, 1, 0, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    must(os.path.getsize("large.png") < 20000, os.path.getsize("large.png"))
    looks.paint_box()
    with open("i.json", "w") as f:
        json.dump({"look": 1, "materials": {"a": {"image": "large.png"}}, "default": "a"}, f)
    for words in (["modaltex", "pack", "i.json", "i.h5"], ["modalrender", "t.h5", "pictures", "--look", "i.json", "--size", "64x64"]):
        process = subprocess.Popen([f"{binaries}/{words[0]}", *words[1:], "--memory-limit", "200M"], stderr=subprocess.PIPE)
        said = process.stderr.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        must(os.waitstatus_to_exitcode(status) == 4 and "large.png of 16384 x 8192 texels" in said and said.count("\n") == 1, words, status, said)
        must(usage.ru_maxrss < 200 << 10, words, usage.ru_maxrss, "KB to refuse 200M")
        must(not os.path.exists("i.h5") and not os.path.exists("pictures"), words, "something is left")


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
    for name, materials in (("pipe.png", {"a": {"image": "pipe.png"}}), ("pipe.mtl", None)):
        os.mkfifo(name)
        if materials:
            pack(materials=materials, code=3, says="pipe.png: not a regular file")
        with open("pipe.obj", "w") as f:
            f.write("mtllib pipe.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n")
        if not materials:
            run("modaltex", "look", "pipe.obj", "pipe.json", code=3, says="pipe.mtl: not a regular file")
        os.remove(name)
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

    def put(path, at, value):
        return lambda f: f[path].__setitem__(at, value)

    broken(lambda f: f.attrs.__setitem__("layout", "other"), '/@layout: must be classes or thesis, is "other"')
    broken(put("materials/values", (1, 3, 1), 3), "/materials/values: material 1, number 13: must be 0 to 2, 3")
    broken(put("materials/values", (0, 0, 0), np.nan), "/materials/values: material 0, number 0")
    broken(put("materials/images", (0, 0), 3), "/materials/images: row 0: outside [-1, 3), 3")
    broken(put("materials/images", (0, 0), 2), "/materials/images: material 0: image 2 has another role")
    broken(replaced("materials/names", np.frombuffer(b"a\nb\n", "u1")), "/materials/names: 2 names of 3")
    broken(replaced("images/names", np.frombuffer(b"a\n\nb\n", "u1")), "/images/names: byte 2")
    broken(put("images/role", 0, 2), "/images/role: image 0: neither 0 nor 1, 2")
    broken(put("images/cutoff", 1, 2), "/images/cutoff: image 1: neither -1 nor 0 to 1, 2")
    broken(put("images/scale", (1, 1), 0.5), "/images/scale: image 1: not what the layout has, 0.5")
    broken(put("images/class", 1, 2), "/images/class: image 1: there are 2 classes, 2")
    broken(put("images/layer", 1, 1), "/images/layer: image 2: layer 1 is not there, or another's")
    broken(put("images/layer", 1, -1), "/images/layer: image 1: layer -1 is not there, or another's")
    broken(lambda f: f.__delitem__("classes/0001/level_02"), "/classes/0001/level_02: missing")
    broken(replaced("classes/0001/level_01", np.zeros((2, 2, 2, 4), "u1")), "/classes/0001/level_01: shape must be [2, 1, 2, 4]")
    broken(lambda f: f.__setitem__("classes/0001/level_03", np.zeros((2, 1, 1, 4), "u1")), "has a level after that of one texel, level_03")
    broken(replaced("classes/0001/level_00", np.zeros((3, 2, 4, 4), "u1")), "/classes/0001/level_01: shape must be [3, 1, 2, 4]")
    broken(replaced("classes/0001/level_00", np.zeros((0, 2, 4, 4), "u1")), "must be 1 to 2048 layers")
    got = validate(bad, 1)
    must(": valid" not in got and all(f"{name}: /" in got for name in bad), "the validator takes one of these:", got)
    with open("i.h5", "rb") as f:
        whole = f.read()
    with open("cut.h5", "wb") as f:
        f.write(whole[:len(whole) // 2])
    run("modalinfo", "cut.h5", code=3, says="cut.h5")


if __name__ == "__main__":
    looks.main(globals())
