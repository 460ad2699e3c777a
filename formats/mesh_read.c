/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/mesh_read.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "formats/bou.h"
#include "formats/mesh_parse.h"
#include "formats/obj.h"
#include "formats/text_reader.h"
#include "lib/base/memory.h"

static int has_extension(const char *name, const char *extension)
{
    size_t length = strlen(name), tail = strlen(extension);
    return length > tail && strcasecmp(name + length - tail, extension) == 0;
}

typedef modal_status parser(const char *data, int64_t length, const char *name,
                            modal_volume_mesh *mesh, modal_error *err);

static int begins_with(const modal_text *text, const char *mark)
{
    size_t length = strlen(mark);
    return (size_t)(text->length - text->position) >= length &&
           memcmp(text->data + text->position, mark, length) == 0;
}

/* By the first word, or where that says nothing by the extension of the name. */
static parser *find_parser(const char *data, int64_t length, const char *name)
{
    modal_text text;
    modal_text_init(&text, name, data, length, NULL);
    if (!modal_text_seek_token(&text)) return NULL;
    if (begins_with(&text, "$")) return modal_msh_parse;
    if (begins_with(&text, "# vtk DataFile")) return modal_vtk_parse;
    if (begins_with(&text, "<")) return modal_vtu_parse;
    if (has_extension(name, ".veg")) return modal_veg_parse;
    if (has_extension(name, ".inp")) return modal_inp_parse;
    text.comments = 1;
    if (!modal_text_seek_token(&text)) return NULL;
    if (begins_with(&text, "MeshVersionFormatted")) return modal_medit_parse;
    return begins_with(&text, "*") ? modal_veg_parse : NULL;
}

modal_status modal_mesh_parse(const char *data, int64_t length, const char *name,
                              modal_volume_mesh *mesh, modal_error *err)
{
    modal_text text;
    memset(mesh, 0, sizeof *mesh);
    modal_text_init(&text, name, data, length, err);
    if (!modal_text_seek_token(&text)) return modal_text_fail(&text, "nothing but blanks");
    parser *parse = find_parser(data, length, name);
    if (parse) return parse(data, length, name, mesh, err);
    return modal_error_set(
        err, MODAL_ERROR_INPUT,
        "%s: not a volume mesh that can be read, which are Gmsh .msh 2.2 and 4.1, VegaFEM .veg, "
        "Abaqus .inp, Medit .mesh, TetGen .node and .ele, VTK .vtk and .vtu",
        name);
}

/* TetGen's files come in pairs; the path is that of either. */
static modal_status read_tetgen(const char *path, modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *nodes = NULL, *elements = NULL, *nodes_path = NULL, *elements_path = NULL;
    int64_t nodes_length, elements_length, stem = (int64_t)(strrchr(path, '.') - path);
    MODAL_TRY(modal_alloc(&nodes_path, stem + 6, 1, "path", err));
    MODAL_TRY(modal_alloc(&elements_path, stem + 6, 1, "path", err));
    snprintf(nodes_path, (size_t)stem + 6, "%.*s.node", (int)stem, path);
    snprintf(elements_path, (size_t)stem + 6, "%.*s.ele", (int)stem, path);
    MODAL_TRY(modal_file_load(nodes_path, &nodes, &nodes_length, err));
    MODAL_TRY(modal_file_load(elements_path, &elements, &elements_length, err));
    MODAL_TRY(modal_tetgen_parse(nodes, nodes_length, nodes_path, elements, elements_length,
                                 elements_path, mesh, err));
done:
    modal_free(&nodes);
    modal_free(&elements);
    modal_free(&nodes_path);
    modal_free(&elements_path);
    return status;
}

modal_status modal_mesh_read(const char *path, modal_volume_mesh *mesh, modal_error *err)
{
    char *data;
    int64_t length;
    memset(mesh, 0, sizeof *mesh);
    if (has_extension(path, ".node") || has_extension(path, ".ele"))
        return read_tetgen(path, mesh, err);
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = modal_mesh_parse(data, length, path, mesh, err);
    modal_free(&data);
    return status;
}

modal_status modal_bou_read(const char *path, int64_t **numbers, int64_t *count, modal_error *err)
{
    char *data;
    int64_t length;
    *numbers = NULL;
    *count = 0;
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = modal_bou_parse(data, length, path, numbers, count, err);
    modal_free(&data);
    return status;
}

modal_status modal_obj_read(const char *path, modal_surface_mesh *surface, modal_error *err)
{
    char *data;
    int64_t length;
    memset(surface, 0, sizeof *surface);
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = modal_obj_parse(data, length, path, surface, err);
    modal_free(&data);
    return status;
}
