#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes two small meshes in every format of volume meshes: good-mixed* (a cube, a wedge beside it, a
pyramid on it, a tetrahedron) and good-curved* (a 10-node tetrahedron, a 20-node brick), and
good-pair*.{node,ele,face} for TetGen. NODES, MIXED and CURVED are what the readers must find."""
import base64
import pathlib
import struct
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
NODES = [
    (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1),
    (0.5, 0.5, 1.5), (2, 0, 0), (2, 1, 0), (1.5, 0.5, 1.5),
]
# type, group, nodes in our order, which is that of Abaqus
MIXED = [
    ("HEX8", 7, (0, 1, 2, 3, 4, 5, 6, 7)),
    ("PYRAMID5", 7, (4, 5, 6, 7, 8)),
    ("WEDGE6", 9, (1, 5, 9, 2, 6, 10)),
    ("TET4", 9, (5, 11, 6, 8)),
]
FACE = (3, (0, 3, 2, 1))  # a quadrilateral of group 3
FACES = [(2, (0, 2, 1)), (0, (0, 1, 3)), (5, (1, 2, 3)), (2, (0, 3, 2)), (-1, (1, 0, 3))]  # of good-pair*
TET_EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
HEX_EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]
VTK = {"TET4": 10, "HEX8": 12, "WEDGE6": 13, "PYRAMID5": 14, "TET10": 24, "HEX20": 25}
ABAQUS = {"TET4": "C3D4", "HEX8": "C3D8R", "WEDGE6": "C3D6", "PYRAMID5": "C3D5", "TET10": "C3D10", "HEX20": "C3D20R"}
MEDIT = {"TET4": "Tetrahedra", "HEX8": "Hexahedra", "WEDGE6": "Prisms", "PYRAMID5": "Pyramids", "TET10": "TetrahedraP2"}


def middle(a, b):
    return tuple((x + y) / 2 for x, y in zip(a, b))


def make_curved():
    """(nodes, elements): nodes of the brick first."""
    nodes = [tuple(map(float, p)) for p in NODES[:8]]
    nodes += [middle(nodes[a], nodes[b]) for a, b in HEX_EDGES]
    corners = [(3.0, 0.0, 0.0), (4.0, 0.0, 0.0), (3.0, 1.0, 0.0), (3.0, 0.0, 1.0)]
    nodes += corners + [middle(corners[a], corners[b]) for a, b in TET_EDGES]
    return nodes, [("HEX20", 7, tuple(range(20))), ("TET10", 9, tuple(range(20, 30)))]


CURVED_NODES, CURVED = make_curved()


def write(name, content):
    data = content if isinstance(content, bytes) else content.encode()
    (HERE / f"good-{name}").write_bytes(data)


def numbers(values, separator=" "):
    return separator.join(f"{v:g}" for v in values)


def medit(name, nodes, elements, face):
    text = "MeshVersionFormatted 2\nDimension\n3\n# made by make_volumes.py\n"
    text += f"Vertices\n{len(nodes)}\n" + "".join(numbers(p) + " 0\n" for p in nodes)
    if face:
        text += f"Quadrilaterals\n1\n{numbers(i + 1 for i in face[1])} {face[0]}\n"
    for kind, keyword in MEDIT.items():
        chosen = [e for e in elements if e[0] == kind]
        if chosen:
            text += f"{keyword}\n{len(chosen)}\n"
            text += "".join(f"{numbers(i + 1 for i in n)} {group}\n" for _, group, n in chosen)
    write(name, text + "Corners 1\n1\nEnd\n")


MESHB = {"TET4": 8, "HEX8": 10, "WEDGE6": 9, "PYRAMID5": 49, "TET10": 30}


def meshb(name, nodes, elements, face, version):
    """Medit's sections in binary: number, where the next one begins, count, records."""
    whole, real, place = "q" if version == 4 else "i", "f" if version == 1 else "d", "q" if version >= 3 else "i"
    data = struct.pack("<ii", 1, version)

    def section(code, content):
        nonlocal data
        end = len(data) + 4 + struct.calcsize(place) + len(content)
        data += struct.pack("<i" + place, code, end) + content

    def records(code, layout, rows):
        section(code, struct.pack("<" + whole, len(rows)) + b"".join(struct.pack("<" + layout, *r) for r in rows))

    section(3, struct.pack("<i", 3))
    records(4, 3 * real + whole, [(*p, 0) for p in nodes])
    if face:
        records(7, 5 * whole, [(*(i + 1 for i in face[1]), face[0])])
    for kind, code in MESHB.items():
        chosen = [e for e in elements if e[0] == kind]
        if chosen:
            records(code, (len(chosen[0][2]) + 1) * whole, [(*(i + 1 for i in n), group) for _, group, n in chosen])
    records(13, whole, [(1,)])
    write(name, data + struct.pack("<i" + place, 54, 0))


