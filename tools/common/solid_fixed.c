/* SPDX-License-Identifier: Apache-2.0 */
/* Solids that tools read: which nodes are held, and in which components. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/bou.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/common/solid.h"

typedef struct tagged_node {
    int64_t tag;
    int32_t node;
} tagged_node;

static int compare_tags(const void *a, const void *b)
{
    int64_t x = ((const tagged_node *)a)->tag, y = ((const tagged_node *)b)->tag;
    return (x > y) - (x < y);
}

/* Marks the nodes with the numbers that a .bou file lists. */
static modal_status mark_numbers(const modal_volume_mesh *mesh, const char *path, uint8_t components,
                                 uint8_t *held, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *numbers = NULL, count = 0;
    tagged_node *tags = NULL;
    MODAL_TRY(modal_bou_read(path, &numbers, &count, err));
    MODAL_TRY(modal_alloc(&tags, mesh->n_nodes, sizeof *tags, "node numbers", err));
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        tags[i] = (tagged_node){mesh->node_tags[i], (int32_t)i};
    qsort(tags, (size_t)mesh->n_nodes, sizeof *tags, compare_tags);
    for (int64_t i = 0; i < count; i++) {
        tagged_node key = {numbers[i], 0};
        tagged_node *found =
            bsearch(&key, tags, (size_t)mesh->n_nodes, sizeof *tags, compare_tags);
        if (!found)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no element has a node of that number, %lld", path,
                       (long long)numbers[i]);
        held[found->node] |= components;
    }
done:
    modal_free(&numbers);
    modal_free(&tags);
    return status;
}

/* The two triples of "x,y,z:x,y,z". */
static modal_status read_triples(const char *option, const char *text, const char *what, double first[3], double second[3],
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    char *copy = NULL;
    const char *colon = strchr(text, ':');
    if (!colon)
        return modal_error_set(err, MODAL_ERROR_USAGE, "%s: not %s, %s", option, what, text);
    MODAL_TRY(modal_copy_text(&copy, text, (size_t)(colon - text), err));
    MODAL_TRY(tool_parse_numbers(copy, 3, first, option, err));
    MODAL_TRY(tool_parse_numbers(colon + 1, 3, second, option, err));
done:
    modal_free(&copy);
    return status;
}

static int is_region(const char *text)
{
    return strncmp(text, "box:", 4) == 0 || strncmp(text, "plane:", 6) == 0;
}

/* box:LOW:HIGH: the nodes in a box, its faces included; plane:POINT:NORMAL: those on the plane and on
 * the side that the normal points to. Both reach out by 1e-9 of the mesh's extent, so that nodes on a
 * boundary given in decimal digits are in. *n counts them. */
static modal_status mark_region(const modal_volume_mesh *mesh, const char *option, const char *text, uint8_t components,
                                uint8_t *held, int64_t *n, modal_error *err)
{
    const int box = strncmp(text, "box:", 4) == 0;
    double a[3], b[3], low[3] = {DBL_MAX, DBL_MAX, DBL_MAX}, high[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
    modal_status status =
        read_triples(option, text + (box ? 4 : 6), box ? "box:X,Y,Z:X,Y,Z" : "plane:X,Y,Z:NX,NY,NZ", a, b, err);
    if (status != MODAL_OK) return status;
    const double length = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
    if (box && !(a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2]))
        return modal_error_set(err, MODAL_ERROR_USAGE, "%s: low above high, %s", option, text);
    if (!box && !(length > 0 && isfinite(length)))
        return modal_error_set(err, MODAL_ERROR_USAGE, "%s: a normal without direction, %s", option, text);
    double extent = 0;
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->nodes[i]);
        high[i % 3] = fmax(high[i % 3], mesh->nodes[i]);
    }
    for (int k = 0; k < 3; k++) extent = fmax(extent, high[k] - low[k]);
    const double reach = 1e-9 * extent;
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        const double *x = mesh->nodes + 3 * i;
        double height = 0;
        int inside = 1;
        for (int k = 0; k < 3; k++) {
            inside &= x[k] >= a[k] - reach && x[k] <= b[k] + reach;
            height += (x[k] - a[k]) * b[k] / length;
        }
        if (!(box ? inside : height >= -reach)) continue;
        held[i] |= components;
        ++*n;
    }
    return MODAL_OK;
}

/* Takes "@xz" off the end: the components, or 0 where there is nothing of the kind. */
static uint8_t read_components(const char *text, size_t *length)
{
    const char *at = strrchr(text, '@');
    uint8_t components = 0;
    if (!at || at == text || !at[1]) return 0;
    for (const char *c = at + 1; *c; c++) {
        if (*c < 'x' || *c > 'z' || components >> (*c - 'x') & 1) return 0;
        components |= (uint8_t)(1 << (*c - 'x'));
    }
    *length = (size_t)(at - text);
    return components;
}

