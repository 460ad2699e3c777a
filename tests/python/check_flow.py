# SPDX-License-Identifier: Apache-2.0
"""Liquid on a surface that deforms. usage: check_flow.py BIN_FOLDER REPOSITORY
modaltex flow: what falls and what is there, the sequence and its textures by both checkers, going on from a checkpoint, threads and back
ends, images of frames, a field as paint, textures without neighbours, the rules of /flow broken one by one; what is refused."""
import filecmp
import json
import os
import shutil
import tempfile

import h5py
import numpy as np

from images import read_png
from looks import RUBBER, paint_box, put, validate
from tool_run import must, run

RAIN = ("--rain", 0.02, "--speed", 0.5, "--absorb", 2, "--evaporate", 1, "--dirt", 0.05, "--film", 0.001)


def report(name="r.json"):
    with open(name, encoding="utf-8") as f:
        return json.load(f)


def frames(folder, field):
    with h5py.File(f"{folder}/sequence.vtkhdf") as f:
        return f["VTKHDF/PointData"][field][:].reshape(f["VTKHDF/Steps"].attrs["NSteps"], -1)


def check_rain():
    """What has fallen is the rain on what faces up; what is there is that less what went."""
    run("modaltex", "flow", "t.h5", "tex.h5", "o", *RAIN, "--report", "r.json", "--texture", "last.h5", "--checkpoint", "c.h5", "-j", 1)
    r = report()
    balance = r["balance"]
    must(r["frames"] == 11 and r["steps"] >= 10 and abs(balance["error"]) <= 1e-6 and abs(balance["dirt_error"]) <= 1e-6, r)
    with h5py.File("o/sequence.vtkhdf") as f:
        x = f["VTKHDF/Points"][:].reshape(11, -1, 3).astype(float)
        t = f["VTKHDF/Polygons/Connectivity"][:].reshape(-1, 3)
        times = f["VTKHDF/Steps/Values"][:]
        must([s.decode() for s in f["modal"].attrs["arrays"].split()] == ["Points", "wetness", "dirt"], "arrays")
    up = [0.5 * np.maximum(0, np.cross(y[t[:, 1]] - y[t[:, 0]], y[t[:, 2]] - y[t[:, 0]])[:, 2]).sum() for y in x]
    fallen = 0.02 * (np.array(up[1:]) * np.diff(times)).sum()
    must(abs(balance["added"] - fallen) <= 0.02 * fallen, "rain", balance, fallen)  # samples at edges have one triangle: off by a cell there
    wet, dirt = frames("o", "wetness"), frames("o", "dirt")
    must((wet[0] == 0).all() and (dirt[0] > 0.0499).all() and (dirt[0] < 0.0501).all(), "the first frame")
    must((wet >= 0).all() and (dirt >= 0).all() and wet[-1].max() > 0.5 * 0.02 * 0.1, "values", wet[-1].max())
    below = x[0][:, 2] < x[0][:, 2].min() + 1e-9
    must(wet[-1][below].mean() < 0.5 * wet[-1].max(), "rain falls on what faces up")
    validate(["o/sequence.vtkhdf", "last.h5", "c.h5"])
    for path in ("o", "last.h5", "c.h5"):
        run("modalinfo", path, "--check")
    must("kg of liquid and" in run("modalinfo", "c.h5").stdout, "modalinfo")
    with h5py.File("c.h5") as c, h5py.File("last.h5") as last:
        area = c["samples/area"][:].astype(float)
        liquid = c["flow/liquid"][:].astype(float) + c["flow/wetness"][:]
        must(abs(liquid.sum() / balance["now"] - 1) <= 1e-12 and c["flow"].attrs["time"] == times[-1], "state")
        must(np.abs(last["samples/values"][:, 0] * area - liquid).max() <= 1e-6 * liquid.max() and "flow" not in last, "the last texture")
        must(last.attrs["channels"] == b"float" and len(last["provenance"]) == 2, "its head")
    # no rain: nothing; the same bytes for threads, and without neighbours in the file; ref and cpu
    run("modaltex", "flow", "t.h5", "tex.h5", "dry")
    must((frames("dry", "wetness") == 0).all() and "dirt" not in h5py.File("dry/sequence.vtkhdf")["VTKHDF/PointData"], "dry")
    run("modaltex", "flow", "t.h5", "tex.h5", "o2", *RAIN, "-j", 2)
    run("modaltex", "flow", "t.h5", "bare.h5", "o3", *RAIN)
    run("modaltex", "flow", "t.h5", "tex.h5", "o4", *RAIN, "--backend", "ref")
    for folder in ("o2", "o3", "o4"):
        for field in ("wetness", "dirt"):
            off = np.abs(frames(folder, field) - frames("o", field)).max() / frames("o", field).max()
            must(off <= (1e-5 if folder == "o4" else 0), folder, field, off)  # ref rounds positions otherwise


