/* SPDX-License-Identifier: Apache-2.0 */
/* Prints nothing, tests nothing: the operations on curvature of one surface, for tests/python/check_curvature.py, which
 * holds them to its own code. IN: int64 n, m; float32 positions [n, 3]; int32 triangles [m, 3]. OUT, float64, first of the
 * reference, then of the back end: normals [n, 3], tensors of curvature_tensor, areas [n], tensors of curvature_ring,
 * derivatives [n, 4] and smoothed tensors (both of those of curvature_tensor), tensors and degrees [n] of fits of degree 2
 * over 2 rings and 4 over 3.
 *
 *   curvature_values IN OUT RADIUS */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/curvature_derivative/curvature_derivative.h"
#include "kernels/curvature_fit/curvature_fit.h"
#include "kernels/curvature_ring/curvature_ring.h"
#include "kernels/normals_corner/normals_corner.h"
#include "kernels/registry.h"
#include "kernels/tensor_smooth/tensor_smooth.h"
#include "lib/base/memory.h"
#include "lib/curvature/curvature.h"

typedef struct values {
    double *normals, *tensors, *areas, *ring, *derivatives, *smoothed, *fits[2], *degrees[2];
} values;

static void check(modal_status status, const modal_error *err)
{
    if (status == MODAL_OK) return;
    fprintf(stderr, "curvature_values: %s\n", err->message);
    exit(1);
}

static void *array_of(int64_t count, size_t bytes)
{
    modal_error err = {0};
    void *memory = NULL;
    check(modal_alloc_zero(&memory, count, bytes, "values", &err), &err);
    return memory;
}

static values values_new(int64_t n)
{
    values v = {.normals = array_of(3 * n, 8), .tensors = array_of(3 * n, 8), .areas = array_of(n, 8),
                .ring = array_of(3 * n, 8), .derivatives = array_of(4 * n, 8), .smoothed = array_of(3 * n, 8)};
    for (int k = 0; k < 2; k++) v.fits[k] = array_of(3 * n, 8), v.degrees[k] = array_of(n, 8);
    return v;
}

static void values_write(values *v, int64_t n, FILE *to)
{
    double *const all[] = {v->normals, v->tensors, v->areas, v->ring, v->derivatives, v->smoothed,
                           v->fits[0], v->degrees[0], v->fits[1], v->degrees[1]};
    static const int widths[] = {3, 3, 1, 3, 4, 3, 3, 1, 3, 1};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double *array = all[i];
        if (fwrite(array, 8, (size_t)(widths[i] * n), to) != (size_t)(widths[i] * n)) exit(1);
        modal_free(&array);
    }
}

static void widen(const float *from, double *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = (double)from[i];
}

int main(int argc, char **argv)
{
    modal_error err = {0};
    int64_t head[2], *near_offsets[2];
    int32_t *near[2];
    modal_curvature_topology t;
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL, *to = argc == 4 ? fopen(argv[2], "wb") : NULL;
    if (!in || !to || fread(head, 8, 2, in) != 2) return 2;
    const int64_t n = head[0], m = head[1];
    const float radius = (float)atof(argv[3]);
    float *x = array_of(3 * n, 4);
    int32_t *triangles = array_of(3 * m, 4);
    if (fread(x, 12, (size_t)n, in) != (size_t)n || fread(triangles, 12, (size_t)m, in) != (size_t)m) return 2;
    check(modal_curvature_topology_build(n, m, triangles, &t, &err), &err);
    for (int k = 0; k < 2; k++)
        check(modal_neighbour_rings(n, t.ring_offsets, t.ring, 2 + k, &near_offsets[k], &near[k], &err), &err);

    double *dx = array_of(3 * n, 8);
    widen(x, dx, 3 * n);
    values v = values_new(n);
    modal_normals_corner_exact(n, t.ring_offsets, t.ring, dx, v.normals);
    modal_curvature_tensor_exact(n, t.ring_offsets, t.ring, dx, v.normals, v.tensors, v.areas);
    modal_curvature_ring_exact(n, t.ring_offsets, t.ring, dx, v.normals, v.ring);
    modal_curvature_derivative_exact(n, t.ring_offsets, t.ring, dx, v.normals, v.tensors, v.derivatives);
    for (int k = 0; k < 2; k++) {
        const modal_curvature_exact column = {n, near_offsets[k], near[k], dx, v.normals};
        if (k == 0) modal_tensor_smooth_exact(&column, v.areas, v.tensors, (double)radius, v.smoothed);
        check(modal_curvature_fit_exact(&column, 2 + 2 * k, v.fits[k], v.degrees[k], &err), &err);
    }
    values_write(&v, n, to);

    modal_device device;
    check(modal_device_open(&device, "cpu", &err), &err);
    const modal_kernels *kernels = device.kernels;
    v = values_new(n);
    float *normals = array_of(3 * n, 4), *tensors = array_of(3 * n, 4), *areas = array_of(n, 4), *some = array_of(4 * n, 4);
    float *degrees = array_of(n, 4);
    const float scale = 64.0f;
    const modal_normals_corner_task task = {n, 1, t.ring_offsets, t.ring, x, scale, normals};
    check(kernels->normals_corner(&task, NULL, &err), &err);
    widen(normals, v.normals, 3 * n);
    const modal_curvature_surface surface = {n, 1, t.ring_offsets, t.ring, x, normals, scale};
    const modal_curvature_tensor_task tensor = {surface, {.tensors = tensors, .areas = areas}};
    check(kernels->curvature_tensor(&tensor, NULL, &err), &err);
    widen(tensors, v.tensors, 3 * n);
    widen(areas, v.areas, n);
    const modal_curvature_ring_task ring = {surface, {.tensors = some}};
    check(kernels->curvature_ring(&ring, NULL, &err), &err);
    widen(some, v.ring, 3 * n);
    const modal_curvature_derivative_task derivative = {surface, tensors, some};
    check(kernels->curvature_derivative(&derivative, NULL, &err), &err);
    widen(some, v.derivatives, 4 * n);
    const modal_tensor_smooth_task smooth = {n, 1, near_offsets[0], near[0], x, normals, areas, tensors, radius,
                                             {.tensors = some}};
    check(kernels->tensor_smooth(&smooth, NULL, &err), &err);
    widen(some, v.smoothed, 3 * n);
    for (int k = 0; k < 2; k++) {
        const modal_curvature_fit_task fit = {n, 1, near_offsets[k], near[k], x, normals, 2 + 2 * k, {.tensors = some}, degrees};
        check(kernels->curvature_fit(&fit, NULL, &err), &err);
        widen(some, v.fits[k], 3 * n);
        widen(degrees, v.degrees[k], n);
    }
    values_write(&v, n, to);
    void *all[] = {x, triangles, dx, normals, tensors, areas, some, degrees, near[0], near[1], near_offsets[0], near_offsets[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) modal_free(&all[i]);
    modal_curvature_topology_free(&t);
    fclose(in);
    return fclose(to) != 0;
}
