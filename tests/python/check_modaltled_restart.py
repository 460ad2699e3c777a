# SPDX-License-Identifier: Apache-2.0
"""modaltled: a run that is killed, or stopped by a signal, goes on from its checkpoint to the bytes of a run without interruption;
checkpoints that are damaged or of something else are refused.
usage: check_modaltled_restart.py MODALTLED"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

modaltled = pathlib.Path(sys.argv[1]).resolve()
os.chdir(tempfile.mkdtemp(prefix="modaltled-"))
PATHS = ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1))


def check(fine, *said):
    assert fine, said


def box(name, nx, ny, nz, edge):
    node = lambda i, j, k: (k * (ny + 1) + j) * (nx + 1) + i
    elements = []
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                c = [node(i + a, j + b, k + d) for d in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
                elements += [[c[0], c[a], c[b], c[6]] for a, b in PATHS]
    with open(name, "w") as f:
        f.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % ((nx + 1) * (ny + 1) * (nz + 1)))
        f.write("".join("%d %.17g %.17g %.17g\n" % (node(i, j, k) + 1, edge * i, edge * j, edge * k)
                        for k in range(nz + 1) for j in range(ny + 1) for i in range(nx + 1)))
        f.write("$EndNodes\n$Elements\n%d\n" % len(elements))
        f.write("".join("%d %d 2 3 3 %s\n" % (n + 1, 4 if len(c) == 4 else 5, " ".join(str(a + 1) for a in c))
                        for n, c in enumerate(elements)) + "$EndElements\n")


def command(out, *words):
    return list(map(str, [modaltled, "m.msh", out, "-f", "--scene", "s.json", "--materials", "m.json", "--fixed", "box:-1,-1,-1:1,1,1e-6",
                          *([] if "-j2" in words else ["-j1"]), *words]))


def run(out, *words, code=0):
    got = subprocess.run(command(out, *words), capture_output=True, text=True)
    check(got.returncode == code, words, got.returncode, got.stderr)
    return got.stderr


def arrays(path):
    """All datasets but provenance, whose command differs."""
    found = {}
    with h5py.File(path) as f:
        f.visititems(lambda name, item: found.update({name: item[()]}) if isinstance(item, h5py.Dataset) and "provenance" not in name else None)
    return found


def same(a, b):
    x, y = arrays(a), arrays(b)
    check(x.keys() == y.keys(), x.keys(), y.keys())
    for name in x:
        check(np.asarray(x[name]).tobytes() == np.asarray(y[name]).tobytes(), "different", name)


def stopped(how, out, *words):
    """Begins a run, waits for the first checkpoint, and stops it there. On a busy machine it may have ended by then: once more."""
    at = words[words.index("--checkpoint") + 1]
    for _ in range(20):
        for old in (at, out):
            if os.path.exists(old):
                os.remove(old)
        process = subprocess.Popen(command(out, *words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while not os.path.exists(at) and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(how)
        said = process.communicate()[1]
        if process.returncode != 0:
            break
    check(process.returncode == (130 if how == signal.SIGINT else -how), how, process.returncode, said)


box("m.msh", 4, 4, 8, 0.01)
scene = {"step": "auto", "duration": 6, "fps": 50, "gravity": [0.3, 0, -2], "damping": {"alpha": 1}, "nodal_pressure": True,
         "forces": [{"nodes": "box:-1,-1,0.079:1,1,1", "force": [0.03, 0.01, 0], "curve": {"sine": {"frequency": 3}}}],
         "contacts": [{"name": "wall", "plane": [[0.041, 0, 0], [-1, 0, 0]]}], "probes": [{"name": "foot", "nodes": "box:-1,-1,-1:1,1,1e-6"}]}
materials = {"materials": {"a": {"young": 8000, "poisson": 0.3, "density": 1000, "fibres": {"stiffness": 3000, "direction": [0, 1, 1]}}},
             "default": "a"}
fields = {"plain": "solid,energy,velocities,internal_forces", "prony": "velocities"}
for case in ("plain", "prony"):
    if case == "prony":
        scene.update(nodal_pressure=False, mean_patches=True)
        materials["materials"]["a"]["prony"] = {"isochoric": [[0.3, 0.1]], "volumetric": [[0.1, 0.02]]}
    json.dump(scene, open("s.json", "w"))
    json.dump(materials, open("m.json", "w"))
    for arithmetic in ("float32", "float64"):
        words = ["--arithmetic", arithmetic, "--fields", fields[case]]
        run("whole.h5", *words)
        for how in (signal.SIGKILL, signal.SIGINT):
            stopped(how, "part.h5", *words, "--checkpoint", "c.ck", "--checkpoint-every", "3")
            check(not os.path.exists("part.h5"), "a file of a run that did not end")
            if how == signal.SIGKILL:  # a record that was not finished does not count
                with open("c.ck", "ab") as f:
                    f.write(b"frame\0\0\0" + b"\1" * 100)
            said = run("part.h5", *words, "--restart", "c.ck", "--checkpoint", "c.ck")
            check("goes on after" in said, said)
            same("whole.h5", "part.h5")
            run("part.h5", *words, "--restart", "c.ck", "-j2")  # from the end, or near it, with other threads
            same("whole.h5", "part.h5")
    print(case, "ok", flush=True)

shutil.copy("c.ck", "good.ck")
base = ["--arithmetic", "float64", "--fields", fields["prony"], "--restart", "c.ck"]


def refused(word, *words, code=3):
    before = os.path.getsize("part.h5")
    err = run("part.h5", *(words or base), code=code)
    check(word in err, word, err)
    check(os.path.getsize("part.h5") == before, "the old file is gone")


whole = open("good.ck", "rb").read()
for damaged, word in ((b"", "no checkpoint"), (whole[:60], "no checkpoint"), (b"x" + whole[1:], "no checkpoint"), (whole[:200], "no whole state"),
                      (whole[:150] + b"\xff" * 40 + whole[190:], "no whole state")):
    open("c.ck", "wb").write(damaged)
    refused(word)
shutil.copy("good.ck", "c.ck")
refused("materials, held nodes", "--arithmetic", "float32", *base[2:])
refused("materials, held nodes", *base, "--fixed", "box:-1,-1,0.079:1,1,1")
json.dump({**scene, "gravity": [0, 0, -1]}, open("s.json", "w"))
refused("another scene")
# a file of nodes that the scene names belongs to the scene
named = {**scene, "forces": [{**scene["forces"][0], "nodes": "tip.bou"}]}
json.dump(named, open("s.json", "w"))
open("tip.bou", "w").write("2\n210\n211\n")
words = ["--arithmetic", "float64", "--fields", fields["prony"]]
run("whole.h5", *words, "--checkpoint", "n.ck")
with h5py.File("whole.h5") as f:
    inputs = f["provenance"][sorted(f["provenance"])[-1]].attrs["inputs"].decode()
check("tip.bou" in inputs, "provenance", inputs)
run("part.h5", *words, "--restart", "n.ck")
same("whole.h5", "part.h5")
open("tip.bou", "w").write("2\n210\n212\n")
refused("another scene", *words, "--restart", "n.ck")
refused("no.ck: cannot open, ", *words, "--restart", "no.ck")
json.dump(scene, open("s.json", "w"))
box("m.msh", 4, 4, 8, 0.0101)
refused("another mesh")
# until steady: from any of its looks on, to the same bytes; squeezed elements get other masses on the way, and a load that comes at once a shorter step
steady = {"until": "steady", "duration": 10, "gravity": [0, 0, -3],
          "forces": [{"nodes": "box:-1,-1,0.0799:1,1,1", "force": [0.03, 0.01, 0], "curve": {"smooth": [0, 0.5]}}]}
json.dump(steady, open("s.json", "w"))
for arithmetic in ("float32", "float64"):
    words = ["--arithmetic", arithmetic, "--fields", "solid,internal_forces"]
    if arithmetic == "float64":
        steady["forces"][0] = {"nodes": "box:-1,-1,0.0799:1,1,1", "force": [2, 0.5, -2]}
        json.dump(steady, open("s.json", "w"))
    said = run("whole.h5", *words, "--checkpoint", "new.ck", "--checkpoint-every", 1)
    whole = open("new.ck", "rb").read()
    check(("the step was halved" in said) == (arithmetic == "float64"), said)
    states = [found.start() for found in re.finditer(rb"state\0\0\0", whole)]
    check(len(states) >= 2, "states", len(states))
    for share in (0.2, 0.55, 0.95):  # in the middle of a state, at least one before it is whole
        k = max(1, int(share * len(states)))
        open("c.ck", "wb").write(whole[:(states[k] + (states[k + 1:] + [len(whole)])[0]) // 2])
        said = run("part.h5", *words, "--restart", "c.ck")
        check("goes on after 1 frames" in said, said)
        same("whole.h5", "part.h5")
    os.remove("new.ck")
json.dump({**steady, "accuracy": 1e-5}, open("s.json", "w"))
refused("another scene", *words, "--restart", "c.ck")
check("--probes" in run("part.h5", "--probes", "p.csv", code=3), "probes of every step")
refused("--checkpoint", "--checkpoint-every", "3", code=2)
check(not os.path.exists("new.ck"), "left behind")
print("modaltled restart ok")
