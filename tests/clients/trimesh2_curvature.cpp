// SPDX-License-Identifier: Apache-2.0
// trimesh2's normals, point areas and curvatures of a mesh: of each vertex k_max and k_min by value. One thread.
// usage: trimesh2_curvature IN OUT RUNS. IN: i64 vertices, i64 triangles, positions f32 [3] each, triangles i32 [3] each. OUT: f32 [..][2].
// Prints the processor seconds of the fastest run.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "TriMesh.h"

namespace trimesh { // what it prints, and what is not called
void TriMesh::eprintf(const char *, ...) {}
void TriMesh::dprintf(const char *, ...) {}
void remove_sliver_faces(TriMesh *) {}
} // namespace trimesh

static double seconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int n_arguments, char **arguments)
{
    if (n_arguments != 4) return 2;
    FILE *in = fopen(arguments[1], "rb"), *out = fopen(arguments[2], "wb");
    long long n, m;
    if (!in || !out || fread(&n, 8, 1, in) != 1 || fread(&m, 8, 1, in) != 1) return 4;
    trimesh::TriMesh mesh;
    mesh.vertices.resize(n), mesh.faces.resize(m);
    for (auto &v : mesh.vertices)
        for (int k = 0; k < 3; k++)
            if (fread(&v[k], 4, 1, in) != 1) return 3;
    for (auto &f : mesh.faces)
        for (int k = 0; k < 3; k++)
            if (fread(&f[k], 4, 1, in) != 1) return 3;
    double best = 1e30;
    for (int run = 0; run < atoi(arguments[3]); run++) {
        mesh.normals.clear(), mesh.pointareas.clear(), mesh.cornerareas.clear();
        mesh.curv1.clear(), mesh.curv2.clear(), mesh.pdir1.clear(), mesh.pdir2.clear();
        const double start = seconds();
        mesh.need_normals();
        mesh.need_pointareas();
        mesh.need_curvatures();
        best = std::min(best, seconds() - start);
    }
    for (long long v = 0; v < n; v++) {
        const float k[2] = {std::max(mesh.curv1[v], mesh.curv2[v]), std::min(mesh.curv1[v], mesh.curv2[v])};
        fwrite(k, sizeof k, 1, out);
    }
    printf("%.9g\n", best);
    return fclose(out) == 0 ? 0 : 4;
}
