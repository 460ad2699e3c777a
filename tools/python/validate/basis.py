# SPDX-License-Identifier: Apache-2.0
"""basis.h5 (formats/basis.md)."""
import os
import re

import numpy as np

from container import TYPES, File, Unreadable
from xxh3 import Hash

NODES = np.array([4, 10, 8, 20, 6, 5])  # of an element, by its type
MOST = 2 ** 31 - 1
LISTED = re.compile(r"(([a-z0-9_]+|\*)/)*[a-z0-9_]+")
ALL_TYPES = " ".join(TYPES)
SURFACE = ("rest_positions", "triangles", "user_vertex", "user_triangle", "uv", "triangle_uv")
MODES = ("modal_matrix", "eigenvalues", "frequencies", "modal_masses", "residuals", "orthogonality", "sturm_count",
         "participation", "rigid_eigenvalues")
FORCES = ("linear", "quadratic", "cubic")
VOLUME = ("nodes", "node_tags", "element_types", "element_nodes", "element_tags", "element_material",
          "fixed_nodes", "fixed_components", "volume_modes", "inner_modes", "embedding_offsets", "embedding_nodes",
          "embedding_weights")
OBJECTS = ("shape", "parent", "rest_pose")


def rigid(frames):
    """For each [3, 4] (or [3, 3]) of `frames`: is its rotation part one, to 1e-6?"""
    rotation = frames[..., :3]
    products = np.einsum("...ik,...jk->...ij", rotation, rotation)
    return (np.abs(products - np.eye(3)) <= 1e-6).all(axis=(-1, -2)) & (np.linalg.det(rotation) > 0)


