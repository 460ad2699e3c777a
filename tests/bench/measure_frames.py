# SPDX-License-Identifier: Apache-2.0
"""Frames of a large surface into `--format null`, which takes them into main memory and drops them: what normals, encoding
(--precision) and curvature cost, on one device or several. Prints a table; medians of RUNS runs, the back ends in turn. With several
back ends their files are compared, too: a short sequence with all of it has the same bytes from devices of one kind.
usage: measure_frames.py MODALDEFORM FOLDER BACKEND... [--size WIDTHxHEIGHT] [--modes N] [--frames N] [--runs N]
FOLDER is made and removed; a BACKEND is cpu, cuda, cuda:0,1"""
import argparse
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys

# the two rows without normals write as many bytes as the ones before them
CASES = {"positions": ["--normals", "none"], "with normals": [],
         "with three of curvature, no normals": ["--normals", "none", "--fields", "k_max,k_min,mean_curvature"],
         "with normals and speed": ["--fields", "speed"],
         "with four of curvature, no normals": ["--normals", "none", "--fields", "curvature"],
         "with normals, encoded to 1e-4": ["--precision", "1e-4"],
         "with normals, curvature": ["--fields", "k_max,k_min"],
         "with normals, curvature, encoded to 1e-4": ["--fields", "k_max,k_min", "--precision", "1e-4"]}

def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("modaldeform", type=os.path.abspath)
    parser.add_argument("folder")
    parser.add_argument("back_ends", nargs="+")
    parser.add_argument("--size", default="1000x1000")
    parser.add_argument("--modes", type=int, default=32)
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
    from check_large import write_basis, write_trajectory  # noqa: E402
    width, height = map(int, given.size.split("x"))
    os.makedirs(given.folder)
    os.chdir(given.folder)
    try:
        write_basis("basis.h5", width, height, given.modes)
        write_trajectory("traj.h5", "basis.h5", given.modes, given.frames)

        def deform(back_end, words, kind="null"):
            subprocess.run([given.modaldeform, "traj.h5", "out", "--format", kind, "--backend", back_end, "--report", "r.json", "-q",
                            "--force", *words], check=True)
            with open("r.json", encoding="utf-8") as file:
                return json.load(file)

        short = ["--frames", ":24", *CASES["with normals, curvature, encoded to 1e-4"]]
        hashes = set()
        for back_end in given.back_ends:
            deform(back_end, short, "vtkhdf")
            with open("out/sequence.vtkhdf", "rb") as file:
                hashes.add(hashlib.sha256(file.read()).hexdigest())
            shutil.rmtree("out")
        print(f"24 frames with all of it: {len(hashes)} different files by {', '.join(given.back_ends)}")
        print(f"{width * height} vertices, {given.modes} modes, {given.frames} frames\n")
        print("| frames | " + " | ".join(f"{b}: s, GB/s of what leaves it, MB held" for b in given.back_ends) + " |")
        print("| --- " * (1 + len(given.back_ends)) + "|")
        for name, words in CASES.items():
            got = {back_end: [] for back_end in given.back_ends}
            for _ in range(given.runs):
                for back_end in given.back_ends:
                    got[back_end].append(deform(back_end, words))
            cells = []
            for reports in got.values():
                seconds = statistics.median(r["seconds"] for r in reports)
                cells.append(f"{seconds:.3f}, {reports[0]['bytes'] / seconds / 1e9:.2f}, {reports[0].get('device_memory_bytes', 0) / 1e6:.0f}")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    finally:
        os.chdir("/")
        shutil.rmtree(given.folder)

if __name__ == "__main__":
    main()
