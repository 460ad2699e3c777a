# SPDX-License-Identifier: Apache-2.0
"""The formulas of sizes in formats/README.md against files.
usage: check_sizes.py BIN_FOLDER SOURCE_FOLDER"""
import math
import os
import pathlib
import re
import sys
import tempfile

import h5py

from basis_file import NODES_OF
from stvk_solid import STEEL, Tools, write_bar

run, SOURCE = Tools(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
SECTION = (SOURCE / "formats/README.md").read_text(encoding="utf-8").split("\n## Sizes\n")[1].split("\n## ")[0]
FORMULAS = dict(re.findall(r"^\| ([^|]+) \| `([^`]+)` \|$", SECTION, re.M))


def counts(basis, trajectory):
    """What the formulas name."""
    with h5py.File(basis) as file, h5py.File(trajectory) as motion:
        shape = file["shapes/0000"]
        volume = shape["volume"]
        groups = [volume[f"groups/{i:04}"] for i in range(volume["groups"].attrs["count"])]
        kinds = volume["element_types"][:]
        return {"V": len(shape["surface/rest_positions"]), "T": len(shape["surface/triangles"]),
                "r": len(shape["modes/eigenvalues"]), "m": len(shape["truncation/slow_eigenvalues"]), "N": len(volume["nodes"]), "E": len(kinds),
                "K": int(NODES_OF[kinds].sum()), "c": int(NODES_OF[kinds[0]]),
                "G": sum(len(g["nodes"]) + len(g["elements"]) for g in groups),
                "F": motion["q"].shape[0], "Q": motion["q"].shape[1], "O": len(file["objects/shape"])}


def check(name, values, size, slack):
    wanted = eval(FORMULAS.pop(name), {"ceil": math.ceil}, values)
    print(f"{name}: {size} bytes, {wanted:.0f} by the formula")
    assert abs(size - wanted) <= 0.01 * size + 1024 * slack, name


def main():
    steel = [*STEEL, "--fixed", "stem_end", "--modes", 12, "-q", "-f"]
    mesh = SOURCE / "data/tuning_fork.msh"
    run("modalpack", mesh, "b.h5", *steel)
    run("modalsim", "b.h5", "t.h5", "--duration", 0.2, "--fps", 10000, "--impulse", "0.025,0.152,0.006:-1.5,0.1,0.2", "-q")
    run("modalsim", "b.h5", "s.h5", "--duration", 0.003, "--fps", 10000, "--impulse", "0.025,0.152,0.006:-1.5,0.1,0.2", "-q")
    here = counts("b.h5", "t.h5")
    check("basis.h5, a shape with its own boundary", here, os.path.getsize("b.h5"), 48)
    check("traj.h5", here, os.path.getsize("t.h5"), 8)
    here = counts("b.h5", "s.h5")
    run("modaldeform", "s.h5", "o", "--normals", "none", "--format", "vtkhdf,glb,pc2,mdd,ply", "-q")
    check("sequence.vtkhdf, positions", here, os.path.getsize("o/sequence.vtkhdf"), 48)
    check("sequence.glb, r modes that move", here, os.path.getsize("o/sequence.glb"), 8)
    check("sequence.pc2", here, os.path.getsize("o/sequence.pc2"), 0)
    check("sequence.mdd", here, os.path.getsize("o/sequence.mdd"), 0)
    check("ply/", here, sum(file.stat().st_size for file in pathlib.Path("o/ply").iterdir()), 8)
    run("modaldeform", "s.h5", "n", "--normals", "dynamic", "--fields", "displacement", "-q")
    check("sequence.vtkhdf, positions, normals, displacement", here, os.path.getsize("n/sequence.vtkhdf"), 48)
    run("modaldeform", "s.h5", "v", "--output-mesh", "volume", "-q")
    check("sequence.vtkhdf, a solid's positions", here, os.path.getsize("v/sequence.vtkhdf"), 48)

    run("modalpack", mesh, "none.h5", *steel, "--volume-modes", "none", "--reduced-forces")
    with h5py.File("none.h5") as file:
        forces = sum(array.nbytes for array in file["shapes/0000/reduced_forces"].values())
        left_out = sum(array.nbytes for array in file["shapes/0000/truncation"].values())
    check("of it the reduced forces", here, forces, 0)
    check("basis.h5, without modes at the nodes", here, os.path.getsize("none.h5") - forces - left_out, 48)
    write_bar("bar.msh", (12, 2, 2), (1, 0.2, 0.2))
    run("modalpack", "bar.msh", "many.h5", *STEEL, "--fixed", "root", "--modes", 33, "-q", "--reduced-forces", "--left-out", 0)
    with h5py.File("many.h5") as file:
        forces = sum(array.nbytes for array in file["shapes/0000/reduced_forces"].values())
    check("of it the reduced forces of r > 32", {"r": 33}, forces, 0)
    run("modalpack", mesh, "fine.h5", *steel, "--surface", "o/rest.obj")
    check("basis.h5, a finer surface, c nodes an element", counts("fine.h5", "s.h5"), os.path.getsize("fine.h5"), 48)

    pathlib.Path("spin.json").write_text('{"duration": 1, "fps": 1000, "objects": [{"object": 0, "pose_motion": {"spin": '
                                         '{"axis": [0, 1, 0], "rate": 20}}}]}', encoding="utf-8")
    run("modalsim", "b.h5", "m.h5", "--scene", "spin.json", "-q")
    with h5py.File("m.h5") as file:
        more = file["energy"].nbytes + file["quality"].nbytes
    check("of it energies and quality", counts("b.h5", "m.h5"), more, 0)
    check("traj.h5, objects that move rigidly", counts("b.h5", "m.h5"), os.path.getsize("m.h5"), 8)
    assert not FORMULAS, FORMULAS


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
