# SPDX-License-Identifier: Apache-2.0
"""Runs in pvpython: trajectory_in_paraview.py PLUGIN JOBS.json TO. Loads the plugin as ParaView does, runs the jobs in order and
writes what they find to TO (.npz). A job: {"do": ..., "as": key, ...}; see the functions."""
import inspect
import json
import sys
import time

if not hasattr(inspect, "getargspec"):  # Debian 12: docs/paraview.md
    inspect.getargspec = inspect.getfullargspec

import numpy as np
from paraview import servermanager, simple
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOImage import vtkPNGReader

plugin, jobs, to = sys.argv[1:]
simple.LoadPlugin(plugin, remote=False, ns=globals())
simple._DisableFirstRenderCameraReset()
KINDS = {"trajectory": lambda **p: modaltoolstrajectory(**p), "basis": lambda **p: modaltoolsbasis(**p)}  # noqa: F821
found, readers = {}, {}


def leaves(data):
    """[(name, data set)]"""
    if not data.IsA("vtkCompositeDataSet"):
        return [("", data)]
    return [(data.GetMetaData(i).Get(data.NAME()), data.GetBlock(i)) for i in range(data.GetNumberOfBlocks())]


def arrays_of(data, key):
    found[f"{key}/Points"] = vtk_to_numpy(data.GetPoints().GetData()).copy()
    for part, arrays in (("", data.GetPointData()), ("cells/", data.GetCellData())):
        for k in range(arrays.GetNumberOfArrays()):
            found[f"{key}/{part}{arrays.GetArrayName(k)}"] = vtk_to_numpy(arrays.GetArray(k)).copy()
    cells = data.GetPolys() if data.IsA("vtkPolyData") else data.GetCells()
    found[f"{key}/connectivity"] = vtk_to_numpy(cells.GetConnectivityArray()).copy()
    if not data.IsA("vtkPolyData"):
        found[f"{key}/types"] = np.array([data.GetCellType(k) for k in range(data.GetNumberOfCells())])


def do_open(job):
    """A reader with its properties, kept by a name."""
    of = job.get("properties", {})
    readers[job["as"]] = reader = KINDS[job["kind"]](FileName=job["file"], **of)
    do_arrays(job, reader)
    reader.UpdatePipelineInformation()
    found[f"{job['as']}/times"] = np.array(list(reader.TimestepValues or []))


def do_arrays(job, reader=None):
    reader = reader or readers[job["reader"]]
    for name in job.get("arrays", []):
        held = list(reader.Arrays)
        reader.Arrays = [*held, name] if name not in held else held


def do_set(job):
    for name, value in job["properties"].items():
        setattr(readers[job["reader"]], name, value)


def do_frames(job):
    """Times by number: every block of each; with names."""
    reader = readers[job["reader"]]
    for i in job["frames"]:
        reader.UpdatePipeline(list(reader.TimestepValues)[i])
        data = leaves(servermanager.Fetch(reader))
        found[f"{job['as']}/{i}/names"] = np.array([name for name, _ in data])
        for k, (_, block) in enumerate(data):
            arrays_of(block, f"{job['as']}/{i}/{k}")


def do_warp(job):
    """Warp By Vector of points at rest; a point over time; a selection of it."""
    reader = readers[job["reader"]]
    warped = simple.WarpByVector(Input=reader, Vectors=["POINTS", "from_rest"])
    warped.UpdatePipeline(list(reader.TimestepValues)[job["frame"]])
    arrays_of(leaves(servermanager.Fetch(warped))[0][1], f"{job['as']}/warped")
    chosen = simple.CompositeDataIDSelectionSource(IDs=[1, 0, job["point"]], FieldType="POINT")
    line = simple.PlotSelectionOverTime(Input=reader, Selection=chosen)
    line.OnlyReportSelectionStatistics = 0
    line.UpdatePipeline()
    found[f"{job['as']}/line"] = vtk_to_numpy(servermanager.Fetch(line).GetBlock(0).GetRowData().GetArray("displacement")).copy()
    extracted = simple.ExtractSelection(Input=reader, Selection=chosen)
    extracted.UpdatePipeline(list(reader.TimestepValues)[job["frame"]])
    found[f"{job['as']}/extracted"] = vtk_to_numpy(leaves(servermanager.Fetch(extracted))[0][1].GetPoints().GetData()).copy()


def do_picture(job):
    """Of a reader, or of a file that ParaView opens by itself, at a time, from one place."""
    view = simple.CreateView("RenderView")
    view.ViewSize, view.OrientationAxesVisibility = [200, 200], 0
    source = readers[job["reader"]] if "reader" in job else simple.Xdmf3ReaderS(FileName=job["file"])
    source.UpdatePipelineInformation()
    shown = simple.Show(source, view)
    scene = simple.GetAnimationScene()
    scene.UpdateAnimationUsingDataTimeSteps()
    scene.AnimationTime = list(source.TimestepValues)[job["frame"]]  # from another time, as a user comes to it
    shown.Representation = "Surface"
    shown.ColorArrayName, shown.Interpolation = ["POINTS", ""], "Flat"  # XDMF does not say that Normals are the normals
    view.CameraParallelProjection = 1
    view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = job["eye"], job["at"], [0, 0, 1]
    view.CameraParallelScale = job["scale"]
    simple.Render(view)
    simple.SaveScreenshot(job["as"] + ".png", view, ImageResolution=[200, 200])
    simple.Delete(view)
    picture = vtkPNGReader()
    picture.SetFileName(job["as"] + ".png")
    picture.Update()
    found[job["as"]] = vtk_to_numpy(picture.GetOutput().GetPointData().GetScalars()).reshape(200, 200, -1)[..., :3].copy()


def do_state(job):
    """Saves the state with the readers in it, forgets all, loads it again, and keeps the readers by their old names."""
    simple.SaveState(job["file"])
    names = {name: (readers[name].FileName, readers[name].Mesh) for name in job["readers"]}
    readers.clear()
    simple.ResetSession()
    simple.LoadPlugin(plugin, remote=False, ns=globals())
    simple.LoadState(job["file"])
    for reader in simple.GetSources().values():
        for name, which in names.items():
            if (getattr(reader, "FileName", None), getattr(reader, "Mesh", None)) == which:
                readers[name] = reader


def do_times(job):
    """Seconds of processor time until the first frame, and of the steps after it; seconds of all."""
    begin, wall = time.process_time(), time.perf_counter()
    reader = simple.Xdmf3ReaderS(FileName=job["file"]) if job["file"].endswith(".xdmf") else KINDS["trajectory"](FileName=job["file"])
    if "without" in job:
        reader.Arrays = [name for name in reader.Arrays if name not in job["without"]]
    reader.UpdatePipelineInformation()
    times = list(reader.TimestepValues)
    reader.UpdatePipeline(times[0])
    found[f"{job['as']}/opening"] = np.array(time.process_time() - begin)
    steps = []
    for t in times[1:job.get("steps", 10) + 1]:
        start = time.process_time()
        reader.UpdatePipeline(t)
        steps.append(time.process_time() - start)
    found[f"{job['as']}/steps"], found[f"{job['as']}/wall"] = np.array(steps), np.array([time.process_time() - begin, time.perf_counter() - wall])


with open(jobs, encoding="utf-8") as listed:
    for job in json.load(listed):
        globals()[f"do_{job['do']}"](job)
np.savez(to, **found)
