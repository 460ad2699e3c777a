# SPDX-License-Identifier: Apache-2.0
"""Irregular surfaces with known curvature, and how they are written: for the tests of curvature."""
import numpy as np


def orient(x, t, outward):
    """Triangles turned so that their normals agree with outward(centres)."""
    c = x[t]
    n = np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0])
    t = t.copy()
    turned = (n * outward(c.mean(1))).sum(1) < 0
    t[turned] = t[turned][:, ::-1]
    return t


def hull(x):
    from scipy.spatial import ConvexHull
    return orient(x, ConvexHull(x).simplices.astype(np.int32), lambda c: c)


def points_on_sphere(n, jitter, rng):
    i = np.arange(n) + 0.5
    polar, turn = np.arccos(1 - 2 * i / n), np.pi * (1 + 5**0.5) * i
    x = np.c_[np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)]
    x = x + jitter * np.sqrt(4 * np.pi / n) * rng.normal(size=x.shape)
    return x / np.linalg.norm(x, axis=1)[:, None]


def sphere(n, rng, jitter=0.15):
    x = points_on_sphere(n, jitter, rng)
    return x, hull(x), np.ones((n, 2))


def ellipsoid(n, rng, jitter=0.15, axes=(1.0, 0.8, 0.6)):
    x = points_on_sphere(n, jitter, rng)
    t = hull(x)
    a = np.array(axes)
    x = x * a
    # F = sum x^2 / a^2 - 1: shape operator P (Hessian / |grad|) P
    g = 2 * x / a**2
    size = np.linalg.norm(g, axis=1)
    normal = g / size[:, None]
    p = np.eye(3) - normal[:, :, None] * normal[:, None, :]
    s = p @ (np.diag(2 / a**2) / size[:, None, None]) @ p
    k = np.sort(np.linalg.eigvalsh(s), axis=1)  # one of the three is 0, that of the normal; the others are positive
    return x, t, k[:, ::-1][:, :2]


def grid(width, height, closed, rng, jitter):
    """Parameters in cells, and triangles with random diagonals."""
    i, j = np.meshgrid(np.arange(width), np.arange(height), indexing="ij")
    cells_i, cells_j = (width, height) if closed else (width - 1, height - 1)
    a, b = i + 0.0, j + 0.0
    inside = np.ones(i.shape, bool) if closed else (i > 0) & (j > 0) & (i < width - 1) & (j < height - 1)
    a[inside] += rng.uniform(-jitter, jitter, inside.sum())
    b[inside] += rng.uniform(-jitter, jitter, inside.sum())
    number = lambda u, v: (u % width) * height + v % height
    c, d = (g.ravel() for g in np.meshgrid(np.arange(cells_i), np.arange(cells_j), indexing="ij"))
    p, q, r, s = number(c, d), number(c + 1, d), number(c + 1, d + 1), number(c, d + 1)
    flip = rng.random(len(p)) < 0.5
    t = np.where(flip[:, None], np.c_[p, q, s, q, r, s], np.c_[p, q, r, p, r, s]).reshape(-1, 3)
    return a.ravel(), b.ravel(), t.astype(np.int32)


def torus(width, rng, jitter=0.3, inner=0.4):
    a, b, t = grid(width, width, True, rng, jitter)
    u, w = 2 * np.pi * a / width, 2 * np.pi * b / width
    far = 1 + inner * np.cos(w)
    x = np.c_[far * np.cos(u), far * np.sin(u), inner * np.sin(w)]
    centre = np.c_[np.cos(u), np.sin(u), 0 * u]
    nearest = lambda c: np.c_[c[:, :2] / np.linalg.norm(c[:, :2], axis=1)[:, None], 0 * c[:, 0]]
    del centre
    return x, orient(x, t, lambda c: c - nearest(c)), np.c_[np.full(len(x), 1 / inner), np.cos(w) / far]


def saddle(width, rng, jitter=0.3):
    a, b, t = grid(width, width, False, rng, jitter)
    x, y = 2 * a / (width - 1) - 1, 2 * b / (width - 1) - 1
    # upward normals; S = -Hess / W in the metric: k of z = x^2 - y^2
    w2 = 1 + 4 * x**2 + 4 * y**2
    gauss = -4 / w2**2
    mean = -((1 + 4 * y**2) * 2 - (1 + 4 * x**2) * 2) / (2 * w2**1.5)
    root = np.sqrt(np.maximum(mean**2 - gauss, 0))
    inside = (np.abs(x) < 0.9) & (np.abs(y) < 0.9)  # rims are one-sided
    k = np.where(inside[:, None], np.c_[mean + root, mean - root], np.nan)
    points = np.c_[x, y, x**2 - y**2]
    return points, orient(points, t, lambda c: np.array([[0, 0, 1.0]])), k


def cylinder(width, height, radius=1.0, length=2.0):
    a, b, t = grid(width, height, True, np.random.default_rng(0), 0.0)
    t = t.reshape(-1, 3)
    t = t[(np.abs(b[t[:, 0]] - b[t[:, 1]]) < 2) & (np.abs(b[t[:, 1]] - b[t[:, 2]]) < 2) & (np.abs(b[t[:, 0]] - b[t[:, 2]]) < 2)]
    u = 2 * np.pi * a / width
    x = np.c_[radius * np.cos(u), radius * np.sin(u), length * b / (height - 1)]
    return x, orient(x, t, lambda c: c * np.array([1, 1, 0]))


def write_ply(name, x, t):
    head = (f"ply\nformat binary_little_endian 1.0\nelement vertex {len(x)}\nproperty float x\nproperty float y\n"
            f"property float z\nelement face {len(t)}\nproperty list uchar int vertex_indices\nend_header\n")
    rows = np.zeros(len(t), dtype=[("n", "u1"), ("v", "<i4", 3)])
    rows["n"], rows["v"] = 3, t
    with open(name, "wb") as out:
        out.write(head.encode() + np.asarray(x).astype("<f4").tobytes() + rows.tobytes())


def ply_vertices(name):
    """The vertices of a .ply that we wrote, a record each."""
    with open(name, "rb") as f:
        names, n = [], 0
        for line in iter(f.readline, b"end_header\n"):
            word = line.split()
            if word[:2] == [b"element", b"vertex"]:
                n = int(word[2])
            elif word[0] == b"property" and word[1] != b"list":
                names.append((word[2].decode(), "<f4" if word[1] == b"float" else "u1"))
        kind = np.dtype(names)
        return np.frombuffer(f.read(kind.itemsize * n), kind)


def read_ply(name):
    """The properties of its vertices that are float, in float64."""
    data = ply_vertices(name)
    return {name: data[name].astype(float) for name in data.dtype.names if data.dtype[name] == "<f4"}


def read_colours(name):
    """[n, 3], 0 to 255."""
    data = ply_vertices(name)
    return np.stack([data[c].astype(int) for c in ("red", "green", "blue")], 1)
