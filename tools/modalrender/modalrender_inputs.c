/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of modalrender, and the files that it names. */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/basis/basis_h5.h"
#include "formats/h5/h5_util.h"
#include "formats/json/look.h"
#include "lib/base/memory.h"
#include "tools/common/endings.h"
#include "tools/common/hdf5_stdin.h"
#include "tools/common/mode_swing.h"
#include "tools/common/quality.h"
#include "tools/common/trajectory_input.h"
#include "tools/modalrender/modalrender.h"

const char *const modalrender_texture_names[MODALRENDER_TEXTURES] = {"auto", "octree", "atlas"};
const char *const modalrender_format_names[MODALRENDER_FORMATS] = {"png", "exr", "y4m", "rgb", "null", "mp4", "gif"};

/* ---- the command line ---- */

/* The place of `text` in names[n]. MODAL_ERROR_USAGE "--OPTION: not one of its values, TEXT". */
static modal_status choose(const tool_arguments *a, const char *option, const char *const *names, int n, int *which, modal_error *err)
{
    const char *text = tool_value(a, option);
    for (*which = 0; *which < n; (*which)++)
        if (strcmp(text, names[*which]) == 0) return MODAL_OK;
    char known[128] = "";
    for (int i = 0; i < n; i++) snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", names[i]);
    return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: none of %s, %s", option, known, text);
}

static modal_status parse_size(const char *text, modalrender_request *r, modal_error *err)
{
    char *end = NULL;
    long sides[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        const char *begin = k == 0 ? text : end + 1;
        sides[k] = *begin >= '0' && *begin <= '9' ? strtol(begin, &end, 10) : -1;
        if (sides[k] < 0 || *end != (k == 0 ? 'x' : '\0'))
            return modal_error_set(err, MODAL_ERROR_USAGE, "--size: not two whole numbers with an x between, %s", text);
        if (sides[k] < 1 || sides[k] > MODAL_RASTER_SIZE)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--size: a side not from 1 to %d pixels, %s", MODAL_RASTER_SIZE, text);
    }
    r->width = (int32_t)sides[0], r->height = (int32_t)sides[1];
    return MODAL_OK;
}

static modal_status parse_buffers(const char *text, modalrender_request *r, modal_error *err)
{
    for (const char *c = text; c;) {
        const size_t length = strcspn(c, ",");
        int i = MODAL_RENDER_COLOUR;
        while (i < MODAL_RENDER_BUFFERS &&
               (strlen(modal_render_arrays[i].name) != length || strncmp(modal_render_arrays[i].name, c, length) != 0))
            i++;
        if (i == MODAL_RENDER_BUFFERS)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--buffers: none of colour, depth, normal, position, motion, object, triangle, %.*s",
                                   (int)length, c);
        if (r->buffers[i]++) return modal_error_set(err, MODAL_ERROR_USAGE, "--buffers: twice, %s", modal_render_arrays[i].name);
        c = c[length] ? c + length + 1 : NULL;
    }
    return MODAL_OK;
}

static modal_status read_shadows(const tool_arguments *a, modalrender_request *r, modal_error *err)
{
    static const char *const kinds[] = {"none", "hard", "vsm"};
    modal_status status = MODAL_OK;
    int64_t size = 0, radius = 0;
    int kind;
    MODAL_TRY(choose(a, "shadow", kinds, 3, &kind, err));
    r->shadows = (modal_shadow_kind)kind;
    MODAL_TRY(tool_integer(a, "shadow-size", 512, 8192, &size, err));
    MODAL_TRY(tool_integer(a, "shadow-width", 0, MODAL_SHADOW_RADIUS, &radius, err));
    if (tool_count(a, "shadow-size") && r->shadows == MODAL_SHADOW_NONE)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shadow-size: there are none, --shadow none");
    if (tool_count(a, "shadow-width") && r->shadows != MODAL_SHADOW_VSM)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shadow-width: only of vsm, --shadow %s", tool_value(a, "shadow"));
    r->shadow_size = (int32_t)size, r->shadow_radius = (int32_t)radius;
done:
    return status;
}

