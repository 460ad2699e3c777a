#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modaldeform --format: every format is written, read by the plain readers of read_formats.py, and
compared frame by frame and time by time with x = R (X + U q) + p in float64; what must be refused is,
and nothing is left behind.
usage: check_formats.py MODALDEFORM WRITE_SAMPLES"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

import check_large
import check_modaldeform as base
import check_sequence
import read_formats
from basis_file import element_offsets, node_modes
from trajectories import keep_velocities
from validator import validate

FRAMES = 25
UNKNOWN = "--format: no such format (there are vtkhdf, glb, pc2, mdd, ply, vtp, vtu, obj, csv, wav, null), "


def must(condition, what):
    if not condition:
        sys.exit(f"check_formats: {what}")


class Wanted:
    """What the frames must be, and how far off a format may be."""

    def __init__(self, trajectory, basis, frames, order="user"):
        x, u, dynamic, rigid, self.triangles = base.expected(trajectory, basis, list(frames), order)
        self.arrays = {"Points": x, "displacement": u, "Normals": dynamic, "rigid": rigid}
        self.size = np.ptp(x.reshape(-1, 3), axis=0).max()
        with h5py.File(trajectory, "r") as t:
            self.times = t["times"][:][list(frames)]
            times = t["times"][:]
        k = np.array(list(frames))
        before, after = np.maximum(k - 1, 0), np.minimum(k + 1, len(times) - 1)
        self.velocity_frames = (k, before, after, times)
        self.source = (trajectory, basis, order)
        must(np.abs(np.diff(x, axis=0)).max() > 1e-3 * self.size, "nothing moves: this would prove little")

    def add_speed(self):
        """|R' (X + U q) + p' + R U q'| with central differences of R, p and q; `expected` gives the parts."""
        trajectory, basis, order = self.source
        k, before, after, times = self.velocity_frames
        with tempfile.TemporaryDirectory() as folder:
            parts = []
            for kind in ("poses", "q"):
                path = os.path.join(folder, kind)
                shutil.copy(trajectory, path)
                with h5py.File(path, "r+") as t:
                    if kind in t:
                        values = t[kind][:]
                        span = (times[after] - times[before]).reshape(-1, *[1] * (values.ndim - 1))
                        values[k] = (values[after] - values[before]) / span
                        t[kind][...] = values
                        parts.append(base.expected(path, basis, list(k), order)[0 if kind == "poses" else 1])
        self.arrays["speed"] = np.linalg.norm(sum(parts), axis=2)

    def compare(self, what, name, values):
        wanted = self.arrays[name]
        must(values.shape == wanted.shape, f"{what}: {name}: shape {values.shape}, not {wanted.shape}")
        error = np.abs(values - wanted).max()
        allowed = 1e-5 if name == "Normals" else 1e-6 * (wanted.max() if name == "speed" else self.size)
        must(error <= allowed, f"{what}: {name}: error {error}, allowed {allowed}")  # false for NaN

    def compare_frames(self, what, frames, names):
        must(len(frames) == len(self.times), f"{what}: {len(frames)} frames")
        for i, frame in enumerate(frames):
            must(set(frame) == set(names) | {"triangles"}, f"{what}: frame {i} has {sorted(frame)}")
            must(np.array_equal(frame["triangles"], self.triangles), f"{what}: frame {i}: triangles")
        for name in names:
            self.compare(what, name, np.stack([f[name] for f in frames]))


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, _, names in os.walk(folder) for name in names)


def check_manifest(out, kinds):
    with open(os.path.join(out, "manifest.json"), encoding="utf-8") as text:
        manifest = json.load(text)
    listed = {f["name"]: f["bytes"] for f in manifest["files"]}
    found = {f: os.path.getsize(os.path.join(out, f)) for f in files_below(out) if f != "manifest.json"}
    must(listed == found, f"{out}: manifest lists {listed}, there are {found}")
    must({f["kind"] for f in manifest["files"]} == set(kinds), f"{out}: kinds")
    return manifest


def rest_surface(basis, order):
    parts = []
    with h5py.File(basis, "r") as b:
        for shape, frame in zip(b["objects/shape"][:], b["objects/rest_pose"][:]):
            surface = b[f"shapes/{shape:04d}/surface"]
            x = surface["rest_positions"][:] @ frame[:, :3].T + frame[:, 3]
            moved = np.empty_like(x)
            moved[surface["user_vertex"][:] if order == "user" else slice(None)] = x
            parts.append(moved)
    return np.concatenate(parts)


def check_rest(out, wanted, order="user"):
    rest = read_formats.obj(f"{out}/rest.obj")
    must(np.array_equal(rest["triangles"], wanted.triangles), "rest.obj: triangles")
    x = rest_surface("basis.h5", order)
    must(np.abs(rest["Points"] - x).max() <= 1e-7 * np.abs(x).max(), "rest.obj: positions")
    must("Normals" not in rest, "rest.obj: normals")


