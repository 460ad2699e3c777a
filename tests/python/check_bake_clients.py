# SPDX-License-Identifier: Apache-2.0
"""What modaltex bake and flow write, in other programs. usage: check_bake_clients.py BIN_FOLDER REPOSITORY PART PROGRAM, PART one of
  blender (the PNG beside Blender's own bake of the same vertex colours, the .glb), gltf-validator, page (three.js in Chromium), paraview
(a skip, 77, where they are absent)"""
import json
import os
import shutil
import subprocess
import sys

import numpy as np

import looks
from images import from_linear, read_png, to_linear
from looks import RUBBER, paint_box, put, repository, write_box
from tool_run import must, run


def torus(n=48, m=24):
    """Points, triangles, colours [n m, 3] of 255."""
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    u, v = 2 * np.pi * i / n, 2 * np.pi * j / m
    points = np.stack([(1 + 0.4 * np.cos(v)) * np.cos(u), (1 + 0.4 * np.cos(v)) * np.sin(u), 0.4 * np.sin(v)], 1)
    points = points * [0.3, 0.065, 0.2] + [0.5, 0.1, 0.1]  # in the box
    at = lambda a, b: a % n * m + b % m
    faces = [t for a in range(n) for b in range(m) for t in ((at(a, b), at(a + 1, b), at(a + 1, b + 1)), (at(a, b), at(a + 1, b + 1), at(a, b + 1)))]
    colours = np.rint(127.5 + 127 * np.sin(np.stack([u + 2 * v, 3 * u, v - 2 * u + 1], 1)))
    return points, np.array(faces), colours


