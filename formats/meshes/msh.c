/* SPDX-License-Identifier: Apache-2.0 */
/* Gmsh's .msh files, versions 1.0, 2.0 to 2.2, 4.0 and 4.1 (Gmsh reference manual, "MSH file format"): the sections,
 * the head, names, entities and nodes. Elements are in msh_elements.c. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/msh_source.h"
#include "lib/base/memory.h"

/* ---- sections ---- */

/* $EndNAME, after the last record of a section. */
static modal_status read_section_end(modal_text *text, const char *name, int64_t length)
{
    const char *token;
    int64_t token_length;
    char quoted[MODAL_QUOTE], section[MODAL_QUOTE];
    modal_quote(section, name, length);
    if (!modal_text_seek_token(text))
        return modal_text_fail(text, "the file ends, $End%s expected", section);
    modal_text_token(text, &token, &token_length);
    if (token_length != length + 4 || (memcmp(token, "$End", 4) != 0 && memcmp(token, "$END", 4) != 0) ||
        memcmp(token + 4, name, (size_t)length) != 0)
        return modal_text_fail(text, "$End%s expected, '%s'", section,
                               modal_quote(quoted, token, token_length));
    return modal_text_end_line(text);
}

/* Goes behind the line $EndNAME, whatever is in front of it. */
static modal_status skip_section(modal_text *text, const char *name, int64_t length)
{
    const char *data = text->data, *end = data + text->length, *from = data + text->position;
    char section[MODAL_QUOTE];
    modal_quote(section, name, length);
    for (;;) {
        const char *mark = memmem(from, (size_t)(end - from), "$End", 4);
        if (!mark) {
            text->at = text->position;
            return modal_text_fail(text, "the file ends within $%s", section);
        }
        from = mark + 4;
        /* Binary data may end without a new line. */
        if ((mark[-1] != '\n' && !text->binary) || end - from < length || memcmp(from, name, (size_t)length) != 0 ||
            (end - from > length && !memchr("\r\n \t", from[length], 4)))
            continue;
        for (int64_t i = text->position; i < mark - data; i++) text->line += data[i] == '\n';
        text->position = mark - data;
        return read_section_end(text, name, length);
    }
}

/* ---- $MeshFormat ---- */

static modal_status read_format(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *token;
    char quoted[MODAL_QUOTE];
    int64_t length, binary, size;
    double version = 0;
    if (!modal_text_token(text, &token, &length)) {
        status = modal_text_fail(text, "version of the format missing");
        goto done;
    }
    if (modal_parse_real(token, length, &version) != MODAL_NUMBER_OK) version = 0;
    /* 2.0 and 2.1 have what is read here of 2.2. */
    reader->version = version == 2 || version == 2.1 || version == 2.2 ? 22 : version == 4 ? 40 : version == 4.1 ? 41 : 0;
    if (!reader->version) {
        status = modal_text_fail(text, "Gmsh format version %s is not supported, only 1.0, 2.0 to 2.2, 4.0 and 4.1",
                                 modal_quote(quoted, token, length));
        goto done;
    }
    MODAL_TRY(modal_text_integer(text, "file type", 0, 1, &binary));
    MODAL_TRY(modal_text_integer(text, "data size", 0, INT32_MAX, &size));
    if (size != 8) {
        status = modal_text_fail(text, "data size %lld is not supported, only 8", (long long)size);
        goto done;
    }
    MODAL_TRY(modal_text_end_line(text));
    reader->encoding = binary ? &msh_binary : &msh_ascii;
    if (!binary) goto done;
    text->binary = 1;
    int64_t one;
    MODAL_TRY(msh_binary.read_int(text, "byte order mark", &one));
    if (one == 0x01000000)
        status = modal_text_fail(text, "big-endian binary file, only little-endian is supported");
    else if (one != 1)
        status = modal_text_fail(text, "byte order mark is not 1, %lld", (long long)one);
done:
    return status;
}

/* ---- $PhysicalNames ---- */

