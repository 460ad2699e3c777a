# SPDX-License-Identifier: Apache-2.0
"""tools/paraview/modaltools_reader.py in pvpython: a fork, a bridge and a bush, every array against the sequence that modaldeform writes; modes;
state files; filters; pictures of both ways; files that are wrong. usage: check_paraview.py BIN SOURCE PVPYTHON VTK_ROOT [LIBRARY]: 77 where it is absent"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from tool_run import binaries, must, run
from trajectories import keep_velocities

source = os.path.abspath(sys.argv[2])
pvpython, plugin = shutil.which(sys.argv[3] or "-"), f"{source}/tools/paraview/modaltools_reader.py"
root = sys.argv[4] if sys.argv[4:] and os.path.exists(f"{sys.argv[4]}/usr/bin/python3") and os.geteuid() == 0 else None
library = sys.argv[5] if sys.argv[5:] else ""
# which only the library has
NODES = ("strain_nodes", "stress_nodes", "von_mises_nodes", "jacobian_nodes")
CURVATURE = ("k_max", "k_min", "mean_curvature", "gauss_curvature", "direction_max", "direction_min", "curvature_derivative", "boundary")
sys.path.insert(0, f"{source}/tools/python")
from modaltools import Sequence, Trajectory  # noqa: E402

FRAMES = (0, 7, -1)
CLIENT = f"{source}/tests/clients/trajectory_in_paraview.py"


def in_paraview(jobs, screen=False, says=(), by=""):
    with open("jobs.json", "w", encoding="utf-8") as out:
        json.dump(jobs, out)
    words = [pvpython, CLIENT, plugin, "jobs.json", "found.npz"]
    if screen:
        words = ["xvfb-run", "-a", "-s", "-screen 0 640x480x24 -noreset", *words]
    if os.path.exists("found.npz"):
        os.remove("found.npz")
    got = subprocess.run(words, capture_output=True, text=True, timeout=200, env={**os.environ, "PYTHONPATH": "", "MODALTOOLS_LIBRARY": by})
    text = got.stdout + got.stderr
    must(got.returncode == 0 and os.path.exists("found.npz"), text[-3000:])
    for line in says:
        must(line in text, "not said:", line, text[-3000:])
    with np.load("found.npz") as found:
        return dict(found), text


def make():
    """A fork; a bridge of a finer surface; a bush of 60 objects that move."""
    steel = ["--young", 2.06e11, "--poisson", 0.29, "--density", 7850]
    run("modalpack", f"{source}/data/tuning_fork.msh", "fork_b.h5", "--modes", 8, *steel, "--fixed", "stem_end", "-q")
    run("modalsim", "fork_b.h5", "fork.h5", "--duration", 0.001, "--fps", 20000, "--impulse", "0.025,0.152,0.006:-1.5,0,0", "-q")
    bridge()
    run("modalsim", "bridge_b.h5", "bridge.h5", "--duration", 0.4, "--fps", 30, "--initial", "0=3", "--initial", "2=1", "-q")
    subprocess.run([sys.executable, f"{source}/data/plant.py", "bush", "plant", "--tools", binaries, "--duration", "0.3"], check=True,
                   capture_output=True)
    os.replace("plant/plant.h5", "bush_b.h5")
    run("modalsim", "bush_b.h5", "bush.h5", "--scene", "plant/scene.json", "-q")


def bridge():
    """A deck on two piers, of HEX8 in two materials, below a surface of quads with texture coordinates and materials."""
    n = (12, 2, 1)
    number = lambda i, j, k: 1 + (i * (n[1] + 1) + j) * (n[2] + 1) + k
    lines = ["$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n3 1 \"deck\"\n3 2 \"piers\"\n2 3 \"ends\"\n$EndPhysicalNames\n$Nodes",
             str((n[0] + 1) * (n[1] + 1) * (n[2] + 1))]
    lines += [f"{number(i, j, k)} {i} {j} {0.5 * k}" for i in range(n[0] + 1) for j in range(n[1] + 1) for k in range(n[2] + 1)]
    cells = [f"5 2 {2 if i in (0, n[0] - 1) else 1} 1 " + " ".join(
        str(number(i + a, j + b, k + c)) for c in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)))
        for i in range(n[0]) for j in range(n[1]) for k in range(n[2])]
    cells += [f"3 2 3 2 {number(i, j, 0)} {number(i, j + 1, 0)} {number(i, j + 1, 1)} {number(i, j, 1)}" for i in (0, n[0]) for j in range(n[1])]
    lines += ["$EndNodes\n$Elements", str(len(cells)), *(f"{k} {cell}" for k, cell in enumerate(cells, 1)), "$EndElements"]
    with open("bridge.msh", "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    with open("materials.json", "w", encoding="utf-8") as out:
        json.dump({"materials": {"wood": {"young": 1e10, "poisson": 0.3, "density": 500}, "stone": {"young": 5e10, "poisson": 0.2, "density": 2400}},
                   "groups": {"piers": "stone"}, "default": "wood"}, out)
    with open("bridge.obj", "w", encoding="utf-8") as out:  # its top, five times finer, and the other sides
        m = 60
        for k in (0, 1):
            for i in range(m + 1):
                for j in range(11):
                    out.write(f"v {12 * i / m:.9g} {0.2 * j:.9g} {0.5 * k}\nvt {i / m:.9g} {j / 10} \n")
        at = lambda i, j, k: 1 + (k * (m + 1) + i) * 11 + j
        for k, name in ((1, "road"), (0, "below")):
            out.write(f"usemtl {name}\n")
            for i in range(m):
                for j in range(10):
                    quad = [at(i, j, k), at(i + 1, j, k), at(i + 1, j + 1, k), at(i, j + 1, k)]
                    out.write("f " + " ".join(f"{c}/{c}" for c in (quad if k else quad[::-1])) + "\n")
    run("modalpack", "bridge.msh", "bridge_b.h5", "--surface", "bridge.obj", "--materials", "materials.json", "--fixed", "ends", "--modes", 6, "-q")


def close(found, wanted, tolerance, *what):
    must(found.shape == wanted.shape, *what, "shapes", found.shape, wanted.shape)
    scale = np.abs(wanted).max() if wanted.size else 1
    error = np.abs(found - wanted).max() / (scale or 1)
    must(error <= tolerance, *what, "off by", error)
    return error


def joined(found, key, name):
    """An array of all blocks, one after the other."""
    count = len(found[f"{key}/names"])
    return np.concatenate([found[f"{key}/{k}/{name}"] for k in range(count)])


def compare(found, name, solid, native):
    """native: whether fields were asked for that only the library has."""
    sequence = Sequence(f"{name}_{'solid' if solid else 'out'}")
    motion = Trajectory(f"{name}.h5")
    key = f"{name}/{'solid' if solid else 'surface'}"
    must(np.array_equal(found[f"{key}/times"], sequence.times), key, "times")
    worst = {}
    corners = sequence.points[0][sequence.triangles] if not solid else np.zeros((0, 3, 3), "f4")
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    # modaldeform's normals are of edges between rounded world positions
    rounding = max(2e-5, 2.0**-23 * np.abs(sequence.points[0]).max() / edges.min()) if not solid else 0
    with h5py.File(sequence.path) as file:
        root = file["VTKHDF"]
        cells = root["Connectivity"][:] if solid else root["Polygons/Connectivity"][:]
    for f in FRAMES:
        frame = f"{key}/{f}"
        names, points = found[f"{frame}/names"], 0
        must(len(names) == len(motion.offsets) - 1 and len(set(names)) == len(names), key, "blocks", names)
        offset = []
        for k in range(len(names)):
            offset.append(found[f"{frame}/{k}/connectivity"] + points)
            points += len(found[f"{frame}/{k}/Points"])
            must((found[f"{frame}/{k}/cells/object"] == k).all(), key, "object")
        must(np.array_equal(np.concatenate(offset), cells), key, "cells")
        for array in [a for a in sequence.arrays if native or a not in (*NODES, *CURVATURE)]:
            wanted = sequence[array][f]
            is_cell = array in ("strain", "stress", "von_mises", "jacobian")
            size = np.ptp(sequence.points[f], axis=0).max()
            got = joined(found, frame, f"cells/{array}" if is_cell else array)
            scale = size if array in ("Points", "displacement") else max(np.abs(sequence[array]).max(), 1e-30)
            must(np.abs(sequence[array]).max() > 0 or array == "boundary", key, array, "is 0")
            must(array not in CURVATURE or np.array_equal(got, wanted), key, array, f, "not the same bytes")
            error = np.abs(got - wanted).max() / scale
            worst[array] = max(worst.get(array, 0), error)
            bound = {"Normals": rounding, "speed": 2e-5}.get(array, 2e-6 if is_cell or array.endswith("_nodes") else 1e-6)
            must(got.shape == wanted.shape and error <= bound, key, array, f, error)
    print(f"check_paraview: {key}: " + ", ".join(f"{a} {e:.1e}" for a, e in worst.items()))


def picture_job(name, points, **more):
    middle, size = (points.min(axis=0) + points.max(axis=0)) / 2, np.linalg.norm(np.ptp(points, axis=0))
    return {"do": "picture", "as": name, "frame": 7, "eye": (middle + size * np.array([0.8, -1.2, 0.7])).tolist(), "at": middle.tolist(),
            "scale": float(0.4 * size), **more}


def damaged():
    """{name: (properties, message)} of files that are wrong."""
    cases = {}
    os.mkdir("away")
    shutil.copy("fork.h5", "away/moved.h5")
    cases["away/moved.h5"] = ({}, "moved.h5: its basis is not there, ")
    cases["fork.h5"] = ({"Basis": "bridge_b.h5"}, "fork.h5: made for another basis, ")
    with open("fork.h5", "rb") as file:
        data = file.read()
    with open("cut.h5", "wb") as file:
        file.write(data[:len(data) // 2])
    cases["cut.h5"] = ({}, "truncated file")
    shutil.copy("fork.h5", "nan.h5")
    with h5py.File("nan.h5", "r+") as file:
        file["q"][3, 1] = np.nan
    cases["nan.h5"] = ({}, "nan.h5: q: frame 3: not finite")
    shutil.copy("fork_b.h5", "wild_b.h5")
    shutil.copy("fork.h5", "wild.h5")
    with h5py.File("wild_b.h5", "r+") as file:
        file["shapes/0000/surface/triangles"][5, 1] = 1 << 30
    cases["wild.h5"] = ({"Basis": "wild_b.h5"}, "triangles: outside of the vertices")
    with open("text.h5", "w", encoding="utf-8") as file:
        file.write("no HDF5\n")
    cases["text.h5"] = ({}, "text.h5")
    cases["absent.h5"] = ({}, "absent.h5")
    cases["fork_b.h5"] = ({}, "is a basis, not a trajectory")
    return cases


def main():
    make()
    jobs = []
    for name in ("fork", "bridge", "bush"):
        keep_velocities(f"{name}.h5")
        run("modaldeform", f"{name}.h5", f"{name}_out", "--normals", "dynamic", "--fields", ",".join(["displacement,speed", *CURVATURE]), "--backend", "cpu", "-q")
        run("modaldeform", f"{name}.h5", f"{name}_solid", "--output-mesh", "volume", "--fields", "displacement,speed,strain,stress,von_mises,jacobian",
            "--backend", "cpu", "-q")
        for solid in (0, 1):
            key = f"{name}/{'solid' if solid else 'surface'}"
            jobs.append({"do": "open", "as": key, "kind": "trajectory", "file": f"{name}.h5", "properties": {"Mesh": solid},
                         "arrays": ["speed", "strain", "stress", "jacobian", *((*NODES, *CURVATURE) if library else ())]})
            jobs.append({"do": "frames", "reader": key, "as": key, "frames": FRAMES})
    plain = [{**job, "arrays": [a for a in job["arrays"] if a not in (*NODES, *CURVATURE)]} if "arrays" in job else job
             for job in jobs if job["as"].startswith(("bush", "bridge"))]
    # merged; larger than it is; at rest
    jobs += [{"do": "set", "reader": "bush/surface", "properties": {"MergeAbove": 20}},
             {"do": "frames", "reader": "bush/surface", "as": "merged", "frames": [7]},
             {"do": "set", "reader": "bush/surface", "properties": {"MergeAbove": 200, "Blocks": 2, "Amplitude": 3.0}},
             {"do": "frames", "reader": "bush/surface", "as": "larger", "frames": [7]},
             {"do": "set", "reader": "fork/surface", "properties": {"Positions": 1}},
             {"do": "frames", "reader": "fork/surface", "as": "rest", "frames": [7]},
             {"do": "warp", "reader": "fork/surface", "as": "warp", "frame": 7, "point": 555},
             {"do": "set", "reader": "fork/surface", "properties": {"Positions": 0}}]
    # modes
    run("modaldeform", "fork_b.h5", "modes", "--modes", 3, "--amplitude", "10%", "-q")
    jobs += [{"do": "open", "as": "modes", "kind": "basis", "file": "fork_b.h5", "properties": {"Mode": 3, "Amplitude": 0.1, "Phase": 0}},
             {"do": "frames", "reader": "modes", "as": "modes", "frames": [0, 5, 31]},
             {"do": "set", "reader": "modes", "properties": {"Phase": 360 * 5 / 32, "Mesh": 1}}, {"do": "frames", "reader": "modes", "as": "phase", "frames": [0]}]
    # a state file
    jobs += [{"do": "set", "reader": "bush/surface", "properties": {"Amplitude": 2.0, "Blocks": 1}},
             {"do": "frames", "reader": "bush/surface", "as": "before", "frames": [5]},
             {"do": "state", "file": "state.pvsm", "readers": ["bush/surface"]},
             {"do": "frames", "reader": "bush/surface", "as": "after", "frames": [5]}]
    by_numpy, _ = in_paraview(plain)
    for name in ("bush", "bridge"):
        for solid in (False, True):
            compare(by_numpy, name, solid, False)
    found, _ = in_paraview(jobs, by=library)
    if library:
        for key, folder in (("fork/surface", "fork_out"), ("bridge/solid", "bridge_solid")):
            must(all(np.array_equal(joined(found, f"{key}/{i}", "Points"), Sequence(folder).points[i]) for i in FRAMES), key, "not the same bytes")
    for name in ("fork", "bridge", "bush"):
        for solid in (False, True):
            compare(found, name, solid, bool(library))
    bush = Sequence("bush_out")
    close(found["merged/7/0/Points"], bush.points[7], 1e-6, "merged")
    must(len(found["merged/7/names"]) == 1 and found["merged/7/0/cells/object"].max() == 59, "merged: objects")
    motion = Trajectory("bush.h5")
    wanted = motion.basis.deform(3 * motion.q[7], motion.poses[7] if motion.poses is not None else None)
    close(found["larger/7/0/Points"], wanted.astype("f4"), 1e-6, "amplitude")
    close(found["larger/7/0/displacement"], bush["displacement"][7], 1e-6, "amplitude: displacement is that of the motion")
    fork = Sequence("fork_out")
    rest = Trajectory("fork.h5").basis.deform(np.zeros(8))
    close(found["rest/7/0/Points"], rest.astype("f4"), 1e-6, "at rest")
    close(found["warp/warped/Points"], fork.points[7], 1e-6, "Warp By Vector from rest")
    close(found["warp/line"], fork["displacement"][:, 555], 1e-6 * np.ptp(rest) / np.abs(fork["displacement"][:, 555]).max(), "a point over time")
    close(found["warp/extracted"], rest[555:556].astype("f4"), 1e-6, "Extract Selection")
    modes = Sequence("modes")
    for i in (0, 5, 31):
        close(found[f"modes/{i}/0/Points"], modes.points[i], 1e-6, "mode", i)
    run("modaldeform", "fork_b.h5", "modes_solid", "--modes", 3, "--amplitude", "10%", "--output-mesh", "volume", "--fields", "von_mises", "-q")
    solid = Sequence("modes_solid")
    close(found["phase/0/0/Points"], solid.points[5], 1e-6, "phase of a mode")
    close(found["phase/0/0/cells/von_mises"], solid["von_mises"][5], 2e-6, "stress of a mode")
    for k in range(60):
        must(np.array_equal(found[f"after/5/{k}/Points"], found[f"before/5/{k}/Points"]) and len(found[f"before/5/{k}/Points"]) == 25, "state", k)
    # groups and materials
    must(found["fork/surface/7/0/cells/group stem_end"].sum() > 20 and set(np.unique(found["fork/surface/7/0/cells/group stem_end"])) == {0, 1}, "groups")
    material = found["bridge/surface/7/0/cells/material"]
    must(np.array_equal(material, np.repeat([0, 1], len(material) // 2)), "materials of the .obj", material)
    must(found["bridge/solid/7/0/cells/material"].sum() == 4 and found["bridge/solid/7/0/cells/group piers"].sum() == 4, "materials of the solid")
    must(found["bridge/surface/7/0/TextureCoordinates"].shape[1] == 2, "texture coordinates")
    # what is wrong is said, and the host goes on
    for name, (properties, message) in damaged().items():
        jobs = [{"do": "open", "as": "bad", "kind": "trajectory", "file": name, "properties": properties}]
        jobs += [{"do": "open", "as": "good", "kind": "trajectory", "file": "fork.h5"}, {"do": "frames", "reader": "good", "as": "good", "frames": [1]}]
        damage_jobs.extend(jobs)
        messages.append(message)
    damage_jobs.extend([{"do": "open", "as": "moved", "kind": "trajectory", "file": "away/moved.h5", "properties": {"Basis": "fork_b.h5"}},
                        {"do": "frames", "reader": "moved", "as": "moved", "frames": [7]}])
    found, text = in_paraview(damage_jobs, says=messages)
    close(found["moved/7/0/Points"], fork.points[7], 1e-6, "a basis that has moved, named")
    must("Traceback" not in text and len(found["bad/times"]) == 0, "damaged files", text[-2000:])
    close(found["good/1/0/Points"], fork.points[1], 1e-6, "after files that are wrong")
    if shutil.which("xvfb-run"):
        jobs = [{"do": "open", "as": "fork", "kind": "trajectory", "file": "fork.h5"}, picture_job("by_reader", fork.points[7], reader="fork"),
                picture_job("by_sequence", fork.points[7], file=os.path.abspath("fork_out/sequence.xdmf"))]
        found, _ = in_paraview(jobs, screen=True)
        pixels(found["by_reader"].astype(int), found["by_sequence"].astype(int))
    else:
        print("check_paraview: no xvfb-run: pictures are not compared")
    in_vtk()


def pixels(one, other):
    must(one.shape == other.shape == (200, 200, 3) and len(np.unique(one.reshape(-1, 3), axis=0)) > 20, "a picture of nothing")
    off = np.abs(one - other).max(axis=-1)
    print(f"check_paraview: pictures: {100 * (off > 2).mean():.3f} % of pixels differ, by at most {off.max()}")
    must((off > 2).mean() <= 0.001, "pictures of both ways differ")


def in_vtk():
    """The algorithm of VTK 9.3 alone, without ParaView."""
    if root is None:
        print("check_paraview: no VTK 9.3: not tried there")
        return
    with tempfile.TemporaryDirectory(dir=f"{root}/tmp") as inside:
        for name in ("fork.h5", "fork_b.h5"):
            shutil.copy(name, inside)
        shutil.copytree(f"{source}/tools/python/modaltools", f"{inside}/python/modaltools", ignore=shutil.ignore_patterns("__pycache__"))
        os.mkdir(f"{inside}/paraview")
        shutil.copy(plugin, f"{inside}/paraview")
        at = inside[len(root.rstrip("/")):]
        script = f"""
import sys
sys.path.insert(0, {at + '/paraview'!r})
import modaltools_reader as m, numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkVersion
r = m.Trajectory()
r.SetFileName({at + '/fork.h5'!r})
found = []
r.UpdateInformation()
for t in r.GetTimestepValues()[:3]:
    r.UpdateTimeStep(t)
    found.append(vtk_to_numpy(r.GetOutputDataObject(0).GetBlock(0).GetPoints().GetData()).copy())
np.save({at + '/points.npy'!r}, found)
print("VTK", vtkVersion.GetVTKVersion())
"""
        got = subprocess.run(["chroot", root, "python3", "-c", script], capture_output=True, text=True, timeout=120)
        must(got.returncode == 0, got)
        close(np.load(f"{inside}/points.npy"), np.array(Sequence("fork_out").points[:3]), 1e-6, "VTK alone")
        print(f"check_paraview: {got.stdout.strip()} alone: the same points")


damage_jobs, messages = [], []
if not pvpython:
    print("check_paraview: skipped: no pvpython")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
    os.chdir("/")
