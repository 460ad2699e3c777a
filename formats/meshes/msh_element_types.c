/* SPDX-License-Identifier: Apache-2.0 */
/* Element types of the Gmsh format (Gmsh reference manual, "MSH file format"). */
#include <stddef.h>

#include "formats/meshes/msh_source.h"

/* Gmsh has the last two edges of the tetrahedron the other way round, and the edges of the hexahedron
 * in the order 01 03 04 12 15 23 26 37 45 47 56 67. */
static const uint8_t tet10_order[10] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 8};
static const uint8_t hex20_order[20] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  11,
                                        13, 9,  16, 18, 19, 17, 10, 12, 14, 15};

static const msh_element_type types[] = {
    {1, 1, 2, "2-node line", -1, NULL},
    {2, 2, 3, "3-node triangle", -1, NULL},
    {3, 2, 4, "4-node quadrangle", -1, NULL},
    {4, 3, 4, "4-node tetrahedron", MODAL_ELEMENT_TET4, NULL},
    {5, 3, 8, "8-node hexahedron", MODAL_ELEMENT_HEX8, NULL},
    {6, 3, 6, "6-node prism", MODAL_ELEMENT_WEDGE6, NULL},
    {7, 3, 5, "5-node pyramid", MODAL_ELEMENT_PYRAMID5, NULL},
    {8, 1, 3, "3-node line", -1, NULL},
    {9, 2, 6, "6-node triangle", -1, NULL},
    {10, 2, 9, "9-node quadrangle", -1, NULL},
    {11, 3, 10, "10-node tetrahedron", MODAL_ELEMENT_TET10, tet10_order},
    {12, 3, 27, "27-node hexahedron", -1, NULL},
    {13, 3, 18, "18-node prism", -1, NULL},
    {14, 3, 14, "14-node pyramid", -1, NULL},
    {15, 0, 1, "point", -1, NULL},
    {16, 2, 8, "8-node quadrangle", -1, NULL},
    {17, 3, 20, "20-node hexahedron", MODAL_ELEMENT_HEX20, hex20_order},
    {18, 3, 15, "15-node prism", -1, NULL},
    {19, 3, 13, "13-node pyramid", -1, NULL},
    {20, 2, 9, "9-node triangle", -1, NULL},
    {21, 2, 10, "10-node triangle", -1, NULL},
    {22, 2, 12, "12-node triangle", -1, NULL},
    {23, 2, 15, "15-node triangle", -1, NULL},
    {24, 2, 15, "15-node triangle", -1, NULL},
    {25, 2, 21, "21-node triangle", -1, NULL},
    {26, 1, 4, "4-node line", -1, NULL},
    {27, 1, 5, "5-node line", -1, NULL},
    {28, 1, 6, "6-node line", -1, NULL},
    {29, 3, 20, "20-node tetrahedron", -1, NULL},
    {30, 3, 35, "35-node tetrahedron", -1, NULL},
    {31, 3, 56, "56-node tetrahedron", -1, NULL},
    {36, 2, 16, "16-node quadrangle", -1, NULL},
    {37, 2, 25, "25-node quadrangle", -1, NULL},
    {92, 3, 64, "64-node hexahedron", -1, NULL},
    {93, 3, 125, "125-node hexahedron", -1, NULL},
};

const msh_element_type *msh_find_element_type(int64_t number)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].number == number) return &types[i];
    return NULL;
}

const msh_element_type *msh_find_element_type_of(modal_element_type type)
{
    const msh_element_type *found = types;
    while (found->type != (int)type) found++;
    return found;
}
