# SPDX-License-Identifier: Apache-2.0
"""modalcurv on surfaces whose curvature is known, on broken and odd ones, and on sequences of .ply.
usage: check_modalcurv.py MODALCURV MODALINFO"""
import filecmp
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import surfaces

modalcurv, modalinfo = (pathlib.Path(p).resolve() for p in sys.argv[1:])
os.chdir(tempfile.mkdtemp(prefix="modalcurv-"))
rng = np.random.default_rng(7)
FIELDS = "curvature,direction_max,direction_min,curvature_derivative,boundary"


def check(condition, *what):
    if not condition:
        sys.exit("FAILED: " + " ".join(map(str, what)))


def run(*words, code=0, error=None):
    got = subprocess.run([modalcurv, *map(str, words)], capture_output=True, text=True)
    check(got.returncode == code, words, got.returncode, got.stderr)
    if code:
        check(got.stderr.count("\n") == 1 and got.stderr.startswith("modalcurv: "), words, got.stderr)
        check(error in got.stderr, words, got.stderr)
    return got


def curvature(x, t, *words, fields=FIELDS):
    """The fields of a surface, and the report."""
    surfaces.write_ply("in.ply", x, t)
    given = [] if "--fields" in words else ["--fields", fields]
    run("in.ply", "out", "-f", "-q", "--format", "ply", "--report", "r.json", *given, *words)
    values = surfaces.read_ply("out/ply/000000.ply")
    for name in ("direction_max", "direction_min"):
        if name + "_x" in values:
            values[name] = np.stack([values[f"{name}_{a}"] for a in "xyz"], 1)
    return values, json.load(open("r.json"))


def near(got, want, limit, *what):
    error = np.abs(np.asarray(got) - want).max()
    check(error <= limit, *what, "off by", error)


# ---- surfaces that are known ----

x, t, _ = surfaces.sphere(20000, rng, jitter=0.1)
for method in ("tensor", "ring"):
    v, report = curvature(2 * x, t, "--method", method)
    for k in ("k_max", "k_min"):
        check(np.sqrt(np.mean((2 * v[k] - 1) ** 2)) <= 1e-4, method, "rms", np.sqrt(np.mean((2 * v[k] - 1) ** 2)))
        near(2 * v[k], 1, 1e-3, method, k)
    frame = report["frames"][0]
    check(report["surface"]["euler_characteristic"] == 2 and not v["boundary"].any(), report["surface"])
    near(frame["integral_of_gauss_curvature"] / frame["two_pi_euler"], 1, 1e-3, "Gauss and Bonnet")
    near(frame["k_max"]["most"], v["k_max"].max(), 1e-6, "report")
    near(frame["k_max"]["median"], np.median(v["k_max"]), 1e-5, "report")
one, _ = curvature(x, t)
near(sum(one[f"curvature_derivative_{i}"] ** 2 for i in range(4)) ** 0.5, 0, 0.3, "derivative on a sphere")
mirrored, _ = curvature(x, t[:, ::-1])
near(mirrored["k_max"], -one["k_min"], 1e-5, "mirrored triangles")
for scale, limit in ((2.0**-20, 1e-6), (2.0**20, 1e-6), (1e-6, 2e-3), (1e6, 2e-3)):  # the latter round positions
    scaled, _ = curvature(scale * x, t)
    near(scaled["k_max"] * scale, one["k_max"], limit, "scale", scale)
    check(np.isfinite(scaled["curvature_derivative_0"]).all(), "derivative", scale)
turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
turn *= np.sign(np.linalg.det(turn))
turned, _ = curvature(x @ turn.T, t)
near(turned["k_max"], one["k_max"], 2e-3, "turned, with positions rounded anew")

flat, _ = curvature(np.c_[surfaces.saddle(40, rng)[0][:, :2], np.zeros(1600)], surfaces.saddle(40, rng)[1])
for k in ("k_max", "k_min", "mean_curvature", "gauss_curvature"):
    near(flat[k], 0, 0, "plane", k)
check(flat["boundary"].sum() == 4 * 39, "boundary of a plane", flat["boundary"].sum())

tube_x, tube_t = surfaces.cylinder(60, 41, radius=0.5)
tube, _ = curvature(tube_x, tube_t)
inside = tube["boundary"] == 0
near(tube["k_max"][inside], 2, 2e-2, "cylinder")
near(tube["k_min"][inside], 0, 1e-4, "cylinder")
near(np.abs(tube["direction_min"][inside, 2]), 1, 1e-3, "axis of the cylinder")

