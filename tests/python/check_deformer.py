# SPDX-License-Identifier: Apache-2.0
"""modaltools.Deformer, by libmodaltools and by numpy, against the frames that modaldeform writes; threads, handles that are closed, files
that are wrong. usage: check_deformer.py BIN SOURCE WRITE_SAMPLES LIBRARY (-: numpy alone)"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import h5py
import numpy as np

from trajectories import keep_velocities

tools, source, samples, library = sys.argv[1:]
os.environ["MODALTOOLS_BIN"] = tools
if library != "-":
    os.environ["MODALTOOLS_LIBRARY"] = os.path.abspath(library)
sys.path.insert(0, f"{source}/tools/python")
import modaltools  # noqa: E402
from modaltools import Basis, BasisMissing, Cancelled, Sequence, Trajectory, run  # noqa: E402

ALL = ("positions", "normals", "displacement", "speed")
NATIVE = False


def Deformer(*arguments, **keywords):
    return modaltools.Deformer(*arguments, library=NATIVE, **keywords)


def fails(error, says, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except error as raised:
        assert says in str(raised), (says, str(raised))
        return raised
    sys.exit(f"check_deformer: no {error.__name__}: {says}")


def in_threads(n, work):
    threads = [threading.Thread(target=work, args=(k,)) for k in range(n)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def check_motion(name, basis):
    """One trajectory against its sequence."""
    wanted = {"normals": True, "displacement": True, "speed": True}
    sequence = Sequence(name)
    size = np.ptp(sequence.points.reshape(-1, 3), axis=0).max()
    with Deformer(f"{name}.h5", threads=2) as motion:
        assert len(motion) == len(sequence) and np.array_equal(motion.times, sequence.times)
        assert motion.n_points == sequence.n_points and np.array_equal(motion.triangles, sequence.triangles)
        assert motion.names == [basis.shapes[o.shape].name for o in basis.objects] and motion.back_end == ("cpu" if NATIVE else "numpy")
        assert np.array_equal(motion.first_coordinates, basis.offsets) and motion.first_cells[-1] == len(sequence.triangles)
        assert np.array_equal(motion.rest_poses, np.stack([o.rest_pose for o in basis.objects])) and motion.first_points[-1] == motion.n_points
        assert np.array_equal(motion.frequencies, np.concatenate([basis.shapes[o.shape].frequencies for o in basis.objects]))
        reach = np.concatenate([np.linalg.norm(basis.shapes[o.shape].modes.astype(float), axis=1).max(axis=0) for o in basis.objects])
        assert np.allclose(motion.reach, reach, rtol=1e-6, atol=0)
        fastest = max(1e-30, sequence["speed"].max())
        for i, frame in enumerate(motion.frames(**wanted)):
            assert frame.time == motion.times[i] and frame.positions.dtype == np.float32
            off = {"positions": np.abs(frame.positions - sequence.points[i]).max() / size,
                   "displacement": np.abs(frame.displacement - sequence["displacement"][i]).max() / size,
                   "normals": np.abs(frame.normals - sequence["Normals"][i]).max(),
                   "speed": np.abs(frame.speed - sequence["speed"][i]).max() / fastest}
            assert off["positions"] <= 1e-6 and off["displacement"] <= 1e-6 and off["normals"] <= 1e-5 and off["speed"] <= 2e-5, (name, i, off)
            assert not NATIVE or not any(off.values()), (name, i, off)  # the same bytes
        assert np.abs(sequence["Normals"]).max() > 0.5 and fastest > 1e-3
        # outputs one by one, in another order
        for some in ({"speed": True}, {}, {"normals": True}, {"displacement": True, "normals": True}):
            frame, whole = motion.frame(3, **some), motion.frame(3, **wanted)
            for one in ALL:
                assert one == "positions" or (getattr(frame, one) is None) == (one not in some)
                assert getattr(frame, one) is None or np.array_equal(getattr(frame, one), getattr(whole, one)), (some, one)
        # several at once, in any order: the bytes of one at a time; what is held stays
        for slice_ in ((0, None, 1), (None, None, -1), (1, None, 3), (len(motion) - 1, 0, -2)):
            many = list(motion.frames(*slice_, **wanted))
            which = range(*slice(*slice_).indices(len(motion)))
            assert len(many) == len(which) > 1
            for i, frame in zip(which, many):
                alone = motion.frame(i, **wanted)
                assert frame.time == motion.times[i] and all(np.array_equal(getattr(frame, a), getattr(alone, a)) for a in ("positions", *ALL)), (slice_, i)
        only = next(motion.frames(2, 4, speed=True))
        assert np.array_equal(only.speed, motion.frame(2, speed=True).speed) and only.normals is None
        # frames that are held stay what they are, also by a part of one
        held = [motion.frame(i % len(motion)) for i in range(6)]
        parts = [motion.frame(i % len(motion), **wanted).normals[1:].T for i in range(6)]
        copies = [(f.positions.copy(), p.copy()) for f, p in zip(held, parts)]
        for i in range(6):
            motion.frame((i + 1) % len(motion), **wanted)
        assert all(np.array_equal(f.positions, a) and np.array_equal(p, b) for f, p, (a, b) in zip(held, parts, copies))
        # the same frame by its coordinates; of a basis alone
        trajectory = Trajectory(f"{name}.h5")
        assert np.array_equal(motion.coordinates, trajectory.q)
        assert (motion.poses is None) == (trajectory.poses is None) and (trajectory.poses is None or np.array_equal(motion.poses, trajectory.poses))
        placed = None if trajectory.poses is None else trajectory.poses[2]
        dt = motion.times[3] - motion.times[1]
        rates = {"rates": (trajectory.q[3] - trajectory.q[1]) / dt, "pose_rates": None if placed is None else (trajectory.poses[3] - trajectory.poses[1]) / dt}
        for of in (motion, Deformer("basis.h5")):
            again = of.at(trajectory.q[2], placed, normals=True)
            assert np.array_equal(again.positions, motion.frame(2).positions) and again.time is None and again.speed is None
            assert np.array_equal(again.normals, motion.frame(2, normals=True).normals)
            assert np.array_equal(of.at(trajectory.q[2], placed, **rates).speed, motion.frame(2, speed=True).speed)
        assert np.array_equal(motion.frame(-1).positions, motion.frame(len(motion) - 1).positions)
        assert [f.time for f in motion.frames(5, 1, -2)] == list(motion.times[5:1:-2])
        # probes: by number, by place
        numbers = np.array([motion.n_points - 1, 0, motion.n_points // 2, 0])
        all_frames = np.stack([f.positions for f in motion.frames()])
        assert np.abs(motion.probe(numbers) - all_frames[:, numbers]).max() <= 1e-6 * size
        assert np.array_equal(motion.probe(numbers, 4, None, -2), motion.probe(numbers)[4::-2])
        rest = motion.at(np.zeros(motion.n_coordinates)).positions
        assert np.abs(motion.rest - rest).max() <= 1e-6 * size
        assert np.array_equal(motion.probe(rest[numbers] + 1e-7 * size), motion.probe([int(np.argmin(((rest - r) ** 2).sum(1))) for r in rest[numbers]]))
        assert motion.probe(np.zeros((0,), int)).shape == (len(motion), 0, 3)
        # threads: the same bytes, of one handle and of one each
        for own in (False, True):
            found = [None] * 20

            def work(k):
                mine = Deformer(f"{name}.h5", threads=1) if own else motion
                found[k] = [mine.frame(i % len(motion), **wanted) for i in range(k, k + 4)]

            in_threads(20, work)
            for k in range(20):
                for j, frame in enumerate(found[k]):
                    alone = motion.frame((k + j) % len(motion), **wanted)
                    assert all(np.array_equal(getattr(frame, a), getattr(alone, a)) for a in ALL)
    for call in (lambda: motion.frame(0), lambda: motion.at(np.zeros(motion.n_coordinates)), lambda: motion.probe([0]),
                 lambda: next(motion.frames()), lambda: motion.rest, lambda: motion.coordinates):
        fails(ValueError, f"{name}.h5: is closed", call)
    motion.close()  # again is fine


def check_wrong(basis):
    # a vertex without triangles, one of a triangle without area: no normal (the library would look at the file's tables)
    if not NATIVE:
        shutil.copy("basis.h5", "flat.h5")
        with h5py.File("flat.h5", "r+") as file:
            triangles = file["shapes/0000/surface/triangles"]
            triangles[...] = np.repeat(triangles[:1, :1], 3, axis=1)
        flat = Deformer("flat.h5").at(np.zeros(basis.n_coordinates), normals=True).normals
        assert (np.abs(np.linalg.norm(flat, axis=1) - 1) < 1e-6).sum() + (flat == 0).all(axis=1).sum() == len(flat) and (flat == 0).all(axis=1).any()

    motion = Deformer("traj.h5")
    q = np.zeros(motion.n_coordinates)
    fails(IndexError, f"traj.h5: frame {len(motion)} of {len(motion)}", motion.frame, len(motion))
    fails(IndexError, "frame -100 of", motion.frame, -100)
    fails(ValueError, "q has the shape (3,)", motion.at, [1, 2, 3])
    fails(ValueError, "q: not finite", motion.at, q * np.nan)
    fails(ValueError, "poses has the shape", motion.at, q, np.eye(4))
    fails(IndexError, "points are 0 to", motion.probe, [motion.n_points])
    fails(IndexError, "points are 0 to", motion.probe, [-1])
    fails(ValueError, "neither numbers nor places", motion.probe, [0.5])
    fails(ValueError, "is a basis, which has no frames", Deformer("basis.h5").frame, 0)
    fails(ValueError, "is a basis itself", Deformer, "basis.h5", "basis.h5")
    assert len(Deformer("basis.h5")) == 0 and list(Deformer("basis.h5").frames()) == []
    fails(ValueError, "turn/sequence.vtkhdf: modal_format: ", Deformer, "turn/sequence.vtkhdf")
    fails(OSError, "absent.h5", Deformer, "absent.h5")
    fails(OSError, "absent.h5", Deformer, "traj.h5", "absent.h5")
    shutil.copy("basis.h5", "other.h5")
    with h5py.File("other.h5", "r+") as file:
        file.attrs["content_hash"] = np.bytes_("0" * 32)
    fails(ValueError, "made for another basis", Deformer, "traj.h5", "other.h5")
    os.makedirs("moved", exist_ok=True)
    shutil.copy("traj.h5", "moved/traj.h5")
    fails(BasisMissing, "moved/traj.h5: its basis is not there", Deformer, "moved/traj.h5")
    assert np.array_equal(Deformer("moved/traj.h5", "basis.h5").frame(1).positions, motion.frame(1).positions)
    Trajectory.write("one.h5", basis, [0.0], np.zeros((1, basis.n_coordinates)))
    fails(ValueError, "speed needs two frames", Deformer("one.h5").frame, 0, speed=True)
    # still being written: cut off anywhere, and open for writing
    whole = open("traj.h5", "rb").read()
    for length in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        open("cut.h5", "wb").write(whole[:length])
        fails((ValueError, OSError), "", Deformer, "cut.h5")
    with h5py.File("written.h5", "w", libver="latest") as file:
        file.attrs["modal_format"] = np.bytes_("trajectory")
        file.flush()
        fails((ValueError, OSError), "", Deformer, "written.h5")
    # numbers that are none
    for place, number in (("q", np.nan), ("times", np.inf)):
        shutil.copy("traj.h5", "nan.h5")
        with h5py.File("nan.h5", "r+") as file:
            file[place][-1] = number
        fails(ValueError, f"nan.h5: {'/' if NATIVE else ''}{place}", Deformer, "nan.h5")


def check_volume(name):
    """Nodes, cells and fields: the bytes that modaldeform writes."""
    fields = ["strain", "stress", "von_mises", "jacobian"]
    run("modaldeform", f"{name}.h5", f"{name}_solid", output_mesh="volume", fields=",".join(["displacement", "speed", *fields]), backend="cpu")
    wanted = Sequence(f"{name}_solid")
    with h5py.File(f"{name}_solid/sequence.vtkhdf") as file:
        cells = [file["VTKHDF"][k][:] for k in ("Connectivity", "Offsets", "Types")]
    with Deformer(f"{name}.h5", volume=True) as motion:
        for a, b in zip(motion.cells, cells):
            assert np.array_equal(a, b), (a, b)
        names, materials = motion.materials
        assert len(materials) == len(cells[2]) == motion.first_cells[-1] and materials.min() >= 0 and materials.max() < len(names)
        for i, frame in enumerate(motion.frames(displacement=True, speed=True, fields=fields + [f + "_nodes" for f in fields])):
            assert np.array_equal(frame.positions, wanted.points[i]) and np.array_equal(frame.displacement, wanted["displacement"][i])
            assert np.array_equal(frame.speed, wanted["speed"][i])
            for f in fields:
                assert np.array_equal(getattr(frame, f), wanted[f][i]) and np.array_equal(getattr(frame, f + "_nodes"), wanted[f + "_nodes"][i]), (i, f)
        assert np.abs(wanted["stress"]).max() > 1e3 and wanted["speed"].max() > 1e-3
        q = Trajectory(f"{name}.h5").q
        assert motion.poses is not None or np.array_equal(motion.at(q[2], fields=["von_mises"]).von_mises, wanted["von_mises"][2])
        fails(ValueError, "a volume has no normals", motion.frame, 0, normals=True)
        fails(ValueError, "curvature is of surfaces", motion.frame, 0, fields=["k_max"])
        assert wanted["jacobian"].min() > 0 and (wanted["jacobian"] == 1).all() == (name != "large"), "det F is 1 by the linear law"
        groups = motion.groups
        with h5py.File(motion.basis_path) as file:
            for g in groups:
                mesh = file[f"shapes/{g.shape:04}/volume/groups"]
                one = next(mesh[k] for k in mesh if mesh[k].attrs["name"].decode() == g.name and mesh[k].attrs["dimension"] == g.dimension)
                copies = np.flatnonzero(motion.object_shapes == g.shape)
                assert np.array_equal(g.points, np.concatenate([one["nodes"][:] + motion.first_points[o] for o in copies]))
                assert np.array_equal(g.cells, np.concatenate([one["elements"][:] + motion.first_cells[o] for o in copies]))
    return len(groups)


def check_curvature(name):
    """Fields of the surface: the bytes that modaldeform writes; alone, with other outputs, and changing from call to call."""
    fields = ["k_max", "k_min", "mean_curvature", "gauss_curvature", "direction_max", "direction_min", "curvature_derivative", "boundary"]
    run("modaldeform", f"{name}.h5", f"{name}_curved", fields=",".join(fields), backend="cpu", force=True)
    wanted = Sequence(f"{name}_curved")
    with Deformer(f"{name}.h5", threads=2) as motion:
        for some in (fields, fields[2:3], fields[::3], fields):
            for i, frame in enumerate(motion.frames(fields=some, speed=True)):
                assert np.array_equal(frame.positions, wanted.points[i])
                for f in fields:
                    assert getattr(frame, f) is None if f not in some else np.array_equal(getattr(frame, f), wanted[f][i]), (name, f, i)
        assert np.array_equal(motion.frame(1, fields=["k_min"]).k_min, wanted["k_min"][1]) and np.abs(wanted["k_max"]).max() > 0
        q = motion.coordinates[2]
        assert motion.poses is not None or np.array_equal(motion.at(q, fields=["k_max"]).k_max, wanted["k_max"][2])
        fails(ValueError, "are of volumes", motion.frame, 0, fields=["jacobian_nodes"])


def check_native(basis):
    """What the library has more."""
    motion = Deformer("traj.h5")
    fails(ValueError, "no texture coordinates", motion.frame, 0, tangents=True)
    fails(ValueError, "of volumes", motion.frame, 0, fields=["strain"])
    fails(ValueError, "not one of strain, stress", motion.frame, 0, fields=["curl"])
    fails(ValueError, "twice, strain", motion.frame, 0, fields=["strain", "strain"])
    fails(ValueError, "does not fit float32, 1e+39", motion.at, np.full(motion.n_coordinates, 1e39))
    fails(ValueError, "position does not fit float32", motion.at, np.full(motion.n_coordinates, 3e38))
    fails((ValueError, OSError), "cude", Deformer("traj.h5", back_end="cude").frame, 0)
    fails(ValueError, "-1 threads", Deformer, "traj.h5", threads=-1)
    fails(OSError, "the limit is 1", Deformer("traj.h5", memory_limit=1).frame, 0)
    run("modalpack", f"{source}/data/tuning_fork.msh", "fork.h5", modes=4, young="2e11", poisson=0.3, density=7800, fixed="stem_end", force=True)
    run("modalsim", "fork.h5", "ring.h5", duration=0.004, fps=1000, initial=["0=1e-3", "3=1e-3"], velocities=True, force=True)
    with open("places.csv", "w") as file:
        file.write("0,0,-1,0,0,0,0,0,0\n1,0,-1,3,0,0,0.4,0.5,-0.3\n")
    run("modalplace", "places.csv", "two.h5", "fork.h5", force=True)
    run("modalsim", "two.h5", "both.h5", duration=0.004, fps=1000, initial="0=1e-3", velocities=True, force=True)
    run("modalpack", f"{source}/data/tuning_fork.msh", "large_b.h5", reduced_forces=True, modes=2, derivatives=1, young="5e7", poisson=0.3, density=7800,
        fixed="stem_end", force=True)
    with open("large.json", "w") as file:
        json.dump({"duration": 0.1, "fps": 40, "gravity": [30, 0, 0], "model": "stvk"}, file)
    run("modalsim", "large_b.h5", "large.h5", scene="large.json", velocities=True, force=True)
    assert all(check_volume(name) > 0 for name in ("ring", "both", "large"))
    motion = Deformer("both.h5")
    for g in motion.groups: # of the surface: its triangles are those whose corners are all in the group
        has = np.zeros(motion.n_points, bool)
        has[g.points] = True
        assert np.array_equal(g.cells, np.flatnonzero(has[motion.triangles].all(axis=1) & (np.repeat(motion.object_shapes, np.diff(motion.first_cells)) == g.shape)))
    assert len(motion.groups) > 0 and len(motion.materials[1]) == len(motion.triangles)
    for name in ("traj", "turn", "ring"):
        check_curvature(name)
    motion = Deformer("traj.h5")
    # the reference puts normals at their places while it makes them, unless positions alone are wanted
    run("modaldeform", "traj.h5", "traj_ref", fields="displacement,speed", backend="ref", force=True)
    plain = Sequence("traj_ref")
    with Deformer("traj.h5", back_end="ref") as ref:
        for some in ({"normals": True}, {}, {"speed": True}, {"normals": True, "displacement": True}, {"displacement": True}, {"normals": True}):
            frame = ref.frame(2, **some)
            for one, name in zip(ALL[1:], ("Normals", "displacement", "speed")):
                assert getattr(frame, one) is None or np.array_equal(getattr(frame, one), plain[name][2]), (some, one)
            assert np.array_equal(frame.positions, plain.points[2]), some
    # cancelling: the frame under way ends, the next one is made
    of, ended = Deformer("traj.h5"), []

    def play_on():
        while not ended:
            try:
                of.frame(1)
            except Cancelled as error:
                ended.append(str(error))

    player, end = threading.Thread(target=play_on), time.monotonic() + 20
    player.start()
    while not ended and time.monotonic() < end:
        of.cancel()
    ended.append("never")
    player.join()
    assert ended[0] == "traj.h5: cancelled" and np.array_equal(of.frame(1).positions, motion.frame(1).positions), ended
    # a handle that streams U has the same bytes
    whole, parts = motion.frame(3, normals=True), None
    for limit in range(20000, 400000, 4000):
        of = Deformer("traj.h5", memory_limit=limit)
        try:
            parts = of.frame(3, normals=True)
        except OSError:
            continue
        if of._handle.sizes()["streamed_bytes"] > 0:
            assert np.array_equal(parts.positions, whole.positions) and np.array_equal(parts.normals, whole.normals)
            break
    assert parts is not None
    # closing waits for the frames under way
    failed = []

    def play(k):
        try:
            for _ in range(2000):
                of.frame(k % 3)
        except ValueError as error:
            failed.append(str(error))

    of = Deformer("traj.h5")
    threads = [threading.Thread(target=play, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    time.sleep(0.02)
    of.close()
    for t in threads:
        t.join()
    assert all(message == "traj.h5: is closed" for message in failed), failed


def check_ahead(basis):
    """Frames that are made before they are asked for are those that are asked for."""
    from modaltools.ahead import Ahead
    rng = np.random.default_rng(5)
    Trajectory.write("long.h5", basis, np.arange(60) / 25, rng.normal(size=(60, basis.n_coordinates)) * 0.02)
    keep_velocities("long.h5")
    with Deformer("long.h5") as motion:
        wanted = [motion.frame(i, normals=True, displacement=True, speed=True) for i in range(60)]
        rows = [list(range(60)), list(range(59, -1, -1)), list(range(0, 60, 7)), [5, 5, 6, 7, 8, 8, 9, 3, 4, 5, 6, 59, 0, 1, 2, 3], [0, 59] * 3, list(range(2, 60, 20))]
        for row in rows:
            for some in ({}, {"normals": True, "speed": True}):
                ahead, kept, made = Ahead(motion), [], 0
                for i in row:
                    frame = ahead.frame(i, **some)
                    made = max(made, *(0 if batch is None else len(batch.wanted) for batch in (ahead._now, ahead._next)))
                    kept = [*kept[-1:], (i, frame)]
                    for k, held in kept:  # also the one before it
                        assert held.time == wanted[k].time and all(
                            getattr(held, name) is None or np.array_equal(getattr(held, name), getattr(wanted[k], name)) for name in ALL), (row, k)
                    assert (frame.normals is None) == ("normals" not in some)
                assert (made > 1) == (NATIVE and row[:3] not in ([0, 59, 0], [2, 22, 42])), (row, made)
                ahead.close()
                if len(row) == 60:
                    assert NATIVE or ahead._now is None
        ahead = Ahead(motion)
        for i in (*range(10), 3):  # what is asked for changes, and what is made is dropped
            ahead.frame(i, displacement=i > 5)
        fails(IndexError, "60", ahead.frame, 60)
        for i in range(6):
            ahead.frame(i)
        motion.close()
        ahead.close()
        fails(ValueError, "is closed", ahead.frame, 6)
        ahead = Ahead(motion)
        fails(ValueError, "is closed", ahead.frame, 0)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([samples, "."], check=True)
    # three objects of two shapes, with poses and without, and a trajectory of one's own in which all turn
    basis, rng = Basis("basis.h5"), np.random.default_rng(3)
    angles = rng.uniform(0, 3, (7, len(basis.objects)))
    poses = np.zeros((7, len(basis.objects), 3, 4))
    poses[..., 0, 0] = poses[..., 1, 1] = np.cos(angles)
    poses[..., 0, 1], poses[..., 1, 0], poses[..., 2, 2] = -np.sin(angles), np.sin(angles), 1
    poses[..., 3] = rng.normal(size=poses.shape[:-1])
    Trajectory.write("turn.h5", basis, np.cumsum(rng.uniform(0.01, 0.1, 7)), rng.normal(size=(7, basis.n_coordinates)) * 0.02, poses)
    for name in ("traj", "still", "turn"):
        keep_velocities(f"{name}.h5")
        run("modaldeform", f"{name}.h5", name, fields="displacement,speed", normals="dynamic", backend="cpu")
    for NATIVE in (True, False) if library != "-" else (False,):
        for name in ("traj", "still", "turn"):
            check_motion(name, basis)
        check_wrong(basis)
        check_ahead(basis)
        if NATIVE:
            check_native(basis)
    # where it is looked for, and what is said where it is not
    os.environ["MODALTOOLS_LIBRARY"] = "basis.h5"
    fails(OSError, "basis.h5", modaltools.Deformer, "traj.h5")
    os.environ["MODALTOOLS_LIBRARY"] = ""
    os.environ["PKG_CONFIG_LIBDIR"] = folder
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        if modaltools.Deformer("traj.h5").back_end == "numpy":
            modaltools.Deformer("traj.h5")
            assert len(said) == 1 and "MODALTOOLS_LIBRARY names" in str(said[0].message), [str(s.message) for s in said]
            fails(OSError, "was asked for", modaltools.Deformer, "traj.h5", library=True)
    if library != "-":
        open("modaltools.pc", "w").write(f"libdir={os.path.dirname(os.path.abspath(library))}\nName: modaltools\nDescription: x\nVersion: 0\nLibs: -L${{libdir}}\n")
        got = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, '{source}/tools/python'); import modaltools; "
                              "print(modaltools.Deformer('traj.h5').back_end)"], capture_output=True, text=True)
        assert got.stdout == "cpu\n" and not got.stderr, got
print("deformer ok")
