/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/surface_read.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "formats/meshes/mesh_parse.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"

typedef modal_status parser(const char *data, int64_t length, const char *name,
                            modal_surface_mesh *surface, int64_t *n_collapsed, modal_error *err);

static const struct {
    const char *extension;
    parser *parse;
} kinds[] = {
    {".obj", modal_obj_parse}, {".stl", modal_stl_parse}, {".ply", modal_ply_parse}, {".off", modal_off_parse}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static parser *find_by_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < N_KINDS; i++)
        if (strcasecmp(dot, kinds[i].extension) == 0) return kinds[i].parse;
    return NULL;
}

/* Whether a .vtk file says that it holds polygons: behind the version and the title. */
static int is_vtk_surface(const char *data, int64_t length)
{
    static const char mark[] = "# vtk DataFile Version ";
    modal_text text;
    const char *token;
    int64_t token_length;
    if (length < (int64_t)sizeof mark || memcmp(data, mark, sizeof mark - 1) != 0) return 0;
    modal_text_init(&text, "", data, length, NULL);
    modal_text_skip_line(&text);
    modal_text_skip_line(&text);
    for (int i = 0; i < 3; i++) { /* ASCII DATASET POLYDATA */
        if (!modal_text_seek_token(&text) || !modal_text_token(&text, &token, &token_length)) return 0;
        if (i == 1 && !modal_token_is(token, token_length, "DATASET")) return 0;
    }
    return modal_token_is(token, token_length, "POLYDATA");
}

/* The first bytes of a file of `total` bytes. */
static parser *find_by_content(const char *data, int64_t length, int64_t total)
{
    static const char *const off[] = {"OFF", "COFF", "NOFF", "CNOFF"};
    static const char *const obj[] = {"v", "vt", "vn", "f", "o", "g", "s", "mtllib", "usemtl"};
    modal_text text;
    const char *token;
    int64_t token_length;
    uint32_t n_facets;
    modal_text_init(&text, "", data, length, NULL);
    text.comments = 1;
    if (is_vtk_surface(data, length)) return modal_vtk_surface_parse;
    if (length >= 84) {
        memcpy(&n_facets, data + 80, sizeof n_facets);
        if (total == 84 + 50 * (int64_t)n_facets) return modal_stl_parse;
    }
    if (!modal_text_seek_token(&text) || !modal_text_token(&text, &token, &token_length)) return NULL;
    if (modal_token_is(token, token_length, "ply")) return modal_ply_parse;
    if (modal_token_is_like(token, token_length, "solid")) return modal_stl_parse;
    for (int i = 0; i < 4; i++)
        if (modal_token_is(token, token_length, off[i])) return modal_off_parse;
    for (size_t i = 0; i < sizeof obj / sizeof *obj; i++)
        if (modal_token_is(token, token_length, obj[i])) return modal_obj_parse;
    return NULL;
}

int modal_surface_is_named(const char *path)
{
    char head[1024];
    const char *dot = strrchr(path, '.');
    if (!dot || strcasecmp(dot, ".vtk") != 0) return find_by_name(path) != NULL;
    FILE *file = modal_disk_stream(path);
    if (!file) return 0;
    const size_t length = fread(head, 1, sizeof head, file);
    fclose(file);
    return is_vtk_surface(head, (int64_t)length);
}

int modal_surface_is_inside(const char *path)
{
    char head[8192];
    FILE *file = modal_disk_stream(path);
    if (!file) return 0;
    const size_t length = fread(head, 1, sizeof head, file);
    const int64_t total = fseek(file, 0, SEEK_END) == 0 ? (int64_t)ftell(file) : -1;
    fclose(file);
    return find_by_content(head, (int64_t)length, total) != NULL;
}

modal_status modal_surface_parse(const char *data, int64_t length, const char *name,
                                 modal_surface_mesh *surface, int64_t *n_collapsed,
                                 modal_error *err)
{
    memset(surface, 0, sizeof *surface);
    parser *parse = find_by_name(name);
    if (!parse) parse = find_by_content(data, length, length);
    if (!parse)
        return modal_error_set(err, MODAL_ERROR_INPUT,
                               "%s: not a surface that can be read, which are .obj, .stl, .ply, .off and "
                               ".vtk of polygons",
                               name);
    return parse(data, length, name, surface, n_collapsed, err);
}

modal_status modal_surface_read(const char *path, modal_surface_mesh *surface,
                                int64_t *n_collapsed, modal_error *err)
{
    char *data;
    int64_t length;
    memset(surface, 0, sizeof *surface);
    modal_status status = modal_file_load(path, &data, &length, err);
    if (status == MODAL_OK)
        status = modal_surface_parse(data, length, path, surface, n_collapsed, err);
    modal_free(&data);
    return status;
}
