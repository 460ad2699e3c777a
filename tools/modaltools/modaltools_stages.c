/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of modaltools quick: the commands that it decides upon. */
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/surface_read.h"
#include "lib/base/memory.h"
#include "lib/base/mix.h"
#include "lib/mesh/units.h"
#include "lib/scene/loads.h"
#include "tools/common/endings.h"
#include "tools/modaltools/modaltools_quick.h"

enum { PERIODS = 12, FRAMES = 24 }; /* of the lowest mode; frames of one */

void quick_output(const quick *q, int64_t number, char path[PATH_MAX])
{
    size_t length = strlen(q->output);
    while (number >= 0 && length > 1 && q->output[length - 1] == '/') length--;
    const char *ending = q->result == FOLDER ? "" : tool_ending(q->output);
    if (number < 0) snprintf(path, PATH_MAX, "%s", q->output);
    else snprintf(path, PATH_MAX, "%.*s_%03lld%s", (int)(length - strlen(ending)), q->output, (long long)number, ending);
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

static int has_vtkhdf(const quick *q)
{
    static const char *const plain[] = {"vtkhdf"};
    return q->result == FOLDER ? !q->format || strstr(q->format, "vtkhdf") != NULL : tool_ending_find(q->output, plain, 1) == 0;
}

/* A point of vtkhdf has one pair of texture coordinates. */
static modal_status refuse_seams(const quick *q, const modal_surface_mesh *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *of_vertex = NULL;
    if (!q->look || !s->triangle_uv || !has_vtkhdf(q)) return MODAL_OK;
    MODAL_TRY(modal_alloc(&of_vertex, s->n_vertices, sizeof *of_vertex, "uv", err));
    for (int64_t v = 0; v < s->n_vertices; v++) of_vertex[v] = -1;
    for (int64_t i = 0; i < 3 * s->n_triangles; i++) {
        int32_t *known = &of_vertex[s->triangles[i]];
        if (*known < 0) *known = s->triangle_uv[i];
        if (memcmp(s->uv + 2 * (int64_t)*known, s->uv + 2 * (int64_t)s->triangle_uv[i], 2 * sizeof *s->uv) != 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--look: vtkhdf cannot hold the seams of its texture coordinates, --format glb or obj can, %s", q->input);
    }
done:
    modal_free(&of_vertex);
    return status;
}

/* distance: three hundredths of the box's diagonal, m, for --wrap. Quadratic elements bend as they should, and do not lock where the volume cannot
 * change, as that of rubber; of a large surface they are too many. */
static modal_status choose_order(const quick *q, int *order, double *distance, modal_error *err)
{
    enum { LARGE = 15000 };
    double low[3], high[3];
    modal_surface_mesh surface = {0};
    int64_t n_collapsed;
    *order = 2;
    if (q->kind != SURFACE) return MODAL_OK;
    modal_status status = modal_surface_read(q->input, &surface, &n_collapsed, err);
    if (surface.n_vertices > LARGE) *order = 1;
    modal_find_box(surface.positions, surface.n_vertices, low, high);
    *distance = 0.03 * q->units.unit->metres * q->units.scale *
                sqrt((high[0] - low[0]) * (high[0] - low[0]) + (high[1] - low[1]) * (high[1] - low[1]) + (high[2] - low[2]) * (high[2] - low[2]));
    if (status == MODAL_OK) status = refuse_seams(q, &surface, err);
    modal_surface_mesh_free(&surface);
    return status;
}

modal_status quick_make_mesh(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaltools_command command = {0};
    int order = 2;
    double distance = 0;
    if (q->kind == MESH) return MODAL_OK;
    if (q->kind == SURFACE && !q->wrap) q->chain.hint = "--wrap takes a closed surface around it";
    MODAL_TRY(choose_order(q, &order, &distance, err));
    ADD("modalmesh");
    ADD("%s", q->input);
    ADD("%s/mesh.msh", q->chain.folder);
    MODAL_TRY(add_units(q, &command, err));
    ADD("--order");
    ADD("%d", order);
    if (q->kind == SURFACE) {
        ADD(q->wrap ? "--wrap" : "--repair");
        if (q->wrap) ADD("%.6g", distance);
    } else {
        ADD("--nodes");
        ADD("10000");
    }
    MODAL_TRY(modaltools_chain_run(&q->chain, &command, &q->failed, err));
    q->chain.hint = NULL;
done:
    modaltools_command_free(&command);
    return status;
}

/* The box, and what the mesh says itself. */
modal_status quick_look_at_mesh(quick *q, modal_error *err)
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
    q->n_nodes = mesh.n_nodes;
    q->is_held = mesh.n_conditions > 0 || mesh.not_taken[MODAL_UNSUPPORTED_BOUNDARY].n > 0;
done:
    modal_volume_mesh_free(&mesh);
    return status;
}

/* A body that is unlikely of such a file is said, where neither the command line nor the file says its unit. */
static void judge_size(const quick *q)
{
    static const double largest[] = {[SURFACE] = 5, [GEOMETRY] = 20, [MESH] = 100}; /* m */
    static const char *const kinds[] = {[SURFACE] = "surface", [GEOMETRY] = "geometry", [MESH] = "mesh"};
    static const char *const usual[] = {"cm", "mm", "m", "um"};
    double longest = 0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, q->high[k] - q->low[k]);
    if (q->units.is_given || q->units.scale != 1 || (longest <= largest[q->kind] && longest >= 1e-3)) return;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const double length = longest * modal_unit_find(usual[i])->metres;
        if (length > 1 || length < 0.02) continue;
        tool_warn(q->t, "%s: a %s of %.4g m is %s: --unit %s makes it %.4g m, --scale F any size", q->input, kinds[q->kind], longest,
                  longest > 1 ? "large" : "small", usual[i], length);
        return;
    }
    tool_warn(q->t, "%s: a %s of %.4g m is %s: --unit or --scale F changes it", q->input, kinds[q->kind], longest, longest > 1 ? "large" : "small");
}

