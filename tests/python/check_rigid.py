# SPDX-License-Identifier: Apache-2.0
"""Shapes that do not deform. usage: check_rigid.py BIN_FOLDER REPOSITORY [BACKEND]
modalpack --rigid (mass, what is refused), a scene in which they hang on what deforms, trajectories 2.0 and what is refused of them, every frame of
every format, against poses and rest positions; a rigid body beside one that is nearly so."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from damage import replaced
from tool_run import binaries, must, run

repository = os.path.abspath(sys.argv[2])
BACKEND = ("--backend", sys.argv[3]) if len(sys.argv) > 3 else ()
sys.path.insert(0, os.path.join(repository, "data"))
import plant  # noqa: E402

CUBE = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
CORNERS = np.array([(0.1 * x, 0.1 * y - 0.05, 0.1 * z - 0.05) for z in (0, 1) for y in (0, 1) for x in (0, 1)])
TETS = [(0, 1, 3, 5), (0, 3, 2, 6), (0, 5, 6, 4), (3, 6, 5, 7), (0, 3, 6, 5)]


def validate(*paths, code=0):
    got = subprocess.run([sys.executable, os.path.join(repository, "tools/python/validate"), *paths], capture_output=True, text=True)
    must(got.returncode == code, paths, "validator:", got.returncode, got.stdout, got.stderr)
    return got.stdout


def write_cube(name, faces, corners=CORNERS):
    with open(name, "w") as f:
        f.write("".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join("f " + " ".join(str(i + 1) for i in q) + "\n" for q in faces))


def pack():
    write_cube("cube.obj", CUBE)
    write_cube("open.obj", CUBE[:5])
    run("modalpack", "--rigid", "cube.obj", "cube.h5", "--density", 500)
    run("modalpack", "--rigid", "open.obj", "light.h5")
    validate("cube.h5", "light.h5")
    for name, mass in (("cube.h5", 0.5), ("light.h5", 0)):
        run("modalinfo", name, "--check")
        shape = json.loads(run("modalinfo", name, "--json").stdout)["shapes"][0]
        must(abs(shape["total_mass"] - mass) <= 1e-12 and shape["modes"] == [], name, shape)
    inner = CORNERS.mean(0) + (CORNERS - CORNERS.mean(0)) / 2
    write_cube("hollow.obj", CUBE + [tuple(8 + i for i in q[::-1]) for q in CUBE], np.r_[CORNERS, inner])
    run("modalpack", "--rigid", "hollow.obj", "hollow.h5", "--density", 500)
    must(abs(json.loads(run("modalinfo", "hollow.h5", "--json").stdout)["shapes"][0]["total_mass"] - 0.5 * 7 / 8) <= 1e-12, "hollow cube")
    for name, faces, corners, says in (
            ("open", CUBE[:5], CORNERS, "not closed: edges of one triangle, 4; the first from vertex 1 to 3"),
            ("inside_out", [q[::-1] for q in CUBE], CORNERS, "triangles face inwards, or those of a cavity outwards: they count -0.001 m^3 of 0.001"),
            ("one_turned", [CUBE[0][::-1]] + CUBE[1:], CORNERS, "not oriented: edges whose triangles face different ways, 4"),
            ("one_twice", CUBE + CUBE[:1], CORNERS, "duplicate triangles, 2; the first are 0 and 12"),
            ("all_twice", CUBE + CUBE, CORNERS, "duplicate triangles, 12"),
            ("two_in_one_place", CUBE + [tuple(8 + i for i in q) for q in CUBE], np.r_[CORNERS, CORNERS], "self-intersecting: pairs of triangles that overlap in one plane"),
            ("full_hollow", CUBE + [tuple(8 + i for i in q) for q in CUBE], np.r_[CORNERS, inner], "triangles face inwards, or those of a cavity outwards: they count 0.001125 m^3 of 0.000875 m^3"),
            ("crossing", CUBE + [tuple(8 + i for i in q) for q in CUBE], np.r_[CORNERS, CORNERS + 0.03], "self-intersecting: pairs of triangles that cross")):
        write_cube(f"{name}.obj", faces, corners)
        run("modalpack", "--rigid", f"{name}.obj", "w.h5", "--density", 500, code=3, says=f"modalpack: {name}.obj: --density: no mass: {says}")
    run("modalpack", "--rigid", "stalk.msh", "w.h5", code=2, says="--rigid: takes a surface (.obj, .stl, .ply, .off), stalk.msh")
    run("modalpack", "--rigid", "cube.obj", "w.h5", "--modes", 3, code=2, says="--rigid: not with --modes")
    must(not os.path.exists("w.h5"), "w.h5 is there")


def place(name, *rows):
    with open("p.csv", "w") as f:
        f.write("object,shape,parent,x,y,z,rx,ry,rz\n" + "".join(f"{i},{','.join(map(str, row))}\n" for i, row in enumerate(rows)))
    run("modalplace", "p.csv", name, "stalk.h5", "cube.h5", "-f")


def simulate(basis, to, model="stvk"):
    with open("s.json", "w") as f:
        json.dump({"duration": 0.3, "fps": 50, "gravity": [0, 0, -9.81], "model": model}, f)
    return run("modalsim", basis, to, "--scene", "s.json", "-f", *BACKEND)


def beside_a_stiff_one():
    """A block at the end of a stalk: rigid, and of a material a thousand times as stiff as wood."""
    with open("c.node", "w") as f:
        f.write("8 3 0 0\n" + "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(CORNERS)))
    with open("c.ele", "w") as f:
        f.write("5 4 0\n" + "".join(f"{i} {' '.join(map(str, t))}\n" for i, t in enumerate(TETS)))
    with open("c.bou", "w") as f:
        f.write("1,3,5,7\n")
    run("modalpack", "c.node", "stiff.h5", "--young", 1e13, "--poisson", 0.3, "--density", 500, "--fixed", "c.bou", "--modes", 1)
    place("one.h5", (0, -1, 0, 0, 0, 0, 0, 0), (1, 0, 1, 0, 0, 0, 0, 0))
    found = []
    for block in ("cube", "stiff"):
        run("modalplace", "p.csv", f"{block}_a.h5", "stalk.h5", f"{block}.h5", "-f")
        simulate(f"{block}_a.h5", f"{block}_t.h5", "linear")
        with h5py.File(f"{block}_t.h5") as f:
            found.append((f["q"][:, :5], f["energy"][:]))
    run("modalsim", "stalk.h5", "alone.h5", "--scene", "s.json", "-f", *BACKEND)
    with h5py.File("alone.h5") as f:
        alone = f["q"][:]
    size = np.abs(found[0][0]).max()
    # its fixed nodes reach 7 cm, so the interface has a ring more than that of a body of which only the origin is known
    must(np.abs(found[0][0] - found[1][0]).max() <= 0.02 * size, "a stiff block moves otherwise:", np.abs(found[0][0] - found[1][0]).max() / size)
    must(np.abs(alone - found[0][0]).max() >= 0.5 * size, "the block's mass does not act")
    must(np.abs(found[0][1][1:].sum(1)).size and np.abs(found[0][1][-1, 3]) > 0, "energies")


def speeds():
    """Frames that do not follow the motion have no speeds, but for those that are kept: against frames that do, objects in all kinds of frames."""
    place("v.h5", (0, -1, 0, 0, 0, 0, 0, 0), (1, 0, 1, 0, 0, 0.3, 0, 0), (1, 1, 1.1, 0, 0, 0, 0.2, 0), (1, -1, 3, 3, 3, 0, 0, 1), (0, -1, 5, 0, 0, 0, 0, 0))
    scene = {"duration": 0.3, "gravity": [0, 0, -9.81], "model": "stvk", "step": 2.5e-4, "objects": [
        {"object": 3, "pose_motion": "free", "velocity": [1, 0, 2], "angular_velocity": [0, 9, 3]},
        {"object": 4, "pose_motion": {"keys": [[0, 0, 0, 0, 0, 0, 0], [0.1, 0.1, 0, 0, 0, 0.3, 0], [0.3, 0, 0.2, 0, 0, 0, -0.4]]}}]}
    got = {}
    for name, fps, words in (("kept", 10, ("--velocities",)), ("coarse", 10, ()), ("fine", 4000, ())):
        with open("v.json", "w") as f:
            json.dump(dict(scene, fps=fps), f)
        run("modalsim", "v.h5", f"{name}.h5", "--scene", "v.json", "-f", *words, *BACKEND)
        if name == "coarse":
            run("modaldeform", "coarse.h5", "no", "--fields", "speed", code=3, says="coarse.h5: --fields: object 3: turns by 54.4 degrees from frame to frame")
            must(not os.path.exists("no"), "a folder is left")
            continue
        run("modalinfo", f"{name}.h5", "--check")
        run("modaldeform", f"{name}.h5", f"s_{name}", "--fields", "speed", "--frames", f"::{fps // 10}", "-f", *BACKEND)
        with h5py.File(f"s_{name}/sequence.vtkhdf") as f:
            got[name] = f["VTKHDF/PointData/speed"][:].reshape(4, -1)
    validate("kept.h5")
    # one that only bends; too few frames of it, enough, and too few with velocities
    for fps, words, enough in ((20, (), 0), (100, (), 1), (20, ("--velocities",), 1)):
        run("modalsim", "stalk.h5", "w.h5", "--duration", 0.5, "--fps", fps, "--initial", "0=0.01", "-f", *words)
        run("modaldeform", "w.h5", "no", "--fields", "speed", "-f", code=0 if enough else 3, says="" if enough else "w.h5: --fields: object 0, mode 0: moves at ")
    shutil.rmtree("no")
    off = np.abs(got["kept"] - got["fine"])[1:3].max() / got["fine"].max()
    print(f"check_rigid: speeds that are kept: {off:.1e} of the fastest point")
    moving = (got["fine"][1:3].max(axis=0) > 1e-3 * got["fine"].max()).mean()
    must(off <= 2e-3 and moving > 0.9, "speeds", off, moving)


def poses_of(path):
    with h5py.File(path) as t:
        n, moving = len(t["mode_offsets"]) - 1, t["posed_objects"][:]
        poses = np.zeros((len(t["times"]), n, 3, 4))
        poses[:, moving] = t["poses"][:]
        poses[:, [i for i in range(n) if i not in moving]] = t["static_poses"][:]
        return t.attrs["modal_format_version"], list(moving), poses


def frames_of_every_format():
    # a block on a stalk, a block on that block, one that stands still, one on that
    place("a.h5", (0, -1, 0, 0, 0, 0, 0, 0), (1, 0, 1, 0, 0, 0.3, 0, 0), (1, 1, 1.1, 0, 0, 0, 0.2, 0), (1, -1, 3, 3, 3, 0, 0, 1), (1, 3, 3, 3, 3.1, 0, 0, 0))
    simulate("a.h5", "t.h5")
    run("modalinfo", "a.h5", "--check")
    must("trajectory" in run("modalinfo", "t.h5", "--check").stdout, "--check")
    validate("a.h5", "t.h5")
    version, moving, poses = poses_of("t.h5")
    must(version in (b"1.0", "1.0") and moving == [1, 2], "version or moving objects:", version, moving)
    must(np.ptp(poses[:, 2, :, 3], axis=0).max() > 1e-3, "nothing moves")
    with h5py.File("a.h5") as f:
        s = f["shapes/0001/surface"]
        rest = np.empty((8, 3))
        rest[s["user_vertex"][:]] = s["rest_positions"][:]
        n_first = len(f["shapes/0000/surface/rest_positions"])
    wanted = [np.einsum("fij,vj->fvi", poses[:, o, :, :3], rest) + poses[:, o, None, :, 3] for o in range(1, 5)]
    run("modaldeform", "t.h5", "o", "--format", "vtkhdf,obj,glb,pc2", "--normals", "dynamic", *BACKEND)
    run("modalinfo", "o", "--check")
    with h5py.File("o/sequence.vtkhdf") as f:
        points = f["VTKHDF/Points"][:].reshape(len(poses), -1, 3)
        normals = f["VTKHDF/PointData/Normals"][:].reshape(len(poses), -1, 3)
    for i, x in enumerate(wanted):
        at = slice(n_first + 8 * i, n_first + 8 * i + 8)
        must(np.abs(points[:, at] - x).max() <= 1e-6, "object", i + 1, "is off by", np.abs(points[:, at] - x).max())
        turned = np.einsum("fji,fvj->fvi", poses[:, i + 1, :, :3], normals[:, at])
        must(np.ptp(turned, axis=0).max() <= 1e-5, "normals of object", i + 1)
    sys.path.insert(0, os.path.join(repository, "tools/python"))
    import modaltools
    t = modaltools.Trajectory("t.h5")
    must(np.abs(t.deform(7) - points[7]).max() <= 1e-6 and t.poses.shape == poses.shape, "the Python package")
    if os.path.exists(os.path.join(binaries, "modalview")):
        run("modalview", "t.h5", "page.html")
    run("modaldeform", "a.h5", "swings", "--format", "null", *BACKEND)
    # a picture of them, from the side, in which the object that stands still does
    run("modalrender", "t.h5", "pictures", "--size", "96x64", "--shadow-size", 512, "--frames", "::40", "--buffers", "object", *BACKEND)
    seen = [np.load(os.path.join("pictures/object", name)) for name in sorted(os.listdir("pictures/object"))]
    must(all(set(np.unique(x)) == {-1, 0, 1, 2, 3, 4} for x in seen), "objects that a picture shows:", [np.unique(x) for x in seen])
    # what is done in parts has the bytes of the whole
    run("modalsim", "a.h5", "c.h5", "--scene", "s.json", "--checkpoint", "check.h5", "--checkpoint-every", 5, *BACKEND)
    run("modalsim", "a.h5", "r.h5", "--scene", "s.json", "--restart", "check.h5", *BACKEND)
    with h5py.File("c.h5") as f, h5py.File("r.h5") as g, h5py.File("t.h5") as h:
        for name in ("q", "poses", "static_poses", "posed_objects"):
            must(np.array_equal(f[name][:], h[name][:]) and np.array_equal(g[name][:], h[name][:]), name, "differs after a checkpoint")


def many():
    """Thousands of blocks without mass on two stalks move as those of a few do, whatever the number of threads: state of many objects is moved
    by all of them (MODAL_FOREST_MANY, lib/forest/forest.h)."""
    stalks, places, n = ((0, -1, 0, 0, 0, 0, 0, 0), (0, -1, 2, 0, 0, 0, 0, 1)), 6, 4200

    def scene(name, count):
        # blocks stand between the stalks' rows, so that the order of the file is not that of trees
        blocks = [(1, i % 2 * (count // 2), 0.4 + 2 * (i % 2) + 0.1 * (i % places // 2), 0, 0, 0.1 * (i % places), 0, i % 2) for i in range(count)]
        rows = [stalks[0], *((1, 0 if r[1] == 0 else count // 2 + 1, *r[2:]) for r in blocks)]
        rows.insert(count // 2 + 1, stalks[1])
        with open("p.csv", "w") as f:
            f.write("object,shape,parent,x,y,z,rx,ry,rz\n" + "".join(f"{i},{','.join(map(str, row))}\n" for i, row in enumerate(rows)))
        run("modalplace", "p.csv", name, "stalk.h5", "light.h5", "-f")
        return [i for i in range(count + 2) if i not in (0, count // 2 + 1)]

    def motion(basis, to, threads):
        run("modalsim", basis, to, "--scene", "m.json", "-f", "-j", threads, *BACKEND)
        with h5py.File(to) as f:
            return f["q"][:], f["energy"][:], poses_of(to)[2]

    with open("m.json", "w") as f:
        json.dump({"duration": 0.04, "fps": 100, "step": 0.005, "gravity": [0, 0, -9.81], "model": "stvk"}, f)
    few = scene("few.h5", places)
    q, _, poses = motion("few.h5", "few_t.h5", 1)
    lot = scene("many.h5", n)
    own = [motion("many.h5", "many_t.h5", threads) for threads in (1, 2)]
    for one, two in zip(*own):
        must(np.array_equal(one, two), "two threads move many objects otherwise")
    must(np.abs(q[1:]).max() > 1e-5 and np.abs(own[0][0] - q).max() <= 1e-9 * np.abs(q).max(), "blocks without mass act:", np.abs(own[0][0] - q).max())
    wanted = poses[:, [few[i % places] for i in range(n)]]
    must(np.abs(own[0][2][:, lot] - wanted).max() <= 1e-9, "a block of many is elsewhere:", np.abs(own[0][2][:, lot] - wanted).max())
    must(np.ptp(poses[:, few], axis=0).max() > 1e-4, "no block moves")


def refuse():
    bad = []

    def refused(change, says):
        bad.append(f"bad{len(bad)}.h5")
        shutil.copy("t.h5", bad[-1])
        with h5py.File(bad[-1], "r+") as f:
            change(f)
        run("modaldeform", bad[-1], "w", code=3, says=says)
        must(says in run("modalinfo", bad[-1], "--check", code=1).stdout, says, "is not listed")

    refused(replaced("posed_objects", np.array([2, 1], "i4")), "/posed_objects: row 1: not ascending, or no object, 1")
    refused(replaced("posed_objects", np.array([1, 5], "i4")), "/posed_objects: row 1: not ascending, or no object, 5")
    refused(replaced("posed_objects", np.array([-1, 1], "i4")), "/posed_objects: row 0: not ascending, or no object, -1")
    refused(replaced("posed_objects", np.array([1], "i4")), "/poses: shape must be")
    refused(replaced("static_poses", np.zeros((3, 3, 4))), "/poses: ")
    refused(replaced("static_poses", np.zeros((2, 3, 4))), "/static_poses: shape must be [3, 3, 4]")
    refused(lambda f: f.__delitem__("static_poses"), "/static_poses: missing")
    refused(replaced("mode_offsets", np.array([0, 5, 5, 4, 5, 5])), "/mode_offsets")
    must(": valid " not in validate(*bad, code=1), "the validator takes one of these")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    plant.write_stalk("stalk.msh", 60, 1.0, (0.05, 0.03))
    run("modalpack", "stalk.msh", "stalk.h5", "--young", 1e8, "--poisson", 0.3, "--density", 700, "--fixed", "root", "--modes", 5,
        "--reduced-forces", "--derivatives", 3)
    pack()
    beside_a_stiff_one()
    speeds()
    frames_of_every_format()
    refuse()
    many()
print("check_rigid: sound")
