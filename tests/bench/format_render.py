#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the measured tables of docs/results/render.md: of `modalbench render --json FILE` and of tests/bench/measure_render.py --json FILE, in any number. What is between the two
marks of a kind of machine (cpu, gpu) is replaced by the tables of the files that were measured there; the other kind's tables and all else stay. Marks that are
absent are put after the first paragraph.
usage: format_render.py RESULTS.json... OUTPUT.md"""
import json
import pathlib
import sys

*sources, target = (pathlib.Path(a) for a in sys.argv[1:])


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def table(headings, lines):
    yield "| " + " | ".join(headings) + " |"
    yield "| " + " | ".join("---" for _ in headings) + " |"
    yield from ("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def seconds_of(row):
    """What is compared: on a CPU processor time."""
    return row["processor_seconds"] if row["side"] == "cpu" else row["seconds"]["median"]


def of_bench(data, kind):
    """Tables of modalbench: pictures, and PNG."""
    for name in dict.fromkeys(r["table"] for r in data["results"] if r["table"].startswith("render") and r["side"] == kind):
        rows = [r for r in data["results"] if r["table"] == name and r["side"] == kind]
        yield ""
        if name == "render, PNG":
            yield from table((f"{name}, 1920 x 1080", "ms", "MB", "ours / it"),
                             ([r["name"], number(1e3 * seconds_of(r)), f"{1e-6 * r['held_bytes']:.2f}", "" if r["ours"] else f"{1 / r['times_ours']:.2f}"] for r in rows))
        else:
            ours = next(seconds_of(r) for r in rows if r["ours"])
            yield from table((name, "ms a frame", "ours / it", "held to"),
                             ([r["name"], number(1e3 * seconds_of(r)), "" if r["ours"] else f"{ours / seconds_of(r):.3f}", r.get("tolerance", "")] for r in rows))


def of_measured(data):
    lines = []
    for r in data["results"]:
        unit = next(u for u in ("ms", "mb_per_s", "frames_per_s") if u in r)
        times = r[unit]
        lines.append([r["what"], ", ".join(f"{name} {number(t)}" for name, t in times.items()) + {"ms": " ms", "mb_per_s": " MB/s", "frames_per_s": " frames/s"}[unit], f"{r['ratio']:.3f}" if "ratio" in r else "", r["asked"]])
    yield ""
    yield from table(("what", "medians", "ratio", "asked"), lines)


def block(kind, files):
    yield f"<!-- made by tests/bench/format_render.py: {kind} -->"
    for data in files:
        measured = "frames" in data
        machine = data["machine"]
        where = f"{machine['backend']}, {machine['threads']} threads" if measured else machine[kind]["hardware"]
        yield ""
        yield f"{data['date'][:10]}, `{command_of(data)}`, {where}:" + (" --quick, how fast it is not." if data["quick"] else "")
        yield from of_measured(data) if measured else of_bench(data, kind)
        if data["absent"]:
            yield ""
            yield "Not measured: " + "; ".join(f"{a['what']} ({a['why']})" for a in data["absent"]) + "."
    yield ""
    yield f"<!-- end: {kind} -->"


def command_of(data):
    """Without what is only of the machine: where files were."""
    words, kept = iter(data["command"].split()), []
    for word in words:
        if word in ("--json", "--scenes"):
            next(words)
        elif word not in ("-f", "--force"):
            kept.append(word.rstrip("/").split("/")[-1])
    return " ".join(kept)


def kind_of(data):
    if "frames" in data:
        return "gpu" if data["machine"]["backend"].startswith("cuda") else "cpu"
    return "gpu" if any(r["side"] == "gpu" for r in data["results"] if r["table"].startswith("render")) else "cpu"


files = [json.loads(path.read_text(encoding="utf-8")) for path in sources]
text = target.read_text(encoding="utf-8")
for kind in dict.fromkeys(map(kind_of, files)):
    new = "\n".join(block(kind, [f for f in files if kind_of(f) == kind]))
    begin, end = (f"<!-- {word}: {kind} -->" for word in ("made by tests/bench/format_render.py", "end"))
    if begin in text:
        before, rest = text.split(begin, 1)
        _, after = rest.split(end, 1)
        text = before + new + after
    else:
        first, paragraph, rest = text.split("\n\n", 2)
        text = f"{first}\n\n{paragraph}\n\n{new}\n\n{rest}"
target.write_text(text, encoding="utf-8")
