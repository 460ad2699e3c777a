# SPDX-License-Identifier: Apache-2.0
"""modaltled: fibres, Prony terms and nodal pressures against an evaluation of their own, energies, rigid bodies, mass scaling.
usage: check_modaltled_materials.py MODALTLED"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

modaltled = pathlib.Path(sys.argv[1]).resolve()
os.chdir(tempfile.mkdtemp(prefix="modaltled-"))
PATHS = ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1))
MU, BULK, DENSITY = 4000.0, 20000.0, 1000.0


def check(fine, *said):
    assert fine, said


def run(*words, code=0):
    got = subprocess.run([modaltled, *map(str, words)], capture_output=True, text=True)
    check(got.returncode == code, words, got.returncode, got.stderr)
    return got.stderr


def box(name, cells, edge, kind="tet", jitter=0.0, seed=1):
    """A box of cells, of tetrahedra (six a cell), hexahedra, or "both" in turns (layers); inner nodes moved by jitter edges."""
    rng = np.random.default_rng(seed)
    nx, ny, nz = cells
    x = np.array([[i, j, k] for k in range(nz + 1) for j in range(ny + 1) for i in range(nx + 1)], float)
    x[((x > 0) & (x < np.array(cells))).all(axis=1)] += 0
    inner = ((x > 0) & (x < np.array(cells))).all(axis=1)
    x[inner] += jitter * rng.uniform(-1, 1, (inner.sum(), 3))
    x *= edge
    node = lambda i, j, k: (k * (ny + 1) + j) * (nx + 1) + i
    elements = []
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                c = [node(i + a, j + b, k + d) for d in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
                elements += [c] if kind == "hex" else [[c[0], c[a], c[b], c[6]] for a, b in PATHS]
    with open(name, "w") as f:
        f.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 3 \"all\"\n$EndPhysicalNames\n$Nodes\n%d\n" % len(x))
        f.write("".join("%d %.17g %.17g %.17g\n" % (i + 1, *p) for i, p in enumerate(x)))
        f.write("$EndNodes\n$Elements\n%d\n" % len(elements))
        for n, c in enumerate(elements):
            f.write("%d %d 2 3 3 %s\n" % (n + 1, 4 if len(c) == 4 else 5, " ".join(str(a + 1) for a in c)))
        f.write("$EndElements\n")
    return x, elements


def move(mesh, scene, material, *words, code=0):
    with open("scene.json", "w") as f:
        json.dump(scene, f)
    with open("m.json", "w") as f:
        json.dump({"materials": {"a": {"mu": MU, "bulk": BULK, "density": DENSITY, **material}}, "default": "a"}, f)
    return run(mesh, "o.h5", "-f", "--scene", "scene.json", "--materials", "m.json", "--report", "r.json", *words, code=code)


def result(name):
    with h5py.File("o.h5") as f:
        return f[name][:]


def affine(x, gradient, curve=None):
    """Displacements that put every node where the gradient does."""
    return [{"nodes": "box:%s:%s" % (",".join("%.17g" % (v - 1e-6) for v in p), ",".join("%.17g" % (v + 1e-6) for v in p)),
             "displacement": list(gradient @ p), **({"curve": curve} if curve else {})} for p in x]


def first_stress(f, material):
    """P of the neo-Hookean law with fibres, as textbooks write it."""
    j, inverse = np.linalg.det(f), np.linalg.inv(f).T
    p = MU * j ** (-2 / 3) * (f - np.trace(f.T @ f) / 3 * inverse) + BULK * (j - 1) * j * inverse
    if "fibres" in material:
        eta, a = material["fibres"]["stiffness"], np.array(material["fibres"]["direction"], float)
        a /= np.linalg.norm(a)
        square = a @ f.T @ f @ a
        p += eta * (j ** (-2 / 3) * square - 1) * j ** (-2 / 3) * (np.outer(f @ a, a) - square / 3 * inverse)
    return p


def parts(f, p):
    """Isochoric and volumetric second stresses of P."""
    s, inverse = np.linalg.inv(f) @ p, np.linalg.inv(f.T @ f)
    volumetric = np.tensordot(s, f.T @ f) / 3 * inverse
    return s - volumetric, volumetric


def check_fibres():
    """Forces of an element under a homogeneous deformation: of a cube P N A, divided among the corners of its faces."""
    material = {"fibres": {"stiffness": 9000, "direction": [1, 2, -0.5]}}
    h = np.array([[0.2, 0.1, -0.05], [0.03, -0.15, 0.2], [0.1, 0.04, 0.12]])
    for kind in ("tet", "hex"):
        x, elements = box("c.msh", (1, 1, 1), 0.01, kind)
        move("c.msh", {"step": 1e-6, "steps": 1, "at_steps": [1], "displacements": affine(x, h)}, material, "--arithmetic", "float64",
             "--fields", "internal_forces", "--unsafe-step")
        want, p = np.zeros_like(x), first_stress(np.eye(3) + h, material)
        for e in elements:
            if len(e) == 4:
                edges = (x[e[1:]] - x[e[0]]).T
                g = np.vstack([np.zeros(3), np.linalg.inv(edges)])
                g[0] = -g[1:].sum(axis=0)
                want[e] += np.linalg.det(edges) / 6 * g @ p.T
            else:
                signs = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]])
                want[e] += 1e-6 * (signs / 8 / 0.005) @ p.T
        got = result("internal_forces")[-1]
        check(np.abs(got - want).max() <= 1e-12 * np.abs(want).max(), kind, got, want)


def check_fibre_file():
    """Directions from a file are those of the material, to the bit, and the file stands in the provenance."""
    box("c.msh", (2, 2, 2), 0.01, "tet", 0.2)
    scene = {"step": "auto", "steps": 60, "every": 30, "gravity": [0, 0, -9.81]}
    move("c.msh", scene, {"fibres": {"stiffness": 9000, "direction": [0, 3, 4]}}, "--fixed", "box:-1,-1,-1:1,1,1e-6")
    want = result("displacements")
    with open("along.csv", "w") as f:
        f.write("".join("%d,0,3,4\n" % (e + 1) for e in range(48)))
    move("c.msh", scene, {"fibres": {"stiffness": 9000, "file": "along.csv"}}, "--fixed", "box:-1,-1,-1:1,1,1e-6")
    check(np.array_equal(want, result("displacements")), "the same fibres")
    with h5py.File("o.h5") as o:
        texts = []
        o["provenance"].visititems(lambda name, item: texts.extend(str(v) for v in [*item.attrs.values(), item[()] if hasattr(item, "shape") else ""]))
    check(any("along.csv" in text for text in texts), texts)


def check_prony():
    """A cube that is stretched in the first step and held: its stress falls as the terms say; of order 2 in the step."""
    terms = {"isochoric": [[0.3, 0.01], [0.2, 0.05]], "volumetric": [[0.4, 0.02]]}
    f = np.diag([1.3, 0.95, 0.9])
    x, _ = box("c.msh", (1, 1, 1), 0.01, "hex")
    iso, vol = parts(f, first_stress(f, {}))
    errors = []
    for step in (4e-4, 2e-4):
        move("c.msh", {"step": step, "duration": 0.04, "fps": 250, "displacements": affine(x, f - np.eye(3)),
                       "probes": [{"name": "end", "nodes": "box:0.009,-1,-1:1,1,1"}]}, {"prony": terms}, "--arithmetic", "float64",
             "--unsafe-step", "--fields", "none")
        with h5py.File("o.h5") as o:
            t, force = o["times"][:], o["probes/reactions"][:, 0, 0]
        since = t - step - step / 2  # a frame's force is that of the step before; the stretch comes half a step before step 1
        share = [1 - sum(g * (1 - np.exp(-np.maximum(since, 0) / tau)) for g, tau in terms[k]) for k in ("isochoric", "volumetric")]
        want = [(f @ (a * iso + b * vol))[0, 0] * 1e-4 for a, b in zip(*share)]
        errors.append(np.abs(force - want)[1:].max() / abs(force[1]))
    check(errors[0] < 1e-3 and 3 < errors[0] / errors[1] < 5, "Prony terms", errors)


def check_energy():
    """The balance with fibres and nodal pressures falls with the step's square: forces are derivatives of their energy."""
    box("b.msh", (3, 2, 5), 0.01, "tet", 0.15)
    worst = []
    for step in (4e-4, 2e-4):
        move("b.msh", {"step": step, "duration": 0.12, "fps": 100, "gravity": [6, 0, -9.81], "nodal_pressure": True,
                       "forces": [{"nodes": "box:-1,-1,0.0499:1,1,1", "force": [0, 0.6, 0], "curve": {"smooth": [0, 0.05]}}]},
             {"fibres": {"stiffness": 20000, "direction": [0, 0.3, 1]}, "mu": 1000, "bulk": 3e4}, "--arithmetic", "float64", "--fixed",
             "box:-1,-1,-1:1,1,1e-6")
        energy = result("energy")
        worst.append(np.abs(energy[:, -1]).max() / np.abs(energy[:, :-1]).max())
    check(worst[0] < 1e-3 and worst[0] > 2.5 * worst[1], "balance", worst)


