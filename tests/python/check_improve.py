#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modalmesh --improve: surfaces with needles and caps become meshes without bad angles, within the distance that is said, with their groups; what is
counted is so; bad options are refused.

check_improve.py BIN; exit 77 (skipped) where TetGen is absent, after what needs none.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

BIN = pathlib.Path(sys.argv[1]).resolve()
os.chdir(tempfile.mkdtemp())


def run(*words, code=0, tool="modalmesh"):
    done = subprocess.run([str(w) for w in (BIN / tool, *words)], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout + done.stderr


def report(*words):
    run(*words, "-f", "--report", "r.json")
    return json.loads(pathlib.Path("r.json").read_text())


def read(path):
    """Nodes, tetrahedra and groups of faces by name, of a text .msh of version 4.1."""
    lines = iter(pathlib.Path(path).read_text().splitlines())
    names, surfaces, nodes, tags, elements, faces = {}, {}, [], [], [], {}
    for line in lines:
        if line == "$PhysicalNames":
            for _ in range(int(next(lines))):
                dimension, tag, name = next(lines).split(maxsplit=2)
                names[int(dimension), int(tag)] = name.strip('"')
        elif line == "$Entities":
            counts = [int(n) for n in next(lines).split()]
            for dimension, n in enumerate(counts):
                for _ in range(n):
                    words = next(lines).split()
                    at = 4 if dimension == 0 else 7
                    for k in range(int(words[at])):
                        surfaces.setdefault((dimension, int(words[0])), []).append(names[dimension, int(words[at + 1 + k])])
        elif line == "$Nodes":
            blocks = int(next(lines).split()[0])
            for _ in range(blocks):
                n = int(next(lines).split()[3])
                tags += [int(next(lines)) for _ in range(n)]
                nodes += [[float(x) for x in next(lines).split()] for _ in range(n)]
        elif line == "$Elements":
            blocks = int(next(lines).split()[0])
            for _ in range(blocks):
                dimension, entity, kind, n = (int(x) for x in next(lines).split())
                rows = [[int(x) for x in next(lines).split()[1:]] for _ in range(n)]
                if kind == 4:
                    elements += rows
                elif kind == 2:
                    for name in surfaces.get((dimension, entity), []):
                        faces.setdefault(name, []).extend(rows)
    place = {t: i for i, t in enumerate(tags)}
    index = np.vectorize(place.get)
    return np.array(nodes), index(np.array(elements)), {name: index(np.array(f)) for name, f in faces.items()}


def angles(x, tets):
    """The least and the greatest angle between faces, in degrees."""
    p = x[tets]
    normals = [np.cross(p[:, b] - p[:, a], p[:, c] - p[:, a]) for a, b, c in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))]
    cosines = [-(m * n).sum(1) / np.linalg.norm(m, axis=1) / np.linalg.norm(n, axis=1) for i, m in enumerate(normals) for n in normals[:i]]
    all_angles = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    assert (np.einsum("ij,ij->i", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), p[:, 3] - p[:, 0]) > 0).all()
    return all_angles.min(), all_angles.max()


# A cylinder of radius 1 and height 2 as an exporter writes it: on each end a fan of needles, whose hub is near the rim and 0.002 out of the plane, and a
# side of long pairs of triangles. D is a thousandth of the diagonal, 3.5e-3.
N = 40
turn = 2 * np.pi * np.arange(N) / N
rim = np.stack([np.cos(turn), np.sin(turn)], 1)
vertices = np.vstack([np.c_[rim, np.zeros(N)], np.c_[rim, np.full(N, 2.0)], [[0.98, 0, -0.002], [-0.98, 0, 2.002]]])
parts = {"bottom": [], "top": [], "side": []}
for i in range(N):
    j = (i + 1) % N
    parts["bottom"].append([j, i, 2 * N])
    parts["top"].append([N + i, N + j, 2 * N + 1])
    parts["side"] += [[i, j, N + j], [i, N + j, N + i]]
text = ["v %.17g %.17g %.17g" % tuple(v) for v in vertices]
for name, triangles in parts.items():
    text += [f"g {name}", *("f %d %d %d" % tuple(np.array(t) + 1) for t in triangles)]
pathlib.Path("can.obj").write_text("\n".join(text) + "\n")

# bad options; other elements
assert "--improve-distance: needs --improve" in run("can.obj", "o.msh", "--improve-distance", "0.1", code=2)
assert "--improve: a surface has no elements without OUT.msh" in run("--check", "--improve", "can.obj", code=2)
run("can.obj", "o.msh", "--improve", "--improve-distance", "-1", code=2)
run("can.obj", "o.msh", "--improve", "--improve-distance", "nan", code=2)
pathlib.Path("box.geo").write_text("SetFactory(\"OpenCASCADE\"); Box(1) = {0, 0, 0, 1, 1, 1};\n")
assert "--improve: quadratic elements of a geometry" in run("box.geo", "o.msh", "--improve", "--order", "2", code=2)
cube = [[i & 1, i >> 1 & 1, i >> 2] for i in range(8)]
pathlib.Path("cube.inp").write_text("*NODE\n" + "".join(f"{i + 1}, {x}, {y}, {z}\n" for i, (x, y, z) in enumerate(cube)) +
                                    "*ELEMENT, TYPE=C3D8\n1, 1, 2, 4, 3, 5, 6, 8, 7\n")
