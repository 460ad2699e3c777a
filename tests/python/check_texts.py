# SPDX-License-Identifier: Apache-2.0
"""No text of a file, a file name or a command line steers the terminal or makes a line of its own: hostile texts in
every kind of file that the tools read, wherever it has a text, through every tool that reads it.
usage: check_texts.py BIN SOURCE [long]
Of every run: it ends by itself with a documented exit code; stdout and stderr are UTF-8 without control characters but
line ends; each line of stderr begins with the tool's name; no line is one that a text brought."""
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import h5py

from stvk_solid import write_bar

binaries, source = (os.path.abspath(path) for path in sys.argv[1:3])
FORGED = b"modalsim: done"
# terminal sequences, line ends of four kinds, no UTF-8 (a lone byte, a cut character, an overlong one), the C1 control
# that begins a sequence, characters that turn the direction of writing, and valid UTF-8 that must stay
NASTY = [b"\x1b]0;owned\x07\x1b[31mred\x1b[2J", b"a\n" + FORGED, b"a\r" + FORGED, b"\xff\x9b31m\xe2\x82\xc0\xaf",
         "\u009b31m\u202e\u2066\u200f\u2028\u2029\u0085".encode(), b"tab\tdel\x7fbell\x07\x0b\x0c"]
ALL = b"\xc3\xa4 " + b" ".join(NASTY)
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
count, seen = 0, set()


def fail(*what):
    sys.exit("check_texts: " + " ".join(map(repr, what)))


