# SPDX-License-Identifier: Apache-2.0
"""A command line of every tool that names every kind of file that the tool reads and writes, on a solid of eight nodes:
for checks that go through all of them. check_tables() fails where a tool has an option or operand with a file that
no command here has."""
import functools
import json
import os
import re
import shutil
import struct
import subprocess

import h5py
import numpy as np

import basis_file
import images

NODES = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
TETRAHEDRA = [(0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7)]
STEEL = ["--young", "2e11", "--poisson", "0.3", "--density", "7800"]


class Command:
    """words: the command line, in which a name of a file is written {name}, so that others can be put there.
    reads, writes: these names, and files that go along without being named. folders: outputs with several files."""

    def __init__(self, tool, words, reads, writes, force=True):
        self.tool, self.words, self.reads, self.writes, self.force = tool, words.split(), reads, writes, force

    def line(self, folder, **names):
        """The words with other files in the place of some."""
        words = [re.sub(r"\{([^}]*)\}", lambda m: names.get(m[1], m[1]), word) for word in self.words]
        return [os.path.join(folder, self.tool), *words]


# An output in OUT stands for itself: what is put in its place is put there.
OUT = ["o/sequence.vtkhdf", "o/sequence.xdmf", "o/manifest.json", "o/sequence.vtkhdf.part", "o/sequence.vtkhdf.journal"]
PARTS = ["as.h5", "a.h5", "a2.h5"]
SCENE = ["a.h5", "s.json", "force.csv", "ground.csv"]
COMMANDS = [
    Command("modalpack", "{x.node} {b.h5} --materials {m.json} --fixed {l.bou}@xy --surface {fine.obj} --modes 3 "
            "--report {r.json}", ["x.node", "x.ele", "x.face", "m.json", "l.bou", "fine.obj"], ["b.h5", "r.json"]),
    Command("modalpack", "{x.node} {b.h5} --materials {m.json} --snapshots {u.h5} --modes 1 --report {r.json}",
            ["x.node", "x.ele", "u.h5"], ["b.h5", "r.json"]),
    Command("modalpack", "{x.node} {b.h5} --materials {m.json} --import {c.U} --report {r.json}", ["x.ele", "m.json", "c.U"],
            ["b.h5", "r.json"]),
    Command("modalpack", "{x.node} {b.h5} --shapes groups --materials {m.json} --modes 3 --report {r.json}",
            ["x.node", "x.ele", "x.face", "m.json"], ["b.h5", "r.json"]),
    Command("modalsim", "{a.h5} {n.h5} --duration 0.1 --fps 100 --base-acceleration {quake.csv} --report {r.json}",
            ["a.h5", "quake.csv"], ["n.h5", "r.json"]),
    Command("modalsim", "{a.h5} {n.h5} --scene {s.json} --checkpoint {k.h5} --checkpoint-every 3 --report {r.json}", SCENE,
            ["n.h5", "k.h5", "r.json"]),
    Command("modalsim", "{a.h5} {n.h5} --scene {s.json} --restart {c.h5} --report {r.json}", [*SCENE, "c.h5"],
            ["n.h5", "r.json"]),
    Command("modalsim", "{a.h5} {n.csv} --scene {w.json} --report {r.json}", ["a.h5", "w.json"], ["n.csv", "r.json"]),
    Command("modalsim", "{a2.h5} {n.h5} --rebase {t.h5} --report {r.json}", ["a2.h5", "t.h5", "a.h5"], ["n.h5", "r.json"]),
    Command("modalsim", "{a2.h5} {n.h5} --rebase {t.h5} --basis {a.h5} --report {r.json}", ["a2.h5", "t.h5", "a.h5"],
            ["n.h5", "r.json"]),
    Command("modalsim", "{a.h5} {n.h5} --project {sn.h5} --report {r.json}", ["a.h5", "sn.h5"], ["n.h5", "r.json"]),
    Command("modaldeform", "{sn.h5} o --report {r.json}", ["sn.h5"], [*OUT, "r.json"]),
    Command("modaldeform", "{t.h5} o --report {r.json}", ["t.h5", "a.h5"], [*OUT, "r.json"]),
    Command("modaldeform", "{t.h5} o --basis {a.h5} --format ply,glb,pc2 --report {r.json}", ["t.h5", "a.h5"],
            ["o/sequence.glb", "o/rest.obj", "o/sequence.pc2", "o/sequence.ply.series",
             "o/manifest.json", "r.json"]),
    Command("modaldeform", "{t.h5} o --format glb --look {lk.json} --report {r.json}", ["t.h5", "a.h5", "lk.json", "lk.png"],
            ["o/sequence.glb", "o/manifest.json", "r.json"]),
    Command("modaldeform", "{t.h5} o --texture {oc.h5} --report {r.json}", ["t.h5", "a.h5", "oc.h5"], [*OUT, "r.json"]),
    Command("modaldeform", "{a.h5} o --modes 0 --report {r.json}", ["a.h5"], [*OUT, "r.json"]),
    Command("modalview", "{sn.h5} {p.html} --report {r.json}", ["sn.h5"], ["p.html", "r.json"]),
    Command("modalview", "{t.h5} {p.html} --report {r.json}", ["t.h5", "a.h5"], ["p.html", "r.json"]),
    Command("modalview", "{t.h5} {p.html} --basis {a.h5} --report {r.json}", ["t.h5", "a.h5"], ["p.html", "r.json"]),
    Command("modalview", "{tl.h5} {p.html} --scene {s.json} --report {r.json}", ["tl.h5", *SCENE], ["p.html", "r.json"]),
    Command("modalview", "{t.h5} {p.html} --look {lk.json} --report {r.json}", ["t.h5", "a.h5", "lk.json", "lk.png"], ["p.html", "r.json"]),
    Command("modalview", "{t.h5} {p.html} --sound {q.wav} --report {r.json}", ["t.h5", "a.h5", "q.wav"], ["p.html", "r.json"]),
    Command("modalinfo", "{t.h5} --report {r.json}", ["t.h5", "a.h5"], ["r.json"], force=False),
    Command("modalinfo", "--check {t.h5} --report {r.json}", ["t.h5", "a.h5"], ["r.json"], force=False),
    Command("modalinfo", "--check {v} --report {r.json}", ["v/manifest.json", "v/sequence.vtkhdf", "v/sequence.xdmf", "v"],
            ["r.json"], force=False),
    Command("modalinfo", "{v/sequence.xdmf} --report {r.json}", ["v/sequence.vtkhdf", "v/sequence.xdmf"], ["r.json"],
            force=False),
    Command("modalinfo", "--compare {a.h5} {a2.h5} --report {r.json}", ["a.h5", "a2.h5"], ["r.json"], force=False),
    Command("modalinfo", "{x.node} --report {r.json}", ["x.node", "x.ele", "x.face"], ["r.json"], force=False),
    Command("modalinfo", "{fine.obj} --report {r.json}", ["fine.obj"], ["r.json"], force=False),
    Command("modalplace", "{places.csv} {n.h5} {a.h5} {a2.h5} --report {r.json}", ["places.csv", "a.h5", "a2.h5"],
            ["n.h5", "r.json"]),
    Command("modalplace", "--bases {bases.txt} {places.csv} {n.h5} --report {r.json}", ["places.csv", "bases.txt", "a.h5", "a2.h5"],
            ["n.h5", "r.json"]),
    # an assembly: its parts are read, too
    Command("modalplace", "{places.csv} {n.h5} {as.h5} --link --parts . --report {r.json}", ["places.csv", *PARTS],
            ["n.h5", "r.json"]),
    Command("modalsim", "{as.h5} {n.h5} --parts . --duration 0.1 --fps 100 --initial 0=1 --report {r.json}", PARTS,
            ["n.h5", "r.json"]),
    Command("modaldeform", "{ts.h5} o --basis {as.h5} --parts . --report {r.json}", ["ts.h5", *PARTS], [*OUT, "r.json"]),
    Command("modalview", "{as.h5} {p.html} --parts . --report {r.json}", PARTS, ["p.html", "r.json"]),
    Command("modalinfo", "{as.h5} {n.h5} --pack --parts . --report {r.json}", PARTS, ["n.h5", "r.json"]),
    Command("modalmesh", "{y.veg} {n.msh} --materials-out {n.json} --report {r.json}", ["y.veg"],
            ["n.msh", "n.json", "r.json"]),
    Command("modalmesh", "{x.node} {n.msh} --report {r.json}", ["x.node", "x.ele", "x.face"], ["n.msh", "r.json"]),
    Command("modalmesh", "{g.geo} {n.msh} --size 0.7 --report {r.json}", ["g.geo", "h.geo", "d/k.geo"], ["n.msh", "r.json"]),
    Command("modalmesh", "--check {fine.obj} --report {r.json}", ["fine.obj"], ["r.json"], force=False),
    Command("modaltled", "{x.node} {n.h5} --scene {q.json} --materials {m.json} --fixed {l.bou}@xy --report {r.json}",
            ["x.node", "x.ele", "x.face", "q.json", "force.csv", "m.json", "l.bou"], ["n.h5", "r.json"]),
    Command("modaltled", "{x.node} {n.h5} --scene {q.json} --materials {m.json} --fixed {l.bou}@xy --checkpoint {k.ck} "
            "--checkpoint-every 1 --probes {pr.csv} --report {r.json}", ["x.node", "x.ele", "x.face", "q.json", "force.csv", "m.json", "l.bou"],
            ["n.h5", "k.ck", "pr.csv", "r.json"]),
    Command("modaltled", "{x.node} {n.h5} --scene {q.json} --materials {m.json} --fixed {l.bou}@xy --restart {ck.ck} "
            "--report {r.json}", ["x.node", "x.ele", "x.face", "q.json", "force.csv", "m.json", "l.bou", "ck.ck"],
            ["n.h5", "r.json"]),
    Command("modalcurv", "{fine.obj} o --rest {coarse.obj} --fields area_ratio --report {r.json}", ["fine.obj", "coarse.obj"],
            ["o/sequence.vtkhdf", "o/sequence.xdmf", "o/manifest.json", "r.json"]),
    Command("modalcurv", "{v/sequence.vtkhdf} o --format ply --lines ridges --report {r.json}", ["v/sequence.vtkhdf"],
            ["o/sequence.ply.series", "o/manifest.json", "r.json"]),
    Command("modalrender", "{t.h5} o --basis {a.h5} --look {lk2.json} --size 8x8 --buffers depth --report {r.json}", ["t.h5", "a.h5", "lk2.json"],
            ["o/manifest.json", "r.json"]),
    Command("modalrender", "{as.h5} o --parts . --size 8x8 --report {r.json}", PARTS, ["o/manifest.json", "r.json"]),
    Command("modaltex", "flow {t.h5} {fl.h5} o --basis {a.h5} --texture {n.h5} --checkpoint {k.ck} --report {r.json}", ["t.h5", "a.h5", "fl.h5"],
            ["o/sequence.vtkhdf", "o/sequence.xdmf", "o/manifest.json", "n.h5", "k.ck", "r.json"]),
    Command("modaltex", "flow {t.h5} {fl.h5} o --restart {fs.h5} --report {r.json}", ["t.h5", "a.h5", "fl.h5", "fs.h5"],
            ["o/sequence.vtkhdf", "o/sequence.xdmf", "o/manifest.json", "r.json"]),
    Command("modaltex", "look {lk.obj} {n.json} --report {r.json}", ["lk.obj", "lk.mtl", "lk.png"], ["n.json", "r.json"]),
    Command("modaltex", "pack {lk.json} {n.h5} --report {r.json}", ["lk.json", "lk.png"], ["n.h5", "r.json"]),
    Command("modaltex", "bake {oc.h5} {a.h5} {n.png} --own-charts --size 64 --report {r.json}", ["oc.h5", "a.h5"],
            ["n.png", "n.look.json", "n.obj", "r.json"]),
    Command("modaltex", "paint {oc.h5} {n.h5} --surface {a.h5} --normals {coarse.obj} --report {r.json}", ["oc.h5", "a.h5", "coarse.obj"], ["n.h5", "r.json"]),
    Command("modalbench", "uq octree plants --quick --backend cpu -j1 --surface {fine.obj} --plants v --folder . --json {n.json} "
            "--report {r.json}", ["fine.obj"], ["n.json", "r.json"]),
]
# Operands as the usage lists them, and options with files beside those above.
OPERANDS = {"modalpack": "MESH... BASIS.h5", "modalsim": "BASIS.h5 TRAJ.h5", "modaldeform": "TRAJ.h5|BASIS.h5|SNAPSHOTS.h5 OUT",
            "modalview": "TRAJ.h5|BASIS.h5|SNAPSHOTS.h5|RESPONSE.csv PAGE.html", "modalinfo": "FILE",
            "modalplace": "PLACES.csv OUT.h5 BASIS.h5 ...", "modalmesh": "SURFACE|GEOMETRY|MESH OUT.msh",
            "modaltled": "MESH SNAPSHOTS.h5 --scene SCENE.json", "modalcurv": "INPUT OUT",
            "modalrender": "TRAJ OUT", "modaltex": "look [options] MODEL.obj|MODEL.mtl|MODEL.glb LOOK.json",
            "modalbench": "PART|all ..."}