/* What is seen through, and hard edges. */
static modal_status read_materials(const tool_arguments *a, modalrender_request *r, modal_error *err)
{
    static const char *const ways[] = {"sorted", "two-pass"};
    modal_status status = MODAL_OK;
    int way, texture;
    MODAL_TRY(choose(a, "texture", modalrender_texture_names, MODALRENDER_TEXTURES, &texture, err));
    r->texture = (modalrender_texture)texture;
    if (tool_count(a, "texture") && !r->look_path) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--texture: only with --look");
    MODAL_TRY(choose(a, "transparency", ways, 2, &way, err));
    r->transparency = (modal_render_transparency)way;
    MODAL_TRY(tool_number(a, "shadow-alpha", 0, 1, &r->shadow_alpha, err));
    if (tool_count(a, "shadow-alpha") && r->shadows == MODAL_SHADOW_NONE && r->transparency == MODAL_RENDER_SORTED)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shadow-alpha: there are no shadows, --shadow none");
    MODAL_TRY(tool_creases_read(a, &r->creases, err));
    if (r->normals == MODAL_NORMALS_DYNAMIC) return MODAL_OK;
    if (tool_count(a, "crease")) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--crease: needs normals of the deformed surface, --normals %s", r->normals_name);
    r->creases = (modal_crease_rule){.degrees = -1};
done:
    return status;
}

/* The name of one file says which format it is; a format that needs such a name is not for a folder or a pipe. */
static modal_status find_format(const tool_arguments *a, modalrender_request *r, modal_error *err)
{
    static const char *const endings[MODALRENDER_FORMATS] = {
        [MODALRENDER_PNG] = "png", [MODALRENDER_EXR] = "exr", [MODALRENDER_Y4M] = "y4m", [MODALRENDER_MP4] = "mp4", [MODALRENDER_GIF] = "gif"};
    modal_status status = MODAL_OK;
    int format;
    MODAL_TRY(choose(a, "format", modalrender_format_names, MODALRENDER_FORMATS, &format, err));
    const char *name = modalrender_format_names[format];
    const int named = tool_ending_find(r->folder, endings, MODALRENDER_FORMATS);
    if (named >= 0 && tool_count(a, "format") && named != format)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--format: OUT is a .%s, %s", endings[named], name);
    if (named >= 0) format = named;
    r->format = (modalrender_format)format;
    r->one_file = named >= 0;
    r->to_stdout = strcmp(r->folder, "-") == 0;
    if (!r->one_file && (format == MODALRENDER_MP4 || format == MODALRENDER_GIF))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--format: %s is one file, OUT must end with .%s, %s", name, name, r->folder);
    r->streams = format == MODALRENDER_Y4M || format == MODALRENDER_RGB || format == MODALRENDER_MP4 || format == MODALRENDER_GIF;
    if (!r->one_file && r->streams != r->to_stdout)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, r->streams ? "--format: %s goes to standard output, OUT must be -" : "--format: %s needs a folder, OUT is -",
                   name);
    if (r->to_stdout && isatty(STDOUT_FILENO)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "OUT: standard output is a terminal, -");
    if (format == MODALRENDER_MP4 && (r->width | r->height) & 1)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--size: mp4 has colours of 2 x 2 pixels, both sides must be even, %dx%d", r->width, r->height);
done:
    return status;
}

