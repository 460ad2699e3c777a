/* SPDX-License-Identifier: Apache-2.0 */
/* modalsim: from a modal basis and loads to a trajectory of reduced coordinates. */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <hdf5.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/basis_h5.h"
#include "formats/csv.h"
#include "formats/trajectory_h5.h"
#include "lib/base/memory.h"
#include "lib/dynamics/linear.h"
#include "lib/dynamics/loads.h"
#include "tools/common/output.h"
#include "tools/common/tool.h"

static const tool_option options[] = {
    {"duration", 0, "S", NULL, "Simulated time in seconds; with --fps.", 0},
    {"fps", 0, "F", NULL, "Frames a second: at t = i / F, i = 0, 1 ... up to the duration.", 0},
    {"damping", 0, "ALPHA,BETA", NULL,
     "Rayleigh damping C = ALPHA M + BETA K, in 1/s and s. Without it and --damping-ratio the motion "
     "is undamped.",
     0},
    {"damping-ratio", 0, "Z", NULL, "The same damping ratio for all modes; 1 is critical.", 0},
    {"gravity", 0, "X,Y,Z", NULL, "Uniform acceleration in m/s^2, from t = 0 on, of every object.", 0},
    {"impulse", 0, "WHERE:X,Y,Z[@T]", NULL,
     "Impulse in N s on object 0 at T seconds (default 0, right after frame 0). WHERE is a vertex of "
     "the deformed surface, counted from 0 in the user's order, or a point x,y,z, which stands for "
     "the vertex nearest to it at rest. May be repeated.",
     1},
    {"base-acceleration", 0, "FILE", NULL,
     "Acceleration of the support of every object: CSV lines t,ax,ay,az in s and m/s^2, straight "
     "lines between them, 0 before the first and after the last.",
     0},
    {"initial", 0, "MODE=Q", NULL,
     "Reduced coordinate of a mode (counted from 0) of every object at t = 0, in sqrt(kg) m. May be "
     "repeated, once for each mode.",
     1},
    {"static", 0, NULL, NULL,
     "Start in static equilibrium under the gravity and the base acceleration at t = 0. Without "
     "--duration write that one frame.",
     0},
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static void print_versions(FILE *to)
{
    unsigned h[3];
    H5get_libversion(&h[0], &h[1], &h[2]);
    fprintf(to, "HDF5 %u.%u.%u\n", h[0], h[1], h[2]);
}

static const tool_program program = {
    .name = "modalsim",
    .summary = "moves a modal basis under loads, linearly, and writes the trajectory",
    .usage = "[options] BASIS.h5 TRAJ.h5",
    .options = options,
    .least_operands = 2,
    .most_operands = 2,
    .notes =
        "Each mode is a damped oscillator, q'' + 2 zeta omega q' + omega^2 q = f(t), solved exactly for\n"
        "loads that are linear between their breakpoints: there is no time-step error, and the frame\n"
        "rate does not change the motion. Vectors and points are in world axes; an object at an angle\n"
        "gets them turned into its own. Under a base acceleration the motion is relative to the\n"
        "support. TRAJ may be -, standard output.",
    .examples = "modalsim fork.h5 ring.h5 --duration 2 --fps 240 --damping-ratio 0.001 --impulse 17:0,0,0.1\n"
                "modalsim bridge.h5 quake.h5 --duration 30 --fps 60 --damping 0.1,1e-4 \\\n"
                "    --gravity 0,0,-9.81 --static --base-acceleration record.csv\n"
                "modalsim fork.h5 - --duration 1 --fps 60 --initial 1=0.01 | modaldeform - out",
    .print_versions = print_versions,
};

typedef struct impulse_request {
    const char *text; /* as given, for messages */
    int64_t vertex;   /* the user's, or -1: the one nearest to point */
    double point[3], impulse[3], time;
} impulse_request;

/* What the command line asks for, checked as far as that goes without the files. */
typedef struct request {
    const char *basis_path, *trajectory_path, *base_path;
    int to_stdout, force, start_static;
    double fps; /* 0: one frame */
    int64_t n_frames;
    double last_time;
    double alpha, beta, ratio; /* ratio < 0: Rayleigh */
    double gravity[3];
    int n_impulses;
    impulse_request *impulses; /* [n_impulses] */
} request;

/* ---- the command line ---- */

/* A whole number without blanks, of which *end is the first character behind. */
static int parse_index(const char *text, const char **end, int64_t *value)
{
    char *behind = NULL;
    if (!(isdigit((unsigned char)*text) || (*text == '-' && isdigit((unsigned char)text[1])))) return 0;
    errno = 0;
    *value = strtoll(text, &behind, 10);
    *end = behind;
    return errno == 0;
}

/* WHERE:X,Y,Z[@T] */
static modal_status parse_impulse(const char *text, impulse_request *impulse, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *where = NULL, *vector = NULL;
    const char *colon = strchr(text, ':'), *at = strchr(text, '@'), *end = NULL;
    *impulse = (impulse_request){.text = text, .vertex = -1};
    if (!colon || (at && at < colon))
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "--impulse: not VERTEX:X,Y,Z[@T] or x,y,z:X,Y,Z[@T], %s", text);
    MODAL_TRY(modal_copy_text(&where, text, (size_t)(colon - text), err));
    MODAL_TRY(modal_copy_text(&vector, colon + 1, at ? (size_t)(at - colon - 1) : SIZE_MAX, err));
    if (strchr(where, ',')) {
        MODAL_TRY(tool_parse_numbers(where, 3, impulse->point, "--impulse: point", err));
    } else if (!parse_index(where, &end, &impulse->vertex) || *end || impulse->vertex < 0) {
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--impulse: not a vertex number or a point x,y,z, %s",
                   where);
    }
    MODAL_TRY(tool_parse_numbers(vector, 3, impulse->impulse, "--impulse", err));
    if (at) MODAL_TRY(tool_parse_numbers(at + 1, 1, &impulse->time, "--impulse: time", err));
    if (!(impulse->time >= 0))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--impulse: the time must be >= 0, %s", text);
