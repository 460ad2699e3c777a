/* SPDX-License-Identifier: Apache-2.0 */
/* The C interface (modaltools/open.h) on two files in memory: four bytes, the length of the trajectory, then it, then the basis;
 * of length 0 the basis alone. What it refuses is named, what it makes is finite, and no HDF5 id stays open. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/digest.h"
#include "tests/fuzz/open_ids.h"
#include "tools/library/open.h"

uint64_t fuzz_digest;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int memory_file(char path[64], const uint8_t *data, size_t size)
{
    const int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

/* 1 where the call did what was asked; a refusal has a message. */
static int done(int32_t status)
{
    if (status == MODAL_MOTION_OK) return 1;
    if (!modal_motion_error()[0]) abort();
    digest_text(strncmp(modal_motion_error(), "/proc/", 6) == 0 ? "named" : modal_motion_error());
    return 0;
}

static float *room(int64_t n)
{
    float *to = malloc((size_t)n * sizeof *to + 1);
    if (!to) abort();
    memset(to, 0xff, (size_t)n * sizeof *to); /* NaN */
    return to;
}

/* They were all written, with numbers. */
static void take(float *values, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i])) abort();
    digest_add(values, n * (int64_t)sizeof *values);
}

static void frames(modal_motion *m, const modal_motion_sizes *s, int volume)
{
    const int64_t n = s->n_points;
    float *x = room(3 * n), *normals = room(3 * n), *u = room(3 * n), *speed = room(n), *tangents = room(4 * n), *mises = room(s->n_cells);
    double *q = calloc((size_t)s->n_coordinates + 1, sizeof *q);
    modal_motion_arrays to = {.bytes = sizeof to, .positions = x};
    if (!q) abort();
    if (done(modal_motion_at(m, q, NULL, NULL, NULL, &to))) take(x, 3 * n);
    for (int64_t k = 0; k < s->n_coordinates; k++) q[k] = 1e-3 * (double)(k % 7 - 3);
    if (volume) to.von_mises = mises;
    else to.normals = normals;
    if (done(modal_motion_at(m, q, NULL, q, NULL, &(modal_motion_arrays){.bytes = sizeof to, .positions = x, .speed = speed}))) take(speed, n);
    for (int64_t i = 0; i < s->n_frames && i < 3; i++) {
        to.displacement = i == 1 ? u : NULL;
        to.speed = i == 2 ? speed : NULL;
        if (done(modal_motion_frame(m, s->n_frames - 1 - i, &to))) {
            take(x, 3 * n);
            if (to.normals) take(normals, 3 * n);
            if (to.displacement) take(u, 3 * n);
            if (to.speed) take(speed, n);
        }
    }
    if (done(modal_motion_frame(m, 0, &(modal_motion_arrays){.bytes = sizeof to, .tangents = tangents}))) take(tangents, 4 * n);
    if (s->n_frames > 1) { /* the last two, backwards, at once */
        float *both = room(6 * n), *fast = room(2 * n);
        to = (modal_motion_arrays){.bytes = sizeof to, .positions = both, .speed = fast};
        if (done(modal_motion_frames(m, s->n_frames - 1, -1, 2, &to))) take(both, 6 * n), take(fast, 2 * n);
        free(both), free(fast);
    }
    if (volume) {
        to = (modal_motion_arrays){.bytes = sizeof to, .jacobian = mises, .jacobian_nodes = speed};
        if (done(modal_motion_at(m, q, NULL, NULL, NULL, &to))) take(mises, s->n_cells), take(speed, n);
    } else {
        to = (modal_motion_arrays){.bytes = sizeof to, .k_max = speed, .direction_min = normals, .curvature_derivative = tangents};
        if (done(modal_motion_at(m, q, NULL, NULL, NULL, &to))) take(speed, n), take(normals, 3 * n), take(tangents, 4 * n);
        if (s->n_frames > 0 && done(modal_motion_frame(m, 0, &(modal_motion_arrays){.bytes = sizeof to, .gauss_curvature = speed}))) take(speed, n);
    }
    const int64_t points[2] = {n - 1, 0};
    double path[12];
    if (s->n_frames > 1 && n > 0 && done(modal_motion_probe(m, 2, points, s->n_frames - 1, -1, 2, path)))
        for (int i = 0; i < 12; i++)
            if (!isfinite(path[i])) abort();
    free(q), free(x), free(normals), free(u), free(speed), free(tangents), free(mises);
}

