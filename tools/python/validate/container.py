# SPDX-License-Identifier: Apache-2.0
"""How a file is stored (formats/container.md): where it ends, hard links, exact types, chunks and filters, texts, extensions."""
import itertools
import os
import re
import zlib

import h5py
import numpy as np
from h5py import h5a, h5d, h5l, h5s, h5t, h5z

DAMAGE = (OSError, RuntimeError, KeyError, ValueError, TypeError, MemoryError, OverflowError, zlib.error)
TYPES = {"f64": (h5t.IEEE_F64LE, h5t.IEEE_F64BE, "<f8"), "f32": (h5t.IEEE_F32LE, h5t.IEEE_F32BE, "<f4"),
         "i32": (h5t.STD_I32LE, h5t.STD_I32BE, "<i4"), "i64": (h5t.STD_I64LE, h5t.STD_I64BE, "<i8"),
         "u8": (h5t.STD_U8LE, h5t.STD_U8BE, "<u1")}
FILTERS = {h5z.FILTER_DEFLATE: "deflate", h5z.FILTER_SHUFFLE: "shuffle", h5z.FILTER_SCALEOFFSET: "scaleoffset"}
PIPELINES = ([], ["deflate"], ["shuffle"], ["shuffle", "deflate"], ["scaleoffset"], ["scaleoffset", "deflate"])
MOST_CLAIMED, MOST_USER_BLOCK = 1100, 1 << 20
SCALEOFFSET_HEAD = 21  # bytes: the number of bits, the minimum and padding
EXTENSION = re.compile(r"[a-z][a-z0-9_]{0,62}")


class Unreadable(Exception):
    """The file is none of ours, or cannot be read: exit code 3."""


def type_name(type_id):
    return next((name for name, (little, big, _) in TYPES.items() if type_id.equal(little) or type_id.equal(big)), None)


def check_end(path):
    """The file ends where its superblock says."""
    size, at = os.path.getsize(path), 0
    with open(path, "rb") as file:
        while True:
            file.seek(at)
            head = file.read(64)
            if head[:8] == b"\x89HDF\r\n\x1a\n":
                break
            at = max(512, 2 * at)
            if at > MOST_USER_BLOCK or at >= size:
                raise Unreadable("no HDF5")
    version = head[8]
    if version not in (0, 2, 3) or (head[13:15] if version < 2 else head[9:11]) != b"\x08\x08":
        raise Unreadable(f"superblock of version {version}, or addresses or lengths that have not 8 bytes")
    field = 28 if version else 40
    end = at + int.from_bytes(head[field:field + 8], "little")
    if end != size:
        raise Unreadable(f"has {size} bytes, but ends at {end}")