ring_x, ring_t, known = surfaces.torus(120, rng)
for words in ([], ["--method", "ring"], ["--method", "fit"], ["--method", "fit", "--degree", 4]):
    ring, report = curvature(ring_x, ring_t, *words)
    rms = np.sqrt(np.mean((np.c_[ring["k_max"], ring["k_min"]] - known) ** 2)) / 2.5
    check(rms <= (0.05 if len(words) < 2 or words[1] == "ring" else 0.02 if len(words) == 2 else 0.003), words, "torus", rms)
    outer, rim = known[:, 1] > 0.6, known[:, 1] < -1.2
    check((ring["k_min"][outer] > 0).all() and (ring["k_min"][rim] < 0).all(), "signs on the torus")
    d, e = ring["direction_max"], ring["direction_min"]
    near((d * d).sum(1), 1, 1e-5, "length of directions")
    near((d * e).sum(1), 0, 1e-5, "angle of directions")
    check(abs(report["frames"][0]["integral_of_gauss_curvature"]) < 0.5, "torus", report["frames"][0])
_, report = curvature(ring_x, ring_t, "--method", "fit", "--degree", 4, "--rings", 1, fields="k_max,fit_degree")
check(report["frames"][0]["vertices_of_lower_degree"] > 7000, "one ring has no 15 points", report["frames"][0])

saddle_x, saddle_t, known = surfaces.saddle(101, rng)
saddle, _ = curvature(saddle_x, saddle_t)
centre = np.argmin((saddle_x ** 2).sum(1))
near(saddle["k_max"][centre], 2, 0.1, "saddle"), near(saddle["k_min"][centre], -2, 0.1, "saddle")
edge = 2 / 100
noisy = saddle_x + 0.01 * edge * rng.normal(size=(len(saddle_x), 1)) * [0, 0, 1]
rough, _ = curvature(noisy, saddle_t)
smooth, _ = curvature(noisy, saddle_t, "--smooth", 3 * edge)
there = ~np.isnan(known[:, 0])
error = [np.sqrt(np.mean((v["k_max"] - known[:, 0])[there] ** 2)) for v in (rough, smooth)]
check(error[1] < 0.35 * error[0], "diffusion against noise", error)

# ---- against the rest ----

STRETCH = "area_ratio,stretch_max,stretch_min,stretch_direction"


def stretch(rest, x, t, *words):
    surfaces.write_ply("rest.ply", rest, t)
    surfaces.write_ply("in.ply", x, t)
    run("in.ply", "out", "-f", "-q", "--format", "ply", "--fields", STRETCH, "--rest", "rest.ply", *words)
    v = surfaces.read_ply("out/ply/000000.ply")
    return v["area_ratio"], v["stretch_max"], v["stretch_min"], np.stack([v[f"stretch_direction_{a}"] for a in "xyz"], 1)


basis = np.linalg.qr(rng.normal(size=(3, 3)))[0][:, :2]  # of a plane in space
patch = saddle_x[:, :2] @ basis.T
for _ in range(3):
    F = rng.normal(size=(3, 3))
    u, s, _ = np.linalg.svd(F @ basis)
    ratio, most, least, direction = stretch(patch, patch @ F.T, saddle_t)
    near(most / s[0], 1, 1e-5, "stretch_max"), near(least / s[1], 1, 1e-5, "stretch_min")
    near(ratio / (s[0] * s[1]), 1, 1e-5, "area_ratio"), near(np.abs(direction @ u[:, 0]), 1, 1e-5, "stretch_direction")
turned = x[:, [1, 2, 0]] * [-1, 1, -1]  # a rotation that float32 does not round
for v in stretch(x, turned, t)[:3]:
    near(v, 1, 0, "a rotation stretches by exactly 1")
near(stretch(x, turned, t)[3], 0, 0, "and has no direction")
near(stretch(x, 4 * x, t)[0], 16, 0, "four times as large")
run("in.ply", "out", "-f", "-q", "--format", "ply", "--fields", "area_ratio")
near(surfaces.read_ply("out/ply/000000.ply")["area_ratio"], 1, 0, "one frame is its own rest")
run("in.ply", "no", "-q", "--rest", "rest.ply", code=2, error="--rest")
surfaces.write_ply("rest.ply", *surfaces.sphere(500, rng)[:2])
run("in.ply", "no", "-q", "--fields", "area_ratio", "--rest", "rest.ply", code=3, error="rest.ply: 500 vertices, but 20000 in in.ply")

