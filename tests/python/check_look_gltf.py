# SPDX-License-Identifier: Apache-2.0
"""A .glb as a look: its materials and the images inside; modaltex look takes them out; what is refused.
usage: check_look_gltf.py BIN_FOLDER REPOSITORY gltf"""
import json
import os
import shutil
import struct

import looks
from looks import levels, paint_box, repository, sound
from tool_run import must, run


def glb_bytes(description, binary=b""):
    text = json.dumps(description).encode()
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + (struct.pack("<I4s", len(binary), b"BIN\0") + binary if binary else b"")
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def part_gltf():
    paint_box()
    # what modaldeform writes reads as the look that it was made of
    run("modaldeform", "t.h5", "o", "--format", "glb", "--look", "box.obj")
    run("modaldeform", "t.h5", "p", "--format", "glb", "--look", "o/sequence.glb")
    with open("o/sequence.glb", "rb") as f, open("p/sequence.glb", "rb") as g:
        must(f.read() == g.read(), "another file by the look of the first one")
    os.makedirs("l")
    run("modaltex", "look", "o/sequence.glb", "l/look.json", says="1 image beside l/look.json")
    with open("l/look.json") as f:
        look = json.load(f)["materials"]
    must(list(look) == ["red paint", "leaf"] and look["leaf"].get("image") == "leaf.png" and look["red paint"]["diffuse"] == [0.5, 0.25, 0], look)
    with open("leaf.png", "rb") as f, open("l/leaf.png", "rb") as g:
        must(f.read() == g.read(), "the image that was taken out")
    run("modaldeform", "t.h5", "p", "-f", "--format", "glb", "--look", "l/look.json")
    with open("o/sequence.glb", "rb") as f, open("p/sequence.glb", "rb") as g:
        must(f.read() == g.read(), "another file by the look that was taken out")
    run("modaltex", "look", "o/sequence.glb", "l/other.json", code=2, says="l/leaf.png: exists")
    must(sorted(os.listdir("l")) == ["leaf.png", "look.json"], os.listdir("l"))
    run("modaltex", "look", "o/sequence.glb", "l/look.json", "-f")
    run("modaltex", "look", "o/sequence.glb", "l/ranges.json", "--ranges", "-f", code=2, says="--ranges: needs an .obj")
    for at in ("o/sequence.glb", "l/look.json"):
        run("modaltex", "pack", at, "packed.h5", "-f")
        sound("packed.h5")
        must((levels(0, "packed.h5")[0] == levels(0, "packed.h5")[0]).all() and len(levels(0, "packed.h5")) == 7, "levels")
    run("modaldeform", "t.h5", "no", "--format", "obj", "--look", "o/sequence.glb", code=3, says="leaf.png: is no file but inside of the .glb")
    must(not os.path.exists("no"), "no is there")
    look_of_gltf()
    refuse_gltf()


def gltf(**more):
    with open("n.png", "rb") as f:
        png = f.read()
    with open(os.path.join(repository, "tests/files/images/good-grey.jpg"), "rb") as f:
        jpeg = f.read()
    padded = png + bytes(-len(png) % 4)
    description = {"asset": {"version": "2.0"}, "buffers": [{"byteLength": len(padded) + len(jpeg)}],
                   "bufferViews": [{"buffer": 0, "byteLength": len(png)}, {"buffer": 0, "byteOffset": len(padded), "byteLength": len(jpeg)}],
                   "images": [{"bufferView": 0, "mimeType": "image/png", "name": "../b\u00e9.png"}, {"bufferView": 1, "mimeType": "image/jpeg"},
                              {"uri": "l/le%61f.png"}, {"bufferView": 0, "mimeType": "image/png", "name": "../b\u00e9.png"}],
                   "samplers": [{"wrapS": 33071, "wrapT": 33071}, {"wrapS": 33648, "wrapT": 10497}],
                   "textures": [{"source": 0}, {"source": 1, "sampler": 0}, {"source": 2}, {"source": 3}, {"source": 0, "sampler": 1}],
                   "materials": [{"name": "a", "pbrMetallicRoughness": {"baseColorFactor": [0.5, 1, 0, 0.25], "baseColorTexture": {"index": 0},
                                                                        "roughnessFactor": 0.5}, "normalTexture": {"index": 3, "scale": 2},
                                  "alphaMode": "BLEND", "doubleSided": True},
                                 {"name": "a", "pbrMetallicRoughness": {"baseColorTexture": {"index": 1}}, "alphaMode": "MASK", "alphaCutoff": 0.25},
                                 {"pbrMetallicRoughness": {"baseColorTexture": {"index": 2}}}, {"name": "a 2"}]} | more
    return description, padded + jpeg


