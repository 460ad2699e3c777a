/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/forest/attraction.h"

#include <math.h>
#include <string.h>

#include "kernels/pair_sum/pair_sum.h"
#include "lib/base/memory.h"
#include "lib/scene/places.h"

static const double TURN = 2 * 3.14159265358979323846;

modal_status modal_attraction_list(modal_attraction *a, const modal_scene *scene, const modal_basis *basis,
                                   const modal_body *bodies, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n = basis->n_objects;
    for (int32_t k = 0; k < scene->n_objects; k++) {
        const modal_scene_object *said = &scene->objects[k];
        if (said->has_charge && (!scene->attraction.given || bodies[said->object].motion != MODAL_STEP_FREE))
            MODAL_TRY(modal_scene_wrong(err, "objects", said->place, said->line, "charge: %s",
                                        scene->attraction.given ? "the object is not free" : "the scene has no \"attraction\""));
    }
    if (!scene->attraction.given) goto done;
    a->strength = scene->attraction.strength;
    a->softening = scene->attraction.softening;
    MODAL_TRY(modal_alloc(&a->objects, n, sizeof *a->objects, "attraction", err));
    MODAL_TRY(modal_alloc(&a->points, n, sizeof *a->points, "attraction", err));
    MODAL_TRY(modal_alloc(&a->tables, n, sizeof *a->tables, "attraction", err));
    MODAL_TRY(modal_alloc(&a->weights, n, sizeof *a->weights, "attraction", err));
    MODAL_TRY(modal_alloc_zero(&a->together, n, 1, "attraction", err));
    for (int32_t i = 0; i < n; i++) {
        if (bodies[i].motion != MODAL_STEP_FREE) continue;
        a->together[i] = 1;
        a->weights[a->n] = basis->shapes[basis->objects[i].shape].modes.total_mass;
        for (int32_t k = 0; k < scene->n_objects; k++)
            if (scene->objects[k].object == i && scene->objects[k].has_charge) a->weights[a->n] = scene->objects[k].charge;
        a->objects[a->n++] = i;
    }
    if (a->n == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "attraction: no object is free");
done:
    return status;
}

modal_status modal_attraction_prepare(modal_attraction *a, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *made = NULL; /* [n_shapes] */
    if (a->n == 0) goto done;
    MODAL_TRY(modal_alloc(&a->coordinates, (int64_t)basis->n_objects + 1, sizeof *a->coordinates, "attraction", err));
    const int64_t n_coordinates = modal_basis_mode_offsets(basis, a->coordinates);
    MODAL_TRY(modal_alloc(&a->bodies, 4 * (int64_t)a->n, sizeof *a->bodies, "attraction", err));
    MODAL_TRY(modal_alloc(&a->forces, 3 * (int64_t)a->n, sizeof *a->forces, "attraction", err));
    MODAL_TRY(modal_alloc_zero(&a->q, n_coordinates, sizeof *a->q, "attraction", err));
    MODAL_TRY(modal_alloc_zero(&a->v, n_coordinates, sizeof *a->v, "attraction", err));
    MODAL_TRY(modal_alloc_zero(&a->poses, basis->n_objects, sizeof *a->poses, "attraction", err));
    MODAL_TRY(modal_alloc(&made, basis->n_shapes, sizeof *made, "attraction", err));
    for (int32_t i = 0; i < basis->n_shapes; i++) made[i] = -1;
    for (int32_t i = 0; i < a->n; i++) {
        const int32_t at = basis->objects[a->objects[i]].shape;
        const modal_shape *shape = &basis->shapes[at];
        const modal_body_point whole = {a->objects[i], 0, shape->surface.n_vertices, 0};
        if (made[at] < 0) MODAL_TRY(modal_forest_point(&a->means, shape, &whole, &made[at], err));
        a->tables[i] = made[at];
    }
done:
    modal_free(&made);
    return status;
}

void modal_attraction_free(modal_attraction *a)
{
    void *arrays[] = {&a->objects, &a->points, &a->tables, &a->coordinates, &a->weights, &a->together, &a->bodies,
                      &a->forces, &a->q, &a->v, &a->poses, &a->means.values};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    memset(a, 0, sizeof *a);
}

