/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fem/stress_frames.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/finite.h"
#include "lib/base/memory.h"
#include "lib/fem/stress.h"
#include "lib/model/node_modes.h"

enum { STRAIN, STRESS, VON_MISES, JACOBIAN, PRESSURE, OF_NODES, N_VALUES = 2 * OF_NODES };

static const struct {
    const char *name, *unit;
    int components;
} described[N_VALUES] = {
    {"strain", "1", 6},       {"stress", "Pa", 6},       {"von_mises", "Pa", 1},       {"jacobian", "1", 1},       {"pressure", "Pa", 1},
    {"strain_nodes", "1", 6}, {"stress_nodes", "Pa", 6}, {"von_mises_nodes", "Pa", 1}, {"jacobian_nodes", "1", 1}, {"pressure_nodes", "Pa", 1},
};

typedef struct stressed_shape {
    modal_volume_mesh mesh; /* of the basis, whose nodes have become points: these are copies */
    double *modes;          /* [n_modes, n_nodes, 3] */
    int32_t n_modes;
    modal_stress *stress;
} stressed_shape;

struct modal_stress_frames {
    int32_t n_shapes, n_objects;
    stressed_shape *shapes;
    int32_t *shape_of;    /* [n_objects] */
    double *rest_poses;   /* [n_objects, 12] */
    double *u;            /* [most nodes, 3] */
    double *own[N_VALUES]; /* of one object; NULL: not wanted */
    float *values[N_VALUES]; /* of a frame */
    int64_t n_cells, n_nodes, n_inverted; /* frames with an element inside out */
    int64_t first_inverted, inverted_element;
    int32_t inverted_object;
};

modal_array modal_stress_frames_array(int value)
{
    modal_array array = {.components = described[value].components, .of_cells = value < OF_NODES};
    strcpy(array.name, described[value].name);
    strcpy(array.unit, described[value].unit);
    return array;
}

const float *modal_stress_frames_values(const modal_stress_frames *s, int value) { return s->values[value]; }

int64_t modal_stress_frames_bytes(const modal_stress_frames *s)
{
    int64_t bytes = 0, most_nodes = 0, most_cells = 0, width[2] = {0};
    for (int i = 0; i < N_VALUES; i++)
        if (s->values[i]) width[i < OF_NODES] += described[i].components;
    for (int32_t i = 0; i < s->n_shapes; i++) {
        const modal_volume_mesh *mesh = &s->shapes[i].mesh;
        bytes += 24 * mesh->n_nodes * s->shapes[i].n_modes + 8 * mesh->n_nodes + 24 * mesh->n_elements;
        if (mesh->n_nodes > most_nodes) most_nodes = mesh->n_nodes;
        if (mesh->n_elements > most_cells) most_cells = mesh->n_elements;
    }
    return bytes + 24 * most_nodes + width[0] * (4 * s->n_nodes + 8 * most_nodes) + width[1] * (4 * s->n_cells + 8 * most_cells);
}

/* What the shape's solid needs, before its nodes become points. */
static modal_status keep_shape(const modal_shape *from, stressed_shape *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_node_modes modes = {0};
    const int64_t n = 3 * from->solid.mesh.n_nodes;
    to->n_modes = from->modes.n_modes;
    MODAL_TRY(modal_node_modes_init(&modes, from, err));
    MODAL_TRY(modal_alloc(&to->modes, n * from->modes.n_modes, sizeof *to->modes, "modes at the nodes", err));
    for (int32_t k = 0; k < from->modes.n_modes; k++) modal_node_modes_get(&modes, k, to->modes + n * k);
    MODAL_TRY(modal_alloc(&to->mesh.nodes, n, sizeof *to->mesh.nodes, "nodes", err));
    memcpy(to->mesh.nodes, from->solid.mesh.nodes, (size_t)n * sizeof *to->mesh.nodes);
done:
    modal_node_modes_free(&modes);
    return status;
}

modal_status modal_stress_frames_keep(modal_stress_frames **stress, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_stress_frames *s = NULL;
    *stress = NULL;
    MODAL_TRY(modal_alloc_zero(&s, 1, sizeof *s, "stress", err));
    *stress = s;
    MODAL_TRY(modal_alloc_zero(&s->shapes, basis->n_shapes, sizeof *s->shapes, "stress", err));
    s->n_shapes = basis->n_shapes;
    for (int32_t i = 0; i < basis->n_shapes; i++)
        if (modal_shape_has_node_modes(&basis->shapes[i])) MODAL_TRY(keep_shape(&basis->shapes[i], &s->shapes[i], err));
done:
    return status;
}

