# SPDX-License-Identifier: Apache-2.0
"""What users run, and its verdict against a truth that modalsim has no part in: default bases (no --reduced-forces) of few and of 20 modes; runs by
options (impulses, weight, ground records, from rest or not), scenes of forces at and between natural frequencies, of free bodies and of one on
another, and responses. The truth is the whole solid in numpy (full_solid.py). A motion that is off by more than 10 % of its size is not to be called
sound, one within 2 % not to be doubted (docs/results/trust.md).
usage: check_judged_linear.py BIN COUNT [--seed N] [--first N] [--table FILE]"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import tempfile

import h5py
import numpy as np

from basis_file import node_modes
from full_solid import Solid, System
from stvk_solid import REFERENCE, write_inp

YOUNG, POISSON, DENSITY = 1e6, 0.3, 1000.0
OFF, CLOSE, MISSED, ALARMS = 0.1, 0.02, 0.01, 0.1
SOLIDS = {"beam": (1, (6, 1, 1), (1, 0.12, 0.15)), "plate": (3, (3, 2, 1), (1, 0.7, 0.12)), "block": (3, (2, 2, 2), (1, 0.8, 0.7)),
          "bar": (1, (3, 1, 1), (1, 0.3, 0.25))}
WAYS = ("impulse", "impulse", "impulses", "weight", "static", "ground", "initial", "resonance", "resonance", "sine", "ramp", "sweep", "free", "free sine",
        "attached", "attached sine", "response")
SMALL = 1e-5  # largest displacement, of the length: no linear model is doubted for that, and a body that turns does not stretch by turning


class Mesh:
    """A solid as a file, in numpy, and its bases; the same for all scenes."""

    def __init__(self, bin_folder, name, folder):
        self.bin, self.name, self.folder = bin_folder, name, pathlib.Path(folder)
        kind, cells, size = SOLIDS[name]
        self.path = self.folder / f"{name}.inp"
        write_inp(self.path, kind, cells, size)
        nodes, elements, part = {}, [], ""
        for line in self.path.read_text().replace(",\n", ", ").splitlines():
            part = line.split(",")[0] if line.startswith("*") else part
            words = [] if line.startswith("*") else line.split(",")
            if words and part == "*NODE":
                nodes[int(words[0])] = [float(x) for x in words[1:4]]
            elif words and part == "*ELEMENT":
                elements.append([int(x) for x in words[1:1 + len(REFERENCE[kind][0])]])
        place = {tag: i for i, tag in enumerate(sorted(nodes))}
        self.nodes = np.array([nodes[tag] for tag in sorted(nodes)])
        self.solid = Solid(self.nodes, [[place[tag] for tag in e] for e in elements], kind, YOUNG, POISSON, DENSITY)
        self.root, self.end = self.nodes[:, 0] < 1e-9, self.nodes[:, 0] > size[0] - 1e-9
        self.length = size[0]
        free = np.zeros(len(self.nodes), bool)
        self.systems = {"fixed": System.held(self.solid, self.root), "free": System.held(self.solid, free)}

    def call(self, *words, code=0):
        got = subprocess.run([self.bin / words[0], *map(str, words[1:])], cwd=self.folder, capture_output=True, text=True)
        assert got.returncode == code, (words, got)
        return got

    def make_bases(self):
        for motion in ("fixed", "free"):
            hold = ["--fixed", "root"] if motion == "fixed" else []
            for modes in (3, 6, 20):
                self.call("modalpack", self.path, self.basis(motion, modes), "--modes", modes, "--young", YOUNG, "--poisson", POISSON, "--density",
                          DENSITY, "-q", "--volume-modes", "float64", *hold)
        (self.folder / f"{self.name}.csv").write_text("object,shape,parent,x,y,z,rx,ry,rz\n0,0,-1,0,0,0,0,0,0\n"
                                                      f"1,0,0,{self.length},0,0,0,0,0\n", encoding="utf-8")
        for modes in (3, 6, 20):
            self.call("modalplace", f"{self.name}.csv", self.basis("attached", modes), self.basis("fixed", modes), "-q")
        with h5py.File(self.folder / self.basis("fixed", 20)) as file:
            of_modalpack = file["shapes/0000/modes/frequencies"][:6]
            assert np.allclose(file["shapes/0000/volume/nodes"][:], self.nodes)
            self.surface = np.zeros(len(self.nodes), bool)
            self.surface[file["shapes/0000/volume/embedding_nodes"][:]] = True
        # the joint of formats/scene.md: vertices within 1.25 times the reach of the fixed nodes around their middle
        middle = self.nodes[self.root].mean(axis=0)
        reach = np.linalg.norm(self.nodes[self.root] - middle, axis=1).max()
        joint = self.surface & (np.linalg.norm(self.nodes - middle - [self.length, 0, 0], axis=1) <= 1.25 * reach)
        self.systems["attached"] = System.chain(self.solid, self.root, joint, np.array([self.length, 0, 0]))
        ours = self.systems["fixed"].omega[:6] / (2 * np.pi)
        assert np.allclose(of_modalpack, ours, rtol=1e-6), (self.name, of_modalpack, ours)
        self.check_truth()

    def check_truth(self):
        """Central differences of all degrees of freedom, without natural motions, go where the truth goes."""
        load = np.zeros(self.nodes.size)
        load[3 * np.flatnonzero(self.end)[0] + 2] = 1
        system = self.systems["fixed"]
        times = np.linspace(0, 2 * np.pi / system.omega[0] / 4, 41)
        parts = int(np.ceil(3 * (times[1] - times[0]) * system.omega[-1]))
        a, b = system.run(times, [load], [np.ones(len(times))]), system.central(times, load, parts)
        assert np.abs(a - b).max() <= 0.02 * np.abs(a).max(), (self.name, np.abs(a - b).max() / np.abs(a).max())

    def basis(self, motion, modes):
        return f"{self.name}_{motion}_{modes}.h5"


class Scene:
    def __init__(self, meshes, seed, n):
        chance = self.chance = random.Random(f"{seed} {n} linear")
        self.n, self.mesh, self.way = n, meshes[chance.choice(list(SOLIDS))], WAYS[n % len(WAYS)]
        self.modes = chance.choice((3, 6, 20, 20, 20))
        self.motion = "free" if "free" in self.way else "attached" if "attached" in self.way else "fixed"
        self.system = self.mesh.systems[self.motion]
        elastic = self.system.omega[self.system.omega > 0] / (2 * np.pi)
        self.frequencies, self.period = elastic, 1 / elastic[0]
        self.ratio = chance.choice((0.001, 0.005, 0.02, 0.05))
        self.duration = self.period * chance.uniform(1, 20 if self.motion != "attached" else 6)
        # frames as many as the fastest of the modes wants, and no more than a table of all degrees of freedom should have
        self.n_frames = int(min(4000, 40 * self.duration / self.period) if self.motion != "attached" else 40 * self.duration / self.period)
        self.fps = self.n_frames / self.duration
        self.direction = np.array([chance.gauss(0, 1) for _ in range(3)])
        if chance.random() < 0.3:
            self.direction = np.eye(3)[chance.randrange(3)]
        self.direction /= np.linalg.norm(self.direction)

    # ---- loads: of the truth by node, of modalsim by vertex ----

    def choose_nodes(self):
        """One node, or all of the free end, of the last object: their numbers in the solid."""
        ends = np.flatnonzero(self.mesh.end & self.mesh.surface)
        if self.chance.random() < 0.5:
            return ends
        return np.array([self.chance.choice(np.flatnonzero(self.mesh.surface & ~self.mesh.root).tolist())])

    def load_at(self, nodes, vector):
        load = np.zeros(self.system.shapes.shape[0])
        first = load.size - 3 * len(self.mesh.nodes)
        for node in nodes:
            load[first + 3 * node:first + 3 * node + 3] += vector / len(nodes)
        return load

    def vertices(self, nodes):
        with h5py.File(self.mesh.folder / self.mesh.basis(self.motion, self.modes)) as file:
            surface = file["shapes/0000/surface"]
            near = np.linalg.norm(surface["rest_positions"][:][:, None] - self.mesh.nodes[nodes][None], axis=2)
            assert (near.min(axis=0) < 1e-9).all(), nodes
            return surface["user_vertex"][:][near.argmin(axis=0)].tolist()

    def rate(self):
        """Of a sine, Hz: at a natural frequency, that the basis has or not; or between."""
        if "resonance" in self.way:
            return float(self.frequencies[self.chance.randrange(min(self.modes + 6, len(self.frequencies)))])
        return float(self.chance.uniform(0.2, 1.3) * self.frequencies[self.chance.choice((0, self.modes - 1))])

    # ---- the two ---- 

    def fine_times(self, fastest):
        """Of the truth: frames, each in so many parts that a load of that many Hz is followed."""
        parts = max(1, int(np.ceil(40 * fastest / self.fps)))
        return np.arange(self.n_frames * parts + 1) / (self.fps * parts), parts

    def truth(self, loads, signal_of, fastest, kicks=(), static=False):
        times, parts = self.fine_times(fastest)
        kicks = [(0 if at == 0 else int(round(at * self.fps)) * parts, load) for at, load in kicks]
        made = self.system.run(times, loads, [f(times) for f in signal_of], kicks, static=static, **self.damping())
        return made[::parts]

    def damping(self):
        """A ratio in every mode; of objects on objects by the stiffness, since their own modes are not those of all together."""
        return {"beta": self.ratio * self.period / np.pi} if self.motion == "attached" else {"ratio": self.ratio}

    def scene(self, forces):
        objects = [{"object": 0, "pose_motion": "free"}] if self.motion == "free" else []
        return {"duration": self.n_frames / self.fps, "fps": self.fps, "model": "linear", "damping": self.damping(), "forces": forces,
                **({"objects": objects} if objects else {})}

    def draw(self):
        """The truth for loads of size one, and what makes modalsim's of `size`."""
        chance, mesh = self.chance, self.mesh
        weights = mesh.solid.mass @ np.tile(self.direction, len(mesh.nodes)) if self.motion == "fixed" else None
        last = 1 if self.motion == "attached" else 0
        frame = lambda part: round(part * self.n_frames) / self.fps
        if self.way in ("impulse", "impulses", "initial"):
            kicks, flags = [], []
            for k in range(2 if self.way == "impulses" else 1):
                nodes, at = self.choose_nodes(), frame(chance.uniform(0, 0.5)) if k else 0.0
                kicks.append((at, self.load_at(nodes, self.direction)))
                flags += [(vertex, at, len(nodes)) for vertex in self.vertices(nodes)]
            if self.way == "initial":
                return self.draw_initial()
            true = self.truth([], [], 0, kicks)
            return true, lambda size: [w for vertex, at, count in flags for w in
                                       ("--impulse", f"{vertex}:" + ",".join(repr(float(x)) for x in size / count * self.direction) + f"@{at!r}")], None
        if self.way in ("weight", "static"):
            true = self.truth([weights], [np.ones_like], 0, static=self.way == "static")
            return true, lambda size: ["--gravity", ",".join(repr(float(x)) for x in size * self.direction)] + ["--static"] * (self.way == "static"), None
        if self.way == "ground":
            count = max(2, int(self.duration * min(8 * self.frequencies[0], 4000 / self.duration)))
            at, values = np.linspace(0, self.duration, count), np.array([0] + [chance.gauss(0, 1) for _ in range(count - 1)])
            true = self.truth([-weights], [lambda t: np.interp(t, at, values)], 2 * count / self.duration)

            def flags_of(size):
                path = mesh.folder / f"ground_{self.n}.csv"
                path.write_text("".join(f"{t!r}," + ",".join(repr(float(x)) for x in size * v * self.direction) + "\n" for t, v in zip(at.tolist(), values)),
                                encoding="utf-8")
                return ["--base-acceleration", path]
            return true, flags_of, None
        nodes = self.choose_nodes()
        load = self.load_at(nodes, self.direction)
        if self.way in ("free", "attached"):
            width = self.period * chance.uniform(0.05, 0.5)
            keys = [[0, 0], [width, 1], [2 * width, 0]]
            curve, signal, fastest = {"keys": keys}, lambda t: np.interp(t, *zip(*keys)), 2 / width
        elif self.way == "ramp":
            keys = [[0, 0], [chance.uniform(0.1, 0.9) * self.duration, 1], [2 * self.duration, 1]]
            curve, signal, fastest = {"keys": keys}, lambda t: np.interp(t, *zip(*keys)), self.frequencies[0]
        elif self.way == "sweep":
            high = float(self.frequencies[min(self.modes + 2, len(self.frequencies) - 1)] * chance.uniform(0.5, 1))
            curve = {"sweep": {"from": 0, "to": high, "start": 0, "end": self.duration, "phase": 0}}
            signal, fastest = (lambda t: np.sin(np.pi * high / self.duration * t * t)), high
        else:
            rate = self.rate()
            curve, signal, fastest = {"sine": {"frequency": rate, "phase": 0}}, lambda t: np.sin(2 * np.pi * rate * t), rate
        true = self.truth([load], [signal], fastest)
        vertices = self.vertices(nodes)
        return true, None, lambda size: self.scene([{"object": last, "vertex": v, "force": (size / len(nodes) * self.direction).tolist(), "curve": curve}
                                                    for v in vertices])

    def draw_initial(self):
        """A mode of the basis by itself, which the basis has exactly."""
        mode = self.chance.randrange(3)
        times, _ = self.fine_times(0)
        omega, size = self.system.omega[mode], 1.0
        decay = self.ratio * omega
        damped = omega * np.sqrt(1 - self.ratio**2)
        q = np.exp(-decay * times) * (np.cos(damped * times) + decay / damped * np.sin(damped * times))
        with h5py.File(self.mesh.folder / self.mesh.basis("fixed", self.modes)) as file:
            shape = node_modes(file["shapes/0000"])[mode].ravel()
        return size * q[:, None] * shape, lambda size: ["--initial", f"{mode}={size!r}"], None

    def run(self):
        if self.way == "response":
            return self.respond()
        true, flags, scene = self.draw()
        size = SMALL * self.mesh.length / np.abs(self.deformation(true)).max()
        words = ["modalsim", self.mesh.basis(self.motion, self.modes), f"{self.n}.h5", "-q", "-j", "1", "--report", f"{self.n}.json"]
        if scene:
            (self.mesh.folder / f"{self.n}_scene.json").write_text(json.dumps(scene(size)), encoding="utf-8")
            words += ["--scene", f"{self.n}_scene.json"]
        else:
            words += ["--duration", repr(self.n_frames / self.fps), "--fps", repr(self.fps), "--damping-ratio", self.ratio, *flags(float(size))]
        self.mesh.call(*words)
        said = json.loads(self.mesh.call("modalinfo", "--check", "--json", f"{self.n}.h5").stdout)["quality"]
        made = self.positions()
        assert made.shape == true.shape, (made.shape, true.shape)
        return self.row(said, *self.errors(made, size * true))

    def deformation(self, u):
        """Displacements of a free body without its rigid motion: what its shape does."""
        if self.motion != "free":
            return u
        rows = self.mesh.solid.rigid_rows(self.mesh.nodes)
        return u - u @ np.linalg.pinv(rows).T @ rows.T

    def errors(self, made, true):
        """Of positions, over how far they go; and that or of a free body's shape, whichever is more."""
        size = lambda u: np.sqrt((u.reshape(len(u), -1, 3)**2).sum(axis=2).mean(axis=1)).max()
        off = size(made - true) / size(true)
        return off, max(off, size(self.deformation(made - true)) / size(self.deformation(true)))

    def positions(self):
        with h5py.File(self.mesh.folder / self.mesh.basis(self.motion, self.modes)) as b, h5py.File(self.mesh.folder / f"{self.n}.h5") as t:
            x, modes, parts = self.mesh.nodes, node_modes(b["shapes/0000"]), []
            rest = [x, x + [self.mesh.length, 0, 0]]
            for i, (first, end) in enumerate(zip(t["mode_offsets"][:-1], t["mode_offsets"][1:])):
                at = x + np.tensordot(t["q"][:, first:end], modes, 1)
                if "poses" in t:
                    frame = t["poses"][:, i]
                    at = np.einsum("fij,fnj->fni", frame[:, :, :3], at) + frame[:, None, :, 3]
                parts.append((at - rest[i]).reshape(len(at), -1))
            return np.concatenate(parts, axis=1)

    def respond(self):
        nodes = self.choose_nodes()
        high = float(self.frequencies[min(self.modes + self.chance.choice((-2, -1, 3)), len(self.frequencies) - 1)] * 0.97)
        scene = {"damping": {"ratio": self.ratio}, "response": {"from": 0, "to": high, "points": 60},
                 "forces": [{"object": 0, "vertex": v, "force": (self.direction / len(nodes)).tolist()} for v in self.vertices(nodes)]}
        (self.mesh.folder / f"{self.n}_scene.json").write_text(json.dumps(scene), encoding="utf-8")
        self.mesh.call("modalsim", self.mesh.basis("fixed", self.modes), f"{self.n}.csv", "-q", "--scene", f"{self.n}_scene.json", "--report",
                       f"{self.n}.json")
        said = json.loads((self.mesh.folder / f"{self.n}.json").read_text())["quality"]
        table = np.loadtxt(self.mesh.folder / f"{self.n}.csv", delimiter=",", skiprows=1)
        with h5py.File(self.mesh.folder / self.mesh.basis("fixed", self.modes)) as file:
            modes = node_modes(file["shapes/0000"]).reshape(self.modes, -1)
        made = (table[:, 1::2] * np.exp(1j * np.radians(table[:, 2::2]))) @ modes
        true = self.system.steady(table[:, 0], self.load_at(nodes, self.direction), self.ratio)
        off = (np.linalg.norm(made - true, axis=1) / np.linalg.norm(true, axis=1)).max()
        return self.row(said, off, off)

    def row(self, said, off, all_of_it):
        assert said["rating"] != "not judged", said
        return {"n": self.n, "solid": self.mesh.name, "way": self.way, "modes": self.modes, "ratio": self.ratio, "rating": said["rating"],
                "error": float(off), "all": float(all_of_it), "indicators": {one["name"]: one["worst"] for one in said["indicators"]}}