static void look(modal_motion *m, const modal_motion_sizes *s, int volume)
{
    const int64_t n_cells = volume ? s->n_cells : s->n_triangles;
    int64_t *cells = malloc((size_t)(3 * s->n_triangles + s->n_corners) * 8 + 1), *offsets = malloc((size_t)(n_cells + 1) * 8);
    int32_t *materials = malloc((size_t)n_cells * 4 + 1);
    uint8_t *types = malloc((size_t)n_cells + 1);
    double *reach = malloc((size_t)s->n_coordinates * 8 + 1);
    float *rest = room(3 * s->n_points);
    if (!cells || !offsets || !materials || !types || !reach) abort();
    if (!done(volume ? modal_motion_get_cells(m, cells, offsets, types) : modal_motion_get_triangles(m, cells))) abort();
    for (int64_t i = 0; i < 3 * s->n_triangles + s->n_corners; i++)
        if (cells[i] < 0 || cells[i] >= s->n_points) abort();
    if (!done(modal_motion_get_materials(m, materials))) abort();
    for (int64_t i = 0; i < n_cells; i++)
        if (materials[i] < -1 || materials[i] >= s->n_materials) abort();
    for (int64_t i = 0; i < s->n_materials; i++) digest_text(modal_motion_material_name(m, i));
    for (int64_t i = 0; i < s->n_shapes; i++) digest_text(modal_motion_shape_name(m, i));
    if (done(modal_motion_get_rest(m, rest))) digest_add(rest, 12 * s->n_points);
    if (done(modal_motion_get_reach(m, reach))) digest_add(reach, 8 * s->n_coordinates);
    modal_motion_sizes later = {.bytes = sizeof later};
    if (done(modal_motion_read_groups(m)) && done(modal_motion_get_sizes(m, &later)))
        for (int64_t i = 0; i < later.n_groups; i++) {
            modal_motion_group g = {.bytes = sizeof g};
            if (!done(modal_motion_get_group(m, i, &g))) abort();
            int64_t *points = malloc((size_t)g.n_points * 8 + 1), *own = malloc((size_t)g.n_cells * 8 + 1);
            if (!points || !own || !done(modal_motion_get_group_members(m, i, points, own))) abort();
            for (int64_t k = 0; k < g.n_points; k++)
                if (points[k] < 0 || points[k] >= s->n_points) abort();
            for (int64_t k = 0; k < g.n_cells; k++)
                if (own[k] < 0 || own[k] >= n_cells) abort();
            free(points), free(own);
        }
    free(cells), free(offsets), free(materials), free(types), free(reach), free(rest);
}

