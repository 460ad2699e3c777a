#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the binary files of this folder (their twins in text are good-22.msh and good-41.msh)."""
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
NODES = [(10, 0, 0, 0), (3, 1, 0, 0), (700, 0, 1, 0), (41, 0, 0, 1), (5, 1, 1, 1)]
# dimension, entity, type, [(number, physical, nodes)]
BLOCKS = [
    (0, 6, 15, [(32, 9, [5])]),
    (1, 8, 1, [(31, 3, [10, 3])]),
    (2, 2, 2, [(30, 2, [10, 3, 700])]),
    (3, 1, 4, [(12, 1, [10, 3, 700, 41]), (7, 1, [3, 700, 41, 5])]),
]
NAMES = b'$PhysicalNames\n3\n0 9 "tip"\n2 2 "fixed side"\n3 1 "body"\n$EndPhysicalNames\n'


def head(version, order="<"):
    return b"$MeshFormat\n%s 1 8\n%s\n$EndMeshFormat\n" % (version, struct.pack(order + "i", 1))


def nodes22(nodes=NODES):
    records = b"".join(struct.pack("<i3d", *node) for node in nodes)
    return b"$Nodes\n%d\n%s\n$EndNodes\n" % (len(nodes), records)


def elements22(blocks=BLOCKS):
    out = b""
    for _, entity, kind, elements in blocks:
        out += struct.pack("<3i", kind, len(elements), 2)
        for number, physical, nodes in elements:
            out += struct.pack("<3i", number, physical, entity)
            out += struct.pack("<%di" % len(nodes), *nodes)
    count = sum(len(block[3]) for block in blocks)
    return b"$Elements\n%d\n%s\n$EndElements\n" % (count, out)


def entities41():
    out = struct.pack("<4Q", 1, 1, 1, 1)
    out += struct.pack("<i3dQi", 6, 1, 1, 1, 1, 9)
    out += struct.pack("<i6dQiQ2i", 8, 0, 0, 0, 1, 0, 0, 1, 3, 2, 6, -6)
    out += struct.pack("<i6dQiQi", 2, 0, 0, 0, 1, 1, 0, 1, -2, 1, 8)
    out += struct.pack("<i6dQiQi", 1, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2)
    return b"$Entities\n%s\n$EndEntities\n" % out


def nodes41(nodes=NODES, count=None):
    count = len(nodes) if count is None else count
    out = struct.pack("<4Q", 1, count, 3, 700) + struct.pack("<3iQ", 3, 1, 0, count)
    out += b"".join(struct.pack("<Q", node[0]) for node in nodes)
    out += b"".join(struct.pack("<3d", *node[1:]) for node in nodes)
    return b"$Nodes\n%s\n$EndNodes\n" % out


def elements41(blocks=BLOCKS):
    count = sum(len(block[3]) for block in blocks)
    out = struct.pack("<4Q", len(blocks), count, 7, 32)
    for dimension, entity, kind, elements in blocks:
        out += struct.pack("<3iQ", dimension, entity, kind, len(elements))
        for number, _, nodes in elements:
            out += struct.pack("<%dQ" % (1 + len(nodes)), number, *nodes)
    return b"$Elements\n%s\n$EndElements\n" % out


def write(name, *parts):
    (HERE / name).write_bytes(b"".join(parts))


nan = NODES[:2] + [(700, 0, float("nan"), 0)] + NODES[3:]
unknown = [(3, 1, 4, [(12, 1, [10, 3, 700, 99])])]
write("good-22-binary.msh", head(b"2.2"), NAMES, nodes22(), elements22())
write("good-41-binary.msh", head(b"4.1"), NAMES, entities41(), nodes41(), elements41())
write("unsupported-big-endian.msh", head(b"2.2", ">"), NAMES, nodes22(), elements22())
write("bad-binary-nan.msh", head(b"4.1"), nodes41(nan), elements41())
write("bad-binary-unknown-node.msh", head(b"2.2"), nodes22(), elements22(unknown))
write("bad-binary-count.msh", head(b"4.1"), nodes41(count=10**12), elements41())
write("bad-binary-huge-count.msh", head(b"4.1"), nodes41(count=2**64 - 1), elements41())
write("bad-binary-truncated.msh", head(b"4.1"), nodes41(), elements41()[:150])
write("bad-binary-byte-order.msh", b"$MeshFormat\n2.2 1 8\n\x02\0\0\0\n$EndMeshFormat\n", nodes22())
