# SPDX-License-Identifier: Apache-2.0
"""Runs inside Blender: blender --background --factory-startup --python own_mesh_in_blender.py -- OWN.obj FOLDER FRAMES FPS TO
Lays the point caches of FOLDER on OWN.obj and writes to TO (.npz) what Blender then shows: positions in our axes, and the
polygons, texture coordinates and materials of the evaluated mesh. The modifier goes by frames, and by time at FPS frames a second."""
import os
import sys

import bpy
import numpy

own, folder, frames, fps, to = sys.argv[sys.argv.index("--") + 1:]
found = {}
for kind, mode in (("pc2", "FRAME"), ("mdd", "FRAME"), ("mdd", "TIME")):  # a pc2 has no times
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = int(fps)
    bpy.ops.wm.obj_import(filepath=own, forward_axis="Y", up_axis="Z")
    (thing,) = [o for o in bpy.context.scene.objects if o.type == "MESH"]
    cache = thing.modifiers.new("cache", "MESH_CACHE")
    cache.cache_format, cache.filepath = kind.upper(), os.path.join(folder, f"sequence.{kind}")
    cache.forward_axis, cache.up_axis = "POS_Y", "POS_Z"
    cache.frame_start = 0
    cache.time_mode = mode
    points = []
    for i in range(int(frames)):
        bpy.context.scene.frame_set(i)
        mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        x = numpy.empty(3 * len(mesh.vertices), "f4")
        mesh.vertices.foreach_get("co", x)
        points.append(x.reshape(-1, 3))
        if i == 0:
            found["polygons"] = numpy.array([tuple(p.vertices) for p in mesh.polygons])
            found["materials"] = numpy.array([p.material_index for p in mesh.polygons])
            found["names"] = numpy.array([m.name for m in mesh.materials])
            found["uv"] = numpy.array([tuple(d.uv) for d in mesh.uv_layers.active.data])
    found[f"{kind}/{mode}"] = numpy.stack(points)
numpy.savez(to, **found)
