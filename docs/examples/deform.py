# SPDX-License-Identifier: Apache-2.0
# World positions of every frame of a trajectory, of one object at rest in its shape's axes:
# python3 deform.py basis.h5 traj.h5 > positions.f32
import sys
import h5py
import numpy as np

with h5py.File(sys.argv[1]) as basis, h5py.File(sys.argv[2]) as motion:
    shape = basis["shapes/0000"]
    rest, order = shape["surface/rest_positions"][:], shape["surface/user_vertex"][:]
    tiles = shape["modes/modal_matrix"][:]  # [tiles, modes, 3, 32]
    U = tiles.transpose(0, 3, 2, 1).reshape(-1, 3, tiles.shape[1])[:len(rest)]
    for q in motion["q"][:]:
        x = np.empty_like(rest)
        x[order] = rest + U @ q
        sys.stdout.buffer.write(x.astype("<f4").tobytes())
