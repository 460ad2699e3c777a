# SPDX-License-Identifier: Apache-2.0
"""modaltools in Blender: imports traj.h5 with its basis as meshes whose frames are computed when they are shown; docs/blender.md.

A collection keeps the link (relative to the .blend) and how it is played; a handler writes the vertices of the frame. Without the
handler, baked shape keys move the same meshes. Blender 3.4 to 4.x. The Python package modaltools (tools/python) is found on
Python's path, in MODALTOOLS_PYTHON, in the add-on's preferences, or where an installation or the source tree has it beside this file."""
import os
import sys

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy_extras.io_utils import ImportHelper

bl_info = {"name": "modaltools trajectory", "author": "the developers of modaltools", "version": (0, 1, 0), "blender": (3, 4, 0),
           "location": "File > Import > modaltools trajectory (.h5)", "category": "Import-Export",
           "description": "Deforming objects from traj.h5 and basis.h5, without a file of frames"}

JOIN_ABOVE = 500   # objects: then a mesh a shape
MOST_SINGLE = 5000 # objects that may have a mesh each, whatever is asked for
SWING = 32         # frames of a mode's swing
OPEN = {}          # (path, basis): (stamp, Motion)
SAID = {}          # of a collection's name: the last message on the console

COLOURS = ((0.25, 0.13, 0.06), (0.35, 0.20, 0.09), (0.45, 0.30, 0.12), (0.10, 0.30, 0.05), (0.20, 0.35, 0.60), (0.65, 0.25, 0.20), (0.40, 0.25, 0.50))


# ---- the package, and what it opens ----

def package():
    """The module modaltools.motion; ImportError says what is missing."""
    try:
        import modaltools.motion  # noqa: F401
    except ImportError:
        here = os.path.dirname(os.path.abspath(__file__))
        own = bpy.context.preferences.addons.get(__name__)
        for folder in (os.environ.get("MODALTOOLS_PYTHON", ""), bpy.path.abspath(own.preferences.package) if own else "",
                       os.path.join(here, "../python"), "/usr/share/modaltools/python", "/usr/local/share/modaltools/python"):
            if folder and os.path.isdir(os.path.join(folder, "modaltools")):
                sys.path.append(os.path.abspath(folder))
                break
        for name in [name for name in sys.modules if name == "modaltools" or name.startswith("modaltools.")]:
            del sys.modules[name]
    try:
        import modaltools.motion as motion
    except ImportError as error:
        raise ImportError(f"the Python package modaltools cannot be used: {error}. Set its folder in the add-on's preferences, and install h5py "
                          f"and numpy: {sys.executable} -m pip install h5py numpy") from None
    return motion


def motion_of(path, basis=""):
    """The Motion of these files, opened again when they change."""
    motion = package()
    path, basis = (bpy.path.abspath(p) if p else "" for p in (path, basis))
    now = motion.stamp(path, basis)
    held = OPEN.get((path, basis))
    if held is not None and os.path.exists(held[1].basis_path) and held[0] == now + motion.stamp(held[1].basis_path):
        return held[1]
    OPEN.pop((path, basis), None)
    found = motion.Motion(path, basis)
    OPEN[path, basis] = now + motion.stamp(found.basis_path), found
    return found


FAULTS = (ValueError, OSError, ImportError, KeyError, IndexError, MemoryError)


def text_of(error):
    return f"modaltools: {error}" if str(error) else f"modaltools: {type(error).__name__}"


# ---- playing ----

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
    OPEN.clear()
    SAID.clear()
    if bpy.context.scene is not None:
        modaltools_on_frame(bpy.context.scene)


def refresh(link, _context=None):
    collection, scene = link.id_data, bpy.context.scene
    if link.path and link.plays:
        show_or_say(collection, scene.frame_current + scene.frame_subframe, scene)


# ---- making meshes ----

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


def mark(thing, firsts, count):
    thing["modaltools_first"], thing["modaltools_count"] = [int(f) for f in firsts], int(count)


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


# ---- shape keys ----

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
    from mathutils import Matrix
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


