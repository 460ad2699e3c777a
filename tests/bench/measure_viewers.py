# SPDX-License-Identifier: Apache-2.0
"""The plugin of ParaView and the add-on of Blender on large surfaces and a forest: seconds of processor time (all threads) to open, and of a
step, with libmodaltools and with numpy; beside reading the sequence that
modaldeform wrote. Medians, with the least and the most: the machine may be busy.
usage: measure_viewers.py BIN SOURCE LIBRARY|- [paraview] [blender] [forest] [last]; the working folder takes up to 1.5 GB, with `last` 6"""
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

tools, source = map(os.path.abspath, sys.argv[1:3])
library, what = (os.path.abspath(sys.argv[3]) if sys.argv[3] != "-" else ""), sys.argv[4:] or ["paraview", "blender", "forest"]
os.environ["MODALTOOLS_BIN"] = tools
sys.path.insert(0, f"{source}/tools/python")
from modaltools import Basis, Sequence, Trajectory, run  # noqa: E402


def make(name, n, r, frames):
    """n x n vertices, r columns."""
    x, y = np.meshgrid(np.arange(n) / n, np.arange(n) / n, indexing="ij")
    i = np.arange(n * n).reshape(n, n) + 1
    cells = [i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]]
    with open("m.obj", "w", encoding="utf-8") as file:
        np.savetxt(file, np.stack([x, y, 0.1 * np.sin(5 * x * y)], -1).reshape(-1, 3), "v %.9g %.9g %.9g")
        for corners in ((0, 1, 2), (0, 2, 3)):
            np.savetxt(file, np.stack([cells[k] for k in corners], -1).reshape(-1, 3), "f %d %d %d")
    with open("m.U", "wb") as file:
        np.array([3 * n * n, r], np.int32).tofile(file)
        rng = np.random.default_rng(1)
        for _ in range(r):
            rng.normal(size=3 * n * n).tofile(file)
    run("modalpack", "m.obj", f"{name}_b.h5", **{"import": "m.U"})
    basis = Basis(f"{name}_b.h5")
    Trajectory.write(f"{name}.h5", basis, np.arange(frames) / 25, np.random.default_rng(2).normal(size=(frames, r)) * 1e-3)
    os.remove("m.U")


def within(host, jobs, with_library):
    with open("jobs.json", "w", encoding="utf-8") as out:
        json.dump(jobs, out)
    if host == "paraview":
        words = ["pvpython", f"{source}/tests/clients/trajectory_in_paraview.py", f"{source}/tools/paraview/modaltools_reader.py", "jobs.json", "found.npz"]
    else:
        words = ["blender", "--background", "--factory-startup", "--python", f"{source}/tests/clients/trajectory_in_blender.py", "--",
                 f"{source}/tools/blender/modaltools_import", os.path.abspath("jobs.json"), os.path.abspath("found.npz")]
    subprocess.run(words, check=True, capture_output=True, env={**os.environ, "MODALTOOLS_LIBRARY": library if with_library else ""})
    with np.load("found.npz") as found:
        return dict(found)


def ways():
    return [("library", True), ("numpy", False)] if library else [("numpy", False)]


def paraview(name):
    for label, with_library in ways():
        found = within("paraview", [{"do": "times", "as": "t", "file": f"{name}.h5", "steps": 9},
                                    {"do": "times", "as": "p", "file": f"{name}.h5", "steps": 9, "without": ["Normals", "displacement"]}], with_library)
        print(f"paraview, {name}, {label}: opening {found['t/opening'][()]:.2f} s; a step {1e3 * np.median(found['t/steps']):.0f} ms "
              f"({1e3 * found['t/steps'].min():.0f} to {1e3 * found['t/steps'].max():.0f}), with positions alone {1e3 * np.median(found['p/steps']):.0f} ms", flush=True)


def blender(name, **options):
    for label, with_library in ways():
        found = within("blender", [{"do": "empty"}, {"do": "times", "as": "t", "file": os.path.abspath(f"{name}.h5"), "options": options}], with_library)
        print(f"blender, {name}, {label}: {int(found['t/vertices'])} vertices, import {found['t/import'][()]:.2f} s; handler {1e3 * np.median(found['t/handler']):.1f} ms "
              f"({1e3 * found['t/handler'].min():.1f} to {1e3 * found['t/handler'].max():.1f}); with Blender's evaluation "
              f"{1e3 * np.median(found['t/frame_set']):.1f} ms", flush=True)


def last():
    """1e6 vertices, r = 32: until the last of 400 frames has been seen; beside writing the sequence, and reading it in numpy and in ParaView."""
    make("million", 1000, 32, 400)
    size = os.path.getsize("million_b.h5"), os.path.getsize("million.h5")
    steps = {"do": "times", "as": "t", "steps": 399, "without": ["Normals", "displacement"]}
    blender = within("blender", [{"do": "empty"}, {"do": "last", "as": "t", "file": os.path.abspath("million.h5")}], bool(library))["t/wall"]
    paraview = within("paraview", [{**steps, "file": "million.h5"}], bool(library))["t/wall"]
    start = time.time(), os.times().children_user + os.times().children_system
    run("modaldeform", "million.h5", "out", normals="none")
    written = os.times().children_user + os.times().children_system - start[1], time.time() - start[0]
    start = time.time(), time.process_time()
    for points in Sequence("out"):
        np.array(points)
    read = time.process_time() - start[1], time.time() - start[0]
    by_xdmf = within("paraview", [{"do": "times", "as": "t", "steps": 399, "file": os.path.abspath("out/sequence.xdmf")}], False)["t/wall"]
    print(f"1e6 vertices, 400 frames: basis {size[0] / 1e6:.0f} MB, trajectory {size[1] / 1e6:.3f} MB; the sequence "
          f"{os.path.getsize('out/sequence.vtkhdf') / 1e6:.0f} MB; seconds of processor time (of the clock)", flush=True)
    for label, found in (("the trajectory in ParaView", paraview), ("in Blender", blender), ("the sequence written", written), ("read in numpy", read),
                         ("read in ParaView, .xdmf", by_xdmf)):
        print(f"{label}: {found[0]:.1f} ({found[1]:.1f})", flush=True)


with tempfile.TemporaryDirectory(dir=".") as folder:
    os.chdir(folder)
    if "paraview" in what:
        make("dragon", 675, 15, 20)
        paraview("dragon")
    if "blender" in what:
        for name, n in (("hundred", 317), ("fivehundred", 708)):
            make(name, n, 15, 20)
            blender(name)
    if "forest" in what:
        subprocess.run([sys.executable, f"{source}/data/plant.py", "forest", "plants", "--tools", tools, "--duration", "0.4"], check=True, capture_output=True)
        os.replace("plants/plant.h5", "forest_b.h5")
        run("modalsim", "forest_b.h5", "forest.h5", scene="plants/scene.json")
        paraview("forest")
        blender("forest")
    if "last" in what:
        last()
    os.chdir("..")
