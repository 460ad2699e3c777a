# SPDX-License-Identifier: Apache-2.0
"""modalrender --buffers motion beside projected positions, under a camera that walks; the same bytes with shares, --resume, small batches;
EXR's channels.
usage: check_render_motion.py BIN"""
import json
import os
import shutil
import subprocess
import time

import h5py
import numpy as np

from render_tools import check, read_bytes, read_exr, run, tools, write_box

write_box()
END, FOV, WIDTH, HEIGHT = 0.02, 0.7, 200, 120
KEYS = np.array([[0, 0.5, -6, 2, 0.5, 0.5, 1.5], [END, 2, -5.5, 2.2, 0.6, 0.5, 1.4]])
with open("look.json", "w", encoding="utf-8") as f:
    json.dump({"look": 1, "materials": {"a": {"two_sided": True}}, "default": "a", "ground": {"material": "a", "height": 0},
               "cameras": [{"name": "walk", "eye": [0, 0, 0], "target": [0, 1, 0], "fov": FOV, "keys": KEYS.tolist()},
                           {"name": "still", "eye": [0.5, -6, 2], "target": [0.5, 0.5, 1.5], "fov": FOV}]}, f)
COMMON = ["--look", "look.json", "--size", f"{WIDTH}x{HEIGHT}", "--shadow", "none", "--buffers", "motion,position,object,triangle,depth", "-q"]


def view(t):
    part = np.clip(t / END, 0, 1)
    eye, target = np.split(KEYS[0, 1:] * (1 - part) + KEYS[1, 1:] * part, 2)
    ahead = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(ahead, (0, 0, 1))
    right /= np.linalg.norm(right)
    return eye, right, np.cross(right, ahead), ahead


def project(axes, p):
    eye, right, up, ahead = axes
    focal, d = 0.5 * HEIGHT / np.tan(0.5 * FOV), p - eye
    return np.stack([0.5 * WIDTH + focal * (d @ right) / (d @ ahead), 0.5 * HEIGHT - focal * (d @ up) / (d @ ahead)], -1)


# where each pixel's place was: the same weights of its triangle's corners in the frame before, as modaldeform writes them
run("t.h5", "s", "-q", "--order", "user", tool="modaldeform")
with h5py.File("s/sequence.vtkhdf") as f:
    root = f["VTKHDF"]
    times, n = root["Steps/Values"][:], root["NumberOfPoints"][0]
    points = root["Points"][:].reshape(len(times), n, 3).astype("f8")
    corners = root["Polygons/Connectivity"][:].reshape(-1, 3)
run("t.h5", "o", *COMMON, "--camera", "walk", "--samples", 4)
seen, most = 0, 0
for frame in range(len(times)):
    b = {name: np.load(f"o/{name}/{frame:06}.npy") for name in ("motion", "position", "object", "triangle", "depth")}
    check(b["motion"].shape == (HEIGHT, WIDTH, 2) and b["motion"].dtype == "f4", b["motion"].shape)
    check((b["motion"][b["depth"] == 0] == 0).all(), "motion where nothing is")
    if frame == 0:
        check((b["motion"] == 0).all(), "motion of the first frame")
        continue
    there = b["object"] == 0
    p, k = b["position"][there].astype("f8"), corners[b["triangle"][there]]
    a = points[frame][k]
    edges = a[:, 1:] - a[:, :1]
    weights = np.linalg.solve(edges @ edges.transpose(0, 2, 1), np.einsum("nij,nj->ni", edges, p - a[:, 0])[..., None])[..., 0]
    weights = np.concatenate([1 - weights.sum(1, keepdims=True), weights], 1)
    before = np.einsum("ni,nij->nj", weights, points[frame - 1][k])
    want = project(view(times[frame]), p) - project(view(times[frame - 1]), before)
    check(np.abs(b["motion"][there] - want).max() <= 1 / 256, frame, np.abs(b["motion"][there] - want).max())
    ground = (b["object"] < 0) & (b["depth"] > 0) & (b["depth"] < 20)
    q = b["position"][ground].astype("f8")
    want = project(view(times[frame]), q) - project(view(times[frame - 1]), q)
    check(np.abs(b["motion"][ground] - want).max() <= 1 / 256, "ground", frame, np.abs(b["motion"][ground] - want).max())
    seen += there.sum()
    most = max(most, np.abs(b["motion"][there]).max())
check(most > 1, "nothing moves", most)
check(seen > 10000, seen)


# back ends differ by their positions' last bits: ids only within 1/256 pixel of a projected edge of what one of the two sees there
back_ends = ["ref", "cpu"] + (["cuda:0"] if b"cuda:0:" in run("-V").stdout else [])
for back_end in back_ends:
    big = [f"{4 * WIDTH}x{4 * HEIGHT}" if word == f"{WIDTH}x{HEIGHT}" else word for word in COMMON]
    run("t.h5", back_end, *big, "--camera", "walk", "--samples", 1, "--backend", back_end)
