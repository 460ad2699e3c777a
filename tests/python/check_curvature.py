# SPDX-License-Identifier: Apache-2.0
"""The operations on curvature against this code, which follows the definitions in kernels/curvature_*/ by other ways: all
triangles at once, rotations as matrices in space, general solvers. The reference to 1e-9, float32 to 5e-6 (derivatives
5e-5) of the 99 % quantile of the largest absolute curvature.
usage: check_curvature.py CURVATURE_VALUES [--large]"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import surfaces

program = pathlib.Path(sys.argv[1]).resolve()
os.chdir(tempfile.mkdtemp(prefix="curvature-"))


def rotations(a, b):
    """The least rotation that takes each a to b: [.., 3, 3]."""
    w = np.cross(a, b)
    cross = np.zeros(w.shape[:-1] + (3, 3))
    cross[..., 0, 1], cross[..., 0, 2], cross[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    cross -= np.swapaxes(cross, -1, -2)
    return np.eye(3) + cross + cross @ cross / (1 + (a * b).sum(-1))[..., None, None]


def unit(a):
    return a / np.linalg.norm(a, axis=-1, keepdims=True)


def corner_areas(x, t):
    """Voronoi areas by cotangents, Rusinkiewicz's rule for obtuse triangles: [m, 3]."""
    e = [x[t[:, (k + 2) % 3]] - x[t[:, (k + 1) % 3]] for k in range(3)]  # opposite to corner k
    area = np.linalg.norm(np.cross(e[0], e[1]), axis=1) / 2
    l2 = np.stack([(v * v).sum(1) for v in e], 1)
    cot = np.stack([-(e[(k + 1) % 3] * e[(k + 2) % 3]).sum(1) / (2 * area) for k in range(3)], 1)
    out = np.stack([(l2[:, (k + 1) % 3] * cot[:, (k + 1) % 3] + l2[:, (k + 2) % 3] * cot[:, (k + 2) % 3]) / 8
                    for k in range(3)], 1)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        o = cot[:, i] <= 0
        out[o, j] = -area[o] * l2[o, k] / (4 * (e[i] * e[k]).sum(1)[o])
        out[o, k] = -area[o] * l2[o, j] / (4 * (e[i] * e[j]).sum(1)[o])
        out[o, i] = area[o] - out[o, j] - out[o, k]
    return out, area


def max_normals(x, t):
    n = np.zeros_like(x)
    for k in range(3):
        a, b = x[t[:, (k + 1) % 3]] - x[t[:, k]], x[t[:, (k + 2) % 3]] - x[t[:, k]]
        np.add.at(n, t[:, k], np.cross(a, b) / ((a * a).sum(1) * (b * b).sum(1))[:, None])
    return unit(n)


def solve_tensor(edges, changes):
    """Least squares of [[a, b], [b, c]] e = d; edges, changes [.., k, 2]; 2 x 2 matrices."""
    u, v = edges[..., 0], edges[..., 1]
    rows = np.stack([np.stack([u, v, 0 * u], -1), np.stack([0 * u, u, v], -1)], -2)
    rows = rows.reshape(rows.shape[:-3] + (-1, 3))
    right = changes.reshape(changes.shape[:-2] + (-1, 1))
    # by an orthogonal factorisation of each system
    q, r = np.linalg.qr(rows)
    s = np.linalg.solve(r, np.swapaxes(q, -1, -2) @ right)[..., 0]
    return np.stack([np.stack([s[..., 0], s[..., 1]], -1), np.stack([s[..., 1], s[..., 2]], -1)], -2)


def frame_of(n):
    """Any basis of the tangent planes: [.., 2, 3]."""
    p = unit(np.cross(n, np.where(np.abs(n[..., :1]) < 0.6, [1.0, 0, 0], [0, 1.0, 0])))
    return np.stack([p, np.cross(n, p)], -2)


