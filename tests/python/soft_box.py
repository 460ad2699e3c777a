# SPDX-License-Identifier: Apache-2.0
"""Boxes of tetrahedra and hexahedra as Gmsh files, for tests of modaltled."""
import numpy as np

PATHS = ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1))


def box(name, cells, edge, kind="tet", jitter=0.0, seed=1, place=None):
    """A box of cells of this edge, of tetrahedra (six a cell), hexahedra, or both (layer about layer); inner nodes moved
    by jitter edges; place: where they all go then. Group 1 "low" (bottom nodes), 2 "high" (top nodes) as surfaces, 3 "all" the volume."""
    rng = np.random.default_rng(seed)
    nx, ny, nz = cells
    x = np.array([[i, j, k] for k in range(nz + 1) for j in range(ny + 1) for i in range(nx + 1)], float)
    inner = ((x > 0) & (x < np.array(cells))).all(axis=1)
    x[inner] += jitter * rng.uniform(-1, 1, (inner.sum(), 3))
    x *= edge
    if place:
        x = place(x)
    elements, faces = [], []
    node = lambda i, j, k: (k * (ny + 1) + j) * (nx + 1) + i
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                c = [node(i + a, j + b, k + d) for d in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
                if kind == "hex":
                    elements.append(c)
                else:
                    elements += [[c[0], c[a], c[b], c[6]] for a, b in PATHS]
                if k == 0:
                    faces.append((1, [c[0], c[3], c[2], c[1]]))
                if k == nz - 1:
                    faces.append((2, [c[4], c[5], c[6], c[7]]))
    with open(name, "w") as f:
        f.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n2 1 \"low\"\n2 2 \"high\"\n3 3 \"all\"\n$EndPhysicalNames\n")
        f.write("$Nodes\n%d\n" % len(x) + "".join("%d %.17g %.17g %.17g\n" % (i + 1, *p) for i, p in enumerate(x)))
        f.write("$EndNodes\n$Elements\n%d\n" % (len(elements) + len(faces)))
        n = 0
        for group, c in faces:
            n += 1
            f.write("%d 3 2 %d %d %s\n" % (n, group, group, " ".join(str(a + 1) for a in c)))
        for c in elements:
            n += 1
            f.write("%d %d 2 3 3 %s\n" % (n, 4 if len(c) == 4 else 5, " ".join(str(a + 1) for a in c)))
        f.write("$EndElements\n")
    return x, elements
