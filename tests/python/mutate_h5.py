# SPDX-License-Identifier: Apache-2.0
"""Seeded mutations of our HDF5 files by h5py: values, types, shapes, storage, links, attributes, views, lists of hashes.
Each takes the open file and a random.Random, and may fail where another one has removed what it needs."""
import re

import h5py
import numpy as np

NUMBERS = {"f": (0.0, -0.0, 1.0, -1.0, 1e-30, -1e-9, 1e30, np.nan, np.inf, -np.inf),
           "i": (0, 1, -1, 2, 3, 5, 7, 31, 32, 100, 2 ** 31 - 1, -2 ** 31), "u": (0, 1, 2, 5, 6, 7, 8, 255)}
DTYPES = (">f8", ">f4", ">i4", ">i8", "<f8", "<f4", "<f2", "<i2", "<i4", "<i8", "<u4", "<u8", "i1", "u1", "S4")


# ---- what files hold ----

def items(file, kind):
    """Paths of all groups or datasets, each once."""
    found = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, kind) else None)
    return sorted(found)


def plain_datasets(file):
    return [name for name in items(file, h5py.Dataset) if not file[name].is_virtual]


def attributes(file):
    return [(path, name) for path in ["/", *items(file, (h5py.Group, h5py.Dataset))] for name in sorted(file[path].attrs)]


def replace(file, path, make):
    """Deletes the dataset and calls make(group, name, its values)."""
    parent, name = file[path].parent, path.rsplit("/", 1)[-1]
    values, kept = file[path][()], dict(file[path].attrs)
    del parent[name]
    new = make(parent, name, values)
    if isinstance(new, h5py.Dataset):
        for key, value in kept.items():
            new.attrs[key] = value


def flip(values):
    return values.astype(values.dtype.newbyteorder(">"))


# ---- mutations ----

def change_value(file, chance):
    path = chance.choice([name for name in plain_datasets(file) if file[name].size])
    values = file[path][()]
    flat, kind = np.atleast_1d(values).ravel().copy(), values.dtype.kind
    if kind not in NUMBERS:
        return
    for _ in range(chance.choice((1, 1, 1, 3))):
        at = chance.randrange(flat.size)
        how = chance.randrange(7)
        with np.errstate(all="ignore"):
            if how < 2:
                flat[at] = np.array(chance.choice(NUMBERS[kind])).astype(flat.dtype)
            elif how == 2:
                flat[at] += np.array(chance.choice((1, -1))).astype(flat.dtype)
            elif how == 3:
                other = chance.randrange(flat.size)
                flat[at], flat[other] = flat[other], flat[at]
            elif how == 4:
                flat[at] = flat[chance.randrange(flat.size)]
            elif how == 5 and kind == "f":
                flat[at] *= 1 + chance.choice((1e-12, 1e-9, 1e-7, 1e-5, 1e-3))
            else:
                flat = flat[::-1].copy()
    file[path][()] = flat.reshape(values.shape)


def remove(file, chance):
    path = chance.choice(items(file, (h5py.Group, h5py.Dataset)))
    del file[path]


def remove_attribute(file, chance):
    path, name = chance.choice(attributes(file))
    del file[path].attrs[name]


