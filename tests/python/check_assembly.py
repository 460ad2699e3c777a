# SPDX-License-Identifier: Apache-2.0
"""Assemblies (formats/basis.md): a scene that names the files of its shapes is, for every tool, the scene that has them;
paths that lead elsewhere, files that are missing, changed or of another kind are refused by name.
usage: check_assembly.py BIN SOURCE_FOLDER [MANY]: with MANY, that many files and no more descriptors than 128"""
import filecmp
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

import h5py

BIN, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
PARTS = ["trunk.h5", "sub/bough.h5", "twig.h5", "leaf.h5"]


def run(tool, *words, code=0, says="", **more):
    got = subprocess.run([BIN / tool, *map(str, words)], capture_output=True, text=True, timeout=100, **more)
    assert got.returncode == code and says in got.stderr, (tool, words, got)
    assert got.stderr.count("\n") == (code > 1) or code == 0, got
    return got


def content_hash(path):
    with h5py.File(path) as file:
        return file.attrs["content_hash"]


def make_plant():
    subprocess.run([sys.executable, SOURCE / "data/plant.py", "bush", "plant", "--tools", BIN, "--duration", "0.2"],
                   check=True, capture_output=True)
    os.makedirs("sub")
    for name in PARTS:
        shutil.copy(f"plant/{pathlib.Path(name).name}", name)
    run("modalplace", "--link", "plant/places.csv", "linked.h5", *PARTS)
    run("modalplace", "plant/places.csv", "copied.h5", *PARTS)
    assert os.path.getsize("linked.h5") < 20000 and content_hash("linked.h5") == content_hash("copied.h5")
    with h5py.File("linked.h5") as file:
        assert [file[f"shapes/{i:04}"].attrs["file"].decode() for i in range(4)] == PARTS
        assert all(list(file[f"shapes/{i:04}"]) == [] for i in range(4))


def use(folder, *options):
    """All that can be made of the basis in a folder."""
    for name in ("places.csv", "scene.json"):
        shutil.copy(f"plant/{name}", folder)
    pathlib.Path(folder, "response.json").write_text(json.dumps(
        {"response": {"frequencies": [1, 2, 3], "points": [{"object": 0, "vertex": 3}]}, "damping": {"ratio": 0.02},
         "gravity": [0, 0, -1]}), encoding="utf-8")
    for tool, *words in (
            ["modalsim", "s.h5", "t.h5", "--scene", "scene.json", "--backend", "cpu"],
            ["modalsim", "s.h5", "l.h5", "--duration", "0.2", "--fps", "30", "--impulse", "3:0,0,1"],
            ["modaldeform", "t.h5", "out", "--backend", "cpu", "--format", "vtkhdf,glb,ply"],
            ["modaldeform", "t.h5", "volume", "--backend", "cpu", "--output-mesh", "volume"],
            ["modalview", "t.h5", "t.html"], ["modalview", "s.h5", "s.html"],
            ["modalplace", "places.csv", "again.h5", "s.h5"], ["modalinfo", "--pack", "s.h5", "p.h5"]):
        if (BIN / tool).exists():
            run(tool, "-q", *words, *options, cwd=folder)


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if path.is_file())


def check_same():
    """Every output of the assembly, of the packed file and of the assembly with its parts elsewhere: the same bytes."""
    run("modalinfo", "--pack", "linked.h5", "packed.h5")
    run("modalinfo", "--check", "packed.h5")
    assert content_hash("packed.h5") == content_hash("linked.h5")
    for folder in ("packed", "linked", "apart"):
        os.makedirs(folder)
        shutil.copy("packed.h5" if folder == "packed" else "linked.h5", f"{folder}/s.h5")
        if folder == "linked":
            for name in PARTS:
                os.makedirs(pathlib.Path(folder, name).parent, exist_ok=True)
                shutil.copy(name, f"{folder}/{name}")
    use("packed")
    use("linked")
    made = [name for name in names("packed") if name != "s.h5"]
    assert len(made) > 20 and set(made) == set(names("linked")) - {"s.h5", *PARTS}, made
    assert filecmp.cmpfiles("packed", "linked", made, shallow=False) == (made, [], [])
    # a trajectory of the one with the other
    run("modaldeform", "packed/t.h5", "other", "--basis", "linked.h5", "--backend", "cpu", "-q")
    run("modalinfo", "--check", "other")
    # parts in another folder, and the same words for it elsewhere: command lines are part of what is made
    run("modalsim", "s.h5", "t.h5", "--scene", "../plant/scene.json", code=3, says="/shapes/0003: leaf.h5: cannot open",
        cwd="apart")
    for folder in ("apart", "packed"):
        run("modalsim", "-f", "-q", "s.h5", "t.h5", "--scene", "scene.json", "--backend", "cpu", "--parts", "..",
            cwd=shutil.copy("plant/scene.json", folder) and folder)
        run("modaldeform", "-f", "-q", "t.h5", "out", "--backend", "cpu", "--parts", "..", cwd=folder)
    assert filecmp.cmp("apart/t.h5", "packed/t.h5", shallow=False)
    assert filecmp.cmp("apart/out/sequence.vtkhdf", "packed/out/sequence.vtkhdf", shallow=False)
    run("modalsim", "-f", "linked.h5", "never.h5", "--scene", "plant/scene.json", "--parts", "leaf.h5", code=3,
        says="--parts: leaf.h5: not a folder")