def inp(name, nodes, elements, face, materials):
    text = "*HEADING\n a mesh, by make_volumes.py\n** comment\n*Node, nset=Nall\n"
    text += "".join(f"{i + 10}, {numbers(p, ', ')}\n" for i, p in enumerate(nodes))
    for number, (kind, group, n) in enumerate(elements, 1):
        text += f"*ELEMENT, TYPE={ABAQUS[kind]},\n ELSET=part {group}\n"
        ids = [i + 10 for i in n]
        text += f"{number}, {numbers(ids[:12], ', ')}" + (",\n" + numbers(ids[12:], ",") if ids[12:] else "") + "\n"
    if face:
        text += f"*ELEMENT, TYPE=S4, ELSET=under\n90, {numbers((i + 10 for i in face[1]), ', ')},\n"
    text += "*NSET, NSET=some, GENERATE\n10, 14, 2\n*NSET, NSET=more\nsome, 11\n"
    text += "*ELSET, ELSET=all\npart 7, part 9\n"
    if materials:
        text += "*MATERIAL, NAME=Steel\n*ELASTIC\n2.1D11, 0.3\n*DENSITY\n7850.\n*MATERIAL, NAME=\"Soft one\"\n"
        text += "*DENSITY\n1000.,\n*ELASTIC, TYPE=ISOTROPIC\n1e6, .45\n"
        text += "*SOLID SECTION, ELSET=part 7, MATERIAL=STEEL\n*Solid Section, elset=part 9, material=Soft one\n1.,\n"
    text += "*STEP\n*FREQUENCY\n10\n*END STEP\n"
    write(name, text)


def vtk(name, nodes, elements, binary, version):
    head = f"# vtk DataFile Version {version}\nmade by make_volumes.py\n{'BINARY' if binary else 'ASCII'}\nDATASET UNSTRUCTURED_GRID\n"

    def array(values, code):
        if binary:
            return struct.pack(f">{len(values)}{code}", *values) + b"\n"
        return (numbers(values) + "\n").encode()

    flat = [x for p in nodes for x in p]
    data = head.encode() + f"POINTS {len(nodes)} double\n".encode() + array(flat, "d")
    connectivity = [i for _, _, n in elements for i in n]
    offsets = [0]
    for _, _, n in elements:
        offsets.append(offsets[-1] + len(n))
    if version == "5.1":
        data += f"CELLS {len(elements) + 1} {len(connectivity)}\nOFFSETS vtktypeint64\n".encode()
        data += array(offsets, "q") + b"CONNECTIVITY vtktypeint64\n" + array(connectivity, "q")
    else:
        cells = [i for _, _, n in elements for i in (len(n), *n)]
        data += f"CELLS {len(elements)} {len(cells)}\n".encode() + array(cells, "i")
    data += f"CELL_TYPES {len(elements)}\n".encode() + array([VTK[k] for k, _, _ in elements], "i")
    data += f"CELL_DATA {len(elements)}\nSCALARS MaterialIds int 1\nLOOKUP_TABLE default\n".encode()
    data += array([g for _, g, _ in elements], "i")
    data += f"POINT_DATA {len(nodes)}\nFIELD FieldData 1\nheat 1 {len(nodes)} float\n".encode()
    write(name, data + array([0.5] * len(nodes), "f"))


