# SPDX-License-Identifier: Apache-2.0
"""libmodaltools by ctypes: <modaltools/open.h>, which says what everything means."""
from __future__ import annotations

import ctypes
import glob
import os
import shutil
import subprocess
import threading
from contextlib import AbstractContextManager, nullcontext
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_int64, c_size_t, c_uint8, c_void_p
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._h5 import Path

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
INTERFACE = 3
OF_CELLS = {"strain": 6, "stress": 6, "von_mises": 1, "jacobian": 1}  # of volumes: components
CURVATURE = {"k_max": 1, "k_min": 1, "mean_curvature": 1, "gauss_curvature": 1, "direction_max": 3, "direction_min": 3, "curvature_derivative": 4,
             "boundary": 1}  # of surfaces
FIELDS = {"strain": 6, "stress": 6, "von_mises": 1, "strain_nodes": 6, "stress_nodes": 6, "von_mises_nodes": 1, "jacobian": 1, "jacobian_nodes": 1,
          **CURVATURE}  # all, in the order of open.h


class BasisMissing(FileNotFoundError):
    """The basis of a trajectory is not where its link leads; its new place can be given beside it."""


class Cancelled(RuntimeError):
    """Deformer.cancel ended the call."""


class _Options(ctypes.Structure):
    _fields_ = [("bytes", c_size_t), ("basis", c_char_p), ("back_end", c_char_p), ("memory_limit", c_int64), ("threads", c_int32),
                ("volume", c_int32)]


_SIZES = ("n_frames", "n_objects", "n_shapes", "n_points", "n_triangles", "n_cells", "n_corners", "n_coordinates", "n_materials",
          "n_groups", "streamed_bytes")


class _Sizes(ctypes.Structure):
    _fields_ = [("bytes", c_size_t), *((name, c_int64) for name in _SIZES)]


class _Arrays(ctypes.Structure):
    _fields_ = [("bytes", c_size_t), *((name, c_void_p) for name in ("positions", "normals", "displacement", "speed", "tangents", *FIELDS))]


class _Group(ctypes.Structure):
    _fields_ = [("bytes", c_size_t), ("name", c_char_p), ("shape", c_int64), ("dimension", c_int32), ("n_points", c_int64),
                ("n_cells", c_int64)]


_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "interface": (c_int32, ()), "library": (c_char_p, ()), "error": (c_char_p, ()),
    "open": (c_int32, (POINTER(c_void_p), c_char_p, POINTER(_Options))), "close": (None, (c_void_p,)), "cancel": (None, (c_void_p,)),
    "get_sizes": (c_int32, (c_void_p, POINTER(_Sizes))),
    "shape_name": (c_char_p, (c_void_p, c_int64)), "material_name": (c_char_p, (c_void_p, c_int64)),
    "basis_path": (c_char_p, (c_void_p,)), "back_end": (c_char_p, (c_void_p,)),
    **{name: (POINTER(c_double), (c_void_p,)) for name in ("times", "coordinates", "poses", "rest_poses", "frequencies")},
    "object_shapes": (POINTER(c_int32), (c_void_p,)),
    **{name: (POINTER(c_int64), (c_void_p,)) for name in ("first_points", "first_cells", "first_coordinates")},
    "get_triangles": (c_int32, (c_void_p, c_void_p)), "get_cells": (c_int32, (c_void_p, c_void_p, c_void_p, c_void_p)),
    "get_rest": (c_int32, (c_void_p, c_void_p)), "get_materials": (c_int32, (c_void_p, c_void_p)),
    "get_reach": (c_int32, (c_void_p, c_void_p)), "read_groups": (c_int32, (c_void_p,)),
    "get_group": (c_int32, (c_void_p, c_int64, POINTER(_Group))),
    "get_group_members": (c_int32, (c_void_p, c_int64, c_void_p, c_void_p)),
    "frame": (c_int32, (c_void_p, c_int64, POINTER(_Arrays))),
    "frames": (c_int32, (c_void_p, c_int64, c_int64, c_int64, POINTER(_Arrays))),
    "at": (c_int32, (c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(_Arrays))),
    "probe": (c_int32, (c_void_p, c_int64, c_void_p, c_int64, c_int64, c_int64, c_void_p)),
}

# ---- finding it ----

_lock = threading.Lock()
_found: dict[str, tuple[Optional[Any], str]] = {}  # by the value of MODALTOOLS_LIBRARY: the library, or why there is none


def _candidates() -> list[str]:
    """Beside the package, in the prefix that it is installed in (share/modaltools/python), by pkg-config, where the system's loader looks."""
    beside = os.path.dirname(os.path.abspath(__file__))
    paths = sorted(glob.glob(os.path.join(beside, "libmodaltools.so*")), key=len)
    if beside.endswith(os.path.join("share", "modaltools", "python", "modaltools")):
        prefix = os.path.abspath(os.path.join(beside, "../../../.."))
        paths += sorted(found for folder in ("lib", "lib64", "lib/*") for found in glob.glob(os.path.join(prefix, folder, "libmodaltools.so.0.1")))
    if shutil.which("pkg-config"):
        got = subprocess.run(["pkg-config", "--variable=libdir", "modaltools"], capture_output=True, text=True)
        if got.returncode == 0 and got.stdout.strip():
            paths.append(os.path.join(got.stdout.strip(), "libmodaltools.so"))
    return [*paths, "libmodaltools.so.0.1"]