done:
    modal_free(&where);
    modal_free(&vector);
    return status;
}

static modal_status read_frames(const tool_arguments *a, request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    double duration = 0;
    const char *given = tool_value(a, "duration"), *fps = tool_value(a, "fps");
    r->start_static = tool_count(a, "static") > 0;
    r->n_frames = 1;
    if (!given && fps) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fps: needs --duration, %s", fps);
    if (given && !fps) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--duration: needs --fps, %s", given);
    if (!given && !r->start_static)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--duration and --fps: needed unless --static is given");
    if (!given) goto done;
    MODAL_TRY(tool_number(a, "duration", -DBL_MAX, DBL_MAX, &duration, err));
    MODAL_TRY(tool_number(a, "fps", -DBL_MAX, DBL_MAX, &r->fps, err));
    if (!(duration > 0)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--duration: must be > 0, %s", given);
    if (!(r->fps > 0)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fps: must be > 0, %s", fps);
    r->n_frames = modal_linear_frame_count(duration, r->fps);
    if (r->n_frames < 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--duration: more than 2^31 frames, %s s at %s a second",
                   given, fps);
    r->last_time = (double)(r->n_frames - 1) / r->fps;
done:
    return status;
}

static modal_status read_damping(const tool_arguments *a, request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    double rayleigh[2] = {0, 0};
    const char *damping = tool_value(a, "damping"), *ratio = tool_value(a, "damping-ratio");
    if (damping && ratio)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--damping and --damping-ratio: give one of them, %s and %s",
                   damping, ratio);
    r->ratio = -1;
    if (ratio) {
        MODAL_TRY(tool_number(a, "damping-ratio", -DBL_MAX, DBL_MAX, &r->ratio, err));
        if (!(r->ratio >= 0))
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--damping-ratio: must be >= 0, %s", ratio);
    }
    if (damping) MODAL_TRY(tool_parse_numbers(damping, 2, rayleigh, "--damping", err));
    if (!(rayleigh[0] >= 0 && rayleigh[1] >= 0))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--damping: must be >= 0, %s", damping);
    r->alpha = rayleigh[0];
    r->beta = rayleigh[1];
done:
    return status;
}

static modal_status read_request(const tool *t, request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    const char *report = tool_value(a, "report"), *gravity = tool_value(a, "gravity");
    r->basis_path = a->operands[0];
    r->trajectory_path = a->operands[1];
    r->base_path = tool_value(a, "base-acceleration");
    r->to_stdout = strcmp(r->trajectory_path, "-") == 0;
    r->force = tool_count(a, "force") > 0;
    MODAL_TRY(read_frames(a, r, err));
    MODAL_TRY(read_damping(a, r, err));
    if (gravity) MODAL_TRY(tool_parse_numbers(gravity, 3, r->gravity, "--gravity", err));
    if (r->start_static && tool_count(a, "initial") > 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--static and --initial: give one of them, %s",
                   tool_value(a, "initial"));
    MODAL_TRY(modal_alloc(&r->impulses, tool_count(a, "impulse"), sizeof *r->impulses, "impulses",
                          err));
    for (int i = 0; i < tool_count(a, "impulse"); i++) {
        MODAL_TRY(parse_impulse(tool_value_at(a, "impulse", i), &r->impulses[i], err));
        r->n_impulses++;
        if (!(r->impulses[i].time < r->last_time))
            MODAL_FAIL(err, MODAL_ERROR_USAGE,
                       "--impulse: would change nothing, the last frame is at %g s, %s", r->last_time,
                       r->impulses[i].text);
    }
    if (strcmp(r->basis_path, "-") == 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "BASIS: cannot be standard input, the trajectory names its file, -");
    if (r->to_stdout && report && strcmp(report, "-") == 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--report: standard output already takes the trajectory, -");
    if (r->to_stdout && isatty(STDOUT_FILENO))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "TRAJ: standard output is a terminal, -");
    if (!r->to_stdout) {
        MODAL_TRY(tool_refuse_same_file(r->basis_path, r->trajectory_path, err));
        if (r->base_path) MODAL_TRY(tool_refuse_same_file(r->base_path, r->trajectory_path, err));
    }
done:
    return status;
}

/* ---- the problem ---- */

/* The arrays behind a modal_linear_problem. */
typedef struct loads {
    modal_linear_shape *shapes;
    modal_linear_object *objects;
    double *damping; /* of all shapes, one after the other */
    modal_series base;
    modal_linear_impulse *impulses;
    double *jumps; /* [n_impulses, modes of object 0] */
    double *initial;
    modal_linear_problem problem;
} loads;

static void loads_free(loads *l)
{
    modal_free(&l->shapes);
    modal_free(&l->objects);
    modal_free(&l->damping);
    modal_series_free(&l->base);
    modal_free(&l->impulses);
    modal_free(&l->jumps);
    modal_free(&l->initial);
}

static modal_status set_oscillators(const request *r, const modal_basis *basis, loads *l,
                                    modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t n_modes = 0;
    for (int32_t i = 0; i < basis->n_shapes; i++) n_modes += basis->shapes[i].n_modes;
    MODAL_TRY(modal_alloc(&l->shapes, basis->n_shapes, sizeof *l->shapes, "shapes", err));
    MODAL_TRY(modal_alloc(&l->objects, basis->n_objects, sizeof *l->objects, "objects", err));
    MODAL_TRY(modal_alloc(&l->damping, n_modes, sizeof *l->damping, "damping", err));
    double *damping = l->damping;
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const modal_shape *s = &basis->shapes[i];
        if (!(s->mass_coupling <= 1e-6 && s->stiffness_coupling <= 1e-6))
            MODAL_FAIL(err, MODAL_ERROR_INPUT,
                       "%s: shape %d: its imported columns are coupled, in the mass by %.3g, in the stiffness "
                       "by %.3g: no oscillators",
                       r->basis_path, i, s->mass_coupling, s->stiffness_coupling);
        l->shapes[i] = (modal_linear_shape){s->n_modes, s->eigenvalues, damping, s->modal_masses,
                                            s->participation};
        if (r->ratio >= 0)
            modal_damping_ratio(r->ratio, s->n_modes, s->eigenvalues, damping);
        else
            modal_damping_rayleigh(r->alpha, r->beta, s->n_modes, s->eigenvalues, damping);
        damping += s->n_modes;
    }
    for (int32_t i = 0; i < basis->n_objects; i++)
        l->objects[i] =
            (modal_linear_object){basis->objects[i].shape, basis->objects[i].rest_frame};
    l->problem = (modal_linear_problem){.n_shapes = basis->n_shapes, .shapes = l->shapes,
                                        .n_objects = basis->n_objects, .objects = l->objects,
                                        .start_static = r->start_static};
    memcpy(l->problem.gravity, r->gravity, sizeof r->gravity);
done:
    return status;
}

