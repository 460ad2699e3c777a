// SPDX-License-Identifier: Apache-2.0
// CGAL's jet fitting (F. Cazals, M. Pouget) of given points: for each vertex its k_max and k_min, positive where the surface is convex
// seen from the given normal.
// usage: cgal_jets IN OUT DEGREE. IN: i64 count; then of each vertex its normal, f64 [3], i64 number of points, and these, f64 [3] each,
// the vertex first. OUT: f64 [count][2]. Prints the seconds of the fits.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <CGAL/Monge_via_jet_fitting.h>
#include <CGAL/Simple_cartesian.h>

typedef CGAL::Simple_cartesian<double> Kernel;
typedef CGAL::Monge_via_jet_fitting<Kernel> Fitting;

static void take(void *to, size_t bytes, FILE *from)
{
    if (fread(to, 1, bytes, from) != bytes) exit(3);
}

int main(int n_arguments, char **arguments)
{
    if (n_arguments != 4) return 2;
    FILE *in = fopen(arguments[1], "rb"), *out = fopen(arguments[2], "wb");
    const int degree = atoi(arguments[3]);
    if (!in || !out) return 4;
    long long count;
    double seconds = 0.0;
    take(&count, 8, in);
    for (long long v = 0; v < count; v++) {
        double normal[3], x[3];
        long long n;
        take(normal, sizeof normal, in), take(&n, sizeof n, in);
        std::vector<Kernel::Point_3> points;
        for (long long i = 0; i < n; i++) take(x, sizeof x, in), points.emplace_back(x[0], x[1], x[2]);
        const auto start = std::chrono::steady_clock::now();
        Fitting fitting;
        Fitting::Monge_form form = fitting(points.begin(), points.end(), degree, 2);
        form.comply_wrt_given_normal(Kernel::Vector_3(normal[0], normal[1], normal[2]));
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        // heights grow along the normal: bent away from it is negative there
        const double k[2] = {-form.principal_curvatures(1), -form.principal_curvatures(0)};
        fwrite(k, sizeof k, 1, out);
    }
    printf("%.9g\n", seconds);
    return fclose(out) == 0 ? 0 : 4;
}
