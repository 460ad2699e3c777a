# SPDX-License-Identifier: Apache-2.0
"""Frames as they are asked for, from traj.h5 and basis.h5, without a sequence on the disk."""
from __future__ import annotations

import os
import sys
import threading
import warnings
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Iterator, Optional, Sequence, Type, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._h5 import Path
from ._library import FIELDS, OF_CELLS, Handle, Integers, Singles, find
from ._numpy import NumpyHandle
from .basis import Basis, Floats

WIDTH = {"positions": 3, "normals": 3, "displacement": 3, "speed": 1, "tangents": 4, **FIELDS}
_AT_ONCE, _AT_ONCE_BYTES = 16, 192 << 20  # frames, as open.h says
_said = False


class _Pool:
    """Arrays that nobody holds any more are used again: memory that is new to the process costs more than a frame does. Two of an
    output, so that a frame can be made while the one before it is still there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrays: dict[str, list[Singles]] = {}
        self._counts = getattr(sys, "_is_gil_enabled", lambda: True)() and sys.implementation.name == "cpython"

    def new(self, name: str, shape: tuple[int, ...]) -> Singles:
        """An array of this shape; the last rows of a longer one may be left out."""
        if not self._counts:
            return np.empty(shape, np.float32)
        with self._lock:
            mine = self._arrays.setdefault(name, [])
            free = [i for i in range(len(mine)) if sys.getrefcount(mine[i]) == 2]  # the list's, the call's: views hold the array itself
            for i in free:
                if mine[i].shape[0] >= shape[0]:
                    return mine[i][:shape[0]]
            array = np.empty(shape, np.float32)
            if len(mine) < 2:
                mine.append(array)
            elif free:
                mine[free[0]] = array
            return array[:]


@dataclass(frozen=True)
class Frame:
    """All points of all objects, one object after the other, in the user's order of vertices; what was not asked for is None."""

    positions: Singles                      # [n_points, 3] m, in the world
    normals: Optional[Singles] = None       # [n_points, 3] of length 1, or 0 where there is no area
    displacement: Optional[Singles] = None  # [n_points, 3] m, R U q
    speed: Optional[Singles] = None         # [n_points] m/s
    time: Optional[float] = None            # s; None: of coordinates that were handed over
    tangents: Optional[Singles] = None      # [n_points, 4], the last is the handedness, 1 or -1
    strain: Optional[Singles] = None        # of volumes: [n_cells, 6], xx yy zz xy yz xz
    stress: Optional[Singles] = None        # [n_cells, 6] Pa
    von_mises: Optional[Singles] = None     # [n_cells] Pa
    strain_nodes: Optional[Singles] = None  # [n_points, 6], and so on
    stress_nodes: Optional[Singles] = None
    von_mises_nodes: Optional[Singles] = None
    jacobian: Optional[Singles] = None      # [n_cells] det F
    jacobian_nodes: Optional[Singles] = None
    k_max: Optional[Singles] = None         # of surfaces: [n_points] 1/m
    k_min: Optional[Singles] = None
    mean_curvature: Optional[Singles] = None
    gauss_curvature: Optional[Singles] = None  # 1/m^2
    direction_max: Optional[Singles] = None    # [n_points, 3]
    direction_min: Optional[Singles] = None
    curvature_derivative: Optional[Singles] = None  # [n_points, 4] 1/m^2
    boundary: Optional[Singles] = None      # [n_points], 1 at a boundary


def _frame(arrays: dict[str, Singles], time: Optional[float]) -> Frame:
    positions = arrays.pop("positions")
    return replace(Frame(positions, time=time), **arrays)


@dataclass(frozen=True)
class Group:
    """A named group of the mesh that a shape came from."""

    name: str
    shape: int
    dimension: int    # 3: of elements; 0 to 2: of nodes
    points: Integers  # of all objects of the shape, ascending
    cells: Integers   # triangles; of volumes cells