def check_source():
    """What comes out of a corner runs down."""
    with h5py.File("o/sequence.vtkhdf") as f:
        x = f["VTKHDF/Points"][: f["VTKHDF/NumberOfPoints"][0]]
    at = ",".join(f"{c:.9g}" for c in x[np.argmax(x @ [1, 1, 10])])
    run("modaltex", "flow", "t.h5", "tex.h5", "s", "--source", f"{at},0.04,0.003", "--source", f"{at},0.02,0.001", "--speed", 0.5, "--report", "r.json",
        "--object", 0)
    r = report()
    must(abs(r["balance"]["added"] - 0.004 * 0.1) <= 1e-9 and abs(r["balance"]["error"]) <= 1e-6, r)
    run("modaltex", "flow", "t.h5", "tex.h5", "s", "-f", "--rain", 0.01, "--gravity", "0,0,0")  # on all of it, and it stays
    wet = frames("s", "wetness")[-1]
    must(np.abs(wet / 0.001 - 1).max() < 0.05, "rain without gravity", wet.min(), wet.max())


def check_restart():
    run("modaltex", "flow", "t.h5", "tex.h5", "first", *RAIN, "--frames", "0:5", "--checkpoint", "k.h5", "--checkpoint-every", 3)
    dirt = [i for i, word in enumerate(RAIN) if word == "--dirt"][0]
    more = RAIN[:dirt] + RAIN[dirt + 2:]
    run("modaltex", "flow", "t.h5", "tex.h5", "rest", *more, "--restart", "k.h5", "--checkpoint", "k.h5", "--report", "r.json")
    for field in ("wetness", "dirt"):
        whole = frames("o", field)
        must((frames("first", field) == whole[:5]).all() and (frames("rest", field) == whole[5:]).all(), "restart", field)
    with h5py.File("k.h5") as k, h5py.File("c.h5") as c:
        must(all((k["flow"][name][:] == c["flow"][name][:]).all() for name in ("liquid", "wetness", "dirt")), "states")
        must(all(abs(k["flow"].attrs[name] - c["flow"].attrs[name]) <= 1e-15 for name in ("initial", "added", "evaporated")), "balances")
    run("modaltex", "flow", "t.h5", "tex.h5", "none", *more, "--restart", "k.h5", code=3, says="no frame comes after its time")
    run("modaltex", "flow", "t.h5", "tex.h5", "none", "--restart", "absent.h5", code=3, says="absent.h5: cannot open")
    run("modaltex", "flow", "t.h5", "tex.h5", "none", "--restart", "tex.h5", code=3, says="tex.h5: has no state of a flow")
    # what is not the checkpoint's
    other = {"--rain": ("rain", 0.03), "--gravity": ("gravity", "0,0,-1.62"), "--speed": ("speed", 0.2), "--absorb": ("absorb", 0.3),
             "--evaporate": ("evaporate", 0.3), "--film": ("film", 0.3), "--source": ("sources", "0,0,0,0.1,1e-3")}
    for option, (name, value) in other.items():
        words = [w for k in range(0, len(more), 2) if more[k] != option for w in more[k:k + 2]]
        run("modaltex", "flow", "t.h5", "tex.h5", "none", *words, option, value, "--restart", "k.h5", code=3, says=f"k.h5: made with {name} ")
    shutil.copy("t.h5", "half.h5")
    with h5py.File("half.h5", "r+") as f:
        f["q"][...] /= 2
    run("modaltex", "flow", "half.h5", "tex.h5", "none", *more, "--restart", "k.h5", code=3, says="k.h5: of another trajectory than half.h5, hash ")
    run("modaltex", "flow", "t.h5", "other.h5", "none", "--restart", "k.h5", code=3, says="k.h5: of another texture than other.h5")


