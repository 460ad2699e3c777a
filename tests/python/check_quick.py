# SPDX-License-Identifier: Apache-2.0
"""modaltools: the umbrella, and quick on a surface, a geometry and a mesh. usage: check_quick.py BIN [DATA|outputs]; outputs: what OUT may be"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

import lacking

tools = pathlib.Path(sys.argv[1]).resolve()
outputs = sys.argv[2:] == ["outputs"]
data = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 and not outputs else None
has_pages = lacking.has_tool(tools, "modalview")
FAMILY = ["mesh", "pack", "place", "sim", "tled", "deform", "curv", "render", "view", "tex", "info", "bench"]


def run(*words, **more):
    return subprocess.run([tools / "modaltools", *map(str, words)], capture_output=True, text=True, stdin=subprocess.DEVNULL, **more)


def look_of_surface():
    """data/buoy.py, with its materials and images: a page and a GLB."""
    made = subprocess.run([sys.executable, pathlib.Path(__file__).resolve().parents[2] / "data/buoy.py", "buoy"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    if has_pages:
        quick("buoy/buoy.obj", "buoy.html", "--look", "buoy/buoy.obj", "--up", "z")
        with open("buoy.html", encoding="utf-8") as file:
            header = json.loads(re.search(r'<script id="header"[^>]*>(.*?)</script>', file.read(), re.S)[1])
        assert [m["name"] for m in header["look"]["materials"]] == ["canvas", "rope"] and len(header["look"]["images"]) == 3, header["look"]
    said = quick("buoy/buoy.obj", "buoy_out", "--look", "buoy/buoy.obj", "--format", "glb", "-v")
    assert "--look buoy/buoy.obj --normals dynamic" in said and os.path.getsize("buoy_out/sequence.glb") > 100000, said
    refused(2, "--look: vtkhdf cannot hold the seams of its texture coordinates, --format glb or obj can, buoy/buoy.obj", "quick", "buoy/buoy.obj", "no",
            "--look", "buoy/buoy.obj")
    quick("buoy/buoy.obj", "buoy.glb", "--look", "buoy/buoy.obj")
    refused(3, "absent.mtl", "quick", "egg.obj", "no.html", "--look", "absent.mtl", lines=None)


def quick(*words):
    got = run("quick", *words)
    assert got.returncode == 0 and ("-v" in words or not got.stdout), (words, got)
    assert not os.listdir("tmp"), os.listdir("tmp")
    return got.stderr


def refused(code, message, *words, lines=1, **more):
    before = sorted(os.listdir("."))
    got = run(*words, **more)
    assert got.returncode == code and message in got.stderr and not got.stdout, (words, got)
    assert lines is None or got.stderr.count("\n") == lines, got.stderr
    assert sorted(os.listdir(".")) == before and not os.listdir("tmp"), (words, os.listdir("."), os.listdir("tmp"))


def write_ellipsoid(name, n=4, faces=None):
    """Quads over the six sides of a cube, pushed onto an ellipsoid of 0.2 x 0.1 x 0.1."""
    numbers, quads = {}, []
    at = lambda p: numbers.setdefault(tuple(p), len(numbers) + 1)
    for axis in range(3):
        for side in (0, n):
            for i in range(n):
                for j in range(n):
                    corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)]
                    quad = [at(np.insert(c, axis, side)) for c in corners]
                    quads.append(quad if (side == n) == (axis != 1) else quad[::-1])
    x = 2 * np.array(list(numbers)) / n - 1.0
    x = x / np.linalg.norm(x, axis=1)[:, None] * [0.1, 0.05, 0.05]
    with open(name, "w") as out:
        print(*(f"v {a:.9g} {b:.9g} {c:.9g}" for a, b, c in x), sep="\n", file=out)
        print(*("f " + " ".join(map(str, q)) for q in quads[:faces]), sep="\n", file=out)


def umbrella():
    got = run()
    assert got.returncode == 0 and got.stdout.count("\n") == len(FAMILY) + 1, got
    built = {path.name[5:] for path in tools.glob("modal*") if path.is_file()} - {"tools"}
    words = re.search(r"compgen -W '([a-z ]+)'", run("--generate", "bash").stdout.split("COMP_CWORD == 1")[1])[1].split()
    assert words == re.findall(r"^modaltools (\S+)", got.stdout, re.M), words
    assert all(f"modaltools {name} " in got.stdout for name in built) and built <= set(FAMILY), built
    for name in FAMILY:
        if not (tools / f"modal{name}").exists():
            continue
        own = subprocess.run([tools / f"modal{name}", "--version"], capture_output=True, text=True)
        for word in (name, f"modal{name}"):
            got = run(word, "--version")
            assert (got.returncode, got.stdout, got.stderr) == (0, own.stdout, own.stderr), (word, got)
        assert f"modaltools {name} " in run().stdout
    got = run("info", "absent.h5")  # exit codes and messages are the tool's
    assert got.returncode == 3 and got.stderr.startswith("modalinfo: absent.h5"), got
    for words, says in ((["pakc"], "pakc: no such tool, did you mean pack?"), (["a\nb"], "a\\nb: no such tool (modaltools alone lists them)"),
                        (["--shake", "x"], "quick is to stand before its options"), (["--mode"], "did you mean --modes?")):
        refused(2, says, *words)
    with open("/dev/full", "w") as full:
        assert subprocess.run([tools / "modaltools"], stdout=full).returncode == 4
    assert run("quick", "--help").stdout.startswith("modaltools quick: ")
    # a tool beside a program that was moved without it
    os.symlink(tools / "modaltools", "alias")
    assert subprocess.run(["./alias", "info", "--version"], capture_output=True).returncode == 0
    os.remove("alias")


def displacement(folder):
    with h5py.File(f"{folder}/sequence.vtkhdf") as f:
        n = f["VTKHDF/NumberOfPoints"][0]
        u = f["VTKHDF/PointData/displacement"][:].reshape(-1, n, 3)
        x = f["VTKHDF/Points"][:].reshape(-1, n, 3) - u
        return x[0], u, f["VTKHDF/Steps/Values"][:]


def surface():
    write_ellipsoid("egg.obj")
    if has_pages:
        said = quick("egg.obj", "egg.html", "--save-script", "egg.sh", "--report", "r.json", "-v")
        commands = re.findall(r"^modaltools quick: (modal\w+) ", said, re.M)
        assert commands == ["modalmesh", "modalpack", "modalsim", "modalview"] and "--slow-motion auto" in said, said
        script = pathlib.Path("egg.sh").read_text()
        report = json.load(open("r.json"))
        assert all(line in script for line in report["commands"]) and len(report["commands"]) == 4 and report["exit_code"] == 0
        page = pathlib.Path("egg.html").read_bytes()
        assert b"</html>" in page[-200:] and len(page) > 100000
        os.rename("egg.html", "first.html")
        got = subprocess.run(["./egg.sh"], capture_output=True, text=True, env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
        assert got.returncode == 0 and not os.listdir("tmp"), got
        assert pathlib.Path("egg.html").stat().st_size == len(page)  # provenance has the names of two folders
        refused(2, "egg.html: exists (--force replaces it)", "quick", "egg.obj", "egg.html")
        assert quick("egg.obj", "egg.html", "--force", "--modes", "-q") == ""
        refused(2, "--amplitude: a page of modes has sliders", "quick", "egg.obj", "e.html", "--modes", "--amplitude", "4%")
        refused(2, "--format: is for a folder, e.html", "quick", "egg.obj", "e.html", "--format", "glb")
        refused(2, "--amplitude", "quick", "egg.obj", "e.html", "--amplitude", "0", lines=None)
    quick("egg.obj", "plucked", "--unit", "cm")
    x, u, times = displacement("plucked")
    size = np.linalg.norm(np.ptp(x, axis=0))
    own = np.array([line.split()[1:] for line in open("egg.obj") if line.startswith("v ")], float) * 0.01
    assert x.shape == own.shape and np.abs(x - own).max() < 1e-7, "its own vertices, in metres"
    assert abs(np.linalg.norm(u, axis=2).max() / size - 0.03) < 1e-4 and len(times) in (288, 289), len(times)
    quick("egg.obj", "dropped", "--drop", "--up", "z", "--amplitude", "5%")
    x, u, _ = displacement("dropped")
    size, height = np.linalg.norm(np.ptp(x, axis=0)), (x[:, 2] - x[:, 2].min()) / np.ptp(x[:, 2])
    moved = np.linalg.norm(u, axis=2).max(axis=0)
    assert abs(moved.max() / size - 0.05) < 1e-4 and moved[height < 0.02].max() < 0.02 * moved.max()
    assert u[:, height > 0.9, 2].min() < -0.5 * moved.max() and u[0].max() == 0, "it sags"
    quick("egg.obj", "shaken", "--shake", "--material", "steel", "--fixed", "plane:0,-0.045,0:0,-1,0")
    _, u, times = displacement("shaken")
    late = np.linalg.norm(u[len(u) // 3:], axis=2)
    assert late.max() > 0.5 * np.linalg.norm(u, axis=2).max() and u[0].max() == 0
    quick("egg.obj", "scaled", "--scale", "2", "--modes", "--format", "obj")
    assert len(os.listdir("scaled/obj")) > 10
    write_ellipsoid("open.obj", faces=-30)
    look_of_surface()
    refused(3, "(--wrap takes a closed surface around it)", "quick", "open.obj", "out")
    refused(2, "nor a name, unobtainium", "quick", "egg.obj", "out", "--material", "unobtainium")
    refused(2, "--shake, --drop, --modes, --hit: one of them at most", "quick", "egg.obj", "out", "--shake", "--modes")
    refused(2, "--up: must be y or z, x", "quick", "egg.obj", "out", "--up", "x")
    refused(2, "--unit: must be one of", "quick", "egg.obj", "out", "--unit", "furlong")
    refused(3, "absent.obj: cannot be read", "quick", "absent.obj", "out")
    refused(2, "usage: modaltools quick", "quick", "egg.obj")
    refused(2, "open.obj: exists", "quick", "egg.obj", "out", "--save-script", "open.obj")


def names():
    """OUT's ending decides; three lines are printed; what no stage could take is refused before the first one."""
    small = ["--material", "steel"]
    write_bar()
    write_ellipsoid("egg.obj")
    write_ellipsoid("open.obj", faces=-30)
    said = quick("bar.veg", "egg.glb", *small).splitlines()
    assert len(said) == 3 and all(line.startswith("modaltools quick: ") for line in said), said
    assert "bar.veg: 0.2 x 0.02 x 0.02 m, " in said[0] and "kg of steel" in said[0] and "lowest mode" in said[1] and "egg.glb: made in" in said[2], said
    for name in ("egg.vtkhdf", "egg.pc2", "egg.png"):
        quick("bar.veg", name, *small)
        assert os.path.isfile(name), name
    first = pathlib.Path("egg.png").read_bytes()
    quick("bar.veg", "egg.png", *small, "-f", "--hit", "0.2,0,0")
    assert pathlib.Path("egg.png").read_bytes() != first
    formats = ["vtkhdf", "glb", "pc2", "mdd", "ply", "vtp", "obj"]
    for i, one in enumerate(formats):  # each with the next one, and all
        quick("bar.veg", "set", *small, "--format", f"{one},{formats[i - 1]}", "-f")
        shutil.rmtree("set")
    quick("bar.veg", "set", "--modes", "--format", ",".join(formats))
    for words, says in ((["e.wav"], "e.wav: modaltools quick makes no .wav (modaldeform does)"), (["e.h5"], "makes no .h5"), (["e", "--format", "glb,csv"], "obj, csv"),
                        (["e", "--format", "vtu"], "obj, vtu"), (["e", "--format", "glb,glb"], "--format: twice, glb"), (["e", "--format", "glb,"], "--format: none of"),
                        (["e.glb", "--format", "glb"], "--format: is for a folder, e.glb"), (["e.glb", "--turntable"], "--turntable: of a page or a film, e.glb"),
                        (["e", "--hit", "0,0"], "--hit"), (["e", "--hit", "0,0,0", "--drop"], "--shake, --drop, --modes, --hit: one of them"),
                        (["e", "--seed", "1"], "--seed: only with --variations"), (["e", "--variations", "2", "--modes"], "--variations: nothing varies"),
                        (["e.pc2", "--look", "egg.obj"], "--look: only a page"), (["e", "--wrap"], "--wrap: is for surfaces, bar.veg"),
                        (["egg.glb"], "egg.glb: exists (--force replaces it)"), (["set"], "set/manifest.json: exists (--force replaces it)")):
        refused(2, says, "quick", "bar.veg", *words)
    refused(4, "ffmpeg: not found on PATH (its package is ffmpeg)", "quick", "bar.veg", "e.mp4", env={**os.environ, "PATH": "/absent"})


