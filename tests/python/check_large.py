#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modaldeform where the basis does not fit: its sequences are the same bytes, and its memory is what
--memory-limit says. The basis is made here: a surface of 64,000 vertices with 270 modes of random
numbers, 207 MB.
usage: check_large.py MODALDEFORM"""
import json
import os
import shlex
import subprocess
import sys
import tempfile

import h5py
import numpy as np

MIB = 1 << 20
# What a process takes beside its arrays: program, libraries, HDF5's own tables. Measured: 8 MiB.
OVERHEAD = 16 * MIB
tool = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
FRAMES = 40


def must(condition, what):
    if not condition:
        sys.exit(f"check_large: {what}")


def attributes(place, **texts):
    for name, text in texts.items():
        place.attrs.create(name, np.bytes_(text) if isinstance(text, str) else text)


def grid_tables(width, height):
    """Triangles [m, 3] of a grid, and the tables that go with them."""
    v = np.arange(width * height, dtype="i4").reshape(height, width)
    a, b, c, d = (x.ravel() for x in (v[:-1, :-1], v[:-1, 1:], v[1:, :-1], v[1:, 1:]))
    triangles = np.stack([np.stack([a, b, c], 1), np.stack([d, c, b], 1)], 1).reshape(-1, 3)
    n, corner = v.size, triangles.ravel()
    order = np.argsort(corner, kind="stable")
    face_offsets = np.concatenate([[0], np.cumsum(np.bincount(corner, minlength=n))]).astype("i8")
    border = np.zeros((height, width), "u1")
    border[[0, -1]] = border[:, [0, -1]] = 1
    return triangles, face_offsets, (order // 3).astype("i4"), border.ravel()


def write_basis(path, width, height, r, chunks=None, seed=3, content_hash="7" * 32):
    random = np.random.default_rng(seed)
    triangles, face_offsets, faces, boundary = grid_tables(width, height)
    n, tiles = width * height, -(-width * height // 32)
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    rest = np.stack([x.ravel(), y.ravel(), np.sin(x.ravel() * 0.1)], 1) * 0.01
    user = random.permutation(n).astype("i4")
    with h5py.File(path, "w", libver=("v108", "v108")) as f:
        attributes(f, modal_format="basis", modal_format_version="1.0", content_hash=content_hash,
                   hashed="shapes/hash objects/shape objects/parent objects/rest_pose")
        shapes = f.create_group("shapes")
        shapes["hash"] = np.zeros((1, 16), "u1")
        shapes.attrs["count"] = np.int64(1)
        s = shapes.create_group("0000")
        attributes(s, name="grid")
        s["surface/rest_positions"], s["surface/triangles"] = rest, triangles
        s["surface/user_vertex"] = user
        s["surface/user_triangle"] = np.arange(len(triangles), dtype="i4")
        s["tables/face_offsets"], s["tables/faces"] = face_offsets, faces
        s["tables/boundary"] = boundary
        u = s.create_dataset("modes/modal_matrix", (tiles, r, 3, 32), "<f4", chunks=chunks)
        for first in range(0, tiles, 250):
            part = random.uniform(-1, 1, (min(250, tiles - first), r, 3, 32)).astype("f4")
            if first + 250 >= tiles and n % 32:
                part[-1, :, :, n % 32:] = 0
            u[first:first + 250] = part
        s["modes/eigenvalues"] = np.arange(1.0, r + 1)
        s["modes/frequencies"] = np.sqrt(np.arange(1.0, r + 1)) / (2 * np.pi)
        s["modes/modal_masses"], s["modes/residuals"] = np.ones(r), np.zeros(r)
        s["modes/participation"], s["modes/rigid_eigenvalues"] = np.zeros((r, 3)), np.zeros(0)
        attributes(s["modes"], shift=np.float64(0), total_mass=np.float64(1), mass_rule="consistent")
        f["objects/shape"], f["objects/parent"] = np.zeros(1, "i4"), np.full(1, -1, "i4")
        f["objects/rest_pose"] = np.eye(3, 4).reshape(1, 3, 4)
        f.create_group("provenance").attrs["count"] = np.int64(0)
    return r * tiles * 384


def write_trajectory(path, basis, r, n_frames, bad=None, seed=4, content_hash="7" * 32):
    random = np.random.default_rng(seed)
    with h5py.File(path, "w", libver=("v108", "v108")) as f:
        f.attrs.update(modal_format="trajectory", modal_format_version="1.0", basis_path=basis,
                       basis_hash=content_hash)
        q = random.uniform(-0.01, 0.01, (n_frames, r))
        if bad is not None:
            q[n_frames // 2, 1] = bad
        f["times"], f["q"] = np.arange(n_frames) / 30.0, q
        f["mode_offsets"] = np.array([0, r], "i8")


def run(*arguments, code=0, says=None):
    """Through a shell, since the peak memory of a process starts with that of what it was forked
    from. Gives the report of the run."""
    words = " ".join(map(str, (shlex.quote(tool), *arguments, "--report report.json")))
    if "--backend" not in words:
        words += " --backend cpu"
    done = subprocess.run(["sh", "-c", f"{words}; exit $?"], capture_output=True, timeout=300)
    error = done.stderr.decode()
    must(done.returncode == code, f"{arguments}: exit code {done.returncode}, not {code}: {error}")
    must(not says or says in error, f"{arguments}: does not say {says!r}: {error}")
    with open("report.json", encoding="utf-8") as text:
        return json.load(text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def memory():
    sanitized = b"__asan_init" in read(tool)
    if sanitized:
        print("check_large: skipped: peak memory, which a sanitizer multiplies")
    matrix = write_basis("basis.h5", 320, 200, 270)
    write_trajectory("traj.h5", "basis.h5", 270, FRAMES)
    print(f"check_large: U is {matrix / MIB:.0f} MiB")
    free = run("traj.h5", "free", "--fields displacement")
    must(free["streamed_bytes"] == 0, "without a limit, the basis does not fit")
    want = read("free/sequence.vtkhdf")
    for limit, normals in ((64, "dynamic"), (48, "dynamic"), (300, "dynamic"), (64, "none")):
        name = f"limit-{limit}-{normals}"
        more = "--fields displacement" if normals == "dynamic" else ""
        got = run("traj.h5", name, more, f"--memory-limit {limit}M --normals {normals} -j2")
        peak = got["peak_memory_bytes"]
        print(f"check_large: limit {limit} MiB, normals {normals}: peak {peak / MIB:.1f} MiB, batches of "
              f"{got['batch_frames']}, {got['streamed_bytes'] / MIB:.0f} MiB of U a batch, "
              f"{got['seconds']:.2f} s")
        must((got["streamed_bytes"] == matrix) == (limit < 200), f"{name}: {got['streamed_bytes']}")
        must(sanitized or peak <= limit * MIB + OVERHEAD, f"{name}: peak {peak / MIB} MiB")
        if normals == "dynamic":
            must(read(f"{name}/sequence.vtkhdf") == want, f"{name}: other bytes")
            os.remove(f"{name}/sequence.vtkhdf")
    # much less than what was given would be as wrong: a batch is as large as the limit allows
    must(got["peak_memory_bytes"] > 0.5 * 64 * MIB, "the limit is not used")
    run("traj.h5", "small", "--memory-limit 12M", code=4, says="bytes")
    must(not os.path.exists("small"), "left something")
    run("traj.h5", "two", "--fields displacement --backend cpu,cpu --memory-limit 96M -j1")
    must(read("two/sequence.vtkhdf") == want, "cpu,cpu: other bytes")
    with open("two/manifest.json", encoding="utf-8") as text:
        must(json.load(text)["backend"] == "cpu,cpu", "manifest: backend")


def archives():
    """Matrices in chunks are read with HDF5, while the other thread writes with it."""
    write_basis("plain.h5", 90, 37, 160)
    write_basis("chunked.h5", 90, 37, 160, chunks=(3, 160, 3, 32))
    write_trajectory("plain-traj.h5", "plain.h5", 160, 200)
    run("plain-traj.h5", "plain", "--normals rigid")
    for more in ("", "--memory-limit 3M", "--memory-limit 3M --backend cpu,cpu"):
        got = run("plain-traj.h5", "chunked", "--basis chunked.h5 --force --normals rigid", more)
        must(bool(got["streamed_bytes"]) == bool(more), f"chunked {more}: {got['streamed_bytes']}")
        with h5py.File("plain/sequence.vtkhdf") as a, h5py.File("chunked/sequence.vtkhdf") as b:
            must(np.array_equal(a["VTKHDF/Points"][:], b["VTKHDF/Points"][:]), f"chunked {more}")


def bad_values():
    """What is not finite is refused, wherever U is read; no sequence is left."""
    for value in (np.nan, np.inf, -np.inf):
        write_trajectory("bad-traj.h5", "plain.h5", 160, 6, bad=value)
        run("bad-traj.h5", "bad", code=3, says="/q: frame 3, coordinate 1")
        must(not os.path.exists("bad"), "left something")
    for name in ("plain.h5", "chunked.h5"):
        for tile, lane, value in ((50, 7, np.nan), (104, 3, np.inf), (104, 31, 1.0)):
            with h5py.File(name, "r+") as f:
                u = f["shapes/0000/modes/modal_matrix"]
                kept = u[tile, 2, 1, lane]
                u[tile, 2, 1, lane] = value
            for more in ("", "--memory-limit 3M"):
                run("plain-traj.h5", "bad", f"--basis {name} --normals none", more, code=3,
                    says=f"{name}: /shapes/0000/modes/modal_matrix")
                must(not os.path.exists("bad"), "left something")
            with h5py.File(name, "r+") as f:
                f["shapes/0000/modes/modal_matrix"][tile, 2, 1, lane] = kept


def main():
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (memory, archives, bad_values):
            part()
            print(f"check_large: {part.__name__}: ok")
        os.chdir("/")


if __name__ == "__main__":
    main()