/* The characters between the quotes; the line may hold nothing else. */
static modal_status read_quoted(modal_text *text, const char **name, int64_t *length)
{
    char quoted[MODAL_QUOTE];
    const char *token;
    int64_t token_length;
    if (!modal_text_token(text, &token, &token_length))
        return modal_text_fail(text, "name of the physical group missing");
    if (*token != '"')
        return modal_text_fail(text, "name of a physical group is not in quotes, '%s'",
                               modal_quote(quoted, token, token_length));
    *name = token + 1;
    const char *end = text->data + text->length, *line_end = *name;
    while (line_end < end && *line_end != '\n' && *line_end != '"') line_end++;
    *length = line_end - *name;
    if (line_end == end || *line_end != '"')
        return modal_text_fail(text, "name of a physical group has no closing quote");
    for (int64_t i = 0; i < *length; i++)
        if ((unsigned char)(*name)[i] < ' ')
            return modal_text_fail(text, "control character in a name, '%s'",
                                   modal_quote(quoted, *name, *length));
    text->position = line_end + 1 - text->data;
    return MODAL_OK;
}

static modal_status keep_old_name(msh_reader *reader, int64_t tag, const char *name, int64_t length)
{
    modal_status status = MODAL_OK;
    modal_error *err = reader->text.err;
    MODAL_TRY(modal_grow(&reader->old_names, &reader->old_name_capacity, reader->n_old_names + 1, sizeof *reader->old_names,
                         "names of groups", err));
    msh_old_name *to = &reader->old_names[reader->n_old_names];
    *to = (msh_old_name){.tag = tag};
    MODAL_TRY(modal_copy_text(&to->name, name, (size_t)length, err));
    reader->n_old_names++;
done:
    return status;
}

/* To groups of that number that have no name. */
static modal_status give_old_names(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    for (int64_t i = 0; i < reader->n_old_names; i++) {
        const msh_old_name *old = &reader->old_names[i];
        for (int64_t g = 0; g < reader->groups.n && *old->name; g++) {
            modal_group *group = &reader->groups.drafts[g].group;
            if (group->tag == old->tag && !group->name)
                MODAL_TRY(modal_copy_text(&group->name, old->name, SIZE_MAX, reader->text.err));
        }
    }
done:
    return status;
}

static modal_status read_physical_names(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    int64_t count, dimension, tag, length = 0;
    MODAL_TRY(modal_text_integer(text, "number of physical names", 0, INT32_MAX, &count));
    MODAL_TRY(msh_check_count(reader, "physical names", count, 7, 7));
    MODAL_TRY(modal_text_end_line(text));
    for (int64_t i = 0; i < count; i++) {
        const char *name = NULL;
        int32_t group;
        const modal_text line = *text;
        MODAL_TRY(modal_text_integer(text, "dimension of a physical group", 0, INT32_MAX, &dimension));
        const modal_text after = *text;
        const char *token;
        if (modal_text_token(text, &token, &length) && *token == '"') {
            /* Version 2.0 gives no dimension: the name is that of all groups of the number. */
            *text = after;
            MODAL_TRY(read_quoted(text, &name, &length));
            MODAL_TRY(keep_old_name(reader, dimension, name, length));
            MODAL_TRY(modal_text_end_line(text));
            continue;
        }
        *text = line;
        MODAL_TRY(modal_text_integer(text, "dimension of a physical group", 0, 3, &dimension));
        MODAL_TRY(modal_text_integer(text, "number of a physical group", 1, INT32_MAX, &tag));
        MODAL_TRY(read_quoted(text, &name, &length));
        MODAL_TRY(modal_group_builder_find(&reader->groups, (int)dimension, (int32_t)tag, &group,
                                           text->err));
        char **kept = &reader->groups.drafts[group].group.name;
        if (*kept) {
            status = modal_text_fail(text, "physical group %lld of dimension %lld has two names",
                                     (long long)tag, (long long)dimension);
            goto done;
        }
        /* An empty name is none: the number will be the name. */
        if (length > 0) MODAL_TRY(modal_copy_text(kept, name, (size_t)length, text->err));
        MODAL_TRY(modal_text_end_line(text));
    }
done:
    return status;
}

/* ---- $Entities ---- */

/* Of what entity a partitioned one is a part, and of which partitions. */
static modal_status skip_partitions(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    int64_t value, count;
    for (int i = 0; i < 2; i++) MODAL_TRY(reader->encoding->read_int(&reader->text, "parent of an entity", &value));
    MODAL_TRY(reader->encoding->read_size(&reader->text, "number of partitions", &count));
    for (int64_t i = 0; i < count; i++) MODAL_TRY(reader->encoding->read_int(&reader->text, "number of a partition", &value));
done:
    return status;
}

