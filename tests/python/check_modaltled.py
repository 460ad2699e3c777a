# SPDX-License-Identifier: Apache-2.0
"""modaltled: closed forms of motions, energies, momenta, stability, bad input, partial runs.
usage: check_modaltled.py MODALTLED MODALPACK MODALSIM MODALDEFORM [--long]"""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

from soft_box import box
from validator import validate

modaltled, modalpack, modalsim, modaldeform = (pathlib.Path(p).resolve() for p in sys.argv[1:5])
LONG = "--long" in sys.argv
os.chdir(tempfile.mkdtemp(prefix="modaltled-"))
YOUNG, POISSON, DENSITY = 1e4, 0.3, 1000
MATERIAL = ["--young", YOUNG, "--poisson", POISSON, "--density", DENSITY]


def check(fine, *said):
    assert fine, said


def run(tool, *words, code=0):
    got = subprocess.run([tool, *map(str, words)], capture_output=True, text=True)
    check(got.returncode == code, words, got.returncode, got.stderr)
    return got.stderr


def move(mesh, scene, *words, code=0, out="o.h5", material=MATERIAL):
    with open("scene.json", "w") as f:
        json.dump(scene, f, indent=1)
    err = run(modaltled, mesh, out, "-f", "--scene", "scene.json", *material, "--report", "r.json", *words, code=code)
    return err


def result(name, out="o.h5"):
    with h5py.File(out) as f:
        return f[name][:]


def report():
    with open("r.json") as f:
        return json.load(f)


def quickly(scene, **more):
    return {"step": "auto", "duration": 0.1, "fps": 20, **scene, **more}


def check_free_fall():
    """u = g t^2 / 2 at every step, for the first step takes half an acceleration (float32: within two units of the last place after
    any number of steps, for what increments lose is kept); damped: the closed form, of second order."""
    for kind, steps in (("tet", 800), ("hex", 800), ("tet", 40000)):
        box("f.msh", (2, 2, 2), 0.01, kind, 0.2)
        for arithmetic, tolerance in (("float64", 1e-12), ("float32", 2.4e-7)):
            every = steps // 4
            move("f.msh", {"step": 1e-4, "steps": steps, "every": every, "gravity": [1, -2, -9.81]}, "--arithmetic", arithmetic)
            t, u = result("times"), result("displacements")
            want = 0.5 * t[:, None, None] ** 2 * np.array([1, -2, -9.81])
            check(np.array_equal(t, every * np.arange(5) * 1e-4), t)
            check(np.abs(u - want).max() <= tolerance * np.abs(want).max(), kind, arithmetic, np.abs(u - want).max())
    errors = []
    for step in (1e-3, 5e-4):
        move("f.msh", {"step": step, "duration": 0.5, "fps": 2, "gravity": [0, 0, -9.81], "damping": {"alpha": 6}},
             "--arithmetic", "float64", "--unsafe-step")
        t = result("times")[-1]
        want = -9.81 / 6 * (t - (1 - np.exp(-6 * t)) / 6)
        errors.append(np.abs(result("displacements")[-1, :, 2] - want).max())
    check(3.8 < errors[0] / errors[1] < 4.2, "order 2", errors)


def check_oscillator():
    """A cube whose bottom and top move apart only along z has one frequency; the period of a small oscillation comes out
    with the second order of the step."""
    box("c.msh", (1, 1, 1), 0.01, "hex")
    modulus = YOUNG * (1 - POISSON) / ((1 + POISSON) * (1 - 2 * POISSON))  # of confined compression
    mass, stiffness = DENSITY * 1e-6 / 2, modulus * 0.01
    omega = np.sqrt(stiffness / mass)
    errors = []
    for parts in (4, 40, 80):
        step = 2 * np.pi / omega / parts
        # from rest under a constant force: u = F / k (1 - cos omega t)
        said = move("c.msh", {"step": step, "steps": parts * 5 // 4, "at_steps": [parts * 5 // 4],
                       "forces": [{"nodes": "high", "force": [0, 0, 1e-9 * stiffness]}]},
             "--arithmetic", "float64", "--fixed", "low", "--fixed", "high@xy")
        u = result("displacements")[0, -1, 2]
        check(("the motion is suspect: energy_balance" in said) == (parts == 4), "steps that are too coarse are warned of", parts, said)
        errors.append(abs(u - 1e-9))  # cos = 0 after five quarters
    check(3.8 < errors[1] / errors[2] < 4.2 and errors[2] < 3e-3 * 1e-9, errors)


