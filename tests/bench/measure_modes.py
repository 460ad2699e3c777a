#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole programs beside each other, in turn: modalpack and CalculiX (ccx) on the same .inp, a clamped bar of
linear tetrahedra: seconds, processor seconds, peak memory. Their mass matrices differ (docs/elements.md), so
eigenvalues agree to a few percent only. Then bench_slepc where it was built. Prints tables for
docs/results/modes.md.
usage: measure_modes.py BUILD [NX,NY,NZ [N_MODES [ROUNDS]]]"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

build = pathlib.Path(sys.argv[1]).resolve()
cells = [int(n) for n in (sys.argv[2] if len(sys.argv) > 2 else "80,24,24").split(",")]
n_modes, rounds = (int(sys.argv[k]) if len(sys.argv) > k else default for k, default in ((3, 30), (4, 1)))
threads = os.environ.get("MODAL_THREADS", str(len(os.sched_getaffinity(0))))
SIZE = np.array([1, 0.3, 0.31])  # as bench_modes


def write_bar(name):
    """Kuhn's six tetrahedra a cell; the nodes at x = 0 are clamped."""
    shape = [c + 1 for c in cells]
    places = np.indices(shape).reshape(3, -1).T
    number = lambda p: 1 + (p[..., 0] * shape[1] + p[..., 1]) * shape[2] + p[..., 2]
    corners = np.indices(cells).reshape(3, -1).T
    elements = []
    for t, path in enumerate(((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))):
        here, nodes = corners.copy(), [number(corners)]
        for axis in path:
            here[:, axis] += 1
            nodes.append(number(here))
        elements.append(np.stack(nodes, 1)[:, [0, 1, 2, 3] if t < 3 else [0, 1, 3, 2]])
    elements = np.concatenate(elements)
    clamped = shape[1] * shape[2]
    with open(name, "w", encoding="ascii") as out:
        out.write("*NODE, NSET=NALL\n")
        out.writelines("%d, %.15g, %.15g, %.15g\n" % (k + 1, *p) for k, p in enumerate(places / cells * SIZE))
        out.write("*ELEMENT, TYPE=C3D4, ELSET=EALL\n")
        out.writelines("%d, %d, %d, %d, %d\n" % (k + 1, *e) for k, e in enumerate(elements))
        out.write(f"*NSET, NSET=CLAMPED, GENERATE\n1, {clamped}\n*MATERIAL, NAME=M\n*ELASTIC\n2e11, 0.3\n*DENSITY\n7800\n"
                  "*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*BOUNDARY\nCLAMPED, 1, 3\n"
                  f"*STEP\n*FREQUENCY\n{n_modes}\n*NODE FILE\nU\n*END STEP\n")
    return len(places)


def measure(words):
    environment = dict(os.environ, OMP_NUM_THREADS=threads, CCX_NPROC_EQUATION_SOLVER=threads)
    start = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    message = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, (words, message)
    return time.monotonic() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def calculix_eigenvalues():
    lines = pathlib.Path("bar.dat").read_text(encoding="ascii").split("E I G E N V A L U E   O U T P U T")[1].split("\n")
    found = [re.split(r"\s+", line.strip()) for line in lines]
    return np.array([float(w[1]) for w in found if len(w) == 5 and w[0].isdigit()])[:n_modes]


os.chdir(tempfile.mkdtemp(prefix="modes-"))
nodes = write_bar("bar.inp")
ccx = shutil.which("ccx")
print(f"{nodes} nodes, {n_modes} modes, {threads} threads\n")
if ccx:
    print("| modalpack, s | its processor s, GiB | CalculiX, s | its processor s, GiB | ratio of wall clock | "
          "eigenvalues differ by |\n| --- | --- | --- | --- | --- | --- |")
for _ in range(rounds if ccx else 0):
    ours = measure([str(build / "bin/modalpack"), "bar.inp", "b.h5", "-f", "-m", str(n_modes), "-j", threads,
                    "--fixed", "CLAMPED"])
    theirs = measure([ccx, "bar"])
    with h5py.File("b.h5") as f:
        difference = np.abs(calculix_eigenvalues() / f["shapes/0000/modes/eigenvalues"][:] - 1).max()
    print("| %.1f | %.1f, %.2f | %.1f | %.1f, %.2f | %.1f x | %.1e |" % (*ours, *theirs, theirs[0] / ours[0], difference),
          flush=True)
if not ccx:
    print("no ccx (Debian's calculix-ccx): skipped")
slepc = build / "tests/bench_slepc"
if slepc.exists():
    subprocess.run([slepc, ",".join(map(str, cells)), str(n_modes), str(rounds)],
                   env=dict(os.environ, MODAL_THREADS=threads, OMP_NUM_THREADS=threads), check=True)
else:
    print("no bench_slepc (Debian's libslepc-real-dev): skipped")
shutil.rmtree(os.getcwd())
