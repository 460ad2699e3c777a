# SPDX-License-Identifier: Apache-2.0
"""The ending of the output's name decides what is made: one file of modalrender and modaldeform, the same bytes as in a folder; films by
ffmpeg; names of files that another tool makes are refused. usage: check_names.py names|films BIN; 77: ffmpeg is not there"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from images import read_png
from render_tools import STEEL, check, run, skip, tools

part = sys.argv[1]
if part == "films" and not (shutil.which("ffmpeg") and shutil.which("ffprobe")):
    skip("ffmpeg is not there")

pathlib.Path("box.veg").write_text(
    "*VERTICES\n12 3 0 0\n" + "".join(f"{i + 1} {i // 4 * 0.1} {i // 2 % 2 * 0.02} {i % 2 * 0.02}\n" for i in range(12)) +
    "*ELEMENTS\nCUBIC\n2 8 0\n1 1 5 7 3 2 6 8 4\n2 5 9 11 7 6 10 12 8\n")
run("box.veg", "b.h5", "--modes", 3, *STEEL, "--fixed", "plane:0,0,0:-1,0,0", tool="modalpack")
run("b.h5", "t.h5", "--duration", 0.008, "--fps", 2500, "--initial", "0=1e-3", tool="modalsim")


def same(first, second):
    check(pathlib.Path(first).read_bytes() == pathlib.Path(second).read_bytes(), first, second, "differ")


def refused(tool, *words, code=2, error, env=None):
    before = sorted(os.listdir("."))
    run(*words, "-q", tool=tool, code=code, error=error, **({"env": env} if env else {}))
    check(sorted(os.listdir(".")) == before, words, "left something", os.listdir("."))


def deform():
    probe = ["--probe", 3]
    run("t.h5", "all", "--format", "vtkhdf,glb,pc2,mdd,csv,wav", *probe, tool="modaldeform")
    for name, of in (("x.vtkhdf", "sequence.vtkhdf"), ("x.glb", "sequence.glb"), ("x.pc2", "sequence.pc2"), ("x.MDD", "sequence.mdd"),
                     ("x.csv", "probes.csv"), ("x.wav", "sound.wav")):
        before = set(os.listdir("."))
        run("t.h5", name, *(probe if name[2:] in ("csv", "wav") else []), tool="modaldeform")
        check(set(os.listdir(".")) == before | {name}, name, os.listdir("."))
        same(name, f"all/{of}")
        refused("modaldeform", "t.h5", name, *(probe if name[2:] in ("csv", "wav") else []), error=f"{name}: exists (--force replaces it)")
    run("x.vtkhdf", "--check", tool="modalinfo")
    run("t.h5", "x.glb", "--format", "glb", "-f", tool="modaldeform")
    run("t.h5", "y.glb/", tool="modaldeform")  # a slash: a folder
    check(os.path.exists("y.glb/sequence.vtkhdf"))
    refused("modaldeform", "t.h5", "y.glb", "-f", error="y.glb: exists, and is not a regular file")
    refused("modaldeform", "t.h5", "z.glb", "--format", "vtkhdf", error="--format: OUT is a .glb, vtkhdf")
    refused("modaldeform", "t.h5", "z.ply", error="z.ply: .ply is a file a frame: OUT must be a folder, with --format ply")
    refused("modaldeform", "t.h5", "absent/z.glb", code=4, error="absent/z.glb: cannot write")
    for option in (["--resume"], ["--shard", "0/2"], ["--join"]):
        refused("modaldeform", "t.h5", "z.vtkhdf", *option, error=f"{option[0]}: needs a folder, OUT is z.vtkhdf")
    run("t.h5", "slow", "--format", "vtkhdf,glb", "--slow-motion", "auto", tool="modaldeform")
    refused("modaldeform", "t.h5", "z", "--format", "vtkhdf,pc2", "--slow-motion", "auto", error="--slow-motion: only with --format glb and mdd, vtkhdf")


def pictures():
    size = ["--size", "64x48"]
    run("t.h5", "png", *size)
    got = run("t.h5", "one.png", *size)
    check("one.png: frame 0 of 21 (--frames takes another one)" in got.stderr, got.stderr)
    same("one.png", "png/png/000000.png")
    run("t.h5", "one.png", "-f", "--frames", 5, *size)
    same("one.png", "png/png/000005.png")
    run("t.h5", "exr", "--format", "exr", "--frames", 5, "--buffers", "normal", *size)
    run("t.h5", "one.exr", "--frames", 5, "--buffers", "normal", *size)
    same("one.exr", "exr/exr/000000.exr")
    stream = run("t.h5", "-", "--format", "y4m", *size).stdout
    run("t.h5", "all.y4m", *size)
    check(pathlib.Path("all.y4m").read_bytes() == stream, "y4m")
    refused("modalrender", "t.h5", "one.png", *size, error="one.png: exists (--force replaces it)")
    refused("modalrender", "t.h5", "two.png", "--frames", "0:2", error="--frames: two.png holds one frame, more need a folder OUT, 0:2 (2 frames)")
    refused("modalrender", "t.h5", "two.png", "--format", "exr", error="--format: OUT is a .png, exr")
    refused("modalrender", "t.h5", "two.png", "--buffers", "depth", error="--buffers: need a folder, OUT is two.png")
    refused("modalrender", "t.h5", "out", "--format", "mp4", error="--format: mp4 is one file, OUT must end with .mp4, out")
    refused("modalrender", "t.h5", "f.mp4", "--size", "65x48", error="both sides must be even, 65x48")
    refused("modalrender", "t.h5", "f.mp4", code=4, error="ffmpeg: not found on PATH (its package is ffmpeg)", env={**os.environ, "PATH": "/absent"})
    refused("modalrender", "b.h5", "f.y4m", "--turntable", error="--turntable: one frame does not turn, b.h5")
    for option in (["--resume"], ["--shard", "0/2"]):
        refused("modalrender", "t.h5", "f.y4m", *option, error=f"{option[0]}: needs a folder, OUT is f.y4m")
    # a camera that turns: its first frame is one of a camera that stands, and half a turn later it sees the other side
    run("t.h5", "turned", "--turntable", "--shadow", "none", *size)
    run("t.h5", "part", "--turntable", "--shadow", "none", "--frames", "10", *size)
    same("part/png/000000.png", "turned/png/000010.png")
    first, half = (read_png(f"turned/png/{i:06d}.png") for i in (0, 10))
    check((first != half).mean() > 0.02, "it turns")
    run("t.h5", "up.png", "--up", "y", *size)
    check((read_png("up.png") != read_png("png/png/000000.png")).any(), "--up y")


def others():
    """Every tool, with a name that another one's files have."""
    for tool, words, name, maker in (
            ("modaldeform", ["t.h5"], "out.html", "modalview"), ("modaldeform", ["t.h5"], "out.mp4", "modalrender"),
            ("modalrender", ["t.h5"], "x.glb", "modaldeform"), ("modalrender", ["t.h5"], "x.html", "modalview"),
            ("modalview", ["t.h5"], "page.mp4", "modalrender"), ("modalview", ["t.h5"], "page.vtkhdf", "modaldeform"),
            ("modalsim", ["b.h5"], "x.msh", "modalmesh"), ("modalsim", ["b.h5"], "x.HTML", "modalview"),
            ("modalpack", ["box.veg"], "x.vtkhdf", "modaldeform"), ("modalmesh", ["box.veg"], "x.h5", "modalpack, modalsim or modaltled"),
            ("modaltled", ["box.veg"], "x.glb", "modaldeform"), ("modalcurv", ["t.h5"], "x.html", "modalview"),
            ("modalplace", ["places.csv"], "x.msh", "modalmesh"), ("modaltools", ["quick", "box.veg"], "x.wav", "modaldeform"),
            ("modaltex", ["look", "m.obj"], "look.png", "modalrender"), ("modaltex", ["flow", "t.h5", "tex.h5"], "x.gif", "modalrender")):
        if not (tools / tool).exists():
            continue
        before = sorted(os.listdir("."))
        got = subprocess.run([tools / tool, *words, name], capture_output=True, text=True)
        check(got.returncode == 2 and got.stderr.count("\n") == 1 and f"{name}: " in got.stderr and f"({maker} does)" in got.stderr, tool, name, got)
        check(sorted(os.listdir(".")) == before, tool, name, "left something")


