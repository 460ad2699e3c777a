#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modalmesh on sound and on broken surfaces, geometries and volume meshes.

check_modalmesh.py convert|surfaces|geometry|pipeline --bin FOLDER --dump PROGRAM [--dump-gmsh PROGRAM]
[--data FOLDER]; exit 77 (skipped), with a reason, where a meshing library or a program is absent.
"""
import argparse
import json
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy as np

FILES = pathlib.Path(__file__).resolve().parent.parent / "files"
parser = argparse.ArgumentParser()
parser.add_argument("what", choices=["convert", "surfaces", "geometry", "pipeline"])
parser.add_argument("--bin", required=True, type=pathlib.Path)
parser.add_argument("--dump", required=True)
parser.add_argument("--dump-gmsh")
parser.add_argument("--data", type=pathlib.Path)
arguments = parser.parse_args()
TOOL = str(arguments.bin / "modalmesh")
FOLDER = pathlib.Path(tempfile.mkdtemp())


def skip(reason):
    print("SKIPPED:", reason)
    sys.exit(77)


def check(condition, *what):
    if not condition:
        print("FAILED:", *what)
        sys.exit(1)


def run(*words, code=0, tool=TOOL):
    result = subprocess.run([tool, *map(str, words)], capture_output=True, text=True)
    check(result.returncode == code, words, "exit", result.returncode, "expected", code, result.stderr)
    return result


def mesh(source, *options, code=0, name="out.msh"):
    """Runs modalmesh; the report, or the one line of its message."""
    target = FOLDER / name
    target.unlink(missing_ok=True)
    result = run(source, target, "--report", FOLDER / "report.json", "-f", *options, code=code)
    check(target.exists() == (code == 0), source, "output", target)
    check(not [p for p in FOLDER.iterdir() if p.name.startswith(".")], "something half-written is left")
    if code:
        lines = [line for line in result.stderr.splitlines() if not re.search("warning|repair:|: box |its unit is|to come", line)]
        check(len(lines) == 1 and lines[0].startswith("modalmesh: "), lines)
        return lines[0]
    return json.loads((FOLDER / "report.json").read_text())


def dump(path, program=None):
    data = json.loads(run(path, tool=program or arguments.dump).stdout)
    data["nodes"] = np.array(data["nodes"]).reshape(-1, 3)
    return data


def engines():
    text = run("--version").stdout
    return {name.lower() for name in ("Gmsh", "TetGen") if not re.search(name + " absent", text)}


# ---- surfaces ----


def cube(n=4, origin=(0, 0, 0), size=1.0):
    """A cube's surface of n x n squares a side: vertices, triangles facing outwards."""
    index, vertices, triangles = {}, [], []

    def vertex(p):
        if p not in index:
            index[p] = len(vertices)
            vertices.append([o + size * c / n for o, c in zip(origin, p)])
        return index[p]

    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, n):
            for i in range(n):
                for j in range(n):
                    corners = []
                    for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        p = [0, 0, 0]
                        p[axis], p[u], p[v] = side, i + a, j + b
                        corners.append(vertex(tuple(p)))
                    if side == 0:
                        corners.reverse()
                    triangles += [[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]]
    return np.array(vertices), np.array(triangles)


def join(*parts):
    vertices, triangles, n = [], [], 0
    for v, t in parts:
        vertices.append(v)
        triangles.append(t + n)
        n += len(v)
    return np.vstack(vertices), np.vstack(triangles)


def write_off(name, surface):
    vertices, triangles = surface
    path = FOLDER / name
    text = f"OFF\n{len(vertices)} {len(triangles)} 0\n"
    text += "".join("%.17g %.17g %.17g\n" % tuple(v) for v in vertices)
    path.write_text(text + "".join("3 %d %d %d\n" % tuple(t) for t in triangles))
    return path


def surface_report(path, *options, code):
    run("--check", path, "--report", FOLDER / "report.json", *options, code=code)
    return json.loads((FOLDER / "report.json").read_text())["surface"]


