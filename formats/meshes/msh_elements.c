/* SPDX-License-Identifier: Apache-2.0 */
/* $Elements of the Gmsh reader. Volumes of the types of element.h become elements; elements of lower
 * dimension are read for the nodes they give to their physical group; other volumes are refused by
 * name. */
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/msh_source.h"
#include "lib/base/memory.h"

/* The groups of the elements that follow: tags of physical groups. */
typedef struct element_groups {
    const int32_t *tags; /* [n] */
    int64_t n;
} element_groups;

/* The number of the next element; leaves it as the subject of messages. */
static modal_status read_element_tag(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t tag;
    int32_t earlier;
    text->subject = NULL;
    modal_text_let_go(text);
    MODAL_TRY(reader->version < 41 ? reader->encoding->read_int(text, "element number", &tag)
                                   : reader->encoding->read_size(text, "element number", &tag));
    text->subject = "element";
    text->number = tag;
    if (tag < 1) {
        status = modal_text_fail(text, "element numbers begin at 1");
        goto done;
    }
    if (reader->n_tags == reader->n_expected) {
        status = modal_text_fail(text, "more elements than the %lld announced",
                                 (long long)reader->n_expected);
        goto done;
    }
    reader->tags[reader->n_tags] = tag;
    MODAL_TRY(modal_tag_table_add(&reader->tag_table, reader->tags, (int32_t)reader->n_tags,
                                  &earlier, text->err));
    if (earlier >= 0) {
        status = modal_text_fail(text, "this number appears twice");
        goto done;
    }
    reader->n_tags++;
done:
    return status;
}

static modal_status check_type(const modal_text *text, const msh_element_type *type, int64_t number)
{
    if (!type)
        return modal_text_fail(text, "element type %lld is not supported", (long long)number);
    if (type->dimension == 3 && type->type < 0)
        return modal_text_fail(text,
                               "%s (type %d) is not supported, only tetrahedra of 4 and 10 nodes, "
                               "hexahedra of 8 and 20, 6-node prisms and 5-node pyramids",
                               type->name, type->number);
    return MODAL_OK;
}

static modal_status read_element_nodes(msh_reader *reader, const msh_element_type *type,
                                       int32_t nodes[MSH_MOST_NODES], int *is_repeated)
{
    modal_status status = MODAL_OK;
    *is_repeated = 0;
    modal_text *text = &reader->text;
    const modal_volume_mesh *mesh = reader->mesh;
    for (int i = 0; i < type->n_nodes; i++) {
        int64_t tag;
        MODAL_TRY(reader->version < 41
                      ? reader->encoding->read_int(text, "number of a node", &tag)
                      : reader->encoding->read_size(text, "number of a node", &tag));
        nodes[i] = modal_tag_table_find(&reader->node_table, mesh->node_tags, tag);
        if (nodes[i] < 0) {
            status = modal_text_fail(text, "unknown node, %lld", (long long)tag);
            goto done;
        }
        for (int j = 0; j < i && !*is_repeated; j++) {
            if (nodes[j] != nodes[i]) continue;
            if (type->dimension == 3) {
                status = modal_text_fail(text, "repeated node, %lld", (long long)tag);
                goto done;
            }
            *is_repeated = 1;
        }
    }
    MODAL_TRY(reader->encoding->end_record(text));
done:
    return status;
}

/* Version 2.2 has room for one physical group an element, so Gmsh writes an element of two groups
 * twice in a row, under two numbers. It is one element. */
static int is_written_again(const msh_reader *reader, const msh_element_type *type,
                            const int32_t *nodes, int64_t physical)
{
    const int32_t last = reader->last_volume;
    return reader->version < 40 && last >= 0 && physical > 0 && reader->last_physical > 0 &&
           reader->last_physical != physical && reader->mesh->element_type[last] == type->type &&
           memcmp(modal_mesh_nodes(reader->mesh, last), nodes,
                  (size_t)type->n_nodes * sizeof *nodes) == 0;
}