/* One selection without components: a group, a region, a file, in that order. */
static modal_status mark_selection(const modal_volume_mesh *mesh, const char *option, const char *name, uint8_t components,
                                   uint8_t *held, int *known, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_group *group;
    int64_t n = 0;
    *known = 1;
    MODAL_TRY(tool_find_group(mesh, name, strlen(name), -1, &group, err));
    if (group) {
        for (int64_t k = 0; k < group->n_nodes; k++) held[group->nodes[k]] |= components;
        if (group->n_nodes == 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: a group without nodes of the solid, %s", option, name);
    } else if (is_region(name)) {
        MODAL_TRY(mark_region(mesh, option, name, components, held, &n, err));
        double low[3], high[3];
        modal_find_box(mesh->nodes, mesh->n_nodes, low, high);
        if (n == 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no node of the solid there, %s (m; the solid reaches from %.4g %.4g %.4g to %.4g %.4g %.4g m)",
                       option, name, low[0], low[1], low[2], high[0], high[1], high[2]);
    } else {
        FILE *file = modal_disk_stream(name);
        *known = file != NULL;
        if (file) {
            fclose(file);
            MODAL_TRY(mark_numbers(mesh, name, components, held, err));
        }
    }
done:
    return status;
}

modal_status tool_mark_nodes(const modal_volume_mesh *mesh, const char *place, const char *text, uint8_t *marks,
                             modal_error *err)
{
    int known = 0;
    modal_status status = mark_selection(mesh, place, text, 1, marks, &known, err);
    if (status == MODAL_OK && !known)
        status = tool_unknown_group(mesh, place, "neither a group nor a file", text, (int)strlen(text), -1, err);
    if (status == MODAL_ERROR_USAGE && err) status = err->status = MODAL_ERROR_INPUT; /* what is wrong stands in a file */
    return status;
}

/* What the mesh file itself holds, unless --fixed says otherwise or --free. */
static void hold_conditions(tool *t, const tool_solid_request *r, const modal_volume_mesh *mesh, uint8_t *held)
{
    const int given = tool_count(&t->arguments, "fixed"), free = tool_count(&t->arguments, "free");
    for (int32_t c = 0; c < mesh->n_conditions; c++) {
        const modal_condition *condition = &mesh->conditions[c];
        char axes[4] = "";
        for (int k = 0, n = 0; k < 3; k++)
            if (condition->components >> k & 1) axes[n++] = "xyz"[k];
        const char *name = condition->group.name ? condition->group.name : "nodes by number";
        if (given || free)
            tool_note(t, "%s: *BOUNDARY of %s in %s is %s", r->mesh_path, name, axes,
                      free ? "ignored (--free)" : "replaced by --fixed");
        else
            tool_note(t, "%s: *BOUNDARY holds %s in %s, %lld nodes", r->mesh_path, name, axes,
                      (long long)condition->group.n_nodes);
        for (int64_t i = 0; i < condition->group.n_nodes && !given && !free; i++)
            held[condition->group.nodes[i]] |= condition->components;
    }
}

/* solid->fixed_nodes and _components from the mesh file's conditions, or the --fixed options. */
modal_status tool_fix_nodes(tool *t, const tool_solid_request *r, modal_solid *solid, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &solid->mesh;
    uint8_t *held = NULL; /* [n_nodes] components */
    char *name = NULL;
    MODAL_TRY(modal_alloc_zero(&held, mesh->n_nodes, 1, "fixed nodes", err));
    hold_conditions(t, r, mesh, held);
    for (int i = 0; i < tool_count(&t->arguments, "fixed"); i++) {
        const char *text = tool_value_at(&t->arguments, "fixed", i);
        size_t length = strlen(text);
        int known = 0;
        uint8_t components = read_components(text, &length);
        /* as it stands first: the name of a group or file may end in @x */
        if (!components || !is_region(text))
            MODAL_TRY(mark_selection(mesh, "--fixed", text, MODAL_FIXED_ALL, held, &known, err));
        if (known) components = 0;
        if (components) {
            MODAL_TRY(modal_copy_text(&name, text, length, err));
            MODAL_TRY(mark_selection(mesh, "--fixed", name, components, held, &known, err));
            modal_free(&name);
        }
        if (!known) {
            status = tool_unknown_group(mesh, "--fixed", "neither a group nor a file", text, (int)length, -1, err);
            goto done;
        }
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++) solid->n_fixed_nodes += held[i] != 0;
    MODAL_TRY(modal_alloc(&solid->fixed_nodes, solid->n_fixed_nodes, sizeof(int32_t), "fixed nodes",
                          err));
    MODAL_TRY(modal_alloc(&solid->fixed_components, solid->n_fixed_nodes, 1, "fixed nodes", err));
    int64_t k = 0, n_partly = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        if (!held[i]) continue;
        solid->fixed_nodes[k] = (int32_t)i;
        solid->fixed_components[k++] = held[i];
        n_partly += held[i] != MODAL_FIXED_ALL;
    }
    if (k > 0) tool_note(t, "%lld nodes held, %lld of them in part", (long long)k, (long long)n_partly);
done:
    modal_free(&held);
    modal_free(&name);
    return status;
}
