/* SPDX-License-Identifier: Apache-2.0 */
/* modaltex: looks and textures. The first word is the command; each has its options and its file. */
#include <stdio.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "formats/images/image.h"
#include "tools/modaltex/modaltex.h"

static const modaltex_command commands[] = {
    {"look", &modaltex_look_program, modaltex_look},
    {"pack", &modaltex_pack_program, modaltex_pack},
    {"build", &modaltex_build_program, modaltex_build},
    {"paint", &modaltex_paint_program, modaltex_paint},
    {"sample", &modaltex_sample_program, modaltex_sample},
    {"flow", &modaltex_flow_program, modaltex_flow},
    {"bake", &modaltex_bake_program, modaltex_bake},
};
enum { COMMANDS = sizeof commands / sizeof *commands, MOST_OPTIONS = 100 };

static void print_versions(FILE *to) { fprintf(to, "%s\n%s\n", modal_h5_version(), modal_image_libraries()); }

/* The options of all commands, each once, for the documents of the whole. */
static tool_option every_option[MOST_OPTIONS + 1];

static void gather_options(void)
{
    int n = 0;
    for (int i = 0; i < COMMANDS; i++)
        for (const tool_option *o = commands[i].program->options; o->name && n < MOST_OPTIONS; o++) {
            int k = 0;
            while (k < n && strcmp(every_option[k].name, o->name) != 0) k++;
            if (k == n) every_option[n++] = *o;
        }
}

static const tool_program program = {
    .name = "modaltex",
    .summary = "looks and textures: materials and images of what moves",
    .usage = "look [options] MODEL.obj|MODEL.mtl|MODEL.glb LOOK.json\npack [options] LOOK.json|MODEL.obj|MODEL.mtl|MODEL.glb OUT.h5\n"
             "build [options] BASIS|SURFACE TEX.h5\npaint [options] TEX.h5 LAYERS.json OUT.h5\n"
             "sample [options] TEX.h5 BASIS|SURFACE|POINTS.csv OUT.ply|OUT.csv\nflow [options] TRAJ.h5 TEX.h5 OUT\n"
             "bake [options] TEX.h5 BASIS|SURFACE OUT.png",
    .words = MODALTEX_COMMANDS,
    .options = every_option,
    .least_operands = 1,
    .most_operands = 1,
    .notes = "modaltex COMMAND --help says more of each command.",
    .examples = "modaltex look tree.obj tree.json\nmodaltex pack tree.json tree_textures.h5\nmodaltex build bunny.ply bunny_tex.h5\n"
                "modaltex paint bunny_tex.h5 marble.json bunny_marble.h5\nmodaltex sample bunny_marble.h5 bunny.ply marble.ply\n"
                "modaltex flow swing.h5 wet.h5 out --rain 0.01\nmodaltex bake bunny_marble.h5 bunny.obj baked.png",
    .print_versions = print_versions,
};

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) names[i] = commands[i].name;
    for (int i = 0; i < COMMANDS && argc > 1; i++)
        if (strcmp(argv[1], names[i]) == 0) return commands[i].run(argc, argv);
    gather_options();
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_error err = {0};
    const char *word = t.arguments.operands[0], *nearest = tool_nearest_name(word, strlen(word), names, COMMANDS);
    modal_error_set(&err, MODAL_ERROR_USAGE, "%s: no such command, there are: %s%s%s%s", word, MODALTEX_COMMANDS,
                    nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(word, names[i]) == 0) {
            err = (modal_error){0};
            modal_error_set(&err, MODAL_ERROR_USAGE, "%s is to stand before its options", word);
        }
    return tool_finish(&t, MODAL_ERROR_USAGE, &err, TOOL_EXIT_DONE);
}
