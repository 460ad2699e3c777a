#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares our reader of .msh files with meshio, or with Gmsh's own library.

check_readers.py meshio|gmsh --dump PROGRAM [--dump-gmsh PROGRAM]; exit 77 (skipped), with a reason,
where meshio or Gmsh is absent.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

GEOMETRY = """
Point(1) = {0, 0, 0, 0.4}; Point(2) = {1.1, 0, 0, 0.4};
Point(3) = {1.1, 1, 0, 0.4}; Point(4) = {0, 1, 0, 0.4};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};
low[] = Extrude {0, 0, 1} { Surface{1}; };
high[] = Extrude {0, 0, 0.7} { Surface{low[0]}; };
Physical Volume("body", 7) = {low[1], high[1]};
Physical Volume("upper half", 12) = {high[1]};
Physical Surface("fixed", 9) = {1};
Physical Surface(33) = {high[0], low[2]};
Physical Curve("edge", 2) = {1, 2};
Physical Point("tip", 3) = {3};
"""
VARIANTS = [("msh22", False), ("msh22", True), ("msh41", False), ("msh41", True)]
FILES = pathlib.Path(__file__).resolve().parent.parent / "files"


def skip(reason):
    print("SKIPPED:", reason)
    sys.exit(77)


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def make_meshes(folder, parametric):
    """One mesh, as Gmsh writes it in each variant of the format."""
    gmsh = shutil.which("gmsh")
    if gmsh is None:
        skip("no gmsh command")
    source = folder / "source.geo"
    source.write_text(GEOMETRY)
    for form, binary in VARIANTS:
        if parametric and form == "msh22":
            continue  # $ParametricNodes, which we refuse
        tail = ("-binary" if binary else "") + ("-parametric" if parametric else "")
        target = folder / f"{form}{tail}.msh"
        options = ["-bin"] if binary else []
        if parametric:
            options += ["-parametric"]
        run(gmsh, "-3", str(source), "-format", form, *options, "-o", str(target), "-v", "1")
        yield target


# Nodes of each kind, and for each of our places the place in Gmsh's order (its reference manual,
# "Node ordering").
KINDS = {"TET4": (4, range(4)), "HEX8": (5, range(8)), "WEDGE6": (6, range(6)), "PYRAMID5": (7, range(5)),
         "TET10": (11, [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]),
         "HEX20": (17, [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 13, 9, 16, 18, 19, 17, 10, 12, 14, 15])}


def read_ours(program, path):
    data = json.loads(run(program, str(path)))
    tags = np.array(data["node_tags"])
    ends = np.cumsum([len(KINDS[kind][1]) for kind in data["types"]])
    elements = [tags[nodes].tolist() for nodes in np.split(np.array(data["element_nodes"], int), ends[:-1])]
    return {
        "tags": tags,
        "nodes": np.array(data["nodes"]).reshape(-1, 3),
        "types": data["types"],
        "elements": np.array(elements) if set(data["types"]) == {"TET4"} else elements,
        "element_tags": np.array(data["element_tags"]),
        "groups": {
            (group["dimension"], group["tag"]): (
                group["name"],
                set(tags[group["nodes"]].tolist()),
                np.array(group["elements"], int),
            )
            for group in data["groups"]
        },
    }


def check(condition, *what):
    if not condition:
        print("FAILED:", *what)
        sys.exit(1)


def element_set(elements):
    """Order of elements and of their nodes apart, which another reader need not keep."""
    return sorted(tuple(sorted(map(int, element))) for element in elements)


def check_with_gmsh(path, ours, program):
    theirs = json.loads(run(program, str(path)))
    order = {tag: i for i, tag in enumerate(theirs["node_tags"])}
    check(set(ours["tags"].tolist()) == set(order), path, "node numbers")
    nodes = np.array(theirs["nodes"]).reshape(-1, 3)[[order[tag] for tag in ours["tags"].tolist()]]
    check(np.array_equal(nodes, ours["nodes"]), path, "coordinates")
    elements = []
    by_tag = {}
    for kind, (number, places) in KINDS.items():
        block, = [b for b in theirs["volume"] if b["type"] == number]
        ordered = np.array(block["nodes"], int).reshape(-1, len(places))[:, list(places)].tolist()
        elements += ordered
        by_tag.update((tag, (kind, nodes)) for tag, nodes in zip(block["tags"], ordered))
    for tag, kind, element in zip(ours["element_tags"].tolist(), ours["types"], ours["elements"]):
        check(by_tag.get(tag) == (kind, list(element)), path, "element", tag, element, by_tag.get(tag))
    # Gmsh itself keeps the second copy of an element of two groups from version 2.2.
    check(
        sorted(set(element_set(elements))) == element_set(ours["elements"]), path, "elements"
    )
    groups = {(g["dimension"], g["tag"]): g for g in theirs["groups"]}
    check(set(groups) == set(ours["groups"]), path, "groups", set(groups), set(ours["groups"]))
    for key, (name, members, _) in ours["groups"].items():
        check(groups[key]["name"] in (name, "") and (groups[key]["name"] or name == str(key[1])),
              path, "name of group", key)
        check(set(groups[key]["nodes"]) == members, path, "nodes of group", key)


