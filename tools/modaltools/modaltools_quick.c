/* SPDX-License-Identifier: Apache-2.0 */
/* modaltools quick: from a surface, a geometry or a mesh to something to look at, by the tools of the family. What it decides
 * is printed as the commands that it runs. */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/basis/basis_h5.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/surface_read.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "lib/mesh/units.h"
#include "tools/common/commit.h"
#include "tools/common/files.h"
#include "tools/common/ignore.h"
#include "tools/common/units.h"
#include "tools/modaltools/modaltools.h"

const tool_option modaltools_options[] = {
    {"material", 0, "NAME", NULL,
     "Of which material it is (modalpack --material list). Default: rubber, or what the mesh says.", TOOL_FIRST},
    {"shake", 0, NULL, NULL, "Its support shakes, four periods of the lowest mode, along the axis that this mode feels most.",
     TOOL_FIRST},
    {"drop", 0, NULL, NULL, "Gravity sets in at once: it sags and swings.", TOOL_FIRST},
    {"modes", 0, NULL, NULL, "Its modes, not a motion. Without these three: plucked in its four lowest modes, and let go.", TOOL_FIRST},
    {"amplitude", 0, "P%", "3%", "The largest displacement, as a share of the box's diagonal.", TOOL_FIRST},
    {"fixed", 0, "WHAT", NULL,
     "What is held, as modalpack has it. May be repeated. Default: with --shake and --drop the lowest twentieth, unless the mesh "
     "says what; otherwise nothing.",
     TOOL_REPEATABLE | TOOL_FIRST},
    {"up", 0, "y|z", "y", "The axis that points upwards.", TOOL_FIRST},
    TOOL_OPTIONS_UNITS("of INPUT."),
    TOOL_OPTION_IGNORE,
    {"look", 0, "FILE", NULL,
     "Materials and images, as modalview and modaldeform take them: INPUT itself, where it is an .obj with a .mtl.",
     TOOL_READS | TOOL_FIRST},
    {"format", 0, "LIST", NULL, "Of a folder OUT: what modaldeform writes. Default: vtkhdf.", TOOL_FIRST},
    {"save-script", 0, "FILE", NULL, "Write a shell script of the commands, to go on from.", TOOL_WRITES | TOOL_FIRST},
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static const tool_program program = {
    .name = "modaltools quick",
    .summary = "runs the whole chain, from a surface, a geometry or a mesh to a page or a sequence",
    .usage = "[options] SURFACE|GEOMETRY|MESH PAGE.html|OUT",
    .options = modaltools_options,
    .least_operands = 2,
    .most_operands = 2,
    .input_traits = TOOL_READS,
    .output = 2,
    .output_traits = TOOL_WRITES,
    .endings = "html htm glb vtkhdf pc2 mdd mp4 gif png exr",
    .notes = "It prints the commands that it runs. A stage that fails ends the run with its exit code.",
    .examples = "modaltools quick bunny.obj bunny.html\n"
                "modaltools quick bracket.step bracket.html --material steel --modes --up z\n"
                "modaltools quick buoy.obj buoy.html --look buoy.obj\n"
                "modaltools quick tower.inp out --unit mm --shake --save-script tower.sh",
};

typedef enum quick_kind { SURFACE, GEOMETRY, MESH } quick_kind;
typedef enum quick_motion { PLUCK, SHAKE, DROP, MODES } quick_motion;

typedef struct quick {
    tool *t;
    const char *input, *output, *material, *amplitude, *format, *look;
    quick_kind kind;
    quick_motion motion;
    tool_units units;
    int up, is_page, force;
    double low[3], high[3]; /* m, of the mesh */
    int has_materials, is_held; /* the mesh says so, also in materials that are not supported */
    modal_basis basis;          /* its modes */
    modaltools_chain chain;
    int failed;
} quick;

static quick_kind find_kind(const char *path)
{
    static const char *const geometries[] = {".step", ".stp", ".brep", ".iges", ".igs", ".geo", ".geo_unrolled"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof geometries / sizeof *geometries; i++)
        if (strcasecmp(dot, geometries[i]) == 0) return GEOMETRY;
    return modal_surface_is_named(path) ? SURFACE : MESH;
}

static modal_status read_request(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &q->t->arguments;
    static const char *const motions[] = {"shake", "drop", "modes"};
    struct stat info;
    unsigned ignored;
    q->input = a->operands[0];
    q->output = a->operands[1];
    q->material = tool_value(a, "material");
    q->amplitude = tool_value(a, "amplitude");
    q->format = tool_value(a, "format");
    q->look = tool_value(a, "look");
    q->force = tool_count(a, "force") > 0;
    for (int i = 0; i < 3; i++) {
        if (tool_count(a, motions[i]) == 0) continue;
        if (q->motion != PLUCK) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shake, --drop, --modes: one of them at most");
        q->motion = (quick_motion)(i + 1);
    }
    const char *up = tool_value(a, "up");
    if (strcmp(up, "y") != 0 && strcmp(up, "z") != 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--up: must be y or z, %s", up);
    q->up = *up - 'x';
    MODAL_TRY(tool_units_read(a, &q->units, err));
    MODAL_TRY(tool_ignore_read(a, &ignored, err));
    if (tool_count(a, "ignore") && q->kind != MESH) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--ignore: is for volume meshes, %s", q->input);
    const char *dot = strrchr(q->output, '.');
    q->is_page = dot && (strcasecmp(dot, ".html") == 0 || strcasecmp(dot, ".htm") == 0);
    if (q->is_page && q->format) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--format: is for a folder, %s", q->output);
    if (q->is_page && q->motion == MODES && tool_count(a, "amplitude"))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--amplitude: a page of modes has sliders, %s", q->output);
    MODAL_TRY(modal_disk_check_regular(q->input, err));
    q->kind = find_kind(q->input);
    if (q->look) MODAL_TRY(modal_disk_check_regular(q->look, err));
    MODAL_TRY(tool_files_write(q->output, TOOL_FILES_INTO, NULL, q, err));
    if (q->is_page && !q->force && stat(q->output, &info) == 0) /* before the work, not after it */
        MODAL_FAIL(err, TOOL_ERROR_EXISTS, "%s: exists (--force replaces it)", q->output);
done:
    return status;
}

#define ADD(...) MODAL_TRY(modaltools_add(&command, err, __VA_ARGS__))

static modal_status add_units(const quick *q, modaltools_command *to, modal_error *err)
{
    static const char *const names[] = {"unit", "scale"};
    modal_status status = MODAL_OK;
    for (int i = 0; i < 2; i++) {
        if (tool_count(&q->t->arguments, names[i]) == 0) continue;
        MODAL_TRY(modaltools_add(to, err, "--%s", names[i]));
        MODAL_TRY(modaltools_add(to, err, "%s", tool_value(&q->t->arguments, names[i])));
    }
done:
    return status;
}

/* Quadratic elements bend as they should, and do not lock where the volume cannot change, as rubber's; of a large surface they
 * are too many. */
static modal_status choose_order(const quick *q, int *order, modal_error *err)
{
    enum { LARGE = 15000 };
    modal_surface_mesh surface = {0};
    int64_t n_collapsed;
    *order = 2;
    if (q->kind != SURFACE) return MODAL_OK;
    modal_status status = modal_surface_read(q->input, &surface, &n_collapsed, err);
    if (surface.n_vertices > LARGE) *order = 1;
    modal_surface_mesh_free(&surface);
    return status;
}

static modal_status make_mesh(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaltools_command command = {0};
    int order = 2;
    if (q->kind == MESH) return MODAL_OK;
    MODAL_TRY(choose_order(q, &order, err));
    ADD("modalmesh");
    ADD("%s", q->input);
    ADD("%s/mesh.msh", q->chain.folder);
    MODAL_TRY(add_units(q, &command, err));
    ADD("--order");
    ADD("%d", order);
    if (q->kind == SURFACE) {
        ADD("--repair");
    } else {
        ADD("--nodes");
        ADD("10000");
    }
    MODAL_TRY(modaltools_chain_run(&q->chain, &command, &q->failed, err));
done:
    modaltools_command_free(&command);
    return status;
}

/* The box, and what the mesh says itself. */
static modal_status look_at_mesh(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh mesh = {0};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", q->kind == MESH ? q->input : q->chain.folder, q->kind == MESH ? "" : "/mesh.msh");
    MODAL_TRY(modal_mesh_read(path, &mesh, err));
    const double factor = q->kind == MESH ? q->units.unit->metres * q->units.scale : 1;
    modal_find_box(mesh.nodes, mesh.n_nodes, q->low, q->high);
    for (int k = 0; k < 3; k++) {
        q->low[k] *= factor;
        q->high[k] *= factor;
    }
    q->has_materials = mesh.n_materials > 0;
    for (int64_t e = 0; e < mesh.n_elements; e++) q->has_materials &= mesh.element_material[e] >= 0;
    q->has_materials |= mesh.not_taken[MODAL_UNSUPPORTED_MATERIAL].n > 0;
    q->is_held = mesh.n_conditions > 0 || mesh.not_taken[MODAL_UNSUPPORTED_BOUNDARY].n > 0;
done:
    modal_volume_mesh_free(&mesh);
    return status;
}

static modal_status pack(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaltools_command command = {0};
    const int n_fixed = tool_count(&q->t->arguments, "fixed");
    ADD("modalpack");
    if (q->kind == MESH) ADD("%s", q->input);
    else ADD("%s/mesh.msh", q->chain.folder);
    ADD("%s/basis.h5", q->chain.folder);
    if (q->material || !q->has_materials) {
        ADD("--material");
        ADD("%s", q->material ? q->material : "rubber");
    }
    if (q->kind == MESH) MODAL_TRY(add_units(q, &command, err));
    if (q->kind == MESH && tool_count(&q->t->arguments, "ignore")) {
        ADD("--ignore");
        ADD("%s", tool_value(&q->t->arguments, "ignore"));
    }
    for (int i = 0; i < n_fixed; i++) {
        ADD("--fixed");
        ADD("%s", tool_value_at(&q->t->arguments, "fixed", i));
    }
    if (n_fixed == 0 && !q->is_held && (q->motion == SHAKE || q->motion == DROP)) {
        double at[3] = {0, 0, 0};
        at[q->up] = q->low[q->up] + 0.05 * (q->high[q->up] - q->low[q->up]);
        ADD("--fixed");
        ADD("plane:%.9g,%.9g,%.9g:%s", at[0], at[1], at[2], q->up == 1 ? "0,-1,0" : "0,0,-1");
    }
    /* Its own vertices, order and texture coordinates; the mesh has the scale already, and takes no other. */
    if (q->kind == SURFACE && q->units.scale == 1) {
        ADD("--surface");
        ADD("%s", q->input);
        ADD("--surface-unit");
        ADD("%s", q->units.unit->name);
    }
    MODAL_TRY(modaltools_chain_run(&q->chain, &command, &q->failed, err));
done:
    modaltools_command_free(&command);
    return status;
}

/* Four periods of the mode's frequency, then rest. */
static modal_status write_shaking(quick *q, double period, int axis, modal_error *err)
{
    enum { PERIODS = 4, POINTS = 40, LINE = 96 };
    char *text = NULL, *to;
    modal_status status = modal_alloc(&text, (PERIODS * POINTS + 2) * LINE, 1, "shaking", err);
    if (status != MODAL_OK) return status;
    to = text;
    for (int i = 0; i <= PERIODS * POINTS; i++) {
        double a[3] = {0, 0, 0};
        a[axis] = i % (PERIODS * POINTS) == 0 ? 0 : sin(2 * M_PI * i / POINTS);
        to += snprintf(to, LINE, "%.9g,%.6g,%.6g,%.6g\n", period * i / POINTS, a[0], a[1], a[2]);
    }
    status = modaltools_chain_write(&q->chain, "shaking.csv", text, err);
    modal_free(&text);
    return status;
}

static modal_status move(quick *q, modal_error *err)
{
    enum { PLUCKED = 4, PERIODS = 12, FRAMES = 24 };
    modal_status status = MODAL_OK;
    modaltools_command command = {0};
    char path[PATH_MAX];
    if (q->motion == MODES) return MODAL_OK;
    snprintf(path, sizeof path, "%s/basis.h5", q->chain.folder);
    MODAL_TRY(modal_basis_read(path, MODAL_BASIS_MODES, &q->basis, err));
    const modal_shape *s = &q->basis.shapes[0];
    if (s->modes.n_modes == 0 || !(s->modes.frequencies[0] > 0))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has no mode that could be moved", q->input);
    const double period = 1 / s->modes.frequencies[0];
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (fabs(s->modes.participation[k]) > fabs(s->modes.participation[axis])) axis = k;
    if (q->motion == SHAKE) MODAL_TRY(write_shaking(q, period, axis, err));
    ADD("modalsim");
    ADD("%s/basis.h5", q->chain.folder);
    ADD("%s/traj.h5", q->chain.folder);
    ADD("--duration");
    ADD("%.6g", PERIODS * period);
    ADD("--fps");
    ADD("%.6g", FRAMES / period);
    ADD("--damping-ratio");
    ADD("0.02");
    ADD("--amplitude");
    ADD("%s", q->amplitude);
    for (int k = 0; q->motion == PLUCK && k < PLUCKED && k < s->modes.n_modes; k++) {
        ADD("--initial"); /* softer modes more: as much energy in each */
        ADD("%d=%.6g", k, s->modes.frequencies[0] / s->modes.frequencies[k]);
    }
    if (q->motion == SHAKE) {
        ADD("--base-acceleration");
        ADD("%s/shaking.csv", q->chain.folder);
    }
    if (q->motion == DROP) {
        ADD("--gravity");
        ADD("%s", q->up == 1 ? "0,-9.81,0" : "0,0,-9.81");
    }
    MODAL_TRY(modaltools_chain_run(&q->chain, &command, &q->failed, err));
done:
    modaltools_command_free(&command);
    return status;
}

static modal_status show(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaltools_command command = {0};
    ADD("%s", q->is_page ? "modalview" : "modaldeform");
    ADD("%s/%s", q->chain.folder, q->motion == MODES ? "basis.h5" : "traj.h5");
    ADD("%s", q->output);
    if (q->is_page) {
        char *copy = NULL;
        MODAL_TRY(modal_alloc(&copy, (int64_t)strlen(q->input) + 1, 1, "title", err));
        strcpy(copy, q->input);
        status = modaltools_add(&command, err, "--title");
        if (status == MODAL_OK) status = modaltools_add(&command, err, "%s", basename(copy));
        modal_free(&copy);
        MODAL_TRY(status);
        ADD("--up");
        ADD("%c", 'x' + q->up);
        if (q->motion != MODES) {
            ADD("--slow-motion");
            ADD("auto");
        }
    } else {
        ADD("--%s", q->format ? "format" : "fields"); /* most formats hold positions alone */
        ADD("%s", q->format ? q->format : "displacement");
        if (q->motion != MODES && q->format && (strstr(q->format, "glb") || strstr(q->format, "mdd"))) { /* they say when */
            ADD("--slow-motion");
            ADD("auto");
        }
        if (q->motion == MODES) {
            ADD("--amplitude");
            ADD("%s", q->amplitude);
        }
    }
    if (q->look) {
        ADD("--look");
        ADD("%s", q->look);
    }
    if (q->look && !q->is_page) {
        ADD("--normals"); /* else viewers show facets */
        ADD("dynamic");
    }
    if (q->force) ADD("--force");
    MODAL_TRY(modaltools_chain_run(&q->chain, &command, &q->failed, err));
done:
    modaltools_command_free(&command);
    return status;
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
    stage *const stages[] = {make_mesh, look_at_mesh, pack, move, show};
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
    if (script_path && !q.failed) MODAL_TRY(save_script(&q, &script, &err));
done:
    tool_output_discard(&script);
    modaltools_chain_end(&q.chain);
    modal_basis_free(&q.basis);
    return tool_finish(&t, status, &err, q.failed ? q.chain.exit_code : TOOL_EXIT_DONE);
}
