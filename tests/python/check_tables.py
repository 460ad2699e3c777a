# SPDX-License-Identifier: Apache-2.0
"""The tables of formats/*.md beside what the C readers read: the fields of basis_fields.c, and every call of modal_h5_read_array
and modal_h5_rows_open with a name. Each has a row with its type and rank; what C reads as optional, a row lets be missing; each
row of an array is named in the C sources. usage: check_tables.py SOURCE"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1]).resolve()
sys.path.insert(0, str(source / "tools/python/validate"))
from tables import HEAD, SIZES, read_page  # noqa: E402

TYPES = {"F64": "f64", "F32": "f32", "I64": "i64", "I32": "i32", "U8": "u8"}
FOLDERS = {"basis": ["basis"], "trajectory": ["trajectory", "h5"], "snapshots": ["snapshots", "h5", "basis"], "octree": ["octree"], "textures": ["textures"],
           "checkpoint": ["checkpoint"], "sequence": ["sequences"]}
CALL = re.compile(r'modal_h5_(?:read_array|rows_open)\([^;"]*?"(\w+)",\s*MODAL_H5_(\w+),\s*(\d)\s*,[^;]*?MODAL_H5_(REQUIRED|OPTIONAL)')
FIELD = re.compile(r'\{GROUP_(\w+), "(\w+)", AT\([\w.]+\), \w+, (\w+), (MUST|MAY), (\d),')
OF_A_SEQUENCE = {"NumberOfPoints", "Points", "displacement"}  # read instead of snapshots
wrong, n_compared = [], 0
fields = (source / "formats/basis/basis_fields.c").read_text()


def arrays(page):
    """[(path, types, rank, whether it may be missing)] of the datasets of a page."""
    rows = read_page(page)
    absent = {row.path for row in rows if any(rule.split(" ")[0] in ("optional", "if") for rule in row.rules)}
    return [(row.path, row.type.split(" or "), len(SIZES.split(row.shape)), not absent.isdisjoint((row.path, row.path.rsplit("/", 1)[0])))
            for row in rows if "@" not in row.path and row.type not in ("group", "link", "text")]


def compare(where, rows, kind, rank, need):
    """One array of C with the rows that have its name."""
    global n_compared
    n_compared += 1
    fits = [row for row in rows if TYPES[kind] in row[1] and row[2] == rank]
    if not fits:
        wrong.append(f"{where}: C reads {TYPES[kind]} of rank {rank}, the page has {rows or 'no row'}")
    elif need in ("OPTIONAL", "MAY") and not all(row[3] for row in fits):
        wrong.append(f"{where}: is optional for C, but not in the page")


def groups_of(text):
    """{symbol: path of the group} of basis_fields.c."""
    names = re.search(r"modal_basis_groups\[GROUP_COUNT\] = \{([^}]*)\}", text)[1]
    symbols = re.search(r"enum [^{]*\{([^}]*GROUP_COUNT)", (source / "formats/basis/basis_fields.h").read_text())[1]
    return dict(zip(re.findall(r"GROUP_(\w+)", symbols), re.findall(r'"(\w+)"', names)))


for page, folders in FOLDERS.items():
    rows = arrays(f"{page}.md")
    texts = {folder: "\n".join(path.read_text() for path in sorted((source / "formats" / folder).glob("*.c"))) for folder in folders}
    text = "\n".join(texts.values())
    for name, kind, rank, need in CALL.findall("".join(texts[folder] for folder in folders if folder in (page, folders[0], "h5"))):
        if page != "snapshots" or name not in OF_A_SEQUENCE:
            compare(f"{page}.md: {name}", [row for row in rows if row[0].rsplit("/", 1)[1] == name], kind, int(rank), need)
    for path, *_ in rows:
        leaf = path.rsplit("/", 1)[1]
        if not re.search("NAME|LL|NNNN", leaf) and f'"{leaf}"' not in text and leaf.rstrip("0123456789") not in ("state_", "level_"):
            wrong.append(f"{page}.md: {path} is not named in formats/{folders[0]}")
group_of, of_basis = groups_of(fields), arrays("basis.md")
found = set()
for group, name, kind, need, rank in FIELD.findall(fields):
    path = f"/shapes/NNNN/{group_of[group]}/{name}"
    found.add(path)
    compare(f"basis_fields.c: {path}", [row for row in of_basis if row[0] == path], kind, int(rank), need)
table = {path for path, *_ in of_basis if re.fullmatch(r"/shapes/NNNN/\w+/\w+", path)}
wrong += [f"{path}: only in {'basis.md' if path in table else 'basis_fields.c'}" for path in sorted(found ^ table)]
for page in source.glob("formats/*.md"):
    lines = page.read_text(encoding="utf-8").split("\n")
    for at in (i for i, line in enumerate(lines) if line == HEAD):
        for line in lines[at + 2:]:
            if not line.startswith("|"):
                break
            if not line.endswith("| 1.0 |") or len(re.split(r"(?<!\\)\|", line)) != 8:
                wrong.append(f"{page.name}: {line}")
if n_compared < 100:
    wrong.append(f"only {n_compared} arrays were compared")
print("\n".join(wrong) or f"{n_compared} arrays of C agree with the pages")
sys.exit(bool(wrong))
