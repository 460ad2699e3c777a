/* SPDX-License-Identifier: Apache-2.0 */
/* Samples: modes by groups, first q'' at the samples, then what each channel hears of it. */
#include "lib/sound/sound.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/cores.h"
#include "lib/base/memory.h"
#include "lib/sound/sound_private.h"

enum { GROUP = 16, BLOCK = 256 }; /* modes and samples that are computed together */
static const double LEAST_PART = 1e-4, FRAMES_A_PERIOD = 2.5;

/* ---- the trajectory ---- */

static const double *coordinates(const modal_sound_request *r, int64_t frame)
{
    const modal_trajectory *t = r->trajectory;
    return t->q + (r->start + frame * r->step) * t->mode_offsets[t->n_objects];
}

static double time_of(const modal_sound_request *r, int64_t frame)
{
    return r->trajectory->times[r->start + frame * r->step];
}

static modal_status check_frames(const modal_sound_request *r, modal_sound_plan *plan, modal_error *err)
{
    if (r->n < 3)
        return modal_error_set(err, MODAL_ERROR_INPUT, "sound needs three frames, %" PRId64, r->n);
    const double first = time_of(r, 0), dt = (time_of(r, r->n - 1) - first) / (double)(r->n - 1);
    if (!isfinite(1 / dt))
        return modal_error_set(err, MODAL_ERROR_INPUT, "times: no frames a second for sound, %g s between frames", dt);
    for (int64_t f = 1; f < r->n; f++)
        if (!(fabs(time_of(r, f) - first - (double)f * dt) <= 1e-4 * dt))
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "times: sound needs frames at even distances, frame %" PRId64 " is at %.9g s instead of %.9g s",
                                   r->start + f * r->step, time_of(r, f), first + (double)f * dt);
    plan->fps = 1 / dt;
    const double samples = floor((time_of(r, r->n - 1) - first) * MODAL_SOUND_RATE * (1 + 1e-12)) + 1;
    if (!(samples * r->n_channels * 4 < 4294967296.0 - 1024))
        return modal_error_set(err, MODAL_ERROR_INPUT, "sound: a file cannot hold more than 4 GiB, %g s of %d channels",
                               time_of(r, r->n - 1) - first, r->n_channels);
    plan->n_samples = (int64_t)samples;
    return MODAL_OK;
}

static modal_status check_poses(const modal_sound_request *r, modal_error *err)
{
    const modal_trajectory *t = r->trajectory;
    for (int64_t f = 1; t->poses && f < r->n; f++)
        for (int32_t i = 0; i < t->n_objects; i++)
            if (memcmp(t->poses + 12 * ((r->start + f * r->step) * t->n_objects + i), modal_sound_pose(r, i), 12 * sizeof(double)))
                return modal_error_set(err, MODAL_ERROR_INPUT,
                                       "frame %" PRId64 ", object %d: moves rigidly; sound is computed of objects that stay in place",
                                       r->start + f * r->step, i);
    return MODAL_OK;
}

/* ---- what moves ---- */

typedef struct motion {
    double part;      /* amplitude of q'' */
    double frequency; /* Hz */
} motion;

static motion motion_of(const modal_sound_request *r, int32_t object, int32_t mode, double fps)
{
    const double pi = 3.14159265358979323846;
    const modal_shape *s = &r->basis->shapes[r->basis->objects[object].shape];
    const int64_t k = r->trajectory->mode_offsets[object] + mode;
    double least = INFINITY, most = -INFINITY, mean = 0, squares = 0, bends = 0;
    for (int64_t f = 0; f < r->n; f++) {
        const double q = coordinates(r, f)[k];
        least = fmin(least, q);
        most = fmax(most, q);
        mean += q / (double)r->n;
    }
    if (s->modes.kind == MODAL_KIND_MODES) {
        const double w = 2 * pi * s->modes.frequencies[mode];
        return (motion){w * w * (most - least) / 2, s->modes.frequencies[mode]};
    }
    for (int64_t f = 1; f + 1 < r->n; f++) {
        const double q = coordinates(r, f)[k], bend = coordinates(r, f + 1)[k] - 2 * q + coordinates(r, f - 1)[k];
        squares += (q - mean) * (q - mean);
        bends += bend * bend;
    }
    return (motion){sqrt(2 * bends / (double)(r->n - 2)) * fps * fps,
                    squares > 0 ? sqrt(sqrt(bends / squares)) * fps / (2 * pi) : 0};
}

