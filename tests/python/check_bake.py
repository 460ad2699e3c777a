# SPDX-License-Identifier: Apache-2.0
"""modaltex bake. usage: check_bake.py BIN_FOLDER REPOSITORY
Texels beside look-ups at their places, for charts of the surface and for charts that are made; the look that shows the image; mip levels of the
filled image, which have nothing of the background; images of normals; numbers in 8 and 16 bits; what is kept in the texture's file, beside the image, and what the checkers refuse of it; the same bytes for
any number of threads; what is refused."""
import json
import os
import shutil
import struct
import tempfile

import h5py
import numpy as np

import lacking
from images import from_linear, read_png, to_linear
from looks import paint_box, read_glb
from tool_run import binaries, must, run
from validator import validate



def read_obj(name):
    words = [line.split() for line in open(name, encoding="utf-8")]
    v, vt = (np.array([w[1:] for w in words if w[0] == kind], float) for kind in ("v", "vt"))
    f = np.array([[c.split("/") for c in w[1:]] for w in words if w[0] == "f"], int) - 1
    return v, vt, f[:, :, 0], f[:, :, 1]


def write_obj(name, points, faces, uv, uv_faces):
    with open(name, "w", encoding="utf-8") as f:
        f.writelines("v %.17g %.17g %.17g\n" % tuple(p) for p in points)
        f.writelines("vt %.17g %.17g\n" % tuple(p) for p in uv)
        for t, u in zip(faces + 1, uv_faces + 1):
            f.write("f " + " ".join(f"{a}/{b}" for a, b in zip(t, u)) + "\n")


def write_points(name, points):
    with open(name, "wb") as f:
        head = "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\n"
        f.write((head % len(points) + "element face 1\nproperty list uchar int vertex_indices\nend_header\n").encode())
        f.write(points.astype("<f8").tobytes() + struct.pack("<B3i", 3, 0, 1, 2))


def sampled(texture, points):
    """Bytes of the texture at points, by modaltex sample."""
    write_points("points.ply", points)
    run("modaltex", "sample", texture, "points.ply", "values.ply", "-f")
    body = open("values.ply", "rb").read().split(b"end_header\n", 1)[1]
    row = np.dtype([("x", "<f8", 3), ("c", "u1", 4)])
    return np.frombuffer(body, row, len(points))["c"].astype(int)


def places(size, points, faces, uv, uv_faces):
    """Texels whose centres are inside of a triangle: (row from below, column), and where they are."""
    at, x = [], []
    for t, u in zip(faces, uv_faces):
        p = uv[u] * size - 0.5
        low, high = np.ceil(p.min(0)).astype(int), np.floor(p.max(0)).astype(int)
        c = np.stack(np.meshgrid(*(np.arange(low[k], high[k] + 1) for k in range(2)), indexing="ij"), -1).reshape(-1, 2)
        m = np.column_stack([p[1] - p[0], p[2] - p[0]])
        if len(c) == 0 or abs(np.linalg.det(m)) < 1e-12:
            continue
        w = np.linalg.solve(m, (c - p[0]).T).T
        inside = (w >= 1e-3).all(1) & (w.sum(1) <= 1 - 1e-3)
        at.append(c[inside][:, ::-1])
        x.append(points[t[0]] + w[inside] @ (points[t[1:]] - points[t[0]]))
    return np.vstack(at), np.vstack(x)


def surface(n=20, m=40):
    """A wavy sheet over the unit square, its texture coordinates in the same place, shrunk."""
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n + 1), np.arange(m + 1), indexing="ij"))
    u, v = i / n, j / m
    points = np.stack([2 * u, 3 * v, 0.3 * np.sin(7 * u) * np.cos(9 * v)], 1)
    at = lambda a, b: a * (m + 1) + b
    faces = [t for a in range(n) for b in range(m) for t in ((at(a, b), at(a + 1, b), at(a + 1, b + 1)), (at(a, b), at(a + 1, b + 1), at(a, b + 1)))]
    return points, np.array(faces), 0.05 + 0.9 * np.stack([u, v], 1)


def sphere():
    points, faces, _ = surface()
    u, v = points[:, 0] * np.pi, 0.1 + (np.pi - 0.2) * points[:, 1] / 3
    return np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], 1), faces


