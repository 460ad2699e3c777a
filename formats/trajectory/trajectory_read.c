/* SPDX-License-Identifier: Apache-2.0 */
/* Reading traj.h5, for use and for the checker, and where its basis is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/h5/h5_util.h"
#include "formats/h5/provenance_h5.h"
#include "formats/h5/quality_h5.h"
#include "formats/h5/rules.h"
#include "formats/trajectory/trajectory_h5.h"
#include "formats/trajectory/trajectory_rules.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"

/* The link is for h5py and h5ls; what counts is the attribute, and they must not disagree. */
static modal_status read_link(const modal_h5_in *in, const modal_h5_place *root,
                              const modal_trajectory *t)
{
    char *file_name = NULL;
    htri_t exists = H5Lexists(root->id, "basis", H5P_DEFAULT);
    if (exists == 0) return MODAL_OK;
    modal_status status = modal_h5_read_external(in, root, "basis", &file_name);
    if (status == MODAL_OK && file_name && t->basis_path && strcmp(file_name, t->basis_path) != 0)
        status =
            modal_broken(&in->checker, "/basis", "leads to \"%.200s\", basis_path is \"%.200s\"",
                         file_name, t->basis_path);
    modal_free(&file_name);
    return status;
}

enum { MOST_REPEATED = 1000 }; /* numbers of poses in memory a byte of the file */

/* /poses has the objects that move; the pose of each other object is stored once. */
static modal_status read_moving(const modal_h5_in *in, const modal_h5_place *root, int known, int64_t n_frames, modal_trajectory *t)
{
    modal_status status = MODAL_OK;
    int32_t *moving = NULL;
    double *poses = NULL, *still = NULL;
    int64_t n_moving = -1, dims[4] = {n_frames, -1, 3, 4}, still_dims[3] = {-1, 3, 4}, floats = 0, row = 0;
    MODAL_TRY(modal_h5_read_array(in, root, "posed_objects", MODAL_H5_I32, 1, &n_moving, MODAL_H5_REQUIRED, &moving));
    dims[1] = n_moving;
    if (known && n_moving >= 0) still_dims[0] = t->n_objects - n_moving;
    MODAL_TRY(modal_h5_read_array(in, root, "poses", MODAL_H5_F64, 4, dims, MODAL_H5_REQUIRED, known && moving ? &poses : NULL));
    if (n_moving > t->n_objects && known) {
        status = modal_broken(&in->checker, "/posed_objects", "%lld objects of %d", (long long)n_moving, t->n_objects);
        goto done;
    }
    MODAL_TRY(modal_h5_read_array(in, root, "static_poses", MODAL_H5_F64, 3, still_dims, MODAL_H5_REQUIRED, poses ? &still : NULL));
    if (!poses || !still) goto done;
    for (int64_t i = 0; i < n_moving; i++)
        if (moving[i] < 0 || moving[i] >= t->n_objects || (i > 0 && moving[i] <= moving[i - 1])) {
            status = modal_broken(&in->checker, "/posed_objects", "row %lld: not ascending, or no object, %d", (long long)i, moving[i]);
            goto done;
        }
    /* poses that stand still are repeated in memory: a small file must not ask for any amount */
    if (!modal_size_multiply(12 * (int64_t)t->n_objects, n_frames, &floats) || floats / MOST_REPEATED > in->file_bytes)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT, "/poses: %d objects in %lld frames, in a file of %lld bytes", t->n_objects,
                   (long long)n_frames, (long long)in->file_bytes);
    MODAL_TRY(modal_alloc(&t->still, t->n_objects, 1, "/static_poses", in->checker.err));
    MODAL_TRY(modal_alloc(&t->poses, floats, sizeof *t->poses, "/poses", in->checker.err));
    memset(t->still, 1, (size_t)t->n_objects);
    for (int64_t i = 0; i < n_moving; i++) t->still[moving[i]] = 0;
    for (int64_t f = 0, k = 0; f < n_frames; f++, k = 0)
        for (int32_t i = 0; i < t->n_objects; i++)
            memcpy(t->poses + 12 * (f * t->n_objects + i), t->still[i] ? still + 12 * k++ : poses + 12 * row++, 12 * sizeof *poses);
done:
    modal_free(&moving);
    modal_free(&poses);
    modal_free(&still);
    return status;
}

