# SPDX-License-Identifier: Apache-2.0
"""Looks through the pipeline. usage: check_look.py BIN_FOLDER REPOSITORY PART, PART one of
  basis    modalpack keeps the names of an .obj's materials, outside of the content hash; what is refused
  glb      modaldeform --look: materials, uv, seams, images in a GLB, read on its own; what is refused
  obj      the same as frames of .obj with their .mtl; what is refused
  convert  modaltex look: a look of an .obj with its .mtl; names of files stay in the folder"""
import json
import os
import shutil

import h5py
import numpy as np

import lacking
import looks
from looks import RUBBER, paint_box, put, read_glb, read_obj, repository, validate, write_box
from tool_run import binaries, must, run


def names_of_triangles(path):
    """In the user's order."""
    with h5py.File(path) as f:
        s = f["shapes/0000"]
        names = bytes(s["look/material_names"][:]).decode().split("\n")[:-1]
        values = np.empty(len(s["surface/triangles"]), dtype=object)
        values[s["surface/user_triangle"][:]] = [names[i] if i >= 0 else None for i in s["look/triangle_material"][:]]
        return list(values)


def part_basis():
    write_box()
    write_box("plain", materials=False)
    run("modalpack", "box.node", "b.h5", "--surface", "box.obj", "--modes", 3, *RUBBER)
    run("modalpack", "box.node", "p.h5", "--surface", "plain.obj", "--modes", 3, *RUBBER)
    wanted = ["red paint"] * 18 + ["leaf"] * 16 + [None] * 2
    must(names_of_triangles("b.h5") == wanted, "names:", names_of_triangles("b.h5"))
    with h5py.File("b.h5") as f, h5py.File("p.h5") as g:
        must(f.attrs["content_hash"] == g.attrs["content_hash"], "the content hash has the names")
        must("look" in f["shapes/0000"] and "look" not in g["shapes/0000"] and "extensions_used" not in f.attrs, "look")
    must(json.loads(run("modalinfo", "b.h5", "--json").stdout)["shapes"][0]["materials"] == ["red paint", "leaf"], "modalinfo --json")
    must("red paint, leaf" in run("modalinfo", "b.h5").stdout, "modalinfo")
    put("places.csv", "0,0,-1,0,0,0,0,0,0\n1,0,-1,3,0,0,0,0,0\n")
    run("modalplace", "places.csv", "two.h5", "b.h5")
    run("modalplace", "places.csv", "linked.h5", "b.h5", "--link")
    run("modalinfo", "linked.h5", "packed.h5", "--pack")
    for name in ("b.h5", "two.h5", "linked.h5", "packed.h5"):
        run("modalinfo", name, "--check")
        validate(name)
    for name in ("two.h5", "packed.h5"):
        must(names_of_triangles(name) == wanted, name, "lost names")

    def broken(change, says):
        with open("b.h5", "rb") as f, open("bad.h5", "wb") as g:
            g.write(f.read())
        with h5py.File("bad.h5", "r+") as f:
            change(f["shapes/0000/look"])
        run("modalinfo", "bad.h5", code=3, says=says)
        must(run("modalinfo", "bad.h5", "--check", code=1).stdout, "--check")
        validate("bad.h5", 1)

    def put_name(look, values):
        del look["material_names"]
        look["material_names"] = np.frombuffer(values, "u1")

    broken(lambda g: g["triangle_material"].__setitem__(3, 2), "triangle_material: row 3: outside [-1, 2), 2")
    broken(lambda g: g["triangle_material"].__setitem__(3, -2), "triangle_material: row 3: outside [-1, 2), -2")
    broken(lambda g: g.__delitem__("material_names"), "must both be there")
    broken(lambda g: put_name(g, b"a\nb"), "byte 2")
    broken(lambda g: put_name(g, b"a\n\nb\n"), "byte 2")
    broken(lambda g: put_name(g, b"a\tb\n"), "byte 1")


