/* SPDX-License-Identifier: Apache-2.0 */
/* A solid as total Lagrangian dynamics moves it (kernels/tled_step): nodes, elements, materials, and where loads act.
 * Everything is in main memory, float64, SI, in the tool's own order: nodes along a space-filling curve, elements so
 * that neighbours are near each other. Borrowed by the layouts made of it, so it has to outlive them.
 *
 * Elements, numbered tetrahedra first, then hexahedra:
 * - T4: gradients and volume are constant, f_a = V P grad N_a.
 * - H8 with one point: g, the means of the gradients over the trilinear element, in closed form (tled_hexahedron.h); the stress has
 *   the element's exact volume V as its weight. So forces of a constant stress are those of the trilinear element, and any mesh
 *   passes the patch test. With `centre` g is at the centre and the weight 8 det J(0), as in other programs, which is the same on
 *   parallelepipeds alone. Hourglass control on the total displacement, f_a += k sum_m gamma_ma (sum_b gamma_mb u_b), constant in
 *   time (D. P. Flanagan, T. Belytschko, A uniform strain hexahedron and quadrilateral with orthogonal hourglass control, 1981;
 *   G. R. Joldes, A. Wittek, K. Miller, An efficient hourglass control implementation for the uniform strain hexahedron using the
 *   total Lagrangian formulation, 2008), k = kappa V (lambda + 2 mu) / 8 sum_ai g_ai^2.
 * - Macro-elements, the mean patches of a scene: T4 that have one stress. The law, its fibres and Prony terms see the mean of H,
 *   Hm = sum_e V_e H_e / V, and each T4 has P_e = P(Hm) + control (H_e - Hm), which is the derivative of V W(Hm) + sum_e V_e control/2
 *   |F_e - Fm|^2: hourglass control that no linear field feels, constant in time, indifferent to rotations. What is said of an element's J
 *   is said of det Fm then. A macro of one T4 is that T4. (Means over patches against locking: E. A. de Souza Neto, F. M. Andrade Pires,
 *   D. R. J. Owen, F-bar-based linear triangles and tetrahedra for finite strain analysis of nearly incompressible solids, 2005.) */
#ifndef MODAL_KERNELS_TLED_SOLID_H
#define MODAL_KERNELS_TLED_SOLID_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* First Piola-Kirchhoff stress P(H), H = F - I, H[3 i + j] = d u_i / d X_j, J = det F, C = cof H, t = tr H, i = tr C,
 * d = det H, j = J - 1 = t + i + d. In this form nothing cancels at small H:
 *
 *   neo-Hookean   W = mu/2 (J^(-2/3) I1 - 3) + K/2 (J - 1)^2
 *                 P = a H + (a - b) H^T + (b - a) C + (b + b t - a t) I
 *                 a = mu J^(-2/3), s = (H:H - t - 3 (i + d)) / (3 J), b = K j - a s
 *   logarithmic   W = mu/2 (I1 - 3) - mu ln J + lambda/2 (J - 1)^2, so S = mu (I - C^-1) + lambda J (J - 1) C^-1
 *                 P = mu H + (m - l) H^T + (l - m) C + (m (i + d) + l + l t) I, m = mu / J, l = lambda j
 *   StVK          P = (I + H) (lambda tr E I + 2 mu E), E = (H + H^T + H^T H) / 2 */
typedef enum modal_tled_law {
    MODAL_TLED_NEO_HOOKEAN = 0, /* mu, K */
    MODAL_TLED_LOGARITHMIC = 1, /* mu, lambda */
    MODAL_TLED_STVK = 2,        /* mu, lambda */
    MODAL_TLED_LAWS = 3
} modal_tled_law;

enum { MODAL_TLED_TERMS = 16 }; /* of Prony, of one material */

