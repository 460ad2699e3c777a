# SPDX-License-Identifier: Apache-2.0
"""Linear elastic solids in numpy and scipy, all degrees of freedom, from the definitions: what verdicts of modalsim are held to. Knows nothing of
modalsim or of bases: stiffness and mass are integrated here, and the motion is found here, exactly for loads that are lines between samples."""
import itertools

import numpy as np
import scipy.linalg

from stvk_solid import REFERENCE, shape_slopes, shape_values


def mass_rule(kind):
    """Points and weights that integrate products of two shape functions exactly."""
    x, w = np.polynomial.legendre.leggauss(4)
    if kind > 1:
        return np.array(list(itertools.product(x, x, x))), np.array([np.prod(p) for p in itertools.product(w, w, w)])
    x, w = (x + 1) / 2, w / 2  # a cube that is folded into a tetrahedron
    points, weights = [], []
    for (a, wa), (b, wb), (c, wc) in itertools.product(zip(x, w), repeat=3):
        points.append((a, b * (1 - a), c * (1 - a) * (1 - b)))
        weights.append(wa * wb * wc * (1 - a) ** 2 * (1 - b))
    return np.array(points), np.array(weights)


class Solid:
    """nodes [n, 3], elements [e, nodes] of one kind (stvk_solid.REFERENCE); K and M over all nodes, unknown 3 i + p."""

    def __init__(self, nodes, elements, kind, young, poisson, density):
        self.nodes, n = nodes, len(nodes)
        self.stiffness, self.mass = np.zeros((3 * n, 3 * n)), np.zeros((3 * n, 3 * n))
        lam, mu = young * poisson / (1 + poisson) / (1 - 2 * poisson), young / 2 / (1 + poisson)
        slopes, weights = shape_slopes(kind), REFERENCE[kind][3]
        points, mass_weights = mass_rule(kind)
        values = shape_values(kind, points)
        other = shape_slopes(kind, points)
        for corners in elements:
            x = nodes[corners]
            jacobian = np.einsum("ap,qak->qpk", x, slopes)
            g = np.einsum("qak,qkp->qap", slopes, np.linalg.inv(jacobian))
            v = np.abs(np.linalg.det(jacobian)) * weights
            k = lam * np.einsum("q,qap,qbr->apbr", v, g, g) + mu * np.einsum("q,qar,qbp->apbr", v, g, g)
            k += mu * np.einsum("q,qak,qbk,pr->apbr", v, g, g, np.eye(3))
            v = np.abs(np.linalg.det(np.einsum("ap,qak->qpk", x, other))) * mass_weights
            m = density * np.einsum("q,qa,qb,pr->apbr", v, values, values, np.eye(3))
            at = (3 * np.asarray(corners)[:, None] + np.arange(3)).ravel()
            self.stiffness[np.ix_(at, at)] += k.reshape(len(at), len(at))
            self.mass[np.ix_(at, at)] += m.reshape(len(at), len(at))

    def rigid_rows(self, x):
        """[3 points, 6]: how points x go with a translation and a turn about the origin."""
        rows = np.zeros((len(x), 3, 6))
        rows[:, :, :3] = np.eye(3)
        for axis in range(3):
            rows[:, :, 3 + axis] = np.cross(np.eye(3)[axis], x)
        return rows.reshape(-1, 6)


