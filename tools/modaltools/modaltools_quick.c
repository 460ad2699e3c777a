/* SPDX-License-Identifier: Apache-2.0 */
/* modaltools quick: from a surface, a geometry or a mesh to something to look at, by the tools of the family. What it decides
 * is printed as the commands that it runs. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/meshes/surface_read.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "tools/common/commit.h"
#include "tools/common/endings.h"
#include "tools/common/ffmpeg.h"
#include "tools/common/files.h"
#include "tools/common/ignore.h"
#include "tools/modaltools/modaltools_quick.h"

const tool_option modaltools_options[] = {
    {"material", 0, "NAME", NULL,
     "Of which material it is (modalpack --material list). Default: what the mesh says, else as modalpack.", TOOL_FIRST},
    {"shake", 0, NULL, NULL, "Its support shakes, four periods of the lowest mode, along the axis that this mode feels most.",
     TOOL_FIRST},
    {"drop", 0, NULL, NULL, "Gravity sets in at once: it sags and swings.", TOOL_FIRST},
    {"modes", 0, NULL, NULL, "Its modes, not a motion. Without these: plucked in its four lowest modes, and let go.", TOOL_FIRST},
    {"hit", 0, "X,Y,Z", NULL, "It is hit, into the body, at the point of its surface that is nearest to this one, m.", TOOL_FIRST},
    {"amplitude", 0, "P%", "3%", "The largest displacement, as a share of the box's diagonal.", TOOL_FIRST},
    {"fixed", 0, "WHAT", NULL,
     "What is held, as modalpack has it. May be repeated. Default: with --shake and --drop the lowest twentieth, unless the mesh "
     "says what; otherwise nothing.",
     TOOL_REPEATABLE | TOOL_FIRST},
    {"wrap", 0, NULL, NULL,
     "Of a surface that is open or crosses itself: take a closed one around it, within 3 % of the box's diagonal (modalmesh --wrap).", TOOL_FIRST},
    {"turntable", 0, NULL, NULL, "The camera of a page or a film turns around the body.", TOOL_FIRST},
    {"variations", 0, "N", NULL,
     "Make N of them, OUT_000 and so on (or page_000.html): each is hit at another point of its surface, unless --hit, --shake or --drop says how "
     "it moves, with half to twice the amplitude and the damping.", TOOL_FIRST},
    {"seed", 0, "S", "0", "Of --variations: what they are drawn from, a whole number.", 0},
    {"up", 0, "y|z", "y", "The axis that points upwards.", TOOL_FIRST},
    TOOL_OPTIONS_UNITS("of INPUT."),
    TOOL_OPTION_IGNORE,
    {"look", 0, "FILE", NULL,
     "Materials and images, as modalview and modaldeform take them: INPUT itself, where it is an .obj with a .mtl.",
     TOOL_READS | TOOL_FIRST},
    {"format", 0, "LIST", NULL, "Of a folder OUT, what modaldeform writes: vtkhdf, glb, pc2, mdd, ply, vtp, obj. Default: vtkhdf.", TOOL_FIRST},
    {"save-script", 0, "FILE", NULL, "Write a shell script of the commands, to go on from.", TOOL_WRITES | TOOL_FIRST},
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static const tool_program program = {
    .name = "modaltools quick",
    .summary = "runs the whole chain, from a surface, a geometry or a mesh to a page or a sequence",
    .usage = "[options] SURFACE|GEOMETRY|MESH PAGE.html|FILM.mp4|FILE.glb|OUT",
    .options = modaltools_options,
    .least_operands = 2,
    .most_operands = 2,
    .input_traits = TOOL_READS,
    .output = 2,
    .output_traits = TOOL_WRITES,
    .endings = "html htm glb vtkhdf pc2 mdd mp4 gif png exr",
    .notes = "OUT's ending says what it is: .html a page, .mp4 or .gif a film, .png or .exr a picture, .glb .vtkhdf .pc2\n"
             ".mdd one file of all frames, anything else a folder. -v prints the commands that it runs. A stage that\n"
             "fails ends the run with its exit code.",
    .examples = "modaltools quick bunny.obj bunny.html\n"
                "modaltools quick bracket.step bracket.html --material steel --modes --up z\n"
                "modaltools quick buoy.obj buoy.html --look buoy.obj\n"
                "modaltools quick bunny.obj bunny.mp4 --unit cm --hit 0,0.1,0 --turntable\n"
                "modaltools quick bunny.obj set.glb --unit cm --variations 20 --seed 7\n"
                "modaltools quick tower.inp out --unit mm --shake --save-script tower.sh",
};

static quick_kind find_kind(const char *path)
{
    static const char *const geometries[] = {".step", ".stp", ".brep", ".iges", ".igs", ".geo", ".geo_unrolled"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof geometries / sizeof *geometries; i++)
        if (strcasecmp(dot, geometries[i]) == 0) return GEOMETRY;
    return modal_surface_is_named(path) ? SURFACE : MESH;
}

static modal_status read_motion(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &q->t->arguments;
    static const char *const motions[] = {"shake", "drop", "modes", "hit"};
    for (int i = 0; i < 4; i++) {
        if (tool_count(a, motions[i]) == 0) continue;
        if (q->motion != PLUCK) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shake, --drop, --modes, --hit: one of them at most");
        q->motion = (quick_motion)(i + 1);
    }
    if (q->motion == HIT) MODAL_TRY(tool_parse_numbers(tool_value(a, "hit"), 3, q->hit, "--hit", err));
    MODAL_TRY(tool_percent(a, "amplitude", &q->share, err));
    MODAL_TRY(tool_integer(a, "variations", 1, 1000, &q->variations, err));
    MODAL_TRY(tool_integer(a, "seed", 0, INT64_MAX, &q->seed, err));
    if (q->variations && q->motion == MODES) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--variations: nothing varies with --modes");
    if (tool_count(a, "seed") && !q->variations) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--seed: only with --variations");
done:
    return status;
}

/* What a folder may hold, without what quick does not know: points and places to hear, volumes. */
static modal_status check_formats(const quick *q, modal_error *err)
{
    static const char *const known[] = {"vtkhdf", "glb", "pc2", "mdd", "ply", "vtp", "obj"}, *const looked[] = {"vtkhdf", "glb", "obj"};
    unsigned given = 0;
    int shown = 0;
    if (q->format && q->result != FOLDER) return modal_error_set(err, MODAL_ERROR_USAGE, "--format: is for a folder, %s", q->output);
    for (const char *c = q->format; c;) {
        const size_t length = strcspn(c, ",");
        size_t i = 0;
        while (i < sizeof known / sizeof *known && (strlen(known[i]) != length || strncmp(known[i], c, length) != 0)) i++;
        if (i == sizeof known / sizeof *known)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--format: none of vtkhdf, glb, pc2, mdd, ply, vtp, obj, %.*s", (int)length, c);
        if (given >> i & 1) return modal_error_set(err, MODAL_ERROR_USAGE, "--format: twice, %s", known[i]);
        given |= 1u << i;
        for (size_t k = 0; k < sizeof looked / sizeof *looked; k++) shown |= strcmp(known[i], looked[k]) == 0;
        c = c[length] ? c + length + 1 : NULL;
    }
    if (q->look && ((q->format && !shown) || (q->result == FILE_OF_FRAMES && tool_ending_find(q->output, looked, 2) < 0)))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--look: only a page, a film, glb, obj and vtkhdf have room for it, %s",
                               q->format ? q->format : q->output);
    return MODAL_OK;
}

