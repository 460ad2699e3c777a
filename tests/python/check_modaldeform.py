#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modaldeform on the command line: its sequences are compared with x = R (X + U q) + p in float64,
computed here from the files.
usage: check_modaldeform.py MODALDEFORM WRITE_SAMPLES"""
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

import basis_file
import check_sequence
from trajectories import keep_velocities

tool, write_samples = (os.path.abspath(p) for p in sys.argv[1:3])
FILES = ["manifest.json", "sequence.vtkhdf", "sequence.xdmf"]


def must(condition, what):
    if not condition:
        sys.exit(f"check_modaldeform: {what}")


def run(*arguments, code=0, says=None, **more):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, timeout=120, **more)
    error = done.stderr.decode()
    must(done.returncode == code, f"{arguments}: exit code {done.returncode}, not {code}: {error}")
    if says:
        must(says in error, f"{arguments}: does not say {says!r}: {error}")
    if code:
        must(error.startswith("modaldeform: "), f"{arguments}: {error}")
        must("Traceback" not in error and "HDF5-DIAG" not in error, f"{arguments}: {error}")
    return done


def area_normals(x, triangles):
    """Area-weighted normals [n, 3] of the surface."""
    corners = x[triangles]
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = np.zeros_like(x)
    for k in range(3):
        np.add.at(sums, triangles[:, k], face)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def expected(trajectory_path, basis_path, frames, order):
    """World positions, displacement, dynamic and rigid normals [F, n, 3], and the triangles."""
    with h5py.File(trajectory_path, "r") as t, h5py.File(basis_path, "r") as b:
        q, offsets = t["q"][:], t["mode_offsets"][:]
        placed = t["poses"][:] if "poses" in t else np.broadcast_to(
            b["objects/rest_pose"][:], (len(q), len(b["objects/shape"]), 3, 4))
        parts, triangles, base = [], [], 0
        for i, shape in enumerate(b["objects/shape"][:]):
            s = b[f"shapes/{shape:04d}"]
            rest = s["surface/rest_positions"][:]
            n = len(rest)
            u = s["modes/modal_matrix"][:].astype("f8").transpose(0, 3, 2, 1)
            u = u.reshape(-1, 3, u.shape[3])[:n]
            tri = s["surface/triangles"][:]
            to_vertex = s["surface/user_vertex"][:] if order == "user" else np.arange(n)
            to_triangle = s["surface/user_triangle"][:] if order == "user" else np.arange(len(tri))
            mine = np.empty_like(tri)
            mine[to_triangle] = to_vertex[tri]
            triangles.append(mine + base)
            base += n
            arrays = np.empty((4, len(frames), n, 3))
            for k, f in enumerate(frames):
                r, p = placed[f, i, :, :3], placed[f, i, :, 3]
                moved = u @ q[f, offsets[i]:offsets[i + 1]]
                x = (rest + moved) @ r.T + p
                for to, values in zip(arrays, (x, moved @ r.T, area_normals(x, tri),
                                               area_normals(rest, tri) @ r.T)):
                    to[k, to_vertex] = values
            parts.append(arrays)
        return (*np.concatenate(parts, axis=2), np.concatenate(triangles))


def compare(out, trajectory, basis, frames, order="user", normals="dynamic", displacement=False):
    n, _, times, names = check_sequence.check_vtkhdf(os.path.join(out, "sequence.vtkhdf"))
    x, u, dynamic, rigid, triangles = expected(trajectory, basis, frames, order)
    wanted = {"Points": (x, 1e-6 * np.ptp(x.reshape(-1, 3), axis=0).max())}
    if displacement:
        wanted["displacement"] = (u, wanted["Points"][1])
    if normals != "none":
        wanted["Normals"] = (dynamic if normals == "dynamic" else rigid, 1e-5)
    must(names == sorted(wanted), f"{out}: has {names}")
    with h5py.File(os.path.join(out, "sequence.vtkhdf"), "r") as f, h5py.File(trajectory, "r") as t:
        v = f["VTKHDF"]
        must(np.array_equal(times, t["times"][:][frames]), f"{out}: times")
        must(np.array_equal(v["Polygons/Connectivity"][:].reshape(-1, 3), triangles), f"{out}: triangles")
        for name, (values, tolerance) in wanted.items():
            array = v["Points"] if name == "Points" else v["PointData"][name]
            error = np.abs(array[:].reshape(len(frames), n, 3) - values).max()
            must(error <= tolerance, f"{out}: {name}: error {error}, allowed {tolerance}")
    must(np.abs(u).max() > 10 * wanted["Points"][1], "nothing moves: this would prove little")
    check_sequence.check_xdmf(os.path.join(out, "sequence.xdmf"), n, len(triangles), times, names)
    check_sequence.check_manifest(out, n, len(triangles), times, names)
    must(sorted(os.listdir(out)) == FILES, f"{out}: {os.listdir(out)}")


def uv_basis(path):
    """A copy of the basis with texture coordinates: two charts, the second one mirrored."""
    shutil.copy("basis.h5", path)
    random = np.random.default_rng(3)
    with h5py.File(path, "r+") as b:
        for shape in basis_file.shapes(b):
            surface = shape["surface"]
            for name in ("uv", "triangle_uv"):
                if name in surface:
                    del surface[name]
            n, triangles = len(surface["rest_positions"]), surface["triangles"][:]
            flat = surface["rest_positions"][:] @ random.uniform(-1, 1, (3, 2))
            surface["uv"] = np.concatenate([flat, flat * [-0.7, 1.3] + 5])
            half = len(triangles) // 2
            surface["triangle_uv"] = np.concatenate([triangles[:half], triangles[half:] + n]).astype("i4")


def tangents_of(x, triangles, uv, triangle_uv):
    """Lengyel's tangents [n, 4] with area-weighted normals, and how far rounding may move each."""
    e, st = (a[i[:, 1:]] - a[i[:, :1]] for a, i in ((x, triangles), (uv, triangle_uv)))
    along = np.linalg.solve(st, e)  # of each triangle: dP/du, dP/dv
    sums = np.zeros((len(x), 2, 3))
    size = np.zeros(len(x))
    for k in range(3):
        np.add.at(sums, triangles[:, k], along)
        np.add.at(size, triangles[:, k], np.linalg.norm(along[:, 0], axis=1))
    normals = area_normals(x, triangles)
    p = sums[:, 0] - normals * (normals * sums[:, 0]).sum(1, keepdims=True)
    length = np.linalg.norm(p, axis=1)
    side = (np.cross(normals, sums[:, 0]) * sums[:, 1]).sum(1)
    sure = np.abs(side) > 0.02 * length * np.linalg.norm(sums[:, 1], axis=1)
    return np.column_stack([p / length[:, None], np.where(sure, np.sign(side), 0)]), 1e-5 * (1 + size / length)


