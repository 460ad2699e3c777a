/* SPDX-License-Identifier: Apache-2.0 */
/* snapshots.h5 instead of a trajectory: displacements of all nodes of a solid, which is in the file. Its boundary, or its nodes and
 * elements, stand where the basis of a trajectory does, as a shape without modes; frames are read instead of computed. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "formats/sequences/sequence_glb.h"
#include "formats/sequences/sequence_wav.h"
#include "formats/snapshots/snapshots_check.h"
#include "formats/snapshots/snapshots_h5.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/deform/normals_stage.h"
#include "lib/deform/source.h"
#include "lib/frames/reading.h"
#include "lib/laws/law.h"
#include "tools/common/given_basis.h"
#include "tools/modaldeform/modaldeform.h"

enum { NEIGHBOURS = 3, SLOTS = 3 };

struct modaldeform_snapshots {
    const modaldeform_request *r;
    modaldeform_input *in;
    modal_snapshots_solid solid; /* what in->stress took of the mesh is gone */
    modal_snapshots *file;
    int64_t n_nodes, n_frames;
    int32_t *node_of;            /* [n_points] */
    double *nodes;               /* [n_nodes, 3] */
    double *times;               /* [n_frames] of the file; borrowed */
    double *u[NEIGHBOURS];       /* displacements of frames held[i], -1: none */
    int64_t held[NEIGHBOURS];
    modal_device device;
    int64_t most_frames;
    modal_array_list arrays;     /* the plan's */
    modal_normals_stage normals;
    modal_reading *reading;
};

/* ---- the command line ---- */

modal_status modaldeform_find_snapshots(const tool *t, modaldeform_request *r, modal_error *err)
{
    static const char *const others[] = {"basis", "modes", "amplitude", "show", "look"};
    modal_error ignored = {0};
    char *kind = NULL;
    r->snapshots = !r->from_stdin && modal_h5_file_kind(r->trajectory_path, &kind, &ignored) == MODAL_OK && strcmp(kind, "snapshots") == 0;
    modal_free(&kind);
    for (size_t i = 0; r->snapshots && i < sizeof others / sizeof *others; i++)
        if (tool_count(&t->arguments, others[i]) > 0)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: is not for snapshots of a whole solid, %s", others[i], r->trajectory_path);
    return MODAL_OK;
}

modal_status modaldeform_check_snapshots(const tool *t, const modaldeform_request *r, modal_error *err)
{
    if (!r->snapshots) return MODAL_OK;
    for (int i = 0; i < r->n_formats; i++)
        if (r->formats[i] == &modal_sequence_glb || r->formats[i] == &modal_sequence_wav)
            return modal_error_set(err, MODAL_ERROR_USAGE,
                                   "--format: %s is made of modes, which snapshots have not (modalsim BASIS.h5 TRAJ.h5 --project %s makes a "
                                   "trajectory of them)",
                                   r->formats[i]->name, r->trajectory_path);
    if (r->deform.normals == MODAL_NORMALS_RIGID || r->deform.tangents != MODAL_TANGENTS_NONE)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: snapshots have neither rigid frames nor texture coordinates, %s",
                               r->deform.tangents != MODAL_TANGENTS_NONE ? "tangents" : "normals",
                               r->deform.tangents != MODAL_TANGENTS_NONE ? r->tangents_name : r->normals_name);
    if (r->deform.stored_order)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--order: snapshots have the order of the mesh, %s", r->order);
    if (r->slow_motion == 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--slow-motion: auto is for modes, of snapshots give a factor, %s",
                               tool_value(&t->arguments, "slow-motion"));
    return MODAL_OK;
}

/* ---- the solid ---- */

