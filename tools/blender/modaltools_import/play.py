# SPDX-License-Identifier: Apache-2.0
"""What the meshes of a collection show at a frame; the handlers."""
import sys

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .files import FAULTS, forget, motion_of, text_of

SWING = 32  # frames of a mode's swing
SAID = {}   # of a collection's name: the last message on the console


def place_of(link, motion, frame):
    """Where in the trajectory a frame of Blender's is: 7.5 is between the frames 7 and 8."""
    shown = (frame - link.offset) / link.slow_motion
    if link.clock == "FRAMES" or motion.is_basis:
        return shown
    scene = bpy.context.scene.render
    return motion.place_at(motion.times[0] + shown * scene.fps_base / scene.fps)


def positions_at(link, motion, frame):
    """[n_points, 3] of what Blender's frame shows."""
    place = place_of(link, motion, frame)
    if motion.is_basis:
        q = motion.swing(min(link.mode, motion.n_modes - 1), link.amplitude * link.share, 2 * np.pi * place / SWING)
        return motion.deformer.at(q).positions
    return motion.at(place, link.amplitude).positions


def points_of(thing):
    """The numbers of the points that an object of ours shows, as slices: of an object, or of all that were joined."""
    firsts, count = thing["modaltools_first"], thing["modaltools_count"]
    return [int(f) for f in firsts], int(count)


def mark(thing, firsts, count):
    thing["modaltools_first"], thing["modaltools_count"] = [int(f) for f in firsts], int(count)


def write_vertices(mesh, positions):
    if len(mesh.vertices) * 3 != positions.size:
        raise ValueError(f"mesh {mesh.name}: has {len(mesh.vertices)} vertices, not {positions.size // 3}: it was edited")
    flat = np.ascontiguousarray(positions, np.float32).ravel()
    held = mesh.attributes.get("position") if bpy.app.version >= (3, 5, 0) else None
    if held is not None:
        held.data.foreach_set("vector", flat)
    else:
        mesh.vertices.foreach_set("co", flat)


def own_points(thing, positions):
    firsts, count = points_of(thing)
    if len(firsts) == 1:
        return positions[firsts[0]:firsts[0] + count]
    if firsts[-1] - firsts[0] == (len(firsts) - 1) * count:  # one after the other
        return positions[firsts[0]:firsts[0] + len(firsts) * count]
    return positions[(np.array(firsts)[:, None] + np.arange(count)).ravel()]


def things_of(collection):
    return [o for o in collection.objects if o.type == "MESH" and "modaltools_first" in o.keys()]


def show(collection, frame, scene=None):
    """Puts the meshes of a collection into what the frame shows."""
    link = collection.modaltools
    motion = motion_of(link.path, link.basis)
    positions = positions_at(link, motion, frame)
    render = (scene or bpy.context.scene).render
    velocity = None
    if link.motion_blur:  # of what is shown, by the halves of a frame on both sides
        velocity = positions_at(link, motion, frame + 0.5) - positions_at(link, motion, frame - 0.5)
        velocity *= np.float32(render.fps / render.fps_base)
    for thing in things_of(collection):
        if thing.data.shape_keys is not None:
            continue  # baked
        write_vertices(thing.data, own_points(thing, positions))
        held = thing.data.attributes.get("velocity")
        if velocity is not None:
            held = held or thing.data.attributes.new("velocity", "FLOAT_VECTOR", "POINT")
            held.data.foreach_set("vector", np.ascontiguousarray(own_points(thing, velocity)).ravel())
        elif held is not None:
            thing.data.attributes.remove(held)
        thing.data.update()


def linked(scene=None):
    of_scene = None if scene is None else set(scene.collection.children_recursive)
    return [c for c in bpy.data.collections if c.modaltools.path and (of_scene is None or c in of_scene)]


def show_or_say(collection, frame, scene=None):
    """The same; what goes wrong is kept for the panel, and said once. True where it went well."""
    link = collection.modaltools
    try:
        show(collection, frame, scene)
        message = ""
    except FAULTS as error:
        message = text_of(error)
    if message != SAID.get(collection.name, ""):
        SAID[collection.name] = message
        if message:
            print(message, file=sys.stderr, flush=True)
    if link.message != message:
        link.message = message
    return not message


@persistent
def modaltools_on_frame(scene, *_):
    frame = scene.frame_current + scene.frame_subframe
    for collection in linked(scene):
        if collection.modaltools.plays:
            show_or_say(collection, frame, scene)


@persistent
def modaltools_on_load(*_):
    forget()
    SAID.clear()
    if bpy.context.scene is not None:
        modaltools_on_frame(bpy.context.scene)


def refresh(link, _context=None):
    collection, scene = link.id_data, bpy.context.scene
    if link.path and link.plays:
        show_or_say(collection, scene.frame_current + scene.frame_subframe, scene)
