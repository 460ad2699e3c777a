# SPDX-License-Identifier: Apache-2.0
"""modaltools in ParaView: opens traj.h5 and basis.h5 themselves and deforms the frame that is asked for; docs/paraview.md.

Loaded by Tools > Manage Plugins > Load New, by PV_PLUGIN_PATH, or, of VTK alone, imported: Trajectory and Basis are ordinary
algorithms. The Python package modaltools (tools/python) is found on Python's path, in MODALTOOLS_PYTHON, or where an
installation or the source tree has it beside this file."""
import os
import sys

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.util.vtkAlgorithm import VTKPythonAlgorithmBase
from vtkmodules.vtkCommonCore import VTK_ID_TYPE, vtkDataArraySelection, vtkOutputWindow, vtkPoints, vtkStringArray
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkCompositeDataSet, vtkDataObject, vtkMultiBlockDataSet, vtkPolyData, vtkUnstructuredGrid
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline

try:
    from paraview.util.vtkAlgorithm import smhint, smproperty, smproxy
except ImportError:  # VTK without ParaView, or the Python shell of a ParaView whose plugins do not load (docs/paraview.md)
    smproxy = None

paraview_plugin_name = "modaltools"
paraview_plugin_version = "0.1"

MERGE_ABOVE = 200  # objects
SWING = 32         # time steps of a mode's swing, which takes a second
SURFACE, SOLID = 0, 1
AUTOMATIC, BLOCKS, MERGED = 0, 1, 2
MOVED, AT_REST = 0, 1
MOVING = ("Normals", "displacement", "speed")                 # of points
OF_CELLS = ("strain", "stress", "von_mises", "jacobian")      # of a solid's cells
OF_NODES = ("strain_nodes", "stress_nodes", "von_mises_nodes", "jacobian_nodes")  # of its points
CURVATURE = ("k_max", "k_min", "mean_curvature", "gauss_curvature", "direction_max", "direction_min", "curvature_derivative", "boundary")  # of a surface's
STILL = ("object", "material", "groups", "TextureCoordinates")
AT_FIRST = ("Normals", "displacement", "von_mises", *STILL)


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


def _array(values, name, kind=None):
    """A VTK array with a copy: a filter may share an array's memory and drop the array, with which Python's reference would go."""
    made = numpy_to_vtk(np.ascontiguousarray(values), deep=1, array_type=kind)
    made.SetName(name)
    return made


def _cell_array(offsets, connectivity):
    cells = vtkCellArray()
    cells.SetData(_array(offsets.astype(np.int64), "offsets", VTK_ID_TYPE), _array(connectivity.astype(np.int64), "connectivity", VTK_ID_TYPE))
    return cells


class _Block:
    """A data set but for what moves: a range of points and of cells, with the arrays that stay."""

    def __init__(self, name, points, cells, topology, types=None):
        self.name, self.points, self.cells, self.topology, self.types = name, slice(*points), slice(*cells), topology, types
        self.point_arrays, self.cell_arrays, self.texture, self.texts = [], [], None, {}


