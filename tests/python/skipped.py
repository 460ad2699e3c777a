# SPDX-License-Identifier: Apache-2.0
"""Says how many tests of a run of ctest were skipped, why, and what would run them; --check tries itself.
usage: skipped.py JUNIT.xml | --check"""
import re
import sys
import tempfile
import xml.etree.ElementTree

# By the reason that the test gave, else by its name; the first that fits.
HINTS = [(r"not available \(built without CUDA\)", "a CUDA toolkit (nvcc) at build time, and an NVIDIA GPU"),
         (r"back end cuda|no CUDA|no GPU|\.cuda$|_cuda$", "an NVIDIA GPU"),
         (r"modalpack without SLEPc", "SLEPc at build time: apt-get install libslepc-real-dev"),
         (r"no mpirun", "Open MPI's mpirun: apt-get install openmpi-bin"), (r"GNU parallel|Snakemake", "the program: apt-get install parallel snakemake"),
         (r"VegaFEM", "VegaFEM's sources: -DMODAL_VEGAFEM=FOLDER"), (r"NiftySim", "its program: -DMODAL_NIFTYSIM=PROGRAM"),
         (r"modalview was not built", "npm with its registry at build time, or MODAL_VIEW_BUNDLE=FILE"),
         (r"no pseudo-terminal", "pseudo-terminals: mount -t devpts devpts /dev/pts"),
         (r"libembree", "Embree: apt-get install libembree-dev"),
         (r"ffmpeg|ffprobe", "the program: apt-get install ffmpeg"),
         (r"\./run clients|^clients\.", "./run clients"),
         (r"shared/data|real mesh|^pipeline\.", "the real meshes: -DMODAL_TEST_DATA=FOLDER")]


def reason_of(output):
    """The last line that speaks of skipping, without what stands before that; or the last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    found = [line for line in lines if re.search("skip|absent|not checked|no such|not here", line, re.I)] or lines
    return re.sub(r"^.*?skipped:?\s*", "", found[-1], flags=re.I) if found else "it does not say why"


def summary(path):
    cases = list(xml.etree.ElementTree.parse(path).getroot().iter("testcase"))
    skipped = [(case.get("name"), reason_of(case.findtext("system-out") or "")) for case in cases
               if case.find("skipped") is not None]
    if not skipped:
        return [f"{len(cases)} tests, none skipped"]
    groups = {}
    for name, reason in skipped:
        hint = next((hint for pattern, hint in HINTS if re.search(pattern, reason)), None) or \
            next((hint for pattern, hint in HINTS if re.search(pattern, name)), "nothing that is known; see the reason")
        groups.setdefault(hint, []).append((name, reason))
    lines = [f"{len(cases)} tests, {len(skipped)} of them skipped:"]
    for hint, members in groups.items():
        lines.append(f"  {len(members)} need {hint}")
        reasons = {}
        for name, reason in members:
            same = re.sub(r"^\S+ on cuda: ", "", reason)
            reasons.setdefault(same, []).append(name)
        for reason, names in reasons.items():
            shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            lines.append(f"    {shown}: {reason}")
    return lines


def check():
    text = """<testsuite><testcase name="a.b" status="run"><system-out>fine, nothing skipped</system-out></testcase>
<testcase name="kernels.x.cuda" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>
head
SKIPPED x on cuda: back end cuda: not available (built without CUDA); available: ref
</system-out></testcase>
<testcase name="kernels.y.cuda" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>
SKIPPED y on cuda: back end cuda: not available (built without CUDA); available: ref
</system-out></testcase>
<testcase name="clients.z" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>open: skipped: no z
</system-out></testcase>
<testcase name="cli.w" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase></testsuite>"""
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(text)
        file.flush()
        got = summary(file.name)
    wanted = ["5 tests, 4 of them skipped:", "  2 need a CUDA toolkit (nvcc) at build time, and an NVIDIA GPU",
              "    kernels.x.cuda, kernels.y.cuda: back end cuda: not available (built without CUDA); available: ref",
              "  1 need ./run clients", "    clients.z: no z", "  1 need nothing that is known; see the reason",
              "    cli.w: it does not say why"]
    assert got == wanted, got
    print("skipped: ok")


if sys.argv[1:] == ["--check"]:
    check()
else:
    print("\n".join(summary(sys.argv[1])))
