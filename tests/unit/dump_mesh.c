/* SPDX-License-Identifier: Apache-2.0 */
/* dump_mesh FILE: what the reader makes of a mesh, as JSON, for check_readers.py. */
#include <inttypes.h>
#include <stdio.h>

#include "formats/meshes/mesh_read.h"

static void print_indices(const char *name, const int32_t *items, int64_t n)
{
    printf("\"%s\":[", name);
    for (int64_t i = 0; i < n; i++) printf("%s%d", i ? "," : "", items[i]);
    printf("]");
}

static void print_tags(const char *name, const int64_t *items, int64_t n)
{
    printf("\"%s\":[", name);
    for (int64_t i = 0; i < n; i++) printf("%s%" PRId64, i ? "," : "", items[i]);
    printf("],\n");
}

int main(int argc, char **argv)
{
    modal_volume_mesh mesh = {0};
    modal_error err = {0};
    if (argc != 2) {
        fprintf(stderr, "usage: dump_mesh FILE\n");
        return 2;
    }
    if (modal_mesh_read(argv[1], &mesh, &err) != MODAL_OK) {
        fprintf(stderr, "dump_mesh: %s\n", err.message);
        return 3;
    }
    printf("{\"nodes\":[");
    for (int64_t i = 0; i < 3 * mesh.n_nodes; i++) printf("%s%.17g", i ? "," : "", mesh.nodes[i]);
    printf("],\n");
    print_tags("node_tags", mesh.node_tags, mesh.n_nodes);
    print_tags("element_tags", mesh.element_tags, mesh.n_elements);
    printf("\"types\": [");
    for (int64_t e = 0; e < mesh.n_elements; e++)
        printf("%s\"%s\"", e ? ", " : "", modal_mesh_kind(&mesh, e)->name);
    printf("],\n");
    print_indices("element_nodes", mesh.element_nodes, mesh.element_offsets[mesh.n_elements]);
    printf(",\n\"groups\":[");
    for (int32_t i = 0; i < mesh.n_groups; i++) {
        const modal_group *group = &mesh.groups[i];
        printf("%s{\"name\":\"%s\",\"dimension\":%d,\"tag\":%d,", i ? ",\n" : "", group->name,
               group->dimension, group->tag);
        print_indices("nodes", group->nodes, group->n_nodes);
        printf(",");
        print_indices("elements", group->elements, group->n_elements);
        printf("}");
    }
    printf("]}\n");
    modal_volume_mesh_free(&mesh);
    return fflush(stdout) == 0 ? 0 : 4;
}
