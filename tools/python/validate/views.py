# SPDX-License-Identifier: Apache-2.0
"""What the table of a sequence cannot hold (formats/sequence.md): its heap, its list of arrays, their views, VTK's cells."""
import re

import h5py
import numpy as np
from h5py import h5d, h5t

from container import DAMAGE, type_name

ARRAYS = {"Points": (3, "m"), "Normals": (3, "1"), "displacement": (3, "m"), "speed": (0, "m/s"), "Tangents": (4, "1")}
NAME, UNIT = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,46}"), re.compile(r"[!-~]{1,15}")
POINTS_OF = {10: 4, 12: 8, 13: 6, 14: 5, 24: 10, 25: 20}               # of VTK's cells
XDMF = {10: 6, 12: 9, 13: 8, 14: 7, 24: 38, 25: 48}


def check_heap(file):
    """Only mappings of views are in the global heap: nothing has a variable length. VTK's text is ASCII of its length."""
    def look(name, item):
        types = [(f"/{name}/@{key}", item.attrs.get_id(key).get_type()) for key in item.attrs]
        for path, kind in types + ([(f"/{name}", item.id.get_type())] if isinstance(item, h5py.Dataset) else []):
            text = isinstance(kind, h5t.TypeStringID)
            file.must(not (text and kind.is_variable_str()) and not isinstance(kind, h5t.TypeVlenID), path, "has a variable length")
            if path == "/VTKHDF/@Type" and text and not kind.is_variable_str():
                good = kind.get_size() == len(file.text("/VTKHDF", "Type")) and kind.get_cset() == h5t.CSET_ASCII
                file.must(good and kind.get_strpad() == h5t.STR_NULLPAD, path, "is no ASCII text of its length, NULLPAD")
    try:
        look("", file.root)
        file.h5.visititems(look)
    except DAMAGE as error:
        file.broken("/", f"cannot be walked through: {error}")


def check_cells(file, values):
    types, ids, got = (values.get(f"/VTKHDF/{name}") for name in ("Types", "Connectivity", "Offsets"))
    if types is None or not np.isin(types, list(POINTS_OF)).all():
        return
    wanted = np.concatenate([[0], np.cumsum([POINTS_OF[t] for t in types.tolist()])])
    file.must(got is None or np.array_equal(got, wanted), "/VTKHDF/Offsets", "are not those of the types")
    topology = values.get("/modal/xdmf_topology")
    if ids is not None and topology is not None and file.must(len(ids) == wanted[-1], "/VTKHDF/Connectivity", f"has not {wanted[-1]} points"):
        mixed = np.insert(ids, wanted[:-1], [XDMF[t] for t in types.tolist()])
        file.must(np.array_equal(topology, mixed), "/modal/xdmf_topology", "is not that of the cells")


def listed(file, names, units):
    """(name, path, unit) of each array of the list that keeps its rules."""
    good = len(names) == len(units) <= 24 and len(set(names)) == len(names) and names[0] == "Points" and \
        all(map(NAME.fullmatch, names)) and all(map(UNIT.fullmatch, units))
    if not file.must(good, "/modal/@arrays", "is no list of names and units that begins with Points"):
        return
    for name, unit in zip(names, units):
        paths = [path for path in ([f"/VTKHDF/{group}/{name}" for group in ("PointData", "CellData")] if name != "Points" else ["/VTKHDF/Points"])
                 if file.has(path)]
        good = len(paths) == 1 and (name not in ARRAYS or ARRAYS[name][1] == unit and "/CellData/" not in paths[0])
        if file.must(good, "/modal/@arrays", f"{name}: not in one group, or not as its name says"):
            yield name, paths[0]


def selects(space, start, stop):
    """Is the selection the block from start to stop, both in it?"""
    count = int(np.prod([b - a + 1 for a, b in zip(start, stop)]))
    return space.get_select_npoints() == count and space.get_select_bounds() == (tuple(start), tuple(stop))


def is_view(dataset, source, shape, first):
    """Has it one source, these rows of the array `source` of this file?"""
    if type_name(dataset.id.get_type()) != "f32" or dataset.shape != shape or dataset.id.get_create_plist().get_layout() != h5d.VIRTUAL:
        return False
    parts = dataset.virtual_sources()
    last = tuple(k - 1 for k in shape)
    return len(parts) == 1 and parts[0].file_name == "." and parts[0].dset_name == source and parts[0].vspace.shape == shape and \
        selects(parts[0].vspace, (0,) * len(shape), last) and selects(parts[0].src_space, (first, 0)[:len(shape)], (first + last[0], *last[1:]))


def check_array(file, name, path, n_frames, rows):
    """One moving array, its offsets and its views."""
    dataset = file.dataset(path)
    columns = ARRAYS[name][0] if name in ARRAYS else None
    if columns is None:
        shape = () if dataset is None else dataset.shape
        if dataset is None or not file.must(len(shape) == 1 or len(shape) == 2 and 2 <= shape[1] <= 9, path, f"has the shape {shape}"):
            return
        columns = shape[1] if len(shape) == 2 else 0
    more = (columns,) if columns else ()
    file.array(path, "f32", (n_frames * rows, *more))
    if name != "Points":
        at = f"/VTKHDF/Steps/{path.split('/')[2]}Offsets"
        values = file.array(f"{at}/{name}", "i64", (n_frames,)) if file.group(at) is not None else None
        file.must(values is None or (values == rows * np.arange(n_frames)).all(), f"{at}/{name}", f"is not {rows} i")
    for i in range(n_frames):
        view = file.dataset(f"/xdmf/{i:06}/{name}") if file.has(f"/xdmf/{i:06}") else None
        try:
            file.must(view is None or is_view(view, path, (rows, *more), i * rows), f"/xdmf/{i:06}/{name}", f"is no view of frame {i} of {path}")
        except DAMAGE as error:
            file.broken(f"/xdmf/{i:06}/{name}", f"cannot be read: {error}")


def check_sequence(file, table):
    check_heap(file)
    check_cells(file, table.values)
    names, units = (table.values.get(f"/modal/@{name}") for name in ("arrays", "array_units"))
    n_frames, points = table.values.get("/VTKHDF/Steps/@NSteps"), table.values.get("/VTKHDF/NumberOfPoints")
    cells = table.values.get("/VTKHDF/Polygons/NumberOfCells", table.values.get("/VTKHDF/NumberOfCells"))
    for name, path in listed(file, names.split(" "), units.split(" ")) if None not in (names, units) else ():
        rows = cells if "/CellData/" in path else points
        if n_frames is not None and rows is not None and 1 <= n_frames <= 999999:
            check_array(file, name, path, n_frames, int(rows[0]))
    path = "/VTKHDF/PointData/colour"
    if file.has(path) and points is not None and file.dataset(path) is not None:
        kind, rank = file.dataset(path).dtype.kind, len(file.dataset(path).shape)
        shape = (4,) if kind != "f" else () if rank == 1 else (3,)
        file.array(path, "f32" if kind == "f" else "u8", (int(points[0]), *shape))
    elif file.has("/VTKHDF/Steps/PointDataOffsets/colour"):
        file.broken(path, "is missing")