def check_viscous():
    """What Prony terms lose in cycles of a small shear is pi G'' g^2 V each, G'' of their spectrum; the balance then shows rounding alone,
    and without terms the work of elements is the energy that they store."""
    tau, share, size, strain, cycles = 0.02, 0.4, 0.01, 1e-3, 3
    period = 2 * np.pi * tau  # where the loss is largest
    h = np.zeros((3, 3))
    h[0, 2] = strain
    x, _ = box("c.msh", (1, 1, 1), size, "hex")
    sine = {"sine": {"frequency": 1 / period}}
    largest = np.pi * MU * share / 2 * strain ** 2 * size ** 3
    for kind, terms in (("isochoric", [[share / 2, tau], [share / 2, tau]]), ("volumetric", [[share, tau]])):
        scene = {"step": period / 4000, "steps": 4000 * (5 + cycles), "every": 4000, "displacements": affine(x, h, sine)}
        move("c.msh", scene, {"prony": {kind: terms}}, "--arithmetic", "float64", "--unsafe-step")
        energy, (hourglass, viscous) = result("energy"), result("energy_parts").T
        lost, want = np.diff(viscous)[-cycles:], largest if kind == "isochoric" else 0
        print("  lost in a cycle of shear, %s terms: %s J, want %.6g" % (kind, lost, want))
        check(np.abs(lost - want).max() <= 5e-3 * largest, kind, lost, want)
        check(np.abs(energy[:, -1]).max() <= 1e-9 * np.abs(energy).max() and (hourglass >= 0).all(), energy[:, -1])
    box("b.msh", (2, 2, 4), 0.01, "hex", 0.15)
    scene = {"step": 2e-4, "duration": 0.3, "fps": 50,
             "forces": [{"nodes": "box:-1,-1,0.0399:1,1,1", "force": [0.02, 0, 0.05], "curve": {"smooth": [0, 0.05]}}]}
    held = ["--fixed", "box:-1,-1,-1:1,1,1e-6", "--arithmetic"]
    for arithmetic, small in (("float64", 1e-12), ("float32", 2e-5)):
        move("b.msh", scene, {"prony": {"isochoric": [[0.3, 0.01]], "volumetric": [[0.1, 0.1]]}}, *held, arithmetic)
        energy, parts = result("energy"), result("energy_parts")
        check(np.abs(energy[:, -1]).max() <= small * np.abs(energy).max(), arithmetic, np.abs(energy[:, -1]).max() / np.abs(energy).max())
        check(parts[-1, 0] > 0 and np.abs(parts[1:, 1]).min() > 0, parts)
    for terms in ({}, {"prony": {"isochoric": [[1e-9, 1]]}}):  # that take next to nothing: the work is what is stored, to the step's square
        move("b.msh", scene, terms, *held, "float64")
        check(np.abs(result("energy_parts")[:, 1]).max() <= (1e-3 if terms else 0) * result("energy")[:, 1].max(), terms, result("energy_parts"))


