# SPDX-License-Identifier: Apache-2.0
"""traj.h5, snapshots.h5 and checkpoints (formats/trajectory.md, snapshots.md, checkpoint.md)."""
import os
import tempfile

import numpy as np
from h5py import h5l

from basis import Basis, add_head, check_groups, check_materials, rigid, unit_or_zero
from container import DAMAGE, File, Unreadable
from xxh3 import Hash


def check_times(file, path, n, optional=False):
    times = file.array(path, "f64", (n,), optional)
    if times is not None:
        file.must((np.diff(times) > 0).all(), path, "does not increase")
    return times


def check_trajectory(file):
    file.open_as((1,))
    basis_hash, name = file.hash_text("/", "basis_hash"), file.text("/", "basis_path")
    file.hash_text("/", "basis_recipe", optional=True)
    file.must(name is None or name, "/@basis_path", "is empty")
    if file.has("/basis") and name is not None:
        try:
            if file.must(file.link("/basis") == h5l.TYPE_EXTERNAL, "/basis", "is no external link"):
                linked, inside = file.root.id.links.get_val(b"basis")
                file.must(linked == name.encode(), "/basis", f"leads to {linked!r}, not to basis_path")
                file.must(inside == b"/", "/basis", f"leads to {inside!r}, not to the root")
        except DAMAGE as error:
            file.broken("/basis", f"cannot be read: {error}")
    times = check_times(file, "/times", None)
    n_frames = None if times is None else len(times)
    file.must(n_frames is None or n_frames >= 1, "/times", "no frame")
    offsets = file.array("/mode_offsets", "i64", (None,))
    q = file.array("/q", "f64", (n_frames, None))
    n_objects = None
    if offsets is not None and file.must(len(offsets) >= 2, "/mode_offsets", "no object"):
        n_objects = len(offsets) - 1
        file.must(offsets[0] == 0 and (np.diff(offsets) >= 0).all() and offsets[-1] > 0 and (q is None or offsets[-1] == q.shape[1]), "/mode_offsets",
                  "are no offsets of the columns of q")
    n_moving, moving = n_objects, None
    if file.has("/posed_objects"):
        moving = file.array("/posed_objects", "i32", (None,))
        n_moving = None if moving is None else len(moving)
        if moving is not None and n_objects is not None and \
                file.must((np.diff(moving) > 0).all() and (moving >= 0).all() and (moving < n_objects).all(), "/posed_objects",
                          "does not ascend, or names no object"):
            still = file.array("/static_poses", "f64", (n_objects - n_moving, 3, 4))
            file.must(still is None or rigid(still).all(), "/static_poses", "has what is no rotation")
    frames = file.array("/poses", "f64", (n_frames, n_moving, 3, 4), optional=moving is None)
    if frames is not None:
        for i, k in np.argwhere(~rigid(frames))[:10]:
            file.broken(f"/poses[{i}, {k}]", "is no rotation")
    file.array("/energy", "f64", (n_frames, 4), optional=True)
    file.unjudged = True
    check_quality(file, n_frames, n_objects)
    models = file.array("/models", "u8", (n_objects,), optional=True)
    file.must(models is None or (models <= 1).all(), "/models", "has a model that is none")
    file.array("/basis_file", "u8", (None,), optional=True)
    if file.has("/q_velocities") or file.has("/pose_velocities"):
        file.array("/q_velocities", "f64", (n_frames, None if q is None else q.shape[1]))
        if file.has("/poses"):
            file.array("/pose_velocities", "f64", (n_frames, n_moving, 3, 4))
    errors = file.array("/rebase_errors", "f64", (n_objects,), optional=True)
    file.must(errors is None or (errors >= 0).all(), "/rebase_errors", "is negative")
    errors = file.array("/projection_errors", "f64", (n_frames, 4), optional=True)
    file.must(errors is None or (errors >= 0).all(), "/projection_errors", "is negative")
    file.provenance("/provenance", optional=True)
    if not file.findings:
        check_its_basis(file, name, basis_hash, offsets)


# Past which a measure makes a motion suspect, and invalid (formats/trajectory.md).
LIMITS = {"energy_balance": (0.05, 0.5), "step_error": (0.05, 0.25), "phase_error": (0.1, np.inf),
          "newton_residual": (1e-4, 1e-1),
          "min_jacobian": (0.6, 0), "force_truncation": (0.1, 1),
          "load_truncation": (0.025, np.inf), "rotation": (10, 90), "strain": (0.05, 1), "projected": (0.05, 0.5),
          "projected_node": (0.05, 0.5), "min_volume_ratio": (0.4, 0.05), "max_volume_ratio": (3, np.inf), "bad_elements": (0.2, np.inf),
          "hourglass": (0.1, np.inf), "locking": (0.1, np.inf), "added_kinetic": (0.03, 0.5), "penetration": (0.05, 0.3)}
