# SPDX-License-Identifier: Apache-2.0
"""The solid of a shape: nodes, elements, groups, materials; strain and stress of its elements by the law that moved it."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

import h5py
import numpy as np
from numpy.typing import NDArray

from . import elements
from ._h5 import text
from .basis import Floats

_CHUNK = 4096                  # elements whose gradients are made at once
_HELD = 1 << 28                # bytes of gradients that are kept between frames
_INCOMPRESSIBLE = 0.49         # lib/fem/enhanced.h
_SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))  # VTK's order of a symmetric tensor
FIELDS = {"strain": 6, "stress": 6, "von_mises": 1, "jacobian": 1}


@dataclass(frozen=True)
class Group:
    """A named set of the user's mesh."""

    name: str
    dimension: int                 # 0 to 3
    nodes: NDArray[np.int64]       # ascending
    elements: NDArray[np.int64]    # ascending; of dimension 3 alone


@dataclass
class _Block:
    """Elements of one kind."""

    kind: int
    which: NDArray[np.int64]       # their numbers
    nodes: NDArray[np.int64]       # [m, n]
    rule: elements.Rule
    held: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)


class Solid:
    """Of a group /shapes/NNNN that has a volume. ValueError where it is broken. with_modes=False: what does not move."""

    def __init__(self, group: h5py.Group, with_modes: bool = True) -> None:
        volume = group["volume"]
        where = f"{group.file.filename}: {group.name}/volume"
        self.nodes: Floats = volume["nodes"][:].astype(float)
        self.types: NDArray[np.uint8] = volume["element_types"][:]
        flat = volume["element_nodes"][:].astype(np.int64)
        if len(self.types) == 0 or self.types.max() > elements.PYRAMID5:
            raise ValueError(f"{where}/element_types: none, or an unknown one")
        counts = elements.N_NODES[self.types]
        self.offsets: NDArray[np.int64] = np.concatenate([[0], np.cumsum(counts)])
        if self.offsets[-1] != len(flat) or flat.min() < 0 or flat.max() >= len(self.nodes):
            raise ValueError(f"{where}/element_nodes: not those of the types, or outside of the nodes")
        self._flat = flat
        self.material: NDArray[np.int64] = volume["element_material"][:].astype(np.int64) if "element_material" in volume \
            else np.zeros(len(self.types), np.int64)
        self.material_names: list[str] = []
        self._elasticity: list[Floats] = []
        self._nearly_incompressible: list[bool] = []
        for i in range(int(volume["materials"].attrs["count"])):
            one = volume[f"materials/{i:04}"]
            axes = one["axes"][:] if text(one.attrs["kind"]) == "orthotropic" else None
            self.material_names.append(text(one.attrs["name"]))
            self._elasticity.append(elements.elasticity(dict(one.attrs), axes))
            self._nearly_incompressible.append(axes is None and float(one.attrs["poisson"]) >= _INCOMPRESSIBLE)
        if self.material.min() < 0 or self.material.max() >= len(self.material_names):
            raise ValueError(f"{where}/element_material: outside of the materials")
        self.groups = [self._read_group(volume[f"groups/{i:04}"]) for i in range(int(volume["groups"].attrs["count"]))] \
            if "groups" in volume else []
        self._incompatible = text(volume.attrs.get("stiffness_rule", "conforming")) == "incompatible"
        self.modes: Optional[NDArray[np.floating[Any]]] = self._read_modes(group, volume) if with_modes else None  # [3 N, r]
        self._blocks: Optional[list[_Block]] = None

    @staticmethod
    def _read_group(group: h5py.Group) -> Group:
        return Group(text(group.attrs["name"]), int(group.attrs["dimension"]), group["nodes"][:].astype(np.int64),
                     group["elements"][:].astype(np.int64))

    def _read_modes(self, group: h5py.Group, volume: h5py.Group) -> "Optional[NDArray[np.floating[Any]]]":
        """phi at the nodes, in whichever way it is kept; None: not kept."""
        n = len(self.nodes)
        if "volume_modes" in volume:
            modes = volume["volume_modes"]
            out = np.empty((3 * n, modes.shape[0]), modes.dtype.newbyteorder("="))
            for k in range(modes.shape[0]):
                out[:, k] = modes[k].ravel()
            return out
        if "inner_modes" not in volume:
            return np.zeros((3 * n, 0), np.float32) if "modes/modal_matrix" not in group or group["modes/modal_matrix"].shape[1] == 0 else None
        matrix, vertex_nodes, inner = group["modes/modal_matrix"], volume["embedding_nodes"][:], volume["inner_modes"]
        u = matrix[:]
        if text(matrix.attrs.get("layout", "tile32")) == "tile32":
            u = u.transpose(0, 3, 2, 1).reshape(-1, 3, u.shape[1])[:len(vertex_nodes)]
        by_node = np.empty((n, 3, u.shape[2]), np.float32)
        is_inner = np.ones(n, bool)
        is_inner[vertex_nodes] = False
        by_node[vertex_nodes] = u
        rest = np.flatnonzero(is_inner)
        for k in range(u.shape[2]):
            by_node[rest, :, k] = inner[k]
        return by_node.reshape(3 * n, -1)

    # ---- cells ----

    @property
    def connectivity(self) -> NDArray[np.int64]:
        """The nodes of all elements in VTK's order, element e at [offsets[e], offsets[e + 1])."""
        out: NDArray[np.int64] = self._flat.copy()
        first = self.offsets[:-1][self.types == elements.WEDGE6]
        out[first[:, None] + np.arange(6)] = self._flat[first[:, None] + elements.WEDGE_OF_VTK]
        return out

    @property
    def vtk_types(self) -> NDArray[np.uint8]:
        types: NDArray[np.uint8] = elements.VTK_TYPES[self.types]
        return types

    def elements_at(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each row of nodes [m, k] the first element that has all of them; -1: none."""
        owner = np.repeat(np.arange(len(self.types)), elements.N_NODES[self.types])
        order = np.argsort(self._flat, kind="stable")
        starts = np.searchsorted(self._flat[order], np.arange(len(self.nodes) + 1))
        counts = (starts[1:] - starts[:-1])[nodes[:, 0]]
        row = np.repeat(np.arange(len(nodes)), counts)
        place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        candidates = owner[order[starts[nodes[row, 0]] + place]]
        keys = np.sort(owner * len(self.nodes) + self._flat)  # an element and one of its nodes
        good = np.ones(len(row), bool)
        for k in range(1, nodes.shape[1]):
            wanted = candidates * len(self.nodes) + nodes[row, k]
            good &= keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] == wanted
        out = np.full(len(nodes), -1, np.int64)
        out[row[good][::-1]] = candidates[good][::-1]
        return out

    # ---- motion ----

    def displacement(self, q: Floats) -> Floats:
        """phi q [N, 3] in float64."""
        if self.modes is None:
            raise ValueError("no modes at the nodes (modalpack --volume-modes)")
        out = np.empty(len(self.modes))
        for first in range(0, len(out), 1 << 16):
            out[first:first + (1 << 16)] = self.modes[first:first + (1 << 16)].astype(float) @ q
        return out.reshape(-1, 3)

    def fields(self, u: Floats, names: "list[str]", large: bool, turn: Optional[Floats] = None) -> "dict[str, Floats]":
        """Of the elements at displacements u [N, 3] (FIELDS has the components): `large` by St. Venant-Kirchhoff's law, with Green's
        strain, else by the linear one; tensors turned into the world's axes by turn [3, 3]. Means of the points where the stiffness is
        integrated, weighted by volume, von Mises' stress and det F too; as modaldeform --fields has them."""
        out = {name: np.empty((len(self.types), FIELDS[name])) for name in names}
        if self._blocks is None:
            self._blocks = [_Block(kind, which, self._flat[self.offsets[which][:, None] + np.arange(elements.N_NODES[kind])],
                                   elements.rule(kind))
                            for kind in range(6) for which in [np.flatnonzero(self.types == kind)] if len(which)]
        for block in self._blocks:
            for first in range(0, len(block.which), _CHUNK):
                which = block.which[first:first + _CHUNK]
                found = self._chunk(block, first, u, large)
                for name in names:
                    value = found[name]
                    if FIELDS[name] == 6:
                        value = value if turn is None else turn @ value @ turn.T
                        value = np.stack([value[:, i, j] for i, j in _SIX], axis=1)
                    out[name][which] = value.reshape(len(which), -1)
        return {name: value[:, 0] if FIELDS[name] == 1 else value for name, value in out.items()}

    def _geometry(self, block: _Block, first: int) -> tuple[Floats, Floats]:
        """Gradients of the shape functions [m, P, n, 3] and det J [m, P] of a chunk."""
        if first in block.held:
            return block.held[first]
        x = self.nodes[block.nodes[first:first + _CHUNK]]
        inverse, determinant = elements.jacobians(block.rule.slopes, x)
        made = np.einsum("qap,eqkp->eqak", block.rule.slopes, inverse, optimize=True), determinant
        if sum(g.nbytes for b in self._blocks or [] for g, _ in b.held.values()) + made[0].nbytes <= _HELD:
            block.held[first] = made
        return made

    def _chunk(self, block: _Block, first: int, u: Floats, large: bool) -> "dict[str, Floats]":
        gradients, determinant = self._geometry(block, first)
        moved = u[block.nodes[first:first + _CHUNK]]
        material = self.material[block.which[first:first + _CHUNK]]
        tensor = np.stack(self._elasticity).reshape(-1, 9, 9)
        h = moved.transpose(0, 2, 1)[:, None] @ gradients  # [m, P, 3, 3] d u_p / d x_k
        if self._incompatible and not large and block.kind in (elements.HEX8, elements.WEDGE6):
            h = self._enhance(block, first, h, moved, material)
        strain = (h + h.swapaxes(-1, -2)) / 2
        if large:
            strain += h.swapaxes(-1, -2) @ h / 2
        flat = strain.reshape(*strain.shape[:2], 9)
        stress = np.empty_like(flat)
        for i in np.unique(material):
            stress[material == i] = flat[material == i] @ tensor[i].T
        stress = stress.reshape(strain.shape)
        jacobian = np.ones(h.shape[:2])
        if large:
            f = h + np.eye(3)
            jacobian = np.linalg.det(f)
            with np.errstate(all="ignore"):
                stress = f @ stress @ f.swapaxes(-1, -2) / jacobian[..., None, None]
        s = stress
        mises = np.sqrt(((s[..., 0, 0] - s[..., 1, 1])**2 + (s[..., 1, 1] - s[..., 2, 2])**2 + (s[..., 2, 2] - s[..., 0, 0])**2) / 2
                        + 3 * (s[..., 0, 1]**2 + s[..., 1, 2]**2 + s[..., 0, 2]**2))
        weights = np.abs(determinant) * block.rule.weights
        weights = weights / weights.sum(axis=1, keepdims=True)
        return {"strain": np.einsum("eq,eqij->eij", weights, strain), "stress": np.einsum("eq,eqij->eij", weights, stress),
                "von_mises": (weights * mises).sum(axis=1), "jacobian": (weights * jacobian).sum(axis=1)}

    def _enhance(self, block: _Block, first: int, h: Floats, moved: Floats, material: NDArray[np.int64]) -> Floats:
        """What incompatible modes and mean dilatation make of the gradients: lib/fem/enhanced.h has the formulas and the sources."""
        gradients, determinant = self._geometry(block, first)
        weights = determinant * block.rule.weights
        means = np.einsum("eq,eqak->eak", weights, gradients) / weights.sum(axis=1)[:, None, None]
        divergence = np.einsum("eap,eap->e", moved, means)[:, None] + np.zeros(determinant.shape)
        added = np.zeros_like(h)
        if block.kind == elements.HEX8:
            x = self.nodes[block.nodes[first:first + _CHUNK]]
            centre, at_centre = elements.jacobians(elements.slopes_at(elements.HEX8, np.zeros(3))[None], x)
            cofactors = (centre[:, 0] * at_centre[:, 0, None, None]).swapaxes(-1, -2)          # [m, k, 3]
            slopes = -2 * block.rule.points[None] / determinant[..., None]                      # [m, P, k]
            products = np.einsum("eq,eqk,eql->ekl", weights, slopes, slopes)
            mixed = np.einsum("eq,eqk,eqar->eakr", weights, slopes, gradients, optimize=True)
            pulled = np.einsum("eap,eakr->ekpr", moved, mixed)                                  # [m, k, 3, 3]
            tensor = np.stack(self._elasticity)[material]
            inner = np.einsum("ekl,eiIjJ,ekI,elJ->ekilj", products, tensor, cofactors, cofactors, optimize=True)
            load = np.einsum("eiIjJ,ekjJ,ekI->eki", tensor, pulled, cofactors, optimize=True)
            alpha = -np.linalg.solve(inner.reshape(-1, 9, 9), load.reshape(-1, 9, 1)).reshape(-1, 3, 3)
            added = np.einsum("eki,eqk,ekj->eqij", alpha, slopes, cofactors, optimize=True)
            traces = np.trace(pulled, axis1=2, axis2=3)
            nearest = np.linalg.solve(products, traces[..., None])[..., 0]
            divergence = divergence + np.einsum("ek,eqk->eq", nearest, slopes)
        mean = np.array(self._nearly_incompressible)[material]
        off = np.where(mean[:, None], (divergence - np.trace(h, axis1=2, axis2=3)) / 3, 0)
        return h + off[..., None, None] * np.eye(3) + added
