/* SPDX-License-Identifier: Apache-2.0 */
/* What is computed together: the objects of a shape as columns of one product, which reads U once; or
 * small objects of several shapes as a pack, which needs one launch where columns need one a shape.
 * The choice depends on the scene and the kind of back end alone, since the two may differ in the last
 * bit: not on memory, batches or devices. A CPU, whose launches are calls, prefers columns.
 * Measured into a null sink on an NVIDIA H200, with normals and displacements, ms: 100 frames of 2,000
 * shapes of 30 vertices 224 as columns, 6.1 packed; 20 frames of 30,000 such shapes 4,960 and 11.6 (84 %
 * of the link's rate); 200 frames of 200 shapes of 900 vertices 118 and 24 (96 %). */
#include <string.h>

#include "lib/base/memory.h"
#include "lib/deform/deform_private.h"

/* The launches of a shape take about 15 us a batch, in which a GPU's link moves so many points of some
 * arrays. A pack is large enough to be worth its own launches, and small enough to be moved as a
 * whole where memory is short. */
static const int64_t PACK_POINTS = 32768, PACK_BYTES = INT64_C(32) << 20;
enum { PACKED = -1 };

/* About, of an object in memory: U, its rest shape, its tables. */
static int64_t packed_bytes(const modal_shape *s)
{
    return (s->surface.n_vertices + 1) * (12 * (int64_t)s->modes.n_modes + 72);
}

static int is_small(const modal_shape *s, int32_t n_objects)
{
    return n_objects > 0 && s->surface.n_vertices <= PACK_POINTS / n_objects &&
           packed_bytes(s) <= PACK_BYTES / n_objects;
}

/* Offsets, rest poses, and the number of objects of each shape, which becomes PACKED for small ones.
 * One shape alone has nobody to share its launches with. */
static modal_status count_objects(deform_engine *d, const modal_basis *basis, int32_t *count,
                                  modal_error *err)
{
    const int packs =
        d->request.packing ? d->request.packing > 0 : d->device.kernels->packs_objects;
    int32_t n_small = 0;
    d->n_modes = modal_basis_mode_offsets(basis, d->mode_offsets);
    d->point_offsets[0] = 0;
    for (int32_t i = 0; i < d->n_objects; i++) {
        const modal_object *object = &basis->objects[i];
        if (!modal_size_add(d->point_offsets[i], basis->shapes[object->shape].surface.n_vertices,
                            &d->point_offsets[i + 1]))
            return modal_error_set(err, MODAL_ERROR_MEMORY,
                                   "deform: the number of points does not fit 64 bits");
        memcpy(d->rest_poses + 12 * (int64_t)i, object->rest_pose, sizeof object->rest_pose);
        count[object->shape]++;
    }
    d->n_points = d->point_offsets[d->n_objects];
    for (int32_t i = 0; i < basis->n_shapes; i++) n_small += is_small(&basis->shapes[i], count[i]);
    for (int32_t i = 0; i < basis->n_shapes && packs && n_small > 1; i++)
        if (is_small(&basis->shapes[i], count[i])) count[i] = PACKED;
    return MODAL_OK;
}

/* Adds a shape, whose source has n vertices, behind the members of a unit. */
static void add_member(deform_engine *d, deform_unit *s, const modal_shape *source, int32_t index)
{
    deform_member *m = &s->members[s->n_members++];
    *m = (deform_member){.source = source,
                         .modal_matrix = d->request.matrix.read ? NULL : source->modes.modal_matrix,
                         .index = index,
                         .n_modes = source->modes.n_modes,
                         .n_vertices = source->surface.n_vertices,
                         .first_vertex = s->n_vertices,
                         .first_corner = s->n_corners};
    s->n_vertices += source->surface.n_vertices;
    if (source->surface.face_offsets) s->n_corners += source->surface.face_offsets[source->surface.n_vertices];
}

/* Deals the packed objects, as they come, to packs; returns how many. Makes them with `place`. */
static int64_t deal_objects(deform_engine *d, const modal_basis *basis, const int32_t *count,
                            int place, int64_t *n_packed)
{
    int64_t n_packs = 0, bytes = 0, origin = 0, first_q = d->n_q_placed;
    deform_unit *s = NULL;
    *n_packed = 0;
    for (int32_t i = 0; i < d->n_objects; i++) {
        const int32_t shape = basis->objects[i].shape;
        const modal_shape *source = &basis->shapes[shape];
        if (count[shape] != PACKED) continue;
        bytes += packed_bytes(source);
        if (n_packs == 0 || bytes > PACK_BYTES || d->point_offsets[i + 1] - origin > INT32_MAX) {
            bytes = packed_bytes(source);
            origin = d->point_offsets[i];
            n_packs++;
            if (place) {
                s = &d->shapes[d->n_shapes++];
                *s = (deform_unit){.packed = 1,
                                   .n_columns = 1,
                                   .objects = d->shape_objects + d->n_objects_placed,
                                   .members = d->members + d->n_members,
                                   .origin = origin,
                                   .first_object = d->n_objects_placed,
                                   .first_column = d->n_columns++,
                                   .first_q = first_q};
            }
        }
        ++*n_packed;
        if (!place) continue;
        add_member(d, s, source, shape);
        d->n_members++;
        s->n_modes += source->modes.n_modes;
        s->n_objects++;
        first_q += source->modes.n_modes;
        d->shape_objects[d->n_objects_placed++] = i;
    }
    return n_packs;
}

