/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/mesh_read.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/meshes/bou.h"
#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/obj.h"
#include "formats/meshes/text_reader.h"
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

/* Both VegaFEM's and Abaqus's files have keywords with a star in front: whether the first one is VegaFEM's. *INCLUDE is in both,
 * and *ELEMENTS no keyword of Abaqus's. */
static int is_vega(modal_text text)
{
    static const char *const words[] = {"*VERTICES", "*ELEMENTS", "*MATERIAL", "*SET", "*REGION"};
    const char *token;
    int64_t length;
    modal_text_token(&text, &token, &length);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (modal_token_is_like(token, length, words[i])) return 1;
    return 0;
}

/* By the first word, or where that says nothing by the extension of the name. */
static parser *find_parser(const char *data, int64_t length, const char *name)
{
    modal_text text;
    modal_text_init(&text, name, data, length, NULL);
    if (has_extension(name, ".meshb") || (length >= 4 && memcmp(data, "\1\0\0", 4) == 0)) return modal_medit_parse;
    if (!modal_text_seek_token(&text)) return NULL;
    if (begins_with(&text, "$")) return modal_msh_parse;
    if (begins_with(&text, "# vtk DataFile")) return modal_vtk_parse;
    if (begins_with(&text, "<")) return modal_vtu_parse;
    if (has_extension(name, ".veg")) return modal_veg_parse;
    if (has_extension(name, ".inp")) return modal_inp_parse;
    text.comments = 1;
    if (!modal_text_seek_token(&text)) return NULL;
    if (begins_with(&text, "MeshVersionFormatted")) return modal_medit_parse;
    if (!begins_with(&text, "*")) return NULL;
    return is_vega(text) ? modal_veg_parse : modal_inp_parse;
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
        "%s: not a volume mesh that can be read, which are Gmsh .msh 1.0, 2 and 4, VegaFEM .veg, "
        "Abaqus .inp, Medit .mesh and .meshb, TetGen .node, .ele and .face, VTK .vtk and .vtu",
        name);
}

/* TetGen's files lie side by side; the path is that of any of them. */
static modal_status read_tetgen(const char *path, modal_volume_mesh *mesh, modal_error *err)
{
    static const char *const extensions[3] = {"node", "ele", "face"};
    modal_status status = MODAL_OK;
    char *data[3] = {NULL}, *paths[3] = {NULL};
    int64_t length[3] = {0}, stem = (int64_t)(strrchr(path, '.') - path);
    for (int i = 0; i < 3; i++) {
        MODAL_TRY(modal_alloc(&paths[i], stem + 6, 1, "path", err));
        snprintf(paths[i], (size_t)stem + 6, "%.*s.%s", (int)stem, path, extensions[i]);
        if (i == 2 && access(paths[i], F_OK) != 0) break;
        MODAL_TRY(modal_file_load(paths[i], &data[i], &length[i], err));
    }
    const modal_tetgen_files files = {.node = {data[0], paths[0], length[0]},
                                      .ele = {data[1], paths[1], length[1]},
                                      .face = {data[2], paths[2], length[2]}};
    MODAL_TRY(modal_tetgen_parse(&files, mesh, err));
done:
    for (int i = 0; i < 3; i++) {
        modal_free(&data[i]);
        modal_free(&paths[i]);
    }
    return status;
}

int modal_mesh_is_named(const char *path)
{
    static const char *const known[] = {".msh", ".veg", ".inp", ".mesh", ".meshb", ".node", ".ele", ".face", ".vtk", ".vtu"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (has_extension(path, known[k])) return 1;
    return 0;
}

modal_status modal_mesh_read(const char *path, modal_volume_mesh *mesh, modal_error *err)
{
    char *data;
    int64_t length;
    memset(mesh, 0, sizeof *mesh);
    if (has_extension(path, ".node") || has_extension(path, ".ele") || has_extension(path, ".face"))
        return read_tetgen(path, mesh, err);
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = find_parser(data, length, path) == modal_msh_parse
                                         ? modal_msh_parse_passing(data, length, path, mesh, err)
                                         : modal_mesh_parse(data, length, path, mesh, err);
    modal_free(&data);
    return status;
}

modal_status modal_bou_read(const char *path, int64_t **numbers, int64_t *count, modal_error *err)
{
    char *data;
    int64_t length;
    *numbers = NULL;
    *count = 0;
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0) /* VegaFEM's way to hold nothing */
        return modal_bou_parse("", 0, path, numbers, count, err);
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK) status = modal_bou_parse(data, length, path, numbers, count, err);
    modal_free(&data);
    return status;
}

static modal_status read_obj(const char *path, int names, modal_surface_mesh *surface, modal_error *err)
{
    char *data = NULL;
    int64_t length = 0;
    memset(surface, 0, sizeof *surface);
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK)
        status = names ? modal_obj_parse_names(data, length, path, surface, err) : modal_obj_parse(data, length, path, surface, NULL, err);
    modal_free(&data);
    return status;
}

modal_status modal_obj_read(const char *path, modal_surface_mesh *surface, modal_error *err) { return read_obj(path, 0, surface, err); }

modal_status modal_obj_read_names(const char *path, modal_surface_mesh *surface, modal_error *err) { return read_obj(path, 1, surface, err); }
