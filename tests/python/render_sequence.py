#!/usr/bin/env pvpython
# SPDX-License-Identifier: Apache-2.0
"""Renders some frames of a sequence, coloured by the length of the displacement, side by side:

    xvfb-run -a -s "-screen 0 1280x1024x24 -noreset" \\
        pvpython tests/python/render_sequence.py OUT/sequence.xdmf picture.png --frames 0,25,50

Debian's ParaView draws through X: without a screen it needs xvfb (`apt-get install xvfb xauth`), and
-noreset, or the server now and then restarts under it. All panels have one camera and one scale of
colours."""
import argparse
import os
import struct
import sys
import zlib

import numpy as np
from paraview import servermanager, simple
from paraview.vtk.util.numpy_support import vtk_to_numpy


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sequence", help=".xdmf, or .vtkhdf with ParaView 5.12 and later")
    parser.add_argument("picture", help="the PNG to write")
    parser.add_argument("--frames", help="indices, e.g. 0,10,20 (default: four, evenly spread)")
    parser.add_argument("--size", default="480x480", help="of a panel, in pixels (default: 480x480)")
    parser.add_argument("--columns", type=int, default=4, help="panels in a row (default: 4)")
    parser.add_argument("--view", default="1,-1.6,0.8", help="from where, a direction x,y,z")
    parser.add_argument("--up", default="0,0,1", help="the upward direction x,y,z")
    parser.add_argument("--zoom", type=float, default=1.0)
    return parser.parse_args()


def open_sequence(path):
    path = os.path.abspath(path)
    if path.endswith(".xdmf"):
        reader = simple.Xdmf3ReaderS(FileName=path)
    else:
        reader = simple.VTKHDFReader(FileName=path)
    reader.UpdatePipelineInformation()
    times = reader.TimestepValues
    return reader, list(times) if hasattr(times, "__len__") else [times]


def measure(source, times):
    """The bounding box of the frames and their largest displacement (None: no such array)."""
    low, high, largest = np.full(3, np.inf), np.full(3, -np.inf), None
    for time in times:
        source.UpdatePipeline(time)
        data = servermanager.Fetch(source)
        points = vtk_to_numpy(data.GetPoints().GetData())
        low, high = np.minimum(low, points.min(axis=0)), np.maximum(high, points.max(axis=0))
        array = data.GetPointData().GetArray("displacement")
        if array:
            length = float(np.linalg.norm(vtk_to_numpy(array), axis=1).max())
            largest = max(largest or 0.0, length)
    return low, high, largest


def place_camera(view, low, high, direction, up, zoom):
    direction = np.array(direction, float) / np.linalg.norm(direction)
    centre, radius = (low + high) / 2, np.linalg.norm(high - low) / 2
    view.CameraFocalPoint = list(centre)
    view.CameraPosition = list(centre + 4 * radius * direction)
    view.CameraViewUp = up
    view.CameraParallelProjection = 1
    view.CameraParallelScale = radius * 0.8 / zoom


def show(source, view, largest):
    shown = simple.Show(source, view)
    shown.Representation = "Surface"
    shown.Specular = 0.2
    if largest is None:
        simple.ColorBy(shown, None)
        shown.DiffuseColor = [0.55, 0.68, 0.82]
        return
    simple.ColorBy(shown, ("POINTS", "displacement", "Magnitude"))
    colours = simple.GetColorTransferFunction("displacement")
    colours.ApplyPreset("Viridis (matplotlib)", True)
    colours.VectorMode = "Magnitude"
    colours.RescaleTransferFunction(0.0, largest or 1.0)


def colour_bar(view, on):
    bar = simple.GetScalarBar(simple.GetColorTransferFunction("displacement"), view)
    bar.Title, bar.ComponentTitle = "displacement (m)", ""
    bar.TitleColor = bar.LabelColor = [0.1, 0.1, 0.1]
    bar.Orientation, bar.WindowLocation = "Horizontal", "Lower Center"
    bar.ScalarBarLength, bar.ScalarBarThickness = 0.5, 12
    bar.Visibility = on


def grab(view):
    """The picture [height, width, 3] that the view shows."""
    image = view.SMProxy.CaptureWindow(1)
    width, height, _ = image.GetDimensions()
    pixels = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(height, width, -1)
    return pixels[::-1, :, :3].astype(np.uint8)  # VTK counts rows from below


def join(panels, columns, to):
    """Puts the panels [height, width, 3] into rows, the last one filled with white, and writes them."""
    panels = panels + [np.full_like(panels[0], 255)] * (-len(panels) % columns)
    rows = [np.concatenate(panels[i:i + columns], axis=1) for i in range(0, len(panels), columns)]
    whole = np.concatenate(rows, axis=0)
    height, width, _ = whole.shape
    # Debian's ParaView does not offer its PNG writer to Python; a PNG is three chunks.
    lines = np.concatenate([np.zeros((height, 1), np.uint8), whole.reshape(height, -1)], axis=1)
    with open(to, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        for kind, content in ((b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
                              (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")):
            file.write(struct.pack(">I", len(content)) + kind + content
                       + struct.pack(">I", zlib.crc32(kind + content)))


def main():
    args = arguments()
    reader, times = open_sequence(args.sequence)
    if args.frames:
        frames = [int(i) for i in args.frames.split(",")]
    else:
        frames = sorted({round(i * (len(times) - 1) / 3) for i in range(4)})
    if not frames or min(frames) < 0 or max(frames) >= len(times):
        sys.exit(f"render_sequence: frames must be 0 to {len(times) - 1}, are {frames}")
    surface = simple.ExtractSurface(Input=reader)
    low, high, largest = measure(surface, [times[i] for i in frames])

    view = simple.CreateView("RenderView")
    view.ViewSize = [int(s) for s in args.size.split("x")]
    view.OrientationAxesVisibility = 0
    if hasattr(view, "UseColorPaletteForBackground"):
        view.UseColorPaletteForBackground = 0
    view.Background = [1, 1, 1]
    show(surface, view, largest)
    place_camera(view, low, high, [float(x) for x in args.view.split(",")],
                 [float(x) for x in args.up.split(",")], args.zoom)
    panels = []
    for i, frame in enumerate(frames):
        view.ViewTime = times[frame]
        if largest is not None:
            colour_bar(view, i == len(frames) - 1)
        simple.Render(view)
        panels.append(grab(view))
    join(panels, min(args.columns, len(panels)), args.picture)
    print(f"render_sequence: {args.picture}: frames {', '.join(map(str, frames))}")


if __name__ == "__main__":
    main()
