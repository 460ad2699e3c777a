# SPDX-License-Identifier: Apache-2.0
"""What tests of modalrender share: a condition, a run of one of the programs (in the folder that is the test's last argument), a box
that swings, PNG and sRGB. A folder of its own is the test's current one."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

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


def read_png(name):
    """[height, width, 3] of 8 or 16 bits, of files whose rows have the filter "up"; sums are checked."""
    data = read_bytes(name)
    check(data[:8] == b"\x89PNG\r\n\x1a\n", name, "signature")
    at, body, kinds = 8, b"", []
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        part = data[at + 8:at + 8 + length]
        check(struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + part), name, kind)
        kinds.append(kind)
        if kind == b"IHDR":
            width, height, bits, *rest = struct.unpack(">IIBBBBB", part)
            check(bits in (8, 16) and rest == [2, 0, 0, 0], name, bits, rest)
        if kind == b"IDAT":
            body += part
        at += 12 + length
    check(kinds == [b"IHDR", b"sRGB", b"IDAT", b"IEND"], name, kinds)
    rows = np.frombuffer(zlib.decompress(body), "u1").reshape(height, 1 + 3 * width * bits // 8)
    check((rows[:, 0] == 2).all(), name, "filters")
    pixels = np.cumsum(rows[:, 1:], 0, dtype="u1")
    return pixels.view("u1" if bits == 8 else ">u2").reshape(height, width, 3)


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
