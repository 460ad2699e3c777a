# SPDX-License-Identifier: Apache-2.0
"""Octree textures. usage: check_octree.py BIN_FOLDER
modaltex build, paint and sample beside an own computation; neighbours along the surface; the same bytes for any number of threads; the rules of formats/octree.md by
modalinfo --check and by the validator, with a file broken for each; what is refused."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from images import write_png
from tool_run import must, run
from validator import validate

rng = np.random.default_rng(5)


def sphere(n=24, m=12):
    """Positions and triangles of a sphere, away from the origin."""
    ring = np.array([[np.sin(np.pi * (j + 1) / (m + 1)) * np.cos(2 * np.pi * i / n), np.sin(np.pi * (j + 1) / (m + 1)) * np.sin(2 * np.pi * i / n),
                      np.cos(np.pi * (j + 1) / (m + 1))] for j in range(m) for i in range(n)])
    points = np.vstack([ring, [[0, 0, 1], [0, 0, -1]]]) * 0.5 + [3, -2, 1]
    at = lambda j, i: j * n + i % n
    faces = [t for j in range(m - 1) for i in range(n) for t in ((at(j, i), at(j + 1, i), at(j + 1, i + 1)), (at(j, i), at(j + 1, i + 1), at(j, i + 1)))]
    faces += [(n * m, at(0, i), at(0, i + 1)) for i in range(n)] + [(n * m + 1, at(m - 1, i + 1), at(m - 1, i)) for i in range(n)]
    return points, np.array(faces, np.int32)


def write_ply(path, points, faces, colours=None, kind="uchar"):
    with open(path, "wb") as f:
        head = "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\n" % len(points)
        head += "".join(f"property {kind} {c}\n" for c in ("red", "green", "blue")) if colours is not None else ""
        f.write((head + "element face %d\nproperty list uchar int vertex_indices\nend_header\n" % len(faces)).encode())
        for i, p in enumerate(points):
            f.write(struct.pack("<3d", *p))
            if colours is not None:
                f.write(struct.pack("<3B" if kind == "uchar" else "<3f", *colours[i]))
        for t in faces:
            f.write(struct.pack("<B3i", 3, *t))


def read_ply(path):
    """Columns of numbers at the vertices of what sample writes."""
    data = open(path, "rb").read()
    head, body = data.split(b"end_header\n", 1)
    n = int(head.split(b"element vertex ")[1].split()[0])
    names = [line.split() for line in head.decode().split("\n") if line.startswith("property") and "list" not in line]
    kinds = {"double": "<f8", "float": "<f4", "uchar": "u1"}
    return np.frombuffer(body, np.dtype([(name, kinds[kind]) for _, kind, name in names]), n)


def json_file(name, text):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    return name


def positions(path):
    """Of the samples, by the lines of Python in formats/octree.md."""
    with h5py.File(path) as f:
        n, depth, size = (f["tree"].attrs[k] for k in ("n", "depth", "size"))
        key = f["samples/key"][:]
        bits = lambda k: sum(((key >> (3 * i + k)) & 1) << i for i in range(20))
        return f["tree/origin"][:] + np.stack([bits(k) for k in range(3)], 1) * size / n**depth


def srgb(x):
    """To linear light."""
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def check_values(points, faces):
    """Painted by hand, sampled by the tool: a linear function on the surface."""
    inside = rng.dirichlet([1, 1, 1], len(faces))
    more = np.einsum("ij,ijk->ik", inside, points[faces])
    write_ply("points.ply", more, np.arange(len(more) // 3 * 3, dtype=np.int32).reshape(-1, 3))
    for n in (2, 4, 8):
        run("modaltex", "build", "s.ply", "f.h5", "--resolution", 64, "--channels", "float3", "--n", n, "-f")
        x = positions("f.h5")
        with h5py.File("f.h5", "r+") as f:
            must(f["tree"].attrs["n"] == n and len(f["tree/node_offsets"]) == {2: 7, 4: 4, 8: 3}[n], "depth")
            f["samples/values"][:] = np.stack([np.ones(len(x)), x @ [1, 2, -1], x[:, 2]], 1)
            del f["mipmaps"]  # who changes values
        got = run("modaltex", "sample", "f.h5", "points.ply", "v.ply", "-f")
        must(got.stderr == "", got.stderr)
        v = read_ply("v.ply")
        must((v["value_x"] == 1).all() and np.abs(v["value_y"] - more @ [1, 2, -1]).max() < 2e-6 and np.abs(v["value_z"] - more[:, 2]).max() < 1e-6, "values")
        validate("f.h5")
    got = run("modaltex", "sample", "f.h5", "far.ply", "v.ply", "-f")
    must("warning: 3 of 3 vertices are outside of the texture, they get 0" in got.stderr and (read_ply("v.ply")["value_x"] == 0).all(), got.stderr)
    places = [[*more[5]], [50, 0, 0], [*more[6]]]
    json_file("places.csv", "x,y,z\n" + "".join("%.17g,%.17g,%.17g\n" % tuple(p) for p in places))
    for out in ("p.csv", "p.ply"):
        got = run("modaltex", "sample", "f.h5", "places.csv", out, "--outside", 7, says="1 of 3 vertices are outside of the texture, they get 7")
    rows, v = np.loadtxt("p.csv", delimiter=",", skiprows=1), read_ply("p.ply")
    must((rows[:, :3] == places).all() and np.abs(rows[[0, 2], 4] - more[5:7] @ [1, 2, -1]).max() < 2e-6 and (rows[1, 3:] == 7).all(), "points", rows)
    must((np.stack([v["value_x"], v["value_y"], v["value_z"]], 1) == rows[:, 3:].astype("f4")).all() and b"face" not in open("p.ply", "rb").read(), "as .ply")
    for footprint in (0, 0.05):
        got = run("modaltex", "sample", "f.h5", "far.ply", "v.ply", "-f", "--outside", -2.5, "--footprint", footprint)
        must("they get -2.5" in got.stderr and (read_ply("v.ply")["value_z"] == -2.5).all(), got.stderr)


def check_layers(points, faces):
    run("modaltex", "build", "s.ply", "t.h5", "--resolution", 64, "-q")
    x = positions("t.h5")
    json_file("l.json", '{"layers": [{"kind": "checker", "from": [1, 0, 0], "to": [0, 0, 1], "scale": 0.17}]}')
    run("modaltex", "paint", "t.h5", "l.json", "p.h5", "-q")
    odd = np.floor(x / 0.17).sum(1).astype(int) & 1
    with h5py.File("p.h5") as f:
        must((f["samples/values"][:] == np.where(odd[:, None], [0, 0, 255, 255], [255, 0, 0, 255])).all(), "checker")
        must(list(f["provenance"]) == ["0000", "0001"], "provenance")
    json_file("l.json", '{"layers": [{"kind": "fill", "value": [0.2, 0.4, 0.6]}, {"kind": "strokes", "opacity": 0.75, "strokes": '
              '[{"centre": [3.5, -2, 1], "radius": 0.4, "value": [1, 0.5, 0, 0.5], "opacity": 0.5}]}]}')
    run("modaltex", "paint", "t.h5", "l.json", "p.h5", "-q", "-f")
    left = np.maximum(0, 1 - ((x - [3.5, -2, 1]) ** 2).sum(1) / 0.16) ** 2
    over = (0.75 * 0.5 * 0.5 * left)[:, None]
    linear = over * srgb(np.array([1, 0.5, 0])) + (1 - over) * srgb(np.array([51, 102, 153]) / 255)
    with h5py.File("p.h5") as f:
        got = f["samples/values"][:]
        must((got[:, 3] == 255).all() and np.abs(srgb(got[:, :3] / 255) - linear).max() < 0.6 / 255 * 2.3, "strokes", np.abs(srgb(got[:, :3] / 255) - linear).max())
    # colours of the vertices, at the nearest point, and back at the vertices
    for kind, scale in (("uchar", 1), ("float", 255)):
        colours = rng.integers(0, 256, (len(points), 3)) / scale
        write_ply("colours.ply", points, faces, [tuple(c) if scale > 1 else tuple(map(int, c)) for c in colours], kind)
        json_file("l.json", '{"layers": [{"kind": "colours", "file": "colours.ply"}]}')
        run("modaltex", "paint", "t.h5", "l.json", "p.h5", "-q", "-f")
        with h5py.File("p.h5") as f:
            t, w = faces[f["samples/triangle"][:]], f["samples/barycentric"][:]
            weights = np.stack([1 - w.sum(1), w[:, 0], w[:, 1]], 1)
            want = np.einsum("ij,ijk->ik", weights, srgb(colours * scale / 255)[t])
            near = np.einsum("ij,ijk->ik", weights, points[t])
            must(np.abs(srgb(f["samples/values"][:, :3] / 255) - want).max() < 0.012, "colours", np.abs(srgb(f["samples/values"][:, :3] / 255) - want).max())
            must(np.linalg.norm(near - x, axis=1).max() < 1.8 * f["tree"].attrs["size"] / 64, "nearest points")
    for solid in ("noise", "marble", "wood"):
        json_file("l.json", '{"layers": [{"kind": "%s", "from": [0, 0, 0], "to": [1, 1, 1], "scale": 0.1, "seed": 3}]}' % solid)
        for j in (1, 2):
            run("modaltex", "paint", "t.h5", "l.json", f"p{j}.h5", "-q", "-f", "-j", j)
        with h5py.File("p1.h5") as f, h5py.File("p2.h5") as g:
            grey = f["samples/values"][:, 0]
            must((f["samples/values"][:] == g["samples/values"][:]).all() and grey.min() < 40 and grey.max() > 215, solid, grey.min(), grey.max())
        validate("p1.h5")


def write_obj(path, points, faces, uv):
    """uv of the vertices; NaN: none at a face's corner."""
    with open(path, "w", encoding="utf-8") as f:
        f.writelines("v %.17g %.17g %.17g\n" % tuple(p) for p in points)
        f.writelines("vt %.17g %.17g\n" % tuple(c) for c in np.nan_to_num(uv))
        f.writelines("f " + " ".join(f"{v + 1}/{v + 1}" if np.isfinite(uv[t]).all() else str(v + 1) for v in t) + "\n" for t in faces)