def check_broken_surfaces():
    sound = cube()
    report = surface_report(write_off("cube.off", sound), code=0)
    check(report["closed"] and report["manifold"] and report["oriented"] and report["bounds_a_solid"], report)
    check(abs(report["volume_m3"] - 1) < 1e-12 and abs(report["area_m2"] - 6) < 1e-12, report)
    engine = sorted(engines())[-1]

    # A scan with pinholes, and one with a hole too large to close.
    vertices, triangles = sound
    pinholes = write_off("pinholes.off", (vertices, np.delete(triangles, [3, 40, 41], axis=0)))
    report = surface_report(pinholes, code=1)
    check(not report["closed"] and report["holes"] == 2 and report["open_edges"] == 7, report)
    check(re.search(r"not closed: edges of one triangle, 7; the first from vertex \d+ to \d+, near [-\d. e]+$",
                    mesh(pinholes, code=3)), "message")
    repaired = mesh(pinholes, "--repair")
    check(repaired["repairs"]["filled_holes"] == 2 and repaired["repairs"]["added_triangles"] == 3, repaired["repairs"])
    check(abs(repaired["mesh"]["volume_m3"] - 1) < 1e-9, repaired["mesh"])
    large = write_off("large.off", (vertices, triangles[32:]))
    check(surface_report(large, "--repair", code=1)["open_edges"] == 16, "large hole")
    check("not closed" in mesh(large, "--repair", code=3), "large hole")

    # Three triangles at an edge: a fin on the cube.
    a, b = triangles[0][:2]
    fin = (np.vstack([vertices, [[-1, -1, -1]]]), np.vstack([triangles, [[a, b, len(vertices)]]]))
    path = write_off("fin.off", fin)
    report = surface_report(path, code=1)
    check(not report["manifold"] and report["edges_of_three_triangles"] == 1, report)
    check(report["first_edge_of_three_triangles"] == sorted([int(a), int(b)]), report)
    check(f"not manifold: edges of three or more triangles, 1; the first from vertex {min(a, b)} to {max(a, b)}, near"
          in mesh(path, "--repair", code=3), "fin")

    # Two cubes through each other, and two side by side.
    path = write_off("crossing.off", join(sound, cube(3, (0.45, 0.37, 0.41))))
    report = surface_report(path, code=1)
    check(report["self_intersecting"] and report["intersections"] > 10 and report["closed"], report)
    check(re.search(r"self-intersecting: pairs of triangles that cross, \d+; the first are \d+ and \d+, near",
                    mesh(path, "--repair", code=3)), "crossing")
    many = [cube(2, (2.0 * i, 0, 0)) for i in range(3)]
    report = surface_report(write_off("three.off", join(*many)), code=0)
    check(report["components"] == 3 and not report["self_intersecting"], report)
    check(abs(mesh(FOLDER / "three.off")["mesh"]["volume_m3"] - 3) < 1e-9, "three cubes")

    # Turned triangles, doubles, a soup of triangles: all put right.
    turned = triangles.copy()
    turned[::3] = turned[::3, ::-1]
    path = write_off("turned.off", (vertices, turned))
    check(not surface_report(path, code=1)["oriented"], "turned")
    check("not oriented" in mesh(path, code=3), "turned")
    check(mesh(path, "--repair")["repairs"]["turned_triangles"] > 0, "turned")
    path = write_off("double.off", (vertices, np.vstack([triangles, triangles[5:7, [1, 2, 0]]])))
    check(surface_report(path, code=1)["duplicate_triangles"] == 2, "double")
    check("duplicate triangles, 2; the first are 5 and" in mesh(path, code=3), "double")
    check(mesh(path, "--repair")["repairs"]["removed_duplicate_triangles"] == 2, "double")
    soup = (vertices[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3))
    report = mesh(write_off("soup.off", soup), "--repair")
    check(report["repairs"]["merged_vertices"] == 3 * len(triangles) - len(vertices), report["repairs"])
    check(abs(report["mesh"]["volume_m3"] - 1) < 1e-9, report["mesh"])

    # A cavity, whatever way it faces.
    for flip in (1, -1):
        inner = cube(2, (0.25, 0.25, 0.25), 0.5)
        hollow = write_off("hollow.off", join(sound, (inner[0], inner[1][:, ::flip])))
        for name in engines():
            volume = mesh(hollow, "--engine", name)["mesh"]["volume_m3"]
            check(abs(volume - 0.875) < 1e-9, name, "hollow cube", volume)

    # Sizes, numbers of nodes, orders, patches.
    coarse = mesh(FOLDER / "cube.off", "--engine", engine, "--size", "0.4")["mesh"]
    fine = mesh(FOLDER / "cube.off", "--engine", engine, "--size", "0.1")["mesh"]
    check(fine["nodes"] > 3 * coarse["nodes"], coarse["nodes"], fine["nodes"])
    for size in ("1.01", "0.00099", "1e-300"):
        check("--size: must be in 0.001 .. 1 m, for a box of 1 x 1 x 1 m" in mesh(FOLDER / "cube.off", "--size", size, code=2),
              "size", size)
    report = mesh(FOLDER / "cube.off", "--engine", engine, "--size", "0.1")
    made = sum(report["mesh"]["elements"].values())
    check(made / 2 < report["expected_elements"] < 2 * made, "estimate", made, report["expected_elements"])
    if "tetgen" in engines():  # which keeps the surface's own triangles, whatever the size
        many = write_off("many.off", cube(16))
        for words in (["--size", "0.5"], ["--size", "0.1"], []):
            report = mesh(many, "--engine", "tetgen", *words)
            made = sum(report["mesh"]["elements"].values())
            check(made > 6000 and made / 2 < report["expected_elements"] < 2 * made, "estimate", words, made, report["expected_elements"])
    # Progress from the library, which changes nothing.
    for name in engines():
        words = [FOLDER / "cube.off", FOLDER / "p.msh", "-f", "--engine", name, "--size", "0.07", "-q"]
        result = run(*words, "--progress", "json")
        lines = [json.loads(line) for line in result.stderr.splitlines()]
        stages = [line["phase"] for line in lines]
        check({"tetgen": "refining", "gmsh": "volume"}[name] in stages and len(set(stages)) >= 3, name, stages)
        check(all(0 <= line.get("fraction", 0) <= 1 for line in lines) and lines[-1]["fraction"] == 1, name, lines)
        bytes_with = (FOLDER / "p.msh").read_bytes()
        check(run(*words).stderr == "" and (FOLDER / "p.msh").read_bytes() == bytes_with, name, "other bytes with --progress")
    for order in (1, 2):
        budget = mesh(FOLDER / "cube.off", "--nodes", 3000, "--order", order)["mesh"]
        check(2000 <= budget["nodes"] <= 3000, "budget", budget["nodes"])
        check(list(budget["elements"]) == [["TET4", "TET10"][order - 1]], budget["elements"])
    check("no mesh of so few nodes, 20: the coarsest has" in mesh(FOLDER / "cube.off", "--nodes", 20, code=3), "budget")
    for name in engines():
        for order in (1, 2):
            mesh(FOLDER / "cube.off", "--patches", 40, "--engine", name, "--order", order)
            data = dump(FOLDER / "out.msh")
            check(len(data["groups"]) == 6, name, "patches", [g["name"] for g in data["groups"]])
            for group in data["groups"]:
                x = data["nodes"][group["nodes"]]
                flat = [k for k in range(3) if np.ptp(x[:, k]) == 0]
                check(group["dimension"] == 2 and group["name"].startswith("patch_") and len(flat) == 1, group["name"])
                # Every node of the face is in its group.
                on_face = np.flatnonzero(data["nodes"][:, flat[0]] == x[0, flat[0]])
                check(group["nodes"] == on_face.tolist(), name, order, "nodes of", group["name"])
    # The names in the file, through a repair, too.
    named = FOLDER / "named.obj"
    lines = ["v %.17g %.17g %.17g" % tuple(v) for v in vertices]
    for i, t in enumerate(triangles[:-1]):
        lines += [{0: "g low x", 32: "g", 64: "g low", 96: "g low y"}.get(i, "#"), "f %d %d %d" % tuple(t + 1)]
    named.write_text("\n".join(lines) + "\n")
    low = set(triangles[:32].ravel()) | set(triangles[64:-1].ravel())
    for name in engines():
        mesh(named, "--repair", "--engine", name)
        data = dump(FOLDER / "out.msh")
        check([g["name"] for g in data["groups"]] == ["low"], name, "named parts", [g["name"] for g in data["groups"]])
        places = {tuple(p) for p in data["nodes"][data["groups"][0]["nodes"]].tolist()}
        check({tuple(p) for p in vertices[sorted(low)].tolist()} <= places, name, "nodes of a named part")
    # Time limits, and what makes no sense.
    check("not finished after 0.001 s" in mesh(FOLDER / "cube.off", "--time-limit", "0.001", code=5), "time limit")
    for name in engines():
        small = subprocess.run([TOOL, FOLDER / "cube.off", FOLDER / "no.msh", "--engine", name, "-q"], capture_output=True, text=True,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
        check(small.returncode == 4 and f"{name} was ended, File size limit exceeded (ulimit -f)" in small.stderr, "ulimit -f", small)
        check(not (FOLDER / "no.msh").exists(), "ulimit -f leaves something")
    check("give one of them" in mesh(FOLDER / "cube.off", "--size", 1, "--nodes", 9, code=2), "usage")
    check("must be gmsh or tetgen" in mesh(FOLDER / "cube.off", "--engine", "netgen", code=2), "usage")
    # The same bytes again.
    mesh(FOLDER / "cube.off", "--size", "0.2", name="a.msh")
    mesh(FOLDER / "cube.off", "--size", "0.2", "-j", 1, name="b.msh")
    check((FOLDER / "a.msh").read_bytes() == (FOLDER / "b.msh").read_bytes(), "not the same bytes twice")


def read_off(path):
    words = path.read_text().split()
    n, m = map(int, words[1:3])
    faces = np.array(words[4 + 3 * n:4 + 3 * n + 4 * m], dtype=int).reshape(m, 4)
    return np.array(words[4:4 + 3 * n], dtype=float).reshape(n, 3), faces[:, 1:]


def boundary_of(path):
    """The surface of a mesh of tetrahedra: the faces that one of them has, seen from outside."""
    data = dump(path)
    check(set(data["types"]) == {"TET4"}, path, set(data["types"]))
    tetrahedra = np.array(data["element_nodes"]).reshape(-1, 4)
    faces = np.concatenate([tetrahedra[:, k] for k in ([0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2])])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    faces = faces[np.sort(first[count == 1])]
    used, faces = np.unique(faces, return_inverse=True)
    return data["nodes"][used], faces.reshape(-1, 3)


def check_scans():
    """The Stanford bunny and dragon as they are; the bunny with holes, with a fin, and twice, crossing itself."""
    folder = arguments.data and arguments.data / "stanford"
    if not folder or not folder.exists():
        print("no real surfaces: bunny and dragon left out")
        return
    bunny = read_off(folder / "bunny_10k.off")
    surfaces = {"bunny": folder / "bunny_10k.off",
                "dragon": write_off("dragon.off", boundary_of(folder / "dragon_10k.msh"))}
    for what, path in surfaces.items():
        report = surface_report(path, code=0)
        check(report["closed"] and report["manifold"] and report["oriented"], what, report)
        for name in engines():
            report = mesh(path, "--engine", name)
            ours = sum(s["seconds"] for s in report["phases"] if s["name"] != name)
            print(f"{what} by {name}: {report['surface']['vertices']} vertices, {report['mesh']['nodes']} nodes, "
                  f"{report['mesh']['elements']}, least radius ratio {report['mesh']['least_radius_ratio']:.3f}; ours "
                  f"{ours:.3f} s of {sum(s['seconds'] for s in report['phases']):.3f} s")
            check(report["mesh"]["nodes"] > report["surface"]["vertices"] and report["mesh"]["components"] == 1,
                  what, name, report["mesh"])
            check(abs(report["mesh"]["volume_m3"] / report["surface"]["volume_m3"] - 1) < 1e-6, what, name, "volume")
    vertices, triangles = bunny
    for count in (60, 1):
        chosen = np.random.default_rng(7).choice(len(triangles), count, replace=False)
        holes = write_off("scan.off", (vertices, np.delete(triangles, chosen, axis=0)))
        message = mesh(holes, code=3)
        check("not closed" in message, "scan with holes", message)
        report = mesh(holes, "--repair")
        check(report["repairs"]["filled_holes"] > 0.9 * count, report["repairs"])
        check(abs(report["mesh"]["volume_m3"] / 195.96 - 1) < 1e-3, report["mesh"]["volume_m3"])
    a, b = triangles[100][:2]
    fin = (np.vstack([vertices, vertices.max(axis=0) + 1]), np.vstack([triangles, [a, b, len(vertices)]]))
    message = mesh(write_off("bunny_fin.off", fin), "--repair", code=3)
    check(f"not manifold: edges of three or more triangles, 1; the first from vertex {min(a, b)} to {max(a, b)}, near"
          in message, message)
    twice = join(bunny, (vertices + 0.1 * np.ptp(vertices, axis=0), triangles))
    message = mesh(write_off("bunny_twice.off", twice), "--repair", code=3)
    check("self-intersecting: pairs of triangles that cross" in message, message)


# ---- conversions, geometries, the pipeline ----


def same_mesh(a, b):
    check(np.array_equal(a["nodes"], b["nodes"]), "nodes")
    check(a["types"] == b["types"] and a["element_nodes"] == b["element_nodes"], "elements")
    groups = [sorted((g["dimension"], g["name"], tuple(g["nodes"]), tuple(g["elements"])) for g in m["groups"])
              for m in (a, b)]
    check(groups[0] == groups[1], "groups", groups)


# Gmsh's number of each type, and where it has each of our nodes.
GMSH = {"TET4": (4, range(4)), "HEX8": (5, range(8)), "WEDGE6": (6, range(6)), "PYRAMID5": (7, range(5)),
        "TET10": (11, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]),
        "HEX20": (17, [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15])}