# ---- what users see ----

class ModaltoolsLink(bpy.types.PropertyGroup):
    """How a collection shows a trajectory."""

    path: bpy.props.StringProperty(name="Trajectory", subtype="FILE_PATH", update=refresh, description="traj.h5, or basis.h5 for its modes")
    basis: bpy.props.StringProperty(name="Basis", subtype="FILE_PATH", update=refresh,
                                    description="Where the basis is, if it is not where the trajectory says")
    amplitude: bpy.props.FloatProperty(name="Amplitude", default=1, soft_min=0, soft_max=100, update=refresh,
                                       description="Multiplies the displacement")
    offset: bpy.props.FloatProperty(name="Offset", default=0, update=refresh, description="The frame of the scene at which the motion begins")
    slow_motion: bpy.props.FloatProperty(name="Slow motion", default=1, min=1e-3, soft_max=1000, update=refresh,
                                         description="How many times slower; between two frames the motion is linear")
    clock: bpy.props.EnumProperty(name="Clock", default="FRAMES", update=refresh, items=[
        ("FRAMES", "Frames", "A frame of the scene is a frame of the trajectory"), ("SECONDS", "Seconds", "A second of the scene is a second of the trajectory")])
    mode: bpy.props.IntProperty(name="Mode", default=0, min=0, update=refresh, description="Of a basis: which mode swings")
    share: bpy.props.FloatProperty(name="Share", default=0.05, min=0, soft_max=1, update=refresh,
                                   description="Of a basis: the largest displacement, as a share of the diagonal of the shape's box")
    motion_blur: bpy.props.BoolProperty(name="Velocity", default=False, update=refresh,
                                        description="Write the attribute velocity, from which Cycles makes motion blur")
    plays: bpy.props.BoolProperty(default=False, update=refresh)
    message: bpy.props.StringProperty()


class ModaltoolsPreferences(bpy.types.AddonPreferences):
    bl_idname = __name__
    package: bpy.props.StringProperty(name="Folder of the Python package modaltools", subtype="DIR_PATH")

    def draw(self, context):
        self.layout.prop(self, "package")


class IMPORT_SCENE_OT_modaltools(bpy.types.Operator, ImportHelper):
    """Import deforming objects from a trajectory and its basis"""

    bl_idname, bl_label, bl_options = "import_scene.modaltools", "Import modaltools trajectory", {"REGISTER", "UNDO"}
    filename_ext = ".h5"
    filter_glob: bpy.props.StringProperty(default="*.h5", options={"HIDDEN"})
    basis: bpy.props.StringProperty(name="Basis", description="Where the basis is, if it is not where the trajectory says")
    own: bpy.props.StringProperty(name="Own mesh", description="The .obj that modalpack --surface had: its quads, texture coordinates and modifiers stay")
    join_above: bpy.props.IntProperty(name="Join above", default=JOIN_ABOVE, min=1,
                                      description="More objects than these become a mesh for each shape")
    slow_motion: bpy.props.FloatProperty(name="Slow motion", default=1, min=1e-3)
    amplitude: bpy.props.FloatProperty(name="Amplitude", default=1)
    clock: bpy.props.EnumProperty(name="Clock", default="FRAMES", items=[("FRAMES", "Frames", ""), ("SECONDS", "Seconds", "")])
    baked: bpy.props.BoolProperty(name="Bake shape keys", default=False, description="For a .blend that travels without the files and the add-on")
    set_frames: bpy.props.BoolProperty(name="Set the scene's frames", default=True)

    def execute(self, context):
        manager, collection = context.window_manager, None
        manager.progress_begin(0, 100)
        try:
            collection, motion = make_collection(context, self.filepath, self.basis, self.join_above,
                                                 lambda part: manager.progress_update(int(50 * part)), bool(self.own))
            if self.own:
                use_own(context, collection, motion, self.own)
            link = collection.modaltools
            link.amplitude, link.slow_motion, link.clock = self.amplitude, self.slow_motion, self.clock
            if self.set_frames:
                set_scene(context.scene, motion, link)
            if self.baked:
                bake(collection, context.scene, lambda part: manager.progress_update(int(50 + 50 * part)))
            elif not show_or_say(collection, context.scene.frame_current, context.scene):
                raise ValueError(link.message.replace("modaltools: ", "", 1))
        except FAULTS as error:
            if collection is not None:
                remove(collection)
            elif type(error).__name__ == "BasisMissing" and not bpy.app.background and not self.basis:
                bpy.ops.modaltools.find_basis("INVOKE_DEFAULT", trajectory=self.filepath)
            self.report({"ERROR"}, text_of(error))
            return {"CANCELLED"}
        finally:
            manager.progress_end()
        if context.scene.render.use_motion_blur:
            link.motion_blur = True
        self.report({"INFO"}, f"modaltools: {motion.n_objects} objects, {motion.deformer.n_points} vertices, {len(motion)} frames")
        return {"FINISHED"}


