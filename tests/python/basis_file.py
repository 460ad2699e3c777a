# SPDX-License-Identifier: Apache-2.0
"""What tests read of a basis.h5 that files have in several ways (formats/basis.md)."""
import numpy as np

NODES_OF = np.array([4, 10, 8, 20, 6, 5])  # of an element, by its type


def shapes(file):
    return [file[f"shapes/{i:04}"] for i in range(file["shapes"].attrs["count"])]


def modal_matrix(shape):
    """U [V, 3, r] of /shapes/NNNN."""
    matrix = shape["modes/modal_matrix"]
    if matrix.attrs.get("layout", b"tile32") in (b"vertex_major", "vertex_major"):
        return matrix[:]
    tiles = matrix[:].transpose(0, 3, 2, 1)
    return tiles.reshape(-1, 3, tiles.shape[3])[:len(shape["surface/rest_positions"])]


def node_modes(shape):
    """phi [r, N, 3] at the nodes, or None."""
    volume = shape["volume"]
    if "volume_modes" in volume:
        return volume["volume_modes"][:]
    if "inner_modes" not in volume:
        return None
    vertices, inner = volume["embedding_nodes"][:], volume["inner_modes"][:]
    phi = np.empty((len(inner), len(volume["nodes"]), 3), "f4")
    others = np.ones(phi.shape[1], bool)
    others[vertices] = False
    phi[:, vertices] = modal_matrix(shape).transpose(2, 0, 1)
    phi[:, others] = inner
    return phi


def element_offsets(volume):
    return np.concatenate([[0], np.cumsum(NODES_OF[volume["element_types"][:]])])
