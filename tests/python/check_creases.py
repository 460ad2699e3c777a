# SPDX-License-Identifier: Apache-2.0
"""Corners with normals of their own in glb and obj. usage: check_creases.py BIN_FOLDER REPOSITORY PART, PART one of
  creases  edges by their angle, beside an own computation: a cube, a fork; what is refused
  vn       edges where the .obj has several normals, through modalpack, modalplace and modaldeform; what is refused"""
import json
import os
import shutil

import h5py
import numpy as np

import looks
from looks import RUBBER, paint_box, put, read_glb, read_obj, repository, validate, write_box
from tool_run import must, run


def areas(triangles, p):
    return np.cross(p[triangles[:, 1]] - p[triangles[:, 0]], p[triangles[:, 2]] - p[triangles[:, 0]])


def wedges_of(triangles, rest, degrees):
    """Of each corner the triangles at its vertex that edges lead to which are no creases at rest: [triangles][3] lists."""
    at_rest = areas(triangles, rest)
    unit = at_rest / np.linalg.norm(at_rest, axis=1)[:, None]
    edges, found = {}, []
    for t, corners in enumerate(triangles):
        for k in range(3):
            edges.setdefault(frozenset((corners[k], corners[k - 1])), []).append(t)
    smooth = {e: t for e, t in edges.items() if len(t) == 2 and unit[t[0]] @ unit[t[1]] >= np.cos(np.radians(degrees)) - 1e-9}
    for t, corners in enumerate(triangles):
        found.append([])
        for vertex in corners:
            group, open_ = {t}, [t]
            while open_:
                for other in triangles[(last := open_.pop())]:
                    for u in smooth.get(frozenset((vertex, other)), ()) if other != vertex else ():
                        if last in smooth[frozenset((vertex, other))] and u not in group:
                            group.add(u)
                            open_.append(u)
            found[t].append(sorted(group))
    return found


def wedge_normals(triangles, wedges, x):
    """[triangles, 3, 3]: the area-weighted normals of the wedges."""
    now = areas(triangles, x)
    found = np.array([[now[group].sum(0) for group in three] for three in wedges])
    return found / np.linalg.norm(found, axis=2)[..., None]


def normals_of_numbers(triangles, numbers, x):
    """The same where corners of a vertex with the same number share a normal."""
    area = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    keys, group = np.unique(np.stack([triangles.ravel(), numbers.ravel()], 1), axis=0, return_inverse=True)
    sums = np.zeros((len(keys), 3))
    np.add.at(sums, group.ravel(), np.repeat(area, 3, axis=0))
    return (sums / np.linalg.norm(sums, axis=1)[:, None])[group.ravel()].reshape(-1, 3, 3)


def check_creases(trajectory, degrees, frames, numbers=None):
    """Numbers of normals [triangles, 3] with degrees "vn". Gives the normals in an obj, the vertices in glb and at rest."""
    def corner_normals(x):
        return wedge_normals(triangles, wedges, x) if numbers is None else normals_of_numbers(triangles, numbers, x)

    run("modaldeform", trajectory, "o", "-f", "--format", "glb,obj", "--crease", degrees)
    must("valid output" in run("modalinfo", "o", "--check").stdout, "modalinfo")
    read = lambda i, keyword: np.array([line.split()[1:] for line in open(f"o/obj/{i:06}.obj") if line.startswith(keyword + " ")])
    rest = read(0, "v").astype(float)
    faces = np.array([[w.split("/") for w in line] for line in read(0, "f").tolist()])
    triangles, normals_at = faces[..., 0].astype(int) - 1, faces[..., 2].astype(int) - 1
    wedges = wedges_of(triangles, rest, degrees) if numbers is None else None
    worst = 0
    for i in frames:
        x, normals = read(i, "v").astype(float), read(i, "vn").astype(float)
        wanted = corner_normals(x)
        worst = max(worst, np.abs(normals[normals_at] - wanted).max())
    must(worst <= 2e-5, trajectory, degrees, "normals in obj are off by", worst)  # text of float32 positions
    d, array, view = read_glb("o/sequence.glb")
    mesh = d["meshes"][0]["primitives"][0]
    base, normals = (array(mesh["attributes"][name]).astype(float) for name in ("POSITION", "NORMAL"))
    corners = array(mesh["indices"]).reshape(-1, 3)
    weights = array(next(s["output"] for s, c in zip(d["animations"][0]["samplers"], d["animations"][0]["channels"])
                         if c["target"]["path"] == "weights")).reshape(-1, len(mesh["targets"]))
    for t, w in zip(mesh["targets"], weights[0]):
        base, normals = base + w * array(t["POSITION"]), normals + w * array(t["NORMAL"])
    must(np.abs(base[corners] - rest[triangles]).max() <= 1e-5, "positions in glb")
    normals = normals[corners] / np.linalg.norm(normals[corners], axis=2)[..., None]
    wanted = corner_normals(rest)
    must(np.abs(normals - wanted).max() <= 1e-4, trajectory, degrees, "normals in glb are off by", np.abs(normals - wanted).max())
    return len(read(0, "vn")), len(base), len(rest)