def compare_tangents(out, frames, kind):
    with h5py.File("basis_uv.h5", "r") as b, h5py.File("traj.h5", "r") as t, \
            h5py.File(f"{out}/sequence.vtkhdf", "r") as f:
        got, base, n_points = f["VTKHDF/PointData/Tangents"], 0, f["VTKHDF/NumberOfPoints"][0]
        q, offsets, placed = t["q"][:], t["mode_offsets"][:], t["poses"][:]
        must(got.shape == (len(frames) * n_points, 4), f"{out}: shape of Tangents")
        for i, shape in enumerate(b["objects/shape"][:]):
            s = b[f"shapes/{shape:04d}"]
            rest, order = s["surface/rest_positions"][:], s["surface/user_vertex"][:]
            n, tri = len(rest), s["surface/triangles"][:]
            u = s["modes/modal_matrix"][:].astype("f8").transpose(0, 3, 2, 1)
            u = u.reshape(-1, 3, u.shape[3])[:n]
            for k, frame in enumerate(frames):
                r = placed[frame, i, :, :3]
                x = rest + (u @ q[frame, offsets[i]:offsets[i + 1]] if kind == "dynamic" else 0)
                wanted, error = tangents_of(x @ r.T, tri, s["surface/uv"][:], s["surface/triangle_uv"][:])
                mine = got[k * n_points + base:k * n_points + base + n][order]
                must((np.abs(mine - wanted)[:, :3].max(1) <= error).all(), f"{out}: tangents, frame {frame}")
                sure = wanted[:, 3] != 0
                must(sure.any() and (mine[sure, 3] == wanted[sure, 3]).all(), f"{out}: handedness")
            base += n