def paint(surface_file, texture, alpha=1):
    run("modaltex", "build", surface_file, "plain.h5", "--resolution", 128, "-f", "-q")
    with open("l.json", "w", encoding="utf-8") as f:
        json.dump({"layers": [{"kind": "marble", "from": [0.9, 0.2, 0.1], "to": [0.1, 0.3, 0.8], "scale": 0.5}]}, f)
    run("modaltex", "paint", "plain.h5", "l.json", texture, "-f", "-q")
    if alpha < 1:
        with h5py.File(texture, "r+") as f:
            values = f["samples/values"][:]
            values[:, 3] = 255 * alpha
            f["samples/values"][:] = values
            del f["mipmaps"]


def compare(texture, image, size, mesh):
    at, x = places(size, *mesh)
    got, want = image[::-1][at[:, 0], at[:, 1]].astype(int), sampled(texture, x)
    must(len(at) > 0.3 * size * size and (np.abs(got - want[:, :image.shape[2]]) <= 1).all(), "texels differ by", np.abs(got - want[:, :image.shape[2]]).max())


def check_own_uv():
    points, faces, uv = surface()
    write_obj("s.obj", points, faces, uv, faces)
    paint("s.obj", "t.h5")
    for filter_name in ("trilinear", "footprint"):  # texels are no larger than cells: the same
        run("modaltex", "bake", "t.h5", "s.obj", "a.png", "--size", 300, "--filter", filter_name, "-f")
        compare("t.h5", read_png("a.png"), 300, (points, faces, uv, faces))
    must(json.load(open("a.look.json", encoding="utf-8"))["materials"]["baked"]["image"] == "a.png" and not os.path.exists("a.obj"), "look")
    run("modaltex", "pack", "a.look.json", "packed.h5")
    for j in (1, 2, 3):
        run("modaltex", "bake", "t.h5", "s.obj", f"j{j}.png", "--size", 300, "-j", j)
        must(open(f"j{j}.png", "rb").read() == open("a.png", "rb").read(), "bytes of", j, "threads")
    run("modaltex", "bake", "t.h5", "s.obj", "none.png", "--size", 300, "--padding", "none")
    empty = (read_png("none.png") == 0).all(2)
    must(0.1 < empty.mean() < 0.3 and (read_png("a.png")[~empty] == read_png("none.png")[~empty]).all(), "padding", empty.mean())
    must(not (read_png("a.png") == 0).all(2).any(), "gaps")
    check_basis()
    # texels larger than cells get means: nearer to those of the fine image than values at their centres are
    fine = read_png("a.png").reshape(20, 15, 20, 15, 3)
    mean = from_linear(to_linear(fine / 255).mean((1, 3))) * 255
    off = []
    for filter_name in ("footprint", "trilinear"):
        run("modaltex", "bake", "t.h5", "s.obj", "coarse.png", "--size", 20, "--filter", filter_name, "-f")
        off.append(np.abs(read_png("coarse.png") - mean)[2:-2, 2:-2].mean())
    must(off[0] < 0.7 * off[1] and off[0] < 13, "footprint", off)


def check_basis():
    """The same image of a basis with the same texture coordinates."""
    run("modalpack", "--rigid", "s.obj", "basis.h5", "-q")
    run("modaltex", "bake", "t.h5", "basis.h5", "b.png", "--size", 300)
    must(open("b.png", "rb").read() == open("a.png", "rb").read(), "of a basis")


def check_charts():
    points, faces = sphere()
    with open("bare.obj", "w", encoding="utf-8") as f:
        f.writelines("v %.17g %.17g %.17g\n" % tuple(p) for p in points)
        f.writelines("f %d %d %d\n" % tuple(t + 1) for t in faces)
    paint("bare.obj", "c.h5", alpha=0.5)
    got = run("modaltex", "bake", "c.h5", "bare.obj", "c.png", "--size", 512, "--filter", "trilinear", "-f", "--report", "r.json")
    report = json.load(open("r.json", encoding="utf-8"))
    must("charts, " in got.stderr and report["overlapping"] == 0 and report["outside"] == 0, got.stderr)
    v, vt, f, fvt = read_obj("c.obj")
    must((v == points).all() and (f == faces).all() and vt.min() >= 0 and vt.max() <= 1, "OUT.obj")
    image = read_png("c.png")
    must(image.shape[2] == 4 and (np.abs(image[..., 3].astype(int) - 127) <= 1).all(), "alpha")
    compare("c.h5", image, 512, (v, f, vt, fvt))
    run("modaltex", "bake", "c.h5", "c.obj", "again.png", "--size", 512, "--filter", "trilinear")
    must(open("again.png", "rb").read() == open("c.png", "rb").read(), "with the charts that were written")