message = run("cube.inp", "o.msh", "--improve", code=3)
assert "cube.inp: --improve: only linear tetrahedra can be improved" in message and not os.path.exists("o.msh"), message
# a needle: the node 5 is 1e-4 beside the corner 1
pathlib.Path("needle.inp").write_text("*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n5, 1e-4, -5e-5, -5e-5\n"
                                      "*ELEMENT, TYPE=C3D4\n1, 1, 5, 3, 4\n2, 5, 2, 3, 4\n")
told = report("needle.inp", "needle.msh", "--improve", "--text")["improve"]
assert told["before"]["least_dihedral_deg"] < 0.1 and told["after"]["least_dihedral_deg"] > 30 and told["after"]["elements"] == 1, told
assert told["bad_elements_before"] == 1 and told["bad_elements"] == 0 and told["new_to_old_m"] <= told["asked_m"], told
message = run("needle.inp", "needle.msh", "-f", "--improve", "--improve-distance", "0")
assert "warning: needle.inp: elements that --improve could not mend within 0 m of the surface" in message and message.rstrip(), message
assert "--improve-distance: must be at most" in run("needle.inp", "needle.msh", "-f", "--improve", "--improve-distance", "1", code=2)

if "TetGen absent" in run("--version"):
    print("SKIPPED: modalmesh was built without TetGen")
    sys.exit(77)
plain = report("can.obj", "plain.msh", "--text")["mesh"]
assert plain["least_dihedral_deg"] < 3, plain
told = report("can.obj", "can.msh", "--text", "--improve")
x, tets, groups = read("can.msh")
least, greatest = angles(x, tets)
done = told["improve"]
distance = done["asked_m"]
assert abs(distance - 1e-3 * np.linalg.norm(np.ptp(vertices, axis=0))) < 1e-9 and max(done["new_to_old_m"], done["old_to_new_m"]) <= distance, done
assert least >= 7.5 and greatest <= 172.5 and abs(least - done["after"]["least_dihedral_deg"]) < 1e-6, (least, greatest)
assert done["before"]["least_dihedral_deg"] == plain["least_dihedral_deg"] and done["bad_elements"] == 0
assert done["after"]["elements"] == len(tets) < 1.2 * done["before"]["elements"], done
# each named part is where it was, has an area of its own, and together they are the whole boundary
corners = np.sort(np.vstack([tets[:, list(f)] for f in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))]), axis=1)
unique, count = np.unique(corners, axis=0, return_counts=True)
assert {tuple(f) for f in unique[count == 1]} == {tuple(sorted(f)) for faces in groups.values() for f in faces}
area = {name: np.linalg.norm(np.cross(x[f[:, 1]] - x[f[:, 0]], x[f[:, 2]] - x[f[:, 0]]), axis=1).sum() / 2 for name, f in groups.items()}
assert np.abs(x[groups["bottom"]][..., 2]).max() <= distance + 0.002 and np.abs(x[groups["top"]][..., 2] - 2).max() <= distance + 0.002
assert abs(np.hypot(*x[groups["side"]].reshape(-1, 3).T[:2]) - 1).max() <= distance + 1 - np.cos(np.pi / N)
polygon = N / 2 * np.sin(2 * np.pi / N)
assert abs(area["bottom"] - polygon) < 0.02 and abs(area["top"] - polygon) < 0.02 and abs(area["side"] - 4 * np.pi) < 0.05, area
# the same bytes once more; quadratic elements; frequencies of the same solid
report("can.obj", "again.msh", "--text", "--improve", "-j", "2")
assert pathlib.Path("again.msh").read_bytes() == pathlib.Path("can.msh").read_bytes()
quadratic = report("can.obj", "quadratic.msh", "--improve", "--order", "2")
assert list(quadratic["mesh"]["elements"]) == ["TET10"] and quadratic["mesh"]["elements"]["TET10"] == len(tets), quadratic["mesh"]
values = []
for name in ("plain", "can"):
    run(f"{name}.msh", f"{name}.h5", "--modes", "4", "--fixed", "bottom", "--young", "1e7", "--poisson", "0.3", "--density", "1000", tool="modalpack")
    with h5py.File(f"{name}.h5") as f:
        values.append(f["shapes/0000/modes/eigenvalues"][:])
assert np.abs(values[1] / values[0] - 1).max() < 0.03, values
print(f"cylinder: least angle {plain['least_dihedral_deg']:.2g} -> {least:.3g} degrees, {done['before']['elements']} -> {len(tets)} elements, moved by "
      f"{max(done['new_to_old_m'], done['old_to_new_m']):.2g} m of {distance:.2g}; eigenvalues within {np.abs(values[1] / values[0] - 1).max():.1%}")