def hits():
    """The point that was hit moves into the body first."""
    quick("egg.obj", "hit", "--hit", "0.3,0,0")
    x, u, _ = displacement("hit")
    tip = x[:, 0].argmax()
    quarter = np.linalg.norm(u[:, tip], axis=1)[:12].argmax()
    assert u[0].max() == 0 and quarter > 0 and u[quarter, tip, 0] < -0.5 * np.abs(u[quarter, tip]).max(), (quarter, u[quarter, tip])


def variations():
    """Numbered outputs that differ; the same seed gives the same bytes, and more variations begin with the same ones."""
    quick("bar.veg", "v.glb", "--variations", "3", "--seed", "7")
    made = [pathlib.Path(f"v_{i:03d}.glb").read_bytes() for i in range(3)]
    assert len(set(made)) == 3 and not os.path.exists("v.glb")
    quick("bar.veg", "w.glb", "--variations", "2", "--seed", "7")
    assert [pathlib.Path(f"w_{i:03d}.glb").read_bytes() for i in range(2)] == made[:2] and not os.path.exists("w_002.glb")
    quick("bar.veg", "w.glb", "--variations", "1", "--seed", "8", "-f")
    assert pathlib.Path("w_000.glb").read_bytes() not in made
    refused(2, "v_000.glb: exists (--force replaces it)", "quick", "bar.veg", "v.glb", "--variations", "4")
    quick("bar.veg", "shakes", "--variations", "2", "--shake", "--fixed", "plane:0,0,0:-1,0,0")
    amplitudes = []
    for i in range(2):
        x, u, _ = displacement(f"shakes_{i:03d}")
        amplitudes.append(np.linalg.norm(u, axis=2).max() / np.linalg.norm(np.ptp(x, axis=0)))
    assert 0.0149 < min(amplitudes) < max(amplitudes) < 0.0601, amplitudes


