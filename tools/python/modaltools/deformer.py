# SPDX-License-Identifier: Apache-2.0
"""Frames as they are asked for, from traj.h5 and basis.h5, without a sequence on the disk."""
from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Iterator, Optional, Type

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._h5 import Path, kind_of
from .basis import Basis, Floats
from .trajectory import Trajectory

Singles = NDArray[np.float32]
_CORNERS = 1 << 22  # of triangles whose normals are summed at once


@dataclass(frozen=True)
class Frame:
    """All points of all objects, one object after the other, in the user's order of vertices; what was not asked for is None."""

    positions: Singles                      # [n_points, 3] m, in the world
    normals: Optional[Singles] = None       # [n_points, 3] of length 1, or 0 where there is no area
    displacement: Optional[Singles] = None  # [n_points, 3] m, R U q
    speed: Optional[Singles] = None         # [n_points] m/s
    time: Optional[float] = None            # s; None: of coordinates that were handed over


class _Shape:
    """A shape's arrays as the sums read them, and the objects that have it."""

    def __init__(self, basis: Basis, number: int, objects: list[int], first_points: NDArray[np.int64]) -> None:
        shape = basis.shapes[number]
        self.objects = np.array(objects)
        self.n, self.r = len(shape.rest), shape.n_modes
        self.rest: Singles = shape.rest.astype(np.float32)
        self.modes: Singles = shape.modes.reshape(3 * self.n, self.r)
        self.triangles = shape.triangles
        self.coordinates = basis.offsets[self.objects][:, None] + np.arange(self.r)  # [objects, r]
        self.first = first_points[self.objects]
        self._lock = threading.Lock()
        self._corners: Optional[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = None

    def deformed(self, q: Floats) -> Singles:
        """U q [objects, n, 3]."""
        if self.r == 0:
            return np.zeros((len(self.objects), self.n, 3), np.float32)
        mine = q[self.coordinates].astype(np.float32)
        u: Singles = self.modes @ mine[0] if len(mine) == 1 else np.ascontiguousarray((self.modes @ mine.T).T)
        return u.reshape(len(mine), self.n, 3)

    def corners(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The triangles of all corners, a vertex's one after the other; where each vertex begins; vertices that have some."""
        with self._lock:
            if self._corners is None:
                of = self.triangles.ravel()
                order = np.argsort(of, kind="stable")
                counts = np.bincount(of, minlength=self.n)
                has = np.flatnonzero(counts)
                self._corners = order // 3, (np.cumsum(counts) - counts)[has], has
            return self._corners

    def normals(self, x: Singles) -> Singles:
        """Of positions [objects, n, 3]: sums of the cross products of the triangles around a vertex, made one long."""
        triangles, starts, has = self.corners()
        normals = np.zeros_like(x)
        step = max(1, _CORNERS // max(1, len(triangles)))
        for a in range(0, len(x) if len(has) else 0, step):
            part = x[a:a + step]
            p = part[:, self.triangles[:, 0]]
            cross = np.cross(part[:, self.triangles[:, 1]] - p, part[:, self.triangles[:, 2]] - p)
            for k in range(3):
                normals[a:a + step, has, k] = np.add.reduceat(np.ascontiguousarray(cross[..., k])[:, triangles], starts, axis=1)
        lengths = np.sqrt(np.einsum("onk,onk->on", normals, normals))[..., None]
        return np.divide(normals, lengths, out=normals, where=lengths > 0)


class Deformer:
    """Opens a trajectory, or a basis, which has no frames but deforms by coordinates of one's own. Several threads may use one.

        with Deformer("traj.h5") as motion:
            x = motion.frame(3).positions

    It computes in float32 with numpy; positions differ from modaldeform's by rounding. It holds the basis, and in a call about
    three frames. ValueError: the file is of another kind or version, or was made for another basis; OSError: it cannot be read."""

    def __init__(self, path: Path, basis: Optional[Path] = None) -> None:
        self.path = os.fspath(path)
        kind = kind_of(path)
        self._trajectory: Optional[Trajectory] = None
        if kind == "basis":
            if basis is not None:
                raise ValueError(f"{self.path}: is a basis itself")
            self.basis = Basis(path)
        else:
            self._trajectory = Trajectory(path, None if basis is None else Basis(basis))
            self.basis = self._trajectory.basis
        objects = self.basis.objects
        if self._trajectory is not None and not np.array_equal(self._trajectory.offsets, self.basis.offsets):
            raise ValueError(f"{self.path}: mode_offsets: not those of the objects of {self.basis.path}")
        sizes = [len(self.basis.shapes[o.shape].rest) for o in objects]
        self.times: Floats = np.empty(0) if self._trajectory is None else self._trajectory.times
        self.names: list[str] = [self.basis.shapes[o.shape].name for o in objects]
        self.first_points: NDArray[np.int64] = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.triangles: NDArray[np.int64] = self.basis.triangles
        self._rest = np.stack([o.rest_pose for o in objects])
        users: dict[int, list[int]] = {}
        for i, o in enumerate(objects):
            users.setdefault(o.shape, []).append(i)
        self._shapes: Optional[list[_Shape]] = [_Shape(self.basis, k, who, self.first_points) for k, who in users.items()]

    # ---- a handle ----

    def close(self) -> None:
        """Lets go of the arrays; a call after it raises ValueError, one that is under way ends as it should."""
        self._shapes = None

    def __enter__(self) -> "Deformer":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.times)

    @property
    def n_points(self) -> int:
        return int(self.first_points[-1])

    @property
    def n_coordinates(self) -> int:
        return self.basis.n_coordinates

    # ---- frames ----

    def frame(self, index: int, *, normals: bool = False, displacement: bool = False, speed: bool = False) -> Frame:
        """A frame of the trajectory; a negative index counts from the end. IndexError where there is none."""
        motion, index = self._moving(index)
        poses = None if motion.poses is None else motion.poses[index]
        rates: Optional[tuple[Floats, Optional[Floats]]] = None
        if speed:
            if len(motion) < 2:
                raise ValueError(f"{self.path}: speed needs two frames")
            a, b = max(index - 1, 0), min(index + 1, len(motion) - 1)  # central, one-sided at the ends
            dt = motion.times[b] - motion.times[a]
            rates = ((motion.q[b] - motion.q[a]) / dt,
                     None if motion.poses is None else (motion.poses[b] - motion.poses[a]) / dt)
        return self._compute(motion.q[index], poses, normals, displacement, rates, float(motion.times[index]))

    def frames(self, start: int = 0, stop: Optional[int] = None, step: int = 1, *, normals: bool = False,
               displacement: bool = False, speed: bool = False) -> Iterator[Frame]:
        """Frames as range(start, stop, step) has them, each computed when it is asked for."""
        for i in range(*slice(start, stop, step).indices(len(self))):
            yield self.frame(i, normals=normals, displacement=displacement, speed=speed)

    def at(self, q: ArrayLike, poses: Optional[ArrayLike] = None, *, normals: bool = False, displacement: bool = False) -> Frame:
        """The frame of q [n_coordinates] in kg^1/2 m, and poses [objects, 3, 4] (the rest poses)."""
        values = self._finite("q", q, (self.n_coordinates,))
        placed = None if poses is None else self._finite("poses", poses, self._rest.shape)
        return self._compute(values, placed, normals, displacement, None, None)

    def probe(self, points: ArrayLike, start: int = 0, stop: Optional[int] = None, step: int = 1) -> Singles:
        """Positions [frames, k, 3] of a few points in many frames. `points` are k numbers of points, or k places [k, 3] in the world at
        rest: then those of the nearest points. Nothing else is deformed."""
        shapes = self._open()
        numbers = self._numbers(points)
        wanted = np.arange(len(self))[start:stop:step]
        out: Singles = np.empty((len(wanted), len(numbers), 3), np.float32)
        if len(wanted) == 0:
            return out
        motion, _ = self._moving(0)
        objects = np.searchsorted(self.first_points, numbers, side="right") - 1
        for shape in shapes:
            for i, o in enumerate(shape.objects):
                here = np.flatnonzero(objects == o)
                if len(here) == 0:
                    continue
                v = numbers[here] - shape.first[i]
                rows = shape.modes.reshape(shape.n, 3, shape.r)[v].astype(float)
                rest = self.basis.shapes[self.basis.objects[o].shape].rest[v]
                x = rest + np.einsum("kpr,fr->fkp", rows, motion.q[wanted][:, shape.coordinates[i]])
                pose = np.broadcast_to(self._rest[o], (len(wanted), 3, 4)) if motion.poses is None else motion.poses[wanted, o]
                out[:, here] = np.einsum("fpj,fkj->fkp", pose[:, :, :3], x) + pose[:, None, :, 3]
        return out

    # ---- within ----

    def _open(self) -> list[_Shape]:
        if self._shapes is None:
            raise ValueError(f"{self.path}: is closed")
        return self._shapes

    def _moving(self, index: int) -> tuple[Trajectory, int]:
        self._open()
        if self._trajectory is None:
            raise ValueError(f"{self.path}: is a basis, which has no frames")
        n = len(self)
        if not -n <= index < n:
            raise IndexError(f"{self.path}: frame {index} of {n}")
        return self._trajectory, index % n

    def _finite(self, name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
        array = np.asarray(values, float)
        if array.shape != shape:
            raise ValueError(f"{self.path}: {name} has the shape {array.shape}, not {shape}")
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{self.path}: {name}: not finite")
        return array

    def _numbers(self, points: ArrayLike) -> NDArray[np.int64]:
        array = np.asarray(points)
        if array.ndim == 1 and array.dtype.kind in "iu":
            if len(array) and not (array.min() >= 0 and array.max() < self.n_points):
                raise IndexError(f"{self.path}: points are 0 to {self.n_points - 1}")
            return array.astype(np.int64)
        if array.ndim != 2 or array.shape[1] != 3 or not np.all(np.isfinite(array.astype(float))):
            raise ValueError(f"{self.path}: points: neither numbers nor places [k, 3]")
        rest = self.at(np.zeros(self.n_coordinates)).positions
        return np.array([int(np.argmin(((rest - place) ** 2).sum(axis=1))) for place in array.astype(float)], np.int64)

    def _compute(self, q: Floats, poses: Optional[Floats], with_normals: bool, with_displacement: bool,
                 rates: Optional[tuple[Floats, Optional[Floats]]], time: Optional[float]) -> Frame:
        shapes, n = self._open(), self.n_points
        at = self._rest if poses is None else poses
        positions: Singles = np.empty((n, 3), np.float32)
        normals: Optional[Singles] = np.empty((n, 3), np.float32) if with_normals else None
        displacement: Optional[Singles] = np.empty((n, 3), np.float32) if with_displacement else None
        speed: Optional[Singles] = np.empty(n, np.float32) if rates is not None else None
        for shape in shapes:
            pose = at[shape.objects].astype(np.float32)
            turn, shift = np.ascontiguousarray(pose[:, :, :3].transpose(0, 2, 1)), pose[:, None, :, 3]
            u = shape.deformed(q)
            if displacement is not None:
                self._put(shape, u @ turn, displacement)
            u += shape.rest  # where the points are in the shape's own axes, from here on
            self._put(shape, u @ turn + shift, positions)
            if normals is not None:
                self._put(shape, shape.normals(u) @ turn, normals)
            if speed is not None and rates is not None:
                velocity = shape.deformed(rates[0]) @ turn
                if rates[1] is not None:
                    rate = rates[1][shape.objects].astype(np.float32)
                    velocity += u @ np.ascontiguousarray(rate[:, :, :3].transpose(0, 2, 1)) + rate[:, None, :, 3]
                self._put(shape, np.sqrt(np.einsum("onk,onk->on", velocity, velocity)), speed)
        return Frame(positions, normals, displacement, speed, time)

    @staticmethod
    def _put(shape: _Shape, values: Singles, to: Singles) -> None:
        for i, first in enumerate(shape.first):
            to[first:first + shape.n] = values[i]