def part_convert():
    write_box()
    os.makedirs("sub/deep")
    os.makedirs("other")
    put("box.mtl", "newmtl red paint\nKd 0.5 0.25 0\nnewmtl leaf\nmap_Kd images/leaf.png\nd 0.5\n")
    run("modaltex", "look", "box.obj", "box.json", "--ranges")
    with open("box.json") as f:
        look = json.load(f)
    must(look == {"look": 1, "materials": {"red paint": {"diffuse": [0.5, 0.25, 0]},
                                           "leaf": {"diffuse": [0.8, 0.8, 0.8], "image": "images/leaf.png", "opacity": 0.5, "alpha": "blend"}},
                  "shapes": [{"shape": 0, "ranges": [{"first": 0, "count": 18, "material": "red paint"},
                                                   {"first": 18, "count": 16, "material": "leaf"}]}]}, look)
    run("modaltex", "look", "box.obj", "box.json", code=2, says="box.json: exists")
    run("modaltex", "look", "box.obj", "again.json")
    must("shapes" not in json.load(open("again.json")), "ranges without --ranges")
    # what a look says can be read again: a .mtl, with one material: the default of all
    put("one.mtl", "newmtl a\nKd 1 1 1\n")
    run("modaltex", "look", "one.mtl", "one.json")
    must(json.load(open("one.json")) == {"look": 1, "materials": {"a": {"diffuse": [1, 1, 1]}}, "default": "a"}, "one.json")
    # names of images are seen from the look's folder
    put("sub/deep/p.mtl", "newmtl a\nmap_Kd x.png\n")
    put("sub/p.obj", "mtllib deep/p.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    run("modaltex", "look", "sub/p.obj", "p.json")
    must(json.load(open("p.json"))["materials"]["a"]["image"] == "sub/deep/x.png", "path")
    run("modaltex", "look", "sub/p.obj", "other/p.json", code=3, says="its images would not be below the folder of the look")
    run("modaltex", "look", "sub/p.obj", "other/p.json", "--any-path")
    must(json.load(open("other/p.json"))["materials"]["a"]["image"] == os.path.realpath("sub/deep/x.png"), "--any-path")

    def refused(obj, says, mtl="newmtl a\n"):
        put("w.obj", obj + "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        put("w.mtl", mtl)
        run("modaltex", "look", "w.obj", "w.json", code=3, says=says)
        must(not os.path.exists("w.json"), "w.json is there")

    refused("", "w.obj: names no materials (mtllib)")
    refused("mtllib absent.mtl\n", "absent.mtl: cannot open, No such file")
    refused("mtllib ../w.mtl\n", "mtllib: not in the folder of the .obj or below it, '../w.mtl'")
    refused("mtllib /etc/w.mtl\n", "mtllib: not in the folder")
    refused("mtllib w.mtl\nusemtl b\n", "w.obj: usemtl: no material of that name in its mtllib, b")
    refused("mtllib w.mtl\n", "no materials", "# nothing\n")
    refused("mtllib w.mtl\n", "w.mtl:2: map_Kd: the image is not in the look's folder or below it", "newmtl a\nmap_Kd ../x.png\n")
    refused("mtllib w.mtl w.mtl\n", "w.mtl:1: newmtl: the material is there twice, 'a'")
    run("modaltex", "look", "one.mtl", "w.json", "--ranges", code=2, says="--ranges: needs an .obj")
    run("modaltex", code=2, says="usage: modaltex look")
    run("modaltex", "lok", code=2, says="did you mean look?")
    run("modaltex", "-f", "look", "one.mtl", "w.json", code=2, says="usage")
    must("--ranges" in run("modaltex", "look", "--help").stdout and "look" in run("modaltex", "--generate", "bash").stdout, "documents")


def part_glb():
    paint_box()
    triangles, v, vt = read_obj("box.obj")
    with h5py.File("b.h5") as f, h5py.File("t.h5") as g:
        s, q = f["shapes/0000"], g["q"][:]
        u = s["modes/modal_matrix"][:].transpose(0, 3, 2, 1).reshape(-1, 3, 3)[:len(v)].astype("f8")
        modes = np.empty_like(u)
        modes[s["surface/user_vertex"][:]] = u
    for words in ((), ("--order", "stored"), ("--normals", "dynamic"), ("--normals", "rigid")):
        run("modaldeform", "t.h5", "o", "-f", "--format", "glb", "--look", "box.obj", *words)
        d, array, view = read_glb("o/sequence.glb")
        must([m["name"] for m in d["materials"]] == ["red paint", "leaf"], "materials", d["materials"])
        must(d["materials"][0]["pbrMetallicRoughness"] == {"baseColorFactor": [0.5, 0.25, 0, 1], "metallicFactor": 0, "roughnessFactor": 1},
             d["materials"][0])
        with open("leaf.png", "rb") as f:
            must(len(d["images"]) == 1 and view(d["images"][0]["bufferView"]) == f.read(), "the image is another one")
        must(d["samplers"] == [{"wrapS": 10497, "wrapT": 10497}] and len(d["meshes"]) == 1, "samplers, meshes")
        weights = array(next(s["output"] for s, c in zip(d["animations"][0]["samplers"], d["animations"][0]["channels"])
                             if c["target"]["path"] == "weights")).reshape(len(q), -1)
        got = set()
        for p in d["meshes"][0]["primitives"]:
            attributes = p["attributes"]
            must(("NORMAL" in attributes) == ("--normals" in words), words, "normals")
            uv, base = array(attributes["TEXCOORD_0"]), array(attributes["POSITION"])
            must(len(uv) == len(base) and len(base) > len(v), "no seam is split", len(base))
            moved = base + np.tensordot(weights[7], [array(t["POSITION"]) for t in p["targets"]], 1)
            if words != ("--order", "stored"):
                wanted = (v + modes @ q[7])
                must(np.abs(moved[:len(v)] - wanted).max() <= 1e-6, "positions are off by", np.abs(moved[:len(v)] - wanted).max())
            name = d["materials"][p["material"]]["name"]
            for t in array(p["indices"]).reshape(-1, 3):
                got.add((name, tuple(tuple(np.rint(1e4 * np.append(moved[i], uv[i])).astype(int)) for i in t)))
        wanted = set()
        for name, t in triangles:
            corners = [tuple(np.rint(1e4 * np.append(v[a] + modes[a] @ q[7], (vt[b][0], 1 - vt[b][1]))).astype(int)) for a, b in t]
            wanted.add((name, tuple(corners)))
        must(got == wanted, words, "triangles differ:", len(got - wanted), "of", len(wanted), sorted(got - wanted)[:2], sorted(wanted - got)[:2])
    look_of_objects()
    refuse_looks()


def look_of_objects():
    """Objects with materials and tints of their own share positions."""
    put("places.csv", "".join(f"{i},0,-1,{3 * i},0,0,0,0,0\n" for i in range(4)))
    run("modalplace", "places.csv", "four.h5", "b.h5")
    run("modalsim", "four.h5", "f.h5", "--duration", 0.1, "--fps", 100, "--initial", "0=0.001")
    look = {"look": 1, "materials": {"red paint": {"diffuse": [1, 0.5, 0]}, "leaf": {"image": "leaf.png", "wrap": "clamp"},
                                     "cut": {"image": "leaf.png", "alpha": "cutout", "cutoff": 0.25, "two_sided": True}},
            "objects": [{"object": 1, "material": "cut"}, {"object": 3, "tint": [0.5, 4, 1]}]}
    with open("four.json", "w") as f:
        json.dump(look, f)
    run("modaldeform", "f.h5", "four", "--format", "glb", "--look", "four.json")
    d, array, view = read_glb("four/sequence.glb")
    must([n["mesh"] for n in d["nodes"]] == [0, 1, 0, 2], "meshes of the objects", d["nodes"])
    must(len({p["attributes"]["POSITION"] for m in d["meshes"] for p in m["primitives"]}) == 1, "positions are there twice")
    must([m["name"] for m in d["materials"]] == ["red paint", "leaf", "cut", "red paint", "leaf"], "materials")
    must(d["materials"][3]["pbrMetallicRoughness"]["baseColorFactor"] == [0.5, 1, 0, 1], "the tint, at most 1")
    must(d["materials"][2]["alphaMode"] == "MASK" and d["materials"][2]["alphaCutoff"] == 0.25 and d["materials"][2]["doubleSided"], "cut")
    must(len(d["images"]) == 1 and len(d["textures"]) == 2 and len(d["samplers"]) == 2, "textures")


def part_obj():
    paint_box()
    triangles, v, vt = read_obj("box.obj")
    run("modaldeform", "t.h5", "o", "--format", "obj,ply", "--look", "box.obj")
    must("valid output" in run("modalinfo", "o", "--check").stdout, "modalinfo")
    must({"manifest.json", "obj", "sequence.mtl"} <= set(os.listdir("o")), os.listdir("o"))
    with open("o/sequence.mtl") as f:
        text = f.read()
    must("newmtl red paint\nKa 0.5 0.25 0\nKd 0.5 0.25 0\n" in text and "newmtl leaf\n" in text and "map_Kd ../leaf.png\n" in text, text)
    must("unused" not in text, "a material that nobody has")
    got, points, uv = read_obj("o/obj/000007.obj")
    must(len(points) == len(v) and len(got) == len(triangles), "vertices are not split in text")
    key = lambda of, p, t: {(name, tuple(tuple(np.rint(1e4 * np.append(p[a], t[b])).astype(int)) for a, b, *_ in c)) for name, c in of}
    must(key(got, v, uv) == key(triangles, v, vt), "materials, uv or corners differ")
    # what is written is a look of its own
    run("modaltex", "look", "o/obj/000007.obj", "again.json", "--any-path")
    again = json.load(open("again.json"))["materials"]
    must(os.path.realpath(again["leaf"]["image"]) == os.path.realpath("leaf.png") and again["red paint"]["diffuse"] == [0.5, 0.25, 0], again)
    # objects with a tint have materials of their own names
    put("places.csv", "".join(f"{i},0,-1,{3 * i},0,0,0,0,0\n" for i in range(3)))
    run("modalplace", "places.csv", "three.h5", "b.h5")
    run("modalsim", "three.h5", "f.h5", "--duration", 0.02, "--fps", 100, "--initial", "0=0.001")
    put("three.json", '{"look": 1, "materials": {"red paint": {}, "leaf": {"image": "leaf.png", "wrap": "clamp", "alpha": "blend", "opacity": 0.5}}, '
        '"objects": [{"object": 1, "tint": [0.5, 1, 1]}]}')
    run("modaldeform", "f.h5", "three", "--format", "obj", "--look", "three.json")
    with open("three/sequence.mtl") as f:
        text = f.read()
    must([line[7:] for line in text.split("\n") if line.startswith("newmtl")] == ["red paint", "leaf", "red paint 2", "leaf 2"], text)
    must("map_Kd -clamp on ../leaf.png\nmap_d -clamp on ../leaf.png\n" in text and "d 0.5\n" in text and "Kd 0.5 1 1\n" in text, text)
    with open("three/obj/000000.obj") as f:
        must(sum(line.startswith("vt ") for line in f) == len(vt), "texture coordinates of a shape are there for each object")


def refuse_looks():
    def refused(change, says, code=3, *words):
        look = {"look": 1, "materials": {"red paint": {}, "leaf": {"image": "leaf.png"}}}
        change(look)
        with open("w.json", "w") as f:
            json.dump(look, f)
        run("modaldeform", "t.h5", "w", "--format", "glb", "--look", "w.json", *words, code=code, says=says)
        must(not os.path.exists("w"), "w is there")

    refused(lambda k: k["materials"].pop("leaf"), ": no material for the name leaf, and no default")
    refused(lambda k: k["materials"]["leaf"].update(image="gone.png"), "gone.png: cannot open")
    refused(lambda k: k["materials"]["leaf"].update(image="box.obj"), "box.obj: neither a PNG nor a JPEG")
    refused(lambda k: k.update(objects=[{"object": 1}]), "w.json: objects: there are objects 0 .. 0, 1")
    refused(lambda k: k.update(shapes=[{"shape": 0, "ranges": [{"first": 30, "count": 7, "material": "leaf"}]}]), "shape 0 has 36 triangles, 37")
    refused(lambda k: k.update(colour=1), "w.json:1: /colour: unknown key")
    with open("leaf.png", "rb") as f, open(os.path.join(repository, "tests/files/images/good-colours.jpg"), "rb") as g:
        whole = {"whole.png": f.read(), "whole.jpg": g.read()}
    for name, body in whole.items():
        kept = os.path.join("images_cut", name)
        os.makedirs("images_cut", exist_ok=True)
        put("images_cut/l.json", json.dumps({"look": 1, "materials": {"a": {"image": name}}, "default": "a", "shapes": [
            {"shape": 0, "names": {"red paint": "a", "leaf": "a"}}]}))
        page = lacking.has_tool(binaries, "modalview")
        for cut in (len(body), len(body) - 1, len(body) // 2, 8):
            with open(kept, "wb") as f:
                f.write(body[:cut])
            for words in (("modaldeform", "t.h5", "w", "--format", "glb"), ("modalview", "t.h5", "w.html"))[:1 + page]:
                run(*words, "--look", "images_cut/l.json", code=0 if cut == len(body) else 3, says="" if cut == len(body) else name)
                must(os.path.exists(words[2]) == (cut == len(body)), words, cut)
                shutil.rmtree("w", ignore_errors=True)
                os.path.exists("w.html") and os.remove("w.html")
        with open(kept, "wb") as f:
            f.write(body + b"\0" * 100) # more behind the end is another matter
        run("modaldeform", "t.h5", "w", "--format", "glb", "--look", "images_cut/l.json")
        shutil.rmtree("w")
    run("modaldeform", "t.h5", "w", "--look", "box.obj", "--format", "ply,pc2", code=2, says="--look: only glb, obj and vtkhdf have room for it")
    run("modaldeform", "t.h5", "w", "--any-path", "--format", "glb", code=2, says="--any-path: only with --look")
    # uv outside of [0, 1], and no uv at all
    with open("box.obj") as f:
        text = f.read()
    put("wide.obj", text.replace("vt 1.0 1.0", "vt 1.5 1.0"))
    put("bare.obj", "\n".join(" ".join(w.split("/")[0] for w in line.split()) for line in text.replace("box.mtl", "").split("\n")
                              if not line.startswith("vt")) + "\n")
    for name in ("wide", "bare"):
        run("modalpack", "box.node", f"{name}.h5", "--surface", f"{name}.obj", "--modes", 3, *RUBBER)
        run("modalsim", f"{name}.h5", f"{name}_t.h5", "--duration", 0.1, "--fps", 100, "--initial", "0=0.001")
    put("none.json", '{"look": 1, "materials": {"red paint": {}, "leaf": {"image": "leaf.png", "wrap": "none"}}}')
    run("modaldeform", "wide_t.h5", "w", "--format", "glb", "--look", "none.json", code=3, says="has wrap none, and shape 0, triangle")
    run("modaldeform", "t.h5", "w1", "--format", "glb", "--look", "none.json")
    run("modaldeform", "bare_t.h5", "w", "--format", "glb", "--look", "none.json", code=3,
        says="material leaf has an image, and shape 0 (solid) has no texture coordinates")


if __name__ == "__main__":
    looks.main(globals())
