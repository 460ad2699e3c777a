/* SPDX-License-Identifier: Apache-2.0 */
/* modalmesh: from a surface, a geometry or a volume mesh to a volume mesh that modalpack reads. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/meshes/cad_unit.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/msh_write.h"
#include "formats/meshes/surface_read.h"
#include "formats/meshes/text_reader.h"
#include "lib/base/disk.h"
#include "lib/base/memory.h"
#include "lib/base/memory_file.h"
#include "lib/mesh/check.h"
#include "lib/mesh/raise_order.h"
#include "lib/mesh/shells.h"
#include "tools/common/commit.h"
#include "tools/common/files.h"
#include "tools/common/ignore.h"
#include "tools/common/output.h"
#include "tools/common/pipes.h"
#include "tools/common/tool.h"
#include "tools/common/units.h"
#include "tools/modalmesh/modalmesh.h"
#include "tools/modalmesh/modalmesh_report.h"

static const tool_option options[] = {
    {"engine", 0, "gmsh|tetgen", NULL,
     "What meshes: gmsh or tetgen. Default: tetgen for surfaces where it is there, gmsh otherwise.", 0},
    {"size", 0, "H", NULL, "Length of the edges that is wanted, in m, whatever the file's unit.", TOOL_FIRST},
    {"nodes", 0, "N", NULL, "Not more nodes than this, and 90 % of it where eight tries find a size for that.",
     TOOL_FIRST},
    {"order", 0, "1|2", NULL,
     "Linear or quadratic elements, 1 by default. Of a volume mesh that is linear tetrahedra, 2 adds the middles of the "
     "edges.",
     TOOL_FIRST},
    TOOL_OPTIONS_UNITS("which are all but .step and .iges; OUT.msh is in metres."),
    {"patches", 0, "DEGREES", NULL,
     "Make a group patch_I of each part of the surface that is bounded by edges sharper than this.", TOOL_FIRST},
    {"repair", 0, NULL, NULL,
     "Put right what can be without guessing. It merges vertices at one place, removes duplicate triangles, turns "
     "triangles to face outwards, closes holes of up to 8 edges. What was done is listed.",
     TOOL_FIRST},
    {"wrap", 0, "D", NULL,
     "Take, instead of the surface, a closed one around it that is nowhere farther than D m from it: of anything, open or "
     "crossing itself, a solid. Made by CGAL; the distances reached are said.",
     TOOL_FIRST},
    {"improve", 0, NULL, NULL,
     "Mend elements with small or large angles between their faces, by exchanging edges and faces and by moving, merging and adding nodes. "
     "What was done is listed.",
     TOOL_FIRST},
    {"improve-distance", 0, "D", NULL,
     "With --improve: the surface stays within D m of what it was. Default: a thousandth of the box's diagonal; 0: planes stay what they are.",
     TOOL_FIRST},
    {"check", 0, NULL, NULL, "Print a report of the input surface and of the mesh.", TOOL_FIRST},
    {"time-limit", 0, "S", "600", "Most seconds that the meshing library may take.", 0},
    {"materials-out", 0, "FILE.json", NULL,
     "Write the materials of a volume mesh, which OUT.msh cannot hold, for modalpack --materials.", TOOL_WRITES},
    TOOL_OPTION_IGNORE,
    {"text", 0, NULL, NULL, "Write the .msh file as text.", 0},
    TOOL_OPTION_FORCE,
    TOOL_OPTION_THREADS,
    TOOL_OPTIONS_COMMON,
    {0},
};

static void print_versions(FILE *to)
{
    const char *gmsh = modalmesh_engine_version("gmsh"), *tetgen = modalmesh_engine_version("tetgen");
    const char *cgal = modalmesh_engine_version("cgal");
    fprintf(to, "Gmsh %s\nTetGen %s\nCGAL %s\n", gmsh ? gmsh : "absent", tetgen ? tetgen : "absent", cgal ? cgal : "absent");
}

static const tool_program program = {
    .name = "modalmesh",
    .summary = "makes a volume mesh of a surface or a geometry, or converts one",
    .usage = "[options] SURFACE|GEOMETRY|MESH OUT.msh\n--check [--repair] SURFACE|MESH",
    .options = options,
    .least_operands = 1,
    .most_operands = 2,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = 2,
    .output_traits = TOOL_WRITES | TOOL_PIPE,
    .endings = "msh",
    .notes = "Surfaces: .obj .stl .ply .off, .vtk of polygons.\n"
             "Geometries, through Gmsh: .step .stp .brep .iges .igs .geo.\n"
             "Volume meshes: .msh .veg .inp .mesh .meshb .node .ele .face .vtk .vtu.\n"
             "OUT is Gmsh's format 4.1, binary. Without OUT, --check ends with 1 where the surface bounds no\n"
             "solid. A surface inside another one is a cavity. The meshing library runs in a process of its own.",
    .examples = "modalmesh bunny.stl bunny.msh --nodes 20000 --repair\n"
                "modalmesh bracket.step bracket.msh --size 0.004 --order 2\n"
                "modalmesh frame.inp frame.msh --materials-out frame.json\n"
                "modalmesh --check scan.ply --report -",
    .print_versions = print_versions,
};

typedef enum input_kind { SURFACE, GEOMETRY, VOLUME } input_kind;

typedef struct request {
    const char *input, *output; /* output NULL: --check only */
    const char *materials;      /* or NULL */
    tool_units units;
    char said_unit[MODAL_CAD_UNIT]; /* by the file itself, or empty */
    input_kind kind;
    const char *engine;
    double size, patch_angle, time_limit; /* patch_angle in radians, < 0: none */
    int64_t n_nodes, order;               /* order 0: not given */
    double wrap; /* m, 0: no */
    double improve_distance; /* m, < 0: the usual one */
    int repair, improve, check, threads;
    unsigned ignored; /* kinds of what is not supported, bits (ignore.h) */
} request;

