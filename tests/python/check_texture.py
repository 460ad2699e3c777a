# SPDX-License-Identifier: Apache-2.0
"""Octree textures on what moves. usage: check_texture.py BIN_FOLDER REPOSITORY
modaldeform --texture: its values at the points in vtkhdf, ply and glb, beside modaltex sample; shares, orders, splits; what is refused.
modalrender: a look's images of colours and of normals that are octree textures, at rest, moved and deformed, beside modaltex sample."""
import json
import os
import sys
import tempfile

import h5py
import numpy as np

from looks import RUBBER, paint_box, put, read_glb, repository
from tool_run import must, run
from validator import validate

WOOD = '{"layers": [{"kind": "noise", "from": [0.9, 0.1, 0.3], "to": [0.1, 0.8, 0], "scale": 0.1}]}'


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
            must(got.dtype == "u1" and (got[:] == want[order]).all() and "extensions_used" not in f.attrs, words, "colours of vtkhdf")
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
        run("modaldeform", "t.h5", "shared", "--texture", "tex.h5", "--shard", f"{i}/2")
    with open("one/sequence.vtkhdf", "rb") as f, open("shared/sequence.vtkhdf", "rb") as g:
        must(f.read() == g.read(), "shares differ")
    run("modaldeform", "t.h5", "shared2", "--texture", "tex.h5", "--shard", "0/2")
    run("modaldeform", "t.h5", "shared2", "--texture", "white.h5", "--shard", "1/2", code=3, says="arguments")
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


def fields():
    """Curvature and strain of a deformed frame, painted: at each sample the number at its nearest point."""
    run("modaldeform", "t.h5", "o", "-f", "--fields", "k_max")
    run("modalcurv", "o/sequence.vtkhdf", "strained", "-f", "--fields", "stretch_max", "--rest", "box.obj")
    run("modaltex", "build", "b.h5", "number.h5", "--resolution", 64, "--channels", "float", "-f")
    for name in ("k_max", "stretch_max"):
        source = f"{'o' if name == 'k_max' else 'strained'}/sequence.vtkhdf"
        with h5py.File(source) as f:
            v = f["VTKHDF"]
            numbers = v[f"PointData/{name}"][:].reshape(v["Steps"].attrs["NSteps"], -1)[7].astype(float)
            triangles = v["Polygons/Connectivity"][:].reshape(-1, 3)
        low, high = (float(np.quantile(numbers, q)) for q in (0.1, 0.9))
        put("l.json", json.dumps({"layers": [{"kind": "field", "file": source, "field": name, "frame": 7, "range": [low, high]}]}))
        run("modaltex", "paint", "number.h5", "l.json", "painted.h5", "--surface", "b.h5", "-f", "--report", "r.json")
        with h5py.File("painted.h5") as f:
            w = f["samples/barycentric"][:].astype(float)
            at = numbers[triangles[f["samples/triangle"][:]]]
            want = np.clip(at[:, 0] * (1 - w.sum(1)) + at[:, 1] * w[:, 0] + at[:, 2] * w[:, 1], low, high)
            off = np.abs(f["samples/values"][:, 0] - want).max()
        must(high > low and off <= 1e-6 * max(abs(low), abs(high)), name, "differs by", off, low, high)
        run("modaltex", "sample", "painted.h5", "box.obj", "v.ply", "-f")
        with open("v.ply", "rb") as f:
            body = f.read().split(b"end_header\n", 1)[1]
        got = np.frombuffer(body, np.dtype([("x", "<f8", 3), ("v", "<f4")]), len(numbers))["v"]
        with open("r.json", encoding="utf-8") as f:
            told = json.load(f)["differences"][0]
        worst = np.abs(got - np.clip(numbers, low, high)).max()
        must(told["vertices"] == len(numbers) and abs(told["largest"] - worst) < 1e-5 * max(abs(low), abs(high)), name, told, worst)