for frame in range(len(times)):
    ids = [np.load(f"{back_end}/triangle/{frame:06}.npy") for back_end in back_ends]
    seen_from = view(times[frame])
    for other in ids[1:]:
        y, x = np.nonzero(ids[0] != other)
        check(len(y) <= 0.001 * other.size, "ids of two back ends", frame, len(y))
        for row, column in zip(y, x):
            edges = [(p, q) for k in (ids[0][row, column], other[row, column]) if k >= 0
                     for c in [project(seen_from, points[frame][corners[k]]) * 4] for p, q in zip(c, np.roll(c, 1, 0))]
            at = np.array([column + 0.5, row + 0.5])
            far = [np.linalg.norm(p + np.clip((at - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1) * (q - p) - at) for p, q in edges]
            check(min(far) <= 1 / 256, "an id differs", back_ends, frame, row, column, min(far))


def same(folder, numbers, how):
    for i in numbers:
        check(read_bytes(f"o/motion/{i:06}.npy") == read_bytes(f"{folder}/motion/{i:06}.npy"), how, i)
        check(read_bytes(f"o/png/{i:06}.png") == read_bytes(f"{folder}/png/{i:06}.png"), how, i)


SIZED = [*COMMON, "--camera", "walk", "--samples", 4]
run("t.h5", "m", *SIZED, "--memory-limit", "9M", "-j1")
same("m", range(len(times)), "small batches")
for i in range(3):
    run("t.h5", f"h{i}", *SIZED, "--shard", f"{i}/3")
    names = sorted(os.listdir(f"h{i}/motion"))
    check(names == [f"{k:06}.npy" for k in range(11 * i // 3, 11 * (i + 1) // 3)], names)
    same(f"h{i}", range(11 * i // 3, 11 * (i + 1) // 3), "a share")
    run("--check", f"h{i}", tool="modalinfo")

# several devices: each makes the frame before its batch, too. Batches of two frames, of more, frames by steps, a share
for words in (["--memory-limit", "21M"], ["--memory-limit", "60M"], []):
    run("t.h5", "d", "-f", *SIZED, "--backend", "cpu,cpu", *words)
    same("d", range(len(times)), ("two devices", *words))
run("t.h5", "d", "-f", *SIZED, "--backend", "cpu,cpu,cpu", "--memory-limit", "40M", "--shard", "1/3")
same("d", range(11 // 3, 11 * 2 // 3), "three devices, a share")
run("t.h5", "d", "-f", *SIZED, "--backend", "cpu,cpu", "--frames", "1::3", "--memory-limit", "30M")
run("t.h5", "d1", *SIZED, "--backend", "cpu", "--frames", "1::3")
for i in range(4):
    check(read_bytes(f"d/motion/{i:06}.npy") == read_bytes(f"d1/motion/{i:06}.npy"), "two devices, every third frame", i)
run("t.h5", "d2", *SIZED, "--backend", "cpu,cpu", "--memory-limit", "11M", code=4, error="two frames of a batch")

# gone on after a stop, also of a share: the first frame that is drawn again moves from one that is not. Small batches of many frames, on
# the CPU, so that the run is not over before it can be stopped
N = 101
LONG = [*COMMON, "--camera", "walk", "--samples", 4, "--backend", "cpu"]
run("b.h5", "long.h5", "--duration", END, "--fps", 5000, "--initial", "0=2", "-q", tool="modalsim")
run("long.h5", "o", "-f", *LONG)
for share in ([], ["--shard", "1/2"]):
    first = N // 2 if share else 0
    process = subprocess.Popen([tools / "modalrender", "long.h5", "r", *map(str, LONG), *share, "--resume", "-j1", "--memory-limit", "9M"])
    for _ in range(20000):
        if process.poll() is not None or (os.path.exists("r/frames.journal") and read_bytes("r/frames.journal").count(b"\nframe ") >= 2):
            break
        time.sleep(0.0005)
    process.kill()
    process.wait()
    check(os.path.exists("r/frames.journal"), "could not be stopped")
    with open("r/frames.journal", "r+b") as f:  # two frames are complete
        text = f.read()
        f.truncate(text.index(b"\nframe %d " % (first + 2)) + 1 if b"\nframe %d " % (first + 2) in text else len(text))
    run("long.h5", "r", *LONG, *share, "--resume")
    same("r", range(first, N), share)
    check(len(os.listdir("r/png")) == N - first, share)
    shutil.rmtree("r")

# a still camera: ground does not move; frames by steps move from the frame that was drawn before
run("t.h5", "k", *COMMON, "--camera", "still", "--samples", 1, "--frames", "1::4")
b = {name: np.load(f"k/{name}/000001.npy") for name in ("motion", "position", "object", "triangle")}
check((b["motion"][b["object"] < 0] == 0).all() and np.abs(b["motion"]).max() > 0.1, "a still ground")
check((np.load("k/motion/000000.npy") == 0).all(), "the first one")

if b"OpenEXR absent" not in run("-V").stdout:
    run("t.h5", "e", *SIZED, "--format", "exr", "--frames", ":3")
    got = read_exr("e/exr/000002.exr")
    want = np.load("m/motion/000002.npy")
    check((got["motion.X"] == want[..., 0]).all() and (got["motion.Y"] == want[..., 1]).all(), "EXR")
print("modalrender --buffers motion: all as it should be")
