# SPDX-License-Identifier: Apache-2.0
"""The command line of modalpack: what it refuses, with which words and exit code, and that nothing is
left behind. usage: check_modalpack.py MODALPACK SOURCE_FOLDER"""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

modalpack, source = sys.argv[1], pathlib.Path(sys.argv[2])
fork = source / "data/tuning_fork.msh"
STEEL = ["--young", "2.06e11", "--poisson", "0.29", "--density", "7850"]
folder = pathlib.Path(tempfile.mkdtemp(prefix="modalpack-"))
os.chdir(folder)


def run(*words, **more):
    return subprocess.run([modalpack, *map(str, words)], capture_output=True, text=True, **more)


def expect(code, message, *words, left=None, **more):
    """The tool ends with `code`, one line holding `message`, and only the files that were there."""
    before = sorted(os.listdir("."))
    got = run(*words, **more)
    assert got.returncode == code, (words, code, got)
    lines = got.stderr.rstrip("\n").split("\n")
    assert lines[-1].startswith("modalpack: ") and message in lines[-1], (words, message, got)
    assert sorted(os.listdir(".")) == (left or before), (words, os.listdir("."))


NODES = "\n".join(f"{i} {c}" for i, c in enumerate(["0 0 0", "1 0 0", "0 1 0", "0 0 1", "1 1 1", "9 9 9"], 1))


def msh(nodes=NODES, count=6, elements="1 4 2 1 1 1 2 3 4\n2 4 2 1 1 2 3 4 5", n_elements=2):
    return (f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n"
            f"$Nodes\n{count}\n{nodes}\n$EndNodes\n$Elements\n{n_elements}\n{elements}\n$EndElements\n")


def write(name, text):
    pathlib.Path(name).write_text(text)
    return name


good = write("good.msh", msh())
same = write("same", msh())
assert run(good, "b.h5", *STEEL, "--modes", "3").returncode == 0
write("inverted.msh", msh(elements="1 4 2 1 1 1 2 3 4\n2 4 2 1 1 1 3 2 5"))  # lies over its neighbour: no order makes it right
write("flat.msh", msh(elements="1 4 2 1 1 1 2 3 4\n2 4 2 1 1 1 2 3 6", nodes=NODES.replace("9 9 9", "2 2 0")))
write("nan.msh", msh(nodes=NODES.replace("1 1 1", "1 nan 1")))
write("index.msh", msh(elements="1 4 2 1 1 1 2 3 4\n2 4 2 1 1 2 3 4 77"))
write("none.msh", msh(elements="1 2 2 1 1 1 2 3", n_elements=1))
write("version.msh", msh().replace("2.2 0 8", "9.9 0 8"))
write("hexahedron.msh", msh(elements="1 5 2 1 1 1 2 3 4 5 6 1 2", n_elements=1))
write("truncated.msh", msh()[:200])
write("empty.msh", "")
write("text.msh", "hello\n")
write("surface.stl", "solid s\nendsolid s\n")
write("part.step", "ISO-10303-21;\n")
os.mkdir("folder")
write("far.obj", "v 1e200 0 0\nv 1e200 1e199 0\nv 1e200 0 1e199\nf 1 2 3\n")
write("twice.msh", msh().replace('1\n3 1 "body"', '2\n3 1 "body"\n2 1 "body"')
      .replace("2 4 2 1 1 2 3 4 5", "2 4 2 1 1 2 3 4 5\n3 2 2 1 1 1 2 3").replace("$Elements\n2", "$Elements\n3"))
write("many.msh", msh().replace("$PhysicalNames\n1\n", "$PhysicalNames\n301\n").replace(
    '3 1 "body"\n', '3 1 "body"\n' + "".join(f'3 {i} "group {i}"\n' for i in range(2, 302))))

