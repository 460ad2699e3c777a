/* SPDX-License-Identifier: Apache-2.0 */
/* dump_mesh_gmsh FILE: what Gmsh's own library makes of a mesh, as the JSON of dump_mesh but with
 * Gmsh's numbers where that has indices. A test program: nothing that is installed links Gmsh. */
#include <gmshc.h>
#include <stdio.h>
#include <stdlib.h>

static void print_numbers(const char *name, const size_t *items, size_t n)
{
    printf("\"%s\":[", name);
    for (size_t i = 0; i < n; i++) printf("%s%zu", i ? "," : "", items[i]);
    printf("]");
}

static void need(int ierr, const char *what)
{
    if (ierr == 0) return;
    fprintf(stderr, "dump_mesh_gmsh: %s failed\n", what);
    exit(4);
}

int main(int argc, char **argv)
{
    int ierr, *groups;
    static const int volume_types[] = {4, 5, 6, 7, 11, 17}; /* Gmsh's numbers of what we read */
    size_t *node_tags, *element_tags, *element_nodes, n_tags, n_positions, n_parameters, n_elements,
        n_element_nodes, n_groups;
    double *positions, *parameters;
    if (argc != 2) return 2;
    gmshInitialize(0, NULL, 0, &ierr);
    need(ierr, "gmshInitialize");
    gmshOptionSetNumber("General.Terminal", 0, &ierr);
    gmshOpen(argv[1], &ierr);
    need(ierr, "gmshOpen");
    gmshModelMeshGetNodes(&node_tags, &n_tags, &positions, &n_positions, &parameters, &n_parameters,
                          -1, -1, 0, 0, &ierr);
    need(ierr, "gmshModelMeshGetNodes");
    printf("{\"nodes\":[");
    for (size_t i = 0; i < n_positions; i++) printf("%s%.17g", i ? "," : "", positions[i]);
    printf("],\n");
    print_numbers("node_tags", node_tags, n_tags);
    printf(",\n");
    printf("\"volume\":[");
    for (size_t i = 0; i < sizeof volume_types / sizeof *volume_types; i++) {
        gmshModelMeshGetElementsByType(volume_types[i], &element_tags, &n_elements, &element_nodes,
                                       &n_element_nodes, -1, 0, 1, &ierr);
        need(ierr, "gmshModelMeshGetElementsByType");
        printf("%s{\"type\":%d,", i ? ",\n" : "", volume_types[i]);
        print_numbers("tags", element_tags, n_elements);
        printf(",");
        print_numbers("nodes", element_nodes, n_element_nodes);
        printf("}");
        gmshFree(element_tags);
        gmshFree(element_nodes);
    }
    printf("]");
    gmshModelGetPhysicalGroups(&groups, &n_groups, -1, &ierr);
    need(ierr, "gmshModelGetPhysicalGroups");
    printf(",\n\"groups\":[");
    for (size_t i = 0; i + 1 < n_groups; i += 2) {
        char *name;
        size_t *members, n_members, n_coordinates;
        double *coordinates;
        gmshModelGetPhysicalName(groups[i], groups[i + 1], &name, &ierr);
        need(ierr, "gmshModelGetPhysicalName");
        gmshModelMeshGetNodesForPhysicalGroup(groups[i], groups[i + 1], &members, &n_members,
                                              &coordinates, &n_coordinates, &ierr);
        need(ierr, "gmshModelMeshGetNodesForPhysicalGroup");
        printf("%s{\"name\":\"%s\",\"dimension\":%d,\"tag\":%d,", i ? ",\n" : "", name, groups[i],
               groups[i + 1]);
        print_numbers("nodes", members, n_members);
        printf("}");
        gmshFree(name);
        gmshFree(members);
        gmshFree(coordinates);
    }
    printf("]}\n");
    gmshFree(groups);
    gmshFree(node_tags);
    gmshFree(positions);
    gmshFree(parameters);
    gmshFinalize(&ierr);
    return fflush(stdout) == 0 ? 0 : 4;
}
