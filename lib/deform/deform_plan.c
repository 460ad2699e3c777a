/* SPDX-License-Identifier: Apache-2.0 */
/* How many frames a batch has, how many columns of a shape are computed at a time, and which modal
 * matrices stay outside the device, so that ranges of their tiles pass through it.
 *
 * A slot of about 64 MB amortises launches and copies and is small beside main memory; the scratch
 * arrays between two operations are small enough to stay in a cache. Where a matrix stays outside,
 * it is read once for all columns in the scratch arrays: then these have a whole batch, and a batch
 * is as large as memory allows, up to where reading the matrix no longer counts. Results do not depend
 * on any of this. */
#include <omp.h>
#include <string.h>
#include <unistd.h>

#include "kernels/device.h"
#include "lib/base/memory.h"
#include "lib/deform/deform_private.h"

static const int64_t SLOT_BYTES = INT64_C(64) << 20;
static const int64_t MOST_TOGETHER_BYTES = INT64_C(512) << 20;
static const int64_t SPLIT_BYTES = INT64_C(8) << 20; /* below it one batch is as good as four */
/* Columns that the kernels of a CPU take at once: on it a batch of 26 frames costs as much as one of 32, and its memory is new pages. */
enum { BLOCK_COLUMNS = 16 };
static const int64_t SCRATCH_BYTES_CPU = INT64_C(1) << 20;
static const int64_t RANGE_BYTES_CPU = INT64_C(1) << 20; /* positions of a range and thread, which stay in a cache */
static const int64_t SCRATCH_BYTES_CUDA = INT64_C(32) << 20;
/* A byte of U from a file, or from memory that is not pinned, takes about as long as so many from
 * pinned memory. */
enum { SOURCE_COST = 8 };

/* A way to run: what the levels below fill in, from the best to the smallest. */
typedef struct attempt {
    int n_slots;
    int64_t scratch_bytes; /* about, of each scratch array... */
    int64_t least_columns; /* ... but this many columns */
    int whole_batches;     /* of shapes whose U is outside: scratch arrays for all columns */
    int64_t range_bytes;   /* of a buffer that U passes through */
    int64_t outside_from;  /* shapes whose U has as many bytes have it outside */
    matrix_place outside;
} attempt;

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

static void keep_largest(tally *largest, const tally *other)
{
    largest->overflow |= other->overflow;
    if (other->bytes > largest->bytes) largest->bytes = other->bytes;
}

/* Bytes for good, only while shapes are loaded, and of the arrays that are made after that. */
typedef struct needs {
    tally fixed, loading, arrays;
} needs;

static int64_t matrix_bytes(const deform_unit *s)
{
    return modal_deform_matrix_floats(s) * (int64_t)sizeof(float); /* it exists somewhere: it fits */
}

/* What a pack needs more than a shape of its size does. */
static void need_pack(const deform_engine *d, const deform_unit *s,
                      const modal_deform_tables *tables, needs *host, needs *device)
{
    const modal_object_pack *p = &s->records;
    const int64_t records = p->n_tiles * (int64_t)sizeof *p->tiles +
                            p->n_mixed * (int64_t)(32 * sizeof *p->lanes);
    tally rest = {0}, matrix = {0};
    add(&host->fixed, s->n_members, sizeof(modal_pack_object));
    add(&host->fixed, records, 1);
    if (!d->device.shares_memory) add(&device->fixed, records, 1);
    if (tables->once) add(&device->fixed, s->n_vertices, sizeof(int32_t)); /* whose they are */
    for (int64_t i = 0; i < s->n_members; i++)
        add(&rest, modal_tile_count(s->members[i].n_vertices) * 96, sizeof(float));
    if (d->request.matrix.read) add(&matrix, modal_deform_member_floats(s), sizeof(float));
    if (s->place == MATRIX_AT_SOURCE) keep_largest(&host->arrays, &matrix); /* for every batch */
    if (s->place == MATRIX_ON_DEVICE && !d->device.shares_memory) add(&matrix, matrix_bytes(s), 1);
    if (!d->device.shares_memory) add(&rest, p->n_tiles * (int64_t)96, sizeof(float));
    keep_largest(&host->loading, &rest);
    keep_largest(&host->loading, &matrix);
}