def table_of(rows):
    off, close = [r for r in rows if not r["error"] <= OFF], [r for r in rows if r["all"] <= CLOSE]
    between = [r for r in rows if r["error"] <= OFF and not r["all"] <= CLOSE]
    count = lambda of: (len(of), sum(r["rating"] == "ok" for r in of))
    return off, close, between, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="judged-") as folder, concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        meshes = {name: Mesh(arguments.bin.resolve(), name, folder) for name in SOLIDS}
        list(pool.map(Mesh.make_bases, meshes.values()))
        rows = list(pool.map(lambda n: Scene(meshes, arguments.seed, n).run(), range(arguments.first, arguments.first + arguments.count)))
    if arguments.table:
        with open(arguments.table, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    off, close, between, count = table_of(rows)
    for name, of in (("off by more than 10 %", off), ("between", between), ("within 2 %", close)):
        print(f"{name}: {count(of)[0]} scenes, {count(of)[1]} called ok")
    missed, alarms = [r for r in off if r["rating"] == "ok"], [r for r in close if r["rating"] != "ok"]
    assert len(off) > 0 and len(close) > 0, "nothing is judged"
    assert len(missed) <= MISSED * len(off), missed
    assert len(alarms) <= ALARMS * len(close), alarms


if __name__ == "__main__":
    main()
