# SPDX-License-Identifier: Apache-2.0
"""Attraction between free objects: orbits of two bodies beside Kepler's, order of the rules, momentum, energy, charges, steps
that are chosen and judged. usage: check_attraction.py BIN_FOLDER all"""
import json

import numpy as np

from scenes import main, pack, place, run, simulate, small, write_bar

STRENGTH, SIDE, MASS = 3.0, 0.1, 1.0  # N m^2/kg^2, m, kg
STRICT = {"tolerance": 1e-12, "iterations": 60}


def bases():
    write_bar("cube.msh", (1, 1, 1), (SIDE, SIDE, SIDE))
    pack("cube.msh", "cube.h5", 3, fixed=False)
    for n in (2, 3, 5):
        place(f"cubes{n}", [(0, -1, 0, 0, 0, 0, 0, 0)] * n, "cube.h5")


def middle(f):
    """Centres [frames, objects, 3] of cubes whose frames are at a corner."""
    corner = np.array([SIDE / 2] * 3)
    return f["poses"][..., :3] @ corner + f["poses"][..., 3]


def bodies(places, speeds, **more):
    return [{"object": i, "pose_motion": "free", "velocity": list(map(float, v)), "pose": {"position": list(map(float, np.array(x) - SIDE / 2))},
             **{key: value[i] for key, value in more.items()}} for i, (x, v) in enumerate(zip(places, speeds))]


def scene(objects, duration, step, fps=None, **more):
    return {"duration": duration, "fps": fps or 1 / duration, "step": step, "objects": objects, "newton": STRICT, "tolerance": 1e300,
            "attraction": {"strength": STRENGTH}, **more}


def kepler(distance, eccentricity, time):
    """The way from one of two bodies to the other, `time` after they were nearest, in the plane."""
    mu = STRENGTH * 2 * MASS
    a = distance / (1 - eccentricity)
    mean = np.sqrt(mu / a**3) * time
    e = mean
    for _ in range(100):
        e -= (e - eccentricity * np.sin(e) - mean) / (1 - eccentricity * np.cos(e))
    return a * np.array([np.cos(e) - eccentricity, np.sqrt(1 - eccentricity**2) * np.sin(e), 0]), 2 * np.pi * np.sqrt(a**3 / mu)


def two(distance=2.0, eccentricity=0.3):
    speed = np.sqrt(STRENGTH * 2 * MASS * (1 + eccentricity) / distance)
    return bodies([[-distance / 2, 0, 0], [distance / 2, 0, 0]], [[0, -speed / 2, 0], [0, speed / 2, 0]])


def orbit():
    """One turn and a bit; by every rule for free objects the error goes with the square of the step."""
    _, period = kepler(2.0, 0.3, 0)
    end = 1.1 * period
    want = kepler(2.0, 0.3, end)[0]
    for rule in ("newmark", "generalized-alpha"):
        off, drift = [], []
        for steps in (200, 400, 800):
            f = simulate("cubes2.h5", scene(two(), end, end / steps, integrator=rule), "--report", "report.json")
            x = middle(f)
            off.append(np.abs(x[-1, 1] - x[-1, 0] - want).max() / 2)
            small(np.abs(x[-1].sum(0) - x[0].sum(0)).max(), 1e-11, "the two bodies' middle moves, m")
            report = json.load(open("report.json"))["attraction"]
            drift.append(report["energy_drift"] / report["energy_size"])
            assert np.isclose(report["potential"], -STRENGTH * MASS**2 / np.linalg.norm(x[-1, 1] - x[-1, 0]), rtol=1e-6), report
        rates = [np.log2(off[0] / off[1]), np.log2(off[1] / off[2])]
        print(f"{rule}: off Kepler's orbit {off}, orders {rates}, energy {drift}")
        assert all(1.8 < rate < 2.3 for rate in rates) and off[-1] < 2e-3, (rule, off)
        small(drift[-1], 1e-3, "energy")


