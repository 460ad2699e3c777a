# SPDX-License-Identifier: Apache-2.0
"""Tools in a pipe: modalmesh | modalpack | modalsim | modaldeform gives the frames that files give, each tool with - in and out what it
gives with names, a trajectory in a pipe carries its basis, and what cannot be is refused before standard input is read.
usage: check_chain.py BIN_FOLDER SOURCE_FOLDER LIBRARY|-"""
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

BIN, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
sys.path.insert(0, f"{SOURCE}/tools/python")
SIMULATE = ["--duration", "0.01", "--fps", "2000", "--damping-ratio", "0.01", "--impulse", "1,1,1:0.02,0,0.05"]
PACK = ["--material", "rubber", "--modes", "6", "--fixed", "plane:0,0,0:0,0,-1"]
SIGNATURE = b"\x89HDF\r\n\x1a\n"


def run(*words, data=b"", code=0, says="", **more):
    words = [str(w) for w in words]
    got = subprocess.run([f"{BIN}/{words[0]}", *words[1:]], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **more) \
        if "stdout" not in more else subprocess.run([f"{BIN}/{words[0]}", *words[1:]], input=data, stderr=subprocess.PIPE, timeout=120, **more)
    text = got.stderr.decode()
    assert got.returncode == code, (words, got.returncode, text)
    assert says in text, (words, says, text)
    assert "/proc/" not in text, (words, text)
    if code in (2, 3, 4):
        assert text.rstrip("\n").split("\n")[-1].startswith(words[0] + ": "), (words, text)
        assert not got.stdout, (words, "wrote to standard output all the same")
    return got.stdout


def read(name):
    with open(name, "rb") as file:
        return file.read()


def write(name, data):
    with open(name, "wb") as file:
        file.write(data)


def arrays(name):
    """Every array and attribute but the provenance, and what differs with the names: the path of a basis and the basis itself."""
    found = {}

    def visit(path, item):
        if path.startswith("provenance"):
            return
        if isinstance(item, h5py.Dataset) and path != "basis_file":
            found[path] = (item.dtype.str, item.shape, item[()].tobytes())
        for key, value in item.attrs.items():
            found[f"{path}@{key}"] = bytes(np.asarray(value).tobytes())
    with h5py.File(name) as file:
        file.visititems(visit)
        for key, value in file.attrs.items():
            if key != "basis_path":
                found[f"@{key}"] = bytes(np.asarray(value).tobytes())
    assert found
    return found


def same_arrays(a, b):
    a, b = arrays(a), arrays(b)
    assert a == b, [k for k in {*a, *b} if a.get(k) != b.get(k)]


def points(folder):
    with h5py.File(f"{folder}/sequence.vtkhdf") as file:
        found = file["VTKHDF/Points"][()]
    assert np.isfinite(found).all() and np.ptp(found, axis=0).min() > 0
    return found.tobytes()


