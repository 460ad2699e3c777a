#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws coloured .ply files of `modalcurv --colour` side by side, with the lines of `--lines` where they are given:

    draw_curvature.py PICTURE.png [--view X,Y,Z] [--up X,Y,Z] [--size PIXELS] [--lines FOLDER] FILE.ply...

FOLDER has NNNNNN.vtp of the same frames: ridges are drawn dark red, valleys dark blue. All panels have one scale. It needs numpy alone.
The pictures of docs/gallery.md:

    draw_curvature.py --torus FOLDER      writes a torus whose tube swells as a wave, three frames: FOLDER/0.ply ..."""
import argparse
import os
import pathlib
import struct
import sys
import xml.etree.ElementTree as tree
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import surfaces  # noqa: E402


def read(name):
    """Vertices, triangles, colours 0 to 1."""
    with open(name, "rb") as f:
        n_faces = next(int(line.split()[2]) for line in iter(f.readline, b"") if line.startswith(b"element face"))
    data = surfaces.ply_vertices(name)
    raw = np.fromfile(name, "u1")[-13 * n_faces:].reshape(-1, 13)
    triangles = raw[:, 1:].copy().view("<i4")
    return np.stack([data[a] for a in "xyz"], 1).astype(float), triangles, surfaces.read_colours(name) / 255


def read_lines(name):
    arrays = {d.get("Name"): np.array((d.text or "").split(), float) for d in tree.parse(name).getroot().iter("DataArray")}
    ends = arrays["offsets"].astype(int)
    points = arrays["Points"].reshape(-1, 3)
    return [(points[a:b], bool(v)) for a, b, v in zip(np.r_[0, ends[:-1]], ends, arrays["valley"])]


def camera(view, up):
    back = np.array(view) / np.linalg.norm(view)
    right = np.cross(up, back)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(back, right), back])


def normals(x, t):
    n = np.zeros_like(x)
    c = np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]])
    for k in range(3):
        np.add.at(n, t[:, k], c)
    return n / np.maximum(np.linalg.norm(n, axis=1), 1e-30)[:, None]


def put(image, depth, pixels, z, colours):
    """The nearest of each pixel; larger z is nearer."""
    inside = ((pixels >= 0) & (pixels < np.array(depth.shape)[::-1])).all(1)
    flat, z, colours = pixels[inside] @ [1, depth.shape[1]], z[inside], colours[inside]
    order = np.argsort(z, kind="stable")
    flat, z, colours = flat[order], z[order], colours[order]
    nearer = z >= depth.ravel()[flat]
    depth.ravel()[flat[nearer]] = z[nearer]
    image.reshape(-1, 3)[flat[nearer]] = colours[nearer]


def draw(x, t, rgb, lines, axes, middle, scale, size):
    image, depth = np.ones((size, size, 3)), np.full((size, size), -np.inf)
    place = lambda p: ((p - middle) @ axes.T) * [scale, -scale, scale] + [size / 2, size / 2, 0]
    seen, n = place(x), normals(x, t) @ axes.T
    light = 0.45 + 0.55 * np.clip(n @ (np.array([0.35, 0.5, 0.8]) / 1.006), 0, 1)
    shaded = rgb * light[:, None]
    longest = max(np.linalg.norm(seen[t[:, k], :2] - seen[t[:, (k + 1) % 3], :2], axis=1).max() for k in range(3))
    k = int(min(60, np.ceil(1.5 * longest) + 1))
    for a in range(k + 1):
        for b in range(k + 1 - a):
            w = np.array([a, b, k - a - b]) / k
            p = sum(w[i] * seen[t[:, i]] for i in range(3))
            put(image, depth, p[:, :2].astype(int), p[:, 2], sum(w[i] * shaded[t[:, i]] for i in range(3)))
    for points, valley in lines:
        for p, q in zip(place(points)[:-1], place(points)[1:]):
            s = np.linspace(0, 1, int(2 * np.linalg.norm(q - p)) + 2)[:, None]
            way = p + s * (q - p) + [0, 0, 0.004 * size]
            for shift in ((0, 0), (1, 0), (0, 1), (1, 1)):
                put(image, depth, way[:, :2].astype(int) + shift, way[:, 2], np.tile([0.05, 0.1, 0.45] if valley else [0.5, 0.02, 0.02], (len(s), 1)))
    return image


def write_png(name, image):
    rows = (255 * np.clip(image, 0, 1) + 0.5).astype("u1")
    change = rows.copy()
    change[:, 1:] -= rows[:, :-1]  # PNG's filter 1: modulo 256
    raw = b"".join(b"\1" + row.tobytes() for row in change)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    with open(name, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", rows.shape[1], rows.shape[0], 8, 2, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def make_torus(folder):
    os.makedirs(folder, exist_ok=True)
    for i in range(3):
        u, w = (2 * np.pi * a / 160 for a in surfaces.grid(160, 160, True, np.random.default_rng(1), 0.2)[:2])
        tube = 0.38 * (1 + 0.12 * i * np.cos(5 * u + 1.2 * i))
        far = 1 + tube * np.cos(w)
        t = surfaces.grid(160, 160, True, np.random.default_rng(1), 0.2)[2]
        x = np.stack([far * np.cos(u), far * np.sin(u), tube * np.sin(w)], 1)
        centre = np.stack([np.cos(u), np.sin(u), 0 * u], 1)
        surfaces.write_ply(f"{folder}/{i}.ply", x, t if outwards(x, t, centre) else t[:, ::-1])


def outwards(x, t, centre):
    n = np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]])
    return ((x - centre)[t[:, 0]] * n).sum() > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torus")
    parser.add_argument("--view", default="1,-1.6,1.1")
    parser.add_argument("--up", default="0,0,1")
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--lines")
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    if given.torus:
        return make_torus(given.torus)
    axes = camera(*([float(v) for v in text.split(",")] for text in (given.view, given.up)))
    frames = [read(name) for name in given.names[1:]]
    seen = np.concatenate([x for x, _, _ in frames]) @ axes.T
    low, high = seen.min(0), seen.max(0)
    middle, scale = (low + high) / 2 @ axes, 0.94 * given.size / (high - low)[:2].max()
    panels = []
    for i, (x, t, rgb) in enumerate(frames):
        lines = read_lines(f"{given.lines}/{int(pathlib.Path(given.names[1 + i]).stem):06}.vtp") if given.lines else []
        large = draw(x, t, rgb, lines, axes, middle, 2 * scale, 2 * given.size)
        panels.append(large.reshape(given.size, 2, given.size, 2, 3).mean((1, 3)))
    return write_png(given.names[0], np.concatenate(panels, 1))


if __name__ == "__main__":
    main()