# - is a pipe there.
PIPES = {(tool, i) for tool, operands in
         {"modalmesh": (0, 1), "modalpack": (0, 1), "modalplace": (0, 1, 2, 3), "modalsim": (0, 1), "modaltled": (0, 1), "modalrender": (0, 1),
          "modaldeform": (0,), "modalview": (0, 1), "modalinfo": (0,), "modaltex paint": (0, 1)}.items() for i in operands}


def run(words, code=0, **more):
    got = subprocess.run(list(map(str, words)), capture_output=True, **{"stdin": subprocess.DEVNULL, **more})
    assert code is None or got.returncode == code, (words, got.returncode, got.stderr.decode(errors="replace"))
    return got


def file_options(tool):
    """Options whose value is completed as a file, as the option table says."""
    text = run([tool, "--generate", "zsh"]).stdout.decode()
    lines = text.replace("\\\n", "\n").split("\n")
    return {re.search(r"--([a-z0-9-]+)", line)[1] for line in lines if ":_files'" in line and "--" in line}


def check_tables(folder, tools):
    """Every option and operand with a file is in a command above; returns the options of each tool."""
    found = {}
    for tool in tools:
        usage = run([f"{folder}/{tool}", "--help"]).stdout.decode().split("usage: ")[1].split("\n")[0]
        usage = usage.removeprefix(tool).strip().removeprefix("[options] ")
        assert usage == OPERANDS[tool], f"{tool}: the commands of tool_commands.py do not know these operands: {usage}"
        found[tool] = file_options(f"{folder}/{tool}")
        here = {word[2:] for c in COMMANDS if c.tool == tool for word in c.words if word.startswith("--")}
        assert found[tool] <= here, f"{tool}: no command of tool_commands.py has {sorted(found[tool] - here)}"
    return found


