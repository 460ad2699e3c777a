# SPDX-License-Identifier: Apache-2.0
"""Prints the tables of docs/results/look.md. usage: PYTHONPATH=tests/python measure_look.py BIN_FOLDER DECODE_IMAGES
Packing 200 images beside libpng and a box filter; the thesis's layout beside classes of equal size; a textured GLB beside one without."""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

import images

binaries, decode_images = map(os.path.abspath, sys.argv[1:3])
__file__ = os.path.abspath(__file__)
os.chdir(tempfile.mkdtemp(prefix="measure-"))
random = np.random.default_rng(5)


def run(tool, *words):
    subprocess.run([f"{binaries}/{tool}", *map(str, words)], check=True, capture_output=True)


def texture(w, h, channels=3):
    """Waves of all lengths and a little noise: packs to about half, as photographs do."""
    y, x = np.mgrid[:h, :w]
    total = sum(np.sin(2 * np.pi * (random.integers(1, 60, 2) * [1 / w, 1 / h] @ [x.ravel(), y.ravel()]) + random.uniform(0, 6))
                for _ in range(6)).reshape(h, w)
    base = 128 + 18 * total[..., None] * random.uniform(0.5, 1, channels) + random.normal(size=(h, w, channels)) * 2
    return np.clip(base, 0, 255).astype("u1")


def measure_pack():
    names = [f"{i}.png" for i in range(200)]
    for i in range(10):
        images.write_png(f"{i}.png", texture(1024, 1024))
    for i in range(10, 200):
        shutil.copy(f"{i % 10}.png", f"{i}.png")
    with open("l.json", "w") as f:
        json.dump({"look": 1, "materials": {n: {"image": n} for n in names}}, f)
    cores = len(os.sched_getaffinity(0))
    ratios = []
    for _ in range(3):
        decode, box = map(float, subprocess.run([decode_images, *names], check=True, capture_output=True, text=True).stdout.split())
        before = os.times()
        run("modaltex", "pack", "l.json", "p.h5", "-f", "-j", cores, "--report", "r.json")
        after = os.times()
        wall, busy = after.elapsed - before.elapsed, after.children_user + after.children_system - before.children_user - before.children_system
        stages = {s["name"]: s["seconds"] for s in json.load(open("r.json"))["phases"]}
        ratios.append((decode + box) / cores / stages["images"])
        print(f"| {decode:.2f} + {box:.2f} | {stages['images']:.2f} | {stages.get('sync', 0):.2f} | {busy:.2f} | {ratios[-1]:.2f} | "
              f"{(decode + box) / busy:.2f} |")


def lookup(level, u, v):
    """Bilinear, repeated."""
    h, w = level.shape[:2]
    x, y = u * w - 0.5, v * h - 0.5
    i, k = np.floor(x).astype(int), np.floor(y).astype(int)
    a, b = (x - i)[:, None], (y - k)[:, None]
    at = lambda dx, dy: level[(k + dy) % h, (i + dx) % w]
    return (at(0, 0) * (1 - a) + at(1, 0) * a) * (1 - b) + (at(0, 1) * (1 - a) + at(1, 1) * a) * b


def measure_layouts():
    """Of a plant's images: bark, a branch, leaves, needles, a blossom."""
    sizes = [(1024, 1024), (512, 512), (256, 128), (128, 256), (200, 150), (96, 96), (64, 64), (64, 64)]
    for i, (w, h) in enumerate(sizes):
        images.write_png(f"t{i}.png", texture(w, h))
    compare_layouts([f"t{i}.png" for i in range(len(sizes))], sizes)


