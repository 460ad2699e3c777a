# SPDX-License-Identifier: Apache-2.0
"""Times what large deformations need beside VegaFEM's figures, by type of element, and for many shapes;
writes docs/results/reduced.md.

usage: measure_reduced.py BIN_FOLDER DATA_FOLDER OUTPUT.md

Every figure is the least of RUNS runs on one and on two threads in turn, as modalpack's --report says. VegaFEM's are those
that VegaFEM 4.0 took on one thread of the same kind of machine for these meshes (its Volumetric Mesh format)."""
import datetime
import itertools
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

RUNS = 5
here = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(here / "tests/python"))
from stvk_solid import REFERENCE, write_inp  # noqa: E402

tools, data, target = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
rubber = "--young 1e7 --poisson 0.45 --density 1000"
MODES = ("assemble", "order", "analyse", "factor", "solve", "refine", "count")
DERIVATIVES = ("derivative loads", "derivative factor", "derivatives")


def least(folder, *words):
    """[seconds of each stage, by name] on one and on two threads, the least of the runs."""
    found = [{}, {}]
    for _, j in itertools.product(range(RUNS), (1, 2)):
        report = folder / "report.json"
        got = subprocess.run([str(tools / "modalpack"), *map(str, words), str(folder / "b.h5"), "-f", "-q", f"-j{j}",
                              "--backend", "cpu", "--report", str(report)], capture_output=True, text=True)
        if got.returncode != 0:
            sys.exit(f"{words}: {got.stderr}")
        report = json.loads(report.read_text())
        now = {"whole run": report["seconds"]}
        for stage in report["phases"]:
            now[stage["name"]] = now.get(stage["name"], 0) + stage["seconds"]
        for name, seconds in now.items():
            found[j - 1][name] = min(seconds, found[j - 1].get(name, seconds))
    return found


def total(found, names):
    return [sum(stages.get(name, 0) for name in names) for stages in found]


def beside(what, found, names, vega):
    one, two = total(found, names)
    known = f"{vega:g} | {vega / one:.0f} | {vega / two:.0f}" if vega else "not measured | |"
    rows.append(f"| {what} | {one:.2f} | {two:.2f} | {known} |")
    print(rows[-1], flush=True)


def write_crowd(path, count):
    """Bodies of 84 nodes that touch no other, no two alike."""
    import numpy as np
    random, cells = np.random.default_rng(7), (6, 3, 2)
    points = np.array(list(itertools.product(*(range(n + 1) for n in cells))), float)
    number = lambda at: (at[0] * 4 + at[1]) * 3 + at[2]
    tets = []
    for cell, order in itertools.product(itertools.product(*map(range, cells)), itertools.permutations(range(3))):
        at = [np.array(cell) + np.isin(range(3), order[:n]) for n in range(4)]
        if np.linalg.det(np.array(at[1:]) - at[0]) < 0:
            at[2], at[3] = at[3], at[2]
        tets.append([number(a) for a in at])
    tets = np.array(tets)
    with open(path, "w") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{count * len(points)}\n")
        for k in range(count):
            x = (points + random.uniform(-0.15, 0.15, points.shape)) * 0.1 + [0, 0, 3 * k]
            file.write("".join(f"{k * len(points) + i} {a!r} {b!r} {c!r}\n" for i, (a, b, c) in enumerate(x.tolist(), 1)))
        file.write(f"$EndNodes\n$Elements\n{count * len(tets)}\n")
        for k in range(count):
            file.write("".join(f"{k * len(tets) + i} 4 2 1 1 " + " ".join(map(str, t)) + "\n"
                               for i, t in enumerate((tets + k * len(points) + 1).tolist(), 1)))
        file.write("$EndElements\n")


