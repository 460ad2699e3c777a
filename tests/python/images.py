# SPDX-License-Identifier: Apache-2.0
"""PNG files of every kind, and mip levels in float64, by formats/textures.md, as the tests need them."""
import struct
import zlib

import numpy as np


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def rows(texels):
    """Filter 0 before every row."""
    if texels.size == 0:
        return b""
    body = texels.astype(texels.dtype.newbyteorder(">")).reshape(len(texels), -1)
    return b"".join(b"\0" + row.tobytes() for row in body)


def png_bytes(texels, interlaced=False, palette=None, size=None):
    """texels [height, width, 1 to 4], u1 or u2, the highest row first. `size`: what the head claims instead, (width, height)."""
    h, w, n = texels.shape
    kind = 3 if palette else {1: 0, 2: 4, 3: 2, 4: 6}[n]
    head = struct.pack(">IIBBBBB", *(size or (w, h)), 8 * texels.dtype.itemsize, kind, 0, 0, int(interlaced))
    if interlaced:  # Adam7
        passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
        body = b"".join(rows(texels[y::dy, x::dx]) for x, y, dx, dy in passes)
    else:
        body = rows(texels)
    colours = chunk(b"PLTE", bytes(x for colour in palette for x in colour)) if palette else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + colours + chunk(b"IDAT", zlib.compress(body, 1)) + chunk(b"IEND", b"")


def write_png(name, texels, **more):
    with open(name, "wb") as f:
        f.write(png_bytes(texels, **more))


def read_png(name):
    """[height, width, 1, 3 or 4] of 8 or 16 bits, the highest row first, of files as the tools write them: all rows without a filter or all with "up",
    sRGB said; sums are checked."""
    with open(name, "rb") as f:
        data, at, body, kinds = f.read(), 8, b"", []
    assert data[:8] == b"\x89PNG\r\n\x1a\n", (name, "signature")
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        part = data[at + 8:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + part), (name, kind)
        kinds.append(kind)
        if kind == b"IHDR":
            width, height, bits, colour, *rest = struct.unpack(">IIBBBBB", part)
            assert bits in (8, 16) and colour in (0, 2, 6) and rest == [0, 0, 0], (name, bits, colour, rest)
        body += part if kind == b"IDAT" else b""
        at += 12 + length
    assert kinds == [b"IHDR", b"sRGB", b"IDAT", b"IEND"], (name, kinds)
    n = {0: 1, 2: 3, 6: 4}[colour]
    lines = np.frombuffer(zlib.decompress(body), np.uint8).reshape(height, 1 + n * width * bits // 8)
    assert lines[0, 0] in (0, 2) and (lines[:, 0] == lines[0, 0]).all(), (name, "filters")
    values = np.cumsum(lines[:, 1:], 0, dtype=np.uint8) if lines[-1, 0] else np.ascontiguousarray(lines[:, 1:])
    return (values if bits == 8 else values.view(">u2")).reshape(height, width, n)


def to_linear(s):
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)


def from_linear(x):
    return np.where(x <= 0.0031308, x * 12.92, 1.055 * np.maximum(x, 0) ** (1 / 2.4) - 0.055)


def overlaps(n):
    """[n // 2, n]: the share of each texel in the mean."""
    m = max(n // 2, 1)
    begin, end = np.arange(m)[:, None] * n, (np.arange(m)[:, None] + 1) * n
    left, right = np.arange(n) * m, (np.arange(n) + 1) * m
    return np.clip(np.minimum(end, right) - np.maximum(begin, left), 0, None) / n


def mean(a, b, texels):
    return np.einsum("yi,xk,ikc->yxc", a, b, texels, optimize=True)


def mip_levels(texels):
    """Levels of colours [h, w, 4] as float64 numbers of 0 to 255, rounded to whole ones."""
    alpha = texels[..., 3] / 255
    weighted = (alpha < 1).any()
    light = to_linear(texels[..., :3] / 255)
    premultiplied = light * (alpha if weighted else np.ones_like(alpha))[..., None]
    found = [texels.astype(int)]
    while alpha.size > 1:
        a, b = overlaps(alpha.shape[0]), overlaps(alpha.shape[1])
        plain = mean(a, b, to_linear(found[-1][..., :3] / 255)) if weighted else None
        alpha, premultiplied = a @ alpha @ b.T, mean(a, b, premultiplied)
        with np.errstate(divide="ignore", invalid="ignore"):
            light = np.where(alpha[..., None] > 0, premultiplied / alpha[..., None], plain) if weighted else premultiplied
        found.append(np.rint(np.concatenate([from_linear(light), alpha[..., None]], 2) * 255).astype(int))
    return found
