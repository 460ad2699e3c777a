/* SPDX-License-Identifier: Apache-2.0 */
/* `/solid` of snapshots (snapshots.md): what moves. Not thread-safe (HDF5). */
#ifndef MODAL_FORMATS_SNAPSHOTS_SOLID_H
#define MODAL_FORMATS_SNAPSHOTS_SOLID_H

#include "formats/h5/h5_util.h"
#include "lib/model/volume_mesh.h"

typedef struct modal_snapshots_solid {
    /* Nodes, elements, and of the rest what the file has: groups, materials, element_material and element_fibres. Tags count
     * from 1 where it has none. */
    modal_volume_mesh mesh;
    double *mass;      /* [n_nodes] kg */
    uint8_t *laws;     /* [n_elements] indices of modal_material_law_names, or NULL */
    int64_t n_triangles;
    int32_t *triangles; /* [n_triangles, 3] the boundary: nodes */
    int32_t *patches;   /* [n_elements] mean patch of each, -1: none; or NULL */
} modal_snapshots_solid;

/* Zeroes; a zeroed struct is fine. */
void modal_snapshots_solid_free(modal_snapshots_solid *solid);

/* Reads what is there below the root, of n_nodes nodes, and applies the rules; *there: there is a /solid. The caller frees it, also
 * after an error. */
modal_status modal_snapshots_solid_look(const modal_h5_in *in, const modal_h5_place *root, int64_t n_nodes,
                                        modal_snapshots_solid *solid, int *there);

/* The group /solid. laws: [n_elements] or NULL; mesh->materials may be none. */
modal_status modal_snapshots_solid_write(hid_t file, const modal_snapshots_solid *solid, modal_error *err);

#endif