def part_creases():
    write_box("cube", n=1, materials=False)
    run("modalpack", "cube.node", "cube.h5", "--surface", "cube.obj", "--modes", 3, *RUBBER)
    run("modalsim", "cube.h5", "c.h5", "--duration", 0.1, "--fps", 100, "--impulse", "1,0,0:0,0.001,0")
    must(check_creases("c.h5", 40, (0, 3, 10)) == (24, 24, 8), "a box of six sides has three normals a corner")
    must(check_creases("c.h5", 90, (0, 3)) == (8, 8, 8), "at 90 degrees an edge of 90 degrees is none")
    run("modalpack", os.path.join(repository, "data/tuning_fork.msh"), "fork.h5", "--material", "steel", "--fixed", "stem_end", "--modes", 2)
    run("modalsim", "fork.h5", "f.h5", "--duration", 0.02, "--fps", 100, "--initial", "0=0.0001")
    wedges, split, vertices = check_creases("f.h5", 40, (0, 2))
    must(wedges == split > vertices, "a fork has edges:", wedges, split, vertices)
    must(check_creases("f.h5", 180, (0,)) == (vertices,) * 3, "no edge is sharper than 180 degrees")
    # seams of uv and creases at once
    paint_box()
    run("modaldeform", "t.h5", "both", "--format", "glb,obj", "--look", "box.obj", "--crease", 40, "--order", "stored")
    d, array, view = read_glb("both/sequence.glb")
    attributes = d["meshes"][0]["primitives"][0]["attributes"]
    rows = np.concatenate([array(attributes[name]) for name in ("POSITION", "NORMAL", "TEXCOORD_0")], 1)
    must(len(np.unique(np.rint(1e4 * rows), axis=0)) == len(rows) > 40, "vertices that are the same, or no split:", len(rows))
    for words, says in ((("--format", "ply"), "--crease: only glb and obj split vertices, --format ply"),
                        (("--format", "glb", "--normals", "none"), "--crease: there are no normals"),
                        (("--format", "obj", "--normals", "rigid"), "--crease: obj has normals of the deformed surface, --normals rigid")):
        run("modaldeform", "t.h5", "w", "--crease", 40, *words, code=2, says=says)
    run("modaldeform", "t.h5", "w", "--format", "glb", "--crease", 181, code=2, says="--crease")
    run("modaldeform", "t.h5", "rigid", "--format", "glb", "--crease", 40, "--normals", "rigid")


def add_normals(name, to, number_of, vectors):
    """The .obj with vn: number_of(face, corner) of vectors. Gives the numbers of the corners of its triangles."""
    with open(name) as f:
        lines = f.read().splitlines()
    out, numbers, face = [f"vn {' '.join(map(str, v))}" for v in vectors], [], 0
    for line in lines:
        if line.startswith("f "):
            own = [number_of(face, k) for k in range(len(line.split()) - 1)]
            line = "f " + " ".join(f"{w}/{n + 1}" for w, n in zip(line.split()[1:], own))
            numbers += [(own[0], own[k - 1], own[k]) for k in range(2, len(own))]
            face += 1
        out.append(line)
    put(to, "\n".join(out) + "\n")
    return np.array(numbers)


def same_bytes(a, b):
    with open(a, "rb") as f, open(b, "rb") as g:
        return f.read() == g.read()


