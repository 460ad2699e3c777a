/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/layers.h"

#include "lib/base/memory.h"

const char *const modal_layer_names[MODAL_LAYERS] = {"fill", "checker", "noise", "marble", "wood", "strokes", "colours"};

void modal_layers_free(modal_layers *layers)
{
    for (int64_t i = 0; i < layers->n; i++) {
        modal_free(&layers->layers[i].strokes);
        modal_free(&layers->layers[i].file);
    }
    modal_free(&layers->layers);
    layers->n = 0;
}