static void cross(const double *a, const double *b, double *c)
{
    for (int i = 0; i < 3; i++) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Where the centre of the i-th object is `later` after its pose, q and v (NULL: at once). */
static void put_centre(const modal_attraction *a, const modal_basis *basis, int32_t i, const modal_step_pose *pose,
                       const double *q, const double *v, double later, double *x)
{
    const double *table = a->means.values + a->tables[i];
    const int32_t r = basis->shapes[basis->objects[a->objects[i]].shape].modes.n_modes;
    double y[3], move[3] = {0, 0, 0}, turn[3], swing[3], twist[3];
    memcpy(y, table, sizeof y);
    for (int32_t k = 0; k < r && q; k++)
        for (int c = 0; c < 3; c++) {
            y[c] += table[MODAL_STEP_POINT * (1 + k) + c] * q[k];
            if (v) move[c] += table[MODAL_STEP_POINT * (1 + k) + c] * v[k];
        }
    cross(pose->spin, y, turn);
    cross(pose->spin, turn, swing);
    cross(pose->spin_rate, y, twist);
    for (int c = 0; c < 3; c++) {
        const double own[3] = {y[0], y[1], y[2]};
        x[c] = pose->position[c] + later * (pose->velocity[c] + 0.5 * later * pose->acceleration[c]);
        for (int d = 0; d < 3; d++)
            x[c] += pose->rotation[3 * c + d] *
                    (own[d] + later * (turn[d] + move[d] + 0.5 * later * (swing[d] + twist[d])));
    }
}

void modal_attraction_add(modal_attraction *a, modal_forest *forest, const modal_basis *basis, double time, double *forces)
{
    modal_error err = {0};
    if (a->n == 0) return;
    const modal_status got = modal_forest_get(forest, &(modal_forest_state){.q = a->q, .v = a->v, .poses = a->poses}, &err);
    const double *times = modal_forest_times(forest);
    for (int32_t i = 0; i < a->n; i++) {
        const int32_t object = a->objects[i];
        const int64_t at = a->coordinates[object];
        put_centre(a, basis, i, &a->poses[object], a->q + at, a->v + at, time - times[modal_forest_tree_of(forest, object)],
                   a->bodies + 4 * (int64_t)i);
        a->bodies[4 * (int64_t)i + 3] = a->weights[i];
    }
    modal_pair_sum_exact(a->n, a->bodies, a->softening, a->forces);
    for (int32_t i = 0; i < a->n; i++)
        for (int c = 0; c < 3; c++)
            forces[3 * a->points[i] + c] += got == MODAL_OK ? a->strength * a->forces[3 * (int64_t)i + c] : NAN;
}

double modal_attraction_potential(modal_attraction *a, const modal_basis *basis, const modal_step_pose *poses, const double *q)
{
    double sum = 0;
    for (int32_t i = 0; i < a->n; i++) {
        const int32_t object = a->objects[i];
        double *x = a->bodies + 4 * (int64_t)i;
        put_centre(a, basis, i, &poses[object], q + a->coordinates[object], NULL, 0, x);
        for (int32_t j = 0; j < i; j++) {
            const double *y = a->bodies + 4 * (int64_t)j;
            const double d = hypot(hypot(x[0] - y[0], x[1] - y[1]), hypot(x[2] - y[2], a->softening));
            if (d > 0) sum -= a->strength * a->weights[i] * a->weights[j] / d;
        }
    }
    return sum;
}

double modal_attraction_frequency(modal_attraction *a, const modal_basis *basis, const modal_body *bodies)
{
    double most = 0;
    for (int32_t i = 0; i < a->n; i++) {
        const double *pose = bodies[a->objects[i]].pose;
        modal_step_pose at = {.position = {pose[3], pose[7], pose[11]}};
        double *x = a->bodies + 4 * (int64_t)i;
        for (int row = 0; row < 3; row++) memcpy(at.rotation + 3 * row, pose + 4 * row, 3 * sizeof(double));
        put_centre(a, basis, i, &at, NULL, NULL, 0, x);
        for (int32_t j = 0; j < i; j++) {
            const double *y = a->bodies + 4 * (int64_t)j;
            const double d = hypot(hypot(x[0] - y[0], x[1] - y[1]), hypot(x[2] - y[2], a->softening));
            const double m[2] = {basis->shapes[basis->objects[a->objects[i]].shape].modes.total_mass,
                                 basis->shapes[basis->objects[a->objects[j]].shape].modes.total_mass};
            const double stiffness = fabs(a->strength * a->weights[i] * a->weights[j]) / (d * d * d);
            if (d > 0) most = fmax(most, sqrt(stiffness * (1 / m[0] + 1 / m[1])) / TURN);
        }
    }
    return most;
}