/* What OUT is, and that the tool which makes it is there. */
static modal_status find_result(quick *q, modal_error *err)
{
    static const char *const endings[] = {"html", "htm", "mp4", "gif", "png", "exr", "glb", "vtkhdf", "pc2", "mdd"};
    static const quick_result results[] = {PAGE, PAGE, FILM, FILM, PICTURE, PICTURE, FILE_OF_FRAMES, FILE_OF_FRAMES, FILE_OF_FRAMES, FILE_OF_FRAMES};
    modal_status status = MODAL_OK;
    char *path = NULL;
    const int found = tool_ending_find(q->output, endings, sizeof endings / sizeof *endings);
    q->result = found < 0 ? FOLDER : results[found];
    MODAL_TRY(check_formats(q, err));
    if (q->turntable && q->result != PAGE && q->result != FILM) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--turntable: of a page or a film, %s", q->output);
    if (q->result == PAGE && q->motion == MODES && tool_count(&q->t->arguments, "amplitude"))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--amplitude: a page of modes has sliders, %s", q->output);
    if (q->result == FILM) MODAL_TRY(tool_find_ffmpeg(&path, err));
    modal_free(&path);
    MODAL_TRY(modaltools_path(quick_shower(q), &path, err));
    if (access(path, X_OK) != 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: not there (npm was missing when it was built); OUT can be a film or a folder", path);
done:
    modal_free(&path);
    return status;
}

/* Each output, which is looked for before the work, not after it. */
static modal_status check_outputs(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[PATH_MAX + 16], folder[PATH_MAX];
    struct stat info;
    if (strlen(q->output) + 32 >= PATH_MAX) MODAL_FAIL(err, MODAL_ERROR_USAGE, "OUT: too long a name, %s", q->output);
    for (int64_t i = q->variations ? 0 : -1; i < q->variations; i++) {
        quick_output(q, i, folder);
        MODAL_TRY(tool_files_write(folder, TOOL_FILES_INTO, NULL, q, err));
        snprintf(path, sizeof path, q->result == FOLDER ? "%s/manifest.json" : "%s", folder);
        if (!q->force && stat(path, &info) == 0) MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: exists (--force replaces it)", path);
    }
done:
    return status;
}

static modal_status read_request(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &q->t->arguments;
    unsigned ignored;
    q->input = a->operands[0];
    q->output = a->operands[1];
    q->material = tool_value(a, "material");
    q->amplitude = tool_value(a, "amplitude");
    q->format = tool_value(a, "format");
    q->look = tool_value(a, "look");
    q->force = tool_count(a, "force") > 0;
    q->wrap = tool_count(a, "wrap");
    q->turntable = tool_count(a, "turntable");
    MODAL_TRY(read_motion(q, err));
    const char *up = tool_value(a, "up");
    if (strcmp(up, "y") != 0 && strcmp(up, "z") != 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--up: must be y or z, %s", up);
    q->up = *up - 'x';
    MODAL_TRY(tool_units_read(a, &q->units, err));
    MODAL_TRY(tool_ignore_read(a, &ignored, err));
    MODAL_TRY(find_result(q, err));
    MODAL_TRY(modal_disk_check_regular(q->input, err));
    q->kind = find_kind(q->input);
    if (tool_count(a, "ignore") && q->kind != MESH) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--ignore: is for volume meshes, %s", q->input);
    if (q->wrap && q->kind != SURFACE) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--wrap: is for surfaces, %s", q->input);
    if (q->wrap && q->look) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--wrap: has no texture coordinates, which --look needs, %s", q->look);
    if (q->look) MODAL_TRY(modal_disk_check_regular(q->look, err));
    MODAL_TRY(check_outputs(q, err));
done:
    return status;
}

/* The last line of the three. */
static void say_end(const quick *q)
{
    char first[PATH_MAX], more[32] = "", warnings[64] = "";
    quick_output(q, q->variations ? 0 : -1, first);
    if (q->variations) snprintf(more, sizeof more, " to _%03lld", (long long)q->variations - 1);
    if (q->chain.n_warnings) snprintf(warnings, sizeof warnings, ", %d warning%s (-v prints them)", q->chain.n_warnings, q->chain.n_warnings == 1 ? "" : "s");
    tool_note(q->t, "%s%s: made in %.1f s%s", first, more, tool_seconds() - q->t->started, warnings);
}

/* How a script begins. With --force it replaces an older one, or an empty file, but nothing else: what the stages will read is not known yet. */
static modal_status begin_script(const quick *q, const char *path, tool_output *output, modal_error *err)
{
    char found[sizeof MODALTOOLS_SCRIPT_HEAD] = "";
    modal_status status = tool_output_begin(output, path, q->force, err);
    const int file = status == MODAL_OK ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return status;
    const int64_t got = modal_disk_read(file, 0, found, sizeof found - 1);
    close(file);
    if (got == 0 || strcmp(found, MODALTOOLS_SCRIPT_HEAD) == 0) return MODAL_OK;
    return modal_error_set(err, TOOL_ERROR_EXISTS, "--save-script: exists, and is not a script of modaltools quick, %s", path);
}

static modal_status save_script(const quick *q, tool_output *output, modal_error *err)
{
    struct stat info;
    modal_status status = MODAL_OK;
    FILE *file = fopen(output->temporary, "w");
    if (!file) return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot write", output->path);
    int failed = fputs(q->chain.script, file) < 0;
    /* executable by all who may read it, as umask leaves it */
    failed |= fstat(fileno(file), &info) != 0 || fchmod(fileno(file), info.st_mode | (info.st_mode & 0444) >> 2) != 0;
    failed |= fclose(file) != 0;
    if (failed) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: write error", output->path);
    MODAL_TRY(tool_output_complete(output, err));
done:
    return status;
}

int modaltools_quick(int argc, char **argv)
{
    typedef modal_status stage(quick *q, modal_error *err);
    stage *const stages[] = {quick_make_mesh, quick_look_at_mesh, quick_pack};
    tool t;
    int exit_code;
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    quick q = {.t = &t};
    tool_output script = {.option = "--save-script"};
    const char *script_path = tool_value(&t.arguments, "save-script");
    tool_signals_hold();
    MODAL_TRY(read_request(&q, &err));
    if (script_path) MODAL_TRY(begin_script(&q, script_path, &script, &err));
    MODAL_TRY(modaltools_chain_begin(&q.chain, &t, &err));
    for (size_t i = 0; i < sizeof stages / sizeof *stages && !q.failed; i++) MODAL_TRY(stages[i](&q, &err));
    for (int64_t i = q.variations ? 0 : -1; i < q.variations && !q.failed; i++) {
        quick_variation v;
        MODAL_TRY(quick_vary(&q, i, &v, &err));
        MODAL_TRY(quick_move(&q, &v, &err));
        if (!q.failed) MODAL_TRY(quick_show(&q, &v, &err));
    }
    if (!q.failed) say_end(&q);
    if (script_path && !q.failed) MODAL_TRY(save_script(&q, &script, &err));
done:
    tool_output_discard(&script);
    modaltools_chain_end(&q.chain);
    modal_basis_free(&q.basis);
    return tool_finish(&t, status, &err, q.failed ? q.chain.exit_code : TOOL_EXIT_DONE);
}