static void need_shape(const deform_engine *d, const deform_unit *s, needs *host, needs *device)
{
    const int64_t n = s->n_vertices, corners = s->n_corners;
    const int64_t tiles = s->packed ? s->records.n_tiles : modal_tile_count(n);
    tally loading = {0};
    if (s->place == MATRIX_ON_DEVICE) add(&device->fixed, matrix_bytes(s), 1);
    if (s->place == MATRIX_IN_MEMORY) add(&host->fixed, matrix_bytes(s), 1);
    add(&device->fixed, tiles * 96, sizeof(float));
    if (!d->request.stored_order || s->packed) add(&device->fixed, n, sizeof(int32_t));
    if (!d->request.stored_order && !s->packed && modal_deform_places(d))
        add(&device->fixed, n, sizeof(int32_t)); /* both ways */
    const modal_deform_tables tables = modal_deform_tables_of(d);
    if (s->packed) need_pack(d, s, &tables, host, device);
    const int64_t rest = tables.rest_normals ? 3 : 0, rest_tangents = tables.rest_tangents ? 4 : 0;
    add(&device->fixed, n, (rest + rest_tangents) * (int64_t)sizeof(float));
    if (tables.once || tables.kept) {
        tally *table = tables.kept ? &device->fixed : &loading;
        add(table, n + 1, sizeof(int64_t));
        add(table, corners, 2 * sizeof(int32_t));
        if (tables.weights) add(table, corners, 4 * sizeof(float));
        if (tables.ring && tables.weights) { /* both: a ring is no larger than the corners */
            add(table, n + 1, sizeof(int64_t));
            add(table, corners, 2 * sizeof(int32_t));
        }
        if (tables.ring && !tables.weights) { /* until the ring is there */
            add(&loading, n + 1, sizeof(int64_t));
            add(&loading, corners, 2 * sizeof(int32_t));
        }
        if (tables.once) add(&loading, n, 6 * sizeof(float)); /* rest positions, and normals */
    }
    keep_largest(&device->loading, &loading);
    loading = (tally){0};
    if (tables.weights) add(&loading, corners, sizeof(int32_t)); /* faces of the corners */
    if (!d->device.shares_memory) {                              /* else written in place */
        tally tiles_loading = {0};
        add(&tiles_loading, tiles * 96, sizeof(float));
        keep_largest(&host->loading, &tiles_loading);
        if (tables.once || tables.kept)
            add(&loading, corners, (tables.weights ? 6 : 2) * sizeof(float));
        if (tables.ring) add(&loading, corners, 2 * sizeof(int32_t));
        if (tables.ring) add(&loading, n + 1, sizeof(int64_t));
        if (tables.ring && modal_deform_places(d)) { /* the corners in the user's order */
            add(&loading, n + 1, sizeof(int64_t) + sizeof(int32_t));
            add(&loading, corners, 2 * sizeof(int32_t));
        }
    }
    keep_largest(&host->loading, &loading);
}

/* Sets chunk, place and range of every shape; the scratch arrays and buffers that follow. */
static void choose(deform_engine *d, const attempt *a, int64_t frames, needs *host, needs *device)
{
    tally scratch[DEFORM_OUTPUTS] = {{0}}, turned = {0}, part = {0}, base = {0};
    d->range_floats = d->stages_ranges = 0;
    for (int32_t i = 0; i < d->n_shapes; i++) {
        deform_unit *s = &d->shapes[i];
        int64_t columns = 0;
        if (!modal_size_multiply(frames, s->n_columns, &columns)) columns = INT64_MAX;
        s->place = matrix_bytes(s) >= a->outside_from ? a->outside : MATRIX_ON_DEVICE;
        s->chunk = a->scratch_bytes / (s->n_vertices * 12 + 1) / 16 * 16;
        if (s->chunk < a->least_columns) s->chunk = a->least_columns;
        if (s->place != MATRIX_ON_DEVICE && a->whole_batches) s->chunk = columns;
        if (s->chunk > columns) s->chunk = columns;
        if (s->chunk < 1) s->chunk = 1;
        for (int k = 0; k < DEFORM_OUTPUTS; k++) {
            tally mine = {0};
            add(&mine, s->n_vertices, modal_deform_scratch_width(d, s, k) * (int64_t)sizeof(float));
            mine.overflow |= !modal_size_multiply(mine.bytes, s->chunk, &mine.bytes);
            keep_largest(&scratch[k], &mine);
        }
        tally mine = {0};
        if (d->device.shares_memory) add(&mine, s->chunk, (s->n_modes + (int64_t)12) * (int64_t)sizeof(float));
        keep_largest(&turned, &mine);
        if (s->place == MATRIX_ON_DEVICE && !s->scatters) continue;
        if (!d->device.shares_memory && s->place == MATRIX_AT_SOURCE) d->stages_ranges = 1;
        if (s->packed) {
            s->range_tiles = s->records.n_tiles;
            if (s->records.matrix_floats > d->range_floats)
                d->range_floats = s->records.matrix_floats;
            continue;
        }
        const int64_t tiles = modal_tile_count(s->n_vertices);
        const int64_t tile = (int64_t)s->n_modes * 96 * (int64_t)sizeof(float);
        s->range_tiles = s->place == MATRIX_ON_DEVICE ? RANGE_BYTES_CPU * omp_get_max_threads() / (s->chunk * 96 * (int64_t)sizeof(float))
                                                       : a->range_bytes / (tile > 0 ? tile : 1);
        if (s->range_tiles < 1) s->range_tiles = 1;
        if (s->range_tiles > tiles) s->range_tiles = tiles;
        mine = (tally){0};
        add(&mine, s->range_tiles * 96, (int64_t)sizeof(float) * (1 + modal_deform_reorders(d)));
        mine.overflow |= !modal_size_multiply(mine.bytes, s->chunk, &mine.bytes);
        keep_largest(&part, &mine);
        add(&base, s->chunk, sizeof(int64_t));
        if (s->place == MATRIX_ON_DEVICE) continue;
        const int in_place = d->device.shares_memory && !d->request.matrix.read;
        if (!in_place && s->range_tiles * s->n_modes * 96 > d->range_floats)
            d->range_floats = s->range_tiles * s->n_modes * 96;
    }
    for (int k = 0; k < DEFORM_OUTPUTS; k++) {
        add(&device->arrays, scratch[k].bytes, 1);
        device->arrays.overflow |= scratch[k].overflow;
    }
    add(&device->arrays, turned.bytes, 1);
    add(&device->arrays, part.bytes, 1);
    add(&device->arrays, base.bytes, 1);
    add(&device->arrays, d->range_floats, 2 * sizeof(float));
    if (d->stages_ranges) add(&host->arrays, d->range_floats, 2 * sizeof(float));
    device->arrays.overflow |= turned.overflow | part.overflow;
}

