/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack --eigensolver slepc: the module, and what it is asked. */
#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/memory.h"
#include "tools/common/memory.h"
#include "tools/modalpack/modalpack.h"

#ifdef MODAL_RANKS_ABSENT
static modal_status load(const modal_ranks_program **program, modal_error *err)
{
    (void)program;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "--eigensolver slepc: not in this build: %s", MODAL_RANKS_ABSENT);
}
#else
/* From ../lib/modaltools of the program's folder, wherever that was moved. The symbols are global: Open MPI loads parts of its own,
 * which look for them. */
static modal_status load(const modal_ranks_program **program, modal_error *err)
{
    char self[PATH_MAX], module[PATH_MAX + 64];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) return modal_error_set(err, MODAL_ERROR_SYSTEM, "/proc/self/exe: %s", strerror(errno));
    self[length] = '\0';
    snprintf(module, sizeof module, "%s/../lib/modaltools/modalpack_slepc.so", dirname(self));
    void *handle = dlopen(module, RTLD_NOW | RTLD_GLOBAL);
    void *symbol = handle ? dlsym(handle, MODAL_RANKS_FUNCTION) : NULL;
    const modal_ranks_program *(*get)(void) = NULL;
    if (!symbol) return modal_error_set(err, MODAL_ERROR_SYSTEM, "--eigensolver slepc: cannot be loaded, %s", dlerror());
    memcpy(&get, &symbol, sizeof symbol);
    *program = get();
    return MODAL_OK;
}
#endif

/* Of what the machine has, what is taken without being asked, as with modalpack's own solver. */
static const double share_of_available = 0.95;

/* The end of all ranks is near: what this one has begun goes, and it says why. Signals that come meanwhile do the same. */
static void stop(void *context, const modal_error *err)
{
    tool *t = context;
    fprintf(stderr, "%s: %s\n", t->program->name, err->message);
    fflush(stderr);
}

modal_status modalpack_ranks_begin(tool *t, const modal_ranks_program **program, int *rank, int *n_ranks, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    int64_t launched = 1;
    *program = NULL;
    *rank = 0;
    *n_ranks = 1;
    if (strcmp(tool_value(a, "eigensolver"), "slepc") != 0) return MODAL_OK;
    if (!tool_launched(&launched)) launched = 1;
    MODAL_TRY(load(program, err));
    status = (*program)->begin(launched, stop, t, rank, n_ranks, err);
    if (status != MODAL_OK) *program = NULL; /* nothing to end: the process does */
done:
    return status;
}

/* About: a mesh takes as much in memory as in a file of text. */
static int64_t bytes_of_mesh(const modalpack_request *r)
{
    struct stat info;
    return stat(r->input.mesh_path, &info) == 0 ? (int64_t)info.st_size : 0;
}

modal_status modalpack_ranks_scratch(const tool *t, const modalpack_request *r, int n_ranks, modal_scratch **scratch, modal_error *err)
{
    static const int64_t least_window = 16 << 20;
    modal_status status = MODAL_OK;
    const char *given = tool_value(&t->arguments, "scratch"), *slash = strrchr(r->basis_path, '/');
    char *folder = NULL;
    *scratch = NULL;
    if (!r->ranks) return MODAL_OK;
    if (given) MODAL_TRY(modal_copy_text(&folder, given, SIZE_MAX, err));
    else if (slash) MODAL_TRY(modal_copy_text(&folder, r->basis_path, slash == r->basis_path ? 1 : (size_t)(slash - r->basis_path), err));
    else MODAL_TRY(modal_copy_text(&folder, ".", SIZE_MAX, err));
    /* A plan needs that of the most ranks: with few, solving takes more. */
    for (int i = 0; i < r->n_plans; i++) n_ranks = n_ranks > r->plans[i] ? n_ranks : r->plans[i];
    const int64_t share = bytes_of_mesh(r) / n_ranks;
    MODAL_TRY(modal_scratch_open(folder, share > least_window ? share : least_window, scratch, err));
    modal_store_set(modal_scratch_store(*scratch));
    r->ranks->use_store(modal_scratch_store(*scratch));
done:
    modal_free(&folder);
    return status;
}