/* Where pictures go. */
static modal_status read_outputs(const tool_arguments *a, modalrender_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    int any = 0;
    MODAL_TRY(find_format(a, r, err));
    const int no_folder = r->to_stdout || r->one_file;
    MODAL_TRY(parse_buffers(tool_value(a, "buffers"), r, err));
    for (int i = 0; i < MODAL_RENDER_BUFFERS; i++) any |= r->buffers[i];
    if (any && (r->to_stdout || (r->one_file && r->format != MODALRENDER_EXR)))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--buffers: need a folder, OUT is %s", r->folder);
    r->deep = strcmp(tool_value(a, "bits"), "16") == 0;
    if (!r->deep && strcmp(tool_value(a, "bits"), "8") != 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--bits: none of 8, 16, %s", tool_value(a, "bits"));
    if (r->deep && r->format != MODALRENDER_PNG) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--bits: 16 only with --format png");
    r->buffers[r->deep ? MODAL_RENDER_DEEP : MODAL_RENDER_PICTURE] = 1;
    r->exr_floats = tool_count(a, "exr-floats") > 0;
    if (r->exr_floats && r->format != MODALRENDER_EXR) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--exr-floats: only with --format exr");
    if (r->format == MODALRENDER_EXR) r->buffers[MODAL_RENDER_COLOUR] = r->buffers[MODAL_RENDER_DEPTH] = 1;
    MODAL_TRY(tool_number(a, "rate", 1e-3, 1e6, &r->rate, err));
    if (no_folder && r->share.n) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shard: needs a folder, OUT is %s", r->folder);
    r->resume = tool_count(a, "resume") > 0;
    if (r->resume && no_folder) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--resume: needs a folder, OUT is %s", r->folder);
    if (r->resume && r->format == MODALRENDER_NULL && !any) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--resume: nothing is written, --format null");
    if (tool_count(a, "rate") && (!r->streams || r->format == MODALRENDER_RGB))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--rate: only of y4m, mp4 and gif, %s", tool_value(a, "rate"));
done:
    return status;
}

modal_status modalrender_read_request(tool *t, modalrender_request *r, modal_error *err)
{
    static const char *const samples[] = {"1", "4", "8"}, *const normals[] = {"none", "rigid", "dynamic"};
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    int which;
    r->input = a->operands[0], r->folder = a->operands[1];
    r->from_stdin = strcmp(r->input, "-") == 0;
    r->basis_path = tool_value(a, "basis");
    r->look_path = tool_value(a, "look");
    r->any_path = tool_count(a, "any-path");
    r->turntable = tool_count(a, "turntable");
    static const char *const axes[] = {"y", "z"}, *const looks[] = {"json"};
    MODAL_TRY(choose(a, "up", axes, 2, &which, err));
    r->up_y = which == 0;
    if (r->look_path && tool_count(a, "up") && tool_ending_find(r->look_path, looks, 1) == 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--up: the cameras of a LOOK.json have it, %s", r->look_path);
    if (r->any_path && !r->look_path) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--any-path: only with --look");
    r->camera = tool_value(a, "camera");
    if (r->camera && !r->look_path) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--camera: only with --look, which has cameras, %s", r->camera);
    r->back_end = tool_value(a, "backend");
    MODAL_TRY(parse_size(tool_value(a, "size"), r, err));
    MODAL_TRY(choose(a, "samples", samples, 3, &which, err));
    r->samples = which == 0 ? 1 : which == 1 ? 4 : 8;
    MODAL_TRY(read_shadows(a, r, err));
    if (tool_value(a, "shard")) MODAL_TRY(tool_share_parse(tool_value(a, "shard"), &r->share, err));
    MODAL_TRY(modalrender_read_pick(a, r, err));
    if (!r->picks) MODAL_TRY(read_outputs(a, r, err));
    r->normals_name = tool_value(a, "normals");
    MODAL_TRY(choose(a, "normals", normals + 1, 2, &which, err));
    r->normals = which == 0 ? MODAL_NORMALS_RIGID : MODAL_NORMALS_DYNAMIC;
    MODAL_TRY(read_materials(a, r, err));
    r->modes = tool_value(a, "modes");
    MODAL_TRY(tool_percent(a, "amplitude", &r->amplitude, err));
    r->swings = r->modes || tool_count(a, "amplitude");
    MODAL_TRY(tool_slice_parse(tool_value(a, "frames"), &r->frames, err));
    MODAL_TRY(tool_size(a, "memory-limit", &r->memory_limit, err));
    if (tool_value(a, "memory-limit") && r->memory_limit <= 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--memory-limit: must be positive, %s", tool_value(a, "memory-limit"));
    r->force = tool_count(a, "force") > 0;
    MODAL_TRY(tool_threads(t, &r->threads, err));
    omp_set_num_threads(r->threads); /* the CPU back end takes it from the thread that opens it */
done:
    return status;
}

/* ---- the files ---- */

/* A basis is drawn at rest: one frame of it. */
static modal_status rest_trajectory(modalrender_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory *q = &in->trajectory;
    q->n_objects = in->basis.n_objects;
    q->n_frames = 1;
    MODAL_TRY(modal_alloc(&q->mode_offsets, (int64_t)q->n_objects + 1, sizeof *q->mode_offsets, "modes", err));
    modal_basis_mode_offsets(&in->basis, q->mode_offsets);
    MODAL_TRY(modal_alloc_zero(&q->times, 1, sizeof *q->times, "times", err));
    MODAL_TRY(modal_alloc_zero(&q->q, q->mode_offsets[q->n_objects], sizeof *q->q, "coordinates", err));
    memcpy(q->basis_hash, in->basis.hash, sizeof q->basis_hash);
    memcpy(in->trajectory_hash, in->basis.hash, sizeof in->trajectory_hash);
done:
    return status;
}

/* Its modes swing, one after the other. */
static modal_status swing(const modalrender_request *r, modalrender_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *list = NULL, n = 0;
    MODAL_TRY(tool_swing_list(r->modes, &in->basis, &list, &n, err));
    if (n == 0) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--amplitude: the basis has no modes, %s", r->input);
    const tool_swing swinging = {.path = in->basis_path, .source = {modal_basis_tiles_read, in->tiles}, .amplitude = r->amplitude, .list = list, .n = n,
                                 .n_frames = (int64_t)n * TOOL_SWING_FRAMES};
    MODAL_TRY(tool_swing_make(&swinging, &in->basis, &in->trajectory, err));
    memcpy(in->trajectory_hash, in->basis.hash, sizeof in->trajectory_hash);
done:
    modal_free(&list);
    return status;
}

static modal_status read_basis(const modalrender_request *r, modalrender_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *given = r->of_basis ? r->input : r->basis_path;
    MODAL_TRY(tool_find_basis(given, r->input, &in->trajectory, &in->basis_path, err));
    MODAL_TRY(modal_basis_read(in->basis_path, MODAL_BASIS_SURFACE | MODAL_BASIS_LOOK, &in->basis, err));
    MODAL_TRY(modal_basis_tiles_open(&in->tiles, in->basis_path, &in->basis, &in->hdf5, err));
    if (r->of_basis) MODAL_TRY(r->swings ? swing(r, in, err) : rest_trajectory(in, err));
    if (modal_trajectory_check_basis(&in->trajectory, &in->basis, err) != MODAL_OK) {
        modal_error_context(err, "%s", r->input);
        status = err->status;
    }
done:
    return status;
}

/* Where there is no look: something warm and light, seen from both sides, above a darker floor. */
static modal_status plain_look(modal_look *look, modal_error *err)
{
    static const char text[] =
        "{\"look\": 1, \"materials\": {\"plain\": {\"diffuse\": [0.62, 0.55, 0.46], \"specular\": [0.25, 0.25, 0.25], \"shininess\": 30, "
        "\"two_sided\": true}, \"floor\": {\"diffuse\": [0.2, 0.22, 0.25], \"ambient\": [0.22, 0.26, 0.32], \"two_sided\": true}}, \"default\": \"plain\", "
        "\"ambient\": [0.3, 0.32, 0.36], \"lights\": [{\"direction\": [0.8, 1, -1.9], \"colour\": [0.95, 0.92, 0.88]}, "
        "{\"direction\": [-1, 0.5, -0.3], \"colour\": [0.2, 0.23, 0.3], \"shadow\": false}], \"cameras\": [{\"direction\": [-0.6, 1, -0.45]}], "
        "\"ground\": {\"material\": \"floor\"}, \"background\": [0.2, 0.24, 0.3]}";
    return modal_look_parse(text, sizeof text - 1, "plain look", 0, look, err);
}

static modal_status find_camera(const modalrender_request *r, modalrender_input *in, modal_error *err)
{
    const modal_look *look = &in->look.look;
    char names[256] = "";
    for (int32_t i = 0; i < look->n_cameras; i++) {
        in->camera = &look->cameras[i];
        const char *name = in->camera->name;
        if (!r->camera || (name && strcmp(name, r->camera) == 0)) return MODAL_OK;
        if (name) snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", *names ? ", " : "", name);
    }
    return modal_error_set(err, MODAL_ERROR_USAGE, "--camera: %s has none of that name (there are: %s), %s", r->look_path, names, r->camera);
}

/* The lowest point along `up` of the undeformed objects in the first frame. */
static double lowest_point(const modalrender_input *in, const double up[3])
{
    double lowest = INFINITY;
    const modal_trajectory *q = &in->trajectory;
    for (int32_t i = 0; i < in->basis.n_objects; i++) {
        const modal_object *o = &in->basis.objects[i];
        const modal_surface *s = &in->basis.shapes[o->shape].surface;
        const double *pose = q->poses ? q->poses + 12 * (int64_t)i : o->rest_pose;
        double row[3], shift = 0.0;
        for (int k = 0; k < 3; k++) row[k] = up[0] * pose[k] + up[1] * pose[4 + k] + up[2] * pose[8 + k];
        for (int k = 0; k < 3; k++) shift += up[k] * pose[4 * k + 3];
        for (int64_t v = 0; v < s->n_vertices; v++) {
            const double *p = s->rest_positions + 3 * v;
            lowest = fmin(lowest, row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + shift);
        }
    }
    return isfinite(lowest) ? lowest : 0.0;
}

/* `plain`: without a look, a little below, so that what swings down stays in sight, and wide. */
static void place_ground(const modalrender_input *in, const modal_render_bounds *bounds, int plain, modal_render_ground *ground)
{
    const modal_look *look = &in->look.look;
    const double *up = look->cameras[0].up, length = sqrt(up[0] * up[0] + up[1] * up[1] + up[2] * up[2]);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) ground->up[k] = up[k] / length, ground->centre[k] = 0.0;
    for (int32_t i = 0; i < bounds->n; i++)
        for (int k = 0; k < 3; k++) low[k] = fmin(low[k], bounds->boxes[i][2 * k]), high[k] = fmax(high[k], bounds->boxes[i][2 * k + 1]);
    const double *axes[3] = {bounds->right, bounds->up, bounds->ahead};
    for (int a = 0; a < 3 && low[0] <= high[0]; a++)
        for (int k = 0; k < 3; k++) ground->centre[k] += axes[a][k] * 0.5 * (low[a] + high[a]);
    ground->tile = look->ground_tile > 0.0 ? look->ground_tile : 1.0;
    ground->height = look->ground_fitted ? lowest_point(in, ground->up) : look->ground_height;
    const double size = modal_render_bounds_size(bounds);
    if (plain) ground->height -= 0.04 * size;
    ground->size = look->ground_size > 0.0 ? look->ground_size : (plain ? 60.0 : 10.0) * size;
}

/* What is made for z upwards, cameras and lights, for y upwards. */
static void turn_upwards(modal_look *look)
{
    for (int32_t i = 0; i < look->n_cameras + look->n_lights; i++) {
        double *const both[] = {i < look->n_cameras ? look->cameras[i].direction : look->lights[i - look->n_cameras].direction,
                                i < look->n_cameras ? look->cameras[i].up : NULL};
        for (int k = 0; k < 2; k++) {
            if (!both[k]) continue;
            const double y = both[k][1];
            both[k][1] = both[k][2], both[k][2] = -y;
        }
    }
}

/* Scene and views. */
static modal_status set_scene(modalrender_request *r, modalrender_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_render_bounds bounds = {0};
    modal_render_ground ground;
    double direction[3];
    const modal_look *look = &in->look.look;
    const modal_matrix_source source = {modal_basis_tiles_read, in->tiles};
    for (int k = 0; k < 3; k++)
        direction[k] = in->camera->fitted ? in->camera->direction[k] : in->camera->target[k] - in->camera->eye[k];
    /* of all frames, whichever are wanted: a part of them has the pictures of the whole */
    MODAL_TRY(modal_render_bounds_new(&bounds, direction, in->camera->up, &in->basis, &source, &in->trajectory, err));
    if (in->given) MODAL_TRY(modalrender_given_bounds(in, &bounds, err));
    place_ground(in, &bounds, !r->look_path, &ground);
    const modal_render_scene_request scene = {.basis = &in->basis, .look = look, .images = in->images.of_material ? &in->images : NULL,
                                              .ground = look->ground_material >= 0 ? &ground : NULL, .shadow_alpha = r->shadow_alpha,
                                              .creases = r->creases};
    MODAL_TRY(modal_render_scene_new(&in->scene, &scene, err));
    in->n_views = in->camera->n_keys > 0 || r->turntable ? in->n : 1;
    MODAL_TRY(modal_alloc(&in->views, in->n_views, sizeof *in->views, "views", err));
    for (int64_t i = 0; i < in->n_views; i++) {
        const double t = in->trajectory.times[in->start + i * in->step];
        modal_raster_view *v = &in->views[i];
        *v = r->turntable ? modal_render_turned_view(in->camera, t, (double)(in->start + i * in->step) / (double)in->trajectory.n_frames, &bounds,
                                                    r->width, r->height)
                          : modal_render_view(in->camera, t, &bounds, r->width, r->height);
        for (int k = 0; k < 3; k++) /* between keys, or where float32 ends */
            if (!isfinite(v->origin[k]) || !isfinite(v->x[k]) || !isfinite(v->y[k]))
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "cameras: at %g s eye and target are one point, `up` lies along the view, or it stands too far away, %s",
                           t, in->camera->name ? in->camera->name : "the first one");
    }
done:
    modal_render_bounds_free(&bounds);
    return status;
}

/* The frames that are wanted, and of these the share. */
static modal_status select_frames(tool *t, const modalrender_request *r, modalrender_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (r->picks && r->pick[2] >= in->trajectory.n_frames)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--pick: the trajectory has frames 0 to %" PRId64 ", %" PRId64, in->trajectory.n_frames - 1, r->pick[2]);
    MODAL_TRY(tool_slice_select(&r->frames, in->trajectory.n_frames, "the trajectory", &in->start, &in->step, &in->n, err));
    in->n_all = in->n;
    in->lead = 0;
    if (r->picks) in->start = r->pick[2], in->n = 1;
    if (r->one_file && !r->streams && in->n > 1) { /* one picture: the first frame, unless some were asked for */
        if (tool_count(&t->arguments, "frames"))
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--frames: %s holds one frame, more need a folder OUT, %s (%" PRId64 " frames)", r->folder,
                       tool_value(&t->arguments, "frames"), in->n);
        tool_note(t, "%s: frame %" PRId64 " of %" PRId64 " (--frames takes another one)", r->folder, in->start, in->n);
        in->n = in->n_all = 1;
    }
    if (r->turntable && in->trajectory.n_frames < 2) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--turntable: one frame does not turn, %s", r->input);
    if (r->share.n == 0) return MODAL_OK;
    if (r->share.n > in->n)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shard: there are only %" PRId64 " frames, %" PRId64 "/%" PRId64, in->n, r->share.index, r->share.n);
    in->number = modal_share_first(in->n_all, r->share.index, r->share.n);
    in->n = modal_share_first(in->n_all, r->share.index + 1, r->share.n) - in->number;
    in->start += in->number * in->step;
    if (r->buffers[MODAL_RENDER_MOTION] && in->number > 0) /* the first one moves from the one before */
        in->lead = 1, in->number--, in->start -= in->step, in->n++;
done:
    return status;
}

