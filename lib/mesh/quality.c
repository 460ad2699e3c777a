/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/mesh/quality.h"

#include <math.h>
#include <omp.h>

#include "lib/base/cores.h"

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

/* The ratio, and the cosines of the six angles. */
static double measure(const double *const x[4], double cosines[6])
{
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    double a[3], b[3], c[3], p[3], q[3], r[3], normals[4][3], length[4], area = 0;
    for (int f = 0; f < 4; f++) {
        subtract(x[faces[f][1]], x[faces[f][0]], p);
        subtract(x[faces[f][2]], x[faces[f][0]], q);
        cross(p, q, normals[f]);
        length[f] = sqrt(dot(normals[f], normals[f]));
        area += length[f] / 2;
    }
    for (int i = 0, n = 0; i < 4; i++)
        for (int j = 0; j < i; j++, n++) {
            double product = length[i] * length[j];
            cosines[n] = product > 0 ? fmin(fmax(-dot(normals[i], normals[j]) / product, -1), 1) : 1;
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

/* The bin of an angle by its cosine, which falls as the angle grows: an arc cosine each would be most
 * of the time. */
static int angle_bin(double cosine, const double bounds[MODAL_ANGLE_BINS - 1])
{
    int bin = 0;
    for (int k = 0; k < MODAL_ANGLE_BINS - 1; k++) bin += cosine <= bounds[k];
    return bin;
}

/* Elements first to end; extremes of angles as cosines, mean_ratio as a sum. */
static void measure_block(const modal_volume_mesh *mesh, int64_t first, int64_t end,
                          const double bounds[MODAL_ANGLE_BINS - 1], modal_mesh_quality *quality)
{
    *quality = (modal_mesh_quality){.least_ratio = INFINITY, .least_angle = -1, .greatest_angle = 1, .worst = -1};
    for (int64_t e = first; e < end; e++) {
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        const double *x[4];
        double cosines[6];
        if (modal_mesh_kind(mesh, e)->n_corners != 4) {
            quality->n_others++;
            continue;
        }
        for (int k = 0; k < 4; k++) x[k] = mesh->nodes + 3 * (int64_t)nodes[k];
        double ratio = measure(x, cosines);
        quality->n_tetrahedra++;
        if (ratio < quality->least_ratio) {
            quality->least_ratio = ratio;
            quality->worst = mesh->element_tags[e];
        }
        quality->mean_ratio += ratio;
        quality->ratios[(int)fmin(ratio * MODAL_RATIO_BINS, MODAL_RATIO_BINS - 1)]++;
        for (int k = 0; k < 6; k++) {
            if (cosines[k] > quality->least_angle) quality->least_angle = cosines[k];
            if (cosines[k] < quality->greatest_angle) quality->greatest_angle = cosines[k];
            quality->angles[angle_bin(cosines[k], bounds)]++;
        }
    }
}

static void add_block(modal_mesh_quality *all, const modal_mesh_quality *block)
{
    all->n_tetrahedra += block->n_tetrahedra;
    all->n_others += block->n_others;
    if (block->least_ratio < all->least_ratio) {
        all->least_ratio = block->least_ratio;
        all->worst = block->worst;
    }
    all->mean_ratio += block->mean_ratio;
    all->least_angle = fmax(all->least_angle, block->least_angle);
    all->greatest_angle = fmin(all->greatest_angle, block->greatest_angle);
    for (int k = 0; k < MODAL_RATIO_BINS; k++) all->ratios[k] += block->ratios[k];
    for (int k = 0; k < MODAL_ANGLE_BINS; k++) all->angles[k] += block->angles[k];
}

void modal_mesh_measure_quality(const modal_volume_mesh *mesh, modal_mesh_quality *quality)
{
    enum { BLOCK = 4096, AT_ONCE = 64 }; /* blocks are added in order: the same sum for every number of threads */
    const double degrees = 180 / 3.14159265358979323846;
    modal_mesh_quality all = {.least_ratio = INFINITY, .least_angle = -1, .greatest_angle = 1, .worst = -1};
    double bounds[MODAL_ANGLE_BINS - 1];
    for (int k = 0; k < MODAL_ANGLE_BINS - 1; k++) bounds[k] = cos(10 * (k + 1) / degrees);
    for (int64_t first = 0; first < mesh->n_elements; first += (int64_t)BLOCK * AT_ONCE) {
        modal_mesh_quality blocks[AT_ONCE];
#pragma omp parallel for num_threads(MODAL_TEAM) schedule(dynamic, 1) if (mesh->n_elements > 100000)
        for (int i = 0; i < AT_ONCE; i++) {
            int64_t begin = first + (int64_t)i * BLOCK, end = begin + BLOCK;
            measure_block(mesh, begin, end < mesh->n_elements ? end : mesh->n_elements, bounds, &blocks[i]);
        }
        for (int i = 0; i < AT_ONCE; i++) add_block(&all, &blocks[i]);
    }
    if (all.n_tetrahedra > 0) {
        all.mean_ratio /= (double)all.n_tetrahedra;
        all.least_angle = degrees * acos(all.least_angle);
        all.greatest_angle = degrees * acos(all.greatest_angle);
    } else {
        all.least_ratio = all.least_angle = all.greatest_angle = 0;
    }
    *quality = all;
}