def check_convert():
    n = 0
    names = ["good-mixed.inp", "good-curved.inp", "good-mixed.mesh", "good-mixed.vtk", "good-curved.vtu", "good-pair.ele"]
    sources = [FILES / name for name in names]
    sources += sorted(FILES.glob("good-*.msh")) + sorted(FILES.glob("good*.veg"))
    for source in sources:
        before = dump(source)
        if "nodes in no element" in run(source, FOLDER / "b.msh", "-f").stderr:
            continue  # those are dropped: not the same mesh
        for options in ([], ["--text"]):
            mesh(source, *options)
            after = dump(FOLDER / "out.msh")
            same_mesh(before, after)
            raised = min(before["node_tags"] + before["element_tags"]) == 0
            check([t + raised for t in before["node_tags"]] == after["node_tags"], source, "node numbers")
            check([t + raised for t in before["element_tags"]] == after["element_tags"], source, "element numbers")
            if arguments.dump_gmsh and not options:
                theirs = dump(FOLDER / "out.msh", arguments.dump_gmsh)
                order = {tag: i for i, tag in enumerate(theirs["node_tags"])}
                places = [order[tag] for tag in after["node_tags"]]
                check(np.array_equal(theirs["nodes"][places], after["nodes"]), source, "coordinates in Gmsh")
                numbers, at = np.array(after["node_tags"]), 0
                known = {tag: (block["type"], nodes) for block in theirs["volume"] if block["tags"]
                         for tag, nodes in zip(block["tags"], np.array(block["nodes"]).reshape(len(block["tags"]), -1))}
                check(len(known) == len(after["element_tags"]), source, "elements in Gmsh", len(known))
                for tag, kind in zip(after["element_tags"], after["types"]):
                    number, order = GMSH[kind]
                    nodes = numbers[after["element_nodes"][at:at + len(order)]].tolist()
                    check(known[tag][0] == number and known[tag][1][list(order)].tolist() == nodes, source, "element", tag)
                    at += len(order)
                known = {(g["dimension"], g["name"]): set(g["nodes"]) for g in theirs["groups"]}
                for g in after["groups"]:
                    nodes = {after["node_tags"][i] for i in g["nodes"]}
                    check(known[(g["dimension"], g["name"])] == nodes, source, "group in Gmsh", g["name"])
            n += 1
    linear = mesh(FILES / "good-pair.ele", "--order", 2)["mesh"]
    check(linear["elements"] == {"TET10": 1} and linear["nodes"] == 10, linear)
    check("is not of order 1" in mesh(FILES / "good-curved.inp", "--order", 1, code=3), "order")
    check("is converted as it is" in mesh(FILES / "good-mixed.inp", "--size", 1, code=2), "usage")
    check("for surfaces only" in mesh(FILES / "good-mixed.inp", "--repair", code=2), "usage")
    check_materials()
    check("good-mixed.inp:" not in mesh(FILES / "bad-density.veg", code=3), "message")
    report = mesh(FILES / "good-mixed.inp", "--check")["mesh"]
    check(abs(report["volume_m3"] - 1.75) < 1e-12 and sum(report["radius_ratio_tenths"]) == 1, report)
    print(n, "conversions agree")


