# SPDX-License-Identifier: Apache-2.0
"""Texture coordinates in sequence.vtkhdf. usage: check_look_vtk.py BIN_FOLDER REPOSITORY PART, PART one of
  vtkhdf    they are refused on seams; its checkers
  vtk ROOT  these coordinates in VTK 9.3, in a system below ROOT (./run clients makes it)"""
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import looks
from looks import RUBBER, paint_box, put, repository, validate, write_box, write_sheet
from tool_run import must, run


def part_vtkhdf():
    paint_box()
    write_sheet()
    for words in ((), ("--order", "stored"), ("--precision", 1e-5)):
        run("modaldeform", "st.h5", "v", "-f", "--look", "sheet.obj", "--normals", "dynamic", *words)
        run("modalinfo", "v/sequence.vtkhdf", "--check")
        validate("v/sequence.vtkhdf")
        with h5py.File("v/sequence.vtkhdf") as f:
            uv, x = f["VTKHDF/PointData/TCoords"][:], f["VTKHDF/Points"][:18]
            must(uv.shape == (18, 2) and "extensions_used" not in f.attrs, "TCoords", uv.shape)
            place = x - np.repeat([[0, 0, 0], [3, 0, 0]], 9, axis=0)
            must(np.abs(uv - np.stack([1 - place[:, 0], 0.25 + place[:, 1] * 10 / 8], 1)).max() < 0.01, "uv are others")
            must((f["VTKHDF/Steps/PointDataOffsets/TCoords"][:] == 0).all() and b"TCoords" not in f["modal"].attrs["arrays"], "steps or list")
    run("modaldeform", "st.h5", "plain", "-f")
    with h5py.File("plain/sequence.vtkhdf") as f:
        must("TCoords" not in f["VTKHDF/PointData"] and "TCoords" not in f["VTKHDF/Steps/PointDataOffsets"], "TCoords without a look")
    for words in (("--format", "vtkhdf"), ("--format", "glb,vtkhdf")):
        run("modaldeform", "t.h5", "no", *words, "--look", "box.obj", code=3, says="lies on a seam, with texture coordinates")
    run("modaldeform", "t.h5", "no", "--output-mesh", "volume", "--look", "box.obj", code=2, says="--look: not with --output-mesh volume")
    write_box("plain", materials=False)
    with open("plain.obj") as f:
        put("plain.obj", "".join("f " + " ".join(w.split("/")[0] for w in line.split()[1:]) + "\n" if line.startswith("f") else line
                                 for line in f if not line.startswith("vt")))
    run("modalpack", "box.node", "p.h5", "--surface", "plain.obj", "--modes", 3, *RUBBER)
    run("modalsim", "p.h5", "pt.h5", "--duration", 0.05, "--fps", 100)
    put("one.mtl", "newmtl a\nKd 1 0 0\n")
    run("modaldeform", "pt.h5", "no", "--look", "one.mtl", code=3, says="has no texture coordinates, which vtkhdf takes of a --look")
    must(not os.path.exists("no"), "no is there")

    def broken(change, says):
        shutil.copy("v/sequence.vtkhdf", "bad.vtkhdf")
        with h5py.File("bad.vtkhdf", "r+") as f:
            change(f["VTKHDF"])
        must(says in run("modalinfo", "bad.vtkhdf", "--check", code=1).stdout, says)
        validate("bad.vtkhdf", 1)

    def other_rows(v):
        del v["PointData/TCoords"]
        v["PointData/TCoords"] = np.zeros((17, 2), "f4")

    broken(lambda v: v["PointData/TCoords"].__setitem__((3, 1), np.nan), "TCoords: point 3")
    broken(lambda v: v["PointData"].__delitem__("TCoords"), "TCoords: missing")
    broken(lambda v: v["Steps/PointDataOffsets/TCoords"].__setitem__(2, 18), "Steps/PointDataOffsets/TCoords")
    broken(other_rows, "TCoords")


def part_vtk(root):
    """VTK 9.3 in a system that is entered by chroot."""
    if os.geteuid() != 0:
        print(f"check_look_clients: only root can enter {root}")
        sys.exit(77)
    paint_box()
    write_sheet()
    run("modaldeform", "st.h5", "v", "--look", "sheet.obj", "--normals", "dynamic")
    with tempfile.TemporaryDirectory(dir=os.path.join(root, "tmp")) as away:
        shutil.copy("v/sequence.vtkhdf", away)
        shutil.copy(os.path.join(repository, "tests/clients/open_in_vtk.py"), away)
        inside = "/" + os.path.relpath(away, root)
        got = subprocess.run(["chroot", root, "python3", f"{inside}/open_in_vtk.py", f"{inside}/sequence.vtkhdf", f"{inside}/found.npz"],
                             capture_output=True, text=True)
        must(got.returncode == 0, got)
        found = dict(np.load(f"{away}/found.npz"))
    with h5py.File("v/sequence.vtkhdf") as f:
        for i in range(len(found["times"])):
            must(np.array_equal(found[f"{i}/TCoords"], f["VTKHDF/PointData/TCoords"][:]), "TCoords at step", i)
            must(np.array_equal(found[f"{i}/Points"], f["VTKHDF/Points"][18 * i:18 * i + 18]), "points at step", i)
    print(got.stdout.strip())


if __name__ == "__main__":
    looks.main(globals())
