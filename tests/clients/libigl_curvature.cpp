// SPDX-License-Identifier: Apache-2.0
// libigl's principal_curvature of a mesh: of each vertex k_max and k_min, positive where the surface is convex.
// usage: libigl_curvature IN OUT RADIUS. IN: i64 vertices, i64 triangles, positions f64 [3] each, triangles i32 [3] each. OUT: f64 [..][2].
// Prints its seconds.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <igl/principal_curvature.h>

int main(int n_arguments, char **arguments)
{
    if (n_arguments != 4) return 2;
    FILE *in = fopen(arguments[1], "rb"), *out = fopen(arguments[2], "wb");
    long long n, m;
    if (!in || !out || fread(&n, 8, 1, in) != 1 || fread(&m, 8, 1, in) != 1) return 4;
    Eigen::MatrixXd x(n, 3), first, second;
    Eigen::MatrixXi t(m, 3);
    Eigen::VectorXd a, b;
    for (long long v = 0; v < n; v++)
        for (int k = 0; k < 3; k++)
            if (fread(&x(v, k), 8, 1, in) != 1) return 3;
    for (long long f = 0; f < m; f++)
        for (int k = 0; k < 3; k++)
            if (fread(&t(f, k), 4, 1, in) != 1) return 3;
    const auto start = std::chrono::steady_clock::now();
    igl::principal_curvature(x, t, first, second, a, b, (unsigned)atoi(arguments[3]));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (long long v = 0; v < n; v++) {
        const double k[2] = {a(v) > b(v) ? a(v) : b(v), a(v) > b(v) ? b(v) : a(v)};
        fwrite(k, sizeof k, 1, out);
    }
    printf("%.9g\n", seconds);
    return fclose(out) == 0 ? 0 : 4;
}