static input_kind find_kind(const char *path)
{
    static const char *const geometries[] = {".step", ".stp", ".brep", ".iges", ".igs", ".geo", ".geo_unrolled"};
    const char *dot = strrchr(path, '.');
    if (modal_is_memory_file(path)) return modal_surface_is_inside(path) ? SURFACE : VOLUME;
    if (modal_surface_is_named(path)) return SURFACE;
    for (size_t i = 0; dot && i < sizeof geometries / sizeof *geometries; i++)
        if (strcasecmp(dot, geometries[i]) == 0) return GEOMETRY;
    return VOLUME;
}

static modal_status choose_engine(const tool *t, request *r, modal_error *err)
{
    r->engine = tool_value(&t->arguments, "engine");
    if (!r->engine) r->engine = r->kind == SURFACE && modalmesh_engine_version("tetgen") ? "tetgen" : "gmsh";
    int is_tetgen = strcmp(r->engine, "tetgen") == 0;
    if (!is_tetgen && strcmp(r->engine, "gmsh") != 0)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--engine: must be gmsh or tetgen, %s", r->engine);
    if (r->kind == GEOMETRY && is_tetgen)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--engine: tetgen meshes surfaces only, %s", r->input);
    if (r->output && !modalmesh_engine_version(r->engine))
        return modal_error_set(err, MODAL_ERROR_USAGE,
                               "%s: this program was built without the library of %s, which meshes it; install %s (Debian) and build it again",
                               tool_count(&t->arguments, "engine") ? "--engine" : r->input, r->engine, is_tetgen ? "libtet1.5-dev" : "libgmsh-dev");
    return MODAL_OK;
}

