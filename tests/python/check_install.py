# SPDX-License-Identifier: Apache-2.0
"""An installed tree as its users meet it: moved elsewhere, manual pages, completions, libmodaltools through
pkg-config, both examples; and the packages. usage: check_install.py BUILD SOURCE [--packages [--shipped]]
Without --shipped the .deb alone, and that not compressed: the archive has what cli.install checks.
Exits with 77 where a named program that the rest needs is absent."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import h5py
import numpy as np

build, source = sys.argv[1:3]


def run(*words, **more):
    more = {"capture_output": True, **more}
    got = subprocess.run(words, **more)
    if got.returncode != 0:
        sys.exit(f"{words}: exit {got.returncode}\n{got.stdout}\n{got.stderr}")
    return got.stdout


def check(condition, *what):
    if not condition:
        sys.exit(" ".join(map(str, what)))


def options_of(tool):
    text = run(tool, "--help", "all", text=True)
    return set(re.findall(r"^  (?:-., |    )(--[a-z0-9-]+)", text, re.M))


def check_manual(page, name, options):
    text = open(page).read()
    check(text.startswith(f".TH {name.upper()} 1 "), page, text[:60])
    check(f"\n{name} \\- " in text, page, "no NAME")
    found = {w.replace("\\-", "-") for w in re.findall(r"\\fB(\\-\\-[a-z0-9\\-]+)\\fR", text)}
    check(found == options, page, found ^ options)
    if shutil.which("groff"):
        got = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", page], capture_output=True, text=True)
        check(got.returncode == 0 and not got.stderr, page, got.stderr)
    else:
        print(f"{page}: groff is absent, not formatted")


def check_bash(file, name, options):
    if not shutil.which("bash"):
        sys.exit(77)

    def complete(*words):
        quoted = " ".join(f"'{w}'" for w in (name,) + words)
        script = (f". '{file}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _{name}; "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"")
        return set(run("bash", "-c", script, text=True).split())

    check(complete("--") == options, file, complete("--") ^ options)
    check(complete("--ver") == {o for o in options if o.startswith("--ver")}, file, complete("--ver"))
    check(complete("--progress", "j") == {"json"}, file, complete("--progress", "j"))
    check(complete("--report", ""), file, "no file where a file is meant")
    check("--shake" not in options or complete("pa") == {"pack"}, file, complete("pa"))
    check("--threads" not in options or not complete("--threads", ""), file, "files where a number is meant")


def check_zsh(file, options):
    text = open(file).read()
    found = set(re.findall(r"(--[a-z0-9-]+)(?:\}'|\[)", text))
    check(found == options, file, found ^ options)
    if shutil.which("zsh"):
        run("zsh", "-n", file)
    else:
        print(f"{file}: zsh is absent, not parsed")


def expected_positions(basis, motion):
    """X + U q of every frame in the user's order, float64."""
    shape = basis["shapes/0000"]
    rest, order = shape["surface/rest_positions"][:], shape["surface/user_vertex"][:]
    tiles = shape["modes/modal_matrix"][:].astype(float)
    U = np.moveaxis(tiles, 3, 1).reshape(-1, tiles.shape[1], 3)[:len(rest)]
    frames = []
    for q in motion["q"][:]:
        x = np.empty_like(rest)
        x[order] = rest + np.einsum("vmk,m->vk", U, q)
        frames.append(x)
    return np.array(frames)


def check_tree(root):
    names = os.listdir(f"{root}/bin")
    check({"modalsim", "modaldeform", "modalinfo"} <= set(names), names)
    for name in names:
        tool = f"{root}/bin/{name}"
        options = options_of(tool)
        check("--generate" in options, name, options)
        check_manual(f"{root}/share/man/man1/{name}.1", name, options)
        check_bash(f"{root}/share/bash-completion/completions/{name}", name, options)
        check_zsh(f"{root}/share/zsh/site-functions/_{name}", options)
    documents = f"{root}/share/doc/modaltools"
    check(os.path.exists(f"{documents}/formats/basis.md"), "no specifications")
    run(sys.executable, f"{documents}/examples/plant.py", "--help")
    check(os.path.exists(f"{documents}/examples/tuning_fork.msh"), "no fork")
    check(os.path.exists(f"{documents}/tools/python/modaltools/py.typed"), "no Python package")
    for page in glob.glob(f"{documents}/**/*.md", recursive=True):
        for link in re.findall(r"\]\(([^)#:]+)\)", open(page, encoding="utf-8").read()):
            check(os.path.exists(os.path.join(os.path.dirname(page), link)), page, "leads nowhere:", link)


