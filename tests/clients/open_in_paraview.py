# SPDX-License-Identifier: Apache-2.0
"""Runs inside pvpython: open_in_paraview.py FILE TO. Opens a sequence as ParaView's File > Open does, steps
through its times and writes points, arrays and cells of each to TO (.npz)."""
import sys

import numpy as np
from paraview import servermanager, simple
from paraview.vtk.util.numpy_support import vtk_to_numpy

path, to = sys.argv[1:3]
reader = simple.OpenDataFile(path)
reader.UpdatePipelineInformation()
found = {"times": np.array(reader.TimestepValues)}
for i, time in enumerate(reader.TimestepValues):
    reader.UpdatePipeline(time)
    data = servermanager.Fetch(reader)
    while data.IsA("vtkCompositeDataSet"):
        iterator = data.NewIterator()
        iterator.InitTraversal()
        data = iterator.GetCurrentDataObject()
    found[f"{i}/Points"] = vtk_to_numpy(data.GetPoints().GetData()).copy()
    arrays = data.GetPointData()
    for k in range(arrays.GetNumberOfArrays()):
        found[f"{i}/{arrays.GetArrayName(k)}"] = vtk_to_numpy(arrays.GetArray(k)).copy()
    cells = data.GetPolys() if data.IsA("vtkPolyData") else data.GetCells()
    ids, offsets = vtk_to_numpy(cells.GetConnectivityArray()).copy(), vtk_to_numpy(cells.GetOffsetsArray()).copy()
    if data.IsA("vtkPolyData"):
        if not (np.diff(offsets) == 3).all():
            raise SystemExit("open_in_paraview: polygons that are no triangles")
        found[f"{i}/triangles"] = ids.reshape(-1, 3)
    else:
        found[f"{i}/connectivity"], found[f"{i}/offsets"] = ids, offsets
        found[f"{i}/types"] = np.array([data.GetCellType(k) for k in range(data.GetNumberOfCells())])
np.savez(to, **found)
