/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/h5/h5_map.h"

#include <stdio.h>
#include <string.h>

#include "formats/h5/h5_private.h"
#include "lib/base/memory.h"

enum { MOST = 1000000 };

typedef struct mapping {
    const modal_h5_in *in;
    modal_h5_mapped *all;
    int64_t n, capacity, n_links;
    modal_status status;
    modal_error *err;
} mapping;

static void name_type(hid_t dataset, char name[8])
{
    hid_t type = H5Dget_type(dataset);
    const H5T_class_t kind = H5Tget_class(type);
    const size_t bytes = H5Tget_size(type);
    name[0] = '\0';
    if ((kind == H5T_FLOAT || kind == H5T_INTEGER) && bytes <= 16) {
        const char order = bytes == 1 ? '|' : H5Tget_order(type) == H5T_ORDER_BE ? '>' : '<';
        snprintf(name, 8, "%c%c%zu", order, kind == H5T_FLOAT ? 'f' : H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i', bytes);
    }
    if (type >= 0) H5Tclose(type);
}

static modal_status describe(mapping *m, hid_t dataset, const char *path)
{
    modal_h5_mapped one = {.offset = -1, .layout = "unknown"};
    hsize_t dims[32] = {0};
    hid_t space = H5Dget_space(dataset), plist = H5Dget_create_plist(dataset);
    modal_status status = MODAL_OK;
    const H5D_layout_t layout = H5Pget_layout(plist);
    one.rank = H5Sget_simple_extent_ndims(space);
    if (one.rank < 0 || one.rank > 32 || H5Sget_simple_extent_dims(space, dims, NULL) < 0 || layout < 0) {
        status = modal_h5_failed(m->err, MODAL_ERROR_INPUT, path, "cannot be read");
        goto done;
    }
    snprintf(one.path, sizeof one.path, "%s", path);
    name_type(dataset, one.type);
    for (int i = 0; i < one.rank; i++) one.shape[i] = (int64_t)dims[i];
    one.layout = layout == H5D_CONTIGUOUS ? "contiguous" : layout == H5D_CHUNKED ? "chunked" : "virtual";
    if (layout == H5D_CONTIGUOUS && one.type[0]) {
        const haddr_t place = H5Dget_offset(dataset);
        const hsize_t bytes = H5Dget_storage_size(dataset);
        if (place != HADDR_UNDEF && bytes > 0) {
            if (place > (haddr_t)m->in->file_bytes || bytes > (hsize_t)m->in->file_bytes - place)
                MODAL_FAIL(m->err, MODAL_ERROR_INPUT, "%s: does not lie in the file, %lld bytes from %lld on", path, (long long)bytes, (long long)place);
            one.offset = (int64_t)place;
            one.length = (int64_t)bytes;
        }
    }
    MODAL_TRY(modal_grow(&m->all, &m->capacity, m->n + 1, sizeof *m->all, "map", m->err));
    m->all[m->n++] = one;
done:
    if (plist >= 0) H5Pclose(plist);
    if (space >= 0) H5Sclose(space);
    H5Eclear2(H5E_DEFAULT);
    return status;
}

static herr_t visit(hid_t file, const char *name, const H5L_info_t *link, void *argument)
{
    mapping *m = argument;
    char path[MODAL_H5_PATH];
    if (link->type != H5L_TYPE_HARD) return 0;
    if (++m->n_links > MOST || snprintf(path, sizeof path, "/%s", name) >= (int)sizeof path) {
        m->status = modal_error_set(m->err, MODAL_ERROR_INPUT, "/%.64s: too many names, or too long ones", name);
        return 1;
    }
    const hid_t object = H5Oopen(file, name, H5P_DEFAULT);
    if (object < 0) m->status = modal_h5_failed(m->err, MODAL_ERROR_INPUT, path, "damaged");
    else if (H5Iget_type(object) == H5I_DATASET) m->status = describe(m, object, path);
    if (object >= 0) H5Oclose(object);
    return m->status != MODAL_OK;
}

modal_status modal_h5_map(const modal_h5_in *in, modal_h5_mapped **all, int64_t *n, modal_error *err)
{
    mapping m = {.in = in, .err = err};
    *all = NULL;
    *n = 0;
    if (H5Lvisit(in->file, H5_INDEX_NAME, H5_ITER_INC, visit, &m) < 0 && m.status == MODAL_OK)
        m.status = modal_h5_failed(err, MODAL_ERROR_INPUT, "HDF5 file", "damaged");
    H5Eclear2(H5E_DEFAULT);
    if (m.status != MODAL_OK) {
        modal_free(&m.all);
        return m.status;
    }
    *all = m.all;
    *n = m.n;
    return MODAL_OK;
}