static modal_status read_base_acceleration(tool *t, const request *r, loads *l, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (!r->base_path) goto done;
    MODAL_TRY(modal_series_read_csv(r->base_path, 3, &l->base, err));
    const double first = l->base.times[0], last = l->base.times[l->base.n_rows - 1];
    /* the same as for impulses: what cannot have an effect is a mistake */
    if (last <= 0 || first > r->last_time || (first == r->last_time && first > 0))
        MODAL_FAIL(err, MODAL_ERROR_INPUT,
                   "%s: nothing of it acts, its times are %g .. %g s, the motion's 0 .. %g s",
                   r->base_path, first, last, r->last_time);
    if (last < r->last_time)
        tool_note(t, "%s: ends at %g s; the base acceleration is 0 from there to %g s", r->base_path,
                  last, r->last_time);
    l->problem.n_samples = l->base.n_rows;
    l->problem.sample_times = l->base.times;
    l->problem.samples = l->base.values;
done:
    return status;
}

static modal_status set_initial(const tool_arguments *a, const modal_basis *basis, loads *l,
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *given = NULL;
    const int n = tool_count(a, "initial");
    int32_t most = INT32_MAX, of = 0; /* the object with the fewest modes */
    if (n == 0) goto done;
    for (int32_t i = 0; i < basis->n_objects; i++)
        if (basis->shapes[basis->objects[i].shape].n_modes < most) {
            most = basis->shapes[basis->objects[i].shape].n_modes;
            of = i;
        }
    MODAL_TRY(modal_alloc_zero(&given, most, 1, "initial amplitudes", err));
    MODAL_TRY(modal_alloc_zero(&l->initial, modal_basis_mode_offsets(basis, NULL), sizeof(double),
                               "initial amplitudes", err));
    for (int i = 0; i < n; i++) {
        const char *text = tool_value_at(a, "initial", i), *end = NULL;
        int64_t mode = 0;
        double amplitude = 0;
        if (!parse_index(text, &end, &mode) || *end != '=')
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--initial: not MODE=AMPLITUDE, %s", text);
        MODAL_TRY(tool_parse_numbers(end + 1, 1, &amplitude, "--initial: amplitude", err));
        if (mode < 0 || mode >= most)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--initial: object %d has modes 0 .. %d, %s", of, most - 1,
                       text);
        if (given[mode])
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--initial: mode %lld is given twice, %s",
                       (long long)mode, text);
        given[mode] = 1;
        int64_t offset = 0;
        for (int32_t k = 0; k < basis->n_objects; k++) {
            l->initial[offset + mode] = amplitude;
            offset += basis->shapes[basis->objects[k].shape].n_modes;
        }
    }
    l->problem.initial = l->initial;
