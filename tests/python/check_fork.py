# SPDX-License-Identifier: Apache-2.0
"""The tuning fork of data/ sounds A4: an independent linear-tetrahedra analysis (consistent mass,
stem end fixed) finds the in-plane mode of the prongs by its shape within 1 % of 440 Hz. With a basis
that modalpack made of the same mesh and material, its frequencies are compared, too.

usage: check_fork.py [MESH] [--basis BASIS.h5 [--dataset PATH] [--tolerance 1e-6]]
"""
import argparse
import pathlib
import struct
import sys

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

YOUNG, POISSON, DENSITY = 2.06e11, 0.29, 7850.0
NODES_OF_TYPE = {1: 2, 2: 3, 4: 4, 15: 1}


def read_msh(path):
    """Positions, tetrahedra and the nodes of each named surface of a binary .msh 4.1."""
    data = pathlib.Path(path).read_bytes()

    def section(name):
        start = data.index(f"${name}\n".encode()) + len(name) + 2
        return start, data.index(f"\n$End{name}".encode(), start)

    def take(form):
        nonlocal at
        values = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return values

    at, end = section("MeshFormat")
    assert data[at:end].split()[:3] == [b"4.1", b"1", b"8"], f"{path}: not a binary .msh 4.1"
    at, end = section("PhysicalNames")
    names = {}
    for line in data[at:end].decode().splitlines()[1:]:
        dimension, tag, name = line.split(maxsplit=2)
        names[int(dimension), int(tag)] = name.strip('"')

    at, _ = section("Entities")
    groups = {}
    counts = take("4Q")
    for dimension, count in enumerate(counts):
        for _ in range(count):
            (tag,) = take("i")
            take("3d" if dimension == 0 else "6d")
            groups[dimension, tag] = take(f"{take('Q')[0]}i")
            if dimension:
                take(f"{take('Q')[0]}i")

    at, _ = section("Nodes")
    n_blocks, n_nodes, _, largest = take("4Q")
    positions, index = [], np.full(largest + 1, -1)
    for _ in range(n_blocks):
        _, _, parametric, count = take("3iQ")
        assert parametric == 0
        index[np.frombuffer(data, "<u8", count, at).astype(int)] = sum(map(len, positions)) + np.arange(count)
        at += 8 * count
        positions.append(np.frombuffer(data, "<f8", 3 * count, at).reshape(-1, 3))
        at += 24 * count
    positions = np.concatenate(positions)
    assert len(positions) == n_nodes

    at, _ = section("Elements")
    n_blocks = take("4Q")[0]
    tetrahedra, surfaces = [], {}
    for _ in range(n_blocks):
        dimension, entity, kind, count = take("3iQ")
        width = 1 + NODES_OF_TYPE[kind]
        rows = index[np.frombuffer(data, "<u8", width * count, at).reshape(-1, width)[:, 1:].astype(int)]
        at += 8 * width * count
        if kind == 4:
            tetrahedra.append(rows)
        for group in groups[dimension, entity]:
            if kind == 2:
                surfaces.setdefault(names[2, group], []).append(rows.ravel())
    return positions, np.concatenate(tetrahedra), {k: np.unique(np.concatenate(v)) for k, v in surfaces.items()}


def assemble(positions, tetrahedra):
    """Stiffness and consistent mass, both [3 n_nodes, 3 n_nodes], and the volumes."""
    n, edges = len(positions), positions[tetrahedra[:, 1:]] - positions[tetrahedra[:, :1]]
    volumes = np.linalg.det(edges) / 6
    assert np.all(volumes > 0), "a tetrahedron without volume, or turned inside out"
    gradients = np.linalg.inv(edges).transpose(0, 2, 1)
    gradients = np.concatenate([-gradients.sum(1, keepdims=True), gradients], 1)
    lame = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
    shear = YOUNG / (2 * (1 + POISSON))
    blocks = (lame * np.einsum("tai,tbj->taibj", gradients, gradients)
              + shear * np.einsum("taj,tbi->taibj", gradients, gradients)
              + shear * np.einsum("tak,tbk,ij->taibj", gradients, gradients, np.eye(3)))
    blocks *= volumes[:, None, None, None, None]
    unknowns = (3 * tetrahedra[:, :, None] + np.arange(3)).reshape(-1, 12)
    stiffness = sparse.csc_matrix((blocks.ravel(), (np.repeat(unknowns, 12, 1).ravel(),
                                                    np.tile(unknowns, 12).ravel())), (3 * n, 3 * n))
    masses = DENSITY * volumes[:, None, None] / 20 * (1 + np.eye(4))
    mass = sparse.csc_matrix((masses.ravel(), (np.repeat(tetrahedra, 4, 1).ravel(),
                                               np.tile(tetrahedra, 4).ravel())), (n, n))
    return stiffness, sparse.kron(mass, sparse.identity(3)).tocsc(), volumes


