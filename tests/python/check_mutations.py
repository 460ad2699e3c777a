# SPDX-License-Identifier: Apache-2.0
"""Damaged files: seeded mutations of every kind of HDF5 file in several layouts, of bytes and of single chunks. Readers and
programs must take or refuse each one: no crash, no hang, exit codes 0, 1 and 3 only; and what is taken must not depend on
what memory held before (MALLOC_PERTURB_).
usage: check_mutations.py --tests FOLDER --bin FOLDER --corpus FOLDER --count N [--programs EVERY] [--seed N]
[--keep FOLDER]: N mutations a kind and layout go through the readers, every EVERY-th one through the programs."""
import argparse
import itertools
import os
import random
import re
import shutil
import subprocess
import tempfile

import h5py

from damage import damage_bytes, damage_chunk
from soft_box import snapshots

LAYOUTS = ("as written", "chunked", "chunked earliest", "chunked latest")
FILTERS = ({"compression": "gzip"}, {"shuffle": True}, {"shuffle": True, "compression": 1}, {})
VERSIONS = {"chunked": ("v108", "latest"), "chunked earliest": ("earliest", "latest"), "chunked latest": ("latest", "latest")}


def repack(source, target, libver):
    """A copy in which every dataset with values is chunked and filtered; virtual ones stay."""
    turn = itertools.count()

    def copy(old, new):
        for name in old.attrs:
            new.attrs.create(name, old.attrs[name], dtype=old.attrs.get_id(name).dtype)
        for name in old:
            link = old.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                new[name] = h5py.ExternalLink(link.filename, link.path)
                continue
            item = old[name]
            if isinstance(item, h5py.Group):
                copy(item, new.create_group(name))
            elif item.is_virtual:
                layout = h5py.VirtualLayout(item.shape, item.dtype)
                for part in item.virtual_sources():
                    shape = old.file[part.dset_name].shape
                    mapped = h5py.VirtualSource(".", part.dset_name, shape, item.dtype)
                    start, stop = part.src_space.get_select_bounds()
                    layout[...] = mapped[tuple(slice(a, b + 1) for a, b in zip(start, stop))]
                new.create_virtual_dataset(name, layout)
            elif item.size == 0:
                old.copy(item, new, name)
            else:
                filters = FILTERS[next(turn) % len(FILTERS)]
                chunk = tuple(max(1, -(-n // 3)) if k == 0 else n for k, n in enumerate(item.shape))
                if next(turn) % 2:
                    chunk = tuple(max(1, -(-n // 2)) for n in item.shape)
                new.create_dataset(name, data=item[()], dtype=item.dtype, chunks=chunk, **filters)

    with h5py.File(source, "r") as old, h5py.File(target, "w", libver=libver) as new:
        copy(old, new)


# ---- damage ----

def make(base, target, chance):
    if chance.random() < 0.5:
        shutil.copy(base, target)
        if damage_chunk(target, chance):
            return
    with open(base, "rb") as file:
        data = file.read()
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = damage_bytes(data, chance)
    with open(target, "wb") as file:
        file.write(data)


# ---- what must hold ----

FORGOTTEN = "forgotten"  # what HDF5 1.10 does not give back of metadata that it refuses, for a sanitizer


def perturbed(byte):
    """Memory that was not written holds this, however much is asked for."""
    return {**os.environ, "MALLOC_PERTURB_": str(byte), "MALLOC_MMAP_MAX_": "0", "MALLOC_TOP_PAD_": "67108864",
            "OMP_NUM_THREADS": "1", "LSAN_OPTIONS": f"print_suppressions=0:suppressions={FORGOTTEN}"}


def digests(program, folder, byte):
    done = subprocess.run([program, "--digests", folder], capture_output=True, text=True, env=perturbed(byte), timeout=1200)
    assert done.returncode == 0, f"{done.returncode} at {done.stdout[-200:].split()[-1:]} of {folder}: {done.stderr[-3000:]}"
    return dict(line.split() for line in done.stdout.splitlines()[:-1])


def read_all(program, folder):
    outputs = [digests(program, folder, byte) for byte in (0x55, 0xaa)]
    different = [name for name in outputs[0] if outputs[0][name] != outputs[1].get(name)]
    assert not different, f"what is read depends on what memory held: {folder}: {different[:5]}"
    return len(outputs[0])


def run_programs(commands, codes):
    for command in commands:
        results = []
        for byte in (0x55, 0xaa):
            for name in ("page.html", "out"):
                if os.path.isdir(name):
                    shutil.rmtree(name)
                elif os.path.exists(name):
                    os.remove(name)
            done = subprocess.run(command, capture_output=True, env=perturbed(byte), timeout=60)
            assert done.returncode in (0, 1, 3), (command, done.returncode, done.stderr[-3000:])
            assert b"Sanitizer" not in done.stderr and b"runtime error" not in done.stderr, (command, done.stderr[-3000:])
            # not HDF5's own reason: 1.10 goes on in a header that it found damaged, and names what it meets there
            made = [done.returncode, done.stdout, re.sub(rb"\(HDF5: .*\)", b"", done.stderr)]
            for name in ("page.html", "out/sequence.vtkhdf"):
                if os.path.exists(name):
                    with open(name, "rb") as file:
                        made.append(file.read())
            results.append(made)
        assert results[0] == results[1], f"what comes out depends on what memory held: {command}"
        codes[done.returncode] = codes.get(done.returncode, 0) + 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tests", required=True)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--programs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    tests, programs, corpus = (os.path.abspath(x) for x in (arguments.tests, arguments.bin, arguments.corpus))
    with tempfile.TemporaryDirectory() as temporary:
        os.chdir(arguments.keep or temporary)
        with open(FORGOTTEN, "w", encoding="utf-8") as file:
            file.write("leak:libhdf5\n")
        subprocess.run([f"{tests}/write_samples", "."], check=True)
        snapshots("snapshots.h5")
        parts = ["--parts", f"{corpus}/basis"]
        bases = {"basis": ["basis.h5", f"{corpus}/basis/linked.h5"], "trajectory": ["traj.h5"], "snapshots": ["snapshots.h5"],
                 "checkpoint": [f"{corpus}/checkpoint/good.h5"],
                 "sequence": [f"{corpus}/sequence/{name}.vtkhdf"
                              for name in ("good", "rounded", "solid", "cells", "solid-cells")]}
        for kind, sources in bases.items():
            codes, read, goods = {}, 0, {}
            for layout in LAYOUTS:
                folder = f"good-{kind}-{layout.replace(' ', '-')}"
                os.makedirs(folder, exist_ok=True)
                goods[layout] = [f"{folder}/{i}.h5" for i in range(len(sources))]
                for source, target in zip(sources, goods[layout]):
                    if layout == LAYOUTS[0]:
                        shutil.copy(source, target)
                    else:
                        repack(source, target, VERSIONS[layout])
                    if kind in ("basis", "trajectory", "sequence", "snapshots"):
                        subprocess.run([f"{programs}/modalinfo", "--check", *parts, target], check=True, stdout=subprocess.DEVNULL)
                whole = digests(f"{tests}/fuzz_{kind}", folder, 0x55)
                first = whole if layout == LAYOUTS[0] else first
                assert whole == first, f"{kind}, {layout}: read otherwise than as written"
            for layout in LAYOUTS:
                good = goods[layout]
                folder = f"{kind}-{layout.replace(' ', '-')}"
                os.makedirs(folder, exist_ok=True)
                for n in range(arguments.count):
                    chance = random.Random(f"{arguments.seed} {kind} {layout} {n}")
                    make(chance.choice(good), f"{folder}/{n:06d}.h5", chance)
                read += read_all(f"{tests}/fuzz_{kind}", folder)
                for n in range(0, arguments.count, arguments.programs):
                    path = f"{folder}/{n:06d}.h5"
                    commands = [[f"{programs}/modalinfo", *parts, path], [f"{programs}/modalinfo", "--check", *parts, path]]
                    if kind in ("basis", "trajectory"):
                        inputs = [path] if kind == "trajectory" else ["traj.h5", "--basis", path]
                        basis = ["--basis", "basis.h5"] if kind == "trajectory" else []
                        commands.append([f"{programs}/modaldeform", inputs[0], "out", *inputs[1:], *basis, "-j1", *parts])
                        commands.append([f"{programs}/modalview", inputs[0], "page.html", *inputs[1:], *basis, *parts])
                    run_programs(commands, codes)
                if not arguments.keep:
                    shutil.rmtree(folder)
            print(f"{kind}: {read} mutations read twice, programs ended with",
                  ", ".join(f"{code}: {n}" for code, n in sorted(codes.items())))


main()
