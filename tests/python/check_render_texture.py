# SPDX-License-Identifier: Apache-2.0
"""Octree textures in pictures, as large as the pixel. usage: check_render_texture.py BIN_FOLDER REPOSITORY [--all]
Without --all a coarser tree of nodes of 2, one distance for nodes of 8 and one way to draw what is blended.
modalrender: levels by the pixel's footprint, beside the mip levels of the file and modaltex sample; cut-outs; an octree texture with an image of it
(--texture), what of the samples took which; what is refused."""
import json
import os
import sys
import tempfile

import h5py
import numpy as np

from check_texture import colours, look, samples_of, write_points
from looks import RUBBER, paint_box, put, write_box
from tool_run import must, run

everything = "--all" in sys.argv
SIZE = (160, 120)
FOV = 0.7


def linear(c):
    return np.where(c <= 10.3, c / 255 / 12.92, ((c / 255 + 0.055) / 1.055) ** 2.4)


def srgb(c):
    return 255 * np.where(c <= 0.0031308, 12.92 * c, 1.055 * np.maximum(c, 1e-9) ** (1 / 2.4) - 0.055)


def drawn(source, material, *words, camera, more=None, size=SIZE, samples=1, **others):
    """A picture's buffers, and what its report says of textures."""
    look("r.json", material, more, cameras=[{"up": [0, 0, 1], "fov": FOV, **camera}], **others)
    run("modalrender", source, "r", "-f", "-q", "--look", "r.json", "--size", f"{size[0]}x{size[1]}", "--samples", samples, "--buffers",
        "colour,position,normal,triangle,object", "--report", "report.json", "--frames", 0, *words)
    with open("report.json") as f:
        report = json.load(f)
    return {k: np.load(f"r/{k}/000000.npy") for k in ("colour", "position", "normal", "triangle", "object")}, report.get("texture_samples")


def paint(name, layer, resolution, *words, n=2):
    run("modaltex", "build", "b.h5", "_.h5", "--resolution", resolution, "--n", n, "-f", *words)
    put("_.json", json.dumps({"layers": [layer]}))
    run("modaltex", "paint", "_.h5", "_.json", name, "-f")


def cell(name):
    with h5py.File(name) as f:
        return f["tree"].attrs["size"] / f["tree"].attrs["n"] ** f["tree"].attrs["depth"]


