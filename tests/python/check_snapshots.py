# SPDX-License-Identifier: Apache-2.0
"""Bases from snapshots: ranks, spaces and energies against numpy, streaming, and what is refused.
usage: check_snapshots.py BIN_FOLDER SOURCE_FOLDER"""
import json
import os
import pathlib
import re
import sys
import tempfile

import h5py
import numpy as np
import scipy.linalg

from stvk_solid import Basis, Tools, write_bar

run, source = Tools(sys.argv[1], exact=True), pathlib.Path(sys.argv[2]).resolve()
RUBBER = ["--young", 5e6, "--poisson", 0.35, "--density", 1000.0]
random = np.random.default_rng(11)


def write(path, u, dtype="f8", kind="snapshots", **how):
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        file.attrs.update(modal_format=kind, modal_format_version="1.0")
        file.create_dataset("displacements", data=u.astype(dtype), **how)
    return path


def pack(*words, code=0):
    got = run("modalpack", bar, path, *RUBBER, "--fixed", "root", *words, "-f", "--report", folder / "report.json",
              code=code)
    report = json.loads((folder / "report.json").read_text())
    return (Basis(path), report["snapshots"], got.stderr) if code == 0 else got.stderr


def root_mass():
    """L with M = L L^T over all nodes and axes; M itself, one axis."""
    mass = first.mass(1000.0)
    return np.kron(np.linalg.cholesky(mass.toarray()), np.eye(3)), mass


