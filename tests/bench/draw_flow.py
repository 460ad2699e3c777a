#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws frames of a sequence of `modaltex flow` side by side, dry parts light and wet ones dark blue:

    draw_flow.py PICTURE.png sequence.vtkhdf [--frames 0,8,16,24] [--full KG] [--view X,Y,Z] [--up X,Y,Z] [--size PIXELS]

KG: kg/m^2 at which a place is wholly blue. All panels have one scale. It needs numpy and h5py."""
import argparse

import h5py
import numpy as np

from draw_curvature import camera, draw, write_png

DRY, WET = np.array([0.86, 0.78, 0.64]), np.array([0.06, 0.2, 0.5])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture")
    parser.add_argument("sequence")
    parser.add_argument("--frames", default="0,8,16,24")
    parser.add_argument("--full", type=float, default=0.1)
    parser.add_argument("--view", default="0.3,0.25,1")
    parser.add_argument("--up", default="0,1,0")
    parser.add_argument("--size", type=int, default=300)
    given = parser.parse_args()
    with h5py.File(given.sequence) as f:
        n = f["VTKHDF/Steps"].attrs["NSteps"]
        x = f["VTKHDF/Points"][:].reshape(n, -1, 3).astype(float)
        wet = f["VTKHDF/PointData/wetness"][:].reshape(n, -1)
        t = f["VTKHDF/Polygons/Connectivity"][:].reshape(-1, 3)
    chosen = [int(i) for i in given.frames.split(",")]
    axes = camera(*([float(v) for v in text.split(",")] for text in (given.view, given.up)))
    seen = np.concatenate(x[chosen]) @ axes.T
    low, high = seen.min(0), seen.max(0)
    middle, scale = (low + high) / 2 @ axes, 0.94 * given.size / (high - low)[:2].max()
    panels = []
    for i in chosen:
        share = np.clip(wet[i] / given.full, 0, 1)[:, None] ** 0.5
        large = draw(x[i], t, DRY + share * (WET - DRY), [], axes, middle, 2 * scale, 2 * given.size)
        panels.append(large.reshape(given.size, 2, given.size, 2, 3).mean((1, 3)))
    write_png(given.picture, np.concatenate(panels, 1))


if __name__ == "__main__":
    main()