def check_materials():
    """--materials-out: modalpack makes the same basis of the mesh and its JSON as of the original."""
    source, target = FILES / "good.veg", FOLDER / "m.json"
    run(source, FOLDER / "m.msh", "--materials-out", target)
    found = json.loads(target.read_text())
    check(found["groups"] == {"material_soft": "soft", "far": "hard"}, found)
    check(found["materials"] == {"soft": {"young": 1e6, "poisson": 0.45, "density": 1000},
                                 "hard": {"young": 2.1e11, "poisson": 0.3, "density": 7800}}, found)
    check("exists" in run(source, FOLDER / "n.msh", "--materials-out", target, code=2).stderr, "replaced")
    check(not (FOLDER / "n.msh").exists(), "a mesh without its materials")
    run(FILES / "good-mixed.inp", FOLDER / "i.msh", "--materials-out", FOLDER / "i.json")
    if (arguments.bin / "modalpack").exists():
        import h5py

        frequencies = []
        for name, options in ((FILES / "good-mixed.inp", []), (FOLDER / "i.msh", ["--materials", FOLDER / "i.json"])):
            run(name, FOLDER / "b.h5", "-f", "--modes", 3, "--fixed", "some", *options,
                tool=str(arguments.bin / "modalpack"))
            with h5py.File(FOLDER / "b.h5") as f:
                frequencies.append(f["shapes/0000/modes/frequencies"][:])
        check(np.array_equal(*frequencies), "frequencies", frequencies)
    message = run(source, FOLDER / "w.msh").stderr
    check("materials are not kept" in message and "2; the first is soft" in message, message)
    for path in (FILES / "good-no-material.veg", FILES / "good-pair.ele"):
        message = run(path, FOLDER / "none.msh", "--materials-out", FOLDER / "none.json", code=3).stderr
        check("has no materials" in message, message)
        check(not (FOLDER / "none.msh").exists() and not (FOLDER / "none.json").exists(), "something left")
    cube_path = write_off("cube.off", cube(1))
    check("must end with .msh" in run(source, FOLDER / "x.vtk", code=2).stderr, "x.vtk")
    check(not (FOLDER / "x.vtk").exists(), "x.vtk was written")
    check("needs a volume mesh" in run(cube_path, FOLDER / "x.msh", "--materials-out", target, code=2).stderr, "usage")


