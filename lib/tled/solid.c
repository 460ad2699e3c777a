/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/tled/solid.h"

#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/base/sort.h"
#include "lib/model/material.h"
#include "lib/tled/contacts.h"
#include "lib/tled/loads.h"
#include "lib/tled/macros.h"

static uint64_t spread(uint64_t x)
{
    x &= 0x1fffff;
    x = (x | x << 32) & 0x1f00000000ffffu;
    x = (x | x << 16) & 0x1f0000ff0000ffu;
    x = (x | x << 8) & 0x100f00f00f00f00fu;
    x = (x | x << 4) & 0x10c30c30c30c30c3u;
    return (x | x << 2) & 0x1249249249249249u;
}

uint64_t modal_tled_morton(const double x[3], const double low[3], double extent)
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++) {
        const double part = extent > 0 ? (x[k] - low[k]) / extent * 0x1fffff : 0;
        key |= spread((uint64_t)(part > 0 ? part : 0)) << k;
    }
    return key;
}

static const double CONTROL = 0.3; /* of macro-elements, times mu; docs/results/tissue.md has what was measured */

typedef struct box {
    double low[3], extent;
} box;

static box box_of(const modal_volume_mesh *mesh)
{
    box b = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, 0};
    double high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int64_t i = 0; i < 3 * mesh->n_nodes; i++) {
        b.low[i % 3] = fmin(b.low[i % 3], mesh->nodes[i]);
        high[i % 3] = fmax(high[i % 3], mesh->nodes[i]);
    }
    for (int k = 0; k < 3; k++) b.extent = fmax(b.extent, high[k] - b.low[k]);
    return b;
}

static modal_status order_nodes(const modal_volume_mesh *mesh, const box *b, modal_tled_model *m, double *nodes,
                                uint64_t *keys, modal_error *err)
{
    for (int64_t i = 0; i < mesh->n_nodes; i++) {
        keys[i] = modal_tled_morton(mesh->nodes + 3 * i, b->low, b->extent);
        m->node_from[i] = (int32_t)i;
    }
    const modal_status status = modal_sort_by_key(mesh->n_nodes, keys, m->node_from, err);
    for (int64_t i = 0; status == MODAL_OK && i < mesh->n_nodes; i++) {
        m->node_to[m->node_from[i]] = (int32_t)i;
        memcpy(nodes + 3 * i, mesh->nodes + 3 * (int64_t)m->node_from[i], 3 * sizeof(double));
    }
    return status;
}

/* Places in *order: elements along the curve, tetrahedra before hexahedra. */
static modal_status order_elements(const modal_volume_mesh *mesh, const box *b, int32_t *order, uint64_t *keys,
                                   modal_error *err)
{
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int n = mesh->element_type[e] == MODAL_ELEMENT_TET4 ? 4 : 8;
        double centre[3] = {0, 0, 0};
        for (int a = 0; a < n; a++)
            for (int k = 0; k < 3; k++) centre[k] += mesh->nodes[3 * (int64_t)modal_mesh_nodes(mesh, e)[a] + k] / n;
        keys[e] = modal_tled_morton(centre, b->low, b->extent) | (n == 8 ? (uint64_t)1 << 63 : 0);
        order[e] = (int32_t)e;
    }
    return modal_sort_by_key(mesh->n_elements, keys, order, err);
}

/* Materials that no element has may be anything. */
static modal_status check_elements(const modal_volume_mesh *mesh, modal_error *err)
{
    int32_t last = -1; /* the material that was looked at */
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t m = mesh->element_material[e];
        if (mesh->element_type[e] != MODAL_ELEMENT_TET4 && mesh->element_type[e] != MODAL_ELEMENT_HEX8)
            return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: only TET4 and HEX8 are moved here, %s",
                                   (long long)mesh->element_tags[e], modal_mesh_kind(mesh, e)->name);
        if (m < 0)
            return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: no material", (long long)mesh->element_tags[e]);
        if (mesh->materials[m].kind != MODAL_MATERIAL_ISOTROPIC)
            return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: only isotropic materials are moved here, %s",
                                   (long long)mesh->element_tags[e], mesh->materials[m].name);
        const modal_status status = m == last ? MODAL_OK : modal_material_check(&mesh->materials[m], err);
        if (status != MODAL_OK) return status;
        last = m;
    }
    return MODAL_OK;
}

