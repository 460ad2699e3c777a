# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/gpu.md from what `modalbench uq multi batch frame pipeline --json FILE` measured, in one process or in several (measure_gpu.sh: three for
results that are kept): of several the median of their medians, the least and the most of all.

Stops where a rate is above what any copy on that device reaches, hot ones included: then the bytes are counted wrong. Puts no
ratio beside a row whose bytes are not those of ours: it did other work.

usage: format_results.py RESULTS.json... OUTPUT.md"""
import json
import pathlib
import re
import statistics
import sys

*sources, target = (pathlib.Path(a) for a in sys.argv[1:])
runs = [json.loads(source.read_text()) for source in sources]
data = runs[0]
rows = data["results"]
machine = data["machine"]
SAME = ("table", "side", "name", "vertices", "modes", "columns", "objects", "bytes")
EQUAL_BYTES = 0.02  # columns of a matrix of 4 are padded in some layouts, bytes are those of the numbers
ABOVE_CEILING = 1.05


def merge(others):
    """Rows of several processes become one each."""
    for row, *more in zip(rows, *(run["results"] for run in others)):
        if any(row[key] != other[key] for other in more for key in SAME):
            sys.exit(f"format_results: the runs do not have the same rows: {row['table']}, {row['name']}")
        times = [r["seconds"] for r in (row, *more)]
        before = times[0]["median"]
        times[0].update(median=statistics.median(t["median"] for t in times), least=min(t["least"] for t in times),
                        most=max(t["most"] for t in times))
        for key in ("gb_per_s", "share_of_copy", "share_of_copy_as_large"):
            if row.get(key):
                row[key] *= before / times[0]["median"]


def check_rates():
    """No method moves its bytes faster than the fastest copy (or read, or write) of any size."""
    for side in {row["side"] for row in rows}:
        ceiling = max((r["gb_per_s"] for r in rows if r["table"] == "ceilings" and r["side"] == side and r.get("gb_per_s")),
                      default=None)
        for row in rows:
            if ceiling and row["side"] == side and row.get("gb_per_s", 0) > ABOVE_CEILING * ceiling and not data["quick"]:
                sys.exit(f"format_results: {row['table']}: {row['name']}: {row['gb_per_s']:.0f} GB/s, where no copy has more "
                         f"than {ceiling:.0f}: the bytes are counted wrong")


def compare():
    """times_ours, beside the row of ours before it, where both have the same bytes."""
    ours = {}
    for row in rows:
        place = row["table"], row["side"], row["objects"]
        row.pop("times_ours", None)
        if row["ours"]:
            ours[place] = row
        elif place in ours and ours[place]["bytes"] and abs(row["bytes"] / ours[place]["bytes"] - 1) <= EQUAL_BYTES:
            row["times_ours"] = row["seconds"]["median"] / ours[place]["seconds"]["median"]


merge(runs[1:])
check_rates()
compare()
PAPER = {  # table 4, ms: GPU Uq, cuBLAS Uq, GPU T
    43: ("Conifer", 0.16, 0.46, 0.26), 237: ("Peach tree", 0.61, 2.52, 0.53),
    419: ("Broad-leaved tree", 0.29, 4.41, 0.75), 2866: ("Eastern hemlock", 0.47, 21.24, 1.02),
    2875: ("Treesketch", 0.29, 22.90, 0.33)}
PLANTS = [p[0] for p in PAPER.values()]


def number(value):
    """Three figures, or all of a large number."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def microseconds(row):
    t = row["seconds"]
    return f"{number(1e6 * t['median'])} ({number(1e6 * t['least'])}-{number(1e6 * t['most'])})"


def share(row):
    return f"{100 * row['share_of_copy']:.0f} %" if row.get("share_of_copy") else ""


def share_as_large(row):
    return f"{100 * row['share_of_copy_as_large']:.0f} %" if row.get("share_of_copy_as_large") else ""


def rate(row):
    return number(row["gb_per_s"]) if row.get("gb_per_s") else ""


def table(headings, lines):
    yield "| " + " | ".join(headings) + " |"
    yield "|" + " --- |" * len(headings)
    for line in lines:
        yield "| " + " | ".join(map(str, line)) + " |"
    yield ""


def of(name, gpu=None):
    return [r for r in rows if r["table"] == name
            and (gpu is None or (r["side"] != "cpu") == gpu)]


def bold(row, text):
    return f"**{text}**" if row["ours"] else text


def plain(name, gpu=None):
    """A line a row: who, sizes, time, rate, share, times ours."""
    lines = []
    for r in of(name, gpu):
        ratio = "" if r["ours"] or "times_ours" not in r else f"{r['times_ours']:.2f}"
        lines.append((bold(r, r["name"]), "cpu" if r["side"] == "cpu" else "gpu", r["vertices"] or "",
                      f"{r['modes']:.3g}" if r["modes"] else "", r["columns"] or "", microseconds(r), rate(r),
                      share(r), share_as_large(r), ratio))
    return table(("", "on", "vertices", "modes", "columns", "us (least-most)", "GB/s", "of copy", "of its size",
                  "x ours"), lines)


