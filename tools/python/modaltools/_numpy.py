# SPDX-License-Identifier: Apache-2.0
"""What _library.Handle does, of surfaces, with numpy: where libmodaltools is absent."""
from __future__ import annotations

import os
import threading
from typing import Optional

import numpy as np
from numpy.typing import NDArray

from ._h5 import Path, kind_of
from ._library import BasisMissing, Integers, Singles
from .basis import Basis, Floats
from .trajectory import Trajectory

_PIECE = 1 << 18  # triangles, or corners of triangles, that are worked on at once


class _Shape:
    """A shape's arrays as the sums read them, and the objects that have it."""

    def __init__(self, basis: Basis, number: int, objects: list[int], first_points: Integers) -> None:
        shape = basis.shapes[number]
        self.objects = np.array(objects)
        self.n, self.r = len(shape.rest), shape.n_modes
        self.rest: Singles = shape.rest.astype(np.float32)
        self.modes: Singles = shape.modes.reshape(3 * self.n, self.r)
        self.triangles = shape.triangles
        self.coordinates = basis.offsets[self.objects][:, None] + np.arange(self.r)  # [objects, r]
        self.first = first_points[self.objects]
        self._lock = threading.Lock()
        self._corners: Optional[tuple[NDArray[np.int32], NDArray[np.int64]]] = None

    def deformed(self, q: Floats) -> Singles:
        """U q [objects, n, 3]."""
        if self.r == 0:
            return np.zeros((len(self.objects), self.n, 3), np.float32)
        mine = q[self.coordinates].astype(np.float32)
        u: Singles = self.modes @ mine[0] if len(mine) == 1 else np.ascontiguousarray((self.modes @ mine.T).T)
        return u.reshape(len(mine), self.n, 3)

    def corners(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The triangles of all corners, a vertex's one after the other; where each vertex begins, and the end."""
        with self._lock:
            if self._corners is None:
                of = self.triangles.ravel()
                order = np.argsort(of, kind="stable")
                order //= 3
                starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=self.n))])
                self._corners = order.astype(np.int32), starts
            return self._corners

    def normals(self, x: Singles) -> Singles:
        """Of positions [objects, n, 3]: sums of the cross products of the triangles around a vertex, made one long. One object, and
        a piece of its triangles or corners, after the other: what is held between is the cross products of one."""
        triangles, starts = self.corners()
        normals = np.zeros_like(x)
        if 2 * len(triangles) <= _PIECE and len(x) > 1:
            step = _PIECE // max(1, len(triangles))
            for a in range(0, len(x), step):
                self._small_normals(x[a:a + step], normals[a:a + step])
            return normals
        cross: Singles = np.empty((len(self.triangles), 3), np.float32)
        for points, out in zip(x, normals):
            for a in range(0, len(cross), _PIECE):
                p = points[self.triangles[a:a + _PIECE, 0]]
                cross[a:a + _PIECE] = np.cross(points[self.triangles[a:a + _PIECE, 1]] - p, points[self.triangles[a:a + _PIECE, 2]] - p)
            first = 0
            while first < self.n:  # vertices whose corners are a piece, or one vertex
                last = max(first + 1, int(np.searchsorted(starts, starts[first] + _PIECE, side="right")) - 1)
                has = np.flatnonzero(starts[first + 1:last + 1] > starts[first:last])
                if len(has):
                    mine = cross[triangles[starts[first]:starts[last]]]
                    out[first + has] = np.add.reduceat(mine, starts[first:last][has] - starts[first], axis=0)
                first = last
            lengths = np.sqrt(np.einsum("nk,nk->n", out, out))[:, None]
            np.divide(out, lengths, out=out, where=lengths > 0)
        return normals

    def _small_normals(self, x: Singles, out: Singles) -> None:
        """The same of some objects at once, where these are many and small. Points are [k, n, objects]: sums go along whole rows."""
        triangles, starts = self.corners()
        points = np.ascontiguousarray(x.transpose(2, 1, 0))
        p = points[:, self.triangles[:, 0]]
        u, v = points[:, self.triangles[:, 1]] - p, points[:, self.triangles[:, 2]] - p
        has = np.flatnonzero(starts[1:] > starts[:-1])
        if len(has) == 0:
            return
        sums = np.empty((3, len(has), len(x)), np.float32)
        for k in range(3):
            a, b = (k + 1) % 3, (k + 2) % 3
            sums[k] = np.add.reduceat((u[a] * v[b] - u[b] * v[a])[triangles], starts[has], axis=0)
        lengths = np.sqrt((sums * sums).sum(axis=0))
        np.divide(sums, lengths, out=sums, where=lengths > 0)
        out[:, has] = sums.transpose(2, 1, 0)


