# SPDX-License-Identifier: Apache-2.0
"""sequence.vtkhdf (formats/sequence.md)."""
import re

import h5py
import numpy as np
from h5py import h5d, h5t

from container import DAMAGE, type_name

# Arrays whose names have a meaning: columns (0: one number a row), unit. All are of points.
ARRAYS = {"Points": (3, "m"), "Normals": (3, "1"), "displacement": (3, "m"), "speed": (0, "m/s"), "Tangents": (4, "1")}
NAME, UNIT = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,46}"), re.compile(r"[!-~]{1,15}")
MOST_ARRAYS, MOST_COLUMNS = 24, 9
SOURCES = ("trajectory", "snapshots", "sequence", "basis")
POINTS_OF = {10: 4, 12: 8, 13: 6, 14: 5, 24: 10, 25: 20}               # of VTK's cells
XDMF = {10: 6, 12: 9, 13: 8, 14: 7, 24: 38, 25: 48}
MOST_FRAMES = 999999


class Sequence:
    def __init__(self, file):
        self.file = file
        file.open_as((1,))
        file.hash_text("/modal", "basis_hash", optional=True)
        file.text("/modal", "source_kind", among=SOURCES)
        file.hash_text("/modal", "source_hash")
        file.text("/modal", "units", among=("m, s",))
        precision = file.number("/modal", "precision", "f64", optional=True)
        file.must(precision is None or precision > 0, "/modal/@precision", f"is {precision}")
        file.provenance("/modal/provenance", optional=False)
        version = file.number("/VTKHDF", "Version", "i64", shape=(2,))
        file.must(version is None or tuple(version) == (2, 0), "/VTKHDF/@Version", f"is {version}")
        self._heap()
        self.is_solid = self._type() == "UnstructuredGrid"
        n = self._one("/VTKHDF/NumberOfPoints")
        self.n_points = n if n is None or file.must(n >= 1, "/VTKHDF/NumberOfPoints", f"is {n}") else None
        steps = file.number("/VTKHDF/Steps", "NSteps", "i64")
        good = steps is None or file.must(1 <= steps <= MOST_FRAMES, "/VTKHDF/Steps/@NSteps", f"is {steps}")
        self.n_frames = steps if good else None
        self.n_cells = None
        (self._solid if self.is_solid else self._surface)()
        self._moving()
        self._steps()
        if None not in (self.n_frames, self.n_points):
            self._views()
            if self._lasts("TCoords"):
                uv = file.array("/VTKHDF/PointData/TCoords", "f32", (self.n_points, 2))
                file.must(uv is None or np.isfinite(uv).all(), "/VTKHDF/PointData/TCoords", "is not finite")
                self._is("/VTKHDF/Steps/PointDataOffsets/TCoords", np.zeros(self.n_frames))
            if self._lasts("colour"):
                found = file.root.get("VTKHDF/PointData/colour") if "VTKHDF/PointData" in file.root else None
                is_float = isinstance(found, h5py.Dataset) and found.dtype.kind == "f"
                shape = (self.n_points, 4) if not is_float else (self.n_points,) if found.ndim == 1 else (self.n_points, 3)
                colour = file.array("/VTKHDF/PointData/colour", "f32" if is_float else "u8", shape)
                file.must(colour is None or not is_float or np.isfinite(colour).all(), "/VTKHDF/PointData/colour", "is not finite")
                self._is("/VTKHDF/Steps/PointDataOffsets/colour", np.zeros(self.n_frames))

    def _lasts(self, name):
        """Every frame has the array: it is in both groups, or in neither."""
        return any(self.file.has(f"/VTKHDF/{group}/{name}") for group in ("PointData", "Steps/PointDataOffsets"))

    def _heap(self):
        """Nothing but mappings of views lies in the global heap: nothing has a variable length."""
        def look(name, item):
            types = [(f"/{name}/@{key}", item.attrs.get_id(key).get_type()) for key in item.attrs]
            if isinstance(item, h5py.Dataset):
                types.append((f"/{name}", item.id.get_type()))
            for place, kind in types:
                text = isinstance(kind, h5t.TypeStringID) and kind.is_variable_str()
                self.file.must(not text and not isinstance(kind, h5t.TypeVlenID), place, "has a variable length")
        try:
            look("", self.file.root)
            self.file.h5.visititems(look)
        except DAMAGE as error:
            self.file.broken("/", f"cannot be walked through: {error}")

    def _type(self):
        """ASCII of exactly this length: VTK is strict."""
        text = self.file.text("/VTKHDF", "Type", among=("PolyData", "UnstructuredGrid"))
        if text is not None:
            kind = self.file.h5["/VTKHDF"].attrs.get_id("Type").get_type()
            self.file.must(not kind.is_variable_str() and kind.get_size() == len(text) and kind.get_cset() == h5t.CSET_ASCII
                           and kind.get_strpad() == h5t.STR_NULLPAD, "/VTKHDF/@Type", "is no ASCII text of its length, NULLPAD")
        return text

    def _one(self, path):
        values = self.file.array(path, "i64", (1,))
        return None if values is None else int(values[0])

    def _is(self, path, wanted):
        wanted = np.asarray(wanted, "i8")
        values = self.file.array(path, "i64", wanted.shape)
        self.file.must(values is None or (values == wanted).all(), path, "has another value than it must")

    # ---- cells ----

    def _surface(self):
        file, at = self.file, "/VTKHDF/Polygons"
        if file.group(at) is not None:
            m, n_ids = self._one(f"{at}/NumberOfCells"), self._one(f"{at}/NumberOfConnectivityIds")
            if m is not None and file.must(m >= 1, f"{at}/NumberOfCells", f"is {m}"):
                file.must(n_ids is None or n_ids == 3 * m, f"{at}/NumberOfConnectivityIds", f"is {n_ids}, not {3 * m}")
                self.n_cells = m
                self._connectivity(f"{at}/Connectivity", 3 * m)
                offsets = file.array(f"{at}/Offsets", "i64", (m + 1,))
                file.must(offsets is None or (offsets == 3 * np.arange(m + 1)).all(), f"{at}/Offsets", "are not 0, 3, 6, ...")
        for name in ("Vertices", "Lines", "Strips"):
            at = f"/VTKHDF/{name}"
            if file.group(at) is not None:
                for part in ("NumberOfCells", "NumberOfConnectivityIds", "Offsets"):
                    self._is(f"{at}/{part}", [0])
                file.array(f"{at}/Connectivity", "i64", (0,))

    def _connectivity(self, path, n_ids):
        ids = self.file.array(path, "i64", (n_ids,))
        if ids is not None and self.n_points is not None:
            self.file.must(((ids >= 0) & (ids < self.n_points)).all(), path, f"is not in [0, {self.n_points})")
        return ids

    def _solid(self):
        file, at = self.file, "/VTKHDF"
        m, n_ids = self._one(f"{at}/NumberOfCells"), self._one(f"{at}/NumberOfConnectivityIds")
        if m is None or n_ids is None or not file.must(m >= 1, f"{at}/NumberOfCells", f"is {m}"):
            return
        self.n_cells = m
        types = file.array(f"{at}/Types", "u8", (m,))
        offsets = file.array(f"{at}/Offsets", "i64", (m + 1,))
        if not file.must(n_ids >= 1, f"{at}/NumberOfConnectivityIds", f"is {n_ids}"):
            return
        ids = self._connectivity(f"{at}/Connectivity", n_ids)
        topology = file.array("/modal/xdmf_topology", "i64", (m + n_ids,))
        if types is None or not file.must(np.isin(types, list(POINTS_OF)).all(), f"{at}/Types", "has none of VTK's types"):
            return
        sizes = np.array([POINTS_OF[t] for t in types.tolist()])
        wanted = np.concatenate([[0], np.cumsum(sizes)])
        good = file.must(wanted[-1] == n_ids, f"{at}/NumberOfConnectivityIds", f"is {n_ids}, not {wanted[-1]}")
        file.must(offsets is None or (offsets == wanted).all(), f"{at}/Offsets", "are not those of the types")
        if good and ids is not None and topology is not None:
            mixed = np.insert(ids, wanted[:-1], [XDMF[t] for t in types.tolist()])
            file.must((topology == mixed).all(), "/modal/xdmf_topology", "is not that of the cells")

    # ---- what moves ----

    def _moving(self):
        """self.arrays is {name: (path, columns, rows of a frame or None)}, in the order of the file's list."""
        self.arrays = {}
        if self.file.group("/VTKHDF/PointData") is None:
            return
        for name, path, of_cells in self._listed():
            rows = self.n_cells if of_cells else self.n_points
            columns = ARRAYS[name][0] if name in ARRAYS else self._columns(path)
            if columns is None:
                continue
            self.arrays[name] = path, columns, rows
            all_rows = None if None in (self.n_frames, rows) else self.n_frames * rows
            self.file.array(path, "f32", (all_rows, columns) if columns else (all_rows,))

    def _listed(self):
        """Names and units in /modal, each array in PointData or in CellData."""
        file, at = self.file, "/modal/@arrays"
        names, units = file.text("/modal", "arrays"), file.text("/modal", "array_units")
        if names is None or units is None:
            return
        names, units = names.split(" "), units.split(" ")
        good = len(names) == len(units) <= MOST_ARRAYS and len(set(names)) == len(names) and names[0] == "Points"
        if not file.must(good and all(map(NAME.fullmatch, names)) and all(map(UNIT.fullmatch, units)), at,
                         "is no list of names and units that begins with Points"):
            return
        for name, unit in zip(names, units):
            places = [f"/VTKHDF/{group}/{name}" for group in ("PointData", "CellData")]
            if name == "Points":
                places = ["/VTKHDF/Points", None]
            found = [place is not None and file.has(place) for place in places]
            known = name not in ARRAYS or ARRAYS[name][1] == unit and not found[1]
            if file.must(sum(found) == 1 and known, at, f"{name}: not in one place, or not as its name says"):
                yield name, places[found[1]], found[1]

    def _columns(self, path):
        dataset = self.file.dataset(path)
        shape = () if dataset is None else dataset.shape
        good = len(shape) == 1 or len(shape) == 2 and 2 <= shape[1] <= MOST_COLUMNS
        if dataset is None or not self.file.must(good, path, f"has the shape {shape}"):
            return None
        return 0 if len(shape) == 1 else shape[1]

    def _steps(self):
        file, at, f, n = self.file, "/VTKHDF/Steps", self.n_frames, self.n_points
        if f is None:
            return
        times = file.array(f"{at}/Values", "f64", (f,))
        file.must(times is None or (np.diff(times) > 0).all(), f"{at}/Values", "does not increase")
        for name, value in (("PartOffsets", 0), ("NumberOfParts", 1)):
            self._is(f"{at}/{name}", np.full(f, value))
        for name in ("CellOffsets", "ConnectivityIdOffsets"):
            self._is(f"{at}/{name}", np.zeros((f, 1 if self.is_solid else 4)))
        if n is None:
            return
        self._is(f"{at}/PointOffsets", n * np.arange(f))
        file.group(f"{at}/PointDataOffsets")
        for name, (path, _, rows) in self.arrays.items():
            group = "CellDataOffsets" if path.startswith("/VTKHDF/CellData/") else "PointDataOffsets"
            if name != "Points" and rows is not None and file.group(f"{at}/{group}") is not None:
                self._is(f"{at}/{group}/{name}", rows * np.arange(f))

    def _views(self):
        """A view has one source, rows i n to (i + 1) n - 1 of the array of its name in this file."""
        file = self.file
        for i in range(self.n_frames):
            if file.group(f"/xdmf/{i:06}") is None:
                return
            for name, (source, columns, n) in self.arrays.items():
                path = f"/xdmf/{i:06}/{name}"
                dataset = file.dataset(path)
                if dataset is None or n is None:
                    continue
                try:
                    shape = (n, columns) if columns else (n,)
                    wanted = (i * n, 0)[:len(shape)], ((i + 1) * n - 1, columns - 1)[:len(shape)]
                    good = type_name(dataset.id.get_type()) == "f32" and dataset.shape == shape and \
                        dataset.id.get_create_plist().get_layout() == h5d.VIRTUAL
                    sources = dataset.virtual_sources() if good else []
                    good = good and len(sources) == 1
                    if good:
                        part = sources[0]
                        good = part.file_name == "." and part.dset_name == source and \
                            selects_all(part.vspace, shape) and selects(part.src_space, *wanted)
                    file.must(good, path, f"is no view of the rows of frame {i} of {source}")
                except DAMAGE as error:
                    file.broken(path, f"cannot be read: {error}")


def selects(space, start, stop):
    """Is the selection the block from start to stop, both in it?"""
    count = int(np.prod([b - a + 1 for a, b in zip(start, stop)]))
    return space.get_select_npoints() == count and space.get_select_bounds() == (tuple(start), tuple(stop))


def selects_all(space, shape):
    return space.shape == shape and selects(space, (0,) * len(shape), tuple(k - 1 for k in shape))