def cloud():
    """Five bodies of all sides, spinning, with softening: momentum, and the energy's drift, which falls with the step."""
    chance = np.random.default_rng(4)
    places, speeds = chance.uniform(-2, 2, (5, 3)), chance.uniform(-0.5, 0.5, (5, 3))
    objects = bodies(places, speeds)
    for o in objects:
        o["angular_velocity"] = list(chance.uniform(-1, 1, 3))
    drift = []
    for step in (0.01, 0.005):
        f = simulate("cubes5.h5", scene(objects, 1.5, step, fps=8, attraction={"strength": STRENGTH, "softening": 0.2}),
                     "--report", "report.json")
        report = json.load(open("report.json"))["attraction"]
        drift.append(report["energy_drift"] / report["energy_size"])
        x = middle(f).mean(1) # with equal masses the middle of all, where no body is deformed
        line = x[0] + np.outer(f["times"], (x[-1] - x[0]) / f["times"][-1])
        turned = middle(f) - middle(f)[:1]
        small(np.abs(x - line).max() / np.abs(turned).max(), 1e-6, "momentum")
    print("energy drift", drift)
    assert drift[1] < 0.4 * drift[0] and drift[1] < 2e-3, drift
    # close to each other, steps that are judged: all objects take the same ones
    near = {"duration": 3, "fps": 8, "objects": bodies(places, speeds), "attraction": {"strength": STRENGTH, "softening": 0.02}}
    f = simulate("cubes5.h5", near, "--report", "report.json")
    x = middle(f).mean(1)
    line = x[0] + np.outer(f["times"], (x[-1] - x[0]) / f["times"][-1])
    assert json.load(open("report.json"))["step_reductions"] > 5
    small(np.abs(x - line).max() / np.abs(middle(f) - middle(f)[:1]).max(), 1e-6, "momentum of judged steps")


def charges():
    """Charges of one sign repel by a negative strength, of two attract; another charge scales the force on both."""
    still = np.zeros((3, 3))
    places = np.array([[0, 0, 0], [1, 0, 0], [0, 1.5, 0]])
    h = 1e-3
    f = simulate("cubes3.h5", scene(bodies(places, still, charge=[2.0, -1.0, 0.5]), 0.02, h, attraction={"strength": -STRENGTH}))
    moved = middle(f)[-1] - middle(f)[0]
    w = np.array([2.0, -1.0, 0.5])
    force = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            if i != j:
                d = places[j] - places[i]
                force[i] -= STRENGTH * w[i] * w[j] * d / np.linalg.norm(d)**3
    want = force / MASS * 0.02**2 / 2
    small(np.abs(moved - want).max() / np.abs(want).max(), 2e-3, "charges")
    small(np.abs(moved.sum(0)).max() / np.abs(moved).max(), 1e-9, "charges: momentum")


def refused():
    one = [{"object": 0, "pose_motion": "fixed"}]
    base = {"duration": 1, "fps": 1}
    for objects, more, message in (
            (one, {"attraction": {"strength": 1}}, "attraction: no object is free"),
            ([{"object": 0, "pose_motion": "free", "charge": 1}], {}, "charge: the scene has no \"attraction\""),
            ([{"object": 0, "pose_motion": "fixed", "charge": 1}, {"object": 1, "pose_motion": "free"}], {"attraction": {"strength": 1}},
             "charge: the object is not free"),
            (one, {"attraction": {}}, "/attraction"), (one, {"attraction": {"strength": 1, "softening": -1}}, "/attraction/softening")):
        said = simulate("cubes2.h5", {**base, "objects": objects, **more}, code=3)
        assert message in said and said.count("\n") == 1, said


def steps():
    """Without a step one is chosen from how fast two bodies go around each other, and steps are judged; threads change nothing."""
    close = {"duration": 2, "fps": 4, "objects": two(0.8, 0.6), "attraction": {"strength": STRENGTH}}
    f = simulate("cubes2.h5", close, "--report", "report.json", name="judged")
    report = json.load(open("report.json"))
    assert "attraction" in report["step_follows"], report["step_follows"]
    x = middle(f)
    want = kepler(0.8, 0.6, 2.0)[0]
    small(np.abs(x[-1, 1] - x[-1, 0] - want).max() / 0.8, 0.05, "a close orbit by chosen steps")
    small(np.abs(x[-1].sum(0) - x[0].sum(0)).max() / 0.8, 1e-6, "its middle")
    again = simulate("cubes2.h5", close, "-j", 2, name="again")
    assert all(np.array_equal(f[key], again[key]) for key in ("q", "poses", "energy"))


def check():
    bases()
    refused()
    orbit()
    cloud()
    charges()
    steps()


main({"all": check})
