# SPDX-License-Identifier: Apache-2.0
"""In Blender: a model as its own .obj and as our .glb in the first frame: which material each face has, and a picture of the base colours.
CREASED.glb, a box: how far its corners' normals are from its faces'.
usage: blender --background --factory-startup --python-exit-code 1 --python look_in_blender.py -- MODEL.obj MODEL.glb FOUND.npz [CREASED.glb]"""
import os
import sys

import bpy
import mathutils
import numpy as np

np.bool = bool  # Debian 12's importer of glTF
obj, glb, out, *creased = sys.argv[sys.argv.index("--") + 1:]
obj, glb, out = map(os.path.abspath, (obj, glb, out))


def base_colours_only(material):
    """Emission of what the base colour is."""
    tree = material.node_tree
    shader = next(n for n in tree.nodes if n.type == "BSDF_PRINCIPLED")
    emission = tree.nodes.new("ShaderNodeEmission")
    base = shader.inputs["Base Color"]
    if base.is_linked:
        tree.links.new(base.links[0].from_socket, emission.inputs["Color"])
    else:
        emission.inputs["Color"].default_value = base.default_value
    surface = next(n for n in tree.nodes if n.type == "OUTPUT_MATERIAL")
    tree.links.new(emission.outputs[0], surface.inputs["Surface"])


def picture(path):
    scene = bpy.context.scene
    scene.frame_set(0)
    objects = [o for o in scene.objects if o.type == "MESH"]
    corners = np.array([o.matrix_world @ mathutils.Vector(c) for o in objects for c in o.bound_box])
    middle, size = (corners.min(0) + corners.max(0)) / 2, np.ptp(corners, 0).max()
    camera = bpy.data.objects.new("eye", bpy.data.cameras.new("eye"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", 1.2 * size
    away = mathutils.Vector((0.5, -0.7, 0.6)).normalized()
    camera.location = mathutils.Vector(middle) + away * 5 * size
    camera.rotation_euler = away.to_track_quat("Z", "Y").to_euler()
    camera.data.clip_end = 20 * size
    scene.collection.objects.link(camera)
    scene.camera = camera
    for material in bpy.data.materials:
        if material.use_nodes and material.users:
            base_colours_only(material)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.seed, scene.cycles.use_denoising = 64, 1, False
    scene.render.resolution_x = scene.render.resolution_y = 200
    scene.view_settings.view_transform = "Standard"
    scene.render.image_settings.file_format = "PNG"
    scene.render.filepath = path
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(path)
    return np.array(image.pixels[:]).reshape(200, 200, 4)


def faces():
    """{rounded centre: name of the material} of all triangles."""
    found = {}
    graph = bpy.context.evaluated_depsgraph_get()
    bpy.context.scene.frame_set(0)
    for o in bpy.context.scene.objects:
        if o.type != "MESH":
            continue
        mesh = o.evaluated_get(graph).to_mesh()
        mesh.calc_loop_triangles()
        for t in mesh.loop_triangles:
            centre = sum((o.matrix_world @ mesh.vertices[v].co for v in t.vertices), mathutils.Vector()) / 3
            slot = o.material_slots[t.material_index] if o.material_slots else None
            found[tuple(round(x, 4) for x in centre)] = slot.material.name if slot and slot.material else ""
    return found


def normals_off(path):
    """How far the normals of corners are from those of their faces, at most, as lengths of differences; in a file with its rest shape."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=path)
    worst = 0
    for o in bpy.context.scene.objects:
        if o.type != "MESH":
            continue
        o.data.calc_normals_split()
        for polygon in o.data.polygons:
            for i in polygon.loop_indices:
                worst = max(worst, (o.data.loops[i].normal - polygon.normal).length)
    return worst


results = {}
if creased:
    results["normals_off"] = normals_off(os.path.abspath(creased[0]))
for kind, path in (("obj", obj), ("glb", glb)):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    if kind == "obj":
        bpy.ops.wm.obj_import(filepath=path)
    else:
        bpy.ops.import_scene.gltf(filepath=path)
    of = faces()
    results[f"{kind}_faces"] = np.array([[*k] for k in sorted(of)])
    results[f"{kind}_materials"] = np.array([of[k] for k in sorted(of)])
    results[f"{kind}_picture"] = picture(f"{out}.{kind}.png")
np.savez(out, **results)
