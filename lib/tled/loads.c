/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/loads.h"

#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/tled/contacts.h"
#include "lib/tled/faces.h"

double modal_tled_signal(const modal_curve *c, double t, int holds)
{
    if (c->kind != MODAL_CURVE_KEYS || c->n_keys == 0) return modal_curve_value(c, t, t);
    const int64_t last = c->n_keys - 1;
    if (t == c->times[last] || (holds && t > c->times[last])) return c->values[last];
    return modal_curve_value(c, t, t);
}

void modal_tled_signals(const modal_solid_scene *scene, double start, double step, int64_t first, int64_t n, double *gravity,
                        int32_t n_signals, double *signals)
{
    for (int64_t k = 0; k < n; k++) {
        const double factor = modal_tled_signal(&scene->gravity_curve, start + (double)(first + k) * step, 0);
        for (int i = 0; i < 3; i++) gravity[3 * k + i] = factor * scene->gravity[i];
    }
    for (int64_t k = 0; k <= n; k++) {
        double *to = signals + k * n_signals, place[6];
        const double t = start + (double)(first + k) * step;
        for (int32_t a = 0; a < scene->n_actions; a++)
            *to++ = modal_tled_signal(&scene->actions[a].curve, t, scene->actions[a].kind == MODAL_SOLID_DISPLACEMENT);
        for (int32_t c = 0; c < scene->n_contacts; c++) {
            const int count = modal_tled_contact_place(&scene->contacts[c], t, place);
            memcpy(to, place, (size_t)count * sizeof *to);
            to += count;
        }
    }
}

/* Entries of loads before they are sorted by node. */
typedef struct entries {
    int64_t n, capacity, signal_capacity, vector_capacity, key_capacity;
    int32_t *nodes, *signals;
    double *vectors;
} entries;

static modal_status add_entry(entries *e, int32_t node, int32_t signal, const double vector[3], modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_grow(&e->nodes, &e->capacity, e->n + 1, sizeof *e->nodes, "loads", err));
    MODAL_TRY(modal_grow(&e->signals, &e->signal_capacity, e->n + 1, sizeof *e->signals, "loads", err));
    MODAL_TRY(modal_grow(&e->vectors, &e->vector_capacity, e->n + 1, 3 * sizeof *e->vectors, "loads", err));
    e->nodes[e->n] = node;
    e->signals[e->n] = signal;
    memcpy(e->vectors + 3 * e->n++, vector, 3 * sizeof *vector);
done:
    return status;
}

static modal_status add_force(const modal_solid_action *a, int32_t signal, const modal_tled_nodes *nodes,
                              const modal_tled_model *m, entries *e, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int64_t k = 0; k < nodes->n; k++) {
        double share[3];
        for (int i = 0; i < 3; i++)
            share[i] = a->rows ? a->rows[3 * k + i] : a->each ? a->vector[i] : a->vector[i] / (double)nodes->n;
        MODAL_TRY(add_entry(e, m->node_to[nodes->nodes[k]], signal, share, err));
    }
done:
    return status;
}

/* taken [n_faces]: those of a surface group, whose other faces are an error; where only nodes are known, those with all corners among them. */
static modal_status find_faces(const modal_solid_action *a, const modal_tled_nodes *nodes, const modal_tled_model *m, const int32_t *faces,
                               int64_t n_faces, uint8_t *taken, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *marked = NULL;
    int32_t *own = NULL;
    int64_t left;
    if (nodes->faces) {
        MODAL_TRY(modal_alloc(&own, nodes->n_faces, 4 * sizeof *own, "faces", err));
        for (int64_t k = 0; k < 4 * nodes->n_faces; k++) own[k] = nodes->faces[k] < 0 ? -1 : m->node_to[nodes->faces[k]];
        MODAL_TRY(modal_tled_boundary_of(faces, n_faces, own, nodes->n_faces, taken, &left, err));
        if (left >= 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "pressures[%d]: face %lld of the group is inside the solid or none of its faces, %s", a->place,
                       (long long)left + 1, a->nodes);
        goto done;
    }
    MODAL_TRY(modal_alloc_zero(&marked, m->solid.n_nodes, 1, "nodes", err));
    for (int64_t k = 0; k < nodes->n; k++) marked[m->node_to[nodes->nodes[k]]] = 1;
    for (int64_t f = 0; f < n_faces; f++) {
        taken[f] = 1;
        for (int k = 0; k < 4 && faces[4 * f + k] >= 0; k++) taken[f] &= marked[faces[4 * f + k]];
    }
done:
    modal_free(&marked);
    modal_free(&own);
    return status;
}