GEOMETRY = """SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 0.1, 0.02, 0.01};
Cylinder(2) = {0.05, 0.01, -1, 0, 0, 2, 0.005};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
"""


def check_geometry():
    if "gmsh" not in engines():
        said = mesh("a.step", code=2)
        check("a.step: this program was built without the library of gmsh, which meshes it; install libgmsh-dev" in said, "absent Gmsh", said)
        skip("built without Gmsh")
    if not shutil.which("gmsh"):
        skip("no gmsh command to make geometries with")
    source = FOLDER / "part.geo"
    source.write_text(GEOMETRY)
    volume = 0.1 * 0.02 * 0.01 - np.pi * 0.005**2 * 0.01
    for suffix in ("step", "brep"):
        subprocess.run(["gmsh", "-0", str(source), "-o", str(FOLDER / f"part.{suffix}"), "-v", "1"], check=True)
    for suffix in ("geo", "step", "brep"):
        # Gmsh writes a STEP file in millimetres: there the part is 0.1 mm long
        scale = ("--scale", 1000) if suffix == "step" else ()
        for order, tolerance in ((1, 0.02), (2, 5e-4)):
            report = mesh(FOLDER / f"part.{suffix}", "--size", "0.004", "--order", order, *scale)["mesh"]
            check(abs(report["volume_m3"] / volume - 1) < tolerance, suffix, order, report["volume_m3"], volume)
            check(list(report["elements"]) == [["TET4", "TET10"][order - 1]], report["elements"])
            check(report["groups"] == 8, suffix, "groups", report["groups"])  # a volume, seven surfaces
    for suffix in ("geo", "step"):
        for size in (0.00009, 0.11):
            message = mesh(FOLDER / f"part.{suffix}", "--size", size, *(("--scale", 1000) if suffix == "step" else ()), code=2)
            check("--size: must be in 0.0001 .. 0.1 m, for a box of 0.1 x 0.02 x 0.01 m" in message, suffix, message)
    report = mesh(FOLDER / "part.geo", "--size", "0.0015")
    made = report["mesh"]["elements"]["TET4"]
    check(made / 2 < report["expected_elements"] < 2 * made, "estimate", made, report["expected_elements"])
    budget = mesh(FOLDER / "part.step", "--scale", 1000, "--nodes", 4000)["mesh"]
    check(3000 <= budget["nodes"] <= 4000, "budget", budget["nodes"])
    source.write_text(GEOMETRY + 'Physical Volume("part") = {3}; Physical Surface("left") = {1};\n')
    mesh(source, "--size", "0.005")
    names = {(g["dimension"], g["name"]) for g in dump(FOLDER / "out.msh")["groups"]}
    check(names == {(3, "part"), (2, "left")}, names)
    (FOLDER / "empty.step").write_text("no geometry\n")
    check("no STEP file, it does not begin with ISO-10303-21" in mesh(FOLDER / "empty.step", code=3), "empty.step")
    check("cannot be read" in mesh(FOLDER / "absent.step", code=3), "absent.step")
    source.write_text('SetFactory("OpenCASCADE"); Rectangle(1) = {0, 0, 0, 1, 1};\n')
    check("no volume elements" in mesh(source, code=3), "a surface is no volume")
    source.write_text("For i In {0:1}\n  i = 0;\n")
    mesh(source, code=3)
    source.write_text(GEOMETRY + "Box(9) = {0, 0\n")
    check("line " in mesh(source, code=3), "where a .geo is wrong")
    print("geometries agree")


