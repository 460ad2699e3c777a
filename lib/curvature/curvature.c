/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/curvature/curvature.h"

#include <math.h>
#include <string.h>

#include "kernels/curvature_derivative/curvature_derivative.h"
#include "kernels/curvature_fit/curvature_fit.h"
#include "kernels/curvature_ring/curvature_ring.h"
#include "kernels/curvature_tensor/curvature_tensor.h"
#include "kernels/device.h"
#include "kernels/normals_corner/normals_corner.h"
#include "kernels/registry.h"
#include "kernels/tensor_smooth/tensor_smooth.h"
#include "lib/base/memory.h"
#include "lib/base/tile.h"
#include "lib/curvature/stretch.h"

const modal_array modal_curvature_arrays[MODAL_CURVATURE_FIELDS] = {
    [MODAL_K_MAX] = {.name = "k_max", .components = 1, .unit = "1/m"},
    [MODAL_K_MIN] = {.name = "k_min", .components = 1, .unit = "1/m"},
    [MODAL_MEAN_CURVATURE] = {.name = "mean_curvature", .components = 1, .unit = "1/m"},
    [MODAL_GAUSS_CURVATURE] = {.name = "gauss_curvature", .components = 1, .unit = "1/m^2"},
    [MODAL_DIRECTION_MAX] = {.name = "direction_max", .components = 3, .unit = "1"},
    [MODAL_DIRECTION_MIN] = {.name = "direction_min", .components = 3, .unit = "1"},
    [MODAL_CURVATURE_DERIVATIVE] = {.name = "curvature_derivative", .components = 4, .unit = "1/m^2"},
    [MODAL_BOUNDARY] = {.name = "boundary", .components = 1, .unit = "1"},
    [MODAL_FIT_DEGREE] = {.name = "fit_degree", .components = 1, .unit = "1"},
    [MODAL_AREA_RATIO] = {.name = "area_ratio", .components = 1, .unit = "1"},
    [MODAL_STRETCH_MAX] = {.name = "stretch_max", .components = 1, .unit = "1"},
    [MODAL_STRETCH_MIN] = {.name = "stretch_min", .components = 1, .unit = "1"},
    [MODAL_STRETCH_DIRECTION] = {.name = "stretch_direction", .components = 3, .unit = "1"},
};

/* Arrays on the device: fields, then what is between the operations. */
enum { NORMALS = MODAL_CURVATURE_FIELDS, RECORDS, TENSORS, OTHERS, AREAS, POSITIONS, BUFFERS };

struct modal_curvature {
    modal_device device;
    modal_stream *stream;
    modal_curvature_options options;
    const modal_curvature_topology *topology;
    const int32_t *triangles; /* of the rest */
    const float *rest;
    int64_t most_frames;
    float scale, radius;  /* of a step of the diffusion */
    int64_t smooth_steps;
    int64_t *d_ring_offsets, *d_near_offsets; /* those of the topology where the device shares main memory */
    int32_t *d_ring, *d_near;                 /* near: neighbours for the diffusion */
    int64_t *d_fit_offsets;
    int32_t *d_fit;
    float *d_boundary; /* [n_vertices] */
    float *buffers[BUFFERS]; /* [most_frames, n_vertices, components], those that are needed; fields, areas for the caller
                              * and positions by modal_curvature_compute alone */
};

modal_status modal_curvature_parse_fields(const char *list, int fields[MODAL_CURVATURE_FIELDS], modal_error *err)
{
    static const modal_curvature_field first_four[] = {MODAL_K_MAX, MODAL_K_MIN, MODAL_MEAN_CURVATURE,
                                                       MODAL_GAUSS_CURVATURE};
    for (const char *c = list;; c++) {
        const size_t length = strcspn(c, ",");
        int begin = 0, end = 0;
        if (length == 9 && strncmp(c, "curvature", length) == 0) {
            end = 4;
        } else {
            while (begin < MODAL_CURVATURE_FIELDS && (strlen(modal_curvature_arrays[begin].name) != length ||
                                                      strncmp(c, modal_curvature_arrays[begin].name, length) != 0))
                begin++;
            end = begin + 1;
        }
        if (begin == MODAL_CURVATURE_FIELDS)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--fields: no field of curvature, %.*s", (int)length, c);
        for (int i = begin; i < end; i++) {
            const int field = end == 4 && begin == 0 ? (int)first_four[i] : i;
            if (fields[field]++)
                return modal_error_set(err, MODAL_ERROR_USAGE, "--fields: twice, %s", modal_curvature_arrays[field].name);
        }
        c += length;
        if (*c == '\0') return MODAL_OK;
    }
}

