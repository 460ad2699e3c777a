#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three rubber buoys with images and normal maps on them (buoy.py) are tossed into the air, turn, and swing as they fly: large deformations of free
bodies, drawn by modalrender with soft shadows. Makes OUT_FOLDER/buoys.h5, scene.json, traj.h5, look.json and pictures/png; with ffmpeg OUT_FOLDER/buoys.gif,
which README.md has as docs/pictures/buoys.gif.
usage: toss.py OUT_FOLDER [--tools FOLDER] [--size WxH] [--frames N]"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

GRAVITY, SPEED, SLOW = 9.81, 3.4, 3  # m/s^2, m/s upwards, times slower than it is
FLIGHT = 2 * SPEED / GRAVITY
AMPLITUDE = 100.0
# where a buoy starts, m; its turn, rad; its velocity beside that upwards, m/s; how it turns, rad/s; velocities of its first modes, times AMPLITUDE
BUOYS = [((-0.8, 0.15, 0.62), (0.5, 0.1, 0), (0.1, 0, 0), (3.2, 0.5, 1), (0.055, 0.03, 0, 0.015)),
         ((0.0, -0.35, 0.62), (1.2, -0.3, 0.4), (0, 0.1, 0.25), (-2.6, 1.5, 0.5), (0.0, 0.055, 0.025, 0)),
         ((0.82, 0.2, 0.62), (0.2, 0.8, 0), (-0.1, 0, -0.2), (1, -3.4, 0.8), (0.045, -0.035, 0, 0.02))]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tools", default="build/release/bin")
    parser.add_argument("--size", default="480x320")
    parser.add_argument("--frames", type=int, default=40)
    given = parser.parse_args()
    here, out = pathlib.Path(__file__).resolve().parent, given.folder
    inside = lambda name: str(out / name)
    tool = lambda name, *words: subprocess.run([os.path.join(given.tools, name), *words, "--force", "-q"], check=True)
    subprocess.run([sys.executable, here / "buoy.py", out], check=True, stdout=subprocess.DEVNULL)
    tool("modalmesh", inside("buoy.obj"), inside("buoy.msh"))
    tool("modalpack", inside("buoy.msh"), inside("buoy.h5"), "--surface", inside("buoy.obj"), "--young", "4e4", "--poisson", "0.45", "--density",
            "900", "--modes", "44", "--reduced-forces",
         "--derivatives", "8")
    (out / "places.csv").write_text("object,shape,parent,x,y,z,rx,ry,rz\n" + "".join(
        f"{i},0,-1,{','.join(map(str, at))},{','.join(map(str, turn))}\n" for i, (at, turn, *_) in enumerate(BUOYS)))
    tool("modalplace", inside("places.csv"), inside("buoys.h5"), inside("buoy.h5"))
    objects = [{"object": i, "pose_motion": "free", "velocity": [side[0], side[1], SPEED + side[2]], "angular_velocity": list(turning),
                "initial_velocity": [a * AMPLITUDE for a in swing] + [0] * (44 - len(swing))} for i, (_, _, side, turning, swing) in enumerate(BUOYS)]
    (out / "scene.json").write_text(json.dumps({
        "duration": FLIGHT, "fps": given.frames / FLIGHT, "step": 0.002, "model": "stvk", "gravity": [0, 0, -GRAVITY],
        "damping": {"alpha": 0.2, "beta": 3e-4}, "objects": objects}, indent=1))
    tool("modalsim", inside("buoys.h5"), inside("traj.h5"), "--scene", inside("scene.json"))
    tool("modaltex", "look", inside("buoy.obj"), inside("look.json"))
    look = json.loads((out / "look.json").read_text())
    look["materials"]["floor"] = {"diffuse": [0.5, 0.47, 0.42]}
    look.update(ambient=[0.3, 0.32, 0.36], background=[0.72, 0.82, 0.93], lights=[{"direction": [0.5, 0.7, -1.6], "colour": [1, 0.97, 0.9]}],
                ground={"material": "floor", "height": 0, "size": 20}, cameras=[{"eye": [0.0, -3.0, 1.75], "target": [0, 0, 0.7], "up": [0, 0, 1],
                        "fov": 0.62}])
    (out / "look.json").write_text(json.dumps(look, indent=1))
    shutil.rmtree(out / "pictures", ignore_errors=True)
    tool("modalrender", inside("traj.h5"), inside("pictures"), "--look", inside("look.json"), "--size", given.size, "--samples", "8")
    if shutil.which("ffmpeg"):
        colours = "split[a][b];[a]palettegen=max_colors=64:stats_mode=diff[p];[b][p]paletteuse=dither=none:diff_mode=rectangle"
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-framerate", str(round(given.frames / FLIGHT / SLOW)), "-i", inside("pictures/png/%06d.png"),
                "-vf", colours,
                        inside("buoys.gif")], check=True)


if __name__ == "__main__":
    main()
