# SPDX-License-Identifier: Apache-2.0
"""modalpack --eigensolver slepc on 1, 2 and 4 ranks, held to its own solver and to a closed form: held, in part, free and disconnected
solids, a square bar, elements of every type, two materials a million apart; what it refuses; ranks that die.
usage: check_ranks.py PROGRAMS_FOLDER short|long [WHY_ABSENT]"""
import itertools
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

BIN = pathlib.Path(sys.argv[1])
LONG = sys.argv[2] == "long"
MODALPACK = str(BIN / "modalpack")
STEEL = ["--young", "2e11", "--poisson", "0.3", "--density", "7800"]
SANITIZED = b"__asan_init" in (BIN / "modalpack").read_bytes()
KINDS = {"tet4": 4, "hex8": 5, "wedge6": 6, "pyramid5": 7, "tet10": 11, "hex20": 17}
CORNERS = [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (0, 0, 2), (2, 0, 2), (2, 2, 2), (0, 2, 2)]
EDGES = [(0, 1), (0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (4, 7), (5, 6), (6, 7)]
TETS = [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)]
FACES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
ENVIRONMENT["ASAN_OPTIONS"] = ENVIRONMENT.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # Open MPI and PETSc keep what they have
ENVIRONMENT = {k: v for k, v in ENVIRONMENT.items() if not k.startswith(("OMPI_COMM", "PMI_", "SLURM_"))}


def cell_elements(kind, corner):
    """Elements of a cell of two units, each a list of places."""
    at = [tuple(np.add(corner, c)) for c in CORNERS]
    middle = lambda a, b: tuple((np.array(a) + b) // 2)
    if kind == "hex8":
        return [at]
    if kind == "hex20":
        return [at + [middle(at[a], at[b]) for a, b in EDGES]]
    if kind == "wedge6":
        return [[at[i] for i in w] for w in ((0, 1, 2, 4, 5, 6), (0, 2, 3, 4, 6, 7))]
    if kind == "pyramid5":
        return [[at[i] for i in face[::-1]] + [tuple(np.add(corner, 1))] for face in FACES]
    tets = [[at[i] for i in t] for t in TETS]
    if kind == "tet4":
        return tets
    return [t + [middle(t[a], t[b]) for a, b in ((0, 1), (1, 2), (0, 2), (0, 3), (2, 3), (1, 3))] for t in tets]


def write(path, boxes, edge=0.1):
    """boxes: kind, cells, place of its corner in cells, name of its group. Every box has nodes of its own unless the places meet."""
    numbers, lines, n, groups = {}, [], 0, {}
    for kind, cells, corner, group in boxes:
        tag = groups.setdefault(group, len(groups) + 1)
        for cell in itertools.product(*map(range, cells)):
            for element in cell_elements(kind, 2 * np.add(corner, cell)):
                n += 1
                nodes = [numbers.setdefault(tuple(int(c) for c in p), len(numbers) + 1) for p in element]
                lines.append("%d %d 2 %d %d %s" % (n, KINDS[kind], tag, tag, " ".join(map(str, nodes))))
    text = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(groups))]
    text += ['3 %d "%s"' % (tag, name) for name, tag in groups.items()] + ["$EndPhysicalNames", "$Nodes", str(len(numbers))]
    text += ["%d %.17g %.17g %.17g" % (i, *(edge / 2 * c for c in p)) for p, i in numbers.items()]
    pathlib.Path(path).write_text("\n".join(text + ["$EndNodes", "$Elements", str(n)] + lines + ["$EndElements", ""]))
    return path


def launch(n, *words, env=None):
    command = ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(n), MODALPACK]
    return subprocess.run(command + list(map(str, words)), capture_output=True, text=True, env={**ENVIRONMENT, **(env or {})}, timeout=300)


def ours(text):
    return [line for line in text.splitlines() if line.startswith("modalpack: ")]


def solve(n, mesh, *words, out="r.h5"):
    """n = 0: modalpack's own solver."""
    options = [mesh, out, "-f", "--volume-modes", "float64", *words]
    got = launch(n, *options, "--eigensolver", "slepc", "--report", "r.json") if n else \
        subprocess.run([MODALPACK, *map(str, options), "--sturm"], capture_output=True, text=True)
    assert got.returncode == 0, (n, options, got)
    checked = subprocess.run([str(BIN / "modalinfo"), "--check", out], capture_output=True, text=True)
    assert checked.returncode == 0, checked
    with h5py.File(out) as f:
        shape = f["shapes/0000"]
        modes = shape["modes"]
        if n:
            assert modes.attrs["eigensolver"].decode() in ("slepc direct", "slepc multigrid"), dict(modes.attrs)
            assert modes.attrs["ranks"] == n, dict(modes.attrs)
            solver = json.load(open("r.json"))["solver"]
            assert solver["ranks"] == n
            if not SANITIZED:  # what it takes for itself
                assert 0.8 <= solver["estimate_bytes"] / solver["most_resident_bytes"] <= 1.2, (n, options, solver)
        found = {name: modes[name][:] for name in ("eigenvalues", "residuals", "orthogonality", "participation", "modal_masses",
                                                   "rigid_eigenvalues")}
        found["count"] = modes["sturm_count"][:] if "sturm_count" in modes else None
        found["total_mass"] = modes.attrs["total_mass"]
        found["vectors"] = shape["volume/volume_modes"][:].reshape(len(modes["eigenvalues"]), -1)
        found["nodes"] = shape["volume/nodes"][:]
        return found


