# SPDX-License-Identifier: Apache-2.0
"""modaltled judges its own motion (formats/trajectory.md): every measure against numpy, verdicts of motions whose error is known, and that
modalinfo, modaldeform and modalsim --project keep the verdict.
usage: check_modaltled_quality.py MODALTLED MODALPACK MODALSIM MODALDEFORM MODALINFO"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from soft_box import box
from validator import validate

modaltled, modalpack, modalsim, modaldeform, modalinfo = (pathlib.Path(p).resolve() for p in sys.argv[1:6])
os.chdir(tempfile.mkdtemp(prefix="modaltled-quality-"))
HELD = ["--fixed", "box:-1,-1,-1:1,1,1e-6"]


def check(fine, *said):
    assert fine, said


def run(tool, *words, code=0):
    got = subprocess.run([tool, *map(str, words)], capture_output=True, text=True)
    check(got.returncode == code, words, got.returncode, got.stdout, got.stderr)
    return got.stdout + got.stderr


def material(nu=0.3):
    return ["--young", "1e4", "--poisson", str(nu), "--density", "1000"]


def move(mesh, scene, *words, nu=0.3, code=0, out="o.h5"):
    pathlib.Path("scene.json").write_text(json.dumps(scene))
    return run(modaltled, mesh, out, "-f", "--scene", "scene.json", *material(nu), *HELD, "--report", "r.json", *words, code=code)


def columns(path="o.h5"):
    with h5py.File(path) as f:
        return dict(zip(f.attrs["quality_columns"].decode().split(), f["quality"][:].T))


def verdict(path="o.h5"):
    """The verdict, and the measures that are past a limit."""
    quality = json.loads(run(modalinfo, path, "--json"))["quality"]
    return quality["rating"], {one["name"] for one in quality["indicators"] if one["rating"] != "ok"}


def close(got, want, within=1e-12):
    check(np.array_equal(np.isnan(got), np.isnan(want)) and (np.abs(got - want)[~np.isnan(want)] <= within).all(), got, want)


def ratios(x, elements, u):
    """det F of every tetrahedron (or at a hexahedron's centre) in every frame."""
    def edges(p, e):
        if len(e) == 4:
            return np.stack([p[..., e[k], :] - p[..., e[0], :] for k in (1, 2, 3)], -1)
        # of a hexahedron F is the mean over the element: two points of Gauss along each axis integrate that exactly
        signs = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]])
        gradient, volume = np.zeros((8, 3)), 0.0
        for g in signs / np.sqrt(3):
            d = np.array([[s[k] / 8 * np.prod([1 + s[m] * g[m] for m in range(3) if m != k]) for k in range(3)] for s in signs])
            jacobian = x[e].T @ d
            gradient += d @ np.linalg.inv(jacobian) * np.linalg.det(jacobian)
            volume += np.linalg.det(jacobian)
        return np.einsum("...ai,aj->...ij", p[..., e, :], gradient / volume)
    return np.array([np.linalg.det(edges(x + u, e)) / np.linalg.det(edges(x, e)) for e in elements]).T


def check_elements():
    """Volumes, and shares of energies, are those of the displacements and energies of the file; the same for any number of threads."""
    push = {"forces": [{"nodes": "high", "force": [0.3, 0.1, -0.6], "curve": {"smooth": [0, 0.02]}}]}
    for kind in ("tet", "hex"):
        x, elements = box("e.msh", (3, 3, 5), 0.01, kind, 0.2)
        for fields in ("none", "energy,velocities"):
            rows = []
            for threads in (1, 2):
                move("e.msh", {"step": 5e-4, "duration": 0.1, "fps": 40, **push}, "--fields", fields, "--arithmetic", "float64", "-j", threads)
                rows.append(columns())
            for name, got in rows[0].items():
                check(got.tobytes() == rows[1][name].tobytes(), name, "threads")
            with h5py.File("o.h5") as f:
                u = f["displacements"][:]
                if fields != "none":  # half a step before
                    u -= f["velocities"][:] * 5e-4 / 2
                    energy, parts = f["energy"][:], f["energy_parts"][:]
            j, q = ratios(x, elements, u), rows[0]
            check(j.min() < 0.9 and j.max() > 1.1, "something is squeezed", j.min(), j.max())
            close(q["min_volume_ratio"], j.min(axis=1), 1e-9)
            close(q["max_volume_ratio"], j.max(axis=1), 1e-9)
            for f in range(1, len(j)):
                check(abs(j[f, int(q["min_volume_ratio_element"][f])] - j[f].min()) <= 1e-9, "which element")
                check(abs(j[f, int(q["max_volume_ratio_element"][f])] - j[f].max()) <= 1e-9, "which element")
            close(q["bad_elements"], ((j < 0.5) | (j > 2)).mean(axis=1))
            unknown = np.full(len(j), np.nan)
            for name in ("min_jacobian", "added_mass", "added_kinetic", "penetration", "force_truncation", "projected"):
                close(q[name], unknown)
            if fields == "none":
                close(q["energy_balance"], unknown), close(q["hourglass"], unknown)
                continue
            largest = np.maximum.accumulate(np.abs(energy[:, :5]).max(axis=1))
            internal = np.maximum.accumulate(energy[:, 1])
            with np.errstate(invalid="ignore"):
                close(q["energy_balance"], np.abs(energy[:, 5]) / largest)
                close(q["hourglass"], parts[:, 0] / internal if kind == "hex" else unknown)
    box("v.msh", (2, 2, 3), 0.01)
    move("v.msh", {"step": "auto", "duration": 0.1, "fps": 20, "law": "stvk", "gravity": [5, 0, 0]}, "--arithmetic", "float64")
    close(columns()["min_jacobian"], columns()["min_volume_ratio"])


