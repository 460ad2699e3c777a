# SPDX-License-Identifier: Apache-2.0
"""The files of modaltools from Python, with h5py and numpy alone, or with libmodaltools; and its programs.

Basis       basis.h5: shapes with their modes, objects; deforms
Trajectory  traj.h5: times, reduced coordinates, poses; reads, deforms, writes
Deformer    traj.h5 with its basis: deforms the frame that is asked for, with normals, displacement, speed
Sequence    sequence.vtkhdf: frames, mapped into memory
show, plot  for notebooks: modalview's page; probes, spectra, response tables
Scene       scene.json for modalsim --scene; writes
run         a program of the family; returns its report

Lengths are metres, times seconds. Points are those of all objects, one object after the other, in the user's order of
vertices. formats/*.md of the project specify the files.
"""
from .basis import Basis, Object, Shape
from ._library import BasisMissing, Cancelled
from .deformer import Deformer, Frame, Group
from .notebook import Page, Table, plot, show, spectrum
from .programs import ToolError, info, run
from .scene import Scene
from .sequence import Sequence
from .trajectory import Trajectory

__all__ = ["Basis", "BasisMissing", "Cancelled", "Deformer", "Frame", "Group", "Object", "Page", "Scene", "Sequence", "Shape", "Table", "ToolError",
           "Trajectory", "info", "plot", "run", "show", "spectrum"]
__version__ = "0.1.0"