def check_with_meshio(path, ours):
    import meshio

    theirs = meshio.read(str(path))
    check(np.array_equal(theirs.points, ours["nodes"]), path, "coordinates")
    # meshio gives indices; its nodes are in the order of the file, as ours are.
    tags = ours["tags"]
    elements = np.vstack([tags[c.data] for c in theirs.cells if c.type == "tetra"])
    unique = sorted(set(element_set(elements)))
    check(unique == element_set(ours["elements"]), path, "elements")
    dims = {"vertex": 0, "line": 1, "triangle": 2, "tetra": 3}
    if "gmsh:physical" not in theirs.cell_data:
        check(not ours["groups"], path, "groups where meshio has none")
        return
    members = {}
    for cells, physical in zip(theirs.cells, theirs.cell_data["gmsh:physical"]):
        for nodes, group in zip(tags[cells.data].tolist(), physical.tolist()):
            if group:
                members.setdefault((dims[cells.type], group), set()).update(nodes)
    # From version 4.1 meshio keeps one group an element; what it has must be ours.
    for key, nodes in members.items():
        check(key in ours["groups"], path, "group", key)
        if not nodes <= ours["groups"][key][1]:
            check(False, path, "nodes of group", key)
    if len(members) == len(ours["groups"]) and "22" in path.name:
        for key, nodes in members.items():
            check(nodes == ours["groups"][key][1], path, "nodes of group", key)
    for name, (tag, dim) in theirs.field_data.items():
        check(ours["groups"][(int(dim), int(tag))][0] == name, path, "name", name)


def check_written_by_meshio(folder, program, mesh):
    """Files of another writer than Gmsh."""
    import meshio

    points, cells = mesh["nodes"], np.searchsorted(mesh["tags"], mesh["elements"])
    for form in ("gmsh22", "gmsh"):
        for binary in (False, True):
            path = folder / f"meshio-{form}-{binary}.msh"
            meshio.write(str(path), meshio.Mesh(points, [("tetra", cells)]), file_format=form,
                         binary=binary, **({} if binary else {"float_fmt": ".17g"}))
            ours = read_ours(program, path)
            check(np.array_equal(ours["nodes"], points), path, "coordinates")
            check(np.array_equal(ours["elements"] - 1, cells), path, "elements")
            yield path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=["meshio", "gmsh"])
    parser.add_argument("--dump", required=True)
    parser.add_argument("--dump-gmsh")
    arguments = parser.parse_args()
    if arguments.client == "gmsh" and not arguments.dump_gmsh:
        skip("built without Gmsh's library (gmshc.h)")
    if arguments.client == "meshio":
        try:
            import meshio  # noqa: F401
        except ImportError:
            skip(f"no meshio for {sys.executable}")
    n_files = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        reference = None
        for parametric in (False, True):
            for path in make_meshes(folder, parametric):
                ours = read_ours(arguments.dump, path)
                check(len(ours["groups"]) == 6, path, "groups", list(ours["groups"]))
                if reference is None:
                    reference = ours
                check(np.array_equal(ours["tags"], reference["tags"]), path, "tags")
                check(np.abs(ours["nodes"] - reference["nodes"]).max() <= 1e-15, path, "nodes")
                check(np.array_equal(ours["elements"], reference["elements"]), path, "elements")
                for key, group in reference["groups"].items():
                    check(ours["groups"][key][:2] == group[:2], path, "group", key)
                    check(np.array_equal(ours["groups"][key][2], group[2]), path, "group", key)
                # meshio does not read parametric nodes.
                if arguments.client == "gmsh":
                    check_with_gmsh(path, ours, arguments.dump_gmsh)
                elif not parametric:
                    check_with_meshio(path, ours)
                n_files += 1
        if arguments.client == "meshio":
            n_files += sum(1 for _ in check_written_by_meshio(folder, arguments.dump, reference))
        for path in sorted(FILES.glob("good-*.msh")):
            # Gmsh keeps both copies of an element of two groups, and 4.8 wants $Entities.
            left_out = "two-groups" in path.name or "no-groups" in path.name
            if arguments.client == "gmsh" and not left_out:
                check_with_gmsh(path, read_ours(arguments.dump, path), arguments.dump_gmsh)
                n_files += 1
    print(f"{n_files} files agree")


if __name__ == "__main__":
    main()
