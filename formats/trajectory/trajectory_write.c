/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "formats/h5/h5_private.h"
#include "formats/h5/provenance_h5.h"
#include "formats/h5/quality_h5.h"
#include "formats/h5/rules.h"
#include "formats/trajectory/trajectory_h5.h"
#include "formats/trajectory/trajectory_rules.h"
#include "lib/base/memory.h"

enum { TIMES, Q, POSES, ENERGY, QUALITY, Q_VELOCITIES, POSE_VELOCITIES, ARRAYS };
enum { BLOCK_BYTES = 4 << 20 };
static const char *const names[ARRAYS] = {"times", "q", "poses", "energy", "quality", "q_velocities", "pose_velocities"};

struct modal_trajectory_out {
    hid_t file, rows[ARRAYS];
    int64_t width[ARRAYS]; /* numbers a row; 0: this array is not there */
    double *block[ARRAYS]; /* [capacity, width] rows that are not written yet */
    int64_t capacity, n_frames, written, waiting;
    modal_trajectory head; /* what the rules of a block need; owns nothing but: */
    uint8_t *still;        /* [n_objects] of the trajectory, or NULL */
    int32_t n_moving;      /* objects whose poses are in a row */
    double *still_poses;   /* [n_objects - n_moving, 12] of the first row */
    double last_time;
    modal_quality_judgement quality;
    char *path; /* NULL: in memory */
};

/* Says in which file it failed. */
static modal_status named(const char *path, modal_status status, modal_error *err)
{
    if (status != MODAL_OK && path) modal_error_context(err, "%s", path);
    return status;
}

static modal_status check_complete(const modal_trajectory *t, modal_error *err)
{
    const modal_checker checker = {NULL, err};
    if (!t->times || !t->mode_offsets || !t->q || !t->basis_path)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "/: times, mode_offsets, q or basis_path missing");
    if (t->n_objects < 1)
        return modal_error_set(err, MODAL_ERROR_INPUT, "/mode_offsets: no objects");
    return modal_trajectory_rules(&checker, t, t->mode_offsets[t->n_objects]);
}

static modal_status write_moving(const modal_trajectory_out *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = o->n_moving;
    int32_t *moving = NULL, at = 0;
    MODAL_TRY(modal_alloc(&moving, n, sizeof *moving, "/posed_objects", err));
    for (int32_t i = 0; i < o->head.n_objects; i++)
        if (!o->still[i]) moving[at++] = i;
    MODAL_TRY(modal_h5_write_array(o->file, "posed_objects", MODAL_H5_I32, 1, &n, moving, err));
done:
    modal_free(&moving);
    return status;
}

/* Row [n_objects, 12] to that of the objects that move, and back; the others' poses are those of the first row. */
static void pack_row(const modal_trajectory_out *o, const double *all, double *moving)
{
    for (int32_t i = 0; i < o->head.n_objects; i++) {
        if (o->still[i]) continue;
        memcpy(moving, all + 12 * (int64_t)i, 12 * sizeof *all);
        moving += 12;
    }
}

/* still: those of the others, or NULL: zeros, their velocities. */
static void unpack_row(const modal_trajectory_out *o, const double *moving, const double *still, double *all)
{
    for (int32_t i = 0; i < o->head.n_objects; i++) {
        const double **from = o->still[i] ? &still : &moving;
        if (*from) memcpy(all + 12 * (int64_t)i, *from, 12 * sizeof *all);
        else memset(all + 12 * (int64_t)i, 0, 12 * sizeof *all);
        if (*from) *from += 12;
    }
}

static void keep_still(const modal_trajectory_out *o, const double *all)
{
    double *to = o->still_poses;
    for (int32_t i = 0; i < o->head.n_objects; i++) {
        if (!o->still[i]) continue;
        memcpy(to, all + 12 * (int64_t)i, 12 * sizeof *all);
        to += 12;
    }
}

