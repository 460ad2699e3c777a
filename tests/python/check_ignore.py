#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a deck or a material asks for and no tool supports: an error that names it, with its line, by every tool that reads the mesh; the same
modes as without it under --ignore; and what changes no mode is passed over without a word.
usage: check_ignore.py BIN"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py

binaries = pathlib.Path(sys.argv[1]).resolve()
os.chdir(tempfile.mkdtemp(prefix="ignore-"))
MESH = ["*HEADING", "a block", "*NODE, NSET=N", *(f"{1 + i + 3 * (j + 2 * k)}, {i}, {j}, {k}" for k in range(2) for j in range(2) for i in range(3)),
        "*ELEMENT, TYPE=C3D8I, ELSET=BODY", "1, 1, 2, 5, 4, 7, 8, 11, 10", "2, 2, 3, 6, 5, 8, 9, 12, 11", "*NSET, NSET=LEFT", "1, 4, 7, 10",
        "*MATERIAL, NAME=M", "*ELASTIC", "1e9, 0.3", "*DENSITY", "1000"]
REST = ["*SOLID SECTION, ELSET=BODY, MATERIAL=M", "*BOUNDARY", "LEFT, 1, 3"]
FREQUENCY = ["*FREQUENCY", "3", "*END STEP"]


def run(tool, *words, code=0):
    got = subprocess.run([str(binaries / tool), *map(str, words)], capture_output=True, text=True, timeout=120)
    assert got.returncode == code, (tool, words, got)
    return got.stderr


def deck(extra=(), material=()):
    """The line of the first of `extra`."""
    lines = [*MESH, *material, *REST, *extra, ""]
    pathlib.Path("m.inp").write_text("\n".join(lines))
    return len(MESH) + 1 if material else len(MESH) + len(REST) + 1


def modes():
    with h5py.File("b.h5") as f:
        return f["shapes/0000/modes/frequencies"][:].tobytes()


PACK = ["m.inp", "b.h5", "-f", "-m", 3]
deck()
assert "ignored" not in run("modalpack", *PACK)
PLAIN = modes()

# passed over without a word: texts, output, loads, the course of an analysis
SILENT = [
    ["*STEP", *FREQUENCY[:2], "*NODE FILE", "U", "*EL FILE", "S", "*NODE PRINT, NSET=N", "U", "*End Step"],
    ["*Step, nlgeom=NO, perturbation", "*Frequency, eigensolver=Lanczos", "3", "*Restart, write, frequency=0",
     "*Output, field, variable=PRESELECT", "*END STEP"],
    ["*AMPLITUDE, NAME=A", "0, 0, 1, 1", "*STEP, NLGEOM", "*STATIC", "*CLOAD", "3, 2, 1.", "*DLOAD", "BODY, GRAV, 9.81, 0, 0, -1", "*END STEP"],
    ["*STEP", "*STATIC", "*CLOAD", "3, 2, 1.", "*END STEP", "*STEP", *FREQUENCY],  # no program stresses that
    ["*STEP, NLGEOM=NO", "*STATIC", "*END STEP", "*STEP", *FREQUENCY],
    ["*STEP, PERTURBATION", "*STATIC", "*CLOAD", "3, 2, 1.", "*END STEP", "*STEP, NLGEOM", *FREQUENCY],
    ["*INITIAL CONDITIONS, TYPE=VELOCITY", "N, 1, 1.", "*CONDUCTIVITY", "50.", "*SURFACE, NAME=S, TYPE=NODE", "LEFT"],
]
for extra in SILENT:
    deck(extra)
    said = run("modalpack", *PACK)
    assert "ignored" not in said and modes() == PLAIN, (extra, said)

