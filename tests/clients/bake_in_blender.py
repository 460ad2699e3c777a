# SPDX-License-Identifier: Apache-2.0
"""In Blender: its own bake of vertex colours by the texture coordinates that modaltex has made, the baked PNG, and what a .glb with it has.
usage: blender --background --factory-startup --python-exit-code 1 --python bake_in_blender.py -- MESH.npz BAKED.png BAKED.glb FOUND.npz
MESH.npz: points [n, 3], faces [m, 3], uv [m, 3, 2], colours [n, 3] in linear light."""
import os
import sys

import bpy
import numpy as np

np.bool = bool  # Debian 12's importer of glTF
mesh_path, png, glb, out = map(os.path.abspath, sys.argv[sys.argv.index("--") + 1:])


def pixels(image):
    """[height, width, 4] as the file has them, the lowest row first."""
    values = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(values)
    return values.reshape(image.size[1], image.size[0], 4)


def bake(given, size):
    """The colours of the vertices in linear light, by the uv."""
    mesh = bpy.data.meshes.new("mesh")
    mesh.from_pydata(given["points"].tolist(), [], given["faces"].tolist())
    mesh.uv_layers.new(name="uv").data.foreach_set("uv", given["uv"].reshape(-1).astype(np.float32))
    colours = np.column_stack([given["colours"], np.ones(len(given["colours"]))]).astype(np.float32)
    mesh.color_attributes.new("colours", "FLOAT_COLOR", "POINT").data.foreach_set("color", colours.reshape(-1))
    thing = bpy.data.objects.new("thing", mesh)
    bpy.context.scene.collection.objects.link(thing)
    image = bpy.data.images.new("baked", size, size, alpha=True, float_buffer=True, is_data=True)
    material = bpy.data.materials.new("colours")
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    source, emission, surface, target = (tree.nodes.new(kind) for kind in ("ShaderNodeAttribute", "ShaderNodeEmission", "ShaderNodeOutputMaterial", "ShaderNodeTexImage"))
    source.attribute_name, target.image = "colours", image
    tree.links.new(source.outputs["Color"], emission.inputs["Color"])
    tree.links.new(emission.outputs[0], surface.inputs["Surface"])
    tree.nodes.active = target
    mesh.materials.append(material)
    bpy.context.view_layer.objects.active = thing
    thing.select_set(True)
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 16, False  # Debian has no denoiser: its result is black
    scene.render.bake.margin, scene.render.bake.use_clear = 0, True
    bpy.ops.object.bake(type="EMIT")
    return pixels(image)


bpy.ops.wm.read_factory_settings(use_empty=True)
shown = bpy.data.images.load(png)
shown.colorspace_settings.name = "Non-Color"
found = {"png": pixels(shown)}
with np.load(mesh_path) as given:
    found["baked"] = bake(given, shown.size[0])
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath=glb)
(mesh,) = [o.data for o in bpy.context.scene.objects if o.type == "MESH"]
(material,) = mesh.materials
shader = next(n for n in material.node_tree.nodes if n.type == "BSDF_PRINCIPLED")
image = shader.inputs["Base Color"].links[0].from_node.image
image.colorspace_settings.name = "Non-Color"
found["glb"] = pixels(image)
uv = np.empty(2 * len(mesh.loops), np.float32)
mesh.uv_layers[0].data.foreach_get("uv", uv)
found["glb_uv"] = uv.reshape(-1, 2)
normal = shader.inputs["Normal"]
found["normal_map"] = normal.is_linked and normal.links[0].from_node.type == "NORMAL_MAP"
np.savez(out, **found)