done:
    modal_free(&given);
    return status;
}

static modal_status set_impulses(tool *t, const request *r, const modal_basis *basis, loads *l,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_object *object = &basis->objects[0];
    const modal_shape *shape = &basis->shapes[object->shape];
    json_t *list = json_array();
    MODAL_TRY(modal_alloc(&l->impulses, r->n_impulses, sizeof *l->impulses, "impulses", err));
    MODAL_TRY(modal_alloc(&l->jumps, (int64_t)r->n_impulses * shape->n_modes, sizeof(double),
                          "impulses", err));
    for (int i = 0; i < r->n_impulses; i++) {
        const impulse_request *p = &r->impulses[i];
        double distance = 0;
        int64_t stored = p->vertex >= 0
                             ? modal_shape_stored_vertex(shape, p->vertex)
                             : modal_shape_nearest_vertex(shape, object->rest_frame, p->point, &distance);
        if (stored < 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--impulse: object 0 has vertices 0 .. %lld, %s",
                       (long long)shape->n_vertices - 1, p->text);
        if (p->vertex < 0)
            tool_note(t, "--impulse: vertex %d, %g m from the point, %s", shape->user_vertex[stored],
                      distance, p->text);
        double *jump = l->jumps + (int64_t)i * shape->n_modes;
        modal_impulse_jump(shape, object->rest_frame, stored, p->impulse, jump);
        l->impulses[i] = (modal_linear_impulse){p->time, 0, jump};
        json_array_append_new(list, json_pack("{s:i, s:f, s:f}", "vertex",
                                              shape->user_vertex[stored], "distance_m", distance,
                                              "time", p->time));
    }
    l->problem.n_impulses = r->n_impulses;
    l->problem.impulses = l->impulses;
    json_object_set(t->report, "impulses", list);
done:
    json_decref(list);
    return status;
}

