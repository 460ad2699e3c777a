/* SPDX-License-Identifier: Apache-2.0 */
/* The faces that belong to one element only, while rank 0 still has the whole mesh: it sends the faces as records, and the others match
 * them. A face has the nodes of its key, the least of them first: so faces of one range of least nodes are matched among themselves, and
 * ranges, in the order of the ranks, give single faces and the first clash in the order of one process (lib/mesh/boundary.c). */
#include <string.h>

#include "lib/base/memory.h"
#include "lib/ranks/private.h"

/* In a round the ranks match an eighth of all faces, or this number where they are few. Messages to all ranks wait in so many bytes. */
enum { MOST_ROUNDS = 8, LEAST_FACES = 1 << 14, MESSAGE_BYTES = 1 << 16, ALL_MESSAGES = 1 << 22, RECORDS = 3, FOUND = 4 };

typedef struct found {
    int64_t n;
    modal_face_clash clash;
} found;

/* On rank 0. */
typedef struct sender {
    const ranks_problem *problem;
    const modal_volume_mesh *mesh;
    int n_others;
    int64_t bytes, room; /* of a record; records in a message */
    int64_t n_faces;
    int32_t *counts;  /* [n_nodes] faces by their least node */
    int64_t *numbers; /* [n_ranks] faces that a rank gets in this round, rank 0: none; -1: it was the last one */
    int32_t *ends;    /* [n_others] the range of least nodes of rank k + 1 ends here */
    int64_t *filled;  /* [n_others] records that wait */
    char *messages;   /* [n_others, room] records */
} sender;

static modal_status prepare(sender *s, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t key[4];
    s->n_others = s->problem->n_ranks - 1;
    const int64_t share = ALL_MESSAGES / s->n_others;
    s->room = (share < MESSAGE_BYTES ? share : MESSAGE_BYTES) / s->bytes;
    if (s->room < 1) s->room = 1;
    MODAL_TRY(modal_alloc_zero(&s->counts, s->mesh->n_nodes, sizeof *s->counts, "faces at nodes", err));
    MODAL_TRY(modal_alloc_zero(&s->numbers, s->problem->n_ranks, sizeof *s->numbers, "faces", err));
    MODAL_TRY(modal_alloc_zero(&s->ends, s->n_others, sizeof *s->ends, "faces", err));
    MODAL_TRY(modal_alloc_zero(&s->filled, s->n_others, sizeof *s->filled, "faces", err));
    const int used = modal_store_use(0); /* MPI sends from there */
    status = modal_alloc(&s->messages, s->n_others * s->room, (size_t)s->bytes, "faces", err);
    modal_store_use(used);
    if (status != MODAL_OK) goto done;
    for (int64_t e = 0; e < s->mesh->n_elements; e++)
        for (int f = 0; f < modal_mesh_kind(s->mesh, e)->n_faces; f++, s->n_faces++) {
            modal_face_key(s->mesh, (int32_t)(MODAL_FACE_SLOTS * e + f), key);
            s->counts[key[0]]++;
        }
done:
    return status;
}

static void sender_free(sender *s)
{
    modal_free(&s->counts);
    modal_free(&s->numbers);
    modal_free(&s->ends);
    modal_free(&s->filled);
    modal_free(&s->messages);
}

/* The round that begins with least node `low`, cut into the ranges of the ranks; returns the node that it ends before. */
static int64_t cut_round(sender *s, int64_t low)
{
    const int64_t eighth = s->n_faces / MOST_ROUNDS, most = eighth > LEAST_FACES ? eighth : LEAST_FACES, n_nodes = s->mesh->n_nodes;
    int64_t n = s->counts[low], high = low + 1, before = 0, node = low;
    for (; high < n_nodes && n + s->counts[high] <= most; high++) n += s->counts[high];
    for (int k = 0; k < s->n_others; k++) {
        const int64_t until = n / s->n_others * (k + 1) + n % s->n_others * (k + 1) / s->n_others;
        s->numbers[k + 1] = 0;
        for (; node < high && (before < until || k == s->n_others - 1); node++) {
            s->numbers[k + 1] += s->counts[node];
            before += s->counts[node];
        }
        s->ends[k] = (int32_t)node;
    }
    return high;
}

static modal_status send_message(sender *s, int k, modal_error *err)
{
    const ranks_problem *problem = s->problem;
    modal_status status = MODAL_OK;
    RANKS_TRY(MPI_Send(s->messages + k * s->room * s->bytes, (int)(s->filled[k] * s->bytes), MPI_BYTE, k + 1, RECORDS, problem->comm));
    s->filled[k] = 0;
done:
    return status;
}

static modal_status send_face(sender *s, int32_t face, modal_error *err)
{
    const modal_face_record record = modal_face_record_of(s->mesh, face);
    int k = 0, last = s->n_others - 1;
    while (k < last) { /* the first range that ends above the least node */
        const int middle = (k + last) / 2;
        if (s->ends[middle] > record.key[0]) last = middle;
        else k = middle + 1;
    }
    memcpy(s->messages + (k * s->room + s->filled[k]) * s->bytes, &record, (size_t)s->bytes);
    return ++s->filled[k] == s->room ? send_message(s, k, err) : MODAL_OK;
}

