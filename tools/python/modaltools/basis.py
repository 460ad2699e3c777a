# SPDX-License-Identifier: Apache-2.0
"""basis.h5 (formats/basis.md): shapes, their modal matrices, objects."""
from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Iterator, Optional

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._h5 import Path, open_file, text

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """A surface that deforms as rest + modes @ q, in the user's order of vertices."""

    name: str
    rest: Floats                     # [V, 3] m
    triangles: NDArray[np.int64]     # [T, 3] vertices, counter-clockwise from outside
    modes: NDArray[np.float32]       # [V, 3, r] U, kg^-1/2
    frequencies: Floats              # [r] Hz
    eigenvalues: Floats              # [r] (rad/s)^2
    participation: Floats            # [r, 3] kg^1/2
    mass: float                      # kg
    kind: str                        # modes, derivatives, snapshots or imported

    @property
    def n_modes(self) -> int:
        return self.modes.shape[2]

    def displacement(self, q: ArrayLike) -> Floats:
        """U q [V, 3] in m, of q [r] in kg^1/2 m; of q [F, r] it is [F, V, 3]."""
        q = np.asarray(q, float)
        if q.shape[-1:] != (self.n_modes,):
            raise ValueError(f"shape {self.name}: q has {q.shape[-1:]} coordinates, not {self.n_modes}")
        return np.moveaxis(np.tensordot(self.modes.astype(float), q, axes=(2, -1)), (0, 1), (-2, -1))


@dataclass(frozen=True)
class Object:
    """A placement of a shape."""

    shape: int         # index in Basis.shapes
    parent: int        # index of an object, -1: none
    rest_pose: Floats  # [3, 4] [R p], the shape's coordinates to the world's


