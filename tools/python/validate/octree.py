# SPDX-License-Identifier: Apache-2.0
"""octree.h5, by formats/octree.md."""
import numpy as np

WIDTH = {"rgba8": ("u8", 4), "float": ("f32", 1), "float3": ("f32", 3)}
MOST = 2**30


def squeeze(key, axis, bits):
    out = np.zeros_like(key)
    for i in range(bits):
        out |= ((key >> (3 * i + axis)) & 1) << i
    return out


def spread(x, bits):
    out = np.zeros_like(x)
    for i in range(bits):
        out |= ((x >> i) & 1) << (3 * i)
    return out


def check_nodes(file, key, b, depth, offsets, cells):
    """Level by level; returns what the leaves say: for each sample whether it begins a cell, or None."""
    used = np.zeros(cells.shape, dtype=bool)
    first, leaves = 0, None
    for level in range(depth):
        place, node = np.unique(key >> (3 * b * (depth - level)), return_inverse=True)
        file.must(offsets[level] == first, "/tree/node_offsets", f"level {level} does not begin at {first}")
        last = first + len(place)
        if not file.must(last <= len(cells), "/tree/cells", f"has no {last} nodes"):
            return None
        column = (key >> (3 * b * (depth - 1 - level))) & (8**b - 1)
        got = cells[first + node, column].astype(np.int64)
        used[first + node, column] = True
        if level == depth - 1:
            leaves = -got - 1
            if not file.must((leaves >= 0).all() and (leaves // 2 == np.arange(len(key))).all(), "/tree/cells", "leaves are not the samples in order"):
                return None
        else:
            child = np.unique(key >> (3 * b * (depth - 1 - level)), return_inverse=True)[1]
            if not file.must((got == last + child).all(), "/tree/cells", f"level {level}: children are not those of the keys"):
                return None
        first = last
    file.must(offsets[depth] == first and len(cells) == first, "/tree/node_offsets", f"does not end at {first}, the number of nodes")
    file.must((cells[~used] == 0).all(), "/tree/cells", "has cells that no key leads to")
    return leaves & 1


def check_neighbours(file, key, bits, count):
    """Areas and neighbours, of key where that is sound (else None)."""
    if not file.must(file.has("/samples/area") == file.has("/samples/neighbours"), "/samples", "has one of area and neighbours without the other") or \
            not file.has("/samples/area"):
        return
    area, mask = file.array("/samples/area", "f32", (count,)), file.array("/samples/neighbours", "i32", (count,))
    if area is not None:
        file.must((area >= 0).all(), "/samples/area", "is negative")
    if mask is None or key is None or not file.must((mask >= 0).all() and (mask < 2**26).all(), "/samples/neighbours", "has bits above 25"):
        return
    at = [squeeze(key, k, bits) for k in range(3)]
    for bit in range(26):
        k = bit + (bit >= 13)
        has = (mask >> bit & 1) == 1
        there = [at[axis][has] + (k // 3**axis % 3 - 1) for axis in range(3)]
        inside = np.all([(c >= 0) & (c < 2**bits) for c in there], axis=0)
        if not file.must(inside.all(), "/samples/neighbours", f"bit {bit} leaves the cube"):
            return
        want = sum(spread(c, bits) << axis for axis, c in enumerate(there))
        found = np.minimum(np.searchsorted(key, want), len(key) - 1)
        file.must((key[found] == want).all() and (mask[found] >> (25 - bit) & 1).all(), "/samples/neighbours", f"bit {bit} leads to no sample, or not back")


def check_flow(file, count):
    if not file.has("/flow"):
        return
    file.must(file.has("/samples/neighbours"), "/flow", "is there without /samples/neighbours")
    file.number("/flow", "time", "f64")
    for name in ("initial", "added", "evaporated", "initial_dirt"):
        value = file.number("/flow", name, "f64")
        file.must(value is None or value >= 0, f"/flow/@{name}", "is negative")
    for name in ("trajectory_hash", "settings"):
        file.text("/flow", name, optional=True)
    for name in ("liquid", "wetness", "dirt"):
        values = file.array(f"/flow/{name}", "f32", (count,), optional=name == "dirt")
        file.must(values is None or (values >= 0).all(), f"/flow/{name}", "is negative")


def check_atlas(file, triangles, begins):
    """Charts, and what texels show. begins: of each sample, whether it begins a cell."""
    if not file.has("/atlas"):
        return
    width, height = file.number("/atlas", "width", "i64"), file.number("/atlas", "height", "i64")
    uv, corners = file.array("/atlas/uv", "f64", (None, 2)), file.array("/atlas/triangle_uv", "i32", (triangles, 3))
    if uv is not None and corners is not None:
        file.must(len(uv) > 0 and ((corners >= 0) & (corners < len(uv))).all(), "/atlas/triangle_uv", "has rows that uv has not")
    texel = file.array("/atlas/texel", "i32", (None,))
    rows = None if texel is None else len(texel)
    sample, triangle = file.array("/atlas/sample", "i32", (rows,)), file.array("/atlas/triangle", "i32", (rows,))
    place = file.array("/atlas/place", "f32", (rows, 3))
    if place is not None:
        file.must(((place >= 0) & (place <= 1)).all(), "/atlas/place", "is not in [0, 1]")
    if triangle is not None and triangles is not None:
        file.must(((triangle >= 0) & (triangle < triangles)).all(), "/atlas/triangle", f"is not in [0, {triangles})")
    if sample is not None:
        file.must(((sample >= 0) & (sample < len(begins))).all() and (begins[np.clip(sample, 0, len(begins) - 1)] == 1).all(), "/atlas/sample", "begins no cell")
    if width is None or height is None or not file.must(0 < width <= 2**14 and 0 < height <= 2**14, "/atlas", "is not 1 to 2^14 texels a side"):
        return
    file.array("/atlas/image", "u8", (height, width, 4), optional=True)
    if texel is not None:
        file.must((np.diff(texel) > 0).all() and (rows == 0 or (texel[0] >= 0 and texel[-1] < width * height)), "/atlas/texel", "does not ascend inside of the image")


def linear(byte):
    x = byte / 255
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4)


def srgb(x):
    return 255 * np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)


def unit(v):
    length = np.linalg.norm(v, axis=1, keepdims=True)
    return np.where(length > 1e-3, v / np.maximum(length, 1e-3), v)


def check_mipmaps(file, key, b, depth, offsets, kind, values, normals):
    """Each node has the mean of the samples below."""
    for level in range(depth):
        path = f"/mipmaps/{level:02d}"
        got = file.array(path, kind[0], (int(offsets[level + 1] - offsets[level]), kind[1]))
        if got is None or values is None:
            continue
        first = np.flatnonzero(np.r_[True, np.diff(key >> (3 * b * (depth - level))) != 0]) if 3 * b * (depth - level) < 63 else np.array([0])
        count = np.diff(np.r_[first, len(key)])[:, None]
        if kind[0] == "u8":
            weight = values[:, 3:] / 255 + 2.0**-16
            sums = np.add.reduceat(np.hstack([weight * (values[:, :3] if normals else linear(values[:, :3])), weight]), first)
            mean = sums[:, :3] / sums[:, 3:]
            want = np.hstack([128 + 127 * unit((mean - 128) / 127) if normals else srgb(mean), 255 * (sums[:, 3:] / count - 2.0**-16)])
            file.must((np.abs(got - want) <= 1).all(), path, "is not the mean of the samples")
        else:
            most = np.maximum.reduceat(np.abs(values).max(1), first)[:, None]
            want = np.add.reduceat(values.astype("f8"), first) / count
            want = unit(want) if normals else want
            file.must((np.abs(got - want) <= 1e-5 * most).all(), path, "is not the mean of the samples")


def check_octree(file):
    file.open_as((1,))
    channels = file.text("/", "channels", among=tuple(WIDTH))
    file.hash_text("/", "source_hash")
    normals = file.text("/", "content", optional=True, among=("normals",)) == "normals"
    file.must(not normals or channels != "float", "/@content", "is of normals, which are no single numbers")
    triangles = file.number("/", "triangles", "i64")
    if triangles is not None:
        file.must(0 < triangles < 2**31, "/@triangles", "is not 1 to 2^31 - 1")
    n, depth = file.number("/tree", "n", "i64"), file.number("/tree", "depth", "i64")
    size = file.number("/tree", "size", "f64")
    file.array("/tree/origin", "f64", (3,))
    if size is not None:
        file.must(size > 0, "/tree/@size", "is not positive")
    key = file.array("/samples/key", "i64", (None,))
    count = None if key is None else len(key)
    if channels is not None:
        values = file.array("/samples/values", WIDTH[channels][0], (count, WIDTH[channels][1]))
    triangle, weights = file.array("/samples/triangle", "i32", (count,)), file.array("/samples/barycentric", "f32", (count, 2))
    if triangle is not None and triangles is not None:
        file.must(((triangle >= 0) & (triangle < triangles)).all(), "/samples/triangle", f"is not in [0, {triangles})")
    if weights is not None:
        file.must((weights >= 0).all() and (weights.sum(1, dtype=np.float32) <= 1 + 1e-6).all(), "/samples/barycentric", "is outside of a triangle")
    file.provenance("/provenance", False)
    if n is None or depth is None or not file.must(n in (2, 4, 8), "/tree/@n", "is not 2, 4 or 8"):
        return
    b = {2: 1, 4: 2, 8: 3}[n]
    if not file.must(depth > 0 and 3 <= b * depth <= 20, "/tree/@depth", "is not of 8 to 2^20 points a side"):
        return
    offsets, cells = file.array("/tree/node_offsets", "i64", (depth + 1,)), file.array("/tree/cells", "i32", (None, n**3))
    if key is None or offsets is None or cells is None:
        return
    bits = b * depth
    if not file.must(0 < len(key) < MOST and len(cells) < MOST, "/samples/key", "has no samples, or too many") or \
            not file.must(key[0] >= 0 and key[-1] < 8**bits and (np.diff(key) > 0).all(), "/samples/key", "does not ascend inside of the cube"):
        return
    check_flow(file, count)
    check_neighbours(file, key, bits, count)
    begins = check_nodes(file, key, b, depth, offsets, cells)
    if begins is None:
        return
    check_atlas(file, triangles, begins)
    if file.has("/mipmaps") and channels is not None:
        check_mipmaps(file, key, b, depth, offsets, WIDTH[channels], values, normals)
    lower = [squeeze(key[begins == 1], k, bits) for k in range(3)]
    side = 2**bits
    file.must(all((c + 1 < side).all() for c in lower), "/tree/cells", "a cell that is met leaves the cube")
    for k in range(1, 8):
        corner = sum(spread(np.minimum(c + (k >> axis & 1), side - 1), bits) << axis for axis, c in enumerate(lower))
        file.must(np.isin(corner, key).all(), "/tree/cells", "a cell that is met lacks a corner")