static modal_status write_head(modal_trajectory_out *o, const modal_trajectory *t, modal_error *err)
{
    modal_status status = MODAL_OK;
    const hid_t file = o->file;
    const int64_t n_offsets = (int64_t)t->n_objects + 1, n_objects = t->n_objects;
    const int64_t dims[ARRAYS][4] = {{t->n_frames}, {t->n_frames, t->mode_offsets[t->n_objects]},
                                     {t->n_frames, o->n_moving, 3, 4}, {t->n_frames, 4},
                                     {t->n_frames, MODAL_QUALITY_NUMBERS}, {t->n_frames, t->mode_offsets[t->n_objects]},
                                     {t->n_frames, o->n_moving, 3, 4}};
    const int rank[ARRAYS] = {1, 2, 4, 2, 2, 2, 4};
    MODAL_TRY(modal_h5_write_text(file, "modal_format", "trajectory", err));
    MODAL_TRY(modal_h5_write_text(file, "modal_format_version", "1.0", err));
    if (t->quality) MODAL_TRY(modal_quality_write_columns(file, err));
    MODAL_TRY(modal_h5_write_text(file, "basis_hash", t->basis_hash, err));
    if (t->basis_recipe[0]) MODAL_TRY(modal_h5_write_text(file, "basis_recipe", t->basis_recipe, err));
    MODAL_TRY(modal_h5_write_text(file, "basis_path", t->basis_path, err));
    if (strcmp(t->basis_path, "-") != 0) MODAL_TRY(modal_h5_write_external(file, "basis", t->basis_path, err));
    for (int i = 0; i < ARRAYS; i++) {
        if (o->width[i] > 0)
            MODAL_TRY(modal_h5_make_rows(file, names[i], MODAL_H5_F64, rank[i], dims[i], &o->rows[i], err));
        if (i == TIMES)
            MODAL_TRY(modal_h5_write_array(file, "mode_offsets", MODAL_H5_I64, 1, &n_offsets, t->mode_offsets,
                                           err));
    }
    if (t->still) MODAL_TRY(write_moving(o, err));
    if (t->basis_bytes) MODAL_TRY(modal_h5_write_array(file, "basis_file", MODAL_H5_U8, 1, &t->n_basis_bytes, t->basis_bytes, err));
    if (t->models) MODAL_TRY(modal_h5_write_array(file, "models", MODAL_H5_U8, 1, &n_objects, t->models, err));
    if (t->rebase_errors)
        MODAL_TRY(modal_h5_write_array(file, "rebase_errors", MODAL_H5_F64, 1, &n_objects, t->rebase_errors, err));
    if (t->projection_errors) {
        const int64_t errors[2] = {t->n_frames, 4};
        MODAL_TRY(modal_h5_write_array(file, "projection_errors", MODAL_H5_F64, 2, errors, t->projection_errors, err));
    }
    MODAL_TRY(modal_provenance_write(file, t->provenance, t->n_provenance, err));
done:
    return status;
}

