/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that are given: snapshots.h5 with its solid, whose boundary is drawn, and sequence.vtkhdf. Their surface stands where that of a basis
 * does, as a shape without modes; positions are read, and all else is made of them on the device as for a trajectory. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/sequences/sequence_read.h"
#include "formats/snapshots/snapshots_check.h"
#include "formats/snapshots/snapshots_h5.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/deform/normals_stage.h"
#include "tools/common/given_basis.h"
#include "tools/modalrender/modalrender.h"

struct modalrender_given {
    const modalrender_request *r;
    modalrender_input *in;
    modal_sequence_reader *sequence; /* or NULL */
    modal_snapshots *snapshots;      /* or NULL */
    int64_t n_nodes;
    int32_t *node_of; /* [n_points] */
    double *nodes;    /* [n_nodes, 3] of snapshots: at rest */
    double *u;        /* [n_nodes, 3] of snapshots: of one frame */
    float *all;       /* [n_nodes, 3] of a sequence: of one frame */
    modal_device device;
    modal_normals_stage normals;
    int positions; /* the plan's array */
};

/* ---- the file ---- */

static modal_status refuse_options(const tool *t, const modalrender_request *r, modal_error *err)
{
    if (tool_count(&t->arguments, "basis"))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--basis: is not for frames that are given, %s", r->input);
    if (r->normals != MODAL_NORMALS_DYNAMIC)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--normals: frames that are given have no rigid frames, %s", r->normals_name);
    if (strchr(r->back_end, ',') || strcmp(r->back_end, "cuda:all") == 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--backend: frames that are given are drawn by one device, %s", r->back_end);
    return MODAL_OK;
}

/* Times of n frames, which increase: those of the file. */
static modal_status make_head(modal_trajectory *q, int64_t n, const double *times, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&q->mode_offsets, 2, sizeof *q->mode_offsets, "coordinates", err));
    MODAL_TRY(modal_alloc(&q->times, n, sizeof *q->times, "times", err));
    memcpy(q->times, times, (size_t)n * sizeof *times);
    q->n_objects = 1;
    q->n_frames = n;
done:
    return status;
}

static modal_status open_sequence(modalrender_given *g, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sequence_surface s;
    int32_t *triangles = NULL;
    MODAL_TRY(modal_sequence_reader_open(&g->sequence, g->r->input, &s, err));
    if (s.n_points > INT32_MAX || s.n_triangles > INT32_MAX / 3)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: more points or triangles than 31 bits number, %" PRId64 " and %" PRId64, g->r->input, s.n_points,
                   s.n_triangles);
    g->n_nodes = s.n_points;
    MODAL_TRY(modal_alloc(&g->all, 3 * g->n_nodes, sizeof *g->all, "points", err));
    MODAL_TRY(modal_alloc(&g->nodes, 3 * g->n_nodes, sizeof *g->nodes, "points", err));
    MODAL_TRY(modal_alloc(&triangles, 3 * s.n_triangles, sizeof *triangles, "triangles", err));
    for (int64_t i = 0; i < 3 * s.n_triangles; i++) triangles[i] = (int32_t)s.triangles[i];
    MODAL_TRY(modal_sequence_reader_points(g->sequence, 0, g->all, err)); /* the first frame stands for the rest */
    for (int64_t i = 0; i < 3 * g->n_nodes; i++) g->nodes[i] = (double)g->all[i];
    MODAL_TRY(make_head(&g->in->trajectory, s.n_frames, s.times, err));
    status = tool_given_basis(g->n_nodes, g->nodes, s.n_triangles, triangles, 0, &g->in->basis, &g->node_of, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", g->r->input);
done:
    modal_free(&triangles);
    return status;
}

