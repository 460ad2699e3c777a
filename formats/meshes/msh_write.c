/* SPDX-License-Identifier: Apache-2.0 */
/* See the Gmsh reference manual, "MSH file format", version 4.1. */
#include "formats/meshes/msh_write.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/meshes/msh_parts.h"
#include "formats/meshes/msh_source.h"
#include "lib/base/memory.h"

typedef struct msh_writer {
    FILE *file;
    int is_binary;
    const modal_volume_mesh *mesh;
    msh_parts parts;
    int64_t raised;           /* added to every number: 1 where one is 0 */
    int32_t *physical;        /* [n_groups] number of each group in its dimension */
    int32_t *point_physical;  /* [n_groups] of the point group for nodes left over, 0 = none */
    int32_t *entity;          /* [n_elements] number of the volume entity, from 0 */
    int32_t n_entities;
    int32_t *entity_group, *entity_parent; /* [n_entities] the last group of each, and what it had before */
    int64_t entity_capacity, parent_capacity;
    double box[6];
} msh_writer;

/* ---- values ---- */

static void put_int(msh_writer *w, int64_t value)
{
    int32_t narrow = (int32_t)value;
    if (w->is_binary) fwrite(&narrow, sizeof narrow, 1, w->file);
    else fprintf(w->file, "%d ", narrow);
}

static void put_size(msh_writer *w, int64_t value)
{
    if (w->is_binary) fwrite(&value, sizeof value, 1, w->file);
    else fprintf(w->file, "%lld ", (long long)value);
}

static void put_real(msh_writer *w, double value)
{
    if (w->is_binary) fwrite(&value, sizeof value, 1, w->file);
    else fprintf(w->file, "%.17g ", value);
}

/* A tag and the nodes of an element, n in all: one call for all of them in binary. */
static void put_sizes(msh_writer *w, const int64_t *values, int n)
{
    if (w->is_binary) fwrite(values, sizeof *values, (size_t)n, w->file);
    for (int k = 0; k < n && !w->is_binary; k++) put_size(w, values[k]);
}

static void end_record(msh_writer *w)
{
    if (!w->is_binary) fputc('\n', w->file);
}

static void end_section(msh_writer *w, const char *name)
{
    fprintf(w->file, "%s$End%s\n", w->is_binary ? "\n" : "", name);
}

/* ---- numbers of groups and entities ---- */

static int is_taken(const msh_writer *w, int dimension, int32_t number, int32_t n)
{
    for (int32_t g = 0; g < n; g++)
        if ((w->mesh->groups[g].dimension == dimension && w->physical[g] == number) ||
            (dimension == 0 && w->point_physical[g] == number))
            return 1;
    return 0;
}

static modal_status number_groups(msh_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = w->mesh;
    MODAL_TRY(modal_alloc_zero(&w->physical, mesh->n_groups, sizeof *w->physical, "groups", err));
    MODAL_TRY(modal_alloc_zero(&w->point_physical, mesh->n_groups, sizeof *w->point_physical, "groups", err));
    for (int32_t g = 0; g < mesh->n_groups; g++) {
        const modal_group *group = &mesh->groups[g];
        if (group->tag > 0 && !is_taken(w, group->dimension, group->tag, g)) w->physical[g] = group->tag;
    }
    int32_t next[4] = {1, 1, 1, 1}; /* below it none is free */
    for (int32_t g = 0; g < mesh->n_groups; g++) {
        int dimension = mesh->groups[g].dimension;
        if (w->physical[g] > 0) continue;
        while (is_taken(w, dimension, next[dimension], mesh->n_groups)) next[dimension]++;
        w->physical[g] = next[dimension]++;
    }
    for (int64_t i = 0; i < w->parts.n; i++) {
        int32_t g = w->parts.parts[i].group;
        if (w->parts.parts[i].dimension > 0 || mesh->groups[g].dimension == 0 || w->point_physical[g] > 0)
            continue;
        while (is_taken(w, 0, next[0], mesh->n_groups)) next[0]++;
        w->point_physical[g] = next[0]++;
    }
done:
    return status;
}