modal_scratch *modalpack_ranks_scratch_end(tool *t, const modal_ranks_program *ranks, modal_scratch *scratch)
{
    if (!scratch) return NULL;
    json_object_set_new(t->report, "scratch_bytes", json_integer(modal_scratch_most(scratch)));
    modal_store_set(NULL);
    ranks->use_store(NULL);
    return modal_scratch_close(scratch);
}

/* Whole numbers with commas between them. */
static modal_status read_plans(const char *text, modalpack_request *r, modal_error *err)
{
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        const long long n = strtoll(at, &end, 10);
        if (*at < '0' || *at > '9' || errno || n < 1 || n > 1000000 || (*end && *end != ',') || r->n_plans == MODALPACK_MOST_PLANS)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--plan: must be 1 to %d numbers of ranks, each 1 to 1000000, with commas between them, %s",
                                   MODALPACK_MOST_PLANS, text);
        r->plans[r->n_plans++] = (int32_t)n;
        at = end;
        if (!*at) return MODAL_OK;
    }
}

modal_status modalpack_ranks_check(const tool_arguments *a, int n_ranks, modalpack_request *r, modal_error *err)
{
    static const char *const not_yet[] = {"derivatives", "reduced-forces", "snapshots", "import", "rigid"};
    modal_status status = MODAL_OK;
    const char *solver = tool_value(a, "eigensolver"), *route = tool_value(a, "route");
    const int slepc = strcmp(solver, "slepc") == 0;
    if (!slepc && strcmp(solver, "lanczos") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--eigensolver: must be lanczos or slepc, %s", solver);
    if (!slepc && route) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--route: needs --eigensolver slepc");
    if (!slepc && tool_count(a, "scratch")) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--scratch: needs --eigensolver slepc");
    if (!slepc && tool_count(a, "plan")) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--plan: needs --eigensolver slepc");
    r->route = MODAL_ROUTE_OWN;
    if (!slepc) goto done;
    if (tool_count(a, "plan") && *tool_value(a, "plan")) MODAL_TRY(read_plans(tool_value(a, "plan"), r, err));
    else if (tool_count(a, "plan")) r->plans[r->n_plans++] = n_ranks;
    r->route = MODAL_ROUTE_AUTO;
    if (route && strcmp(route, "direct") == 0) r->route = MODAL_ROUTE_DIRECT;
    else if (route && strcmp(route, "multigrid") == 0) r->route = MODAL_ROUTE_MULTIGRID;
    else if (route && strcmp(route, "auto") != 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--route: must be auto, direct or multigrid, %s", route);
    if (r->sturm && r->route == MODAL_ROUTE_MULTIGRID)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--sturm: needs a factor, --route multigrid has none");
    for (size_t k = 0; k < sizeof not_yet / sizeof *not_yet; k++)
        if (tool_count(a, not_yet[k])) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--eigensolver slepc: --%s is not distributed", not_yet[k]);
    if (r->n_meshes != 1 || r->shapes != SHAPES_ONE)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--eigensolver slepc: is for one mesh that is one shape");
    if (r->factor != MODAL_FACTOR_AUTO) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--eigensolver slepc: --factor is lanczos's");
done:
    return status;
}

modal_status modalpack_ranks_plan(tool *t, const modalpack_request *r, modal_scratch *scratch, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_shape shape = {0};
    const modal_ranks_options options = {.n_modes = (int32_t)r->n_modes, .mass_rule = r->mass_rule};
    modal_ranks_estimate estimates[MODALPACK_MOST_PLANS];
    const double mebibyte = 1048576, limit = (double)r->memory_limit;
    json_t *all = json_array();
    json_object_set_new(t->report, "plan", all);
    MODAL_TRY(modalpack_read_solid(t, r, &shape, err));
    const double reading = (double)modal_most_resident();
    modal_scratch_widen(scratch, bytes_of_mesh(r)); /* alone it matches the faces, too, which takes long with a narrow one */
    MODAL_TRY(modalpack_make_surface(t, r, &shape, err));
    MODAL_TRY(r->ranks->plan(&shape.solid, &options, reading, r->n_plans, r->plans, estimates, err));
    FILE *to = tool_text_stream(t);
    if (to) fprintf(to, "%9s %12s %14s  %s\n", "ranks", "direct_MiB", "multigrid_MiB", "auto");
    for (int i = 0; i < r->n_plans; i++) {
        const modal_ranks_estimate *e = &estimates[i];
        const char *route = limit == 0 ? "-" : e->direct_bytes <= limit ? "direct" : e->multigrid_bytes <= limit ? "multigrid" : "none fits";
        if (to) fprintf(to, "%9d %12.0f %14.0f  %s\n", e->n_ranks, ceil(e->direct_bytes / mebibyte), ceil(e->multigrid_bytes / mebibyte), route);
        json_array_append_new(all, json_pack("{s:i, s:f, s:f}", "ranks", e->n_ranks, "direct_bytes", e->direct_bytes, "multigrid_bytes",
                                             e->multigrid_bytes));
    }
done:
    modal_shape_free(&shape);
    return status;
}

static void report(tool *t, const modal_modes_result *result, const modal_ranks_report *found)
{
    static const char *const routes[] = {"", "direct", "multigrid", ""};
    json_t *solver = json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:i, s:f, s:f, s:f, s:f}", "eigensolver", "slepc", "route",
                               routes[found->route], "ranks", found->n_ranks, "degrees_of_freedom", (json_int_t)result->n_dof,
                               "solves", (json_int_t)result->n_solves, "iterations", (json_int_t)result->n_iterations,
                               "rigid_modes", result->n_rigid, "orthogonality", result->orthogonality, "resident_bytes",
                               found->resident_bytes, "most_resident_bytes", found->most_resident_bytes, "processor_seconds",
                               found->processor_seconds);
    json_object_set_new(solver, "estimate_bytes", json_real(found->route == MODAL_ROUTE_DIRECT ? found->estimate.direct_bytes
                                                                                               : found->estimate.multigrid_bytes));
    json_object_set_new(solver, "contrast", json_real(found->contrast));
    json_object_set_new(solver, "least_nodes", json_integer(found->least_nodes));
    json_object_set_new(solver, "most_nodes", json_integer(found->most_nodes));
    if (found->factor_bytes > 0) {
        json_object_set_new(solver, "factor_estimate_bytes", json_real(found->factor_bytes));
        json_object_set_new(solver, "most_factor_estimate_bytes", json_real(found->most_factor_bytes));
    }
    if (result->sturm.n_below >= 0)
        json_object_set_new(solver, "sturm_count", json_pack("{s:f, s:I, s:I}", "shift", result->sturm.shift, "below",
                                                             (json_int_t)result->sturm.n_below, "known", (json_int_t)result->sturm.n_known));
    json_object_set_new(t->report, "solver", solver);
    if (result->n_rigid > 0) tool_note(t, "rigid modes found and left out: %d", result->n_rigid);
    if (result->sturm.n_below >= 0)
        tool_note(t, "Sturm count: %lld eigenvalues below %.9g (rad/s)^2, all known", (long long)result->sturm.n_below,
                  result->sturm.shift);
    if (found->only_direct)
        tool_note(t, "direct: Young's moduli are %.3g apart, too far for multigrid", found->contrast);
    tool_note(t, "SLEPc, %s, ranks: %d; %lld degrees of freedom, orthogonality %.1e", routes[found->route], found->n_ranks,
              (long long)result->n_dof, result->orthogonality);
}

modal_status modalpack_ranks_solve(tool *t, const modalpack_request *r, modal_shape *shape, modal_modes_result *result,
                                   modal_error *err)
{
    const modal_ranks_options options = {.n_modes = (int32_t)r->n_modes, .mass_rule = r->mass_rule, .route = r->route,
                                         .memory_limit = (double)r->memory_limit,
                                         .available = share_of_available * tool_available_memory("")};
    modal_ranks_report found;
    const double start = tool_seconds();
    tool_detail(t, "%s", r->ranks->versions);
    const modal_status status = r->ranks->solve(&shape->solid, &options, result, &found, &t->progress, err);
    if (status != MODAL_OK) return status;
    tool_stage(t, "solve", tool_seconds() - start, -1);
    result->route = found.route;
    result->n_ranks = found.n_ranks;
    report(t, result, &found);
    return MODAL_OK;
}