def long_trajectory(path, basis, n_frames):
    """As a script would write it, with larger motion than the samples have."""
    with h5py.File(basis, "r") as b:
        content_hash = b.attrs["content_hash"]
        modes = [b[f"shapes/{s:04d}/modes/eigenvalues"].size for s in b["objects/shape"][:]]
    random = np.random.default_rng(7)
    angles = random.uniform(-3, 3, (n_frames, len(modes)))
    frames = np.zeros((n_frames, len(modes), 3, 4))
    frames[..., 0, 0] = frames[..., 2, 2] = np.cos(angles)
    frames[..., 0, 2], frames[..., 2, 0], frames[..., 1, 1] = np.sin(angles), -np.sin(angles), 1
    frames[..., 3] = random.uniform(-1, 1, (n_frames, len(modes), 3))
    with h5py.File(path, "w", libver=("v108", "v108")) as f:
        f.attrs.update(modal_format="trajectory", modal_format_version="1.0", basis_path="basis.h5",
                       basis_hash=content_hash)
        f["times"], f["poses"] = np.arange(n_frames) / 30.0, frames
        f["q"] = random.uniform(-0.02, 0.02, (n_frames, sum(modes)))
        f["mode_offsets"] = np.concatenate([[0], np.cumsum(modes)]).astype("i8")
    keep_velocities(path)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def equal_bytes(a, b):
    for name in FILES[1:]:
        must(read(os.path.join(a, name)) == read(os.path.join(b, name)), f"{name} of {a} and {b} differ")


def results():
    back_ends = ["ref", "cpu"]
    if "cuda:0:" in run("--version").stdout.decode():
        back_ends.append("cuda:0")
    else:
        print("check_modaldeform: skipped: cuda, there is no device")
    for back_end in back_ends:
        run("traj.h5", "a", "--backend", back_end, "--fields", "displacement")
        compare("a", "traj.h5", "basis.h5", range(7), displacement=True)
        run("still.h5", "b", "--backend", back_end, "--normals", "rigid", "--order", "stored")
        compare("b", "still.h5", "basis.h5", range(7), order="stored", normals="rigid")
        run("long.h5", "c", "--backend", back_end, "--normals", "none")
        compare("c", "long.h5", "basis.h5", range(300), normals="none")
        run("long.h5", "d", "--backend", back_end, "--fields", "displacement", "--frames", "5:290:3")
        compare("d", "long.h5", "basis.h5", range(5, 290, 3), displacement=True)
        run("long.h5", "e", "--backend", back_end, "--normals", "rigid")
        compare("e", "long.h5", "basis.h5", range(300), normals="rigid")
        for kind, frames in (("dynamic", range(7)), ("rigid", range(1, 7, 2))):
            run("traj.h5", "t", "--backend", back_end, "--basis", "basis_uv.h5", "--tangents", kind,
                "--frames", f"{frames.start}::{frames.step}")
            check_sequence.check_vtkhdf("t/sequence.vtkhdf")
            compare_tangents("t", frames, kind)
            shutil.rmtree("t")
        with open("a/manifest.json", encoding="utf-8") as text:
            must(json.load(text)["backend"] == back_end, "manifest: backend")
        for out in "abcde":
            shutil.rmtree(out)


def slices():
    for text in (":", "::", "1:", ":3", "-2:", ":-2", "1:6:2", "::3", "-100:100:5", "3:4", "6", "-1", "0"):
        wanted = [int(text) % 7] if ":" not in text else range(7)[
            slice(*(int(p) if p else None for p in text.split(":")))]
        run("traj.h5", "s", f"--frames={text}", "--backend", "cpu")
        compare("s", "traj.h5", "basis.h5", list(wanted))
        shutil.rmtree("s")
    for text, says in (("", "not A:B:STEP"), ("a:b", "not A:B:STEP"), ("1:2:3:4", "not A:B:STEP"),
                       ("1.5", "not A:B:STEP"), (" 1:2", "not A:B:STEP"), ("::0", "step must be"),
                       ("::-1", "step must be"), ("7", "has frames 0 .. 6"), ("-8", "has frames 0 .. 6"),
                       ("5:5", "selects none of 7"), ("7:", "selects none"), ("5:2", "selects none"),
                       ("99999999999999999999:", "not A:B:STEP"), ("--1", "not A:B:STEP")):
        run("traj.h5", "s", f"--frames={text}", code=2, says=says)
        must(not os.path.exists("s"), f"--frames={text}: left something")