def write_scan(name, points, faces, colours):
    with open(name, "w", encoding="ascii") as f:
        f.write(f"ply\nformat ascii 1.0\nelement vertex {len(points)}\nproperty double x\nproperty double y\nproperty double z\n"
                "property uchar red\nproperty uchar green\nproperty uchar blue\n"
                f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n")
        f.writelines("%.17g %.17g %.17g %d %d %d\n" % (*p, *c) for p, c in zip(points, colours))
        f.writelines("3 %d %d %d\n" % tuple(t) for t in faces)


def read_obj(name):
    words = [line.split() for line in open(name, encoding="utf-8")]
    v, vt = (np.array([w[1:] for w in words if w[0] == kind], float) for kind in ("v", "vt"))
    f = np.array([[c.split("/") for c in w[1:]] for w in words if w[0] == "f"], int) - 1
    return v, vt, f[:, :, 0], f[:, :, 1]


def scan():
    """A scan's colours baked by charts of their own, and a .glb that has them while the scan moves."""
    points, faces, colours = torus()
    write_scan("scan.ply", points, faces, colours)
    run("modaltex", "build", "scan.ply", "white.h5", "--resolution", 512, "-q")
    put("l.json", '{"layers": [{"kind": "colours", "file": "scan.ply"}]}')
    run("modaltex", "paint", "white.h5", "l.json", "tex.h5", "-q")
    run("modaltex", "bake", "tex.h5", "scan.ply", "baked.png", "--size", 1024)
    write_box()
    run("modalpack", "box.node", "basis.h5", "--surface", "scan.ply", "--modes", 3, *RUBBER)
    run("modalsim", "basis.h5", "moving.h5", "--duration", 0.1, "--fps", 50, "--impulse", "1,0,0:0,0.01,0")
    run("modaldeform", "moving.h5", "o", "--format", "glb", "--look", "baked.look.json")
    return points, faces, colours


def part_blender(program):
    points, faces, colours = scan()
    v, vt, f, fvt = read_obj("baked.obj")
    must((v == points).all() and (f == faces).all(), "baked.obj")
    np.savez("mesh.npz", points=v, faces=f, uv=vt[fvt], colours=to_linear(colours / 255))
    script = os.path.join(repository, "tests/clients/bake_in_blender.py")
    got = subprocess.run([program, "--background", "--factory-startup", "--python-exit-code", "1", "--python", script, "--", "mesh.npz", "baked.png",
                          "o/sequence.glb", "found.npz"], capture_output=True, text=True, timeout=250)
    must(got.returncode == 0 and os.path.exists("found.npz"), got.stdout[-2000:], got.stderr[-2000:])
    with np.load("found.npz") as d:
        found = dict(d)
    ours = read_png("baked.png")[::-1] / 255
    must(np.abs(found["png"][..., :3] - ours).max() < 1e-5 and np.abs(found["glb"][..., :3] - ours).max() < 1e-5, "the images that Blender has opened")
    covered = (found["baked"][..., :3] > 0).any(2)  # no vertex is black
    theirs = np.rint(255 * from_linear(np.clip(found["baked"][..., :3], 0, 1))) / 255
    psnr = -10 * np.log10(((theirs - ours)[covered] ** 2).mean())
    print(f"check_bake_clients: {covered.mean():.1%} of the texels beside Blender's own bake, PSNR {psnr:.1f} dB")
    must(covered.mean() > 0.5 and ours[covered].std() > 0.1 and psnr >= 40, "PSNR", psnr, covered.mean())
    want, have = vt[fvt].reshape(-1, 6), found["glb_uv"].reshape(-1, 6)
    nearest = np.array([min(np.abs(want - np.roll(row, 2 * k)).max(1).min() for k in range(3)) for row in have])
    must(len(have) == len(f) and (nearest < 1e-5).all() and not found["normal_map"], "uv of the .glb", nearest.max())


def part_gltf_validator(program):
    """The baked look and one of normals: no error and, but for tangents that viewers make, no warning."""
    scan()
    points, faces, colours = torus(96, 48)
    write_scan("fine.ply", (points - 0.1) * [1, 1, 1.02] + 0.1, faces, colours)
    run("modaltex", "build", "scan.ply", "n0.h5", "--resolution", 128, "--channels", "float3", "-q")
    run("modaltex", "paint", "n0.h5", "n.h5", "--surface", "scan.ply", "--normals", "fine.ply", "-q")
    run("modaltex", "bake", "n.h5", "baked.obj", "normals.png", "--size", 512, "--other-surface")
    look = json.load(open("baked.look.json", encoding="utf-8"))
    look["materials"]["baked"]["normal_image"] = "normals.png"
    put("both.json", json.dumps(look))
    script = ("const v = require(process.argv[1]), fs = require('fs');"
              "v.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2]))).then(r => console.log(JSON.stringify(r)))")
    for name in ("baked.look.json", "both.json"):
        run("modaldeform", "moving.h5", "o", "-f", "--format", "glb", "--look", name, "--normals", "dynamic")
        got = subprocess.run(["node", "-e", script, program, "o/sequence.glb"], capture_output=True, text=True, timeout=100)
        must(got.returncode == 0, got.stderr)
        issues = json.loads(got.stdout)["issues"]
        warnings = [m for m in issues["messages"] if m["severity"] == 1 and m["code"] != "MESH_PRIMITIVE_GENERATED_TANGENT_SPACE"]
        must(issues["numErrors"] == 0 and not warnings, name, issues["messages"][:5])


def part_page(program):
    """modalview's page, three.js, shows the baked look: its picture has the colours of the image, which move about."""
    from browser import Browser
    scan()
    run("modalview", "moving.h5", "page.html", "--look", "baked.look.json", "-q")
    browser = Browser(program, os.getcwd(), 900, 700)
    try:
        browser.open("page.html")
        share = browser.picture("page.png")
        colours = browser.js("(() => { const d = modalview.drawing, c = document.getElementById('view'); modalview.show();"
                             "const g = new OffscreenCanvas(c.width, c.height).getContext('2d'); g.drawImage(c, 0, 0);"
                             "const a = g.getImageData(0, 0, c.width, c.height).data, r = [];"
                             "for (let i = 0; i < a.length; i += 4 * 37) r.push([a[i], a[i + 1], a[i + 2]]); return r; })()")
        browser.check_quiet()
    finally:
        browser.end()
    colours = np.array(colours, float)
    seen = colours[np.abs(colours - colours[0]).max(1) > 24]
    chroma = seen.max(1) - seen.min(1)
    must(share > 0.05 and len(seen) > 200 and (chroma > 60).mean() > 0.3, "the page's colours", share, len(seen), (chroma > 60).mean())
    hues = {tuple(np.argsort(c)) for c in seen[chroma > 60].astype(int)}
    must(len(hues) == 6, "of six orders of red, green and blue these are seen", hues)


def part_paraview(program):
    """ParaView opens the sequence of a flow, and `wetness` grows in what it reads and in what it draws."""
    paint_box()
    run("modaltex", "build", "b.h5", "tex.h5", "--resolution", 64, "--channels", "float", "--neighbours", "-q")
    run("modaltex", "flow", "t.h5", "tex.h5", "f", "--rain", 0.02, "--speed", 0.2)
    script = os.path.join(repository, "tests/clients/field_in_paraview.py")
    if not shutil.which("xvfb-run"):
        print("check_bake_clients: skipped: no xvfb-run")
        sys.exit(77)
    got = subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 640x480x24 -noreset", program, script, "f/sequence.xdmf", "wetness", "found.npz"],
                         capture_output=True, text=True, timeout=250)
    must(got.returncode == 0 and os.path.exists("found.npz"), got.stdout[-2000:], got.stderr[-2000:])
    import h5py
    with h5py.File("f/sequence.vtkhdf") as f:
        want = f["VTKHDF/PointData/wetness"][:].reshape(f["VTKHDF/Steps"].attrs["NSteps"], -1).astype(float).sum(1)
        times = f["VTKHDF/Steps/Values"][:]
    with np.load("found.npz") as d:
        must(np.allclose(d["times"], times) and np.allclose(d["sums"], want, rtol=1e-6), "what ParaView reads", d["sums"], want)
        must((np.diff(d["sums"]) > 0).all(), "wetness does not grow", d["sums"])
        pictures = d["pictures"].astype(float)
    changed = [np.abs(p - pictures[0]).max(2) > 12 for p in pictures]
    must(changed[-1].mean() > 0.02 and changed[-1].sum() > changed[1].sum(), "what ParaView draws", [c.sum() for c in changed])


if __name__ == "__main__":
    looks.main(globals())
