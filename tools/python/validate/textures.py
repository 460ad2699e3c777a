# SPDX-License-Identifier: Apache-2.0
"""textures.h5, by formats/textures.md."""
import numpy as np

MOST_LAYERS, MOST_IMAGES, MOST_SIDE = 2048, 512, 16384


def names(file, path):
    values = file.array(path, "u8", (None,))
    if values is None:
        return None
    if not file.must(0 not in values, path, "has a zero"):
        return None
    parts = values.tobytes().split(b"\n")
    return parts if file.must(parts.pop() == b"" and all(parts), path, "has an empty name, or no line end after the last") else None


def check_class(file, place, thesis):
    """Its number of layers, or None."""
    before, level = None, 0
    while True:
        path = f"{place}/level_{level:02d}"
        texels = file.array(path, "u8", (None, None, None, 4))
        if texels is None:
            return None
        n, h, w, _ = texels.shape
        if before is None:
            if not file.must(0 < n <= (MOST_IMAGES if thesis else MOST_LAYERS) and 0 < h <= MOST_SIDE and 0 < w <= MOST_SIDE, path,
                             "has no texels, or too many"):
                return None
        elif not file.must((n, h, w) == (before[0], max(before[1] // 2, 1), max(before[2] // 2, 1)), path, "is not half of the level before"):
            return None
        before, level = (n, h, w), level + 1
        if h == 1 and w == 1:
            file.must(not file.has(f"{place}/level_{level:02d}"), place, "has a level after that of one texel")
            return n


def check_textures(file):
    if not file.must(file.text("/", "modal_format_version") == "1.0", "/@modal_format_version", "is not 1.0"):
        return
    thesis = file.text("/", "layout", among=("classes", "thesis")) == "thesis"
    values = file.array("/materials/values", "f32", (None, 4, 4))
    images = file.array("/materials/images", "i32", (None if values is None else len(values), 2))
    of_materials = names(file, "/materials/names")
    where = [file.array(f"/images/{name}", "i32", (None,)) for name in ("class", "layer")]
    if values is None or images is None or where[0] is None or where[1] is None:
        return
    n = len(where[0])
    role, cutoff = file.array("/images/role", "u8", (n,)), file.array("/images/cutoff", "f64", (n,))
    scale, of_images = file.array("/images/scale", "f64", (n, 2)), names(file, "/images/names")
    for column, most in ((13, 2), (14, 1), (15, 3)):
        file.must(np.isin(values.reshape(-1, 16)[:, column], range(most + 1)).all(), "/materials/values", f"number {column} is not in 0 to {most}")
    if of_materials is not None:
        file.must(len(of_materials) == len(values), "/materials/names", "are not one for each material")
    if of_images is not None:
        file.must(len(of_images) == n, "/images/names", "are not one for each image")
    file.must(((images >= -1) & (images < n)).all(), "/materials/images", f"is not in [-1, {n})")
    if role is not None:
        file.must((role <= 1).all(), "/images/role", "is neither 0 nor 1")
        for k in (0, 1):
            of = images[:, k][(images[:, k] >= 0) & (images[:, k] < n)]
            file.must((role[of] == k).all(), "/materials/images", "is an image of another role")
    if cutoff is not None:
        file.must(((cutoff == -1) | ((cutoff >= 0) & (cutoff <= 1))).all(), "/images/cutoff", "is neither -1 nor in [0, 1]")
    if scale is not None:
        file.must(((scale >= 0) & (scale <= 1)).all() and (thesis or (scale == 1).all()), "/images/scale", "is not what the layout says")
    layers = [check_class(file, place, thesis) for place in file.numbered("/classes")]
    used = np.zeros((len(layers), max([0, *(x or 0 for x in layers)])), bool)
    for i, (c, layer) in enumerate(zip(*where)):
        if file.must(0 <= c < len(layers), "/images/class", f"row {i}: there is no class {c}") and layers[c] is not None:
            if file.must(0 <= layer < layers[c] and not used[c, layer], "/images/layer", f"row {i}: layer {layer} is not there, or another's"):
                used[c, layer] = True
    file.must(all(x is None or used[c, :x].all() for c, x in enumerate(layers)), "/classes", "a layer is no image's")
