/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/modalmesh/modalmesh_report.h"

#include "lib/mesh/quality.h"

static json_t *pair(const int32_t items[2])
{
    return items[0] < 0 ? json_null() : json_pack("[i, i]", items[0], items[1]);
}

static json_t *box(const double low[3], const double high[3])
{
    return json_pack("[[f, f, f], [f, f, f]]", low[0], low[1], low[2], high[0], high[1], high[2]);
}

static const char *yes(int is_so) { return is_so ? "yes" : "no"; }

void modalmesh_report_surface(tool *t, const modal_surface_summary *s, int print)
{
    FILE *to = tool_text_stream(t);
    int is_closed = s->n_open_edges == 0,
        is_manifold = s->n_shared_edges == 0 && s->n_pinched_vertices == 0 && s->n_duplicates == 0,
        is_oriented = s->n_turned_edges == 0;
    json_t *j = json_object();
    json_object_set_new(j, "vertices", json_integer(s->n_vertices));
    json_object_set_new(j, "triangles", json_integer(s->n_triangles));
    json_object_set_new(j, "components", json_integer(s->n_components));
    json_object_set_new(j, "closed", json_boolean(is_closed));
    json_object_set_new(j, "manifold", json_boolean(is_manifold));
    json_object_set_new(j, "oriented", json_boolean(is_oriented));
    json_object_set_new(j, "self_intersecting", json_boolean(s->n_intersections + s->n_overlaps > 0));
    json_object_set_new(j, "bounds_a_solid", json_boolean(modal_surface_is_sound(s)));
    json_object_set_new(j, "open_edges", json_integer(s->n_open_edges));
    json_object_set_new(j, "holes", json_integer(s->n_holes));
    json_object_set_new(j, "first_open_edge", pair(s->open_edge));
    json_object_set_new(j, "edges_of_three_triangles", json_integer(s->n_shared_edges));
    json_object_set_new(j, "first_edge_of_three_triangles", pair(s->shared_edge));
    json_object_set_new(j, "turned_edges", json_integer(s->n_turned_edges));
    json_object_set_new(j, "first_turned_edge", pair(s->turned_edge));
    json_object_set_new(j, "pinched_vertices", json_integer(s->n_pinched_vertices));
    json_object_set_new(j, "duplicate_triangles", json_integer(s->n_duplicates));
    json_object_set_new(j, "duplicate_vertices", json_integer(s->n_duplicate_vertices));
    json_object_set_new(j, "flat_triangles", json_integer(s->n_flat));
    json_object_set_new(j, "intersections", json_integer(s->n_intersections));
    json_object_set_new(j, "first_intersection", pair(s->intersection));
    json_object_set_new(j, "overlaps", json_integer(s->n_overlaps));
    json_object_set_new(j, "first_overlap", pair(s->overlap));
    json_object_set_new(j, "unused_vertices", json_integer(s->n_unused));
    json_object_set_new(j, "area_m2", json_real(s->area));
    json_object_set_new(j, "volume_m3", json_real(s->volume));
    json_object_set_new(j, "shortest_edge_m", json_real(s->n_triangles > 0 ? s->shortest_edge : 0));
    json_object_set_new(j, "mean_edge_m", json_real(s->mean_edge));
    json_object_set_new(j, "longest_edge_m", json_real(s->longest_edge));
    json_object_set_new(j, "box_m", box(s->box_min, s->box_max));
    json_object_set_new(t->report, "surface", j);
    if (!print || !to) return;
    fprintf(to, "surface            %lld vertices, %lld triangles, %d components\n",
            (long long)s->n_vertices, (long long)s->n_triangles, s->n_components);
    fprintf(to, "closed             %s, %lld open edges, %lld holes\n", yes(is_closed),
            (long long)s->n_open_edges, (long long)s->n_holes);
    fprintf(to, "manifold           %s, %lld edges of three triangles, %lld pinched vertices, %lld duplicates\n",
            yes(is_manifold), (long long)s->n_shared_edges, (long long)s->n_pinched_vertices,
            (long long)s->n_duplicates);
    fprintf(to, "oriented           %s, %lld turned edges\n", yes(is_oriented), (long long)s->n_turned_edges);
    fprintf(to, "self-intersecting  %s, %lld pairs of triangles cross, %lld overlap in one plane\n",
            yes(s->n_intersections + s->n_overlaps > 0), (long long)s->n_intersections, (long long)s->n_overlaps);
    fprintf(to, "vertices           %lld duplicate, %lld unused; %lld flat triangles\n",
            (long long)s->n_duplicate_vertices, (long long)s->n_unused, (long long)s->n_flat);
    fprintf(to, "edges              %.4g shortest, %.4g mean, %.4g m longest\n",
            s->n_triangles > 0 ? s->shortest_edge : 0, s->mean_edge, s->longest_edge);
    fprintf(to, "area, volume       %.6g m^2, %.6g m^3\n", s->area, s->volume);
    fprintf(to, "box                %.6g %.6g %.6g to %.6g %.6g %.6g m\n", s->box_min[0], s->box_min[1],
            s->box_min[2], s->box_max[0], s->box_max[1], s->box_max[2]);
}

