/* SPDX-License-Identifier: Apache-2.0 */
/* improve.h: from the mesh of a file to one that changes, and back, with its groups. */
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/mesh/improve_groups.h"

/* ---- sets of numbers, each stored once ---- */

static uint64_t hash_of(int64_t n, const int32_t *items)
{
    uint64_t h = 0x9e3779b97f4a7c15u + (uint64_t)n;
    for (int64_t i = 0; i < n; i++) {
        h = (h ^ (uint32_t)items[i]) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 29;
    }
    return h;
}

/* The number of a set: of an earlier one that is the same, or a new one. */
static modal_status add_set(improve_sets *sets, int64_t n, const int32_t *items, int32_t *number, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (2 * (sets->n + 1) > sets->n_slots) {
        int32_t *slots = NULL;
        const int64_t n_slots = sets->n_slots > 0 ? 2 * sets->n_slots : 64;
        MODAL_TRY(modal_alloc(&slots, n_slots, sizeof *slots, "groups", err));
        for (int64_t i = 0; i < n_slots; i++) slots[i] = -1;
        for (int32_t i = 0; i < sets->n; i++) {
            uint64_t at = hash_of(sets->first[i + 1] - sets->first[i], sets->items + sets->first[i]);
            while (slots[at & (uint64_t)(n_slots - 1)] >= 0) at++;
            slots[at & (uint64_t)(n_slots - 1)] = i;
        }
        modal_free(&sets->slots);
        sets->slots = slots;
        sets->n_slots = n_slots;
    }
    uint64_t at = hash_of(n, items);
    for (;; at++) {
        const int32_t i = sets->slots[at & (uint64_t)(sets->n_slots - 1)];
        if (i < 0) break;
        if (sets->first[i + 1] - sets->first[i] == n && (n == 0 || memcmp(sets->items + sets->first[i], items, (size_t)n * sizeof *items) == 0)) {
            *number = i;
            return MODAL_OK;
        }
    }
    MODAL_TRY(modal_grow(&sets->first, &sets->capacity_first, sets->n + 2, sizeof *sets->first, "groups", err));
    if (sets->n == 0) sets->first[0] = 0;
    MODAL_TRY(modal_grow(&sets->items, &sets->capacity_items, sets->first[sets->n] + n, sizeof *sets->items, "groups", err));
    if (n > 0) memcpy(sets->items + sets->first[sets->n], items, (size_t)n * sizeof *items);
    sets->first[sets->n + 1] = sets->first[sets->n] + n;
    sets->slots[at & (uint64_t)(sets->n_slots - 1)] = sets->n;
    *number = sets->n++;
done:
    return status;
}

static int has_item(const improve_sets *sets, int32_t set, int32_t item)
{
    for (int64_t i = sets->first[set]; i < sets->first[set + 1]; i++)
        if (sets->items[i] == item) return 1;
    return 0;
}

void improve_sets_free(improve_sets *sets)
{
    modal_free(&sets->first);
    modal_free(&sets->items);
    modal_free(&sets->slots);
    *sets = (improve_sets){0};
}

/* ---- what belongs to what ---- */

/* Of each of n items the groups of a dimension that list it, ascending: first [n + 1], groups. */
static modal_status list_groups(const modal_volume_mesh *mesh, int dimension, int64_t n, int64_t **first, int32_t **groups, modal_error *err)
{
    modal_status status = MODAL_OK;
    *first = NULL;
    *groups = NULL;
    MODAL_TRY(modal_alloc_zero(first, n + 2, sizeof **first, "groups", err));
    for (int32_t g = 0; g < mesh->n_groups; g++) {
        const modal_group *group = &mesh->groups[g];
        const int64_t m = group->dimension != dimension ? 0 : dimension == 3 ? group->n_elements : group->n_nodes;
        for (int64_t i = 0; i < m; i++) (*first)[(dimension == 3 ? group->elements : group->nodes)[i] + 2]++;
    }
    for (int64_t i = 0; i < n; i++) (*first)[i + 2] += (*first)[i + 1];
    MODAL_TRY(modal_alloc(groups, (*first)[n + 1], sizeof **groups, "groups", err));
    for (int32_t g = 0; g < mesh->n_groups; g++) {
        const modal_group *group = &mesh->groups[g];
        const int64_t m = group->dimension != dimension ? 0 : dimension == 3 ? group->n_elements : group->n_nodes;
        for (int64_t i = 0; i < m; i++) (*groups)[(*first)[(dimension == 3 ? group->elements : group->nodes)[i] + 1]++] = g;
    }
done:
    return status;
}

