# SPDX-License-Identifier: Apache-2.0
"""sequence.vtkhdf (formats/sequence.md): all frames of deformed points."""
from __future__ import annotations

import os
from typing import Iterator

import h5py
import numpy as np
from numpy.typing import NDArray

from ._h5 import Path, open_file, text
from .basis import Floats


class Sequence:
    """A sequence, or the folder that modaldeform wrote. Arrays are mapped into memory where they lie in one piece, which is how
    they are written: a frame is read from the disk when it is used. Others (--precision) are read by h5py, all at once."""

    def __init__(self, path: Path) -> None:
        path = os.fspath(path)
        self.path = os.path.join(path, "sequence.vtkhdf") if os.path.isdir(path) else path
        with open_file(self.path, "sequence", (1,)) as file:
            root = file["VTKHDF"]
            self.times: Floats = root["Steps/Values"][:].astype(float)
            self.n_points = int(root["NumberOfPoints"][0])
            self.triangles: NDArray[np.int64] = root["Polygons/Connectivity"][:].reshape(-1, 3) if "Polygons" in root \
                else np.empty((0, 3), np.int64)
            self.arrays: dict[str, NDArray[np.float32]] = {"Points": self._map(root["Points"])}
            for name in text(file["modal"].attrs["arrays"]).split(" ")[1:]:
                self.arrays[name] = self._map(root["PointData" if name in root["PointData"] else "CellData"][name])

    def _map(self, dataset: h5py.Dataset) -> NDArray[np.float32]:
        shape = (len(self.times), dataset.shape[0] // len(self.times), *dataset.shape[1:])
        offset = dataset.id.get_offset()
        if offset is None:
            values: NDArray[np.float32] = dataset[:].reshape(shape)
            return values
        return np.memmap(self.path, dataset.dtype, "r", offset, shape)

    def __len__(self) -> int:
        return len(self.times)

    @property
    def points(self) -> NDArray[np.float32]:
        """[F, n, 3] world positions in m."""
        return self.arrays["Points"]

    def __getitem__(self, name: str) -> NDArray[np.float32]:
        """An array by its name ("displacement", "Normals"): [F, n, k], or [F, n]."""
        return self.arrays[name]

    def __iter__(self) -> Iterator[NDArray[np.float32]]:
        """The points of every frame, [n, 3]."""
        return iter(self.points)