/* What --fields wants of the elements; the mesh goes there. */
static modal_status begin_stress(const modaldeform_request *r, modaldeform_snapshots *s, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = &s->solid.mesh;
    if (!mesh->element_material) MODAL_FAIL(err, MODAL_ERROR_INPUT, "/solid/materials: missing, which --fields%s needs", r->fields_text + 9);
    if (!s->solid.laws) { /* as modaltled would take them */
        MODAL_TRY(modal_alloc(&s->solid.laws, mesh->n_elements, 1, "laws", err));
        for (int64_t e = 0; e < mesh->n_elements; e++) {
            const int law = mesh->materials[mesh->element_material[e]].law;
            s->solid.laws[e] = (uint8_t)(law ? law : MODAL_LAW_NEO_HOOKEAN);
        }
    }
    MODAL_TRY(modal_stress_frames_of(&in->stress, mesh, s->solid.laws, s->solid.patches, &r->arrays, MODAL_FROM_STAGES, err));
done:
    return status;
}

/* The head of a trajectory: times, how far to trust it, and how the file came to be. */
static modal_status make_head(modal_snapshots_contents *c, modal_trajectory *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&q->mode_offsets, 2, sizeof *q->mode_offsets, "coordinates", err));
    q->n_objects = 1;
    q->n_frames = c->n_snapshots;
    q->times = c->times;
    q->quality = c->quality;
    q->provenance = c->provenance;
    q->n_provenance = c->n_provenance;
    c->times = NULL;
    c->quality = NULL;
    c->provenance = NULL;
    c->n_provenance = 0;
done:
    return status;
}

modal_status modaldeform_read_snapshots(modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_snapshots_contents c = {0};
    modaldeform_snapshots *s = NULL;
    int single, named = 0;
    MODAL_TRY(modal_alloc_zero(&s, 1, sizeof *s, "snapshots", err));
    in->snapshots = s;
    s->r = r;
    s->in = in;
    for (int i = 0; i < NEIGHBOURS; i++) s->held[i] = -1;
    status = modal_snapshots_describe(r->trajectory_path, &c, err);
    named = status != MODAL_OK;
    if (status != MODAL_OK) goto done;
    if (!c.has_solid) MODAL_FAIL(err, MODAL_ERROR_INPUT, "/solid: missing (modaltled --fields solid writes it)");
    if (!c.times) MODAL_FAIL(err, MODAL_ERROR_INPUT, "/times: missing, which a sequence needs");
    if (c.solid.n_triangles == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "/solid/triangles: none");
    s->solid = c.solid;
    c.solid = (modal_snapshots_solid){0};
    s->n_nodes = c.n_nodes;
    s->n_frames = c.n_snapshots;
    MODAL_TRY(modal_alloc(&s->nodes, 3 * s->n_nodes, sizeof *s->nodes, "nodes", err));
    memcpy(s->nodes, s->solid.mesh.nodes, (size_t)(3 * s->n_nodes) * sizeof *s->nodes);
    MODAL_TRY(make_head(&c, &in->trajectory, err));
    s->times = in->trajectory.times;
    MODAL_TRY(tool_given_basis(s->n_nodes, s->nodes, r->volume ? 0 : s->solid.n_triangles, s->solid.triangles, r->volume, &in->basis, &s->node_of, err));
    if (r->volume) MODAL_TRY(modal_solid_cells_of(&s->solid.mesh, &in->cells, err));
    if (r->stress) MODAL_TRY(begin_stress(r, s, in, err));
    for (int i = 0; i < (r->speed ? NEIGHBOURS : 1); i++) MODAL_TRY(modal_alloc(&s->u[i], 3 * s->n_nodes, sizeof(double), "snapshot", err));
    MODAL_TRY(modal_device_open(&s->device, r->deform.back_end, err));
    MODAL_TRY(modal_hash_file(r->trajectory_path, in->trajectory_hash, err));
    status = modal_snapshots_open(&s->file, r->trajectory_path, s->n_nodes, s->nodes, &s->n_frames, &single, err);
    named = status != MODAL_OK;
done:
    modal_snapshots_contents_free(&c);
    if (status == MODAL_ERROR_INPUT && !named) modal_error_context(err, "%s", r->trajectory_path);
    return status;
}

