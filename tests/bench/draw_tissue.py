# SPDX-License-Identifier: Apache-2.0
"""Draws frames of a sequence.vtkhdf of a surface side by side, coloured by a field of its points:
draw_tissue.py OUT/sequence.vtkhdf FIELD FRAMES PICTURE.png [PIXELS], frames as 0,34,68. The picture of docs/tissue.md."""
import sys

import h5py
import numpy as np

import draw_curvature as draw

path, field, frames, picture = sys.argv[1:5]
size = int(sys.argv[5]) if len(sys.argv) > 5 else 300
with h5py.File(path) as f:
    v = f["VTKHDF"]
    n = int(v["NumberOfPoints"][0])
    numbers = [int(k) for k in frames.split(",")]
    places = [v["Points"][n * k:n * (k + 1)].astype(float) for k in numbers]
    values = [v["PointData"][field][n * k:n * (k + 1)].astype(float) for k in numbers]
    if "Polygons" in v:
        triangles = v["Polygons/Connectivity"][:].reshape(-1, 3)
    else:
        triangles = v["Connectivity"][:].reshape(-1, 3)
triangles = triangles[:len(triangles) // 1]
triangles = triangles[(triangles < n).all(axis=1)]
top = np.quantile(np.concatenate(values), 0.96)
ramp = np.array([[0.75, 0.55, 0.52], [0.85, 0.62, 0.35], [0.95, 0.85, 0.3], [0.85, 0.15, 0.1]])
axes = draw.camera((-0.5, 0.55, 1.0), (0, 1, 0))
seen = np.concatenate(places) @ axes.T
low, high = seen.min(0), seen.max(0)
middle, scale = (low + high) / 2 @ axes, 0.94 * size / (high - low)[:2].max()
panels = []
for x, w in zip(places, values):
    at = np.clip(w / top, 0, 1) * (len(ramp) - 1)
    k = np.minimum(at.astype(int), len(ramp) - 2)
    rgb = ramp[k] + (at - k)[:, None] * (ramp[k + 1] - ramp[k])
    large = draw.draw(x, triangles, rgb, [], axes, middle, 2 * scale, 2 * size)
    panels.append(large.reshape(size, 2, size, 2, 3).mean((1, 3)))
image = np.concatenate(panels, 1)
rows = np.flatnonzero((image < 0.999).any(axis=(1, 2)))
draw.write_png(picture, image[max(0, rows[0] - 6):rows[-1] + 7])
print(f"{field}: red from {top:.4g} on")
