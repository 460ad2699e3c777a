/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/scene/loads.h"

#include <math.h>

int modal_impulse_jump(const modal_shape *shape, const double *rest_pose, int64_t vertex,
                       const double impulse[3], double *jump)
{
    int acts = 0;
    const int64_t lane = vertex % MODAL_TILE;
    const float *matrix = modal_shape_tile(shape, vertex / MODAL_TILE);
    double own[3];
    for (int axis = 0; axis < 3; axis++)
        own[axis] = rest_pose[axis] * impulse[0] + rest_pose[4 + axis] * impulse[1] +
                    rest_pose[8 + axis] * impulse[2];
    for (int32_t k = 0; k < shape->modes.n_modes; k++) {
        const float *u = matrix + (int64_t)k * 3 * MODAL_TILE + lane;
        jump[k] = ((double)u[0] * own[0] + (double)u[MODAL_TILE] * own[1] +
                   (double)u[2 * MODAL_TILE] * own[2]) /
                  shape->modes.modal_masses[k];
        acts |= jump[k] != 0;
    }
    return acts;
}

int64_t modal_surface_stored_vertex(const modal_surface *shape, int64_t user_vertex)
{
    for (int64_t v = 0; v < shape->n_vertices; v++)
        if (shape->user_vertex[v] == user_vertex) return v;
    return -1;
}

int64_t modal_surface_nearest_vertex(const modal_surface *shape, const double *rest_pose,
                                   const double point[3], double *distance)
{
    int64_t nearest = -1;
    double least = INFINITY;
    for (int64_t v = 0; v < shape->n_vertices; v++) {
        const double *x = &shape->rest_positions[3 * v];
        double d[3];
        for (int axis = 0; axis < 3; axis++) {
            const double *row = &rest_pose[4 * axis];
            d[axis] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3] - point[axis];
        }
        /* hypot does not overflow where the square of a far point's distance would */
        double to = hypot(hypot(d[0], d[1]), d[2]);
        if (nearest < 0 || to < least ||
            (to == least && shape->user_vertex[v] < shape->user_vertex[nearest])) {
            nearest = v;
            least = to;
        }
    }
    *distance = least;
    return nearest;
}

double modal_surface_vertex_area(const modal_surface *shape, int64_t vertex)
{
    double area = 0;
    for (int64_t i = shape->face_offsets[vertex]; i < shape->face_offsets[vertex + 1]; i++) {
        const int32_t *corner = shape->triangles + 3 * (int64_t)shape->faces[i];
        const double *x = shape->rest_positions + 3 * (int64_t)corner[0];
        const double *y = shape->rest_positions + 3 * (int64_t)corner[1];
        const double *z = shape->rest_positions + 3 * (int64_t)corner[2];
        const double a[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
        const double b[3] = {z[0] - x[0], z[1] - x[1], z[2] - x[2]};
        area += hypot(hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2]),
                      a[0] * b[1] - a[1] * b[0]) / 6;
    }
    return area;
}

modal_shape modal_slow_shape(const modal_shape *shape, double *ones)
{
    const modal_left_out *left = &shape->modes.left_out;
    modal_shape slow = {.surface = shape->surface, .solid = shape->solid};
    slow.modes.n_modes = left->n_slow;
    slow.modes.modal_matrix = left->slow_matrix;
    slow.modes.eigenvalues = left->slow_eigenvalues;
    slow.modes.participation = left->slow_participation;
    slow.modes.modal_masses = ones;
    slow.modes.total_mass = shape->modes.total_mass;
    return slow;
}
