# SPDX-License-Identifier: Apache-2.0
"""Readers of what modaldeform --format writes, in plain Python and numpy, from the formats'
descriptions and not from our writers. Each returns a dict of arrays, or a list of them, one a frame."""
import json
import os
import struct
import xml.etree.ElementTree as ET

import numpy as np


def read(path):
    with open(path, "rb") as file:
        return file.read()


def pc2(path):
    data = read(path)
    signature, version, n, start, rate, frames = struct.unpack_from("<12siiffi", data)
    assert signature == b"POINTCACHE2\0" and version == 1, (signature, version)
    assert len(data) == 32 + 12 * n * frames, f"{len(data)} bytes"
    return {"start": start, "rate": rate, "Points": np.frombuffer(data, "<f4", offset=32).reshape(frames, n, 3)}


def mdd(path):
    data = read(path)
    frames, n = struct.unpack_from(">ii", data)
    assert len(data) == 8 + 4 * frames + 12 * n * frames, f"{len(data)} bytes"
    return {"times": np.frombuffer(data, ">f4", frames, 8),
            "Points": np.frombuffer(data, ">f4", offset=8 + 4 * frames).reshape(frames, n, 3)}


def ply(path):
    data = read(path)
    end = data.index(b"end_header\n") + len(b"end_header\n")
    lines = data[:end].decode("ascii").splitlines()
    assert lines[:2] == ["ply", "format binary_little_endian 1.0"], lines[:2]
    n = m = 0
    names = []
    for line in lines[2:-1]:
        words = line.split()
        if words[:2] == ["element", "vertex"]:
            n = int(words[2])
        elif words[:2] == ["element", "face"]:
            m = int(words[2])
        elif words[:2] == ["property", "float"] and not m:
            names.append(words[2])
        else:
            assert words == ["property", "list", "uchar", "int", "vertex_indices"] and m, line
    values = np.frombuffer(data, "<f4", n * len(names), end).reshape(n, len(names))
    faces = np.frombuffer(data, np.dtype([("count", "u1"), ("corners", "<i4", 3)]), offset=end + values.nbytes)
    assert len(faces) == m and (faces["count"] == 3).all(), "faces"
    found = {"triangles": faces["corners"]}
    for array, columns in (("Points", ["x", "y", "z"]), ("Normals", ["nx", "ny", "nz"]),
                           ("displacement", [f"displacement_{k}" for k in "xyz"]), ("speed", ["speed"])):
        if columns[0] in names:
            at = [names.index(c) for c in columns]
            found[array] = values[:, at] if len(at) > 1 else values[:, at[0]]
    assert sum(a.shape[1] if a.ndim > 1 else 1 for k, a in found.items() if k != "triangles") == len(names), names
    return found


def ply_series(path):
    with open(path, encoding="utf-8") as text:
        series = json.load(text)
    assert series["file-series-version"] == "1.0"
    files = [os.path.join(os.path.dirname(path), f["name"]) for f in series["files"]]
    return np.array([f["time"] for f in series["files"]]), [ply(f) for f in files]


def obj(path):
    """Numbers as float64 of the text, rounded to float32 by the caller."""
    found = {"v": [], "vn": [], "f": []}
    with open(path, encoding="ascii") as text:
        for line in text:
            keyword, *words = line.split()
            found[keyword].append(words)
    corners = [[c.split("//") for c in f] for f in found["f"]]
    assert all(len(f) == 3 and all(len(set(c)) == 1 for c in f) for f in corners), "corners"
    result = {"Points": np.array(found["v"], "f8"),
              "triangles": np.array([[int(c[0]) - 1 for c in f] for f in corners])}
    if found["vn"]:
        assert all(len(c) == 2 for f in corners for c in f), "no normals at corners"
        result["Normals"] = np.array(found["vn"], "f8")
    return result


def frames_of(folder, extension, reader):
    names = sorted(os.listdir(folder))
    assert names == [f"{i:06d}.{extension}" for i in range(len(names))], names
    return [reader(os.path.join(folder, name)) for name in names]


