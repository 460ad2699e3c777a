# SPDX-License-Identifier: Apache-2.0
"""tools/blender/modaltools_import in Blender: a fork, a ring of one's own mesh and a bush against the sequences that modaldeform writes;
shape keys, joined meshes, saved files, rendered frames; files that are wrong; the .zip installed as a user does. usage: check_blender.py BIN SOURCE
BLENDER ZIP [LIBRARY]: 77 where it is absent. BLENDER may be the root of another system, which is entered by chroot; there numpy computes."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from tool_run import binaries, must, run

source = os.path.abspath(sys.argv[2])
root = sys.argv[3].rstrip("/") if os.path.isdir(sys.argv[3]) else ""
blender, archive = shutil.which(f"{root}/usr/bin/blender" if root else sys.argv[3] or "-"), sys.argv[4]
library = sys.argv[5] if sys.argv[5:] and not root else ""
sys.path.insert(0, f"{source}/tools/python")
from modaltools import Sequence, Trajectory  # noqa: E402
from modaltools.motion import Motion  # noqa: E402



def start(*words, by=""):
    """Blender without a window, in this folder; what it says."""
    words = ["blender" if root else blender, "--background", "--factory-startup", *(word.replace(root, "") if root else word for word in words)]
    if root:
        words = ["chroot", root, "sh", "-c", 'cd "$0" && exec "$@"', os.getcwd().replace(root, "", 1), *words]
    got = subprocess.run(words, capture_output=True, text=True, timeout=200, env={**os.environ, "MODALTOOLS_LIBRARY": by, "MODALTOOLS_PYTHON": "",
                                                                                  "HOME": os.getcwd().replace(root, "", 1), "PWD": os.getcwd().replace(root, "", 1),
                                                                                  "PYTHONPATH": ""})
    must(got.returncode == 0, words, (got.stdout + got.stderr)[-3000:])
    return got.stdout + got.stderr


def in_blender(jobs, by=""):
    with open("jobs.json", "w", encoding="utf-8") as out:
        out.write(json.dumps(jobs).replace(root, "") if root else json.dumps(jobs))
    if os.path.exists("found.npz"):
        os.remove("found.npz")
    text = start("--python-exit-code", "1", "--python", "kit/trajectory_in_blender.py", "--", os.path.abspath("kit/blender/modaltools_import"),
                 os.path.abspath("jobs.json"), os.path.abspath("found.npz"), by=by)
    must(os.path.exists("found.npz"), text[-3000:])
    with np.load("found.npz") as found:
        found = dict(found)
    must(len(found["left"]) == 0 and len(found["registered"]) == 10, "not unregistered:", found["left"], found["registered"])
    return found, text


def make():
    shutil.copytree(f"{source}/tools/blender", "kit/blender", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(f"{source}/tools/python/modaltools", "kit/python/modaltools", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(f"{source}/tests/clients/trajectory_in_blender.py", "kit")
    shutil.copy(archive, "kit")
    steel = ["--young", 2.06e11, "--poisson", 0.29, "--density", 7850]
    run("modalpack", f"{source}/data/tuning_fork.msh", "fork_b.h5", "--modes", 6, *steel, "--fixed", "stem_end", "-q")
    run("modalsim", "fork_b.h5", "fork.h5", "--duration", 0.001, "--fps", 20000, "--impulse", "0.025,0.152,0.006:-1.5,0,0", "-q")
    subprocess.run([sys.executable, f"{source}/data/plant.py", "bush", "plant", "--tools", binaries, "--duration", "0.3"], check=True, capture_output=True)
    os.replace("plant/plant.h5", "bush_b.h5")
    run("modalsim", "bush_b.h5", "bush.h5", "--scene", "plant/scene.json", "-q")
    # an own mesh: quads with texture coordinates and two materials around a box
    with open("own.obj", "w", encoding="utf-8") as out:
        n, at = 9, {}
        for i in range(n):
            for j, (y, z) in enumerate(((0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1))):
                at[i, j] = len(at) + 1
                out.write(f"v {i / (n - 1):.9g} {y} {z}\nvt {i / (n - 1):.6g} {j / 4}\n")
        for part, name in ((0, "bark"), (1, "ends")):
            out.write(f"usemtl {name}\n")
            quads = [(at[i, j], at[i, (j + 1) % 4], at[i + 1, (j + 1) % 4], at[i + 1, j]) for i in range(n - 1) for j in range(4)] if part == 0 \
                else [tuple(at[0, j] for j in (3, 2, 1, 0)), tuple(at[n - 1, j] for j in range(4))]
            for quad in quads:
                out.write("f " + " ".join(f"{c}/{c}" for c in quad[::-1]) + "\n")
    run("modalmesh", "own.obj", "own.msh", "--size", 0.1, "-q")
    run("modalpack", "own.msh", "own_b.h5", "--surface", "own.obj", "--modes", 4, "--material", "rubber", "--fixed", "plane:0,0,0:-1,0,0", "-q")
    run("modalsim", "own_b.h5", "own.h5", "--duration", 0.5, "--fps", 24, "--initial", "0=1e-2", "--initial", "1=5e-3", "-q")
    for name in ("fork", "bush", "own"):
        run("modaldeform", f"{name}.h5", f"{name}_out", "--backend", "cpu", "-q")


def close(found, wanted, *what, tolerance=1e-6):
    must(found.shape == wanted.shape, *what, "shapes", found.shape, wanted.shape)
    error = np.abs(found - wanted).max() / np.ptp(wanted, axis=0).max()
    must(error <= tolerance, *what, "off by", error)
    return error


def play(name, **options):
    last = len(Sequence(f"{name}_out")) - 1
    return [{"do": "empty"}, {"do": "import", "as": name, "file": os.path.abspath(f"{name}.h5"), "options": options},
            {"do": "frames", "as": name, "frames": [0, 7, last]}, {"do": "describe", "as": name}]


def playing():
    """Frames 0, 7 and the last one; what the meshes have; the panel's properties; shape keys."""
    jobs = []
    for name in ("fork", "bush", "own"):
        jobs += play(name)
        if name != "fork":
            jobs += [{"do": "bake", "as": f"{name}_baked"}, {"do": "frames", "as": f"{name}_baked", "frames": [0, 7, 4]},
                     {"do": "unbake"}, {"do": "frames", "as": f"{name}_again", "frames": [7]}]
    # a mesh a shape
    jobs += [{"do": "empty"}, {"do": "import", "as": "joined", "file": os.path.abspath("bush.h5"), "options": {"join_above": 10}},
             {"do": "frames", "as": "joined", "frames": [0, 7]}, {"do": "describe", "as": "joined"},
             {"do": "bake", "as": "joined_baked"}, {"do": "frames", "as": "joined_baked", "frames": [3, 7]}]
    # amplitude, offset, slow motion, seconds, velocity
    jobs += play("fork")[:2] + [
        {"do": "link", "values": {"amplitude": 5, "offset": 3, "slow_motion": 2}}, {"do": "frames", "as": "larger", "frames": [3, 8, 9, 2]},
        {"do": "link", "values": {"amplitude": 1, "offset": 0, "slow_motion": 24e3, "clock": "SECONDS"}}, {"do": "frames", "as": "slow", "frames": [0, 6, 24]},
        {"do": "link", "values": {"clock": "FRAMES", "slow_motion": 1, "motion_blur": True}}, {"do": "frames", "as": "blur", "frames": [7]},
        {"do": "describe", "as": "blur"}]
    # modes
    jobs += [{"do": "empty"}, {"do": "import", "as": "modes", "file": os.path.abspath("fork_b.h5")}, {"do": "link", "values": {"mode": 2, "share": 0.1}},
             {"do": "frames", "as": "modes", "frames": [0, 5, 31]}]
    # the artist's own mesh
    jobs += [{"do": "empty"}, {"do": "import", "as": "artist", "file": os.path.abspath("own.h5"), "options": {"own": os.path.abspath("own.obj")}},
             {"do": "frames", "as": "artist", "frames": [0, 7, 12]}, {"do": "describe", "as": "artist"}, {"do": "subdivide"}, {"do": "describe", "as": "finer"},
             {"do": "bake", "as": "artist_baked"}]
    found, _ = in_blender(jobs, library)
    if library:
        must(np.array_equal(found["fork/7"], Sequence("fork_out").points[7]), "not the same bytes")
    for name in ("fork", "bush", "own"):
        sequence = Sequence(f"{name}_out")
        last = len(sequence) - 1
        must(str(found[f"{name}/ended"]) == "FINISHED" and list(found[f"{name}/range"]) == [0, last], name, found[f"{name}/ended"], found[f"{name}/range"])
        worst = max(close(found[f"{name}/{i}"], sequence.points[i], name, i) for i in (0, 7, last))
        must(found[f"{name}/smooth"].all() and str(found[f"{name}/link"][2]) == "", name, "smooth")
        if name != "fork":
            baked = max(close(found[f"{name}_baked/{i}"], sequence.points[i], name, "baked", i) for i in (0, 7, 4))
            close(found[f"{name}_again/7"], sequence.points[7], name, "no longer baked")
            print(f"check_blender: {name}: {worst:.1e}; shape keys {baked:.1e}")
    fork, bush, own = (Sequence(f"{n}_out") for n in ("fork", "bush", "own"))
    must(np.array_equal(found["fork/corners"].reshape(-1, 3), fork.triangles), "triangles")
    must({"stem_end", "prong_left_tip", "prong_right_tip"} < set(found["fork/slots"]) and len(set(found["fork/slot_of"])) == 4, "groups", found["fork/slots"])
    must(int(found["bush/meshes"]) == 60 and 4 <= len(found["bush/materials"]) < 12, "objects that share a shape share materials", found["bush/materials"])
    must(int(found["own_baked/keys"]) <= 5, "keys of modes", found["own_baked/keys"])
    must(list(found["own/slots"]) == ["bark", "ends"] and found["own/uv"].shape == (3 * len(own.triangles), 2) and np.ptp(found["own/uv"]) > 0.9, "uv")
    must(int(found["joined/meshes"]) == 4 and np.array_equal(np.bincount(found["joined/object"]), np.full(60, 25)), "joined", found["joined/meshes"])
    for key in ("joined/0", "joined/7", "joined_baked/3", "joined_baked/7"):
        close(found[key], bush.points[int(key[-1])], key)
    motion = Motion("fork.h5")
    for frame, place in ((3, 0), (8, 2.5), (9, 3), (2, 0)):
        close(found[f"larger/{frame}"], motion.at(place, 5).positions, "amplitude", frame)
    for frame in (0, 6, 24):
        close(found[f"slow/{frame}"], motion.at(motion.place_at(frame / 24 / 24e3)).positions, "seconds", frame)
    wanted = (motion.at(7.5).positions - motion.at(6.5).positions) * 24
    must(np.abs(found["blur/velocity"] - wanted).max() <= 1e-4 * np.abs(wanted).max() and np.abs(wanted).max() > 0, "velocity")
    run("modaldeform", "fork_b.h5", "modes", "--modes", 2, "--amplitude", "10%", "-q")
    for i in (0, 5, 31):
        close(found[f"modes/{i}"], Sequence("modes").points[i], "modes", i)
    for i in (0, 7, 12):
        close(found[f"artist/{i}"], own.points[i], "own mesh", i)
    must((found["artist/polygons"] == 4).all() and list(found["artist/slots"]) == ["bark", "ends"] and list(found["finer/modifiers"]) == ["SUBSURF"],
         "own mesh: quads, materials, modifiers", found["artist/polygons"], found["artist/slots"], found["finer/modifiers"])


