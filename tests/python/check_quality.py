# SPDX-License-Identifier: Apache-2.0
"""How far to trust a trajectory (formats/trajectory.md, trajectory.md): every limit of trajectory.md decides as it says,
in modalinfo --check and in the validator; what breaks the page is refused; what modalsim makes has /quality, the same
in every thread, through a pipe, after a restart and carried over to another basis.
usage: check_quality.py BIN TESTS SOURCE"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

BIN, TESTS, SOURCE = (os.path.abspath(word) for word in sys.argv[1:])


def run(*words, code=0, binary=False):
    got = subprocess.run([os.path.join(BIN, words[0]), *words[1:]], capture_output=True, text=not binary,
                         stdin=subprocess.DEVNULL)
    assert got.returncode == code, (words, got)
    return got


checked = []  # (copy, exit code, last line) of every file that was looked at, for the validator


def check(path, code):
    """What modalinfo says: (lines, JSON)"""
    lines = run("modalinfo", "--check", path, code=code).stdout.splitlines()
    said = json.loads(run("modalinfo", "--check", "--json", path, code=code).stdout)
    checked.append((f"{len(checked)}.h5", code, lines[-1]))
    shutil.copy(path, checked[-1][0])
    return lines, said


def check_validator():
    """It says the same of all of them."""
    got = subprocess.run([sys.executable, f"{SOURCE}/tools/python/validate", *(path for path, _, _ in checked)], capture_output=True,
                         text=True)
    for path, code, last in checked:
        lines = [line for line in got.stdout.splitlines() if line.startswith(f"{path}: ")]
        verdict = "broken" if code else last.split(": ", 1)[1]
        theirs = re.search(r": (valid trajectory, rating (?:ok|suspect|not judged))$", lines[-1])
        assert verdict == (theirs[1] if theirs else "broken"), (path, code, last, lines)


def limits():
    """{measure: (doubtful, wrong)} of the page."""
    with open(f"{SOURCE}/formats/trajectory.md", encoding="utf-8") as file:
        rows = re.findall(r"^\| `(\w+)` \| \w+ \| [<>] ([^ ]+) \| (?:[<>]=? ([^ ]+) )?\|", file.read(), re.M)
    return {name: (float(suspect), float(invalid or np.inf)) for name, suspect, invalid in rows}


def columns(file):
    return file.attrs["quality_columns"].decode().split(" ")


def put(path, changes, not_judged=0):
    """A copy of traj.h5 where nothing was measured but {(frame, name): value}, and all that was needed, or what `not_judged` says."""
    shutil.copy("traj.h5", path)
    with h5py.File(path, "r+") as file:
        names, values = columns(file), np.full(file["quality"].shape, np.nan)
        values[:, names.index("not_judged")] = not_judged
        for (frame, name), value in changes.items():
            values[frame, names.index(name)] = value
        file["quality"][...] = values


def check_limits():
    table = limits()
    assert len(table) == 18, table
    put("x.h5", {})
    lines, said = check("x.h5", 0)
    assert lines == ["x.h5: valid trajectory, rating ok"] and said["quality"] == {"rating": "ok", "indicators": []}, lines
    for missing, what in ((np.nan, "the file does not say"), (1, "leaves out of the loads"), (2, "leaves out of the elastic forces"),
                          (4, "how strongly solids are deformed"), (8, "energies were not kept"), (16, "the file does not say")):
        put("x.h5", {(3, "step_error"): 0.01}, not_judged=missing)
        lines, said = check("x.h5", 0)
        assert lines[0].startswith("x.h5: not judged: ") and what in lines[0] and lines[1:] == ["x.h5: valid trajectory, rating not judged"], lines
        assert said["quality"]["rating"] == "not judged" and what in said["quality"]["missing"] and said["valid"], said
        got = run("modalinfo", "--check", "--require-ok", "x.h5", code=5)
        assert "--require-ok: x.h5: the motion is not judged" in got.stderr, got.stderr
    put("x.h5", {(2, "not_judged"): 1})
    assert check("x.h5", 0)[1]["quality"]["rating"] == "not judged"
    put("x.h5", {(2, "force_truncation"): 0.5}, not_judged=1)
    lines, said = check("x.h5", 0)
    assert said["quality"]["rating"] == "suspect" and "missing" in said["quality"] and lines[-1] == "x.h5: valid trajectory, rating suspect", lines
    run("modalinfo", "--check", "--require-ok", "x.h5", code=5)
    put("x.h5", {(3, "step_error"): 0.01})
    run("modalinfo", "--check", "--require-ok", "x.h5")
    run("modalinfo", "--require-ok", "x.h5", code=2)
    for name, (doubtful, wrong) in table.items():
        low = name in ("min_jacobian", "min_volume_ratio")
        step = -1 if low else 1
        for value, verdict in ((doubtful, "ok"), (np.nextafter(doubtful, step * np.inf), "suspect"),
                               (np.nextafter(wrong, np.inf) if low else wrong, "suspect"),
                               (wrong if low else np.nextafter(wrong, np.inf), "invalid")):
            if np.isinf(value):
                continue
            put("x.h5", {(2, name): doubtful, (4, name): value})
            lines, said = check("x.h5", verdict == "invalid")
            assert lines[-1] == f"x.h5: valid trajectory, rating {verdict}", (name, value, lines)
            assert said["quality"]["rating"] == verdict and said["valid"], said
            one, = said["quality"]["indicators"]
            assert one["name"] == name and one["worst"] == value and one["frame"] == (4 if verdict != "ok" else 2), one
            assert one["rating"] == verdict and one["frames_past"] == (verdict != "ok"), one
            assert len(lines) == (1 if verdict == "ok" else 2), lines
            if verdict != "ok":
                assert lines[0].startswith(f"x.h5: {verdict}: {name} ") and " in frame 4 (" in lines[0] and ": " in lines[0][40:], lines
    put("x.h5", {(3, "force_truncation"): 0.2, (5, "force_truncation"): 0.4, (5, "force_truncation_object"): 2, (6, "force_truncation"): 0.3,
                 (1, "min_jacobian"): 0.5, (1, "min_jacobian_object"): 1, (1, "min_jacobian_element"): 7})
    lines, said = check("x.h5", 0)
    assert lines[0].startswith("x.h5: suspect: min_jacobian 0.5 in frame 1 (0 s), element 7 of object 1; the limit is 0.6: "), lines
    assert lines[1].startswith("x.h5: suspect: force_truncation 0.4 in frame 5 (0.16 s), object 2; the limit is "), lines
    assert "3 frames from 3 to 6 are past" in lines[1], lines
    text = run("modalinfo", "x.h5").stdout
    assert re.search(r"^quality +suspect$", text, re.M) and re.search(r"^  at worst +min_jacobian 0.5 in frame 1", text, re.M), text


def check_rules():
    for changes, wanted in (({(1, "force_truncation"): np.inf}, "frame 1, force_truncation: infinite, inf"),
                            ({(2, "strain"): -0.1}, "frame 2, strain: negative"),
                            ({(0, "rotation_object"): 0.5}, "frame 0, rotation_object: not a whole number"),
                            ({(6, "force_truncation_object"): 3}, "frame 6, force_truncation_object: not an object"),
                            ({(6, "min_jacobian_element"): 1.5}, "frame 6, min_jacobian_element: not a whole number")):
        put("x.h5", changes)
        lines, said = check("x.h5", 1)
        assert len(lines) == 1 and wanted in lines[0] and lines[0].startswith("x.h5: /quality: "), lines
        assert not said["valid"] and "quality" not in said, said
        assert "/quality: " + wanted in run("modalinfo", "x.h5", code=3).stderr

    def damaged(change):
        shutil.copy("traj.h5", "x.h5")
        with h5py.File("x.h5", "r+") as file:
            change(file)

    def rename(file, names):
        file.attrs["quality_columns"] = np.bytes_(" ".join(names))
    damaged(lambda file: file.__delitem__("quality"))
    lines, _ = check("x.h5", 0)
    assert lines[-1] == "x.h5: valid trajectory, rating not judged", lines
    for change, wanted in ((lambda file: file.attrs.__delitem__("quality_columns"), "/@quality_columns: missing"),
                           (lambda file: rename(file, columns(file)[1:]), "/@quality_columns: must be 30 names"),
                           (lambda file: rename(file, columns(file)[1:] + ["force_truncation"]), "/@quality_columns: force_truncation: twice"),
                           (lambda file: rename(file, [""] + columns(file)[1:]), "/@quality_columns: must be 30 names")):
        damaged(change)
        lines, _ = check("x.h5", 1)
        assert len(lines) == 1 and wanted in lines[0], lines

    # another order, fewer columns, one that nobody knows; and a file without any
    def reorder(file):
        names, values = columns(file), file["quality"][()]
        del file["quality"]
        file["quality"] = np.concatenate([np.full((len(values), 1), np.inf), values[:, [names.index("step_error")]] + 1], axis=1)
        rename(file, ["acme_shine", "step_error"])
    damaged(reorder)
    lines, said = check("x.h5", 1)
    assert lines[-1] == "x.h5: valid trajectory, rating invalid" and [m["name"] for m in said["quality"]["indicators"]] == ["step_error"], said
    with h5py.File("x.h5", "r+") as file:
        del file["quality"]
    lines, _ = check("x.h5", 0)
    assert lines[-1] == "x.h5: valid trajectory, rating not judged", lines


def write_beam():
    """4 x 1 x 1 cubes of 0.1 m, held at one end; modes and a St. Venant-Kirchhoff law."""
    nodes = [(x, y, z) for x in range(5) for y in range(2) for z in range(2)]
    place = {node: i + 1 for i, node in enumerate(nodes)}
    with open("beam.msh", "w", encoding="utf-8") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(nodes)}\n")
        file.writelines(f"{i + 1} {0.1 * x} {0.1 * y} {0.1 * z}\n" for i, (x, y, z) in enumerate(nodes))
        file.write("$EndNodes\n$Elements\n4\n")
        for e in range(4):
            corners = [(e, 0, 0), (e + 1, 0, 0), (e + 1, 1, 0), (e, 1, 0), (e, 0, 1), (e + 1, 0, 1), (e + 1, 1, 1), (e, 1, 1)]
            file.write(f"{e + 1} 5 2 1 1 " + " ".join(str(place[c]) for c in corners) + "\n")
        file.write("$EndElements\n")
    for name, modes in (("b.h5", "6"), ("b4.h5", "4")):
        run("modalpack", "beam.msh", name, "--young", "1e6", "--poisson", "0.3", "--density", "1000", "--modes", modes, "--fixed",
            "box:-1,-1,-1:0.01,1,1", "--reduced-forces")
    with open("scene.json", "w", encoding="utf-8") as file:
        json.dump({"duration": 0.5, "fps": 40, "model": "stvk", "damping": {"alpha": 0.5},
                   "impulses": [{"object": 0, "point": [0.4, 0.1, 0.1], "impulse": [0, 0.05, 0.1], "time": 0.1}]}, file)


def quality(path):
    with h5py.File(path, "r") as file:
        return dict(zip(columns(file), file["quality"][()].T))


def same(a, b):
    with open(a, "rb") as first, open(b, "rb") as second:
        return first.read() == second.read()


def check_made():
    write_beam()
    # under one name for the bytes: the command is in the file
    run("modalsim", "b.h5", "t.h5", "--scene", "scene.json", "-j1", "--report", "r.json")
    rows = quality("t.h5")
    for name in ("energy_balance", "step_error", "phase_error", "newton_residual", "step_reductions"):
        assert np.isfinite(rows[name][1:]).all() and (rows[name][1:] >= 0).all(), (name, rows[name])
    assert np.nanmax(rows["step_error"]) > 0 and np.nanmax(rows["newton_residual"]) < 1e-6
    with open("r.json", encoding="utf-8") as file:
        report = json.load(file)["quality"]
    said = json.loads(run("modalinfo", "--json", "t.h5").stdout)["quality"]
    assert report["rating"] == said["rating"] and report["indicators"] == said["indicators"], (report, said)
    values = [rows[name] for name in rows]
    run("modalsim", "b.h5", "t.h5", "--scene", "scene.json", "-j2", "-f")
    assert np.array_equal(values, [quality("t.h5")[name] for name in rows], equal_nan=True)
    # through a pipe, and to be read from one
    piped = run("modalsim", "b.h5", "-", "--scene", "scene.json", binary=True).stdout
    with open("p.h5", "wb") as file:
        file.write(piped)
    assert np.array_equal(values, list(quality("p.h5").values()), equal_nan=True)
    with open("p.h5", "rb") as file:
        got = subprocess.run([f"{BIN}/modalinfo", "--check", "-"], stdin=file, capture_output=True, text=True)
    assert got.returncode == 0 and said['rating'] in got.stdout.splitlines()[-1], got
    # broken off after 10 frames, and gone on with
    run("modalsim", "b.h5", "t.h5", "--scene", "scene.json", "--checkpoint", "c.h5", "--checkpoint-every", "13", "-f")
    run("modalsim", "b.h5", "g.h5", "--scene", "scene.json", "--restart", "c.h5", "--report", "r.json")
    assert np.array_equal(values, list(quality("g.h5").values()), equal_nan=True)
    with open("r.json", encoding="utf-8") as file:
        assert json.load(file)["quality"] == report
    # another basis: what was known stays, and how much of the motion was left out is said
    run("modalsim", "b4.h5", "o.h5", "--rebase", "t.h5")
    carried = quality("o.h5")
    assert np.array_equal(carried["step_error"], rows["step_error"], equal_nan=True)
    with h5py.File("o.h5", "r") as file:
        assert carried["projected"].max() == file["rebase_errors"][0] > 0 and (carried["projected_object"] == 0).all()
        assert carried["projected"][0] == 0, "nothing moves in the first frame"


def check_handed_on():
    """modaldeform warns once, and writes down what it knows of the frames that it takes."""
    run("modalsim", "b.h5", "t.h5", "--scene", "scene.json", "-f")
    with h5py.File("t.h5", "r+") as file:
        names, values = columns(file), file["quality"][()]
        values[1:, names.index("phase_error")] = 0.01
        values[1:, names.index("step_error")] = 0.001
        values[:, [names.index("not_judged"), names.index("load_truncation")]] = 0
        values[3, names.index("force_truncation")], values[4, names.index("energy_balance")] = 0.5, 0.3
        file["quality"][...] = values
    for frames, verdict in ((":", "suspect"), ("5:", "ok"), ("::4", "suspect"), ("1::5", "ok")):
        said = run("modaldeform", "t.h5", "o", "-f", "--frames", frames, "--report", "r.json").stderr
        assert said.count("warning") == (verdict == "suspect"), (frames, said)
        with open("o/manifest.json", encoding="utf-8") as file:
            kept = json.load(file)["quality"]
        assert re.match(f"{verdict}(: |$)", kept) and (kept in said) == (verdict == "suspect"), (frames, kept, said)
        assert ("force_truncation 0.5 in frame 3 (0.075 s)" in kept) == (frames == ":"), kept
        assert ("energy_balance 0.3 in frame 4" in kept) == (verdict == "suspect"), kept
        with open("r.json", encoding="utf-8") as file:
            assert json.load(file)["quality"]["rating"] == verdict
        with h5py.File("o/sequence.vtkhdf", "r") as file:
            steps = file["modal/provenance"]
            assert [steps[name].attrs.get("quality") for name in steps] == [None, None, kept.encode()], kept
        assert json.loads(run("modalinfo", "--json", "o/sequence.vtkhdf").stdout)["provenance"][-1]["quality"] == kept
        assert "the motion is" in run("modalinfo", "o/sequence.vtkhdf").stdout
    with h5py.File("t.h5", "r+") as file:
        del file["quality"]
    assert "warning" not in run("modaldeform", "t.h5", "o", "-f").stderr
    with open("o/manifest.json", encoding="utf-8") as file:
        assert json.load(file)["quality"].startswith("not judged: the file does not say"), "nothing is known"


def check_natural_modes():
    """St. Venant-Kirchhoff's law with natural modes alone is warned of; the command that is named mends it."""
    words = ["modalsim", "b.h5", "t.h5", "--scene", "scene.json", "-f"]
    said = re.search(r"warning: b.h5: shape 0 has natural modes alone, .*: (modalpack .* --derivatives 3 --force)$",
                     run(*words).stderr, re.M)
    run(*shlex.split(said[1]))
    assert "natural modes" not in run(*words).stderr
    with open("scene.json", encoding="utf-8") as file:
        scene = json.load(file)
    shutil.copy("b4.h5", "b.h5")
    assert "natural modes" in run(*words).stderr
    with open("scene.json", "w", encoding="utf-8") as file:
        json.dump({**scene, "model": "linear"}, file)
    assert "natural modes" not in run(*words).stderr
    with open("scene.json", "w", encoding="utf-8") as file:
        json.dump({**scene, "impulses": [], "duration": 0.05, "objects": [{"object": 0, "pose_motion": {"spin": {"axis": [1, 0, 0], "rate": 1}}}]}, file)
    assert "natural modes" in run(*words).stderr
    run("modalpack", "beam.msh", "b.h5", "--young", "1e6", "--poisson", "0.3", "--density", "1000", "--modes", "48", "--fixed",
        "box:-1,-1,-1:0.01,1,1", "--reduced-forces", "-f")
    assert "natural modes" not in run(*words).stderr, "all that the solid can do"


def main():
    subprocess.run([f"{TESTS}/write_samples", "."], check=True, stdout=subprocess.DEVNULL)
    check_limits()
    check_rules()
    check_validator()
    check_made()
    check_handed_on()
    check_natural_modes()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