def check_images():
    """Images of frames beside the last texture at what their texels show; even dirt is even; threads and a restart; what is refused."""
    run("modaltex", "flow", "t.h5", "tex.h5", "none", "--images", "wetness", code=3, says="tex.h5: has no atlas, as --images needs: modaltex bake --keep")
    shutil.copy("tex.h5", "kept.h5")
    run("modaltex", "bake", "kept.h5", "b.h5", "white.png", "--size", 200, "--own-charts", "--keep", "-q")
    most = float(frames("o", "wetness").max())
    words = ("--images", "wetness", "--range", f"0,{most:.9g}")
    run("modaltex", "flow", "t.h5", "kept.h5", "i", *RAIN, *words, "--texture", "last2.h5", "-j", 2)
    run("modalinfo", "i", "--check")
    must(sorted(os.listdir("i/png")) == [f"{k:06}.png" for k in range(11)] and (frames("i", "wetness") == frames("o", "wetness")).all(), os.listdir("i"))
    must("atlas" in h5py.File("last2.h5") and "image" not in h5py.File("last2.h5")["atlas"], "the last texture keeps an image of other values")
    with h5py.File("kept.h5") as f, h5py.File("last2.h5") as last:
        key, values = f["samples/key"][:], last["samples/values"][:, 0].astype(float)
        sample, place, texel = f["atlas/sample"][:], f["atlas/place"][:].astype(float), f["atlas/texel"][:]
        bits = int(np.log2(f["tree"].attrs["n"])) * int(f["tree"].attrs["depth"])
    lower = np.stack([sum(((key[sample] >> (3 * i + k)) & 1) << i for i in range(bits)) for k in range(3)], 1)
    want = np.zeros(len(sample))
    for k in range(8):
        d = np.array([k & 1, k >> 1 & 1, k >> 2])
        corner = np.searchsorted(key, sum(((lower + d)[:, a] >> i & 1) << (3 * i + a) for a in range(3) for i in range(bits)))
        want += np.prod(np.where(d, place, 1 - place), 1) * values[corner]
    image = read_png("i/png/000010.png")
    must(image.shape == (200, 200, 1), "not grey", image.shape)
    got = image.reshape(-1, 1)[texel].astype(float)
    off = np.abs(got[:, 0] - np.clip(255 * want / most, 0, 255))  # texels weigh samples by their areas, too
    must(np.median(off) <= 3 and off.mean() <= 8 and got.std() > 20, "texels", np.median(off), off.mean(), got.std())
    must((read_png("i/png/000000.png") == 0).all() and image.min(axis=(0, 1)).max() < 100, "the first frame is dry")
    run("modaltex", "flow", "t.h5", "kept.h5", "i1", *RAIN, *words, "-j", 1)
    run("modaltex", "flow", "t.h5", "kept.h5", "i2", *RAIN, *words, "--frames", "0:5", "--checkpoint", "ki.h5", "-j", 3)
    dirt = RAIN.index("--dirt")
    run("modaltex", "flow", "t.h5", "kept.h5", "i3", *RAIN[:dirt], *RAIN[dirt + 2:], *words, "--restart", "ki.h5")
    for k in range(11):
        name = f"i/png/{k:06}.png"
        must(filecmp.cmp(name, f"i1/png/{k:06}.png", shallow=False), "threads", k)
        must(filecmp.cmp(name, f"i2/png/{k:06}.png" if k < 5 else f"i3/png/{k - 5:06}.png", shallow=False), "restart", k)
    run("modaltex", "flow", "t.h5", "kept.h5", "even", "--dirt", 0.4, "--images", "dirt", "--frames", "0:2")
    must((read_png("even/png/000001.png") == 102).all(), "even dirt", np.unique(read_png("even/png/000001.png")))
    for more, says in ((("--images", "mud"), "--images: not wetness or dirt, mud"), (("--range", "0,1"), "--range: needs --images"),
                       (("--images", "wetness", "--range", "1,0"), "--range: the second must be above the first, 1,0"),
                       (("--images", "dirt"), "--images: there is no dirt without --dirt")):
        run("modaltex", "flow", "t.h5", "kept.h5", "none", *more, code=2, says=says)
    run("modaltex", "flow", "t.h5", "kept.h5", "i", *RAIN, *words, code=2, says="i/")
    must(not os.path.exists("none"), "none is there")


