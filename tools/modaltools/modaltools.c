/* SPDX-License-Identifier: Apache-2.0 */
/* modaltools: one name for the family. `modaltools pack ...` becomes modalpack; `modaltools quick` runs the whole chain. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/memory.h"
#include "tools/modaltools/modaltools.h"

static const struct {
    const char *name, *tool, *does;
} family[] = {
    {"quick", NULL, "the whole chain, from a surface, CAD or mesh: modaltools quick bunny.obj bunny.html"},
    {"mesh", "modalmesh", "makes a volume mesh of a surface or CAD, checks, repairs, converts"},
    {"pack", "modalpack", "finite elements of a mesh: its modes, bases, reduced forces"},
    {"place", "modalplace", "places shapes as the objects of a scene"},
    {"sim", "modalsim", "moves the reduced coordinates: vibrations, scenes, responses"},
    {"tled", "modaltled", "moves a whole soft solid, strongly deformed: snapshots of all nodes"},
    {"deform", "modaldeform", "world positions of every frame, for ParaView, Blender and others"},
    {"curv", "modalcurv", "curvature of a surface or of every frame of a sequence"},
    {"render", "modalrender", "pictures of every frame, without a display"},
    {"view", "modalview", "one page that plays a motion or shows modes"},
    {"tex", "modaltex", "looks and textures: materials and images of what moves"},
    {"info", "modalinfo", "says what a file holds, checks it, compares two"},
    {"bench", "modalbench", "measures this machine"},
};
enum { FAMILY = sizeof family / sizeof *family };

static int print_family(void)
{
    for (int i = 0; i < FAMILY; i++) printf("modaltools %-8s%s\n", family[i].name, family[i].does);
    return fflush(stdout) == 0 && !ferror(stdout) ? TOOL_EXIT_DONE : TOOL_EXIT_SYSTEM;
}

static const tool_program program = {
    .name = "modaltools",
    .summary = "the tools of the family by one name, and the whole chain in one command",
    .usage = "TOOL ...      (quick, mesh, pack, place, sim, tled, deform, curv, render, view, tex, info, bench)\n"
             "quick [options] SURFACE|GEOMETRY|MESH PAGE.html|FILM.mp4|FILE.glb|OUT",
    .words = "quick mesh pack place sim tled deform curv render view tex info bench",
    .options = modaltools_options,
    .least_operands = 1,
    .most_operands = 1,
    .notes = "modaltools pack ... is modalpack ..., and so on; without arguments it lists the family. The options\n"
             "are those of modaltools quick, which prints with -v the commands that it runs. A stage that fails ends the\n"
             "run with its exit code.",
    .examples = "modaltools quick bunny.obj bunny.html\n"
                "modaltools quick bracket.step bracket.html --material steel --modes --up z\n"
                "modaltools pack fork.msh fork.h5 --material steel --fixed stem_end",
};

/* The tool that a word means, by its short or its whole name; -1: none. */
static int find_tool(const char *word)
{
    for (int i = 0; i < FAMILY; i++)
        if (strcmp(word, family[i].name) == 0 || (family[i].tool && strcmp(word, family[i].tool) == 0)) return i;
    return -1;
}

static int refuse(const char *word)
{
    const char *names[FAMILY];
    for (int i = 0; i < FAMILY; i++) names[i] = family[i].name;
    const char *nearest = tool_nearest_name(word, strlen(word), names, FAMILY);
    fputs("modaltools: ", stderr);
    tool_put_text(stderr, word);
    if (nearest) fprintf(stderr, ": no such tool, did you mean %s?\n", nearest);
    else fputs(": no such tool (modaltools alone lists them)\n", stderr);
    return TOOL_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (argc < 2) return print_family();
    if (argv[1][0] == '-') { /* the documents, or a wrong option */
        if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
        modal_error err = {0};
        modal_error_set(&err, MODAL_ERROR_USAGE, "quick is to stand before its options");
        return tool_finish(&t, MODAL_ERROR_USAGE, &err, TOOL_EXIT_DONE);
    }
    const int found = find_tool(argv[1]);
    if (found < 0) return refuse(argv[1]);
    if (!family[found].tool) return modaltools_quick(argc - 1, argv + 1);
    modal_error err = {0};
    char *path = NULL;
    if (modaltools_path(family[found].tool, &path, &err) == MODAL_OK) {
        argv[1] = (char *)family[found].tool;
        execv(path, argv + 1);
        modal_error_set(&err, MODAL_ERROR_SYSTEM, "%s: cannot run, %s", path, strerror(errno));
    }
    fprintf(stderr, "modaltools: %s\n", err.message);
    modal_free(&path);
    return TOOL_EXIT_SYSTEM;
}
