# SPDX-License-Identifier: Apache-2.0
"""modalrender --format exr beside NumPy's buffers, read here and by OpenEXR's own programs; swinging modes; streams as ffprobe counts them.
usage: check_render_formats.py exr|modes|ffprobe BIN; 77: what it needs is not there"""
import json
import os
import shutil
import subprocess
import sys

import numpy as np

from render_tools import check, read_exr, run, skip

part = sys.argv[1]
SIZE = ("--size", "75x53", "--shadow-size", "512", "-q")


def make_inputs():
    with open("x.node", "w", encoding="utf-8") as f:
        f.write("8 3 0 0\n" + "".join(f"{i} {i & 1} {i >> 1 & 1} {3 * (i >> 2)}\n" for i in range(8)))
    with open("x.ele", "w", encoding="utf-8") as f:
        f.write("6 4 0\n" + "".join(f"{i} {' '.join(t)}\n" for i, t in enumerate(("0137", "0327", "0267", "0647", "0457", "0517"))))
    run("x.node", "b.h5", "--young", "2e11", "--poisson", "0.3", "--density", "7800", "--fixed", "plane:0,0,0:0,0,-1", "--modes", 3, "-q", tool="modalpack")
    run("b.h5", "t.h5", "--duration", 0.02, "--fps", 500, "--initial", "0=1", "-q", tool="modalsim")


make_inputs()
if part == "exr":
    if b"OpenEXR absent" in run("-V").stdout:
        run("t.h5", "bad", "--format", "exr", code=4, error="without OpenEXR")
        check(not os.path.exists("bad"), "left something")
        skip("built without OpenEXR")
    run("t.h5", "n", *SIZE, "--buffers", "colour,depth,normal,position,object,triangle", "--frames", ":3")
    for words, kind in (([], "<f2"), (["--exr-floats"], "<f4")):
        run("t.h5", "e", "-f", *SIZE, "--format", "exr", "--buffers", "normal,position,object,triangle", "--frames", ":3", *words)
        check(sorted(os.listdir("e")) == ["exr", "manifest.json"] and len(os.listdir("e/exr")) == 3, os.listdir("e"))
        run("--check", "e", tool="modalinfo")
        for frame in range(3):
            b = {k: np.load(f"n/{k}/{frame:06}.npy") for k in ("colour", "depth", "normal", "position", "object", "triangle")}
            got = read_exr(f"e/exr/{frame:06}.exr")
            for i, c in enumerate("RGB"):
                check(got[c].dtype == kind and (got[c] == b["colour"][..., i].astype(kind)).all(), frame, c)
            for i, c in enumerate("XYZ"):
                check((got["N." + c] == b["normal"][..., i]).all() and (got["P." + c] == b["position"][..., i]).all(), frame, c)
            check((got["Z"] == b["depth"]).all() and (got["object"] == b["object"].view("u4")).all(), frame, "Z, object")
            check((got["triangle"] == b["triangle"].view("u4")).all() and (b["object"] == 0).sum() > 100, frame, "triangle")
    run("t.h5", "again", *SIZE, "--format", "exr", "--buffers", "normal,position,object,triangle", "--frames", ":3", "--exr-floats", "-j3")
    for frame in range(3):
        name = f"exr/{frame:06}.exr"
        check(open("e/" + name, "rb").read() == open("again/" + name, "rb").read(), "other bytes with other threads")
    # so little that packing makes it larger: it stays as it is
    run("t.h5", "n", "-f", "--size", "1x1", "-q", "--buffers", "colour,depth", "--frames", 0)
    run("t.h5", "small", "--size", "1x1", "-q", "--format", "exr", "--exr-floats", "--frames", 0)
    got = read_exr("small/exr/000000.exr")
    check([got[c][0, 0] for c in "RGBZ"] == [*np.load("n/colour/000000.npy")[0, 0], np.load("n/depth/000000.npy")[0, 0]], "1 x 1", got)
    run("t.h5", "bad", "--exr-floats", code=2, error="--exr-floats: only with --format exr")
    run("t.h5", "-", "--format", "exr", code=2, error="--format: exr needs a folder")
    for program, name in (("exrheader", "e/exr/000001.exr"), ("exrmaketiled", "e/exr/000001.exr"), ("exrmaketiled", "small/exr/000000.exr")):
        if not shutil.which(program):  # the second reads all pixels, by the C++ library
            print("skipped:", program, "is not there")
            continue
        got = subprocess.run([program, name] + ["tiled.exr"] * (program == "exrmaketiled"), capture_output=True, text=True)
        check(got.returncode == 0, program, got)
        if program == "exrheader":
            check("R, 32-bit floating-point" in got.stdout and "object, 32-bit unsigned integer" in got.stdout and "(0 0) - (74 52)" in got.stdout, got.stdout)