def same_bytes():
    def batch(report):
        with open(report, encoding="utf-8") as text:
            return json.load(text)["batch_frames"]

    common = ["long.h5", "--backend", "cpu", "--fields", "displacement"]
    run(*common, "j1", "-j1", "--report", "j1.json")
    run(*common, "j2", "-j2", "--memory-limit", "1G")
    equal_bytes("j1", "j2")
    least = None
    for kib in (2 ** k for k in range(5, 20)):  # the smallest power of two that suffices
        done = subprocess.run([tool, *common, "small", "--memory-limit", f"{kib}K", "--report",
                               "small.json"], capture_output=True, timeout=120)
        if done.returncode == 0:
            least = kib
            break
        must(done.returncode == 4 and b"memory" in done.stderr, f"{kib}K: {done.stderr}")
        must(not os.path.exists("small"), f"{kib}K: left something")
    must(least, "no limit suffices")
    equal_bytes("j1", "small")
    must(batch("small.json") < min(300, batch("j1.json")), "the limit did not make batches smaller")
    compare("small", "long.h5", "basis.h5", range(300), displacement=True)
    run("traj.h5", "named")
    with open("traj.h5", "rb") as trajectory:
        run("-", "piped", stdin=trajectory)
    compare("piped", "traj.h5", "basis.h5", range(7))
    with open("named/manifest.json", encoding="utf-8") as a, open("piped/manifest.json", encoding="utf-8") as b:
        must(json.load(a)["trajectory"]["hash"] == json.load(b)["trajectory"]["hash"], "hash of standard input")
    for out in ("j1", "j2", "small", "named", "piped"):
        shutil.rmtree(out)


def nothing_left(*arguments, code, says, **more):
    before = sorted(os.listdir("."))
    run(*arguments, code=code, says=says, **more)
    must(sorted(os.listdir(".")) == before, f"{arguments}: left {set(os.listdir('.')) - set(before)}")


def limit_files(size):
    def set_limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return set_limit


