#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/clusters.md, as they stand in docs/examples/cluster, and what they are made of: modalplace --bases, modalsim --set,
modalinfo --map.
usage: check_clusters.py BIN_FOLDER SOURCE_FOLDER make|make_long|arrays|study|snakemake|bases|set|map"""
import filecmp
import http.server
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import h5py
import numpy as np

import browser
import soft_box
from check_large import write_basis, write_trajectory
from tool_run import binaries, must, run
from trajectories import keep_velocities

source = os.path.abspath(sys.argv[2])
recipes = f"{source}/docs/examples/cluster"
environment = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM_", "MAKEFLAGS", "MFLAGS", "MAKELEVEL"))}
environment["PATH"] = binaries + ":" + environment["PATH"]
environment["PACK"] = "--young 1e6 --poisson 0.3 --density 1000 --modes 2 --fixed plane:0,0,0.001:0,0,-1"


def command(*words, code=0, **more):
    got = subprocess.run(list(map(str, words)), capture_output=True, text=True, env=dict(environment, **{k: str(v) for k, v in more.items()}), timeout=3000)
    must(code is None or got.returncode == code, words, got)
    return got


def meshes(n, broken):
    """Boxes of a few sizes; `broken` of them end in the middle."""
    os.makedirs("meshes")
    for i in range(12):
        soft_box.box(f"box{i}.msh", (1, 1, 2 + i % 2), 0.1 + 0.01 * i)
    for i in range(n):
        shutil.copy(f"box{i % 12}.msh", f"meshes/{i:05d}.msh")
    bad = random.sample(range(n), broken)
    for i in bad:
        with open(f"meshes/{i:05d}.msh", "r+") as f:
            f.truncate(os.path.getsize(f"meshes/{i:05d}.msh") // 2)
    return bad


def check_make(n):
    bad = meshes(n, 5)
    make = ["make", "-k", "-j2", "-f", f"{recipes}/Makefile"]
    running = subprocess.Popen(make, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment)
    killed, lacking = None, {f"shapes/{i:05d}.h5" for i in bad}
    while killed is None and running.poll() is None:  # one of its modalpacks
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read().split(b"\0")
                if words[0].endswith(b"modalpack") and os.path.realpath(f"/proc/{pid}/cwd") == os.getcwd() and len(os.listdir("shapes")) > n // 3 and \
                        words[-2].decode() not in lacking:
                    os.kill(int(pid), signal.SIGKILL)
                    killed = words[-2].decode()
                    break
            except OSError:
                continue
    error = running.communicate()[1]
    must(running.returncode == 2 and killed, "make:", running.returncode, killed, error)
    want = {f"shapes/{i:05d}.h5" for i in range(n)}
    have = {f"shapes/{name}" for name in os.listdir("shapes") if ".tmp-" not in name}
    must(have in (want - lacking, want - lacking - {killed}), "shapes:", sorted(want - have), "broken:", sorted(lacking), "killed:", killed)
    for name in lacking:
        must(f"{name}] Error 3" in error and name.replace("shapes", "meshes").replace(".h5", ".msh") in error, "not named:", name, error)
    must(not os.path.exists("all.h5"), "a basis of some of the shapes")
    for i in bad:  # mended
        shutil.copy(f"box{i % 12}.msh", f"meshes/{i:05d}.msh")
    second = command(*make)
    made = set(re.findall(r"^modalpack .* (shapes/\S+)$", second.stdout, re.M))
    must(made == want - have, "the second make did", sorted(made), "not", sorted(want - have))
    must(not [name for name in os.listdir("shapes") if ".tmp-" in name], "temporary files are left")
    must(command("make", "-f", f"{recipes}/Makefile").stdout.startswith("make: 'all.h5' is up to date"), "a third make does something")
    run("modalinfo", "--check", "all.h5")
    with h5py.File("all.h5") as f:
        must(f["shapes"].attrs["count"] == n and len(f["objects/shape"]) == n, "all.h5")
    print(f"{n} shapes, 5 broken and named, one kill; the second make did {len(made)}")


def check_arrays():
    bad = meshes(11, 1)
    array = lambda i: {"SLURM_ARRAY_TASK_ID": i, "SLURM_ARRAY_TASK_MIN": 0, "SLURM_ARRAY_TASK_COUNT": 4, "SLURM_ARRAY_TASK_STEP": 1, "SLURM_CPUS_PER_TASK": 1}
    for i in (2, 0, 3, 1):
        command(f"{recipes}/shapes.sbatch", code=1 if bad[0] % 4 == i else 0, **array(i))
    must(sorted(os.listdir("shapes")) == [f"{i:05d}.h5" for i in range(11) if i not in bad], os.listdir("shapes"))
    write_basis("b.h5", 60, 50, 3)
    write_trajectory("traj.h5", "b.h5", 3, 40)
    run("modaldeform", "traj.h5", "out", "-j", "1", "--backend", "cpu")
    os.rename("out", "one")
    deform = {"DEFORM": "--backend cpu"}
    for i in (3, 0):
        command(f"{recipes}/sequence.sbatch", **array(i), **deform)
    must("missing: 1-2" in command("modalinfo", "out").stdout, command("modalinfo", "out").stdout)
    for i in (1, 2):  # sbatch --array=1,2 sequence.sbatch 4
        again = {"SLURM_ARRAY_TASK_ID": i, "SLURM_ARRAY_TASK_MIN": 1, "SLURM_ARRAY_TASK_COUNT": 2, "SLURM_ARRAY_TASK_STEP": 1}
        command(f"{recipes}/sequence.sbatch", 4, **again, **deform, SLURM_CPUS_PER_TASK=1)
    for name in os.listdir("one"):
        if name != "manifest.json":  # whose command line has -j before --backend
            must(filecmp.cmp(f"out/{name}", f"one/{name}", shallow=False), name, "has other bytes")


def scene_inputs():
    soft_box.box("bar.msh", (1, 1, 4), 0.1)
    run("modalpack", "bar.msh", "basis.h5", "--young", "1e6", "--poisson", "0.3", "--density", "1000", "--fixed", "plane:0,0,0.001:0,0,-1", "--modes", "3",
        "--reduced-forces")
    with open("wind.json", "w") as f:
        f.write('{\n  "duration": 0.2, "fps": 50,\n  "damping": {"ratio": 0.02},\n'
                '  "wind": {"velocity": [3, 0, 0], "turbulence": 1},\n  "objects": []\n}\n')


def check_study():
    if not shutil.which("parallel"):
        print("skipped: no GNU parallel here (apt-get install parallel)")
        sys.exit(77)
    scene_inputs()
    environment["PARALLEL_HOME"] = os.getcwd()
    study = lambda **more: command(f"{recipes}/study.sh", JOBS=2, SEEDS="1 2", SPEEDS="2 8", **more)
    study()
    must(sorted(n for n in os.listdir("runs") if n.endswith(".h5")) == ["1-2.h5", "1-8.h5", "2-2.h5", "2-8.h5"], os.listdir("runs"))
    contents = set()
    for name in ("1-2", "1-8", "2-2", "2-8"):
        with h5py.File(f"runs/{name}.h5") as f:
            contents.add(f["q"][:].tobytes())
            must(any(f"/wind/seed={name[0]}" in str(v) for p in f["provenance"].values() for v in p.attrs.values()), "the provenance lacks --set")
    must(len(contents) == 4, "runs are alike")
    stamp = os.stat("runs/1-2.h5").st_mtime_ns
    study()
    must(os.stat("runs/1-2.h5").st_mtime_ns == stamp, "made again")


def check_set():
    scene_inputs()
    def simulate(name, scene, *words, code=0, says=""):
        return run("modalsim", "-q", "basis.h5", f"{name}.h5", "--scene", scene, *words, code=code, says=says)
    def q(name):
        with h5py.File(f"{name}.h5") as f:
            return f["q"][:].tobytes()
    with open("wind.json") as f:
        text = f.read()
    for number, (words, edit) in enumerate([
            (["/wind/seed=17"], lambda s: s["wind"].update(seed=17)), (["/wind/velocity/0=5e0"], lambda s: s["wind"]["velocity"].__setitem__(0, 5.0)),
            (["/gravity=[0, 0, -9.81]"], lambda s: s.update(gravity=[0, 0, -9.81])), (['/integrator="energy"'], lambda s: s.update(integrator="energy")),
            (['/objects/-={"object": 0, "initial": {"1": 0.001}}', "/objects/0/initial/1=0.002"], None),
            (["/fps=100", "/wind={\"velocity\": [1, 2, 0]}"], lambda s: s.update(fps=100, wind={"velocity": [1, 2, 0]}))]):
        if edit is None:
            continue
        scene = json.loads(text)
        edit(scene)
        with open("edited.json", "w") as f:
            json.dump(scene, f)
        simulate(f"a{number}", "edited.json")
        simulate(f"b{number}", "wind.json", *[w for word in words for w in ("--set", word)])
        must(q(f"a{number}") == q(f"b{number}"), words, "is not as in the file")
    wrong = [("/wind/seed", 2, "not /POINTER=VALUE"), ("wind=1", 2, "not /POINTER=VALUE"), ("/wind/seed=x", 2, "not JSON"), ("/wind/seed=1 2", 2, "not JSON"),
             ('/wind={"seed": 1, "seed": 2}', 2, "the value has a key twice"),
             ("/wnd/seed=1", 2, 'no "wnd"'), ("/wind/velocity/3=1", 2, "no element 3"), ("/wind/velocity/01=1", 2, "no place of a list"),
             ("/wind/velocity/x=1", 2, "no place of a list"), ("/fps/x=1", 2, "without members"), ("/a~2=1", 2, "not a JSON pointer"), ("=1", 2, "not /POINTER"),
             ("/wind/sed=1", 3, "wind.json:4: /wind/sed: unknown key"), ("/fps=-1", 3, "wind.json:2: /fps"), ("/wind/seed=1.5", 3, "/wind/seed"),
             ("/fps=[[[" + "[" * 200 + "]" * 203, 3, "nested"), ("/wind=3", 3, "wind.json:4: /wind")]
    for word, code, says in wrong:
        simulate("never", "wind.json", "--set", word, code=code, says=says)
        must(not os.path.exists("never.h5"), word, "left a file")
    run("modalsim", "basis.h5", "never.h5", "--duration", "1", "--fps", "10", "--set", "/fps=3", code=2, says="--set: needs --scene")
    # a restart knows --set
    simulate("first", "wind.json", "--set", "/wind/seed=5", "--checkpoint", "k.h5", "--checkpoint-every", "4")
    simulate("never", "wind.json", "--set", "/wind/seed=6", "--restart", "k.h5", code=3, says="another scene")
    simulate("second", "wind.json", "--set", "/wind/seed=5", "--restart", "k.h5")
    must(q("first") == q("second"), "the restart gives other bytes")


def check_bases():
    os.mkdir("s")
    with open("one.csv", "w") as f:
        f.write("0,0,-1,0,0,0,0,0,0\n")
    for i in range(30):
        write_basis("old.h5", 5 + i % 4, 6, 2 + i % 3, seed=i)
        run("modalplace", "one.csv", f"s/{i}.h5", "old.h5")  # as this version writes it
    names = [f"s/{i}.h5" for i in range(30)]
    with open("places.csv", "w") as f:
        f.write("".join(f"{i},{29 - i % 30},{i - 1 if i % 2 else -1},{i},0,0,0,{0.1 * i},0\n" for i in range(45)))
    with open("list.txt", "w") as f:
        f.write("\n".join(names[:10]) + "\r\n\n" + "\n".join(names[10:]))  # any ends of lines, empty lines, no last end
    run("modalplace", "places.csv", "a.h5", *names)
    run("modalplace", "--bases", "list.txt", "places.csv", "b.h5")
    run("modalinfo", "--check", "b.h5")
    def contents(name):
        found = {}
        with h5py.File(name) as f:
            def visit(path, item):
                if not path.startswith("provenance"):
                    found[path] = (item[()].tobytes() if isinstance(item, h5py.Dataset) else None, {k: str(v) for k, v in item.attrs.items()})
            f.visititems(visit)
            return found, dict(f.attrs), len(f["provenance"])
    must(contents("a.h5") == contents("b.h5"), "a list gives another basis than operands")
    run("modalplace", "--link", "--bases", "list.txt", "places.csv", "l.h5")
    hashes = [json.loads(run("modalinfo", "--json", name).stdout)["content_hash"] for name in ("a.h5", "b.h5", "l.h5")]
    must(len(set(hashes)) == 1, "--link:", hashes)
    def refused(lines, code, says):
        with open("bad.txt", "wb") as f:
            f.write(lines)
        run("modalplace", "--bases", "bad.txt", "places.csv", "never.h5", code=code, says=says)
        must(not os.path.exists("never.h5"), says, "left a file")
    refused(b"s/0.h5\n\ns/none.h5\n", 3, "bad.txt:3: s/none.h5")
    refused(b"places.csv\n", 3, "bad.txt:1: places.csv")
    refused(b"\n\n", 3, "names no basis")
    refused(b"", 3, "bad.txt")
    refused(b"s/0.h5\0\n", 3, "a byte 0")
    refused(b"x" * 5000 + b"\n", 3, "bad.txt:1: longer")
    refused("\n".join(names).encode() + b"\nnever.h5\n", 3, "bad.txt:31")
    refused(b"s/0.h5\n", 3, "object 0: there are shapes 0 .. 0")
    with open("s/cut.h5", "wb") as f, open("s/29.h5", "rb") as whole:
        f.write(whole.read()[:-200])
    refused("\n".join(names[:29]).encode() + b"\ns/cut.h5\n", 3, "bad.txt:30: s/cut.h5")
    run("modalplace", "--bases", "list.txt", "places.csv", "c.h5", "s/0.h5", code=2, says="--bases")
    run("modalplace", "places.csv", "c.h5", code=2, says="--bases")
    run("modalplace", "--bases", "list.txt", "-f", "places.csv", "s/3.h5", code=2, says="one file")


def check_map():
    write_basis("b.h5", 20, 15, 3)
    write_trajectory("t.h5", "b.h5", 3, 9)
    keep_velocities("t.h5")
    run("modaldeform", "t.h5", "out", "--fields", "speed")
    sequence = json.loads(run("modalinfo", "--map", "out/sequence.vtkhdf").stdout)
    with h5py.File("out/sequence.vtkhdf") as f, open("out/sequence.vtkhdf", "rb") as raw:
        contiguous = {}
        f.visititems(lambda path, item: contiguous.update({"/" + path: item}) if isinstance(item, h5py.Dataset) and item.id.get_offset() else None)
        must({a["path"] for a in sequence["arrays"]} == set(contiguous), "arrays:", [a["path"] for a in sequence["arrays"]])
        for a in sequence["arrays"]:
            raw.seek(a["offset"])
            values = np.frombuffer(raw.read(a["length"]), a["type"]).reshape(a["shape"])
            must((values == contiguous[a["path"]][()]).all(), a)
        must(len(sequence["frames"]) == 9 and sequence["views"] == 27, sequence["views"])
        points = f["VTKHDF/Points"][:].reshape(9, -1, 3)
    sys.path.insert(0, f"{source}/docs/examples/map")
    import serve
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve.handler("out"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/sequence.vtkhdf"
    for i, frame in enumerate(sequence["frames"]):
        offset, length = frame["Points"]
        request = urllib.request.Request(address, headers={"Range": f"bytes={offset}-{offset + length - 1}"})
        with urllib.request.urlopen(request) as got:
            must(got.status == 206 and (np.frombuffer(got.read(), "<f4").reshape(-1, 3) == points[i]).all(), "frame", i)
        must(abs(frame["time"] - i / 30) < 1e-12, frame)
    offset, length = sequence["frames"][7]["Points"]
    curl = shutil.which("curl")
    if curl:
        got = subprocess.run([curl, "-s", "-r", f"{offset}-{offset + length - 1}", address], capture_output=True, check=True)
        must(got.stdout == points[7].tobytes(), "curl")
    play(server.server_address[1], sequence)
    server.shutdown()
    run("modaldeform", "t.h5", "rounded", "--precision", "1e-4")
    rounded = json.loads(run("modalinfo", "--map", "rounded/sequence.vtkhdf").stdout)
    must({o["path"]: o["layout"] for o in rounded["others"]}.get("/VTKHDF/Points") == "chunked", rounded["others"])
    must("Points" not in rounded["frames"][0] and "Normals" in rounded["frames"][0], rounded["frames"][0])
    trajectory = json.loads(run("modalinfo", "--map", "t.h5").stdout)
    must({"/q", "/times"} <= {a["path"] for a in trajectory["arrays"]} and "frames" not in trajectory, trajectory)
    run("modalinfo", "--map", "out", code=2, says="--map")
    run("modalinfo", "--map", "--check", "t.h5", code=2, says="--map")
    with open("t.h5", "rb") as f:
        whole = f.read()
    with open("cut.h5", "wb") as f:
        f.write(whole[:len(whole) // 2])
    run("modalinfo", "--map", "cut.h5", code=3)


def play(port, sequence):
    """The page, where there is Chromium."""
    program = browser.find_program()
    if not program:
        print("no Chromium here: the page was not played")
        return
    shutil.copy(f"{source}/docs/examples/map/play.html", "out")
    with open("out/map.json", "w") as f:
        json.dump(sequence, f)
    window = browser.Browser(program, os.getcwd(), 800, 600)
    try:
        window("Page.navigate", url=f"http://127.0.0.1:{port}/play.html")
        window.wait("/^frame [1-8] of 9/.test(document.getElementById('state')?.textContent)", "frames")
        window.picture()
    finally:
        window.end()


def check_snakemake():
    if not shutil.which("snakemake"):
        print("skipped: no Snakemake here (apt-get install snakemake)")
        sys.exit(77)
    bad = meshes(8, 1)
    snakemake = ["snakemake", "-k", "--cores", "2", "-s", f"{recipes}/Snakefile"]
    environment["XDG_CACHE_HOME"] = os.getcwd()
    first = command(*snakemake, code=1)
    must(f"meshes/{bad[0]:05d}.msh" in first.stderr and "Error in rule shape" in first.stderr, "not named:", first.stderr)
    must(sorted(os.listdir("shapes")) == [f"{i:05d}.h5" for i in range(8) if i not in bad], os.listdir("shapes"))
    must(not os.path.exists("all.h5"), "a basis of some of the shapes")
    shutil.copy(f"box{bad[0] % 12}.msh", f"meshes/{bad[0]:05d}.msh")
    stamps = {name: os.stat(f"shapes/{name}").st_mtime_ns for name in os.listdir("shapes")}
    command(*snakemake)
    must(all(os.stat(f"shapes/{name}").st_mtime_ns == stamp for name, stamp in stamps.items()), "made again")
    run("modalinfo", "--check", "all.h5")
    with h5py.File("all.h5") as f:
        must(f["shapes"].attrs["count"] == 8, "all.h5")
    must("Nothing to be done" in command(*snakemake).stderr, "a third run does something")


with tempfile.TemporaryDirectory() as home:
    os.chdir(home)
    {"make": lambda: check_make(40), "make_long": lambda: check_make(2000), "arrays": check_arrays, "study": check_study, "set": check_set,
     "bases": check_bases, "map": check_map, "snakemake": check_snakemake}[sys.argv[3]]()