def check_pipeline():
    for tool in ("modalpack", "modalsim", "modaldeform"):
        if not (arguments.bin / tool).exists():
            skip(f"no {tool}")
    if not engines():
        skip("built without meshing libraries")
    bar = cube(6)
    path = write_off("bar.off", (bar[0] * [0.5, 0.05, 0.05], bar[1]))
    mesh(path, "--patches", 40, "--size", 0.01)
    side = next(g["name"] for g in dump(FOLDER / "out.msh")["groups"]
                if np.ptp(dump(FOLDER / "out.msh")["nodes"][g["nodes"], 0]) == 0)
    run(FOLDER / "out.msh", FOLDER / "basis.h5", "--modes", 4, "--young", 2e11, "--poisson", 0.3, "--density", 7800,
        "--fixed", side, "--report", FOLDER / "report.json", tool=str(arguments.bin / "modalpack"))
    run(FOLDER / "basis.h5", FOLDER / "traj.h5", "--duration", 0.02, "--fps", 1000, "--initial", "0=1e-3",
        tool=str(arguments.bin / "modalsim"))
    run(FOLDER / "traj.h5", FOLDER / "out", tool=str(arguments.bin / "modaldeform"))
    check((FOLDER / "out" / "manifest.json").exists(), "no sequence")
    import h5py

    with h5py.File(FOLDER / "basis.h5") as f:
        frequency = f["shapes/0/frequencies"][0] if "shapes/0/frequencies" in f else min(
            v for k, v in find_frequencies(f))
    # Euler and Bernoulli's clamped bar: 1.8751^2 / (2 pi L^2) sqrt(E I / (rho A)).
    expected = 1.8751**2 / (2 * np.pi * 0.25) * np.sqrt(2e11 * 0.05**2 / 12 / 7800)
    # Linear tetrahedra are too stiff.
    check(0.97 < frequency / expected < 1.2, "frequency", frequency, expected)
    # modalpack reads the other formats itself, Abaqus' materials included.
    for name, options in (("good-mixed.inp", ["--fixed", "some"]), ("good-mixed-zlib.vtu", None), ("good-pair.node", None),
                          ("good-mixed.mesh", ["--fixed", "3"])):
        material = [] if name.endswith(".inp") else ["--young", 1e7, "--poisson", 0.3, "--density", 1000]
        run(FILES / name, FOLDER / "b.h5", "-f", "--modes", 2, *material, *(options or []),
            tool=str(arguments.bin / "modalpack"))
    print(f"first frequency {frequency:.1f} Hz, of the slender bar {expected:.1f} Hz")


def find_frequencies(f):
    found = []
    f.visititems(lambda name, item: found.append((name, item[0])) if name.endswith("frequencies") else None)
    return found


try:
    if arguments.what in ("surfaces",) and "tetgen" not in engines():
        skip("built without TetGen")
    if arguments.what == "surfaces":
        check_broken_surfaces()
        check_scans()
    else:
        {"convert": check_convert, "geometry": check_geometry, "pipeline": check_pipeline}[arguments.what]()
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