def check_steady_energy():
    """Where a solid has come to rest nothing moves, and what was put in is stored or damped; also where masses have grown on the way.
    Prony terms that have relaxed to half of twice the stiffness store the same, but for what lags by half a step on the way."""
    box("b.msh", (2, 2, 6), 0.01, "tet", 0.15)
    relaxed = {"mu": 2 * MU, "bulk": 2 * BULK, "prony": {"isochoric": [[0.5, 1]], "volumetric": [[0.5, 1]]}}
    stored = []
    for way, changes in ((0.02, {}), (0.012, {}), (0.012, relaxed)):
        push = [{"nodes": "box:-1,-1,0.0599:1,1,1", "displacement": [0, 0, -way], "curve": {"smooth": [0, 0.6]}}]
        move("b.msh", {"displacements": push, "gravity": [1, 0, 0], "until": "steady", "duration": 20}, changes, "--arithmetic", "float64",
             "--fixed", "box:-1,-1,-1:1,1,1e-6", "--fields", "energy,internal_forces")
        energy, remassed = result("energy"), json.load(open("r.json"))["steady"]["remassed"]
        kinetic, internal, damped, loads, held, balance = energy[1]
        print("  until steady: %s, masses grown %d times" % (energy[1], remassed))
        check((energy[0] == 0).all() and damped > 0 and loads != 0 and held > 0 and 0 <= kinetic < 1e-4 * internal, energy)
        check((remassed > 0 or way < 0.02) and abs(balance) < 1e-4 * internal, "balance", energy[1], remassed)
        stored.append(internal)
    check(abs(stored[2] / stored[1] - 1) < 1e-2, stored)