static modal_status open_snapshots(modalrender_given *g, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_snapshots_contents c = {0};
    int single;
    int64_t n;
    const char *path = g->r->input;
    MODAL_TRY(modal_snapshots_describe(path, &c, err));
    if (!c.has_solid || c.solid.n_triangles == 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: /solid/triangles: missing (modaltled --fields solid writes it)", path);
    if (!c.times) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: /times: missing, which a motion needs", path);
    g->n_nodes = c.n_nodes;
    MODAL_TRY(modal_alloc(&g->nodes, 3 * g->n_nodes, sizeof *g->nodes, "nodes", err));
    MODAL_TRY(modal_alloc(&g->u, 3 * g->n_nodes, sizeof *g->u, "snapshot", err));
    memcpy(g->nodes, c.solid.mesh.nodes, (size_t)(3 * g->n_nodes) * sizeof *g->nodes);
    MODAL_TRY(make_head(&g->in->trajectory, c.n_snapshots, c.times, err));
    MODAL_TRY(modal_provenance_append_copies(&g->in->trajectory.provenance, &g->in->trajectory.n_provenance, c.provenance, c.n_provenance, err));
    status = tool_given_basis(g->n_nodes, g->nodes, c.solid.n_triangles, c.solid.triangles, 0, &g->in->basis, &g->node_of, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", path);
    if (status == MODAL_OK) status = modal_snapshots_open(&g->snapshots, path, g->n_nodes, g->nodes, &n, &single, err);
done:
    modal_snapshots_contents_free(&c);
    return status;
}

modal_status modalrender_read_given(const tool *t, const modalrender_request *r, modalrender_input *in, const char *kind, modal_error *err)
{
    modal_status status = MODAL_OK;
    modalrender_given *g = NULL;
    MODAL_TRY(refuse_options(t, r, err));
    MODAL_TRY(modal_alloc_zero(&g, 1, sizeof *g, "frames", err));
    in->given = g;
    g->r = r, g->in = in;
    MODAL_TRY(modal_device_open(&g->device, r->back_end, err));
    MODAL_TRY(strcmp(kind, "sequence") == 0 ? open_sequence(g, err) : open_snapshots(g, err));
    modal_surface *s = &in->basis.shapes[0].surface;
    for (int64_t p = 0; p < s->n_vertices; p++) s->user_vertex[p] = g->node_of[p];
    MODAL_TRY(modal_hash_file(r->input, in->trajectory_hash, err));
done:
    return status;
}

modalrender_given *modalrender_given_delete(modalrender_given *g)
{
    if (!g) return NULL;
    modal_sequence_reader_close(g->sequence);
    modal_snapshots_close(g->snapshots);
    modal_free(&g->node_of);
    modal_free(&g->nodes);
    modal_free(&g->u);
    modal_free(&g->all);
    modal_free(&g);
    return NULL;
}

/* ---- frames ---- */

/* points [n_points, 3] of a frame of the file. One thread at a time. */
static modal_status read_points(modalrender_given *g, int64_t frame, float *points, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = g->in->basis.shapes[0].surface.n_vertices;
    pthread_mutex_lock(&g->in->hdf5);
    status = g->sequence ? modal_sequence_reader_points(g->sequence, frame, g->all, err) : modal_snapshots_read(g->snapshots, frame, 1, g->u, err);
    pthread_mutex_unlock(&g->in->hdf5);
    if (status != MODAL_OK) return status;
    for (int64_t i = 0; i < 3 * n; i++) {
        const int64_t at = 3 * (int64_t)g->node_of[i / 3] + i % 3;
        points[i] = g->sequence ? g->all[at] : (float)(g->nodes[at] + g->u[at]);
        if (!isfinite(points[i]))
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s: frame %" PRId64 ": position of node %d does not fit float32", g->r->input, frame,
                                   g->node_of[i / 3]);
    }
    return MODAL_OK;
}

modal_status modalrender_given_bounds(const modalrender_input *in, modal_render_bounds *bounds, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = in->basis.shapes[0].surface.n_vertices;
    float *points = NULL;
    MODAL_TRY(modal_alloc(&points, 3 * n, sizeof *points, "points", err));
    for (int64_t f = 0; f < in->trajectory.n_frames; f++) {
        MODAL_TRY(read_points(in->given, f, points, err));
        modal_render_bounds_add(bounds, 0, n, points);
    }
done:
    modal_free(&points);
    return status;
}

static modal_status read_frame(void *self, int64_t number, float *const to[MODAL_MOST_ARRAYS], modal_error *err)
{
    modalrender_given *g = self;
    return read_points(g, g->in->start + number * g->in->step, to[g->positions], err);
}

void modalrender_given_normals(modalrender_input *in, modal_frame_plan *plan, int positions, int normals)
{
    in->given->normals = (modal_normals_stage){&in->basis.shapes[0].surface, positions, normals};
    plan->stages[plan->n_stages++] = modal_normals_stage_of(&in->given->normals);
}

const modal_device *modalrender_given_device(const modalrender_given *g) { return &g->device; }

modal_status modalrender_given_source(modalrender_input *in, const modal_frame_plan *plan, int positions, int64_t held, modal_reading **reading,
                                      modal_frame_source *as, modal_error *err)
{
    enum { BATCH_BYTES = 64 << 20, MOST_FRAMES = 16, SLOTS = 3 };
    modalrender_given *g = in->given;
    const int64_t limit = g->r->memory_limit;
    int64_t host, on_device, most = MOST_FRAMES;
    if (!modal_frame_plan_bytes(plan, &g->device, &host, &on_device))
        return modal_error_set(err, MODAL_ERROR_MEMORY, "frame: its size does not fit 63 bits, %d x %d", g->r->width, g->r->height);
    const int64_t frame_bytes = g->device.shares_memory ? host + on_device : host;
    if (limit > 0) {
        held += 60 * g->n_nodes + (g->device.shares_memory ? modal_frame_plan_stage_bytes(plan, &g->device, 1) : 0);
        if (held + SLOTS * frame_bytes > limit)
            return modal_error_set(err, MODAL_ERROR_MEMORY, "--memory-limit: one frame needs %" PRId64 " bytes, %" PRId64, held + SLOTS * frame_bytes,
                                   limit);
        if (most > (limit - held) / (SLOTS * frame_bytes)) most = (limit - held) / (SLOTS * frame_bytes);
    }
    if (most > BATCH_BYTES / frame_bytes) most = BATCH_BYTES / frame_bytes;
    if (most > in->n) most = in->n;
    g->positions = positions;
    const modal_reading_request request = {.device = &g->device, .plan = plan, .most_frames = most > 1 ? most : 1, .reader = g,
                                           .read = read_frame, .doing = "draw"};
    return modal_reading_new(reading, &request, as, err);
}