/* The physical groups of one entity; what bounds it is not needed. */
static modal_status read_entity(msh_reader *reader, int dimension, int is_partitioned)
{
    /* Each element is entered into each group of its entity: more groups than this multiply a
     * small file into a huge mesh. */
    enum { MOST_GROUPS = 1024 };
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    msh_entities *entities = &reader->entities;
    const msh_encoding *encoding = reader->encoding;
    int64_t tag, n_groups, n_bounds, value;
    double bound;
    int32_t earlier;
    MODAL_TRY(encoding->read_int(text, "number of an entity", &tag));
    MODAL_TRY(modal_grow(&entities->keys, &entities->key_capacity, entities->n + 1,
                         sizeof *entities->keys, "entities", text->err));
    MODAL_TRY(modal_grow(&entities->offsets, &entities->capacity, entities->n + 2,
                         sizeof *entities->offsets, "entities", text->err));
    entities->keys[entities->n] = 4 * tag + dimension;
    MODAL_TRY(modal_tag_table_add(&entities->table, entities->keys, (int32_t)entities->n, &earlier,
                                  text->err));
    if (earlier >= 0) {
        status = modal_text_fail(text, "entity %lld of dimension %d appears twice", (long long)tag,
                                 dimension);
        goto done;
    }
    if (is_partitioned) MODAL_TRY(skip_partitions(reader));
    for (int i = 0; i < (dimension == 0 && reader->version == 41 ? 3 : 6); i++)
        MODAL_TRY(encoding->read_real(text, "extent of an entity", &bound));
    MODAL_TRY(encoding->read_size(text, "number of physical groups", &n_groups));
    if (n_groups > MOST_GROUPS) {
        status =
            modal_text_fail(text, "entity %lld of dimension %d has more than %d physical groups",
                            (long long)tag, dimension, MOST_GROUPS);
        goto done;
    }
    MODAL_TRY(modal_grow(&entities->groups, &entities->group_capacity,
                         entities->n_groups + n_groups, sizeof *entities->groups,
                         "groups of entities", text->err));
    entities->offsets[entities->n] = entities->n_groups;
    for (int64_t i = 0; i < n_groups; i++) {
        MODAL_TRY(encoding->read_int(text, "number of a physical group", &value));
        /* A negative number means the group has the entity turned over. */
        if (value == 0) continue; /* deal.II's way to say none */
        if (value == INT32_MIN) {
            status = modal_text_fail(text, "number of a physical group out of range, %lld",
                                     (long long)value);
            goto done;
        }
        entities->groups[entities->n_groups++] = (int32_t)llabs(value);
    }
    entities->offsets[++entities->n] = entities->n_groups;
    if (dimension > 0) {
        MODAL_TRY(encoding->read_size(text, "number of bounding entities", &n_bounds));
        for (int64_t i = 0; i < n_bounds; i++)
            MODAL_TRY(encoding->read_int(text, "number of a bounding entity", &value));
    }
    MODAL_TRY(encoding->end_record(text));
done:
    return status;
}

static modal_status read_all_entities(msh_reader *reader, int is_partitioned)
{
    modal_status status = MODAL_OK;
    static const char *const names[4] = {"points", "curves", "surfaces", "volumes"};
    int64_t counts[4];
    for (int i = 0; i < 4; i++) {
        MODAL_TRY(reader->encoding->read_size(&reader->text, names[i], &counts[i]));
        MODAL_TRY(msh_check_count(reader, names[i], counts[i], i == 0 ? 10 : 18, i == 0 ? 36 : 68));
        /* The tables of entities and tags hold 32-bit indices. */
        if (counts[i] > INT32_MAX / 4) {
            status =
                modal_text_fail(&reader->text, "too many %s, %lld", names[i], (long long)counts[i]);
            goto done;
        }
    }
    MODAL_TRY(reader->encoding->end_record(&reader->text));
    for (int dimension = 0; dimension < 4; dimension++)
        for (int64_t i = 0; i < counts[dimension]; i++) MODAL_TRY(read_entity(reader, dimension, is_partitioned));
    reader->entities.present = 1;
done:
    return status;
}

static modal_status read_entities(msh_reader *reader) { return read_all_entities(reader, 0); }