/* What comes on top of the law (0 or n_terms = 0: nothing), in this order:
 *
 * - averages 1, of T4 of the first two laws: modulus (J - 1) is replaced by the mean p of the corners' nodal pressures (G. R.
 *   Joldes, A. Wittek, K. Miller, Non-locking tetrahedral finite element for surgical simulation, 2009; J. Bonet,
 *   A. J. Burton, A simple average nodal pressure tetrahedral element, 1998). Of node a, over the elements that average:
 *   p_a = K_a sum_e V_e/4 (J_e - 1) / V_a, V_a = sum_e V_e/4, K_a = sum_e V_e/4 modulus_e / V_a. So the energy's volumetric
 *   part is sum_a V_a K_a/2 (p_a / K_a)^2, and forces are its derivatives for any distribution of materials.
 * - fibres along the unit vector a: W += eta/4 (I4' - 1)^2, I4' = J^(-2/3) a.C a. With f = a + H a, e = 2 a.H a + |H a|^2,
 *   q = J^(-2/3) - 1 and g = I4' - 1 = q (1 + e) + e: P += eta g (J^(-2/3) f a^T - (1 + g) / (3 J) cof F); nothing cancels.
 * - Prony terms: S = S_e - sum D_i with dD_i/dt = (g_i S_part - D_i) / tau_i, S_part the volumetric part (S_e : C) / 3 C^-1
 *   of S_e, or the rest. D_i(t + h) = e D_i(t) + (1 - e) g_i (S_part(t) + S_part(t + h)) / 2, e = exp(-h / tau_i): order 2. */
typedef struct modal_tled_material {
    int32_t law;      /* modal_tled_law */
    double mu;        /* Pa, > 0 */
    double modulus;   /* Pa: K of the neo-Hookean law, lambda of the others */
    double hourglass; /* kappa (lambda + 2 mu), Pa, >= 0, of its H8; lambda = K - 2 mu / 3 */
    double control;   /* Pa, >= 0, of its macro-elements */
    double fibre;     /* eta, Pa, >= 0 */
    int32_t averages;
    int32_t n_terms, n_isochoric;                               /* isochoric terms stand before volumetric ones */
    double shares[MODAL_TLED_TERMS], times[MODAL_TLED_TERMS]; /* g_i; tau_i, s */
} modal_tled_material;

static inline int modal_tled_is_rich(const modal_tled_material *m) { return m->averages || m->fibre > 0 || m->n_terms > 0; }

/* A rigid body that nodes do not enter, without friction. After its step a node that would be in it (nearer to the axis than
 * the radius, or below the plane) is put on its surface along the normal that was there at t_n, body after body in their order; the
 * force that does it is m / gain times the way (tled_step.h). Nodes with a prescribed component are left alone. The body is where the
 * signals from `signal` on say, m.
 *
 * The normal of t_n, not that of t_(n+1), acts together with the elements' forces of t_n, as in SHAKE (J.-P. Ryckaert, G. Ciccotti,
 * H. J. C. Berendsen, 1977): nodes that slide keep their energy, with an error of the step's square. Along the shortest way at t_(n+1) sliding on a
 * round body would be amplified by 1 + N dt^2 / (2 m r) a step, N the force on the node: without damping any step would be too long. */
typedef enum modal_tled_contact_kind {
    MODAL_TLED_PLANE = 0,  /* 3 signals: a point of it */
    MODAL_TLED_SPHERE = 1, /* 3: the centre */
    MODAL_TLED_CAPSULE = 2 /* 6: the ends of its axis */
} modal_tled_contact_kind;

typedef struct modal_tled_contact {
    int32_t kind;
    int32_t signal;   /* the first */
    double radius;    /* m, > 0; of no meaning for a plane */
    double normal[3]; /* unit vector out of a plane's body */
} modal_tled_contact;

enum { MODAL_TLED_CONTACTS = 32 };

