# SPDX-License-Identifier: Apache-2.0
"""Pictures of a fork, a plant and a stack of glass, drawn from stored positions, beside those in tests/files/golden: the same bytes, on every back
end that is here.
usage: check_render_golden.py FOLDER_OF_GOLDEN_PICTURES [--write] BIN; --write makes them anew"""
import json
import math
import os
import pathlib
import shutil
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1]).resolve()

from render_tools import check, read_bytes, read_png, run, write_tetrahedra_snapshots  # noqa: E402

STEEL = {"diffuse": [0.5, 0.52, 0.55], "specular": [0.8, 0.8, 0.8], "shininess": 60}
COLOURS = [[0.9, 0.3, 0.2], [0.9, 0.7, 0.2], [0.3, 0.8, 0.3], [0.2, 0.7, 0.8], [0.25, 0.35, 0.9], [0.6, 0.3, 0.8], [0.8, 0.8, 0.85]]


def write_look(name, **parts):
    with open(name, "w", encoding="utf-8") as f:
        json.dump({"look": 1, "ground": {"material": "floor"}, **parts}, f)


def write_glass():
    """Seven slabs, each turned and smaller: six tetrahedra a slab, 12 triangles of its boundary."""
    nodes, cells, triangles = [], [], []
    for i in range(len(COLOURS)):
        for h in (0, 0.25):
            for y in (-1, 1):
                for x in (-1, 1):
                    t, s = 0.35 * i, 0.75 - 0.045 * i
                    nodes.append([round(s * (x * math.cos(t) - y * math.sin(t)), 4), round(s * (x * math.sin(t) + y * math.cos(t)), 4), 0.32 * i + h])
        for c in ((0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)):
            cells.append([8 * i + k for k in c])
        for a, b, c, d in ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (1, 3, 7, 5), (3, 2, 6, 7), (2, 0, 4, 6)):
            triangles += [[8 * i + a, 8 * i + b, 8 * i + c], [8 * i + a, 8 * i + c, 8 * i + d]]
    write_tetrahedra_snapshots("glass.h5", np.array(nodes), np.array(cells), np.array(triangles), [0.0], lambda t: 0 * np.array(nodes))
    glass = {f"glass{i}": {"diffuse": c, "specular": [0.9, 0.9, 0.9], "shininess": 80, "opacity": 0.35 + 0.05 * (i % 3), "alpha": "blend", "two_sided": True}
             for i, c in enumerate(COLOURS)}
    write_look("glass.json", materials={**glass, "floor": {"diffuse": [0.6, 0.58, 0.55]}},
               shapes=[{"shape": 0, "ranges": [{"first": 12 * i, "count": 12, "material": f"glass{i}"} for i in range(len(COLOURS))]}],
               lights=[{"direction": [0.7, 0.6, -1]}, {"direction": [-1, 0.4, -0.5], "colour": [0.4, 0.4, 0.5]}],
               cameras=[{"direction": [-0.5, 0.8, -0.5]}], background=[0.75, 0.8, 0.86])


write_glass()
write_look("fork.json", materials={"steel": STEEL, "floor": {"diffuse": [0.35, 0.3, 0.28]}}, default="steel",
           lights=[{"direction": [0.6, 0.5, -1]}, {"direction": [-1, 0.2, -0.4], "colour": [0.3, 0.3, 0.4]}], cameras=[{"direction": [-0.5, 0.6, -0.5]}],
           background=[0.2, 0.24, 0.3])
write_look("plant.json", materials={"leaf": {"diffuse": [0.35, 0.6, 0.25], "two_sided": True}, "floor": {"diffuse": [0.5, 0.45, 0.4]}}, default="leaf",
           lights=[{"direction": [0.6, 0.8, -1.2]}], cameras=[{"direction": [-0.4, 1, -0.35]}], background=[0.7, 0.8, 0.9])
CASES = [("fork", folder / "fork.vtkhdf", []), ("plant", folder / "plant.vtkhdf", ["--samples", "8", "--shadow", "hard"]),
         ("glass", "glass.h5", ["--shadow-alpha", "0.4"])]

versions = run("-V").stdout.decode()
back_ends = ["cpu", "ref"] + (["cuda:0"] if "cuda:0:" in versions else [])
for name, positions, words in CASES:
    for back_end in back_ends:
        run(positions, "o", "-f", "-q", "--size", "480x270", "--look", f"{name}.json", "--backend", back_end, *words)
        if "--write" in sys.argv:
            shutil.copy("o/png/000000.png", folder / f"{name}.png")
        got, want = read_png("o/png/000000.png"), read_png(folder / f"{name}.png")
        check(got.shape == want.shape == (270, 480, 3), got.shape)
        differ = (got != want).any(2)
        check(not differ.any(), name, back_end, differ.sum(), "pixels differ, at most by", np.abs(got.astype(int) - want).max(), "the picture is",
              os.path.abspath("o/png/000000.png"))
    check(read_png(folder / f"{name}.png").std() > 10, name, "shows nothing")
    print(f"{name}: the same bytes by {', '.join(back_ends)}")