usage = [
    (2, "usage: modalpack", (good,)),
    (2, "--modes: not a whole number, 2x", (good, "o.h5", *STEEL, "--modes", "2x")),
    (2, "--modes: must be in 1 .. ", (good, "o.h5", *STEEL, "--modes", "0")),
    (2, "give all three or none, 1", (good, "o.h5", "--young", "1e9")),
    (2, "--mass: must be consistent or lumped, heavy", (good, "o.h5", *STEEL, "--mass", "heavy")),
    (2, "modalpack makes no .msh (modalmesh does)", (good, good, *STEEL)),
    (2, "input and output are one file", (same, same, *STEEL)),
    (2, "--material: neither GROUP=E,NU,RHO nor a name, body (known: steel, ", (good, "o.h5", "--material", "body")),
    (2, "nor a name, unobtainium (known: steel, ", (good, "o.h5", "--material", "body=unobtainium")),
    (2, "nor a name, nan (known", (good, "o.h5", "--material", "body=nan")),
    (2, "--material: not GROUP=E,NU,RHO, =steel", (good, "o.h5", "--material", "=steel")),
    (2, "a second material of all elements, steel", (good, "o.h5", *STEEL, "--material", "steel")),
    (2, "a second material of all elements, pla", (good, "o.h5", "--material", "steel", "--material", "pla")),
    (2, "--material: needs 3 finite numbers", (good, "o.h5", "--material", "body=1e9,0.3")),
    (3, "--material: unknown group, foot (known groups: body)", (good, "o.h5", "--material", "foot=1e9,0.3,1e3")),
    (3, "--fixed: neither a group nor a file, foot (known groups: body)", (good, "o.h5", *STEEL, "--fixed", "foot")),
    (3, "0", (good, "o.h5", "--young", "0", "--poisson", "0.3", "--density", "1")),
    (3, "0.5", (good, "o.h5", "--young", "1e9", "--poisson", "0.5", "--density", "1")),
    (3, "modes", (good, "o.h5", *STEEL, "--modes", "50")),
    (3, "absent.msh", ("absent.msh", "o.h5", *STEEL)),
    (3, "folder", ("folder", "o.h5", *STEEL)),
    (3, "empty.msh", ("empty.msh", "o.h5", *STEEL)),
    (3, "text.msh", ("text.msh", "o.h5", *STEEL)),
    (3, "truncated.msh", ("truncated.msh", "o.h5", *STEEL)),
    (3, "surface.stl: a surface, where a volume mesh is needed: make one with modalmesh surface.stl MESH.msh",
     ("surface.stl", "o.h5", *STEEL)),
    (3, "part.step: a geometry, where a volume mesh is needed: make one with modalmesh part.step MESH.msh",
     ("part.step", "o.h5", *STEEL)),
    (3, "absent.stl: cannot open", ("absent.stl", "o.h5", *STEEL)),
    (3, "nan.msh:", ("nan.msh", "o.h5", *STEEL)),
    (3, "index.msh:", ("index.msh", "o.h5", *STEEL)),
    (3, "none.msh", ("none.msh", "o.h5", *STEEL)),
    (3, "9.9", ("version.msh", "o.h5", *STEEL)),
    (3, "hexahedron", ("hexahedron.msh", "o.h5", *STEEL)),
    (3, "inverted.msh: element 2: negative volume", ("inverted.msh", "o.h5", *STEEL)),
    (3, "flat.msh: element 2: zero volume", ("flat.msh", "o.h5", *STEEL)),
    (3, "absent.obj", (good, "o.h5", *STEEL, "--surface", "absent.obj")),
    (3, "far.obj: vertex 0: too far from the solid, (1e+200, 0, 0)", (good, "o.h5", *STEEL, "--surface", "far.obj")),
    (3, "group body: two of that name, say which: 2:body or 3:body", ("twice.msh", "o.h5", *STEEL, "--fixed", "body")),
    (3, " more)", ("many.msh", "o.h5", *STEEL, "--fixed", "foot")),
    (2, "--report: would overwrite good.msh", (good, "o.h5", *STEEL, "--report", "./good.msh")),
    (2, "--report: would overwrite o.h5", (good, "o.h5", *STEEL, "--report", "folder/../o.h5")),
    (2, "--report: would overwrite far.obj", (good, "o.h5", *STEEL, "--surface", "far.obj", "--report", "far.obj")),
    (4, "absent/r.json: cannot write", (good, "o.h5", *STEEL, "--report", "absent/r.json")),
    (2, "b.h5: exists (--force replaces it)", (good, "b.h5", *STEEL)),
    (2, "folder: exists, and is not a regular file", (good, "folder", *STEEL, "--force")),
    (4, "cannot write", (good, "absent/o.h5", *STEEL)),
]
for code, message, words in usage:
    expect(code, message, *words)

# nodes in no element are dropped and said; the same command gives the same bytes
for place in ("first", "second"):
    os.mkdir(place)
    got = run("../good.msh", "b.h5", *STEEL, "--modes", "3", "-j1", cwd=place)
    assert got.returncode == 0 and "nodes in no element dropped, 1" in got.stderr, got
assert pathlib.Path("first/b.h5").read_bytes() == pathlib.Path("second/b.h5").read_bytes()

