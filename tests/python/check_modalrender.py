# SPDX-License-Identifier: Apache-2.0
"""modalrender on a box that swings: pictures, buffers and streams beside each other, the same bytes however they are made, bad input.
usage: check_modalrender.py BIN"""
import filecmp
import json
import os
import resource
import signal
import subprocess

import h5py
import numpy as np

import lacking
from render_tools import check, read_png, run, to_srgb, tools, write_box

BUFFERS = {"colour": 3, "triangle": 1, "object": 1, "depth": 1, "normal": 3, "position": 3}


def write_inputs():
    write_box()
    look = {"look": 1, "materials": {"a": {"diffuse": [0.7, 0.3, 0.2], "specular": [0.3, 0.3, 0.3]}, "b": {"diffuse": [0.4, 0.5, 0.4]}},
            "default": "a", "lights": [{"direction": [1, 1, -2]}], "ground": {"material": "b"}, "background": [0.25, 0.5, 0.75],
            "cameras": [{"name": "high", "direction": [0.3, 1, -0.7]},
                        {"name": "fixed", "eye": [0.5, -6, 2], "target": [0.5, 0.5, 1.5]},
                        {"name": "walk", "eye": [0.5, -6, 2], "target": [0.5, 0.5, 1.5],
                         "keys": [[0, 0.5, -6, 2, 0.5, 0.5, 1.5], [0.02, 3, -6, 2, 0.5, 0.5, 1.5]]},
                        {"name": "away", "eye": [0.5, -6, 2], "target": [0.5, -7, 3]},
                        {"name": "inside", "eye": [0.4, 0.5, 1], "target": [0.5, 1, 2]}]}
    with open("look.json", "w", encoding="utf-8") as f:
        json.dump(look, f)
    return look


look = write_inputs()
SIZE = ("--size", "160x100", "--shadow-size", "512")

# ---- what is in a picture ----

run("t.h5", "o", "--look", "look.json", *SIZE, "--samples", 1, "--buffers", ",".join(BUFFERS), "-q", "-j1")
manifest = json.load(open("o/manifest.json", encoding="utf-8"))
count = manifest["frames"]["count"]
check(count == 11 and len(manifest["files"]) == 7 * count, manifest["files"])
for file in manifest["files"]:
    check(os.path.getsize("o/" + file["name"]) == file["bytes"], file)
run("--check", "o", tool="modalinfo")
for frame in (0, count - 1):
    picture = read_png(f"o/png/{frame:06}.png")
    b = {name: np.load(f"o/{name}/{frame:06}.npy") for name in BUFFERS}
    for name, components in BUFFERS.items():
        check(b[name].shape == ((100, 160, components) if components > 1 else (100, 160)), name, b[name].shape)
    check(np.abs(to_srgb(b["colour"].astype("f8")) * 255 - picture).max() <= 0.51, "sRGB of colours")
    thing, ground, empty = b["object"] == 0, (b["object"] == -1) & (b["depth"] > 0), b["depth"] == 0
    check(500 < thing.sum() < 8000 and ground.sum() > 1000 and (thing | ground | empty).all(), thing.sum(), ground.sum())
    check((b["triangle"][~thing] == -1).all() and (b["triangle"][thing] >= 0).all() and b["triangle"].max() < 192, b["triangle"].max())
    check(np.allclose(b["colour"][empty], look["background"], atol=1e-6), "background")
    check(np.abs(np.linalg.norm(b["normal"][~empty], axis=1) - 1).max() < 1e-5, "normals")
    check(np.abs(b["normal"][ground] - (0, 0, 1)).max() < 1e-6 and np.abs(b["position"][ground][:, 2]).max() < 1e-4, "the ground is below")
    # a shadow on the ground, and light: two thirds and all of what arrives, but for the border
    bright = b["colour"][ground][:, 1]
    lit = 0.2 * 0.5 + 0.5 * 2 / 6 ** 0.5
    check((np.abs(bright - lit) < 1e-3).mean() > 0.5 and (np.abs(bright - 0.1) < 1e-3).mean() > 0.01, "light and shadow on the ground")
