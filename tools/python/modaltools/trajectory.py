# SPDX-License-Identifier: Apache-2.0
"""traj.h5 (formats/trajectory.md): what moves, and when."""
from __future__ import annotations

import os
import tempfile
from typing import Optional, Sequence

import h5py
import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._h5 import Path, open_file, replaced, text
from .basis import Basis, Floats


_MOST_LOST = 0.1  # of the largest speed: lib/deform/rates.c


def _lost(x: Floats) -> Floats:
    """The share of a velocity that central differences lose, where the phase goes on by x from frame to frame."""
    return np.where(x < np.pi, 1 - np.sinc(np.minimum(x, np.pi) / np.pi), 1.0)


class Trajectory:
    """Opens and reads a trajectory; its basis is read when it is asked for, or given."""

    def __init__(self, path: Path, basis: Optional[Basis] = None) -> None:
        self.path = os.fspath(path)
        with open_file(path, "trajectory", (1,)) as file:
            self.times: Floats = file["times"][:].astype(float)
            self.q: Floats = file["q"][:].astype(float)
            self.offsets: NDArray[np.int64] = file["mode_offsets"][:].astype(np.int64)
            self.poses: Optional[Floats] = file["poses"][:].astype(float) if "poses" in file else None
            if self.poses is not None and "posed_objects" in file:  # the pose of an object that stands still is stored once
                moving, still = file["posed_objects"][:], np.ones(len(self.offsets) - 1, bool)
                still[moving] = False
                poses = np.empty((len(self.times), len(still), 3, 4))
                poses[:, moving], poses[:, still] = self.poses, file["static_poses"][:]
                self.poses = poses
            self.q_velocities: Optional[Floats] = None  # as q and poses; None: not kept
            self.pose_velocities: Optional[Floats] = None
            if "q_velocities" in file:
                self.q_velocities = file["q_velocities"][:].astype(float)
                if self.poses is not None:
                    self.pose_velocities = np.zeros_like(self.poses)
                    own_frames = file["posed_objects"][:] if "posed_objects" in file else np.arange(len(self.offsets) - 1)
                    self.pose_velocities[:, own_frames] = file["pose_velocities"][:]
            self.energy: Optional[Floats] = file["energy"][:].astype(float) if "energy" in file else None
            self.basis_hash = text(file.attrs["basis_hash"])
            own = text(file.attrs["basis_path"])
            self.models: Optional[NDArray[np.uint8]] = None  # of each object 0 the linear model, 1 St. Venant-Kirchhoff's; None: all 0
            if "models" in file:
                self.models = file["models"][:]
            carried = file["basis_file"][:] if "basis_file" in file else None
        self._check()
        self.basis_path = os.path.join(os.path.dirname(os.path.abspath(self.path)), own)
        if carried is not None:  # a file of its own, which goes with this object
            self._carried = tempfile.NamedTemporaryFile(prefix="modaltools-", suffix=".h5")
            self._carried.write(carried.tobytes())
            self._carried.flush()
            self.basis_path = self._carried.name
        self._basis: Optional[Basis] = None
        self._follows = False  # frames are known to follow the motion
        if basis is not None:
            self._take(basis)

    def _check(self) -> None:
        """ValueError for numbers that no reader may take (formats/trajectory.md, invariants 2 to 5)."""
        frames, objects = len(self.times), len(self.offsets) - 1
        if frames == 0 or not np.all(np.isfinite(self.times)) or not np.all(np.diff(self.times) > 0):
            raise ValueError(f"{self.path}: times: not finite and increasing")
        if objects < 1 or self.offsets[0] != 0 or np.any(np.diff(self.offsets) < 0) or self.q.shape != (frames, self.offsets[-1]):
            raise ValueError(f"{self.path}: mode_offsets: not those of q")
        if self.poses is not None and self.poses.shape != (frames, objects, 3, 4):
            raise ValueError(f"{self.path}: poses: has the shape {self.poses.shape}")
        if self.models is not None and (self.models.shape != (objects,) or self.models.max() > 1):
            raise ValueError(f"{self.path}: models: not 0 or 1 for each object")
        for name, array, like in (("q_velocities", self.q_velocities, self.q), ("pose_velocities", self.pose_velocities, self.poses)):
            if array is not None and (like is None or array.shape != like.shape):
                raise ValueError(f"{self.path}: {name}: has the shape {array.shape}")
        for name, array in (("q", self.q), ("poses", self.poses), ("q_velocities", self.q_velocities), ("pose_velocities", self.pose_velocities)):
            bad = np.argwhere(~np.isfinite(array)) if array is not None else np.empty((0, 1))
            if len(bad):
                raise ValueError(f"{self.path}: {name}: frame {bad[0][0]}: not finite")

    def __len__(self) -> int:
        return len(self.times)

    def _take(self, basis: Basis) -> None:
        if basis.content_hash != self.basis_hash:
            raise ValueError(f"{self.path}: made for another basis, {basis.path} has the hash {basis.content_hash}, "
                             f"not {self.basis_hash}")
        self._basis = basis

    @property
    def basis(self) -> Basis:
        if self._basis is None:
            self._take(Basis(self.basis_path))
        assert self._basis is not None
        return self._basis

    def rates(self, frame: int, modes: "Sequence[tuple[str, Floats, float]]") -> "tuple[Floats, Optional[Floats]]":
        """Rates of change of q and of the poses at a frame: those that the trajectory keeps, or differences over the frames before and after.
        modes: of each object kind, frequencies (Hz) and total mass. ValueError where differences do not follow the motion."""
        if self.q_velocities is not None:
            return self.q_velocities[frame], None if self.pose_velocities is None else self.pose_velocities[frame]
        if not self._follows:
            self._check_rates(modes)
            self._follows = True
        a, b = max(frame - 1, 0), min(frame + 1, len(self) - 1)  # central, one-sided at the ends
        dt = self.times[b] - self.times[a]
        return (self.q[b] - self.q[a]) / dt, None if self.poses is None else (self.poses[b] - self.poses[a]) / dt

    def _check_rates(self, modes: "Sequence[tuple[str, Floats, float]]") -> None:
        if len(self) < 2:
            raise ValueError(f"{self.path}: speed needs two frames")
        dt, fastest, worst = float(np.diff(self.times).max()), 0.0, (0.0, 0, 0, 0.0)
        for i, (kind, frequencies, mass) in enumerate(modes):
            q = self.q[:, self.offsets[i]:self.offsets[i + 1]]
            if q.shape[1] == 0:
                continue
            x = 2 * np.pi * frequencies * dt
            if kind != "modes":  # the frequency that second differences show
                squares, bends = ((q - q.mean(0))[1:-1] ** 2).sum(0), (np.diff(q, 2, axis=0) ** 2).sum(0)
                x = 2 * np.arcsin(np.minimum(1, 0.5 * (bends / np.where(squares > 0, squares, np.inf)) ** 0.25))
            speed = x / dt * np.ptp(q, axis=0) / 2
            lost, scale = _lost(x) * speed, 1 / np.sqrt(mass if mass > 0 else 1)
            fastest = max(fastest, float(scale * np.sqrt((speed**2).sum())))
            k = int(np.argmax(lost))
            worst = max(worst, (float(scale * np.sqrt((lost**2).sum())), i, k, float(x[k] / (2 * np.pi * dt))))
        if self.poses is not None:
            turns = np.einsum("foij,foij->fo", self.poses[1:, :, :, :3], self.poses[:-1, :, :, :3]).min(0)
            angle = np.arccos(np.clip((turns - 1) / 2, -1, 1))
            if not (_lost(angle) <= _MOST_LOST).all():
                raise ValueError(f"{self.path}: object {int(np.argmax(angle))}: turns by {np.degrees(angle.max()):.3g} degrees from frame to frame, whose speed "
                                 "needs more frames a second, or velocities (modalsim --velocities)")
        if not worst[0] <= _MOST_LOST * fastest:
            raise ValueError(f"{self.path}: object {worst[1]}, mode {worst[2]}: moves at {worst[3]:.6g} Hz, whose speed needs {np.ceil(8 * worst[3]):.0f} frames "
                             f"a second, {1 / dt:.6g}, or velocities (modalsim --velocities)")

    def deform(self, frame: int) -> Floats:
        """World positions [points, 3] of a frame."""
        return self.basis.deform(self.q[frame], None if self.poses is None else self.poses[frame])

    @staticmethod
    def write(path: Path, basis: Basis, times: ArrayLike, q: ArrayLike, poses: Optional[ArrayLike] = None,
              energy: Optional[ArrayLike] = None) -> None:
        """Writes times [F] s, q [F, n_coordinates] kg^1/2 m, poses [F, objects, 3, 4], energy [F, 4] J. ValueError for what the
        specification forbids, and for a file of the basis as `path`; `path` is replaced when all is written, and only then."""
        times, q = np.asarray(times, float), np.asarray(q, float)
        frames = None if poses is None else np.asarray(poses, float)
        joules = None if energy is None else np.asarray(energy, float)
        n = len(times)
        wanted = {"q": (q, (n, basis.n_coordinates)), "poses": (frames, (n, len(basis.objects), 3, 4)), "energy": (joules, (n, 4))}
        if times.ndim != 1 or n == 0 or not np.all(np.isfinite(times)) or not np.all(np.diff(times) > 0):
            raise ValueError(f"{os.fspath(path)}: times: not finite and increasing")
        for name, (array, shape) in wanted.items():
            if array is not None and array.shape != shape:
                raise ValueError(f"{os.fspath(path)}: {name}: has the shape {array.shape}, not {shape}")
            if array is not None and not np.all(np.isfinite(array)):
                raise ValueError(f"{os.fspath(path)}: {name}: not finite")
        if frames is not None:
            rotation = frames[..., :3]
            off = np.abs(rotation @ np.swapaxes(rotation, -1, -2) - np.eye(3)).max()
            if not off <= 1e-6 or not np.all(np.linalg.det(rotation) > 0):
                raise ValueError(f"{os.fspath(path)}: poses: not rotations")
        folder = os.path.dirname(os.path.abspath(path))
        link = os.path.relpath(os.path.abspath(basis.path), folder)
        with replaced(path, basis.files) as temporary, h5py.File(temporary, "w", libver=("v108", "v108")) as file:
            for name, value in (("modal_format", "trajectory"), ("modal_format_version", "1.0"),
                                ("basis_hash", basis.content_hash), ("basis_path", link)):
                file.attrs.create(name, np.bytes_(os.fsencode(value)))
            file["basis"] = h5py.ExternalLink(link, "/")
            file["times"], file["mode_offsets"], file["q"] = times, basis.offsets, q
            if frames is not None:
                file["poses"] = frames
            if joules is not None:
                file["energy"] = joules
