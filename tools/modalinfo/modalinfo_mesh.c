/* SPDX-License-Identifier: Apache-2.0 */
/* What a volume mesh or a surface holds, before anything is made of it: above all its groups, by which --fixed holds
 * nodes. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/json/json_text.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/surface_read.h"
#include "lib/base/memory.h"
#include "lib/mesh/boundary.h"
#include "lib/mesh/check.h"
#include "lib/mesh/measure.h"
#include "lib/mesh/quality.h"
#include "lib/mesh/surface_check.h"
#include "tools/common/ignore.h"
#include "tools/common/units.h"
#include "tools/modalinfo/modalinfo.h"

static void set(json_t *object, const char *key, json_t *value) { json_object_set_new(object, key, value); }

static json_t *vector(const double x[3]) { return json_pack("[f, f, f]", x[0], x[1], x[2]); }

static json_t *box(const double low[3], const double high[3]) { return json_pack("[o, o]", vector(low), vector(high)); }

static json_t *begin(const char *path, const char *type)
{
    struct stat info;
    json_t *object = json_object();
    set(object, "file", modal_json_string(path));
    set(object, "type", json_string(type));
    set(object, "bytes", json_integer(stat(path, &info) == 0 ? (json_int_t)info.st_size : 0));
    return object;
}

/* Triangles added together. */
typedef struct patch {
    int64_t n;
    double area, moment[3], vector[3]; /* moment: area times centre; vector: area times normal */
    double low[3], high[3];
} patch;

static void widen(patch *p, const double x[3])
{
    for (int k = 0; k < 3; k++) {
        p->low[k] = fmin(p->low[k], x[k]);
        p->high[k] = fmax(p->high[k], x[k]);
    }
}

