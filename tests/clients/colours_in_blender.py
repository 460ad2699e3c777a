# SPDX-License-Identifier: Apache-2.0
"""Runs inside Blender: blender --background --factory-startup --python colours_in_blender.py -- FILE.ply TO
Writes to TO (.npz) the vertices that Blender has read, in the file's axes, and their colours, 0 to 255 as the file has them."""
import sys

import bpy
import numpy

path, to = sys.argv[sys.argv.index("--") + 1:]
bpy.ops.wm.read_factory_settings(use_empty=True)
if "ply_import" in dir(bpy.ops.wm):  # since Blender 3.6
    bpy.ops.wm.ply_import(filepath=path, forward_axis="Y", up_axis="Z")
else:
    bpy.ops.import_mesh.ply(filepath=path)
(mesh,) = bpy.data.meshes
(colours,) = mesh.color_attributes
x = numpy.array([tuple(v.co) for v in mesh.vertices])
rgb = numpy.array([tuple(c.color_srgb)[:3] for c in colours.data])
if colours.domain == "CORNER":
    at = numpy.array([loop.vertex_index for loop in mesh.loops])
    by_vertex = numpy.full((len(x), 3), numpy.nan)
    by_vertex[at] = rgb
    assert numpy.array_equal(by_vertex[at], rgb), "corners of a vertex have one colour"
    rgb = by_vertex
numpy.savez(to, x=x, rgb=255 * rgb)
