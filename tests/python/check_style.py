# SPDX-License-Identifier: Apache-2.0
"""How the C and CUDA sources look, as far as a program can tell (docs/CONTRIBUTING.md): lines of at most 160 columns without
tabs and blanks at their end; functions of at most 80 lines and 8 parameters, but for those that are counted here; teams of threads
that leave cores to other processes.
usage: check_style.py SOURCE [--list]"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
MOST_LINES, MOST_PARAMETERS, MOST_COLUMNS = 80, 8, 160
LONG_FUNCTIONS, LONG_LISTS = 5, 5  # as many as there are
# a team that begins with all threads, and one whose threads sleep until they have a picture to write
OWN_TEAMS = ("tools/common/memory.c", "tools/modalrender/modalrender_files.c")
found, long_functions, long_lists = [], [], []


def parameters(text):
    """The number of parameters between a function's parentheses; commas inside others do not count."""
    depth = count = 0
    for letter in text:
        depth += (letter in "([<") - (letter in ")]>")
        count += letter == "," and depth == 0
    return count + 1


def functions(lines):
    """Name, head and number of lines of each function: its body stands between { and } in the first column."""
    for end in (i for i, line in enumerate(lines) if line == "}"):
        begin = end
        while begin and lines[begin] != "{":
            begin -= 1
        first = begin
        while first and re.match(r"[\w\s(]", lines[first - 1][:1] or "#") and not lines[first - 1].endswith((";", "*/")):
            first -= 1
        head = re.sub(r"__launch_bounds__\([^)]*\)|__attribute__\(\(.*?\)\)", "", " ".join(lines[first:begin]))
        match = re.search(r"(\w+)\s*\((.*)\)", head)
        if match:
            yield match[1], match[2], end - first + 1


count = 0
for family in ("lib", "kernels", "formats", "tools", "tests"):
    for source in sorted((root / family).rglob("*")):
        if source.suffix not in (".c", ".h", ".cu", ".cuh", ".cpp"):
            continue
        name, text = source.relative_to(root).as_posix(), source.read_text()
        lines = text.split("\n")
        found += [f"{name}:{i}: a tab or blanks at the end" for i, line in enumerate(lines, 1)
                  if "\t" in line or line.endswith(" ")]
        found += [f"{name}:{i}: {len(line)} columns" for i, line in enumerate(lines, 1) if len(line) > MOST_COLUMNS]
        if lines[-1]:
            found.append(f"{name}: does not end with a line's end")
        if family == "tests":
            continue
        # kernels get theirs from modal_device_select
        found += [f"{name}:{i}: neither MODAL_TEAM nor modal_free_threads (lib/base/cores.h)" for i, line in enumerate(lines, 1)
                  if family != "kernels" and name not in OWN_TEAMS and line.startswith("#pragma omp parallel")
                  and not re.search("num_threads.(MODAL_TEAM|modal_free_threads|team)\\b", line)]
        for function, arguments, length in functions(lines):
            count += 1
            if length > MOST_LINES:
                long_functions.append(f"{name}: {function}, {length} lines")
            if parameters(arguments) > MOST_PARAMETERS:
                long_lists.append(f"{name}: {function}, {parameters(arguments)} parameters")

if "--list" in sys.argv:
    print("\n".join(sorted(long_functions) + sorted(long_lists)))
for what, some, most in (("functions of more than 80 lines", long_functions, LONG_FUNCTIONS),
                         ("functions of more than 8 parameters", long_lists, LONG_LISTS)):
    print(f"{len(some)} {what}")
    if len(some) > most:
        found.append(f"{len(some)} {what}, where {most} are allowed:\n  " + "\n  ".join(some))
if count < 1000:
    found.append(f"only {count} functions seen")
print("\n".join(found) or f"{count} functions keep the rules")
sys.exit(bool(found))