static patch empty_patch(void)
{
    return (patch){.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
}

static void add_triangle(patch *p, const modal_surface_mesh *s, int64_t triangle)
{
    const double *x[3];
    double normal[3];
    for (int k = 0; k < 3; k++) x[k] = s->positions + 3 * (int64_t)s->triangles[3 * triangle + k];
    for (int k = 0; k < 3; k++) {
        const int a = (k + 1) % 3, b = (k + 2) % 3;
        normal[k] = 0.5 * ((x[1][a] - x[0][a]) * (x[2][b] - x[0][b]) - (x[1][b] - x[0][b]) * (x[2][a] - x[0][a]));
    }
    const double area = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    p->n++;
    p->area += area;
    for (int k = 0; k < 3; k++) {
        p->vector[k] += normal[k];
        p->moment[k] += area * (x[0][k] + x[1][k] + x[2][k]) / 3;
        widen(p, x[k]);
    }
}

/* area_m2, centre_m, and the normal with how plane it is: |sum of A n| / sum of A, 1 where all triangles face one way. */
static void set_patch(json_t *to, const patch *p)
{
    if (p->low[0] <= p->high[0]) set(to, "box_m", box(p->low, p->high));
    if (!(p->area > 0)) return;
    double centre[3], normal[3];
    const double length = sqrt(p->vector[0] * p->vector[0] + p->vector[1] * p->vector[1] + p->vector[2] * p->vector[2]);
    for (int k = 0; k < 3; k++) {
        centre[k] = p->moment[k] / p->area;
        normal[k] = p->vector[k] / length;
    }
    set(to, "area_m2", json_real(p->area));
    set(to, "centre_m", vector(centre));
    set(to, "flatness", json_real(length / p->area));
    if (length > 1e-6 * p->area) set(to, "normal", vector(normal));
}

/* ---- a volume mesh ---- */

/* Of elements of the group: volume and centre. Of others: the triangles of the boundary that have all corners in it. */
static void describe_group(const modal_volume_mesh *mesh, const modal_group *group, const modal_surface_mesh *surface,
                           const int32_t *vertex_nodes, const modal_rule_table *rules, uint8_t *marks, json_t *list)
{
    json_t *one = json_object();
    patch p = empty_patch();
    set(one, "name", modal_json_string(group->name));
    set(one, "dimension", json_integer(group->dimension));
    set(one, "nodes", json_integer(group->n_nodes));
    set(one, "elements", json_integer(group->n_elements));
    for (int64_t i = 0; i < group->n_nodes; i++) {
        marks[group->nodes[i]] = 1;
        widen(&p, mesh->nodes + 3 * (int64_t)group->nodes[i]);
    }
    if (group->dimension == 3) {
        double volume = 0;
        for (int64_t i = 0; i < group->n_elements; i++)
            volume += modal_element_measure(mesh, group->elements[i], rules).volume;
        set(one, "volume_m3", json_real(volume));
    }
    for (int64_t t = 0; group->dimension < 3 && t < surface->n_triangles; t++) {
        const int32_t *corners = surface->triangles + 3 * t;
        if (marks[vertex_nodes[corners[0]]] && marks[vertex_nodes[corners[1]]] && marks[vertex_nodes[corners[2]]])
            add_triangle(&p, surface, t);
    }
    set_patch(one, &p);
    for (int64_t i = 0; i < group->n_nodes; i++) marks[group->nodes[i]] = 0;
    json_array_append_new(list, one);
}

static json_t *describe_quality(const modal_volume_mesh *mesh)
{
    modal_mesh_quality q;
    json_t *j = json_object();
    modal_mesh_measure_quality(mesh, &q);
    set(j, "tetrahedra", json_integer(q.n_tetrahedra));
    if (q.n_tetrahedra == 0) return j;
    set(j, "least_radius_ratio", json_real(q.least_ratio));
    set(j, "mean_radius_ratio", json_real(q.mean_ratio));
    set(j, "worst_element", json_integer(q.worst));
    set(j, "least_dihedral_deg", json_real(q.least_angle));
    set(j, "greatest_dihedral_deg", json_real(q.greatest_angle));
    return j;
}

static void describe_conditions(const modal_volume_mesh *mesh, json_t *to)
{
    json_t *held = json_array(), *others = json_array();
    for (int32_t i = 0; i < mesh->n_conditions; i++) {
        const modal_condition *c = &mesh->conditions[i];
        char axes[4] = "";
        for (int k = 0, n = 0; k < 3; k++)
            if (c->components >> k & 1) axes[n++] = "xyz"[k], axes[n] = '\0';
        json_array_append_new(held, json_pack("{s:o, s:I, s:s}", "set", c->group.name ? modal_json_string(c->group.name) : json_null(),
                                              "nodes", (json_int_t)c->group.n_nodes, "components", axes));
    }
    for (int k = 0; k < MODAL_UNSUPPORTED_KINDS; k++)
        for (int32_t i = 0; i < mesh->not_taken[k].n; i++)
            json_array_append_new(others, json_pack("{s:s, s:o}", "kind", tool_unsupported_names[k], "text",
                                                    modal_json_string(mesh->not_taken[k].texts[i])));
    set(to, "held", held);
    set(to, "not_taken", others);
}

modal_status modalinfo_describe_mesh(tool *t, const char *path, const tool_units *units, json_t **info, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_volume_mesh mesh = {0};
    modal_mesh_summary summary = {0};
    modal_surface_mesh surface = {0};
    modal_rule_table rules = {0};
    int32_t *vertex_nodes = NULL;
    uint8_t *marks = NULL;
    int64_t counts[MODAL_ELEMENT_TYPES] = {0};
    json_t *j = begin(path, "mesh"), *types = json_object(), *groups = json_array(), *materials = json_array();
    *info = j;
    set(j, "elements", types);
    set(j, "groups", groups);
    set(j, "materials", materials);
    MODAL_TRY(modal_mesh_read(path, &mesh, err));
    tool_warn_notes(t, path, &mesh.notes);
    const int32_t n_in_mesh_units = tool_mesh_to_metres(t, path, units, &mesh);
    tool_doubt_materials(t, path, mesh.n_materials, mesh.materials, n_in_mesh_units, units);
    status = modal_volume_mesh_check(&mesh, &summary, err);
    if (status == MODAL_OK) status = modal_volume_mesh_boundary(&mesh, &surface, &vertex_nodes, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", path);
        goto done;
    }
    if (summary.n_straightened > 0)
        tool_warn(t, "%s: elements that their middle nodes turned inside out have straight edges now, %lld", path,
                  (long long)summary.n_straightened);
    MODAL_TRY(modal_rule_table_init(&mesh, &rules, err));
    MODAL_TRY(modal_alloc_zero(&marks, mesh.n_nodes, 1, "nodes", err));
    for (int64_t e = 0; e < mesh.n_elements; e++) counts[mesh.element_type[e]]++;
    for (int i = 0; i < MODAL_ELEMENT_TYPES; i++)
        if (counts[i] > 0) set(types, modal_element_kinds[i].name, json_integer(counts[i]));
    set(j, "nodes", json_integer(mesh.n_nodes));
    set(j, "unused_nodes", json_integer(summary.dropped_nodes));
    set(j, "components", json_integer(summary.n_components));
    set(j, "box_m", box(summary.box_min, summary.box_max));
    set(j, "volume_m3", json_real(summary.volume));
    patch all = empty_patch();
    for (int64_t i = 0; i < surface.n_triangles; i++) add_triangle(&all, &surface, i);
    set(j, "boundary_triangles", json_integer(surface.n_triangles));
    set(j, "boundary_area_m2", json_real(all.area));
    set(j, "quality", describe_quality(&mesh));
    for (int32_t i = 0; i < mesh.n_materials; i++) {
        const modal_material *m = &mesh.materials[i];
        json_t *one = json_pack("{s:o, s:f}", "name", modal_json_string(m->name), "density", m->density);
        if (m->kind == MODAL_MATERIAL_ISOTROPIC) {
            set(one, "young", json_real(m->young));
            set(one, "poisson", json_real(m->poisson));
        }
        json_array_append_new(materials, one);
    }
    for (int32_t i = 0; i < mesh.n_groups; i++)
        describe_group(&mesh, &mesh.groups[i], &surface, vertex_nodes, &rules, marks, groups);
    describe_conditions(&mesh, j);
done:
    modal_rule_table_free(&rules);
    modal_surface_mesh_free(&surface);
    modal_volume_mesh_free(&mesh);
    modal_free(&vertex_nodes);
    modal_free(&marks);
    return status;
}

/* ---- a surface ---- */

modal_status modalinfo_describe_surface(tool *t, const char *path, const tool_units *units, json_t **info, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh surface = {0};
    modal_surface_summary s;
    int64_t n_collapsed = 0;
    json_t *j = begin(path, "surface"), *groups = json_array();
    *info = j;
    set(j, "groups", groups);
    MODAL_TRY(modal_surface_read(path, &surface, &n_collapsed, err));
    tool_warn_notes(t, path, &surface.notes);
    for (int64_t i = 0; i < 3 * surface.n_vertices; i++) {
        surface.positions[i] *= units->unit->metres * units->scale;
        if (!isfinite(surface.positions[i]))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: vertex %lld: not finite", path, (long long)(i / 3));
    }
    MODAL_TRY(modal_surface_check(&surface, &s, err));
    set(j, "vertices", json_integer(s.n_vertices));
    set(j, "triangles", json_integer(s.n_triangles));
    set(j, "collapsed_triangles", json_integer(n_collapsed));
    set(j, "components", json_integer(s.n_components));
    set(j, "texture_coordinates", json_integer(surface.n_uv));
    if (s.n_triangles > 0) set(j, "box_m", box(s.box_min, s.box_max));
    set(j, "area_m2", json_real(s.area));
    set(j, "volume_m3", json_real(s.volume));
    set(j, "bounds_a_solid", json_boolean(modal_surface_is_sound(&s)));
    set(j, "quality", json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f}", "open_edges", (json_int_t)s.n_open_edges,
                                "edges_of_three_triangles", (json_int_t)s.n_shared_edges, "turned_edges",
                                (json_int_t)s.n_turned_edges, "intersections", (json_int_t)s.n_intersections, "overlaps",
                                (json_int_t)s.n_overlaps, "flat_triangles",
                                (json_int_t)s.n_flat, "shortest_edge_m", s.n_triangles > 0 ? s.shortest_edge : 0.0,
                                "mean_edge_m", s.mean_edge, "longest_edge_m", s.longest_edge));
    for (int32_t i = 0; i < surface.n_parts; i++) {
        patch p = empty_patch();
        for (int64_t k = 0; k < surface.n_triangles; k++)
            if (surface.triangle_part[k] == i) add_triangle(&p, &surface, k);
        json_t *one = json_pack("{s:o, s:i, s:I}", "name", modal_json_string(surface.part_names[i]), "dimension", 2, "triangles",
                                (json_int_t)p.n);
        set_patch(one, &p);
        json_array_append_new(groups, one);
    }