/* The entities of a mesh in partitions, which have other numbers than those of $Entities. */
static modal_status read_partitioned(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const msh_encoding *encoding = reader->encoding;
    int64_t value, n_ghosts;
    MODAL_TRY(encoding->read_size(text, "number of partitions", &value));
    MODAL_TRY(encoding->end_record(text));
    MODAL_TRY(encoding->read_size(text, "number of ghost entities", &n_ghosts));
    MODAL_TRY(encoding->end_record(text));
    MODAL_TRY(msh_check_count(reader, "ghost entities", n_ghosts, 4, 8));
    MODAL_TRY(modal_alloc(&reader->ghosts, n_ghosts, sizeof *reader->ghosts, "ghost entities", text->err));
    for (int64_t i = 0; i < n_ghosts; i++) {
        MODAL_TRY(encoding->read_int(text, "ghost entity", &value));
        reader->ghosts[reader->n_ghosts++] = value;
        MODAL_TRY(encoding->read_int(text, "partition of a ghost entity", &value));
        MODAL_TRY(encoding->end_record(text));
    }
    MODAL_TRY(read_all_entities(reader, 1));
done:
    return status;
}

/* ---- $Nodes ---- */

static modal_status allocate_nodes(msh_reader *reader, int64_t count)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh *mesh = reader->mesh;
    modal_error *err = reader->text.err;
    if (count == 0 || count > INT32_MAX) {
        status = count == 0 ? modal_text_fail(&reader->text, "no nodes")
                            : modal_text_fail(&reader->text, "more than %d nodes, %lld", INT32_MAX,
                                              (long long)count);
        goto done;
    }
    MODAL_TRY(modal_alloc(&mesh->nodes, 3 * count, sizeof *mesh->nodes, "nodes", err));
    MODAL_TRY(modal_alloc(&mesh->node_tags, count, sizeof *mesh->node_tags, "node tags", err));
    modal_tag_table_expect(&reader->node_table, count);
done:
    return status;
}

/* The number of the next node; leaves it as the subject of messages. */
static modal_status read_node_tag(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_volume_mesh *mesh = reader->mesh;
    int64_t tag;
    int32_t earlier;
    MODAL_TRY(reader->version < 41 ? reader->encoding->read_int(text, "node number", &tag)
                                   : reader->encoding->read_size(text, "node number", &tag));
    text->subject = "node";
    text->number = tag;
    if (tag < 1) {
        status = modal_text_fail(text, "node numbers begin at 1");
        goto done;
    }
    mesh->node_tags[mesh->n_nodes] = tag;
    MODAL_TRY(modal_tag_table_add(&reader->node_table, mesh->node_tags, (int32_t)mesh->n_nodes,
                                  &earlier, text->err));
    if (earlier >= 0) {
        status = modal_text_fail(text, "this number appears twice");
        goto done;
    }
    mesh->n_nodes++;
done:
    return status;
}

static modal_status read_coordinates(msh_reader *reader, double coordinates[3],
                                     int64_t n_parameters)
{
    static const char *const names[3] = {"x coordinate", "y coordinate", "z coordinate"};
    modal_status status = MODAL_OK;
    double parameter;
    for (int i = 0; i < 3; i++)
        MODAL_TRY(reader->encoding->read_real(&reader->text, names[i], &coordinates[i]));
    for (int64_t i = 0; i < n_parameters; i++)
        MODAL_TRY(reader->encoding->read_real(&reader->text, "parametric coordinate", &parameter));
    MODAL_TRY(reader->encoding->end_record(&reader->text));
done:
    return status;
}

static modal_status read_nodes_2(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    int64_t count;
    MODAL_TRY(modal_text_integer(&reader->text, "number of nodes", 0, INT64_MAX, &count));
    MODAL_TRY(msh_check_count(reader, "nodes", count, 8, 28));
    MODAL_TRY(modal_text_end_line(&reader->text));
    MODAL_TRY(allocate_nodes(reader, count));
    for (int64_t i = 0; i < count; i++) {
        reader->text.subject = NULL;
        modal_text_let_go(&reader->text);
        MODAL_TRY(read_node_tag(reader));
        MODAL_TRY(read_coordinates(reader, reader->mesh->nodes + 3 * i, 0));
    }
done:
    return status;
}

