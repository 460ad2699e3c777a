/* SPDX-License-Identifier: Apache-2.0 */
/* modalmesh: Gmsh's library (GPL). C. Geuzaine, J.-F. Remacle, "Gmsh: a 3-D finite element mesh generator
 * with built-in pre- and post-processing facilities", International Journal for Numerical Methods in
 * Engineering 79, 2009. */
#include <gmshc.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "formats/meshes/msh_source.h"
#include "formats/meshes/tag_table.h"
#include "lib/base/memory.h"
#include "tools/modalmesh/modalmesh.h"

/* Gmsh's own message, on one line. */
static modal_status gmsh_failed(const modalmesh_order *order, const char *what, modal_error *err)
{
    char *message = NULL, line[400] = "";
    int code;
    gmshLoggerGetLastError(&message, &code);
    for (size_t i = 0; message && message[i] && i < sizeof line - 1; i++)
        line[i] = message[i] == '\n' ? ' ' : message[i];
    return modal_error_set(err, MODAL_ERROR_INPUT, "%s: gmsh: %s%s%s", order->path, what, *line ? ", " : "",
                           line);
}

#define GMSH(what, ...)                                                                            \
    do {                                                                                           \
        int code = 0;                                                                              \
        __VA_ARGS__;                                                                               \
        if (code != 0) {                                                                           \
            status = gmsh_failed(order, what, err);                                                \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

/* ---- input ---- */

/* The surface as discrete surfaces, one for each patch of each shell, and a volume for each outer shell
 * with its cavities. */
static modal_status give_surface(const modalmesh_order *order, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_surface_mesh *s = order->surface;
    size_t *tags = NULL, *corners = NULL;
    int *surfaces = NULL, *loops = NULL, *patch_of = NULL, *members = NULL, n_made = 0;
    double *positions = NULL;
    int64_t n_surfaces = (int64_t)order->n_shells * order->n_patches;
    if (n_surfaces > 1000000)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: too many shells and patches", order->path);
    MODAL_TRY(modal_alloc(&tags, s->n_vertices, sizeof *tags, "nodes", err));
    MODAL_TRY(modal_alloc(&positions, 3 * s->n_vertices, sizeof *positions, "nodes", err));
    MODAL_TRY(modal_alloc(&corners, 3 * s->n_triangles, sizeof *corners, "triangles", err));
    MODAL_TRY(modal_alloc(&surfaces, order->n_patches, sizeof *surfaces, "surfaces", err));
    MODAL_TRY(modal_alloc(&loops, order->n_shells, sizeof *loops, "surfaces", err));
    MODAL_TRY(modal_alloc(&patch_of, n_surfaces, sizeof *patch_of, "surfaces", err));
    MODAL_TRY(modal_alloc(&members, n_surfaces, sizeof *members, "surfaces", err));
    memcpy(positions, s->positions, 3 * (size_t)s->n_vertices * sizeof *positions);
    for (int64_t v = 0; v < s->n_vertices; v++) tags[v] = (size_t)v + 1;
    for (int32_t shell = 0, tag = 0; shell < order->n_shells; shell++) {
        size_t n = 0;
        for (int32_t p = 0; p < order->n_patches; p++) {
            size_t n_corners = 0;
            for (int64_t t = 0; t < s->n_triangles; t++) {
                if (order->shell[t] != shell || order->patch[t] != p) continue;
                for (int k = 0; k < 3; k++) corners[n_corners++] = (size_t)s->triangles[3 * t + k] + 1;
            }
            if (n_corners == 0) continue;
            tag++;
            GMSH("surface", gmshModelAddDiscreteEntity(2, tag, NULL, 0, &code));
            if (tag == 1)
                GMSH("nodes", gmshModelMeshAddNodes(2, 1, tags, (size_t)s->n_vertices, positions,
                                                    3 * (size_t)s->n_vertices, NULL, 0, &code));
            GMSH("triangles", gmshModelMeshAddElementsByType(tag, 2, NULL, 0, corners, n_corners, &code));
            patch_of[n_made++] = p;
            surfaces[n++] = tag;
        }
        GMSH("loop", loops[shell] = gmshModelGeoAddSurfaceLoop(surfaces, n, -1, &code));
    }
    for (int32_t p = 0; p < order->n_groups; p++) {
        int n = 0, physical;
        char name[256];
        for (int i = 0; i < n_made; i++)
            if (patch_of[i] == p) members[n++] = i + 1;
        if (n == 0) continue;
        GMSH("group", physical = gmshModelAddPhysicalGroup(2, members, (size_t)n, p + 1, &code));
        modalmesh_group_name(order, p, name);
        GMSH("group", gmshModelSetPhysicalName(2, physical, name, &code));
    }
    for (int32_t outer = 0; outer < order->n_shells; outer++) {
        int shells[1024];
        size_t n = 0;
        if (order->outer[outer] != outer) continue;
        shells[n++] = loops[outer];
        for (int32_t k = 0; k < order->n_shells && n < 1024; k++)
            if (k != outer && order->outer[k] == outer) shells[n++] = loops[k];
        GMSH("volume", gmshModelGeoAddVolume(shells, n, -1, &code));
    }
    GMSH("geometry", gmshModelGeoSynchronize(&code));
done:
    modal_free(&tags);
    modal_free(&positions);
    modal_free(&corners);
    modal_free(&surfaces);
    modal_free(&loops);
    modal_free(&patch_of);
    modal_free(&members);
    return status;
}

/* New triangles on the surface, of the size that is wanted: its patches become geometry. */
static modal_status remesh_surface(const modalmesh_order *order, modal_error *err)
{
    modal_status status = MODAL_OK;
    const double angle = 40 * 3.14159265358979323846 / 180;
    int *entities = NULL, *surfaces = NULL;
    size_t n = 0;
    const modal_surface_mesh *s = order->surface;
    size_t *tags = NULL, *corners = NULL;
    if (order->n_shells != 1 || order->n_groups > 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "%s: gmsh gives one closed surface without groups a new size only; tetgen refines any",
                   order->path);
    MODAL_TRY(modal_alloc(&tags, s->n_vertices, sizeof *tags, "nodes", err));
    MODAL_TRY(modal_alloc(&corners, 3 * s->n_triangles, sizeof *corners, "triangles", err));
    for (int64_t v = 0; v < s->n_vertices; v++) tags[v] = (size_t)v + 1;
    for (int64_t c = 0; c < 3 * s->n_triangles; c++) corners[c] = (size_t)s->triangles[c] + 1;
    GMSH("surface", gmshModelAddDiscreteEntity(2, 1, NULL, 0, &code));
    GMSH("nodes", gmshModelMeshAddNodes(2, 1, tags, (size_t)s->n_vertices, s->positions,
                                        3 * (size_t)s->n_vertices, NULL, 0, &code));
    GMSH("triangles", gmshModelMeshAddElementsByType(1, 2, NULL, 0, corners, 3 * (size_t)s->n_triangles, &code));
    GMSH("surface patches", gmshModelMeshClassifySurfaces(angle, 1, 1, angle, 1, &code));
    GMSH("geometry of the patches", gmshModelMeshCreateGeometry(NULL, 0, &code));
    GMSH("surfaces", gmshModelGetEntities(&entities, &n, 2, &code));
    MODAL_TRY(modal_alloc(&surfaces, (int64_t)n / 2, sizeof *surfaces, "surfaces", err));
    for (size_t i = 0; i < n / 2; i++) surfaces[i] = entities[2 * i + 1];
    int loop[1];
    GMSH("loop", loop[0] = gmshModelGeoAddSurfaceLoop(surfaces, n / 2, -1, &code));
    GMSH("volume", gmshModelGeoAddVolume(loop, 1, -1, &code));
    GMSH("geometry", gmshModelGeoSynchronize(&code));
done:
    gmshFree(entities);
    modal_free(&surfaces);
    modal_free(&tags);
    modal_free(&corners);
    return status;
}

/* Volumes and surfaces of a geometry without physical groups become groups, by their name or number. */
static modal_status name_entities(const modalmesh_order *order, modal_error *err)
{
    modal_status status = MODAL_OK;
    int *groups = NULL, *entities = NULL;
    size_t n = 0;
    GMSH("groups", gmshModelGetPhysicalGroups(&groups, &n, -1, &code));
    for (int dimension = 2; dimension <= 3 && n == 0; dimension++) {
        size_t n_entities = 0;
        gmshFree(entities);
        entities = NULL;
        GMSH("entities", gmshModelGetEntities(&entities, &n_entities, dimension, &code));
        for (size_t i = 0; i < n_entities / 2; i++) {
            char *given = NULL, name[300];
            int tag = entities[2 * i + 1], member[1] = {tag};
            GMSH("group", gmshModelAddPhysicalGroup(dimension, member, 1, tag, &code));
            GMSH("name", gmshModelGetEntityName(dimension, tag, &given, &code));
            /* Names may repeat; the number makes them differ. */
            const char *last = given && strrchr(given, '/') ? strrchr(given, '/') + 1 : given;
            if (last && *last) snprintf(name, sizeof name, "%.200s_%d", last, tag);
            else snprintf(name, sizeof name, "%s_%d", dimension == 3 ? "volume" : "surface", tag);
            gmshFree(given);
            GMSH("name", gmshModelSetPhysicalName(dimension, tag, name, &code));
        }
    }
done:
    gmshFree(groups);
    gmshFree(entities);
    return status;
}

/* ---- output ---- */

typedef struct gmsh_elements {
    int *types;
    size_t **tags, **nodes, *n_tags, *n_nodes, n, n_tag_arrays, n_node_arrays;
} gmsh_elements;

static void free_elements(gmsh_elements *elements)
{
    for (size_t i = 0; i < elements->n; i++) {
        gmshFree(elements->tags[i]);
        gmshFree(elements->nodes[i]);
    }
    gmshFree(elements->types);
    gmshFree(elements->tags);
    gmshFree(elements->nodes);
    gmshFree(elements->n_tags);
    gmshFree(elements->n_nodes);
    memset(elements, 0, sizeof *elements);
}

static modal_status take_nodes(const modalmesh_order *order, modal_volume_mesh *mesh,
                               modal_tag_table *table, modal_error *err)
{
    modal_status status = MODAL_OK;
    size_t *tags = NULL, n = 0, n_coordinates = 0, n_parameters = 0;
    double *coordinates = NULL, *parameters = NULL;
    int32_t earlier;
    GMSH("nodes", gmshModelMeshGetNodes(&tags, &n, &coordinates, &n_coordinates, &parameters, &n_parameters,
                                        -1, -1, 0, 0, &code));
    if (n == 0) MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: gmsh: found nothing in it to mesh", order->path);
    MODAL_TRY(modal_alloc(&mesh->nodes, 3 * (int64_t)n, sizeof *mesh->nodes, "nodes", err));
    MODAL_TRY(modal_alloc(&mesh->node_tags, (int64_t)n, sizeof *mesh->node_tags, "nodes", err));
    memcpy(mesh->nodes, coordinates, 3 * n * sizeof *coordinates);
    mesh->n_nodes = (int64_t)n;
    for (size_t i = 0; i < 3 * n && !order->surface; i++) mesh->nodes[i] *= order->metres;
    for (size_t i = 0; i < n; i++) mesh->node_tags[i] = (int64_t)tags[i];
    for (size_t i = 0; i < n; i++)
        MODAL_TRY(modal_tag_table_add(table, mesh->node_tags, (int32_t)i, &earlier, err));
done:
    gmshFree(tags);
    gmshFree(coordinates);
    gmshFree(parameters);
    return status;
}

static modal_status take_elements(const modalmesh_order *order, modal_volume_mesh *mesh,
                                  const modal_tag_table *nodes, modal_tag_table *table, modal_error *err)
{
    modal_status status = MODAL_OK;
    gmsh_elements got = {0};
    int64_t n = 0, n_nodes = 0;
    int32_t earlier;
    GMSH("elements", gmshModelMeshGetElements(&got.types, &got.n, &got.tags, &got.n_tags, &got.n_tag_arrays,
                                              &got.nodes, &got.n_nodes, &got.n_node_arrays, 3, -1, &code));
    for (size_t b = 0; b < got.n; b++) n += (int64_t)got.n_tags[b], n_nodes += (int64_t)got.n_nodes[b];
    if (n == 0) {
        status = gmsh_failed(order, "no volume elements", err);
        goto done;
    }
    MODAL_TRY(modal_alloc(&mesh->element_type, n, 1, "elements", err));
    MODAL_TRY(modal_alloc(&mesh->element_offsets, n + 1, sizeof(int64_t), "elements", err));
    MODAL_TRY(modal_alloc(&mesh->element_nodes, n_nodes, sizeof(int32_t), "elements", err));
    MODAL_TRY(modal_alloc(&mesh->element_tags, n, sizeof(int64_t), "elements", err));
    mesh->element_offsets[0] = 0;
    for (size_t b = 0; b < got.n; b++) {
        const msh_element_type *type = msh_find_element_type(got.types[b]);
        if (!type || type->type < 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: gmsh: elements of type %d are not supported", order->path,
                       got.types[b]);
        for (size_t i = 0; i < got.n_tags[b]; i++) {
            int64_t e = mesh->n_elements++, offset = mesh->element_offsets[e];
            const size_t *from = got.nodes[b] + i * (size_t)type->n_nodes;
            mesh->element_type[e] = (uint8_t)type->type;
            mesh->element_tags[e] = (int64_t)got.tags[b][i];
            mesh->element_offsets[e + 1] = offset + type->n_nodes;
            for (int k = 0; k < type->n_nodes; k++)
                mesh->element_nodes[offset + k] = modal_tag_table_find(
                    nodes, mesh->node_tags, (int64_t)from[type->order ? type->order[k] : k]);
            MODAL_TRY(modal_tag_table_add(table, mesh->element_tags, (int32_t)e, &earlier, err));
        }
    }
done:
    free_elements(&got);
    return status;
}

static int compare_indices(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Found, sorted, once each. */
static modal_status sort_members(int32_t **items, int64_t *n, const size_t *tags, size_t n_tags,
                                 const modal_tag_table *table, const int64_t *all, modal_error *err)
{
    modal_status status = modal_alloc(items, (int64_t)n_tags, sizeof **items, "group", err);
    int64_t n_found = 0, kept = 0;
    if (status != MODAL_OK) return status;
    for (size_t i = 0; i < n_tags; i++) {
        int32_t index = modal_tag_table_find(table, all, (int64_t)tags[i]);
        if (index >= 0) (*items)[n_found++] = index;
    }
    if (n_found > 0) qsort(*items, (size_t)n_found, sizeof **items, compare_indices);
    for (int64_t i = 0; i < n_found; i++)
        if (i == 0 || (*items)[i] != (*items)[i - 1]) (*items)[kept++] = (*items)[i];
    *n = kept;
    return MODAL_OK;
}

static modal_status take_group(const modalmesh_order *order, int dimension, int tag, modal_volume_mesh *mesh,
                               const modal_tag_table *nodes, const modal_tag_table *elements,
                               modal_group *group, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *name = NULL, number[16];
    size_t *tags = NULL, n = 0, n_coordinates = 0, n_entities = 0, n_all = 0, *all = NULL;
    double *coordinates = NULL;
    int *entities = NULL;
    gmsh_elements got = {0};
    int64_t capacity = 0;
    group->dimension = dimension;
    group->tag = tag;
    GMSH("name of a group", gmshModelGetPhysicalName(dimension, tag, &name, &code));
    snprintf(number, sizeof number, "%d", tag);
    MODAL_TRY(modal_copy_text(&group->name, name && *name ? name : number, 255, err));
    GMSH("nodes of a group", gmshModelMeshGetNodesForPhysicalGroup(dimension, tag, &tags, &n, &coordinates,
                                                                   &n_coordinates, &code));
    MODAL_TRY(sort_members(&group->nodes, &group->n_nodes, tags, n, nodes, mesh->node_tags, err));
    if (dimension == 3)
        GMSH("entities of a group", gmshModelGetEntitiesForPhysicalGroup(3, tag, &entities, &n_entities, &code));
    for (size_t i = 0; i < n_entities; i++) {
        free_elements(&got);
        GMSH("elements of a group",
             gmshModelMeshGetElements(&got.types, &got.n, &got.tags, &got.n_tags, &got.n_tag_arrays, &got.nodes,
                                      &got.n_nodes, &got.n_node_arrays, 3, entities[i], &code));
        for (size_t b = 0; b < got.n; b++) {
            MODAL_TRY(modal_grow(&all, &capacity, (int64_t)(n_all + got.n_tags[b]), sizeof *all, "group", err));
            memcpy(all + n_all, got.tags[b], got.n_tags[b] * sizeof *all);
            n_all += got.n_tags[b];
        }
    }
    MODAL_TRY(sort_members(&group->elements, &group->n_elements, all, n_all, elements, mesh->element_tags, err));
done:
    gmshFree(name);
    gmshFree(tags);
    gmshFree(coordinates);
    gmshFree(entities);
    free_elements(&got);
    modal_free(&all);
    return status;
}

static modal_status take_mesh(const modalmesh_order *order, modal_volume_mesh *mesh, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_tag_table nodes = {0}, elements = {0};
    int *groups = NULL;
    size_t n = 0;
    MODAL_TRY(take_nodes(order, mesh, &nodes, err));
    MODAL_TRY(take_elements(order, mesh, &nodes, &elements, err));
    GMSH("groups", gmshModelGetPhysicalGroups(&groups, &n, -1, &code));
    MODAL_TRY(modal_alloc_zero(&mesh->groups, (int64_t)n / 2, sizeof *mesh->groups, "groups", err));
    for (size_t i = 0; i < n / 2; i++) {
        mesh->n_groups++;
        MODAL_TRY(take_group(order, groups[2 * i], groups[2 * i + 1], mesh, &nodes, &elements,
                             &mesh->groups[i], err));
    }
done:
    gmshFree(groups);
    modal_tag_table_free(&nodes);
    modal_tag_table_free(&elements);
    return status;
}

/* Gmsh reads what it can of a faulty file and says so in its log alone: the first error there ends the run. */
static modal_status open_geometry(const modalmesh_order *order, modal_error *err)
{
    modal_status status = MODAL_OK;
    char **lines = NULL;
    size_t n = 0;
    GMSH("option", gmshOptionSetString("Geometry.OCCTargetUnit", order->unit, &code));
    GMSH("log", gmshLoggerStart(&code));
    GMSH("cannot be read", gmshOpen(order->path, &code));
    GMSH("log", gmshLoggerGet(&lines, &n, &code));
    for (size_t i = 0; i < n; i++)
        if (strncmp(lines[i], "Error: ", 7) == 0)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: gmsh: %.*s", order->path, (int)strcspn(lines[i] + 7, "\n"),
                       lines[i] + 7);
    status = name_entities(order, err);
done:
    for (size_t i = 0; i < n; i++) gmshFree(lines[i]);
    gmshFree(lines);
    return status;
}

/* The box of the geometry, and where OpenCASCADE has the solids, their volume. */
static modal_status expect(const modalmesh_order *order, modal_error *err)
{
    modal_status status = MODAL_OK;
    double low[3] = {0}, high[3] = {0}, volume = 0;
    int *entities = NULL, found = 0;
    size_t n = 0;
    GMSH("box", gmshModelGetBoundingBox(-1, -1, &low[0], &low[1], &low[2], &high[0], &high[1], &high[2], &code));
    GMSH("volumes", gmshModelGetEntities(&entities, &n, 3, &code));
    for (size_t i = 0; i < n / 2 && found == 0; i++) {
        double mass = 0;
        gmshModelOccGetMass(3, entities[2 * i + 1], &mass, &found);
        volume = found == 0 ? volume + mass : 0; /* the volumes of a plain script are not OpenCASCADE's */
    }
    for (int k = 0; k < 3; k++) {
        low[k] *= order->metres;
        high[k] *= order->metres;
    }
    MODAL_TRY(modalmesh_expect(order, low, high, volume * order->metres * order->metres * order->metres, err));
done:
    gmshFree(entities);
    return status;
}

/* ---- the engine ---- */

modal_status modalmesh_gmsh(const modalmesh_order *order, modal_volume_mesh *mesh, modalmesh_told *told,
                            modal_error *err)
{
    modal_status status = MODAL_OK;
    const double start = modalmesh_seconds();
    char *arguments[] = {"modalmesh", NULL};
    memset(mesh, 0, sizeof *mesh);
    GMSH("start", gmshInitialize(1, arguments, 0, &code));
    GMSH("option", gmshOptionSetNumber("General.AbortOnError", 0, &code));
    GMSH("option", gmshOptionSetNumber("General.NumThreads", 1, &code));
    GMSH("option", gmshOptionSetNumber("Mesh.SaveAll", 1, &code));
    if (order->size > 0) {
        const double size = order->surface ? order->size : order->size / order->metres;
        GMSH("option", gmshOptionSetNumber("Mesh.MeshSizeMax", size, &code));
        GMSH("option", gmshOptionSetNumber("Mesh.MeshSizeMin", order->surface ? size : 0, &code));
    }
    if (order->surface) {
        MODAL_TRY(order->size > 0 ? remesh_surface(order, err) : give_surface(order, err));
    } else {
        MODAL_TRY(open_geometry(order, err));
        MODAL_TRY(expect(order, err));
    }
    GMSH("no mesh", gmshModelMeshGenerate(3, &code));
    if (order->order == 2) GMSH("second order", gmshModelMeshSetOrder(2, &code));
    told->seconds += modalmesh_seconds() - start;
    MODAL_TRY(take_mesh(order, mesh, err));
done:
    gmshFinalize(&(int){0});
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}