/* Elements of the same groups get the same entity: each group splits the entities it cuts. */
static modal_status split_entities(msh_writer *w, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = w->mesh;
    int32_t *successor = NULL;
    int64_t successor_capacity = 0;
    MODAL_TRY(modal_alloc_zero(&w->entity, mesh->n_elements, sizeof *w->entity, "entities", err));
    MODAL_TRY(modal_grow(&w->entity_group, &w->entity_capacity, 1, sizeof(int32_t), "entities", err));
    MODAL_TRY(modal_grow(&w->entity_parent, &w->parent_capacity, 1, sizeof(int32_t), "entities", err));
    w->entity_group[0] = w->entity_parent[0] = -1;
    w->n_entities = 1;
    for (int32_t g = 0; g < mesh->n_groups; g++) {
        if (mesh->groups[g].dimension != 3) continue;
        int32_t n_before = w->n_entities;
        MODAL_TRY(modal_grow(&successor, &successor_capacity, n_before, sizeof *successor, "entities", err));
        memset(successor, 0xFF, (size_t)n_before * sizeof *successor);
        for (int64_t k = 0; k < mesh->groups[g].n_elements; k++) {
            int32_t *entity = &w->entity[mesh->groups[g].elements[k]];
            if (successor[*entity] < 0) {
                MODAL_TRY(modal_grow(&w->entity_group, &w->entity_capacity, w->n_entities + 1, sizeof(int32_t), "entities", err));
                MODAL_TRY(modal_grow(&w->entity_parent, &w->parent_capacity, w->n_entities + 1, sizeof(int32_t), "entities", err));
                w->entity_group[w->n_entities] = g;
                w->entity_parent[w->n_entities] = *entity;
                successor[*entity] = w->n_entities++;
            }
            *entity = successor[*entity];
        }
    }
done:
    modal_free(&successor);
    return status;
}

/* ---- sections ---- */

static void write_names(msh_writer *w)
{
    const modal_volume_mesh *mesh = w->mesh;
    int64_t n = 0;
    for (int32_t g = 0; g < mesh->n_groups; g++) n += 1 + (w->point_physical[g] > 0);
    if (n == 0) return;
    fprintf(w->file, "$PhysicalNames\n%lld\n", (long long)n);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t g = 0; g < mesh->n_groups; g++) {
            int32_t number = pass ? w->point_physical[g] : w->physical[g];
            if (number == 0) continue;
            fprintf(w->file, "%d %d \"", pass ? 0 : mesh->groups[g].dimension, number);
            for (const char *c = mesh->groups[g].name; *c; c++) fputc(*c == '"' ? '\'' : *c, w->file);
            fputs("\"\n", w->file);
        }
    fputs("$EndPhysicalNames\n", w->file);
}

/* Entities of lower dimension are numbered as the groups, from 1; those of points left over come after
 * those of point groups in that way, too: group g has entity g + 1 or n_groups + g + 1. */
static int64_t part_entity(const msh_writer *w, const msh_part *part)
{
    int is_left_over = part->dimension == 0 && w->mesh->groups[part->group].dimension > 0;
    return part->group + 1 + (is_left_over ? w->mesh->n_groups : 0);
}

static void write_lower_entity(msh_writer *w, int dimension, int64_t tag, int32_t physical)
{
    put_int(w, tag);
    for (int i = 0; i < (dimension == 0 ? 3 : 6); i++) put_real(w, w->box[i]);
    put_size(w, 1);
    put_int(w, physical);
    if (dimension > 0) put_size(w, 0);
    end_record(w);
}