class _Still:
    """All blocks of a motion, surfaces or solids, an object each or merged."""

    def __init__(self, motion, solid, merged):
        self.solid = solid
        skins = [motion.skin(k) for k in range(motion.n_shapes)]
        names = [motion.shape_names[k] for k in motion.object_shapes]
        solids = motion.solids() if solid else None
        n_points = [len(s.nodes) for s in solids] if solid else [len(skins[k].rest) for k in motion.object_shapes]
        n_cells = [len(s.types) for s in solids] if solid else [len(skins[k].triangles) for k in motion.object_shapes]
        self.materials = list(dict.fromkeys(m for k in np.unique(motion.object_shapes)
                                            for m in (motion.solid(int(k)).material_names if solid else skins[k].materials)))
        self.groups = {}  # name: "points" or "cells"
        first = np.concatenate([[0], np.cumsum(n_points)]), np.concatenate([[0], np.cumsum(n_cells)])
        of_shape, parts = {}, []
        for i, k in enumerate(motion.object_shapes):
            if k not in of_shape:
                of_shape[k] = self._of_solid(solids[i]) if solid else self._of_skin(skins[k])
            parts.append(of_shape[k])
        self.blocks = []
        if merged or motion.n_objects == 1:
            one = self._join(parts, first, n_cells)
            one.name = names[0] if motion.n_objects == 1 else "objects"
            self.blocks = [one]
        else:
            repeated = {name for name in names if names.count(name) > 1}
            made = {}  # topologies are shared by the objects of a shape
            for i, part in enumerate(parts):
                k = motion.object_shapes[i]
                if k not in made:
                    made[k] = self._join([part], (np.array([0, n_points[i]]), np.array([0, n_cells[i]])), [n_cells[i]])
                block = _Block(f"{names[i]} {i}" if names[i] in repeated else names[i], first[0][i:i + 2], first[1][i:i + 2], made[k].topology,
                               made[k].types)
                block.point_arrays, block.texture, block.texts = made[k].point_arrays, made[k].texture, made[k].texts
                block.cell_arrays = [a for a in made[k].cell_arrays if a.GetName() != "object"]
                block.cell_arrays.append(_array(np.full(n_cells[i], i, np.int32), "object"))
                self.blocks.append(block)

    def _material_numbers(self, names, numbers):
        to = np.array([self.materials.index(name) for name in names] + [-1], np.int32)
        return to[numbers]

    def _note(self, groups, place):
        for name in groups:
            self.groups.setdefault(name, place)

    def _of_skin(self, skin):
        self._note(skin.triangle_groups, "cells")
        self._note(skin.vertex_groups, "points")
        texture = None
        if skin.uv is not None:  # where every corner of a vertex has the same
            texture = np.zeros((len(skin.rest), 2), np.float32)
            texture[skin.triangles] = skin.uv[skin.triangle_uv]
            if not np.array_equal(texture[skin.triangles], skin.uv[skin.triangle_uv].astype(np.float32)):
                texture = None
        return (skin.triangles.ravel(), 3 * np.arange(len(skin.triangles) + 1), None, self._material_numbers(skin.materials, skin.triangle_material),
                skin.triangle_groups, skin.vertex_groups, texture, len(skin.rest))

    def _of_solid(self, solid):
        cells, points = {}, {}
        for group in solid.groups:
            marked = np.zeros(len(solid.types) if group.dimension == 3 else len(solid.nodes), np.uint8)
            marked[group.elements if group.dimension == 3 else group.nodes] = 1
            (cells if group.dimension == 3 else points)[group.name] = marked
        self._note(cells, "cells")
        self._note(points, "points")
        return (solid.connectivity, solid.offsets, solid.vtk_types, self._material_numbers(solid.material_names, solid.material), cells, points, None,
                len(solid.nodes))

    def _join(self, parts, first, n_cells):
        corners = np.concatenate([[0], np.cumsum([p[1][-1] for p in parts])])
        topology = _cell_array(np.concatenate([*(p[1][:-1] + c for p, c in zip(parts, corners)), corners[-1:]]),
                               np.concatenate([p[0] + at for p, at in zip(parts, first[0])]))
        types = _array(np.concatenate([p[2] for p in parts]), "types") if self.solid else None
        block = _Block("", (0, int(first[0][-1])), (0, int(first[1][-1])), topology, types)
        block.cell_arrays = [_array(np.repeat(np.arange(len(parts), dtype=np.int32), n_cells), "object"),
                             _array(np.concatenate([p[3] for p in parts]), "material")]
        for where, place in ((block.cell_arrays, 4), (block.point_arrays, 5)):
            for name in dict.fromkeys(n for p in parts for n in p[place]):
                size = (lambda p: len(p[3])) if place == 4 else (lambda p: p[7])
                where.append(_array(np.concatenate([p[place].get(name, np.zeros(size(p), np.uint8)) for p in parts]), f"group {name}"))
        if parts and all(p[6] is not None for p in parts):
            block.texture = _array(np.concatenate([p[6] for p in parts]), "TextureCoordinates")
        block.texts = {"material names": self.materials}
        return block

    def make(self, block, wanted):
        """A data set of the block with what stays; wanted: a function of an array's name."""
        data = vtkUnstructuredGrid() if self.solid else vtkPolyData()
        if self.solid:
            data.SetCells(block.types, block.topology)
        else:
            data.SetPolys(block.topology)
        for arrays, to in ((block.point_arrays, data.GetPointData()), (block.cell_arrays, data.GetCellData())):
            for array in arrays:
                if wanted("groups" if array.GetName().startswith("group ") else array.GetName()):
                    to.AddArray(array)
        if block.texture is not None and wanted("TextureCoordinates"):
            data.GetPointData().SetTCoords(block.texture)
        for name, lines in block.texts.items():
            texts = vtkStringArray()
            texts.SetName(name)
            for line in lines:
                texts.InsertNextValue(line)
            data.GetFieldData().AddArray(texts)
        return data