static const char *mass_text(double mass, char text[32])
{
    snprintf(text, 32, mass >= 1e4 ? "%.3g t" : mass >= 0.1 ? "%.3g kg" : "%.3g g", mass >= 1e4 ? 1e-3 * mass : mass >= 0.1 ? mass : 1e3 * mass);
    return text;
}

/* The first line of the three: the body; the modes are known from here on. */
static modal_status read_basis(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    char path[PATH_MAX], mass[32], assumed[96];
    snprintf(path, sizeof path, "%s/basis.h5", q->chain.folder);
    MODAL_TRY(modal_basis_read(path, MODAL_BASIS_MODES | MODAL_BASIS_SURFACE, &q->basis, err));
    const modal_modes *m = &q->basis.shapes[0].modes;
    const char *chosen = modal_provenance_assumed(q->basis.provenance, q->basis.n_provenance);
    if (chosen) snprintf(assumed, sizeof assumed, "%.32s (material assumed, --material changes it)", chosen);
    tool_note(q->t, "%s: %.3g x %.3g x %.3g m, %s of %s, %lld nodes", q->input, q->high[0] - q->low[0], q->high[1] - q->low[1], q->high[2] - q->low[2],
              mass_text(m->total_mass, mass), q->material ? q->material : chosen ? assumed : "its materials",
              (long long)q->n_nodes);
    judge_size(q);
    if (q->motion != MODES && (m->n_modes == 0 || !(m->frequencies[0] > 0)))
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: has no mode that could be moved", q->input);
done:
    return status;
}

