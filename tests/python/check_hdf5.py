#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other versions of HDF5 read what our programs write, to the same values, and our programs read what these write, to the
same contents; with Debian 13's, 1.14, also the validator, and our C code compiled there.
usage: check_hdf5.py BIN TESTS SOURCE debian ROOT SOURCES | h5wasm PACKAGE
ROOT is entered by chroot; SOURCES lists what modalinfo and the tests' programs are made of. Exit code 77: skipped, with
the reason."""
import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

BIN, TESTS, SOURCE, CLIENT, PLACE, *SOURCES = (os.path.abspath(x) if k != 3 else x for k, x in enumerate(sys.argv[1:7]))
CLIENTS = f"{SOURCE}/tests/clients"
sys.path.insert(0, CLIENTS)
from hdf5_contents import contents, digest  # noqa: E402

FROZEN = f"{SOURCE}/tests/files/frozen"


def skip(why):
    print(f"check_hdf5: skipped: {why}")
    sys.exit(77)


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, **options)
    assert done.returncode == 0, (command, done.returncode, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout


def make_files():
    """Files of every kind, as this build writes them, and the frozen ones."""
    run(f"{TESTS}/write_samples", ".")
    os.remove("expected.txt")
    mesh, out = f"{FROZEN}/twig/twig.msh", ("--fields", "displacement", "--normals", "dynamic", "-q", "--backend", "cpu")
    run(f"{BIN}/modalpack", mesh, "twig.h5", "--modes", "5", "--reduced-forces", "--young", "4e6", "--poisson", "0.3",
        "--density", "500", "--fixed", "root")
    run(f"{BIN}/modalsim", "twig.h5", "motion.h5", "--scene", f"{FROZEN}/twig/scene.json", "--checkpoint", "checkpoint.h5",
        "--checkpoint-every", "4", "--backend", "cpu")
    for name, options in (("surface", out), ("rounded", ("--precision", "1e-5", "-q")),
                          ("solid", ("--output-mesh", "volume", "--fields", "displacement", "-q"))):
        run(f"{BIN}/modaldeform", "motion.h5", name, *options)
        shutil.move(f"{name}/sequence.vtkhdf", f"{name}.vtkhdf")
        shutil.rmtree(name)
    for name in ("trajectory-1.0.h5", "snapshots-1.0.h5", "checkpoint-1.0.h5"):
        shutil.copy(f"{FROZEN}/twig/{name}", name)


def kind_of(path):
    with h5py.File(path) as file:
        kind = file.attrs["modal_format"]
        return kind.decode() if isinstance(kind, bytes) else kind


def dump(path, program=f"{TESTS}/dump_file"):
    """What our reader makes of a file."""
    kind = kind_of(path)
    if kind == "sequence":
        with h5py.File(path) as file:
            return digest(file["VTKHDF/Points"][()])
    return run(program, kind, path, *(["25"] if kind == "snapshots" else []))


def check_copies(made):
    """Copies that the other HDF5 wrote: sound to our programs, and with the same contents. What its newest metadata has
    that this HDF5 does not know must be refused with that reason."""
    refused = 0
    for name, copy in made["copies"]:
        kind, path = kind_of(name), copy
        if made["hdf5"].startswith("2.") and "-v200-packed" in copy:
            done = subprocess.run([f"{TESTS}/dump_file", kind, path, "25"], capture_output=True, text=True)
            assert done.returncode == 1 and "layout of a later HDF5" in done.stderr, (copy, done)
            refused += 1
            continue
        assert dump(name) == dump(path), copy
        if kind in ("basis", "trajectory", "sequence"):
            run(f"{BIN}/modalinfo", "--check", path)
    print(f"check_hdf5: HDF5 {made['hdf5']}: {len(made['files'])} files read there, {len(made['copies']) - refused} copies from "
          "there read here" + (f", {refused} of chunks in its newest metadata refused with that reason" if refused else ""))


# ---- Debian 13 ----

def inside(command):
    return run("chroot", PLACE, "sh", "-c", command)


def compile_there(folder, away):
    """modalinfo, dump_file and write_samples with the HDF5 of the other system; gives their folder there."""
    for room in ("lib", "formats", "kernels", "tools", "tests/unit"):
        shutil.copytree(f"{SOURCE}/{room}", f"{away}/source/{room}", ignore=shutil.ignore_patterns("*.cu", "corpus"))
    with open(SOURCES[0], encoding="utf-8") as file:
        lists = dict(line.rstrip("\n").split("=", 1) for line in file)
    programs = {name: lists.pop(name) for name in ("modalinfo", "dump_file", "write_samples")}

    def names(text):
        home, *sources = text.split(";")
        paths = [os.path.relpath(os.path.join(home, x), SOURCE) for x in sources if x.endswith(".c")]
        return [path for path in paths if not path.startswith("..") and os.path.basename(path) != "build.c"]

    # in the place of what tools/common/build.cmake writes
    with open(f"{away}/source/tools/build_there.c", "w", encoding="utf-8") as file:
        file.write('const char *tool_build(void);\nconst char *tool_build(void) { return "0.1.0"; }\n')
    common = ["tools/build_there.c", *(path for text in lists.values() for path in names(text))]
    texts = "".join(f" -D{name}='\"{value}\"'" for name, value in
                    (("MODAL_VERSION", "0.1.0"), ("MODAL_BUILD_FLAGS", ""), ("TEST_FILES", "tests/files")))
    flags = f"-std=gnu11 -O0 -w -fopenmp -I. -D_GNU_SOURCE -DMODAL_HAVE_ZLIB{texts} $(pkg-config --cflags hdf5 libxxhash jansson)"
    libraries = "$(pkg-config --libs hdf5 libxxhash jansson) -lcmocka -lz -lm"
    every = sorted({*common, *(path for text in programs.values() for path in names(text))})
    objects = {path: path.replace("/", "_")[:-2] + ".o" for path in every}
    with open(f"{away}/source/list", "w", encoding="utf-8") as file:
        file.writelines(f"{path} {objects[path]}\n" for path in every)
    with open(f"{away}/source/one.sh", "w", encoding="utf-8") as file:
        file.write(f'gcc {flags} -c "$1" -o "$2"\n')
    inside(f"cd {folder}/source && xargs -P 2 -n 2 sh one.sh <list")
    for name, text in programs.items():
        mine = " ".join(dict.fromkeys(objects[path] for path in [*names(text), *common]))
        inside(f"cd {folder}/source && gcc -fopenmp {mine} -o {folder}/{name} {libraries}")


def read_there(folder, away, place, names, check=True):
    """What our reader there makes of each file that is no sequence; all are sound to modalinfo there. One shell for all."""
    lines, dumped = ["set -e", f"cd {folder}/{place}"], {}
    for name in names:
        kind = kind_of(f"{away}/{place}/{name}")
        if check and kind in ("basis", "trajectory", "sequence"):
            lines.append(f"../modalinfo --check {name} >/dev/null || {{ echo {name}; exit 1; }}")
        if kind != "sequence":
            dumped[name] = f"{away}/dump-{place}-{len(dumped)}"
            lines.append(f"../dump_file {kind} {name} {'25' if kind == 'snapshots' else ''} >../{os.path.basename(dumped[name])}")
    with open(f"{away}/read.sh", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    inside(f"sh {folder}/read.sh")
    texts = {}
    for name, path in dumped.items():
        with open(path, encoding="utf-8") as file:
            texts[name] = file.read()
    return texts


def check_debian():
    if os.geteuid() != 0 or not os.path.isdir(PLACE):
        skip(f"no Debian 13 in {PLACE} (./run clients makes it), or not root, who can enter it")
    needs = "python3 -c 'import h5py' && command -v h5repack gcc && pkg-config hdf5 libxxhash jansson cmocka"
    if subprocess.run(["chroot", PLACE, "sh", "-c", needs], capture_output=True).returncode != 0:
        skip(f"the Debian 13 in {PLACE} lacks h5py, hdf5-tools or gcc with libhdf5-dev: ./run clients installs them")
    with tempfile.TemporaryDirectory(dir=f"{PLACE}/tmp") as away:
        folder = "/" + os.path.relpath(away, PLACE)
        os.mkdir(f"{away}/files")
        os.chdir(f"{away}/files")
        make_files()
        mine = {name: contents(name) for name in sorted(os.listdir("."))}
        shutil.copytree(f"{SOURCE}/tools/python/validate", f"{away}/tools/python/validate")
        os.mkdir(f"{away}/formats")
        for page in pathlib.Path(SOURCE, "formats").glob("*.md"):
            shutil.copy(page, f"{away}/formats")
        shutil.copy(f"{CLIENTS}/hdf5_contents.py", away)
        made = json.loads(inside(f"python3 {folder}/hdf5_contents.py {folder}/files"))
        for name in mine:
            assert made["files"][name] == mine[name], (name, "other values there")
        check_copies(made)
        inside(f"cd {folder}/files && python3 {folder}/tools/python/validate *.h5 *.vtkhdf copies/*")
        # our C code with that HDF5: it writes the same bytes and reads the same contents
        compile_there(folder, away)
        os.mkdir(f"{away}/again")
        inside(f"cd {folder} && ./write_samples again && ./modalinfo --version")
        for name in ("basis.h5", "traj.h5", "still.h5", "sequence.vtkhdf"):
            assert filecmp.cmp(name, f"{away}/again/{name}", shallow=False), f"{name}: other bytes by HDF5 {made['hdf5']}"
        names = [*mine, *(copy for _, copy in made["copies"])]
        for name, text in read_there(folder, away, "files", names).items():
            assert text == dump(name), name
        with open(f"{FROZEN}/contents.json", encoding="utf-8") as file:
            frozen = json.load(file)
        shutil.copytree(FROZEN, f"{away}/frozen")
        for name, text in read_there(folder, away, "frozen", [x for x in frozen if x.endswith(".h5")], check=False).items():
            found = dict(line.split(" ", 1) for line in text.splitlines())
            assert all(found.get(key) == value for key, value in frozen[name].items()), name
        print(f"check_hdf5: our C code with HDF5 {made['hdf5']}: the same bytes written, the same contents read")
        os.chdir("/")


# ---- h5wasm ----

def check_h5wasm():
    if not os.path.isdir(PLACE) or not shutil.which("node"):
        skip(f"no npm package h5wasm in {PLACE} (./run clients installs it), or no node")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_files()
        mine = {name: contents(name) for name in sorted(os.listdir("."))}
        made = json.loads(run("node", f"{CLIENTS}/hdf5_contents.mjs", PLACE, folder))
        assert re.fullmatch(r"\d+\.\d+\.\d+", made["hdf5"]), made["hdf5"]
        for name, items in mine.items():
            found = made["files"][name]
            assert set(found) == set(items), (name, set(found) ^ set(items))
            for key, value in items.items():
                if isinstance(found[key], list) and len(found[key]) == 3 and isinstance(found[key][2], str) and "@" not in key:
                    assert found[key][1:] == value[1:], (name, key)
        with h5py.File("twig.h5") as file:
            assert made["files"]["twig.h5"]["@content_hash"] == file.attrs["content_hash"].decode()
            shift = file["shapes/0000/modes"].attrs["shift"]
            assert np.isclose(made["files"]["twig.h5"]["shapes/0000/modes@shift"], shift, rtol=1e-15)
        check_copies(made)
        run(sys.executable, f"{SOURCE}/tools/python/validate",
            *(copy for _, copy in made["copies"] if "-v200-packed" not in copy))
        os.chdir("/")


if __name__ == "__main__":
    {"debian": check_debian, "h5wasm": check_h5wasm}[CLIENT]()
