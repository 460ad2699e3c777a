#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What modaldeform --format writes, opened by the programs that people have, and compared frame by frame
and time by time with x = R (X + U q) + p in float64, to 1e-6 of the size.
usage: open_formats.py MODALDEFORM WRITE_SAMPLES paraview|vtkhdf|blender|gltf-validator|meshio PROGRAM [FOLDER]
FOLDER has a sequence with arrays of cells, for vtkhdf.
Exit code 77: skipped, with the reason. PROGRAM is pvpython, blender, or the folder of the npm package; for
vtkhdf pvpython and, after a comma, the root of a system with VTK 9.3 that is entered by chroot."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import check_modaldeform as base
from check_formats import Wanted, WantedVolume, mixed_elements

FRAMES = 12
HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS = os.path.join(os.path.dirname(HERE), "clients")
client, program = sys.argv[3:5]


def must(condition, what):
    if not condition:
        sys.exit(f"open_formats: {client}: {what}")


def skip(why):
    print(f"open_formats: skipped: {why}")
    sys.exit(77)


def start(command, needs=None):
    run = subprocess.run(command, capture_output=True, text=True, timeout=280)
    must(run.returncode == 0 and (needs is None or os.path.exists(needs)),
         f"{command}: exit code {run.returncode}\n{run.stdout[-4000:]}\n{run.stderr[-4000:]}")
    return run.stdout


def compare(wanted, what, name, values):
    wanted.compare(what, name, values.astype("f8"))
    error = np.abs(values - wanted.arrays[name]).max() / (1 if name == "Normals" else wanted.size)
    print(f"open_formats: {client}: {what}: {name}: {len(values)} frames, largest error {error:.1e}")


def play(path):
    """Every frame as the client gives it, in found.npz."""
    pvpython, _, root = program.partition(",")
    reader, away = os.path.join(CLIENTS, "open_in_paraview.py"), None
    if not root:
        return start([pvpython, reader, os.path.abspath(path), "found.npz"], "found.npz")
    with tempfile.TemporaryDirectory(dir=os.path.join(root, "tmp")) as away:
        shutil.copy(path, f"{away}/sequence.vtkhdf")
        shutil.copy(os.path.join(CLIENTS, "open_in_vtk.py"), away)
        inside = "/" + os.path.relpath(away, root)
        text = start(["chroot", root, "python3", f"{inside}/open_in_vtk.py", f"{inside}/sequence.vtkhdf",
                      f"{inside}/found.npz"], f"{away}/found.npz")
        shutil.copy(f"{away}/found.npz", ".")
    return text


def choose_player():
    """`program` with ParaView 5.13 or, else, with the root alone; skips without both."""
    global program
    pvpython, _, root = program.partition(",")
    if shutil.which(pvpython):
        text = subprocess.run([pvpython, "--version"], capture_output=True, text=True, check=True)
        version = re.search(r"(\d+)\.(\d+)", text.stdout + text.stderr)
        if (int(version[1]), int(version[2])) >= (5, 13):
            program = pvpython
            return
    if not os.path.isdir(root):
        skip("neither ParaView 5.13 nor a Debian 13 with VTK 9.3 here (older readers of VTKHDF know no PolyData); "
             f"./run clients makes that in {root}")
    if os.geteuid() != 0:
        skip(f"only root can enter {root}")