def face_data(x, n, t):
    f = unit(np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]]))
    basis = frame_of(f)
    edges = np.stack([x[t[:, (k + 1) % 3]] - x[t[:, k]] for k in range(3)], 1)
    changes = np.stack([n[t[:, (k + 1) % 3]] - n[t[:, k]] for k in range(3)], 1)
    flat = lambda a: np.einsum("fij,fkj->fki", basis, a)
    return f, basis, flat(edges), flat(changes)


def in_space(basis, s):
    return np.einsum("fia,fij,fjb->fab", basis, s, basis)


def by_triangles(x, n, t):
    f, basis, edges, changes = face_data(x, n, t)
    s = in_space(basis, solve_tensor(edges, changes))
    shares, _ = corner_areas(x, t)
    total, weight = np.zeros((len(x), 3, 3)), np.zeros(len(x))
    for k in range(3):
        r = rotations(f, n[t[:, k]])
        np.add.at(total, t[:, k], shares[:, k, None, None] * (r @ s @ np.swapaxes(r, 1, 2)))
        np.add.at(weight, t[:, k], shares[:, k])
    return total / weight[:, None, None], weight


def by_rings(x, n, t):
    basis = frame_of(n)
    normal, right = np.zeros((len(x), 3, 3)), np.zeros((len(x), 3))
    for k in range(3):
        at = t[:, k]
        for l in range(3):
            a, b = t[:, l], t[:, (l + 1) % 3]
            (u, v), (du, dv) = ((np.einsum("fij,fj->if", basis[at], y[b] - y[a])) for y in (x, n))
            zero = 0 * u
            for row, d in ((np.stack([u, v, zero], 1), du), (np.stack([zero, u, v], 1), dv)):
                np.add.at(normal, at, row[:, :, None] * row[:, None, :])
                np.add.at(right, at, row * d[:, None])
    s = np.linalg.solve(normal, right[..., None])[..., 0]
    return in_space(basis, np.stack([s[:, [0, 1]], s[:, [1, 2]]], 1))


def derivatives(x, n, t, tensors):
    """World tensors of rank 3 at the vertices, of 3 x 3 tensors in space."""
    f, basis, edges, _ = face_data(x, n, t)
    flat = []
    for k in range(3):
        r = rotations(n[t[:, k]], f)
        s = r @ tensors[t[:, k]] @ np.swapaxes(r, 1, 2)
        flat.append(np.einsum("fia,fab,fjb->fij", basis, s, basis))
    rows, right = [], []
    for k in range(3):
        u, v = edges[:, k, 0], edges[:, k, 1]
        d = flat[(k + 1) % 3] - flat[k]
        zero = 0 * u
        for weight, row, value in ((1, [u, v, zero, zero], d[:, 0, 0]), (2**0.5, [zero, u, v, zero], d[:, 0, 1]),
                                   (1, [zero, zero, u, v], d[:, 1, 1])):
            rows.append(weight * np.stack(row, -1))
            right.append(weight * value)
    q, r = np.linalg.qr(np.stack(rows, 1))
    c = np.linalg.solve(r, np.swapaxes(q, 1, 2) @ np.stack(right, 1)[..., None])[..., 0]
    index = np.add.outer(np.add.outer([0, 1], [0, 1]), [0, 1])
    space = np.einsum("fijk,fia,fjb,fkc->fabc", c[:, index], basis, basis, basis)
    shares, _ = corner_areas(x, t)
    total, weight = np.zeros((len(x), 3, 3, 3)), np.zeros(len(x))
    for k in range(3):
        r = rotations(f, n[t[:, k]])
        np.add.at(total, t[:, k], shares[:, k, None, None, None] * np.einsum("fai,fbj,fck,fijk->fabc", r, r, r, space))
        np.add.at(weight, t[:, k], shares[:, k])
    return total / weight[:, None, None, None]


