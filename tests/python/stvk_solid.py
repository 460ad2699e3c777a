# SPDX-License-Identifier: Apache-2.0
"""What the tests of reduced bases share: a basis file, and linear tetrahedra of St. Venant-Kirchhoff
material in numpy, written from the definitions."""
import itertools
import pathlib
import subprocess

import h5py
import numpy as np
import scipy.sparse

STEEL = ["--young", "2.06e11", "--poisson", "0.29", "--density", "7850"]


class Tools:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()

    def __call__(self, tool, *words, code=0):
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


class Basis:
    def __init__(self, path):
        with h5py.File(path) as file:
            shape = file["shapes/0000"]
            self.kind = shape["modes"].attrs["kind"].decode()
            self.eigenvalues = shape["modes/eigenvalues"][:]
            self.nodes = shape["volume/nodes"][:]
            self.tetrahedra = shape["volume/element_nodes"][:].reshape(-1, 4)
            self.fixed = shape["volume/fixed_nodes"][:]
            self.modes = shape["volume/volume_modes"][:]
            group = shape.get("reduced_forces")
            self.forces = group and [group[name][:] for name in ("linear", "quadratic", "cubic")]
        edges = (self.nodes[self.tetrahedra[:, 1:]] - self.nodes[self.tetrahedra[:, :1]]).transpose(0, 2, 1)
        inverse = np.linalg.inv(edges)
        self.gradients = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
        self.volumes = np.abs(np.linalg.det(edges)) / 6

    def mass(self, density):
        """The consistent mass matrix over all nodes, one axis."""
        n = len(self.nodes)
        entries = np.einsum("e,ab->eab", self.volumes * density / 20, np.ones((4, 4)) + np.eye(4))
        rows = np.repeat(self.tetrahedra, 4, axis=1).ravel()
        columns = np.tile(self.tetrahedra, (1, 4)).ravel()
        return scipy.sparse.csr_matrix((entries.ravel(), (rows, columns)), shape=(n, n))

    def full_forces(self, u, young, poisson):
        lam, mu = young * poisson / (1 + poisson) / (1 - 2 * poisson), young / 2 / (1 + poisson)
        f = np.eye(3) + np.einsum("eap,eak->epk", u[self.tetrahedra], self.gradients)
        strain = (f.transpose(0, 2, 1) @ f - np.eye(3)) / 2
        stress = 2 * mu * strain + lam * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3)
        p = (f @ stress) * self.volumes[:, None, None]
        forces = np.zeros_like(u)
        np.add.at(forces, self.tetrahedra, np.einsum("epk,eak->eap", p, self.gradients))
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
        """The tangent of reduced_forces by differences, exact for a cubic but for rounding."""
        r, h = len(q), 1e-3 * max(1.0, np.abs(q).max())
        k = np.empty((r, r))
        for i in range(r):
            d = np.zeros(r)
            d[i] = h
            f = self.reduced_forces
            k[:, i] = (8 * (f(q + d) - f(q - d)) - (f(q + 2 * d) - f(q - 2 * d))) / (12 * h)
        return k
