/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fem/motion_norm.h"

#include <string.h>

#include "lib/base/memory.h"
#include "lib/fem/columns.h"
#include "lib/model/node_modes.h"

void modal_motion_norm_free(modal_motion_norm *norm)
{
    modal_free(&norm->products);
    modal_free(&norm->scratch);
    memset(norm, 0, sizeof *norm);
}

/* columns [r, n, 3] become scalar fields [3 r, n]. */
static void split(int64_t n, int64_t r, const double *columns, double *fields)
{
    for (int64_t k = 0; k < 3 * r; k++)
        for (int64_t i = 0; i < n; i++) fields[k * n + i] = columns[(k / 3 * n + i) * 3 + k % 3];
}

static modal_status build(const modal_shape *shape, const modal_shape *other, int n_threads, modal_motion_norm *norm,
                          modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_fem_system system = {0};
    const modal_shape *const both[] = {shape, other};
    double *columns = NULL, *fields = NULL, *packed = NULL, *image = NULL, *split_image = NULL;
    for (int k = 0; k < 2 && both[k]; k++)
        if (!modal_shape_has_node_modes(both[k]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "shape %s: no modes at the nodes of a solid (modalpack --volume-modes)",
                       both[k]->name ? both[k]->name : "");
    if (other) MODAL_TRY(modal_fem_compare_solids(&shape->solid.mesh, &other->solid.mesh, err));
    MODAL_TRY(modal_fem_assemble_mass(shape, n_threads, &system, err));
    norm->r = shape->modes.n_modes;
    norm->r_other = other ? other->modes.n_modes : 0;
    const int64_t n = system.n_free, n_fields = 4 + 3 * ((int64_t)norm->r + norm->r_other);
    const int64_t n_packed = n_fields / 3 + 1; /* three scalar fields as the components of one vector field */
    norm->n_fields = n_fields;
    MODAL_TRY(modal_alloc(&fields, n_fields * n, sizeof *fields, "fields", err));
    for (int64_t i = 0; i < n; i++) {
        fields[i] = 1;
        for (int k = 0; k < 3; k++) fields[(1 + k) * n + i] = shape->solid.mesh.nodes[3 * (int64_t)system.free_nodes[i] + k];
    }
    for (int k = 0; k < 2 && both[k]; k++) {
        MODAL_TRY(modal_fem_take_columns(both[k], &system, &columns, err));
        split(n, both[k]->modes.n_modes, columns, fields + (4 + 3 * (int64_t)(k ? norm->r : 0)) * n);
        modal_free(&columns);
    }
    MODAL_TRY(modal_alloc_zero(&packed, 3 * n_packed * n, sizeof *packed, "fields", err));
    MODAL_TRY(modal_alloc(&image, 3 * n_packed * n, sizeof *image, "fields", err));
    for (int64_t f = 0; f < n_fields; f++)
        for (int64_t i = 0; i < n; i++) packed[(f / 3 * n + i) * 3 + f % 3] = fields[f * n + i];
    modal_identity_blocks_multiply(&system.pattern, system.mass, n_packed, packed, image, n_threads);
    MODAL_TRY(modal_alloc(&split_image, 3 * n_packed * n, sizeof *split_image, "fields", err));
    split(n, n_packed, image, split_image);
    MODAL_TRY(modal_alloc(&norm->products, n_fields * n_fields, sizeof(double), "products of fields", err));
    MODAL_TRY(modal_alloc(&norm->scratch, n_fields, sizeof(double), "fields", err));
    modal_fem_products(n, n_fields, fields, n_fields, split_image, norm->products, n_threads);
done:
    modal_fem_system_free(&system);
    modal_free(&columns);
    modal_free(&fields);
    modal_free(&packed);
    modal_free(&image);
    modal_free(&split_image);
    return status;
}

modal_status modal_motion_norm_build(const modal_shape *shape, const modal_shape *other, int n_threads,
                                     modal_motion_norm *norm, modal_error *err)
{
    memset(norm, 0, sizeof *norm);
    const modal_status status = build(shape, other == shape ? NULL : other, n_threads, norm, err);
    if (status != MODAL_OK) modal_motion_norm_free(norm);
    return status;
}

double modal_motion_norm_apply(const modal_motion_norm *norm, const double *pose, const double *q, const double *other_pose,
                               const double *other_q)
{
    double sum = 0;
    for (int p = 0; p < 3; p++) { /* one component of the difference */
        const double *a = pose + 4 * p, *b = other_pose + 4 * p;
        double *c = norm->scratch, *u = c + 4, *v = u + 3 * (int64_t)norm->r;
        c[0] = a[3] - b[3];
        for (int i = 0; i < 3; i++) {
            c[1 + i] = a[i] - b[i];
            for (int32_t k = 0; k < norm->r; k++) u[3 * k + i] = a[i] * q[k] - (norm->r_other ? 0 : b[i] * other_q[k]);
            for (int32_t k = 0; k < norm->r_other; k++) v[3 * k + i] = -b[i] * other_q[k];
        }
        for (int64_t f = 0; f < norm->n_fields; f++) {
            const double *row = norm->products + f * norm->n_fields;
            double product = 0;
            for (int64_t g = 0; g < norm->n_fields; g++) product += row[g] * c[g];
            sum += c[f] * product;
        }
    }
    return sum > 0 || sum != sum ? sum : 0; /* rounding may have made less than nothing of nothing */
}