def write_inputs(folder):
    """All that the commands read, in the current folder."""
    lines = [f"{len(NODES)} 3 0 0", *(f"{i} {x} {y} {z}" for i, (x, y, z) in enumerate(NODES))]
    put("x.node", lines)
    put("x.ele", [f"{len(TETRAHEDRA)} 4 1", *(f"{i} {a} {b} {c} {d} 1" for i, (a, b, c, d) in enumerate(TETRAHEDRA))])
    put("x.face", ["2 1", "0 0 1 3 5", "1 0 3 2 5"])
    put("y.veg", ["*VERTICES", f"{len(NODES)} 3 0 0", *(f"{i + 1} {x} {y} {z}" for i, (x, y, z) in enumerate(NODES)), "*ELEMENTS", "TET", f"{len(TETRAHEDRA)} 4 0",
                  *(" ".join(map(str, [i + 1, *(n + 1 for n in t)])) for i, t in enumerate(TETRAHEDRA)),
                  "*MATERIAL STEEL", "ENU, 7800, 2e11, 0.3", "*REGION", "allElements, STEEL"])
    os.makedirs("d", exist_ok=True)
    put("g.geo", ['SetFactory("OpenCASCADE");', 'Include "h.geo";', "Box(1) = {0, 0, 0, a, b, 1};"])
    put("h.geo", ["a = 1;", 'Include "d/k.geo";'])
    put("d/k.geo", ["b = 1;"])
    if "Gmsh absent" in run([f"{folder}/modalmesh", "--version"]).stdout.decode():
        print("modalmesh was built without Gmsh: no .geo here")
        COMMANDS[:] = [c for c in COMMANDS if "{g.geo}" not in c.words]
    put("m.json", [json.dumps({"materials": {"steel": {"young": 2e11, "poisson": 0.3, "density": 7800}}, "default": "steel"})])
    put("l.bou", ["1,2,3,4"])
    put("fine.obj", ["v 0 0 0", "v 1 0 0", "v 0 1 0", "v 0 0 1", "f 1 3 2", "f 1 2 4", "f 2 3 4", "f 3 1 4"])
    put("lk.obj", ["mtllib lk.mtl", "v 0 0 0", "v 1 0 0", "v 0 1 0", "usemtl red", "f 1 3 2"])
    images.write_png("lk.png", np.zeros((2, 2, 3), "u1"))
    put("lk.json", [json.dumps({"look": 1, "materials": {"a": {"image": "lk.png"}, "b": {}}, "default": "b"})])
    lights = [{"direction": [0, 0, -1], "colour": [1, 1, 1], "shadow": False}] # a shadow's image takes longer than all else
    put("lk2.json", [json.dumps({"look": 1, "materials": {"b": {}}, "default": "b", "lights": lights})])
    put("lk.mtl", ["newmtl red", "Kd 1 0 0", "map_Kd lk.png"])
    put("coarse.obj", ["v 0 0 0", "v 2 0 0", "v 0 1 0", "v 0 0 1", "f 1 3 2", "f 1 2 4", "f 2 3 4", "f 3 1 4"])
    put("quake.csv", ["0,0,0,0", "0.05,1,0,0", "0.1,0,0,0"])
    put("force.csv", ["0,0", "0.1,1000"])
    put("bases.txt", ["a.h5", "a2.h5"])
    put("places.csv", ["0,0,-1,0,0,0,0,0,0", "1,1,-1,3,0,0,0,0,0"])
    put("ground.csv", ["0,0,0,0", "0.1,0.1,0,0"])
    put("s.json", [json.dumps({"duration": 0.1, "fps": 100, "damping": {"alpha": 1}, "base_accelerations": [{"file": "ground.csv"}],
                               "forces": [{"object": 0, "vertex": 7, "force": [0, 0, 1], "curve": {"file": "force.csv"}}]})])
    put("q.json", [json.dumps({"step": "auto", "steps": 10, "every": 5, "probes": [{"name": "top", "nodes": "plane:0,0,1:0,0,1"}],
                               "gravity": {"acceleration": [0, 0, -9.81], "curve": {"file": "force.csv"}}})])
    put("w.json", [json.dumps({"damping": {"ratio": 0.01}, "response": {"from": 10, "to": 20, "points": 3},
                               "forces": [{"object": 0, "vertex": 7, "force": [0, 0, 1]}]})])
    run([f"{folder}/modalpack", "x.node", "a.h5", *STEEL, "--fixed", "plane:0,0,0:0,0,-1", "--modes", 3, "-q"])
    run([f"{folder}/modalpack", "x.node", "a2.h5", *STEEL, "--modes", 2, "-q"])
    run([f"{folder}/modaltex", "build", "a.h5", "oc.h5", "--resolution", 8, "-q"])
    tled = [f"{folder}/modaltled", "x.node", "sn.h5", "--scene", "q.json", "--materials", "m.json", "--fixed", "plane:0,0,0:0,0,-1", "-q"]
    run(tled)
    run([*tled[:2], "gone.h5", *tled[3:7], "--fixed", "l.bou@xy", "--checkpoint", "ck.ck", "--checkpoint-every", 1, "-q"])
    os.remove("gone.h5")
    run([f"{folder}/modalplace", "--link", "places.csv", "as.h5", "a.h5", "a2.h5", "-q"])
    run([f"{folder}/modalsim", "as.h5", "ts.h5", "--duration", 0.1, "--fps", 100, "--initial", "0=0.01", "-q"])
    run([f"{folder}/modalsim", "a.h5", "t.h5", "--duration", 0.1, "--fps", 100, "--initial", "0=0.01", "-q"])
    run([f"{folder}/modalsim", "a.h5", "gone.h5", "--scene", "s.json", "--checkpoint", "c.h5", "--checkpoint-every", 5,
         "-q"])
    os.remove("gone.h5")
    run([f"{folder}/modaltex", "build", "a.h5", "fl.h5", "--resolution", 16, "-q"])
    run([f"{folder}/modaltex", "flow", "t.h5", "fl.h5", "v", "--frames", "0:2", "--checkpoint", "fs.h5", "-q"])
    shutil.rmtree("v")
    run([f"{folder}/modaldeform", "t.h5", "v", "-q"])
    run([f"{folder}/modalsim", "a.h5", "tl.h5", "--scene", "s.json", "-q"])
    with open("q.wav", "wb") as f: # a tenth of a second, silent
        with open("v/manifest.json", encoding="utf-8") as m:
            of = f"trajectory {json.load(m)['trajectory']['hash']}".encode()
        f.write(struct.pack("<4sI4s4sIHHIIHHH4sII4sI4s4sI44s4sI", b"RIFF", 114 + 4 * 4801, b"WAVE", b"fmt ", 18, 3, 1, 48000, 4 * 48000, 4, 32,
                            0, b"fact", 4, 4801, b"LIST", 56, b"INFO", b"ICMT", 44, of, b"data", 4 * 4801) + bytes(4 * 4801))
    with h5py.File("a2.h5") as f:
        u = basis_file.node_modes(f["shapes/0000"]).astype("f8")
    with h5py.File("u.h5", "w", libver=("earliest", "v108")) as f:
        f.attrs.update(modal_format="snapshots", modal_format_version="1.0")
        f["displacements"] = u
    with open("c.U", "wb") as f:
        f.write(struct.pack("<ii", u.shape[1] * 3, 2) + u.reshape(2, -1).astype("<f8").tobytes())


