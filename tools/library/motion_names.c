/* SPDX-License-Identifier: Apache-2.0 */
/* Names of materials, and the named groups of solids. */
#include <inttypes.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "lib/base/memory.h"
#include "tools/library/motion.h"

/* ---- materials ---- */

/* The number of a name, a new one at the end. */
static modal_status number_of(modal_motion *m, int64_t *capacity, const char *name, size_t length, int32_t *number, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (*number = 0; *number < m->n_materials; ++*number)
        if (strlen(m->materials[*number]) == length && memcmp(m->materials[*number], name, length) == 0) return MODAL_OK;
    MODAL_TRY(modal_grow(&m->materials, capacity, (int64_t)m->n_materials + 1, sizeof *m->materials, "names", err));
    m->materials[m->n_materials] = NULL;
    MODAL_TRY(modal_copy_text(&m->materials[m->n_materials], name, length, err));
    m->n_materials++;
done:
    return status;
}

/* Puts into `numbers`, NULL or as many as the shape has names, what these are called in the scene. */
static modal_status number_shape(modal_motion *m, int64_t *capacity, const modal_shape *s, int32_t *numbers, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int32_t n = m->volume ? s->solid.mesh.n_materials : s->look.triangle_material ? modal_look_count(&s->look) : 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t number;
        int64_t length = 0;
        const char *name = m->volume ? s->solid.mesh.materials[i].name : modal_look_name(&s->look, i, &length);
        if (!name) name = "";
        if (m->volume) length = (int64_t)strlen(name);
        MODAL_TRY(number_of(m, capacity, name, (size_t)length, &number, err));
        if (numbers) numbers[i] = number;
    }
done:
    return status;
}

modal_status motion_find_materials(modal_motion *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    int64_t capacity = 0;
    for (int32_t i = 0; i < m->basis.n_shapes; i++) MODAL_TRY(number_shape(m, &capacity, &m->basis.shapes[i], NULL, err));
done:
    return status;
}

int32_t modal_motion_get_materials(modal_motion *m, int32_t *materials)
{
    modal_error err = {0};
    int32_t *numbers = NULL;
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    int64_t capacity = m->n_materials;
    MODAL_TRY(motion_check_room(materials, m->n_cells, "materials", &err));
    MODAL_TRY(modal_alloc(&numbers, m->n_materials, sizeof *numbers, "names", &err));
    for (int32_t i = 0; i < m->basis.n_objects; i++) {
        const modal_shape *s = &m->basis.shapes[m->object_shapes[i]];
        int32_t *to = materials + m->first_cells[i];
        const int64_t n = m->first_cells[i + 1] - m->first_cells[i];
        MODAL_TRY(number_shape(m, &capacity, s, numbers, &err)); /* all are there: no more are made */
        const int32_t *own = m->volume ? s->solid.mesh.element_material : s->look.triangle_material;
        for (int64_t c = 0; c < n; c++) {
            const int64_t place = m->volume ? c : s->surface.user_triangle[c];
            to[place] = own && own[c] >= 0 ? numbers[own[c]] : -1;
        }
    }
done:
    modal_free(&numbers);
    motion_end(m);
    return motion_result(status, m->path, &err);
}

/* ---- groups ---- */

static modal_status copy_numbers(int32_t **to, int64_t *n_to, const int32_t *from, int64_t n, modal_error *err)
{
    modal_status status = modal_alloc(to, n, sizeof **to, "group", err);
    if (status != MODAL_OK) return status;
    if (n > 0) memcpy(*to, from, (size_t)n * sizeof **to);
    *n_to = n;
    return status;
}

/* The vertices that are nodes of the group, and the triangles all of whose corners are. `has` is zeros, [n_nodes]. */
static modal_status of_surface(const modal_shape *s, const int32_t *vertex_nodes, const modal_group *from, uint8_t *has, motion_group *to,
                               modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_surface *surface = &s->surface;
    uint8_t *marked = NULL; /* by the user's numbers */
    const int64_t n = surface->n_vertices, n_cells = surface->n_triangles;
    MODAL_TRY(modal_alloc_zero(&marked, n > n_cells ? n : n_cells, 1, "group", err));
    MODAL_TRY(modal_alloc(&to->points, n, sizeof *to->points, "group", err));
    MODAL_TRY(modal_alloc(&to->cells, n_cells, sizeof *to->cells, "group", err));
    for (int64_t i = 0; i < from->n_nodes; i++) has[from->nodes[i]] = 1;
    for (int64_t v = 0; v < n; v++) marked[surface->user_vertex[v]] = has[vertex_nodes[v]];
    for (int64_t v = 0; v < n; v++)
        if (marked[v]) to->points[to->n_points++] = (int32_t)v;
    for (int64_t t = 0; t < n_cells; t++) {
        const int32_t *corners = surface->triangles + 3 * t;
        marked[surface->user_triangle[t]] = has[vertex_nodes[corners[0]]] && has[vertex_nodes[corners[1]]] && has[vertex_nodes[corners[2]]];
    }
    for (int64_t t = 0; t < n_cells; t++)
        if (marked[t]) to->cells[to->n_cells++] = (int32_t)t;
    for (int64_t i = 0; i < from->n_nodes; i++) has[from->nodes[i]] = 0;
done:
    modal_free(&marked);
    return status;
}

