#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast modaldeform writes each format, beside `dd` of as many bytes, in turn, on the same file system;
and how many bytes a vertex and frame it takes. Rewrites docs/results/formats.md.
usage: measure_formats.py MODALDEFORM FOLDER TO.md [FRAMES]   (FOLDER lies on the disk that is measured)"""
import json
import os
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
from check_large import write_basis, write_trajectory  # noqa: E402

WIDTH, HEIGHT, MODES, RUNS = 320, 200, 16, 12
tool, place, to = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
frames = int(sys.argv[4]) if len(sys.argv) > 4 else 200
CASES = [("vtkhdf", []), ("vtkhdf", ["--normals", "dynamic", "--fields", "displacement"]),
         ("vtkhdf", ["--precision", "1e-4"]), ("vtkhdf", ["--precision", "1e-5"]), ("pc2", []), ("mdd", []),
         ("ply", []), ("ply", ["--normals", "dynamic"]), ("vtp", []), ("vtp", ["--normals", "dynamic"]), ("obj", [])]

def deform(kind, more):
    options = ["--normals", "none", *more] if "--normals" not in more else more
    subprocess.run([tool, "traj.h5", "o", "--format", kind, "--backend", "cpu", "--report", "r.json", "-q", *options],
                   check=True)
    with open("r.json", encoding="utf-8") as text:
        report = json.load(text)
    stages = {s["name"]: s["seconds"] for s in report["phases"]}
    shutil.rmtree("o")
    return report["bytes"], stages["write"] + stages["close and sync"], stages["write, processor"]

def dd(size):
    """Seconds until everything is on the disk, and seconds of a processor."""
    start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["dd", "if=/dev/zero", "of=dd", "bs=1M", f"count={size}", "iflag=count_bytes", "conv=fsync",
                    "status=none"], check=True)
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    os.remove("dd")
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

def main():
    scratch = os.path.join(place, "measure_formats")
    os.makedirs(scratch)
    os.chdir(scratch)
    try:
        write_basis("basis.h5", WIDTH, HEIGHT, MODES)
        write_trajectory("traj.h5", "basis.h5", MODES, frames)
        rows = []
        for kind, more in CASES:
            size, ours, theirs = 0, [], []
            for _ in range(RUNS):
                size, *one = deform(kind, more)
                ours.append(one)
                theirs.append(dd(size))
            wall, processor = (min(x) for x in zip(*ours))
            dd_wall, dd_processor = (min(x) for x in zip(*theirs))
            n = WIDTH * HEIGHT * frames
            rows.append(f"| {' '.join([kind, *more])} | {size / 1e6:.0f} | {size / n:.2f} | {size / wall / 1e6:.0f} | "
                        f"{size / dd_wall / 1e6:.0f} | {100 * dd_wall / wall:.0f} % | {size / processor / 1e6:.0f} | {size / dd_processor / 1e6:.0f} | "
                        f"{100 * dd_processor / processor:.0f} % |")
            print(rows[-1], flush=True)
        cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8")
                    if line.startswith("model name")), "a CPU")
        kind_of_disk = subprocess.run(["stat", "-f", "-c", "%T", "."], capture_output=True, text=True).stdout.strip()
        with open(to, "w", encoding="utf-8") as out:
            out.write("<!-- SPDX-License-Identifier: Apache-2.0 -->\n# What the formats cost\n\n"
                      f"`tests/bench/measure_formats.py` on {os.cpu_count()} CPUs ({cpu}), {kind_of_disk}: "
                      f"{WIDTH * HEIGHT} vertices, {2 * (WIDTH - 1) * (HEIGHT - 1)} triangles, {MODES} modes, {frames} "
                      f"frames; best of {RUNS} runs in turn with `dd conv=fsync` of as many bytes. Without normals "
                      f"unless it says so. The load of the machine was {os.getloadavg()[0]:.1f} for its "
                      f"{os.cpu_count()} CPUs: above 1 a CPU, seconds say little, and the seconds that a processor "
                      "worked say more. `synced` is the time of the writing thread and of the end of the run, until "
                      "everything is on the disk, as `dd` has it (more than its speed is possible: the disk begins with "
                      "a frame while later ones are made); `a processor` is what one processor writes, by "
                      "the processor time of the writing thread and of `dd`. The deformer works at the same time and "
                      "is not in it, nor are the other threads that encode frames for --precision. Bytes have the triangles "
                      "in them: once in vtkhdf, pc2 and mdd (rest.obj), in every file of ply, vtp and obj.\n\n"
                      "| format | MB | bytes a vertex and frame | synced, MB/s | `dd` synced, MB/s | share of `dd`, synced | "
                      "a processor, MB/s | "
                      "`dd`: a processor, MB/s | share of `dd`, by processor time |\n"
                      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n" + "\n".join(rows) + "\n")
    finally:
        os.chdir("/")
        shutil.rmtree(scratch)

if __name__ == "__main__":
    main()
