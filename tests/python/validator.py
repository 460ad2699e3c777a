# SPDX-License-Identifier: Apache-2.0
"""The validator (tools/python/validate) in a process that is forked from the test's: no start of Python and h5py for each file."""
import importlib.util
import os
import sys
import tempfile

from tool_run import must

source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/python/validate")


def load():
    """Its main()."""
    sys.path.insert(0, source)
    spec = importlib.util.spec_from_file_location("validate_main", os.path.join(source, "__main__.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.path.remove(source)
    return module.main


main = load()


def validate(files, code=0):
    """A file, or several, of which the worst must end so. Returns what it says."""
    files = [files] if isinstance(files, str) else list(map(str, files))
    sys.stdout.flush()
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if child == 0:
            try:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                got = main(files)
                sys.stdout.flush()
            except BaseException:
                sys.excepthook(*sys.exc_info())
                got = 4
            os._exit(got)
        got = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        said.seek(0)
        text = said.read()
    must(got == code, files, "validator:", got, text)
    return text