def _open(path: str) -> Any:
    """GCC's OpenMP reads GOMP_SPINCOUNT when it is loaded. With it a thread that waits sleeps after some microseconds, not milliseconds, as in the
    tools (tools/common/start.c). If the process has loaded OpenMP already, nothing changes."""
    name = "GOMP_SPINCOUNT"
    if name in os.environ:
        return ctypes.CDLL(path)
    os.environ[name] = "1000"
    try:
        return ctypes.CDLL(path)
    finally:
        del os.environ[name]


def _load(path: str) -> Any:
    """OSError where it cannot be loaded, or is no library of ours."""
    library = _open(path)
    try:
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, "modal_motion_" + name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as error:
        raise OSError(f"{path}: {error}") from None
    if library.modal_motion_interface() < INTERFACE:
        raise OSError(f"{path}: its interface is {library.modal_motion_interface()}, not {INTERFACE} or newer")
    return library


def find() -> tuple[Optional[Any], str]:
    """The library, and where it is; or None, and why. OSError where MODALTOOLS_LIBRARY names one that cannot be used."""
    named = os.environ.get("MODALTOOLS_LIBRARY", "")
    with _lock:
        if named not in _found:
            if named:
                _found[named] = (_load(named), named)
            else:
                why = ""
                for path in _candidates():
                    try:
                        _found[named] = (_load(path), path)
                        break
                    except OSError as error:
                        why = str(error)
                _found.setdefault(named, (None, why))
        return _found[named]


def _hdf5_lock() -> AbstractContextManager[Any]:
    """h5py's, where it is loaded: it may share the HDF5 library with ours, which then only one thread may use."""
    try:
        from h5py._objects import phil
    except ImportError:
        return nullcontext()
    lock: AbstractContextManager[Any] = phil
    return lock


# ---- a handle ----


def _pointer(array: Optional[NDArray[Any]]) -> Optional[int]:
    return None if array is None else int(array.ctypes.data)