def vtu(name, nodes, elements, encoding, packed=False, order="<"):
    connectivity = [i for _, _, n in elements for i in n]
    ends, end = [], 0
    for _, _, n in elements:
        end += len(n)
        ends.append(end)
    appended = b""

    def encode(values, code):
        raw = struct.pack(f"{order}{len(values)}{code}", *values)
        if not packed:
            raw = struct.pack(order + "I", len(raw)) + raw
            return raw if encoding == "raw" else base64.b64encode(raw)
        size = 64
        blocks = [raw[i:i + size] for i in range(0, len(raw), size)]
        last = len(blocks[-1]) % size
        small = [zlib.compress(b) for b in blocks]
        top = struct.pack(f"{order}{3 + len(blocks)}I", len(blocks), size, last, *map(len, small))
        if encoding == "raw":
            return top + b"".join(small)
        return base64.b64encode(top) + base64.b64encode(b"".join(small))

    def array(label, kind, values, code, components=""):
        nonlocal appended
        tag = f'        <DataArray type="{kind}" Name="{label}"{components} format='
        if encoding == "ascii":
            return f'{tag}"ascii">\n{numbers(values)}\n        </DataArray>\n'
        data = encode(values, code)
        if encoding == "inline":
            return f'{tag}"binary">\n          {data.decode()}\n        </DataArray>\n'
        offset = len(appended)
        appended += data
        return f'{tag}"appended" offset="{offset}"/>\n'

    compressor = ' compressor="vtkZLibDataCompressor"' if packed else ""
    text = '<?xml version="1.0"?>\n<!-- made by make_volumes.py -->\n'
    text += f'<VTKFile type="UnstructuredGrid" version="0.1" byte_order="{"Little" if order == "<" else "Big"}Endian"{compressor}>\n'
    text += f'  <UnstructuredGrid>\n    <Piece NumberOfPoints="{len(nodes)}" NumberOfCells="{len(elements)}">\n'
    text += "      <Points>\n" + array("Points", "Float64", [x for p in nodes for x in p], "d", ' NumberOfComponents="3"')
    text += "      </Points>\n      <Cells>\n" + array("connectivity", "Int32", connectivity, "i")
    text += array("offsets", "Int64", ends, "q") + array("types", "UInt8", [VTK[k] for k, _, _ in elements], "B")
    text += "      </Cells>\n      <CellData>\n" + array("MaterialIds", "Int32", [g for _, g, _ in elements], "i")
    text += "      </CellData>\n    </Piece>\n  </UnstructuredGrid>\n"
    data = text.encode()
    if appended:
        kind = "raw" if encoding == "raw" else "base64"
        data += f'  <AppendedData encoding="{kind}">\n   _'.encode() + appended + b"\n  </AppendedData>\n"
    write(name, data + b"</VTKFile>\n")


def tetgen(name, nodes, elements, order, first):
    text = f"{len(nodes)} 3 1 1\n# attributes and markers\n"
    text += "".join(f"{i + first} {numbers(p)} 0.5 {int(p[0] == 3)}\n" for i, p in enumerate(nodes))
    write(f"{name}.node", text)
    text = f"{len(elements)} {len(order)} 1\n"
    text += "".join(f"{k + first} {numbers(n[i] + first for i in order)} {g}\n" for k, (_, g, n) in enumerate(elements))
    write(f"{name}.ele", text)
    # Corners, mid-side nodes, markers, and with mid-side nodes the tetrahedra beside the face.
    text = f"{len(FACES)} 1\n"
    for i, (marker, corners) in enumerate(FACES):
        middles = [4 + j for j, edge in enumerate(TET_EDGES) if set(edge) <= set(corners)] if len(order) == 10 else []
        more = " 1 -1" if middles else ""
        text += f"{i + first} {numbers(v + first for v in (*corners, *middles))} {marker}{more}\n"
    write(f"{name}.face", text)


def main():
    for name, nodes, elements, face in (("mixed", NODES, MIXED, FACE), ("curved", CURVED_NODES, CURVED, None)):
        bricks = [e for e in elements if e[0] != "HEX20"]
        medit(f"{name}.mesh", nodes, bricks, face)
        for version in (1, 2, 3, 4):
            meshb(f"{name}-{version}.meshb", nodes, bricks, face, version)
        inp(f"{name}.inp", nodes, elements, face, name == "mixed")
        vtk(f"{name}.vtk", nodes, elements, False, "3.0")
        vtu(f"{name}.vtu", nodes, elements, "ascii")
    vtk("mixed-binary.vtk", NODES, MIXED, True, "4.2")
    vtk("mixed-5.vtk", NODES, MIXED, False, "5.1")
    vtk("mixed-binary-5.vtk", NODES, MIXED, True, "5.1")
    vtu("mixed-inline.vtu", NODES, MIXED, "inline")
    vtu("mixed-zlib.vtu", NODES, MIXED, "inline", True)
    vtu("mixed-raw.vtu", NODES, MIXED, "raw", False, ">")
    vtu("mixed-raw-zlib.vtu", NODES, MIXED, "raw", True)
    vtu("mixed-appended.vtu", NODES, MIXED, "base64")
    tetgen("pair", CURVED_NODES[20:24], [("TET4", 4, (0, 1, 2, 3))], (0, 1, 2, 3), 0)
    # TetGen's mid-side nodes stand on the edges 23 03 01 12 13 02.
    tetgen("pair-10", CURVED_NODES[20:], [("TET10", 4, tuple(range(10)))], (0, 1, 2, 3, 9, 7, 4, 5, 8, 6), 1)


if __name__ == "__main__":
    sys.exit(main())
