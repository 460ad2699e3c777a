#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modaldeform --resume: runs that are interrupted, killed or out of disk go on, and their sequence has
the bytes of a run that was not; whatever does not belong together is refused.
usage: check_resume.py MODALDEFORM [BACKEND]; with a back end (not for ctest: cuda, cpu) only the
interruptions are tried, on a larger sequence, for what is fast has to be caught."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import h5py

from check_large import write_basis, write_trajectory

tool = os.path.abspath(sys.argv[1])
FILES = ["manifest.json", "sequence.vtkhdf", "sequence.xdmf"]
PART, JOURNAL = "o/sequence.vtkhdf.part", "o/sequence.vtkhdf.journal"
back_end = sys.argv[2] if len(sys.argv) > 2 else "ref"
other = len(sys.argv) > 2
COMMON = ["--backend", back_end, "--fields", "displacement"]
# Small batches: room for about three frames, and none for the modal matrix of 7 MB; with another back
# end for some frames of 0.7 MB beside the buffers through which a matrix is loaded to a device.
SMALL = ["--memory-limit", "44M" if other else "2M"]
N_FRAMES = 900 if other else 120  # 40 batches: enough to be caught in


def must(condition, what):
    if not condition:
        sys.exit(f"check_resume: {what}")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run(*arguments, code=0, says=None, **more):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, timeout=120, **more)
    error = done.stderr.decode()
    must(done.returncode == code, f"{arguments}: exit code {done.returncode}, not {code}: {error}")
    must(not says or says in error, f"{arguments}: does not say {says!r}: {error}")
    return error


def lines():
    """Complete lines of frames in the journal."""
    try:
        return [line for line in read(JOURNAL).decode().split("\n")[:-1] if line.startswith("frames ")][1:]
    except FileNotFoundError:
        return []


def put_aside(source, target):
    shutil.rmtree(target, ignore_errors=True)
    if os.path.exists(source):
        shutil.copytree(source, target)


def start(least, source="traj.h5", stdin=None):
    """Runs until `least` further batches are there and returns the process, halted (SIGSTOP) with frames still to come. On a
    busy machine a run can end before it is looked at: then what it did is taken back, and it begins again."""
    least += len(lines())
    put_aside("o", "before")
    for _ in range(20):
        process = subprocess.Popen([tool, source, "o", "--resume", *COMMON, *SMALL, "-j1"], stdin=stdin, stderr=subprocess.PIPE)
        for _ in range(20000):
            if len(lines()) >= least or process.poll() is not None:
                break
            time.sleep(0.001)
        if process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            halted = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code == os.CLD_STOPPED
            if halted and least <= len(lines()) and sum(int(line.split()[2]) for line in lines()) < 0.9 * N_FRAMES:
                return process
            process.send_signal(signal.SIGCONT)
        error = process.communicate()[1]
        must(process.returncode == 0, f"{process.returncode}: {error}")
        put_aside("before", "o")
        if stdin:
            os.lseek(stdin.fileno(), 0, os.SEEK_SET)
    return must(False, "ended twenty times before it could be stopped")


def stop(number, least, **more):
    process = start(least, **more)
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    _, error = process.communicate(timeout=60)
    must(process.returncode == (-number if number == signal.SIGKILL else 128 + number),
         f"signal {number}: {process.returncode}: {error}")
    must(sorted(os.listdir("o")) == sorted(os.path.basename(p) for p in (PART, JOURNAL)),
         f"signal {number}: {os.listdir('o')}")
    must(len(lines()) >= least, "lost lines")


def finish(want, *arguments, says=None):
    kept = len(lines())
    error = run("traj.h5", "o", "--resume", *COMMON, *arguments, says=says)
    must(sorted(os.listdir("o")) == FILES, f"{os.listdir('o')}")
    for name in FILES[1:]:
        must(read(f"o/{name}") == want[name], f"{name}: other bytes")
    if says is None and kept:
        must("goes on after" in error, f"nothing was kept: {error}")
    shutil.rmtree("o")