def check_probes(path, wanted, names):
    found = read_formats.probes(path)
    x = rest_surface("basis.h5", "user")
    nearest = np.argmin(np.linalg.norm(x - [0.4, 0.1, 0.2], axis=1))
    must(list(found["points"]) == [3, nearest, 0], f"csv: points {found['points']}")
    must(np.array_equal(found["times"], wanted.times), "csv: times")
    must(set(found) == {"times", "points", *names}, f"csv: {sorted(found)}")
    for name in names:
        error = np.abs(found[name] - wanted.arrays[name][:, found["points"]]).max()
        must(error <= 1e-5 * max(1, wanted.arrays[name].max()), f"csv: {name}: error {error}")


def check_glb(path, wanted, order="user"):
    found = read_formats.glb(path)
    shift = max(0, -wanted.times[0])
    must(np.array_equal(found["times"], (wanted.times + shift).astype("f4")), "glb: times")
    must(abs(found["root"]["extras"]["time_shift"] - shift) <= 1e-8 * shift, "glb: time_shift")
    must(np.array_equal(found["triangles"], wanted.triangles), "glb: triangles")
    wanted.compare("glb", "Points", found["Points"])
    with h5py.File("basis.h5", "r") as b:  # the mesh's own weights: the shape at rest
        rest = []
        for shape in b["objects/shape"][:]:
            surface = b[f"shapes/{shape:04d}/surface"]
            x = np.empty_like(surface["rest_positions"][:])
            x[surface["user_vertex"][:] if order == "user" else slice(None)] = surface["rest_positions"][:]
            rest.append(x)
    must(np.abs(np.concatenate(rest) - found["rest"]).max() <= 1e-6 * wanted.size, "glb: rest weights")


def glb():
    """Without a deformer; the stored order; one frame; nothing that moves; times that float32 has not."""
    wanted = Wanted("long.h5", "basis.h5", range(5, 60, 7), "stored")
    base.run("long.h5", "a", "--format", "glb", "--order", "stored", "--frames", "5:60:7")
    must(check_manifest("a", ["glb"])["backend"] == "none", "glb: back end")
    check_glb("a/sequence.glb", wanted, "stored")
    base.run("still.h5", "a", "--format", "glb", "--force")
    wanted = Wanted("still.h5", "basis.h5", range(7))
    check_glb("a/sequence.glb", wanted)
    base.run("traj.h5", "a", "--format", "glb", "--frames", "3", "--force")
    one = read_formats.glb("a/sequence.glb")["Points"]
    must(np.abs(one - base.expected("traj.h5", "basis.h5", [3], "user")[0]).max() <= 1e-6 * np.ptp(one), "one frame")
    for name, q, first in (("rest.h5", 0, 0.0), ("early.h5", 1, -0.5), ("late.h5", 1, 1e9)):
        shutil.copy("still.h5", name)
        with h5py.File(name, "r+") as t:
            t["q"][...] = q * t["q"][:]
            t["times"][...] = first + np.arange(7) / 30.0
    base.run("rest.h5", "a", "--format", "glb", "--force")
    found = read_formats.glb("a/sequence.glb")
    must("animations" not in found["root"] and "targets" not in found["root"]["meshes"][0]["primitives"][0],
         "glb: moves")
    must(np.abs(found["Points"][0] - rest_surface("basis.h5", "user")).max() < 1e-6, "glb: at rest")
    base.run("early.h5", "a", "--format", "glb", "--force")
    found = read_formats.glb("a/sequence.glb")
    must(found["times"][0] == 0 and found["root"]["extras"]["time_shift"] == 0.5, "glb: negative times")
    shutil.rmtree("a")
    base.nothing_left("late.h5", "o", "--format", "glb", code=3, says="frame 1: float32 cannot tell its time")