# ---- lines ----

def read_lines(name):
    import xml.etree.ElementTree as tree
    arrays = {d.get("Name"): np.array((d.text or "").split(), float) for d in tree.parse(name).getroot().iter("DataArray")}
    arrays["Points"] = arrays["Points"].reshape(-1, 3)
    return arrays


oval_x, oval_t, _ = surfaces.ellipsoid(20000, rng, 0.1)  # semi-axes 1, 0.8, 0.6: the one ridge is where z = 0
surfaces.write_ply("oval.ply", oval_x, oval_t)
surfaces.write_ply("hollow.ply", oval_x, oval_t[:, ::-1])
for name, kinds, sign in (("oval.ply", "ridges", 1), ("oval.ply", "ridges,valleys", 1), ("hollow.ply", "valleys", -1)):
    run(name, "lines", "-f", "-q", "--method", "fit", "--degree", 4, "--format", "null", "--lines", kinds, "--strength", 1)
    check(sorted(os.listdir("lines")) == ["lines", "manifest.json"] and os.listdir("lines/lines") == ["000000.vtp"], os.listdir("lines"))
    line = read_lines("lines/lines/000000.vtp")
    check(len(line["strength"]) == 1 and line["valley"][0] == (sign < 0), name, kinds, line["strength"], line["valley"])
    p = line["Points"]
    check(np.array_equal(p[0], p[-1]) and len(p) > 200 and line["offsets"][0] == len(p), "a closed line")
    near(p[:, 2], 0, 0.01, "the ridge of an ellipsoid")
    near(p[:, 0] ** 2 + (p[:, 1] / 0.8) ** 2, 1, 2e-3, "the ridge of an ellipsoid")
    length = np.linalg.norm(np.diff(p, axis=0), axis=1)
    near(line["strength"][0], (length * np.abs(line["curvature"][1:] + line["curvature"][:-1]) / 2).sum(), 1e-3, "strength")
    check((sign * line["curvature"] > 0).all(), "sign of curvature along the line")
run("oval.ply", "lines", "-f", "-q", "--format", "null", "--lines", "valleys")
check(len(read_lines("lines/lines/000000.vtp")["strength"]) == 0, "an ellipsoid has no valleys")
for words, error in ((["--lines", "ridge"], "ridge"), (["--lines", "ridges,ridges"], "twice"), (["--strength", "1"], "--lines")):
    run("oval.ply", "no", "-q", *words, code=2, error=error)

# ---- colours ----

x3, t3, _ = surfaces.torus(60, rng)
surfaces.write_ply("in.ply", x3, t3)
run("in.ply", "out", "-f", "-q", "--format", "ply", "--fields", "k_max,k_min", "--colour", "gauss_curvature", "--report", "r.json")
v, rgb = surfaces.read_ply("out/ply/000000.ply"), surfaces.read_colours("out/ply/000000.ply")
gauss = v["k_max"] * v["k_min"]
check("gauss_curvature" not in v, "a field that was not asked for", list(v))
reach = np.abs(np.quantile(gauss, [0.02, 0.98], method="lower")).max()
near(json.load(open("r.json"))["colour_range"] / reach, 1, 1e-5, "range of colours")
entry = np.clip(np.floor(127.5 * (1 + gauss / reach) + 0.5), 0, 255).astype(int)  # an entry of the map has one colour
for k in np.unique(entry):
    here = rgb[entry == k]
    check((np.ptp(here, axis=0) <= 3).all(), "the colours of entry", k, here)
check((rgb[np.abs(gauss) < 0.003 * reach] > 215).all() and (rgb[gauss > reach] == rgb[np.argmax(gauss)]).all(), "near white at 0, one red past the range")
for here, high, low, name in ((gauss > 0.1 * reach, 0, 2, "red above"), (gauss < -0.1 * reach, 2, 0, "blue below")):
    check((rgb[here][:, high] > rgb[here][:, low]).all(), name)