def write_points(path, points):
    n = len(points) // 3 * 3  # triangles of them, so that it is a surface
    with open(path, "wb") as f:
        head = "ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\n" % n
        f.write((head + "element face %d\nproperty list uchar int vertex_indices\nend_header\n" % (n // 3)).encode())
        f.write(np.ascontiguousarray(points[:n], "<f8").tobytes())
        faces = np.empty(n // 3, np.dtype([("n", "u1"), ("v", "<i4", 3)]))
        faces["n"], faces["v"] = 3, np.arange(n).reshape(-1, 3)
        f.write(faces.tobytes())
    return n


def look(name, material, more=None, **others):
    """Nothing but ambient light: colours are those of the image."""
    materials = {"solid": {"ambient": [1, 1, 1], "diffuse": [0, 0, 0], "two_sided": True, **material}, **(more or {})}
    put(name, json.dumps({"look": 1, "materials": materials, "default": "solid", "ambient": [1, 1, 1],
                          "lights": [{"direction": [0, 0, -1], "colour": [0, 0, 0], "shadow": False}],
                          "cameras": [{"direction": [-0.5, 1, -0.4]}], "background": [0, 0, 0], **others}))
    return name


def drawn(source, name, *words, frame=0):
    run("modalrender", source, "r", "-f", "-q", "--look", name, "--size", "480x360", "--samples", 1, "--buffers",
        "colour,position,normal,triangle,object", *words)
    return {k: np.load(f"r/{k}/{frame:06}.npy") for k in ("colour", "position", "normal", "triangle", "object")}


def at_rest(picture, now, rest, triangles):
    """Which pixels show the objects, their weights of corners, and where they are at rest. now, rest: points of frames."""
    seen = picture["triangle"] >= 0
    corners = triangles[picture["triangle"][seen]]
    a, b, c = (now[corners[:, k]].astype(float) for k in range(3))
    x, u, v = picture["position"][seen] - a, b - a, c - a
    uu, uv, vv, xu, xv = (np.einsum("ij,ij->i", p, q) for p, q in ((u, u), (u, v), (v, v), (x, u), (x, v)))
    det = uu * vv - uv * uv
    weights = np.stack([(xu * vv - xv * uv) / det, (xv * uu - xu * uv) / det], 1)
    weights = np.column_stack([1 - weights.sum(1), weights])
    return seen, corners, weights, np.einsum("ij,ijk->ik", weights, rest[corners])


def finer(seen, place, triangle, texture):
    """Of the pixels that are seen, those that are clearly shorter than a cell: where they are longer, means are drawn."""
    with h5py.File(texture) as f:
        cell = f["tree"].attrs["size"] / f["tree"].attrs["n"] ** f["tree"].attrs["depth"]
    whole = np.full(seen.shape + (3,), np.inf)
    whole[seen] = place
    with np.errstate(invalid="ignore"):
        steps = [np.linalg.norm(np.diff(whole, axis=k), axis=2) for k in (0, 1)]
    short = np.zeros(seen.shape, bool)
    short[:-1, :-1] = (steps[0][:, :-1] < 0.8 * cell) & (steps[1][:-1] < 0.8 * cell)
    short[:-1, :-1] &= (triangle[:-1, :-1] == triangle[1:, :-1]) & (triangle[:-1, :-1] == triangle[:-1, 1:])
    return short[seen]


def samples_of(texture, points):
    n = write_points("points.ply", points)
    got = run("modaltex", "sample", texture, "points.ply", "v.ply", "-f")
    must("outside" not in got.stderr, got.stderr)
    return n, colours("v.ply")[0]


def render_ground(linear):
    """A texture around a square in the ground's plane, smaller than the ground: colours and normals there, the material's beyond."""
    side, height = 3, -0.3
    put("floor.obj", "".join(f"v {x} {y} {height}\n" for x, y in ((-1, -1), (2, -1), (2, 2), (-1, 2))) + "f 1 2 3\nf 1 3 4\n")
    put("noise.json", '{"layers": [{"kind": "noise", "from": [0.9, 0.1, 0.3], "to": [0.1, 0.8, 0], "scale": 0.7}]}')
    run("modaltex", "build", "floor.obj", "floor_white.h5", "--resolution", 32, "-f")
    run("modaltex", "paint", "floor_white.h5", "noise.json", "floor.h5", "-f")
    run("modaltex", "build", "floor.obj", "floor_n.h5", "--resolution", 32, "--channels", "float3", "-f")
    slope = np.array([0.48, -0.36, 0.8])
    with h5py.File("floor_n.h5", "r+") as f:
        f["samples/values"][:] = slope
        f.attrs["content"] = np.bytes_("normals")
    name = look("l.json", {"ambient": [0, 0, 1]}, {"floor": {"image": "floor.h5", "normal_image": "floor_n.h5", "ambient": [1, 1, 1], "diffuse": [0, 0, 0]}},
                ground={"height": height, "material": "floor", "size": 8})
    run("modalrender", "t.h5", "r", "-f", "-q", "--look", name, "--size", "480x360", "--samples", 1, "--buffers", "colour,position,normal,object,triangle",
        "--report", "r.json")
    p = {k: np.load(f"r/{k}/000000.npy") for k in ("colour", "position", "normal", "object")}
    floor = (p["object"] < 0) & (np.abs(p["position"][..., 2] - height) < 1e-5) & (np.abs(p["colour"]).max(2) > 0)
    place = p["position"].astype(float)
    inside = floor & (np.abs(place[..., :2] - 0.5) < 0.5 * side - 0.2).all(2)
    beyond = floor & (np.abs(place[..., :2] - 0.5) > 0.5 * side + 0.3).any(2)
    steps = [np.linalg.norm(np.diff(place, axis=k), axis=2) for k in (0, 1)]  # where a pixel is shorter than a cell
    near = np.zeros_like(inside)
    near[:-1, :-1] = (steps[0][:, :-1] < 0.08) & (steps[1][:-1] < 0.08)
    near &= inside
    n, want = samples_of("floor.h5", np.column_stack([place[near][:, :2], np.full(near.sum(), height)]))
    off = np.abs(p["colour"][near][:n] - linear(want[:, :3])).max()
    must(n > 3000 and off < 0.006 and len(np.unique(want, axis=0)) > 40, "the ground's colours are off by", off, n)
    must(np.abs(p["normal"][inside] - slope).max() < 1e-3, "the ground's normals", np.abs(p["normal"][inside] - slope).max())
    must(beyond.sum() > 500 and (p["colour"][beyond] == 1).all() and np.abs(p["normal"][beyond] - [0, 0, 1]).max() < 1e-6, "beyond the texture", beyond.sum())


def render():
    def frames(source, folder, *words):
        run("modaldeform", source, folder, "-f", *words)
        with h5py.File(f"{folder}/sequence.vtkhdf") as f:
            v = f["VTKHDF"]
            points = v["Points"][:].reshape(v["Steps"].attrs["NSteps"], -1, 3)
            normals = v["PointData/Normals"][:].reshape(points.shape)
            return points, normals, v["Polygons/Connectivity"][:].reshape(-1, 3)

    linear = lambda c: np.where(c <= 10.3, c / 255 / 12.92, ((c / 255 + 0.055) / 1.055) ** 2.4)
    run("modalsim", "b.h5", "t.h5", "--duration", 0.1, "--fps", 100, "--initial", "0=1", "-f")
    points, normals, triangles = frames("t.h5", "d")
    _, own, _ = frames("b.h5", "rest", "--modes", "0", "--frames", "0")
    with h5py.File("b.h5") as f:
        rest = np.empty((len(f["shapes/0000/surface/user_vertex"]), 3))
        rest[f["shapes/0000/surface/user_vertex"][:]] = f["shapes/0000/surface/rest_positions"][:]
    # colours, at rest and bent: those of the same places of the texture
    cases = (("b.h5", 0, rest, own[0]), ("t.h5", 7, points[7], normals[7]))
    for source, frame, now, _ in cases:
        p = drawn(source, look("l.json", {"image": "tex.h5"}), frame=frame)
        seen, _, _, place = at_rest(p, now, rest, triangles)
        near = finer(seen, place, p["triangle"], "tex.h5")
        n, want = samples_of("tex.h5", place[near])
        must(n > 5000, "the picture shows", n)
        off = np.abs(p["colour"][seen][near][:n] - linear(want[:, :3]))
        must(off.max() < 0.006, source, "colours are off by", off.max())  # half of 1 / 255, where a step of sRGB is longest
        must(len(np.unique(np.rint(50 * p["colour"][seen]), axis=0)) > 40, "one colour")
    moved = np.abs(points[7] - rest).max()
    must(moved > 0.03, "nothing moves", moved)
    # normals: a field of directions in the coordinates of the object
    run("modaltex", "build", "b.h5", "n.h5", "--resolution", 64, "--channels", "float3", "-f")
    with h5py.File("n.h5", "r+") as f:
        k, size, origin = f["samples/key"][:], f["tree"].attrs["size"], f["tree/origin"][:]
        bits = lambda axis: sum(((k >> (3 * i + axis)) & 1) << i for i in range(20))
        x = origin + np.stack([bits(a) for a in range(3)], 1) * size / 64
        n = np.array([0.3, -0.2, 1]) + x * [1, 3, -2]
        f["samples/values"][:] = n / np.linalg.norm(n, axis=1)[:, None]
        f.attrs["content"] = np.bytes_("normals")
    field = lambda x: (np.array([0.3, -0.2, 1]) + x * [1, 3, -2]) / np.linalg.norm(np.array([0.3, -0.2, 1]) + x * [1, 3, -2], axis=1)[:, None]
    unit = lambda v: v / np.linalg.norm(v, axis=1)[:, None]

    def turned(corners, weights, x, points, normals, rest, own):
        """By formats/look.md: from the frame at rest to that of the deformed surface."""
        m, n = (unit(np.einsum("ij,ijk->ik", weights, v[corners].astype(float))) for v in (own, normals))
        frame = lambda p, axis: unit((lambda e: e - np.einsum("ij,ij->i", e, axis)[:, None] * axis)(p[corners[:, 1]] - p[corners[:, 0]].astype(float)))
        s, t, value = frame(rest, m), frame(points, n), field(x)
        part = lambda axis: np.einsum("ij,ij->i", value, axis)[:, None]
        return unit(part(s) * t + part(np.cross(m, s)) * np.cross(n, t) + part(m) * n)

    for source, frame, now, now_normals in cases:
        p = drawn(source, look("l.json", {"image": "tex.h5", "normal_image": "n.h5", "two_sided": False}), "--crease", 180, frame=frame)
        seen, corners, weights, place = at_rest(p, now, rest, triangles)
        want = turned(corners, weights, place, now, now_normals, rest, own[0])
        near = finer(seen, place, p["triangle"], "n.h5")
        off = np.abs(p["normal"][seen] - want)[near].max()
        must(near.sum() > 5000 and off < 2e-3, source, "normals are off by", off, near.sum())
        if source == "b.h5":  # nothing is deformed: those of the texture
            off = np.abs(p["normal"][seen] - field(place))[near].max()
            must(off < 2e-3, "normals at rest", off)
    # a turned object, and one of another shape, which has a material of its own; the ground has none
    put("places.csv", "0,0,-1,0,0,0,0,0,90\n1,1,-1,0,0,0.6,0,0,0\n")
    run("modalplace", "places.csv", "two.h5", "b.h5", "other.h5", "-f")
    plain = {"plain": {"ambient": [0.25, 0.5, 0.75]}}
    name = look("l.json", {"image": "tex.h5", "normal_image": "n.h5", "two_sided": False}, plain,
                shapes=[{"shape": 1, "material": "plain"}], ground={"height": -0.3, "material": "plain"})
    p = drawn("two.h5", name)
    with h5py.File("two.h5") as f:
        pose = f["objects/rest_pose"][0]
    must(np.abs(pose[:, :3] - np.eye(3)).max() > 0.5, "the object is not turned", pose)
    mine = p["object"] == 0
    place = (p["position"][mine] - pose[:, 3]) @ pose[:, :3]
    near = finer(mine, place, p["triangle"], "tex.h5")
    n, want = samples_of("tex.h5", place[near])
    off = np.abs(p["colour"][mine][near][:n] - linear(want[:, :3])).max()
    must(n > 500 and off < 0.006, n, off)
    off = np.abs(p["normal"][mine] - field(place) @ pose[:, :3].T)[near].max()
    must(off < 2e-3, "normals of a turned object", off)
    must((np.abs(p["colour"][p["object"] == 1] - [0.25, 0.5, 0.75]) < 1e-6).all(), "the other shape's colour")
    render_ground(linear)
    # any number of threads, shares and samples; what is seen through; both together with an image
    for words in (("--samples", 8), ("--samples", 4, "--shadow", "hard")):
        for j in (1, 3):
            run("modalrender", "two.h5", f"j{j}", "-f", "-q", "--look", name, "--size", "160x120", "-j", j, *words)
        with open("j1/png/000000.png", "rb") as f, open("j3/png/000000.png", "rb") as g:
            must(f.read() == g.read(), words, "threads differ")
    run("modaltex", "build", "b.h5", "half.h5", "--resolution", 32, "-f")
    put("fill.json", '{"layers": [{"kind": "fill", "value": [1, 0, 0]}]}')
    run("modaltex", "paint", "half.h5", "fill.json", "red.h5", "-f")
    with h5py.File("red.h5", "r+") as f:
        f["samples/values"][:, 3] = 102
    name = look("l.json", {"image": "red.h5", "alpha": "blend", "two_sided": False}, background=[0, 0, 1])
    p = drawn("t.h5", name)["colour"]
    must(np.abs(p - [0.4, 0, 0.6]).max(2).min() < 1e-5 and np.abs(p[0, 0] - [0, 0, 1]).max() < 1e-6, "what is seen through", p[180, 240])
    # refused
    no = lambda material, says, code=3, **more: run("modalrender", "t.h5", "no", "--look", look("bad.json", material, **more), code=code, says=says)
    no({"image": "tex.h5"}, "the ground: tex.h5 is on a shape; the ground needs a texture of its own", ground={"material": "solid"})
    no({}, "the ground: floor.h5 has no value there", more={"floor": {"image": "floor.h5"}}, ground={"material": "floor", "height": 0.7, "size": 4})
    no({}, "material solid: floor.h5 was built around another surface than that of shape 0", more={"solid": {"image": "floor.h5"}},
       ground={"material": "solid", "height": -0.3, "size": 4})
    no({"image": "f.h5"}, "f.h5: colours need rgba8, not float3")
    no({"image": "other_tex.h5"}, "other_tex.h5: built around no surface of the basis")
    no({"image": "none.h5"}, "none.h5: ")
    no({"image": "b.h5"}, "b.h5: ")
    run("modaltex", "build", "b.h5", "one.h5", "--resolution", 32, "--channels", "float", "-f")
    no({"normal_image": "one.h5"}, "one.h5: normals need rgba8 or float3, not float")
    run("modalrender", "two.h5", "no", "--look", look("bad.json", {"image": "tex.h5"}), code=3,
        says="material solid: tex.h5 was built around another surface than that of shape 1")
    run("modaltex", "pack", "bad.json", "no.h5", code=3, says="bad.json: material solid has an octree texture, which is no image to be packed; modaltex bake makes one")
    run("modaldeform", "t.h5", "no", "--format", "glb", "--look", "bad.json", code=3,
        says="bad.json: material solid: tex.h5 is an octree texture, for which other files have no room; modaltex bake makes an image of it")
    must(not os.path.exists("no") and not os.path.exists("no.h5"), "no is there")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        fields()
        render()
    print("textures on moving meshes ok")