def check_described():
    info = json.loads(run("modalinfo", "--json", "linked.h5").stdout)
    assert (info["shapes_in_other_files"], info["shapes_missing"], info["reduced_coordinates"]) == (4, 0, 445)
    assert [(s["file"], s["file_shape"]) for s in info["shapes"]] == [(name, 0) for name in PARTS]
    os.rename("twig.h5", "aside.h5")
    info = json.loads(run("modalinfo", "--json", "linked.h5").stdout)
    assert info["shapes_missing"] == 1 and "reduced_coordinates" not in info
    assert info["shapes"][2] == {"name": "solid", "objects": info["shapes"][2]["objects"], "file": "twig.h5", "file_shape": 0,
                                 "problem": "cannot open, No such file or directory"}
    assert "vertices" in info["shapes"][3]
    text = run("modalinfo", "linked.h5").stdout
    assert "4, 1 of them missing" in text and "cannot open, No such file" in text, text
    os.rename("aside.h5", "twig.h5")


def refused(basis, says, finding=True):
    """Each tool says what, where and of which file, and leaves nothing."""
    before = names(".")
    for tool, *words in (["modalsim", basis, "never.h5", "--duration", "1", "--fps", "10"],
                         ["modaldeform", "packed/t.h5", "never", "--basis", basis],
                         ["modalview", basis, "never.html"], ["modalplace", "plant/places.csv", "never.h5", basis],
                         ["modalplace", "--link", "plant/places.csv", "never.h5", basis],
                         ["modalinfo", "--pack", basis, "never.h5"]):
        if (BIN / tool).exists():
            got = run(tool, *words, code=3, says=says)
            assert f": {basis}: /shapes/0002" in got.stderr, got
    got = run("modalinfo", "--check", basis, code=1 if finding else 3, says="" if finding else says)
    assert says in got.stdout + got.stderr, got
    assert names(".") == before


def damage(says, finding=True, **attributes):
    """A link of the assembly that says something else; None: nothing."""
    shutil.copy("linked.h5", "bad.h5")
    with h5py.File("bad.h5", "r+") as file:
        for name, value in attributes.items():
            del file["shapes/0002"].attrs[name]
            if value is not None:
                file["shapes/0002"].attrs[name] = value
    refused("bad.h5", says, finding)
    os.remove("bad.h5")


