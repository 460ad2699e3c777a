/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/tangents_rigid/tangents_rigid.h"
#include "tests/kernels/scene.h"

static modal_status call(harness *h, const scene_rotation *r, modal_error *err)
{
    const modal_tangents_rigid_task task = {.n_vertices = r->n,
                                          .n_columns = r->columns,
                                          .rest_tangents = r->rest,
                                          .objects = r->objects,
                                          .n_objects = r->n_objects,
                                          .poses = r->poses,
                                          .tangents = r->out};
    return h->kernels->tangents_rigid(&task, h->stream, err);
}

static void run(harness *h) { scene_rotations(h, 4, call); }

int main(int argc, char **argv) { return harness_main(argc, argv, "tangents_rigid", run); }
