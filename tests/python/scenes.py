# SPDX-License-Identifier: Apache-2.0
"""What the tests of scenes share; they are called with the folder of the programs and the name of a part.
Everything is done in a folder of its own, which is removed."""
import json
import os
import sys
import tempfile

import h5py
import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from stvk_solid import Basis, Tools, write_bar

E, NU, RHO = 1e6, 0.3, 1000.0
RUBBER = ["--young", E, "--poisson", NU, "--density", RHO]
run = Tools(sys.argv[1], exact=True)
workplace = tempfile.TemporaryDirectory(prefix="scene-")
os.chdir(workplace.name)


def pack(mesh, path, n_modes, *more, fixed=True):
    run("modalpack", mesh, path, *RUBBER, "--modes", n_modes, *(["--fixed", "root"] if fixed else []),
        "--reduced-forces", "-q", *more)


def simulate(basis, scene, *words, name="run", code=0, more=()):
    """The trajectory's arrays, or with another exit code what stderr says."""
    with open(f"{name}.json", "w") as file:
        json.dump(scene, file, indent=1)
    got = run("modalsim", basis, f"{name}.h5", "--scene", f"{name}.json", "--force", "-q", *words, code=code)
    if code:
        return got.stderr
    with h5py.File(f"{name}.h5") as f:
        return {key: f[key][:] for key in ("times", "q", "poses", "energy", *more) if key in f}


def small(value, limit, what):
    assert np.all(np.asarray(value) <= limit), (what, value, limit)
    print(f"{what}: {np.max(value):.3g} <= {limit:g}")


class Full(Basis):
    """The whole solid: Newton and Newmark in world axes, fixed nodes moved as `motion` says."""

    def __init__(self, path):
        super().__init__(path)
        self.m = self.mass(RHO)
        self.m3 = scipy.sparse.kron(self.m, np.eye(3)).tocsc()
        three = lambda nodes: (3 * nodes[:, None] + np.arange(3)).ravel()
        self.free = three(np.setdiff1d(np.arange(len(self.nodes)), self.fixed))
        self.held = three(self.fixed)

    def world(self, f, i):
        x = self.nodes + np.tensordot(f["q"][i], self.modes, 1)
        return x @ f["poses"][i, 0][:, :3].T + f["poses"][i, 0][:, 3] if "poses" in f else x

    def weight(self, g):
        return (self.m @ np.tile(g, (len(self.nodes), 1))).ravel()

    def static(self, g, load_steps=4):
        u = np.zeros((len(self.nodes), 3))
        for part in np.linspace(0, 1, load_steps + 1)[1:]:
            for _ in range(40):
                r = self.full_forces(u, E, NU).ravel()[self.free] - part * self.weight(g)[self.free]
                if np.abs(r).max() < 1e-10:
                    break
                k = self.full_stiffness(u, E, NU)[self.free][:, self.free]
                u.ravel()[self.free] -= scipy.sparse.linalg.spsolve(k.tocsc(), r)
        return u

    def transient(self, motion, v, g, h, steps):
        x, a, load = self.nodes.ravel().copy(), np.zeros(3 * len(self.nodes)), self.weight(g)
        force = lambda x: self.full_forces(x.reshape(-1, 3) - self.nodes, E, NU).ravel()
        m = self.m3[self.free][:, self.free]
        a[self.held] = motion(0)[2].ravel()
        a[self.free] = scipy.sparse.linalg.spsolve(
            m, (load - force(x))[self.free] - self.m3[self.free][:, self.held] @ a[self.held])
        for step in range(1, steps + 1):
            xs, vs, as_ = (m.ravel() for m in motion(step * h))
            a1 = a.copy()
            a1[self.held] = as_
            for _ in range(30):
                x1 = x + h * v + h * h / 4 * (a + a1)
                x1[self.held] = xs
                r = (self.m3 @ a1 + force(x1) - load)[self.free]
                if np.abs(r).max() < 1e-9:
                    break
                k = self.full_stiffness(x1.reshape(-1, 3) - self.nodes, E, NU)[self.free][:, self.free]
                a1[self.free] -= scipy.sparse.linalg.spsolve((m + h * h / 4 * k).tocsc(), r)
            v = v + h / 2 * (a + a1)
            v[self.held], x, a = vs, x1, a1
        return x.reshape(-1, 3)


def place(name, rows, *bases):
    with open(f"{name}.csv", "w") as file:
        file.write("object,shape,parent,x,y,z,rx,ry,rz\n")
        for i, row in enumerate(rows):
            file.write(",".join(map(str, (i, *row))) + "\n")
    run("modalplace", f"{name}.csv", f"{name}.h5", *bases, "-q")


def main(parts):
    parts[sys.argv[2]]()
