/* SPDX-License-Identifier: Apache-2.0 */
/* A scene of one solid is read or refused with a message; what is read keeps its promises. The name has a folder, so
 * that files which a text names are looked for where there are none. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/json/solid_scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    modal_solid_scene scene;
    modal_error err = {0};
    const modal_status status = modal_solid_scene_parse((const char *)data, size, "/absent/fuzz.json", &scene, &err);
    if (status != err.status || (status != MODAL_OK && (!err.message[0] || scene.n_actions))) abort();
    if (status == MODAL_OK && (!(scene.step >= 0) || (scene.fps > 0) + (scene.every > 0) + (scene.n_at > 0) != !scene.steady)) abort();
    if (scene.n_contacts > MODAL_SOLID_CONTACTS || (scene.steady && !(scene.duration > 0 && scene.accuracy > 0))) abort();
    for (int32_t i = 0; i < scene.n_contacts; i++)
        if (!scene.contacts[i].name || (scene.contacts[i].kind != MODAL_SOLID_PLANE) != (scene.contacts[i].radius > 0)) abort();
    for (int64_t i = 1; i < scene.n_at; i++)
        if (scene.at[i] <= scene.at[i - 1]) abort();
    for (int32_t i = 0; i < scene.n_actions; i++) {
        const modal_solid_action *a = &scene.actions[i];
        if (!a->nodes == !a->rows || (a->kind == MODAL_SOLID_PROBE) != (a->name != NULL)) abort();
        if (!isfinite(modal_curve_value(&a->curve, 0.5, 0.5))) abort();
    }
    modal_solid_scene_free(&scene);
    return 0;
}
