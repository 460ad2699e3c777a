#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A closed surface like that of a liver: liver.py OUT.obj [SUBDIVISIONS]. Metres; about 0.2 m wide. Its rule is this file, no measured organ."""
import sys

import numpy as np


def sphere(n):
    """An icosahedron whose triangles are split in four n times, on the unit sphere."""
    g = (1 + 5 ** 0.5) / 2
    x = np.array([[s * a, t * b, 0][k:] + [s * a, t * b, 0][:k] for k in range(3) for s in (1, -1) for t in (1, -1) for a, b in [(1, g)]], float)
    near = np.linalg.norm(x[:, None] - x[None], axis=2) < 2.1
    faces = [[a, b, c] for a in range(12) for b in range(a + 1, 12) for c in range(b + 1, 12) if near[a, b] and near[b, c] and near[a, c]]
    faces = [f if np.linalg.det(x[f]) > 0 else f[::-1] for f in faces]
    x = list(x / np.linalg.norm(x[0]))
    for _ in range(n):
        middle, finer = {}, []
        for f in faces:
            m = []
            for a, b in ((f[0], f[1]), (f[1], f[2]), (f[2], f[0])):
                key = (min(a, b), max(a, b))
                if key not in middle:
                    middle[key] = len(x)
                    p = x[a] + x[b]
                    x.append(p / np.linalg.norm(p))
                m.append(middle[key])
            finer += [[f[0], m[0], m[2]], [f[1], m[1], m[0]], [f[2], m[2], m[1]], m]
        faces = finer
    return np.array(x), np.array(faces)


def liver(d):
    """Where a direction goes: a wedge, thick on the right, thin on the left, a notch below and a hollow behind."""
    x, y, z = d.T
    size = np.stack([0.1 * x, 0.055 * y, 0.075 * z], 1)
    size[:, 1] *= 1 - 0.45 * x + 0.1 * x * x
    size[:, 2] *= 1 - 0.3 * x
    size[:, 1] += 0.012 * x * x - 0.02 * np.exp(-8 * ((x - 0.25) ** 2 + (y + 0.9) ** 2))
    size[:, 2] += 0.018 * np.exp(-14 * (x - 0.3) ** 2) * np.maximum(-z, 0) + 0.004 * np.sin(5 * x) * z
    return size


directions, triangles = sphere(int(sys.argv[2]) if len(sys.argv) > 2 else 4)
with open(sys.argv[1], "w") as f:
    f.write("".join("v %.9g %.9g %.9g\n" % tuple(p) for p in liver(directions)))
    f.write("".join("f %d %d %d\n" % tuple(t + 1) for t in triangles))
