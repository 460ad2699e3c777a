# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/rings.md from what `modalbench rings nbody --json FILE` measured. usage: format_rings.py RESULTS.json OUTPUT.md"""
import json
import pathlib
import sys

data = json.loads(pathlib.Path(sys.argv[1]).read_text())
rows, machine = data["results"], data["machine"]
side = "gpu" if "gpu" in machine else "cpu"
names = {row["side"] for row in rows if row["side"].startswith("cuda")} if side == "gpu" else {"cpu"}
rows = [row for row in rows if row["side"] in names]
DRAWN, PATCHES, FLOAT, FLOAT4 = ("geometry shader and blending, OpenGL", "instances of tessellated patches", "scatter in five passes, float",
                                 "scatter in five passes, float4")
WHY = {
    "packed ring": "one number a neighbour; a triangle is computed at each of its three vertices, nothing is written in between",
    "packed ring, records of 32 bytes": "position and normal of a vertex in one sector of memory: less to fetch where neighbours lie anywhere, more to write",
    "ring padded to the largest valence": "the same kernel over a table of one length: rows of nothing are read and passed over",
    "corners of a vertex, both neighbours": "each neighbour is read and projected twice, and a warp waits for its longest vertex",
    "blocks of 32": "positions of two rings and normals of one ring more are copied, and made, for every block (factors below)",
    "blocks of 128": "the same, fewer copies",
    "blocks of 256": "the same, fewer still; at random a block has no inside",
    "faces to memory, then gather": "a triangle once, but 48 bytes of it are written and read again",
    FLOAT4: "one atomic a corner (compute capability 9.0), in an order that changes from run to run, five launches",
    FLOAT: "four atomics a corner",
    DRAWN: "three passes (Griffin and others 2012; the thesis, 3.4); blending adds four floats a pixel at once, corners go through the rasteriser",
    "normals_corner alone": "part of the rows of the packed and padded ring and of the faces",
    "curvature_ring instead of _tensor": "another definition: one system of equations a vertex",
}


def micro(row):
    return 1e6 * row["seconds"]["median"] / row["columns"]


def plain(name):
    return name.split(", read x")[0]


def meshes():
    found = {}
    for row in rows:
        if row["table"].startswith("rings, "):
            found.setdefault(row["table"][len("rings, "):], {})[plain(row["name"])] = row
    return found


def table(out, heading, lines):
    out += ["| " + " | ".join(heading) + " |", "| --- " * len(heading) + "|", *("| " + " | ".join(line) + " |" for line in lines), ""]


def ring_tables(out):
    found = meshes()
    out.append("Microseconds a frame; `*`: the fastest that computes the same.\n")

    def cell(mesh, pattern):
        if pattern not in mesh:
            return "-"
        same = [micro(row) for name, row in mesh.items() if "relative_error" in row]
        star = " *" if "relative_error" in mesh[pattern] and micro(mesh[pattern]) == min(same) else ""
        return f"{micro(mesh[pattern]):.1f}{star}"

    lines = [[name, f"{next(iter(mesh.values()))['vertices']:,}", *(cell(mesh, pattern) for pattern in WHY)] for name, mesh in found.items()]
    columns = list(zip(["mesh", "vertices", *WHY], *lines))  # a mesh a column
    table(out, columns[0], columns[1:])
    out.append("Of each pattern the largest error of all these meshes (of k_max or k_min, over the 99 % quantile of |k|), its share of the bound,")
    out.append("and why the pattern takes what it takes:\n")
    lines = []
    for pattern, why in WHY.items():
        some = [mesh[pattern] for mesh in found.values() if pattern in mesh]
        errors = [row for row in some if "relative_error" in row]
        if some:
            lines.append([pattern, f"{max(row['relative_error'] for row in errors):.1e}" if errors else "",
                          f"{max(row['error_over_tolerance'] for row in errors):.2g}" if errors else "", why])
    table(out, ["pattern", "error", "of its bound", "why"], lines)
    out.append("How often blocks read a vertex, for the tensors alone and with the normals; the share of copy bandwidth that the packed ring reaches:\n")
    lines = []
    for name, mesh in found.items():
        factors = [row["name"].split("read ")[1] for row in rows if row["table"] == "rings, " + name and ", read x" in row["name"]]
        if factors:
            lines.append([name, *factors, f"{100 * mesh['packed ring'].get('share_of_copy', 0):.0f} %"])
    if lines:
        table(out, ["mesh", "blocks of 32", "of 128", "of 256", "of copy"], lines)


def ratio(mesh, pattern, other="packed ring"):
    return micro(mesh[pattern]) / micro(mesh[other]) if pattern in mesh and other in mesh else None