/* Elements with the same volume groups and material are one region. */
static modal_status find_regions(const modal_volume_mesh *mesh, improve_store *s, improve_sets *regions, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *first = NULL;
    int32_t *groups = NULL, *set = NULL;
    MODAL_TRY(list_groups(mesh, 3, mesh->n_elements, &first, &groups, err));
    MODAL_TRY(modal_alloc(&set, mesh->n_groups + 1, sizeof *set, "groups", err));
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int64_t n = first[e + 1] - first[e];
        set[0] = -2 - (mesh->element_material ? mesh->element_material[e] : -1); /* no group's index */
        memcpy(set + 1, groups + first[e], (size_t)n * sizeof *set);
        MODAL_TRY(add_set(regions, n + 1, set, &s->tetrahedra[e].region, err));
    }
done:
    modal_free(&first);
    modal_free(&groups);
    modal_free(&set);
    return status;
}

static void fix_nodes(improve_store *s, const modal_group *group)
{
    for (int64_t i = 0; i < group->n_nodes; i++) s->fixed[group->nodes[i]] |= IMPROVE_FIXED;
}

/* Marks boundary faces, with a patch for each set of surface groups that have all three nodes, and walls between regions. A node of a surface
 * group that none of its faces have stays, and so do the nodes of walls, lines and points. */
static modal_status find_patches(const modal_volume_mesh *mesh, improve_store *s, improve_sets *patches, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *first = NULL;
    int32_t *groups = NULL, *set = NULL;
    uint8_t *met = NULL; /* of each entry of groups: whether a face has it */
    MODAL_TRY(list_groups(mesh, 2, mesh->n_nodes, &first, &groups, err));
    MODAL_TRY(modal_alloc(&set, mesh->n_groups + 1, sizeof *set, "groups", err));
    MODAL_TRY(modal_alloc_zero(&met, first[mesh->n_nodes], 1, "groups", err));
    for (int32_t t = 0; t < (int32_t)mesh->n_elements; t++)
        for (int k = 0; k < 4; k++) {
            int place, n = 0;
            improve_tetrahedron *own = &s->tetrahedra[t];
            const int32_t other = improve_neighbour(s, t, k, &place), *v = own->v;
            const uint8_t *f = improve_faces[k];
            if (other >= 0) {
                if (s->tetrahedra[other].region == own->region) continue;
                own->mark[k] = IMPROVE_WALL;
                for (int c = 0; c < 3; c++) s->fixed[v[f[c]]] |= IMPROVE_FIXED;
                continue;
            }
            for (int64_t i = first[v[f[0]]]; i < first[v[f[0]] + 1]; i++) {
                int64_t at[3] = {i, -1, -1};
                for (int c = 1; c < 3; c++)
                    for (int64_t j = first[v[f[c]]]; j < first[v[f[c]] + 1]; j++)
                        if (groups[j] == groups[i]) at[c] = j;
                if (at[1] < 0 || at[2] < 0) continue;
                set[n++] = groups[i];
                for (int c = 0; c < 3; c++) met[at[c]] = 1;
            }
            int32_t patch = 0;
            MODAL_TRY(add_set(patches, n, set, &patch, err));
            own->mark[k] = improve_new_face(s, patch);
            if (own->mark[k] < 0) MODAL_TRY(s->failed);
            for (int c = 0; c < 3; c++) s->n_boundary[v[f[c]]]++;
        }
    for (int64_t v = 0; v < mesh->n_nodes; v++)
        for (int64_t i = first[v]; i < first[v + 1]; i++)
            if (!met[i]) s->fixed[v] |= IMPROVE_FIXED;
    for (int32_t g = 0; g < mesh->n_groups; g++)
        if (mesh->groups[g].dimension < 2 || (mesh->groups[g].dimension == 3 && mesh->groups[g].n_elements == 0)) fix_nodes(s, &mesh->groups[g]);
    for (int32_t c = 0; c < mesh->n_conditions; c++) fix_nodes(s, &mesh->conditions[c].group);
done:
    modal_free(&first);
    modal_free(&groups);
    modal_free(&set);
    modal_free(&met);
    return status;
}

