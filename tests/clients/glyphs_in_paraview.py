# SPDX-License-Identifier: Apache-2.0
"""Runs in pvpython: glyphs_in_paraview.py SEQUENCE FIELD DIRECTION TO
Colours the frames of a sequence by FIELD and sets a line along DIRECTION at every point, as a user does by hand; writes to TO (.npz)
the times and of each frame the field as it is shown, its colours by a map, and where the lines begin and end."""
import sys

import numpy
from paraview import servermanager, simple
from paraview.vtk.util.numpy_support import vtk_to_numpy

path, field, direction, to = sys.argv[1:]
reader = simple.OpenDataFile(path) if path.endswith(".vtkhdf") else simple.Xdmf3ReaderS(FileName=path)
reader.UpdatePipelineInformation()
found = {"times": numpy.array(list(reader.TimestepValues))}
glyphs = simple.Glyph(Input=reader, GlyphType="Line")
glyphs.OrientationArray, glyphs.ScaleArray = ["POINTS", direction], ["POINTS", "No scale array"]
glyphs.ScaleFactor, glyphs.GlyphMode = 0.05, "All Points"
table = simple.GetColorTransferFunction(field)
table.ApplyPreset("Cool to Warm", True)
for i, time in enumerate(found["times"]):
    reader.UpdatePipeline(time)
    glyphs.UpdatePipeline(time)
    values = servermanager.Fetch(reader).GetPointData().GetArray(field)
    found[f"{i}/values"] = vtk_to_numpy(values).copy()
    if i == 0:
        table.RescaleTransferFunction(*values.GetRange())
    found[f"{i}/colours"] = vtk_to_numpy(table.GetClientSideObject().MapScalars(values, 0, -1)).copy()
    lines = servermanager.Fetch(glyphs)
    n = lines.GetNumberOfPoints() // lines.GetNumberOfCells()  # points of a line
    found[f"{i}/lines"] = vtk_to_numpy(lines.GetPoints().GetData()).reshape(-1, n, 3)[:, [0, -1]]
    found[f"{i}/carried"] = vtk_to_numpy(lines.GetPointData().GetArray(field)).reshape(-1, n)[:, [0, -1]]
numpy.savez(to, **found)