def glb_parts(path):
    """The JSON and a function that gives an accessor's array."""
    data = read(path)
    magic, version, length, json_length, json_kind = struct.unpack_from("<4sIII4s", data)
    assert (magic, version, length, json_kind) == (b"glTF", 2, len(data), b"JSON"), "head"
    root = json.loads(data[20:20 + json_length])
    bin_length, bin_kind = struct.unpack_from("<I4s", data, 20 + json_length)
    start = 28 + json_length
    assert bin_kind == b"BIN\0" and json_length % 4 == 0 and start + bin_length == len(data), "BIN"
    assert root["buffers"] == [{"byteLength": bin_length}] and root["asset"]["version"] == "2.0"

    def array(index):
        accessor = root["accessors"][index]
        view = root["bufferViews"][accessor["bufferView"]]
        kind = {5126: "<f4", 5125: "<u4"}[accessor["componentType"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
        count = accessor["count"] * width
        assert view["byteLength"] == 4 * count and view["byteOffset"] + 4 * count <= bin_length, "view"
        values = np.frombuffer(data, kind, count, start + view["byteOffset"])
        values = values.reshape(-1, width) if width > 1 else values
        if "min" in accessor:  # as float32, they are the least and most to the bit
            for bound, found in ((accessor["min"], values.min(axis=0)), (accessor["max"], values.max(axis=0))):
                assert (np.asarray(bound, "f4") == np.atleast_1d(found)).all(), "min, max"
        return values

    return root, array


def glb(path):
    """Evaluates a GLB at its key frames: times, world positions [F, n, 3] and triangles, objects one after
    the other. Weights are clamped to [0, 1], as Blender does."""
    root, array = glb_parts(path)
    channels, times = {}, None
    for animation in root.get("animations", []):
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            times = array(sampler["input"])
            channels[channel["target"]["node"], channel["target"]["path"]] = array(sampler["output"])
    frames = len(times) if times is not None else 1
    points, triangles, rests, base = [], [], [], 0
    for i in root["scenes"][root["scene"]]["nodes"]:
        node = root["nodes"][i]
        mesh = root["meshes"][node["mesh"]]
        (primitive,) = mesh["primitives"]
        x = np.broadcast_to(array(primitive["attributes"]["POSITION"]).astype("f8"),
                            (frames, *array(primitive["attributes"]["POSITION"]).shape)).copy()
        rest = x[0].copy()
        targets = [array(t["POSITION"]).astype("f8") for t in primitive.get("targets", [])]
        if targets:
            weights = channels[i, "weights"].reshape(frames, len(targets)).astype("f8")
            assert weights.min() >= 0 and weights.max() <= 1, "weights"
            for k, target in enumerate(targets):
                x += weights[:, k, None, None] * target
                rest += mesh["weights"][k] * target
        turn = channels.get((i, "rotation"), np.broadcast_to(node["rotation"], (frames, 4))).astype("f8")
        assert np.abs(np.linalg.norm(turn, axis=1) - 1).max() < 1e-6, "quaternions"
        v, w = turn[:, None, :3], turn[:, None, 3:]
        cross = 2 * np.cross(v, x)
        x = x + w * cross + np.cross(v, cross)
        x += channels.get((i, "translation"), np.broadcast_to(node["translation"], (frames, 3)))[:, None, :]
        rests.append(rest)
        points.append(x)
        triangles.append(array(primitive["indices"]).reshape(-1, 3).astype("i8") + base)
        base += x.shape[1]
    return {"times": times, "Points": np.concatenate(points, axis=1), "triangles": np.concatenate(triangles),
            "rest": np.concatenate(rests), "root": root}


def glb_normals(path):
    """Unit normals in world axes [F, n, 3] of a GLB at its key frames, as a viewer has them."""
    root, array = glb_parts(path)
    channels = {}
    for channel in root["animations"][0]["channels"]:
        channels[channel["target"]["node"], channel["target"]["path"]] = array(root["animations"][0]["samplers"][channel["sampler"]]["output"])
    frames = len(array(root["animations"][0]["samplers"][0]["input"]))
    normals = []
    for i in root["scenes"][root["scene"]]["nodes"]:
        (primitive,) = root["meshes"][root["nodes"][i]["mesh"]]["primitives"]
        n = array(primitive["attributes"]["NORMAL"]).astype("f8")
        n = np.broadcast_to(n, (frames, *n.shape)).copy()
        targets = primitive.get("targets", [])
        for k, target in enumerate(targets):
            if "NORMAL" in target:
                n += channels[i, "weights"].reshape(frames, len(targets))[:, k, None, None] * array(target["NORMAL"]).astype("f8")
        n /= np.linalg.norm(n, axis=2, keepdims=True)
        turn = channels.get((i, "rotation"), np.broadcast_to(root["nodes"][i]["rotation"], (frames, 4))).astype("f8")
        v, w = turn[:, None, :3], turn[:, None, 3:]
        cross = 2 * np.cross(v, n)
        normals.append(n + w * cross + np.cross(v, cross))
    return np.concatenate(normals, axis=1)


def vtk_xml(path):
    """A .vtp of triangles or a .vtu, data appended raw."""
    data = read(path)
    begin = data.index(b'<AppendedData encoding="raw">')
    at = data.index(b"_", begin) + 1
    root = ET.fromstring(data[:begin] + b"</VTKFile>")
    assert (root.get("byte_order"), root.get("header_type"), root.get("version")) == ("LittleEndian", "UInt64", "1.0")
    grid = root.find(root.get("type"))
    piece = grid.find("Piece")
    kinds = {"Float32": "<f4", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1"}
    found, end = {}, at
    for item in piece.iter("DataArray"):
        start = at + int(item.get("offset"))
        assert start == end, "arrays do not follow one another"
        (length,) = struct.unpack_from("<Q", data, start)
        end = start + 8 + length
        values = np.frombuffer(data, kinds[item.get("type")], offset=start + 8,
                               count=length // np.dtype(kinds[item.get("type")]).itemsize)
        width = int(item.get("NumberOfComponents"))
        found[item.get("Name")] = values.reshape(-1, width) if width > 1 else values
    assert data[end:].split() == [b"</AppendedData>", b"</VTKFile>"], "end"
    n, offsets = int(piece.get("NumberOfPoints")), found.pop("offsets")
    assert len(found["Points"]) == n
    cells = int(piece.get("NumberOfPolys") or piece.get("NumberOfCells"))
    if root.get("type") == "PolyData":
        assert np.array_equal(offsets, 3 * np.arange(1, cells + 1)), "offsets"
        found["triangles"] = found.pop("connectivity").reshape(-1, 3).astype("i8")
    else:
        assert len(offsets) == len(found["types"]) == cells and offsets[-1] == len(found["connectivity"]), "cells"
        ends = np.concatenate([[0], offsets])
        ids = found.pop("connectivity")
        found["cells"] = [(int(t), tuple(ids[a:b])) for t, a, b in zip(found.pop("types"), ends, offsets)]
    (time,) = grid.findall("FieldData/DataArray")
    assert time.get("Name") == "TimeValue"
    return float(time.text), found


def pvd(path):
    items = ET.parse(path).getroot().findall("Collection/DataSet")
    read_in = [vtk_xml(os.path.join(os.path.dirname(path), i.get("file"))) for i in items]
    times = np.array([float(i.get("timestep")) for i in items])
    assert np.array_equal(times, [t for t, _ in read_in]), "TimeValue"
    return times, [f for _, f in read_in]


def probes(path):
    table = np.genfromtxt(path, delimiter=",", names=True, dtype="f8")
    n = int(table["probe"].max()) + 1
    assert np.array_equal(table["probe"], np.tile(np.arange(n), len(table) // n)), "probe"
    assert np.array_equal(table["frame"], np.repeat(np.arange(len(table) // n), n)), "frame"
    found = {"times": table["time"].reshape(-1, n)[:, 0], "points": table["point"][:n].astype("i8")}
    assert np.array_equal(table["point"], np.tile(found["points"], len(table) // n)), "point"
    for name, columns in (("Points", ("x", "y", "z")), ("Normals", ("normal_x", "normal_y", "normal_z")),
                          ("displacement", ("displacement_x", "displacement_y", "displacement_z"))):
        if columns[0] in table.dtype.names:
            found[name] = np.stack([table[c].reshape(-1, n) for c in columns], axis=2)
    if "speed" in table.dtype.names:
        found["speed"] = table["speed"].reshape(-1, n)
    return found