def check_scaling():
    """Mass that was added: its share is the reported one, its kinetic energy what /energy has more than the solid's own masses have."""
    box("s.msh", (3, 3, 8), 0.01, "tet", 0.35)
    sway = {"gravity": [2, 0, 0], "step": "auto", "duration": 0.5, "fps": 20}
    move("s.msh", sway, "--arithmetic", "float64", "--fields", "solid,energy")
    bound = json.load(open("r.json"))["critical_step"]["bound_s"]
    for factor, wanted in ((1.1, "ok"), (1.8, "suspect")):  # off by 1 and by some 20 % of the way in the first second
        move("s.msh", {**sway, "step": factor * bound, "mass_scaling": {"step": factor * bound, "limit": 9}}, "--arithmetic", "float64",
             "--fields", "solid,energy,velocities")
        q = columns()
        close(q["added_mass"], np.full(11, json.load(open("r.json"))["mass_scaling"]["share"]), 1e-9)
        with h5py.File("o.h5") as f:
            energy, own = f["energy"][:], np.einsum("n,fni,fni->f", f["solid/mass"][:], f["velocities"][:], f["velocities"][:]) / 2
        with np.errstate(invalid="ignore"):
            close(q["added_kinetic"], (energy[:, 0] - own) / np.maximum.accumulate(np.abs(energy[:, :5]).max(axis=1)), 1e-9)
        check(verdict() == (wanted, set() if wanted == "ok" else {"added_kinetic"}), verdict(), np.nanmax(q["added_kinetic"]))


def ball(cells, deep, radius=0.008, seconds=0.5):
    edge = 0.032 / cells
    x, _ = box("b.msh", (cells, cells, round(0.02 / edge)), edge, "hex")
    return x, {"until": "steady", "duration": 4, "accuracy": 1e-4,
               "contacts": [{"sphere": [0.0163, 0.0157, x[:, 2].max() + radius], "radius": radius, "keys": [[0, 0, 0, 0], [seconds, 0, 0, -deep]]}]}


def check_contact():
    """A ball in a block: its force is off by 2, 11 and 49 % of that of 24 cells where the ball is 4, 2 and 1 cells wide (radius), and the first
    is ok alone. A ball that has gone through the surface is inside, though no node is in it."""
    for cells, wanted in ((16, "ok"), (8, "suspect"), (4, "suspect")):
        x, scene = ball(cells, 0.004)
        said = move("b.msh", scene)
        found, past = verdict()
        check(found == wanted and ("penetration" in past) == (wanted != "ok"), cells, found, past)
        check(("the motion is ok" in said) == (wanted == "ok") and ("motion is suspect: penetration" in said) == (wanted != "ok"), said)
    with h5py.File("o.h5") as f:
        y = (x + f["displacements"][-1])[:, :].reshape(-1, 5, 5, 3)[-1]  # the top
        centre = np.array([0.0163, 0.0157, x[:, 2].max() + 0.008]) + f["probes/displacements"][-1, 0]
    s, t = np.meshgrid(np.linspace(0, 1, 400), np.linspace(0, 1, 400))
    inside = s + t <= 1
    near = min(np.linalg.norm(a + s[inside, None] * (b - a) + t[inside, None] * (c - a) - centre, axis=1).min()
               for i in range(4) for j in range(4)
               for a, b, c in ((y[i, j], y[i, j + 1], y[i + 1, j + 1]), (y[i, j], y[i + 1, j + 1], y[i + 1, j])))
    check(abs(columns()["penetration"][-1] - (1 - near / 0.008)) < 1e-3, columns()["penetration"], near)
    x, scene = ball(8, 0.004)
    gone = {"step": "auto", "steps": 4, "every": 4, "contacts": [{"sphere": [0.016, 0.016, 0.012], "radius": 0.003}]}
    move("b.msh", gone)  # smaller than a cell, in the middle of the block from the beginning
    check(columns()["penetration"][-1] > 1 and verdict() == ("invalid", {"penetration"}), columns()["penetration"], verdict())
    move("b.msh", {**gone, "contacts": [{"capsule": [[0.01, 0.016, 0.04], [0.02, 0.016, 0.04]], "radius": 0.003},
                                        {"plane": [[0, 0, 0.021], [0, 0, -1]]}], "gravity": [0, 0, 9]})
    check(verdict() == ("ok", set()) and columns()["penetration"][-1] < 1e-6, "nothing is touched, or by a plane", columns()["penetration"])
    check(run(modalinfo, "--check", "o.h5").endswith("valid snapshots, rating ok\n"), run(modalinfo, "--check", "o.h5"))