def _choose(path: Path, basis: Optional[Path], library: Optional[bool], back_end: str, threads: int, memory_limit: int,
            volume: bool) -> Union[Handle, NumpyHandle]:
    global _said
    loaded, where = (None, "") if library is False else find()
    if loaded is not None:
        for place in (path, basis):
            if place is not None and not os.path.exists(place):
                raise FileNotFoundError(f"{os.fspath(place)}: is not there")
        return Handle(loaded, path, basis, back_end, threads, memory_limit, volume)
    if library or volume or back_end != "cpu":
        raise OSError(f"libmodaltools is not there, which {'volumes need' if volume else 'was asked for'}: {where or 'library=False'}")
    if library is None and not _said:
        _said = True
        warnings.warn(f"modaltools: libmodaltools is not there, numpy computes the frames, some times slower: {where} "
                      "(MODALTOOLS_LIBRARY names its file)", RuntimeWarning, stacklevel=3)
    return NumpyHandle(path, basis)


class Deformer:
    """Opens a trajectory, or a basis, which has no frames but deforms by coordinates of one's own. Several threads may use one.

        with Deformer("traj.h5") as motion:
            x = motion.frame(3).positions

    libmodaltools computes: positions are the bytes that modaldeform writes, on `back_end` cpu, cuda, auto. It is looked for where
    MODALTOOLS_LIBRARY says, beside this package, by pkg-config, and where the system looks. Where it is absent, numpy computes, slower,
    which is said once; library=True makes that an error, library=False asks for it. `volume`: points are the nodes of the solids, with
    cells instead of triangles. threads 0: all cores. memory_limit, bytes: what of the basis does not fit is read for every frame.

    ValueError: the file is of another kind or version, or was made for another basis; BasisMissing, an OSError: the basis of the
    trajectory has moved; OSError: it cannot be read, or memory is short; Cancelled: another thread called cancel()."""

    def __init__(self, path: Path, basis: Optional[Path] = None, *, library: Optional[bool] = None, back_end: str = "cpu", threads: int = 0,
                 memory_limit: int = 0, volume: bool = False) -> None:
        self.path = os.fspath(path)
        self.volume = volume
        self._handle = _choose(path, basis, library, back_end, threads, memory_limit, volume)
        h = self._handle
        self.times: Floats = h.times
        self.shape_names: list[str] = h.shape_names
        self.object_shapes: NDArray[np.int32] = h.object_shapes
        self.names: list[str] = [h.shape_names[s] for s in h.object_shapes]
        self.first_points: Integers = h.first_points
        self.first_cells: Integers = h.first_cells
        self.first_coordinates: Integers = h.first_coordinates
        self.frequencies: Floats = h.frequencies
        self.rest_poses: Floats = h.rest_poses
        self.basis_path: str = h.basis_path
        self._basis: Optional[Basis] = h.basis if isinstance(h, NumpyHandle) else None
        self._triangles: Optional[Integers] = None
        self._pool = _Pool()

    # ---- a handle ----

    def close(self) -> None:
        """Lets go of the files and arrays; a call after it raises ValueError, one that is under way ends as it should."""
        self._handle.close()

    def cancel(self) -> None:
        """Ends the frame that another thread waits for: there Cancelled is raised. numpy goes on to its end."""
        self._handle.cancel()

    def __enter__(self) -> "Deformer":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.times)

    @property
    def back_end(self) -> str:
        """What computes: "cpu", "cuda:0", "numpy"."""
        return self._handle.back_end()

    # ---- what there is ----

    @property
    def n_points(self) -> int:
        return self._handle.n_points

    @property
    def n_coordinates(self) -> int:
        return self._handle.n_coordinates

    @property
    def basis(self) -> Basis:
        """The basis as numpy's arrays, read when it is asked for: it takes as much memory again."""
        if self._basis is None:
            self._basis = Basis(self.basis_path)
        return self._basis

    @property
    def triangles(self) -> Integers:
        """[n, 3] points, of all objects."""
        if self._triangles is None:
            self._triangles = self._handle.triangles()
        return self._triangles

    @property
    def cells(self) -> tuple[Integers, Integers, NDArray[np.uint8]]:
        """Of volumes: connectivity, offsets and types as VTK has them."""
        return self._native("cells").cells()

    @property
    def rest(self) -> Singles:
        """Positions [n_points, 3] at rest, in the world."""
        return self._handle.rest()

    @property
    def coordinates(self) -> Floats:
        """q [frames, n_coordinates] in kg^1/2 m."""
        self._index(0)
        return self._handle.coordinates()

    @property
    def poses(self) -> Optional[Floats]:
        """[frames, objects, 3, 4]; None: the rest poses."""
        self._index(0)
        return self._handle.poses()

    @property
    def reach(self) -> Floats:
        """[n_coordinates] m: how far one unit of a coordinate moves a point at most."""
        return self._handle.reach()

    @property
    def materials(self) -> tuple[list[str], NDArray[np.int32]]:
        """Names of materials, and of each triangle (of volumes cell) the number of its name, -1: none."""
        h = self._native("materials")
        return h.material_names, h.materials()

    @property
    def groups(self) -> list[Group]:
        """The named groups of the meshes that the shapes came from; of surfaces that are their boundary."""
        return [Group(*g) for g in self._native("groups").groups()]

    # ---- frames ----

    def frame(self, index: int, *, normals: bool = False, displacement: bool = False, speed: bool = False, tangents: bool = False,
              fields: Sequence[str] = ()) -> Frame:
        """A frame of the trajectory; a negative index counts from the end. IndexError where there is none. `fields` of volumes:
        strain, stress, von_mises, jacobian, and with _nodes at the nodes; of surfaces k_max, k_min, mean_curvature, gauss_curvature, direction_max,
        direction_min, curvature_derivative, boundary."""
        index = self._index(index)
        arrays = self._arrays(normals, displacement, speed, tangents, fields)
        self._handle.frame(index, arrays)
        return _frame(arrays, float(self.times[index]))

    def frames(self, start: int = 0, stop: Optional[int] = None, step: int = 1, *, normals: bool = False,
               displacement: bool = False, speed: bool = False, tangents: bool = False, fields: Sequence[str] = ()) -> Iterator[Frame]:
        """Frames as range(start, stop, step) has them, computed when they are asked for, by libmodaltools up to 16 at once (as long as
        their positions, with normals both, have 192 MB), which takes less time than each for itself."""
        wanted = range(*slice(start, stop, step).indices(len(self)))
        width = 24 if normals or tangents else 12
        most = 1 if isinstance(self._handle, NumpyHandle) else max(1, min(len(wanted), _AT_ONCE, _AT_ONCE_BYTES // (width * self.n_points + 1)))
        for at in range(0, len(wanted), most):
            made = self.some(wanted[at:at + most], normals=normals, displacement=displacement, speed=speed, tangents=tangents, fields=fields)[::-1]
            while made:
                frame = made.pop()
                if most > 1 and not made:  # a copy of the last one, which may still be looked at while its array has the next frames
                    frame = _frame({name: array.copy() for name, array in vars(frame).items() if isinstance(array, np.ndarray)}, frame.time)
                yield frame
                del frame

    def some(self, wanted: range, *, normals: bool = False, displacement: bool = False, speed: bool = False, tangents: bool = False,
             fields: Sequence[str] = ()) -> list[Frame]:
        """All of these frames at once, which have one array of an output together: up to 16 by one pass over the modal matrices."""
        if len(wanted) < 2 or isinstance(self._handle, NumpyHandle):
            return [self.frame(i, normals=normals, displacement=displacement, speed=speed, tangents=tangents, fields=fields) for i in wanted]
        if self._index(wanted[0]) != wanted[0] or self._index(wanted[-1]) != wanted[-1]:
            raise IndexError(f"{self.path}: frames {wanted[0]} to {wanted[-1]} of {len(self)}")
        arrays = self._arrays(normals, displacement, speed, tangents, fields, len(wanted))
        self._handle.frames(wanted[0], wanted.step, len(wanted), arrays)
        return [_frame({name: array[k] for name, array in arrays.items()}, float(self.times[i])) for k, i in enumerate(wanted)]

    def at(self, q: ArrayLike, poses: Optional[ArrayLike] = None, *, normals: bool = False, displacement: bool = False,
           tangents: bool = False, rates: Optional[ArrayLike] = None, pose_rates: Optional[ArrayLike] = None,
           fields: Sequence[str] = ()) -> Frame:
        """The frame of q [n_coordinates] in kg^1/2 m, and poses [objects, 3, 4] (the rest poses). With `rates`, those of q,
        and of poses (which stand still), it has speeds."""
        values = self._finite("q", q, (self.n_coordinates,))
        placed = None if poses is None else self._finite("poses", poses, self.rest_poses.shape)
        moving: Optional[tuple[Floats, Optional[Floats]]] = None
        if rates is not None:
            turning = None if pose_rates is None else self._finite("pose_rates", pose_rates, self.rest_poses.shape)
            moving = self._finite("rates", rates, (self.n_coordinates,)), turning
        arrays = self._arrays(normals, displacement, moving is not None, tangents, fields)
        self._handle.at(values, placed, moving, arrays)
        return _frame(arrays, None)

    def probe(self, points: ArrayLike, start: int = 0, stop: Optional[int] = None, step: int = 1) -> Floats:
        """Positions [frames, k, 3] of a few points in many frames, in float64. `points` are k numbers of points, or k places [k, 3] in the world at
        rest: then those of the nearest points. Nothing else is deformed."""
        self._index(0)
        numbers = self._numbers(points)
        wanted = range(*slice(start, stop, step).indices(len(self)))
        return self._handle.probe(numbers, wanted.start if len(wanted) else 0, wanted.step, len(wanted))

    # ---- within ----

    def _native(self, what: str) -> Handle:
        if isinstance(self._handle, NumpyHandle):
            raise OSError(f"{self.path}: {what}: libmodaltools is not there")
        return self._handle

    def _index(self, index: int) -> int:
        self._handle.back_end() if isinstance(self._handle, Handle) else self._handle._open()  # ValueError: is closed
        n = len(self)
        if n == 0:
            raise ValueError(f"{self.path}: is a basis, which has no frames")
        if not -n <= index < n:
            raise IndexError(f"{self.path}: frame {index} of {n}")
        return index % n

    def _arrays(self, normals: bool, displacement: bool, speed: bool, tangents: bool, fields: Sequence[str],
                n: Optional[int] = None) -> dict[str, Singles]:
        """Of a frame; of n frames, one after the other."""
        if isinstance(self._handle, NumpyHandle) and (tangents or fields):
            raise OSError(f"{self.path}: tangents and fields need libmodaltools")
        wanted = ["positions", *(name for name, is_wanted in (("normals", normals), ("displacement", displacement), ("speed", speed),
                                                              ("tangents", tangents)) if is_wanted)]
        for name in fields:
            if name not in FIELDS or name in wanted:
                raise ValueError(f"{self.path}: fields: {'twice' if name in FIELDS else 'not one of ' + ', '.join(FIELDS)}, {name}")
            wanted.append(name)
        cells = int(self.first_cells[-1])
        arrays: dict[str, Singles] = {}
        for name in wanted:
            rows = cells if name in OF_CELLS else self.n_points
            shape = (rows,) if WIDTH[name] == 1 else (rows, WIDTH[name])
            arrays[name] = self._pool.new(name, shape) if n is None else self._pool.new(f"{name} of some", (n, *shape))
        return arrays

    def _finite(self, name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
        array: Floats = np.ascontiguousarray(values, float)
        if array.shape != shape:
            raise ValueError(f"{self.path}: {name} has the shape {array.shape}, not {shape}")
        if not np.all(np.isfinite(array)):
            raise ValueError(f"{self.path}: {name}: not finite")
        return array

    def _numbers(self, points: ArrayLike) -> Integers:
        array = np.asarray(points)
        if array.ndim == 1 and array.dtype.kind in "iu":
            if len(array) and not (array.min() >= 0 and array.max() < self.n_points):
                raise IndexError(f"{self.path}: points are 0 to {self.n_points - 1}")
            return np.ascontiguousarray(array, np.int64)
        if array.ndim != 2 or array.shape[1] != 3 or not np.all(np.isfinite(array.astype(float))):
            raise ValueError(f"{self.path}: points: neither numbers nor places [k, 3]")
        rest = self.rest
        return np.array([int(np.argmin(((rest - place) ** 2).sum(axis=1))) for place in array.astype(float)], np.int64)