/* moves: [modes of all objects], or NULL. */
static modal_status find_highest(const modal_sound_request *r, modal_sound_plan *plan, uint8_t *moves, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_trajectory *t = r->trajectory;
    const int64_t n = t->mode_offsets[t->n_objects];
    motion *all = NULL;
    double largest = 0;
    MODAL_TRY(modal_alloc(&all, n, sizeof *all, "modes", err));
#pragma omp parallel for num_threads(modal_free_threads(r->threads)) schedule(static)
    for (int32_t i = 0; i < t->n_objects; i++)
        for (int64_t k = t->mode_offsets[i]; k < t->mode_offsets[i + 1]; k++)
            all[k] = motion_of(r, i, (int32_t)(k - t->mode_offsets[i]), plan->fps);
    for (int64_t k = 0; k < n; k++) largest = fmax(largest, all[k].part);
    plan->highest = 0;
    plan->highest_object = plan->highest_mode = -1;
    for (int32_t i = 0; i < t->n_objects; i++)
        for (int64_t k = t->mode_offsets[i]; k < t->mode_offsets[i + 1]; k++) {
            const int sounds = all[k].part > 0 && all[k].part >= LEAST_PART * largest;
            if (moves) moves[k] = (uint8_t)sounds;
            if (!sounds || !(all[k].frequency > plan->highest)) continue;
            plan->highest = all[k].frequency;
            plan->highest_object = i;
            plan->highest_mode = (int32_t)(k - t->mode_offsets[i]);
        }
done:
    modal_free(&all);
    return status;
}

/* ---- kernels ---- */

/* From frames to samples: what half the frames' rate and half the samples' rate let through. */
static modal_status frames_kernel(modal_sound_kernel *k, double fps, modal_error *err)
{
    return modal_sound_kernel_init(k, fmin(1 / FRAMES_A_PERIOD, MODAL_SOUND_HIGHEST / fps),
                                   fmin(1 - 1 / FRAMES_A_PERIOD, 0.5 * MODAL_SOUND_RATE / fps), 1, err);
}

/* Delays that are no whole numbers of samples. */
static modal_status delays_kernel(modal_sound_kernel *k, modal_error *err)
{
    return modal_sound_kernel_init(k, MODAL_SOUND_HIGHEST / MODAL_SOUND_RATE, 1 - MODAL_SOUND_HIGHEST / MODAL_SOUND_RATE, 0, err);
}

/* Samples before the first one and after the last one where q'' need not be 0. */
static int64_t padding(const modal_sound_kernel *frames, double fps)
{
    return (int64_t)ceil(frames->half * MODAL_SOUND_RATE / fps) + 1;
}

modal_status modal_sound_prepare(const modal_sound_request *r, modal_sound_plan *plan, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_sound_kernel frames = {0}, delays = {0};
    double filters = 0;
    *plan = (modal_sound_plan){0};
    MODAL_TRY(check_frames(r, plan, err));
    MODAL_TRY(check_poses(r, err));
    MODAL_TRY(find_highest(r, plan, NULL, err));
    if (!(plan->fps * (1 + 1e-6) >= FRAMES_A_PERIOD * plan->highest))
        MODAL_FAIL(err, MODAL_ERROR_INPUT,
                   "object %d, mode %d: moves at %.6g Hz, whose sound needs at least %.0f frames a second, %.6g",
                   plan->highest_object, plan->highest_mode, plan->highest, ceil(FRAMES_A_PERIOD * plan->highest), plan->fps);
    MODAL_TRY(modal_sound_check_places(r, plan, err));
    MODAL_TRY(frames_kernel(&frames, plan->fps, err));
    MODAL_TRY(delays_kernel(&delays, err));
    for (int32_t i = 0; i < r->basis->n_objects; i++) filters = fmax(filters, modal_sound_filters_bytes(r, i, &delays));
    const double padded = (double)(plan->n_samples + 2 * padding(&frames, plan->fps));
    const double bytes = filters + 8 * GROUP * ((double)r->n + padded) + 8.0 * r->n_channels * (double)plan->n_samples +
                         9.0 * (double)r->trajectory->mode_offsets[r->trajectory->n_objects] +
                         8.0 * (double)(frames.n + delays.n) +
                         8.0 * r->threads * BLOCK * (2 * ceil(frames.half) + 2) + 65536;
    plan->memory_bytes = bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
done:
    modal_sound_kernel_free(&frames);
    modal_sound_kernel_free(&delays);
    return status;
}