static modal_status read_arrays(const modal_h5_in *in, const modal_h5_place *root,
                                modal_trajectory *t, int64_t *n_coordinates)
{
    modal_status status = MODAL_OK;
    int64_t n_frames = -1, n_offsets = -1;
    MODAL_TRY(modal_h5_read_array(in, root, "times", MODAL_H5_F64, 1, &n_frames, MODAL_H5_REQUIRED,
                                  &t->times));
    MODAL_TRY(modal_h5_read_array(in, root, "mode_offsets", MODAL_H5_I64, 1, &n_offsets,
                                  MODAL_H5_REQUIRED, &t->mode_offsets));
    if (n_offsets - 1 > INT32_MAX)
        MODAL_FAIL(in->checker.err, MODAL_ERROR_INPUT, "/mode_offsets: %lld objects, at most %d",
                   (long long)(n_offsets - 1), INT32_MAX);
    t->n_frames = n_frames < 0 ? 0 : n_frames;
    t->n_objects = n_offsets < 1 ? 0 : (int32_t)(n_offsets - 1);
    /* Where the lengths are not known, type and shape are checked, and no values are read. */
    int64_t q_dims[2] = {n_frames, -1};
    MODAL_TRY(modal_h5_read_array(in, root, "q", MODAL_H5_F64, 2, q_dims, MODAL_H5_REQUIRED,
                                  n_frames < 0 ? NULL : &t->q));
    *n_coordinates = q_dims[1] < 0 ? 0 : q_dims[1];
    const int known = n_frames >= 0 && n_offsets >= 1;
    int64_t pose_dims[4] = {n_frames, n_offsets < 1 ? -1 : n_offsets - 1, 3, 4};
    if (modal_h5_has_link(root, "posed_objects")) MODAL_TRY(read_moving(in, root, known, n_frames, t));
    else MODAL_TRY(modal_h5_read_array(in, root, "poses", MODAL_H5_F64, 4, pose_dims, MODAL_H5_OPTIONAL, known ? &t->poses : NULL));
    int64_t energy_dims[2] = {n_frames, 4};
    MODAL_TRY(modal_h5_read_array(in, root, "energy", MODAL_H5_F64, 2, energy_dims, MODAL_H5_OPTIONAL,
                                  n_frames < 0 ? NULL : &t->energy));
done:
    return status;
}

static modal_status read_velocities(const modal_h5_in *in, const modal_h5_place *root, int64_t n_coordinates, modal_trajectory *t)
{
    modal_status status = MODAL_OK;
    int32_t n_moving = t->n_objects;
    int64_t dims[2] = {t->n_frames, n_coordinates}, floats = 12 * (int64_t)t->n_objects * t->n_frames;
    double *moving = NULL;
    if (!modal_h5_has_link(root, "q_velocities") && !modal_h5_has_link(root, "pose_velocities")) goto done;
    if (!t->q) goto done; /* its own error is reported */
    MODAL_TRY(modal_h5_read_array(in, root, "q_velocities", MODAL_H5_F64, 2, dims, MODAL_H5_REQUIRED, &t->q_velocities));
    if (!t->poses) goto done;
    for (int32_t i = 0; t->still && i < t->n_objects; i++) n_moving -= t->still[i] != 0;
    int64_t pose_dims[4] = {t->n_frames, n_moving, 3, 4};
    MODAL_TRY(modal_h5_read_array(in, root, "pose_velocities", MODAL_H5_F64, 4, pose_dims, MODAL_H5_REQUIRED, &moving));
    if (!moving || !t->still) {
        t->pose_velocities = moving;
        moving = NULL;
        goto done;
    }
    MODAL_TRY(modal_alloc_zero(&t->pose_velocities, floats, sizeof *t->pose_velocities, "/pose_velocities", in->checker.err));
    for (int64_t f = 0, row = 0; f < t->n_frames; f++)
        for (int32_t i = 0; i < t->n_objects; i++)
            if (!t->still[i]) memcpy(t->pose_velocities + 12 * (f * t->n_objects + i), moving + 12 * row++, 12 * sizeof *moving);
done:
    modal_free(&moving);
    return status;
}

static modal_status read_models(const modal_h5_in *in, const modal_h5_place *root, modal_trajectory *t)
{
    int64_t n = t->n_objects > 0 ? t->n_objects : -1;
    return modal_h5_read_array(in, root, "models", MODAL_H5_U8, 1, &n, MODAL_H5_OPTIONAL, n < 0 ? NULL : &t->models);
}

static modal_status read_carried_basis(const modal_h5_in *in, const modal_h5_place *root, modal_trajectory *t)
{
    modal_status status = MODAL_OK;
    int64_t n = -1;
    MODAL_TRY(modal_h5_read_array(in, root, "basis_file", MODAL_H5_U8, 1, &n, MODAL_H5_OPTIONAL, &t->basis_bytes));
    if (t->basis_bytes) t->n_basis_bytes = n;
done:
    return status;
}

