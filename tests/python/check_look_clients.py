# SPDX-License-Identifier: Apache-2.0
"""A GLB with a look in other programs. usage: check_look_clients.py BIN_FOLDER REPOSITORY PART PROGRAM, PART one of
  blender, gltf-validator (a skip, 77, where they are absent)"""
import json
import os
import subprocess

import numpy as np

import looks
from looks import paint_box, put, repository
from tool_run import must, run


def client_files():
    paint_box()
    run("modaldeform", "t.h5", "o", "--format", "glb", "--look", "box.obj")


def part_blender(program):
    """The same materials on the same faces, and the same base colours, as Blender's own import of the .obj; with creases each corner of the box has
    the normal of its face."""
    client_files()
    run("modaldeform", "t.h5", "creased", "--format", "glb", "--look", "box.obj", "--crease", 40, "--normals", "rigid")
    script = os.path.join(repository, "tests/clients/look_in_blender.py")
    got = subprocess.run([program, "--background", "--factory-startup", "--python-exit-code", "1", "--python", script, "--", "box.obj",
                          "o/sequence.glb", "found.npz", "creased/sequence.glb"], capture_output=True, text=True, timeout=200)
    must(got.returncode == 0 and os.path.exists("found.npz"), got.stdout[-2000:], got.stderr[-2000:])
    with np.load("found.npz") as f:
        must(f["normals_off"] <= 2e-3, "normals of corners are off by", f["normals_off"]) # Blender keeps them in 16 bits
        must(len(f["obj_faces"]) == 36 and np.abs(f["obj_faces"] - f["glb_faces"]).max() <= 2e-4, "faces")
        must((f["obj_materials"] == f["glb_materials"]).all() and len(set(f["glb_materials"])) == 2, "materials", f["glb_materials"])
        a, b = f["obj_picture"][..., :3], f["glb_picture"][..., :3]
    psnr = -10 * np.log10(max(((a - b) ** 2).mean(), 1e-30))
    must(a.std() > 0.05, "nothing is seen")
    print(f"check_look_clients: base colours as Blender's own import of the .obj has them, PSNR {psnr:.1f} dB")
    must(psnr >= 40, "PSNR", psnr)


def part_gltf_validator(program):
    client_files()
    script = ("const v = require(process.argv[1]), fs = require('fs');"
              "v.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2]))).then(r => console.log(JSON.stringify(r)))")
    look = {"look": 1, "materials": {"red paint": {"diffuse": [1, 0.5, 0], "alpha": "blend", "opacity": 0.5},
                                     "leaf": {"image": "leaf.png", "normal_image": "n.png", "wrap": "clamp", "alpha": "cutout", "two_sided": True}},
            "objects": [{"object": 0, "tint": [0.5, 1, 1]}]}
    put("all.json", json.dumps(look))
    for words in (("box.obj",), ("box.obj", "--normals", "dynamic"), ("box.obj", "--crease", 40), ("all.json", "--crease", 40, "--normals", "dynamic")):
        run("modaldeform", "t.h5", "o", "-f", "--format", "glb", "--look", *words)
        got = subprocess.run(["node", "-e", script, program, "o/sequence.glb"], capture_output=True, text=True, timeout=100)
        must(got.returncode == 0, got.stderr)
        issues = json.loads(got.stdout)["issues"]
        # viewers make the tangents of a normal image, which the validator warns of
        warnings = [m for m in issues["messages"] if m["severity"] == 1 and m["code"] != "MESH_PRIMITIVE_GENERATED_TANGENT_SPACE"]
        must(issues["numErrors"] == 0 and not warnings and (words[0] == "all.json" or issues["numWarnings"] == 0), issues["messages"][:5])


if __name__ == "__main__":
    looks.main(globals())
