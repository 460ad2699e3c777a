# SPDX-License-Identifier: Apache-2.0
"""check_multiplets.py MODALPACK: equal and nearly equal eigenvalues come with their whole eigenspaces, from
mesh file to basis file. A free ball has multiplets of 2 l + 1 torsional and as many spheroidal modes, whose
frequencies are roots of closed forms (H. Lamb, "On the vibrations of an elastic sphere", 1882; A. C. Eringen,
E. S. Suhubi, "Elastodynamics" II, 1975); a beam of square section bends in two directions alike."""
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np
from scipy.optimize import brentq
from scipy.special import spherical_jn as j

modalpack = sys.argv[1]
os.chdir(tempfile.mkdtemp(prefix="multiplets-"))
POISSON = 0.25
MATERIAL = ["--young", "2.5", "--poisson", str(POISSON), "--density", "1"]  # G = 1: omega R = eta
CORNERS = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
EDGES = [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7)]
HEXAHEDRON = np.array(CORNERS + [tuple(np.add(CORNERS[a], CORNERS[b]) // 2) for a, b in EDGES])


def hexahedra(cells):
    """Elements of 20 nodes: places on a grid of half cells, and elements."""
    first = 2 * np.array(list(np.ndindex(*cells)))
    places, elements = np.unique((first[:, None] + HEXAHEDRON).reshape(-1, 3), axis=0, return_inverse=True)
    return places, elements.reshape(-1, 20)


def solve(points, elements, n_modes, *words):
    """Eigenvalues, and modes [n, nodes, 3]. The Sturm count says that they are the lowest."""
    pathlib.Path("solid.msh").write_text(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n%s\n$EndNodes\n$Elements\n%d\n%s\n$EndElements\n" % (
            len(points), "\n".join("%d %r %r %r" % (i + 1, *p) for i, p in enumerate(points.tolist())),
            len(elements), "\n".join("%d 17 2 1 1 " % (i + 1) + " ".join(map(str, e))
                                     for i, e in enumerate((elements + 1).tolist()))))
    got = subprocess.run([modalpack, "solid.msh", "b.h5", *MATERIAL, "-m", str(n_modes), "--sturm", "-f",
                          "--volume-modes", "float64", *words],
                         capture_output=True, text=True)
    assert got.returncode == 0, got
    with h5py.File("b.h5") as f:
        shape = f["shapes/0000"]
        assert np.array_equal(shape["volume/nodes"][:], points)
        count = shape["modes/sturm_count"][:]
        assert count[1] == count[2] >= n_modes, count
        return shape["modes/eigenvalues"][:], shape["volume/volume_modes"][:]  # float64


def outside(fields, space):
    """The largest part of a field that is not in the span of `space`, in the norm of all nodes."""
    q = np.linalg.qr(space.reshape(len(space), -1).T)[0]
    x = fields.reshape(len(fields), -1).T
    return (np.linalg.norm(x - q @ (q.T @ x), axis=0) / np.linalg.norm(x, axis=0)).max()


def turned(modes, places, axes, signs):
    """The modes after a rotation that maps the grid of nodes to itself: x -> signs * x[axes]."""
    middle = places.max(0) / 2
    image = np.rint(signs * (places - middle)[:, axes] + middle).astype(int)
    order = {tuple(p): k for k, p in enumerate(places)}
    out = np.empty_like(modes)
    out[:, [order[tuple(p)] for p in image]] = signs * modes[:, :, axes]
    return out


def clusters(eigenvalues, gap):
    """Where the eigenvalues are cut: ranges within which each follows the last by less than the gap."""
    cuts = [0, *(np.flatnonzero(eigenvalues[1:] > (1 + gap) * eigenvalues[:-1]) + 1), len(eigenvalues)]
    return [slice(a, b) for a, b in zip(cuts[:-1], cuts[1:])]


def roots(equation):
    grid = np.linspace(0.5, 6, 400)
    values = np.array([equation(x) for x in grid])
    return [brentq(equation, grid[k], grid[k + 1], xtol=1e-14) for k in np.flatnonzero(values[1:] * values[:-1] < 0)]


def torsional(l):
    return lambda eta: (l - 1) * j(l, eta) - eta * j(l + 1, eta)


def spheroidal(l):
    slow = np.sqrt((1 - 2 * POISSON) / (2 - 2 * POISSON))  # shear wave beside pressure wave

    def determinant(eta):
        xi = slow * eta
        radial = (l * l - l - eta**2 / 2) * j(l, xi) + 2 * xi * j(l + 1, xi)
        if l == 0:
            return radial
        return (radial * ((l * l - 1 - eta**2 / 2) * j(l, eta) + eta * j(l + 1, eta)) -
                l * (l + 1) * ((l - 1) * j(l, eta) - eta * j(l + 1, eta)) * ((l - 1) * j(l, xi) - xi * j(l + 1, xi)))
    return determinant


# the ball: a cube on which P. Nowell's map is the ball's surface, and the cube itself in the middle
places, elements = hexahedra((4, 4, 4))
cube = places / 4 - 1
square = cube**2
inside = np.prod(1 - square, axis=1)[:, None]
a, b = square[:, [1, 2, 0]], square[:, [2, 0, 1]]
points = cube * (0.6 * inside + (1 - inside) * np.sqrt(1 - a / 2 - b / 2 + a * b / 3))
exact = sorted((eta, l, kind) for l in range(0, 5) for kind, equation in (("T", torsional(l)), ("S", spheroidal(l)))
               if (l > 1 or kind == "S") for eta in roots(equation))
assert [(l, kind) for _, l, kind in exact[:5]] == [(2, "T"), (2, "S"), (1, "S"), (3, "T"), (3, "S")], exact[:5]
assert abs(exact[0][0] - 2.501133) < 1e-5 and abs(exact[1][0] - 2.640) < 1e-3, exact[:2]
n_modes = sum(2 * l + 1 for _, l, _ in exact[:5])
eigenvalues, modes = solve(points, elements, n_modes)
first = 0
for eta, l, kind in exact[:3]:
    of_it = slice(first, first + 2 * l + 1)
    error = np.sqrt(eigenvalues[of_it]) / eta - 1
    assert np.abs(error).max() < 6e-3 and error.min() > -1e-3, (l, kind, error)
    first += 2 * l + 1
assert eigenvalues[5] > 1.05 * eigenvalues[4] and eigenvalues[10] > 1.5 * eigenvalues[9], eigenvalues
assert eigenvalues[13] > 1.1 * eigenvalues[12], eigenvalues
error = np.sqrt(eigenvalues[first:]) / np.repeat([exact[3][0], exact[4][0]], 7) - 1  # two of seven, interleaved
assert np.abs(error).max() < 0.02, error

# all five torsional fields j_2(eta r) / r^2 grad H x x of the harmonic polynomials H of degree 2
x, y, z = points.T
zero = np.zeros_like(x)
gradients = [(y, x, zero), (zero, z, y), (z, zero, x), (2 * x, -2 * y, zero), (-2 * x, -2 * y, 4 * z)]
r = np.linalg.norm(points, axis=1)
profile = j(2, exact[0][0] * r) / np.maximum(r, 1e-9)**2
fields = np.array([profile[:, None] * np.cross(np.stack(g, 1), points) for g in gradients])
assert outside(fields, modes[:5]) < 0.02, outside(fields, modes[:5])
assert outside(fields, modes[5:10]) > 0.99 and outside(fields, modes[:4]) > 0.3  # a test that can fail

# the mesh has the rotations of a cube: what it has of equal modes stays in the space that they span
sizes = []
for group in clusters(eigenvalues, 1e-7):
    if group.stop == n_modes:
        continue  # may go on beyond the last mode
    sizes.append(group.stop - group.start)
    for axes, signs in (([1, 0, 2], [-1, 1, 1]), ([0, 2, 1], [1, -1, 1])):
        assert outside(turned(modes[group], places, axes, np.array(signs)), modes[group]) < 1e-5, group
assert sorted(set(sizes)) == [1, 2, 3] and sizes[:4] in ([2, 3, 2, 3], [3, 2, 2, 3], [2, 3, 3, 2], [3, 2, 3, 2]), sizes

# a square beam of hexahedra: bending comes in pairs, equal but for rounding
places, elements = hexahedra((6, 2, 2))
points = places * [0.5, 0.25, 0.25]
held = ["--fixed", "plane:0,0,0:-1,0,0"]
eigenvalues, modes = solve(points, elements, 8, *held)
pairs = [g for g in clusters(eigenvalues, 1e-7) if g.stop - g.start == 2]
assert len(pairs) >= 2 and pairs[0].start == 0, eigenvalues
for pair in pairs:
    assert outside(turned(modes[pair], places, [0, 2, 1], np.array([1, -1, 1])), modes[pair]) < 1e-5
    assert outside(modes[pair][:1], modes[pair][1:]) > 0.99

# a hair's breadth from square: nearly equal; at the tip the two move across each other, and as far
eigenvalues, modes = solve(points * [1, 1, 1 + 3e-8], elements, 8, *held)
gap = eigenvalues[1] / eigenvalues[0] - 1
assert 1e-9 < gap < 1e-6 and eigenvalues[2] > 2 * eigenvalues[1], (gap, eigenvalues)
tip = modes[:2, places[:, 0] == 12, 1:].mean(axis=1)
assert np.linalg.cond(tip) < 1.05, tip
print("check_multiplets: a ball's %s, beams" % "".join(f"{kind}{l} " for _, l, kind in exact[:5]))