/* Room for the values that are wanted. */
static modal_status new_values(modal_stress_frames *s, const modal_array_list *arrays, int first_source, int64_t most_nodes,
                               int64_t most_cells, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < arrays->n; i++) {
        const int value = arrays->all[i].source - first_source;
        if (value < 0 || value >= N_VALUES) continue;
        const int64_t rows = value < OF_NODES ? s->n_cells : s->n_nodes, most = value < OF_NODES ? most_cells : most_nodes;
        MODAL_TRY(modal_alloc(&s->own[value], described[value].components * most, sizeof(double), "stress", err));
        MODAL_TRY(modal_alloc(&s->values[value], described[value].components * rows, sizeof(float), "stress", err));
    }
done:
    return status;
}

modal_status modal_stress_frames_begin(modal_stress_frames *s, modal_basis *basis, const modal_array_list *arrays, int first_source,
                                      modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t most_nodes = 0, most_cells = 0;
    MODAL_TRY(modal_alloc(&s->shape_of, basis->n_objects, sizeof *s->shape_of, "stress", err));
    MODAL_TRY(modal_alloc(&s->rest_poses, 12 * (int64_t)basis->n_objects, sizeof *s->rest_poses, "stress", err));
    s->n_objects = basis->n_objects;
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        stressed_shape *to = &s->shapes[i];
        modal_volume_mesh *from = &basis->shapes[i].solid.mesh;
        double *nodes = to->mesh.nodes;
        to->mesh = *from; /* moves: the basis needs its solids no more */
        memset(from, 0, sizeof *from);
        to->mesh.nodes = nodes;
        MODAL_TRY(modal_stress_new(&to->stress, &to->mesh, err));
        if (to->mesh.n_nodes > most_nodes) most_nodes = to->mesh.n_nodes;
        if (to->mesh.n_elements > most_cells) most_cells = to->mesh.n_elements;
    }
    for (int32_t i = 0; i < basis->n_objects; i++) {
        s->shape_of[i] = basis->objects[i].shape;
        memcpy(s->rest_poses + 12 * (int64_t)i, basis->objects[i].rest_pose, 12 * sizeof(double));
        s->n_nodes += s->shapes[s->shape_of[i]].mesh.n_nodes;
        s->n_cells += s->shapes[s->shape_of[i]].mesh.n_elements;
    }
    MODAL_TRY(modal_alloc(&s->u, 3 * most_nodes, sizeof *s->u, "stress", err));
    MODAL_TRY(new_values(s, arrays, first_source, most_nodes, most_cells, err));
done:
    return status;
}

/* Puts an object's values at their rows; MODAL_ERROR_INPUT where one is not finite. */
static modal_status put(modal_stress_frames *s, int value, int32_t object, int64_t frame, int64_t first, int64_t n, modal_error *err)
{
    const int width = described[value].components;
    float *to = s->values[value] + width * first;
    for (int64_t i = 0; i < width * n; i++) to[i] = (float)s->own[value][i];
    const int64_t place = modal_first_nonfinite(to, width * n);
    if (place == width * n) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INPUT, "frame %" PRId64 ", object %d: %s of %s %" PRId64 " does not fit float32, %g", frame,
                           object, described[value].name, value < OF_NODES ? "element" : "node", place / width,
                           s->own[value][place]);
}

static modal_stress_arrays arrays_of(const modal_stress_frames *s)
{
    return (modal_stress_arrays){s->own[STRAIN], s->own[STRESS], s->own[VON_MISES], s->own[OF_NODES + STRAIN], s->own[OF_NODES + STRESS],
                                 s->own[OF_NODES + VON_MISES], s->own[JACOBIAN], s->own[OF_NODES + JACOBIAN], s->own[PRESSURE], s->own[OF_NODES + PRESSURE]};
}

/* ---- snapshots: one solid, whose displacements are given ---- */

