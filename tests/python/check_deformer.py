# SPDX-License-Identifier: Apache-2.0
"""modaltools.Deformer against the frames that modaldeform writes; threads, handles that are closed, files that are wrong.
usage: check_deformer.py BIN SOURCE WRITE_SAMPLES"""
import os
import shutil
import subprocess
import sys
import tempfile
import threading

import h5py
import numpy as np

tools, source, samples = sys.argv[1:]
os.environ["MODALTOOLS_BIN"] = tools
sys.path.insert(0, f"{source}/tools/python")
from modaltools import Basis, Deformer, Sequence, Trajectory, run  # noqa: E402


def fails(error, says, function, *arguments, **keywords):
    try:
        function(*arguments, **keywords)
    except error as raised:
        assert says in str(raised), (says, str(raised))
        return
    sys.exit(f"check_deformer: no {error.__name__}: {says}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([samples, "."], check=True)
    wanted = {"normals": True, "displacement": True, "speed": True}
    # three objects of two shapes, with poses and without, and a trajectory of one's own in which all turn
    basis, rng = Basis("basis.h5"), np.random.default_rng(3)
    angles = rng.uniform(0, 3, (7, len(basis.objects)))
    poses = np.zeros((7, len(basis.objects), 3, 4))
    poses[..., 0, 0] = poses[..., 1, 1] = np.cos(angles)
    poses[..., 0, 1], poses[..., 1, 0], poses[..., 2, 2] = -np.sin(angles), np.sin(angles), 1
    poses[..., 3] = rng.normal(size=poses.shape[:-1])
    Trajectory.write("turn.h5", basis, np.cumsum(rng.uniform(0.01, 0.1, 7)), rng.normal(size=(7, basis.n_coordinates)) * 0.02, poses)
    for name in ("traj", "still", "turn"):
        run("modaldeform", f"{name}.h5", name, fields="displacement,speed", normals="dynamic", backend="cpu")
        sequence = Sequence(name)
        size = np.ptp(sequence.points.reshape(-1, 3), axis=0).max()
        with Deformer(f"{name}.h5") as motion:
            assert len(motion) == len(sequence) and np.array_equal(motion.times, sequence.times)
            assert motion.n_points == sequence.n_points and np.array_equal(motion.triangles, sequence.triangles)
            assert motion.names == [basis.shapes[o.shape].name for o in basis.objects]
            fastest = max(1e-30, sequence["speed"].max())
            for i, frame in enumerate(motion.frames(**wanted)):
                assert frame.time == motion.times[i] and frame.positions.dtype == np.float32
                off = {"positions": np.abs(frame.positions - sequence.points[i]).max() / size,
                       "displacement": np.abs(frame.displacement - sequence["displacement"][i]).max() / size,
                       "normals": np.abs(frame.normals - sequence["Normals"][i]).max(),
                       "speed": np.abs(frame.speed - sequence["speed"][i]).max() / fastest}
                assert off["positions"] <= 1e-6 and off["displacement"] <= 1e-6 and off["normals"] <= 1e-5 and off["speed"] <= 2e-5, (name, i, off)
            assert np.abs(sequence["Normals"]).max() > 0.5 and fastest > 1e-3
            # the same frame by its coordinates; of a basis alone
            trajectory = Trajectory(f"{name}.h5")
            placed = None if trajectory.poses is None else trajectory.poses[2]
            for of in (motion, Deformer("basis.h5")):
                again = of.at(trajectory.q[2], placed, normals=True)
                assert np.array_equal(again.positions, motion.frame(2).positions) and again.time is None and again.speed is None
                assert np.array_equal(again.normals, motion.frame(2, normals=True).normals)
            assert np.array_equal(motion.frame(-1).positions, motion.frame(len(motion) - 1).positions)
            assert [f.time for f in motion.frames(5, 1, -2)] == list(motion.times[5:1:-2])
            # probes: by number, by place
            numbers = np.array([motion.n_points - 1, 0, motion.n_points // 2, 0])
            all_frames = np.stack([f.positions for f in motion.frames()])
            assert np.abs(motion.probe(numbers) - all_frames[:, numbers]).max() <= 1e-6 * size
            assert np.array_equal(motion.probe(numbers, 4, None, -2), motion.probe(numbers)[4::-2])
            rest = motion.at(np.zeros(motion.n_coordinates)).positions
            assert np.array_equal(motion.probe(rest[numbers] + 1e-7 * size), motion.probe([int(np.argmin(((rest - r) ** 2).sum(1))) for r in rest[numbers]]))
            assert motion.probe(np.zeros((0,), int)).shape == (len(motion), 0, 3)
            # threads: the same bytes
            found = [None] * 20

            def work(k):
                found[k] = [motion.frame(i % len(motion), **wanted) for i in range(k, k + 4)]

            threads = [threading.Thread(target=work, args=(k,)) for k in range(20)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            for k in range(20):
                for j, frame in enumerate(found[k]):
                    alone = motion.frame((k + j) % len(motion), **wanted)
                    assert all(np.array_equal(getattr(frame, a), getattr(alone, a)) for a in ("positions", "normals", "displacement", "speed"))
        for call in (lambda: motion.frame(0), lambda: motion.at(np.zeros(motion.n_coordinates)), lambda: motion.probe([0]),
                     lambda: next(motion.frames())):
            fails(ValueError, f"{name}.h5: is closed", call)

    # a vertex without triangles, one of a triangle without area: no normal
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
    fails(ValueError, "modal_type: not trajectory, 'sequence'", Deformer, "turn/sequence.vtkhdf")
    fails(OSError, "", Deformer, "absent.h5")
    shutil.copy("basis.h5", "other.h5")
    with h5py.File("other.h5", "r+") as file:
        file.attrs["content_hash"] = np.bytes_("0" * 32)
    fails(ValueError, "made for another basis", Deformer, "traj.h5", "other.h5")
    os.mkdir("moved")
    shutil.copy("traj.h5", "moved/traj.h5")
    fails(OSError, "", Deformer, "moved/traj.h5")  # its basis stayed
    assert np.array_equal(Deformer("moved/traj.h5", "basis.h5").frame(1).positions, motion.frame(1).positions)
    Trajectory.write("one.h5", basis, [0.0], np.zeros((1, basis.n_coordinates)))
    fails(ValueError, "speed needs two frames", Deformer("one.h5").frame, 0, speed=True)
print("deformer ok")
