#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/gallery.md that modalrender draws: shadows, buffers, images of normals, leaves that are cut out or blended, normals.
usage: draw_render.py TO_FOLDER [shadows|forest|buffers|materials|normals ...] BIN"""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

root = pathlib.Path(__file__).resolve().parents[2]
to = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(root / "tests/python"))

from images import write_png  # noqa: E402
from render_tools import read_png, run, tools  # noqa: E402

PANEL = (360, 330)
CAMERA = {"eye": [2.4, -3.6, 2.3], "target": [0, 0, 1.05], "fov": 0.56}


def plant(kind, folder, *words):
    subprocess.run([sys.executable, root / "data/plant.py", kind, folder, "--tools", tools, *words], check=True, capture_output=True)
    run(f"{folder}/plant.h5", f"{folder}/t.h5", "--scene", f"{folder}/scene.json", "-f", "-q", tool="modalsim")


def look(folder, name, change=None, camera=CAMERA):
    with open(f"{folder}/look.json", encoding="utf-8") as f:
        text = json.load(f)
    text["materials"]["soil"] = {"diffuse": [0.45, 0.4, 0.33]}
    text.update(ground={"material": "soil", "height": 0, "size": 40}, cameras=[camera], background=[0.72, 0.83, 0.95])
    if change:
        change(text)
    with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
        json.dump(text, f)
    return f"{folder}/{name}"


def draw(folder, name, *words, frame=20, size=PANEL):
    run(f"{folder}/t.h5", "o", "-f", "-q", "--look", name, "--frames", frame, "--size", "%dx%d" % size, "--samples", 8, *words)
    return read_png("o/png/000000.png")


def buffer(name):
    return np.load(f"o/{name}/000000.npy")


def join(name, *panels):
    gap = np.full((len(panels[0]), 6, 3), 255, "u1")
    row = [piece for p in panels for piece in (p, gap)][:-1]
    write_png(to / name, np.concatenate(row, 1))
    print(to / name, os.path.getsize(to / name), "bytes")


def shadows():
    near = {"eye": [-0.5, -1.1, 1.3], "target": [-0.75, 0.45, 0], "fov": 0.42}
    name = look("bush", "near.json", camera=near)
    join("render_shadows.png", draw("bush", name, "--shadow", "hard", "--shadow-size", 512), draw("bush", name, "--shadow", "hard", "--shadow-size", 4096),
         draw("bush", name, "--shadow-size", 2048, "--shadow-width", 6))


def forest():
    """All of its 6,440 objects in one shadow map."""
    plant("forest", "forest", "--look", "--linear", "--duration", "0.5")
    name = look("forest", "near.json", camera={"eye": [1.5, -5.0, 6.0], "target": [5.0, 3.4, 0.6], "fov": 0.42})
    join("render_forest.png", *(draw("forest", name, "--shadow", *words, frame=10)
                                for words in (("hard", "--shadow-size", 512), ("hard", "--shadow-size", 4096), ("vsm", "--shadow-size", 4096, "--shadow-width", 3))))


def buffers():
    picture = draw("bush", look("bush", "all.json"), "--buffers", "object,normal,depth,motion", size=(270, 330), frame="19:21")
    read = lambda name: np.load(f"o/{name}/000001.npy")
    objects, normal, motion = read("object"), read("normal"), read("motion")
    colours = np.random.default_rng(3).integers(60, 255, (objects.max() + 2, 3)).astype("u1")
    colours[-1] = 235
    ids = np.where((objects >= 0)[..., None], colours[objects], 235).astype("u1")
    shown = np.where((read("depth") > 0)[..., None], np.rint(127.5 + 127.5 * normal), 235).astype("u1")
    flow = np.full((*objects.shape, 3), 235, "u1")
    moves = np.clip(motion / np.percentile(np.abs(motion[objects >= 0]), 99), -1, 1)
    flow[objects >= 0] = np.rint(np.stack([127.5 + 127 * moves[..., 0], 127.5 + 127 * moves[..., 1], np.full(objects.shape, 128)], -1))[objects >= 0]
    join("render_buffers.png", picture, ids, shown, flow)


def materials():
    trunk = {"eye": [0.35, -0.5, 0.5], "target": [0, 0, 0.4], "fov": 0.4}

    y, x = np.mgrid[:256, :256] * (2 * np.pi / 256)  # furrows along the trunk, that wander
    height = np.cos(14 * x + 1.5 * np.sin(2 * y)) + 0.6 * np.cos(23 * x - 2 * np.cos(3 * y) + 1) + 0.4 * np.cos(9 * x + 7 * y)
    n = np.stack([-(np.roll(height, -1, 1) - np.roll(height, 1, 1)), np.roll(height, -1, 0) - np.roll(height, 1, 0), np.full(x.shape, 0.9)], -1)
    write_png("bush/relief.png", np.rint(127.5 + 127.5 * n / np.linalg.norm(n, axis=2, keepdims=True)).astype("u1"))

    def flat(text):
        del text["materials"]["bark"]["normal_image"]

    def relief(text):
        text["materials"]["bark"]["normal_image"] = "relief.png"

    def opaque(text):
        text["materials"]["leaf"].update(alpha="opaque")
        text["materials"]["leaf"].pop("cutoff", None)

    def blend(text):
        text["materials"]["leaf"].update(alpha="blend", opacity=0.6)
        text["materials"]["leaf"].pop("cutoff", None)

    leaves = {"eye": [0.0, -0.9, 1.75], "target": [-0.42, -0.33, 1.55], "fov": 0.4}
    small = (240, 300)
    join("render_materials.png", draw("bush", look("bush", "flat.json", flat, trunk), size=small), draw("bush", look("bush", "bump.json", relief, trunk), size=small),
         draw("bush", look("bush", "opaque.json", opaque, leaves), size=small), draw("bush", look("bush", "cut.json", None, leaves), size=small),
         draw("bush", look("bush", "blend.json", blend, leaves), size=small))


def normals():
    """Those of the rest shape, turned, beside those of the deformed surface: angles between them where both pictures show the same triangle."""
    plant("conifer", "conifer", "--look", "--duration", "2")
    name = look("conifer", "all.json", camera={"eye": [2.2, -3.2, 2.6], "target": [0.3, 0.0, 2.0], "fov": 0.42})
    panels, found = [], []
    for kind in ("rigid", "dynamic"):
        panels.append(draw("conifer", name, "--normals", kind, "--buffers", "normal,object", *(["--crease", "180"] if kind == "dynamic" else []), frame=40))
        found.append((buffer("normal").astype("f8"), buffer("object")))
    same = (found[0][1] == found[1][1]) & (found[0][1] >= 0)
    angle = np.degrees(np.arccos(np.clip((found[0][0] * found[1][0]).sum(2)[same], -1, 1)))
    print(f"angles between rigid and dynamic normals: mean {angle.mean():.1f}, 99 % {np.percentile(angle, 99):.1f}, largest {angle.max():.1f} degrees")
    heat = np.full((*same.shape, 3), 235, "u1")
    heat[same] = np.rint(np.stack([np.clip(angle / 20, 0, 1) * 255, 60 + 0 * angle, 255 - np.clip(angle / 20, 0, 1) * 255], -1))
    join("render_normals.png", *panels, heat)


wanted = sys.argv[2:-1]
if wanted != ["forest"]:
    plant("bush", "bush", "--look", "--rigid", "300", "--duration", "2")
for make in (shadows, forest, buffers, materials, normals):
    if not wanted or make.__name__ in wanted:
        make()