def check_energy():
    """The balance is small and falls as the step squared; with damping, loads and prescribed displacements."""
    box("e.msh", (2, 2, 4), 0.01, "tet", 0.2)
    scene = {"duration": 0.2, "fps": 20, "gravity": [0, 0, -5], "damping": {"alpha": 3},
             "forces": [{"nodes": "box:-1,-1,0.029:1,1,0.031", "force": [0.02, 0, 0], "curve": {"smooth": [0, 0.05]}}],
             "pressures": [{"nodes": "high", "pressure": 60, "follower": True, "curve": {"smooth": [0, 0.1]}}],
             "displacements": [{"nodes": "high", "displacement": [None, 0.004, None], "curve": {"smooth": [0, 0.1]}}]}
    worst = []
    for step in (2e-4, 1e-4):
        move("e.msh", {"step": step, **scene}, "--arithmetic", "float64", "--fixed", "low")
        e = result("energy")
        check(np.abs(e[:, 0] + e[:, 1] + e[:, 2] - e[:, 3] - e[:, 4] - e[:, 5]).max() <= 1e-15, "balance is its formula")
        check((e[-1, :5] != 0).all(), "every term is there", e[-1])
        worst.append(np.abs(e[:, 5]).max() / np.abs(e[:, :5]).max())
    check(worst[0] < 1e-3 and 3.3 < worst[0] / worst[1] < 4.7, worst)
    move("e.msh", {"step": 2e-4, **scene}, "--fixed", "low", "--unsafe-step")
    check(abs(np.abs(result("energy")[:, 5]).max() / np.abs(result("energy")[:, :5]).max() / worst[0] - 1) < 0.1, "float32")


def check_momenta():
    """After forces without resultant have ended, linear and angular momentum of a free body stay."""
    for kind in ("tet", "hex"):
        x, _ = box("m.msh", (2, 2, 3), 0.01, kind, 0.2)
        move("m.msh", {"step": 1e-4, "steps": 2000, "at_steps": [1000, 1001, 1500, 1501, 2000],
                       "forces": [{"nodes": "high", "force": [0.03, 0.05, 0.01], "curve": {"keys": [[0, 0], [0.02, 1], [0.04, 0]]}},
                                  {"nodes": "low", "force": [0.03, -0.04, 0.02], "curve": {"keys": [[0, 0], [0.02, 1], [0.04, 0]]}}]},
             "--arithmetic", "float64", "--fields", "solid,velocities")
        u, v, mass = result("displacements"), result("velocities"), result("solid/mass")
        linear = np.einsum("i,sij->sj", mass, v)
        # position and velocity of half a step before: u - d / 2
        middle = x + u - v * 1e-4 / 2
        angular = np.einsum("i,sij->sj", mass, np.cross(middle, v))
        check(np.linalg.norm(linear[0]) > 1e-4 and np.linalg.norm(angular[0]) > 1e-6, "moves", linear[0], angular[0])
        check(np.abs(linear - linear[0]).max() <= 1e-11 * np.abs(linear).max(), kind, "linear momentum", linear)
        check(np.abs(angular - angular[0]).max() <= 1e-9 * np.abs(angular).max(), kind, "angular momentum", angular)


def check_stability():
    """0.99 of the limit stays bounded, 1.02 explodes; what is refused, and what "auto" takes, is below it."""
    cases = [("tet", 0.0, 0.3), ("hex", 0.2, 0.3), ("tet", 0.25, 0.45)]
    if LONG:
        cases += [(kind, jitter, nu) for kind in ("tet", "hex") for jitter in (0, 0.2, 0.3) for nu in (0.3, 0.45, 0.495)]
    for kind, jitter, nu in cases:
        box("s.msh", (3, 3, 3), 0.01, kind, jitter)
        material = ["--young", YOUNG, "--poisson", nu, "--density", DENSITY]
        small = {"forces": [{"nodes": "high", "force": [1e-9, 2e-9, 3e-9]}]}
        move("s.msh", quickly(small, duration=0, fps=1), material=material)
        limit = report()["critical_step"]["estimate_s"]
        check(report()["critical_step"]["bound_s"] <= limit and report()["step_s"] <= limit, "auto", report())
        said = move("s.msh", {"step": 1.02 * limit, "steps": 10, "every": 10, **small}, material=material, code=3)
        check("above the critical one" in said and "bound" in said, said)
        sizes = {}
        for part in (0.99, 1.02):
            move("s.msh", {"step": part * limit, "steps": 600, "every": 600, **small}, "--unsafe-step", "--arithmetic", "float64",
                 material=material, code=None if part > 1 else 0) if part < 1 else None
            if part < 1:
                sizes[part] = np.abs(result("displacements")[-1] - result("displacements")[-1].mean(axis=0)).max()
                continue
            with open("scene.json", "w") as f:
                json.dump({"step": part * limit, "steps": 600, "every": 600, **small}, f)
            got = subprocess.run([modaltled, "s.msh", "o.h5", "-f", "--scene", "scene.json", *map(str, material), "--unsafe-step",
                                  "--arithmetic", "float64", "-q"], capture_output=True, text=True)
            check(got.returncode in (0, 5), got.stderr)
            sizes[part] = np.inf if got.returncode == 5 else np.abs(result("displacements")[-1]).max()
        check(sizes[0.99] < 1e-6 and sizes[1.02] > 1e3 * sizes[0.99], kind, jitter, nu, sizes)