def levels():
    # a checker at a grazing angle, pixels of up to 15 cells: its mean stays, and nothing of it is seen one by one
    paint("checker.h5", {"kind": "checker", "from": [1, 1, 1], "to": [0, 0, 0], "scale": 0.008}, 512)
    for eye, most in (([-0.8, 0.1, 0.5], 0.1), ([-2, 0.1, 0.6], 0.02), ([-3, 0.1, 0.45], 0.01)):
        camera = {"eye": eye, "target": [0.5, 0.1, 0.2], "fov": 0.35}
        p, counts = drawn("b.h5", {"image": "checker.h5"}, camera=camera, size=(320, 240))
        top = (p["triangle"] >= 0) & (p["position"][:, :, 2] > 0.199) & (p["position"][:, :, 0] > 0.02) & (p["position"][:, :, 0] < 0.98)
        grey = p["colour"][top][:, 0]
        must(top.sum() > 500, "the picture shows", top.sum())
        must(abs(grey.mean() / 0.5 - 1) < 0.01, "a checker's mean at a grazing angle", grey.mean(), camera)
        must(np.abs(grey - 0.5).max() < most, "single fields are seen", np.abs(grey - 0.5).max(), camera)
        must(counts == {"image": 0, "octree": int((p["triangle"] >= 0).sum()), "atlas": 0, "outside": 0}, counts)
    # so far away that all of it is less than a pixel: the mean of all of it, which the file has
    with h5py.File("checker.h5") as f:
        whole = f["mipmaps/00"][0]
    p, _ = drawn("b.h5", {"image": "checker.h5"}, camera={"eye": [0.5, -300, 0.1], "target": [0.502, 0.1, 0.102], "fov": 0.02}, size=(5, 5))
    seen = p["triangle"] >= 0
    must(seen.any(), "nothing is seen")
    must(np.abs(p["colour"][seen] - linear(whole[:3].astype(float))).max() < 2e-6, "far away", p["colour"][seen], linear(whole[:3].astype(float)))
    # what faces the eye has one footprint: modaltex sample says what is seen there; trees of wider nodes, and what is between their levels
    for n, resolution in ((2, 512 if everything else 256), (4, 256), (8, 512)):
        name = f"noise{n}.h5"
        paint(name, {"kind": "noise", "from": [0.55, 0.5, 0.6], "to": [0.7, 0.62, 0.48], "scale": 0.03, "seed": 3}, resolution, n=n)
        for distance in (0.15, 0.9, 2.3) if everything or n < 8 else (0.9,):
            p, _ = drawn("b.h5", {"image": name}, camera={"eye": [0.5, -distance, 0.1], "target": [0.5, 0, 0.1]})
            seen = (p["triangle"] >= 0) & (np.abs(p["position"][:, :, 1]) < 1e-5)
            footprint = 2 * distance * np.tan(FOV / 2) / SIZE[1]
            k = write_points("points.ply", p["position"][seen])
            run("modaltex", "sample", name, "points.ply", "v.ply", "-f", "--footprint", max(footprint, cell(name)))
            want, off = colours("v.ply")[0], None
            off = np.abs(srgb(p["colour"][seen][:k]) - want[:, :3]).max()
            must(k > 300 and off < 1.1, name, distance, "colours are off by", off, "of 255")
            run("modaltex", "sample", name, "points.ply", "v.ply", "-f")
            fine = np.abs(srgb(p["colour"][seen][:k]) - colours("v.ply")[0][:, :3]).max()
            must(footprint < 1.5 * cell(name) or fine > 4, name, distance, "the footprint changes nothing", fine)
    # a file without levels: they are made
    with open("checker.h5", "rb") as f, open("bare.h5", "wb") as g:
        g.write(f.read())
    with h5py.File("bare.h5", "r+") as f:
        del f["mipmaps"]
    camera = {"eye": [-2, 0.1, 0.6], "target": [0.5, 0.1, 0.2]}
    must((drawn("b.h5", {"image": "bare.h5"}, camera=camera)[0]["colour"] == drawn("b.h5", {"image": "checker.h5"}, camera=camera)[0]["colour"]).all(),
         "levels that are made are others than the file's")
    for j in (1, 3):
        run("modalrender", "b.h5", f"j{j}", "-f", "-q", "--look", "r.json", "--size", "160x120", "-j", j)
    with open("j1/png/000000.png", "rb") as f, open("j3/png/000000.png", "rb") as g:
        must(f.read() == g.read(), "threads differ")


def normals():
    """rgba8 and float3 say the same; far away the mean, not one of the waves."""
    run("modaltex", "build", "b.h5", "n3.h5", "--resolution", 512, "--channels", "float3", "-f")
    run("modaltex", "build", "b.h5", "n8.h5", "--resolution", 512, "-f")
    with h5py.File("n3.h5", "r+") as f, h5py.File("n8.h5", "r+") as g:
        k, size, origin = f["samples/key"][:], f["tree"].attrs["size"], f["tree/origin"][:]
        bits = lambda axis: sum(((k >> (3 * i + axis)) & 1) << i for i in range(20))
        x = origin[0] + bits(0) * size / 512
        n = np.stack([0.6 * np.sin(x * 2 * np.pi / 0.02), np.full(len(x), -0.3), np.ones(len(x))], 1)
        n /= np.linalg.norm(n, axis=1)[:, None]
        packed = np.column_stack([128 + 127 * n, np.full(len(n), 255)])
        f["samples/values"][:] = n
        g["samples/values"][:] = np.rint(packed)
        mean = n.mean(0)
        del f["mipmaps"], g["mipmaps"]
        f.attrs["content"] = g.attrs["content"] = np.bytes_("normals")
    camera = {"eye": [0.5, 0.1, 3], "target": [0.5, 0.1, 0], "up": [0, 1, 0]}
    got = [drawn("b.h5", {"normal_image": name}, camera=camera)[0] for name in ("n3.h5", "n8.h5")]
    seen = got[0]["triangle"] >= 0
    must(np.abs(got[0]["normal"][seen] - got[1]["normal"][seen]).max() < 0.01, "rgba8 and float3", np.abs(got[0]["normal"][seen] - got[1]["normal"][seen]).max())
    inside = seen & (np.abs(got[0]["position"][:, :, 0] - 0.5) < 0.45) & (np.abs(got[0]["position"][:, :, 1] - 0.1) < 0.06)
    off = np.abs(got[0]["normal"][inside] - mean / np.linalg.norm(mean)).max()
    must(inside.sum() > 100 and off < 0.2, "waves are seen one by one", off)