static modal_status add_pressure(const modal_solid_action *a, int32_t signal, const uint8_t *taken, const int32_t *faces,
                                 int64_t n_faces, modal_tled_solid *s, entries *e, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n = 0;
    for (int64_t f = 0; f < n_faces; f++) {
        const int32_t *c = faces + 4 * f;
        const int count = c[3] < 0 ? 3 : 4;
        if (!taken[f]) continue;
        n++;
        if (a->follows) {
            memcpy((int32_t *)s->faces + 4 * s->n_faces, c, 4 * sizeof *c);
            ((int32_t *)s->face_signals)[s->n_faces] = signal;
            ((double *)s->face_pressures)[s->n_faces++] = a->vector[0];
            continue;
        }
        double x[4][3], force[4][3];
        for (int k = 0; k < count; k++) memcpy(x[k], s->nodes + 3 * (int64_t)c[k], sizeof x[k]);
        modal_tled_face_force(count, x, force);
        for (int k = 0; k < count; k++) {
            for (int i = 0; i < 3; i++) force[k][i] *= a->vector[0];
            MODAL_TRY(add_entry(e, c[k], signal, force[k], err));
        }
    }
    if (n == 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "pressures[%d]: no face of the boundary has all its corners there, %s", a->place,
                   a->nodes);
done:
    return status;
}

/* By node; entries of one node stay in their order. */
static modal_status sort_entries(entries *e, modal_tled_solid *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint64_t *keys = NULL;
    int32_t *order = NULL, *loaded, *signals;
    int64_t *offsets;
    double *vectors;
    MODAL_TRY(modal_alloc(&keys, e->n, sizeof *keys, "loads", err));
    MODAL_TRY(modal_alloc(&order, e->n, sizeof *order, "loads", err));
    for (int64_t k = 0; k < e->n; k++) keys[k] = (uint64_t)e->nodes[k], order[k] = (int32_t)k;
    MODAL_TRY(modal_sort_by_key(e->n, keys, order, err));
    MODAL_TRY(modal_alloc(&loaded, e->n, sizeof *loaded, "loads", err));
    s->loaded = loaded;
    MODAL_TRY(modal_alloc(&offsets, e->n + 1, sizeof *offsets, "loads", err));
    s->load_offsets = offsets;
    MODAL_TRY(modal_alloc(&signals, e->n, sizeof *signals, "loads", err));
    s->load_signals = signals;
    MODAL_TRY(modal_alloc(&vectors, e->n, 3 * sizeof *vectors, "loads", err));
    s->load_vectors = vectors;
    for (int64_t k = 0; k < e->n; k++) {
        const int32_t from = order[k];
        if (k == 0 || e->nodes[from] != loaded[s->n_loaded - 1]) {
            loaded[s->n_loaded] = e->nodes[from];
            offsets[s->n_loaded++] = k;
        }
        signals[k] = e->signals[from];
        memcpy(vectors + 3 * k, e->vectors + 3 * (int64_t)from, 3 * sizeof *vectors);
    }
    offsets[s->n_loaded] = e->n;
done:
    modal_free(&keys);
    modal_free(&order);
    return status;
}

/* Signals of one prescribed displacement into all [n_nodes, 3]. */
static modal_status displace(const modal_solid_scene *scene, int32_t a, const modal_tled_nodes *nodes, const modal_tled_model *m,
                             int32_t *all, modal_error *err)
{
    const modal_solid_action *action = &scene->actions[a];
    for (int64_t k = 0; k < nodes->n; k++)
        for (int c = 0; c < 3; c++) {
            int32_t *signal = &all[3 * (int64_t)m->node_to[nodes->nodes[k]] + c];
            if (!(action->components >> c & 1)) continue;
            if (*signal == MODAL_TLED_STILL)
                return modal_error_set(err, MODAL_ERROR_INPUT, "displacements[%d]: a node of \"%s\" is held in %c (--fixed), too",
                                       action->place, action->nodes, "xyz"[c]);
            if (*signal != MODAL_TLED_FREE)
                return modal_error_set(err, MODAL_ERROR_INPUT, "displacements[%d]: a node of \"%s\" is displaced in %c by displacements[%d], too",
                                       action->place, action->nodes, "xyz"[c], scene->actions[*signal].place);
            *signal = a;
        }
    return MODAL_OK;
}

static modal_status make_held(const modal_solid_scene *scene, const int32_t *all, modal_tled_solid *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *held, *signals;
    double *values;
    int64_t n = 0;
    for (int64_t i = 0; i < s->n_nodes; i++)
        n += all[3 * i] != MODAL_TLED_FREE || all[3 * i + 1] != MODAL_TLED_FREE || all[3 * i + 2] != MODAL_TLED_FREE;
    MODAL_TRY(modal_alloc(&held, n, sizeof *held, "held nodes", err));
    s->held = held;
    MODAL_TRY(modal_alloc(&signals, n, 3 * sizeof *signals, "held nodes", err));
    s->held_signals = signals;
    MODAL_TRY(modal_alloc_zero(&values, n, 3 * sizeof *values, "held nodes", err));
    s->held_values = values;
    for (int64_t i = 0; i < s->n_nodes; i++) {
        const int32_t *own = all + 3 * i;
        if (own[0] == MODAL_TLED_FREE && own[1] == MODAL_TLED_FREE && own[2] == MODAL_TLED_FREE) continue;
        memcpy(signals + 3 * s->n_held, own, 3 * sizeof *own);
        for (int c = 0; c < 3; c++)
            if (own[c] >= 0) values[3 * s->n_held + c] = scene->actions[own[c]].vector[c];
        held[s->n_held++] = (int32_t)i;
    }
done:
    return status;
}