/* Applies an attempt for so many frames a batch: main memory and device memory that it takes.
 * Device memory that is main memory counts as main memory. Returns 0 on overflow. */
static int measure(deform_engine *d, const attempt *a, int64_t frames, int64_t *host_bytes,
                   int64_t *device_bytes)
{
    const int shared = d->device.shares_memory;
    needs host = {0}, device = {0};
    tally in = {0};
    choose(d, a, frames, &host, &device);
    for (int32_t i = 0; i < d->n_shapes; i++) need_shape(d, &d->shapes[i], &host, &device);
    add(&host.loading, modal_deform_load_buffer_bytes(d), 1);
    add(&host.fixed, d->n_shapes, sizeof(deform_unit));
    add(&host.fixed, d->n_members, sizeof(deform_member));
    add(&host.fixed, (int64_t)d->n_objects + 1,
        2 * sizeof(int64_t) + 12 * sizeof(double) + sizeof(int32_t));
    add(&in, d->n_modes, (1 + (d->request.speed != MODAL_SPEED_NONE)) * sizeof(float));
    add(&in, d->n_objects, (1 + (d->request.speed == MODAL_SPEED_MOVING)) * 12 * sizeof(float));
    tally out[2] = {{0}, {0}}, base = {0}; /* a frame of a slot, in main memory and on the device */
    base.overflow = in.overflow | !modal_frame_plan_bytes(&d->plan, &d->device, &out[0].bytes, &out[1].bytes);
    if (d->request.direct && shared) out[0].bytes = 0; /* the caller's arrays */
    needs *const sides[2] = {&host, &device};
    for (int i = 0; i < 2 - shared; i++) {
        add(&out[i], in.bytes, 1);
        out[i].overflow |= !modal_size_multiply(out[i].bytes, frames, &out[i].bytes);
        add(&sides[i]->arrays, out[i].bytes, a->n_slots);
        base.overflow |= out[i].overflow;
    }
    add(&device.fixed, modal_frame_plan_stage_bytes(&d->plan, &d->device, frames), 1);
    base.overflow |= !modal_size_multiply(frames, d->n_columns, &base.bytes);
    add(&host.arrays, base.bytes, sizeof(int64_t));
    add(&device.arrays, base.bytes, sizeof(int64_t));

    tally *all[2] = {&host.fixed, &device.fixed};
    const needs *both[2] = {&host, &device};
    for (int i = 0; i < 2; i++) {
        tally most = both[i]->loading;
        keep_largest(&most, &both[i]->arrays);
        add(all[i], most.bytes, 1);
        all[i]->overflow |= most.overflow;
    }
    if (shared) add(&host.fixed, device.fixed.bytes, 1);
    *host_bytes = host.fixed.bytes;
    *device_bytes = shared ? 0 : device.fixed.bytes;
    return !(base.overflow | host.fixed.overflow | device.fixed.overflow);
}

