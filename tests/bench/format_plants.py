#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/plants.md from what `modalbench plants --plants FOLDER --json FILE` measured; of several files, each of another machine, one after the other.
usage: format_plants.py RESULTS.json... OUTPUT.md"""
import json
import pathlib
import sys

*sources, target = (pathlib.Path(a) for a in sys.argv[1:])
PARTS = ("step", "U q", "transform", "normals", "shadow", "picture")


def table(headings, lines):
    yield "| " + " | ".join(headings) + " |"
    yield "| " + " | ".join("---" for _ in headings) + " |"
    yield from ("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def number(value):
    """Three figures, or all of a large number."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def lines_of(rows, on_gpu):
    for r in rows:
        p, ms = r["plant"], r["plant"]["ms"]
        device = r.get("device", {})
        yield [r["name"], p["source"], f"{r['objects']:,}", f"{r['vertices']:,}", f"{r['modes']:,.0f}", *(number(ms[k]) for k in PARTS),
               " ".join(f"{100 * p['shares'][k]:.0f}" for k in PARTS), "" if p["while_q_is_stepped"] else number(p["frames_per_s"]), "" if p["while_q_is_stepped"] else f"{p['steps_a_frame']:.2f}",
               f"{p['source_cpu_fps']:.0f} / {p['source_gpu_fps']:.0f}",
               *((f"{1e-6 * device['bytes']:.0f}", f"{device['launches_of_a_step']} + {device['launches_of_a_frame']}") if on_gpu else ())]


def slower(rows):
    """How many times as long each part takes while q is stepped, the mean of the plants."""
    pairs = [(a["plant"]["ms"], b["plant"]["ms"]) for a, b in zip(rows[::2], rows[1::2])]
    together = [("U q and transform", ("U q", "transform")), ("normals", ("normals",)), ("shadow and picture", ("shadow", "picture"))]
    for name, keys in together:
        times = [sum(b[k] for k in keys) / sum(a[k] for k in keys) for a, b in pairs if sum(a[k] for k in keys) > 0]
        yield name, number(sum(times) / len(times)), f"{number(min(times))} to {number(max(times))}"


def document(data):
    rows = [r for r in data["results"] if r["table"] == "plants"]
    cpu, gpu = ([r for r in rows if (r["side"] == "cpu") == here] for here in (True, False))
    machine = data["machine"]
    headings = ("", "source", "objects", "vertices", "modes", *PARTS, "shares, %", "frames/s", "steps a frame", "source's frames/s, CPU / GPU")
    yield ""
    yield f"## {machine['gpu']['hardware'] + ', and ' if 'gpu' in machine else ''}{machine['cpu']['hardware']}"
    yield ""
    yield f"{data['date'][:10]}, `{data['command']}`, threads of the CPU: {machine['cpu']['threads']}" + ("; --quick: how fast it is not" if data["quick"] else "")
    if gpu:
        yield ""
        yield from table((*headings, "MB", "launches, step + frame"), lines_of(gpu, True))
    yield ""
    yield from table(headings, lines_of(cpu, False))
    yield ""
    yield "While as many threads step q, on the CPU, times as long, mean of the plants (of the columns of the paper's table 4, CPU: U q 47, transform 15):"
    yield ""
    yield from table(("", "mean", "least to most"), slower(cpu))
    launches = [r for r in data["results"] if r["table"] == "launches"]
    if launches:
        yield ""
        yield "U q by the paper's kernels, us (its text: a launch a distinct r takes 4 times, a launch an object 25 times as long):"
        yield ""
        yield from table(("objects", "", "us", "times the first"), ([f"{r['objects']:,}", r["name"], number(1e6 * r["seconds"]["median"]),
                                                                     "" if r["ours"] else number(r["times_ours"])] for r in launches))
    if data["absent"]:
        yield ""
        yield "Not measured: " + "; ".join(f"{a['what']} ({a['why']})" for a in data["absent"]) + "."


text = ["<!-- SPDX-License-Identifier: Apache-2.0 -->", "# Whole simulations of plants", "",
        "`modalbench plants`, written by tests/bench/format_plants.py; [modalbench.md](../modalbench.md#plants) says what the columns are. Times in ms."]
for source in sources:
    text += document(json.loads(source.read_text()))
target.write_text("\n".join(text) + "\n")
