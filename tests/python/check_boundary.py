#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""*BOUNDARY of .inp files: which nodes modalpack holds, what it says, what is refused, what modalmesh makes of it.
usage: check_boundary.py BIN"""
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py

binaries = pathlib.Path(sys.argv[1]).resolve()
os.chdir(tempfile.mkdtemp(prefix="boundary-"))
MODEL = ["*NODE", *(f"{1 + i + 3 * (j + 2 * k)}, {i}, {j}, {k}" for k in range(2) for j in range(2) for i in range(3)),
         "*ELEMENT, TYPE=C3D8, ELSET=BODY", "1, 1, 2, 5, 4, 7, 8, 11, 10", "2, 2, 3, 6, 5, 8, 9, 12, 11",
         "*NSET, NSET=Left", "1, 4, 7, 10", "*NSET, NSET=RIGHT", "3, 6, 9, 12", "*NSET, NSET=NONE",
         "*MATERIAL, NAME=M", "*ELASTIC", "1e9, 0.3", "*DENSITY", "1000", "*SOLID SECTION, ELSET=BODY, MATERIAL=M"]
LEFT, RIGHT = (1, 4, 7, 10), (3, 6, 9, 12)


def run(tool, *words, code=0):
    got = subprocess.run([str(binaries / tool), *map(str, words)], capture_output=True, text=True, timeout=60)
    assert got.returncode == code, (tool, words, got)
    return got.stderr


def write(*lines):
    pathlib.Path("m.inp").write_text("\n".join([*MODEL, *lines, ""]))


def held(mesh="m.inp", *options):
    """{number of the node: components}, and what was said."""
    said = run("modalpack", mesh, "b.h5", "-f", "--modes", 1, "--ignore", "all", *options)
    with h5py.File("b.h5") as f:
        volume = f["shapes/0000/volume"]
        numbers = volume["node_tags"][:]
        if "fixed_nodes" not in volume:
            return {}, said
        nodes = volume["fixed_nodes"][:]
        masks = volume["fixed_components"][:] if "fixed_components" in volume else [7] * len(nodes)
        return {int(numbers[n]): int(c) for n, c in zip(nodes, masks)}, said


def each(nodes, components):
    return dict.fromkeys(nodes, components)


def at(k):
    """The place of the k-th line of a case."""
    return f"line {len(MODEL) + k}"


# lines, what is held, texts that are said
CASES = [
    (["*BOUNDARY", "LEFT, 1, 3"], each(LEFT, 7), ["*BOUNDARY holds Left in xyz, 4 nodes", "4 nodes held, 0 of them in part"]),
    (["*boundary", "left,1", "left,2,2", "left,3,3,0.0"], each(LEFT, 7), ["holds Left in xyz"]),
    (["*BOUNDARY", "LEFT, 1, 6"], each(LEFT, 7), ["holds Left in xyz"]),
    (["*BOUNDARY", "LEFT, 2,, 0", "RIGHT, 3"], {**each(LEFT, 2), **each(RIGHT, 4)}, ["holds Left in y", "holds RIGHT in z"]),
    (["*BOUNDARY", "1, 1, 3", "4, 1", "4, 3", "7, 1, 2"], {1: 7, 4: 5, 7: 3}, ["holds nodes by number in xz, 1 nodes"]),
    (["*BOUNDARY", "LEFT, ENCASTRE", "RIGHT, zsymm", "2, XASYMM"], {**each(LEFT, 7), **each(RIGHT, 4), 2: 6}, []),
    (["*BOUNDARY", "Part-1-1.LEFT, PINNED"], each(LEFT, 7), []),
    (["*STEP", "*STATIC", "*BOUNDARY, OP=MOD", "LEFT, 1, 3", "*END STEP"], each(LEFT, 7), []),
    (["*BOUNDARY", "RIGHT, 1, 3", "*STEP", "*BOUNDARY, OP=NEW", "LEFT, 1", "*BOUNDARY, OP=NEW", "LEFT, 2, 3"], each(LEFT, 7), []),
    (["*BOUNDARY", "LEFT, 1, 3", "RIGHT, 3, 3, 0.5"], each(LEFT, 7),
     [f"warning: m.inp: ignored, boundary: *BOUNDARY of RIGHT: 3 to 3, a value of 0.5 ({at(3)})"]),
    (["*BOUNDARY", "1, 1, 3", "3, 3, 3, -1", "6, 3, 3, -1", "9, 3, 3, -1", "2, 11"], {1: 7},
     [f"boundary: *BOUNDARY of nodes by number: 3 to 3, a value of -1 ({at(3)} and 2 more); *BOUNDARY of nodes by number: degree of freedom 11 ({at(6)})"]),
    (["*BOUNDARY", "LEFT, 1, 3", "*EQUATION", "2", "3, 1, 1., 6, 1, -1.", "*MPC", "BEAM, 3, 6"], each(LEFT, 7),
     [f"ignored, constraints: *EQUATION ({at(3)}); *MPC ({at(6)})"]),
    (["*BOUNDARY, SUBMODEL", "LEFT, 1, 3", "*BOUNDARY", "LEFT, NOWARP"], {},
     [f"ignored, boundary: *BOUNDARY, SUBMODEL ({at(1)}); *BOUNDARY of LEFT: NOWARP ({at(4)})"]),
    (["*TRANSFORM, NSET=LEFT, TYPE=C", "0,0,0,0,0,1", "*BOUNDARY", "LEFT, 1, 1", "RIGHT, 1, 3"], each(RIGHT, 7),
     ["ignored, boundary: *BOUNDARY of Left: along axes of *TRANSFORM"]),
    (["*TRANSFORM, NSET=LEFT, TYPE=C", "0,0,0,0,0,1", "*BOUNDARY", "LEFT, 1, 3"], each(LEFT, 7), []),
    (["*BOUNDARY", "NONE, 1, 3"], {}, []),
    (["*BOUNDARY"], {}, []),
]
for lines, nodes, texts in CASES:
    write(*lines)
    found, said = held()
    assert found == nodes, (lines, found, nodes)
    for text in texts:
        assert text in said, (lines, text, said)
    kinds = {kind for kind in ("boundary", "constraints") if f"ignored, {kind}: " in said}
    assert ("boundary" in kinds) == any("boundary" in text for text in texts) and ("ignored" in said) == bool(kinds), (lines, said)
    if kinds:  # an error without --ignore, also of a conversion
        for tool, target in (("modalpack", "o.h5"), ("modalmesh", "o.msh")):
            refused = run(tool, "m.inp", target, "-q", code=3)
            assert f" (--ignore {','.join(sorted(kinds))} continues without)" in refused and refused.count("\n") == 1, refused
            assert not os.path.exists(target), refused
    assert held("m.inp", "--free")[0] == {}, lines
    assert held("m.inp", "--fixed", "RIGHT@x")[0] == each(RIGHT, 1), lines

write("*BOUNDARY", "LEFT, 1, 3")
assert "*BOUNDARY of Left in xyz is ignored (--free)" in held("m.inp", "--free")[1]
assert "*BOUNDARY of Left in xyz is replaced by --fixed" in held("m.inp", "--fixed", "RIGHT")[1]
assert "--free and --fixed: give one of them" in run("modalpack", "m.inp", "o.h5", "--free", "--fixed", "LEFT", code=2)

# refused, with the line
# A node that no mesh has: what can be held is held, and the rest is told.
write("*BOUNDARY", "99, 1, 3", "LEFT, 1, 3")
said = run("modalpack", "m.inp", "o.h5", "--modes", 1)
assert "warning: m.inp: sets and conditions name nodes that are not there, 1: left out, the first is 99" in said, said
assert "*BOUNDARY holds Left in xyz, 4 nodes" in said, said
os.remove("o.h5")
line = len(MODEL) + 2
for text, message in (("MIDDLE, 1, 3", "*BOUNDARY: neither a node nor a set of nodes, 'MIDDLE'"),
                      ("BODY, 1, 3", "neither a node nor a set of nodes, 'BODY'"),
                      ("LEFT", "first degree of freedom missing"), ("LEFT, 0, 3", "no degrees of freedom, 0 to 3"),
                      ("LEFT, 3, 1", "no degrees of freedom, 3 to 1"), ("LEFT, 1, 3, nan", "value"),
                      ("LEFT, 1, 3, 1e999", "value"), ("LEFT, 1, 3, 0x", "value"), ("LEFT, 1.5", "first degree of freedom"),
                      (", 1, 3", "node or set missing"), ("LEFT, 1, 3, 0, 7", "end of the line expected")):
    write("*BOUNDARY", text)
    for tool, target in (("modalpack", "o.h5"), ("modalmesh", "o.msh")):
        said = run(tool, "m.inp", target, code=3)
        assert said.startswith(f"{tool}: m.inp:{line}: ") and message in said and said.count("\n") == 1, (text, said)
        assert not os.path.exists(target), text

# modalmesh: groups that modalpack holds the same nodes by; middles of edges included
pathlib.Path("t.inp").write_text("\n".join([
    "*NODE", "1, 0, 0, 0", "2, 1, 0, 0", "3, 0, 1, 0", "4, 0, 0, 1", "*ELEMENT, TYPE=C3D4, ELSET=BODY", "1, 1, 2, 3, 4",
    "*NSET, NSET=BASE", "1, 2, 3", *MODEL[MODEL.index("*MATERIAL, NAME=M"):], "*BOUNDARY", "BASE, 1, 3", "4, 2", ""]))
steel = ["--young", 1e9, "--poisson", 0.3, "--density", 1000]
for order, n in ((1, 3), (2, 6)):
    said = run("modalmesh", "t.inp", "t.msh", "-f", "--order", order)
    assert f"its {n} nodes held in xyz are the group held_xyz (modalpack --fixed held_xyz@xyz)" in said, said
    found, _ = held("t.msh", *steel, "--fixed", "held_xyz@xyz", "--fixed", "held_y@y")
    assert sorted(found.values()) == sorted([7] * n + [2]), found
assert "*BOUNDARY" not in run("modalmesh", "t.msh", "u.msh")
print(len(CASES), "files of conditions")