def check_locking():
    """Linear tetrahedra at nu = 0.495 bend to a third of what hexahedra do: warned of, and not ok; with nodal pressures or mean
    patches, and at 0.45, no word."""
    bend = {"until": "steady", "duration": 4, "accuracy": 1e-4,
            "forces": [{"nodes": "high", "force": [0.01, 0, 0], "curve": {"smooth": [0, 0.5]}}]}
    ends = {}
    for kind, nu, pressures in (("tet", 0.495, False), ("tet", 0.495, "nodal_pressure"), ("tet", 0.495, "mean_patches"), ("tet", 0.45, False), ("hex", 0.495, False)):
        x, _ = box("k.msh", (4, 4, 16), 0.0025, kind)
        said = move("k.msh", {**bend, pressures: True} if pressures else bend, nu=nu)
        locks = kind == "tet" and nu > 0.49 and not pressures
        check(("linear tetrahedra are much too stiff near nu = 0.5" in said) == locks, kind, nu, pressures, said)
        check(verdict() == (("suspect", {"locking"}) if locks else ("ok", set())), kind, nu, pressures, verdict())
        with h5py.File("o.h5") as f:
            ends[kind, nu, pressures] = f["displacements"][-1, x[:, 2] > 0.0399, 0].mean()
    check(ends["tet", 0.495, False] < 0.4 * ends["hex", 0.495, False] < 0.5 * ends["tet", 0.495, "nodal_pressure"], ends)
    check(abs(ends["tet", 0.495, "mean_patches"] / ends["hex", 0.495, False] - 1) <= 0.02, ends)


def check_kept():
    """--require-ok; what reads snapshots keeps the verdict; a basis that misses a ball's dent at one node is suspect by that node alone."""
    x, scene = ball(16, 0.004)
    push = {**scene, "step": "auto", "duration": 0.2, "fps": 50, "damping": {"alpha": 20},
            "contacts": [{**scene["contacts"][0], "keys": [[0, 0, 0, 0], [0.1, 0, 0, -0.004]]}]}
    del push["until"], push["accuracy"]
    said = move("b.msh", push, "--require-ok")
    check("the motion is ok: at worst energy_balance" in said and "penetration" in said, said)
    check(json.load(open("r.json"))["quality"]["rating"] == "ok", json.load(open("r.json"))["quality"])
    solid = columns()
    run(modalpack, "b.msh", "b.h5", "-f", "--snapshots", "o.h5", "--modes", 2, *material(), *HELD)
    said = run(modalsim, "b.h5", "t.h5", "-f", "--project", "o.h5")
    q = columns("t.h5")
    for name in ("min_volume_ratio", "hourglass", "penetration", "energy_balance", "min_volume_ratio_element"):
        check(q[name].tobytes() == solid[name].tobytes(), name)
    with h5py.File("t.h5") as f:
        errors = f["projection_errors"][:]
    close(q["projected_node"], errors[:, 2] / errors[:, 3].max())
    check(q["projected"].max() < 0.05 < q["projected_node"].max(), "off at a node, not in the mean", q["projected"].max(), q["projected_node"].max())
    check(verdict("t.h5") == ("suspect", {"projected_node"}) and "motion is suspect: projected_node" in said, verdict("t.h5"), said)
    validate(["o.h5", "t.h5"])
    run(modaldeform, "o.h5", "out", "--report", "d.json")
    check(json.load(open("d.json"))["quality"]["rating"] == "ok", json.load(open("d.json"))["quality"])
    x, scene = ball(4, 0.004)
    said = move("b.msh", scene, "--require-ok", code=5)
    check("--require-ok: o.h5: the motion is suspect: " in said and verdict()[0] == "suspect", said)
    with h5py.File("o.h5", "r+") as f:
        f["quality"][1, f.attrs["quality_columns"].decode().split().index("penetration")] = 0.4
    said = run(modalinfo, "--check", "o.h5", code=1)
    check("invalid: penetration 0.4 in frame 1" in said, said)
    validate("o.h5", 1)
    with h5py.File("o.h5", "r+") as f:
        f["quality"][1, 0] = np.inf
    check("/quality: frame 1, energy_balance: infinite" in run(modalinfo, "--check", "o.h5", code=1))
    validate("o.h5", 1)


for test in (check_elements, check_scaling, check_contact, check_locking, check_kept):
    test()
    print(test.__name__, "ok", flush=True)