run("in.ply", "plain", "-q", "--format", "ply", "--fields", "k_max,k_min")
run("out/ply/000000.ply", "anew", "-q", "--format", "ply", "--fields", "k_max,k_min")  # our readers take coloured files
check(filecmp.cmp("anew/ply/000000.ply", "plain/ply/000000.ply", False), "curvature of a coloured file")
surfaces.write_ply("rest.ply", 0.8 * x3, t3)
run("in.ply", "out", "-f", "-q", "--format", "ply", "--colour", "area_ratio:1", "--rest", "rest.ply")  # 1.5625: over 1
check(np.ptp(surfaces.read_colours("out/ply/000000.ply"), axis=0).max() <= 3 and surfaces.read_colours("out/ply/000000.ply")[0, 0] > 200, "area_ratio")
for colour, error in (("k_max:0", "above 0"), ("k_max:nan", "above 0"), ("k_max:1x", "1x"), ("direction_max", "direction_max"),
                      ("boundary", "boundary"), ("area_ratio", "area_ratio:RANGE")):
    run("in.ply", "no", "-q", "--format", "ply", "--colour", colour, code=2, error=error)
run("in.ply", "no", "-q", "--colour", "k_max", code=2, error="--format ply")

# ---- odd surfaces: a result that is finite, and counts ----

def odd(name, x, t, **counts):
    for words in (["--fields", STRETCH], ["--lines", "ridges,valleys"], [], ["--method", "ring"], ["--method", "fit"], ["--smooth", 0.1]):
        values, report = curvature(np.asarray(x, float), np.asarray(t), *words)
        for field, v in values.items():
            check(np.isfinite(v).all(), name, words, field, v)
    for key, value in counts.items():
        check(report["surface"][key] == value, name, key, report["surface"][key])
    return values, report


odd("one triangle", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], boundary_vertices=3, open_edges=3, euler_characteristic=1)
corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
tetrahedron, _ = odd("valence 3", corners, faces, boundary_vertices=0, largest_valence=3)
check((tetrahedron["k_min"] > 0).all(), "convex", tetrahedron)
odd("unused vertices", np.r_[corners, [[5, 5, 5]]], faces, unused_vertices=1)
odd("a collapsed triangle", corners, np.r_[faces, [[1, 1, 2]]], collapsed_triangles=1)
odd("a triangle without area", np.r_[corners, [[0.5, 0, 0]]], np.r_[faces, [[0, 4, 1]]], flat_triangles=1)
surfaces.write_ply("line.ply", np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 1e-7, 0]]), np.array([[0, 1, 2], [0, 2, 3]]))
run("line.ply", "no", "-q", code=3, error="line.ply: frame 0: no triangle has an area, so no vertex has a curvature")
run("line.ply", "no", "-q", "--method", "fit", "--format", "ply", code=3, error="line.ply: frame 0: no triangle has an area")
check(not os.path.exists("no"), "a folder is left")
odd("a needle that counts", np.r_[corners, [[0.5, -1e-4, 0]]], np.r_[faces, [[0, 4, 1]]], flat_triangles=0, needle_triangles=1)
odd("vertices in one place", np.r_[corners, corners[:1], -0.0 * corners[:1]], np.r_[faces, [[4, 1, 3]]], duplicate_vertices=2)
odd("a needle", np.r_[corners, [[0.5, -1e-7, 0]]], np.r_[faces, [[0, 4, 1]]], flat_triangles=1, needle_triangles=0)
odd("a fin", np.r_[corners, [[0.5, -1, 0]]], np.r_[faces, [[0, 1, 4]]], shared_edges=1)
odd("twice the same", corners, np.r_[faces, faces], shared_edges=6)
odd("two fans at a vertex", np.r_[corners, -corners[1:]], np.r_[faces, [[0, 4, 5], [0, 5, 6]]], pinched_vertices=1)
_, report = odd("turned triangles", corners, np.r_[faces[:3], faces[3:, ::-1]], turned_edges=3)
check(any("turned" in w for w in report["warnings"]), report["warnings"])
angle = np.linspace(0, 2 * np.pi, 10001)[:-1]
wheel = np.r_[[[0, 0, 1]], np.c_[np.cos(angle), np.sin(angle), 0 * angle]]
odd("valence 10,000", wheel, [[0, i + 1, (i + 1) % 10000 + 1] for i in range(10000)], largest_valence=10000)
sphere = surfaces.sphere(500, rng)[:2]
far, _ = curvature(sphere[0] + 1e4, sphere[1])
close, _ = curvature((sphere[0] + 1e4).astype(np.float32).astype(float) - 1e4, sphere[1])
near(far["k_max"], close["k_max"], 1e-4, "far away: the digits that float32 leaves, and no fewer")