def reduced_motion(mesh, n_modes, scene, material, *words):
    """Displacements of all nodes by modalsim, of as many modes as there are."""
    run(modalpack, mesh, "l.h5", "-f", "--mass", "lumped", "--modes", n_modes, "--fixed", "low", *material, *words)
    with open("l.json", "w") as f:
        json.dump(scene, f)
    run(modalsim, "l.h5", "t.h5", "-f", "--scene", "l.json")
    run(modaldeform, "t.h5", "out", "-f", "--output-mesh", "volume", "--fields", "displacement")
    with h5py.File("out/sequence.vtkhdf") as f:
        root = f["VTKHDF"]
        return root["PointData/displacement"][:].reshape(-1, root["NumberOfPoints"][0], 3)


def check_linear_modes():
    """A cantilever's small vibration is modalsim's of all modes of the lumped mass matrix, which is exact; to the second order."""
    box("l.msh", (2, 2, 4), 0.01, "tet", 0.1)
    material = ["--young", 1e5, "--poisson", 0.3, "--density", DENSITY]
    force = [2e-5, 4e-5, -2e-5]
    want = reduced_motion("l.msh", 108, {"duration": 0.05, "fps": 100, "forces": [{"object": 0, "group": "high", "force": force}]}, material)
    errors = []
    for step in (1e-4, 5e-5):
        move("l.msh", {"step": step, "duration": 0.05, "fps": 100, "forces": [{"nodes": "high", "force": force}]},
             "--arithmetic", "float64", "--fixed", "low", material=material)
        u = result("displacements")
        errors.append(np.abs(u - want).max() / np.abs(want).max())
    check(errors[1] < 5e-4 and errors[1] < 0.4 * errors[0], errors)


def check_alpha():
    """alpha means one thing: a free body that is pushed goes as far here as in modalsim, (t - (1 - exp(-a t)) / a) F / (m a)."""
    a, t = 1.5, 2.0
    box("a.msh", (2, 2, 4), 0.01, "tet", 0.2)
    push, damping, want = {"gravity": [1, 0, 0]}, {"damping": {"alpha": a}}, (t + np.expm1(-a * t) / a) / a
    move("a.msh", {"step": "auto", "duration": t, "fps": 0.5, **push, **damping}, "--arithmetic", "float64")
    here = result("displacements")[-1, :, 0].mean() / want * t / result("times")[-1]
    run(modalpack, "a.msh", "a.h5", "-f", "--modes", 4, *MATERIAL)
    with open("a.json", "w") as f:
        json.dump({"duration": t, "fps": 0.5, "step": 0.01, **push, **damping, "objects": [{"object": 0, "pose_motion": "free", "initial": [1e-5, 0, 0, 0]}]}, f)
    run(modalsim, "a.h5", "at.h5", "-f", "--scene", "a.json")
    with h5py.File("at.h5") as f:
        there = (f["poses"][-1, 0, 0, 3] - f["poses"][0, 0, 0, 3]) / want
    print("  free body under alpha %g: %.6f and, in modalsim, %.6f of the closed form" % (a, here, there))
    check(abs(here - 1) < 2e-3 and abs(there - 1) < 1e-3, here, there)


def check_stvk():
    """Large deflection of St. Venant-Kirchhoff material: modalsim's of a full basis with reduced forces, small steps."""
    box("l.msh", (1, 1, 3), 0.01)
    force = [0.02, 0.01, 0]
    want = reduced_motion("l.msh", 36, {"duration": 0.1, "fps": 50, "step": 2e-4, "model": "stvk", "integrator": "newmark",
                                        "forces": [{"object": 0, "group": "high", "force": force}]}, MATERIAL, "--reduced-forces")
    errors = []
    for step in (2e-4, 1e-4):
        move("l.msh", {"step": step, "duration": 0.1, "fps": 50, "law": "stvk", "forces": [{"nodes": "high", "force": force}]},
             "--arithmetic", "float64", "--fixed", "low")
        errors.append(np.abs(result("displacements") - want).max() / np.abs(want).max())
    check(np.abs(want).max() > 0.004 and errors[1] < 5e-3, np.abs(want).max(), errors)


