/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/reduced/left_slow.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/shape/shape_surface.h"

static const double LEAST = 1e-6; /* of a vector's length, that has to be new */

void reduced_smooth_fields(const modal_volume_mesh *mesh, double *fields)
{
    static const int powers[10][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 0, 0},
                                      {1, 1, 0}, {1, 0, 1}, {0, 2, 0}, {0, 1, 1}, {0, 0, 2}};
    double low[3] = {INFINITY, INFINITY, INFINITY}, size = 0;
    memset(fields, 0, (size_t)(3 * REDUCED_SMOOTH_FIELDS * mesh->n_nodes) * sizeof *fields);
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) low[i % 3] = fmin(low[i % 3], mesh->nodes[i]);
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) size = fmax(size, mesh->nodes[i] - low[i % 3]);
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        for (int p = 0; p < 10; p++) {
            double value = 1;
            for (int axis = 0; axis < 3; axis++)
                for (int n = 0; n < powers[p][axis]; n++) value *= (mesh->nodes[3 * i + axis] - low[axis]) / size;
            for (int axis = 0; axis < 3; axis++) fields[3 * ((3 * p + axis) * mesh->n_nodes + i) + axis] = value;
        }
}

/* The modes at the surface, as tiles. */
static modal_status make_matrix(const modal_shape *shape, int32_t n, double *modes, float **matrix, modal_error *err)
{
    modal_shape other = {.surface = shape->surface, .embedding = shape->embedding};
    other.solid.mesh = shape->solid.mesh;
    other.solid.volume_modes = modes;
    other.modes.n_modes = n;
    const modal_status status = modal_shape_modal_matrix(&other, err);
    *matrix = other.modes.modal_matrix;
    return status;
}

/* Makes vectors [n_vectors, n] behind n_before orthonormal ones orthonormal, too, each by itself: of many static answers some depend on
 * others to rounding, and a block of them would not be orthogonal. Those are passed over; *there is how many are left. */
static modal_status choose_vectors(const reduced_space *space, int64_t n_before, int64_t n_vectors, double *vectors, int64_t *there,
                                   modal_error *err)
{
    modal_status status = MODAL_OK;
    const size_t bytes = (size_t)space->n * sizeof *vectors;
    double *own = vectors + n_before * space->n, *parts = NULL;
    *there = 0;
    MODAL_TRY(modal_alloc(&parts, n_before + n_vectors, sizeof *parts, "slow motions", err));
    for (int64_t v = 0; v < n_vectors; v++) {
        const int64_t n = n_before + *there;
        double square = 0;
        if (*there < v) memcpy(own + *there * space->n, own + v * space->n, bytes);
        MODAL_TRY(reduced_orthonormalise(space, n, 1, vectors, parts, err));
        for (int64_t i = 0; i <= n; i++) square += parts[i] * parts[i];
        if (parts[n] > LEAST * sqrt(square)) ++*there;
    }
done:
    modal_free(&parts);
    return status;
}

/* The matrix of floats in bytes, each motion by its largest number. */
static modal_status encode(const modal_surface *surface, int32_t n, const float *matrix, modal_left_out *left_out, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_tiles = modal_tile_count(surface->n_vertices), size = 3 * MODAL_TILE;
    MODAL_TRY(modal_alloc_zero(&left_out->slow_scales, n, sizeof(double), "slow motions", err));
    MODAL_TRY(modal_alloc(&left_out->slow_bytes, n_tiles * n * size, 1, "slow motions", err));
    for (int64_t i = 0; i < n_tiles * n * size; i++) {
        double *scale = &left_out->slow_scales[i / size % n];
        *scale = fmax(*scale, fabs((double)matrix[i]));
    }
    for (int64_t i = 0; i < n_tiles * n * size; i++) {
        const double scale = left_out->slow_scales[i / size % n];
        left_out->slow_bytes[i] = (uint8_t)(MODAL_SLOW_ZERO + (int)lround(scale > 0 ? MODAL_SLOW_MOST * ((double)matrix[i] / scale) : 0));
    }
done:
    return status;
}

modal_status modal_left_slow_take(const modal_shape *shape, const modal_modes_left *left, modal_left_out *left_out, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = left->n;
    float *matrix = NULL;
    if (!left->known || shape->surface.n_vertices == 0) goto done;
    MODAL_TRY(modal_alloc(&left_out->slow_eigenvalues, n, sizeof(double), "slow motions", err));
    MODAL_TRY(modal_alloc(&left_out->slow_participation, 3 * n, sizeof(double), "slow motions", err));
    memcpy(left_out->slow_eigenvalues, left->eigenvalues, (size_t)n * sizeof(double));
    memcpy(left_out->slow_participation, left->participation, 3 * (size_t)n * sizeof(double));
    if (n > 0) MODAL_TRY(make_matrix(shape, left->n, left->motions, &matrix, err));
    MODAL_TRY(encode(&shape->surface, left->n, matrix, left_out, err));
    left_out->n_slow = left->n;
done:
    modal_free(&matrix);
    return status;
}

modal_status reduced_slow_motions(const reduced_space *space, const modal_shape *shape, int64_t n_before, int64_t n_vectors,
                                  double *vectors, modal_left_out *left_out, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_modes_result result = {0};
    int64_t there = 0;
    int32_t first = 0;
    if (shape->surface.n_vertices == 0) goto done;
    MODAL_TRY(choose_vectors(space, n_before, n_vectors, vectors, &there, err));
    if (there > 0) MODAL_TRY(reduced_space_result(space, there, vectors + n_before * space->n, 1, &result, err));
    while (first < result.n_modes && !(result.eigenvalues[first] > 0)) first++;
    const int32_t count = result.n_modes - first < REDUCED_SLOW_MOTIONS ? result.n_modes - first : REDUCED_SLOW_MOTIONS;
    const modal_modes_left left = {1, count, result.eigenvalues + first, result.modes + 3 * result.n_nodes * first,
                                   result.participation + 3 * (int64_t)first};
    MODAL_TRY(modal_left_slow_take(shape, &left, left_out, err));
done:
    modal_modes_result_free(&result);
    return status;
}