/* Whether a range of vertices in the stored order fills the lines of a cache that it touches in the user's order: vertices that lie there
 * at random cost a line each, and take the way by scratch arrays. */
static modal_status find_scatters(const deform_engine *d, deform_unit *s, modal_error *err)
{
    enum { WINDOW = 2048, LINE = 16, MOST = 2 }; /* vertices; lines touched, of those filled */
    modal_status status = MODAL_OK;
    const int32_t *user = s->members->source->surface.user_vertex;
    const int64_t n = s->n_vertices;
    int64_t touched = 0;
    int32_t *last = NULL; /* of each line: the last window that touched it, + 1 */
    if (!d->device.shares_memory || modal_deform_places(d)) goto done;
    s->scatters = 1;
    if (d->request.stored_order) goto done;
    MODAL_TRY(modal_alloc_zero(&last, n / LINE + 1, sizeof *last, "lines of vertices", err));
    for (int64_t v = 0; v < n; v++) {
        if (user[v] < 0 || user[v] >= n) break; /* which is said when shapes are loaded */
        touched += last[user[v] / LINE] != v / WINDOW + 1;
        last[user[v] / LINE] = (int32_t)(v / WINDOW + 1);
    }
    s->scatters = touched <= MOST * (n / LINE + 1);
done:
    modal_free(&last);
    return status;
}

static modal_status describe_pack(deform_unit *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modal_alloc_zero(&s->pack_objects, s->n_members, sizeof *s->pack_objects,
                               "packed objects", err));
    for (int64_t i = 0; i < s->n_members; i++)
        s->pack_objects[i] = (modal_pack_object){.n_vertices = s->members[i].n_vertices,
                                                 .n_modes = s->members[i].n_modes,
                                                 .first_point = s->members[i].first_vertex};
    MODAL_TRY(modal_object_pack_describe(&s->records, s->n_members, s->pack_objects,
                                         s->n_vertices, err));
done:
    return status;
}

modal_status modal_deform_lay_out(deform_engine *d, const modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t *count = NULL;
    int64_t n_units = 0, n_packed = 0;
    d->n_objects = basis->n_objects;
    const int64_t n = d->n_objects;
    MODAL_TRY(modal_alloc(&d->mode_offsets, n + 1, sizeof *d->mode_offsets, "offsets of modes", err));
    MODAL_TRY(modal_alloc(&d->point_offsets, n + 1, sizeof *d->point_offsets, "offsets of points",
                          err));
    MODAL_TRY(modal_alloc(&d->rest_poses, n, 12 * sizeof *d->rest_poses, "rest frames", err));
    MODAL_TRY(modal_alloc(&d->shape_objects, n, sizeof *d->shape_objects, "objects of shapes", err));
    MODAL_TRY(modal_alloc_zero(&count, basis->n_shapes, sizeof *count, "objects of shapes", err));
    MODAL_TRY(count_objects(d, basis, count, err));
    for (int32_t i = 0; i < basis->n_shapes; i++) n_units += count[i] > 0;
    const int64_t n_packs = deal_objects(d, basis, count, 0, &n_packed);
    MODAL_TRY(modal_alloc_zero(&d->members, n_units + n_packed, sizeof *d->members, "members", err));
    MODAL_TRY(modal_alloc_zero(&d->shapes, n_units + n_packs, sizeof *d->shapes, "shapes", err));
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        if (count[i] <= 0) continue;
        const modal_shape *source = &basis->shapes[i];
        deform_unit *s = &d->shapes[d->n_shapes];
        *s = (deform_unit){.n_modes = source->modes.n_modes,
                           .n_columns = count[i],
                           .objects = d->shape_objects + d->n_objects_placed,
                           .members = d->members + d->n_members++,
                           .first_object = d->n_objects_placed,
                           .first_column = d->n_columns,
                           .first_q = d->n_q_placed};
        add_member(d, s, source, i);
        MODAL_TRY(find_scatters(d, s, err));
        d->n_objects_placed += count[i];
        d->n_columns += count[i];
        d->n_q_placed += (int64_t)count[i] * source->modes.n_modes;
        count[i] = d->n_shapes++; /* from now on where it is */
    }
    for (int32_t i = 0; i < d->n_objects; i++) {
        const int32_t unit = count[basis->objects[i].shape];
        if (unit == PACKED) continue;
        deform_unit *s = &d->shapes[unit];
        d->shape_objects[s->first_object + s->n_objects++] = i;
    }
    deal_objects(d, basis, count, 1, &n_packed);
    for (int32_t i = 0; i < d->n_shapes; i++)
        if (d->shapes[i].packed) MODAL_TRY(describe_pack(&d->shapes[i], err));
done:
    modal_free(&count);
    return status;
}
