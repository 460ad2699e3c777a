/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: from a mesh of a solid to its modal basis. */
#include <cholmod.h>
#include <hdf5.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "formats/basis_h5.h"
#include "formats/bou.h"
#include "formats/mesh_read.h"
#include "formats/obj.h"
#include "lib/base/memory.h"
#include "lib/mesh/check.h"
#include "lib/mesh/shape_surface.h"
#include "lib/modes/modes.h"
#include "tools/common/output.h"
#include "tools/common/tool.h"

static const tool_option options[] = {
    {"modes", 'm', "N", "20", "Number of modes, rigid ones not counted.", 0},
    {"young", 0, "E", NULL, "Young's modulus in Pa, for all elements.", 0},
    {"poisson", 0, "NU", NULL, "Poisson's ratio, for all elements.", 0},
    {"density", 0, "RHO", NULL, "Density in kg/m^3, for all elements.", 0},
    {"material", 0, "GROUP=E,NU,RHO", NULL,
     "Material of a volume group; goes before the three options above and before what the mesh file "
     "says. May be repeated.",
     1},
    {"fixed", 0, "GROUP|FILE", NULL,
     "Nodes that do not move: a named group of the mesh (2:NAME for the one of dimension 2, where several "
     "bear that name), or a VegaFEM .bou file of node numbers. May be repeated; without it the body is "
     "free.",
     1},
    {"surface", 0, "FINE.obj", NULL,
     "Deform this finer surface, embedded in the solid, instead of the solid's own boundary.", 0},
    {"mass", 0, "RULE", "consistent", "Mass matrix: consistent or lumped.", 0},
    TOOL_OPTION_FORCE,
    TOOL_OPTION_THREADS,
    TOOL_OPTIONS_COMMON,
    {0},
};

static void print_versions(FILE *to)
{
    unsigned h[3];
    int c[3];
    H5get_libversion(&h[0], &h[1], &h[2]);
    cholmod_version(c);
    fprintf(to, "HDF5 %u.%u.%u, CHOLMOD %d.%d.%d\n", h[0], h[1], h[2], c[0], c[1], c[2]);
    fprintf(to, "this program links CHOLMOD's supernodal module and carries its terms (GPL)\n");
}

static const tool_program program = {
    .name = "modalpack",
    .summary = "computes the modal basis of a solid and packs it into a file",
    .usage = "[options] MESH BASIS.h5",
    .options = options,
    .least_operands = 2,
    .most_operands = 2,
    .notes = "MESH is Gmsh .msh 2.2 or 4.1 (ASCII or binary) or VegaFEM .veg, of linear tetrahedra, in\n"
             "metres. Units are SI throughout.",
    .examples = "modalpack fork.msh fork.h5 --young 2.06e11 --poisson 0.29 --density 7850 --fixed stem_end\n"
                "modalpack bridge.veg bridge.h5 --fixed bridge.bou --surface bridge.obj --modes 30",
    .print_versions = print_versions,
};

/* What the command line asks for, checked as far as that goes without the mesh. */
typedef struct request {
    const char *mesh_path, *basis_path, *surface_path;
    int64_t n_modes;
    double young, poisson, density;
    int has_material;
    modal_mass_rule mass_rule;
    int threads;
} request;

static modal_status read_request(const tool *t, request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    *r = (request){.mesh_path = a->operands[0],
                   .basis_path = a->operands[1],
                   .surface_path = tool_value(a, "surface")};
    MODAL_TRY(tool_integer(a, "modes", 1, 1000000, &r->n_modes, err));
    int given = tool_count(a, "young") + tool_count(a, "poisson") + tool_count(a, "density");
    if (given != 0 && given != 3)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--young, --poisson, --density: give all three or none, %d",
                   given);
    r->has_material = given == 3;
    MODAL_TRY(tool_number(a, "young", 0, 1e15, &r->young, err));
    MODAL_TRY(tool_number(a, "poisson", -1, 0.5, &r->poisson, err));
    MODAL_TRY(tool_number(a, "density", 0, 1e9, &r->density, err));
    const char *mass = tool_value(a, "mass");
    if (strcmp(mass, "consistent") == 0)
        r->mass_rule = MODAL_MASS_CONSISTENT;
    else if (strcmp(mass, "lumped") == 0)
        r->mass_rule = MODAL_MASS_LUMPED;
    else
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--mass: must be consistent or lumped, %s", mass);
    MODAL_TRY(tool_threads(t, &r->threads, err));
    MODAL_TRY(tool_refuse_same_file(r->mesh_path, r->basis_path, err));
    if (r->surface_path) MODAL_TRY(tool_refuse_same_file(r->surface_path, r->basis_path, err));
