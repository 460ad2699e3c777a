# SPDX-License-Identifier: Apache-2.0
"""modalrender --resume: runs that are interrupted, killed or out of disk go on, and their files have the bytes of a run that was not;
what does not belong together is refused.
usage: check_render_resume.py BIN"""
import fcntl
import json
import os
import resource
import shutil
import signal
import subprocess
import time

from render_tools import check, read_bytes, run, tools, write_box

os.environ["CUDA_VISIBLE_DEVICES"] = ""  # a GPU would be over before it can be stopped
write_box(fps=5000)
COMMON = ["--size", "97x61", "--shadow", "none", "--samples", "8", "--buffers", "depth,object"]
FOLDERS = ["depth", "object", "png"]


def lines(folder="o"):
    try:
        return [line for line in read_bytes(f"{folder}/frames.journal").split(b"\n")[:-1] if line.startswith(b"frame ")]
    except FileNotFoundError:
        return []


def files(folder):
    return {f"{name}/{frame}": read_bytes(f"{folder}/{name}/{frame}") for name in FOLDERS for frame in os.listdir(f"{folder}/{name}")}


def stop(number, least, code):
    """Ends a run, of small batches, by a signal after `least` more frames."""
    least += len(lines())
    process = subprocess.Popen([tools / "modalrender", "t.h5", "o", "--resume", *COMMON, "-j1", "--memory-limit", "2M"], stderr=subprocess.PIPE)
    for _ in range(20000):
        if len(lines()) >= least or process.poll() is not None:
            break
        time.sleep(0.001)
    process.send_signal(number)
    said = process.communicate(timeout=60)[1]
    check(process.returncode == code, number, process.returncode, said)
    check(sorted(os.listdir("o")) == sorted(["frames.journal", *(f"{name}.part" for name in FOLDERS)]), os.listdir("o"))
    check(len(lines()) >= least, "lost lines")


def finish(*words, says="goes on after"):
    got = run("t.h5", "o", "--resume", *COMMON, *words)
    check(says in got.stderr, got.stderr)
    check(sorted(os.listdir("o")) == sorted(["manifest.json", *FOLDERS]) and files("o") == want, words, "other files")
    run("--check", "o", tool="modalinfo")
    shutil.rmtree("o")


def head_of(folder):
    return read_bytes(f"{folder}/frames.journal").split(b"\nframe ")[0]


run("t.h5", "w", *COMMON, "-q")
want = files("w")
check(len(want) == 3 * 101, len(want))

# interrupted, killed, again and again; with other threads and another limit
stop(signal.SIGINT, 4, 130)
finish()
for least in (1, 13, 9):
    stop(signal.SIGKILL, least, -9)
run("t.h5", "o", "-q", *COMMON, code=2, error="holds unfinished pictures (--resume goes on with them, --force discards them)")
finish("-j3", "--memory-limit", "100M")
finish(says="")  # nothing was begun

# what is not whole, and what was changed since, is drawn again
stop(signal.SIGKILL, 9, -9)
shutil.copytree("o", "kept")
for damage in ("line", "file", "gone"):
    shutil.rmtree("o")
    shutil.copytree("kept", "o")
    if damage == "line":
        with open("o/frames.journal", "r+b") as f:
            f.truncate(os.path.getsize("o/frames.journal") - 5)
    elif damage == "file":
        with open("o/depth.part/000003.npy", "r+b") as f:
            f.seek(400)
            f.write(b"\x17")
    else:
        os.unlink("o/png.part/000000.png")
    n = len(lines())
    got = run("t.h5", "o", "--resume", *COMMON).stderr
    check(f"goes on after {dict(line=n, file=3, gone=0)[damage]} of 101 frames" in got, damage, n, got)
    check(files("o") == want, damage)

# what was begun with something else
shutil.rmtree("o")
shutil.copytree("kept", "o")
run("b.h5", "u.h5", "--duration", 0.02, "--fps", 5000, "--initial", "1=2", "-q", tool="modalsim")
with open("look.json", "w", encoding="utf-8") as f:
    json.dump({"look": 1, "materials": {"a": {}}, "default": "a"}, f)
for words, error in ((["u.h5"], "another trajectory"), (["t.h5", "--crease", "180"], "another options"), (["t.h5", "--frames", ":9"], "another frames"),
                     (["t.h5", "--shard", "0/2"], "another frames"), (["t.h5", "--look", "look.json"], "another look"),
                     (["t.h5", "--backend", "ref"], "another back end")):
    run(words[0], "o", "-q", "--resume", *COMMON, *words[1:], code=3, error=error)
run("t.h5", "o", "-q", "--resume", *COMMON[:6], code=3, error="another files")
run("t.h5", "o", "-q", "--resume", "--size", "97x62", *COMMON[2:], code=3, error="another look")  # its camera sees another picture
check(len(lines()) >= 9, "a refused run has changed what was kept")

# a second run while the first one is at work leaves nothing beside its files
before = sorted(os.listdir("o"))
with open("o/frames.journal", "r+b") as first:
    fcntl.flock(first, fcntl.LOCK_EX)
    run("t.h5", "o", "-q", "--resume", *COMMON, code=4, error="another process is writing these pictures")
check(sorted(os.listdir("o")) == before, "a second run has left", os.listdir("o"))
run("t.h5", "o", *COMMON, "--force", "-q")
check(files("o") == want and sorted(os.listdir("o")) == sorted(["manifest.json", *FOLDERS]), "--force begins anew")
run("t.h5", "o", "-q", "--resume", *COMMON, code=2, error="exists")

# a full disk: what is complete stays; nothing complete, nothing stays
shutil.rmtree("o")


def small():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


run("t.h5", "o", "--resume", *COMMON, "-q", code=4, error="o/", preexec_fn=small)
check(not os.path.exists("o"), "left something")

# shares; what has no frames to keep
run("t.h5", "o", "--resume", *COMMON, "--shard", "1/3", "-q")
check(all(want[name] == text for name, text in files("o").items()) and len(files("o")) == 3 * 34, "a share")
for words, error in ((["-", "--format", "rgb"], "--resume: needs a folder"), (["n", "--format", "null"], "--resume: nothing is written"),
                     (["-", "--pick", "1,2"], "--pick: draws no pictures, --resume")):
    run("t.h5", *words, "-q", "--resume", code=2, error=error)
print("modalrender --resume: all as it should be")