modal_status modal_stress_frames_of(modal_stress_frames **stress, modal_volume_mesh *mesh, const uint8_t *laws, const int32_t *patches,
                                   const modal_array_list *arrays, int first_source, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_stress_frames *s = NULL;
    *stress = NULL;
    MODAL_TRY(modal_alloc_zero(&s, 1, sizeof *s, "stress", err));
    *stress = s;
    MODAL_TRY(modal_alloc_zero(&s->shapes, 1, sizeof *s->shapes, "stress", err));
    s->n_shapes = s->n_objects = 1;
    s->shapes[0].mesh = *mesh; /* moves */
    memset(mesh, 0, sizeof *mesh);
    mesh = &s->shapes[0].mesh;
    MODAL_TRY(modal_stress_new(&s->shapes[0].stress, mesh, err));
    modal_stress_set_laws(s->shapes[0].stress, laws);
    if (patches) MODAL_TRY(modal_stress_set_patches(s->shapes[0].stress, patches, err));
    s->n_nodes = mesh->n_nodes;
    s->n_cells = mesh->n_elements;
    MODAL_TRY(new_values(s, arrays, first_source, mesh->n_nodes, mesh->n_elements, err));
done:
    return status;
}

modal_status modal_stress_frames_moved(modal_stress_frames *s, const double *u, int64_t frame, int n_threads, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t inverted;
    const modal_stress_arrays arrays = arrays_of(s);
    MODAL_TRY(modal_stress_compute(s->shapes[0].stress, MODAL_LAW_STVK, u, NULL, n_threads, &arrays, &inverted, err));
    if (inverted >= 0 && s->n_inverted++ == 0) {
        s->first_inverted = frame;
        s->inverted_element = s->shapes[0].mesh.element_tags[inverted];
    }
    for (int value = 0; value < N_VALUES; value++)
        if (s->own[value]) MODAL_TRY(put(s, value, 0, frame, 0, value < OF_NODES ? s->n_cells : s->n_nodes, err));
done:
    return status;
}

/* ---- trajectories ---- */

modal_status modal_stress_frames_make(modal_stress_frames *s, const modal_trajectory *q, int64_t frame, int n_threads, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t first_cell = 0, first_node = 0;
    const modal_stress_arrays arrays = arrays_of(s);
    for (int32_t i = 0; i < s->n_objects; i++) {
        const stressed_shape *shape = &s->shapes[s->shape_of[i]];
        const int64_t n_nodes = shape->mesh.n_nodes, n_cells = shape->mesh.n_elements;
        const double *own = q->q + frame * q->mode_offsets[q->n_objects] + q->mode_offsets[i];
        const double *pose = q->poses ? q->poses + 12 * (frame * q->n_objects + i) : s->rest_poses + 12 * (int64_t)i;
        int64_t inverted;
#pragma omp parallel for schedule(static) num_threads(modal_free_threads(n_threads))
        for (int64_t k = 0; k < 3 * n_nodes; k++) {
            double sum = 0;
            for (int32_t m = 0; m < shape->n_modes; m++) sum += own[m] * shape->modes[3 * n_nodes * m + k];
            s->u[k] = sum;
        }
        MODAL_TRY(modal_stress_compute(shape->stress, q->models && q->models[i] ? MODAL_LAW_STVK : MODAL_LAW_LINEAR, s->u, pose,
                                       n_threads, &arrays, &inverted, err));
        if (inverted >= 0 && s->n_inverted++ == 0) {
            s->first_inverted = frame;
            s->inverted_object = i;
            s->inverted_element = shape->mesh.element_tags[inverted];
        }
        for (int value = 0; value < N_VALUES; value++)
            if (s->own[value])
                MODAL_TRY(put(s, value, i, frame, value < OF_NODES ? first_cell : first_node, value < OF_NODES ? n_cells : n_nodes, err));
        first_cell += n_cells;
        first_node += n_nodes;
    }
done:
    return status;
}

int64_t modal_stress_frames_inverted(const modal_stress_frames *s, int64_t *frame, int32_t *object, int64_t *element)
{
    if (frame) *frame = s->first_inverted;
    if (object) *object = s->inverted_object;
    if (element) *element = s->inverted_element;
    return s->n_inverted;
}

modal_stress_frames *modal_stress_frames_delete(modal_stress_frames *s)
{
    if (!s) return NULL;
    for (int32_t i = 0; i < s->n_shapes; i++) {
        modal_stress_delete(s->shapes[i].stress);
        modal_volume_mesh_free(&s->shapes[i].mesh);
        modal_free(&s->shapes[i].modes);
    }
    for (int i = 0; i < N_VALUES; i++) {
        modal_free(&s->own[i]);
        modal_free(&s->values[i]);
    }
    modal_free(&s->shapes);
    modal_free(&s->shape_of);
    modal_free(&s->rest_poses);
    modal_free(&s->u);
    modal_free(&s);
    return NULL;
}