def vertex_normals(points, faces):
    """Weights of N. Max."""
    n = np.zeros_like(points)
    for j in range(3):
        x, y, z = (points[faces[:, (j + i) % 3]] for i in range(3))
        a, b = y - x, z - x
        np.add.at(n, faces[:, j], np.cross(a, b) / ((a * a).sum(1) * (b * b).sum(1))[:, None])
    return n / np.linalg.norm(n, axis=1)[:, None]


def at_nearest(path, faces, values):
    """Values of vertices at the samples' nearest points."""
    with h5py.File(path) as f:
        t, w = faces[f["samples/triangle"][:]], f["samples/barycentric"][:].astype(float)
    return np.einsum("ij,ijk->ik", np.stack([1 - w.sum(1), w[:, 0], w[:, 1]], 1), values[t])


def bilinear(image, uv):
    """Linear light of an image [height, width, 3], the first row on top, repeated."""
    height, width = image.shape[:2]
    light, x, y = srgb(image[::-1] / 255), uv[:, 0] % 1 * width - 0.5, uv[:, 1] % 1 * height - 0.5
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    at = lambda a, b: light[(j + b) % height, (i + a) % width]
    x, y = (x - i)[:, None], (y - j)[:, None]
    return (at(0, 0) * (1 - x) + at(1, 0) * x) * (1 - y) + (at(0, 1) * (1 - x) + at(1, 1) * x) * y