def check_locking():
    """Pure bending of nearly incompressible material: nodal pressures take the locking of tetrahedra away."""
    box("k.msh", (8, 2, 2), 0.005, "tet")
    ends = []
    for on in (False, True):
        move("k.msh", {"step": "auto", "duration": 0.5, "fps": 50, "damping": {"alpha": 40}, "nodal_pressure": on,
                       "forces": [{"nodes": "box:0.0399,-1,-1:1,1,1", "force": [0, 0, -0.004], "curve": {"smooth": [0, 0.1]}}]},
             {"mu": 3000, "bulk": 3e6}, "--fixed", "box:-1,-1,-1:1e-6,1,1", "--fields", "none")
        ends.append(result("displacements")[-1, :, 2].min())
    check(1.5 * ends[0] > ends[1], "softer", ends)


def check_bodies():
    """A cube that falls on a floor stays above it and is held up by its weight in the end; a sphere and a capsule that are moved
    into the cube stay out of it, with the energies in balance."""
    x, _ = box("d.msh", (3, 3, 3), 0.01, "hex", 0.1)
    weight = DENSITY * 2.7e-5 * 9.81
    for arithmetic in ("float32", "float64"):
        move("d.msh", {"step": "auto", "duration": 1.5, "fps": 40, "gravity": [0, 0, -9.81], "damping": {"alpha": 30},
                       "contacts": [{"name": "floor", "plane": [[0, 0, -0.002], [0, 0, 2]]}]}, {}, "--arithmetic", arithmetic)
        u = result("displacements")
        with h5py.File("o.h5") as o:
            force = o["probes/reactions"][:, 0]
        check((x + u)[..., 2].min() >= -0.002 - 1e-8, "through the floor", (x + u)[..., 2].min())
        check(np.abs(force[-20:].mean(axis=0) - [0, 0, weight]).max() < 0.02 * weight, arithmetic, force[-5:], weight)
        check(np.abs(force[0]).max() == 0, "nothing is touched yet", force[0])
    keys = [[0, 0, 0, 0], [0.1, 0, 0, -0.006], [0.2, 0, 0, -0.006]]
    for body in ({"sphere": [0.015, 0.015, 0.041], "radius": 0.01}, {"capsule": [[-0.01, 0.015, 0.037], [0.04, 0.015, 0.037]], "radius": 0.0075}):
        worst = []
        for step in (1e-4, 5e-5):
            move("d.msh", {"step": step, "duration": 0.2, "fps": 50, "contacts": [{**body, "keys": keys}]}, {}, "--arithmetic", "float64",
                 "--fixed", "box:-1,-1,-1:1,1,1e-6")
            u, energy = result("displacements"), result("energy")
            at = np.array(body.get("sphere", body.get("capsule", [[0]])[0])) + [0, 0, -0.006]
            away = (x + u[-1]) - at
            if "capsule" in body:
                away[:, 0] = np.where((away[:, 0] > 0) & (away[:, 0] < 0.05), 0, 1)
            check(np.linalg.norm(away, axis=1).min() >= body["radius"] - 1e-12, body, np.linalg.norm(away, axis=1).min())
            check(np.abs(u[-1]).max() > 1e-3, "nothing was pushed", np.abs(u[-1]).max())
            worst.append(np.abs(energy[:, -1]).max() / np.abs(energy[:, :-1]).max())
        check(worst[0] < 2e-2 and worst[1] < worst[0], "balance", worst)