typedef struct limits {
    int64_t host, device;
} limits;

static int fits(deform_engine *d, const attempt *a, int64_t frames, const limits *limit)
{
    int64_t host, device;
    return measure(d, a, frames, &host, &device) && host <= limit->host && device <= limit->device;
}

/* The most frames, up to `wanted`, that fit; 0: not even one. */
static int64_t frames_that_fit(deform_engine *d, const attempt *a, int64_t wanted,
                               const limits *limit)
{
    if (fits(d, a, wanted, limit)) return wanted;
    int64_t low = 0, high = wanted; /* low fits (or is 0), high does not */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (fits(d, a, middle, limit))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* U stays outside: of the shapes with the largest, of ever more shapes; where it costs least. */
static int plan_outside(deform_engine *d, int64_t frame_bytes, const limits *limit, attempt *best,
                        int64_t *best_frames)
{
    const int shared = d->device.shares_memory;
    const int64_t buffer = shared ? INT64_C(4) << 20 : INT64_C(32) << 20;
    const int64_t wanted_frames = d->request.n_made > 0 ? d->request.n_made : d->request.n_frames;
    const int64_t n_frames = wanted_frames < 1 ? 1 : wanted_frames;
    int64_t largest = 0;
    double best_cost = 0.0;
    *best_frames = 0;
    for (int32_t i = 0; i < d->n_shapes; i++)
        if (matrix_bytes(&d->shapes[i]) > largest) largest = matrix_bytes(&d->shapes[i]);
    const attempt ways[] = {{.n_slots = 2, .whole_batches = 1, .range_bytes = buffer},
                            {.n_slots = 2, .whole_batches = 1, .range_bytes = buffer / 16},
                            {.n_slots = 1, .whole_batches = 1, .range_bytes = buffer / 64},
                            {.n_slots = 1, .least_columns = 4, .range_bytes = 0},
                            {.n_slots = 1, .least_columns = 1, .range_bytes = 0}};
    for (int64_t from = INT64_C(1) << 62; from > 0; from /= 2) {
        if (from > largest) continue;
        for (int place = MATRIX_IN_MEMORY; place <= MATRIX_AT_SOURCE; place++) {
            if (place == MATRIX_IN_MEMORY && shared) continue;
            const int64_t cost = place == MATRIX_AT_SOURCE ? SOURCE_COST : 1;
            double outside = 0.0;
            for (int32_t i = 0; i < d->n_shapes; i++)
                if (matrix_bytes(&d->shapes[i]) >= from)
                    outside += (double)matrix_bytes(&d->shapes[i]);
            int64_t wanted = SLOT_BYTES / frame_bytes;
            if (2.0 * (double)cost * outside / (double)frame_bytes > (double)wanted)
                wanted = (int64_t)(2.0 * (double)cost * outside / (double)frame_bytes);
            if (wanted > n_frames) wanted = n_frames;
            if (d->request.direct && wanted > d->request.direct) wanted = d->request.direct;
            if (wanted < 1) wanted = 1;
            for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
                attempt a = ways[way];
                a.outside_from = from;
                a.outside = (matrix_place)place;
                const int64_t fit = frames_that_fit(d, &a, wanted, limit);
                if (fit < 1) continue;
                const double batches = (double)((n_frames + fit - 1) / fit);
                const double price = outside * (double)cost * batches * (a.whole_batches ? 1 : 4);
                if (*best_frames > 0 && price >= best_cost) continue;
                *best = a;
                *best_frames = fit;
                best_cost = price;
            }
        }
    }
    return *best_frames > 0;
}

/* No way fits: says how much the smallest one needs, of the memory that is too small even so. A pack
 * outside needs room for itself twice, so that the smallest is not always to have all outside. */