def check_bad_input():
    box("b.msh", (1, 1, 2), 0.01)
    good = {"step": 1e-4, "steps": 10, "every": 5}
    os.remove("o.h5")
    for change, words, said in (
            ({"stepp": 1}, [], "stepp"), ({"static": True}, [], "static"), ({"fps": 3}, [], "exactly one of fps"),
            ({"duration": 1}, [], "either steps or duration"), ({"step": -1}, [], "/step"), ({"step": "fast"}, [], "auto"),
            ({"law": "mooney"}, [], "neo_hookean"), ({"laws": {"nix": "stvk"}}, [], "nix"),
            ({"damping": {"beta": 1}}, [], "beta"), ({"gravity": [0, 0]}, [], "gravity"),
            ({"forces": [{"nodes": "nix", "force": [0, 0, 1]}]}, [], ": forces[0]: neither a group nor a file, nix"),
            ({"forces": [{"nodes": "box:9,9,9:9,9,9", "force": [0, 0, 1]}]}, [], "no node"),
            ({"forces": [{"nodes": "high", "force": [0, 0, 1], "curve": {"smooth": [1, 1]}}]}, [], "smooth"),
            ({"pressures": [{"nodes": "box:0,0,0:0,0,1", "pressure": 1}]}, [], "no face of the boundary"),
            ({"forces": [{"nodes": "high", "force": [0, 0, 1], "curve": {"smooth": [1, 2]}}]}, [], "forces[0]: would change nothing, it acts at no time"),
            ({"displacements": [{"nodes": "low", "displacement": [0, 0, 1]}]}, ["--fixed", "low@z"], "held in z"),
            ({"displacements": [{"nodes": "low", "displacement": [None, 0, 1]},
                                {"nodes": "low", "displacement": [0, 0, None]}]}, [], "displaced in y by displacements[0]"),
            ({"displacements": [{"nodes": "low", "displacement": [None, None, None]}]}, [], "displaces nothing"),
            ({"every": 1, "steps": 10, "step": 1}, [], "above the critical one")):
        err = move("b.msh", {**good, **change}, *words, code=3)
        check(said in err and err.strip().count("\n") <= 12, change, err)
        check(not os.path.exists("o.h5"), "half an output")
        key = "step" if "critical" in said else next(iter(change))
        if key in ("step", "laws", "forces", "pressures", "displacements"):  # the line is one of this key's
            at = re.search(r"scene\.json:(\d+): ", err)
            with open("scene.json") as f:
                keys = re.findall(r'^ "(\w+)"', "\n".join(f.read().split("\n")[:int(at[1]) if at else 0]), re.MULTILINE)
            check(keys and keys[-1] == key, key, err)
    for change, words, idle in (({"forces": [{"nodes": "low", "force": [0, 0, 1]}]}, ["--fixed", "low@z"], 1),
                                ({"forces": [{"nodes": "low", "force": [0, 1e-3, 1]}]}, ["--fixed", "low@z"], 0),
                                ({"pressures": [{"nodes": "low", "pressure": 1}]}, ["--fixed", "low"], 1),
                                ({"pressures": [{"nodes": "low", "pressure": 1, "follower": True}]}, ["--fixed", "low"], 1)):
        said = move("b.msh", {**good, **change}, *words)
        check(said.count(f"{next(iter(change))}[0]: moves nothing: the nodes that it acts on are held or displaced in its direction") == idle, change, said)
    ramp = {"nodes": "high", "force": [0, 0, 1e-3], "curve": {"keys": [[0, 0], [5e-4, 1]]}}
    check("forces[0]: its curve ends at 0.0005 s with the value 1; from there to 0.001 s it is 0" in move("b.msh", {**good, "forces": [ramp]}), "a ramp that ends")
    check("its curve ends" not in move("b.msh", {**good, "forces": [dict(ramp, curve={"keys": [[0, 0], [1e-3, 1]]})]}, "--fixed", "low@x"), "a ramp to the end")
    check("half" not in move("b.msh", {**good, "displacements": [{"nodes": "low", "displacement": [0, 0, 1e-4]}]}), "")
    check("jumps" in move("b.msh", {**good, "displacements": [{"nodes": "low", "displacement": [0, 0, 1e-4]}]}), "a jump is warned of")
    for curve, at in (({"keys": [[0, 0], [1e-5, 1]]}, "t = 0 s"), ({"keys": [[0, 0], [4e-4, 0], [4.5e-4, 1]]}, "t = 0.0004 s"),
                      ({"smooth": [2e-4, 2.5e-4]}, "t = 0.0002 s"), ({"sine": {"frequency": 3, "phase": 1}}, "from 0 to 0.841"),
                      ({"sweep": {"from": 1, "to": 2, "start": 0, "end": 0.3}}, "t = 0.3 s"), ({"smooth": [0, 0.1]}, None),
                      ({"keys": [[0, 0], [4e-4, 1]]}, None), ({"sine": {"frequency": 3}}, None)):
        err = move("b.msh", {**good, "displacements": [{"nodes": "low", "displacement": [0, 0, 1e-5], "curve": curve}]})
        check(("jumps" in err) == (at is not None) and (at or "") in err, curve, err)
    for words, said in ((["--young", 1e4, "--poisson", 0.5, "--density", 1], "nu must be in (-1, 0.5), 0.5"),
                        (["--young", 1e4, "--poisson", -1, "--density", 1], "nu must be in (-1, 0.5), -1"),
                        (["--young", 0, "--poisson", 0.3, "--density", 1], "E must be > 0"),
                        (["--young", 1e4, "--poisson", 0.3, "--density", 0], "rho must be > 0")):
        check(said in move("b.msh", good, code=3, material=words), words)
    late = {"step": 1e-4, "duration": 1e-3, "at_steps": [3, 11]}
    check("after the last of 10 steps" in move("b.msh", late, code=3), "a frame after the end")
    move("b.msh", {**late, "at_steps": [3, 10]})
    check(np.array_equal(result("times"), 1e-4 * np.array([3, 10])), result("times"))
    twice = {"probes": [{"name": "a", "nodes": "low"}], "contacts": [{"name": "a", "sphere": [9, 9, 9], "radius": 1}]}
    check("have one name, a" in move("b.msh", {**good, **twice}, code=3), "probes of one name")
    for words, said in ((["--arithmetic", "float16"], "float16"), (["--fields", "nix"], "nix"), (["--fields", "solid,solid"], "twice")):
        check(said in move("b.msh", good, *words, code=2), said)
    run(modaltled, "b.msh", "o.h5", code=2)
    with open("f.csv", "w") as f:
        f.write("1,0,0,1\n99,0,0,1\n")
    check("of that number, 99" in move("b.msh", {**good, "forces": [{"file": "f.csv"}]}, code=3), "a node that is not there")
    with open("f.csv", "w") as f:
        f.write("1,0,0,1\n2,0,nan,1\n")
    check("f.csv" in move("b.msh", {**good, "forces": [{"file": "f.csv"}]}, code=3), "a force that is not a number")
    # held and loaded: the support takes the load, to the bit while nothing else moves
    move("b.msh", {"step": 1e-4, "steps": 1, "every": 1, "forces": [{"nodes": "low", "force": [1, -2, 4]}], "probes": [{"name": "p", "nodes": "low"}]},
         "--fixed", "low", "--arithmetic", "float64")
    check(np.array_equal(result("probes/reactions")[:, 0], [[0, 0, 0], [-1, 2, -4]]), "the support takes the load", result("probes/reactions"))
    # what is not finite ends the run within its frame, with the element
    for arithmetic in ("float32", "float64"):
        for force in (1e30, 1e60):
            said = move("b.msh", {"step": 1e-4, "steps": 100, "every": 50, "forces": [{"nodes": "high", "force": [0, 0, force]}]}, "--fixed", "low",
                        "--arithmetic", arithmetic, code=5).strip().split("\n")[-1]
            check("step " in said and ("not finite" in said or "turned inside out" in said or "critical step" in said), arithmetic, force, said)