class Shape:
    """Shape /shapes/NNNN of `file`, checked. `n_modes` is its r, None where that is not known."""

    def __init__(self, file, place):
        self.file, self.place, self.n_modes = file, place, None
        self.n_vertices = self.n_triangles = None
        self._surface()
        self._tables()
        self._modes()
        if file.has(f"{place}/reduced_forces"):
            self._forces()
        if file.has(f"{place}/truncation"):
            self._left_out()
        if file.has(f"{place}/look"):
            self._look()
        if file.has(f"{place}/volume") and file.group(f"{place}/volume") is not None:
            self._volume()

    def array(self, name, types, *shape, optional=False):
        return self.file.array(f"{self.place}/{name}", types, shape, optional)

    def must(self, condition, name, what):
        return self.file.must(condition, f"{self.place}/{name}", what)

    def in_range(self, name, values, end, start=0):
        if values is None or end is None:
            return False
        return self.must(not values.size or (values.min() >= start and values.max() < end), name, f"is not in [{start}, {end})")

    def ascends(self, name, values):
        return values is not None and self.must((np.diff(values.astype("i8")) > 0).all(), name, "does not ascend")

    def rows(self, name, offsets, n_values):
        """Are these the offsets of rows of n_values values?"""
        if offsets is None or n_values is None:
            return False
        return self.must(offsets[0] == 0 and (np.diff(offsets) >= 0).all() and offsets[-1] == n_values, name,
                         f"are no offsets of {n_values} values")

    # ---- surface and tables ----

    def _surface(self):
        positions = self.array("surface/rest_positions", "f64", None, 3)
        self.triangles = triangles = self.array("surface/triangles", "i32", None, 3)
        if positions is not None:
            self.n_vertices = len(positions)
            self.must(1 <= self.n_vertices <= MOST, "surface/rest_positions", f"{self.n_vertices} vertices")
        if triangles is not None:
            self.n_triangles = len(triangles)
            self.must(1 <= self.n_triangles <= MOST, "surface/triangles", f"{self.n_triangles} triangles")
            a, b, c = triangles.T
            good = self.in_range("surface/triangles", triangles, self.n_vertices)
            if not (self.must(((a != b) & (b != c) & (c != a)).all(), "surface/triangles", "has a vertex twice") and good):
                self.triangles = None
        for name, n in (("user_vertex", self.n_vertices), ("user_triangle", self.n_triangles)):
            values = self.array(f"surface/{name}", "i32", n)
            if values is not None:
                self.must((np.sort(values) == np.arange(len(values))).all(), f"surface/{name}", "is no permutation")
        has = [self.file.has(f"{self.place}/surface/{name}") for name in ("uv", "triangle_uv")]
        if self.must(has[0] == has[1], "surface/uv", "and triangle_uv: one without the other") and has[0]:
            uv = self.array("surface/uv", "f64", None, 2)
            corners = self.array("surface/triangle_uv", "i32", self.n_triangles, 3)
            self.in_range("surface/triangle_uv", corners, None if uv is None else len(uv))
        normals = self.array("surface/corner_normals", "i32", self.n_triangles, 3, optional=True)
        if normals is not None:
            self.in_range("surface/corner_normals", normals, 3 * (self.n_triangles or 0))

    def _tables(self):
        n, m = self.n_vertices, self.n_triangles
        end = None if n is None else n + 1
        tables = [self.array(f"tables/{name}", *rest) for name, *rest in
                  (("face_offsets", "i64", end), ("faces", "i32", None), ("boundary", "u8", n))]
        face_offsets, faces, boundary = tables
        good = all(table is not None for table in tables)
        good &= self.rows("tables/face_offsets", face_offsets, None if faces is None else len(faces))
        good &= self.in_range("tables/faces", faces, m)
        if not good or self.triangles is None or n is None:
            return
        corners = self.triangles.astype("i8")
        pairs = np.unique(np.stack([corners.ravel(), np.repeat(np.arange(m), 3)], 1), axis=0)
        self._table("face_offsets", "faces", face_offsets, faces, pairs)
        edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1)
        edges, counts = np.unique(edges, axis=0, return_counts=True)
        wanted = np.zeros(n, "u1")
        wanted[edges[counts == 1]] = 1
        self.must((boundary == wanted).all(), "tables/boundary", "is not that of the triangles")

    def _table(self, name, values_name, offsets, values, pairs):
        wanted = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=self.n_vertices))])
        self.must((offsets == wanted).all(), f"tables/{name}", "are not those of the triangles")
        self.must(len(values) == len(pairs) and (values == pairs[:, 1]).all(), f"tables/{values_name}",
                  "are not those of the triangles")

    # ---- modes ----

    def _modes(self):
        file, place = self.file, f"{self.place}/modes"
        self.kind = file.text(place, "kind", optional=True, among=("modes", "derivatives", "snapshots", "imported")) or "modes"
        if file.group(place, optional=True) is None:
            file.group(place)
            return
        eigenvalues = self.array("modes/eigenvalues", "f64", None)
        r = self.n_modes = None if eigenvalues is None else len(eigenvalues)
        if r is not None:
            self.must(r <= MOST, "modes/eigenvalues", f"{r} modes")
        self._matrix(r)
        frequencies, masses, residuals = (self.array(f"modes/{name}", "f64", r)
                                          for name in ("frequencies", "modal_masses", "residuals"))
        orthogonality = self.array("modes/orthogonality", "f64", r, optional=True)
        sturm = self.array("modes/sturm_count", "f64", 3, optional=True)
        participation = self.array("modes/participation", "f64", r, 3)
        self.array("modes/rigid_eigenvalues", "f64", None)
        file.number(place, "shift", "f64")
        total = file.number(place, "total_mass", "f64")
        file.text(place, "mass_rule", among=("consistent", "lumped"))
        file.text(place, "factor", optional=True, among=("float32", "float64"))
        solver = file.text(place, "eigensolver", optional=True, among=("slepc direct", "slepc multigrid"))
        if solver is not None:
            ranks = file.number(place, "ranks", "i64")
            self.must(ranks is None or ranks > 0, "modes/@ranks", f"is {ranks}")
            self.must(file.has(f"{place}/sturm_count") == (solver == "slepc direct"), "modes/@eigensolver",
                      "is direct without a sturm_count, or multigrid with one")
        imported = self.kind == "imported"
        if imported:
            for name in ("mass_coupling", "stiffness_coupling"):
                coupling = file.number(place, name, "f64")
                self.must(coupling is None or coupling >= 0, f"modes/@{name}", f"is {coupling}")
        no_solid = imported and not file.has(f"{self.place}/volume")
        if eigenvalues is not None:
            self.must((eigenvalues >= 0).all(), "modes/eigenvalues", "has a negative value")
            self.must(imported or (np.diff(eigenvalues) >= 0).all(), "modes/eigenvalues", "does not ascend")
            self.must(not no_solid or (eigenvalues == 0).all(), "modes/eigenvalues", "is known without a solid")
            if frequencies is not None and (eigenvalues >= 0).all():
                wanted = np.sqrt(eigenvalues) / (2 * np.pi)
                self.must((np.abs(frequencies - wanted) <= 1e-9 * wanted).all(), "modes/frequencies",
                          "are not those of the eigenvalues")
        if masses is not None:
            self.must((masses > 0).all(), "modes/modal_masses", "has a value that is not positive")
            self.must(not no_solid or (masses == 1).all(), "modes/modal_masses", "is known without a solid")
        for name, values in (("residuals", residuals), ("orthogonality", orthogonality)):
            self.must(values is None or (values >= 0).all(), f"modes/{name}", "has a negative value")
        self.must(sturm is None or (sturm[1] == sturm[2] and sturm[1] >= 0), "modes/sturm_count", "is not two equal numbers")
        if no_solid:
            self.must(participation is None or (participation == 0).all(), "modes/participation", "is known without a solid")
        rigid = r == 0 and not file.has(f"{self.place}/volume")
        self.must(total is None or (total >= 0 if rigid else total == 0 if no_solid else total > 0), "modes/@total_mass", f"is {total}")

    def _matrix(self, r):
        path, n = f"{self.place}/modes/modal_matrix", self.n_vertices
        if self.file.dataset(path, optional=True) is None:
            self.file.dataset(path)
            return
        if self.file.text(path, "layout", optional=True, among=("tile32", "vertex_major")) == "vertex_major":
            self.array("modes/modal_matrix", "f32", n, 3, r)
            return
        tiles = None if n is None else -(-n // 32)
        matrix = self.array("modes/modal_matrix", "f32", tiles, r, 3, 32)
        if matrix is not None and n is not None and n % 32:
            self.must((matrix[-1, :, :, n % 32:] == 0).all(), "modes/modal_matrix", "has lanes past the last vertex")

    def _forces(self):
        file, r = self.file, self.n_modes
        if file.group(f"{self.place}/reduced_forces") is None:
            return
        linear, quadratic, cubic, quartic = (file.has(f"{self.place}/reduced_forces/{name}") for name in (*FORCES, "quartic"))
        if not self.must(linear and quadratic and cubic != quartic, "reduced_forces",
                         "has not linear, quadratic and either cubic or quartic") or r is None:
            return
        if quartic:
            self.array("reduced_forces/quartic", "f64", r * (r + 1) * (r + 2) * (r + 3) // 24)
        for degree, name in enumerate(FORCES[:2] if quartic else FORCES, 1):
            n_columns = (r, r * (r + 1) // 2, r * (r + 1) * (r + 2) // 6)[degree - 1]
            values = self.array(f"reduced_forces/{name}", "f64", r, n_columns)
            if values is not None and values.size:
                self.must(asymmetry(values, degree) <= 1e-9 * np.abs(values).max(), f"reduced_forces/{name}",
                          "is not the gradient of an energy")

    def _left_out(self):
        file, r = self.file, self.n_modes
        if file.group(f"{self.place}/truncation") is None:
            return
        has = [file.has(f"{self.place}/truncation/{name}") for name in FORCES]
        if not self.must(all(has) or not any(has), "truncation", "has some of linear, quadratic and cubic") or r is None:
            return
        n = None
        for degree, name in enumerate(FORCES if any(has) else (), 1):
            n_columns = (r, r * (r + 1) // 2, r * (r + 1) * (r + 2) // 6)[degree - 1]
            values = self.array(f"truncation/{name}", "f64", n, n_columns)
            n = len(values) if values is not None else n
        names = ("slow_eigenvalues", "slow_participation", "slow_scales", "slow_matrix")
        has = [file.has(f"{self.place}/truncation/{name}") for name in names]
        if not self.must(all(has) or not any(has), "truncation", "has some of the slow motions' arrays") or not any(has):
            return
        values = self.array("truncation/slow_eigenvalues", "f64", None)
        self.must(values is None or (values > 0).all(), "truncation/slow_eigenvalues", "is not above 0")
        n_slow, n = None if values is None else len(values), self.n_vertices
        self.array("truncation/slow_participation", "f64", n_slow, 3)
        scales = self.array("truncation/slow_scales", "f64", n_slow)
        self.must(scales is None or (scales >= 0).all(), "truncation/slow_scales", "is below 0")
        matrix = self.array("truncation/slow_matrix", "u8", None if n is None else -(-n // 32), n_slow, 3, 32)
        if matrix is not None and n is not None and n % 32:
            self.must((matrix[-1, :, :, n % 32:] == 128).all(), "truncation/slow_matrix", "has lanes past the last vertex")

    def _look(self):
        file = self.file
        if file.group(f"{self.place}/look") is None:
            return
        has = [file.has(f"{self.place}/look/{name}") for name in ("triangle_material", "material_names")]
        if not self.must(all(has), "look", "lacks triangle_material or material_names"):
            return
        of_triangle = self.array("look/triangle_material", "i32", self.n_triangles)
        values = self.array("look/material_names", "u8", None)
        if values is None:
            return
        names = values.tobytes().split(b"\n")
        last = names.pop()
        good = not last and all(name and min(name) >= 32 for name in names)
        if self.must(good, "look/material_names", "has an empty name, a control character, or no line end after the last"):
            self.in_range("look/triangle_material", of_triangle, len(names), -1)

    # ---- the solid ----

    def _volume(self):
        file, place = self.file, f"{self.place}/volume"
        nodes = self.array("volume/nodes", "f64", None, 3)
        n = self.n_nodes = None if nodes is None else len(nodes)
        self.array("volume/node_tags", "i64", n)
        types = self.array("volume/element_types", "u8", None)
        n_elements = None if types is None else len(types)
        for name, count in (("nodes", n), ("element_types", n_elements)):
            self.must(count is None or 1 <= count <= MOST, f"volume/{name}", f"{count} of them")
        self.array("volume/element_tags", "i64", n_elements)
        element_nodes = self.array("volume/element_nodes", "i32", None)
        self.in_range("volume/element_nodes", element_nodes, n)
        if self.in_range("volume/element_types", types, len(NODES)):
            sizes = NODES[types]
            if element_nodes is not None:
                self.must(len(element_nodes) == sizes.sum(), "volume/element_nodes", f"has not the {sizes.sum()} of the types")
        self._materials(n_elements)
        fibres = self.array("volume/fibres", "f64", n_elements, 3, optional=True)
        self.must(fibres is None or unit_or_zero(fibres), "volume/fibres", "are no unit vectors")
        fixed = self.array("volume/fixed_nodes", "i32", None)
        components = self.array("volume/fixed_components", "u8", None if fixed is None else len(fixed))
        self.ascends("volume/fixed_nodes", fixed)
        self.in_range("volume/fixed_nodes", fixed, n)
        self.in_range("volume/fixed_components", components, 8, start=1)
        kind = file.text(place, "surface_kind", among=("boundary", "embedded"))
        farthest = file.number(place, "farthest_outside", "f64")
        self.must(farthest is None or farthest >= 0, "volume/@farthest_outside", f"is {farthest}")
        rule = file.text(place, "stiffness_rule", optional=True, among=("conforming", "incompatible"))
        self.must(rule != "incompatible" or not file.has(f"{self.place}/reduced_forces"), "volume/@stiffness_rule",
                  "is not conforming with reduced_forces")
        carriers = self._embedding(kind)
        self.array("volume/volume_modes", "f64 f32", self.n_modes, n, 3, optional=True)
        if file.has(f"{place}/inner_modes"):
            self.must(not file.has(f"{place}/volume_modes"), "volume/inner_modes", "beside volume_modes")
            self.must(kind in (None, "boundary"), "volume/inner_modes", "of a surface that is no boundary")
            inner = None if n is None or self.n_vertices is None else n - self.n_vertices
            self.array("volume/inner_modes", "f32", self.n_modes, inner, 3)
            if kind == "boundary" and carriers is not None:
                self.must(len(np.unique(carriers)) == len(carriers), "volume/embedding_nodes", "has a node twice")
        self._groups(n, n_elements)

    def _embedding(self, kind):
        """How nodes carry the vertices; gives embedding_nodes."""
        n_vertices = self.n_vertices
        if kind is None or n_vertices is None:
            return None
        if kind == "boundary":
            for name in ("embedding_offsets", "embedding_weights"):
                self.must(not self.file.has(f"{self.place}/volume/{name}"), f"volume/{name}", "beside a boundary")
            nodes = self.array("volume/embedding_nodes", "i32", n_vertices)
            self.in_range("volume/embedding_nodes", nodes, self.n_nodes)
            return nodes
        offsets = self.array("volume/embedding_offsets", "i64", n_vertices + 1)
        nodes = self.array("volume/embedding_nodes", "i32", None)
        n = None if nodes is None else len(nodes)
        weights = self.array("volume/embedding_weights", "f64", n)
        if not self.rows("volume/embedding_offsets", offsets, n) or \
                not self.must((np.diff(offsets) > 0).all(), "volume/embedding_offsets", "has a vertex without nodes"):
            return None
        self.in_range("volume/embedding_nodes", nodes, self.n_nodes)
        if weights is not None:
            sums = np.add.reduceat(weights.ravel(), offsets[:-1])
            self.must((np.abs(sums - 1) <= 1e-6).all(), "volume/embedding_weights", "of a vertex do not add up to 1")
        return nodes

    def _materials(self, n_elements):
        file, place = self.file, f"{self.place}/volume/materials"
        index = self.array("volume/element_material", "i32", n_elements, optional=True)
        if file.group(place) is None:
            return
        count = file.number(place, "count", "i64")
        if count is None:
            return
        if index is not None:
            self.in_range("volume/element_material", index, count)
        else:
            self.must(count >= 1, "volume/materials/@count", "no material for the elements")
        check_materials(file, f"{self.place}/volume")

    def _groups(self, n_nodes, n_elements):
        if self.file.group(f"{self.place}/volume/groups") is not None:
            check_groups(self.file, f"{self.place}/volume", n_nodes, n_elements)

    # ---- hashes ----

    def arrays_of_this_page(self):
        """Names of the arrays that are there and that hashes cover: with * for the numbers."""
        names = [f"surface/{x}" for x in SURFACE] + [f"modes/{x}" for x in MODES] + [f"reduced_forces/{x}" for x in (*FORCES, "quartic")]
        names += [f"volume/{x}" for x in VOLUME]
        found = [name for name in names if self.file.has(f"{self.place}/{name}")]
        for part, members in (("materials", ("axes",)), ("groups", ("nodes", "elements"))):
            for member in members:
                if list(expand(self.file, f"{self.place}/volume/{part}/*/{member}")):
                    found.append(f"volume/{part}/*/{member}")
        return found


def asymmetry(values, degree):
    """The largest difference of coefficients of the force that would be equal if it were the gradient of an energy."""
    r = len(values)
    if degree == 1:
        return np.abs(values - values.T).max()
    if degree == 2:
        tensor = np.zeros((r, r, r))
        for column, (i, j) in enumerate((i, j) for i in range(r) for j in range(i, r)):
            tensor[:, i, j] = tensor[:, j, i] = values[:, column] / (1 if i == j else 2)
        return np.abs(tensor - tensor.transpose(1, 0, 2)).max()
    tensor = np.zeros((r, r, r, r))
    for column, (i, j, k) in enumerate((i, j, k) for i in range(r) for j in range(i, r) for k in range(j, r)):
        orders = {(i, j, k), (i, k, j), (j, i, k), (j, k, i), (k, i, j), (k, j, i)}
        for a, b, c in orders:
            tensor[:, a, b, c] = values[:, column] / len(orders)
    return np.abs(tensor - tensor.transpose(1, 0, 2, 3)).max()


def check_materials(file, solid):
    """The group `materials` of a solid; gives their number."""
    place = f"{solid}/materials"
    count = file.number(place, "count", "i64") if file.group(place) is not None else None
    for at in file.numbered(place):
        file.text(at, "name")
        kind = file.text(at, "kind", among=("isotropic", "orthotropic"))
        numbers = {name: file.number(at, name, "f64") for name in
                   {"isotropic": ("young", "poisson"), None: (),
                    "orthotropic": ("young_1", "young_2", "young_3", "poisson_12", "poisson_13", "poisson_23", "shear_12",
                                    "shear_13", "shear_23")}[kind]}
        density = file.number(at, "density", "f64")
        file.must(density is None or density > 0, f"{at}/@density", f"is {density}")
        axes = file.array(f"{at}/axes", "f64", (3, 3)) if kind == "orthotropic" else None
        file.must(axes is None or rigid(axes), f"{at}/axes", "are no orthonormal right-handed axes")
        check_laws(file, at, kind)
        if None in numbers.values() or kind is None:
            continue
        if kind == "isotropic":
            file.must(numbers["young"] > 0, f"{at}/@young", f"is {numbers['young']}")
            file.must(-1 < numbers["poisson"] < 0.5, f"{at}/@poisson", f"is {numbers['poisson']}")
        else:
            file.must(is_compliance(numbers), at, "the compliance is not positive definite")
    return count


def check_groups(file, solid, n_nodes, n_elements):
    """The named sets of a solid."""
    for at in file.numbered(f"{solid}/groups"):
        file.text(at, "name")
        dimension = file.number(at, "dimension", "i64")
        file.must(dimension is None or 0 <= dimension <= 3, f"{at}/@dimension", f"is {dimension}")
        file.number(at, "tag", "i64")
        for which, end in (("nodes", n_nodes), ("elements", n_elements)):
            members = file.array(f"{at}/{which}", "i32", (None,))
            if members is None or not members.size:
                continue
            file.must((np.diff(members.astype("i8")) > 0).all(), f"{at}/{which}", "does not ascend")
            file.must(end is None or (members.min() >= 0 and members.max() < end), f"{at}/{which}", f"is not in [0, {end})")
            file.must(which == "nodes" or dimension == 3, f"{at}/elements", "of a group without volume")


def check_laws(file, at, kind):
    """The law, fibres and viscosity of a material."""
    law = file.text(at, "law", optional=True, among=("linear", "stvk", "neo_hookean", "logarithmic"))
    file.must(kind != "orthotropic" or law in (None, "linear", "stvk"), f"{at}/@law", f"is {law} of an orthotropic material")
    if "fibre_stiffness" in file.h5[at].attrs:
        eta = file.number(at, "fibre_stiffness", "f64")
        file.must(eta is None or (eta >= 0 and np.isfinite(eta)), f"{at}/@fibre_stiffness", f"is {eta}")
    if file.has(f"{at}/fibre"):
        fibre = file.array(f"{at}/fibre", "f64", (3,))
        file.must(fibre is None or unit_or_zero(fibre), f"{at}/fibre", "is no unit vector")
    for name in ("prony_isochoric", "prony_volumetric"):
        if file.has(f"{at}/{name}"):
            terms = file.array(f"{at}/{name}", "f64", (None, 2))
            if terms is not None:
                good = 1 <= len(terms) <= 8 and np.isfinite(terms).all() and (terms > 0).all() and terms[:, 0].sum() < 1
                file.must(good, f"{at}/{name}", "are no Prony terms")


def unit_or_zero(rows):
    length = np.linalg.norm(rows, axis=-1)
    return bool(np.all((length == 0) | (np.abs(length - 1) <= 1e-6)))


def is_compliance(m):
    """Is the compliance of an orthotropic material positive definite?"""
    e, g = [m[f"young_{i}"] for i in (1, 2, 3)], [m[f"shear_{x}"] for x in ("12", "13", "23")]
    if min(e + g) <= 0:
        return False
    with np.errstate(all="ignore"):
        scaled = np.eye(3)  # of the compliance, by the roots of its diagonal
        for i, j in ((0, 1), (0, 2), (1, 2)):
            scaled[i, j] = scaled[j, i] = -m[f"poisson_{i + 1}{j + 1}"] * np.sqrt(e[j] / e[i])
        return bool(np.isfinite(scaled).all() and np.linalg.eigvalsh(scaled).min() > 0)


# ---- hashes ----

def expand(file, pattern):
    """The paths of `pattern` that are there; * is 0000, 0001, ... as far as they are there."""
    head, star, tail = pattern.partition("/*")
    parts = [part for part in head.split("/") if part]
    groups = parts if star else parts[:-1]
    for k in range(1, len(groups) + 1):
        place = "/" + "/".join(groups[:k])
        if not file.has(place) or file.group(place) is None:
            return
    if not star:
        if file.has(pattern):
            yield pattern
        return
    count = 0
    while file.has(f"{head}/{count:04}") and file.group(f"{head}/{count:04}") is not None:
        yield from expand(file, f"{head}/{count:04}{tail}")
        count += 1


def add_head(total, name, values):
    for number in (len(name), values.size, values.dtype.itemsize):
        total.add(number.to_bytes(8, "little"))
    total.add(name.encode())


def add_array(total, file, path):
    values = file.array(path, ALL_TYPES, None)
    if values is None:
        raise ValueError(path)
    add_head(total, path.rsplit("/", 1)[1], values)
    if values.size:
        total.add(np.ascontiguousarray(values))


def hash_of(file, patterns, shape_place=None):
    """The hash of the arrays of `patterns`, in which shapes/* stands for shape_place; None where one cannot be read."""
    total = Hash()
    try:
        for pattern in patterns:
            path = "/" + pattern if shape_place is None else pattern.replace("shapes/*", shape_place, 1)
            for found in expand(file, path):
                add_array(total, file, found)
    except ValueError:
        return None
    return total.digest()


# ---- the file ----

class Basis:
    """A basis, checked; `ranks` has the modes of each object, None where they are not known."""

    def __init__(self, file, parts_of_others=True):
        self.file, self.ranks = file, None
        file.open_as((1,))
        self.parts_of_others, self.others = parts_of_others, {}
        self.hash = file.hash_text("/", "content_hash")
        file.provenance("/provenance", optional=False)
        self.hashes = None
        file.hash_text("/", "recipe_hash", optional=True)
        text = file.text("/", "hashed")
        self.hashed = None if text is None else text.split(" ")
        if text is not None and not file.must(all(LISTED.fullmatch(x) and len(x) <= 255 for x in self.hashed), "/@hashed",
                                              "must be paths with one space between two"):
            self.hashed = None
        self.shapes = []
        if file.group("/shapes") is not None:
            self._shapes()
        self._objects()
        self._hashes()

    def _shapes(self):
        file = self.file
        count = file.number("/shapes", "count", "i64")
        if count is None or not file.must(count >= 1, "/shapes/@count", f"is {count}"):
            return
        self.hashes = file.array("/shapes/hash", "u8", (count, 16))
        for place in file.numbered("/shapes"):
            file.text(place, "name")
            attributes = file.h5[place].attrs
            if "file" in attributes or "file_shape" in attributes:
                self.shapes.append(self._shape_of_another(place))
            else:
                self.shapes.append(Shape(file, place))
        self.n_shapes = count

    def _shape_of_another(self, place):
        """A shape that lies in another file; None where it cannot be found."""
        file, number = self.file, int(place[-4:])
        name, which = file.text(place, "file"), file.number(place, "file_shape", "i64")
        for group in ("surface", "tables", "modes", "reduced_forces", "volume", "truncation", "look"):
            file.must(not file.has(f"{place}/{group}"), place, f"lies in another file and has {group}")
        if name is None or which is None:
            return None
        parts = name.split("/")
        if not file.must(name and not {"", ".", ".."} & set(parts), f"{place}/@file", f"{name!r} is no path inside the folder"):
            return None
        if not file.must(self.parts_of_others, place, "lies in a third file"):
            return None
        folder = os.path.realpath(os.path.dirname(os.path.abspath(file.path)))
        path = os.path.realpath(os.path.join(folder, name))
        if not file.must(os.path.commonpath([folder, path]) == folder, f"{place}/@file", f"{name} is outside of the folder"):
            return None
        try:
            if path not in self.others:
                self.others[path] = Basis(File(path), parts_of_others=False)
                for at, what in self.others[path].file.findings:
                    file.broken(f"{place}/@file", f"{name}: {at}: {what}")
        except (OSError, Unreadable) as error:
            file.broken(f"{place}/@file", f"{name}: {error}")
            return None
        other = self.others[path]
        if not file.must(0 <= which < len(other.shapes), f"{place}/@file_shape", f"is {which}"):
            return None
        if self.hashes is not None and other.hashes is not None and number < len(self.hashes):
            file.must((self.hashes[number] == other.hashes[which]).all(), f"{place}/@file", f"{name}: is another shape")
        listed = [x for x in other.hashed or [] if x.startswith("shapes/*/")]
        mine = iter(self.hashed or [])
        file.must(all(x in mine for x in listed), "/@hashed", f"lacks what {name} lists, or has another order")
        return other.shapes[which]

    def _objects(self):
        file = self.file
        shape = file.array("/objects/shape", "i32", (None,))
        n = None if shape is None else len(shape)
        parent, frames = file.array("/objects/parent", "i32", (n,)), file.array("/objects/rest_pose", "f64", (n, 3, 4))
        self.objects = {"shape": shape, "parent": parent, "rest_pose": frames}
        if n is not None:
            file.must(1 <= n <= MOST, "/objects/shape", f"{n} objects")
            if self.shapes and file.must(((shape >= 0) & (shape < self.n_shapes)).all(), "/objects/shape",
                                         f"is not in [0, {self.n_shapes})") and len(self.shapes) == self.n_shapes:
                ranks = [None if s is None else s.n_modes for s in self.shapes]
                self.ranks = None if None in ranks else np.array(ranks)[shape]
        if parent is not None and n is not None:
            if file.must(((parent >= -1) & (parent < n)).all(), "/objects/parent", f"is not in [-1, {n})"):
                ahead = np.concatenate([parent, [-1]])  # -1 leads to the last, which leads to itself
                for _ in range(max(1, n.bit_length())):
                    ahead = ahead[ahead]
                file.must((ahead == -1).all(), "/objects/parent", "has a ring")
        if frames is not None:
            for i in np.flatnonzero(~rigid(frames)):
                file.broken(f"/objects/rest_pose[{i}]", "is no rotation")

    def _hashes(self):
        file = self.file
        if self.hashed is None:
            return
        for shape in filter(None, self.shapes):
            for name in shape.arrays_of_this_page():
                file.must(f"shapes/*/{name}" in self.hashed, "/@hashed", f"lacks shapes/*/{name}")
        for name in ("shapes/hash", *(f"objects/{x}" for x in OBJECTS)):
            file.must(name in self.hashed, "/@hashed", f"lacks {name}")
        own = [x for x in self.hashed if x.startswith("shapes/*/")]
        for i, shape in enumerate(self.shapes):
            if shape is None or shape.file is not file or self.hashes is None or i >= len(self.hashes):
                continue
            found = hash_of(file, own, shape.place)
            file.must(found is None or found == self.hashes[i].tobytes().hex(), f"/shapes/hash[{i}]", f"is not {found}")
        found = hash_of(file, [x for x in self.hashed if not x.startswith("shapes/*/")])
        file.must(None in (found, self.hash) or found == self.hash, "/@content_hash", f"is not {found}")
