# SPDX-License-Identifier: Apache-2.0
"""Runs where another HDF5 is, with h5py: hdf5_contents.py FOLDER. Prints a JSON object: the versions, and what each file of
the folder holds, every dataset (views as their values, too) and attribute. For each basis, trajectory, snapshots and
checkpoint copies are made in FOLDER/copies by h5py in every version of the metadata that this HDF5 can write, contiguous
and packed, and of all files by h5repack."""
import hashlib
import json
import os
import subprocess
import sys

import h5py
import numpy as np


def digest(values):
    values = np.ascontiguousarray(values)
    return hashlib.sha256(values.astype(values.dtype.newbyteorder("<")).tobytes()).hexdigest()


def contents(path):
    """{name: [kind and size of an item, shape, SHA-256 of the little-endian values]}"""
    found = {}

    def look(name, item):
        for key in item.attrs:
            value = np.asarray(item.attrs[key])
            text = value.dtype.kind == "O"
            found[f"{name}@{key}"] = str(value) if text else [value.dtype.kind, list(value.shape), digest(value)]
        if isinstance(item, h5py.Dataset):
            found[name] = [f"{item.dtype.kind}{item.dtype.itemsize}", list(item.shape), digest(item[()])]

    with h5py.File(path, "r") as file:
        look("", file)
        file.visititems(look)
    return found


def rewrite(source, target, libver, **packed):
    def copy(old, new):
        for key in old.attrs:
            new.attrs.create(key, old.attrs[key], dtype=old.attrs.get_id(key).dtype)
        for name in old:
            link = old.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                new[name] = h5py.ExternalLink(link.filename, link.path)
            elif isinstance(old[name], h5py.Group):
                copy(old[name], new.create_group(name))
            else:
                item = old[name]
                storage = packed if item.size else {"maxshape": item.maxshape, "chunks": item.chunks}
                made = new.create_dataset(name, data=item[()], dtype=item.dtype, **storage)
                for key in item.attrs:
                    made.attrs.create(key, item.attrs[key], dtype=item.attrs.get_id(key).dtype)

    with h5py.File(source, "r") as old, h5py.File(target, "w", libver=libver) as new:
        copy(old, new)


def main(folder):
    os.chdir(folder)
    os.makedirs("copies", exist_ok=True)
    files = {name: contents(name) for name in sorted(os.listdir(".")) if name.endswith((".h5", ".vtkhdf"))}
    versions = ["earliest", "v108", "v110", "v112", "v114", "latest"]
    copies = []
    for name in files:
        stem, end = os.path.splitext(name)
        repacks = [[], ["-f", "GZIP=6"], ["-f", "SHUF", "-f", "GZIP=1"], ["-L"]]
        if end == ".vtkhdf":  # a filter for all would turn the views into copies
            repacks = [[], ["-f", "/VTKHDF/Points:GZIP=6"]]
        for k, options in enumerate(repacks):
            copies.append((name, f"copies/{stem}-repack{k}{end}"))
            subprocess.run(["h5repack", *options, name, copies[-1][1]], check=True)
        if end == ".vtkhdf":
            continue
        for libver in versions:
            bounds = "latest" if libver == "latest" else ("earliest", "v108") if libver == "earliest" else (libver, libver)
            for k, packed in enumerate(({}, {"chunks": True, "compression": "gzip", "shuffle": True})):
                copies.append((name, f"copies/{stem}-{libver}-{'packed' if k else 'plain'}{end}"))
                rewrite(name, copies[-1][1], bounds, **packed)
    print(json.dumps({"hdf5": h5py.version.hdf5_version, "files": files, "copies": copies}))


if __name__ == "__main__":
    main(sys.argv[1])
