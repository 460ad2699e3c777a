# SPDX-License-Identifier: Apache-2.0
"""Readers of what modaldeform --format writes, in plain Python and numpy, from the formats'
descriptions and not from our writers. Each returns a dict of arrays, or a list of them, one a frame."""
import json
import os
import struct

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
