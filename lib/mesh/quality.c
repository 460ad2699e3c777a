/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/quality.h"

#include <math.h>
#include <string.h>

static void subtract(const double *a, const double *b, double c[3])
{
    for (int k = 0; k < 3; k++) c[k] = a[k] - b[k];
}

static void cross(const double *a, const double *b, double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* The ratio, and the six angles in degrees. */
static double measure(const double *const x[4], double angles[6])
{
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double a[3], b[3], c[3], p[3], q[3], r[3], normals[4][3], area = 0;
    for (int f = 0; f < 4; f++) {
        subtract(x[faces[f][1]], x[faces[f][0]], p);
        subtract(x[faces[f][2]], x[faces[f][0]], q);
        cross(p, q, normals[f]);
        area += sqrt(dot(normals[f], normals[f])) / 2;
    }
    for (int i = 0, n = 0; i < 4; i++)
        for (int j = 0; j < i; j++, n++) {
            double product = sqrt(dot(normals[i], normals[i]) * dot(normals[j], normals[j]));
            double cosine = product > 0 ? -dot(normals[i], normals[j]) / product : 1;
            angles[n] = acos(fmin(fmax(cosine, -1), 1)) * (180 / 3.14159265358979323846);
        }
    subtract(x[1], x[0], a);
    subtract(x[2], x[0], b);
    subtract(x[3], x[0], c);
    cross(b, c, p);
    cross(c, a, q);
    cross(a, b, r);
    double six_volumes = dot(a, p), centre[3];
    /* The vector from corner 0 to the centre of the circumsphere, times 2 x six volumes. */
    for (int k = 0; k < 3; k++) centre[k] = dot(a, a) * p[k] + dot(b, b) * q[k] + dot(c, c) * r[k];
    double circumradius = sqrt(dot(centre, centre)) / (2 * fabs(six_volumes));
    double inradius = fabs(six_volumes) / (2 * area);
    double ratio = 3 * inradius / circumradius;
    return ratio >= 0 && six_volumes > 0 ? fmin(ratio, 1) : 0;
}

void modal_mesh_measure_quality(const modal_volume_mesh *mesh, modal_mesh_quality *quality)
{
    double sum = 0;
    memset(quality, 0, sizeof *quality);
    quality->worst = -1;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        const double *x[4];
        double angles[6];
        if (modal_mesh_kind(mesh, e)->n_corners != 4) {
            quality->n_others++;
            continue;
        }
        for (int k = 0; k < 4; k++) x[k] = mesh->nodes + 3 * (int64_t)nodes[k];
        double ratio = measure(x, angles);
        if (quality->n_tetrahedra++ == 0) {
            quality->least_ratio = INFINITY;
            quality->least_angle = INFINITY;
        }
        if (ratio < quality->least_ratio) {
            quality->least_ratio = ratio;
            quality->worst = mesh->element_tags[e];
        }
        sum += ratio;
        quality->ratios[(int)fmin(ratio * MODAL_RATIO_BINS, MODAL_RATIO_BINS - 1)]++;
        for (int k = 0; k < 6; k++) {
            quality->least_angle = fmin(quality->least_angle, angles[k]);
            quality->greatest_angle = fmax(quality->greatest_angle, angles[k]);
            quality->angles[(int)fmin(angles[k] / 10, MODAL_ANGLE_BINS - 1)]++;
        }
    }
    if (quality->n_tetrahedra > 0) quality->mean_ratio = sum / (double)quality->n_tetrahedra;
}