/* For all volumes that can come, if they are like this one: growing holds an array twice. What stays unused is never touched. A number
 * and what ends it are two bytes at least, so that little is asked for where little is left of the file. */
static modal_status make_room(msh_reader *reader, const msh_element_type *type)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = reader->mesh;
    modal_error *err = reader->text.err;
    const int64_t announced = reader->n_expected - reader->n_tags, left = (reader->text.length - reader->text.position) / (2 * type->n_nodes);
    const int64_t n = 1 + (announced < left ? announced : left);
    MODAL_TRY(modal_grow(&mesh->element_type, &reader->type_capacity, n, sizeof *mesh->element_type, "element types", err));
    MODAL_TRY(modal_grow(&mesh->element_offsets, &reader->offset_capacity, n + 1, sizeof *mesh->element_offsets, "element offsets", err));
    MODAL_TRY(modal_grow(&mesh->element_nodes, &reader->node_capacity, n * type->n_nodes, sizeof *mesh->element_nodes, "element nodes", err));
    MODAL_TRY(modal_grow(&mesh->element_tags, &reader->tag_capacity, n, sizeof *mesh->element_tags, "element tags", err));
done:
    return status;
}

static modal_status add_volume(msh_reader *reader, const msh_element_type *type,
                               const int32_t *file_nodes, const element_groups *groups)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = reader->mesh;
    modal_error *err = reader->text.err;
    int64_t physical = groups->n > 0 ? groups->tags[0] : 0;
    int32_t nodes[MSH_MOST_NODES];
    for (int k = 0; k < type->n_nodes; k++)
        nodes[k] = file_nodes[type->order ? type->order[k] : k];
    if (!is_written_again(reader, type, nodes, physical)) {
        const int64_t e = mesh->n_elements;
        if (e == 0) MODAL_TRY(make_room(reader, type));
        const int64_t begin = e > 0 ? mesh->element_offsets[e] : 0, end = begin + type->n_nodes;
        MODAL_TRY(modal_grow(&mesh->element_type, &reader->type_capacity, e + 1,
                             sizeof *mesh->element_type, "element types", err));
        MODAL_TRY(modal_grow(&mesh->element_offsets, &reader->offset_capacity, e + 2,
                             sizeof *mesh->element_offsets, "element offsets", err));
        MODAL_TRY(modal_grow(&mesh->element_nodes, &reader->node_capacity, end,
                             sizeof *mesh->element_nodes, "element nodes", err));
        MODAL_TRY(modal_grow(&mesh->element_tags, &reader->tag_capacity, e + 1,
                             sizeof *mesh->element_tags, "element tags", err));
        mesh->element_type[e] = (uint8_t)type->type;
        mesh->element_offsets[e] = begin;
        mesh->element_offsets[e + 1] = end;
        memcpy(mesh->element_nodes + begin, nodes, (size_t)type->n_nodes * sizeof *nodes);
        mesh->element_tags[e] = reader->text.number;
        reader->last_volume = (int32_t)mesh->n_elements++;
    }
    reader->last_physical = physical;
done:
    return status;
}

/* What is left of an element after its number, type and groups. */
static modal_status read_element(msh_reader *reader, const msh_element_type *type,
                                 const element_groups *groups)
{
    modal_status status = MODAL_OK;
    modal_error *err = reader->text.err;
    int32_t nodes[MSH_MOST_NODES], group;
    int is_repeated;
    MODAL_TRY(read_element_nodes(reader, type, nodes, &is_repeated));
    if (is_repeated) {
        reader->n_repeated++;
        reader->last_volume = -1;
        goto done;
    }
    if (type->dimension == 3)
        MODAL_TRY(add_volume(reader, type, nodes, groups));
    else
        reader->last_volume = -1;
    for (int64_t i = 0; i < groups->n; i++) {
        MODAL_TRY(modal_group_builder_find(&reader->groups, type->dimension, groups->tags[i],
                                           &group, err));
        if (type->dimension == 3)
            MODAL_TRY(modal_group_builder_add_element(&reader->groups, group, reader->last_volume,
                                                      err));
        else
            MODAL_TRY(
                modal_group_builder_add_cell(&reader->groups, group, nodes, type->n_nodes, err));
    }
done:
    return status;
}