def sampled(texture):
    """Values at the box's vertices."""
    run("modaltex", "sample", texture, "box.obj", "v.ply", "-f")
    with open("v.ply", "rb") as f:
        head, body = f.read().split(b"end_header\n", 1)
    n = int(head.split(b"element vertex ")[1].split()[0])
    kinds = {"double": "<f8", "float": "<f4", "uchar": "u1"}
    names = [line.split() for line in head.decode().split("\n") if line.startswith("property") and "list" not in line]
    rows = np.frombuffer(body, np.dtype([(name, kinds[kind]) for _, kind, name in names]), n)
    return rows


def check_field():
    """A field of a frame painted onto a texture: numbers, and colours by a range; what is refused."""
    layer = {"kind": "field", "file": "o/sequence.vtkhdf", "field": "wetness", "frame": 10, "range": [0, 1e9]}
    want = frames("o", "wetness")[10].astype(float)

    def paint(texture, code=0, says="", surface="b.h5", **more):
        put("field.json", json.dumps({"layers": [{**layer, **more}]}))
        run("modaltex", "paint", texture, "field.json", "painted.h5", "-f", "--surface", surface, code=code, says=says)

    run("modaltex", "build", "b.h5", "number.h5", "--resolution", 64, "--channels", "float", "-q")
    paint("number.h5")
    got = sampled("painted.h5")["value"].astype(float)
    must(np.abs(got - want).max() <= 0.05 * want.max() and want.max() > 0, "numbers", np.abs(got - want).max(), want.max())
    paint("number.h5", range=[0, float(want.max()) / 2], to=[2], **{"from": [1]})
    got = sampled("painted.h5")["value"].astype(float)
    must(np.abs(got - 1 - np.clip(2 * want / want.max(), 0, 1)).max() <= 0.1, "a range", got)
    paint("tex.h5", range=[0, float(want.max())], to=[1, 0, 0], **{"from": [0, 0, 1]})
    got = sampled("painted.h5")
    t = want / want.max()
    must((got["red"][t > 0.9] > 220).all() and (got["blue"][t < 0.05] > 220).all() and (got["green"] == 0).all(), "colours")
    must("sequence.vtkhdf" in run("modalinfo", "painted.h5").stdout, "provenance")
    run("modaldeform", "t.h5", "curved", "--fields", "curvature", "-q")  # curvature of the deformed surface, end to end
    for name in ("k_max", "mean_curvature"):
        bent = frames("curved", name)[7].astype(float)
        paint("number.h5", file="curved/sequence.vtkhdf", field=name, frame=7, range=[-1e9, 1e9])
        got = sampled("painted.h5")["value"].astype(float)
        must(np.ptp(bent) > 0.5 and np.abs(got - bent).max() <= 0.05 * np.ptp(bent), name, np.abs(got - bent).max(), np.ptp(bent))
    paint("number.h5", 3, "/layers/0/range: the second must be above the first", range=[1, 1])
    paint("number.h5", 3, "has frames 0 to 10, 11", frame=11)
    paint("number.h5", 3, "no field of that name at its points, heat", field="heat")
    paint("number.h5", 3, "no field of that name at its points, a/b", field="a/b")
    paint("number.h5", 3, '"from" is missing', to=[1])
    paint("tex.h5", 3, '"from" is missing', range=[0, 1])
    paint("far.h5", 3, "sequence.vtkhdf: of another surface, 20 points", surface="far.obj", **{"from": [0, 0, 0], "to": [1, 1, 1]})
    put("field.json", json.dumps({"layers": [layer]}))
    run("modaltex", "paint", "number.h5", "field.json", "x.h5", code=2, says="field: needs --surface")
    shutil.copy("o/sequence.vtkhdf", "nan.vtkhdf")
    with h5py.File("nan.vtkhdf", "r+") as f:
        f["VTKHDF/PointData/wetness"][10 * len(want) + 3] = np.nan
    paint("number.h5", 3, "wetness: frame 10, point 3: not finite", file="nan.vtkhdf")