def check_sliding():
    """Nodes that slide over a round body which rests do no work on it, without any damping, and where they go is of second order in the step:
    along the shortest way out they would gain energy, until they slip off."""
    x, _ = box("d.msh", (8, 8, 5), 0.004, "hex", 0.1)
    for body in ({"sphere": [0.0163, 0.0157, 0.0282], "radius": 0.008}, {"capsule": [[-0.01, 0.0143, 0.0281], [0.04, 0.0166, 0.0283]], "radius": 0.008}):
        keys, ways = [[0, 0, 0, 0], [0.03, 0, 0, -0.004], [0.06, 0.003, 0, -0.004]], []
        for part in (1, 2, 8):
            move("d.msh", {"step": 4e-4 / part, "steps": 600 * part, "every": 50 * part, "contacts": [{**body, "keys": keys}]}, {},
                 "--arithmetic", "float64", "--fixed", "box:-1,-1,-1:1,1,1e-6")
            ways.append(result("displacements"))
            if part == 1:
                energy, force = result("energy"), result("probes/reactions")[:, 0, 2]
        held = energy[3:, 4]  # the body rests from 0.06 s on
        check(np.abs(held - held[0]).max() <= 1e-2 * energy[-1, 1], body, held, energy[:, 1])
        check(np.abs(force[3:] / force[3] - 1).max() < 0.2 and force[3] < 0, body, force)
        errors = [np.abs(ways[k][3] - ways[2][3]).max() / np.abs(ways[2]).max() for k in (0, 1)]
        print("  %s: work while it rests %.1e of the energy; at its end off by %.1e and %.1e with half the step" %
              (next(iter(body)), np.abs(held - held[0]).max() / energy[-1, 1], *errors))
        check(errors[0] < 2e-2 and errors[1] < 0.5 * errors[0], body, errors)


def check_probes():
    """--probes has every step: lines at frames are the frames' probes to the bit; a body's pushes are those of its nodes' momenta."""
    box("d.msh", (2, 2, 2), 0.01, "hex", 0.1)
    scene = {"step": "auto", "steps": 60, "every": 7, "gravity": [0, 0, -9.81],
             "probes": [{"name": 'up, "left"', "nodes": "box:-1,-1,0.019:1,1,1"}, {"name": "=foot", "nodes": "box:-1,-1,-1:1,1,1e-6"}],
             "contacts": [{"name": "lid", "plane": [[0, 0, 0.021], [0, 0, -1]], "keys": [[0, 0, 0, 0], [0.05, 0, 0, -0.003]]}]}
    for arithmetic in ("float32", "float64"):
        move("d.msh", scene, {}, "--fixed", "box:-1,-1,-1:1,1,1e-6", "--arithmetic", arithmetic, "--probes", "p.csv")
        with open("p.csv") as f:
            head, *lines = f.read().splitlines()
        check(head.startswith('time_s,"up, ""left"" ux_m",') and head.endswith(",lid fz_N") and head.count(",'=foot ") == 9 and ",lid vy_m/s," in head, head)
        table = np.array([[float(v) for v in line.split(",")] for line in lines])
        check(table.shape == (61, 28), table.shape)
        with h5py.File("o.h5") as o:
            frames = np.concatenate([o["probes/" + name][:] for name in ("displacements", "velocities", "reactions")], axis=2).reshape(-1, 27)
            check(np.array_equal(table[::7, 0], o["times"][:]) and np.array_equal(table[::7, 1:], frames), "frames")
        check(np.abs(table[:, 27]).max() > 0, "the lid pushes")
        # a velocity is that of the step which led there, of nodes and bodies
        values = table[:, 1:].reshape(61, 3, 3, 3)
        ways = np.diff(values[:, :, 0], axis=0) / np.diff(table[:, 0])[:, None, None]
        largest = np.abs(ways).max()
        check(np.abs(values[1:, :, 1] - ways).max() <= (1e-5 if arithmetic == "float32" else 1e-10) * largest and largest > 0, "velocities")
        lid, moving = values[1:, 2, 1, 2], table[1:, 0] <= 0.05
        check(not values[0, :, 1].any() and moving.any() and np.abs(lid[moving] + 0.06).max() < 1e-9 and lid[-1] == 0, "the lid's velocity", lid)
        os.remove("p.csv")
    err = move("d.msh", {**scene, "contacts": [], "probes": []}, {}, "--probes", "p.csv", code=3)
    check("--probes" in err and not os.path.exists("p.csv"), err)
    err = move("d.msh", {**scene, "step": 0.004}, {}, "--fixed", "box:-1,-1,-1:1,1,1e-6", "--probes", "p.csv", "--unsafe-step", code=5)
    check(not os.path.exists("p.csv"), "left behind")


