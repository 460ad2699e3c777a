/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/oscillators/response.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/memory.h"
#include "lib/model/quality.h"
#include "lib/scene/loads.h"
#include "lib/scene/needs.h"
#include "lib/scene/places.h"

static const double turn = 2 * 3.14159265358979323846;

struct modal_response {
    const modal_scene_response *scene;
    const modal_basis *basis;
    int64_t *offsets; /* [objects + 1] coordinates */
    double *poses;   /* [objects, 12] */
    double *stiffness, *damping, *load, *load_imaginary; /* [coordinates] per modal mass */
    double *real, *imaginary;           /* [coordinates] Q */
    int64_t *slow_offsets;              /* [objects + 1] of the slow motions beside the modes, whose masses are 1 */
    double *slow_stiffness, *slow_damping, *slow_load, *slow_load_imaginary; /* [slow motions] */
    double *ones;                       /* [most slow motions of an object] */
    double *rows;      /* a probe after the other, [3, modes]: displacement along world axes for each q */
};

static const modal_shape *shape_of(const modal_basis *basis, int32_t object)
{
    return &basis->shapes[basis->objects[object].shape];
}

/* The modes of an object, or the slow motions beside them, and where what is known of them is. */
typedef struct modes_row {
    modal_shape shape;
    double *stiffness, *damping, *load, *load_imaginary; /* [modes] */
} modes_row;

static modes_row row_of(const modal_response *r, int32_t object, int slow)
{
    const int64_t at = slow ? r->slow_offsets[object] : r->offsets[object];
    const modal_shape *shape = shape_of(r->basis, object);
    if (slow)
        return (modes_row){modal_slow_shape(shape, r->ones), r->slow_stiffness + at, r->slow_damping + at, r->slow_load + at,
                           r->slow_load_imaginary + at};
    return (modes_row){*shape, r->stiffness + at, r->damping + at, r->load + at, r->load_imaginary + at};
}

static void add_load(const modes_row *to, int32_t k, double load, double phase)
{
    to->load[k] += load * cos(phase);
    to->load_imaginary[k] += load * sin(phase);
}

static modal_status set_objects(modal_response *r, const modal_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *basis = r->basis;
    int32_t at = 0;
    for (int32_t i = 0; i < scene->n_objects; i++)
        MODAL_TRY(modal_scene_check_object("objects", scene->objects[i].place, scene->objects[i].line,
                                           scene->objects[i].object, basis, err));
    for (int32_t i = 0; i < basis->n_objects; i++) {
        const modal_scene_object *said =
            at < scene->n_objects && scene->objects[at].object == i ? &scene->objects[at++] : NULL;
        const int own = said && said->has_damping;
        const double alpha = own ? said->alpha : scene->alpha, beta = own ? said->beta : scene->beta;
        const double ratio = own ? said->ratio : scene->ratio;
        double *pose = r->poses + 12 * (int64_t)i;
        if (modal_scene_motion_of(said ? said->motion : MODAL_SCENE_DEFAULT, &basis->objects[i]) != MODAL_STEP_FIXED)
            MODAL_FAIL(err, MODAL_ERROR_INPUT,
                       "response: object %d hangs on object %d; say \"pose_motion\": \"fixed\" for its response alone, "
                       "or run a \"sweep\" in time", i,
                       basis->objects[i].parent);
        MODAL_TRY(modal_scene_check_uncoupled(basis, i, err));
        modal_scene_pose(said, &basis->objects[i], pose);
        for (int slow = 0; slow < 2; slow++) {
            const modes_row to = row_of(r, i, slow);
            for (int32_t k = 0; k < to.shape.modes.n_modes; k++) {
                to.stiffness[k] = to.shape.modes.eigenvalues[k];
                to.damping[k] = alpha + beta * to.stiffness[k] + 2 * ratio * sqrt(to.stiffness[k]);
                for (int a = 0; a < 3; a++)
                    for (int b = 0; b < 3; b++)
                        add_load(&to, k, -pose[4 * a + b] * to.shape.modes.participation[3 * k + b] / to.shape.modes.modal_masses[k] *
                                             scene->response.acceleration[a], scene->response.acceleration_phase[a]);
            }
        }
    }
done:
    return status;
}

