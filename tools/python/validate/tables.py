# SPDX-License-Identifier: Apache-2.0
"""The tables of formats/*.md and what a file has of their rows: existence, type, shape; then the rules (rules.py)."""
import collections
import fractions
import math
import os
import posixpath
import re

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../formats")
HEAD = "| path | shape | type | unit | rule | since |"
NUMBERED = re.compile(r"(?<=[/_])(N{4,}|LL)(?=/|@|$)")
NUMBER = re.compile(r"(?<=/)(N{4,}|LL|\d{2}|\d{4,})(?=[/@]|$)|(?<=/level_)(LL|\d\d)")
SIZES = re.compile(r", (?![^(]*\))")
NODES = np.array([4, 10, 8, 20, 6, 5])  # of an element, by its type
ATOMS = re.compile(r"(?<=[\w)\]]) (?=[\w(])(?!(?:and|or|in|if|else)\b)(?<!\band)(?<!\bor)(?<!\bin)")  # 2 r is 2 * r
FUNCTIONS = {"ceil": math.ceil, "log2": lambda n: int(n).bit_length() - 1, "pi": np.pi, "nodes": lambda types: int(NODES[types].sum()),
             "starts": lambda types: np.concatenate([[0], np.cumsum(NODES[types])]), "size_of": lambda types: NODES[types], "len": len,
             "sqrt": np.sqrt, "abs": np.abs, "sum": np.sum, "diff": lambda x: np.diff(x.astype("i8")), "max": max, "floor": np.floor,
             "largest": np.max, "isin": np.isin, "lines": lambda text: len(text.split("\n")) if text else 0}
Row = collections.namedtuple("Row", "path shape type rules")
Found = collections.namedtuple("Found", "row path env value")


class Unknown(Exception):
    """What a rule needs was itself found broken or is absent."""


def read_page(name):
    """The rows of the table of a page; the group of a row that begins with … is that of the last row that ends with /."""
    rows, group, inside = [], "", False
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        for line in file:
            inside = line.strip() == HEAD or inside and line.startswith("|")
            if not inside or not line.startswith("| `"):
                continue
            paths, shape, kind, _, rule, _ = (cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1]))
            rules = re.findall("`([^`]+)`", re.match(r"(?:`[^`]+`(?:, )?)*", rule)[0])
            for path in re.findall("`([^`]+)`", paths):
                path = group + path[1:] if path[0] == "…" else path
                if path.endswith("/"):
                    group = path = path[:-1]
                others = [rule[3:] for rule in rules if rule.startswith("as ")]
                rows.append(Row(path, shape, kind, tuple(rule for rule in rules if not rule.startswith("as "))))
                for page, _, start in (other.partition("/") for other in others):
                    start = "/" + start.rstrip("/")
                    rows += [row._replace(path=path + row.path[len(start):]) for row in read_page(page) if row.path.startswith(start + "/")]
    return rows


class Names(dict):
    """What an expression may name: functions, sizes, arrays and attributes of the row's group."""

    def __init__(self, table, parent, env, **more):
        super().__init__(FUNCTIONS, **more)
        self.table, self.parent, self.env = table, parent, env

    def __missing__(self, name):
        if name in self.env:
            return self.env[name]
        for path in (f"{self.parent}/{name}", f"{self.parent}/@{name}"):
            if self.table.values.get(path) is not None:
                return self.table.values[path]
        if name not in self.table.words:
            raise SyntaxError(f"{self.parent}: {name} is not in the page")
        raise Unknown(name)

    def at(self, path):
        """The array at a path from the row's group."""
        value = self.table.values.get(posixpath.normpath(f"{self.parent}/{path}"))
        if value is None:
            raise Unknown(path)
        return value


def evaluate(text, names):
    text = re.sub(r"(?<![<>=!])=(?!=)", "==", ATOMS.sub(" * ", text.replace("^", "**")))
    try:
        return eval(text, {"__builtins__": {}}, names)
    except (IndexError, ValueError) as error:  # of arrays that do not fit together, which are findings of their own
        raise Unknown(text) from error


