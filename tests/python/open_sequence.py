#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens the sidecar of a sequence with ParaView and compares every frame with h5py:
open_sequence.py FOLDER PVPYTHON. Exit code 77: skipped, with the reason.

ParaView runs in processes of its own, one a reader: its HDF5 need not be h5py's, and some readers
end the process when they fail."""
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

XDMF_READERS = ("XDMFReader", "Xdmf3ReaderS", "Xdmf3ReaderT")
SKIPPED = 77


def read_inside(reader_name, path, to):
    """Runs in pvpython: writes points, arrays, triangles of every frame to an .npz."""
    from paraview import servermanager, simple
    from paraview.vtk.util.numpy_support import vtk_to_numpy

    make = getattr(simple, reader_name, None)
    if make is None:
        print(f"open_sequence: no {reader_name} in this ParaView")
        return SKIPPED
    reader = make(FileNames=[path]) if reader_name == "XDMFReader" else make(FileName=path)
    reader.UpdatePipelineInformation()
    times = list(reader.TimestepValues) if hasattr(reader.TimestepValues, "__len__") else [
        reader.TimestepValues]
    found = {"times": np.array(times)}
    for i, time in enumerate(times):
        reader.UpdatePipeline(time)
        data = servermanager.Fetch(reader)
        while data.IsA("vtkCompositeDataSet"):
            iterator = data.NewIterator()
            iterator.InitTraversal()
            data = iterator.GetCurrentDataObject()
        # copies: the Xdmf3 readers free their arrays when they read the next frame
        found[f"{i}/Points"] = vtk_to_numpy(data.GetPoints().GetData()).copy()
        arrays = data.GetPointData()
        for k in range(arrays.GetNumberOfArrays()):
            found[f"{i}/{arrays.GetArrayName(k)}"] = vtk_to_numpy(arrays.GetArray(k)).copy()
        of_cells = data.GetCellData()
        for k in range(of_cells.GetNumberOfArrays()):
            found[f"{i}/{of_cells.GetArrayName(k)}"] = vtk_to_numpy(of_cells.GetArray(k)).copy()
        cells = data.GetPolys() if data.IsA("vtkPolyData") else data.GetCells()
        if data.GetNumberOfCells() != cells.GetNumberOfCells():
            raise SystemExit("open_sequence: cells that are no polygons")
        found[f"{i}/triangles"] = vtk_to_numpy(cells.GetConnectivityArray()).reshape(-1, 3).copy()
        offsets = vtk_to_numpy(cells.GetOffsetsArray())
        if not (np.diff(offsets) == 3).all():
            raise SystemExit("open_sequence: polygons that are no triangles")
    np.savez(to, **found)
    return 0


def compare(folder, found, reader):
    import h5py

    with h5py.File(os.path.join(folder, "sequence.vtkhdf"), "r") as f:
        v = f["VTKHDF"]
        n = int(v["NumberOfPoints"][0])
        times = v["Steps/Values"][:]
        triangles = v["Polygons/Connectivity"][:].reshape(-1, 3)
        arrays = {"Points": v["Points"][:], **{k: v["PointData"][k][:] for k in v["PointData"]}}
        cells = {k: v["CellData"][k][:] for k in v.get("CellData", ())}
        arrays.update(cells)
    size = np.ptp(arrays["Points"], axis=0).max()
    worst = {}

    def must(condition, what):
        if not condition:
            sys.exit(f"open_sequence: {reader}: {what}")

    must(found["times"].shape == times.shape, f"{len(found['times'])} times of {len(times)}")
    must(np.abs(found["times"] - times).max() <= 1e-12 * np.abs(times).max(), "times differ")
    for i in range(len(times)):
        must(np.array_equal(found[f"{i}/triangles"], triangles), f"frame {i}: triangles differ")
        for name, array in arrays.items():
            must(f"{i}/{name}" in found, f"frame {i}: no {name}")
            there = found[f"{i}/{name}"].astype("f8")
            rows = len(triangles) if name in cells else n
            must(there.shape == (rows, *array.shape[1:]), f"frame {i}: {name}: shape {there.shape}")
            error = np.abs(there - array[i * rows:(i + 1) * rows]).max() / (
                1 if name == "Normals" else size)
            must(error <= 1e-6, f"frame {i}: {name}: error {error}")  # false for NaN
            worst[name] = max(worst.get(name, 0), error)
    moved = np.abs(np.diff(arrays["Points"].reshape(len(times), n, 3), axis=0)).max()
    must(moved > 1e-3 * size, "the sequence does not move: this test would prove nothing")
    print(f"open_sequence: {reader}: {len(times)} frames, largest errors "
          + ", ".join(f"{k} {e:.1e}" for k, e in worst.items()))


def main():
    if sys.argv[1] == "--inside":
        sys.exit(read_inside(*sys.argv[2:5]))
    folder, pvpython = os.path.abspath(sys.argv[1]), sys.argv[2]
    if not shutil.which(pvpython):
        print(f"open_sequence: skipped: no ParaView, {pvpython}")
        sys.exit(SKIPPED)
    tried = 0
    for reader in XDMF_READERS:
        with tempfile.TemporaryDirectory() as scratch:
            to = os.path.join(scratch, "found.npz")
            run = subprocess.run([pvpython, os.path.abspath(__file__), "--inside", reader,
                                  os.path.join(folder, "sequence.xdmf"), to])
            if run.returncode == SKIPPED:
                continue
            if run.returncode != 0 or not os.path.exists(to):
                sys.exit(f"open_sequence: {reader}: failed, exit code {run.returncode}")
            with np.load(to) as found:
                compare(folder, dict(found), reader)
            tried += 1
    if tried == 0:
        print("open_sequence: skipped: this ParaView has none of the readers")
        sys.exit(SKIPPED)


if __name__ == "__main__":
    main()
