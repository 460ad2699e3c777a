# SPDX-License-Identifier: Apache-2.0
"""Operations and bytes of an element's step, for docs/results/tled.md. Arithmetic is counted by doing it, as the kernels write it, with numbers that
count: + - * / and each root, logarithm, exponential or reciprocal is one, a multiply-add two. Bytes: every array that a step reads or writes, once."""


class Number:
    done = 0

    def __init__(self, value=1.0):
        self.value = value

    def _two(self, other):
        Number.done += 1
        return Number()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _two

    def __neg__(self):
        Number.done += 1
        return Number()


def numbers(n):
    return [Number() for _ in range(n)]


def special(x):
    Number.done += 1
    return Number()


def cofactors(h):
    return [h[4] * h[8] - h[5] * h[7], h[5] * h[6] - h[3] * h[8], h[3] * h[7] - h[4] * h[6], h[2] * h[7] - h[1] * h[8], h[0] * h[8] - h[2] * h[6],
            h[1] * h[6] - h[0] * h[7], h[1] * h[5] - h[2] * h[4], h[2] * h[3] - h[0] * h[5], h[0] * h[4] - h[1] * h[3]]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def inverse_cube_root(x, steps):
    """Of the processor: a guess from the bits, then steps of the third order."""
    y = 5 - x * 0.33
    for _ in range(steps):
        c = x * y * (y * y)
        y = y * (c * (c * 0.2 - 0.7) + 1.5)
    return y


def stress(law, h, gpu, steps=2, averages=False):
    """P times the volume: kernels/tled_step/tled_body.h (processor), tled_stress.cuh (GPU, whose volume is in mu and the modulus)."""
    mu, modulus, volume = numbers(3)
    scale = (lambda x: x) if gpu else (lambda x: x * volume)
    c = cofactors(h)
    t, i = h[0] + h[4] + h[8], c[0] + c[4] + c[8]
    i_d = i + dot(h, c)
    above = t + i_d
    jacobian = above + 1
    bulk = lambda: Number() if averages else above * modulus
    if law == "StVK":
        s = {}
        for k in range(3):
            for l in range(k, 3):
                s[k, l] = s[l, k] = scale((h[3 * k + l] + h[3 * l + k] + dot([h[k], h[3 + k], h[6 + k]], [h[l], h[3 + l], h[6 + l]])) * mu)
        trace = scale((s[0, 0] + s[1, 1] + s[2, 2]) * modulus)
        for k in range(3):
            s[k, k] = s[k, k] + trace
        return [s[k, l] + dot(h[3 * k:3 * k + 3], [s[m, l] for m in range(3)]) for k in range(3) for l in range(3)]
    if law == "logarithmic":
        over = scale(mu * special(jacobian))
        l = scale(bulk())
        turned, identity, a = over - l, over * i_d + (l + l * t), scale(mu)
    else:
        square = h[0] * h[0]
        for k in range(1, 9):
            square = square + h[k] * h[k]
        if gpu:
            power, over = special(special(jacobian) * 0.66), special(jacobian) * 0.33
        else:
            y = inverse_cube_root(jacobian, steps)
            power = y * y
            over = power * y * 0.33
        a = scale(power * mu)
        b = scale(bulk()) - a * (square - (i_d * 3 + t)) * over
        turned = a - b
        identity = b - turned * t
    p = [a * h[3 * k + l] + turned * (h[3 * l + k] - c[3 * k + l]) for k in range(3) for l in range(3)]
    return [p[k] + identity if k % 4 == 0 else p[k] for k in range(9)]


def whole_cofactors(h):
    c = cofactors(h)
    t = h[0] + h[4] + h[8]
    one = t + 1
    return [c[k] - h[k] + one if k % 4 == 0 else c[k] - h[k] for k in range(9)], t + (c[0] + c[4] + c[8] + dot(h, c))


def stretch(h, a):
    """F a, and 2 a.H a + |H a|^2."""
    f, e = [], None
    for i in range(3):
        ha = dot(h[3 * i:3 * i + 3], a)
        f.append(a[i] + ha)
        way = ha * (a[i] + f[i])
        e = way if e is None else e + way
    return f, e


