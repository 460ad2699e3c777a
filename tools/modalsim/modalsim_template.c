/* SPDX-License-Identifier: Apache-2.0 */
/* --generate scene: a scene of this basis that runs as it is, with comments on what to change. Object 0 is pulled where its
 * lowest mode moves most, so far that one sees it, and let go. */
#include <math.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "lib/model/node_modes.h"
#include "tools/modalsim/modalsim.h"

/* The displacement that is wanted, as a share of the diagonal of the box. */
static const double PULL = 0.03;

typedef struct pull {
    double point[3], force[3]; /* world axes, m and N; force 0: nothing moves */
    int32_t vertex;            /* the user's */
} pull;

static void column(const modal_shape *s, int64_t vertex, int32_t mode, double u[3])
{
    const float *tile = s->modes.modal_matrix + (vertex / MODAL_TILE * s->modes.n_modes + mode) * 3 * MODAL_TILE + vertex % MODAL_TILE;
    for (int a = 0; a < 3; a++) u[a] = tile[a * MODAL_TILE];
}

static pull choose_pull(const modal_object *object, const modal_shape *s)
{
    pull p = {.vertex = s->surface.user_vertex[0]};
    double low[3], high[3], u[3], most = 0, direction[3] = {0, 0, 0}, compliance = 0;
    int64_t best = 0;
    for (int a = 0; a < 3; a++) low[a] = high[a] = s->surface.rest_positions[a];
    for (int64_t v = 0; v < s->surface.n_vertices; v++) {
        column(s, v, 0, u);
        const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
        if (square > most) most = square, best = v;
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], s->surface.rest_positions[3 * v + a]);
            high[a] = fmax(high[a], s->surface.rest_positions[3 * v + a]);
        }
    }
    const double size = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    column(s, best, 0, u);
    for (int a = 0; a < 3 && most > 0; a++) direction[a] = u[a] / sqrt(most);
    for (int32_t k = 0; k < s->modes.n_modes; k++) { /* along it, a newton moves the vertex so far */
        column(s, best, k, u);
        const double along = u[0] * direction[0] + u[1] * direction[1] + u[2] * direction[2];
        if (s->modes.eigenvalues[k] > 0) compliance += along * along / s->modes.eigenvalues[k];
    }
    const double newtons = compliance > 0 ? PULL * size / compliance : 0;
    p.vertex = s->surface.user_vertex[best];
    for (int a = 0; a < 3; a++) {
        const double *row = object->rest_pose + 4 * a, *x = s->surface.rest_positions + 3 * best;
        p.point[a] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3];
        p.force[a] = newtons * (row[0] * direction[0] + row[1] * direction[1] + row[2] * direction[2]);
    }
    return p;
}

static void print_scene(const modal_basis *basis, FILE *to)
{
    const modal_object *object = &basis->objects[0];
    const modal_shape *s = &basis->shapes[object->shape];
    const pull p = choose_pull(object, s);
    double frequency = 1;
    int all_reduced = 1;
    for (int32_t k = s->modes.n_modes - 1; k >= 0; k--)
        if (s->modes.frequencies[k] > 0) frequency = s->modes.frequencies[k];
    for (int32_t i = 0; i < basis->n_shapes; i++) all_reduced &= basis->shapes[i].modes.reduced_forces.linear != NULL;
    const double period = 1 / frequency;
    const int floats = s->modes.n_rigid_modes > 0 && object->parent < 0;
    const int free = floats && modal_shape_has_node_modes(s);
    fprintf(to, "{\n"
                "  \"comment\": [\"A scene for modalsim --scene; formats/scene.md has every key. All numbers are SI.\",\n"
                "              \"duration in s, fps in frames a second; the lowest mode of object 0 is at %.4g Hz,\",\n"
                "              \"so that this is 8 of its periods, with 20 frames each.\",\n"
                "              \"%s\",\n"
                "              \"damping: ratio is that of every mode, alpha (1/s) and beta (s) are Rayleigh's.\",\n"
                "              \"gravity in m/s^2: try [0, 0, -9.81], and \\\"static\\\": true to begin in equilibrium under it.\"],\n",
            frequency,
            all_reduced ? "model: stvk has large deformations by the basis's reduced forces; linear is faster and for small motions."
                        : "model: linear, for small motions; stvk needs a basis made with modalpack --derivatives K --reduced-forces.");
    fprintf(to, "  \"duration\": %.4g, \"fps\": %.4g,\n", 8 * period, 20 / period);
    fprintf(to, "  \"model\": \"%s\", \"damping\": {\"ratio\": 0.02},\n", all_reduced ? "stvk" : "linear");
    fprintf(to, "  \"gravity\": [0, 0, 0], \"static\": false,\n");
    fprintf(to, "  \"objects\": [\n"
                "    {\"comment\": \"%s\",\n"
                "     \"object\": 0, \"pose_motion\": \"%s\"}\n"
                "  ],\n",
            object->parent >= 0 ? "attached to its parent; or fixed, spin, keys"
            : free  ? "nothing holds this body: free, with velocity (m/s) and angular_velocity (rad/s) if you like; or fixed, spin, keys"
            : floats ? "nothing holds this body, and its basis has no modes at the nodes to move freely with (modalpack --volume-modes)"
                     : "its frame stands still; or spin, keys",
            object->parent >= 0 ? "attached" : free ? "free" : "fixed");
    fprintf(to, "  \"forces\": [\n"
                "    {\"comment\": [\"force in N at a point (m), which stands for the nearest vertex at rest: here vertex %d, where the\",\n"
                "                 \"lowest mode moves most. It grows for two periods to what moves it %g %% of the size, and lets go.\",\n"
                "                 \"Instead of point: vertex (a number) or group (of the mesh, by its name).\"],\n"
                "     \"object\": 0, \"point\": [%.9g, %.9g, %.9g], \"force\": [%.4g, %.4g, %.4g],\n"
                "     \"curve\": {\"keys\": [[0, 0], [%.4g, 1], [%.4g, 0]]}}\n"
                "  ]\n}\n",
            p.vertex, 100 * PULL, p.point[0], p.point[1], p.point[2], p.force[0], p.force[1], p.force[2], 2 * period, 2.05 * period);
}

int modalsim_generate(const char *kind, const tool_arguments *arguments, modal_status *status, modal_error *err)
{
    modal_basis basis = {0};
    if (strcmp(kind, "scene") != 0) return 0;
    if (arguments->n_operands != 1) {
        *status = modal_error_set(err, MODAL_ERROR_USAGE, "--generate scene: needs BASIS.h5 and nothing else, %d operands",
                                  arguments->n_operands);
        return 1;
    }
    *status = modal_basis_read(arguments->operands[0], MODAL_BASIS_MODES | MODAL_BASIS_SURFACE | MODAL_BASIS_MATRIX | MODAL_BASIS_VOLUME |
                                   MODAL_BASIS_VOLUME_MODES | MODAL_BASIS_REDUCED, &basis, err);
    if (*status == MODAL_OK) print_scene(&basis, stdout);
    modal_basis_free(&basis);
    return 1;
}