done:
    return status;
}

/* The group of that name, or NULL. A name that groups of several dimensions bear needs the dimension in
 * front, "2:base". dimension < 0: any. */
static modal_status find_group(const modal_volume_mesh *mesh, const char *name, size_t length,
                               int dimension, const modal_group **group, modal_error *err)
{
    *group = NULL;
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        const modal_group *g = &mesh->groups[i];
        if (strlen(g->name) != length || memcmp(g->name, name, length) != 0) continue;
        if (dimension >= 0 && g->dimension != dimension) continue;
        if (*group)
            return modal_error_set(err, MODAL_ERROR_INPUT,
                                   "group %s: two of that name, say which: %d:%s or %d:%s", g->name,
                                   (*group)->dimension, g->name, g->dimension, g->name);
        *group = g;
    }
    if (!*group && dimension < 0 && length > 2 && name[0] >= '0' && name[0] <= '3' && name[1] == ':')
        return find_group(mesh, name + 2, length - 2, name[0] - '0', group, err);
    return MODAL_OK;
}

static modal_status unknown_group(const modal_volume_mesh *mesh, const char *option,
                                  const char *name, int length, int dimension, modal_error *err)
{
    char known[512] = "none";
    size_t used = 0;
    int32_t n_left = 0;
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        const modal_group *g = &mesh->groups[i];
        if (dimension >= 0 && g->dimension != dimension) continue;
        if (n_left > 0 || used + strlen(g->name) + 32 > sizeof known)
            n_left++;
        else
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                     g->name);
    }
    if (n_left > 0)
        snprintf(known + used, sizeof known - used, "%s%d more", used ? " and " : "", n_left);
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: unknown group, %.*s (known: %s)", option,
                           length, name, known);
}

static modal_status append_material(modal_volume_mesh *mesh, const char *name, size_t length,
                                    double young, double poisson, double density, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_material *longer = NULL, material = {NULL, young, poisson, density};
    MODAL_TRY(modal_copy_text(&material.name, name, length, err));
    MODAL_TRY(modal_alloc(&longer, mesh->n_materials + 1, sizeof *longer, "materials", err));
    if (mesh->n_materials > 0)
        memcpy(longer, mesh->materials, (size_t)mesh->n_materials * sizeof *longer);
    longer[mesh->n_materials++] = material;
    material.name = NULL;
    modal_free(&mesh->materials);
    mesh->materials = longer;
done:
    modal_free(&material.name);
    return status;
}

/* Materials: the mesh file's own, then the plain options for all, then --material for groups. */
static modal_status assign_materials(tool *t, const request *r, modal_volume_mesh *mesh,
                                     modal_error *err)
{
    modal_status status = MODAL_OK;
    uint8_t *by_option = NULL;
    MODAL_TRY(modal_alloc_zero(&by_option, mesh->n_elements, 1, "materials", err));
    if (r->has_material) {
        if (mesh->n_materials > 0) tool_note(t, "the materials of %s are replaced", r->mesh_path);
        for (int32_t i = 0; i < mesh->n_materials; i++) modal_free(&mesh->materials[i].name);
        mesh->n_materials = 0;
        MODAL_TRY(append_material(mesh, "all", 3, r->young, r->poisson, r->density, err));
        for (int64_t e = 0; e < mesh->n_elements; e++) mesh->element_material[e] = 0;
    }
    for (int i = 0; i < tool_count(&t->arguments, "material"); i++) {
        const char *text = tool_value_at(&t->arguments, "material", i), *equals = strrchr(text, '=');
        double constants[3];
        const modal_group *group;
        if (!equals || equals == text)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--material: not GROUP=E,NU,RHO, %s", text);
        MODAL_TRY(tool_parse_numbers(equals + 1, 3, constants, "--material", err));
        size_t length = (size_t)(equals - text);
        MODAL_TRY(find_group(mesh, text, length, 3, &group, err));
        if (!group) {
            status = unknown_group(mesh, "--material", text, (int)length, 3, err);
            goto done;
        }
        int32_t index = mesh->n_materials;
        MODAL_TRY(append_material(mesh, text, length, constants[0], constants[1], constants[2], err));
        for (int64_t k = 0; k < group->n_elements; k++) {
            int32_t e = group->elements[k];
            if (by_option[e])
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "--material: element %lld is in two of the groups, %s",
                           (long long)mesh->element_tags[e], group->name);
            by_option[e] = 1;
            mesh->element_material[e] = index;
        }
    }
    if (mesh->n_materials == 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "%s: no material in the file; give --young, --poisson and --density, or --material",
                   r->mesh_path);