def keeping():
    """Two frames rendered, saved, opened again: the same bytes, also in another folder, with a link that is relative."""
    os.mkdir("farm")
    for name in ("fork.h5", "fork_b.h5"):
        shutil.copy(name, "farm")
    jobs = [{"do": "empty"}, {"do": "import", "as": "fork", "file": os.path.abspath("farm/fork.h5")}, {"do": "render", "as": "one", "frames": [2, 7]},
            {"do": "save", "file": "farm/fork.blend", "relative": True}, {"do": "describe", "as": "saved"}]
    first, _ = in_blender(jobs)
    must(str(first["saved/link"][0]) == "//fork.h5", "the link", first["saved/link"])
    os.rename("farm", "elsewhere")
    jobs = [{"do": "load", "file": "elsewhere/fork.blend"}, {"do": "render", "as": "two", "frames": [2, 7]}, {"do": "frames", "as": "two", "frames": [7]},
            {"do": "link", "values": {"motion_blur": True, "amplitude": 3}}, {"do": "render", "as": "blur", "frames": [7], "blur": True}]
    again, _ = in_blender(jobs)
    for frame in (2, 7):
        must(np.array_equal(first[f"one/{frame}/pixels"], again[f"two/{frame}/pixels"]), "rendered otherwise after opening again", frame)
    must(str(first["one/2/hash"]) != str(first["one/7/hash"]) and first["one/7/pixels"][..., 3].max() > 0, "both frames look the same")
    close(again["two/7"], Sequence("fork_out").points[7], "opened again")
    must(not np.array_equal(again["blur/7/pixels"], first["one/7/pixels"]), "motion blur changes nothing")


