# SPDX-License-Identifier: Apache-2.0
"""Runs in Blender: blender --background --factory-startup --python trajectory_in_blender.py -- ADDON JOBS.json TO; ADDON is the folder modaltools_import.
Runs the jobs in order with the add-on and writes what they find to TO (.npz). A job: {"do": ..., "as": key, ...}."""
import hashlib
import json
import os
import sys
import time

import bpy
import numpy as np

addon, jobs, to = sys.argv[sys.argv.index("--") + 1:]
sys.path.insert(0, os.path.dirname(addon))
import modaltools_import as ours  # noqa: E402

found = {}


def tuples(things):
    return {name for name in dir(things) if name.startswith(("IMPORT_SCENE_OT_modaltools", "MODALTOOLS_", "VIEW3D_PT_modaltools", "Modaltools"))}


def positions(evaluated=True):
    """World positions of all imported objects, by their numbers of points."""
    parts = []
    graph = bpy.context.evaluated_depsgraph_get()
    for thing in bpy.data.objects:
        if "modaltools_first" not in thing.keys():
            continue
        mesh = thing.evaluated_get(graph).to_mesh() if evaluated else thing.data
        x = np.empty(3 * len(mesh.vertices), "f4")
        mesh.vertices.foreach_get("co", x)
        x = x.reshape(-1, 3)
        turn = np.array(thing.matrix_world)
        if not np.array_equal(turn, np.eye(4)):
            x = x @ turn[:3, :3].T + turn[:3, 3]
        firsts, count = ours.points_of(thing)
        parts += [(first, x[k * count:(k + 1) * count]) for k, first in enumerate(firsts)]
    return np.concatenate([x for _, x in sorted(parts, key=lambda part: part[0])])


def do_empty(job):
    bpy.ops.wm.read_factory_settings(use_empty=True)


def do_import(job):
    kept = sys.stderr
    try:
        found[f"{job['as']}/ended"] = np.array(sorted(bpy.ops.import_scene.modaltools(filepath=job["file"], **job.get("options", {})))[0])
        found[f"{job['as']}/said"] = np.array("")
    except RuntimeError as error:  # a report of an error, to a script
        found[f"{job['as']}/ended"], found[f"{job['as']}/said"] = np.array("CANCELLED"), np.array(str(error))
    sys.stderr = kept
    found[f"{job['as']}/objects"] = np.array(len(bpy.data.objects))
    found[f"{job['as']}/collections"] = np.array([c.name for c in bpy.data.collections])


def do_frames(job):
    for frame in job["frames"]:
        bpy.context.scene.frame_set(int(frame), subframe=frame - int(frame))
        found[f"{job['as']}/{frame}"] = positions()
    found[f"{job['as']}/range"] = np.array([bpy.context.scene.frame_start, bpy.context.scene.frame_end])


def do_link(job):
    for name, value in job["values"].items():
        setattr(ours.linked()[0].modaltools, name, value)


def do_describe(job):
    """What meshes have beside their positions."""
    things = [o for o in bpy.data.objects if "modaltools_first" in o.keys()]
    mesh = things[0].data
    key = job["as"]
    found[f"{key}/smooth"] = np.array([p.use_smooth for p in mesh.polygons])
    found[f"{key}/polygons"] = np.array([len(p.vertices) for p in mesh.polygons])
    found[f"{key}/corners"] = np.array([v for p in mesh.polygons for v in p.vertices])
    found[f"{key}/slots"] = np.array([m.name for m in mesh.materials])
    found[f"{key}/slot_of"] = np.array([p.material_index for p in mesh.polygons])
    found[f"{key}/materials"] = np.array([m.name for m in bpy.data.materials])
    if mesh.uv_layers.active is not None:
        uv = np.empty(2 * len(mesh.loops), "f4")
        mesh.uv_layers.active.data.foreach_get("uv", uv)
        found[f"{key}/uv"] = uv.reshape(-1, 2)
    numbers = []
    for thing in things:
        if "object" in thing.data.attributes:
            numbers.append(np.empty(len(thing.data.vertices), "i4"))
            thing.data.attributes["object"].data.foreach_get("value", numbers[-1])
    found[f"{key}/object"] = np.concatenate(numbers) if numbers else np.empty(0, "i4")
    if "velocity" in mesh.attributes:
        velocity = np.empty(3 * len(mesh.vertices), "f4")
        mesh.attributes["velocity"].data.foreach_get("vector", velocity)
        found[f"{key}/velocity"] = velocity.reshape(-1, 3)
    found[f"{key}/modifiers"] = np.array([m.type for m in things[0].modifiers])
    link = ours.linked()[0].modaltools
    found[f"{key}/link"] = np.array([link.path, link.basis, link.message])
    found[f"{key}/meshes"] = np.array(len(things))


def do_find(job):
    """What the file dialog of a basis that has moved does with the file that is chosen: of an import, or of the panel."""
    things = [o for o in bpy.data.objects if "modaltools_first" in o.keys()]
    bpy.context.view_layer.objects.active = things[0] if things else None
    found[f"{job['as']}/ended"] = np.array(sorted(bpy.ops.modaltools.find_basis(filepath=job["basis"], trajectory=job.get("trajectory", "")))[0])