static void add_terms(const modal_material *m, modal_tled_material *to)
{
    const modal_prony *parts[2] = {&m->isochoric, &m->volumetric};
    to->n_isochoric = m->isochoric.n;
    for (int p = 0; p < 2; p++)
        for (int k = 0; k < parts[p]->n; k++, to->n_terms++) {
            to->shares[to->n_terms] = parts[p]->share[k];
            to->times[to->n_terms] = parts[p]->time[k];
        }
}

/* kappa (lambda + 2 mu). Where the caller leaves kappa open: (1 - 2 nu) / 5, 0.1 at most, since lambda + 2 mu goes to infinity with nu near
 * 0.5, and with it the hexahedra would lock (docs/results/tissue.md has what was measured). */
static double hourglass_of(const modal_tled_request *r, double lambda, double mu)
{
    const double kappa = r->hourglass >= 0 ? r->hourglass : fmin(0.1, mu / (lambda + mu) / 5);
    return kappa * (lambda + 2 * mu);
}

/* A material of the solid for every pair of material and law. */
static void make_materials(const modal_volume_mesh *mesh, const modal_tled_request *r, modal_law *laws, double *densities,
                           modal_tled_material *to)
{
    static const int32_t kernels[MODAL_LAWS] = {-1, MODAL_TLED_STVK, MODAL_TLED_NEO_HOOKEAN, MODAL_TLED_LOGARITHMIC};
    for (int32_t i = 0; i < mesh->n_materials; i++)
        for (int k = MODAL_LAW_STVK; k < MODAL_LAWS; k++) {
            const int32_t at = i * (MODAL_LAWS - 1) + k - 1;
            modal_law_init((modal_law_kind)k, &mesh->materials[i], &laws[at]);
            densities[at] = mesh->materials[i].density;
            const double mu = laws[at].elasticity.mu, lambda = laws[at].elasticity.lambda;
            to[at] = (modal_tled_material){.law = kernels[k], .mu = mu,
                                           .modulus = k == MODAL_LAW_NEO_HOOKEAN ? lambda + 2 * mu / 3 : lambda,
                                           .hourglass = hourglass_of(r, lambda, mu),
                                           .control = CONTROL * mu,
                                           .fibre = mesh->materials[i].fibre_stiffness,
                                           .averages = r->averages && k != MODAL_LAW_STVK};
            add_terms(&mesh->materials[i], &to[at]);
        }
}

/* Of element `old` of the mesh, into its place. */
static modal_status take_fibre(const modal_volume_mesh *mesh, int64_t old, double *to, modal_error *err)
{
    const modal_material *m = &mesh->materials[mesh->element_material[old]];
    const double *own = mesh->element_fibres ? mesh->element_fibres + 3 * old : m->fibre;
    if (own[0] == 0 && own[1] == 0 && own[2] == 0) own = m->fibre;
    const double length = sqrt(own[0] * own[0] + own[1] * own[1] + own[2] * own[2]);
    for (int k = 0; k < 3; k++) to[k] = length > 0 ? own[k] / length : 0;
    if (m->fibre_stiffness > 0 && !(length > 0))
        return modal_error_set(err, MODAL_ERROR_INPUT, "element %lld: fibres without a direction, material %s",
                               (long long)mesh->element_tags[old], m->name);
    return MODAL_OK;
}

/* The law of an element of the mesh, as a number of the solid's materials. */
static int32_t material_of(const modal_volume_mesh *mesh, const modal_tled_request *r, int64_t old)
{
    return mesh->element_material[old] * (MODAL_LAWS - 1) + r->element_law[old] - 1;
}

