# SPDX-License-Identifier: Apache-2.0
"""Curvature in the programs that people have: Blender reads the colours of `modalcurv --colour`, ParaView colours a sequence by k_max and
shows direction glyphs.
usage: check_curvature_clients.py BIN blender|paraview PROGRAM: 77 where that is absent"""
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import surfaces
from tool_run import must, run

client, program = sys.argv[2], shutil.which(sys.argv[3]) if sys.argv[3] else None
CLIENTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "clients")
FIELDS = "curvature,direction_max"


def start(*command):
    got = subprocess.run(command, capture_output=True, text=True, timeout=280)
    must(got.returncode == 0 and os.path.exists("found.npz"), command, got.returncode, got.stdout[-3000:], got.stderr[-3000:])
    return np.load("found.npz")


def make():
    """A torus that gets thicker, three frames."""
    os.mkdir("frames")
    for i in range(3):
        x, t, _ = surfaces.torus(40, np.random.default_rng(2), inner=0.3 + 0.1 * i)
        surfaces.write_ply(f"frames/{i}.ply", x, t)
    run("modalcurv", "frames", "out", "--fields", FIELDS, "--format", "vtkhdf,ply", "--colour", "k_min", "-q")
    return [surfaces.read_ply(f"out/ply/{i:06}.ply") for i in range(3)]


def blender(frames):
    for i, frame in enumerate(frames):
        with start(program, "--background", "--factory-startup", "--python-exit-code", "1", "--python",
                   f"{CLIENTS}/colours_in_blender.py", "--", f"out/ply/{i:06}.ply", "found.npz") as found:
            must(np.abs(found["x"] - np.stack([frame[a] for a in "xyz"], 1)).max() <= 1e-6, "vertices")
            error = np.abs(found["rgb"] - surfaces.read_colours(f"out/ply/{i:06}.ply")).max()
            must(error <= 0.51, "colours of frame", i, "off by", error)
            must((np.sign(frame["k_min"]) * (found["rgb"][:, 0] - found["rgb"][:, 2]) >= -8).all(), "red above zero, blue below")
        print(f"blender: frame {i}: colours to {error:.2f} of 255")


def paraview(frames):
    with start(program, f"{CLIENTS}/glyphs_in_paraview.py", os.path.abspath("out/sequence.xdmf"), "k_max", "direction_max",
               os.path.abspath("found.npz")) as found:
        must(list(found["times"]) == [0, 1, 2], found["times"])
        for i, frame in enumerate(frames):
            k = frame["k_max"]
            must(np.array_equal(found[f"{i}/values"], k.astype("f4")), "k_max of frame", i)
            colours = found[f"{i}/colours"].astype(int)
            low, high = colours[np.argmin(k)], colours[np.argmax(k)]
            if i == 0:
                must(low[2] > low[0] + 60 and high[0] > high[2] + 60, "cool to warm", low, high)
            lines = found[f"{i}/lines"]
            x, d = np.stack([frame[a] for a in "xyz"], 1), np.stack([frame[f"direction_max_{a}"] for a in "xyz"], 1)
            must(len(lines) == len(x), "a glyph at every vertex", len(lines))
            must(np.abs(lines.mean(1) - x).max() <= 1e-5, "where glyphs are")
            along = (lines[:, 1] - lines[:, 0]) / 0.05
            must(np.abs(along - d).max() <= 1e-3, "directions of glyphs", np.abs(along - d).max())
            must(np.array_equal(found[f"{i}/carried"][:, 0], k.astype("f4")), "glyphs carry k_max")
    print("paraview: 3 frames coloured by k_max, a glyph at every vertex along direction_max")


if not program:
    print(f"{client} is absent: nothing is opened")
    sys.exit(77)
os.chdir(tempfile.mkdtemp(prefix="curvature-clients-"))
{"blender": blender, "paraview": paraview}[client](make())
