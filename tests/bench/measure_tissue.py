#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/results/tissue.md and docs/tissue.md. usage: measure_tissue.py BIN_FOLDER [cantilever|hourglass|stabilised|liver] [--quick]
cantilever: at rest under a load that bends it far, error against processor seconds for tetrahedra, with nodal pressures and with mean patches, and hexahedra.
hourglass: the same hexahedra with other hourglass controls. stabilised: tetrahedra as they are, with nodal pressures and with mean patches beside
hexahedra on the same nodes, and a cantilever of tetrahedra without an order. liver: what each stage of docs/tissue.md costs in accuracy."""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
from soft_box import box, organ  # noqa: E402

folder = pathlib.Path(sys.argv[1]).resolve()
modaltled = folder / "modaltled"
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "docs/examples"
QUICK = "--quick" in sys.argv
PART = ([word for word in sys.argv[2:] if word != "--quick"] + ["cantilever"])[0]
os.chdir(tempfile.mkdtemp(prefix="measure-tissue-"))
YOUNG, DENSITY, LENGTH, FORCE = 3e3, 1000, 0.08, 3e-3


def bend(cells, kind, poisson, **more):
    """The tip's place at rest, processor seconds of the run, elements and steps."""
    edge = LENGTH / cells[2]
    x, elements = box("c.msh", cells, edge, kind)
    tip = np.isclose(x[:, 2], LENGTH)
    # consistent with an even traction: a corner of the end face has a quarter of an inner node's share
    weight = np.prod([np.where(np.isclose(x[tip, k], 0) | np.isclose(x[tip, k], x[:, k].max()), 0.5, 1.0) for k in (0, 1)], axis=0)
    rows = "".join("%d,%.17g,0,0\n" % (i + 1, FORCE * w / weight.sum()) for i, w in zip(np.flatnonzero(tip), weight))
    pathlib.Path("f.csv").write_text("node,fx,fy,fz\n" + rows)
    pathlib.Path("s.json").write_text(json.dumps({"step": "auto", "duration": 6, "fps": 1, "damping": {"alpha": 5}, "forces":
                                                  [{"file": "f.csv", "curve": {"smooth": [0, 1.5]}}], **more}))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([modaltled, "c.msh", "c.h5", "-f", "-q", "-j", "1", "--scene", "s.json", "--young", str(YOUNG), "--poisson", str(poisson),
                    "--density", str(DENSITY), "--fixed", "low", "--fields", "none", "--report", "r.json"], check=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    with h5py.File("c.h5") as f:
        u = f["displacements"][:]
    rest = np.abs(u[-1] - u[-2]).max() / np.abs(u[-1]).max()
    return u[-1][tip].mean(axis=0), seconds, len(elements), json.loads(pathlib.Path("r.json").read_text())["steps_done"], rest


def cantilever():
    fine = (6, 6, 24) if QUICK else (12, 12, 48)
    for poisson, hourglass in ((0.45, 0.02), (0.495, 0.002)):
        want = bend(fine, "hex", poisson, hourglass=hourglass)[0]
        print(f"\nnu {poisson}: the tip moves by {np.linalg.norm(want) / LENGTH:.3f} of the length (H8, {fine[0]} x {fine[1]} x {fine[2]}, hourglass {hourglass})\n")
        print("| elements | cells | number | error of the tip | processor s | steps | still moving |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for name, kind, more in (("T4", "tet", {}), ("T4, nodal pressure", "tet", {"nodal_pressure": True}),
                                 ("T4, mean patches", "tet", {"mean_patches": True}), ("H8, hourglass 0.1", "hex", {"hourglass": 0.1}),
                                 (f"H8, hourglass {hourglass}", "hex", {"hourglass": hourglass})):
            for n in (2, 4) if QUICK else (2, 4, 8):
                tip, seconds, count, steps, rest = bend((n, n, 4 * n), kind, poisson, **more)
                error = np.linalg.norm(tip - want) / np.linalg.norm(want)
                print(f"| {name} | {n} x {n} x {4 * n} | {count:,} | {100 * error:.2f} % | {seconds:.2f} | {steps:,} | {rest:.0e} |", flush=True)


def hourglass():
    """The tip's way with several kappa, against fine hexahedra with (1 - 2 nu) / 10."""
    print("| nu | cells | 0.1 | 2 (1 - 2 nu) / 5 | (1 - 2 nu) / 5 | (1 - 2 nu) / 10 | (1 - 2 nu) / 20 |\n| --- | --- | --- | --- | --- | --- | --- |")
    n = 4 if QUICK else 8
    for poisson in (0.3, 0.45, 0.495):
        small = 1 - 2 * poisson
        want = np.linalg.norm(bend((n, n, 4 * n), "hex", poisson, hourglass=small / 10)[0])
        for n_cells in (1, 2, 4):
            ways = [np.linalg.norm(bend((n_cells, n_cells, 4 * n_cells), "hex", poisson, hourglass=k)[0])
                    for k in (0.1, 2 * small / 5, small / 5, small / 10, small / 20)]
            print(f"| {poisson} | {n_cells} x {n_cells} x {4 * n_cells} | " + " | ".join(f"{100 * (w / want - 1):+.2f} %" for w in ways) + " |", flush=True)


KINDS = (("plain", "tet", {}), ("nodal pressures", "tet", {"nodal_pressure": True}), ("mean patches", "tet", {"mean_patches": True}), ("hexahedra", "hex", {}))


def moved(scene, poisson, fixed):
    """Nodes of m.msh, their last displacements, those of probes, J that laws saw in any frame, the critical step at rest (s)."""
    pathlib.Path("m.json").write_text(json.dumps({"step": "auto", **scene}))
    subprocess.run([modaltled, "m.msh", "m.h5", "-f", "-q", "-j", "1", "--scene", "m.json", "--young", str(YOUNG), "--poisson", str(poisson),
                    "--density", "1050", "--fixed", fixed, "--report", "r.json"], check=True)
    with h5py.File("m.h5") as f:
        quality = dict(zip(f.attrs["quality_columns"].decode().split(), f["quality"][:].T))
        u, probes, x = f["displacements"][-1], f["probes/displacements"][-1] if "probes" in f else None, f["solid/nodes"][:]
    low, high = np.nanmin(quality["min_volume_ratio"]), np.nanmax(quality["max_volume_ratio"])
    return x, u, probes, f"{low:.3f}-{high:.3f}", json.loads(pathlib.Path("r.json").read_text())["critical_step"]["estimate_s"]


def stabilised():
    """What J the law sees, and where the tip is, of every kind of tetrahedra and of hexahedra on the same nodes."""
    print("| case | | " + " | ".join(name for name, _, _ in KINDS) + " |\n| --- | --- |" + " --- |" * len(KINDS))

    def row(case, what, values):
        print(f"| {case} | {what} | " + " | ".join(values) + " |", flush=True)

    cells = (8, 4, 8) if QUICK else (16, 8, 16)
    scene = json.loads((EXAMPLES / "liver_pull.json").read_text())
    for poisson in (0.49, 0.495):
        got = []
        for _, kind, more in KINDS:
            box("m.msh", cells, 1, kind, place=organ(cells))
            got.append(moved({**scene, **more}, poisson, "box:-1,-1,-1:1,1,-0.045"))
        row(f"pull, nu {poisson}", "tip, mm", [f"{1e3 * np.linalg.norm(g[2][0]):.2f}" for g in got])
        row("", "J", [g[3] for g in got])
        row("", "critical step, ms", [f"{1e3 * g[4]:.3f}" for g in got])
    for n, poisson in ((2, 0.49),) if QUICK else ((4, 0.45), (4, 0.49), (8, 0.49)):
        row(f"cantilever, {n} x {n} x {4 * n}, nu {poisson}", "tip, mm",
            [f"{1e3 * np.linalg.norm(bend((n, n, 4 * n), kind, poisson, **more)[0]):.2f}" for _, kind, more in KINDS])
    n = 4 if QUICK else 6
    for poisson in (0.49, 0.495):
        got = []
        for _, kind, more in KINDS:
            box("m.msh", (n, n, n), 0.06 / n, kind)
            got.append(moved({"duration": 1, "fps": 10, "damping": {"alpha": 20}, "displacements":
                              [{"nodes": "high", "displacement": [0, 0, -0.03], "curve": {"smooth": [0, 0.8]}}], **more}, poisson, "low"))
        row(f"block pressed by half, {n} x {n} x {n}, nu {poisson}", "J", [g[3] for g in got])
    disordered(row)


def disordered(row):
    """A cantilever of TetGen's tetrahedra under its own weight, beside hexahedra of 8 x 8 x 32 cells."""
    x = [(i, j, k) for k in (0, LENGTH) for j in (0, LENGTH / 4) for i in (0, LENGTH / 4)]
    faces = ((1, 3, 4), (1, 4, 2), (5, 6, 8), (5, 8, 7), (1, 2, 6), (1, 6, 5), (3, 7, 8), (3, 8, 4), (1, 5, 7), (1, 7, 3), (2, 4, 8), (2, 8, 6))
    pathlib.Path("b.obj").write_text("".join("v %g %g %g\n" % p for p in x) + "".join("f %d %d %d\n" % f for f in faces))
    tips, jacobians = [], []
    for _, kind, more in KINDS:
        if kind == "hex":
            box("m.msh", (8, 8, 32), LENGTH / 32, kind)
        else:
            subprocess.run([folder / "modalmesh", "b.obj", "m.msh", "-f", "-q", "--size", "0.008" if QUICK else "0.0042"], check=True)
        x, u, _, jacobian, _ = moved({"duration": 6, "fps": 1, "damping": {"alpha": 5}, **more, "gravity":
                                      {"acceleration": [0.6, 0, 0], "curve": {"smooth": [0, 1.5]}}}, 0.49, "box:-1,-1,-1:1,1,1e-6")
        corners = np.isclose(x[:, 2], LENGTH) & (np.isclose(x[:, :2], 0) | np.isclose(x[:, :2], LENGTH / 4)).all(axis=1)
        tips.append(f"{1e3 * np.linalg.norm(u[corners].mean(axis=0)):.2f}"), jacobians.append(jacobian)
    row("cantilever without an order, nu 0.49", "tip, mm", tips)
    row("", "J", jacobians)


def liver():
    """Every stage of docs/tissue.md, by its commands."""
    def run(tool, *words):
        subprocess.run([folder / tool, *map(str, words), "-f", "-q"], check=True)

    def read(path, *names):
        with h5py.File(path) as f:
            found = [f[name][:] for name in names]
        return found[0] if len(found) == 1 else found

    def farthest(a, b):
        return np.sqrt(((a.astype(float) - b) ** 2).sum(axis=2)).max()

    body = ["--young", "3e3", "--poisson", "0.45", "--density", "1050", "--fixed", "box:-1,-1,-1:1,1,-0.045"]
    subprocess.run([sys.executable, EXAMPLES / "liver.py", "liver.obj", *(["3"] if QUICK else [])], check=True)
    subprocess.run([folder / "modalmesh", "liver.obj", "liver.msh", "-f", "-q", "--size", "0.03" if QUICK else "0.0112"], check=True)
    scene = json.loads((EXAMPLES / "liver_pull.json").read_text())

    def pull(out, words=(), **more):
        pathlib.Path("scene.json").write_text(json.dumps({k: v for k, v in {**scene, **more}.items() if v is not None}))
        run("modaltled", "liver.msh", out, "--scene", "scene.json", *body, *words, "--report", "r.json")
        return json.loads(pathlib.Path("r.json").read_text())

    report = pull("s.h5")
    times, u, left = read("s.h5", "times", "displacements", "probes/displacements")
    x, corners = read("s.h5", "solid/nodes", "solid/triangles")
    largest, step = np.sqrt((u.astype(float) ** 2).sum(axis=2)).max(), report["step_s"]
    with open("liver.obj") as f:
        words = [line.split() for line in f]
    surface = np.array([w[1:4] for w in words if w and w[0] == "v"], float)[np.array([[c.split("/")[0] for c in w[1:]] for w in words if w and w[0] == "f"], int) - 1]
    volume = [np.linalg.det(t).sum() / 6 for t in (surface, x[corners])]
    print(f"{len(read('s.h5', 'solid/element_type')):,} tetrahedra, step {step:.6g} s, largest displacement {largest:.5g} m\n")
    print("| stage | error |\n| --- | --- |")
    print(f"| surface to mesh: volume, {1e3 * volume[0]:.4f} l | {abs(volume[1] / volume[0] - 1):.1e} |", flush=True)
    pull("n.h5", nodal_pressure=True)
    ways = [np.linalg.norm(p[68, 0]) for p in (left, read("n.h5", "probes/displacements"))]
    print(f"| T4 beside nodal pressures: the lobe's way at {times[68]:.2f} s, {ways[0]:.4g} m | {1 - ways[0] / ways[1]:.2%} too stiff |", flush=True)
    # of frames at equal times: those of the first run fall on whole numbers of half steps
    frames = [2 * int(n) for n in np.rint(times / step)]
    pull("h.h5", step=step / 2, fps=None, duration=None, steps=frames[-1], at_steps=frames)
    print(f"| step, beside half of it: largest node | {farthest(u, read('h.h5', 'displacements')) / largest:.1e} |", flush=True)
    energy = report["energy"]
    print(f"| balance of energies, of the largest | {energy['worst_balance_J'] / energy['largest_J']:.1e} |")
    pull("d.h5", ["--arithmetic", "float64"])
    print(f"| float32 beside float64: largest node | {farthest(u, read('d.h5', 'displacements')) / largest:.1e} |", flush=True)
    def project(snapshots, columns):
        run("modalpack", "liver.msh", "liver.h5", "--snapshots", snapshots, "--modes", columns, *body)
        run("modalsim", "liver.h5", "reduced.h5", "--project", snapshots, "--report", "r.json")
        found = json.loads(pathlib.Path("r.json").read_text())["projection"]
        return f"{columns} columns: norm, largest node | {found['worst_of_largest']:.1e}, {found['node_of_largest']:.1e} |"

    for columns in (10, 20):
        print("| " + project("s.h5", columns), flush=True)
    for source, out in (("s.h5", "full"), ("reduced.h5", "played")):
        run("modaldeform", source, out, "--fields", "displacement")
    played = [read(f"{out}/sequence.vtkhdf", "VTKHDF/Points").reshape(len(u), -1, 3) for out in ("full", "played")]
    print(f"| played: largest vertex | {farthest(*played):.1e} m of {largest:.4g} m |", flush=True)
    run("modalview", "s.h5", "liver.html", "--report", "r.json")
    page = json.loads(pathlib.Path("r.json").read_text())["reduced"]
    print(f"| page, {page['columns']} columns: largest vertex | {page['error']:.1e} |", flush=True)
    run("modaltled", "liver.msh", "ball.h5", "--scene", EXAMPLES / "liver_ball.json", *body)
    for columns in (20, 40):
        print("| a ball presses, " + project("ball.h5", columns), flush=True)


{"cantilever": cantilever, "hourglass": hourglass, "stabilised": stabilised, "liver": liver}[PART]()
