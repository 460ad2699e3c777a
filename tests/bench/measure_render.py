#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What pictures of plants, leaves and files take by modalrender, and what other programs take: rows of docs/results/render.md (format_render.py). Times are ms a
frame: on a CPU processor time of all threads of a run of several frames less that of a run of one, which other programs lengthen little; on a GPU wall clock
of the stage that draws, likewise. Rows that are compared are run in turns; medians.
usage: measure_render.py [--backend NAME] [--threads N] [--frames N] [--quick] [--json FILE] [--only NAME,NAME] [--scenes FOLDER [--make]] BIN"""
import argparse
import datetime
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import time

import numpy as np

ROWS = ("first", "fork", "pipe", "png", "disk", "threads", "layers", "hemlock", "forest", "vtk")
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--backend", default="cpu")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--frames", type=int, default=0, help="of a run (default: 4; on a GPU 400)")
parser.add_argument("--quick", action="store_true", help="small, once: whether it works")
parser.add_argument("--json", help="write the rows to this file, too")
parser.add_argument("--only", default=",".join(ROWS), help="of the rows " + ", ".join(ROWS))
parser.add_argument("--scenes", help="a folder where scenes stay for another run")
parser.add_argument("--make", action="store_true", help="only make the scenes of these rows")
parser.add_argument("bin")
given = parser.parse_args()
wanted = given.only.split(",")
if set(wanted) - set(ROWS):
    parser.error(f"--only: there is no {min(set(wanted) - set(ROWS))}")
root = pathlib.Path(__file__).resolve().parents[2]
scenes = pathlib.Path(given.scenes).resolve() if given.scenes else None
target = pathlib.Path(given.json).resolve() if given.json else None
sys.path.insert(0, str(root / "tests/python"))

sys.path.insert(0, str(root / "tests/bench"))

from grow_plants import write_solid, write_surface  # noqa: E402
from images import write_png  # noqa: E402
from render_tools import run, tools  # noqa: E402

on_cpu = not given.backend.startswith("cuda")
if scenes:
    scenes.mkdir(exist_ok=True)
    os.chdir(scenes)
FRAMES = given.frames or (2 if given.quick else 4 if on_cpu else 400)
TURNS = 1 if given.quick else 3 if on_cpu else 2
SIZE = "320x180" if given.quick else "1920x1080"
PIXELS = int(np.prod([int(n) for n in SIZE.split("x")]))
results, absent = [], []


def used():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def call(*words, **more):
    """Processor seconds, or on a GPU those of the stage that draws."""
    before = used()
    subprocess.run([tools / "modalrender", *map(str, words), "-q", "--backend", given.backend, "-j", str(given.threads), "--report", "report.json", "-f"],
                   check=True, stdout=subprocess.DEVNULL, **more)
    if on_cpu:
        return used() - before
    with open("report.json", encoding="utf-8") as f:
        return sum(s["seconds"] for s in json.load(f)["phases"] if s["name"] == "draw and write")


def frame(words, most=FRAMES):
    n = min(most, FRAMES if on_cpu or "null" in words else 100)
    few = 1 if on_cpu else max(n // 4, 1)  # on a GPU with batches as large: they, and memory for them, are made before the first frame
    return (call(*words, "--frames", f":{n}") - call(*words, "--frames", f":{few}")) / (n - few)


def in_turns(measure, **rows):
    """{name: ms}"""
    found = {name: [] for name in rows}
    for _ in range(TURNS):
        for name, words in rows.items():
            found[name].append(1e3 * measure(words))
    return {name: statistics.median(times) for name, times in found.items()}


def row(what, times, ratio=None, asked="", **more):
    """ratio: names of two of the times, the first over the second is what is asked about."""
    r = {"what": what, "ms": times, "asked": asked, **more}
    if ratio:
        r["ratio"] = times[ratio[0]] / times[ratio[1]]
    results.append(r)
    print(f"{what}: " + ", ".join(f"{name} {t:.3f}" for name, t in times.items()) + (f"; {r['ratio']:.3f}" if ratio else "") + f" ({asked})", flush=True)


# ---- scenes ----

def fork():
    if not os.path.exists("ft.h5"):
        os.symlink(root / "data/tuning_fork.msh", "fork.msh")
        run("fork.msh", "fork.h5", "--modes", 8, "--young", "2.06e11", "--poisson", "0.29", "--density", 7850, "--fixed", "stem_end", "-q", tool="modalpack")
        run("fork.h5", "ft.h5", "--duration", (FRAMES + 1) / 1000, "--fps", 1000, "--initial", "0=2e-2", "-q", tool="modalsim")
    return "ft.h5"


def plant(kind):
    """A plant's looks: with images and cut-out leaves, the same with leaves whose edges are blended, and opaque without images. A frame a step."""
    if not os.path.exists(f"{kind}/t.h5"):
        subprocess.run([sys.executable, root / "data/plant.py", kind, kind, "--tools", tools, "--look", "--ground", "--duration", str((FRAMES + 1) / 100)],
                       check=True, capture_output=True)
        run(f"{kind}/plant.h5", f"{kind}/t.h5", "--scene", f"{kind}/scene.json", "--set", "/fps=100", "-q", tool="modalsim")
    y, x = (np.mgrid[:64, :64] + 0.5) / 64
    leaf = np.full((64, 64, 4), (60, 115, 35, 255), "u1")
    leaf[..., 3] = np.clip(255 * (0.5 + 6 * (np.sin(np.pi * x) ** 0.7 - np.abs(2 * y - 1))), 0, 255)
    write_png(f"{kind}/soft.png", leaf)
    with open(f"{kind}/look.json", encoding="utf-8") as f:
        look = json.load(f)
    leaves = {"cut-outs": {"image": "leaf.png", "alpha": "cutout", "cutoff": 0.5, "two_sided": True},
              "blended edges": {"image": "soft.png", "alpha": "blend", "two_sided": True}, "opaque, no images": {"two_sided": True}}
    for s in look["shapes"]:  # the leaves that deform wear what the rigid ones do
        if s["shape"] == 3:
            s["material"] = "leaf"
    rows = {}
    for name, material in leaves.items():
        look["materials"]["leaf"] = {"diffuse": [0.25, 0.45, 0.15], **material}
        if "image" not in material:
            look["materials"]["bark"] = {"diffuse": [0.4, 0.3, 0.2]}
        path = f"{kind}/{name.split()[0].strip(',')}.json"
        with open(path, "w", encoding="utf-8") as f:
            json.dump(look, f)
        rows[name] = [f"{kind}/t.h5", "null", "--format", "null", "--size", SIZE, "--look", path]
    return rows


