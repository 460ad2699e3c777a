# SPDX-License-Identifier: Apache-2.0
"""What the tests of reduced bases share: a basis file, and elements of St. Venant-Kirchhoff material in
numpy, written from the definitions."""
import itertools
import pathlib
import subprocess

import h5py
import numpy as np
import scipy.sparse

from basis_file import node_modes

STEEL = ["--young", "2.06e11", "--poisson", "0.29", "--density", "7850"]


class Tools:
    """exact: bases with the modes at the nodes in float64, for who computes with them."""

    def __init__(self, folder, exact=False):
        self.folder = pathlib.Path(folder).resolve()
        self.exact = exact

    def __call__(self, tool, *words, code=0):
        if tool == "modalpack" and self.exact:
            words += ("--volume-modes", "float64")
        got = subprocess.run([self.folder / tool, *map(str, words)], capture_output=True, text=True)
        assert got.returncode == code, (words, got)
        return got


def write_bar(path, cells, size):
    """A box of cells of six tetrahedra each; the group "root" is the face x = 0."""
    nx, ny, nz = cells
    number = lambda i, j, k: (i * (ny + 1) + j) * (nz + 1) + k
    nodes = [(size[0] * i / nx, size[1] * j / ny, size[2] * k / nz)
             for i in range(nx + 1) for j in range(ny + 1) for k in range(nz + 1)]
    elements = []
    for i, j, k in itertools.product(range(nx), range(ny), range(nz)):
        for order in itertools.permutations(range(3)):
            at = np.array([i, j, k])
            corners = [number(*at)]
            for axis in order:
                at[axis] += 1
                corners.append(number(*at))
            if order not in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
                corners[2], corners[3] = corners[3], corners[2]
            elements.append(corners)
    faces = []
    for j, k in itertools.product(range(ny), range(nz)):
        a, b, c, d = (number(0, j + p, k + q) for p, q in ((0, 0), (1, 0), (1, 1), (0, 1)))
        faces += [(a, b, c), (a, c, d)]
    with open(path, "w") as file:
        file.write('$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 "root"\n3 2 "bar"\n$EndPhysicalNames\n')
        file.write(f"$Nodes\n{len(nodes)}\n")
        for i, x in enumerate(nodes, 1):
            file.write(f"{i} {x[0]!r} {x[1]!r} {x[2]!r}\n")
        file.write(f"$EndNodes\n$Elements\n{len(faces) + len(elements)}\n")
        for i, corners in enumerate(faces, 1):
            file.write(f"{i} 2 2 1 1 {' '.join(str(c + 1) for c in corners)}\n")
        for i, corners in enumerate(elements, len(faces) + 1):
            file.write(f"{i} 4 2 2 1 {' '.join(str(c + 1) for c in corners)}\n")
        file.write("$EndElements\n")


CORNERS = np.array([(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)])
SIMPLEX = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])


def middles(corners, edges):
    return np.concatenate([corners, [(corners[int(e[0])] + corners[int(e[1])]) / 2 for e in edges.split()]])


def powers(rule):
    return np.array([p for p in itertools.product(range(3), repeat=3) if rule(sorted(p))])


def gauss(n):
    x, w = np.polynomial.legendre.leggauss(n)
    return np.array(list(itertools.product(x, x, x))), np.array([np.prod(p) for p in itertools.product(w, w, w)])


# the nodes of the reference element, the monomials that its shape functions are made of, points, weights
REFERENCE = {
    0: (SIMPLEX, powers(lambda p: sum(p) < 2), np.full((1, 3), 0.25), np.full(1, 1 / 6)),
    1: (middles(SIMPLEX, "01 12 20 03 13 23"), powers(lambda p: sum(p) < 3),
        (5 - 5**0.5) / 20 + 5**-0.5 * SIMPLEX[[1, 2, 3, 0]], np.full(4, 1 / 24)),
    2: (CORNERS, powers(lambda p: p[2] < 2), *gauss(2)),
    3: (middles(CORNERS, "01 12 23 30 45 56 67 74 04 15 26 37"), powers(lambda p: p[1] < 2), *gauss(3)),
}


def shape_values(kind, at):
    """[points, nodes]: the shape functions at reference points [points, 3]."""
    nodes, exponents, _, _ = REFERENCE[kind]
    coefficients = np.linalg.inv((nodes[:, None, :].astype(float) ** exponents).prod(axis=2))
    return (at[:, None, :] ** exponents).prod(axis=2) @ coefficients


