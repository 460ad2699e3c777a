/* SPDX-License-Identifier: Apache-2.0 */
/* --compare A B: bases of the same solids by the modal assurance criterion and frequency, trajectories by the distance of
 * their motions in the norm of the mass matrix. */
#include <math.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/json/json_text.h"
#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/memory.h"
#include "lib/fem/motion_norm.h"
#include "lib/fem/rebase.h"
#include "tools/common/trajectory_input.h"
#include "tools/modalinfo/modalinfo.h"

static void set(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

static json_t *begin(const char *type, const char *a, const char *b)
{
    return json_pack("{s:s, s:[o, o]}", "type", type, "files", modal_json_string(a), modal_json_string(b));
}

/* ---- bases ---- */

/* Of mode i of A the mode of B that is most like it: MAC = (u_i^T M v_j)^2 / ((u_i^T M u_i) (v_j^T M v_j)), where the
 * columns of B are orthonormal in M; and the share of u_i that B's columns can make together. */
static modal_status compare_shapes(const modal_shape *a, const modal_shape *b, int n_threads, json_t *list, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_rebase rebase = {0};
    json_t *modes = json_array(), *matrix = json_array();
    json_array_append_new(list, json_pack("{s:o, s:o, s:o}", "name", a->name ? modal_json_string(a->name) : json_string(""),
                                          "modes", modes, "mac", matrix));
    if (b->modes.kind == MODAL_KIND_IMPORTED)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "shape %s: imported columns, which are not orthonormal in the mass matrix",
                   b->name ? b->name : "");
    MODAL_TRY(modal_rebase_build(a, b, n_threads, &rebase, err));
    for (int32_t i = 0; i < rebase.r_from; i++) {
        const double square = rebase.square[(int64_t)i * rebase.r_from + i], rest = rebase.rest[(int64_t)i * rebase.r_from + i];
        json_t *row = json_array();
        int32_t best = 0;
        double most = -1;
        for (int32_t j = 0; j < rebase.r_to; j++) {
            const double product = rebase.transfer[(int64_t)j * rebase.r_from + i], mac = product * product / square;
            json_array_append_new(row, json_real(mac));
            if (mac > most) most = mac, best = j;
        }
        json_array_append_new(matrix, row);
        if (rebase.r_to == 0) continue;
        json_array_append_new(modes, json_pack("{s:i, s:f, s:i, s:f, s:o, s:f, s:f}", "mode", i, "frequency", a->modes.frequencies[i],
                                               "best", best, "best_frequency", b->modes.frequencies[best], "difference",
                                               a->modes.frequencies[i] > 0 ? json_real(b->modes.frequencies[best] / a->modes.frequencies[i] - 1)
                                                                     : json_null(),
                                               "mac", most, "in_span", 1 - fmax(0, rest) / square));
    }
done:
    modal_rebase_free(&rebase);
    return status;
}

static const unsigned WHOLE = MODAL_BASIS_MODES | MODAL_BASIS_VOLUME | MODAL_BASIS_VOLUME_MODES;

static modal_status compare_bases(tool *t, const char *path_a, const char *path_b, json_t **info, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_basis a = {0}, b = {0};
    int n_threads = 1;
    json_t *shapes = json_array();
    *info = begin("comparison of bases", path_a, path_b);
    set(*info, "shapes", shapes);
    MODAL_TRY(tool_threads(t, &n_threads, err));
    MODAL_TRY(modal_basis_read(path_a, WHOLE, &a, err));
    MODAL_TRY(modal_basis_read(path_b, WHOLE, &b, err));
    if (a.n_shapes != b.n_shapes)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %d shapes, %s has %d", path_b, b.n_shapes, path_a, a.n_shapes);
    for (int32_t i = 0; i < a.n_shapes; i++) {
        status = compare_shapes(&a.shapes[i], &b.shapes[i], n_threads, shapes, err);
        if (status != MODAL_OK) {
            modal_error_context(err, "%s: shape %d", path_b, i);
            goto done;
        }
    }
done:
    modal_basis_free(&a);
    modal_basis_free(&b);
    return status;
}

/* ---- trajectories ---- */

/* One of the two. */
typedef struct side {
    const char *path;
    char *basis_path;
    modal_trajectory trajectory;
    modal_basis basis;
} side;

static void free_side(side *s)
{
    modal_free(&s->basis_path);
    modal_trajectory_free(&s->trajectory);
    modal_basis_free(&s->basis);
}

static modal_status read_side(const char *path, side *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    s->path = path;
    MODAL_TRY(modal_trajectory_read(path, &s->trajectory, err));
    MODAL_TRY(tool_find_basis(NULL, path, &s->trajectory, &s->basis_path, err));
    MODAL_TRY(modal_basis_read(s->basis_path, WHOLE, &s->basis, err));
    status = modal_trajectory_check_basis(&s->trajectory, &s->basis, err);
    if (status != MODAL_OK) modal_error_context(err, "%s", path);
done:
    return status;
}

