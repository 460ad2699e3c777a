#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a sequence with h5py and numpy alone, that is, without any of our own code:
check_sequence.py FOLDER. Exit code 0: everything in formats/sequence.md holds."""
import json
import os
import sys
import xml.etree.ElementTree as ET

import h5py
import numpy as np


def must(condition, what):
    if not condition:
        sys.exit(f"check_sequence: {what}")


def text(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def check_vtkhdf(path):
    with h5py.File(path, "r") as f:
        must(f.attrs["modal_format"] in (b"sequence", "sequence"), "modal_format")
        v = f["VTKHDF"]
        must(list(v.attrs["Version"]) == [2, 0], "Version")
        kind = h5py.h5a.open(v.id, b"Type").get_type()
        must(kind.get_class() == h5py.h5t.STRING and not kind.is_variable_str(), "Type: class")
        must(kind.get_size() == 8 and kind.get_strpad() == h5py.h5t.STR_NULLPAD
             and kind.get_cset() == h5py.h5t.CSET_ASCII, "Type: size, padding, character set")
        must(v.attrs["Type"] == b"PolyData", "Type: value")

        n = int(v["NumberOfPoints"][0])
        steps = v["Steps"]
        frames = int(steps.attrs["NSteps"])
        times = steps["Values"][:]
        must(v["NumberOfPoints"].shape == (1,) and n > 0 and frames > 0, "counts")
        must(times.shape == (frames,) and times.dtype == "<f8" and np.isfinite(times).all()
             and (np.diff(times) > 0).all(), "times")
        rows = np.arange(frames) * n
        must((steps["PointOffsets"][:] == rows).all(), "PointOffsets")
        must((steps["PartOffsets"][:] == 0).all() and (steps["NumberOfParts"][:] == 1).all(), "parts")
        for name in ("CellOffsets", "ConnectivityIdOffsets"):
            must(steps[name].shape == (frames, 4) and (steps[name][:] == 0).all(), name)

        triangles = v["Polygons/Connectivity"][:].reshape(-1, 3)
        must(triangles.dtype == "<i8" and triangles.min() >= 0 and triangles.max() < n, "Connectivity")
        must((v["Polygons/Offsets"][:] == 3 * np.arange(len(triangles) + 1)).all(), "Offsets")
        must(list(v["Polygons/NumberOfCells"]) == [len(triangles)], "NumberOfCells")
        must(list(v["Polygons/NumberOfConnectivityIds"]) == [triangles.size], "NumberOfConnectivityIds")
        for kind in ("Vertices", "Lines", "Strips"):
            must(list(v[kind]["NumberOfCells"]) == [0] and list(v[kind]["Offsets"]) == [0]
                 and v[kind]["Connectivity"].shape == (0,) and v[kind]["Connectivity"].chunks, kind)

        must(f.attrs["modal_format_version"] in (b"1.0", "1.0"), "modal_format_version")
        arrays = {"Points": v["Points"], **{k: v["PointData"][k] for k in v["PointData"]}}
        cells = dict(v["CellData"]) if "CellData" in v else {}
        must(set(arrays).isdisjoint(cells), "an array of points and of cells")
        arrays.update(cells)
        listed = text(f["modal"].attrs["arrays"]).split(" ")
        must(listed[0] == "Points" and sorted(listed) == sorted(arrays), f"arrays: {listed}, there are {sorted(arrays)}")
        units = dict(zip(listed, text(f["modal"].attrs["array_units"]).split(" "), strict=True))
        for name, unit in (("Points", "m"), ("Normals", "1"), ("displacement", "m"), ("speed", "m/s"), ("Tangents", "1")):
            must(name not in arrays or units[name] == unit, f"{name}: unit {units.get(name)}")
        must(text(f["modal"].attrs["source_kind"]) in ("trajectory", "snapshots", "sequence", "basis"), "source_kind")
        must(len(f["modal"].attrs["source_hash"]) == 32, "source_hash")
        rows_of = {name: len(triangles) if name in cells else n for name in arrays}
        for name, array in arrays.items():
            wide = {"Tangents": (4,), "speed": (), "cell_height": (), "cell_tensor": (6,)}.get(name, (3,))
            shape = (frames * rows_of[name], *wide)
            must(array.dtype == "<f4" and array.shape == shape, name)
            must(array.chunks is None, f"{name}: contiguous")
            must(np.isfinite(array[:]).all(), f"{name}: finite")
            if name != "Points":
                offsets = steps["CellDataOffsets" if name in cells else "PointDataOffsets"][name]
                must((offsets[:] == np.arange(frames) * rows_of[name]).all(), f"{name}: offsets")
        if "Normals" in arrays:
            length = np.linalg.norm(arrays["Normals"][:].astype("f8"), axis=1)
            must((np.abs(length - 1) <= 1e-5).all(), "Normals: length 1")

        if "Tangents" in arrays:
            tangents = arrays["Tangents"][:].astype("f8")
            some = tangents[(tangents != 0).any(axis=1)]
            must(len(some) and (np.abs(np.linalg.norm(some[:, :3], axis=1) - 1) <= 1e-5).all()
                 and np.isin(some[:, 3], (1, -1)).all(), "Tangents: length 1, handedness 1 or -1")

        must(len(f["xdmf"]) == frames, "xdmf: one group a frame")
        for i in range(frames):
            group = f[f"xdmf/{i:06d}"]
            must(set(group) == set(arrays), f"xdmf/{i:06d}: arrays")
            for name, array in arrays.items():
                view = group[name]
                must(view.is_virtual and len(view.virtual_sources()) == 1, f"{view.name}: virtual")
                must(view.virtual_sources()[0].file_name == ".", f"{view.name}: this file")
                must(np.array_equal(view[:], array[i * rows_of[name]:(i + 1) * rows_of[name]]),
                     f"{view.name}: values")
        must(len(f["modal"].attrs.get("basis_hash", "-" * 32)) == 32, "basis_hash")
        return n, len(triangles), times, sorted(arrays)


def check_xdmf(path, n, m, times, arrays):
    root = ET.parse(path).getroot()
    grids = root.findall("./Domain/Grid/Grid")
    must(root.find("./Domain/Grid").get("CollectionType") == "Temporal", "xdmf: temporal")
    must([float(g.find("Time").get("Value")) for g in grids] == list(times), "xdmf: times")
    file = os.path.join(os.path.dirname(path), grids[0].find("Geometry/DataItem").text.split(":")[0])
    with h5py.File(file, "r") as f:
        for g in grids:
            must(int(g.find("Topology").get("NumberOfElements")) == m, "xdmf: elements")
            must(sorted(["Points"] + [a.get("Name") for a in g.findall("Attribute")]) == arrays,
                 "xdmf: attributes")
            for item in g.iter("DataItem"):
                name, inside = item.text.split(":")
                must(os.path.join(os.path.dirname(path), name) == file, "xdmf: file")
                shape = tuple(int(s) for s in item.get("Dimensions").split())
                must(f[inside].shape == shape, f"xdmf: shape of {inside}")


def check_manifest(folder, n, m, times, arrays):
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as text:
        manifest = json.load(text)
    must(manifest["points"] == n and manifest["triangles"] == m, "manifest: counts")
    must(manifest["frames"]["count"] == len(times), "manifest: frames")
    must(manifest["frames"]["first_time"] == times[0], "manifest: first_time")
    must(manifest["frames"]["last_time"] == times[-1], "manifest: last_time")
    must(sorted(manifest["fields"]) == arrays, "manifest: fields")
    listed = {f["name"]: f["bytes"] for f in manifest["files"]}
    on_disk = {f: os.path.getsize(os.path.join(folder, f)) for f in os.listdir(folder)
               if f != "manifest.json"}
    must(listed == on_disk, f"manifest: files, {listed} and {on_disk}")


def main():
    folder = sys.argv[1]
    n, m, times, arrays = check_vtkhdf(os.path.join(folder, "sequence.vtkhdf"))
    check_xdmf(os.path.join(folder, "sequence.xdmf"), n, m, times, arrays)
    if os.path.exists(os.path.join(folder, "manifest.json")):
        check_manifest(folder, n, m, times, arrays)
    print(f"check_sequence: {len(times)} frames, {n} points, {m} triangles, {', '.join(arrays)}: ok")


if __name__ == "__main__":
    main()
