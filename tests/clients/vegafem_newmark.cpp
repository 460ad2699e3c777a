// SPDX-License-Identifier: Apache-2.0
// VegaFEM's implicit Newmark of a reduced St. Venant-Kirchhoff solid, beginning at q = 0 with the velocities on standard input.
// Prints lines "q ..." every EVERY steps, from the start on, among what VegaFEM says. Its damping is alpha M + beta K(q), with M = 1.
// usage: vegafem_newmark FORCES.cub STEP STEPS EVERY ALPHA BETA
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "StVKReducedInternalForces.h"
#include "implicitNewmarkDense.h"
#include "reducedStVKForceModel.h"

int main(int n_arguments, char **arguments)
{
    if (n_arguments != 7) return 2;
    StVKReducedInternalForces forces(arguments[1], -1, 0, 0);
    const int r = forces.Getr(), steps = atoi(arguments[3]), every = atoi(arguments[4]);
    ReducedStVKForceModel model(&forces);
    std::vector<double> mass((size_t)r * r), q(r), v(r);
    for (int i = 0; i < r; i++) mass[(size_t)i * r + i] = 1;
    for (double &x : v)
        if (scanf("%lf", &x) != 1) return 2;
    ImplicitNewmarkDense rule(r, atof(arguments[2]), mass.data(), &model, ImplicitNewmarkDense::generalMatrixSolver,
                              atof(arguments[5]), atof(arguments[6]), 50, 1e-12);
    if (rule.SetState(q.data(), v.data()) != 0) return 5;
    for (int step = 0; step <= steps; step++) {
        for (int i = 0; i < r && step % every == 0; i++) printf("%s%.17g%s", i > 0 ? "" : "\nq ", rule.Getq()[i], i + 1 < r ? " " : "\n");
        if (step < steps && rule.DoTimestep() != 0) return 5;
    }
    return 0;
}
