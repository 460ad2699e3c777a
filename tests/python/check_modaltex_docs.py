# SPDX-License-Identifier: Apache-2.0
"""The worked commands of docs/modaltex.md, in their order, on a small box in place of a bunny and a dragon. usage: check_modaltex_docs.py BIN_FOLDER
REPOSITORY
Resolutions are made smaller and a source is put onto the box; lines of other programs (data/, tests/) and of whole models are left out, and counted."""
import os
import re
import shlex
import tempfile

import numpy as np

from looks import paint_box, put, repository
from tool_run import must, run

LEFT_OUT = ("data/", "tests/", "modalpack ", "modalsim ")


def write_ply(name, points, faces):
    with open(name, "w", encoding="utf-8") as f:
        f.write(f"ply\nformat ascii 1.0\nelement vertex {len(points)}\nproperty double x\nproperty double y\nproperty double z\n"
                f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n")
        f.writelines("%.17g %.17g %.17g\n" % tuple(p) for p in points)
        f.writelines("3 %d %d %d\n" % tuple(t) for t in faces)


def doc_lines():
    with open(os.path.join(repository, "docs/modaltex.md"), encoding="utf-8") as f:
        return f.readlines()


def write_inputs():
    paint_box()
    with open("box.obj", encoding="utf-8") as f:
        lines = [line.split() for line in f]
    points = np.array([w[1:] for w in lines if w and w[0] == "v"], float)
    quads = [[int(c.split("/")[0]) - 1 for c in w[1:]] for w in lines if w and w[0] == "f"]
    faces = [(q[0], q[k], q[k + 1]) for q in quads for k in range(1, len(q) - 1)]
    for name in ("bunny.ply", "bunny_fine.ply"):
        write_ply(name, points, faces)
    for old, new in (("box.obj", "tree.obj"), ("b.h5", "dragon.h5"), ("t.h5", "swing.h5")):
        os.symlink(old, new)
    layers = [line.strip() for line in doc_lines() if line.startswith('    {"layers"')]
    must(len(layers) == 1, "marble.json is there once", layers)
    put("marble.json", layers[0])


def commands():
    lines = [line[4:].strip() for line in doc_lines() if line.startswith("    ") and line[4:5].isalpha()]
    must(len(lines) >= 15, "the examples are gone", lines)
    return lines


def main():
    done, left, known = [], [], {"bake": 0, "build": 0, "flow": 0, "look": 0, "paint": 0, "sample": 0}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_inputs()
        for line in commands():
            words = shlex.split(re.sub(r"--resolution \d+", "--resolution 64", line.replace("--source -0.03,0.19,-0.02", "--source 0.5,0.2,0.1")))
            if line.startswith(LEFT_OUT) or any("plant/" in w or "OUT" in w or "LOOK" in w for w in words):
                left.append(line)
                continue
            must(words[0] in ("modaltex", "modaldeform"), "another program", line)
            run(*words, "-f")
            done.append(line)
            if words[0] == "modaltex":
                known[words[1]] += 1
    must(all(known.values()) and len(done) > len(left) // 2, "commands of docs/modaltex.md that were run", known, left)
    print(f"modaltex_docs: {len(done)} commands, {len(left)} left out")


main()
