# SPDX-License-Identifier: Apache-2.0
"""modalsim --rebase: a trajectory carried to another basis of the same solids; what it refuses; and the hint of the
tools that refuse a basis of the same recipe. usage: check_rebase.py BIN SOURCE"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

tools, source = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
folder = pathlib.Path(tempfile.mkdtemp(prefix="rebase-"))
os.chdir(folder)


def run(tool, *words):
    return subprocess.run([tools / tool, *map(str, words)], capture_output=True, text=True)


def good(tool, *words):
    got = run(tool, *words)
    assert got.returncode == 0, (words, got)
    return got


def refused(code, message, *words):
    before = sorted(os.listdir("."))
    got = run("modalsim", *words)
    assert got.returncode == code and message in got.stderr and got.stderr.count("\n") == 1, (words, got)
    assert sorted(os.listdir(".")) == before, os.listdir(".")


def box(name, nx, ny, nz, shift=0.0, last=None):
    grid = np.stack(np.meshgrid(*(np.arange(n + 1.0) for n in (nx, ny, nz)), indexing="ij"), -1).reshape(-1, 3)
    points = grid * [0.05, 0.06, 0.08]
    points[-1] += shift
    number = lambda i, j, k: (i * (ny + 1) + j) * (nz + 1) + k + 1
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cells = [[number(*np.add(c, d)) for d in corners] for c in np.ndindex(nx, ny, nz)]
    if last:
        cells[-1] = [cells[-1][i] for i in (1, 2, 3, 0, 5, 6, 7, 4)]
    with open(name, "w") as out:
        print("*VERTICES\n%d 3 0 0" % len(points), file=out)
        for i, p in enumerate(points):
            print(i + 1, *p, file=out)
        print("*ELEMENTS\nCUBIC\n%d 8 0" % len(cells), file=out)
        for i, c in enumerate(cells):
            print(i + 1, *c, file=out)
        print("*MATERIAL BODY\nENU, 1000, 1e6, 0.4\n*REGION\nallElements, BODY", file=out)


HELD = ["--fixed", "plane:0,0,0:-1,0,0"]
MOVE = ["--duration", 0.2, "--fps", 100, "--initial", "0=1e-3", "--initial", "3=2e-4", "--damping-ratio", 0.01]


def node_modes(path, shape=0):
    """phi at the nodes, [r, N, 3], as formats/basis.md reads it."""
    with h5py.File(path) as f:
        s = f[f"shapes/{shape:04d}"]
        v = s["volume"]
        if "volume_modes" in v:
            return v["volume_modes"][:]
        U = s["modes/modal_matrix"][:].transpose(0, 3, 2, 1)
        U = U.reshape(-1, 3, U.shape[3])[:len(s["surface/rest_positions"])]
        phi = np.empty((U.shape[2], len(v["nodes"]), 3))
        inner = np.ones(phi.shape[1], bool)
        inner[v["embedding_nodes"][:]] = False
        phi[:, v["embedding_nodes"][:]] = U.transpose(2, 0, 1)
        phi[:, inner] = v["inner_modes"][:]
        return phi


def motion(path):
    with h5py.File(path) as f:
        return {name: f[name][:] for name in ("times", "q", "mode_offsets", "poses", "energy") if name in f}, dict(f.attrs)


box("bar.veg", 9, 2, 2)
good("modalpack", "bar.veg", "a.h5", "--modes", 8, *HELD, "--volume-modes", "float64")
good("modalpack", "bar.veg", "b.h5", "--modes", 8, *HELD, "--mass", "lumped", "--volume-modes", "float64")
good("modalpack", "bar.veg", "single.h5", "--modes", 8, *HELD)
good("modalpack", "bar.veg", "more.h5", "--modes", 14, *HELD, "--volume-modes", "float64")
good("modalpack", "bar.veg", "few.h5", "--modes", 2, *HELD, "--volume-modes", "float64")
good("modalpack", "bar.veg", "none.h5", "--modes", 8, *HELD, "--volume-modes", "none")
good("modalsim", "a.h5", "traj.h5", *MOVE)

# to itself, and to a basis that has more: the same motion
for name, tolerance in (("a.h5", 1e-12), ("more.h5", 1e-7), ("single.h5", 2e-6)):
    good("modalsim", name, "out.h5", "--rebase", "traj.h5", "--report", "r.json", "--force")
    old, _ = motion("traj.h5")
    new, attributes = motion("out.h5")
    with h5py.File(name) as f, h5py.File("out.h5") as g:
        assert attributes["basis_hash"] == f.attrs["content_hash"]
        assert attributes["basis_recipe"] == f.attrs["recipe_hash"]
        errors = g["rebase_errors"][:]
    assert errors.shape == (1,) and 0 <= errors[0] <= tolerance, (name, errors)
    assert json.load(open("r.json"))["rebase"]["worst_error"] == errors[0]
    u = np.tensordot(old["q"], node_modes("a.h5"), 1)
    v = np.tensordot(new["q"], node_modes(name), 1)
    assert np.abs(u - v).max() <= 20 * tolerance * np.abs(u).max(), (name, np.abs(u - v).max() / np.abs(u).max())
    assert np.array_equal(old["times"], new["times"])
    assert run("modalinfo", "out.h5", "--check").returncode == 0
    good("modaldeform", "out.h5", "seq", "--force")

# to one that has less, and to one of another mass: the nearest motion, and the stated error is that of the M norm.
# A lumped mass is diagonal: taken from the nodes' shares of the volume, all cells being equal
good("modalpack", "bar.veg", "lumped2.h5", "--modes", 2, *HELD, "--mass", "lumped", "--volume-modes", "float64")
for name in ("b.h5", "lumped2.h5"):
    good("modalsim", name, "out.h5", "--rebase", "traj.h5", "--force")
    share = np.zeros(10 * 3 * 3).reshape(10, 3, 3)
    for c in np.ndindex(9, 2, 2):
        share[c[0]:c[0] + 2, c[1]:c[1] + 2, c[2]:c[2] + 2] += 1
    root = np.sqrt(np.repeat(share.reshape(-1), 3))
    U, V = (root[:, None] * node_modes(p).reshape(len(node_modes(p)), -1).T for p in ("a.h5", name))
    q = motion("traj.h5")[0]["q"]
    wanted = np.linalg.lstsq(V, U @ q.T, rcond=None)[0].T
    new = motion("out.h5")[0]["q"]
    assert np.abs(new - wanted).max() <= 1e-9 * np.abs(wanted).max(), (name, np.abs(new - wanted).max())
    rest = np.linalg.norm(U @ q.T - V @ wanted.T, axis=0) / np.linalg.norm(U @ q.T, axis=0)
    with h5py.File("out.h5") as g:
        assert abs(g["rebase_errors"][0] - rest.max()) <= 1e-7 * rest.max(), (g["rebase_errors"][0], rest.max())
    assert name == "b.h5" or rest.max() > 1e-3, rest.max()

# many objects, with frames, energies, and another rest frame
with open("places.csv", "w") as out:
    print("object,shape,parent,x,y,z,rx,ry,rz\n0,0,-1,0,0,0,0,0,0\n1,0,0,1,0,0,0,0.5,0\n2,1,-1,0,3,0,0,0,0", file=out)
good("modalplace", "places.csv", "plant.h5", "a.h5", "few.h5")
good("modalplace", "places.csv", "plant2.h5", "more.h5", "a.h5")
good("modalsim", "plant.h5", "flat.h5", *MOVE[:6])
with h5py.File("flat.h5") as f, h5py.File("framed.h5", "w") as g:
    g.attrs.update({k: v for k, v in f.attrs.items()})
    for key in ("times", "q", "mode_offsets"):
        g[key] = f[key][:]
    n = len(f["times"])
    frames = np.zeros((n, 3, 3, 4))
    frames[..., :3] = np.eye(3)
    frames[..., 3] = np.arange(n)[:, None, None] * [1.0, 2, 3]
    g["poses"] = frames
    g["energy"] = np.arange(4.0 * n).reshape(n, 4)
for name in ("flat.h5", "framed.h5"):
    good("modalsim", "plant2.h5", "out.h5", "--rebase", name, "--force")
    old, _ = motion(name)
    new, _ = motion("out.h5")
    assert new["mode_offsets"].tolist() == [0, 14, 28, 36]
    assert ("poses" in old) == ("poses" in new) and ("energy" in old) == ("energy" in new)
    for key in ("poses", "energy"):
        assert key not in old or np.array_equal(old[key], new[key])
    with h5py.File("out.h5") as g:
        assert g["rebase_errors"].shape == (3,) and g["rebase_errors"][:].max() < 1e-7
    assert run("modalinfo", "out.h5", "--check").returncode == 0
shown = good("modalinfo", "out.h5").stdout
assert "rebased               error at most" in shown, shown

# what is refused
box("other.veg", 9, 2, 2, shift=1e-4)
box("turned.veg", 9, 2, 2, last=True)
box("longer.veg", 10, 2, 2)
for mesh, message in (("other.veg", "another solid: node"), ("longer.veg", "another solid: 99 nodes, not 90"),
                      ("turned.veg", "another solid: element 35")):
    good("modalpack", mesh, "x.h5", "--modes", 3, *HELD, "--force")
    refused(3, message, "x.h5", "new.h5", "--rebase", "traj.h5")
refused(3, "no modes at the nodes", "none.h5", "new.h5", "--rebase", "traj.h5")
refused(3, "objects, 1 in the old basis", "plant.h5", "new.h5", "--rebase", "traj.h5")
with open("away.csv", "w") as out:
    print("object,shape,parent,x,y,z,rx,ry,rz\n0,0,-1,0,0,0,0,0,0\n1,0,0,1,0,0,0,0.6,0\n2,1,-1,0,3,0,0,0,0", file=out)
good("modalplace", "away.csv", "away.h5", "more.h5", "a.h5")
refused(3, "object 1: its rest frame", "away.h5", "new.h5", "--rebase", "flat.h5")
good("modalsim", "away.h5", "out.h5", "--rebase", "framed.h5", "--force")
with open("loose.csv", "w") as out:
    print("object,shape,parent,x,y,z,rx,ry,rz\n0,0,-1,0,0,0,0,0,0\n1,0,-1,1,0,0,0,0.5,0\n2,1,-1,0,3,0,0,0,0", file=out)
good("modalplace", "loose.csv", "loose.h5", "more.h5", "a.h5")
refused(3, "object 1: hangs on object -1", "loose.h5", "new.h5", "--rebase", "framed.h5")
refused(3, "a.h5", "b.h5", "new.h5", "--rebase", "a.h5")
refused(2, "--fps: not with --rebase", "b.h5", "new.h5", "--rebase", "traj.h5", "--fps", 10)
refused(2, "--scene: not with --rebase", "b.h5", "new.h5", "--rebase", "traj.h5", "--scene", "traj.h5")
refused(2, "--basis: needs --rebase", "b.h5", "new.h5", "--basis", "a.h5", *MOVE)
refused(2, "", "b.h5", "traj.h5", "--rebase", "traj.h5", "--force")
with h5py.File("traj.h5") as f, h5py.File("nan.h5", "w") as g:
    g.attrs.update(dict(f.attrs.items()))
    for key in ("times", "q", "mode_offsets"):
        g[key] = f[key][:]
    g["q"][1, 1] = np.nan
refused(3, "not finite", "b.h5", "new.h5", "--rebase", "nan.h5")

# A basis made anew, with other bytes, in the old one's place: the same recipe. The tools refuse it and say what to do.
pathlib.Path("there").mkdir()
shutil.copy("a.h5", "there/kept.h5")
shutil.copy("traj.h5", "there/traj.h5")
shutil.copy("a.h5", "there/a.h5")
with h5py.File("there/a.h5", "r+") as f:
    f.attrs["content_hash"] = np.bytes_("0123456789abcdef" * 2)
    assert len(f.attrs["recipe_hash"]) == 32
HINT = "the same recipe (modalsim BASIS.h5 OUT.h5 --rebase TRAJ.h5 carries it over)"
for words in (["modaldeform", "there/traj.h5", "there/seq"], ["modalview", "there/traj.h5", "there/page.html"]):
    if (tools / words[0]).exists():
        got = run(*words)
        assert got.returncode == 3 and HINT in got.stderr and got.stderr.count("\n") == 1, got
assert HINT in run("modalinfo", "there/traj.h5").stdout + run("modalinfo", "there/traj.h5").stderr
got = run("modalsim", "there/a.h5", "there/out.h5", "--rebase", "there/traj.h5")
assert got.returncode == 3 and "made for another basis" in got.stderr, got
good("modalsim", "there/a.h5", "there/out.h5", "--rebase", "there/traj.h5", "--basis", "there/kept.h5")
good("modaldeform", "there/out.h5", "there/seq")
# another recipe, or none: no hint
with h5py.File("there/a.h5", "r+") as f:
    f.attrs["recipe_hash"] = np.bytes_("f" * 32)
got = run("modaldeform", "there/traj.h5", "there/seq2")
assert got.returncode == 3 and "made for another basis: hash" in got.stderr and "--rebase" not in got.stderr, got
with h5py.File("there/a.h5", "r+") as f:
    del f.attrs["recipe_hash"]
assert "--rebase" not in run("modaldeform", "there/traj.h5", "there/seq2").stderr
print("ok")
