# SPDX-License-Identifier: Apache-2.0
"""Shape keys and curves in place of the handler."""
import bpy
import numpy as np
from mathutils import Matrix

from .files import motion_of
from .play import own_points, place_of, points_of, positions_at, things_of, write_vertices


def key_values(motion, link, frames):
    """q [frames, Q] of what is shown, and poses or None."""
    found = [motion.coordinates(place_of(link, motion, f)) for f in frames]
    q = link.amplitude * np.stack([q for q, _ in found])
    return q, None if found[0][1] is None else np.stack([p for _, p in found])


def animate(owner, path, frames, values, index=0):
    """A curve through values at frames, linear between them."""
    action = owner.animation_data.action
    curve = action.fcurves.new(data_path=path, index=index)
    curve.keyframe_points.add(len(frames))
    curve.keyframe_points.foreach_set("co", np.stack([frames, values], axis=1).astype(np.float32).ravel())
    curve.keyframe_points.foreach_set("interpolation", np.full(len(frames), bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["LINEAR"].value,
                                                               np.int32))
    curve.update()


def with_action(owner, name):
    data = owner.animation_data or owner.animation_data_create()
    data.action = bpy.data.actions.new(name)
    if hasattr(data, "action_slot") and hasattr(data.action, "slots"):  # 4.4: an action has slots, and a curve belongs to one
        data.action_slot = data.action.slots.new(owner.id_type if hasattr(owner, "id_type") else "OBJECT", name)


def bake_modes(thing, motion, link, number, frames, q, poses):
    """One object: a key a mode, exact between frames, and its pose on the object. Vertices are in the shape's own axes then."""
    shape, own = int(motion.object_shapes[number]), slice(motion.offsets[number], motion.offsets[number + 1])
    first, count = motion.first_points[number], len(motion.skin(shape).rest)
    pose = motion.rest_poses[number]
    turn = pose[:, :3]
    zero = np.zeros(motion.deformer.n_coordinates)
    rest = motion.skin(shape).rest.astype(np.float32)
    write_vertices(thing.data, rest)
    thing.data.update()
    thing.shape_key_add(name="rest", from_mix=False)
    keys = thing.data.shape_keys
    used = [k for k in range(own.stop - own.start) if np.abs(q[:, own.start + k]).max() > 0]
    for k in used:
        largest = float(np.abs(q[:, own.start + k]).max())  # so values are -1 to 1
        zero[own.start + k] = largest
        moved = motion.deformer.at(zero, displacement=True).displacement[first:first + count]
        zero[own.start + k] = 0
        key = thing.shape_key_add(name=f"mode {k}", from_mix=False)
        key.slider_min, key.slider_max = -1, 1
        key.data.foreach_set("co", np.ascontiguousarray(rest + (moved.astype(float) @ turn).astype(np.float32)).ravel())
    with_action(keys, f"{thing.name} modes")
    for k in used:
        column = q[:, own.start + k]
        animate(keys, f'key_blocks["mode {k}"].value', frames, column / np.abs(column).max())
    place(thing, motion.rest_poses[number][None] if poses is None else poses[:, number], frames)


def place(thing, poses, frames):
    """An object's pose, with curves where it moves."""
    thing.rotation_mode = "QUATERNION"
    turned = [Matrix(p[:, :3]).to_quaternion() for p in poses]
    for a, b in zip(turned, turned[1:]):
        if a.dot(b) < 0:
            b.negate()
    where, turned = poses[:, :, 3], np.array([tuple(t) for t in turned])
    thing.location, thing.rotation_quaternion = where[0], turned[0]
    if len(poses) > 1 and (np.ptp(poses, axis=0) > 0).any():
        with_action(thing, f"{thing.name} pose")
        for k in range(3):
            animate(thing, "location", frames, where[:, k], k)
        for k in range(4):
            animate(thing, "rotation_quaternion", frames, turned[:, k], k)


def bake_frames(thing, motion, link, frames):
    """Any mesh: a key a frame, linear between them."""
    thing.shape_key_add(name=f"frame {frames[0]}", from_mix=False)
    for i, frame in enumerate(frames):
        key = thing.data.shape_keys.key_blocks[0] if i == 0 else thing.shape_key_add(name=f"frame {frame}", from_mix=False)
        key.data.foreach_set("co", np.ascontiguousarray(own_points(thing, positions_at(link, motion, frame)), np.float32).ravel())
    keys = thing.data.shape_keys
    keys.use_relative = False
    for key in keys.key_blocks:
        key.interpolation = "KEY_LINEAR"
    places = [key.frame for key in keys.key_blocks]
    with_action(keys, f"{thing.name} frames")
    animate(keys, "eval_time", np.array(frames, float), np.array(places))


def bake(collection, scene, report=lambda part: None):
    """Shape keys and curves in place of the handler, for all frames of the scene; returns the number of keys."""
    link = collection.modaltools
    motion = motion_of(link.path, link.basis)
    frames = list(range(scene.frame_start, scene.frame_end + 1))
    things = [t for t in things_of(collection) if t.data.shape_keys is None]
    single = not motion.is_basis
    count = 0
    q, poses = key_values(motion, link, frames) if single else (None, None)
    for i, thing in enumerate(things):
        held = thing.data.attributes.get("velocity")
        if held is not None:
            thing.data.attributes.remove(held)
        firsts, _ = points_of(thing)
        whole = all(abs(place_of(link, motion, f) - round(place_of(link, motion, f))) < 1e-6 for f in frames) if single else False
        if single and len(firsts) == 1 and (whole or poses is None):
            bake_modes(thing, motion, link, int(np.searchsorted(motion.first_points, firsts[0])), frames, q, poses)
        else:
            bake_frames(thing, motion, link, frames)
        count += len(thing.data.shape_keys.key_blocks)
        report((i + 1) / len(things))
    link.plays = False
    return count


def unbake(collection):
    """The handler moves the meshes again."""
    for thing in things_of(collection):
        if thing.data.shape_keys is not None:
            thing.shape_key_clear()
        thing.animation_data_clear()
        thing.matrix_basis.identity()
    collection.modaltools.plays = True