def measure_plants():
    """The images that data/plant.py makes, as its look has them: bark and leaves; leaves without their alpha, which no layout changes."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../data/plant.py")
    spec = importlib.util.spec_from_file_location("plant", source)
    plant = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plant)
    plant.write_images(lambda name: name, plant.random.Random(1))
    compare_layouts(["bark.png", "leaf.png"], [(128, 128), (64, 64)])


def compare_layouts(names, sizes):
    with open("t.json", "w") as f:
        json.dump({"look": 1, "materials": {f"m{i}": {"image": name} for i, name in enumerate(names)}}, f)
    u, v = random.uniform(0, 1, (2, 20000))
    errors = {}
    for layout in ("classes", "thesis"):
        run("modaltex", "pack", "t.json", f"{layout}.h5", "-f", "--layout", layout)
        with h5py.File(f"{layout}.h5") as f:
            total = sum(f[f"classes/{c:04d}"][name].size for c in range(f["classes"].attrs["count"]) for name in f[f"classes/{c:04d}"])
            for i, (w, h) in enumerate(sizes):
                group, layer, scale = f[f"classes/{f['images/class'][i]:04d}"], f["images/layer"][i], f["images/scale"][i]
                first = f["classes/0000/level_00"][i][:h, :w] if layout == "thesis" else group["level_00"][layer]
                chain = [x.astype(float) for x in images.mip_levels(first)]
                for level in range(7):
                    got = lookup(group[f"level_{min(level, len(group) - 1):02d}"][layer].astype(float), u * scale[0], v * scale[1])
                    # the size of a texel is that of the layer: a smaller image is looked up in a finer level of its own
                    own = min(level, len(chain) - 1)
                    error = np.abs(got - lookup(chain[own], u, v))[:, :3].max()
                    errors[layout, level] = max(errors.get((layout, level), 0), error)
        print(f"| {layout} | {total:,} | " + " | ".join(f"{errors[layout, k]:.1f}" for k in range(7)) + " |")


def measure_glb():
    """A bar of 20,000 vertices, 24 modes, 8 images."""
    n = 100
    rows = []
    for side, (a, b) in enumerate(((0, 1), (1, 3), (3, 2), (2, 0))):
        ends = [np.array([(k & 1), (k >> 1)], float) * 0.2 for k in (a, b)]
        s, t = np.meshgrid(np.linspace(0, 1, 100), np.linspace(0, 1, 51)[:-1], indexing="ij")
        rows.append(np.stack([s.ravel(), *(ends[0][:, None] * (1 - t.ravel()) + ends[1][:, None] * t.ravel())], 1))
    points = np.concatenate(rows)
    m = 50 * 4
    number = lambda i, k: (k % m) // 50 * 5000 + i * 50 + k % 50
    lines = ["mtllib g.mtl"] + [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in points]
    lines += [f"vt {i / 99:.6f} {k / m:.6f}" for i in range(100) for k in range(m + 1)]
    for i in range(99):
        if i * 8 % 99 < 8:
            lines.append(f"usemtl m{i * 8 // 99}")
        for k in range(m):
            corners = ((i, k), (i + 1, k), (i + 1, k + 1), (i, k + 1))
            lines.append("f " + " ".join(f"{number(a, b) + 1}/{a * (m + 1) + b + 1}" for a, b in corners))
    with open("g.obj", "w") as f:
        f.write("\n".join(lines) + "\n")
    with open("g.mtl", "w") as f:
        f.write("".join(f"newmtl m{i}\nKd 1 1 1\nmap_Kd {i}.png\n" for i in range(8)))
    nodes = [(x / 12, 0.2 * y / 2, 0.2 * z / 2) for x in range(13) for y in range(3) for z in range(3)]
    cells = [[9 * x + 3 * y + z + 9 * (k >> 2) + 3 * (k >> 1 & 1) + (k & 1) for k in t] for x in range(12) for y in range(2) for z in range(2)
             for t in ((0, 4, 6, 7), (0, 6, 2, 7), (0, 2, 3, 7), (0, 3, 1, 7), (0, 1, 5, 7), (0, 5, 4, 7))]
    with open("g.node", "w") as f:
        f.write(f"{len(nodes)} 3 0 0\n" + "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(nodes)))
    with open("g.ele", "w") as f:
        f.write(f"{len(cells)} 4 0\n" + "".join(f"{i} {' '.join(map(str, c))}\n" for i, c in enumerate(cells)))
    run("modalpack", "g.node", "g.h5", "--surface", "g.obj", "--modes", 24, "--young", 1e6, "--poisson", 0.3, "--density", 1000)
    run("modalsim", "g.h5", "gt.h5", "--duration", 2, "--fps", 100, "--impulse", "1,0,0:0.1,0.2,0.3")
    for i in range(8):
        images.write_png(f"{i}.png", texture(256, 256))
    pictures = sum(os.path.getsize(f"{i}.png") for i in range(8))
    seconds = {}
    for _ in range(5):
        for kind, words in (("plain", ()), ("look", ("--look", "g.obj"))):
            start = time.perf_counter()
            run("modaldeform", "gt.h5", kind, "-f", "--format", "glb", *words, "--report", "r.json")
            stages = {s["name"]: s["seconds"] for s in json.load(open("r.json"))["phases"]}
            seconds.setdefault(kind, []).append(time.perf_counter() - start)
    sizes = {kind: os.path.getsize(f"{kind}/sequence.glb") for kind in seconds}
    start = time.perf_counter()
    subprocess.run(["dd", "if=look/sequence.glb", "of=copy", "bs=1M", "conv=fsync"], check=True, capture_output=True)
    dd = time.perf_counter() - start
    print(f"| {sizes['plain']:,} | {pictures:,} | {sizes['look']:,} | {(sizes['look'] - pictures) / sizes['plain']:.3f} | "
          f"{min(seconds['plain']):.3f} | {min(seconds['look']):.3f} | {dd:.3f} |")
    print(stages)


for part in sys.argv[3:] or ("pack", "layouts", "plants", "glb"):
    globals()[f"measure_{part}"]()