modal_status modal_trajectory_out_open(modal_trajectory_out **out, const char *path, const modal_trajectory *head,
                                       modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory_out *o = NULL;
    *out = NULL;
    MODAL_TRY(modal_alloc_zero(&o, 1, sizeof *o, "trajectory", err));
    o->file = H5I_INVALID_HID;
    for (int i = 0; i < ARRAYS; i++) o->rows[i] = H5I_INVALID_HID;
    o->width[TIMES] = 1;
    o->width[Q] = head->mode_offsets[head->n_objects];
    o->n_moving = head->n_objects;
    if (head->still) {
        MODAL_TRY(modal_alloc(&o->still, head->n_objects, 1, "trajectory", err));
        memcpy(o->still, head->still, (size_t)head->n_objects);
        for (int32_t i = 0; i < head->n_objects; i++) o->n_moving -= head->still[i] != 0;
        MODAL_TRY(modal_alloc(&o->still_poses, 12 * (int64_t)(head->n_objects - o->n_moving), sizeof(double), "trajectory", err));
        if (o->n_moving == 0 || !head->poses)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "/poses: no object moves");
    }
    o->width[POSES] = head->poses ? 12 * (int64_t)o->n_moving : 0;
    o->width[ENERGY] = head->energy ? 4 : 0;
    o->width[QUALITY] = head->quality ? MODAL_QUALITY_NUMBERS : 0;
    o->width[Q_VELOCITIES] = head->q_velocities ? o->width[Q] : 0;
    o->width[POSE_VELOCITIES] = head->q_velocities ? o->width[POSES] : 0;
    o->n_frames = head->n_frames;
    o->head = (modal_trajectory){.n_objects = head->n_objects, .mode_offsets = head->mode_offsets};
    memcpy(o->head.basis_hash, head->basis_hash, sizeof head->basis_hash);
    int64_t row = 0;
    for (int i = 0; i < ARRAYS; i++) row += o->width[i] * (int64_t)sizeof(double);
    o->capacity = BLOCK_BYTES / row > 0 ? BLOCK_BYTES / row : 1;
    if (o->capacity > o->n_frames) o->capacity = o->n_frames;
    for (int i = 0; i < ARRAYS; i++)
        MODAL_TRY(modal_alloc(&o->block[i], o->capacity * o->width[i], sizeof(double), "trajectory", err));
    if (path) MODAL_TRY(modal_copy_text(&o->path, path, SIZE_MAX, err));
    MODAL_TRY(modal_h5_create(&o->file, path, err));
    MODAL_TRY(named(path, write_head(o, head, err), err));
    *out = o;
    o = NULL;
done:
    modal_trajectory_out_abandon(&o);
    return status;
}

/* Writes what waits. */
static modal_status flush(modal_trajectory_out *o, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_checker checker = {NULL, err};
    if (o->waiting == 0) goto done;
    o->head.n_frames = o->waiting;
    o->head.times = o->block[TIMES];
    o->head.q = o->block[Q];
    o->head.poses = o->width[POSES] ? o->block[POSES] : NULL;
    o->head.energy = o->width[ENERGY] ? o->block[ENERGY] : NULL;
    o->head.quality = o->width[QUALITY] ? (modal_quality *)o->block[QUALITY] : NULL; /* doubles, and nothing else */
    if (o->still) o->head.poses = NULL;
    o->head.q_velocities = o->width[Q_VELOCITIES] ? o->block[Q_VELOCITIES] : NULL;
    o->head.pose_velocities = o->width[POSE_VELOCITIES] && !o->still ? o->block[POSE_VELOCITIES] : NULL;
    status = modal_trajectory_rules(&checker, &o->head, o->width[Q]);
    if (status == MODAL_OK && o->still) status = modal_rule_poses(&checker, "/poses", o->block[POSES], o->waiting, o->n_moving);
    if (status == MODAL_OK && o->written > 0 && !(o->block[TIMES][0] > o->last_time))
        status = modal_error_set(err, MODAL_ERROR_INPUT, "/times: frame 0: not increasing, %.17g after %.17g",
                                 o->block[TIMES][0], o->last_time);
    if (status != MODAL_OK) {
        if (o->written > 0) modal_error_context(err, "behind frame %lld", (long long)o->written - 1);
        goto done;
    }
    for (int i = 0; i < ARRAYS; i++)
        if (o->width[i] > 0)
            MODAL_TRY(modal_h5_put_rows(o->rows[i], names[i], o->written, o->waiting, o->block[i], err));
    if (o->waiting == o->capacity) modal_h5_start_disk(o->file);
    o->last_time = o->block[TIMES][o->waiting - 1];
    o->written += o->waiting;
    o->waiting = 0;
done:
    return status;
}

