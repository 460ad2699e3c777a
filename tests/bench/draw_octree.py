# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of octree textures in docs/modaltex.md, by the tools themselves:

    draw_octree.py BIN_FOLDER SURFACE.off SOLID.msh OUT_FOLDER

marble_bunny.png: the surface in marble. scan_colours.png: colours of a scan's vertices on the solid, three frames of a swing. atlas_padding.png: the image of
the marble by charts, before and after its gaps are filled. The scan is the solid's own surface with colours that its coordinates give. It needs numpy and h5py."""
import json
import os
import subprocess
import sys
import tempfile
import zlib

import h5py
import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
sys.argv[1:], given = [], sys.argv[1:]
from images import chunk, read_png  # noqa: E402

binaries, surface, solid, out = map(os.path.abspath, given)


def run(tool, *words):
    subprocess.run([f"{binaries}/{tool}", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def put(name, what):
    with open(name, "w", encoding="utf-8") as f:
        json.dump(what, f)


def write_png(name, texels):
    """Small: filter "up", the strongest deflate."""
    h, w, _ = texels.shape
    rows = np.concatenate([np.full((h, 1), 2, np.uint8), np.diff(np.concatenate([np.zeros((1, w * 3), np.uint8), texels.reshape(h, -1)]), axis=0)], 1)
    head = np.array([w, h], ">u4").tobytes() + bytes([8, 2, 0, 0, 0])
    with open(os.path.join(out, name), "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b""))


def look(name, image, direction, up=(0, 1, 0)):
    put(name, {"look": 1, "materials": {"m": {"image": image, "specular": [0.25, 0.25, 0.25], "shininess": 40}}, "default": "m", "ambient": [0.35, 0.35, 0.35],
               "lights": [{"direction": [-0.4, -1, -0.6], "colour": [0.9, 0.9, 0.9], "shadow": True}], "background": [1, 1, 1],
               "cameras": [{"direction": direction, "up": up}]})


def marble():
    run("modaltex", "build", surface, "white.h5", "--resolution", 1024, "-q")
    put("marble.json", {"layers": [{"kind": "marble", "from": [0.93, 0.91, 0.87], "to": [0.24, 0.3, 0.36], "scale": SCALE, "seed": 4}]})
    run("modaltex", "paint", "white.h5", "marble.json", "marble.h5", "-q")
    run("modalpack", "--rigid", surface, "bunny.h5", "-q")
    look("marble_look.json", "marble.h5", [-0.3, -0.25, -1])
    run("modalrender", "bunny.h5", "m", "-q", "--look", "marble_look.json", "--size", "400x400", "--samples", 8)
    write_png("marble_bunny.png", read_png("m/png/000000.png"))
    run("modaltex", "bake", "marble.h5", surface, "full.png", "--size", 320, "-q")
    run("modaltex", "bake", "marble.h5", surface, "none.png", "--size", 320, "--padding", "none", "-q", "-f")
    write_png("atlas_padding.png", np.concatenate([read_png("none.png"), np.full((320, 10, 3), 255, np.uint8), read_png("full.png")], 1))


def scan():
    run("modalpack", solid, "solid.h5", "--modes", 6, "--young", 1e5, "--poisson", 0.3, "--density", 1000, "-q")
    run("modaldeform", "solid.h5", "rest", "--modes", 0, "--frames", 0, "-q")
    with h5py.File("solid.h5") as f, h5py.File("rest/sequence.vtkhdf") as r:
        stored = f["shapes/0000/surface"]
        x = np.empty(stored["rest_positions"].shape)
        x[stored["user_vertex"][:]] = stored["rest_positions"][:]
        faces = r["VTKHDF/Polygons/Connectivity"][:].reshape(-1, 3)
    u = (x - x.min(0)) / np.ptp(x, 0).max()
    rgb = 0.6 + 0.3 * np.stack([np.sin(26 * u[:, 0] + 5 * np.sin(9 * u[:, 1])), np.sin(31 * u[:, 1] + 2), np.sin(23 * u[:, 2] + 8 * u[:, 0])], 1)
    with open("scan.ply", "w", encoding="ascii") as f:
        f.write(f"ply\nformat ascii 1.0\nelement vertex {len(x)}\n" + "".join(f"property double {k}\n" for k in "xyz") +
                "".join(f"property uchar {k}\n" for k in ("red", "green", "blue")) + f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n")
        f.writelines("%.17g %.17g %.17g %d %d %d\n" % (*p, *c) for p, c in zip(x, np.clip(255 * rgb, 0, 255).astype(int)))
        f.writelines("3 %d %d %d\n" % tuple(t) for t in faces)
    run("modaltex", "build", "solid.h5", "plain.h5", "--resolution", 512, "-q")
    put("scan.json", {"layers": [{"kind": "colours", "file": "scan.ply"}]})
    run("modaltex", "paint", "plain.h5", "scan.json", "scan.h5", "-q")
    size = float(np.ptp(x, 0).max())
    run("modalsim", "solid.h5", "swing.h5", "--duration", 2, "--fps", 20, "--initial", f"0={SWING * size}", "--initial", f"1={SWING * size}", "--damping-ratio", 0.01)
    look("scan_look.json", "scan.h5", VIEW)
    run("modalrender", "swing.h5", "s", "-q", "--look", "scan_look.json", "--size", "520x520", "--samples", 8, "--shadow", "none")
    frames = np.stack([read_png(f"s/png/{i:06}.png") for i in CHOSEN])
    rows, columns = (np.flatnonzero((frames < 255).any((0, 3)).any(k)) for k in (1, 0))  # without the white around
    part = slice(max(rows[0] - 6, 0), rows[-1] + 7), slice(max(columns[0] - 6, 0), columns[-1] + 7)
    write_png("scan_colours.png", np.concatenate([f[part] for f in frames], 1))


SCALE, SWING, VIEW, CHOSEN = 1.6, 0.0115, [-0.3, -0.25, -1], (0, 4, 9)

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        marble()
        scan()