static modal_status add_forces(modal_response *r, const modal_scene *scene, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_scene_vertices at = {0};
    double *jump = NULL;
    MODAL_TRY(modal_alloc(&jump, modal_basis_mode_offsets(r->basis, NULL) + r->slow_offsets[r->basis->n_objects], sizeof(double), "forces", err));
    for (int32_t i = 0; i < scene->n_forces; i++) {
        const modal_scene_force *force = &scene->forces[i];
        MODAL_TRY(modal_scene_check_object("forces", force->place, force->line, force->object, r->basis, err));
        const double *pose = r->poses + 12 * (int64_t)force->object;
        at.n = 0;
        MODAL_TRY(modal_scene_force_vertices("forces", force, r->basis, pose, &at, err));
        int acts = 0;
        for (int64_t v = 0; v < 2 * at.n; v++) {
            const modes_row to = row_of(r, force->object, v % 2);
            acts |= modal_impulse_jump(&to.shape, pose, at.vertices[v / 2], force->vector, jump);
            for (int32_t k = 0; k < to.shape.modes.n_modes; k++) add_load(&to, k, jump[k] / (double)at.n, force->phase);
        }
        if (!acts) MODAL_TRY(modal_scene_idle_force("forces", force, err));
    }
done:
    modal_free(&at.vertices);
    modal_free(&jump);
    return status;
}

static modal_status set_probes(modal_response *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_scene_vertices at = {0};
    int64_t size = 0;
    for (int32_t i = 0; i < r->scene->n_probes; i++) {
        const modal_scene_force *probe = &r->scene->probes[i];
        MODAL_TRY(modal_scene_check_object("response/probes", probe->place, probe->line, probe->object, r->basis,
                                           err));
        MODAL_TRY(modal_scene_force_vertices("response/probes", probe, r->basis,
                                             r->poses + 12 * (int64_t)probe->object, &at, err));
        size += 3 * (int64_t)shape_of(r->basis, probe->object)->modes.n_modes;
    }
    MODAL_TRY(modal_alloc(&r->rows, size, sizeof(double), "probes", err));
    double *row = r->rows;
    for (int32_t i = 0; i < r->scene->n_probes; i++) {
        const int32_t object = r->scene->probes[i].object;
        const modal_shape *shape = shape_of(r->basis, object);
        const double *pose = r->poses + 12 * (int64_t)object;
        const float *tile = modal_shape_tile(shape, at.vertices[i] / MODAL_TILE) + at.vertices[i] % MODAL_TILE;
        for (int a = 0; a < 3; a++, row += shape->modes.n_modes)
            for (int32_t k = 0; k < shape->modes.n_modes; k++) {
                const float *u = tile + (int64_t)k * 3 * MODAL_TILE;
                row[k] = pose[4 * a] * (double)u[0] + pose[4 * a + 1] * (double)u[MODAL_TILE] +
                         pose[4 * a + 2] * (double)u[2 * MODAL_TILE];
            }
    }
done:
    modal_free(&at.vertices);
    return status;
}

