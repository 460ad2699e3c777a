# SPDX-License-Identifier: Apache-2.0
"""Runs inside Blender: blender --background --factory-startup --python open_in_blender.py -- FOLDER FRAMES FPS TO
Opens what modaldeform has written into FOLDER (times are frame / FPS) and writes the world positions that
Blender shows, in our axes, to TO (.npz)."""
import os
import sys

import numpy

numpy.bool = bool  # Debian 12: Blender 3.4's glTF importer asks numpy 1.24 for it

import bpy  # noqa: E402

folder, frames, fps, to = sys.argv[sys.argv.index("--") + 1:]
frames = int(frames)
found = {}


def clear():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = int(fps)


def meshes():
    return sorted((o for o in bpy.context.scene.objects if o.type == "MESH"), key=lambda o: o.name)


def shown(thing):
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    x = numpy.empty(3 * len(mesh.vertices), "f4")
    mesh.vertices.foreach_get("co", x)
    world = numpy.array(evaluated.matrix_world, "f8")
    corners = [tuple(p.vertices) for p in mesh.polygons]
    evaluated.to_mesh_clear()
    return x.reshape(-1, 3).astype("f8") @ world[:3, :3].T + world[:3, 3], numpy.array(corners)


def all_shown():
    bpy.context.view_layer.update()
    parts = [shown(o) for o in meshes()]
    base = numpy.cumsum([0] + [len(x) for x, _ in parts])
    return (numpy.concatenate([x for x, _ in parts]),
            numpy.concatenate([c + b for (_, c), b in zip(parts, base)]))


def play(name, turn=None):
    points, corners = [], None
    for i in range(frames):
        bpy.context.scene.frame_set(i)
        x, corners = all_shown()
        points.append(x if turn is None else x @ turn)
    found[name], found[name + "/triangles"] = numpy.stack(points), corners


def import_obj(path):
    bpy.ops.wm.obj_import(filepath=path, forward_axis="Y", up_axis="Z")


clear()
bpy.ops.import_scene.gltf(filepath=os.path.join(folder, "sequence.glb"))
play("glb", numpy.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]))  # the importer makes z up: x, -z, y
found["glb/shading"] = numpy.array([len(o.data.shape_keys.key_blocks) if o.data.shape_keys else 0 for o in meshes()])

for kind in ("pc2", "mdd"):
    clear()
    import_obj(os.path.join(folder, "rest.obj"))
    (rest,) = meshes()
    cache = rest.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format = kind.upper()
    cache.filepath = os.path.join(folder, f"sequence.{kind}")
    cache.forward_axis, cache.up_axis = "POS_Y", "POS_Z"
    cache.frame_start = 0
    play(kind)

for kind in ("obj", "ply"):
    points = []
    for i in range(frames):
        clear()
        path = os.path.join(folder, kind, f"{i:06d}.{kind}")
        if kind == "obj":
            import_obj(path)
        else:
            bpy.ops.import_mesh.ply(filepath=path)
        x, corners = all_shown()
        points.append(x)
    found[kind], found[kind + "/triangles"] = numpy.stack(points), corners

numpy.savez(to, **found)