def cutouts():
    """Holes where alpha is low: in the picture, in what lies behind, and in the shadow."""
    paint("holes.h5", {"kind": "fill", "value": [0.2, 0.7, 0.3, 1]}, 256)
    with h5py.File("holes.h5", "r+") as f:
        k = f["samples/key"][:]
        bits = lambda axis: sum(((k >> (3 * i + axis)) & 1) << i for i in range(20))
        x = f["tree/origin"][0] + bits(0) * f["tree"].attrs["size"] / 256
        f["samples/values"][:, 3] = np.where(np.abs(x - 0.5) < 0.1, 0, 255)
        del f["mipmaps"]
    camera = {"eye": [0.5, -0.9, 0.9], "target": [0.5, 0.1, 0.1]}
    material = {"image": "holes.h5", "alpha": "cutout", "two_sided": False}
    lit = {"lights": [{"direction": [0, 0, -1], "colour": [1, 1, 1], "shadow": True}], "ground": {"height": -0.1, "material": "floor", "size": 4},
           "more": {"floor": {"ambient": [0, 0, 0], "diffuse": [1, 1, 1]}}, "background": [0, 0, 1]}
    for alpha in ("cutout", "blend"):  # of what is blended, alpha decides on shadows
        for words in ((), ("--backend", "ref"), ("--transparency", "two-pass", "--samples", 4))[0 if everything or alpha == "cutout" else 2:]:
            p, counts = drawn("b.h5", {**material, "alpha": alpha}, *words[:2], camera=camera, samples=words[3] if len(words) > 2 else 1, **lit)
            x, y, box = p["position"][:, :, 0], p["position"][:, :, 1], p["object"] == 0
            floor = (p["object"] == -1) & (p["triangle"] < 0) & (p["position"][:, :, 2] < -0.09)
            hole = floor & (np.abs(x - 0.5) < 0.06) & (np.abs(y - 0.1) < 0.08)
            must(hole.sum() > 50, alpha, words, "nothing is cut out", hole.sum())
            must(p["colour"][hole].min() > 0.95, alpha, words, "what is clear throws a shadow", p["colour"][hole].min())
            if alpha == "cutout":
                dark = floor & (np.abs(x - 0.5) < 0.35) & (np.abs(x - 0.5) > 0.15) & (np.abs(y - 0.1) < 0.05)
                must(dark.sum() > 20 and p["colour"][dark].max() < 0.05, words, "what is there throws none", dark.sum())
                must(box.sum() > 300 and 0.09 < np.abs(x[box] - 0.5).min() < 0.11, words, "cut out elsewhere", box.sum(), np.abs(x[box] - 0.5).min())
                must(counts["octree"] >= box.sum() and counts["image"] == counts["outside"] == 0, counts)


def cover():
    """Small leaves, 0.3 of the surface: far away as much of it is seen."""
    with h5py.File("holes.h5", "r+") as f:
        k = f["samples/key"][:]
        leaf = (k >> 9) * np.int64(0x9E3779B97F4A7C15 - 2**64) >> 40 & 255  # cubes of 8 samples a side, alike or not by chance
        f["samples/values"][:, 3] = np.where(leaf < 77, 255, 0)
    with h5py.File("holes.h5") as f:
        share = (f["samples/values"][:, 3] > 127).mean()
    must(0.25 < share < 0.35, share)
    for distance in (0.3, 3, 6):
        camera = {"eye": [0.5 - 0.3 * distance, -distance, 0.1 + 0.3 * distance], "target": [0.5, 0.1, 0.1], "fov": min(0.7, 1.2 / distance)}
        seen = [(drawn("b.h5", {"image": "holes.h5", "alpha": alpha, "two_sided": False}, camera=camera, samples=4)[1]["octree"]) for alpha in ("cutout", "opaque")]
        must(0.6 * share < seen[0] / seen[1] < 1.4 * share, distance, "of the leaves is seen", seen[0] / seen[1], "instead of", share)


