# SPDX-License-Identifier: Apache-2.0
"""modalrender --look on two sheets, one before the other: images, cut-outs, blending, shadows of both, hard edges, what is refused.
usage: check_render_look.py BIN"""
import filecmp
import json
import os

import numpy as np

from images import write_png
from render_tools import check, run

# the front sheet from x = 0 to 2, z = 0 to 2 at y = 0, the other one a metre behind; fronts to -y
with open("s.obj", "w", encoding="utf-8") as f:
    for y in (0, 1):
        f.write(f"v 0 {y} 0\nv 2 {y} 0\nv 2 {y} 2\nv 0 {y} 2\n")
    f.write("vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\nf 5/1 6/2 7/3 8/4\n")
run("--rigid", "s.obj", "s.h5", "-q", tool="modalpack")

# left half red and there, right half green and away; the upper quarter is blue
image = np.zeros((64, 64, 4), "u1")
image[:, :32] = (255, 0, 0, 255)
image[:, 32:] = (0, 255, 0, 0)
image[:16, :, :3] = (0, 0, 255)
write_png("image.png", image)
flat = np.full((8, 8, 3), 128, "u1")
flat[..., 2] = 255
write_png("flat.png", flat)
lean = flat.copy()
lean[..., 0], lean[..., 2] = 230, 190
write_png("lean.png", lean)


def look(name, front, lights=(), wrap=None, **more):
    """Only ambient light, and what is given."""
    back = {"diffuse": [0.1, 0.6, 0.3], "two_sided": True}
    text = {"look": 1, "materials": {"front": {"two_sided": True, **front}, "back": back}, "lights": list(lights), "ambient": [1, 1, 1],
            "shapes": [{"shape": 0, "ranges": [{"first": 0, "count": 2, "material": "front"}, {"first": 2, "count": 2, "material": "back"}]}],
            "cameras": [{"eye": [1, -8, 1], "target": [1, 0, 1], "fov": 0.3}], "background": [0.2, 0.2, 0.7], **more}
    with open(name, "w", encoding="utf-8") as f:
        json.dump(text, f)
    return name


def draw(name, *words):
    run("s.h5", "o", "-f", "--look", name, "--size", "120x120", "--buffers", "colour,depth,normal", "-q", *words)
    return np.load("o/colour/000000.npy")


# pixel (x, y) of a place of the front sheet, and of the one behind it at the same pixel
focal = 60 / np.tan(0.15)
at = lambda x, z, y=0.0: (int(60 + focal * (x - 1) / (8 + y)), int(60 - focal * (z - 1) / (8 + y)))
background = np.array([0.2, 0.2, 0.7])
BACK = np.array([0.1, 0.6, 0.3])
lit = [{"direction": [0, 1, 0], "colour": [0, 0, 0], "shadow": False}]  # none: ambient only

c = draw(look("opaque.json", {"image": "image.png"}, lit))
for place, want in (((0.5, 0.5), (1, 0, 0)), ((1.5, 0.5), (0, 1, 0)), ((0.5, 1.8), (0, 0, 1)), ((1.5, 1.8), (0, 0, 1))):
    x, y = at(*place)
    check(np.abs(c[y, x] - want).max() < 1e-5, "an opaque image", place, c[y, x])
check(np.abs(c[2, 2] - background).max() < 1e-6, "background")

c = draw(look("cut.json", {"image": "image.png", "alpha": "cutout"}, lit))
for place, want in (((0.5, 0.5), (1, 0, 0)), ((1.5, 0.5), BACK), ((1.5, 1.7), BACK)):
    x, y = at(*place)
    check(np.abs(c[y, x] - want).max() < 1e-5, "a cut-out", place, c[y, x])
depth = np.load("o/depth/000000.npy")
check(abs(depth[at(0.5, 0.5)[::-1]] - 8) < 1e-3 and abs(depth[at(1.5, 0.5)[::-1]] - 9) < 1e-3, "depths of a cut-out and behind it")

c = draw(look("blend.json", {"diffuse": [0.9, 0.3, 0.1], "opacity": 0.25, "alpha": "blend"}, lit))
x, y = at(1.0, 1.0)
check(np.abs(c[y, x] - (0.25 * np.array([0.9, 0.3, 0.1]) + 0.75 * BACK)).max() < 1e-5, "blended", c[y, x])
x, y = at(0.02, 1.0)  # before the background: the sheet behind looks smaller
check(np.abs(c[y, x] - (0.25 * np.array([0.9, 0.3, 0.1]) + 0.75 * background)).max() < 1e-5, "blended before nothing", c[y, x])
check(abs(np.load("o/depth/000000.npy")[60, 60] - 9) < 1e-3, "depths are of what is behind")
c = draw("blend.json", "--transparency", "two-pass")
check(np.abs(c[60, 60] - (0.25 * np.array([0.9, 0.3, 0.1]) + 0.75 * BACK)).max() < 1e-5, "blended, two passes", c[60, 60])
c = draw(look("more.json", {"image": "image.png", "opacity": 0.8, "alpha": "blend"}, lit), "--transparency", "two-pass")
x, y = at(0.5, 0.5)
check(np.abs(c[y, x] - (1, 0, 0)).max() < 1e-5, "more alpha than --shadow-alpha is opaque in two passes", c[y, x])
c = draw("more.json")
check(np.abs(c[y, x] - (0.8 * np.array([1, 0, 0]) + 0.2 * BACK)).max() < 1e-5, "sorted", c[y, x])
x, y = at(1.5, 0.5)
check(np.abs(c[y, x] - BACK).max() < 1e-5, "alpha 0 is away", c[y, x])

