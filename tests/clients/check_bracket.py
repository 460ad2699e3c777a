# SPDX-License-Identifier: Apache-2.0
"""bracket.inp in mm, N, t, MPa, held by *BOUNDARY, through modalpack --unit mm and through CalculiX: ten frequencies to 1e-5
for C3D8 and C3D20. CalculiX integrates the mass of C3D10 at four points, which is too few for it; there an assembly here with
that mass is compared with CalculiX, and the same assembly with the exact mass with modalpack. Exit 77 where ccx is absent.
usage: check_bracket.py MODALPACK"""
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import scipy.sparse
import scipy.sparse.linalg

modalpack = os.path.abspath(sys.argv[1])
N_MODES = 10
YOUNG, NU, DENSITY = 2.1e5, 0.3, 7.85e-9  # MPa, t/mm^3
EDGES = {"C3D10": [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
         "C3D20": [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]}
HEX = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
CELL = (6.0, 10.0, 6.0)  # mm


def corners(kind, cell):
    """Corners of the elements of a cell, on a grid twice as fine as the cells."""
    at = [tuple(2 * c + p for c, p in zip(cell, point)) for point in HEX]
    if kind != "C3D10":
        return [at]
    found = []
    for t, path in enumerate(((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))):
        here, tet = list(at[0]), [at[0]]
        for axis in path:
            here[axis] += 2
            tet.append(tuple(here))
        found.append(tet if t < 3 else [tet[0], tet[1], tet[3], tet[2]])
    return found


def write_bracket(kind):
    """A foot of 60 x 40 x 12 mm and a wall of 12 x 40 x 48 mm. The foot's far end is clamped as a set, and the edge below
    the wall is held across, node by node."""
    cells = [c for c in itertools.product(range(10), range(4), range(8)) if c[2] < 2 or c[0] < 2]
    numbers, elements = {}, []
    number = lambda point: numbers.setdefault(point, len(numbers) + 1)
    for cell in cells:
        for part in corners(kind, cell):
            nodes = [number(p) for p in part]
            nodes += [number(tuple((a + b) // 2 for a, b in zip(part[i], part[j]))) for i, j in EDGES.get(kind, [])]
            elements.append(nodes)
    place = [[s * p / 2 for s, p in zip(CELL, point)] for point in numbers]
    lines = ["** a bracket in mm, N, t, MPa", "*NODE, NSET=NALL"]
    lines += [f"{n}, " + ", ".join(map(repr, x)) for n, x in enumerate(place, 1)]
    lines.append(f"*ELEMENT, TYPE={kind}, ELSET=BODY")
    for e, nodes in enumerate(elements, 1):
        words = [str(e), *map(str, nodes)]
        lines += [", ".join(words[i:i + 11]) + ("," if i + 11 < len(words) else "") for i in range(0, len(words), 11)]
    clamped = [n for p, n in numbers.items() if p[0] == 20]
    across = [n for p, n in numbers.items() if p[0] == 0 and p[2] == 0]
    lines.append("*NSET, NSET=FOOT")
    lines += [", ".join(map(str, clamped[i:i + 8])) for i in range(0, len(clamped), 8)]
    lines += ["*MATERIAL, NAME=STEEL", "*ELASTIC", f"{YOUNG}, {NU}", "*DENSITY", f"{DENSITY}",
              "*SOLID SECTION, ELSET=BODY, MATERIAL=STEEL", "*BOUNDARY", "FOOT, 1, 3"]
    lines += [f"{n}, 2, 2, 0." for n in across]
    lines += ["*STEP", "*FREQUENCY", str(N_MODES), "*END STEP", ""]
    pathlib.Path("bracket.inp").write_text("\n".join(lines))
    held = {3 * (n - 1) + k for n in clamped for k in range(3)} | {3 * (n - 1) + 1 for n in across}
    return np.array(place), np.array(elements) - 1, held, len(clamped), len(across)


def theirs():
    got = subprocess.run(["ccx", "bracket"], capture_output=True, text=True)
    lines = pathlib.Path("bracket.dat").read_text().split("\n")
    start = next(i for i, line in enumerate(lines) if "E I G E N V A L U E" in line)
    rows = [line.split() for line in lines[start + 1:start + 9 + N_MODES]]
    values = [float(row[1]) for row in rows if len(row) == 5 and row[0].isdigit()]
    assert len(values) == N_MODES, got.stdout[-500:]
    return np.sqrt(values) / (2 * np.pi)


def ours(*options):
    got = subprocess.run([modalpack, "bracket.inp", "b.h5", "-f", "--unit", "mm", "--modes", str(N_MODES), *options],
                         capture_output=True, text=True)
    assert got.returncode == 0, got.stderr
    with h5py.File("b.h5") as f:
        return f["shapes/0000/modes/frequencies"][:], got.stderr


def shapes(points):
    """Values [q, 10] and derivatives [q, 10, 3] of the quadratic tetrahedron at points of its three coordinates."""
    L = np.column_stack([1 - points.sum(axis=1), points])
    dL = np.array([[-1, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    values = [L[:, i] * (2 * L[:, i] - 1) for i in range(4)]
    slopes = [(4 * L[:, i] - 1)[:, None] * dL[i] for i in range(4)]
    for i, j in EDGES["C3D10"]:
        values.append(4 * L[:, i] * L[:, j])
        slopes.append(4 * (L[:, i, None] * dL[j] + L[:, j, None] * dL[i]))
    return np.stack(values, axis=1), np.stack(slopes, axis=1)


def four_points():
    a, b = (5 + 3 * 5**0.5) / 20, (5 - 5**0.5) / 20
    return np.array([[b, b, b], [a, b, b], [b, a, b], [b, b, a]]), np.full(4, 1 / 24)


def many_points(n=5):
    """Gauss's points in a cube, pressed into the tetrahedron: exact far beyond what straight elements need."""
    x, w = np.polynomial.legendre.leggauss(n)
    x, w = (x + 1) / 2, w / 2
    u, v, s = (a.ravel() for a in np.meshgrid(x, x, x, indexing="ij"))
    weight = np.einsum("i,j,k->ijk", w, w, w).ravel() * (1 - u)**2 * (1 - v)
    return np.column_stack([u, (1 - u) * v, (1 - u) * (1 - v) * s]), weight


def assembled(nodes, elements, held, mass_rule):
    lame, shear = YOUNG * NU / ((1 + NU) * (1 - 2 * NU)), YOUNG / (2 * (1 + NU))
    elastic = np.diag([2 * shear] * 3 + [shear] * 3)
    elastic[:3, :3] += lame
    K, M = np.zeros((len(elements), 30, 30)), np.zeros((len(elements), 30, 30))
    points, weights = four_points()
    for derivative, weight in zip(shapes(points)[1], weights):
        J = np.einsum("eni,nj->eij", nodes[elements], derivative)
        D = np.einsum("nj,eji->eni", derivative, np.linalg.inv(J))
        B = np.zeros((len(elements), 6, 10, 3))
        for k in range(3):
            B[:, k, :, k] = D[:, :, k]
        for row, (i, j) in enumerate(((0, 1), (1, 2), (2, 0)), 3):
            B[:, row, :, i], B[:, row, :, j] = D[:, :, j], D[:, :, i]
        B = B.reshape(len(elements), 6, 30)
        K += np.einsum("e,eai,ab,ebj->eij", weight * np.linalg.det(J), B, elastic, B, optimize=True)
    points, weights = mass_rule
    for value, derivative, weight in zip(*shapes(points), weights):
        J = np.einsum("eni,nj->eij", nodes[elements], derivative)
        M += (DENSITY * weight * np.linalg.det(J))[:, None, None] * np.kron(np.outer(value, value), np.eye(3))
    dofs = (3 * elements[:, :, None] + np.arange(3)).reshape(len(elements), 30)
    rows, columns = np.repeat(dofs, 30, axis=1).ravel(), np.tile(dofs, (1, 30)).ravel()
    n = 3 * len(nodes)
    free = np.setdiff1d(np.arange(n), sorted(held))
    K, M = (scipy.sparse.csc_matrix((a.ravel(), (rows, columns)), shape=(n, n))[free][:, free] for a in (K, M))
    found = scipy.sparse.linalg.eigsh(K, N_MODES, M, sigma=0, which="LM", return_eigenvectors=False)
    return np.sqrt(np.sort(found)) / (2 * np.pi)


def worst(a, b):
    return np.max(np.abs(np.asarray(a) / np.asarray(b) - 1))


if not shutil.which("ccx"):
    print("SKIPPED: no ccx (CalculiX)")
    sys.exit(77)
os.chdir(tempfile.mkdtemp(prefix="bracket-"))
for kind in ("C3D8", "C3D20", "C3D10"):
    nodes, elements, held, n_clamped, n_across = write_bracket(kind)
    reference = theirs()
    found, said = ours()
    assert f"*BOUNDARY holds FOOT in xyz, {n_clamped} nodes" in said, said
    assert f"*BOUNDARY holds nodes by number in y, {n_across} nodes" in said, said
    if kind == "C3D10":
        print(kind, "four-point mass here and CalculiX:", worst(assembled(nodes, elements, held, four_points()), reference))
        print(kind, "exact mass here and modalpack:", worst(assembled(nodes, elements, held, many_points()), found))
        print(kind, "modalpack and CalculiX, by the mass alone:", worst(found, reference))
        assert worst(assembled(nodes, elements, held, four_points()), reference) <= 1e-5
        assert worst(assembled(nodes, elements, held, many_points()), found) <= 1e-5
    else:
        print(kind, "modalpack and CalculiX:", worst(found, reference))
        assert worst(found, reference) <= 1e-5, (kind, found, reference)
    # the same without the file's conditions is another body
    free, said = ours("--free")
    assert "*BOUNDARY of FOOT in xyz is ignored (--free)" in said and worst(free, reference) > 0.1, said
    other, said = ours("--fixed", "FOOT")
    assert "*BOUNDARY of FOOT in xyz is replaced by --fixed" in said and 1e-4 < worst(other, reference) < 1, (said, other)
    assert not np.any(np.isnan(np.concatenate([found, free, other])))
