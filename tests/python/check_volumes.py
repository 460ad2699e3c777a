#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What our readers make of volume meshes in other programs' formats.

check_volumes.py files|meshio|vtk --dump PROGRAM: the files of tests/files/make_volumes.py, or files that
meshio or VTK write. Exit 77 (skipped), with a reason, where these are absent.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

FILES = pathlib.Path(__file__).resolve().parent.parent / "files"
sys.path.insert(0, str(FILES))
import make_volumes as made  # noqa: E402

N_NODES = {"TET4": 4, "TET10": 10, "HEX8": 8, "HEX20": 20, "WEDGE6": 6, "PYRAMID5": 5}
MESHIO = {"tetra": "TET4", "tetra10": "TET10", "hexahedron": "HEX8", "hexahedron20": "HEX20",
          "wedge": "WEDGE6", "pyramid": "PYRAMID5"}


def check(condition, *what):
    if not condition:
        print("FAILED:", *what)
        sys.exit(1)


def read_ours(program, path):
    text = subprocess.run([program, str(path)], check=True, stdout=subprocess.PIPE, text=True).stdout
    data = json.loads(text)
    elements, at = [], 0
    for kind in data["types"]:
        elements.append((kind, tuple(data["element_nodes"][at:at + N_NODES[kind]])))
        at += N_NODES[kind]
    check(at == len(data["element_nodes"]), path, "element nodes")
    return np.array(data["nodes"]).reshape(-1, 3), elements, data["groups"]


def check_group(path, groups, dimension, name, nodes, elements):
    found = [g for g in groups if (g["dimension"], g["name"]) == (dimension, name)]
    check(len(found) == 1, path, "group", dimension, name, groups)
    check(found[0]["nodes"] == sorted(nodes), path, "nodes of", name, found[0]["nodes"])
    check(found[0]["elements"] == sorted(elements), path, "elements of", name)


def check_files(program):
    n_files = 0
    for stem, nodes, elements in (("mixed", made.NODES, made.MIXED), ("curved", made.CURVED_NODES, made.CURVED),
                                  ("pair", None, None)):
        for path in sorted(FILES.glob(f"good-{stem}*")):
            if path.suffix in (".mesh", ".meshb") and stem == "curved":
                expected, kept = nodes, elements[1:]
            elif stem == "pair":
                curved = "10" in path.name
                expected = made.CURVED_NODES[20:] if curved else made.CURVED_NODES[20:24]
                kept = [("TET10" if curved else "TET4", 4, tuple(range(10 if curved else 4)))]
            else:
                expected, kept = nodes, elements
            order = list(made.MEDIT) if path.suffix in (".mesh", ".meshb") else None
            if order:  # by kind
                kept = sorted(kept, key=lambda e: order.index(e[0]))
            ours, found, groups = read_ours(program, path)
            exact = np.array(expected, "f4" if path.name.endswith("-1.meshb") else float)
            check(np.array_equal(ours, exact), path, "coordinates")
            check(found == [(k, n) for k, _, n in kept], path, "elements", found)
            for number in {group for _, group, _ in kept}:
                inside = [i for i, e in enumerate(kept) if e[1] == number]
                name = f"part {number}" if path.suffix == ".inp" else str(number)
                check_group(path, groups, 3, name, {v for i in inside for v in kept[i][2]}, inside)
            if path.suffix == ".inp":
                check_group(path, groups, 0, "some", {0, 2, 4}, [])
                check_group(path, groups, 0, "more", {0, 1, 2, 4}, [])
                check_group(path, groups, 0, "Nall", set(range(len(nodes))), [])
                check_group(path, groups, 3, "all", {v for e in kept for v in e[2]}, range(len(kept)))
            if stem == "mixed" and path.suffix in (".inp", ".mesh", ".meshb"):
                check_group(path, groups, 2, "under" if path.suffix == ".inp" else "3", made.FACE[1], [])
            if stem == "pair":
                check_group(path, groups, 0, "1", {i for i, p in enumerate(expected) if p[0] == 3}, [])
                for marker in (2, 5):
                    inside = {v for m, corners in made.FACES if m == marker for v in corners}
                    if curved:
                        inside |= {4 + i for i, edge in enumerate(made.TET_EDGES) for m, corners in made.FACES
                                   if m == marker and set(edge) <= set(corners)}
                    check_group(path, groups, 2, str(marker), inside, [])
                check(len(groups) == 4, path, "groups", groups)
            n_files += 1
    check(n_files >= 20, "only", n_files, "files")
    return n_files


def turned(element):
    """Without the direction of a wedge's triangles: VTK's definition and most files differ in it."""
    kind, nodes = element
    return (kind, tuple(sorted(nodes[:3])), tuple(sorted(nodes[3:]))) if kind == "WEDGE6" else element


