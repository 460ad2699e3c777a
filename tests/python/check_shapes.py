# SPDX-License-Identifier: Apache-2.0
"""modalpack with many shapes: bodies, groups, several files; what is congruent and what is not.
usage: check_shapes.py MODALPACK MODALINFO"""
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

modalpack, modalinfo = sys.argv[1:]
RUBBER = ["--young", "1e6", "--poisson", "0.4", "--density", "1000"]
folder = pathlib.Path(tempfile.mkdtemp(prefix="shapes-"))
os.chdir(folder)
random = np.random.default_rng(7)


def run(*words):
    return subprocess.run([modalpack, *map(str, words)], capture_output=True, text=True)


def expect(code, message, *words):
    before = sorted(os.listdir("."))
    got = run(*words)
    assert got.returncode == code and message in got.stderr, (words, got)
    assert sorted(os.listdir(".")) == before, os.listdir(".")


def box(nx, ny, nz, jitter=0.15):
    """An uneven box of tetrahedra, Kuhn's six a cell."""
    points = np.stack(np.meshgrid(*(np.arange(n + 1.0) for n in (nx, ny, nz)), indexing="ij"), -1).reshape(-1, 3)
    points += random.uniform(-jitter, jitter, points.shape)
    number = lambda c: (c[0] * (ny + 1) + c[1]) * (nz + 1) + c[2]
    tets = []
    for cell in np.ndindex(nx, ny, nz):
        for path in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)):
            corner, nodes = list(cell), [number(cell)]
            for axis in path:
                corner[axis] += 1
                nodes.append(number(corner))
            a, b, c, d = points[nodes]
            tets.append(nodes if np.dot(np.cross(b - a, c - a), d - a) > 0 else [nodes[i] for i in (0, 2, 1, 3)])
    return points, np.array(tets)


def rotation():
    q = np.linalg.qr(random.standard_normal((3, 3)))[0]
    return q if np.linalg.det(q) > 0 else -q


