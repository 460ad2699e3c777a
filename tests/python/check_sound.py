# SPDX-License-Identifier: Apache-2.0
"""modaldeform --format wav: against the sum over triangles with motions that are known in closed form, the note of the
demo's fork, what it costs, and what it refuses.
usage: check_sound.py BIN SOURCE [long]: long takes the quadratic elements of the demo"""
import json
import os
import resource
import shutil
import struct
import sys
import tempfile

import h5py
import numpy as np

import tool_run
from tool_run import must

source = os.path.abspath(sys.argv[2])
STEEL = ["--young", 2.06e11, "--poisson", 0.29, "--density", 7850, "--fixed", "stem_end"]


def run(tool, *words, code=0, says=""):
    got = tool_run.run(tool, *words, code=code, says=says)
    if code:
        must(got.stderr.startswith(tool + ": ") and got.stderr.count("\n") == 1, got.stderr)
    return got


def read_wav(path):
    """[samples, channels] of a file whose every byte is accounted for."""
    data = open(path, "rb").read()
    kind, size, wave = struct.unpack("<4sI4s", data[:12])
    must((kind, wave) == (b"RIFF", b"WAVE") and size == len(data) - 8, path, size, len(data))
    at, chunks = 12, {}
    while at < len(data):
        name, length = struct.unpack("<4sI", data[at:at + 8])
        chunks[name] = data[at + 8:at + 8 + length]
        must(len(chunks[name]) == length, path, name)
        at += 8 + length
    must(list(chunks) == [b"fmt ", b"fact", b"LIST", b"data"], list(chunks))
    motion = json.load(open(os.path.join(os.path.dirname(path), "manifest.json")))["trajectory"]["hash"]
    must(chunks[b"LIST"] == struct.pack("<4s4sI44s", b"INFO", b"ICMT", 44, f"trajectory {motion}".encode()), chunks[b"LIST"])
    kind, channels, rate, bytes_a_second, bytes_a_sample, bits, more = struct.unpack("<HHIIHHH", chunks[b"fmt "])
    must((kind, rate, bits, more) == (3, 48000, 32, 0) and bytes_a_sample == 4 * channels and
         bytes_a_second == 48000 * bytes_a_sample, chunks[b"fmt "])
    samples = np.frombuffer(chunks[b"data"], "<f4").reshape(-1, channels)
    must(struct.unpack("<I", chunks[b"fact"])[0] == len(samples), "fact")
    return samples.astype("f8")


def surface(basis):
    with h5py.File(basis) as f:
        s, modes = f["shapes/0000/surface"], f["shapes/0000/modes"]
        x, tiles = s["rest_positions"][:], modes["modal_matrix"][:]
        u = tiles.transpose(0, 3, 1, 2).reshape(-1, tiles.shape[1], 3)[:len(x)].astype("f8")
        return x, s["triangles"][:], u, modes["frequencies"][:], s["user_vertex"][:]


def areas(x, triangles):
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a) / 2