static modal_status check_times(const side *a, const side *b, modal_error *err)
{
    const modal_trajectory *p = &a->trajectory, *q = &b->trajectory;
    if (p->n_frames != q->n_frames)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: %lld frames, %s has %lld", b->path, (long long)q->n_frames, a->path,
                               (long long)p->n_frames);
    const double span = fmax(fabs(p->times[0]), fabs(p->times[p->n_frames - 1]));
    for (int64_t f = 0; f < p->n_frames; f++)
        if (!(fabs(p->times[f] - q->times[f]) <= 1e-9 * span))
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s: frame %lld is at %.10g s, at %.10g s in %s", b->path, (long long)f,
                                   q->times[f], p->times[f], a->path);
    return MODAL_OK;
}

static const double *pose_of(const side *s, int64_t frame, int32_t object)
{
    return s->trajectory.poses ? s->trajectory.poses + 12 * (frame * s->trajectory.n_objects + object)
                               : s->basis.objects[object].rest_pose;
}

static const double *q_of(const side *s, int64_t frame, int32_t object)
{
    return s->trajectory.q + frame * s->trajectory.mode_offsets[s->trajectory.n_objects] + s->trajectory.mode_offsets[object];
}

/* errors, motions [n_frames] += squares of object `object`: between the two, and of A from its place at rest. */
static modal_status add_object(const side *a, const side *b, int32_t object, const modal_motion_norm *norm,
                               const modal_motion_norm *own, double *errors, double *motions, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double *rest = a->basis.objects[object].rest_pose;
    const int32_t r = a->basis.shapes[a->basis.objects[object].shape].modes.n_modes;
    double *zero = NULL;
    MODAL_TRY(modal_alloc_zero(&zero, r, sizeof *zero, "coordinates", err));
    for (int64_t f = 0; f < a->trajectory.n_frames; f++) {
        const double *q = q_of(a, f, object);
        const double *q_b = q_of(b, f, object);
        if (norm) {
            errors[f] += modal_motion_norm_apply(norm, pose_of(a, f, object), q, pose_of(b, f, object), q_b);
            motions[f] += modal_motion_norm_apply(own, pose_of(a, f, object), q, rest, zero);
        } else { /* columns that are orthonormal in the mass matrix */
            for (int32_t k = 0; k < r; k++) {
                errors[f] += (q[k] - q_b[k]) * (q[k] - q_b[k]);
                motions[f] += q[k] * q[k];
            }
        }
    }
done:
    modal_free(&zero);
    return status;
}

