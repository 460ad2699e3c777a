# SPDX-License-Identifier: Apache-2.0
"""modalpack, modalsim, modaldeform, modalview and modalrender without options, one after the other: what is assumed is printed, kept and
repeated; the motion is ok, and is seen in the sequence, in the page and in the pictures.
usage: check_plain_commands.py BIN SOURCE [DATA]: with DATA also every mesh there that bounds a solid, and all pictures; 77 where DATA is absent."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import images
from page_data import Data
from tool_run import binaries, must

source = os.path.abspath(sys.argv[2])
data = os.path.abspath(sys.argv[3]) if sys.argv[3:] else None
ASSUMED = "abs"
# Surfaces that bound no solid, since they cross themselves or have edges of three triangles: modalmesh refuses them.
REFUSED = {"simpleBridge.obj", "towerCrane_resol166.obj"}


def run(tool, *words, code=0):
    got = subprocess.run([f"{binaries}/{tool}", *map(str, words)], capture_output=True, text=True, timeout=1500)
    must(got.returncode == code and "Sanitizer" not in got.stderr, tool, words, got)
    return got


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def assumed_in(path):
    with h5py.File(path) as f:
        steps = [f[f"provenance/{i:04}"].attrs for i in range(int(f["provenance"].attrs["count"]))]
        return [text(s["assumed_material"]) for s in steps if "assumed_material" in s]


def read_shape(path, index=0):
    """Positions, U [V, 3, r], frequencies."""
    with h5py.File(path) as f:
        s = f[f"shapes/{index:04}"]
        x, u = s["surface/rest_positions"][:], s["modes/modal_matrix"][:].transpose(0, 3, 2, 1)
        return x, u.reshape(-1, 3, u.shape[3])[:len(x)].astype(float), s["modes/frequencies"][:]


def pack(mesh, *words, assumed):
    said = run("modalpack", mesh, "basis.h5", *words, "-f").stderr
    lines = [line for line in said.splitlines() if "is assumed" in line]
    must(len(lines) == assumed and all(f"no material in the file, {ASSUMED} is assumed" in line and "--material NAME" in line for line in lines),
         mesh, said)
    must(assumed_in("basis.h5") == [ASSUMED] * assumed and ("material assumed  abs" in run("modalinfo", "basis.h5").stdout) == assumed, mesh)


def move(*words, assumed):
    """The plucked motion of a basis of one object: times and q, and its one frequency."""
    said = run("modalsim", "basis.h5", "traj.h5", *words, "-f", "--report", "r.json").stderr
    found = re.findall(r"modalsim: no loads: plucks mode (\d+) of object 0, (\S+) Hz, by (\S+) % of its size, "
                       r"(\S+) s at (\S+) frames a second \(--amplitude", said)
    must(len(found) == 1 and "warning" not in said, said)
    mode, share = int(found[0][0]), float(found[0][2]) / 100
    x, u, frequencies = read_shape("basis.h5")
    with h5py.File("traj.h5") as f:
        times, q = f["times"][:], f["q"][:]
        must(f"# plucked by {found[0][2]} % of the size" in text(f["provenance/0001"].attrs["arguments"]), "provenance")
    must(mode == 0 and not q[:, 1:].any(), "more than the lowest mode", mode)
    must(np.abs(q[:, 0] - q[0, 0] * np.cos(2 * np.pi * frequencies[0] * times)).max() < 1e-6 * q[0, 0], "not from rest")
    size = np.linalg.norm(x.max(0) - x.min(0))
    reached = max(np.linalg.norm(u @ row, axis=1).max() for row in q[:2]) / size
    must(abs(reached / share - 1) < 1e-3, "share of the size", reached, share)
    must(assumed_in("traj.h5") == [ASSUMED] * assumed, "assumption")
    return times, q, frequencies[0], share, said


def check_motion(assumed):
    times, q, frequency, share, said = move(assumed=assumed)
    phrase = f" (material assumed: {ASSUMED})" if assumed else ""
    must(0.01 <= share <= 0.1 and f"the motion is ok{phrase}: at worst" in said, said)
    rate, period = (len(times) - 1) / times[-1], 1 / frequency
    # two seconds or twenty periods, two at least; so many frames that the motion is seen
    wanted = max(min(2, 20 * period), 2 * period)
    must(wanted - 1 / rate * 1.001 < times[-1] <= wanted * (1 + 1e-9), "duration", times[-1], wanted)
    must(rate * period >= 20 * (1 - 1e-9) and len(times) <= 610, "frames", rate, period, len(times))
    must(rate < 1 or abs(rate - round(rate)) < 1e-6 * rate, "no whole number", rate)
    got = run("modalinfo", "--check", "--require-ok", "traj.h5").stdout
    must(got.strip().endswith(f"valid trajectory, rating ok{phrase}"), got)
    return len(times), frequency, share


def check_sequence(n, share, assumed):
    said = run("modaldeform", "traj.h5", "out").stderr
    must((f"the motion is ok (material assumed: {ASSUMED})" in said) == assumed and "warning" not in said, said)
    quality = json.load(open("out/manifest.json"))["quality"]
    must(quality == "ok" + (f" (material assumed: {ASSUMED})" if assumed else ""), quality)
    x = read_shape("basis.h5")[0]
    with h5py.File("out/sequence.vtkhdf") as f:
        points = f["VTKHDF/Points"][:].reshape(n, -1, 3)
        steps = f["modal/provenance"].values()
        must([text(s.attrs["assumed_material"]) for s in steps if "assumed_material" in s.attrs] == [ASSUMED] * assumed, "assumption")
    moved = max(np.linalg.norm(points[0] - points[k], axis=1).max() for k in range(min(n, 40)))
    must(1.6 * share < moved / np.linalg.norm(x.max(0) - x.min(0)) < 2.01 * share, "the sequence", moved, share)


def check_page(n, frequency, assumed):
    said = run("modalview", "traj.h5", "page.html", "-f").stderr
    header = Data("page.html").header
    slow = header["slow_motion"]
    must(header["frames"] == n and 0.15 <= frequency / slow <= 4.1, "too fast or too slow to see", frequency, slow)
    must((f"motion {slow:g}: the " in said and "(--slow-motion 1 " in said) == (slow != 1), said)
    must((f"traj.h5: material assumed: {ASSUMED}" in said) == assumed, said)
    must(all((part["reason"] == f"material assumed: {ASSUMED}") == assumed and part["rating"] == "ok" for part in header["quality"]), header["quality"])


def check_pictures(n, frequency, assumed, every):
    """every: as written; else three pictures of the first period."""
    with h5py.File("traj.h5") as f:
        half = int(np.argmin(np.abs(f["times"][:] - 0.5 / frequency)))
    words = [] if every else ["--frames", f":{2 * half + 1}:{half}"]
    said = run("modalrender", "traj.h5", "pictures", *words).stderr
    must((f"traj.h5: material assumed: {ASSUMED}" in said) == assumed and "warning" not in said, said)
    names = sorted(os.listdir("pictures/png"))
    must(len(names) == (n if every else 3), "pictures", names)
    first, other = (images.read_png(f"pictures/png/{names[k]}")[..., :3].astype(int) for k in (0, half if every else 1))
    seen = np.abs(first - first[0, 0]).max(axis=2) > 24
    changed = np.abs(first - other).max(axis=2) > 8
    # of a bunny it is one ear
    must(seen.mean() > 0.01 and changed.sum() > max(200, 0.005 * seen.sum()), "nothing is seen to move", seen.mean(), changed.sum())


def chain(mesh, *, assumed, every=False):
    for name in ("out", "pictures"):
        shutil.rmtree(name, ignore_errors=True)
    pack(mesh, assumed=assumed)
    n, frequency, share = check_motion(assumed)
    check_sequence(n, share, assumed)
    check_page(n, frequency, assumed)
    check_pictures(n, frequency, assumed, every)
    print(f"{os.path.basename(mesh)}: {frequency:.4g} Hz, {100 * share:.3g} % of the size, {n} frames", flush=True)


def write_mesh(name, nodes, tetrahedra, groups=()):
    with open(name, "w") as f:
        f.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n")
        if groups:
            f.write(f"$PhysicalNames\n{len(groups)}\n" + "".join(f'3 {i} "{g}"\n' for i, g in enumerate(groups, 1)) + "$EndPhysicalNames\n")
        f.write(f"$Nodes\n{len(nodes)}\n" + "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(nodes, 1)) + "$EndNodes\n")
        f.write(f"$Elements\n{len(tetrahedra)}\n" + "".join(f"{i} 4 2 {g} {g} {' '.join(map(str, t))}\n"
                                                            for i, (g, *t) in enumerate(tetrahedra, 1)) + "$EndElements\n")


def small_solids():
    """Fewer modes than the default; what is given is respected."""
    nodes = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)]
    write_mesh("tet.msh", nodes[:4], [(1, 1, 2, 3, 4)])
    chain("tet.msh", assumed=True)
    must(len(read_shape("basis.h5")[2]) == 6, "the modes of one tetrahedron")
    must("6 degrees of freedom besides the rigid ones" in run("modalpack", "tet.msh", "no.h5", "--modes", 7, code=3).stderr, "--modes 7")
    times, q, _, share, said = move("--amplitude", "1.5%", "--duration", 0.01, "--fps", 10000, "--damping-ratio", 0, assumed=True)
    must(share == 0.015 and len(times) == 101 and abs(times[-1] - 0.01) < 1e-12, share, times)
    times, *_ = move("--fps", 50000, assumed=True)
    must(abs(times[1] - 2e-5) < 1e-15, times)
    times, *_ = move("--duration", 0.002, assumed=True)
    must(0.0019 < times[-1] <= 0.002, times)
    must("the motion is ok" in said and not os.path.exists("no.h5"), said)
    # nothing but what is asked for
    run("modalsim", "basis.h5", "still.h5", "--duration", 0.01, "--fps", 1000, "--initial", "0=0", "-f")
    with h5py.File("still.h5") as f:
        must(not f["q"][:].any(), "--initial 0=0 moves")
    # a file that has a material, by name or as another kind; groups with and without
    same = run("modalpack", "tet.msh", "given.h5", "--material", ASSUMED, "-f").stderr
    with h5py.File("basis.h5") as a, h5py.File("given.h5") as b:
        for name in ("content_hash", "recipe_hash"):
            must(text(a.attrs[name]) == text(b.attrs[name]), name)
    must("assumed" not in same and assumed_in("given.h5") == [], same)
    write_mesh("two.msh", nodes, [(1, 1, 2, 3, 4), (2, 2, 3, 4, 5)], ["one", "other"])
    got = run("modalpack", "two.msh", "no.h5", "--material", "one=steel", code=3).stderr
    must("element 2: no material" in got and "assumed" not in got, got)


def damaged():
    """An assumption that is no text is refused by the checker and the validator."""
    for name in ("basis.h5", "traj.h5"):
        shutil.copy(name, "damaged.h5")
        must(subprocess.run([sys.executable, f"{source}/tools/python/validate", name], check=False).returncode == 0, name)
        with h5py.File("damaged.h5", "r+") as f:
            del f["provenance/0000"].attrs["assumed_material"]
            f["provenance/0000"].attrs["assumed_material"] = 5
        must("/provenance/0000@assumed_material" in run("modalinfo", "--check", "damaged.h5", code=1).stdout, name)
        must(subprocess.run([sys.executable, f"{source}/tools/python/validate", "damaged.h5"], check=False, capture_output=True).returncode == 1, name)


def several_objects():
    """Each is plucked by its own size; a shape without modes rests; without any that moves it is refused."""
    write_mesh("large.msh", [(0, 0, 0), (2, 0, 0), (0, 2, 0), (0, 0, 2)], [(1, 1, 2, 3, 4)])
    with open("tile.obj", "w") as f:
        f.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    run("modalpack", "tet.msh", "small.h5", "-f")
    run("modalpack", "large.msh", "large.h5", "--material", "steel", "-f")
    run("modalpack", "--rigid", "tile.obj", "tile.h5", "-f")
    with open("places.csv", "w") as f:
        f.write("0,0,-1,0,0,0,0,0,0\n1,1,-1,3,0,0,0,0,0\n2,2,-1,6,0,0,0,0,0\n3,0,-1,9,0,0,0,0,0\n")
    run("modalplace", "places.csv", "basis.h5", "small.h5", "large.h5", "tile.h5", "-f")
    said = run("modalsim", "basis.h5", "traj.h5", "-f").stderr
    must(re.search(r"plucks the lowest modes of 3 objects, \S+ to \S+ Hz, by 2 % of its size, ", said) and
         "the motion is ok (material assumed: abs)" in said, said)
    with h5py.File("traj.h5") as f:
        q, offsets = f["q"][:], f["mode_offsets"][:]
    for i, shape in ((0, 0), (1, 1), (3, 0)):
        x, u, _ = read_shape("basis.h5", shape)
        share = np.linalg.norm(u @ q[0, offsets[i]:offsets[i + 1]], axis=1).max() / np.linalg.norm(x.max(0) - x.min(0))
        must(abs(share / 0.02 - 1) < 1e-3, i, share)
    run("modalview", "traj.h5", "page.html", "-f")
    before = sorted(os.listdir("."))
    got = run("modalsim", "tile.h5", "no.h5", code=3).stderr
    must("tile.h5: no object has a mode" in got and got.count("\n") == 1 and sorted(os.listdir(".")) == before, got)


def solid_motion():
    """modaltled has the same door: its snapshots keep the assumption."""
    with open("press.json", "w") as f:
        json.dump({"duration": 0.01, "fps": 1000, "step": "auto", "gravity": [0, 0, -10]}, f)
    said = run("modaltled", "tet.msh", "s.h5", "--scene", "press.json", "-f").stderr
    must(f"{ASSUMED} is assumed" in said and f"(material assumed: {ASSUMED})" in said and assumed_in("s.h5") == [ASSUMED], said)


def quick():
    """The whole chain assumes the same material, and prints it in its first line."""
    said = run("modaltools", "quick", "tet.msh", "quick.html").stderr
    must(f" of {ASSUMED} (material assumed, --material changes it), 4 nodes" in said.splitlines()[0], said)
    must(all(f"material assumed: {ASSUMED}" in part["reason"] for part in Data("quick.html").header["quality"]), "page of quick")
    said = run("modaltools", "quick", "tet.msh", "quick.html", "--material", "steel", "-f").stderr
    must(" of steel, " in said and "assumed" not in said, said)


def meshes():
    """Every mesh and surface below DATA, as the five commands are written."""
    found = sorted(os.path.join(at, name) for at, _, names in os.walk(data) for name in names
                   if name.endswith((".msh", ".veg", ".obj", ".off")))
    must(len(found) >= 10, "meshes", found)
    for path in found:
        name, mesh = os.path.basename(path), path
        if name.endswith((".obj", ".off")):
            mesh = "mesh.msh"
            got = run("modalmesh", path, mesh, "-f", code=3 if name in REFUSED else 0)
            if name in REFUSED:
                print(f"{name}: bounds no solid: {got.stderr.splitlines()[-1]}", flush=True)
                continue
        print(name, end=", ", flush=True)
        chain(mesh, assumed=not name.endswith(".veg"), every=True)


def main():
    if data and not os.path.isdir(data):
        print(f"skipped: no real meshes, {data}")
        sys.exit(77)
    os.chdir(folder)
    chain(f"{source}/data/tuning_fork.msh", assumed=True, every=bool(data))
    if data:
        meshes()
    else:
        small_solids()
        damaged()
        several_objects()
        solid_motion()
        quick()
    print("check_plain_commands: ok")


folder = tempfile.mkdtemp(prefix="plain-")
try:
    main()
finally:
    shutil.rmtree(folder)