def signals(want):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        stop(number, 3)
        finish(want)
    for least in (1, 4, 9):  # again and again, with other batches
        stop(signal.SIGKILL, least)
    finish(want, "-j2", "--memory-limit", "50M" if other else "3M")
    finish(want)  # nothing was begun: as without --resume
    with open("traj.h5", "rb") as trajectory:  # what has no name can be given again
        run("-", "o", *COMMON, stdin=trajectory)
    piped = {name: read(f"o/{name}") for name in FILES[1:]}
    shutil.rmtree("o")
    with open("traj.h5", "rb") as trajectory:
        stop(signal.SIGKILL, 3, source="-", stdin=trajectory)
    with open("traj.h5", "rb") as trajectory:
        run("-", "o", "--resume", *COMMON, stdin=trajectory, says="goes on after")
    must({name: read(f"o/{name}") for name in FILES[1:]} == piped, "piped: other bytes")
    shutil.rmtree("o")


def limit_files(size):
    def set_limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return set_limit


def full_disk(want):
    # no room for the file's own tables: nothing is worth keeping
    for size in (0, 2000, len(want["sequence.vtkhdf"]) // 2):
        run("traj.h5", "o", "--resume", *COMMON, *SMALL, code=4, preexec_fn=limit_files(size))
        must(not os.path.exists("o"), "left something")
    os.mkdir("disk")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", "disk"],
                      capture_output=True).returncode != 0:
        print("check_resume: skipped: a small disk, mount is not permitted")
        os.rmdir("disk")
        return
    for name in ("basis.h5", "traj.h5"):
        shutil.copy(name, "disk")
    os.chdir("disk")
    try:
        for _ in range(2):
            process = start(3)
            with open("filler", "wb", buffering=0) as file:  # another program fills the disk
                try:
                    while file.write(b"x" * 65536):
                        pass
                except OSError:
                    pass
            process.send_signal(signal.SIGCONT)
            _, error = process.communicate(timeout=60)
            must(process.returncode == 4 and b"write error, No space left" in error and
                 b"frames are kept" in error, f"a full disk: {process.returncode}, {error}")
            os.remove("filler")
        finish(want)
    finally:
        os.chdir("..")
        subprocess.run(["umount", "disk"], check=True)
        os.rmdir("disk")