# ---- sequences ----

os.makedirs("frames/ply")
times = [0.0, 0.5, 0.75, 1.0, 2.5]
for i in range(5):
    surfaces.write_ply(f"frames/ply/{i:06}.ply", sphere[0] * (1 + 0.1 * i), sphere[1])
files = [{"name": f"ply/{i:06}.ply", "time": time} for i, time in enumerate(times)]
json.dump({"file-series-version": "1.0", "files": files}, open("frames/sequence.ply.series", "w"))
for source in ("frames", "frames/sequence.ply.series"):
    run(source, "o", "-f", "-q", "--fields", "k_max,boundary", "--format", "vtkhdf,ply,vtp")
    check(subprocess.run([modalinfo, "--check", "o/sequence.vtkhdf"], capture_output=True).returncode == 0, "sound")
    with h5py.File("o/sequence.vtkhdf") as f:
        check(np.array_equal(f["VTKHDF/Steps/Values"], times), "times")
        k = f["VTKHDF/PointData/k_max"][:].reshape(5, -1)
        near(np.median(k, 1), 1 / (1 + 0.1 * np.arange(5)), 2e-2, "k of growing spheres")
    check(np.array_equal(surfaces.read_ply("o/ply/000003.ply")["k_max"], k[3]), "ply as vtkhdf")
    check(len(os.listdir("o/vtp")) == 5, "vtp")
    manifest = json.load(open("o/manifest.json"))
    check(manifest["tool"] == "modalcurv" and manifest["input"]["name"] == source and manifest["frames"]["count"] == 5, manifest)
    check(sorted(f["name"] for f in manifest["files"]) == sorted(str(p.relative_to("o")) for p in pathlib.Path("o").rglob("*")
                                                                 if p.is_file() and p.name != "manifest.json"), manifest["files"])
    for words in (["--check", "o"], ["o"]):
        got = subprocess.run([modalinfo, *words], capture_output=True, text=True)
        check(got.returncode == 0 and not got.stderr, words, got)
run("o/sequence.vtkhdf", "again", "-q", "--fields", "k_max,boundary")
run("o/sequence.vtkhdf", "again", "-f", "-q", "--fields", "k_max,boundary", "--format", "vtkhdf,ply")
for i in range(5):
    check(filecmp.cmp(f"again/ply/{i:06}.ply", f"o/ply/{i:06}.ply", False), "of sequence.vtkhdf, frame", i)
with h5py.File("again/sequence.vtkhdf") as f:
    check(np.array_equal(f["VTKHDF/Steps/Values"], times), "times of sequence.vtkhdf")
