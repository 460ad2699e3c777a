# SPDX-License-Identifier: Apache-2.0
"""The order of the rooms: a file includes files of its own room and of rooms that stand before it in ROOMS, and
nothing else. No files are in a circle of functions that call each other. Besides: kernels see no file format, lib neither that nor CUDA, formats no CUDA and of lib plain data
only; tools do not see each other. Every source has its licence line, and none is longer than 700 lines; values of
HDF5 files are read in one place, which proves the sizes of chunks (HDF5 does not)."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
ROOMS = [
    "lib/base",
    "lib/model",
    "kernels",
    "lib/frames",
    "lib/mesh",
    "lib/curvature",
    "lib/laws",
    "lib/shape",
    "lib/fem",
    "lib/modes",
    "lib/ranks",
    "lib/reduced",
    "lib/deform",
    "lib/sound",
    "lib/texture",
    "lib/octree",
    "lib/render",
    "lib/scene",
    "lib/oscillators",
    "lib/forest",
    "lib/tled",
    "formats/meshes",
    "formats/json",
    "formats/h5/guard",
    "formats/h5",
    "formats/basis",
    "formats/trajectory",
    "formats/snapshots",
    "formats/checkpoint",
    "formats/sequences",
    "formats/viewer",
    "formats/images",
    "formats/textures",
    "formats/octree",
    "tools/common",
    "tools/library",
    "tools/modalbench",
    "tools/modalcurv",
    "tools/modaldeform",
    "tools/modalinfo",
    "tools/modalmesh",
    "tools/modalpack",
    "tools/modalplace",
    "tools/modalrender",
    "tools/modalsim",
    "tools/modaltex",
    "tools/modaltled",
    "tools/modaltools",
    "tools/modalview",
]
SUFFIXES = (".c", ".h", ".cu", ".cuh", ".cpp")
FORBIDDEN = {
    "kernels": r"hdf5|jansson",
    "lib": r"hdf5|jansson|cuda",
    "formats": r"cuda|cublas",
}

# Reads itself: the one function, and two writers, contiguous arrays of their own.
MAY_READ = {"formats/h5/h5_array.c", "formats/h5/h5_write.c", "formats/sequences/sequence_vtkhdf.c"}


def room_of(name):
    """kernels is one room; in lib, formats and tools every folder is."""
    parts = name.split("/")
    return parts[0] if parts[0] == "kernels" else "/".join(parts[:-1])


def sees(room, other):
    if room == other:
        return True
    if room not in ROOMS or other not in ROOMS or ROOMS.index(other) > ROOMS.index(room):
        return False
    if room.startswith("formats/"):
        return other.startswith("formats/") or other in ("lib/base", "lib/model")
    if room.startswith("tools/"):
        return not other.startswith("tools/") or other == "tools/common"
    return True


found = []
count = 0
seen = set()
for family in ("lib", "kernels", "formats", "tools"):
    for source in sorted((root / family).rglob("*")):
        if source.suffix not in SUFFIXES or source.name == "test_guard.c":
            continue
        count += 1
        name = source.relative_to(root).as_posix()
        room = room_of(name)
        seen.add(room)
        text = source.read_text()
        lines = text.split("\n")
        if "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
            found.append(f"{name}: no licence line")
        if len(lines) > 700:
            found.append(f"{name}: {len(lines)} lines")
        if "H5Dread(" in text and name not in MAY_READ:
            found.append(f"{name}: reads an array past formats/h5/h5_array.c")
        for number, line in enumerate(lines, 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)', line)
            if not match:
                continue
            quote, target = match.groups()
            if quote == '"' and not sees(room, room_of(target)):
                found.append(f"{name}:{number}: {room} must not include {target}")
            if quote == "<" and family in FORBIDDEN and re.search(FORBIDDEN[family], target):
                found.append(f"{name}:{number}: {family} must not include {target}")
found += [f"{room}: stands in no place of ROOMS" for room in sorted(seen - set(ROOMS))]
found += [f"{room}: stands in ROOMS and has no sources" for room in sorted(set(ROOMS) - seen)]

# ---- circles: a file calls (or takes a variable of) one that comes back to it ----

SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*', re.S | re.M)
FUNCTION = re.compile(r"^(?!static|typedef|extern|return|else|struct \w+ \{)[A-Za-z_][\w \t*]*?\b(\w+)"
                      r"\([^;{}()]*(?:\([^()]*\)[^;{}()]*)*\)\s*\{", re.M)
VARIABLE = re.compile(r"^(?!static|typedef|extern)[A-Za-z_][\w \t*]*?\b(\w+)(?:\[[^\]]*\])* =", re.M)


def circles_of(calls):
    """The sets of files that reach each other (R. Tarjan, Depth-first search and linear graph algorithms, 1972)."""
    index, low, stack, circles = {}, {}, [], []

    def visit(file):
        index[file] = low[file] = len(index)
        stack.append(file)
        for other in sorted(calls[file]):
            if other not in index:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == index[file]:
            circle = {file}
            while (other := stack.pop()) != file:
                circle.add(other)
            if len(circle) > 1:
                circles.append(sorted(circle))

    for file in sorted(calls):
        if file not in index:
            visit(file)
    return circles


owner, words = {}, {}
for family in ("lib", "kernels", "formats", "tools"):
    for source in (root / family).rglob("*"):
        if source.suffix in (".c", ".cu", ".cpp"):
            name = source.relative_to(root).as_posix()
            code = SKIPPED.sub(" ", source.read_text())
            words[name] = set(re.findall(r"\w+", code))
            for symbol in FUNCTION.findall(code) + VARIABLE.findall(code):
                owner.setdefault(symbol, set()).add(name)
# of a name that several programs have (main) nothing is said
calls = {name: {file for word in used if len(owner.get(word, ())) == 1 for file in owner[word]} - {name}
         for name, used in words.items()}
if sum(map(len, calls.values())) < 200:
    found.append(f"only {sum(map(len, calls.values()))} calls between files seen")
found += ["a circle of files: " + ", ".join(circle) for circle in circles_of(calls)]

print("\n".join(found) or f"{count} sources keep the rule")
sys.exit(bool(found))
