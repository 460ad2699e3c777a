#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what `modalbench plants --plants FOLDER` measures: the 12 species of table 4.5 of B. Wang's thesis (CUDA Deformers for Model Reduction, 2015), the
five plants, the forest and the dragon of B. Wang and J. Barbic (2020), a folder each with plant.h5 and scene.json. Plants come from data/plant.py. In
the dragon's place is a torus of 455,625 vertices, 911,250 triangles and 15 columns (five modes, their derivatives), embedded in a coarse solid, held at one
side, pulled at a vertex at the other. What is there is not made again. Python's own library alone.
usage: grow_plants.py BIN_FOLDER FOLDER [--only NAME,NAME] [--quick]"""
import argparse
import itertools
import json
import math
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
PLANTS = ("pansy", "thesis-conifer", "weed-willow", "thesis-peach", "thesis-broad-leaved", "fir", "red-cedar", "incense-cedar", "quercus", "blue-spruce",
          "three-firs", "thesis-hemlock", "conifer", "peach", "broad-leaved", "hemlock", "treesketch", "forest")
LARGE, SMALL = 1.0, 0.35  # radii of the torus, m


def torus(u, v, tube=1.0):
    """A point of it: u and v go around in [0, 1)."""
    a, b = 2 * math.pi * u, 2 * math.pi * v
    r = LARGE + tube * SMALL * math.cos(b)
    return r * math.cos(a), r * math.sin(a), tube * SMALL * math.sin(b)


def write_solid(path, n, m):
    """n sections of 2 m tetrahedral wedges around the tube's middle, a little wider than the surface, so that it holds it."""
    nodes = [torus(i / n, 0, 0) for i in range(n)] + [torus(i / n, j / m, 1.06 / math.cos(math.pi / m)) for i in range(n) for j in range(m)]
    at = lambda i, j: n + i % n * m + j % m
    tets = []
    for i, j in itertools.product(range(n), range(m)):  # a wedge, in three tetrahedra
        a, b = (i, at(i, j), at(i, j + 1)), ((i + 1) % n, at(i + 1, j), at(i + 1, j + 1))
        tets += [(a[0], a[1], a[2], b[2]), (a[0], a[1], b[2], b[1]), (a[0], b[1], b[2], b[0])]

    def turned(t):
        p = [nodes[k] for k in t]
        d = [[p[k][c] - p[0][c] for c in range(3)] for k in (1, 2, 3)]
        volume = sum(d[0][c] * (d[1][(c + 1) % 3] * d[2][(c + 2) % 3] - d[1][(c + 2) % 3] * d[2][(c + 1) % 3]) for c in range(3))
        return t if volume > 0 else (t[0], t[2], t[1], t[3])

    with open(path, "w", encoding="ascii") as f:
        f.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(nodes)}\n")
        f.writelines(f"{i} {x:.9g} {y:.9g} {z:.9g}\n" for i, (x, y, z) in enumerate(nodes, 1))
        f.write(f"$EndNodes\n$Elements\n{len(tets)}\n")
        f.writelines(f"{i} 4 2 1 1 " + " ".join(str(k + 1) for k in turned(t)) + "\n" for i, t in enumerate(tets, 1))
        f.write("$EndElements\n")


def write_surface(path, n):
    at = lambda i, j: i % n * n + j % n + 1
    with open(path, "w", encoding="ascii") as f:
        f.writelines("v {:.7g} {:.7g} {:.7g}\n".format(*torus(i / n, j / n)) for i in range(n) for j in range(n))
        f.writelines(f"f {at(i, j)} {at(i + 1, j)} {at(i + 1, j + 1)}\nf {at(i, j)} {at(i + 1, j + 1)} {at(i, j + 1)}\n" for i in range(n) for j in range(n))


def grow_dragon(tools, folder, quick):
    folder.mkdir(exist_ok=True)
    inside = lambda name: str(folder / name)
    write_solid(inside("solid.msh"), *((12, 6) if quick else (48, 12)))
    write_surface(inside("surface.obj"), 40 if quick else 675)
    subprocess.run([tools / "modalpack", inside("solid.msh"), inside("part.h5"), "--force", "-q", "--surface", inside("surface.obj"), "--young", "1e6",
                    "--poisson", "0.4", "--density", "1000", "--fixed", "plane:-0.9,0,0:-1,0,0", "--modes", "15", "--derivatives", "5", "--reduced-forces"],
                   check=True)
    scene = {"duration": 4, "fps": 120, "step": 1 / 120, "model": "stvk", "damping": {"alpha": 0.6, "beta": 0.002},
             "forces": [{"object": 0, "point": [LARGE + SMALL, 0, 0], "force": [150, 0, 60]}]}
    with open(inside("scene.json"), "w", encoding="ascii") as f:
        json.dump(scene, f)
    (folder / "part.h5").rename(folder / "plant.h5")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", help="some of " + ", ".join((*PLANTS, "dragon")))
    parser.add_argument("--quick", action="store_true", help="a small torus")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    wanted = given.only.split(",") if given.only else (*PLANTS, "dragon")
    for name in wanted:
        if name not in (*PLANTS, "dragon"):
            parser.error(f"--only: there is no {name}")
        if (given.folder / name / "plant.h5").exists():
            continue
        if name == "dragon":
            grow_dragon(given.tools, given.folder / name, given.quick)
        else:
            subprocess.run([sys.executable, root / "data/plant.py", name, given.folder / name, "--tools", given.tools], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
