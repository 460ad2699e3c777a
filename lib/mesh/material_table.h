/* SPDX-License-Identifier: Apache-2.0 */
/* Materials by name. docs/materials.md has the same table with its sources; a test compares them. */
#ifndef MODAL_MESH_MATERIAL_TABLE_H
#define MODAL_MESH_MATERIAL_TABLE_H

typedef struct modal_named_material {
    const char *name;
    double young;   /* Pa */
    double poisson;
    double density; /* kg/m^3 */
    int is_wood;    /* E along the grain, which is taken for all directions */
} modal_named_material;

enum { MODAL_NAMED_MATERIALS = 14 };
extern const modal_named_material modal_named_materials[MODAL_NAMED_MATERIALS];

/* What a solid without a material is made of: why this one is in docs/materials.md. */
#define MODAL_ASSUMED_MATERIAL "abs"

/* NULL: none of that name. */
const modal_named_material *modal_named_material_find(const char *name);

#endif
