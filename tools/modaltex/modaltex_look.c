/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex look: the materials of a model as a look. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/look_write.h"
#include "lib/base/memory.h"
#include "tools/common/commit.h"
#include "tools/common/look.h"
#include "tools/modaltex/modaltex.h"

static const tool_option options[] = {
    {"ranges", 0, NULL, NULL,
     "Also say by the numbers of triangles which material each has, for a basis that does not keep the names (one made before "
     "modalpack did). Of an .obj.",
     0},
    TOOL_OPTION_ANY_PATH,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

const tool_program modaltex_look_program = {
    .name = "modaltex",
    .summary = "look: the materials of a model as a look, to be changed by hand",
    .usage = "look [options] MODEL.obj|MODEL.mtl|MODEL.glb LOOK.json",
    .words = MODALTEX_COMMANDS,
    .options = options,
    .least_operands = 3,
    .most_operands = 3,
    .input_traits = TOOL_READS,
    .output = 3,
    .output_traits = TOOL_WRITES,
    .endings = "json",
    .notes = "Names of images are seen from the folder of LOOK, which must be that of the .mtl or one above it.",
    .examples = "modaltex look tree.obj tree.json",
};

/* Runs of triangles of one material, of shape 0. */
static modal_status add_runs(const modal_surface_mesh *surface, modal_look *look, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t capacity = 0;
    MODAL_TRY(modal_alloc_zero(&look->shapes, 1, sizeof *look->shapes, "shapes", err));
    look->n_shapes = 1;
    modal_look_shape *s = &look->shapes[0];
    s->material = -1;
    for (int64_t t = 0, end; t < surface->n_triangles; t = end) {
        const int32_t name = surface->triangle_material ? surface->triangle_material[t] : -1;
        for (end = t + 1; end < surface->n_triangles && surface->triangle_material && surface->triangle_material[end] == name;) end++;
        if (!surface->triangle_material) end = surface->n_triangles;
        if (name < 0) continue;
        MODAL_TRY(modal_grow(&s->runs, &capacity, s->n_runs + 1, sizeof *s->runs, "runs", err));
        const char *text = surface->material_names[name];
        s->runs[s->n_runs++] = (modal_look_run){t, end - t, modal_look_find(look, text, (int64_t)strlen(text))};
    }
done:
    return status;
}

static modal_status write_text(const tool_output *output, const char *text, modal_error *err)
{
    FILE *file = fopen(output->temporary, "w");
    int failed = !file || fprintf(file, "%s\n", text) < 0;
    if (file) failed |= fclose(file) != 0;
    return failed ? modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: write error", output->path) : MODAL_OK;
}

/* The folder that a file lies or will lie in; the caller frees it. */
static modal_status folder_of(const char *path, char **folder, modal_error *err)
{
    const char *slash = strrchr(path, '/');
    return modal_copy_text(folder, slash ? path : ".", slash == path ? 1 : slash ? (size_t)(slash - path) : 1, err);
}

/* Images inside of a .glb become files beside the look. [n] outputs. */
static modal_status write_images(const tool_look *look, const char *folder, int force, tool_output *outputs, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *path = NULL;
    for (int32_t i = 0; i < look->inside.n; i++) {
        const modal_gltf_image *image = &look->inside.list[i];
        MODAL_TRY(modal_alloc(&path, (int64_t)(strlen(folder) + strlen(image->name) + 2), 1, "names", err));
        sprintf(path, "%s/%s", folder, image->name);
        MODAL_TRY(tool_output_begin(&outputs[i], path, force, err));
        FILE *file = fopen(outputs[i].temporary, "wb");
        int failed = !file || fwrite(look->glb + image->first, 1, (size_t)image->length, file) != (size_t)image->length;
        if (file) failed |= fclose(file) != 0;
        if (failed) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: write error", path);
        modal_free(&path);
    }
done:
    modal_free(&path);
    return status;
}

int modaltex_look(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &modaltex_look_program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    tool_look look = {0};
    modal_surface_mesh surface = {0};
    tool_output output = {0};
    char *text = NULL, *folder = NULL;
    const char *model = t.arguments.operands[1], *to = t.arguments.operands[2];
    const int runs = tool_count(&t.arguments, "ranges"), force = tool_count(&t.arguments, "force") > 0;
    tool_output *images = NULL; /* [look.inside.n] */

    MODAL_TRY(tool_output_begin(&output, to, force, &err));
    MODAL_TRY(folder_of(to, &folder, &err));
    MODAL_TRY(tool_look_read(model, folder, tool_count(&t.arguments, "any-path"), &look, &surface, &err));
    if (look.n_packs > 0 && !look.packs[0].name)
        MODAL_FAIL(&err, MODAL_ERROR_USAGE, "%s: its images are packed; a look names one of them by FILE.h5/IMAGE (formats/look.md)", model);
    if (runs && surface.n_triangles == 0) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--ranges: needs an .obj, %s", model);
    if (runs) MODAL_TRY(add_runs(&surface, &look.look, &err));
    text = modal_look_text(&look.look);
    if (!text) MODAL_FAIL(&err, MODAL_ERROR_MEMORY, "%s: out of memory", to);
    MODAL_TRY(write_text(&output, text, &err));
    MODAL_TRY(modal_alloc_zero(&images, look.inside.n, sizeof *images, "images", &err));
    MODAL_TRY(write_images(&look, folder, force, images, &err));
    for (int32_t i = 0; i < look.inside.n; i++) MODAL_TRY(tool_output_commit(&images[i], &err));
    MODAL_TRY(tool_output_complete(&output, &err)); /* the last one, which names the others */
    tool_note(&t, "%d material%s", look.look.n_materials, look.look.n_materials == 1 ? "" : "s");
    if (look.inside.n > 0) tool_note(&t, "%d image%s beside %s", look.inside.n, look.inside.n == 1 ? "" : "s", to);
done:
    for (int32_t i = 0; images && i < look.inside.n; i++) tool_output_discard(&images[i]);
    modal_free(&images);
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    tool_look_free(&look);
    modal_surface_mesh_free(&surface);
    free(text);
    modal_free(&folder);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