static modal_status read_request(const tool *t, request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    *r = (request){.input = a->operands[0], .output = a->n_operands > 1 ? a->operands[1] : NULL,
                   .patch_angle = -1, .improve_distance = -1};
    r->repair = tool_count(a, "repair");
    r->check = tool_count(a, "check");
    r->improve = tool_count(a, "improve");
    MODAL_TRY(tool_units_read(a, &r->units, err));
    MODAL_TRY(tool_number(a, "size", 1e-300, 1e300, &r->size, err));
    MODAL_TRY(tool_integer(a, "nodes", 4, INT32_MAX, &r->n_nodes, err));
    MODAL_TRY(tool_integer(a, "order", 1, 2, &r->order, err));
    MODAL_TRY(tool_number(a, "wrap", 1e-300, 1e300, &r->wrap, err));
    MODAL_TRY(tool_number(a, "improve-distance", 0, 1e300, &r->improve_distance, err));
    MODAL_TRY(tool_number(a, "time-limit", 0.001, 1e9, &r->time_limit, err));
    if (tool_count(a, "patches")) {
        MODAL_TRY(tool_number(a, "patches", 0, 180, &r->patch_angle, err));
        r->patch_angle *= 3.14159265358979323846 / 180;
    }
    MODAL_TRY(tool_threads(t, &r->threads, err));
    const char *suffix = r->output ? strrchr(r->output, '.') : NULL;
    if (r->output && strcmp(r->output, "-") != 0 && (!suffix || strcmp(suffix, ".msh") != 0))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "OUT.msh: must end with .msh, the only format that is written, %s",
                   r->output);
    if (!r->output && !r->check)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "OUT.msh missing, or --check");
    if (r->size > 0 && r->n_nodes > 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--size and --nodes: give one of them");
    if (r->wrap > 0 && r->repair) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--wrap: for surfaces, without --repair, %s", r->input);
    if (r->wrap > 0 && !modalmesh_engine_version("cgal"))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--wrap: this program was built without CGAL");
    if (tool_count(a, "improve-distance") && !r->improve) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--improve-distance: needs --improve");
    r->materials = tool_value(a, "materials-out");
    MODAL_TRY(tool_ignore_read(a, &r->ignored, err));
    /* OUT has no materials, and --check is a report of the mesh */
    if (!r->materials) r->ignored |= 1u << MODAL_UNSUPPORTED_MATERIAL;
    if (!r->output) r->ignored = ~0u;
done:
    return status;
}

/* What follows from what the input is: for standard input after it was read. */
static modal_status check_kind(const tool *t, request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    r->kind = find_kind(r->input);
    if (!r->output && r->kind == GEOMETRY)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--check: a geometry has no report without OUT.msh, %s", r->input);
    if (r->kind == VOLUME && (r->size > 0 || r->n_nodes > 0 || tool_count(a, "engine")))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--size, --nodes, --engine: a volume mesh is converted as it is, %s",
                   r->input);
    if (r->kind != SURFACE && (r->repair || r->patch_angle >= 0))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--repair, --patches: for surfaces only, %s", r->input);
    if (r->wrap > 0 && r->kind != SURFACE)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--wrap: for surfaces, without --repair, %s", r->input);
    if (r->wrap > 0 && !modalmesh_engine_version("cgal"))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--wrap: this program was built without CGAL; install libcgal-dev (Debian) and build it again with -DMODAL_CGAL=ON");
    if (r->improve && r->kind == GEOMETRY && r->order == 2)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--improve: quadratic elements of a geometry are curved and stay as they are, %s", r->input);
    if (r->improve && !r->output && r->kind == SURFACE)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--improve: a surface has no elements without OUT.msh, %s", r->input);
    if (r->kind != VOLUME) MODAL_TRY(choose_engine(t, r, err));
    if (r->materials && (r->kind != VOLUME || !r->output))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--materials-out: needs a volume mesh and OUT.msh, %s", r->input);
    if (tool_count(a, "ignore") && r->kind != VOLUME)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--ignore: is for volume meshes, %s", r->input);
done:
    return status;
}

/* Reads, repairs and reports; *is_sound says whether it bounds a solid. */
static modal_status prepare_surface(tool *t, const request *r, modal_surface_mesh *surface,
                                    modal_surface_summary *summary, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n_collapsed = 0;
    double start = tool_seconds();
    MODAL_TRY(modal_surface_read(r->input, surface, &n_collapsed, err));
    tool_warn_notes(t, r->input, &surface->notes);
    modal_surface_mesh_to_metres(surface, r->units.unit, r->units.scale);
    tool_stage(t, "read surface", tool_seconds() - start, -1);
    if (n_collapsed > 0)
        tool_warn(t, "%s: triangles with one vertex twice left out, %lld", r->input, (long long)n_collapsed);
    if (r->wrap > 0) MODAL_TRY(modalmesh_wrap(t, r->input, r->wrap, r->time_limit, surface, err));
    start = tool_seconds();
    if (r->repair) {
        modal_surface_repairs repairs;
        MODAL_TRY(modal_surface_repair(surface, &repairs, err));
        modalmesh_report_repairs(t, &repairs);
    }
    MODAL_TRY(modal_surface_check(surface, summary, err));
    modalmesh_report_surface(t, summary, r->check);
    tool_stage(t, "check surface", tool_seconds() - start, -1);
done:
    return status;
}

