# SPDX-License-Identifier: Apache-2.0
"""What viewers share (tools/paraview, tools/blender): a trajectory or a basis, opened by its name, its frames at any place between
two of them, larger than they are, the surface's materials and groups, the solid.

    motion = Motion("traj.h5")
    motion.at(7.5, amplitude=10).positions
"""
from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Optional

import h5py
import numpy as np
from numpy.typing import NDArray

from ._h5 import Path, kind_of, open_file, text
from .basis import Floats, shape_group, user_order
from ._library import BasisMissing
from .ahead import Ahead
from .deformer import Deformer, Frame
from .solid import Solid
from .trajectory import Trajectory

Numbers = NDArray[np.int64]
_SAME = 1e-9  # of a frame: nearer to one than that is on it


@dataclass(frozen=True)
class Skin:
    """Of a shape's surface what does not move, in the user's order."""

    name: str
    rest: Floats                              # [V, 3] m
    triangles: Numbers                        # [T, 3]
    uv: Optional[Floats]                      # [n_uv, 2]
    triangle_uv: Optional[Numbers]            # [T, 3]
    materials: list[str]                      # names: those of the .obj (usemtl), else those of the solid
    painted: bool                             # whether those of the .obj
    triangle_material: Numbers                # [T] -1: none
    triangle_groups: dict[str, NDArray[np.uint8]]  # [T] 1: in the group of that name, of dimension 2 or 3
    vertex_groups: dict[str, NDArray[np.uint8]]    # [V] of dimension 0 or 1


@dataclass(frozen=True)
class SolidFrame:
    """Nodes of all objects' solids, one object after the other, and fields of their elements and nodes."""

    positions: NDArray[np.float32]
    displacement: NDArray[np.float32]
    speed: Optional[NDArray[np.float32]]
    cells: dict[str, NDArray[np.float32]]
    nodes: dict[str, NDArray[np.float32]]
    time: Optional[float] = None


def _by_place(values: "dict[str, NDArray[np.float32]]") -> "tuple[dict[str, NDArray[np.float32]], dict[str, NDArray[np.float32]]]":
    """Those of cells, those of nodes."""
    return ({name: value for name, value in values.items() if not name.endswith("_nodes")},
            {name: value for name, value in values.items() if name.endswith("_nodes")})


def _groups(solid: Solid, carrier: Numbers, vertices: Optional[Numbers], triangles: Numbers) \
        -> "tuple[dict[str, NDArray[np.uint8]], dict[str, NDArray[np.uint8]]]":
    """Of triangles, by the element that each is of or all of its vertices; of vertices. `vertices`: the node that each is, None: none."""
    of_triangles, of_vertices = {}, {}
    for group in solid.groups:
        if group.dimension == 3:
            inside = np.zeros(len(solid.types) + 1, np.uint8)  # the last: of no element
            inside[group.elements] = 1
            inside[-1] = 0
            of_triangles[group.name] = inside[carrier]
        elif vertices is not None:
            marked = np.zeros(len(solid.nodes), np.uint8)
            marked[group.nodes] = 1
            if group.dimension == 2:
                of_triangles[group.name] = marked[vertices][triangles].min(axis=1)
            else:
                of_vertices[group.name] = marked[vertices]
    return of_triangles, of_vertices


def _carriers(volume: h5py.Group, solid: Solid, user: Numbers, triangles: Numbers) -> "tuple[Numbers, Optional[Numbers]]":
    """The element that each triangle is of, -1 where it is unknown; the node that each vertex is, None for an embedded surface."""
    nodes = volume["embedding_nodes"][:].astype(np.int64)
    if text(volume.attrs["surface_kind"]) == "boundary":
        vertices = np.empty(len(user), np.int64)
        vertices[user] = nodes if nodes.ndim == 1 else nodes[:, 0]
        return solid.elements_at(vertices[triangles]), vertices
    stored = np.empty(len(user), np.int64)
    stored[user] = np.arange(len(user))
    if nodes.ndim == 2:
        rows = nodes[stored[triangles[:, 0]]]
    else:
        offsets = volume["embedding_offsets"][:].astype(np.int64)
        first, count = offsets[:-1], np.diff(offsets)
        rows = nodes[first[:, None] + np.minimum(np.arange(4), count[:, None] - 1)][stored[triangles[:, 0]]]
    return solid.elements_at(rows), None


