/* SPDX-License-Identifier: Apache-2.0 */
/* The sound of a trajectory: the pressure that the normal acceleration of the surfaces makes at points in still air,
 *
 *     p(x, t) = rho / (4 pi) sum over triangles  A a_n(t - R / c) / R,      rho = 1.2 kg/m^3, c = 343 m/s,
 *
 * with the area A, the distance R from the triangle's centroid to x, and the acceleration a_n along the outward normal,
 * the mean of its three vertices. It is the first term of the Kirchhoff-Helmholtz integral (A. D. Pierce, Acoustics,
 * 1989, section 4-6): the second term, by which a body scatters its own sound, is left out. So a small pulsating
 * body is exact, and a small body that moves as a whole has two thirds of its sound. Or, for a contact microphone, a_n
 * itself at a vertex.
 *
 * Acceleration is linear in q'', so a surface is gathered once into a filter of delays for each mode:
 *
 *     p[n] = sum over modes k and delays j  G[k, j] q''_k[n - j].
 *
 * q'' comes from the second differences of q, brought to the samples by band-limited interpolation that also undoes
 * the factor (sin x / x)^2, x = pi f / fps, by which second differences are less than derivatives. The first and the
 * last frame have no second difference: the air is still before the first, and the blow that sets a body in motion
 * is not heard. All in float64; the same bytes for any number of threads. */
#ifndef MODAL_SOUND_SOUND_H
#define MODAL_SOUND_SOUND_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/basis.h"
#include "lib/model/matrix_source.h"
#include "lib/model/trajectory.h"

enum { MODAL_SOUND_RATE = 48000 }; /* samples a second */
#define MODAL_SOUND_HIGHEST 20000.0 /* Hz, up to which they hold what is heard; nothing is left above 24000 Hz */

/* What a channel hears. */
typedef struct modal_sound_channel {
    int contact;     /* 0: the pressure at `place`, Pa; 1: the acceleration of a vertex along its normal, m/s^2 */
    double place[3]; /* m, in the world */
    int32_t object;  /* contact: the vertex, as stored */
    int64_t vertex;
} modal_sound_channel;

/* Everything is borrowed. Object i of the basis stands in the trajectory's first pose of it, or in its rest pose. */
typedef struct modal_sound_request {
    const modal_basis *basis;    /* surfaces with their faces, and modes; modal matrices may be absent */
    modal_matrix_source matrix;  /* these */
    const modal_trajectory *trajectory;
    int64_t start, step, n;      /* frames start + i step, i < n */
    int n_channels;
    const modal_sound_channel *channels; /* [n_channels] */
    int threads;
} modal_sound_request;

/* What is known before the samples are computed. */
typedef struct modal_sound_plan {
    double fps;
    double highest;        /* Hz, of the modes that move */
    int32_t highest_object, highest_mode; /* -1: nothing moves */
    int64_t n_samples;     /* sample i is at the first frame's time + i / MODAL_SOUND_RATE */
    int64_t memory_bytes;  /* of modal_sound_make, the samples included */
    int32_t open_object;   /* one whose surface is not closed: its other side is not heard; -1: none */
    int near_channel;      /* one that is nearer to a triangle than this is long: less exact; -1: none */
    double near_distance, near_length; /* m */
} modal_sound_plan;

/* A mode moves if its part in the acceleration, omega^2 times the range of its q over the frames, is at least 1e-4
 * (-80 dB) of the largest one's. Others are left out. Columns that are not natural modes (basis->kind) follow
 * others at lower frequencies: theirs is the one that second differences show, sqrt(rms q'' / rms q) / (2 pi).
 *
 * MODAL_ERROR_INPUT: fewer than three frames, frames not evenly spaced, less than 2.5 frames a period of the highest
 * mode that moves (the message has the frames a second to take), objects that move rigidly, more samples than a file
 * can hold (2^32 bytes). MODAL_ERROR_USAGE: a listener inside of a body, on it, or more than 100 km away. */
modal_status modal_sound_prepare(const modal_sound_request *request, modal_sound_plan *plan, modal_error *err);

/* Computes samples [n_samples, n_channels], in Pa or m/s^2, after modal_sound_prepare. MODAL_ERROR_INPUT where one is
 * not finite. */
modal_status modal_sound_make(const modal_sound_request *request, const modal_sound_plan *plan, double *samples,
                              modal_error *err);

#endif
