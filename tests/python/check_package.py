# SPDX-License-Identifier: Apache-2.0
"""The Python package modaltools, installed from the tree into a venv without a network: against the programs, and the lines
of the README. usage: check_package.py BIN SOURCE WRITE_SAMPLES. Exits with 77 where venv, pip or setuptools is absent."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

INSIDE = "--inside"


def install(tools, source, samples):
    for module in ("venv", "pip", "setuptools", "wheel"):
        if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode != 0:
            print(f"check_package: the module {module} is absent, not checked")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(f"{source}/tools/python", f"{folder}/python")  # setuptools leaves files beside its source
        subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", f"{folder}/venv"], check=True)
        python = f"{folder}/venv/bin/python"
        got = subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--no-deps",
                              f"{folder}/python"], capture_output=True, text=True)
        assert got.returncode == 0, got
        environment = {**os.environ, "MODALTOOLS_BIN": tools}
        environment.pop("PYTHONPATH", None)
        work = f"{folder}/work"
        os.mkdir(work)
        got = subprocess.run([python, "-I", os.path.abspath(__file__), tools, source, samples, INSIDE], cwd=work, env=environment)
        sys.exit(got.returncode)


def fails(error, says, function, *arguments, **keywords):
    before = sorted(os.listdir("."))
    try:
        function(*arguments, **keywords)
    except error as raised:
        assert says in str(raised), (says, str(raised))
        assert sorted(os.listdir(".")) == before, os.listdir(".")
        return raised
    sys.exit(f"check_package: no {error.__name__}: {says}")


def check(tools, source, samples):
    import h5py
    import numpy as np
    import modaltools
    from modaltools import Basis, Scene, Sequence, ToolError, Trajectory, info, run

    assert "/venv/" in modaltools.__file__, modaltools.__file__
    assert pathlib.Path(modaltools.__file__).with_name("py.typed").exists()
    subprocess.run([samples, "."], check=True)
    os.remove("sequence.vtkhdf")

    # reading and deforming: three objects of two shapes, with poses and without
    basis = Basis("basis.h5")
    said = info("basis.h5")
    assert basis.content_hash == said["content_hash"] and basis.n_coordinates == said["reduced_coordinates"] == 11
    assert [s.name for s in basis.shapes] == [s["name"] for s in said["shapes"]] and basis.shapes[0].kind == "derivatives"
    for name in ("traj", "still"):
        trajectory = Trajectory(f"{name}.h5")
        run("modaldeform", f"{name}.h5", name, fields="displacement", backend="cpu")
        sequence = Sequence(name)
        assert len(sequence) == len(trajectory) and sequence.n_points == basis.n_points == trajectory.basis.n_points
        assert np.array_equal(sequence.times, trajectory.times) and np.array_equal(sequence.triangles, basis.triangles)
        assert isinstance(sequence.points, np.memmap) and list(sequence.arrays) == ["Points", "Normals", "displacement"]
        wanted = np.stack([trajectory.deform(i) for i in range(len(trajectory))])
        size = np.ptp(wanted.reshape(-1, 3), axis=0).max()
        assert np.abs(sequence.points - wanted).max() < 1e-6 * size
        assert np.abs(np.stack(list(sequence)) - wanted).max() < 1e-6 * size
        moved = sequence["displacement"]
        poses = [None] * len(trajectory) if trajectory.poses is None else trajectory.poses
        still = np.stack([basis.deform(np.zeros(11), pose) for pose in poses])
        assert np.abs(moved).max() > 1e-3 and np.abs(moved - (wanted - still)).max() < 1e-6, np.abs(moved).max()
        # a user block before the file moves all addresses
        block = np.zeros(512, np.uint8).tobytes() + pathlib.Path(f"{name}/sequence.vtkhdf").read_bytes()
        pathlib.Path("block.vtkhdf").write_bytes(block)
        assert np.array_equal(Sequence("block.vtkhdf").points, sequence.points)
    run("modaldeform", "traj.h5", "few", precision=1e-4, normals="none")
    few = Sequence("few/sequence.vtkhdf")
    assert not isinstance(few.points, np.memmap)
    run("modaldeform", "traj.h5", "solid", output_mesh="volume")
    assert len(Sequence("solid").triangles) == 0

    # writing: what the tools read is what was meant
    rng = np.random.default_rng(5)
    times, q = np.arange(6) / 25, rng.normal(size=(6, basis.n_coordinates)) * 0.01
    poses = np.tile(np.stack([o.rest_pose for o in basis.objects]), (6, 1, 1, 1))
    poses[:, 1, :, 3] += np.arange(6)[:, None] * 0.1
    for keys in ({}, {"poses": poses}, {"poses": poses, "energy": np.ones((6, 4))}):
        os.makedirs("sub", exist_ok=True)
        Trajectory.write("sub/new.h5", basis, times, q, **keys)
        run("modalinfo", "sub/new.h5", check=True)
        again = Trajectory("sub/new.h5")
        assert np.array_equal(again.q, q) and np.array_equal(again.times, times) and (again.poses is None) == ("poses" not in keys)
        run("modaldeform", "sub/new.h5", "seq", force=True)
        wanted = np.stack([basis.deform(q[i], keys["poses"][i] if keys else None) for i in range(6)])
        assert np.abs(Sequence("seq").points - wanted).max() < 1e-5
    fails(ValueError, "q: has the shape (5, 11), not (6, 11)", Trajectory.write, "x.h5", basis, times, q[:5])
    fails(ValueError, "times: not finite and increasing", Trajectory.write, "x.h5", basis, times[::-1], q)
    fails(ValueError, "q: not finite", Trajectory.write, "x.h5", basis, times, q * np.nan)
    fails(ValueError, "poses: not rotations", Trajectory.write, "x.h5", basis, times, q, poses * 2)
    for name in ("basis.h5", "sub/../basis.h5", "link.h5"):
        if name == "link.h5":
            os.link("basis.h5", name)
        fails(ValueError, f"{name}: input and output are one file", Trajectory.write, name, basis, times, q)
    os.remove("link.h5")
    assert Basis("basis.h5").content_hash == basis.content_hash
    os.mkfifo("pipe.h5")
    fails(OSError, "pipe.h5: not a regular file", Trajectory, "pipe.h5")
    os.remove("pipe.h5")
    fails(ValueError, "modal_format: not basis, 'trajectory'", Basis, "traj.h5")
    fails(OSError, "", Basis, "absent.h5")
    fails(ValueError, "shape (3,), not (11,)", basis.deform, [1, 2, 3])
    shutil.copy("basis.h5", "future.h5")
    with h5py.File("future.h5", "r+") as f:
        f.attrs["modal_format_version"] = np.bytes_("9.0")
    fails(ValueError, "modal_format_version: not of 1, '9.0'", Basis, "future.h5")
    shutil.copy("basis.h5", "other.h5")
    with h5py.File("other.h5", "r+") as f:
        f.attrs["content_hash"] = np.bytes_("0" * 32)
    fails(ValueError, "made for another basis", Trajectory, "traj.h5", Basis("other.h5"))

    # a scene, an assembly, programs
    pathlib.Path("bar.veg").write_text(
        "*VERTICES\n16 3 0 0\n" + "".join(f"{i + 1} {i // 4 * 0.1} {i // 2 % 2 * 0.04} {i % 2 * 0.03}\n" for i in range(16)) +
        "*ELEMENTS\nCUBIC\n3 8 0\n" + "".join(f"{e + 1} " + " ".join(str(4 * e + k) for k in (1, 5, 7, 3, 2, 6, 8, 4)) + "\n"
                                             for e in range(3)) +
        "*MATERIAL M\nENU, 1000, 1e6, 0.4\n*REGION\nallElements, M\n")
    report = run("modalpack", "bar.veg", "bar.h5", modes=4, fixed=["plane:0,0,0:-1,0,0"], volume_modes="float64")
    assert report["tool"] == "modalpack" and report["exit_code"] == 0 and report["stdout"].count("\n") > 4
    pathlib.Path("places.csv").write_text("object,shape,parent,x,y,z,rx,ry,rz\n0,0,-1,0,0,0,0,0,0\n1,0,0,1,0,0,0,0,0.5\n")
    run("modalplace", "places.csv", "pair.h5", "bar.h5", link=True)
    pair = Basis("pair.h5")
    assert len(pair.objects) == 2 and np.array_equal(pair.shapes[0].modes, Basis("bar.h5").shapes[0].modes)
    one = Basis("bar.h5")
    fails(ValueError, "bar.h5: input and output are one file", Trajectory.write, "bar.h5", pair, [0.0], np.zeros((1, pair.n_coordinates)))
    assert Basis("bar.h5").content_hash == one.content_hash
    scene = Scene(duration=0.1, fps=50, gravity=np.array([0, 0, -9.81]), damping={"ratio": 0.02})
    scene.force(0, [0, 0, np.float64(0.1)], point=[0.3, 0, 0], curve={"keys": [[0, 0], [0.05, 1], [0.1, 0]]})
    scene.impulse(1, [0, 1e-4, 0], vertex=15, time=0.02).object(1, pose_motion="fixed")
    report = run("modalsim", "pair.h5", "pair_traj.h5", scene=scene.write("s.json"))
    assert len(Trajectory("pair_traj.h5")) == 6 and report["vertices_taken"][0]["object"] == 0
    fails(ValueError, "bad.json: ", Scene(duration=float("nan"), fps=1).write, "bad.json")
    fails(TypeError, "not for a scene", Scene(duration=1, fps=1, gravity=object()).write, "bad.json")
    error = fails(ToolError, "modalpack: absent.msh: cannot open", run, "modalpack", "absent.msh", "o.h5", modes=3)
    assert (error.exit_code, error.tool) == (3, "modalpack")
    assert fails(ToolError, "--mode", run, "modalpack", "bar.veg", "o.h5", mode=3).exit_code == 2
    fails(FileNotFoundError, "modalabsent: not in MODALTOOLS_BIN", run, "modalabsent")

    # the lines of the package's README and of the tour, as they stand there
    shutil.copytree("traj", "out", dirs_exist_ok=True)
    readme = pathlib.Path(source, "tools/python/README.md").read_text() + pathlib.Path(source, "docs/tour.md").read_text()
    blocks = [b for b in re.findall(r"```python\n(.*?)```", readme, re.S) if "from modaltools import" in b]
    assert len(blocks) >= 4, len(blocks)
    shutil.copy("bar.veg", "fork.msh")
    for block in blocks:
        assert block.count("\n") <= 5, block
        exec(compile(block, "README", "exec"), {})
    print("check_package: ok")


if __name__ == "__main__":
    if INSIDE in sys.argv:
        check(*sys.argv[1:4])
    else:
        install(*map(os.path.abspath, sys.argv[1:4]))