/* ---- samples ---- */

typedef struct making {
    const modal_sound_request *r;
    const modal_sound_plan *plan;
    modal_sound_kernel frames;
    int64_t padding, padded; /* samples -padding ... of q'' */
    int n_modes, modes[GROUP];
    double *bends;   /* [GROUP, n] second differences of q over dt^2 */
    double *rates;   /* [GROUP, padded] q'' at the samples */
    double *weights; /* [threads, BLOCK, width] of frames in samples */
    int64_t width;
} making;

static void find_bends(making *m, int32_t object)
{
    const modal_sound_request *r = m->r;
    const double square = m->plan->fps * m->plan->fps;
    const int64_t first = r->trajectory->mode_offsets[object];
#pragma omp parallel for num_threads(modal_free_threads(r->threads)) schedule(static)
    for (int i = 0; i < m->n_modes; i++) {
        double *to = m->bends + i * r->n;
        const int64_t k = first + m->modes[i];
        to[0] = to[r->n - 1] = 0;
        for (int64_t f = 1; f + 1 < r->n; f++)
            to[f] = (coordinates(r, f + 1)[k] - 2 * coordinates(r, f)[k] + coordinates(r, f - 1)[k]) * square;
    }
}

/* A block of samples of all modes; `weights` [BLOCK, width] is this thread's. */
static void interpolate(making *m, int64_t begin, int64_t end, double *weights)
{
    const double step = m->plan->fps / MODAL_SOUND_RATE;
    int64_t low[BLOCK], high[BLOCK];
    for (int64_t n = begin; n < end; n++) {
        const double x = (double)(n - m->padding) * step;
        double *w = weights + (n - begin) * m->width;
        const double a = fmax(1, ceil(x - m->frames.half)), b = fmin((double)m->r->n - 2, floor(x + m->frames.half));
        low[n - begin] = (int64_t)a;
        high[n - begin] = b >= a ? (int64_t)b : (int64_t)a - 1;
        for (int64_t f = low[n - begin]; f <= high[n - begin]; f++)
            *w++ = modal_sound_kernel_at(&m->frames, x - (double)f);
    }
    for (int i = 0; i < m->n_modes; i++)
        for (int64_t n = begin; n < end; n++) {
            const double *w = weights + (n - begin) * m->width, *bends = m->bends + i * m->r->n + low[n - begin];
            const int64_t count = high[n - begin] - low[n - begin] + 1;
            double sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t f = 0; f < count; f++) sum += w[f] * bends[f];
            m->rates[i * m->padded + n] = sum;
        }
}

/* Adds what a channel hears of the group in a block of samples. `heard` [BLOCK]. */
static void listen(const making *m, const modal_sound_filter *filter, int64_t begin, int64_t end, double *heard)
{
    memset(heard, 0, BLOCK * sizeof *heard);
    for (int i = 0; i < m->n_modes; i++)
        for (int64_t j = 0; j < filter->n; j++) {
            const double tap = filter->taps[m->modes[i] * filter->n + j];
            const int64_t shift = m->padding - filter->first - j; /* sample n hears n + shift */
            const int64_t low = begin + shift < 0 ? -shift : begin, high = end + shift > m->padded ? m->padded - shift : end;
            const double *rates = m->rates + i * m->padded + shift;
            for (int64_t n = low; n < high; n++) heard[n - begin] += tap * rates[n];
        }
}

