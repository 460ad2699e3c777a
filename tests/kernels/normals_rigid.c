/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/normals_rigid/normals_rigid.h"
#include "tests/kernels/scene.h"

static modal_status call(harness *h, const scene_rotation *r, modal_error *err)
{
    const modal_normals_rigid_task task = {.n_vertices = r->n,
                                          .n_columns = r->columns,
                                          .rest_normals = r->rest,
                                          .objects = r->objects,
                                          .n_objects = r->n_objects,
                                          .poses = r->poses,
                                          .normals = r->out};
    return h->kernels->normals_rigid(&task, h->stream, err);
}

static void run(harness *h) { scene_rotations(h, 3, call); }

int main(int argc, char **argv) { return harness_main(argc, argv, "normals_rigid", run); }