def check_broken():
    def change(name, do):
        shutil.copy("c.h5", "bad.h5")
        with h5py.File("bad.h5", "r+") as f:
            do(f)
        must("bad.h5: " in run("modalinfo", "bad.h5", "--check", code=1).stdout, name)
        validate("bad.h5", 1)
        run("modaltex", "flow", "t.h5", "tex.h5", "none", "--restart", "bad.h5", code=3, says="bad.h5: ")

    def put_number(path, value):
        def do(f):
            f[path][7] = value
        return do

    change("negative", put_number("flow/liquid", -1))
    change("nan", put_number("flow/wetness", np.nan))
    change("dirt", put_number("flow/dirt", np.inf))
    change("liquid", lambda f: f["flow"].__delitem__("liquid"))
    change("time", lambda f: f["flow"].attrs.modify("time", np.float64(np.nan)))
    change("added", lambda f: f["flow"].attrs.modify("added", np.float64(-1)))
    change("neighbours", lambda f: [f["samples"].__delitem__(name) for name in ("area", "neighbours")])
    for name, value in (("size", 1e-9), ("size", 1e300), ("origin", -1e9)):  # valid octree, but around another place
        shutil.copy("tex.h5", "bad.h5")
        with h5py.File("bad.h5", "r+") as f:
            if name == "size":
                f["tree"].attrs.modify(name, np.float64(value))
            else:
                f["tree/origin"][1] = value
        run("modaltex", "flow", "t.h5", "bad.h5", "none", code=3, says="bad.h5: /tree: its cube is not that of the surface")


def bent(name, places, to):
    """The motion flat.h5, still but for frame 5, in which linear functions of the vertices have given values: places [k, vertices], to [k, 3].
    Some of them: NaN in `to` leaves a component as it may."""
    with h5py.File("all.h5") as f:
        shape = f["shapes/0000"]
        x = shape["surface/rest_positions"][:]
        modes = shape["modes/modal_matrix"][:].transpose(0, 3, 2, 1).reshape(-1, 3, 54)[:len(x)]
    wanted = np.isfinite(to)
    rows = np.einsum("kv,vcm->kcm", places, modes)[wanted]
    right = (to - places @ x)[wanted]
    q = np.linalg.lstsq(rows, right, rcond=None)[0]
    must(np.abs(rows @ q - right).max() < 1e-8, name, "the modes do not make it", np.abs(rows @ q - right).max())
    shutil.copy("still.h5", "flat.h5")
    with h5py.File("flat.h5", "r+") as f:
        f["q"][5] = q
    return "flat.h5"


