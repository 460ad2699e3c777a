/* SPDX-License-Identifier: Apache-2.0 */
/* How many frames a batch has, and how many columns of a shape are computed at a time.
 *
 * A slot of about 64 MB amortises launches and copies and is small beside main memory; the scratch
 * arrays between two operations are small enough to stay in a cache. Results do not depend on
 * either number. */
#include "lib/base/memory.h"
#include "lib/deform/deform_private.h"

static const int64_t SLOT_BYTES = INT64_C(64) << 20;
static const int64_t SPLIT_BYTES = INT64_C(8) << 20; /* below it one batch is as good as four */
static const int64_t SCRATCH_BYTES_CPU = INT64_C(1) << 20;
static const int64_t SCRATCH_BYTES_CUDA = INT64_C(32) << 20;

/* A sum of products that remembers an overflow. */
typedef struct tally {
    int64_t bytes;
    int overflow;
} tally;

static void add(tally *sum, int64_t count, int64_t item_bytes)
{
    int64_t product = 0;
    if (!modal_size_multiply(count, item_bytes, &product) ||
        !modal_size_add(sum->bytes, product, &sum->bytes))
        sum->overflow = 1;
}

/* Bytes: for good, for every frame of a batch, and only while a shape is loaded. Device memory that
 * is main memory counts as main memory. */
typedef struct requirements {
    tally host_fixed, host_frame, host_loading, device_fixed, device_frame, device_loading;
} requirements;

static void keep_largest(tally *largest, const tally *other)
{
    largest->overflow |= other->overflow;
    if (other->bytes > largest->bytes) largest->bytes = other->bytes;
}

static void require_shape(const modal_deformer *d, const deform_shape *s, requirements *need)
{
    const int64_t n = s->n_vertices, tiles = modal_tile_count(n);
    const int64_t corners = s->source->face_offsets ? s->source->face_offsets[n] : 0;
    tally loading = {0};
    add(&need->device_fixed, tiles * 96, ((int64_t)s->n_modes + 1) * (int64_t)sizeof(float));
    if (!d->request.stored_order) add(&need->device_fixed, n, sizeof(int32_t));
    if (d->request.normals != MODAL_NORMALS_NONE) { /* rigid ones need the faces only once */
        const int rigid = d->request.normals == MODAL_NORMALS_RIGID;
        tally *table = rigid ? &loading : &need->device_fixed;
        add(table, n + 1, sizeof(int64_t));
        add(table, corners, 2 * sizeof(int32_t));
        if (rigid) {
            add(&loading, n, 3 * sizeof(float));
            add(&need->device_fixed, n, 3 * sizeof(float));
        }
    }
    keep_largest(&need->device_loading, &loading);
    if (d->device.shares_memory) return; /* arrays are written in place */
    loading = (tally){0};
    add(&loading, tiles * 96, sizeof(float));
    keep_largest(&need->host_loading, &loading);
    if (d->request.normals == MODAL_NORMALS_NONE) return;
    loading = (tally){0};
    add(&loading, corners, 2 * sizeof(int32_t));
    keep_largest(&need->host_loading, &loading);
}

/* Bytes of the scratch arrays when each shape has at most about `bytes`, but `least` columns. */
static int64_t choose_chunks(modal_deformer *d, int64_t bytes, int64_t least, int64_t frames)
{
    tally largest = {0};
    for (int32_t i = 0; i < d->n_shapes; i++) {
        deform_shape *s = &d->shapes[i];
        int64_t columns = 0;
        if (!modal_size_multiply(frames, s->n_objects, &columns)) columns = INT64_MAX;
        s->chunk = bytes / (s->n_vertices * 12 + 1) / 16 * 16;
        if (s->chunk < least) s->chunk = least;
        if (s->chunk > columns) s->chunk = columns;
        if (s->chunk < 1) s->chunk = 1;
        tally mine = {0};
        for (int k = 0; k < DEFORM_OUTPUTS; k++)
            if (modal_deform_wants(d, k)) add(&mine, s->chunk * s->n_vertices, 3 * sizeof(float));
        if (mine.bytes > largest.bytes) largest.bytes = mine.bytes;
    }
    return largest.bytes;
}