static void make_group(making *m, int32_t object, const modal_sound_filter *filters, double *samples)
{
    const int channels = m->r->n_channels, threads = m->r->threads;
    const int64_t n_samples = m->plan->n_samples;
    find_bends(m, object);
#pragma omp parallel for num_threads(modal_free_threads(threads)) schedule(static)
    for (int thread = 0; thread < threads; thread++) /* each has its weights and every threads-th block */
        for (int64_t begin = thread * (int64_t)BLOCK; begin < m->padded; begin += threads * (int64_t)BLOCK)
            interpolate(m, begin, begin + BLOCK < m->padded ? begin + BLOCK : m->padded,
                        m->weights + thread * BLOCK * m->width);
#pragma omp parallel for num_threads(modal_free_threads(threads)) schedule(static)
    for (int64_t begin = 0; begin < n_samples; begin += BLOCK) {
        const int64_t end = begin + BLOCK < n_samples ? begin + BLOCK : n_samples;
        double heard[BLOCK];
        for (int c = 0; c < channels; c++) {
            if (filters[c].n == 0) continue;
            listen(m, &filters[c], begin, end, heard);
            for (int64_t n = begin; n < end; n++) samples[n * channels + c] += heard[n - begin];
        }
    }
}

static modal_status make_object(making *m, int32_t object, const uint8_t *moves, const modal_sound_kernel *delays,
                                modal_sound_filter *filters, double *samples, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n_modes = m->r->basis->shapes[m->r->basis->objects[object].shape].modes.n_modes;
    int any = 0;
    for (int32_t k = 0; k < n_modes; k++) any |= moves[k];
    if (!any) goto done;
    memset(filters, 0, (size_t)m->r->n_channels * sizeof *filters);
    MODAL_TRY(modal_sound_filters_make(m->r, object, delays, filters, err));
    for (int32_t k = 0; k < n_modes;) {
        m->n_modes = 0;
        for (; k < n_modes && m->n_modes < GROUP; k++)
            if (moves[k]) m->modes[m->n_modes++] = k;
        if (m->n_modes > 0) make_group(m, object, filters, samples);
    }
done:
    modal_sound_filters_free(m->r, filters);
    return status;
}

modal_status modal_sound_make(const modal_sound_request *r, const modal_sound_plan *plan, double *samples, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_trajectory *t = r->trajectory;
    making m = {.r = r, .plan = plan};
    modal_sound_kernel delays = {0};
    modal_sound_filter *filters = NULL;
    modal_sound_plan again = *plan;
    uint8_t *moves = NULL;
    memset(samples, 0, (size_t)(plan->n_samples * r->n_channels) * sizeof *samples);
    MODAL_TRY(modal_alloc_zero(&filters, r->n_channels, sizeof *filters, "filters", err));
    MODAL_TRY(modal_alloc(&moves, t->mode_offsets[t->n_objects], 1, "modes", err));
    MODAL_TRY(find_highest(r, &again, moves, err));
    MODAL_TRY(frames_kernel(&m.frames, plan->fps, err));
    MODAL_TRY(delays_kernel(&delays, err));
    m.padding = padding(&m.frames, plan->fps);
    m.padded = plan->n_samples + 2 * m.padding;
    m.width = 2 * (int64_t)ceil(m.frames.half) + 2;
    MODAL_TRY(modal_alloc(&m.bends, GROUP * r->n, sizeof *m.bends, "second differences", err));
    MODAL_TRY(modal_alloc(&m.rates, GROUP * m.padded, sizeof *m.rates, "accelerations", err));
    MODAL_TRY(modal_alloc(&m.weights, (int64_t)r->threads * BLOCK * m.width, sizeof *m.weights, "interpolation", err));
    for (int32_t i = 0; i < r->basis->n_objects; i++)
        MODAL_TRY(make_object(&m, i, moves + t->mode_offsets[i], &delays, filters, samples, err));
    for (int64_t i = 0; i < plan->n_samples * r->n_channels; i++)
        if (!isfinite(samples[i]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "sound: channel %" PRId64 ", sample %" PRId64 " is not finite, %g",
                       i % r->n_channels, i / r->n_channels, samples[i]);
done:
    modal_free(&m.bends);
    modal_free(&m.rates);
    modal_free(&m.weights);
    modal_free(&moves);
    modal_free(&filters);
    modal_sound_kernel_free(&m.frames);
    modal_sound_kernel_free(&delays);
    return status;
}