whole = pathlib.Path("o/sequence.vtkhdf").read_bytes()
for size in range(0, len(whole), len(whole) // 40):
    pathlib.Path("cut.vtkhdf").write_bytes(whole[:size])
    run("cut.vtkhdf", "no", "-q", code=3, error="cut.vtkhdf")
with h5py.File("again/sequence.vtkhdf", "a") as f:
    f["VTKHDF/Points"][700, 1] = np.inf  # of frame 1
run("again/sequence.vtkhdf", "no", "-q", code=3, error="frame 1, point 200: not finite")
with h5py.File("again/sequence.vtkhdf", "a") as f:
    f["VTKHDF/Polygons/Connectivity"][5] = 500
run("again/sequence.vtkhdf", "no", "-q", code=3, error="500")
got = subprocess.run([modalinfo, "--statistics", "--json", "o/sequence.vtkhdf"], capture_output=True, text=True)
said = json.loads(got.stdout)["statistics"]
check(list(said) == ["k_max", "boundary"] and len(said["k_max"]) == 5, said)
for i in range(5):
    wanted = np.quantile(k[i], [0, 0.02, 0.5, 0.98, 1], method="lower")
    check(list(said["k_max"][i].values()) == [float(v) for v in wanted], "statistics of frame", i, said["k_max"][i], wanted)
got = subprocess.run([modalinfo, "--statistics", "o/sequence.vtkhdf"], capture_output=True, text=True)
check(f"{k[2].max():.6g}" in got.stdout and got.returncode == 0, got)
for words, code in ((["--statistics", "in.ply"], 2), (["--statistics", "--check", "o/sequence.vtkhdf"], 2), (["--statistics", "o"], 2)):
    got = subprocess.run([modalinfo, *words], capture_output=True, text=True)
    check(got.returncode == code, words, got)
first = {p.relative_to("o"): p.read_bytes() for p in pathlib.Path("o").rglob("*") if p.is_file()}
for threads in (1, 2):
    run(source, "o2", "-f", "-q", "--fields", "k_max,boundary", "--format", "vtkhdf,ply,vtp", "-j", threads)
    for path, data in first.items():
        if "vtkhdf" not in path.name and path.name != "manifest.json":  # which hold the command line
            check((pathlib.Path("o2") / path).read_bytes() == data, path, "-j", threads)
run("frames", "o", "-f", "-q", "--frames", "1:4:2")
with h5py.File("o/sequence.vtkhdf") as f:
    check(np.array_equal(f["VTKHDF/Steps/Values"], [0.5, 1.0]), "--frames")
run("frames/ply", "o", "-f", "-q", "--format", "ply")  # without a .series: a second apart
check(json.load(open("o/sequence.ply.series"))["files"][4]["time"] == 4, "times without a .series")

run("frames", "nothing", "-q", "--format", "null")
check(not os.path.exists("nothing"), "--format null writes nothing")

# ---- memory: fewer frames at once, the same bytes ----

os.makedirs("many")
for i in range(24):
    surfaces.write_ply(f"many/{i:02}.ply", x * (1 + 0.01 * i), t)
run("many", "whole", "-q", "--format", "ply", "--fields", "k_max", "--report", "r.json")
whole = json.load(open("r.json"))["peak_memory_bytes"]
run("many", "part", "-q", "--format", "ply", "--fields", "k_max", "--memory-limit", "14M", "--report", "r.json")
part = json.load(open("r.json"))["peak_memory_bytes"]
if b"__asan_init" not in pathlib.Path(modalcurv).read_bytes():  # whose own memory is no business of the limit
    check(whole > part, "peak memory", part, "without a limit", whole)
    check(part <= (14 + 16) << 20, "peak memory", part)  # the program itself takes 13 MB
for i in range(24):
    check(filecmp.cmp(f"whole/ply/{i:06}.ply", f"part/ply/{i:06}.ply", False), "--memory-limit, frame", i)
run("many", "no", "-q", "--memory-limit", "5M", code=4, error="--memory-limit: one frame takes")
run("many", "no", "-q", "--memory-limit", "0", code=2, error="--memory-limit")
check(not os.path.exists("no"), "nothing left")
with open("many/17.ply", "r+b") as f:
    f.truncate(1000)
run("many", "no", "-q", code=3, error="many/17.ply")
surfaces.write_ply("many/03.ply", x, t[::-1])  # what fails first is told
run("many", "no", "-q", code=3, error="many/03.ply")
check(not os.path.exists("no"), "nothing left")

# ---- what is refused: one line, an exit code, nothing left ----

def refused(words, code, error):
    before = sorted(os.listdir("."))
    run(*words, "-q", code=code, error=error)
    check(sorted(os.listdir(".")) == before, words, "left something")


# ---- point caches: the same positions as the .ply files, and rest.obj's triangles ----

os.makedirs("caches")
points = np.array([sphere[0] * (1 + 0.1 * i) for i in range(5)], "<f4")
head = b"POINTCACHE2\0" + np.array([1, 500], "<i4").tobytes() + np.array([0, 1], "<f4").tobytes() + np.array([5], "<i4").tobytes()
pathlib.Path("caches/sequence.pc2").write_bytes(head + points.tobytes())
mdd = np.array([5, 500], ">i4").tobytes() + np.array(times, ">f4").tobytes() + points.astype(">f4").tobytes()
pathlib.Path("caches/sequence.mdd").write_bytes(mdd)
obj = "".join(f"v {x} {y} {z}\n" for x, y, z in sphere[0]) + "".join(f"f {a} {b} {c}\n" for a, b, c in sphere[1] + 1)
refused(["caches/sequence.pc2", "new"], 3, "caches/rest.obj")
pathlib.Path("caches/rest.obj").write_text(obj)
pathlib.Path("elsewhere.obj").write_text(obj)
run("frames", "of_ply", "-f", "-q", "--fields", "k_max,area_ratio")
for source, when, more in (("caches/sequence.mdd", times, ()), ("caches/sequence.pc2", range(5), ()),
                           ("caches/sequence.mdd", times, ("--rest", "elsewhere.obj"))):
    run(source, "o", "-f", "-q", "--fields", "k_max,area_ratio", *more)
    with h5py.File("o/sequence.vtkhdf") as f, h5py.File("of_ply/sequence.vtkhdf") as g:
        check(np.array_equal(f["VTKHDF/Steps/Values"], when), source, "times")
        for name in ("k_max", "area_ratio"):
            check(np.array_equal(f["VTKHDF/PointData"][name], g["VTKHDF/PointData"][name]), source, name)
run("caches/sequence.mdd", "o", "-f", "-q", "--frames", "-1", "--rest", "elsewhere.obj", "--format", "ply")  # for its triangles alone
check(len(os.listdir("o/ply")) == 1, "--frames of a cache")
for name, data, error in (("short.pc2", head + points.tobytes()[:-1], "but its head stands for 500 points in 5 frames"),
                          ("long.mdd", mdd + b"x", "but its head stands for"), ("other.pc2", b"x" + head[1:], "no PC2"),
                          ("few.mdd", mdd[:6], "ends early"), ("back.mdd", mdd[:8] + b"\x7f" + mdd[9:], "time is not after"),
                          ("nan.pc2", head + points.tobytes()[:-4] + np.array([np.nan], "<f4").tobytes(), "point 499: not finite")):
    pathlib.Path("caches/" + name).write_bytes(data)
    refused(["caches/" + name, "new"], 3, error)
pathlib.Path("caches/rest.obj").write_text("v 0 0 0\n" + obj)
refused(["caches/sequence.pc2", "new"], 3, "500 points, but 501 vertices in caches/rest.obj")

# ---- what is refused ----

shutil.rmtree("o")
surfaces.write_ply("frames/ply/000002.ply", sphere[0], np.roll(sphere[1], 1, 0))
refused(["frames", "o"], 3, "ply/000002.ply: its triangles are not those of frames/ply/000000.ply")
surfaces.write_ply("frames/ply/000002.ply", sphere[0][:-1], sphere[1][(sphere[1] < 499).all(1)])
refused(["frames", "o"], 3, "ply/000002.ply: 499 vertices, but 500 in")
broken = sphere[0].copy()
broken[17, 1] = np.nan
surfaces.write_ply("frames/ply/000002.ply", broken, sphere[1])
refused(["frames", "o"], 3, "ply/000002.ply")
os.remove("frames/ply/000002.ply")
refused(["frames", "o"], 4, "ply/000002.ply")
surfaces.write_ply("empty.ply", sphere[0], sphere[1][:0])
refused(["empty.ply", "o"], 3, "empty.ply")
os.makedirs("no")
refused(["no", "o"], 3, "no .series and no .ply")
refused(["absent.ply", "o"], 3, "absent.ply")
for text, error in (("{", "bad.series"), ("{}", "no list"), ('{"files": [{"name": "a.ply"}]}', "no time"),
                    ('{"files": [{"name": "a.ply", "time": 1}, {"name": "b.ply", "time": 1}]}', "not after")):
    open("bad.series", "w").write(text)
    refused(["bad.series", "o"], 3, error)
refused(["in.ply", "o", "--fields", "k_max,k_mix"], 2, "k_mix")
refused(["in.ply", "o", "--fields", "curvature,k_max"], 2, "twice, k_max")
refused(["in.ply", "o", "--fields", "fit_degree"], 2, "--method fit")
refused(["in.ply", "o", "--method", "best"], 2, "--method")
refused(["in.ply", "o", "--degree", "4"], 2, "--method fit")
refused(["in.ply", "o", "--method", "fit", "--degree", "3"], 2, "--degree")
refused(["in.ply", "o", "--method", "fit", "--rings", "0"], 2, "--rings")
refused(["in.ply", "o", "--smooth", "-1"], 2, "--smooth")
refused(["in.ply", "o", "--smooth", "1e9"], 2, "diffusion")
refused(["in.ply", "o", "--format", "glb"], 2, "glb")
refused(["in.ply", "o", "--format", "null,ply"], 2, "null")
refused(["in.ply", "o", "--frames", "5"], 2, "--frames")
refused(["in.ply", "out", "--format", "ply"], 2, "out")
refused(["in.ply", "o", "--backend", "cuda:99"], 4, "cuda")
print("modalcurv ok")
