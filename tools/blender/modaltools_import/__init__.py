# SPDX-License-Identifier: Apache-2.0
"""modaltools in Blender: imports traj.h5 with its basis as meshes whose frames are computed when they are shown; docs/blender.md.

A collection keeps the link (relative to the .blend) and how it is played; a handler writes the vertices of the frame. Without the
handler, baked shape keys move the same meshes. Blender 3.4 to 4.x. The Python package modaltools (tools/python) is found on
Python's path, in MODALTOOLS_PYTHON, in the add-on's preferences, or where an installation or the source tree has it beside this folder."""
import bpy

from . import files, panel, play
from .keys import bake, unbake
from .meshes import set_link
from .play import linked, points_of, show, things_of

bl_info = {"name": "modaltools trajectory", "author": "the developers of modaltools", "version": (0, 1, 0), "blender": (3, 4, 0),
           "location": "File > Import > modaltools trajectory (.h5)", "category": "Import-Export",
           "description": "Deforming objects from traj.h5 and basis.h5, without a file of frames"}

__all__ = ["bake", "linked", "points_of", "register", "set_link", "show", "things_of", "unbake", "unregister"]


def register():
    for kind in panel.CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.Collection.modaltools = bpy.props.PointerProperty(type=panel.ModaltoolsLink)
    bpy.types.TOPBAR_MT_file_import.append(panel.draw_import)
    bpy.app.handlers.frame_change_pre.append(play.modaltools_on_frame)
    bpy.app.handlers.load_post.append(play.modaltools_on_load)


def unregister():
    bpy.app.handlers.load_post.remove(play.modaltools_on_load)
    bpy.app.handlers.frame_change_pre.remove(play.modaltools_on_frame)
    bpy.types.TOPBAR_MT_file_import.remove(panel.draw_import)
    del bpy.types.Collection.modaltools
    for kind in reversed(panel.CLASSES):
        bpy.utils.unregister_class(kind)
    files.forget()
    play.SAID.clear()