def check_vtk(program):
    """Files that VTK's own writers make, in each of their ways."""
    try:
        from vtkmodules.vtkCommonCore import vtkIdList, vtkIntArray, vtkPoints
        from vtkmodules.vtkCommonDataModel import vtkUnstructuredGrid
        from vtkmodules.vtkIOLegacy import vtkUnstructuredGridWriter
        from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridWriter
    except ImportError:
        print("SKIPPED: no VTK for", sys.executable)
        sys.exit(77)
    n_files = 0
    with tempfile.TemporaryDirectory() as folder:
        for points, elements in ((made.NODES, made.MIXED), (made.CURVED_NODES, made.CURVED)):
            grid, places = vtkUnstructuredGrid(), vtkPoints()
            places.SetDataTypeToDouble()
            for p in points:
                places.InsertNextPoint(*p)
            grid.SetPoints(places)
            numbers = vtkIntArray()
            numbers.SetName("CellEntityIds")
            for kind, group, nodes in elements:
                ids = vtkIdList()
                for n in nodes:
                    ids.InsertNextId(n)
                grid.InsertNextCell(made.VTK[kind], ids)
                numbers.InsertNextValue(group)
            grid.GetCellData().AddArray(numbers)
            ways = [("a.vtk", way) for way in ("ascii", "binary")]
            ways += [("a.vtu", (mode, packed, order, header, encode)) for mode in (0, 1, 2) for packed in (0, 1)
                     for order in (0, 1) for header in (32, 64) for encode in (0, 1)]
            for name, way in ways:
                path = pathlib.Path(folder) / name
                writer = vtkUnstructuredGridWriter() if name == "a.vtk" else vtkXMLUnstructuredGridWriter()
                if name == "a.vtk":
                    writer.SetFileTypeToBinary() if way == "binary" else writer.SetFileTypeToASCII()
                else:
                    mode, packed, order, header, encode = way
                    writer.SetDataMode(mode)
                    writer.SetCompressorTypeToZLib() if packed else writer.SetCompressorTypeToNone()
                    writer.SetByteOrder(order)
                    writer.SetHeaderType(header)
                    writer.SetEncodeAppendedData(encode)
                writer.SetFileName(str(path))
                writer.SetInputData(grid)
                check(writer.Write() == 1, name, way, "cannot be written")
                ours, found, groups = read_ours(program, path)
                check(np.array_equal(ours, np.array(points, float)), name, way, "coordinates")
                check(found == [(k, n) for k, _, n in elements], name, way, "elements", found)
                for number in (7, 9):
                    inside = [i for i, e in enumerate(elements) if e[1] == number]
                    check_group(name, groups, 3, str(number), {v for i in inside for v in elements[i][2]}, inside)
                n_files += 1
    return n_files


def check_meshio(program):
    try:
        import meshio
    except ImportError:
        print("SKIPPED: no meshio for", sys.executable)
        sys.exit(77)
    n_files = 0
    names = {v: k for k, v in MESHIO.items()}

    def mesh(elements, points):
        groups = {}
        for kind, _, nodes in elements:
            groups.setdefault(names[kind], []).append(nodes)
        return meshio.Mesh(np.array(points, float), [(k, np.array(v)) for k, v in groups.items()])

    variants = [
        ("a.vtk", dict(binary=False), None), ("a.vtk", dict(binary=True), None),
        ("a.vtu", dict(binary=False), None), ("a.vtu", dict(binary=True, compression=None), None),
        ("a.vtu", dict(binary=True, compression="zlib"), None),
        ("a.inp", {}, {"HEX8", "WEDGE6", "TET4", "TET10", "HEX20"}),
        ("a.mesh", {}, {"TET4", "HEX8", "WEDGE6"}), ("a.meshb", {}, {"TET4", "HEX8", "WEDGE6"}),
        ("a.node", {}, {"TET4"}),
    ]
    forms = {"a.vtk": ["vtk", "vtk42", "vtk51"], "a.mesh": ["medit"], "a.meshb": ["medit"], "a.inp": ["abaqus"], "a.node": ["tetgen"]}
    with tempfile.TemporaryDirectory() as folder:
        for points, elements in ((made.NODES, made.MIXED), (made.CURVED_NODES, made.CURVED)):
            for name, options, kinds in variants:
                kept = [e for e in elements if kinds is None or e[0] in kinds]
                for form in forms.get(name, [None]) if kept else []:
                    path = pathlib.Path(folder) / name
                    source = mesh(kept, points)
                    try:
                        meshio.write(str(path), source, file_format=form, **options)
                    except (KeyError, SystemExit, meshio.WriteError) as error:
                        if form in ("vtk42", "vtk51"):
                            continue  # not in this version of meshio
                        check(False, name, form, repr(error))
                    ours, found, _ = read_ours(program, path)
                    check(np.allclose(ours, points, rtol=0, atol=1e-6), name, form, "coordinates")
                    check([k for k, _ in found] == [k for k, _, _ in kept], name, form, "kinds")
                    check([n for _, n in found] == [tuple(n) for _, _, n in kept], name, form, options, "elements", found)
                    n_files += 1
        # And what meshio reads is what we read.
        for path in sorted(FILES.glob("good-mixed*.vt[ku]")):
            if "binary-5" in path.name:
                continue  # meshio 5.0 does not get through this one
            theirs = meshio.read(str(path))
            ours, found, _ = read_ours(program, path)
            check(np.array_equal(theirs.points, ours), path, "coordinates")
            cells = [(MESHIO[c.type], tuple(n)) for c in theirs.cells for n in c.data.tolist()]
            check(list(map(turned, cells)) == list(map(turned, found)), path, "elements")
            n_files += 1
    check(n_files >= 15, "only", n_files, "files")
    return n_files


parser = argparse.ArgumentParser()
parser.add_argument("what", choices=["files", "meshio", "vtk"])
parser.add_argument("--dump", required=True)
arguments = parser.parse_args()
checks = {"files": check_files, "meshio": check_meshio, "vtk": check_vtk}
print(checks[arguments.what](arguments.dump), "files agree")
