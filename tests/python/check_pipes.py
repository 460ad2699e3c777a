# SPDX-License-Identifier: Apache-2.0
"""An HDF5 file through a pipe is read as the same bytes in a file are, or refused as they are; what is no HDF5 file, or
more than one, is refused before memory is filled.
usage: check_pipes.py MODALDEFORM MODALVIEW MODALINFO WRITE_SAMPLES"""
import os
import resource
import subprocess
import sys
import tempfile

import h5py

deform, view, info, write_samples = (os.path.abspath(x) for x in sys.argv[1:5])
# a sanitizer takes terabytes of addresses
LIMIT = None if b"sanitize:address" in subprocess.run([deform, "--version"], capture_output=True).stdout else 2 ** 30


def run(command, data=None, stdin=None, limit=None):
    """`limit`: bytes of address space."""
    def before():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return subprocess.run(command, input=data, stdin=stdin, capture_output=True, timeout=60, preexec_fn=before)


def positions(folder):
    with h5py.File(f"{folder}/sequence.vtkhdf") as file:
        return file["VTKHDF/Points"][()].tobytes()


count = 0


def same(name, data, says=None, code=3):
    """The bytes as a file, and as standard input of both tools: taken alike, or refused with the same words."""
    global count
    count += 1
    with open("case.h5", "wb") as file:
        file.write(data)
    for tool, options in ((deform, ["-j1"]), (view, ["--quiet"])):
        results = []
        for path, given in (("case.h5", None), ("-", data)):
            out = f"out-{count}-{len(results)}-{os.path.basename(tool)}"
            done = run([tool, path, out, "--basis", "basis.h5", *options], data=given)
            text = done.stderr.decode().replace("standard input", "case.h5").replace(out, "out")
            assert done.returncode == (code if says else 0), (name, tool, path, done.returncode, text)
            assert not says or says in text, (name, tool, path, text)
            assert not says or not os.path.exists(out), (name, tool, path)
            results.append(positions(out) if not says and tool == deform else b"")
        assert results[0] == results[1], (name, tool)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([write_samples, "."], check=True)
    with open("traj.h5", "rb") as file:
        good = file.read()

    same("as written", good)
    for block in (512, 1024, 8192):
        same("a user block", b"#" * block + good)
    for libver in ("earliest", "latest"):
        with h5py.File("traj.h5", "r") as old, h5py.File("copy.h5", "w", libver=libver) as new:
            for name in old.attrs:
                new.attrs[name] = old.attrs[name]
            for name in ("times", "mode_offsets", "q", "poses", "quality"):
                new.create_dataset(name, data=old[name][()], chunks=True, compression="gzip")
        with open("copy.h5", "rb") as file:
            same(libver, file.read())
    same("empty", b"", "empty file")
    same("text", b"no such thing\n" * 100, "not an HDF5 file")
    same("a byte", b"\x89", "not an HDF5 file")
    same("signature", good[:8], "truncated, it ends in its superblock")
    same("truncated", good[:-1], f"truncated, {len(good) - 1} bytes of {len(good)}")
    same("a second one", good + good, "after the end of the HDF5 file")
    same("a byte more", good + b"\n", "after the end of the HDF5 file")
    same("a later superblock", good[:8] + b"\x09" + good[9:], "superblock of version 9")
    same("a user block too large", b"#" * 2 ** 21 + good, "not an HDF5 file")

    # Endless input, in 1 GB: the signature comes first, then the size that the superblock states.
    claimed = bytearray(good)
    claimed[28:36] = (2 ** 50).to_bytes(8, "little")  # the end of the file in a superblock of version 2
    for tool in (deform, view):
        with open("/dev/zero", "rb") as zeros:
            done = run([tool, "-", "o", "--basis", "basis.h5"], stdin=zeros, limit=LIMIT)
        assert done.returncode == 3 and b"not an HDF5 file" in done.stderr, (tool, done)
        done = run([tool, "-", "o", "--basis", "basis.h5"], data=bytes(claimed), limit=LIMIT)
        assert done.returncode == 4 and b"an HDF5 file of 1125899906842624 bytes" in done.stderr, (tool, done)
        with subprocess.Popen(["sh", "-c", "cat traj.h5 /dev/zero"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as endless:
            done = run([tool, "-", "o", "--basis", "basis.h5"], stdin=endless.stdout, limit=LIMIT)
            endless.stdout.close()
        assert done.returncode == 3 and b"after the end of the HDF5 file" in done.stderr, (tool, done)
    done = run([deform, "-", "o", "--basis", "basis.h5", "--memory-limit", "4k"], data=good)
    assert done.returncode == 4 and b"--memory-limit 4096" in done.stderr, done
    assert not os.path.exists("o")
print(f"{count} inputs alike in a file and in a pipe")
