# SPDX-License-Identifier: Apache-2.0
"""modaltools.Deformer on a surface of n x n vertices with r columns, by libmodaltools and by numpy: seconds to open, ms a frame, beside the
library called from C (open_bench.c, in turn with it) and beside reading the frame from the sequence that modaldeform wrote; memory; and all of
400 frames once, one by one, by Deformer.frames, and written by modaldeform and read.
Processor time of one thread, medians of 21. LIBRARY and pkg-config's flags are those of an installed tree, or of a build folder.
usage: OPENBLAS_NUM_THREADS=1 measure_deformer.py BIN SOURCE LIBRARY [N] [R]"""
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

tools, source, library = map(os.path.abspath, sys.argv[1:4])
n, r = int(sys.argv[4]) if len(sys.argv) > 4 else 675, int(sys.argv[5]) if len(sys.argv) > 5 else 15
os.environ["MODALTOOLS_BIN"], os.environ["MODALTOOLS_LIBRARY"] = tools, library
sys.path.insert(0, f"{source}/tools/python")
from modaltools import Basis, Deformer, Sequence, Trajectory, run  # noqa: E402

FRAMES = 400


def make():
    x, y = np.meshgrid(np.arange(n) / n, np.arange(n) / n, indexing="ij")
    i = np.arange(n * n).reshape(n, n) + 1
    cells = [i[:-1, :-1], i[1:, :-1], i[1:, 1:], i[:-1, 1:]]
    with open("m.obj", "w") as file:
        np.savetxt(file, np.stack([x, y, 0.1 * np.sin(5 * x * y)], -1).reshape(-1, 3), "v %.9g %.9g %.9g")
        for corners in ((0, 1, 2), (0, 2, 3)):
            np.savetxt(file, np.stack([cells[k] for k in corners], -1).reshape(-1, 3), "f %d %d %d")
    with open("m.U", "wb") as file:
        np.array([3 * n * n, r], np.int32).tofile(file)
        np.random.default_rng(1).normal(size=(r, 3 * n * n)).tofile(file)
    run("modalpack", "m.obj", "b.h5", **{"import": "m.U"})
    basis = Basis("b.h5")
    Trajectory.write("t.h5", basis, np.arange(FRAMES) / 25, np.random.default_rng(2).normal(size=(FRAMES, r)) * 1e-3)
    run("modaldeform", "t.h5", "out", backend="cpu")
    os.makedirs("include/modaltools")
    os.symlink(f"{source}/tools/library/open.h", "include/modaltools/open.h")
    subprocess.run(["cc", "-O2", "-Iinclude", f"{source}/tests/bench/open_bench.c", library, f"-Wl,-rpath,{os.path.dirname(library)}",
                    "-o", "open_bench"], check=True)


def median(work):
    found = []
    for k in range(22):
        start = time.process_time()
        work(k % 20)
        found.append(time.process_time() - start)
    return 1e3 * float(np.median(found[1:]))


def most_memory():
    with open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024


def within(name):
    native, before = name == "library", most_memory()
    start = time.process_time()
    motion = Deformer("t.h5", library=native, threads=1)
    motion.frame(0)
    print(f"{name}: open, and the first frame {time.process_time() - start:.2f} s")
    print(f"{name}: positions {median(motion.frame):.1f} ms; memory so far {most_memory() - before:.0f} MiB")
    print(f"{name}: with normals {median(lambda k: motion.frame(k, normals=True)):.1f} ms; memory so far {most_memory() - before:.0f} MiB")
    print(f"{name}: with normals, displacement, speed {median(lambda k: motion.frame(k, normals=True, displacement=True, speed=True)):.1f} ms")
    print(f"{name}: memory {most_memory() - before:.0f} MiB; the basis has {os.path.getsize('b.h5') / 2**20:.0f} MiB, three frames {3 * 12 * n * n / 2**20:.0f} MiB, "
          f"with normals {3 * 24 * n * n / 2**20:.0f} MiB")
    frames = Sequence("out")
    print(f"positions and normals from the sequence {median(lambda k: (np.array(frames.points[k]), np.array(frames['Normals'][k]))):.1f} ms")
    if native:
        for label, words, keywords in (("positions", [], {}), ("with normals", ["-n"], {"normals": True})):
            pairs = []
            motion.close()
            motion = Deformer("t.h5", library=native, threads=1)  # which has what the program in C has
            for _ in range(9):
                c = float(subprocess.run(["./open_bench", "t.h5", *words], check=True, capture_output=True, text=True).stdout)
                pairs.append((median(lambda k: motion.frame(k, **keywords)), c))
            ratios = [p / c for p, c in pairs]
            print(f"{label}: Deformer.frame beside the library called from C: {np.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f}), "
                  f"{np.median([c for _, c in pairs]):.1f} ms in C")


def spend():
    return sum(getattr(resource.getrusage(who), f"ru_{kind}") for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN) for kind in ("utime", "stime"))


def seen(how):
    """All frames once, positions alone, the opening of files included: a line of processor seconds of all processes."""
    start = spend()
    if how == "written and read":
        run("modaldeform", "t.h5", "seen", backend="cpu", threads=1, normals="none", force=True)
        points = Sequence("seen").points
        for k in range(FRAMES):
            np.array(points[k])
    else:
        motion = Deformer("t.h5", threads=1)
        for k in range(FRAMES) if how == "frame" else ():
            motion.frame(k)
        for _ in motion.frames() if how == "frames" else ():
            pass
    print(f"all {FRAMES} frames once, {how}: {spend() - start:.2f} s, memory {most_memory():.0f} MiB", flush=True)


if "--seen" in sys.argv:
    seen(sys.argv[-1])
elif "--within" in sys.argv:
    within(sys.argv[-1])
else:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make()
        for how in 3 * ("frame", "frames", "written and read"):
            subprocess.run([sys.executable, os.path.join(source, "tests/bench/measure_deformer.py"), tools, source, library, str(n), str(r), "--seen", how],
                           check=True)
        for name in ("library", "numpy"):
            subprocess.run([sys.executable, os.path.join(source, "tests/bench/measure_deformer.py"), tools, source, library, str(n), str(r), "--within", name],
                           check=True)
