/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of lib/sound share. */
#ifndef MODAL_SOUND_PRIVATE_H
#define MODAL_SOUND_PRIVATE_H

#include "lib/sound/sound.h"
#include "lib/sound/sound_kernel.h"

static const double MODAL_SOUND_SPEED = 343.0; /* m/s, and kg/m^3: air at 20 degrees Celsius */
static const double MODAL_SOUND_DENSITY = 1.2;

/* What a channel hears of q'' of an object: sample n of it is the sum of taps[k, j] q''_k[n - first - j]. */
typedef struct modal_sound_filter {
    int64_t first, n;
    double *taps; /* [n_modes, n]; n 0: hears nothing of this object */
} modal_sound_filter;

/* The pose of an object, which it keeps: row-major [R p]. */
const double *modal_sound_pose(const modal_sound_request *request, int32_t object);

/* Centroid, and half the cross product of two edges, of a triangle in the shape's coordinates: the outward normal
 * times the area. */
void modal_sound_triangle(const modal_surface *shape, int64_t triangle, double centroid[3], double area[3]);

/* Where a listener is in the coordinates of an object's shape. */
void modal_sound_place(const modal_sound_request *request, int32_t object, const double place[3], double to[3]);

/* filters [n_channels] of an object, zeroed before. */
modal_status modal_sound_filters_make(const modal_sound_request *request, int32_t object, const modal_sound_kernel *delays,
                                      modal_sound_filter *filters, modal_error *err);
void modal_sound_filters_free(const modal_sound_request *request, modal_sound_filter *filters);
/* Bytes that making the filters of an object takes, the filters included. */
double modal_sound_filters_bytes(const modal_sound_request *request, int32_t object, const modal_sound_kernel *delays);

/* Refuses listeners inside of a body or on it; fills what the plan says of surfaces. */
modal_status modal_sound_check_places(const modal_sound_request *request, modal_sound_plan *plan, modal_error *err);

#endif
