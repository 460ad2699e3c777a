# SPDX-License-Identifier: Apache-2.0
"""What a table cannot hold: hashes, other files, the rating, checksums. Each function checks one format after its table."""
import os
import re
import tempfile

import numpy as np
from h5py import h5l

from container import DAMAGE, TYPES, File, Unreadable
from rules import check_rules
from tables import FOLDER, Table, read_page
from trees import check_octree
from views import check_sequence
from xxh3 import hash_of_arrays

LISTED = re.compile(r"(([a-z0-9_]+|\*)/)*[a-z0-9_]+")
UNHASHED = {"corner_normals", "fibres", "fibre", "prony_isochoric", "prony_volumetric"}
HASHED = re.compile(r"shapes/\*/(surface|modes|reduced_forces|volume)/|objects/|shapes/hash")
ROOT = [row for row in read_page("container.md") if row.path.startswith("/@")]


# ---- basis ----

def expand(file, pattern):
    """The paths of `pattern` that exist; * is 0000, 0001, ... in turn."""
    head, star, tail = pattern.partition("/*")
    parts = [part for part in head.split("/") if part]
    for k in range(1, len(parts) + bool(star)):
        path = "/" + "/".join(parts[:k])
        if not file.has(path) or file.group(path) is None:
            return
    if not star:
        if file.has(pattern):
            yield pattern
        return
    count = 0
    while file.has(f"{head}/{count:04}") and file.group(f"{head}/{count:04}") is not None:
        yield from expand(file, f"{head}/{count:04}{tail}")
        count += 1


def hash_of(file, patterns):
    arrays = [(path.rsplit("/", 1)[1], file.array(path, " ".join(TYPES), None)) for pattern in patterns for path in expand(file, "/" + pattern)]
    return None if any(values is None for _, values in arrays) else hash_of_arrays(arrays)


class Basis:
    """A basis, checked; `ranks` has the modes of each object, None if they are not known."""

    def __init__(self, file, table=None, in_assembly=False):
        table = table or table_of(file, "basis")
        self.file, self.others, self.in_assembly, self.ranks = file, {}, in_assembly, None
        self.hash, self.hashes = table.values.get("/@content_hash"), table.values.get("/shapes/hash")
        listed = table.values.get("/@hashed")
        self.hashed = listed.split(" ") if listed is not None else []
        if not file.must(all(LISTED.fullmatch(x) and len(x) <= 255 for x in self.hashed), "/@hashed", "is no list of paths"):
            self.hashed = []
        self.modes = []
        for i in range(table.values.get("/shapes/@count") or 0):
            path = f"/shapes/{i:04}"
            values = table.values.get(f"{path}/modes/eigenvalues")
            self.modes.append(self._of_another(path, table) if f"{path}/@file" in table.values else None if values is None else len(values))
        shape = table.values.get("/objects/shape")
        if shape is not None and self.modes and None not in self.modes and ((shape >= 0) & (shape < len(self.modes))).all():
            self.ranks = np.array(self.modes)[shape]
        if self.hashed:
            self._hashes(table)

    def _of_another(self, path, table):
        """The modes of a shape in another file, None if it cannot be found."""
        file, name, which = self.file, table.values[f"{path}/@file"], table.values.get(f"{path}/@file_shape")
        at, folder = f"{path}/@file", os.path.realpath(os.path.dirname(os.path.abspath(self.file.path)))
        inside = name and not {"", ".", ".."} & set(name.split("/"))
        whole = os.path.realpath(os.path.join(folder, name)) if inside and "\0" not in name else "/"
        if not file.must(not self.in_assembly, path, "is in a third file") or which is None or \
                not file.must(os.path.commonpath([folder, whole]) == folder, at, f"{name!r} is no path inside the folder"):
            return None
        try:
            if whole not in self.others:
                self.others[whole] = Basis(File(whole), in_assembly=True)
                for place, what in self.others[whole].file.findings:
                    file.broken(at, f"{name}: {place}: {what}")
        except (OSError, Unreadable) as error:
            file.broken(at, f"{name}: {error}")
            return None
        other, number = self.others[whole], int(path[-4:])
        if not file.must(0 <= which < len(other.modes), f"{path}/@file_shape", f"is {which}"):
            return None
        if self.hashes is not None and other.hashes is not None:
            file.must((self.hashes[number] == other.hashes[which]).all(), at, f"{name}: is another shape")
        mine = iter(self.hashed)
        file.must(all(x in mine for x in other.hashed if x.startswith("shapes/*/")), "/@hashed", f"lacks entries of {name}, or has another order")
        return other.modes[which]

    def _hashes(self, table):
        file = self.file
        found = {re.sub(r"/\d{4,}", "/*", path)[1:] for path in file.arrays if "@" not in path and path.rsplit("/", 1)[1] not in UNHASHED}
        for name in sorted(name for name in found | {"shapes/hash"} if HASHED.match(name) and any(f"/{name}" == re.sub(
                r"/N{4}", "/*", row.path) for row in table.rows)):
            file.must(name in self.hashed, "/@hashed", f"lacks {name}")
        for i in range(len(self.modes)):
            if f"/shapes/{i:04}/@file" not in table.values and self.hashes is not None:
                digest = hash_of(file, [x.replace("shapes/*", f"shapes/{i:04}", 1) for x in self.hashed if x.startswith("shapes/*/")])
                file.must(digest in (None, self.hashes[i].tobytes().hex()), f"/shapes/hash[{i}]", f"is not {digest}")
        digest = hash_of(file, [x for x in self.hashed if not x.startswith("shapes/*/")])
        file.must(None in (digest, self.hash) or digest == self.hash, "/@content_hash", f"is not {digest}")


