/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex flow: the trajectory with its basis, the texture, the state to begin with. */
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "lib/base/memory.h"
#include "lib/deform/deform.h"
#include "lib/model/user_surface.h"
#include "lib/octree/connect.h"
#include "tools/common/inputs.h"
#include "tools/common/trajectory_input.h"
#include "tools/modaltex/modaltex_flow.h"

void modaltex_flow_free(modaltex_flow_input *in)
{
    modal_trajectory_free(&in->trajectory);
    modal_basis_free(&in->basis);
    modal_surface_mesh_free(&in->surface);
    modal_octree_file_free(&in->file);
    modal_flow_probe_free(&in->probe);
    modal_flow_probe_free(&in->texels);
    modal_flow_state_free(&in->state);
    modal_free(&in->basis_path);
    modal_free(&in->inputs);
    modal_free(&in->triangles);
    modal_free(&in->times);
}

static modal_status read_motion(const modaltex_flow_request *r, modaltex_flow_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory *q = &in->trajectory;
    MODAL_TRY(tool_read_trajectory(r->trajectory, q, in->trajectory_hash, err));
    MODAL_TRY(tool_find_basis(r->basis, r->trajectory, q, &in->basis_path, err));
    MODAL_TRY(modal_basis_read(in->basis_path, MODAL_BASIS_DEFORM, &in->basis, err));
    status = modal_trajectory_check_basis(q, &in->basis, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", r->trajectory);
        goto done;
    }
    if (r->object >= in->basis.n_objects)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--object: the trajectory has %d, %lld", in->basis.n_objects, (long long)r->object);
    MODAL_TRY(tool_slice_select(&r->frames, q->n_frames, "the trajectory", &in->start, &in->step, &in->n, err));
    MODAL_TRY(modal_deform_topology(&in->basis, 0, &in->n_points, &in->n_triangles, &in->triangles, err));
    for (int64_t i = 0; i < r->object; i++) in->first_point += in->basis.shapes[in->basis.objects[i].shape].surface.n_vertices;
    MODAL_TRY(modal_user_surface(&in->basis.shapes[in->basis.objects[r->object].shape].surface, &in->surface, err));
done:
    return status;
}

/* Neighbours where the texture has none, and where vertices read. */
static modal_status connect(tool *t, const modaltex_flow_request *r, modaltex_flow_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sheets sheets = {0};
    modal_octree *o = &in->file.octree;
    const modal_surface_mesh *s = &in->surface;
    const double start = tool_seconds();
    status = modal_sheets_make(o, s->positions, s->n_vertices, s->triangles, s->n_triangles, &sheets, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", r->texture);
        goto done;
    }
    if (!o->neighbours) MODAL_TRY(modal_octree_connect(&sheets, &t->progress, o, err));
    MODAL_TRY(modal_flow_probe_new(&sheets, s->n_vertices, &in->probe, err));
    if (r->images) MODAL_TRY(modal_flow_probe_texels(&sheets, &in->file.atlas, &in->texels, &in->n_lost, err));
    if (in->n_lost > 0) tool_warn(t, "--images: %lld texels have no place on the surface, they are black", (long long)in->n_lost);
    tool_stage(t, "neighbours", tool_seconds() - start, -1);
done:
    modal_sheets_free(&sheets);
    return status;
}

/* All that the motion of liquid follows beside the trajectory and the texture, a line each. */
static modal_status describe(const modaltex_flow_request *r, char **text, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_flow_settings *s = &r->settings;
    modal_hash *hash = NULL;
    char sources[MODAL_HASH_TEXT], all[1024];
    MODAL_TRY(modal_hash_new(&hash, err));
    for (int64_t i = 0; i < s->n_sources; i++)
        modal_hash_array(hash, "source", (const double[5]){s->sources[i].centre[0], s->sources[i].centre[1], s->sources[i].centre[2],
                                                           s->sources[i].radius, s->sources[i].rate}, 5, sizeof(double));
    modal_hash_text(hash, sources);
    snprintf(all, sizeof all, "object %lld\ngravity %.17g,%.17g,%.17g\nspeed %.17g\nrain %.17g\nabsorb %.17g\nevaporate %.17g\nfilm %.17g\nsources %lld %s",
             (long long)r->object, s->gravity[0], s->gravity[1], s->gravity[2], 9.81 * s->mobility, s->rain, s->absorption, s->evaporation, s->film,
             (long long)s->n_sources, sources);
    MODAL_TRY(modal_copy_text(text, all, SIZE_MAX, err));
done:
    modal_hash_delete(hash);
    return status;
}