moved = np.load("o/position/000000.npy") - np.load("o/position/000003.npy")
check(np.abs(moved).max() > 1e-3, "nothing moved")

# 16 bits: of the same light; where no sample exceeds 1, that of the colours
run("t.h5", "deep", "--look", "look.json", *SIZE, "--samples", 4, "--bits", 16, "--buffers", "colour", "--frames", 0, "-q")
run("t.h5", "plain", "--look", "look.json", *SIZE, "--samples", 4, "--frames", 0, "-q")
deep, picture, colour = read_png("deep/png/000000.png"), read_png("plain/png/000000.png"), np.load("deep/colour/000000.npy").astype("f8")
check(deep.dtype == ">u2" and np.abs(deep / 257.0 - picture).max() <= 0.51, "16 bits beside 8")
check(colour.max() <= 1 and np.abs(deep - 65535 * to_srgb(colour)).max() <= 0.7, np.abs(deep - 65535 * to_srgb(colour)).max())
check(len(np.unique(deep)) > 256, "16 bits have 8")

# (depths are those of corners rounded to 1/256 pixel: a tenth of their change from row to row, near the horizon)
# where a pixel's ray meets what it shows: the fixed camera's projection of the positions
run("t.h5", "p", "--look", "look.json", *SIZE, "--samples", 1, "--buffers", "position,depth", "--camera", "fixed", "--frames", 2, "-q")
position, depth = np.load("p/position/000000.npy").astype("f8"), np.load("p/depth/000000.npy")
eye, target = np.array([0.5, -6, 2.0]), np.array([0.5, 0.5, 1.5])
ahead = (target - eye) / np.linalg.norm(target - eye)
right = np.cross(ahead, (0, 0, 1))
right /= np.linalg.norm(right)
up, focal = np.cross(right, ahead), 50 / np.tan(0.35)
d = position - eye
along = d @ ahead
y, x = np.mgrid[:100, :160] + 0.5
there = depth > 0
seen = np.stack([80 + focal * (d @ right) / np.where(there, along, 1), 50 - focal * (d @ up) / np.where(there, along, 1)])
check(np.abs(seen[0] - x)[there].max() < 0.01 and np.abs(seen[1] - y)[there].max() < 0.01, "positions are not where they are seen")
check(np.abs(along / np.where(there, depth, 1) - 1)[there].max() < 2e-3, "depths")

# ---- the same bytes however they are made ----

run("t.h5", "all", "--look", "look.json", *SIZE, "--camera", "walk", "-q", "-j1")
names = [f"{i:06}.png" for i in range(count)]
for words in (["-j2"], ["--memory-limit", "10M"], ["-j3", "--memory-limit", "40M"]):
    run("t.h5", "again", "-f", "--look", "look.json", *SIZE, "--camera", "walk", "-q", *words)
    check(filecmp.cmpfiles("all/png", "again/png", names, shallow=False)[0] == names, words)
run("t.h5", "part", "--look", "look.json", *SIZE, "--camera", "walk", "-q", "--frames", "1::3")
for i, frame in enumerate(range(1, count, 3)):
    check(filecmp.cmp(f"all/png/{frame:06}.png", f"part/png/{i:06}.png", shallow=False), "frame", frame)
check(not filecmp.cmp("all/png/000000.png", "all/png/000010.png", shallow=False), "the camera does not move")
for samples in (1, 4, 8):
    for shadow in ("none", "hard", "vsm"):
        run("t.h5", "again", "-f", "--look", "look.json", *SIZE[:2], "-q", "--frames", 0, "--samples", samples, "--shadow", shadow,
            *([] if shadow == "none" else SIZE[2:]))
        picture = read_png("again/png/000000.png")
        dark = (np.abs(picture - to_srgb(np.array([0.08, 0.1, 0.08])) * 255).max(2) < 2).mean() # ground that no light reaches
        check((dark > 0.005) == (shadow != "none"), samples, shadow, dark)