def formula():
    """q_k = a cos(w t), so q'' = -w^2 a cos(w t): the sum over the triangles, at samples far from both ends."""
    run("modalpack", f"{source}/data/tuning_fork.msh", "small.h5", "--modes", 8, *STEEL, "-q")
    x, triangles, u, frequencies, user = surface("small.h5")
    amplitudes = {0: 1e-4, 3: 3e-5, 6: 1e-5}
    run("modalsim", "small.h5", "small_q.h5", "--duration", 0.1, "--fps", 12000, "-q",
        *(w for k, a in amplitudes.items() for w in ("--initial", f"{k}={a}")))
    ears = np.array([[0.05, 0.2, 0.15], [-1.0, 0.5, 2.0]])
    listen = [w for e in ears for w in ("--listen", ",".join(map(str, e)))]
    run("modaldeform", "small_q.h5", "two", "--format", "wav", *listen, "-q")
    got = read_wav("two/sound.wav")
    must(len(got) == 4801, len(got))
    at = np.arange(1500, 3500)
    area, centre, mean_u = areas(x, triangles), x[triangles].mean(axis=1), u[triangles].mean(axis=1)
    for i, ear in enumerate(ears):
        R = np.linalg.norm(centre - ear, axis=1)
        wanted = np.zeros(len(at))
        for k, a in amplitudes.items():
            w = 2 * np.pi * frequencies[k]
            strength = 1.2 / (4 * np.pi) * np.einsum("tc,tc->t", area, mean_u[:, k]) / R * -w * w * a
            wanted += np.cos(w * (at[:, None] / 48000 - R / 343)) @ strength
        error = np.abs(got[at, i] - wanted).max() / np.abs(wanted).max()
        print(f"check_sound: listener {i}: {error:.1e} of {np.abs(wanted).max():.3g} Pa")
        must(error < 1e-3, error)
    # channels are as alone; threads, the order of vertices and a memory limit change no byte
    for i in range(2):
        run("modaldeform", "small_q.h5", f"one{i}", "--format", "wav", *listen[2 * i:2 * i + 2], "-q", "-j", 3 - i, "--order",
            ("user", "stored")[i], "--memory-limit", "200M")
        must(np.array_equal(read_wav(f"one{i}/sound.wav")[:, 0], got[:, i]), "a channel of two")
    # a contact microphone: the acceleration along the vertex's normal, by number and by place
    vertex = int(np.argmax(np.abs(u[:, 3]).max(axis=1)))
    place = ",".join(map(repr, map(float, x[vertex])))
    run("modaldeform", "small_q.h5", "contact", "--format", "csv,wav", "--probe", user[vertex], "--probe", place, "-q", "--gain", 0.5)
    contact = read_wav("contact/sound.wav")
    face = areas(x, triangles)[np.any(triangles == vertex, axis=1)].sum(axis=0)
    normal = face / np.linalg.norm(face)
    wanted = sum(-(2 * np.pi * frequencies[k]) ** 2 * a * (u[vertex, k] @ normal) *
                 np.cos(2 * np.pi * frequencies[k] * at / 48000) for k, a in amplitudes.items())
    must(np.array_equal(contact[:, 0], contact[:, 1]), "the same point")
    error = np.abs(contact[at, 0] / 0.5 - wanted).max() / np.abs(wanted).max()
    must(error < 1e-3, "contact microphone", error)
    about = json.load(open("contact/manifest.json"))["sound"]
    must(about["unit"] == "m/s^2" and about["gain"] == 0.5 and about["channels"] == 2 * [{"point": user[vertex]}], about)
    must(abs(about["peak"] - np.abs(contact).max() / 0.5) < 1e-6 * about["peak"], about)
    run("modalinfo", "contact", "--check")
    # --listen beside the probes of a table
    run("modaldeform", "small_q.h5", "both", "--format", "csv,wav", "--probe", 3, *listen, "-q", "--frames", "::2")
    must(np.abs(read_wav("both/sound.wav") - got)[1500:3500].max() < 1e-3 * np.abs(got).max(), "every second frame")
    must(open("both/probes.csv").read().count("\n") == 602, "probes.csv")


def fork(order):
    """Both prongs struck as in the demo: the strongest partial is the prongs' mode."""
    run("modalmesh", f"{source}/data/tuning_fork.msh", "fork.msh", "--order", order, "-q")
    run("modalpack", "fork.msh", "fork.h5", "--modes", 20, *STEEL, "-q")
    run("modalsim", "fork.h5", "fork_q.h5", "--duration", 2, "--fps", 22050, "--damping", "1,2e-7", "-q", "--impulse",
        "0.025,0.12,0.006:-0.02,0,0", "--impulse", "-0.025,0.12,0.006:0.02,0,0")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run("modaldeform", "fork_q.h5", "fork", "--format", "wav,glb", "--listen", "0.1,0.15,0.1", "--gain", "auto", "-q", "-j", 2)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    frequencies = surface("fork.h5")[3]
    got = read_wav("fork/sound.wav")[:, 0]
    must(len(got) == 96001, len(got))
    spectrum = np.abs(np.fft.rfft(got * np.hanning(len(got)), 1 << 20))
    strongest = np.argmax(spectrum) * 48000 / (1 << 20)
    note = 436.08 if order == 2 else 443.58
    mode = int(np.argmin(np.abs(frequencies - note)))
    print(f"check_sound: fork: strongest partial {strongest:.2f} Hz, mode {mode} {frequencies[mode]:.2f} Hz, "
          f"{seconds:.2f} s of processor for 2 s of sound and the GLB")
    must(abs(strongest - frequencies[mode]) < 1 and abs(frequencies[mode] - note) < 0.01, strongest, frequencies[mode])
    about = json.load(open("fork/manifest.json"))["sound"]
    must(abs(np.abs(got).max() - 10 ** (-3 / 20)) < 1e-6 and abs(about["gain"] * about["peak"] - 10 ** (-3 / 20)) < 1e-9, about)
    must(about["channels"] == [{"listener": [0.1, 0.15, 0.1]}] and about["unit"] == "Pa" and about["rate"] == 48000 and
         about["samples"] == 96001, about)
    must(seconds < 4, "2 s of sound took", seconds)  # a second a second, on two cores


