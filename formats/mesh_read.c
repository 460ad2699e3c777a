/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/mesh_read.h"

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

modal_status modal_mesh_parse(const char *data, int64_t length, const char *name,
                              modal_volume_mesh *mesh, modal_error *err)
{
    modal_text text;
    memset(mesh, 0, sizeof *mesh);
    modal_text_init(&text, name, data, length, err);
    if (!modal_text_seek_token(&text)) return modal_text_fail(&text, "nothing but blanks");
    if (data[text.position] == '$') return modal_msh_parse(data, length, name, mesh, err);
    modal_text_init(&text, name, data, length, err);
    text.comments = 1;
    if (has_extension(name, ".veg") || (modal_text_seek_token(&text) && data[text.position] == '*'))
        return modal_veg_parse(data, length, name, mesh, err);
    return modal_error_set(
        err, MODAL_ERROR_INPUT,
        "%s: not a volume mesh that can be read, which are Gmsh .msh 2.2 and 4.1 "
        "and VegaFEM .veg",
        name);
}

modal_status modal_mesh_read(const char *path, modal_volume_mesh *mesh, modal_error *err)
{
    char *data;
    int64_t length;
    memset(mesh, 0, sizeof *mesh);
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
