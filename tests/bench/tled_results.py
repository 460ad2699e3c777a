#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/results/tled.md from JSON of `modalbench tled`, of a GPU or of a processor: tled_results.py RESULTS.json docs/results/tled.md. They go
between the lines MADE (of that machine) and END; all else of the page is written by hand and stays."""
import contextlib
import io
import json
import os
import re
import sys

from tled_count import flops, moved

MADE = {"gpu": "<!-- made by tests/bench/tled_results.py: gpu -->", "cpu": "<!-- made by tests/bench/tled_results.py: cpu -->"}
END = "<!-- end of what is made -->"
LANES = 128        # float32 multiply-adds of a multiprocessor and cycle (compute capability 9.0)
RESIDENT = 130000  # tetrahedra that one launch steps at most
EXCHANGE = 1e-6    # s, a barrier of the grid, or an exchange through the L2 cache: once a step of one launch
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


def copy_seconds(copies, total):
    """Of so many bytes, read and written in all: between the sizes that were measured a straight line, beyond them at the last rate."""
    if total <= copies[0][0]:
        return copies[0][1]
    for (low, t), (high, u) in zip(copies, copies[1:]):
        if total <= high:
            return t + (u - t) * (total - low) / (high - low)
    return total / copies[-1][0] * copies[-1][1]


def step_of(row):
    """Seconds of a step: of a processor those of its own time, which neighbours do not lengthen much."""
    return row["processor_seconds"] / row["steps_of_a_call"] if "processor_seconds" in row else row["seconds_of_a_step"]


def shares(row, rows, data, side):
    """Bytes, operations, and shares of a step's time: what its bytes, its launches and its arithmetic would take at the least, each if it were all."""
    gpu = side == "gpu"
    machine, step, elements = data["machine"][side], step_of(row), row["elements"]
    copies = sorted((1e6 * float(r["name"].split()[1]), r["seconds"]["median"]) for r in data["results"]
                    if r["side"].startswith("cuda" if gpu else "cpu") and re.match(r"copy, .* MB in all", r["name"]))
    nbytes, operations = moved(row, gpu), flops(row["mesh"], row["way"], gpu)
    seconds = copy_seconds(copies, nbytes * elements)
    if not gpu:
        rate = max(flops(r["mesh"], r["way"], gpu) * r["elements"] / step_of(r) for r in rows if ("64" in r["way"]) == ("64" in row["way"]))
        return nbytes, operations, {"memory": seconds / step, "arithmetic": operations * elements / rate / step}
    resident = row["way"] == "tled_step" and "T4" in row["mesh"] and elements <= RESIDENT and "pressures" not in row["mesh"]
    clock = 1e6 * float(machine["clocks_and_power"].split()[0])
    rate = machine["multiprocessors"] * LANES * 2 * clock / (2 if "float64" in row["way"] else 1)
    launches = int(row["way"].split()[0]) + 1 if row["way"].endswith("colours") else 1 if row["way"].startswith(("one thread a node", "tled_step")) else 2
    if "pressures" in row["mesh"]:
        launches += 1
    return nbytes, operations, {"memory": 0 if resident else max(seconds - machine["launch_seconds"], 0) / step,
                                "launches": (EXCHANGE if resident else launches * machine["launch_seconds"]) / step,
                                "arithmetic": operations * elements / rate / step}


def limits(rows, data, side):
    """The limit that binds: the largest share, where that is at least two thirds of the time."""
    names = ["memory", "launches", "arithmetic"] if side == "gpu" else ["memory", "arithmetic"]
    print("| mesh | way | bytes an element | operations an element | GFLOP/s | " + " | ".join(names) + " | binds |")
    print("| --- | --- | --- | --- | --- |" + " --- |" * (len(names) + 1))
    for r in rows:
        if "GPU" in r["way"]:
            continue
        nbytes, operations, found = shares(r, rows, data, side)
        most = max(found, key=found.get)
        binds = most if found[most] >= 2 / 3 else "waiting" + (" for atomics" if "atomic" in r["way"] else "")
        print(f"| {r['mesh']} | {r['way']} | {nbytes:.0f} | {operations:.0f} | {1e-9 * operations * r['elements'] / step_of(r):,.0f} | "
              + " | ".join(f"{100 * found[n]:.0f} %" for n in names) + f" | {binds} |")
    print()


