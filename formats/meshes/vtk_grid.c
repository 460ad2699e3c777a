/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/meshes/vtk_grid.h"

#include <math.h>
#include <string.h>

#include "formats/meshes/mesh_builder.h"
#include "lib/base/memory.h"

const int vtk_type_bytes[] = {0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

/* ---- numbers ---- */

static inline uint64_t load_bits(const char *bytes, int n, int swap)
{
    uint64_t bits = 0;
    for (int i = 0; i < n; i++)
        bits |= (uint64_t)(unsigned char)bytes[swap ? n - 1 - i : i] << 8 * i;
    return bits;
}

int64_t vtk_convert(const char *bytes, vtk_type type, int swap, int64_t n, double *reals,
                    int64_t *integers)
{
    int size = vtk_type_bytes[type];
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = load_bits(bytes + size * i, size, swap);
        int64_t whole = 0;
        double real = 0;
        switch (type) {
        case VTK_I8: whole = (int8_t)bits; break;
        case VTK_I16: whole = (int16_t)bits; break;
        case VTK_I32: whole = (int32_t)bits; break;
        case VTK_F32: {
            uint32_t low = (uint32_t)bits;
            float value;
            memcpy(&value, &low, sizeof value);
            real = value;
            break;
        }
        case VTK_F64: memcpy(&real, &bits, sizeof real); break;
        default: whole = (int64_t)bits;
        }
        if (type == VTK_U64 && bits > INT64_MAX) return i;
        if (type >= VTK_F32) {
            if (!isfinite(real)) return i;
            if (integers) {
                if (!(fabs(real) < 9e15) || real != floor(real)) return i;
                whole = (int64_t)real;
            }
        } else
            real = (double)whole;
        if (reals) reals[i] = real;
        if (integers) integers[i] = whole;
    }
    return -1;
}

/* ---- cells ---- */

/* dimension -1: a kind that is refused by name; volumes have a type. VTK's order of nodes is ours but
 * for the voxel and the wedge. */
typedef struct cell_kind {
    const char *name;
    int type, dimension, n_nodes, element; /* n_nodes 0: any */
} cell_kind;

static const cell_kind kinds[] = {
    {"empty cell", 0, 0, 0, -1},
    {"vertex", 1, 0, 1, -1},
    {"poly-vertex", 2, 0, 0, -1},
    {"line", 3, 1, 2, -1},
    {"poly-line", 4, 1, 0, -1},
    {"triangle", 5, 2, 3, -1},
    {"triangle strip", 6, 2, 0, -1},
    {"polygon", 7, 2, 0, -1},
    {"pixel", 8, 2, 4, -1},
    {"quad", 9, 2, 4, -1},
    {"tetrahedron", 10, 3, 4, MODAL_ELEMENT_TET4},
    {"voxel", 11, 3, 8, MODAL_ELEMENT_HEX8},
    {"hexahedron", 12, 3, 8, MODAL_ELEMENT_HEX8},
    {"wedge", 13, 3, 6, MODAL_ELEMENT_WEDGE6},
    {"pyramid", 14, 3, 5, MODAL_ELEMENT_PYRAMID5},
    {"quadratic edge", 21, 1, 3, -1},
    {"quadratic triangle", 22, 2, 6, -1},
    {"quadratic quad", 23, 2, 8, -1},
    {"quadratic tetrahedron", 24, 3, 10, MODAL_ELEMENT_TET10},
    {"quadratic hexahedron", 25, 3, 20, MODAL_ELEMENT_HEX20},
    {"quadratic wedge", 26, -1, 0, -1},
    {"quadratic pyramid", 27, -1, 0, -1},
    {"biquadratic quad", 28, 2, 9, -1},
    {"triquadratic hexahedron", 29, -1, 0, -1},
    {"convex set of points", 41, -1, 0, -1},
    {"polyhedron", 42, -1, 0, -1},
};

static const cell_kind *find_kind(int64_t type)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == type) return &kinds[i];
    return NULL;
}