def _read_matrix(matrix: h5py.Dataset, user: NDArray[np.int64]) -> NDArray[np.float32]:
    """U [V, 3, r] in the user's order, read by pieces: the file's order is never in memory as a whole."""
    tiled = text(matrix.attrs.get("layout", "tile32")) == "tile32"
    width = 32 if tiled else 1
    u = np.empty((len(user), 3, matrix.shape[1] if tiled else matrix.shape[2]), np.float32)
    step = max(1, (1 << 22) // max(1, 3 * width * u.shape[2]))
    for first in range(0, matrix.shape[0], step):
        part = matrix[first:first + step]
        if tiled:
            part = part.transpose(0, 3, 2, 1).reshape(part.shape[0] * part.shape[3], 3, u.shape[2])
        rows = user[width * first:width * first + len(part)]  # the last tile may have lanes past the last vertex
        u[rows] = part[:len(rows)]
    return u


@contextmanager
def shape_group(file: h5py.File, number: int) -> Iterator[h5py.Group]:
    """The group of a shape of a basis, which of an assembly lies in another file. ValueError where it is not that shape."""
    group = file[f"shapes/{number:04}"]
    if "file" not in group.attrs or "surface" in group:
        yield group
        return
    name, inner = text(group.attrs["file"]), int(group.attrs["file_shape"])
    where = f"{file.filename}: {group.name}"
    if not name or name.startswith("/") or {"", ".", ".."} & set(name.split("/")):
        raise ValueError(f"{where}/@file: no path inside the folder, {name!r}")
    with open_file(os.path.join(os.path.dirname(os.path.abspath(file.filename)), name), "basis", (1,)) as part:
        found = part[f"shapes/{inner:04}"]
        if "surface" not in found:
            raise ValueError(f"{where}: a part of a part, {name}")
        if "hash" in file["shapes"] and not np.array_equal(file["shapes/hash"][number], part["shapes/hash"][inner]):
            raise ValueError(f"{where}: {name} holds another shape by that number: its hash differs")
        yield found


def user_order(group: h5py.Group, name: str, n: int) -> NDArray[np.int64]:
    """user_vertex or user_triangle; ValueError unless it is a permutation."""
    order: NDArray[np.int64] = group[name][:].astype(np.int64)
    if order.shape != (n,) or not np.array_equal(np.sort(order), np.arange(n)):
        raise ValueError(f"{group.file.filename}: {group.name}/{name}: no permutation")
    return order


def _read_shape(group: h5py.Group) -> Shape:
    surface, modes = group["surface"], group["modes"]
    stored = surface["rest_positions"][:].astype(float)
    user, users = (user_order(surface, f"user_{name}", len(surface[of])) for name, of in (("vertex", "rest_positions"), ("triangle", "triangles")))
    matrix = modes["modal_matrix"]
    rest = np.empty_like(stored)
    rest[user] = stored
    in_order = _read_matrix(matrix, user)
    corners = surface["triangles"][:]
    if len(corners) and not (corners.min() >= 0 and corners.max() < len(rest)):
        raise ValueError(f"{group.file.filename}: {surface.name}/triangles: outside of the vertices")
    if not (np.all(np.isfinite(rest)) and np.all(np.isfinite(in_order))):
        raise ValueError(f"{group.file.filename}: {group.name}: rest positions or modal matrix: not finite")
    triangles = np.empty(corners.shape, np.int64)
    triangles[users] = user[corners]
    return Shape(name=text(group.attrs["name"]), rest=rest, triangles=triangles, modes=in_order,
                 frequencies=modes["frequencies"][:].astype(float), eigenvalues=modes["eigenvalues"][:].astype(float),
                 participation=modes["participation"][:].astype(float), mass=float(modes.attrs["total_mass"]),
                 kind=text(modes.attrs.get("kind", "modes")))


def _read_shape_of(file: h5py.File, number: int, files: set[str]) -> Shape:
    with shape_group(file, number) as group:
        files.add(group.file.filename)
        return _read_shape(group)


class Basis:
    """Opens and reads a basis. ValueError: it is none, or of another major version; OSError: it cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        self.files = {self.path}  # and the parts of an assembly
        with open_file(path, "basis", (1,)) as file:
            self.content_hash = text(file.attrs["content_hash"])
            self.shapes: list[Shape] = [_read_shape_of(file, i, self.files) for i in range(int(file["shapes"].attrs["count"]))]
            objects = file["objects"]
            self.objects: list[Object] = [
                Object(int(shape), int(parent), pose.astype(float)) for shape, parent, pose in
                zip(objects["shape"][:], objects["parent"][:], objects["rest_pose"][:])]
        if not self.objects or not all(0 <= o.shape < len(self.shapes) for o in self.objects):
            raise ValueError(f"{self.path}: /objects/shape: none, or outside of the shapes")
        counts = [self.shapes[o.shape].n_modes for o in self.objects]
        self.offsets: NDArray[np.int64] = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

    @property
    def n_coordinates(self) -> int:
        """Reduced coordinates of all objects: object i owns [offsets[i], offsets[i + 1])."""
        return int(self.offsets[-1])

    @property
    def n_points(self) -> int:
        return sum(len(self.shapes[o.shape].rest) for o in self.objects)

    @property
    def triangles(self) -> NDArray[np.int64]:
        """[m, 3] points, of all objects."""
        parts, first = [], 0
        for o in self.objects:
            parts.append(self.shapes[o.shape].triangles + first)
            first += len(self.shapes[o.shape].rest)
        return np.concatenate(parts)

    def deform(self, q: ArrayLike, poses: Optional[ArrayLike] = None) -> Floats:
        """World positions R (x + U q) + p [n_points, 3] in m, of q [n_coordinates] and poses [objects, 3, 4] (the rest poses)."""
        q = np.asarray(q, float)
        if q.shape != (self.n_coordinates,):
            raise ValueError(f"{self.path}: q has the shape {q.shape}, not ({self.n_coordinates},)")
        rest = np.stack([o.rest_pose for o in self.objects])
        poses = rest if poses is None else np.asarray(poses, float)
        if poses.shape != rest.shape:
            raise ValueError(f"{self.path}: poses have the shape {poses.shape}, not {rest.shape}")
        parts = []
        for i, o in enumerate(self.objects):
            shape = self.shapes[o.shape]
            x = shape.rest + shape.displacement(q[self.offsets[i]:self.offsets[i + 1]])
            parts.append(x @ poses[i, :, :3].T + poses[i, :, 3])
        return np.concatenate(parts)
