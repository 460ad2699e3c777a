#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/seeds.md: every table and figure with numbers of the five published sources (tests/bench/seeds/published.json, transcribed), and ours in
the same rows. Ours are those of `modalbench uq multi frame --backend cuda --json FILE`; docs/results/seeds.json is one, less the parts that are not used. Without FILE, ours are those of
docs/results/gpu.md, which format_results.py made of such files. Plants, curvature, bodies and soft cubes: the tables of plants.md, rings.md, tled.md and octree.md, made of modalbench's JSON, too.
What was not measured is said to be so.
usage: seeds.py [FILE.json] OUTPUT.md"""
import json
import pathlib
import re
import sys

results = pathlib.Path(__file__).resolve().parents[2] / "docs/results"
published = json.loads((pathlib.Path(__file__).parent / "seeds/published.json").read_text())
*given, target = sys.argv[1:]
NONE = "not measured"
OBJECTS = {"Conifer (single)": 43, "Peach tree": 237, "Broad-leaved tree": 419, "Eastern hemlock": 2866, "Treesketch": 2875}
CHUNKS = {"8": "chunks 8", "6,8 (1)": "chunks 6,8 (1)", "6,8 (2)": "chunks 6,8 (2)", "5,6,7,8": "chunks 5,6,7,8"}


def number(value):
    return NONE if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def table(headings, lines):
    def text(x):
        return f"{x:,}" if isinstance(x, int) else str(x)
    yield "| " + " | ".join(map(text, headings)) + " |"
    yield "|" + " --- |" * len(headings)
    for line in lines:
        yield "| " + " | ".join(map(text, line)) + " |"
    yield ""


def cells(page, heading, end="\n#"):
    """Rows of the tables of a section, as lists of texts."""
    text = (results / page).read_text(encoding="utf-8")
    if heading not in text:
        sys.exit(f"seeds: {page} has no {heading!r}")
    section = text.split(heading, 1)[1].split(end, 1)[0]
    return [[c.strip().strip("*") for c in line.strip().strip("|").split("|")] for line in section.split("\n") if line.startswith("|") and not line.startswith("| ---")]


def first(text):
    found = re.match(r"[\d.,]+", text)
    return float(found[0].replace(",", "")) if found else None


class Pages:
    """Microseconds, of gpu.md."""
    what = "docs/results/gpu.md"
    machine = "NVIDIA H200 and 16 threads of an Intel Xeon (Cooperlake or later)"

    def named(self, name, side, n=None, r=None, objects=None, where="table 1"):
        heading = {"table 1": "## Table 1", "table 2": "### table 2\n", "frame": "### frame\n"}.get(where)
        if objects:
            plant = next(k for k, v in OBJECTS.items() if v == objects).replace(" (single)", "")
            rows = cells("gpu.md", f"### {plant}: {objects} objects")
            return next((first(row[2]) for row in rows if row[0].strip("*").startswith(name) and row[1] == side), None)
        if where in ("16 bits", "interop", "thesis, table 4.4"):
            return None
        rows = cells("gpu.md", heading)
        return next((first(row[5]) for row in rows if row[0].strip("*") == name and row[1] == side and (r is None or row[3] == str(r))), None)

    def single(self, n, r, where):
        """(ours on the GPU, the paper's kernel, cuBLAS at best, ours on the CPU, OpenBLAS at best)."""
        if where != "table 5":
            return [None] * 5
        for row in cells("gpu.md", "## Table 5"):
            if row[:2] == [str(n), str(r)]:
                v = [first(c.strip("*")) for c in row]
                return [v[2], v[4], min(v[5:7]), v[7], min(v[8:10])]
        return [None] * 5

    def relative(self, r, half):
        return None


class Measured:
    """The same, of modalbench's JSON."""
    def __init__(self, path):
        self.data = json.loads(pathlib.Path(path).read_text())
        m = self.data["machine"]
        self.what = f"`{self.data['command']}`, {self.data['date'][:10]}"
        self.machine = f"{m['gpu']['hardware'] if 'gpu' in m else 'no GPU'}; {m['cpu']['hardware']}; {m['openblas']}"

    def find(self, where, side, name, **keys):
        for row in self.data["results"]:
            if row["table"] == where and (row["side"] == "cpu") == (side == "cpu") and row["name"].startswith(name) and all(row[k] == v for k,
                    v in keys.items()):
                return row

    def named(self, name, side, n=None, r=None, objects=None, where="table 1"):
        keys = {k: v for k, v in (("modes", r), ("vertices", n), ("objects", objects)) if v is not None}
        row = self.find("table 3 and 4" if objects else where, side, name, **keys)
        return 1e6 * row["seconds"]["median"] if row else None

    def single(self, n, r, where):
        ways = [("gpu", ["modal_sum"]), ("gpu", ["paper 4.1"]), ("gpu", ["cublasSgemv, row-major", "cublasSgemv, column-major"]), ("cpu", ["modal_sum"]),
                ("cpu", ["OpenBLAS sgemv, row-major", "OpenBLAS sgemv, column-major"])]
        out = []
        for side, names in ways:
            times = [self.named(name, side, n, r, where=where) for name in names]
            out.append(min((t for t in times if t is not None), default=None))
        return out

    def relative(self, r, half):
        row = self.find("16 bits", "gpu", "a modal" if half else "modal_sum", modes=r)
        return row.get("relative_error") if row else None


ours = Measured(given[0]) if given else Pages()


def source(key):
    p = published[key]
    return f"{p['source']}, {p['place']}"


def plants(origin):
    """{name: cells} of plants.md, on the H200."""
    rows = cells("plants.md", "## NVIDIA H200", "\nTreesketch's shadow")
    return {re.sub(r" \(24.*", "", row[0]): row for row in rows if origin in row[1]}, {re.sub(r" \(24.*", "",
            row[0]): row for row in cells("plants.md", "## AMD EPYC", "\nWhile as many") if origin in row[1]}


def ratio(a, b):
    return NONE if a is None or b is None else f"{a / b:.3g}"


def paper():
    yield f"## 2020: {published['paper 1']['source']}"
    yield ""
    yield ("RTX 2080 Ti, 28 cores of a Xeon W-3275. A row has the published number, then ours on the machine above. The published milliseconds of "
           "one object would need more than that card's bandwidth if n counts vertices; perhaps it counts degrees of freedom (gpu.md).")
    yield ""
    yield "### Table 1: products a thread, ms"
    yield ""
    lines = []
    for r, values in published["paper 1"]["rows"].items():
        lines.append([f"r = {r}, published", *values, ""])
        times = [ours.named(f"paper 4.1, k = {k}", "gpu", 1000000, int(r)) for k in published["paper 1"]["columns"]]
        mine = ours.named("modal_sum", "gpu", 1000000, int(r))
        lines.append([f"r = {r}, its kernel here", *(number(t and t / 1e3) for t in times), number(mine and mine / 1e3)])
    yield from table(["k", *published["paper 1"]["columns"], "modal_sum"], lines)
    yield "### Table 2: normals of the dragon, ms"
    yield ""
    t = {k: ours.named(n, s, where="table 2") for k, (n, s) in {"CPU, computing": ("normals_dynamic", "cpu"),
            "CPU, transfer": ("the CPU's normals to the GPU (pinned)", "gpu"),
         "GPU, one stage": ("paper 4.2, one stage", "gpu"), "GPU, two stages": ("paper 4.2, two stages", "gpu")}.items()}
    yield from table(["", "published", "here"], [[k, v, number(t[k] and t[k] / 1e3)] for k, v in published["paper 2"]["rows"].items()]
                     + [["GPU, ours (normals_dynamic)", "", number(ours.named("normals_dynamic", "gpu",
                             where="table 2") and ours.named("normals_dynamic", "gpu", where="table 2") / 1e3)]])
    yield "### Table 3: sizes of chunks, ms of U q"
    yield ""
    lines = []
    for name, values in published["paper 3"]["rows"].items():
        lines.append([f"{name}, published", *values, ""])
        times = [ours.named(f"paper 4.3, {CHUNKS[c]}", "gpu", objects=OBJECTS[name]) for c in published["paper 3"]["columns"]]
        mine = ours.named("deform_objects", "gpu", objects=OBJECTS[name])
        lines.append([f"{name}, its kernels here", *(number(t and t / 1e3) for t in times), number(mine and mine / 1e3)])
    yield from table(["chunks", *published["paper 3"]["columns"], "deform_objects (with the transform)"], lines)
    yield "### Table 4: many objects"
    yield ""
    yield ("q: a step of all reduced coordinates; ours is of St. Venant-Kirchhoff's law with wind, on the GPU, then on a CPU (plants.md: one thread, "
           "busy machine). U q and T are one launch of ours; its CPU columns without and with q stepped at the same time are one thread's.")
    yield ""
    gpu, cpu = plants("table 4")
    lines = []
    for name, v in published["paper 4"]["rows"].items():
        g, c, w = gpu.get(name), cpu.get(name), cpu.get(f"{name}, while q is stepped")
        mine = ours.named("deform_objects", "gpu", objects=OBJECTS[name])
        batched = [ours.named(f"cublas{k}", "gpu", objects=OBJECTS[name]) for k in ("Sgemv in a loop", "SgemvBatched", "SgemmGroupedBatched")]
        blas = min((t for t in batched if t is not None), default=None)
        both = lambda row: NONE if row is None else number(first(row[6]) + first(row[7]))
        lines += [[f"{name}, published", *v[:4], v[4], f"{v[5]} + {v[7]}", f"{v[6]} + {v[8]}", v[9], f"{v[10]} + {v[12]}", v[11], v[13], v[14], v[15]],
                  [f"{name}, here", *v[:4], f"{g[5]}; CPU {c[5]}", both(c), both(w), c[12] if len(c) > 12 else NONE, number(mine and mine / 1e3),
                          number(blas and blas / 1e3), g[12], g[15], 1]]
    yield from table(["", "objects", "all", "n", "r", "q, ms", "CPU U q + T, ms", "the same while q is stepped", "CPU frames/s", "GPU U q + T, ms",
            "cuBLAS U q at best, ms", "GPU frames/s", "MB", "kernels"], lines)
    yield ("MB of ours holds the forest, the deformer and pictures of 1920 x 1080, and the CUDA context's buffers; the published one the deformer "
           "alone. Frames/s of ours are those of step and picture together.")
    yield ""
    yield "### Table 5: CPU over GPU, one object"
    yield ""
    yield ("Published: MKL with 56 threads over its kernel. Ours: the best of our CPU code and OpenBLAS over modal_sum, cold. OpenBLAS chooses its "
           "kernels by the processor's name; where it says Prescott it took those without AVX.")
    yield ""
    lines = []
    for r, values in published["paper 5"]["rows"].items():
        here = [ours.single(n, int(r), "table 5") for n in published["paper 5"]["columns"]]
        lines += [[f"r = {r}, published", *values], [f"r = {r}, here", *(ratio(None if t[3] is None else min(x for x in t[3:5] if x is not None),
                t[0]) for t in here)],
                  [f"r = {r}, here, us of modal_sum; of its kernel", *(f"{number(t[0])}; {number(t[1])}" for t in here)]]
    yield from table(["vertices", *published["paper 5"]["columns"]], lines)
    yield "### Figures 1 and 9 to 14"
    yield ""
    f = published["paper figures"]["rows"]
    dragon, forest = gpu_figure("Dragon"), gpu_figure("Forest")
    frame = ours.named("deform + normals_dynamic", "gpu", where="frame")
    here = {"1": f"{forest[12]} frames/s with steps, shadows and pictures on the H200; q {forest[5]} ms a step, U q and transform {float(forest[6]) + float(forest[7]):.3g} ms",
            "9": "deform_objects has no chunks: a warp has 32 vertices of one object, whatever r", "10": "positions are transformed where they are summed, in registers (kernels/deform_objects)",
            "11": "the same; modaldeform streams U where it does not fit (docs/modaldeform.md)", "12": f"{gpu['Eastern hemlock'][12]} frames/s; q {gpu['Eastern hemlock'][5]} ms",
            "13": f"{dragon[12]} frames/s (a torus of 455,625 vertices); q {dragon[5]} ms; U q, transform and normals {number(frame and frame / 1e3)} ms", "14": "docs/gallery.md, tests/bench/draw_render.py"}
    yield from table(["figure", "published", "here"], [[k, f[k], here[k]] for k in f])


def gpu_figure(name):
    gpu, _ = plants("paper, figure")
    return next(v for k, v in gpu.items() if k.startswith(name))


def thesis():
    yield f"## 2015: {published['thesis 4.4']['source']}"
    yield ""
    yield "GeForce GTX 680, two Xeon E5-2690 (16 threads)."
    yield ""
    yield "### Table 4.4: CPU over GPU, one domain"
    yield ""
    lines = []
    for r, values in published["thesis 4.4"]["rows"].items():
        here = [ours.single(n, int(r), "thesis, table 4.4") for n in published["thesis 4.4"]["columns"]]
        lines += [[f"r = {r}, published", *values], [f"r = {r}, here", *(ratio(t[3], t[0]) for t in here)],
                  [f"r = {r}, here, us on the GPU; the CPU", *(NONE if t[0] is None else f"{number(t[0])}; {number(t[3])}" for t in here)]]
    yield from table(["vertices", *published["thesis 4.4"]["columns"]], lines)
    yield "Published: OpenMP over its kernel. Ours: the same operation, modal_sum, on both, each by its own kernel."
    yield ""
    yield "### Tables 4.5 to 4.7: twelve species"
    yield ""
    yield ("Ours have as many domains and modes (tests/bench/grow_plants.py), fewer vertices; v' and u of the thesis are of its unfolded meshes, "
           "which we do not need. vbr: vertices and rendering; ours is transform, normals, shadow and picture. k: CPU over GPU; O: share of the "
           "frame.")
    yield ""
    gpu, cpu = plants("table 4.6")
    lines = []
    for name, a in published["thesis 4.5"]["rows"].items():
        b, k = published["thesis 4.6"]["rows"][name], published["thesis 4.7"]["rows"][name]
        g, c = gpu.get(name), cpu.get(name)
        lines.append([f"{name}, published", *a, b[0], b[3], b[1], b[4], b[2], f"{b[6]} (vertices {b[5]})", b[7], b[8], *k])
        if not g or not c:
            lines.append([f"{name}, here", *[NONE] * 22])
            continue
        uq = [float(first(row[6])) + float(first(row[7])) for row in (c, g)]
        vbr = [sum(float(first(x)) for x in row[8:11]) for row in (c, g)]
        whole = [uq[i] + vbr[i] + float(first(row[5])) for i, row in enumerate((c, g))]
        fps = [first(c[12]), first(g[12])]
        lines.append([f"{name}, here", int(first(g[3])), "", "", int(first(g[2])), a[4], int(first(g[4])), "", c[12], g[12], number(uq[0]),
                number(uq[1]), number(vbr[0]),
                      number(vbr[1]), g[15], 1, ratio(*uq), ratio(*vbr), ratio(fps[1], fps[0]), *(f"{100 * uq[i] / whole[i]:.2f}" for i in (0,
                              1)), *(f"{100 * vbr[i] / whole[i]:.1f}" for i in (0, 1))])
    yield from table(["", "v", "f", "v'", "d", "d'", "r", "u", "CPU frames/s", "GPU frames/s", "U q CPU, ms", "U q GPU, ms (ours with the transform)",
            "vbr CPU, ms", "vbr GPU, ms", "MB", "kernels of U q",
                      "k_uq", "k_vbr", "k_fps", "O_uq CPU, %", "GPU, %", "O_vbr CPU, %", "GPU, %"], lines)
    yield "The CPU's rows are of one thread of a machine that others used, the thesis's of sixteen: their ratios say little of either."
    yield ""


def camillo():
    yield f"## 2018: {published['camillo']['source']}"
    yield ""
    yield "Its curves have no numbers in the text. Ours, with numbers: rings.md."
    yield ""
    rings = cells("rings.md", "## Access patterns", "\nOf each pattern")
    pick = {row[0]: row for row in rings}
    head = pick["mesh"]
    sizes = [i for i, name in enumerate(head) if name in ("saddle 200k", "saddle 300k", "saddle 400k", "saddle 500k", "saddle 1M")]
    yield "### Figures 9 to 11: curvature tensors of a saddle, us"
    yield ""
    curves = [("shared memory (CUDA; blocks of 256)", "blocks of 256"), ("geometry shader and blending (OpenGL)",
            "geometry shader and blending, OpenGL"), ("ours: packed ring", "packed ring")]
    yield from table(["", *(head[i] for i in sizes)], [[name, *(pick[row][i].strip(" *") for i in sizes)] for name,
            row in curves] + [["tessellation shader (OpenGL)", *[NONE] * len(sizes)]])
    yield "The thesis's own way, the tessellation shader, is not written again: its figures have it slower than shared memory on every card. Figure 11's number, more than 120 frames/s at a million faces, is passed by the packed ring " \
          f"({1e6 / first(pick['packed ring'][sizes[-1]]):,.0f} frames/s)."
    yield ""
    yield "### Figures 19 to 21: all pairs of bodies, frames/s"
    yield ""
    pairs = [row for row in cells("rings.md", "## All pairs") if row[0][:1].isdigit()]
    bodies = list(dict.fromkeys(row[0] for row in pairs))
    ways = ["published, tiles of 256", "published, tiles of 32", "instances of tessellated patches", "pair_sum"]
    names = {"published, tiles of 256": "CUDA, blocks of 256 (19, 20)", "published, tiles of 32": "CUDA, blocks of 32 (21)",
            "instances of tessellated patches": "OpenGL, instances of patches (19 to 21)", "pair_sum": "ours: pair_sum"}
    value = {(row[0], row[1]): 1e6 / first(row[2]) for row in pairs}
    yield from table(["bodies", *bodies], [[names[w], *(number(value.get((b, w))) for b in bodies)] for w in ways] + [[f"OpenGL, {s} (19)",
            *[NONE] * len(bodies)] for s in ("geometry shader", "tessellation shader")])
    yield ("Of figure 19's four curves two are here and two are not: the text says that geometry and tessellation shaders without instances fall off "
           "at once. Figure 14 is a drawing of tiles: kernels/pair_sum/pair_sum.h says ours.")
    yield ""


def gems():
    g = published["gems"]["rows"]
    yield f"## 2005: {published['gems']['source']}"
    yield ""
    rows = cells("octree.md", "### One H200", "\nSo float at depth")
    rate = {row[0]: row[1] for row in rows}
    yield from table(["", "published", "here"], [
        ["levels", g["levels"], "up to 20 (`modaltex build --resolution`); measured to 12, 4096^3"], ["resolution of an index",
                f"{g['bits of an index']} bits", "keys of 64 bits, 20 bits a coordinate"],
        ["samples a point, linear", g["samples a point, linear"], "8, all in the tree: cells around the surface are part of it, as in the chapter"],
        ["memory", f"{g['bytes a cell']} bytes a cell, {g['cells of a node, N = 2']} cells a node",
                "11.6 bytes a sample in the file, 16.7 in look-up tables (float, depth 10)"],
        ["neighbours of a leaf", f"{g['neighbours of a leaf, mean']} in the mean, {g['neighbours of a leaf, at most']} at most",
                "searched by key (kernels/surface_flow)"],
        ["10^9 look-ups/s, depth 9, 8-bit colours", "no number", f"texel order {rate['9, rgba8, texel']}, random {rate['9, rgba8, random']} on an H200"],
        ["the chapter's way (a cell a level), depth 9, 10^9/s", "no number", next(row[6] for row in rows if row[0] == "9, rgba8, texel") + " in texel order"]])
    yield ("Painting, mip levels, conversion to a 2D texture with push-pull, and flowing liquid: `modaltex paint`, `build`, `bake`, `flow` "
           "(docs/modaltex.md; times in octree.md).")
    yield ""


def tled():
    yield f"## 2012: {published['tled 5.1']['source']}"
    yield ""
    yield "GeForce GTX 2xx of 30 multiprocessors. Times are plots without numbers (figures 5.1 to 5.11); ours, with its two kernels written again: tled.md."
    yield ""
    yield "### Table 5.1: meshes and memory"
    yield ""
    mesh = [row for row in cells("tled.md", "Bytes by the thesis's formula",
            "\n## ") if len(row) == 8 and row[0] in [f"cube, {k}" for k in ("10 cells, H8", "10 cells, T4", "14 cells, T4", "20 cells, T4")]]
    lines = [[k, *v, "its formula gives that for a cube of 1,000 hexahedra: two records each" if v[0] == "Hex" else ""] for k,
            v in published["tled 5.1"]["rows"].items()]
    yield from table(["published", *published["tled 5.1"]["columns"], ""], lines)
    yield from table(["here", "elements at a node", "its formula, MB", "ours, MB", "in, pageable", "in, pinned", "out, pageable", "out, pinned"],
            [row[:8] for row in mesh])
    yield "### Tables 5.2 and 5.3: blocks and registers"
    yield ""
    yield from table(["block", *published["tled 5.2"]["columns"]], [[k, *v] for k, v in published["tled 5.2"]["rows"].items()])
    yield from table(["published", *published["tled 5.3"]["columns"]], [[k, *v] for k, v in published["tled 5.3"]["rows"].items()])
    rows = [row for row in cells("tled.md", "Each loop is timed by itself", "\n## ") if len(row) == 8]
    yield "Its two loops, written again, on an H200 (tled.md); ours is one launch for many steps:"
    yield ""
    yield from table(rows[0], [row for row in rows[1:] if row[1] in published["tled 5.2"]["rows"] and "10 cells, T4" in row[0]])
    yield "### Tables 4.1 and 4.2: what a step holds"
    yield ""
    yield from table(["", "published"], [[k, v] for k, v in published["tled 4"]["rows"].items()])


def costs():
    yield "## OpenGL, 16 bits, disks"
    yield ""
    own, mapped, alone, once = (ours.named(n, "gpu", where="interop") for n in ("frame in CUDA's memory", "frame in OpenGL's buffers",
            "map and unmap alone", "registering both buffers"))
    yield from table(["CUDA-OpenGL interoperation: a frame of 455,625 vertices with normals, and waited for", "us"], [["in CUDA's memory",
            number(own)], ["map, compute, unmap: in OpenGL's buffers", number(mapped)],
                     ["map and unmap alone", number(alone)], ["registering both buffers, once", number(once)]])
    yield "No tool needs it: modalrender draws in CUDA, pages draw in the browser from U and q, and other programs take files or memory."
    yield ""
    lines = []
    for r in (16, 32):
        for half in (0, 1):
            t = ours.named("a modal" if half else "modal_sum", "gpu", r=r, where="16 bits")
            e = ours.relative(r, half)
            lines.append([f"r = {r}, U of {16 if half else 32} bits", number(t), NONE if e is None else f"{e:.2g}"])
    yield from table(["10^6 vertices", "us of U q", "largest error over the largest displacement"], lines)
    yield ("The paper declines 16 bits for their error (section 4); so do the tools. GPUDirect Storage moves a file's bytes to the device without "
           "main memory: modaldeform writes far more than it reads, and is bound by the disk (formats.md), so it is not used.")
    yield ""


SECTIONS = [("1", "`modalbench plants` (figure 1)"), ("3", "`modalpack`, `modalsim`"), ("4.1", "`modalbench uq`; kernels/modal_sum"), ("4.2",
        "`modalbench frame`; kernels/normals_dynamic; `modaldeform --normals dynamic`"),
            ("4.3", "`modalbench multi`; kernels/deform_objects"), ("4.4", "`modaldeform`; kernels/deform, world_transform"), ("4.5",
                    "`modalbench pipeline`; lib/deform; `modaldeform --backend cuda`"),
            ("5, one object", "`modalbench uq` (table 5)"), ("5, plants",
                    "`modalbench plants`; `data/plant.py`, `modalplace`, `modalsim --scene`"), ("6",
                    "`modalsim` steps q on the GPU; r above 32 in every operation")]


def document():
    yield "<!-- SPDX-License-Identifier: Apache-2.0 -->"
    yield "<!-- made by tests/bench/seeds.py -->"
    yield "# The five sources, and ours beside them"
    yield ""
    yield ("`python3 tests/bench/seeds.py [RESULTS.json] docs/results/seeds.md`; the published numbers are transcribed in "
           "tests/bench/seeds/published.json. Machines differ by years: published and ours are facts side by side, no contest.")
    yield ""
    yield f"Ours: {ours.machine}; {ours.what}, and plants.md, rings.md, octree.md, tled.md, each with its date and machine. \"{NONE}\" is what it says."
    yield ""
    yield "| section of the paper of 2020 | command, code |"
    yield "| --- | --- |"
    yield from (f"| {a} | {b} |" for a, b in SECTIONS)
    yield ""
    for part in (paper, thesis, camillo, gems, tled, costs):
        yield from part()


pathlib.Path(target).write_text("\n".join(document()).rstrip() + "\n", encoding="utf-8")
