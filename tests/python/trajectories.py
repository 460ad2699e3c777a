# SPDX-License-Identifier: Apache-2.0
"""Trajectories of tests whose frames follow no motion of their basis: they keep velocities (formats/trajectory.md)."""
import h5py
import numpy as np


def keep_velocities(path):
    """Those of central differences, one-sided at the ends: what is computed without them where frames follow the motion."""
    with h5py.File(path, "r+") as f:
        times, k = f["times"][:], np.arange(len(f["times"]))
        before, after = np.maximum(k - 1, 0), np.minimum(k + 1, len(times) - 1)
        for name, of in (("q_velocities", "q"), ("pose_velocities", "poses")):
            if of in f:
                values = f[of][:]
                span = (times[after] - times[before]).reshape(-1, *[1] * (values.ndim - 1))
                f[name] = (values[after] - values[before]) / span
