/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/trajectory.h"

#include <string.h>

#include "lib/base/memory.h"

void modal_trajectory_free(modal_trajectory *trajectory)
{
    for (int32_t i = 0; i < trajectory->n_provenance; i++)
        modal_provenance_free(&trajectory->provenance[i]);
    modal_free(&trajectory->provenance);
    modal_free(&trajectory->times);
    modal_free(&trajectory->mode_offsets);
    modal_free(&trajectory->q);
    modal_free(&trajectory->q_velocities);
    modal_free(&trajectory->pose_velocities);
    modal_free(&trajectory->poses);
    modal_free(&trajectory->still);
    modal_free(&trajectory->energy);
    modal_free(&trajectory->quality);
    modal_free(&trajectory->basis_bytes);
    modal_free(&trajectory->basis_path);
    modal_free(&trajectory->rebase_errors);
    modal_free(&trajectory->projection_errors);
    modal_free(&trajectory->models);
    memset(trajectory, 0, sizeof *trajectory);
}

modal_status modal_trajectory_check_basis(const modal_trajectory *trajectory,
                                          const modal_basis *basis, modal_error *err)
{
    if (strcmp(trajectory->basis_hash, basis->hash) != 0 && trajectory->basis_recipe[0] &&
        strcmp(trajectory->basis_recipe, basis->recipe_hash) == 0)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "made for another basis: hash %s, this basis has %s, by the same recipe (modalsim "
                               "BASIS.h5 OUT.h5 --rebase TRAJ.h5 carries it over)",
                               trajectory->basis_hash, basis->hash);
    if (strcmp(trajectory->basis_hash, basis->hash) != 0)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "made for another basis: hash %s, this basis has %s",
                               trajectory->basis_hash, basis->hash);
    if (trajectory->n_objects != basis->n_objects)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%d objects, the basis has %d",
                               trajectory->n_objects, basis->n_objects);
    int64_t offset = 0;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        int64_t r = basis->shapes[basis->objects[i].shape].modes.n_modes;
        if (trajectory->mode_offsets[i] != offset || trajectory->mode_offsets[i + 1] != offset + r)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "object %d: reduced coordinates [%lld, %lld), the basis has "
                                   "[%lld, %lld)",
                                   i, (long long)trajectory->mode_offsets[i],
                                   (long long)trajectory->mode_offsets[i + 1], (long long)offset,
                                   (long long)(offset + r));
        offset += r;
    }
    return MODAL_OK;
}