def check_images(points, faces):
    """Images by uv and along the axes, normals of a finer surface, and what is refused of them."""
    def paint(layers, *more, **expect):
        json_file("l.json", '{"layers": [%s]}' % layers)
        return run("modaltex", "paint", "t.h5", "l.json", "p.h5", "-f", "--surface", "s.obj", *more, **expect)

    def differs(want, most, keep=None):
        with h5py.File("p.h5") as f:
            off = np.abs(srgb(f["samples/values"][:, :3] / 255) - want)
        must((off if keep is None else off[keep]).max() <= most, "colours differ by", off.max())

    uv = np.stack([(points[:, 0] - 2.4) * 1.3, (points[:, 2] - 0.4) * 0.7], 1)
    write_obj("s.obj", points, faces, uv)
    run("modaltex", "build", "s.obj", "t.h5", "--resolution", 128, "-f", "-q")
    x = positions("t.h5")
    smooth = np.indices((16, 16)).transpose(1, 2, 0)
    image = np.dstack([smooth * 16, 255 - smooth[..., :1] * 8]).astype(np.uint8)
    write_png("image.png", image)
    got = paint('{"kind": "image", "file": "image.png"}')
    own = at_nearest("t.h5", faces, uv)
    outside = ((own < -1e-6) | (own > 1 + 1e-6)).any(1).sum()
    must(outside > 100 and f"image: uv of {outside} of {len(x)} samples are outside" in got.stderr, got.stderr, outside)
    differs(bilinear(image, own), 0.012)
    grey = image[..., :1] // 16  # 16 bits, a palette, one colour: what libpng makes of them
    colours = rng.integers(0, 256, (16, 3)).astype(np.uint8)
    for texels, words, shown in ((image.astype("u2") * 257 + rng.integers(-128, 128, image.shape) * (image > 0) * (image < 255), {}, image),
                                 (grey, {"palette": [tuple(c) for c in colours]}, colours[grey[..., 0]]), (image[..., :1], {}, image[..., [0, 0, 0]])):
        write_png("kind.png", texels.astype(texels.dtype if words or texels.shape[2] == 1 else "u2"), **words)
        paint('{"kind": "image", "file": "kind.png"}')
        differs(bilinear(shown, own), 0.012)
    fine = np.kron(np.indices((1024, 1024)).sum(0)[:, :, None] % 2, [1, 1, 1]).astype(np.uint8) * 255  # texels finer than samples: their mean
    write_png("fine.png", fine)
    paint('{"kind": "image", "file": "fine.png", "wrap": "mirror"}')
    differs(0.5, 0.01)
    for axis, colour in enumerate(((255, 0, 0), (0, 255, 0), (0, 0, 255))):
        write_png(f"along_{'xyz'[axis]}.png", np.full((2, 2, 3), colour, np.uint8))
    paint('{"kind": "triplanar", "files": ["along_x.png", "along_y.png", "along_z.png"], "scale": 1, "sharpness": 3}')
    n = np.abs(at_nearest("t.h5", faces, vertex_normals(points, faces))) ** 3
    differs(n / n.sum(1)[:, None], 0.012)
    paint('{"kind": "triplanar", "file": "image.png", "scale": 0.5, "centre": [0.1, 0.2, 0.3], "sharpness": 64}')
    n = at_nearest("t.h5", faces, vertex_normals(points, faces))
    for axis, across, up, sign in ((0, 1, 2, 1), (1, 0, 2, -1), (2, 0, 1, 1)):
        steep = np.abs(n[:, axis]) > 0.9 * np.linalg.norm(n, axis=1)
        side = sign * np.sign(n[:, axis])
        at = np.stack([side * (x[:, across] - 0.1 - 0.1 * across), x[:, up] - 0.1 - 0.1 * up], 1) / 0.5
        differs(bilinear(image, at), 0.012, steep)
    validate("p.h5")
    # normals of a finer sphere
    fine_points, fine_faces = sphere(96, 48)
    write_ply("finer.ply", fine_points, fine_faces)
    exact = at_nearest("t.h5", faces, points) - [3, -2, 1]
    exact /= np.linalg.norm(exact, axis=1)[:, None]
    for channels in ("float3", "rgba8"):
        run("modaltex", "build", "s.obj", "n.h5", "--resolution", 128, "--channels", channels, "-f", "-q")
        run("modaltex", "paint", "n.h5", "p.h5", "--surface", "s.obj", "--normals", "finer.ply", "-f")
        with h5py.File("p.h5") as f:
            v = f["samples/values"][:, :3].astype(float)
        v = v if channels == "float3" else (v - 128) / 127
        must(np.abs(np.linalg.norm(v, axis=1) - 1).max() < 0.01, channels, "length")
        turned = np.linalg.norm(np.cross(v / np.linalg.norm(v, axis=1)[:, None], exact), axis=1).max()
        must(turned < 0.02, channels, turned)
    write_ply("inside.ply", fine_points, fine_faces[:, ::-1])
    got = run("modaltex", "paint", "n.h5", "p.h5", "--surface", "s.obj", "--normals", "inside.ply", "-f")
    must(f"{len(x)} of {len(x)} samples are next to what faces away" in got.stderr, got.stderr)
    # refused
    paint('{"kind": "image", "file": "none.png"}', code=3, says="none.png")
    paint('{"kind": "image", "file": "s.obj"}', code=3, says="s.obj: ")
    paint('{"kind": "image", "file": "image.png", "wrap": "none"}', code=3, says="/layers/0/wrap: none of repeat, mirror, clamp")
    paint('{"kind": "triplanar", "files": ["along_x.png", "along_y.png"], "scale": 1}', code=3, says="/layers/0/files: ")
    paint('{"kind": "triplanar", "file": "along_x.png"}', code=3, says="scale")
    paint('{"kind": "triplanar", "file": "along_x.png", "files": ["along_x.png", "along_y.png", "along_z.png"], "scale": 1}', code=3, says="/layers/0/file: beside files")
    data = bytearray(open("image.png", "rb").read())
    data[16:24] = bytes(8)
    with open("empty.png", "wb") as f:
        f.write(data)
    paint('{"kind": "image", "file": "empty.png"}', code=3, says="empty.png: ")
    paint('{"kind": "image", "file": "image.png"}', "--surface", "s.ply", code=2, says="--surface")
    json_file("l.json", '{"layers": [{"kind": "image", "file": "image.png"}]}')
    run("modaltex", "paint", "t.h5", "l.json", "x.h5", code=2, says="image: needs --surface")
    uv[7] = np.nan
    write_obj("some.obj", points, faces, uv)
    for surface in ("s.ply", "some.obj"):
        run("modaltex", "paint", "t.h5", "l.json", "x.h5", "--surface", surface, code=3, says="image: the surface has no uv")
    run("modaltex", "paint", "t.h5", "l.json", "x.h5", "--surface", "other.ply", code=3, says="other.ply: another surface")
    run("modaltex", "paint", "t.h5", "x.h5", code=2, says="LAYERS.json or --normals is needed")
    run("modaltex", "paint", "t.h5", "x.h5", "--normals", "finer.ply", code=2, says="--normals: needs --surface")
    run("modaltex", "build", "s.obj", "f.h5", "--channels", "float", "--resolution", 32, "-f", "-q")
    run("modaltex", "paint", "f.h5", "l.json", "x.h5", "--surface", "s.obj", code=3, says="image: only in a texture of rgba8, not of float")
    run("modaltex", "paint", "f.h5", "x.h5", "--surface", "s.obj", "--normals", "finer.ply", code=3, says="normals: only in a texture of float3 or rgba8, not of float")