int vtk_names_groups(const char *name, int64_t length)
{
    static const char *const names[] = {"gmsh:physical", "CellEntityIds", "medit:ref", "MaterialIds",
                                        "PhysicalIds",   "cell_tags"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (modal_token_is(name, length, names[i])) return 1;
    return 0;
}

/* Six times the volume of the tetrahedron of corners 0, 1, 2 and 3 of a wedge. */
static double wedge_volume(const double *points, const int32_t *nodes)
{
    double e[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            e[i][k] = points[3 * (int64_t)nodes[i + 1] + k] - points[3 * (int64_t)nodes[0] + k];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) +
           e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static void reorder(const cell_kind *kind, const double *points, int32_t *nodes)
{
    if (kind->type == 11) { /* a voxel counts x first, then y */
        int32_t third = nodes[2], seventh = nodes[6];
        nodes[2] = nodes[3], nodes[3] = third;
        nodes[6] = nodes[7], nodes[7] = seventh;
    }
    /* The normal of VTK's first triangle points out of a wedge. Many programs write it the other way
     * round, which is ours: the sign of the volume tells. */
    if (kind->type == 13 && wedge_volume(points, nodes) < 0)
        for (int i = 0; i < 2; i++) {
            int32_t second = nodes[3 * i + 1];
            nodes[3 * i + 1] = nodes[3 * i + 2];
            nodes[3 * i + 2] = second;
        }
}

static modal_status add_cell(modal_mesh_builder *builder, const vtk_grid *grid, int64_t cell)
{
    modal_status status = MODAL_OK;
    const modal_text *where = builder->text;
    const cell_kind *kind = find_kind(grid->types[cell]);
    int64_t first = grid->offsets[cell], n = grid->offsets[cell + 1] - first;
    int64_t group = grid->groups.values ? grid->groups.values[cell] : 0;
    if (!kind)
        return modal_text_fail(where, "type %lld is not supported", (long long)grid->types[cell]);
    if (kind->dimension < 0)
        return modal_text_fail(where, "a %s (type %d) is not supported", kind->name, kind->type);
    if (kind->n_nodes > 0 && n != kind->n_nodes)
        return modal_text_fail(where, "a %s of %lld points, %d expected", kind->name, (long long)n,
                               kind->n_nodes);
    if (group < 0 || group > INT32_MAX)
        return modal_text_fail(where, "%s out of range, %lld", grid->groups.name, (long long)group);
    for (int64_t k = 0; k < n; k++) {
        int64_t point = grid->connectivity[first + k];
        if (point < 0 || point >= grid->n_points)
            return modal_text_fail(where, "unknown point, %lld", (long long)point);
    }
    if (kind->dimension == 3) {
        int32_t nodes[MODAL_ELEMENT_MOST_NODES];
        for (int64_t k = 0; k < n; k++) nodes[k] = (int32_t)grid->connectivity[first + k];
        reorder(kind, builder->mesh->nodes, nodes);
        MODAL_TRY(modal_mesh_builder_element(builder, (modal_element_type)kind->element, cell, nodes));
        if (group > 0) MODAL_TRY(modal_mesh_builder_join(builder, 3, (int32_t)group, NULL, 0));
    } else if (group > 0) {
        int32_t nodes[4];
        const int64_t most = n <= 4 ? n : 1; /* at a time: a strip or polygon has any number */
        for (int64_t k = 0; k < n; k += most) {
            for (int64_t i = 0; i < most; i++) nodes[i] = (int32_t)grid->connectivity[first + k + i];
            MODAL_TRY(modal_mesh_builder_join(builder, kind->dimension, (int32_t)group, nodes, most));
        }
    }
done:
    return status;
}

modal_status vtk_grid_finish(vtk_grid *grid, modal_text *where, modal_volume_mesh *mesh)
{
    modal_status status = MODAL_OK;
    modal_mesh_builder builder = {.mesh = mesh, .text = where};
    if (grid->n_points > INT32_MAX || grid->n_cells > INT32_MAX)
        return modal_text_fail(where, "more than %d points or cells", INT32_MAX);
    MODAL_TRY(modal_alloc(&mesh->node_tags, grid->n_points, sizeof *mesh->node_tags, "node tags",
                          where->err));
    for (int64_t i = 0; i < grid->n_points; i++) mesh->node_tags[i] = i;
    mesh->nodes = grid->points;
    mesh->n_nodes = grid->n_points;
    grid->points = NULL;
    where->subject = "cell";
    for (int64_t i = 0; i < grid->n_cells; i++) {
        where->number = i;
        if (grid->offsets[i + 1] < grid->offsets[i] || grid->offsets[i + 1] > grid->n_connectivity) {
            status = modal_text_fail(where, "offset out of range, %lld of %lld",
                                     (long long)grid->offsets[i + 1],
                                     (long long)grid->n_connectivity);
            goto done;
        }
        MODAL_TRY(add_cell(&builder, grid, i));
    }
    where->subject = NULL;
    MODAL_TRY(modal_mesh_builder_finish(&builder));
done:
    where->subject = NULL;
    modal_mesh_builder_free(&builder);
    return status;
}

void vtk_grid_free(vtk_grid *grid)
{
    modal_free(&grid->points);
    modal_free(&grid->connectivity);
    modal_free(&grid->offsets);
    modal_free(&grid->types);
    modal_free(&grid->groups.name);
    modal_free(&grid->groups.values);
    memset(grid, 0, sizeof *grid);
}
