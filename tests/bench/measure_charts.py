# SPDX-License-Identifier: Apache-2.0
"""Charts of surfaces beside xatlas, in turn: how many, the share of the image that is in them, seconds by the clock and by processor time.
usage: measure_charts.py BIN_FOLDER XATLAS_FOLDER SURFACE.off [SIZE [RUNS]]
XATLAS_FOLDER has xatlas.cpp and xatlas.h (source/xatlas of its repository); opponents/xatlas_charts.cpp is compiled with them here, and where that does not
go xatlas is left out, which is said. Charts are 5 texels apart in both. Ours is the stage `charts` of modaltex bake with one thread; xatlas takes all
processors, so processor times are compared. Medians; xatlas places charts as it does by default, and once by brute force."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

binaries, sources, surface = (os.path.abspath(a) for a in sys.argv[1:4])
size, runs = (int(sys.argv[i]) if len(sys.argv) > i else given for i, given in ((4, 2048), (5, 5)))
here = os.path.dirname(os.path.abspath(__file__))


def compile_xatlas():
    command = ["g++", "-O3", "-std=c++17", "-I", sources, "-o", "xatlas_charts", os.path.join(here, "opponents/xatlas_charts.cpp"),
               os.path.join(sources, "xatlas.cpp"), "-lpthread"]
    got = subprocess.run(command, capture_output=True, text=True)
    if got.returncode:
        print("xatlas: skipped: it does not compile here:", (got.stderr.strip().splitlines() or ["?"])[0])
    return got.returncode == 0


def ours():
    subprocess.run([f"{binaries}/modaltex", "bake", "t.h5", surface, "x.png", "--own-charts", "--size", str(size), "-f", "-q", "-j", "1", "--report", "r.json"],
                   check=True)
    with open("r.json", encoding="utf-8") as f:
        report = json.load(f)
    seconds = {s["name"]: s["seconds"] for s in report["phases"]}
    return report["charts"], report["charts_area"], seconds["charts"], seconds["charts, processor"]


def theirs(brute):
    words = subprocess.run(["./xatlas_charts", surface, str(size), "5", "1", str(brute)], check=True, capture_output=True, text=True).stdout.split()
    return int(words[0]), *(float(w) for w in words[1:])


def main():
    have = compile_xatlas()
    subprocess.run([f"{binaries}/modaltex", "build", surface, "t.h5", "--resolution", "32", "-q"], check=True)
    rows = [[], [], []]
    for _ in range(runs):  # in turn
        rows[0].append(ours())
        if have:
            rows[1].append(theirs(0))
            rows[2].append(theirs(1))
    print(f"{os.path.basename(surface)}, {size} texels a side, medians of {runs}")
    for name, row in zip(("modaltex", "xatlas", "xatlas, brute force"), rows):
        if row:
            charts, area, clock, processor = (statistics.median(r[k] for r in row) for k in range(4))
            ratio = statistics.median(r[3] / o[3] for r, o in zip(row, rows[0]))
            print(f"{name}: {charts:g} charts, {100 * area:.1f} % of the image, {clock:.3f} s by the clock, {processor:.3f} s of processor time, {ratio:.1f} times ours")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