def check_attacks():
    outside = tempfile.mkdtemp()
    shutil.copy("twig.h5", outside)
    for path in (f"{os.getcwd()}/twig.h5", "../x/twig.h5", "..", ".", "", "./twig.h5", "sub/../twig.h5", "sub//bough.h5",
                 "twig.h5/", "/", "sub/./bough.h5"):
        damage("must be a path below the folder", file=path)
    os.symlink(f"{outside}/twig.h5", "away.h5")
    os.symlink(outside, "folder")
    os.symlink("/nowhere", "dangling.h5")
    os.symlink("loop.h5", "loop.h5")
    os.mkfifo("pipe.h5")
    os.symlink("twig.h5", "sub/inside.h5")
    os.symlink("../twig.h5", "sub/within.h5")
    for path, says in (("away.h5", "a symbolic link that leads out of"), ("folder/twig.h5", "a symbolic link that leads out of"),
                       ("dangling.h5", "cannot open, No such file"), ("loop.h5", "cannot open, Too many levels"),
                       ("sub/inside.h5", "cannot open, No such file"), ("sub", "is a folder, not a file"),
                       ("pipe.h5", "is not a regular file"), ("twig.h5/x", "cannot open, Not a directory"),
                       ("x" * 300, "cannot open, File name too long"), ("y/" * 6000 + "z", "cannot open, File name too long"),
                       ("plant/places.csv", "not an HDF5 file"), ("packed/t.h5", "this is a trajectory, expected a basis"),
                       ("leaf.h5", "shape 0 is another one, its hash must be"), ("linked.h5", "lies in a third file, twig.h5"),
                       ("old.h5", "unsupported version 2.0"), ("short.h5", "/@hashed: the assembly's lacks shapes/*/look/x")):
        if path == "linked.h5":  # the same hash: only whose it is can be wrong
            damage(says, file=path, file_shape=2)
            damage("lies in a third file, bad.h5", file="bad.h5", file_shape=2)
            continue
        if path == "old.h5":
            shutil.copy("twig.h5", path)
            with h5py.File(path, "r+") as file:
                file.attrs["modal_format_version"] = "2.0"
        if path == "short.h5":
            shutil.copy("twig.h5", path)
            with h5py.File(path, "r+") as file:
                file.attrs["hashed"] = "shapes/*/look/x " + file.attrs["hashed"].decode()
        damage(says, file=path)
    damage("file_shape must be 0 to 0, is 1", file_shape=1)
    damage("must be 0 to 2147483647, is -1", file_shape=-1)
    damage("type must be", file_shape="0")
    damage("file and file_shape must both be there or neither", file=None)
    damage("file and file_shape must both be there or neither", file_shape=None)
    damage("must be text", file=3)
    shutil.copy("linked.h5", "bad.h5")
    with h5py.File("bad.h5", "r+") as file:
        file["shapes/0002"].create_group("modes")
    refused("bad.h5", "lies in another file and has modes")
    # within the folder a link is one more name; the part's own name does not count
    shutil.copy("linked.h5", "bad.h5")
    with h5py.File("bad.h5", "r+") as file:
        file["shapes/0002"].attrs["file"] = "sub/within.h5"
        file["shapes/0002"].attrs["name"] = "my twig"
    assert run("modalinfo", "--check", "bad.h5").stdout == "bad.h5: valid basis\n"
    assert json.loads(run("modalinfo", "--json", "bad.h5").stdout)["shapes"][2]["name"] == "my twig"
    # a folder that the user names ends where it ends, too
    damage_with = run("modalsim", "linked.h5", "never.h5", "--duration", "1", "--fps", "9", "--parts", "folder", code=3)
    assert "/shapes/0003: leaf.h5: cannot open" in damage_with.stderr
    shutil.rmtree(outside)


def check_changed():
    """A part that is not the one that was linked: other bytes under the same hash are for --check."""
    shutil.copy("twig.h5", "aside.h5")
    with h5py.File("twig.h5", "r+") as file:
        file["shapes/0000/surface/rest_positions"][3, 1] += 1e-3
    got = run("modalinfo", "--check", "linked.h5", code=1).stdout
    assert "/shapes/0002: twig.h5: /shapes/hash: the content of /shapes/0000 has" in got, got
    with h5py.File("twig.h5", "r+") as file:
        file["shapes/0000/surface/rest_positions"][3, 1] = float("nan")
    for tool, *words in (["modaldeform", "packed/t.h5", "never", "--basis", "linked.h5"],
                         ["modalinfo", "--pack", "linked.h5", "never.h5"]):
        run(tool, *words, code=3, says="linked.h5: /shapes/0002: twig.h5: /shapes/0000/surface/rest_positions: row 3")
    with open("twig.h5", "r+b") as file:
        file.truncate(20000)
    refused("linked.h5", "twig.h5: HDF5 file")
    os.remove("twig.h5")
    refused("linked.h5", "/shapes/0002: twig.h5: cannot open, No such file")
    os.rename("aside.h5", "twig.h5")


def check_kept():
    """A run replaces no file that it reads, nor a part of what it reads."""
    bytes_of = {name: pathlib.Path(name).read_bytes() for name in PARTS}
    for tool, *words in (["modalsim", "linked.h5", "twig.h5", "--duration", "1", "--fps", "10"],
                         ["modalplace", "--link", "plant/places.csv", "twig.h5", "linked.h5"],
                         ["modalplace", "plant/places.csv", "twig.h5", "linked.h5"], ["modalview", "linked.h5", "twig.h5"],
                         ["modalinfo", "--pack", "linked.h5", "twig.h5"]):
        if (BIN / tool).exists():
            run(tool, *words, "--force", code=2, says="modalview makes no .h5" if tool == "modalview" else "input and output are one file")
    assert all(pathlib.Path(name).read_bytes() == bytes_of[name] for name in PARTS)


