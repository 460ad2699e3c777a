# SPDX-License-Identifier: Apache-2.0
"""What tests of modalrender share: a condition, a run of one of the programs (in the folder that is the test's last argument), a box
that swings, PNG, EXR and sRGB. A folder of its own is the test's current one."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import h5py
import numpy as np

from images import read_png  # noqa: F401, for the tests

tools = pathlib.Path(sys.argv[-1]).resolve()
os.chdir(tempfile.mkdtemp(prefix="modalrender-"))
STEEL = ["--young", "2e11", "--poisson", "0.3", "--density", "7800"]


def check(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, what)))


def skip(why):
    print("skipped:", why)
    sys.exit(77)


def run(*words, code=0, error=None, tool="modalrender", **more):
    """stdout as bytes, stderr as text. A failure has one line, with `error` in it."""
    got = subprocess.run([tools / tool, *map(str, words)], capture_output=True, **more)
    got.stderr = got.stderr.decode()
    check(got.returncode == code, words, got.returncode, got.stderr)
    if code:
        check(got.stderr.count("\n") == 1 and got.stderr.startswith(f"{tool}: "), words, got.stderr)
        check(error in got.stderr, words, got.stderr)
    return got


def read_bytes(name):
    with open(name, "rb") as f:
        return f.read()


def read_exr(name):
    """Channels by name, [height, width], of scan lines compressed by ZIP (OpenEXR File Layout)."""
    data = read_bytes(name)
    check(struct.unpack("<II", data[:8]) == (20000630, 2), name, "head")
    at, head = 8, {}
    while data[at]:
        end = data.index(0, at)
        after = data.index(0, end + 1)
        size, = struct.unpack("<i", data[after + 1:after + 5])
        head[data[at:end].decode()] = data[after + 5:after + 5 + size]
        at = after + 5 + size
    at += 1
    left, top, right, bottom = struct.unpack("<4i", head["dataWindow"])
    width, height = right - left + 1, bottom - top + 1
    check(head["compression"] == b"\x03" and head["lineOrder"] == b"\0", name, head["compression"])
    channels, c = [], head["channels"]
    while c[0]:
        end = c.index(0)
        channels.append((c[:end].decode(), ("<u4", "<f2", "<f4")[struct.unpack("<i", c[end + 1:end + 5])[0]]))
        c = c[end + 17:]
    n_chunks = (height + 15) // 16
    offsets = struct.unpack(f"<{n_chunks}Q", data[at:at + 8 * n_chunks])
    out = {name: np.zeros((height, width), kind) for name, kind in channels}
    row = sum(width * np.dtype(kind).itemsize for _, kind in channels)
    for offset in offsets:
        y, size = struct.unpack("<ii", data[offset:offset + 8])
        rows = min(16, height - y)
        body = data[offset + 8:offset + 8 + size]
        if size < rows * row:  # halves of bytes, differences
            b = np.frombuffer(zlib.decompress(body), "u1").astype("i8")
            b[1:] -= 128
            b = np.cumsum(b).astype("u1")
            half = (len(b) + 1) // 2
            whole = np.zeros(len(b), "u1")
            whole[0::2], whole[1::2] = b[:half], b[half:]
            body = whole.tobytes()
        check(len(body) == rows * row, name, "chunk", y, len(body))
        place = 0
        for k in range(rows):
            for channel, kind in channels:
                length = width * np.dtype(kind).itemsize
                out[channel][y + k] = np.frombuffer(body[place:place + length], kind)
                place += length
    return out


def to_srgb(c):
    c = np.clip(c, 0, 1)
    return np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055)


def write_box(fps=500):
    """x.node, x.ele, a basis b.h5 of three modes and a trajectory t.h5 of 0.02 s: a box of 1 x 1 x 3, held below, that swings."""
    n = 4
    nodes = [(x / n, y / n, 3 * z / n) for z in range(n + 1) for y in range(n + 1) for x in range(n + 1)]
    cubes = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]
    corner = lambda x, y, z, c: (x + c % 2) + (n + 1) * ((y + c // 2 % 2) + (n + 1) * (z + c // 4))
    cells = [[corner(x, y, z, c) for c in t] for z in range(n) for y in range(n) for x in range(n) for t in cubes]
    with open("x.node", "w", encoding="utf-8") as f:
        f.write(f"{len(nodes)} 3 0 0\n" + "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(nodes)))
    with open("x.ele", "w", encoding="utf-8") as f:
        f.write(f"{len(cells)} 4 0\n" + "".join(f"{i} {a} {b} {c} {d}\n" for i, (a, b, c, d) in enumerate(cells)))
    run("x.node", "b.h5", *STEEL, "--fixed", "plane:0,0,0:0,0,-1", "--modes", 3, "-q", tool="modalpack")
    run("b.h5", "t.h5", "--duration", 0.02, "--fps", fps, "--initial", "0=2", "-q", tool="modalsim")


def write_tetrahedra_snapshots(name, nodes, cells, triangles, times, displacement, solid=True, damage=None):
    """snapshots.h5 (formats/snapshots.md) of a solid of tetrahedra: displacement(t) is [nodes, 3]. damage: of node 7 in frame 1."""
    u = np.stack([displacement(t) for t in times]).astype("f8")
    if damage is not None:
        u[1, 7, 1] = damage
    with h5py.File(name, "w", libver=("earliest", "v108")) as f:
        f.attrs.update(modal_format="snapshots", modal_format_version="1.0")
        f["displacements"], f["times"] = u, np.array(times, "f8")
        if solid:
            g = f.create_group("solid")
            g["nodes"], g["mass"] = np.array(nodes, "f8"), np.ones(len(nodes))
            g["element_type"], g["element_offsets"] = np.zeros(len(cells), "u1"), 4 * np.arange(len(cells) + 1)
            g["element_nodes"], g["triangles"] = np.array(cells, "i4").ravel(), np.array(triangles, "i4")