# from behind: the other sheet is before
c = draw(look("behind.json", {"diffuse": [0.9, 0.3, 0.1], "opacity": 0.25, "alpha": "blend"}, lit, cameras=[{"eye": [1, 9, 1], "target": [1, 0, 1], "fov": 0.3}]))
check(np.abs(c[60, 60] - BACK).max() < 1e-5, "what is blended and behind is not seen", c[60, 60])

# rows by rows where memory is short, any number of threads: the same bytes
run("s.h5", "all", "--look", "blend.json", "--size", "900x900", "-q", "-j1", "--samples", 8)
run("s.h5", "some", "--look", "blend.json", "--size", "900x900", "-q", "-j3", "--samples", 8, "--memory-limit", "150M", "--report", "r.json")
check(json.load(open("r.json", encoding="utf-8"))["layer_tiles"] > 1, "the picture was done at once")
check(filecmp.cmp("all/png/000000.png", "some/png/000000.png", shallow=False), "parts of rows have other bytes")

# an image on the ground: as many metres as `tile` says, from the origin on, whatever its alpha
for tile in (None, 0.75):
    ground = look("ground.json", {"diffuse": [0.1, 0.2, 0.3]}, **{"ground": {"material": "floor", "height": -0.5, "size": 9, **({"tile": tile} if tile else {})},
                                                                "cameras": [{"eye": [1.5, 0.5, 9], "target": [1.5, 0.5, 0], "up": [0, 1, 0.1], "fov": 0.6}]})
    text = json.load(open(ground, encoding="utf-8"))
    text["materials"]["floor"] = {"image": "image.png"}
    text["cameras"][0]["up"] = [0, 0, 1]
    text["cameras"][0]["eye"] = [1.5, -3, 9]
    with open(ground, "w", encoding="utf-8") as f:
        json.dump(text, f)
    run("s.h5", "o", "-f", "--look", ground, "--size", "300x300", "--samples", 1, "--buffers", "colour,position,object", "-q", "--shadow", "none")
    c, p, o = (np.load(f"o/{name}/000000.npy") for name in ("colour", "position", "object"))
    u, v = (p[..., k] / (tile or 1) % 1 for k in (0, 1))
    inner = (o < 0) & (np.abs(p[..., 2] + 0.5) < 1e-3) & (np.abs(u - 0.25) % 0.5 < 0.35) & (np.abs(u - 0.5) > 0.1) & (u > 0.1) & (u < 0.9)
    inner &= (v > 0.1) & (v < 0.9) & (np.abs(v - 0.75) > 0.1)
    want = np.where((v > 0.75)[..., None], (0, 0, 1), np.where((u < 0.5)[..., None], (1, 0, 0), (0, 1, 0)))
    check(inner.sum() > 5000 and np.abs(c - want)[inner].max() < 1e-3, "the ground's image", tile, inner.sum(), np.abs(c - want)[inner].max())
text["materials"]["floor"]["wrap"] = "none"
with open("ground.json", "w", encoding="utf-8") as f:
    json.dump(text, f)
run("s.h5", "bad", "--look", "ground.json", code=3, error="material floor: refuses texture coordinates outside of [0, 1], but the ground has")

# more layers in a row than there is room for: columns of it
N, ALPHA = 20, np.array([0.3, 0.15])
with open("many.obj", "w", encoding="utf-8") as f:
    for y in range(N):
        f.write("".join(f"v {x} {y / 100} {z}\n" for x, z in ((0, 0), (2, 0), (2, 2), (0, 2))))
    f.write("".join(f"f {4 * y + 1} {4 * y + 2} {4 * y + 3} {4 * y + 4}\n" for y in range(N)))
run("--rigid", "many.obj", "many.h5", "-q", tool="modalpack")
COLOURS = np.array([[0.9, 0.2, 0.1], [0.1, 0.3, 0.8]])
with open("many.json", "w", encoding="utf-8") as f:
    json.dump({"look": 1, "materials": {name: {"two_sided": True, "diffuse": COLOURS[i].tolist(), "opacity": ALPHA[i], "alpha": "blend"}
                                        for i, name in enumerate("ab")},
               "ambient": [1, 1, 1], "cameras": [{"eye": [1, -0.5, 1], "target": [1, 0, 1], "fov": 0.01}], "background": BACK.tolist(),
               "shapes": [{"shape": 0, "ranges": [{"first": 2 * y, "count": 2, "material": "ab"[y % 2]} for y in range(N)]}]}, f)