def neighbour_sets(t, v, rings):
    near = {v}
    for _ in range(rings):
        near |= set(t[np.isin(t, list(near)).any(1)].ravel())
    return np.array(sorted(near))


def smoothed(x, n, t, tensors, areas, v, radius):
    near = neighbour_sets(t, v, 2)
    d2 = ((x[near] - x[v])**2).sum(1)
    w = np.where((d2 < radius**2) & ((n[near] @ n[v]) > 0), areas[near] * (1 - d2 / radius**2)**2, 0)
    r = rotations(n[near], np.broadcast_to(n[v], (len(near), 3)))
    return np.einsum("j,jab->ab", w, r @ tensors[near] @ np.swapaxes(r, 1, 2)) / w.sum()


def fitted(x, n, t, v, degree, rings):
    near = neighbour_sets(t, v, rings)
    basis = frame_of(n[v])
    p, q = (x[near] - x[v]) @ basis.T[:, 0], (x[near] - x[v]) @ basis.T[:, 1]
    z = (x[near] - x[v]) @ n[v]
    size = np.sqrt((p * p + q * q).max())
    powers = [(a, d - a) for d in range(degree + 1) for a in range(d, -1, -1)]
    columns = np.stack([(p / size)**a * (q / size)**b for a, b in powers], 1)
    d2 = ((x[near] - x[v])**2).sum(1)
    root = 1 / (d2 / d2[near != v].mean() + 0.2)  # of the weight
    c = np.linalg.lstsq(columns * root[:, None], z * root, rcond=None)[0]
    c = {power: value / size**sum(power) for power, value in zip(powers, c)}
    # first and second fundamental form; principal curvatures from the generalised eigenproblem, in space
    dx, dy = np.array([1, 0, c[1, 0]]), np.array([0, 1, c[0, 1]])
    normal = unit(np.cross(dx, dy))
    first = np.array([[dx @ dx, dx @ dy], [dx @ dy, dy @ dy]])
    second = normal[2] * np.array([[2 * c[2, 0], c[1, 1]], [c[1, 1], 2 * c[0, 2]]])
    inverse = np.linalg.inv(first)
    j = np.stack([dx, dy], 1)  # tangents, in (p, q, n)
    s = -j @ inverse @ second @ inverse @ j.T  # on the graph's tangent plane
    r = rotations(normal, np.array([0, 0, 1.0]))
    axes = np.concatenate([basis, n[v][None]])
    return axes.T @ (r @ s @ r.T) @ axes


# ---- what the program says, in space ----

def documented_frames(n):
    x, y, z = n.T
    s = np.copysign(1, z)
    t = -1 / (s + z)
    return np.stack([np.c_[1 + s * x * x * t, s * x * y * t, -s * x], np.c_[x * y * t, s + y * y * t, -y]], 1)


def tensors_in_space(n, abc):
    a, b, c = abc.T
    return in_space(documented_frames(n), np.stack([np.c_[a, b], np.c_[b, c]], 1))


def thirds_in_space(n, abc, d):
    """Components in (direction_max, direction_min)."""
    a, b, c = abc.T
    half, radius = (a - c) / 2, np.hypot((a - c) / 2, b)
    f = documented_frames(n)
    # the sign of direction_max, which the components go with, is the program's
    direction = unit(np.where((half >= 0)[:, None], np.c_[radius + half, b], np.c_[b, radius - half]))
    major = (direction[:, :, None] * f).sum(1)
    basis = np.stack([major, np.cross(n, major)], 1)
    index = np.add.outer(np.add.outer([0, 1], [0, 1]), [0, 1])
    return np.einsum("fijk,fia,fjb,fkc->fabc", d[:, index], basis, basis, basis)


WIDTHS = (("normals", 3), ("tensors", 3), ("areas", 1), ("ring", 3), ("derivatives", 4), ("smoothed", 3), ("fit_2", 3),
          ("degree_2", 1), ("fit_4", 3), ("degree_4", 1))


