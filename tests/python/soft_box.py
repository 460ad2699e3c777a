# SPDX-License-Identifier: Apache-2.0
"""Boxes of tetrahedra and hexahedra as Gmsh files, and snapshots with all that their page names, for tests of what is soft."""
import pathlib

import h5py
import numpy as np

PATHS = ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1))


def organ(cells):
    """A place for `box`: cells of an edge of 1 become a solid like that of docs/examples/liver.py, its corners less round."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/examples/liver.py").read_text()
    names = {}
    exec(text[:text.index("\ndirections,")], names)  # its functions alone

    def place(x):
        x = 2 * x / np.array(cells) - 1
        y, z = np.roll(x, 1, axis=1) ** 2, np.roll(x, 2, axis=1) ** 2
        x = 0.7 * x * np.sqrt(1 - y / 2 - z / 2 + y * z / 3) + 0.3 * x  # the first is a ball
        length = np.linalg.norm(x, axis=1)
        return length[:, None] * names["liver"](x / np.where(length > 0, length, 1)[:, None])
    return place


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


def snapshots(path):
    """All that the format has, of two tetrahedra."""
    chance = np.random.default_rng(5)
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        file.attrs.update(modal_format=np.bytes_("snapshots"), modal_format_version=np.bytes_("1.0"))
        file["displacements"] = chance.normal(size=(12, 5, 3))
        file["velocities"] = chance.normal(size=(12, 5, 3)).astype("f4")
        file["times"] = np.arange(12.0)
        energy = chance.normal(size=(12, 6))
        energy[:, 5] = energy[:, :5] @ [1, 1, 1, -1, -1]
        file["energy"] = energy
        file["energy_parts"] = np.abs(chance.normal(size=(12, 2)))
        file["quality"], file.attrs["quality_columns"] = 0.02 * np.abs(chance.normal(size=(12, 2))), np.bytes_("hourglass not_judged")
        file["quality"][:, 1] = 0
        for name in ("displacements", "reactions", "velocities"):
            file[f"probes/{name}"] = chance.normal(size=(12, 2, 3))
        file["probes"].attrs["names"] = np.bytes_("tip\nfoot")
        solid = file.create_group("solid")
        solid["nodes"] = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1.0]])
        solid["node_tags"], solid["element_tags"] = np.arange(1, 6), np.array([7, 9])
        solid["mass"] = np.full(5, 0.1)
        solid["element_type"], solid["element_offsets"] = np.zeros(2, "u1"), np.array([0, 4, 8])
        solid["element_nodes"] = np.array([0, 1, 2, 3, 1, 2, 3, 4], "i4")
        solid["triangles"] = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 4], [2, 3, 4], [3, 1, 4]], "i4")
        solid["element_material"], solid["element_law"] = np.array([0, 1], "i4"), np.array([2, 1], "u1")
        solid["patches"] = np.array([0, -1], "i4")
        solid["fibres"] = np.array([[0, 0, 1], [0, 0, 0.0]])
        parts = solid.create_group("materials")
        parts.attrs["count"] = 2
        for i in range(2):
            one = parts.create_group(f"{i:04}")
            one.attrs.update(name=np.bytes_("m"), kind=np.bytes_("isotropic"), young=1e3, poisson=0.4, density=1000.0)
        one.attrs.update(law=np.bytes_("stvk"), fibre_stiffness=5.0)
        one["fibre"], one["prony_isochoric"] = np.array([1.0, 0, 0]), np.array([[0.3, 0.1], [0.2, 1]])
        groups = solid.create_group("groups")
        groups.attrs["count"] = 1
        one = groups.create_group("0000")
        one.attrs.update(name=np.bytes_("all"), dimension=3, tag=-1)
        one["nodes"], one["elements"] = np.arange(5, dtype="i4"), np.arange(2, dtype="i4")