/* Macro-elements, and the tetrahedra, first in `order`, by them. */
static modal_status make_macros(const modal_volume_mesh *mesh, const modal_tled_request *r, modal_tled_model *m, int32_t *order, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tled_solid *s = &m->solid;
    int32_t(*corners)[4] = NULL, *kinds = NULL, *own = NULL, *old = NULL;
    int64_t *offsets = NULL;
    MODAL_TRY(modal_alloc(&corners, s->n_tetrahedra, sizeof *corners, "mean patches", err));
    MODAL_TRY(modal_alloc(&kinds, s->n_tetrahedra, sizeof *kinds, "mean patches", err));
    MODAL_TRY(modal_alloc(&own, s->n_tetrahedra, sizeof *own, "mean patches", err));
    MODAL_TRY(modal_alloc(&old, s->n_tetrahedra, sizeof *old, "mean patches", err));
    for (int64_t e = 0; e < s->n_tetrahedra; e++) {
        old[e] = order[e];
        kinds[e] = material_of(mesh, r, old[e]);
        for (int a = 0; a < 4; a++) corners[e][a] = m->node_to[modal_mesh_nodes(mesh, old[e])[a]];
    }
    MODAL_TRY(modal_tled_macros_make(s->n_tetrahedra, (const int32_t(*)[4])corners, kinds, s->n_nodes, (const double(*)[3])s->nodes, own,
                                     &s->n_macros, &offsets, err));
    s->macro_offsets = offsets;
    for (int64_t e = 0; e < s->n_tetrahedra; e++) order[e] = old[own[e]];
    memset(own, 0, (size_t)s->n_tetrahedra * sizeof *own);
    for (int64_t p = 0; p < s->n_macros; p++)
        for (int64_t e = offsets[p]; e < offsets[p + 1]; e++) own[e] = (int32_t)p;
    s->macro_of = own;
    own = NULL;
done:
    modal_free(&corners), modal_free(&kinds), modal_free(&own), modal_free(&old);
    return status;
}

/* Fibres of a macro-element are the mean of its tetrahedra's, whose sign means nothing. */
static void average_fibres(const modal_tled_solid *s, double *fibres)
{
    for (int64_t p = 0; p < s->n_macros; p++) {
        const int64_t first = s->macro_offsets[p], end = s->macro_offsets[p + 1];
        double sum[3] = {0, 0, 0}, g[3][3];
        for (int64_t e = first; e < end; e++) {
            const double *a = fibres + 3 * e, *b = fibres + 3 * first;
            const double volume = modal_tled_tetrahedron_shape(s->nodes, s->tetrahedra + 4 * e, g);
            for (int k = 0; k < 3; k++) sum[k] += (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] < 0 ? -volume : volume) * a[k];
        }
        const double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        for (int64_t e = first; e < end && end > first + 1 && length > 0; e++)
            for (int k = 0; k < 3; k++) fibres[3 * e + k] = sum[k] / length;
    }
}

