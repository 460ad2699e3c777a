# SPDX-License-Identifier: Apache-2.0
"""Shares of a sequence against one run: processor seconds of `modaldeform --shard I/N`, one share after the other, and of one run of the same
sequence, in turns, so that a machine that others use is the same to both.
usage: measure_shares.py BIN [RUNS [VERTICES FRAMES SHARES]]   (100,000, 1,000, 8; in TMPDIR, twice 2.4 GB)"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "python"))
from check_large import write_basis, write_trajectory  # noqa: E402

bin_folder = os.path.abspath(sys.argv[1])
runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
vertices, frames, shares = map(int, sys.argv[3:6] if len(sys.argv) > 5 else (100_000, 1_000, 8))
MODES = 20


def spend(*words):
    """User and system seconds of a run."""
    process = subprocess.Popen([f"{bin_folder}/modaldeform", "t.h5", *words, "--backend", "cpu", "--quiet"])
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"measure_shares: modaldeform {words} ended with {status}")
    return used.ru_utime, used.ru_stime


def row(name, both):
    print(f"{name:28} {sum(b[0] for b in both):6.2f} user {sum(b[1] for b in both):6.2f} system")
    return sum(map(sum, both))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    side = int(vertices ** 0.5)
    write_basis("b.h5", side, vertices // side, MODES)
    write_trajectory("t.h5", "b.h5", MODES, frames)
    for threads in ("-j1", "-j2"):
        ratios = []
        for _ in range(runs):
            one = row(f"{threads} one run", [spend("one", threads)])
            parts = row(f"{threads} {shares} shares", [spend("shared", threads, "--shard", f"{i}/{shares}") for i in range(shares)])
            ratios.append(parts / one)
            shutil.rmtree("one")
            shutil.rmtree("shared")
        print(f"{threads}: {shares} shares take {statistics.median(ratios):.3f} of one run ({min(ratios):.3f} to {max(ratios):.3f})", flush=True)