# shares: the whole, file by file, also of a part of the frames and under a camera that moves
for frames, total in (("::", count), ("1::2", 5)):
    run("t.h5", "whole", "-f", "--look", "look.json", *SIZE, "--camera", "walk", "-q", "--frames", frames)
    union = []
    for i in range(3):
        run("t.h5", f"share{i}", "-f", "--look", "look.json", *SIZE, "--camera", "walk", "-q", "--frames", frames, "--shard", f"{i}/3")
        run("--check", f"share{i}", tool="modalinfo")
        mine = sorted(os.listdir(f"share{i}/png"))
        union += mine
        check(filecmp.cmpfiles("whole/png", f"share{i}/png", mine, shallow=False)[0] == mine, "share", i, frames)
    check(union == [f"{i:06}.png" for i in range(total)], "shares", union)
os.environ["SLURM_ARRAY_TASK_ID"] = "1"  # of the last frames; the share of an array
run("t.h5", "array", "--look", "look.json", *SIZE, "--camera", "walk", "-q", "--frames", "1::2", "--shard", "auto/3")
del os.environ["SLURM_ARRAY_TASK_ID"]
check(filecmp.cmpfiles("share1/png", "array/png", os.listdir("share1/png"), shallow=False)[0] == os.listdir("array/png"), "share auto/3")

# ---- a click becomes a force ----

CLICK = ("--look", "look.json", "--camera", "fixed", "--size", "160x100")
run("t.h5", "o", "-f", *CLICK, "--samples", 1, "--buffers", "position,object,triangle", "--frames", 3, "-q")
object_, triangle, position = (np.load(f"o/{name}/000000.npy") for name in ("object", "triangle", "position"))
places = np.argwhere(object_ == 0)[::97]
check(len(places) > 5, "places to click on", len(places))
for y, x in places[:6]:
    picked = json.loads(run("t.h5", "-", *CLICK, "--pick", f"{x},{y},3").stdout)
    check(picked["object"] == 0 and picked["triangle"] == triangle[y, x] and picked["frame"] == 3, picked)
    check(np.abs(np.array(picked["world"]) - position[y, x]).max() < 1e-6, picked, position[y, x])
    near = np.abs(np.array(picked["point"]) - picked["world"]).max()
    check(near < 0.3 and 0 <= picked["vertex"] and np.abs(np.array(picked["rest"]) - picked["point"]).max() < 1e-12, picked)
    n = np.array(picked["rest"])
    check(min(np.abs(n[:2]).min(), np.abs(n[:2] - 1).min(), abs(n[2]), abs(n[2] - 3)) < 1e-5, "the point is on the box's sides", n)
still = json.loads(run("b.h5", "-", *CLICK, "--pick", f"{x},{y}").stdout)
check(still["point"] == still["rest"] and np.abs(np.array(still["point"]) - still["world"]).max() < 1e-5, "at rest", still)
with open("scene.json", "w", encoding="utf-8") as f:
    json.dump({"duration": 0.002, "fps": 1000, "forces": [{key: [0, 3e7, 0] if key == "force" else picked[key] for key in ("object", "vertex", "force")}]}, f)
forced = subprocess.run([tools / "modalsim", "b.h5", "forced.h5", "--scene", "scene.json", "-q"], capture_output=True)
check(forced.returncode == 0, forced.stderr)
# the new trajectory: the surface that was clicked at goes where the force pulls; said by its point, the force is the same
run("forced.h5", "f", "-f", *CLICK, "--samples", 1, "--buffers", "position,object,triangle", "-q")
seen = [{name: np.load(f"f/{name}/{frame:06}.npy") for name in ("position", "object", "triangle")} for frame in (0, 2)]
same = (seen[0]["object"] == 0) & (seen[1]["object"] == 0) & (seen[0]["triangle"] == seen[1]["triangle"])
pushed = (seen[1]["position"] - seen[0]["position"])[same]
check(same.sum() > 500 and (pushed[:, 1] > 0).mean() > 0.9, "a force along y moves", pushed.mean(0))
with h5py.File("forced.h5") as f:
    by_vertex = f["q"][:]
scene = json.load(open("scene.json", encoding="utf-8"))
with h5py.File("b.h5") as f:
    surface = f["shapes/0000/surface"]
    scene["forces"][0]["point"] = surface["rest_positions"][:][surface["user_vertex"][:] == scene["forces"][0].pop("vertex")][0].tolist()
