/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/octree/atlas_h5.h"

#include "formats/h5/rules.h"
#include "lib/base/memory.h"

enum { MOST_SIDE = 1 << 14 };

modal_status modal_octree_atlas_write(hid_t root, const modal_octree *o, const modal_octree_atlas *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    hid_t group = H5I_INVALID_HID;
    const int64_t uv[2] = {a->n_uv, 2}, corners[2] = {o->n_triangles, 3}, image[3] = {a->height, a->width, 4}, places[2] = {a->n_rows, 3};
    if (a->n_uv == 0) return MODAL_OK;
    MODAL_TRY(modal_h5_make_group(root, "atlas", &group, err));
    MODAL_TRY(modal_h5_write_integer(group, "width", a->width, err));
    MODAL_TRY(modal_h5_write_integer(group, "height", a->height, err));
    MODAL_TRY(modal_h5_write_array(group, "uv", MODAL_H5_F64, 2, uv, a->uv, err));
    MODAL_TRY(modal_h5_write_array(group, "triangle_uv", MODAL_H5_I32, 2, corners, a->triangle_uv, err));
    if (a->image) MODAL_TRY(modal_h5_write_array(group, "image", MODAL_H5_U8, 3, image, a->image, err));
    MODAL_TRY(modal_h5_write_array(group, "texel", MODAL_H5_I32, 1, &a->n_rows, a->texels, err));
    MODAL_TRY(modal_h5_write_array(group, "sample", MODAL_H5_I32, 1, &a->n_rows, a->samples, err));
    MODAL_TRY(modal_h5_write_array(group, "triangle", MODAL_H5_I32, 1, &a->n_rows, a->triangles, err));
    MODAL_TRY(modal_h5_write_array(group, "place", MODAL_H5_F32, 2, places, a->places, err));
done:
    return modal_h5_end_group(&group, status, err);
}

/* Which samples begin a cell that the surface meets; the caller frees it. */
static modal_status find_begins(const modal_octree *o, uint8_t **begins, modal_error *err)
{
    const int64_t width = (int64_t)1 << 3 * modal_octree_side_bits(o);
    const modal_status status = modal_alloc_zero(begins, o->n_samples, 1, "samples", err);
    if (status != MODAL_OK) return status;
    for (int64_t i = o->node_offsets[o->depth - 1] * width; i < o->n_nodes * width; i++) {
        const int64_t sample = o->cells[i] < 0 ? modal_octree_leaf_sample(o->cells[i]) : o->n_samples;
        if (sample < o->n_samples) (*begins)[sample] = (uint8_t)modal_octree_leaf_begins(o->cells[i]); /* a checker comes here with broken cells, too */
    }
    return MODAL_OK;
}

/* Texels ascend; each one's cell is met, and its place inside of it. */
static modal_status row_rules(const modal_checker *checker, const modal_octree *o, const modal_octree_atlas *a)
{
    modal_status status = MODAL_OK;
    uint8_t *begins = NULL;
    const int64_t end = (int64_t)a->width * a->height;
    MODAL_TRY(find_begins(o, &begins, checker->err));
    for (int64_t i = 0; i < a->n_rows; i++)
        if (a->texels[i] < 0 || a->texels[i] >= end || (i && a->texels[i] <= a->texels[i - 1])) {
            MODAL_TRY(modal_broken(checker, "/atlas/texel", "row %lld: not ascending, or outside the image, %d", (long long)i, a->texels[i]));
            break;
        }
    for (int64_t i = 0; i < a->n_rows; i++)
        if (a->samples[i] < 0 || a->samples[i] >= o->n_samples || !begins[a->samples[i]]) {
            MODAL_TRY(modal_broken(checker, "/atlas/sample", "row %lld: begins no cell that the surface meets, %d", (long long)i, a->samples[i]));
            break;
        }
    for (int64_t i = 0; i < 3 * a->n_rows; i++)
        if (!(a->places[i] >= 0 && a->places[i] <= 1)) {
            MODAL_TRY(modal_broken(checker, "/atlas/place", "row %lld: must be in [0, 1], is %g", (long long)(i / 3), (double)a->places[i]));
            break;
        }
done:
    modal_free(&begins);
    return status;
}