/* The faces whose least node is in [low, high). */
static modal_status send_round(sender *s, int64_t low, int64_t high, modal_error *err)
{
    modal_status status = MODAL_OK;
    int32_t key[4];
    for (int64_t e = 0; e < s->mesh->n_elements; e++) {
        const int32_t *nodes = modal_mesh_nodes(s->mesh, e);
        const int n_corners = modal_mesh_kind(s->mesh, e)->n_corners;
        int some = 0;
        for (int a = 0; a < n_corners && !some; a++) some = nodes[a] >= low && nodes[a] < high;
        for (int f = 0; f < modal_mesh_kind(s->mesh, e)->n_faces && some; f++) {
            modal_face_key(s->mesh, (int32_t)(MODAL_FACE_SLOTS * e + f), key);
            if (key[0] >= low && key[0] < high) MODAL_TRY(send_face(s, (int32_t)(MODAL_FACE_SLOTS * e + f), err));
        }
    }
    for (int k = 0; k < s->n_others; k++)
        if (s->filled[k] > 0) MODAL_TRY(send_message(s, k, err));
done:
    return status;
}

/* What the ranks found, in their order. After a clash the rest is taken, too, and left. */
static modal_status collect(const ranks_problem *problem, modal_single_faces *single, modal_face_clash *clash, modal_error *err)
{
    modal_status status = MODAL_OK;
    found it;
    for (int r = 1; r < problem->n_ranks; r++) {
        RANKS_TRY(MPI_Recv(&it, (int)sizeof it, MPI_BYTE, r, FOUND, problem->comm, MPI_STATUS_IGNORE));
        RANKS_OWN(modal_grow(&single->faces, &single->capacity, single->n + it.n, sizeof *single->faces, "boundary faces", err));
        MODAL_TRY(ranks_pass(problem, r, 0, single->faces + single->n, it.n * (int64_t)sizeof *single->faces, err));
        single->n += it.n;
        if (clash->n == 0) *clash = it.clash;
    }
done:
    return status;
}

/* One round of another rank: n records come, what was found of them goes. */
static modal_status match(const ranks_problem *problem, int64_t n, int64_t bytes, modal_error *err)
{
    modal_status status = MODAL_OK;
    char *records = NULL;
    int32_t *faces = NULL;
    found it = {0};
    MPI_Status message;
    RANKS_OWN(modal_alloc(&records, n, (size_t)bytes, "faces", err));
    RANKS_OWN(modal_alloc(&faces, n, sizeof *faces, "faces", err));
    for (int64_t at = 0; at < n * bytes;) {
        int length = 0;
        const int64_t rest = n * bytes - at;
        RANKS_TRY(MPI_Recv(records + at, (int)(rest < MESSAGE_BYTES ? rest : MESSAGE_BYTES), MPI_BYTE, 0, RECORDS, problem->comm, &message));
        RANKS_TRY(MPI_Get_count(&message, MPI_BYTE, &length));
        at += length;
    }
    it.n = modal_faces_match(records, n, bytes, faces, &it.clash);
    modal_free(&records);
    RANKS_TRY(MPI_Send(&it, (int)sizeof it, MPI_BYTE, 0, FOUND, problem->comm));
    MODAL_TRY(ranks_pass(problem, problem->rank, 0, faces, it.n * (int64_t)sizeof *faces, err));
done:
    modal_free(&records);
    modal_free(&faces);
    return status;
}

modal_status ranks_find_faces(const ranks_problem *problem, const modal_volume_mesh *mesh, modal_single_faces *single, modal_face_clash *clash,
                              modal_error *err)
{
    modal_status status = MODAL_OK;
    sender s = {.problem = problem, .mesh = mesh};
    int64_t n = 0, low = 0;
    if (problem->rank == 0) {
        s.bytes = modal_face_record_bytes(mesh);
        RANKS_OWN(prepare(&s, err));
    }
    RANKS_TRY(MPI_Bcast(&s.bytes, 1, MPI_INT64_T, 0, problem->comm));
    for (;;) {
        const int last = problem->rank == 0 && (low == mesh->n_nodes || clash->n > 0);
        const int64_t high = problem->rank == 0 && !last ? cut_round(&s, low) : 0;
        for (int r = 0; r < problem->n_ranks && last; r++) s.numbers[r] = -1;
        RANKS_TRY(MPI_Scatter(s.numbers, 1, MPI_INT64_T, &n, 1, MPI_INT64_T, 0, problem->comm));
        if (n < 0) break;
        if (problem->rank > 0) {
            MODAL_TRY(match(problem, n, s.bytes, err));
        } else {
            MODAL_TRY(send_round(&s, low, high, err));
            MODAL_TRY(collect(problem, single, clash, err));
            low = high;
        }
    }
done:
    sender_free(&s);
    return status;
}