static void write_entities(msh_writer *w)
{
    const modal_volume_mesh *mesh = w->mesh;
    int64_t counts[4] = {0};
    for (int32_t g = 0; g < mesh->n_groups; g++) {
        if (mesh->groups[g].dimension < 3) counts[mesh->groups[g].dimension]++;
        counts[0] += w->point_physical[g] > 0;
    }
    counts[3] = w->n_entities;
    fputs("$Entities\n", w->file);
    for (int i = 0; i < 4; i++) put_size(w, counts[i]);
    end_record(w);
    for (int dimension = 0; dimension < 3; dimension++) {
        for (int32_t g = 0; g < mesh->n_groups; g++)
            if (mesh->groups[g].dimension == dimension)
                write_lower_entity(w, dimension, g + 1, w->physical[g]);
        for (int32_t g = 0; g < mesh->n_groups && dimension == 0; g++)
            if (w->point_physical[g] > 0)
                write_lower_entity(w, 0, mesh->n_groups + g + 1, w->point_physical[g]);
    }
    for (int32_t e = 0; e < w->n_entities; e++) {
        int64_t n = 0;
        put_int(w, e + 1);
        for (int i = 0; i < 6; i++) put_real(w, w->box[i]);
        for (int32_t k = e; w->entity_group[k] >= 0; k = w->entity_parent[k]) n++;
        put_size(w, n);
        for (int32_t k = e; w->entity_group[k] >= 0; k = w->entity_parent[k])
            put_int(w, w->physical[w->entity_group[k]]);
        put_size(w, 0);
        end_record(w);
    }
    end_section(w, "Entities");
}

static void write_nodes(msh_writer *w)
{
    const modal_volume_mesh *mesh = w->mesh;
    int64_t least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        if (mesh->node_tags[i] < least) least = mesh->node_tags[i];
        if (mesh->node_tags[i] > most) most = mesh->node_tags[i];
    }
    fputs("$Nodes\n", w->file);
    put_size(w, 1);
    put_size(w, mesh->n_nodes);
    put_size(w, least + w->raised);
    put_size(w, most + w->raised);
    end_record(w);
    put_int(w, 3);
    put_int(w, 1);
    put_int(w, 0);
    put_size(w, mesh->n_nodes);
    end_record(w);
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        put_size(w, mesh->node_tags[i] + w->raised);
        end_record(w);
    }
    if (w->is_binary)
        fwrite(mesh->nodes, sizeof *mesh->nodes, 3 * (size_t)mesh->n_nodes, w->file);
    for (int64_t i = 0; i < mesh->n_nodes && !w->is_binary; i++) {
        for (int k = 0; k < 3; k++) put_real(w, mesh->nodes[3 * i + k]);
        end_record(w);
    }
    end_section(w, "Nodes");
}

static void write_block_head(msh_writer *w, int dimension, int64_t entity, int type, int64_t n)
{
    put_int(w, dimension);
    put_int(w, entity);
    put_int(w, type);
    put_size(w, n);
    end_record(w);
}

/* Blocks are runs, so that elements keep their order. */
static int64_t run_of_elements(const msh_writer *w, int64_t first)
{
    int64_t end = first;
    while (end < w->mesh->n_elements && w->entity[end] == w->entity[first] &&
           w->mesh->element_type[end] == w->mesh->element_type[first])
        end++;
    return end;
}

static int64_t run_of_parts(const msh_writer *w, int64_t first)
{
    const msh_part *parts = w->parts.parts;
    int64_t end = first;
    while (end < w->parts.n && parts[end].group == parts[first].group &&
           parts[end].dimension == parts[first].dimension && parts[end].n_nodes == parts[first].n_nodes)
        end++;
    return end;
}

static void write_volume_block(msh_writer *w, int64_t begin, int64_t end)
{
    const modal_volume_mesh *mesh = w->mesh;
    const msh_element_type *type = msh_find_element_type_of(mesh->element_type[begin]);
    write_block_head(w, 3, w->entity[begin] + 1, type->number, end - begin);
    for (int64_t e = begin; e < end; e++) {
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        int64_t record[1 + MODAL_ELEMENT_MOST_NODES];
        record[0] = mesh->element_tags[e] + w->raised;
        for (int k = 0; k < type->n_nodes; k++)
            record[1 + (type->order ? type->order[k] : k)] = mesh->node_tags[nodes[k]] + w->raised;
        put_sizes(w, record, 1 + type->n_nodes);
        end_record(w);
    }
}