def wraps_and_sizes():
    """--wrap makes a solid of an open surface; a size that is unlikely is said."""
    version = subprocess.run([tools / "modalmesh", "--version"], capture_output=True, text=True).stdout
    if "CGAL absent" in version or "CGAL" not in version:
        print("check_quick: --wrap: CGAL is absent, not checked")
    else:
        quick("open.obj", "wrapped.glb", "--wrap")
        assert os.path.getsize("wrapped.glb") > 10000
    said = quick("egg.obj", "big.glb", "--scale", "100")
    assert said.count("\n") == 3, "it was asked for"
    pathlib.Path("big.obj").write_text(re.sub(r"^v (\S+) (\S+) (\S+)", lambda m: "v " + " ".join(f"{float(v) * 1000:.9g}" for v in m.groups()),
                                              pathlib.Path("egg.obj").read_text(), flags=re.M))
    said = quick("big.obj", "big.glb", "-f")
    assert said.count("\n") == 4 and "a surface of 200 m is large: --unit mm makes it 0.2 m" in said, said


def films():
    if not shutil.which("ffmpeg"):
        print("check_quick: films: ffmpeg is absent, not checked")
        return
    quick("bar.veg", "egg.mp4", "--material", "steel", "--turntable", "--hit", "0.1,0,0")
    assert pathlib.Path("egg.mp4").read_bytes()[4:8] == b"ftyp"