def failures():
    os.mkdir("other")
    shutil.copy("traj.h5", "other/traj.h5")
    with h5py.File("traj.h5", "r") as f, h5py.File("wrong.h5", "w") as to:
        for name in ("times", "q", "mode_offsets"):
            f.copy(name, to)
        to.attrs.update(modal_format="trajectory", modal_format_version="1.0", basis_path="basis.h5",
                        basis_hash="0" * 32)
    with open("rubbish.h5", "wb") as to:
        to.write(b"rubbish")
    with open("file", "wb") as to:
        to.write(b"mine")
    nothing_left("traj.h5", "o", "--normals", "smooth", code=2, says="--normals: not none, rigid or dynamic, smooth")
    nothing_left("traj.h5", "o", "--tangents", "smooth", code=2, says="--tangents: not none, rigid or dynamic, smooth")
    nothing_left("traj.h5", "o", "--tangents", "dynamic", "--normals", "rigid", code=2,
                 says="--tangents: dynamic ones are orthogonal to dynamic normals")
    with h5py.File("basis_uv.h5", "r") as b, h5py.File("no_uv.h5", "w", libver=("v108", "v108")) as to:
        for name in b:
            b.copy(name, to)
        to.attrs.update(b.attrs)
        for shape in basis_file.shapes(to):
            del shape["surface/uv"], shape["surface/triangle_uv"]
    nothing_left("traj.h5", "o", "--tangents", "rigid", "--basis", "no_uv.h5", code=3,
                 says="no texture coordinates, which --tangents rigid needs")
    with h5py.File("traj.h5", "r") as t, h5py.File("huge.h5", "w") as to:
        for name in ("times", "mode_offsets", "quality"):
            t.copy(name, to)
        q = t["q"][:]
        q[5, 0] = 1e200
        to["q"] = q
        to.attrs.update({name: value for name, value in t.attrs.items() if name != "extensions_used"})
    nothing_left("huge.h5", "o", "--frames", "1::2", code=3, says="frame 5, object 0: reduced coordinate 0 = 1e+200")
    nothing_left("traj.h5", "o", "--order", "any", code=2, says="--order")
    nothing_left("traj.h5", "o", "--fields", "torsion", code=2, says="--fields")
    nothing_left("traj.h5", "o", "--memory-limit", "0", code=2, says="--memory-limit")
    nothing_left("traj.h5", "o", "--backend", "tpu", code=2, says="tpu")
    nothing_left("traj.h5", "o", "--backend", "cuda:99", code=4, says="cuda")
    nothing_left("traj.h5", "o", "--memory-limit", "10K", code=4, says="memory")
    nothing_left("traj.h5", "-", code=2, says="OUT")
    nothing_left("traj.h5", code=2, says="usage")
    nothing_left("absent.h5", "o", code=3, says="absent.h5")
    nothing_left("rubbish.h5", "o", code=3, says="rubbish.h5: not an HDF5 file")
    nothing_left("wrong.h5", "o", code=3, says="wrong.h5")
    nothing_left("other/traj.h5", "o", code=3, says="other/basis.h5")
    nothing_left("traj.h5", "o", "--basis", "absent.h5", code=3, says="absent.h5")
    nothing_left("traj.h5", "o", "--basis", "rubbish.h5", code=3, says="rubbish.h5")
    nothing_left("traj.h5", "file", code=2, says="file: exists, and is not a folder")
    nothing_left("traj.h5", "no/where", code=4, says="no/where")
    run("other/traj.h5", "o", "--basis", "basis.h5")
    compare("o", "traj.h5", "basis.h5", range(7))

    # a target that exists stays as it is, and is replaced with --force
    before = [read(f"o/{name}") for name in FILES]
    nothing_left("still.h5", "o", code=2, says="sequence.vtkhdf: exists (--force replaces it)")
    must([read(f"o/{name}") for name in FILES] == before, "an output was changed")
    os.remove("o/sequence.vtkhdf")
    nothing_left("still.h5", "o", code=2, says="sequence.xdmf: exists")
    must(sorted(os.listdir("o")) == ["manifest.json", "sequence.xdmf"], "left in o")
    with open("o/notes.txt", "w", encoding="utf-8") as to:
        to.write("mine")
    nothing_left("wrong.h5", "o", "--force", code=3, says="wrong.h5")
    must(sorted(os.listdir("o")) == ["manifest.json", "notes.txt", "sequence.xdmf"], "left in o")
    run("still.h5", "o", "--force")
    must(read("o/notes.txt") == b"mine", "notes")
    os.remove("o/notes.txt")
    compare("o", "still.h5", "basis.h5", range(7))
    os.makedirs("in")
    shutil.copy("traj.h5", "in/sequence.vtkhdf")
    run("in/sequence.vtkhdf", "in", "--basis", "basis.h5", "--force", code=2)
    must(read("in/sequence.vtkhdf") == read("traj.h5"), "an input was replaced")
    shutil.rmtree("o")

    # a disk that fills up: in the head of the file, in the frames, in the sidecar
    run("long.h5", "o")
    size = os.path.getsize("o/sequence.vtkhdf")
    shutil.rmtree("o")
    for limit in (0, 1000, size // 10, size // 2, size - 1):
        nothing_left("long.h5", "o", code=4, says="sequence.vtkhdf", preexec_fn=limit_files(limit))
    nothing_left("long.h5", "o", "--frames", ":2", code=4, says="write error, File too large",
                 preexec_fn=limit_files(1500))
    small_disk()

    # an interrupt while it waits for its input
    waiting = subprocess.Popen([tool, "-", "o"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(500):
        if os.path.isdir("o") and len(os.listdir("o")) == 3:
            break
        time.sleep(0.01)
    must(len(os.listdir("o")) == 3, "no temporary files")
    waiting.send_signal(signal.SIGINT)
    _, error = waiting.communicate(timeout=60)
    must(waiting.returncode == 130 and b"interrupted" in error, f"interrupt: {waiting.returncode}")
    must(not os.path.exists("o"), "an interrupt left something")


def small_disk():
    """Refused before it starts, with what is needed; where this user may mount."""
    os.mkdir("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", "disk"],
                      capture_output=True).returncode != 0:
        print("check_modaldeform: skipped: a small disk, mount is not permitted")
        os.rmdir("disk")
        return
    try:
        run("long.h5", "disk/o", code=4, says="disk/o: disk too full")
        must(os.listdir("disk") == [], "left on the small disk")
    finally:
        subprocess.run(["umount", "disk"], check=True)
        os.rmdir("disk")


def main():
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([write_samples, folder], check=True)
        for name in ("expected.txt", "sequence.vtkhdf"):
            if os.path.exists(name):
                os.remove(name)
        long_trajectory("long.h5", "basis.h5", 300)
        uv_basis("basis_uv.h5")
        for part in (results, slices, same_bytes, failures):
            part()
            print(f"check_modaldeform: {part.__name__}: ok")
        os.chdir("/")


if __name__ == "__main__":
    main()