def declared(header, include):
    """The functions and variables that a header declares (as the compiler sees it), itself and what it includes of ours."""
    text = run("cc", "-std=c11", "-E", "-x", "c", header, include, text=True)
    ours, kept = False, []
    for line in text.split("\n"):
        if line.startswith("# "):
            ours = os.path.realpath(line.split('"')[1]).startswith(os.path.realpath(include[2:]))
        elif ours:
            kept.append(line)
    text, before = "\n".join(kept), None
    while text != before: # bodies of functions, and members
        before, text = text, re.sub(r"\{[^{}]*\}", "", re.sub(r"\)\s*\{[^{}]*\}", ");", text))
    statements = [s.split(None, 1)[0:] for s in text.split(";") if s.strip()]
    return {re.search(r"(\w+)\s*(\(|\[|$)", " ".join(s))[1] for s in statements
            if s[0] not in ("static", "typedef", "enum", "struct")}


def check_exports(root, include):
    library, = glob.glob(f"{root}/lib/**/libmodaltools.so", recursive=True)
    found = [line.split()[1:] for line in run("nm", "-D", "--defined-only", library, text=True).splitlines()]
    exported = {name.split("@")[0] for kind, name in found if kind != "A"}
    for kind, name in found: # open.h keeps its version
        check(kind == "A" or ("@@MODALTOOLS_OPEN_1" in name) == name.startswith("modal_motion_"), name)
    wanted = set().union(*(declared(h, include) for h in glob.glob(f"{root}/include/modaltools/**/*.h", recursive=True)))
    check(exported == wanted, "exported or declared, not both:", exported ^ wanted)
    check(len(exported) > 50 and all(name.startswith("modal_") for name in exported), exported)
    print(f"libmodaltools exports {len(exported)} names")


def check_viewers(root):
    """The plugin of ParaView and the add-on of Blender, the package where they look for it, and the library that it finds from there."""
    for name in ("paraview/modaltools_reader.py", "paraview/modaltools_load.py", "blender/modaltools_import.zip"):
        check(os.path.exists(f"{root}/share/modaltools/{name}"), name, "is not installed")
    with open(f"{root}/share/modaltools/paraview/modaltools_reader.py", encoding="utf-8") as plugin, \
            zipfile.ZipFile(f"{root}/share/modaltools/blender/modaltools_import.zip") as addon:
        of_addon = addon.read("modaltools_import/files.py").decode()
        found = [re.search(r"^def find_package\(.*?(?=^\S)", text, re.M | re.S) for text in (plugin.read(), of_addon)]
        check(all(found) and found[0][0] == found[1][0], "find_package is not the same in both")
        imported = set(re.findall(r"^from \.(\w+) import|^from \. import (.*)$", "".join(addon.read(n).decode() for n in addon.namelist()), re.M))
        names = {name for pair in imported for name in ", ".join(pair).split(", ") if name}
        check({f"modaltools_import/{name}.py" for name in names} <= set(addon.namelist()), "the .zip lacks a file of", names)
    script = (f"import sys; sys.path.insert(0, {root + '/share/modaltools/python'!r}); import modaltools.motion; from modaltools._library import find; "
              "print(modaltools.__file__, find()[1])")
    environment = {name: value for name, value in os.environ.items() if name not in ("MODALTOOLS_LIBRARY", "PYTHONPATH", "PKG_CONFIG_PATH")}
    package, library = run(sys.executable, "-B", "-c", script, env=environment, text=True, cwd=root).split()
    check(os.path.realpath(package).startswith(os.path.realpath(root)) and os.path.realpath(library).startswith(os.path.realpath(root)), package, library)


