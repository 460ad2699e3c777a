# SPDX-License-Identifier: Apache-2.0
"""modalinfo on good, wrong and unreadable files.
usage: check_modalinfo.py --modalinfo PROGRAM --write-samples PROGRAM"""
import argparse
import json
import os
import re
import subprocess
import tempfile

import h5py
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--modalinfo", required=True)
parser.add_argument("--write-samples", required=True)
arguments = parser.parse_args()
program = os.path.abspath(arguments.modalinfo)
samples = os.path.abspath(arguments.write_samples)


def run(*words, code=0):
    got = subprocess.run([program, *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert got.returncode == code, (words, got)
    if code in (0, 1):
        assert not got.stderr, got
    else:
        assert not got.stdout and got.stderr.startswith("modalinfo: ") and got.stderr.count("\n") == 1, got
    return got.stderr if code > 1 else got.stdout


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([samples, "."], check=True)

    info = json.loads(run("--json", "basis.h5"))
    assert info["type"] == "basis" and info["bytes"] == os.path.getsize("basis.h5")
    assert info["objects"] == 3 and info["reduced_coordinates"] == 11 and len(info["shapes"]) == 2
    with h5py.File("basis.h5", "r") as file:
        assert info["content_hash"] == file.attrs["content_hash"].decode()
        for shape, group in zip(info["shapes"], file["shapes"].values()):
            rest = group["surface/rest_positions"][:]
            assert shape["vertices"] == len(rest)
            assert shape["triangles"] == len(group["surface/triangles"])
            assert np.array_equal(shape["bounding_box"], [rest.min(axis=0), rest.max(axis=0)])
            assert np.array_equal([m["frequency"] for m in shape["modes"]], group["modes/frequencies"][:])
            assert np.array_equal([m["residual"] for m in shape["modes"]], group["modes/residuals"][:])
            assert shape["solid"]["fixed_nodes"] == len(group["volume/fixed_nodes"])
    assert [s["kind"] for s in info["shapes"]] == ["derivatives", "modes"]
    assert [s["reduced_forces"] for s in info["shapes"]] == [True, False]
    assert info["shapes"][1]["rigid_modes"] == 6 and info["shapes"][0]["boundary_vertices"] == 20
    assert info["shapes"][0]["solid"]["materials"][1]["name"] == "st\u00e4hl"
    assert info["shapes"][0]["solid"]["materials"][1]["density"] == 7850

    text = run("basis.h5")
    for wanted in ('shape "grid"', "35 (20 on open edges)", "4.7746483", "rubber: E 1e+06 Pa",
                   "modalpack 0.1.0: modalpack 'a b.msh'", "2.25 kg (lumped mass matrix)",
                   "6 left out", "modes and their derivatives", "16 linear, 40 quadratic, 80 cubic terms", "at most 0.125 m outside"):
        assert wanted in text, (wanted, text)
    assert not any(ord(c) < 32 and c != "\n" for c in text)

    info = json.loads(run("--json", "traj.h5"))
    assert info["frames"] == 7 and info["poses"] and info["evenly_spaced"]
    assert abs(info["frames_per_second"] - 25) < 1e-9 and abs(info["duration"] - 0.24) < 1e-12
    assert info["basis"]["found"] and info["basis"]["matches"]
    with h5py.File("traj.h5", "r") as file:
        q = file["q"][:]
        ranges = np.concatenate([np.array(o) for o in info["q_ranges"]])
        assert np.array_equal(ranges, np.stack([q.min(axis=0), q.max(axis=0)], axis=1))
    assert re.search(r"is the right one +yes\n", run("traj.h5"))
    assert "no (rest poses)" in run("still.h5")

    for name, kind in (("basis.h5", "basis"), ("traj.h5", "trajectory"), ("still.h5", "trajectory")):
        verdict = f"valid {kind}" + {"basis.h5": "", "traj.h5": ", rating ok", "still.h5": ", rating not judged"}[name]
        assert run("--check", name).splitlines()[-1] == f"{name}: {verdict}", run("--check", name)
        assert json.loads(run("--check", "--json", name))["valid"] is True

    info = json.loads(run("--json", "sequence.vtkhdf"))
    assert info["type"] == "sequence" and info["points"] == 3 and info["triangles"] == 1, info
    assert info["frames"] == 2 and info["frames_per_second"] == 2 and info["duration"] == 0.5
    assert info["arrays"] == ["Points", "displacement"] and len(info["provenance"]) == 1
    assert "Points, displacement" in run("sequence.vtkhdf")
    assert run("--check", "sequence.vtkhdf") == "sequence.vtkhdf: valid sequence\n"
    with h5py.File("sequence.vtkhdf", "r+") as file:
        file["VTKHDF/Points"][4, 2] = np.nan
    assert "/VTKHDF/Points" in run("--check", "sequence.vtkhdf", code=1)

    # one bit of the disk's in any array: the middle number gets another exponent, or is odd where it was even
    with open("basis.h5", "rb") as file:
        whole = file.read()
    flipped = {}
    with h5py.File("basis.h5", "r") as file:
        def flip(name, item):
            if isinstance(item, h5py.Dataset) and item.size > 0:
                real = item.dtype.kind == "f"
                at = item.id.get_offset() + (item.size // 2) * item.dtype.itemsize
                flipped[name] = (at + (item.dtype.itemsize - 2 if real else 0), 0x10 if real else 1)
        file.visititems(flip)
    names = {name.split("/", 2)[-1] for name in flipped}
    for name in ("surface/uv", "modes/residuals", "reduced_forces/cubic", "volume/nodes", "volume/volume_modes", "volume/inner_modes",
                 "volume/element_nodes", "volume/embedding_weights", "volume/groups/0000/nodes",
                 "volume/materials/0001/axes", "rest_pose"):
        assert name in names, (name, sorted(names))
    for name, (at, bit) in flipped.items():
        with open("flipped.h5", "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1:])
        lines = run("--check", "flipped.h5", code=1).splitlines()
        assert lines and all(line.startswith("flipped.h5: /") for line in lines), (name, lines)
        hashed = "/@content_hash: the content has" if name.startswith("objects/") else "/shapes/hash: the content of /shapes/"
        if name == "shapes/hash":
            assert len(lines) == 2, lines
        elif "/tables/" not in name:
            assert any(hashed in line for line in lines), (name, lines)
    os.remove("flipped.h5")

    # the trajectory of another basis, and of none
    with h5py.File("still.h5", "r+") as file:
        file.attrs["basis_hash"] = np.bytes_("0" * 32)
    info = json.loads(run("--json", "still.h5"))
    assert info["basis"]["found"] and not info["basis"]["matches"] and "another basis" in info["basis"]["problem"]
    assert "/basis: made for another basis" in run("--check", "still.h5", code=1)
    os.rename("basis.h5", "moved.h5")
    info = json.loads(run("--json", "traj.h5"))
    assert not info["basis"]["found"] and "No such file" in info["basis"]["problem"]
    assert run("--check", "traj.h5") == "traj.h5: valid trajectory, rating ok\n"

    # wrong: every fault is listed, exit 1; without --check the first one, exit 3
    with h5py.File("moved.h5", "r+") as file:
        file["shapes/0000/surface/rest_positions"][3, 1] = np.nan
        file["objects/shape"][2] = 9
    lines = run("--check", "moved.h5", code=1).splitlines()
    assert lines[0] == "moved.h5: /shapes/0000/surface/rest_positions: row 3, column 1: not finite, nan", lines
    assert "moved.h5: /objects/shape: object 2: outside [0, 2), 9" in lines
    assert any("/shapes/hash: the content of /shapes/0000 has" in line for line in lines), lines
    assert any("/@content_hash: the content has" in line for line in lines) and len(lines) == 4, lines
    assert len(json.loads(run("--check", "--json", "moved.h5", code=1))["findings"]) == 4
    assert "rest_positions: row 3" in run("moved.h5", code=3)

    # unreadable: 3
    with open("traj.h5", "rb") as file:
        whole = file.read()
    with open("cut.h5", "wb") as file:
        file.write(whole[:-1])
    with h5py.File("foreign.h5", "w") as file:
        file["x"] = 1
    with h5py.File("other.h5", "w") as file:
        file.attrs["modal_format"] = "texture\x1b[2J"
    with h5py.File("version.h5", "w") as file:
        file.attrs.update(modal_format="basis", modal_format_version="4.0")
    for name, message in (("absent.h5", "cannot open"), (".", "a folder without manifest.json"), ("cut.h5", "HDF5 file: truncated, "),
                          ("foreign.h5", "not a file of modaltools"), ("other.h5", "modal_format: unknown"),
                          ("version.h5", "unsupported version 4.0")):
        for words in ([], ["--check"], ["--json"]):
            got = run(*words, name, code=3)
            assert message in got, (name, got)
print("modalinfo ok")