def shape_slopes(kind, points=None):
    """[points, nodes, 3]: derivatives of the shape functions, which are 1 at one node and 0 at the others; without points at those of the rule."""
    nodes, exponents, own, _ = REFERENCE[kind]
    points = own if points is None else points
    coefficients = np.linalg.inv((nodes[:, None, :].astype(float) ** exponents).prod(axis=2))
    slopes = []
    for k in range(3):
        lower = exponents.copy()
        lower[:, k] = np.maximum(lower[:, k] - 1, 0)
        slopes.append(((points[:, None, :] ** lower).prod(axis=2) * exponents[:, k]) @ coefficients)
    return np.stack(slopes, axis=2)


def write_inp(path, kind, cells, size, place=lambda x: x):
    """A box of C3D4, C3D10, C3D8 or C3D20 elements, each node moved to place(it); the set "root" is the face x = 0."""
    count = 2 * np.array(cells)
    number = lambda at: int((at[0] * (count[1] + 1) + at[1]) * (count[2] + 1) + at[2] + 1)
    nodes, _, _, _ = REFERENCE[kind]
    elements = []
    for cell in itertools.product(*map(range, cells)):
        first = 2 * np.array(cell)
        if kind > 1:
            elements.append([number(first + 1 + x) for x in nodes.astype(int)])
            continue
        for order in itertools.permutations(range(3)):
            path_of = np.array([first + 2 * np.isin(range(3), order[:n]) for n in range(4)])
            if np.linalg.det(path_of[1:] - path_of[0]) < 0:
                path_of[[2, 3]] = path_of[[3, 2]]
            elements.append([number(np.rint(path_of[0] + x @ (path_of[1:] - path_of[0])).astype(int)) for x in nodes])
    used = sorted(set(sum(elements, [])))
    at = lambda n: np.array(np.unravel_index(n - 1, count + 1))
    with open(path, "w") as file:
        file.write("*NODE\n" + "".join(f"{n}, " + ", ".join(map(repr, list(map(float, place(at(n) * size / count))))) + "\n"
                                 for n in used))
        file.write(f"*ELEMENT, TYPE={('C3D4', 'C3D10', 'C3D8', 'C3D20')[kind]}, ELSET=all\n")
        for i, e in enumerate(elements, 1):
            words = [str(i), *map(str, e)]
            file.write(", ".join(words[:11]) + (",\n" + ", ".join(words[11:]) if words[11:] else "") + "\n")
        file.write("*NSET, NSET=root\n" + "".join(f"{n},\n" for n in used if at(n)[0] == 0))