def damaged():
    os.mkdir("away")
    shutil.copy("fork.h5", "away/moved.h5")
    shutil.copy("fork.h5", "nan.h5")
    with h5py.File("nan.h5", "r+") as file:
        file["q"][3, 1] = np.nan
    with open("fork.h5", "rb") as file:
        data = file.read()
    with open("cut.h5", "wb") as file:
        file.write(data[:len(data) // 2])
    with open("text.h5", "w", encoding="utf-8") as file:
        file.write("no HDF5\n")
    shutil.copy("fork.h5", "later.h5")
    cases = {"away/moved.h5": ({}, "its basis is not there"), "fork.h5": ({"basis": os.path.abspath("own_b.h5")}, "made for another basis"),
             "cut.h5": ({}, "cut.h5"), "nan.h5": ({}, "q: frame 3: not finite"), "text.h5": ({}, "text.h5"), "absent.h5": ({}, "absent.h5"),
             "bush.h5": ({"own": os.path.abspath("own.obj")}, "an own mesh is for one object, not for 60")}
    jobs = []
    for name, (options, _) in cases.items():
        jobs += [{"do": "empty"}, {"do": "import", "as": name, "file": os.path.abspath(name), "options": options}]
    # a link that breaks while it is open, and mends again
    jobs += [{"do": "empty"}, {"do": "import", "as": "good", "file": os.path.abspath("later.h5")}, {"do": "frames", "as": "good", "frames": [7]},
             {"do": "link", "values": {"path": os.path.abspath("gone.h5")}}, {"do": "frames", "as": "gone", "frames": [8]}, {"do": "describe", "as": "gone"},
             {"do": "link", "values": {"path": os.path.abspath("later.h5")}}, {"do": "frames", "as": "mended", "frames": [8]}, {"do": "describe", "as": "mended"}]
    # a basis that has moved, chosen in the dialog: of an import, and of the panel
    basis = os.path.abspath("fork_b.h5")
    jobs += [{"do": "empty"}, {"do": "find", "as": "chosen", "basis": basis, "trajectory": os.path.abspath("away/moved.h5")},
             {"do": "frames", "as": "chosen", "frames": [7]},
             {"do": "link", "values": {"basis": os.path.abspath("own_b.h5")}}, {"do": "frames", "as": "lost", "frames": [8]}, {"do": "describe", "as": "lost"},
             {"do": "find", "as": "again", "basis": basis}, {"do": "frames", "as": "again", "frames": [8]}, {"do": "describe", "as": "again"}]
    found, text = in_blender(jobs)
    must("Traceback" not in text, "a traceback", text[-2000:])
    for name, (_, message) in cases.items():
        must(str(found[f"{name}/ended"]) == "CANCELLED" and message in str(found[f"{name}/said"]) and int(found[f"{name}/objects"]) == 0
             and len(found[f"{name}/collections"]) == 0, name, found[f"{name}/said"], found[f"{name}/collections"])
    points = Sequence("fork_out").points
    close(found["good/7"], points[7], "good")
    close(found["gone/8"], points[7], "stays where it was")
    must("gone.h5" in str(found["gone/link"][2]) and str(found["mended/link"][2]) == "", "the panel's message", found["gone/link"], found["mended/link"])
    close(found["mended/8"], points[8], "mended")
    must(str(found["chosen/ended"]) == str(found["again/ended"]) == "FINISHED" and "made for another basis" in str(found["lost/link"][2])
         and str(found["again/link"][2]) == "", "a basis that is chosen", found["lost/link"], found["again/link"])
    for key, frame in (("chosen/7", 7), ("lost/8", 7), ("again/8", 8)):
        close(found[key], points[frame], key)


INSTALL = """
import bpy
bpy.ops.preferences.addon_install(filepath="kit/modaltools_import.zip")
bpy.ops.preferences.addon_enable(module="modaltools_import")
bpy.context.preferences.addons["modaltools_import"].preferences.package = "kit/python"
print("ended", bpy.ops.import_scene.modaltools(filepath="fork.h5"), len(bpy.data.objects))
bpy.ops.preferences.addon_disable(module="modaltools_import")
print("left", hasattr(bpy.types.Collection, "modaltools"), "Blender", bpy.app.version_string)
"""


def installed():
    """Edit > Preferences > Add-ons > Install, of the .zip."""
    with open("install.py", "w", encoding="utf-8") as out:
        out.write(INSTALL)
    text = start("--python-exit-code", "1", "--python", "install.py")
    must("ended {'FINISHED'} " in text and "left False" in text, text[-3000:])
    print("check_blender:", next(line for line in text.splitlines() if line.startswith("left")).split(" ", 2)[2], "installs the .zip")


if not blender or (root and os.geteuid() != 0):
    print("check_blender: skipped: no Blender", f"in {root}, or not root" if root else "")
    sys.exit(77)
with tempfile.TemporaryDirectory(dir=f"{root}/tmp" if root else None) as folder:
    os.chdir(folder)
    make()
    installed()
    playing()
    keeping()
    damaged()
    must(len(Trajectory("fork.h5")) == 21, "frames")
    os.chdir("/")