def write_box(path, cells, low, high):
    """Cubes of six tetrahedra each, gmsh 2.2."""
    shape = [c + 1 for c in cells]
    at = lambda i, j, k: (i * shape[1] + j) * shape[2] + k + 1
    nodes = [[low[c] + (high[c] - low[c]) * place[c] / cells[c] for c in range(3)] for place in np.ndindex(*shape)]
    tets = []
    for i, j, k in np.ndindex(*cells):
        for turn, sign in (((0, 1, 2), 1), ((1, 2, 0), 1), ((2, 0, 1), 1), ((0, 2, 1), -1), ((2, 1, 0), -1), ((1, 0, 2), -1)):
            corner, corners = [i, j, k], [at(i, j, k)]
            for axis in turn:  # along three edges to the cube's other end
                corner[axis] += 1
                corners.append(at(*corner))
            tets.append(corners if sign > 0 else [corners[0], corners[2], corners[1], corners[3]])
    with open(path, "w", encoding="ascii") as f:
        f.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(nodes)}\n")
        f.writelines(f"{n} {x:.9g} {y:.9g} {z:.9g}\n" for n, (x, y, z) in enumerate(nodes, 1))
        f.write(f"$EndNodes\n$Elements\n{len(tets)}\n")
        f.writelines(f"{n} 4 2 1 1 " + " ".join(map(str, t)) + "\n" for n, t in enumerate(tets, 1))
        f.write("$EndElements\n")