def check_scaling():
    """mass_scaling: the step that is asked for is stable; the share is reported, and held to its limit; gravity is not scaled."""
    box("s.msh", (3, 3, 3), 0.01, "tet", 0.3)
    scene = {"step": "auto", "steps": 10, "every": 5, "gravity": [0, 0, -9.81]}
    move("s.msh", scene, {}, "--fields", "solid", "--arithmetic", "float64")
    bound = json.load(open("r.json"))["critical_step"]["bound_s"]
    mass = result("solid/mass").sum() if "mass" in h5py.File("o.h5")["solid"] else None
    longer = {**scene, "step": 1.3 * bound, "mass_scaling": {"step": 1.3 * bound, "limit": 0.5}}
    move("s.msh", longer, {}, "--fields", "solid", "--arithmetic", "float64")
    report = json.load(open("r.json"))
    check(0 < report["mass_scaling"]["share"] < 0.5, report["mass_scaling"])
    check(report["critical_step"]["bound_s"] >= 1.3 * bound * (1 - 1e-12), report["critical_step"], bound)
    check(mass is None or abs(result("solid/mass").sum() / mass - 1) < 1e-12, "the masses of the file are the solid's")
    err = move("s.msh", {**longer, "mass_scaling": {"step": 1.3 * bound, "limit": 1e-4}}, {}, code=3)
    check("above the limit" in err, err)


