# SPDX-License-Identifier: Apache-2.0
"""Properties, operators and the panel."""
import bpy
from bpy_extras.io_utils import ImportHelper

from .files import FAULTS, forget, motion_held, motion_of, text_of
from .keys import bake, unbake
from .meshes import JOIN_ABOVE, make_collection, remove, set_link, set_scene
from .own import adopt, fit, use_own
from .play import SAID, linked, refresh, show, show_or_say, things_of


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
    bl_idname = __package__
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
        forget()
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
        held = motion_held(link.path, link.basis)
        names = ("mode", "share", "offset", "slow_motion") if held and held.is_basis else ("amplitude", "offset", "slow_motion", "clock")
        for name in (*names, "motion_blur"):
            layout.prop(link, name)
        layout.operator("modaltools.bake" if link.plays else "modaltools.unbake")
        layout.operator("modaltools.use_active")


def draw_import(self, _context):
    self.layout.operator(IMPORT_SCENE_OT_modaltools.bl_idname, text="modaltools trajectory (.h5)")


CLASSES = (ModaltoolsLink, ModaltoolsPreferences, IMPORT_SCENE_OT_modaltools, MODALTOOLS_OT_reload, MODALTOOLS_OT_bake, MODALTOOLS_OT_unbake,
           MODALTOOLS_OT_relative, MODALTOOLS_OT_use_active, MODALTOOLS_OT_find_basis, VIEW3D_PT_modaltools)