typedef struct modal_tled_solid {
    int64_t n_nodes;
    const double *nodes; /* [n_nodes, 3] X, m */
    const double *mass;  /* [n_nodes] lumped, kg, > 0 */
    int64_t n_tetrahedra, n_hexahedra;
    int centre; /* 1: gradients of H8 at the centre; 0: their means */
    const int32_t *tetrahedra; /* [n_tetrahedra, 4] positive volume */
    const int32_t *hexahedra;  /* [n_hexahedra, 8] in VTK's order: 0 1 2 3 below, 4 5 6 7 above */
    const int32_t *material;   /* [n_tetrahedra + n_hexahedra] indices of materials */
    int64_t n_macros;
    const int64_t *macro_offsets; /* [n_macros + 1] macro m is the tetrahedra macro_offsets[m] .. macro_offsets[m + 1] - 1, 1 to
                                     MODAL_TLED_MACRO of one material that does not average, connected by faces. NULL: there are none;
                                     else every tetrahedron is in one. Fibres are those of its first tetrahedron */
    const int32_t *macro_of;      /* [n_tetrahedra] */
    int32_t n_materials;
    const modal_tled_material *materials;
    const double *fibres;  /* [n_tetrahedra + n_hexahedra, 3] unit vectors; NULL where no material has fibres */
    const double *weights; /* [n_nodes] what gravity acts on, kg; NULL: mass */
    const double *stiffness; /* [n_tetrahedra + n_hexahedra] what modal_tled_measure (of T4 in a macro-element: that of the macro) is
                                multiplied by, N m / Pa, for `stiffest` of tled_step; NULL where nobody asks for it */

    int32_t n_signals; /* numbers a step that loads and prescribed displacements are multiplied by */

    /* Forces on nodes: the force on node loaded[k] at t_n is the sum of load_vectors[e] times signal
     * load_signals[e] at t_n over e in [load_offsets[k], load_offsets[k + 1]). */
    int64_t n_loaded;
    const int32_t *loaded;       /* [n_loaded] ascending */
    const int64_t *load_offsets; /* [n_loaded + 1] */
    const int32_t *load_signals; /* [entries] */
    const double *load_vectors;  /* [entries, 3] N */

    /* Pressure that follows the surface: the force on each corner of face k is -p times the integral of its shape
     * function times the outward normal over the face as it is, p = face_pressures[k] times signal face_signals[k] at
     * t_n. Triangle: a third of the area vector each. Quadrilateral: bilinear, exact (modal_tled_face_force). */
    int64_t n_faces;
    const int32_t *faces;        /* [n_faces, 4] corners, counter-clockwise from outside; the fourth -1: a triangle */
    const int32_t *face_signals; /* [n_faces] */
    const double *face_pressures; /* [n_faces] Pa */

    /* Nodes with prescribed components: u_c(t) = held_values[k, c] times signal held_signals[k, c] at t, evaluated at
     * t_(n+1). Signal MODAL_TLED_STILL: u_c = 0; MODAL_TLED_FREE: the component is free. */
    int64_t n_held;
    const int32_t *held;         /* [n_held] ascending */
    const int32_t *held_signals; /* [n_held, 3] */
    const double *held_values;   /* [n_held, 3] m */

    int32_t n_contacts; /* MODAL_TLED_CONTACTS at most */
    const modal_tled_contact *contacts;
    int64_t n_touching;             /* nodes that contacts are looked for at */
    const int32_t *touching;        /* [n_touching] ascending */
    const uint32_t *touching_masks; /* [n_touching] bit k: contacts[k] */
} modal_tled_solid;

enum { MODAL_TLED_STILL = -1, MODAL_TLED_FREE = -2 };

typedef struct modal_tled_hexahedron {
    double gradients[8][3]; /* their means, or at the centre, 1/m */
    double weight;          /* of the stress, m^3: the volume, or 8 det J(0) */
    double volume;          /* of the trilinear element, m^3 */
    double gamma[4][8];     /* Gamma_m - grad N . sum_b X_b Gamma_mb, Gamma the signs of
                               xi eta, eta zeta, xi zeta, xi eta zeta: no linear field is felt */
    double sum;             /* V / 8 sum_ai gradients^2, m: the stiffness k is the material's hourglass times this */
} modal_tled_hexahedron;

/* grad N_1, N_2, N_3 in gradients (grad N_0 is minus their sum), 1/m; returns the volume, m^3. Where that is not positive
 * gradients are not written. */
double modal_tled_tetrahedron_shape(const double *nodes, const int32_t corners[4], double gradients[3][3]);

enum { MODAL_TLED_MACRO = 12, MODAL_TLED_MACRO_CORNERS = MODAL_TLED_MACRO + 3 }; /* tetrahedra and nodes of a macro-element, at most */

typedef struct modal_tled_macro {
    int32_t n_corners, corners[MODAL_TLED_MACRO_CORNERS];
    double volume, gradients[MODAL_TLED_MACRO_CORNERS][3]; /* m^3; b_a = sum_e V_e grad N_a / V: Hm = sum_a u_a b_a^T */
    double shares[MODAL_TLED_MACRO_CORNERS];               /* of the volume: a quarter of those of the tetrahedra at each corner */
    /* sum_e V_e grad N_a . grad N_b - V b_a . b_b, m: forces are V P b_a + control sum_b spread_ab u_b */
    double spread[MODAL_TLED_MACRO_CORNERS][MODAL_TLED_MACRO_CORNERS];
} modal_tled_macro;