def check_linking():
    """What --link and --pack refuse."""
    os.makedirs("below")
    run("modalplace", "--link", "plant/places.csv", "below/never.h5", *PARTS, code=2, says="not below the folder of below/never.h5")
    run("modalplace", "--link", "plant/places.csv", "below/never.h5", "linked.h5", code=2, says="--link: linked.h5: shape 0 lies in")
    pathlib.Path("one.csv").write_text("0,0,-1,0,0,0,0,0,0\n1,0,-1,1,0,0,0,0,0\n", encoding="utf-8")
    run("modalplace", "--link", "one.csv", "never.h5", "old.h5", code=3, says="old.h5: modal_format_version: unsupported version 2.0")
    assert names("below") == [] and not os.path.exists("never.h5")
    # an assembly of assemblies refers to the parts themselves
    shutil.copy("linked.h5", "sub/other.h5")
    run("modalplace", "--link", "plant/places.csv", "second.h5", "linked.h5")
    with h5py.File("second.h5") as file:
        assert [file[f"shapes/{i:04}"].attrs["file"].decode() for i in range(4)] == PARTS
    assert content_hash("second.h5") == content_hash("linked.h5")
    # one of many shapes in one file, found by its number there
    run("modalplace", "--link", "plant/places.csv", "third.h5", "copied.h5", "--force")
    with h5py.File("third.h5") as file:
        assert [(file[f"shapes/{i:04}"].attrs["file"], file[f"shapes/{i:04}"].attrs["file_shape"]) for i in range(4)] == \
            [(b"copied.h5", i) for i in range(4)]
    assert content_hash("third.h5") == content_hash("linked.h5")
    run("modalinfo", "--check", "third.h5")
    for words, says in ((["--pack", "linked.h5"], "--pack: needs"), (["linked.h5", "x.h5"], "only with --pack or --compare: x.h5"),
                        (["--force", "linked.h5"], "--force: only with --pack"),
                        (["--pack", "--check", "linked.h5", "x.h5"], "--pack: not with"),
                        (["--pack", "linked.h5", "packed.h5"], "packed.h5: exists")):
        run("modalinfo", *words, code=2, says=says)
    shutil.copy("twig.h5", "more.h5")
    with h5py.File("more.h5", "r+") as file:  # as if the hash covered an array that this program does not know
        file.attrs["content_hash"] = "0" * 32
    run("modalinfo", "--pack", "more.h5", "x.h5", code=3, says="cannot be packed as it is")
    assert not os.path.exists("x.h5")
    run("modalinfo", "--pack", "--force", "linked.h5", "packed.h5")
    # through a pipe there is no folder, unless one is named
    with open("linked.h5", "rb") as file:
        got = run("modalinfo", "--check", "-", stdin=file, code=1)
        assert "trunk.h5: a basis from a pipe has no folder to look in" in got.stdout, got
    with open("linked.h5", "rb") as file:
        run("modalinfo", "--check", "-", "--parts", ".", stdin=file)


def check_many(n):
    """More files than a process may open; one shape may have many objects, and one file many shapes."""
    os.makedirs("many")
    parts = [f"many/{i}.h5" for i in range(n)]
    for part in parts:
        os.link("leaf.h5", part)
    pathlib.Path("many.csv").write_text("".join(f"{i},{i % n},-1,{i},0,0,0,0,0\n" for i in range(n + 3)), encoding="utf-8")

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024 if n > 1000 else 128, ) * 2)
    run("modalplace", "-q", "--link", "many.csv", "many.h5", *parts, preexec_fn=few)
    run("modalplace", "-q", "many.csv", "all.h5", *parts, preexec_fn=few)
    assert content_hash("many.h5") == content_hash("all.h5")
    run("modalinfo", "--check", "many.h5", preexec_fn=few)
    run("modalsim", "-q", "many.h5", "m.h5", "--duration", "0.1", "--fps", "20", "--initial", "0=0.01", preexec_fn=few)
    for basis in ("many.h5", "all.h5"):
        run("modaldeform", "-q", "m.h5", "-f", f"{basis}.d", "--basis", basis, "--backend", "cpu", preexec_fn=few)
    for name in ("many.h5.d", "all.h5.d"):
        with h5py.File(f"{name}/sequence.vtkhdf") as file:
            points = file["VTKHDF/Points"][:].tobytes()
        assert name == "many.h5.d" or points == before
        before = points
    # stored in chunks, so that HDF5 has to read them: still no more files than may be open
    with h5py.File("leaf.h5") as old, h5py.File("chunked.h5", "w", libver="v108") as new:
        for key, value in old.attrs.items():
            new.attrs[key] = value
        for group in old:
            old.copy(group, new)
        matrix = old["shapes/0000/modes/modal_matrix"]
        del new["shapes/0000/modes/modal_matrix"]
        new["shapes/0000/modes"].create_dataset("modal_matrix", data=matrix[:], chunks=(1, *matrix.shape[1:]), compression=4)
    for part in parts:
        os.remove(part)
        os.link("chunked.h5", part)
    run("modaldeform", "-q", "m.h5", "chunked.d", "--basis", "many.h5", "--backend", "cpu", preexec_fn=few)
    with h5py.File("chunked.d/sequence.vtkhdf") as file:
        assert file["VTKHDF/Points"][:].tobytes() == before


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    make_plant()
    if len(sys.argv) > 3:
        check_many(int(sys.argv[3]))
    else:
        check_same()
        check_described()
        check_attacks()
        check_changed()
        check_kept()
        check_linking()
        check_many(150)
    os.chdir("/")
