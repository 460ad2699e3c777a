# SPDX-License-Identifier: Apache-2.0
"""Pages of responses: modalview RESPONSE.csv PAGE.html.
usage: check_response_page.py BIN SOURCE [--browser [SHOTS]]: with it pages open in headless Chromium; 77 where that is absent."""
import json
import os
import sys
import tempfile

import numpy as np

from browser import Browser, find_program
from page_data import Data
from tool_run import must, run

source = os.path.abspath(sys.argv[2])


def make_tables():
    run("modalpack", f"{source}/data/tuning_fork.msh", "fork.h5", "--modes", 5, "--young", 2.06e11, "--poisson", 0.29,
        "--density", 7850, "--fixed", "stem_end", "-q")
    scene = {"damping": {"ratio": 0.01}, "forces": [{"object": 0, "vertex": 17, "force": [1, 2, 3]}],
             "response": {"from": 0, "to": 1000, "points": 501, "probes": [{"object": 0, "vertex": 17}, {"object": 0, "vertex": 3}]}}
    for name, points, probes in (("few", 501, True), ("many", 20001, True), ("modes", 101, False), ("one", 1, True)):
        response = dict(scene["response"], points=points)
        if not probes:
            del response["probes"]
        if points == 1:
            response["from"] = 1000
        with open("scene.json", "w", encoding="utf-8") as text:
            json.dump({**scene, "response": response}, text)
        run("modalsim", "fork.h5", f"{name}.csv", "--scene", "scene.json", "-q")


def table(name):
    return np.atleast_2d(np.genfromtxt(f"{name}.csv", delimiter=",", skip_header=1))


def data():
    for name, curves in (("few", [{"probe": p, "axis": a} for p in range(2) for a in range(3)]),
                         ("modes", [{"object": 0, "mode": k} for k in range(5)]),
                         ("one", [{"probe": p, "axis": a} for p in range(2) for a in range(3)])):
        run("modalview", f"{name}.csv", f"{name}.html", "-q", "--title", "a </script> <!-- b")
        page, wanted = Data(f"{name}.html"), table(name)
        must(page.header["version"] == 1 and page.header["title"] == "a </script> <!-- b", page.header)
        must(page.header["points"] == len(wanted) and page.header["curves"] == curves, page.header)
        must(np.array_equal(page.planes(len(wanted), "<f8"), wanted[:, 0]), name, "frequencies")
        for i in range(len(curves)):
            for column in (1 + 2 * i, 2 + 2 * i):
                must(np.array_equal(page.planes(len(wanted), "<f4"), wanted[:, column].astype("f4")), name, "column", column)
        must(page.at == len(page.bytes), name, "bytes left over")
    run("modalview", "few.csv", "again.html", "-q", "--title", "a </script> <!-- b")
    must(open("again.html", "rb").read() == open("few.html", "rb").read(), "not the same bytes")


def refusals():
    head = "frequency,probe0_x_amplitude,probe0_x_phase\n"
    for text, says in (("", "bad.csv: "), ("t,a,b\n1,2,3\n", "bad.csv:1: no table of responses"),
                       ("frequency\n1\n", "bad.csv:1: a table without curves"), (head, "a table without rows"),
                       ("frequency,probe0_x_amplitude\n1,2\n", "bad.csv:1: no amplitude with its phase, probe0_x_amplitude"),
                       ("frequency,probe0_x_amplitude,probe0_y_phase\n1,2,3\n", "bad.csv:1: no amplitude with its phase"),
                       ("frequency,probe0_w_amplitude,probe0_w_phase\n1,2,3\n", "bad.csv:1: no amplitude with its phase"),
                       ("frequency,probe01_x_amplitude,probe01_x_phase\n1,2,3\n", "bad.csv:1: no amplitude with its phase"),
                       ("frequency,object99999999999_q1_amplitude,object99999999999_q1_phase\n1,2,3\n", "bad.csv:1: no amplitude"),
                       (head + "1,2\n", "bad.csv:2: "), (head + "1,2,3,4\n", "bad.csv:2: "), (head + "1,nan,3\n", "bad.csv:2: "),
                       (head + "1,-2,3\n", "bad.csv:2: an amplitude below 0"), (head + "1,1e39,3\n", "bad.csv:2: an amplitude below 0, or beyond"),
                       (head + "1,2,181\n", "bad.csv:2: a phase beyond 180"), (head + "-1,2,3\n", "bad.csv:2: a frequency below 0"),
                       (head + "1,2,3\n1,2,3\n", "bad.csv:3: the frequency must increase, 1 after 1")):
        with open("bad.csv", "w", encoding="utf-8") as file:
            file.write(text)
        got = run("modalview", "bad.csv", "no.html", code=3, says=says)
        must(got.stderr.count("\n") == 1 and not os.path.exists("no.html"), text, got.stderr)
    run("modalview", "absent.csv", "no.html", code=3, says="absent.csv")
    for words in (("--up", "z"), ("--slow-motion", "auto"), ("--basis", "fork.h5")):
        run("modalview", "few.csv", "no.html", *words, code=2, says=f"{words[0]}: not with a response, few.csv")