static void warn_of_free_bodies(tool *t, const modal_basis *basis)
{
    int n = 0, first = -1;
    for (int32_t i = 0; i < basis->n_objects; i++)
        if (basis->shapes[basis->objects[i].shape].n_rigid_modes > 0 && n++ == 0) first = i;
    if (n == 0) return;
    tool_warn(t, "%s: object %d%s free; the rigid motion of a free body is not simulated, only its "
                 "deformation", t->arguments.operands[0], first, n > 1 ? " and others are" : " is");
}

/* ---- the trajectory ---- */

/* Where the basis is, seen from the trajectory's folder. A name that is given absolute stays so; a
 * relative one leads through the nearest folder that both share, so that both can be moved with it. */
static modal_status link_to_basis(const request *r, char **link, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *basis_copy = NULL, *name_copy = NULL, *trajectory_copy = NULL;
    char *basis_folder = NULL, *trajectory_folder = NULL; /* of realpath: free */
    if (r->to_stdout || r->basis_path[0] == '/') {
        status = modal_copy_text(link, r->basis_path, SIZE_MAX, err);
        goto done;
    }
    MODAL_TRY(modal_copy_text(&basis_copy, r->basis_path, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&name_copy, r->basis_path, SIZE_MAX, err));
    MODAL_TRY(modal_copy_text(&trajectory_copy, r->trajectory_path, SIZE_MAX, err));
    const char *name = basename(name_copy);
    basis_folder = realpath(dirname(basis_copy), NULL);
    trajectory_folder = realpath(dirname(trajectory_copy), NULL);
    if (!basis_folder || !trajectory_folder)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot resolve its folder, %s",
                   basis_folder ? r->trajectory_path : r->basis_path, strerror(errno));

    /* "/" alone is the empty list of folders, like the others then without a slash at the end */
    const char *from = strcmp(trajectory_folder, "/") == 0 ? "" : trajectory_folder;
    const char *to = strcmp(basis_folder, "/") == 0 ? "" : basis_folder;
    size_t same = 0; /* length of the folders that both share */
    for (size_t i = 0;; i++) {
        int from_ends = from[i] == '\0' || from[i] == '/', to_ends = to[i] == '\0' || to[i] == '/';
        if (from_ends && to_ends) same = i;
        if (from[i] != to[i] || from[i] == '\0') break;
    }
    int64_t ups = 0;
    for (const char *c = from + same; *c; c++) ups += *c == '/';
    const char *down = to[same] == '/' ? to + same + 1 : to + same;
    MODAL_TRY(modal_alloc(link, 3 * ups + (int64_t)strlen(down) + (int64_t)strlen(name) + 2, 1, "link",
                          err));
    char *end = *link;
    for (int64_t i = 0; i < ups; i++) end = stpcpy(end, "../");
    end = stpcpy(end, down);
    if (*down) end = stpcpy(end, "/");
    stpcpy(end, name);
done:
    modal_free(&basis_copy);
    modal_free(&name_copy);
    modal_free(&trajectory_copy);
    free(basis_folder);
    free(trajectory_folder);
    return status;
}

/* The basis's own steps, then this one. */
static modal_status add_provenance(const tool *t, const request *r, const modal_basis *basis,
                                   modal_trajectory *trajectory, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *inputs = NULL, hash[MODAL_HASH_TEXT];
    int64_t length = 2 * MODAL_HASH_TEXT + 8 + (int64_t)strlen(r->basis_path) +
                     (r->base_path ? (int64_t)strlen(r->base_path) : 0);
    MODAL_TRY(modal_alloc(&inputs, length, 1, "provenance", err));
    int used = snprintf(inputs, (size_t)length, "%s  %s", basis->hash, r->basis_path);
    if (r->base_path) {
        MODAL_TRY(modal_hash_file(r->base_path, hash, err));
        snprintf(inputs + used, (size_t)(length - used), "\n%s  %s", hash, r->base_path);
    }
    for (int32_t i = 0; i < basis->n_provenance; i++) {
        const modal_provenance *p = &basis->provenance[i];
        MODAL_TRY(modal_provenance_append(&trajectory->provenance, &trajectory->n_provenance, p->tool,
                                          p->version, p->arguments, p->inputs, p->back_end, err));
    }
    MODAL_TRY(modal_provenance_append(&trajectory->provenance, &trajectory->n_provenance,
                                      program.name, tool_version(), t->command_line, inputs, "cpu",
                                      err));
done:
    modal_free(&inputs);
    return status;
}

