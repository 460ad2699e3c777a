#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `./run demo` runs: a tuning fork, buoys, a bush, a surface with an octree texture, curvature, and soft tissue under a ball, through all tools; then
OUT_FOLDER/index.html, a page of all that was made with the commands that made it. Python's own library alone.
A motion that is not rated ok is printed.
usage: demo.py OUT_FOLDER [--tools FOLDER]"""
import argparse
import html
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--tools", default="build/release/bin")
given = parser.parse_args()
data, tools = pathlib.Path(__file__).resolve().parent, os.path.abspath(given.tools)
given.folder.mkdir(parents=True, exist_ok=True)
os.chdir(given.folder)
os.environ["PATH"] = tools + os.pathsep + os.environ["PATH"]
has_view, has_ffmpeg = os.path.exists(f"{tools}/modalview"), shutil.which("ffmpeg")
log = open("demo.log", "w", encoding="utf-8")
cards = []  # (title, text, [(kind, file)], [command], [what the tools said of the motion])


def card(title, text):
    cards.append((title, text, [], [], []))


def run(command):
    """A command of the card, as a user would type it in this folder; a tool replaces what an earlier demo left."""
    words = command.split()
    if words[0] == "modalview" and not has_view or words[0] == "ffmpeg" and not has_ffmpeg:
        return
    start = time.monotonic()
    forced = words + (["--force"] if words[0].startswith("modal") and words[0] != "modalinfo" else [])
    if words[0] == "python3":
        forced = [sys.executable, data / words[1].split("/")[-1], *words[2:], "--tools", tools]
    got = subprocess.run(forced, capture_output=True, text=True)
    log.write(f"$ {command}\n{got.stdout}{got.stderr}({time.monotonic() - start:.1f} s)\n")
    if got.returncode != 0:
        sys.exit(f"demo: {command}: exit code {got.returncode}\n{got.stderr[-2000:]}")
    cards[-1][3].append(command)
    cards[-1][4].extend(line.split(": ", 1)[1] for line in got.stderr.splitlines() if "the motion is" in line and words[0] in ("modalsim", "modaltled"))


def show(kind, file):
    if os.path.exists(file.split("#")[0]):
        cards[-1][2].append((kind, file))


def film(folder, rate, out):
    if has_ffmpeg:
        run(f"ffmpeg -v error -y -framerate {rate} -i {folder}/png/%06d.png -pix_fmt yuv420p {out}")
        show("video", out)
    else:
        show("img", f"{folder}/png/000010.png")


def fork():
    card("A tuning fork, struck hard", "Steel, 440 Hz. Both prong tips get 1.5 N s; 10 ms are shown, without exaggeration. 30 modes: with 20 they leave out more of the blow than is rated ok.")
    shutil.copy(data / "tuning_fork.msh", ".")
    run("modalmesh tuning_fork.msh fork.msh --order 2")
    run("modalpack fork.msh basis.h5 --modes 30 --material steel --fixed stem_end")
    run("modalsim basis.h5 traj.h5 --duration 0.01 --fps 20000 --damping-ratio 0.002 --impulse 0.025,0.152,0.006:-1.5,0,0 --impulse -0.025,0.152,0.006:1.5,0,0")
    run("modaldeform traj.h5 out --normals dynamic --fields displacement")
    run("modalview traj.h5 fork.html --slow-motion auto")
    show("page", "fork.html")
    run("modalrender traj.h5 pictures --size 480x270 --frames ::8")
    film("pictures", 25, "pictures.mp4")
    card("Its modes", "A slider for every mode.")
    run("modalview basis.h5 modes.html")
    show("page", "modes.html")
    card("Its sound", "What a listener 10 cm beside the prongs hears.")
    run("modalsim basis.h5 note.h5 --duration 1.5 --fps 44100 --damping 1,2e-7 --impulse 0.025,0.12,0.006:-0.02,0,0 --impulse -0.025,0.12,0.006:0.02,0,0")
    run("modaldeform note.h5 note --format wav --listen 0.1,0.15,0.1 --gain auto")
    show("audio", "note/sound.wav")


def bush():
    card("A bush in the wind", "60 stalks of four shapes that hang on each other, large deformations. 1,666 modes: fewer leave out more than is rated ok.")
    run("python3 plant.py bush plant --modes 1666 --duration 2")
    run("modalsim plant/plant.h5 plant/traj.h5 --scene plant/scene.json")
    run("modalview plant/traj.h5 bush.html --up z")
    show("page", "bush.html")


def buoys():
    card("Buoys in flight", "Rubber with images and normal maps, large deformations of free bodies, soft shadows. README.md's picture, smaller.")
    run("python3 toss.py buoys --size 320x214 --frames 24")
    show("img", "buoys/buoys.gif" if has_ffmpeg else "buoys/pictures/png/000008.png")
    run("modalview buoys/traj.h5 buoys.html --look buoys/look.json --up z --slow-motion 3")
    show("page", "buoys.html")
    card("Curvature", "Mean curvature of one buoy at every vertex of every frame, and the page that colours by it.")
    run("modalsim buoys/buoy.h5 swing.h5 --duration 1 --fps 20 --initial 0=0.01 --damping-ratio 0.02")
    run("modaldeform swing.h5 swung --fields displacement")
    run("modalcurv swung/sequence.vtkhdf curvature --format ply --colour mean_curvature --fields curvature")
    run("modalview swing.h5 curvature.html --up z --slow-motion auto")
    show("page", "curvature.html#colour=mean_curvature")
    show("file", "curvature/ply/000000.ply")
    card("A texture without coordinates", "Marble in an octree around the surface, 256 samples along it, which stays on the buoy as it swings.")
    marble = {"kind": "marble", "from": [0.9, 0.88, 0.85], "to": [0.15, 0.18, 0.25], "scale": 0.25, "turbulence": 1}
    pathlib.Path("marble.json").write_text(json.dumps({"layers": [marble]}))
    run("modaltex build buoys/buoy.h5 plain.h5 --resolution 256")
    run("modaltex paint plain.h5 marble.json marble.h5")
    pathlib.Path("marble.look.json").write_text(json.dumps({
        "look": 1, "materials": {"stone": {"image": "marble.h5"}, "floor": {"diffuse": [0.5, 0.47, 0.42]}}, "default": "stone", "ambient": [0.3, 0.3, 0.3],
        "lights": [{"direction": [0.5, 0.7, -1.2]}], "ground": {"material": "floor"}, "background": [0.8, 0.85, 0.9],
        "cameras": [{"direction": [0.2, 1, -0.7]}]}))
    run("modalrender swing.h5 marble --look marble.look.json --size 360x270 --samples 4")
    film("marble", 15, "marble.mp4")


def tissue():
    card("Soft tissue under a ball", "A slab of 3 kPa on a table, pressed by a ball of 20 mm: every node moves, by total Lagrangian explicit dynamics.")
    nx, ny, nz, h = 20, 20, 7, 0.005
    at = lambda i, j, k: 1 + i + (nx + 1) * (j + (ny + 1) * k)
    cells = [(i, j, k) for k in range(nz) for j in range(ny) for i in range(nx)]
    with open("slab.msh", "w", encoding="ascii") as f:
        f.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{(nx + 1) * (ny + 1) * (nz + 1)}\n")
        f.writelines(f"{at(i, j, k)} {h * (i - nx / 2):.6g} {h * (j - ny / 2):.6g} {h * k:.6g}\n" for k in range(nz + 1) for j in range(ny + 1) for i in range(nx + 1))
        ways = list(itertools.permutations(range(3)))  # six tetrahedra a cell, from its first corner to its last
        f.write(f"$EndNodes\n$Elements\n{6 * len(cells)}\n")
        for n, (cell, way) in enumerate(itertools.product(cells, ways), 1):
            corner, corners = list(cell), [at(*cell)]
            for axis in way:
                corner[axis] += 1
                corners.append(at(*corner))
            if way not in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
                corners[1], corners[2] = corners[2], corners[1]
            f.write(f"{n} 4 2 1 1 " + " ".join(map(str, corners)) + "\n")
        f.write("$EndElements\n")
    pathlib.Path("press.json").write_text(json.dumps({
        "duration": 1.2, "fps": 25, "step": "auto", "damping": {"alpha": 4},
        "contacts": [{"name": "ball", "sphere": [0, 0, 0.0555], "radius": 0.02,
                      "keys": [[0, 0, 0, 0], [0.4, 0, 0, -0.012], [0.8, 0.015, 0, -0.012], [1, 0.015, 0, 0.005]]}]}))
    run("modaltled slab.msh tissue.h5 --scene press.json --young 3e3 --poisson 0.45 --density 1050 --fixed box:-1,-1,-0.001:1,1,0.001")
    run("modalview tissue.h5 tissue.html --up z")
    show("page", "tissue.html")
    run("modalpack slab.msh slab.h5 --snapshots tissue.h5 --modes 20 --young 3e3 --poisson 0.45 --density 1050 --fixed box:-1,-1,-0.001:1,1,0.001")
    run("modalsim slab.h5 slab_traj.h5 --project tissue.h5")
    run("modalrender slab_traj.h5 tissue --size 400x240")
    film("tissue", 15, "tissue.mp4")


def page():
    tags = {"img": '<img src="{0}" alt="{0}">', "video": '<video src="{0}" controls loop muted autoplay></video>', "audio": '<audio src="{0}" controls></audio>',
            "page": '<iframe src="{0}" loading="lazy"></iframe><p><a href="{0}">{0}</a></p>', "file": '<p><a href="{0}">{0}</a></p>'}
    text = ['<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>modaltools: what the demo made</title>', "<style>body{font:16px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
            "iframe{width:100%;height:22em;border:1px solid #ccc}img,video{max-width:100%}pre{background:#f4f4f4;padding:.6em;overflow:auto;font-size:13px}.said{color:#555}</style>",
            "<h1>What the demo made</h1><p>Each part with the commands that made it, in this folder; <a href=\"demo.log\">demo.log</a> has what they said. "
            "For ParaView: <a href=\"out/sequence.xdmf\">out/sequence.xdmf</a>, or out/sequence.vtkhdf in 5.13 and later.</p>"]
    if not has_view:
        text.append("<p>modalview was not built (it needs npm): no pages.</p>")
    if not has_ffmpeg:
        text.append("<p>ffmpeg is not installed: pictures instead of films.</p>")
    for title, words, media, commands, said in cards:
        text.append(f"<h2>{html.escape(title)}</h2><p>{html.escape(words)}</p>")
        text.extend(tags[kind].format(html.escape(file, quote=True)) for kind, file in media)
        text.append("<pre>" + html.escape("\n".join(commands)) + "</pre>")
        text.extend(f'<p class="said">{html.escape(line)}</p>' for line in said)
    pathlib.Path("index.html").write_text("\n".join(text) + "\n", encoding="utf-8")


for part in (fork, buoys, bush, tissue):
    start, before = time.monotonic(), os.times()
    part()
    used = sum(os.times()[2:4]) - sum(before[2:4])
    print(f"demo: {part.__name__}: {time.monotonic() - start:.1f} s, {used:.1f} processor seconds", file=sys.stderr)
page()
suspect = [line for *_, said in cards for line in said if "the motion is ok" not in line]
for line in suspect:
    print(f"demo: {line}", file=sys.stderr)