modal_status modalrender_read_inputs(tool *t, modalrender_request *r, modalrender_input *in, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *kind = NULL;
    const double start = tool_seconds();
    MODAL_TRY(tool_take_hdf5(&r->input, err));
    MODAL_TRY(modal_h5_file_kind(r->input, &kind, err));
    r->of_basis = kind && strcmp(kind, "basis") == 0;
    if (r->of_basis && r->basis_path)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--basis: goes with a trajectory, but this is a basis, %s", r->input);
    if (!r->of_basis && r->swings) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--modes, --amplitude: of a basis, but this is none, %s", r->input);
    if (kind && (strcmp(kind, "snapshots") == 0 || strcmp(kind, "sequence") == 0)) {
        MODAL_TRY(modalrender_read_given(t, r, in, kind, err));
    } else {
        if (!r->of_basis) MODAL_TRY(tool_read_trajectory(r->input, &in->trajectory, in->trajectory_hash, err));
        MODAL_TRY(read_basis(r, in, err));
    }
    MODAL_TRY(tool_creases_check(t, r->creases, &in->basis, in->basis_path ? in->basis_path : r->input, err));
    MODAL_TRY(select_frames(t, r, in, err));
    if (r->look_path) {
        MODAL_TRY(tool_look_read(r->look_path, NULL, r->any_path, &in->look, NULL, err));
        MODAL_TRY(tool_look_uv(&in->look, r->look_path, &in->basis, err));
    } else {
        MODAL_TRY(plain_look(&in->look.look, err));
    }
    if (r->up_y) turn_upwards(&in->look.look);
    MODAL_TRY(find_camera(r, in, err));
    status = modal_look_check_basis(&in->look.look, &in->basis, err);
    if (status == MODAL_OK) status = modalrender_read_images(t, r, in, err);
    if (status == MODAL_OK) status = set_scene(r, in, err);
    if (status == MODAL_ERROR_INPUT && r->look_path) modal_error_context(err, "%s", r->look_path);
    if (in->scene.n_unpainted)
        tool_warn(t, "%s: %d object%s without the texture coordinates that images need: drawn in their materials' colours", r->look_path,
                  in->scene.n_unpainted, in->scene.n_unpainted == 1 ? "" : "s");
    if (r->of_basis) tool_say_assumed(t, r->input, in->basis.provenance, in->basis.n_provenance);
    else tool_say_assumed(t, r->input, in->trajectory.provenance, in->trajectory.n_provenance);
    tool_stage(t, "read", tool_seconds() - start, -1);
done:
    modal_free(&kind);
    return status;
}

void modalrender_free_inputs(modalrender_input *in)
{
    in->given = modalrender_given_delete(in->given);
    modal_render_scene_free(&in->scene);
    modalrender_free_images(in);
    modal_free(&in->views);
    tool_look_free(&in->look);
    in->tiles = modal_basis_tiles_close(in->tiles);
    modal_basis_free(&in->basis);
    modal_trajectory_free(&in->trajectory);
    modal_free(&in->basis_path);
}