json.dump(scene, open("point.json", "w", encoding="utf-8"))
check(subprocess.run([tools / "modalsim", "b.h5", "pointed.h5", "--scene", "point.json", "-q"]).returncode == 0, "a force by its point")
with h5py.File("pointed.h5") as f:
    check(np.array_equal(f["q"][:], by_vertex) and np.abs(by_vertex[1:]).max() > 0, "vertex and point are two places")
check(json.loads(run("t.h5", "-", *CLICK, "--pick", "0,0").stdout)["object"] is None, "nothing is there")

# ---- streams ----

rgb = run("t.h5", "-", "--look", "look.json", *SIZE, "--camera", "walk", "-q", "--format", "rgb").stdout
frames = np.frombuffer(rgb, "u1").reshape(count, 100, 160, 3)
for i in (0, 7):
    check((frames[i] == read_png(f"all/png/{i:06}.png")).all(), "rgb is not the picture", i)
y4m = run("t.h5", "-", "--look", "look.json", *SIZE, "--camera", "walk", "-q", "--format", "y4m").stdout
head, rest = y4m.split(b"\n", 1)
check(head == b"YUV4MPEG2 W160 H100 F25:1 Ip A1:1 C444", head)  # 500 frames a second are no film
head = run("t.h5", "-", *SIZE, "-q", "--format", "y4m", "--rate", 500, "--frames", 0).stdout.split(b"\n", 1)[0]
check(head == b"YUV4MPEG2 W160 H100 F500:1 Ip A1:1 C444", head)
check(len(rest) == count * (6 + 3 * 16000), len(rest))
planes = np.frombuffer(rest, "u1").reshape(count, 6 + 48000)
check((planes[:, :6] == np.frombuffer(b"FRAME\n", "u1")).all(), "frames of y4m")
r, g, b = (frames[7][..., k].astype("f8") / 255 for k in range(3))
luma = 0.2126 * r + 0.7152 * g + 0.0722 * b
for k, want in enumerate((16 + 219 * luma, 128 + 224 * (b - luma) / 1.8556, 128 + 224 * (r - luma) / 1.5748)):
    got = planes[7, 6 + 16000 * k:6 + 16000 * (k + 1)].reshape(100, 160)
    check(np.abs(got - want).max() <= 0.51, "plane", k, np.abs(got - want).max())