def write(name, bodies, groups=None):
    """bodies: (points, tets); groups: a volume group number of each body, default 1."""
    groups = groups or [1] * len(bodies)
    nodes, elements, first = [], [], 1
    for (points, tets), group in zip(bodies, groups):
        nodes += [f"{first + i} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(points.tolist())]
        elements += [f"{len(elements) + 1 + k} 4 2 {group} 1 " + " ".join(map(str, t))
                     for k, t in enumerate((tets + first).tolist())]
        first += len(points)
    names = sorted(set(groups) - {0})
    pathlib.Path(name).write_text(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n%d\n%s\n$EndPhysicalNames\n"
        % (len(names), "\n".join(f'3 {g} "part {g}"' for g in names))
        + "$Nodes\n%d\n%s\n$EndNodes\n$Elements\n%d\n%s\n$EndElements\n"
        % (len(nodes), "\n".join(nodes), len(elements), "\n".join(elements)))
    return name


points, tets = box(4, 2, 2)
moved = [(points @ rotation().T + random.uniform(-50, 50, 3), tets) for _ in range(3)]
mirrored = points * [-1, 1, 1], tets[:, [0, 2, 1, 3]]
bodies = [(points, tets), moved[0], (1.001 * points + [0, 20, 0], tets), moved[1], (mirrored[0] + [0, 0, 30], mirrored[1]),
          moved[2]]
write("bodies.msh", bodies)
got = run("bodies.msh", "b.h5", *RUBBER, "--modes", "6", "--shapes", "bodies", "--report", "r.json")
assert got.returncode == 0 and "warning" not in got.stderr, got
report = json.loads(pathlib.Path("r.json").read_text())
assert (report["objects"], report["shapes"]) == (6, 3), report
assert subprocess.run([modalinfo, "b.h5", "--check"], capture_output=True).returncode == 0
with h5py.File("b.h5") as f:
    assert f["objects/shape"][:].tolist() == [0, 0, 1, 0, 2, 0]
    for k, (p, _) in enumerate(bodies):
        shape = f["shapes/%04d" % f["objects/shape"][k]]
        frame = f["objects/rest_pose"][k]
        x = shape["volume/nodes"][:] @ frame[:, :3].T + frame[:, 3]
        assert np.abs(x - p).max() < 1e-9 * 50, k
        assert abs(np.linalg.det(frame[:, :3]) - 1) < 1e-12
    values = [f["shapes/%04d/modes/eigenvalues" % k][:] for k in range(3)]
    assert f["shapes/0002"].attrs["name"] == "body 4" or f["shapes/0002"].attrs["name"] == b"body 4"
# the shape has the modes of each object; the scaled one others, the mirrored one the same again
for k, shape in ((3, 0), (2, 1), (4, 2)):
    write("one.msh", [bodies[k]])
    assert run("one.msh", "one.h5", *RUBBER, "--modes", "6", "--force").returncode == 0
    with h5py.File("one.h5") as f:
        alone = f["shapes/0000/modes/eigenvalues"][:]
    assert np.abs(values[shape] / alone - 1).max() < 1e-8, (k, values[shape], alone)
assert np.abs(values[2] / values[0] - 1).max() < 1e-8 and np.abs(values[1] / values[0] - 1).min() > 1e-3

# the same bytes for every number of threads, also of bodies so large that METIS orders them
larger = box(12, 7, 6)
write("larger.msh", [(larger[0] + [0, 0, 20 * k] + random.uniform(-.05, .05, larger[0].shape), larger[1])
                     for k in range(6)])
for mesh, words in (("bodies.msh", ()), ("larger.msh", ()),
                    ("bodies.msh", ("--derivatives", 3, "--reduced-forces", "--backend", "cpu"))):
    hashes = set()
    for threads in "132":
        os.makedirs(threads, exist_ok=True)
        got = run(mesh, f"{threads}/b.h5", *RUBBER, "--shapes", "bodies", "--modes", "6", "-j", threads, "-f", *words,
                  "--report", "r.json")
        assert got.returncode == 0, got
        with h5py.File(f"{threads}/b.h5") as f:
            hashes.add(f.attrs["content_hash"])
    assert len(hashes) == 1, (mesh, words)

# derivatives and reduced forces: each shape has those that it has alone
report = json.loads(pathlib.Path("r.json").read_text())
assert report["derivatives"]["derivatives"] == 3 * 6 and report["derivatives"]["load_residual"] < 1e-8, report
assert report["reduced_force_terms"] == {"linear": 36, "quadratic": 6 * 21, "cubic": 6 * 56}, report
assert subprocess.run([modalinfo, "2/b.h5", "--check"], capture_output=True).returncode == 0
for k, shape in ((3, 0), (2, 1), (4, 2)):
    write("one.msh", [bodies[k]])
    assert run("one.msh", "one.h5", *RUBBER, "--modes", "6", "--force", *words).returncode == 0
    with h5py.File("one.h5") as f, h5py.File("2/b.h5") as g:
        alone, together = f["shapes/0000"], g[f"shapes/{shape:04}"]
        assert together["modes"].attrs["kind"] == b"derivatives"
        assert np.abs(together["modes/eigenvalues"][:] / alone["modes/eigenvalues"][:] - 1).max() < 1e-7
        for name in ("linear", "quadratic", "cubic"):
            # columns may have other signs: what does not depend on them
            a, b = (np.abs(s["reduced_forces"][name][:]) for s in (alone, together))
            assert np.abs(a - b).max() < 1e-6 * a.max(), (k, name, np.abs(a - b).max() / a.max())

# groups: other materials are other shapes; what is fixed makes a difference, too
write("groups.msh", bodies[:2] + [moved[1]], [1, 2, 3])
got = run("groups.msh", "g.h5", *RUBBER, "--modes", "3", "--shapes", "groups", "--material", "part 2=2e6,0.4,1000")
assert got.returncode == 0, got
with h5py.File("g.h5") as f:
    assert f["objects/shape"][:].tolist() == [0, 1, 0] and f["shapes"].attrs["count"] == 2
    name = f["shapes/0001"].attrs["name"]
    assert name in ("part 2", b"part 2"), name
    assert np.allclose(f["shapes/0001/modes/eigenvalues"][:], 2 * f["shapes/0000/modes/eigenvalues"][:], rtol=1e-8)
    group = f["shapes/0001/volume/groups/0000"]
    assert len(group["nodes"]) == len(points) and len(group["elements"]) == len(tets)
pathlib.Path("first.bou").write_text(",".join(map(str, range(1, 10))) + ",\n")
got = run("bodies.msh", "f.h5", *RUBBER, "--modes", "3", "--shapes", "bodies", "--fixed", "first.bou")
assert got.returncode == 0, got
with h5py.File("f.h5") as f:
    assert f["objects/shape"][:].tolist() == [0, 1, 2, 1, 3, 1]
    assert f["shapes/0000/volume/fixed_nodes"][:].tolist() == list(range(9))
    assert len(f["shapes/0001/volume/fixed_nodes"]) == 0

# components held have a direction: a copy that was turned is another shape, and the user is told
write("held.msh", [bodies[0], (points + [0, 40, 0], tets), (points[:, [1, 2, 0]] + [0, 0, 40], tets)])
for held, expected in (([], [0, 0, 0]), (["--fixed", "box:-9,-9,-9:99,99,99@x"], [0, 0, 1])):
    got = run("held.msh", "held.h5", *RUBBER, "--modes", "2", "--shapes", "bodies", "--force", *held)
    assert got.returncode == 0 and ("directions of their own" in got.stderr) == bool(held), got
    with h5py.File("held.h5") as f:
        assert f["objects/shape"][:].tolist() == expected

# several files: each an object
write("a.msh", [bodies[0]])
write("c.msh", [moved[2]])
write("d.msh", [bodies[2]])
got = run("a.msh", "c.msh", "d.msh", "files.h5", *RUBBER, "--modes", "4")
assert got.returncode == 0, got
with h5py.File("files.h5") as f:
    assert f["objects/shape"][:].tolist() == [0, 0, 1]
    inputs = f["provenance/0000"].attrs["inputs"]
    assert str(inputs).count(".msh") == 3, inputs

# less memory than all threads would need: fewer, and the same bytes
hashes = set()
for limit in ("8G", "50M"):
    got = run("bodies.msh", "m.h5", *RUBBER, "--modes", "40", "--shapes", "bodies", "--reduced-forces", "-j3", "--backend",
              "cpu", "--memory-limit", limit, "-f")
    assert got.returncode == 0 and ("--memory-limit: 1 of 3 threads" in got.stderr) == (limit == "50M"), got
    with h5py.File("m.h5") as f:
        hashes.add(f.attrs["content_hash"])
assert len(hashes) == 1

# bad input
write("loose.msh", bodies[:2], [1, 0])
expect(3, "in no volume group", "loose.msh", "o.h5", *RUBBER, "--shapes", "groups")
expect(2, "--shapes: must be one, groups or bodies, x", "a.msh", "o.h5", *RUBBER, "--shapes", "x")
expect(2, "--import: one for each mesh, 1 for 2", "a.msh", "c.msh", "o.h5", *RUBBER, "--import", "x.U")
expect(2, "--snapshots: is for whole meshes, --shapes bodies", "a.msh", "o.h5", *RUBBER, "--snapshots", "s.h5", "--shapes", "bodies")
expect(2, "back end: 'gpu' is none of auto", "a.msh", "o.h5", *RUBBER, "--backend", "gpu")
write("tiny.msh", [bodies[0], (np.array([[0, 0, 9], [1, 0, 9], [0, 1, 9], [0, 0, 10.0]]), np.array([[0, 1, 2, 3]]))])
expect(3, "body 1: modes: 7 asked for", "tiny.msh", "o.h5", *RUBBER, "--modes", "7", "--shapes", "bodies")
expect(4, "body 0: --reduced-forces: 38 MiB needed, the limit is 10 MiB", "bodies.msh", "o.h5", *RUBBER, "--modes", "40",
       "--shapes", "bodies", "--reduced-forces", "--memory-limit", "10M", "-j2")
expect(3, "body 1: modal derivatives: 7 columns asked for, modes and derivatives have ", "tiny.msh",
       "o.h5", *RUBBER, "--modes", "7", "--derivatives", "3", "--shapes", "bodies")
expect(4, "body 0: modes: ", "bodies.msh", "o.h5", *RUBBER, "--modes", "3", "--shapes", "bodies", "--memory-limit", "100K")
expect(2, "a.msh", "a.msh", "c.msh", "a.msh", *RUBBER)

# thousands: equal ones are solved once, different ones in parallel
piece = box(2, 1, 1)
crowd = [(piece[0] @ rotation().T + 100 * random.standard_normal(3), piece[1]) for _ in range(5000)]
crowd += [(piece[0] * (1 + 0.01 * k) + [0, 0, 5000 + 20 * k], piece[1]) for k in range(1, 101)]
write("crowd.msh", crowd)
start = time.monotonic()
got = run("crowd.msh", "crowd.h5", *RUBBER, "--modes", "4", "--shapes", "bodies")
assert got.returncode == 0, got
with h5py.File("crowd.h5") as f:
    assert len(f["objects/shape"]) == 5100 and f["shapes"].attrs["count"] == 101
# the file is written while shapes are solved: a disk that is full meanwhile, with a thread for it and without
for threads in "12":
    before = sorted(os.listdir("."))
    got = subprocess.run([modalpack, "crowd.msh", "full.h5", *RUBBER, "--modes", "4", "--shapes", "bodies", "-j", threads],
                         capture_output=True, text=True,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000)))
    assert got.returncode == 4 and "full.h5: " in got.stderr and "File too large" in got.stderr, got
    assert sorted(os.listdir(".")) == before, os.listdir(".")
print(f"5,100 solids, 101 shapes: {time.monotonic() - start:.2f} s")
shutil.rmtree(folder)
print("check_shapes: ok")