static modal_status mesh_surface(tool *t, const request *r, const modal_surface_mesh *surface,
                                 const modal_surface_summary *summary, modal_volume_mesh *mesh,
                                 modalmesh_told *told, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *patch = NULL;
    modal_shells shells = {0};
    modalmesh_order order = {.path = r->input, .surface = surface, .volume = fabs(summary->volume),
                             .size = r->size, .n_nodes = r->n_nodes, .order = r->order == 2 && !r->improve ? 2 : 1};
    status = modal_surface_explain(surface, summary, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", r->input);
        goto done;
    }
    tool_say_box(t, r->input, &r->units, 0, summary->box_min, summary->box_max);
    MODAL_TRY(modal_alloc_zero(&patch, surface->n_triangles, sizeof *patch, "patches", err));
    order.n_patches = 1;
    if (r->patch_angle >= 0) {
        MODAL_TRY(modal_surface_parts(surface, r->patch_angle, patch, &order.n_patches, err));
        order.n_groups = order.n_patches;
        tool_note(t, "%d patches", order.n_patches);
    } else if (surface->triangle_part) {
        /* Triangles without a name are one more patch, without a group. */
        for (int64_t i = 0; i < surface->n_triangles; i++)
            patch[i] = surface->triangle_part[i] >= 0 ? surface->triangle_part[i] : surface->n_parts;
        order.n_groups = surface->n_parts;
        order.n_patches = surface->n_parts + 1;
        order.group_names = (const char *const *)surface->part_names;
    }
    status = modal_shells_find(surface, &shells, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", r->input);
        goto done;
    }
    if (shells.n_cavities > 0) tool_note(t, "%d cavities", shells.n_cavities);
    order.patch = patch;
    order.shell = shells.shell;
    order.n_shells = shells.n;
    order.outer = shells.outer;
    order.volume = shells.volume;
    memcpy(order.low, summary->box_min, sizeof order.low);
    memcpy(order.high, summary->box_max, sizeof order.high);
    MODAL_TRY(modalmesh_run(t, r->engine, &order, r->time_limit, mesh, told, err));
done:
    modal_free(&patch);
    modal_shells_free(&shells);
    return status;
}

/* Gmsh opens what a script of its includes or merges, beside the script: every text in quotes that is there as a file
 * counts as read. MODAL_ERROR_INPUT: one is a named pipe, at which Gmsh would wait. */
static modal_status note_included(const char *path, int depth, modal_error *err)
{
    enum { DEEPEST = 8 };
    modal_status status = MODAL_OK;
    struct stat info;
    char *script = NULL, name[PATH_MAX];
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int64_t length = 0;
    if (!dot || (strcasecmp(dot, ".geo") != 0 && strcasecmp(dot, ".geo_unrolled") != 0) || depth > DEEPEST ||
        modal_file_load(path, &script, &length, NULL) != MODAL_OK)
        return MODAL_OK;
    const char *const end = script + length, *open = memchr(script, '"', (size_t)length), *close;
    while (open && (close = memchr(open + 1, '"', (size_t)(end - open - 1)))) {
        const int folder = slash && open[1] != '/' ? (int)(slash - path + 1) : 0, n = (int)(close - open - 1);
        if (n > 0 && n < PATH_MAX && !memchr(open + 1, 0, (size_t)n) &&
            snprintf(name, sizeof name, "%.*s%.*s", folder, path, n, open + 1) < PATH_MAX && stat(name, &info) == 0) {
            if (S_ISFIFO(info.st_mode)) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: not a regular file", name);
            tool_files_read(name);
            MODAL_TRY(note_included(name, depth + 1, err));
        }
        open = memchr(close + 1, '"', (size_t)(end - close - 1));
    }
done:
    modal_free(&script);
    return status;
}

/* The unit of a geometry: STEP and IGES say it, and Gmsh makes millimetres of whatever that is. Of others nothing is
 * known but --unit. */
