# SPDX-License-Identifier: Apache-2.0
"""modalsim --scene: its motions against fully resolved nonlinear finite elements, conservation laws,
manners. usage: check_scene.py BIN_FOLDER PART, PART one of
  solid   large static deflection, transient, order in the step, energy over 1e5 steps
  frames  spinning and driven frames against finite elements in world axes, free bodies
  ground  ground that moves
  chain   objects on objects: against one whole solid; energies; threads, back ends
  manners refusals, failures
  checkpoints the same bytes after a restart, also of what was killed; signals
  cuda    the same motions on a GPU; exit code 77 where there is none"""
import json
import os
import random
import signal
import subprocess
import sys
import time

import h5py
import numpy as np

from scenes import RUBBER, Basis, Full, main, pack, place, run, simulate, small, write_bar


def same_quality(a, b, what, newton):
    """/quality of two back ends, a number at a time: measures agree as q does, to 1e-8 of the largest (or of 1 %, where they are less),
    and worst objects are the same, but where nothing but rounding is measured. What Newton's method leaves is rounding, too: below
    `newton` in both."""
    with h5py.File("run.h5") as f:
        names = f.attrs["quality_columns"].decode().split()
    assert a.shape == b.shape and len(names) == a.shape[1] and np.array_equal(np.isnan(a), np.isnan(b)), (what, np.isnan(a) != np.isnan(b))
    column, seen = dict(zip(names, a.T)), []
    for name, x, y in zip(names, a.T, b.T):
        known = ~np.isnan(x)
        if name.endswith(("_object", "_element")):
            known &= column[name.rsplit("_", 1)[0]] > 1e-9
        if not known.any():
            continue
        x, y = x[known], y[known]
        seen.append(name)
        if name == "newton_residual":
            small([x.max(), y.max()], newton, f"{what}: {name}")
        elif name == "step_reductions" or name.endswith(("_object", "_element")):
            assert np.array_equal(x, y), (what, name, x[x != y], y[x != y])
        else:
            small(np.abs(x - y).max() / max(1e-2, np.abs(x).max()), 1e-8, f"{what}: {name}")
    return seen


def solid():
    write_bar("bar.msh", (6, 1, 1), (1.0, 0.1, 0.12))
    for r in (6, 20, 72):
        pack("bar.msh", f"bar{r}.h5", r)
    pack("bar.msh", "derived.h5", 15, "--derivatives", 5)
    full = Full("bar72.h5")
    g = [0, 1.0, -9.81]
    scene = {"duration": 0, "fps": 1, "model": "stvk", "gravity": g, "static": True,
             "newton": {"tolerance": 1e-12, "iterations": 60}}
    u = full.static(np.array(g))
    assert np.abs(u).max() > 0.15, "not a large deflection"
    errors = []
    for name in ("bar6.h5", "bar20.h5", "derived.h5", "bar72.h5"):
        basis = Full(name)
        got = basis.world(simulate(name, scene), 0) - basis.nodes
        errors.append(np.abs(got - u).max() / np.abs(u).max())
    print("static, against the full solid:", errors)
    small(errors[3], 1e-9, "complete basis, static")
    small(errors[2], 0.02, "modal derivatives, static")
    assert errors[3] < errors[1] < errors[0] and errors[2] < errors[1], errors

    # the transient: the same equations, the same rule, so equal to the tolerance
    still = lambda t: (full.nodes[full.fixed],) + (np.zeros((len(full.fixed), 3)),) * 2
    wanted = full.transient(still, np.zeros(3 * len(full.nodes)), np.array(g), 0.005, 40)
    scene = {"duration": 0.2, "fps": 200, "step": 0.005, "model": "stvk", "gravity": g, "integrator": "newmark",
             "newton": {"tolerance": 1e-11, "iterations": 60}}
    errors = [np.abs(Full(n).world(simulate(n, scene), 40) - wanted).max() / np.abs(wanted - full.nodes).max()
              for n in ("bar6.h5", "bar20.h5", "bar72.h5")]
    small(errors[2], 1e-7, "complete basis, transient")
    assert errors[2] < errors[1] < errors[0], errors

    # order of accuracy of the rules
    kick = [{"object": 0, "initial": [0.3, 0.1, 0, 0.05, 0, 0]}]
    for rule in ("newmark", "generalized-alpha", "energy"):
        ends = []
        for step in (0.002, 0.001, 0.0005, 0.00005):
            scene = {"duration": 0.1, "fps": 10, "step": step, "model": "stvk", "integrator": rule,
                     "objects": kick, "newton": {"tolerance": 1e-12, "iterations": 60}}
            ends.append(simulate("bar6.h5", scene)["q"][1])
        errors = [np.abs(e - ends[3]).max() for e in ends[:3]]
        orders = np.log2(np.array(errors[:-1]) / errors[1:])
        print(rule, "order", orders)
        assert np.all(np.abs(orders - 2) < 0.25), (rule, errors)

    scene = {"duration": 20, "fps": 50, "step": 0.0002, "model": "stvk", "integrator": "energy",
             "objects": kick, "newton": {"tolerance": 1e-12}}
    energy = simulate("bar6.h5", scene)["energy"]
    assert np.ptp(energy[:, 0]) > 0.3 * energy[0, 1]
    small(np.ptp(energy[:, 0] + energy[:, 1]) / energy[0].sum(), 1e-10, "energy drift over 1e5 steps")
    # damping and work: what is in, is there or dissipated
    scene.update(duration=2, damping={"alpha": 1, "beta": 0.002}, gravity=[0, 0, -5],
                 forces=[{"object": 0, "point": [1, 0, 0], "force": [1, 0, 0]},
                         {"object": 0, "point": [1, 0.1, 0.12], "force": [0, 20, 0],
                          "curve": {"sine": {"frequency": 3}}}])
    f = simulate("bar6.h5", scene)["energy"]
    assert f[-1, 2] > 1 and np.ptp(f[:, 3]) > 1
    small(np.ptp(f[:, 0] + f[:, 1] + f[:, 2] - f[:, 3]) / f[:, 2].max(), 1e-9, "energy balance")

    # linear and implicit, against the exact motion of the flags: second order, and impulses come through
    exact = ["--duration", 0.5, "--fps", 10, "--gravity", "0,0,-9.81", "--damping", "0.5,0.001", "--impulse",
             "1,0.1,0.12:0,3,0@0.1"]
    run("modalsim", "bar6.h5", "exact.h5", *exact, "-q")
    with h5py.File("exact.h5") as file:
        wanted = file["q"][:]
    errors = []
    for step in (0.002, 0.001, 0.0005):
        scene = {"duration": 0.5, "fps": 10, "step": step, "gravity": [0, 0, -9.81], "integrator": "newmark",
                 "damping": {"alpha": 0.5, "beta": 0.001},
                 "impulses": [{"object": 0, "point": [1, 0.1, 0.12], "impulse": [0, 3, 0], "time": 0.1}]}
        errors.append(np.abs(simulate("bar6.h5", scene)["q"][2:] - wanted[2:]).max() / np.abs(wanted).max())
    print("linear, against the exact motion:", errors)
    small(errors[2], 2e-3, "linear motion")
    assert errors[2] < errors[1] < errors[0]


