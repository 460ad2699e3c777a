/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex pack: the images of a look as arrays with mip levels. */
#include <string.h>

#include "tools/common/commit.h"
#include "tools/common/textures.h"
#include "tools/modaltex/modaltex.h"

static const tool_option options[] = {
    {"layout", 0, "classes|thesis", "classes",
     "An array for each size of images, or the thesis's: one array of the largest size that smaller images fill by repeats.", 0},
    TOOL_OPTION_ANY_PATH,
    TOOL_OPTION_THREADS,
    TOOL_OPTION_MEMORY_LIMIT,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

const tool_program modaltex_pack_program = {
    .name = "modaltex",
    .summary = "pack: the images of a look as arrays with mip levels, and its materials as a table",
    .usage = "pack [options] LOOK.json|MODEL.obj|MODEL.mtl|MODEL.glb OUT.h5",
    .words = MODALTEX_COMMANDS,
    .options = options,
    .least_operands = 3,
    .most_operands = 3,
    .input_traits = TOOL_READS,
    .output = 3,
    .output_traits = TOOL_WRITES,
    .endings = "h5",
    .notes = "formats/textures.md says what is in OUT. Equal images and looks give equal bytes for every number of threads.",
    .examples = "modaltex pack tree.json tree_textures.h5",
};

int modaltex_pack(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &modaltex_pack_program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    tool_look look = {0};
    tool_output output = {0};
    modal_textures textures = {0};
    int threads = 1;
    int64_t memory_limit = 0;
    double start = tool_seconds();
    const char *layout = tool_value(&t.arguments, "layout");
    const int thesis = strcmp(layout, "thesis") == 0;

    if (!thesis && strcmp(layout, "classes") != 0)
        MODAL_FAIL(&err, MODAL_ERROR_USAGE, "--layout: must be classes or thesis, %s", layout);
    MODAL_TRY(tool_size(&t.arguments, "memory-limit", &memory_limit, &err));
    MODAL_TRY(tool_threads(&t, &threads, &err));
    MODAL_TRY(tool_output_begin(&output, t.arguments.operands[2], tool_count(&t.arguments, "force") > 0, &err));
    MODAL_TRY(tool_look_read(t.arguments.operands[1], NULL, tool_count(&t.arguments, "any-path"), &look, NULL, &err));
    for (int32_t i = 0; i < look.look.n_materials; i++)
        for (int role = 0; role < 2; role++) {
            const modal_look_material *m = &look.look.materials[i];
            if (modal_look_solid(m, role) && !modal_look_image(m, role))
                MODAL_FAIL(&err, MODAL_ERROR_INPUT, "%s: material %s has an octree texture, which is no image to be packed; modaltex bake makes one",
                           t.arguments.operands[1], m->name);
        }
    MODAL_TRY(tool_textures_make(&look, thesis, output.temporary, threads, memory_limit, &t.progress, &textures, &err));
    const int64_t bytes = modal_textures_bytes(&textures);
    tool_stage(&t, "images", tool_seconds() - start, bytes);
    start = tool_seconds();
    MODAL_TRY(tool_output_complete(&output, &err));
    tool_stage(&t, "sync", tool_seconds() - start, -1);
    tool_note(&t, "%d material%s, %d image%s of %d size%s, %.1f MB", textures.n_materials, textures.n_materials == 1 ? "" : "s", textures.n_images,
              textures.n_images == 1 ? "" : "s", textures.n_classes, textures.n_classes == 1 ? "" : "s", (double)bytes / 1e6);
    json_object_set_new(t.report, "images", json_integer(textures.n_images));
    json_object_set_new(t.report, "classes", json_integer(textures.n_classes));
    json_object_set_new(t.report, "texel_bytes", json_integer(bytes));
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modal_textures_free(&textures);
    tool_look_free(&look);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