LOW = {"min_jacobian", "min_volume_ratio"}  # the small values are the bad ones, and may be negative
COUNTED = {f"{name}_object" for name in ("min_jacobian", "force_truncation", "load_truncation", "rotation", "strain", "projected")} | \
    {f"{name}_element" for name in ("min_jacobian", "min_volume_ratio", "max_volume_ratio")} | {"not_judged"}


def check_quality(file, n_frames, n_objects):
    """formats/modal_quality.md, and the rating: not judged unless every frame says that nothing is missing."""
    values = file.array("/quality", "f64", (n_frames, None), optional=True, finite=False)
    if not file.has("/quality"):
        return
    file.unjudged = True
    text = file.text("/", "quality_columns")
    if values is None or text is None:
        return
    names = text.split(" ")
    if not file.must(len(names) == values.shape[1] and all(names), "/@quality_columns", f"are not {values.shape[1]} names"):
        return
    known = [name for name in names if name in LIMITS or name in COUNTED or name in ("step_reductions", "added_mass")]
    if not file.must(len(set(known)) == len(known), "/@quality_columns", "has a name twice"):
        return
    for name in known:
        column = values[:, names.index(name)]
        column = column[~np.isnan(column)]
        file.must(not np.isinf(column).any(), "/quality", f"{name}: infinite")
        if name not in LOW:
            file.must((column >= 0).all(), "/quality", f"{name}: negative")
        if name in COUNTED:
            file.must((column == np.floor(column)).all(), "/quality", f"{name}: not a whole number")
        if name.endswith("_object") and n_objects is not None:
            file.must((column < n_objects).all(), "/quality", f"{name}: not an object")
        if name == "not_judged":
            file.unjudged = len(column) < len(values) or bool(column.any())
        if name in LIMITS and column.size:
            doubtful, wrong = LIMITS[name]
            worst = column.min() if name in LOW else column.max()
            past = (worst < doubtful, worst <= wrong) if name in LOW else (worst > doubtful, worst > wrong)
            file.must(not past[1], "/quality", f"invalid: {name} is {worst:.3g}")
            if past[0]:
                file.doubts.append(f"{name} is {worst:.3g}")


def check_its_basis(file, name, basis_hash, offsets):
    """That a basis is not there is no fault of the trajectory; one that is there is its own, and so is one that it carries."""
    if file.has("/basis_file"):
        with tempfile.NamedTemporaryFile(suffix=".h5") as carried:
            carried.write(file.array("/basis_file", "u8", (None,)).tobytes())
            carried.flush()
            compare_basis(file, carried.name, "/basis_file", basis_hash, offsets)
        return
    path = os.path.join(os.path.dirname(os.path.abspath(file.path)), name)
    if not os.path.exists(path):
        return
    compare_basis(file, path, name, basis_hash, offsets)


def compare_basis(file, path, name, basis_hash, offsets):
    try:
        basis = Basis(File(path))
    except (OSError, Unreadable) as error:
        file.broken("/basis", f"{name}: {error}")
        return
    file.must(basis.hash == basis_hash, "/basis", f"{name} has the hash {basis.hash}, not {basis_hash}")
    if basis.ranks is None:
        file.broken("/basis", f"{name} is broken")
    else:
        file.must(len(basis.ranks) == len(offsets) - 1 and (np.diff(offsets) == basis.ranks).all(), "/mode_offsets",
                  f"are not those of {name}")