/* A block has the numbers of its nodes first, then their coordinates; in version 4.0 both of each node. */
static modal_status read_node_block(msh_reader *reader, int64_t count)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const msh_encoding *encoding = reader->encoding;
    modal_volume_mesh *mesh = reader->mesh;
    int64_t dimension, tag, parametric, n;
    text->subject = NULL;
    MODAL_TRY(msh_read_block_entity(reader, &dimension, &tag));
    MODAL_TRY(encoding->read_int(text, "parametric", &parametric));
    if (parametric != 0 && parametric != 1) {
        status = modal_text_fail(text, "parametric is not 0 or 1, %lld", (long long)parametric);
        goto done;
    }
    MODAL_TRY(encoding->read_size(text, "number of nodes in the block", &n));
    if (n > count - mesh->n_nodes) {
        status = modal_text_fail(text, "more nodes in the blocks than the %lld announced",
                                 (long long)count);
        goto done;
    }
    MODAL_TRY(encoding->end_record(text));
    const int64_t first = mesh->n_nodes;
    for (int64_t i = first; i < first + n; i++) {
        text->subject = NULL;
        modal_text_let_go(text);
        MODAL_TRY(read_node_tag(reader));
        MODAL_TRY(reader->version == 40 ? read_coordinates(reader, mesh->nodes + 3 * i, parametric ? dimension : 0)
                                        : encoding->end_record(text));
    }
    for (int64_t i = first; i < first + n && reader->version == 41; i++) {
        text->number = mesh->node_tags[i];
        modal_text_let_go(text);
        MODAL_TRY(read_coordinates(reader, mesh->nodes + 3 * i, parametric ? dimension : 0));
    }
done:
    return status;
}

static modal_status read_nodes_4(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const msh_encoding *encoding = reader->encoding;
    int64_t n_blocks, count, unused;
    MODAL_TRY(encoding->read_size(text, "number of node blocks", &n_blocks));
    MODAL_TRY(msh_check_count(reader, "node blocks", n_blocks, 8, 20));
    MODAL_TRY(encoding->read_size(text, "number of nodes", &count));
    MODAL_TRY(msh_check_count(reader, "nodes", count, 8, 28));
    /* Writers disagree on the least and the greatest number; nothing depends on them here. */
    for (int i = 0; i < 2 && reader->version == 41; i++)
        MODAL_TRY(encoding->read_size(text, i ? "greatest node number" : "least node number", &unused));
    MODAL_TRY(encoding->end_record(text));
    MODAL_TRY(allocate_nodes(reader, count));
    for (int64_t i = 0; i < n_blocks; i++) MODAL_TRY(read_node_block(reader, count));
    text->subject = NULL;
    if (reader->mesh->n_nodes != count)
        status = modal_text_fail(text, "%lld nodes announced, the blocks hold %lld",
                                 (long long)count, (long long)reader->mesh->n_nodes);
done:
    return status;
}

static modal_status read_nodes(msh_reader *reader)
{
    modal_status status = reader->version < 40 ? read_nodes_2(reader) : read_nodes_4(reader);
    if (status == MODAL_OK) reader->text.subject = NULL;
    return status;
}

/* ---- the file ---- */

enum { FORMAT = 1, NAMES = 2, ENTITIES = 4, NODES = 8, ELEMENTS = 16, PARTITIONED = 32 };

static const struct section {
    const char *name;
    int mark, needs, before;                  /* sections that must, and must not, have come */
    modal_status (*read)(msh_reader *reader); /* NULL: refused */
} sections[] = {
    {"MeshFormat", FORMAT, 0, 0, read_format},
    {"PhysicalNames", NAMES, FORMAT, 0, read_physical_names},
    {"Entities", ENTITIES, FORMAT, ELEMENTS, read_entities},
    {"Nodes", NODES, FORMAT, 0, read_nodes},
    {"Elements", ELEMENTS, FORMAT | NODES, 0, msh_read_elements},
    {"ParametricNodes", 0, 0, 0, NULL},
    {"PartitionedEntities", PARTITIONED, FORMAT, NODES | ELEMENTS, read_partitioned},
    {"NOD", NODES, 0, 0, read_nodes},
    {"ELM", ELEMENTS, NODES, 0, msh_read_elements},
};

static const struct section *find_section(const char *name, int64_t length)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (modal_token_is(name, length, sections[i].name)) return &sections[i];
    return NULL;
}