def thesis(rows):
    """Memory, copies and block sizes, as the thesis measures them."""
    copies = [r for r in rows if "copy" in r]
    if copies:
        print("### Memory and copies\n")
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
        print("### Block sizes\n")
        print("Each loop is timed by itself in calls of 200 steps. Loops of 3.5 to 4 us are as long as a launch: sizes matter only to node loops of "
              "few, large blocks.\n")
        print("| way, mesh | threads a block | element loop | registers | threads a multiprocessor | node loop | registers | threads |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for r in blocks:
            b = r["blocks"]
            print(f"| {b['way']}, {r['mesh']} | {b['size']} | {1e6 * b['element_loop_s']:.2f} us | {b['element_registers']} | {b['element_threads']} | "
                  f"{1e6 * b['node_loop_s']:.2f} us | {b['node_registers']} | {b['node_threads']} |")
        print()


def head(data, side, rows):
    machine = data["machine"][side]
    print(f"{machine['hardware']}, {data['date'][:10]}, `{'modalbench tled' if side == 'gpu' else 'modalbench tled --backend cpu'}`; copy "
          f"{machine['copy_gb_per_s']:,.0f} GB/s. Cubes of soft tissue (E = 3 kPa, nu = 0.45) under gravity, held below. Every way was compared with the "
          f"float64 reference first: largest error {max(r['error_over_tolerance'] for r in rows) * 5e-6:.1e} of the largest displacement (bound 5e-6). "
          f"Medians of {data['runs']} runs.\n")


def bounds(data, side, rows):
    print("### What bounds them\n")
    print("Bytes: every array that a step reads or writes, once; operations: counted by tests/bench/tled_count.py, a multiply-add is two. Shares of a step's "
          "time: the bytes at the rate of a copy of as many, "
          + ("less what a launch takes (none where one launch does all steps and the solid stays on the chip); the launches, each as long as an empty one (of one "
             f"launch for all steps: an exchange through L2, 1 us); the operations at {LANES} multiply-adds a multiprocessor and cycle, in float64 half of them. The "
             "largest binds where it is two thirds or more. Else threads wait: for shared memory, for one another, for atomics; no ceiling here counts that.\n"
             if side == "gpu" else "and the operations at the rate of the fastest row of the same arithmetic. The largest binds where it is two thirds or more, else the "
             "core waits for its caches.\n"))
    limits(rows, data, side)


def processor(data, rows):
    """Rates of a processor's time: neighbours take the clock's."""
    head(data, "cpu", rows)
    print("| way, mesh | 10^6 element steps a second of processor time |\n| --- | --- |")
    for r in rows:
        print(f"| {r['way']}, {r['mesh']} | {1e-6 * r['elements'] / step_of(r):.1f} |")
    print()
    bounds(data, "cpu", rows)


def main(data, side):
    rows = [r for r in data["results"] if r["table"] == "tled" and "way" in r]
    if side == "cpu":
        processor(data, rows)
        return
    frames = [r for r in data["results"] if r["table"] == "tled" and "real_time_factor" in r]
    head(data, side, rows)
    special = ("logarithmic", "StVK", "fibres", "term", "pressures")
    for name, keep in (("Tetrahedra", lambda m: "T4" in m and "random" not in m and not m.endswith(special)),
                       ("Random order", lambda m: "random" in m),
                       ("Other laws and elements", lambda m: "H8" in m or m.endswith(special))):
        print(f"### {name}\n")
        table([r for r in rows if keep(r["mesh"])])
    bounds(data, side, rows)
    for r in rows:
        if "element_loop" in r:
            print(f"{THESIS}, {r['mesh']}: {100 * r['element_loop']:.0f} % of the time in the element loop.\n")
    thesis([r for r in data["results"] if r["table"] == "tled"])
    print("### Real time\n")
    print("| mesh | frames | real-time factor |\n| --- | --- | --- |")
    for r in frames:
        print(f"| {r['mesh']} | {r['name']} | {r['real_time_factor']:.2f} |")
    beside = [r for r in data["results"] if r["table"] == "tled, frames"]
    if beside:
        print("\n### Frames beside the steps\n")
        print("Displacements of all nodes through pinned memory into a sink that drops them, beside the steps (lib/tled/frames.h).\n")
        print("| mesh | nodes | frames | steps of one | s, without frames | s, with them | more |\n| --- | --- | --- | --- | --- | --- | --- |")
        for r in beside:
            f = r["frames"]
            print(f"| {r['mesh']} | {r['vertices']:,} | {f['count']} | {f['steps_of_one']} | {f['seconds_without']:.4f} | {r['seconds']['median']:.4f} | "
                  f"{100 * f['more_than_none']:.1f} % |")


def rewrite(results, path):
    with open(results) as f:
        data = json.load(f)
    side = "gpu" if data["machine"].get("gpu") else "cpu"
    with open(path) as f:
        text = f.read()
    begin = text.find(MADE[side] + "\n")
    end = text.find(END, begin)
    if begin < 0 or end < 0:
        sys.exit(f"tled_results.py: {path}: has no lines {MADE[side]} and {END}")
    made = io.StringIO()
    with contextlib.redirect_stdout(made):
        main(data, side)
    with open(path + ".new", "w") as f:
        f.write(text[:begin] + MADE[side] + "\n\n" + made.getvalue().rstrip("\n") + "\n\n" + text[end:])
    os.replace(path + ".new", path)


rewrite(*sys.argv[1:3])