def check_normal_means():
    """Levels of normals have length 1 and are those of the means of vectors, not of colours; finer.ply is that of check_images."""
    for channels in ("rgba8", "float3"):
        run("modaltex", "build", "s.obj", "nm.h5", "--resolution", 64, "--channels", channels, "-f")
        run("modaltex", "paint", "nm.h5", "p.h5", "--surface", "s.obj", "--normals", "finer.ply", "-f")
        validate("p.h5")
        run("modalinfo", "p.h5", "--check")
        with h5py.File("p.h5") as f:
            must(f.attrs["content"] == b"normals", "content")
            means = np.vstack([f[f"mipmaps/{level:02d}"][:] for level in range(1, 6)]).astype(float)
            n = (means[:, :3] - 128) / 127 if channels == "rgba8" else means
            long = np.abs(np.linalg.norm(n, axis=1) - 1)
            must(np.quantile(long, 0.99) < (0.02 if channels == "rgba8" else 1e-5), channels, "lengths", np.quantile(long, 0.99))
        run("modaltex", "sample", "p.h5", "s.ply", "v.ply", "-f", "--footprint", 0.05)
        v = read_ply("v.ply")
        names = ("red", "green", "blue") if channels == "rgba8" else ("value_x", "value_y", "value_z")
        got = np.stack([v[k] for k in names], 1).astype(float)
        got = (got - 128) / 127 if channels == "rgba8" else got
        x = np.stack([v[k] for k in "xyz"], 1).astype(float) - [3, -2, 1]
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        must(np.median((got * x).sum(1)) > 0.97, channels, "a sphere's normals far off", np.median((got * x).sum(1)))  # of means as colours 0.9
        with h5py.File("p.h5", "r+") as f:
            del f.attrs["content"]
        validate("p.h5", 1)
        shutil.copy("p.h5", "bad.h5")
        with h5py.File("bad.h5", "r+") as f:
            f.attrs["content"] = np.bytes_("heights")
        run("modalinfo", "bad.h5", "--check", code=1)
        validate("bad.h5", 1)


