# SPDX-License-Identifier: Apache-2.0
"""What the table of an octree cannot hold (formats/octree.md): its nodes, neighbours, mip levels, cells of texels."""
import numpy as np


def squeeze(key, axis, bits):
    return sum((key >> (3 * i + axis) & 1) << i for i in range(bits))


def spread(x, bits):
    return sum((x >> i & 1) << 3 * i for i in range(bits))


def check_nodes(file, key, b, depth, offsets, cells):
    """Level by level; returns for each sample whether it begins a cell, or None."""
    used, first, leaves = np.zeros(cells.shape, dtype=bool), 0, None
    for level in range(depth):
        prefix, node = np.unique(key >> (3 * b * (depth - level)), return_inverse=True)
        last = first + len(prefix)
        if not file.must(offsets[level] == first and last <= len(cells), "/tree/node_offsets", f"level {level} does not begin at {first}"):
            return None
        below = key >> (3 * b * (depth - 1 - level))
        column = below & (8**b - 1)
        got = cells[first + node, column].astype(np.int64)
        used[first + node, column] = True
        leaves = -got - 1
        good = (got == last + np.unique(below, return_inverse=True)[1]).all() if level < depth - 1 else \
            (leaves >= 0).all() and (leaves // 2 == np.arange(len(key))).all()
        if not file.must(good, "/tree/cells", f"level {level}: are not those of the keys"):
            return None
        first = last
    file.must(offsets[depth] == first == len(cells) and (cells[~used] == 0).all(), "/tree/cells", "has nodes or cells that no key leads to")
    return leaves & 1


def check_neighbours(file, key, bits, mask):
    at = [squeeze(key, k, bits) for k in range(3)]
    for bit in range(26):
        k, has = bit + (bit >= 13), (mask >> bit & 1) == 1
        there = [at[axis][has] + (k // 3**axis % 3 - 1) for axis in range(3)]
        good = all(((c >= 0) & (c < 2**bits)).all() for c in there)
        if good:
            want = sum(spread(c, bits) << axis for axis, c in enumerate(there))
            found = np.minimum(np.searchsorted(key, want), len(key) - 1)
            good = ((key[found] == want) & (mask[found] >> (25 - bit) & 1 == 1)).all()
        if not file.must(good, "/samples/neighbours", f"bit {bit} leads to no sample, or not back"):
            return


def linear(byte):
    x = byte / 255
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def srgb(x):
    return 255 * np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)


def unit(v):
    length = np.linalg.norm(v, axis=1, keepdims=True)
    return np.where(length > 1e-3, v / np.maximum(length, 1e-3), v)


def check_level(file, path, got, first, values, normals):
    """Each node has the mean of the samples from its first one to that of the next."""
    if not file.must(len(got) == len(first), path, f"has not {len(first)} nodes"):
        return
    count = np.diff(np.r_[first, len(values)])[:, None]
    if values.dtype == "u1":
        weight = values[:, 3:] / 255 + 2.0**-16
        sums = np.add.reduceat(np.hstack([weight * (values[:, :3] if normals else linear(values[:, :3])), weight]), first)
        mean = sums[:, :3] / sums[:, 3:]
        want = np.hstack([128 + 127 * unit((mean - 128) / 127) if normals else srgb(mean), 255 * (sums[:, 3:] / count - 2.0**-16)])
        most = 1
    else:
        want, most = np.add.reduceat(values.astype("f8"), first) / count, 1e-5 * np.maximum.reduceat(np.abs(values).max(1), first)[:, None]
        want = unit(want) if normals else want
    file.must((np.abs(got - want) <= most).all(), path, "is not the mean of the samples")


def check_octree(file, table):
    v = table.values
    key, offsets, cells, n, depth = (v.get(f"/{x}") for x in ("samples/key", "tree/node_offsets", "tree/cells", "tree/@n", "tree/@depth"))
    if file.findings or key is None:
        return
    b = {2: 1, 4: 2, 8: 3}[n]
    bits = b * depth
    if "/samples/neighbours" in v:
        check_neighbours(file, key, bits, v["/samples/neighbours"])
    begins = check_nodes(file, key, b, depth, offsets, cells)
    if begins is None:
        return
    if "/atlas/sample" in v:
        file.must((begins[v["/atlas/sample"]] == 1).all(), "/atlas/sample", "begins no cell")
    for level in range(depth if file.has("/mipmaps") else 0):
        prefix = key >> (3 * b * (depth - level)) if 3 * b * (depth - level) < 63 else np.zeros_like(key)
        check_level(file, f"/mipmaps/{level:02}", v[f"/mipmaps/{level:02}"], np.flatnonzero(np.r_[True, np.diff(prefix) != 0]),
                    v["/samples/values"], "/@content" in v)
    lower, side = [squeeze(key[begins == 1], k, bits) for k in range(3)], 2**bits
    file.must(all((c + 1 < side).all() for c in lower), "/tree/cells", "a cell that is met leaves the cube")
    for k in range(1, 8):
        corner = sum(spread(np.minimum(c + (k >> axis & 1), side - 1), bits) << axis for axis, c in enumerate(lower))
        file.must(np.isin(corner, key).all(), "/tree/cells", "a cell that is met lacks a corner")
