# SPDX-License-Identifier: Apache-2.0
"""modalsim --generate scene: what it prints runs as it is and moves what it says; comments in scenes; which vertex a point
takes. usage: check_template.py BIN template"""
import json
import os

import h5py
import numpy as np

import scenes
from scenes import RUBBER, pack, place, run, simulate
from stvk_solid import write_bar


def template_of(basis, moves=False):
    """The scene of a basis; and what its run says, reports and moves: the largest displacement of object 0's nodes."""
    text = run("modalsim", "--generate", "scene", basis).stdout
    with open("s.json", "w") as file:
        file.write(text)
    got = run("modalsim", basis, "s.h5", "--scene", "s.json", "--force", "--report", "r.json")
    scene, report = json.loads(text), json.load(open("r.json"))
    # so few columns cannot make all of what a force at one point does, which is said
    others = [w for w in report["warnings"] if not w.startswith(("the motion is suspect: force_truncation ", "the motion is suspect: load_truncation "))]
    assert others == [], (basis, others)
    with h5py.File("s.h5") as t, h5py.File(basis) as b:
        shape = b["shapes/0000"]
        surface = shape["surface"]
        tiles = shape["modes/modal_matrix"][:].transpose(0, 3, 2, 1)
        u = tiles.reshape(-1, 3, tiles.shape[3])[:len(surface["rest_positions"])]
        r = u.shape[2]
        moved = np.linalg.norm(np.einsum("vck,fk->fvc", u, t["q"][:][:, :r]), axis=2)
        x, users = surface["rest_positions"][:], surface["user_vertex"][:]
        force = scene["forces"][0]
        nearest = users[np.argmin(np.linalg.norm(x - force["point"], axis=1))]
        size = np.linalg.norm(np.ptp(x, axis=0))
        assert len(t["times"]) in (160, 161) and ("poses" in t) == moves
    assert report["vertices_taken"][0]["vertex"] == nearest and report["vertices_taken"][0]["distance_m"] < 1e-6
    assert f"forces[0]: vertex {nearest} of object 0, " in got.stderr, got.stderr
    assert len(scene["comment"]) >= 3 and scene["forces"][0]["comment"] and scene["objects"][0]["comment"]
    share = moved.max() / size
    assert 0.01 < share < 0.06, (basis, share)  # 3 % of the size, less where nothing holds it, and a little dynamics
    return scene


def template():
    write_bar("bar.msh", (8, 2, 2), (1, 0.1, 0.12))
    pack("bar.msh", "soft.h5", 9, "--derivatives", 3)
    scene = template_of("soft.h5")
    assert (scene["model"], scene["objects"][0]["pose_motion"]) == ("stvk", "fixed"), scene
    pack("bar.msh", "loose.h5", 9, "--derivatives", 3, fixed=False)
    scene = template_of("loose.h5", moves=True)
    assert (scene["model"], scene["objects"][0]["pose_motion"]) == ("stvk", "free"), scene
    run("modalpack", "bar.msh", "linear.h5", *RUBBER, "--modes", 6, "--fixed", "root", "-q")
    scene = template_of("linear.h5")
    assert (scene["model"], scene["objects"][0]["pose_motion"]) == ("linear", "fixed"), scene
    place("pair", [(0, -1, 0, 0, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0, 0, 0)], "soft.h5")
    template_of("pair.h5", moves=True)
    run("modalpack", "bar.msh", "bare.h5", *RUBBER, "--modes", 6, "-q")
    with h5py.File("bare.h5", "r+") as f:
        del f["shapes/0000/volume/volume_modes"]
    text = run("modalsim", "--generate", "scene", "bare.h5").stdout
    assert json.loads(text)["objects"][0]["pose_motion"] == "fixed" and "--volume-modes" in text, text

    # comments are texts, and nothing but comments
    good = json.loads(run("modalsim", "--generate", "scene", "linear.h5").stdout)
    plain = {key: value for key, value in good.items() if key != "comment"}
    motions = [simulate("linear.h5", scene)["q"] for scene in
               (good, plain, dict(good, damping={"ratio": 0.02, "comment": "one"}, comment=["a", "b"]))]
    assert np.array_equal(motions[0], motions[1]) and np.array_equal(motions[0], motions[2])
    for path, value, words in (("comment", 3, "/comment: not a text or a list of texts, 3"),
                               ("comment", ["a", {}], "/comment: not a text or a list of texts"),
                               ("damping", {"comment": None}, "/damping/comment: not a text or a list of texts, null"),
                               ("comments", "a", "/comments: unknown key, there are: ")):
        said = simulate("linear.h5", dict(good, **{path: value}), code=3)
        assert words in said and said.count("\n") == 1, (words, said)

    # of a response, forces and probes
    response = {"response": {"from": 1, "to": 20, "points": 5, "probes": [{"object": 0, "point": [1, 0.1, 0.12]}]},
                "damping": {"ratio": 0.02}, "forces": [{"object": 0, "point": [1.01, 0, 0], "force": [0, 1, 0]}]}
    with open("response.json", "w") as file:
        json.dump(response, file)
    got = run("modalsim", "linear.h5", "t.csv", "--scene", "response.json", "--report", "r.json")
    taken = json.load(open("r.json"))["vertices_taken"]
    assert [(v["list"], v["item"]) for v in taken] == [("forces", 0), ("response/probes", 0)], taken
    assert abs(taken[0]["distance_m"] - 0.01) < 1e-12 and taken[1]["distance_m"] < 1e-12
    assert f"forces[0]: vertex {taken[0]['vertex']} of object 0, 0.01 m from the point" in got.stderr, got.stderr

    # bad input
    for words, code, says in ((["--generate", "scene"], 2, "--generate scene: needs BASIS.h5 and nothing else, 0 operands"),
                              (["--generate", "scene", "a", "b"], 2, "nothing else, 2 operands"),
                              (["--generate", "scene", "absent.h5"], 3, "absent.h5: cannot open"),
                              (["--generate", "scene", "s.h5"], 3, "s.h5: "),
                              (["--generate", "scenes", "linear.h5"], 2, "--generate: must be man|bash|zsh|scene, scenes")):
        before = sorted(os.listdir("."))
        got = run("modalsim", *words, code=code)
        assert says in got.stderr and got.stderr.count("\n") == 1 and not got.stdout, (words, got)
        assert sorted(os.listdir(".")) == before
    print("template: ok")


scenes.main({"template": template})
