#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modaldeform --shard and --join: sequences in shares have the bytes of one run, manifest included, whatever the number of shares and their
order, after kills, a full disk, damage, and where two processes make the same share; whatever does not belong together is refused.
usage: check_shares.py BIN_FOLDER PART [PRELOAD], PART one of bytes, bytes_long, refuse, kills, kills_long, launch, links"""
import filecmp
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from check_large import write_basis, write_trajectory
from tool_run import binaries, must, run

FRAMES = 40
LAUNCHERS = ("OMPI_", "PMI_", "SLURM_", "PBS_", "MPI_LOCALRANKID")
for variable in [v for v in os.environ if v.startswith(LAUNCHERS)]:
    del os.environ[variable]


def files(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names)


def same(folder, want, what):
    must(files(folder) == files(want), what, files(folder)[:20], "not", files(want)[:20])
    for name in files(want):
        must(filecmp.cmp(f"{folder}/{name}", f"{want}/{name}", shallow=False), what, name, "has other bytes")


def deform(words, *more, **how):
    return run("modaldeform", *words, "o", "--backend", "cpu", "-j1", *more, **how)


def one_run(words):
    """Of the same command in a folder beside this one: the manifest has the command."""
    shutil.rmtree("o", ignore_errors=True)
    deform(words)
    shutil.rmtree("want", ignore_errors=True)
    os.rename("o", "want")


def in_shares(words, n, order):
    for place, i in enumerate(order):
        must(not os.path.exists("o/manifest.json"), "finished early")
        # the number of threads stands in the manifest's command, the limit does not matter to its bytes
        got = deform(words, "--shard", f"{i}/{n}")
        must(("not complete yet" in got.stderr) == (place + 1 < n), got.stderr)


def compare(words, counts):
    one_run(words)
    for n in counts:
        order = list(range(n))
        random.shuffle(order)
        in_shares(words, n, order)
        same("o", "want", f"{words} in {n} shares, order {order[:8]}:")
        must("complete already" in deform(words, "--shard", f"0/{n}").stderr, "made again")
        shutil.rmtree("o")


def solid():
    """A bar with its solid, for volumes; a trajectory of it."""
    import soft_box
    soft_box.box("bar.msh", (12, 4, 4), 0.05)
    run("modalpack", "bar.msh", "bar.h5", "--young", "1e6", "--poisson", "0.3", "--density", "1000", "--fixed", "plane:0,0,0.001:0,0,-1",
        "--modes", "4", "--volume-modes", "float32")
    run("modalsim", "bar.h5", "bar_t.h5", "--duration", "1", "--fps", str(FRAMES), "--initial", "1=0.01", "--initial", "2=0.02")


def check_bytes(several, few):
    compare(["t.h5", "--fields", "displacement,speed"], several)
    compare(["t.h5", "--normals", "none", "--frames", "1:-1:3"], few)
    compare(["t.h5", "--format", "pc2,mdd"], several)
    compare(["small_t.h5", "--format", "ply,vtp,obj,csv", "--probe", "3", "--probe", "17", "--fields", "speed"], few)
    compare(["small_t.h5", "--format", "csv", "--probe", "3"], few)
    compare(["t.h5", "--precision", "1e-4", "--fields", "displacement,speed"], few)
    compare(["small_t.h5", "--format", "vtkhdf,ply,csv,pc2", "--precision", "1e-4", "--probe", "3"], few)
    compare(["b.h5", "--modes", "0,2"], few)
    solid()
    compare(["bar_t.h5", "--output-mesh", "volume", "--format", "vtkhdf,vtu", "--fields", "displacement,stress"], few)
    compare(["bar_t.h5", "--format", "obj,mdd,vtkhdf", "--crease", "30"], few)
    got = run("modaldeform", "t.h5", "o", "--format", "null", "--shard", "1/3")
    must(f"{FRAMES * 2 // 3 - FRAMES // 3} frames made" in got.stderr and not os.path.exists("o"), got.stderr)


def check_refuse():
    words = ["t.h5"]
    for text in ("3/3", "-1/3", "1", "a/3", "1/0", "1/2/3", "1/ 2", "1/1000001", "01x/3", ""):
        deform(words, "--shard", text, code=2, says="--shard")
    deform(words, "--shard", "0/2", "--force", code=2, says="--force")
    deform(words, "--shard", "0/2", "--join", code=2, says="--join")
    deform(words, "--verify", code=2, says="--verify")
    deform(["-"], "--shard", "0/2", code=2, says="a pipe brings once")
    for name in ("glb", "wav"):
        deform(words, "--shard", "0/2", "--format", name, *(["--listen", "0,0,1"] if name == "wav" else []), code=2, says=name)
    deform(words, "--join", code=3, says="no shards have been begun")
    must(not os.path.exists("o"), "a folder is left")
    deform(words, "--shard", "1/3")
    must(sorted(os.listdir("o")) == ["sequence.vtkhdf.part", "shards.part"], os.listdir("o"))
    for other, says in ((["t.h5", "--fields", "speed"], "arguments"), (["t.h5", "--format", "vtkhdf,pc2"], "formats"), (["other_t.h5"], "trajectory")):
        deform(other, "--shard", "2/3", code=3, says=says)
    deform(words, "--shard", "2/4", code=3, says="number of shards")
    run("modaldeform", "t.h5", "o", "--backend", "ref", "--shard", "2/3", code=3, says="back end")
    deform(words, "--join", code=3, says="2 of 3 shards are not complete, 0, 2")
    deform(words, code=2, says="--force discards it")
    got = run("modalinfo", "o")
    must("missing: 0, 2" in got.stdout and "1 of 3" in got.stdout, got.stdout)
    got = json.loads(run("modalinfo", "--json", "o").stdout)
    must(got["type"] == "shards" and got["shards"] == 3 and got["complete"] == [1] and got["missing"] == [0, 2], got)
    run("modalinfo", "--check", "o", code=1)
    deform(words, "--force")  # one run in their place; its manifest says --force
    must(files("o") == files("want") and filecmp.cmp("o/sequence.vtkhdf", "want/sequence.vtkhdf", shallow=False), "--force:", files("o"))
    deform(words, "--shard", "1/3", says="complete already")
    deform(["t.h5", "--fields", "speed"], "--shard", "1/3", code=2, says="another run")
    shutil.rmtree("o")
    deform(words, "--shard", "0/2")
    deform(words, "--resume", code=2, says="shards of an unfinished")
    shutil.rmtree("o")
    damage()


def damage():
    """--join --verify finds what is no longer as it was written; without it nothing reads that."""
    words = ["t.h5"]
    for n, share in ((2, 0), (2, 1), (3, 1)):
        for i in range(n):
            if i != share:
                deform(words, "--shard", f"{i}/{n}")
        size = os.path.getsize("o/sequence.vtkhdf.part")
        with open("o/sequence.vtkhdf.part", "r+b") as f:  # a byte of the other share's
            place = int(size * (0.12 if share > 0 and n == 2 else 0.42))  # of positions, which are the first half
            f.seek(place)
            byte = f.read(1)
            f.seek(place)
            f.write(bytes([byte[0] ^ 1]))
        shutil.copytree("o", "broken")
        # the last share finishes without reading: hold that off by a journal that is not complete, then join by hand
        deform(words, "--shard", f"{share}/{n}")
        must(os.path.exists("o/manifest.json"), "not finished")
        must(not filecmp.cmp("o/sequence.vtkhdf", "want/sequence.vtkhdf", shallow=False), "the damage is gone")
        shutil.rmtree("o")
        os.rename("broken", "o")
        hold = open("o/shards.part/finish", "w")
        import fcntl
        import struct
        fcntl.fcntl(hold, 37, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))  # F_OFD_SETLK: another process finishes
        deform(words, "--shard", f"{share}/{n}")
        must(not os.path.exists("o/manifest.json"), "two processes finish")
        hold.close()
        got = deform(words, "--join", "--verify", code=3, says="--verify")
        must("run it again" in got.stderr, got.stderr)
        wrong = re.findall(r"shard (\d+): its bytes", got.stderr)
        must(len(wrong) == 1 and wrong[0] != str(share), got.stderr)
        deform(words, "--join", code=3, says="1 of")
        deform(words, "--shard", f"{wrong[0]}/{n}")
        same("o", "want", "after damage:")
        shutil.rmtree("o")


def limited(size):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


def start(words, i, n, **how):
    return subprocess.Popen([f"{binaries}/modaldeform", *words, "o", "--backend", "cpu", "-j1", "--memory-limit", "12M", "--shard", f"{i}/{n}"],
                            stderr=subprocess.PIPE, **how)


def check_kills(n_kills, seconds):
    """Kills at random moments over random shares, several of them at work; then what is missing, and the same bytes."""
    sets = [["t.h5", "--fields", "displacement,speed"], ["t.h5", "--format", "pc2,mdd"], ["t.h5", "--format", "vtp,csv", "--probe", "5"],
            ["t.h5", "--precision", "1e-4"]]
    killed = finished = rounds = 0
    ends = time.monotonic() + seconds
    while killed < n_kills or rounds < len(sets):
        must(time.monotonic() < ends, "too slow:", killed, "kills")
        words = sets[rounds % len(sets)]
        rounds += 1
        limit = ["--memory-limit", "12M"]
        shutil.rmtree("o", ignore_errors=True)
        run("modaldeform", *words, "o", "--backend", "cpu", "-j1", *limit)
        shutil.rmtree("want2", ignore_errors=True)
        os.rename("o", "want2")
        n = random.choice((2, 3, 5))
        began = time.monotonic()
        start(words, 0, n).communicate()
        usual = time.monotonic() - began
        shutil.rmtree("o")
        # the same share may be there twice
        for _ in range(6):
            at_work = [start(words, random.randrange(n), n) for _ in range(random.choice((1, 2, 3)))]
            for process in at_work:
                time.sleep(random.uniform(0, usual))
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    killed += 1
            for process in at_work:
                error = process.communicate()[1].decode()
                must(process.returncode in (0, -signal.SIGKILL), process.returncode, error)
            if os.path.exists("o/manifest.json"):
                start(words, 0, n).communicate()  # sweeps up where a kill came after the manifest
                same_sequence("o", "want2", words)
                finished += 1
                shutil.rmtree("o")
        for i in random.sample(range(n), n):
            error = start(words, i, n)
            text = error.communicate()[1].decode()
            must(error.returncode == 0, text)
        same_sequence("o", "want2", words)
        shutil.rmtree("o")
    print(f"{killed} kills in {rounds} sequences, all finished with the bytes of one run ({finished} while they were killed)")
    full_disk()


def same_sequence(folder, want, words):
    must(not os.path.exists(f"{folder}/shards.part"), words, "shares are left:", os.listdir(f"{folder}/shards.part") if os.path.exists(f"{folder}/shards.part") else "")
    same(folder, want, words)


def full_disk():
    words = ["t.h5"]
    size = os.path.getsize("want/sequence.vtkhdf")
    for share in (0, 2):
        shutil.rmtree("o", ignore_errors=True)
        for i in range(3):
            if i != share:
                deform(words, "--shard", f"{i}/3")
        # a share's bytes lie in the last third, too: both arrays' ends
        full = subprocess.run([f"{binaries}/modaldeform", *words, "o", "--backend", "cpu", "-j1", "--shard", f"{share}/3"],
                              preexec_fn=limited(size // 6 if share == 0 else size // 2), capture_output=True, text=True)
        must(full.returncode == 4 and not os.path.exists("o/manifest.json"), full)
        deform(words, "--shard", f"{share}/3")
        same("o", "want", "after a full disk:")
        shutil.rmtree("o")


def check_launch():
    words = ["t.h5"]
    ompi = lambda i, n: {"OMPI_COMM_WORLD_RANK": i, "OMPI_COMM_WORLD_SIZE": n}
    slurm = lambda i, n: {"SLURM_PROCID": i, "SLURM_NTASKS": n}
    array = lambda i, least, count, step: {"SLURM_ARRAY_TASK_ID": i, "SLURM_ARRAY_TASK_MIN": least, "SLURM_ARRAY_TASK_COUNT": count,
                                           "SLURM_ARRAY_TASK_STEP": step}
    def launched(variables, text="auto", code=0, says=""):
        environment = dict(os.environ, **{k: str(v) for k, v in variables.items()})
        got = subprocess.run([f"{binaries}/modaldeform", *words, "o", "--backend", "cpu", "-j1", "--shard", text, "--format", "null"], env=environment,
                             capture_output=True, text=True)
        must(got.returncode == code and says in got.stderr, variables, text, got)
    right = [(ompi(2, 4), "2 of 4"), ({"PMI_RANK": 1, "PMI_SIZE": 3}, "1 of 3"), (slurm(0, 2), "0 of 2"), (array(7, 1, 4, 3), "2 of 4"),
             ({**ompi(1, 4), **slurm(1, 4)}, "1 of 4"), ({**array(3, 0, 8, 1), **slurm(0, 1)}, "3 of 8"),
             ({**slurm(0, 1), **ompi(3, 4)}, "3 of 4"), (slurm(0, 1), "0 of 1")]
    for variables, says in right:
        launched(variables, says=f"shard {says}")
    launched({"PBS_ARRAY_INDEX": 3}, "auto/8", says="shard 3 of 8")
    launched({**array(5, 3, 2, 2), **slurm(0, 1)}, "auto/8", says="shard 5 of 8")
    wrong = [({}, "OMPI_COMM_WORLD_RANK"), ({**ompi(1, 4), **slurm(0, 4)}, "SLURM_PROCID, SLURM_NTASKS say 0/4"),
             ({**ompi(1, 4), **array(1, 0, 3, 1)}, "SLURM_ARRAY_TASK_ID"), ({"OMPI_COMM_WORLD_RANK": 1}, "OMPI_COMM_WORLD_SIZE is not"),
             (ompi(4, 4), "say 4 of 4"), (ompi("x", 4), "not a number"), ({"PBS_ARRAY_INDEX": 3}, "auto/N"), (array(9, 1, 3, 3), "no even series"),
             (array(7, 1, 2, 1), "no even series"), ({"SLURM_ARRAY_TASK_ID": 2}, "_COUNT is not")]
    for variables, says in wrong:
        launched(variables, code=2, says=says)
    launched(ompi(1, 4), "auto/8", code=2, says="not 8")
    launched({"PBS_ARRAY_INDEX": 8}, "auto/8", code=2, says="8 of 8")
    # ranks that know nothing of each other, and GPUs by rank
    got = subprocess.run([f"{binaries}/modaldeform", *words, "o"], env=dict(os.environ, PMI_SIZE="3", PMI_RANK="0"), capture_output=True, text=True)
    must(got.returncode == 2 and not os.path.exists("o"), got)
    must("PMI_SIZE: each of the 3 processes would do the whole run and write o; start one, divide the run with --shard auto" in got.stderr, got)
    got = subprocess.run([f"{binaries}/modaldeform", *words, "o", "--format", "null"], env=dict(os.environ, PMI_SIZE="3"), capture_output=True, text=True)
    must(got.returncode == 0, got)
    run("modaldeform", *words, "o", "--backend", "cuda:auto", code=2, says="SLURM_LOCALID")
    environment = dict(os.environ, OMPI_COMM_WORLD_LOCAL_RANK="5")
    got = subprocess.run([f"{binaries}/modaldeform", *words, "o", "--backend", "cuda:auto"], env=environment, capture_output=True, text=True)
    must(got.returncode == 0 or (got.returncode == 4 and "cuda" in got.stderr), got)
    shutil.rmtree("o", ignore_errors=True)


def check_links(preload):
    """Without hard links a rename that replaces nothing does; without that, too, a share says so and leaves nothing. Another share may make OUT
    in the same moment."""
    words = ["t.h5"]
    def without(what):
        return subprocess.run([f"{binaries}/modaldeform", *words, "o", "--backend", "cpu", "-j1", "--shard", "0/1"], capture_output=True, text=True,
                              env=dict(os.environ, LD_PRELOAD=preload, WITHOUT=what))
    got = without("link")
    must(got.returncode == 0, got)
    same("o", "want", "without links:")
    shutil.rmtree("o")
    got = without("first")
    must(got.returncode == 0, got)
    same("o", "want", "with folders that another makes:")
    shutil.rmtree("o")
    got = without("link,rename")
    must(got.returncode == 4 and "no hard links" in got.stderr, got)
    must(not os.path.exists("o") or files("o") == [], files("o"))


def check_mpi():
    """Needs mpirun; skipped, visibly, elsewhere."""
    if not shutil.which("mpirun"):
        print("skipped: no mpirun")
        sys.exit(77)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    launch = ["mpirun", "--oversubscribe", "-n", "4"]
    for words in (["t.h5", "--fields", "speed"], ["small_t.h5", "--format", "ply,pc2"], ["t.h5", "--precision", "1e-4"]):
        one_run(words)
        got = subprocess.run([*launch, f"{binaries}/modaldeform", *words, "o", "--backend", "cpu", "-j1", "--shard", "auto"], env=environment,
                             capture_output=True, text=True, timeout=120)
        must(got.returncode == 0, got)
        same("o", "want", f"{words} by mpirun:")
        shutil.rmtree("o")
    # mpirun's exit code proves nothing; a rank that is killed leaves its share missing
    words = ["t.h5", "--fields", "speed"]
    one_run(words)
    victim = f'if [ $OMPI_COMM_WORLD_RANK = 2 ]; then kill -9 $$; fi; exec {binaries}/modaldeform "$@"'
    subprocess.run([*launch, "--continuous", "--mca", "orte_abort_on_non_zero_status", "0", "sh", "-c", victim, "sh", *words, "o", "--backend", "cpu",
                    "-j1", "--shard", "auto"], env=environment, capture_output=True, timeout=120)
    must(not os.path.exists("o/manifest.json"), "finished early")
    for i in range(4):
        deform(words, "--shard", f"{i}/4")
    same("o", "want", "after a rank was killed:")


seed = int(os.environ.get("SEED", "0")) or random.randrange(1, 1 << 30)
random.seed(seed)
part = sys.argv[2]
with tempfile.TemporaryDirectory() as home:
    if sys.argv[3:]:
        shutil.copy(sys.argv[3], f"{home}/preloaded.so")  # the loader takes spaces in LD_PRELOAD for ends of names
    os.chdir(home)
    write_basis("b.h5", 100, 80, 4)
    write_trajectory("t.h5", "b.h5", 4, FRAMES)
    write_trajectory("other_t.h5", "b.h5", 4, FRAMES, seed=9)
    write_basis("small.h5", 12, 9, 4, content_hash="8" * 32)
    write_trajectory("small_t.h5", "small.h5", 4, FRAMES, content_hash="8" * 32)
    try:
        if part not in ("bytes", "bytes_long", "mpi"):
            one_run(["t.h5"])
        {"bytes": lambda: check_bytes([2, 7], [3]), "bytes_long": lambda: check_bytes([1, 2, 3, 4, 7, FRAMES + 9], [1, 3, 7, FRAMES + 2]), "refuse": check_refuse, "kills": lambda: check_kills(12, 200), "kills_long": lambda: check_kills(200, 3000),
         "launch": check_launch, "links": lambda: check_links("./preloaded.so"), "mpi": check_mpi}[part]()
    except SystemExit as end:
        if end.code not in (None, 0, 77):
            print(f"SEED={seed} repeats it")
        raise