def solve(positions, tetrahedra, fixed, n_modes):
    """Frequencies in Hz, [n_modes], and shapes, [n_nodes, 3, n_modes], phi^T M phi = 1."""
    stiffness, mass, _ = assemble(positions, tetrahedra)
    free = np.ones(len(positions), bool)
    free[fixed] = False
    free = np.flatnonzero(np.repeat(free, 3))
    stiffness, mass = stiffness[free][:, free].tocsc(), mass[free][:, free].tocsc()
    factor = linalg.splu(stiffness, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                         options={"SymmetricMode": True})
    values, vectors = linalg.eigsh(stiffness, n_modes, mass, sigma=0.0, tol=1e-12,
                                   OPinv=linalg.LinearOperator(stiffness.shape, factor.solve))
    order = np.argsort(values)
    shapes = np.zeros((3 * len(positions), n_modes))
    shapes[free] = vectors[:, order]
    return np.sqrt(values[order]) / (2 * np.pi), shapes.reshape(-1, 3, n_modes)


def prong_modes(shapes, surfaces):
    """Modes that move the tips against each other along x, the line that joins them."""
    right = shapes[surfaces["prong_right_tip"]].mean(0)
    left = shapes[surfaces["prong_left_tip"]].mean(0)
    largest = np.maximum(np.abs(right).max(0), np.abs(left).max(0))
    opposed = np.abs(right[0] + left[0]) < 0.05 * np.abs(right[0] - left[0])
    along_x = np.minimum(np.abs(right[0]), np.abs(left[0])) > 0.95 * largest
    in_plane = np.maximum(np.abs(right[2]), np.abs(left[2])) < 0.1 * largest
    return np.flatnonzero(opposed & along_x & in_plane)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("usage:")[0])
    parser.add_argument("mesh", nargs="?",
                        default=pathlib.Path(__file__).resolve().parents[2] / "data" / "tuning_fork.msh")
    parser.add_argument("--basis", help="made by modalpack of the same mesh, stem_end fixed")
    parser.add_argument("--dataset", default="/shapes/0000/modes/frequencies")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="relative, of a frequency of the basis")
    parser.add_argument("--modes", type=int, default=20)
    parsed = parser.parse_args()

    positions, tetrahedra, surfaces = read_msh(parsed.mesh)
    assert {"stem_end", "prong_right_tip", "prong_left_tip"} <= set(surfaces), sorted(surfaces)
    stored = None
    if parsed.basis:
        import h5py
        with h5py.File(parsed.basis, "r") as file:
            stored = file[parsed.dataset][:]
        assert stored.ndim == 1 and len(stored) > 0, f"{parsed.dataset}: shape {stored.shape}"
    n_modes = max(parsed.modes, 0 if stored is None else len(stored))
    frequencies, shapes = solve(positions, tetrahedra, surfaces["stem_end"], n_modes)

    # The first such mode is the fundamental; a higher one bends the prongs with a node.
    found = prong_modes(shapes, surfaces)
    assert len(found) > 0, "no mode moves the prongs against each other in the plane"
    mode = found[0]
    print(f"{len(positions)} nodes, {len(tetrahedra)} tetrahedra; in-plane mode of the prongs: "
          f"mode {mode}, {frequencies[mode]:.6f} Hz, {100 * (frequencies[mode] / 440 - 1):+.3f} % off 440 Hz")
    if not abs(frequencies[mode] / 440 - 1) <= 0.01:
        sys.exit("check_fork: more than 1 % off")
    others = np.abs(np.delete(frequencies, mode) - frequencies[mode])
    print(f"nearest other mode: {others.min():.1f} Hz away")
    if not others.min() >= 10:
        sys.exit("check_fork: another mode within 10 Hz")

    if stored is not None:
        error = np.abs(stored / frequencies[:len(stored)] - 1)
        print(f"{parsed.basis}: {len(stored)} frequencies, largest relative difference {error.max():.2e}")
        if not error.max() <= parsed.tolerance:
            sys.exit(f"check_fork: mode {error.argmax()}: basis {stored[error.argmax()]!r} Hz, "
                     f"here {frequencies[error.argmax()]!r} Hz")


main()
