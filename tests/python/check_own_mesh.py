# SPDX-License-Identifier: Apache-2.0
"""An artist's own mesh, of quads with texture coordinates and materials, through the whole pipeline; the point caches fit it
vertex by vertex, here and (with BLENDER) in Blender, where it keeps all that it has.
usage: check_own_mesh.py BIN BLENDER: 77 where that is absent"""
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import read_formats
from tool_run import must, run

blender = shutil.which(sys.argv[2]) if sys.argv[2:] else None
HERE = os.path.dirname(os.path.abspath(__file__))
FRAMES, SLOW = 13, 50  # of 1200 frames a second: 24 shown ones


def bar(path):
    """A bar of 8 x 2 x 2 quads a side, in an order of vertices of its own; two materials and texture coordinates."""
    size = np.array([8, 2, 2])
    grid = [g for g in np.ndindex(*(size + 1)) if any(i in (0, s) for i, s in zip(g, size))]
    order = np.random.default_rng(3).permutation(len(grid))
    number = {grid[k]: i + 1 for i, k in enumerate(order)}
    quads = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for end in (0, 1):
            for i in range(size[u]):
                for j in range(size[v]):
                    corners = []
                    for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)) if end else ((0, 0), (0, 1), (1, 1), (1, 0)):
                        g = [0, 0, 0]
                        g[axis], g[u], g[v] = end * size[axis], i + a, j + b
                        corners.append(number[tuple(g)])
                    quads.append((corners, axis))
    x = 0.05 * np.array([grid[k] for k in order], float)
    uv = np.random.default_rng(4).random((4 * len(quads), 2)).round(6)
    lines = ["o bar", *(f"v {a:.9g} {b:.9g} {c:.9g}" for a, b, c in x), *(f"vt {a} {b}" for a, b in uv)]
    for k, (corners, axis) in enumerate(quads):
        if k == 0 or (axis == 0) != (quads[k - 1][1] == 0):
            lines.append(f"usemtl {'ends' if axis == 0 else 'sides'}")
        lines.append("f " + " ".join(f"{c}/{4 * k + i + 1}" for i, c in enumerate(corners)))
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    return x, np.array([c for c, _ in quads]) - 1, uv, [a == 0 for _, a in quads]


def in_blender(x, quads, uv, is_end, wanted):
    if not blender:
        print("check_own_mesh: skipped: no Blender")
        sys.exit(77)
    got = subprocess.run([blender, "--background", "--factory-startup", "--python-exit-code", "1", "--python",
                          os.path.join(os.path.dirname(HERE), "clients/own_mesh_in_blender.py"), "--", os.path.abspath("own.obj"),
                          os.path.abspath("out"), str(FRAMES), "24", os.path.abspath("found.npz")], capture_output=True, text=True, timeout=280)
    must(got.returncode == 0 and os.path.exists("found.npz"), got.stdout[-3000:], got.stderr[-3000:])
    size = np.ptp(x)
    with np.load("found.npz") as found:
        must(np.array_equal(found["polygons"], quads), "polygons", found["polygons"][:3], quads[:3])
        must(np.abs(found["uv"] - uv).max() < 1e-6, "texture coordinates")
        names = [str(found["names"][i]) for i in found["materials"]]
        must(names == ["ends" if e else "sides" for e in is_end], "materials", names[:5])
        for kind in ("pc2", "mdd"):
            error = np.abs(found[f"{kind}/FRAME"] - wanted).max() / size
            must(error < 1e-6, kind, "by frames", error)
        # 50 times slower: 1200 frames a second are 24 a second
        late = np.abs(found["mdd/TIME"] - wanted).max() / size
        print(f"check_own_mesh: Blender, {kind}: by frames {error:.1e}, by time {late:.1e}")
        must(late < 1e-5, "mdd by time", late)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        x, quads, uv, is_end = bar("own.obj")
        run("modalmesh", "own.obj", "bar.msh", "--size", 0.08, "-q")
        run("modalpack", "bar.msh", "bar.h5", "--surface", "own.obj", "--modes", 6, "--material", "rubber", "--fixed",
            "plane:0,0,0:-1,0,0", "-q")
        run("modalsim", "bar.h5", "bar_q.h5", "--duration", (FRAMES - 1) / 1200, "--fps", 1200, "--initial", "0=5e-3", "--initial",
            "2=2e-3", "-q")
        run("modaldeform", "bar_q.h5", "out", "--format", "mdd", "--slow-motion", SLOW, "-q")
        run("modaldeform", "bar_q.h5", "frames", "--format", "pc2", "-q")
        shutil.copy("frames/sequence.pc2", "out")
        with h5py.File("bar.h5") as b, h5py.File("bar_q.h5") as t:
            s = b["shapes/0000"]
            tiles = s["modes/modal_matrix"][:].astype("f8")
            u = tiles.transpose(0, 3, 1, 2).reshape(-1, tiles.shape[1], 3)[:len(x)]
            wanted = np.empty((FRAMES, *x.shape))
            wanted[:, s["surface/user_vertex"][:]] = s["surface/rest_positions"][:] + np.einsum("vki,fk->fvi", u, t["q"][:])
            rest = np.empty_like(x)
            rest[s["surface/user_vertex"][:]] = s["surface/rest_positions"][:]
        must(np.abs(rest - x).max() < 1e-7, "the vertices of the basis are not those of the .obj, in their order")
        must(np.abs(wanted - x).max() > 0.01 * np.ptp(x), "it hardly moves")
        for kind, read in (("pc2", read_formats.pc2), ("mdd", read_formats.mdd)):
            must(np.abs(read(f"out/sequence.{kind}")["Points"] - wanted).max() < 1e-6 * np.ptp(x), kind)
        in_blender(x, quads, uv, is_end, wanted)
        os.chdir("/")


main()