class _Reader(VTKPythonAlgorithmBase):
    """What both readers share."""

    def __init__(self):
        VTKPythonAlgorithmBase.__init__(self, nInputPorts=0, nOutputPorts=1, outputType="vtkMultiBlockDataSet")
        self._path, self._basis, self._mesh, self._blocks, self._shown, self._limit = "", "", SURFACE, AUTOMATIC, MOVED, MERGE_ABOVE
        self._motion, self._stamp, self._still, self._rest = None, None, {}, {}
        self._arrays = vtkDataArraySelection()
        for name in (*MOVING, *CURVATURE, *OF_CELLS, *OF_NODES, *STILL):
            self._arrays.AddArray(name)
            if name not in AT_FIRST:
                self._arrays.DisableArray(name)
        self._arrays.AddObserver("ModifiedEvent", lambda *_: self.Modified())

    # ---- properties ----

    def _set(self, name, value):
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.Modified()

    def SetFileName(self, name):
        self._set("_path", "" if name in (None, "None") else str(name))

    def GetFileName(self):
        return self._path

    def SetMesh(self, mesh):
        """0 the surface, 1 the solid."""
        self._set("_mesh", int(mesh))

    def SetBlocks(self, blocks):
        """0 an object each up to the limit, 1 an object each, 2 merged."""
        self._set("_blocks", int(blocks))

    def SetMergeAbove(self, objects):
        self._set("_limit", int(objects))

    def SetPositions(self, shown):
        """0 moved, 1 at rest: with an array, from_rest, by which Warp By Vector gives the moved ones."""
        self._set("_shown", int(shown))

    def GetArrays(self):
        return self._arrays

    def Reload(self):
        self._stamp = None
        self.Modified()

    # ---- pipeline ----

    def _wants(self, name):
        return bool(self._arrays.ArrayIsEnabled(name))

    def _open(self):
        motion = find_package()
        if not self._path:
            raise ValueError("no file")
        now = motion.stamp(self._path, self._basis)
        if self._motion is not None:
            now += motion.stamp(self._motion.basis_path) if os.path.exists(self._motion.basis_path) else (None,)
        if self._motion is None or now != self._stamp:
            self._close()
            found = motion.Motion(self._path, self._basis)
            if found.is_basis != self._of_basis:
                raise ValueError(f"{self._path}: is a {'basis' if found.is_basis else 'trajectory'}, not a {'basis' if self._of_basis else 'trajectory'}")
            self._motion, self._stamp = found, motion.stamp(self._path, self._basis) + motion.stamp(found.basis_path)
        return self._motion

    def _close(self):
        if self._motion is not None:
            self._motion.close()
        self._motion, self._still, self._rest = None, {}, {}

    def _guard(self, work):
        """1 where work() ends; else 0, with the one line that says why in the output window."""
        try:
            work()
            return 1
        except (ValueError, OSError, ImportError, IndexError, KeyError, MemoryError) as error:
            if not isinstance(error, MemoryError):
                self._close()
            text = str(error) or type(error).__name__
            vtkOutputWindow.GetInstance().DisplayErrorText(f"modaltools: {text}\n")
            return 0

    def RequestInformation(self, request, inputs, outputs):
        def work():
            info = outputs.GetInformationObject(0)
            times = self._times(self._open())
            info.Remove(vtkStreamingDemandDrivenPipeline.TIME_STEPS())
            for time in times:
                info.Append(vtkStreamingDemandDrivenPipeline.TIME_STEPS(), float(time))
            info.Set(vtkStreamingDemandDrivenPipeline.TIME_RANGE(), [float(times[0]), float(times[-1])], 2)
        return self._guard(work)

    def RequestData(self, request, inputs, outputs):
        info, out = outputs.GetInformationObject(0), vtkMultiBlockDataSet.GetData(outputs, 0)

        def work():
            motion = self._open()
            keys = vtkStreamingDemandDrivenPipeline
            if info.Has(keys.UPDATE_PIECE_NUMBER()) and info.Get(keys.UPDATE_PIECE_NUMBER()) > 0:
                return  # the first process has all
            time = info.Get(keys.UPDATE_TIME_STEP()) if info.Has(keys.UPDATE_TIME_STEP()) else float(self._times(motion)[0])
            merged = self._blocks == MERGED or (self._blocks == AUTOMATIC and motion.n_objects > self._limit)
            key = self._mesh == SOLID, merged
            self.UpdateProgress(0.1)
            if key not in self._still:
                self._still = {key: _Still(motion, *key)}  # one at a time is held
            self.UpdateProgress(0.3)
            if self.GetAbortExecute():
                return
            points, cells, shown = self._frame(motion, time)
            self.UpdateProgress(0.7)
            self._fill(out, self._still[key], points, cells)
            for name, value in shown.items():
                array = _array(np.array([value], float), name)
                out.GetFieldData().AddArray(array)
            out.GetInformation().Set(vtkDataObject.DATA_TIME_STEP(), time)
            self.UpdateProgress(1)
        return self._guard(work)

    def _fill(self, out, still, points, cells):
        out.SetNumberOfBlocks(len(still.blocks))
        for i, block in enumerate(still.blocks):
            data = still.make(block, self._wants)
            at = vtkPoints()
            at.SetData(_array(points["Points"][block.points], "Points"))
            data.SetPoints(at)
            for name, values in points.items():
                if name == "Normals":
                    data.GetPointData().SetNormals(_array(values[block.points], name))
                elif name != "Points":
                    data.GetPointData().AddArray(_array(values[block.points], name))
            for name, values in cells.items():
                data.GetCellData().AddArray(_array(values[block.cells], name))
            out.SetBlock(i, data)
            out.GetMetaData(i).Set(vtkCompositeDataSet.NAME(), block.name)
            if i % 64 == 63:
                self.UpdateProgress(0.7 + 0.3 * i / len(still.blocks))
                if self.GetAbortExecute():
                    return

    def _resting(self, motion):
        """Points at rest, and their normals."""
        key = self._mesh, self._wants("Normals")
        if key not in self._rest:
            q = np.zeros(motion.deformer.n_coordinates)
            if self._mesh == SOLID:
                self._rest = {key: (motion.solid_of(q).positions, None)}
            else:
                frame = motion.deformer.at(q, normals=key[1])
                self._rest = {key: (frame.positions, frame.normals)}
        return self._rest[key]

    def _put_back(self, motion, points):
        """Points at rest in place of moved ones, and the way from there."""
        if self._shown != AT_REST:
            return points
        positions, normals = self._resting(motion)
        points = {**points, "from_rest": points["Points"] - positions, "Points": positions}
        if "Normals" in points:
            points["Normals"] = normals
        return points

    def _solid_points(self, frame):
        points = {"Points": frame.positions}
        if self._wants("displacement"):
            points["displacement"] = frame.displacement
        if frame.speed is not None:
            points["speed"] = frame.speed
        return {**points, **frame.nodes}

    def _surface_points(self, frame):
        named = {"Points": frame.positions, "Normals": frame.normals, "displacement": frame.displacement, "speed": frame.speed,
                 **{name: getattr(frame, name) for name in self._curved()}}
        return {name: values for name, values in named.items() if values is not None}

    def _curved(self):
        return tuple(name for name in CURVATURE if self._wants(name))

    def _fields(self):
        return tuple(name for name in (*OF_CELLS, *OF_NODES) if self._wants(name))


