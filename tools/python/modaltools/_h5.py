# SPDX-License-Identifier: Apache-2.0
"""What the files share: their type, their version, texts."""
from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from typing import Iterable, Iterator, Union

import h5py

Path = Union[str, "os.PathLike[str]"]


def text(value: object) -> str:
    """An attribute's text, whichever of its types h5py gives it."""
    if isinstance(value, bytes):
        return value.split(b"\0")[0].decode("utf-8", "surrogateescape").rstrip(" ")
    return str(value).split("\0")[0].rstrip(" ")


def _opened(path: Path) -> h5py.File:
    """OSError names the file, which HDF5 does not always. HDF5 would wait at a named pipe."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise OSError(f"{os.fspath(path)}: not a regular file")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        name = os.fspath(path)
        if str(name) in str(error):
            raise
        raise type(error)(f"{name}: {error}") from None


def open_file(path: Path, kind: str, majors: tuple[int, ...]) -> h5py.File:
    """ValueError unless it is of this modal_format and of one of these major versions; OSError where it cannot be read."""
    file = _opened(path)
    try:
        found, version = (text(file.attrs.get(name, "")) for name in ("modal_format", "modal_format_version"))
        if not found and "modal_type" in file.attrs:
            raise ValueError(f"{os.fspath(path)}: modal_format: missing; made by a version before 0.1.0, make the file again")
        if found != kind:
            raise ValueError(f"{os.fspath(path)}: modal_format: not {kind}, {found!r}")
        if version.split(".")[0] not in map(str, majors):
            raise ValueError(f"{os.fspath(path)}: modal_format_version: not of {', '.join(map(str, majors))}, {version!r}")
    except BaseException:
        file.close()
        raise
    return file


def kind_of(path: Path) -> str:
    """The file's modal_format, "" where it has none; OSError where it cannot be read."""
    with _opened(path) as file:
        return text(file.attrs.get("modal_format", ""))


@contextmanager
def replaced(path: Path, reads: Iterable[Path] = ()) -> Iterator[str]:
    """A temporary name in the folder of `path`, which becomes it when the block ends well, and goes otherwise. ValueError: `path` is one of the
    files `reads`, which what is written was made of, or leads to it."""
    for read in reads:
        if os.path.exists(read) and os.path.exists(path) and os.path.samefile(read, path):
            raise ValueError(f"{os.fspath(path)}: input and output are one file")
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=os.path.basename(path) + ".tmp-", dir=folder)
    os.close(handle)
    try:
        yield temporary
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
