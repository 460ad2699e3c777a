# SPDX-License-Identifier: Apache-2.0
"""The project configures where Open MPI's compiler is installed without its headers, as graphical programs bring it
about. usage: check_configure.py SOURCE; exits with 77 where SLEPc is installed, with which MPI is looked for."""
import os
import subprocess
import sys
import tempfile

if subprocess.run(["pkg-config", "--exists", "slepc"]).returncode == 0:
    print("SLEPc is installed: MPI is needed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    for name in ("mpicc", "mpiexec"):
        with open(f"{folder}/{name}", "w") as file:
            file.write("#!/bin/sh\ncase \"$1\" in\n-showme:compile) echo -I/nowhere/openmpi/include -pthread ;;\n"
                       "-showme:link) echo -pthread -lmpi ;;\n*) exec cc \"$@\" ;;\nesac\n")
        os.chmod(f"{folder}/{name}", 0o755)
    got = subprocess.run(["cmake", "-S", sys.argv[1], "-B", f"{folder}/build", "-DMODAL_CUDA=OFF", "-DMODAL_VIEW=OFF",
                          "-DBUILD_TESTING=ON"], capture_output=True, text=True,
                         env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
    if got.returncode != 0:
        sys.exit(got.stdout[-2000:] + got.stderr[-4000:])
print("configured")
