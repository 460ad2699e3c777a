#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers that float32 cannot hold are refused before a file has them: exit code 3, one line that names frame, object
and vertex, and nothing is left. usage: check_finite.py WRITE_SAMPLES MODALDEFORM [MODALVIEW]"""
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

write_samples, deform, *view = (os.path.abspath(p) for p in sys.argv[1:])
n_runs = 0


def must(condition, what):
    if not condition:
        sys.exit(f"check_finite: {what}")


def run(program, arguments, code, says):
    global n_runs
    n_runs += 1
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120)
    name = os.path.basename(program)
    must(done.returncode == code, f"{name} {arguments}: exit code {done.returncode}, not {code}: {done.stderr}")
    if code:
        lines = [line for line in done.stderr.splitlines() if "the motion is not judged" not in line]  # a note, which old files get, too
        must(len(lines) == 1 and lines[0].startswith(f"{name}: ") and says in lines[0],
             f"{name} {arguments}: does not say {says!r} in one line: {done.stderr}")


def edited(kind, **values):
    """Copies of the samples: basis_ or trajectory_ VALUE is a function that gets the dataset's array."""
    shutil.copy("good/basis.h5", "basis.h5")
    shutil.copy(f"good/{kind}.h5", "traj.h5")
    for name, file in (("basis", "basis.h5"), ("trajectory", "traj.h5")):
        for path, change in values.get(name, {}).items():
            with h5py.File(file, "r+") as f:
                array = f[path][:]
                array = change(array)
                f[path][...] = array


def put(*place):
    def change(array):
        array[place[:-1]] = place[-1]
        return array
    return change


def check_deform(options, says, code=3):
    for back_end in ("cpu", "ref"):
        run(deform, ["traj.h5", "out", "--backend", back_end, *options], code, says)
        must(not os.path.exists("out") or code == 0, f"{options}: something is left: {code}")
        if code == 0 and os.path.exists("out/sequence.vtkhdf"):
            with h5py.File("out/sequence.vtkhdf") as f:
                for array in (f["VTKHDF/Points"], *f["VTKHDF/PointData"].values()):
                    must(np.isfinite(array[:]).all(), f"{options}: not finite")
        shutil.rmtree("out", ignore_errors=True)


def check_view(says, code=3, what="traj.h5"):
    if view:
        run(view[0], [what, "page.html"], code, says)
        must(os.path.exists("page.html") == (code == 0), f"modalview, {says}: a page")
        shutil.rmtree("page.html", ignore_errors=True)
        if code == 0:
            os.remove("page.html")


def check_coordinates():
    """Object 1's in frame 3, in every format."""
    edited("traj")
    with h5py.File("traj.h5") as f:
        at = int(f["mode_offsets"][1])
    edited("traj", trajectory={"q": put(3, at, 1e300)})
    check_deform([], "frame 3, object 1: reduced coordinate 0 = 1e+300 does not fit float32")
    check_deform(["--format", "glb"], "does not fit float32")
    check_view("frame 3, object 1: reduced coordinate 0 does not fit float32")
    edited("traj", trajectory={"q": put(3, at, 3.4e38), "poses": put(3, 1, slice(None), 3, -3.4e38)})
    for form in ("vtkhdf", "pc2", "mdd", "ply", "vtp", "obj"):
        check_deform(["--format", form, "--normals", "none"], "frame 3, object 1, vertex ")
    check_deform(["--frames", "1::2"], "frame 3, object 1, vertex ")
    check_deform(["--precision", "1e-3"], "frame 3, object 1, vertex ")
    check_deform(["--format", "csv", "--probe", "0"], "frame 3, object 1, vertex ")
    check_deform(["--fields", "displacement,speed", "--normals", "none"], "frame ")
    check_deform(["--resume", "--order", "stored"], "frame 3, object 1, vertex ")
    check_view("frame 3, object 1, vertex ")
    edited("traj", trajectory={"poses": put(3, 1, 0, 3, 1e39)})
    check_deform([], "frame 3, object 1: entry 3 of its rigid frame = 1e+39 does not fit float32")
    check_deform(["--format", "glb"], "glb: object 1, frame 3: translation does not fit float32, inf")
    check_view("frame 3, object 1: entry 3 of its rigid frame")