def damage(want):
    def patch(path, place, data):
        with open(path, "r+b") as file:
            file.seek(place)
            file.write(data)

    points = want["sequence.vtkhdf"]
    half = len(points) // 2
    stop(signal.SIGKILL, 6)
    first = lines()[2].split()[1]
    # where frames differ, the batches before them stay
    with h5py.File("reference/sequence.vtkhdf") as f:
        n = int(f["VTKHDF/NumberOfPoints"][0])
        place = f["VTKHDF/PointData/Normals"].id.get_offset() + int(first) * n * 12 + 100
    patch(PART, place, b"\x55\xaa")
    finish(want, says=f"goes on after {first} of {N_FRAMES} frames")
    # lines of the journal
    for rest in (b"frames 1", b"frames 9 9 9\n", b"\0" * 40, b"frames -1 3 " + b"0" * 32 + b"\n",
                 b"frames 0 99999999 " + b"0" * 32 + b"\n"):
        stop(signal.SIGKILL, 4)
        text = read(JOURNAL)
        with open(JOURNAL, "ab") as file:
            file.write(rest)
        finish(want)
    stop(signal.SIGKILL, 4)
    text = read(JOURNAL)
    head = text.index(b"frames 0 ")
    for end in (head - 1, head // 2, 0):  # a head that is not complete: from the start
        with open(JOURNAL, "wb") as file:
            file.write(text[:end])
        os.makedirs("copy", exist_ok=True)
        shutil.copy(PART, "copy")
        shutil.copy(JOURNAL, "copy")
        finish(want, says=f"{N_FRAMES} frames of")
        os.mkdir("o")
        shutil.copy("copy/sequence.vtkhdf.part", PART)
    with open(JOURNAL, "wb") as file:
        file.write(text)
    os.remove(PART)
    finish(want, says="is gone, all frames are made again")
    for cut in (0, 1000, half):
        stop(signal.SIGKILL, 4)
        os.truncate(PART, cut)
        run("traj.h5", "o", "--resume", *COMMON, code=3, says="truncated or damaged")
        must(os.path.exists(PART) and os.path.exists(JOURNAL), "a damaged file was removed")
        run("traj.h5", "o", "--force", *COMMON)
        must(read("o/sequence.vtkhdf") == points and sorted(os.listdir("o")) == FILES, "--force")
        shutil.rmtree("o")


def refused(want):
    stop(signal.SIGKILL, 4)
    before = read(PART), read(JOURNAL)
    for arguments, says in ((["--normals", "none"], "another arguments"),
                            (["--frames", f":{N_FRAMES // 2}"], "another arguments"),
                            (["--order", "stored"], "another arguments"),
                            (["--backend", "cpu"], "another back end")):
        options = [*COMMON, *arguments] if "--backend" not in arguments else [*COMMON[2:], *arguments]
        run("traj.h5", "o", "--resume", *options, code=3, says=says)
    run("traj.h5", "o", "--resume", "--backend", "ref", code=3, says="another arguments")
    shutil.move("traj.h5", "kept.h5")
    write_trajectory("traj.h5", "basis.h5", 200, N_FRAMES, seed=9)
    run("traj.h5", "o", "--resume", *COMMON, code=3, says="another trajectory")
    shutil.move("kept.h5", "traj.h5")
    run("traj.h5", "o", *COMMON, code=2, says="exists, holds an unfinished sequence")
    run("bad.h5", "o", "--resume", *COMMON, code=3, says=f"/q: frame {N_FRAMES // 2}")
    must((read(PART), read(JOURNAL)) == before, "a refusal changed something")
    finish(want)
    # two processes for one folder
    process = subprocess.Popen([tool, "-", "o", "--resume", *COMMON], stdin=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    for _ in range(5000):
        if os.path.exists(JOURNAL):
            break
        time.sleep(0.001)
    time.sleep(0.05)
    run("traj.h5", "o", "--resume", *COMMON, code=4, says="another process")
    run("traj.h5", "o", "--force", *COMMON, code=4, says="another process")
    process.communicate(timeout=60)
    must(process.returncode == 3, "an empty input")
    must(not os.path.exists("o"), "left something")
    run("bad.h5", "o", "--resume", *COMMON, code=3)
    must(not os.path.exists("o"), "left something")
    # a finished sequence is not replaced, and with --force it is
    run("traj.h5", "o", "--resume", *COMMON)
    run("traj.h5", "o", "--resume", *COMMON, code=2, says="exists (--force replaces it)")
    must(sorted(os.listdir("o")) == FILES, "left something")
    run("traj.h5", "o", "--resume", "--force", *COMMON)
    must(sorted(os.listdir("o")) == FILES, "left something")
    must(read("o/sequence.vtkhdf") == want["sequence.vtkhdf"], "other bytes")
    shutil.rmtree("o")


def main():
    sys.stdout.reconfigure(line_buffering=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        size, r = ((200, 100), 50) if other else ((60, 50), 200)
        write_basis("basis.h5", *size, r)
        write_trajectory("traj.h5", "basis.h5", r, N_FRAMES)
        write_trajectory("bad.h5", "basis.h5", r, N_FRAMES, bad=float("nan"))
        run("traj.h5", "reference", *COMMON)
        want = {name: read(f"reference/{name}") for name in FILES[1:]}
        for part in (signals,) if other else (signals, full_disk, damage, refused):
            part(want)
            print(f"check_resume: {part.__name__}: ok")
        os.chdir("/")


if __name__ == "__main__":
    main()