modal_status modal_response_new(modal_response **response, const modal_scene *scene, const modal_basis *basis,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_response *r = NULL;
    const int64_t n = modal_basis_mode_offsets(basis, NULL);
    *response = NULL;
    MODAL_TRY(modal_alloc_zero(&r, 1, sizeof *r, "response", err));
    r->scene = &scene->response;
    r->basis = basis;
    MODAL_TRY(modal_alloc(&r->offsets, (int64_t)basis->n_objects + 1, sizeof(int64_t), "response", err));
    MODAL_TRY(modal_alloc(&r->poses, 12 * (int64_t)basis->n_objects, sizeof(double), "response", err));
    int64_t n_slow = 0, most_slow = 0;
    MODAL_TRY(modal_alloc(&r->slow_offsets, (int64_t)basis->n_objects + 1, sizeof(int64_t), "response", err));
    for (int32_t i = 0; i <= basis->n_objects; i++) {
        const int64_t own = i < basis->n_objects ? shape_of(basis, i)->modes.left_out.n_slow : 0;
        r->slow_offsets[i] = n_slow;
        n_slow += own;
        if (own > most_slow) most_slow = own;
    }
    MODAL_TRY(modal_alloc(&r->ones, most_slow, sizeof(double), "response", err));
    for (int64_t i = 0; i < most_slow; i++) r->ones[i] = 1;
    double **const slow[] = {&r->slow_stiffness, &r->slow_damping, &r->slow_load, &r->slow_load_imaginary};
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        MODAL_TRY(modal_alloc_zero(slow[i], n_slow, sizeof(double), "response", err));
    double **const arrays[] = {&r->stiffness, &r->damping, &r->load, &r->load_imaginary, &r->real, &r->imaginary};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        MODAL_TRY(modal_alloc_zero(arrays[i], n, sizeof(double), "response", err));
    modal_basis_mode_offsets(basis, r->offsets);
    MODAL_TRY(set_objects(r, scene, err));
    MODAL_TRY(add_forces(r, scene, err));
    const double *a = scene->response.acceleration;
    int loaded = a[0] != 0 || a[1] != 0 || a[2] != 0;
    for (int32_t i = 0; i < scene->n_forces; i++)
        for (int c = 0; c < 3; c++) loaded |= scene->forces[i].vector[c] != 0;
    if (!loaded)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "response: nothing loads it; give \"forces\", or \"acceleration\" in the response");
    MODAL_TRY(set_probes(r, err));
    *response = r;
    r = NULL;
done:
    modal_response_delete(r);
    return status;
}

modal_response *modal_response_delete(modal_response *r)
{
    if (!r) return NULL;
    void *arrays[] = {&r->offsets, &r->poses, &r->stiffness, &r->damping, &r->load, &r->load_imaginary,
                      &r->real, &r->imaginary, &r->rows, &r->slow_offsets, &r->slow_stiffness, &r->slow_damping, &r->slow_load,
                      &r->slow_load_imaginary, &r->ones};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    modal_free(&r);
    return NULL;
}