def glb_normals():
    """Only where they are asked for; of dynamic ones the direction is that of the area-weighted normals, to second order."""
    base.run("long.h5", "a", "--format", "glb", "--frames", "::7")
    plain, array = read_formats.glb_parts("a/sequence.glb")
    must("NORMAL" not in plain["meshes"][0]["primitives"][0]["attributes"], "normals that nobody asked for")
    with h5py.File("basis.h5", "r") as b:
        names = [b[f"shapes/{s:04d}"].attrs["name"] for s in b["objects/shape"][:]]
    names = [n.decode() if isinstance(n, bytes) else n for n in names]
    must([n["name"] for n in plain["nodes"]] == [f"object {i}: {n}" if n else f"object {i}" for i, n in enumerate(names)],
         f"names: {[n['name'] for n in plain['nodes']]}, shapes {names}")
    errors = {}
    for share in (0.02, 0.01):
        shutil.copy("long.h5", "little.h5")
        with h5py.File("little.h5", "r+") as t:
            t["q"][...] = share * t["q"][:]
        base.run("little.h5", "a", "--format", "glb", "--frames", "::7", "--normals", "dynamic", "--force")
        wanted = base.expected("little.h5", "basis.h5", list(range(300))[::7], "user")[2]
        found = read_formats.glb_normals("a/sequence.glb")
        must(found.shape == wanted.shape, f"glb: normals {found.shape}, not {wanted.shape}")
        errors[share] = np.abs(found - wanted).max()
    rest = base.expected("little.h5", "basis.h5", list(range(300))[::7], "user")[3]
    moved = np.abs(wanted - rest).max()
    print(f"check_formats: glb: normals turn by {moved:.1e}, errors {errors}")
    must(errors[0.01] < 0.1 * moved and errors[0.01] < 0.3 * errors[0.02] + 1e-5, f"glb: normals: errors {errors}, they turn by {moved}")
    root, array = read_formats.glb_parts("a/sequence.glb")
    for mesh in root["meshes"]:
        (primitive,) = mesh["primitives"]
        n = array(primitive["attributes"]["NORMAL"]).astype("f8")
        must(np.abs(np.linalg.norm(n, axis=1) - 1).max() < 1e-6, "glb: normals of the base are no unit vectors")
    base.run("little.h5", "b", "--format", "glb", "--frames", "::7", "--normals", "rigid")
    root, array = read_formats.glb_parts("b/sequence.glb")
    must(all("NORMAL" not in t for m in root["meshes"] for t in m["primitives"][0].get("targets", [])), "rigid ones do not change")
    found = read_formats.glb_normals("b/sequence.glb")
    must(np.abs(found - rest).max() < 1e-5, f"glb: rigid normals {np.abs(found - rest).max()}")
    shutil.rmtree("a")
    shutil.rmtree("b")


def all_formats():
    wanted = Wanted("long.h5", "basis.h5", range(FRAMES))
    wanted.add_speed()
    names = ["Points", "Normals", "displacement", "speed"]
    probes = ["--probe", "3", "--probe", "0.4,0.1,0.2", "--probe", "0"]
    base.run("long.h5", "a", "--backend", "cpu", "--frames", f":{FRAMES}", "--fields", "displacement,speed",
             "--format", "obj,vtkhdf,csv,ply,vtp,pc2,glb,mdd", *probes)
    check_manifest("a", ["vtkhdf", "xdmf", "glb", "pc2", "mdd", "ply", "ply.series", "vtp", "pvd", "obj", "csv"])
    n, m, times, arrays = check_sequence.check_vtkhdf("a/sequence.vtkhdf")
    check_sequence.check_xdmf("a/sequence.xdmf", n, m, times, arrays)
    must(arrays == sorted(names), f"vtkhdf: {arrays}")
    with h5py.File("a/sequence.vtkhdf", "r") as f:
        for name in names:
            values = f["VTKHDF/Points" if name == "Points" else f"VTKHDF/PointData/{name}"][:]
            wanted.compare("vtkhdf", name, values.reshape(FRAMES, n, *values.shape[1:]))
    cache = read_formats.pc2("a/sequence.pc2")
    must((cache["start"], cache["rate"]) == (0, 1), "pc2: start and rate")
    wanted.compare("pc2", "Points", cache["Points"])
    cache = read_formats.mdd("a/sequence.mdd")
    must(np.array_equal(cache["times"], wanted.times.astype("f4")), "mdd: times")
    wanted.compare("mdd", "Points", cache["Points"])
    check_rest("a", wanted)
    times, frames = read_formats.ply_series("a/sequence.ply.series")
    must(np.array_equal(times, wanted.times), "ply: times")
    wanted.compare_frames("ply", frames, names)
    times, frames = read_formats.pvd("a/sequence.pvd")
    must(np.array_equal(times, wanted.times), "pvd: times")
    wanted.compare_frames("vtp", frames, names)
    check_probes("a/probes.csv", wanted, names)
    check_glb("a/sequence.glb", wanted)
    frames = read_formats.frames_of("a/obj", "obj", read_formats.obj)
    wanted.compare_frames("obj", frames, ["Points", "Normals"])
    with h5py.File("a/sequence.vtkhdf", "r") as f:  # the same floats everywhere
        exact = f["VTKHDF/Points"][:].reshape(FRAMES, -1, 3)
    must(np.array_equal(exact, read_formats.pc2("a/sequence.pc2")["Points"]), "pc2: bits")
    must(np.array_equal(exact, cache["Points"]), "mdd: bits")
    must(np.array_equal(exact, np.stack([f["Points"] for f in frames]).astype("f4")), "obj: bits")
    shutil.rmtree("a")


