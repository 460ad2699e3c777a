# SPDX-License-Identifier: Apache-2.0
"""Draws docs/pictures/curvature_error.svg: the error of modalcurv's methods against the length of edges, on irregular tori.
usage: draw_curvature_error.py MODALCURV PICTURE.svg"""
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import surfaces  # noqa: E402

METHODS = (("tensor", [], "#c92a2a"), ("ring", ["--method", "ring"], "#e8590c"), ("fit, degree 2, 2 rings", ["--method", "fit"], "#1971c2"),
           ("fit, degree 4, 3 rings", ["--method", "fit", "--degree", "4"], "#2f9e44"))
WIDE, HIGH, LEFT, TOP = 460, 260, 60, 14


def measure(modalcurv):
    """Mean length of edges, and the error of each method, %."""
    rng, lengths, errors = np.random.default_rng(3), [], []
    with tempfile.TemporaryDirectory() as folder:
        for width in (40, 56, 78, 110, 156, 220, 312):
            x, t, known = surfaces.torus(width, rng)
            surfaces.write_ply(f"{folder}/in.ply", x, t)
            lengths.append(np.linalg.norm(x[t[:, 0]] - x[t[:, 1]], axis=1).mean())
            errors.append([])
            for _, words, _ in METHODS:
                subprocess.run([modalcurv, f"{folder}/in.ply", f"{folder}/out", "-q", "-f", "--format", "ply", "--fields", "k_max,k_min", *words], check=True)
                v = surfaces.read_ply(f"{folder}/out/ply/000000.ply")
                errors[-1].append(100 * np.sqrt(np.mean((np.c_[v["k_max"], v["k_min"]] - known) ** 2)) / 2.5)
    return np.array(lengths), np.array(errors)


def main():
    lengths, errors = measure(os.path.abspath(sys.argv[1]))
    low, high = np.log10(lengths.min()) - 0.05, np.log10(lengths.max()) + 0.05
    across = lambda h: LEFT + (np.log10(h) - low) / (high - low) * WIDE
    down = lambda e: TOP + (1.2 - np.log10(e)) / 4.2 * HIGH
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE + LEFT + 190} {HIGH + TOP + 42}" font-family="sans-serif" font-size="12">',
           f'<rect width="100%" height="100%" fill="white"/><rect x="{LEFT}" y="{TOP}" width="{WIDE}" height="{HIGH}" fill="none" stroke="#adb5bd"/>']
    for e in (10, 1, 0.1, 0.01, 0.001):
        out.append(f'<path d="M{LEFT} {down(e):.1f}h{WIDE}" stroke="#e9ecef"/><text x="{LEFT - 6}" y="{down(e) + 4:.1f}" text-anchor="end">{e:g} %</text>')
    for h in (0.02, 0.05, 0.1):
        out.append(f'<path d="M{across(h):.1f} {TOP}v{HIGH}" stroke="#e9ecef"/>'
                   f'<text x="{across(h):.1f}" y="{TOP + HIGH + 16}" text-anchor="middle">{h:g}</text>')
    out.append(f'<text x="{LEFT + WIDE / 2}" y="{TOP + HIGH + 34}" text-anchor="middle">mean length of edges, over the torus\'s radius</text>')
    for i, (name, _, colour) in enumerate(METHODS):
        points = " ".join(f"{across(h):.1f},{down(e):.1f}" for h, e in zip(lengths, errors[:, i]))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{p.split(",")[0]}" cy="{p.split(",")[1]}" r="3" fill="{colour}"/>' for p in points.split()]
        at = TOP + 20 + 20 * i
        out.append(f'<path d="M{LEFT + WIDE + 12} {at - 4}h18" stroke="{colour}" stroke-width="2"/><text x="{LEFT + WIDE + 36}" y="{at}">{name}</text>')
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n</svg>\n")
    for h, row in zip(lengths, errors):
        print(f"{h:.4f} " + " ".join(f"{e:.3g}" for e in row))


main()
