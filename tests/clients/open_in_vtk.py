# SPDX-License-Identifier: Apache-2.0
"""Runs where VTK 9.3 is: open_in_vtk.py FILE.vtkhdf TO. Steps through the times of a sequence with VTK's own
reader and writes points, arrays and cells of each to TO (.npz), as open_in_paraview.py does."""
import sys

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkVersion
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as pipeline
from vtkmodules.vtkIOHDF import vtkHDFReader

path, to = sys.argv[1:3]
print("VTK", vtkVersion.GetVTKVersion())
reader = vtkHDFReader()
reader.SetFileName(path)
reader.UpdateInformation()
about = reader.GetOutputInformation(0)
times = [about.Get(pipeline.TIME_STEPS(), i) for i in range(about.Length(pipeline.TIME_STEPS()))]
found = {"times": np.array(times)}
for i, time in enumerate(times):
    if not reader.UpdateTimeStep(time):
        raise SystemExit(f"open_in_vtk: time {time} cannot be read")
    data = reader.GetOutputDataObject(0)
    found[f"{i}/Points"] = vtk_to_numpy(data.GetPoints().GetData()).copy()
    arrays = data.GetPointData()
    for k in range(arrays.GetNumberOfArrays()):
        found[f"{i}/{arrays.GetArrayName(k)}"] = vtk_to_numpy(arrays.GetArray(k)).copy()
    of_cells = data.GetCellData()
    for k in range(of_cells.GetNumberOfArrays()):
        found[f"{i}/cells/{of_cells.GetArrayName(k)}"] = vtk_to_numpy(of_cells.GetArray(k)).copy()
    is_surface = data.IsA("vtkPolyData")
    cells = data.GetPolys() if is_surface else data.GetCells()
    ids, offsets = vtk_to_numpy(cells.GetConnectivityArray()).copy(), vtk_to_numpy(cells.GetOffsetsArray()).copy()
    if is_surface:
        if not (np.diff(offsets) == 3).all() or data.GetNumberOfCells() != cells.GetNumberOfCells():
            raise SystemExit("open_in_vtk: cells that are no triangles")
        found[f"{i}/triangles"] = ids.reshape(-1, 3)
    else:
        found[f"{i}/connectivity"], found[f"{i}/offsets"] = ids, offsets
        found[f"{i}/types"] = np.array([data.GetCellType(k) for k in range(data.GetNumberOfCells())])
np.savez(to, **found)