def plain():
    """No normals, the stored order, a slice; batches of few frames and other threads: the same bytes."""
    chosen = range(3, 40, 4)
    wanted = Wanted("long.h5", "basis.h5", chosen, "stored")
    common = ["long.h5", "--backend", "cpu", "--frames", "3:40:4", "--normals", "none", "--order", "stored",
              "--format", "ply,obj,pc2,mdd,vtp,glb,csv", "--fields", "speed", "--probe", "1"]
    base.run(*common, "a")
    base.run(*common, "b", "-j1", "--memory-limit", "10M")
    wanted.add_speed()
    wanted.compare_frames("ply", read_formats.ply_series("a/sequence.ply.series")[1], ["Points", "speed"])
    wanted.compare_frames("vtp", read_formats.pvd("a/sequence.pvd")[1], ["Points", "speed"])
    wanted.compare_frames("obj", read_formats.frames_of("a/obj", "obj", read_formats.obj), ["Points"])
    wanted.compare("pc2", "Points", read_formats.pc2("a/sequence.pc2")["Points"])
    check_rest("a", wanted, "stored")
    names = [n for n in files_below("a") if n != "manifest.json"]
    must(names == [n for n in files_below("b") if n != "manifest.json"], "files")
    for name in names:
        must(read_formats.read(f"a/{name}") == read_formats.read(f"b/{name}"), f"{name}: other bytes")
    shutil.rmtree("a")
    shutil.rmtree("b")


def null():
    """Nothing is written, OUT is not made; the bytes of all frames are counted."""
    with h5py.File("long.h5", "r") as t, h5py.File("basis.h5", "r") as b:
        n_frames = len(t["times"])
        n = sum(len(b[f"shapes/{s:04d}/surface/rest_positions"]) for s in b["objects/shape"][:])
    for options, floats in (((), 6), (("--normals", "none"), 3), (("--fields", "displacement,speed"), 10)):
        base.run("long.h5", "nowhere", "--format", "null", "--report", "r.json", *options)
        must(not os.path.exists("nowhere"), "null made a folder")
        with open("r.json", encoding="utf-8") as text:
            must(json.load(text)["bytes"] == 4 * floats * n * n_frames, f"null: bytes, {options}")
    base.run("long.h5", "nowhere", "--format", "null", "--precision", "1e-3", "--report", "r.json")
    base.run("long.h5", "rounded", "--precision", "1e-3", "-q")
    with open("r.json", encoding="utf-8") as text, h5py.File("rounded/sequence.vtkhdf", "r") as s:
        chunks = s["VTKHDF/Points"].id.get_storage_size() + 12 * n * n_frames # normals as they are
        must(json.load(text)["bytes"] == chunks < 24 * n * n_frames, "null: bytes with --precision")
    shutil.rmtree("rounded")
    os.mkdir("kept")
    base.run("long.h5", "kept", "--format", "null", "--frames", "3", "-q")
    must(os.listdir("kept") == [], "null wrote something")
    os.rmdir("kept")
    os.remove("r.json")
    base.nothing_left("long.h5", "o", "--format", "null,ply", code=2, says="--format: null stands alone, null,ply")