def check_rod():
    """A thin rod's charts are long and fill little of the image; an image that is too small for gaps is refused."""
    angle, n = np.arange(8) * np.pi / 4, 60
    points = np.array([[i / n, 0.002 * np.cos(a), 0.002 * np.sin(a)] for i in range(n + 1) for a in angle])
    at = lambda i, j: 8 * i + j % 8
    faces = np.array([t for i in range(n) for j in range(8) for t in ((at(i, j), at(i, j + 1), at(i + 1, j + 1)), (at(i, j), at(i + 1, j + 1), at(i + 1, j)))])
    with open("rod.obj", "w", encoding="utf-8") as f:
        f.writelines("v %.17g %.17g %.17g\n" % tuple(p) for p in points)
        f.writelines("f %d %d %d\n" % tuple(t + 1) for t in faces)
    paint("rod.obj", "rod.h5")
    run("modaltex", "bake", "rod.h5", "rod.obj", "rod_b.png", "--size", 1024, "--filter", "trilinear")
    v, vt, f, fvt = read_obj("rod_b.obj")
    image, (at, x) = read_png("rod_b.png"), places(1024, v, f, vt, fvt)
    got, want = image[::-1][at[:, 0], at[:, 1]].astype(int), sampled("rod.h5", x)
    must(len(at) > 5000 and (np.abs(got - want[:, :3]) <= 1).all(), "a thin rod", len(at))
    run("modaltex", "bake", "rod.h5", "rod.obj", "x.png", "--size", 4, code=3, says="charts do not fit with gaps of 1.2 of the image, which a larger --size makes smaller")


