# SPDX-License-Identifier: Apache-2.0
"""The collection of a motion with its meshes, and the link to the files."""
import os

import bpy
import numpy as np

from .files import motion_of
from .play import SWING, mark

JOIN_ABOVE = 500    # objects: then a mesh a shape
MOST_SINGLE = 5000  # objects that may have a mesh each, whatever is asked for

COLOURS = ((0.25, 0.13, 0.06), (0.35, 0.20, 0.09), (0.45, 0.30, 0.12), (0.10, 0.30, 0.05), (0.20, 0.35, 0.60), (0.65, 0.25, 0.20), (0.40, 0.25, 0.50))


def material_named(name, number):
    found = bpy.data.materials.get(name)
    if found is None:
        found = bpy.data.materials.new(name)
        colour = (*COLOURS[number % len(COLOURS)], 1)
        found.diffuse_color = colour
        found.use_nodes = True
        shader = next((n for n in found.node_tree.nodes if n.type == "BSDF_PRINCIPLED"), None)
        if shader is not None:
            shader.inputs["Base Color"].default_value = colour
            shader.inputs["Roughness"].default_value = 0.6
    return found


def slots_of(skin):
    """Names of material slots and the slot of each triangle: materials of the .obj, or groups of the surface, or the solid's materials."""
    slots = np.zeros(len(skin.triangles), np.int32)
    if len(set(skin.materials)) < 2 and skin.triangle_groups:
        names = [skin.materials[0] if skin.materials else skin.name]
        for name, inside in skin.triangle_groups.items():
            if 0 < inside.sum() < len(inside):
                names.append(name)
                slots[inside == 1] = len(names) - 1
        return names, slots
    names = list(skin.materials) or [skin.name]
    if (skin.triangle_material < 0).any():
        names.append(skin.name)
    slots[:] = np.where(skin.triangle_material < 0, len(names) - 1, skin.triangle_material)
    return names, slots


def new_mesh(name, skin, positions, numbers, shape, prefix=""):
    """A mesh of len(numbers) copies of a shape's surface at positions, with what does not move. Names of materials that are not
    the .obj's get the prefix, since other shapes may have the same."""
    copies, n = len(numbers), len(skin.rest)
    triangles = (skin.triangles[None] + n * np.arange(copies)[:, None, None]).reshape(-1, 3)
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(copies * n)
    mesh.vertices.foreach_set("co", np.ascontiguousarray(positions, np.float32).ravel())
    mesh.loops.add(triangles.size)
    mesh.loops.foreach_set("vertex_index", triangles.ravel().astype(np.int32))
    mesh.polygons.add(len(triangles))
    mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
    if not bpy.types.MeshPolygon.bl_rna.properties["loop_total"].is_readonly:  # later it follows from the starts
        mesh.polygons.foreach_set("loop_total", np.full(len(triangles), 3, np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(triangles), bool))
    names, slots = slots_of(skin)
    for i, material in enumerate(names):
        mesh.materials.append(material_named(material if skin.painted else prefix + material, shape + i))
    mesh.polygons.foreach_set("material_index", np.tile(slots, copies))
    if skin.uv is not None:
        layer = mesh.uv_layers.new(name="uv")
        layer.data.foreach_set("uv", np.tile(skin.uv[skin.triangle_uv].reshape(-1, 2).astype(np.float32), (copies, 1)).ravel())
    attribute = mesh.attributes.new("object", "INT", "POINT")
    attribute.data.foreach_set("value", np.repeat(np.array(numbers, np.int32), n))
    mesh.update(calc_edges=True)
    mesh.validate()
    return mesh


def make_collection(context, path, basis, join_above, report, empty=False):
    """A collection with the meshes of a motion at rest, unless it is to be empty, and the link."""
    motion = motion_of(path, basis)
    collection = bpy.data.collections.new(os.path.splitext(os.path.basename(path))[0])
    context.scene.collection.children.link(collection)
    rest = motion.deformer.at(np.zeros(motion.deformer.n_coordinates)).positions
    groups = {}
    if motion.n_objects > min(join_above, MOST_SINGLE):
        for i, shape in enumerate(motion.object_shapes):
            groups.setdefault(int(shape), []).append(i)
        parts = [(f"{motion.shape_names[k]} {k}", k, numbers) for k, numbers in groups.items()]
    else:
        parts = [(motion.shape_names[k] + (f" {i}" if motion.n_objects > 1 else ""), int(k), [i]) for i, k in enumerate(motion.object_shapes)]
    for at, (name, shape, numbers) in enumerate([] if empty else parts):
        skin = motion.skin(shape)
        firsts, count = motion.first_points[numbers], len(skin.rest)
        own = rest[(firsts[:, None] + np.arange(count)).ravel()]
        prefix = f"{motion.shape_names[shape]} {shape} " if motion.n_shapes > 1 else ""
        thing = bpy.data.objects.new(name, new_mesh(name, skin, own, numbers, shape, prefix))
        mark(thing, firsts, count)
        collection.objects.link(thing)
        report(at / len(parts))
    set_link(collection, path, basis)
    return collection, motion


def set_link(collection, path, basis):
    link = collection.modaltools
    link.plays = False  # until both names are there
    for name, value in (("path", path), ("basis", basis)):
        value = bpy.path.abspath(value) if value else ""
        if value and bpy.data.filepath:
            try:
                value = bpy.path.relpath(value)
            except ValueError:  # another drive
                pass
        setattr(link, name, value)
    link.plays = True


def set_scene(scene, motion, link):
    scene.frame_start = int(link.offset)
    scene.frame_end = scene.frame_start + max(1, (SWING if motion.is_basis else len(motion)) - 1)
    if not motion.is_basis and link.clock == "SECONDS":
        seconds = (motion.times[-1] - motion.times[0]) * link.slow_motion
        scene.frame_end = scene.frame_start + max(1, int(np.ceil(seconds * scene.render.fps / scene.render.fps_base - 1e-6)))
    scene.render.use_lock_interface = True  # the handler writes meshes while frames are rendered


def remove(collection):
    for thing in list(collection.objects):
        mesh = thing.data
        bpy.data.objects.remove(thing)
        bpy.data.meshes.remove(mesh)
    bpy.data.collections.remove(collection)