def glb_large():
    """More modes than are made at a time, more than viewers may like, and the memory that a limit leaves."""
    n, r = 200 * 160, 230
    check_large.write_basis("large.h5", 200, 160, r)
    check_large.write_trajectory("large_traj.h5", "large.h5", r, 3)
    done = base.run("large_traj.h5", "a", "--format", "glb", says="viewers may fail above 200 morph targets")
    must(done.stderr.count(b"warning") <= 1, "one warning")
    root, array = read_formats.glb_parts("a/sequence.glb")
    primitive = root["meshes"][0]["primitives"][0]
    some = np.random.default_rng(5).integers(0, n, 40)
    with h5py.File("large.h5", "r") as b, h5py.File("large_traj.h5", "r") as t:
        s, q = b["shapes/0000"], t["q"][:]
        user = s["surface/user_vertex"][:]
        u = s["modes/modal_matrix"][:].astype("f8")[some // 32, :, :, some % 32]  # [40, r, 3]
        wanted = s["surface/rest_positions"][:][some] + np.einsum("fk,vki->fvi", q, u)
    (channel,) = root["animations"][0]["channels"]
    weights = array(root["animations"][0]["samplers"][channel["sampler"]]["output"]).reshape(3, -1).astype("f8")
    found = np.broadcast_to(array(primitive["attributes"]["POSITION"])[user[some]].astype("f8"), wanted.shape).copy()
    must(len(primitive["targets"]) == weights.shape[1] == r, "targets")
    for k, target in enumerate(primitive["targets"]):
        found += weights[:, k, None, None] * array(target["POSITION"])[user[some]]
    error = np.abs(found - wanted).max() / np.ptp(wanted)
    must(error <= 1e-6, f"glb: {r} modes: error {error}")
    base.nothing_left("large_traj.h5", "o", "--format", "glb", "--memory-limit", "60M", code=4, says="memory")
    shutil.rmtree("a")
    os.remove("large.h5")


def sound(folder):
    """Both judges of files say so."""
    done = subprocess.run([os.path.join(os.path.dirname(base.tool), "modalinfo"), "--check", folder], capture_output=True, text=True)
    must(done.returncode == 0, f"modalinfo --check: {done.stdout} {done.stderr}")
    validate(f"{folder}/sequence.vtkhdf")


def precision():
    """The absolute error is what was asked for, the bytes do not depend on batches, the file is sound."""
    common = ["long.h5", "--backend", "cpu", "--fields", "displacement", "--frames", ":60"]
    base.run(*common, "exact")
    with h5py.File("exact/sequence.vtkhdf", "r") as f:
        exact = {n: f[f"VTKHDF/{n}"][:] for n in ("Points", "PointData/displacement", "PointData/Normals")}
    sizes = []
    for eps in (1e-1, 7e-3, 1e-3, 5e-4, 1e-4, 2e-5):
        base.run(*common, "a", "--precision", eps, "--force", "--report", "a.json")
        base.run(*common, "b", "--precision", eps, "--force", "-j1", "--memory-limit", "1M")
        base.equal_bytes("a", "b")
        sound("a")
        with h5py.File("a/sequence.vtkhdf", "r") as f:
            must(f["modal"].attrs["precision"] == eps, "precision: attribute")
            for name, values in exact.items():
                error = np.abs(f[f"VTKHDF/{name}"][:].astype("f8") - values).max()
                must(error <= (eps if name != "PointData/Normals" else 0), f"--precision {eps}: {name}: error {error}")
            if eps >= 1e-3:  # rounded indeed, and not stored as it was
                must(np.abs(f["VTKHDF/Points"][:] - exact["Points"]).max() > 0.02 * eps, f"{eps}: nothing rounded")
            view = f["xdmf/000007/Points"][:]
            n = len(view)
            must(np.array_equal(view, f["VTKHDF/Points"][7 * n:8 * n]), "precision: view")
            used = [f[f"VTKHDF/{name}"].id.get_create_plist() for name in exact]
            kinds = [[p.get_filter(i)[0] for i in range(p.get_nfilters())] for p in used]
            must(kinds == [[6], [6], []], f"filters {kinds}")  # scaleoffset
            sizes.append(f["VTKHDF/Points"].id.get_storage_size())
        with open("a.json", encoding="utf-8") as text:
            report = json.load(text)
        total = sum(os.path.getsize(f"a/{f}") for f in ("sequence.vtkhdf", "sequence.xdmf"))
        must(report["bytes"] == total and report["bytes_per_point_and_frame"] == total / n / 60, "report: bytes")
    must(sizes == sorted(sizes), f"sizes {sizes}")
    shutil.copy("still.h5", "rest.h5")
    with h5py.File("rest.h5", "r+") as t:
        t["q"][...] = 0  # a displacement of 0 everywhere takes no bits at all
    base.run("rest.h5", "a", "--precision", "1e-4", "--fields", "displacement", "--force")
    sound("a")
    with h5py.File("a/sequence.vtkhdf", "r") as f:
        must((f["VTKHDF/PointData/displacement"][:] == 0).all(), "precision: zeros")
        x = f["VTKHDF/Points"][:].reshape(7, -1, 3)
        must(np.abs(x - rest_surface("basis.h5", "user")).max() <= 1e-4, "precision: at rest")
    base.nothing_left("long.h5", "o", "--precision", "1e-9", code=3, says="--precision: the filter can promise")
    for text in ("0", "-1", "x", "nan"):
        base.nothing_left("long.h5", "o", f"--precision={text}", code=2, says="--precision")
    base.nothing_left("long.h5", "o", "--precision", "1e-3", "--format", "ply", code=2, says="--precision: only with")
    base.nothing_left("long.h5", "o", "--precision", "1e-3", "--resume", code=2, says="--precision: only with")
    for limit in (1000, 100000, 300000):
        base.nothing_left("long.h5", "o", "--precision", "1e-3", code=4, says="write error, File too large",
                          preexec_fn=base.limit_files(limit))
    for out in ("a", "b", "exact"):
        shutil.rmtree(out)


# As formats/basis.md numbers them: VTK's type, points, and VTK's order of them.
ELEMENTS = {0: (10, 4, None), 1: (24, 10, None), 2: (12, 8, None), 3: (25, 20, None), 4: (13, 6, [3, 4, 5, 0, 1, 2]),
            5: (14, 5, None)}


class WantedVolume(Wanted):
    """Nodes and elements of the solids of all objects."""

    def __init__(self, trajectory, basis, frames):
        super().__init__(trajectory, basis, frames)
        points, moves, self.cells, first = [], [], [], 0
        with h5py.File(trajectory, "r") as t, h5py.File(basis, "r") as b:
            q, offsets = t["q"][:], t["mode_offsets"][:]
            for i, shape in enumerate(b["objects/shape"][:]):
                solid = b[f"shapes/{shape:04d}/volume"]
                nodes, phi = solid["nodes"][:], node_modes(b[f"shapes/{shape:04d}"])
                u = np.einsum("fk,kni->fni", q[list(frames), offsets[i]:offsets[i + 1]], phi)
                placed = t["poses"][:][list(frames), i]
                turn = placed[:, None, :, :3]
                points.append((turn @ (nodes + u)[..., None])[..., 0] + placed[:, None, :, 3])
                moves.append((turn @ u[..., None])[..., 0])
                ids, ends = solid["element_nodes"][:], element_offsets(solid)
                for kind, a, e in zip(solid["element_types"][:], ends, ends[1:]):
                    vtk, n, order = ELEMENTS[kind]
                    row = ids[a:e] if order is None else ids[a:e][order]
                    must(len(row) == n, "element")
                    self.cells.append((vtk, tuple(int(v) + first for v in row)))
                first += len(nodes)
        self.arrays = {"Points": np.concatenate(points, axis=1), "displacement": np.concatenate(moves, axis=1)}


def mixed_elements(path):
    """Every kind of element in the first shape's solid, whatever its quality."""
    with h5py.File(path, "r+") as b:
        solid = b["shapes/0000/volume"]
        n, count = len(solid["nodes"]), len(solid["element_types"])
        kinds = np.array([2, 4, 5, 1, 3] + [0] * (count - 5), "u1")
        sizes = [ELEMENTS[k][1] for k in kinds]
        for name, values in (("element_types", kinds),
                             ("element_nodes", np.concatenate([(np.arange(s) * 3 + s) % n for s in sizes]).astype("i4"))):
            del solid[name]
            solid[name] = values


def volume():
    """The solid: nodes and elements."""
    check_volume("basis.h5", {10})
    shutil.copy("basis.h5", "mixed.h5")
    mixed_elements("mixed.h5")
    check_volume("mixed.h5", {10, 12, 13, 14, 24, 25})
    surface_only = ("vtp", "ply", "pc2", "mdd", "glb", "obj")
    for kind in surface_only:
        base.nothing_left("long.h5", "o", "--output-mesh", "volume", "--format", kind, code=2,
                          says=f"--format: {kind} is not for --output-mesh volume")
    base.nothing_left("long.h5", "o", "--format", "vtu", code=2, says="--format: vtu is not for --output-mesh surface")
    base.nothing_left("long.h5", "o", "--output-mesh", "both", code=2, says="--output-mesh: not surface or volume")
    base.nothing_left("long.h5", "o", "--output-mesh", "volume", "--normals", "dynamic", code=2, says="no normals")
    base.nothing_left("long.h5", "o", "--output-mesh", "volume", "--order", "stored", code=2, says="--order")
    shutil.copy("basis.h5", "bare.h5")
    with h5py.File("bare.h5", "r+") as b:
        del b["shapes/0001/volume/volume_modes"]
    with h5py.File("bare.h5", "r") as b:
        assert "inner_modes" in b["shapes/0000/volume"] and "volume_modes" not in b["shapes/0000/volume"]
    base.nothing_left("long.h5", "o", "--basis", "bare.h5", "--output-mesh", "volume", code=3,
                      says="no solid with modes at its nodes, which a volume needs (modalpack --volume-modes)")


def check_volume(basis, types):
    wanted = WantedVolume("long.h5", basis, range(FRAMES))
    must({t for t, _ in wanted.cells} == types, f"{basis} has other elements")
    common = ["long.h5", "--basis", basis, "--backend", "cpu", "--frames", f":{FRAMES}", "--fields", "displacement",
              "--output-mesh", "volume", "--format", "vtkhdf,vtu,csv", "--probe", "5", "--probe", "36"]
    base.run(*common, "a")
    base.run(*common, "b", "-j1")
    base.equal_bytes("a", "b")
    manifest = check_manifest("a", ["vtkhdf", "xdmf", "vtu", "pvd", "csv"])
    must((manifest["cells"], manifest["triangles"]) == (len(wanted.cells), 0), "manifest: cells")
    times, frames = read_formats.pvd("a/sequence.pvd")
    must(np.array_equal(times, wanted.times), "vtu: times")
    for frame in frames:
        must(frame["cells"] == wanted.cells, "vtu: cells")
    for name in ("Points", "displacement"):
        wanted.compare("vtu", name, np.stack([f[name] for f in frames]))
    found = read_formats.probes("a/probes.csv")
    must(np.abs(found["Points"] - wanted.arrays["Points"][:, [5, 36]]).max() <= 1e-6 * wanted.size, "csv: volume")
    with h5py.File("a/sequence.vtkhdf", "r") as f:
        v = f["VTKHDF"]
        must(v.attrs["Type"] == b"UnstructuredGrid", "Type")
        ends = v["Offsets"][:]
        must([(int(t), tuple(v["Connectivity"][a:b])) for t, a, b in zip(v["Types"][:], ends, ends[1:])] == wanted.cells,
             "vtkhdf: cells")
        must(v["Steps/CellOffsets"].shape == (FRAMES, 1), "CellOffsets")
        for name in ("Points", "displacement"):
            values = v[name if name == "Points" else f"PointData/{name}"][:]
            wanted.compare("vtkhdf", name, values.reshape(FRAMES, -1, 3))
        xdmf = {10: 6, 14: 7, 13: 8, 12: 9, 24: 38, 25: 48}
        must(list(f["modal/xdmf_topology"]) == [v for t, c in wanted.cells for v in (xdmf[t], *c)], "xdmf_topology")
    info = os.path.join(os.path.dirname(base.tool), "modalinfo")
    for damage in (None, "Types", "Connectivity", "Offsets", "xdmf_topology"):
        if damage:
            with h5py.File("a/sequence.vtkhdf", "r+") as f:
                kept = f[array_name(damage)][1]
                f[array_name(damage)][1] = 99 if damage == "Types" else 100000
        done = subprocess.run([info, "a", "--check"], capture_output=True, text=True)
        must(done.returncode == (1 if damage else 0), f"modalinfo --check, {damage}: {done.stdout}{done.stderr}")
        if damage:
            with h5py.File("a/sequence.vtkhdf", "r+") as f:
                f[array_name(damage)][1] = kept
    for out in "ab":
        shutil.rmtree(out)


def array_name(damage):
    return "modal/xdmf_topology" if damage == "xdmf_topology" else f"VTKHDF/{damage}"


def refusals():
    base.nothing_left("traj.h5", "o", "--format", "abc", code=2, says=UNKNOWN + "abc")
    base.nothing_left("traj.h5", "o", "--format", "", code=2, says=UNKNOWN)
    base.nothing_left("traj.h5", "o", "--format", "pc2,", code=2, says=UNKNOWN)
    base.nothing_left("traj.h5", "o", "--format", "pc2,,ply", code=2, says=UNKNOWN)
    base.nothing_left("traj.h5", "o", "--format", "pc2,pc2", code=2, says="--format: twice, pc2")
    for probe in ("-1", "x", "1,2", "1,2,nan", "999999", "", "1 "):
        base.nothing_left("traj.h5", "o", "--format", "csv", f"--probe={probe}", code=2, says="--probe")
    base.nothing_left("traj.h5", "o", "--format", "csv", code=2, says="csv needs at least one --probe")
    base.nothing_left("traj.h5", "o", "--probe", "1", code=2, says="--probe: only with --format csv")
    base.nothing_left("traj.h5", "o", "--fields", "speed,speed", code=2, says="--fields: twice, speed")
    base.nothing_left("traj.h5", "o", "--fields", "", code=2, says="--fields")
    # What no format of the run can carry is refused; what some of them leave out is said.
    base.nothing_left("traj.h5", "o", "--format", "pc2,glb", "--fields", "displacement", code=2,
                      says="--fields: glb, pc2 cannot carry this array of the points, displacement")
    base.nothing_left("traj.h5", "o", "--format", "obj", "--fields", "displacement,speed", code=2,
                      says="--fields: obj cannot carry this array of the points, displacement")
    done = base.run("traj.h5", "o", "--format", "ply,mdd", "--fields", "speed", says="--fields: speed: left out of mdd")
    must(done.stderr.count(b"left out") == 1, "said once")
    shutil.rmtree("o")
    base.nothing_left("traj.h5", "o", "--format", "pc2", "--resume", code=2, says="--resume: only with --format vtkhdf")
    base.nothing_left("traj.h5", "o", "--format", "ply,pc2", "--memory-limit", "10K", code=4, says="memory")
    for limit in (0, 100, 5000):  # a disk that fills up
        for kind in ("pc2", "mdd", "ply", "obj", "vtp", "glb"):
            base.nothing_left("long.h5", "o", "--format", kind, code=4, says="write error, File too large",
                              preexec_fn=base.limit_files(limit))
    # what is there stays, or is replaced as a whole
    base.run("traj.h5", "o", "--format", "ply", "--frames", ":5")
    before = {n: read_formats.read(f"o/{n}") for n in files_below("o")}
    base.run("traj.h5", "o", "--format", "ply,pc2", code=2, says="exists (--force replaces it)")
    must({n: read_formats.read(f"o/{n}") for n in files_below("o")} == before, "something was changed")
    base.run("traj.h5", "o", "--format", "ply,pc2", "--frames", ":2", "--force")
    must(files_below("o") == ["manifest.json", "ply/000000.ply", "ply/000001.ply", "rest.obj", "sequence.pc2",
                              "sequence.ply.series"], f"{files_below('o')}")
    with open("o/ply/mine.txt", "w", encoding="utf-8") as to:
        to.write("mine")
    base.run("traj.h5", "o", "--format", "ply", "--force", code=2, says="o/ply: holds something else")
    must("ply/mine.txt" in files_below("o"), "mine.txt is gone")
    must(not [n for n in os.listdir("o") if "tmp" in n], "temporary files")
    shutil.rmtree("o")


def interrupt():
    """A signal while frames are written leaves nothing."""
    base.long_trajectory("longer.h5", "basis.h5", 20000)
    for kind in ("ply", "obj"):
        process = subprocess.Popen([base.tool, "longer.h5", "o", "--format", kind, "--backend", "ref", "-j1"],
                                   stderr=subprocess.PIPE)
        for _ in range(3000):
            if len(files_below("o")) > 20 or process.poll() is not None:
                break
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=60)
        must(process.returncode == 143 and b"interrupted" in error, f"{kind}: {process.returncode} {error}")
        must(not os.path.exists("o"), f"{kind}: an interrupt left {files_below('o')}")
    os.remove("longer.h5")


