/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/kernels/curvature_checks.h"

static void run(harness *h)
{
    surface_check(h, 1);
}

int main(int argc, char **argv) { return harness_main(argc, argv, "curvature_ring", run); }