void modalmesh_report_repairs(tool *t, const modal_surface_repairs *r)
{
    const struct {
        const char *key, *text;
        int64_t n;
    } done[] = {{"merged_vertices", "vertices at the place of another one merged", r->merged_vertices},
                {"removed_flat_triangles", "triangles with a vertex twice removed", r->removed_flat},
                {"removed_duplicate_triangles", "duplicate triangles removed", r->removed_duplicates},
                {"turned_triangles", "triangles turned", r->turned_triangles},
                {"filled_holes", "pinholes closed", r->filled_holes},
                {"added_triangles", "triangles added there", r->added_triangles},
                {"removed_vertices", "unused vertices removed", r->removed_vertices}};
    json_t *j = json_object();
    int64_t n = 0;
    for (size_t i = 0; i < sizeof done / sizeof *done; i++) {
        json_object_set_new(j, done[i].key, json_integer(done[i].n));
        if (done[i].n > 0) tool_note(t, "repair: %s, %lld", done[i].text, (long long)done[i].n);
        n += done[i].n;
    }
    if (n == 0) tool_note(t, "repair: nothing to do");
    json_object_set_new(t->report, "repairs", j);
}

void modalmesh_report_mesh(tool *t, const modal_volume_mesh *mesh, const modal_mesh_summary *summary,
                           int print)
{
    FILE *to = tool_text_stream(t);
    modal_mesh_quality q;
    json_t *j = json_object(), *types = json_object(), *ratios = json_array(), *angles = json_array();
    int64_t counts[MODAL_ELEMENT_TYPES] = {0}, most = 1;
    modal_mesh_measure_quality(mesh, &q);
    for (int64_t e = 0; e < mesh->n_elements; e++) counts[mesh->element_type[e]]++;
    for (int i = 0; i < MODAL_ELEMENT_TYPES; i++)
        if (counts[i] > 0) json_object_set_new(types, modal_element_kinds[i].name, json_integer(counts[i]));
    for (int i = 0; i < MODAL_RATIO_BINS; i++) {
        json_array_append_new(ratios, json_integer(q.ratios[i]));
        if (q.ratios[i] > most) most = q.ratios[i];
    }
    for (int i = 0; i < MODAL_ANGLE_BINS; i++) json_array_append_new(angles, json_integer(q.angles[i]));
    json_object_set_new(j, "nodes", json_integer(mesh->n_nodes));
    json_object_set_new(j, "elements", types);
    json_object_set_new(j, "groups", json_integer(mesh->n_groups));
    json_object_set_new(j, "components", json_integer(summary->n_components));
    json_object_set_new(j, "volume_m3", json_real(summary->volume));
    json_object_set_new(j, "box_m", box(summary->box_min, summary->box_max));
    json_object_set_new(j, "dropped_nodes", json_integer(summary->dropped_nodes));
    json_object_set_new(j, "least_radius_ratio", json_real(q.least_ratio));
    json_object_set_new(j, "mean_radius_ratio", json_real(q.mean_ratio));
    json_object_set_new(j, "worst_element", q.worst < 0 ? json_null() : json_integer(q.worst));
    json_object_set_new(j, "least_dihedral_deg", json_real(q.least_angle));
    json_object_set_new(j, "greatest_dihedral_deg", json_real(q.greatest_angle));
    json_object_set_new(j, "radius_ratio_tenths", ratios);
    json_object_set_new(j, "dihedral_tens_of_degrees", angles);
    json_object_set_new(t->report, "mesh", j);
    if (!print || !to) return;
    fprintf(to, "mesh               %lld nodes", (long long)mesh->n_nodes);
    for (int i = 0; i < MODAL_ELEMENT_TYPES; i++)
        if (counts[i] > 0) fprintf(to, ", %lld %s", (long long)counts[i], modal_element_kinds[i].name);
    fprintf(to, ", %d groups, %d components\nvolume             %.6g m^3\n", mesh->n_groups,
            summary->n_components, summary->volume);
    if (q.n_tetrahedra == 0) return;
    fprintf(to, "radius ratio       %.3f least (element %lld), %.3f mean\n", q.least_ratio, (long long)q.worst,
            q.mean_ratio);
    for (int i = 0; i < MODAL_RATIO_BINS; i++)
        fprintf(to, "  %.1f - %.1f %10lld %.*s\n", 0.1 * i, 0.1 * (i + 1), (long long)q.ratios[i],
                (int)(50 * q.ratios[i] / most), "##################################################");
    fprintf(to, "dihedral angles    %.1f to %.1f degrees\n", q.least_angle, q.greatest_angle);
}