def check_edges():
    """Finite positions whose edges' products overflow: without normals they are fine."""
    edited("traj")
    with h5py.File("traj.h5") as f:
        at = int(f["mode_offsets"][1])
    edited("traj", trajectory={"q": put(3, at, 1e21)})
    for tangents in ([], ["--format", "vtp"]):
        check_deform(tangents, "frame 3, object 1, vertex ")
        check_deform(tangents, "normal: products of edges do not fit float32, nan")
    check_deform(["--normals", "none"], "", 0)
    check_deform(["--normals", "rigid"], "", 0)
    check_deform(["--normals", "none", "--fields", "speed"], "object 1, vertex ")
    check_deform(["--normals", "none", "--fields", "speed"], ": the square of its speed does not fit float32, inf")
    check_view("frame 3, object 1, vertex ")


def check_basis():
    edited("still", basis={"objects/rest_pose": put(2, 1, 3, 1e39)})
    check_deform([], "object 2: entry 7 of its rigid frame = 1e+39 does not fit float32")
    check_deform(["--format", "glb"], "glb: object 2: its rest frame does not fit float32, 1e+39")
    check_deform(["--format", "pc2"], "rest.obj: object 2, vertex ")
    check_view("frame 0, object 2: entry 7 of its rigid frame")
    edited("still", basis={"shapes/0000/surface/rest_positions": put(4, 1, -1e39)})
    check_deform([], "rest position of vertex 4: -1e+39 does not fit float32")
    check_deform(["--format", "glb"], "glb: shape 0, vertex ")
    check_view("shape 0, vertex ")
    check_view("shape 0, vertex ", what="basis.h5")
    modes = "shapes/0001/volume/volume_modes"
    edited("still")
    with h5py.File("basis.h5", "r+") as f:  # in float64, as they may be
        values = put(0, 3, 2, 1e39)(f[modes][:].astype("f8"))
        del f[modes]
        f[modes] = values
    check_deform(["--output-mesh", "volume", "--format", "vtu"], "mode 0 at node 3 does not fit float32, 1e+39")
    with h5py.File("traj.h5") as f:
        at = int(f["mode_offsets"][1])
    edited("still", basis={modes: put(0, 3, 2, 3e38)}, trajectory={"q": put(2, at, 100.)})
    for form in ("vtu", "vtkhdf"):
        check_deform(["--output-mesh", "volume", "--format", form],
                     "frame 2, object 1, vertex 3: position does not fit float32")
    edited("still", basis={"shapes/0000/modes/modal_matrix": put(0, 0, 1, 5, 3e38)}, trajectory={"q": put(2, 0, 2.)})
    check_deform(["--format", "glb"], "glb: shape 0, vertex ")
    check_deform(["--normals", "none"], "frame 2, object 0, vertex ")
    with h5py.File("basis.h5") as f:  # probes alone compute few vertices, and call them as ever
        vertex = int(f["shapes/0000/surface/user_vertex"][5])
    must(vertex not in (0, 5), "the order is the user's: this would prove little")
    check_deform(["--format", "csv", "--normals", "none", "--probe", str(vertex)], f"frame 2, object 0, vertex {vertex}: position does not fit")
    check_deform(["--format", "csv", "--normals", "none", "--order", "stored", "--probe", "5"], "frame 2, object 0, vertex 5: position")


def check_times():
    edited("traj", trajectory={"times": put(-1, 1e300)})
    check_deform(["--format", "vtkhdf,csv", "--probe", "1"], "", 0)
    for form in ("glb", "mdd"):
        check_deform(["--format", form], f"{form}: frame 6: its time does not fit float32, 1e+300")
    check_view("", 0)
    edited("traj", trajectory={"times": lambda t: np.linspace(-1, 1, len(t)) * 1.7e308})
    check_deform(["--fields", "speed"], "times: speed needs their differences, -1.7e+308 to 1.7e+308 s")
    check_view("times: too far apart for a page, -1.7e+308 to 1.7e+308 s")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.mkdir("good")
    subprocess.run([write_samples, "good"], check=True, stdout=subprocess.DEVNULL)
    edited("traj")
    check_deform(["--fields", "displacement"], "", 0)
    check_view("", 0)
    check_coordinates()
    check_edges()
    check_basis()
    check_times()
print(f"{n_runs} runs" + ("" if view else "; SKIPPED: modalview, which is not built"))
