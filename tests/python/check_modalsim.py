# SPDX-License-Identifier: Apache-2.0
"""modalsim from the outside: its motions against scipy, and its manners: what it refuses, with which
words and exit code, and that nothing is left behind. usage: check_modalsim.py MODALSIM"""
import hashlib
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

import h5py
import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import expm

import lacking

modalsim = os.path.abspath(sys.argv[1])
workplace = tempfile.TemporaryDirectory(prefix="modalsim-")
os.chdir(workplace.name)
random = np.random.default_rng(20240229)


def run(*words, **more):
    return subprocess.run([modalsim, *map(str, words)], capture_output=True, **more)


def works(*words, **more):
    got = run(*words, **more)
    assert got.returncode == 0, (words, got)
    return got.stderr.decode()


def refuses(code, message, *words, **more):
    """Ends with `code` and exactly this line, and leaves the folder as it was."""
    before = {name: os.stat(name).st_mtime_ns for name in os.listdir(".")}
    got = run(*words, **more)
    text = got.stderr.decode()
    assert got.returncode == code, (words, got)
    assert text == f"modalsim: {message}\n", (words, message, text)
    assert got.stdout == b"", (words, got)
    after = {name: os.stat(name).st_mtime_ns for name in os.listdir(".")}
    assert after == before, (words, after)


