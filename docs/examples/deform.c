/* SPDX-License-Identifier: Apache-2.0 */
/* World positions of every frame of a trajectory: ./deform basis.h5 traj.h5 > positions.f32
 * cc deform.c -o deform $(pkg-config --cflags --libs modaltools), or in CMake find_package(modaltools) and modaltools::modaltools */
#include <formats/basis/basis_h5.h>
#include <formats/trajectory/trajectory_h5.h>
#include <lib/deform/deform.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    modal_error err = {0};
    modal_basis basis = {0};
    modal_trajectory motion = {0};
    modal_deformer *deformer = NULL;
    if (argc != 3 || modal_basis_read(argv[1], MODAL_BASIS_DEFORM, &basis, &err) ||
        modal_trajectory_read(argv[2], &motion, &err) ||
        modal_trajectory_check_basis(&motion, &basis, &err)) goto failed;
    modal_deform_request request = {.back_end = "auto", .n_frames = motion.n_frames};
    if (modal_deformer_new(&deformer, &basis, &request, &err)) goto failed;
    const int64_t n_points = modal_deformer_n_points(deformer);
    for (int64_t i = 0; i < motion.n_frames; i++) {
        modal_deform_batch batch;
        const double *q = motion.q + i * motion.mode_offsets[motion.n_objects];
        const double *poses = motion.poses ? motion.poses + 12 * i * motion.n_objects : NULL;
        if (modal_deformer_submit(deformer, 1, q, poses, &err) ||
            modal_deformer_collect(deformer, &batch, &err)) goto failed;
        fwrite(batch.positions, 3 * sizeof(float), (size_t)n_points, stdout);
        modal_deformer_release(deformer, &batch);
    }
    modal_deformer_delete(deformer), modal_trajectory_free(&motion), modal_basis_free(&basis);
    return fflush(stdout) != 0 || ferror(stdout);
failed:
    fprintf(stderr, "deform: %s\n", err.message[0] ? err.message : "usage: deform BASIS TRAJ");
    return 1;
}
