# SPDX-License-Identifier: Apache-2.0
"""Building a tree around a surface beside OpenVDB's distances, in turn: samples and voxels a second by the clock and by processor time.
usage: measure_octree.py BIN_FOLDER SURFACE.off [RESOLUTION [RUNS]]
OpenVDB (libopenvdb-dev) is an opponent only: opponents/openvdb_mesh.cpp is compiled here, and without its headers left out, which is said. Medians; the
tool's stage `tree` has the nearest points of all samples in it."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

binaries, surface = (os.path.abspath(a) for a in sys.argv[1:3])
resolution, runs = (int(sys.argv[i]) if len(sys.argv) > i else given for i, given in ((3, 1024), (4, 5)))
here = os.path.dirname(os.path.abspath(__file__))


def children():
    t = os.times()
    return t.children_user + t.children_system


def compile_openvdb():
    command = ["g++", "-O3", "-std=c++17", "-o", "openvdb_mesh", os.path.join(here, "opponents/openvdb_mesh.cpp"), "-lopenvdb", "-ltbb", "-lImath"]
    got = subprocess.run(command, capture_output=True, text=True)
    if got.returncode:
        print("OpenVDB: skipped: it does not compile here (libopenvdb-dev, libtbb-dev):", got.stderr.strip().splitlines()[0])
    return got.returncode == 0


def build(threads):
    """Samples, seconds of the stage, processor seconds of the whole program."""
    before = children()
    subprocess.run([f"{binaries}/modaltex", "build", surface, "t.h5", "--resolution", str(resolution), "--channels", "float", "-f", "-q", "-j", str(threads),
                    "--report", "r.json"], check=True)
    with open("r.json", encoding="utf-8") as f:
        report = json.load(f)
    return report["samples"], next(s["seconds"] for s in report["phases"] if s["name"] == "tree"), children() - before


def main():
    have = compile_openvdb()
    print(f"{os.path.basename(surface)}, resolution {resolution}, medians of {runs}; million a second")
    for threads in (1, 2):
        ours, theirs = [], []
        for _ in range(runs):  # in turn
            ours.append(build(threads))
            if have:
                words = subprocess.run(["./openvdb_mesh", surface, str(resolution), str(threads), "1"], check=True, capture_output=True, text=True).stdout.split()
                theirs.append((int(words[0]), float(words[1]), float(words[2])))
        for name, rows in (("modaltex build", ours), ("OpenVDB", theirs)):
            if rows:
                n = rows[0][0]
                print(f"{threads} thread{'s' * (threads > 1)}: {name}: {n} {'samples' if rows is ours else 'voxels'}, "
                      f"{1e-6 * n / statistics.median(r[1] for r in rows):.2f} by the clock, {1e-6 * n / statistics.median(r[2] for r in rows):.2f} by processor time"
                      + (", with reading and writing" if rows is ours else ""))
        if theirs:
            ratio = statistics.median(a[0] / a[1] / (b[0] / b[1]) for a, b in zip(ours, theirs))
            print(f"{threads} thread{'s' * (threads > 1)}: {ratio:.2f} times OpenVDB's rate by the clock (asked, with two: 3)")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
