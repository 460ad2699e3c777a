# SPDX-License-Identifier: Apache-2.0
"""modalrender of frames that are given: a sequence.vtkhdf beside the trajectory that it was made of, snapshots of a solid that are known in
closed form; bad input.
usage: check_render_given.py BIN"""
import json
import os
import shutil

import h5py
import numpy as np

from render_tools import check, read_bytes, run, write_box, write_tetrahedra_snapshots

write_box()
with open("look.json", "w", encoding="utf-8") as f:
    json.dump({"look": 1, "materials": {"a": {"diffuse": [0.7, 0.3, 0.2], "specular": [0.3, 0.3, 0.3]}, "b": {}}, "default": "a",
               "lights": [{"direction": [1, 1, -2]}], "ground": {"material": "b", "height": 0},
               "cameras": [{"name": "fixed", "eye": [2.5, -6, 2], "target": [0.5, 0.5, 1.5]}, {"name": "free", "direction": [0.3, 1, -0.7]}]}, f)
SIZE = ("--size", "160x100", "--shadow-size", "512", "-q")
LOOK = ("--look", "look.json")
NAMES = ("depth", "normal", "position", "object", "triangle", "colour")
BUFFERS = ("--buffers", ",".join(NAMES))


def buffers(folder, frame):
    return {name: np.load(f"{folder}/{name}/{frame:06}.npy") for name in NAMES}


# ---- a sequence: the same positions, in the user's order ----

run("t.h5", "s", "-q", tool="modaldeform")
for words in ([], ["--crease", "180"]):
    run("t.h5", "a", "-f", *SIZE, *LOOK, *BUFFERS, *words)
    run("s/sequence.vtkhdf", "b", "-f", *SIZE, *LOOK, *BUFFERS, *words)
    run("--check", "b", tool="modalinfo")
    check(len(os.listdir("b/png")) == 11, os.listdir("b/png"))
    for frame in (0, 4, 10):
        a, b = buffers("a", frame), buffers("b", frame)
        there = a["object"] == 0
        check(there.sum() > 500 and (a["object"] == b["object"]).all() and (a["triangle"] == b["triangle"]).all(), "ids", frame, words)
        for name in ("depth", "position"):  # (the ground is as large as what moves: bounds of modes and of frames differ)
            check((a[name][there] == b[name][there]).all(), name, frame, words)
        for name, most in (("normal", 2e-5), ("colour", 1 / 255)):  # summed in another order; soft shadows of a ground that lies otherwise
            check(np.abs(a[name] - b[name])[there].max() < most, name, frame, words, np.abs(a[name] - b[name])[there].max())
manifest = json.load(open("b/manifest.json", encoding="utf-8"))
check(manifest["input"]["name"] == "s/sequence.vtkhdf" and manifest["frames"]["count"] == 11 and manifest["triangles"] == 192, manifest)

# any threads, limit, frames, and after a stop: the same bytes, with the camera that sees all frames
run("s/sequence.vtkhdf", "all", *SIZE, *LOOK, "--camera", "free", "-j1")
for words in (["-j3"], ["-j2", "--memory-limit", "8M"]):
    run("s/sequence.vtkhdf", "again", "-f", *SIZE, *LOOK, "--camera", "free", *words)
    check(all(read_bytes(f"all/png/{i:06}.png") == read_bytes(f"again/png/{i:06}.png") for i in range(11)), words)
run("s/sequence.vtkhdf", "part", *SIZE, *LOOK, "--camera", "free", "--frames", "1::3", "--shard", "1/2", "--resume")
check(read_bytes("part/png/000002.png") == read_bytes("all/png/000007.png") and not os.path.exists("part/png/000000.png"), "a share")
check(read_bytes("all/png/000000.png") != read_bytes("all/png/000005.png"), "nothing moves")
rgb = run("s/sequence.vtkhdf", "-", *SIZE, "--format", "rgb").stdout
check(len(rgb) == 11 * 3 * 16000, len(rgb))

# ---- snapshots: u = 0.1 t z e_x ----

nodes = np.loadtxt("x.node", skiprows=1)[:, 1:]
cells = np.loadtxt("x.ele", skiprows=1, dtype=int)[:, 1:]
sides = np.concatenate([cells[:, list(c)] for c in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))])
volume = np.einsum("ij,ij->i", np.cross(nodes[cells[:, 1]] - nodes[cells[:, 0]], nodes[cells[:, 2]] - nodes[cells[:, 0]]), nodes[cells[:, 3]] - nodes[cells[:, 0]])
check((volume > 0).all(), "elements")
_, index, count = np.unique(np.sort(sides, 1), axis=0, return_index=True, return_counts=True)
boundary = sides[index[count == 1]]
times = np.array([0.0, 0.5, 2.0])


