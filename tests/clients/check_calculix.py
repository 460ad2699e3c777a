# SPDX-License-Identifier: Apache-2.0
"""Eigenvalues of CalculiX (ccx, Debian's calculix-ccx) and ours, the same .inp and the same mass rule:
1e-6. Then what the consistent mass changes, as docs/elements.md tells. C3D6, which CalculiX integrates at two points and
we do not, is compared with two points in numpy. The incompatible modes of C3D8I have a mass in CalculiX and none here, and up to
2.20 their gradients lack the factor det J_0 / det J by which distorted elements pass the patch test: numpy as CalculiX is compared
with CalculiX, numpy as here with ours. Exit 77 where ccx is absent.
usage: check_calculix.py SOLVE_MODES [table]"""
import itertools
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import scipy.linalg

solve_modes, table = sys.argv[1], len(sys.argv) > 2
N_MODES = 12
EDGES = {"C3D10": [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
         "C3D20": [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]}
HEX = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
STEEL = {"young": 2.1e11, "poisson": 0.3, "density": 7850}
SPRUCE = {"young": [11e9, 0.9e9, 0.6e9], "poisson": [0.35, 0.4, 0.45], "shear": [0.8e9, 0.7e9, 0.05e9],
          "density": 420, "axes": [[2, 1, 0.5], [-1, 1, 0.3]]}


def corners(kind, cell):
    """Corners of the elements of a cell, on a grid twice as fine as the cells."""
    at = [tuple(2 * c + p for c, p in zip(cell, point)) for point in HEX]
    if kind in ("C3D8", "C3D8I", "C3D20"):
        return [at]
    if kind == "C3D6":
        return [[at[i] for i in part] for part in ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))]
    found = []
    for t, path in enumerate(((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))):
        here = list(at[0])
        tet = [tuple(here)]
        for axis in path:
            here[axis] += 2
            tet.append(tuple(here))
        found.append(tet if t < 3 else [tet[0], tet[1], tet[3], tet[2]])
    return found


def place(point, cells, size):
    """A bent bar: no element is a box, sides of quadratic ones are curved."""
    x, y, z = (s * p / (2 * c) for s, p, c in zip(size, point, cells))
    return x + 0.2 * y * math.sin(3 * z), y + 0.06 * math.sin(2 * x), z + 0.05 * x * y