class Trajectory(_Reader):
    """traj.h5 with its basis."""

    _of_basis = False

    def __init__(self):
        _Reader.__init__(self)
        self._amplitude = 1.0

    def SetBasis(self, name):
        """Where the basis is, if it is not where the trajectory says."""
        self._set("_basis", "" if name in (None, "None") else str(name))

    def SetAmplitude(self, amplitude):
        """Multiplies the displacement that positions show; arrays stay those of the motion."""
        self._set("_amplitude", float(amplitude))

    def GetTimestepValues(self):
        return [] if self._motion is None else [float(t) for t in self._motion.times]

    def _times(self, motion):
        return motion.times

    def _frame(self, motion, time):
        frame = motion.frame_at(time)
        if self._mesh == SOLID:
            found = motion.solid_at(frame, self._amplitude, fields=self._fields(), speed=self._wants("speed") and len(motion) > 1)
            return self._put_back(motion, self._solid_points(found)), found.cells, {"frame": frame}
        found = motion.at(frame, self._amplitude, normals=self._wants("Normals") and self._shown == MOVED,
                          displacement=self._wants("displacement"), speed=self._wants("speed") and len(motion) > 1, fields=self._curved())
        points = self._surface_points(found)
        if self._wants("Normals"):
            points.setdefault("Normals", None)  # at rest: those of rest
        return self._put_back(motion, points), {}, {"frame": frame}