rows, kinds = [], []
with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    bridge = (data / "simpleBridge/simpleBridge-ic_128_0.15_.1.veg", "--fixed", data / "simpleBridge/simpleBridge.bou")
    thing = (data / "yeahright/yeahright-on-ground.veg",)
    found = least(folder, *thing, "--modes", 20, "--reduced-forces")
    beside("20 modes, yeahright (21,122 vertices, free)", found, MODES, 8)
    beside("all terms of r = 20 (VegaFEM: the cubic ones), yeahright", found, ("reduced forces",), 47)
    beside("210 derivatives of 20 modes, yeahright",
           least(folder, *thing, "--modes", 20, "--derivatives", 20), DERIVATIVES, 29)
    found = least(folder, *bridge, "--modes", 20, "--derivatives", 20, "--reduced-forces")
    beside("20 modes, simpleBridge (4,000 vertices; no target)", found, MODES, 0.26)
    beside("210 derivatives of 20 modes, simpleBridge", found, DERIVATIVES, None)
    beside("all terms of r = 20, simpleBridge", found, ("reduced forces",), None)
    beside("all terms of r = 60 (VegaFEM: the cubic ones), simpleBridge",
           least(folder, *bridge, "--modes", 60, "--reduced-forces"), ("reduced forces",), 1559)
    for kind, name in enumerate(("TET4", "TET10", "HEX8", "HEX20")):
        cells = (24, 10, 8) if kind in (0, 2) else (12, 5, 4)
        write_inp(folder / "bar.inp", kind, cells, (1.2, 0.5, 0.4))
        found = least(folder, folder / "bar.inp", *rubber.split(), "--fixed", "root", "--modes", 20, "--derivatives", 20,
                      "--reduced-forces")
        elements = cells[0] * cells[1] * cells[2] * (6 if kind < 2 else 1)
        points = elements * len(REFERENCE[kind][3])
        times = [total(found, names)[1] for names in (MODES, DERIVATIVES, ("principal components",), ("reduced forces",))]
        kinds.append(f"| {name} | {elements:,} | {points:,} | " + " | ".join(f"{s:.2f}" for s in times) +
                     f" | {times[3] / points * 1e6:.1f} |")
        print(kinds[-1], flush=True)
    write_crowd(folder / "crowd.msh", 1000)
    crowd = least(folder, folder / "crowd.msh", *rubber.split(), "--shapes", "bodies", "--derivatives", 5, "--modes", 12,
                  "--reduced-forces")
    text = ", ".join(f"{name} {crowd[0][name]:.2f} / {crowd[1][name]:.2f}"
                     for name in ("read mesh", "modes", "derivatives", "reduced forces", "write basis", "whole run"))
    print(text)

model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
             platform.machine())
target.write_text(f"""<!-- SPDX-License-Identifier: Apache-2.0 -->
# Modal derivatives and reduced forces: how long they take

Made by `tests/bench/measure_reduced.py build/release/bin ../shared/data docs/results/reduced.md` on {datetime.date.today()}, {os.cpu_count()}
cores of {model}, load {os.getloadavg()[1]:.1f}; seconds are the stages' that `modalpack --report` has, the least of {RUNS} runs. The
meshes of VegaFEM are not part of this repository.

## Beside VegaFEM 4.0, which uses one thread

| case | one thread, s | two threads, s | VegaFEM, s | times faster, one thread | two |
| --- | --- | --- | --- | --- | --- |
""" + "\n".join(rows) + """

Targets: 5 times faster; r = 60 in less than 60 s. VegaFEM's mesh of the derivatives and of the cubic terms has 20,186
vertices, its modes of such a mesh take 8 to 10 s.

## By type of element

A bar of 1.2 x 0.5 x 0.4 m, clamped, two threads: 20 modes, their 210 derivatives and the 20 principal components of all, all
terms of r = 20. Time of the terms goes with the points of quadrature.

| | elements | points | modes, s | derivatives, s | principal components, s | terms, s | terms, microseconds a point |
| --- | --- | --- | --- | --- | --- | --- | --- |
""" + "\n".join(kinds) + f"""

## Many shapes

1,000 different free bodies of 84 nodes and 216 linear tetrahedra in one mesh, `--shapes bodies --derivatives 5 --modes 12
--reduced-forces`, one / two threads, s: {text}.
""")
