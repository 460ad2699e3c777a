# SPDX-License-Identifier: Apache-2.0
"""modalsim --amplitude: loads of every kind scaled to a displacement; what linear modes do not mean is warned of; and what
is refused.
usage: check_amplitude.py BIN_FOLDER"""
import json
import os
import re
import sys
import tempfile

import h5py
import numpy as np

from basis_file import modal_matrix, node_modes
from stvk_solid import STEEL, Basis, Tools, write_bar

run = Tools(sys.argv[1])
TIMES = ["--duration", 0.02, "--fps", 20000, "--damping-ratio", 0.01]


def read(path):
    with h5py.File(path) as file:
        return file["q"][:], file["provenance"][sorted(file["provenance"])[-1]].attrs["arguments"].decode()


def displacements(basis, q, n_modes):
    """|U q| of [frames, vertices] of each object, over the diagonal of its box."""
    found, first = [], 0
    with h5py.File(basis) as file:
        for i in file["objects/shape"][:]:
            shape = file[f"shapes/{i:04}"]
            u, x = modal_matrix(shape).astype(float), shape["surface/rest_positions"][:]
            own = q[:, first:first + u.shape[2]]
            first += u.shape[2]
            size = np.linalg.norm(x.max(axis=0) - x.min(axis=0))
            found.append(np.linalg.norm(np.einsum("vik,fk->fvi", u, own), axis=2) / size)
    return found


def refused(message, *words, code=2):
    got = run("modalsim", *words, code=code)
    assert got.stderr.startswith("modalsim: ") and got.stderr.rstrip().count("\n") == 0 and message in got.stderr, got
    assert not os.path.exists("no.h5"), words


def check_scenes():
    """Scenes of linear objects that stand still: every kind of load; whatever else moves is refused."""
    def scene(**more):
        with open("scene.json", "w") as file:
            json.dump({"duration": 0.02, "fps": 20000, "damping": {"ratio": 0.01}, **more}, file)

    start = [0] * 6
    start[2] = 1e-3
    every = {"gravity": [0, 3, -9.81],
             "forces": [{"object": 0, "point": [1, 0, 0], "force": [0, 1, 2], "curve": {"sine": {"frequency": 300}}}],
             "base_accelerations": [{"acceleration": [1, 0, 5], "curve": {"sine": {"frequency": 100}}}],
             "impulses": [{"object": 0, "point": [1, 0.2, 0.3], "impulse": [1, 0, -1], "time": 0.003}]}
    for name in [*every, None]:
        scene(**(every if name is None else {name: every[name]}), objects=[{"object": 0, "initial": start}])
        run("modalsim", "b.h5", "q.h5", "--scene", "scene.json", "-f")
        got = run("modalsim", "b.h5", "a.h5", "--scene", "scene.json", "--amplitude", "3.5%", "-f", "--report", "r.json")
        (plain, _), (scaled, arguments) = read("q.h5"), read("a.h5")
        factor = float(arguments.split(" # all loads times ")[1])
        assert json.load(open("r.json"))["load_factor"] == factor and "all loads times" in got.stderr
        assert abs(displacements("b.h5", scaled, 6)[0].max() - 0.035) < 1e-8, name
        assert np.abs(scaled - factor * plain).max() < 1e-9 * np.abs(scaled).max(), name
    for more, why in (({"model": "stvk"}, "stvk"), ({"wind": {"velocity": [1, 0, 0]}}, "wind"),
                      ({"objects": [{"object": 0, "pose_motion": {"spin": {"axis": [0, 0, 1], "rate": 1}}}]}, "moves as a whole")):
        scene(gravity=[0, 0, -9.81], **more)
        refused("--amplitude: is for linear motion: scene.json: ", "b.h5", "no.h5", "--scene", "scene.json", "--amplitude", "5%")
        assert why in run("modalsim", "b.h5", "no.h5", "--scene", "scene.json", "--amplitude", "5%", code=2).stderr
    scene()
    refused("nothing moves", "b.h5", "no.h5", "--scene", "scene.json", "--amplitude", "5%")
    refused("--amplitude: not with --checkpoint", "b.h5", "no.h5", "--scene", "scene.json", "--amplitude", "5%", "--checkpoint", "c.h5")