def look_of_gltf():
    with open("made.glb", "wb") as f:
        f.write(glb_bytes(*gltf()))
    run("modaltex", "look", "made.glb", "made.json", "-f")
    with open("made.json") as f:
        got = json.load(f)["materials"]
    must(list(got) == ["a", "a 2", "material 2", "a 2 2"], list(got))
    must(got["a"] == {"diffuse": [0.5, 1, 0], "shininess": 30, "opacity": 0.25, "alpha": "blend", "two_sided": True, "image": "_._b__.png",
                      "normal_image": "_._b___2.png"}, got["a"])
    must(got["a 2"] == {"shininess": 0, "alpha": "cutout", "cutoff": 0.25, "image": "image_1.jpg", "wrap": "clamp"}, got["a 2"])
    must(got["material 2"] == {"shininess": 0, "image": "l/leaf.png"}, got["material 2"])
    must(os.path.exists("image_1.jpg") and os.path.exists("_._b__.png"), "images")
    os.makedirs("deep", exist_ok=True)
    shutil.copy("made.glb", "deep/made.glb")
    run("modaltex", "look", "deep/made.glb", "deep.json", "-f")
    with open("deep.json") as f:
        must(json.load(f)["materials"]["material 2"]["image"] == "deep/l/leaf.png", "a file's name, seen from the look")
    run("modaltex", "look", "made.glb", "deep/up.json", "-f", code=3, says="its images would not be below the folder of the look")


def refuse_gltf():
    whole = glb_bytes(*gltf())

    def refused(says, content=None, **more):
        with open("bad.glb", "wb") as f:
            f.write(content if content is not None else glb_bytes(*gltf(**more)))
        run("modaldeform", "t.h5", "no", "--format", "glb", "--look", "bad.glb", code=3, says="bad.glb")
        must(not os.path.exists("no"), "no is there")
        got = run("modaltex", "look", "bad.glb", "bad.json", code=3, says=says)
        must(got.stderr.count("\n") == 1 and not os.path.exists("bad.json"), got)

    def material(**more):
        return [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0} | more}}]

    refused("bad.glb: not a binary glTF file", b"x" * 40)
    refused("bad.glb: empty file", b"")
    refused("bad.glb: only version 2 is read, 1", whole[:4] + struct.pack("<I", 1) + whole[8:])
    refused("bad.glb: cut off", whole[:-1])
    refused("bad.glb: cut off in its binary chunk", whole[:8] + struct.pack("<I", len(whole) - 4) + whole[12:-4])
    refused("only glTF 2 is read", asset={"version": "1.0"})
    refused("an extension that is not read, \"KHR_texture_basisu\"", extensionsRequired=["KHR_texture_basisu"])
    refused("/materials: too few items", materials=[])
    refused("KHR_texture_transform is not read", materials=material(extensions={"KHR_texture_transform": {}}))
    refused("the set of uv 1", materials=material(texCoord=1))
    refused("no such item in textures, 9", materials=material(index=9))
    refused("its wraps must be the same", materials=material(index=4))
    refused("not inside of the binary chunk", bufferViews=[{"buffer": 0, "byteOffset": 100, "byteLength": 100000}], materials=material())
    refused("neither a PNG nor a JPEG", bufferViews=[{"buffer": 0, "byteOffset": 1, "byteLength": 60}], materials=material())
    refused("images as data: URIs are not read", images=[{"uri": "data:image/png;base64,AAAA"}], materials=material())
    refused("a path inside of the file's folder", images=[{"uri": "%2e%2e/x.png"}], materials=material())
    refused("a path inside of the file's folder", images=[{"uri": "/etc/passwd"}], materials=material())
    refused("a % without two hexadecimal digits", images=[{"uri": "a%0"}], materials=material())
    refused("numbers in 0 .. 1", materials=[{"pbrMetallicRoughness": {"baseColorFactor": [2, 0, 0, 1]}}])
    refused("none of \"OPAQUE\"", materials=[{"alphaMode": "SOME"}])
    head, text = whole[:20], whole[20:20 + struct.unpack("<I", whole[12:16])[0]]
    refused("duplicate object key", head + text.replace(b'"textures"', b'"samplers"') + whole[20 + len(text):])
    for cut in range(0, len(whole), 97):
        with open("bad.glb", "wb") as f:
            f.write(whole[:cut])
        run("modaltex", "look", "bad.glb", "bad.json", code=3, says="bad.glb")


if __name__ == "__main__":
    looks.main(globals())