/* Frames that fit, at most `frames`; bytes of one frame in *one. */
static int64_t frames_that_fit(const requirements *need, int64_t host_limit, int64_t device_limit,
                               int64_t scratch, int shared, int64_t frames, int64_t *host_one,
                               int64_t *device_one)
{
    tally host = need->host_fixed, device = need->device_fixed;
    add(&host, need->host_loading.bytes, 1);
    add(&device, need->device_loading.bytes, 1);
    add(&device, scratch, 1);
    if (shared) add(&host, device.bytes, 1);
    const int64_t host_frame = need->host_frame.bytes + (shared ? need->device_frame.bytes : 0);
    tally one = host;
    add(&one, host_frame, 1);
    *host_one = one.bytes;
    one = device;
    add(&one, need->device_frame.bytes, 1);
    *device_one = one.bytes;
    int64_t fit = frames;
    if (host.bytes > host_limit) return 0;
    if (host_frame > 0 && (host_limit - host.bytes) / host_frame < fit)
        fit = (host_limit - host.bytes) / host_frame;
    if (shared) return fit;
    if (device.bytes > device_limit) return 0;
    if (need->device_frame.bytes > 0 &&
        (device_limit - device.bytes) / need->device_frame.bytes < fit)
        fit = (device_limit - device.bytes) / need->device_frame.bytes;
    return fit;
}

modal_status modal_deform_plan(modal_deformer *d, modal_error *err)
{
    requirements need = {0};
    const int shared = d->device.shares_memory;
    int64_t n_outputs = 0, device_limit = INT64_MAX;
    for (int k = 0; k < DEFORM_OUTPUTS; k++) n_outputs += modal_deform_wants(d, k) != 0;

    for (int32_t i = 0; i < d->n_shapes; i++) require_shape(d, &d->shapes[i], &need);
    add(&need.host_fixed, d->n_shapes, sizeof(deform_shape));
    add(&need.host_fixed, (int64_t)d->n_objects + 1,
        2 * sizeof(int64_t) + 12 * sizeof(double) + sizeof(int32_t));
    tally out = {0}, in = {0};
    add(&out, d->n_points, 3 * (int64_t)sizeof(float) * n_outputs);
    add(&in, d->n_modes, sizeof(float));
    add(&in, d->n_objects, 12 * sizeof(float));
    add(&need.host_frame, out.bytes, DEFORM_SLOTS);
    add(&need.host_frame, in.bytes, DEFORM_SLOTS);
    if (!shared) need.device_frame = need.host_frame;
    add(&need.device_frame, d->n_objects, sizeof(int64_t));
    if (out.overflow | in.overflow | need.host_fixed.overflow | need.host_frame.overflow |
        need.host_loading.overflow | need.device_fixed.overflow | need.device_frame.overflow |
        need.device_loading.overflow)
        return modal_error_set(err, MODAL_ERROR_MEMORY, "deform: the scene is too large: its size "
                                                        "in bytes does not fit 64 bits");

    /* what would be good */
    const int64_t frame_bytes = out.bytes + in.bytes + 1;
    int64_t frames = SLOT_BYTES / frame_bytes;
    if (d->request.n_frames > SPLIT_BYTES / frame_bytes && frames > (d->request.n_frames + 3) / 4)
        frames = (d->request.n_frames + 3) / 4;
    if (frames > d->request.n_frames) frames = d->request.n_frames;
    if (frames < 1) frames = 1;

    /* what fits: scratch arrays give way first, then the frames of a batch */
    const int64_t host_limit = d->request.memory_limit > 0 ? d->request.memory_limit : INT64_MAX;
    if (!shared) {
        modal_status status = modal_device_free_bytes(&d->device, &device_limit, err);
        if (status != MODAL_OK) return status;
        device_limit -= device_limit / 16; /* CUDA's own needs, and fragments */
    }
    const struct {
        int64_t bytes, least;
    } levels[] = {{shared ? SCRATCH_BYTES_CPU : SCRATCH_BYTES_CUDA, shared ? 8 : 16},
                  {0, 4},
                  {0, 1}};
    int64_t host_one = 0, device_one = 0;
    for (int level = 0; level < 3; level++) {
        const int64_t scratch =
            choose_chunks(d, levels[level].bytes, levels[level].least, frames);
        const int64_t fit = frames_that_fit(&need, host_limit, device_limit, scratch, shared,
                                            frames, &host_one, &device_one);
        if (fit < 1) continue;
        d->batch_frames = fit;
        choose_chunks(d, levels[level].bytes, levels[level].least, fit);
        return MODAL_OK;
    }
    if (host_one > host_limit)
        return modal_error_set(err, MODAL_ERROR_MEMORY,
                               "deform: one frame of %lld points needs %lld bytes of main memory, "
                               "the limit is %lld bytes",
                               (long long)d->n_points, (long long)host_one,
                               (long long)host_limit);
    return modal_error_set(err, MODAL_ERROR_MEMORY,
                           "deform: one frame of %lld points needs %lld bytes of memory on %s, "
                           "which has %lld bytes free",
                           (long long)d->n_points, (long long)device_one, d->device.name,
                           (long long)device_limit);
}