run("many.h5", "o", "-f", "--look", "many.json", "--size", "700x3", "--samples", 8, "--buffers", "colour", "-q", "--report", "r.json")
check(json.load(open("r.json", encoding="utf-8"))["layer_tiles"] > 3, "rows were done at once")
want = BACK
for y in reversed(range(N)):
    want = ALPHA[y % 2] * COLOURS[y % 2] + (1 - ALPHA[y % 2]) * want
c = np.load("o/colour/000000.npy")
check(np.abs(c - want).max() < 1e-5, "columns of a row", np.abs(c - want).max())

# shadows on the sheet behind: of the cut-out's left half; of what is blended by --shadow-alpha
sun = [{"direction": [0, 1, 0], "colour": [1, 1, 1]}]
aside = {"ambient": [0, 0, 0], "cameras": [{"eye": [-12, -8, 1], "target": [1, 1, 1], "fov": 0.25}]}
for alpha, option, shadow in (("cutout", [], True), ("blend", [], True), ("blend", ["--shadow-alpha", "1"], False)):
    name = look("sun.json", {"image": "image.png", "alpha": alpha}, sun, **aside)
    run("s.h5", "o", "-f", "--look", name, "--size", "160x160", "--samples", 1, "--buffers", "colour,position", "-q", "--shadow", "hard", *option)
    c, p = np.load("o/colour/000000.npy"), np.load("o/position/000000.npy")
    behind = (np.abs(p[..., 1] - 1) < 1e-4) & (np.abs(c[..., [0, 2]] - c[..., 1:2] * (1 / 6, 0.5)) < 1e-3).all(2) & (p[..., 2] > 0.1) & (p[..., 2] < 1.9)
    left, right = behind & (p[..., 0] > 0.1) & (p[..., 0] < 0.9), behind & (p[..., 0] > 1.1) & (p[..., 0] < 1.9)
    check(right.sum() > 50 and (c[right][:, 1] > 0.5).all(), alpha, "no light where alpha is 0", right.sum(), c[right][:, 1].min(initial=9))
    check(left.sum() > 50 and (c[left][:, 1] < 1e-6).all() == shadow, alpha, option, "shadow where alpha is 1", c[left][:, 1].min())

# normals: a flat image changes nothing, one that leans along u turns them to +x
draw(look("plain.json", {}, lit))
plain = np.load("o/normal/000000.npy")
draw(look("flat.json", {"normal_image": "flat.png"}, lit))
check((np.load("o/normal/000000.npy") == plain).all(), "a flat image of normals")
draw(look("lean.json", {"normal_image": "lean.png"}, lit))
want = np.array([102, -62, 0]) / np.hypot(102, 62)
check(np.abs(np.load("o/normal/000000.npy")[60, 60] - want).max() < 1e-4, "a leaning image of normals", np.load("o/normal/000000.npy")[60, 60])

# hard edges: a cube's normals are those of its sides, but for --crease 180
with open("c.obj", "w", encoding="utf-8") as f:
    f.write("".join(f"v {i & 1} {i >> 1 & 1} {i >> 2}\n" for i in range(8)) + "f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 2 4 8 6\n")
run("--rigid", "c.obj", "c.h5", "-q", tool="modalpack")
for crease, hard in ((None, True), (89, True), (91, False), (180, False)):
    run("c.h5", "o", "-f", "--size", "90x90", "--buffers", "normal,object", "-q", *([] if crease is None else ["--crease", crease]))
    n = np.load("o/normal/000000.npy")[np.load("o/object/000000.npy") == 0]
    check((np.abs(n).max(1) > 0.999999).all() == hard, crease, "hard edges", np.abs(n).max(1).min())

# what is refused
look("none.json", {"image": "none.png"})
look("up.json", {"image": "../image.png"})
for words, code, error in (
        (["s.h5", "--look", "none.json"], 3, "none.png"), (["s.h5", "--look", "up.json"], 3, "image.png"),
        (["s.h5", "--shadow-alpha", "2"], 2, "--shadow-alpha"), (["s.h5", "--shadow-alpha", "0.5", "--shadow", "none"], 2, "there are no shadows"),
        (["s.h5", "--crease", "40", "--normals", "rigid"], 2, "--crease: needs normals of the deformed surface"),
        (["s.h5", "--crease", "nan"], 2, "--crease"), (["s.h5", "--transparency", "best"], 2, "--transparency: none of sorted, two-pass, best")):
    run(words[0], "bad", *words[1:], code=code, error=error)
    check(not os.path.exists("bad"), words, "left something")
with open("s.obj", encoding="utf-8") as f, open("w.obj", "w", encoding="utf-8") as to:
    to.write(f.read().replace("vt 1 1", "vt 1 1.5"))
run("--rigid", "w.obj", "w.h5", "-q", tool="modalpack")
run("w.h5", "bad", "--look", look("wrap.json", {"image": "image.png", "wrap": "none"}), code=3, error="outside of [0, 1]")
with open("bare.json", "w", encoding="utf-8") as f:
    json.dump({"look": 1, "materials": {"a": {"image": "image.png"}}, "default": "a"}, f)
bare = run("c.h5", "bare", "--size", "20x20", "--look", "bare.json")
check("1 object without the texture coordinates that images need" in bare.stderr, bare)
print("modalrender --look: all as it should be")
