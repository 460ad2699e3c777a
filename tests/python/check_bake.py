# SPDX-License-Identifier: Apache-2.0
"""modaltex bake. usage: check_bake.py BIN_FOLDER
Texels beside look-ups at their places, for charts of the surface and for charts that are made; the look that shows the image; mip levels of the
filled image; the same bytes for any number of threads; what is refused."""
import json
import os
import struct
import tempfile
import zlib

import h5py
import numpy as np

from images import from_linear, to_linear
from tool_run import must, run


def read_png(name):
    """[height, width, 3 or 4], the highest row first: 8 bits, filter "up"."""
    data, at, body = open(name, "rb").read(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        body += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    n = {2: 3, 6: 4}[colour]
    rows = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, width * n + 1)
    must(bits == 8 and (rows[:, 0] == 2).all(), "filter")
    return np.cumsum(rows[:, 1:], 0, dtype=np.uint8).reshape(height, width, n)


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
    run("modaltex", "bake", "t.h5", "moved.obj", "x.png", code=3, says="moved.obj: another surface")
    run("modaltex", "bake", "t.h5", "moved.obj", "moved.png", "--size", 64, "--other-surface")
    run("modaltex", "build", "s.obj", "f.h5", "--channels", "float", "--resolution", 32, "-q")
    run("modaltex", "bake", "f.h5", "s.obj", "x.png", code=3, says="f.h5: an image has colours, the texture is of float")
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
    print("bake ok")


main()
