# SPDX-License-Identifier: Apache-2.0
"""Scenes for modalsim --scene (formats/scene.md)."""
from __future__ import annotations

import json
import os
from typing import Any, Optional

import numpy as np

from ._h5 import Path, replaced


def _plain(value: Any) -> Any:
    """JSON of numpy's arrays and numbers, too."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"not for a scene: {type(value).__name__}")


class Scene:
    """The keys of a scene: Scene(duration=2, fps=60, model="stvk", gravity=[0, 0, -9.81], ...). What they mean, and whether they
    fit a basis, is modalsim's to say."""

    def __init__(self, duration: float, fps: float, **keys: Any) -> None:
        self.keys: dict[str, Any] = {"duration": duration, "fps": fps, **keys}

    def _add(self, to: str, object: int, **keys: Any) -> "Scene":
        given = {name: value for name, value in keys.items() if value is not None}
        self.keys.setdefault(to, []).append({"object": object, **given})
        return self

    def object(self, object: int, **keys: Any) -> "Scene":
        """What differs from the rest: pose_motion, model, damping, pose, velocity, ..."""
        return self._add("objects", object, **keys)

    def force(self, object: int, force: Any, vertex: Optional[int] = None, point: Any = None, group: Optional[str] = None,
              curve: Optional[dict[str, Any]] = None) -> "Scene":
        """A force in N at one of a vertex, a point, a group; over time as the curve says."""
        return self._add("forces", object, vertex=vertex, point=point, group=group, force=force, curve=curve)

    def impulse(self, object: int, impulse: Any, vertex: Optional[int] = None, point: Any = None, group: Optional[str] = None,
                time: float = 0) -> "Scene":
        """An impulse in N s."""
        return self._add("impulses", object, vertex=vertex, point=point, group=group, impulse=impulse, time=time)

    def write(self, path: Path) -> str:
        """Writes the file, and returns its name. ValueError: a number that is not finite."""
        try:
            text = json.dumps(self.keys, indent=2, default=_plain, allow_nan=False)
        except ValueError as error:
            raise ValueError(f"{os.fspath(path)}: {error}") from None
        with replaced(path) as temporary, open(temporary, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        return os.fspath(path)