def frames():
    write_bar("bar.msh", (6, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar72.h5", 72)
    pack("bar.msh", "free.h5", 20, fixed=False)
    full = Full("bar72.h5")
    g, rate = np.array([0, -3.0, -9.81]), 6.0
    held = full.nodes[full.fixed]

    def spin(t):
        c, s = np.cos(rate * t), np.sin(rate * t)
        turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        w = np.array([[0, -rate, 0], [rate, 0, 0], [0, 0, 0.0]])
        return held @ turn.T, held @ (turn @ w).T, held @ (turn @ w @ w).T

    # a bar on a turning shaft: centrifugal and Coriolis forces, and weight that turns
    begin = np.cross([0, 0, rate], full.nodes).ravel()
    scene = {"duration": 0.1, "fps": 10, "model": "stvk", "gravity": list(g),
             "newton": {"tolerance": 1e-11, "iterations": 60},
             "objects": [{"object": 0, "pose_motion": {"spin": {"axis": [0, 0, 1], "rate": rate}}}]}
    errors = []
    for h in (0.002, 0.001):
        wanted = full.transient(spin, begin, g, h, round(0.1 / h))
        got = full.world(simulate("bar72.h5", dict(scene, step=h)), 1)
        errors.append(np.abs(got - wanted).max())
    small(errors[1], 1e-5, "spinning frame, m")
    assert 3 < errors[0] / errors[1] < 5, errors

    # a shaft that is thrown about: splines through keys, all inertial forces; the same spline here
    keys = [[0, 0, 0, 0, 0, 0, 0], [0.1, 0.05, 0, 0.02, 0.1, 0.3, 0], [0.2, 0, 0.1, 0, 0.3, 0.5, 0.4],
            [0.3, 0, 0, 0.1, 0, 0.2, 0.5]]
    from scipy.interpolate import CubicSpline
    from scipy.spatial.transform import Rotation
    times = np.array(keys)[:, 0]
    turns = Rotation.from_rotvec(np.array(keys)[:, 4:]).as_quat()
    turns[1:] *= np.sign((turns[1:] * turns[:1]).sum(1))[:, None]
    place = CubicSpline(times, np.array(keys)[:, 1:4], bc_type="clamped")
    turn = CubicSpline(times, turns, bc_type="clamped")
    at = lambda t: Rotation.from_quat(turn(t)).apply(held) + place(t)

    def thrown(t):
        d = 1e-4
        t = np.clip(t, 2 * d, 0.3 - 2 * d)
        return (at(t), (8 * (at(t + d) - at(t - d)) - at(t + 2 * d) + at(t - 2 * d)) / (12 * d),
                (16 * (at(t + d) + at(t - d)) - at(t + 2 * d) - at(t - 2 * d) - 30 * at(t)) / (12 * d * d))

    scene["objects"][0]["pose_motion"] = {"keys": keys}
    scene.update(duration=0.2, fps=5, step=0.001)
    wanted = full.transient(thrown, np.zeros(3 * len(full.nodes)), g, 0.001, 200)
    got = full.world(simulate("bar72.h5", scene), 1)
    moved = np.abs(got - full.nodes).max()
    small(np.abs(got - wanted).max() / moved, 2e-3, "driven frame, relative")

    # the energy rule on a turning shaft: the balance of energies closes, whatever the step; on any way it is second order
    turning = {"duration": 1, "fps": 50, "step": 0.002, "model": "stvk", "integrator": "energy", "gravity": [0, 1, -9.81],
               "damping": {"alpha": 0.5}, "newton": {"tolerance": 1e-12, "iterations": 60},
               "objects": [{"object": 0, "initial": [0.3, 0.1, 0, 0.05, 0, 0],
                            "pose_motion": {"spin": {"axis": [0, 0.3, 1], "rate": 7, "centre": [-0.3, 0, 0]}}}]}
    pack("bar.msh", "bar6.h5", 6)
    f = simulate("bar6.h5", turning)
    e = f["energy"]
    assert np.ptp(e[:, 0]) > 10 and np.ptp(e[:, 3]) > 10 and e[-1, 2] > 1, e
    small(np.ptp(e[:, :3].sum(1) - e[:, 3]) / e[:, 0].max(), 1e-11, "energy rule on a turning shaft: balance")
    newmark = simulate("bar6.h5", dict(turning, integrator="newmark"))
    assert f["poses"].tobytes() == newmark["poses"].tobytes()
    turning.update(duration=0.3, fps=10, objects=[{"object": 0, "pose_motion": {"keys": keys}}])
    ends = [simulate("bar6.h5", dict(turning, step=h))["q"][2] for h in (0.002, 0.001, 0.0001)]
    other = simulate("bar6.h5", dict(turning, step=0.0001, integrator="newmark"))["q"][2]
    errors = [np.abs(e - ends[2]).max() for e in ends[:2]]
    small(np.abs(other - ends[2]).max(), 2e-6, "energy rule on a thrown shaft: Newmark's rule with short steps")
    assert 3.5 < errors[0] / errors[1] < 4.5, errors

    # a free body in flight: its centre of mass on a parabola, its energy, its angular momentum
    full, ends = Full("free.h5"), []
    mass = full.m.sum()
    for h in (0.001, 0.0005):
        scene = {"duration": 0.5, "fps": 200, "step": h, "model": "stvk", "gravity": [0, 0, -9.81],
                 "newton": {"tolerance": 1e-11, "iterations": 60},
                 "objects": [{"object": 0, "pose_motion": "free", "velocity": [1, 2, 3],
                              "angular_velocity": [1, 5, 3], "initial": [0.1] + [0] * 19}]}
        f = simulate("free.h5", scene)
        x = np.array([full.world(f, i) for i in range(len(f["times"]))])
        t = f["times"][:, None]
        centre = np.array([(full.m @ p).sum(0) / mass for p in x])
        v0 = np.array([1, 2, 3]) + np.cross([1, 5, 3], (full.m @ x[0]).sum(0) / mass)
        off = np.abs(centre - centre[0] - t * v0 - t * t / 2 * np.array([0, 0, -9.81])).max()
        e = f["energy"]
        balance = np.ptp(e[:, 0] + e[:, 1] - e[:, 3]) / e[0].sum()
        y, h2 = x - centre[:, None], 2 * f["times"][1]
        moments = np.array([np.cross(y[i], full.m @ (y[i + 1] - y[i - 1]) / h2).sum(0)
                            for i in range(1, len(x) - 1)])
        spread = np.abs(moments - moments.mean(0)).max() / np.linalg.norm(moments[0])
        ends.append((off, balance, spread))
    print("free body: centre, energy, angular momentum:", ends)
    small(ends[1][0], 2e-6, "momentum of a free body, m")
    small(ends[1][1], 5e-4, "energy of a free body")
    small(ends[1][2], 5e-3, "angular momentum, by differences of frames")
    assert 3 < ends[0][0] / ends[1][0] < 5, ends
    # damped by alpha M: the whole motion loses speed, that of the frame like that of the modes
    a = 3.0
    f = simulate("free.h5", dict(scene, damping={"alpha": a}))
    x, t = np.array([full.world(f, i) for i in range(len(f["times"]))]), f["times"][:, None]
    centre, lost = np.array([(full.m @ p).sum(0) / mass for p in x]), -np.expm1(-a * t) / a
    want = centre[0] + v0 * lost + np.array([0, 0, -9.81]) * (t - lost) / a
    y, e = x - centre[:, None], f["energy"]
    moments = np.array([np.cross(y[i], full.m @ (y[i + 1] - y[i - 1]) / h2).sum(0) * np.exp(a * f["times"][i]) for i in range(1, len(x) - 1)])
    small(np.abs(centre - want).max(), 2e-6, "damped free body, m")
    small(np.abs(moments - moments.mean(0)).max() / np.linalg.norm(moments[0]), 5e-3, "its angular momentum")
    small(np.ptp(e @ [1, 1, 1, -1]) / e[0].sum(), 5e-4, "its energies")
    # a free body in a frame that stands still is told of, unless the scene says so
    still = {"duration": 0, "fps": 1}
    for more, warned in (({}, True), ({"objects": [{"object": 0, "pose_motion": "fixed"}]}, False)):
        with open("still.json", "w") as file:
            json.dump(dict(still, **more), file)
        said = run("modalsim", "free.h5", "run.h5", "--scene", "still.json", "--force").stderr
        assert ("warning: free.h5: object 0 is a free body and only deforms" in said) == warned, said
    # without forces: at rest, for ever
    f = simulate("free.h5", {"duration": 1, "fps": 10, "model": "stvk", "objects": [{"object": 0, "pose_motion": "free"}]})
    assert np.all(f["q"] == 0) and np.ptp(f["poses"], axis=0).max() == 0


def chain():
    write_bar("long.msh", (12, 2, 2), (2.0, 0.1, 0.12))
    write_bar("half.msh", (6, 2, 2), (1.0, 0.1, 0.12))
    for name in ("long", "half"):
        pack(f"{name}.msh", f"{name}.h5", 20)
    pack("half.msh", "loose.h5", 8, fixed=False)
    place("chain", [(0, -1, 0, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0, 0)], "half.h5")
    whole, half = Basis("long.h5"), Basis("half.h5")

    def tip(name, f, i):
        if name == "long":
            return (whole.nodes + np.tensordot(f["q"][i], whole.modes, 1))[-1]
        x = half.nodes[-1] + np.tensordot(f["q"][i][20:], half.modes, 1)[-1]
        return f["poses"][i, 1][:, :3] @ x + f["poses"][i, 1][:, 3]

    motion, first = {}, {}
    for name in ("long", "chain"):
        base = {"gravity": [0, 0, -0.3], "newton": {"iterations": 60, "tolerance": 1e-10}}
        f = simulate(f"{name}.h5", dict(base, duration=0, fps=1, static=True))
        first[name] = tip(name, f, 0)[2] - 0.12
        f = simulate(f"{name}.h5", dict(base, duration=4, fps=100, step=0.005))
        motion[name] = np.array([tip(name, f, i)[2] for i in range(401)]) - 0.12
        e = f["energy"]
        small(np.ptp(e[:, 0] + e[:, 1] - e[:, 3]) / e[:, 3].max(), 1e-5, f"{name}: energy balance")
    small(abs(first["chain"] / first["long"] - 1), 0.04, "chain: static deflection of its tip")
    small(np.abs(motion["chain"] - motion["long"]).max() / np.abs(motion["long"]).max(), 0.25, "chain: motion")
    lowest = lambda z: np.argmin(z[:300])
    small(abs(lowest(motion["chain"]) / lowest(motion["long"]) - 1), 0.04, "chain: period")

    # an equilibrium that Newton's method finds by parts of the loads alone: the run that begins there stays there
    write_bar("short.msh", (4, 1, 1), (1.0, 0.1, 0.12))
    pack("short.msh", "short.h5", 5)
    place("three", [(0, -1, 0, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0, 0), (0, 1, 2, 0, 0, 0, 0, 0)], "short.h5")
    hang = {"duration": 0.2, "fps": 10, "step": 0.01, "model": "stvk", "gravity": [0, 0, -20], "static": True}
    f = simulate("three.h5", hang)
    assert f["poses"][0, 2, 2, 3] < -0.8, f["poses"][0]
    small(np.ptp(f["q"], axis=0).max() / np.abs(f["q"]).max(), 1e-6, "equilibrium of three bars, moved")
    said = simulate("three.h5", dict(hang, newton={"max_halvings": 0}), code=5)
    assert "t = 0 s: its parent's interface is turned inside out on the way to equilibrium, at 1 of the loads" in said, said
    assert said.endswith("; try smaller loads or stiffer material\n"), said

    # a free tree with two branches, one on the other: momentum of all together
    place("tree", [(1, -1, 0, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0.3, 0), (0, 1, 1.95, 0, -0.2, 1, 0, 0.5),
                   (0, 0, 0.5, 0.1, 0, 0, 0, 1.5)], "half.h5", "loose.h5")
    mass, drift = None, []
    for step, alpha in ((0.001, 0), (0.0005, 0), (0.0005, 2)):
        scene = {"duration": 0.5, "fps": 100, "step": step, "model": "stvk", "damping": {"alpha": alpha},
                 "newton": {"iterations": 60, "tolerance": 1e-11},
                 "objects": [{"object": 0, "pose_motion": "free", "velocity": [1, 0, 0],
                              "angular_velocity": [0, 0.5, 2]}]}
        f = simulate("tree.h5", scene)
        solids = [Full("loose.h5"), Full("half.h5"), Full("half.h5"), Full("half.h5")]
        offsets = np.cumsum([0] + [len(s.modes) for s in solids])
        centre = []
        for i in range(len(f["times"])):
            total, sum_ = 0, 0
            for o, s in enumerate(solids):
                x = s.nodes + np.tensordot(f["q"][i][offsets[o]:offsets[o + 1]], s.modes, 1)
                x = x @ f["poses"][i, o][:, :3].T + f["poses"][i, o][:, 3]
                sum_, total = sum_ + (s.m @ x).sum(0), total + s.m.sum()
            centre.append(sum_ / total)
        centre, h = np.array(centre), f["times"][1]
        bend = np.diff(centre, n=2, axis=0) / h ** 2 + alpha * (centre[2:] - centre[:-2]) / (2 * h)
        e = f["energy"]
        drift.append((np.abs(bend).max(), np.ptp(e @ [1, 1, 1, 0]) / e[0].sum()))
    assert (e[-1, 0] + e[-1, 1]) < 1.05 * np.exp(-2 * 2 * 0.5) * e[0].sum(), e
    print("free tree: acceleration of the centre of mass, energy; damped:", drift)
    small(drift[2][0], 1e-2, "free tree, damped: acceleration of its centre of mass less that of damping, m/s^2")
    small(drift[2][1], 1e-3, "free tree, damped: energy")
    small(drift[1][0], 1e-2, "free tree: acceleration of its centre of mass, m/s^2")
    small(drift[1][1], 1e-3, "free tree: energy")
    assert drift[1][0] < 0.4 * drift[0][0], drift

    # wind: the same seed, the same bytes, whatever the threads; another seed, another motion
    scene = {"duration": 0.3, "fps": 50, "step": 0.005, "model": "stvk", "gravity": [0, 0, -1],
             "damping": {"alpha": 0.5, "beta": 0.001},
             "wind": {"velocity": [5, 2, 0], "turbulence": 1, "scale": 2, "seed": 3}}
    results = [simulate("tree.h5", scene, *more, more=("quality",)) for more in (["-j", 1], ["-j", 2], ["--backend", "ref"])]
    for key in results[0]:
        assert results[0][key].tobytes() == results[1][key].tobytes(), key
        if key != "quality":
            small(np.abs(results[2][key] - results[0][key]).max() / np.abs(results[0][key]).max(), 1e-9, f"ref: {key}")
    same_quality(results[0]["quality"], results[2]["quality"], "ref", 1e-8)
    with open("run.h5", "rb") as file:
        first = file.read()
    simulate("tree.h5", scene, "--backend", "ref")
    with open("run.h5", "rb") as file:
        assert file.read() == first
    scene["wind"]["seed"] = 4
    assert np.abs(simulate("tree.h5", scene)["q"] - results[0]["q"]).max() > 1e-4


def ground():
    """Ground that moves is the same motion as frames that are driven so, seen from them."""
    write_bar("bar.msh", (6, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar.h5", 8)
    place("pair", [(0, -1, 0, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0.3, 0)], "bar.h5")
    times = np.array([0, 0.05, 0.1, 0.2, 0.35])
    ways = np.array([[0, 0, 0], [0.02, 0, 0.05], [0, 0.03, 0], [-0.05, 0, 0.01], [0, 0, 0.1]])
    from scipy.interpolate import CubicSpline
    way = CubicSpline(times, ways, bc_type="clamped")
    # its second derivative goes straight from key to key; one load an axis, or a record
    curve = lambda axis: {"keys": [[t, a] for t, a in zip(times, way(times, 2)[:, axis])]}
    axes = [{"acceleration": list(np.eye(3)[axis]), "curve": curve(axis)} for axis in range(3)]
    with open("record.csv", "w") as file:
        file.write("t,ax,ay,az\n" + "".join(f"{t!r},{x!r},{y!r},{z!r}\n" for t, (x, y, z) in
                                            zip(times.tolist(), way(times, 2).tolist())))
    common = {"duration": 0.3, "fps": 50, "gravity": [0, 0, -3], "damping": {"alpha": 0.5},
              "newton": {"tolerance": 1e-12, "iterations": 60}}
    driven = [{"object": 0, "pose_motion": {"keys": [[t, *p, 0, 0, 0] for t, p in zip(times, ways)]}}]
    for name, basis, more in (("tree, large", "pair.h5", {"model": "stvk", "step": 0.002}),
                              ("energy rule", "bar.h5", {"model": "stvk", "step": 0.002, "integrator": "energy"}),
                              ("exact", "bar.h5", {})):
        wanted = simulate(basis, dict(common, **more, objects=driven))
        assert np.abs(wanted["q"]).max() > 0.01
        for loads in (axes, [{"file": "record.csv"}]):
            got = simulate(basis, dict(common, **more, base_accelerations=loads))
            small(np.abs(got["q"] - wanted["q"]).max() / np.abs(wanted["q"]).max(), 1e-9, f"moving ground, {name}")
            if "poses" in got:
                off = wanted["poses"] - got["poses"]
                off[..., 3] -= way(got["times"])[:, None]
                small(np.abs(off).max(), 1e-9, f"moving ground, {name}: frames")
    # and as the flags have it, from the equilibrium under the first sample
    run("modalsim", "bar.h5", "flags.h5", "--duration", 0.3, "--fps", 50, "--gravity", "0,0,-3", "--damping", "0.5,0",
        "--base-acceleration", "record.csv", "--static", "-q")
    got = simulate("bar.h5", dict(common, static=True, base_accelerations=[{"file": "record.csv"}]))
    with h5py.File("flags.h5") as file:
        small(np.abs(got["q"] - file["q"][:]).max() / np.abs(got["q"]).max(), 1e-12, "moving ground, flags")
    for item, words in (({}, "needs either acceleration, with or without curve, or file"),
                        ({"acceleration": [1, 0, 0], "file": "record.csv"}, "/0: needs either acceleration"),
                        ({"curve": {"sine": {"frequency": 1}}}, "/0: needs either acceleration"),
                        ({"acceleration": 9.81}, "/0/acceleration: not 3 numbers (in m/s^2), 9.81"),
                        ({"acceleration": [1, 0, 0], "phase": 1}, "/0/phase: unknown key"),
                        ({"file": "absent.csv"}, "absent.csv: cannot open")):
        said = simulate("bar.h5", dict(common, base_accelerations=[item]), code=3)
        assert words in said and said.count("\n") == 1, (words, said)


def pair():
    """Two bars, one on the other, in pair.h5; their scene."""
    write_bar("bar.msh", (4, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar.h5", 5)
    place("pair", [(0, -1, 0, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0, 0)], "bar.h5")
    return {"duration": 0.2, "fps": 100, "model": "stvk", "gravity": [0, 0, -9.81],
            "wind": {"velocity": [5, 0, 0], "turbulence": 1}, "objects": [{"object": 1}]}


def manners():
    good = pair()
    run("modalpack", "bar.msh", "plain.h5", *RUBBER, "--modes", 5, "--fixed", "root", "-q")
    key = [[0, 0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0]]
    for path, value, words in (
            ("gravitation", 1, "/gravitation: unknown key, there are: duration fps"),
            ("gravity", "9.81 m/s^2", "/gravity: not 3 numbers (in m/s^2), \"9.81 m/s^2\""),
            ("gravity", [0, 0], "/gravity: not 3 numbers (in m/s^2), [0,0]"),
            ("fps", "60", "/fps: not a number (in 1/s, without the unit), \"60\""),
            ("fps", 0, "/fps: must be in"), ("duration", -1, "/duration: must be in"),
            ("model", "neo-hookean", "/model: neither"), ("integrator", 3, "/integrator: not a text, 3"),
            ("spectral_radius", 1.1, "/spectral_radius: "), ("tolerance", 0, "/tolerance: "),
            ("integrator", "energy", "moves objects in fixed or driven frames, object 1 is attached; try "),
            ("static", 1, "/static: not true or false, 1"), ("newton", {"iterations": 0}, "/newton/iterations: must"),
            ("wind", {"velocity": [1, 0, 0], "seed": 1.5}, "/wind/seed: not a whole number, 1.5"),
            ("wind", {}, "/wind: \"velocity\" is missing"),
            ("objects", [{"object": 9}], "objects[0]: the basis has objects 0 .. 1, 9"),
            ("objects", [{"object": 0}, {"object": 0}], "/objects/1: object 0 is there twice, in /objects/0, too"),
            ("objects", [{"object": 9}, {"object": 0}], "objects[0]: the basis has objects 0 .. 1, 9"),
            ("impulses", [{"object": 9, "vertex": 0, "impulse": [0, 0, 1]}], "impulses[0]: the basis has objects 0 .. 1, 9"),
            ("objects", [{"object": 0, "pose_motion": "attached"}], "object 0: attached, but it has no parent"),
            ("objects", [{"object": 0, "velocity": [1, 0, 0]}], "/objects/0/velocity: only an object whose"),
            ("objects", [{"object": 1, "initial": [1]}], "objects[0]: 1 initial values, object 1 has 5 modes"),
            ("objects", [{"object": 1, "pose": {"position": [0, 0, 0]}}], "objects[0]: a pose is given"),
            ("objects", [{"object": 0, "pose_motion": {"keys": key[::-1]}}], "/objects/0/pose_motion/keys/1: times must incr"),
            ("objects", [{"object": 0, "pose_motion": {"spin": {"axis": [0, 0, 0], "rate": 1}}}], "axis: has no direction"),
            ("objects", [{"object": 0, "pose_motion": {"keys": [key[0], [1, 0, 0, 0, 0, 0, 3.3]]}}],
             "objects[0]: motion: key 1: more than half a turn from the key before it"),
            ("objects", [{"object": 0, "pose_motion": {"file": "absent.csv"}}], "absent.csv"),
            ("objects", [{"object": 0, "pose_motion": {"file": ""}}], "/objects/0/pose_motion/file: an empty text"),
            ("objects", [{"object": 0, "damping": 0.1}], "/objects/0/damping: not an object, 0.1\n"),
            ("forces", [{"object": 0, "force": [0, 0, 1]}], "/forces/0: needs exactly one of vertex, point, group"),
            ("forces", [{"object": 0, "vertex": 999, "force": [0, 0, 1]}], "forces[0]: object 0 has vertices 0 .."),
            ("forces", [{"object": 0, "point": [1000, 50, 60], "force": [0, 0, 1]}],
             "forces[0]: no vertex of object 0, which is 1.012 m large, is near the point; the nearest, 1002 m"),
            ("forces", [{"object": 0, "group": "no", "force": [0, 0, 1]}], "has no group of this name, \"no\"; there are: "),
            ("forces", [{"object": 0, "vertex": 0, "force": [0, 0, 1], "curve": {"keys": [[0, 1]]}}], "too few"),
            ("forces", [{"object": 0, "vertex": 0, "force": [0, 0, 1], "curve": {"keys": [[5, 0], [6, 1]]}}],
             "/forces/0: would change nothing, it acts at no time from 0 to 0.2 s"),
            ("forces", [{"object": 0, "vertex": 0, "force": [0, 0, 1], "curve": {"sine": {"frequency": 0}}}], "/forces/0: would change nothing"),
            ("base_accelerations", [{"acceleration": [1, 0, 0], "curve": {"keys": [[-2, 1], [-1, 1]]}}], "/base_accelerations/0: would change nothing"),
            ("forces", [{"object": 0, "group": "root", "force": [0, 0, 1]}],
             "forces[0]: moves nothing: object 0 stands still, and the nodes that it acts on are held in its direction"),
            ("impulses", [{"object": 0, "vertex": 0, "impulse": [0, 0, 1], "time": 1}], "would change nothing")):
        said = simulate("pair.h5", dict(good, **{path: value}), code=3)
        assert words in said and said.count("\n") == 1 and said.startswith("modalsim: "), (words, said)
        assert not os.path.exists("run.h5"), words
    said = simulate("pair.h5", dict(good, wind={"velocity": [1, 0, 0], "sale": 1}), code=3)
    line = open("run.json").read().split("\n").index('  "sale": 1') + 1
    assert f"run.json:{line}: /wind/sale" in said, (line, said)
    # what only the basis tells to be wrong has its line, too
    for more, last in (({"objects": [{"object": 0}, {"object": 9}]}, '   "object": 9'),
                       ({"objects": [], "forces": [{"object": 0, "vertex": 0, "force": [0, 0, 1]},
                                                   {"object": 0, "vertex": 999, "force": [0, 0, 1]}]}, '   "vertex": 999,'),
                       ({"objects": [{"object": 1, "initial": [1, 2]}]}, '   "object": 1,')):
        said = simulate("pair.h5", dict(good, **more), code=3)
        lines = open("run.json").read().split("\n")
        item = max(i for i in range(lines.index(last)) if lines[i] == "  {") + 1
        assert f"modalsim: run.json:{item}: {list(more)[-1]}[" in said, (item, said)
    # a load that ends before the scene, and an object far from its parent: a warning each; held nodes of an attached object load its parent
    ramp = {"object": 0, "point": [1, 0.05, 0.06], "force": [0, 0, 1], "curve": {"keys": [[0, 0], [0.1, 2]]}}
    place("far", [(0, -1, 0, 0, 0, 0, 0, 0), (0, 0, 500, 0, 0, 0, 0, 0)], "bar.h5")
    for basis, more, said in (
            ("pair.h5", {"forces": [ramp]}, "run.json: forces[0]: a curve ends at 0.1 s with the value 2; from there to 0.2 s it is 0"),
            ("pair.h5", {"base_accelerations": [{"acceleration": [1, 0, 0], "curve": ramp["curve"]}]}, "base_accelerations: a curve ends at 0.1 s"),
            ("far.h5", {}, "far.h5: object 1 hangs on object 0, whose nearest vertex is 499 m away; they are 1.012 m and 1.012 m large; 1 such"),
            ("pair.h5", {"forces": [{"object": 1, "group": "root", "force": [0, 0, 1]}]}, "")):
        with open("run.json", "w") as file:
            json.dump(dict(good, duration=0.2, fps=5, **more), file)
        got = [line for line in run("modalsim", basis, "x.h5", "--scene", "run.json", "-f").stderr.split("\n") if "a curve ends" in line or "hangs" in line]
        assert (len(got) == 1 and said in got[0]) if said else not got, (more, got)
    os.remove("x.h5")
    # a byte order mark, as some editors leave it; and rotation vectors of more than a turn
    open("run.json", "w").write("\ufeff" + json.dumps({"duration": 0, "fps": 1}))
    run("modalsim", "pair.h5", "x.h5", "--scene", "run.json", "-q")
    os.remove("x.h5")
    turns = [[t, 0, 0, 0, 0, 0, 2.0 * t] for t in range(9)]
    wrapped = [[*k[:6], (k[6] + np.pi) % (2 * np.pi) - np.pi] for k in turns]
    a, b = (simulate("pair.h5", dict(good, duration=8, fps=5, step=0.1, gravity=[0, 0, 0], wind={"velocity": [0, 0, 0]},
                                     objects=[{"object": 0, "pose_motion": {"keys": k}}])) for k in (turns, wrapped))
    small(np.abs(a["poses"] - b["poses"]).max(), 1e-12, "keys in the next turn")
    os.remove("run.h5")
    for text, words in (("", "run.json: empty file"), ("{", "run.json:1: "), ('{"duration": 1, "duration": 2}', "duplicate"), ("[]", "not an object")):
        open("run.json", "w").write(text)
        got = run("modalsim", "pair.h5", "x.h5", "--scene", "run.json", code=3)
        assert words in got.stderr and got.stderr.count("\n") == 1, (text, got)
    assert "no reduced forces in the basis" in simulate("plain.h5", dict(good, objects=[]), code=3)
    got = run("modalsim", "pair.h5", "x.h5", "--scene", "run.json", "--gravity", "0,0,1", code=2)
    assert "--gravity: belongs into the scene" in got.stderr
    assert "--checkpoint: needs --scene" in run("modalsim", "bar.h5", "x.h5", "--static", "--checkpoint", "c", code=2).stderr
    for parent in ("1,0,1,0,0,0,0,0,0", "1,0,2,0,0,0,0,0,0", "1,3,0,0,0,0,0,0,0", "2,0,0,0,0,0,0,0,0"):
        open("bad.csv", "w").write("0,0,-1,0,0,0,0,0,0\n" + parent + "\n")
        assert "object 1: " in run("modalplace", "bad.csv", "bad.h5", "bar.h5", code=3).stderr
    open("bad.csv", "w").write("0,0,-1,0,0,0,0,0,0\n0,0,-1,0,0,0,0,0,0\n")
    assert "bad.csv: object 1: objects count from 0 in order, 0\n" in run("modalplace", "bad.csv", "bad.h5", "bar.h5", code=3).stderr
    open("bad.csv", "w").write("object,shape,parent,x,y,z,rx,ry,rz\n")
    assert "bad.csv: needs at least a line of numbers, 0\n" in run("modalplace", "bad.csv", "bad.h5", "bar.h5", code=3).stderr
    assert not os.path.exists("bad.h5")
    open("one.csv", "w").write("0,0,-1,1,2,3,0,0,0\n")
    assert "modalplace: 1 object of 1 shape, " in run("modalplace", "one.csv", "one.h5", "bar.h5").stderr
    with h5py.File("one.h5") as file:
        assert np.array_equal(file["objects/rest_pose"][0, :, 3], [1, 2, 3])

    # a motion that cannot go on: where, when, what to try; the part that is done only when asked for
    wild = dict(good, newton={"iterations": 8, "max_halvings": 1}, wind={"velocity": [0, 0, 0]},
                forces=[{"object": 1, "point": [2, 0, 0], "force": [0, 0, 1e12],
                         "curve": {"keys": [[0.05, 0], [0.1, 1]]}}])
    said = simulate("pair.h5", wild, code=5)
    assert "object " in said and ": t = 0.0" in said and "try " in said and not os.path.exists("run.h5"), said
    simulate("pair.h5", wild, "--keep-partial", code=5)
    with h5py.File("run.h5") as f:
        done = len(f["times"])
        assert 5 <= done < 12 and f["q"].shape[0] == done == len(f["energy"]), done
    said = run("modalinfo", "--check", "run.h5").stdout # such a force asks for more modes than there are
    assert said.endswith("valid trajectory, rating suspect\n") and "load_truncation" in said, said
    with open("piped.h5", "wb") as file:
        assert subprocess.run([str(run.folder / "modalsim"), "pair.h5", "-", "--scene", "run.json", "--keep-partial"],
                              stdout=file, stderr=subprocess.DEVNULL, check=False).returncode == 5
    with h5py.File("run.h5") as f, h5py.File("piped.h5") as g:
        assert all(f[name][:].tobytes() == g[name][:].tobytes() for name in ("times", "q", "poses", "energy"))

    # the kinds of failure: an interface that is turned inside out, values that overflow, Newton's method
    bend = {"duration": 0.1, "fps": 100, "objects": [{"object": 0, "initial": [0, 0, 30, 0, 0]}]}
    said = simulate("pair.h5", dict(bend, model="stvk"), code=5)
    assert "object 1: t = 0 s: its parent's interface is turned inside out; try smaller" in said, said
    bend["objects"] = [{"object": 1, "initial_velocity": [1e160] * 5}]
    said = simulate("pair.h5", dict(bend, model="stvk"), code=5)
    assert "object 1: t = 0 s: not finite or not stable" in said and "; try a smaller step" in said, said
    bend.update(objects=[{"object": 0, "initial_velocity": [20] * 5}], newton={"iterations": 1, "max_halvings": 2})
    said = simulate("pair.h5", dict(bend, model="stvk"), code=5)
    assert "Newton's method stopped at a residual of" in said and "(halved 2 times); try a smaller step" in said, said


def checkpoints():
    good = pair()
    whole = simulate("pair.h5", good, "--checkpoint", "c.h5", "--checkpoint-every", 8)
    with h5py.File("c.h5") as f:
        assert sorted(f["n_frames"][:]) == [8, 16] and f["q"].shape == whole["q"].shape
        assert np.array_equal(f["q"][:16], whole["q"][:16]) and not f["q"][16:].any()

    def the_same(wanted, *more, scene=good):
        again = simulate("pair.h5", scene, *more)
        for name in wanted:
            assert wanted[name].tobytes() == again[name].tobytes(), (name, more)

    the_same(whole, "--restart", "c.h5")
    the_same(whole, "--restart", "c.h5", "--checkpoint", "c.h5", "--checkpoint-every", 3)
    with h5py.File("c.h5") as f:
        assert sorted(f["n_frames"][:]) == [18, 21] and np.array_equal(f["q"][:], whole["q"])
    the_same(whole, "--restart", "c.h5")
    assert "made with another scene" in simulate("pair.h5", dict(good, fps=50), "--restart", "c.h5", code=3)
    # the later state broke off: the earlier one
    with h5py.File("c.h5", "r+") as f:
        f["state_1"][int(np.argmax(f["n_frames"][:])), -1] += 1
    the_same(whole, "--restart", "c.h5")
    said = run("modalsim", "pair.h5", "r.h5", "--scene", "run.json", "--restart", "c.h5").stderr
    assert "c.h5: goes on after frame 17\n" in said, said
    with open("c.h5", "r+b") as file:
        file.truncate(5000)
    assert "c.h5" in simulate("pair.h5", good, "--restart", "c.h5", code=3)
    # it is refused before the motion, not after a hundred frames
    words = [str(run.folder / "modalsim"), "pair.h5", "r2.h5", "--scene", "run.json", "--checkpoint", "c.h5"]
    got = subprocess.run(words, capture_output=True, text=True, check=False)
    assert got.returncode == 2 and got.stderr == "modalsim: c.h5: exists (--force replaces it)\n", got

    # killed at any moment: what is there goes on to the same bytes
    sudden = dict(good, duration=3)
    wanted = simulate("pair.h5", sudden)
    os.remove("c.h5")
    words = [*words, "--checkpoint-every", "1", "-f", "-q"]
    chance, reached = random.Random(5), 0
    for _ in range(4):
        begun = os.path.exists("c.h5")
        with subprocess.Popen([*words, *(["--restart", "c.h5"] if begun else [])]) as process:
            while not os.path.exists("c.h5") and process.poll() is None:
                time.sleep(0.001)
            time.sleep(chance.uniform(0.02, 0.15))
            process.kill()
        with h5py.File("c.h5") as f:
            assert reached <= max(f["n_frames"][:]) <= len(wanted["times"])
            reached = max(f["n_frames"][:])
    print("killed after frames up to", reached - 1, "of", len(wanted["times"]))
    the_same(wanted, "--restart", "c.h5", scene=sudden)
    for name in [n for n in os.listdir(".") if "tmp" in n]:
        os.remove(name)

    # a signal: a sound trajectory up to there, and a checkpoint to go on from, also where it was moved away
    long = dict(good, duration=2000, step=0.0005)
    json.dump(long, open("long.json", "w"))
    os.remove("c.h5")
    words = [str(run.folder / "modalsim"), "pair.h5", "long.h5", "--scene", "long.json"]
    process = subprocess.Popen([*words, "--keep-partial", "--checkpoint", "c.h5", "--checkpoint-every", "5", "-q"],
                               stderr=subprocess.PIPE, text=True)
    for moved in range(2):
        while not os.path.exists("c.h5"):
            assert process.poll() is None
            time.sleep(0.05)
        if not moved:
            os.rename("c.h5", "moved.h5")
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130 and "interrupted after frame" in said, (process.returncode, said)
    with h5py.File("long.h5") as f, h5py.File("c.h5") as c, h5py.File("moved.h5") as m:
        n, before = f["q"].shape[0], max(m["n_frames"][:])
        assert n == max(c["n_frames"][:]) > before >= 5 and np.array_equal(f["q"][:], c["q"][:n]), (n, before)
        assert np.array_equal(f["q"][:before], m["q"][:before])
    assert not [n for n in os.listdir(".") if "tmp" in n]
    # and without --keep-partial nothing stays
    os.remove("long.h5")
    process = subprocess.Popen([*words, "-q"], stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143 and not os.path.exists("long.h5"), process.returncode
    assert not [n for n in os.listdir(".") if "tmp" in n]


def cuda(other="cuda"):
    write_bar("half.msh", (6, 2, 2), (1.0, 0.1, 0.12))
    json.dump({"duration": 0, "fps": 1}, open("nothing.json", "w"))
    pack("half.msh", "half.h5", 20)
    pack("half.msh", "loose.h5", 8, fixed=False)
    got = subprocess.run([run.folder / "modalsim", "half.h5", "x.h5", "--scene", "nothing.json", "--backend", other],
                         capture_output=True, text=True)
    if got.returncode == 4 and "not available" in got.stderr:
        print("skipped:", got.stderr)
        sys.exit(77)
    place("tree", [(1, -1, 0, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0.3, 0), (0, 1, 1.95, 0, -0.2, 1, 0, 0.5),
                   (0, 0, 0.5, 0.1, 0, 0, 0, 1.5)], "half.h5", "loose.h5")
    place("many", [(0, -1, 0, 0, 3 * i, 0, 0, 0) for i in range(60)], "half.h5")
    strict, seen = {"tolerance": 1e-11, "iterations": 60}, set()
    wind = {"velocity": [5, 2, 0], "turbulence": 1, "scale": 2, "seed": 3}
    for name, basis, scene in (
            ("free tree in the wind", "tree.h5", {"model": "stvk", "wind": wind, "objects": [
                {"object": 0, "pose_motion": "free", "angular_velocity": [0, 0.5, 2]}]}),
            ("spinning tree", "tree.h5", {"model": "linear", "gravity": [0, 1, -9.81], "objects": [
                {"object": 0, "pose_motion": {"spin": {"axis": [0, 0, 1], "rate": 3}}}]}),
            ("Newmark's rule", "tree.h5", {"model": "stvk", "integrator": "newmark", "wind": wind, "objects": [
                {"object": 0, "pose_motion": "free", "angular_velocity": [0, 0.5, 2]}]}),
            ("generalized-alpha of radius 0.3", "tree.h5", {"model": "stvk", "spectral_radius": 0.3, "gravity": [0, 1, -9.81],
                "objects": [{"object": 0, "pose_motion": "free", "angular_velocity": [0, 0.5, 2]}]}),
            ("steps that are too long, and taken back", "half.h5", {"model": "stvk", "fps": 20, "step": 0.05,
                "impulses": [{"object": 0, "point": [1, 0, 0], "impulse": [0, 3, 8], "time": 0.02}]}),
            ("a tree of the same", "tree.h5", {"model": "stvk", "fps": 20, "step": 0.05, "objects": [
                {"object": 0, "pose_motion": "fixed"}],
                "impulses": [{"object": 2, "point": [2.5, 0, 0], "impulse": [0, 0.3, 0], "time": 0.02}]}),
            ("energy", "half.h5", {"model": "stvk", "integrator": "energy", "objects": [
                {"object": 0, "initial": [0.3] + [0] * 19}]}),
            ("energy, turning", "half.h5", {"model": "stvk", "integrator": "energy", "objects": [
                {"object": 0, "initial": [0.3] + [0] * 19, "pose_motion": {"spin": {"axis": [0, 0, 1], "rate": 3}}}]}),
            ("struck tree on a shaking ground", "tree.h5", {"model": "stvk", "objects": [{"object": 0, "pose_motion": "fixed"}],
                "base_accelerations": [{"acceleration": [1, 0, 2], "curve": {"keys": [[0.0137, 1], [0.1, -1], [0.2, 2]]}}],
                "impulses": [{"object": 2, "point": [2.5, 0, 0], "impulse": [0, 0.1, 0], "time": 0.0777}]}),
            ("energy, struck", "half.h5", {"model": "stvk", "integrator": "energy",
                "impulses": [{"object": 0, "point": [1, 0, 0], "impulse": [0, 0.1, 0], "time": 0.0777}]}),
            ("static", "half.h5", {"model": "stvk", "gravity": [0, 1, -9.81], "static": True}),
            ("many, which are measured in turn", "many.h5", {"model": "stvk", "gravity": [0, 1, -9.81], "impulses": [
                {"object": i, "point": [1, 0, 3 * i], "impulse": [0, 0.02 * i, 0.1], "time": 0.01} for i in range(60)]}),
            ("many linear ones", "many.h5", {"model": "linear", "integrator": "newmark", "gravity": [0, 1, -9.81], "impulses": [
                {"object": i, "point": [1, 0, 3 * i], "impulse": [0, 0.002 * i, 0.1], "time": 0.01} for i in range(60)]})):
        scene = {"duration": 0.3, "fps": 50, "step": 0.005, "newton": strict, **scene}
        a, b = (simulate(basis, scene, "--backend", back_end, more=("quality",)) for back_end in ("cpu", other))
        for key in a.keys() - {"quality"}:
            small(np.abs(a[key] - b[key]).max() / np.abs(a[key]).max(), 1e-9, f"{name}: {key}")
        seen |= set(same_quality(a["quality"], b["quality"], name, 1e-10))
    assert seen >= {"energy_balance", "step_error", "phase_error", "step_reductions", "newton_residual", "min_jacobian", "force_truncation", "load_truncation",
                    "rotation", "strain"}, seen


main(globals())