/* What a motion of another basis, or of snapshots, has more. */
static modal_status read_origin(const modal_h5_in *in, const modal_h5_place *root, modal_trajectory *t)
{
    modal_status status = MODAL_OK;
    char *recipe = NULL;
    int64_t n = t->n_objects > 0 ? t->n_objects : -1, errors[2] = {t->times ? t->n_frames : -1, 4};
    if (modal_h5_has_attribute(root, "basis_recipe")) MODAL_TRY(modal_h5_read_text(in, root, "basis_recipe", &recipe));
    MODAL_TRY(modal_rule_hash(&in->checker, "/@basis_recipe", recipe));
    if (recipe) snprintf(t->basis_recipe, sizeof t->basis_recipe, "%.32s", recipe);
    MODAL_TRY(modal_h5_read_array(in, root, "rebase_errors", MODAL_H5_F64, 1, &n, MODAL_H5_OPTIONAL,
                                  n < 0 ? NULL : &t->rebase_errors));
    MODAL_TRY(modal_h5_read_array(in, root, "projection_errors", MODAL_H5_F64, 2, errors, MODAL_H5_OPTIONAL,
                                  errors[0] < 0 ? NULL : &t->projection_errors));
done:
    modal_free(&recipe);
    return status;
}

static modal_status read_all(const modal_h5_in *in, modal_trajectory *t)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = {H5I_INVALID_HID, ""};
    int64_t n_coordinates = 0;
    char *hash = NULL;
    MODAL_TRY(modal_h5_check_root(in, "trajectory", 1));
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    MODAL_TRY(modal_h5_read_text(in, &root, "basis_path", &t->basis_path));
    MODAL_TRY(modal_h5_read_text(in, &root, "basis_hash", &hash));
    /* A text that is too long must not become a good one by being cut. */
    if (hash && strlen(hash) < sizeof t->basis_hash) strcpy(t->basis_hash, hash);
    MODAL_TRY(read_link(in, &root, t));
    MODAL_TRY(read_arrays(in, &root, t, &n_coordinates));
    MODAL_TRY(read_origin(in, &root, t));
    MODAL_TRY(modal_quality_read(in, &root, t->times ? t->n_frames : -1, &t->quality));
    MODAL_TRY(read_models(in, &root, t));
    MODAL_TRY(read_carried_basis(in, &root, t));
    MODAL_TRY(read_velocities(in, &root, n_coordinates, t));
    MODAL_TRY(
        modal_provenance_read(in, &root, MODAL_H5_OPTIONAL, &t->provenance, &t->n_provenance));
    MODAL_TRY(modal_trajectory_rules(&in->checker, t, n_coordinates));
done:
    modal_free(&hash);
    modal_h5_leave(&root);
    return status;
}

static modal_status read_source(const modal_h5_source *source, modal_findings *findings,
                                modal_trajectory *trajectory, modal_error *err)
{
    modal_h5_in in = {H5I_INVALID_HID, 0, {findings, err}};
    memset(trajectory, 0, sizeof *trajectory);
    modal_status status = modal_h5_open(&in, source);
    if (status == MODAL_OK) status = read_all(&in, trajectory);
    status = modal_h5_close(&in, status);
    if (status != MODAL_OK) {
        modal_trajectory_free(trajectory);
        modal_error_context(err, "%s", source->path);
    }
    return status;
}

modal_status modal_trajectory_read(const char *path, modal_trajectory *trajectory, modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    return read_source(&source, NULL, trajectory, err);
}

modal_status modal_trajectory_read_image(const void *bytes, size_t length, const char *name,
                                         modal_trajectory *trajectory, modal_error *err)
{
    const modal_h5_source source = {name, bytes ? bytes : "", length};
    return read_source(&source, NULL, trajectory, err);
}

static modal_status check_source(const modal_h5_source *source, modal_findings *findings,
                                 modal_error *err)
{
    modal_trajectory trajectory;
    modal_status status = read_source(source, findings, &trajectory, err);
    if (status == MODAL_OK) modal_trajectory_free(&trajectory);
    return status;
}

modal_status modal_trajectory_check(const char *path, modal_findings *findings, modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    return check_source(&source, findings, err);
}

modal_status modal_trajectory_check_image(const void *bytes, size_t length, const char *name,
                                          modal_findings *findings, modal_error *err)
{
    const modal_h5_source source = {name, bytes ? bytes : "", length};
    return check_source(&source, findings, err);
}

modal_status modal_trajectory_basis_path(const modal_trajectory *trajectory,
                                         const char *trajectory_path, char **path, modal_error *err)
{
    const char *name = trajectory->basis_path;
    const int64_t length = (int64_t)strlen(name);
    modal_status status = modal_path_beside(trajectory_path, name, length, path, err);
    if (status != MODAL_OK || name[0] == '/' || !trajectory_path || access(*path, F_OK) == 0)
        return status;
    /* The trajectory may be a link: then its basis lies beside the file that the link leads to. */
    char *real = realpath(trajectory_path, NULL), *beside = NULL;
    if (real && modal_path_beside(real, name, length, &beside, NULL) == MODAL_OK && access(beside, F_OK) == 0) {
        modal_free(path);
        *path = beside;
        beside = NULL;
    }
    free(real);
    modal_free(&beside);
    return MODAL_OK;
}