def signals():
    """A signal ends the stage and the run; nothing is left."""
    write_ellipsoid("large.obj", n=24)
    before = sorted(os.listdir("."))
    for wait in (0, 0.4):
        process = subprocess.Popen([tools / "modaltools", "quick", "large.obj", "large_out"], stderr=subprocess.PIPE)
        wait_for(lambda: os.listdir("tmp"))
        time.sleep(wait)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=60)
        assert process.returncode == 143, (process.returncode, error)
        assert sorted(os.listdir(".")) == before and not os.listdir("tmp"), (os.listdir("."), os.listdir("tmp"))


def killed():
    """What a killed run leaves in TMPDIR goes with the next one; a run that is at work keeps its own, and folders of others stay."""
    words = [tools / "modaltools", "quick", "large.obj"]
    os.mkdir("tmp/modaltools-quick-notes")
    pathlib.Path("tmp/modaltools-quick-notes/mesh.msh").write_text("mine")
    first = subprocess.Popen([*words, "large_out"], stderr=subprocess.PIPE)
    wait_for(lambda: any(os.listdir(f"tmp/{name}") for name in os.listdir("tmp") if len(name) == 23))
    first.kill()
    first.communicate(timeout=60)
    wait_for(lambda: not any(name.startswith("mesh.msh.tmp-") for folder in os.listdir("tmp") for name in os.listdir(f"tmp/{folder}")))  # its stage ends, too
    assert len(os.listdir("tmp")) == 2, os.listdir("tmp")
    second = subprocess.Popen([*words, "large_out"], stderr=subprocess.PIPE)
    wait_for(lambda: second.poll() is not None or sum(len(name) == 23 and bool(os.listdir(f"tmp/{name}")) for name in os.listdir("tmp")) == 1)
    os.kill(second.pid, signal.SIGSTOP)
    there = set(os.listdir("tmp"))
    assert run("quick", "egg.obj", "third", "-q").returncode == 0 and set(os.listdir("tmp")) == there, (there, os.listdir("tmp"))
    os.kill(second.pid, signal.SIGCONT)
    second.terminate()
    second.communicate(timeout=60)
    assert os.listdir("tmp") == ["modaltools-quick-notes"] and not os.path.exists("large_out"), os.listdir("tmp")
    assert pathlib.Path("tmp/modaltools-quick-notes/mesh.msh").read_text() == "mine"
    os.remove("tmp/modaltools-quick-notes/mesh.msh")
    os.rmdir("tmp/modaltools-quick-notes")