const modal_device *modaldeform_snapshots_device(const modaldeform_snapshots *s) { return &s->device; }

modaldeform_snapshots *modaldeform_snapshots_delete(modaldeform_snapshots *s)
{
    if (!s) return NULL;
    s->reading = modal_reading_delete(s->reading);
    modal_snapshots_close(s->file);
    modal_snapshots_solid_free(&s->solid);
    for (int i = 0; i < NEIGHBOURS; i++) modal_free(&s->u[i]);
    modal_free(&s->node_of);
    modal_free(&s->nodes);
    modal_free(&s);
    return NULL;
}

/* ---- memory ---- */

int64_t modaldeform_snapshots_bytes(const modaldeform_snapshots *s)
{
    const modal_volume_mesh *m = &s->solid.mesh;
    const int64_t kept = m->n_elements * 20 + (m->n_elements ? 4 * m->element_offsets[m->n_elements] : 0);
    return s->n_nodes * (24 + 24 + 16 + 8 + 24 * (s->u[1] ? NEIGHBOURS : 1)) + 12 * s->solid.n_triangles + kept;
}

modal_status modaldeform_snapshots_batch(modaldeform_snapshots *s, int64_t frame_bytes, int64_t held, modal_error *err)
{
    enum { BATCH_BYTES = 32 << 20, MOST_FRAMES = 16 };
    const int64_t limit = s->r->memory_limit;
    s->most_frames = BATCH_BYTES / frame_bytes;
    if (s->most_frames > MOST_FRAMES) s->most_frames = MOST_FRAMES;
    if (s->most_frames > s->in->n) s->most_frames = s->in->n;
    if (s->most_frames < 1) s->most_frames = 1;
    if (limit == 0) return MODAL_OK;
    const int64_t fit = (limit - held) / (SLOTS * frame_bytes);
    if (fit < 1)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "--memory-limit: one frame takes %" PRId64 " bytes, %" PRId64,
                               held + SLOTS * frame_bytes, limit);
    if (fit < s->most_frames) s->most_frames = fit;
    return MODAL_OK;
}

/* ---- the frames ---- */

modal_status modaldeform_plan_snapshots(const modaldeform_request *r, modaldeform_input *in, modal_frame_plan *plan, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaldeform_snapshots *s = in->snapshots;
    const int normals = r->deform.normals == MODAL_NORMALS_DYNAMIC;
    *plan = (modal_frame_plan){0};
    s->normals = (modal_normals_stage){&in->basis.shapes[0].surface, 0, -1};
    for (int i = 0; i < r->arrays.n; i++) {
        const modal_array *a = &r->arrays.all[i];
        const int made = a->source == MODAL_FROM_NORMALS || a->source >= MODALDEFORM_FROM_CURVATURE;
        const modal_array_place place = made ? MODAL_TAKEN : i == 0 && (normals || r->curved) ? MODAL_UPLOADED : MODAL_READ;
        if (a->source == MODAL_FROM_NORMALS) s->normals.normals = i;
        MODAL_TRY(modal_frame_plan_add(plan, a, a->of_cells ? in->cells.n_cells : in->n_points, place, err));
    }
    if (normals) plan->stages[plan->n_stages++] = modal_normals_stage_of(&s->normals);
done:
    return status;
}

/* Displacements of a frame of the file. Among at most three neighbours none is thrown away for another. */
static modal_status load(modaldeform_snapshots *s, int64_t frame, const double **u, modal_error *err)
{
    const int n = s->u[1] ? NEIGHBOURS : 1, at = (int)(frame % n);
    modal_status status = MODAL_OK;
    if (s->held[at] != frame) {
        s->held[at] = -1;
        pthread_mutex_lock(&s->in->hdf5);
        status = modal_snapshots_read(s->file, frame, 1, s->u[at], err);
        pthread_mutex_unlock(&s->in->hdf5);
        if (status == MODAL_OK) s->held[at] = frame;
    }
    *u = s->u[at];
    return status;
}

