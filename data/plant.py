#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a plant, or a forest, that is a scene: meshes of a trunk, branches and leaves, their bases, one
basis with all objects and who hangs on whom, and a scene that lets the wind blow.

usage: plant.py KIND OUT_FOLDER [--seed N] [--tools FOLDER] [--plants N] [--kinds A,B,..] [--duration S] [--linear] [--rigid N] [--modes N] [--look [--ground]]

KIND is `bush` (for a first look) or one of those of table 4 of B. Wang and J. Barbic, CUDA Deformers for
Model Reduction, 2020, with the same numbers of objects, vertices and modes; `forest` has its 6,440 objects
in 20 plants. The others are of table 4.5 of B. Wang's thesis, CUDA Deformers for Model Reduction, 2015: as many
objects that deform, with as many vertices and modes, and as many that do not: rigid leaflets, unless --rigid says
another number. `forest --kinds fir,peach,hemlock --plants 20` takes plants of these kinds in turn. --look: stalks get
texture coordinates, and images (bark with a normal map, leaves that are cut out by alpha) are made and named in look.json; with --ground it has a ground and a camera.
--modes: so many of a plant instead, and the trunk 1.8 times the mean: `bush` with 1,666 is rated ok by modalsim. With the numbers of the table motions are
suspect, since 7 modes an object leave out much of wind, and of the forces of what hangs on it.
The same seed gives the same bytes. Few shapes, many objects: every branch of a level is the
same mesh. All sizes in m, kg, s. No gravity acts: the plant as it is made is a plant that has grown under
its weight. Needs modalpack and modalplace; Python's own library alone."""
import argparse
import json
import math
import os
import random
import struct
import subprocess
import zlib

# objects, vertices, modes of a plant; plants
KINDS = {"bush": (60, 1500, 445, 1), "conifer": (43, 7543, 360, 1), "peach": (237, 273003, 2950, 1),
         "broad-leaved": (419, 288542, 3613, 1), "hemlock": (2866, 190466, 16793, 1),
         "treesketch": (2875, 44404, 21178, 1), "forest": (322, 4960, 2254, 20)}
# objects that deform, their vertices, modes, plants, rigid objects
THESIS = {"pansy": (22, 35627, 324, 1, 0), "weed-willow": (98, 120694, 958, 1, 32525), "fir": (585, 60508, 4912, 1, 8492),
          "red-cedar": (800, 68370, 5987, 1, 3608), "incense-cedar": (1054, 135135, 6853, 1, 10884),
          "quercus": (871, 333620, 9520, 1, 120000), "blue-spruce": (1582, 174880, 10680, 1, 217894),
          "three-firs": (585, 60508, 4912, 3, 8492),
          # these four are in both sources, with other numbers
          "thesis-conifer": (43, 13884, 360, 1, 601), "thesis-peach": (237, 76843, 2950, 1, 22422),
          "thesis-broad-leaved": (402, 147674, 3613, 1, 6601), "thesis-hemlock": (2537, 350471, 16793, 1, 25241)}
KINDS.update(THESIS)
WOOD = ("--young", "4e7", "--poisson", "0.3", "--density", "700")
GREEN = ("--young", "4e6", "--poisson", "0.3", "--density", "500")


