// SPDX-License-Identifier: Apache-2.0
// modalmesh --wrap: a closed surface around anything, by CGAL (GPL). C. Portaneri, M. Rouxel-Labbé, M. Hemmer,
// D. Cohen-Steiner, P. Alliez, "Alpha Wrapping with an Offset", ACM Transactions on Graphics 41, 2022.
#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <new>
#include <vector>

#include <CGAL/AABB_traits.h>
#include <CGAL/AABB_tree.h>
#include <CGAL/AABB_triangle_primitive.h>
#include <CGAL/Exact_predicates_inexact_constructions_kernel.h>
#include <CGAL/Surface_mesh.h>
#include <CGAL/alpha_wrap_3.h>

extern "C" {
#include "lib/base/memory.h"
#include "tools/modalmesh/modalmesh.h"
}

namespace {

using Kernel = CGAL::Exact_predicates_inexact_constructions_kernel;
using Point = Kernel::Point_3;
using Triangle = Kernel::Triangle_3;
using Triangles = std::vector<Triangle>;
using Primitive = CGAL::AABB_triangle_primitive<Kernel, Triangles::const_iterator>;
using Tree = CGAL::AABB_tree<CGAL::AABB_traits<Kernel, Primitive>>;

// Shares of the distance D. A vertex of the wrap is OFFSET from the surface and a triangle's circumradius at most ALPHA,
// so that no point of the wrap is farther than the sum, below 1. What is narrower than 2 ALPHA is closed.
constexpr double alpha_share = 0.7, offset_share = 0.25;

// The largest distance of points of `from`, `step` apart or somewhat more, to the triangles of the tree.
double farthest(const Triangles &from, const Tree &to, double step)
{
    constexpr double most_points = 3e5;
    double area = 0, worst = 0;
    for (const Triangle &t : from) area += std::sqrt(t.squared_area());
    step = std::max(step, std::sqrt(2 * area / most_points));
    for (const Triangle &t : from) {
        const Kernel::Vector_3 a = t[1] - t[0], b = t[2] - t[0];
        const double longest = std::sqrt(std::max({a.squared_length(), b.squared_length(), (a - b).squared_length()}));
        const int n = std::max(1, static_cast<int>(std::ceil(longest / step)));
        for (int i = 0; i <= n; i++)
            for (int j = 0; j + i <= n; j++)
                worst = std::max(worst, to.squared_distance(t[0] + a * (double(i) / n) + b * (double(j) / n)));
    }
    return std::sqrt(worst);
}

modal_status wrap(const modalmesh_order &order, modal_volume_mesh *mesh, modalmesh_told *told, modal_error *err)
{
    const modal_surface_mesh &s = *order.surface;
    std::vector<Point> points;
    std::vector<std::array<std::size_t, 3>> faces;
    Triangles before, after;
    for (int64_t i = 0; i < s.n_vertices; i++)
        points.emplace_back(s.positions[3 * i], s.positions[3 * i + 1], s.positions[3 * i + 2]);
    for (int64_t t = 0; t < s.n_triangles; t++) {
        const int32_t *v = s.triangles + 3 * t;
        const Triangle triangle(points[v[0]], points[v[1]], points[v[2]]);
        if (triangle.is_degenerate()) continue; // a line: its neighbours are there, too
        faces.push_back({std::size_t(v[0]), std::size_t(v[1]), std::size_t(v[2])});
        before.push_back(triangle);
    }
    if (faces.empty()) return modal_error_set(err, MODAL_ERROR_INPUT, "%s: no triangle has an area", order.path);
    CGAL::Surface_mesh<Point> out;
    CGAL::alpha_wrap_3(points, faces, alpha_share * order.wrap, offset_share * order.wrap, out);
    if (out.number_of_faces() == 0) return modal_error_set(err, MODAL_ERROR_INPUT, "%s: the wrap is empty", order.path);

    // A surface comes back as nodes and one group whose nodes are the triangles' vertices.
    out.collect_garbage();
    const int64_t n = out.number_of_vertices();
    modal_status status = modalmesh_new_mesh(mesh, n, 0, MODAL_ELEMENT_TET4, err);
    if (status != MODAL_OK) return status;
    for (const auto v : out.vertices())
        for (int k = 0; k < 3; k++) mesh->nodes[3 * static_cast<int64_t>(v) + k] = out.point(v)[k];
    modal_free(&mesh->groups);
    status = modal_alloc_zero(&mesh->groups, 1, sizeof *mesh->groups, "wrap", err);
    if (status != MODAL_OK) return status;
    modal_group *group = &mesh->groups[mesh->n_groups++];
    status = modal_copy_text(&group->name, "wrap", 4, err);
    if (status == MODAL_OK)
        status = modal_alloc(&group->nodes, 3 * static_cast<int64_t>(out.number_of_faces()), sizeof(int32_t), "wrap", err);
    if (status == MODAL_OK) status = modal_alloc(&group->elements, 0, sizeof(int32_t), "wrap", err);
    if (status != MODAL_OK) return status;
    for (const auto f : out.faces()) {
        std::array<Point, 3> corner;
        int k = 0;
        for (const auto v : out.vertices_around_face(out.halfedge(f))) {
            corner[k++] = out.point(v);
            group->nodes[group->n_nodes++] = static_cast<int32_t>(v);
        }
        after.emplace_back(corner[0], corner[1], corner[2]);
    }
    const Tree to_before(before.cbegin(), before.cend()), to_after(after.cbegin(), after.cend());
    told->distances[0] = farthest(after, to_before, order.wrap / 8);
    told->distances[1] = farthest(before, to_after, order.wrap / 8);
    return MODAL_OK;
}

} // namespace

modal_status modalmesh_cgal(const modalmesh_order *order, modal_volume_mesh *mesh, modalmesh_told *told, modal_error *err)
{
    const double start = modalmesh_seconds();
    try {
        const modal_status status = wrap(*order, mesh, told, err);
        told->seconds += modalmesh_seconds() - start;
        return status;
    } catch (const std::bad_alloc &) {
        return modal_error_set(err, MODAL_ERROR_MEMORY, "%s: cgal: out of memory", order->path);
    } catch (const std::exception &failure) {
        return modal_error_set(err, MODAL_ERROR_INPUT, "%s: cgal: %.200s", order->path, failure.what());
    }
}
