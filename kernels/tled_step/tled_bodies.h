/* SPDX-License-Identifier: Apache-2.0 */
/* Out of rigid bodies (tled_solid.h), for processors and GPUs. */
#ifndef MODAL_KERNELS_TLED_BODIES_H
#define MODAL_KERNELS_TLED_BODIES_H

#include <math.h>

#include "kernels/tled_step/tled_low.h"
#include "kernels/tled_step/tled_solid.h"

/* From the nearest point of a round body's axis to x: its length. */
MODAL_TLED_BOTH double modal_tled_way_of(const modal_tled_contact *contact, const double *at, const double x[3], double way[3])
{
    double part = 0;
    for (int i = 0; i < 3; i++) way[i] = x[i] - at[i];
    if (contact->kind == MODAL_TLED_CAPSULE) {
        double axis[3], length = 0;
        for (int i = 0; i < 3; i++) axis[i] = at[3 + i] - at[i], length += axis[i] * axis[i], part += axis[i] * way[i];
        part = length > 0 ? part / length : 0;
        part = part < 0 ? 0 : part > 1 ? 1 : part;
        for (int i = 0; i < 3; i++) way[i] -= part * axis[i];
    }
    return sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
}

/* The upper root of a l^2 + 2 b l + c = 0; no number where there is none. */
MODAL_TLED_BOTH double modal_tled_upper_root(double a, double b, double c)
{
    const double s = sqrt(b * b - a * c);
    return b > 0 ? -c / (b + s) : (s - b) / a;
}

/* How far x, which is in a round body, is from its surface along the unit vector n. A capsule is two balls and what is between them. */
MODAL_TLED_BOTH double modal_tled_exit_along(const modal_tled_contact *contact, const double *at, const double x[3], const double n[3])
{
    const int capsule = contact->kind == MODAL_TLED_CAPSULE;
    const double square = contact->radius * contact->radius;
    double most = 0;
    for (int end = 0; end <= capsule; end++) {
        double along = 0, rest = -square;
        for (int i = 0; i < 3; i++) {
            const double way = x[i] - at[3 * end + i];
            along += way * n[i], rest += way * way;
        }
        const double to = modal_tled_upper_root(1, along, rest);
        if (to > most) most = to;
    }
    if (!capsule) return most;
    double length = 0, part = 0, turn = 0, a = 0, b = 0, c = -square;
    for (int i = 0; i < 3; i++) {
        const double axis = at[3 + i] - at[i];
        length += axis * axis, part += axis * (x[i] - at[i]), turn += axis * n[i];
    }
    if (!(length > 0)) return most;
    for (int i = 0; i < 3; i++) { /* across the axis */
        const double axis = (at[3 + i] - at[i]) / length, way = x[i] - at[i] - part * axis, across = n[i] - turn * axis;
        a += across * across, b += way * across, c += way * way;
    }
    const double to = modal_tled_upper_root(a, b, c), place = part + turn * to;
    return place >= 0 && place <= length && to > most ? to : most;
}

/* As modal_tled_put_out. */
MODAL_TLED_BOTH int modal_tled_out_of(const modal_tled_contact *contact, const double *before, const double *at, const double from[3], double x[3])
{
    double way[3], normal[3];
    if (contact->kind == MODAL_TLED_PLANE) {
        const double *n = contact->normal, depth = (x[0] - at[0]) * n[0] + (x[1] - at[1]) * n[1] + (x[2] - at[2]) * n[2];
        if (!(depth < 0)) return 0;
        for (int i = 0; i < 3; i++) x[i] -= depth * n[i];
        return 1;
    }
    const double distance = modal_tled_way_of(contact, at, x, way), was = modal_tled_way_of(contact, before, from, normal);
    const double length = was > 0 ? was : distance;
    if (!(distance < contact->radius) || !(length > 0)) return 0; /* at the centre there is no normal */
    for (int i = 0; i < 3; i++) normal[i] = (was > 0 ? normal[i] : way[i]) / length;
    const double to = modal_tled_exit_along(contact, at, x, normal);
    for (int i = 0; i < 3; i++) x[i] += to * normal[i];
    return 1;
}

#endif