/* MODAL_ERROR_INPUT with the first lines that differ. */
static modal_status check_settings(const char *path, const char *made, const char *asked, modal_error *err)
{
    while (made && *made && *asked) {
        const int of_made = (int)strcspn(made, "\n"), of_asked = (int)strcspn(asked, "\n");
        if (of_made != of_asked || strncmp(made, asked, (size_t)of_made) != 0) break;
        made += of_made + (made[of_made] != 0);
        asked += of_asked + (asked[of_asked] != 0);
    }
    if (made && !*made && !*asked) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: made with %.*s, not with %.*s", path, made ? (int)strcspn(made, "\n") : 16,
                           made ? made : "unknown settings", (int)strcspn(asked, "\n"), asked);
}

/* The state of a checkpoint, of which only frames that come later are made. */
static modal_status go_on(const modaltex_flow_request *r, modaltex_flow_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_octree_file file = {0};
    const modal_octree *o = &in->file.octree, *p;
    char *asked = NULL;
    MODAL_TRY(modal_octree_read(r->restart, &file, err));
    p = &file.octree;
    if (file.flow.n_samples == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has no state of a flow", r->restart);
    if (p->n_samples != o->n_samples || strcmp(p->source_hash, o->source_hash) != 0 || memcmp(p->keys, o->keys, 8 * (size_t)o->n_samples) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: of another texture than %s", r->restart, r->texture);
    if (!file.flow.trajectory_hash || strcmp(file.flow.trajectory_hash, in->trajectory_hash) != 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: of another trajectory than %s, hash %s, not %s", r->restart, r->trajectory,
                   file.flow.trajectory_hash ? file.flow.trajectory_hash : "unknown", in->trajectory_hash);
    MODAL_TRY(describe(r, &asked, err));
    MODAL_TRY(check_settings(r->restart, file.flow.settings, asked, err));
    in->state = file.flow;
    file.flow = (modal_flow_state){0};
    while (in->n > 0 && !(in->trajectory.times[in->start] > in->state.time)) in->start += in->step, in->n--;
    if (in->n == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no frame comes after its time, %.9g s", r->restart, in->state.time);
done:
    modal_octree_file_free(&file);
    modal_free(&asked);
    return status;
}

modal_status modaltex_flow_read(tool *t, const modaltex_flow_request *r, modaltex_flow_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    double start = tool_seconds();
    MODAL_TRY(read_motion(r, in, err));
    MODAL_TRY(modal_octree_read(r->texture, &in->file, err));
    modal_flow_state_free(&in->file.flow); /* that of --restart counts */
    if (r->images && in->file.atlas.n_rows == 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has no atlas, as --images needs: modaltex bake --keep makes it", r->texture);
    if (r->restart) MODAL_TRY(go_on(r, in, err));
    const char *paths[] = {r->trajectory, in->basis_path, r->texture, r->restart};
    for (int i = 0; i < 4; i++)
        if (paths[i]) MODAL_TRY(tool_add_input(paths[i], &in->inputs, &in->inputs_used, &in->inputs_room, err));
    tool_stage(t, "read", tool_seconds() - start, -1);
    MODAL_TRY(connect(t, r, in, err));
    if (!r->restart) {
        MODAL_TRY(modal_flow_state_new(&in->file.octree, r->dirt, &in->state, err));
        MODAL_TRY(modal_copy_text(&in->state.trajectory_hash, in->trajectory_hash, SIZE_MAX, err));
        MODAL_TRY(describe(r, &in->state.settings, err));
        in->state.time = in->trajectory.times[in->start];
    }
    if (r->images && strcmp(r->images, "dirt") == 0 && !in->state.dirt) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--images: there is no dirt without --dirt");
    MODAL_TRY(modal_alloc(&in->times, in->n, sizeof *in->times, "times", err));
    for (int64_t i = 0; i < in->n; i++) in->times[i] = in->trajectory.times[in->start + i * in->step];
done:
    return status;
}