def grouped(name, cells, picks):
    """A box of tetrahedra, edge 1 cm, whose group "skin" has the faces of tetrahedra that picks(centre, normal) takes, inner ones, too."""
    x, elements = box(name, cells, 0.01)
    faces = {}
    for e in elements:
        for k in range(4):
            face = [e[i] for i in range(4) if i != k]
            a, b, c = x[face]
            normal = np.cross(b - a, c - a)
            normal *= -np.sign(normal @ (x[e[k]] - a)) / np.linalg.norm(normal)
            if picks((a + b + c) / 3, normal):
                faces[tuple(sorted(face))] = face
    n = len(elements)
    head, tail = open(name).read().split("$Elements\n")
    tets = [line for line in tail.split("\n") if len(line.split()) == 9 and line.split()[1] == "4"]
    with open(name, "w") as f:
        f.write(head.replace('$PhysicalNames\n3\n', '$PhysicalNames\n4\n2 4 "skin"\n') + "$Elements\n%d\n" % (n + len(faces)) + "\n".join(tets) + "\n")
        f.write("".join("%d 2 2 4 4 %d %d %d\n" % (1000 + i, *(v + 1 for v in face)) for i, face in enumerate(faces.values())) + "$EndElements\n")
    with open(name.replace(".msh", ".mesh"), "w") as f:  # the same of another format; its group is 2:4
        f.write("MeshVersionFormatted 2\nDimension 3\nVertices %d\n" % len(x) + "".join("%.17g %.17g %.17g 0\n" % tuple(p) for p in x))
        f.write("Triangles %d\n" % len(faces) + "".join("%d %d %d 4\n" % tuple(v + 1 for v in face) for face in faces.values()))
        f.write("Tetrahedra %d\n" % n + "".join("%d %d %d %d 3\n" % tuple(v + 1 for v in e) for e in elements) + "End\n")
    with open(name.replace(".msh", ".vtk"), "w") as f:  # with a point that no element has in front
        cells = [*elements, *faces.values()]
        f.write("# vtk DataFile Version 3.0\nbox\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n9 9 9\n" % (len(x) + 1))
        f.write("".join("%.17g %.17g %.17g\n" % tuple(p) for p in x) + "CELLS %d %d\n" % (len(cells), sum(len(c) + 1 for c in cells)))
        f.write("".join(" ".join(map(str, [len(c), *(v + 1 for v in c)])) + "\n" for c in cells) + "CELL_TYPES %d\n" % len(cells))
        f.write("".join("%d\n" % (10 if len(c) == 4 else 5) for c in cells) + "CELL_DATA %d\nSCALARS PhysicalIds int\nLOOKUP_TABLE default\n" % len(cells))
        f.write("".join("%d\n" % (3 if len(c) == 4 else 4) for c in cells))


