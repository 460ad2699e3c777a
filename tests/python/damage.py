# SPDX-License-Identifier: Apache-2.0
"""Damage: seeded, of the bytes of a file and of one chunk of a dataset; other values in the place of a dataset."""
import zlib

import h5py


def replaced(path, values):
    """What makes a dataset of a file anew, of these values."""
    def change(file):
        del file[path]
        file[path] = values
    return change


def damage_bytes(data, chance):
    data = bytearray(data)
    n = len(data)

    def place(length):
        return chance.randrange(max(1, n - length))

    kind = chance.randrange(7)
    if kind == 0:                       # a bit
        data[place(1)] ^= 1 << chance.randrange(8)
    elif kind == 1:                     # bytes here and there
        for _ in range(chance.randint(1, 8)):
            data[place(1)] = chance.randrange(256)
    elif kind == 2:                     # cut
        del data[place(1):]
    elif kind == 3:                     # two blocks change places
        length = chance.choice((8, 16, 64, 512))
        a, b = place(length), place(length)
        data[a:a + length], data[b:b + length] = data[b:b + length], data[a:a + length]
    elif kind == 4:                     # a block of one value
        length = chance.choice((1, 4, 8, 64, 512))
        a = place(length)
        data[a:a + length] = bytes([chance.choice((0, 1, 127, 255))]) * length
    elif kind == 5:                     # a block over another
        length = chance.choice((8, 64, 512))
        a, b = place(length), place(length)
        data[a:a + length] = data[b:b + length]
    else:                               # a number of the metadata
        length = chance.choice((2, 4, 8))
        a = place(length) // 8 * 8
        value = chance.choice((0, 1, 2, 255, 2 ** (8 * length - 1), 2 ** (8 * length) - 1, n, n - 1, a))
        data[a:a + length] = (value % 2 ** (8 * length)).to_bytes(length, "little")
    return bytes(data[:n])


def damage_chunk(path, chance):
    """One chunk becomes something else, or loses filters. False: there is none."""
    with h5py.File(path, "r+") as file:
        names = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) and item.chunks
                        and item.size else None)
        if not names:
            return False
        dataset = file[chance.choice(sorted(names))]
        which = dataset.id.get_chunk_info(chance.randrange(dataset.id.get_num_chunks())).chunk_offset
        mask, stored = dataset.id.read_direct_chunk(which)
        kind = chance.randrange(8)
        if kind == 0:
            stored = stored[:chance.randrange(len(stored))]
        elif kind == 1:
            stored = stored[:chance.choice((1, 2, 3, 4, 5, 20, 21, 22))]
        elif kind == 2:
            stored += bytes(chance.choice((1, 4, 100, 5000)))
        elif kind == 3:
            mask = chance.choice((1, 2, 3, 4, 7, 255, 2 ** 32 - 1))
        elif kind == 4:                 # another number of values, well packed
            stored = zlib.compress(bytes(chance.choice((0, 1, 8, 100, 100000))))
        elif kind == 5:
            stored = damage_bytes(stored, chance)
        elif kind == 6:
            stored = bytes(chance.randrange(256) for _ in range(len(stored)))
        else:                           # another dataset's
            other = file[chance.choice(sorted(names))]
            stored = other.id.read_direct_chunk(other.id.get_chunk_info(0).chunk_offset)[1]
        try:
            dataset.id.write_direct_chunk(which, stored, filter_mask=mask)
        except (OSError, ValueError):   # HDF5 does not write this one
            pass
    return True