modal_status modal_trajectory_out_row(modal_trajectory_out *o, double time, const double *q, const double *poses,
                                      const double *energy, const modal_quality *quality, modal_error *err)
{
    const void *from[ARRAYS] = {[TIMES] = &time, [Q] = q, [POSES] = poses, [ENERGY] = energy, [QUALITY] = quality};
    if (o->written + o->waiting >= o->n_frames)
        return modal_error_set(err, MODAL_ERROR_USAGE, "trajectory: more than %lld frames", (long long)o->n_frames);
    if (o->still && o->written + o->waiting == 0) keep_still(o, poses);
    for (int i = 0; i < ARRAYS; i++)
        if (i == POSES && o->still) pack_row(o, poses, o->block[i] + o->waiting * o->width[i]);
        else if (o->width[i] > 0 && from[i])
            memcpy(o->block[i] + o->waiting * o->width[i], from[i], (size_t)o->width[i] * sizeof(double));
    modal_quality_judge(&o->quality, o->written + o->waiting, time, o->width[QUALITY] > 0 ? quality : NULL);
    return ++o->waiting < o->capacity ? MODAL_OK : named(o->path, flush(o, err), err);
}

void modal_trajectory_out_velocities(modal_trajectory_out *o, const double *q, const double *poses)
{
    double *to = o->block[POSE_VELOCITIES] + o->waiting * o->width[POSE_VELOCITIES];
    if (o->width[Q_VELOCITIES] > 0) memcpy(o->block[Q_VELOCITIES] + o->waiting * o->width[Q_VELOCITIES], q, (size_t)o->width[Q_VELOCITIES] * sizeof *q);
    if (o->width[POSE_VELOCITIES] > 0 && o->still) pack_row(o, poses, to);
    else if (o->width[POSE_VELOCITIES] > 0) memcpy(to, poses, (size_t)o->width[POSE_VELOCITIES] * sizeof *poses);
}

int64_t modal_trajectory_out_count(const modal_trajectory_out *o) { return o->written + o->waiting; }

const modal_quality_judgement *modal_trajectory_out_quality(const modal_trajectory_out *o) { return &o->quality; }

modal_status modal_trajectory_out_read(modal_trajectory_out *o, int64_t begin, int64_t end,
                                       modal_trajectory_rows *take, void *context, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *poses = NULL, *rates = NULL; /* of all objects */
    MODAL_TRY(flush(o, err)); /* the blocks are free then */
    if (o->still) MODAL_TRY(modal_alloc(&poses, o->capacity * 12 * (int64_t)o->head.n_objects, sizeof *poses, "trajectory", err));
    if (o->still && o->width[POSE_VELOCITIES])
        MODAL_TRY(modal_alloc(&rates, o->capacity * 12 * (int64_t)o->head.n_objects, sizeof *rates, "trajectory", err));
    for (int64_t first = begin; first < end; first += o->capacity) {
        const int64_t n = end - first < o->capacity ? end - first : o->capacity;
        for (int i = 0; i < ARRAYS; i++)
            if (o->width[i] > 0) MODAL_TRY(modal_h5_get_rows(o->rows[i], names[i], first, n, o->block[i], err));
        for (int64_t k = 0; poses && k < n; k++) unpack_row(o, o->block[POSES] + k * o->width[POSES], o->still_poses, poses + k * 12 * o->head.n_objects);
        for (int64_t k = 0; rates && k < n; k++)
            unpack_row(o, o->block[POSE_VELOCITIES] + k * o->width[POSE_VELOCITIES], NULL, rates + k * 12 * o->head.n_objects);
        const double *all = poses ? poses : o->width[POSES] ? o->block[POSES] : NULL;
        const modal_trajectory_block rows = {first, n, o->block[TIMES], o->block[Q], all,
                                             o->width[ENERGY] ? o->block[ENERGY] : NULL,
                                             o->width[QUALITY] ? (const modal_quality *)o->block[QUALITY] : NULL,
                                             o->width[Q_VELOCITIES] ? o->block[Q_VELOCITIES] : NULL,
                                             rates ? rates : o->width[POSE_VELOCITIES] ? o->block[POSE_VELOCITIES] : NULL};
        MODAL_TRY(take(context, &rows, err));
    }
done:
    modal_free(&poses);
    modal_free(&rates);
    return status;
}

