/* SPDX-License-Identifier: Apache-2.0 */
/* modaltled: a mesh and a scene become a solid with loads, a step and frames. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/solid_scene.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/model/material.h"
#include "tools/modaltled/modaltled.h"

/* "displacements[2]" */
static void name_action(const modal_solid_action *a, char *to, size_t bytes)
{
    snprintf(to, bytes, "%s[%d]", modal_solid_lists[a->kind], a->place);
}

/* Nodes by numbers of the mesh, in the order of a file's rows. */
static modal_status find_tags(const modal_volume_mesh *mesh, const char *place, const modal_solid_action *a,
                              modal_tled_nodes *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint64_t *keys = NULL;
    int32_t *order = NULL;
    MODAL_TRY(modal_alloc(&keys, mesh->n_nodes, sizeof *keys, "node numbers", err));
    MODAL_TRY(modal_alloc(&order, mesh->n_nodes, sizeof *order, "node numbers", err));
    MODAL_TRY(modal_alloc(&to->nodes, a->n_rows, sizeof *to->nodes, "node numbers", err));
    for (int64_t i = 0; i < mesh->n_nodes; i++) keys[i] = (uint64_t)mesh->node_tags[i], order[i] = (int32_t)i;
    MODAL_TRY(modal_sort_by_key(mesh->n_nodes, keys, order, err));
    for (int64_t k = 0; k < a->n_rows; k++) {
        const double tag = a->tags[k];
        int64_t low = 0, high = mesh->n_nodes;
        if (!(tag >= 0 && tag < 0x1p53 && tag == floor(tag)))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: row %lld: no number of a node, %g", place, (long long)k + 1, tag);
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            if (keys[middle] < (uint64_t)tag) low = middle + 1;
            else high = middle;
        }
        if (low == mesh->n_nodes || keys[low] != (uint64_t)tag)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: row %lld: no element has a node of that number, %.0f", place,
                       (long long)k + 1, tag);
        to->nodes[to->n++] = order[low];
    }
done:
    modal_free(&keys);
    modal_free(&order);
    return status;
}

/* A file of nodes is one of the scene's, for provenance and checkpoints. *path is taken. */
static modal_status add_file(modal_solid_scene *scene, char **path, modal_error *err)
{
    modal_status status = MODAL_OK;
    char **files = NULL;
    for (int32_t i = 0; i < scene->n_files; i++)
        if (strcmp(scene->files[i], *path) == 0) goto done;
    MODAL_TRY(modal_alloc(&files, (int64_t)scene->n_files + 1, sizeof *files, "files", err));
    for (int32_t i = 0; i < scene->n_files; i++) files[i] = scene->files[i];
    files[scene->n_files++] = *path;
    *path = NULL;
    modal_free(&scene->files);
    scene->files = files;
done:
    return status;
}

/* The nodes that a text says. A file is looked for beside the scene. */
static modal_status find_nodes(const modaltled_request *r, modaltled_case *c, const char *place, const char *text, uint8_t *marks,
                               modal_tled_nodes *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &c->solid.mesh;
    char *path = NULL;
    const modal_group *group = NULL;
    memset(marks, 0, (size_t)mesh->n_nodes);
    MODAL_TRY(tool_find_group(mesh, text, strlen(text), -1, &group, err));
    if (!group && strncmp(text, "box:", 4) != 0 && strncmp(text, "plane:", 6) != 0) {
        MODAL_TRY(modal_path_beside(r->scene_path, text, (int64_t)strlen(text), &path, err));
        text = path;
    }
    MODAL_TRY(tool_mark_nodes(mesh, place, text, marks, err));
    for (int64_t i = 0; i < mesh->n_nodes; i++) to->n += marks[i];
    MODAL_TRY(modal_alloc(&to->nodes, to->n, sizeof *to->nodes, "nodes", err));
    to->n = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (marks[i]) to->nodes[to->n++] = (int32_t)i;
    if (group && group->dimension == 2) to->faces = group->faces, to->n_faces = group->n_faces;
    if (path) MODAL_TRY(add_file(&c->scene, &path, err));
done:
    modal_free(&path);
    return status;
}

static uint8_t law_of(const char *name)
{
    int k = MODAL_LAW_STVK;
    while (k < MODAL_LAWS && strcmp(name, modal_law_name((modal_law_kind)k)) != 0) k++;
    return (uint8_t)k; /* the reader of scenes takes no other names */
}