def put(name, lines):
    with open(name, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def files_below(folder=".", prefix=""):
    """{name: contents, or where a link leads} of all files."""
    found = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                found[prefix + entry.name] = os.readlink(entry.path)
            elif entry.is_dir():
                found.update(files_below(entry.path, f"{prefix}{entry.name}/"))
            else:
                with open(entry.path, "rb") as f:
                    found[prefix + entry.name] = f.read()
    return found


@functools.cache
def copied(source):
    return [os.path.relpath(path, source) for path, _, _ in os.walk(source)], files_below(source)


def fresh(source):
    """The current folder becomes a copy of another one, which nobody changes. What is the same already is left there: these
    are thousands of copies of some forty files."""
    start = os.path.abspath(source)
    folders, files = copied(start)
    for name, text in files_below().items():
        if files.get(name) != text or os.path.islink(name) or os.stat(name).st_nlink > 1:
            os.remove(name)
    for path, _, _ in os.walk(".", topdown=False):
        if os.path.normpath(path) not in folders:
            os.rmdir(path)
    for name in folders:
        os.makedirs(name, exist_ok=True)
    for name in files:
        if not os.path.lexists(name):
            shutil.copy(os.path.join(start, name), name)


def kind_of(command):
    """Its tool, and which of the tool's commands."""
    return command.tool, command.words[0] if command.tool == "modaltex" else ""
