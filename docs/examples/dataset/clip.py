#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the scene and the look of a clip: the plant's scene with another wind, a camera that goes around, another light. The same number gives the
same files.
usage: clip.py NUMBER PLANT_FOLDER FRAMES SCENE LOOK"""
import json
import math
import random
import sys

number, plant, frames, scene_name, look_name = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5]
at = random.Random(number)

with open(f"{plant}/scene.json", encoding="utf-8") as f:
    scene = json.load(f)
scene["duration"] = (frames - 1) / scene["fps"]
way, speed = at.uniform(0, 2 * math.pi), at.uniform(2, 12)
scene["wind"].update(velocity=[speed * math.cos(way), speed * math.sin(way), at.uniform(-1, 1)], turbulence=at.uniform(0.2, 0.6) * speed, seed=number)

start, turn, far, up = at.uniform(0, 2 * math.pi), at.uniform(-1, 1), at.uniform(2.2, 4.5), at.uniform(0.5, 2)
target = [at.uniform(-0.2, 0.2), at.uniform(-0.2, 0.2), at.uniform(0.6, 1.4)]
keys = []
for i in range(9):
    t, angle = scene["duration"] * i / 8, start + turn * i / 8
    keys.append([t, far * math.cos(angle), far * math.sin(angle), up, *target])
sun, high = at.uniform(0, 2 * math.pi), at.uniform(0.4, 1.3)
light = [-math.cos(sun) * math.cos(high), -math.sin(sun) * math.cos(high), -math.sin(high)]


def colour(low, most):
    return [round(at.uniform(low, most), 3) for _ in range(3)]


look = {"look": 1, "materials": {"plant": {"diffuse": [at.uniform(0.1, 0.3), at.uniform(0.3, 0.7), 0.15], "two_sided": True},
                                 "ground": {"diffuse": colour(0.2, 0.6)}},
        "default": "plant", "lights": [{"direction": light, "colour": [at.uniform(0.7, 1.1)] * 3}], "ambient": [at.uniform(0.15, 0.35)] * 3,
        "ground": {"material": "ground", "height": 0, "size": 60}, "background": colour(0.5, 0.9),
        "cameras": [{"eye": keys[0][1:4], "target": target, "fov": at.uniform(0.5, 1.0), "keys": keys}]}
for name, what in ((scene_name, scene), (look_name, look)):
    with open(name, "w", encoding="utf-8") as f:
        json.dump(what, f, indent=1)