def pixels(picture):
    """Lengths of pixels' longer sides on the surface, m; not a number where the neighbours are of other triangles."""
    x, t = picture["position"].astype(float), picture["triangle"]
    longer = np.full(t.shape, np.nan)
    alike = (t[:-1, :-1] >= 0) & (t[:-1, 1:] == t[:-1, :-1]) & (t[1:, :-1] == t[:-1, :-1])
    steps = [np.linalg.norm(np.diff(x, axis=k), axis=2) for k in (0, 1)]
    longer[:-1, :-1] = np.where(alike, np.maximum(steps[0][:, :-1], steps[1][:-1]), np.nan)
    return longer


def atlas():
    """A texture and its image: which is taken, and that they agree."""
    layer = {"kind": "noise", "from": [0.9, 0.1, 0.3], "to": [0.1, 0.8, 0.2], "scale": 0.25, "octaves": 2}
    both = {"image": "baked.png", "octree": "smooth.h5"}
    took, compared = {"octree": 0, "atlas": 0}, 0
    for resolution, side in ((256, 512), (256, 256)):
        paint("smooth.h5", layer, resolution)
        run("modaltex", "bake", "smooth.h5", "b.h5", "baked.png", "--own-charts", "--size", side, "--report", "bake.json", "-f")
        with open("bake.json") as f:
            texel = np.sqrt(0.88 / json.load(f)["charts_area"]) / side  # the box has 0.88 m^2
        run("modalpack", "box.node", "a.h5", "--surface", "baked.obj", "--modes", 3, *RUBBER, "-f")
        for distance in (0.3, 0.9, 1.8):
            camera = {"eye": [0.5 - 0.4 * distance, -0.8 * distance, 0.1 + 0.4 * distance], "target": [0.5, 0.1, 0.1]}
            tree, of_tree = drawn("a.h5", both, "--texture", "octree", camera=camera, size=(320, 240))
            image, of_image = drawn("a.h5", both, "--texture", "atlas", camera=camera, size=(320, 240))
            auto, of_auto = drawn("a.h5", both, camera=camera, size=(320, 240))
            seen, n = tree["triangle"] >= 0, int((tree["triangle"] >= 0).sum())
            must(of_tree == {"image": 0, "octree": n, "atlas": 0, "outside": 0} and of_image is None, of_tree, of_image)
            same = [(auto["colour"][seen] == p["colour"][seen]).all(1) for p in (tree, image)]
            must((same[0] | same[1]).all() and sum(of_auto.values()) == n, "auto is neither", of_auto)
            long = pixels(tree)
            finer = [long[seen] > 1.1 * texel, long[seen] < 0.9 * texel]  # the image's texels are smaller than the pixel, larger
            must(same[1][finer[0]].all() and same[0][finer[1]].all(), "auto takes the other")
            must(finer[0].sum() <= of_auto["atlas"] and finer[1].sum() <= of_auto["octree"], of_auto, finer[0].sum(), finer[1].sum())
            for k in took:
                took[k] += of_auto[k]
            both_resolve = (long < 2 * texel) & (long < 2 * cell("smooth.h5"))
            off = np.abs(srgb(tree["colour"].astype(float)) - srgb(image["colour"].astype(float))).max(2)[both_resolve]
            compared += len(off)
            must(off.max(initial=0) <= 2, "tree and atlas differ by", off.max(initial=0), "of 255", resolution, side, distance)
    must(min(took.values()) > 10000 and compared > 50000, took, compared)
    # the image that the file itself holds, by its own charts: as the image and the charts given beside it
    run("modaltex", "bake", "smooth.h5", "b.h5", "kept.png", "--own-charts", "--size", 256, "--keep", "-f")
    camera = {"eye": [0.3, -0.4, 0.3], "target": [0.5, 0.1, 0.1]}
    given = {"image": "kept.png", "octree": "smooth.h5"}
    for word in ("auto", "octree", "atlas"):
        p, counts = drawn("b.h5", {"image": "smooth.h5"}, "--texture", word, camera=camera)
        q, same = drawn("b.h5", given, "--texture", word, camera=camera, uv=["kept.obj"])
        must((p["colour"] == q["colour"]).all(), word, "the image in the file is another")
        must(word == "atlas" or counts == same, counts, same)
        must(word != "auto" or (counts["atlas"] > 1000 and counts["octree"] > 1000), counts)
    # the surface's own texture coordinates are for another image, which needs them
    look("r.json", {"image": "smooth.h5", "normal_image": "n.png"})
    got = run("modalrender", "b.h5", "r", "-f", "--look", "r.json", "--size", "160x120")
    must("material solid: the image in smooth.h5 is not taken: n.png needs the surface's texture coordinates" in got.stderr, got.stderr)
    run("modalrender", "b.h5", "no", "--look", "r.json", "--texture", "atlas", code=3, says="material solid: --texture atlas: no image of smooth.h5; modaltex bake makes one")
    camera = {"eye": [0.5, -1, 0.1], "target": [0.5, 0.1, 0.1]}
    # an image of other materials is counted as one; both are counted where normals are looked up, too
    paint("bumps.h5", {"kind": "fill", "value": [0.5, 0.5, 1]}, 64)
    with h5py.File("bumps.h5", "r+") as f:
        f.attrs["content"] = np.bytes_("normals")
    p, counts = drawn("a.h5", {"image": "baked.png", "normal_octree": "bumps.h5"}, camera=camera)
    n = (p["triangle"] >= 0).sum()
    must(counts == {"image": n, "octree": n, "atlas": 0, "outside": 0}, counts, n)
    # other programs take the image
    look("r.json", both)
    run("modaldeform", "a.h5", "g", "--modes", 0, "--frames", 0, "--format", "glb", "--look", "r.json", "-f")
    with open("g/sequence.glb", "rb") as f, open("baked.png", "rb") as g:
        must(g.read() in f.read(), "the .glb has not the image")