static modal_status read_section(msh_reader *reader, int *seen)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    const char *token;
    int64_t length;
    char quoted[MODAL_QUOTE];
    modal_text_token(text, &token, &length);
    modal_quote(quoted, token, length);
    if (*token != '$' || length == 1)
        return modal_text_fail(text, "name of a section expected, '%s'", quoted);
    if (length >= 4 && memcmp(token, "$End", 4) == 0)
        return modal_text_fail(text, "%s ends a section that is not open", quoted);
    const char *name = token + 1;
    length--;
    const struct section *section = find_section(name, length);
    if (section && !section->read)
        return modal_text_fail(text, "section %s is not supported", quoted);
    if (!*seen && section && modal_token_is(name, length, "NOD")) { /* version 1.0 has no head */
        *seen |= FORMAT;
        reader->version = 10;
        reader->encoding = &msh_ascii;
    }
    const int is_old = section && isupper((unsigned char)name[1]) != 0; /* NOD and ELM, in that version alone */
    if ((is_old || (section && section->mark >= NODES && section->mark != PARTITIONED)) && is_old != (reader->version == 10))
        return modal_text_fail(text, "section %s in the wrong place", quoted);
    if (!(*seen & FORMAT) && !modal_token_is(name, length, "MeshFormat") &&
        !modal_token_is(name, length, "Comments"))
        return modal_text_fail(text, "$MeshFormat expected, '%s'", quoted);
    if (section && *seen & section->mark) return modal_text_fail(text, "second section %s", quoted);
    if (section && ((*seen & section->needs) != section->needs || *seen & section->before))
        return modal_text_fail(text, "section %s in the wrong place", quoted);
    MODAL_TRY(modal_text_end_line(text));
    if (!section || ((section->mark == ENTITIES || section->mark == PARTITIONED) && reader->version < 40)) {
        status = skip_section(text, name, length);
        goto done;
    }
    MODAL_TRY(section->read(reader));
    MODAL_TRY(read_section_end(text, section->name, length)); /* the name in the text may be forgotten by now */
    *seen |= section->mark;
done:
    return status;
}

static modal_status read_file(msh_reader *reader)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    modal_volume_mesh *mesh = reader->mesh;
    int seen = 0;
    while (modal_text_seek_token(text)) MODAL_TRY(read_section(reader, &seen));
    text->at = text->position;
    if (!(seen & FORMAT) || !(seen & NODES) || !(seen & ELEMENTS)) {
        status = modal_text_fail(text, "the file ends without $%s",
                                 !(seen & FORMAT)  ? "MeshFormat"
                                 : !(seen & NODES) ? "Nodes"
                                                   : "Elements");
        goto done;
    }
    if (mesh->n_elements == 0) {
        status = modal_text_fail(text, "no volume elements");
        goto done;
    }
    if (reader->n_ghost_elements > 0)
        MODAL_TRY(modal_notes_add(&reader->mesh->notes, reader->text.err, "elements of other partitions (ghosts) are left out, %lld",
                                  (long long)reader->n_ghost_elements));
    if (reader->n_repeated > 0)
        MODAL_TRY(modal_notes_add(&mesh->notes, text->err, "faces, edges and points that name a node twice are left out, %lld",
                                  (long long)reader->n_repeated));
    MODAL_TRY(give_old_names(reader));
    MODAL_TRY(modal_group_builder_finish(&reader->groups, text->name, mesh, text->err));
    MODAL_TRY(modal_alloc(&mesh->materials, 0, sizeof *mesh->materials, "materials", text->err));
    MODAL_TRY(modal_alloc(&mesh->element_material, mesh->n_elements, sizeof *mesh->element_material,
                          "materials of elements", text->err));
    for (int64_t i = 0; i < mesh->n_elements; i++) mesh->element_material[i] = -1;
done:
    return status;
}

static modal_status parse(const char *data, int64_t length, int passing, const char *name, modal_volume_mesh *mesh, modal_error *err)
{
    memset(mesh, 0, sizeof *mesh);
    msh_reader reader = {.mesh = mesh, .last_volume = -1};
    modal_text_init(&reader.text, name, data, length, err);
    reader.text.passing = passing;
    modal_status status = read_file(&reader);
    if (status == MODAL_ERROR_MEMORY) modal_error_context(err, "%s", name);
    modal_tag_table_free(&reader.node_table);
    modal_tag_table_free(&reader.tag_table);
    modal_tag_table_free(&reader.entities.table);
    modal_free(&reader.entities.keys);
    modal_free(&reader.entities.offsets);
    modal_free(&reader.entities.groups);
    modal_free(&reader.tags);
    modal_free(&reader.ghosts);
    for (int64_t i = 0; i < reader.n_old_names; i++) modal_free(&reader.old_names[i].name);
    modal_free(&reader.old_names);
    modal_group_builder_free(&reader.groups);
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}

modal_status modal_msh_parse(const char *data, int64_t length, const char *name,
                             modal_volume_mesh *mesh, modal_error *err)
{
    return parse(data, length, 0, name, mesh, err);
}

modal_status modal_msh_parse_passing(char *data, int64_t length, const char *name, modal_volume_mesh *mesh, modal_error *err)
{
    return parse(data, length, 1, name, mesh, err);
}