def vtkhdf(wanted):
    """The default format, opened as it is: surfaces, rounded surfaces, solids."""
    base.run("long.h5", "h", "--backend", "cpu", "--frames", f":{FRAMES}", "--fields", "displacement,speed",
             "--normals", "dynamic")
    base.run("long.h5", "p", "--backend", "cpu", "--frames", f":{FRAMES}", "--fields", "displacement",
             "--precision", "1e-4")
    for name, allowed in (("h", 0), ("p", 1e-4)):
        print(play(f"{name}/sequence.vtkhdf").strip())
        with np.load("found.npz") as found:
            must(np.array_equal(found["times"], wanted.times), f"{name}: times {found['times']}")
            for array in ("Points", "displacement", "speed", "Normals"):
                if allowed and array in ("speed", "Normals"):
                    continue
                got = np.stack([found[f"{i}/{array}"] for i in range(FRAMES)])
                if not allowed:
                    compare(wanted, name, array, got)
                else:
                    error = np.abs(got - wanted.arrays[array]).max()
                    must(error <= allowed + 1e-6 * wanted.size, f"--precision: {array}: error {error}")
            for i in range(FRAMES):
                must(np.array_equal(found[f"{i}/triangles"], wanted.triangles), f"{name}: triangles")
        os.remove("found.npz")
    solid(("sequence.vtkhdf",))
    cells(os.path.join(sys.argv[5], "sequence.vtkhdf"))


def cells(path):
    """Arrays of cells, bit for bit."""
    play(path)
    with h5py.File(path) as file, np.load("found.npz") as found:
        m = file["VTKHDF/Polygons/NumberOfCells"][0]
        must(len(file["VTKHDF/CellData"]) == 2, "no arrays of cells")
        for name, values in file["VTKHDF/CellData"].items():
            n_frames = len(found["times"])
            for i in range(n_frames):
                must(np.array_equal(found[f"{i}/cells/{name}"], values[i * m:(i + 1) * m]), f"{name}: frame {i}")
            must(np.ptp(values[:m]) > 0 and not np.array_equal(values[:m], values[m:2 * m]), f"{name}: does not move")
    print(f"open_formats: vtkhdf: {n_frames} frames of arrays of cells, the same bits")
    os.remove("found.npz")


def paraview(wanted):
    start([program, "--version"])
    # PLY: ParaView keeps the positions and the normals
    for name, arrays in (("sequence.pvd", ["Points", "Normals", "displacement", "speed"]),
                         ("sequence.ply.series", ["Points", "Normals"])):
        play(f"a/{name}")
        with np.load("found.npz") as found:
            must(np.array_equal(found["times"], wanted.times), f"{name}: times {found['times']}")
            for i in range(FRAMES):
                must(np.array_equal(found[f"{i}/triangles"], wanted.triangles), f"{name}: triangles")
            for array in arrays:
                compare(wanted, name, array, np.stack([found[f"{i}/{array}"] for i in range(FRAMES)]))
        os.remove("found.npz")
    rounded()
    solid()


def solid(names=("sequence.pvd", "sequence.xdmf")):
    """Elements of every kind, as .vtu and through the XDMF sidecar."""
    mixed_elements("basis.h5")
    base.run("long.h5", "v", "--backend", "cpu", "--frames", f":{FRAMES}", "--fields", "displacement", "--output-mesh",
             "volume", "--format", "vtkhdf,vtu")
    wanted = WantedVolume("long.h5", "basis.h5", range(FRAMES))
    for name in names:
        play(f"v/{name}")
        with np.load("found.npz") as found:
            must(np.allclose(found["times"], wanted.times, rtol=1e-12), f"{name}: times {found['times']}")
            for i in range(FRAMES):
                ids, ends = found[f"{i}/connectivity"], found[f"{i}/offsets"]
                cells = [(int(t), tuple(ids[a:b])) for t, a, b in zip(found[f"{i}/types"], ends, ends[1:])]
                must(cells == wanted.cells, f"{name}: cells {cells}\n{wanted.cells}")
            for array in ("Points", "displacement"):
                compare(wanted, f"volume, {name}", array, np.stack([found[f"{i}/{array}"] for i in range(FRAMES)]))
        os.remove("found.npz")


def rounded():
    """--precision: the filters are those that ParaView has."""
    base.run("long.h5", "p", "--backend", "cpu", "--frames", f":{FRAMES}", "--fields", "displacement", "--precision",
             "1e-4")
    print(start([sys.executable, os.path.join(HERE, "open_sequence.py"), "p", program]).strip())