static modal_status read_charts(const modal_h5_in *in, const modal_h5_place *place, const modal_octree *o, modal_octree_atlas *a)
{
    modal_status status = MODAL_OK;
    const modal_checker *checker = &in->checker;
    int64_t uv[2] = {-1, 2}, corners[2] = {o->n_triangles, 3};
    MODAL_TRY(modal_h5_read_array(in, place, "uv", MODAL_H5_F64, 2, uv, MODAL_H5_REQUIRED, &a->uv));
    MODAL_TRY(modal_h5_read_array(in, place, "triangle_uv", MODAL_H5_I32, 2, corners, MODAL_H5_REQUIRED, &a->triangle_uv));
    if (!a->uv || !a->triangle_uv) goto done;
    if (uv[0] < 1 || uv[0] > INT32_MAX) {
        MODAL_TRY(modal_broken(checker, "/atlas/uv", "must be 1 to 2^31 - 1 rows, %lld", (long long)uv[0]));
        goto done;
    }
    a->n_uv = uv[0];
    MODAL_TRY(modal_rule_finite(checker, "/atlas/uv", a->uv, a->n_uv, 2, (modal_axes){"row", "coordinate"}));
    MODAL_TRY(modal_rule_range(checker, "/atlas/triangle_uv", a->triangle_uv, o->n_triangles, 3, 0, a->n_uv));
done:
    return status;
}

modal_status modal_octree_atlas_read(const modal_h5_in *in, const modal_h5_place *root, const modal_octree *o, modal_octree_atlas *a)
{
    modal_status status = MODAL_OK;
    modal_h5_place place = {H5I_INVALID_HID, ""};
    int64_t width = 0, height = 0, n = -1;
    MODAL_TRY(modal_h5_enter(in, root, "atlas", MODAL_H5_OPTIONAL, &place));
    if (place.id == H5I_INVALID_HID) goto done;
    MODAL_TRY(read_charts(in, &place, o, a));
    MODAL_TRY(modal_h5_read_integer(in, &place, "width", 1, MOST_SIDE, &width));
    MODAL_TRY(modal_h5_read_integer(in, &place, "height", 1, MOST_SIDE, &height));
    if (!width || !height) goto done;
    a->width = (int32_t)width, a->height = (int32_t)height;
    int64_t image[3] = {height, width, 4};
    MODAL_TRY(modal_h5_read_array(in, &place, "image", MODAL_H5_U8, 3, image, MODAL_H5_OPTIONAL, &a->image));
    MODAL_TRY(modal_h5_read_array(in, &place, "texel", MODAL_H5_I32, 1, &n, MODAL_H5_REQUIRED, &a->texels));
    if (!a->texels) goto done;
    int64_t places[2] = {n, 3};
    MODAL_TRY(modal_h5_read_array(in, &place, "sample", MODAL_H5_I32, 1, &n, MODAL_H5_REQUIRED, &a->samples));
    MODAL_TRY(modal_h5_read_array(in, &place, "triangle", MODAL_H5_I32, 1, &n, MODAL_H5_REQUIRED, &a->triangles));
    MODAL_TRY(modal_h5_read_array(in, &place, "place", MODAL_H5_F32, 2, places, MODAL_H5_REQUIRED, &a->places));
    if (!a->samples || !a->triangles || !a->places) goto done;
    a->n_rows = n;
    MODAL_TRY(modal_rule_range(&in->checker, "/atlas/triangle", a->triangles, n, 1, 0, o->n_triangles));
    MODAL_TRY(row_rules(&in->checker, o, a));
done:
    modal_h5_leave(&place);
    return status;
}
