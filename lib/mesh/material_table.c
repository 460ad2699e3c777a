/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/material_table.h"

#include <stddef.h>
#include <string.h>

const modal_named_material modal_named_materials[MODAL_NAMED_MATERIALS] = {
    {"steel", 2.1e11, 0.3, 7850, 0},      {"stainless", 2e11, 0.3, 7900, 0},    {"aluminium", 7e10, 0.3, 2700, 0},
    {"titanium", 1.138e11, 0.342, 4430, 0}, {"copper", 1.17e11, 0.34, 8940, 0}, {"glass", 7e10, 0.2, 2500, 0},
    {"concrete", 3.3e10, 0.2, 2400, 0},   {"oak", 1.23e10, 0.37, 760, 1},       {"spruce", 1.08e10, 0.37, 450, 1},
    {"pla", 3.6e9, 0.4, 1230, 0},         {"abs", 2e9, 0.4, 1100, 0},           {"nylon", 2.9e9, 0.4, 1130, 0},
    {"acrylic", 3e9, 0.4, 1190, 0},       {"rubber", 2e6, 0.49, 925, 0},
};

const modal_named_material *modal_named_material_find(const char *name)
{
    for (int i = 0; i < MODAL_NAMED_MATERIALS; i++)
        if (strcmp(modal_named_materials[i].name, name) == 0) return &modal_named_materials[i];
    return NULL;
}
