# SPDX-License-Identifier: Apache-2.0
"""modaltled against a motion that numpy steps by itself: hexahedra and tetrahedra in one mesh, three laws, fibres of elements, Prony terms,
nodal pressures, overlapping groups, curves of files, bodies, mass scaling, in other units and far from the origin.
usage: check_tled_whole.py MODALTLED [--all]: without it two of four systems of units"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

modaltled = pathlib.Path(sys.argv[1]).resolve()
os.chdir(tempfile.mkdtemp(prefix="tled-whole-"))
SIGNS = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], float)
HOURGLASS = np.stack([SIGNS[:, 0] * SIGNS[:, 1], SIGNS[:, 1] * SIGNS[:, 2], SIGNS[:, 0] * SIGNS[:, 2], SIGNS.prod(axis=1)])
PATHS = ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1))
EYE = np.eye(3)
# SI; in `units` other numbers mean the same
GEL = {"mu": 1e3, "bulk": 8e3, "density": 1000.0}
MUSCLE = {"mu": 1.5e3, "bulk": 9e3, "density": 1060.0, "law": "logarithmic"}
FIBRE, ISOCHORIC, VOLUMETRIC = 4e3, [[0.3, 0.02], [0.2, 0.2]], [[0.1, 0.05]]
STEP, STEPS, FRAMES, ALPHA = 4e-4, 200, [0, 1, 7, 150, 151, 200], 2.0


def check(fine, *said):
    assert fine, said


def first_stress(h, m, pressure):
    """P of displacement gradients h [E, 3, 3]; pressure [E] instead of modulus (J - 1), or None."""
    f = h + EYE
    j, turned = np.linalg.det(f)[:, None, None], np.swapaxes(np.linalg.inv(f), 1, 2)
    mu, bulk = m["mu"], m["bulk"]
    lame = bulk - 2 * mu / 3
    volume = lambda modulus: (modulus * (j - 1) if pressure is None else pressure[:, None, None]) * j * turned
    law = m.get("law", "neo_hookean")
    if law == "neo_hookean":
        p = mu * j ** (-2 / 3) * (f - (f * f).sum(axis=(1, 2))[:, None, None] / 3 * turned) + volume(bulk)
    elif law == "logarithmic":
        p = mu * (f - turned) + volume(lame)
    else:
        e = (np.swapaxes(f, 1, 2) @ f - EYE) / 2
        p = f @ (lame * np.trace(e, axis1=1, axis2=2)[:, None, None] * EYE + 2 * mu * e)
    if "fibre" in m:
        a = m["fibre"]
        fa = np.einsum("eij,ej->ei", f, a)
        i4 = (fa * fa).sum(1)[:, None, None]
        p = p + m["eta"] * (j ** (-2 / 3) * i4 - 1) * j ** (-2 / 3) * (fa[:, :, None] * a[:, None, :] - i4 / 3 * turned)
    return p


class Part:
    """Elements of one kind and material."""

    def __init__(self, x, nodes, material):
        self.nodes, self.m, corners = np.array(nodes), material, x[np.array(nodes)]
        if self.nodes.shape[1] == 4:
            inner = np.linalg.inv(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2))
            self.gradients = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)
            self.weights = self.volume = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
            self.gamma = None
        else:
            self.gradients, self.volume = 0, 0
            for p in SIGNS / np.sqrt(3):  # exact for the means over the trilinear element
                shape = np.stack([SIGNS[:, k] / 8 * np.prod([1 + SIGNS[:, q] * p[q] for q in range(3) if q != k], axis=0) for k in range(3)], 1)
                jacobian = np.einsum("eai,aj->eij", corners - corners[:, :1], shape)
                weight = np.linalg.det(jacobian)
                self.gradients = self.gradients + weight[:, None, None] * np.einsum("aj,eji->eai", shape, np.linalg.inv(jacobian))
                self.volume = self.volume + weight
            self.gradients, self.weights = self.gradients / self.volume[:, None, None], self.volume
            self.gamma = HOURGLASS - np.einsum("eai,ebi,mb->ema", self.gradients, corners - corners[:, :1], HOURGLASS)
            kappa = min(0.1, material["mu"] / (material["bulk"] + material["mu"] / 3) / 5)
            self.stiff = kappa * (material["bulk"] + 4 * material["mu"] / 3) * self.volume / 8 * (self.gradients ** 2).sum(axis=(1, 2))
        self.averages = self.gamma is None and material.get("law") != "stvk"
        terms = [(g, t, 0) for g, t in material.get("isochoric", [])] + [(g, t, 1) for g, t in material.get("volumetric", [])]
        self.terms, self.d = terms, [np.zeros((len(self.nodes), 3, 3)) for _ in terms]
        self.last = np.zeros((2, len(self.nodes), 3, 3))

    def gradient(self, u):
        return np.einsum("eai,eaj->eij", u[self.nodes], self.gradients)

    def forces(self, u, pressures, step, n):
        """[E, n, 3]; Prony terms go on by a step."""
        h = self.gradient(u)
        p = first_stress(h, self.m, pressures[self.nodes].mean(axis=1) if pressures is not None and self.averages else None)
        if self.terms:
            f = h + EYE
            inverse = np.linalg.inv(f)
            s, c = inverse @ p, np.swapaxes(f, 1, 2) @ f
            volumetric = ((s * c).sum(axis=(1, 2)) / 3)[:, None, None] * np.linalg.inv(c)
            now = np.stack([s - volumetric, volumetric])
            for k, (g, t, part) in enumerate(self.terms):
                keep = np.exp(-step / t)
                if n > 0:
                    self.d[k] = keep * self.d[k] + (1 - keep) * g * (self.last[part] + now[part]) / 2
                s = s - self.d[k]
            self.last = now
            p = f @ s
        out = np.einsum("e,eij,eaj->eai", self.weights, p, self.gradients)
        if self.gamma is not None:
            out += np.einsum("e,ema,emb,ebi->eai", self.stiff, self.gamma, self.gamma, u[self.nodes])
        return out


def nodal_pressures(parts, u, n_nodes):
    volume, weight, change = np.zeros((3, n_nodes))
    for p in parts:
        if p.averages:
            modulus = p.m["bulk"] if p.m.get("law", "neo_hookean") == "neo_hookean" else p.m["bulk"] - 2 * p.m["mu"] / 3
            v = np.repeat(p.volume[:, None] / 4, 4, axis=1)
            np.add.at(volume, p.nodes, v)
            np.add.at(weight, p.nodes, v * modulus)
            np.add.at(change, p.nodes, v * (np.linalg.det(p.gradient(u) + EYE) - 1)[:, None])
    some = volume > 0
    return np.where(some, weight / np.where(some, volume, 1) * change / np.where(some, volume, 1), 0)


def face_forces(x, face):
    """Of 1 Pa against the outward normal, on the corners of a triangle or a bilinear quadrilateral (2 x 2 points are exact)."""
    if len(face) == 3:
        return np.tile(-np.cross(x[face[1]] - x[face[0]], x[face[2]] - x[face[0]]) / 6, (3, 1))
    out, flat = np.zeros((4, 3)), SIGNS[:4, :2]
    for p in flat / np.sqrt(3):
        shape = (1 + flat[:, 0] * p[0]) * (1 + flat[:, 1] * p[1]) / 4
        a = (flat[:, 0] * (1 + flat[:, 1] * p[1]) / 4) @ x[face]
        b = (flat[:, 1] * (1 + flat[:, 0] * p[0]) / 4) @ x[face]
        out -= shape[:, None] * np.cross(a, b)
    return out


def smooth(t, a, b):
    s = np.clip((t - a) / (b - a), 0, 1)
    return 10 * s ** 3 - 15 * s ** 4 + 6 * s ** 5


def put_out(way, radius, old, before, place, t):
    """A place that is nearer than the radius goes out along the normal at the old one, as far as it is inside."""
    if np.linalg.norm(way(place, t)) >= radius:
        return place
    normal = way(old, before)
    normal /= np.linalg.norm(normal)
    low, high = 0.0, 10 * radius
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.linalg.norm(way(place + middle * normal, t)) < radius else (low, middle)
    return place + low * normal


class Case:
    """3 x 3 x 2 cells of hexahedra, and as many of tetrahedra that hang on the edge x = 3, z = 2 of them (a triangle may not lie on a
    quadrilateral); inner nodes moved. Lengths, times and masses in units of `unit` = (m, s, kg), all of it moved by `shift` m."""

    def __init__(self, unit=(1.0, 1.0, 1.0), shift=0.0, averages=False, viscous=True):
        self.metre, self.second, self.kilogram = (1 / v for v in unit)
        self.averages, self.viscous = averages, viscous
        rng = np.random.default_rng(4)
        cells = {name: [[i, j, k] for k in heights for j in range(3) for i in ways]
                 for name, ways, heights in (("low", range(3), range(2)), ("high", range(3, 6), range(2, 4)))}
        corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
        places = np.concatenate([np.array(cells[name])[:, None] + corners for name in ("low", "high")]).reshape(-1, 3)
        grid, number = np.unique(places, axis=0, return_inverse=True)
        low, high = number.reshape(2, 18, 8)
        self.grid, self.hexes = grid, low
        self.tets = [[c[0], c[a], c[b], c[6]] for c in high for a, b in PATHS]
        y = (grid[:, 1] > 0) & (grid[:, 1] < 3)
        in_low = y & (grid[:, 0] > 0) & (grid[:, 0] < 3) & (grid[:, 2] == 1)
        self.inner = in_low | (y & (grid[:, 0] > 3) & (grid[:, 0] < 6) & (grid[:, 2] == 3))
        self.x = ((grid + 0.2 * rng.uniform(-1, 1, grid.shape) * self.inner[:, None]) * 0.01 + shift) * self.metre
        self.origin = np.full(3, shift * self.metre)
        # the faces of the top's tetrahedra, and one side of the hexahedra, outward
        self.top_faces = [f for c in high[9:] for f in ([c[4], c[5], c[6]], [c[4], c[6], c[7]])]
        self.side_faces = [[c[3], c[0], c[4], c[7]] for i, c in enumerate(low) if i % 3 == 0]
        self.axes = rng.normal(size=(len(self.tets), 3))

    def say(self, path):
        """The mesh, as .inp: sets may overlap."""
        sets = {"low": self.grid[:, 2] == 0, "top": self.grid[:, 2] == 4, "edge": (self.grid[:, 2] == 4) & (self.grid[:, 0] == 6),
                "side": self.grid[:, 0] == 0}
        with open(path, "w") as f:
            f.write("*NODE\n" + "".join("%d, %.17g, %.17g, %.17g\n" % (i + 1, *p) for i, p in enumerate(self.x)))
            f.write("*ELEMENT, TYPE=C3D8, ELSET=fat\n" + "".join("%d, %s\n" % (i + 1, ", ".join(str(a + 1) for a in c)) for i, c in enumerate(self.hexes)))
            f.write("*ELEMENT, TYPE=C3D4, ELSET=muscle\n" + "".join("%d, %s\n" % (i + 101, ", ".join(str(a + 1) for a in c)) for i, c in enumerate(self.tets)))
            f.write("*ELSET, ELSET=stiff, GENERATE\n1, 9\n")
            for name, marks in sets.items():
                f.write("*NSET, NSET=%s\n" % name + "".join("%d\n" % (i + 1) for i in np.flatnonzero(marks)))

    def materials(self):
        pascal, dense = self.kilogram / self.metre / self.second ** 2, self.kilogram / self.metre ** 3
        own = lambda m: {**m, "mu": m["mu"] * pascal, "bulk": m["bulk"] * pascal, "density": m["density"] * dense}
        seconds = lambda terms: [[g, t * self.second] for g, t in terms]
        gel, muscle = own(GEL), own(MUSCLE)
        pathlib.Path("axes.csv").write_text("element,x,y,z\n" + "".join("%d,%.17g,%.17g,%.17g\n" % (i + 101, *a) for i, a in enumerate(self.axes)))
        said = {**muscle, "fibres": {"stiffness": FIBRE * pascal, "file": "axes.csv"}}
        muscle |= {"fibre": self.axes / np.linalg.norm(self.axes, axis=1)[:, None], "eta": FIBRE * pascal}
        if self.viscous:
            said["prony"] = {"isochoric": seconds(ISOCHORIC), "volumetric": seconds(VOLUMETRIC)}
            muscle |= said["prony"]
        pathlib.Path("m.json").write_text(json.dumps({"materials": {"gel": gel, "muscle": said}, "groups": {"muscle": "muscle"}, "default": "gel"}))
        return [Part(self.x, self.hexes[:9], {**gel, "law": "stvk"}), Part(self.x, self.hexes[9:], gel), Part(self.x, self.tets, muscle)]

    def run(self, arithmetic, *words, scaling=None):
        """Frames of modaltled."""
        metre, second, newton = self.metre, self.second, self.kilogram * self.metre / self.second ** 2
        moved = lambda *p: [v * metre + self.origin[i] for i, v in enumerate(p)]
        pathlib.Path("curve.csv").write_text("".join("%.17g,%g\n" % (t * second, v) for t, v in ((0, 0), (0.03, 1), (0.05, -0.5), (0.06, 0))))
        pathlib.Path("rows.csv").write_text("node,fx,fy,fz\n" + "".join("%d,%.17g,%.17g,0\n" % (i + 1, 2e-3 * newton, -1e-3 * newton)
                                                                         for i in np.flatnonzero(self.grid[:, 1] == 3)[::-1]))
        scene = {
            "step": STEP * second, "steps": STEPS, "at_steps": FRAMES, "laws": {"stiff": "stvk"}, "damping": {"alpha": ALPHA / second},
            "gravity": {"acceleration": [0, 3 * metre / second ** 2, -9.81 * metre / second ** 2], "curve": {"sine": {"frequency": 9 / second, "phase": 0.4}}},
            "forces": [{"nodes": "top", "force": [0.02 * newton, 0, 0], "curve": {"smooth": [0.01 * second, 0.07 * second]}},
                       {"nodes": "edge", "force": [0, 3e-3 * newton, 0], "each": True, "curve": {"file": "curve.csv"}},
                       {"file": "rows.csv", "curve": {"file": "curve.csv"}}],
            "pressures": [{"nodes": "top", "pressure": 60 * newton / metre ** 2, "follower": True, "curve": {"smooth": [0, 0.05 * second]}},
                          {"nodes": "side", "pressure": -40 * newton / metre ** 2, "curve": {"sine": {"frequency": 5 / second}}},
                          {"nodes": "side", "pressure": 50 * newton / metre ** 2, "follower": True}],
            "displacements": [{"nodes": "low", "displacement": [None, 2e-3 * metre, None], "curve": {"keys": [[0, 0], [0.02 * second, 1], [0.05 * second, 0.3]]}},
                              {"nodes": "edge", "displacement": [None, None, 1e-3 * metre], "curve": {"smooth": [0, 0.1 * second]}}],
            "contacts": [{"sphere": moved(0.045, 0.015, 0.0504), "radius": 0.01 * metre,
                          "keys": [[0, 0, 0, 0], [0.06 * second, 0, 0, -0.006 * metre], [0.1 * second, 0.003 * metre, 0, -0.002 * metre]]},
                         {"plane": [moved(0.0605, 0, 0), [-2, 0, 0]], "nodes": "top"},
                         {"capsule": [moved(-0.0085, 0, -0.01), moved(-0.0085, 0.03, 0.03)], "radius": 0.008 * metre,
                          "keys": [[0, 0, 0, 0], [0.1 * second, 0.002 * metre, 0, 0]]}],
            "nodal_pressure": self.averages}
        if scaling:
            scene["mass_scaling"] = {"step": scaling * second, "limit": 1}
        pathlib.Path("s.json").write_text(json.dumps(scene))
        self.say("m.inp")
        self.parts = self.materials()
        got = subprocess.run([modaltled, "m.inp", "o.h5", "-f", "-q", "--scene", "s.json", "--materials", "m.json", "--fixed", "low@xz", "--fields",
                              "solid,energy", "--arithmetic", arithmetic, "--report", "r.json", *words], capture_output=True, text=True)
        check(got.returncode == 0, got.stderr)
        with h5py.File("o.h5") as f:
            check(np.array_equal(f["times"][:], np.array(FRAMES) * (STEP * second)), f["times"][:])
            self.mass = f["solid/mass"][:]
            return f["displacements"][:]

    def own_mass(self):
        own = np.zeros(len(self.x))
        for p in self.parts:
            np.add.at(own, p.nodes, np.repeat((p.m["density"] * p.volume / p.nodes.shape[1])[:, None], p.nodes.shape[1], axis=1))
        return own

    def expected(self, added=0.0):
        """Displacements after FRAMES steps, by numpy; added: to the masses."""
        x, n, dt, second, metre = self.x, len(self.x), STEP * self.second, self.second, self.metre
        newton = self.kilogram * metre / second ** 2
        g, parts, own = self.grid, self.parts, self.own_mass()
        mass = own + added
        low, top, edge, rows = g[:, 2] == 0, g[:, 2] == 4, (g[:, 2] == 4) & (g[:, 0] == 6), g[:, 1] == 3
        free = np.ones((n, 3), bool)
        free[low] = False
        free[edge, 2] = False
        still = {"side": np.zeros((n, 3))}
        for f in self.side_faces:
            still["side"][f] += face_forces(x, f)
        keys = lambda t, ts, vs: np.interp(t, np.array(ts) * second, vs, right=0) if t <= ts[-1] * second else 0.0
        curve = lambda t: keys(t, (0, 0.03, 0.05, 0.06), (0, 1, -0.5, 0))
        at = lambda *p: self.origin + np.array(p) * metre
        u, d, out = np.zeros((n, 3)), np.zeros((n, 3)), {0: np.zeros((n, 3))}
        for k in range(STEPS):
            t, now = k * dt, x + u
            f = np.zeros((n, 3))
            pressures = nodal_pressures(parts, u, n) if self.averages else None
            for p in parts:
                np.add.at(f, p.nodes, -p.forces(u, pressures, dt, k))
            f += own[:, None] * np.array([0, 3, -9.81]) * metre / second ** 2 * np.sin(2 * np.pi * 9 * t / second + 0.4)
            f[top] += np.array([0.02, 0, 0]) * newton / top.sum() * smooth(t / second, 0.01, 0.07)
            f[edge] += np.array([0, 3e-3, 0]) * newton * curve(t)
            f[rows] += np.array([2e-3, -1e-3, 0]) * newton * curve(t)
            pascal = newton / metre ** 2
            for face in self.top_faces:
                f[face] += face_forces(now, face) * 60 * pascal * smooth(t / second, 0, 0.05)
            f -= still["side"] * 40 * pascal * np.sin(2 * np.pi * 5 * t / second)
            for face in self.side_faces:
                f[face] += face_forces(now, face) * 50 * pascal
            half = ALPHA / second * dt / 2
            a = dt * dt * f / mass[:, None]
            way = a / 2 / (1 + half / 2) if k == 0 else ((1 - half) * d + a) / (1 + half)
            next_u, t = u + way, (k + 1) * dt
            next_u[low] = np.array([0, 2e-3, 0]) * metre * np.interp(t, np.array([0, 0.02, 0.05]) * second, [0, 1, 0.3])
            next_u[edge, 2] = 1e-3 * metre * smooth(t / second, 0, 0.1)
            place = x + next_u
            loose = free.all(axis=1)
            ball = lambda t: at(0.045, 0.015, 0.0504) + metre * np.array([np.interp(t / second, [0, 0.06, 0.1], v)
                                                                         for v in ((0, 0, 3e-3), (0, 0, 0), (0, -6e-3, -2e-3))])
            from_ball = lambda p, t: p - ball(t)
            for i in np.flatnonzero(~self.inner & loose):
                place[i] = put_out(from_ball, 0.01 * metre, now[i], k * dt, place[i], t)
                wall = at(0.0605, 0, 0)[0]
                if top[i] and place[i][0] > wall:
                    place[i][0] = wall

                def from_rod(p, t):
                    go = np.array([np.interp(t / second, [0, 0.1], [0, 0.002]), 0, 0]) * metre
                    a, b = at(-0.0085, 0, -0.01) + go, at(-0.0085, 0.03, 0.03) + go
                    return p - (a + np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1) * (b - a))
                place[i] = put_out(from_rod, 0.008 * metre, now[i], k * dt, place[i], t)
            moved = (place != x + next_u).any(axis=1)
            self.touched = getattr(self, "touched", 0) + moved.sum()
            next_u[moved] = (place - x)[moved]
            d, u = next_u - u, next_u
            if k + 1 in FRAMES:
                out[k + 1] = u
        return np.stack([out[k] for k in FRAMES])


def compare(name, got, want, bound):
    error = np.abs(got - want).max() / np.abs(want).max()
    print(f"{name}: {np.abs(want).max():.3g} at most, off by {error:.2g} of it", flush=True)
    check(error <= bound, name, error)


def check_whole():
    """Both arithmetics, without and with nodal pressures and Prony terms."""
    for averages, viscous in ((False, True), (True, True), (True, False)):
        case = Case(averages=averages, viscous=viscous)
        got = case.run("float64")
        want = case.expected()
        check(case.touched > 50 and np.abs(want[-1]).max() > 5e-3, "bodies are touched, and it moves", case.touched)
        check(np.abs(case.mass / case.own_mass() - 1).max() < 1e-14, "masses")
        name = "averages" * averages + " viscous" * viscous
        compare(name, got, want, 1e-12)
        for words in ((), ("--backend", "ref")):
            compare("  float32 " + " ".join(map(str, words)), case.run("float32", *map(str, words)), want, 5e-6)


def check_units():
    """The same numbers in mm, g and ms, in um, and in km: the motion is the same; so it is a hundred metres from the origin, up to what places
    of nodes are rounded to there (2e-14 m of cells of 1e-2 m, and forces are differences of them)."""
    case = Case(averages=True)
    case.run("float64")
    want = case.expected()
    units = ((1e-3, 1e-3, 1e-3), (1e3, 3600.0, 1e3), (1e-6, 1.0, 1.0), (1e-9, 1e-9, 1e-9))
    for unit in units if "--all" in sys.argv else units[:2]:
        other = Case(unit=unit, averages=True)
        compare("unit of %g m, %g s, %g kg" % unit, other.run("float64") * unit[0], want, 1e-11)
        compare("  float32", other.run("float32") * unit[0], want, 5e-6)
    far = Case(shift=100.0, averages=True)
    compare("100 m away", far.run("float64"), want, 1e-10)
    compare("  float32", far.run("float32"), want, 5e-6)


def check_scaled():
    """mass_scaling: masses are found by a fall of one step, in which gravity acts on what the solid had; then the motion is that of them."""
    case = Case(averages=True)
    case.run("float64")
    plain = json.loads(pathlib.Path("r.json").read_text())["critical_step"]
    own = case.own_mass()
    scaling = 1.15 * plain["bound_s"]
    with open("fall.json", "w") as f:
        json.dump({"step": 1e-5, "steps": 1, "at_steps": [1], "gravity": [0, 0, -1], "laws": {"stiff": "stvk"}, "nodal_pressure": True,
                   "mass_scaling": {"step": scaling, "limit": 1}}, f)
    got = subprocess.run([modaltled, "m.inp", "f.h5", "-f", "-q", "--scene", "fall.json", "--materials", "m.json", "--arithmetic", "float64",
                          "--report", "r.json"], capture_output=True, text=True)
    check(got.returncode == 0, got.stderr)
    with h5py.File("f.h5") as f:
        mass = own * -1e-10 / 2 / f["displacements"][0, :, 2]
    share = json.loads(pathlib.Path("r.json").read_text())["mass_scaling"]
    grown = mass / own - 1 > 1e-12
    check(0 < share["nodes"] == grown.sum() < len(own) and np.isclose((mass - own).sum() / own.sum(), share["share"], rtol=1e-9), share, grown.sum())
    got = case.run("float64", scaling=scaling)
    want = case.expected(added=np.where(grown, mass - own, 0))
    compare("mass scaling, %d nodes" % grown.sum(), got, want, 1e-9)
    check(np.abs(got - case.run("float64")).max() > 1e-3 * np.abs(got).max(), "scaling changes nothing")


for part in (check_whole, check_units, check_scaled):
    part()
print("tled whole ok")