def shell(line, code=0):
    got = subprocess.run(["bash", "-c", "set -o pipefail; " + line], capture_output=True, timeout=120, env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"})
    assert got.returncode == code, (line, got)
    return got.stdout


def quoted(words):
    return " ".join(f"'{w}'" for w in words)


def chain():
    run("modalmesh", "s.obj", "s.msh", "--size", "0.4")
    run("modalpack", "s.msh", "b.h5", *PACK)
    run("modalsim", "b.h5", "t.h5", *SIMULATE)
    run("modaldeform", "t.h5", "files")
    line = f"modalmesh s.obj - --size 0.4 | modalpack - - {quoted(PACK)} | modalsim - - {quoted(SIMULATE)} | "
    for name in ("pipe", "again"):
        out = shell(f"{line} tee {name}.h5 | modaldeform - {name}")
        assert not out, out
    assert points("files") == points("pipe") == points("again")
    assert read("pipe.h5") == read("again.h5"), "a pipeline's bytes are not the same twice"
    assert read("pipe/sequence.vtkhdf") == read("again/sequence.vtkhdf")
    same_arrays("t.h5", "pipe.h5")
    with h5py.File("pipe.h5") as file:
        assert file.attrs["basis_path"] == b"-" and "basis" not in file
        write("carried.h5", file["basis_file"][()].tobytes())
    same_arrays("b.h5", "carried.h5")
    run("modalinfo", "--check", "carried.h5")


def each_tool():
    """With - for both, and with names."""
    mesh, surface, basis = read("s.msh"), read("s.obj"), read("b.h5")
    assert run("modalmesh", "-", "-", "--size", "0.4", data=surface) == mesh
    assert run("modalmesh", "-", "-", data=mesh) == run("modalmesh", "s.msh", "-")
    for name in ("s.stl", "s.ply", "s.off"):
        assert run("modalmesh", "-", "-", "--size", "0.4", data=read(name)) == run("modalmesh", name, "-", "--size", "0.4"), name
    write("p.h5", run("modalpack", "-", "-", *PACK, data=mesh))
    same_arrays("b.h5", "p.h5")
    assert read("p.h5") == run("modalpack", "-", "-", *PACK, data=mesh)
    with h5py.File("p.h5") as file:
        step = file["provenance/0000"].attrs if "inputs" in file["provenance/0000"].attrs else file["provenance/0000"]
        text = step["inputs"] if isinstance(step["inputs"], bytes) else step["inputs"][()]
        assert bytes(text).rstrip(b"\0").endswith(b"  -"), text
    write("c.h5", run("modalsim", "-", "-", *SIMULATE, data=basis))
    same_arrays("t.h5", "c.h5")
    run("modalsim", "-", "n.h5", *SIMULATE, data=basis)  # carries it, too: it has no name
    same_arrays("t.h5", "n.h5")
    run("modaldeform", "n.h5", "named")
    assert points("named") == points("files")
    write("places.csv", b"0,0,-1,0,0,0,0,0,0\n1,0,-1,3,0,0,0,0,0\n")
    run("modalplace", "places.csv", "two.h5", "b.h5")
    write("placed.h5", run("modalplace", "places.csv", "-", "-", data=basis))
    same_arrays("two.h5", "placed.h5")
    write("placed.h5", run("modalplace", "-", "-", "b.h5", data=read("places.csv")))
    same_arrays("two.h5", "placed.h5")
    write("scene.json", b'{"step": "auto", "steps": 20, "every": 10, "gravity": {"acceleration": [0, 0, -9.81]}}')
    tled = ["--scene", "scene.json", "--material", "rubber", "--fixed", "plane:0,0,0:0,0,-1"]
    run("modaltled", "s.msh", "sn.h5", *tled)
    write("snp.h5", run("modaltled", "-", "-", *tled, data=mesh))
    same_arrays("sn.h5", "snp.h5")
    for name, title in (("b.h5", "a basis"), ("t.h5", "a motion"), ("sn.h5", "a solid")):
        data = read(name) if name != "t.h5" else read("c.h5")
        run("modalview", name, f"{title}.html", "--title", title)
        assert run("modalview", "-", "-", "--title", title, data=data) == read(f"{title}.html"), name
    small = ["--format", "y4m", "--size", "40x30", "--rate", "25", "--frames", ":3"]
    assert run("modalrender", "-", "-", *small, data=read("c.h5")) == run("modalrender", "t.h5", "-", *small)
    assert run("modalrender", "-", "-", *small[:-2], data=basis) == run("modalrender", "b.h5", "-", *small[:-2])
    run("modaltex", "build", "s.obj", "x.h5", "--resolution", "16")
    write("xp.h5", run("modaltex", "build", "-", "-", "--resolution", "16", data=surface))
    same_arrays("x.h5", "xp.h5")
    run("modaltex", "build", "b.h5", "x.h5", "--resolution", "16", "-f")
    write("xp.h5", run("modaltex", "build", "-", "-", "--resolution", "16", data=basis))
    same_arrays("x.h5", "xp.h5")
    write("layers.json", b'{"layers": [{"kind": "fill", "value": [0.2, 0.4, 0.6]}]}')
    run("modaltex", "paint", "x.h5", "layers.json", "y.h5")
    write("yp.h5", run("modaltex", "paint", "-", "layers.json", "-", data=read("x.h5")))
    same_arrays("y.h5", "yp.h5")
    got = run("modalinfo", "--check", "-", data=read("c.h5"))
    assert b"\nstandard input: valid trajectory, rating suspect\n" in got, got
    table = run("modalsim", "b.h5", "-", "--scene", "response.json")
    run("modalsim", "b.h5", "response.csv", "--scene", "response.json")
    assert table == read("response.csv") and table.startswith(b"frequency,")


def validate(name):
    return subprocess.run([sys.executable, f"{SOURCE}/tools/python/validate", name], capture_output=True, timeout=60).returncode


def carried():
    """Where the basis is nowhere else."""
    import modaltools
    os.makedirs("else")
    write("else/t.h5", run("modalsim", "b.h5", "-", *SIMULATE))
    with h5py.File("else/t.h5") as file:
        assert file["basis_file"][()].tobytes() == read("b.h5") and file["basis_file"].dtype == np.uint8
        assert file.attrs["basis_path"] == b"b.h5"
    os.rename("b.h5", "away.h5")
    run("modaldeform", "else/t.h5", "else/out")
    assert points("else/out") == points("files")
    run("modaldeform", "else/t.h5", "else/volume", "--output-mesh", "volume", "--fields", "von_mises")
    run("modalview", "else/t.h5", "else/p.html", "--title", "a motion")
    assert read("else/p.html") == read("a motion.html")
    run("modalrender", "else/t.h5", "else/pictures", "--size", "40x30", "--frames", "0")
    assert b"yes, in the trajectory" in run("modalinfo", "else/t.h5")
    run("modalinfo", "--check", "else/t.h5")
    assert validate("else/t.h5") == 0
    motion = modaltools.Trajectory("else/t.h5")
    assert motion.basis.content_hash == motion.basis_hash
    name = motion.basis_path
    del motion
    assert not os.path.exists(name), "the file of a carried basis outlives its trajectory"
    for library in {"-", sys.argv[3]}:  # numpy, and libmodaltools where it is built
        script = f"import modaltools\nfor k in range(3):\n with modaltools.Deformer('else/t.h5', library={library != '-'}) as motion:\n" \
                 "  motion.frame(20).positions.tofile('frame.bin')\n  name = motion.back_end\nprint(name)"
        environment = {**os.environ, "PYTHONPATH": f"{SOURCE}/tools/python", "MODALTOOLS_LIBRARY": library if library != "-" else "none"}
        got = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=60, env=environment)
        assert got.returncode == 0 and got.stdout == ("cpu\n" if library != "-" else "numpy\n"), got
        with h5py.File("files/sequence.vtkhdf") as file:
            whole = file["VTKHDF/Points"][()].reshape(21, -1, 3)
        off = np.abs(np.fromfile("frame.bin", "f4").reshape(-1, 3) - whole[20]).max()
        assert off <= (0 if library != "-" else 1e-6), (library, off)
    run("modaldeform", "t.h5", "gone", code=3, says="its basis is not there")
    os.rename("away.h5", "b.h5")
    # a basis that is another one, or none
    run("modalpack", "s.msh", "other.h5", *PACK[:2], "--modes", "5")
    for bad in (read("other.h5"), b"rubbish", read("b.h5")[:-1], b""):
        with h5py.File("else/t.h5") as old, h5py.File("bad.h5", "w", libver=("v108", "v108")) as new:
            for key, value in old.attrs.items():
                new.attrs[key] = value
            for key in ("times", "q", "mode_offsets", "quality"):
                new[key] = old[key][()]
            new["basis_file"] = np.frombuffer(bad, np.uint8)
        run("modaldeform", "bad.h5", "bad", code=3)
        assert not os.path.exists("bad")
        got = subprocess.run([f"{BIN}/modalinfo", "--check", "bad.h5"], capture_output=True, timeout=60)
        assert got.returncode in (1, 3) and b"basis_file" in got.stdout + got.stderr, got
        assert b"/proc/" not in got.stdout, got
        assert validate("bad.h5") == 1
        run("modaldeform", "bad.h5", "bad", "--basis", "b.h5")  # --basis is taken instead
        assert points("bad") == points("files")
        shutil.rmtree("bad")
    with h5py.File("bad.h5", "r+") as file:
        del file["basis_file"]
    run("modaldeform", "bad.h5", "bad")  # without it basis_path is the basis's
    assert points("bad") == points("files")
    shutil.rmtree("bad")
    # an assembly goes as one file
    run("modalplace", "--link", "places.csv", "as.h5", "b.h5")
    write("else/a.h5", run("modalsim", "as.h5", "-", *SIMULATE))
    run("modalsim", "as.h5", "a.h5", *SIMULATE)
    same_arrays("a.h5", "else/a.h5")
    run("modaldeform", "a.h5", "assembled")
    run("modaldeform", "-", "else/assembled", data=read("else/a.h5"), cwd=".")
    assert points("assembled") == points("else/assembled")
    run("modalsim", "-", "never.h5", *SIMULATE, data=read("as.h5"), code=3, says="pipe has no folder")