def add_fibres(h, p, gpu, steps=2):
    a = numbers(3)
    c, above = whole_cofactors(h)
    jacobian = above + 1
    power = special(special(jacobian) * 0.66) if gpu else None
    third = special(jacobian) * 0.33 if gpu else None
    if not gpu:
        y = inverse_cube_root(jacobian, steps)
        power = y * y
        third = power * y * 0.33
    root = jacobian * power
    q = -above * (root + 1) / (root * root + root + 1) * power
    f, e = stretch(h, a)
    g = q * (e + 1) + e
    pull = g * 3 if gpu else g * 3 * 3
    along, around = pull * power, pull * (g + 1) * third
    return [p[k] + along * f[k // 3] * a[k % 3] - around * c[k] for k in range(9)]


def relax(h, p, terms):
    c, above = whole_cofactors(h)
    over = special(above + 1)
    pressure = p[0] + p[4] + p[8]
    for k in range(9):
        pressure = pressure + p[k] * h[k]
    pressure = pressure * (over * 0.33)
    both, off = over * pressure, [None] * 6
    for k in range(6):
        column = numbers(3)
        s = dot(column, numbers(3)) * over
        volumetric = dot(column, numbers(3)) * both
        s - volumetric
    for n in range(terms):
        for k in range(6):
            s = Number()
            d = Number() + s * 0.5
            off[k] = d if n == 0 else off[k] + d
            d * 0.5 + s * 0.5
    out = []
    for i in range(3):
        row = [h[3 * i + k] + 1 if k == i else h[3 * i + k] for k in range(3)]
        out += [p[3 * i + k] - dot(row, off[:3]) for k in range(3)]
    return out


def early_stress(kind, h):
    """Of float32 on a GPU (tled_rich.cuh): fibres change the neo-Hookean law's numbers; a Prony term is taken off S, and P is F S."""
    mu, modulus, x, y = numbers(4)
    c = cofactors(h)
    t, i = h[0] + h[4] + h[8], c[0] + c[4] + c[8]
    i_d = i + dot(h, c)
    above = t + i_d
    jacobian = above + 1
    square = h[0] * h[0]
    for k in range(1, 9):
        square = square + h[k] * h[k]
    power, over = special(special(jacobian) * 0.66), special(jacobian)
    a, bulk = power * mu, above * modulus
    b = bulk - a * ((square - t - i_d * 3) * (over * 0.33))
    back = b - a
    if kind == "fibres":
        fibre = numbers(3)
        root = jacobian * power
        q = -above * (root + 1) * special(root * root + root + 1) * power
        f, e = stretch(h, fibre)
        g = q * (e + 1) + e
        pull = g * mu
        along, around = pull * power, pull * (g + 1) * (over * 0.33)
        back = back - around
        identity = b - around + back * t
        p = [a * h[3 * k + l] + back * (c[3 * k + l] - h[3 * l + k]) for k in range(3) for l in range(3)]
        p = [p[k] + identity if k % 4 == 0 else p[k] for k in range(9)]
        along_f = [along * n for n in f]
        return [p[k] + along_f[k // 3] * fibre[k % 3] for k in range(9)]
    b - bulk, back - bulk
    g = [c[k] - h[k] + t if k % 4 == 0 else c[k] - h[k] for k in range(9)]
    s = []
    for k in range(6):
        more = Number() + Number() + dot(g, g)
        d = (more - above if k < 3 else more) * over
        part = x + y * d if k < 3 else y * d
        off = Number() + part * 0.5
        off * 0.5 + part * 0.5
        s.append((b + back * d if k < 3 else back * d) - off)
    return [dot(h, s) + s[k % 6] for k in range(9)]


def extras(kind, law, h, gpu, steps=2, early=False):
    if early and kind in ("fibres", "a Prony term"):
        return early_stress(kind, h)
    p = stress(law, h, gpu, steps, kind == "nodal pressures")
    if kind == "fibres":
        p = add_fibres(h, p, gpu, steps)
    if kind == "a Prony term":
        p = relax(h, p, 1)
    return p


def tetrahedron(law, kind, way, steps=2, early=False):
    """way: "stored" gradients (processor, and the other ways on a GPU), or "fan", of six, whose gradients follow from places at rest."""
    gpu = way != "stored"
    if way == "fan":
        length = 6.0
        ej, uj = [Number() - Number() for _ in range(3)], [Number() - Number() for _ in range(3)]
        cb, ci = cross(ej, ej), cross(ej, uj)
        over = special(dot(ej, cb))
        h = [dot(numbers(3), numbers(3)) * over for _ in range(9)]
        p = extras(kind, law, h, True, early=early)
        for _ in range(3):
            [dot(p[3 * i:3 * i + 3], cb) for i in range(3)]
        [Number() + Number() for _ in range(9)]  # fa, fb, fi
        [-x for x in ci]
        before = Number.done
        [Number() - Number() for _ in range(12)]  # eb, ub, ei, ui
        cross(ei := numbers(3), ei)
        [Number() - Number() for _ in range(6)]  # the last of fa
        [Number() + Number() for _ in range(9 * 3)]  # nine slots into their places
        return before, (Number.done - before) / length
    ways = [Number() - Number() for _ in range(9)]
    h = [dot(ways[i:i + 3], numbers(3)) for i in (0, 3, 6) for _ in range(3)]
    p = extras(kind, law, h, way == "stored, gpu", steps)
    forces = [dot(p[3 * i:3 * i + 3], numbers(3)) for i in range(3) for _ in range(3)]
    [-f for f in forces[:3]], [f - f for f in forces[3:]]
    [Number() + Number() for _ in range(12)]  # to four nodes
    if kind == "nodal pressures":  # the first pass, and the mean of the second
        h = [dot([Number() - Number() for _ in range(3)] if k % 3 == 0 else numbers(3), numbers(3)) for k in range(9)]
        whole_cofactors(h)
        [Number() * 0.25 * 0.1] + [Number() + Number() for _ in range(4 + 4)]
    return Number.done, 0.0


def hexahedron(law, gpu, steps=2):
    signs, h, modes = 8, numbers(9), numbers(12)
    if gpu:
        [Number() - Number() for _ in range(7 * 6)]
        [Number() + Number() for _ in range(2 * 3 * 24)]  # places and displacements to modes
        c = [cross(h, h) for _ in range(3)]
        over = special(dot(c[0], c[1]))
        h = [dot(numbers(3), numbers(3)) * over for _ in range(9)]
        p = stress(law, h, True)
        for _ in range(3):
            [dot(p[3 * i:3 * i + 3], c[0]) for i in range(3)]
            for _ in range(4):
                mode = (Number() - dot(h, numbers(3)))
                mode * 2
                [Number() + mode * 2 for _ in range(3)]
            [Number() - over * Number() for _ in range(3)]  # P's row less its part along the gradients
            [Number() + Number() for _ in range(24)]  # back to corners
        [Number() + Number() for _ in range(24)]  # to eight nodes
        return Number.done
    for _ in range(signs - 1):
        for _ in range(3):
            way = Number() - Number()
            [Number() + way * 2 for _ in range(3)], [Number() + way for _ in range(4)]
    p = stress(law, h, False, steps)
    stiff = Number() * 2
    for _ in range(4):
        for i in range(3):
            mode = (modes[i] - dot(h[3 * i:3 * i + 3], numbers(3))) * stiff
            [Number() - mode * 2 for _ in range(3)]
    for _ in range(signs):
        [[dot(numbers(3), p[3 * i:3 * i + 3])] + [Number() + Number() for _ in range(4)] for i in range(3)]
        [Number() + Number() for _ in range(3)]
    return Number.done


def flops(mesh, way, gpu):
    """Of an element and step; mesh and way as modalbench names them."""
    Number.done = 0
    law = "logarithmic" if "logarithmic" in mesh else "StVK" if "StVK" in mesh else "neo-Hookean"
    kind = next((k for k in ("fibres", "a Prony term", "nodal pressures") if mesh.endswith(k)), "")
    steps = 3 if "float64" in way else 2
    if "H8" in mesh:
        return hexahedron(law, gpu, steps)
    if gpu and way.startswith("tled_step"):
        once, shared = tetrahedron(law, kind, "fan", early="float64" not in way)
        if kind == "nodal pressures":  # gradients again, in a pass before
            Number.done = 0
            tetrahedron("neo-Hookean", "", "fan")
            stressed = Number.done
            Number.done = 0
            stress("neo-Hookean", numbers(9), True)
            once += stressed - Number.done - 45
        return once + shared
    once, _ = tetrahedron(law, kind, "stored, gpu" if gpu else "stored", steps)
    return once * (4 if way == "one thread a node" else 1)


# Bytes of an element, and of a node, of the ways of tests/bench/opponents: corners 16, gradients and volume 40, material 8; a vector of four floats 16.
NODE = 16 + 2 * 16 + 2 * 16 + 4  # u in the element loop; u and d read and written, weight
OPPONENTS = {
    "scatter, slots in node order": (64 + 16 + 2 * 64, NODE + 4),    # and slots; forces written and read
    "scatter, slots in element order": (64 + 2 * 64 + 16, NODE + 4),  # and the lists of nodes
    "atomic sums, 12 scalars": (64, NODE + 4 * 16),                   # sums read and written by atomics, then by the node loop
    "atomic sums, 4 vectors": (64, NODE + 4 * 16),
    "atomic sums by compare and swap": (64, NODE + 4 * 16),
    "colours": (64 + 2 * 64, NODE + 2 * 16),                          # sums read and written by every element
    "one thread a node": (4 * (64 + 4), NODE + 4),
    "sorted by node, summed by segment": (64 + 2 * 64 + 3 * 2 * 80 + 80, NODE + 2 * 16),  # three passes of keys and forces at least
}


def moved(row, gpu):
    """Bytes of an element's step: of tled_step what the layout holds, and u, d, what they lose and Prony terms read and written."""
    per_node = row["vertices"] / row["elements"]
    if row["way"].startswith("tled_step"):
        words = 8 if "float64" in row["way"] else 4
        state = 2 * 2 * 4 * words * (1 if gpu or words == 8 else 2)  # u and d; on a processor as much again of what float32 loses
        more = 2 * 6 * words if "Prony" in row["mesh"] else 3 * words if "fibres" in row["mesh"] and not gpu else 0  # not in the layout's sum
        return row["bytes_held"] / row["elements"] + state * per_node + more
    name = "colours" if row["way"].endswith("colours") else row["way"]
    of_element, of_node = OPPONENTS[name]
    return of_element + of_node * per_node