done:
    modal_free(&by_option);
    return status;
}

typedef struct tagged_node {
    int64_t tag;
    int32_t node;
} tagged_node;

static int compare_tags(const void *a, const void *b)
{
    int64_t x = ((const tagged_node *)a)->tag, y = ((const tagged_node *)b)->tag;
    return (x > y) - (x < y);
}

/* Marks the nodes with the numbers that a .bou file lists. */
static modal_status mark_numbers(const modal_volume_mesh *mesh, const char *path, uint8_t *fixed,
                                 modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t *numbers = NULL, count = 0;
    tagged_node *tags = NULL;
    MODAL_TRY(modal_bou_read(path, &numbers, &count, err));
    MODAL_TRY(modal_alloc(&tags, mesh->n_nodes, sizeof *tags, "node numbers", err));
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        tags[i] = (tagged_node){mesh->node_tags[i], (int32_t)i};
    qsort(tags, (size_t)mesh->n_nodes, sizeof *tags, compare_tags);
    for (int64_t i = 0; i < count; i++) {
        tagged_node key = {numbers[i], 0};
        tagged_node *found =
            bsearch(&key, tags, (size_t)mesh->n_nodes, sizeof *tags, compare_tags);
        if (!found)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no element has a node of that number, %lld", path,
                       (long long)numbers[i]);
        fixed[found->node] = 1;
    }
done:
    modal_free(&numbers);
    modal_free(&tags);
    return status;
}

/* shape->fixed_nodes from the --fixed options: names of groups first, files second. */
static modal_status collect_fixed_nodes(const tool *t, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &shape->volume;
    uint8_t *fixed = NULL;
    MODAL_TRY(modal_alloc_zero(&fixed, mesh->n_nodes, 1, "fixed nodes", err));
    for (int i = 0; i < tool_count(&t->arguments, "fixed"); i++) {
        const char *name = tool_value_at(&t->arguments, "fixed", i);
        const modal_group *group;
        MODAL_TRY(find_group(mesh, name, strlen(name), -1, &group, err));
        FILE *file = group ? NULL : fopen(name, "r");
        if (file) {
            fclose(file);
            MODAL_TRY(mark_numbers(mesh, name, fixed, err));
        } else if (!group) {
            status = unknown_group(mesh, "--fixed", name, (int)strlen(name), -1, err);
            goto done;
        } else if (group->n_nodes == 0) {
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "--fixed: a group without nodes of the solid, %s", name);
        } else {
            for (int64_t k = 0; k < group->n_nodes; k++) fixed[group->nodes[k]] = 1;
        }
    }
    for (int64_t i = 0; i < mesh->n_nodes; i++) shape->n_fixed_nodes += fixed[i];
    MODAL_TRY(modal_alloc(&shape->fixed_nodes, shape->n_fixed_nodes, sizeof(int32_t), "fixed nodes",
                          err));
    int64_t k = 0;
    for (int64_t i = 0; i < mesh->n_nodes; i++)
        if (fixed[i]) shape->fixed_nodes[k++] = (int32_t)i;
done:
    modal_free(&fixed);
    return status;
}

static void print_modes(tool *t, const modal_shape *shape)
{
    json_t *frequencies = json_array();
    for (int32_t i = 0; i < shape->n_modes; i++)
        json_array_append_new(frequencies, json_real(shape->frequencies[i]));
    json_object_set_new(t->report, "frequencies_hz", frequencies);
    FILE *to = tool_text_stream(t);
    if (!to) return;
    fprintf(to, "%5s %15s %15s %10s\n", "mode", "frequency_Hz", "modal_mass_kg", "residual");
    for (int32_t i = 0; i < shape->n_modes; i++)
        fprintf(to, "%5d %15.8g %15.10g %10.1e\n", i, shape->frequencies[i],
                shape->modal_masses[i], shape->residuals[i]);
}

