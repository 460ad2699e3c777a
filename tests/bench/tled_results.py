#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/results/tled.md from JSON of `modalbench tled`: tled_results.py RESULTS.json docs/results/tled.md. What is written by hand stays: all
from the line of KEPT on."""
import contextlib
import io
import json
import os
import sys

KEPT = "## Beside the aims"
THESIS = "scatter, slots in node order"


def table(rows):
    """Ways down, meshes across."""
    meshes = list(dict.fromkeys(r["mesh"] for r in rows))
    ways = list(dict.fromkeys(r["way"] for r in rows))
    rate = {(r["way"], r["mesh"]): r for r in rows}
    print("| 10^9 element steps/s | " + " | ".join(meshes) + " |")
    print("| --- |" + " --- |" * len(meshes))
    for way in ways:
        cells = []
        for mesh in meshes:
            r = rate.get((way, mesh))
            cells.append(f"{1e-9 * r['element_steps_per_s']:.2f} ({1e6 * r['seconds_of_a_step']:.2f} us)" if r else "-")
        print(f"| {way} | " + " | ".join(cells) + " |")
    print()


def limits(rows, copy):
    """What bounds tled_step: the arrays that it holds, each read once a step, at the copy's rate."""
    print("| tled_step | bytes an element held | of the copy's rate, were all of it read every step | GFLOP/s |")
    print("| --- | --- | --- | --- |")
    for r in rows:
        if r["way"] != "tled_step":
            continue
        held = r["bytes_held"] / r["elements"]
        share = held * r["element_steps_per_s"] / copy
        flops = 1e-9 * r["flops_of_an_element"] * r["element_steps_per_s"]
        print(f"| {r['mesh']} | {held:.0f} | {100 * share:.0f} % | {flops:,.0f} |")
    print()


def thesis(rows):
    """Memory, copies and block sizes, as the thesis measures them."""
    copies = [r for r in rows if "copy" in r]
    if copies:
        print("## Memory and copies\n")
        print("The thesis states 376,960 bytes for its cube of hexahedra, which is this row; for its cube of tetrahedra 1,100,288, with 32 elements at "
              "a node.\n")
        print("Bytes by the thesis's formula, nodes (64 + 12 m) + elements (84 T4, 164 H8), m the most elements at a node; ours; displacements of all "
              "nodes (16 bytes each) to the device and back, of pageable and of pinned memory.\n")
        print("| mesh | m | thesis, MB | ours, MB | in, pageable | in, pinned | out, pageable | out, pinned |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for mesh in dict.fromkeys(r["mesh"] for r in copies):
            own = [r["copy"] for r in copies if r["mesh"] == mesh]
            print(f"| {mesh} | {own[0]['most_elements_at_a_node']} | {1e-6 * own[0]['thesis_bytes']:.2f} | {1e-6 * own[0]['our_bytes']:.2f} | "
                  + " | ".join(f"{1e6 * c['seconds']:.1f} us" for c in own) + " |")
        print()
    blocks = [r for r in rows if "blocks" in r]
    if blocks:
        print("## Block sizes\n")
        print("Each loop is timed by itself in calls of 200 steps. Loops of 3.5 to 4 us are as long as a launch: sizes matter only to node loops of "
              "few, large blocks.\n")
        print("| way, mesh | threads a block | element loop | registers | threads a multiprocessor | node loop | registers | threads |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for r in blocks:
            b = r["blocks"]
            print(f"| {b['way']}, {r['mesh']} | {b['size']} | {1e6 * b['element_loop_s']:.2f} us | {b['element_registers']} | {b['element_threads']} | "
                  f"{1e6 * b['node_loop_s']:.2f} us | {b['node_registers']} | {b['node_threads']} |")
        print()


def main():
    with open(sys.argv[1]) as f:
        data = json.load(f)
    gpu = data["machine"]["gpu"]
    rows = [r for r in data["results"] if r["table"] == "tled" and "way" in r]
    frames = [r for r in data["results"] if r["table"] == "tled" and "real_time_factor" in r]
    print("<!-- SPDX-License-Identifier: Apache-2.0 -->")
    print("# Steps of whole solids\n")
    print(f"{gpu['hardware']}, {data['date'][:10]}, `modalbench tled`; copy {gpu['copy_gb_per_s']:,.0f} GB/s. Cubes of soft tissue "
          "(E = 3 kPa, nu = 0.45) under gravity, held below. Every way was compared with the float64 reference first: "
          f"largest error {max(r['error_over_tolerance'] for r in rows) * 5e-6:.1e} of the largest displacement "
          "(bound 5e-6). Medians of 15 runs. tests/bench/tled_results.py makes this page.\n")
    for name, keep in (("Tetrahedra", lambda m: "T4" in m and "random" not in m and not m.endswith(("logarithmic", "StVK"))),
                       ("Random order", lambda m: "random" in m),
                       ("Other laws and elements", lambda m: "H8" in m or m.endswith(("logarithmic", "StVK")))):
        print(f"## {name}\n")
        table([r for r in rows if keep(r["mesh"])])
    print("## What bounds it\n")
    limits(rows, 1e9 * gpu["copy_gb_per_s"])
    for r in rows:
        if "element_loop" in r:
            print(f"{THESIS}, {r['mesh']}: {100 * r['element_loop']:.0f} % of the time in the element loop.\n")
    thesis([r for r in data["results"] if r["table"] == "tled"])
    print("## Real time\n")
    print("| mesh | frames | real-time factor |\n| --- | --- | --- |")
    for r in frames:
        print(f"| {r['mesh']} | {r['name']} | {r['real_time_factor']:.2f} |")
    beside = [r for r in data["results"] if r["table"] == "tled, frames"]
    if beside:
        print("\n## Frames beside the steps\n")
        print("Displacements of all nodes through pinned memory into a sink that drops them, beside the steps (lib/tled/frames.h).\n")
        print("| mesh | nodes | frames | steps of one | s, without frames | s, with them | more |\n| --- | --- | --- | --- | --- | --- | --- |")
        for r in beside:
            f = r["frames"]
            print(f"| {r['mesh']} | {r['vertices']:,} | {f['count']} | {f['steps_of_one']} | {f['seconds_without']:.4f} | {r['seconds']['median']:.4f} | "
                  f"{100 * f['more_than_none']:.1f} % |")


def rewrite(path):
    """The page; nothing is written where a page that is there lacks the line of KEPT."""
    kept = ""
    if os.path.exists(path):
        with open(path) as f:
            text = f.read()
        at = text.find("\n" + KEPT + "\n")
        if at < 0:
            sys.exit(f"tled_results.py: {path}: has no line {KEPT}")
        kept = text[at:]
    made = io.StringIO()
    with contextlib.redirect_stdout(made):
        main()
    with open(path + ".new", "w") as f:
        f.write(made.getvalue() + kept)
    os.replace(path + ".new", path)


rewrite(sys.argv[2])