# kind, lines, which of them is named and how
REFUSED = [
    ("constraints", ["*TIE, NAME=T", "A, B"], 0, "*TIE"),
    ("constraints", ["*MPC", "BEAM, 3, 6", "*Rigid Body, NSET=LEFT, REF NODE=3"], 0, "*MPC"),
    ("elements", ["*ELEMENT, TYPE=SPRING1, ELSET=P", "9, 3", "*SPRING, ELSET=P", "1", "1e6"], 2, "*SPRING"),
    ("elements", ["*ELEMENT, TYPE=MASS, ELSET=P", "9, 3", "*Mass, ELSET=P", "1"], 2, "*Mass"),
    ("elements", ["*ELEMENT, TYPE=T3D2, ELSET=P", "9, 1, 6", "*SOLID SECTION, ELSET=P, MATERIAL=M", "0.1"], 2,
     "*SOLID SECTION of trusses or plane elements"),
    ("preload", ["*STEP, NLGEOM", "*STATIC", "*DLOAD", "BODY, CENTRIF, 1e6, 0, 0, 0, 0, 0, 1", "*END STEP", "*STEP, PERTURBATION", *FREQUENCY], 1,
     "*STATIC before *STEP, PERTURBATION"),
    ("preload", ["*STEP, NLGEOM=YES", "*Static", "*END STEP", "*STEP", *FREQUENCY], 1, "*Static before *FREQUENCY"),
    ("preload", ["*STEP", "*STATIC", "*END STEP", "*STEP, PERTURBATION", *FREQUENCY], 1, "*STATIC before *STEP, PERTURBATION"),
    ("preload", ["*STEP, PERTURBATION", *FREQUENCY[:2], "*CLOAD", "3, 1, 5.", "*END STEP"], 3, "*CLOAD of *FREQUENCY"),
    ("preload", ["*INITIAL CONDITIONS, TYPE=STRESS", "BODY, 1, 1, 1, 0, 0, 0"], 0, "*INITIAL CONDITIONS"),
    ("keywords", ["*FROBNICATE, X=1", "1, 2"], 0, "*FROBNICATE"),
]
for kind, extra, at, text in REFUSED:
    line = deck(extra) + at
    for tool, out in (("modalpack", "o.h5"), ("modalmesh", "o.msh"), ("modaltled", "o.h5"), ("modaltools", "o.html")):
        if tool == "modaltled":
            pathlib.Path("s.json").write_text(json.dumps({"step": "auto", "steps": 2, "every": 1}))
        words = {"modaltled": ["m.inp", out, "--scene", "s.json"], "modaltools": ["quick", "m.inp", out]}.get(tool, ["m.inp", out])
        said = run(tool, *words, "-q", code=3)
        assert f": m.inp: not supported: {text} (line {line})" in said and f" (--ignore {kind} continues without)" in said, (tool, extra, said)
        assert not os.path.exists(out), (tool, extra)
    for ignored in (kind, f"boundary,{kind}", "all"):
        said = run("modalpack", *PACK, "--ignore", ignored, "--report", "r.json")
        assert f"warning: m.inp: ignored, {kind}: {text} (line {line})" in said and modes() == PLAIN, (extra, said)
        assert any(kind in warning for warning in json.loads(pathlib.Path("r.json").read_text())["warnings"])
    run("modalpack", *PACK, "--ignore", "boundary" if kind != "boundary" else "material", code=3)
    told = json.loads(subprocess.run([str(binaries / "modalinfo"), "--json", "m.inp"], capture_output=True, check=True).stdout)
    assert {"kind": kind, "text": f"{text} (line {line})"} in [{**one, "text": one["text"].replace(" and 1 more", "")} for one in told["not_taken"]], told
    assert f"{kind}: {text} (line {line}" in subprocess.run([str(binaries / "modalinfo"), "m.inp"], capture_output=True, text=True, check=True).stdout

# all at once, in one line; the place in an included file; how often
pathlib.Path("ties.inc").write_text("*TIE, NAME=T\nA, B\n*EQUATION\n2\n3, 1, 1., 6, 1, -1.\n")
line = deck(["*EQUATION", "2", "3, 1, 1., 6, 1, -1.", "*INCLUDE, INPUT=ties.inc", "*SPRING, ELSET=P", "1", "1."])
said = run("modalpack", *PACK, "-q", code=3)
assert said == (f"modalpack: m.inp: not supported: *EQUATION (line {line} and 1 more); *TIE (ties.inc:1); *SPRING (line {line + 4}) "
                "(--ignore constraints,elements continues without)\n"), said
assert "--ignore: must be boundary, constraints" in run("modalpack", *PACK, "--ignore", "ties", code=2)
assert "--ignore: is for volume meshes" in run("modalmesh", "a.obj", "o.msh", "--ignore", "all", code=2)
assert "--rigid: not with --ignore" in run("modalpack", "a.obj", "o.h5", "--rigid", "--ignore", "all", code=2)
# as many texts as there is room for, and the others' number
deck([line for i in range(400) for line in (f"*NONSENSE{i}", "1")])
said = run("modalpack", *PACK, "-q", code=3)
assert "*NONSENSE0 (line" in said and " more (--ignore keywords continues without)" in said and len(said) < 1000, said

