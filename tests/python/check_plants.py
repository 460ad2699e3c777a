# SPDX-License-Identifier: Apache-2.0
"""The plants of data/plant.py: their numbers, the same bytes for a seed, that they move in the wind; a mixture with leaflets that do not deform and
a look.
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
for kind, (objects, vertices, modes, _, *rigid) in plant.KINDS.items():
    shapes, branches = plant.shapes_of(objects, vertices, modes)
    generator = plant.random.Random(5)
    grown = plant.grow(shapes, objects, branches, generator, [0.0, 0.0, 0.0])
    with_rigid = plant.grow(shapes, objects, branches, plant.random.Random(5), [0.0, 0.0, 0.0], 100)
    assert with_rigid[:objects] == grown and [o[0] for o in with_rigid[objects:]] == [plant.LEAFLET] * 100, kind
    assert all(o[1] < objects for o in with_rigid), kind
    assert all(plant.stalk_choices(s[1]) for s in shapes), kind
    count = [sum(o[0] == s for o in grown) for s in range(4)]
    assert len(grown) == objects and min(count[0], count[1], count[3], count[2] or objects < 40) > 0, (kind, count)
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
            trajectories.append((f["q"][:].tobytes(), f["poses"][:]))
    assert trajectories[0][0] == trajectories[1][0] != trajectories[2][0]
    moved = np.abs(trajectories[0][1][-1, :, :, 3] - trajectories[0][1][0, :, :, 3]).max()
    assert 1e-3 < moved < 1, moved
    # table 4.5 of the thesis: objects that deform and all of them
    for kind, all_objects in (("blue-spruce", 219476), ("quercus", 120871), ("weed-willow", 32623), ("fir", 9077)):
        assert plant.KINDS[kind][0] + plant.KINDS[kind][4] == all_objects, kind
    mixed = pathlib.Path(folder) / "mixed"
    words = ("forest", mixed, "--tools", tools, "--kinds", "bush,conifer", "--plants", "3", "--rigid", "15", "--look", "--linear", "--duration", "0.1")
    got = subprocess.run([sys.executable, source / "data/plant.py", *words], capture_output=True, text=True)
    assert got.returncode == 0 and f"{2 * 60 + 43 + 45} objects" in got.stdout, got
    run = lambda tool, *words: subprocess.run([tools / tool, *words], capture_output=True, text=True, cwd=mixed)
    for tool, *words in (("modalsim", "plant.h5", "t.h5", "--scene", "scene.json", "-q"), ("modalinfo", "plant.h5", "--check"),
                         ("modaltex", "pack", "look.json", "textures.h5"), ("modalinfo", "textures.h5", "--check"),
                         ("modaldeform", "t.h5", "o", "--format", "glb,obj", "--look", "look.json", "--crease", "60")):
        got = run(tool, *words)
        assert got.returncode == 0, got
    with h5py.File(mixed / "t.h5") as f, h5py.File(mixed / "textures.h5") as g:
        assert (np.diff(f["mode_offsets"][:]) == 0).sum() == 45 and np.ptp(f["poses"][:, -1, :, 3], axis=0).max() > 1e-5, "leaflets do not follow"
        leaf = g["classes/0001/level_00"][0]
        assert 0.2 < (leaf[..., 3] > 127).mean() < 0.9 and np.abs(np.linalg.norm(g["classes/0000/level_00"][1][..., :3] / 127.5 - 1, axis=2) - 1).max() < 0.02
print("plants grow and move")