double modal_curvature_mean_edge(int64_t n_triangles, const int32_t *triangles, const float *positions)
{
    double sum = 0.0;
    for (int64_t t = 0; t < n_triangles; t++)
        for (int k = 0; k < 3; k++) {
            const float *a = positions + 3 * (int64_t)triangles[3 * t + k];
            const float *b = positions + 3 * (int64_t)triangles[3 * t + (k + 1) % 3];
            double square = 0.0;
            for (int i = 0; i < 3; i++) square += ((double)b[i] - (double)a[i]) * ((double)b[i] - (double)a[i]);
            sum += sqrt(square);
        }
    return n_triangles > 0 ? sum / (3.0 * (double)n_triangles) : 0.0;
}

double modal_curvature_quality(const float *a, const float *b, const float *c)
{
    double e[3], f[3], n[3], ee = 0.0, ff = 0.0, ef = 0.0, nn = 0.0;
    for (int i = 0; i < 3; i++) {
        e[i] = (double)b[i] - (double)a[i], f[i] = (double)c[i] - (double)a[i];
        ee += e[i] * e[i], ff += f[i] * f[i], ef += e[i] * f[i];
    }
    for (int i = 0; i < 3; i++) {
        n[i] = e[(i + 1) % 3] * f[(i + 2) % 3] - e[(i + 2) % 3] * f[(i + 1) % 3];
        nn += n[i] * n[i];
    }
    return ee + ff - ef > 0.0 ? sqrt(nn) / (ee + ff - ef) : 0.0;
}

int modal_curvature_has_area(int64_t n_triangles, const int32_t *triangles, const float *positions)
{
    int found = 0;
    for (int64_t t = 0; t < n_triangles && !found; t++) {
        const int32_t *v = triangles + 3 * t;
        found = modal_curvature_quality(positions + 3 * (int64_t)v[0], positions + 3 * (int64_t)v[1], positions + 3 * (int64_t)v[2]) > MODAL_CURVATURE_FLAT;
    }
    return found;
}

modal_status modal_curvature_rest_edge(const modal_basis *basis, double *mean_edge, modal_error *err)
{
    modal_status status = MODAL_OK;
    double sum = 0.0, n = 0.0;
    float *positions = NULL;
    *mean_edge = 0.0;
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const modal_surface *s = &basis->shapes[i].surface;
        modal_free(&positions);
        MODAL_TRY(modal_alloc(&positions, 3 * s->n_vertices, sizeof *positions, "rest", err));
        for (int64_t k = 0; k < 3 * s->n_vertices; k++) positions[k] = (float)s->rest_positions[k];
        if (s->n_triangles > 0 && !modal_curvature_has_area(s->n_triangles, s->triangles, positions))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "shape %d: no triangle has an area at rest, so no vertex has a curvature", i);
        sum += modal_curvature_mean_edge(s->n_triangles, s->triangles, positions) * (double)s->n_triangles;
        n += (double)s->n_triangles;
    }
    if (n > 0.0) *mean_edge = sum / n;
done:
    modal_free(&positions);
    return status;
}

/* ---- tables and arrays on the device ---- */

/* What is in main memory stays there where the device shares it. */
static modal_status upload(const modal_curvature *c, void *pointer, const void *host, int64_t bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    void *memory = NULL;
    if (c->device.shares_memory) {
        memcpy(pointer, &host, sizeof host);
        return MODAL_OK;
    }
    MODAL_TRY(modal_device_alloc(&c->device, &memory, bytes, 1, "tables of curvature", err));
    memcpy(pointer, &memory, sizeof memory);
    MODAL_TRY(modal_device_copy_in(&c->device, memory, host, bytes, c->stream, err));
    MODAL_TRY(modal_device_stream_wait(&c->device, c->stream, err));
done:
    return status;
}