modal_status modal_trajectory_out_close(modal_trajectory_out **out, void **bytes, size_t *length,
                                        modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory_out *o = *out;
    MODAL_TRY(flush(o, err));
    if (o->written != o->n_frames)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "trajectory: %lld frames of %lld", (long long)o->written,
                   (long long)o->n_frames);
    for (int i = 0; i < ARRAYS; i++)
        if (o->rows[i] >= 0) MODAL_TRY(modal_h5_end_rows(&o->rows[i], MODAL_OK, names[i], err));
    const int64_t still[3] = {o->head.n_objects - o->n_moving, 3, 4};
    if (o->still) MODAL_TRY(modal_rule_poses(&(modal_checker){NULL, err}, "/static_poses", o->still_poses, 1, still[0]));
    if (o->still) MODAL_TRY(modal_h5_write_array(o->file, "static_poses", MODAL_H5_F64, 3, still, o->still_poses, err));
    if (bytes) MODAL_TRY(modal_h5_image(o->file, bytes, length, err));
done:
    status = named(o->path, modal_h5_finish(&o->file, status, err), err);
    modal_trajectory_out_abandon(out);
    return status;
}

void modal_trajectory_out_abandon(modal_trajectory_out **out)
{
    modal_trajectory_out *o = *out;
    if (!o) return;
    for (int i = 0; i < ARRAYS; i++) {
        modal_h5_end_rows(&o->rows[i], MODAL_ERROR_SYSTEM, names[i], NULL);
        modal_free(&o->block[i]);
    }
    modal_free(&o->still);
    modal_free(&o->still_poses);
    modal_h5_finish(&o->file, MODAL_ERROR_SYSTEM, NULL);
    modal_free(&o->path);
    modal_free(out);
}

/* The whole in one piece. */
static modal_status write_whole(const modal_trajectory *t, const char *path, void **bytes, size_t *length,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory_out *o = NULL;
    const double *const from[ARRAYS] = {t->times, t->q, t->poses, t->energy, (const double *)t->quality, t->q_velocities, t->pose_velocities};
    MODAL_TRY(named(path, check_complete(t, err), err));
    MODAL_TRY(modal_trajectory_out_open(&o, path, t, err));
    const int64_t total = t->mode_offsets[t->n_objects];
    for (int64_t f = 0; t->still && f < t->n_frames; f++) {
        if (t->q_velocities) modal_trajectory_out_velocities(o, t->q_velocities + f * total, t->pose_velocities + 12 * f * t->n_objects);
        MODAL_TRY(modal_trajectory_out_row(o, t->times[f], t->q + f * total, t->poses + 12 * f * t->n_objects,
                                           t->energy ? t->energy + 4 * f : NULL, t->quality ? &t->quality[f] : NULL, err));
    }
    for (int i = 0; i < ARRAYS && !t->still; i++)
        if (o->width[i] > 0)
            MODAL_TRY(named(path, modal_h5_put_rows(o->rows[i], names[i], 0, t->n_frames, from[i], err), err));
    if (!t->still) o->written = t->n_frames;
    MODAL_TRY(modal_trajectory_out_close(&o, bytes, length, err));
done:
    modal_trajectory_out_abandon(&o);
    return status;
}

modal_status modal_trajectory_write(const char *path, const modal_trajectory *trajectory,
                                    modal_error *err)
{
    return write_whole(trajectory, path, NULL, NULL, err);
}

modal_status modal_trajectory_image(const modal_trajectory *trajectory, void **bytes,
                                    size_t *length, modal_error *err)
{
    *bytes = NULL;
    *length = 0;
    modal_status status = write_whole(trajectory, NULL, bytes, length, err);
    if (status != MODAL_OK) {
        modal_free(bytes);
        *length = 0;
    }
    return status;
}