/* `from` has the solid of shape `index`, of a surface handle its embedding, too. */
static modal_status add_shape(modal_motion *m, int64_t *capacity, int32_t index, const modal_shape *from, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_volume_mesh *mesh = &from->solid.mesh;
    uint8_t *has = NULL;
    if (!m->volume && (from->embedding.kind != MODAL_SURFACE_BOUNDARY || !from->embedding.nodes)) return MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&has, mesh->n_nodes, 1, "groups", err));
    for (int32_t i = 0; i < mesh->n_groups; i++) {
        const modal_group *g = &mesh->groups[i];
        MODAL_TRY(modal_grow(&m->groups, capacity, m->n_groups + 1, sizeof *m->groups, "groups", err));
        motion_group *to = &m->groups[m->n_groups++];
        *to = (motion_group){.shape = index, .dimension = g->dimension};
        MODAL_TRY(modal_copy_text(&to->name, g->name ? g->name : "", SIZE_MAX, err));
        if (!m->volume) {
            MODAL_TRY(of_surface(&m->basis.shapes[index], from->embedding.nodes, g, has, to, err));
            continue;
        }
        MODAL_TRY(copy_numbers(&to->points, &to->n_points, g->nodes, g->n_nodes, err));
        MODAL_TRY(copy_numbers(&to->cells, &to->n_cells, g->elements, g->n_elements, err));
    }
done:
    modal_free(&has);
    return status;
}

int32_t modal_motion_read_groups(modal_motion *m)
{
    modal_error err = {0};
    modal_basis solids = {0};
    int64_t capacity = 0;
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    if (m->has_groups) goto done;
    if (!m->volume) {
        pthread_mutex_lock(motion_hdf5());
        status = modal_basis_read(m->basis_path, MODAL_BASIS_VOLUME, &solids, &err);
        pthread_mutex_unlock(motion_hdf5());
        if (status != MODAL_OK) goto done;
        if (strcmp(solids.hash, m->basis.hash) != 0) MODAL_FAIL(&err, MODAL_ERROR_INPUT, "%s: changed since it was opened", m->basis_path);
    }
    for (int32_t i = 0; i < m->basis.n_shapes; i++)
        MODAL_TRY(add_shape(m, &capacity, i, m->volume ? &m->basis.shapes[i] : &solids.shapes[i], &err));
    m->has_groups = 1;
done:
    modal_basis_free(&solids);
    motion_end(m);
    return motion_result(status, m->path, &err);
}

static int64_t objects_of(const modal_motion *m, int32_t shape)
{
    int64_t n = 0;
    for (int32_t i = 0; i < m->basis.n_objects; i++) n += m->object_shapes[i] == shape;
    return n;
}

int32_t modal_motion_get_group(modal_motion *m, int64_t index, modal_motion_group *group)
{
    modal_error err = {0};
    modal_motion_group asked;
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    MODAL_TRY(motion_take(&asked, sizeof asked, group, "group", &err));
    if (index < 0 || index >= m->n_groups) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "group %" PRId64 " of %" PRId64, index, m->n_groups);
    const motion_group *g = &m->groups[index];
    const int64_t n = objects_of(m, g->shape);
    const modal_motion_group known = {group->bytes, g->name, g->shape, g->dimension, n * g->n_points, n * g->n_cells};
    memcpy(group, &known, known.bytes < sizeof known ? known.bytes : sizeof known);
done:
    motion_end(m);
    return motion_result(status, m->path, &err);
}

int32_t modal_motion_get_group_members(modal_motion *m, int64_t index, int64_t *points, int64_t *cells)
{
    modal_error err = {0};
    modal_status status = motion_begin(m, &err);
    if (status != MODAL_OK) return motion_result(status, NULL, &err);
    if (index < 0 || index >= m->n_groups) MODAL_FAIL(&err, MODAL_ERROR_USAGE, "group %" PRId64 " of %" PRId64, index, m->n_groups);
    const motion_group *g = &m->groups[index];
    for (int32_t i = 0; i < m->basis.n_objects; i++) {
        if (m->object_shapes[i] != g->shape) continue;
        for (int64_t k = 0; points && k < g->n_points; k++) *points++ = m->first_points[i] + g->points[k];
        for (int64_t k = 0; cells && k < g->n_cells; k++) *cells++ = m->first_cells[i] + g->cells[k];
    }
done:
    motion_end(m);
    return motion_result(status, m->path, &err);
}

void motion_free_names(modal_motion *m)
{
    for (int32_t i = 0; i < m->n_materials; i++) modal_free(&m->materials[i]);
    modal_free(&m->materials);
    for (int64_t i = 0; i < m->n_groups; i++) {
        modal_free(&m->groups[i].name);
        modal_free(&m->groups[i].points);
        modal_free(&m->groups[i].cells);
    }
    modal_free(&m->groups);
}