# the group of one dimension of two that share a name; a report beside the output
assert run("twice.msh", "two.h5", *STEEL, "--modes", "2", "--fixed", "2:body", "--report", "two.json").returncode == 0
assert json.loads(pathlib.Path("two.json").read_text())["exit_code"] == 0

# materials by name: the table of the program is that of the document, and a name is its three constants
named = {line.split()[0]: [float(w) for w in line.split()[1:]] for line in
         subprocess.run([modalpack, "--material", "list"], capture_output=True, text=True).stdout.split("\n")[1:-1]}
rows = [line.split("|") for line in (source / "docs/materials.md").read_text().split("\n") if line.startswith("| `")]
assert named == {row[1].strip(" `"): [float(w) for w in row[2:5]] for row in rows} and len(named) >= 10, named
for name, constants in named.items():
    text = ",".join(map(repr, constants))
    tables = [run(good, "o.h5", "-f", "--modes", "3", *words).stdout for words in
              (("--material", name), ("--material", f"body={name}"), ("--material", f"body={text}"))]
    assert tables[0] == tables[1] == tables[2] and "frequency, Hz" in tables[0], (name, tables)
assert "as stiff in all directions as along its grain" in run(good, "o.h5", "-f", "--modes", "1", "--material", "oak").stderr
os.remove("o.h5")

# a node number of a .bou file that no element has
write("wrong.bou", "1,2,\n812\n")
expect(3, "wrong.bou: no element has a node of that number, 812", good, "o.h5", *STEEL, "--fixed", "wrong.bou")

# a disk that is full: writes beyond a file-size limit fail as on a full disk
limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
expect(4, "", fork, "o.h5", *STEEL, "--modes", "5", "--fixed", "stem_end", preexec_fn=limit)

# the Sturm count and every mode's orthogonality are stored; the same bytes for one thread and two
import h5py
for threads in "12":
    assert run(fork, f"j{threads}.h5", *STEEL, "--modes", "12", "--sturm", "-j", threads, "--report", "r.json",
               "--force").returncode == 0
with h5py.File("j1.h5") as f, h5py.File("j2.h5") as g:
    modes = f["shapes/0000/modes"]
    sigma, counted, known = modes["sturm_count"][:]
    assert sigma > modes["eigenvalues"][-1] and counted == known >= 6 + 12, modes["sturm_count"][:]
    assert modes["orthogonality"].shape == (12,) and modes["orthogonality"][:].max() < 1e-10
    assert f.attrs["content_hash"] == g.attrs["content_hash"]
    volume = "shapes/0000/volume/inner_modes"
    assert f[volume][:].tobytes() == g[volume][:].tobytes()
solver = json.loads(pathlib.Path("r.json").read_text())["solver"]
assert solver["sturm_count"]["below"] == counted and solver["factor_flops"] > 1e6, solver
with h5py.File("b.h5") as f:
    assert f["shapes/0000/modes/sturm_count"][1] == 6 + 3
    # the build, with the commit where one is known, is that of --version
    assert f["provenance/0000"].attrs["version"].decode() == run("--version").stdout.split()[1]
assert "Sturm count" in run(fork, "o.h5", *STEEL).stderr
os.remove("o.h5")