def close(a, b, relative, what):
    """By the size of each column, so that small modes count, too; NaN fails."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape, (what, a.shape, b.shape)
    error = np.abs(a - b).max(axis=0)
    assert np.all(error <= relative * np.abs(b).max(axis=0)), (what, error)


# ---- a basis as its specification says, made without the library ----


def write_shape(group, n_vertices, eigenvalues, modal_masses, n_rigid=0):
    r, n = len(eigenvalues), n_vertices
    positions = np.column_stack([np.arange(n) // 2, np.arange(n) % 2, 0.1 * random.random(n)]) * 1.0
    triangles = np.array([[i, i + 1, i + 2] if i % 2 else [i + 1, i, i + 2] for i in range(n - 2)], "i4")
    faces = [sorted(f for f in range(n - 2) if v in triangles[f]) for v in range(n)]
    order = random.permutation(n).astype("i4")
    modes = random.standard_normal((n, 3, r)).astype("f4")
    tiles = np.zeros((-(-n // 32) * 32, 3, r), "f4")
    tiles[:n] = modes
    group.attrs["name"] = "strip"
    for name, value in {
        "surface/rest_positions": positions,
        "surface/triangles": triangles,
        "surface/user_vertex": order,
        "surface/user_triangle": np.arange(n - 2, dtype="i4"),
        "tables/face_offsets": np.cumsum([0] + [len(f) for f in faces]).astype("i8"),
        "tables/faces": np.concatenate(faces).astype("i4"),
        "tables/boundary": np.ones(n, "u1"),
        "modes/modal_matrix": tiles.reshape(-1, 32, 3, r).transpose(0, 3, 2, 1),
        "modes/eigenvalues": np.array(eigenvalues, "f8"),
        "modes/frequencies": np.sqrt(eigenvalues) / (2 * np.pi),
        "modes/modal_masses": np.array(modal_masses, "f8"),
        "modes/residuals": np.zeros(r),
        "modes/participation": random.standard_normal((r, 3)),
        "modes/rigid_eigenvalues": np.full(n_rigid, 1e-9),
    }.items():
        group.create_dataset(name, data=np.ascontiguousarray(value))
    group["modes"].attrs.update(shift=-1.0, total_mass=2.5, mass_rule="consistent")
    shape = {name: group["modes"][name][:] for name in ("eigenvalues", "modal_masses", "participation")}
    shape.update(positions=positions, modes=modes, order=order)
    return shape


def write_basis(path, ranks, objects, n_rigid=0):
    """objects: [(shape, rest frame)]; returns the arrays of each object."""
    with h5py.File(path, "w", libver=("v108", "v108")) as f:
        f.attrs.update(modal_format="basis", modal_format_version="1.0", content_hash=hashlib.md5(path.encode()).hexdigest(),
                       hashed="shapes/hash objects/shape objects/parent objects/rest_pose")
        f.create_group("shapes").attrs["count"] = np.int64(len(ranks))
        f["shapes/hash"] = np.zeros((len(ranks), 16), "u1")
        shapes = [write_shape(f.create_group(f"shapes/{i:04}"), 40,
                              np.geomspace(3, 9e4, r) if r > 1 else [49.0],
                              np.linspace(1, 2, r), n_rigid) for i, r in enumerate(ranks)]
        f["objects/shape"] = np.array([s for s, _ in objects], "i4")
        f["objects/parent"] = np.full(len(objects), -1, "i4")
        f["objects/rest_pose"] = np.array([frame for _, frame in objects])
        provenance = f.create_group("provenance")
        provenance.attrs["count"] = np.int64(1)
        provenance.create_group("0000").attrs.update(tool="check", version="1", arguments="check", inputs="",
                                                     backend="cpu")
    return [dict(shapes[s], frame=np.array(frame)) for s, frame in objects]


def frame(angle, p):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0, p[0]], [s * 0.6, c * 0.6, -0.8, p[1]], [s * 0.8, c * 0.8, 0.6, p[2]]])


one = write_basis("one.h5", [5], [(0, frame(0.7, (1, -2, 3)))])[0]
many = write_basis("many.h5", [4, 2], [(1, frame(0, (0, 0, 0))), (0, frame(2, (9, 8, 7))), (0, frame(-1, (0, 1, 0)))])
write_basis("free.h5", [3], [(0, frame(0, (0, 0, 0)))], n_rigid=6)


# ---- the reference: from breakpoint to breakpoint by the matrix exponential ----


def reference(obj, times, alpha=0.0, beta=0.0, ratio=None, gravity=(0, 0, 0), impulses=(), record=None,
              initial=None, static=False):
    """impulses: [(time, user vertex, J)]; record: [n, 4]."""
    R = obj["frame"][:, :3]
    record = np.array([[1e9, 0, 0, 0], [2e9, 0, 0, 0]]) if record is None else np.asarray(record)

    def acceleration(t, side):
        """World acceleration just after (side > 0) or before t."""
        a = np.array(gravity, float)
        inside = record[0, 0] <= t < record[-1, 0] if side > 0 else record[0, 0] < t <= record[-1, 0]
        if inside:
            a -= [np.interp(t, record[:, 0], record[:, 1 + k]) for k in range(3)]
        return a

    result = np.zeros((len(times), len(obj["eigenvalues"])))
    stops = sorted({0.0, *times, *(t for t, _, _ in impulses), *(t for t in record[:, 0] if 0 < t < times[-1])})
    for m, (k, mass) in enumerate(zip(obj["eigenvalues"], obj["modal_masses"])):
        d = alpha + beta * k if ratio is None else 2 * ratio * np.sqrt(k)
        load = obj["participation"][m] @ R.T / mass
        state = np.array([initial.get(m, 0.0) if initial else 0.0, 0.0])
        if static:
            state[0] = load @ acceleration(0, 1) / k
        where = {t: i for i, t in enumerate(times)}
        for a, b in zip(stops, stops[1:] + [None]):
            if a in where:
                result[where[a], m] = state[0]
            for t, vertex, J in impulses:
                if t == a:
                    v = int(np.flatnonzero(obj["order"] == vertex)[0])
                    state[1] += obj["modes"][v, :, m].astype(float) @ R.T @ J / mass
            if b is None:
                break
            h, f0, f1 = b - a, load @ acceleration(a, 1), load @ acceleration(b, -1)
            system = np.array([[0, h, 0, 0], [-k * h, -d * h, h, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
            state = (expm(system) @ [*state, f0, f1 - f0])[:2]
    return result


def text_of(place, name):
    """A text attribute; those of fixed length come as bytes."""
    value = place.attrs[name]
    return value.decode() if isinstance(value, bytes) else value


def trajectory(path):
    with h5py.File(path, "r") as f:
        return f["times"][:], f["q"][:]


record = np.array([[-0.1, 4, 0, 1], [0.05, -3, 2, 0], [0.21, 5, 5, -5], [0.6, -1, 1, 1], [0.8, 2, 0, 3]])
pathlib.Path("record.csv").write_text("t,ax,ay,az\n" + "".join(",".join(map(str, row)) + "\n" for row in record))
nearest = one["order"][np.argmin(np.linalg.norm(one["positions"] @ one["frame"][:, :3].T + one["frame"][:, 3]
                                                - [3, 5, 2], axis=1))]
cases = {
    "free": (["--initial", "1=0.5", "--initial", "4=-2e-3"], {"initial": {1: 0.5, 4: -2e-3}}),
    "rayleigh": (["--initial", "2=1", "--damping", "0.3,2e-3"], {"initial": {2: 1}, "alpha": 0.3, "beta": 2e-3}),
    "critical": (["--gravity", "1,-2,-9.81", "--damping-ratio", "1"], {"gravity": (1, -2, -9.81), "ratio": 1}),
    "over": (["--gravity", "0,0,9.81", "--damping-ratio", "3"], {"gravity": (0, 0, 9.81), "ratio": 3}),
    "impulses": (["--impulse", "7:1,2,-3", "--impulse", "3,5,2:0,0.5,0@0.123", "--damping-ratio", "0.02"],
                 {"impulses": [(0.0, 7, np.array([1, 2, -3.0])), (0.123, nearest, np.array([0, 0.5, 0]))],
                  "ratio": 0.02}),
    "record": (["--base-acceleration", "record.csv", "--damping-ratio", "0.05"], {"record": record, "ratio": 0.05}),
    "static": (["--base-acceleration", "record.csv", "--gravity", "0,0,-9.81", "--static"],
               {"record": record, "gravity": (0, 0, -9.81), "static": True}),
}
for name, (words, keywords) in cases.items():
    works("one.h5", f"{name}.h5t", "--duration", "1.3", "--fps", "24", *words)
    times, q = trajectory(f"{name}.h5t")
    assert np.array_equal(times, np.arange(32) / 24.0), name
    close(q, reference(one, list(times), **keywords), 2e-11, name)
    assert np.abs(q[1:]).max(axis=0).min() > 0 or name in ("free", "rayleigh"), name

# the equation itself, by an integrator that knows nothing of its solution
times, q = trajectory("record.h5t")
k = one["eigenvalues"][2]
load = one["participation"][2] @ one["frame"][:, :3].T / one["modal_masses"][2]
a = [lambda t, c=c: np.interp(t, record[:, 0], record[:, c]) * (t <= 0.8) for c in (1, 2, 3)]
solved = solve_ivp(lambda t, y: [y[1], -k * y[0] - 0.1 * np.sqrt(k) * y[1] - sum(l * f(t) for l, f in zip(load, a))],
                   (0, times[-1]), [0, 0], t_eval=times, rtol=1e-9, atol=1e-12, max_step=1e-3, method="DOP853")
close(q[:, 2], solved.y[0], 1e-4, "solve_ivp")

# several objects: the loads in each one's axes, an impulse on object 0 alone
works("many.h5", "many.h5t", "--duration", "0.5", "--fps", "30", "--gravity", "1,2,3", "--impulse", "0:1,1,1@0.1",
      "--initial", "1=0.25", "--damping", "0,1e-4")
times, q = trajectory("many.h5t")
parts = [reference(o, list(times), gravity=(1, 2, 3), beta=1e-4, initial={1: 0.25},
                   impulses=[(0.1, 0, np.ones(3))] if i == 0 else []) for i, o in enumerate(many)]
close(q, np.hstack(parts), 2e-11, "many objects")
with h5py.File("many.h5t", "r") as f:
    assert f["mode_offsets"][:].tolist() == [0, 2, 6, 10]

# one static frame
works("one.h5", "still.h5t", "--static", "--gravity", "0,0,-9.81")
times, q = trajectory("still.h5t")
assert times.tolist() == [0.0]
close(q, reference(one, [0.0], gravity=(0, 0, -9.81), static=True), 1e-14, "still")

# ---- the file: links, provenance, pipes, messages ----

with h5py.File("one.h5", "r") as f:
    content_hash = f.attrs["content_hash"]
with h5py.File("record.h5t", "r") as f:
    assert text_of(f, "modal_format") == "trajectory" and text_of(f, "basis_hash") == content_hash
    assert text_of(f, "basis_path") == "one.h5" and "shapes" in f["basis"]
    steps = [f[f"provenance/{i:04}"] for i in range(f["provenance"].attrs["count"])]
    assert [text_of(s, "tool") for s in steps] == ["check", "modalsim"]
    assert "--base-acceleration record.csv" in text_of(steps[1], "arguments")
    inputs = text_of(steps[1], "inputs")
    assert re.fullmatch(rf"{content_hash}  one.h5\n[0-9a-f]{{32}}  record.csv", inputs), inputs

os.makedirs("deep/er")
os.makedirs("bases")
os.symlink("../one.h5", "bases/linked.h5")
short = ["--static"]
for basis, path, wanted in (("one.h5", "deep/er/t.h5t", "../../one.h5"), ("./deep/../one.h5", "deep/u.h5t", "../one.h5"),
                            ("bases/linked.h5", "deep/v.h5t", "../bases/linked.h5"),
                            ("bases/linked.h5", "w.h5t", "bases/linked.h5"),
                            (os.path.abspath("one.h5"), "deep/x.h5t", os.path.abspath("one.h5"))):
    works(basis, path, *short)
    with h5py.File(path, "r") as f:
        assert text_of(f, "basis_path") == wanted, (text_of(f, "basis_path"), wanted)
        assert text_of(f["basis"], "modal_format") == "basis"

ring = ["--duration", "1", "--fps", "50", "--initial", "1=1"]
piped = run("one.h5", "-", *ring)
assert piped.returncode == 0, piped
pathlib.Path("piped.h5t").write_bytes(piped.stdout)
assert run("one.h5", "-", *ring).stdout == piped.stdout
works("one.h5", "ring.h5t", *ring)
with h5py.File("ring.h5t", "r") as f, h5py.File("piped.h5t", "r") as g:
    for name in ("times", "q", "mode_offsets"):
        assert f[name][:].tobytes() == g[name][:].tobytes()
    assert dict(f.attrs) == dict(g.attrs), dict(g.attrs)
    assert g["basis_file"][:].tobytes() == pathlib.Path("one.h5").read_bytes() and "basis_file" not in f
    ours, theirs = (text_of(h["provenance/0001"], "arguments") for h in (f, g))
    assert "ring.h5t" in ours and ours.replace("ring.h5t", "-") == theirs, (ours, theirs)
works("one.h5", "again.h5t", *ring)
first = pathlib.Path("again.h5t").read_bytes()
works("one.h5", "again.h5t", *ring, "--force")
forced = pathlib.Path("again.h5t").read_bytes()
with h5py.File("again.h5t", "r") as f:
    assert text_of(f["provenance/0001"], "arguments").count(" --force") == 1
works("one.h5", "again.h5t", *ring, "--force")
assert pathlib.Path("again.h5t").read_bytes() == forced and len(first) > 0

text = works("one.h5", "near.h5t", "--duration", "1", "--fps", "9", "--impulse", "3,5,2:0,0,1", "--report", "near.json")
match = re.search(r"modalsim: --impulse: vertex (\d+), ([\d.]+) m from the point, 3,5,2:0,0,1\n", text)
assert match and int(match[1]) == nearest, text
report = json.loads(pathlib.Path("near.json").read_text())
assert report["frames"] == 10 and report["modes"] == 5 and report["objects"] == 1, report
assert report["impulses"][0]["vertex"] == nearest and report["exit_code"] == 0, report
text = works("free.h5", "free2.h5t", *short)
assert "modalsim: warning: free.h5: object 0 is free; the rigid motion of a free body is not simulated" in text, text
assert works("free.h5", "free3.h5t", *short, "-q") == ""
text = works("one.h5", "ends.h5t", "--duration", "2", "--fps", "9", "--base-acceleration", "record.csv")
assert "record.csv: ends at 0.8 s; the base acceleration is 0 from there to 2 s" in text, text

# ---- refusals ----

two = ["--duration", "2", "--fps", "10"]
for name, content in {"line.csv": "0,1,2,3\n", "back.csv": "0,1,2,3\n1,1,2,3\n1,1,2,3\n", "late.csv": "2,1,2,3\n3,1,2,3\n",
                      "early.csv": "-2,1,2,3\n0,1,2,3\n", "nan.csv": "0,1,2,3\n1,nan,2,3\n"}.items():
    pathlib.Path(name).write_text(content)
pathlib.Path("damaged.h5").write_bytes(pathlib.Path("one.h5").read_bytes()[:2000])
for code, message, words in (
    (2, "--gravty: unknown option, did you mean --gravity? (see --help all)", ["--gravty", "0,0,1"]),
    (2, "--grav: unknown option, did you mean --gravity? (see --help all)", ["--grav", "0,0,1"]),
    (2, "--fps: given twice", [*two, "--fps", "20"]),
    (2, "--duration and --fps: needed with loads unless --static is given", ["--gravity", "0,0,1"]),
    (2, "--duration: needs --fps, 2", ["--duration", "2", "--initial", "0=1"]),
    (2, "--fps: needs --duration, 2", ["--fps", "2", "--impulse", "0:1,0,0"]),
    (2, "--fps: needs --duration, 2", ["--fps", "2", "--static"]),
    (2, "--duration: must be > 0 and at most 1e+09 s, 0", ["--duration", "0", "--fps", "10"]),
    (2, "--duration: must be > 0 and at most 1e+09 s, -1", ["--duration", "-1", "--fps", "10"]),
    (2, "--duration: not a finite number, inf", ["--duration", "inf", "--fps", "10"]),
    (2, "--duration: not a finite number, 2s", ["--duration", "2s", "--fps", "10"]),
    (2, "--fps: must be in 1e-09 .. 1e+09, -24", ["--duration", "1", "--fps", "-24"]),
    (2, "--fps: must be in 1e-09 .. 1e+09, 1e-320", ["--duration", "1", "--fps", "1e-320"]),
    (2, "--damping-ratio: must be in 0 .. 1e+06, 1e308", [*two, "--damping-ratio", "1e308"]),
    (2, "--damping: must be in 0 .. 1e+12, 0,1e308", [*two, "--damping", "0,1e308"]),
    (2, "--fps: not a finite number, nan", ["--duration", "1", "--fps", "nan"]),
    (2, "--duration: more than 2^31 frames, 1e+06 s at 1e+06 a second", ["--duration", "1e6", "--fps", "1e6"]),
    (2, "--damping and --damping-ratio: give one of them, 0,0 and 0.1",
     [*two, "--damping", "0,0", "--damping-ratio", "0.1"]),
    (2, "--damping-ratio: must be in 0 .. 1e+06, -0.1", [*two, "--damping-ratio", "-0.1"]),
    (2, "--damping: must be in 0 .. 1e+12, 1,-1e-5", [*two, "--damping", "1,-1e-5"]),
    (2, "--damping: needs 2 finite numbers separated by commas, 1", [*two, "--damping", "1"]),
    (2, "--gravity: needs 3 finite numbers separated by commas, 0,-9.81", [*two, "--gravity", "0,-9.81"]),
    (2, "--static and --initial: give one of them, 1=1", [*two, "--static", "--initial", "1=1"]),
    (2, "--initial: object 0 has modes 0 .. 4, 5=1", [*two, "--initial", "5=1"]),
    (2, "--initial: object 0 has modes 0 .. 4, -1=1", [*two, "--initial", "-1=1"]),
    (2, "--initial: mode 2 is given twice, 2=0", [*two, "--initial", "2=1", "--initial", "2=0"]),
    (2, "--initial: not MODE=AMPLITUDE, 2", [*two, "--initial", "2"]),
    (2, "--initial: not MODE=AMPLITUDE, x=2", [*two, "--initial", "x=2"]),
    (2, "--initial: amplitude: needs 1 finite number separated by commas, 1m", [*two, "--initial", "2=1m"]),
    (2, "--impulse: object 0 has vertices 0 .. 39, 40:0,0,1", [*two, "--impulse", "40:0,0,1"]),
    (2, "--impulse: not a vertex number or a point x,y,z, -1", [*two, "--impulse", "-1:0,0,1"]),
    (2, "--impulse: not a vertex number or a point x,y,z, 1.5", [*two, "--impulse", "1.5:0,0,1"]),
    (2, "--impulse: not a vertex number or a point x,y,z, 99999999999999999999",
     [*two, "--impulse", "99999999999999999999:0,0,1"]),
    (2, "--impulse: not VERTEX:X,Y,Z[@T] or x,y,z:X,Y,Z[@T], 1", [*two, "--impulse", "1"]),
    (2, "--impulse: not VERTEX:X,Y,Z[@T] or x,y,z:X,Y,Z[@T], 1@2:0,0,1", [*two, "--impulse", "1@2:0,0,1"]),
    (2, "--impulse: point: needs 3 finite numbers separated by commas, 1,2", [*two, "--impulse", "1,2:0,0,1"]),
    (2, "--impulse: needs 3 finite numbers separated by commas, 0,1", [*two, "--impulse", "1:0,1"]),
    (2, "--impulse: time: needs 1 finite number separated by commas, ", [*two, "--impulse", "1:0,0,1@"]),
    (2, "--impulse: the time must be >= 0, 1:0,0,1@-1", [*two, "--impulse", "1:0,0,1@-1"]),
    (2, "--impulse: would change nothing, the last frame is at 2 s, 1:0,0,1@2", [*two, "--impulse", "1:0,0,1@2"]),
    (2, "--impulse: would change nothing, the last frame is at 0 s, 1:0,0,1", ["--static", "--impulse", "1:0,0,1"]),
    (3, "--impulse[0]: no vertex of object 0, which is 19.03 m large, is near the point; the nearest, 85.6 m", [*two, "--impulse", "100,0,0:0,0,1"]),
    (3, "line.csv: needs at least 2 lines of numbers, 1", [*two, "--base-acceleration", "line.csv"]),
    (3, "back.csv:3: the time must increase, 1 after 1", [*two, "--base-acceleration", "back.csv"]),
    (3, "nan.csv:2: column 2: not a finite number, nan", [*two, "--base-acceleration", "nan.csv"]),
    (3, "late.csv: nothing of it acts, its times are 2 .. 3 s, the motion's 0 .. 2 s",
     [*two, "--base-acceleration", "late.csv"]),
    (3, "early.csv: nothing of it acts, its times are -2 .. 0 s, the motion's 0 .. 2 s",
     [*two, "--base-acceleration", "early.csv"]),
    (5, "object 0: t = 0 s: not finite; try smaller loads, initial values or velocities", [*two, "--gravity", "1e308,1e308,1e308", "--initial", "1=1e308"]),
):
    refuses(code, message, "one.h5", "new.h5t", *words)
refuses(2, "ring.h5t: exists (--force replaces it)", "one.h5", "ring.h5t", *two)
refuses(2, "one.h5: input and output are one file", "one.h5", "one.h5", *two, "--force")
refuses(2, "record.csv: input and output are one file", "one.h5", "record.csv", *two, "-f", "--base-acceleration",
        "record.csv")
refuses(3, "standard input: empty file", "-", "new.h5t", *two, stdin=subprocess.DEVNULL)
got = run("one.h5", "-", *two, "--report", "-")
assert got.returncode == 2 and got.stderr == b"modalsim: --report: standard output already takes another output, -\n" and not got.stdout, got
for words in (("absent.h5", "new.h5t"), ("damaged.h5", "new.h5t"), ("ring.h5t", "new.h5t"),
              ("one.h5", "new.h5t", "--base-acceleration", "absent.csv")):
    before = os.listdir(".")
    got = run(*words, *two)
    culprit = words[0] if len(words) == 2 else "absent.csv"
    assert got.returncode == 3 and got.stderr.startswith(f"modalsim: {culprit}: ".encode()), got
    assert os.listdir(".") == before
before = os.listdir(".")
got = run("one.h5", "absent/new.h5t", *two)
assert got.returncode == 4 and b"absent/new.h5t: cannot write" in got.stderr, got
with open("/dev/full", "wb") as full:
    got = subprocess.run([modalsim, "one.h5", "-", *two], stdout=full, stderr=subprocess.PIPE)
assert got.returncode == 4 and b"standard output: write error" in got.stderr, got
limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))  # as a disk that is full
got = subprocess.run([modalsim, "one.h5", "new.h5t", "-q", *two], stderr=subprocess.PIPE, preexec_fn=limit)
assert got.returncode == 4 and got.stderr.startswith(b"modalsim: new.h5t: ") and got.stderr.count(b"\n") == 1, got
for child in (lacking.terminal() or [])[1:]:
    got = subprocess.run([modalsim, "one.h5", "-", *two], stdout=child, stderr=subprocess.PIPE)
    assert got.returncode == 2 and got.stderr == b"modalsim: standard output is a terminal: name a file, or a program after |, -\n", got
assert os.listdir(".") == before
if b"sanitize" not in run("-V").stdout:  # a sanitizer needs the address space for itself
    refuses(4, "reduced coordinates: out of memory, 4000000040 bytes", "one.h5", "new.h5t", "--duration", "1e7", "--fps",
            "10", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
lacking.end("modalsim ok")