static modal_status upload_rings(modal_curvature *c, int n_rings, int64_t **d_offsets, int32_t **d_neighbours,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_curvature_topology *t = c->topology;
    int64_t *offsets = NULL;
    int32_t *neighbours = NULL;
    MODAL_TRY(modal_neighbour_rings(t->n_vertices, t->ring_offsets, t->ring, n_rings, &offsets, &neighbours, err));
    const int64_t n_tiles = modal_tile_count(t->n_vertices);
    const int64_t rows = offsets[n_tiles];
    MODAL_TRY(upload(c, d_offsets, offsets, (n_tiles + 1) * (int64_t)sizeof *offsets, err));
    if (c->device.shares_memory) offsets = NULL; /* it is kept */
    MODAL_TRY(upload(c, d_neighbours, neighbours, rows * MODAL_TILE * (int64_t)sizeof *neighbours, err));
    if (c->device.shares_memory) neighbours = NULL;
done:
    modal_free(&offsets);
    modal_free(&neighbours);
    return status;
}

static int components_of(int buffer)
{
    if (buffer < MODAL_CURVATURE_FIELDS) return modal_curvature_arrays[buffer].components;
    return buffer == AREAS ? 1 : buffer == RECORDS ? 8 : 3;
}

int modal_curvature_is_stretch(modal_curvature_field field) { return field >= MODAL_AREA_RATIO; }

void modal_curvature_set_rest(modal_curvature *c, const int32_t *triangles, const float *rest)
{
    c->triangles = triangles, c->rest = rest;
}

/* Whether a buffer is needed between the operations. Records take a GPU 20 % less time where neighbours lie anywhere in
 * memory, and 20 % more where they lie near (kernels/VERSIONS.md, "Curvature on a GPU"). */
static int is_between(const modal_device *device, const modal_curvature_topology *topology, const modal_curvature_options *o,
                      int buffer)
{
    const int smooths = o->smooth > 0.0;
    if (buffer == RECORDS)
        return !device->shares_memory && topology->scattered > 0.5 && o->method == MODAL_CURVATURE_TENSOR;
    return buffer == NORMALS || (buffer == TENSORS && (smooths || o->fields[MODAL_CURVATURE_DERIVATIVE])) ||
           ((buffer == OTHERS || buffer == AREAS) && smooths);
}

static modal_status need_buffer(modal_curvature *c, int buffer, modal_error *err)
{
    if (c->buffers[buffer]) return MODAL_OK;
    return modal_device_alloc(&c->device, &c->buffers[buffer], c->most_frames * c->topology->n_vertices * components_of(buffer),
                              sizeof(float), "arrays of curvature", err);
}

static modal_status make_buffers(modal_curvature *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = c->topology->n_vertices;
    float *boundary = NULL;
    for (int i = NORMALS; i < BUFFERS; i++)
        if (is_between(&c->device, c->topology, &c->options, i)) MODAL_TRY(need_buffer(c, i, err));
    if (!c->options.fields[MODAL_BOUNDARY]) return MODAL_OK;
    MODAL_TRY(modal_alloc(&boundary, n, sizeof *boundary, "boundary", err));
    for (int64_t i = 0; i < n; i++) boundary[i] = (float)c->topology->boundary[i];
    MODAL_TRY(modal_device_alloc(&c->device, &c->d_boundary, n, sizeof *boundary, "boundary", err));
    MODAL_TRY(modal_device_copy_in(&c->device, c->d_boundary, boundary, n * (int64_t)sizeof *boundary, c->stream, err));
    MODAL_TRY(modal_device_stream_wait(&c->device, c->stream, err));
done:
    modal_free(&boundary);
    return status;
}

