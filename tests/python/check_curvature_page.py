# SPDX-License-Identifier: Apache-2.0
"""Curvature that a page of modalview computes on its own GPU, against what modaldeform writes of the same motion: an irregular
sheet that swings, its values, the map around zero and its range. A page that can only compute in float16 does not offer it.
usage: check_curvature_page.py BIN; 77 where Chromium is absent."""
import os
import shutil
import sys
import tempfile

import h5py
import numpy as np

import surfaces
from browser import Browser, find_program
from check_large import write_basis, write_trajectory
from tool_run import must, run

WIDTH, HEIGHT, FRAMES = 80, 60, 5
NAMES = ["k_max", "k_min", "mean_curvature", "gauss_curvature"]


def make_inputs():
    """Shifted vertices, two smooth modes; turned as a whole in the frames."""
    rng = np.random.default_rng(8)
    write_basis("sheet.h5", WIDTH, HEIGHT, 2)
    write_trajectory("motion.h5", "sheet.h5", 2, FRAMES)
    x, y = (c.ravel() for c in np.meshgrid(np.arange(WIDTH) / (WIDTH - 1), np.arange(HEIGHT) / (WIDTH - 1)))
    inside = (x > 0) & (x < 1) & (y > 0) & (y < y.max())
    x, y = (c + inside * rng.uniform(-0.3, 0.3, len(c)) / (WIDTH - 1) for c in (x, y))
    with h5py.File("sheet.h5", "r+") as f:
        s = f["shapes/0000"]
        s["surface/rest_positions"][...] = np.stack([x, y, 0.05 * np.sin(9 * x) * np.cos(7 * y)], 1)
        u = np.zeros((-(-len(x) // 32) * 32, 2, 3))
        u[:len(x), 0, 2], u[:len(x), 1, 2], u[:len(x), 1, 0] = np.sin(12 * y + 1), np.cos(8 * (x + y)), 0.2 * np.sin(9 * y)
        s["modes/modal_matrix"][...] = np.moveaxis(u.reshape(-1, 32, 2, 3), 1, 3)
        user = s["surface/user_vertex"][:]
    with h5py.File("motion.h5", "r+") as f:
        f["q"][...] = 0.03 * np.array([[0, 0], [1, 0], [0, -1], [1, 1], [-2, 1]])
        angle = np.linspace(0, 2, FRAMES)
        frames = np.zeros((FRAMES, 1, 3, 4))
        frames[:, 0, 0, 0] = frames[:, 0, 1, 1] = np.cos(angle)
        frames[:, 0, 1, 0], frames[:, 0, 0, 1] = np.sin(angle), -np.sin(angle)
        frames[:, 0, 2, 2], frames[:, 0, 0, 3] = 1, 3
        f["poses"] = frames
    return user


def values_in(browser):
    text = browser.js("modalview.show(), modalview.deformer.read(modalview.deformer.bent).join(',')")
    return np.array(text.split(","), float).reshape(-1, 4)


def check(browser, user):
    browser.open("page.html#frame=1&colour=Gauss_curvature")
    must(browser.js("modalview.ui.field === 8 && !modalview.ui.playing && modalview.player.frame === 1"), "where the page opens")
    must(browser.js("document.getElementById('legend-name').textContent") == "Gauss curvature", "legend")
    for field, name in enumerate(NAMES, 5):
        for frame in range(FRAMES):
            browser.js(f"modalview.setField({field}), modalview.setFrame({frame})")
            got = values_in(browser)[:, field - 5]
            wanted = surfaces.read_ply(f"out/ply/{frame:06}.ply")[name][user]
            size = np.quantile(np.abs(wanted), 0.99)
            error = (got - wanted) / size
            print(f"{name:16} frame {frame}: worst {np.abs(error).max():.1e}, rms {np.sqrt(np.mean(error**2)):.1e} of {size:.3g}")
            # the page's positions are off by 1e-6 of the sheet, over edges of 1/80: 4 of that over a squared edge
            must(np.abs(error).max() <= 0.01 and np.sqrt(np.mean(error**2)) <= 8e-4, name, frame, np.abs(error).max())
            least, most = (browser.js(f"document.getElementById('{i}').textContent").split() for i in ("least", "most"))
            robust = np.abs(np.quantile(got, [0.02, 0.98])).max()
            must(abs(float(most[0]) / robust - 1) <= 0.01 and least[0] == "−" + most[0], name, least, most, robust)
            must(most[1] == ("1/m²" if field == 8 else "1/m"), most)
            scale = browser.js("modalview.drawing.uniforms.scale.value")
            must(abs(scale * robust - 1) <= 0.01, "scale", scale, robust)
    # the ramp: blue below zero, red above, near white at zero, as dark on both sides
    ramp = browser.js("[...document.getElementById('ramp').getContext('2d').getImageData(0, 0, 256, 1).data]")
    low, zero, high = (np.array(ramp[4 * i:4 * i + 3]) for i in (0, 128, 255))
    must(low[2] > low[0] + 60 and high[0] > high[2] + 60 and zero.min() > 215, low, zero, high)
    browser.key("c")
    must(browser.js("modalview.ui.field === 0 && !modalview.deformer.curved"), "after the last colouring")
    # a picture has both colours
    browser.js("modalview.setField(7), modalview.setFrame(3), modalview.show()")
    drawn = browser.js("""(() => { const g = modalview.drawing.renderer.getContext(), w = g.drawingBufferWidth, h = g.drawingBufferHeight;
        const p = new Uint8Array(4 * w * h); g.readPixels(0, 0, w, h, g.RGBA, g.UNSIGNED_BYTE, p); let red = 0, blue = 0;
        for (let i = 0; i < p.length; i += 4) { red += p[i] > p[i + 2] + 30; blue += p[i + 2] > p[i] + 30; } return [red, blue]; })()""")
    must(min(drawn) > 1000, "red and blue pixels", drawn)
    browser.check_quiet()


def check_float16(browser, user):
    """A device that does not render to float32, as some phones: positions in float16, and no curvature among the colours."""
    browser("Page.addScriptToEvaluateOnNewDocument", source="""{
        const whole = WebGL2RenderingContext.prototype.getExtension;
        WebGL2RenderingContext.prototype.getExtension = function (name) {
            return name === 'EXT_color_buffer_float' ? null : whole.call(this, name);
        }; }""")
    shutil.copy("page.html", "half.html")  # another address, so that it is loaded again
    browser.open("half.html#frame=2&colour=Gauss_curvature")
    must(browser.js("!modalview.deformer.canCurve && modalview.player.frame === 2"), "float16, where the page opens")
    must(browser.js("modalview.ui.field") == 1, "the colour asked for is not there: displacement", browser.js("modalview.ui.field"))
    offered = browser.js("[...document.getElementById('colour').options].map((o) => Number(o.value)).join()")
    must(offered and all(int(field) < 5 for field in offered.split(",")), "colours offered", offered)
    for _ in offered.split(","):  # the key goes through all of them
        browser.key("c")
        must(browser.js("modalview.ui.field < 5 && !modalview.deformer.curved"), "float16, key c")
    ply = surfaces.read_ply("out/ply/000002.ply")
    wanted = np.stack([ply[c] for c in "xyz"], 1)[user]
    browser.js("modalview.setFrame(2)")
    got = np.array(browser.js("modalview.show(), modalview.deformer.worldPositions().join(',')").split(","), float).reshape(-1, 3)
    error = np.abs(got - wanted).max() / np.ptp(wanted, 0).max()
    print(f"float16: positions {error:.1e} of the size")
    must(error <= 2e-3, "float16, positions", error)
    browser.check_quiet()


program = find_program()
if not program:
    print("chromium is absent: the page is not opened")
    sys.exit(77)
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:  # Chromium may still write there
    os.chdir(temporary)
    order = make_inputs()
    run("modaldeform", "motion.h5", "out", "--format", "ply", "--fields", "curvature,boundary", "-q")
    run("modalview", "motion.h5", "page.html", "-q")
    chromium = Browser(program, temporary)
    try:
        check(chromium, order)
        check_float16(chromium, order)
    finally:
        chromium.end()
print("ok")
