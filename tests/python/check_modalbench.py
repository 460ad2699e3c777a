# SPDX-License-Identifier: Apache-2.0
"""modalbench from the outside, on the CPU: every part runs in quick mode, each number in the JSON makes
sense, and results.md is made of it. usage: check_modalbench.py MODALBENCH SOURCE_FOLDER"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

modalbench, source = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
workplace = tempfile.TemporaryDirectory(prefix="modalbench-")
os.chdir(workplace.name)


def run(*words, **more):
    return subprocess.run([modalbench, *words], capture_output=True, text=True, **more)


def works(*words, **more):
    got = run(*words, **more)
    assert got.returncode == 0, (words, got)
    return got


def refuses(code, message, *words):
    got = run(*words)
    assert got.returncode == code and got.stderr == f"modalbench: {message}\n", (words, got)
    assert not os.listdir("."), os.listdir(".")


refuses(2, "none of uq, multi, batch, frame, pipeline, rings, nbody, tled, octree, render, plants, all: speed", "speed")
refuses(2, "back end: 'gpu' is none of auto, ref, cpu, cuda, cuda:N", "uq", "--backend", "gpu")
refuses(2, "--surface: only with octree, bunny.ply", "uq", "--surface", "bunny.ply")
refuses(3, "absent.ply: cannot open, No such file or directory", "octree", "--surface", "absent.ply", "-q", "--quick", "--backend", "cpu")
refuses(2, "--depth: on a CPU at most 10, 11", "octree", "--depth", "11", "-q", "--quick", "--backend", "cpu")
refuses(2, "--gpu-only: not with --backend cpu", "render", "--gpu-only", "--backend", "cpu")
refuses(2, "--plants: only with plants, here", "render", "--plants", "here")
refuses(3, "here: cannot open, No such file or directory", "plants", "--plants", "here")
refuses(3, f"{modalbench}: is a file, not a folder of plants", "plants", "--plants", modalbench)
refuses(2, "--memory-limit: not a size such as 800M or 4G, 0", "uq", "--memory-limit", "0")
refuses(2, "--report: standard output already takes another output, -", "uq", "--json", "-", "--report", "-")
refuses(4, "--memory-limit: too little memory, 4096 bytes for cpu", "uq", "--quick", "--backend", "cpu",
        "--memory-limit", "8K")

quick = ["--quick", "--backend", "cpu", "-j", "1"]
got = works("all", *quick, "--json", "all.json", "--report", "report.json")
assert os.listdir(".") and not list(pathlib.Path(".").glob("*.tmp")), os.listdir(".")
for line in ("Ceilings", "Table 5", "Tables 3 and 4", "Many frames at once", "in random order", "end to end"):
    assert line in got.stdout, (line, got.stdout)
report = json.loads(pathlib.Path("report.json").read_text())
assert [s["name"] for s in report["phases"]] == ["ceilings", "uq", "multi", "batch", "frame", "pipeline", "rings", "nbody", "tled", "octree", "render", "plants"]

numbers = json.loads(pathlib.Path("all.json").read_text())
assert numbers["tool"] == "modalbench" and numbers["quick"] and numbers["machine"]["cpu"]["threads"] == 1
assert "gpu" not in numbers["machine"] and numbers["machine"]["cpu"]["copy_gb_per_s"] > 0
absent = {a["what"] for a in numbers["absent"]}
assert {"GPU", "plants", "launches of the paper's kernels"} <= absent, absent
tables = {}
for row in numbers["results"]:
    tables.setdefault(row["table"], []).append(row)
    t = row["seconds"]
    assert 0 < t["least"] <= t["median"] <= t["most"] and t["runs"] >= 3 and t["calls"] >= 1, row
    assert row["side"] == "cpu", row
    if row["bytes"]:
        assert math.isclose(row["gb_per_s"], 1e-9 * row["bytes"] / t["median"], rel_tol=1e-6), row
    if row["table"] not in ("ceilings", "pipeline") and row["name"] not in ("normals_corner alone", "curvature_ring instead of _tensor"):
        assert 0 <= row["error_over_tolerance"] <= 1 and row["tolerance"], row
octree = {f"octree, depth 6, {kind}, {order} order" for kind in ("float", "rgba8") for order in ("texel", "triangle", "random")}
assert set(tables) == {"ceilings", "octree, building, depth 6", "octree, baking, depth 6", "octree, flow, depth 6", *octree,
                       "table 5", "table 3 and 4", "batch", "frame", "frame, random order",
                       "render, 7202 triangles", *["render, PNG"][: "PNG by libpng" not in absent], "table 2", "operations", "table 2, random order", "pipeline", "nbody", "tled", "tled, frames", "rings, saddle 200k, irregular, shuffled",
                       "rings, saddle 500k, one valence of 200", "rings, dragon's size, 16 frames"}, set(tables)
for name, rows in tables.items():
    assert name == "ceilings" or any(row["ours"] for row in rows), name
    blas = [row for row in rows if "OpenBLAS" in row["name"]]
    expected = name in ("table 5", "table 3 and 4", "batch", "operations") and "OpenBLAS" not in absent
    assert bool(blas) == expected, (name, blas)
rows = {(r["name"], r["vertices"], r["modes"]): r for r in tables["table 5"]}
assert rows["modal_sum", 1000, 5]["bytes"] == 1000 * 12 * 6 + 20
for row in tables["nbody"]:
    assert math.isclose(row["g_pairs_per_s"], 1e-9 * row["vertices"]**2 / row["seconds"]["median"], rel_tol=1e-6), row
for row in tables["tled"]:
    step = row["seconds"]["median"] / row["steps_of_a_call"]
    assert math.isclose(row["element_steps_per_s"], row["elements"] / step, rel_tol=1e-6), row
building = tables["octree, building, depth 6"]
assert [row["name"] for row in building] == ["modal_octree_build, 1 thread"], building
assert len({row["objects"] for row in building}) == 1 and all(row["error_over_tolerance"] == 0 for row in building), building
for name in octree:
    ways = ["octree_lookup", *["NanoVDB"][: "NanoVDB" not in absent], "dense lattice, eight reads", "a cell a level, eight descents"]
    assert [row["name"] for row in tables[name]] == [f"{way}, 1 thread" for way in ways], (name, tables[name])
    for row in tables[name]:
        assert math.isclose(row["g_lookups_per_s"], 1e-9 * row["vertices"] / row["seconds"]["median"], rel_tol=1e-6), row
        assert row["held_bytes"] > 4 * row["objects"] and row["objects"] == building[0]["objects"], row
assert {row["way"] for row in tables["tled"]} == {"tled_step", "tled_step, float64"}
assert len(tables["table 3 and 4"]) == 5 * (1 if "OpenBLAS" in absent else 2)

# an output that exists stays, JSON may be the only thing on standard output
got = run("frame", *quick, "--json", "all.json")
assert got.returncode == 2 and "all.json" in got.stderr and not got.stdout, got
got = works("frame", *quick, "--json", "-", "-q")
assert {row["table"] for row in json.loads(got.stdout)["results"]} > {"frame", "ceilings"} and not got.stderr
got = works("frame", *quick, "--json", "-")
assert json.loads(got.stdout) and "Ceilings" in got.stderr

# the checked-in table is made of such a file
script = source / "tests/bench/format_results.py"
subprocess.run([sys.executable, script, "all.json", "table.md"], check=True)
table = pathlib.Path("table.md").read_text()
assert numbers["machine"]["cpu"]["hardware"] in table and numbers["date"][:10] in table, table
assert "Eastern hemlock" in table and "modal_sum" in table and "quick" in table, table
subprocess.run([sys.executable, source / "tests/bench/format_rings.py", "all.json", "rings.md"], check=True)
table = pathlib.Path("rings.md").read_text()
rings = table
assert table.count("| packed ring |") == 2 and "| 1,024 | pair_sum |" in table, table  # times, errors
made = "<!-- made by tests/bench/tled_results.py: cpu -->"
pathlib.Path("tled.md").write_text(f"kept before\n{made}\nold\n<!-- end of what is made -->\nkept after\n")
subprocess.run([sys.executable, source / "tests/bench/tled_results.py", "all.json", "tled.md"], check=True)
table = pathlib.Path("tled.md").read_text()
assert table.startswith(f"kept before\n{made}\n") and table.endswith("<!-- end of what is made -->\nkept after\n") and "old" not in table, table
# operations of a tetrahedron and a hexahedron as they were counted by hand: 9 ways, 45 + 45 gradients and forces, 129 stress, 21 sums; bytes: what is held, and state
rows = [row.split(" | ") for row in table.split("\n") if row.startswith("| cube")]
assert {row[3] for row in rows if row[:2] == ["| cube, 3 cells, T4", "tled_step"]} == {"249"}, table
assert {row[3] for row in rows if row[:2] == ["| cube, 4 cells, H8", "tled_step"]} == {"757"}, table
assert all(row[-1] in ("memory |", "arithmetic |", "waiting |") for row in rows), table
assert len(rows) == len(tables["tled"]) == table.count("\n| tled_step"), table
pathlib.Path("tled.md").write_text("a page without the lines")
assert subprocess.run([sys.executable, source / "tests/bench/tled_results.py", "all.json", "tled.md"], capture_output=True).returncode == 1
for name, what, where in (("geometry shader and blending, OpenGL", "curvature by geometry shader and blending", "rings, saddle 200k, irregular, shuffled"),
                          ("instances of tessellated patches", "all pairs by instances of tessellated patches", "nbody")):
    drawn = [row for row in tables[where] if row["name"] == name]
    assert len(drawn) == (what not in absent), (name, absent)  # with EGL, which here draws on the CPU, or said to be absent
    assert drawn or f"Not measured: {what} (" in rings, name
assert [row["ours"] for row in tables.get("render, PNG", [])] in ([], [True, False, False, False]), tables["render, PNG"]  # all are read back: error_over_tolerance
assert len(tables["render, 7202 triangles"]) == 1 + ("pictures by OpenGL" not in absent), tables["render, 7202 triangles"]
pathlib.Path("pictures.md").write_text("# Pictures\n\nSome words.\n\n<!-- made by tests/bench/format_render.py: gpu -->\nkept\n<!-- end: gpu -->\n")
for _ in range(2):  # tables of a CPU take no others' place, and their own when they are made again
    subprocess.run([sys.executable, source / "tests/bench/format_render.py", "all.json", "pictures.md"], check=True)
table = pathlib.Path("pictures.md").read_text()
assert table.count("<!-- end: cpu -->") == table.count("| render, 7202 triangles |") == 1 and "\nkept\n" in table and "Some words." in table, table
assert ("| libdeflate" in table or "| zlib" in table) == ("PNG by libpng" not in absent), table

# whole simulations of plants: one that both sources have, and a small one in the dragon's place; the others are said to be absent
subprocess.run([sys.executable, source / "tests/bench/grow_plants.py", pathlib.Path(modalbench).parent, "plants", "--only", "conifer,thesis-conifer,dragon",
                "--quick"], check=True, capture_output=True)
got = works("plants", *quick, "--plants", "plants", "--json", "plants.json")
numbers = json.loads(pathlib.Path("plants.json").read_text())
rows = [row for row in numbers["results"] if row["table"] == "plants"]
assert [(r["plant"]["folder"], r["plant"]["while_q_is_stepped"]) for r in rows] == [(k, w) for k in ("thesis-conifer", "conifer", "dragon") for w in (False, True)]
assert [(r["objects"], r["vertices"], r["modes"]) for r in rows[::2]] == [(644, 13884 + 601 * 6, 360), (43, 7543, 360), (1, 1600, 15)], rows
assert [(r["plant"]["source_cpu_fps"], r["plant"]["source_gpu_fps"]) for r in rows[::2]] == [(60, 55), (35, 60), (16, 52)]
for row in rows:
    ms, shares = row["plant"]["ms"], row["plant"]["shares"]
    assert list(ms) == ["step", "U q", "transform", "normals", "shadow", "picture"] and all(x >= 0 for x in ms.values()), row
    assert min(ms["step"], ms["transform"], ms["shadow"], ms["picture"]) > 0 and abs(sum(shares.values()) - 1) < 6e-9, row  # six shares of nine digits each
    assert row["plant"]["steps_a_frame"] >= 1, row["plant"]
    assert 0 <= row["error_over_tolerance"] <= 1 and math.isclose(row["plant"]["frames_per_s"], 1 / row["seconds"]["median"], rel_tol=1e-6), row
assert sum(a["why"].endswith("grow_plants.py makes it") for a in numbers["absent"]) == 16, numbers["absent"]
subprocess.run([sys.executable, source / "tests/bench/format_plants.py", "plants.json", "plants.md"], check=True)
table = pathlib.Path("plants.md").read_text()
assert "| Dragon's size, r = 15, while q is stepped | paper, figure 13 | 1 | 1,600 | 15 |" in table and "| 60 / 55 |" in table and "Fir (thesis" in table, table
os.truncate("plants/conifer/plant.h5", 5000)
got = run("plants", *quick, "--plants", "plants")
assert got.returncode == 3 and got.stderr.startswith("modalbench: plants/conifer/plant.h5: ") and got.stderr.count("\n") == 1, got
print("ok")