int64_t modal_curvature_bytes(const modal_device *device, const modal_curvature_options *options,
                              const modal_curvature_topology *topology, int64_t most_frames)
{
    enum { NEIGHBOURS = 3 }; /* k rings: about 3 k (k + 1) neighbours */
    const int64_t n_tiles = modal_tile_count(topology->n_vertices), rows = topology->ring_offsets[n_tiles];
    const int fits = options->method == MODAL_CURVATURE_FIT ? options->n_rings * (options->n_rings + 1) : 0;
    int64_t floats = options->fields[MODAL_BOUNDARY] ? 1 : 0, bytes = 0;
    for (int i = NORMALS; i < BUFFERS; i++)
        if (is_between(device, topology, options, i)) floats += most_frames * components_of(i);
    bytes = 4 * floats * topology->n_vertices;
    if (!device->shares_memory) bytes += 8 * (n_tiles + 1) + MODAL_TILE * 4 * rows;
    return bytes + NEIGHBOURS * (fits + (options->smooth > 0.0 ? 6 : 0)) * 4 * MODAL_TILE * n_tiles;
}

static modal_status check_options(const modal_curvature_options *o, double mean_edge, modal_error *err)
{
    enum { MOST_RINGS = 12, MOST_STEPS = 10000 };
    if (o->method == MODAL_CURVATURE_FIT && o->degree != 2 && o->degree != 4)
        return modal_error_set(err, MODAL_ERROR_USAGE, "curvature: degree of a fit is not 2 or 4, %d", o->degree);
    if (o->method == MODAL_CURVATURE_FIT && (o->n_rings < 1 || o->n_rings > MOST_RINGS))
        return modal_error_set(err, MODAL_ERROR_USAGE, "curvature: rings of a fit not from 1 to %d, %d", MOST_RINGS,
                               o->n_rings);
    if (o->fields[MODAL_FIT_DEGREE] && o->method != MODAL_CURVATURE_FIT)
        return modal_error_set(err, MODAL_ERROR_USAGE, "curvature: fit_degree is a field of the method fit alone");
    if (!(o->smooth >= 0.0) || !(2.0 * o->smooth * o->smooth <= MOST_STEPS * mean_edge * mean_edge || o->smooth == 0.0))
        return modal_error_set(err, MODAL_ERROR_USAGE, "curvature: length of the diffusion not from 0 to %g m, %g m",
                               sqrt(MOST_STEPS / 2.0) * mean_edge, o->smooth);
    return MODAL_OK;
}

modal_status modal_curvature_new(modal_curvature **curvature, const modal_device *device,
                                 const modal_curvature_options *options, const modal_curvature_topology *topology,
                                 double mean_edge, int64_t most_frames, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_curvature *c = NULL;
    *curvature = NULL;
    MODAL_TRY(check_options(options, mean_edge, err));
    MODAL_TRY(modal_alloc_zero(&c, 1, sizeof *c, "curvature", err));
    c->device = *device;
    c->options = *options;
    c->topology = topology;
    c->most_frames = most_frames;
    c->scale = mean_edge > 0.0 ? (float)exp2(floor(-log2(mean_edge))) : 1.0f;
    if (options->smooth > 0.0) { /* steps of two edges' radius r spread by r / sqrt(8) */
        c->smooth_steps = (int64_t)ceil(2.0 * options->smooth * options->smooth / (mean_edge * mean_edge));
        c->radius = (float)(options->smooth * sqrt(8.0 / (double)c->smooth_steps));
    }
    const int64_t n_tiles = modal_tile_count(topology->n_vertices);
    MODAL_TRY(modal_device_select(device, err));
    MODAL_TRY(modal_device_stream_new(&c->device, &c->stream, err));
    MODAL_TRY(upload(c, &c->d_ring_offsets, topology->ring_offsets, (n_tiles + 1) * 8, err));
    MODAL_TRY(upload(c, &c->d_ring, topology->ring, topology->ring_offsets[n_tiles] * MODAL_TILE * 4, err));
    if (options->method == MODAL_CURVATURE_FIT)
        MODAL_TRY(upload_rings(c, options->n_rings, &c->d_fit_offsets, &c->d_fit, err));
    if (c->smooth_steps > 0) MODAL_TRY(upload_rings(c, 2, &c->d_near_offsets, &c->d_near, err));
    MODAL_TRY(make_buffers(c, err));
    *curvature = c;
    c = NULL;
done:
    modal_curvature_delete(c);
    return status;
}