class File:
    """A file that is checked. What is wrong goes to `findings`, (path, what); a method that finds something wrong returns None."""

    def __init__(self, path):
        if os.path.exists(path) and not os.path.isfile(path):
            raise Unreadable("is not a regular file")
        self.path, self.findings, self.size = path, [], os.path.getsize(path)
        check_end(path)
        try:
            self.h5 = h5py.File(path, "r")
            self.root = self.h5["/"]
        except DAMAGE as error:
            raise Unreadable(f"HDF5: {error}") from error
        self.arrays, self.doubts, self.unjudged = {}, [], None

    def broken(self, path, what):
        self.findings.append((path, what))

    def must(self, condition, path, what):
        if not condition:
            self.broken(path, what)
        return condition

    def link(self, path):
        """The kind of the link at `path`, None if there is none. Every group before it is reached by hard links."""
        try:
            group, names = self.root, path.strip("/").split("/")
            for name in names[:-1]:
                if name.encode() not in group.id or group.id.links.get_info(name.encode()).type != h5l.TYPE_HARD:
                    return None
                group = group[name]
                if not isinstance(group, h5py.Group):
                    return None
            name = names[-1].encode()
            return group.id.links.get_info(name).type if group.id.links.exists(name) else None
        except DAMAGE as error:
            self.broken(path, f"cannot be read: {error}")
            return None

    def has(self, path):
        return path == "/" or self.link(path) is not None

    def _object(self, path, kind, optional):
        if path == "/":
            return self.root
        before, link = len(self.findings), self.link(path)
        if link is None:
            self.must(optional or len(self.findings) > before, path, "is missing")
            return None
        if not self.must(link == h5l.TYPE_HARD, path, "is no hard link"):
            return None
        try:
            found = self.h5[path]
        except DAMAGE as error:
            self.broken(path, f"cannot be read: {error}")
            return None
        return found if self.must(isinstance(found, kind), path, "is no dataset" if kind is h5py.Dataset else "is no group") else None

    def group(self, path, optional=False):
        return self._object(path, h5py.Group, optional)

    def dataset(self, path):
        return self._object(path, h5py.Dataset, False)

    def _attribute(self, path, name, optional):
        """(attribute, its path), or (None, its path)."""
        at = f"{path.rstrip('/')}/@{name}"
        owner = self._object(path, (h5py.Group, h5py.Dataset), False)
        try:
            if owner is None or not h5a.exists(owner.id, name.encode()):
                self.must(owner is None or optional, at, "is missing")
                return None, at
            return h5a.open(owner.id, name.encode()), at
        except DAMAGE as error:
            self.broken(at, f"cannot be read: {error}")
            return None, at

    def peek(self, path, name, exists=False):
        """An attribute's text or number without findings, None if it is absent or broken; or whether it exists."""
        findings = list(self.findings)
        try:
            attribute, _ = self._attribute(path, name, True)
            if exists or attribute is None:
                return attribute is not None if exists else None
            text = isinstance(attribute.get_type(), h5t.TypeStringID)
            return self.text(path, name, True) if text else self.number(path, name, type_name(attribute.get_type()), True)
        except DAMAGE:
            return None
        finally:
            self.findings = findings

    def text(self, path, name, optional=False):
        attribute, at = self._attribute(path, name, optional)
        if attribute is None:
            return None
        try:
            kind = attribute.get_type()
            if not self.must(isinstance(kind, h5t.TypeStringID), at, "is no text") or \
                    not self.must(attribute.get_space().get_simple_extent_npoints() == 1, at, "is not one text"):
                return None
            if kind.is_variable_str():
                value = np.empty(attribute.shape, dtype=object)
                attribute.read(value)
                value = value.item() or b""
                value = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
            else:
                value = np.empty(attribute.shape, dtype=f"S{kind.get_size()}")
                attribute.read(value, mtype=kind)
                value = value.tobytes()
                value = value.rstrip(b" ") if kind.get_strpad() == h5t.STR_SPACEPAD else value
            return value.partition(b"\0")[0].decode("utf-8", "surrogateescape")
        except DAMAGE as error:
            self.broken(at, f"cannot be read: {error}")
            return None

    def number(self, path, name, type_, optional=False, shape=None):
        """One value, or an array of exactly this shape."""
        attribute, at = self._attribute(path, name, optional)
        if attribute is None:
            return None
        try:
            good = attribute.shape == shape or shape is None and attribute.get_space().get_simple_extent_npoints() == 1
            if not self.must(type_name(attribute.get_type()) == type_, at, f"is not of type {type_}") or \
                    not self.must(good, at, f"has the shape {attribute.shape}, not {shape or 'of one value'}"):
                return None
            value = np.empty(attribute.shape, TYPES[type_][2])
            attribute.read(value)
        except DAMAGE as error:
            self.broken(at, f"cannot be read: {error}")
            return None
        if type_ in ("f64", "f32") and not self.must(np.isfinite(value).all(), at, f"is {value}"):
            return None
        return value.item() if shape is None else value

    def array(self, path, types, shape, optional=False, finite=True):
        """The values, little-endian; None in `shape` is any length, and a `shape` of None any of 1 to 4."""
        if path in self.arrays:
            return self.arrays[path]
        dataset = self._object(path, h5py.Dataset, optional)
        if dataset is None:
            return None
        try:
            found = type_name(dataset.id.get_type())
            if not self.must(found in types.split(), path, f"is not of type {' or '.join(types.split())}"):
                return None
            good = 1 <= len(dataset.shape) <= 4 if shape is None else \
                len(dataset.shape) == len(shape) and all(b is None or a == b for a, b in zip(dataset.shape, shape))
            good = good and dataset.id.get_space().get_simple_extent_type() == h5s.SIMPLE
            if not self.must(good, path, f"has the shape {dataset.shape}, not {shape}") or not self._check_storage(path, dataset):
                return None
            value = np.empty(dataset.shape, TYPES[found][2])
            if value.size:
                dataset.id.read(h5s.ALL, h5s.ALL, value, h5t.py_create(value.dtype))
        except DAMAGE as error:
            self.broken(path, f"cannot be read: {error}")
            return None
        if finite and found in ("f64", "f32") and not self.must(np.isfinite(value).all(), path, "has a value that is not finite"):
            value = None
        self.arrays[path] = value
        return value

    def _check_storage(self, path, dataset):
        plist, layout = dataset.id.get_create_plist(), dataset.id.get_create_plist().get_layout()
        if not self.must(layout in (h5d.CONTIGUOUS, h5d.CHUNKED), path, "is neither contiguous nor chunked") or \
                not self.must(plist.get_external_count() == 0, path, "is in another file"):
            return False
        stored, claimed = dataset.id.get_storage_size(), dataset.size * dataset.dtype.itemsize
        most = MOST_CLAIMED * stored if layout == h5d.CHUNKED else stored
        if claimed and not self.must(claimed <= most and stored <= self.size, path, f"claims {claimed} bytes, of which {stored} are stored"):
            return False
        return layout != h5d.CHUNKED or not claimed or self._check_chunks(path, dataset, plist)

    def _check_chunks(self, path, dataset, plist):
        filters = [plist.get_filter(i)[:3] for i in range(plist.get_nfilters())]
        names = [FILTERS.get(code) for code, _, _ in filters]
        values = filters[0][2] if names[:1] == ["scaleoffset"] else (0, 0, 0, 1, 4, 0, 0, 0)
        good = values[7:] and (values[0], values[3], values[4], values[6], values[7]) == (0, 1, 4, 0, 0)
        good = good and (names[:1] != ["scaleoffset"] or dataset.id.get_type().equal(h5t.IEEE_F32LE))
        if not self.must(names in PIPELINES and good, path, f"has the filters {names}: shuffle or scaleoffset of f32, then deflate are allowed"):
            return False
        chunk, item = dataset.chunks, dataset.dtype.itemsize
        size = int(np.prod([int(n) for n in chunk])) * item
        n_chunks = int(np.prod([-(-a // b) for a, b in zip(dataset.shape, chunk)]))
        # missing chunks are counted, not looked up: a lie about the shape costs nothing
        if not self.must(dataset.id.get_num_chunks() == n_chunks, path, f"{dataset.id.get_num_chunks()} of {n_chunks} chunks are stored"):
            return False
        for at in itertools.product(*(range(0, a, b) for a, b in zip(dataset.shape, chunk))):
            if not self.must(dataset.id.get_chunk_info_by_coord(at).byte_offset is not None, path, f"chunk {at} is not stored"):
                return False
            mask, stored = dataset.id.read_direct_chunk(at)
            wrong = f"filter mask {mask}" if mask else undo(stored, size, item, list(zip(names, (values for _, _, values in filters))))
            if not self.must(wrong is None, path, f"chunk {at}: {wrong}"):
                return False
        return True

    def check_root(self):
        """The major version is 1; no required extension, since none is known."""
        version = re.fullmatch(r"(\d+)\.\d+", self.text("/", "modal_format_version") or "")
        if not version or int(version[1]) != 1:
            raise Unreadable(f"/@modal_format_version: unsupported version {version and version[0]}")
        names = {}
        for key in ("used", "required"):
            before = len(self.findings)
            text = self.text("/", f"extensions_{key}", optional=True) or ""
            names[key] = text.split(" ") if text else []
            if len(self.findings) > before or not all(map(EXTENSION.fullmatch, names[key])):
                raise Unreadable(f"/@extensions_{key}: must be names between single spaces")
        if names["required"]:
            raise Unreadable(f"/@extensions_required: needs {names['required'][0]}, which this program does not know")


def undo(data, size, item, filters):
    """What is wrong with a chunk of `size` bytes that is stored as `data`; None if nothing is."""
    names, stream = [name for name, _ in filters], zlib.decompressobj()
    if "deflate" in names:
        most = size + SCALEOFFSET_HEAD + 2
        try:
            data = stream.decompress(data, most + 1)
        except zlib.error as error:
            return str(error)
        if len(data) > most or not stream.eof or stream.unused_data:
            return "does not inflate to its size"
    if "scaleoffset" not in names:
        return None if len(data) == size else f"{len(data)} bytes are stored, not {size}"
    if len(data) < SCALEOFFSET_HEAD or filters[0][1][2] * item != size:
        return "no chunk of scaleoffset"
    bits, n = int.from_bytes(data[:4], "little"), size // item
    more = len(data) - SCALEOFFSET_HEAD - n * bits // 8
    good = bits <= 8 * item and (more == 1 or more == 0 and bits in (0, 8 * item) or more == 2 and n * bits % 8)
    return None if good else f"{len(data)} bytes of scaleoffset with {bits} bits per value"
