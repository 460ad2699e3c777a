/* SPDX-License-Identifier: Apache-2.0 */
/* modalmesh: what engines need: an empty mesh to fill, names; part of the program and of each module. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/memory.h"
#include "tools/modalmesh/modalmesh.h"

modal_status modalmesh_new_mesh(modal_volume_mesh *mesh, int64_t n_nodes, int64_t n_elements,
                                int type, modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(mesh, 0, sizeof *mesh);
    MODAL_TRY(modal_volume_mesh_new_elements(mesh, n_elements, (modal_element_type)type, err));
    MODAL_TRY(modal_alloc(&mesh->nodes, 3 * n_nodes, sizeof *mesh->nodes, "nodes", err));
    MODAL_TRY(modal_alloc(&mesh->node_tags, n_nodes, sizeof *mesh->node_tags, "nodes", err));
    MODAL_TRY(modal_alloc(&mesh->element_tags, n_elements, sizeof *mesh->element_tags, "elements", err));
    MODAL_TRY(modal_alloc(&mesh->element_material, n_elements, sizeof(int32_t), "elements", err));
    MODAL_TRY(modal_alloc(&mesh->groups, 0, sizeof *mesh->groups, "groups", err));
    MODAL_TRY(modal_alloc(&mesh->materials, 0, sizeof *mesh->materials, "materials", err));
    mesh->n_nodes = n_nodes;
    for (int64_t i = 0; i < n_nodes; i++) mesh->node_tags[i] = i + 1;
    for (int64_t e = 0; e < n_elements; e++) {
        mesh->element_tags[e] = e + 1;
        mesh->element_material[e] = -1;
    }
done:
    return status;
}

/* Tetrahedra that TetGen makes beside a surface whose triangles are smaller than `size` (m, 0: it may be anything), which it keeps and from which
 * elements grow inwards: a multiple of the triangles, and of long ones as often as their length has their height. The factor is the middle of
 * what spheres, flat and long ones among them, boxes, cylinders and the Stanford bunny gave: 64 to
 * 19,000 triangles, within 2.4, and a box of 192 triangles a third. */
static double beside_surface(const modal_surface_mesh *s, double size)
{
    static const double of_regular = 2.4;
    double n = 0;
    for (int64_t t = 0; t < s->n_triangles; t++) {
        double edges[2][3], cross = 0, longest = 0; /* squares of twice the area and of the longest edge */
        for (int k = 0; k < 3; k++) {
            const double *a = s->positions + 3 * (int64_t)s->triangles[3 * t + k], *b = s->positions + 3 * (int64_t)s->triangles[3 * t + (k + 1) % 3];
            double square = 0;
            for (int i = 0; i < 3; i++) {
                if (k < 2) edges[k][i] = b[i] - a[i];
                square += (b[i] - a[i]) * (b[i] - a[i]);
            }
            longest = fmax(longest, square);
        }
        for (int i = 0, j = 1, k = 2; i < 3; j = k, k = i++) {
            const double c = edges[0][j] * edges[1][k] - edges[0][k] * edges[1][j];
            cross += c * c;
        }
        const double height = cross / longest; /* its square */
        if (cross > 0 && (size == 0 || height < size * size))
            n += of_regular * sqrt(0.75 * longest / height) * (size == 0 ? 1 : 1 - height / (size * size));
    }
    return n;
}

modal_status modalmesh_expect(const modalmesh_order *order, const double low[3], const double high[3], double volume,
                              modal_error *err)
{
    static const double finest = 1e-3, rounding = 1e-6; /* OpenCASCADE's boxes are larger by 1e-7 mm */
    const double sides[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
    const double longest = fmax(sides[0], fmax(sides[1], sides[2]));
    if (order->n_nodes > 0 || (order->size == 0 && !order->surface)) return MODAL_OK; /* --nodes tries sizes of its own */
    if (order->size > 0 && !(order->size >= finest * longest * (1 - rounding) && order->size <= longest * (1 + rounding)))
        return modal_error_set(err, MODAL_ERROR_USAGE,
                               "--size: must be in %.4g .. %.4g m, for a box of %.4g x %.4g x %.4g m, %g", finest * longest,
                               longest, sides[0], sides[1], sides[2], order->size);
    const double cells = order->size > 0 ? (volume > 0 ? volume : sides[0] * sides[1] * sides[2]) / pow(order->size, 3) : 0;
    const modalmesh_expected expected = {.kind = 'E', .cells = cells, .is_box = !(volume > 0),
                                         .beside = order->surface ? beside_surface(order->surface, order->size) : 0};
    if (write(order->tell, &expected, sizeof expected) != (ssize_t)sizeof expected)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: the estimate cannot be told", order->path);
    return MODAL_OK;
}

double modalmesh_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void modalmesh_group_name(const modalmesh_order *order, int32_t patch, char name[256])
{
    if (order->group_names) snprintf(name, 256, "%s", order->group_names[patch]);
    else snprintf(name, 256, "patch_%d", patch);
}
