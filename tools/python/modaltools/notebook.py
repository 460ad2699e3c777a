# SPDX-License-Identifier: Apache-2.0
"""For notebooks: modalview's page in a cell; probes, spectra and response tables drawn by matplotlib, where that is there."""
from __future__ import annotations

import csv
import html
import os
import re
import tempfile
from typing import Any, Iterable, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from ._h5 import Path, replaced
from .basis import Floats
from .deformer import Deformer
from .programs import run


class Page:
    """A page that a notebook shows as the cell's value: an IFrame of the page itself, with no server and no other file."""

    def __init__(self, text: str, width: Union[int, str] = "100%", height: Union[int, str] = 480, reads: Iterable[Path] = ()) -> None:
        self.text, self.width, self.height = text, width, height
        self._reads = [os.path.abspath(path) for path in reads]

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.text, quote=True)}" width="{html.escape(str(self.width))}" '
                f'height="{html.escape(str(self.height))}" style="border: 0" allowfullscreen></iframe>')

    def __repr__(self) -> str:
        return f"<modaltools page, {len(self.text.encode()):,} bytes>"

    def save(self, path: Path) -> str:
        """Writes the page, and returns its name. ValueError: the file is one that show was given."""
        with replaced(path, self._reads) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
            file.write(self.text)
        return os.fspath(path)