def run(x, t, radius):
    with open("in", "wb") as f:
        np.array([len(x), len(t)], "<i8").tofile(f)
        x.astype("<f4").tofile(f)
        t.astype("<i4").tofile(f)
    subprocess.run([program, "in", "out", repr(radius)], check=True)
    data, sets, at = np.fromfile("out"), [], 0
    for _ in range(2):
        values = {}
        for name, width in WIDTHS:
            values[name] = data[at:at + width * len(x)].reshape(len(x), width)
            at += width * len(x)
        sets.append(values)
    assert at == len(data)
    return sets


def compare(name, what, got, want, size, limit):
    error = np.abs(got - want).max() / size
    print(f"{name:10} {what:22} {error:.2e} of {limit:g}")
    if not error <= limit:
        failures.append(f"{name}: {what} off by {error:.2e}")


failures = []
rng = np.random.default_rng(15)
sizes = (20000, 5000, 78, 101) if "--large" in sys.argv else (5000, 3000, 48, 61)
meshes = {"sphere": surfaces.sphere(sizes[0], rng), "ellipsoid": surfaces.ellipsoid(sizes[1], rng),
          "torus": surfaces.torus(sizes[2], rng), "saddle": surfaces.saddle(sizes[3], rng)}
for name, (x, t, _) in meshes.items():
    x = x.astype(np.float32).astype(float)
    radius = 2 * np.linalg.norm(x[t[:, 0]] - x[t[:, 1]], axis=1).mean()
    exact, single = run(x, t, radius)
    n = max_normals(x, t)
    tensors, areas = by_triangles(x, n, t)
    rings = by_rings(x, n, t)
    third = derivatives(x, n, t, tensors)
    size = np.quantile(np.abs(np.linalg.eigvalsh(tensors)).max(1), 0.99)
    third_size = max(np.quantile(np.sqrt((third**2).sum((1, 2, 3))), 0.99), size**2)  # it is zero on a sphere
    some = rng.choice(len(x), 60, replace=False)
    some_smooth = np.stack([smoothed(x, n, t, tensors, areas, v, np.float32(radius).astype(float)) for v in some])
    some_fits = [np.stack([fitted(x, n, t, v, degree, rings_) for v in some]) for degree, rings_ in ((2, 2), (4, 3))]
    for kind, got, limit, limit_third in (("exact", exact, 1e-9, 1e-9), ("float32", single, 5e-6, 5e-5)):
        space = lambda which: tensors_in_space(got["normals"], got[which])
        compare(name, kind + " normals", got["normals"], n, 1, 1e-12 if kind == "exact" else 4e-7)
        compare(name, kind + " areas", got["areas"][:, 0], areas, areas.max(), limit)
        compare(name, kind + " tensor", space("tensors"), tensors, size, limit)
        compare(name, kind + " ring", space("ring"), rings, size, limit if kind == "exact" else 1e-5)
        compare(name, kind + " derivative", thirds_in_space(got["normals"], got["tensors"], got["derivatives"]), third,
                third_size, limit_third)
        compare(name, kind + " smooth", space("smoothed")[some], some_smooth, size, limit)
        for degree, want in zip((2, 4), some_fits):
            compare(name, f"{kind} fit {degree}", space(f"fit_{degree}")[some], want, size, limit)
            if not (got[f"degree_{degree}"][some] == degree).all():
                failures.append(f"{name}: a fit of degree {degree} reached less")
# permuting vertices permutes the results
x, t, _ = meshes["torus"]
x = x.astype(np.float32).astype(float)
order = rng.permutation(len(x))
place = np.argsort(order)
first, second = run(x, t, radius)[0], run(x[order], place[t].astype(np.int32), radius)[0]
compare("permuted", "tensor", tensors_in_space(second["normals"], second["tensors"]),
        tensors_in_space(first["normals"], first["tensors"])[order], size, 1e-12)
print("\n".join(failures))
sys.exit(bool(failures))
