# SPDX-License-Identifier: Apache-2.0
"""A file of every kind and version that there was, made by the program that wrote it then (files/frozen/README.md), reads
as it did: the arrays in memory, positions, motions and frequencies that follow. So do copies of it: chunked and packed, by
h5py and by h5repack where that is there, in HDF5's oldest and newest metadata, after a user block, big-endian.
usage: check_frozen.py FOLDER BIN DUMP_FILE [--make | --all]: --make adds to contents.json the files that it lacks; without
--all each file is copied in every third of the other layouts, each layout tried with every third file"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

folder, programs, dump_file = (os.path.abspath(x) for x in sys.argv[1:4])
everything = "--all" in sys.argv
twig = f"{folder}/twig"
FILES = {"basis-1.0.h5": ("basis",), "traj-1.0.h5": ("trajectory",), "twig/basis-1.0.h5": ("basis",),
         "twig/embedded-1.0.h5": ("basis",), "twig/assembly-1.0.h5": ("basis",), "twig/trajectory-1.0.h5": ("trajectory",),
         "twig/checkpoint-1.0.h5": ("checkpoint",), "twig/snapshots-1.0.h5": ("snapshots", "25")}
PARTS = ("basis-1.0.h5", "embedded-1.0.h5")  # of the assembly
SEQUENCES = ("sequence-1.0", "sequence-1.0-precision", "sequence-1.0-solid")  # in twig/
OTHERS = ("octree-1.0.h5", "textures-1.0.h5")  # in twig/
MATERIAL = ("--young", "4e6", "--poisson", "0.3", "--density", "500", "--fixed", "root")


def run(*command, code=0):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, (command, done.returncode, done.stderr)
    return done


def tool(name, *arguments, code=0):
    return run(f"{programs}/{name}", *arguments, code=code)


def dump(name, path):
    return dict(line.split(" ", 1) for line in run(dump_file, FILES[name][0], path, *FILES[name][1:]).stdout.splitlines())


def points(path):
    with h5py.File(path) as file:
        return file["VTKHDF/Points"][()]


# ---- other layouts of the same content ----

def rewrite(source, target, libver, big_endian=False, **storage):
    """Copies groups, links, attributes and datasets; these are chunked and filtered as `storage` says."""
    def order(dtype):
        return dtype.newbyteorder(">") if big_endian and dtype.kind in "iuf" else dtype

    def copy(old, new):
        for name in old.attrs:
            dtype = old.attrs.get_id(name).dtype
            new.attrs.create(name, old.attrs[name], dtype=dtype if "VTKHDF" in new.name else order(dtype))
        for name in old:
            link = old.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                new[name] = h5py.ExternalLink(link.filename, link.path)
            elif isinstance(old[name], h5py.Group):
                copy(old[name], new.create_group(name))
            else:
                item = old[name]
                packed = storage if item.size and item.ndim else {}
                copied = new.create_dataset(name, item.shape, order(item.dtype), **packed,
                                            **({} if packed else {"maxshape": item.maxshape, "chunks": item.chunks}))
                copied[...] = item[()]
                for key in item.attrs:
                    copied.attrs[key] = item.attrs[key]

    with h5py.File(source, "r") as old, h5py.File(target, "w", libver=libver) as new:
        copy(old, new)


def h5repack(*options):
    return lambda source, target: run("h5repack", *options, source, target)


def user_block(source, target):
    with open(source, "rb") as old, open(target, "wb") as new:
        new.write(b"#" * 2048 + old.read())


PACKED = {"chunks": True, "compression": "gzip", "shuffle": True}
COPIES = {
    "packed, v108": lambda a, b: rewrite(a, b, ("v108", "v108"), **PACKED),
    "packed, earliest": lambda a, b: rewrite(a, b, ("earliest", "v108"), **PACKED),
    "packed, latest": lambda a, b: rewrite(a, b, "latest", **PACKED),
    "contiguous, earliest": lambda a, b: rewrite(a, b, ("earliest", "v108")),
    "contiguous, latest": lambda a, b: rewrite(a, b, "latest"),
    "big-endian": lambda a, b: rewrite(a, b, ("v108", "v108"), big_endian=True),
    "big-endian, packed": lambda a, b: rewrite(a, b, ("earliest", "v108"), big_endian=True, **PACKED),
    "user block": user_block,
}
if shutil.which("h5repack"):
    COPIES.update({"h5repack": h5repack(), "h5repack -f GZIP=6": h5repack("-f", "GZIP=6"),
                   "h5repack -f SHUF -f GZIP=6": h5repack("-f", "SHUF", "-f", "GZIP=6"),
                   "h5repack -L": h5repack("-L")})


def check_copies(contents):
    for name in PARTS:
        shutil.copy(f"{twig}/{name}", name)
    for k, name in enumerate(FILES):
        for what, make in (item for i, item in enumerate(COPIES.items()) if everything or (i - k) % 3 == 0):
            make(f"{folder}/{name}", "copy.h5")
            found = dump(name, "copy.h5")
            wrong = [key for key in contents[name] if found.get(key) != contents[name][key]]
            assert not wrong, (name, what, wrong)
            if FILES[name][0] == "basis":
                tool("modalinfo", "--check", "copy.h5")
            os.remove("copy.h5")
    # The deformer reads U itself where it can: every layout gives the same bytes.
    for what, make in COPIES.items():
        make(f"{twig}/basis-1.0.h5", "basis-1.0.h5")
        make(f"{twig}/trajectory-1.0.h5", "copy.h5")
        for k, options in enumerate(((), ("--memory-limit", "100M"))):
            tool("modaldeform", "copy.h5", f"o{k}", "-f", "-j1", "--basis", "basis-1.0.h5", *options)
            if what == next(iter(COPIES)):
                first = points("o0/sequence.vtkhdf")
            assert np.array_equal(points(f"o{k}/sequence.vtkhdf"), first), (what, options)
    # A filter for all datasets would make copies of the views of a sequence: it is given for one.
    for name in SEQUENCES:
        copies = [user_block]
        if "h5repack" in COPIES:
            copies += [h5repack(), h5repack("-f", "/VTKHDF/Points:GZIP=6"), h5repack("-f", "/VTKHDF/Points:SHUF")]
        for make in copies:
            make(f"{twig}/{name}/sequence.vtkhdf", "copy.vtkhdf")
            tool("modalinfo", "--check", "copy.vtkhdf")
            os.remove("copy.vtkhdf")


# ---- what follows from the frozen files ----

def colours():
    """Of the octree at vertices of the surface that it was made around."""
    with h5py.File(f"{twig}/basis-1.0.h5") as file:
        places = file["shapes/0000/surface/rest_positions"][:6]
    with open("places.csv", "w", encoding="utf-8") as file:
        file.write("x,y,z\n" + "".join("%.17g,%.17g,%.17g\n" % tuple(place) for place in places))
    tool("modaltex", "sample", f"{twig}/octree-1.0.h5", "places.csv", "colours.csv", "-f")
    with open("colours.csv", encoding="utf-8") as file:
        return file.read()


def check_meaning(contents):
    for name in [*FILES, *(f"twig/{name}" for name in (*SEQUENCES, *OTHERS))]:
        if FILES.get(name, ("other",))[0] in ("basis", "trajectory", "snapshots", "other"):
            tool("modalinfo", "--check", f"{folder}/{name}")
    for options, name in ((("--order", "stored"), "sequence-1.0"), ((), "sequence-1.0-precision"),
                          (("--output-mesh", "volume"), "sequence-1.0-solid")):
        tool("modaldeform", f"{twig}/trajectory-1.0.h5", "out", "-f", "--frames", "0:3", *options)
        error = np.abs(points("out/sequence.vtkhdf") - points(f"{twig}/{name}/sequence.vtkhdf")).max()
        assert error <= (1e-5 if "precision" in name else 1e-7), (name, error)
    tool("modaldeform", f"{folder}/traj-1.0.h5", "out", "-f", "--basis", f"{folder}/basis-1.0.h5")
    for key, wanted in contents["positions"].items():
        found = points("out/sequence.vtkhdf")[int(key)]
        assert np.abs(found - wanted).max() <= 1e-6 * np.abs(wanted).max(), (key, found, wanted)
    tool("modalinfo", "--pack", f"{twig}/assembly-1.0.h5", "packed.h5")
    with h5py.File(f"{twig}/assembly-1.0.h5") as assembly, h5py.File("packed.h5") as packed:
        assert assembly.attrs["content_hash"] == packed.attrs["content_hash"]
    assert colours() == contents["colours"], "other colours from the octree"
    # modes at the nodes and how vertices are carried are used by a simulation in wind
    tool("modalsim", f"{twig}/basis-1.0.h5", "again.h5", "--scene", f"{twig}/scene.json")
    done = subprocess.run([f"{programs}/modalsim", f"{twig}/basis-1.0.h5", "restart.h5", "--scene", f"{twig}/scene.json",
                           "--restart", f"{twig}/checkpoint-1.0.h5"], capture_output=True, text=True, timeout=120)
    with h5py.File(f"{twig}/trajectory-1.0.h5") as old, h5py.File("again.h5") as new:
        most = np.abs(old["q"][()]).max()
        assert np.abs(old["q"][()] - new["q"][()]).max() <= 1e-6 * most, "another motion"
        if done.returncode == 0:
            with h5py.File("restart.h5") as restarted:
                assert np.abs(old["q"][()] - restarted["q"][()]).max() <= 1e-6 * most, "another motion from the checkpoint"
    # A checkpoint is private to the version that wrote it: a later one may refuse it, by its version.
    assert done.returncode == 0 or (done.returncode == 3 and "unsupported version 1.0" in done.stderr), done.stderr
    found = frequencies()
    assert np.allclose(found, contents["frequencies"], rtol=1e-4), found


def frequencies():
    """Of a basis of the snapshots, on the mesh that they belong to."""
    tool("modalpack", f"{twig}/twig.msh", "snaps.h5", "-f", "--snapshots", f"{twig}/snapshots-1.0.h5", "--modes", "2", *MATERIAL)
    with h5py.File("snaps.h5") as file:
        return list(file["shapes/0000/modes/frequencies"][()])


def main():
    path = f"{folder}/contents.json"
    contents = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            contents = json.load(file)
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(temporary)
        if "--make" in sys.argv:
            for name in FILES:
                contents.setdefault(name, dump(name, f"{folder}/{name}"))
            if "positions" not in contents:
                tool("modaldeform", f"{folder}/traj-1.0.h5", "out", "--basis", f"{folder}/basis-1.0.h5")
                all_points = points("out/sequence.vtkhdf")
                contents["positions"] = {str(i): [float(x) for x in all_points[i]] for i in range(0, len(all_points), 31)}
            contents.setdefault("frequencies", frequencies())
            contents.setdefault("colours", colours())
            with open(path, "w", encoding="utf-8") as file:
                json.dump(contents, file, indent=1)
                file.write("\n")
        for name in FILES:
            found = dump(name, f"{folder}/{name}")
            wrong = [key for key in contents[name] if found.get(key) != contents[name][key]]
            assert not wrong, (name, wrong)
        check_meaning(contents)
        check_copies(contents)
    print(f"{len(FILES)} files and {len(SEQUENCES)} sequences read as they did, and in {len(COPIES)} other layouts"
          + ("" if "h5repack" in COPIES else "; there is no h5repack"))


main()