done:
    modal_surface_mesh_free(&surface);
    return status;
}

/* ---- as text ---- */

static long long integer(const json_t *object, const char *key) { return (long long)json_integer_value(json_object_get(object, key)); }

static double number(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static void put_vector(FILE *to, const json_t *x)
{
    for (size_t k = 0; k < 3; k++) {
        const double value = json_number_value(json_array_get(x, k));
        fprintf(to, "%s%.5g", k ? "," : "", fabs(value) < 1e-15 ? 0 : value); /* rounding */
    }
}

static void put_box(FILE *to, const json_t *j)
{
    const json_t *low = json_array_get(json_object_get(j, "box_m"), 0), *high = json_array_get(json_object_get(j, "box_m"), 1);
    if (!low) return;
    fprintf(to, "%-22s", "box");
    for (size_t k = 0; k < 3; k++)
        fprintf(to, "%s%.6g", k ? " x " : "", json_number_value(json_array_get(high, k)) - json_number_value(json_array_get(low, k)));
    fputs(" m, from ", to);
    put_vector(to, low);
    fputs(" to ", to);
    put_vector(to, high);
    fputc('\n', to);
}

static void put_groups(FILE *to, const json_t *groups)
{
    size_t i;
    json_t *one;
    json_array_foreach (groups, i, one) {
        fputs(i == 0 ? "\ngroups\n  \"" : "  \"", to);
        tool_put_text(to, json_string_value(json_object_get(one, "name")));
        fprintf(to, "\" of dimension %lld: ", integer(one, "dimension"));
        if (json_object_get(one, "triangles")) fprintf(to, "%lld triangles", integer(one, "triangles"));
        else fprintf(to, "%lld nodes", integer(one, "nodes"));
        if (integer(one, "elements") > 0) fprintf(to, ", %lld elements", integer(one, "elements"));
        if (json_object_get(one, "volume_m3")) fprintf(to, ", %.5g m^3", number(one, "volume_m3"));
        if (json_object_get(one, "area_m2")) {
            fprintf(to, ", %.5g m^2, centre ", number(one, "area_m2"));
            put_vector(to, json_object_get(one, "centre_m"));
        }
        if (json_object_get(one, "normal")) {
            fputs(", normal ", to);
            put_vector(to, json_object_get(one, "normal"));
            if (number(one, "flatness") < 0.999) fprintf(to, " (curved, %.2f)", number(one, "flatness"));
        }
        if (json_object_get(one, "box_m")) {
            fputs("\n      from ", to);
            put_vector(to, json_array_get(json_object_get(one, "box_m"), 0));
            fputs(" to ", to);
            put_vector(to, json_array_get(json_object_get(one, "box_m"), 1));
        }
        fputc('\n', to);
    }
}

static void print_surface(FILE *to, const json_t *j)
{
    const json_t *q = json_object_get(j, "quality");
    fprintf(to, "%-22s%lld\n%-22s%lld\n%-22s%lld\n", "vertices", integer(j, "vertices"), "triangles", integer(j, "triangles"),
            "components", integer(j, "components"));
    put_box(to, j);
    fprintf(to, "%-22s%.6g m^2, %.6g m^3\n", "area, volume", number(j, "area_m2"), number(j, "volume_m3"));
    fprintf(to, "%-22s%s\n", "bounds a solid", json_is_true(json_object_get(j, "bounds_a_solid")) ? "yes" : "no (modalmesh --check, --repair)");
    fprintf(to, "%-22s%lld open, %lld of three triangles, %lld turned; %lld crossing pairs, %lld flat triangles\n", "edges",
            integer(q, "open_edges"), integer(q, "edges_of_three_triangles"), integer(q, "turned_edges"), integer(q, "intersections"),
            integer(q, "flat_triangles"));
    fprintf(to, "%-22s%.4g shortest, %.4g mean, %.4g m longest\n", "  lengths", number(q, "shortest_edge_m"), number(q, "mean_edge_m"),
            number(q, "longest_edge_m"));
}

void modalinfo_print_mesh(FILE *to, const json_t *j)
{
    size_t i;
    json_t *one;
    const char *type;
    if (strcmp(json_string_value(json_object_get(j, "type")), "surface") == 0) {
        print_surface(to, j);
        put_groups(to, json_object_get(j, "groups"));
        return;
    }
    const json_t *q = json_object_get(j, "quality");
    fprintf(to, "%-22s%lld\n%-22s", "nodes", integer(j, "nodes"), "elements");
    i = 0;
    json_object_foreach ((json_t *)json_object_get(j, "elements"), type, one)
        fprintf(to, "%s%lld %s", i++ ? ", " : "", (long long)json_integer_value(one), type);
    fprintf(to, "\n%-22s%lld\n", "components", integer(j, "components"));
    put_box(to, j);
    fprintf(to, "%-22s%.6g m^3\n%-22s%lld triangles, %.6g m^2\n", "volume", number(j, "volume_m3"), "boundary",
            integer(j, "boundary_triangles"), number(j, "boundary_area_m2"));
    if (json_object_get(q, "least_radius_ratio"))
        fprintf(to, "%-22sradius ratio %.3f least (element %lld), %.3f mean; dihedral angles %.1f to %.1f degrees\n", "quality",
                number(q, "least_radius_ratio"), integer(q, "worst_element"), number(q, "mean_radius_ratio"),
                number(q, "least_dihedral_deg"), number(q, "greatest_dihedral_deg"));
    json_array_foreach (json_object_get(j, "materials"), i, one) {
        fprintf(to, "%-22s", i == 0 ? "materials" : "");
        tool_put_text(to, json_string_value(json_object_get(one, "name")));
        if (json_object_get(one, "young")) fprintf(to, ": E %.6g Pa, nu %.6g", number(one, "young"), number(one, "poisson"));
        else fputs(": orthotropic", to);
        fprintf(to, ", rho %.6g kg/m^3\n", number(one, "density"));
    }
    json_array_foreach (json_object_get(j, "held"), i, one) {
        fprintf(to, "%-22s", i == 0 ? "held by *BOUNDARY" : "");
        if (json_is_string(json_object_get(one, "set"))) tool_put_text(to, json_string_value(json_object_get(one, "set")));
        else fputs("nodes by their numbers", to);
        fprintf(to, ": %lld nodes, %s\n", integer(one, "nodes"), json_string_value(json_object_get(one, "components")));
    }
    json_array_foreach (json_object_get(j, "not_taken"), i, one) {
        fprintf(to, "%-22s%s: ", i == 0 ? "not taken" : "", json_string_value(json_object_get(one, "kind")));
        tool_put_text(to, json_string_value(json_object_get(one, "text")));
        fputc('\n', to);
    }
    put_groups(to, json_object_get(j, "groups"));
}