modal_curvature *modal_curvature_delete(modal_curvature *c)
{
    if (!c) return NULL;
    if (!c->device.shares_memory) {
        modal_device_free(&c->device, &c->d_ring_offsets);
        modal_device_free(&c->device, &c->d_ring);
    }
    modal_device_free(&c->device, &c->d_fit_offsets);
    modal_device_free(&c->device, &c->d_fit);
    modal_device_free(&c->device, &c->d_near_offsets);
    modal_device_free(&c->device, &c->d_near);
    modal_device_free(&c->device, &c->d_boundary);
    for (int i = 0; i < BUFFERS; i++) modal_device_free(&c->device, &c->buffers[i]);
    modal_device_stream_delete(&c->device, &c->stream);
    modal_free(&c);
    return NULL;
}

/* ---- a batch ---- */

/* The tensors, or all that is wanted, by the method. */
static modal_status first_step(const modal_curvature *c, modal_stream *stream, const modal_curvature_surface *surface,
                               const modal_curvature_output *output, float *degrees, float *areas, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_kernels *kernels = c->device.kernels;
    modal_curvature_tensor_task tensor = {*surface, {.areas = areas}};
    if (c->options.method == MODAL_CURVATURE_TENSOR) {
        tensor.output = *output;
        tensor.output.areas = areas;
        return kernels->curvature_tensor(&tensor, stream, err);
    }
    if (areas) MODAL_TRY(kernels->curvature_tensor(&tensor, stream, err));
    if (c->options.method == MODAL_CURVATURE_RING) {
        const modal_curvature_ring_task ring = {*surface, *output};
        return kernels->curvature_ring(&ring, stream, err);
    }
    const modal_curvature_fit_task fit = {.n_vertices = surface->n_vertices,
                                          .n_columns = surface->n_columns,
                                          .neighbour_offsets = c->d_fit_offsets,
                                          .neighbours = c->d_fit,
                                          .positions = surface->positions,
                                          .normals = surface->normals,
                                          .degree = c->options.degree,
                                          .output = *output,
                                          .degrees = degrees};
    MODAL_TRY(kernels->curvature_fit(&fit, stream, err));
done:
    return status;
}

/* Diffuses c->buffers[TENSORS]; the last step gives what is wanted. */
static modal_status diffuse(modal_curvature *c, modal_stream *stream, const modal_curvature_surface *surface,
                            const modal_curvature_output *output, const float *areas, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t step = 0; step < c->smooth_steps; step++) {
        const int last = step + 1 == c->smooth_steps;
        modal_tensor_smooth_task task = {.n_vertices = surface->n_vertices,
                                         .n_columns = surface->n_columns,
                                         .neighbour_offsets = c->d_near_offsets,
                                         .neighbours = c->d_near,
                                         .positions = surface->positions,
                                         .normals = surface->normals,
                                         .areas = areas,
                                         .tensors = c->buffers[TENSORS],
                                         .radius = c->radius};
        if (last) task.output = *output;
        task.output.tensors = c->buffers[OTHERS];
        MODAL_TRY(c->device.kernels->tensor_smooth(&task, stream, err));
        float *kept = c->buffers[TENSORS];
        c->buffers[TENSORS] = c->buffers[OTHERS], c->buffers[OTHERS] = kept;
    }
done:
    return status;
}

static modal_status copy_out(const modal_curvature *c, float *to, const float *from, int64_t count, modal_error *err)
{
    return to == from ? MODAL_OK
                      : modal_device_copy_out(&c->device, to, from, count * (int64_t)sizeof *to, c->stream, err);
}

/* What compares with the rest. */
static modal_status stretch(const modal_curvature *c, int64_t n_frames, const float *positions,
                            float *const out[MODAL_CURVATURE_FIELDS], modal_error *err)
{
    float *wanted[MODAL_CURVATURE_FIELDS] = {NULL};
    int n_wanted = 0;
    for (int i = MODAL_AREA_RATIO; i < MODAL_CURVATURE_FIELDS; i++)
        if (c->options.fields[i]) wanted[i] = out[i], n_wanted++;
    if (n_wanted == 0) return MODAL_OK;
    if (!c->rest) return modal_error_set(err, MODAL_ERROR_USAGE, "stretch: no rest to compare with");
    const modal_stretch_output output = {wanted[MODAL_AREA_RATIO], wanted[MODAL_STRETCH_MAX], wanted[MODAL_STRETCH_MIN],
                                         wanted[MODAL_STRETCH_DIRECTION]};
    const modal_stretch_rest of = {c->topology->n_vertices, c->topology->n_triangles, c->triangles, c->rest};
    return modal_stretch_frames(n_frames, c->device.n_threads, &of, positions, &output, err);
}