def table_5():
    names = [("modal_sum", True), ("modal_sum, hot", True), ("paper 4.1", True),
             ("cublasSgemv, row-major", True), ("cublasSgemv, column-major", True), ("modal_sum", False),
             ("OpenBLAS sgemv, row-major", False), ("OpenBLAS sgemv, column-major", False)]
    found = {}
    for r in of("table 5"):
        found.setdefault((r["vertices"], int(r["modes"])), {})[r["name"], r["side"] != "cpu"] = r
    names = [n for n in names if any(n in f for f in found.values())]
    lines = []
    for (n, r), f in sorted(found.items()):
        cells = [bold(f[k], number(1e6 * f[k]["seconds"]["median"])) if k in f else "" for k in names]
        cpu = [v["seconds"]["median"] for k, v in f.items() if not k[1]]
        ours = f.get(("modal_sum", True))
        ratio = f"{min(cpu) / ours['seconds']['median']:.1f}" if ours and cpu else ""
        shown = ours or f["modal_sum", False]
        lines.append((n, r, *cells, share(shown), share_as_large(shown), ratio))
    heads = [f"{'gpu' if gpu else 'cpu'} {name}" for name, gpu in names]
    return table(("vertices", "r", *heads, "ours, of copy", "of its size", "best CPU / GPU"), lines)


def plants():
    groups = {}
    for r in of("table 3 and 4"):
        groups.setdefault((r["objects"], r["vertices"]), []).append(r)
    for (name, (key, group)) in zip(PLANTS, groups.items()):
        objects, vertices = key
        paper = {p[0]: p for p in PAPER.values()}[name]
        yield (f"### {name}: {objects} objects, {vertices} vertices, {group[0]['modes']:.1f} modes an object "
               f"on average")
        yield (f"The paper (RTX 2080 Ti): Uq {paper[1]} ms, cuBLAS {paper[2]} ms, transform {paper[3]} ms.")
        yield ""
        yield from table(("", "on", "us (least-most)", "GB/s", "of copy", "of its size", "x ours"),
                         [(bold(r, r["name"]), "cpu" if r["side"] == "cpu" else "gpu", microseconds(r), rate(r),
                           share(r), share_as_large(r), f"{r['times_ours']:.2f}" if "times_ours" in r else "") for r in group])


def of_datasheet(gpu):
    sheet = gpu.get("datasheet_gb_per_s")
    return f", {100 * gpu['copy_gb_per_s'] / sheet:.0f} % of the datasheet's {sheet:.0f}" if sheet else ""


