/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/layers.h"

#include "lib/base/memory.h"

const char *const modal_layer_names[MODAL_LAYERS] = {"fill", "checker", "noise", "marble", "wood", "strokes",
                                                    "colours", "image", "triplanar", "normals", "field"};

void modal_layers_free(modal_layers *layers)
{
    for (int64_t i = 0; i < layers->n; i++) {
        modal_free(&layers->layers[i].strokes);
        modal_free(&layers->layers[i].field);
        for (int k = 0; k < 3; k++) modal_free(&layers->layers[i].files[k]);
    }
    modal_free(&layers->layers);
    layers->n = 0;
}