def sheets():
    """16 sheets, one before the other; alpha from an image."""
    words = ["st.h5", "null", "--format", "null", "--size", SIZE, "--look", "sheets.json", "--shadow", "none"]
    if os.path.exists("st.h5"):
        return words
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
    write_box("box.msh", (4, 2, 3), (-0.02, -0.02, -0.02), (2.02, 0.05 * k, 1.22))
    run("box.msh", "sheets.h5", "--surface", "sheets.obj", "--fixed", "plane:0,0,0:0,0,-1", "--modes", 2, "--young", 1e6, "--poisson", 0.3, "--density", 500,
        "-q", tool="modalpack")
    run("sheets.h5", "st.h5", "--duration", (FRAMES + 1) / 1000, "--fps", 1000, "--initial", "0=1e-2", "-q", tool="modalsim")
    with open("sheets.json", "w", encoding="utf-8") as f:
        json.dump({"look": 1, "materials": {"leaf": {"image": "leaf.png", "alpha": "blend", "two_sided": True}}, "default": "leaf",
                   "cameras": [{"eye": [1, -2, 0.6], "target": [1, 0, 0.6], "fov": 0.6}]}, f)
    return words


def torus():
    """The bench's: 500 x 500 vertices, in a solid that swings."""
    n = 40 if given.quick else 500
    if not os.path.exists("tt.h5"):
        write_solid("solid.msh", 24, 8)
        write_surface("torus.obj", n)
        run("solid.msh", "torus.h5", "--surface", "torus.obj", "--young", "1e6", "--poisson", "0.4", "--density", "1000", "--modes", "15", "-q", tool="modalpack")
        run("torus.h5", "tt.h5", "--duration", (FRAMES + 1) / 30, "--fps", "30", "--initial", "0=1e-2", "-q", tool="modalsim")
        with open("torus.json", "w", encoding="utf-8") as f:
            json.dump({"look": 1, "materials": {"warm": {"diffuse": [0.6, 0.5, 0.35], "specular": [0.5, 0.5, 0.5], "shininess": 40},
                                                "floor": {"diffuse": [0.5, 0.55, 0.5]}}, "default": "warm", "lights": [{"direction": [-0.5, -0.3, -1.2]}],
                       "ground": {"material": "floor", "height": -0.6, "size": 8}, "background": [0.6, 0.7, 0.8],
                       "cameras": [{"eye": [1.6, -2.3, 1.9], "target": [0, 0, -0.1], "fov": 0.8}]}, f)
    return ["tt.h5", "null", "--format", "null", "--size", SIZE, "--look", "torus.json"]


# ---- rows ----

def first():
    ft = fork()
    times = []
    for i in range(5 if not given.quick else 1):
        before = used(), time.monotonic()
        run(ft, f"o{i}", "--frames", 0, "-q", "--backend", given.backend, "-j", given.threads)
        times.append(1e3 * (used() - before[0] if on_cpu else time.monotonic() - before[1]))
    row("a tuning fork from the program's start to its first PNG, 960 x 540", {"all": statistics.median(times)}, asked="300 ms")


def fork_rows():
    common = [fork(), "--size", SIZE]
    times = in_turns(frame, **{"PNG": [*common[:1], "png", *common[1:]], "y4m": [*common[:1], "-", "--format", "y4m", *common[1:]],
                               "r g b": [*common[:1], "-", "--format", "rgb", *common[1:]], "null sink": [*common[:1], "null", "--format", "null", *common[1:]]})
    row("a tuning fork, q to frames on the host and to files", times, asked="null sink: 1 ms on a GPU")