# ---- trajectory and snapshots ----

def limits():
    """{column: (suspect, invalid)} of the table of quality columns: limits as rules, empty for never."""
    with open(os.path.join(FOLDER, "trajectory.md"), encoding="utf-8") as file:
        rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in file.read().partition("| column | unit |")[2].splitlines()]
    return {name: (cells[2], cells[3]) for cells in rows if len(cells) == 5 for name in re.findall("`(\\w+)`", cells[0])}


def past(value, limit):
    sign, _, bound = limit.partition(" ")
    return bool(limit) and {">": value > float(bound), "<": value < float(bound), "<=": value <= float(bound)}[sign]


def check_quality(file, table):
    values, text = table.values.get("/quality"), table.values.get("/@quality_columns")
    file.unjudged = True if file.unjudged is not None or values is not None else None
    if values is None or text is None:
        return
    names, known = text.split(" "), limits()
    good = len(names) == values.shape[1] and all(names) and len([x for x in names if x in known]) == len({x for x in names if x in known})
    if not file.must(good, "/@quality_columns", f"are not {values.shape[1]} different names"):
        return
    offsets = table.values.get("/mode_offsets")
    for name, column in ((name, values[:, k]) for k, name in enumerate(names) if name in known):
        suspect, invalid = known[name]
        column, low = column[~np.isnan(column)], suspect.startswith("<")
        good = not np.isinf(column).any() and (low or (column >= 0).all())
        if name.endswith(("_object", "_element")) or name == "not_judged":
            good = good and (column == np.floor(column)).all()
        if name.endswith("_object") and offsets is not None:
            good = good and (column < len(offsets) - 1).all()
        file.must(good, "/quality", f"{name}: has a value that cannot be")
        if name == "not_judged":
            file.unjudged = len(column) < len(values) or bool(column.any())
        if column.size:
            worst = column.min() if low else column.max()
            file.must(not past(worst, invalid), "/quality", f"invalid: {name} is {worst:.3g}")
            if past(worst, suspect):
                file.doubts.append(f"{name} is {worst:.3g}")


def check_trajectory(file, table):
    file.unjudged = True
    check_quality(file, table)
    name = table.values.get("/@basis_path")
    if file.has("/basis") and name is not None:
        try:
            good = file.link("/basis") == h5l.TYPE_EXTERNAL and file.root.id.links.get_val(b"basis") == (name.encode(), b"/")
            file.must(good, "/basis", "is no external link to / of basis_path")
        except DAMAGE as error:
            file.broken("/basis", f"cannot be read: {error}")
    if file.findings:
        return
    path = os.path.join(os.path.dirname(os.path.abspath(file.path)), name)
    with tempfile.NamedTemporaryFile(suffix=".h5") as carried:
        if "/basis_file" in table.values:
            carried.write(table.values["/basis_file"].tobytes())
            carried.flush()
            path = carried.name
        if not os.path.exists(path):  # no fault of the trajectory
            return
        try:
            basis = Basis(File(path))
        except (OSError, Unreadable) as error:
            file.broken("/basis", f"{name}: {error}")
            return
        file.must(basis.hash == table.values["/@basis_hash"], "/basis", f"{name} has the hash {basis.hash}")
        file.must(basis.ranks is not None and np.array_equal(np.diff(table.values["/mode_offsets"]), basis.ranks), "/mode_offsets",
                  f"are not those of {name}")


def check_checkpoint(file, table):
    names = ["n_frames", *(f"state_{i}" for i in range(5))]
    values = [table.values.get(f"/{name}") for name in names]
    if file.findings:
        return
    done, n_frames = values[0], len(table.values["/q"])
    whole = {int(done[row]): row for row in (1, 0) if 1 <= done[row] <= n_frames and table.values["/checksum"][row].tobytes() == hash_of_arrays(
        [(name, value[row]) for name, value in zip(names, values)]).encode()}
    if file.must(whole, "/checksum", "neither of the two states is complete"):
        n = max(whole)
        for name, value in [(name, value[whole[n]]) for name, value in zip(names, values)] + \
                [(name, table.values[f"/{name}"][:n]) for name in ("q", "poses", "energy") if f"/{name}" in table.values]:
            file.must(np.isfinite(value).all(), f"/{name}", "has a value that is not finite")


def check_textures(file, table):
    """Every layer of a class is that of one image."""
    pairs = [table.values.get(f"/images/{name}") for name in ("class", "layer")]
    layers = [len(table.values[f"/classes/{i:04}/level_00"]) for i in range(table.values.get("/classes/@count") or 0)
              if f"/classes/{i:04}/level_00" in table.values]
    if None not in [x if x is None else 0 for x in pairs] and len(layers) == table.values.get("/classes/@count"):
        file.must(sorted(zip(*(x.tolist() for x in pairs))) == [(i, k) for i, n in enumerate(layers) for k in range(n)], "/images/layer",
                  "are not the layers of the classes, each once")


KINDS = {"basis": lambda file, table: Basis(file, table), "trajectory": check_trajectory, "snapshots": check_quality,
         "checkpoint": check_checkpoint, "sequence": check_sequence, "textures": check_textures, "octree": check_octree}


def table_of(file, kind):
    file.check_root()
    table = Table(file, ROOT + read_page(f"{kind}.md"))
    check_rules(table)
    return table


def check_file(file, kind):
    KINDS[kind](file, table_of(file, kind))