/* *line: of the law that is wrong. */
static modal_status find_laws(const modal_volume_mesh *mesh, const modal_solid_scene *scene, uint8_t *laws, int32_t *line,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *taken = NULL;
    MODAL_TRY(modal_alloc_zero(&taken, mesh->n_elements, 1, "laws", err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t m = mesh->element_material[e];
        const int said = m < 0 ? 0 : mesh->materials[m].law;
        laws[e] = scene->model ? law_of(scene->model) : said ? (uint8_t)said : MODAL_LAW_NEO_HOOKEAN;
    }
    for (int32_t i = 0; i < scene->n_models; i++) {
        const char *name = scene->model_groups[i];
        const modal_group *group;
        *line = scene->model_lines[i];
        MODAL_TRY(tool_find_group(mesh, name, strlen(name), 3, &group, err));
        if (!group) {
            status = tool_unknown_group(mesh, "laws", "unknown group", name, (int)strlen(name), 3, err);
            goto done;
        }
        for (int64_t k = 0; k < group->n_elements; k++) {
            const int32_t e = group->elements[k];
            if (taken[e]++)
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "laws: element %lld is in two of the groups, %s",
                           (long long)mesh->element_tags[e], name);
            laws[e] = law_of(scene->models[i]);
        }
    }
done:
    modal_free(&taken);
    return status;
}

/* When the curve of a prescribed displacement first changes within less than a step, s, and its values before and after; negative: never. */
static double jump_of(const modal_curve *c, double step, double *from, double *to)
{
    *from = 0, *to = modal_tled_signal(c, 0, 1);
    if (fabs(*to) > 1e-9) return 0;
    if (c->kind == MODAL_CURVE_SMOOTH && c->end - c->start < step) return *to = 1, c->start;
    for (int k = 0; c->kind == MODAL_CURVE_SWEEP && k < 2; k++) {
        const double at = k ? c->end : c->start, within = modal_curve_value(c, at, (c->start + c->end) / 2);
        *from = k ? within : 0, *to = k ? 0 : within;
        if (fabs(within) > 1e-9) return at;
    }
    for (int64_t k = 0; c->kind == MODAL_CURVE_KEYS && k < c->n_keys; k++) {
        const double before = k > 0 ? c->times[k - 1] : c->times[k];
        *from = k > 0 ? c->values[k - 1] : 0, *to = c->values[k];
        if (c->times[k] > 0 && *to != *from && c->times[k] - before < step) return fmax(before, 0);
    }
    return -1;
}

/* A prescribed displacement that jumps sends a shock through the solid. */
static void warn_of_jumps(tool *t, const modaltled_request *r, const modaltled_case *c)
{
    for (int32_t i = 0; i < c->scene.n_actions; i++) {
        const modal_solid_action *a = &c->scene.actions[i];
        double from, to;
        if (a->kind != MODAL_SOLID_DISPLACEMENT) continue;
        const double at = jump_of(&a->curve, c->step, &from, &to);
        if (at >= 0)
            tool_warn(t, "%s:%d: displacements[%d]: jumps at t = %g s, within a step from %g to %g times what is prescribed; a curve that begins at 0 and "
                      "takes many steps does not", r->scene_path, a->line, a->place, at, from, to);
    }
}

/* Refuses what acts at no time; warns of a load that drops to 0 before the end. */
static modal_status check_curves(tool *t, const modaltled_request *r, const modaltled_case *c, modal_error *err)
{
    const double end = (double)c->n_steps * c->step;
    for (int32_t i = 0; i < c->scene.n_actions; i++) {
        const modal_solid_action *a = &c->scene.actions[i];
        const char *list = modal_solid_lists[a->kind];
        const double drop = modal_curve_drop(&a->curve, end);
        if (a->kind != MODAL_SOLID_FORCE && a->kind != MODAL_SOLID_PRESSURE) continue; /* a displacement of 0 holds, and so does its last one */
        if (!modal_curve_acts(&a->curve, end))
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s:%d: %s[%d]: would change nothing, it acts at no time from 0 to %g s", r->scene_path,
                                   a->line, list, a->place, end);
        if (drop != 0)
            tool_warn(t, "%s:%d: %s[%d]: its curve ends at %g s with the value %g; from there to %g s it is 0", r->scene_path, a->line, list, a->place,
                      a->curve.times[a->curve.n_keys - 1], drop, end);
    }
    return MODAL_OK;
}

