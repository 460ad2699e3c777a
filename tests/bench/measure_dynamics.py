#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Milliseconds a step of modalsim's scenes, as lines of a table for docs/results/dynamics.md: plants in the wind
(data/plant.py), objects of different shapes, a basis of 100 modes, linear objects by both ways. The
least of RUNS runs, in turn over the places; Newton to 1e-6. Needs Python's own library alone.

usage: measure_dynamics.py BIN_FOLDER FOLDER PLACE... [--cases "NAME;NAME"] [--runs N] [--quality]
FOLDER keeps the bases, for the next call; a PLACE is cuda, or cpu:THREADS. --quality: what /quality costs a frame instead, with
`--quality auto` beside `--quality steps`, in turn"""
import argparse
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parents[2]
PLANTS = ("bush", "conifer", "peach", "broad-leaved", "hemlock", "treesketch", "forest")
RUBBER = ("--young", "1e7", "--poisson", "0.45", "--density", "1000")
NEWTON = {"tolerance": 1e-6}


def write_crowd(path, count, cells, size, jitter):
    """Bars of six tetrahedra a cell, their nodes moved at random, 3 m apart along z."""
    generator = random.Random(7)
    points = list(itertools.product(*(range(n + 1) for n in cells)))
    number = {p: i for i, p in enumerate(points)}
    tets = []
    for cell, order in itertools.product(itertools.product(*map(range, cells)), itertools.permutations(range(3))):
        at = [number[tuple(c + (axis in order[:n]) for axis, c in enumerate(cell))] for n in range(4)]
        odd = sum(a > b for a, b in itertools.combinations(order, 2)) % 2
        tets.append([at[0], at[2], at[1], at[3]] if odd else at)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{count * len(points)}\n")
        for k in range(count):
            for i, p in enumerate(points):
                x = [(c + generator.uniform(-jitter, jitter)) * s / n for c, s, n in zip(p, size, cells)]
                file.write(f"{k * len(points) + i + 1} {x[0]!r} {x[1]!r} {x[2] + 3 * k!r}\n")
        file.write(f"$EndNodes\n$Elements\n{count * len(tets)}\n")
        for k, (i, tet) in itertools.product(range(count), enumerate(tets)):
            file.write(f"{k * len(tets) + i + 1} 4 2 1 1 " + " ".join(str(k * len(points) + t + 1) for t in tet) + "\n")
        file.write("$EndElements\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tools", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("places", nargs="+")
    parser.add_argument("--cases")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--quality", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    inside = lambda name: str(given.folder / name)

    def check(got):
        if got.returncode != 0:
            sys.exit(f"{' '.join(map(str, got.args))}: {got.stderr}")

    def tool(name, *words):
        check(subprocess.run([str(given.tools / name), *map(str, words)], capture_output=True, text=True))

    def plant(kind, linear=False):
        name = kind + ("_linear" if linear else "")
        if not os.path.exists(inside(f"{name}/scene.json")):
            check(subprocess.run([sys.executable, here / "data/plant.py", kind, inside(name), "--tools", given.tools,
                                  *(["--linear"] if linear else [])], capture_output=True, text=True))
        with open(inside(f"{name}/scene.json"), encoding="ascii") as file:
            return inside(f"{name}/plant.h5"), json.load(file)

    def crowd(name, count, cells, modes, derivatives):
        if not os.path.exists(inside(f"{name}.h5")):
            size = (0.6, 0.06, 0.06)
            write_crowd(inside(f"{name}.msh"), count, cells, size, 0.15)
            tool("modalpack", inside(f"{name}.msh"), inside(f"{name}.h5"), *RUBBER, "--shapes", "bodies", "--modes", modes,
                 "--derivatives", derivatives, "--reduced-forces", "--fixed",
                 f"plane:{0.5 * size[0] / cells[0]},0,0:-1,0,0", "-q")
        return inside(f"{name}.h5"), {"duration": 0.5, "fps": 30, "step": 0.01, "model": "stvk", "gravity": [0, 0, -2],
                                      "damping": {"alpha": 0.6, "beta": 0.002},
                                      "wind": {"velocity": [0, 4, 0], "turbulence": 2, "scale": 2}}

    def still(**more):
        basis, _ = plant("forest", linear=True)
        return basis, {"duration": 1, "fps": 100, "gravity": [0, 0, -2], "damping": {"alpha": 0.6, "beta": 0.002},
                       "objects": [{"object": i, "pose_motion": "fixed"} for i in range(6440)], **more}

    cases = {kind: (lambda kind=kind: plant(kind)) for kind in PLANTS}
    cases.update({"1,000 shapes of 96 nodes, r = 20": lambda: crowd("crowd20", 1000, (5, 3, 3), 20, 5),
                  "200 shapes of 160 nodes, r = 30": lambda: crowd("crowd30", 200, (9, 3, 3), 30, 8),
                  **{f"{n} shapes of 240 nodes, r = 60": (lambda n=n: crowd(f"crowd60_{n}", n, (14, 3, 3), 60, 11))
                     for n in (1, 4, 16, 64)},
                  "1 shape of 625 nodes, r = 100": lambda: crowd("one100", 1, (24, 4, 4), 100, 14),
                  "1 shape of 625 nodes, r = 200": lambda: crowd("one200", 1, (24, 4, 4), 200, 20),
                  "6,440 linear objects, implicit": lambda: still(integrator="newmark"),
                  "6,440 linear objects, exact": still})

    def compare_quality(name):
        basis, scene = cases[name]()
        scene.update(newton=NEWTON)
        scene["duration"] = min(scene["duration"], 1)
        with open(inside("run.json"), "w", encoding="ascii") as file:
            json.dump(scene, file)
        for place in given.places:
            back_end, _, threads = place.partition(":")
            step, frame = ({"auto": [], "steps": []} for _ in range(2))
            for _, kind in itertools.product(range(given.runs), step):
                tool("modalsim", basis, inside("run.h5"), "--scene", inside("run.json"), "--force", "-q", "--backend", back_end,
                     "--report", inside("report.json"), "--quality", kind, *(["-j", threads] if threads else []))
                with open(inside("report.json"), encoding="ascii") as file:
                    report = json.load(file)
                step[kind].append(report["milliseconds_a_step"])
                frame[kind].append(report["milliseconds_a_frame_for_quality"])
            whole = {kind: report["steps_a_frame"] * min(step[kind]) + min(frame[kind]) for kind in step}
            print(f"| {name} | {place} | {min(step['auto']):.3g} | {min(frame['auto']):.3g} | {min(frame['steps']):.3g} | "
                  f"{whole['auto'] / whole['steps']:.3f} |", flush=True)

    wanted = given.cases.split(";") if given.cases else list(cases)
    if given.quality:
        print("| case | place | ms a step | ms a frame for quality | the same, --quality steps | a frame, of one with --quality steps |")
        print("| --- " * 6 + "|")
        for name in wanted:
            compare_quality(name)
        return
    print("| case | corrections a step | steps halved | " + " | ".join(f"{p}, ms a step" for p in given.places) + " |")
    print("| --- " * (3 + len(given.places)) + "|")
    for name in wanted:
        basis, scene = cases[name]()
        scene.update(newton=NEWTON)
        scene["duration"] = min(scene["duration"], 1)
        with open(inside("run.json"), "w", encoding="ascii") as file:
            json.dump(scene, file)
        least, counts = [float("inf")] * len(given.places), None
        for _, (i, place) in itertools.product(range(given.runs), enumerate(given.places)):
            back_end, _, threads = place.partition(":")
            tool("modalsim", basis, inside("run.h5"), "--scene", inside("run.json"), "--force", "-q", "--backend", back_end,
                 "--report", inside("report.json"), *(["-j", threads] if threads else []))
            with open(inside("report.json"), encoding="ascii") as file:
                report = json.load(file)
            least[i] = min(least[i], report["milliseconds_a_step"])
            counts = counts or (report["newton_iterations"] / report["steps"], report["halved_steps"])
        print(f"| {name} | {counts[0]:.1f} | {counts[1]} | " + " | ".join(f"{x:.3g}" for x in least) + " |", flush=True)


if __name__ == "__main__":
    main()
