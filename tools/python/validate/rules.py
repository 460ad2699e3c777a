# SPDX-License-Identifier: Apache-2.0
"""The rules of the tables (formats/container.md): each gives whether an array, a number or a text keeps it."""
import re

import numpy as np

from tables import Names, Unknown, evaluate

HASH = re.compile(r"[0-9a-f]{32}")


def wide(x):
    return x.astype("i8") if x.dtype.kind in "iu" else x


def rotation(x):
    turn = x[..., :3]
    products = np.einsum("...ik,...jk->...ij", turn, turn)
    return (np.abs(products - np.eye(3)) <= 1e-6).all() and (np.linalg.det(turn) > 0).all()


def unit(x):
    length = np.linalg.norm(x, axis=-1)
    return (length == 0) | (np.abs(length - 1) <= 1e-6)


def offsets(x, values):
    return x[0] == 0 and (np.diff(x) >= 0).all() and x[-1] == len(values)


def lines(x):
    parts = x.tobytes().split(b"\n")
    return not parts.pop() and all(part and min(part) >= 32 for part in parts)


def at_most_lines(x, names):
    return x < len(names.tobytes().split(b"\n")) - 1


def tree(x):
    if not ((x >= -1) & (x < len(x))).all():
        return False
    ahead = np.concatenate([x, [-1]])  # -1 leads to the last, which leads to itself
    for _ in range(max(1, len(x).bit_length())):
        ahead = ahead[ahead]
    return (ahead == -1).all()


def corners(triangles, n):
    if len(triangles) and not (triangles.min() >= 0 and triangles.max() < n):
        raise Unknown("triangles")
    return triangles.astype("i8")


def faces(x, triangles, starts, n):
    pairs = np.unique(np.stack([corners(triangles, n).ravel(), np.repeat(np.arange(len(triangles)), 3)], 1), axis=0)
    wanted = np.concatenate([[0], np.cumsum(np.bincount(pairs[:, 0], minlength=n))])
    return np.array_equal(starts, wanted) and np.array_equal(x, pairs[:, 1])


def border(x, triangles):
    t = corners(triangles, len(x))
    edges, counts = np.unique(np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1), axis=0, return_counts=True)
    wanted = np.zeros(len(x), "u1")
    wanted[edges[counts == 1]] = 1
    return x == wanted


def gradient(x, degree):
    """Coefficients of the force that would be equal if it were the gradient of an energy."""
    r = len(x)
    tensor = np.zeros((r,) * (degree + 1))
    monomials = [()]
    for _ in range(degree):
        monomials = [m + (i,) for m in monomials for i in range(m[-1] if m else 0, r)]
    for column, m in enumerate(monomials):
        orders = {m} if degree == 1 else {m, m[::-1]} if degree == 2 else {(m[a], m[b], m[3 - a - b]) for a in range(3) for b in range(3) if a != b}
        for order in orders:
            tensor[(slice(None), *order)] = x[:, column] / len(orders)
    return not x.size or np.abs(tensor - tensor.swapaxes(0, 1)).max() <= 1e-9 * np.abs(x).max()


def compliance(names):
    """Is the compliance of an orthotropic material positive definite?"""
    young, shear = [names[f"young_{i}"] for i in (1, 2, 3)], [names[f"shear_{x}"] for x in (12, 13, 23)]
    if min(young + shear) <= 0:
        return False
    scaled = np.eye(3)  # of the compliance, by the roots of its diagonal
    with np.errstate(all="ignore"):
        for i, j in ((0, 1), (0, 2), (1, 2)):
            scaled[i, j] = scaled[j, i] = -names[f"poisson_{i + 1}{j + 1}"] * np.sqrt(young[j] / young[i])
        return np.isfinite(scaled).all() and np.linalg.eigvalsh(scaled).min() > 0


def row_sums(x, starts):
    if not offsets(starts, x) or not (np.diff(starts) > 0).all():
        raise Unknown("offsets")
    return np.abs(np.add.reduceat(x, starts[:-1]) - 1) <= 1e-6


def evenly(values):
    return len(np.unique(values)) == len(values)


def keeps(x, rule, names):
    """Does x keep the rule?"""
    word, _, rest = rule.partition(" ")
    simple = {"increasing": lambda: np.diff(wide(x)) >= 0, "strictly increasing": lambda: np.diff(wide(x)) > 0, "rotation": lambda: rotation(x),
              "unit or 0": lambda: unit(x), "permutation": lambda: np.sort(x) == np.arange(len(x)), "distinct": lambda: evenly(x),
              "rows distinct": lambda: (x[:, 0] != x[:, 1]) & (x[:, 1] != x[:, 2]) & (x[:, 2] != x[:, 0]), "hash": lambda: HASH.fullmatch(x),
              "not empty": lambda: len(x) > 0, "lines": lambda: lines(x), "tree": lambda: tree(x), "compliance": lambda: compliance(names),
              "whole": lambda: x == np.floor(x)}
    if rule in simple:
        return np.all(bool(simple[rule]()) if isinstance(x, str) else simple[rule]())
    if word == "one":
        options = rest.removeprefix("of ").split(", ")
        return x in options if isinstance(x, str) else np.isin(x, [float(n) for n in options]).all()
    if word == "=" and isinstance(x, str):
        return x == rest
    if word == "index":
        return np.all((x >= 0) & (x < evaluate(rest[2:], names)))
    if rule.startswith("lines of "):
        return lines(x) and x.tobytes().count(b"\n") == evaluate(rest[3:], names)
    if word == "roles":
        role = names.at("../images/role")
        return all((role[x[:, k][(x[:, k] >= 0) & (x[:, k] < len(role))]] == k).all() for k in (0, 1))
    if word == "offsets":
        return offsets(x, names[rest[3:]])
    if word == "line":
        return np.all(at_most_lines(x, names[rest[3:]]))
    if word == "about":
        wanted = evaluate(rest, names)
        return np.all(np.abs(x - wanted) <= 1e-9 * np.abs(wanted))
    if word == "faces":
        return faces(x, names.at(rest[3:]), names["face_offsets"], names["V"])
    if word == "border":
        return np.all(border(x, names.at(rest[3:])))
    if word == "gradient":
        return gradient(x, {"r": 1, "r (r + 1) / 2": 2}.get(names.row.shape.split(", ")[1], 3))
    if word == "padding":
        n = names["V"] % 32
        return not n or not len(x) or np.all(x[-1, ..., n:] == int(rest))
    if word == "sum":
        return np.all(row_sums(x, names[rest.removeprefix("1 by ")]))
    text = f"x {rule}" if word in ("<", "<=", ">", ">=", "=") else rule
    with np.errstate(all="ignore"):
        return np.all(evaluate(text, names))


SKIP = re.compile(r"(optional|NaN|if .*|default .*|required .*|count .*|see .*)$")


def check_rules(table):
    """Findings of all rules; `table.skipped` has those whose operands were themselves found broken."""
    table.skipped = []
    for row, path, env, x in table.found:
        for rule in row.rules:
            if SKIP.match(rule):
                continue
            text, _, condition = rule.partition(" if ")
            try:
                parent = table.parent(path)
                names = Names(table, parent, env, x=x, i=np.arange(len(x)) if np.ndim(x) else 0)
                names.row = row
                if condition and not table.holds(condition, path, env):
                    continue
                table.file.must(keeps(x, text, names), path, f"is not: {text}")
            except Unknown:
                table.skipped.append((path, rule))
