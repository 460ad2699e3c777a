// SPDX-License-Identifier: Apache-2.0
// Opponent of `modaltex bake --own-charts`: charts and atlas of xatlas with its own settings, charts `padding` texels apart. Prints charts, the share of the
// image that is in charts (by triangles), seconds of the clock and of all threads. Compiled by tests/bench/measure_charts.py with the sources that it is given.
// usage: xatlas_charts SURFACE.off SIZE PADDING RUNS BRUTE_FORCE
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "xatlas.h"

// Of the square image around the atlas, by the areas of triangles: what is between charts and beside them is not used.
static double used(const xatlas::Atlas *atlas)
{
    double area = 0;
    const xatlas::Mesh &mesh = atlas->meshes[0];
    for (uint32_t i = 0; i + 2 < mesh.indexCount; i += 3) {
        const float *p[3];
        for (int k = 0; k < 3; k++) p[k] = mesh.vertexArray[mesh.indexArray[i + k]].uv;
        area += 0.5 * std::fabs(((double)p[1][0] - p[0][0]) * ((double)p[2][1] - p[0][1]) - ((double)p[2][0] - p[0][0]) * ((double)p[1][1] - p[0][1]));
    }
    return area / ((double)atlas->width * atlas->height);
}

int main(int argc, char **argv)
{
    if (argc != 6) return 2;
    FILE *file = std::fopen(argv[1], "r");
    int n_points, n_faces, n_edges;
    if (!file || std::fscanf(file, "OFF %d %d %d", &n_points, &n_faces, &n_edges) != 3) return 3;
    std::vector<float> points(3 * (size_t)n_points);
    std::vector<uint32_t> faces(3 * (size_t)n_faces);
    for (float &x : points)
        if (std::fscanf(file, "%f", &x) != 1) return 3;
    for (int i = 0, n; i < n_faces; i++)
        if (std::fscanf(file, "%d %u %u %u", &n, &faces[3 * i], &faces[3 * i + 1], &faces[3 * i + 2]) != 4 || n != 3) return 3;
    std::fclose(file);
    for (int run = 0; run < std::atoi(argv[4]); run++) {
        const auto begin = std::chrono::steady_clock::now();
        const std::clock_t clock = std::clock();
        xatlas::Atlas *atlas = xatlas::Create();
        xatlas::MeshDecl mesh;
        mesh.vertexCount = (uint32_t)n_points, mesh.vertexPositionData = points.data(), mesh.vertexPositionStride = 12;
        mesh.indexCount = (uint32_t)faces.size(), mesh.indexData = faces.data(), mesh.indexFormat = xatlas::IndexFormat::UInt32;
        if (xatlas::AddMesh(atlas, mesh) != xatlas::AddMeshError::Success) return 4;
        xatlas::PackOptions pack;
        pack.resolution = (uint32_t)std::atoi(argv[2]), pack.padding = (uint32_t)std::atoi(argv[3]);
        pack.bruteForce = std::atoi(argv[5]) != 0;
        xatlas::Generate(atlas, xatlas::ChartOptions(), pack);
        const double processor = (double)(std::clock() - clock) / CLOCKS_PER_SEC;
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (atlas->meshCount != 1 || atlas->chartCount == 0) return 4;
        std::printf("%u %.4f %.4f %.4f\n", atlas->chartCount, used(atlas), seconds, processor);
        xatlas::Destroy(atlas);
    }
    return 0;
}
