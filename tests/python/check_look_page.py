# SPDX-License-Identifier: Apache-2.0
"""Pages with a look. usage: check_look_page.py BIN [--browser]
Without --browser: the page's data, read as formats/viewer_data.md says, beside the look; refusals. With it: pages open in headless Chromium, and
the pixels that they draw are compared with an own rasteriser of a few triangles. Exits with 77 where Chromium is absent."""
import json
import os
import sys
import tempfile

import h5py
import numpy as np

import images
from browser import Browser, find_program
from page_data import Data, read_shape
from tool_run import must, run

LIGHT = np.array([-0.3, -0.2, -0.9]) / np.linalg.norm([-0.3, -0.2, -0.9])
TILT = np.array([0.5, -0.3, 0.8])


def put(name, text):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)


def make_inputs():
    """A bar that holds a sheet of 2 x 2 quads of two materials with uv (0.25 to 1.75 along x); images."""
    order = ((0, 4, 6, 7), (0, 6, 2, 7), (0, 2, 3, 7), (0, 3, 1, 7), (0, 1, 5, 7), (0, 5, 4, 7))
    nodes = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (-0.5, 0.5)]
    put("b.node", f"{len(nodes)} 3 0 0\n" + "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(nodes)))
    put("b.ele", f"{len(order)} 4 0\n" + "".join(f"{i} {' '.join(map(str, t))}\n" for i, t in enumerate(order)))
    lines = ["mtllib s.mtl"] + [f"v {x / 2} {y / 2} 0" for y in range(3) for x in range(3)]
    lines += [f"vt {0.25 + 0.75 * x} {y / 2}" for y in range(3) for x in range(3)]
    for y in range(2):
        lines.append(f"usemtl {('lower', 'upper')[y]}")
        for x in range(2):
            a = 3 * y + x + 1
            lines.append("f " + " ".join(f"{i}/{i}" for i in (a, a + 1, a + 4, a + 3)))
    put("s.obj", "\n".join(lines) + "\n")
    run("modalpack", "b.node", "s.h5", "--surface", "s.obj", "--modes", 3, "--young", 1e6, "--poisson", 0.3, "--density", 1000)
    run("modalsim", "s.h5", "t.h5", "--duration", 0.1, "--fps", 50, "--initial", "0=1e-9")
    random = np.random.default_rng(3)
    blocks = random.integers(0, 256, (4, 4, 4)).astype("u1")
    blocks[..., 3] = np.where(random.random((4, 4)) < 0.5, 255, 0)
    blocks[0, 0, 3], blocks[3, 3, 3] = 255, 0
    images.write_png("blocks.png", np.kron(blocks, np.ones((16, 16, 1), "u1")))
    tilt = np.rint((TILT / np.linalg.norm(TILT) + 1) * 127.5).astype("u1")
    images.write_png("tilt.png", np.tile(tilt, (8, 8, 1)))
    return blocks


def write_look(name, lower, upper, more=None):
    look = {"look": 1, "materials": {"lower": lower, "upper": upper}, "ambient": [1, 1, 1],
            "lights": [{"direction": list(LIGHT), "colour": [0, 0, 0]}]} | (more or {})
    put(name, json.dumps(look))


def data():
    write_look("l.json", {"image": "blocks.png", "wrap": "mirror", "alpha": "cutout", "cutoff": 0.25, "two_sided": True},
               {"diffuse": [0.5, 0.25, 0], "specular": [0.1, 0.2, 0.3], "shininess": 5, "opacity": 0.5, "alpha": "blend"},
               {"objects": [{"object": 1, "tint": [1, 0.5, 2]}, {"object": 2, "material": "upper"}],
                "lights": [{"direction": [0, 0, -2], "colour": [1, 2, 3]}]})
    put("places.csv", "".join(f"{i},0,-1,{3 * i},0,0,0,0,0\n" for i in range(3)))
    run("modalplace", "places.csv", "three.h5", "s.h5")
    for source, n_objects in (("three.h5", 3), ("t.h5", 1)):
        if n_objects == 1:
            write_look("l.json", {"image": "blocks.png"}, {"normal_image": "tilt.png"})
        run("modalview", source, "page.html", "--look", "l.json", "-f", "-q")
        page = Data("page.html")
        about = page.header["look"]
        triangles, user, _, _ = read_shape(page, page.header["shapes"][0])
        page.differences(n_objects), page.planes(12 * n_objects, "<f4")
        if "frames" in page.header:
            page.planes(page.header["frames"], "<f8"), page.planes(3 * page.header["frames"], "<f4")
        uv = page.planes(2 * page.header["shapes"][0]["uv"], "<f4").reshape(-1, 2)
        corners = page.differences(3 * len(triangles)).reshape(-1, 3)
        with h5py.File("s.h5") as f:
            x = f["shapes/0000/surface/rest_positions"][:]
        for t, c in zip(triangles, corners):
            for v, i in zip(t, c):
                must(np.abs(uv[i] - (0.25 + 1.5 * x[v, 0], x[v, 1])).max() < 1e-6, "uv of vertex", v, uv[i], x[v])
        variants = [page.differences(len(triangles)) for _ in about["variants"]]
        for t, m in zip(triangles, variants[0]):
            must(m == int(np.mean([x[v, 1] for v in t]) > 0.5), "materials", variants[0])
        of_objects, tints = page.differences(n_objects), page.planes(3 * n_objects, "<f4").reshape(-1, 3)
        for image in about["images"]:
            with open(image["name"], "rb") as f:
                must(page.planes(image["bytes"], "u1").tobytes() == f.read() and image["media_type"] == "image/png", image)
        must(page.at == len(page.bytes), "bytes left over")
        if n_objects == 3:
            must(list(of_objects) == [0, 0, 1] and set(variants[1]) == {1} and np.array_equal(tints, [[1, 1, 1], [1, 0.5, 2], [1, 1, 1]]), of_objects)
            must(about["materials"][0] == {"name": "lower", "diffuse": [1, 1, 1], "ambient": [1, 1, 1], "specular": [0, 0, 0], "shininess": 20,
                 "opacity": 1, "alpha": "cutout", "cutoff": 0.25, "two_sided": True, "wrap": "mirror", "image": 0}, about["materials"][0])
            must(about["materials"][1]["specular"] == [0.1, 0.2, 0.3] and about["lights"] == [{"direction": [0, 0, -1], "colour": [1, 2, 3]}], about)
        else:
            must([m.get("normal_image") for m in about["materials"]] == [None, 1] and len(about["images"]) == 2, about)
    run("modalview", "t.h5", "again.html", "--look", "l.json", "-q", "--title", "t.h5")
    must(open("again.html", "rb").read() == open("page.html", "rb").read(), "not the same bytes")
    run("modalview", "s.h5", "obj.html", "--look", "s.mtl", code=3, says="s.mtl: cannot open")
    put("s.mtl", "newmtl lower\nKd 1 0 0\nnewmtl upper\nmap_Kd blocks.png\n")
    for look in ("s.mtl", "s.obj"):
        run("modalview", "s.h5", "obj.html", "--look", look, "-f", "-q")
        must([m["name"] for m in Data("obj.html").header["look"]["materials"]] == ["lower", "upper"], look)


def refusals():
    def refused(says, lower, code=3, source="t.h5", words=()):
        write_look("bad.json", lower, {})
        run("modalview", source, "no.html", "--look", "bad.json", *words, code=code, says=says)
        must(not os.path.exists("no.html"), "no.html is there")

    refused("absent.png: cannot open, No such file", {"image": "absent.png"})
    refused("material lower has wrap none, and shape 0, triangle", {"image": "blocks.png", "wrap": "none"})
    refused("a path inside of the look's folder", {"image": "../x.png"})
    put("notes.png", "no image")
    refused("notes.png: neither a PNG nor a JPEG", {"image": "notes.png"})
    run("modalview", "t.h5", "no.html", "--any-path", code=2, says="--any-path: only with --look")
    put("r.csv", "frequency\n")
    run("modalview", "r.csv", "no.html", "--look", "l.json", code=2, says="--look: not with a response")
    with open("s.obj") as f:
        put("bare.obj", "".join("f " + " ".join(w.split("/")[0] for w in line.split()[1:]) + "\n" if line.startswith("f") else line
                                for line in f if not line.startswith("vt")))
    run("modalpack", "b.node", "bare.h5", "--surface", "bare.obj", "--modes", 3, "--young", 1e6, "--poisson", 0.3, "--density", 1000)
    refused("look: material lower has an image, and shape 0 (", {"image": "blocks.png"}, source="bare.h5")
    must(not os.path.exists("no.html"), "no.html is there")


# ---- Chromium ----

# What is drawn, [x, y, r, g, b] at places of the canvas in pixels, where the camera is, and where the points are.
DRAWN = """(() => { const d = modalview.drawing, c = document.getElementById('view'); modalview.show(); d.camera.updateMatrixWorld();
  const g = new OffscreenCanvas(c.width, c.height).getContext('2d'); g.drawImage(c, 0, 0);
  const all = g.getImageData(0, 0, c.width, c.height).data, rows = [];
  for (let y = 2; y < c.height - 2; y += 7) for (let x = 2; x < c.width - 2; x += 7) {
    const i = 4 * (y * c.width + x);
    let flat = true; // not at an edge
    for (let dy = -2; dy <= 2 && flat; dy++) for (let dx = -2; dx <= 2; dx++) for (let k = 0; k < 3; k++)
      if (Math.abs(all[i + 4 * (dy * c.width + dx) + k] - all[i + k]) > 12) flat = false;
    if (flat) rows.push([x, y, all[i], all[i + 1], all[i + 2]]);
  }
  return { width: c.width, height: c.height, rows, projection: d.camera.projectionMatrix.elements, view: d.camera.matrixWorldInverse.elements,
           points: [...modalview.deformer.read(modalview.deformer.moved)], user: [...modalview.scene.shapes[0].user],
           triangles: [...modalview.scene.shapes[0].triangles] }; })()"""


def texel(blocks, uv, wrap):
    u, v = uv
    if wrap == "mirror":
        u = 1 - abs(u % 2 - 1)
    u, v = (np.clip(u, 0, 0.9999), np.clip(v, 0, 0.9999)) if wrap != "repeat" else (u % 1, v % 1)
    return blocks[3 - int(v * 4), int(u * 4)]


def expected(got, x, y, lower, upper, shade, background):
    """What the sheet shows there: [3] of 255, None where nothing is to be compared."""
    m = np.array(got["projection"]).reshape(4, 4).T @ np.array(got["view"]).reshape(4, 4).T
    p = np.array(got["points"]).reshape(-1, 4)
    clip = np.concatenate([p[:, :3], np.ones((len(p), 1))], 1) @ m.T
    ndc = np.array([2 * (x + 0.5) / got["width"] - 1, 1 - 2 * (y + 0.5) / got["height"]])
    user = np.array(got["user"])
    for t in np.array(got["triangles"]).reshape(-1, 3):
        # w_k with sum w_k (clip_k.xy - ndc clip_k.w) = 0
        a = np.array([clip[t, 0] - ndc[0] * clip[t, 3], clip[t, 1] - ndc[1] * clip[t, 3], [1, 1, 1]])
        if abs(np.linalg.det(a)) < 1e-12:
            continue
        w = np.linalg.solve(a, [0, 0, 1])
        if w.min() < 0:
            continue
        xy = np.stack([user[t] % 3, user[t] // 3], 1) / 2
        at = w @ xy
        if min(abs(at[1] - 0.5), w.min() * 2) < 0.01:
            return None
        material = upper if at[1] > 0.5 else lower
        blocks, uv = material.get("blocks"), (0.25 + 1.5 * at[0], at[1])
        if blocks is not None and min(abs(uv[0] * 4 - round(uv[0] * 4)), abs(uv[1] * 4 - round(uv[1] * 4))) < 0.12:
            return None # where texels are mixed
        colour = np.append(images.to_linear(texel(blocks, uv, material.get("wrap", "repeat"))[:3] / 255.0),
                           texel(blocks, uv, material.get("wrap", "repeat"))[3] / 255.0) if blocks is not None else np.ones(4)
        colour[:3] *= material.get("diffuse", (1, 1, 1))
        colour[3] *= material.get("opacity", 1)
        alpha = {"opaque": 1, "cutout": float(colour[3] >= 0.5), "blend": colour[3]}[material.get("alpha", "opaque")]
        front = 255 * images.from_linear(np.clip(colour[:3] * shade, 0, 1))
        return alpha * front + (1 - alpha) * background
    return background


def compare(browser, name, lower, upper, shade=1.0, more=None, turned=False):
    def written(m):
        return {k: list(v) if isinstance(v, tuple) else v for k, v in m.items() if k != "blocks"} | ({"image": "blocks.png"} if "blocks" in m else {})

    write_look(f"{name}.json", written(lower), written(upper), more)
    run("modalview", "t.h5", f"{name}.html", "--look", f"{name}.json", "-q")
    browser.open(f"{name}.html#frame=0")
    must(browser.js("document.getElementById('colour').value") == "9" and browser.js("document.getElementById('legend').hidden"), "the look is not shown")
    if turned: # from behind
        browser.js("modalview.drawing.camera.position.z *= -1, modalview.drawing.controls.update()")
    got = browser.js(DRAWN)
    background = np.array(got["rows"][0][2:], float)
    worst, compared, inside = 0, 0, 0
    for x, y, *rgb in got["rows"]:
        want = expected(got, x, y, lower, upper, shade, background)
        if want is None:
            continue
        compared += 1
        inside += np.abs(want - background).max() > 20
        off = np.abs(np.array(rgb) - want).max()
        must(off <= 3, name, "pixel", x, y, "is", rgb, "instead of", want)
        worst = max(worst, off)
    must(inside >= 100, name, "too few pixels of the sheet", inside)
    browser.check_quiet()
    print(f"{name}: {compared} pixels, {inside} of the sheet, off by at most {worst:.1f} of 255")


def chromium(blocks):
    program = find_program()
    if not program:
        print("no Chromium")
        sys.exit(77)
    browser = Browser(program, os.getcwd(), 900, 700)
    try:
        plain = {"diffuse": (0.5, 0.25, 0)}
        compare(browser, "opaque", {"blocks": blocks}, plain)
        compare(browser, "wraps", {"blocks": blocks, "wrap": "mirror"}, {"blocks": blocks, "wrap": "clamp"})
        compare(browser, "cutout", {"blocks": blocks, "alpha": "cutout"}, {"blocks": blocks, "alpha": "cutout", "wrap": "mirror"})
        compare(browser, "blend", {"blocks": blocks, "alpha": "blend"}, {"diffuse": (0.5, 0.25, 0), "alpha": "blend", "opacity": 0.4})
        # triangles that let others through are drawn from the farthest on
        must(browser.js("""(() => { const d = modalview.drawing, [mesh] = modalview.look.blended, p = modalview.deformer.read(modalview.deformer.moved);
            modalview.show(); const away = d.camera.getWorldDirection(d.controls.target.clone()), points = mesh.geometry.attributes.point.array;
            const order = mesh.geometry.index.array, depths = [];
            for (let t = 0; t < order.length; t += 3) {
              let sum = 0;
              for (let k = 0; k < 3; k++) for (let j = 0; j < 3; j++) sum += p[4 * points[order[t + k]] + j] * away.getComponent(j);
              depths.push(sum);
            }
            return depths.length === 4 && new Set(order).size === 12 && depths.every((x, i) => i === 0 || x <= depths[i - 1]); })()"""), "the order of blended triangles")
        compare(browser, "behind", {"blocks": blocks, "two_sided": True}, plain | {"two_sided": True}, turned=True)
        # light and a normal image: the sheet's normal is +z, its u along x, its v along y
        lights = {"ambient": [0.1, 0.1, 0.1], "lights": [{"direction": list(LIGHT), "colour": [0.8, 0.8, 0.8]}]}
        compare(browser, "light", plain, {"diffuse": (0.2, 0.9, 0.5)}, 0.1 + 0.8 * -LIGHT[2], lights)
        tilt = np.rint((TILT / np.linalg.norm(TILT) + 1) * 127.5) / 127.5 - 1
        bent = tilt / np.linalg.norm(tilt)
        normal = {"normal_image": "tilt.png"}
        compare(browser, "normals", plain | normal, {"diffuse": (0.2, 0.9, 0.5)} | normal, 0.1 + 0.8 * -LIGHT @ bent, lights)
        must(abs(0.8 * -LIGHT @ bent - 0.8 * -LIGHT @ (bent * (-1, 1, 1))) > 0.05, "the test cannot tell how the image is turned")
        # other colourings stay, c goes on from the look
        browser.key("c")
        browser.wait("document.getElementById('colour').value === '0'", "the next colouring")
        browser.js("modalview.setField(1), modalview.show()")
        must(browser.js("modalview.drawing.mesh.visible && !modalview.look.group.visible && !document.getElementById('legend').hidden"), "displacement")
        browser.js("modalview.setField(9), modalview.show()")
        must(browser.js("!modalview.drawing.mesh.visible && modalview.look.group.visible"), "the look again")
        # an image that no one can decode is named
        with open("blocks.png", "rb") as f:
            body = bytearray(f.read())
        body[60] ^= 255
        with open("broken.png", "wb") as f:
            f.write(body)
        write_look("broken.json", {"image": "broken.png"}, {})
        run("modalview", "t.h5", "broken.html", "--look", "broken.json", "-q")
        browser("Page.navigate", url="file://" + os.path.abspath("broken.html"))
        browser.wait("document.getElementById('problem') && !document.getElementById('problem').hidden", "the message")
        must("broken.png cannot be decoded" in browser.js("document.getElementById('problem').textContent"), "message")
    finally:
        browser.end()


os.chdir(tempfile.mkdtemp(prefix="look-page-"))
made = make_inputs()
if "--browser" in sys.argv:
    chromium(made)
else:
    data()
    refusals()
