# SPDX-License-Identifier: Apache-2.0
"""Linear objects of scenes against closed forms. usage: check_scene_linear.py BIN_FOLDER PART, PART one of
  exact   every load, alone and together, whatever the step; energies; what is not exact
  inertia a pendulum, a turning shaft, a tumbling frame: every inertial force, against the same equations from
          the mesh's mass matrix
  response tables of steady states, against closed forms and runs in time
  manners restart, threads, back ends, refusals
  memory  many frames, large bases, --memory-limit
  cuda    the same on a GPU; exit code 77 where there is none"""
import json
import os
import subprocess
import sys

import h5py
import numpy as np
import scipy.integrate

from scenes import Full, main, pack, place, run, simulate, small, write_bar

LONG = np.longdouble
TURN = 2 * np.arctan2(LONG(0), LONG(-1))


class Oscillators:
    """q'' + d q' + k q = f, a row a mode, in long double, from the roots: not next to critical damping."""

    def __init__(self, k, d):
        k, d = np.asarray(k, LONG), np.asarray(d, LONG)
        root = np.sqrt((d * d / 4 - k).astype(np.clongdouble))
        self.k, self.d, self.r = k, d, [-d / 2 + root, -d / 2 - root]

    def responses(self, t, part):
        """The sum over both roots of part(r), which is the response of e^(r t) alone."""
        t = np.asarray(t, LONG)[:, None]
        with np.errstate(all="ignore"):
            sum_ = (part(self.r[0], t) - part(self.r[1], t)) / (self.r[0] - self.r[1])
        return np.where(t > 0, sum_, 0)

    def impulse(self, t):
        return self.responses(t, lambda r, t: np.exp(r * t)).real

    def rate(self, t):
        return self.responses(t, lambda r, t: r * np.exp(r * t)).real

    def step(self, t):
        return self.responses(t, lambda r, t: (np.exp(r * t) - 1) / r).real

    def ramp(self, t):
        return self.responses(t, lambda r, t: ((np.exp(r * t) - 1) / r - t) / r).real

    def sine(self, t, frequency, phase):
        w = TURN * LONG(frequency) * np.clongdouble(1j)

        def part(r, t):
            apart = np.abs(w - r) > 1e-12 * np.abs(r)
            return np.where(apart, (np.exp(w * t) - np.exp(r * t)) / np.where(apart, w - r, 1), t * np.exp(r * t))

        return self.responses(t, lambda r, t: part(r, t) * np.exp(1j * LONG(phase))).imag

    def lines(self, t, keys):
        """The load goes in straight lines through the keys, 0 before and after."""
        keys = [[LONG(x) for x in key] for key in keys]
        q = keys[0][1] * self.step(t - keys[0][0]) - keys[-1][1] * self.step(t - keys[-1][0])
        slopes = [0] + [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(keys, keys[1:])] + [0]
        for key, before, after in zip(keys, slopes, slopes[1:]):
            q += (after - before) * self.ramp(t - key[0])
        return q

    def free(self, t, q, v):
        q, v = np.asarray(q, LONG), np.asarray(v, LONG)
        t = np.asarray(t, LONG)
        return np.where(t[:, None] > 0, q * (self.rate(t) + self.d * self.impulse(t)) + v * self.impulse(t), q)


class Shape:
    """What of a basis file the loads need."""

    def __init__(self, path):
        with h5py.File(path) as file:
            shape = file["shapes/0000"]
            self.k = shape["modes/eigenvalues"][:]
            self.mass = shape["modes/modal_masses"][:]
            self.lift = shape["modes/participation"][:] / self.mass[:, None]
            u = shape["modes/modal_matrix"][:].astype(float)
            u = u.transpose(0, 3, 1, 2).reshape(-1, len(self.k), 3)
            users = shape["surface/user_vertex"][:]
            self.vertex = {int(user): u[i] / self.mass[:, None] for i, user in enumerate(users)}


def close(got, wanted, limit, what):
    small(float(np.abs(got - wanted).max() / np.abs(wanted).max()), limit, what)


