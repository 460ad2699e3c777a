/* SPDX-License-Identifier: Apache-2.0 */
/* Layers are read or refused with a message; what is read keeps its promises. The first byte is the number of channels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/layers.h"
#include "lib/base/below.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_value(const double *value, int width)
{
    for (int k = 0; k < width; k++)
        if (!(width == 4 ? value[k] >= 0 && value[k] <= 1 : fabs(value[k]) <= 1e30)) return 0;
    return 1;
}

static int is_sound(const modal_layer *l, int width)
{
    if (l->kind >= MODAL_LAYERS || !(l->opacity >= 0 && l->opacity <= 1)) return 0;
    const int most_files = l->kind == MODAL_LAYER_TRIPLANAR ? 3 : l->kind >= MODAL_LAYER_COLOURS;
    if (l->n_files > most_files || (l->n_files == 0) != (most_files == 0) || l->n_files == 2) return 0;
    for (int k = 0; k < 3; k++)
        if (k < l->n_files ? !l->files[k] || !modal_path_is_below(l->files[k]) : l->files[k] != NULL) return 0;
    if (l->wrap < 0 || l->wrap > 2 || (l->wrap && l->kind != MODAL_LAYER_IMAGE)) return 0;
    if (l->kind == MODAL_LAYER_TRIPLANAR && !(l->scale >= 1e-9 && l->sharpness >= 1 && l->sharpness <= 64)) return 0;
    if ((l->field != NULL) != (l->kind == MODAL_LAYER_FIELD)) return 0;
    if (l->kind == MODAL_LAYER_FIELD && (!(l->range[1] > l->range[0]) || l->frame < 0 || !is_value(l->from, width) || !is_value(l->to, width))) return 0;
    if ((l->n_strokes > 0) != (l->kind == MODAL_LAYER_STROKES)) return 0;
    for (int64_t i = 0; i < l->n_strokes; i++)
        if (!(l->strokes[i].radius > 0 && l->strokes[i].opacity >= 0 && l->strokes[i].opacity <= 1) || !is_value(l->strokes[i].value, width)) return 0;
    if (l->kind == MODAL_LAYER_STROKES || l->kind >= MODAL_LAYER_COLOURS) return 1;
    if (!is_value(l->from, width) || !is_value(l->to, width)) return 0;
    if (l->kind == MODAL_LAYER_FILL) return 1;
    return l->scale >= 1e-9 && l->octaves >= 0 && l->octaves <= 16 && l->turbulence >= 0 && fabs(hypot(hypot(l->axis[0], l->axis[1]), l->axis[2]) - 1) <= 1e-12;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int widths[] = {4, 1, 3};
    if (size < 1) return 0;
    modal_error err = {0};
    modal_layers layers;
    const int width = widths[data[0] % 3];
    const modal_status status = modal_layers_parse((const char *)data + 1, size - 1, "fuzz", width, &layers, &err);
    if (status != err.status || (status != MODAL_OK && (!err.message[0] || layers.layers))) abort();
    for (int64_t i = 0; status == MODAL_OK && i < layers.n; i++)
        if (!is_sound(&layers.layers[i], width)) abort();
    modal_layers_free(&layers);
    return 0;
}