/* Every size that a struct may claim: zeros up to it, or what would be half a pointer; what comes after it is not read and not written. */
static void sizes_of_structs(modal_motion *m, const modal_motion_sizes *s)
{
    enum { ROOM = 512 };
    union { size_t size; uint8_t bytes[ROOM]; } any;
    for (size_t size = 0; size < ROOM; size++) {
        const int fits = size >= sizeof size && size % sizeof size == 0;
        for (int call = 0; call < 4; call++) {
            memset(&any, 0xff, sizeof any);
            if (fits) memset(&any, 0, size);
            any.size = size;
            if (call == 3) any.size = SIZE_MAX - size;
            modal_motion *other = NULL;
            const int32_t status = call == 0   ? modal_motion_get_sizes(m, (modal_motion_sizes *)&any)
                                   : call == 1 ? modal_motion_frame(m, 0, (modal_motion_arrays *)&any)
                                   : call == 2 ? modal_motion_get_group(m, 0, (modal_motion_group *)&any)
                                               : modal_motion_open(&other, "/nowhere", (modal_motion_options *)&any);
            const int32_t good = call == 1 && s->n_frames == 0 ? MODAL_MOTION_USAGE : MODAL_MOTION_OK;
            if (call == 2) { /* groups are not read yet */
                if (status != MODAL_MOTION_USAGE) abort();
            } else if (status != (fits && call < 3 ? good : MODAL_MOTION_USAGE)) {
                abort();
            }
            for (size_t i = size < sizeof size ? sizeof size : size; i < ROOM; i++)
                if (any.bytes[i] != 0xff) abort();
        }
    }
}

static void nothing(modal_motion *m, const modal_motion_sizes *s, int volume)
{
    const int64_t point = 0, n_cells = volume ? s->n_cells : s->n_triangles;
    int64_t *cells = malloc((size_t)(s->n_corners + n_cells + 1) * 8);
    double place[3];
    if (!cells) abort();
    const struct { int64_t n; int32_t status; } calls[] = {
        {1, modal_motion_get_sizes(m, NULL)},
        {1, modal_motion_get_group(m, 0, NULL)},
        {1, modal_motion_frame(m, 0, NULL)},
        {1, modal_motion_frames(m, 0, 1, 1, NULL)},
        {1, modal_motion_at(m, NULL, NULL, NULL, NULL, NULL)},
        {s->n_triangles, modal_motion_get_triangles(m, NULL)},
        {s->n_points, modal_motion_get_rest(m, NULL)},
        {n_cells, modal_motion_get_materials(m, NULL)},
        {s->n_coordinates, modal_motion_get_reach(m, NULL)},
        {1, modal_motion_get_cells(m, cells, NULL, (uint8_t *)cells)},
        {volume ? n_cells : 1, modal_motion_get_cells(m, NULL, cells, (uint8_t *)cells)},
        {volume ? n_cells : 1, modal_motion_get_cells(m, cells, cells + s->n_corners, NULL)},
        {1, modal_motion_probe(m, 1, NULL, 0, 1, 1, place)},
        {1, modal_motion_probe(m, 1, &point, 0, 1, 1, NULL)},
        {1, modal_motion_open(NULL, "/nowhere", NULL)},
        {1, modal_motion_get_sizes(NULL, NULL)}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].n > 0 && calls[i].status != MODAL_MOTION_USAGE) abort();
    free(cells);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char trajectory[64], basis[64];
    uint32_t length;
    if (size < sizeof length) return 0;
    memcpy(&length, data, sizeof length);
    data += sizeof length, size -= sizeof length;
    if (length > size) length = (uint32_t)size;
    const int motion_file = memory_file(trajectory, data, length), basis_file = memory_file(basis, data + length, size - length);
    for (int volume = 0; volume < 2; volume++) {
        modal_motion *m = NULL;
        modal_motion_sizes sizes = {.bytes = sizeof sizes};
        const modal_motion_options options = {.bytes = sizeof options, .basis = length ? basis : NULL, .threads = 1, .volume = volume,
                                              .memory_limit = INT64_C(1) << 30};
        if (!done(modal_motion_open(&m, length ? trajectory : basis, &options)) != (m == NULL)) abort();
        if (m && done(modal_motion_get_sizes(m, &sizes)) && sizes.n_points < 1 << 22) {
            sizes_of_structs(m, &sizes);
            nothing(m, &sizes, volume);
            look(m, &sizes, volume);
            frames(m, &sizes, volume);
        }
        modal_motion_close(m);
    }
    close(motion_file), close(basis_file);
    no_open_ids();
    return 0;
}