class Basis(_Reader):
    """basis.h5: a mode swings."""

    _of_basis = True

    def __init__(self):
        _Reader.__init__(self)
        self._mode, self._share, self._phase = 0, 0.05, 90.0

    def SetMode(self, mode):
        self._set("_mode", int(mode))

    def SetAmplitude(self, share):
        """The largest displacement as a share of the diagonal of the shape's box."""
        self._set("_share", float(share))

    def SetPhase(self, degrees):
        """Where in its swing the mode is at time 0."""
        self._set("_phase", float(degrees))

    def GetTimestepValues(self):
        return [i / SWING for i in range(SWING)]

    def _times(self, motion):
        return np.arange(SWING) / SWING

    def _frame(self, motion, time):
        mode = min(self._mode, motion.n_modes - 1)  # the slider's range is known before the file is
        if mode != self._mode:
            vtkOutputWindow.GetInstance().DisplayWarningText(f"modaltools: {self._path}: modes are 0 to {mode}, not {self._mode}\n")
        q = motion.swing(mode, self._share, np.radians(self._phase) + 2 * np.pi * time)
        frequency = next(f[mode] for f in map(motion.frequencies, map(int, motion.object_shapes)) if len(f) > mode)
        shown = {"mode": mode, "frequency": frequency}
        if self._mesh == SOLID:
            found = motion.solid_of(q, fields=self._fields())
            return self._put_back(motion, self._solid_points(found)), found.cells, shown
        found = motion.deformer.at(q, normals=self._wants("Normals"), displacement=self._wants("displacement"), fields=self._curved())
        return self._put_back(motion, self._surface_points(found)), {}, shown


# ---- what ParaView shows of them ----

def _choice(name, command, label, entries, text):
    rows = "".join(f'<Entry value="{i}" text="{entry}"/>' for i, entry in enumerate(entries))
    return f"""<IntVectorProperty name="{name}" label="{label}" command="{command}" number_of_elements="1" default_values="0">
      <EnumerationDomain name="enum">{rows}</EnumerationDomain><Documentation>{text}</Documentation></IntVectorProperty>"""