def show(source: Path, *, width: Union[int, str] = "100%", height: Union[int, str] = 480, **options: Any) -> Page:
    """The page that modalview makes of a trajectory, a basis or a response table; options are its own (slow_motion="auto"), as run has
    them. It has no size to speak of but the basis's: of a large one say frames or precision (docs/modalview.md). ToolError,
    FileNotFoundError: as run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        run("modalview", source, path, **options)
        with open(path, encoding="utf-8") as file:
            return Page(file.read(), width, height, [source, *(value for value in options.values() if isinstance(value, (str, os.PathLike)))])


def spectrum(times: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    """Amplitudes [n // 2 + 1, ...] over frequencies [n // 2 + 1] in Hz of values [n, ...] at times that are equally apart: a sine of
    amplitude a, whole periods long, gives a. The mean is taken off; no window. ValueError: times that are not."""
    t, x = np.asarray(times, float), np.asarray(values, float)
    if t.ndim != 1 or len(t) < 2 or x.shape[:1] != t.shape:
        raise ValueError(f"spectrum: {t.shape} times and values of the shape {x.shape}")
    step = (t[-1] - t[0]) / (len(t) - 1)
    if not (step > 0 and np.all(np.abs(np.diff(t) - step) <= 1e-6 * step)):
        raise ValueError("spectrum: times are not equally apart")
    if not np.all(np.isfinite(x)):
        raise ValueError("spectrum: values are not finite")
    amplitudes = np.abs(np.fft.rfft(x - x.mean(axis=0), axis=0)) * (2 / len(t))
    if len(t) % 2 == 0:
        amplitudes[-1] /= 2  # it has no partner
    frequencies: Floats = np.fft.rfftfreq(len(t), step)
    return frequencies, amplitudes


class Table:
    """A table with named columns: what modalsim writes of responses, or modaldeform of probes (--format csv)."""

    def __init__(self, path: Path) -> None:
        """ValueError: no such table; OSError: it cannot be read."""
        self.path = os.fspath(path)
        with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
            rows = list(csv.reader(file))
        if len(rows) < 2 or not rows[0] or rows[0][0] not in ("frequency", "frame"):
            raise ValueError(f"{self.path}: no table of a response or of probes: its first column is not frequency or frame")
        self.names: list[str] = rows[0]
        for i, row in enumerate(rows[1:], 2):
            if len(row) != len(self.names):
                raise ValueError(f"{self.path}:{i}: {len(row)} columns, not {len(self.names)}")
        try:
            values = np.array(rows[1:], float)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None
        if not np.all(np.isfinite(values)):
            raise ValueError(f"{self.path}: a number that is not finite")
        self.columns: dict[str, Floats] = {name: values[:, i] for i, name in enumerate(self.names)}

    @property
    def is_response(self) -> bool:
        return self.names[0] == "frequency"

    def __getitem__(self, name: str) -> Floats:
        return self.columns[name]


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    try:
        import matplotlib.pyplot
    except ImportError:
        raise ImportError("modaltools.plot draws with matplotlib, which is not there (pip install matplotlib)") from None
    return matplotlib.pyplot.subplots()[1]


def _plot_response(table: Table, axes: Any) -> None:
    drawn = [name for name in table.names if name.endswith("_amplitude")]
    if not drawn:
        raise ValueError(f"{table.path}: no column ends with _amplitude")
    for name in drawn:
        axes.plot(table["frequency"], table[name], label=name[:-len("_amplitude")])
    axes.set_yscale("log")
    axes.set(xlabel="frequency (Hz)", ylabel="amplitude (m)" if drawn[0].startswith("probe") else r"amplitude ($\sqrt{\mathrm{kg}}$ m)")


def _curves(source: Union[Path, Deformer, Table], points: Optional[ArrayLike]) -> tuple[Floats, list[str], Floats]:
    """Times, names, positions [frames, k, 3]."""
    if isinstance(source, Table):
        probes = np.unique(source["probe"])
        rows = [np.flatnonzero(source["probe"] == probe) for probe in probes]
        x = np.stack([np.stack([source[axis][r] for axis in "xyz"], axis=1) for r in rows], axis=1)
        return source["time"][rows[0]], [f"point {int(source['point'][r[0]])}" for r in rows], x
    motion = source if isinstance(source, Deformer) else Deformer(source)
    if points is None:
        raise ValueError(f"{motion.path}: which points? plot(source, [0, 17]), or places [[x, y, z]]")
    array = np.asarray(points)
    names = [f"point {p}" for p in array] if array.ndim == 1 else ["({:.4g}, {:.4g}, {:.4g})".format(*p) for p in array]
    try:
        return motion.times, names, motion.probe(points)
    finally:
        if motion is not source:
            motion.close()


def plot(source: Union[Path, Deformer, Table], points: Optional[ArrayLike] = None, *, component: str = "length", over: str = "time",
         axes: Any = None) -> Any:
    """Draws, and returns matplotlib's axes; `axes`: into these.

    A trajectory (its path, or a Deformer) and points (numbers, or places [k, 3] at rest): how far they are from where they were at first,
    in mm, over time; component "x", "y" or "z": along that axis, with its sign. over="frequency": the spectrum of that.
    A table that modalsim wrote of a response: all its amplitudes over frequency. One of probes (modaldeform --format csv): as above."""
    if component not in ("length", "x", "y", "z") or over not in ("time", "frequency"):
        raise ValueError(f"plot: component is length, x, y or z, over is time or frequency, not {component!r}, {over!r}")
    if not isinstance(source, (Deformer, Table)) and re.search(r"\.csv$", os.fspath(source)):
        source = Table(source)
    if isinstance(source, Table) and source.is_response:
        drawn = _axes(axes)
        _plot_response(source, drawn)
        drawn.legend()
        return drawn
    times, names, x = _curves(source, points)
    x = 1e3 * (x - x[:1])
    y = np.linalg.norm(x, axis=2) if component == "length" else x[:, :, "xyz".index(component)]
    along = times
    if over == "frequency":
        along, y = spectrum(times, y)
    drawn = _axes(axes)
    for i, name in enumerate(names):
        drawn.plot(along, y[:, i], label=name)
    what = "displacement" if component == "length" else f"displacement along {component}"
    drawn.set(xlabel="time (s)" if over == "time" else "frequency (Hz)", ylabel=f"{what}{'' if over == 'time' else ', amplitude'} (mm)")
    drawn.legend()
    return drawn
