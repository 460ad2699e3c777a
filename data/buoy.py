#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a textured surface: a life buoy of quads with two materials, texture coordinates with seams, images and a normal map.
usage: buoy.py OUT_FOLDER
Writes buoy.obj, buoy.mtl, canvas.png, rope.png, rope_normal.png. The same bytes every time; Python's own library alone."""
import math
import os
import struct
import sys
import zlib

LARGE, SMALL = 0.3, 0.08  # m: the ring's radius and its tube's
AROUND, ACROSS = 72, 24   # quads
ROPES, ROPE = 4, 4        # bands of rope, and their width in quads


def write_png(name, width, height, colour):
    """colour(x, y): three bytes, the highest row first."""
    rows = b"".join(b"\0" + bytes(c for x in range(width) for c in colour(x, y)) for y in range(height))
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    with open(name, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
                   chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def canvas(x, y):
    """Red and white quarters with a seam between them, and a weave."""
    along = (x + 0.5) / 64 % 1
    weave = 10 * ((x // 2 + y // 2) % 2)
    seam = min(along, 1 - along, abs(along - 0.5)) < 0.02
    red = along < 0.5
    return [max(0, c - weave - (60 if seam else 0)) for c in ((200, 40, 30) if red else (235, 232, 220))]


def twist(x, y):
    """The rope's height: strands that run across at an angle."""
    return abs(math.sin(math.pi * (x / 16 + y / 16)))


def rope(x, y):
    return [round(c * (0.55 + 0.45 * twist(x, y))) for c in (205, 170, 110)]


def rope_normal(x, y):
    """Green points to larger v, which is up."""
    slope = (2 * (twist(x + 0.5, y) - twist(x - 0.5, y)), 2 * (twist(x, y - 0.5) - twist(x, y + 0.5)))
    n = (-slope[0], -slope[1], 0.7)
    length = math.sqrt(sum(c * c for c in n))
    return [round(127.5 + 127.5 * c / length) for c in n]


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: buoy.py OUT_FOLDER")
    inside = lambda name: os.path.join(sys.argv[1], name)
    os.makedirs(sys.argv[1], exist_ok=True)
    write_png(inside("canvas.png"), 128, 64, canvas)
    write_png(inside("rope.png"), 64, 64, rope)
    write_png(inside("rope_normal.png"), 64, 64, rope_normal)
    with open(inside("buoy.mtl"), "w") as file:
        file.write("newmtl canvas\nKd 1 1 1\nKs 0.1 0.1 0.1\nNs 30\nmap_Kd canvas.png\n"
                   "newmtl rope\nKd 1 1 1\nNs 5\nmap_Kd rope.png\nnorm rope_normal.png\n")
    lines = ["mtllib buoy.mtl"]
    for i in range(AROUND):
        for k in range(ACROSS):
            a, b = 2 * math.pi * i / AROUND, 2 * math.pi * k / ACROSS
            r = LARGE + SMALL * math.cos(b)
            lines.append(f"v {r * math.cos(a):.6f} {r * math.sin(a):.6f} {SMALL * math.sin(b):.6f}")
    lines += [f"vt {2 * i / AROUND:.6f} {2 * k / ACROSS:.6f}" for i in range(AROUND + 1) for k in range(ACROSS + 1)]
    lines += [f"vt {i / ROPE:.6f} {4 * k / ACROSS:.6f}" for i in range(ROPE + 1) for k in range(ACROSS + 1)]
    for name in ("canvas", "rope"):
        lines.append(f"usemtl {name}")
        for i in range(AROUND):
            place = (i + ROPE // 2) % (AROUND // ROPES)
            if (place < ROPE) != (name == "rope"):
                continue
            for k in range(ACROSS):
                corners = ((i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1))
                first, at = (1, 0) if name == "canvas" else ((AROUND + 1) * (ACROSS + 1) + 1, i - place)
                lines.append("f " + " ".join(f"{p % AROUND * ACROSS + q % ACROSS + 1}/{first + (p - at) * (ACROSS + 1) + q}" for p, q in corners))
    with open(inside("buoy.obj"), "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
