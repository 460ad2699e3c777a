#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modalpack --eigensolver slepc by route, mesh and number of ranks: processor seconds of all ranks, iterations, the ranks' resident sets and
what was estimated. Meshes are bars of 1 x 0.3 x 0.31 m, or cubes where all cells are alike, six linear tetrahedra a cell, held at x = 0.
Prints a table for docs/results/modes_mpi.md.
usage: measure_ranks.py PROGRAMS_FOLDER FOLDER [--cells NX,NY,NZ]... [--ranks 1,2,4] [--route multigrid] [--modes 30] [--binary]
                        [--json FILE]"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("programs", type=pathlib.Path)
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--cells", action="append")
parser.add_argument("--ranks", default="1,2,4")
parser.add_argument("--route", default="multigrid")
parser.add_argument("--modes", type=int, default=30)
parser.add_argument("--binary", action="store_true", help="a binary .msh 4.1 instead of a text .msh 2.2")
parser.add_argument("--json", type=pathlib.Path)
given = parser.parse_args()
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1",
               "OPENBLAS_NUM_THREADS": "1"}
PATHS = ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0))  # Kuhn's six: axes along which corners follow


def layer_of(cells, x):
    """Node numbers, from 1, of the elements between x and x + 1, [elements, 4]."""
    shape, rows = [c + 1 for c in cells], []
    for t, axes in enumerate(PATHS):
        here = np.indices([1, *cells[1:]]).reshape(3, -1).T + [x, 0, 0]
        corners = [here.copy()]
        for axis in axes:
            here[:, axis] += 1
            corners.append(here.copy())
        nodes = np.stack([1 + (c[:, 0] * shape[1] + c[:, 1]) * shape[2] + c[:, 2] for c in corners], 1)
        rows.append(nodes[:, [0, 1, 2, 3] if t < 3 else [0, 1, 3, 2]])
    return np.concatenate(rows)


def write_text(out, places, elements, n_elements):
    line = lambda words: out.write(words.encode())
    line('$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 "bar"\n$EndPhysicalNames\n')
    line(f"$Nodes\n{len(places)}\n")
    np.savetxt(out, np.column_stack([np.arange(1, len(places) + 1), places]), fmt="%d %.17g %.17g %.17g")
    line(f"$EndNodes\n$Elements\n{n_elements}\n")
    for numbers, nodes in elements:
        np.savetxt(out, np.column_stack([numbers, np.broadcast_to([4, 2, 1, 1], (len(nodes), 4)), nodes]), fmt="%d")
    line("$EndElements\n")


def write_binary(out, places, elements, n_elements):
    put = lambda kind, *values: out.write(np.array(values, kind).tobytes())
    line = lambda words: out.write(words.encode())
    line("$MeshFormat\n4.1 1 8\n")
    put("<i4", 1)
    line('\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 "bar"\n$EndPhysicalNames\n$Entities\n')
    put("<u8", 0, 0, 0, 1)  # one volume, without corners, in group 1
    put("<i4", 1)
    put("<f8", 0, 0, 0, *places.max(0))
    put("<u8", 1)
    put("<i4", 1)
    put("<u8", 0)
    line("\n$EndEntities\n$Nodes\n")
    put("<u8", 1, len(places), 1, len(places))
    put("<i4", 3, 1, 0)
    put("<u8", len(places))
    np.arange(1, len(places) + 1, dtype="<u8").tofile(out)
    places.astype("<f8").tofile(out)
    line("\n$EndNodes\n$Elements\n")
    put("<u8", 1, n_elements, 1, n_elements)
    put("<i4", 3, 1, 4)
    put("<u8", n_elements)
    for numbers, nodes in elements:
        np.column_stack([numbers, nodes]).astype("<u8").tofile(out)
    line("\n$EndElements\n")


def write_bar(path, cells):
    """A layer of cells at a time: the elements are never in memory together."""
    size = (1, 1, 1) if len(set(cells)) == 1 else (1, 0.3, 0.31)
    each = 6 * cells[1] * cells[2]
    elements = ((x * each + np.arange(1, each + 1), layer_of(cells, x)) for x in range(cells[0]))
    places = np.indices([c + 1 for c in cells]).reshape(3, -1).T / cells * size
    with open(path, "wb") as out:
        (write_binary if given.binary else write_text)(out, places, elements, each * cells[0])
    return len(places)


def run(ranks, mesh, out):
    report = given.folder / "report.json"
    words = ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(ranks), given.programs / "modalpack", mesh, out, "-f",
             "--young", "2e11", "--poisson", "0.3", "--density", "7800", "-m", given.modes, "--fixed", "plane:0,0,0:-1,0,0",
             "--eigensolver", "slepc", "--route", given.route, "--report", report]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(list(map(str, words)), env=ENVIRONMENT, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"measure_ranks: {mesh}: {ranks} ranks: exit {done.returncode}: {done.stderr[-2000:]}")
    whole = json.loads(report.read_text())
    whole["wall"] = time.monotonic() - start
    whole["processor"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return whole


given.folder.mkdir(parents=True, exist_ok=True)
rows = []
print("| cells | nodes | ranks | processor seconds | ms a node | seconds | iterations | memory, all ranks, MiB | kB a node | most loaded, MiB "
      "| over the mean | estimate |\n" + 12 * "| --- " + "|")
for cells in given.cells or ["30,14,13"]:
    cells = [int(c) for c in cells.split(",")]
    mesh = given.folder / "bar.msh"
    n_nodes = write_bar(mesh, cells)
    for ranks in map(int, given.ranks.split(",")):
        whole = run(ranks, mesh, given.folder / "bar.h5")
        rows.append({"cells": cells, "nodes": n_nodes, "ranks": ranks, "report": whole})
        solver = whole["solver"]
        free = n_nodes - (cells[1] + 1) * (cells[2] + 1)
        most, total = solver["most_resident_bytes"], solver["resident_bytes"]
        print(f"| {' x '.join(map(str, cells))} | {n_nodes:,} | {ranks} | {whole['processor']:.1f} | {1e3 * whole['processor'] / free:.2f} | "
              f"{whole['wall']:.1f} | {solver['iterations']} | {total / 2**20:,.0f} | {total / 1e3 / n_nodes:.1f} | {most / 2**20:,.0f} | "
              f"{most * ranks / total:.2f} | {solver['estimate_bytes'] / most:.2f} |", flush=True)
    mesh.unlink()
if given.json:
    given.json.write_text(json.dumps(rows, indent=1))
