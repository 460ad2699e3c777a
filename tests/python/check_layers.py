# SPDX-License-Identifier: Apache-2.0
"""The dependency rule: tools -> formats, lib, kernels; formats -> lib's plain data; lib -> kernels;
all -> lib/base. Kernels never see hdf5.h, formats never see CUDA, lib never sees a file format.
Also: every source has its licence line, and none is longer than 700 lines; values of HDF5 files are read in one place,
which proves the sizes of chunks (HDF5 does not)."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
DATA = {"lib/base", "lib/mesh/volume_mesh.h", "lib/mesh/element.h", "lib/mesh/material.h",
        "lib/basis", "lib/trajectory", "lib/deform/deform.h", "lib/dynamics/scene.h"}
ALLOWED = {
    "lib/base": {"lib/base"},
    "lib": {"lib", "kernels"},
    "kernels": {"kernels", "lib/base", "lib/basis/basis.h"},
    "formats": {"formats"} | DATA,
    "tools": {"tools", "formats", "lib", "kernels"},
}
FORBIDDEN = {
    "kernels": r"hdf5|jansson",
    "lib": r"hdf5|jansson|cuda",
    "formats": r"cuda|cublas",
}

# Reads itself: the one function, and two writers, contiguous arrays of their own.
MAY_READ = {"formats/hdf5/h5_array.c", "formats/hdf5/h5_write.c", "formats/sequences/sequence_vtkhdf.c"}


def inside(path, places):
    return any(path == p or path.startswith(p + "/") for p in places)


found = []
count = 0
for room in ("lib", "kernels", "formats", "tools"):
    for source in sorted((root / room).rglob("*")):
        if source.suffix not in (".c", ".h", ".cu", ".cuh"):
            continue
        count += 1
        name = source.relative_to(root).as_posix()
        text = source.read_text()
        lines = text.split("\n")
        if "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
            found.append(f"{name}: no licence line")
        if len(lines) > 700:
            found.append(f"{name}: {len(lines)} lines")
        if "H5Dread(" in text and name not in MAY_READ:
            found.append(f"{name}: reads an array past formats/hdf5/h5_array.c")
        rule = "lib/base" if name.startswith("lib/base/") else room
        for number, line in enumerate(lines, 1):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)', line)
            if not match:
                continue
            quote, target = match.groups()
            if quote == '"' and not inside(target, ALLOWED[rule]):
                found.append(f"{name}:{number}: {rule} must not include {target}")
            if quote == "<" and room in FORBIDDEN and re.search(FORBIDDEN[room], target):
                found.append(f"{name}:{number}: {room} must not include {target}")
if count < 10:
    found.append(f"only {count} sources seen under {root}")
print("\n".join(found) or f"{count} sources keep the rule")
sys.exit(bool(found))
