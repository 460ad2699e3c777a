# SPDX-License-Identifier: Apache-2.0
"""What modalsim will write and how long it will take is known before the first byte: disks and memory that are too
small, steps for years, full disks. usage: check_room.py BIN_FOLDER"""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

from scenes import pack, run, write_bar

write_bar("bar.msh", (4, 1, 1), (1.0, 0.1, 0.12))
pack("bar.msh", "bar.h5", 20)
modalsim = str(run.folder / "modalsim")
forced = [{"object": 0, "point": [1, 0, 0], "force": [0, 0, 1], "curve": {"sine": {"frequency": 1}}}]


def write(**scene):
    with open("s.json", "w", encoding="utf-8") as file:
        json.dump({"duration": 1, "fps": 10, **scene}, file)


def left():
    return {name: os.stat(name).st_mtime_ns for name in os.listdir(".")}


def refused(pattern, *words, code=4, **more):
    before = left()
    got = subprocess.run([modalsim, "bar.h5", *map(str, words)], capture_output=True, text=True, check=False, **more)
    assert got.returncode == code, got
    found = re.fullmatch(f"modalsim: {pattern}\n", got.stderr)
    assert found and got.stdout == "" and left() == before, (pattern, got, left())
    return [float(x) for x in found.groups()]


MB = r"disk too full, ([\d.]+) MB are needed and ([\d.]+) MB free"
disk = os.statvfs(".")
free = disk.f_bavail * disk.f_frsize
FRAME = 440  # bytes: time, twenty coordinates, energies and 30 measures of quality
many = int(free / FRAME * 1.3)
if many < 2**31:
    needed, there = refused("t.h5: " + MB, "t.h5", "--duration", many / 1000, "--fps", 1000, "--initial", "0=0")
    assert abs(needed / (1e-6 * FRAME * (many + 1)) - 1) < 1e-6 and abs(there / (1e-6 * free) - 1) < 0.5, (needed, there, free)
    write(duration=many / 1000, fps=1000, forces=forced)
    needed, _ = refused("t.h5: " + MB, "t.h5", "--scene", "s.json")
    assert abs(needed / (1e-6 * FRAME * (many + 1)) - 1) < 1e-6, needed
    # the trajectory would do, the checkpoint would do, both together would not
    write(duration=0.7 * free / FRAME / 1000, fps=1000, forces=forced)
    needed, _ = refused("t.h5: " + MB, "t.h5", "--scene", "s.json", "--checkpoint", "c.h5")
    assert abs(needed / (2 * 0.7e-6 * free) - 1) < 0.05, needed
    refused("memory: standard output needs all frames and the basis in memory, twice, [0-9]+ bytes of [0-9]+; a file does not", "-",
            "--duration", 2e6, "--fps", 1000, "--initial", "0=0")
else:
    print("skipped: this disk has room for 2^31 frames")
twice = 2 * (FRAME * 50001 + os.path.getsize("bar.h5"))
refused(f"--memory-limit: standard output needs all frames and the basis in memory, twice, {twice} bytes of 1048576; a file does not", "-",
        "--duration", 500, "--fps", 100, "--initial", "0=0", "--memory-limit", "1M", code=4)
write(step=1e-12, fps=1e-9, duration=1e9)
refused(r"s.json: step: more than 9007199254740992 steps, 1e-12 s", "t.h5", "--scene", "s.json", code=3)

# steps for years: said soon; a signal is seen between steps, not between frames, and the checkpoint is there
write(step=1e-12, duration=1000, forces=forced)  # years on any machine
for more, number in (([], signal.SIGTERM), (["--checkpoint", "c.h5", "--keep-partial"], signal.SIGINT)):
    before = left()
    process = subprocess.Popen([modalsim, "bar.h5", "t.h5", "--scene", "s.json", *more], stderr=subprocess.PIPE, text=True)
    said = ""
    while "days" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    assert re.search(r"warning: 1000000000000000 steps will take about [\d.e+]+ days: \d+ took [\d.]+ s\n", said), said
    started = time.monotonic()
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 128 + number and time.monotonic() - started < 10, (process.returncode, said)
    if more:
        assert said.endswith("modalsim: s.json: interrupted after frame 0, t = 0 s\n"), said
        assert set(left()) - set(before) == {"c.h5", "t.h5"}, left()
    else:
        assert left() == before, left()

# a disk that fills while a scene runs: the file that could not be written is named, not the scene
write(duration=100, fps=1000, forces=forced)
for words, culprit in ((["full.h5"], "full.h5"), (["full.h5", "--checkpoint", "d.h5", "--checkpoint-every", "1"], "d.h5")):
    before = left()
    size = 200000 if culprit == "full.h5" else 900000
    got = subprocess.run([modalsim, "bar.h5", *words, "--scene", "s.json", "-q"], stderr=subprocess.PIPE, text=True,
                         check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
    assert got.returncode == 4 and got.stderr.startswith(f"modalsim: {culprit}: "), got
    assert got.stderr.count("\n") == 1 and left() == before, (got, left())

# help lists -j, so it is taken; its number is checked
run("modalsim", "bar.h5", "j.h5", "--duration", 1, "--fps", 10, "--gravity", "0,0,-1", "-j", 4, "-q")
refused("--threads: .*", "k.h5", "--duration", 1, "--fps", 10, "-j", 0, code=2)
print("modalsim's room ok")
