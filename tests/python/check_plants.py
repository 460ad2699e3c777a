# SPDX-License-Identifier: Apache-2.0
"""The plants of data/plant.py: their numbers, the same bytes for a seed, and that they move in the wind.
usage: check_plants.py BIN_FOLDER SOURCE_FOLDER"""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

tools, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
spec = importlib.util.spec_from_file_location("plant", source / "data/plant.py")
plant = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plant)


def grow(kind, folder, seed):
    got = subprocess.run([sys.executable, source / "data/plant.py", kind, folder, "--tools", tools, "--seed",
                          str(seed), "--duration", "0.3"], capture_output=True, text=True)
    assert got.returncode == 0, got
    return {name: (pathlib.Path(folder) / name).read_bytes() for name in ("places.csv", "scene.json", "trunk.msh",
                                                                           "twig.msh", "leaf.msh")}


# every kind's sums, without packing it
for kind, (objects, vertices, modes, _) in plant.KINDS.items():
    shapes, branches = plant.shapes_of(objects, vertices, modes)
    generator = plant.random.Random(5)
    grown = plant.grow(shapes, objects, branches, generator, [0.0, 0.0, 0.0])
    assert all(plant.stalk_choices(s[1]) for s in shapes), kind
    count = [sum(o[0] == s for o in grown) for s in range(4)]
    assert len(grown) == objects and min(count) > 0, (kind, count)
    assert sum(n * s[1] for n, s in zip(count, shapes)) == vertices, kind
    assert sum(n * s[2] for n, s in zip(count, shapes)) == modes, kind
    for shape, parent, at, matrix in grown:
        r = np.array(matrix)
        assert np.abs(r @ r.T - np.eye(3)).max() < 1e-12 and np.linalg.det(r) > 0
        v = np.array(plant.vector_of(matrix))
        a = np.linalg.norm(v)
        k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]]) / a
        assert np.abs(np.eye(3) + np.sin(a) * k + (1 - np.cos(a)) * k @ k - r).max() < 1e-9, (kind, matrix)
assert sum(k[0] * k[3] for n, k in plant.KINDS.items() if n == "forest") == 6440

with tempfile.TemporaryDirectory() as folder:
    one, two, three = f"{folder}/1", f"{folder}/2", f"{folder}/3"
    first = grow("conifer", one, 1)
    assert first == grow("conifer", two, 1)
    assert first["places.csv"] != grow("conifer", three, 2)["places.csv"]
    with h5py.File(f"{one}/plant.h5") as f:
        shape, parent = f["objects/shape"][:], f["objects/parent"][:]
        vertices = [len(f[f"shapes/{i:04}/surface/rest_positions"]) for i in range(4)]
        modes = [len(f[f"shapes/{i:04}/modes/eigenvalues"]) for i in range(4)]
        assert all(f"shapes/{i:04}/reduced_forces/cubic" in f for i in range(4))
    assert len(shape) == 43 and (parent < 0).sum() == 1 and parent.max() < 42
    assert sum(vertices[s] for s in shape) == 7543 and sum(modes[s] for s in shape) == 360
    for name, seed in ((one, 1), (two, 1), (three, 2)):
        got = subprocess.run([tools / "modalsim", f"{name}/plant.h5", f"{name}/t.h5", "--scene", f"{name}/scene.json",
                              "-j", "1", "-q"], capture_output=True, text=True)
        assert got.returncode == 0, got
    trajectories = []
    for name in (one, two, three):
        with h5py.File(f"{name}/t.h5") as f:
            trajectories.append((f["q"][:].tobytes(), f["frames"][:]))
    assert trajectories[0][0] == trajectories[1][0] != trajectories[2][0]
    moved = np.abs(trajectories[0][1][-1, :, :, 3] - trajectories[0][1][0, :, :, 3]).max()
    assert 1e-3 < moved < 1, moved
print("plants grow and move")
