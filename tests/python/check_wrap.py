#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Surfaces that bound no solid: modalmesh --check finds triangles that overlap in one plane, a crash of a meshing library is told
with its stage and what else to try, and --wrap makes a solid of anything.

check_wrap.py BIN [CRASH_ENGINE]; exit 77 (skipped) where CGAL or TetGen is absent, after what needs neither.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import numpy as np

BIN = pathlib.Path(sys.argv[1])
os.chdir(tempfile.mkdtemp())


def run(*words, code=0, tool=BIN / "modalmesh"):
    done = subprocess.run([str(w) for w in (tool, *words)], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout + done.stderr


def write(name, vertices, triangles):
    lines = [f"OFF\n{len(vertices)} {len(triangles)} 0", *("%.17g %.17g %.17g" % tuple(v) for v in vertices),
             *("3 %d %d %d" % tuple(t) for t in triangles)]
    pathlib.Path(name).write_text("\n".join(lines) + "\n")
    return name


def report(*words, code=0):
    run(*words, "--report", "r.json", code=code)
    return json.loads(pathlib.Path("r.json").read_text())


corners = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], float)
box = np.array([[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2],
                [1, 3, 7], [1, 7, 5]])
# the top has two vertices in the middle; one pulled past the other folds triangles onto their neighbours in one plane
top = np.array([[4, 5, 8], [5, 9, 8], [5, 7, 9], [7, 6, 9], [6, 8, 9], [6, 4, 8]])
flat = (np.vstack([corners, [[0.3, 0.5, 1], [0.7, 0.5, 1]]]), np.vstack([np.delete(box, [2, 3], 0), top]))
flap = write("flat.off", *flat)
assert report("--check", flap)["surface"]["overlaps"] == 0
fold = (np.vstack([corners, [[0.3, 0.5, 1], [0.1, 0.5, 1]]]), flat[1])
folded = write("folded.off", *fold)
told = report("--check", folded, code=1)["surface"]
assert told["overlaps"] > 0 and told["intersections"] == 0 and told["self_intersecting"] and not told["bounds_a_solid"], told
assert all(10 <= t < 16 for t in told["first_overlap"]), told
assert re.search(r"self-intersecting: pairs of triangles that overlap in one plane, \d+; the first are 1\d and 1\d, near \S+ \S+ 1\n",
                 run(folded, "o.msh", code=3))
versions = run("--version")
if len(sys.argv) > 2 and "TetGen absent" not in versions:
    os.makedirs("prefix/bin")
    os.makedirs("prefix/lib/modaltools")
    shutil.copy(BIN / "modalmesh", "prefix/bin")
    shutil.copy(sys.argv[2], "prefix/lib/modaltools/modalmesh_tetgen.so")
    message = run(flap, "o.msh", code=4, tool=pathlib.Path("prefix/bin/modalmesh").resolve())
    other = "" if "Gmsh absent" in versions else "--engine gmsh or "
    assert f'flat.off: tetgen crashed at the stage "boundary", Segmentation fault; {other}--repair may do it' in message, message
    assert not os.path.exists("o.msh")
if "CGAL absent" in versions:
    assert "--wrap: this program was built without CGAL" in run(flap, "o.msh", "--wrap", "0.1", code=2)
    print("SKIPPED: modalmesh was built without CGAL")
    sys.exit(77)
run("--check", folded, "--wrap", "1e-6", code=2)
run("--check", folded, "--wrap", "0.1", "--repair", code=2)
run("--check", folded, "--wrap", "nan", code=2)
triangle = write("line.off", [[0, 0, 0], [1, 0, 0], [2, 0, 0]], [[0, 1, 2]])
assert "no triangle has an area" in run("--check", triangle, "--wrap", "0.1", code=3)
cases = {  # an overlap; an open box; two boxes through each other; a sheet; a fan of three sheets at an edge
    "overlap": fold,
    "open": (corners, box[:-2]),
    "crossing": (np.vstack([corners, corners + 0.4]), np.vstack([box, box + 8])),
    "sheet": (corners[:4], box[:2]),
    "fan": (np.array([[0, 0, 0], [0, 0, 1], [1, 0, 0], [-1, 0.2, 0], [0, 1, 0.5]]), np.array([[0, 1, 2], [0, 1, 3], [0, 1, 4]])),
}
for name, (vertices, triangles) in cases.items():
    path = write(name + ".off", vertices, triangles)
    run("--check", path, code=1)
    told = report("--check", path, "--wrap", "0.15")
    reached, surface = told["wrap"], told["surface"]
    assert 0 < reached["wrap_to_surface_m"] <= 0.15 and surface["bounds_a_solid"] and surface["volume_m3"] > 0, (name, told)
    # the wrap contains the surface, so that its box is larger, by no more than the distance
    low, high = np.array(surface["box_m"])
    assert (low < vertices.min(0)).all() and (high > vertices.max(0)).all(), (name, low, high)
    assert (low > vertices.min(0) - 0.15).all() and (high < vertices.max(0) + 0.15).all(), (name, low, high)
    if name in ("sheet", "fan"):  # seen from everywhere: no part of the surface is farther than asked
        assert reached["surface_to_wrap_m"] <= 0.15, (name, reached)
if "TetGen absent" not in versions:
    made = report("open.off", "o.msh", "--wrap", "0.15")["mesh"]
    assert made["components"] == 1 and made["volume_m3"] > 0.1, made
    first = pathlib.Path("o.msh").read_bytes()
    run("open.off", "o.msh", "--wrap", "0.15", "-f")
    assert pathlib.Path("o.msh").read_bytes() == first
print("ok")