def wait_for(what):
    for _ in range(3000):
        if what():
            return
        time.sleep(0.01)
    raise AssertionError("waited in vain")


def files_of_a_run():
    """The script and the report are no file that a stage writes or reads; modes follow umask; names that lead to no file, and pipes, are refused."""
    pathlib.Path("lk.mtl").write_text("newmtl red\nmap_Kd lk.png\n")
    pathlib.Path("lk.png").write_bytes(b"an image")
    pathlib.Path("lk.obj").write_text("mtllib lk.mtl\n" + pathlib.Path("egg.obj").read_text())
    os.makedirs("full")
    for option in ("--save-script", "--report"):
        refused(2, f"{option}: would overwrite", "quick", "egg.obj", "new.html", option, "new.html")
        refused(2, f"{option}: would overwrite", "quick", "egg.obj", "new.html", option, "./tmp/../new.html", "-f")
        refused(2, f"{option}: would overwrite", "quick", "egg.obj", "full", option, "full/egg.sh")
        refused(2, f"{option}: would overwrite", "quick", "lk.obj", "new", "--look", "lk.obj", option, "lk.obj", "-f")
        refused(2, f"{option}: exists, and is not a ", "quick", "lk.obj", "new", "--look", "lk.obj", option, "lk.png", "-f")
    assert pathlib.Path("lk.png").read_bytes() == b"an image" and not os.listdir("full")
    refused(2, "OUT: needs a name, is empty", "quick", "egg.obj", "")
    os.umask(0o077)
    quick("egg.obj", "private", "--modes", "--format", "obj", "--save-script", "private.sh")
    assert os.stat("private.sh").st_mode & 0o777 == 0o700, oct(os.stat("private.sh").st_mode)
    os.umask(0o022)
    quick("egg.obj", "private", "--modes", "--format", "obj", "--save-script", "private.sh", "-f")
    assert os.stat("private.sh").st_mode & 0o777 == 0o755, oct(os.stat("private.sh").st_mode)
    for name in ("pipe.obj", "pipe.vtk", "pipe.msh", "pipe.geo"):
        os.mkfifo(name)
        refused(3, f"{name}: not a regular file", "quick", name, "out")
        refused(3, f"{name}: not a regular file", "quick", "egg.obj", "out", "--look", name)
        os.remove(name)


