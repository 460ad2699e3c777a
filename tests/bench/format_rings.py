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
WHY = {
    "packed ring": "one number a neighbour; a triangle is computed at each of its three vertices, nothing is written in between",
    "packed ring, records of 32 bytes": "position and normal of a vertex in one sector of memory: less to fetch where neighbours lie anywhere, more to write",
    "ring padded to the largest valence": "the same kernel over a table of one length: rows of nothing are read and computed",
    "corners of a vertex, both neighbours": "each neighbour is read and projected twice, and a warp waits for its longest vertex",
    "faces to memory, then gather": "a triangle once, but 48 bytes of it are written and read again",
    "scatter in five passes, float": "four atomics a corner, in an order that changes from run to run, and five launches",
    "scatter in five passes, float4": "one atomic a corner (compute capability 9.0)",
    "geometry shader and blending, OpenGL": "three passes (Griffin and others 2012; the thesis, 3.4); the blending units add, four floats a pixel at once",
    "normals_corner alone": "part of the packed, the padded and the gathered rows",
    "curvature_ring instead of _tensor": "another definition: one system of equations a vertex",
}
BLOCKS = "positions of two rings and normals of one ring more are copied, and made, for every block: the factors"


def micro(row):
    return 1e6 * row["seconds"]["median"] / row["columns"]


def tables():
    found = {}
    for row in rows:
        if row["table"].startswith("rings, "):
            found.setdefault(row["table"][len("rings, "):], []).append(row)
    return found


def ring_lines(out):
    for mesh, of_mesh in tables().items():
        ours = next(row for row in of_mesh if row["ours"])
        out.append(f"\n### {mesh[0].upper() + mesh[1:]}: {ours['vertices']:,} vertices\n")
        out.append("| pattern | µs a frame | of the packed ring | share of copy | error | of its bound | why |")
        out.append("| --- | --- | --- | --- | --- | --- | --- |")
        for row in of_mesh:
            same = row["name"] != "normals_corner alone"
            error = row.get("error_over_tolerance")
            errors = "| " if error is None else f"{row['relative_error']:.1e} | {error:.2g}"
            out.append(f"| {row['name']} | {micro(row):.1f} | {micro(row) / micro(ours):.2f} | "
                       f"{100 * row.get('share_of_copy', 0):.0f} % | {errors} | "
                       f"{WHY.get(row['name'], BLOCKS if 'blocks' in row['name'] else '')} |" if same else
                       f"| {row['name']} | {micro(row):.1f} | {micro(row) / micro(ours):.2f} | | | | {WHY[row['name']]} |")
        if mesh.startswith("saddle 1M"):
            out.append(f"\n{1e6 / micro(ours):,.0f} frames/s (the thesis: more than 120, by tessellation shaders).")


def pair_lines(out):
    out.append("| bodies | kernel | µs | G pairs/s | share of the bound | time over ours |")
    out.append("| --- | --- | --- | --- | --- | --- |")
    ours = {row["vertices"]: micro(row) for row in rows if row["table"] == "nbody" and row["ours"]}
    for row in rows:
        if row["table"] == "nbody":
            bound = f"{100 * row['share_of_bound']:.1f} %" if "share_of_bound" in row else ""
            out.append(f"| {row['vertices']:,} | {row['name']} | {micro(row):.1f} | {row['g_pairs_per_s']:,.0f} | {bound} | "
                       f"{micro(row) / ours[row['vertices']]:.2f} |")


def main():
    about = machine[side]
    out = ["<!-- SPDX-License-Identifier: Apache-2.0 -->",
           "<!-- made by tests/bench/format_rings.py -->",
           "# How a vertex should look at its neighbours, and all pairs of bodies\n",
           f"    modalbench rings nbody --json results.json\n    python3 tests/bench/format_rings.py results.json docs/results/rings.md\n",
           f"{about['hardware']}, {data['date'][:10]}{', quick' if data['quick'] else ''}; copy {about['copy_gb_per_s']:,.0f} GB/s. Medians of runs in one process.",
           "\nNormals and curvature tensors of every vertex, with four scalars and a direction out (docs/modalcurv.md), by every access",
           "pattern of the field. All of them compute the same definition, and each result is compared with float64 before it is timed; the",
           "error is the largest difference of k_max or k_min over the 99 % quantile of |k|; its bound 2e-5, or where float32 numbers are added",
           "in any order (scatter, blending) what each vertex's number and size of terms allow (tests/bench/bench_rings.c). Bytes are those",
           "that must be moved: positions, one packed ring, outputs. The tables and kernels that lose are benchmark code alone",
           "(tests/bench/opponents/ring_patterns.cu, gl_curvature.c).\n", "## Access patterns"]
    ring_lines(out)
    out.append("\n## All pairs\n")
    out.append("`pair_sum` beside the published kernel (Nyland, Harris and Prins 2007: a body a thread, tiles of 256 or 32). The bound is what")
    out.append("float32 multiply-adds allow at 12 a pair, measured in the same run.\n")
    pair_lines(out)
    pathlib.Path(sys.argv[2]).write_text("\n".join(out) + "\n")


main()