def check_pressed_group():
    """A pressure on a surface group acts on its faces, not on others whose corners all belong to it; inner faces are refused."""
    probes = [{"name": w, "nodes": "box:%s" % at} for w, at in (("left", "-1,-1,-1:1e-6,1,1"), ("right", "0.0099,-1,-1:1,1,1"), ("all", "-1,-1,-1:1,1,1"))]
    for mesh, group, every, follows in (("g.msh", "skin", "all", False), ("g.msh", "skin", "all", True), ("g.mesh", "2:4", "3:3", True),
                                        ("g.vtk", "2:4", "3:3", False)):
        grouped("g.msh", (1, 1, 1), lambda x, n: n[2] > 0.9 and x[2] > 0.0099 or n[1] < -0.9 and x[1] < 1e-6)
        scene = {"step": 1e-4, "steps": 1, "every": 1, "probes": probes, "pressures": [{"nodes": group, "pressure": 100, "follower": follows}]}
        move(mesh, scene, "--fixed", every, "--arithmetic", "float64")
        left, right, both = result("probes/reactions")[-1]
        check(np.abs(both - [0, -0.01, 0.01]).max() < 1e-16, follows, both)  # 100 Pa of 1 cm^2 from above, and from the front
        check(abs(left[0]) < 1e-16 and abs(right[0]) < 1e-16, "the sides are not pressed", follows, left, right)
    grouped("g.msh", (1, 1, 2), lambda x, n: abs(n[2]) > 0.9 and x[2] > 0.0099)
    check("of the group is inside the solid" in move("g.msh", {**scene, "pressures": [{"nodes": "skin", "pressure": 1}]}, code=3), "inner faces")


def check_turned():
    """A load that turns elements ends the run with 5, with element, time and J; frames before stay with --keep-partial."""
    box("t.msh", (1, 1, 2), 0.01)
    os.remove("o.h5") if os.path.exists("o.h5") else None
    scene = {"step": 5e-5, "steps": 4000, "every": 100, "forces": [{"nodes": "high", "force": [0, 0, -3], "curve": {"smooth": [0.02, 0.05]}}]}
    said = move("t.msh", scene, "--fixed", "low", code=5)
    last = said.strip().split("\n")[-1]
    check("element " in last and "t = " in last and "try a smaller step" in last, said)
    check(not os.path.exists("o.h5"), "an output of a failed run")
    move("t.msh", scene, "--fixed", "low", "--keep-partial", code=5)
    kept = result("times")
    check(2 <= len(kept) < 41 and np.array_equal(kept, np.arange(len(kept)) * 100 * 5e-5), kept)
    check(np.isfinite(result("displacements")).all(), "finite")
    move("t.msh", {**scene, "steps": 100 * (len(kept) - 1)}, "--fixed", "low", out="p.h5")
    check(np.array_equal(result("displacements"), result("displacements", "p.h5")), "the same frames as of a shorter run")


def check_signal():
    box("g.msh", (3, 3, 3), 0.01)
    with open("scene.json", "w") as f:
        json.dump({"step": 1e-5, "steps": 10 ** 9, "every": 50, "gravity": [0, 0, -1]}, f)
    for words, exists in ((["--keep-partial"], True), ([], False)):
        os.remove("o.h5") if os.path.exists("o.h5") else None
        p = subprocess.Popen([modaltled, "g.msh", "o.h5", "--scene", "scene.json", *map(str, MATERIAL), *words, "--progress", "json"],
                             stderr=subprocess.PIPE, text=True)
        while '"steps"' not in p.stderr.readline():  # it moves
            check(p.poll() is None, "ended")
        time.sleep(0.2)
        p.send_signal(signal.SIGINT)
        p.communicate()
        check(p.returncode == 130, p.returncode)
        check(os.path.exists("o.h5") == exists and not [n for n in os.listdir(".") if ".tmp-" in n], os.listdir("."))
    # frames of an interrupted run are whole


