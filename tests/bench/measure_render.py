#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pictures of plants, leaves and files take by modalrender, as the rows of docs/results/render.md. A time is that of a frame: of a run of several less that of a
run of one, over the frames between; on a CPU processor time of all threads, which other programs lengthen little, on a GPU wall clock. Rows that are compared are
run in turns, the median of three counts.
usage: measure_render.py [--backend NAME] [--threads N] [--frames N] [--quick] BIN"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--backend", default="cpu")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--frames", type=int, default=0, help="of a run (default: 4; on a GPU 200)")
parser.add_argument("--quick", action="store_true", help="small, once: whether it works")
parser.add_argument("bin")
given = parser.parse_args()
root = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(root / "tests/python"))

from images import write_png  # noqa: E402
from render_tools import run, tools  # noqa: E402

on_cpu = not given.backend.startswith("cuda")
FRAMES = given.frames or (4 if on_cpu else 200)
TURNS = 1 if given.quick else 3
SIZE = "320x180" if given.quick else "1920x1080"


def seconds(*words):
    """Of a run: processor time on a CPU, else wall clock."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([tools / "modalrender", *map(str, words), "-q", "--backend", given.backend, "-j", str(given.threads)], check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime if on_cpu else time.monotonic() - start


def frame(words):
    last = FRAMES if not given.quick else 2
    return (seconds(*words, "--frames", f":{last}") - seconds(*words, "--frames", ":1")) / (last - 1)


def in_turns(**rows):
    found = {name: [] for name in rows}
    for _ in range(TURNS):
        for name, words in rows.items():
            found[name].append(1e3 * frame(words))
    return {name: statistics.median(times) for name, times in found.items()}


def row(what, times, asked=""):
    first = next(iter(times.values()))
    print(f"| {what} | " + ", ".join(f"{name} {t:.1f}" for name, t in times.items()) + f" | {first / list(times.values())[-1]:.2f} | {asked} |", flush=True)


def plant(kind):
    subprocess.run([sys.executable, root / "data/plant.py", kind, kind, "--tools", tools, "--look", "--ground", "--duration", str((FRAMES + 1) / 30)], check=True,
                   capture_output=True)
    run(f"{kind}/plant.h5", f"{kind}/t.h5", "--scene", f"{kind}/scene.json", "-q", tool="modalsim")
    with open(f"{kind}/look.json", encoding="utf-8") as f:
        look = json.load(f)
    for material in look["materials"].values():
        for key in ("image", "normal_image", "alpha", "cutoff"):
            material.pop(key, None)
    with open(f"{kind}/plain.json", "w", encoding="utf-8") as f:
        json.dump(look, f)
    common = [f"{kind}/t.h5", "-", "--format", "rgb", "--size", SIZE]
    return {"as it is": [*common, "--look", f"{kind}/look.json"], "opaque, without images": [*common, "--look", f"{kind}/plain.json"]}


def leaves():
    """16 sheets, one before the other, that swing; alpha from an image."""
    image = np.full((64, 64, 4), 200, "u1")
    image[..., 3] = np.random.default_rng(1).integers(50, 180, (64, 64))
    write_png("leaf.png", image)
    n, k = (8, 16) if given.quick else (60, 16)
    with open("sheets.obj", "w", encoding="utf-8") as f:
        for y in range(k):
            f.write("".join(f"v {2 * i / n} {0.05 * y} {1.2 * j / n}\nvt {i / n} {j / n}\n" for j in range(n + 1) for i in range(n + 1)))
        at = lambda y, i, j: 1 + (y * (n + 1) + j) * (n + 1) + i
        f.write("".join("f " + " ".join(f"{v}/{v}" for v in (at(y, i, j), at(y, i + 1, j), at(y, i + 1, j + 1), at(y, i, j + 1))) + "\n"
                        for y in range(k) for j in range(n) for i in range(n)))
    run("--rigid", "sheets.obj", "sheets.h5", "-q", tool="modalpack")
    with open("sheets.json", "w", encoding="utf-8") as f:
        json.dump({"look": 1, "materials": {"leaf": {"image": "leaf.png", "alpha": "blend", "two_sided": True}}, "default": "leaf",
                   "cameras": [{"eye": [1, -2, 0.6], "target": [1, 0, 0.6], "fov": 0.6}]}, f)
    common = ["sheets.h5", "-", "--format", "rgb", "--size", SIZE, "--look", "sheets.json", "--shadow", "none"]
    found = {"sorted": [], "two-pass": []}
    for _ in range(TURNS):  # one picture: of a rigid basis there is one
        for way in found:
            found[way].append(1e3 * seconds(*common, "--transparency", way))
    return {way: statistics.median(times) for way, times in found.items()}


def fork():
    os.symlink(root / "data/tuning_fork.msh", "fork.msh")
    run("fork.msh", "fork.h5", "--modes", 8, "--young", "2.06e11", "--poisson", "0.29", "--density", 7850, "--fixed", "stem_end", "-q", tool="modalpack")
    run("fork.h5", "ft.h5", "--duration", (FRAMES + 1) / 1000, "--fps", 1000, "--initial", "0=2e-2", "-q", tool="modalsim")


print(f"back end {given.backend}, {given.threads} threads, {SIZE}, ms a frame of {'processor time' if on_cpu else 'wall clock'}\n")
print("| what | ms | ratio of first to last | asked |\n| --- | --- | --- | --- |")
fork()
row("a tuning fork's first frame, all of the run", {"960 x 540": 1e3 * statistics.median(seconds("ft.h5", f"o{i}", "--frames", 0) for i in range(TURNS))},
    "300 ms")
row("a tuning fork", in_turns(**{"png": ["ft.h5", "n", "-f", "--size", SIZE], "y4m": ["ft.h5", "-", "--format", "y4m", "--size", SIZE],
                                 "rgb": ["ft.h5", "-", "--format", "rgb", "--size", SIZE], "drawn only": ["ft.h5", "n0", "--format", "null", "--size", SIZE]}))
row("16 layers deep, one picture", leaves(), "2")
row("hemlock, 2,866 objects", in_turns(**plant("hemlock" if not given.quick else "bush")), "3")
if not given.quick:
    row("forest, 6,440 objects", in_turns(**plant("forest")), "3")
