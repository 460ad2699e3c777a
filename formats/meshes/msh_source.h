/* SPDX-License-Identifier: Apache-2.0 */
/* Internal to the Gmsh reader: the values of a section one by one, from text or from binary, so
 * that every rule about them is written once (msh.c, msh_elements.c). */
#ifndef MODAL_FORMATS_MSH_SOURCE_H
#define MODAL_FORMATS_MSH_SOURCE_H

#include "formats/meshes/group_builder.h"
#include "formats/meshes/tag_table.h"
#include "formats/meshes/text_reader.h"
#include "lib/model/volume_mesh.h"

/* How values are written. Section names, and the counts of version 2.2, are text in both. */
typedef struct msh_encoding {
    /* A whole number that binary files hold in 32 bits, and one that they hold in 64. */
    modal_status (*read_int)(modal_text *text, const char *what, int64_t *value);
    modal_status (*read_size)(modal_text *text, const char *what, int64_t *value);
    modal_status (*read_real)(modal_text *text, const char *what, double *value);
    /* Ends a record, which has a line of its own in text. */
    modal_status (*end_record)(modal_text *text);
} msh_encoding;

extern const msh_encoding msh_ascii, msh_binary;

/* One kind of element of Gmsh's. */
typedef struct msh_element_type {
    int number, dimension, n_nodes;
    const char *name;
    int type;             /* modal_element_type, -1: none of ours, refused where it is a volume */
    const uint8_t *order; /* Gmsh's place of each of our nodes; NULL: the same order */
} msh_element_type;

enum { MSH_MOST_NODES = 28 };

/* NULL for a number that is not listed. */
const msh_element_type *msh_find_element_type(int64_t number);
/* That of one of our types of elements. */
const msh_element_type *msh_find_element_type_of(modal_element_type type);

/* $Entities of version 4.1: which physical groups an entity belongs to. */
typedef struct msh_entities {
    int present;
    int64_t n, capacity, key_capacity, n_groups, group_capacity;
    int64_t *keys;    /* [n] 4 tag + dimension */
    int64_t *offsets; /* [n + 1] into groups */
    int32_t *groups;  /* tags of physical groups */
    modal_tag_table table;
} msh_entities;

typedef struct msh_old_name {
    int64_t tag;
    char *name;
} msh_old_name;

typedef struct msh_reader {
    modal_text text;
    const msh_encoding *encoding;
    int version;                /* 10, 22 (2.0 to 2.2), 40 or 41 */
    modal_volume_mesh *mesh;    /* the result */
    modal_tag_table node_table; /* over mesh->node_tags */
    msh_entities entities;
    modal_group_builder groups;
    /* All elements read, of any dimension, to find repeated numbers. */
    int64_t n_tags, n_expected;
    int64_t *tags; /* [n_expected] */
    modal_tag_table tag_table;
    int64_t type_capacity, offset_capacity, node_capacity, tag_capacity;
    int32_t last_volume; /* the element read last if it was a volume, else -1 */
    int64_t last_physical;
    msh_old_name *old_names; /* $PhysicalNames of version 2.0 */
    int64_t n_old_names, old_name_capacity;
    int64_t *ghosts; /* [n_ghosts] entities of elements that are copies of another partition's */
    int64_t n_ghosts, n_ghost_elements;
    int64_t n_repeated; /* elements of lower dimension that name a node twice, left out */
} msh_reader;

/* Fails where `count` items of at least so many bytes cannot be in the rest of the file; to be
 * called before anything is allocated for them. */
static inline modal_status msh_check_count(const msh_reader *reader, const char *what, int64_t count,
                                           int64_t ascii_bytes, int64_t binary_bytes)
{
    int64_t left = reader->text.length - reader->text.position;
    int64_t bytes = reader->text.binary ? binary_bytes : ascii_bytes;
    /* The newline of the last record is not needed. */
    if (count <= (left + 1) / bytes) return MODAL_OK;
    return modal_text_fail(&reader->text, "%lld %s cannot be in the %lld bytes left of the file",
                           (long long)count, what, (long long)left);
}

/* The entity that a block of nodes or elements is of; version 4.0 has the number in front. */
static inline modal_status msh_read_block_entity(msh_reader *reader, int64_t *dimension, int64_t *tag)
{
    modal_status status = MODAL_OK;
    modal_text *text = &reader->text;
    if (reader->version == 40) MODAL_TRY(reader->encoding->read_int(text, "number of the entity", tag));
    MODAL_TRY(reader->encoding->read_int(text, "dimension of the entity", dimension));
    if (*dimension < 0 || *dimension > 3)
        return modal_text_fail(text, "dimension of the entity out of range, %lld", (long long)*dimension);
    if (reader->version == 41) MODAL_TRY(reader->encoding->read_int(text, "number of the entity", tag));
done:
    return status;
}

/* $Elements, from the line after its name to the last record. */
modal_status msh_read_elements(msh_reader *reader);

#endif