def check_examples(root, folder):
    examples = f"{root}/share/doc/modaltools/docs/examples"
    for name, most in (("deform.c", 40), ("deform.py", 21)):
        check(len(open(f"{examples}/{name}").readlines()) <= most, name, "has grown")
    pc = glob.glob(f"{root}/lib/**/modaltools.pc", recursive=True)
    check(len(pc) == 1, pc)
    environment = {**os.environ, "PKG_CONFIG_PATH": os.path.dirname(pc[0])}
    flags = run("pkg-config", "--cflags", "--libs", "modaltools", env=environment, text=True).split()
    libraries = [f[2:] for f in flags if f.startswith("-L")][0]
    for header in glob.glob(f"{root}/include/modaltools/**/*.h", recursive=True):
        run("cc", "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-x", "c", header, *flags[:1])
    if "--sanitize" not in sys.argv:
        check_viewers(root)
        check_exports(root, [f for f in flags if f.startswith("-I")][0])
    sanitize = ["-fsanitize=" + sys.argv[sys.argv.index("--sanitize") + 1]] if "--sanitize" in sys.argv else []
    program = f"{folder}/deform"
    run("cc", *sanitize, f"{examples}/deform.c", "-o", program, *flags, f"-Wl,-rpath,{libraries}")

    # the same through CMake's package, by a project beside it
    project, by_cmake = f"{folder}/project", f"{folder}/project/build/deform"
    os.mkdir(project)
    with open(f"{project}/CMakeLists.txt", "w") as text:
        text.write(f"""cmake_minimum_required(VERSION 3.25)
project(deform C)
find_package(modaltools 0.1 REQUIRED)
add_executable(deform {examples}/deform.c)
target_link_libraries(deform PRIVATE modaltools::modaltools)
""")
    run("cmake", "-S", project, "-B", f"{project}/build", f"-DCMAKE_PREFIX_PATH={root}",
        *(f"-DCMAKE_C_FLAGS={flag}" for flag in sanitize))
    run("cmake", "--build", f"{project}/build")

    basis, motion = f"{folder}/basis.h5", f"{folder}/traj.h5"
    run(f"{root}/bin/modalpack", f"{source}/data/tuning_fork.msh", basis, "--modes", "5", "--young", "2e11",
        "--poisson", "0.3", "--density", "7800", "--fixed", "stem_end", "--quiet")
    got = subprocess.run([f"{root}/bin/modalsim", basis, motion, "--duration", "0.01", "--fps", "1000",
                          "--initial", "0=1e-4", "--quiet", "--progress", "json"], capture_output=True, text=True)
    check(got.returncode == 0, got)
    lines = [json.loads(line) for line in got.stderr.splitlines()]
    check(lines and all(0 <= l["fraction"] <= 1 and l["tool"] == "modalsim" and l["phase"] == "step"
                        and l["seconds"] >= 0 for l in lines), got.stderr)
    check(lines[-1]["fraction"] == 1, "the last line is not the end", got.stderr)
    with h5py.File(basis) as b, h5py.File(motion) as m:
        wanted = expected_positions(b, m)
    size = np.ptp(wanted[0], axis=0).max()
    check(len(wanted) == 11 and np.abs(wanted - wanted[0]).max() > 1e-4 * size, "nothing moves")
    for command in ([program], [by_cmake], [sys.executable, f"{examples}/deform.py"]):
        got = np.frombuffer(run(*command, basis, motion), "<f4").reshape(wanted.shape)
        error = np.abs(got - wanted).max() / size
        print(os.path.basename(command[-1]), "error", error)
        check(error < 1e-6, command, "error", error)
    # the program of docs/python.md, and its header in C++
    code, = re.findall(r"```c\n(.*?)```", open(f"{root}/share/doc/modaltools/docs/python.md", encoding="utf-8").read(), re.S)
    with open(f"{folder}/play.c", "w", encoding="utf-8") as text:
        text.write(code)
    run("cc", *sanitize, "-std=c11", "-Wall", "-Wextra", "-Werror", f"{folder}/play.c", "-o", f"{folder}/play", *flags, f"-Wl,-rpath,{libraries}")
    run("c++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", f"{root}/include/modaltools/open.h")
    lines = run(f"{folder}/play", motion, text=True).splitlines()
    check(len(lines) == 11, lines)
    for line, frame in zip(lines, wanted):
        numbers = [float(x) for x in re.findall(r"[-+.\de]+(?= |$)", line.split(" is at ")[1].replace(" m", ""))]
        check(np.abs(np.array(numbers) - frame[0]).max() < 1e-5 * size, line, frame[0])
    got = subprocess.run([f"{folder}/play", "absent.h5"], capture_output=True, text=True)
    check(got.returncode == 1 and got.stderr.startswith("absent.h5: "), got)
    with open("/dev/full", "w") as full:
        check(subprocess.run([program, basis, motion], stdout=full).returncode == 1, "a full disk goes unnoticed")
    got = subprocess.run([program, basis, "absent.h5"], capture_output=True, text=True)
    check(got.returncode == 1 and got.stderr.startswith("deform: absent.h5"), got)


with tempfile.TemporaryDirectory() as folder:
    if "--packages" in sys.argv:
        shipped = "--shipped" in sys.argv
        if shipped:
            run("cpack", "-G", "TGZ", "-B", folder, cwd=build)
            archive, = glob.glob(f"{folder}/*.tar.gz")
            run("cmake", "-E", "tar", "xf", archive, cwd=folder)
            check_tree(archive[:archive.rindex(".tar.")])
        if not shutil.which("dpkg-deb") or not shutil.which("dpkg-shlibdeps"):
            print("dpkg is absent: no .deb made")
            sys.exit(77)
        run("cpack", *([] if shipped else ["-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none"]), "-G", "DEB", "-B", folder, cwd=build)
        package, = glob.glob(f"{folder}/*.deb")
        depends = run("dpkg-deb", "--field", package, "Depends", text=True)
        check("libhdf5" in depends and "libjansson4" in depends, depends)
        run("dpkg-deb", "--extract", package, f"{folder}/deb")
        check_tree(f"{folder}/deb/usr")
    else:
        run("cmake", "--install", build, "--prefix", f"{folder}/first")
        os.rename(f"{folder}/first", f"{folder}/moved")
        check_tree(f"{folder}/moved")
        check_examples(f"{folder}/moved", folder)
print("ok")