/* A body that the solid is in at the beginning pushes it out in one step. */
static void warn_of_overlaps(tool *t, const modaltled_request *r, const modaltled_case *c)
{
    const modal_tled_solid *s = &c->model.solid;
    for (int32_t b = 0; b < s->n_contacts; b++) {
        double place[6];
        int64_t n = 0;
        modal_tled_contact_place(&c->scene.contacts[b], 0, place);
        for (int64_t k = 0; k < s->n_touching; k++) {
            const double *from = s->nodes + 3 * (int64_t)s->touching[k];
            double x[3];
            memcpy(x, from, sizeof x);
            n += s->touching_masks[k] >> b & 1 && modal_tled_put_out(&s->contacts[b], place, place, from, x);
        }
        if (n > 0)
            tool_warn(t, "%s:%d: contacts[%d]: %lld nodes are in it at t = 0 s", r->scene_path, c->scene.contacts[b].line, b,
                      (long long)n);
    }
}

/* Loads that only supports take. */
static modal_status warn_of_held(tool *t, const modaltled_request *r, const modaltled_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *idle = NULL;
    MODAL_TRY(modal_alloc(&idle, c->scene.n_actions, 1, "loads", err));
    MODAL_TRY(modal_tled_loads_idle(&c->scene, &c->model.solid, idle, err));
    for (int32_t i = 0; i < c->scene.n_actions; i++)
        if (idle[i])
            tool_warn(t, "%s:%d: %s[%d]: moves nothing: the nodes that it acts on are held or displaced in its direction", r->scene_path,
                      c->scene.actions[i].line, modal_solid_lists[c->scene.actions[i].kind], c->scene.actions[i].place);
done:
    modal_free(&idle);
    return status;
}

/* Of a mesh that has none of the elements that a key is about. */
static void warn_of_elements(tool *t, const modaltled_request *r, const modaltled_case *c)
{
    const modal_tled_solid *s = &c->model.solid;
    if (c->scene.hourglass >= 0 && s->n_hexahedra == 0)
        tool_warn(t, "%s: hourglass: means nothing without hexahedra, %g", r->scene_path, c->scene.hourglass);
    if (c->scene.hex8_centre && s->n_hexahedra == 0)
        tool_warn(t, "%s: hex8_gradients: means nothing without hexahedra, centre", r->scene_path);
    if (c->scene.nodal_pressure && s->n_tetrahedra == 0)
        tool_warn(t, "%s: nodal_pressure: means nothing without tetrahedra, true", r->scene_path);
    if (c->scene.mean_patches && s->n_tetrahedra == 0)
        tool_warn(t, "%s: mean_patches: means nothing without tetrahedra, true", r->scene_path);
}

/* Linear tetrahedra cannot bend or shear without changing their volume, which such materials resist. */
static void warn_of_locking(tool *t, const modaltled_case *c)
{
    const modal_volume_mesh *mesh = &c->solid.mesh;
    for (int32_t m = 0; m < mesh->n_materials && !c->scene.nodal_pressure && !c->scene.mean_patches; m++) {
        int64_t n = 0;
        if (mesh->materials[m].poisson < MODAL_NEARLY_INCOMPRESSIBLE) continue;
        for (int64_t e = 0; e < mesh->n_elements; e++) n += mesh->element_material[e] == m && mesh->element_type[e] == MODAL_ELEMENT_TET4;
        if (n > 0)
            tool_warn(t, "material \"%s\": linear tetrahedra are much too stiff near nu = 0.5, with \"mean_patches\": true and hexahedra are not, %g",
                      mesh->materials[m].name, mesh->materials[m].poisson);
    }
}

/* Nodes of actions and bodies. */
static modal_status find_all_nodes(const modaltled_request *r, modaltled_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &c->solid.mesh;
    uint8_t *marks = NULL;
    char place[64];
    int line = 0;
    MODAL_TRY(modal_alloc(&marks, mesh->n_nodes, 1, "nodes", err));
    MODAL_TRY(modal_alloc_zero(&c->nodes, c->scene.n_actions, sizeof *c->nodes, "nodes", err));
    MODAL_TRY(modal_alloc_zero(&c->touching, c->scene.n_contacts, sizeof *c->touching, "nodes", err));
    for (int32_t i = 0; status == MODAL_OK && i < c->scene.n_actions; i++) {
        const modal_solid_action *a = &c->scene.actions[i];
        line = a->line;
        name_action(a, place, sizeof place);
        status = a->rows ? find_tags(mesh, place, a, &c->nodes[i], err) : find_nodes(r, c, place, a->nodes, marks, &c->nodes[i], err);
    }
    for (int32_t i = 0; status == MODAL_OK && i < c->scene.n_contacts; i++) {
        const modal_solid_contact *contact = &c->scene.contacts[i];
        line = contact->line;
        snprintf(place, sizeof place, "contacts[%d]", i);
        if (contact->nodes) status = find_nodes(r, c, place, contact->nodes, marks, &c->touching[i], err);
    }
    if (status != MODAL_OK) modal_error_context(err, "%s:%d", r->scene_path, line);
done:
    modal_free(&marks);
    return status;
}