def main():
    write_bar("bar.msh", (6, 2, 2), (1.0, 0.2, 0.3))
    run("modalpack", "bar.msh", "b.h5", "--fixed", "root", "--modes", 6, *STEEL)
    with open("quake.csv", "w") as file:
        file.write("0,0,0,0\n0.005,1,2,3\n0.01,0,-1,0\n")

    # every load alone and all together: the largest displacement is what was asked for, the motion that of all loads
    # times the factor, which the provenance and the report say
    loads = (["--impulse", "1,0.2,0.3:1,2,-3@0.001"], ["--gravity", "0,3,-9.81"], ["--base-acceleration", "quake.csv"], ["--initial", "2=1e-3"],
             ["--impulse", "1,0.2,0.3:1,2,-3@0.001", "--impulse", "1,0,0:0,0,1", "--gravity", "0,3,-9.81", "--static", "--base-acceleration", "quake.csv"])
    for load in loads:
        run("modalsim", "b.h5", "q.h5", *TIMES, *load, "-f")
        got = run("modalsim", "b.h5", "a.h5", *TIMES, *load, "--amplitude", "3.5%", "-f", "--report", "r.json")
        assert all("the motion is suspect: load_truncation" in line for line in got.stderr.splitlines() if "warning" in line), got
        plain, _ = read("q.h5")
        scaled, arguments = read("a.h5")
        factor = float(re.fullmatch(r"modalsim .* --amplitude 3.5%.* # all loads times (\S+)", arguments)[1])
        assert json.load(open("r.json"))["load_factor"] == factor
        ratio = displacements("b.h5", scaled, 6)[0]
        assert abs(ratio.max() - 0.035) < 1e-9, (load, ratio.max())
        assert np.abs(scaled - factor * plain).max() < 1e-12 * np.abs(scaled).max(), load
        vertex, frame = map(int, re.search(r"vertex (\d+) of object 0 moves by \S+ m in frame (\d+)", got.stderr).groups())
        with h5py.File("b.h5") as file:
            stored = list(file["shapes/0000/surface/user_vertex"][:]).index(vertex)
        assert abs(ratio[frame, stored] - 0.035) < 1e-9
    run("modalsim", "b.h5", "s.h5", "--static", "--gravity", "0,0,-1", "--amplitude", "10%", "-f")
    assert abs(displacements("b.h5", read("s.h5")[0], 6)[0].max() - 0.1) < 1e-9

    # several objects: the one that moves most beside its own size
    write_bar("small.msh", (3, 1, 1), (0.1, 0.02, 0.03))
    run("modalpack", "small.msh", "s.h5", "--fixed", "root", "--modes", 4, *STEEL, "-f")
    with open("places.csv", "w") as file:
        file.write("0,0,-1,0,0,0,0,0,0\n1,1,-1,3,0,0,0,0,0\n")
    for way in ([], ["--link"]):
        run("modalplace", "places.csv", "two.h5", "b.h5", "s.h5", "-f", *way)
        run("modalsim", "two.h5", "a.h5", *TIMES, "--initial", "0=1", "--amplitude", "2%", "-f")
        both = [x.max() for x in displacements("b.h5", read("a.h5")[0][:, :6], 6) + displacements("s.h5", read("a.h5")[0][:, 6:], 4)]
        assert abs(max(both) - 0.02) < 1e-9 and min(both) < 0.02, both

    # beyond what linear modes mean: told with the largest of all frames, and what to use instead
    for share, warned in (("19.9%", False), ("20.1%", True), ("300%", True)):
        got = run("modalsim", "b.h5", "a.h5", *TIMES, "--initial", "0=1", "--amplitude", share, "-f", "--report", "r.json", "--allow-inversion")
        found = re.search(r"warning: object 0: vertex \d+ moves by (\S+) m in frame \d+, (\S+) % of its size", got.stderr)
        assert (found is not None) == warned, got
        if warned:
            assert abs(float(found[2]) / float(share[:-1]) - 1) < 0.01
            assert "--derivatives" in got.stderr and "--scene" in got.stderr and "--amplitude 5%" in got.stderr
            assert abs(json.load(open("r.json"))["largest_displacement"]["share_of_size"] / float(share[:-1]) * 100 - 1) < 1e-9
    run("modalsim", "b.h5", "q.h5", *TIMES, "--initial", "0=1e-6", "-f", "--report", "r.json")
    assert "largest_displacement" not in json.load(open("r.json"))
    with open("places.csv", "w") as file: # of many shapes, too
        file.write("".join(f"{i},{i},-1,{i},0,0,0,0,0\n" for i in range(40)))
    run("modalplace", "places.csv", "many.h5", *["b.h5"] * 40, "-f")
    got = run("modalsim", "many.h5", "a.h5", *TIMES, "--initial", "0=1", "--amplitude", "30%", "-f", "--allow-inversion").stderr
    assert "of its size; linear modes mean less than 20 %" in got and " 30 % of its size" in got, got

    # strains: a stretched bar moves little beside its size. Largest principal strains of all points by numpy bound
    # what is told, and what /quality has; the places that are looked at are some of them
    with h5py.File("b.h5") as file:
        phi = node_modes(file["shapes/0000"]).astype(float)
    basis = Basis("b.h5")
    axial = int(np.argmax([np.abs(p[:, 0]).max() / np.abs(p).max() for p in phi]))
    h = np.einsum("eap,eak->epk", phi[axial][basis.point_nodes], basis.gradients)
    strain = np.abs(np.linalg.eigvalsh((h + h.transpose(0, 2, 1)) / 2)).max()
    for q, warned in ((0.04 / strain, False), (0.07 / strain, True)):
        got = run("modalsim", "b.h5", "a.h5", *TIMES[:4], "--initial", f"{axial}={q!r}", "-f")
        found = re.search(r"warning: the motion is suspect: strain (\S+) in frame (\d+)", got.stderr)
        assert (found is not None) == warned, (q, got)
    assert 0.05 < float(found[1]) < 0.0701, found

    # nothing of it changes the trajectory
    run("modalsim", "b.h5", "no_report.h5", *TIMES, "--initial", "0=1")
    with h5py.File("no_report.h5") as file:
        assert "all loads times" not in str(file["provenance"][sorted(file["provenance"])[-1]].attrs["arguments"])

    # without loads: how far the object is plucked
    run("modalsim", "b.h5", "a.h5", *TIMES, "--amplitude", "5%", "-f")
    plucked, arguments = read("a.h5")
    assert abs(displacements("b.h5", plucked, 6)[0][0].max() - 0.05) < 1e-8 and "# plucked by 5 % of the size" in arguments, arguments

    # what is refused
    for text in ("5", "0%", "-1%", "x%", "", "5%%", "1001%"):
        refused("--amplitude: ", "b.h5", "no.h5", *TIMES, "--initial", "0=1", f"--amplitude={text}")
    refused("nothing moves", "b.h5", "no.h5", *TIMES, "--initial", "0=0", "--amplitude", "5%")
    check_scenes()
    refused("--amplitude: not with --rebase", "b.h5", "no.h5", "--rebase", "a.h5", "--amplitude", "5%")
    refused("--memory-limit", "b.h5", "no.h5", *TIMES, "--initial", "0=1", "--amplitude", "5%", "--memory-limit", "3K", code=4)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