static modal_status expect_elements(msh_reader *reader, int64_t count, int64_t binary_bytes)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(msh_check_count(reader, "elements", count, 4, binary_bytes));
    if (count > INT32_MAX) {
        status = modal_text_fail(&reader->text, "more than %d elements, %lld", INT32_MAX,
                                 (long long)count);
        goto done;
    }
    MODAL_TRY(modal_alloc(&reader->tags, count, sizeof *reader->tags, "element numbers",
                          reader->text.err));
    modal_tag_table_expect(&reader->tag_table, count);
    reader->n_expected = count;
done:
    return status;
}

/* ---- versions 1.0 and 2 ---- */

static modal_status read_node_count(msh_reader *reader, const msh_element_type *type)
{
    int64_t n;
    modal_status status = modal_text_integer(&reader->text, "number of nodes", 0, INT32_MAX, &n);
    if (status == MODAL_OK && n != type->n_nodes)
        status = modal_text_fail(&reader->text, "a %s of %lld nodes", type->name, (long long)n);
    return status;
}

/* The tags of an element: the physical group (0 = none), then the entity and partitions. */
static modal_status read_element_groups(msh_reader *reader, int64_t n_tags, int32_t *physical,
                                        element_groups *groups)
{
    modal_status status = MODAL_OK;
    int64_t value;
    *groups = (element_groups){.tags = physical};
    for (int64_t i = 0; i < n_tags; i++) {
        MODAL_TRY(reader->encoding->read_int(&reader->text, "tag", &value));
        if (i > 0 || value == 0) continue;
        if (value == INT32_MIN) {
            status = modal_text_fail(&reader->text, "number of a physical group out of range, %lld",
                                     (long long)value);
            goto done;
        }
        /* A negative number means the group has the element turned over. */
        *physical = (int32_t)llabs(value);
        groups->n = 1;
    }
done:
    return status;
}

/* Text: number, type, number of tags, tags, nodes (version 1.0: number, type, physical group, entity, number of nodes, nodes).
 * Binary: a head (type, number of elements,
 * number of tags) and then, for each element, number, tags, nodes. */
static modal_status read_elements_2(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const msh_encoding *encoding = reader->encoding;
    int64_t count, number, n, n_tags;
    int32_t physical;
    element_groups groups;
    MODAL_TRY(modal_text_integer(text, "number of elements", 0, INT64_MAX, &count));
    MODAL_TRY(expect_elements(reader, count, 8));
    MODAL_TRY(modal_text_end_line(text));
    while (reader->n_tags < count) {
        n = 1;
        text->subject = NULL;
        if (!text->binary) MODAL_TRY(read_element_tag(reader));
        MODAL_TRY(encoding->read_int(text, "element type", &number));
        if (text->binary) {
            MODAL_TRY(encoding->read_int(text, "number of elements in the block", &n));
            if (n < 1) {
                status = modal_text_fail(text, "number of elements in the block out of range, %lld",
                                         (long long)n);
                goto done;
            }
        }
        if (reader->version == 10)
            n_tags = 2;
        else
            MODAL_TRY(encoding->read_int(text, "number of tags", &n_tags));
        if (n_tags < 0) {
            status = modal_text_fail(text, "number of tags out of range, %lld", (long long)n_tags);
            goto done;
        }
        const msh_element_type *type = msh_find_element_type(number);
        for (int64_t i = 0; i < n; i++) {
            if (text->binary) MODAL_TRY(read_element_tag(reader));
            MODAL_TRY(check_type(text, type, number));
            MODAL_TRY(read_element_groups(reader, n_tags, &physical, &groups));
            if (reader->version == 10) MODAL_TRY(read_node_count(reader, type));
            MODAL_TRY(read_element(reader, type, &groups));
        }
    }
done:
    return status;
}