def same(name, got, want):
    """Eigenvalues to 1e-9, eigenspaces to 1e-7, single modes with their sign."""
    a, b = got["eigenvalues"], want["eigenvalues"]
    error = np.abs(a / b - 1).max()
    # what rounding takes from the lowest modes of slender solids, both ways
    assert error <= max(1e-9, want["residuals"].max(), got["residuals"].max()), (name, error)
    assert (got["residuals"] <= np.maximum(1e-9, 4 * want["residuals"])).all(), (name, got["residuals"], want["residuals"])
    assert got["orthogonality"].max() <= 1e-10 and np.abs(got["modal_masses"] - 1).max() <= 1e-10, name
    assert len(got["rigid_eigenvalues"]) == len(want["rigid_eigenvalues"]), name
    assert abs(got["total_mass"] / want["total_mass"] - 1) <= 1e-12, name
    last = b > b[-1] * (1 - 1e-6)  # a multiple eigenvalue may go on past the last mode
    for k in np.flatnonzero(~last | (np.arange(len(b)) == len(b) - 1) & (np.sum(last) == 1)):
        alike = np.flatnonzero(np.abs(b / b[k] - 1) < 1e-6)
        q = np.linalg.qr(want["vectors"][alike].T)[0]
        x = got["vectors"][k]
        space = np.linalg.norm(x - q @ (q.T @ x)) / np.linalg.norm(x)
        assert space <= 1e-7, (name, k, space)
        if len(alike) == 1:
            sign = np.abs(x - want["vectors"][k]).max() / np.abs(x).max()
            assert sign <= 1e-6, (name, k, sign)
    if got["count"] is not None:
        assert got["count"][1] == got["count"][2] >= len(a) + len(got["rigid_eigenvalues"]), (name, got["count"])


def refuse(code, message, n, *words, env=None):
    before = sorted(os.listdir("."))
    got = launch(n, *words, env=env) if n else subprocess.run([MODALPACK, *map(str, words)], capture_output=True, text=True,
                                                                env={**ENVIRONMENT, **(env or {})})
    lines = ours(got.stderr)
    assert got.returncode == code and lines and message in lines[-1], (words, code, message, got)
    assert sum(message in line for line in lines) == 1, (message, lines)
    now = sorted(os.listdir("."))
    assert now == before, set(now) ^ set(before)


def chosen(cases, ranks):
    """Of the cases those of the short tier, each on its number of ranks."""
    return [(*cases[k][:3], (n,)) for k, n in ranks.items()]


def check_solids():
    every = [(kind, (2, 2, 2), (3 * i, 0, 0), kind) for i, kind in enumerate(KINDS)]
    bar = write("bar.msh", [("tet4", (10, 3, 2), (0, 0, 0), "bar")])
    square = write("square.msh", [("hex8", (8, 2, 2), (0, 0, 0), "bar")])
    two = write("two.msh", [("tet4", (5, 2, 2), (0, 0, 0), "a"), ("tet10", (3, 2, 1), (0, 5, 0), "b")])
    both = write("both.msh", [("hex8", (5, 2, 2), (0, 0, 0), "hard"), ("hex8", (5, 2, 2), (5, 0, 0), "soft")])
    root = ["--fixed", "plane:0,0,0:-1,0,0"]
    cases = [("held", bar, [*STEEL, *root, "-m", 12], (1, 2, 4)),
             ("free", bar, [*STEEL, "-m", 10], (1, 2)),
             ("lumped, in part", bar, [*STEEL, "-m", 8, "--mass", "lumped", "--fixed", "plane:0,0,0:-1,0,0@xz"], (2,)),
             ("square", square, [*STEEL, *root, "-m", 9], (1, 2)),
             ("disconnected, free", two, [*STEEL, "-m", 8], (1, 4)),
             ("every element", write("every.msh", every), [*STEEL, "--fixed", "plane:0,0,0:0,0,-1", "-m", 20], (2, 4)),
             ("a million apart", both, [*root, "--material", "hard=2e11,0.3,7800", "--material", "soft=2e5,0.3,7800", "-m", 10], (1, 2))]
    for name, mesh, words, ranks in cases if LONG else chosen(cases, {0: 2, 5: 1, 6: 1}):
        want = solve(0, mesh, *words)
        for n in ranks:
            same(f"{name}, {n} ranks", solve(n, mesh, *words), want)
    if not LONG:
        return
    # what multigrid would do: auto says why it is not taken, and --memory-limit cannot make it
    far = [*root, "--material", "hard=2e11,0.3,7800", "--material", "soft=2e4,0.3,7800", "-m", 10]
    refuse(4, "multigrid does not do with moduli 1e+07 apart", 0, both, "x.h5", "--eigensolver", "slepc", *far, "--memory-limit", "1M")
    first = [solve(1, bar, *STEEL, *root, "-m", 12, out=out) and pathlib.Path(out).read_bytes() for out in ("r.h5", "r.h5")]
    assert first[0] == first[1], "one rank: bytes differ"


