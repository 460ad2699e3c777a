# SPDX-License-Identifier: Apache-2.0
"""python3 tools/python/validate [--seconds N] FILE...: does each HDF5 file keep the rules of its page (formats/NAME.md)?
Reads the tables of the pages themselves; shares nothing with the C readers. Each finding is a line `FILE: path: what`. Exit codes:
0 all are valid, 1 a rule is broken, 2 usage, 3 a file cannot be read. Every file has a process of its own with N seconds of processor
time (default 60, and one per megabyte), since HDF5 may crash or hang on damaged metadata. Needs h5py (3.7 or later), numpy, libxxhash."""
import os
import resource
import signal
import sys

from container import File, Unreadable
from files import KINDS, check_file


def report(path):
    """Prints the findings of a file; returns the exit code."""
    try:
        try:
            file = File(path)
        except OSError as error:
            raise Unreadable(error.strerror or str(error)) from error
        kind = file.text("/", "modal_format", optional=True)
        if kind is None and file.text("/", "modal_type", optional=True):
            raise Unreadable("/@modal_format: missing; made by a version before 0.1.0")
        if kind not in KINDS:
            raise Unreadable("/@modal_format: is none of " + ", ".join(KINDS))
        check_file(file, kind)
    except Unreadable as error:
        print(f"validate: {path}: {error}", file=sys.stderr)
        return 3
    for at, what in file.findings:
        print(f"{path}: {at}: {what}")
    if not file.findings:
        for what in file.doubts:
            print(f"{path}: suspect: {what}")
        rating = "suspect" if file.doubts else "not judged" if file.unjudged else "ok"
        print(f"{path}: valid {kind}" + (f", rating {rating}" if file.unjudged is not None else ""))
    return 1 if file.findings else 0


def report_apart(path, seconds):
    """`report` in a separate process."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 4
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            code = report(path)
            sys.stdout.flush()
        except BaseException:  # as Python does at its end, without the parent's clean-up
            sys.excepthook(*sys.exc_info())
        os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        print(f"validate: {path}: HDF5 ended by {signal.Signals(-status).name}", file=sys.stderr)
    return status if status >= 0 else 3


def main(words):
    seconds = None
    if len(words) > 1 and words[0] == "--seconds" and words[1].isdigit():
        seconds, words = int(words[1]), words[2:]
    if not words or words[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    return max(report_apart(path, seconds or 60 + (os.path.getsize(path) // 1000000 if os.path.isfile(path) else 0)) for path in words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