# memory: refused before the factorisation with what is needed; enough, though little, is enough
expect(4, "MiB needed (factor ", fork, "o.h5", *STEEL, "--memory-limit", "20M")
expect(4, "mpirun -n P modalpack --eigensolver slepc --route multigrid", fork, "o.h5", *STEEL, "--memory-limit", "20M")
expect(2, "--memory-limit", fork, "o.h5", *STEEL, "--memory-limit", "0")
expect(2, "--sturm: is for natural modes", fork, "o.h5", *STEEL, "--sturm", "--import", "x.U")
needed = int(solver["memory_estimate_bytes"])
assert run(fork, "o.h5", *STEEL, "--modes", "12", "--memory-limit", str(needed * 9 // 10)).returncode == 0
os.remove("o.h5")

# a factor in floats: the same modes, said in the file; the same bytes for one thread and two
for threads in "12":
    got = run(fork, f"f{threads}.h5", *STEEL, "--modes", "12", "--factor", "float32", "-j", threads,
              *["--sturm"] * (threads == "2"), "--report", "f.json", "--force")
    assert got.returncode == 0 and "factor in float32" in got.stderr, got
    assert ("no Sturm count" in got.stderr) == (threads == "1"), got
with h5py.File("j1.h5") as f, h5py.File("f1.h5") as g, h5py.File("f2.h5") as h:
    doubles, floats = f["shapes/0000/modes"], g["shapes/0000/modes"]
    assert floats.attrs["factor"] == b"float32" and "factor" not in doubles.attrs, dict(floats.attrs)
    level = max(1e-9, 4 * doubles["residuals"][:].max())  # what rounding leaves
    assert "sturm_count" not in floats and floats["residuals"][:].max() <= level
    assert abs(floats["eigenvalues"][:] / doubles["eigenvalues"][:] - 1).max() <= 1e-10
    same = h["shapes/0000/modes"]
    assert same["sturm_count"][1] == same["sturm_count"][2] >= 12
    assert all((floats[k][:] == same[k][:]).all() for k in floats) and len(same) == len(floats) + 1
    assert g.attrs["content_hash"] != f.attrs["content_hash"]
solver = json.loads(pathlib.Path("f.json").read_text())["solver"]
assert solver["factor"] == "float32" and solver["factor_solves"] >= 2 * solver["solves"], solver
expect(2, "--factor: must be auto, float64 or float32, half", fork, "o.h5", *STEEL, "--factor", "half")
expect(2, "--factor: is for natural modes", fork, "o.h5", *STEEL, "--factor", "float32", "--import", "x.U")
expect(4, "in floats, ", fork, "o.h5", *STEEL, "--factor", "float32", "--memory-limit", "10M")
for kind in ("64", "32"):
    got = run(fork, f"d{kind}.h5", *STEEL, "--derivatives", "3", "--modes", "6", "--factor", f"float{kind}")
    assert got.returncode == 0, got
with h5py.File("d64.h5") as f, h5py.File("d32.h5") as g:
    values = [h["shapes/0000/modes/eigenvalues"][:] for h in (f, g)]
    assert abs(values[1] / values[0] - 1).max() <= 1e-7, values
for name in ("f1.h5", "f2.h5", "f.json", "d64.h5", "d32.h5"):
    os.remove(name)

# what rounding hides is not blamed on parts that hang together by a node; what float64 does not hold is not zero
flat = [msh(nodes="\n".join(f"{i} {c}" for i, c in enumerate(["0 0 0", "1 0 0", "0 1 0", f".3 .3 {h}", "0 0 -1"], 1)), count=5,
            elements="1 4 2 1 1 1 3 2 5\n7 4 2 1 1 1 2 3 4") for h in ("1e-9", "1e-5")]
for text, message in zip(flat, ("modes: 12 rigid modes found, 6 expected: ", "wanted 1e-09: ")):
    expect(5, message + "element 7 is nearly flat, volume 1.67e-", write("sliver.msh", text), "o.h5", *STEEL, "--modes", "2")
expect(5, 'expected: material "all": nu is too near 0.5, 0.4999999999999', fork, "o.h5", "--young", "1e6", "--poisson",
       "0.499999999999999", "--density", "1000", "--modes", "2")
write("huge.msh", msh(nodes="\n".join(f"{i} {c}" for i, c in enumerate(["0 0 0", "1e200 0 0", "0 1e200 0", "0 0 1e200"], 1)),
                      count=4, elements="5 4 2 1 1 1 2 3 4", n_elements=1))
expect(3, "element 5: its volume does not fit float64, inf (1 element in all)", "huge.msh", "o.h5", *STEEL)
write("box.msh", msh(nodes="\n".join(f"{i} {c}" for i, c in enumerate(["0 0 0", "1 0 0", "0 1 0", "0 0 1", "1 1 1"], 1)), count=5,
                     elements="1 4 2 1 1 1 2 3 4\n7 4 2 1 1 2 3 4 5"))
expect(5, "modes: mode 0 does not fit float64", "box.msh", "o.h5", "--young", "1e-300", "--poisson", "0.3", "--density", "1",
       "--modes", "1")

# an interrupt: exit 130 and nothing left
before = sorted(os.listdir("."))
process = subprocess.Popen([modalpack, str(fork), "o.h5", *STEEL, "--modes", "40"], stderr=subprocess.PIPE)
for _ in range(1000):
    if any(n.startswith("o.h5.tmp") for n in os.listdir(".")):
        break
    time.sleep(0.002)
else:
    sys.exit("the temporary file never appeared")
process.send_signal(signal.SIGINT)
message = process.communicate()[1]
assert process.returncode == 130 and b"interrupted" in message, (process.returncode, message)
assert sorted(os.listdir(".")) == before, os.listdir(".")

shutil.rmtree(folder)
print(len(usage), "refusals and more: ok")