static void write_part_block(msh_writer *w, int64_t begin, int64_t end, int64_t *tag)
{
    static const int types[MODAL_FACE_MOST_NODES + 1][3] = {
        [1] = {15}, [2] = {0, 1}, [3] = {0, 8, 2}, [4] = {0, 0, 3}, [6] = {0, 0, 9}, [8] = {0, 0, 16}};
    const msh_part *first = &w->parts.parts[begin];
    write_block_head(w, first->dimension, part_entity(w, first), types[first->n_nodes][first->dimension],
                     end - begin);
    for (int64_t i = begin; i < end; i++) {
        int64_t record[1 + MODAL_FACE_MOST_NODES] = {(*tag)++};
        for (int k = 0; k < first->n_nodes; k++)
            record[1 + k] = w->mesh->node_tags[w->parts.parts[i].nodes[k]] + w->raised;
        put_sizes(w, record, 1 + first->n_nodes);
        end_record(w);
    }
}

static void write_elements(msh_writer *w)
{
    const modal_volume_mesh *mesh = w->mesh;
    int64_t n_blocks = 0, least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < mesh->n_elements; i = run_of_elements(w, i)) n_blocks++;
    for (int64_t i = 0; i < w->parts.n; i = run_of_parts(w, i)) n_blocks++;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        if (mesh->element_tags[e] < least) least = mesh->element_tags[e];
        if (mesh->element_tags[e] > most) most = mesh->element_tags[e];
    }
    int64_t tag = most + w->raised + 1;
    fputs("$Elements\n", w->file);
    put_size(w, n_blocks);
    put_size(w, mesh->n_elements + w->parts.n);
    put_size(w, least + w->raised);
    put_size(w, most + w->raised + w->parts.n);
    end_record(w);
    for (int64_t i = 0, end; i < w->parts.n; i = end) {
        end = run_of_parts(w, i);
        write_part_block(w, i, end, &tag);
    }
    for (int64_t i = 0, end; i < mesh->n_elements; i = end) {
        end = run_of_elements(w, i);
        write_volume_block(w, i, end);
    }
    end_section(w, "Elements");
}

static void write_file(msh_writer *w)
{
    int32_t one = 1;
    fprintf(w->file, "$MeshFormat\n4.1 %d 8\n", w->is_binary);
    if (w->is_binary) {
        fwrite(&one, sizeof one, 1, w->file);
        fputc('\n', w->file);
    }
    fputs("$EndMeshFormat\n", w->file);
    write_names(w);
    write_entities(w);
    write_nodes(w);
    write_elements(w);
}

modal_status modal_msh_write(const char *path, const modal_volume_mesh *mesh, int is_binary,
                             modal_error *err)
{
    modal_status status = MODAL_OK;
    msh_writer w = {.mesh = mesh, .is_binary = is_binary};
    for (int k = 0; k < 3; k++) {
        w.box[k] = INFINITY, w.box[3 + k] = -INFINITY;
        for (int64_t i = 0; i < mesh->n_nodes; i++) {
            w.box[k] = fmin(w.box[k], mesh->nodes[3 * i + k]);
            w.box[3 + k] = fmax(w.box[3 + k], mesh->nodes[3 * i + k]);
        }
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++) w.raised |= mesh->node_tags[i] == 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) w.raised |= mesh->element_tags[e] == 0;
    MODAL_TRY(msh_find_parts(mesh, &w.parts, err));
    MODAL_TRY(number_groups(&w, err));
    MODAL_TRY(split_entities(&w, err));
    w.file = fopen(path, "wb");
    if (!w.file) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(errno));
    setvbuf(w.file, NULL, _IOFBF, 1 << 20);
    write_file(&w);
    int failed = ferror(w.file);
    if (fclose(w.file) != 0 || failed)
        status = modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", path, strerror(errno));
done:
    msh_parts_free(&w.parts);
    modal_free(&w.physical);
    modal_free(&w.point_physical);
    modal_free(&w.entity);
    modal_free(&w.entity_group);
    modal_free(&w.entity_parent);
    return status;
}