def check_bleeding():
    """Charts of one colour each: no mip texel of the image, levels 0 to 6, has anything of the background or of another chart, if what it covers is of one chart;
    before the gaps are filled, all that lie at a chart's border have."""
    rng, squares = np.random.default_rng(8), 14
    corner = rng.permutation(64)[:squares]
    points, faces, colours = [], [], rng.integers(30, 226, (squares, 3))
    for i, c in enumerate(corner):  # apart from each other, of several sizes and directions
        frame = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2] * rng.uniform(0.2, 0.5, (2, 1))
        at = np.array([c % 4, c // 4 % 4, c // 16], float)
        points += [at, at + frame[0], at + frame[0] + frame[1], at + frame[1]]
        faces += [[4 * i, 4 * i + 1, 4 * i + 2], [4 * i, 4 * i + 2, 4 * i + 3]]
    with open("squares.ply", "w", encoding="ascii") as f:
        f.write(f"ply\nformat ascii 1.0\nelement vertex {len(points)}\nproperty double x\nproperty double y\nproperty double z\n"
                "property uchar red\nproperty uchar green\nproperty uchar blue\n"
                f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n")
        f.writelines("%.17g %.17g %.17g %d %d %d\n" % (*p, *colours[i // 4]) for i, p in enumerate(points))
        f.writelines("3 %d %d %d\n" % tuple(t) for t in faces)
    run("modaltex", "build", "squares.ply", "q0.h5", "--resolution", 256, "-f", "-q")
    with open("l2.json", "w", encoding="utf-8") as f:
        json.dump({"layers": [{"kind": "colours", "file": "squares.ply"}]}, f)
    run("modaltex", "paint", "q0.h5", "l2.json", "q.h5", "-f", "-q")
    run("modaltex", "bake", "q.h5", "squares.ply", "filled.png", "--size", 512, "--filter", "trilinear")
    run("modaltex", "bake", "q.h5", "squares.ply", "gaps.png", "--size", 512, "--filter", "trilinear", "--padding", "none")
    filled, bare = read_png("filled.png").astype(float), read_png("gaps.png").astype(float)
    chart = np.argmin(np.abs(bare[:, :, None] - colours).max(3), 2)  # of the covered texels, by their colour
    covered = (bare > 0).any(2)
    must(np.abs(bare - colours[chart]).max(2)[covered].max() <= 1 and len(np.unique(chart[covered])) == squares, "colours of the squares")
    magenta = np.where(covered[..., None], bare, [255, 0, 255])  # a saturated background
    for level in range(7):
        n = 2**level
        blocks = lambda a: a.reshape(512 // n, n, 512 // n, n, *a.shape[2:]).swapaxes(1, 2).reshape(512 // n, 512 // n, n * n, *a.shape[2:])
        of, has = blocks(chart), blocks(covered)
        first, last = np.where(has, of, squares).min(2), np.where(has, of, -1).max(2)
        one = has.any(2) & (first == last)
        mean = (blocks(bare) * has[..., None]).sum(2)[one] / has.sum(2)[one][:, None]
        off = np.abs(blocks(filled).mean(2)[one] - mean).max()
        must(one.sum() > 0 and off <= 1, "level", level, "bleeds by", off)
        if level:
            must(np.abs(blocks(magenta).mean(2)[one] - mean).max() > 50, "level", level, "has no border to bleed at")


def check_numbers():
    """Textures of numbers by a range, float and float3."""
    points, faces, uv = surface()
    mesh = (points, faces, uv, faces)
    for channels, width in (("float", 1), ("float3", 3)):
        run("modaltex", "build", "s.obj", "f.h5", "--channels", channels, "--resolution", 64, "-q", "-f")
        with h5py.File("f.h5", "r+") as f:
            key = f["samples/key"][:]
            x = np.stack([sum(((key >> (3 * i + k)) & 1) << i for i in range(7)) for k in range(3)], 1) * f["tree"].attrs["size"] / 64 + f["tree/origin"][:]
            f["samples/values"][:] = (x * [1, 0.5, 3])[:, :width]
            del f["mipmaps"]
        for bits, top in ((8, 255), (16, 65535)):
            run("modaltex", "bake", "f.h5", "s.obj", "f.png", "--size", 200, "--range", "0.5,1.5", "--bits", bits, "--filter", "trilinear", "-f")
            image, (at, where) = read_png("f.png"), places(200, *mesh)
            want = np.clip(((where * [1, 0.5, 3])[:, :width] - 0.5) * top, 0, top)
            got = image[::-1][at[:, 0], at[:, 1]].astype(float)
            must(image.dtype.itemsize * 8 == bits and image.shape[2] == 3 and (np.abs(got - want) <= 0.51 + 2e-5 * top).all(), channels, bits, np.abs(got - want).max())
            must(not (image == 0).all(2)[:8].any(), "gaps of numbers")  # the uppermost rows show nothing of the surface
    run("modaltex", "bake", "f.h5", "s.obj", "x.png", "--range", "1,1", code=2, says="--range: the second must be above the first, 1,1")
    run("modaltex", "bake", "f.h5", "s.obj", "x.png", "--range", "nan,1", code=2, says="--range")
    run("modaltex", "bake", "f.h5", "s.obj", "x.png", "--bits", 12, code=2, says="--bits: 8 or 16, 12")
    run("modaltex", "bake", "t.h5", "s.obj", "x.png", "--bits", 16, code=2, says="--bits: 16 is for textures of numbers, t.h5 has 8")
    run("modaltex", "bake", "t.h5", "s.obj", "x.png", "--range", "0,2", code=2, says="--range: is for textures of numbers, t.h5 has colours")


def turned_by(points, faces, uv, uv_faces, at, normals):
    """Normals of an object at texels (row, column) of an image of 1 x 1, as those of an image; each texel's triangle is found again."""
    n = np.zeros_like(points)
    e1, e2 = (points[faces[:, k]] - points[faces[:, 0]] for k in (1, 2))
    for j in range(3):
        np.add.at(n, faces[:, j], np.cross(e1, e2))
    n /= np.linalg.norm(n, axis=1)[:, None]
    p = uv[uv_faces]
    d1, d2 = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    area = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    got = np.empty((len(at), 3))
    for i, (y, x) in enumerate(at):
        q = np.array([x, y]) - p[:, 0]
        b, c = (q[:, 0] * d2[:, 1] - q[:, 1] * d2[:, 0]) / area, (d1[:, 0] * q[:, 1] - d1[:, 1] * q[:, 0]) / area
        t = np.argmax(np.minimum(np.minimum(b, c), 1 - b - c))
        normal = np.array([1 - b[t] - c[t], b[t], c[t]]) @ n[faces[t]]
        normal /= np.linalg.norm(normal)
        tangent = (e1[t] * d2[t, 1] - e2[t] * d1[t, 1]) / area[t]  # dx / du
        tangent -= (tangent @ normal) * normal
        tangent /= np.linalg.norm(tangent)
        bitangent = np.sign(area[t]) * np.cross(normal, tangent)
        got[i] = normals[i] @ tangent, normals[i] @ bitangent, normals[i] @ normal
    return got


def check_normals():
    """Normals of a finer sphere as an image in the surface's frame: of charts that are mirrored, too; a picture with it beside one with the texture."""
    points, faces, uv = surface()
    fine_points, fine_faces, _ = surface(80, 160)
    write_obj("fine.obj", fine_points, fine_faces, fine_points[:, :2], fine_faces)
    mirrored = np.column_stack([1 - uv[:, 0], uv[:, 1]])
    for name, charts in (("s.obj", uv), ("mirrored.obj", mirrored)):
        write_obj(name, points, faces, charts, faces)
        for channels, bits in (("float3", 8), ("float3", 16), ("rgba8", 8)):
            run("modaltex", "build", name, "n0.h5", "--resolution", 128, "--channels", channels, "-f", "-q")
            run("modaltex", "paint", "n0.h5", "n.h5", "--surface", name, "--normals", "fine.obj", "-f", "-q")
            run("modaltex", "bake", "n.h5", name, "n.png", "--size", 256, "--bits", bits, "--filter", "trilinear", "-f")
            image = read_png("n.png")[::-1]
            at, x = places(256, points, faces, charts, faces)
            at, x = at[::50], x[::50]
            slope = np.stack([2.1 / 2 * np.cos(3.5 * x[:, 0]) * np.cos(3 * x[:, 1]) / 1, -0.9 * np.sin(3.5 * x[:, 0]) * np.sin(3 * x[:, 1])], 1)  # of 0.3 sin cos
            exact = np.column_stack([-slope, np.ones(len(x))])
            exact /= np.linalg.norm(exact, axis=1)[:, None]
            want = turned_by(points, faces, charts, faces, (at + 0.5) / 256, exact)
            value = image[at[:, 0], at[:, 1]].astype(float)
            got = (value - 128) / 127 if bits == 8 else value / 32767.5 - 1
            off = np.abs(got - want).max()
            must(off < 0.05 and np.ptp(got[:, 0]) > 0.1 and (got[:, 2] > 0.9).all(), name, channels, bits, "normals are off by", off, np.ptp(got[:, 0]))
            baked = json.load(open("n.look.json", encoding="utf-8"))["materials"]["baked"]
            must(baked == {"normal_image": "n.png"}, baked)
    run("modaltex", "bake", "n.h5", "mirrored.obj", "object.png", "--size", 64, "--space", "object", "-f")
    must(json.load(open("object.look.json", encoding="utf-8"))["materials"]["baked"] == {"image": "object.png"}, "look of --space object")
    run("modaltex", "bake", "n.h5", "mirrored.obj", "x.png", "--range", "0,1", code=2, says="--range: ")
    run("modaltex", "bake", "t.h5", "s.obj", "x.png", "--space", "object", code=2, says="--space: is for textures of normals, t.h5")
    run("modaltex", "bake", "n.h5", "mirrored.obj", "x.png", "--space", "up", code=2, says="--space: not tangent or object, up")
    check_lit()


def check_lit():
    """A lit picture by the image of normals beside one by the texture itself, and beside none."""
    run("modalpack", "--rigid", "mirrored.obj", "wave.h5", "-q", "-f")
    run("modaltex", "build", "wave.h5", "n0.h5", "--resolution", 128, "--channels", "float3", "-f", "-q")
    run("modaltex", "paint", "n0.h5", "n.h5", "--surface", "wave.h5", "--normals", "fine.obj", "-f", "-q")
    run("modaltex", "bake", "n.h5", "wave.h5", "lit.png", "--size", 512, "-f")
    pictures = {}
    for name in ("lit.png", "n.h5", ""):
        put = {"look": 1, "materials": {"m": {"normal_image": name} if name else {}}, "default": "m",
               "lights": [{"direction": [-1, -0.5, -1], "shadow": False}], "cameras": [{"direction": [0.1, 0.2, -1], "up": [0, 1, 0]}]}
        json.dump(put, open("lit.json", "w", encoding="utf-8"))
        run("modalrender", "wave.h5", "r", "-f", "-q", "--look", "lit.json", "--size", "300x400", "--samples", 1, "--buffers", "normal,object")
        seen = np.load("r/object/000000.npy") >= 0
        pictures[name] = np.load("r/normal/000000.npy")[seen].astype(float)
    apart = lambda a, b: np.linalg.norm(pictures[a] - pictures[b], axis=1)
    off, plain = np.median(apart("lit.png", "n.h5")), np.median(apart("", "n.h5"))
    must(off < 0.006 and np.quantile(apart("lit.png", "n.h5"), 0.98) < 0.03 and plain > 2 * off, "normals of the image and of the texture", off, plain)


def check_look():
    """The look of a surface without texture coordinates: in the .glb, the page and pictures of it while it moves; beside the texture itself."""
    os.mkdir("box")
    for name in ("bare.obj", "c.obj", "c.png", "c.h5", "moved.obj"):
        shutil.copy(name, "box")
    os.chdir("box")
    paint_box()  # box.obj, its basis b.h5 with texture coordinates, instead of which charts come, its motion t.h5
    paint("b.h5", "box_tex.h5")
    run("modaltex", "bake", "box_tex.h5", "b.h5", "charts.png", "--own-charts", "--size", 256, "-f")
    v, vt, f, fvt = read_obj("charts.obj")
    look = json.load(open("charts.look.json", encoding="utf-8"))
    must(look["uv"] == ["charts.obj"], look)
    run("modaldeform", "t.h5", "glb", "--format", "glb,obj", "--look", "charts.look.json")
    d, array, _ = read_glb("glb/sequence.glb")
    part = d["meshes"][0]["primitives"][0]
    got = np.column_stack([array(part["attributes"]["POSITION"])[array(part["indices"]).ravel()], array(part["attributes"]["TEXCOORD_0"])[array(part["indices"]).ravel()]])
    want = np.column_stack([v[f].reshape(-1, 3), vt[fvt].reshape(-1, 2) * [1, -1] + [0, 1]])
    off = np.abs(got.reshape(-1, 1, 15) - want.reshape(1, -1, 15)).max(2)  # of each triangle to each; it begins at rest, nearly
    must(got.shape == want.shape and (off.min(0) < 1e-4).all() and (off.min(1) < 1e-4).all(), "uv of the .glb")
    must(len(d["images"]) == 1, "image of the .glb")
    page = lacking.has_tool(binaries, "modalview")
    if page:
        run("modalview", "t.h5", "page.html", "--look", "charts.look.json")
        must(os.path.getsize("page.html") > os.path.getsize("charts.png"), "page")
    run("modalpack", "--rigid", "bare.obj", "bare.h5", "-q")
    flat = {"look": 1, "materials": {"m": {"ambient": [1, 1, 1], "diffuse": [0, 0, 0], "image": "c.png"}}, "default": "m", "ambient": [1, 1, 1], "uv": ["c.obj"],
            "lights": [{"direction": [0, 0, -1], "colour": [0, 0, 0], "shadow": False}], "cameras": [{"direction": [-0.5, 1, -0.4]}]}
    pictures = {}
    for name in ("c.png", "c.h5"):
        flat["materials"]["m"]["image"] = name
        json.dump(flat, open("flat.json", "w", encoding="utf-8"))
        run("modalrender", "bare.h5", "r", "-f", "-q", "--look", "flat.json", "--size", "1200x1200", "--samples", 1, "--buffers", "colour,object")
        part = slice(450, 750), slice(450, 750)  # what faces the eye: a pixel is smaller than a texel and a cell
        pictures[name] = 255 * from_linear(np.load("r/colour/000000.npy")[part].astype(float)[..., :3])
        must((np.load("r/object/000000.npy")[part] >= 0).all(), "the sphere is elsewhere")
    off = np.abs(pictures["c.png"] - pictures["c.h5"]).max(2)
    must((pictures["c.png"].std((0, 1)) > 5).all() and np.median(off) <= 2 and np.quantile(off, 0.95) <= 8, "image and texture", np.quantile(off, (0.5, 0.95)))
    json.dump(dict(look, uv=["moved.obj"]), open("wrong.json", "w", encoding="utf-8"))
    for words in (("modaldeform", "t.h5", "x", "--format", "glb"), ("modalview", "t.h5", "x.html"), ("modalrender", "t.h5", "x"))[::1 if page else 2]:
        run(*words, "--look", "wrong.json", code=3, says="moved.obj: no shape has the same vertices and triangles")
    for uv, says in ((["bare.obj"], "bare.obj: has no texture coordinates"), (["none.obj"], "none.obj: cannot open"), (["../c.obj"], "/uv/0: a path inside"),
                     ([""], "/uv/0: an empty path"), ([3], "/uv/0: not a text"), ("c.obj", "/uv: ")):
        json.dump(dict(look, uv=uv), open("wrong.json", "w", encoding="utf-8"))
        run("modaldeform", "t.h5", "x", "--format", "glb", "--look", "wrong.json", code=3, says=says)


def check_kept():
    """/atlas beside the image; who changes values drops the image; what the checkers refuse."""
    shutil.copy("c.h5", "k.h5")
    run("modaltex", "bake", "k.h5", "bare.obj", "k.png", "--size", 512, "--filter", "trilinear", "--keep")
    must(open("k.png", "rb").read() == open("c.png", "rb").read(), "--keep changes the image")
    run("modalinfo", "k.h5", "--check")
    must("512 x 512 texels" in run("modalinfo", "k.h5").stdout, "modalinfo")
    validate("k.h5")
    v, vt, f, fvt = read_obj("k.obj")
    with h5py.File("k.h5") as h, h5py.File("c.h5") as before:
        key, values, atlas = h["samples/key"][:], h["samples/values"][:].astype(float), h["atlas"]
        must((key == before["samples/key"][:]).all() and len(h["provenance"]) == len(before["provenance"]) + 1, "the rest of the file")
        must((atlas["uv"][:] == vt).all() and (atlas["triangle_uv"][:] == fvt).all() and (atlas["image"][:] == read_png("k.png")).all(), "charts")
        sample, place, texel = atlas["sample"][:], atlas["place"][:].astype(float), atlas["texel"][:]
        got = atlas["image"][:].reshape(-1, 4)[texel].astype(float)
        near = np.abs(np.linalg.norm(v[f[atlas["triangle"][:], 0]], axis=1) - 1) < 1e-9
    lower = np.stack([sum(((key[sample] >> (3 * i + k)) & 1) << i for i in range(7)) for k in range(3)], 1)
    want = np.zeros_like(got)
    for k in range(8):
        d = np.array([k & 1, k >> 1 & 1, k >> 2])
        corner = np.searchsorted(key, sum(((lower + d)[:, a] >> i & 1) << (3 * i + a) for a in range(3) for i in range(7)))
        want += np.prod(np.where(d, place, 1 - place), 1)[:, None] * values[corner]
    must(near.all() and len(texel) > 0.4 * 512**2 and (np.abs(got - want) <= 1).all(), "texels by their samples", np.abs(got - want).max())
    run("modaltex", "paint", "k.h5", "l.json", "painted.h5", "-q")
    with h5py.File("painted.h5") as h:
        must("image" not in h["atlas"] and (h["atlas/texel"][:] == texel).all(), "paint keeps the image of other values")
    for path, at, value in (("texel", 5, texel[4]), ("texel", 0, -1), ("texel", len(texel) - 1, 512**2), ("sample", 3, len(key)), ("sample", 3, -1),
                            ("sample", 3, int(np.setdiff1d(np.arange(len(key)), sample)[-1])), ("place", (2, 1), 1.5), ("place", (2, 1), np.nan),
                            ("triangle", 9, len(f)), ("triangle_uv", (0, 0), len(vt)), ("uv", (1, 1), np.inf)):
        shutil.copy("k.h5", "bad.h5")
        with h5py.File("bad.h5", "r+") as h:
            h["atlas"][path][at] = value
        got = run("modalinfo", "bad.h5", "--check", code=1)
        must("/atlas/" + path in got.stdout + got.stderr, path, got)
        validate("bad.h5", 1)
    for name in ("width", "height"):
        shutil.copy("k.h5", "bad.h5")
        with h5py.File("bad.h5", "r+") as h:
            h["atlas"].attrs.modify(name, np.int64(511))
        run("modalinfo", "bad.h5", "--check", code=1)
        validate("bad.h5", 1)
    run("modaltex", "bake", "k.h5", "bare.obj", "x.png", "--keep", "--other-surface", code=2, says="--keep: not with --other-surface")
    kept = open("k.h5", "rb").read()
    run("modaltex", "bake", "k.h5", "twice.obj", "x.png", "--keep", code=3, says="twice.obj: ")
    must(open("k.h5", "rb").read() == kept, "a refusal changed the texture")


def check_refused():
    points, faces, uv = surface()
    write_obj("twice.obj", points, faces, np.stack([np.abs(uv[:, 0] - 0.5) + 0.05, uv[:, 1]], 1), faces)  # one half on the other
    got = run("modaltex", "bake", "t.h5", "twice.obj", "x.png", code=3, says="twice.obj: charts overlap, ")
    must("texels; --allow-overlap" in got.stderr, got.stderr)
    run("modaltex", "bake", "t.h5", "twice.obj", "allowed.png", "--size", 64, "--allow-overlap", says="warning: charts overlap, ")
    run("modaltex", "bake", "t.h5", "twice.obj", "own.png", "--size", 512, "--own-charts", says="charts, ")
    write_obj("beyond.obj", points, faces, uv * 1.2, faces)
    run("modaltex", "bake", "t.h5", "beyond.obj", "x.png", code=3, says="have texture coordinates outside of [0, 1]")
    run("modaltex", "bake", "t.h5", "beyond.obj", "beyond.png", "--size", 64, "--allow-overlap", says="cut off")
    write_obj("far.obj", points, faces, uv * 1e9, faces)
    run("modaltex", "bake", "t.h5", "far.obj", "x.png", "--allow-overlap", code=3, says="far.obj: triangle ")
    write_obj("moved.obj", points + 0.001, faces, uv, faces)
    write_obj("dot.obj", points, faces, uv * 0, faces)
    run("modaltex", "bake", "t.h5", "dot.obj", "x.png", code=3, says=f"dot.obj: no texel shows the surface; triangles without area in the image: {len(faces)}")
    run("modaltex", "bake", "t.h5", "moved.obj", "x.png", code=3, says="moved.obj: another surface")
    run("modaltex", "bake", "t.h5", "moved.obj", "moved.png", "--size", 64, "--other-surface")
    run("modaltex", "bake", "t.h5", "bare.obj", "x.obj", code=2, says="x.obj: modaltex makes no .obj")
    run("modaltex", "bake", "t.h5", "s.obj", "x.png", "--size", 0, code=2, says="--size: ")
    run("modaltex", "bake", "t.h5", "s.obj", "x.png", "--size", 16385, code=2, says="--size: ")
    run("modaltex", "bake", "t.h5", "s.obj", "x.png", "--padding", "some", code=2, says="--padding: not full or none, some")
    run("modaltex", "bake", "t.h5", "s.obj", "a.png", code=2, says="a.png: ")
    must(not [name for name in os.listdir(".") if name.startswith("x.") or ".tmp-" in name], os.listdir("."))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_own_uv()
        check_charts()
        check_refused()
        check_rod()
        check_bleeding()
        check_numbers()
        check_kept()
        check_normals()
        check_look()
    lacking.end("bake ok")


main()
