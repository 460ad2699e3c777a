# SPDX-License-Identifier: Apache-2.0
"""Runs in pvpython: silhouette_in_paraview.py SEQUENCE.xdmf FRAME CAMERA.json TO.npy: where the frame's surface is seen, [height, width] of bool, the
upper row first. The camera: eye, target, up, fov (from the lower to the upper edge, rad), size."""
import json
import math
import os
import sys

import numpy as np
from paraview import simple
from paraview.vtk.util.numpy_support import vtk_to_numpy

sequence, frame, camera, to = sys.argv[1:]
with open(camera, encoding="utf-8") as f:
    camera = json.load(f)
reader = simple.Xdmf3ReaderS(FileName=os.path.abspath(sequence))
reader.UpdatePipelineInformation()
simple._DisableFirstRenderCameraReset()
view = simple.CreateView("RenderView")
view.ViewSize = camera["size"]
view.OrientationAxesVisibility = 0
if hasattr(view, "UseColorPaletteForBackground"):
    view.UseColorPaletteForBackground = 0
view.Background = [0, 0, 0]
view.ViewTime = list(reader.TimestepValues)[int(frame)]
shown = simple.Show(reader, view)
shown.Representation = "Surface"
shown.ColorArrayName = ["POINTS", ""]
shown.AmbientColor = shown.DiffuseColor = [1, 1, 1]
shown.Ambient, shown.Diffuse, shown.Specular = 1, 0, 0
view.CameraPosition, view.CameraFocalPoint, view.CameraViewUp = camera["eye"], camera["target"], camera["up"]
view.CameraViewAngle = math.degrees(camera["fov"])

if hasattr(view, "UseFXAA"):
    view.UseFXAA = 0
simple.Render(view)
image = view.SMProxy.CaptureWindow(1)
width, height, _ = image.GetDimensions()
pixels = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, -1)
np.save(to, pixels[::-1, :, 0] > 127)