modal_status improve_load(const modal_volume_mesh *mesh, const uint8_t *still, improve_store *s, improve_sets *regions, improve_sets *patches,
                          modal_error *err)
{
    modal_status status = MODAL_OK;
    s->err = err;
    s->free_face = -1;
    for (int64_t v = 0; v < mesh->n_nodes; v++)
        if (improve_new_vertex(s, mesh->nodes + 3 * v) < 0) MODAL_TRY(s->failed);
    for (int64_t v = 0; v < mesh->n_nodes; v++)
        if (still[v]) s->fixed[v] = IMPROVE_FIXED | IMPROVE_STILL;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t t = improve_new_tetrahedron(s, modal_mesh_nodes(mesh, e), 0);
        if (t < 0) MODAL_TRY(s->failed);
        s->tetrahedra[t].origin = t;
    }
    MODAL_TRY(find_regions(mesh, s, regions, err));
    MODAL_TRY(find_patches(mesh, s, patches, err));
done:
    return status;
}

/* ---- the way back ---- */

typedef struct way_back {
    const improve_store *s;
    const improve_sets *regions, *patches;
    const modal_volume_mesh *from;
    modal_volume_mesh *mesh;
    int32_t *node;     /* [n_vertices] index in the new mesh, -1: used by nothing */
    int32_t *slot;     /* [mesh->n_elements] of each new element its tetrahedron */
    uint8_t *in_group; /* [n_vertices] scratch */
} way_back;

/* Nodes that are used; the old ones come first. */
static modal_status number_nodes(const way_back *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const improve_store *s = w->s;
    modal_volume_mesh *mesh = w->mesh;
    int64_t tag = 0;
    for (int64_t v = 0; v < s->n_vertices; v++) w->node[v] = s->head[v] >= 0 ? (int32_t)mesh->n_nodes++ : -1;
    MODAL_TRY(modal_alloc(&mesh->nodes, 3 * mesh->n_nodes, sizeof *mesh->nodes, "nodes", err));
    MODAL_TRY(modal_alloc(&mesh->node_tags, mesh->n_nodes, sizeof *mesh->node_tags, "nodes", err));
    for (int64_t v = 0; v < w->from->n_nodes; v++)
        if (w->from->node_tags[v] > tag) tag = w->from->node_tags[v];
    for (int64_t v = 0; v < s->n_vertices; v++) {
        if (w->node[v] < 0) continue;
        memcpy(mesh->nodes + 3 * (int64_t)w->node[v], s->x + 3 * v, 3 * sizeof *s->x);
        mesh->node_tags[w->node[v]] = v < w->from->n_nodes ? w->from->node_tags[v] : ++tag;
    }
done:
    return status;
}

/* Elements that were never touched come first, in their order. */
static modal_status number_elements(const way_back *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const improve_store *s = w->s;
    modal_volume_mesh *mesh = w->mesh;
    int64_t n = 0, tag = 0;
    for (int is_new = 0; is_new < 2; is_new++)
        for (int64_t t = 0; t < s->n_tetrahedra; t++)
            if (s->tetrahedra[t].v[0] >= 0 && (s->tetrahedra[t].origin < 0) == is_new) w->slot[n++] = (int32_t)t;
    MODAL_TRY(modal_volume_mesh_new_elements(mesh, n, MODAL_ELEMENT_TET4, err));
    MODAL_TRY(modal_alloc(&mesh->element_tags, n, sizeof *mesh->element_tags, "elements", err));
    MODAL_TRY(modal_alloc(&mesh->element_material, n, sizeof *mesh->element_material, "elements", err));
    for (int64_t e = 0; e < w->from->n_elements; e++)
        if (w->from->element_tags[e] > tag) tag = w->from->element_tags[e];
    for (int64_t e = 0; e < n; e++) {
        const improve_tetrahedron *t = &s->tetrahedra[w->slot[e]];
        for (int k = 0; k < 4; k++) mesh->element_nodes[4 * e + k] = w->node[t->v[k]];
        mesh->element_tags[e] = t->origin >= 0 ? w->from->element_tags[t->origin] : ++tag;
        mesh->element_material[e] = -2 - w->regions->items[w->regions->first[t->region]];
    }
done:
    return status;
}