def answers(out):
    found = meshes()
    said = []
    for name in ("saddle 500k", "saddle 500k, irregular", "dragon's size"):
        if name in found and ratio(found[name], FLOAT):
            said.append(f"{name}: the scatter with float atomics takes {ratio(found[name], FLOAT):.1f} times as long as the packed "
                        f"ring, with float4 atomics {ratio(found[name], FLOAT4):.1f} times.")
    if "saddle 1M" in found:
        rate = 1e6 / micro(found["saddle 1M"]["packed ring"])
        said.append(f"Saddle of a million faces: {rate:,.0f} frames/s (the thesis: more than 120, by tessellation shaders).")
    drawn = {name: mesh for name, mesh in found.items() if DRAWN in mesh}
    slower = []  # than the best blocks
    for mesh in drawn.values():
        best = [micro(row) for name, row in mesh.items() if name.startswith("blocks")]
        slower += [micro(mesh[DRAWN]) / min(best)] if best else []
    if slower:
        said.append("\"Blending beats shared memory\" (the thesis, on a Titan X): blending takes "
                    f"{min(slower):.1f} to {max(slower):.1f} times as long as the best blocks.")
        if "H100" in machine[side]["hardware"] or "H200" in machine[side]["hardware"]:
            said.append("This chip is none for graphics: of its 66 pairs of multiprocessors two can run vertex, geometry and pixel shaders (NVIDIA H100 "
                        "architecture, 2022). What these rows answer is that drawing is no way to compute on it; on a card for graphics, "
                        "`modalbench rings nbody` asks again.")
    pairs = {}
    for row in rows:
        if row["table"] == "nbody":
            pairs.setdefault(row["vertices"], {})[row["name"]] = row
    few = {n: of[PATCHES] for n, of in pairs.items() if PATCHES in of}
    if few:
        times, published = (", ".join(f"{micro(row) / micro(pairs[n][other]):.1f} at {n:,}" for n, row in few.items() if other in pairs[n])
                            for other in ("pair_sum", "published, tiles of 32"))
        said.append(f"\"OpenGL wins for few bodies\": instances of patches take {times} times as long as `pair_sum`, and {published} times as long as the "
                    "published kernel with tiles of 32, which was the thesis's comparison.")
    out += [f"- {line}" for line in said] + [""]


def pair_lines(out):
    ours = {row["vertices"]: micro(row) for row in rows if row["table"] == "nbody" and row["ours"]}
    lines = []
    for row in rows:
        if row["table"] == "nbody":
            bound = f"{100 * row['share_of_bound']:.1f} %" if "share_of_bound" in row else ""
            lines.append([f"{row['vertices']:,}", row["name"], f"{micro(row):.1f}", f"{row['g_pairs_per_s']:,.0f}", bound,
                          f"{micro(row) / ours[row['vertices']]:.2f}", f"{row['error_over_tolerance']:.2g}"])
    table(out, ["bodies", "kernel", "µs", "G pairs/s", "share of the bound", "time over ours", "error over 2e-5 of what is added"], lines)


def main():
    about = machine[side]
    out = ["<!-- SPDX-License-Identifier: Apache-2.0 -->",
           "<!-- made by tests/bench/format_rings.py -->",
           "# How a vertex should look at its neighbours, and all pairs of bodies\n",
           "    modalbench rings nbody --json results.json\n    python3 tests/bench/format_rings.py results.json docs/results/rings.md\n",
           f"{about['hardware']}, {data['date'][:10]}{', quick' if data['quick'] else ''}; copy {about['copy_gb_per_s']:,.0f} GB/s. "
           "Medians of runs in one process.",
           "\nNormals and curvature tensors of every vertex, with four scalars and a direction out (docs/modalcurv.md), by every access",
           "pattern of the field. All of them compute the same definition, and each result is compared with float64 before it is timed; the",
           "bound is 2e-5 of the 99 % quantile of |k|, or where float32 numbers are added in any order (scatter, blending) what each vertex's",
           "number and size of terms allow (tests/bench/bench_rings.c). What loses is benchmark code (tests/bench/opponents/ring_patterns.cu,",
           "gl_curvature.c, gl_pairs.c).\n", "## What wins when\n"]
    answers(out)
    out.append("## Access patterns\n")
    ring_tables(out)
    out.append("## All pairs\n")
    out.append("`pair_sum` beside the published kernel (Nyland, Harris and Prins 2007: a body a thread, tiles of 256 or 32). The bound is what")
    out.append("float32 multiply-adds allow at 12 a pair, measured in the same run.\n")
    pair_lines(out)
    for absent in data.get("absent", []):
        out.append(f"Not measured: {absent['what']} ({absent['why']}).")
    pathlib.Path(sys.argv[2]).write_text("\n".join(out).rstrip() + "\n")


main()