class Handle:
    """An open motion: the arrays of open.h as arrays of numpy. Any thread may use it; what is under way when it is closed ends first."""

    def __init__(self, library: Any, path: Path, basis: Optional[Path], back_end: str, threads: int, memory_limit: int, volume: bool) -> None:
        self._library, self.path = library, os.fspath(path)
        self._calls = threading.Condition()
        self._busy, self._handle = 0, c_void_p()
        self._loaded: set[str] = set()  # outputs that were made: their tables and the modal matrices are read
        options = _Options(ctypes.sizeof(_Options), None if basis is None else os.fsencode(basis), back_end.encode(), memory_limit, threads,
                           int(volume))
        with _hdf5_lock():
            self._check(library.modal_motion_open(ctypes.byref(self._handle), os.fsencode(path), ctypes.byref(options)))
        sizes = self.sizes()
        self.n_points, self.n_coordinates, self.n_objects, self.n_frames = (
            sizes[name] for name in ("n_points", "n_coordinates", "n_objects", "n_frames"))
        self.n_triangles, self.n_cells, self.n_corners, self.n_shapes = (
            sizes[name] for name in ("n_triangles", "n_cells", "n_corners", "n_shapes"))
        n = self.n_objects
        self.times: Floats = self._view("times", (self.n_frames,))
        self.first_points: Integers = self._view("first_points", (n + 1,))
        self.first_cells: Integers = self._view("first_cells", (n + 1,))
        self.first_coordinates: Integers = self._view("first_coordinates", (n + 1,))
        self.object_shapes: NDArray[np.int32] = self._view("object_shapes", (n,))
        self.rest_poses: Floats = self._view("rest_poses", (n, 3, 4))
        self.frequencies: Floats = self._view("frequencies", (self.n_coordinates,))
        self.shape_names = [self._text("shape_name", i) for i in range(self.n_shapes)]
        self.material_names = [self._text("material_name", i) for i in range(sizes["n_materials"])]
        self.basis_path = self._text("basis_path")

    # -- calls --

    def _check(self, status: int) -> None:
        if status == 0:
            return
        message = self._library.modal_motion_error().decode("utf-8", "replace")
        if status == 13:
            raise BasisMissing(message)
        if status == 130:
            raise Cancelled(message)
        if status == 4:
            raise OSError(message)
        raise ValueError(message)

    def _call(self, name: str, *arguments: Any) -> Any:
        """Several at once; the library orders them. ctypes lets go of the interpreter's lock meanwhile."""
        with self._calls:
            if not self._handle:
                raise ValueError(f"{self.path}: is closed")
            self._busy += 1
        try:
            result = getattr(self._library, "modal_motion_" + name)(self._handle, *arguments)
            if _FUNCTIONS[name][0] is c_int32:
                self._check(result)
            return result
        finally:
            with self._calls:
                self._busy -= 1
                self._calls.notify_all()

    def close(self) -> None:
        with self._calls:
            self._calls.wait_for(lambda: self._busy == 0)
            handle, self._handle = self._handle, c_void_p()
        if handle:
            self._library.modal_motion_close(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def cancel(self) -> None:
        self._call("cancel")

    def _text(self, name: str, *arguments: int) -> str:
        value: bytes = self._call(name, *arguments)
        return value.decode("utf-8", "surrogateescape")

    def _view(self, name: str, shape: tuple[int, ...]) -> Any:
        """A copy: it lives longer than the handle."""
        pointer = self._call(name)
        return np.ctypeslib.as_array(pointer, shape).copy() if pointer and 0 not in shape else np.empty(
            shape, {"object_shapes": np.int32}.get(name, np.int64 if name.startswith("first") else np.float64))

    # -- what there is --

    def sizes(self) -> dict[str, int]:
        sizes = _Sizes(ctypes.sizeof(_Sizes))
        self._call("get_sizes", ctypes.byref(sizes))
        return {name: int(getattr(sizes, name)) for name in _SIZES}

    def back_end(self) -> str:
        return self._text("back_end")

    def coordinates(self) -> Floats:
        q: Floats = self._view("coordinates", (self.n_frames, self.n_coordinates))
        return q

    def poses(self) -> Optional[Floats]:
        if not self._call("poses"):
            return None
        poses: Floats = self._view("poses", (self.n_frames, self.n_objects, 3, 4))
        return poses

    def triangles(self) -> Integers:
        triangles: Integers = np.empty((self.n_triangles, 3), np.int64)
        self._call("get_triangles", _pointer(triangles))
        return triangles

    def cells(self) -> tuple[Integers, Integers, NDArray[np.uint8]]:
        connectivity: Integers = np.empty(self.n_corners, np.int64)
        offsets: Integers = np.empty(self.n_cells + 1, np.int64)
        types: NDArray[np.uint8] = np.empty(self.n_cells, np.uint8)
        self._call("get_cells", _pointer(connectivity), _pointer(offsets), _pointer(types))
        return connectivity, offsets, types

    def rest(self) -> Singles:
        rest: Singles = np.empty((self.n_points, 3), np.float32)
        self._call("get_rest", _pointer(rest))
        return rest

    def materials(self) -> NDArray[np.int32]:
        materials: NDArray[np.int32] = np.empty(self.n_triangles + self.n_cells, np.int32)
        self._call("get_materials", _pointer(materials))
        return materials

    def reach(self) -> Floats:
        reach: Floats = np.empty(self.n_coordinates)
        with _hdf5_lock():
            self._call("get_reach", _pointer(reach))
        return reach

    def groups(self) -> list[tuple[str, int, int, Integers, Integers]]:
        """Name, shape, dimension, points, cells."""
        with _hdf5_lock():
            self._call("read_groups")
        found = []
        for i in range(self.sizes()["n_groups"]):
            group = _Group(ctypes.sizeof(_Group))
            self._call("get_group", i, ctypes.byref(group))
            points: Integers = np.empty(group.n_points, np.int64)
            cells: Integers = np.empty(group.n_cells, np.int64)
            self._call("get_group_members", i, _pointer(points), _pointer(cells))
            found.append((group.name.decode("utf-8", "surrogateescape"), int(group.shape), int(group.dimension), points, cells))
        return found

    # -- frames --

    def _make(self, name: str, arguments: tuple[Any, ...], arrays: dict[str, NDArray[np.float32]]) -> None:
        to = _Arrays(ctypes.sizeof(_Arrays), **{key: _pointer(value) for key, value in arrays.items()})
        wanted = {*arrays, name}  # several frames at once have a deformer of their own
        if self._loaded.issuperset(wanted):
            self._call(name, *arguments, ctypes.byref(to))
            return
        with _hdf5_lock():  # the modal matrices are read
            self._call(name, *arguments, ctypes.byref(to))
        if self.sizes()["streamed_bytes"] == 0:
            self._loaded.update(wanted)

    def frame(self, index: int, arrays: dict[str, NDArray[np.float32]]) -> None:
        self._make("frame", (index,), arrays)

    def frames(self, first: int, step: int, n: int, arrays: dict[str, NDArray[np.float32]]) -> None:
        self._make("frames", (first, step, n), arrays)

    def at(self, q: Floats, poses: Optional[Floats], rates: Optional[tuple[Floats, Optional[Floats]]],
           arrays: dict[str, NDArray[np.float32]]) -> None:
        q_rates, pose_rates = (None, None) if rates is None else rates
        self._make("at", (_pointer(q), _pointer(poses), _pointer(q_rates), _pointer(pose_rates)), arrays)

    def probe(self, points: Integers, first: int, step: int, n: int) -> Floats:
        found: Floats = np.empty((n, len(points), 3))
        with _hdf5_lock():
            self._call("probe", len(points), _pointer(points), first, step, n, _pointer(found))
        return found