def run(tool, *words, works=False, piped=False, **more):
    """piped: stdout is a file. Returns stdout and stderr as texts."""
    global count
    count += 1
    words = [word if isinstance(word, bytes) else str(word) for word in words]
    got = subprocess.run([f"{binaries}/{tool}", *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
                         env=environment, **more)
    if not 0 <= got.returncode <= 5 or (works and got.returncode != 0):
        fail(tool, words, got.returncode, got.stderr[-600:])
    texts = []
    for stream in (b"" if piped else got.stdout, got.stderr):
        try:
            text = stream.decode()
        except UnicodeDecodeError as error:
            fail("no UTF-8", str(error), tool, words, stream)
        bad = HIDDEN.search(text)
        if bad:
            fail("raw", bad.group(), tool, words, text)
        if any(line.startswith(FORGED.decode()) and tool != "modalsim" for line in text.split("\n")):
            fail("forged", tool, words, text)
        texts.append(text)
    for line in texts[1].splitlines():
        if not (line.startswith(f"{tool}: ") or ("json" in words and line.startswith("{")) or
                "-" in words): # --report -: the table is there
            fail("not a line of the tool's", tool, words, line)
        if FORGED.decode() in line and re.search(r"\\x1b|\\n|\\r|\\xff|\\u", line):
            seen.add(tool)
    return texts


# ---- the inputs, all sound ----

def make_inputs():
    write_bar("bar.msh", (3, 1, 1), (3, 1, 1))
    pathlib.Path("materials.json").write_text(json.dumps({
        "materials": {"rubber": {"young": 1e6, "poisson": 0.3, "density": 1000}}, "default": "rubber"}))
    run("modalpack", "bar.msh", "basis.h5", "--materials", "materials.json", "--modes", 4, "--fixed", "root",
        "--reduced-forces", works=True)
    pathlib.Path("wave.csv").write_text("0,0\n1,1\n")
    pathlib.Path("scene.json").write_text(json.dumps({
        "duration": 0.02, "fps": 100, "model": "stvk",
        "forces": [{"object": 0, "point": [3, 1, 1], "force": [0, 1, 0], "curve": {"file": "wave.csv"}}]}))
    run("modalsim", "basis.h5", "traj.h5", "--scene", "scene.json", "--checkpoint", "check.h5", "--checkpoint-every", 1,
        works=True)
    run("modaldeform", "traj.h5", "out", "--output-mesh", "volume", "--fields", "displacement",
        works=True)
    shutil.copytree("out", "sequence")
    pathlib.Path("places.csv").write_text("0,0,-1,0,1,0,0,0,0\n1,0,-1,0,2,0,0,0,0\n")
    pathlib.Path("ground.csv").write_text("0,0,0,0\n1,0,0,1\n")
    with h5py.File("snapshots.h5", "w", libver=("earliest", "v108")) as file:
        with h5py.File("basis.h5") as basis:
            n = len(basis["shapes/0000/volume/nodes"])
        file.attrs.update(modal_format="snapshots", modal_format_version="1.0")
        file.create_dataset("displacements", data=[[[1e-3 * v, 0, 0] for v in range(n)]])


# ---- names of files, values of options ----

def check_options():
    """Every option that takes a value, with hostile ones beside operands that are sound, and unknown options."""
    operands = {"modalmesh": ["bar.msh", "o.msh"], "modalpack": ["bar.msh", "o.h5"], "modalsim": ["basis.h5", "o.h5"],
                "modaldeform": ["traj.h5", "o"], "modalview": ["traj.h5", "o.html"], "modalinfo": ["basis.h5"],
                "modalplace": ["places.csv", "o.h5", "basis.h5"], "modalbench": ["modal-sum"]}
    for tool, sound in operands.items():
        if not os.path.exists(f"{binaries}/{tool}"):
            print(f"{tool} is not built: not checked")
            continue
        usage = run(tool, "--help", "all", works=True)[0]
        options = re.findall(r"^  +(?:-\w, )?--([\w-]+) [A-Z|a-z]\S*", usage, re.M)
        if len(options) < 3:
            fail("no options found", tool, options)
        for option in options:
            run(tool, *sound, b"--" + option.encode() + b"=" + ALL, "-f" if tool not in ("modalinfo", "modalbench") else "-q")
        for text in NASTY:
            run(tool, *sound, b"--" + text)
            run(tool, *sound, b"-" + text)
        run(tool, *[text.replace(b"/", b"") for text in NASTY]) # too many operands, or absent files
        run(tool, ALL, *sound[1:])
        run(tool, *sound[:-1], ALL + b"/x")


def check_names():
    """Files with hostile names through the whole pipeline: what is said of work that succeeds."""
    name = ALL.replace(b"/", b"_")[:80]
    os.mkdir(name)
    inside = lambda file: name + b"/" + name + file
    for file in ("bar.msh", "materials.json", "places.csv"):
        shutil.copy(file, inside(b"." + file.encode()))
    mesh, basis, more = inside(b".bar.msh"), inside(b"b.h5"), ("-v", "--progress", "text")
    if os.path.exists(f"{binaries}/modalmesh"):
        run("modalmesh", mesh, inside(b"m.msh"), *more, works=True)
    run("modalpack", mesh, basis, "--materials", inside(b".materials.json"), "--modes", 4, "--fixed", "root", *more,
        "--report", inside(b"r.json"), works=True)
    with open(inside(b"r.json"), encoding="utf-8") as file:
        arguments = json.load(file)["arguments"]
    if "\x1b]0;owned\x07" not in arguments or "\n" not in arguments or "\ufffd" not in arguments:
        fail("the report has not the original text", arguments)
    run("modalsim", basis, inside(b"t.h5"), "--fps", 100, "--duration", 0.02, "--initial", "0=1", *more, works=True)
    run("modaldeform", inside(b"t.h5"), inside(b"o"), *more, works=True)
    run("modaldeform", inside(b"t.h5"), inside(b"o")) # it is there already
    run("modalplace", inside(b".places.csv"), inside(b"p.h5"), basis, *more, works=True)
    if os.path.exists(f"{binaries}/modalview"):
        run("modalview", inside(b"t.h5"), inside(b"p.html"), *more, works=True)
    for file in (basis, inside(b"t.h5"), inside(b"o"), inside(b"p.h5"), inside(b"o/sequence.vtkhdf")):
        for words in ((), ("--check",), ("--json",), ("--json", "--check"), ("--report", "-")):
            texts = run("modalinfo", file, *words, works=True)
            if words and words[0] == "--json":
                json.loads(texts[0])


# ---- texts inside files ----

def insertions(text, most):
    """The text with a hostile piece in front of, and in the place of, words from its beginning to its end."""
    words = [match.span() for match in re.finditer(rb"[^\s,=<>\"]+", text)]
    chosen = sorted({round(i * (len(words) - 1) / (most - 1)) for i in range(most)})
    for i, k in enumerate(chosen):
        start, end = words[k]
        piece = NASTY[i % len(NASTY)] if i % 2 else ALL
        yield text[:start] + piece + text[start if i % 3 else end:]


def check_meshes(most):
    """Meshes of every kind, and lists of nodes."""
    kinds = {}
    for path in sorted(glob.glob(f"{source}/tests/files/good*"), key=os.path.getsize):
        kinds.setdefault(os.path.splitext(path)[1], []).append(path)
    for extension, paths in kinds.items():
        for path in paths[:3]:
            with open(path, "rb") as file:
                text = file.read()
            for changed in insertions(text, most):
                name = "hostile" + extension
                with open(name, "wb") as file:
                    file.write(changed)
                words = ["bar.msh", "o.h5", "-f", "--fixed", name] if extension == ".bou" else [name, "o.h5", "-f"]
                if extension in (".node", ".ele", ".face"):
                    stem = os.path.splitext(path)[0]
                    for part in {".node", ".ele", ".face"} - {extension}:
                        shutil.copy(stem + part, "hostile" + part)
                    words[0] = "hostile.node"
                run("modalpack", *words, "--young", 1e6, "--poisson", 0.3, "--density", 1000, "--modes", 1)
                if extension != ".bou" and os.path.exists(f"{binaries}/modalmesh"):
                    run("modalmesh", words[0], "o.msh", "-f", "-v")
    # names that readers of meshes let through, or not
    for text in NASTY + [ALL]:
        mesh = pathlib.Path("bar.msh").read_bytes()
        pathlib.Path("hostile.msh").write_bytes(mesh.replace(b'"bar"', b'"' + text + b'"'))
        run("modalpack", "hostile.msh", "o.h5", "-f", "--modes", 2, "--materials", "materials.json")
        veg = pathlib.Path(f"{source}/tests/files/good.veg").read_bytes()
        for word in re.findall(rb"\*(?:MATERIAL|SET|REGION) (\w+)", veg):
            pathlib.Path("hostile.veg").write_bytes(veg.replace(word, word + text))
            run("modalpack", "hostile.veg", "o.h5", "-f", "--modes", 2)


def hostile_json(value, text):
    """Copies of a JSON value, each with one text or key of it changed."""
    if isinstance(value, str):
        yield text
    elif isinstance(value, list):
        for i, item in enumerate(value):
            for changed in hostile_json(item, text):
                yield value[:i] + [changed] + value[i + 1:]
    elif isinstance(value, dict):
        yield {**value, text: 1}
        for key, item in value.items():
            yield {text if k == key else k: v for k, v in value.items()}
            for changed in hostile_json(item, text):
                yield {**value, key: changed}
    else:
        yield text


def check_json():
    """Scenes, materials and manifests: every key and every value."""
    texts = ["".join(chr(byte) for byte in range(1, 32)) + "\x7f\u009b31m\u202e\u2028\n" + FORGED.decode()]
    for text in texts:
        for name, words in (("scene.json", ["modalsim", "basis.h5", "o.h5", "-f", "--scene", "hostile.json"]),
                            ("materials.json", ["modalpack", "bar.msh", "o.h5", "-f", "--modes", 2, "--materials", "hostile.json"])):
            sound = json.loads(pathlib.Path(name).read_text())
            for changed in hostile_json(sound, text):
                pathlib.Path("hostile.json").write_text(json.dumps(changed))
                run(*words)
            for raw in insertions(pathlib.Path(name).read_bytes(), 6):
                pathlib.Path("hostile.json").write_bytes(raw)
                run(*words)
        manifest = json.loads(pathlib.Path("sequence/manifest.json").read_text())
        for i, changed in enumerate(hostile_json(manifest, text)):
            pathlib.Path("sequence/manifest.json").write_text(json.dumps(changed))
            run("modalinfo", "sequence", *([], ["--check"])[i % 2])
        pathlib.Path("sequence/manifest.json").write_text(json.dumps(manifest))
        for table, words in (("places.csv", ["modalplace", "hostile.csv", "o.h5", "basis.h5", "-f"]),
                             ("ground.csv", ["modalsim", "basis.h5", "o.h5", "-f", "--fps", 10, "--duration", 1,
                                             "--base-acceleration", "hostile.csv"])):
            for raw in insertions(pathlib.Path(table).read_bytes(), 6):
                pathlib.Path("hostile.csv").write_bytes(raw)
                run(*words)


def check_hdf5():
    """Every text attribute of every kind of file, one by one, and names of groups and datasets."""
    readers = {
        "basis.h5": [["modalinfo", "x.h5"], ["modalinfo", "--check", "x.h5"],
                     ["modalsim", "x.h5", "o.h5", "-f", "--fps", 10, "--duration", 0.1, "--progress", "json"],
                     ["modalplace", "places.csv", "o.h5", "x.h5", "-f"], ["modalview", "x.h5", "o.html", "-f"],
                     ["modaldeform", "traj.h5", "o", "-f", "--basis", "x.h5"]],
        "traj.h5": [["modalinfo", "x.h5"], ["modalinfo", "--check", "x.h5"], ["modalinfo", "--json", "x.h5"],
                    ["modaldeform", "x.h5", "o", "-f"], ["modalview", "x.h5", "o.html", "-f"]],
        "sequence/sequence.vtkhdf": [["modalinfo", "x.h5"], ["modalinfo", "--check", "x.h5"],
                                     ["modalpack", "bar.msh", "o.h5", "-f", "--modes", 1, "--materials", "materials.json",
                                      "--snapshots", "x.h5"]],
        "snapshots.h5": [["modalinfo", "x.h5"], ["modalpack", "bar.msh", "o.h5", "-f", "--modes", 1, "--materials",
                                                 "materials.json", "--snapshots", "x.h5"]],
        "check.h5": [["modalsim", "basis.h5", "o.h5", "-f", "--scene", "scene.json", "--restart", "x.h5"]],
    }
    for path, runs in readers.items():
        places, links = [], ["/"]
        with h5py.File(path) as file:
            names = ["/"]
            file.visit(names.append)
            for name in names:
                item = file[name]
                if name != "/":
                    links.append(name)
                places += [(name, key) for key, value in item.attrs.items() if isinstance(value, (str, bytes))]
        if not places:
            fail("no text in", path)
        for i, (name, key) in enumerate(places):
            shutil.copy(path, "x.h5")
            with h5py.File("x.h5", "r+") as file:
                del file[name].attrs[key]
                file[name].attrs.create(key, ALL, dtype=h5py.string_dtype("utf-8", len(ALL)))
            for words in runs if "long" in sys.argv else {0: runs[0], 1: runs[i % len(runs)]}.values():
                if os.path.exists(f"{binaries}/{words[0]}"):
                    run(*words)
        shutil.copy(path, "x.h5") # objects that nobody knows, and a link that leads to a hostile name
        with h5py.File("x.h5", "r+") as file:
            for name in links:
                if isinstance(file[name], h5py.Group):
                    new = ALL.replace(b"/", b"")[:200]
                    hard = [key for key in file[name] if isinstance(file[name].get(key, getlink=True), h5py.HardLink)]
                    file[name][new] = file[name][hard[0]] if hard else h5py.SoftLink("/nowhere")
            if isinstance(file.get("basis", getlink=True), h5py.ExternalLink):
                del file["basis"]
                file["basis"] = h5py.ExternalLink(ALL, "/")
        for words in runs:
            if os.path.exists(f"{binaries}/{words[0]}"):
                run(*words)


with tempfile.TemporaryDirectory(prefix="texts-") as folder:
    os.chdir(folder)
    make_inputs()
    check_options()
    check_names()
    check_meshes(most=60 if "long" in sys.argv else 3)
    check_json()
    check_hdf5()
    missing = {"modalpack", "modalsim", "modaldeform", "modalinfo", "modalplace"} - seen
    if missing:
        fail("nothing hostile reached the messages of", missing)
print(f"{count} runs, every line is the tools' own")