def document():
    gpu, cpu = machine.get("gpu"), machine["cpu"]
    command = re.sub(r"\S*/", "", data["command"])  # folders are the machine's own matter
    yield "# Speed of the deformer"
    yield ""
    yield ("Written by `tests/bench/format_results.py` from the JSON of `modalbench`; do not edit. Repeat: "
           "`modalbench uq multi batch frame pipeline --json results.json --force && python3 tests/bench/format_results.py results.json "
           "docs/results/gpu.md`")
    yield ""
    yield f"- date: {data['date'][:10]}, modalbench {data['version']}, `{command}`"
    if data["quick"]:
        yield "- **quick mode: small sizes, few runs; these are no results**"
    if gpu:
        yield (f"- GPU: {gpu['hardware']}, {gpu['l2_bytes'] / 2**20:.0f} MiB of L2, CUDA "
               f"{gpu['cuda_runtime'] // 1000}.{gpu['cuda_runtime'] % 1000 // 10} (driver "
               f"{gpu['cuda_driver'] // 1000}.{gpu['cuda_driver'] % 1000 // 10}), {gpu['cublas']}; copy "
               f"{gpu['copy_gb_per_s']:.0f} GB/s (read + written){of_datasheet(gpu)}; launch floor "
               f"{1e6 * gpu['launch_seconds']:.1f} us")
        if gpu.get("clocks_and_power"):
            yield (f"- at the end of the run: multiprocessors' clock, its limit, memory's clock, power, its limit: "
                   f"{gpu['clocks_and_power']}")
    yield (f"- CPU: {cpu['hardware']}, {machine['openblas'].strip()}; copy {cpu['copy_gb_per_s']:.0f} GB/s "
           "(read + written)" + "".join(f", {k}={v}" for k, v in machine["environment"].items()))
    for a in data["absent"]:
        yield f"- not measured: {a['what']} ({a['why']})"
    yield ""
    processes = f", medians of {len(runs)} processes" if len(runs) > 1 else ""
    yield (f"Medians of {data['runs']} runs after warm-ups{processes}, with the least and the most in brackets; on the GPU "
           "between events around as many calls as fill 200 us, so small sizes include the launch. Bytes are "
           "each input read once and each output written once, whatever a method really moves; 'of copy' "
           "compares them with the measured copy of the same device, 'of its size' the time with that of a copy "
           "which reads and writes as many bytes in all, from memory, as often (between the sizes of the table: "
           "linear): what the device can do at that size, launch included. Modal matrices are read in turn from "
           "several hundred megabytes or more and are cold; everything else is as it is left by the call "
           "before. **Bold** is ours; 'x ours' says how many times as long an opponent takes, where it does the same "
           "work: as many bytes. All inputs are random. Every result was compared with the reference back end before it was timed: |error| <= "
           "2 (r + 2) 2^-24 sum |U||q| for products (2^-11 for TF32), 2e-5 for a component of a normal.")
    yield ""
    for name, title, text in [
            ("ceilings", "Ceilings", None),
            ("table 1", "Table 1: products a thread",
             "The paper's kernel of section 4.1 with k products a thread, in its layout. The paper's own times "
             "for k = 4 (0.138 and 0.255 ms) would need 1.4 TB/s for a million vertices, more than its RTX "
             "2080 Ti has; perhaps it counts degrees of freedom.")]:
        if of(name):
            yield f"## {title}"
            if text:
                yield text
                yield ""
            yield from plain(name)
    if of("table 2"):
        yield "## Table 2: dynamic normals, and whole frames"
        yield ("A closed mesh of the size of the paper's dragon (its times: CPU 7.1 ms and 4.7 ms of transfer, one "
               "stage 10.5 ms, two stages 6.1 ms). Its positions and tables fit the L2 cache of a large GPU, as "
               "they do within a frame. First along the grid, then in random order of vertices and triangles.")
        yield ""
        for name in ("table 2", "table 2, random order", "frame", "frame, random order", "operations"):
            if of(name):
                yield f"### {name}"
                yield from plain(name)
    if of("table 3 and 4"):
        yield "## Tables 3 and 4: scenes of many objects"
        yield ("Objects, vertices and modes in all as in the paper, mixed around the means by a fixed rule. Ours is "
               "U q and the transform in one launch; the others are U q alone, but for 4.3 + 4.4. Chunks 6,8 (1) "
               "and (2) are the two rows of table 3's notes; with ranks this near their mean some sizes do "
               "not occur. cuBLAS's batched calls work on our tiles, a matrix of 96 rows each.")
        yield ""
        yield from plants()
    if of("table 5"):
        yield "## Table 5: one object, microseconds"
        yield from table_5()
    if of("batch"):
        yield "## Many frames at once"
        yield from plain("batch")
    if of("pipeline"):
        yield "## The deformer end to end"
        yield ("From reduced coordinates to positions and normals of all frames (columns) in main memory, and into "
               "a file that is synced; bytes are those of the frames.")
        yield ""
        yield from plain("pipeline")
        yield from shares()
    if of("bus"):
        yield "## The bus, by kinds of main memory"
        yield ("4 MB of reduced coordinates up, which the processor writes first, and 128 MB of frames down; encoded (`--precision`) "
               "values are written into main memory by the kernel that makes them. Bytes are those of the floats.")
        yield ""
        yield from plain("bus")


def shares():
    """What the headlines are of the run that a user sees: the same mesh and modes, a frame of many."""
    def seconds(table, name, columns):
        found = [r for r in rows if r["side"] != "cpu" and r["table"] == table and r["name"] == name and r["columns"] == columns]
        return found[0]["seconds"]["median"] / columns if found else None

    frames = max((r["columns"] for r in of("pipeline", True) if "synced" in r["name"]), default=0)
    run = next((r["seconds"]["median"] / r["columns"] for r in of("pipeline", True)
                if r["name"] == "deformer into sequence.vtkhdf, synced"), None)
    if not run:
        return
    parts = [("kernels: the product, positions and normals in the user's order, 16 frames at once",
              seconds("operations", "deform + normals_placed, gathered", 16)),
             ("the product alone", seconds("operations", "deform", 16)),
             ("frames in main memory: kernels and the bus at once", seconds("pipeline", "deformer, frames in main memory", 128)),
             ("as many bytes written by a plain loop, synced", seconds("pipeline", "plain write and fsync, same bytes", 128)),
             ("the run: a file, synced", run)]
    yield ""
    yield f"Shares of the run that a user sees ({frames} frames of the dragon's size on the GPU, into a file):"
    yield ""
    yield "| | us a frame | share of the run |"
    yield "| --- | --- | --- |"
    for name, time in parts:
        if time:
            yield f"| {name} | {1e6 * time:.0f} | {100 * time / run:.1f} % |"
    yield ""


target.parent.mkdir(parents=True, exist_ok=True)
target.write_text("\n".join(document()).rstrip() + "\n")