class System:
    """M u'' + C u' + K u = f in coordinates z of which all nodes' displacements are `to_nodes` z; C damps each natural motion by a ratio or by
    alpha M."""

    def __init__(self, stiffness, mass, to_nodes):
        self.to_nodes, self.k, self.m = to_nodes, to_nodes.T @ stiffness @ to_nodes, to_nodes.T @ mass @ to_nodes
        self.squares, motions = scipy.linalg.eigh(self.k, self.m)
        self.squares[self.squares < 1e-12 * self.squares.max()] = 0
        self.shapes = to_nodes @ motions  # [nodes, motions]
        self.omega = np.sqrt(self.squares)

    @staticmethod
    def held(solid, fixed):
        """Nodes in the mask `fixed` do not move."""
        free = np.repeat(~fixed, 3)
        return System(solid.stiffness, solid.mass, np.eye(len(free))[:, free])

    @staticmethod
    def chain(solid, fixed, end, offset):
        """The same solid twice, the second with its fixed nodes on the rigid motion that fits the first one's nodes in the mask `end` best, at
        x + offset."""
        n, free = 3 * len(solid.nodes), np.repeat(~fixed, 3)
        first = np.eye(n)[:, free]
        rows = solid.rigid_rows(solid.nodes[end])
        fit = np.linalg.lstsq(rows, np.eye(len(rows)), rcond=None)[0]
        carried = solid.rigid_rows(solid.nodes + offset) @ fit @ first[np.repeat(end, 3)]
        to_nodes = np.block([[first, np.zeros_like(first)], [carried, first]])
        both = lambda a: np.block([[a, np.zeros_like(a)], [np.zeros_like(a), a]])
        return System(both(solid.stiffness), both(solid.mass), to_nodes)

    def run(self, times, loads, signals, kicks=(), ratio=0.0, alpha=0.0, beta=0.0, static=False):
        """Displacements [times, nodes 3] at equally spaced times from rest. loads [k, nodes 3] times signals [k, times]; kicks (time's number, load):
        impulses. Exact for signals that are lines between the times."""
        h = times[1] - times[0]
        push = self.shapes.T @ np.asarray(loads).reshape(-1, self.shapes.shape[0]).T if len(loads) else np.zeros((len(self.omega), 0))
        force = push @ np.asarray(signals).reshape(push.shape[1], -1) if len(loads) else np.zeros((len(self.omega), len(times)))
        steps = np.stack([self.one_step(s, w, h, 2 * ratio * w + alpha + beta * s) for s, w in zip(self.squares, self.omega)])
        q, v = np.zeros(len(self.omega)), np.zeros(len(self.omega))
        if static:
            q = np.where(self.squares > 0, force[:, 0] / np.maximum(self.squares, 1e-300), 0)
        at = {}
        for number, load in kicks:
            at[number] = at.get(number, 0) + self.shapes.T @ load
        made = np.empty((len(times), len(q)))
        for i in range(len(times)):
            made[i] = q
            v = v + at.get(i, 0)
            if i + 1 < len(times):
                now = np.stack([q, v, force[:, i], force[:, i + 1]])
                q, v = np.einsum("kj,jk->k", steps[:, 0], now), np.einsum("kj,jk->k", steps[:, 1], now)
        return made @ self.shapes.T

    @staticmethod
    def one_step(square, omega, h, damping):
        """[2, 4]: q and v after h, of q, v and the load at both ends: the exponential of the oscillator with its load as two more unknowns."""
        a, unit = np.zeros((4, 4)), omega or 1 / h  # of q and v / unit
        a[0, 1], a[1, 0], a[1, 1], a[1, 2], a[2, 3] = unit, -square / unit, -damping, 1 / unit, 1 / h
        e = scipy.linalg.expm(a * h)
        e[0, 1] /= unit
        e[1] *= unit
        e[1, 1] /= unit
        return np.column_stack([e[:2, 0], e[:2, 1], e[:2, 2] - e[:2, 3], e[:2, 3]])

    def steady(self, frequencies, load, ratio):
        """Complex displacements [frequencies, nodes 3] under load cos(2 pi f t)."""
        push = self.shapes.T @ load
        w = 2 * np.pi * np.asarray(frequencies)[:, None]
        return (push / (self.squares - w**2 + 2j * ratio * self.omega * w)) @ self.shapes.T

    def central(self, times, load, parts):
        """The same as run under a constant load, by central differences with all degrees of freedom and no natural motions: `parts` steps between two
        times. What run is held to."""
        h = (times[1] - times[0]) / parts
        factor, f = scipy.linalg.cho_factor(self.m), self.to_nodes.T @ load
        after = scipy.linalg.cho_solve(factor, np.column_stack([self.k, f]))
        u, made = np.zeros(len(f)), []
        before = after[:, -1] * h * h / 2
        for _ in range(len(times)):
            made.append(self.to_nodes @ u)
            for _ in range(parts):
                u, before = 2 * u - before + h * h * (after[:, -1] - after[:, :-1] @ u), u
        return np.array(made)