def probes_alone():
    """A table alone, which computes few vertices, has the bytes of one beside a format that computes all."""
    probes = ["--probe", "3", "--probe", "0.4,0.1,0.2", "--probe", "34", "--probe", "35", "--probe", "74", "--probe", "3"]
    everything = ["--fields", "displacement,speed"]
    shutil.copy("basis.h5", "textured.h5")
    with h5py.File("textured.h5", "r+") as b:  # the second shape has none
        surface = b["shapes/0001/surface"]
        corners = surface["triangles"][:]
        surface["uv"] = np.random.default_rng(3).random((corners.max() + 1, 2))
        surface["triangle_uv"] = corners
    cases = [[], ["--normals", "none"], ["--normals", "rigid", *everything], everything, ["--order", "stored", *everything],
             ["--frames", "7:90:4", "-j1"], ["--backend", "ref", "--frames", ":40"],
             ["--basis", "textured.h5", "--tangents", "dynamic"], ["--basis", "textured.h5", "--tangents", "rigid", "--order", "stored"],
             ["--output-mesh", "volume", *everything], ["--memory-limit", "4M", "--frames", ":50"]]
    for options in cases:
        options = options if "--frames" in options else options + ["--frames", "90:120"]
        options = options if "--backend" in options else options + ["--backend", "cpu"]  # CUDA sums few vertices otherwise
        beside = "vtkhdf" if "volume" in options else "vtp"
        base.run("long.h5", "alone", "--format", "csv", *probes, *options, "--report", "alone.json", "--force")
        base.run("long.h5", "beside", "--format", f"csv,{beside}", *probes, *options, "--report", "beside.json", "--force")
        tables = [open(f"{folder}/probes.csv", "rb").read() for folder in ("alone", "beside")]
        must(tables[0] == tables[1] and tables[0].count(b"\n") > 100, f"probes alone: other values, {options}")
        alone, both = (json.load(open(f"{name}/manifest.json")) for name in ("alone", "beside"))
        for key in ("points", "triangles", "cells"):
            must(alone[key] == both[key], f"probes alone: manifest, {key} {alone[key]}, {both[key]}")
        alone, both = (json.load(open(f"{name}.json")) for name in ("alone", "beside"))
        must(alone["points"] == both["points"] == both["computed_points"] > alone["computed_points"],
             f"probes alone: computed points {alone['computed_points']} of {both['computed_points']}")
        for folder in ("alone", "beside"):
            shutil.rmtree(folder)


def main():
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([base.write_samples, folder], check=True)
        for name in ("expected.txt", "sequence.vtkhdf"):
            if os.path.exists(name):
                os.remove(name)
        base.long_trajectory("long.h5", "basis.h5", 300)
        for name in ("traj.h5", "still.h5"):
            keep_velocities(name)
        for part in (all_formats, plain, glb, glb_normals, glb_large, null, precision, volume, probes_alone, refusals, interrupt):
            part()
            print(f"check_formats: {part.__name__}: ok")
        os.chdir("/")


if __name__ == "__main__":
    main()