modal_status quick_pack(quick *q, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaltools_command command = {0};
    const int n_fixed = tool_count(&q->t->arguments, "fixed");
    ADD("modalpack");
    if (q->kind == MESH) ADD("%s", q->input);
    else ADD("%s/mesh.msh", q->chain.folder);
    ADD("%s/basis.h5", q->chain.folder);
    if (q->material) {
        ADD("--material");
        ADD("%s", q->material);
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
    /* Its own vertices, order and texture coordinates; the mesh has the scale already, and takes no other, and a wrap has no vertex of it. */
    if (q->kind == SURFACE && q->units.scale == 1 && !q->wrap) {
        ADD("--surface");
        ADD("%s", q->input);
        ADD("--surface-unit");
        ADD("%s", q->units.unit->name);
    }
    MODAL_TRY(modaltools_chain_run(&q->chain, &command, &q->failed, err));
    if (!q->failed) MODAL_TRY(read_basis(q, err));
done:
    modaltools_command_free(&command);
    return status;
}

/* Four periods of the mode's frequency, then rest. */
static modal_status write_shaking(quick *q, double period, int axis, modal_error *err)
{
    enum { SHAKEN = 4, POINTS = 40, LINE = 96 };
    char *text = NULL, *to;
    modal_status status = modal_alloc(&text, (SHAKEN * POINTS + 2) * LINE, 1, "shaking", err);
    if (status != MODAL_OK) return status;
    to = text;
    for (int i = 0; i <= SHAKEN * POINTS; i++) {
        double a[3] = {0, 0, 0};
        a[axis] = i % (SHAKEN * POINTS) == 0 ? 0 : sin(2 * M_PI * i / POINTS);
        to += snprintf(to, LINE, "%.9g,%.6g,%.6g,%.6g\n", period * i / POINTS, a[0], a[1], a[2]);
    }
    status = modaltools_chain_write(&q->chain, "shaking.csv", text, err);
    modal_free(&text);
    return status;
}

/* ---- the motion ---- */

/* Numbers in [0, 1) from the seed. */
static double draw(uint64_t *state) { return (double)(modal_mix(*state += 0x9e3779b97f4a7c15u) >> 11) * 0x1p-53; }

/* An impulse of 1 N s at a vertex, into the body. */
static void hit_vertex(const modal_surface *s, int64_t vertex, quick_variation *v)
{
    double sum[3] = {0, 0, 0};
    for (int64_t i = s->face_offsets[vertex]; i < s->face_offsets[vertex + 1]; i++) {
        const int32_t *c = s->triangles + 3 * (int64_t)s->faces[i];
        const double *x = s->rest_positions + 3 * (int64_t)c[0], *y = s->rest_positions + 3 * (int64_t)c[1], *z = s->rest_positions + 3 * (int64_t)c[2];
        for (int k = 0; k < 3; k++) {
            const int a = (k + 1) % 3, b = (k + 2) % 3;
            sum[k] += (y[a] - x[a]) * (z[b] - x[b]) - (y[b] - x[b]) * (z[a] - x[a]);
        }
    }
    const double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    for (int k = 0; k < 3; k++) v->impulse[k] = length > 0 ? -sum[k] / length : k == 1;
    memcpy(v->at, s->rest_positions + 3 * vertex, sizeof v->at);
    v->is_hit = 1;
}

modal_status quick_vary(const quick *q, int64_t number, quick_variation *v, modal_error *err)
{
    const modal_surface *s = &q->basis.shapes[0].surface;
    uint64_t state = (uint64_t)q->seed * 0x2545f4914f6cdd1du + (uint64_t)(number + 1);
    *v = (quick_variation){.number = number, .share = q->share, .damping = 0.02};
    if (s->n_vertices == 0 && (number >= 0 || q->motion == HIT))
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: no surface that could be hit, %s", number < 0 ? "--hit" : "--variations", q->input);
    static const double here[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    double distance;
    if (q->motion == HIT) hit_vertex(s, modal_surface_nearest_vertex(s, here, q->hit, &distance), v);
    if (number < 0) return MODAL_OK;
    v->share *= exp2(2 * draw(&state) - 1);
    v->damping *= exp2(2 * draw(&state) - 1);
    if (q->motion == PLUCK) /* by the user's number, so that variations do not depend on how the basis stores vertices */
        hit_vertex(s, modal_surface_stored_vertex(s, (int64_t)(draw(&state) * (double)s->n_vertices)), v);
    return MODAL_OK;
}

/* The second line: how it moves. */
static void say_motion(const quick *q, const quick_variation *v, double frequency)
{
    static const char *const names[] = {[PLUCK] = "plucked in its lowest modes", [SHAKE] = "shaken", [DROP] = "dropped into gravity"};
    char how[96];
    if (v->number > 0) return;
    if (v->number == 0 && q->motion == PLUCK) snprintf(how, sizeof how, "hit at points of its surface");
    else if (v->is_hit) snprintf(how, sizeof how, "hit at %.4g,%.4g,%.4g", v->at[0], v->at[1], v->at[2]);
    else snprintf(how, sizeof how, "%s", names[q->motion]);
    tool_note(q->t, "lowest mode %.4g Hz; %s, %d periods%s", frequency, how, PERIODS, v->number == 0 ? ", with other amplitudes and damping each time" : "");
}

static modal_status add_loads(quick *q, const quick_variation *v, modaltools_command *command, modal_error *err)
{
    enum { PLUCKED = 4 };
    const modal_modes *m = &q->basis.shapes[0].modes;
    modal_status status = MODAL_OK;
    if (v->is_hit) {
        MODAL_TRY(modaltools_add(command, err, "--impulse"));
        MODAL_TRY(modaltools_add(command, err, "%.9g,%.9g,%.9g:%.6g,%.6g,%.6g", v->at[0], v->at[1], v->at[2], v->impulse[0], v->impulse[1], v->impulse[2]));
        goto done;
    }
    for (int k = 0; q->motion == PLUCK && k < PLUCKED && k < m->n_modes; k++) {
        MODAL_TRY(modaltools_add(command, err, "--initial")); /* softer modes more: as much energy in each */
        MODAL_TRY(modaltools_add(command, err, "%d=%.6g", k, m->frequencies[0] / m->frequencies[k]));
    }
    if (q->motion == SHAKE) {
        MODAL_TRY(modaltools_add(command, err, "--base-acceleration"));
        MODAL_TRY(modaltools_add(command, err, "%s/shaking.csv", q->chain.folder));
    }
    if (q->motion == DROP) {
        MODAL_TRY(modaltools_add(command, err, "--gravity"));
        MODAL_TRY(modaltools_add(command, err, "%s", q->up == 1 ? "0,-9.81,0" : "0,0,-9.81"));
    }
done:
    return status;
}

modal_status quick_move(quick *q, const quick_variation *v, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaltools_command command = {0};
    if (q->motion == MODES) {
        tool_note(q->t, "%d modes, %.4g to %.4g Hz", q->basis.shapes[0].modes.n_modes, q->basis.shapes[0].modes.frequencies[0],
                  q->basis.shapes[0].modes.frequencies[q->basis.shapes[0].modes.n_modes - 1]);
        return MODAL_OK;
    }
    const modal_modes *m = &q->basis.shapes[0].modes;
    const double period = 1 / m->frequencies[0];
    int axis = 0;
    say_motion(q, v, m->frequencies[0]);
    for (int k = 1; k < 3; k++)
        if (fabs(m->participation[k]) > fabs(m->participation[axis])) axis = k;
    if (q->motion == SHAKE && v->number <= 0) MODAL_TRY(write_shaking(q, period, axis, err));
    ADD("modalsim");
    ADD("%s/basis.h5", q->chain.folder);
    ADD("%s/traj.h5", q->chain.folder);
    ADD("--duration");
    ADD("%.6g", PERIODS * period);
    ADD("--fps");
    ADD("%.6g", FRAMES / period);
    ADD("--damping-ratio");
    ADD("%.6g", v->damping);
    ADD("--amplitude");
    if (v->number < 0) ADD("%s", q->amplitude);
    else ADD("%.6g%%", 100 * v->share);
    MODAL_TRY(add_loads(q, v, &command, err));
    if (v->number > 0) ADD("--force");
    MODAL_TRY(modaltools_chain_run(&q->chain, &command, &q->failed, err));
done:
    modaltools_command_free(&command);
    return status;
}

/* ---- what is shown ---- */

const char *quick_shower(const quick *q)
{
    static const char *const tools[] = {
        [FOLDER] = "modaldeform", [FILE_OF_FRAMES] = "modaldeform", [PAGE] = "modalview", [FILM] = "modalrender", [PICTURE] = "modalrender"};
    return tools[q->result];
}

static modal_status add_page(const quick *q, modaltools_command *to, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *copy = NULL;
    MODAL_TRY(modal_copy_text(&copy, q->input, SIZE_MAX, err));
    MODAL_TRY(modaltools_add(to, err, "--title"));
    MODAL_TRY(modaltools_add(to, err, "%s", basename(copy)));
    MODAL_TRY(modaltools_add(to, err, "--up"));
    MODAL_TRY(modaltools_add(to, err, "%c", 'x' + q->up));
    if (q->motion != MODES) {
        MODAL_TRY(modaltools_add(to, err, "--slow-motion"));
        MODAL_TRY(modaltools_add(to, err, "auto"));
    }
done:
    modal_free(&copy);
    return status;
}

/* A film is shown at most at 30 frames a second, a picture where most is seen. */
static modal_status add_pictures(const quick *q, const quick_variation *v, modaltools_command *to, modal_error *err)
{
    static const int seen[] = {[PLUCK] = 0, [SHAKE] = 4 * FRAMES - FRAMES / 4, [DROP] = FRAMES / 2, [MODES] = 8, [HIT] = FRAMES / 4};
    static const char *const looks[] = {"json"}, *const small[] = {"gif"};
    modal_status status = MODAL_OK;
    if (!q->look || tool_ending_find(q->look, looks, 1) < 0) {
        MODAL_TRY(modaltools_add(to, err, "--up"));
        MODAL_TRY(modaltools_add(to, err, "%c", 'x' + q->up));
    }
    if (q->result == PICTURE) {
        MODAL_TRY(modaltools_add(to, err, "--frames"));
        MODAL_TRY(modaltools_add(to, err, "%d", v->is_hit ? seen[HIT] : seen[q->motion]));
    } else if (q->motion != MODES && FRAMES * q->basis.shapes[0].modes.frequencies[0] > 30) {
        MODAL_TRY(modaltools_add(to, err, "--rate"));
        MODAL_TRY(modaltools_add(to, err, "30"));
    }
    if (q->result == FILM) {
        MODAL_TRY(modaltools_add(to, err, "--size"));
        MODAL_TRY(modaltools_add(to, err, tool_ending_find(q->output, small, 1) == 0 ? "480x270" : "640x360"));
    }
done:
    return status;
}

static modal_status add_sequence(const quick *q, modaltools_command *to, modal_error *err)
{
    static const char *const timed[] = {"glb", "mdd"};
    modal_status status = MODAL_OK;
    const int has_times = q->result == FILE_OF_FRAMES ? tool_ending_find(q->output, timed, 2) >= 0
                                                      : q->format && (strstr(q->format, "glb") || strstr(q->format, "mdd"));
    if (q->format && q->result == FOLDER) {
        MODAL_TRY(modaltools_add(to, err, "--format"));
        MODAL_TRY(modaltools_add(to, err, "%s", q->format));
    }
    if (has_vtkhdf(q)) {
        MODAL_TRY(modaltools_add(to, err, "--fields")); /* most formats hold positions alone */
        MODAL_TRY(modaltools_add(to, err, "displacement"));
    }
    if (q->motion != MODES && has_times) { /* they say when */
        MODAL_TRY(modaltools_add(to, err, "--slow-motion"));
        MODAL_TRY(modaltools_add(to, err, "auto"));
    }
done:
    return status;
}

modal_status quick_show(quick *q, const quick_variation *v, modal_error *err)
{
    modal_status status = MODAL_OK;
    modaltools_command command = {0};
    char path[PATH_MAX];
    quick_output(q, v->number, path);
    ADD("%s", quick_shower(q));
    ADD("%s/%s", q->chain.folder, q->motion == MODES ? "basis.h5" : "traj.h5");
    ADD("%s", path);
    MODAL_TRY(q->result == PAGE                              ? add_page(q, &command, err)
              : q->result == FILM || q->result == PICTURE ? add_pictures(q, v, &command, err)
                                                          : add_sequence(q, &command, err));
    if (q->look) {
        ADD("--look");
        ADD("%s", q->look);
    }
    if (q->look && (q->result == FOLDER || q->result == FILE_OF_FRAMES)) {
        ADD("--normals"); /* else viewers show facets */
        ADD("dynamic");
    }
    if (q->turntable) ADD("--turntable");
    if (q->motion == MODES && q->result != PAGE) {
        ADD("--amplitude");
        ADD("%s", q->amplitude);
    }
    if (q->force) ADD("--force");
    MODAL_TRY(modaltools_chain_run(&q->chain, &command, &q->failed, err));
done:
    modaltools_command_free(&command);
    return status;
}