def fields(n):
    """Smooth motions that vanish at the root."""
    x = first.nodes
    return np.stack([x[:, :1] * np.sin((1 + k) * x @ random.uniform(-3, 3, (3, 3)) + random.uniform(0, 6, 3))
                     for k in range(n)])


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    bar, path = folder / "bar.msh", folder / "b.h5"
    write_bar(bar, (20, 2, 2), (1.0, 0.1, 0.1))
    run("modalpack", bar, path, *RUBBER, "--fixed", "root", "--modes", 1, "-q")
    first = Basis(path)
    lower, mass = root_mass()

    # the program of the specification writes what the reader takes; five motions give rank and space of five
    motions = fields(5)
    u = np.tensordot(random.standard_normal((500, 5)), motions, 1)
    text = re.findall(r"```python\n(.*?)```", (source / "formats/snapshots.md").read_text(), re.S)[0]
    exec(text.replace('"snapshots.h5"', "folder / 's.h5'"), {"folder": folder, "u": u})
    for file, tolerance in ((folder / "s.h5", 1e-9),
                            (write(folder / "s32.h5", u, "f4", chunks=(7, 20, 3), compression="gzip"), 1e-4)):
        basis, report, _ = pack("--snapshots", file, "--modes", 20)
        assert basis.kind == "snapshots" and len(basis.modes) == 5 and report["rank"] == 5, report
        assert 1 - report["energy"] < tolerance**1.5 and report["worst_error"] < tolerance, report
        for motion in motions:
            rest = motion - np.tensordot(np.tensordot(basis.modes, mass @ motion, 2), basis.modes, 1)
            assert np.sum(rest * (mass @ rest)) < tolerance**2 * np.sum(motion * (mass @ motion))
    assert run("modalinfo", "--check", path).stdout.endswith("valid basis\n")

    # a spectrum that falls slowly: singular values, columns, energy and the worst snapshot as numpy has them
    u = np.tensordot(random.standard_normal((333, 60)) * 10 ** (-np.arange(60) / 10), fields(60), 1)
    write(folder / "s.h5", u)
    left, sigma, _ = np.linalg.svd(lower.T @ u.reshape(333, -1).T, full_matrices=False)
    squares = np.cumsum(sigma**2) / np.sum(sigma**2)
    for words, r in ((("--energy", 0.99), None), (("--energy", 0.999999), None), ((), 0.9999),
                     (("--modes", 9), 9), (("--modes", 4, "--energy", 0.999999), 4)):
        basis, report, messages = pack("--snapshots", folder / "s.h5", *words)
        if not isinstance(r, int):
            r = int(np.searchsorted(squares, r or words[1]) + 1)
        assert len(basis.modes) == r, (words, len(basis.modes), r)
        kept = len(report["singular_values"])
        n = min(kept, 40)
        assert np.abs(np.array(report["singular_values"][:n]) - sigma[:n]).max() < 1e-9 * sigma[0]
        projected = left[:, :r] @ (left[:, :r].T @ (lower.T @ u.reshape(333, -1).T))
        rest = np.linalg.norm(lower.T @ u.reshape(333, -1).T - projected, axis=0)
        rest /= np.linalg.norm(lower.T @ u.reshape(333, -1).T, axis=0)
        assert abs(report["energy"] - squares[r - 1]) < 1e-9
        assert abs(report["worst_error"] - rest.max()) < 1e-6 and report["worst_snapshot"] == rest.argmax()
        assert ("keep a share of" in messages) == (words == ("--modes", 4, "--energy", 0.999999))
        columns = basis.modes.reshape(r, -1)
        assert np.abs(columns @ np.kron(mass.toarray(), np.eye(3)) @ columns.T - np.eye(r)).max() < 1e-11
        stiffness = columns @ (basis.full_stiffness(0 * basis.nodes, 5e6, 0.35) @ columns.T)
        assert np.abs(stiffness - np.diag(basis.eigenvalues)).max() < 1e-10 * basis.eigenvalues[-1]

    # the same bytes for every number of threads
    bytes_of = []
    for threads in (1, 2, 3):
        pack("--snapshots", folder / "s.h5", "-j", threads)
        with h5py.File(path) as file:
            bytes_of.append(file["shapes/0000/modes/modal_matrix"][:].tobytes())
    assert bytes_of[0] == bytes_of[1] == bytes_of[2]

    # the nodes of a thin bar are all on its boundary: its own sequence is a source
    write_bar(folder / "thin.msh", (20, 1, 1), (1.0, 0.05, 0.05))
    run("modalpack", folder / "thin.msh", folder / "thin.h5", *RUBBER, "--fixed", "root", "--modes", 3, "-q")
    run("modalsim", folder / "thin.h5", folder / "t.h5", "--duration", 2, "--fps", 60, "--initial", "0=0.05",
        "--initial", "1=0.01", "--initial", "2=0.02")
    run("modaldeform", folder / "t.h5", folder / "out", "--fields", "displacement", "-q")
    run("modalpack", folder / "thin.msh", folder / "again.h5", *RUBBER, "--fixed", "root", "--snapshots",
        folder / "out/sequence.vtkhdf", "--modes", 10, "--report", folder / "report.json", "-q")
    assert json.loads((folder / "report.json").read_text())["snapshots"]["rank"] == 3
    thin, again = Basis(folder / "thin.h5"), Basis(folder / "again.h5")
    assert np.abs(again.eigenvalues / thin.eigenvalues - 1).max() < 1e-3
    sequence = folder / "out/sequence.vtkhdf"

    # refused, in words, with nothing left behind
    path.unlink()
    def refuse(code, message, *words):
        before = sorted(p.name for p in folder.iterdir())
        got = run("modalpack", bar, path, *RUBBER, "--fixed", "root", *words, code=code).stderr
        assert message in got.splitlines()[-1], (message, got)
        assert sorted(p.name for p in folder.iterdir()) == before

    bad, file = u[:4].copy(), folder / "bad.h5"
    bad[2, 17, 1] = np.nan
    refuse(3, "bad.h5: snapshot 2, node 17, axis 1: not finite", "--snapshots", write(file, bad))
    bad = u[:4].copy()
    bad[3, 4, 2] = 1e-3 * np.abs(bad[3]).max()
    refuse(3, "bad.h5: snapshot 3: node 4 is fixed and moves by", "--snapshots", write(file, bad))
    refuse(3, "bad.h5: snapshots: nothing moves", "--snapshots", write(file, 0 * bad))
    bad[3, 4, 2] = 0
    refuse(3, "overflow", "--snapshots", write(file, 1e200 * bad))
    refuse(3, "/displacements: of 188 nodes, the mesh has 189", "--snapshots", write(file, bad[:, 1:]))
    refuse(3, "no snapshots", "--snapshots", write(file, bad[:0], maxshape=(None, 189, 3), chunks=(1, 189, 3)))
    refuse(3, "/displacements: type must be", "--snapshots", write(file, bad, "i4"))
    refuse(3, "/displacements: shape must be [any, any, 3]", "--snapshots", write(file, bad[..., :2]))
    refuse(3, "bad.h5: modal_format: this is a trajectory", "--snapshots", write(file, bad, kind="trajectory"))
    write(file, bad)
    file.write_bytes(file.read_bytes()[:3000])
    refuse(3, "bad.h5", "--snapshots", file)
    refuse(3, "bar.msh", "--snapshots", bar)
    refuse(3, "absent.h5", "--snapshots", folder / "absent.h5")
    refuse(3, "84 points, the mesh has 189 nodes", "--snapshots", sequence)

    # the solid's own sequence has all nodes of any mesh
    run("modalpack", bar, folder / "m.h5", *RUBBER, "--fixed", "root", "--modes", 3, "-q")
    run("modalsim", folder / "m.h5", folder / "m-t.h5", "--duration", 1, "--fps", 60, "--initial", "0=0.05",
        "--initial", "2=0.02", "-q")
    for words in ((), ("--fields", "displacement")):
        run("modaldeform", folder / "m-t.h5", folder / "solid", "--output-mesh", "volume", *words, "-f", "-q")
        if not words:
            refuse(3, "displacement: missing (modaldeform --fields displacement writes it)", "--snapshots",
                   folder / "solid/sequence.vtkhdf")
    basis, report, _ = pack("--snapshots", folder / "solid/sequence.vtkhdf", "--modes", 10)
    assert report["rank"] == 2 and 1 - report["energy"] < 1e-9, report
    path.unlink()
    with h5py.File(sequence, "r+") as out:
        out["VTKHDF/Points"][84 * 5 + 3, 1] += 0.01
    got = run("modalpack", folder / "thin.msh", path, *RUBBER, "--fixed", "root", "--snapshots", sequence, code=3)
    assert "frame 5, point 3: not the mesh's node displaced" in got.stderr, got
    good = write(folder / "good.h5", u[:4])
    run("modalpack", bar, path, *RUBBER, "--fixed", "root", "--snapshots", good, "--memory-limit", "2M", "-q")
    path.unlink()
    refuse(4, "--snapshots: 5 MiB needed, the limit is 2 MiB", "--snapshots", folder / "s.h5", "--memory-limit", "2M")
    refuse(4, "--reduced-forces: 9 MiB needed, the limit is 2 MiB", "--snapshots", folder / "s.h5", "--modes", 20,
           "--reduced-forces", "--memory-limit", "2M")
    refuse(2, "--energy: must be > 0, 0", "--snapshots", good, "--energy", 0)
    refuse(2, "--energy: must be in 0 .. 1", "--snapshots", good, "--energy", 1.5)
    refuse(2, "--energy: needs --snapshots", "--energy", 0.5)
    refuse(2, "--derivatives, --snapshots, --import: one of them at most", "--snapshots", good, "--derivatives", 2)
    got = run("modalpack", bar, good, *RUBBER, "--snapshots", good, "-f", code=2)
    assert "one file" in got.stderr

    # memory does not grow with their number: 120 MB of snapshots cost no more than 1 MB
    peaks = []
    for count in (200, 26000):
        with h5py.File(folder / "long.h5", "w", libver=("earliest", "v108")) as file:
            file.attrs.update(modal_format="snapshots", modal_format_version="1.0")
            data = file.create_dataset("displacements", (count, 189, 3), "f8")
            for row in range(0, count, 200):
                data[row:row + 200] = np.tensordot(random.standard_normal((200, 5)), motions, 1)
        words = ["modalpack", bar, path, *RUBBER, "--fixed", "root", "-f", "-q", "-j1", "--snapshots",
                 folder / "long.h5"]
        # AddressSanitizer would keep what is freed, up to 256 MB
        environment = {**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"}
        process = os.posix_spawn(run.folder / "modalpack", list(map(str, words)), environment)
        _, status, usage = os.wait4(process, 0)
        assert status == 0 and len(Basis(path).modes) <= 5
        peaks.append(usage.ru_maxrss)
    assert (folder / "long.h5").stat().st_size > 115e6 and peaks[1] < peaks[0] + 20000, peaks
print("snapshots agree")
