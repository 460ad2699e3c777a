# SPDX-License-Identifier: Apache-2.0
"""Outlines of modalrender beside ParaView's of the same frames: pixels that only one of them covers lie at the outline, and the areas agree.
usage: check_render_paraview.py PVPYTHON CLIENT BIN; 77: no ParaView, no X"""
import json
import shutil
import subprocess
import sys

import numpy as np

pvpython, client = shutil.which(sys.argv[1] or "-"), sys.argv[2]

from render_tools import check, run, skip, write_box  # noqa: E402

if not pvpython or not shutil.which("xvfb-run"):
    skip("no pvpython" if not pvpython else "no xvfb-run")
write_box()
WIDTH, HEIGHT = 400, 300
run("t.h5", "s", "-q", "--normals", "dynamic", tool="modaldeform")
for frame, eye in ((0, [2.5, -6, 2]), (6, [-4, -5, 4.5])):
    camera = {"eye": eye, "target": [0.5, 0.5, 1.5], "up": [0, 0, 1], "fov": 0.7}
    with open("look.json", "w", encoding="utf-8") as f:
        json.dump({"look": 1, "materials": {"a": {"two_sided": True}}, "default": "a", "cameras": [camera]}, f)
    with open("camera.json", "w", encoding="utf-8") as f:
        json.dump({**camera, "size": [WIDTH, HEIGHT]}, f)
    run("t.h5", "o", "-f", "-q", "--look", "look.json", "--frames", frame, "--size", f"{WIDTH}x{HEIGHT}", "--samples", 1, "--shadow", "none", "--buffers",
        "object")
    mine = np.load("o/object/000000.npy") >= 0
    got = subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 640x480x24 -noreset", pvpython, client, "s/sequence.xdmf", str(frame), "camera.json", "p.npy"],
                         capture_output=True, text=True, timeout=200)
    check(got.returncode == 0, got.stderr[-2000:])
    theirs = np.load("p.npy")
    check(mine.shape == theirs.shape and 2000 < mine.sum() < 60000, mine.shape, theirs.shape, mine.sum())
    near = np.zeros_like(mine)  # within a pixel of the outline
    padded = np.pad(mine, 1)
    for dy in (0, 1, 2):
        for dx in (0, 1, 2):
            near |= padded[dy:dy + HEIGHT, dx:dx + WIDTH] != mine
    differ = mine != theirs
    check(not (differ & ~near).any(), frame, (differ & ~near).sum(), "pixels differ away from the outline")
    check(abs(int(mine.sum()) - int(theirs.sum())) < 0.003 * mine.sum(), frame, mine.sum(), theirs.sum())
    print(f"frame {frame}: {differ.sum()} of {mine.sum()} pixels differ, all at the outline")
