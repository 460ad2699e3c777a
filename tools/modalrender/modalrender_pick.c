/* SPDX-License-Identifier: Apache-2.0 */
/* --pick: what is at a pixel, in the words that a scene's forces use (formats/scene.md). */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/modalrender/modalrender.h"

modal_status modalrender_read_pick(const tool_arguments *a, modalrender_request *r, modal_error *err)
{
    static const char *const none[] = {"format", "buffers", "bits", "exr-floats", "rate", "frames", "shard", "samples", "resume"};
    const char *text = tool_value(a, "pick");
    char *end = NULL;
    if (!text) return MODAL_OK;
    for (int k = 0; k < 3; k++) {
        const char *begin = k == 0 ? text : end + 1;
        r->pick[k] = *begin >= '0' && *begin <= '9' ? strtoll(begin, &end, 10) : -1;
        if (r->pick[k] < 0 || (*end && (*end != ',' || k == 2)))
            return modal_error_set(err, MODAL_ERROR_USAGE, "--pick: not X,Y or X,Y,FRAME, whole numbers from 0 on, %s", text);
        if (!*end && k > 0) break;
        if (!*end) return modal_error_set(err, MODAL_ERROR_USAGE, "--pick: not X,Y or X,Y,FRAME, whole numbers from 0 on, %s", text);
    }
    if (r->pick[0] >= r->width || r->pick[1] >= r->height)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--pick: outside of a picture of %d x %d, %s", r->width, r->height, text);
    if (strcmp(r->folder, "-") != 0) return modal_error_set(err, MODAL_ERROR_USAGE, "--pick: goes to standard output, OUT must be -, %s", r->folder);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (tool_count(a, none[i])) return modal_error_set(err, MODAL_ERROR_USAGE, "--pick: draws no pictures, --%s", none[i]);
    r->picks = 1;
    r->to_stdout = 1; /* no notes between */
    r->samples = 1;   /* the middle of the pixel */
    r->format = MODALRENDER_NULL;
    return MODAL_OK;
}

/* Weights of a triangle's corners at a point of its plane. */
static void weigh(const double corners[3][3], const double point[3], double weights[3])
{
    double a[3], b[3], p[3], aa = 0, ab = 0, bb = 0, pa = 0, pb = 0;
    for (int k = 0; k < 3; k++) a[k] = corners[1][k] - corners[0][k], b[k] = corners[2][k] - corners[0][k], p[k] = point[k] - corners[0][k];
    for (int k = 0; k < 3; k++) aa += a[k] * a[k], ab += a[k] * b[k], bb += b[k] * b[k], pa += p[k] * a[k], pb += p[k] * b[k];
    const double area = aa * bb - ab * ab;
    weights[1] = area > 0.0 ? (bb * pa - ab * pb) / area : 0.0;
    weights[2] = area > 0.0 ? (aa * pb - ab * pa) / area : 0.0;
    weights[0] = 1.0 - weights[1] - weights[2];
}

static json_t *three(const double p[3]) { return json_pack("[f,f,f]", p[0], p[1], p[2]); }

/* Adds what a triangle says of the point. t: of the scene. */
static void describe(const modalrender_input *in, int32_t object, int64_t t, const double world[3], json_t *to)
{
    const modal_object *o = &in->basis.objects[object];
    const modal_shape *shape = &in->basis.shapes[o->shape];
    const modal_surface *s = &shape->surface;
    const double *pose = in->trajectory.poses ? in->trajectory.poses + 12 * (int64_t)object : o->rest_pose;
    double corners[3][3], weights[3], rest[3] = {0, 0, 0}, placed[3], nearest = INFINITY;
    int32_t vertex = -1, of[3];
    const int64_t local = t - in->scene.object_triangles[object];
    for (int i = 0; i < 3; i++) {
        double square = 0.0;
        of[i] = s->triangles[3 * local + i];
        for (int k = 0; k < 3; k++) corners[i][k] = (double)in->points[3 * (int64_t)in->scene.triangles[3 * t + i] + k];
        for (int k = 0; k < 3; k++) square += (corners[i][k] - world[k]) * (corners[i][k] - world[k]);
        if (square < nearest) nearest = square, vertex = s->user_vertex[of[i]];
    }
    weigh((const double(*)[3])corners, world, weights);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) rest[k] += weights[i] * s->rest_positions[3 * (int64_t)of[i] + k];
    for (int k = 0; k < 3; k++) placed[k] = pose[4 * k] * rest[0] + pose[4 * k + 1] * rest[1] + pose[4 * k + 2] * rest[2] + pose[4 * k + 3];
    json_object_set_new(to, "object", json_integer(object));
    json_object_set_new(to, "shape", shape->name ? json_string(shape->name) : json_integer(o->shape));
    json_object_set_new(to, "triangle", json_integer(s->user_triangle[local]));
    json_object_set_new(to, "vertex", json_integer(vertex));
    json_object_set_new(to, "point", three(placed));
    json_object_set_new(to, "rest", three(rest));
}

modal_status modalrender_write_pick(const modalrender_request *r, const modalrender_input *in, float *const arrays[MODAL_RENDER_BUFFERS], modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t pixel = r->pick[1] * r->width + r->pick[0];
    const int32_t object = ((const int32_t *)arrays[MODAL_RENDER_OBJECT])[pixel];
    const int32_t triangle = ((const int32_t *)arrays[MODAL_RENDER_TRIANGLE])[pixel];
    double world[3];
    char *text = NULL;
    json_t *said = json_pack("{s:[I,I],s:I,s:f}", "pixel", (json_int_t)r->pick[0], (json_int_t)r->pick[1], "frame", (json_int_t)r->pick[2], "time",
                             in->trajectory.times[in->start]);
    for (int k = 0; k < 3; k++) world[k] = (double)arrays[MODAL_RENDER_POSITION][3 * pixel + k];
    if (object < 0) {
        json_object_set_new(said, "object", json_null()); /* nothing, or the ground */
    } else {
        describe(in, object, triangle, world, said);
        json_object_set_new(said, "world", three(world));
    }
    text = json_dumps(said, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (!text) MODAL_FAIL(err, MODAL_ERROR_MEMORY, "--pick: no memory for its text, %lld", (long long)pixel);
    MODAL_TRY(tool_write_stdout(text, strlen(text), err));
    MODAL_TRY(tool_write_stdout("\n", 1, err));
done:
    json_decref(said);
    free(text);
    return status;
}
