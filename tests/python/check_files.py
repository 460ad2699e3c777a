# SPDX-License-Identifier: Apache-2.0
"""h5py as a second reader of basis.h5 and traj.h5: the code of the two specifications is run as it is
printed there, and the layout tables are compared with the files.
usage: check_files.py --formats FOLDER --write-samples PROGRAM"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

import h5py
import numpy as np

from basis_file import modal_matrix as node_matrix
from basis_file import node_modes

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/python/validate"))
from tables import SIZES, read_page  # noqa: E402

DTYPES = {"f64": "<f8", "f32": "<f4", "i64": "<i8", "i32": "<i4", "u8": "|u1"}


def snippets(path):
    with open(path, encoding="utf-8") as file:
        return re.findall(r"```python\n(.*?)```", file.read(), re.S)


def layout(page):
    """path in the file -> (dtypes, ranks) of every dataset that the table names."""
    rows = {}
    for row in read_page(page):
        if "@" not in row.path and row.type not in ("text", "group", "link"):
            dtypes, ranks = rows.setdefault(row.path, ([], set()))
            dtypes += [DTYPES[name] for name in row.type.split(" or ")]
            ranks.add(len(SIZES.split(row.shape)))
    return rows


def check_layout(file, rows, optional):
    found = {}
    file.visititems(lambda name, item: found.__setitem__("/" + name, item)
                    if isinstance(item, h5py.Dataset) else None)
    seen = set()
    for name, item in found.items():
        key = re.sub(r"/\d{4}(?=/|$)", "/NNNN", name)
        assert key in rows, f"{name} is not in the specification"
        assert item.dtype.str in rows[key][0] and item.ndim in rows[key][1], (name, item.dtype.str, item.ndim, rows[key])
        assert item.size == 0 or (item.chunks is None and item.compression is None), name
        seen.add(key)
    missing = set(rows) - seen - optional
    assert not missing, f"not in the file: {missing}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--formats", required=True)
    parser.add_argument("--write-samples", required=True)
    arguments = parser.parse_args()
    basis_md = os.path.join(arguments.formats, "basis.md")
    trajectory_md = os.path.join(arguments.formats, "trajectory.md")
    program = os.path.abspath(arguments.write_samples)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([program, "."], check=True)
        expected = np.loadtxt("expected.txt")
        with h5py.File("basis.h5", "r") as file:
            rows = layout("basis.md")
            assert len(rows) == 56, len(rows)
            others = {path for path in rows if re.search("/(truncation|look)/|quartic$|corner_normals$|fibres?$|prony_", path)}
            assert len(others) == 15, others
            check_layout(file, rows, others)
        for name in ("traj.h5", "still.h5"):
            with h5py.File(name, "r") as file:
                rows = layout("trajectory.md")
                assert len(rows) == 14, rows
                absent = {"/energy", "/basis_file", "/models", "/rebase_errors", "/projection_errors", "/posed_objects", "/static_poses", "/q_velocities",
                          "/pose_velocities"}
                check_layout(file, rows, absent | ({"/poses", "/quality"} if name == "still.h5" else set()))

        # basis.md: X + U q with q = (1e-3, 0, ...) in the user's order, against the formula by hand
        names = {}
        exec(snippets(basis_md)[0], names)
        with h5py.File("basis.h5", "r") as file:
            shape = file["shapes/0000"]
            rest = shape["surface/rest_positions"][:]
            matrix = shape["modes/modal_matrix"][:].astype(float)
            for stored, user in enumerate(shape["surface/user_vertex"][:]):
                by_hand = rest[stored] + 1e-3 * matrix[stored // 32, 0, :, stored % 32]
                assert np.array_equal(names["x"][user], by_hand), (stored, user)
            content_hash = file.attrs["content_hash"]
            # phi at the nodes: of shape 0 from inner_modes and U, of shape 1 as volume_modes
            assert "inner_modes" in shape["volume"]
            for s in (shape, file["shapes/0001"]):
                names.update(s=s, U=node_matrix(s))
                exec(snippets(basis_md)[1], names)
                assert np.array_equal(names["phi"], node_modes(s)), s

        # trajectory.md: the last frame of object 0, against what the program computed in C
        names = {}
        exec(snippets(trajectory_md)[0], names)
        rows = expected[(expected[:, 0] == 6) & (expected[:, 1] == 0)]
        assert len(rows) == len(names["x"]) == 35
        error = np.abs(names["x"][rows[:, 2].astype(int)] - rows[:, 3:]).max()
        assert error < 1e-12, error  # both in double precision

        # trajectory.md: what a script writes, our reader takes
        names["f"].close()
        os.remove("traj.h5")
        with h5py.File("still.h5", "r") as file:
            q = file["q"][:, :4]
        text = snippets(trajectory_md)[1].replace("np.arange(100)", "np.arange(len(q))").replace("[0, 16]", "[0, 4]")
        exec(text, {"h5py": h5py, "np": np, "q": q})
        assert h5py.File("traj.h5", "r").attrs["basis_hash"] == content_hash
        subprocess.run([program, "--check", "trajectory", "traj.h5"], check=True)

        # and with every dataset chunked and compressed, both files still read
        for name, kind in (("basis.h5", "basis"), ("still.h5", "trajectory")):
            shutil.copy(name, "packed.h5")
            with h5py.File("packed.h5", "r+") as file:
                found = []
                file.visititems(lambda key, item: found.append(key)
                                if isinstance(item, h5py.Dataset) and item.size else None)
                for key in found:
                    values = file[key][()]
                    del file[key]
                    file.create_dataset(key, data=values, compression="gzip", shuffle=True)
            subprocess.run([program, "--check", kind, "packed.h5"], check=True)
    print("h5py agrees")


main()