static modal_status compare_trajectories(tool *t, const char *path_a, const char *path_b, json_t **info, modal_error *err)
{
    modal_status status = MODAL_OK;
    side a = {0}, b = {0};
    modal_motion_norm norm = {0}, own = {0};
    double *errors = NULL, *motions = NULL, mass = 0, largest = 0, largest_motion = 0;
    int64_t at = 0;
    int n_threads = 1;
    json_t *frames = json_array();
    *info = begin("comparison of trajectories", path_a, path_b);
    set(*info, "frames", frames);
    MODAL_TRY(tool_threads(t, &n_threads, err));
    MODAL_TRY(read_side(path_a, &a, err));
    MODAL_TRY(read_side(path_b, &b, err));
    MODAL_TRY(check_times(&a, &b, err));
    const int64_t n = a.trajectory.n_frames;
    const int one_basis = strcmp(a.basis.hash, b.basis.hash) == 0;
    if (a.basis.n_objects != b.basis.n_objects)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: %d objects, %s has %d", path_b, b.basis.n_objects, path_a, a.basis.n_objects);
    MODAL_TRY(modal_alloc_zero(&errors, n, sizeof *errors, "frames", err));
    MODAL_TRY(modal_alloc_zero(&motions, n, sizeof *motions, "frames", err));
    int32_t shape_a = -1, shape_b = -1; /* of the products that are there */
    for (int32_t i = 0; i < a.basis.n_objects; i++) {
        const modal_shape *s = &a.basis.shapes[a.basis.objects[i].shape], *other = &b.basis.shapes[b.basis.objects[i].shape];
        const int plain = one_basis && !a.trajectory.poses && !b.trajectory.poses && s->modes.kind != MODAL_KIND_IMPORTED;
        mass += s->modes.total_mass;
        if (!plain && (shape_a != a.basis.objects[i].shape || shape_b != b.basis.objects[i].shape)) {
            modal_motion_norm_free(&norm);
            modal_motion_norm_free(&own);
            status = modal_motion_norm_build(s, one_basis ? NULL : other, n_threads, &norm, err);
            if (status == MODAL_OK) status = modal_motion_norm_build(s, NULL, n_threads, &own, err);
            if (status != MODAL_OK) {
                modal_error_context(err, "%s: object %d", path_b, i);
                goto done;
            }
            shape_a = a.basis.objects[i].shape;
            shape_b = b.basis.objects[i].shape;
        }
        MODAL_TRY(add_object(&a, &b, i, plain ? NULL : &norm, &own, errors, motions, err));
    }
    for (int64_t f = 0; f < n; f++) {
        if (!isfinite(errors[f]) || !isfinite(motions[f]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: frame %lld: overflow of the square of its motion", path_b, (long long)f);
        const double error = sqrt(errors[f]), motion = sqrt(motions[f]);
        json_array_append_new(frames, json_pack("{s:f, s:f, s:f}", "time", a.trajectory.times[f], "error", error, "motion", motion));
        if (error > largest) largest = error, at = f;
        largest_motion = fmax(largest_motion, motion);
    }
    set(*info, "same_basis", json_boolean(one_basis));
    set(*info, "mass_kg", json_real(mass));
    set(*info, "largest_error", json_real(largest));
    set(*info, "largest_error_frame", json_integer(at));
    set(*info, "largest_motion", json_real(largest_motion));
    set(*info, "relative_error", largest_motion > 0 ? json_real(largest / largest_motion) : json_null());
    if (mass > 0) set(*info, "largest_error_rms_m", json_real(largest / sqrt(mass)));
done:
    modal_motion_norm_free(&norm);
    modal_motion_norm_free(&own);
    modal_free(&errors);
    modal_free(&motions);
    free_side(&a);
    free_side(&b);
    return status;
}

modal_status modalinfo_compare(tool *t, const char *type_a, const char *path_a, const char *type_b, const char *path_b,
                               json_t **info, modal_error *err)
{
    if (strcmp(type_a, type_b) != 0)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: a %s, where %s is a %s", path_b, type_b, path_a, type_a);
    if (strcmp(type_a, "basis") == 0) return compare_bases(t, path_a, path_b, info, err);
    if (strcmp(type_a, "trajectory") == 0) return compare_trajectories(t, path_a, path_b, info, err);
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: --compare is of bases and of trajectories, not of a %s", path_a, type_a);
}

/* ---- as text ---- */

static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static void print_bases(FILE *to, const json_t *shapes)
{
    size_t i, k;
    json_t *shape, *mode;
    json_array_foreach (shapes, i, shape) {
        fputs("\nshape \"", to);
        tool_put_text(to, json_string_value(json_object_get(shape, "name")));
        fprintf(to, "\"\n  %6s %14s   %6s %14s %12s %9s %9s\n", "mode", "frequency_Hz", "of B", "frequency_Hz", "difference", "MAC",
                "in span");
        json_array_foreach (json_object_get(shape, "modes"), k, mode)
            fprintf(to, "  %6d %14.8g   %6d %14.8g %11.4f%% %9.6f %9.6f\n", (int)number(mode, "mode"), number(mode, "frequency"),
                    (int)number(mode, "best"), number(mode, "best_frequency"), 100 * number(mode, "difference"),
                    number(mode, "mac"), number(mode, "in_span"));
    }
}

static void print_trajectories(FILE *to, const json_t *info)
{
    enum { ROWS = 20 };
    const json_t *frames = json_object_get(info, "frames");
    const size_t n = json_array_size(frames), worst = (size_t)number(info, "largest_error_frame");
    fprintf(to, "%-22s%s\n%-22s%.6g sqrt(kg) m, in frame %zu\n", "same basis",
            json_is_true(json_object_get(info, "same_basis")) ? "yes" : "no", "largest error", number(info, "largest_error"), worst);
    if (json_object_get(info, "largest_error_rms_m"))
        fprintf(to, "%-22s%.6g m of the mass's root mean square\n", "", number(info, "largest_error_rms_m"));
    fprintf(to, "%-22s%.6g sqrt(kg) m\n", "largest motion of A", number(info, "largest_motion"));
    if (json_is_number(json_object_get(info, "relative_error")))
        fprintf(to, "%-22s%.6g\n", "error / motion", number(info, "relative_error"));
    fprintf(to, "\n  %6s %14s %14s %14s\n", "frame", "time_s", "error", "motion of A");
    const size_t step = n > ROWS ? (n + ROWS - 1) / ROWS : 1;
    for (size_t f = 0; f < n; f++) {
        const json_t *one = json_array_get(frames, f);
        if (f % step == 0 || f == worst || f + 1 == n)
            fprintf(to, "  %6zu %14.8g %14.6g %14.6g\n", f, number(one, "time"), number(one, "error"), number(one, "motion"));
    }
}

void modalinfo_print_comparison(FILE *to, const json_t *info)
{
    const json_t *files = json_object_get(info, "files");
    for (size_t k = 0; k < 2; k++) {
        fprintf(to, "%-22s", k ? "B" : "A");
        tool_put_text(to, json_string_value(json_array_get(files, k)));
        fputc('\n', to);
    }
    if (json_object_get(info, "shapes")) print_bases(to, json_object_get(info, "shapes"));
    else print_trajectories(to, info);
}