def pipe():
    """Bytes a second through a pipe into cat, wall clock: y4m, the same while it is written, and dd the same number of bytes. On a CPU drawing takes most of the
    time: there what is held to dd is writing alone."""
    ft, n = fork(), 2 if given.quick else min(FRAMES, 200) if not on_cpu else 8
    rates = {"y4m": [], "while it is written": [], "dd": []}
    for _ in range(TURNS):
        words = " ".join(map(str, [tools / "modalrender", ft, "-", "--format", "y4m", "--size", SIZE, "-q", "--backend", given.backend, "-j", given.threads,
                                   "--report", "report.json"]))
        times = []
        for frames in (1, n):
            start = time.monotonic()
            subprocess.run(f"set -o pipefail; {words} --frames :{frames} | cat > /dev/null", shell=True, check=True, executable="/bin/bash")
            times.append(time.monotonic() - start)
        rates["y4m"].append(3e-6 * PIXELS * (n - 1) / (times[1] - times[0]))
        rates["while it is written"].append(3e-6 * PIXELS * n / stage("write"))
        start = time.monotonic()
        subprocess.run(f"dd if=/dev/zero bs={3 * PIXELS} count={n} status=none | cat > /dev/null", shell=True, check=True)
        rates["dd"].append(3e-6 * PIXELS * n / (time.monotonic() - start))
    found = {name: statistics.median(r) for name, r in rates.items()}
    results.append({"what": "y4m into cat, MB/s", "mb_per_s": found, "ratio": found["while it is written" if on_cpu else "y4m"] / found["dd"], "asked": "0.8"})
    print("y4m into cat: " + ", ".join(f"{name} {r:.0f}" for name, r in found.items()) + f" MB/s; {results[-1]['ratio']:.3f} (0.8)", flush=True)


def png():
    """Processor time of PNG, one thread, beside libpng's level 1 (tests/bench/png_bench.c)."""
    bench = tools.parent / "tests/png_bench"
    if not bench.exists():
        absent.append({"what": "PNG beside libpng", "why": "built without libpng"})
        print("PNG beside libpng: not measured, built without libpng", flush=True)
        return
    frames = {"a tuning fork": [fork()], "a torus": [torus()[0], "--look", "torus.json", "--shadow-size", "2048"],
              **{kind: plant(kind)["cut-outs"][:1] + ["--look", f"{kind}/cut-outs.json"] for kind in (("hemlock", "forest") if not given.quick else ("bush",))}}
    for name, words in frames.items():
        drawn = subprocess.run([tools / "modalrender", words[0], "-", "--format", "rgb", "--size", SIZE, "--frames", "1", "-q", *words[1:]],
                               check=True, capture_output=True).stdout
        ways = json.loads(subprocess.run([bench, *SIZE.split("x")], input=drawn, check=True, capture_output=True).stdout)[0]
        times = {way["name"]: way["ms"] for way in ways}
        ours, *theirs = times
        nearest = min(theirs, key=times.get)
        row(f"PNG of {name}", times, (ours, nearest), "0.75", bytes={way["name"]: way["bytes"] for way in ways})


def stage(name):
    """Seconds of a stage of the last call."""
    with open("report.json", encoding="utf-8") as f:
        return sum(s["seconds"] for s in json.load(f)["phases"] if s["name"] == name)