def check_steady():
    """Dynamic relaxation of a beam whose layers become thinner: its estimate holds, the state is that of smaller tolerances to
    1e-6 in both arithmetics, and it takes at most a third of the steps of the solid's own masses with the best damping of
    some. Prony terms: as after a long time."""
    length, layers = 0.08, 12
    x, _ = box("g.msh", (3, 3, layers), 0.01, "tet", 0.1)
    z = np.cumsum([0, *(60.0 ** (-np.arange(layers) / (layers - 1)))])
    x[:, 2] = (z / z[-1] * length)[np.rint(x[:, 2] / 0.01).astype(int)]
    head, tail = open("g.msh").read().split("$Nodes\n")
    with open("g.msh", "w") as f:
        f.write(head + "$Nodes\n%d\n" % len(x) + "".join("%d %.17g %.17g %.17g\n" % (i + 1, *p) for i, p in enumerate(x)))
        f.write("$EndNodes" + tail.split("$EndNodes")[1])
    loads = {"forces": [{"nodes": "box:-1,-1,0.0799:1,1,1", "force": [0.05, 0, 0], "curve": {"smooth": [0, 0.01]}}]}
    rest = ["--fixed", "box:-1,-1,-1:1,1,1e-6", "--fields", "none", "--arithmetic"]
    move("g.msh", {**loads, "until": "steady", "duration": 20, "accuracy": 1e-10}, {}, *rest, "float64")
    exact = result("displacements")[-1]
    top = np.abs(exact).max()
    steps = {}
    for arithmetic in ("float64", "float32"):
        move("g.msh", {**loads, "until": "steady", "duration": 20}, {}, *rest, arithmetic)
        got, error = json.load(open("r.json"))["steady"], np.abs(result("displacements")[-1] - exact).max()
        check(got["converged"] and error <= 1e-6 * top, arithmetic, got, error / top)
        check(arithmetic == "float32" or 0.3 < got["error_m"] / error < 3, "estimate", got, error)
        steps[arithmetic] = got["steps"]
    physical = []
    for alpha in (25, 35, 45):
        move("g.msh", {**loads, "step": "auto", "duration": 2.5, "fps": 100, "damping": {"alpha": alpha}}, {}, *rest, "float64")
        u = result("displacements")
        off = np.abs(u - exact).reshape(len(u), -1).max(axis=1) > 1e-6 * top
        physical.append(np.where(off)[0][-1] / 100 / json.load(open("r.json"))["step_s"])  # at least so many
    print("  steps until steady: %d and %d (float32); own masses, dampings of 25, 35, 45 1/s: %s" %
          (steps["float64"], steps["float32"], ", ".join("%d" % n for n in physical)))
    on_processor = json.load(open("r.json"))["backend"] in ("cpu", "ref")  # a GPU looks for the end less often
    check(steps["float64"] <= min(physical) / (3 if on_processor else 2), steps, physical)
    move("g.msh", {**loads, "until": "steady", "duration": 20}, {"mu": 2 * MU, "bulk": 2 * BULK,
         "prony": {"isochoric": [[0.5, 1]], "volumetric": [[0.3, 1], [0.2, 9]]}}, *rest, "float64")
    check(np.abs(result("displacements")[-1] - exact).max() < 3e-6 * top, "half of twice the stiffness")
    err = move("g.msh", {**loads, "until": "steady", "duration": 0.02}, {}, *rest, "float64", code=5)
    check("not steady" in err, err)
    swings = {"forces": [{**loads["forces"][0], "curve": {"sine": {"frequency": 1}}}]}
    err = move("g.msh", {**swings, "until": "steady", "duration": 0.02}, {}, *rest, "float64", code=5)
    check("what acts changes until then" in err, err)
    box("n.msh", (2, 2, 3), 0.01)  # a cube that nothing holds has no steady state
    for act in ({"gravity": [0, 0, -1]}, {"forces": [{"nodes": "box:-1,-1,0.0299:1,1,1", "force": [0, 0, 1e-4]}]}):
        for arithmetic, duration in (("float32", 1), ("float64", 1), ("float32", 20)):
            err = move("n.msh", {**act, "until": "steady", "duration": duration}, {}, "--arithmetic", arithmetic, code=5)
            check("not steady" in err, act, arithmetic, err)
    for arithmetic, within in (("float32", 1e-4), ("float64", 1e-6)):  # a floor that it stands on from the beginning holds it, by its weight
        move("n.msh", {"gravity": [0, 0, -2], "contacts": [{"plane": [[0, 0, 0], [0, 0, 1]]}], "until": "steady", "duration": 5}, {}, "--arithmetic", arithmetic)
        push, weight = result("probes/reactions")[-1][0], 2 * DENSITY * 0.02 * 0.02 * 0.03
        check(np.abs(push - [0, 0, weight]).max() < within * weight, arithmetic, push, weight)
    x, _ = box("t.msh", (3, 3, 6), 0.01, "tet", 0.2)  # loads that the solid's own masses survive in automatic steps, and that come at once
    end, held = "box:-1,-1,0.0599:1,1,1", ["--fixed", "box:-1,-1,-1:1,1,1e-6", "--fields", "none"]
    for loads_at_once in ({"forces": [{"nodes": end, "force": [1, 0, -1]}]}, {"gravity": [40, 0, -25]},
                          {"displacements": [{"nodes": end, "displacement": [0, 0, -0.018], "curve": {"smooth": [0, 0.01]}}]}):
        move("t.msh", {**loads_at_once, "step": "auto", "duration": 1.5, "fps": 1, "damping": {"alpha": 20}}, {}, *held)
        want = result("displacements")[-1]
        said = move("t.msh", {**loads_at_once, "until": "steady", "duration": 30, "accuracy": 1e-4}, {}, *held)
        got = json.load(open("r.json"))["steady"]
        check(1 <= got["halvings"] <= 8 and got["converged"] and "the step was halved" in said, got, said)
        check(np.abs(result("displacements")[-1] - want).max() < 3e-4 * np.abs(want).max(), "another state", loads_at_once)
    wild = {"displacements": [{"nodes": end, "displacement": [0, 0, -0.07], "curve": {"smooth": [0, 1]}}], "until": "steady", "duration": 2}
    err = move("t.msh", wild, {}, *held, code=5)  # its end is to go through its foot
    check("inside out" in err and "after the step was halved 8 times" in err and "rise more slowly" in err and "smaller step" not in err, err)
    for key, value in (("step", 1e-4), ("fps", 5), ("damping", {"alpha": 1}), ("until", "now"), ("accuracy", 2)):
        err = move("g.msh", {**loads, "until": "steady", "duration": 1, key: value}, {}, code=3)
        check(key in err, err)
    err = move("g.msh", {**loads, "until": "steady", "duration": 1}, {}, "--fields", "velocities", code=3)
    check("--fields" in err, err)