def check_multigrid():
    """The same without a factor: no count, said so in the file."""
    root = ["--fixed", "plane:0,0,0:-1,0,0"]
    bar = write("thick.msh", [("tet4", (10, 3, 3), (0, 0, 0), "bar")])
    two = [("tet4", (5, 3, 3), (0, 0, 0), "a"), ("tet10", (3, 2, 2), (0, 5, 0), "b")]
    cases = [("held", bar, [*root, "-m", 12], (1, 2, 4)), ("free", bar, ["-m", 10], (1, 2)),
             ("lumped, in part", bar, ["-m", 8, "--mass", "lumped", "--fixed", "plane:0,0,0:-1,0,0@xz"], (2,)),
             ("square", write("thick_square.msh", [("hex8", (8, 3, 3), (0, 0, 0), "bar")]), [*root, "-m", 9], (2,)),
             ("disconnected, free", write("thick_two.msh", two), ["-m", 8], (2,)),
             ("every element", "every.msh", ["--fixed", "plane:0,0,0:0,0,-1", "-m", 20], (2,)),
             ("a million apart", "both.msh", [*root, "--material", "hard=2e11,0.3,7800", "--material", "soft=2e5,0.3,7800", "-m", 10], (1, 2)),
             ("a hard part on a soft root", "both.msh", [*root, "--material", "hard=2e5,0.3,7800", "--material", "soft=2e11,0.3,7800", "-m", 10], (1, 2)),
             ("slender", write("slender.msh", [("tet4", (60, 2, 2), (0, 0, 0), "bar")]), [*root, "-m", 8], (1, 2))]
    for name, mesh, words, ranks in cases if LONG else chosen(cases, {0: 2, 1: 1, 7: 1}):
        words = words if "--material" in words else [*STEEL, *words]
        want, iterations = solve(0, mesh, *words), []
        for n in ranks:
            got = solve(n, mesh, *words, "--route", "multigrid")
            same(f"multigrid, {name}, {n} ranks", got, want)
            solver = json.load(open("r.json"))["solver"]
            iterations.append(solver["iterations"])
            assert abs(solver["contrast"] / (1e6 if "--material" in words else 1) - 1) < 1e-9, solver
            with h5py.File("r.h5") as f:
                assert got["count"] is None and f["shapes/0000/modes"].attrs["eigensolver"] == b"slepc multigrid"
        assert max(iterations) <= 60 and max(iterations) - min(iterations) <= 10, (name, iterations)


def plan(mesh, *words, ranks=""):
    """Rows of --plan: ranks, MiB by direct and by multigrid, what auto takes."""
    got = subprocess.run([MODALPACK, mesh, "x.h5", *map(str, words), "--eigensolver", "slepc", "--plan" + ranks], capture_output=True,
                         text=True, env=ENVIRONMENT)
    assert got.returncode == 0 and not os.path.exists("x.h5"), got
    lines = got.stdout.splitlines()
    assert lines[0].split() == ["ranks", "direct_MiB", "multigrid_MiB", "auto"], lines
    return [(int(a), int(b), int(c), " ".join(d)) for a, b, c, *d in map(str.split, lines[1:])]