def exact():
    write_bar("bar.msh", (6, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar.h5", 8)
    bar = Shape("bar.h5")
    n = len(bar.k)
    vertex = sorted(bar.vertex)[-1]
    push = np.array([3.0, -20.0, 11.0])
    load = bar.vertex[vertex] @ push
    g = np.array([0.3, 1.0, -9.81])
    keys = [[0.0131, 2.0], [0.05, -1.0], [0.1, 0.5], [0.2777, 3.0]]  # on steps and off, with jumps at the ends
    resonance = float(np.sqrt(bar.k[0]) / float(TURN))
    scenes = {
        "free": (lambda o, t: o.free(t, np.arange(1, n + 1) / 10, np.arange(n) - 3.0),
                 {"objects": [{"object": 0, "initial": [(i + 1) / 10 for i in range(n)],
                               "initial_velocity": [i - 3.0 for i in range(n)]}]}),
        "gravity": (lambda o, t: (bar.lift @ g) * o.step(t), {"gravity": list(g)}),
        "lines": (lambda o, t: load * o.lines(t, keys),
                  {"forces": [{"object": 0, "vertex": vertex, "force": list(push), "curve": {"keys": keys}}]}),
        "sine": (lambda o, t: load * o.sine(t, 7.3, 0.4),
                 {"forces": [{"object": 0, "vertex": vertex, "force": list(push),
                              "curve": {"sine": {"frequency": 7.3, "phase": 0.4}}}]}),
        "resonance": (lambda o, t: load * o.sine(t, resonance, 0),
                      {"forces": [{"object": 0, "vertex": vertex, "force": list(push),
                                   "curve": {"sine": {"frequency": resonance}}}]}),
        "blow": (lambda o, t: load * (o.impulse(t - LONG(0.0777)) + o.impulse(t - LONG(0.1)) + o.impulse(t)),
                 {"impulses": [{"object": 0, "vertex": vertex, "impulse": list(push), "time": time}
                               for time in (0.0777, 0.1, 0)]}),
        "shaken": None}
    # a support that is shifted: its acceleration is lines between the keys of a clamped spline
    from scipy.interpolate import CubicSpline
    way = np.array([[0, 0, 0, 0], [0.07, 0.01, 0, 0.02], [0.2, -0.01, 0.03, 0], [0.31, 0, 0, 0]])
    spline = CubicSpline(way[:, 0], way[:, 1:], bc_type="clamped")
    pushes = [list(zip(way[:, 0], spline(way[:, 0], 2)[:, a])) for a in range(3)]
    scenes["shaken"] = (lambda o, t: -sum(bar.lift[:, a] * o.lines(t, pushes[a]) for a in range(3)),
                        {"objects": [{"object": 0, "pose_motion": {"keys": [[*row, 0, 0, 0] for row in way]}}]})

    everything = {"duration": 0.5, "fps": 50}
    for key in ("objects", "forces", "impulses", "gravity"):
        items = [s[key] for _, s in scenes.values() if key in s]
        everything[key] = [dict(kv for item in items for kv in item[0].items())] if key == "objects" else sum(items, [])
    scenes["all together"] = (lambda o, t: sum(f(o, t) for name, (f, _) in scenes.items() if name != "all together"),
                              {k: everything[k] for k in everything if k not in ("duration", "fps")})

    worst = {}
    for name, (form, scene) in scenes.items():
        all_of_it = name in ("free", "all together")
        for damping in ({}, {"alpha": 1.5, "beta": 1e-4}, {"ratio": 0.05}, {"alpha": 500})[:4 if all_of_it else 2]:
            o = Oscillators(bar.k, damping.get("alpha", 0) + damping.get("beta", 0) * bar.k +
                            2 * damping.get("ratio", 0) * np.sqrt(bar.k))
            for fps, step in ((50, 0.0031), (10, 0.1), (50, 0.02))[:3 if all_of_it else 1 + bool(damping)]:
                f = simulate("bar.h5", {"duration": 0.5, "fps": fps, "step": step, "damping": damping, **scene}, "--allow-inversion")
                wanted = form(o, f["times"])
                error = np.abs(f["q"] - wanted).max() / np.abs(wanted).max()
                assert error <= 1e-12, (name, damping, fps, step, error)
                worst[name] = max(worst.get(name, 0), float(error))
                e = f["energy"]
                assert abs(e[-1, 0] + e[-1, 1] + e[-1, 2] - e[-1, 3] - e[0, :2].sum()) <= 1e-12 * np.abs(e).max(), e[-1]
                if not damping:
                    assert np.all(e[:, 2] == 0)
    print("error of every load, any step:", {k: f"{v:.1e}" for k, v in worst.items()})

    # energies: what damping takes, against its integral over fine frames, with constant loads and any step
    scene = {"duration": 0.5, "fps": 4, "gravity": list(g), "damping": {"alpha": 3, "beta": 2e-4},
             "objects": [{"object": 0, "initial": [0.1] * n}]}
    f = simulate("bar.h5", scene)
    o = Oscillators(bar.k, 3 + 2e-4 * bar.k)
    t = np.linspace(0, 0.5, 50001)
    rates = ((bar.lift @ g) - LONG(0.1) * o.k) * o.impulse(t)
    power = ((3 + 2e-4 * bar.k) * bar.mass * rates**2).sum(1)
    wanted = (power.sum() - power[[0, -1]].sum() / 2) * t[1]
    close(f["energy"][-1, 2], wanted, 1e-6, "what damping takes, two steps")
    heat = []
    for step in (0.004, 0.002, 0.001):  # loads that change: the trapezoidal rule
        heat.append(simulate("bar.h5", {"duration": 0.5, "fps": 2, "step": step, "damping": {"alpha": 3},
                                        **scenes["sine"][1]})["energy"][-1, 2])
    print("heat of a sine:", heat)
    assert 3 < (heat[0] - heat[1]) / (heat[1] - heat[2]) < 5, heat

    # a sweep is lines within a step: second order; equilibrium stays; the same as the flags
    ends = []
    for step in (0.004, 0.002, 0.001, 0.00005):
        ends.append(simulate("bar.h5", {"duration": 0.5, "fps": 2, "step": step, "forces": [
            {"object": 0, "vertex": vertex, "force": list(push), "curve": {"sweep": {
                "from": 1, "to": 20, "start": 0.03, "end": 0.4}}}]})["q"][1])
    errors = [np.abs(e - ends[3]).max() for e in ends[:3]]
    assert 3.5 < errors[0] / errors[1] < 4.5 and 3.5 < errors[1] / errors[2] < 4.5, errors
    f = simulate("bar.h5", {"duration": 0.5, "fps": 20, "gravity": list(g), "static": True, "forces": [
        {"object": 0, "vertex": vertex, "force": list(push)}]})
    wanted = (bar.lift @ g + load) / bar.k
    close(f["q"], wanted[None], 1e-13, "equilibrium stays")
    run("modalsim", "bar.h5", "flags.h5", "--duration", 0.5, "--fps", 20, "--gravity", "0,0,-9.81", "--damping",
        "0.5,0.001", "--impulse", f"{vertex}:0,3,0@0.0333", "-q")
    f = simulate("bar.h5", {"duration": 0.5, "fps": 20, "gravity": [0, 0, -9.81],
                            "damping": {"alpha": 0.5, "beta": 0.001}, "impulses": [
                                {"object": 0, "vertex": vertex, "impulse": [0, 3, 0], "time": 0.0333}]})
    with h5py.File("flags.h5") as file:
        close(f["q"], file["q"][:], 1e-13, "scene and flags")


class Reference:
    """A linear solid on a moving frame, its inertia from the mesh's consistent mass matrix:
    q'' + d q' + k q = -int rho phi . (a + al x y + w x (w x y) + 2 w x (U q')), y = xbar + U q."""

    def __init__(self, path):
        full = Full(path)
        x, phi, weight = full.nodes, full.modes, full.m
        heavy = np.array([weight @ mode for mode in phi])  # [r, nodes, 3]
        self.k = full.eigenvalues
        self.first, self.tip = heavy.sum(1), phi[:, -1]
        self.rest = np.einsum("kna,nb->kab", heavy, x)
        self.pairs = np.einsum("kna,lnb->klab", heavy, phi)
        self.mass, self.centre = weight.sum(), (weight @ x).sum(0)
        self.second = x.T @ (weight @ x)

    def rate(self, frame, d):
        """frame(t): R^T (p'' - g), w, al, all in the body's axes."""
        def function(t, state):
            q, v = np.split(state, 2)
            a, w, al = frame(t)
            cross = lambda u: np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
            turn = cross(al) + cross(w) @ cross(w)
            load = self.first @ a + np.einsum("kab,ab->k", self.rest, turn)
            stiff = np.einsum("klab,ab->kl", self.pairs, turn)
            drag = 2 * np.einsum("klab,ab->kl", self.pairs, cross(w))
            return np.concatenate([v, -load - stiff @ q - drag @ v - d * v - self.k * q])
        return function

    def follow(self, frame, d, end, q):
        got = scipy.integrate.solve_ivp(self.rate(frame, d), (0, end), np.concatenate([q, 0 * q]), "DOP853",
                                        rtol=1e-11, atol=1e-13)
        return got.y[:len(self.k), -1]


def inertia():
    write_bar("bar.msh", (8, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar.h5", 12)
    bar, g = Reference("bar.h5"), 9.81
    two = {"duration": 0.3, "fps": 1 / 0.3}

    def second_order(name, scene, wanted, limit):
        errors = [np.abs(simulate("bar.h5", dict(two, **scene, step=step))["q"][1] - wanted).max() /
                  np.abs(wanted).max() for step in (2e-4, 1e-4)]
        print(name, errors)
        small(errors[1], limit, name)
        assert 3.8 < errors[0] / errors[1] < 4.2, errors

    # A bar along its own axis of rotation swings sideways like Foucault's pendulum: Coriolis and centrifugal forces
    rate, q = 5.0, np.zeros(12)
    q[0] = 0.05
    frame = lambda t: (np.zeros(3), np.array([rate, 0, 0]), np.zeros(3))
    spin = {"pose_motion": {"spin": {"axis": [1, 0, 0], "rate": rate}}}
    wanted = bar.follow(frame, 0.3, 0.3, q)
    second_order("Foucault's pendulum", {"damping": {"alpha": 0.3}, "objects": [
        {"object": 0, **spin, "initial": list(q)}]}, wanted, 2e-6)

    # A shaft across the bar: the centrifugal load pulls, gravity turns around
    def frame(t):
        c, s = np.cos(rate * t), np.sin(rate * t)
        return g * np.array([s, c, 0]), np.array([0, 0, rate]), np.zeros(3)
    spin["pose_motion"]["spin"]["axis"] = [0, 0, 1]
    second_order("turning shaft", {"gravity": [0, -g, 0], "objects": [{"object": 0, **spin}]},
                 bar.follow(frame, 0, 0.3, 0 * q), 1e-5)

    # A pendulum: the bar swings on its root as it would by itself. Falling from the horizontal its weight and the
    # inertial forces have no moment about the root: load w (1 - 3 s / 2 L) on a beam, whose tip goes UP by
    # a tenth of what w alone bends it down (1/8 - 3/2 11/120 = -1/10 1/8)
    moment = bar.second[0, 0] + bar.second[2, 2]
    fall = lambda t, y: [y[1], (g * bar.centre[0] * np.cos(y[0]) + g * bar.centre[2] * np.sin(y[0])) / moment]
    swing = scipy.integrate.solve_ivp(fall, (0, 0.4), [0, 0], "DOP853", rtol=1e-12, atol=1e-14, dense_output=True)
    keys = [[t, 0, 0, 0, 0, float(swing.sol(t)[0]), 0] for t in np.linspace(0, 0.4, 401)]
    still = {"duration": 0, "fps": 1, "static": True, "gravity": [0, 0, -g]}
    held = simulate("bar.h5", still)["q"][0] @ bar.tip
    swung = simulate("bar.h5", dict(still, objects=[{"object": 0, "pose_motion": {"keys": keys}}]))["q"][0] @ bar.tip
    print("tip of the pendulum at its release, of the bar that is held:", swung[2], held[2])
    small(abs(swung[2] / held[2] + 0.1), 0.03, "pendulum: tip against beam theory")

    def frame(t):
        angle, w = swing.sol(t)
        return (g * np.array([-np.sin(angle), 0, np.cos(angle)]), np.array([0, w, 0]),
                np.array([0, fall(t, [angle, w])[1], 0]))
    second_order("pendulum", {"gravity": [0, 0, -g], "objects": [{"object": 0, "pose_motion": {"keys": keys}}]},
                 bar.follow(frame, 0, 0.3, 0 * q), 1e-5)


def table(basis, scene, *more, code=0):
    """Frequencies and complex responses of a scene with a response, or what stderr says."""
    with open("run.json", "w") as file:
        json.dump(scene, file, indent=1)
    got = run("modalsim", basis, "table.csv", "--scene", "run.json", "--force", "-q", *more, code=code)
    if code:
        return got.stderr
    rows = np.loadtxt("table.csv", delimiter=",", skiprows=1, ndmin=2)
    assert np.all(rows[:, 1::2] >= 0) and np.all(np.abs(rows[:, 2::2]) <= 180) and not np.any(rows[:, 2::2] == -180)
    return rows[:, 0], rows[:, 1::2] * np.exp(1j * np.radians(rows[:, 2::2]))


def response():
    write_bar("bar.msh", (6, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar.h5", 8)
    place("two", [(0, -1, 0, 0, 0, 0, 0, 0), (0, -1, 0, 1, 0, 0.2, 0.3, -0.4)], "bar.h5")
    bar, first, last = Shape("bar.h5"), sorted(Shape("bar.h5").vertex)[3], sorted(Shape("bar.h5").vertex)[-1]
    with h5py.File("two.h5") as file:
        turns = file["objects/rest_pose"][:, :, :3]
    push, shake = np.array([[3.0, -20.0, 11.0], [1.0, 2.0, 5.0]]), np.array([0.5, -1.0, 2.0])
    band = {"from": 0, "to": 40, "points": 2001, "peaks": False, "acceleration": list(shake)}
    forces = [{"object": i, "vertex": last, "force": list(push[i])} for i in (0, 1)]
    scene = {"damping": {"alpha": 1.5, "beta": 1e-5}, "objects": [{"object": 1, "damping": {"ratio": 0.01}}],
             "forces": forces, "response": band}
    dampings = [1.5 + 1e-5 * bar.k, 0.02 * np.sqrt(bar.k)]
    at = np.linspace(0, 40, 2001)

    def q(i, frequencies, d=None):
        load = bar.vertex[last] @ (turns[i].T @ push[i]) - bar.lift @ (turns[i].T @ shake)
        w = TURN * np.asarray(frequencies, LONG)[:, None]
        return load / (bar.k - w * w + 1j * w * (dampings[i] if d is None else d))

    def near(got, wanted, what, limit=1e-12):
        small(float((np.abs(got - wanted).max(1) / np.abs(wanted).max(1)).max()), limit, what)

    f, got = table("two.h5", scene)
    assert np.array_equal(f[[0, -1]], [0, 40]) and got.shape == (2001, 16)
    near(f[1:, None], at[1:, None], "frequencies", 1e-15)
    near(got, np.hstack([q(0, f), q(1, f)]), "every q, against the closed form")
    with open("table.csv") as file:
        text = file.read()
    assert text.startswith("frequency,object0_q0_amplitude,object0_q0_phase,object0_q1_amplitude"), text[:99]
    assert run("modalsim", "two.h5", "-", "--scene", "run.json", "-q").stdout == text
    point = list(turns[1] @ [0.52, 0.1, 0.12] + [0, 1, 0])
    with h5py.File("bar.h5") as file:
        surface = file["shapes/0000/surface"]
        there = np.linalg.norm(surface["rest_positions"][:] - [0.52, 0.1, 0.12], axis=1).argmin()
        nearest = int(surface["user_vertex"][there])
    probes = [{"object": 0, "vertex": first}, {"object": 1, "point": point}, {"object": 1, "vertex": last}]
    f, got = table("two.h5", dict(scene, response=dict(band, probes=probes)))
    shapes = [bar.vertex[v] * bar.mass[:, None] @ turns[i].T for i, v in ((0, first), (1, nearest), (1, last))]
    wanted = [q(i, f) @ u for i, u in zip((0, 1, 1), shapes)]
    near(got, np.hstack(wanted), "displacements of probes")
    with open("table.csv") as file:
        assert file.readline().startswith("frequency,probe0_x_amplitude,probe0_x_phase,probe0_y_amplitude")

    # loads with phases of their own, of the ground along each axis, too
    phases, leads = [0.4, -2.0], np.array([0.3, 1.1, -0.7])
    f, got = table("two.h5", dict(scene, forces=[dict(x, phase=p) for x, p in zip(forces, phases)],
                                  response=dict(band, acceleration_phase=list(leads))))
    wanted = []
    for i in (0, 1):
        load = np.exp(1j * phases[i]) * (bar.vertex[last] @ (turns[i].T @ push[i])) - \
            bar.lift @ (turns[i].T @ (shake * np.exp(1j * leads)))
        w = TURN * np.asarray(f, LONG)[:, None]
        wanted.append(load / (bar.k - w * w + 1j * w * dampings[i]))
    near(got, np.hstack(wanted), "loads with phases")

    # few points, and what is added around the peaks: all of the largest amplitude is there, and half of its energy
    narrow = {"forces": forces[:1], "damping": {"ratio": 0.001}}
    coarse = {"from": 0, "to": float(1.5 * np.sqrt(bar.k[1]) / TURN), "points": 30}
    f, got = table("bar.h5", dict(narrow, response=coarse))
    exact = np.abs(bar.vertex[last] @ push[0]) / (2 * 0.001 * np.sqrt(1 - 1e-6) * bar.k)
    small(float(np.abs(np.abs(got[:, :2]).max(0) / exact[:2].astype(float) - 1).max()), 1e-9, "peaks of two modes")
    for mode in (0, 1):
        beside = np.sort(np.abs(np.abs(got[:, mode]) / float(exact[mode]) - np.sqrt(0.5)))[:2]
        assert beside.max() < 1e-6, beside
    assert len(f) == 36 and np.all(np.diff(f) > 0), len(f)
    missed = np.abs(table("bar.h5", dict(narrow, response=dict(coarse, peaks=False)))[1][:, 0]).max()
    assert missed < 0.5 * float(exact[0]), "what equally spaced points are for"

    # at its own frequency a mode swings 1 / (2 zeta) as far as under the same load at rest, a quarter turn late
    one = {"forces": forces[:1], "damping": {"ratio": 0.003}}
    own = float(np.sqrt(LONG(bar.k[0])) / TURN)
    peak = table("bar.h5", dict(one, response={"from": own, "to": own, "points": 1}))[1][0, 0]
    still = table("bar.h5", dict(one, response={"from": 0, "to": 0, "points": 1}))[1][0]
    small(abs(peak / (-1j * still[0] / 0.006) - 1), 1e-11, "peak 1 / (2 zeta)")
    # at 0 Hz it is the equilibrium, of a support's acceleration that of its opposite as gravity
    held = {"duration": 0, "fps": 1, "static": True, "gravity": list(-shake), "forces": forces}
    got = table("two.h5", dict(scene, response=dict(band, to=0, points=1)))[1]
    close(got, simulate("two.h5", held)["q"], 1e-13, "0 Hz and equilibrium")

    # long runs in time end there, below, between and above the resonances; in a group's and a vertex's load
    heavy = {"damping": {"alpha": 12.0}}
    loads = [forces[0], {"object": 0, "group": "bar", "force": [9.0, 1, 1]},
             {"object": 0, "point": [0.5, 0.1, 0.1], "force": [4.0, 0, 7.0]}]
    for frequency in (0.7, 1.4, 31.3):
        sine = {"sine": {"frequency": frequency}}
        ring = simulate("bar.h5", {"duration": 6, "fps": 200, **heavy, "forces": [dict(l, curve=sine) for l in loads]})
        phases = float(TURN) * frequency * ring["times"][-200:, None]
        fit = np.linalg.lstsq(np.hstack([np.sin(phases), np.cos(phases)]), ring["q"][-200:], rcond=None)[0]
        got = table("bar.h5", {**heavy, "forces": loads, "response": {"from": frequency, "to": frequency, "points": 1}})[1]
        near(got, (fit[0] + 1j * fit[1])[None], f"a run of 6 s at {frequency} Hz", 1e-10)
    # so do runs on ground that moves, a quarter turn apart along two axes: cos(wt + phase) = sin(wt + phase + pi / 2)
    ground = [{"acceleration": [3, 0, 0], "curve": {"sine": {"frequency": 2.5, "phase": np.pi / 2}}},
              {"acceleration": [0, 0, 1], "curve": {"sine": {"frequency": 2.5, "phase": 0.2 + np.pi / 2}}}]
    ring = simulate("bar.h5", {"duration": 6, "fps": 200, **heavy, "base_accelerations": ground})
    angle = float(TURN) * 2.5 * ring["times"][-200:, None]
    fit = np.linalg.lstsq(np.hstack([np.cos(angle), -np.sin(angle)]), ring["q"][-200:], rcond=None)[0]
    got = table("bar.h5", {**heavy, "response": {"from": 2.5, "to": 2.5, "points": 1, "acceleration": [3, 0, 1],
                                                 "acceleration_phase": [0, 0, 0.2]}})[1]
    near(got, (fit[0] + 1j * fit[1])[None], "a run of 6 s on ground that moves", 1e-10)

    # an undamped mode: 0 or 180 degrees, and nothing at its own frequency
    pack("bar.msh", "many.h5", 40)
    k = Shape("many.h5").k
    free = table("many.h5", {"forces": forces[:1], "response": {"from": 0, "to": 50, "points": 50}})[1]
    assert np.all(np.isclose(np.abs(np.angle(free)), 0, atol=1e-15) | (np.abs(np.angle(free)) > np.pi - 1e-15))
    exact = [g for g in (np.sqrt(k) / float(TURN))[:, None] * (1 + np.arange(-3, 4) * 2.0**-53)
             for g in g if np.any((float(TURN) * g) ** 2 == k)]
    assert exact
    os.remove("table.csv")
    said = table("many.h5", {"forces": forces[:1], "response": {"from": exact[0], "to": exact[0], "points": 1}}, code=3)
    assert "run.json: response: object 0: mode " in said and "driven at its own frequency: no steady state, " in said, said

    bad, near_own = dict(one, response=dict(band)), own * (1 + 2.0**-50)
    some = lambda **more: dict(bad, response=dict(band, **more))
    place("hang", [(0, -1, 0, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0, 0)], "bar.h5")
    for basis, scene, what in (
            ("bar.h5", dict(bad, forces=[], response=dict(band, acceleration=[0, 0, 0])), "response: nothing loads it; give \"forces\", or"),
            ("bar.h5", dict(bad, forces=[{"object": 0, "group": "root", "force": [0, 1, 0]}]), "forces[0]: moves nothing: object 0 stands still"),
            ("bar.h5", some(**{"from": -1}), "run.json:17: /response/from: "),
            ("bar.h5", some(**{"from": "1 Hz"}), "run.json:17: /response/from: "),
            ("bar.h5", some(**{"from": 40}), "/response: from 40 to 40 Hz, 2001 points: `to` must be larger"),
            ("bar.h5", some(points=1), "/response: from 0 to 40 Hz, 1 points: "),
            ("bar.h5", some(points=0), "/response/points: "), ("bar.h5", some(points=1000001), "/response/points: "),
            ("bar.h5", some(points=2.5), "/response/points: "), ("bar.h5", some(steps=2), "/response/steps: unknown key"),
            ("bar.h5", some(acceleration=[1, 2]), "/response/acceleration: "), ("bar.h5", some(probes=[]), "/response/probes: "),
            ("bar.h5", some(probes=[{"object": 0, "group": "root"}]), "/response/probes/0/group: unknown key"),
            ("bar.h5", some(probes=[{"object": 0}]), "/response/probes/0: needs exactly one of vertex, point"),
            ("bar.h5", some(probes=[{"object": 0, "vertex": 1}, {"object": 3, "vertex": 1}]),
             "run.json:31: response/probes[1]: the basis has objects 0 .. 0, 3"),
            ("bar.h5", some(probes=[{"object": 0, "vertex": 12345}]), "response/probes[0]: object 0 has vertices 0 .. "),
            ("bar.h5", dict(bad, response=[]), "/response: "), ("bar.h5", dict(bad, duration=1), "/duration: unknown key"),
            ("bar.h5", dict(bad, model="stvk"), "/model: unknown key"),
            ("bar.h5", dict(bad, forces=[dict(forces[0], curve={"sine": {"frequency": 1}})]), "/forces/0/curve: unknown key"),
            ("bar.h5", dict(bad, forces=[{"object": 0, "group": "tip", "force": [1, 0, 0]}]),
             "forces[0]: object 0 has no group of this name, \"tip\""),
            ("bar.h5", dict(bad, forces=[dict(forces[0], object=1)]), "forces[0]: the basis has objects 0 .. 0, 1"),
            ("bar.h5", {"forces": [dict(forces[0], force=[1e300] * 3)],
                        "response": {"from": near_own, "to": near_own, "points": 1}}, "response: not finite at "),
            ("bar.h5", dict(bad, objects=[{"object": 0, "model": "stvk"}]), "/objects/0/model: unknown key"),
            ("bar.h5", dict(bad, objects=[{"object": 0, "pose_motion": "free"}]), "a response is of \"fixed\" objects alone"),
            ("bar.h5", dict(bad, objects=[{"object": 5}]), "objects[0]: the basis has objects 0 .. 0, 5"),
            ("hang.h5", bad, "response: object 1 hangs on object 0; say \"pose_motion\": \"fixed\"")):
        said = table(basis, scene, code=3)
        assert what in said and said.count("\n") == 1 and not os.path.exists("table.csv"), (what, said)
    table("hang.h5", dict(bad, objects=[{"object": 1, "pose_motion": "fixed"}]))
    os.remove("table.csv")
    for option in (["--checkpoint", "c.h5"], ["--keep-partial"], ["--backend", "cpu"]):
        said = table("bar.h5", bad, *option, code=2)
        assert f"{option[0]}: not with a response" in said and not os.path.exists("table.csv"), said


def mixed_scene():
    """Two linear bars, one held and one shifted and turned, and one of large deformations, in one scene."""
    write_bar("bar.msh", (4, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "one.h5", 5)
    place("three", [(0, -1, 0, 0, 0, 0, 0, 0), (0, -1, 0, 1, 0, 0, 0.3, 0), (0, -1, 0, 2, 0, 0, 0, 0.5)], "one.h5")
    return {"duration": 0.4, "fps": 50, "step": 0.004, "gravity": [0, 0, -9.81], "damping": {"alpha": 0.2},
            "objects": [{"object": 1, "pose_motion": {"keys": [[0, 0, 0, 0, 0, 0.3, 0], [0.1, 0, 0.1, 0, 0, 0.3, 0],
                                                          [0.2, 0, 0, 0, 0, 0.3, 0]]}},
                        {"object": 2, "model": "stvk", "initial": [0.1, 0, 0, 0, 0]}],
            "forces": [{"object": i, "point": [1, i, 0.1], "force": [0, 5, 0], "curve": curve} for i, curve in
                       enumerate(({"keys": [[0.013, 0], [0.1, 1], [0.3, 2]]}, {"sine": {"frequency": 9}},
                                  {"sine": {"frequency": 9}}))],
            "impulses": [{"object": i, "point": [1, i, 0.1], "impulse": [0, 0, 0.1], "time": 0.05} for i in range(3)]}


def manners():
    scene = mixed_scene()
    whole = simulate("three.h5", scene, "--checkpoint", "c.h5", "--checkpoint-every", 8)
    for more in (["--restart", "c.h5"], ["-j", 1]):
        again = simulate("three.h5", scene, *more)
        for name in whole:
            assert whole[name].tobytes() == again[name].tobytes(), (name, more)
    reference = simulate("three.h5", scene, "--backend", "ref")
    for name in whole.keys() - {"quality"}:  # what Newton's method leaves is rounding, and NaN is not measured
        close(reference[name], whole[name], 1e-9, f"ref: {name}")
    # alone or in company: an exact object's motion is its own
    alone = simulate("one.h5", dict(scene, objects=[], forces=scene["forces"][:1], impulses=scene["impulses"][:1]))
    assert alone["q"].tobytes() == np.ascontiguousarray(whole["q"][:, :5]).tobytes()
    # the implicit rule comes near with its steps
    smooth = dict(scene, forces=scene["forces"][1:], impulses=[])
    keys = smooth["objects"][0]["pose_motion"]["keys"]
    keys.append([0.5, *keys[0][1:]])  # no stop within the motion, which would be a jump of the load
    wanted = simulate("three.h5", smooth)["q"][:, :10]
    errors = [np.abs(simulate("three.h5", dict(smooth, integrator="newmark", step=step))["q"][:, :10] - wanted).max()
              for step in (0.0002, 0.0001)]
    print("Newmark's rule:", errors)
    assert 3 < errors[0] / errors[1] < 5, errors
    said = simulate("three.h5", dict(scene, integrator="exact"), code=3)
    assert '/integrator: none of "auto", "generalized-alpha", "newmark", "energy"' in said, said
    # the energy rule moves the third; the shifted one is exact, so not in its way
    simulate("three.h5", dict(scene, integrator="energy"))
    # a motion that overflows ends where it does
    os.remove("run.h5")
    wild = {"duration": 1, "fps": 10, "objects": [{"object": 0, "initial_velocity": [1e200] * 5}]}
    said = simulate("one.h5", wild, code=5)
    assert "object 0: t = 0 s: not finite; try" in said and not os.path.exists("run.h5"), said
    wild = {"duration": 1, "fps": 10, "impulses": [{"object": 0, "point": [1, 0, 0], "impulse": [1e200, 0, 0], "time": 0.35}]}
    assert "object 0: t = 0.4 s: not finite; try" in simulate("one.h5", wild, code=5)
    simulate("one.h5", wild, "--keep-partial", code=5)
    with h5py.File("run.h5") as file:
        assert len(file["times"]) == 4 and np.all(np.isfinite(file["q"][:]))


def memory():
    """Frames are written as they are made; of a basis no more is read than the scene needs."""
    # AddressSanitizer keeps what was freed, which would count as memory of the frames
    os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=1"]))
    write_bar("bar.msh", (16, 6, 6), (1.0, 0.1, 0.12))
    run("modalpack", "bar.msh", "bar.h5", "--young", 1e6, "--poisson", 0.3, "--density", 1000, "--modes", 30, "--fixed",
        "root", "-q")

    def peak(*words):
        run("modalsim", "bar.h5", "run.h5", "--force", "-q", "--report", "report.json", *words)
        with open("report.json") as file:
            return json.load(file)["peak_memory_bytes"]

    def scene(frames, **more):
        with open("run.json", "w") as file:
            json.dump({"duration": frames / 1000, "fps": 1000, "objects": [
                {"object": 0, "initial": [1e-4] * 30}], **more}, file)
        return ["--scene", "run.json"]

    few, many = (peak(*scene(n)) for n in (100, 40000))
    print("peak memory of 100 and 40,000 frames of 280 bytes:", few, many)
    small(many - few, 8e6, "memory of frames")
    with h5py.File("run.h5") as file:
        assert file["q"].shape == (40001, 30) and np.all(np.diff(file["times"][:]) > 0)
        at = [0, 1, 14979, 14980, 14981, 20000, 40000]  # where the blocks meet, too
        with h5py.File("bar.h5") as basis:
            k = basis["shapes/0000/modes/eigenvalues"][:]
        close(file["q"][at], 1e-4 * np.cos(np.sqrt(k) * file["times"][at][:, None]), 1e-9, "frames of all blocks")
    few, many = (peak("--duration", n, "--fps", 1000, "--initial", "0=1e-4") for n in (0.1, 40))
    small(many - few, 8e6, "memory of frames, flags")

    # the modal matrix and the modes at the nodes are most of a basis: a force at a vertex needs 32 rows of the first
    bytes_ = os.path.getsize("bar.h5")
    with h5py.File("bar.h5") as basis:
        moves = np.abs(basis["shapes/0000/modes/modal_matrix"][:, 0, 2]).ravel()  # of the lowest mode along z, by vertices as stored
        free = int(basis["shapes/0000/surface/user_vertex"][np.argmax(moves)])
    force = {"forces": [{"object": 0, "vertex": free, "force": [0, 0, 1]}]}
    few = simulate("bar.h5", {"duration": 0.1, "fps": 100, **force}, "--memory-limit", "100K")
    with h5py.File("bar.h5") as basis:
        shape = basis["shapes/0000"]
        need = sum(d.size * d.dtype.itemsize for d in shape["surface"].values()) + \
            sum(d.size * d.dtype.itemsize for d in shape["tables"].values())
    assert need < 100e3 < bytes_ / 8, (need, bytes_)
    whole = simulate("bar.h5", {"duration": 0.1, "fps": 100, "wind": {"velocity": [0, 0, 0], "drag": 0}, **force})
    assert few["q"].tobytes() == whole["q"].tobytes()
    said = simulate("bar.h5", {"duration": 0.1, "fps": 100, **force}, "--memory-limit", "30K", code=4)
    assert "--memory-limit: bar.h5: /shapes/0000/" in said and " allowed" in said, said
    spin = {"objects": [{"object": 0, "pose_motion": {"spin": {"axis": [0, 0, 1], "rate": 1}}}]}
    simulate("bar.h5", {"duration": 0.1, "fps": 100, **spin}, "--memory-limit", "8M")
    assert "basis and tables take" in simulate("bar.h5", {"duration": 0.1, "fps": 100, **spin}, "--memory-limit",
                                               "2M", code=4)
    got = run("modalsim", "bar.h5", "-", "--duration", 100, "--fps", 1000, "--initial", "0=1", "--memory-limit", "40M", code=4)
    assert "--memory-limit: standard output needs all frames and the basis in memory" in got.stderr and not got.stdout, got.stderr


def cuda():
    scene = mixed_scene()
    json.dump(scene, open("run.json", "w"))
    got = subprocess.run([run.folder / "modalsim", "three.h5", "x.h5", "--scene", "run.json", "--backend", "cuda"],
                         capture_output=True, text=True)
    if got.returncode == 4 and "not available" in got.stderr:
        print("skipped:", got.stderr)
        sys.exit(77)
    a, b = (simulate("three.h5", scene, "--backend", back_end) for back_end in ("cpu", "cuda"))
    for key in a.keys() - {"quality"}:
        close(b[key], a[key], 1e-9, key)


main(globals())