def sides():
    """Surfaces that a solid carries: each triangle counts with its side, and once."""
    x, triangles = surface("small.h5")[:2]
    turned, twice = triangles.copy(), np.r_[triangles, triangles[:40]]
    turned[:400] = turned[:400, ::-1]
    for name, faces, says in (("turned", turned, "not oriented: edges whose triangles face different ways, "),
                              ("twice", twice, f"duplicate triangles, 40; the first are 0 and {len(triangles)}"),
                              ("inwards", triangles[:, ::-1], "triangles face inwards, they enclose -"),
                              ("open", triangles[40:], None)):
        with open("fine.obj", "w") as f:
            f.write("".join(f"v {a} {b} {c}\n" for a, b, c in x) + "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces))
        run("modalpack", f"{source}/data/tuning_fork.msh", "fine.h5", "--modes", 1, *STEEL, "-q", "-f", "--surface", "fine.obj")
        run("modalsim", "fine.h5", "fine_q.h5", "--duration", 0.01, "--fps", 12000, "-q", "-f", "--initial", "0=1e-4")
        if says:
            run("modaldeform", "fine_q.h5", "no", "--format", "wav", "--listen", "0.1,0.1,0.1", code=3,
                says=f"modaldeform: fine_q.h5: shape 0: its surface has no sound: {says}")
            must(not os.path.exists("no"), "left a folder")
        else:
            got = run("modaldeform", "fine_q.h5", "o", "--format", "wav", "--listen", "0.1,0.1,0.1")
            must("its surface is not closed, the sound of its back is left out" in got.stderr, got.stderr)


def manners():
    wav = ["--format", "wav"]
    ear = ["--listen", "0.1,0.1,0.1"]

    def refused(*words, code, says, frames="small_q.h5"):
        run("modaldeform", frames, "no", *words, code=code, says=says)
        must(not os.path.exists("no"), words, "left a folder")

    refused(*wav, code=2, says="wav needs a place to hear it at")
    refused(*ear, code=2, says="--listen: only with --format wav")
    refused(*wav, *ear, code=2, says="wav needs a trajectory", frames="small.h5")
    refused("--gain", "2", code=2, says="--gain: only with --format wav")
    refused(*wav, *ear, "--gain", "loud", code=2, says="--gain: not a finite number, loud")
    refused(*wav, "--listen", "1,2", code=2, says="--listen")
    refused(*wav, *ear, "--probe", 3, code=2, says="--probe: only with --format csv")
    refused(*wav, *ear, "--output-mesh", "volume", code=2, says="wav is not for --output-mesh volume")
    refused(*wav, "--listen", "0,-0.05,0.006", code=2, says="--listen: listener 0: inside of object 0")
    refused(*wav, *ear, "--frames", "::10", code=3, says="small_q.h5: object 0, mode 6: moves at")
    refused(*wav, *ear, "--frames", "::10", code=3, says=" frames a second, 1200")
    refused(*wav, *ear, "--frames", "7", code=3, says="sound needs three frames")
    refused(*wav, *ear, "--memory-limit", "4M", code=4, says="--memory-limit")
    with h5py.File("small_q.h5") as f:
        times = f["times"][:]
    times[17:] += 1e-5
    shutil.copy("small_q.h5", "uneven.h5")
    with h5py.File("uneven.h5", "r+") as f:
        f["times"][...] = times
    refused(*wav, *ear, code=3, says="uneven.h5: times: sound needs frames at even distances", frames="uneven.h5")
    got = run("modaldeform", "small_q.h5", "near", *wav, "--listen", "0.025,0.153,0.006", "--gain", 1e4)
    must("nearer to a triangle" in got.stderr and "players cut them off at 1" in got.stderr, got.stderr)
    # a hundredth of the size: a hundred times the frequencies
    run("modalpack", f"{source}/data/tuning_fork.msh", "tiny.h5", "--modes", 4, "--unit", "cm", *STEEL, "-q")
    run("modalsim", "tiny.h5", "tiny_q.h5", "--duration", 0.01, "--fps", 300000, "--initial", "0=1e-6", "--initial", "3=1e-6", "-q")
    got = run("modaldeform", "tiny_q.h5", "tiny", *wav, "--listen", "0,0,0.01")
    must("48000 samples a second hold up to 20000 Hz, what is above is filtered out" in got.stderr, got.stderr)
    frequencies = surface("tiny.h5")[3]
    must(frequencies[0] < 24000 or frequencies[3] > 24000, frequencies)
    run("modalsim", "small.h5", "still.h5", "--duration", 0.1, "--fps", 12000, "--initial", "0=0", "-q")
    got = run("modaldeform", "still.h5", "still", *wav, *ear, "--gain", "auto")
    must("nothing moves, which is silent" in got.stderr and not read_wav("still/sound.wav").any(), got.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    formula()
    fork(2 if sys.argv[3:] == ["long"] else 1)
    sides()
    manners()
    os.chdir("/")
