# SPDX-License-Identifier: Apache-2.0
"""Pages of modalview. usage: check_page.py BIN SOURCE [--browser [SHOTS]]
Without --browser: reads the page as formats/viewer_data.md says and compares; refusals. With it: opens
pages in headless Chromium, works them with real clicks and keys and compares what the GPU computed.
Exits with 77 where Chromium is absent. SHOTS: a folder for pictures of the pages."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

from check_large import write_basis, write_trajectory
from browser import Browser, find_program
from page_data import Data, read_shape

binaries, source = sys.argv[1:3]


def check(condition, *what):
    if not condition:
        sys.exit("check_page: " + " ".join(map(str, what)))


def run(tool, *words, code=0, **more):
    got = subprocess.run([f"{binaries}/{tool}", *(w if isinstance(w, bytes) else str(w) for w in words)], capture_output=True, **more)
    check(got.returncode == code, tool, words, got)
    return got


# ---- the inputs ----

def make_inputs(folder):
    basis, motion, moving = (f"{folder}/{n}.h5" for n in ("basis", "motion", "moving"))
    run("modalpack", f"{source}/data/tuning_fork.msh", basis, "--modes", 6, "--young", 2.06e11, "--poisson", 0.29,
        "--density", 7850, "--fixed", "stem_end", "--quiet")
    run("modalsim", basis, motion, "--duration", 0.01, "--fps", 2000, "--initial", "0=3e-3", "--initial", "3=2e-3",
        "--quiet")
    with h5py.File(motion, "r+") as f:  # one that was not measured
        del f["quality"], f.attrs["quality_columns"]
    # the same with a frame that turns and travels
    shutil.copy(motion, moving)
    with h5py.File(moving, "r+") as f:
        n = len(f["times"])
        angle = np.linspace(0, 2, n)
        T = np.zeros((n, 1, 3, 4))
        T[:, 0, 0, 0] = T[:, 0, 1, 1] = np.cos(angle)
        T[:, 0, 1, 0], T[:, 0, 0, 1] = np.sin(angle), -np.sin(angle)
        T[:, 0, 2, 2] = 1
        T[:, 0, 0, 3] = np.linspace(0, 0.05, n)
        f["poses"] = T
        # frames 0 to 4 ok, 5 to 9 suspect for two reasons, 10 alone invalid, the rest not judged
        rows = np.full((n, 4), np.nan)
        rows[:11, 0], rows[:11, 3] = 0.01, 0
        rows[5:11, 0], rows[7, 1], rows[7, 2], rows[10, 0] = 0.3, 0.5, 0, 2.0
        f.attrs.update(quality_columns="force_truncation min_jacobian min_jacobian_object not_judged")
        f["quality"] = rows
    return basis, motion, moving


def check_quality(parts, n):
    """What `moving` has, as the page says it."""
    check([(p["rating"], p["first"], p["end"]) for p in parts] ==
          [("ok", 0, 5), ("suspect", 5, 10), ("invalid", 10, 11), ("not judged", 11, n)], parts)
    check(parts[0]["reason"] == "" and "does not say what was measured" in parts[3]["reason"], parts)
    lines = parts[1]["reason"].split("\n")
    check(len(lines) == 2 and lines[0].startswith("min_jacobian 0.5 in frame 7 (0.0035 s), object 0; the limit is "), lines)
    check(lines[1].startswith("force_truncation 0.3 in frame 5 "), lines)
    check(parts[2]["reason"].startswith("force_truncation 2 in frame 10 (0.005 s); the limit is "), parts)


def make_pair(basis, motion, folder):
    """Two objects of the same shape, the second one elsewhere and with other coordinates."""
    pair, pair_motion = f"{folder}/pair.h5", f"{folder}/pair_motion.h5"
    shutil.copy(basis, pair)
    shutil.copy(motion, pair_motion)
    with h5py.File(pair, "r+") as b, h5py.File(pair_motion, "r+") as m:
        for name, value in (("shape", np.zeros(2, "i4")), ("parent", np.full(2, -1, "i4")),
                            ("rest_pose", np.array([np.eye(3, 4), [[0, -1, 0, 0.1], [1, 0, 0, 0.02], [0, 0, 1, 0]]]))):
            del b[f"objects/{name}"]
            b[f"objects/{name}"] = value
        q, offsets = m["q"][:], m["mode_offsets"][:]
        del m["q"], m["mode_offsets"]
        m["q"] = np.concatenate([q, 0.5 * q[::-1]], axis=1)
        m["mode_offsets"] = np.array([0, offsets[1], 2 * offsets[1]])
    return pair, pair_motion


def expected(basis, motion):
    """World positions [frames, V, 3] in stored order, and the displacements in world axes."""
    with h5py.File(basis) as b, h5py.File(motion) as m:
        s = b["shapes/0000"]
        X = s["surface/rest_positions"][:]
        tiles = s["modes/modal_matrix"][:].astype(float)
        U = np.moveaxis(tiles, 3, 1).reshape(-1, tiles.shape[1], 3)[:len(X)]
        world, moved = [], []
        for i, rest_pose in enumerate(b["objects/rest_pose"][:]): # all of shape 0
            u = np.einsum("vmk,fm->fvk", U, m["q"][:, i * U.shape[1]:(i + 1) * U.shape[1]])
            T = m["poses"][:, i] if "poses" in m else np.broadcast_to(rest_pose, (len(u), 3, 4))
            R = T[:, :, :3]
            world.append(np.einsum("fij,fvj->fvi", R, X + u) + T[:, None, :, 3])
            moved.append(np.einsum("fij,fvj->fvi", R, u))
        return np.concatenate(world, axis=1), np.concatenate(moved, axis=1)


def rest_positions(basis):
    """[V, 3] of all objects in their rest frames, in stored order."""
    with h5py.File(basis) as b:
        X = b["shapes/0000/surface/rest_positions"][:]
        return np.concatenate([X @ T[:, :3].T + T[:, 3] for T in b["objects/rest_pose"][:]])


# ---- the page's data, read on our own ----

# What an HTML parser would take for the end of a script, or for the begin of a comment with a script in it, which ends
# at the second </script> after it.
EVIL = "a </script> & \u00e4 \"fork\" <!--<script>\u2028\x1b[31m"


def name_shape(basis, name):
    """A copy whose shape has that name. The content hash does not cover names."""
    named = basis.replace(".h5", "_named.h5")
    shutil.copy(basis, named)
    with h5py.File(named, "r+") as b:
        b["shapes/0000"].attrs["name"] = name
    return named


def check_data(folder, basis, motion, moving):
    for source_file in (motion, moving, basis):
        page = f"{folder}/page.html"
        run("modalview", source_file, page, "--force", "--quiet", "--title", EVIL,
            "--up", "z" if source_file == moving else "y")
        data = Data(page)
        check(data.header["up"] == ("z" if source_file == moving else "y"), "up")
        check(data.header["title"] == EVIL, data.header["title"])
        triangles, user, X, U = read_shape(data, data.header["shapes"][0])
        check(data.differences(1).tolist() == [0] and data.header["objects"] == 1 and data.header["version"] == 1, "objects")
        check((data.planes(12, "<f4") == np.eye(3, 4).ravel()).all(), "rest frame")
        with h5py.File(basis) as b:
            s = b["shapes/0000"]
            check((np.array(triangles) == s["surface/triangles"][:]).all(), "triangles")
            check((user == s["surface/user_vertex"][:]).all(), "user_vertex")
            rest = s["surface/rest_positions"][:]
            size = np.ptp(rest, axis=0).max()
            check(np.abs(X - rest).max() <= 0.5001 * size / 2**20, "rest", np.abs(X - rest).max() / size)
            tiles = s["modes/modal_matrix"][:].astype(float)
            exact = np.moveaxis(tiles, 3, 1).reshape(-1, tiles.shape[1], 3)[:len(X)]
            largest = np.abs(exact).max(axis=(0, 2))
            check((np.abs(U - exact).max(axis=(0, 2)) <= 0.5001 * largest / 32767).all(), "modes")
            check(data.header["shapes"][0]["frequencies"] == s["modes/frequencies"][:].tolist(), "frequencies")
        if source_file != basis:
            with h5py.File(source_file) as m:
                n = data.header["frames"]
                check((data.planes(n, "<f8") == m["times"][:]).all(), "times")
                q = data.planes(n * U.shape[1], "<f4").reshape(-1, n).T
                check((q == m["q"][:].astype("f4")).all(), "q")
                check(data.header["moving_poses"] == ("poses" in m), "moving_poses")
                if source_file == moving:
                    check_quality(data.header["quality"], n)
                else:
                    check([p["rating"] for p in data.header["quality"]] == ["not judged"], data.header["quality"])
                if "poses" in m:
                    T = data.planes(12 * n, "<f4").reshape(12, n).T
                    check((T == m["poses"][:].reshape(n, 12).astype("f4")).all(), "frames")
        check(data.at == len(data.bytes), "bytes left over")
    again = f"{folder}/again.html"
    run("modalview", basis, again, "--quiet", "--title", EVIL)
    check(open(again, "rb").read() == open(f"{folder}/page.html", "rb").read(), "not the same bytes")
    named = f"{folder}/named.html"
    run("modalview", name_shape(basis, EVIL), named, "--quiet")
    check(Data(named).header["shapes"][0]["name"] == EVIL, "name")
    raw = f"{folder}/\udcff\u00e4.h5" # a file name that is no UTF-8
    shutil.copy(basis, raw)
    run("modalview", os.fsencode(raw), named, "--quiet", "--force")
    check(Data(named).header["title"] == "\ufffd\u00e4.h5", Data(named).header["title"])
    body = open(motion, "rb").read()
    run("modalview", "-", f"{folder}/piped.html", "--basis", basis, "--quiet", input=body)
    check(Data(f"{folder}/piped.html").header["frames"] == 21, "a trajectory from a pipe")
    print("data ok")


def check_sizes(folder):
    """20,000 vertices, 16 smooth modes (with a thousandth of noise) and 200 frames: at most 1.5 MB; a page above 50 MB
    is written with a warning."""
    basis, motion, page = (f"{folder}/{n}" for n in ("large.h5", "large_motion.h5", "large.html"))
    write_basis(basis, 200, 100, 16)
    write_trajectory(motion, "large.h5", 16, 200)
    with h5py.File(basis, "r+") as f:
        tiles = f["shapes/0000/modes/modal_matrix"][:]
        x, y = np.meshgrid(np.arange(200) / 199, np.arange(100) / 99)
        k = np.arange(16)[None, :, None]
        shift = np.array([0, 0.4, 0.8])
        smooth = (np.sin(np.pi * (k % 4 + 1) * x.reshape(-1, 1, 1) + shift) *
                  np.cos(np.pi * (k // 4 + 1) * y.reshape(-1, 1, 1) - shift))
        u = smooth + 1e-3 * np.moveaxis(tiles, 3, 1).reshape(-1, 16, 3)
        f["shapes/0000/modes/modal_matrix"][...] = np.moveaxis(u.reshape(-1, 32, 16, 3), 1, 3)
    got = run("modalview", motion, page)
    print("20,000 vertices:", os.path.getsize(page), "bytes")
    check(os.path.getsize(page) <= 1.5e6 and b"warning" not in got.stderr, os.path.getsize(page), got)
    write_trajectory(motion, "large.h5", 16, 800000)
    got = run("modalview", motion, page, "--force")
    check(os.path.getsize(page) > 50e6 and b"warning" in got.stderr and b"a large page" in got.stderr, got)


def check_refusals(folder, basis, motion):
    def refused(code, *words, says):
        before = sorted(os.listdir(folder))
        got = run("modalview", *words, code=code)
        text = got.stderr.decode(errors="replace")
        check(text.startswith("modalview: ") and text.count("\n") == 1 and says in text, words, text)
        check(sorted(os.listdir(folder)) == before, words, "left something behind")

    out = f"{folder}/never.html"
    refused(3, f"{folder}/absent.h5", out, says="absent.h5")
    refused(3, f"{source}/README.md", out, says="README.md")
    refused(2, basis, out, "--basis", basis, says="--basis")
    refused(2, basis, basis, "--force", says="basis.h5")
    refused(2, motion, basis, "--force", says="basis.h5")
    refused(2, basis, out, "--up", "x", says="--up")
    refused(4, basis, f"{folder}/no/where.html", says="where.html")
    refused(2, basis, out, "--title", b"\xff", says="--title")
    open(out, "w").write("mine")
    got = run("modalview", basis, out, code=2)
    check(open(out).read() == "mine", got)
    other = f"{folder}/other.h5"
    run("modalpack", f"{source}/data/tuning_fork.msh", other, "--modes", 3, "--young", 2e11, "--poisson", 0.3,
        "--density", 7850, "--fixed", "stem_end", "--quiet")
    refused(3, motion, f"{folder}/x.html", "--basis", other, says="motion.h5")
    print("refusals ok")


# ---- Chromium ----

def positions_in(browser):
    text = browser.js("modalview.show(), [...modalview.deformer.worldPositions()].join(',')")
    return np.array(text.split(","), float).reshape(-1, 3)


ALL_IN_SIGHT = """(() => { const d = modalview.drawing, v = d.controls.target.clone();
    const p = (modalview.show(), modalview.deformer.read(modalview.deformer.moved)); d.camera.updateMatrixWorld();
    for (let i = 0; i < modalview.scene.points; i++) {
      v.fromArray(p, 4 * i).project(d.camera);
      if (!(Math.abs(v.x) < 1 && Math.abs(v.y) < 1 && Math.abs(v.z) < 1)) return false;
    } return true; })()"""


def check_trajectory(browser, page, wanted, displacement, at_rest, size, picture):
    browser.open(page)
    frames = len(wanted)
    check(browser.js("modalview.ui.playing"), "it does not play")
    check(browser.js(ALL_IN_SIGHT), "not all in sight")
    start = browser.js("modalview.player.frame")
    browser.wait(f"modalview.player.frame !== {start}", "the next frame")
    browser.click_on("play")
    check(not browser.js("modalview.ui.playing"), "the pause button")
    worst = 0
    for f in range(frames):
        browser.js(f"modalview.setFrame({f})")
        worst = max(worst, np.abs(positions_in(browser) - wanted[f]).max() / size)
    print(os.path.basename(page), "error", worst)
    check(worst < 2e-5, "positions differ by", worst)

    # keys and the slider
    browser.key("Home")
    browser.key("ArrowRight")
    browser.key("ArrowRight")
    browser.wait("document.getElementById('time').textContent.startsWith('frame 2,')", "frame 2")
    browser.key("ArrowLeft")
    check(browser.js("modalview.player.frame") == 1, "arrow keys")
    box = browser.js("(b => [b.x, b.y, b.width, b.height])(document.getElementById('frame').getBoundingClientRect())")
    browser.click(box[0] + box[2] - 4, box[1] + box[3] / 2)
    check(browser.js("modalview.player.frame") == frames - 1, "the end of the slider")
    browser.key("l")
    check(not browser.js("document.getElementById('loop').checked"), "the l key")
    browser.key(" ")
    browser.wait("!modalview.ui.playing", "the end, where it does not loop")

    # exaggeration leaves the read-out alone, and colours have a legend
    browser.js("modalview.setFrame(3)")
    browser.js("(e => { e.value = 1; e.dispatchEvent(new Event('input')); })(document.getElementById('exaggeration'))")
    tenfold = positions_in(browser)
    check(np.abs(tenfold - wanted[3] - 9 * displacement[3]).max() < 2e-4 * size, "exaggeration")
    browser.js("(e => { e.value = 0; e.dispatchEvent(new Event('input')); })(document.getElementById('exaggeration'))")
    has_world = browser.js("document.querySelector('option[value=\"4\"]') !== null")
    check(has_world == browser.js("modalview.scene.frames !== null"), "displacement in the world, where nothing moves rigidly")
    for field, unit in ((1, "m"), (2, "m/s"), (3, ""), (4, "m"))[:4 if has_world else 3]:
        browser.js(f"modalview.setField({field}), modalview.show()")
        check(browser.js("!document.getElementById('legend').hidden"), "no legend")
        most = float(browser.js("document.getElementById('most').textContent").split()[0])
        check(most > 0 and browser.js("document.getElementById('most').textContent").endswith(unit), field, most)
        if field == 1:
            exact = np.linalg.norm(displacement[3], axis=1).max()
            check(abs(most / exact - 1) < 1e-3, "legend", most, exact)
        if field == 4:
            exact = np.linalg.norm(wanted[3] - at_rest, axis=1).max()
            check(abs(most / exact - 1) < 1e-3 and exact > 1.1 * np.linalg.norm(displacement[3], axis=1).max(), "legend", most, exact)

    # a click on the surface picks a vertex near it and shows its displacement
    browser.js("modalview.setField(1), modalview.setFrame(3), modalview.show()")
    x = browser.js("""(() => { const d = modalview.drawing, p = modalview.deformer.read(modalview.deformer.moved);
        const b = document.getElementById('view').getBoundingClientRect(); d.camera.updateMatrixWorld();
        const v = d.controls.target.clone(); let best = null;
        for (let i = 0; i < modalview.scene.points; i += 7) {
          v.fromArray(p, 4 * i).project(d.camera);
          const x = Math.round(b.x + (v.x + 1) / 2 * b.width), y = Math.round(b.y + (1 - v.y) / 2 * b.height);
          const w = d.pick(2 * (x - b.x) / b.width - 1, 1 - 2 * (y - b.y) / b.height, p);
          if (w === i && document.elementFromPoint(x, y).id === 'view') { best = [i, x, y]; if (i > 500) break; }
        } return best; })()""")
    check(x, "no vertex in sight")
    browser.click(x[1], x[2])
    browser.wait("modalview.ui.picked >= 0", "the picked vertex")
    point = browser.js("modalview.ui.picked")
    check(np.linalg.norm(wanted[3][point] - wanted[3][x[0]]) < 0.02 * size, "picked", point, "for", x[0])
    browser.wait("!document.getElementById('probe').hidden", "its read-out")
    shown = browser.js("document.getElementById('probe-value').textContent")
    numbers = [float(w) for w in re.search(r"\(([^)]*)\)", shown).group(1).split(",")]
    exact = displacement[3][point]
    check(np.abs(numbers - exact).max() < 2e-3 * np.abs(displacement).max(), shown, exact)
    browser.picture(picture)
    browser.key("Escape")
    browser.wait("document.getElementById('probe').hidden", "the read-out to go")
    browser.key("w")
    browser.key("d")
    browser.js("modalview.show()")
    check(browser.js("modalview.drawing.wire.visible && document.getElementById('wire').checked"), "wireframe")
    browser.check_quiet()


def check_bar(browser, page, measured, picture):
    """The bar under the time line, and the reason where the pointer is over a part of it."""
    browser.open(page)
    check(not browser.js("document.getElementById('quality').hidden"), "the bar")
    if not measured:
        check(browser.js("JSON.parse(document.getElementById('header').textContent).quality.map((p) => p.rating)") == ["not judged"], "the verdict")
        return
    parts = browser.js("JSON.parse(document.getElementById('header').textContent).quality")
    boxes = browser.js("[...document.getElementById('quality').children].map((e) => [e.getBoundingClientRect(), "
                       "getComputedStyle(e).backgroundColor]).map(([b, c]) => [b.x, b.y, b.width, b.height, c])")
    line = browser.js("(b => [b.x, b.y, b.width, b.height])(document.getElementById('frame').getBoundingClientRect())")
    frames = parts[-1]["end"]
    check(len(boxes) == len(parts) and len({b[4] for b in boxes}) == 4, "parts and their colours", boxes)
    for part, (x, y, width, height, _) in zip(parts, boxes):
        check(abs(width / (line[2] - 16) - (part["end"] - part["first"]) / frames) < 0.01 and height > 4, part, width, height)
        check(line[0] <= x and x + width <= line[0] + line[2] + 1 and y >= line[1], "where it is", line, x, y)
        browser("Input.dispatchMouseEvent", type="mouseMoved", x=x + width / 2, y=y + height / 2, button="none")
        browser.wait("!document.getElementById('reason').hidden", "the reason")
        said = browser.js("document.getElementById('reason').textContent")
        check(part["rating"] in said and part["reason"] in said and str(part["first"]) in said, part, said)
        if part["rating"] == "suspect":
            browser.js("modalview.setPlaying(false)")
            browser.picture(picture)
    browser("Input.dispatchMouseEvent", type="mouseMoved", x=200, y=200, button="none")
    browser.wait("document.getElementById('reason').hidden", "the reason to go")
    browser.check_quiet()


def check_modes(browser, page, basis, size, picture):
    browser.open(page)
    check(browser.js("modalview.drawing.camera.up.z === 1 && document.getElementById('up').textContent === 'z up'"), "up")
    check(browser.js(ALL_IN_SIGHT), "z up: not all in sight")
    browser.click_on("up")
    check(browser.js("modalview.drawing.camera.up.y === 1") and browser.js(ALL_IN_SIGHT), "y up: not all in sight")
    browser.click_on("swing")
    with h5py.File(basis) as b:
        s = b["shapes/0000"]
        X = s["surface/rest_positions"][:]
        tiles = s["modes/modal_matrix"][:].astype(float)
        U = np.moveaxis(tiles, 3, 1).reshape(-1, tiles.shape[1], 3)[:len(X)]
        frequency = s["modes/frequencies"][2]
    check(f"{frequency:#.4g} Hz" in browser.js("document.getElementById('sliders').textContent"), "no frequencies")
    slider = browser.js("""(e => { e.scrollIntoView(); const b = e.getBoundingClientRect();
        return [b.x + 0.75 * b.width, b.y + b.height / 2]; })(document.getElementById('mode-2'))""")
    browser.click(*slider)
    value = browser.js("Number(document.getElementById('mode-2').value)")
    check(1 < value < 2, "a click on the slider", value)
    largest = np.abs(U).max(axis=(0, 2))
    # 1 stands for a twentieth of the size in the largest component
    wanted = X + 0.05 * size * (U[:, 0] / largest[0] + value * U[:, 2] / largest[2])
    error = np.abs(positions_in(browser) - wanted).max() / size
    print(os.path.basename(page), "error", error)
    check(error < 2e-5, "modes differ by", error)
    browser.js("modalview.setField(1)")
    browser.picture(picture)
    browser.check_quiet()


def check_phone(browser, page, picture):
    browser("Emulation.setDeviceMetricsOverride", width=390, height=780, deviceScaleFactor=2, mobile=True)
    browser.open(page)
    time.sleep(0.5)
    check(browser.js("document.documentElement.scrollWidth <= 390"), "wider than a phone")
    check(browser.js("getComputedStyle(document.querySelector('aside')).display") == "none", "settings cover it")
    browser.click_on("panel-toggle")
    check(browser.js("getComputedStyle(document.querySelector('aside')).display") == "block", "no settings")
    browser.picture(picture)
    browser.check_quiet()


def check_plant(browser, folder, picture):
    """The gallery's page of many objects: it opens at the frame that its address names, dark where that is wanted."""
    made = subprocess.run([sys.executable, f"{source}/data/plant.py", "bush", f"{folder}/plant", "--tools", binaries],
                          capture_output=True, text=True)
    check(made.returncode == 0, made)
    with open(f"{folder}/plant/scene.json", encoding="utf-8") as text:
        scene = json.load(text)
    scene["duration"] = 0.2
    with open(f"{folder}/plant/scene.json", "w", encoding="utf-8") as text:
        json.dump(scene, text)
    run("modalsim", f"{folder}/plant/plant.h5", f"{folder}/plant/traj.h5", "--scene", f"{folder}/plant/scene.json", "-q")
    run("modalview", f"{folder}/plant/traj.h5", f"{folder}/plant.html", "--up", "z", "-q")
    browser("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.open(f"{folder}/plant.html#frame=4")
    check(browser.js("document.body.classList.contains('dark')"), "not dark")
    check(browser.js("!modalview.ui.playing && modalview.player.frame === 4"), "not at the frame of the address")
    check(browser.js(ALL_IN_SIGHT), "plant: not all in sight")
    browser.picture(picture)
    browser.check_quiet()


def check_in_browser(folder, basis, motion, moving, shots):
    program = find_program()
    if not program:
        print("chromium is absent: the pages are not opened")
        sys.exit(77)
    with h5py.File(basis) as b:
        size = np.ptp(b["shapes/0000/surface/rest_positions"][:], axis=0).max()
    picture = (lambda name: f"{shots}/{name}.png") if shots else (lambda name: None)
    browser = Browser(program, folder)
    try:
        pair, pair_motion = make_pair(basis, motion, folder)
        for name, of, file in (("trajectory", basis, motion), ("moving", basis, moving), ("pair", pair, pair_motion)):
            run("modalview", file, f"{folder}/{name}.html", "--quiet", "--basis", of)
            wanted, displacement = expected(of, file)
            check(np.abs(displacement).max() > 0.01 * size, "it hardly moves")
            at_rest = rest_positions(of)
            check_trajectory(browser, f"{folder}/{name}.html", wanted, displacement, at_rest, size, picture(name))
        check_bar(browser, f"{folder}/trajectory.html", False, None)
        check_bar(browser, f"{folder}/moving.html", True, picture("quality"))
        run("modalview", name_shape(basis, EVIL), f"{folder}/named.html", "--quiet", "--title", EVIL)
        browser.open(f"{folder}/named.html")
        check(browser.js("document.getElementById('title').textContent") == EVIL, "the title, or the page did not start")
        run("modalview", basis, f"{folder}/modes.html", "--quiet", "--up", "z")
        check_modes(browser, f"{folder}/modes.html", basis, size, picture("modes"))
        check_phone(browser, f"{folder}/trajectory.html", picture("phone"))
        check_plant(browser, folder, picture("plant"))
    finally:
        browser.end()


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary: # Chromium may still write there
    files = make_inputs(temporary)
    if "--browser" in sys.argv:
        after = sys.argv[sys.argv.index("--browser") + 1:]
        check_in_browser(temporary, *files, after[0] if after else None)
    else:
        check_data(temporary, *files)
        check_sizes(temporary)
        check_refusals(temporary, *files[:2])
print("ok")
