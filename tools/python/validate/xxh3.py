# SPDX-License-Identifier: Apache-2.0
"""XXH3 with 128 bits, by libxxhash."""
import ctypes
import ctypes.util

import numpy as np

LIBRARY = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")


class Digest(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


LIBRARY.XXH3_createState.restype, LIBRARY.XXH3_128bits_digest.restype = ctypes.c_void_p, Digest
LIBRARY.XXH3_128bits_reset.argtypes = LIBRARY.XXH3_128bits_digest.argtypes = LIBRARY.XXH3_freeState.argtypes = (ctypes.c_void_p,)
LIBRARY.XXH3_128bits_update.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


def hash_of_arrays(arrays):
    """32 hexadecimal digits of (name, values) in turn, as formats/basis.md hashes arrays."""
    state = LIBRARY.XXH3_createState()
    LIBRARY.XXH3_128bits_reset(state)
    for name, values in arrays:
        header = b"".join(n.to_bytes(8, "little") for n in (len(name), values.size, values.dtype.itemsize)) + name.encode()
        LIBRARY.XXH3_128bits_update(state, header, len(header))
        values = np.ascontiguousarray(values)
        LIBRARY.XXH3_128bits_update(state, values.ctypes.data, values.nbytes)
    digest = LIBRARY.XXH3_128bits_digest(state)
    LIBRARY.XXH3_freeState(state)
    return f"{digest.high:016x}{digest.low:016x}"
