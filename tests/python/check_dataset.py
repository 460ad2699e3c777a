# SPDX-License-Identifier: Apache-2.0
"""The make-style run of docs/dataset.md, small: what it makes, that nothing is made twice, and that a clip which goes is made again with the same bytes.
usage: check_dataset.py SOURCE BIN; 77: no make"""
import os
import shutil
import subprocess
import sys

import numpy as np

source = os.path.abspath(sys.argv[1])

from render_tools import check, read_bytes, run, skip, tools  # noqa: E402

if not shutil.which("make"):
    skip("no make")


def make(*words):
    got = subprocess.run(["make", "-f", f"{source}/docs/examples/dataset/Makefile", f"BIN={tools}", "OUT=d", "CLIPS=3", "FRAMES=3", "SIZE=64x48", "FORMAT=png",
                          "BUFFERS=motion,object,depth", *words], capture_output=True, text=True, timeout=300)
    check(got.returncode == 0, got.stdout[-1000:], got.stderr[-2000:])
    return got.stdout


def files(clip):
    return {f"{name}/{i:06}": read_bytes(f"d/{clip}/{name}/{i:06}.{kind}") for name, kind in (("png", "png"), ("motion", "npy"), ("object", "npy"))
            for i in range(3)}


make("-j2")
clips = ["0000", "0001", "0002"]
made = {clip: files(clip) for clip in clips}
check(len({text for clip in clips for name, text in made[clip].items() if name.startswith("png")}) == 9, "two pictures are the same")
for clip in clips:
    run("--check", f"d/{clip}", tool="modalinfo")
    seen = np.load(f"d/{clip}/object/000002.npy") >= 0
    check(seen.sum() > 20 and np.abs(np.load(f"d/{clip}/motion/000002.npy")).max() > 0.01, clip, seen.sum())
check("Nothing to be done" in make(), "made twice")
shutil.rmtree("d/0001")
make()
check(files("0001") == made["0001"], "other bytes")
print("dataset: ok")
