# SPDX-License-Identifier: Apache-2.0
"""Motions that a rule without numerical damping cannot hold: either the balance of energies closes, or the run says so.
usage: check_trust.py BIN_FOLDER PART, PART one of
  beam     the undamped StVK beam that is struck, at 60 frames a second with the default step, 10 s
  long     the same, 60 s; on another one; free
  same     threads, checkpoints, other objects of the scene change no byte
  inside   a cube that is pushed through itself; det F against numpy, at every point
  damping  beta K(q) against an integrator in numpy; a body that turns loses nothing by it, and by beta K(0) most
  storm    the bush of data/plant.py in 12 m/s of wind with gusts, 5 s; tempest: 60 s, in 12 and in 30 m/s
  drift    phase_error against the phase that Newmark's rule loses; its bound for stiff modes
  decay    amplitude decay and period error of generalized-alpha against its amplification matrix"""
import json
import pathlib
import subprocess
import sys

import h5py
import numpy as np
import scipy.integrate

from scenes import RUBBER, main, pack, place, run, simulate, small, write_bar
from stvk_solid import Basis

BEAM = {"fps": 60, "model": "stvk", "impulses": [{"object": 0, "point": [1, 0.1, 0.1], "impulse": [0, 3, 8], "time": 0.1}]}


def write_hexahedra(path, cells, size):
    """A box of hexahedra; the group "root" is the face x = 0, "tip" the other one."""
    at = lambda i, j, k: 1 + (i * (cells[1] + 1) + j) * (cells[2] + 1) + k
    nodes = [[size[a] * ijk[a] / cells[a] for a in range(3)] for ijk in np.ndindex(*(n + 1 for n in cells))]
    face = lambda i: [(at(i, j, k), at(i, j, k + 1), at(i, j + 1, k + 1), at(i, j + 1, k))
                      for j in range(cells[1]) for k in range(cells[2])]
    boxes = [[at(i + a, j + b, k + c) for c in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
             for i, j, k in np.ndindex(*cells)]
    faces = [(3, 1, f) for f in face(0)] + [(3, 3, f) for f in face(cells[0])]
    with open(path, "w", encoding="utf-8") as file:
        file.write('$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n3\n2 1 "root"\n3 2 "beam"\n2 3 "tip"\n$EndPhysicalNames\n')
        file.write(f"$Nodes\n{len(nodes)}\n")
        for i, x in enumerate(nodes, 1):
            file.write(f"{i} {' '.join(map(repr, x))}\n")
        file.write(f"$EndNodes\n$Elements\n{len(faces) + len(boxes)}\n")
        for i, (kind, group, corners) in enumerate(faces + [(5, 2, b) for b in boxes], 1):
            file.write(f"{i} {kind} 2 {group} {group} {' '.join(map(str, corners))}\n")
        file.write("$EndElements\n")


def beam_basis():
    write_hexahedra("beam.msh", (16, 2, 2), (1.0, 0.1, 0.1))
    pack("beam.msh", "beam.h5", 20, "--derivatives", 6)


def balance(energy):
    """The largest of kinetic + elastic + dissipated - external, of the work done."""
    return np.abs(energy[:, :3].sum(1) - energy[:, 3]).max() / np.abs(energy[:, 3]).max()


def said(words):
    """What a run that ends says: exit 5, an object, a time and advice."""
    assert ": object " in words and ": t = " in words and "; try " in words, words
    return words


def held(basis, scene, what, *more):
    """The balance, or None where the run has ended with exit 5."""
    with open("held.json", "w", encoding="utf-8") as file:
        json.dump(scene, file)
    words = ("modalsim", basis, "held.h5", "--scene", "held.json", "--force", "-q", *more)
    got = subprocess.run([run.folder / words[0], *map(str, words[1:])], capture_output=True, text=True)
    if got.returncode == 5:
        print(f"{what}: exit 5, {said(got.stderr).strip()}")
        return None
    assert got.returncode == 0, (what, got)
    with h5py.File("held.h5") as f:
        off = balance(f["energy"][:])
    print(f"{what}: balance {off:.2g}")
    assert off <= 0.05, (what, off)
    return off


def beam(duration=10):
    beam_basis()
    scene = dict(BEAM, duration=duration)
    for fps in (60, 50, 7):
        assert held("beam.h5", dict(scene, fps=fps), f"{fps} frames a second, default") is not None
    assert held("beam.h5", dict(scene, damping={"alpha": 0.1}, fps=50), "damped") is not None
    for rule in ("newmark", "generalized-alpha"):
        held("beam.h5", dict(scene, duration=1, integrator=rule), rule)
    # the judgement is what holds it: without, hundreds of kJ of the 0.1 that were put in
    e = simulate("beam.h5", dict(scene, tolerance=1e300), "--allow-inversion")["energy"]
    assert balance(e) > 100, balance(e)


def long():
    beam(60)
    place("two", [(0, -1, 0, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0, 0)], "beam.h5")
    held("two.h5", dict(BEAM, duration=10), "a beam on a beam")
    pack("beam.msh", "loose.h5", 20, fixed=False)
    held("loose.h5", dict(BEAM, duration=10, objects=[{"object": 0, "pose_motion": "free"}]), "free")


def same():
    """Judgements depend on nothing but the tree."""
    beam_basis()
    place("three", [(0, -1, 0, 0, 0, 0, 0, 0), (0, -1, 0, 5, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0, 0.2)], "beam.h5")
    scene = dict(BEAM, duration=1.5, fps=20, step=1 / 240, objects=[{"object": 1, "initial": [0.5] + [0] * 19}])
    wanted = simulate("three.h5", scene, "-j", 1, "--checkpoint", "c.h5", "--checkpoint-every", 7, more=("quality",))
    for more in (["-j", 2], ["-j", 3], ["--restart", "c.h5"]):
        again = simulate("three.h5", scene, *more, more=("quality",))
        assert all(wanted[name].tobytes() == again[name].tobytes() for name in wanted), more
    place("others", [(0, -1, 0, 5, 0, 0, 0, 0), (0, -1, 0, 9, 0, 0, 0, 0)], "beam.h5")
    alone = {**scene, "objects": [{"object": 0, "initial": [0.5] + [0] * 19}], "impulses": []}
    alone = simulate("others.h5", alone)
    assert np.ascontiguousarray(alone["q"][:, :20]).tobytes() == np.ascontiguousarray(wanted["q"][:, 20:40]).tobytes()
    assert np.abs(wanted["q"][-1]).max() > 0.01
    # and there were some
    run("modalsim", "three.h5", "t.h5", "--scene", "run.json", "--force", "--report", "report.json")
    with open("report.json", encoding="utf-8") as file:
        report = json.load(file)
    assert report["step_reductions"] > 0 or report["energy_rule_switches"] > 0, report


def least_jacobian(basis, q):
    """The least det F of all frames, at all points of the stiffness, and the tag of its element."""
    solid, least = Basis(basis), (np.inf, None)
    with h5py.File(basis) as f:
        tags = f["shapes/0000/volume/element_tags"][:]
    for row in q:
        u = np.tensordot(row, solid.modes, 1)
        det = np.linalg.det(np.eye(3) + np.einsum("eap,eak->epk", u[solid.point_nodes], solid.gradients))
        if det.min() < least[0]:
            least = det.min(), tags[det.argmin() // (len(det) // len(tags))]
    return least


def pressed(basis, force, *more, code=0):
    scene = {"duration": 3, "fps": 30, "model": "stvk", "damping": {"alpha": 1},
             "forces": [{"object": 0, "group": "tip", "force": force, "curve": {"keys": [[0, 0], [2, 1], [3, 1]]}}]}
    got = simulate(basis, scene, "--report", "report.json", *more, code=code)
    with open("report.json", encoding="utf-8") as file:
        return got, json.load(file)["min_jacobian"]


def inside():
    write_hexahedra("cube.msh", (6, 6, 6), (1.0, 1.0, 1.0)) # more elements than clusters
    pack("cube.msh", "cube.h5", 20, "--derivatives", 6)
    got, said_least = pressed("cube.h5", [-0.19e6, 0, 0], "--allow-inversion")
    least, tag = least_jacobian("cube.h5", got["q"])
    assert least < -0.5 and abs(said_least - least) < 1e-6 * abs(least), (said_least, least)
    words, said_least = pressed("cube.h5", [-0.19e6, 0, 0], code=5)
    frame = int(round(30 * float(words.split("t = ")[1].split(" s")[0])))
    assert frame > 0
    least, tag = least_jacobian("cube.h5", got["q"][frame:frame + 1])
    assert f"element {tag} is inside out, J = det F = {least:.3g}" in said(words), (words, least, tag)
    assert least_jacobian("cube.h5", got["q"][:frame])[0] > 0
    # of a linear model, too, by a scene and by flags
    linear = {"duration": 1, "fps": 30, "forces": [{"object": 0, "group": "tip", "force": [-1.5e6, 0, 0]}]}
    words = said(simulate("cube.h5", linear, code=5))
    assert "is inside out, J = det F = -" in words and '"model": "stvk"' in words, words
    assert least_jacobian("cube.h5", simulate("cube.h5", linear, "--allow-inversion")["q"])[0] < 0
    assert "valid trajectory, rating invalid" in run("modalinfo", "--check", "run.h5", code=1).stdout
    flags = ("--duration", 0.5, "--fps", 30, "--impulse", "1,0.5,0.5:-1e6,0,0", "--force", "-q")
    assert "is inside out, J = det F = -" in said(run("modalsim", "cube.h5", "flags.h5", *flags, code=5).stderr)
    run("modalsim", "cube.h5", "flags.h5", *flags, "--allow-inversion")
    # of many objects those that may be inside out come first, and others in turn
    place("many", [(0, -1, 0, 3 * i, 0, 0, 0, 0) for i in range(40)], "cube.h5")
    scene = {"duration": 3, "fps": 30, "model": "stvk", "damping": {"alpha": 1},
             "forces": [{"object": 33, "group": "tip", "force": [-0.19e6, 0, 0], "curve": {"keys": [[0, 0], [2, 1], [3, 1]]}}]}
    late = said(simulate("many.h5", scene, code=5))
    assert "object 33: " in late and f"t = {frame / 30:g} s" in late and f"element {tag} is" in late, (late, words)
    # what is below 0.6 is the least of all points, what is above is proven to be there
    write_hexahedra("beam.msh", (16, 4, 4), (1.0, 0.2, 0.2))
    pack("beam.msh", "beam.h5", 20, "--derivatives", 6)
    for force in ([-900, 0, 0], [0, 300, -400], [-4000, 500, 0], [0, 0, 2500]):
        got, said_least = pressed("beam.h5", force, "--allow-inversion")
        least, _ = least_jacobian("beam.h5", got["q"])
        print(f"{force} N: J {said_least:.4f}, of all points {least:.4f}")
        if said_least < 0.6:
            assert abs(said_least - least) < 1e-6, (said_least, least)
        else:
            assert 0.6 <= least <= said_least + 1e-6, (said_least, least)


def exact_motion(basis, velocity, alpha, beta, times):
    """M q'' + (alpha M + beta K(q)) q' + f(q) = 0 by the file's reduced forces, in scipy."""
    def slope(_, y):
        q, v = np.split(y, 2)
        return np.concatenate([v, -basis.reduced_forces(q) - alpha * v - beta * basis.reduced_stiffness(q) @ v])
    y = np.concatenate([np.zeros_like(velocity), velocity])
    got = scipy.integrate.solve_ivp(slope, (0, times[-1]), y, "DOP853", times, rtol=1e-10, atol=1e-12)
    return got.y[:len(velocity)].T


def damping():
    write_bar("bar.msh", (8, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar.h5", 5, "--derivatives", 2)
    basis, alpha, beta = Basis("bar.h5"), 0.3, 0.01
    velocity = np.array([4.0, 3, 0, 0, 0])
    scene = {"duration": 0.25, "fps": 20, "model": "stvk", "tolerance": 1e300, "newton": {"tolerance": 1e-10, "iterations": 40},
             "damping": {"alpha": alpha, "beta": beta, "tangent": True},
             "objects": [{"object": 0, "initial_velocity": list(velocity)}]}
    wanted = exact_motion(basis, velocity, alpha, beta, np.arange(6) / 20)
    plain = simulate("bar.h5", dict(scene, step=1 / 3200, damping={"alpha": alpha, "beta": beta}))["q"]
    assert np.abs(plain - wanted).max() > 0.05 * np.abs(wanted).max() # it is another motion
    for rule in ("generalized-alpha", "newmark", "energy"):
        off = []
        for steps in (20, 40, 80):
            f = simulate("bar.h5", dict(scene, integrator=rule, step=1 / 20 / steps))
            off.append(np.abs(f["q"] - wanted).max() / np.abs(wanted).max())
            e = f["energy"]
            assert np.all(np.diff(e[:, :2].sum(1)) < 0) and np.all(np.diff(e[:, 2]) > 0), e # it only loses
            balance_off = np.abs(e[:, :3].sum(1) - e[0, 0]).max() / e[0, 0]
            assert balance_off < (1e-7 if rule == "energy" else 40 * off[-1]), (rule, balance_off)
        order = np.log2(off[0] / off[1]), np.log2(off[1] / off[2])
        print(f"{rule}: tangent damping, off by {off[2]:.2g}, order {order[0]:.2f}, {order[1]:.2f}")
        assert 1.8 < order[1] < 2.2, (rule, off)
    # a body whose columns have all turns about z: (cos - 1) (x, y, 0) + sin (-y, x, 0)
    write_bar("block.msh", (2, 2, 2), (1.0, 1.0, 1.0))
    run("modalpack", "block.msh", "block.h5", *RUBBER, "--modes", 1, "-q")
    with h5py.File("block.h5") as f:
        x = f["shapes/0000/volume/nodes"][:]
    x = x - x.mean(0)
    columns = np.stack([x * [1, 1, 0], x[:, [1, 0, 2]] * [-1, 1, 0]])
    with open("turn.U", "wb") as file:
        file.write(np.array([columns[0].size, 2], "<i4").tobytes() + columns.reshape(2, -1).astype("<f8").tobytes())
    run("modalpack", "block.msh", "turn.h5", *RUBBER, "--import", "turn.U", "--reduced-forces", "-q")
    rate = 2.0
    left = {}
    for tangent in (True, False):
        f = simulate("turn.h5", {"duration": 6, "fps": 10, "model": "stvk", "step": 0.01, "damping": {"beta": 0.0002, "tangent": tangent},
                                 "objects": [{"object": 0, "pose_motion": "fixed", "initial_velocity": [0, rate]}]})
        left[tangent] = f["energy"][-1, 0] / f["energy"][0, 0]
        if tangent:
            angle = np.unwrap(np.arctan2(f["q"][:, 1], 1 + f["q"][:, 0]))
            small(np.abs(angle - rate * f["times"]).max(), 0.1, "a turning body: angle, rad")
    print(f"of the energy of a turning body is left: {left[True]:.4f} by beta K(q), {left[False]:.4f} by beta K(0)")
    assert left[True] > 0.98 and left[False] < 0.2, left


def storm(duration=5, winds=((11.5, 3.3, 0),)):
    plant = pathlib.Path(__file__).resolve().parents[2] / "data/plant.py"
    subprocess.run([sys.executable, plant, "bush", "plant", "--tools", run.folder, "--duration", str(duration)], check=True,
                   capture_output=True)
    with open("plant/scene.json", encoding="utf-8") as file:
        scene = json.load(file)
    for wind in winds:
        f = simulate("plant/plant.h5", {**scene, "wind": {**scene["wind"], "velocity": list(wind)}})
        e = f["energy"]
        assert len(f["times"]) == 30 * duration + 1 and np.all(np.isfinite(f["q"]))
        small(balance(e), 0.05, f"{duration} s of {wind} m/s: balance")


def tempest():
    storm(60, ((12, 0, 0), (11.5, 3.3, 0), (30, 0, 0)))


def amplification(radius, omega):
    """Of (q, h v, h^2 a), as the rule is printed, for q'' = - omega^2 q / h^2."""
    m, f = (2 * radius - 1) / (radius + 1), radius / (radius + 1)
    gamma, beta = 0.5 - m + f, 0.25 * (1 - m + f) ** 2
    left = np.array([[1, 0, -beta], [0, 1, -gamma], [omega ** 2 * (1 - f), 0, 1 - m]])
    right = np.array([[1, 1, 0.5 - beta], [0, 1, 1 - gamma], [-omega ** 2 * f, 0, -m]])
    return np.linalg.solve(left, right)


def drift():
    """Of an oscillator: the phase that it has lost, and at most twice its amplitude."""
    write_bar("bar.msh", (4, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar.h5", 1)
    with h5py.File("bar.h5") as f:
        natural = np.sqrt(f["shapes/0000/modes/eigenvalues"][0])
    for x, parts, steps, ratio in ((0.2, 1, 200, 0), (0.2, 3, 200, 0), (0.5, 1, 60, 0), (5, 1, 30, 0), (0.2, 1, 2000, 0.02)):
        scene = {"duration": steps * x / natural, "fps": natural / x, "step": x / natural / parts, "integrator": "newmark", "tolerance": 1e300,
                 "damping": {"ratio": ratio}, "newton": {"tolerance": 1e-10, "iterations": 60, "max_halvings": 0},
                 "objects": [{"object": 0, "initial": [1]}]}
        got = simulate("bar.h5", scene, more=("quality",))
        with h5py.File("run.h5") as f:
            own = f["quality"][:, f.attrs["quality_columns"].decode().split().index("phase_error")]
        n, damped = np.arange(steps + 1), natural * np.sqrt(1 - ratio ** 2)
        lost = n * parts * (x / parts - 2 * np.arctan(x / parts / 2))
        if ratio == 0:
            small(np.abs(own - np.minimum(lost, 2)).max(), 1e-6, f"h omega {x / parts:.3g}: phase_error is the phase that is lost, at most 2")
        t = got["times"]
        true = np.exp(-ratio * natural * t) * (np.cos(damped * t) + ratio / np.sqrt(1 - ratio ** 2) * np.sin(damped * t))
        off = np.abs(got["q"][:, 0] - true).max()
        print(f"h omega {x / parts:.3g}, ratio {ratio}: off by {off:.4g}, phase_error {own.max():.4g}")
        if x < 5:
            assert 0.8 * off <= own.max() <= 1.3 * off, (off, own.max())
    # a bar on a bar, which is slower than both: with frequencies of each by itself the estimate is ten times the error
    write_bar("half.msh", (4, 1, 1), (0.5, 0.05, 0.06))
    pack("half.msh", "half.h5", 48)
    place("pair", [(0, -1, 0, 0, 0, 0, 0, 0), (0, 0, 0.5, 0, 0, 0, 0, 0)], "half.h5")
    with h5py.File("half.h5") as f:
        period = 2 * np.pi / np.sqrt(f["shapes/0000/modes/eigenvalues"][0])
    solid = Basis("half.h5")
    scene = {"duration": 6 * period, "fps": 4 / period, "model": "stvk", "gravity": [0, 0, -0.05]}
    tracks = []
    for steps in (8, 400):
        got = simulate("pair.h5", dict(scene, step=period / steps), more=("quality",))
        if not tracks:
            with h5py.File("run.h5") as f:
                own = got["quality"][:, f.attrs["quality_columns"].decode().split().index("phase_error")].max()
        x = [solid.nodes + np.tensordot(got["q"][:, 48 * i:48 * i + 48], solid.modes, 1) for i in range(2)]
        tracks.append(np.concatenate([np.einsum("fij,fnj->fni", got["poses"][:, i, :, :3], x[i]) + got["poses"][:, i, None, :, 3]
                                      for i in range(2)], axis=1))
    size = lambda x: np.sqrt((x ** 2).sum(axis=2).mean(axis=1)).max()
    off = size(tracks[0] - tracks[1]) / size(tracks[1] - tracks[1][0])
    print(f"a bar on a bar: off by {off:.4g}, phase_error {own:.4g}")
    assert 0.5 * off <= own <= 5 * off, (off, own)


def decay():
    """Amplitude decay and period of an oscillator: those of the rule's amplification matrix."""
    write_bar("bar.msh", (4, 1, 1), (1.0, 0.1, 0.12))
    pack("bar.msh", "bar.h5", 1)
    with h5py.File("bar.h5") as f:
        natural = np.sqrt(f["shapes/0000/modes/eigenvalues"][0])
    for radius in (0, 0.5, 0.9, 1):
        for omega in (0.1, 0.5, 2, 1000):
            fps, steps = natural / omega, 200 if omega < 1 else 30 # not until nothing is left
            scene = {"duration": steps / fps, "fps": fps, "step": 1 / fps, "integrator": "generalized-alpha", "tolerance": 1e300,
                     "spectral_radius": radius, "newton": {"tolerance": 1e-10, "iterations": 60, "max_halvings": 0},
                     "objects": [{"object": 0, "initial": [1]}]}
            q = simulate("bar.h5", scene)["q"][:, 0]
            assert len(q) == steps + 1
            polynomial = np.poly(amplification(radius, omega)) # which its powers satisfy, and so q
            off = sum(c * q[3 - i:len(q) - i] for i, c in enumerate(polynomial))
            small(np.abs(off[2:]).max() / np.abs(q).max(), 1e-9, f"radius {radius}, h omega {omega}: recurrence")
            roots = np.linalg.eigvals(amplification(radius, omega))
            largest = roots[np.argmax(np.abs(roots if omega > 100 else roots.imag))]
            if omega > 100: # what cannot be followed is damped by the radius
                assert abs(abs(largest) - radius) < 2e-2, (radius, largest)
            elif omega <= 0.5:
                # a cosine that decays: amplitude and phase after 200 steps
                n = np.arange(100, 201)
                fit = np.linalg.lstsq(np.column_stack([(largest ** n).real, (largest ** n).imag]), q[n], rcond=None)
                assert np.abs(fit[0][0] - 1) < 0.2 * omega, fit[0]
                small(np.sqrt(fit[1] / len(n)) / np.abs(q[n]).max(), 1e-8, f"radius {radius}, h omega {omega}: decay, period")
                late = 1 - np.angle(largest) / omega if largest.imag > 0 else 1 + np.angle(largest) / omega
                print(f"radius {radius}, h omega {omega}: a period loses {1 - abs(largest) ** (2 * np.pi / omega):.2e}, "
                      f"is {late:.2e} longer")


main(globals())