class NumpyHandle:
    """Several threads may use one."""

    def __init__(self, path: Path, basis: Optional[Path]) -> None:
        self.path = os.fspath(path)
        kind = kind_of(path)
        self._trajectory: Optional[Trajectory] = None
        if kind == "basis":
            if basis is not None:
                raise ValueError(f"{self.path}: is a basis itself")
            self.basis = Basis(path)
        else:
            motion = Trajectory(path)
            if basis is None and not os.path.exists(motion.basis_path):
                raise BasisMissing(f"{self.path}: its basis is not there (its new place can be given beside it), {motion.basis_path}")
            self._trajectory = motion if basis is None else Trajectory(path, Basis(basis))
            self.basis = self._trajectory.basis
        objects = self.basis.objects
        if self._trajectory is not None and not np.array_equal(self._trajectory.offsets, self.basis.offsets):
            raise ValueError(f"{self.path}: mode_offsets: not those of the objects of {self.basis.path}")
        sizes = [len(self.basis.shapes[o.shape].rest) for o in objects]
        self.basis_path = self.basis.path
        self.times: Floats = np.empty(0) if self._trajectory is None else self._trajectory.times
        self.n_frames, self.n_coordinates, self.n_objects = len(self.times), self.basis.n_coordinates, len(objects)
        self.object_shapes: NDArray[np.int32] = np.array([o.shape for o in objects], np.int32)
        self.shape_names = [s.name for s in self.basis.shapes]
        self.first_coordinates: Integers = self.basis.offsets
        self.first_points: Integers = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
        self.first_cells: Integers = np.concatenate(
            [[0], np.cumsum([len(self.basis.shapes[o.shape].triangles) for o in objects], dtype=np.int64)])
        self.n_points = int(self.first_points[-1])
        self.rest_poses: Floats = np.stack([o.rest_pose for o in objects])
        self.frequencies: Floats = np.concatenate([self.basis.shapes[o.shape].frequencies for o in objects])
        users: dict[int, list[int]] = {}
        for i, o in enumerate(objects):
            users.setdefault(o.shape, []).append(i)
        self._shapes: Optional[list[_Shape]] = [_Shape(self.basis, k, who, self.first_points) for k, who in users.items()]

    def close(self) -> None:
        self._shapes = None

    def cancel(self) -> None:
        """A frame of numpy is made to its end."""

    def back_end(self) -> str:
        return "numpy"

    def _open(self) -> list[_Shape]:
        if self._shapes is None:
            raise ValueError(f"{self.path}: is closed")
        return self._shapes

    def _motion(self) -> Trajectory:
        assert self._trajectory is not None
        return self._trajectory

    def coordinates(self) -> Floats:
        return self._motion().q

    def poses(self) -> Optional[Floats]:
        return self._motion().poses

    def triangles(self) -> Integers:
        return self.basis.triangles

    def reach(self) -> Floats:
        return np.concatenate([np.sqrt((self.basis.shapes[s].modes.astype(float) ** 2).sum(axis=1).max(axis=0)) for s in self.object_shapes])

    def rest(self) -> Singles:
        out: Singles = np.empty((self.n_points, 3), np.float32)
        for shape in self._open():
            rest = self.basis.shapes[self.object_shapes[shape.objects[0]]].rest
            pose = self.rest_poses[shape.objects]
            self._put(shape, (rest @ pose[:, :, :3].transpose(0, 2, 1) + pose[:, None, :, 3]).astype(np.float32), out)
        return out

    # ---- frames ----

    def frame(self, index: int, arrays: dict[str, Singles]) -> None:
        motion = self._motion()
        poses = None if motion.poses is None else motion.poses[index]
        rates: Optional[tuple[Floats, Optional[Floats]]] = None
        if "speed" in arrays:
            used = [self.basis.shapes[k] for k in self.object_shapes]
            rates = motion.rates(index, [(s.kind, s.frequencies, s.mass) for s in used])
        self.at(motion.q[index], poses, rates, arrays)

    def at(self, q: Floats, poses: Optional[Floats], rates: Optional[tuple[Floats, Optional[Floats]]], arrays: dict[str, Singles]) -> None:
        shapes = self._open()
        at = self.rest_poses if poses is None else poses
        for shape in shapes:
            pose = at[shape.objects].astype(np.float32)
            turn, shift = np.ascontiguousarray(pose[:, :, :3].transpose(0, 2, 1)), pose[:, None, :, 3]
            u = shape.deformed(q)
            if "displacement" in arrays:
                self._put(shape, u @ turn, arrays["displacement"])
            u += shape.rest  # where the points are in the shape's own axes, from here on
            if "positions" in arrays:
                self._put(shape, u @ turn + shift, arrays["positions"])
            if "normals" in arrays:
                self._put(shape, shape.normals(u) @ turn, arrays["normals"])
            if "speed" in arrays and rates is not None:
                velocity = shape.deformed(rates[0]) @ turn
                if rates[1] is not None:
                    rate = rates[1][shape.objects].astype(np.float32)
                    velocity += u @ np.ascontiguousarray(rate[:, :, :3].transpose(0, 2, 1)) + rate[:, None, :, 3]
                self._put(shape, np.sqrt(np.einsum("onk,onk->on", velocity, velocity)), arrays["speed"])

    def probe(self, points: Integers, first: int, step: int, n: int) -> Floats:
        shapes, motion = self._open(), self._motion()
        wanted = first + step * np.arange(n)
        out: Floats = np.empty((n, len(points), 3))
        objects = np.searchsorted(self.first_points, points, side="right") - 1
        for shape in shapes:
            for i, o in enumerate(shape.objects):
                here = np.flatnonzero(objects == o)
                if len(here) == 0:
                    continue
                v = points[here] - shape.first[i]
                rows = shape.modes.reshape(shape.n, 3, shape.r)[v].astype(float)
                rest = self.basis.shapes[self.basis.objects[o].shape].rest[v]
                x = rest + np.einsum("kpr,fr->fkp", rows, motion.q[wanted][:, shape.coordinates[i]])
                pose = np.broadcast_to(self.rest_poses[o], (n, 3, 4)) if motion.poses is None else motion.poses[wanted, o]
                out[:, here] = np.einsum("fpj,fkj->fkp", pose[:, :, :3], x) + pose[:, None, :, 3]
        return out

    @staticmethod
    def _put(shape: _Shape, values: Singles, to: Singles) -> None:
        for i, first in enumerate(shape.first):
            to[first:first + shape.n] = values[i]