# Whether a curve has been drawn where it belongs: of its points, those around which some pixel has its colour.
DRAWN = """(c, values, axis) => {
  const view = document.getElementById('view'), copy = new OffscreenCanvas(view.width, view.height);
  const g = copy.getContext('2d', { willReadFrequently: true }), { layout } = modalview.ui, ratio = devicePixelRatio;
  const rgb = [1, 3, 5].map((k) => parseInt(c.colour.slice(k, k + 2), 16));
  const { frequencies } = modalview.response;
  g.drawImage(view, 0, 0);
  let found = 0, looked = 0;
  for (let i = layout.first; i < frequencies.length; i += 7) {
    const x = layout.x.at(frequencies[i]) * ratio, y = layout[axis].at(values[i]) * ratio;
    const d = g.getImageData(x - 2, y - 2, 5, 5).data;
    let near = false;
    for (let k = 0; k < d.length; k += 4) near ||= d[k + 3] > 100 && Math.abs(d[k] - rgb[0]) + Math.abs(d[k + 1] - rgb[1]) + Math.abs(d[k + 2] - rgb[2]) < 90;
    found += near; looked++;
  }
  return found / looked; }"""


def in_browser(shots):
    program = find_program()
    if not program:
        print("chromium is absent: no page is opened")
        sys.exit(77)
    browser = Browser(program, os.getcwd())
    value = browser.js
    try:
        for name in ("few", "many"):
            wanted = table(name)
            run("modalview", f"{name}.csv", f"{name}.html", "-q")
            browser.open(f"{name}.html")
            must(value("document.getElementById('about').textContent") == f"{len(wanted):,} frequencies, 6 curves", "about")
            # both axes logarithmic: a factor of ten is as wide everywhere, and the page goes from the first frequency above 0
            x = [value(f"modalview.ui.layout.x.at({f})") for f in (wanted[1, 0], 10, 100, 1000)]
            must(abs((x[3] - x[2]) - (x[2] - x[1])) < 1e-6 and x[0] < x[1] and value("modalview.ui.layout.y.log"), x)
            value("document.getElementById('none').click()")
            for k in (0, 4): # an axis of each of two probes
                value(f"document.getElementById('curve-{k}').click()")
                for axis, values in (("y", "amplitudes"), ("phase", "phases")):
                    share = value(f"(() => {{ const c = modalview.curves[{k}]; c.dash = []; modalview.draw(); return ({DRAWN})(c, c.{values}, '{axis}'); }})()")
                    print(f"check_response_page: {name}: curve {k}, {values}: {share:.3f} of its points")
                    must(share > 0.97, name, "curve", k, values, "is not where it belongs", share)
                value(f"document.getElementById('curve-{k}').click()")
                gone = value(f"({DRAWN})(modalview.curves[{k}], modalview.curves[{k}].amplitudes, 'y')")
                must(gone == 0, name, "curve", k, "is there although it is not ticked", gone)
            value("document.getElementById('all').click()")
            # the pointer: the values of the nearest row
            row = int(np.argmin(np.abs(wanted[:, 0] - 300)))
            box = value("(b => [b.x, b.y])(document.getElementById('view').getBoundingClientRect())")
            at = value(f"modalview.ui.layout.x.at({wanted[row, 0]})")
            browser("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + at, y=box[1] + 100, button="none")
            browser.wait("!document.getElementById('probe').hidden", "the values at the pointer")
            near = value("modalview.ui.hover")
            must(abs(value(f"modalview.ui.layout.x.at({wanted[near, 0]})") - at) < 1, "hover", near, row)
            text = value("document.getElementById('probe-value').textContent")
            must(f"{wanted[near, 0]:#.4g} Hz" in text and "probe 0, x: " in text and "probe 1, z: " in text, text)
            shown = float(text.split("probe 1, z: ")[1].split(" m")[0])
            must(abs(shown / wanted[near, 11] - 1) < 1e-3, shown, wanted[near, 11])
            browser.picture(f"{shots}/response_{name}.png" if shots else None)
            browser.click_on("log-x")
            x = [value(f"modalview.ui.layout.x.at({f})") for f in (0, 500, 1000)]
            must(abs(x[2] - 2 * x[1] + x[0]) < 1e-6, "linear", x)
            browser.click_on("phase")
            must(value("modalview.ui.layout.phase === null"), "no phase")
            browser.check_quiet()
        for name in ("modes", "one"):
            run("modalview", f"{name}.csv", f"{name}.html", "-q")
            browser.open(f"{name}.html")
            browser.check_quiet()
        must(value("document.getElementById('log-x').disabled"), "one frequency has no decades")
    finally:
        browser.end()


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder: # Chromium may still write there
    pictures = [os.path.abspath(p) for p in sys.argv[4:5]]
    os.chdir(folder)
    make_tables()
    if "--browser" in sys.argv:
        in_browser(pictures[0] if pictures else None)
    else:
        data()
        refusals()
    os.chdir("/")
print("ok")
