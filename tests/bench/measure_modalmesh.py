# SPDX-License-Identifier: Apache-2.0
"""What modalmesh adds to TetGen: both mesh the same surface in turn, TetGen's own program without writing any
file. usage: measure_modalmesh.py MODALMESH SURFACE.off [RUNS]"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

modalmesh, surface = map(os.path.abspath, sys.argv[1:3])
runs = int(sys.argv[3]) if len(sys.argv) > 3 else 20
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    shutil.copy(surface, "surface.off")  # tetgen writes beside its input
    commands = {"tetgen": ["tetgen", "-pq1.4zQNEFI", "surface.off"],
                "modalmesh": [modalmesh, "surface.off", "out.msh", "-f", "-q"],
                "modalmesh --report": [modalmesh, "surface.off", "out.msh", "-f", "-q", "--report", "report.json"]}
    seconds = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            start = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - start)
    for name, took in seconds.items():
        least, median = min(took), sorted(took)[runs // 2]
        print(f"{name:20s} least {1e3 * least:7.1f} ms, median {1e3 * median:7.1f} ms; beside TetGen "
              f"{100 * (least / min(seconds['tetgen']) - 1):+.1f} %")
    os.chdir("/")