modal_status modaltled_read(tool *t, const modaltled_request *r, modaltled_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &c->solid.mesh;
    int32_t line = 0;
    MODAL_TRY(modal_solid_scene_read(r->scene_path, &c->scene, err));
    MODAL_TRY(tool_solid_read(t, &r->input, &c->solid, err));
    MODAL_TRY(modal_alloc(&c->laws, mesh->n_elements, 1, "laws", err));
    MODAL_TRY(find_all_nodes(r, c, err));
    status = find_laws(mesh, &c->scene, c->laws, &line, err);
    if (status == MODAL_OK) {
        const modal_tled_request request = {c->laws, c->scene.hourglass, c->scene.nodal_pressure, c->scene.mean_patches,
                                            c->scene.hex8_centre};
        status = modal_tled_model_new(mesh, &request, &c->model, err);
        if (status != MODAL_OK) {
            modal_error_context(err, "%s", r->input.mesh_path);
            goto done;
        }
        status = modal_tled_loads_new(&c->scene, c->nodes, c->solid.n_fixed_nodes, c->solid.fixed_nodes, c->solid.fixed_components,
                                      &c->model, &line, err);
    }
    if (status == MODAL_OK) status = modal_tled_contacts_new(&c->scene, c->touching, &c->model, err);
    if (status == MODAL_OK) {
        warn_of_elements(t, r, c);
        warn_of_locking(t, c);
        warn_of_overlaps(t, r, c);
        MODAL_TRY(warn_of_held(t, r, c, err));
    } else if (line > 0) {
        modal_error_context(err, "%s:%d", r->scene_path, line);
    } else {
        modal_error_context(err, "%s", r->scene_path);
    }
done:
    return status;
}

static modal_status check_step(tool *t, const modaltled_request *r, modaltled_case *c, modal_error *err)
{
    const double limit = c->critical.estimate, bound = c->critical.bound;
    const long long tag = c->critical.element < 0 ? -1
                          : (long long)c->solid.mesh.element_tags[c->model.element_from[c->critical.element]];
    if (c->scene.step == 0 && !isfinite(limit))
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s:%d: step: nothing is stiff, \"auto\"", r->scene_path, c->scene.step_line);
    c->step = c->scene.step > 0 ? c->scene.step : fmax(0.9 * limit, fmin(bound, limit) * 0.999);
    tool_note(t, "critical step %.4g s (certainly not below %.4g s; element %lld), step %.6g s", limit, bound, tag, c->step);
    json_object_set_new(t->report, "critical_step",
                        json_pack("{s:f, s:f, s:I, s:i}", "estimate_s", isfinite(limit) ? limit : -1.0, "bound_s",
                                  isfinite(bound) ? bound : -1.0, "element", tag, "products", c->critical.products));
    json_object_set_new(t->report, "step_s", json_real(c->step));
    if (c->step <= limit) return MODAL_OK;
    if (!r->unsafe_step)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "%s:%d: step: above the critical one, %.9g s, of %.9g s (bound %.9g s); \"auto\" takes a smaller one, "
                               "--unsafe-step this one",
                               r->scene_path, c->scene.step_line, c->step, limit, bound);
    tool_warn(t, "the step is above the critical one, %.9g s, of %.9g s (bound %.9g s)", c->step, limit, bound);
    return MODAL_OK;
}

