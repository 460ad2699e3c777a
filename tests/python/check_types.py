# SPDX-License-Identifier: Apache-2.0
"""The Python package under mypy's strict mode, with the settings of its pyproject.toml. usage: check_types.py SOURCE. Exits with 77 where
mypy is absent."""
import shutil
import subprocess
import sys
import tempfile

if not shutil.which("mypy"):
    print("check_types: mypy is absent, not checked")
    sys.exit(77)
package = f"{sys.argv[1]}/tools/python"
with tempfile.TemporaryDirectory() as cache:
    got = subprocess.run(["mypy", "--strict", "--config-file", f"{package}/pyproject.toml", "--cache-dir", cache, f"{package}/modaltools"],
                         capture_output=True, text=True)
print(got.stdout, got.stderr)
sys.exit(got.returncode != 0 or "no issues found" not in got.stdout)