static modal_status find_unit(tool *t, request *r, modalmesh_order *order, modal_error *err)
{
    static const char *const names[MODAL_UNITS] = {"M", "CM", "MM", "UM", "INCH", "FT"};
    modal_status status = MODAL_OK;
    const int says = modal_is_step(r->input) || modal_is_iges(r->input);
    if (says) MODAL_TRY(modal_cad_unit(r->input, r->said_unit, err));
    if (*r->said_unit && r->units.is_given)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--unit: %s says its own unit, %s (--scale changes the size)", r->input,
                   r->said_unit);
    if (says && !*r->said_unit && modal_is_iges(r->input))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: says no unit of length, field 14 of its global section is empty", r->input);
    if (says && !*r->said_unit && !r->units.is_given)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: says no unit of length; give it, --unit mm for instance", r->input);
    if (*r->said_unit) tool_note(t, "%s: its unit is the %s", r->input, r->said_unit);
    /* A STEP file without a unit: Gmsh takes its numbers for millimetres, and so leaves them as they are. */
    order->unit = says ? "MM" : names[r->units.unit - modal_units];
    order->metres = (*r->said_unit ? 1e-3 : r->units.unit->metres) * r->units.scale;
done:
    return status;
}

static modal_status make_mesh(tool *t, request *r, modal_volume_mesh *mesh, int *is_sound,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh surface = {0};
    modal_surface_summary summary = {0};
    modalmesh_told told = {0};
    double start;
    if (r->kind == VOLUME) {
        start = tool_seconds();
        MODAL_TRY(modal_mesh_read(r->input, mesh, err));
        tool_warn_notes(t, r->input, &mesh->notes);
        MODAL_TRY(tool_ignore(t, r->input, mesh->not_taken, r->ignored, err));
        const int32_t n_in_mesh_units = tool_mesh_to_metres(t, r->input, &r->units, mesh);
        tool_doubt_materials(t, r->input, mesh->n_materials, mesh->materials, n_in_mesh_units, &r->units);
        tool_stage(t, "read mesh", tool_seconds() - start, -1);
        goto done;
    }
    if (r->kind == SURFACE) {
        MODAL_TRY(prepare_surface(t, r, &surface, &summary, err));
        *is_sound = modal_surface_is_sound(&summary);
        if (!r->output) {
            tool_say_box(t, r->input, &r->units, 0, summary.box_min, summary.box_max);
            goto done;
        }
    } else {
        MODAL_TRY(modal_disk_check_regular(r->input, err)); /* Gmsh makes an empty model of a file that is not there */
        MODAL_TRY(note_included(r->input, 0, err));
        MODAL_TRY(tool_files_check(err));
    }
    start = tool_seconds();
    if (r->kind == SURFACE) {
        MODAL_TRY(mesh_surface(t, r, &surface, &summary, mesh, &told, err));
    } else {
        modalmesh_order order = {.path = r->input, .size = r->size, .n_nodes = r->n_nodes,
                                 .order = r->order == 2 ? 2 : 1};
        MODAL_TRY(find_unit(t, r, &order, err));
        MODAL_TRY(modalmesh_run(t, r->engine, &order, r->time_limit, mesh, &told, err));
    }
    tool_stage(t, r->engine, told.seconds, -1);
    tool_stage(t, "start the library, take its mesh", tool_seconds() - start - told.seconds, -1);
done:
    modal_surface_mesh_free(&surface);
    return status;
}

