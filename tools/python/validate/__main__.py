# SPDX-License-Identifier: Apache-2.0
"""python3 tools/python/validate [--seconds N] FILE...: does each file keep the rules of its specification (formats/*.md)?
A program of its own, made from these pages alone: of basis, trajectory, snapshots, checkpoint, sequence.vtkhdf, textures and octree. Each
finding is a line `FILE: place: what`. Exit codes: 0 all are valid, 1 a rule is broken, 2 usage, 3 a file cannot be read.
Every file has a process of its own with N seconds of processor time (default 60, and one a megabyte), since HDF5 may
crash or hang on damaged metadata. Needs h5py (3.7 or later) and numpy; arrays are read whole."""
import os
import resource
import signal
import sys

from basis import Basis
from container import File, Unreadable
from motion import check_checkpoint, check_snapshots, check_trajectory
from octree import check_octree
from sequence import Sequence
from textures import check_textures

KINDS = {"basis": Basis, "trajectory": check_trajectory, "snapshots": check_snapshots, "checkpoint": check_checkpoint,
         "sequence": Sequence, "textures": check_textures, "octree": check_octree}


def check(path):
    """(type, findings, doubts, whether it is a motion of which something needed was not measured)"""
    try:
        file = File(path)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    kind = file.text("/", "modal_format", optional=True)
    if kind not in KINDS:
        raise Unreadable("/@modal_format: is none of " + ", ".join(KINDS))
    KINDS[kind](file)
    return kind, file.findings, file.doubts, file.unjudged


def report(path):
    """Says what there is to say of a file; gives the exit code."""
    try:
        kind, findings, doubts, unjudged = check(path)
    except Unreadable as error:
        print(f"validate: {path}: {error}", file=sys.stderr)
        return 3
    for place, what in findings:
        print(f"{path}: {place}: {what}")
    if not findings:
        for what in doubts:
            print(f"{path}: suspect: {what}")
        rating = "suspect" if doubts else "not judged" if unjudged else "ok"
        print(f"{path}: valid {kind}" + (f", rating {rating}" if unjudged is not None else ""))
    return 1 if findings else 0


def report_apart(path, seconds):
    """`report` in a process of its own."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 4
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            code = report(path)
            sys.stdout.flush()
        except BaseException:  # as Python does at its end, but for the parent's clean-up
            sys.excepthook(*sys.exc_info())
        os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        print(f"validate: {path}: HDF5 ended by {signal.Signals(-status).name}", file=sys.stderr)
        return 3
    return status


def main(words):
    seconds = None
    if len(words) > 1 and words[0] == "--seconds" and words[1].isdigit():
        seconds, words = int(words[1]), words[2:]
    if not words or words[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    codes = []
    for path in words:
        size = os.path.getsize(path) if os.path.isfile(path) else 0
        codes.append(report_apart(path, seconds or 60 + size // 1000000))
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
