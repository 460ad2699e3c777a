/* SPDX-License-Identifier: Apache-2.0 */
/* The faces of a mesh by number, and as records that have all that decides whether two faces are one: those can be matched where the mesh
 * is not. */
#ifndef MODAL_MESH_FACE_MATCH_H
#define MODAL_MESH_FACE_MATCH_H

#include <stdint.h>

#include "lib/base/status.h"
#include "lib/model/volume_mesh.h"

/* A face is the number 6 element + local face, kept in an int32: enough for 357 million elements. */
enum { MODAL_FACE_SLOTS = MODAL_ELEMENT_MOST_FACES };

const modal_element_face *modal_face_kind(const modal_volume_mesh *mesh, int32_t face);
/* The face's nodes in the mesh; returns their number. */
int modal_face_nodes(const modal_volume_mesh *mesh, int32_t face, int32_t nodes[MODAL_FACE_MOST_NODES]);
/* The corners so turned, and turned over, that both elements at a face find the same four numbers: the lowest first, then the lower
 * one of its neighbours; a triangle has -1 for the fourth. Returns 1 where the face was turned over. */
int modal_face_key(const modal_volume_mesh *mesh, int32_t face, int32_t key[4]);

/* Of meshes without mid-side nodes only the first MODAL_FACE_RECORD_SHORT bytes are kept. */
typedef struct modal_face_record {
    int32_t key[4];
    int32_t face;
    int32_t over;       /* what modal_face_key returns */
    int32_t middles[4]; /* mid-side nodes, ascending; then -1 */
} modal_face_record;

enum { MODAL_FACE_RECORD_SHORT = 24, MODAL_FACES_NAMED = 6 };

/* The bytes of a record that this mesh needs: 24, or 40 where an element is quadratic. */
int64_t modal_face_record_bytes(const modal_volume_mesh *mesh);
modal_face_record modal_face_record_of(const modal_volume_mesh *mesh, int32_t face);

/* Faces of one key that do not fit together: more than two; two on the same side; two with different mid-side nodes. */
typedef struct modal_face_clash {
    int64_t n; /* 0: there are none */
    int32_t faces[MODAL_FACES_NAMED]; /* ascending, the first of them */
} modal_face_clash;

/* n records of `bytes` each, in any order, with all of every key that occurs: sorts them, and writes the faces that occur once to
 * faces [n] by ascending key. Returns their number. *clash: the first one by its key. */
int64_t modal_faces_match(void *records, int64_t n, int64_t bytes, int32_t *faces, modal_face_clash *clash);

/* Faces of one element only, as they are found. */
typedef struct modal_single_faces {
    int64_t n, capacity;
    int32_t *faces; /* [n] by ascending key */
} modal_single_faces;

/* Finds them in the whole mesh, or the first clash by its key. The caller frees single->faces, also after an error. */
typedef modal_status modal_face_finder(const modal_volume_mesh *mesh, modal_single_faces *single, modal_face_clash *clash, modal_error *err);

#endif