/* The length of the velocity: differences over both neighbours, one-sided at the ends, as those of a trajectory. */
static modal_status put_speed(modaldeform_snapshots *s, int64_t frame, float *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t before = frame > 0 ? frame - 1 : frame, after = frame + 1 < s->n_frames ? frame + 1 : frame;
    const double span = s->times[after] - s->times[before];
    const double *a, *b;
    MODAL_TRY(load(s, before, &a, err));
    MODAL_TRY(load(s, after, &b, err));
    for (int64_t p = 0; p < s->in->n_points; p++) {
        const double *x = a + 3 * (int64_t)s->node_of[p], *y = b + 3 * (int64_t)s->node_of[p];
        to[p] = (float)(hypot(hypot(y[0] - x[0], y[1] - x[1]), y[2] - x[2]) / span);
    }
done:
    return status;
}

/* Values of cells, or of the nodes that are points. */
static void put_values(const modaldeform_snapshots *s, const modal_array *a, float *to)
{
    const float *from = modal_stress_frames_values(s->in->stress, a->source - MODAL_FROM_STAGES);
    const size_t row = (size_t)a->components * sizeof *to;
    if (a->of_cells) {
        memcpy(to, from, row * (size_t)s->in->cells.n_cells);
        return;
    }
    for (int64_t p = 0; p < s->in->n_points; p++) memcpy(to + a->components * p, from + a->components * (int64_t)s->node_of[p], row);
}

/* What does not fit float32 is refused by name. */
static modal_status check_fits(const modaldeform_snapshots *s, int64_t frame, const modal_array *a, const float *values, modal_error *err)
{
    const int64_t n = a->components * s->in->n_points;
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s: snapshot %" PRId64 ": %s of node %" PRId64 " does not fit float32",
                                   s->r->trajectory_path, frame, a->name, (int64_t)s->node_of[i / a->components]);
    return MODAL_OK;
}

static modal_status read_frame(void *self, int64_t number, float *const to[MODAL_MOST_ARRAYS], modal_error *err)
{
    modal_status status = MODAL_OK;
    modaldeform_snapshots *s = self;
    const int64_t frame = s->in->start + number * s->in->step;
    const double *u;
    MODAL_TRY(load(s, frame, &u, err));
    if (s->in->stress) MODAL_TRY(modal_stress_frames_moved(s->in->stress, u, frame, s->r->threads, err));
    for (int i = 0; i < s->arrays.n; i++) {
        const modal_array *a = &s->arrays.all[i];
        if (!to[i]) continue;
        if (a->source >= MODAL_FROM_STAGES) {
            put_values(s, a, to[i]);
            continue;
        }
        if (a->source == MODAL_FROM_SPEED) MODAL_TRY(put_speed(s, frame, to[i], err));
        for (int64_t p = 0; a->source != MODAL_FROM_SPEED && p < s->in->n_points; p++)
            for (int k = 0; k < 3; k++) {
                const int64_t at = 3 * (int64_t)s->node_of[p] + k;
                to[i][3 * p + k] = (float)(a->source == MODAL_FROM_POSITIONS ? s->nodes[at] + u[at] : u[at]);
            }
        MODAL_TRY(check_fits(s, frame, a, to[i], err));
    }
done:
    return status;
}

modal_status modaldeform_snapshots_source(modaldeform_snapshots *s, const modal_frame_plan *plan, modal_frame_source *as, modal_error *err)
{
    const modal_reading_request request = {.device = &s->device, .plan = plan, .most_frames = s->most_frames, .reader = s,
                                           .read = read_frame, .doing = "read"};
    s->arrays = plan->list;
    s->reading = modal_reading_delete(s->reading); /* of the frames before */
    return modal_reading_new(&s->reading, &request, as, err);
}