/* What the mesh must be, whoever made it. */
static modal_status finish_mesh(tool *t, const request *r, modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_mesh_summary summary = {0};
    double start = tool_seconds();
    if (r->kind == VOLUME && !r->improve && r->order == 2 && modal_volume_mesh_is_all(mesh, MODAL_ELEMENT_TET4))
        MODAL_TRY(modal_volume_mesh_raise_order(mesh, err));
    for (int64_t e = 0; r->order > 0 && !r->improve && e < mesh->n_elements; e++)
        if (modal_mesh_kind(mesh, e)->quadratic != (r->order == 2))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: element %lld: a %s is not of order %lld", r->input,
                       (long long)mesh->element_tags[e], modal_mesh_kind(mesh, e)->name, (long long)r->order);
    status = modal_volume_mesh_check(mesh, &summary, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", r->input);
        goto done;
    }
    if (summary.flipped) tool_warn(t, "%s: all elements are left-handed; they were mirrored", r->input);
    if (summary.n_turned > 0)
        tool_warn(t, "%s: tetrahedra that are left-handed unlike their neighbours were turned round, %lld", r->input,
                  (long long)summary.n_turned);
    if (summary.n_straightened > 0)
        tool_warn(t, "%s: elements that their middle nodes turned inside out have straight edges now, %lld", r->input,
                  (long long)summary.n_straightened);
    if (summary.dropped_nodes > 0 && r->kind == VOLUME)
        tool_warn(t, "%s: nodes in no element dropped, %lld", r->input, (long long)summary.dropped_nodes);
    if (r->improve) {
        tool_stage(t, "check mesh", tool_seconds() - start, -1);
        MODAL_TRY(modalmesh_improve(t, r->input, r->improve_distance, summary.box_min, summary.box_max, mesh, err));
        if (r->order == 2) MODAL_TRY(modal_volume_mesh_raise_order(mesh, err));
        start = tool_seconds();
        MODAL_TRY(modal_volume_mesh_check(mesh, &summary, err));
    }
    if (r->check || tool_count(&t->arguments, "report")) modalmesh_report_mesh(t, mesh, &summary, r->check);
    if (r->kind != SURFACE) tool_say_box(t, r->input, &r->units, *r->said_unit != 0, summary.box_min, summary.box_max);
    if (!r->check)
        tool_note(t, "%lld nodes, %lld elements, %d groups, volume %.6g m^3", (long long)mesh->n_nodes,
                  (long long)mesh->n_elements, mesh->n_groups, summary.volume);
    if (r->output) MODAL_TRY(modalmesh_keep_conditions(t, mesh, err));
    if (mesh->n_materials > 0 && r->output && !r->materials)
        tool_warn(t, "%s: materials are not kept, Gmsh's format has none, %d; the first is %s (--materials-out writes "
                  "them)", r->input, mesh->n_materials, mesh->materials[0].name);
    tool_stage(t, "check mesh", tool_seconds() - start, -1);
done:
    return status;
}

static modal_status write_materials(const request *r, const tool_output *output, modal_volume_mesh *mesh,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    FILE *file = NULL;
    if (mesh->n_materials == 0)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has no materials for --materials-out", r->input);
    file = fopen(output->temporary, "w");
    if (!file) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", r->materials, strerror(errno));
    MODAL_TRY(modalmesh_write_materials(file, mesh, err));
    if (fflush(file) != 0 || ferror(file))
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot write, %s", r->materials, strerror(errno));
done:
    if (file) fclose(file);
    return status;
}

int main(int argc, char **argv)
{
    tool t;
    int code, is_sound = 1;
    if (tool_start(&t, &program, argc, argv, &code)) return code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    request r;
    tool_output output = {0}, materials = {0};
    modal_volume_mesh mesh = {0};
    MODAL_TRY(read_request(&t, &r, &err));
    const int piped = strcmp(r.input, "-") == 0, to_stdout = r.output && strcmp(r.output, "-") == 0;
    if (!piped) MODAL_TRY(check_kind(&t, &r, &err));
    omp_set_num_threads(r.threads);
    if (r.output && !to_stdout) MODAL_TRY(tool_outputs_recover(r.output, &err));
    if (r.output) MODAL_TRY(tool_output_begin(&output, r.output, tool_count(&t.arguments, "force"), &err));
    if (r.materials)
        MODAL_TRY(tool_output_begin(&materials, r.materials, tool_count(&t.arguments, "force"), &err));
    MODAL_TRY(tool_pipe_take(&r.input, &err));
    if (piped) MODAL_TRY(check_kind(&t, &r, &err));
    MODAL_TRY(make_mesh(&t, &r, &mesh, &is_sound, &err));
    if (mesh.n_elements > 0) MODAL_TRY(finish_mesh(&t, &r, &mesh, &err));
    if (r.materials) MODAL_TRY(write_materials(&r, &materials, &mesh, &err));
    if (r.output) {
        double start = tool_seconds();
        MODAL_TRY(modal_msh_write(output.temporary, &mesh, !tool_count(&t.arguments, "text"), &err));
        tool_output *const both[] = {&materials, &output};
        MODAL_TRY(r.materials ? tool_outputs_commit(both, 2, NULL, &err) : tool_output_complete(&output, &err));
        tool_stage(&t, "write mesh", tool_seconds() - start, -1);
    }
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    tool_output_name_error(&materials, &err);
    tool_output_discard(&materials);
    modal_volume_mesh_free(&mesh);
    return tool_finish(&t, status, &err, is_sound ? TOOL_EXIT_DONE : TOOL_EXIT_NO);
}