# materials: with the file's own they count, with another one they do not
line = deck(material=["*PLASTIC", "2e8, 0", "*EXPANSION", "1e-5"])
said = run("modalpack", *PACK, code=3)
assert f"*PLASTIC (line {line}); *EXPANSION (line {line + 2}) (--ignore material" in said, said
run("modalpack", *PACK, "--ignore", "material")
assert modes() == PLAIN
assert "ignored" not in run("modalpack", *PACK, "--material", "steel")
assert "not supported" in run("modalmesh", "m.inp", "o.msh", "--materials-out", "o.json", code=3)
assert "ignored, material: *PLASTIC" in run("modalmesh", "m.inp", "o.msh")
os.remove("o.msh")
pathlib.Path("m.inp").write_text("\n".join(line for line in pathlib.Path("m.inp").read_text().split("\n") if line not in ("*DENSITY", "1000")))
for tool, out in ((["modalpack"], "o.h5"), (["modaltools", "quick"], "o.html")):  # an assumed material takes the place of none
    said = run(*tool, "m.inp", out, code=3)
    assert 'm.inp: not supported: *PLASTIC' in said and "give --material" in said and not os.path.exists(out), said
# orthotropic ones with axes come back from --materials-out as they were
deck()
wood = pathlib.Path("m.inp").read_text().replace("*ELASTIC\n1e9, 0.3", "*ELASTIC, TYPE=ENGINEERING CONSTANTS\n11e9, 9e8, 6e8, .35, .4, .45, 8e8, 7e8,\n5e7")
wood = wood.replace("*MATERIAL", "*ORIENTATION, NAME=O\n0, 2, 0, -1, 0, 0\n3, 30.\n*MATERIAL").replace("MATERIAL=M", "MATERIAL=M, ORIENTATION=O")
pathlib.Path("m.inp").write_text(wood)
run("modalpack", *PACK)
same = modes()
run("modalmesh", "m.inp", "o.msh", "--materials-out", "o.json")
run("modalpack", "o.msh", *PACK[1:], "--materials", "o.json", "--fixed", "held_xyz@xyz")
assert modes() == same
os.remove("o.msh")
deck(["*BOUNDARY", "3, 1, 1, 0.5"])
assert "not supported" in run("modaltools", "quick", "m.inp", "o.html", "--shake", code=3)  # nothing else is held instead
assert "warning: m.inp: ignored" not in run("modalpack", *PACK, "--free")

# materials of a file: fibres and viscosity are in no mode, another law not in reduced forces
deck()
BASE = {"young": 1e9, "poisson": 0.3, "density": 1000}
for said_of, options, text in (({"fibres": {"stiffness": 5e3, "direction": [0, 0, 1]}}, [], 'fibres of material "muscle"'),
                               ({"prony": {"isochoric": [[0.3, 0.05]]}}, ["--reduced-forces"], 'Prony terms of material "muscle"'),
                               ({"law": "neo_hookean"}, ["--reduced-forces"], 'law neo_hookean of material "muscle", --reduced-forces are of stvk')):
    pathlib.Path("m.json").write_text(json.dumps({"materials": {"muscle": {**BASE, **said_of}, "unused": {**BASE, "prony": {"isochoric": [[0.1, 1]]}}},
                                                  "default": "muscle"}))
    said = run("modalpack", *PACK, "--materials", "m.json", *options, "-q", code=3)
    assert said == f"modalpack: m.json: not supported: {text} (--ignore material continues without)\n", said
    assert f"warning: m.json: ignored, material: {text}" in run("modalpack", *PACK, "--materials", "m.json", *options, "--ignore", "material")
pathlib.Path("m.json").write_text(json.dumps({"materials": {"m": {**BASE, "law": "neo_hookean"}}, "default": "m"}))
assert "ignored" not in run("modalpack", *PACK, "--materials", "m.json")  # a law's small motions are those of E and nu
print(len(SILENT), "decks without a word,", len(REFUSED), "refused")
