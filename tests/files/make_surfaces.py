#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes one pyramid as every kind of surface file: good-pyramid*.{stl,ply,off}."""
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
VERTICES = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0.75)]
FACES = [(0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)]
TRIANGLES = [(0, 3, 2), (0, 2, 1)] + FACES[1:]


def write(name, text):
    (HERE / f"good-pyramid{name}").write_bytes(text if isinstance(text, bytes) else text.encode())


def numbers(values):
    return " ".join(f"{v:g}" for v in values)


def off():
    faces = "".join(f"{len(f)} {numbers(f)}\n" for f in FACES)
    vertices = "".join(numbers(v) + "\n" for v in VERTICES)
    write(".off", f"OFF\n# a pyramid\n5 5 0\n{vertices}{faces}")
    coloured = "".join(numbers(v) + " 0 0 1 255 128 0 1\n" for v in VERTICES)
    write("-colours.off", f"CNOFF 5 5 8\n{coloured}" + faces.replace("\n", " 0.5 0.5 1\n"))


def stl():
    text = "solid pyramid\n"
    for triangle in TRIANGLES:
        text += "  facet normal 0 0 0\n    outer loop\n"
        text += "".join(f"      vertex {numbers(VERTICES[v])}\n" for v in triangle)
        text += "    endloop\n  endfacet\n"
    write(".stl", text + "endsolid pyramid\n")
    data = b"solid, in spite of its first word".ljust(80) + struct.pack("<I", len(TRIANGLES))
    for triangle in TRIANGLES:
        corners = [c for v in triangle for c in VERTICES[v]]
        data += struct.pack("<12fH", 0, 0, 0, *corners, 0)
    write("-binary.stl", data)


def ply():
    def head(encoding, real, index):
        return (
            f"ply\nformat {encoding} 1.0\ncomment a pyramid\nelement vertex 5\n"
            f"property {real} x\nproperty {real} y\nproperty {real} z\nproperty uchar red\n"
            f"property float s\nproperty float t\nelement face 5\n"
            f"property list uchar {index} vertex_indices\nelement edge 1\n"
            f"property int vertex1\nproperty int vertex2\nend_header\n"
        )

    text = head("ascii", "float", "int")
    text += "".join(f"{numbers(v)} 255 {numbers(v[:2])}\n" for v in VERTICES)
    text += "".join(f"{len(f)} {numbers(f)}\n" for f in FACES) + "0 1\n"
    write(".ply", text)
    for order, name, real, index in (("<", "little", "double", "uint"), (">", "big", "float", "short")):
        data = head(f"binary_{name}_endian", real, index).encode()
        for v in VERTICES:
            data += struct.pack(order + ("3d" if real == "double" else "3f") + "B2f", *v, 255, *v[:2])
        for f in FACES:
            data += struct.pack(f"{order}B{len(f)}{'I' if index == 'uint' else 'h'}", len(f), *f)
        write(f"-{name}.ply", data + struct.pack(order + "2i", 0, 1))


off()
stl()
ply()