def check_bad():
    """What cannot be moved is refused with its place."""
    x, _ = box("c.msh", (1, 1, 1), 0.01, "hex")
    box("t.msh", (1, 1, 1), 0.01)
    scene = {"step": "auto", "steps": 2, "every": 1}
    bodies = [({"plane": [[0, 0, 0], [0, 0, 0]]}, "no direction"), ({"sphere": [0, 0, 0]}, "radius"),
              ({"plane": [[0, 0, 0], [0, 0, 1]], "sphere": [0, 0, 0], "radius": 1}, "exactly one"),
              ({"plane": [[0, 0, 0], [0, 0, 1]], "radius": 1}, "has none"), ({"sphere": [0, 0, 0], "radius": -1}, "radius"),
              ({"sphere": [9, 9, 9], "radius": 1, "keys": [[1, 0, 0, 0], [1, 0, 0, 1]]}, "keys"),
              ({"sphere": [9, 9, 9], "radius": 1, "nodes": "nobody"}, "contacts[0]")]
    for body, word in bodies:
        err = move("c.msh", {**scene, "contacts": [body]}, {}, code=3)
        check(word in err, body, err)
    err = move("t.msh", {**scene, "nodal_pressure": True, "law": "stvk"}, {}, code=3)
    check("element 1" in err and "stvk" in err, err)
    err = move("t.msh", {**scene, "nodal_pressure": True, "mean_patches": True}, {}, code=3)
    check("nodal_pressure and mean_patches are both true" in err, err)
    for mesh, key, value, other in (("t.msh", "hourglass", 0.1, "c.msh"), ("t.msh", "hex8_gradients", "centre", "c.msh"), ("c.msh", "nodal_pressure", True, "t.msh"),
                                     ("c.msh", "mean_patches", True, "t.msh")):
        check(key + ": means nothing" in move(mesh, {**scene, key: value}, {}), mesh, key)
        check("means nothing" not in move(other, {**scene, key: value}, {}), other, key)
    err = move("c.msh", {**scene, "hex8_gradients": "corner"}, {}, code=3)
    check("hex8_gradients" in err and "centre" in err, err)
    err = move("c.msh", scene, {"prony": {"isochoric": [[1.2, 1]]}}, code=3)
    check("share" in err, err)
    err = move("c.msh", {**scene, "mass_scaling": {"step": 1}}, {}, code=3)
    check("limit" in err, err)
    text = open("t.msh").read()
    lines = text.split("\n")
    at = lines.index("$Elements") + 2
    words = lines[at].split()
    turned = "\n".join([*lines[:at], " ".join([*words[:5], words[6], words[5], *words[7:]]), *lines[at + 1:]])
    flat = text.replace("\n8 0.01 0.01 0.01\n", "\n8 0.01 0.0 0.0\n")
    loose = text.replace("$Nodes\n8\n", "$Nodes\n9\n").replace("$EndNodes", "9 1 1 1\n$EndNodes")
    nan = text.replace("\n8 0.01 0.01 0.01\n", "\n8 0.01 nan 0.01\n")
    cube = open("c.msh").read()
    crossed = cube.replace(" 1 2 4 3 5 6 8 7\n", " 1 4 2 3 5 8 6 7\n")
    check(crossed != cube, cube)
    for changed, word in ((turned, "left-handed"), (crossed, "element 1"), (flat, "volume"), (nan, "nan"), (loose, "9")):
        check(changed != text, word)
        open("x.msh", "w").write(changed)
        got = move("x.msh", scene, {}, code=0 if changed in (loose, turned) else 3)
        check(word in got.lower(), word, got)
    check(len(result("displacements")[0]) == 8, "a node of no element is left out")
    box("t.msh", (1, 1, 2), 0.01)
    err = move("t.msh", {**scene, "pressures": [{"nodes": "box:-1,-1,0.0099:1,1,0.0101", "pressure": 5}]}, {}, code=3)
    check("pressures[0]: no face of the boundary" in err, err)
    for material, word in (({"mu": -1}, "mu"), ({"bulk": 0}, "bulk"), ({"density": 0}, "density"), ({"density": None}, "density"),
                           ({"fibres": {"stiffness": 1, "direction": [0, 0, 0]}}, "direction"),
                           ({"fibres": {"stiffness": 1, "file": "f.csv"}}, "row 2"), ({"prony": {"isochoric": [[0.1, 0]]}}, "time")):
        open("f.csv", "w").write("1,1,0,0\n2,0,0,0\n")
        err = move("t.msh", scene, material, code=3)
        check(word in err, material, err)
    with open("m.json", "w") as f:
        json.dump({"materials": {"a": {"young": 1e4, "poisson": 0.5, "density": 1}}, "default": "a"}, f)
    err = run("t.msh", "o.h5", "-f", "--scene", "scene.json", "--materials", "m.json", code=3)
    check("poisson" in err or "nu" in err, err)
    err = move("c.msh", {**scene, "contacts": [{"sphere": [0, 0, -0.0005], "radius": 0.001}]}, {})
    check("at t = 0" in err, err)


for test in (check_fibres, check_fibre_file, check_prony, check_energy, check_viscous, check_steady_energy, check_locking, check_bodies, check_sliding, check_probes, check_scaling, check_steady, check_bad):
    test()
    print(test.__name__, "ok", flush=True)
