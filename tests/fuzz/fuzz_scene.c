/* SPDX-License-Identifier: Apache-2.0 */
/* A scene is read or refused with a message; what is read keeps its promises. The name has a folder, so
 * that files which a text names are looked for where there are none. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/json/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_scene scene;
    modal_error err = {0};
    const modal_status status = modal_scene_parse((const char *)data, size, "/absent/fuzz.json", &scene, &err);
    if (status != err.status || (status != MODAL_OK && (!err.message[0] || scene.n_objects))) abort();
    const modal_scene_response *response = &scene.response;
    if (status == MODAL_OK && !response->given && !(scene.duration >= 0 && scene.fps > 0 && scene.tolerance > 0)) abort();
    if (status == MODAL_OK && response->given &&
        !(response->from >= 0 && response->to >= response->from && response->n_points >= 1)) abort();
    for (int32_t i = 0; i < response->n_probes; i++)
        if (response->probes[i].group || response->probes[i].object < 0) abort();
    for (int32_t i = 0; i < scene.n_objects; i++)
        if (i > 0 && scene.objects[i].object <= scene.objects[i - 1].object) abort();
    for (int32_t i = 0; i < scene.n_forces; i++)
        if (!isfinite(modal_curve_value(&scene.forces[i].curve, 0.5, 0.5))) abort();
    modal_scene_free(&scene);
    return 0;
}
