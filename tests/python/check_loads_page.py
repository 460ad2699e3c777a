# SPDX-License-Identifier: Apache-2.0
"""Loads that a page shows where they act: impulses of modalsim's command line, forces of modalview --scene.
usage: check_loads_page.py BIN SOURCE [--browser]: with it pages open in headless Chromium; 77 where that is absent."""
import json
import os
import sys
import tempfile

import h5py
import numpy as np

from browser import Browser, find_program
from page_data import Data
from tool_run import must, run

source = os.path.abspath(sys.argv[2])


def make_inputs():
    run("modalpack", f"{source}/data/tuning_fork.msh", "fork.h5", "--modes", 4, "--young", 2.06e11, "--poisson", 0.29,
        "--density", 7850, "--fixed", "stem_end", "-q")
    run("modalsim", "fork.h5", "blow.h5", "--duration", 0.01, "--fps", 10000, "--impulse", "0.025,0.152,0.006:-1.5,0,0", "--impulse=17:0,0,3@0.004", "-q")
    with open("scene.json", "w", encoding="utf-8") as text:
        json.dump({"duration": 0.01, "fps": 10000, "damping": {"ratio": 0.01}, "forces": [
            {"object": 0, "vertex": 17, "force": [30, 40, 0], "curve": {"sine": {"frequency": 300}}},
            {"object": 0, "group": "prong_left_tip", "force": [0, 0, -20], "curve": {"keys": [[0, 0], [0.005, 1], [0.01, 0]]}}],
            "impulses": [{"object": 0, "point": [0.025, 0.152, 0.006], "impulse": [0, 1, 0], "time": 0.002}]}, text)
    run("modalsim", "fork.h5", "forced.h5", "--scene", "scene.json", "-q")
    with open("other.json", "w", encoding="utf-8") as text:
        json.dump({"duration": 0.01, "fps": 10000}, text)


def surface():
    with h5py.File("fork.h5") as f:
        s = f["shapes/0000/surface"]
        return s["rest_positions"][:], s["user_vertex"][:]


def loads_of(page):
    """The header's list, each with its factors, which are the last arrays."""
    data = Data(page)
    loads, n = data.header.get("loads", []), data.header["frames"]
    data.at = len(data.bytes) - 4 * n * len(loads)
    for load in loads:
        load["factors"] = data.planes(n, "<f4")
    return loads


def data():
    x, user = surface()
    times = np.arange(101) / 10000
    run("modalview", "blow.h5", "page.html", "-q")
    first, second = loads_of("page.html")
    must((first["unit"], first["vector"], second["vector"]) == ("N s", [-1.5, 0, 0], [0, 0, 3]), first, second)
    must(np.abs(x[first["vertices"][0]] - [0.025, 0.152, 0.006]).max() < 1e-9 and [user[v] for v in second["vertices"]] == [17], first, second)
    for load, at in ((first, 0), (second, 0.004)): # a twentieth of the time, from the impulse on
        must(np.array_equal(load["factors"], (times >= at - 1e-12) & (times <= at + 0.0005 + 1e-12)), load["factors"])
    run("modalview", "forced.h5", "page.html", "--scene", "scene.json", "-q", "--force")
    sine, group, blow = loads_of("page.html")
    must(sine["unit"] == "N" and sine["vector"] == [30, 40, 0] and [user[v] for v in sine["vertices"]] == [17], sine)
    must(np.abs(sine["factors"] - np.sin(2 * np.pi * 300 * times)).max() < 1e-6, sine["factors"])
    must(np.abs(group["factors"] - np.interp(times, [0, 0.005, 0.01], [0, 1, 0])).max() < 1e-6, group["factors"])
    must(8 <= len(group["vertices"]) <= 64 and np.ptp(x[group["vertices"]][:, 1]) < 1e-9 and x[group["vertices"]][:, 0].max() < 0, group)
    must(blow["unit"] == "N s" and blow["factors"][19] == 0 and blow["factors"][21] == 1, blow)
    run("modalview", "forced.h5", "page.html", "-q", "--force")
    must("loads" not in Data("page.html").header, "loads of a scene that nobody named")
    for words, code, says in ((("forced.h5", "no.html", "--scene", "other.json"), 3, "other.json: not the scene that the trajectory was made of"),
                              (("forced.h5", "no.html", "--scene", "absent.json"), 3, "absent.json"),
                              (("fork.h5", "no.html", "--scene", "scene.json"), 2, "--scene: goes with a trajectory")):
        run("modalview", *words, code=code, says=says)
        must(not os.path.exists("no.html"), words)


# The head of each arrow that is shown, and where its load acts, relative to the scene.
HEADS = """(() => { modalview.show();
  const p = modalview.deformer.read(modalview.deformer.moved);
  return modalview.loads.arrows.map(({ arrow, load }) => {
    if (!arrow.visible) return null;
    arrow.updateMatrixWorld();
    const head = arrow.cone.localToWorld(arrow.position.clone().set(0, 0, 0)); // its apex
    const at = [0, 1, 2].map((k) => load.vertices.reduce((sum, v) => sum + p[4 * v + k], 0) / load.vertices.length);
    const tail = arrow.position;
    return [head.toArray(), at, tail.toArray()]; }); })()"""


def in_browser():
    program = find_program()
    if not program:
        print("chromium is absent: no page is opened")
        sys.exit(77)
    browser = Browser(program, os.getcwd())
    try:
        run("modalview", "forced.h5", "page.html", "--scene", "scene.json", "-q")
        browser.open("page.html#frame=0")
        must(browser.js(HEADS) == [None, None, None], "loads that are 0")
        longest = 0
        for frame in range(1, 100, 7):
            browser.js(f"modalview.setFrame({frame})")
            sine, group, blow = browser.js(HEADS)
            factor = np.sin(2 * np.pi * 300 * frame / 10000)
            must((blow is not None) == (20 <= frame <= 25), frame, blow)
            must((sine is None) == (abs(factor) < 1e-3), frame, sine)
            for arrow in filter(None, (sine, group)):
                head, at, tail = map(np.array, arrow)
                must(np.abs(head - at).max() < 1e-5, "frame", frame, "the head is at", head, "the load acts at", at)
            if sine:
                pull = np.array(sine[0]) - np.array(sine[2])
                must(np.abs(pull / np.linalg.norm(pull) - np.sign(factor) * np.array([0.6, 0.8, 0])).max() < 1e-5, "direction", pull)
                must(abs(np.linalg.norm(pull) - 0.2 * abs(factor)) < 1e-4, "length", pull, factor)
                longest = max(longest, np.linalg.norm(pull))
        must(0.18 < longest < 0.2001, "the longest", longest)
        must(not browser.js("document.getElementById('loads-row').hidden"), "no box for loads")
        browser.click_on("loads")
        must(browser.js(HEADS) == [None, None, None], "loads that were switched off")
        browser.check_quiet()
        run("modalview", "forced.h5", "plain.html", "-q")
        browser.open("plain.html")
        must(browser.js("document.getElementById('loads-row').hidden"), "a box for loads without any")
        browser.check_quiet()
    finally:
        browser.end()


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder: # Chromium may still write there
    os.chdir(folder)
    make_inputs()
    if "--browser" in sys.argv:
        in_browser()
    else:
        data()
    os.chdir("/")
print("ok")