def check_mipmaps(points, faces):
    """Means of all levels by the validator; a footprint of a tenth of the sphere smooths a checker, one of ten spheres gives its mean."""
    json_file("l.json", '{"layers": [{"kind": "checker", "from": [0, 0, 0], "to": [1, 1, 1], "scale": 0.02}]}')
    for n in (2, 4, 8):
        run("modaltex", "build", "s.ply", "m.h5", "--resolution", 64, "--n", n, "-f")
        run("modaltex", "paint", "m.h5", "l.json", "mp.h5", "-f")
        must("with mip levels" in run("modalinfo", "mp.h5").stdout, "modalinfo")
        validate("mp.h5")
        run("modaltex", "sample", "mp.h5", "s.ply", "v.ply", "-f", "--footprint", 10)
        with h5py.File("mp.h5") as f:
            must(len(f["mipmaps"]) == f["tree"].attrs["depth"], "levels")
            mean = f["mipmaps/00"][0]
            must(np.abs(linear_mean(f["samples/values"][:]) - srgb(mean[:3] / 255)).max() < 0.01, "mean", mean)
            if n == 2:
                octaves = {o: f[f"mipmaps/{6 - o:02d}"][:] for o in (2, 3, 4, 6)}
            elif n == 4:
                must(all((np.abs(f[f"mipmaps/{3 - o // 2:02d}"][:].astype(int) - octaves[o]) <= 1).all() for o in (2, 4, 6)), "n = 4 beside n = 2")
            else:
                must(all((np.abs(f[f"mipmaps/{2 - o // 3:02d}"][:].astype(int) - octaves[o]) <= 1).all() for o in (3, 6)), "n = 8 beside n = 2")
        v = read_ply("v.ply")
        must((np.abs(np.stack([v["red"], v["green"], v["blue"]], 1).astype(int) - mean[:3]) <= 1).all(), "of all")
        run("modaltex", "sample", "mp.h5", "s.ply", "v.ply", "-f", "--footprint", 0.1)
        v = read_ply("v.ply")
        must(v["red"].std() < 35 and v["red"].min() > 60, "smooth", v["red"].std(), v["red"].min())
    run("modaltex", "sample", "mp.h5", "s.ply", "none.ply", "--footprint", 1, "--filter", "nearest", code=2, says="--footprint: not with --filter nearest")
    run("modaltex", "build", "s.ply", "m.h5", "--resolution", 64, "--channels", "float3", "-f")
    x = positions("m.h5")
    json_file("l.json", '{"layers": [{"kind": "noise", "from": [1, -2, 3], "to": [0, 5, 4], "scale": 0.2}]}')
    run("modaltex", "paint", "m.h5", "l.json", "mp.h5", "-f")
    validate("mp.h5")
    with h5py.File("mp.h5", "r+") as f:
        f["mipmaps/05"][7, 1] += 0.01
    validate("mp.h5", 1)
    with h5py.File("mp.h5", "r+") as f:  # constants everywhere, at every level
        f["samples/values"][:] = 0.3
        del f["mipmaps"]
    for footprint in (0.001, 0.03, 0.05, 0.2, 7):
        run("modaltex", "sample", "mp.h5", "s.ply", "v.ply", "-f", "--footprint", footprint)
        must(np.abs(read_ply("v.ply")["value_y"] - 0.3).max() < 1e-6, footprint)


def linear_mean(values):
    return srgb(values[:, :3] / 255).mean(0)


def check_threads():
    for j in (1, 2, 3):
        run("modaltex", "build", "s.ply", "same.h5", "--resolution", 128, "-q", "-f", "-j", j)
        with h5py.File("same.h5") as f:
            mine = {name: f[name][()].tobytes() for name in ("samples/key", "samples/triangle", "samples/barycentric", "tree/cells", "mipmaps/00", "mipmaps/06")}
        must(j == 1 or mine == first, "bytes of", j, "threads")
        first = mine
    got = run("modaltex", "build", "s.ply", "r.h5", "--resolution", 128, "--report", "-")
    must('"samples"' in got.stdout and "points a side" in got.stderr, got)
    must(got.stderr.index("samples, about ") < got.stderr.index("points a side") and '"planned_bytes"' in got.stdout, "the planned size", got)


def check_measures(points, faces):
    """Where the surface is bent within two cells, and how far a texture is from what was painted, beside own look-ups."""
    def report(*words):
        run("modaltex", *words, "-f", "-q", "--report", "r.json")
        with open("r.json", encoding="utf-8") as f:
            return json.load(f)

    fine_points, fine_faces = sphere(96, 48)  # of radius 1/2
    small = fine_points * 0.1 + [4, 0, 0]  # and one of 1/20 beside it
    write_ply("two.ply", np.vstack([fine_points, small]), np.vstack([fine_faces, fine_faces + len(fine_points)]))
    for resolution, least, most in ((16, 0.0098, 0.0101), (8, 0.98, 1), (256, 0, 0)):  # two cells: 0.30, 1.1, 0.013 m
        r = report("build", "two.ply", "x.h5", "--resolution", resolution)
        must(least <= r["tight_share"] <= most, "share that is bent", resolution, r["cell"], r["tight_share"])
    os.remove("x.h5")
    colours = rng.integers(0, 256, (len(points), 3)).astype(int)
    write_ply("colours.ply", points, faces, [tuple(map(int, c)) for c in colours])
    for resolution in (16, 256):
        run("modaltex", "build", "s.ply", "c0.h5", "--resolution", resolution, "-q", "-f")
        d = report("paint", "c0.h5", json_file("l.json", '{"layers": [{"kind": "colours", "file": "colours.ply"}]}'), "c1.h5")["differences"]
        run("modaltex", "sample", "c1.h5", "s.ply", "v.ply", "-f", "-q")
        v = read_ply("v.ply")
        off = np.stack([v[k] for k in ("red", "green", "blue")], 1).astype(float) - colours
        psnr = 10 * np.log10(255**2 / (off**2).mean())
        must(len(d) == 1 and d[0]["kind"] == "colours" and d[0]["vertices"] == len(points) and d[0]["largest"] == np.abs(off).max(), d, np.abs(off).max())
        must(abs(d[0]["psnr"] - psnr) < 1e-6 and (resolution < 256 or psnr > 25), "PSNR", d, psnr)


