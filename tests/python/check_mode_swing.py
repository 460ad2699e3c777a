# SPDX-License-Identifier: Apache-2.0
"""modaldeform BASIS OUT: modes that swing, of one shape and of several objects, of surfaces and volumes, in every format;
and what is refused.
usage: check_mode_swing.py BIN_FOLDER"""
import json
import os
import sys
import tempfile

import h5py
import numpy as np

from basis_file import modal_matrix, node_modes
from stvk_solid import STEEL, Tools, write_bar

run = Tools(sys.argv[1])
CYCLE = 32


def frames(folder):
    with h5py.File(f"{folder}/sequence.vtkhdf") as file:
        root = file["VTKHDF"]
        times = root["Steps/Values"][:]
        return times, root["Points"][:].reshape(len(times), -1, 3).astype(float)


def diagonal(x):
    return np.linalg.norm(x.max(axis=0) - x.min(axis=0))


def refused(message, *words, code=2):
    got = run("modaldeform", *words, code=code)
    last = got.stderr.rstrip("\n").split("\n")[-1]
    assert last.startswith("modaldeform: ") and message in last, got
    assert not os.path.exists("no"), words


def main():
    write_bar("bar.msh", (5, 2, 2), (1.0, 0.2, 0.3))
    run("modalpack", "bar.msh", "b.h5", "--fixed", "root", "--modes", 6, *STEEL)
    with h5py.File("b.h5") as file:
        shape = file["shapes/0000"]
        order = np.argsort(shape["surface/user_vertex"][:])
        rest = shape["surface/rest_positions"][:][order]
        u = modal_matrix(shape)[order].astype(float)
        nodes, phi = shape["volume/nodes"][:], node_modes(shape).astype(float)

    # a mode after the other: from rest, to the largest displacement asked for, to its opposite and back
    run("modaldeform", "b.h5", "o", "--report", "r.json", "-j", 1)
    times, x = frames("o")
    assert np.allclose(times, np.arange(6 * CYCLE) / CYCLE, rtol=0, atol=1e-15)
    for k in range(6):
        moved = x[k * CYCLE:(k + 1) * CYCLE] - rest
        length = np.linalg.norm(moved, axis=2).max(axis=1)
        assert length[0] == length[CYCLE // 2] < 1e-7 and np.argmax(length) in (CYCLE // 4, 3 * CYCLE // 4)
        assert abs(length.max() / (0.05 * diagonal(rest)) - 1) < 1e-6, (k, length.max())
        wanted = u[:, :, k] * 0.05 * diagonal(rest) / np.linalg.norm(u[:, :, k], axis=1).max()
        assert np.abs(moved[CYCLE // 4] - wanted).max() < 1e-6 and np.abs(moved[3 * CYCLE // 4] + wanted).max() < 1e-6
    assert json.load(open("r.json"))["modes"] == list(range(6))
    run("modaldeform", "b.h5", "o1", "-j", 2)
    one, two = (open(f"{o}/sequence.vtkhdf", "rb").read() for o in ("o", "o1"))
    assert one == two

    # a list, another amplitude, some frames; the same in every format
    run("modaldeform", "b.h5", "p", "--modes", "4,0-1", "--amplitude", "12.5%", "--frames", f"{CYCLE // 4}::{CYCLE}",
        "--format", "vtkhdf,glb,pc2,mdd,ply,vtp,obj,csv", "--probe", 3)
    assert run("modalinfo", "--check", "p").stdout == "p: valid output\n"
    for k, frame in zip((4, 0, 1), frames("p")[1]):
        wanted = u[:, :, k] * 0.125 * diagonal(rest) / np.linalg.norm(u[:, :, k], axis=1).max()
        assert np.abs(frame - rest - wanted).max() < 1e-6
    steps = [json.loads(run("modalinfo", "--json", "p/sequence.vtkhdf").stdout)["provenance"][i] for i in (0, -1)]
    assert [s["tool"] for s in steps] == ["modalpack", "modaldeform"]
    assert "--amplitude 12.5%" in steps[1]["arguments"] and "--modes 4,0-1" in steps[1]["arguments"]

    # the solid
    run("modaldeform", "b.h5", "v", "--output-mesh", "volume", "--format", "vtkhdf,vtu", "--modes", 2, "--fields", "displacement")
    assert run("modalinfo", "--check", "v").stdout == "v: valid output\n"
    moved = frames("v")[1][CYCLE // 4] - nodes
    wanted = phi[2] * 0.05 * diagonal(nodes) / np.linalg.norm(phi[2], axis=1).max()
    assert np.abs(moved - wanted).max() < 1e-6

    # objects of two shapes: each in its own size, and one that lacks the mode rests
    write_bar("small.msh", (3, 1, 1), (0.1, 0.02, 0.03))
    run("modalpack", "small.msh", "s.h5", "--fixed", "root", "--modes", 2, *STEEL)
    with open("places.csv", "w") as file:
        file.write("0,0,-1,0,0,0,0,0,0\n1,1,-1,3,0,0,0,0,0\n")
    run("modalplace", "places.csv", "two.h5", "b.h5", "s.h5")
    run("modaldeform", "two.h5", "t", "--modes", "1,4", "--frames", f"{CYCLE // 4}::{CYCLE}", "--fields", "displacement")
    with h5py.File("t/sequence.vtkhdf") as file:
        moved = file["VTKHDF/PointData/displacement"][:].reshape(2, -1, 3)
    length = np.linalg.norm(moved, axis=2)
    both = [length[:, :len(rest)].max(axis=1), length[:, len(rest):].max(axis=1)]
    small = np.linalg.norm([0.1, 0.02, 0.03])
    assert np.allclose(both, [[0.05 * diagonal(rest)] * 2, [0.05 * small, 0]], rtol=1e-6, atol=1e-12), both

    # arrays of one frame at rest: of a surface, of turned objects, of a solid, and in the formats that carry them
    run("modaldeform", "b.h5", "a", "--show", "arrays", "--modes", "3,0-1", "--format", "vtkhdf,ply,vtp", "-j", 1)
    run("modaldeform", "b.h5", "a2", "--show", "arrays", "--modes", "3,0-1", "-j", 2)
    assert open("a/sequence.vtkhdf", "rb").read() == open("a2/sequence.vtkhdf", "rb").read()
    assert run("modalinfo", "--check", "a").stdout == "a: valid output\n"
    with h5py.File("a/sequence.vtkhdf") as file:
        data = file["VTKHDF/PointData"]
        assert [n for n in file["modal"].attrs["arrays"].decode().split() if n.startswith("mode_")] == ["mode_003", "mode_000", "mode_001"]
        assert np.abs(file["VTKHDF/Points"][:] - rest).max() < 1e-7
        for k in (0, 1, 3):
            wanted = u[:, :, k] * 0.05 * diagonal(rest) / np.linalg.norm(u[:, :, k], axis=1).max()
            assert np.abs(data[f"mode_{k:03}"][:] - wanted).max() < 1e-7
    run("modaldeform", "b.h5", "av", "--show", "arrays", "--modes", 2, "--output-mesh", "volume", "--format", "vtkhdf,vtu")
    with h5py.File("av/sequence.vtkhdf") as file:
        wanted = phi[2] * 0.05 * diagonal(nodes) / np.linalg.norm(phi[2], axis=1).max()
        assert np.abs(file["VTKHDF/PointData/mode_002"][:] - wanted).max() < 1e-7
    with open("places.csv", "w") as file:
        file.write("0,0,-1,0,0,0,0,0,0\n1,1,-1,3,0,0,0.3,0.4,-0.5\n")
    run("modalplace", "places.csv", "two.h5", "b.h5", "s.h5", "-f")
    run("modaldeform", "two.h5", "ta", "--show", "arrays", "--modes", "1,4")
    run("modaldeform", "two.h5", "ts", "--modes", "1,4", "--frames", f"{CYCLE // 4}::{CYCLE}", "--fields", "displacement")
    with h5py.File("ta/sequence.vtkhdf") as one, h5py.File("ts/sequence.vtkhdf") as file:
        swung = file["VTKHDF/PointData/displacement"][:].reshape(2, -1, 3)
        for i, k in enumerate((1, 4)):
            assert np.abs(one[f"VTKHDF/PointData/mode_{k:03}"][:] - swung[i]).max() < 1e-7
    run("modalpack", "bar.msh", "many.h5", "--fixed", "root", "--modes", 30, *STEEL)
    refused("--show: a file has room for 22 arrays, 30 modes", "many.h5", "no", "--show", "arrays")
    run("modaldeform", "many.h5", "m", "--show", "arrays", "--modes", "8-29")
    refused("glb, pc2 cannot carry this array of the points, mode_000", "b.h5", "no", "--show", "arrays", "--format", "glb,pc2")
    refused("--show: not swing or arrays, array", "b.h5", "no", "--show", "array")
    refused("arrays are at rest", "b.h5", "no", "--show", "arrays", "--output-mesh", "volume", "--fields", "stress")

    # what is refused
    run("modalsim", "b.h5", "q.h5", "--duration", 0.01, "--fps", 1000, "--initial", "0=0.01")
    for text, message in (("6", "0 .. 5, 6"), ("", "not a list"), ("1,", "not a list"), ("1,,2", "not a list"), ("a", "not a list"),
                          ("-1", "not a list"), ("1-", "not a list"), ("1.5", "not a list"), ("3-1", "descends"), ("0-2,1", "twice, 1"),
                          ("99999999999999999999", "0 .. 5"), ("1 ", "not a list")):
        refused(message, "b.h5", "no", f"--modes={text}")
    for text in ("5", "%", "5%%", "nan%", "0%", "-1%", "1001%", "", "5 %"):
        refused("--amplitude: ", "b.h5", "no", f"--amplitude={text}")
    refused("--modes: is for a basis", "q.h5", "no", "--modes", 1)
    refused("--amplitude: is for a basis", "q.h5", "no", "--amplitude", "5%")
    refused("--show: is for a basis", "q.h5", "no", "--show", "arrays")
    refused("goes with a trajectory", "b.h5", "no", "--basis", "b.h5")
    refused("no speed of its own", "b.h5", "no", "--fields", "speed")
    with h5py.File("b.h5", "r+") as file:
        file["shapes/0000/modes/modal_matrix"][:, 3] = 0
    got = run("modaldeform", "b.h5", "no", code=3)
    assert not os.path.exists("no") and got.stderr.count("\n") == 1, got


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