def do_bake(job):
    found[f"{job['as']}/keys"] = np.array(ours.bake(ours.linked()[0], bpy.context.scene))


def do_unbake(job):
    ours.unbake(ours.linked()[0])


def do_subdivide(job):
    """A modifier, as an artist adds one."""
    thing = next(o for o in bpy.data.objects if "modaltools_first" in o.keys())
    thing.modifiers.new("smooth", "SUBSURF").levels = 1


def do_save(job):
    bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(job["file"]))
    if job.get("relative"):
        ours.set_link(ours.linked()[0], ours.linked()[0].modaltools.path, ours.linked()[0].modaltools.basis)
        bpy.ops.wm.save_mainfile()


def do_load(job):
    bpy.ops.wm.open_mainfile(filepath=os.path.abspath(job["file"]))


def do_render(job):
    """Frames by Cycles; the hash of each picture's pixels, and how much the picture shows."""
    scene = bpy.context.scene
    if scene.camera is None:
        x = positions()
        middle, size = (x.min(0) + x.max(0)) / 2, np.ptp(x, 0).max()
        camera = bpy.data.objects.new("eye", bpy.data.cameras.new("eye"))
        camera.data.type, camera.data.ortho_scale, camera.data.clip_end = "ORTHO", 1.2 * size, 20 * size
        import mathutils
        away = mathutils.Vector((0.5, -0.7, 0.6)).normalized()
        camera.location = mathutils.Vector([float(m) for m in middle]) + away * 5 * float(size)
        camera.rotation_euler = away.to_track_quat("Z", "Y").to_euler()
        scene.collection.objects.link(camera)
        scene.camera = camera
        sun = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
        sun.rotation_euler, sun.data.energy = (0.6, 0.3, 0), 3
        scene.collection.objects.link(sun)
        scene.render.engine = "CYCLES"
        scene.cycles.samples, scene.cycles.seed, scene.cycles.use_denoising = 4, 1, False
        scene.render.resolution_x = scene.render.resolution_y = 96
        scene.render.image_settings.file_format = "PNG"
    scene.render.use_motion_blur = job.get("blur", False)
    for frame in job["frames"]:
        scene.frame_set(frame)
        scene.render.filepath = os.path.abspath(f"{job['as']}_{frame}.png")
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(scene.render.filepath)
        pixels = np.array(image.pixels[:], "f4")
        bpy.data.images.remove(image)
        found[f"{job['as']}/{frame}/hash"] = np.array(hashlib.sha256(pixels.tobytes()).hexdigest())
        found[f"{job['as']}/{frame}/pixels"] = pixels.reshape(96, 96, -1)


def do_times(job):
    """Seconds of processor time of the import, and of the handler a frame."""
    start = time.process_time()
    bpy.ops.import_scene.modaltools(filepath=job["file"], **job.get("options", {}))
    found[f"{job['as']}/import"] = np.array(time.process_time() - start)
    scene, collection, spent, whole = bpy.context.scene, ours.linked()[0], [], []
    for i in range(job.get("frames", 12)):
        start = time.process_time()
        ours.show(collection, i % (scene.frame_end + 1), scene)
        spent.append(time.process_time() - start)
    for i in range(job.get("frames", 12)):
        start = time.process_time()
        scene.frame_set(i % (scene.frame_end + 1))
        whole.append(time.process_time() - start)
    found[f"{job['as']}/handler"], found[f"{job['as']}/frame_set"] = np.array(spent), np.array(whole)
    found[f"{job['as']}/vertices"] = np.array(sum(len(o.data.vertices) for o in ours.things_of(collection)))


def do_last(job):
    """Seconds of processor time, and of the clock, until the handler has shown every frame; the import included."""
    begin, clock = time.process_time(), time.perf_counter()
    bpy.ops.import_scene.modaltools(filepath=job["file"])
    scene, collection = bpy.context.scene, ours.linked()[0]
    for i in range(scene.frame_end + 1):
        ours.show(collection, i, scene)
    found[f"{job['as']}/wall"] = np.array([time.process_time() - begin, time.perf_counter() - clock])


def handlers():
    return [h.__name__ for held in (bpy.app.handlers.frame_change_pre, bpy.app.handlers.load_post) for h in held if h.__name__.startswith("modaltools")]


before = tuples(bpy.types)
ours.register()
registered = tuples(bpy.types)
with open(jobs, encoding="utf-8") as listed:
    for job in json.load(listed):
        globals()[f"do_{job['do']}"](job)
held = handlers()
ours.unregister()
found["registered"] = np.array(sorted(registered - before) + sorted(held))
found["left"] = np.array(sorted(tuples(bpy.types) - before) + handlers() + (["Collection.modaltools"] if hasattr(bpy.types.Collection, "modaltools") else []))
ours.register()  # and once more
ours.unregister()
np.savez(to, **found)