def check_disk():
    """A file that cannot be written is named; what will not fit is refused before the first frame, with both figures."""
    box("g.msh", (3, 3, 3), 0.01)
    for old in [name for name in os.listdir(".") if name.endswith((".h5", ".ck"))]:
        os.remove(old)
    with open("scene.json", "w") as f:
        json.dump({"step": 1e-4, "steps": 2000, "every": 2, "gravity": [0, 0, -1]}, f)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))  # as a disk that is full
    for words, name in ((["--keep-partial"], "o.h5"), (["--fields", "none", "--checkpoint", "c.ck", "--checkpoint-every", 10], "c.ck")):
        got = subprocess.run([modaltled, "g.msh", "o.h5", "--scene", "scene.json", *map(str, [*MATERIAL, *words]), "-q"], capture_output=True, text=True,
                             preexec_fn=limit)
        check(got.returncode == 4 and got.stderr.startswith("modaltled: %s: " % name) and got.stderr.count("\n") == 1, got)
        check(not os.path.exists("o.h5") and not [n for n in os.listdir(".") if ".tmp-" in n], os.listdir("."))
    move("g.msh", {"step": 1e-4, "steps": 1, "every": 1}, out="q.h5")
    box("g.msh", (16, 16, 16), 0.01)
    err = move("g.msh", {"step": 1e-9, "steps": 2 * 10 ** 7, "every": 1}, "--arithmetic", "float64", "--fields", "velocities,internal_forces", "-q", code=4)
    with h5py.File("q.h5") as f:
        needed = (2e7 + 1) * (17 ** 3 * 72 + 8 + 8 * f["quality"].shape[1])  # 7 TB
    check(err.startswith("modaltled: o.h5: disk too full, %.3f MB are needed and " % (1e-6 * needed)), err, needed)


def check_threads():
    """The same bytes for any number of threads, on the CPU and in both arithmetics; and close to the reference."""
    for kind in ("tet", "hex"):
        box("j.msh", (6, 5, 7), 0.01, kind, 0.2)
        scene = {"step": 1e-4, "steps": 100, "every": 50, "gravity": [0, 3, -9.81],
                 "pressures": [{"nodes": "high", "pressure": 50, "follower": True}], "probes": [{"name": "p", "nodes": "low"}]}
        for arithmetic in ("float32", "float64"):
            seen = []
            for words in (["--backend", "cpu", "-j1"], ["--backend", "cpu", "-j2"], ["--backend", "ref"]):
                move("j.msh", scene, "--fixed", "low", "--arithmetic", arithmetic, *words)
                seen.append([result(name) for name in ("displacements", "energy", "probes/reactions", "times")])
            check(all(np.array_equal(a, b) for a, b in zip(seen[0], seen[1])), kind, arithmetic, "threads")
            size = np.abs(seen[2][0]).max()
            bound = 5e-6 if arithmetic == "float32" else 1e-12
            check(np.abs(seen[0][0] - seen[2][0]).max() <= bound * size, kind, arithmetic, "reference")


def check_devices():
    """Several GPUs, here one of them twice and three times: the same bytes as one, energies and reactions included, with a pressure that follows
    the surface, too; lists of anything else are refused."""
    box("j.msh", (3, 3, 3), 0.01)
    scene = {"step": 1e-4, "steps": 3, "every": 1}
    for devices, said in (("cpu,cpu", "several devices are GPUs"), ("cuda:0,", "is no list of devices"), ("cuda:0,cpu", "all must be of one kind")):
        err = move("j.msh", scene, "--backend", devices, code=2)
        check(said in err, devices, err)
    got = subprocess.run([modaltled, "j.msh", "o.h5", "-f", "--scene", "scene.json", *map(str, MATERIAL), "--backend", "cuda"], capture_output=True, text=True)
    if got.returncode == 4:
        print("  no GPU: skipped that several give the same bytes (%s)" % got.stderr.strip().split("\n")[-1])
        return
    check(got.returncode == 0, got.stderr)
    box("t.msh", (30, 30, 30), 0.01, "tet", 0.2)
    box("h.msh", (12, 10, 14), 0.01, "hex", 0.2)
    for mesh in ("t.msh", "h.msh"):
        for arithmetic in ("float32", "float64"):
            scene = {"step": "auto", "steps": 300, "every": 100, "gravity": [0, 3, -9.81], "probes": [{"name": "p", "nodes": "low"}],
                     "contacts": [{"plane": [[0, 0, -0.001], [0, 0, 1]]}],
                     "forces": [{"nodes": "high", "force": [0.1, 0, 0], "curve": {"smooth": [0, 0.01]}}]}
            for follows in ({}, {"pressures": [{"nodes": "high", "pressure": 5, "follower": True}]}):
                seen = []
                for devices in ("cuda:0", "cuda:0,0", "cuda:0,0,0"):
                    move(mesh, {**scene, **follows}, "--fixed", "box:-1,-1,-1:0.001,1,1", "--arithmetic", arithmetic, "--backend", devices,
                         "--fields", "energy,velocities")
                    seen.append([result(name) for name in ("displacements", "velocities", "energy", "probes/displacements", "probes/reactions",
                                                           "times")])
                check(all(np.array_equal(a, b) for more in seen[1:] for a, b in zip(seen[0], more)), mesh, arithmetic, follows, "several devices")


