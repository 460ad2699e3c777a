# SPDX-License-Identifier: Apache-2.0
"""formats/extensions.md on every kind of HDF5 file: a required extension that is not known is refused by name,
by modalinfo and by the tool that uses the file; one that is only used is ignored.
usage: check_extensions.py BIN"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

BIN = os.path.abspath(sys.argv[1])
STEEL = ["--young", "2e11", "--poisson", "0.3", "--density", "7800"]
SCENE = {"duration": 0.1, "fps": 100, "damping": {"ratio": 0.01}, "gravity": [0, -9.81, 0]}


def run(tool, *words):
    return subprocess.run([os.path.join(BIN, tool), *words], capture_output=True, text=True)


def good(tool, *words):
    got = run(tool, *words)
    assert got.returncode == 0, (tool, words, got.stderr)


def write_mesh():
    """A unit cube of six tetrahedra, one face held."""
    nodes = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    parts = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]
    with open("cube.msh", "w", encoding="utf-8") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n8\n")
        file.writelines(f"{i + 1} {x} {y} {z}\n" for i, (x, y, z) in enumerate(nodes))
        file.write("$EndNodes\n$Elements\n6\n")
        for i, part in enumerate(parts):
            a, b, c, d = (np.array(nodes[k], float) for k in part)
            if np.dot(np.cross(b - a, c - a), d - a) < 0:
                part = (part[0], part[2], part[1], part[3])
            file.write(f"{i + 1} 4 2 1 1 " + " ".join(str(k + 1) for k in part) + "\n")
        file.write("$EndElements\n")


def main():
    write_mesh()
    good("modalpack", "cube.msh", "b.h5", *STEEL, "--modes", "4", "--fixed", "box:-1,-1,-1:0.1,2,2")
    with open("scene.json", "w", encoding="utf-8") as file:
        json.dump(SCENE, file)
    good("modalsim", "b.h5", "t.h5", "--scene", "scene.json", "--checkpoint", "c.h5", "--checkpoint-every", "5")
    good("modaldeform", "t.h5", "out")
    with h5py.File("s.h5", "w", libver=("earliest", "v108")) as f:
        f.attrs.update(modal_format="snapshots", modal_format_version="1.0")
        f["displacements"] = np.random.default_rng(1).normal(size=(3, 8, 3)) * [[[1e-3]] * 8] * 3
    kinds = {
        "b.h5": [["modalinfo", "b.h5"], ["modalinfo", "--check", "b.h5"],
                 ["modalsim", "b.h5", "o.h5", "--duration", "0.1", "--fps", "50", "--impulse", "1,1,1:1,0,0"], ["modaldeform", "t.h5", "o"]],
        "t.h5": [["modalinfo", "t.h5"], ["modalinfo", "--check", "t.h5"], ["modaldeform", "t.h5", "o"]],
        "c.h5": [["modalsim", "b.h5", "o.h5", "--scene", "scene.json", "--restart", "c.h5"]],
        "s.h5": [["modalpack", "cube.msh", "o.h5", *STEEL, "--snapshots", "s.h5", "--modes", "2"]],
        "out/sequence.vtkhdf": [["modalinfo", "out/sequence.vtkhdf"], ["modalinfo", "--check", "out/sequence.vtkhdf"]],
    }
    for path, commands in kinds.items():
        shutil.copy(path, "kept")
        for used, required, refused in (("acme_paint", None, None), ("acme_paint other_2", "", None),
                                        ("acme_paint other_2", "other_2", "needs other_2, which this program"),
                                        ("", "other_2", "needs other_2, which this program"),
                                        (None, "Bad-Name", "must be names between single spaces"),
                                        ("two  spaces", None, "must be names between single spaces")):
            shutil.copy("kept", path)
            with h5py.File(path, "r+") as f:
                for name, text in (("extensions_used", used), ("extensions_required", required)):
                    if text is not None:
                        f.attrs[name] = text
            for words in commands:
                got = run(*words)
                if refused is None:
                    assert "extension" not in got.stderr and got.returncode in (0, 1), (path, words, got)
                else:
                    assert got.returncode == 3 and refused in got.stderr, (path, words, used, required, got)
                for output in ("o.h5", "o"):
                    shutil.rmtree(output, ignore_errors=True)
                    if os.path.exists(output):
                        os.remove(output)
        shutil.copy("kept", path)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
