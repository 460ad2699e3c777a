# SPDX-License-Identifier: Apache-2.0
"""Loads modaltools_reader.py into a running ParaView: paraview --script=modaltools_load.py, or Macros > Import New Macro.
For ParaView 5.11 with Python 3.11 (Debian 12), whose own loader of Python plugins calls inspect.getargspec, which that Python has no more."""
import inspect
import os

if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec

from paraview import simple  # noqa: E402

beside = [os.path.dirname(os.path.abspath(__file__))] if "__file__" in globals() else []  # a macro is a copy, somewhere else
for folder in [*beside, *os.environ.get("PV_PLUGIN_PATH", "").split(os.pathsep), "/usr/share/modaltools/paraview", "/usr/local/share/modaltools/paraview"]:
    if folder and os.path.exists(os.path.join(folder, "modaltools_reader.py")):
        simple.LoadPlugin(os.path.join(folder, "modaltools_reader.py"), remote=False, ns=globals())
        break
else:
    raise FileNotFoundError("modaltools_reader.py: neither beside this script, nor in PV_PLUGIN_PATH or /usr/share/modaltools/paraview")
