#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to open a scene whose shapes lie in other files (modalplace --link), beside the same scene in one file:
whole runs of the tools in turn, by processor time. Rewrites docs/results/assemblies.md.
usage: measure_assembly.py BIN_FOLDER RESULTS.md [PAIRS]"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

BIN, RESULTS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
PAIRS = int(sys.argv[3]) if len(sys.argv) > 3 else 60
SOURCE = pathlib.Path(__file__).resolve().parents[2]
MANY = 2000


def run(tool, *words):
    subprocess.run([f"{BIN}/{tool}", "-q", *map(str, words)], check=True)


def seconds(words):
    """Of processor time, of the whole process."""
    child = os.posix_spawn(words[0], words, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    assert status == 0, words
    return usage.ru_utime + usage.ru_stime


def compare(title, tool, words, linked, packed, pairs):
    """A row: words with {} for the basis."""
    lines = [[f"{BIN}/{tool}", *(word.replace("{}", basis) for word in words)] for basis in (linked, packed)]
    for line in lines:
        seconds(line)
    both = []
    for turn in range(pairs):
        order = lines if turn % 2 else lines[::-1]
        taken = [seconds(line) for line in order]
        both.append(taken if turn % 2 else taken[::-1])
    ratios = sorted(a / b for a, b in both)
    quarter = len(ratios) // 4
    tool += " --check" if "--check" in words else ""
    return (f"| {title} | `{tool}` | {1e3 * statistics.median(a for a, _ in both):.1f} | "
            f"{1e3 * statistics.median(b for _, b in both):.1f} | {statistics.median(ratios):.3f} | "
            f"{ratios[quarter]:.2f} to {ratios[-quarter - 1]:.2f} |\n")


def forest():
    subprocess.run([sys.executable, SOURCE / "data/plant.py", "forest", "f", "--tools", BIN, "--duration", "0.1"], check=True,
                   capture_output=True)
    os.chdir("f")
    run("modalplace", "--link", "places.csv", "linked.h5", "trunk.h5", "bough.h5", "twig.h5", "leaf.h5")
    run("modalinfo", "--pack", "linked.h5", "packed.h5")
    run("modalsim", "packed.h5", "t.h5", "--duration", "0.1", "--fps", 20, "--initial", "0=0.001")
    return "forest: 6,440 objects of 4 shapes in 4 files", PAIRS


def many():
    os.makedirs("many")
    names = [f"many/{i}.h5" for i in range(MANY)]
    for name in names:
        os.link("leaf.h5", name)
    pathlib.Path("many.csv").write_text("".join(f"{i},{i},-1,{i},0,0,0,0,0\n" for i in range(MANY)), encoding="utf-8")
    run("modalplace", "-f", "--link", "many.csv", "linked.h5", *names)
    run("modalinfo", "-f", "--pack", "linked.h5", "packed.h5")
    run("modalsim", "-f", "packed.h5", "t.h5", "--duration", "0.1", "--fps", 20, "--initial", "0=0.001")
    return f"{MANY:,} objects, each of a shape in a file of its own", max(3, PAIRS // 10)


def rows(title, pairs):
    sizes = [os.path.getsize(name) / 1e6 for name in ("linked.h5", "packed.h5")]
    title += f"; {sizes[0]:.2f} and {sizes[1]:.2f} MB"
    return "".join(compare(title, tool, words, "linked.h5", "packed.h5", pairs) for tool, words in (
        ("modalinfo", ["{}"]), ("modalinfo", ["--check", "{}"]),
        ("modalsim", ["-f", "-q", "{}", "n.h5", "--duration", "0.05", "--fps", "20", "--initial", "0=0.001"]),
        ("modaldeform", ["-f", "-q", "t.h5", "o", "--basis", "{}", "--frames", "0", "--backend", "cpu", "-j1"])))


with tempfile.TemporaryDirectory() as place:
    os.chdir(place)
    table = rows(*forest()) + rows(*many())
    os.chdir("/")
load = os.getloadavg()[0]
cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), "?")
with open(RESULTS, "w", encoding="utf-8") as out:
    out.write(f"""<!-- SPDX-License-Identifier: Apache-2.0 -->
# Scenes from parts, opened

`tests/bench/measure_assembly.py build/release/bin docs/results/assemblies.md {PAIRS}` on {os.cpu_count()} CPUs ({cpu}), load {load:.1f}. Whole runs of
the tools in turn, in milliseconds of processor time (user and system), medians: of an assembly (`modalplace --link`)
and of the one file that `modalinfo --pack` makes of it; the ratio is the median of those of the pairs, with their
middle half. `modaldeform` writes one frame. The aim for the forest was at most 1.1.

| scene; size of the assembly and of the one file | tool | assembly, ms | one file, ms | ratio | middle half |
| --- | --- | --- | --- | --- | --- |
{table}""")