def write_case(name, kind, cells, size, material, held):
    numbers, elements = {}, []
    number = lambda point: numbers.setdefault(point, len(numbers) + 1)
    for cell in itertools.product(*map(range, cells)):
        for part in corners(kind, cell):
            nodes = [number(p) for p in part]
            nodes += [number(tuple((a + b) // 2 for a, b in zip(part[i], part[j]))) for i, j in EDGES.get(kind, [])]
            elements.append(nodes)
    mesh = ["*NODE, NSET=NALL"]
    mesh += [f"{n}, " + ", ".join("%.15g" % x for x in place(p, cells, size)) for p, n in numbers.items()]
    mesh.append(f"*ELEMENT, TYPE={kind}, ELSET=EALL")
    for e, nodes in enumerate(elements, 1):
        words = [str(e)] + [str(n) for n in nodes]
        mesh += [", ".join(words[:11]) + ("," if len(words) > 11 else "")] + ([", ".join(words[11:])] if len(words) > 11 else [])
    pathlib.Path(name + "-mesh.inp").write_text("\n".join(mesh) + "\n")
    rows = [(n, held(p)) for p, n in numbers.items() if held(p)]
    pathlib.Path(name + ".held").write_text("".join(f"{n} {h}\n" for n, h in rows))
    pathlib.Path(name + ".json").write_text(json.dumps({"materials": {"m": material}, "default": "m"}))
    step = ["*MATERIAL, NAME=M"]
    if isinstance(material["young"], list):
        nine = material["young"] + material["poisson"] + material["shear"]
        step += ["*ELASTIC, TYPE=ENGINEERING CONSTANTS", ", ".join(map(repr, nine[:8])), repr(nine[8]) + ","]
        axes = ["*ORIENTATION, NAME=AXES", ", ".join(str(v) for v in sum(material["axes"], []))]
    else:
        step += ["*ELASTIC", f"{material['young']!r}, {material['poisson']!r}"]
        axes = []
    step += ["*DENSITY", repr(material["density"])] + axes
    step += ["*SOLID SECTION, ELSET=EALL, MATERIAL=M" + (", ORIENTATION=AXES" if axes else ""), "*BOUNDARY"]
    step += [f"{n}, {k + 1}, {k + 1}" for n, h in rows for k in range(3) if h >> k & 1]
    step += ["*STEP", "*FREQUENCY", str(N_MODES), "*END STEP", ""]
    pathlib.Path(name + ".inp").write_text("\n".join(mesh + step))


def theirs(name):
    got = subprocess.run(["ccx", name], capture_output=True, text=True)
    lines = pathlib.Path(name + ".dat").read_text().split("\n")
    start = next(i for i, line in enumerate(lines) if "E I G E N V A L U E" in line)
    rows = [line.split() for line in lines[start + 1:start + 9 + N_MODES]]
    values = [float(row[1]) for row in rows if len(row) == 5 and row[0].isdigit()]
    assert len(values) == N_MODES, (name, got.stdout[-500:])
    return values


def ours(name, rule):
    got = subprocess.run([solve_modes, name + "-mesh.inp", name + ".json", name + ".held", rule, str(N_MODES)] +
                         ["incompatible"] * name.startswith("c3d8i"), capture_output=True, text=True)
    assert got.returncode == 0, (name, got.stderr)
    return [float(line) for line in got.stdout.split()]


def read_case(name):
    nodes, elements, held = [], [], {}
    for line in pathlib.Path(name + "-mesh.inp").read_text().split("\n")[1:]:
        words = line.split(", ")
        if len(words) == 4:
            nodes.append([float(w) for w in words[1:]])
        elif len(words) > 6 and words[0].isdigit():
            elements.append([int(w) - 1 for w in words[1:]])
    for line in pathlib.Path(name + ".held").read_text().splitlines():
        held[int(line.split()[0]) - 1] = int(line.split()[1])
    return np.array(nodes), elements, held


def elastic_of(material):
    young, nu = material["young"], material["poisson"]
    shear = young / (2 * (1 + nu))
    elastic = np.diag([2 * shear] * 3 + [shear] * 3)
    elastic[:3, :3] += young * nu / ((1 + nu) * (1 - 2 * nu))
    return elastic


def strains_of(gradients):
    return np.concatenate([[[x, 0, 0], [0, y, 0], [0, 0, z], [y, x, 0], [0, z, y], [z, 0, x]] for x, y, z in gradients], axis=1)


def lowest(K, M, nodes, held):
    free = [3 * i + k for i in range(len(nodes)) for k in range(3) if not held.get(i, 0) >> k & 1]
    free += list(range(3 * len(nodes), len(K)))
    n = len(free)  # M may be singular, K is not
    return 1 / scipy.linalg.eigh(M[np.ix_(free, free)], K[np.ix_(free, free)], eigvals_only=True,
                                 subset_by_index=[n - N_MODES, n - 1])[::-1]


def incompatible(name, material, with_factor):
    """The lowest eigenvalues of hexahedra with incompatible modes: as CalculiX has them, the modes' parameters being unknowns
    that have a mass; and without it, the parameters condensed out. The factor is det J_0 / det J."""
    nodes, elements, held = read_case(name)
    elastic, rho, n = elastic_of(material), material["density"], 3 * len(nodes)
    size = n + 9 * len(elements)
    K, M, plain, condensed = np.zeros((size, size)), np.zeros((size, size)), np.zeros((n, n)), np.zeros((n, n))
    signs = np.array(HEX) - 1.0

    def at(point, x):
        factors = 1 + signs * point
        local = np.stack([signs[:, k] * np.prod(np.delete(factors, k, 1), 1) / 8 for k in range(3)], 1)
        return np.prod(factors, 1) / 8, local, x.T @ local

    for e, element in enumerate(elements):
        x, k, m, mass = nodes[element], np.zeros((33, 33)), np.zeros((11, 11)), np.zeros((8, 8))
        _, _, centre = at(np.zeros(3), x)
        for point in itertools.product((-3**-0.5, 3**-0.5), repeat=3):
            point = np.array(point)
            shape, local, jacobian = at(point, x)
            det = np.linalg.det(jacobian)
            extra = np.diag(-2 * point) @ np.linalg.inv(centre) * (np.linalg.det(centre) / det if with_factor else 1)
            B = strains_of(np.concatenate([local @ np.linalg.inv(jacobian), extra]))
            k += det * B.T @ elastic @ B
            all_shapes = np.concatenate([shape, 1 - point**2])
            m += rho * det * np.outer(all_shapes, all_shapes)
            mass += rho * det * np.outer(shape, shape)
        corner = (3 * np.array(element)[:, None] + np.arange(3)).ravel()
        dofs = np.concatenate([corner, n + 9 * e + np.arange(9)])
        K[np.ix_(dofs, dofs)] += k
        M[np.ix_(dofs, dofs)] += np.kron(m, np.eye(3))
        condensed[np.ix_(corner, corner)] += k[:24, :24] - k[:24, 24:] @ np.linalg.solve(k[24:, 24:], k[24:, :24])
        plain[np.ix_(corner, corner)] += np.kron(mass, np.eye(3))
    return lowest(K, M, nodes, held), lowest(condensed, plain, nodes, held)


def wedges_of_two_points(name, material):
    """The lowest eigenvalues of wedges whose stiffness and mass are integrated at the centre of the triangle, at the two
    Gauss points of the height."""
    nodes, elements, held = read_case(name)
    elastic, n = elastic_of(material), 3 * len(nodes)
    third, slopes = np.full(3, 1 / 3), np.array([(-1, -1), (1, 0), (0, 1)])
    K, M = np.zeros((n, n)), np.zeros((n, n))
    for element in elements:
        dofs = (3 * np.array(element)[:, None] + np.arange(3)).ravel()
        for z in (-3**-0.5, 3**-0.5):
            shape = np.concatenate([third * (1 - z) / 2, third * (1 + z) / 2])
            local = np.block([[slopes * (1 - z) / 2, -third[:, None] / 2], [slopes * (1 + z) / 2, third[:, None] / 2]])
            jacobian = nodes[element].T @ local
            weight = np.linalg.det(jacobian) / 2
            B = strains_of(local @ np.linalg.inv(jacobian))
            K[np.ix_(dofs, dofs)] += weight * B.T @ elastic @ B
            M[np.ix_(dofs, dofs)] += weight * material["density"] * np.kron(np.outer(shape, shape), np.eye(3))
    return lowest(K, M, nodes, held)


if not shutil.which("ccx"):
    print("SKIPPED: no ccx (CalculiX)")
    sys.exit(77)
clamped = lambda point: 7 if point[0] == 0 else 0
# the root slides in its plane; the underside is held across it, one line along the bar
rollers = lambda point: (1 if point[0] == 0 else 0) | (4 if point[2] == 0 else 0) | (2 if point[:2] == (0, 0) else 0)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    count = 0
    for kind, cells in (("C3D4", (12, 3, 3)), ("C3D10", (5, 2, 2)), ("C3D8", (10, 3, 3)), ("C3D20", (5, 2, 2))):
        for title, material, held in (("steel, clamped", STEEL, clamped), ("spruce, clamped", SPRUCE, clamped),
                                      ("steel, on rollers", STEEL, rollers)):
            name = f"{kind.lower()}-{count}"
            write_case(name, kind, cells, (2.0, 0.4, 0.3), material, held)
            reference, same, consistent = theirs(name), ours(name, "stiffness-points"), ours(name, "consistent")
            worst = max(abs(a / b - 1) for a, b in zip(same, reference))
            change = [a / b - 1 for a, b in zip(consistent, reference)]
            if table:
                print(f"| {kind} | {title} | {worst:.1e} | {change[0]:.1e} | {change[-1]:.1e} |")
            assert worst <= 1e-6, (kind, title, worst, same, reference)
            count += 1
    for held, title in ((clamped, "steel, clamped"), (rollers, "steel, on rollers")):
        name = f"c3d8i-{count}"
        write_case(name, "C3D8I", (10, 3, 3), (2.0, 0.4, 0.3), STEEL, held)
        reference, same, consistent = theirs(name), ours(name, "stiffness-points"), ours(name, "consistent")
        (old, _), (heavy, condensed) = incompatible(name, STEEL, False), incompatible(name, STEEL, True)
        off = lambda a, b: max(abs(x / y - 1) for x, y in zip(a, b))
        worst = [min(off(old, reference), off(heavy, reference)), off(same, condensed)]
        change = [a / b - 1 for a, b in zip(consistent, reference)]
        if table:
            print(f"| C3D8I | {title} | numpy to CalculiX {worst[0]:.1e}, ours to numpy {worst[1]:.1e} | {change[0]:.1e} | {change[-1]:.1e} |")
        assert worst[0] <= 1e-6 and worst[1] <= 1e-9, ("C3D8I", title, worst, reference, heavy, same, condensed)
        count += 1
    for cells in ((5, 2, 2), (10, 3, 3)):
        name = f"c3d6-{cells[0]}"
        write_case(name, "C3D6", cells, (2.0, 0.4, 0.3), STEEL, clamped)
        reference, two, consistent = theirs(name), wedges_of_two_points(name, STEEL), ours(name, "consistent")
        worst = max(abs(a / b - 1) for a, b in zip(two, reference))
        change = [a / b - 1 for a, b in zip(consistent, reference)]
        if table:
            print(f"| C3D6 | steel, clamped, {' x '.join(map(str, cells))} cells | two points: {worst:.1e} | {change[0]:.1e} | {change[-1]:.1e} |")
        assert worst <= 1e-6, ("C3D6", worst, two, reference)
        assert max(map(abs, change)) > 0.05, ("C3D6 has six points now?", change)
        count += 1
print(f"{count} solids: CalculiX agrees")