def remove(collection):
    for thing in list(collection.objects):
        mesh = thing.data
        bpy.data.objects.remove(thing)
        bpy.data.meshes.remove(mesh)
    bpy.data.collections.remove(collection)


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


def active_link(context):
    """The linked collection of the active object, or the layer's active one."""
    thing = context.active_object
    for collection in (list(thing.users_collection) if thing else []) + [context.collection]:
        if collection is not None and collection.modaltools.path:
            return collection
    return None


class _OnLink(bpy.types.Operator):
    """What the operators of the panel share."""

    @classmethod
    def poll(cls, context):
        return active_link(context) is not None

    def execute(self, context):
        try:
            self.work(context, active_link(context))
        except FAULTS as error:
            self.report({"ERROR"}, text_of(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class MODALTOOLS_OT_reload(_OnLink):
    """Read the files again"""

    bl_idname, bl_label = "modaltools.reload", "Reload"

    def work(self, context, collection):
        OPEN.clear()
        SAID.pop(collection.name, None)
        show(collection, context.scene.frame_current, context.scene)
        collection.modaltools.message = ""


class MODALTOOLS_OT_bake(_OnLink):
    """Shape keys in place of the handler, for all frames of the scene"""

    bl_idname, bl_label, bl_options = "modaltools.bake", "Bake shape keys", {"REGISTER", "UNDO"}

    def work(self, context, collection):
        context.window_manager.progress_begin(0, 100)
        try:
            count = bake(collection, context.scene, lambda part: context.window_manager.progress_update(int(100 * part)))
        finally:
            context.window_manager.progress_end()
        self.report({"INFO"}, f"modaltools: {count} shape keys")


class MODALTOOLS_OT_unbake(_OnLink):
    """Remove the shape keys; the files move the meshes again"""

    bl_idname, bl_label, bl_options = "modaltools.unbake", "Remove shape keys", {"REGISTER", "UNDO"}

    def work(self, context, collection):
        unbake(collection)


class MODALTOOLS_OT_relative(_OnLink):
    """Name the files relative to the .blend"""

    bl_idname, bl_label, bl_options = "modaltools.relative", "Relative links", {"REGISTER", "UNDO"}

    def work(self, context, collection):
        if not bpy.data.filepath:
            raise ValueError("the .blend has no name yet: save it")
        link = collection.modaltools
        set_link(collection, link.path, link.basis)


class MODALTOOLS_OT_use_active(_OnLink):
    """The active mesh, with quads, texture coordinates and modifiers, takes the place of the imported one (modalpack --surface)"""

    bl_idname, bl_label, bl_options = "modaltools.use_active", "Use the active mesh", {"REGISTER", "UNDO"}
    collection: bpy.props.StringProperty(name="Collection", description="The collection with the link; without it the only one there is")

    @classmethod
    def poll(cls, context):
        return context.active_object is not None and context.active_object.type == "MESH" and bool(linked())

    def execute(self, context):
        found = [c for c in linked() if self.collection in ("", c.name)]
        try:
            if len(found) != 1:
                raise ValueError(f"which of {', '.join(c.name for c in linked())}?")
            motion = motion_of(found[0].modaltools.path, found[0].modaltools.basis)
            thing = context.active_object
            fit(thing, motion, thing.name)
            for other in things_of(found[0]):
                if other is not thing:
                    mesh = other.data
                    bpy.data.objects.remove(other)
                    bpy.data.meshes.remove(mesh)
            adopt(thing, motion, found[0])
            show(found[0], context.scene.frame_current, context.scene)
        except FAULTS as error:
            self.report({"ERROR"}, text_of(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class MODALTOOLS_OT_find_basis(bpy.types.Operator, ImportHelper):
    """Choose the basis of a trajectory"""

    bl_idname, bl_label = "modaltools.find_basis", "Find the basis"
    filename_ext = ".h5"
    filter_glob: bpy.props.StringProperty(default="*.h5", options={"HIDDEN"})
    trajectory: bpy.props.StringProperty(options={"HIDDEN"})

    def execute(self, context):
        if self.trajectory:
            return bpy.ops.import_scene.modaltools(filepath=self.trajectory, basis=self.filepath)
        collection = active_link(context)
        if collection is None:
            self.report({"ERROR"}, "modaltools: no trajectory is imported here")
            return {"CANCELLED"}
        set_link(collection, collection.modaltools.path, self.filepath)
        return {"FINISHED"}


class VIEW3D_PT_modaltools(bpy.types.Panel):
    bl_label, bl_category, bl_space_type, bl_region_type = "modaltools", "modaltools", "VIEW_3D", "UI"

    @classmethod
    def poll(cls, context):
        return active_link(context) is not None

    def draw(self, context):
        collection, layout = active_link(context), self.layout
        link = collection.modaltools
        layout.label(text=collection.name)
        if link.message:
            box = layout.box()
            box.alert = True
            for part in link.message.replace("modaltools: ", "", 1).split(": "):
                box.label(text=part)
            box.operator("modaltools.find_basis")
        layout.prop(link, "path")
        layout.prop(link, "basis")
        row = layout.row(align=True)
        row.operator("modaltools.reload")
        row.operator("modaltools.relative")
        held = OPEN.get((bpy.path.abspath(link.path), bpy.path.abspath(link.basis) if link.basis else ""))
        names = ("mode", "share", "offset", "slow_motion") if held and held[1].is_basis else ("amplitude", "offset", "slow_motion", "clock")
        for name in (*names, "motion_blur"):
            layout.prop(link, name)
        layout.operator("modaltools.bake" if link.plays else "modaltools.unbake")
        layout.operator("modaltools.use_active")


def draw_import(self, _context):
    self.layout.operator(IMPORT_SCENE_OT_modaltools.bl_idname, text="modaltools trajectory (.h5)")


CLASSES = (ModaltoolsLink, ModaltoolsPreferences, IMPORT_SCENE_OT_modaltools, MODALTOOLS_OT_reload, MODALTOOLS_OT_bake, MODALTOOLS_OT_unbake,
           MODALTOOLS_OT_relative, MODALTOOLS_OT_use_active, MODALTOOLS_OT_find_basis, VIEW3D_PT_modaltools)


def register():
    for kind in CLASSES:
        bpy.utils.register_class(kind)
    bpy.types.Collection.modaltools = bpy.props.PointerProperty(type=ModaltoolsLink)
    bpy.types.TOPBAR_MT_file_import.append(draw_import)
    bpy.app.handlers.frame_change_pre.append(modaltools_on_frame)
    bpy.app.handlers.load_post.append(modaltools_on_load)


def unregister():
    bpy.app.handlers.load_post.remove(modaltools_on_load)
    bpy.app.handlers.frame_change_pre.remove(modaltools_on_frame)
    bpy.types.TOPBAR_MT_file_import.remove(draw_import)
    del bpy.types.Collection.modaltools
    for kind in reversed(CLASSES):
        bpy.utils.unregister_class(kind)
    OPEN.clear()
    SAID.clear()


if __name__ == "__main__":
    register()