def check_curves():
    """Displacements are exact at the keys and hold their last value; at_steps, probes' means and reactions."""
    box("k.msh", (2, 2, 2), 0.01)
    move("k.msh", {"step": 0.0005, "steps": 400, "at_steps": [0, 100, 200, 400], "damping": {"alpha": 200},
                   "displacements": [{"nodes": "high", "displacement": [None, None, 0.002], "curve": {"keys": [[0, 0], [0.05, 0.25], [0.1, 1]]}}],
                   "probes": [{"name": "top", "nodes": "high"}, {"name": "bottom", "nodes": "low"}]},
         "--fixed", "low", "--arithmetic", "float64")
    top = result("probes/displacements")[:, 0, 2]
    check(np.array_equal(top[[0, 2, 3]], [0, 0.002, 0.002]) and abs(top[1] - 0.0005) < 1e-18, top)
    force = result("probes/reactions")[-1]
    check(abs(force[0, 2] + force[1, 2]) < 2e-2 * force[0, 2] and force[0, 2] > 0, "what pulls up is held below", force)
    with h5py.File("o.h5") as f:
        check(f["probes"].attrs["names"] in ("top\nbottom", b"top\nbottom"), f["probes"].attrs["names"])


def check_file():
    """modalinfo and the validator take what is written, and say what is broken; modalpack makes a basis of it."""
    modalinfo = modalpack.parent / "modalinfo"
    box("v.msh", (2, 2, 2), 0.01)
    move("v.msh", {"step": 1e-4, "steps": 100, "every": 25, "gravity": [0, 0, -9], "probes": [{"name": "p", "nodes": "high"}]},
         "--fixed", "low", "--fields", "solid,energy,velocities,internal_forces", out="v.h5")
    run(modalinfo, "--check", "v.h5")
    said = subprocess.run([modalinfo, "v.h5"], capture_output=True, text=True).stdout
    check("5 of 27 nodes, float32" in said and "internal_forces" in said and "48 elements" in said, said)
    validate("v.h5")
    with h5py.File("v.h5") as f:
        f_sum, u = f["internal_forces"][0], f["displacements"][0]
        check(not f_sum.any() and not u.any(), "the first frame is at rest")
    run(modalpack, "v.msh", "w.h5", "-f", "--snapshots", "v.h5", "--fixed", "low", *MATERIAL)
    for name, at, value in (("displacements", (2, 3, 1), np.nan), ("times", 1, -1), ("solid/element_nodes", 5, 27), ("solid/mass", 3, 0),
                            ("energy", (1, 2), np.inf), ("velocities", (4, 26, 2), np.nan)):
        with h5py.File("v.h5", "r+") as f:
            kept = f[name][at]
            f[name][at] = value
        got = subprocess.run([modalinfo, "--check", "v.h5"], capture_output=True, text=True)
        check(got.returncode == 1 and name in got.stdout + got.stderr, name, got)
        validate("v.h5", 1)
        with h5py.File("v.h5", "r+") as f:
            f[name][at] = kept
    run(modalinfo, "--check", "v.h5")


def check_long_steps():
    """float32 is within 5e-6 of the largest displacement of float64 after 50,000 steps, also at strains of 1e-4."""
    box("n.msh", (2, 2, 4), 0.01, "tet", 0.15)
    for force in (0.05, 2e-5):
        scene = {"step": 1e-4, "steps": 50000 if LONG else 5000, "every": 2500, "damping": {"alpha": 2},
                 "forces": [{"nodes": "high", "force": [force, force / 3, 0], "curve": {"sine": {"frequency": 1.7}}}]}
        seen = []
        for arithmetic in ("float32", "float64"):
            move("n.msh", scene, "--fixed", "low", "--arithmetic", arithmetic, "--backend", "cpu", "-j1", "--fields", "none")
            seen.append(result("displacements"))
        error = np.abs(seen[0] - seen[1]).max() / np.abs(seen[1]).max()
        print(f"  float32, largest displacement {np.abs(seen[1]).max():.3g} m: off by {error:.2g} of it")
        check(error <= 5e-6, force, error)


for part in (check_free_fall, check_oscillator, check_energy, check_momenta, check_stability, check_linear_modes, check_alpha, check_stvk, check_bad_input,
             check_pressed_group, check_turned, check_signal, check_disk, check_threads, check_devices, check_curves, check_file, check_long_steps):
    begun = time.time()
    part()
    print(f"{part.__name__}: {time.time() - begun:.1f} s")
print("modaltled ok")
