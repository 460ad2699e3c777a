// SPDX-License-Identifier: Apache-2.0
// modalmesh: TetGen's library (AGPL), which is C++. Hang Si, "TetGen, a Delaunay-Based Quality
// Tetrahedral Mesh Generator", ACM Transactions on Mathematical Software 41, 2015.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#define TETLIBRARY
#include <tetgen.h>

extern "C" {
#include "lib/base/memory.h"
#include "lib/mesh/raise_order.h"
#include "tools/modalmesh/modalmesh.h"
}

namespace {

// A point inside a shell, near its first triangle of some size: against the normal, half way to what
// is met first. Triangles face outwards.
bool point_inside(const modalmesh_order &order, int32_t shell, double point[3])
{
    const modal_surface_mesh &s = *order.surface;
    int64_t best = -1;
    double best_square = 0, normal[3], origin[3];
    auto corner = [&](int64_t t, int k) { return s.positions + 3 * static_cast<int64_t>(s.triangles[3 * t + k]); };
    auto normal_of = [&](int64_t t, double n[3]) {
        const double *a = corner(t, 0), *b = corner(t, 1), *c = corner(t, 2);
        for (int k = 0; k < 3; k++) {
            int i = (k + 1) % 3, j = (k + 2) % 3;
            n[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
        }
        return n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    };
    double volume = 0; // its sign says which way the shell faces
    for (int64_t t = 0; t < s.n_triangles; t++) {
        double n[3];
        if (order.shell[t] == shell) {
            normal_of(t, n);
            for (int k = 0; k < 3; k++) volume += n[k] * (corner(t, 0)[k] - s.positions[k]);
        }
        if (order.shell[t] != shell || !(normal_of(t, n) > best_square)) continue;
        best_square = normal_of(t, normal);
        best = t;
    }
    if (best < 0) return false;
    for (int k = 0; k < 3; k++) origin[k] = (corner(best, 0)[k] + corner(best, 1)[k] + corner(best, 2)[k]) / 3;
    for (int k = 0; k < 3 && volume < 0; k++) normal[k] = -normal[k];
    double nearest = INFINITY;
    for (int64_t t = 0; t < s.n_triangles; t++) {
        if (t == best) continue;
        double n[3], slope = 0, height = 0;
        normal_of(t, n);
        for (int k = 0; k < 3; k++) slope -= n[k] * normal[k], height += n[k] * (corner(t, 0)[k] - origin[k]);
        double at = height / slope;
        if (!(at > 0) || at >= nearest) continue;
        double x[3];
        for (int k = 0; k < 3; k++) x[k] = origin[k] - at * normal[k];
        bool inside = true;
        for (int e = 0; e < 3 && inside; e++) {
            const double *a = corner(t, e), *b = corner(t, (e + 1) % 3);
            double side = 0;
            for (int k = 0; k < 3; k++) {
                int i = (k + 1) % 3, j = (k + 2) % 3;
                side += n[k] * ((b[i] - a[i]) * (x[j] - a[j]) - (b[j] - a[j]) * (x[i] - a[i]));
            }
            inside = side >= 0;
        }
        if (inside) nearest = at;
    }
    if (!(nearest < INFINITY)) return false;
    for (int k = 0; k < 3; k++) point[k] = origin[k] - nearest / 2 * normal[k];
    return true;
}

void fill_input(const modalmesh_order &order, const std::vector<double> &holes, tetgenio &in)
{
    const modal_surface_mesh &s = *order.surface;
    in.firstnumber = 0;
    in.numberofpoints = static_cast<int>(s.n_vertices);
    in.pointlist = new REAL[3 * s.n_vertices];
    std::memcpy(in.pointlist, s.positions, 3 * sizeof(double) * s.n_vertices);
    in.numberoffacets = static_cast<int>(s.n_triangles);
    in.facetlist = new tetgenio::facet[s.n_triangles];
    in.facetmarkerlist = new int[s.n_triangles];
    for (int64_t t = 0; t < s.n_triangles; t++) {
        tetgenio::facet &facet = in.facetlist[t];
        tetgenio::init(&facet);
        facet.numberofpolygons = 1;
        facet.polygonlist = new tetgenio::polygon[1];
        tetgenio::polygon &polygon = facet.polygonlist[0];
        tetgenio::init(&polygon);
        polygon.numberofvertices = 3;
        polygon.vertexlist = new int[3];
        for (int k = 0; k < 3; k++) polygon.vertexlist[k] = s.triangles[3 * t + k];
        in.facetmarkerlist[t] = order.patch ? order.patch[t] + 1 : 1;
    }
    in.numberofholes = static_cast<int>(holes.size() / 3);
    if (in.numberofholes > 0) {
        in.holelist = new REAL[holes.size()];
        std::memcpy(in.holelist, holes.data(), sizeof(double) * holes.size());
    }
}

// A group for each patch: the nodes of the boundary triangles that carry its marker.
modal_status add_groups(const modalmesh_order &order, const tetgenio &out, modal_volume_mesh *mesh,
                        modal_error *err)
{
    std::vector<std::vector<bool>> in(order.n_groups, std::vector<bool>(out.numberofpoints));
    for (int f = 0; f < out.numberoftrifaces; f++) {
        int marker = out.trifacemarkerlist ? out.trifacemarkerlist[f] : 0;
        for (int k = 0; k < 3 && marker >= 1 && marker <= order.n_groups; k++)
            in[marker - 1][out.trifacelist[3 * f + k]] = true;
    }
    modal_free(&mesh->groups);
    modal_status status = modal_alloc_zero(&mesh->groups, order.n_groups, sizeof *mesh->groups, "groups", err);
    for (int32_t p = 0; p < order.n_groups && status == MODAL_OK; p++) {
        modal_group *group = &mesh->groups[mesh->n_groups++];
        char name[256];
        modalmesh_group_name(&order, p, name);
        group->dimension = 2;
        group->tag = p + 1;
        status = modal_copy_text(&group->name, name, sizeof name, err);
        int64_t n = 0;
        for (bool is_in : in[p]) n += is_in;
        if (status == MODAL_OK) status = modal_alloc(&group->nodes, n, sizeof(int32_t), "group", err);
        if (status == MODAL_OK) status = modal_alloc(&group->elements, 0, sizeof(int32_t), "group", err);
        for (int i = 0; i < out.numberofpoints && status == MODAL_OK; i++)
            if (in[p][i]) group->nodes[group->n_nodes++] = i;
    }
    return status;
}

modal_status mesh_once(const modalmesh_order &order, double size, const std::vector<double> &holes,
                       modal_volume_mesh *mesh, modalmesh_told *told, modal_error *err)
{
    static const char *const causes[] = {
        "unknown", "out of memory", "an internal error", "the surface intersects itself",
        "a feature too small for its arithmetic", "two facets that nearly touch"};
    // Never freed: the process ends soon, and freeing each of the facets takes as long as making it.
    tetgenio &in = *new tetgenio, &out = *new tetgenio;
    char switches[96];
    fill_input(order, holes, in);
    // A regular tetrahedron of that edge.
    if (size > 0)
        std::snprintf(switches, sizeof switches, "pq1.4a%.17gz", size * size * size / (6 * std::sqrt(2.0)));
    else
        std::snprintf(switches, sizeof switches, "pq1.4z");
    const double start = modalmesh_seconds();
    try {
        tetrahedralize(switches, &in, &out);
    } catch (int code) {
        return modal_error_set(err, code == 1 ? MODAL_ERROR_MEMORY : MODAL_ERROR_INPUT,
                               "%s: tetgen: no mesh, %s (%d)", order.path,
                               code >= 1 && code <= 5 ? causes[code] : causes[0], code);
    } catch (const std::bad_alloc &) {
        return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: tetgen: out of memory", order.path);
    }
    told->seconds += modalmesh_seconds() - start;
    if (out.numberoftetrahedra < 1 || out.numberofcorners != 4)
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: tetgen: no tetrahedra", order.path);
    modal_status status =
        modalmesh_new_mesh(mesh, out.numberofpoints, out.numberoftetrahedra, MODAL_ELEMENT_TET4, err);
    if (status != MODAL_OK) return status;
    std::memcpy(mesh->nodes, out.pointlist, 3 * sizeof(double) * out.numberofpoints);
    for (int64_t i = 0; i < 4 * static_cast<int64_t>(out.numberoftetrahedra); i++)
        mesh->element_nodes[i] = out.tetrahedronlist[i];
    if (order.n_groups > 0) status = add_groups(order, out, mesh, err);
    if (status == MODAL_OK && order.order == 2) status = modal_volume_mesh_raise_order(mesh, err);
    return status;
}

} // namespace

modal_status modalmesh_tetgen(const modalmesh_order *order, modal_volume_mesh *mesh, modalmesh_told *told,
                              modal_error *err)
{
    std::vector<double> holes;
    for (int32_t s = 0; s < order->n_shells; s++) {
        double point[3];
        if (order->outer[s] == s) continue;
        if (!point_inside(*order, s, point))
            return modal_error_set(err, MODAL_ERROR_INPUT, "%s: no inside found of cavity %d", order->path, s);
        holes.insert(holes.end(), point, point + 3);
    }
    return mesh_once(*order, order->size, holes, mesh, told, err);
}