closed = subprocess.Popen([tools / "modalrender", "t.h5", "-", "--size", "1000x1000", "--format", "rgb", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
closed.stdout.read(10)
closed.stdout.close()
check(closed.wait() == 4 and b"standard output" in closed.stderr.read(), "closed standard output")

# ---- a basis, a trajectory from a pipe, nothing in view, inside ----

run("b.h5", "rest", *SIZE, "-q")
check(len(os.listdir("rest/png")) == 1 and read_png("rest/png/000000.png").std() > 5, "a basis at rest")
with open("t.h5", "rb") as f:
    piped = subprocess.run([tools / "modalrender", "-", "piped", "--look", "look.json", *SIZE, "--camera", "walk", "-q"], stdin=f, capture_output=True)
check(piped.returncode == 0 and filecmp.cmp("piped/png/000003.png", "all/png/000003.png", shallow=False), piped.stderr)
away = run("t.h5", "away", "--look", "look.json", *SIZE, "--camera", "away", "--frames", ":2").stderr
check("2 of 2 pictures show nothing but the background" in away, away)
check((read_png("away/png/000000.png") == np.round(to_srgb(np.array(look["background"])) * 255)).all(), "background")
# from inside of the box one looks through its sides, whose backs are not drawn; where they are two-sided they are all that is seen
with open("lined.json", "w", encoding="utf-8") as f:
    json.dump({**look, "materials": {**look["materials"], "a": {"diffuse": [0.7, 0.3, 0.2], "two_sided": True}}}, f)
for name, all_round in (("look.json", False), ("lined.json", True)):
    run("t.h5", "inside", "-f", "--look", name, *SIZE, "--camera", "inside", "--frames", 0, "-q", "--buffers", "object,depth")
    object_, depth = np.load("inside/object/000000.npy"), np.load("inside/depth/000000.npy")
    check((object_ == (0 if all_round else -1)).all() and (depth >= 0).all() and depth.max() < 1e4, "inside", name, np.unique(object_), depth.max())
run("t.h5", "nothing", "--format", "null", "--frames", 0, *SIZE, "-q", "--backend", "cpu", "--report", "passes.json")
report = json.load(open("passes.json", encoding="utf-8"))
passes = report["pass_ms"]
check(report["pass_frames"] == 1, report)
check(set(passes) == {"normals", "shadows", "visibility", "layers", "shading"} and passes["layers"] == 0, passes)
check(all(passes[name] > 0 for name in ("shadows", "visibility", "shading")) and sum(passes.values()) < 1e3 * report["seconds"], "ms a pass", passes)
check(not os.path.exists("nothing"), "--format null wrote something")
run("t.h5", "tiny", "--size", "1x1", "--frames", 0, "-q", "--samples", 8)
check(read_png("tiny/png/000000.png").shape == (1, 1, 3), "1 x 1")

# ---- what is refused ----

BAD = [
    (["--size", "0x10"], 2, "--size: a side not from 1 to 32768 pixels, 0x10"),
    (["--size", "1000000x10"], 2, "--size: a side not from 1 to 32768"),
    (["--size", "10x0"], 2, "--size: a side not from 1 to 32768 pixels, 10x0"),
    (["--size", "1000000x1000000"], 2, "--size: a side not from 1 to 32768 pixels, 1000000x1000000"),
    (["--size", "10"], 2, "--size: not two whole numbers"),
    (["--size", "10x10x10"], 2, "--size: not two whole numbers"),
    (["--samples", "2"], 2, "--samples: none of 1, 4, 8, 2"),
    (["--shadow", "soft"], 2, "--shadow: none of none, hard, vsm, soft"),
    (["--shadow", "none", "--shadow-size", "1024"], 2, "--shadow-size: there are none"),
    (["--shadow", "hard", "--shadow-width", "2"], 2, "--shadow-width: only of vsm"),
    (["--shadow-size", "100"], 2, "--shadow-size"),
    (["--format", "bmp"], 2, "--format: none of png, exr, y4m, rgb, null, mp4, gif, bmp"),
    (["--format", "rgb"], 2, "OUT must be -"),
    (["--bits", "12"], 2, "--bits: none of 8, 16, 12"),
    (["--bits", "16", "--format", "exr"], 2, "--bits: 16 only with --format png"),
    (["--rate", "25"], 2, "--rate: only of y4m, mp4 and gif"),
    (["--buffers", "depth,depth"], 2, "--buffers: twice, depth"),
    (["--buffers", "z"], 2, "--buffers: none of"),
    (["--camera", "high"], 2, "--camera: only with --look"),
    (["--look", "look.json", "--camera", "low"], 2, "(there are: high, fixed, walk, away, inside), low"),
    (["--look", "other.json"], 3, "objects"),
    (["--look", "none.json"], 3, "none.json: cannot open"),
    (["--normals", "none"], 2, "--normals: none of rigid, dynamic, none"),
    (["--frames", "20"], 2, "--frames"),
    (["--memory-limit", "10K"], 4, "--memory-limit"),
    (["--shard", "3/3"], 2, "--shard: shards of 3 are 0 to 2, 3/3"),
    (["--shard", "0/0"], 2, "--shard: not I/N, auto or auto/N"),
    (["--shard", "1"], 2, "--shard: not I/N"),
    (["--shard", "auto"], 2, "--shard auto: no launcher has set"),
    (["--shard", "0/50"], 2, "--shard: there are only 11 frames, 0/50"),
    (["--pick", "1,2"], 2, "--pick: goes to standard output"),
    (["--pick", "1"], 2, "--pick: not X,Y"),
    (["--pick", "1,2,3,4"], 2, "--pick: not X,Y"),
    (["--pick", "-1,2"], 2, "--pick: not X,Y"),
    (["--pick", "2,540"], 2, "--pick: outside of a picture of 960 x 540, 2,540"),
    (["--pick", "960,2"], 2, "--pick: outside of a picture of 960 x 540, 960,2"),
    (["--any-path"], 2, "--any-path: only with --look"),
    (["--backend", "cuda:77"], 4, "back end cuda:77"),
]
with open("other.json", "w", encoding="utf-8") as f:
    json.dump({**look, "objects": [{"object": 3, "material": "a"}]}, f)
for words, code, error in BAD:
    run("t.h5", "bad", *words, code=code, error=error)
    check(not os.path.exists("bad"), words, "left something")
run("b.h5", "bad", "--basis", "b.h5", code=2, error="--basis: goes with a trajectory")
run("t.h5", "-", code=2, error="--format: png needs a folder")
run("t.h5", "-", "--pick", "1,2,99", code=2, error="--pick: the trajectory has frames 0 to 10, 99")
run("t.h5", "-", "--pick", "1,2", "--frames", 0, code=2, error="--pick: draws no pictures, --frames")
run("t.h5", "-", "--pick", "1,2", "--bits", 16, code=2, error="--pick: draws no pictures, --bits")
run("t.h5", "-", "--format", "rgb", "--shard", "0/2", code=2, error="--shard: needs a folder")
run("t.h5", "-", "--format", "y4m", "--buffers", "depth", code=2, error="--buffers: need a folder")
for words in (["--format", "y4m"], ["--pick", "1,2"]):
    run("t.h5", "-", *words, "--report", "-", code=2, error="--report: standard output already takes another output, -")
for terminal in (lacking.terminal() or [])[1:]:
    got = subprocess.run([tools / "modalrender", "t.h5", "-", "--format", "rgb", *SIZE], stdout=terminal, stderr=subprocess.PIPE)
    check(got.returncode == 2 and got.stderr == b"modalrender: OUT: standard output is a terminal, -\n", got)
# a camera that goes straight over what it looks at has no view there, in the one frame alone; one that float32 does not reach has none at all
with open("over.json", "w", encoding="utf-8") as f:
    json.dump({**look, "cameras": [{"name": "over", "eye": [0, -6, 2], "target": [0.5, 0.5, 1.5], "keys": [[0, 0, 0, 6, 1, 1, 1], [0.02, 2, 2, 6, 1, 1, 1]]},
                                   {"name": "far", "eye": [1e200, 0, 0], "target": [0, 0, 0]}]}, f)
run("t.h5", "bad", *SIZE, "--look", "over.json", code=3, error="over.json: cameras: at 0.01 s eye and target are one point, `up` lies along the view")
run("t.h5", "bad", *SIZE, "--look", "over.json", "--camera", "far", code=3, error="or it stands too far away, far")
run("t.h5", "beside", *SIZE, "--look", "over.json", "--frames", ":5", "-q")
run("x.node", "bad", code=3, error="x.node")
before = sorted(os.listdir("rest/png"))
run("b.h5", "rest", *SIZE, code=2, error="exists")
check(sorted(os.listdir("rest/png")) == before, "what was there is gone")
for name, what in (("q", np.nan), ("times", np.nan), ("q", np.inf)):
    with open("t.h5", "rb") as f, open("nan.h5", "wb") as to:
        to.write(f.read())
    with h5py.File("nan.h5", "r+") as f:
        f[name][3] = what
    run("nan.h5", "bad", "--basis", "b.h5", "-q", code=3, error="nan.h5: ")
    check(not os.path.exists("bad"), "left something of", name, what)


def small():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


run("t.h5", "bad", *SIZE, "--buffers", "depth", "-q", code=4, error="bad/", preexec_fn=small)  # a disk that is full
check(not os.path.exists("bad"), "left something on a full disk")
if os.path.exists("/dev/full"):
    with open("/dev/full", "wb") as to:
        full = subprocess.run([tools / "modalrender", "t.h5", "-", "--format", "rgb", "-q", "--size", "300x300"], stdout=to, stderr=subprocess.PIPE)
    check(full.returncode == 4 and b"standard output" in full.stderr, full)
lacking.end("modalrender: all as it should be")
