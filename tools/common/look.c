/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/common/look.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "formats/json/look.h"
#include "formats/meshes/mtl.h"
#include "formats/meshes/obj.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/below.h"
#include "lib/base/memory.h"
#include "tools/common/files.h"

static int is_named(const char *path, const char *extension)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, extension) == 0;
}

/* What names in the .mtl get in front, so that they are seen from the look's folder. */
static modal_status find_prefix(const tool_look *look, const char *mtl, char prefix[PATH_MAX + 1], modal_error *err)
{
    char own[PATH_MAX + 1];
    if (!modal_path_folder(mtl, 1, own)) return modal_error_set(err, MODAL_ERROR_INPUT, "%s: cannot open, %s", mtl, strerror(errno));
    const size_t length = strlen(look->folder);
    if (strncmp(own, look->folder, length) == 0)
        snprintf(prefix, PATH_MAX + 1, "%s", own + length);
    else if (look->any_path)
        snprintf(prefix, PATH_MAX + 1, "%s", own);
    else
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: its images would not be below the folder of the look (--any-path: they may)",
                               mtl);
    return MODAL_OK;
}

/* An image that is a file beside that .glb, as the look's folder sees it. */
static modal_status put_before(const tool_look *look, const char *glb, char **name, modal_error *err)
{
    int64_t length;
    char *whole = NULL, prefix[PATH_MAX + 1];
    if (!*name || **name == '/' || tool_look_image_inside(look, *name, &length)) return MODAL_OK;
    modal_status status = find_prefix(look, glb, prefix, err);
    if (status != MODAL_OK) return status;
    const size_t own = strlen(*name), before = strlen(prefix);
    status = modal_alloc(&whole, (int64_t)(before + own + 1), 1, "names", err);
    if (status != MODAL_OK) return status;
    memcpy(whole, prefix, before);
    memcpy(whole + before, *name, own + 1);
    modal_free(name);
    *name = whole;
    return MODAL_OK;
}

static modal_status read_mtl(const char *path, tool_look *look, modal_error *err)
{
    char prefix[PATH_MAX + 1];
    const modal_status status = find_prefix(look, path, prefix, err);
    return status == MODAL_OK ? modal_mtl_read(path, prefix, look->any_path, &look->look, err) : status;
}

/* What a mtllib line says: one name with blanks, where there is such a file, or several. `folder`: the .obj's. */
static modal_status read_libraries(const char *folder, const char *line, tool_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[2 * PATH_MAX];
    const int inside = look->any_path || modal_path_is_below(line);
    snprintf(path, sizeof path, "%s%s", folder, line);
    if (inside && access(path, F_OK) == 0) return read_mtl(path, look, err);
    for (const char *name = line; *name; name += strspn(name, " \t")) {
        const size_t length = strcspn(name, " \t");
        char one[PATH_MAX];
        if (length >= sizeof one) MODAL_FAIL(err, MODAL_ERROR_INPUT, "mtllib: name too long, %.60s", name);
        memcpy(one, name, length);
        one[length] = '\0';
        const char *clean = strncmp(one, "./", 2) == 0 ? one + 2 : one;
        if (!look->any_path && !modal_path_is_below(clean))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "mtllib: not in the folder of the .obj or below it, '%s' (--any-path: it may be)", clean);
        snprintf(path, sizeof path, "%s%s", *clean == '/' ? "" : folder, clean);
        MODAL_TRY(read_mtl(path, look, err));
        name += length;
    }
done:
    return status;
}

