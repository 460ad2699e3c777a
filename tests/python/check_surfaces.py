# SPDX-License-Identifier: Apache-2.0
"""modalpack --surface: vertices inside have the exact value of every mode, by the element's own shape functions (numpy,
from their definition), in curved elements, too; outside, linear fields stay exact; one answer for any number of threads.
usage: check_surfaces.py BIN_FOLDER"""
import pathlib
import sys
import tempfile

import h5py
import numpy as np

from basis_file import modal_matrix, node_modes
from stvk_solid import REFERENCE, SIMPLEX, Tools, shape_values, write_inp

run = Tools(sys.argv[1], exact=True)
NAMES = ("C3D4", "C3D10", "C3D8", "C3D20")
SIZE = (1.0, 0.3, 0.2)
MATERIAL = ["--young", "2e9", "--poisson", "0.3", "--density", "1200"]


def bow(x):
    """The box as a bent and twisted bar: no face stays flat; the face x = 0 stays where it is."""
    angle = 0.6 * x[0]
    y, z = x[1] - 0.15, x[2] - 0.1
    return np.array([x[0] + 0.5 * z * x[0], np.cos(angle) * y - np.sin(angle) * z, np.sin(angle) * y + np.cos(angle) * z - 0.3 * x[0]**2])


def places(kind, random, n):
    """Reference points inside, on faces, on edges and at nodes, and their kind (0 .. 3)."""
    nodes = REFERENCE[kind][0]
    where = np.arange(n) % 4
    if kind > 1:
        at = random.uniform(-1, 1, (n, 3))
        for i in np.flatnonzero((where == 1) | (where == 2)):
            at[i, random.permutation(3)[:where[i]]] = random.choice([-1, 1], where[i])
    else:
        weights = random.dirichlet(np.ones(4), n)
        for i in np.flatnonzero((where == 1) | (where == 2)):
            weights[i, random.permutation(4)[:where[i]]] = 0
        at = weights / weights.sum(axis=1, keepdims=True) @ SIMPLEX
    at[where == 3] = nodes[random.integers(len(nodes), size=(where == 3).sum())]
    return at, where


def write_strip(path, points):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines("v " + " ".join(map(repr, map(float, p))) + "\n" for p in points)
        file.writelines(f"f {i} {i + 1} {i + 2}\n" for i in range(1, len(points) - 1))


def embedded(shape):
    """Values at the vertices, in the user's order, of a field [N, ...] at the nodes."""
    volume, order = shape["volume"], shape["surface/user_vertex"][:]
    offsets, nodes, weights = (volume[f"embedding_{name}"][:] for name in ("offsets", "nodes", "weights"))
    rows = np.repeat(np.arange(len(order)), np.diff(offsets))

    def carry(field):
        out = np.zeros((len(order), *field.shape[1:]))
        np.add.at(out, order[rows], weights.reshape(-1, *[1] * (field.ndim - 1)) * field[nodes])
        return out
    return carry, np.diff(offsets)


def check_kind(folder, kind):
    random = np.random.default_rng(kind)
    mesh, surface, path = folder / "bar.inp", folder / "strip.obj", folder / "b.h5"
    write_inp(mesh, kind, (4, 2, 2) if kind else (5, 3, 3), SIZE, bow)
    run("modalpack", mesh, path, *MATERIAL, "--fixed", "root", "--modes", 3, "-f", "-q")
    with h5py.File(path) as file:
        volume = file["shapes/0000/volume"]
        nodes, elements = volume["nodes"][:], volume["element_nodes"][:].reshape(-1, len(REFERENCE[kind][0]))
    at, where = places(kind, random, 1200)
    values = shape_values(kind, at)
    elements = elements[random.integers(len(elements), size=len(at))]
    inside = np.einsum("va,vak->vk", values, nodes[elements])
    outside = inside[where == 1][:200] + random.normal(size=(200, 3))
    write_strip(surface, np.concatenate([inside, outside]))
    found = []
    for threads in (1, 2):
        run("modalpack", mesh, path, *MATERIAL, "--fixed", "root", "--modes", 12, "--surface", surface, "-f", "-q", "-j", threads)
        assert run("modalinfo", "--check", path).stdout.endswith("valid basis\n")
        with h5py.File(path) as file:
            found.append((file.attrs["content_hash"], file["shapes/0000/volume/embedding_weights"][:].tobytes()))
    assert found[0] == found[1]
    with h5py.File(path) as file:
        shape = file["shapes/0000"]
        order, nodes = shape["surface/user_vertex"][:], shape["volume/nodes"][:]
        phi = node_modes(shape).transpose(1, 2, 0)
        u = np.empty((len(order), *phi.shape[1:]))
        u[order] = modal_matrix(shape)
        carry, widths = embedded(shape)
        farthest = shape["volume"].attrs["farthest_outside"]
    exact = np.einsum("va,vakr->vkr", values, phi[elements])
    largest = np.abs(phi).max(axis=(0, 1))
    error = np.abs(u[:len(exact)] - exact).max(axis=(0, 1)) / largest
    print(f"{NAMES[kind]}: modes at {len(exact)} vertices inside are off by {error.max():.2g} of their largest displacement")
    assert error.max() < 1e-7, NAMES[kind]  # U is in float32
    assert np.all(widths == len(REFERENCE[kind][0]))
    assert (np.abs(carry(phi)[:len(exact)] - exact) / largest).max() < 1e-12
    # everywhere: places, and so every linear field and every rigid motion
    there = np.concatenate([inside, outside])
    distance = np.linalg.norm(outside[:, None] - nodes, axis=2).min(axis=1)
    assert np.abs(carry(nodes) - there).max() < 1e-12 and np.abs(carry(np.ones(len(nodes))) - 1).max() < 1e-12
    assert 0 < farthest <= distance.max()


def check_refused(folder):
    mesh, surface, path = folder / "bar.inp", folder / "strip.obj", folder / "b.h5"
    for word, says in (("nan", "strip.obj"), ("inf", "strip.obj"), ("1e300", "strip.obj: vertex 2: too far from the solid")):
        surface.write_text(f"v 0 0 0\nv 0.1 0 0\nv 0 {word} 0\nf 1 2 3\n", encoding="utf-8")
        path.unlink(missing_ok=True)
        got = run("modalpack", mesh, path, *MATERIAL, "--fixed", "root", "--surface", surface, "-q", code=3)
        assert says in got.stderr and len(got.stderr.splitlines()) == 1 and not path.exists(), got


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        for element in range(4):
            check_kind(pathlib.Path(scratch), element)
        check_refused(pathlib.Path(scratch))
