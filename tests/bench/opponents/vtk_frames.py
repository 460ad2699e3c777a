# SPDX-License-Identifier: Apache-2.0
"""Draws frames of a surface that swings, and a ground, by VTK without shadows: 4 samples a pixel, smooth normals that it is given, no read-back. An opponent of
modalrender. Needs python3-vtk9 and a display (xvfb-run -a). usage: vtk_frames.py SURFACE.obj WIDTHxHEIGHT FRAMES"""
import sys

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy

path, size, frames = sys.argv[1], [int(n) for n in sys.argv[2].split("x")], int(sys.argv[3])
reader = vtk.vtkOBJReader()
reader.SetFileName(path)
normals = vtk.vtkPolyDataNormals()
normals.SetInputConnection(reader.GetOutputPort())
normals.SplittingOff()
normals.Update()
surface = normals.GetOutput()
rest = vtk_to_numpy(surface.GetPoints().GetData()).astype("f4")
ground = vtk.vtkPlaneSource()
ground.SetOrigin(-4, -4, -0.6), ground.SetPoint1(4, -4, -0.6), ground.SetPoint2(-4, 4, -0.6)
renderer, window = vtk.vtkRenderer(), vtk.vtkRenderWindow()
for output, colour in ((None, (0.6, 0.5, 0.35)), (ground.GetOutputPort(), (0.5, 0.55, 0.5))):
    mapper, actor = vtk.vtkPolyDataMapper(), vtk.vtkActor()
    mapper.SetInputData(surface) if output is None else mapper.SetInputConnection(output)
    mapper.ScalarVisibilityOff()
    actor.SetMapper(mapper)
    p = actor.GetProperty()
    p.SetColor(*colour), p.SetInterpolationToPhong(), p.SetSpecular(0.5), p.SetSpecularPower(40), p.SetAmbient(0.25)
    renderer.AddActor(actor)
camera = renderer.GetActiveCamera()
camera.SetPosition(1.6, -2.3, 1.9), camera.SetFocalPoint(0, 0, -0.1), camera.SetViewUp(0, 0, 1), camera.SetViewAngle(np.degrees(0.8))
renderer.SetBackground(0.6, 0.7, 0.8)
window.SetSize(*size), window.SetMultiSamples(4), window.SetOffScreenRendering(1), window.AddRenderer(renderer)
for frame in range(frames):
    points = rest * np.float32(1 + 0.01 * np.sin(frame))
    surface.GetPoints().SetData(numpy_to_vtk(points, deep=True))
    surface.Modified()
    renderer.ResetCameraClippingRange()
    window.Render()
    window.WaitForCompletion()
shot = vtk.vtkWindowToImageFilter()  # it shows something
shot.SetInput(window)
shot.ReadFrontBufferOff()
shot.Update()
seen = vtk_to_numpy(shot.GetOutput().GetPointData().GetScalars())
assert tuple(shot.GetOutput().GetDimensions()[:2]) == tuple(size) and len(np.unique(seen, axis=0)) > 100, "an empty picture"
print(vtk.vtkVersion().GetVTKVersion())