def _number(name, default, low, high, text, kind="Double", extra=""):
    return f"""<{kind}VectorProperty name="{name}" command="Set{name}" number_of_elements="1" default_values="{default}" {extra}>
      <{kind}RangeDomain name="range" min="{low}" max="{high}"/><Documentation>{text}</Documentation></{kind}VectorProperty>"""


def _file(name, text, hidden, description):
    return f"""<StringVectorProperty name="{name}" command="Set{name}" number_of_elements="1" default_values="" animateable="0"
        {'panel_visibility="never"' if hidden else ''}><FileListDomain name="files"/><Documentation>{text}</Documentation>
      <Hints><FileChooser extensions="h5" file_description="{description}"/>{'' if hidden else '<AcceptAnyFile/>'}</Hints></StringVectorProperty>"""


SHARED = [
    """<DoubleVectorProperty name="TimestepValues" command="GetTimestepValues" repeatable="1" information_only="1" si_class="vtkSITimeStepsProperty"/>""",
    _choice("Mesh", "SetMesh", "Mesh", ("Surface", "Solid"), "The surface, or the nodes and elements of the solid."),
    _choice("Blocks", "SetBlocks", "Blocks", ("Automatic", "One for each object", "Merged"),
            "A block for each object, with its name, or one for all. Automatic merges more objects than Merge Above."),
    _number("MergeAbove", MERGE_ABOVE, 1, 1000000, "The most objects that have a block each.", "Int", 'panel_visibility="advanced"'),
    _choice("Positions", "SetPositions", "Positions", ("Moved", "At rest"),
            "At rest: the points stay, and the array from_rest is the way to where they are, for Warp By Vector."),
    """<StringVectorProperty name="ArraysInfo" command="GetArrays" number_of_elements_per_command="2" information_only="1"
         si_class="vtkSIDataArraySelectionProperty"/>
       <StringVectorProperty name="Arrays" information_property="ArraysInfo" command="GetArrays" number_of_elements_per_command="2"
         element_types="2 0" repeat_command="1" si_class="vtkSIDataArraySelectionProperty">
         <ArraySelectionDomain name="array_list"><RequiredProperties><Property function="ArrayList" name="ArraysInfo"/></RequiredProperties>
         </ArraySelectionDomain></StringVectorProperty>""",
    """<Property name="Reload" command="Reload" panel_widget="command_button"><Documentation>Read the files again.</Documentation></Property>"""]

if smproxy is not None:
    def _described(kind, name, label, description, properties):
        for xml in reversed(properties):
            kind = smproperty.xml(xml)(kind)
        kind = smhint.xml(f'<ReaderFactory extensions="h5" file_description="{description}"/>')(kind)
        return smproxy.source(name=name, label=label, support_reload=False)(kind)

    ModaltoolsTrajectory = _described(
        Trajectory, "ModaltoolsTrajectory", "modaltools trajectory", "modaltools trajectory (traj.h5)",
        [_file("FileName", "The trajectory.", True, "modaltools trajectory"),
         _file("Basis", "Where its basis is, if it is not where the trajectory says.", False, "modaltools basis"),
         _number("Amplitude", 1, 0, 100, "Multiplies the displacement that is shown; arrays stay those of the motion."), *SHARED])
    ModaltoolsBasis = _described(
        Basis, "ModaltoolsBasis", "modaltools basis", "modaltools basis (basis.h5)",
        [_file("FileName", "The basis.", True, "modaltools basis"),
         _number("Mode", 0, 0, 100, "Which mode swings.", "Int"),
         _number("Phase", 90, 0, 360, "Degrees of its swing at time 0; 90: its largest displacement."),
         _number("Amplitude", 0.05, 0, 1, "The largest displacement as a share of the diagonal of the shape's box."), *SHARED])