def check_plan():
    """Estimates beside resident sets, and what auto does with them."""
    slab = write("slab.msh", [("tet4", (20, 16, 16), (0, 0, 0), "slab")])
    words = [*STEEL, "--fixed", "plane:0,0,0:-1,0,0", "-m", 6]
    rows = plan(slab, *words, ranks="=1,2,8,64")
    assert [r[0] for r in rows] == [1, 2, 8, 64] and all(r[3] == "-" for r in rows), rows
    assert all(a[i] > b[i] for a, b in zip(rows[:1], rows[1:2]) for i in (1, 2)), rows
    again = plan(slab, *words)  # what the process holds so far differs from run to run
    assert len(again) == 1 and again[0][0] == 1 and all(abs(a - b) <= 6 for a, b in zip(again[0][:3], rows[0])), (again, rows)
    direct, multigrid = rows[0][1], rows[0][2]
    assert direct > multigrid + 8, rows
    between = "%dM" % ((direct + multigrid) // 2)
    assert plan(slab, *words, "--memory-limit", between)[0][3] == "multigrid"
    assert plan(slab, *words, "--memory-limit", "4G")[0][3] == "direct" and plan(slab, *words, "--memory-limit", "1M")[0][3] == "none fits"
    taken = []
    for limit in ("4G", between):
        solve(1, slab, *words, "--memory-limit", limit)  # compares them
        solver = json.load(open("r.json"))["solver"]
        taken.append(solver["route"])
        assert SANITIZED or abs(solver["estimate_bytes"] / 2**20 - (direct if limit == "4G" else multigrid)) <= 8, (solver, rows)
    assert taken == ["direct", "multigrid"], taken
    slepc = [slab, "x.h5", *words, "--eigensolver", "slepc"]
    refuse(4, "MiB needed by a rank (--route direct), or ", 2 if LONG else 0, *slepc, "--memory-limit", "1M")
    for route in ("direct", "multigrid"):
        refuse(4, "MiB needed by a rank, the limit is 1 MiB; more ranks (--plan)", 0, *slepc, "--memory-limit", "1M", "--route", route)
    refuse(2, "--plan: needs --eigensolver slepc", 0, slab, "x.h5", *words, "--plan")
    for text in ("0", "2,", "2,x", "1000001", "-1", ",".join(["2"] * 33)) if LONG else ("2,x",):
        refuse(2, "--plan: must be 1 to 32 numbers of ranks", 0, *slepc, "--plan=" + text)


def check_forms():
    """Modes come from the ranks in ranges: in each form that a basis keeps them in they are the same, embedded surfaces too."""
    fine = pathlib.Path("fine.obj")
    fine.write_text("".join(f"v {0.05 + 0.1 * i} {0.05 + 0.1 * j} 0.13\n" for i in range(10) for j in range(3)) +
                    "".join(f"f {3 * i + j + 1} {3 * i + j + 4} {3 * i + j + 2}\n" for i in range(9) for j in range(2)))
    words = ["thick.msh", "r.h5", "-f", "--eigensolver", "slepc", *STEEL, "--fixed", "plane:0,0,0:-1,0,0", "-m", 5]
    for surface in ([], ["--surface", fine]):
        for n in (1, 2, 4) if LONG else (1,):
            found = {}
            for form in ("none", "float32", "float64"):
                got = launch(n, *words, *surface, "--volume-modes", form)
                assert got.returncode == 0, got
                checked = subprocess.run([str(BIN / "modalinfo"), "--check", "r.h5"], capture_output=True, text=True)
                assert checked.returncode == 0, checked
                with h5py.File("r.h5") as f:
                    shape = f["shapes/0000"]
                    found[form] = [shape[k][:] if k in shape else None for k in ("modes/modal_matrix", "volume/volume_modes", "volume/inner_modes")]
                    at = shape["volume/embedding_nodes"][:]
            matrix, whole, _ = found["float64"]
            inner = np.setdiff1d(np.arange(whole.shape[1]), at)
            kept = found["float32"][1 if surface else 2]
            assert (found["none"][1:] == [None, None]) and kept.dtype == np.float32, found
            want = whole if surface else whole[:, inner]
            if n == 1:  # several ranks add in another order each time
                assert all((found[form][0] == matrix).all() for form in found) and (kept == want.astype(np.float32)).all()
            assert kept.shape == want.shape and np.abs(kept - want).max() <= 1e-6 * np.abs(whole).max(), (n, surface)
            if not surface:  # tile, mode, component, lane
                flat = matrix.transpose(1, 0, 3, 2).reshape(5, -1, 3)[:, :len(at)]
                assert (flat == whole[:, at].astype(np.float32)).all(), n


def datasets(path, leave_out):
    """Values of all datasets and attributes below the shape, but of these groups and arrays."""
    found = {}

    def take(name, node):
        if not any(part in name.split("/") for part in leave_out):
            found.update({f"{name}@{key}": np.array(value) for key, value in node.attrs.items()})
            if isinstance(node, h5py.Dataset):
                found[name] = (str(node.dtype), node.shape, node[()].tobytes())
    with h5py.File(path) as f:
        f["shapes/0000"].visititems(take)
    return found


def check_mesh():
    """Several ranks divide the mesh and keep it in ranges: what the file has of it, surface and tables are the bytes that one rank writes.
    What is wrong with a mesh is said by one rank, once."""
    every = [(kind, (2, 2, 2), (3 * i, 0, 0), kind) for i, kind in enumerate(KINDS)]
    whole = pathlib.Path(write("each.msh", every)).read_text()
    n = int(whole.split("$Nodes\n")[1].split()[0])
    pathlib.Path("each.msh").write_text(whole.replace(f"$Nodes\n{n}\n", f"$Nodes\n{n + 2}\n{n + 7} 9 9 9\n").replace(
        "$EndNodes", f"{n + 9} 0 0 7\n$EndNodes"))  # two nodes on no element, the first and the last
    two = write("apart.msh", [("tet4", (5, 2, 2), (0, 0, 0), "a"), ("hex8", (3, 2, 1), (0, 5, 0), "b")])
    fixed = ["--fixed", "plane:0,0,0:0,0,-1"]
    cases = [("each.msh", [*STEEL, *fixed, "--material", "hex20=1e11,0.2,5000"], (2, 4)), (two, STEEL, (4,)),
             (write("one.msh", [("hex8", (1, 1, 1), (0, 0, 0), "a")]), STEEL, (2, 4)), ("each.msh", [*STEEL, *fixed], (2,))]
    # faces in more than one round, and more ranks than elements
    cases += [(write("rounds.msh", [("tet4", (20, 8, 8), (0, 0, 0), "a")]), [*STEEL, *fixed], (2, 3))]
    for mesh, words, ranks in cases if LONG else [(*cases[0][:2], (4,)), (*cases[2][:2], (4,)), (*cases[4][:2], (3,))]:
        files = []
        for p in (1, *ranks):
            got = launch(p, mesh, "r.h5", "-f", *words, "-m", 4, "--eigensolver", "slepc")
            assert got.returncode == 0, got
            assert ("nodes in no element dropped, 2" in got.stderr) == (mesh == "each.msh"), got
            checked = subprocess.run([str(BIN / "modalinfo"), "--check", "r.h5"], capture_output=True, text=True)
            assert checked.returncode == 0, checked
            files.append(datasets("r.h5", ("modes", "inner_modes")))
        for p, found in zip(ranks, files[1:]):
            assert sorted(found) == sorted(files[0]), (mesh, p, sorted(found))
            for name, value in found.items():
                assert np.array_equal(value, files[0][name]) if isinstance(value, np.ndarray) else value == files[0][name], (mesh, p, name)
        for name in ("surface/triangles", "tables/faces", "volume/nodes", "volume/element_nodes", "volume/element_tags", "volume/node_tags",
                     "volume/element_types", "volume/groups/0000/elements", "volume/groups@count"):
            assert name in files[0], sorted(files[0])
        assert ("volume/element_material" in files[0]) == ("--material" in words), sorted(files[0])
    check_faces()
    slepc = ["x.h5", "--eigensolver", "slepc", *STEEL]
    last = whole.split("$EndElements")[0].rstrip().rsplit("\n", 1)[-1]
    pathlib.Path("lost.msh").write_text(whole.replace(last, last.rsplit(" ", 1)[0] + f" {n + 1}"))
    refuse(3, f"unknown node, {n + 1}", 3, "lost.msh", *slepc)
    twice = pathlib.Path("bar.msh").read_text().split("$Elements\n")
    lines = twice[1].split("\n")
    lines[0], lines[1:1] = str(int(lines[0]) + 1), ["999999" + lines[1][1:]]
    pathlib.Path("twice.msh").write_text("$Elements\n".join([twice[0], "\n".join(lines)]))
    refuse(3, "on the same side of face", 2, "twice.msh", *slepc)


def check_faces():
    """Faces that do not fit together: the ranks that match them find the same first one as a process alone, and all end."""
    three = "".join(f"{i} {x} {y} {z}\n" for i, x, y, z in ((1, 0, 0, 0), (2, 1, 0, 0), (3, 0, 1, 0), (4, 0, 0, 1), (5, 0, 0, -1), (6, .2, .2, 2)))
    pathlib.Path("three.msh").write_text("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6\n" + three + "$EndNodes\n$Elements\n3\n"
                                         "1 4 2 1 1 1 2 3 4\n2 4 2 1 1 1 3 2 5\n3 4 2 1 1 1 2 3 6\n$EndElements\n")
    write("halves.msh", [("hex8", (2, 1, 1), (0, 0, 0), "a"), ("tet4", (2, 1, 1), (2, 0, 0), "b")])
    write("middles.msh", [("tet4", (2, 1, 1), (0, 0, 0), "a"), ("tet10", (2, 1, 1), (2, 0, 0), "b")])
    head, body = pathlib.Path("rounds.msh").read_text().split("$Elements\n")
    lines = body.split("\n")
    n = int(lines[0])
    again = [f"{n + 1 + k} " + lines[1 + at].split(" ", 1)[1] for k, at in enumerate((n - 3, n // 2, 40))]  # twice: near the end, amid, at the begin
    pathlib.Path("several.msh").write_text("$Elements\n".join([head, "\n".join([str(n + 3), *lines[1:n + 1], *again, *lines[n + 1:]])]))
    for mesh, message in (("three.msh", "is used 3 times"), ("halves.msh", "a pyramid belongs between them"),
                          ("middles.msh", "has not the same mid-side nodes in both"), ("several.msh", "elements 40, 41 and ")):
        words = [mesh, "x.h5", "--eigensolver", "slepc", *STEEL, "-m", 2]
        alone = subprocess.run([MODALPACK, *map(str, words)], capture_output=True, text=True, env=ENVIRONMENT)
        said = ours(alone.stderr)[-1]
        assert alone.returncode == 3 and message in said, alone
        for ranks in (2, 3, 7) if LONG else (3,):
            refuse(3, said, ranks, *words)


def write_bar(path, cells):
    """As write's box of TET4, for many of them."""
    counts = np.array(cells) + 1
    place = lambda i: (i[..., 0] * counts[1] + i[..., 1]) * counts[2] + i[..., 2]
    corners = np.argwhere(np.ones(cells))[:, None, :] + np.array(CORNERS) // 2
    elements = place(corners)[:, np.array(TETS)].reshape(-1, 4) + 1
    nodes = 0.01 * np.argwhere(np.ones(counts))
    with open(path, "w") as f:
        f.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(nodes)}\n")
        f.write("\n".join(f"{i} %.17g %.17g %.17g" % tuple(x) for i, x in enumerate(nodes, 1)))
        f.write(f"\n$EndNodes\n$Elements\n{len(elements)}\n")
        f.write("\n".join(f"{i} 4 2 1 1 %d %d %d %d" % tuple(e) for i, e in enumerate(elements.tolist(), 1)) + "\n$EndElements\n")
    return path


def largest_resident(pid):
    return 1024 * int(next(line for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM:")).split()[1])


def watch(n, mesh):
    """Largest resident sets by rank: when the mesh was read, when the surface was there, and when all was divided."""
    command = ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "-n", str(n), MODALPACK, mesh, "x.h5", "--eigensolver",
               "slepc", "--route", "multigrid", *STEEL, "-m", "2", "--progress", "json"]
    whole = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    marks, found, said = [" elements, volume ", "surface of", '"assemble"'], [], []
    for line in whole.stderr:
        said.append(line)
        if marks[len(found)] in line:
            found.append({rank: largest_resident(pid) for rank, pid in find_ranks(whole.pid).items()})
            if len(found) == len(marks):
                break
    whole.terminate()
    whole.communicate(timeout=120)
    assert len(found) == len(marks) and all(sorted(f) == list(range(n)) for f in found), (n, found, said[-5:])
    return found


def check_shares():
    """Rank 0 reads and divides a mesh of which it holds a window of its share in main memory, and what is touched until a thread lets pages go,
    which a busy machine makes more of: held to half of what is in the files (of all of it 120 MiB would be resident). The files leave nothing,
    and what goes through them has the bytes that modalpack's own solver writes from main memory."""
    slab = write("slab.msh", [("tet4", (20, 16, 16), (0, 0, 0), "slab")])
    words = [*STEEL, "--fixed", "plane:0,0,0:-1,0,0", "-m", 4]
    subprocess.run([MODALPACK, slab, "r.h5", "-f", *map(str, words)], check=True, capture_output=True)
    want = datasets("r.h5", ("modes", "inner_modes", "truncation"))  # SLEPc's bases have no motions beside their modes
    os.mkdir("aside")
    before = sorted(os.listdir("."))
    for n, scratch in ((1, []), (3, ["--scratch", "aside"])) if LONG else ((3, ["--scratch", "aside"]),):
        solve(n, slab, *words, "--route", "multigrid", *scratch)
        assert json.load(open("r.json"))["scratch_bytes"] > 2**20, n
        found = datasets("r.h5", ("modes", "volume_modes"))
        want_here = {name: value for name, value in want.items() if name in found}
        assert len(want_here) == len(want) and all(
            np.array_equal(v, found[k]) if isinstance(v, np.ndarray) else v == found[k] for k, v in want_here.items()), n
    assert [f for f in sorted(os.listdir(".")) if f != "r.json"] == [f for f in before if f != "r.json"] and not os.listdir("aside"), os.listdir(".")
    refuse(4, "scratch file in nowhere: No such file or directory", 0, slab, "x.h5", "--eigensolver", "slepc", *words, "--scratch", "nowhere")
    refuse(2, "--scratch: needs --eigensolver slepc", 0, slab, "x.h5", *words, "--scratch", ".")
    if SANITIZED:
        print("not checked: resident sets; a sanitizer's are other ones")
        return
    bar = write_bar("long.msh", (90, 41, 39))
    full = ["sh", "-c", 'ulimit -f 32768; exec "$0" "$@"', MODALPACK, bar, "x.h5", "--eigensolver", "slepc", *map(str, words)]
    got = subprocess.run(full, capture_output=True, text=True, env=ENVIRONMENT)  # more than Open MPI's own files
    assert got.returncode == 4 and ": scratch file in .: File too large, " in ours(got.stderr)[-1] and not os.path.exists("x.h5"), got
    libraries, half = 6 * 2**20, 350 * 91 * 42 * 40  # what rank 0 loads to read; half of 0.7 kB a node
    for n in (2, 4) if LONG else (4,):
        for attempt in range(3):  # others have the cores, too
            read, surface, divided = watch(n, bar)
            most = read[1] + libraries + half
            others = max(divided[rank] for rank in range(1, n))
            if surface[0] <= most and divided[0] <= others + half:
                break
        else:
            raise AssertionError((n, most, surface, divided))
        print(f"{n} ranks, MiB when the surface is there and when all is divided: rank 0", surface[0] >> 20, divided[0] >> 20, "others",
              max(surface[rank] for rank in range(1, n)) >> 20, others >> 20)
    os.remove(bar)


def check_rod():
    """Held across everywhere, a bar of HEX8 without Poisson's effect is a rod of linear elements, whose matrices have
    lambda = 6 E / (rho h^2) (1 - cos t) / (2 + cos t), t = (2 k - 1) pi / (2 N)."""
    n, young, density = 12, 2e11, 8000.0
    rod = write("rod.msh", [("hex8", (n, 1, 1), (0, 0, 0), "rod")])
    t = (2 * np.arange(1, 7) - 1) * np.pi / (2 * n)
    exact = 6 * young / (density * 0.1**2) * (1 - np.cos(t)) / (2 + np.cos(t))
    # modes that warp the section lie above these of length
    got = solve(2 if LONG else 1, rod, "--young", young, "--poisson", 0, "--density", density, "-m", 6, "--fixed", "box:-1,-1,-1:9,9,9@yz",
                "--fixed", "plane:0,0,0:-1,0,0")
    assert np.abs(got["eigenvalues"] / exact - 1).max() <= 1e-9, (got["eigenvalues"], exact)


def check_refusals():
    write("cell.msh", [("hex8", (1, 1, 1), (0, 0, 0), "a")])
    slepc = ["bar.msh", "x.h5", "--eigensolver", "slepc", *STEEL]
    for words in (["--derivatives", 3], ["--reduced-forces"], ["--snapshots", "s.h5"], ["--import", "a.U"]):
        refuse(2, f"--eigensolver slepc: {words[0]} is not distributed", 2 if LONG else 0, *slepc, *words)
    refuse(2, "--eigensolver slepc: is for one mesh", 0, "bar.msh", *slepc)
    refuse(2, "--eigensolver slepc: is for one mesh", 0, *slepc, "--shapes", "bodies")
    refuse(2, "--factor is lanczos's", 0, *slepc, "--factor", "float32")
    refuse(2, "--route: needs --eigensolver slepc", 0, "bar.msh", "x.h5", *STEEL, "--route", "direct")
    refuse(2, "--eigensolver: must be", 0, "bar.msh", "x.h5", *STEEL, "--eigensolver", "arpack")
    refuse(2, "--route: must be", 0, *slepc, "--route", "best")
    refuse(2, "--sturm: needs a factor", 0, *slepc, "--route", "multigrid", "--sturm")
    refuse(3, "--route multigrid: 6 modes need 36 degrees of freedom, 12", 0, "cell.msh", "x.h5", "--eigensolver", "slepc", *STEEL, "--fixed",
           "plane:0,0,0:0,0,-1", "-m", 6, "--route", "multigrid")
    # 8 nodes, 6 of them fixed
    refuse(2, "more ranks than free nodes, 4 for 2", 4, "cell.msh", "x.h5", "--eigensolver", "slepc", *STEEL, "--fixed", "plane:0,0,0:0,0,-1",
           "--fixed", "plane:0,0,0:-1,0,0", "-m", 2)
    refuse(3, "modes: 7 asked for, 6 degrees of freedom", 2 if LONG else 0, "cell.msh", "x.h5", "--eigensolver", "slepc", *STEEL, "--fixed",
           "plane:0,0,0:0,0,-1", "--fixed", "plane:0,0,0:-1,0,0", "-m", 7)
    refuse(3, "No such file", 2, "nowhere.msh", *slepc[1:])
    # a launcher of another MPI has started three, each of which knows nothing of the others: all refuse, and none writes
    before = sorted(os.listdir("."))
    strangers = [subprocess.Popen([MODALPACK, *map(str, slepc)], stderr=subprocess.PIPE, text=True,
                                  env={**ENVIRONMENT, "PMI_SIZE": "3", "PMI_RANK": str(k)}) for k in range(3)]
    for k, stranger in enumerate(strangers):
        text = stranger.communicate(timeout=120)[1]
        said = [line for line in ours(text) if "3 processes were launched, and each is alone in its MPI" in line]
        assert stranger.returncode == 4 and len(said) == 1, (k, stranger.returncode, text)
    assert sorted(os.listdir(".")) == before, os.listdir(".")


def find_ranks(mpirun_pid):
    """Processes by their ranks, as far as they have begun."""
    ranks = {}
    for p in pathlib.Path(f"/proc/{mpirun_pid}/task/{mpirun_pid}/children").read_text().split():
        try:
            if os.readlink(f"/proc/{p}/exe") == os.path.realpath(MODALPACK):
                told = dict(v.split("=", 1) for v in pathlib.Path(f"/proc/{p}/environ").read_text().split("\0") if "=" in v)
                ranks[int(told["OMPI_COMM_WORLD_RANK"])] = int(p)
        except (OSError, KeyError):
            pass
    return ranks


def has_open(pid, path):
    try:
        return any(os.readlink(file.path) == path for file in os.scandir(f"/proc/{pid}/fd"))
    except OSError:  # closed in between
        return False


def kill_matching(mpirun, words, mesh):
    """Rank 1 is stopped while rank 0 reads the mesh, whose faces it should match, and killed while rank 0 waits for them. Whether it was
    stopped in time: the surface is not there."""
    path = os.path.realpath(mesh)
    with open("said.txt", "w+") as said:
        whole = subprocess.Popen([*mpirun, "-n", "3", MODALPACK, *words], stderr=said, env=ENVIRONMENT)
        deadline, ranks = time.time() + 60, {}
        while len(ranks) < 3:
            assert time.time() < deadline and whole.poll() is None, (ranks, whole.poll())
            ranks = find_ranks(whole.pid)
        while not has_open(ranks[0], path) and os.fstat(said.fileno()).st_size == 0:  # what was read is said at once
            assert time.time() < deadline and whole.poll() is None, whole.poll()
        os.kill(ranks[1], signal.SIGSTOP)
        time.sleep(1.5)
        said.seek(0)
        text = said.read()
        in_time = " elements, volume " in text and "surface of" not in text and whole.poll() is None
        os.kill(ranks[1], signal.SIGKILL)
        assert whole.wait(timeout=120) != 0
    os.remove("said.txt")
    return in_time


def check_deaths():
    """No file, and no temporary one, where a rank dies or has no memory."""
    big = write("big.msh", [("tet4", (40, 12, 12), (0, 0, 0), "bar")])
    words = [big, "x.h5", "--eigensolver", "slepc", *STEEL, "--fixed", "plane:0,0,0:-1,0,0"]
    # the seconds that the other ranks have to clear up: one is little where another test has the cores
    mpirun = ["mpirun", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1", "--mca", "odls_base_sigkill_timeout", "3"]
    before = sorted(os.listdir("."))
    whole = subprocess.Popen([*mpirun, "-n", "3", MODALPACK, *words], stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    ranks = []
    deadline = time.time() + 60
    while len(ranks) < 3 and time.time() < deadline:
        children = pathlib.Path(f"/proc/{whole.pid}/task/{whole.pid}/children").read_text().split()
        ranks = [int(p) for p in children if os.readlink(f"/proc/{p}/exe") == os.path.realpath(MODALPACK)]
        time.sleep(0.05)
    assert len(ranks) == 3, ranks
    time.sleep(1.5)
    os.kill(ranks[1], signal.SIGKILL)
    _, text = whole.communicate(timeout=120)
    assert whole.returncode not in (0, None), text
    assert sorted(os.listdir(".")) == before, os.listdir(".")
    assert any(kill_matching(mpirun, words, big) for _ in range(8)), "no rank was killed while it matched faces"
    assert sorted(os.listdir(".")) == before, os.listdir(".")
    if SANITIZED or not LONG:
        print("not checked: a rank without memory; it takes long, and a sanitizer needs the address space for itself")
        return
    # The second rank has less room than the problem takes; how much its libraries take differs from system to system.
    for limit in (440000, 400000, 360000, 320000):  # KiB of addresses
        limited = ["sh", "-c", f"ulimit -v {limit}; exec \"$0\" \"$@\"", MODALPACK, *words, "-f"]
        got = subprocess.run([*mpirun, "-n", "1", MODALPACK, *words, "-f", ":", "-n", "1", *limited], capture_output=True, text=True,
                             env=ENVIRONMENT, timeout=300)
        if got.returncode != 0:
            break
        os.remove("x.h5")
    last = ours(got.stderr)[-1]
    assert got.returncode == 4 and "memory" in last and sum(line == last for line in ours(got.stderr)) == 1, got
    assert sorted(os.listdir(".")) == before, os.listdir(".")


if len(sys.argv) > 3 and sys.argv[3]:
    print(f"skipped: modalpack without SLEPc: {sys.argv[3]}")
    sys.exit(77)
if not shutil.which("mpirun"):
    print("skipped: no mpirun")
    sys.exit(77)


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
with tempfile.TemporaryDirectory(prefix="ranks-") as folder:
    os.chdir(folder)
    for step in (check_solids, check_multigrid, check_mesh, check_shares, check_forms, check_plan, check_rod, check_refusals, check_deaths):
        begun, used = time.time(), processor_seconds()
        step()
        print(f"{step.__name__}: {time.time() - begun:.1f} s, of processors {processor_seconds() - used:.1f} s", flush=True)
    os.chdir("/")