/* Reads the mesh into shape->volume and says what was found. */
static modal_status read_solid(tool *t, const request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_mesh_summary summary = {0};
    modal_volume_mesh *mesh = &shape->volume;
    double start = tool_seconds();
    MODAL_TRY(modal_mesh_read(r->mesh_path, mesh, err));
    status = modal_volume_mesh_check(mesh, &summary, err);
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", r->mesh_path);
        goto done;
    }
    tool_stage(t, "read mesh", tool_seconds() - start, -1);
    if (summary.dropped_nodes > 0)
        tool_warn(t, "%s: nodes in no element dropped, %lld", r->mesh_path,
                  (long long)summary.dropped_nodes);
    if (summary.flipped)
        tool_warn(t, "%s: all elements are left-handed; their nodes 3 and 4 were exchanged",
                  r->mesh_path);
    if (summary.n_components > 1)
        tool_warn(t, "%s: bodies that do not touch, %d", r->mesh_path, summary.n_components);
    tool_note(t, "%lld nodes, %lld tetrahedra, volume %.6g m^3", (long long)mesh->n_nodes,
              (long long)mesh->n_elements, summary.volume);
    MODAL_TRY(assign_materials(t, r, mesh, err));
    MODAL_TRY(collect_fixed_nodes(t, shape, err));
done:
    return status;
}

static modal_status make_surface(tool *t, const request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_surface_mesh fine = {0};
    double start = tool_seconds();
    if (!r->surface_path) {
        MODAL_TRY(modal_shape_surface_boundary(&shape->volume, shape, err));
    } else {
        modal_embed_summary embedded = {0};
        MODAL_TRY(modal_obj_read(r->surface_path, &fine, err));
        status = modal_shape_surface_embedded(&shape->volume, &fine, shape, &embedded, err);
        if (status != MODAL_OK) {
            modal_error_context(err, "%s", r->surface_path);
            goto done;
        }
        tool_note(t, "%lld of %lld surface vertices are outside the solid, the farthest by %.3g m",
                  (long long)embedded.n_outside, (long long)shape->n_vertices,
                  shape->farthest_outside);
        json_object_set_new(t->report, "vertices_outside", json_integer(embedded.n_outside));
        json_object_set_new(t->report, "farthest_outside_m", json_real(shape->farthest_outside));
    }
    tool_note(t, "surface of %lld vertices, %lld triangles", (long long)shape->n_vertices,
              (long long)shape->n_triangles);
    tool_stage(t, "surface", tool_seconds() - start, -1);
done:
    modal_surface_mesh_free(&fine);
    return status;
}

/* Moves the result of the solve into the shape. */
static modal_status take_modes(modal_shape *shape, modal_modes_result *result,
                               modal_mass_rule mass_rule, modal_error *err)
{
    modal_status status =
        modal_alloc(&shape->frequencies, result->n_modes, sizeof(double), "frequencies", err);
    if (status != MODAL_OK) return status;
    for (int32_t i = 0; i < result->n_modes; i++)
        shape->frequencies[i] = sqrt(result->eigenvalues[i]) / (2 * M_PI);
    shape->n_modes = result->n_modes;
    shape->eigenvalues = result->eigenvalues;
    shape->modal_masses = result->modal_masses;
    shape->residuals = result->residuals;
    shape->participation = result->participation;
    shape->volume_modes = result->modes;
    shape->n_rigid_modes = result->n_rigid;
    shape->rigid_eigenvalues = result->rigid_eigenvalues;
    shape->shift = result->shift;
    shape->total_mass = result->total_mass;
    shape->mass_rule = mass_rule;
    memset(result, 0, sizeof *result);
    return MODAL_OK;
}

