# SPDX-License-Identifier: Apache-2.0
"""The Python package modaltools, and the files that are open."""
import os
import sys

import bpy

OPEN = {}  # (path, basis): (stamp, Motion)

FAULTS = (ValueError, OSError, ImportError, KeyError, IndexError, MemoryError)


def text_of(error):
    return f"modaltools: {error}" if str(error) else f"modaltools: {type(error).__name__}"


def find_package(*named):
    """The module modaltools.motion: of Python's path, of a folder that is named, or where an installation or the source tree has it. ImportError
    says what is missing. ParaView's plugin and Blender's add-on have the same lines, each its own: they look for what they could share."""
    here = os.path.dirname(os.path.abspath(__file__))
    try:
        import modaltools.motion as motion
    except ImportError:
        for folder in (os.environ.get("MODALTOOLS_PYTHON", ""), *named, f"{here}/../python", f"{here}/../../python", "/usr/share/modaltools/python",
                       "/usr/local/share/modaltools/python"):
            if folder and os.path.isdir(os.path.join(folder, "modaltools")):
                sys.path.append(os.path.abspath(folder))
                break
        for name in [name for name in sys.modules if name == "modaltools" or name.startswith("modaltools.")]:
            del sys.modules[name]
        try:
            import modaltools.motion as motion
        except ImportError as error:
            raise ImportError(f"the Python package modaltools cannot be used: {error}. Set MODALTOOLS_PYTHON to the folder that has it, and install "
                              f"h5py and numpy: {sys.executable or 'this Python'} -m pip install h5py numpy") from None
    return motion


def package():
    """The same, also of the folder in the add-on's preferences."""
    own = bpy.context.preferences.addons.get(__package__)
    return find_package(bpy.path.abspath(own.preferences.package) if own else "")


def motion_of(path, basis=""):
    """The Motion of these files, opened again when they change."""
    motion = package()
    path, basis = (bpy.path.abspath(p) if p else "" for p in (path, basis))
    now = motion.stamp(path, basis)
    held = OPEN.get((path, basis))
    if held is not None and os.path.exists(held[1].basis_path) and held[0] == now + motion.stamp(held[1].basis_path):
        return held[1]
    forget((path, basis))
    found = motion.Motion(path, basis)
    OPEN[path, basis] = now + motion.stamp(found.basis_path), found
    return found


def motion_held(path, basis=""):
    """The same where it is open, else None: nothing is read."""
    found = OPEN.get(tuple(bpy.path.abspath(p) if p else "" for p in (path, basis)))
    return found and found[1]


def forget(*keys):
    """Closes what is open."""
    for key in keys or list(OPEN):
        found = OPEN.pop(key, None)
        if found is not None:
            found[1].close()
