/* SPDX-License-Identifier: Apache-2.0 */
/* The one convention about a tetrahedron's nodes that the whole room shares. */
#ifndef MODAL_MESH_TETRAHEDRON_H
#define MODAL_MESH_TETRAHEDRON_H

/* Local nodes of each local face; face f is opposite node f. In a tetrahedron of positive volume
 * each is counter-clockwise seen from outside. */
static const unsigned char modal_tetrahedron_faces[4][3] = {
    {1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

static inline void modal_subtract(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static inline double modal_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void modal_cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* (b - a) x (c - a) . (d - a): six times the signed volume. */
static inline double modal_six_volume(const double a[3], const double b[3], const double c[3],
                                      const double d[3])
{
    double ab[3], ac[3], ad[3], normal[3];
    modal_subtract(b, a, ab);
    modal_subtract(c, a, ac);
    modal_subtract(d, a, ad);
    modal_cross(ab, ac, normal);
    return modal_dot(normal, ad);
}

#endif