static modal_status read_obj(const char *path, tool_look *look, modal_surface_mesh *surface, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh own = {0};
    char folder[PATH_MAX + 1];
    MODAL_TRY(surface ? modal_obj_read(path, &own, err) : modal_obj_read_names(path, &own, err));
    if (!modal_path_folder(path, 1, folder)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: cannot open, %s", path, strerror(errno));
    if (own.n_libraries == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: names no materials (mtllib)", path);
    for (int32_t i = 0; i < own.n_libraries; i++) MODAL_TRY(read_libraries(folder, own.libraries[i], look, err));
    for (int32_t i = 0; i < own.n_materials; i++)
        if (modal_look_find(&look->look, own.material_names[i], (int64_t)strlen(own.material_names[i])) < 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: usemtl: no material of that name in its mtllib, %s", path, own.material_names[i]);
done:
    if (status == MODAL_OK && surface) {
        *surface = own;
        own = (modal_surface_mesh){0};
    }
    modal_surface_mesh_free(&own);
    return status;
}

static modal_status read_glb(const char *path, const char *folder, tool_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t length = 0;
    MODAL_TRY(modal_file_load(path, &look->glb, &length, err));
    MODAL_TRY(modal_gltf_look_parse(look->glb, length, path, look->any_path, &look->look, &look->inside, err));
    for (int32_t i = 0; folder && i < look->look.n_materials; i++) {
        modal_look_material *m = &look->look.materials[i];
        MODAL_TRY(put_before(look, path, &m->image, err));
        MODAL_TRY(put_before(look, path, &m->normal_image, err));
    }
done:
    return status;
}

/* Names of files in the look: what the run does not open belongs to the look all the same. */
static void know_file(const tool_look *look, const char *name)
{
    char *path = NULL;
    int64_t length;
    int32_t image;
    if (!name || tool_look_image_inside(look, name, &length) || tool_look_packed(look, name, 0, -1, &image)) return;
    if (modal_path_find(look->folder, name, look->any_path, &path, NULL) == MODAL_OK) tool_files_read(path);
    modal_free(&path);
}

static void know_files(const tool_look *look)
{
    for (int32_t i = 0; i < look->look.n_materials; i++) {
        const modal_look_material *m = &look->look.materials[i];
        const char *const names[] = {m->image, m->normal_image, m->octree, m->normal_octree};
        for (int k = 0; k < 4; k++) know_file(look, names[k]);
    }
    for (int32_t i = 0; i < look->look.n_uv; i++) know_file(look, look->look.uv[i]);
}

modal_status tool_look_read(const char *path, const char *folder, int any_path, tool_look *look, modal_surface_mesh *surface,
                            modal_error *err)
{
    modal_status status = MODAL_OK;
    memset(look, 0, sizeof *look);
    look->any_path = any_path;
    if (!modal_path_folder(folder ? folder : path, !folder, look->folder))
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: cannot open, %s", folder ? folder : path, strerror(errno));
    const int obj = is_named(path, ".obj"), glb = is_named(path, ".glb"), packed = is_named(path, ".h5");
    if (!obj && !glb && !packed && !is_named(path, ".mtl")) {
        MODAL_TRY(modal_look_read(path, any_path, &look->look, err));
        status = tool_look_find_packed(look, err);
        if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", path);
        if (status != MODAL_OK) goto done;
    } else {
        look->look = (modal_look){.default_material = -1, .ground_material = -1, .ambient = {0.2, 0.2, 0.2}, .background = {1, 1, 1}};
        MODAL_TRY(obj      ? read_obj(path, look, surface, err)
                  : glb    ? read_glb(path, folder, look, err)
                  : packed ? tool_look_read_packed(path, look, err)
                           : read_mtl(path, look, err));
        if (look->look.n_materials == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no materials", path);
        if (look->look.n_materials == 1) look->look.default_material = 0;
        MODAL_TRY(modal_look_complete(&look->look, err));
    }
    know_files(look);
done:
    if (status != MODAL_OK) tool_look_free(look);
    return status;
}

void tool_look_free(tool_look *look)
{
    modal_look_free(&look->look);
    modal_gltf_images_free(&look->inside);
    tool_look_free_packs(look);
    modal_free(&look->glb);
}

const void *tool_look_image_inside(const tool_look *look, const char *name, int64_t *length)
{
    for (int32_t i = 0; i < look->inside.n; i++)
        if (strcmp(look->inside.list[i].name, name) == 0) {
            *length = look->inside.list[i].length;
            return look->glb + look->inside.list[i].first;
        }
    return NULL;
}

modal_status tool_look_image(const tool_look *look, const char *name, char **path, modal_error *err)
{
    int64_t length;
    int32_t image;
    if (tool_look_image_inside(look, name, &length))
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: is no file but inside of the .glb (modaltex look takes it out)", name);
    const tool_look_pack *pack = tool_look_packed(look, name, 0, -1, &image);
    if (pack)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: is no file but packed in %s; give the look that was packed", name, pack->path);
    const modal_status status = modal_path_find(look->folder, name, look->any_path, path, err);
    if (status == MODAL_ERROR_INPUT) modal_error_context(err, "%s", name);
    return status;
}

modal_status tool_look_image_load(const tool_look *look, const char *name, char **bytes, int64_t *length, modal_error *err)
{
    char *path = NULL;
    int32_t image;
    const tool_look_pack *pack = tool_look_packed(look, name, 0, -1, &image);
    if (pack) return tool_look_packed_png(pack, image, bytes, length, err);
    const void *inside = tool_look_image_inside(look, name, length);
    modal_status status = inside ? modal_alloc(bytes, *length, 1, "an image", err) : tool_look_image(look, name, &path, err);
    if (inside && status == MODAL_OK) memcpy(*bytes, inside, (size_t)*length);
    if (!inside && status == MODAL_OK) status = modal_file_load(path, bytes, length, err);
    modal_free(&path);
    return status;
}