def disk():
    """PNG to disk, frames a second, beside the threads over the processor time of one encoding. On a CPU, whose threads draw, too, beside the threads over all
    of a frame's processor time: what is less than 1 is waited."""
    bench, n = tools.parent / "tests/png_bench", FRAMES
    words = [*torus()[:1], "png", "--look", "torus.json", "--size", SIZE, "--frames", f":{n}", *(["--samples", "1", "--shadow", "none"] if on_cpu else [])]
    if not bench.exists():
        absent.append({"what": "PNG to disk", "why": "built without libpng"})
        print("PNG to disk: not measured, built without libpng", flush=True)
        return
    drawn = subprocess.run([tools / "modalrender", words[0], "-", "--format", "rgb", "-q", *words[2:6], "--frames", "1"], check=True, capture_output=True).stdout
    most = "threads / processor time of a frame" if on_cpu else "threads / processor time of one encoding"
    rates = {"to disk": [], most: []}
    for _ in range(TURNS):
        one = call(*words) / n if on_cpu else 1e-3 * json.loads(subprocess.run([bench, *SIZE.split("x")], input=drawn, check=True, capture_output=True).stdout)[0][0]["ms"]
        few = 0 if on_cpu else max(n // 4, 1)  # a start of 0.4 s and more, in which batches get their memory, is none of a frame's time
        before = 0.0
        if not on_cpu:
            call(*words[:-1], f":{few}")
            before = stage("draw and write")
            call(*words)
        rates["to disk"].append((n - few) / (stage("draw and write") - before))
        rates[most].append(given.threads / one)
    found = {name: statistics.median(r) for name, r in rates.items()}
    results.append({"what": "PNG to disk", "frames_per_s": found, "ratio": found["to disk"] / found[most], "asked": "0.85"})
    print("PNG to disk: " + ", ".join(f"{name} {r:.1f}" for name, r in found.items()) + f" frames/s; {results[-1]['ratio']:.3f} (0.85)", flush=True)


def threads():
    """Wall clock a frame of one thread and of two, which is something only where nothing else runs."""
    words = [*torus(), "--shadow-size", "2048"]
    times = {"one thread": [], "two threads": []}
    for _ in range(TURNS):
        for n, name in enumerate(times, 1):
            kept, given.threads = given.threads, n
            call(*words, "--frames", f":{FRAMES}")
            given.threads = kept
            times[name].append(1e3 * stage("draw and write") / FRAMES)
    row("the torus, wall clock", {name: statistics.median(t) for name, t in times.items()}, ("one thread", "two threads"), "1.8 on a quiet machine")


def layers():
    words = sheets()
    few = lambda words: frame(words, 40)  # each has 30 million fragments to blend
    times = in_turns(few, **{"sorted": [*words, "--transparency", "sorted"], "two-pass": [*words, "--transparency", "two-pass"]})
    row("16 layers deep", times, ("sorted", "two-pass"), "2")


def plants(kind):
    times = in_turns(frame, **plant(kind))
    for name in ("cut-outs", "blended edges"):
        row(f"{kind}, images and {name}", {name: times[name], "opaque, no images": times["opaque, no images"]}, (name, "opaque, no images"), "3; on a GPU 1 ms")


def vtk():
    """Processor time a frame without shadows; VTK is given normals, and its X server's time is not counted."""
    if not on_cpu:
        return
    if not shutil.which("xvfb-run") or subprocess.run([sys.executable, "-c", "import vtk"], stderr=subprocess.DEVNULL).returncode != 0:
        absent.append({"what": "VTK", "why": "no xvfb-run or no python3-vtk9"})
        print("VTK: not measured, no xvfb-run or no python3-vtk9", flush=True)
        return
    ours = torus()
    script = ["xvfb-run", "-a", "-s", "-screen 0 1920x1080x24", sys.executable, root / "tests/bench/opponents/vtk_frames.py", "torus.obj", SIZE]

    def theirs(frames):
        before = used()
        subprocess.run([*script, str(frames)], check=True, stdout=subprocess.DEVNULL, env={**os.environ, "LP_NUM_THREADS": "1"})
        return used() - before

    measure = lambda what: (theirs(FRAMES) - theirs(1)) / (FRAMES - 1) if what == "VTK" else frame(what)
    times = in_turns(measure, **{"modalrender, no shadows": [*ours, "--shadow", "none"], "modalrender, shadows": [*ours, "--shadow-size", "2048"], "VTK": "VTK"})
    row("a torus of 500,000 triangles beside VTK without shadows", times, ("modalrender, no shadows", "VTK"), "0.5")


if given.make:
    for name in wanted:
        {"layers": sheets, "hemlock": lambda: plant("hemlock"), "forest": lambda: plant("forest"), "vtk": torus, "disk": torus, "threads": torus}.get(name, fork)()
    sys.exit(0)
if "first" in wanted:
    first()
if "fork" in wanted:
    fork_rows()
if "pipe" in wanted:
    pipe()
if "png" in wanted:
    png()
if "disk" in wanted:
    disk()
if "threads" in wanted and on_cpu:
    threads()
if "layers" in wanted:
    layers()
if "vtk" in wanted:
    vtk()
for kind in ("hemlock", "forest"):
    if kind in wanted:
        plants(kind if not given.quick else "bush")
if target:
    machine = {"backend": given.backend, "threads": given.threads}
    with open(target, "w", encoding="utf-8") as f:
        json.dump({"date": datetime.datetime.now(datetime.timezone.utc).isoformat(), "command": " ".join(sys.argv), "quick": given.quick, "size": SIZE,
                   "frames": FRAMES, "machine": machine, "results": results, "absent": absent}, f, indent=1)
