# SPDX-License-Identifier: Apache-2.0
"""Every tool under every limit of the address space (ulimit -v): it does its work or ends with exit code 4 and one line,
soon, and leaves nothing behind. With 64 KiB of stack (ulimit -s) it works, or is refused. The figure that a refusal names is true: that much suffices for a small job.
usage: check_limits.py BIN [long]"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from stvk_solid import write_bar

binaries = os.path.abspath(sys.argv[1])
MB = 1 << 20
SOLID = ["--young", "1e6", "--poisson", "0.3", "--density", "1000", "--fixed", "root", "-f"]


def run(limit, tool, *words):
    """Exit code and lines of stderr."""
    def limited():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    got = subprocess.run([f"{binaries}/{tool}", *words], preexec_fn=limited, capture_output=True, text=True,
                         stdin=subprocess.DEVNULL, timeout=120)
    return got.returncode, got.stderr.splitlines()


def check(condition, *what):
    if not condition:
        sys.exit("check_limits: " + " ".join(map(repr, what)))


def remove_outputs():
    for name in os.listdir("."):
        if name.startswith("o"):
            shutil.rmtree(name) if os.path.isdir(name) else os.remove(name)


with tempfile.TemporaryDirectory(prefix="limits-") as folder:
    os.chdir(folder)
    write_bar("bar.msh", (12, 3, 3), (3, 1, 1))
    pathlib.Path("places.csv").write_text("0,0,-1,0,0,0,0,0,0\n1,0,-1,2,0,0,0,0,0\n")
    pathlib.Path("scene.json").write_text(json.dumps({"duration": 0.05, "fps": 100, "model": "stvk", "gravity": [0, 0, -1]}))
    for words in (("modalpack", "bar.msh", "basis.h5", "--modes", "6", "--reduced-forces", *SOLID),
                  ("modalsim", "basis.h5", "traj.h5", "--fps", "100", "--duration", "1", "--initial", "0=1")):
        check(run(0, *words)[0] == 0, words)
    cases = [
        ("modalpack", "bar.msh", "o", "--modes", "4", *SOLID),
        ("modalpack", "bar.msh", "o", "--modes", "4", "-j", "2", "--derivatives", "2", "--reduced-forces", *SOLID),
        ("modalpack", "bar.msh", "o", "--modes", "4", "--shapes", "bodies", *SOLID),
        ("modalsim", "basis.h5", "o", "--scene", "scene.json", "-f"),
        ("modaldeform", "traj.h5", "o", "--normals", "dynamic", "-f"),
        ("modaldeform", "-j", "3", "traj.h5", "o", "--format", "ply", "-f"),
        ("modalplace", "places.csv", "o", "basis.h5", "-f"),
        ("modalinfo", "--check", "basis.h5"),
        ("modalmesh", "bar.msh", "o.msh", "-f"),
        ("modalview", "traj.h5", "o", "-f"),
        ("modalbench", "batch", "--quick", "--backend", "cpu", "--json", "o", "-f"),
    ]
    count = refused = 0
    for tool, *words in cases:
        step = 2 if "long" in sys.argv else 64 if tool == "modalbench" else 16  # MB; of modalbench each run takes long
        if not os.path.exists(f"{binaries}/{tool}"):
            print(f"{tool} is not built: not checked")
            continue
        # a program with CUDA code has 16 MB; where even its file does not fit, the kernel ends it with SIGSEGV
        limit, needed, done = 8 * MB + os.path.getsize(f"{binaries}/{tool}") // MB * MB, None, 0
        while done < 2 * MB * step:
            code, lines = run(limit, tool, *words)
            count += 1
            where = (tool, words, limit / MB, code, lines)
            if code == 127: # before any of the program's own code: what the loader says
                check(len(lines) == 1 and re.search("error while loading shared|cannot allocate TLS", lines[0]), *where)
            elif code not in (0, 4): # of libraries when they are loaded (libgomp, cuBLAS): the same for any command
                check(run(limit, tool, "--version")[0] == code, *where)
            else:
                check(code in (0, 4), *where)
                check(all(line.startswith(f"{tool}: ") for line in lines), *where)
            if code == 4:
                refused += 1
                match = re.search(r": address space: (\d+) MB needed for \d+ threads?, the limit \(ulimit -v\) is (\d+) MB$", lines[-1])
                check(match or "out of memory" in lines[-1], *where)
                check(not [name for name in os.listdir(".") if name.startswith((".o", "o"))], "left behind", os.listdir("."), *where)
                if match:
                    check(len(lines) == 1 and int(match[2]) == round(limit / 1e6) and int(match[1]) > limit / 1e6 - 1, *where)
                    needed = int(match[1])
            if code == 0:
                done += MB * step
                remove_outputs()
            limit += step * MB
            check(limit < 8 << 30, "never enough", *where)
        check(needed, "never refused with a figure", tool, words)
        code, lines = run((needed + 2) * 1000000, tool, *words)
        check(code == 0 or tool == "modalbench", "the figure is not enough", tool, words, needed, lines)
        remove_outputs()
    # little stack: a soft limit is raised, a hard one is refused
    for tool, *words in {case[0]: case for case in cases}.values():
        if tool == "modalbench" or not os.path.exists(f"{binaries}/{tool}"):
            continue
        for hard, wanted in ((64 << 10, 4), (resource.RLIM_INFINITY, 0)):
            got = subprocess.run([f"{binaries}/{tool}", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120,
                                 preexec_fn=lambda hard=hard: resource.setrlimit(resource.RLIMIT_STACK, (64 << 10, hard)))
            check(got.returncode == wanted, tool, words, hard, got)
            check(wanted == 0 or got.stderr == f"{tool}: stack: 256 kB are needed, the limit (ulimit -s) is 64 kB\n", got)
            remove_outputs()
    print(f"{count} runs, {refused} refused")