modal_status modal_tled_loads_new(const modal_solid_scene *scene, const modal_tled_nodes *nodes, int64_t n_fixed,
                                  const int32_t *fixed_nodes, const uint8_t *fixed_components, modal_tled_model *model,
                                  int32_t *line, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_solid *s = &model->solid;
    entries e = {0};
    int32_t *faces = NULL, *held = NULL;
    uint8_t *taken = NULL;
    int64_t n_faces = 0, n_pressures = 0;
    *line = 0;
    for (int32_t a = 0; a < scene->n_actions; a++) n_pressures += scene->actions[a].kind == MODAL_SOLID_PRESSURE;
    s->n_signals = scene->n_actions;
    if (n_pressures > 0) MODAL_TRY(modal_tled_boundary(s, &faces, &n_faces, err));
    MODAL_TRY(modal_alloc((void *)&s->faces, n_pressures * n_faces, 4 * sizeof(int32_t), "faces", err));
    MODAL_TRY(modal_alloc((void *)&s->face_signals, n_pressures * n_faces, sizeof(int32_t), "faces", err));
    MODAL_TRY(modal_alloc((void *)&s->face_pressures, n_pressures * n_faces, sizeof(double), "faces", err));
    MODAL_TRY(modal_alloc(&taken, n_faces, 1, "faces", err));
    MODAL_TRY(modal_alloc(&held, s->n_nodes, 3 * sizeof *held, "held nodes", err));
    for (int64_t k = 0; k < 3 * s->n_nodes; k++) held[k] = MODAL_TLED_FREE;
    for (int64_t k = 0; k < n_fixed; k++)
        for (int c = 0; c < 3; c++)
            if (fixed_components[k] >> c & 1) held[3 * (int64_t)model->node_to[fixed_nodes[k]] + c] = MODAL_TLED_STILL;
    for (int32_t a = 0; a < scene->n_actions; a++) {
        const modal_solid_action *action = &scene->actions[a];
        *line = action->line;
        if (action->kind == MODAL_SOLID_FORCE) MODAL_TRY(add_force(action, a, &nodes[a], model, &e, err));
        if (action->kind == MODAL_SOLID_DISPLACEMENT) MODAL_TRY(displace(scene, a, &nodes[a], model, held, err));
        if (action->kind != MODAL_SOLID_PRESSURE) continue;
        MODAL_TRY(find_faces(action, &nodes[a], model, faces, n_faces, taken, err));
        MODAL_TRY(add_pressure(action, a, taken, faces, n_faces, s, &e, err));
    }
    *line = 0;
    MODAL_TRY(sort_entries(&e, s, err));
    MODAL_TRY(make_held(scene, held, s, err));
done:
    modal_free(&faces);
    modal_free(&held);
    modal_free(&taken);
    modal_free(&e.nodes);
    modal_free(&e.signals);
    modal_free(&e.vectors);
    return status;
}

modal_status modal_tled_loads_idle(const modal_solid_scene *scene, const modal_tled_solid *s, uint8_t *idle, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *held = NULL; /* [n_nodes] 1 x, 2 y, 4 z */
    MODAL_TRY(modal_alloc_zero(&held, s->n_nodes, 1, "held nodes", err));
    for (int64_t k = 0; k < 3 * s->n_held; k++) held[s->held[k / 3]] |= (uint8_t)((s->held_signals[k] != MODAL_TLED_FREE) << k % 3);
    for (int32_t a = 0; a < scene->n_actions; a++) {
        const modal_solid_action *action = &scene->actions[a];
        const int is_zero = !action->rows && action->vector[0] == 0 && action->vector[1] == 0 && action->vector[2] == 0;
        idle[a] = (action->kind == MODAL_SOLID_FORCE || action->kind == MODAL_SOLID_PRESSURE) && !is_zero;
    }
    for (int64_t n = 0; n < s->n_loaded; n++)
        for (int64_t k = 3 * s->load_offsets[n]; k < 3 * s->load_offsets[n + 1]; k++)
            if (s->load_vectors[k] != 0 && !(held[s->loaded[n]] >> k % 3 & 1)) idle[s->load_signals[k / 3]] = 0;
    for (int64_t k = 0; k < 4 * s->n_faces; k++)
        if (s->faces[k] >= 0 && held[s->faces[k]] != 7) idle[s->face_signals[k / 4]] = 0;
done:
    modal_free(&held);
    return status;
}

void modal_tled_loads_free(modal_tled_solid *s)
{
    modal_free((void *)&s->loaded);
    modal_free((void *)&s->load_offsets);
    modal_free((void *)&s->load_signals);
    modal_free((void *)&s->load_vectors);
    modal_free((void *)&s->faces);
    modal_free((void *)&s->face_signals);
    modal_free((void *)&s->face_pressures);
    modal_free((void *)&s->held);
    modal_free((void *)&s->held_signals);
    modal_free((void *)&s->held_values);
    s->n_loaded = s->n_faces = s->n_held = 0;
}