static void report_solve(tool *t, const modal_modes_result *result)
{
    tool_stage(t, "assemble", result->seconds_assemble, -1);
    tool_stage(t, "order", result->seconds_order, -1);
    tool_stage(t, "analyse", result->seconds_analyse, -1);
    tool_stage(t, "factor", result->seconds_factor, -1);
    tool_stage(t, "solve", result->seconds_solve, -1);
    tool_stage(t, "refine", result->seconds_refine, -1);
    json_t *solver = json_pack("{s:I, s:b, s:I, s:I, s:i, s:f, s:f, s:f}", "degrees_of_freedom",
                               (json_int_t)result->n_dof, "dense", result->dense, "solves",
                               (json_int_t)result->n_solves, "iterations",
                               (json_int_t)result->n_iterations, "rigid_modes", result->n_rigid,
                               "factor_nonzeros", result->factor_nonzeros, "factor_flops",
                               result->factor_flops, "orthogonality", result->orthogonality);
    json_object_set_new(t->report, "solver", solver);
    if (result->n_rigid > 0)
        tool_note(t, "rigid modes found and left out: %d", result->n_rigid);
    tool_note(t, "%lld degrees of freedom, %lld solves, orthogonality %.1e",
              (long long)result->n_dof, (long long)result->n_solves, result->orthogonality);
}

static modal_status solve_modes(tool *t, const request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_modes_result result = {0};
    modal_modes_options wanted = {.n_modes = (int32_t)r->n_modes,
                                  .mass_rule = r->mass_rule,
                                  .n_threads = r->threads};
    MODAL_TRY(modal_modes_solve(&shape->volume, shape->fixed_nodes, shape->n_fixed_nodes, &wanted,
                                &result, &t->progress, err));
    report_solve(t, &result);
    MODAL_TRY(take_modes(shape, &result, r->mass_rule, err));
done:
    modal_modes_result_free(&result);
    return status;
}

static modal_status write_basis(tool *t, const request *r, modal_basis *basis,
                                const tool_output *output, modal_error *err)
{
    modal_status status = MODAL_OK;
    char hashes[2][MODAL_HASH_TEXT], inputs[8192] = "";
    const char *paths[2] = {r->mesh_path, r->surface_path};
    size_t used = 0;
    double start = tool_seconds();
    for (int i = 0; i < 2 && paths[i]; i++) {
        MODAL_TRY(modal_hash_file(paths[i], hashes[i], err));
        used += (size_t)snprintf(inputs + used, sizeof inputs - used, "%s%s  %s", i ? "\n" : "",
                                 hashes[i], paths[i]);
        if (used >= sizeof inputs) MODAL_FAIL(err, MODAL_ERROR_USAGE, "%s: name too long", paths[i]);
    }
    MODAL_TRY(modal_provenance_append(&basis->provenance, &basis->n_provenance, program.name,
                                      tool_version(), t->command_line, inputs, "cpu", err));
    MODAL_TRY(modal_basis_write(output->temporary, basis, err));
    tool_stage(t, "write basis", tool_seconds() - start, -1);
done:
    return status;
}

int main(int argc, char **argv)
{
    tool t;
    int code;
    if (tool_start(&t, &program, argc, argv, &code)) return code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    request r;
    tool_output output = {0};
    modal_basis basis = {0};
    MODAL_TRY(read_request(&t, &r, &err));
    omp_set_num_threads(r.threads);
    MODAL_TRY(tool_output_begin(&output, r.basis_path, tool_count(&t.arguments, "force"), &err));
    MODAL_TRY(modal_alloc_zero(&basis.shapes, 1, sizeof *basis.shapes, "shapes", &err));
    basis.n_shapes = 1;
    MODAL_TRY(modal_alloc_zero(&basis.objects, 1, sizeof *basis.objects, "objects", &err));
    basis.n_objects = 1;
    basis.objects[0] = (modal_object){0, -1, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
    modal_shape *shape = &basis.shapes[0];
    MODAL_TRY(modal_copy_text(&shape->name, "solid", SIZE_MAX, &err));
    MODAL_TRY(read_solid(&t, &r, shape, &err));
    MODAL_TRY(make_surface(&t, &r, shape, &err));
    MODAL_TRY(solve_modes(&t, &r, shape, &err));
    MODAL_TRY(modal_shape_modal_matrix(shape, &err));
    MODAL_TRY(write_basis(&t, &r, &basis, &output, &err));
    MODAL_TRY(tool_output_commit(&output, &err));
    print_modes(&t, shape);
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modal_basis_free(&basis);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