def change_attribute(file, chance):
    path, name = chance.choice(attributes(file))
    owner, old = file[path].attrs, file[path].attrs[name]
    how = chance.randrange(5)
    if isinstance(old, (bytes, str)):
        text = old if isinstance(old, bytes) else old.encode()
        new = chance.choice((
            text, text.decode("utf-8", "replace"), text + b" ", text[:-1], text.upper(), b"", b"a\0b", b"\xff\xfe", b"0" * 32,
            b"imported", b"derivatives", b"modes", b"orthotropic", b"isotropic", b"boundary", b"embedded", b"lumped", b"float64",
            b"3.7", b"2.0", b"3.0", b"1.0", b"4.0", b"3", b"01.0", b"1.0 ", b"basis", b"trajectory", b"snapshots", b"vertex_major",
            b"tile32", b"UnstructuredGrid", b"PolyData", b"x" * 5000))
        if how == 0:
            new = chance.choice((1, 1.5, np.array([text], "S40"), h5py.Empty("S3")))
        elif how == 1 and isinstance(new, bytes):
            length, padding = max(1, len(new) + chance.choice((0, 1, 7))), chance.choice((0, 1, 2))
            kind = h5py.h5t.C_S1.copy()
            kind.set_size(length)
            kind.set_strpad(padding)
            kind.set_cset(chance.choice((0, 1)))
            del owner[name]
            created = h5py.h5a.create(file[path].id, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
            created.write(np.array(new.ljust(length, b" \0"[padding != 2:][:1]), f"S{length}"), mtype=kind)
            return
        owner[name] = np.bytes_(new) if isinstance(new, bytes) and new and b"\0" not in new else new
        return
    old = np.asarray(old)
    if how == 0:
        new = np.array(chance.choice(("text", 1.0, 1)))
        owner[name] = new.item()
    elif how == 1:
        owner.create(name, old, dtype=old.dtype.newbyteorder(">"))
    elif how == 2:
        with np.errstate(invalid="ignore"):
            owner.create(name, old.astype(chance.choice(("<f4", "<i4", "<u8", "<f8", "<i8"))))
    elif how == 3:
        owner.create(name, np.array([old, old]) if chance.random() < 0.5 else old.reshape(-1, 1) if old.ndim else old.reshape(1))
    else:
        new = np.array(chance.choice(NUMBERS["f" if old.dtype.kind == "f" else "i"]))
        owner.create(name, np.full(old.shape, new), dtype=old.dtype)


def change_type(file, chance):
    path = chance.choice(plain_datasets(file))

    def make(group, name, values):
        with np.errstate(all="ignore"):
            try:
                changed = np.nan_to_num(values).astype(chance.choice(DTYPES)) if chance.random() < 0.6 else flip(values)
            except (ValueError, TypeError):
                changed = flip(values)
        return group.create_dataset(name, data=changed)
    replace(file, path, make)


def change_shape(file, chance):
    path = chance.choice(plain_datasets(file))

    def make(group, name, values):
        how = chance.randrange(8)
        if how == 0:
            values = values[None]
        elif how == 1:
            values = values.ravel()
        elif how == 2 and values.size:
            values = values[:-1]
        elif how == 3 and values.size:
            values = np.concatenate([np.atleast_1d(values), np.atleast_1d(values)[-1:]])
        elif how == 4:
            values = values[..., None] if chance.random() < 0.5 else values.T
        elif how == 5:
            return group.create_dataset(name, data=h5py.Empty(values.dtype))
        elif how == 6 and values.size:
            return group.create_dataset(name, data=values.ravel()[0])
        else:
            rank = values.ndim
            return group.create_dataset(name, (0,) * rank, values.dtype, maxshape=(None,) * rank, chunks=(1,) * rank)
        return group.create_dataset(name, data=values)
    replace(file, path, make)


def change_storage(file, chance):
    """Chunks, filters, compact, holes, and layouts that are not allowed."""
    path = chance.choice([name for name in plain_datasets(file) if file[name].size and file[name].ndim])

    def make(group, name, values):
        how = chance.randrange(12)
        chunks = tuple(chance.randint(1, n) for n in values.shape)
        common = {"chunks": chunks, "compression": chance.choice((None, "gzip", 1, 9)), "shuffle": chance.random() < 0.5,
                  "fletcher32": chance.random() < 0.1}
        if how < 4:
            return group.create_dataset(name, data=flip(values) if how == 0 else values, **common)
        if how == 4:
            exact = 0 if values.dtype.kind in "iu" else 30
            return group.create_dataset(name, data=values, chunks=chunks, scaleoffset=exact, shuffle=common["shuffle"])
        if how == 5:
            return group.create_dataset(name, data=values, chunks=chunks, compression="lzf")
        if how == 6:  # chunks that were never written
            new = group.create_dataset(name, values.shape, values.dtype, chunks=chunks)
            new[(slice(0, chunks[0]),)] = values[:chunks[0]]
            return new
        if how == 7:
            return group.create_dataset(name, values.shape, values.dtype)
        plist, kind, space = h5py.h5p.create(h5py.h5p.DATASET_CREATE), h5py.h5t.py_create(values.dtype, logical=True), \
            h5py.h5s.create_simple(values.shape)
        if how == 8:
            plist.set_layout(h5py.h5d.COMPACT)
        elif how == 9:
            plist.set_external(b"elsewhere.bin", 0, h5py.h5f.UNLIMITED)
        elif how == 10:
            plist.set_chunk(chunks)
            for _ in range(chance.choice((2, 8, 9))):
                chance.choice((plist.set_shuffle, plist.set_fletcher32, lambda: plist.set_deflate(3)))()
        else:
            plist.set_chunk(chunks)
            plist.set_deflate(4)
            plist.set_scaleoffset(h5py.h5z.SO_INT if values.dtype.kind in "iu" else h5py.h5z.SO_FLOAT_DSCALE, 0)
        new = h5py.Dataset(h5py.h5d.create(group.id, name.encode(), kind, space, plist))
        new[...] = values
        return new
    try:
        replace(file, path, make)
    except (OSError, ValueError, RuntimeError):  # HDF5 does not make this one
        pass


def change_link(file, chance):
    path = chance.choice(items(file, (h5py.Group, h5py.Dataset)))
    name, other = "/" + path, chance.choice(plain_datasets(file))
    how = chance.randrange(7)
    if how == 0:
        file["moved"] = file[path]
        del file[path]
        file[name] = h5py.SoftLink("/moved")
    elif how == 1:
        del file[path]
        file[name] = h5py.ExternalLink("other.h5", name)
    elif how == 2:
        del file[path]
        file[name] = h5py.SoftLink("/nowhere")
    elif how == 3:
        file["moved"] = file[path]
        del file[path]
        file[name] = file["moved"]
    elif how == 4 and path != other and not other.startswith(path + "/"):
        item = file[other]
        del file[path]
        file[name] = item
    elif how == 5:
        is_group = isinstance(file[path], h5py.Group)
        del file[path]
        file.create_dataset(name, data=1.0) if is_group else file.create_group(name)
    else:
        shape, dtype = file[other].shape, file[other].dtype
        if shape:
            layout = h5py.VirtualLayout(shape, dtype)
            layout[...] = h5py.VirtualSource(".", "/moved", shape, dtype)
            file["moved"] = file[other]
            del file[other]
            file.create_virtual_dataset("/" + other, layout)


def add_unknown(file, chance):
    """What must be ignored."""
    groups = ["/", *items(file, h5py.Group)]
    for _ in range(chance.choice((1, 3))):
        group = file[chance.choice(groups)]
        how = chance.randrange(4)
        if how == 0:
            group.require_group("acme_paint")
        elif how == 1 and "acme" not in group:
            group.create_dataset("acme", data=np.array([np.nan, 1.0]))
        elif how == 2:
            group.attrs["acme"] = chance.choice((1, "text", np.nan))
        elif "0007" not in group:
            group.create_group("0007")


def change_extensions(file, chance):
    for name in ("extensions_used", "extensions_required"):
        if chance.random() < 0.7:
            file.attrs[name] = chance.choice(("acme_paint", "", "acme_paint modal_rings", "Acme", "two  spaces", "acme_", " acme",
                                              5, np.bytes_(b"acme_paint"), "x" * 63, "x" * 64, "1a", "_a"))


def change_hashed(file, chance):
    if "hashed" not in file.attrs:
        return change_value(file, chance)
    names = file.attrs["hashed"]
    names = (names.decode() if isinstance(names, bytes) else names).split(" ")
    how, at = chance.randrange(8), chance.randrange(len(names))
    if how == 0:
        del names[at]
    elif how == 1:
        names.insert(at, chance.choice(("shapes/*/acme/array", "acme/array", "nowhere", "shapes/*/nowhere/*/x", "*/x",
                                        "shapes/*", "", "shapes", "/shapes/hash", "objects/*", "shapes/0000/surface/triangles")))
        shape, values = file["shapes/0000"], np.arange(6, dtype=chance.choice(("<f4", "<i8", "u1", "<u4"))).reshape(2, 3)
        if chance.random() < 0.6 and "acme" not in shape and "acme" not in file:
            shape["acme/array"] = values
            file["acme/array"] = values
    elif how == 2:
        names.append(names[at])
    elif how == 3:
        other = chance.randrange(len(names))
        names[at], names[other] = names[other], names[at]
    elif how == 4:
        chance.shuffle(names)
    elif how == 5:
        names[at] += chance.choice((" ", "/", "x", "/x"))
    elif how == 6:
        names[at] = "/" + names[at]
    else:
        names = names[:at]
    file.attrs["hashed"] = np.bytes_(" ".join(names).encode() or b"\0")
    return None


def change_view(file, chance):
    if "xdmf" not in file:
        return change_value(file, chance)
    views = [name for name in items(file, h5py.Dataset) if name.startswith("xdmf/")]
    path = chance.choice(views)
    view, how = file[path], chance.randrange(8)
    part = view.virtual_sources()[0]
    shape, dtype, source = view.shape, view.dtype, part.dset_name
    whole, (start, stop) = file[source].shape, part.src_space.get_select_bounds()
    block = [slice(a, b + 1) for a, b in zip(start, stop)]
    name, target, layout = ".", "/" + path, h5py.VirtualLayout(shape, dtype)
    values = view[()]
    if how == 0:
        del file[path]
        file[target] = values
        return None
    if how == 1:
        block[0] = slice(0, shape[0]) if chance.random() < 0.5 else slice(whole[0] - shape[0], whole[0])
    elif how == 2:
        name = "other.h5"
    elif how == 3:
        source = chance.choice([x for x in plain_datasets(file) if file[x].shape == whole] or [source])
    elif how == 4:
        layout = h5py.VirtualLayout(shape, chance.choice((">f4", "<f8")))
    elif how == 5:  # half of the rows
        half = slice(start[0], start[0] + shape[0] // 2)
        layout[:shape[0] // 2] = h5py.VirtualSource(name, source, whole, dtype)[(half, *block[1:])]
        del file[path]
        file.create_virtual_dataset(target, layout)
        return None
    elif how == 6:  # two pieces
        half = shape[0] // 2
        for a, b in ((0, half), (half, shape[0])):
            rows = slice(start[0] + a, start[0] + b)
            layout[a:b] = h5py.VirtualSource(name, source, whole, dtype)[(rows, *block[1:])]
        del file[path]
        file.create_virtual_dataset(target, layout)
        return None
    layout[...] = h5py.VirtualSource(name, source, whole, dtype)[tuple(block)]
    del file[path]
    file.create_virtual_dataset(target, layout, fillvalue=chance.choice((None, 0)))
    return None


def change_part(shape, chance):
    """Of a shape that lies in another file."""
    how = chance.randrange(4)
    if how == 0:
        shape.attrs["file"] = np.bytes_(chance.choice((
            b"basis.h5", b"twig3.h5", b"./basis.h5", b"../basis.h5", b"/basis.h5", b"x/../basis.h5", b"nowhere.h5",
            b"assembly.h5", b"traj.h5", b"places.csv", b"basis.h5/", b"//basis.h5", b"linked-basis.h5",
            b"outside.h5", b"basis.h5 ")))
    elif how == 1:
        shape.attrs["file_shape"] = np.int64(chance.choice((0, 1, 2, -1, 2 ** 40)))
    elif how == 2:
        shape[chance.choice(("surface", "modes", "acme"))] = np.arange(3.0)
    else:
        shape.create_group(chance.choice(("surface", "modes", "acme")))


def change_form(file, chance):
    """Other ways to say what a basis says, half right."""
    shapes = [name for name in items(file, h5py.Group) if re.fullmatch(r"shapes/\d{4}", name)]
    if not shapes:
        return change_value(file, chance)
    parts = [name for name in shapes if "file" in file[name].attrs]
    if parts:
        return change_part(file[chance.choice(parts)], chance)
    shape, how = file[chance.choice(shapes)], chance.randrange(9)
    modes, volume = shape["modes"], shape["volume"]
    if how < 3:
        matrix = modes["modal_matrix"][()]
        plain = matrix.transpose(0, 3, 2, 1).reshape(-1, 3, matrix.shape[1])[:shape["surface/rest_positions"].shape[0]]
        if how < 2:
            del modes["modal_matrix"]
            modes["modal_matrix"] = plain if how == 0 else np.concatenate([plain, plain[:1]])
        modes["modal_matrix"].attrs["layout"] = chance.choice(("vertex_major", "vertex_major", "tile32", "rows"))
    elif how == 3:
        name = "volume_modes" if "volume_modes" in volume else "inner_modes"
        values = volume[name][()]
        del volume[name]
        volume[name] = values.astype(chance.choice(("<f4", "<f8")))
    elif how == 4:
        old = "volume_modes" if "volume_modes" in volume else "inner_modes"
        volume.move(old, "inner_modes" if old == "volume_modes" else "volume_modes")
    elif how == 5:
        volume["volume_modes" if "inner_modes" in volume else "inner_modes"] = np.zeros(
            (modes["eigenvalues"].shape[0], volume["nodes"].shape[0], 3), "f4")
    elif how == 6:
        del volume["element_material"]
    elif how == 7:
        modes.attrs["kind"] = np.bytes_(chance.choice((b"imported", b"snapshots")))
        for name in ("mass_coupling", "stiffness_coupling"):
            if chance.random() < 0.8:
                modes.attrs[name] = chance.choice((0.0, 1.0, 1e-9, -1.0, 2.0))
        if chance.random() < 0.5:
            del shape["volume"]
            for name, value in (("eigenvalues", 0), ("frequencies", 0), ("participation", 0), ("modal_masses", 1)):
                modes[name][...] = value
            modes.attrs["total_mass"] = 0.0
            if chance.random() < 0.5:
                del shape["reduced_forces"]
    else:
        del volume[chance.choice(("volume_modes", "inner_modes", "embedding_offsets", "embedding_weights",
                                  "groups"))]
    return None


MUTATIONS = (change_value,) * 10 + (change_attribute,) * 5 + (change_storage,) * 4 + \
    (change_form, change_type, change_shape, change_link) * 2 + \
    (remove, remove_attribute, add_unknown, change_extensions, change_hashed, change_view)