static modal_status too_small(deform_engine *d, const limits *limit, modal_error *err)
{
    int64_t host = 0, device = 0, least_host = INT64_MAX, least_device = INT64_MAX;
    for (int pass = 0; pass < 2; pass++) /* the second one: of those that fit the device */
        for (int bit = 63; bit >= 0; bit--) /* as plan_outside goes, but first with all on the device */
            for (int place = MATRIX_IN_MEMORY; place <= MATRIX_AT_SOURCE; place++) {
                const attempt a = {.n_slots = 1, .least_columns = 1, .outside_from = bit == 63 ? INT64_MAX : INT64_C(1) << bit,
                                   .outside = (matrix_place)place};
                if (!measure(d, &a, 1, &host, &device))
                    return modal_error_set(err, MODAL_ERROR_MEMORY,
                                           "deform: the scene is too large: its size in bytes does "
                                           "not fit 64 bits");
                if (pass == 0 && device < least_device) least_device = device;
                if (pass == 1 && device <= limit->device && host < least_host) least_host = host;
            }
    if (least_device > limit->device)
        return modal_error_set(err, MODAL_ERROR_MEMORY,
                               "deform: one frame of %lld points needs %lld bytes of memory on %s, "
                               "which has %lld bytes free",
                               (long long)d->n_points, (long long)least_device, d->device.name,
                               (long long)limit->device);
    return modal_error_set(err, MODAL_ERROR_MEMORY,
                           "deform: one frame of %lld points needs %lld bytes of main memory, "
                           "the limit is %lld bytes",
                           (long long)d->n_points, (long long)least_host, (long long)limit->host);
}

modal_status modal_deform_plan(deform_engine *d, modal_error *err)
{
    const int shared = d->device.shares_memory;
    limits limit = {d->request.memory_limit > 0 ? d->request.memory_limit : INT64_MAX, INT64_MAX};
    if (!shared) {
        modal_status status = modal_device_free_bytes(&d->device, &limit.device, err);
        if (status != MODAL_OK) return status;
        limit.device -= limit.device / 16; /* CUDA's own needs, and fragments */
        if (d->request.device_limit > 0 && d->request.device_limit < limit.device)
            limit.device = d->request.device_limit;
    }

    /* what would be good */
    tally frame = {0};
    int64_t on_device = 0;
    frame.overflow = !modal_frame_plan_bytes(&d->plan, &d->device, &frame.bytes, &on_device);
    if (on_device > frame.bytes) frame.bytes = on_device;
    add(&frame, d->n_modes, sizeof(float));
    add(&frame, (int64_t)d->n_objects, 12 * sizeof(float));
    add(&frame, 1, 1);
    const int64_t frame_bytes = frame.overflow ? INT64_MAX : frame.bytes;
    const int64_t n_frames = d->request.n_made > 0 ? d->request.n_made : d->request.n_frames;
    int64_t frames = SLOT_BYTES / frame_bytes;
    if (n_frames > SPLIT_BYTES / frame_bytes && frames > (n_frames + 3) / 4) frames = (n_frames + 3) / 4;
    const int64_t together = d->request.taken_together;
    if (together > 1 && frame_bytes <= MOST_TOGETHER_BYTES / together) frames = (frames + together - 1) / together * together;
    if (frames > n_frames) frames = n_frames;
    if (shared && frames > BLOCK_COLUMNS) frames -= frames % BLOCK_COLUMNS;
    if (frames < 1) frames = 1;
    if (d->request.direct) frames = d->request.direct;

    /* what fits: scratch arrays give way first, then the frames of a batch, then U goes outside */
    attempt ways[] = {{.n_slots = DEFORM_SLOTS,
                       .scratch_bytes = shared ? SCRATCH_BYTES_CPU : SCRATCH_BYTES_CUDA,
                       .least_columns = BLOCK_COLUMNS,
                       .outside_from = INT64_MAX},
                      {.n_slots = DEFORM_SLOTS, .least_columns = 4, .outside_from = INT64_MAX},
                      {.n_slots = DEFORM_SLOTS, .least_columns = 1, .outside_from = INT64_MAX},
                      {.n_slots = 1, .least_columns = 1, .outside_from = INT64_MAX}};
    attempt chosen = {0};
    for (size_t way = 0; way < sizeof ways / sizeof *ways && d->request.direct; way++) ways[way].n_slots = 1;
    for (size_t way = 0; way < sizeof ways / sizeof *ways && !d->batch_frames; way++) {
        d->batch_frames = frames_that_fit(d, &ways[way], frames, &limit);
        chosen = ways[way];
    }
    if (d->batch_frames == 0) {
        /* These batches are large; no limit does not mean all of the machine. */
        limits outside = limit;
        const int64_t half = (int64_t)sysconf(_SC_PHYS_PAGES) / 2 * (int64_t)sysconf(_SC_PAGESIZE);
        if (d->request.memory_limit == 0 && half > 0) outside.host = half;
        if (!plan_outside(d, frame_bytes, &outside, &chosen, &d->batch_frames))
            return too_small(d, &limit, err);
    }
    int64_t host, device;
    if (d->request.direct) chosen.n_slots = 1;
    measure(d, &chosen, d->batch_frames, &host, &device);
    d->n_slots = chosen.n_slots;
    return MODAL_OK;
}