if part == "modes":
    run("b.h5", "m", "--size", "75x53", "-q", "--modes", "1,0", "--amplitude", "10%", "--buffers", "position,object")
    check(len(os.listdir("m/png")) == 64, os.listdir("m/png"))
    pictures = [open(f"m/png/{i:06}.png", "rb").read() for i in range(64)]
    check(pictures[0] == pictures[32] and pictures[8] != pictures[40] and pictures[8] != pictures[24], "swings begin at rest")
    # at a quarter of a swing the largest displacement is 10 % of the diagonal, at most so much on what is seen
    rest, bent = (np.load(f"m/position/{i:06}.npy") for i in (0, 8))
    run("b.h5", "one", "--size", "75x53", "-q", "--modes", "1", "--amplitude", "10%", "--frames", 8)
    check(open("one/png/000000.png", "rb").read() != pictures[0], "one mode, one frame")
    run("b.h5", "bad", "--modes", "7", code=2, error="--modes: the basis has modes 0 .. 2, 7")
    run("b.h5", "bad", "--modes", "a", code=2, error="--modes: not a list")
    run("b.h5", "bad", "--amplitude", "0%", code=2, error="--amplitude")
    run("t.h5", "bad", "--modes", "0", code=2, error="--modes, --amplitude: of a basis")
    manifest = json.load(open("m/manifest.json", encoding="utf-8"))
    check(manifest["frames"]["count"] == 64 and abs(manifest["frames"]["last_time"] - 63 / 32) < 1e-9, manifest["frames"])
    there = np.load("m/object/000008.npy") == 0
    high = bent[there][:, 2].max()
    check(there.sum() > 100 and np.isfinite(bent).all() and abs(high - 3) < 0.4, high)

if part == "ffprobe":
    if not shutil.which("ffprobe"):
        skip("ffprobe is not there")
    for words, rate in (([], "25/1"), (["--rate", "30"], "30/1"), (["--rate", "23.976"], "2997/125")):
        with open("s.y4m", "wb") as f:
            f.write(run("t.h5", "-", *SIZE, "--format", "y4m", *words).stdout)
        got = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=width,height,r_frame_rate,nb_read_frames,pix_fmt", "-of",
                              "json", "s.y4m"], capture_output=True, text=True)
        stream = json.loads(got.stdout)["streams"][0]
        check(stream == {"width": 75, "height": 53, "pix_fmt": "yuv444p", "r_frame_rate": rate, "nb_read_frames": "11"}, stream)
    # the film that docs/tour.md makes has the colours of the pictures
    if shutil.which("ffmpeg"):
        with open("look.json", "w", encoding="utf-8") as f:
            json.dump({"look": 1, "materials": {"a": {"diffuse": [0.6, 0.1, 0.05]}}, "default": "a", "lights": [{"direction": [0, 1, -0.2]}],
                       "background": [0.02, 0.5, 0.05]}, f)
        words = ["t.h5", "-", "--look", "look.json", "--size", "160x120", "--shadow-size", "512", "-q", "--frames", ":2", "--format"]
        picture = np.frombuffer(run(*words, "rgb").stdout, "u1").reshape(2, 120, 160, 3).astype(int)
        film = ["ffmpeg", "-v", "error", "-i", "-", "-vf", "setparams=colorspace=bt709", "-pix_fmt", "yuv420p", "film.mp4"]
        got = subprocess.run(film, input=run(*words, "y4m").stdout, capture_output=True)
        check(got.returncode == 0, got.stderr)
        shown = subprocess.run(["ffmpeg", "-v", "error", "-i", "film.mp4", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"], capture_output=True).stdout
        apart = (np.frombuffer(shown, "u1").reshape(picture.shape) - picture).mean((0, 1, 2))
        check((np.abs(apart) < 4).all(), "colours of the film", apart)
print(f"modalrender {part}: all as it should be")
