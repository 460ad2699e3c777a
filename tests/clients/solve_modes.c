/* SPDX-License-Identifier: Apache-2.0 */
/* solve_modes MESH MATERIALS.json HELD RULE N [incompatible]: eigenvalues of a solid, one a line, with a mass rule that
 * modalpack itself does not offer. HELD has lines "number of a node, components"; RULE is consistent,
 * lumped or stiffness-points; HEX8 is plain, or has incompatible modes. For comparisons with other programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/json/materials.h"
#include "formats/meshes/mesh_read.h"
#include "lib/base/memory.h"
#include "lib/mesh/check.h"
#include "lib/modes/modes.h"

static int fail(const char *message)
{
    fprintf(stderr, "solve_modes: %s\n", message);
    return 1;
}

int main(int argc, char **argv)
{
    static const char *const rules[3] = {"consistent", "lumped", "stiffness-points"};
    modal_volume_mesh mesh;
    modal_material_file file;
    modal_mesh_summary summary;
    modal_modes_result result;
    modal_error err = {0};
    modal_modes_options options = {0};
    if (argc != 6 && !(argc == 7 && strcmp(argv[6], "incompatible") == 0))
        return fail("usage: MESH MATERIALS.json HELD RULE N [incompatible]");
    if (modal_mesh_read(argv[1], &mesh, &err) || modal_volume_mesh_check(&mesh, &summary, &err) ||
        modal_materials_read(argv[2], &file, &err))
        return fail(err.message);
    for (int64_t e = 0; e < mesh.n_elements; e++) mesh.element_material[e] = file.default_material;
    for (int32_t i = 0; i < mesh.n_materials; i++) modal_free(&mesh.materials[i].name);
    modal_free(&mesh.materials);
    mesh.materials = file.materials;
    mesh.n_materials = file.n_materials;
    if (argc == 7) mesh.stiffness_rule = MODAL_STIFFNESS_INCOMPATIBLE;

    int32_t *nodes = malloc((size_t)mesh.n_nodes * sizeof *nodes);
    uint8_t *components = malloc((size_t)mesh.n_nodes);
    int64_t n_held = 0;
    long long tag;
    int held;
    FILE *list = fopen(argv[3], "r");
    if (!list || !nodes || !components) return fail(argv[3]);
    while (fscanf(list, "%lld %d", &tag, &held) == 2) {
        int64_t i = 0;
        while (i < mesh.n_nodes && mesh.node_tags[i] != tag) i++;
        if (i == mesh.n_nodes) return fail("no node of that number");
        nodes[n_held] = (int32_t)i;
        components[n_held++] = (uint8_t)held;
    }
    fclose(list);
    while (options.mass_rule < 3 && strcmp(rules[options.mass_rule], argv[4]) != 0) options.mass_rule++;
    if (options.mass_rule == 3) return fail(argv[4]);
    options.n_modes = atoi(argv[5]);
    options.fixed_components = components;
    if (modal_modes_solve(&mesh, nodes, n_held, &options, &result, NULL, &err)) return fail(err.message);
    for (int32_t k = 0; k < result.n_modes; k++) printf("%.17g\n", result.eigenvalues[k]);
    return 0;
}