def check_extend():
    """Two strokes on a sphere: what they leave has the means of the smallest cubes that have some, cube by cube here; what they cover keeps its colour."""
    strokes = [{"centre": [3.5, -2, 1], "radius": 0.2, "value": [1, 0.3, 0]}, {"centre": [2.5, -2, 1], "radius": 0.3, "value": [0, 0.2, 0.9]}]
    json_file("l.json", json.dumps({"layers": [{"kind": "strokes", "strokes": strokes}]}))
    run("modaltex", "build", "s.ply", "e0.h5", "--resolution", 32, "-q")
    x = positions("e0.h5")
    inside = [((x - s["centre"]) ** 2).sum(1) < s["radius"] ** 2 * (1 - 0.002**0.5) for s in strokes]  # alpha of a step at least
    for j in (1, 2):
        run("modaltex", "paint", "e0.h5", "l.json", f"e{j}.h5", "--extend", "-q", "-j", j, "--report", "r.json")
    with h5py.File("e1.h5") as f, h5py.File("e2.h5") as g, open("r.json", encoding="utf-8") as r:
        got, key, extended = f["samples/values"][:].astype(int), f["samples/key"][:], json.load(r)["extended"]
        must((got == g["samples/values"][:]).all() and (got[:, 3] == 255).all(), "threads or alpha")
    run("modalinfo", "e1.h5", "--check")
    alpha = np.zeros(len(x))
    for s, w in zip(strokes, inside):
        must(w.sum() > 20 and (np.abs(got[w, :3] - 255 * np.array(s["value"])) <= 1).all(), "what is painted", got[w][:5])
        alpha = np.maximum(alpha, np.rint(255 * np.maximum(0, 1 - ((x - s["centre"]) ** 2).sum(1) / s["radius"] ** 2) ** 2))
    sharp = [k for k in range(len(x)) if alpha[k] == 0]
    must(extended == len(sharp) and 0.5 * len(x) < len(sharp) < len(x), extended, len(sharp))
    light, off = srgb(got[:, :3] / 255), 0
    for k in sharp[::7]:
        octave = next(o for o in range(1, 7) if (alpha[key >> 3 * o == key[k] >> 3 * o] > 0).any())
        cube = key >> 3 * octave == key[k] >> 3 * octave
        off = max(off, np.abs(light[k] - (alpha[cube, None] * light[cube]).sum(0) / alpha[cube].sum()).max())
    must(off < 0.006, "means", off)
    json_file("l.json", '{"layers": [{"kind": "strokes", "strokes": [{"centre": [90, 0, 0], "radius": 1, "value": [1, 0, 0]}]}]}')
    run("modaltex", "paint", "e0.h5", "l.json", "e3.h5", "--extend", code=3, says="l.json: nothing is painted")
    run("modaltex", "build", "s.ply", "ef.h5", "--resolution", 32, "--channels", "float", "-q")
    run("modaltex", "paint", "ef.h5", "l.json", "e3.h5", "--extend", code=3)
    json_file("l.json", '{"layers": [{"kind": "fill", "value": 1}]}')
    run("modaltex", "paint", "ef.h5", "l.json", "e3.h5", "--extend", code=2, says="--extend: needs LAYERS.json and a texture of rgba8")
    must(not os.path.exists("e3.h5"), "e3.h5 is there")