def check_flat():
    """Triangles of a frame that are points, lines or pressed flat: no NaN, nothing lost, nothing runs and no rain falls there; places that are no
    numbers are refused."""
    run("modalpack", "box.node", "all.h5", "--modes", 54, *RUBBER)  # any change of shape
    run("modaltex", "build", "all.h5", "all_tex.h5", "--resolution", 64, "--neighbours", "-q")
    run("modalsim", "all.h5", "still.h5", "--duration", 0.1, "--fps", 100, "--initial", "0=0")
    with h5py.File("all.h5") as f:
        x, t = (f["shapes/0000/surface"][name][:] for name in ("rest_positions", "triangles"))
    n, any_place = len(x), np.nan
    each = np.eye(n)
    a, b, c = each[next(k for k in t if (x[k][:, 2] > 0.19).all())]
    cases = {"point": ([a - b], [[0, 0, 0]], 1), "line": ([a - 0.5 * (b + c)], [[0, 0, 0]], 1),
             "pressed": (each[1:] - each[0], [[any_place, any_place, 0]] * (n - 1), 4), "dot": (each[1:] - each[0], [[0, 0, 0]] * (n - 1), 36)}
    words = ("--rain", 0.02, "--speed", 0.5, "--gravity", "1,2,-9", "--dirt", 0.05, "--absorb", 2, "--report", "r.json")
    run("modaltex", "flow", "still.h5", "all_tex.h5", "o_still", *words)
    still = report()["balance"]["added"]
    for name, (places, to, least) in cases.items():
        run("modaltex", "flow", bent(name, np.asarray(places), np.asarray(to, float)), "all_tex.h5", f"o_{name}", *words,
            says="warning: triangles that are flat in 1 frames: nothing runs there and no rain falls on them")
        r, wet, dirt = report(), frames(f"o_{name}", "wetness"), frames(f"o_{name}", "dirt")
        must(np.isfinite(wet).all() and np.isfinite(dirt).all() and (wet >= 0).all() and (dirt >= 0).all(), name, "values")
        must(abs(r["balance"]["error"]) <= 1e-6 and abs(r["balance"]["dirt_error"]) <= 1e-6 and r["flat_triangles"] >= least, name, r)
        must(wet[10].max() > wet[5].max() > wet[4].max() / 2 > 0, name, "it goes on", wet.max(1))
        if name == "dot":  # no rain in one of ten times; what is there stays
            must(abs(r["balance"]["added"] / still - 0.9) <= 1e-6 and r["flat_triangles"] == 36, name, r, still)
            must((np.abs(wet[5] - wet[4]) <= 1e-6 * wet[4].max()).all() and (dirt[5] == dirt[4]).all(), name, "moved")
    with h5py.File("flat.h5", "r+") as f:
        f["q"][5] = 3e38  # as float32 it is finite, the place is not
    run("modaltex", "flow", "flat.h5", "all_tex.h5", "none", *words, code=3, says="vertex 0: position does not fit float32")
    must(not os.path.exists("none"), "none is there")


def check_refused():
    for words, says in ((("--source", "0,0,1,0,1"), "--source: the radius must be above 0"), (("--source", "0,0,1"), "--source"),
                        (("--source", "0,0,1,1,-1"), "--source: the rate must be in 0 .. 1e6 kg/s"), (("--object", 1), "--object: the trajectory has 1, 1"),
                        (("--frames", "::-1"), "--frames: the step must be positive"), (("--rain", -1), "--rain"), (("--gravity", "0,0"), "--gravity"),
                        (("--checkpoint-every", 2), "--checkpoint-every: needs --checkpoint"), (("--film", 0), "--film"),
                        (("--restart", "c.h5", "--dirt", 1), "--dirt: --restart has"), (("--texture", "tex.h5", "-f"), "tex.h5")):
        run("modaltex", "flow", "t.h5", "tex.h5", "none", *words, code=2, says=says)
    run("modaltex", "flow", "t.h5", "tex.h5", "o", code=2, says="o/sequence.vtkhdf")
    run("modaltex", "flow", "t.h5", "tex.h5", "arid", "--frames", "0:1", says="warning: all stays dry: --rain, --source and --dirt are absent")
    run("modaltex", "flow", "t.h5", "tex.h5", "none", "--source", "50,0,0,1,1", code=3, says="source 0: no sample of the texture within 1 m")
    run("modaltex", "flow", "t.h5", "tex.h5", "none", "--speed", 1e6, code=3, says="t.h5: frame 1: ")
    run("modaltex", "flow", "t.h5", "far.h5", "none", code=3, says="far.h5: another surface")
    run("modaltex", "flow", "tex.h5", "tex.h5", "none", code=3, says="tex.h5: ")
    run("modaltex", "flow", "t.h5", "t.h5", "none", code=3, says="t.h5: ")
    must(not os.path.exists("none") and not [name for name in os.listdir(".") if ".tmp-" in name], os.listdir("."))
    must(filecmp.cmp("before.h5", "tex.h5", shallow=False), "an input was changed")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        paint_box()
        run("modaltex", "build", "b.h5", "tex.h5", "--resolution", 64, "--neighbours", "-q")
        run("modaltex", "build", "b.h5", "bare.h5", "--resolution", 64, "-q")
        run("modaltex", "build", "b.h5", "other.h5", "--resolution", 32, "-q")
        put("far.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        run("modaltex", "build", "far.obj", "far.h5", "--resolution", 32, "-q")
        shutil.copy("tex.h5", "before.h5")
        check_rain()
        check_source()
        check_restart()
        check_images()
        check_field()
        check_flat()
        check_broken()
        check_refused()
    print("flow ok")


main()
