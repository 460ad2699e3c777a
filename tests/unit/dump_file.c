/* SPDX-License-Identifier: Apache-2.0 */
/* dump_file KIND FILE [N_NODES]: what the readers make of a basis, trajectory, checkpoint or snapshots (of N_NODES nodes):
 * a line an array with its number of items and the hash of its bytes in memory. Arrays that a later version may hold in
 * another form (how vertices are carried, modes at the nodes) are left out: what follows from them is tested. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/basis/basis_fields.h"
#include "formats/basis/basis_h5.h"
#include "formats/checkpoint/checkpoint_h5.h"
#include "formats/snapshots/snapshots_h5.h"
#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/memory.h"

static void print(const char *name, const void *values, int64_t count, size_t bytes)
{
    modal_hash *hash = NULL;
    char text[MODAL_HASH_TEXT];
    if (!values || modal_hash_new(&hash, NULL) != MODAL_OK) return;
    modal_hash_array(hash, "", values, count, bytes);
    modal_hash_text(hash, text);
    modal_hash_delete(hash);
    printf("%s %" PRId64 " %s\n", name, count, text);
}

static modal_status dump_basis(const char *path, modal_error *err)
{
    modal_basis b;
    modal_status status = modal_basis_read(path, MODAL_BASIS_ALL, &b, err);
    for (int32_t i = 0; i < b.n_shapes; i++) {
        int64_t sizes[SIZE_COUNT], dims[MODAL_H5_RANK];
        char name[160];
        modal_basis_sizes(&b.shapes[i], sizes);
        for (int f = 0; f < MODAL_BASIS_FIELDS; f++) {
            const modal_h5_field *field = &modal_basis_fields[f];
            int64_t count = 1;
            if (strncmp(field->name, "embedding_", 10) == 0 || strcmp(field->name, "volume_modes") == 0) continue;
            modal_basis_field_dims(field, sizes, dims);
            for (int k = 0; k < field->rank; k++) count *= dims[k];
            snprintf(name, sizeof name, "shapes/%d/%s/%s", i, modal_basis_groups[field->group], field->name);
            print(name, modal_basis_field_array(&b.shapes[i], field), count, modal_h5_type_bytes(field->type));
        }
    }
    for (int32_t i = 0; i < b.n_objects; i++) {
        char name[64];
        snprintf(name, sizeof name, "objects/%d/rest_pose", i);
        print(name, b.objects[i].rest_pose, 12, sizeof(double));
        printf("objects/%d %d %d\n", i, b.objects[i].shape, b.objects[i].parent);
    }
    if (status == MODAL_OK) printf("content_hash 1 %s\n", b.hash);
    modal_basis_free(&b);
    return status;
}

static modal_status dump_trajectory(const char *path, modal_error *err)
{
    modal_trajectory t;
    modal_status status = modal_trajectory_read(path, &t, err);
    if (status == MODAL_OK) {
        print("times", t.times, t.n_frames, sizeof(double));
        print("mode_offsets", t.mode_offsets, t.n_objects + 1, sizeof(int64_t));
        print("q", t.q, t.n_frames * t.mode_offsets[t.n_objects], sizeof(double));
        print("frames", t.poses, t.n_frames * t.n_objects * 12, sizeof(double));
        print("energy", t.energy, t.n_frames * 4, sizeof(double));
        printf("basis_hash 1 %s\n", t.basis_hash);
    }
    modal_trajectory_free(&t);
    return status;
}

/* The frames that are done, as a run that goes on takes them. */
static modal_status take_frames(const char *path, const modal_checkpoint *c, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_trajectory_out *out = NULL;
    int64_t *offsets = NULL;
    double *frames = NULL;
    const int64_t n = c->n_objects > 0 ? c->n_objects : 1;
    MODAL_TRY(modal_alloc_zero(&offsets, n + 1, sizeof *offsets, "offsets", err));
    MODAL_TRY(modal_alloc_zero(&frames, 12 * n, sizeof *frames, "frames", err));
    for (int64_t i = 1; i <= n; i++) offsets[i] = i < n ? i : c->n_coordinates;
    const modal_trajectory head = {.n_frames = c->most_frames, .n_objects = (int32_t)n, .mode_offsets = offsets,
                                   .poses = c->n_objects > 0 ? frames : NULL, .energy = frames,
                                   .basis_path = (char *)"b.h5", .basis_hash = "0123456789abcdef0123456789abcdef"};
    MODAL_TRY(modal_trajectory_out_open(&out, NULL, &head, err));
    status = modal_checkpoint_rows(path, c, 25, out, err);
done:
    modal_trajectory_out_abandon(&out);
    modal_free(&offsets);
    modal_free(&frames);
    return status;
}

static modal_status dump_checkpoint(const char *path, modal_error *err)
{
    modal_checkpoint c;
    modal_status status = modal_checkpoint_read(path, &c, err);
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) {
        char name[16];
        snprintf(name, sizeof name, "state_%d", i);
        print(name, c.state[i], c.state_counts[i], sizeof(double));
    }
    if (status == MODAL_OK) status = take_frames(path, &c, err);
    if (status == MODAL_OK) printf("n_frames %" PRId64 " of_%" PRId64 "\n", c.n_frames, c.most_frames);
    modal_checkpoint_free(&c);
    return status;
}

static modal_status dump_snapshots(const char *path, int64_t n_nodes, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_snapshots *snapshots = NULL;
    double *nodes = NULL, *u = NULL;
    int64_t n = 0;
    int single = 0;
    MODAL_TRY(modal_alloc_zero(&nodes, 3 * n_nodes, sizeof *nodes, "nodes", err));
    nodes[0] = 1;
    MODAL_TRY(modal_snapshots_open(&snapshots, path, n_nodes, nodes, &n, &single, err));
    MODAL_TRY(modal_alloc(&u, n * 3 * n_nodes, sizeof *u, "snapshots", err));
    for (int64_t i = 0; i < n; i++) MODAL_TRY(modal_snapshots_read(snapshots, i, 1, u + i * 3 * n_nodes, err));
    print("displacements", u, n * 3 * n_nodes, sizeof *u);
done:
    modal_snapshots_close(snapshots);
    modal_free(&nodes);
    modal_free(&u);
    return status;
}

int main(int argc, char **argv)
{
    modal_error err = {0};
    modal_status status = MODAL_ERROR_USAGE;
    if (argc < 3) return 2;
    if (strcmp(argv[1], "basis") == 0) status = dump_basis(argv[2], &err);
    if (strcmp(argv[1], "trajectory") == 0) status = dump_trajectory(argv[2], &err);
    if (strcmp(argv[1], "checkpoint") == 0) status = dump_checkpoint(argv[2], &err);
    if (strcmp(argv[1], "snapshots") == 0 && argc == 4) status = dump_snapshots(argv[2], strtoll(argv[3], NULL, 10), &err);
    if (status != MODAL_OK) fprintf(stderr, "%s\n", err.message);
    return status != MODAL_OK;
}