modal_status modal_curvature_queue(modal_curvature *c, modal_stream *stream, int64_t n_frames, const float *positions,
                                   float *const out[MODAL_CURVATURE_FIELDS], float *areas, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = c->topology->n_vertices;
    const modal_kernels *kernels = c->device.kernels;
    float *d[MODAL_CURVATURE_FIELDS] = {NULL};
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (c->options.fields[i]) d[i] = out[i];
    const modal_normals_corner_task normals = {n, n_frames, c->d_ring_offsets, c->d_ring, positions, c->scale,
                                               c->buffers[NORMALS], c->buffers[RECORDS]};
    MODAL_TRY(kernels->normals_corner(&normals, stream, err));
    const modal_curvature_surface surface = {n, n_frames, c->d_ring_offsets, c->d_ring, positions, normals.normals, c->scale,
                                             c->buffers[RECORDS]};
    const modal_curvature_output output = {.k_max = d[MODAL_K_MAX],
                                           .k_min = d[MODAL_K_MIN],
                                           .mean = d[MODAL_MEAN_CURVATURE],
                                           .gauss = d[MODAL_GAUSS_CURVATURE],
                                           .direction_max = d[MODAL_DIRECTION_MAX],
                                           .direction_min = d[MODAL_DIRECTION_MIN]};
    modal_curvature_output first = c->smooth_steps > 0 ? (modal_curvature_output){0} : output;
    first.tensors = c->buffers[TENSORS];
    if (!areas && c->smooth_steps > 0) areas = c->buffers[AREAS];
    MODAL_TRY(first_step(c, stream, &surface, &first, d[MODAL_FIT_DEGREE], areas, err));
    MODAL_TRY(diffuse(c, stream, &surface, &output, areas, err));
    if (d[MODAL_CURVATURE_DERIVATIVE]) {
        const modal_curvature_derivative_task derivative = {surface, c->buffers[TENSORS],
                                                            d[MODAL_CURVATURE_DERIVATIVE]};
        MODAL_TRY(kernels->curvature_derivative(&derivative, stream, err));
    }
    for (int64_t f = 0; d[MODAL_BOUNDARY] && f < n_frames; f++)
        MODAL_TRY(modal_device_copy(&c->device, d[MODAL_BOUNDARY] + n * f, c->d_boundary, n * (int64_t)sizeof(float), stream, err));
done:
    return status;
}

modal_status modal_curvature_compute(modal_curvature *c, int64_t n_frames, const float *positions,
                                     float *const out[MODAL_CURVATURE_FIELDS], float *areas, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t points = c->topology->n_vertices * n_frames;
    const int shares = c->device.shares_memory;
    float *d[MODAL_CURVATURE_FIELDS] = {NULL}, *d_areas = areas;
    const float *x = positions;
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) {
        if (!c->options.fields[i] || modal_curvature_is_stretch((modal_curvature_field)i)) continue;
        if (!shares) MODAL_TRY(need_buffer(c, i, err));
        d[i] = shares ? out[i] : c->buffers[i];
    }
    if (!shares) {
        MODAL_TRY(need_buffer(c, POSITIONS, err));
        if (areas) MODAL_TRY(need_buffer(c, AREAS, err));
        if (areas) d_areas = c->buffers[AREAS];
        MODAL_TRY(modal_device_copy_in(&c->device, c->buffers[POSITIONS], positions, 12 * points, c->stream, err));
        x = c->buffers[POSITIONS];
    }
    MODAL_TRY(modal_curvature_queue(c, c->stream, n_frames, x, d, d_areas, err));
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (d[i]) MODAL_TRY(copy_out(c, out[i], d[i], points * components_of(i), err));
    if (areas) MODAL_TRY(copy_out(c, areas, d_areas, points, err));
    MODAL_TRY(modal_device_stream_wait(&c->device, c->stream, err));
    MODAL_TRY(stretch(c, n_frames, positions, out, err));
done:
    return status;
}
