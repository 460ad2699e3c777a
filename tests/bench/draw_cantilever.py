# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/cantilever.svg: a slender bar of HEX20 bent far by a load at its tip, in a basis of natural
modes and in one of modes and derivatives, and Euler's elastica.

usage: draw_cantilever.py BIN_FOLDER OUTPUT.svg"""
import pathlib
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import check_reduced_elements as bar  # noqa: E402
from stvk_solid import Basis, write_inp  # noqa: E402

COLUMNS, SCALE, LEFT, TOP = 12, 560, 30, 60


def outline(basis, u):
    """The sides y = 0 of the bar, bottom and back along the top, in the plane of bending."""
    rest = basis.nodes
    side = [np.flatnonzero((rest[:, 1] == 0) & (rest[:, 2] == z)) for z in (0.0, rest[:, 2].max())]
    path = np.concatenate([i[np.argsort(rest[i, 0])][::1 - 2 * k] for k, i in enumerate(side)])
    return (rest + u)[path][:, [0, 2]]


def path(points, how, closed=True):
    words = " ".join(f"{LEFT + SCALE * x:.1f},{TOP - SCALE * y:.1f}" for x, y in points)
    return f'<path d="M{words}{"Z" if closed else ""}" {how}/>'


def label(x, y, text, colour):
    return f'<text x="{x}" y="{y}" fill="{colour}">{text}</text>'


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    write_inp(folder / "bar.inp", 3, (24, 1, 1), (bar.LENGTH, bar.HEIGHT, bar.HEIGHT))
    shapes = []
    for words in (("--modes", COLUMNS), ("--derivatives", 4, "--modes", COLUMNS)):
        bar.run("modalpack", folder / "bar.inp", folder / "b.h5", "--young", bar.E, "--poisson", 0, "--density", bar.RHO,
                "--fixed", "root", *words, "--reduced-forces", "-f", "-q")
        basis = Basis(folder / "b.h5")
        shapes.append(outline(basis, bar.answer(basis)))
    rest = outline(basis, 0)
line = np.array([[0, bar.HEIGHT / 2]]) + np.stack(bar.elastica(), axis=1) * [1, -1]
drawing = [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 480" font-family="sans-serif" font-size="15">',
    '<rect width="680" height="480" fill="#ffffff"/>',
    path(rest, 'fill="none" stroke="#9a9a9a" stroke-dasharray="3 3"'),
    path(shapes[0], 'fill="#e8a33d" fill-opacity="0.5" stroke="#b06f10"'),
    path(shapes[1], 'fill="#3b7dd8" fill-opacity="0.5" stroke="#1d4f99"'),
    path(line, 'fill="none" stroke="#000000" stroke-width="1.5" stroke-dasharray="7 4"', closed=False),
    label(330, 190, f"{COLUMNS} natural modes", "#b06f10"),
    label(330, 215, f"{COLUMNS} columns of 4 modes and derivatives", "#1d4f99"),
    label(330, 240, "Euler's elastica (dashed)", "#000000"),
    "</svg>", ""]
pathlib.Path(sys.argv[2]).write_text("\n".join(drawing))