def write_bar():
    pathlib.Path("bar.veg").write_text(
        "*VERTICES\n12 3 0 0\n" + "".join(f"{i + 1} {i // 4 * 0.1} {i // 2 % 2 * 0.02} {i % 2 * 0.02}\n" for i in range(12)) +
        "*ELEMENTS\nCUBIC\n2 8 0\n1 1 5 7 3 2 6 8 4\n2 5 9 11 7 6 10 12 8\n"
        "*MATERIAL OWN\nENU, 1000, 1e6, 0.4\n*REGION\nallElements, OWN\n")


def mesh_and_geometry():
    write_bar()
    said = quick("bar.veg", "bar_out", "--fixed", "plane:0,0,0:-1,0,0", "--format", "glb", "-v")
    assert "--material" not in said and "quick: modalmesh" not in said and os.path.exists("bar_out/sequence.glb"), said
    said = quick("bar.veg", "bar_steel", "--fixed", "plane:0,0,0:-1,0,0", "--material", "steel", "--format", "glb", "-v")
    assert "--material steel" in said
    version = subprocess.run([tools / "modalmesh", "--version"], capture_output=True, text=True).stdout
    if "Gmsh absent" in version:
        print("check_quick: geometry: Gmsh's library is absent, not checked")
        return
    pathlib.Path("plate.geo").write_text('SetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 0.2, 0.1, 0.01};\n')
    said = quick("plate.geo", "plate", "--material", "steel", "--drop", "--up", "z", "--format", "glb", "-v")
    assert "--order 2" in said and "--fixed plane:0,0," in said, said


def bunny():
    mesh = data / "stanford/bunny_10k.off" if data else None
    if not (mesh and mesh.exists() and has_pages):
        print("check_quick: bunny: no such data here, not checked")
        return
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quick(mesh, "bunny.html", "--unit", "cm")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert seconds < 15, seconds  # of all processors together, so that a busy machine makes no difference
    print(f"check_quick: bunny: {seconds:.1f} s of processors")


PARTS = (names, hits, variations, wraps_and_sizes, films) if outputs else (umbrella, surface, files_of_a_run, signals, killed, mesh_and_geometry, bunny)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.mkdir("tmp")
    os.environ["TMPDIR"] = f"{folder}/tmp"
    for part in PARTS:
        part()
        print(f"check_quick: {part.__name__}: ok")
    os.chdir("/")
lacking.end("quick ok")