int64_t modal_response_count(const modal_response *r)
{
    return r->scene->n_probes > 0 ? 3 * (int64_t)r->scene->n_probes : r->offsets[r->basis->n_objects];
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of a mode, where its amplitude under a load of constant size is largest, and where it is 1 / sqrt(2) of that. */
static int64_t add_peak(const modal_response *r, int64_t c, double *frequencies)
{
    const double ratio = 0.5 * r->damping[c] / sqrt(r->stiffness[c]), top = 1 - 2 * ratio * ratio, half = 2 * ratio * sqrt(1 - ratio * ratio);
    const double squares[3] = {top - half, top, top + half};
    int64_t n = 0;
    if (!(ratio > 0 && top > 0) || (r->load[c] == 0 && r->load_imaginary[c] == 0)) return 0;
    for (int i = 0; i < 3; i++) {
        const double f = squares[i] > 0 ? sqrt(squares[i] * r->stiffness[c]) / turn : 0;
        if (f > r->scene->from && f < r->scene->to) frequencies[n++] = f;
    }
    return n;
}

modal_status modal_response_frequencies(const modal_response *r, double **frequencies, int64_t *n, modal_error *err)
{
    const int64_t points = r->scene->n_points, coordinates = r->scene->peaks ? r->offsets[r->basis->n_objects] : 0;
    modal_status status = modal_alloc(frequencies, points + 3 * coordinates, sizeof(double), "table", err);
    int64_t all = 0;
    *n = 0;
    if (status != MODAL_OK) return status;
    for (int64_t i = 0; i < points; i++) {
        const double part = points > 1 ? (double)i / (double)(points - 1) : 0;
        (*frequencies)[all++] = i == 0 ? r->scene->from : (1 - part) * r->scene->from + part * r->scene->to;
    }
    for (int64_t c = 0; c < coordinates; c++) all += add_peak(r, c, *frequencies + all);
    if (all > points) qsort(*frequencies, (size_t)all, sizeof **frequencies, compare);
    for (int64_t i = 0; i < all; i++)
        if (i < 1 || all == points || (*frequencies)[i] > (*frequencies)[*n - 1]) (*frequencies)[(*n)++] = (*frequencies)[i];
    return MODAL_OK;
}

double modal_response_left_out(const modal_response *r, double f, int32_t *object)
{
    const double w = turn * f;
    double worst = 0;
    *object = 0;
    for (int32_t i = 0; i < r->basis->n_objects; i++) {
        const modal_modes *modes = &shape_of(r->basis, i)->modes;
        double kept = 0, left = 0;
        for (int64_t c = r->offsets[i]; c < r->offsets[i + 1]; c++)
            kept += modes->modal_masses[c - r->offsets[i]] * (r->real[c] * r->real[c] + r->imaginary[c] * r->imaginary[c]);
        for (int64_t c = r->slow_offsets[i]; c < r->slow_offsets[i + 1]; c++) {
            const double size = hypot(r->slow_stiffness[c] - w * w, w * r->slow_damping[c]);
            left += (r->slow_load[c] * r->slow_load[c] + r->slow_load_imaginary[c] * r->slow_load_imaginary[c]) / (size * size);
        }
        const double part = left > 0 ? isinf(left) ? 1 : sqrt(left / (kept + left)) : 0;
        if (!(part > worst)) continue;
        worst = part;
        *object = i;
    }
    return worst;
}

unsigned modal_response_missing(const modal_response *r)
{
    unsigned missing = 0;
    for (int32_t i = 0; i < r->basis->n_objects; i++) {
        const modal_modes *modes = &shape_of(r->basis, i)->modes;
        if (modes->n_modes == 0) continue;
        if (!modes->left_out.slow_eigenvalues) missing |= MODAL_MISSING_LOADS;
        /* other columns than natural modes do not balance their own elastic forces, unless they are all that the solid can do */
        else if (modes->kind != MODAL_KIND_MODES && modes->left_out.n_slow > 0) missing |= MODAL_MISSING_FORCES;
    }
    return missing;
}

/* Not finite fails here, too. */
static int polar(double real, double imaginary, double *amplitude, double *phase)
{
    *amplitude = hypot(real, imaginary);
    *phase = 360 / turn * atan2(imaginary + 0.0, real + 0.0); /* -0 would turn the phase around */
    if (*phase <= -180) *phase = 180;
    return isfinite(*amplitude);
}

modal_status modal_response_at(modal_response *r, double f, double *amplitude, double *phase, modal_error *err)
{
    const double w = turn * f;
    int finite = 1;
    for (int32_t i = 0; i < r->basis->n_objects; i++)
        for (int64_t c = r->offsets[i]; c < r->offsets[i + 1]; c++) {
            const double x = r->stiffness[c] - w * w, y = w * r->damping[c], size = hypot(x, y);
            if (r->load[c] == 0 && r->load_imaginary[c] == 0) {
                r->real[c] = r->imaginary[c] = 0;
                continue;
            }
            if (!(size > 0))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "response: object %d: mode %lld is undamped and driven at its own frequency: "
                                       "no steady state, %g Hz",
                                       i, (long long)(c - r->offsets[i]), f);
            const double a = r->load[c] / size, b = r->load_imaginary[c] / size; /* over x + i y */
            r->real[c] = a * (x / size) + b * (y / size);
            r->imaginary[c] = b * (x / size) - a * (y / size);
        }
    if (r->scene->n_probes == 0)
        for (int64_t c = 0; c < r->offsets[r->basis->n_objects]; c++)
            finite &= polar(r->real[c], r->imaginary[c], &amplitude[c], &phase[c]);
    const double *row = r->rows;
    for (int32_t p = 0; p < r->scene->n_probes; p++) {
        const int64_t first = r->offsets[r->scene->probes[p].object];
        const int32_t modes = shape_of(r->basis, r->scene->probes[p].object)->modes.n_modes;
        for (int a = 0; a < 3; a++, row += modes) {
            double real = 0, imaginary = 0;
            for (int32_t k = 0; k < modes; k++) {
                real += row[k] * r->real[first + k];
                imaginary += row[k] * r->imaginary[first + k];
            }
            finite &= polar(real, imaginary, &amplitude[3 * p + a], &phase[3 * p + a]);
        }
    }
    if (!finite) return modal_error_set(err, MODAL_ERROR_INPUT, "response: not finite at %g Hz; try smaller loads", f);
    return MODAL_OK;
}