class Table:
    """A file by the table of its page: `found` has all rows of it that are good so far."""

    def __init__(self, file, rows):
        self.file, self.values, self.found = file, {}, []
        self.rows = rows
        self.words = set(re.findall(r"\w+", " ".join(f"{row.shape} {row.path} {' '.join(row.rules)}" for row in self.rows)))
        self.defaults = {NUMBER.sub("#", row.path).replace("/@", "@"): rule[8:] for row in self.rows for rule in row.rules if rule.startswith("default ")}
        self.count = collections.Counter(NUMBER.sub("#", row.path) for row in self.rows)
        self.present = {"", "/"}
        self._walk(self.rows, collections.ChainMap())

    def _walk(self, rows, env):
        at = 0
        while at < len(rows):
            number = NUMBERED.search(rows[at].path)
            if not number:
                self._row(rows[at], env)
                at += 1
                continue
            start, stop = rows[at].path[:number.end()], at
            while stop < len(rows) and (rows[stop].path + "/").startswith((start + "/", start + "@")):
                stop += 1
            for i in range(self._n_of(rows[at], start, env)):
                path = start[:number.start()] + f"{i:0{len(number[0])}}"
                self._walk([row._replace(path=path + row.path[len(start):]) for row in rows[at:stop]],
                           env.new_child({"l": i} if number[0] == "LL" else {"k": i}))
            at = stop

    def _n_of(self, row, start, env):
        parent = posixpath.dirname(start)
        if parent.rstrip("/") not in self.present:
            return 0
        for rule in row.rules:
            if rule.startswith("count "):
                try:
                    n = int(evaluate(rule[6:], Names(self, parent, env)))
                except (Unknown, ValueError):
                    return 0
                if "LL" in start:
                    self.file.must(not self.file.has(NUMBERED.sub(f"{n:02}", start)), parent, "has too many levels")
                return n
        n = self.values.get(f"{parent}/@count")
        for i in range(n or 0):
            if self.file.group(f"{parent}/{i:04}") is None:
                return i
        return n or 0

    def holds(self, condition, path, env):
        """Of `a`, `not a`, `a = v` and `n > 0`, joined by `and`: does it hold? a is an array, a group or an attribute."""
        parent = self.parent(path)
        for part in condition.split(" and "):
            part, wanted = part.removeprefix("not "), not part.startswith("not ")
            name, equal, value = part.partition(" = ")
            if ">" in part:
                holds = bool(evaluate(part, Names(self, parent, env)))
            else:
                owner, _, attribute = name.partition("@")
                at = posixpath.normpath(f"{parent}/{owner}") + ("@" + attribute if "@" in name else "")
                holds = str(self.peek(at)) == value if equal else self.exists(at)
            if holds != wanted:
                return False
        return True

    @staticmethod
    def parent(path):
        return path.rpartition("@")[0].rstrip("/") if "/@" in path else posixpath.dirname(path.partition("@")[0])

    def exists(self, path):
        owner, _, name = path.partition("@")
        if "@" not in path:
            return self.file.has(path)
        return self.file.peek(owner.rstrip("/") or "/", name, exists=True)

    def peek(self, path):
        owner, _, name = path.partition("@")
        value = self.file.peek(owner.rstrip("/") or "/", name)
        return self.defaults.get(NUMBER.sub("#", path)) if value is None else value

    def _row(self, row, env):
        path, rules = row.path, row.rules
        if self.parent(path) not in self.present or "@" in path and "/@" not in path and not self.file.has(path.partition("@")[0]):
            return
        try:
            wrong = next((rule[3:] for rule in rules if rule.startswith("if ") and not self.holds(rule[3:], path, env)), None)
            must = any(rule.startswith("required if ") and self.holds(rule[12:], path, env) for rule in rules)
        except Unknown:
            return
        if wrong is not None:
            others = self.count[NUMBER.sub("#", path)] > 1
            self.file.must(others or not self.exists(path), path, f"exists, but not: {wrong}")
            return
        optional = not must and any(rule == "optional" or rule.startswith("default ") for rule in rules)
        value = self._read(row, path, env, optional)
        if value is not None:
            self.values[path] = value
            self.found.append(Found(row, path, env, value))

    def _read(self, row, path, env, optional):
        owner, _, name = path.partition("@")
        owner = owner.rstrip("/") or "/"
        if row.type == "group":
            if self.file.group(path, optional) is not None:
                self.present.add(path)
            return None
        if row.type == "link" or path.endswith("/NAME") or "see Colours" in row.rules:
            return None
        if row.type == "text":
            return self.file.text(owner, name, optional)
        shape = [self._size(size, path, env) for size in SIZES.split(row.shape)] if row.shape else []
        if "@" in path:
            value = self.file.number(owner, name, row.type, optional, tuple(shape) or None)
        else:
            value = self.file.array(path, row.type.replace(" or ", " "), shape, optional, "NaN" not in row.rules)
            if value is not None:
                for size, n in zip(SIZES.split(row.shape), value.shape):
                    name = size.removesuffix(" + 1")
                    if name.isidentifier() and name not in env:
                        env[name] = n - (name != size)
        if np.size(value) == 1 and value is not None and row.type == "i64":
            for rule in row.rules:
                if rule[:2] == "= " and rule[2:].isidentifier() and rule[2:] not in env:
                    env[rule[2:]] = int(np.ravel(value)[0])
        return value

    def _size(self, text, path, env):
        """A number, or None for any."""
        if text == "any" or text.isidentifier() and text not in env:
            return None
        exact = {name: fractions.Fraction(n) for name, n in env.items()}
        try:
            return int(evaluate(text, Names(self, self.parent(path), exact)))
        except Unknown:
            return None