def read_skin(group: h5py.Group) -> Skin:
    surface = group["surface"]
    n, m = len(surface["rest_positions"]), len(surface["triangles"])
    user, users = user_order(surface, "user_vertex", n), user_order(surface, "user_triangle", m)
    rest, triangles = np.empty((n, 3)), np.empty((m, 3), np.int64)
    rest[user], triangles[users] = surface["rest_positions"][:], user[surface["triangles"][:]]
    uv, triangle_uv = None, None
    if "uv" in surface:
        uv, triangle_uv = surface["uv"][:].astype(float), np.empty((m, 3), np.int64)
        triangle_uv[users] = surface["triangle_uv"][:]
        if not (triangle_uv.min() >= 0 and triangle_uv.max() < len(uv)):
            raise ValueError(f"{group.file.filename}: {surface.name}/triangle_uv: outside of uv")
    materials, of_triangle = [], np.full(m, -1, np.int64)
    groups: dict[str, NDArray[np.uint8]] = {}
    vertex_groups: dict[str, NDArray[np.uint8]] = {}
    if "look" in group:
        materials = bytes(group["look/material_names"][:]).decode("utf-8", "replace").split("\n")[:-1]
        of_triangle[users] = group["look/triangle_material"][:]
        if not (of_triangle.min() >= -1 and of_triangle.max() < len(materials)):
            raise ValueError(f"{group.file.filename}: {group.name}/look/triangle_material: outside of the names")
    if "volume" in group and "embedding_nodes" in group["volume"]:
        solid = Solid(group, with_modes=False)
        carrier, vertices = _carriers(group["volume"], solid, user, triangles)
        groups, vertex_groups = _groups(solid, carrier, vertices, triangles)
        if not materials:
            materials = solid.material_names
            of_triangle = np.where(carrier >= 0, solid.material[carrier], -1)
    return Skin(text(group.attrs["name"]), rest, triangles, uv, triangle_uv, materials, "look" in group, of_triangle, groups, vertex_groups)


def stamp(path: Path, basis: Path = "") -> "tuple[object, ...]":
    """What changes when one of the files does; OSError where one is not there."""
    found: list[object] = []
    for name in filter(None, (os.fspath(path), os.fspath(basis))):
        try:
            at = os.stat(name)
        except OSError as error:
            raise type(error)(f"{name}: {error.strerror}") from None
        found += [os.path.abspath(name), at.st_mtime_ns, at.st_size, at.st_ino]
    return tuple(found)