/* Steps that are done at every frame. */
static modal_status plan_frames(tool *t, const modaltled_request *r, modaltled_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_solid_scene *s = &c->scene;
    const double steps = s->n_steps > 0 ? (double)s->n_steps : rint(s->duration / c->step);
    const double frames = s->steady ? 2 : s->n_at > 0 ? (double)s->n_at : s->every > 0 ? floor(steps / (double)s->every) + 1
                                                                       : floor(s->duration * s->fps * (1 + 1e-12)) + 1;
    if (!(steps < 0x1p52 && frames < 0x1p31))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%d: too many steps or frames, %g and %g", r->scene_path, s->frames_line, steps, frames);
    c->n_steps = (int64_t)steps;
    if (s->steady) {
        tool_note(t, "until steady, at most %lld steps", (long long)c->n_steps);
        goto done;
    }
    c->n_frames = (int64_t)frames;
    MODAL_TRY(modal_alloc(&c->frames, c->n_frames, sizeof *c->frames, "frames", err));
    for (int64_t i = 0; i < c->n_frames; i++) {
        c->frames[i] = s->n_at > 0 ? s->at[i] : s->every > 0 ? i * s->every : (int64_t)rint((double)i / s->fps / c->step);
        if (i > 0 && c->frames[i] <= c->frames[i - 1])
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%d: fps: two frames within one step of %g s, %g", r->scene_path, s->frames_line, c->step, s->fps);
    }
    if (s->n_at > 0 && s->at[s->n_at - 1] > c->n_steps)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%d: at_steps: after the last of %lld steps of %.6g s in duration, %lld", r->scene_path,
                   s->frames_line, (long long)c->n_steps, c->step, (long long)s->at[s->n_at - 1]);
    if (c->frames[c->n_frames - 1] > c->n_steps) c->n_steps = c->frames[c->n_frames - 1];
done:
    return status;
}

/* Mass on the nodes that bound the step, where the scene asks for a longer one. */
static modal_status scale_masses(tool *t, const modaltled_request *r, modaltled_case *c, const double *rest, modal_error *err)
{
    modal_status status = MODAL_OK;
    double share = 0;
    int64_t n = 0;
    if (c->scene.scaled_step == 0) return MODAL_OK;
    MODAL_TRY(modal_tled_scale_masses(&c->model, &c->forces, rest, c->scene.scaled_step, &share, &n, err));
    tool_note(t, "mass scaling: %lld nodes have %.4g of the solid's mass more", (long long)n, share);
    json_object_set_new(t->report, "mass_scaling", json_pack("{s:f, s:I}", "share", share, "nodes", (json_int_t)n));
    if (!(share <= c->scene.scaled_limit))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s:%d: mass_scaling: a step of %.6g s takes %.4g of the solid's mass more, above the limit of %.4g",
                   r->scene_path, c->scene.scaled_line, c->scene.scaled_step, share, c->scene.scaled_limit);
done:
    return status;
}

modal_status modaltled_plan(tool *t, const modaltled_request *r, modaltled_case *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    double *rest = NULL;
    const double start = tool_seconds();
    MODAL_TRY(modal_tled_forces_new(&c->model, &c->forces, err));
    MODAL_TRY(modal_alloc_zero(&rest, c->model.solid.n_nodes, 3 * sizeof *rest, "displacements", err));
    MODAL_TRY(scale_masses(t, r, c, rest, err));
    MODAL_TRY(modal_tled_critical_rest(&c->model, &c->forces, &c->critical, err));
    tool_stage(t, "critical step", tool_seconds() - start, -1);
    MODAL_TRY(check_step(t, r, c, err));
    warn_of_jumps(t, r, c);
    MODAL_TRY(plan_frames(t, r, c, err));
    MODAL_TRY(check_curves(t, r, c, err));
    tool_note(t, "%lld steps, %lld frames", (long long)c->n_steps, (long long)c->n_frames);
    json_object_set_new(t->report, "steps", json_integer(c->n_steps));
    json_object_set_new(t->report, "frames", json_integer(c->n_frames));
done:
    modal_free(&rest);
    return status;
}

void modaltled_case_free(modaltled_case *c)
{
    for (int32_t i = 0; c->nodes && i < c->scene.n_actions; i++) modal_free(&c->nodes[i].nodes);
    modal_free(&c->nodes);
    for (int32_t i = 0; c->touching && i < c->scene.n_contacts; i++) modal_free(&c->touching[i].nodes);
    modal_free(&c->touching);
    modal_free(&c->frames);
    modal_free(&c->laws);
    modal_tled_forces_free(&c->forces);
    modal_tled_model_free(&c->model);
    modal_solid_scene_free(&c->scene);
    modal_solid_free(&c->solid);
}