def check_neighbours(points, faces):
    """Those of a sphere are all that are side by side; the areas are the surface's."""
    for j in (1, 2):
        run("modaltex", "build", "s.ply", f"n{j}.h5", "--resolution", 64, "--neighbours", "-q", "-j", j)
    validate("n1.h5")
    must("valid octree" in run("modalinfo", "n1.h5", "--check").stdout and "along the surface of" in run("modalinfo", "n1.h5").stdout, "modalinfo")
    with h5py.File("n1.h5") as f, h5py.File("n2.h5") as g:
        for name in ("area", "neighbours"):
            must((f["samples"][name][:] == g["samples"][name][:]).all(), name, "with two threads")
        a, b, c = (points[faces[:, k]] for k in range(3))
        area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
        must(abs(f["samples/area"][:].sum(dtype=float) - area) <= 1e-6 * area, "area")
        key, mask = f["samples/key"][:], f["samples/neighbours"][:]
    at = np.stack([sum(((key >> (3 * i + k)) & 1) << i for i in range(20)) for k in range(3)], 1) + 1
    where = np.full((66, 66, 66), -1)
    where[tuple(at.T)] = np.arange(len(at))
    for bit in range(26):
        k = bit + (bit >= 13)
        d = np.array([k % 3, k // 3 % 3, k // 9]) - 1
        must(((mask >> bit & 1) == (where[tuple((at + d).T)] >= 0)).all(), "bit", bit)
    run("modaltex", "paint", "n1.h5", json_file("l.json", '{"layers": [{"kind": "fill", "value": [0, 0, 0]}]}'), "n3.h5", "-q")
    with h5py.File("n3.h5") as f:
        must((f["samples/neighbours"][:] == mask).all(), "painted")


def check_basis():
    points, faces = sphere()
    subprocess.run([f"{sys.argv[1]}/modalpack", "--rigid", "s.ply", "basis.h5", "-q"], check=True)
    run("modaltex", "build", "basis.h5", "b.h5", "--resolution", 64, "-q")
    run("modaltex", "build", "s.ply", "t64.h5", "--resolution", 64, "-q")
    with h5py.File("b.h5") as f, h5py.File("t64.h5") as g:
        must(f.attrs["source_hash"] == g.attrs["source_hash"] and (f["samples/triangle"][:] == g["samples/triangle"][:]).all(), "of a basis and of its surface")
    run("modaltex", "build", "basis.h5", "none.h5", "--shape", 1, code=2, says="--shape: the basis has 1, 1")


def check_broken():
    """Each rule of the page, broken once: both checkers see it."""
    def change(name, do, good="t.h5"):
        shutil.copy(good, "bad.h5")
        with h5py.File("bad.h5", "r+") as f:
            do(f)
        got = run("modalinfo", "bad.h5", "--check", code=1)
        must("bad.h5: " in got.stdout + got.stderr, name, got)
        validate("bad.h5", 1)
        run("modaltex", "sample", "bad.h5", "s.ply", "none.ply", code=3, says="bad.h5: ")
        must(not os.path.exists("none.ply"), name, "left an output")

    def put(path, at, value):
        def do(f):
            f[path][at] = value
        return do

    def attribute(path, name, value):
        def do(f):
            f[path].attrs.modify(name, value)
        return do

    with h5py.File("t.h5") as f:
        key, cells, offsets = f["samples/key"][:], f["tree/cells"][:], f["tree/node_offsets"][:]
    used, empty = np.argwhere(cells > 0), np.argwhere(cells == 0)
    no_cell = np.argwhere((cells < 0) & ((-cells - 1) % 2 == 0))
    corner = tuple(no_cell[-1])  # the last sample begins no cell: its corners are not there
    change("n", attribute("tree", "n", np.int64(3)))
    change("depth", attribute("tree", "depth", np.int64(21)))
    change("size", attribute("tree", "size", np.float64(0)))
    change("channels", attribute("/", "channels", "float"))
    change("origin", put("tree/origin", 1, np.nan))
    change("keys", put("samples/key", 5, key[4]))
    change("last key", put("samples/key", len(key) - 1, 2**60))
    change("triangle", put("samples/triangle", 7, 10**6))
    change("weights", put("samples/barycentric", 3, (0.7, 0.7)))
    change("child", put("tree/cells", tuple(used[3]), int(cells[tuple(used[3])]) + 1))
    change("loop", put("tree/cells", tuple(used[3]), 1))
    change("empty", put("tree/cells", tuple(empty[3]), 4))
    change("offsets", put("tree/node_offsets", 3, offsets[3] + 1))
    change("mip levels", lambda f: f.move("mipmaps/02", "mipmaps/more"))
    change("corner", put("tree/cells", corner, int(cells[corner]) - 1))
    with h5py.File("n1.h5") as f:
        mask = f["samples/neighbours"][:]
    change("area", put("samples/area", 5, -1), "n1.h5")
    change("area alone", lambda f: f["samples"].__delitem__("neighbours"), "n1.h5")
    change("neighbours alone", lambda f: f["samples"].__delitem__("area"), "n1.h5")
    change("bit 26", put("samples/neighbours", 5, int(mask[5]) | 1 << 26), "n1.h5")
    change("bit 31", put("samples/neighbours", 5, int(mask[5]) - 2**31), "n1.h5")
    change("nobody there", put("samples/neighbours", 5, 2**26 - 1), "n1.h5")
    change("not back", put("samples/neighbours", 5, int(mask[5]) & (int(mask[5]) - 1)), "n1.h5")
    data = open("t.h5", "rb").read()
    for length in np.linspace(0, len(data) - 1, 60).astype(int):
        with open("cut.h5", "wb") as f:
            f.write(data[:length])
        run("modaltex", "sample", "cut.h5", "s.ply", "none.ply", code=3, says="cut.h5")


def check_refused(points, faces):
    run("modaltex", "build", "s.ply", "x.h5", "--n", 3, code=2, says="--n: not 2, 4 or 8, 3")
    run("modaltex", "build", "s.ply", "x.h5", "--resolution", 7, code=2, says="--resolution: ")
    run("modaltex", "build", "s.ply", "x.h5", "--channels", "rgb", code=2, says="--channels: not rgba8, float or float3, rgb")
    run("modaltex", "build", "s.ply", "x.h5", "--resolution", 1024, "--memory-limit", "1M", code=4, says="; a resolution of 32 needs about ")
    run("modaltex", "build", "s.ply", "fits.h5", "--resolution", 32, "--memory-limit", "1M")
    run("modaltex", "build", "s.ply", "plan.h5", "--resolution", 128, "--report", "r.json")
    planned = json.load(open("r.json", encoding="utf-8"))["planned_bytes"]
    run("modaltex", "build", "s.ply", "x.h5", "--resolution", 128, "--neighbours", "--memory-limit", int(2 * planned), code=4, says="; a resolution of 64 needs about ")
    run("modaltex", "build", "s.ply", "plan.h5", "--resolution", 128, "--memory-limit", int(2 * planned), "-f")
    # what is far too large is refused before it is counted
    run("modaltex", "build", "s.ply", "x.h5", "--resolution", 2**20, code=4, says=" samples, at most 1073741823; a resolution of ")
    run("modaltex", "build", "s.ply", "x.h5", "--resolution", 2**12, "--memory-limit", "100M", code=4, says="--memory-limit: about ")
    crossing = np.vstack([points, points + [0.3, 0.1, 0]])  # two spheres through each other: allowed
    write_ply("crossing.ply", crossing, np.vstack([faces, faces + len(points)]))
    run("modaltex", "build", "crossing.ply", "crossing.h5", "--resolution", 64)
    validate("crossing.h5")
    got = run("modaltex", "sample", "crossing.h5", "crossing.ply", "crossing_v.ply")
    must(got.stderr == "", got.stderr)
    run("modaltex", "build", "s.ply", "t.h5", code=2, says="t.h5: ")
    run("modaltex", "sample", "t.h5", "s.ply", "x.ply", "--filter", "cubic", code=2, says="--filter: not trilinear or nearest, cubic")
    run("modaltex", "sample", "s.ply", "s.ply", "x.ply", code=3, says="s.ply: ")
    run("modaltex", "sample", "t.h5", "s.ply", "x.txt", code=2, says="OUT: no name of a .ply or .csv, x.txt")
    run("modaltex", "sample", "t.h5", "s.ply", "x.ply", "--shape", 1, code=2, says="--shape: s.ply is no basis, 1")
    nan = points.copy()
    nan[3, 1] = np.nan
    write_ply("nan.ply", nan, faces)
    run("modaltex", "build", "nan.ply", "x.h5", code=3, says="nan.ply")
    write_ply("flat.ply", np.zeros((3, 3)), faces[:1] * 0 + [0, 1, 2])
    run("modaltex", "build", "flat.ply", "x.h5", code=3, says="flat.ply: the surface has no area")
    half = faces[: len(faces) // 2]  # open, with an edge of three triangles and one without area
    odd = np.vstack([half, [[half[0][0], half[0][1], 100], [half[0][0], half[0][1], len(points)]]])
    write_ply("odd.ply", np.vstack([points, points[half[0][0]]]), odd)
    run("modaltex", "build", "odd.ply", "odd.h5", "--resolution", 32, says="warning: 1 triangles without area, left out")
    validate("odd.h5")
    for text, says in (('{"layers": []}', "l.json:1: /layers: "), ('{"layers": [{"kind": "felt"}]}', "/layers/0/kind: none of fill"),
                       ('{"layers": [{"kind": "fill", "value": [0, 2, 0]}]}', "/layers/0/value/1: "), ('{"layers": [{"kind": "fill", "value": 1}]}', "/layers/0/value: "),
                       ('{"layers": [{"kind": "noise", "from": [0,0,0], "to": [1,1,1], "scale": 0}]}', "/layers/0/scale: "),
                       ('{"layers": [{"kind": "wood", "from": [0,0,0], "to": [1,1,1], "scale": 1, "axis": [0,0,0]}]}', "/layers/0/axis: has no direction"),
                       ('{"layers": [{"kind": "strokes", "strokes": [{"centre": [0,0,0], "radius": 0, "value": [0,0,0]}]}]}', "/layers/0/strokes/0/radius: "),
                       ('{"layers": [{"kind": "colours", "file": "../s.ply"}]}', "/layers/0/file: a path inside"),
                       ('{"layers": [{"kind": "colours", "file": "none.ply"}]}', "none.ply"), ('{"layers": [{"kind": "colours", "file": "s.ply"}]}', "s.ply: its vertices have no colours"),
                       ('{"layers": [{"kind": "colours", "file": "other.ply"}]}', "other.ply: another surface"), ('{"layers": [{"kind": "fill", "valeu": 1}]}', "valeu")):
        run("modaltex", "paint", "t.h5", json_file("l.json", text), "x.h5", code=3, says=says)
    head = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nproperty uchar green\n"
    json_file("l.json", '{"layers": [{"kind": "strokes", "strokes": [{"centre": [9, 9, 9], "radius": 1, "value": [0,0,0]}]}]}')
    run("modaltex", "paint", "t.h5", "l.json", "far.h5", says="warning: strokes: 1 of 1 reach no sample")
    write_ply("bright.ply", points, faces, [(0, 0.5, 200.0)] * len(points), "float")
    json_file("l.json", '{"layers": [{"kind": "colours", "file": "bright.ply"}]}')
    run("modaltex", "paint", "t.h5", "l.json", "x.h5", code=3, says=f"bright.ply: colours that are floats must be in 0 .. 1; vertices that are not: {len(points)}")
    tail = "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
    rows = ("0 0 0 1 2 3", "1 0 0 3 4", "0 1 0 5 6 7", "3 0 1 2", "")
    json_file("few.ply", head + "property uchar blue\n" + tail + "\n".join(rows))
    run("modaltex", "build", "few.ply", "x.h5", "--resolution", 16, code=3, says="few.ply:14: vertex 1: blue missing")
    json_file("two_colours.ply", head + tail + "\n".join(row[:9] for row in rows))
    run("modaltex", "build", "two_colours.ply", "y.h5", "--resolution", 16)
    for text, says in (('{"layers": [{"kind": "colours", "file": "two_colours.ply"}]}', "two_colours.ply: its vertices have no colours"),
                       ('{"layers": [{"kind": "strokes", "strokes": [{"centre": [0,0,0], "radius": NaN, "value": [0,0,0]}]}]}', "l.json:1: "),
                       ('{"layers": [{"kind": "strokes", "strokes": [{"centre": [0,0,0], "radius": 1e999, "value": [0,0,0]}]}]}', "l.json:1: ")):
        run("modaltex", "paint", "y.h5", json_file("l.json", text), "x.h5", code=3, says=says)
    must(not [name for name in os.listdir(".") if name.startswith("x.") or ".tmp-" in name], os.listdir("."))


def main():
    with tempfile.TemporaryDirectory() as folder:
        sys.argv[1] = os.path.abspath(sys.argv[1])
        os.chdir(folder)
        points, faces = sphere()
        write_ply("s.ply", points, faces)
        write_ply("far.ply", np.eye(3) * 50, [[0, 1, 2]])
        write_ply("other.ply", points * 1.01, faces, [(1, 2, 3)] * len(points))
        check_values(points, faces)
        check_layers(points, faces)
        check_images(points, faces)
        check_normal_means()
        run("modaltex", "build", "s.ply", "t.h5", "--resolution", 64, "-q", "-f")
        check_mipmaps(points, faces)
        check_threads()
        check_basis()
        check_measures(points, faces)
        check_extend()
        check_neighbours(points, faces)
        check_broken()
        check_refused(points, faces)
        must("valid octree" in run("modalinfo", "t.h5", "--check").stdout and "points a side" in run("modalinfo", "t.h5").stdout, "modalinfo")
    print("octree textures ok")


main()
