# SPDX-License-Identifier: Apache-2.0
"""The artist's own mesh in place of the imported one."""
import os

import bpy
import numpy as np

from .files import FAULTS
from .play import mark


def use_own(context, collection, motion, path):
    """Puts the artist's mesh of an .obj into the collection, for the one object."""
    before = set(bpy.data.objects)
    if motion.n_objects != 1:
        raise ValueError(f"{path}: an own mesh is for one object, not for {motion.n_objects}")
    if not os.path.exists(bpy.path.abspath(path)):
        raise FileNotFoundError(f"{path}: is not there")
    bpy.ops.wm.obj_import(filepath=bpy.path.abspath(path), forward_axis="Y", up_axis="Z")
    things = [o for o in bpy.data.objects if o not in before]
    meshes = [o for o in things if o.type == "MESH"]
    try:
        if len(meshes) != 1:
            raise ValueError(f"{path}: has {len(meshes)} objects with a mesh, not one")
        fit(meshes[0], motion, path)
    except FAULTS:
        for thing in things:
            bpy.data.objects.remove(thing)
        raise
    adopt(meshes[0], motion, collection)


def fit(thing, motion, name):
    """ValueError unless the mesh has the vertices of the one object's rest surface, in their order."""
    rest = motion.skin(int(motion.object_shapes[0])).rest
    own = np.empty(3 * len(thing.data.vertices), np.float32)
    thing.data.vertices.foreach_get("co", own)
    if motion.n_objects != 1 or own.size != rest.size:
        raise ValueError(f"{name}: has {own.size // 3} vertices, the trajectory's object {len(rest)}: it is not what modalpack --surface had")
    off = np.abs(own.reshape(-1, 3) - rest).max()
    if not off <= 1e-4 * np.linalg.norm(np.ptp(rest, axis=0)):
        raise ValueError(f"{name}: vertices are off by {off:.3g} m from the surface at rest: it is not what modalpack --surface had, or it was moved")


def adopt(thing, motion, collection):
    thing.matrix_basis.identity()
    thing.data.polygons.foreach_set("use_smooth", np.ones(len(thing.data.polygons), bool))
    mark(thing, motion.first_points[:1], len(thing.data.vertices))
    for other in list(thing.users_collection):
        other.objects.unlink(thing)
    collection.objects.link(thing)