INPUTS = {"modalmesh": ["-", "OUT.msh"], "modalpack": ["-", "OUT.h5", "--material", "rubber"], "modalsim": ["-", "OUT.h5", *SIMULATE],
          "modaldeform": ["-", "OUT"], "modalview": ["-", "OUT.html"], "modalrender": ["-", "OUT"], "modalplace": ["places.csv", "OUT.h5", "-"],
          "modaltled": ["-", "OUT.h5", "--scene", "scene.json", "--material", "rubber"], "modaltex": ["build", "-", "OUT.h5"]}


def held_open(words, ends):
    """A run whose standard input stays open and brings nothing; `ends`: it must end by itself."""
    process = subprocess.Popen([f"{BIN}/{words[0]}", *words[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        if not ends:
            time.sleep(0.5)
            assert process.poll() is None, (words, process.communicate())
            process.send_signal(signal.SIGTERM)
        process.wait(timeout=20)
        return process.returncode, process.stdout.read(), process.stderr.read().decode()
    finally:
        process.kill()
        process.stdin.close()


def refusals():
    with open("there", "w", encoding="utf-8") as file:
        file.write("an output that is there\n")
    before = sorted(os.listdir("."))
    for tool, words in INPUTS.items():
        # a wrong option, and an output that is there, are said before anything is read
        for more, says in ((["--no-such-option"], "--no-such-option"), (["-j", "0"] if tool != "modalplace" else ["--progress", "x"], "-")):
            if tool in ("modalview", "modalplace") and more[0] == "-j":
                continue
            code, out, text = held_open([tool, *words, *more], True)
            assert code == 2 and not out and says in text, (tool, more, code, text)
        taken = [w.replace("OUT.h5", "b.h5").replace("OUT.msh", "s.msh").replace("OUT.html", "a motion.html") for w in words]
        taken = [w if w != "OUT" else "there" for w in taken]
        code, out, text = held_open([tool, *taken], True)
        assert code == 2 and "exists" in text, (tool, code, text)
        # a signal ends the waiting, and nothing is left
        code, out, text = held_open([tool, *words], False)
        assert code == 143 and not out, (tool, code, text)
        run(tool, *words, code=3, says="standard input: empty file")
    # a second one
    run("modalpack", "-", "-", "-", *PACK, code=2, says="already is another input")
    run("modalsim", "-", "-", "--base-acceleration", "-", *SIMULATE, code=2, says="cannot be standard input")
    run("modaltex", "paint", "-", "-", "-", code=2, says="standard input")
    run("modalplace", "--link", "places.csv", "-", "b.h5", code=2, says="--link")
    run("modalplace", "--link", "places.csv", "OUT.h5", "-", code=2, says="--link", data=read("b.h5"))
    run("modalmesh", "-", "-", data=b"no mesh at all\n", code=3, says="standard input: not a")
    run("modalpack", "-", "-", *PACK, data=read("s.obj"), code=3, says="standard input: a surface, where a volume mesh is needed: make one with modalmesh - MESH.msh")
    run("modalmesh", "-", "-", "--size", "0.1", data=read("s.msh"), code=2, says="a volume mesh is converted as it is, standard input")
    for tool, words in (("modalmesh", ["-", "-"]), ("modalpack", ["-", "-", *PACK]), ("modalsim", ["-", "-", *SIMULATE]), ("modalview", ["-", "-"])):
        run(tool, *words, "--report", "-", code=2, says="--report: standard output already takes another output, -")
    for words in (["modaldeform", "t.h5", "-"], ["modalcurv", "s.obj", "-"], ["modaltex", "flow", "t.h5", "x.h5", "-"], ["modaltex", "pack", "x.json", "-"],
                  ["modaltex", "look", "s.obj", "-"], ["modaltex", "bake", "x.h5", "s.obj", "-"], ["modaltex", "sample", "x.h5", "s.obj", "-"],
                  ["modaltools", "quick", "s.obj", "-"]):
        got = subprocess.run([f"{BIN}/{words[0]}", *words[1:]], capture_output=True, timeout=60)
        assert got.returncode == 2 and not got.stdout and b"cannot be standard output, -" in got.stderr, (words, got)
    assert sorted(os.listdir(".")) == before


def outputs():
    """Standard output has the file and nothing else, all of it or nothing."""
    lines = [(["modalmesh", "s.obj", "-"], b"$MeshFormat"), (["modalpack", "s.msh", "-", *PACK], SIGNATURE), (["modalsim", "b.h5", "-", *SIMULATE], SIGNATURE),
             (["modalplace", "places.csv", "-", "b.h5"], SIGNATURE), (["modalview", "b.h5", "-"], b"<!DOCTYPE"),
             (["modaltled", "s.msh", "-", "--scene", "scene.json", "--material", "rubber"], SIGNATURE),
             (["modaltex", "build", "s.obj", "-", "--resolution", "16"], SIGNATURE)]
    before = sorted(os.listdir("."))
    for words, begins in lines:
        data = run(*words, "-v", "--progress", "json")
        assert data.lower().startswith(begins.lower()), (words, data[:40])
        if begins == SIGNATURE:
            write("whole.h5", data)
            with h5py.File("whole.h5"):
                pass
            os.remove("whole.h5")
        parent, child = pty.openpty()
        run(*words, code=2, says="standard output is a terminal", stdout=child)
        os.close(child)
        os.close(parent)
        with open("/dev/full", "wb") as full:
            run(*words, code=4, says="standard output: write error", stdout=full)
        # killed before it has made it: nothing came out
        process = subprocess.Popen([f"{BIN}/{words[0]}", *words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.kill()
        out = process.communicate(timeout=60)[0]
        assert process.returncode == -9 and out in (b"", data), (words, len(out))
        assert sorted(os.listdir(".")) == before, words
    mesh, basis = read("s.msh"), read("b.h5")
    run("modalpack", "-", "OUT.h5", *PACK, "--memory-limit", "1k", data=mesh, code=4, says="standard input: a file of at least")
    run("modalsim", "-", "OUT.h5", *SIMULATE, "--memory-limit", "20k", data=basis, code=4, says="standard input: an HDF5 file of")
    run("modalsim", "b.h5", "-", *SIMULATE, "--memory-limit", "20k", code=4, says="--memory-limit")
    most = len(run("modalpack", "s.msh", "-", *PACK)) - 1
    got = subprocess.run([f"{BIN}/modaltex", "build", "s.obj", "-", "--resolution", "16", "--memory-limit", "1k"], capture_output=True, timeout=60)
    assert got.returncode == 4 and not got.stdout, got
    run("modaldeform", "-", "OUT", "--memory-limit", "20k", data=read("c.h5"), code=4, says="standard input: an HDF5 file of")
    assert most > 0 and sorted(os.listdir(".")) == before


def pages():
    """Every tool's page says what - is, or why it is not."""
    for tool in ("modalmesh", "modalpack", "modalplace", "modalsim", "modaltled", "modaldeform", "modalcurv", "modalrender", "modalview", "modaltex", "modalinfo",
                 "modaltools", "modalbench"):
        with open(f"{SOURCE}/docs/{tool}.md", encoding="utf-8") as file:
            text = file.read()
        assert re.search(r"^(#+ Pipes|Pipes: )", text, re.M), f"docs/{tool}.md has no line on pipes"


def write_inputs():
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    vertices = "".join(f"v {x} {y} {z}\n" for x, y, z in corners)
    write("s.obj", ("# a box\n" + vertices + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces)).encode())
    rows = "".join(f"{x} {y} {z}\n" for x, y, z in corners) + "".join(f"3 {a} {b} {c}\n" for a, b, c in faces)
    write("s.off", f"OFF\n8 12 0\n{rows}".encode())
    head = "ply\nformat ascii 1.0\nelement vertex 8\nproperty double x\nproperty double y\nproperty double z\nelement face 12\n" \
           "property list uchar int vertex_indices\nend_header\n"
    write("s.ply", (head + rows).encode())
    triangles = np.zeros(12, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")]))
    triangles["corners"] = np.array(corners, "f4")[np.array(faces)]
    write("s.stl", b"\0" * 80 + np.uint32(12).tobytes() + triangles.tobytes())
    write("response.json", b'{"damping": {"ratio": 0.01}, "response": {"from": 1, "to": 20, "points": 3}, '
                           b'"forces": [{"object": 0, "vertex": 7, "force": [0, 0, 1]}]}')


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    write_inputs()
    for part in (chain, each_tool, carried, refusals, outputs, pages):
        part()
        print(f"check_chain: {part.__name__}")
    os.chdir("/")