def stalk_choices(n_vertices):
    """[(vertices of a ring, 1 for a point at the end)] that give this number."""
    return [(m, tip) for m in range(3, 13) for tip in (0, 1)
            if (n_vertices - tip) % m == 0 and (n_vertices - tip) // m >= 3]


def stalk_nodes(n_vertices, length, radii, flat):
    """The nodes of write_stalk, the rings, the vertices of a ring, and 1 for a point at the end."""
    choices = stalk_choices(n_vertices)
    # rings about as far apart as their vertices
    edge = lambda m: 2 * radii[0] * math.sin(math.pi / m)
    m, tip = min(choices, key=lambda c: abs(math.log(length / ((n_vertices - c[1]) // c[0] - 1) / edge(c[0]))))
    rings = (n_vertices - tip) // m
    nodes = []
    for i in range(rings):
        part = i / (rings - 1 + tip)
        radius = radii[0] + (radii[1] - radii[0]) * part
        for k in range(m):
            angle = 2 * math.pi * (k + 0.5) / m
            nodes.append((length * part, radius * math.cos(angle), flat * radius * math.sin(angle)))
    if tip:
        nodes.append((length, 0.0, 0.0))
    return nodes, rings, m, tip


def write_stalk(path, n_vertices, length, radii, flat=1.0):
    """Rings of m vertices along x, with a point at the end where the number asks for it, filled with
    tetrahedra; the group `root` is the first ring. radii: at the root and at the end. flat: height over
    width. Every vertex is on the surface."""
    nodes, rings, m, tip = stalk_nodes(n_vertices, length, radii, flat)
    tets = []
    for i in range(rings - 1):
        for k in range(1, m - 1):  # a prism of every triangle of the fan, in three tetrahedra
            a = [i * m, i * m + k, i * m + k + 1]
            b = [v + m for v in a]
            tets += [(a[0], a[1], a[2], b[2]), (a[0], a[1], b[2], b[1]), (a[0], b[1], b[2], b[0])]
    if tip:
        last = (rings - 1) * m
        tets += [(last, last + k, last + k + 1, len(nodes) - 1) for k in range(1, m - 1)]
    with open(path, "w") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n2 1 \"root\"\n3 2 \"stalk\"\n"
                   f"$EndPhysicalNames\n$Nodes\n{len(nodes)}\n")
        for i, x in enumerate(nodes, 1):
            file.write(f"{i} {x[0]:.9g} {x[1]:.9g} {x[2]:.9g}\n")
        file.write(f"$EndNodes\n$Elements\n{len(tets) + m - 2}\n")
        for k in range(1, m - 1):
            file.write(f"{k} 2 2 1 1 1 {k + 1} {k + 2}\n")
        for i, t in enumerate(tets):
            file.write(f"{m - 1 + i} 4 2 2 1 {t[0] + 1} {t[1] + 1} {t[2] + 1} {t[3] + 1}\n")
        file.write("$EndElements\n")


def write_stalk_surface(path, n_vertices, length, radii, flat, repeats):
    """The surface of write_stalk's solid as an .obj with texture coordinates: around and along, with a seam."""
    nodes, rings, m, tip = stalk_nodes(n_vertices, length, radii, flat)
    lines = [f"v {x[0]:.9g} {x[1]:.9g} {x[2]:.9g}" for x in nodes]
    lines += [f"vt {k / m:.9g} {repeats * i / (rings - 1 + tip):.9g}" for i in range(rings) for k in range(m + 1)] + [f"vt 0.5 {repeats}"]
    at = lambda i, k: f"{i * m + k % m + 1}/{i * (m + 1) + k + 1}"
    lines += ["f " + " ".join(at(0, k) for k in range(m - 1, -1, -1))]
    lines += [f"f {at(i, k)} {at(i, k + 1)} {at(i + 1, k + 1)} {at(i + 1, k)}" for i in range(rings - 1) for k in range(m)]
    if tip:
        lines += [f"f {at(rings - 1, k)} {at(rings - 1, k + 1)} {len(nodes)}/{rings * (m + 1) + 1}" for k in range(m)]
    else:
        lines += ["f " + " ".join(at(rings - 1, k) for k in range(m))]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def write_leaflet(path, length, width):
    """A closed surface of 6 vertices along x, flat, with the whole of an image on both of its sides."""
    thick = 0.04 * width
    nodes = [(0, 0, 0), (0.55 * length, 0.5 * width, 0), (length, 0, 0), (0.45 * length, -0.5 * width, 0), (0.5 * length, 0, thick), (0.5 * length, 0, -thick)]
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in nodes]
    lines += [f"vt {x / length:.9g} {0.5 + y / width:.9g}" for x, y, z in nodes]
    for k in range(4):
        a, b = 1 + k, 1 + (k + 1) % 4
        lines += [f"f {b}/{b} {a}/{a} 5/5", f"f {a}/{a} {b}/{b} 6/6"]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


# ---- images ----

def write_png(path, width, height, pixel):
    """pixel(x, y) gives 3 or 4 bytes; y counts from the top."""
    rows = [bytes(c for x in range(width) for c in pixel(x, y)) for y in range(height)]
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", width, height, 8, 6 if len(rows[0]) == 4 * width else 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 9)) +
                   chunk(b"IEND", b""))


def write_images(inside, generator):
    """bark.png, bark_normal.png and leaf.png. The bark repeats in both directions."""
    size = 128
    waves = [(generator.randint(2, 9), generator.randint(0, 2), generator.uniform(0, 6.28), generator.uniform(0.3, 1)) for _ in range(10)]
    height = [[sum(a * math.cos(2 * math.pi * (u * x + v * y) / size + p) for u, v, p, a in waves) for x in range(size)] for y in range(size)]
    shade = lambda h: max(0.0, min(1.0, 0.5 + 0.12 * h))
    bark = lambda x, y: [round(40 + c * shade(height[y][x])) for c in (95, 75, 55)]

    def normal(x, y):
        slope = [0.6 * (height[y][(x + 1) % size] - height[y][x - 1]), 0.6 * (height[y - 1][x] - height[(y + 1) % size][x])]
        n = (-slope[0], -slope[1], 4.0)
        length = math.sqrt(sum(c * c for c in n))
        return [round(127.5 + 127.5 * c / length) for c in n]

    def leaf(x, y):
        along, across = (x + 0.5) / 64, abs(2 * (y + 0.5) / 64 - 1)
        inside_it = across < math.sin(math.pi * along ** 0.8) ** 0.7 * (0.92 + 0.08 * math.cos(40 * along))
        vein = across < 0.05 or abs((along * 8 + across * 2) % 1 - 0.5) < 0.06
        return ([90, 140, 50] if vein else [60, 115, 35]) + [255 if inside_it else 0]

    write_png(inside("bark.png"), size, size, bark)
    write_png(inside("bark_normal.png"), size, size, normal)
    write_png(inside("leaf.png"), 64, 64, leaf)


def write_look(inside, shapes, ground):
    """By the kinds of shapes: wood wears bark, leaves are cut out."""
    materials = {"bark": {"image": "bark.png", "normal_image": "bark_normal.png"},
                 "leaf": {"image": "leaf.png", "alpha": "cutout", "cutoff": 0.5, "two_sided": True},
                 "stem": {"diffuse": [0.12, 0.3, 0.05]}}
    wears = {"trunk": "bark", "bough": "bark", "twig": "bark", "leaf": "stem", "leaflet": "leaf"}
    look = {"look": 1, "materials": materials,
            "shapes": [{"shape": i, "material": wears[name.split("_")[-1]]} for i, name in enumerate(shapes)],
            "ambient": [0.35, 0.38, 0.42], "background": [0.75, 0.85, 0.95],
            "lights": [{"direction": [-1, 0.6, -2], "colour": [1, 0.97, 0.9]}]}
    if ground:
        materials["soil"] = {"diffuse": [0.45, 0.4, 0.33]}
        look.update(ground={"material": "soil", "height": 0, "size": 80}, cameras=[{"direction": [-0.55, 0.8, -0.3]}])
    with open(inside("look.json"), "w") as file:
        json.dump(look, file, indent=2)
        file.write("\n")


# ---- rotations ----

def matrix_of(x_axis, roll):
    """The rotation whose x axis is given."""
    size = math.sqrt(sum(c * c for c in x_axis))
    x = [c / size for c in x_axis]
    other = (0.0, 0.0, 1.0) if abs(x[2]) < 0.9 else (0.0, 1.0, 0.0)
    y = [other[1] * x[2] - other[2] * x[1], other[2] * x[0] - other[0] * x[2], other[0] * x[1] - other[1] * x[0]]
    size = math.sqrt(sum(c * c for c in y))
    y = [c / size for c in y]
    z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
    c, s = math.cos(roll), math.sin(roll)
    return [[x[i], c * y[i] + s * z[i], c * z[i] - s * y[i]] for i in range(3)]


def vector_of(r):
    """The rotation vector of a matrix, by its quaternion."""
    trace = r[0][0] + r[1][1] + r[2][2]
    w = math.sqrt(max(0.0, 1 + trace)) / 2
    q = [math.sqrt(max(0.0, 1 + 2 * r[i][i] - trace)) / 2 for i in range(3)]
    largest = max(range(3), key=lambda i: q[i])
    if w > 0.1:
        q = [(r[2][1] - r[1][2]) / (4 * w), (r[0][2] - r[2][0]) / (4 * w), (r[1][0] - r[0][1]) / (4 * w)]
    else:
        i, j, k = largest, (largest + 1) % 3, (largest + 2) % 3
        x = q[i]
        w = (r[k][j] - r[j][k]) / (4 * x)
        q[j], q[k] = (r[j][i] + r[i][j]) / (4 * x), (r[k][i] + r[i][k]) / (4 * x)
    size = math.sqrt(sum(c * c for c in q))
    angle = 2 * math.atan2(size, w)
    return [angle * c / size if size > 0 else 0.0 for c in q]


# ---- the plant ----

TRUNK, BRANCH_1, BRANCH_2, LEAF, LEAFLET = range(5)


def shapes_of(n_objects, n_vertices, n_modes, trunk_modes=12):
    """[(name, vertices, modes, length, radii, flatness, material)]: all but the trunk have as many vertices;
    branches and leaves differ by one mode, and how many there are of each makes the sum right."""
    each = n_vertices // n_objects
    while not (stalk_choices(each) and stalk_choices(n_vertices - (n_objects - 1) * each)):
        each -= 1
    trunk_vertices = n_vertices - (n_objects - 1) * each
    low = (n_modes - trunk_modes) // (n_objects - 1)
    more = n_modes - trunk_modes - low * (n_objects - 1)
    n_branches = min(more, n_objects - 1 - more)
    branch_modes, leaf_modes = (low + 1, low) if n_branches == more else (low, low + 1)
    size = (n_objects / 43) ** (1 / 3)
    height, radius = 2 * size, 0.04 * (n_objects / 43) ** 0.4
    return [("trunk", trunk_vertices, trunk_modes, height, (radius, 0.3 * radius), 1.0, WOOD),
            ("bough", each, branch_modes, 0.45 * height, (0.3 * radius, 0.1 * radius), 1.0, WOOD),
            ("twig", each, branch_modes, 0.2 * height, (0.1 * radius, 0.03 * radius), 1.0, WOOD),
            ("leaf", each, leaf_modes, 0.12, (0.02, 0.012), 0.1, GREEN)], n_branches


def grow(shapes, n_objects, n_branches, generator, origin, n_rigid=0):
    """[(shape, parent, position, matrix)] of one plant; parents count within it."""
    upright = matrix_of((0.0, 0.0, 1.0), generator.uniform(0, 2 * math.pi))
    objects = [(TRUNK, -1, origin, upright)]
    n_boughs = min(n_branches, max(4, round(2 * math.sqrt(n_branches))))
    kinds = [BRANCH_1] * n_boughs + [BRANCH_2] * (n_branches - n_boughs) + [LEAF] * (n_objects - 1 - n_branches)
    kinds += [LEAFLET] * n_rigid
    bearers = {BRANCH_1: [0], BRANCH_2: [], LEAF: [], LEAFLET: []}
    for kind in kinds:
        parent = generator.choice(bearers[kind])
        shape, _, position, matrix = objects[parent]
        length, radii, flat = shapes[shape][3:6]
        at = generator.uniform(0.35 if shape == TRUNK else 0.2, 0.97)
        angle = generator.uniform(0, 2 * math.pi)
        side = [math.cos(angle) * matrix[i][1] + math.sin(angle) * matrix[i][2] for i in range(3)]
        radius = radii[0] + (radii[1] - radii[0]) * at
        where = [position[i] + length * at * matrix[i][0] + radius * side[i] for i in range(3)]
        lean = math.radians(generator.uniform(35, 70))
        axis = [math.cos(lean) * matrix[i][0] + math.sin(lean) * side[i] for i in range(3)]
        objects.append((kind, parent, where, matrix_of(axis, generator.uniform(0, 2 * math.pi))))
        if kind == BRANCH_1:
            bearers[BRANCH_2].append(len(objects) - 1)
            bearers[LEAF].append(len(objects) - 1)
        elif kind == BRANCH_2:
            bearers[LEAF].append(len(objects) - 1)
        if kind != LEAFLET:
            bearers[LEAFLET].append(len(objects) - 1)
    return objects


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tools", default="build/release/bin")
    parser.add_argument("--plants", type=int)
    parser.add_argument("--duration", type=float, default=4)
    parser.add_argument("--kinds", help="of a forest: kinds of its plants, in turn")
    parser.add_argument("--rigid", type=int, help="rigid leaflets of a plant")
    parser.add_argument("--modes", type=int, help="modes of a plant")
    parser.add_argument("--look", action="store_true", help="texture coordinates, images, look.json")
    parser.add_argument("--ground", action="store_true", help="of the look, and a camera")
    parser.add_argument("--linear", action="store_true", help="linear forces alone")
    given = parser.parse_args()
    kinds = given.kinds.split(",") if given.kinds else [given.kind]
    if given.kinds and given.kind != "forest":
        parser.error("--kinds: is of forest")
    for kind in kinds:
        if kind not in KINDS:
            parser.error(f"--kinds: there is no {kind}")
    n_plants = given.plants or KINDS[given.kind][3]
    os.makedirs(given.folder, exist_ok=True)
    inside = lambda name: os.path.join(given.folder, name)
    tool = lambda name, *words: subprocess.run([os.path.join(given.tools, name), *words], check=True)

    plants, names = [], []  # of each kind (first shape, shapes, objects, branches, rigid objects)
    for kind in kinds:
        n_objects, n_vertices, n_modes, _, *rigid = KINDS[kind]
        n_rigid = given.rigid if given.rigid is not None else rigid[0] if rigid else 0
        n_modes = given.modes or n_modes
        shapes, n_branches = shapes_of(n_objects, n_vertices, n_modes, round(1.8 * n_modes / n_objects) if given.modes else 12)
        own = lambda name: f"{kind}_{name}" if given.kinds else name
        for name, vertices, modes, length, radii, flat, material in shapes:
            write_stalk(inside(f"{own(name)}.msh"), vertices, length, radii, flat)
            surface = ()
            if given.look:
                write_stalk_surface(inside(f"{own(name)}.obj"), vertices, length, radii, flat, max(1, round(length / (4 * radii[0]))))
                surface = ("--surface", inside(f"{own(name)}.obj"))
            # as many natural modes as give, with their derivatives, at least the modes that are kept
            natural = next(k for k in range(1, 100) if k + k * (k + 1) // 2 >= modes)
            large = () if given.linear else ("--reduced-forces", "--derivatives", str(natural))
            tool("modalpack", inside(f"{own(name)}.msh"), inside(f"{own(name)}.h5"), "--force", "-q", *material, "--fixed", "root",
                 "--modes", str(modes), *large, *surface)
        plants.append((len(names), shapes, n_objects, n_branches, n_rigid))
        names += [own(shape[0]) for shape in shapes]
        if n_rigid:
            write_leaflet(inside(f"{own('leaflet')}.obj"), 0.05, 0.025)
            tool("modalpack", "--rigid", inside(f"{own('leaflet')}.obj"), inside(f"{own('leaflet')}.h5"), "--force", "-q", "--density", "400")
            names.append(own("leaflet"))

    generator = random.Random(given.seed)
    spacing, columns = 0.9 * max(plant[1][TRUNK][3] for plant in plants), math.ceil(math.sqrt(n_plants))
    rows = []
    for plant in range(n_plants):
        first_shape, shapes, n_objects, n_branches, n_rigid = plants[plant % len(plants)]
        shift = [generator.uniform(-0.2, 0.2) * spacing if n_plants > 1 else 0.0 for _ in range(2)]
        origin = [plant % columns * spacing + shift[0], plant // columns * spacing + shift[1], 0.0]
        first = len(rows)
        for shape, parent, at, matrix in grow(shapes, n_objects, n_branches, generator, origin, n_rigid):
            rows.append((first_shape + shape, parent + first if parent >= 0 else -1, *at, *vector_of(matrix)))
    with open(inside("places.csv"), "w") as file:
        file.write("object,shape,parent,x,y,z,rx,ry,rz\n")
        for i, row in enumerate(rows):
            file.write(f"{i},{row[0]},{row[1]}," + ",".join(f"{x:.17g}" for x in row[2:]) + "\n")
    tool("modalplace", inside("places.csv"), inside("plant.h5"), *(inside(f"{name}.h5") for name in names), "--force")
    if given.look:
        write_images(inside, random.Random(given.seed))
        write_look(inside, names, given.ground)

    scene = {"duration": given.duration, "fps": 30, "step": 0.01, "model": "linear" if given.linear else "stvk",
             "damping": {"alpha": 0.6, "beta": 0.002},
             "wind": {"velocity": [7, 2, 0], "turbulence": 3, "scale": plants[0][1][TRUNK][3], "seed": given.seed}}
    with open(inside("scene.json"), "w") as file:
        json.dump(scene, file, indent=2)
        file.write("\n")
    of_each = [KINDS[kinds[i % len(kinds)]] for i in range(n_plants)]
    vertices = sum(kind[1] for kind in of_each) + 6 * sum(plants[i % len(plants)][4] for i in range(n_plants))
    print(f"{len(rows)} objects, {vertices} vertices, {sum(given.modes or kind[2] for kind in of_each)} modes: {inside('plant.h5')}")


if __name__ == "__main__":
    main()