def part_vn():
    write_box("cube", n=1, materials=False)

    def moving(obj, name):
        run("modalpack", "cube.node", f"{name}.h5", "--surface", obj, "--modes", 3, *RUBBER)
        run("modalsim", f"{name}.h5", f"{name}_t.h5", "--duration", 0.1, "--fps", 100, "--impulse", "1,0,0:0,0.001,0")
        return f"{name}_t.h5"

    # a normal a side is a hard edge everywhere: what an angle of 40 degrees gives, byte for byte; equal vectors are one normal, whatever their numbers
    flat = np.eye(3)[np.arange(6) % 3] * np.where(np.arange(6) < 3, 1, -1)[:, None]
    add_normals("cube.obj", "flat.obj", lambda face, k: 4 * face + k, np.repeat(flat, 4, axis=0))
    trajectory = moving("flat.obj", "flat")
    for rule in ("40", "vn"):
        run("modaldeform", trajectory, f"by_{rule}", "--format", "glb,obj", "--crease", rule)
    for name in ("sequence.glb", "obj/000007.obj"):
        must(same_bytes(f"by_40/{name}", f"by_vn/{name}"), name, "is another one by its normals")
    for rule in ("40", "vn", "180"):
        run("modalrender", trajectory, f"seen_{rule}", "--frames", "7", "--size", "32x32", "--crease", rule)
    must(same_bytes("seen_40/png/000000.png", "seen_vn/png/000000.png") and not same_bytes("seen_180/png/000000.png", "seen_vn/png/000000.png"), "modalrender")
    # edges that no angle tells apart: two sides share normals, and one corner of a third has its own
    odd = lambda face, k: 6 if (face, k) == (3, 2) else 1 if face == 2 else face
    numbers = add_normals("cube.obj", "odd.obj", odd, [*flat, (0.6, 0.8, 0)])
    trajectory = moving("odd.obj", "odd")
    found = check_creases(trajectory, "vn", (0, 3, 10), numbers)
    corners = read_obj("cube.obj")[0]
    n = len({(corner[0], number) for (_, t), own in zip(corners, numbers) for corner, number in zip(t, own)})
    must(found == (n, n, 8) and 8 < n < 24, "normals:", found, n)
    # basis: outside of the content hash, kept where shapes are copied
    plain = moving("cube.obj", "plain")
    with h5py.File("odd.h5") as f, h5py.File("plain.h5") as g:
        must(f.attrs["content_hash"] == g.attrs["content_hash"], "the content hash has the normals")
        must("corner_normals" in f["shapes/0000/surface"] and "corner_normals" not in g["shapes/0000/surface"], "corner_normals")
    put("places.csv", "0,0,-1,0,0,0,0,0,0\n1,0,-1,3,0,0,0,0,0\n")
    run("modalplace", "places.csv", "two.h5", "odd.h5", "plain.h5")
    run("modalplace", "places.csv", "linked.h5", "odd.h5", "plain.h5", "--link")
    run("modalinfo", "linked.h5", "packed.h5", "--pack")
    for name in ("odd.h5", "two.h5", "linked.h5", "packed.h5"):
        run("modalinfo", name, "--check")
        validate(name)
    with h5py.File("odd.h5") as f, h5py.File("packed.h5") as g:
        must(np.array_equal(f["shapes/0000/surface/corner_normals"], g["shapes/0000/surface/corner_normals"]), "packed.h5")
    must(json.loads(run("modalinfo", "odd.h5", "--json").stdout)["shapes"][0]["corner_normals"] == 6, "modalinfo --json")
    # a shape without is smooth, and told; nothing but such shapes is refused
    put("both.csv", "0,0,-1,0,0,0,0,0,0\n1,1,-1,3,0,0,0,0,0\n")
    run("modalplace", "both.csv", "both.h5", "odd.h5", "plain.h5")
    run("modalsim", "both.h5", "both_t.h5", "--duration", 0.02, "--fps", 100, "--initial", "0=0.001")
    run("modaldeform", "both_t.h5", "both", "--format", "obj", "--crease", "vn", says="shapes without normals of an .obj, whose edges are all smooth, 1 of 2")
    with open("both/obj/000000.obj") as f:
        must(sum(line.startswith("vn ") for line in f) == found[0] + 8, "normals of two objects")
    for words in (("modaldeform", plain, "no", "--format", "glb"), ("modalrender", plain, "no", "--size", "16x16")):
        run(*words, "--crease", "vn", code=3, says="plain.h5: --crease vn: no shape has normals of its .obj")
    run("modaldeform", trajectory, "no", "--format", "glb", "--crease", "nv", code=2, says="--crease: not a finite number, nv")
    run("modalpack", "cube.node", "note.h5", "--surface", "nan.obj", "--modes", 3, *RUBBER, code=3, says="nan.obj")
    with open("odd.obj") as f:
        put("nan.obj", f.read().replace("vn 0.6 0.8 0", "vn nan 0.8 0"))
    run("modalpack", "cube.node", "note.h5", "--surface", "nan.obj", "--modes", 3, *RUBBER,
        says="the vn of line 7 is not three finite numbers; the surface keeps no normals")
    with h5py.File("note.h5") as f:
        must("corner_normals" not in f["shapes/0000/surface"], "normals that are none are kept")

    def broken(change, says):
        shutil.copy("odd.h5", "bad.h5")
        with h5py.File("bad.h5", "r+") as f:
            change(f["shapes/0000/surface"])
        run("modaldeform", trajectory, "no", "--basis", "bad.h5", "--format", "glb", "--crease", "vn", code=3, says=says)
        must(says in run("modalinfo", "bad.h5", "--check", code=1).stdout, "--check")
        validate("bad.h5", 1)
        must(not os.path.exists("no"), "no is there")

    broken(lambda g: g["corner_normals"].__setitem__((3, 1), -1), "corner_normals: row 3: outside [0, 36), -1")
    broken(lambda g: g["corner_normals"].__setitem__((3, 1), 36), "corner_normals: row 3: outside [0, 36), 36")

    def shorten(g):
        kept = g["corner_normals"][:-1]
        del g["corner_normals"]
        g["corner_normals"] = kept

    broken(shorten, "corner_normals: shape must be [12, 3], is [11, 3]")


if __name__ == "__main__":
    looks.main(globals())