def cubic_of(quartic, r):
    """The forces' terms of third degree, [r, r (r + 1) (r + 2) / 6], of which the energy's terms of fourth degree are given."""
    of = np.array(list(itertools.combinations_with_replacement(range(r), 4)), dtype=np.int32).reshape(-1, 4)
    place = np.full((r, r, r), -1)
    for n, (i, j, k) in enumerate(itertools.combinations_with_replacement(range(r), 3)):
        place[i, j, k] = n
    cubic = np.zeros((r, r * (r + 1) * (r + 2) // 6))
    for n in range(4):
        i, j, k = np.delete(of, n, axis=1).T
        cubic[of[:, n], place[i, j, k]] = (of == of[:, n:n + 1]).sum(axis=1) * quartic
    return cubic


def quartic_of(cubic):
    """The other way."""
    r, n = len(cubic), 0
    place = np.full((r, r, r), -1)
    for n, (i, j, k) in enumerate(itertools.combinations_with_replacement(range(r), 3)):
        place[i, j, k] = n
    of = np.array(list(itertools.combinations_with_replacement(range(r), 4)), dtype=np.int32).reshape(-1, 4)
    return cubic[of[:, 0], place[of[:, 1], of[:, 2], of[:, 3]]] / (of == of[:, :1]).sum(axis=1)


class Basis:
    def __init__(self, path):
        with h5py.File(path) as file:
            shape = file["shapes/0000"]
            self.kind = shape["modes"].attrs["kind"].decode()
            self.eigenvalues = shape["modes/eigenvalues"][:]
            self.nodes = shape["volume/nodes"][:]
            kinds, all_nodes = shape["volume/element_types"][:], shape["volume/element_nodes"][:]
            kind = int(kinds[0])
            assert np.all(kinds == kind)
            self.fixed = shape["volume/fixed_nodes"][:]
            self.modes = node_modes(shape).astype(float)
            group = shape.get("reduced_forces")
            self.forces = group and [group["linear"][:], group["quadratic"][:],
                                     group["cubic"][:] if "cubic" in group else cubic_of(group["quartic"][:], len(group["linear"]))]
        # every point of every element: its nodes, gradients of its shape functions, its volume
        slopes, weights = shape_slopes(kind), REFERENCE[kind][3]
        elements = all_nodes.reshape(-1, slopes.shape[1])
        jacobians = np.einsum("eap,qak->eqpk", self.nodes[elements], slopes)
        gradients = np.einsum("qak,eqkp->eqap", slopes, np.linalg.inv(jacobians))
        self.point_nodes = np.repeat(elements, len(weights), axis=0)
        self.gradients = gradients.reshape(-1, *slopes.shape[1:])
        self.volumes = (np.abs(np.linalg.det(jacobians)) * weights).ravel()
        self.tetrahedra = elements if kind == 0 else None

    def mass(self, density):
        """The consistent mass matrix over all nodes, one axis."""
        n = len(self.nodes)
        entries = np.einsum("e,ab->eab", self.volumes * density / 20, np.ones((4, 4)) + np.eye(4))
        rows = np.repeat(self.tetrahedra, 4, axis=1).ravel()
        columns = np.tile(self.tetrahedra, (1, 4)).ravel()
        return scipy.sparse.csr_matrix((entries.ravel(), (rows, columns)), shape=(n, n))

    def full_forces(self, u, young, poisson):
        lam, mu = young * poisson / (1 + poisson) / (1 - 2 * poisson), young / 2 / (1 + poisson)
        f = np.eye(3) + np.einsum("eap,eak->epk", u[self.point_nodes], self.gradients)
        strain = (f.transpose(0, 2, 1) @ f - np.eye(3)) / 2
        stress = 2 * mu * strain + lam * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        p = (f @ stress) * self.volumes[:, None, None]
        forces = np.zeros_like(u)
        np.add.at(forces, self.point_nodes, np.einsum("epk,eak->eap", p, self.gradients))
        return forces

    def reduced_forces(self, q):
        if not hasattr(self, "monomials"):
            self.monomials = [np.array(list(itertools.combinations_with_replacement(range(len(q)), n)))
                              for n in (1, 2, 3)]
        return sum(f @ q[m].prod(axis=1) for f, m in zip(self.forces, self.monomials))

    def full_stiffness(self, u, young, poisson):
        """The tangent of full_forces, [3 n, 3 n] sparse, unknown 3 i + p."""
        lam, mu = young * poisson / (1 + poisson) / (1 - 2 * poisson), young / 2 / (1 + poisson)
        g = self.gradients
        f = np.eye(3) + np.einsum("eap,eak->epk", u[self.tetrahedra], g)
        strain = (f.transpose(0, 2, 1) @ f - np.eye(3)) / 2
        stress = 2 * mu * strain + lam * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        fg = np.einsum("epk,eak->eap", f, g)
        k = lam * np.einsum("eap,ebq->eapbq", fg, fg) + mu * np.einsum("eaq,ebp->eapbq", fg, fg)
        k += mu * np.einsum("epk,eqk,eab->eapbq", f, f, np.einsum("eak,ebk->eab", g, g))
        k += np.einsum("eab,pq->eapbq", np.einsum("eak,ekl,ebl->eab", g, stress, g), np.eye(3))
        k *= self.volumes[:, None, None, None, None]
        dofs = (3 * self.tetrahedra[:, :, None] + np.arange(3)).reshape(-1, 12)
        rows, columns = np.repeat(dofs, 12, axis=1).ravel(), np.tile(dofs, (1, 12)).ravel()
        n = 3 * len(self.nodes)
        return scipy.sparse.csc_matrix((k.ravel(), (rows, columns)), shape=(n, n))

    def reduced_stiffness(self, q):
        """The tangent of reduced_forces: of each degree, the coefficients as a tensor that is symmetric in all but the first index."""
        if not hasattr(self, "tensors"):
            self.reduced_forces(q)  # makes the monomials
            self.tensors = []
            for f, m in zip(self.forces, self.monomials):
                tensor, degree = np.zeros((len(f),) + (len(q),) * m.shape[1]), m.shape[1]
                tensor[(slice(None), *m.T)] = f
                ways = list(itertools.permutations(range(1, degree + 1)))
                self.tensors.append(degree * sum(tensor.transpose(0, *way) for way in ways) / len(ways))
        linear, quadratic, cubic = self.tensors
        return linear + (quadratic + cubic @ q) @ q

    def static_answer(self, load, n_steps):
        """Displacements under nodal forces that keep their direction, by Newton's method in q."""
        force, q = np.tensordot(self.modes, load, 2), np.zeros(len(self.modes))
        for share in np.linspace(0, 1, n_steps + 1)[1:]:
            for _ in range(100):
                rest = share * force - self.reduced_forces(q)
                if np.abs(rest).max() < 1e-9 * np.abs(force).max():
                    break
                q += np.linalg.solve(self.reduced_stiffness(q), rest)
            else:
                raise AssertionError("no reduced equilibrium")
        return np.tensordot(q, self.modes, 1)
