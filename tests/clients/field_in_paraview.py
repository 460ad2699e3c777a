# SPDX-License-Identifier: Apache-2.0
"""Runs inside pvpython: field_in_paraview.py SEQUENCE FIELD TO. Opens a sequence, colours it by a field of its points with
one range, and writes of each time a picture and the field's sum to TO (.npz)."""
import os
import sys

import numpy as np
from paraview import servermanager, simple
from paraview.vtk.util.numpy_support import vtk_to_numpy

path, field, to = sys.argv[1:4]
simple._DisableFirstRenderCameraReset()
reader = simple.Xdmf3ReaderS(FileName=os.path.abspath(path))
reader.UpdatePipelineInformation()
times = list(reader.TimestepValues)
values = []
for time in times:
    reader.UpdatePipeline(time)
    data = servermanager.Fetch(reader)
    while data.IsA("vtkCompositeDataSet"):
        iterator = data.NewIterator()
        iterator.InitTraversal()
        data = iterator.GetCurrentDataObject()
    values.append(vtk_to_numpy(data.GetPointData().GetArray(field)).astype(float))
view = simple.CreateView("RenderView")
view.ViewSize, view.OrientationAxesVisibility = [240, 180], 0
display = simple.Show(reader, view)
simple.ColorBy(display, ("POINTS", field))
table = simple.GetColorTransferFunction(field)
table.AutomaticRescaleRangeMode = "Never"
table.RescaleTransferFunction(0.0, float(np.max(values)))
view.CameraPosition, view.CameraViewUp = [1, -3, 2], [0, 0, 1]
simple.ResetCamera(view)
pictures = []
for time in times:
    view.ViewTime = time
    simple.Render(view)
    image = view.SMProxy.CaptureWindow(1)
    pictures.append(vtk_to_numpy(image.GetPointData().GetScalars()).reshape(180, 240, -1)[..., :3].copy())
np.savez(to, times=times, sums=[v.sum() for v in values], most=[v.max() for v in values], pictures=pictures)