def write_snapshots(name, **more):
    write_tetrahedra_snapshots(name, nodes, cells, boundary, times, lambda t: 0.1 * t * nodes[:, 2:] * (1, 0, 0), **more)


write_snapshots("n.h5")
run("n.h5", "n", *SIZE, *LOOK, *BUFFERS)
check(len(os.listdir("n/png")) == 3, os.listdir("n/png"))
for frame, t in enumerate(times):
    b = buffers("n", frame)
    there = b["object"] == 0
    rest = b["position"][there].astype("f8")
    rest[:, 0] -= 0.1 * t * rest[:, 2]
    off = np.minimum(np.abs(rest[:, :2]).min(1), np.minimum(np.abs(rest[:, :2] - 1).min(1), np.minimum(np.abs(rest[:, 2]), np.abs(rest[:, 2] - 3))))
    check(there.sum() > 500 and off.max() < 1e-3, "not on the box's sides", frame, off.max())
    # each pixel's triangle is the file's, and its normal is flat: the box has hard edges
    place, number = np.argwhere(there)[::53], b["triangle"][there][::53]
    moved = nodes + 0.1 * t * nodes[:, 2:] * (1, 0, 0)
    for (y, x), k in zip(place, number):
        p = moved[boundary[k]]
        want = np.cross(p[1] - p[0], p[2] - p[0])
        check(np.abs(b["normal"][y, x] - want / np.linalg.norm(want)).max() < 1e-4, "normal", frame, y, x)
        check(abs((b["position"][y, x] - p[0]) @ want) / np.linalg.norm(want) < 1e-3, "plane", frame, y, x)
y, x = place[3]
picked = json.loads(run("n.h5", "-", "--size", "160x100", *LOOK, "--pick", f"{x},{y},2").stdout)
check(picked["triangle"] == buffers("n", 2)["triangle"][y, x] and picked["vertex"] in boundary[picked["triangle"]] and picked["time"] == 2, picked)
far = {int(v): np.linalg.norm(nodes[v] + [0.2 * nodes[v][2], 0, 0] - picked["world"]) for v in boundary[picked["triangle"]]}
check(far[picked["vertex"]] < min(far.values()) + 1e-6, "another corner is nearer", picked, far)
check(np.abs(np.array(picked["rest"]) + [0.2 * picked["rest"][2], 0, 0] - picked["world"]).max() < 1e-4, picked)

# ---- what is refused ----

write_snapshots("bare.h5", solid=False)
write_snapshots("nan.h5", damage=np.nan)
write_snapshots("huge.h5", damage=1e300)
with h5py.File("n.h5") as f, h5py.File("timeless.h5", "w", libver=("earliest", "v108")) as to:
    to.attrs.update(f.attrs)
    for name in ("displacements", "solid"):
        f.copy(name, to)
run("t.h5", "v", "-q", "--output-mesh", "volume", tool="modaldeform")
shutil.copy("s/sequence.vtkhdf", "cut.vtkhdf")
os.truncate("cut.vtkhdf", 20000)
with open("other.json", "w", encoding="utf-8") as f:
    json.dump({"look": 1, "materials": {"a": {}}, "default": "a", "objects": [{"object": 3, "material": "a"}]}, f)
for words, code, error in (
        (["bare.h5"], 3, "/solid/triangles: missing"), (["nan.h5"], 3, "nan.h5"), (["huge.h5"], 3, "does not fit float32"),
        (["timeless.h5"], 3, "/times: missing"), (["v/sequence.vtkhdf"], 3, "sequence.vtkhdf"), (["cut.vtkhdf"], 3, "cut.vtkhdf"),
        (["n.h5", "--normals", "rigid"], 2, "--normals: frames that are given have no rigid frames"),
        (["n.h5", "--basis", "b.h5"], 2, "--basis: is not for frames that are given"), (["n.h5", "--modes", "0"], 2, "--modes, --amplitude: of a basis, but this is none"),
        (["n.h5", "--look", "other.json"], 3, "objects"), (["n.h5", "--memory-limit", "100K"], 4, "--memory-limit: one frame needs"),
        (["n.h5", "--backend", "cpu,cpu"], 2, "--backend: frames that are given are drawn by one device, cpu,cpu"), (["n.h5", "--frames", "3"], 2, "--frames")):
    run(words[0], "bad", *SIZE, *words[1:], code=code, error=error)
    check(not os.path.exists("bad"), words, "left something")
print("modalrender of given frames: all as it should be")
