# SPDX-License-Identifier: Apache-2.0
"""Real meshes through modalpack | modalsim | modaldeform: every frame, time and triangle of the written
sequence against X + U q and the user's own surface, computed here from the files.

usage: check_pipeline.py BIN_FOLDER SOURCE_FOLDER DATA_FOLDER CASE
exit code 77 where the mesh of the case is not there."""
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

tools, source, data = (pathlib.Path(a) for a in sys.argv[1:4])
STEEL = "--young 2.06e11 --poisson 0.29 --density 7850"
RUBBER = "--young 1e7 --poisson 0.45 --density 1000"
CASES = {
    "fork": (source / "data/tuning_fork.msh", f"{STEEL} --fixed stem_end"),
    "beam3": (data / "beam3/beam3_tet.veg", f"--fixed {data}/beam3/beam3.bou"),
    "bridge": (data / "simpleBridge/simpleBridge-ic_128_0.15_.1.veg",
               f"--fixed {data}/simpleBridge/simpleBridge.bou --surface {data}/simpleBridge/simpleBridge.obj"),
    "bunny": (data / "stanford/bunny_10k.bin.msh", f"{RUBBER} --fixed fixed"),
    "dragon": (data / "stanford/dragon_10k.msh", f"{RUBBER} --fixed fixed"),
    "yeahright": (data / "yeahright/yeahright-on-ground.veg", "--mass lumped"),
}
FRAMES = 17
mesh, options = CASES[sys.argv[4]]
if not mesh.exists():
    print(f"skipped: no mesh {mesh}")
    sys.exit(77)


def run(tool, *words):
    got = subprocess.run([tools / tool, *map(str, words)], capture_output=True, text=True)
    assert got.returncode == 0, (tool, words, got.stderr)
    return got.stdout


def obj_surface(path):
    """Positions and triangles (fans) of an OBJ, in its order."""
    positions, triangles = [], []
    for line in open(path):
        word, *rest = line.split() or [""]
        if word == "v":
            positions.append([float(x) for x in rest[:3]])
        elif word == "f":
            corners = [int(c.split("/")[0]) - 1 for c in rest]
            triangles += [[corners[0], a, b] for a, b in zip(corners[1:], corners[2:])]
    return np.array(positions), np.array(triangles)


def area_normals(x, triangles):
    a, b, c = (x[triangles[:, i]] for i in range(3))
    face = np.cross(b - a, c - a)
    normals = np.zeros_like(x)
    for i in range(3):
        np.add.at(normals, triangles[:, i], face)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0)


with tempfile.TemporaryDirectory() as temporary:
    folder = pathlib.Path(temporary)
    basis, trajectory, out = folder / "basis.h5", folder / "traj.h5", folder / "out"
    run("modalpack", mesh, basis, "--modes", 20, *options.split())
    with h5py.File(basis) as f:
        s = f["shapes/0000"]
        X, order = s["surface/rest_positions"][:], s["surface/user_vertex"][:]
        triangles, triangle_order = s["surface/triangles"][:], s["surface/user_triangle"][:]
        U = s["modes/modal_matrix"][:].transpose(0, 3, 2, 1)
        U = U.reshape(-1, 3, U.shape[3])[:len(X)].astype(np.float64)
    # amplitudes that move every mesh by some per cent of its size, whatever its scale
    size = np.linalg.norm(np.ptp(X, axis=0))
    amplitudes = [0.03 * size / np.abs(U[:, :, k]).max() for k in (0, 1, 5)]
    initial = [w for k, a in zip((0, 1, 5), amplitudes) for w in ("--initial", f"{k}={a!r}")]
    with h5py.File(basis) as f:
        period = 1 / f["shapes/0000/modes/frequencies"][0]
    run("modalsim", basis, trajectory, "--duration", repr(1.0001 * period),
        "--fps", repr((FRAMES - 1) / period), "--damping-ratio", 0.02, *initial)
    run("modaldeform", trajectory, out, "--normals", "dynamic", "--fields", "displacement")
    for path in (basis, trajectory, out / "sequence.vtkhdf", out, out / "manifest.json", out / "sequence.xdmf"):
        run("modalinfo", path, "--check")
        assert json.loads(run("modalinfo", path, "--json"))["type"]

    with h5py.File(trajectory) as f:
        q, times = f["q"][:], f["times"][:]
    user_X, user_U = np.empty_like(X), np.empty_like(U)
    user_X[order], user_U[order] = X, U
    user_triangles = np.empty_like(triangles)
    user_triangles[triangle_order] = order[triangles]
    if "--surface" in options:  # the surface is the user's own, to the last bit
        positions, faces = obj_surface(options.split("--surface ")[1])
        assert np.array_equal(positions, user_X) and np.array_equal(faces, user_triangles)
    assert len(times) == FRAMES and q.shape == (FRAMES, 20)

    moved = normal_error = error = 0.0
    with h5py.File(out / "sequence.vtkhdf") as f:
        root = f["VTKHDF"]
        n = int(root["NumberOfPoints"][0])
        assert n == len(X) and np.array_equal(root["Steps/Values"][:], times)
        assert np.array_equal(root["Polygons/Connectivity"][:].reshape(-1, 3), user_triangles)
        for i in range(FRAMES):
            rows = slice(i * n, (i + 1) * n)
            u = user_U @ q[i]
            points = root["Points"][rows].astype(np.float64)
            error = max(error, np.abs(points - (user_X + u)).max(),
                        np.abs(root["PointData/displacement"][rows] - u).max())
            moved = max(moved, np.abs(u).max())
            # Normals of the written points: of the deformed surface; slivers amplify rounding, so the
            # largest one per cent is judged more mildly
            difference = np.linalg.norm(root["PointData/Normals"][rows] - area_normals(points, user_triangles),
                                        axis=1)
            assert np.isfinite(difference).all()
            normal_error = max(normal_error, np.quantile(difference, 0.99))
    def refused(code, message):
        got = subprocess.run([tools / "modalinfo", "--check", out], capture_output=True, text=True)
        assert got.returncode == code and message in got.stdout + got.stderr, got

    manifest = (out / "manifest.json").read_text()
    (out / "manifest.json").write_text(manifest.replace(f'"count": {FRAMES}', '"count": 3'))
    refused(1, f"manifest.json: frames: 3, the sequence has {FRAMES}")
    (out / "manifest.json").write_text(manifest)
    (out / "sequence.xdmf").write_text("")
    refused(1, "sequence.xdmf: 0 bytes, the manifest says")
    (out / "sequence.xdmf").unlink()
    refused(1, "sequence.xdmf: named by the manifest, but not there")
    (out / "manifest.json").write_text(manifest[:-3])
    refused(3, "manifest.json:")
    print(f"{mesh.name}: {n} points, error {error / size:.1e} of the size, moved {moved / size:.2f}, "
          f"normals {normal_error:.1e}")
    assert moved > 0.02 * size
    assert error <= 1e-6 * size, error / size
    assert normal_error <= 1e-5, normal_error