def check_its_solid(file, n_nodes):
    file.array("/solid/nodes", "f64", (n_nodes, 3))
    mass = file.array("/solid/mass", "f64", (n_nodes,))
    file.must(mass is None or (mass > 0).all(), "/solid/mass", "is not positive")
    types = file.array("/solid/element_type", "u8", (None,))
    n = None if types is None else len(types)
    offsets = file.array("/solid/element_offsets", "i64", (None if n is None else n + 1,))
    places = file.array("/solid/element_nodes", "i32", (None,))
    file.must(n is None or n > 0, "/solid/element_type", "has no elements")
    known = types is not None and file.must((types <= 5).all(), "/solid/element_type", "has a type that is none")
    if offsets is not None and places is not None:
        good = offsets[0] == 0 and (np.diff(offsets) >= 0).all() and offsets[-1] == len(places)
        if file.must(good, "/solid/element_offsets", "are none") and known:
            wanted = np.array([4, 10, 8, 20, 6, 5])[types]
            file.must((np.diff(offsets) == wanted).all(), "/solid/element_offsets", "are not those of the types")
    for name, values in (("element_nodes", places), ("triangles", file.array("/solid/triangles", "i32", (None, 3)))):
        file.must(values is None or ((values >= 0) & (values < n_nodes)).all(), f"/solid/{name}", "has a node that is none")
    file.array("/solid/node_tags", "i64", (n_nodes,), optional=True)
    file.array("/solid/element_tags", "i64", (n,), optional=True)
    law = file.array("/solid/element_law", "u8", (n,), optional=True)
    file.must(law is None or ((law >= 1) & (law <= 3)).all(), "/solid/element_law", "has a law that is none")
    fibres = file.array("/solid/fibres", "f64", (n, 3), optional=True)
    file.must(fibres is None or unit_or_zero(fibres), "/solid/fibres", "are no unit vectors")
    patches = file.array("/solid/patches", "i32", (n,), optional=True)
    file.must(patches is None or n is None or ((patches >= -1) & (patches < n)).all(), "/solid/patches", "has a patch that is none")
    file.must(patches is None or types is None or (types[patches >= 0] == 0).all(), "/solid/patches", "has elements that are no TET4")
    count = check_materials(file, "/solid") if file.has("/solid/materials") else None
    if file.has("/solid/materials"):
        index = file.array("/solid/element_material", "i32", (n,))
        file.must(index is None or count is None or ((index >= 0) & (index < count)).all(), "/solid/element_material", "has none of them")
    if file.has("/solid/groups"):
        check_groups(file, "/solid", n_nodes, n)


def check_snapshots(file):
    file.open_as((1,))
    u = file.array("/displacements", "f64 f32", (None, None, 3))
    if u is not None:
        file.must(u.shape[0] >= 1 and u.shape[1] >= 1, "/displacements", f"has the shape {u.shape}")
        check_times(file, "/times", len(u), optional=True)
        for name in ("velocities", "internal_forces"):
            file.array(f"/{name}", "f64 f32", u.shape, optional=True)
        energy = file.array("/energy", "f64", (len(u), 6), optional=True)
        if energy is not None:
            left = energy[:, :5] @ [1, 1, 1, -1, -1]
            file.must((abs(energy[:, 5] - left) <= 1e-9 * abs(energy[:, :5]).max(axis=1)).all(), "/energy", "does not balance")
        parts = file.array("/energy_parts", "f64", (len(u), 2), optional=True)
        file.must(parts is None or energy is not None, "/energy_parts", "there is no /energy")
        file.must(parts is None or (parts[:, 0] >= 0).all(), "/energy_parts", "hourglass control stores less than nothing")
        check_quality(file, len(u), None)
        if file.has("/probes"):
            names = file.text("/probes", "names")
            probes = file.array("/probes/displacements", "f64", (len(u), None, 3))
            if names is not None and probes is not None:
                file.must(len(names.split("\n") if names else []) == probes.shape[1], "/probes@names", "are not one a probe")
            shape = (len(u), None if probes is None else probes.shape[1], 3)
            file.array("/probes/reactions", "f64", shape)
            file.array("/probes/velocities", "f64", shape)
        if file.has("/solid"):
            check_its_solid(file, u.shape[1])
        file.provenance("/provenance", optional=True)


def check_checkpoint(file):
    file.open_as((2,))
    for name in ("basis_hash", "scene_hash"):
        file.hash_text("/", name)
    file.text("/", "back_end")
    done = file.array("/n_frames", "i64", (2,))
    states = [file.array(f"/state_{i}", "f64", (2, None), finite=False) for i in range(5)]
    seals = file.array("/seal", "u8", (2, 32))
    q = file.array("/q", "f64", (None, None), finite=False)
    n_frames = None if q is None else len(q)
    rows = [q, file.array("/poses", "f64", (n_frames, None, 12), optional=True, finite=False),
            file.array("/energy", "f64", (n_frames, 4), finite=False)]
    file.array("/quality", "f64", (n_frames, None), optional=True, finite=False)
    if file.findings:
        return
    whole = {}
    for row in (0, 1):
        total = Hash()
        for name, values in (("n_frames", done), *((f"state_{i}", states[i]) for i in range(5))):
            add_head(total, name, values[row])
            if values[row].size:
                total.add(np.ascontiguousarray(values[row]))
        if seals[row].tobytes() == total.digest().encode() and 1 <= done[row] <= n_frames:
            whole.setdefault(int(done[row]), row)
    if file.must(whole, "/seal", "neither of the two states is whole"):
        n = max(whole)
        for i, state in enumerate(states):
            file.must(np.isfinite(state[whole[n]]).all(), f"/state_{i}", "has a value that is not finite")
        for name, values in zip(("q", "poses", "energy"), rows):
            file.must(values is None or np.isfinite(values[:n]).all(), f"/{name}", "has a value that is not finite")