void modal_tled_macro_shape(const modal_tled_solid *solid, int64_t m, modal_tled_macro *shape);

/* centre: as in modal_tled_solid. Returns 8 det J(0), or the volume where that is positive and the volume is not, m^3; where what is returned is
 * not positive the shape means nothing. */
double modal_tled_hexahedron_shape(const double *nodes, const int32_t corners[8], int centre, modal_tled_hexahedron *shape);

/* P by the forms above, Pa; returns J - 1. Where J <= 0 the numbers mean nothing (neo-Hookean: NaN). */
double modal_tled_stress(const modal_tled_material *material, const double h[9], double stress[9]);

/* The same with *pressure for modulus (J - 1) where it is not NULL. */
double modal_tled_law_stress(const modal_tled_material *material, const double h[9], const double *pressure, double stress[9]);

/* The same with what comes on top: fibre, the unit vector of the element (read where the material has fibres), and pressure, the
 * mean nodal one (read where it averages). Without Prony terms. */
double modal_tled_rich_stress(const modal_tled_material *material, const double h[9], const double *fibre, double pressure,
                              double stress[9]);

/* How stiff an element is where it is deformed, Pa / m^2: its largest eigenvalue goes nearly in proportion to it. The second
 * derivative of the energy along u g^T, u the direction that is stiffest at g in space (k = F^-T g, J, I1 = tr C, a = mu J^(-2/3)),
 * summed over the corners' gradients g:
 *
 *   neo-Hookean   (K J^2 + 5/9 a I1) sum |k|^2 - a/3 sum |g|^2
 *   logarithmic   (mu + lambda J^2) sum |k|^2 + mu sum |g|^2
 *   StVK          ((lambda + 2 mu) max(I1 - 2, I1 / 3) + (lambda + 2/3 mu) max(I1 - 3, 0) / 2) sum |g|^2
 *   fibres        eta (J^(-2/3) max(3 q - 1, 0) sum (a.g)^2 + 2/9 q^2 sum |k|^2), q = I4', added
 *
 * n corners, gradients [n, 3]; fibre as in modal_tled_rich_stress. Nodal pressures and Prony terms make nothing stiffer. */
double modal_tled_measure(const modal_tled_material *material, const double h[9], const double *fibre, int n,
                          const double (*gradients)[3]);

/* The fibres' part alone, added; above: J - 1. */
void modal_tled_add_fibres(double eta, const double h[9], double above, const double fibre[3], double stress[9]);

/* Factors of one term in a step of length `step` after one of length `before`: what is kept, and g (1 - e) / 2 of either. */
typedef struct modal_tled_decay {
    double keep, next, now;
} modal_tled_decay;
modal_tled_decay modal_tled_decay_of(const modal_tled_material *material, int term, double step, double before);

/* Takes sum D_i off the stress. state [n_terms, 6] (xx yy zz yz xz xy): what is known of D_i before this step, which
 * becomes what is known before the next one. */
void modal_tled_relax(const modal_tled_material *material, const modal_tled_decay *decays, const double h[9], double *state,
                      double stress[9]);

/* Puts a point x out of a body whose signals are `at`, along its normal at `from`, where the point was while they were `before`; from the
 * axis itself along the shortest way. Returns whether it was in it. */
int modal_tled_put_out(const modal_tled_contact *contact, const double *before, const double *at, const double from[3], double x[3]);

/* 1 where the material's elements are T4 with nodal pressures. n_terms: the most of all materials. */
int modal_tled_averages(const modal_tled_solid *solid);
int modal_tled_most_terms(const modal_tled_solid *solid);

/* factors [n_nodes]: K_a / V_a, 1/m^3 times Pa, 0 where no element averages; volumes [n_nodes]: V_a, m^3. */
void modal_tled_pressure_factors(const modal_tled_solid *solid, double *factors, double *volumes);

/* Forces of a pressure of 1 Pa on the corners of a face whose corners are at x [4, 3] (a triangle: n_corners = 3); N. */
void modal_tled_face_force(int n_corners, const double x[4][3], double force[4][3]);

#ifdef __cplusplus
}
#endif
#endif