def refused():
    def no(material, says, *words, code=3):
        look("bad.json", material)
        run("modalrender", "a.h5", "no", "--look", "bad.json", *words, code=code, says=says)

    no({"image": "checker.h5"}, "bad.json: material solid: --texture atlas: no image of checker.h5; modaltex bake makes one", "--texture", "atlas")
    no({"image": "smooth.h5", "octree": "smooth.h5"}, "/materials/solid/octree: beside an octree texture in the image's place, only one of the two")
    no({"normal_octree": "smooth.h5"}, "smooth.h5: colours or numbers, where normals are needed (/@content of octree.h5; modaltex paint --normals makes normals)")
    no({"normal_image": "smooth.h5"}, "smooth.h5: colours or numbers, where normals are needed")
    no({"octree": "n8.h5"}, "n8.h5: normals, where colours are needed")
    no({"octree": "baked.png"}, "/materials/solid/octree: the name of an octree texture, which ends in .h5")
    no({"octree": "../smooth.h5"}, "/materials/solid/octree: a path inside")
    no({"normal_octree": 3}, "/materials/solid/normal_octree: not a text")
    no({"image": "smooth.h5"}, "--texture: none of auto, octree, atlas, both", "--texture", "both", code=2)
    run("modalrender", "a.h5", "no", "--texture", "octree", code=2, says="--texture: only with --look")
    write_box("long", n=5)
    run("modaltex", "build", "long.obj", "long.h5", "--resolution", 32)
    no({"octree": "long.h5", "image": "baked.png"}, "long.h5: built around no surface of the basis, hash ")
    with open("smooth.h5", "rb") as f, open("cut.h5", "wb") as g:
        g.write(f.read())
    with h5py.File("cut.h5", "r+") as f:
        del f["mipmaps/03"]
    no({"image": "cut.h5"}, "cut.h5: /mipmaps/03: missing")
    must(not os.path.exists("no"), "no is there")


def main():
    paint_box()
    levels()
    normals()
    cutouts()
    cover()
    atlas()
    refused()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
    print("octree textures in pictures ok")