class Motion:
    """Opens a trajectory with its basis (`basis` says where it is now), or a basis. BasisMissing, ValueError, OSError with one line that
    names the file and what is wrong. libmodaltools computes, where it is there (Deformer)."""

    def __init__(self, path: Path, basis: Path = "") -> None:
        self.path = os.fspath(path)
        try:
            self.trajectory: Optional[Trajectory] = None if kind_of(path) == "basis" else Trajectory(path)
            self.basis_path = self.path if self.trajectory is None else os.fspath(basis) or self.trajectory.basis_path
            if not os.path.exists(self.basis_path):
                raise BasisMissing(f"{self.path}: its basis is not there, {self.basis_path}")
            self.deformer = Deformer(path, None if self.trajectory is None else self.basis_path)
        except KeyError as error:
            raise ValueError(f"{self.path}: {error.args[0] if error.args else error}") from None
        self._ahead = Ahead(self.deformer)
        self.times: Floats = self.deformer.times
        self.object_shapes: Numbers = self.deformer.object_shapes.astype(np.int64)
        self.shape_names: list[str] = self.deformer.shape_names
        self.rest_poses: Floats = self.deformer.rest_poses
        self.offsets: Numbers = self.deformer.first_coordinates
        self._volumes: Optional[Deformer] = None
        self._skins: dict[int, Skin] = {}
        self._solids: dict[int, Optional[Solid]] = {}
        self._reach: dict[int, Floats] = {}

    def __len__(self) -> int:
        return len(self.times)

    @property
    def is_basis(self) -> bool:
        return self.trajectory is None

    @property
    def n_shapes(self) -> int:
        return len(self.shape_names)

    @property
    def n_objects(self) -> int:
        return len(self.object_shapes)

    @property
    def first_points(self) -> Numbers:
        """Object i has the points [first_points[i], first_points[i + 1])."""
        return self.deformer.first_points

    def close(self) -> None:
        self._ahead.close()
        self.deformer.close()
        if self._volumes is not None:
            self._volumes.close()

    # ---- what does not move ----

    def skin(self, shape: int) -> Skin:
        if shape not in self._skins:
            with open_file(self.basis_path, "basis", (1,)) as file, shape_group(file, shape) as group:
                self._skins[shape] = read_skin(group)
        return self._skins[shape]

    def has_solid(self) -> bool:
        """Whether every shape that is used has a solid with modes at its nodes."""
        return all(self.solid(int(k)) is not None for k in np.unique(self.object_shapes))

    def solid(self, shape: int) -> Optional[Solid]:
        """None: the shape has none, or no modes at its nodes."""
        if shape not in self._solids:
            with open_file(self.basis_path, "basis", (1,)) as file, shape_group(file, shape) as group:
                found = Solid(group) if "volume" in group else None
            self._solids[shape] = found if found is not None and found.modes is not None else None
        return self._solids[shape]

    def solids(self) -> "list[Solid]":
        """Of each object. ValueError where one has none."""
        found = [self.solid(int(k)) for k in self.object_shapes]
        for k, solid in zip(self.object_shapes, found):
            if solid is None:
                raise ValueError(f"{self.basis_path}: shape {self.shape_names[k]}: no solid with modes at its nodes (modalpack --volume-modes)")
        return [solid for solid in found if solid is not None]

    def frequencies(self, shape: int) -> Floats:
        return self._modes(shape)[1]

    def _modes(self, shape: int) -> "tuple[str, Floats, float]":
        with open_file(self.basis_path, "basis", (1,)) as file, shape_group(file, shape) as group:
            modes = group["modes"]
            return text(modes.attrs.get("kind", "modes")), modes["frequencies"][:].astype(float), float(modes.attrs["total_mass"])

    @property
    def n_modes(self) -> int:
        """The most modes that an object has."""
        return int(np.diff(self.offsets).max())

    # ---- coordinates ----

    def frame_at(self, time: float) -> int:
        """The last frame that is not after this time; the first one before it."""
        slack = 1e-9 * max(1e-30, float(abs(self.times[-1])) + float(abs(time)))
        return max(0, int(np.searchsorted(self.times, time + slack, side="right")) - 1)

    def place_at(self, time: float) -> float:
        """The same between frames: 7.5 is in the middle of the frames 7 and 8; at the ends the first and the last one."""
        return float(np.interp(time, self.times, np.arange(len(self.times))))

    def coordinates(self, place: float) -> "tuple[Floats, Optional[Floats]]":
        """q and poses at a place between frames: linear between them, rotations made orthonormal again."""
        motion = self._moving()
        place = min(max(float(place), 0.0), len(self) - 1.0)
        i = int(place)
        part = place - i
        if part <= _SAME or part >= 1 - _SAME:
            i += part > 0.5
            return motion.q[i], None if motion.poses is None else motion.poses[i]
        q = (1 - part) * motion.q[i] + part * motion.q[i + 1]
        if motion.poses is None:
            return q, None
        poses = (1 - part) * motion.poses[i] + part * motion.poses[i + 1]
        u, _, v = np.linalg.svd(poses[:, :, :3])
        poses[:, :, :3] = u @ v
        return q, poses

    def swing(self, mode: int, share: float, phase: float) -> Floats:
        """q at which every object is `phase` (radians) into its own mode of that number, whose largest displacement is a share of
        the diagonal of the box around its shape at rest; an object with fewer modes rests."""
        if not 0 <= mode < self.n_modes:
            raise ValueError(f"{self.basis_path}: modes are 0 to {self.n_modes - 1}, not {mode}")
        if mode not in self._reach:
            scale = np.zeros(self.deformer.n_coordinates)
            which = (self.offsets[:-1] + mode)[np.diff(self.offsets) > mode]
            diagonal = {int(k): float(np.linalg.norm(np.ptp(self.skin(int(k)).rest, axis=0))) for k in np.unique(self.object_shapes)}
            lengths = np.array([diagonal[int(k)] for k in self.object_shapes[np.diff(self.offsets) > mode]])
            reach = self.deformer.reach[which]
            scale[which] = np.divide(lengths, reach, out=np.zeros(len(which)), where=reach > 0)
            self._reach[mode] = scale
        return share * float(np.sin(phase)) * self._reach[mode]

    def _moving(self) -> Trajectory:
        if self.trajectory is None:
            raise ValueError(f"{self.path}: is a basis, which has no frames")
        return self.trajectory

    # ---- frames ----

    def at(self, place: float, amplitude: float = 1, *, normals: bool = False, displacement: bool = False, speed: bool = False,
           fields: "tuple[str, ...]" = ()) -> Frame:
        """The surfaces at a place between frames. `amplitude` multiplies what positions (and normals) have of the displacement;
        displacement, speed and fields (of curvature) stay those of the motion, speed that of the nearest frame."""
        whole = int(round(min(max(place, 0), len(self) - 1)))
        exact = abs(place - whole) <= _SAME or place <= 0 or place >= len(self) - 1
        if amplitude == 1 and exact:
            return self._ahead.frame(whole, normals=normals, displacement=displacement, speed=speed, fields=fields)
        q, poses = self.coordinates(place)
        of_motion = amplitude == 1
        shown = moved = self.deformer.at(amplitude * q, poses, normals=normals, displacement=displacement and of_motion, fields=fields if of_motion else ())
        if not of_motion and (displacement or fields):
            moved = self.deformer.at(q, poses, displacement=displacement, fields=fields)
        fast = self.deformer.frame(whole, speed=True).speed if speed else None
        return replace(moved, positions=shown.positions, normals=shown.normals, speed=fast, time=float(np.interp(place, np.arange(len(self)), self.times)))

    def _solid_deformer(self) -> Deformer:
        if self._volumes is None:
            self.solids()  # says which shape has none
            self._volumes = Deformer(self.path, self.basis_path, volume=True)
        return self._volumes

    def solid_at(self, place: float, amplitude: float = 1, *, fields: "tuple[str, ...]" = (), speed: bool = False) -> SolidFrame:
        """The solids at a place between frames, with fields of their elements (modaltools.solid.FIELDS) by the law that moved each;
        amplitude as above."""
        motion = self._moving()
        whole = int(round(min(max(place, 0), len(self) - 1)))
        if amplitude == 1 and abs(place - whole) <= _SAME and self.deformer.back_end != "numpy":
            found = self._solid_deformer().frame(whole, displacement=True, speed=speed, fields=fields)
            assert found.displacement is not None
            values = {name: getattr(found, name) for name in fields}
            return SolidFrame(found.positions, found.displacement, found.speed, *_by_place(values), found.time)
        q, poses = self.coordinates(place)
        rates = None
        if speed:
            rates = motion.rates(whole, [self._modes(int(k)) for k in self.object_shapes])
        time = float(np.interp(place, np.arange(len(self)), self.times))
        return self.solid_of(q, poses, amplitude, fields, rates, time)

    def solid_of(self, q: Floats, poses: Optional[Floats] = None, amplitude: float = 1, fields: "tuple[str, ...]" = (),
                 rates: "Optional[tuple[Floats, Optional[Floats]]]" = None, time: Optional[float] = None) -> SolidFrame:
        """The same of coordinates, and their rates where speeds are wanted."""
        solids = self.solids()
        first = np.concatenate([[0], np.cumsum([len(s.nodes) for s in solids])])
        positions, displacement = np.empty((first[-1], 3), np.float32), np.empty((first[-1], 3), np.float32)
        speeds = None if rates is None else np.empty(first[-1], np.float32)
        of_cells = [name for name in fields if not name.endswith("_nodes")]
        cells: dict[str, list[Floats]] = {name: [] for name in of_cells}
        models = None if self.trajectory is None else self.trajectory.models
        for i, solid in enumerate(solids):
            pose = self.rest_poses[i] if poses is None else poses[i]
            own, to = slice(self.offsets[i], self.offsets[i + 1]), slice(first[i], first[i + 1])
            u = solid.displacement(q[own])
            turn = pose[:, :3]
            displacement[to] = u @ turn.T
            positions[to] = (solid.nodes + amplitude * u) @ turn.T + pose[:, 3]
            if speeds is not None and rates is not None:
                velocity = solid.displacement(rates[0][own]) @ turn.T
                if rates[1] is not None:
                    velocity += (solid.nodes + u) @ rates[1][i, :, :3].T + rates[1][i, :, 3]
                speeds[to] = np.sqrt((velocity**2).sum(axis=1))
            if of_cells:
                large = models is not None and bool(models[i])
                for name, value in solid.fields(u, of_cells, large, turn).items():
                    cells[name].append(value)
        if not np.all(np.isfinite(positions)):
            raise ValueError(f"{self.path}: positions do not fit float32")
        of_nodes = [name for name in fields if name.endswith("_nodes")]
        found = self._solid_deformer().at(q, poses, fields=of_nodes) if of_nodes else None  # the library has them
        return SolidFrame(positions, displacement, speeds, {name: np.concatenate(parts).astype(np.float32) for name, parts in cells.items()},
                          {name: getattr(found, name) for name in of_nodes}, time)
