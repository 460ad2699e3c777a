# SPDX-License-Identifier: Apache-2.0
"""modaltled where the critical step falls: an automatic step follows it before anything is wrong, a given one ends the run.
usage: check_tled_follow.py MODALTLED"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from soft_box import box

modaltled = pathlib.Path(sys.argv[1]).resolve()
os.chdir(tempfile.mkdtemp(prefix="tled-follow-"))
MATERIAL = {"young": 1e4, "poisson": 0.45, "density": 1000}


def check(fine, *said):
    assert fine, said


def move(mesh, scene, *words, code=0, out="o.h5", material=MATERIAL):
    with open("scene.json", "w") as f:
        json.dump(scene, f)
    with open("m.json", "w") as f:
        json.dump({"materials": {"a": material}, "default": "a"}, f)
    got = subprocess.run([modaltled, mesh, out, "-f", "--scene", "scene.json", "--materials", "m.json", "--fixed", "low", "--report",
                          "r.json", *map(str, words)], capture_output=True, text=True)
    check(got.returncode == code, words, got.returncode, got.stderr)
    return got.stderr


def result(name="displacements", out="o.h5"):
    with h5py.File(out) as f:
        return f[name][:]


def report():
    with open("r.json") as f:
        return json.load(f)


def fine_motion(mesh, scene, step, times, **more):
    """Of steps of a given length, at these times, between frames of all steps."""
    scene = {k: v for k, v in scene.items() if k != "fps"}
    move(mesh, {**scene, "step": step, "every": 1, "duration": scene["duration"] + 2 * step}, "--arithmetic", "float64", **more)
    t, u = result("times"), result()
    k = np.clip(np.searchsorted(t, times) - 1, 0, len(t) - 2)
    share = ((times - t[k]) / (t[k + 1] - t[k]))[:, None, None]
    return (1 - share) * u[k] + share * u[k + 1]


def squeeze(way, seconds, **more):
    """The top of a cube of 6 cm goes down by `way`."""
    return {"step": "auto", "duration": seconds, "fps": 8 / seconds, "damping": {"alpha": 3}, **more,
            "displacements": [{"nodes": "high", "displacement": [0, 0, -way], "curve": {"smooth": [0, seconds]}}]}


def check_squeezed():
    """Cubes that are pressed to half their height and less within as few as 15 steps at rest's critical step, which falls to a half:
    no element is turned, and the motion is that of a fifth of the step."""
    fibres = {**MATERIAL, "fibres": {"stiffness": 5000, "direction": [0, 0, 1]}}
    for kind, law, material, seconds, arithmetic, bound in (
            ("tet", "neo_hookean", MATERIAL, 0.2, "float32", 2e-4), ("tet", "neo_hookean", MATERIAL, 0.02, "float64", 3e-2),
            ("hex", "neo_hookean", MATERIAL, 0.05, "float64", 8e-3), ("tet", "logarithmic", MATERIAL, 0.05, "float32", 5e-3),
            ("tet", "neo_hookean", fibres, 0.05, "float64", 4e-3)):
        box("q.msh", (5, 5, 5), 0.012, kind, 0.15)
        scene = squeeze(0.03, seconds, law=law)
        said = move("q.msh", scene, "--arithmetic", arithmetic, material=material)
        got, r = result(), report()
        check(r["last_step_s"] < 0.9 * r["step_s"] and "the critical step falls" in said, kind, law, said)
        error = np.abs(got - fine_motion("q.msh", scene, r["last_step_s"] / 5, result("times"), material=material)).max() / np.abs(got).max()
        print("  %s, %s%s, %g s: steps of %.3g to %.3g ms, error %.2g" %
              (kind, law, ", fibres" if "fibres" in material else "", seconds, 1e3 * r["step_s"], 1e3 * r["last_step_s"], error))
        check(error <= bound, kind, law, seconds, error)
        check(r["energy"]["worst_balance_J"] <= 2e-2 * r["energy"]["largest_J"], r["energy"])


def check_stretched():
    """St. Venant-Kirchhoff material is stiffer where it is pulled."""
    box("q.msh", (4, 4, 4), 0.015, "tet", 0.15)
    scene = squeeze(-0.05, 0.1, law="stvk")
    move("q.msh", scene)
    got, r = result(), report()
    check(r["last_step_s"] < 0.9 * r["step_s"], r)
    error = np.abs(got - fine_motion("q.msh", scene, r["last_step_s"] / 5, result("times"))).max() / np.abs(got).max()
    check(error < 1e-2, error)


def check_given():
    """A given step ends the run once it is above the limit, before elements are turned; --unsafe-step warns, and they are."""
    box("q.msh", (4, 4, 4), 0.015, "tet", 0.15)
    scene = squeeze(0.03, 0.2)
    move("q.msh", {**scene, "duration": 0})
    step = 0.98 * report()["critical_step"]["estimate_s"]
    said = move("q.msh", {**scene, "step": step}, code=5)
    check("has fallen below the step" in said and "element " in said and "(step " in said, said)
    said = move("q.msh", {**scene, "step": step}, "--unsafe-step", code=5)
    check(said.index("warning: t = ") < said.index("turned inside out") and "the critical step of the deformed solid is" in said, said)


def check_turned():
    """What no step can prevent still ends with 5, step and element, soon, and leaves no output: here a solid is pressed to nothing, and
    there a node is pulled through its element in one step."""
    box("q.msh", (3, 3, 3), 0.02, "tet", 0.1)
    os.remove("o.h5") if os.path.exists("o.h5") else None
    said = move("q.msh", squeeze(0.09, 0.1), code=5)
    last = said.strip().split("\n")[-1]
    check(("turned inside out, J = -" in last or "a thousandth of the first step" in last) and "element " in last and "(step " in last, said)
    check(report()["steps_done"] < 2000 and not os.path.exists("o.h5"), said)
    jump = {"step": "auto", "steps": 50, "every": 10, "displacements": [{"nodes": "high", "displacement": [0, 0, -0.07],
                                                                          "curve": {"keys": [[0.008, 0], [0.00801, 1]]}}]}
    said = move("q.msh", jump, code=5)
    last = said.strip().split("\n")[-1]
    check("turned inside out, J = -" in last and "element " in last and "(step " in last and "t = 0.008" in last, said)
    check(3 <= said.count("an element was turned") <= 5 and not os.path.exists("o.h5"), said)
    said = move("q.msh", squeeze(0.09, 0.1), "--keep-partial", code=5)
    u = result()
    check(len(u) >= 3 and np.isfinite(u).all(), len(u))


def check_restart():
    """A run that goes on from a checkpoint takes the same shorter steps, to the same bytes; so does one with probes of every step."""
    box("q.msh", (4, 4, 4), 0.015, "tet", 0.15)
    scene = {**squeeze(0.03, 0.1), "probes": [{"name": "top", "nodes": "high"}]}
    os.remove("c.ck") if os.path.exists("c.ck") else None
    move("q.msh", scene, "--checkpoint", "c.ck", "--checkpoint-every", 1)
    times, u = result("times"), result()
    check(report()["last_step_s"] < report()["step_s"], report())
    whole = open("c.ck", "rb").read()
    for share in (0.35, 0.7):
        with open("half.ck", "wb") as f:
            f.write(whole[:int(share * len(whole))])
        said = move("q.msh", scene, "--restart", "half.ck", out="p.h5")
        check("goes on after" in said, said)
        check(np.array_equal(times, result("times", "p.h5")) and np.array_equal(u, result(out="p.h5")), share)
    move("q.msh", scene, "--probes", "p.csv", out="p.h5")
    lines = np.loadtxt("p.csv", delimiter=",", skiprows=1)
    check((np.diff(lines[:, 0]) > 0).all() and abs(lines[-1, 3] + 0.03) < 1e-6, lines[-1])  # up to a step from the end
    check(np.abs(result(out="p.h5") - u).max() < 2e-2 * np.abs(u).max(), "checked at every step")


for test in (check_squeezed, check_stretched, check_given, check_turned, check_restart):
    test()
    print(test.__name__, "ok", flush=True)