def probe(name):
    got = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-show_entries",
                          "stream=codec_name,width,height,pix_fmt,color_range,color_space,color_primaries,r_frame_rate,nb_read_frames", "-of",
                          "default=noprint_wrappers=1", name], capture_output=True, text=True, check=True).stdout
    return dict(line.split("=") for line in got.split())


def pixels(name, frame, width, height):
    import numpy as np
    got = subprocess.run(["ffmpeg", "-v", "error", "-i", name, "-vf", f"select=eq(n\\,{frame})", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
                         capture_output=True, check=True).stdout
    return np.frombuffer(got, np.uint8).reshape(height, width, 3).astype(int)


def films():
    run("t.h5", "f.mp4", "--size", "160x120")
    run("t.h5", "png", "--size", "160x120", "--frames", "7")
    got = probe("f.mp4")
    wanted = {"codec_name": "h264", "width": "160", "height": "120", "pix_fmt": "yuv420p", "color_range": "tv", "color_space": "bt709",
              "color_primaries": "bt709", "r_frame_rate": "25/1", "nb_read_frames": "21"}
    check(all(got[key] == value for key, value in wanted.items()), got)
    run("t.h5", "f.gif", "--size", "161x121", "--rate", "60")
    run("t.h5", "odd", "--size", "161x121", "--frames", "7")
    got = probe("f.gif")
    check((got["codec_name"], got["width"], got["height"], got["r_frame_rate"]) == ("gif", "161", "121", "50/1"), got)
    run("t.h5", "slow.gif", "--size", "161x121", "--rate", "10")
    for name, picture, size, most in (("f.mp4", "png", (160, 120), 3), ("slow.gif", "odd", (161, 121), 3)):  # colours, and nothing upside down
        difference = pixels(name, 7, *size) - read_png(f"{picture}/png/000000.png").reshape(size[1], size[0], -1)[:, :, :3].astype(int)
        check(abs(difference.mean(axis=(0, 1))).max() < 2.5 and abs(difference).mean() < most, name, difference.mean(axis=(0, 1)), abs(difference).mean())
    for name in ("f.mp4", "f.gif"):  # the same bytes, whatever cores there are
        before = pathlib.Path(name).read_bytes()
        core = sorted(os.sched_getaffinity(0))[0]
        run("t.h5", name, "-f", "--size", "160x120" if name == "f.mp4" else "161x121", *([] if name == "f.mp4" else ["--rate", 60]),
            preexec_fn=lambda: os.sched_setaffinity(0, [core]))
        check(pathlib.Path(name).read_bytes() == before, name, "not the same bytes")


def fake(text):
    """A folder with an ffmpeg of our own."""
    os.makedirs("fake", exist_ok=True)
    pathlib.Path("fake/ffmpeg").write_text("#!/bin/sh\n" + text)
    os.chmod("fake/ffmpeg", 0o755)
    return {**os.environ, "PATH": f"{os.path.abspath('fake')}:{os.environ['PATH']}"}


def failures():
    """Its failure is the tool's, with its last line; a signal takes it along. Nothing is left."""
    env = fake("cat >/dev/null; echo first >&2; echo 'no room on /dev/fd/3' >&2; exit 1\n")
    refused("modalrender", "t.h5", "n.mp4", "--size", "64x48", code=4, error="n.mp4: ffmpeg: no room on n.mp4", env=env)
    env = fake("echo broken >&2; exit 3\n")  # while it is still fed
    refused("modalrender", "t.h5", "n.mp4", "--size", "960x540", code=4, error="n.mp4: ffmpeg: broken", env=env)
    env = fake("exit 3\n")
    refused("modalrender", "t.h5", "n.gif", "--size", "64x48", code=4, error="n.gif: ffmpeg: ended with exit code 3", env=env)
    env = fake("exit 0\n")  # takes nothing and says nothing
    refused("modalrender", "t.h5", "n.gif", "--size", "960x540", code=4, error="n.gif: ffmpeg: ended before the film did", env=env)
    env = fake("echo $$ >fake/pid\nexec sleep 100\n")
    before = sorted(os.listdir("."))
    process = subprocess.Popen([tools / "modalrender", "t.h5", "n.mp4", "--size", "960x540"], stderr=subprocess.PIPE, env=env)
    for _ in range(3000):
        if os.path.exists("fake/pid") and pathlib.Path("fake/pid").read_text().strip():
            break
        time.sleep(0.01)
    child = int(pathlib.Path("fake/pid").read_text())
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    check(process.returncode == 143, process.returncode)
    for _ in range(1000):
        try:
            state = pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            break
        if state == "Z":
            break
        time.sleep(0.01)
    else:
        check(False, "ffmpeg goes on")
    check(sorted(os.listdir(".")) == before, os.listdir("."))


for each in (deform, pictures, others) if part == "names" else (films, failures):
    each()
    print(f"check_names: {each.__name__}: ok")