modal_status modal_tled_model_new(const modal_volume_mesh *mesh, const modal_tled_request *request, modal_tled_model *model,
                                  modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n = mesh->n_nodes, n_elements = mesh->n_elements, most = n > n_elements ? n : n_elements;
    const int32_t n_materials = mesh->n_materials * (MODAL_LAWS - 1);
    const box b = box_of(mesh);
    uint64_t *keys = NULL;
    int32_t *order = NULL, *tetrahedra, *hexahedra, *material;
    double *nodes, *mass, *fibres = NULL;
    int has_fibres = 0;
    modal_tled_material *materials;
    modal_tled_solid *s = &model->solid;
    *model = (modal_tled_model){0};
    MODAL_TRY(check_elements(mesh, err));
    for (int64_t e = 0; e < n_elements; e++) s->n_tetrahedra += mesh->element_type[e] == MODAL_ELEMENT_TET4;
    s->n_nodes = n, s->n_hexahedra = n_elements - s->n_tetrahedra, s->n_materials = n_materials, s->centre = request->centre;
    MODAL_TRY(modal_alloc(&keys, most, sizeof *keys, "order", err));
    MODAL_TRY(modal_alloc(&order, n_elements, sizeof *order, "order", err));
    MODAL_TRY(modal_alloc(&model->node_from, n, sizeof(int32_t), "order of nodes", err));
    MODAL_TRY(modal_alloc(&model->node_to, n, sizeof(int32_t), "order of nodes", err));
    MODAL_TRY(modal_alloc(&model->element_from, n_elements, sizeof(int64_t), "order of elements", err));
    MODAL_TRY(modal_alloc(&nodes, n, 3 * sizeof *nodes, "nodes", err));
    s->nodes = nodes;
    MODAL_TRY(modal_alloc_zero(&mass, n, sizeof *mass, "masses", err));
    s->mass = mass;
    MODAL_TRY(modal_alloc(&tetrahedra, s->n_tetrahedra, 4 * sizeof(int32_t), "elements", err));
    s->tetrahedra = tetrahedra;
    MODAL_TRY(modal_alloc(&hexahedra, s->n_hexahedra, 8 * sizeof(int32_t), "elements", err));
    s->hexahedra = hexahedra;
    MODAL_TRY(modal_alloc(&material, n_elements, sizeof *material, "materials of elements", err));
    s->material = material;
    MODAL_TRY(modal_alloc(&materials, n_materials, sizeof *materials, "materials", err));
    s->materials = materials;
    MODAL_TRY(modal_alloc(&model->laws, n_materials, sizeof *model->laws, "laws", err));
    MODAL_TRY(modal_alloc(&model->densities, n_materials, sizeof *model->densities, "densities", err));
    for (int32_t i = 0; i < mesh->n_materials; i++) has_fibres |= mesh->materials[i].fibre_stiffness > 0;
    if (has_fibres) MODAL_TRY(modal_alloc(&fibres, n_elements, 3 * sizeof *fibres, "fibres", err));
    s->fibres = fibres;
    make_materials(mesh, request, model->laws, model->densities, materials);
    MODAL_TRY(order_nodes(mesh, &b, model, nodes, keys, err));
    MODAL_TRY(order_elements(mesh, &b, order, keys, err));
    if (request->macros) MODAL_TRY(make_macros(mesh, request, model, order, err));
    for (int64_t e = 0; e < n_elements; e++) {
        const int32_t old = order[e], count = e < s->n_tetrahedra ? 4 : 8;
        int32_t *corners = count == 4 ? tetrahedra + 4 * e : hexahedra + 8 * (e - s->n_tetrahedra);
        double gradients[3][3], volume;
        modal_tled_hexahedron shape = {.volume = 0};
        for (int a = 0; a < count; a++) corners[a] = model->node_to[modal_mesh_nodes(mesh, old)[a]];
        volume = count == 4 ? modal_tled_tetrahedron_shape(nodes, corners, gradients)
                 : modal_tled_hexahedron_shape(nodes, corners, request->centre, &shape) > 0 ? shape.volume
                                                                            : -1;
        if (!(volume > 0))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: flat or turned inside out, volume %g m^3",
                       (long long)mesh->element_tags[old], volume);
        const int32_t m = mesh->element_material[old];
        for (int a = 0; a < count; a++) mass[corners[a]] += mesh->materials[m].density * volume / count;
        material[e] = material_of(mesh, request, old);
        if (request->averages && count == 4 && request->element_law[old] == MODAL_LAW_STVK)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "element %lld: the law stvk has no volumetric part, which nodal pressures would take",
                       (long long)mesh->element_tags[old]);
        if (fibres) MODAL_TRY(take_fibre(mesh, old, fibres + 3 * e, err));
        model->element_from[e] = old;
    }
    if (fibres) average_fibres(s, fibres);
done:
    modal_free(&keys);
    modal_free(&order);
    if (status != MODAL_OK) modal_tled_model_free(model);
    return status;
}

void modal_tled_model_free(modal_tled_model *m)
{
    modal_tled_solid *s = &m->solid;
    modal_free(&m->node_from);
    modal_free(&m->node_to);
    modal_free(&m->element_from);
    modal_free(&m->laws);
    modal_free(&m->densities);
    modal_free((void *)&s->nodes);
    modal_free((void *)&s->mass);
    modal_free((void *)&s->tetrahedra);
    modal_free((void *)&s->hexahedra);
    modal_free((void *)&s->material);
    modal_free((void *)&s->macro_offsets);
    modal_free((void *)&s->macro_of);
    modal_free((void *)&s->materials);
    modal_free((void *)&s->fibres);
    modal_free((void *)&s->weights);
    modal_free((void *)&s->stiffness);
    modal_tled_loads_free(s);
    modal_tled_contacts_free(s);
    *m = (modal_tled_model){0};
}
