# SPDX-License-Identifier: Apache-2.0
"""Elements of the solid: shape functions, quadrature, and what of them VTK calls by another name (formats/basis.md, docs/elements.md)."""
from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .basis import Floats

TET4, TET10, HEX8, HEX20, WEDGE6, PYRAMID5 = range(6)
N_NODES = np.array([4, 10, 8, 20, 6, 5])
VTK_TYPES = np.array([10, 24, 12, 25, 13, 14], np.uint8)
WEDGE_OF_VTK = np.array([3, 4, 5, 0, 1, 2])  # VTK turns the wedge over

_TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
_BOX = np.array([[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], float)
_TETRAHEDRON_EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
_BOX_EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)]


def _tetrahedron(quadratic: bool, p: Floats) -> Floats:
    barycentric = np.array([1 - p.sum(), *p])
    slopes = np.vstack([[-1, -1, -1], np.eye(3)])
    if not quadratic:
        return slopes
    edges = [4 * (barycentric[a] * slopes[b] + barycentric[b] * slopes[a]) for a, b in _TETRAHEDRON_EDGES]
    return np.vstack([(4 * barycentric - 1)[:, None] * slopes, edges])


def _box(quadratic: bool, p: Floats) -> Floats:
    f = 1 + _BOX * p
    others = np.stack([f[:, 1] * f[:, 2], f[:, 2] * f[:, 0], f[:, 0] * f[:, 1]], axis=1)
    slopes: Floats = _BOX * others / 8
    if not quadratic:
        return slopes
    corners = slopes * ((_BOX * p).sum(axis=1) - 2)[:, None] + (f.prod(axis=1) / 8)[:, None] * _BOX
    edges = []
    for a, b in _BOX_EDGES:
        along = _BOX[a] != _BOX[b]
        g, slope = np.where(along, 1 - p * p, 1 + _BOX[a] * p), np.where(along, -2 * p, _BOX[a])
        edges.append([slope[k] * g[(k + 1) % 3] * g[(k + 2) % 3] / 4 for k in range(3)])
    return np.vstack([corners, edges])


def _wedge(p: Floats) -> Floats:
    area, slopes = np.array([1 - p[0] - p[1], p[0], p[1]]), np.array([[-1, -1], [1, 0], [0, 1]], float)
    rows = [[*(slopes[a] * (1 + sign * p[2]) / 2), area[a] * sign / 2] for sign in (-1, 1) for a in range(3)]
    return np.array(rows)


def _pyramid(p: Floats) -> Floats:
    a, b = p[0] / (1 - p[2]), p[1] / (1 - p[2])
    rows = [[s * (1 + t * b) / 4, t * (1 + s * a) / 4, (s * a * t * b - 1) / 4] for s, t, _ in _BOX[:4]]
    return np.array([*rows, [0, 0, 1]])


def slopes_at(kind: int, point: Floats) -> Floats:
    """Derivatives [nodes, 3] of the shape functions by the reference coordinates, at a reference point."""
    if kind in (TET4, TET10):
        return _tetrahedron(kind == TET10, point)
    if kind in (HEX8, HEX20):
        return _box(kind == HEX20, point)
    return _wedge(point) if kind == WEDGE6 else _pyramid(point)


@dataclass(frozen=True)
class Rule:
    """Where the stiffness of a kind of element is integrated."""

    points: Floats   # [P, 3]
    weights: Floats  # [P]
    slopes: Floats   # [P, nodes, 3]


def rule(kind: int) -> Rule:
    two, three = np.array([-1, 1]) / np.sqrt(3), np.array([-np.sqrt(0.6), 0, np.sqrt(0.6)])
    fives = np.array([5, 8, 5]) / 9
    if kind == TET4:
        points, weights = [(0.25, 0.25, 0.25)], [1 / 6]
    elif kind == TET10:
        a = (5 - np.sqrt(5)) / 20
        points, weights = [(a, a, a), (1 - 3 * a, a, a), (a, 1 - 3 * a, a), (a, a, 1 - 3 * a)], [1 / 24] * 4
    elif kind == HEX8:
        points, weights = list(itertools.product(two, two, two)), [1.0] * 8
    elif kind == HEX20:
        points = list(itertools.product(three, three, three))
        weights = [float(np.prod(w)) for w in itertools.product(fives, fives, fives)]
    elif kind == WEDGE6:
        corners = [(1 / 6, 1 / 6), (2 / 3, 1 / 6), (1 / 6, 2 / 3)]
        points, weights = [(r, s, t) for t in two for r, s in corners], [1 / 6] * 6
    else:
        points, weights = [(0.75 * r, 0.75 * s, 0.25) for r in two for s in two], [1 / 3] * 4
    at = np.array(points)
    return Rule(at, np.array(weights), np.stack([slopes_at(kind, p) for p in at]))


def jacobians(slopes: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Of slopes [P, n, 3] and nodes [E, n, 3]: J^-1 [E, P, 3, 3], d r_p / d x_k at [k, p], and det J [E, P]."""
    j = np.einsum("qap,eak->eqpk", slopes, x)
    determinant = np.linalg.det(j)
    with np.errstate(all="ignore"):
        cofactors = np.stack([np.cross(j[..., (p + 1) % 3, :], j[..., (p + 2) % 3, :]) for p in range(3)], axis=-1)
        return cofactors / determinant[..., None, None], determinant


def elasticity(attributes: dict[str, object], axes: "NDArray[np.float64] | None") -> Floats:
    """The stiffness D [3, 3, 3, 3] of a material of basis.md, by its attributes and the axes of an orthotropic one."""
    def number(name: str) -> float:
        return float(attributes[name])  # type: ignore[arg-type]

    delta = np.eye(3)
    if axes is None:
        young, poisson = number("young"), number("poisson")
        lam, mu = young * poisson / (1 + poisson) / (1 - 2 * poisson), young / 2 / (1 + poisson)
        tensor: Floats = lam * np.einsum("pq,rs->pqrs", delta, delta) + mu * (
            np.einsum("pr,qs->pqrs", delta, delta) + np.einsum("ps,qr->pqrs", delta, delta))
        return tensor
    compliance = np.diag([1 / number(f"young_{i}") for i in (1, 2, 3)])
    for i, j in ((1, 2), (1, 3), (2, 3)):
        compliance[i - 1, j - 1] = compliance[j - 1, i - 1] = -number(f"poisson_{i}{j}") / number(f"young_{i}")
    local = np.zeros((3, 3, 3, 3))
    for i, row in enumerate(np.linalg.inv(compliance)):
        for j, value in enumerate(row):
            local[i, i, j, j] = value
    for i, j in ((0, 1), (0, 2), (1, 2)):
        local[i, j, i, j] = local[i, j, j, i] = local[j, i, i, j] = local[j, i, j, i] = number(f"shear_{i + 1}{j + 1}")
    turned: Floats = np.einsum("ip,jq,kr,ls,ijkl->pqrs", axes, axes, axes, axes, local)
    return turned