static modal_status simulate(tool *t, const request *r, const modal_basis *basis, const loads *l,
                             modal_trajectory *trajectory, modal_error *err)
{
    modal_status status = MODAL_OK;
    double start = tool_seconds();
    int64_t total = modal_basis_mode_offsets(basis, NULL), values;
    trajectory->n_frames = r->n_frames;
    trajectory->n_objects = basis->n_objects;
    strcpy(trajectory->basis_hash, basis->hash);
    MODAL_TRY(modal_alloc(&trajectory->mode_offsets, (int64_t)basis->n_objects + 1, sizeof(int64_t),
                          "mode offsets", err));
    modal_basis_mode_offsets(basis, trajectory->mode_offsets);
    if (!modal_size_multiply(r->n_frames, total, &values)) values = INT64_MAX; /* refused below */
    MODAL_TRY(modal_alloc(&trajectory->q, values, sizeof(double), "reduced coordinates", err));
    MODAL_TRY(modal_alloc(&trajectory->times, r->n_frames, sizeof(double), "times", err));
    for (int64_t i = 0; i < r->n_frames; i++)
        trajectory->times[i] = i == 0 ? 0 : (double)i / r->fps;
    tool_progress_amount(t, (double)r->n_frames, "frames");
    MODAL_TRY(modal_linear_simulate(&l->problem, r->n_frames, trajectory->times, trajectory->q, NULL,
                                    &t->progress, err));
    MODAL_TRY(link_to_basis(r, &trajectory->basis_path, err));
    MODAL_TRY(add_provenance(t, r, basis, trajectory, err));
    tool_stage(t, "simulate", tool_seconds() - start, values * (int64_t)sizeof(double));
    tool_note(t, "%lld frames of %d objects, %lld modes in all", (long long)r->n_frames,
              basis->n_objects, (long long)total);
    json_object_set_new(t->report, "frames", json_integer(r->n_frames));
    json_object_set_new(t->report, "objects", json_integer(basis->n_objects));
    json_object_set_new(t->report, "modes", json_integer(total));
done:
    return status;
}

static modal_status write_trajectory(tool *t, const request *r, tool_output *output,
                                     const modal_trajectory *trajectory, modal_error *err)
{
    modal_status status = MODAL_OK;
    void *bytes = NULL;
    size_t length = 0;
    double start = tool_seconds();
    if (r->to_stdout) {
        MODAL_TRY(modal_trajectory_image(trajectory, &bytes, &length, err));
        MODAL_TRY(tool_write_stdout(bytes, length, err));
    } else {
        MODAL_TRY(modal_trajectory_write(output->temporary, trajectory, err));
        MODAL_TRY(tool_output_commit(output, err));
    }
    tool_stage(t, "write", tool_seconds() - start,
               trajectory->n_frames * trajectory->mode_offsets[trajectory->n_objects] *
                   (int64_t)sizeof(double));
done:
    modal_free(&bytes);
    return status;
}

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    request r = {0};
    modal_basis basis = {0};
    loads l = {0};
    modal_trajectory trajectory = {0};
    tool_output output = {0};

    MODAL_TRY(read_request(&t, &r, &err));
    if (!r.to_stdout) MODAL_TRY(tool_output_begin(&output, r.trajectory_path, r.force, &err));
    double start = tool_seconds();
    /* only an impulse needs the surface and U, which are nearly all of a basis */
    unsigned parts = MODAL_BASIS_MODES | (r.n_impulses > 0 ? MODAL_BASIS_DEFORM : 0);
    MODAL_TRY(modal_basis_read(r.basis_path, parts, &basis, &err));
    tool_stage(&t, "read basis", tool_seconds() - start, -1);
    warn_of_free_bodies(&t, &basis);
    MODAL_TRY(set_oscillators(&r, &basis, &l, &err));
    MODAL_TRY(read_base_acceleration(&t, &r, &l, &err));
    MODAL_TRY(set_initial(&t.arguments, &basis, &l, &err));
    if (r.n_impulses > 0) MODAL_TRY(set_impulses(&t, &r, &basis, &l, &err));
    MODAL_TRY(simulate(&t, &r, &basis, &l, &trajectory, &err));
    MODAL_TRY(write_trajectory(&t, &r, &output, &trajectory, &err));
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modal_trajectory_free(&trajectory);
    loads_free(&l);
    modal_basis_free(&basis);
    modal_free(&r.impulses);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
