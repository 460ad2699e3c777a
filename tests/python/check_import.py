# SPDX-License-Identifier: Apache-2.0
"""VegaFEM bases: columns come through as they are, in their order; what does not fit is refused.
usage: check_import.py BIN_FOLDER SOURCE_FOLDER DATA_FOLDER"""
import json
import pathlib
import sys
import tempfile

import h5py
import numpy as np

from stvk_solid import Basis, Tools, write_bar

run, data = Tools(sys.argv[1], exact=True), pathlib.Path(sys.argv[3]) / "beam3"
RUBBER = ["--young", 5e6, "--poisson", 0.35, "--density", 1000.0]


def write(path, columns, dtype="<f8", shape=None):
    """columns [r, points, 3] as VegaFEM writes them: rows are the points' coordinates."""
    rows = columns.reshape(len(columns), -1)
    head = np.array(shape or rows.shape[::-1], "<i4").tobytes()
    path.write_bytes(head + rows.astype(dtype).tobytes())
    return path


def surface_columns(path):
    """[r, vertices, 3] in the user's order, and the rest positions."""
    with h5py.File(path) as file:
        shape = file["shapes/0000"]
        x, order = shape["surface/rest_positions"][:], shape["surface/user_vertex"][:]
        u = shape["modes/modal_matrix"][:].transpose(0, 3, 2, 1)
        u = u.reshape(-1, 3, u.shape[3])[:len(x)]
        columns, rest = np.empty_like(u), np.empty_like(x)
        columns[order], rest[order] = u, x
        return columns.transpose(2, 0, 1), rest, "volume" in shape


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    bar, path, matrix = folder / "bar.msh", folder / "i.h5", folder / "bar.Ulin"
    write_bar(bar, (12, 2, 2), (1.0, 0.1, 0.1))
    run("modalpack", bar, folder / "m.h5", *RUBBER, "--fixed", "root", "--modes", 6, "-q")
    modes = Basis(folder / "m.h5")

    def pack(*words, code=0):
        got = run("modalpack", bar, path, *RUBBER, "--import", matrix, *words, "-f", "--report", folder / "r.json",
                  code=code)
        if code == 0:
            assert run("modalinfo", "--check", path).stdout.endswith("valid basis\n")
        return (Basis(path), json.loads((folder / "r.json").read_text())["import"]) if code == 0 else got.stderr

    # natural modes in another order: the same values, uncoupled, and the motion they made before
    order = [3, 0, 5, 1, 2, 4]
    write(matrix, modes.modes[order])
    for words in ((), ("--fixed", "root")):
        basis, report = pack(*words)
        assert basis.kind == "imported" and np.array_equal(basis.modes, modes.modes[order])
        assert np.abs(basis.eigenvalues / modes.eigenvalues[order] - 1).max() < 1e-8
        assert report["columns"] == 6 and report["mass_coupling"] < 1e-9 and report["stiffness_coupling"] < 1e-7, report
    assert np.array_equal(pack("--modes", 2)[0].modes, modes.modes[order[:2]])
    for words, held in ((("--fixed", "root"), 1), ((), 0)):
        got = run("modalpack", bar, path, *RUBBER, "--import", matrix, *words, "-f").stderr
        assert ("is --fixed missing?), 9" in got) == (not held), got
    assert "imported" in run("modalinfo", path).stdout and "coupling" in run("modalinfo", path).stdout
    pack("--reduced-forces")
    basis = Basis(path)
    assert np.abs(basis.forces[0] - np.diag(basis.eigenvalues)).max() < 1e-9 * basis.eigenvalues.max()
    tips = []
    for file, mode in (("m.h5", 0), ("i.h5", 1)):
        run("modalsim", folder / file, folder / "t.h5", "--duration", 0.5, "--fps", 50, "--initial", f"{mode}=0.01",
            "-f", "-q")
        with h5py.File(folder / "t.h5") as t:
            tips.append(t["q"][:, mode])
    assert np.abs(tips[0] - tips[1]).max() < 1e-7

    # float32, as .URendering.float
    matrix = write(folder / "bar.URendering.float", modes.modes[order], "<f4")
    assert np.array_equal(pack()[0].modes, modes.modes[order].astype("f4").astype("f8"))

    # mixed columns: kept, measured, and refused where they would have to be oscillators
    mixed = np.tensordot(np.random.default_rng(2).standard_normal((6, 6)), modes.modes, 1)
    matrix = write(folder / "bar.Ulin", mixed)
    basis, report = pack()
    assert np.array_equal(basis.modes, mixed)
    flat, mass = mixed.reshape(6, -1), np.stack([modes.mass(1000.0) @ m for m in mixed]).reshape(6, -1)
    for key, product in (("mass_coupling", flat @ mass.T),
                         ("stiffness_coupling", flat @ (modes.full_stiffness(0 * modes.nodes, 5e6, 0.35) @ flat.T))):
        product = np.abs(product) / np.sqrt(np.outer(product.diagonal(), product.diagonal()))
        np.fill_diagonal(product, 0)
        assert abs(report[key] - product.max()) < 1e-9 and report[key] > 0.1
    got = run("modalsim", path, folder / "n.h5", "--duration", 1, "--fps", 9, "--initial", "0=1", code=3).stderr
    assert "its imported columns are coupled" in got and not (folder / "n.h5").exists(), got

    # a surface without a solid: a tetrahedron and its columns; the deformer moves it
    (folder / "s.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    columns = np.random.default_rng(3).standard_normal((5, 4, 3))
    run("modalpack", folder / "s.obj", folder / "s.h5", "--import", write(folder / "s.URendering.float", columns, "<f4"))
    back, rest, has_volume = surface_columns(folder / "s.h5")
    assert np.array_equal(back, columns.astype("f4")) and not has_volume and rest[3, 2] == 1
    assert run("modalinfo", "--check", folder / "s.h5").stdout.endswith("valid basis\n")
    assert "coupled" in run("modalsim", folder / "s.h5", folder / "n.h5", "--duration", 1, "--fps", 9, "--initial", "0=1", code=3).stderr
    q = np.array([[0, 0, 0, 0, 0], [1, -1, 2, 0.5, 0.1]])
    with h5py.File(folder / "q.h5", "w", libver=("v108", "v108")) as file:
        with h5py.File(folder / "s.h5") as basis_file:
            content_hash = basis_file.attrs["content_hash"]
        file.attrs.update(modal_format="trajectory", modal_format_version="1.0", basis_hash=content_hash, basis_path="s.h5")
        file["basis"] = h5py.ExternalLink("s.h5", "/")
        file.update({"times": np.array([0.0, 1.0]), "mode_offsets": np.array([0, 5]), "q": q})
    run("modaldeform", folder / "q.h5", folder / "out", "--normals", "none", "-q")
    with h5py.File(folder / "out/sequence.vtkhdf") as file:
        moved = file["VTKHDF/Points"][4:8]
    assert np.abs(moved - rest - np.tensordot(q[1], columns, 1)).max() < 1e-5

    # several meshes, each with its columns: shapes and objects in the order of the meshes, none of them merged
    short = folder / "short.msh"
    write_bar(short, (6, 2, 2), (0.5, 0.1, 0.1))
    run("modalpack", short, folder / "sm.h5", *RUBBER, "--fixed", "root", "--modes", 3, "-q")
    few = Basis(folder / "sm.h5").modes
    own = [write(folder / f"{k}.U", c) for k, c in enumerate((modes.modes, few, 2 * few))]
    three = [bar, short, short, folder / "three.h5", *RUBBER, "--fixed", "root"]
    got = run("modalpack", *three, *sum((["--import", o] for o in own), []), "-f", "--report", folder / "r.json")
    assert run("modalinfo", "--check", folder / "three.h5").stdout.endswith("valid basis\n")
    with h5py.File(folder / "three.h5") as file:
        assert file["objects/shape"][:].tolist() == [0, 1, 2] and (file["objects/parent"][:] == -1).all()
        assert (file["objects/rest_pose"][:] == np.eye(3, 4)).all()
        for k, columns in enumerate((modes.modes, few, 2 * few)):
            assert np.array_equal(file[f"shapes/{k:04d}/volume/volume_modes"][:], columns), k
            assert file[f"shapes/{k:04d}"].attrs["name"].decode() == ("short" if k else "bar")
        assert [line.split()[1] for line in file["provenance/0000"].attrs["inputs"].decode().split("\n")] == [
            str(p) for p in (bar, short, short, *own)]
    assert [entry["import"]["columns"] for entry in json.loads((folder / "r.json").read_text())["solids"]] == [6, 3, 3]
    assert [line.split()[-1] for line in got.stdout.splitlines()[1:]] == ["bar", "short", "short"]
    got = run("modalpack", *three, "--import", own[0], "--import", own[1], "-f", code=2).stderr
    assert "--import: one for each mesh, 2 for 3" in got, got
    got = run("modalpack", *three, *sum((["--import", o] for o in (own[0], own[0], own[1])), []), "-f", code=3).stderr
    assert f"0.U: 351 rows, {short} has 63 nodes" in got, got

    # a finer surface for each; modes as they are without
    for k, z in enumerate((0.02, 0.03)):
        (folder / f"{k}.obj").write_text(f"v 0.1 0.02 {z}\nv 0.4 0.03 {z}\nv 0.3 0.08 {z}\nf 1 2 3\n")
    run("modalpack", bar, short, folder / "two.h5", *RUBBER, "--fixed", "root", "--modes", 3, "--surface", folder / "0.obj",
        "--surface", folder / "1.obj", "-q")
    with h5py.File(folder / "two.h5") as file:
        for k, z in enumerate((0.02, 0.03)):
            assert (file[f"shapes/{k:04d}/surface/rest_positions"][:, 2] == z).all()
            same = (modes.modes[:3], few)[k]
            assert np.abs(file[f"shapes/{k:04d}/volume/volume_modes"][:] - same).max() < 1e-6 * np.abs(same).max()

    # refused, with nothing left behind
    def refuse(code, message, *words, mesh=bar, material=RUBBER):
        before = sorted(p.name for p in folder.iterdir())
        got = run("modalpack", mesh, folder / "n.h5", *material, "--import", matrix, *words, code=code).stderr
        assert message in got.splitlines()[-1], (message, got)
        assert sorted(p.name for p in folder.iterdir()) == before

    write(matrix, modes.modes[:, 1:])
    refuse(3, f"bar.Ulin: 348 rows, {bar} has 117 nodes: must be 3 a node, 351")
    write(matrix, modes.modes)
    refuse(3, "bar.Ulin: 6 columns, --modes asks for 7", "--modes", 7)
    refuse(2, "one of them at most", "--derivatives", 2)
    refuse(2, "one of them at most", "--snapshots", "s.h5")
    refuse(3, "4 vertices: must be 3 a vertex, 12", mesh=folder / "s.obj", material=[])
    refuse(2, "--fixed: needs a solid", "--fixed", "root", mesh=folder / "s.obj", material=[])
    refuse(2, "--young: needs a solid", mesh=folder / "s.obj")
    refuse(2, "--materials: needs a solid", "--materials", "m.json", mesh=folder / "s.obj", material=[])
    refuse(2, "--mass: needs a solid", "--mass", "lumped", mesh=folder / "s.obj", material=[])
    whole = matrix.read_bytes()
    (folder / "bar.float").write_bytes(whole)
    matrix = folder / "bar.float"
    refuse(3, "351 x 6 values of 4 bytes, 16848 bytes follow")
    matrix = folder / "bar.Ulin"
    for cut in (0, 3, 7, 8, 9, len(whole) // 2 + 4, len(whole) - 1):
        matrix.write_bytes(whole[:cut])
        refuse(3, "bar.Ulin")
    matrix.write_bytes(whole + b"\0")
    refuse(3, "351 x 6 values of 8 bytes, 16849 bytes follow")
    for shape in ((0, 6), (351, 0), (-351, 6), (351, -6), (2**31 - 1, 2**31 - 1), (6, 351)):
        write(matrix, modes.modes, shape=shape)
        refuse(3, "bar.Ulin")
    bad = modes.modes.copy()
    bad[2, 20, 1] = np.inf
    write(matrix, bad)
    refuse(3, "bar.Ulin: column 2, row 61: not finite, inf")
    bad[2] = 0
    write(matrix, bad)
    refuse(3, "bar.Ulin: column 2: all values are 0")
    bad = modes.modes.copy()
    bad[4, 3] = 1e-3 * np.abs(bad[4]).max()
    write(matrix, bad)
    refuse(3, "column 4: node 3 is fixed and moves by 0.001 of the largest value", "--fixed", "root")
    bad[4] *= 1e160
    write(matrix, bad)
    refuse(3, "bar.Ulin")
    matrix.unlink()
    refuse(3, "bar.Ulin")

    # VegaFEM's own beam, where it is there: .veg, .bou and a .U of its modes
    if data.is_dir():
        beam, fixed = data / "beam3_tet.veg", data / "beam3.bou"
        run("modalpack", beam, folder / "b.h5", "--fixed", fixed, "--modes", 8, "-q")
        modes = Basis(folder / "b.h5")
        run("modalpack", beam, path, "--fixed", fixed, "-f", "-q", "--import", write(folder / "beam3.U", modes.modes))
        assert np.array_equal(Basis(path).modes, modes.modes)
    else:
        print("beam3: skipped, not here")
print("imports agree")