/* ---- version 4 ---- */

static modal_status find_entity_groups(const msh_reader *reader, int64_t dimension, int64_t tag,
                                       element_groups *groups)
{
    const msh_entities *entities = &reader->entities;
    *groups = (element_groups){0};
    if (!entities->present) return MODAL_OK;
    int32_t entity = modal_tag_table_find(&entities->table, entities->keys, 4 * tag + dimension);
    if (entity < 0)
        return modal_text_fail(&reader->text, "entity %lld of dimension %lld is not in $Entities",
                               (long long)tag, (long long)dimension);
    groups->n = entities->offsets[entity + 1] - entities->offsets[entity];
    if (groups->n > 0) groups->tags = entities->groups + entities->offsets[entity];
    return MODAL_OK;
}

/* Elements of a partition's file that are another partition's: those around its own, which solvers exchange. */
static int is_ghost(const msh_reader *reader, int64_t dimension, int64_t tag)
{
    if (modal_tag_table_find(&reader->entities.table, reader->entities.keys, 4 * tag + dimension) >= 0) return 0;
    for (int64_t i = 0; i < reader->n_ghosts; i++)
        if (reader->ghosts[i] == tag) return 1;
    return 0;
}

static modal_status read_element_block(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const msh_encoding *encoding = reader->encoding;
    int64_t dimension, tag, number, n;
    element_groups groups;
    text->subject = NULL;
    MODAL_TRY(msh_read_block_entity(reader, &dimension, &tag));
    const int left_out = is_ghost(reader, dimension, tag);
    if (!left_out) MODAL_TRY(find_entity_groups(reader, dimension, tag, &groups));
    MODAL_TRY(encoding->read_int(text, "element type", &number));
    const msh_element_type *type = msh_find_element_type(number);
    if (type && type->dimension != dimension) {
        status = modal_text_fail(text, "%s in an entity of dimension %lld", type->name,
                                 (long long)dimension);
        goto done;
    }
    MODAL_TRY(encoding->read_size(text, "number of elements in the block", &n));
    MODAL_TRY(encoding->end_record(text));
    for (int64_t i = 0; i < n; i++) {
        MODAL_TRY(read_element_tag(reader));
        MODAL_TRY(check_type(text, type, number));
        if (left_out) {
            int32_t nodes[MSH_MOST_NODES];
            int is_repeated;
            MODAL_TRY(read_element_nodes(reader, type, nodes, &is_repeated));
            reader->n_ghost_elements++;
        } else {
            MODAL_TRY(read_element(reader, type, &groups));
        }
    }
done:
    return status;
}

static modal_status read_elements_4(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const msh_encoding *encoding = reader->encoding;
    int64_t n_blocks, count, unused;
    MODAL_TRY(encoding->read_size(text, "number of element blocks", &n_blocks));
    MODAL_TRY(msh_check_count(reader, "element blocks", n_blocks, 8, 20));
    MODAL_TRY(encoding->read_size(text, "number of elements", &count));
    MODAL_TRY(expect_elements(reader, count, 16));
    for (int i = 0; i < 2 && reader->version == 41; i++)
        MODAL_TRY(encoding->read_size(text, i ? "greatest element number" : "least element number", &unused));
    MODAL_TRY(encoding->end_record(text));
    for (int64_t i = 0; i < n_blocks; i++) MODAL_TRY(read_element_block(reader));
    text->subject = NULL;
    if (reader->n_tags != count)
        status = modal_text_fail(text, "%lld elements announced, the blocks hold %lld",
                                 (long long)count, (long long)reader->n_tags);
done:
    return status;
}

modal_status msh_read_elements(msh_reader *reader)
{
    modal_status status = reader->version < 40 ? read_elements_2(reader) : read_elements_4(reader);
    if (status == MODAL_OK) reader->text.subject = NULL;
    return status;
}