/* A group of the nodes in in_group. */
static modal_status number_group(const way_back *w, const modal_group *from, modal_group *group, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n = 0;
    group->dimension = from->dimension;
    group->tag = from->tag;
    if (from->name) MODAL_TRY(modal_copy_text(&group->name, from->name, strlen(from->name) + 1, err));
    for (int64_t v = 0; v < w->s->n_vertices; v++) n += w->in_group[v] && w->node[v] >= 0;
    MODAL_TRY(modal_alloc(&group->nodes, n, sizeof *group->nodes, "group", err));
    for (int64_t v = 0; v < w->s->n_vertices; v++)
        if (w->in_group[v] && w->node[v] >= 0) group->nodes[group->n_nodes++] = w->node[v];
done:
    return status;
}

/* The group g: elements of its regions with their nodes, or the nodes of its patches' faces; and its nodes that had to stay. */
static modal_status find_group(const way_back *w, int32_t g, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_group *group = &w->from->groups[g];
    modal_group *to = &w->mesh->groups[g];
    int64_t n = 0;
    memset(w->in_group, 0, (size_t)w->s->n_vertices);
    for (int64_t e = 0; e < w->mesh->n_elements && group->dimension >= 2; e++) {
        const improve_tetrahedron *t = &w->s->tetrahedra[w->slot[e]];
        const int in_region = group->dimension == 3 && has_item(w->regions, t->region, g);
        n += in_region;
        for (int k = 0; k < 4; k++) {
            if (in_region) w->in_group[t->v[k]] = 1;
            if (group->dimension == 2 && t->mark[k] >= 0 && has_item(w->patches, w->s->faces[t->mark[k]].patch, g))
                for (int c = 0; c < 3; c++) w->in_group[t->v[improve_faces[k][c]]] = 1;
        }
    }
    for (int64_t i = 0; i < group->n_nodes; i++)
        if (w->s->fixed[group->nodes[i]]) w->in_group[group->nodes[i]] = 1;
    MODAL_TRY(number_group(w, group, to, err));
    MODAL_TRY(modal_alloc(&to->elements, n, sizeof *to->elements, "group", err));
    for (int64_t e = 0; e < w->mesh->n_elements && group->dimension == 3; e++)
        if (has_item(w->regions, w->s->tetrahedra[w->slot[e]].region, g)) to->elements[to->n_elements++] = (int32_t)e;
done:
    return status;
}

modal_status improve_unload(const improve_store *s, const improve_sets *regions, const improve_sets *patches, const modal_volume_mesh *from,
                            modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    way_back w = {.s = s, .regions = regions, .patches = patches, .from = from, .mesh = mesh};
    *mesh = (modal_volume_mesh){0};
    MODAL_TRY(modal_alloc(&w.node, s->n_vertices, sizeof *w.node, "nodes", err));
    MODAL_TRY(modal_alloc(&w.slot, s->n_tetrahedra, sizeof *w.slot, "elements", err));
    MODAL_TRY(modal_alloc(&w.in_group, s->n_vertices, 1, "group", err));
    MODAL_TRY(number_nodes(&w, err));
    MODAL_TRY(number_elements(&w, err));
    MODAL_TRY(modal_alloc_zero(&mesh->groups, from->n_groups, sizeof *mesh->groups, "groups", err));
    mesh->n_groups = from->n_groups;
    for (int32_t g = 0; g < from->n_groups; g++) MODAL_TRY(find_group(&w, g, err));
    MODAL_TRY(modal_alloc_zero(&mesh->conditions, from->n_conditions, sizeof *mesh->conditions, "conditions", err));
    mesh->n_conditions = from->n_conditions;
    for (int32_t c = 0; c < from->n_conditions; c++) {
        const modal_group *group = &from->conditions[c].group;
        memset(w.in_group, 0, (size_t)s->n_vertices);
        for (int64_t i = 0; i < group->n_nodes; i++) w.in_group[group->nodes[i]] = 1;
        mesh->conditions[c].components = from->conditions[c].components;
        MODAL_TRY(number_group(&w, group, &mesh->conditions[c].group, err));
    }
done:
    modal_free(&w.node);
    modal_free(&w.slot);
    modal_free(&w.in_group);
    return status;
}
