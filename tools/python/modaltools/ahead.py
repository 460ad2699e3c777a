# SPDX-License-Identifier: Apache-2.0
"""Frames that a program asks for one after the other, made before it asks: some by one pass over the basis, while it shows those before them."""
from __future__ import annotations

import threading
from typing import NamedTuple, Optional, Sequence

from .deformer import WIDTH, Deformer, Frame

_BYTES = 96 << 20  # of the frames that are made at once; as much again is held of those before them
_FARTHEST = 16     # frames apart: what is farther is a jump


class _Arrays(NamedTuple):
    """What is wanted of a frame beside its positions."""

    normals: bool
    displacement: bool
    speed: bool
    fields: "tuple[str, ...]"

    def floats(self) -> int:
        """Of a point."""
        return 3 + 3 * self.normals + 3 * self.displacement + self.speed + sum(WIDTH[name] for name in self.fields if name in WIDTH)


class _Batch:
    """Frames that a thread makes: of a range, with the same arrays."""

    def __init__(self, deformer: Deformer, wanted: range, arrays: _Arrays) -> None:
        self.wanted, self.arrays = wanted, arrays
        self._deformer, self._frames = deformer, list[Frame]()
        self._error: Optional[BaseException] = None
        self._dropped = False
        self._thread = threading.Thread(target=self._make, name="modaltools frames ahead")
        self._thread.start()

    def _make(self) -> None:
        try:
            if not self._dropped:
                self._frames = self._deformer.some(self.wanted, **self.arrays._asdict())
        except BaseException as error:  # which belongs to who asks for the frame
            self._error = error

    def has(self, index: int, arrays: _Arrays) -> bool:
        return index in self.wanted and arrays == self.arrays

    def frame(self, index: int) -> Frame:
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._frames[self.wanted.index(index)]

    def drop(self) -> None:
        """Nobody will ask for them: the frame that is under way is not waited for longer than it takes to cancel it."""
        self._dropped = True
        while self._thread.is_alive():
            self._deformer.cancel()
            self._thread.join(0.001)


class Ahead:
    """The frames of a Deformer whose user goes through them: `frame` is its frame(), but from the third of a regular row on the next
    ones are made ahead, forwards or backwards, up to 16 at once, as long as their arrays have 96 MB; one such batch is shown, one is
    made. One thread at a time; numpy makes none ahead."""

    def __init__(self, deformer: Deformer) -> None:
        self._deformer = deformer
        self._now: Optional[_Batch] = None
        self._next: Optional[_Batch] = None
        self._last: Optional[int] = None
        self._step = 0
        self._lock = threading.Lock()

    def frame(self, index: int, *, normals: bool = False, displacement: bool = False, speed: bool = False, fields: Sequence[str] = ()) -> Frame:
        arrays = _Arrays(normals, displacement, speed, tuple(fields))
        with self._lock:
            step = 0 if self._last is None else index - self._last
            regular = step == self._step and 0 < abs(step) <= _FARTHEST
            self._last, self._step = index, step if step else self._step
            found = next((batch for batch in (self._now, self._next) if batch is not None and batch.has(index, arrays)), None)
            if found is None:
                self._forget()
                if not regular or self._deformer.back_end == "numpy":
                    return self._deformer.frame(index, **arrays._asdict())
                found = _Batch(self._deformer, self._row(index, step, arrays), arrays)
            try:
                frame = found.frame(index)
            except BaseException:
                self._now = self._next = None
                raise
            if found is self._next or self._now is None:
                self._now, self._next = found, None
            if self._next is None:
                rest = self._row(found.wanted[-1] + found.wanted.step, found.wanted.step, arrays)
                self._next = _Batch(self._deformer, rest, arrays) if len(rest) else None
            return frame

    def _row(self, first: int, step: int, arrays: _Arrays) -> range:
        """As many frames as are made at once, a power of two."""
        most, fit = 1, min(16, _BYTES // (4 * arrays.floats() * self._deformer.n_points + 1))
        while 2 * most <= fit:
            most *= 2
        left = (len(self._deformer) - 1 - first) // step if step > 0 else first // -step
        return range(first, first + step * min(most, left + 1), step) if 0 <= first < len(self._deformer) else range(0)

    def _forget(self) -> None:
        self._now = None
        if self._next is not None:
            self._next.drop()
        self._next = None

    def close(self) -> None:
        """Ends what is under way; the Deformer stays open."""
        with self._lock:
            self._forget()