def blender(wanted):
    start([program, "--background", "--factory-startup", "--python-exit-code", "1", "--python",
           os.path.join(CLIENTS, "open_in_blender.py"), "--", os.path.abspath("a"), str(FRAMES), "30",
           os.path.abspath("found.npz")], "found.npz")
    with np.load("found.npz") as found:
        for kind in ("glb", "pc2", "mdd", "obj", "ply"):
            must(np.array_equal(np.sort(found[kind + "/triangles"], axis=1), np.sort(wanted.triangles, axis=1)),
                 f"{kind}: triangles")
            compare(wanted, kind, "Points", found[kind])


def gltf_validator(_):
    script = ("const v = require(process.argv[1]), fs = require('fs');"
              "v.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2])))"
              ".then(r => console.log(JSON.stringify(r)))")
    node = shutil.which("node") or skip("no node")
    for folder, words in (("plain", ()), ("rigid", ("--normals", "rigid")), ("slow", ("--slow-motion", "auto"))):
        base.run("long.h5", folder, "--format", "glb", "--frames", f":{FRAMES}", *words)
    for folder in ("a", "plain", "rigid", "slow"):
        report = json.loads(start([node, "-e", script, os.path.abspath(program), f"{folder}/sequence.glb"]))
        issues = report["issues"]
        must(report["info"]["animationCount"] == 1 and report["info"]["hasMorphTargets"], "no animation")
        must(issues["numErrors"] == 0 and issues["numWarnings"] == 0, f"{folder}: {issues['messages'][:5]}")
    print(f"open_formats: gltf-validator {report['validatorVersion']}: no errors, no warnings")


def meshio(wanted):
    try:
        import meshio as library
    except ImportError:
        skip("no meshio in this Python")
    for kind in ("ply", "obj"):
        points = []
        for i in range(FRAMES):
            mesh = library.read(f"a/{kind}/{i:06d}.{kind}")
            must(np.array_equal(mesh.cells_dict["triangle"], wanted.triangles), f"{kind}: triangles")
            points.append(mesh.points)
            if kind == "ply":
                speed = wanted.arrays["speed"][i]
                must(np.abs(mesh.point_data["speed"] - speed).max() <= 1e-6 * speed.max(), "ply: speed")
        compare(wanted, kind, "Points", np.stack(points))
    base.run("long.h5", "v", "--backend", "cpu", "--frames", f":{FRAMES}", "--output-mesh", "volume", "--format", "vtu")
    solid_wanted = WantedVolume("long.h5", "basis.h5", range(FRAMES))
    meshes = [library.read(f"v/vtu/{i:06d}.vtu") for i in range(FRAMES)]
    for mesh in meshes:
        must([(10, tuple(c)) for c in mesh.cells_dict["tetra"]] == solid_wanted.cells, "vtu: cells")
    compare(solid_wanted, "vtu", "Points", np.stack([m.points for m in meshes]))


def main():
    sys.stdout.reconfigure(line_buffering=True)
    if client in ("paraview", "blender") and not shutil.which(program):
        skip(f"no {client}, {program}")
    if client == "gltf-validator" and not os.path.isdir(program):
        skip(f"no npm package gltf-validator in {program}; ./run clients installs it")
    if client == "vtkhdf":
        choose_player()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([base.write_samples, folder], check=True, stdout=subprocess.DEVNULL)
        base.long_trajectory("long.h5", "basis.h5", 300)
        base.run("long.h5", "a", "--backend", "cpu", "--frames", f":{FRAMES}", "--fields", "displacement,speed",
                 "--format", "glb,pc2,mdd,ply,vtp,obj", "--normals", "dynamic")
        wanted = Wanted("long.h5", "basis.h5", range(FRAMES))
        wanted.add_speed()
        {"paraview": paraview, "vtkhdf": vtkhdf, "blender": blender, "gltf-validator": gltf_validator,
         "meshio": meshio}[client](wanted)
        os.chdir("/")


if __name__ == "__main__":
    main()
