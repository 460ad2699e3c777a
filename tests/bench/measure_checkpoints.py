#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What checkpoints cost a long run: seconds and bytes given to the disk by modalsim without and with a checkpoint every
100 frames, for motions of FRAMES frames, one after the other: 60 linear bars of 20 modes that fall into their weight.
The motion is the same with checkpoints, and after a restart from the last one. For docs/results/dynamics.md. usage: measure_checkpoints.py BIN_FOLDER FOLDER FRAMES... (FOLDER on the disk that is meant)"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from stvk_solid import Tools, write_bar  # noqa: E402

run = Tools(os.path.abspath(sys.argv[1]))
place = tempfile.mkdtemp(prefix="checkpoints-", dir=sys.argv[2])
os.chdir(place)


def simulate(*more):
    """Seconds and MB written."""
    start = time.monotonic()
    with subprocess.Popen([str(run.folder / "modalsim"), "bars.h5", "run.h5", "--scene", "run.json", "-f", "-q",
                           *more]) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, more
    return time.monotonic() - start, used.ru_oublock * 512e-6


write_bar("bar.msh", (8, 2, 2), (1.0, 0.1, 0.12))
run("modalpack", "bar.msh", "bar.h5", "--young", "1e6", "--poisson", "0.3", "--density", "1000", "--modes", "20",
    "--fixed", "root", "-q")
with open("bars.csv", "w", encoding="ascii") as out:
    out.writelines(f"{i},0,-1,{i},0,0,0,0,{0.1 * i}\n" for i in range(60))
run("modalplace", "bars.csv", "bars.h5", "bar.h5")
print("| frames | trajectory, MB | without, s | with checkpoints, s | written without, MB | with, MB |\n" + "| --- " * 6 + "|")
for frames in map(int, sys.argv[3:]):
    with open("run.json", "w", encoding="ascii") as out:
        json.dump({"duration": (frames - 1) / 1000, "fps": 1000, "gravity": [0, 0, -9.81]}, out)
    seconds, written = simulate()
    with h5py.File("run.h5") as f:
        whole = f["q"][:]
    if os.path.exists("c.h5"):
        os.remove("c.h5")
    seconds_kept, written_kept = simulate("--checkpoint", "c.h5")
    print(f"| {frames} | {whole.nbytes / 1e6:.0f} | {seconds:.2f} | {seconds_kept:.2f} | {written:.0f} | {written_kept:.0f} |",
          flush=True)
    for more in ([], ["--restart", "c.h5"]):
        if more:
            simulate(*more)
        with h5py.File("run.h5") as f:
            assert f["q"][:].tobytes() == whole.tobytes(), more
os.chdir("/")
shutil.rmtree(place)
