# SPDX-License-Identifier: Apache-2.0
"""The rules of the container (formats/basis.md): where the file ends, hard links, exact types, how arrays are stored,
texts; and the extensions (formats/extensions.md)."""
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
SCALEOFFSET_HEAD = 21  # bytes: the number of bits, the least value and room
KNOWN_EXTENSIONS = frozenset()
NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
HASH = re.compile(r"[0-9a-f]{32}")


class Unreadable(Exception):
    """The file is none of ours, or cannot be read: exit code 3."""


def type_name(type_id):
    for name, (little, big, _) in TYPES.items():
        if type_id.equal(little) or type_id.equal(big):
            return name
    return None


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
    if version not in (0, 2, 3):
        raise Unreadable(f"superblock of version {version}")
    sizes = head[13:15] if version < 2 else head[9:11]
    if sizes != b"\x08\x08":
        raise Unreadable("addresses or lengths that have not 8 bytes")
    place = 28 if version else 40
    end = at + int.from_bytes(head[place:place + 8], "little")
    if end != size:
        raise Unreadable(f"has {size} bytes, but ends at {end}")


class File:
    """A file that is checked. Whatever is wrong goes to `findings`, (place, what); a method that finds something
    wrong with what it reads gives None."""

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
        self.arrays, self.extensions, self.doubts, self.unjudged = {}, [], [], None

    def broken(self, place, what):
        self.findings.append((place, what))

    def must(self, condition, place, what):
        if not condition:
            self.broken(place, what)
        return condition

    # ---- objects ----

    def link(self, path):
        """The kind of the link at `path`; None where there is none. Every group before it is reached by hard links."""
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
        return self.link(path) is not None

    def _object(self, path, kind, optional):
        if path == "/":
            return self.root
        n_findings = len(self.findings)
        link = self.link(path)
        if link is None:
            if not optional and len(self.findings) == n_findings:
                self.broken(path, "is missing")
            return None
        if not self.must(link == h5l.TYPE_HARD, path, "is no hard link"):
            return None
        try:
            found = self.h5[path]
        except DAMAGE as error:
            self.broken(path, f"cannot be read: {error}")
            return None
        what = "is no dataset" if kind is h5py.Dataset else "is no group"
        return found if self.must(isinstance(found, kind), path, what) else None

    def group(self, path, optional=False):
        return self._object(path, h5py.Group, optional)

    def dataset(self, path, optional=False):
        return self._object(path, h5py.Dataset, optional)

    # ---- attributes ----

    def _attribute(self, path, name, optional):
        """(attribute, place), or (None, place)."""
        place = f"{path.rstrip('/')}/@{name}" if path != "/" else f"/@{name}"
        owner = self._object(path, (h5py.Group, h5py.Dataset), False)
        try:
            if owner is None:
                return None, place
            if not h5a.exists(owner.id, name.encode()):
                if not optional:
                    self.broken(place, "is missing")
                return None, place
            return h5a.open(owner.id, name.encode()), place
        except DAMAGE as error:
            self.broken(place, f"cannot be read: {error}")
            return None, place

    def text(self, path, name, optional=False, among=None):
        attribute, place = self._attribute(path, name, optional)
        if attribute is None:
            return None
        try:
            kind = attribute.get_type()
            if not self.must(isinstance(kind, h5t.TypeStringID), place, "is no text") or \
                    not self.must(attribute.get_space().get_simple_extent_npoints() == 1, place, "is not one text"):
                return None
            shape = attribute.shape
            if kind.is_variable_str():
                value = np.empty(shape, dtype=object)
                attribute.read(value)
                value = value.item()
                if not isinstance(value, bytes):
                    value = value.encode("utf-8", "surrogateescape") if value else b""
            else:
                value = np.empty(shape, dtype=f"S{kind.get_size()}")
                attribute.read(value, mtype=kind)
                value = value.tobytes()
                value = value.rstrip(b" ") if kind.get_strpad() == h5t.STR_SPACEPAD else value
            value = value.partition(b"\0")[0].decode("utf-8", "surrogateescape")
        except DAMAGE as error:
            self.broken(place, f"cannot be read: {error}")
            return None
        if among and not self.must(value in among, place, f"is {value!r}, none of {', '.join(among)}"):
            return None
        return value

    def number(self, path, name, type_, optional=False, shape=None):
        """One value, or an array of exactly this shape."""
        attribute, place = self._attribute(path, name, optional)
        if attribute is None:
            return None
        try:
            found = type_name(attribute.get_type())
            if not self.must(found == type_, place, f"is not of type {type_}") or \
                    not self.must(attribute.shape == shape or shape is None and
                                  attribute.get_space().get_simple_extent_npoints() == 1, place,
                                  f"has the shape {attribute.shape}, not {shape or 'of one value'}"):
                return None
            value = np.empty(attribute.shape, TYPES[type_][2])
            attribute.read(value)
        except DAMAGE as error:
            self.broken(place, f"cannot be read: {error}")
            return None
        if type_ in ("f64", "f32") and not self.must(np.isfinite(value).all(), place, f"is {value}"):
            return None
        return value.item() if shape is None else value

    # ---- arrays ----

    def array(self, path, types, shape, optional=False, finite=True):
        """The values, little-endian; None in `shape` takes any length, and a `shape` of None takes any of 1 to 4."""
        if path in self.arrays:
            return self.arrays[path]
        dataset = self.dataset(path, optional)
        if dataset is None:
            return None
        try:
            found = type_name(dataset.id.get_type())
            if not self.must(found in types.split(), path, f"is not of type {' or '.join(types.split())}"):
                return None
            space = dataset.id.get_space().get_simple_extent_type()
            if shape is None:
                good = space == h5s.SIMPLE and 1 <= len(dataset.shape) <= 4
            else:
                good = space == h5s.SIMPLE and len(dataset.shape) == len(shape) and \
                    all(b is None or a == b for a, b in zip(dataset.shape, shape))
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
                not self.must(plist.get_external_count() == 0, path, "lies in another file"):
            return False
        if dataset.size == 0:
            return True
        stored = dataset.id.get_storage_size()
        claimed = dataset.size * dataset.dtype.itemsize
        most = MOST_CLAIMED * stored if layout == h5d.CHUNKED else stored
        if not self.must(claimed <= most and stored <= self.size, path, f"claims {claimed} bytes, of which {stored} are stored"):
            return False
        return layout != h5d.CHUNKED or self._check_chunks(path, dataset, plist)

    def _check_chunks(self, path, dataset, plist):
        filters = [plist.get_filter(i)[:3] for i in range(plist.get_nfilters())]
        names = [FILTERS.get(code) for code, _, _ in filters]
        if not self.must(names in PIPELINES, path, f"has the filters {names}: only shuffle or scaleoffset, then deflate are read"):
            return False
        if names[:1] == ["scaleoffset"]:
            values = filters[0][2]
            if not self.must(dataset.id.get_type().equal(h5t.IEEE_F32LE) and len(values) > 7 and
                             (values[0], values[3], values[4], values[6], values[7]) == (0, 1, 4, 0, 0), path,
                             "has scaleoffset of another kind than float32 with decimals"):
                return False
        chunk, item = dataset.chunks, dataset.dtype.itemsize
        size = int(np.prod([int(n) for n in chunk])) * item
        n_chunks = int(np.prod([-(-a // b) for a, b in zip(dataset.shape, chunk)]))
        # Chunks that are not there cost no look-up each: a lie about the shape is seen by their number.
        if not self.must(dataset.id.get_num_chunks() == n_chunks, path,
                         f"{dataset.id.get_num_chunks()} of {n_chunks} chunks are stored"):
            return False
        for place in itertools.product(*(range(0, a, b) for a, b in zip(dataset.shape, chunk))):
            if not self.must(dataset.id.get_chunk_info_by_coord(place).byte_offset is not None, path,
                             f"chunk {place} is not stored"):
                return False
            mask, stored = dataset.id.read_direct_chunk(place)
            if not self.must(mask == 0, path, f"chunk {place}: filter mask {mask}"):
                return False
            wrong = undo(stored, size, item, list(zip(names, (values for _, _, values in filters))))
            if not self.must(wrong is None, path, f"chunk {place}: {wrong}"):
                return False
        return True

    # ---- what every file has ----

    def open_as(self, versions):
        """Type and version of the root and the extensions: (major, minor)."""
        version = self.text("/", "modal_format_version")
        found = version and re.fullmatch(r"(\d+)\.(\d+)", version)
        if not found:
            raise Unreadable("/@modal_format_version: is no version")
        if int(found[1]) not in versions:
            raise Unreadable(f"/@modal_format_version: unsupported version {version}")
        self._extensions()
        return int(found[1]), int(found[2])

    def _extensions(self):
        names = {}
        for key in ("used", "required"):
            n_findings = len(self.findings)
            text = self.text("/", f"extensions_{key}", optional=True) or ""
            names[key] = text.split(" ") if text else []
            if len(self.findings) > n_findings or not all(NAME.fullmatch(name) for name in names[key]):
                raise Unreadable(f"/@extensions_{key}: must be names between single spaces")
        for name in names["required"]:
            if name not in KNOWN_EXTENSIONS:
                raise Unreadable(f"/@extensions_required: needs {name}, which this program does not know")
            self.must(name in names["used"], "/@extensions_required", f"{name} is not among the used ones")
        self.extensions = names["used"]

    def hash_text(self, path, name, optional=False):
        text = self.text(path, name, optional)
        if text is not None and not self.must(HASH.fullmatch(text), f"{path}@{name}", "is no hash"):
            return None
        return text

    def provenance(self, path, optional):
        if self.group(path, optional) is None:
            return
        for place in self.numbered(path):
            for name in ("tool", "version", "arguments", "inputs", "backend"):
                self.text(place, name)
            for name in ("quality", "assumed_material"):
                self.text(place, name, optional=True)

    def numbered(self, path):
        """The groups 0000, 0001, ... of a group with a count, as far as they are there."""
        count = self.number(path, "count", "i64")
        if count is None or not self.must(count >= 0, f"{path}/@count", f"is {count}"):
            return
        for i in range(count):
            place = f"{path}/{i:04}"
            if self.group(place) is None:
                return
            yield place


def undo(data, size, item, filters):
    """What is wrong with a chunk of `size` bytes that is stored as `data`; None where nothing is."""
    names = [name for name, _ in filters]
    if "deflate" in names:
        most = size + SCALEOFFSET_HEAD + 2
        stream = zlib.decompressobj()
        try:
            data, packed = stream.decompress(data, most + 1), data
        except zlib.error as error:
            return str(error)
        if len(data) > most or not stream.eof or stream.unused_data:
            return f"{len(packed)} bytes that do not inflate to what they should"
    if "scaleoffset" not in names:
        return None if len(data) == size else f"{len(data)} bytes are stored, not {size}"
    if len(data) < SCALEOFFSET_HEAD or filters[0][1][2] * item != size:
        return "no chunk of scaleoffset"
    bits, n = int.from_bytes(data[:4], "little"), size // item
    if bits > 8 * item:
        return f"{bits} bits a value"
    exact = SCALEOFFSET_HEAD + n * bits // 8
    sizes = {exact + 1} | ({exact} if bits in (0, 8 * item) else set()) | ({exact + 2} if n * bits % 8 else set())
    if len(data) not in sizes:
        return f"{len(data)} bytes of scaleoffset, not {exact + 1}"
    return None
