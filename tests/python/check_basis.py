# SPDX-License-Identifier: Apache-2.0
"""basis.h5 (formats/basis.md): the truncation is a small part of the demo's basis; modes at the nodes in float32, float64 or
left out, and what that does to the tools that use them; a matrix by vertices.
usage: check_basis.py BIN SOURCE_FOLDER"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from basis_file import modal_matrix, node_modes

BIN, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
STEEL = ["--young", "2.06e11", "--poisson", "0.29", "--density", "7850"]


def run(tool, *words, code=0, says=""):
    got = subprocess.run([BIN / tool, *map(str, words)], capture_output=True, text=True)
    assert got.returncode == code and says in got.stderr, (words, got)
    return got


def points(folder):
    with h5py.File(f"{folder}/sequence.vtkhdf") as file:
        return file["VTKHDF/Points"][:]


def check_size():
    run("modalpack", SOURCE / "data/tuning_fork.msh", "demo.h5", "--modes", 20, *STEEL, "--fixed", "stem_end")
    with h5py.File("demo.h5") as file:
        truncation = sum(array.nbytes for array in file["shapes/0000/truncation"].values())
    size = os.path.getsize("demo.h5") - truncation
    assert 0 < truncation <= 0.1 * size, (size, truncation)
    run("modalinfo", "--check", "demo.h5")


def write_brick():
    """3 x 3 x 3 hexahedra, of whose 64 nodes 8 are inside, and a sheet that cuts through them."""
    with open("brick.msh", "w", encoding="utf-8") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n64\n")
        file.writelines(f"{i + 1} {0.1 * (i % 4)} {0.1 * (i // 4 % 4)} {0.1 * (i // 16)}\n" for i in range(64))
        file.write("$EndNodes\n$Elements\n27\n")
        for e in range(27):
            at = e % 3 + 4 * (e // 3 % 3) + 16 * (e // 9)
            corners = [at + k for k in (0, 1, 5, 4, 16, 17, 21, 20)]
            file.write(f"{e + 1} 5 2 1 1 " + " ".join(str(k + 1) for k in corners) + "\n")
        file.write("$EndElements\n")
    with open("sheet.obj", "w", encoding="utf-8") as file:
        file.writelines(f"v {0.01 + 0.028 * i} {0.012 + 0.027 * j} {0.15 + 0.005 * i}\n" for j in range(11) for i in range(11))
        for j in range(10):
            for i in range(10):
                a = 11 * j + i + 1
                file.write(f"f {a} {a + 1} {a + 12}\nf {a} {a + 12} {a + 11}\n")


def spin(basis):
    run("modalsim", basis, f"{basis}.t", "--scene", "spin.json", "-f")
    with h5py.File(f"{basis}.t") as file:
        return file["q"][:]


def check_kept():
    write_brick()
    pathlib.Path("spin.json").write_text(json.dumps(
        {"duration": 0.2, "fps": 50, "step": 0.001, "gravity": [0, 0, -9.81],
         "objects": [{"object": 0, "pose_motion": {"spin": {"axis": [0, 1, 0.3], "rate": 20}}}]}), encoding="utf-8")
    for surface in ([], ["--surface", "sheet.obj"]):
        for kept in ("float32", "float64", "none"):
            run("modalpack", "brick.msh", f"{kept}.h5", "--young", "1e6", "--poisson", "0.3", "--density", "1000", "-f",
                "--modes", 7, "--fixed", "plane:0,0,0:0,0,-1", *surface, *([] if kept == "float32" else ["--volume-modes", kept]))
            run("modalinfo", "--check", f"{kept}.h5")
        with h5py.File("float64.h5") as exact, h5py.File("float32.h5") as single, h5py.File("none.h5") as none:
            shapes = [file["shapes/0000"] for file in (exact, single, none)]
            phi = [node_modes(shape) for shape in shapes]
            assert phi[0].dtype == "f8" and phi[1].dtype == "f4" and phi[2] is None
            assert np.array_equal(phi[0].astype("f4"), phi[1])
            volume = shapes[1]["volume"]
            assert ("inner_modes" in volume) == (not surface) and ("volume_modes" in volume) == bool(surface)
            if not surface:
                assert volume["inner_modes"].shape == (7, 8, 3) and "embedding_offsets" not in volume
            u = [modal_matrix(shape) for shape in shapes]
            assert np.array_equal(u[0], u[1]) and np.array_equal(u[0], u[2])
        # frames that turn: the integrals of float32 modes differ by their rounding
        q = [spin("float32.h5"), spin("float64.h5")]
        assert 0 < np.abs(q[0] - q[1]).max() < 1e-6 * np.abs(q[1]).max(), np.abs(q[0] - q[1]).max() / np.abs(q[1]).max()
        # nodes that are drawn: not a bit
        for kept in ("float32", "float64"):
            with h5py.File(f"{kept}.h5.t", "r+") as file:
                file["q"][:] = q[0]
            run("modaldeform", f"{kept}.h5.t", kept, "--output-mesh", "volume", "-f")
        assert np.array_equal(points("float32"), points("float64"))
        assert points("float32").shape == (11 * 64, 3)
        # without them: refused by name, with nothing left
        run("modalsim", "none.h5", "o.h5", "--scene", "spin.json", code=3, says="--volume-modes")
        with h5py.File("float32.h5.t") as old, h5py.File("none.h5.t", "w") as new, h5py.File("none.h5") as basis:
            for key in ("times", "q", "mode_offsets", "poses"):
                new[key] = old[key][:]
            new.attrs.update(modal_format="trajectory", modal_format_version="1.0", basis_path="none.h5",
                             basis_hash=basis.attrs["content_hash"])
        run("modaldeform", "none.h5.t", "o", "--output-mesh", "volume", code=3, says="--volume-modes")
        run("modaldeform", "none.h5.t", "o")
        assert not os.path.exists("o.h5")
        shutil.rmtree("o")
    run("modalpack", "brick.msh", "o.h5", "--volume-modes", "float16", code=2, says="--volume-modes: must be none, float32 or float64")


def check_rows():
    """[V, 3, r] as another writer may have it: the same frames."""
    with h5py.File("float32.h5") as file, h5py.File("rows.h5", "w", libver=("v108", "v108")) as other:
        for key in file:
            file.copy(key, other)
        other.attrs.update(file.attrs)
        modes = other["shapes/0000/modes"]
        rows = modal_matrix(other["shapes/0000"])
        del modes["modal_matrix"]
        modes["modal_matrix"] = rows
        modes["modal_matrix"].attrs["layout"] = "vertex_major"
    for basis in ("float32.h5", "rows.h5"):
        run("modaldeform", "float32.h5.t", f"of_{basis[:-3]}", "--basis", basis)
    assert np.array_equal(points("of_float32"), points("of_rows"))
    run("modalinfo", "rows.h5")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_size()
        check_kept()
        check_rows()
        os.chdir("/")
