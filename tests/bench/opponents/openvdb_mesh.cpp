// SPDX-License-Identifier: Apache-2.0
// Opponent of `modaltex build`: OpenVDB's distances around a surface, with what is nearest, in a band of one voxel. Prints active voxels, seconds of the
// clock and seconds of all threads. Compiled by tests/bench/measure_octree.py where its headers are.
// usage: openvdb_mesh SURFACE.off RESOLUTION THREADS RUNS
#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    FILE *file = std::fopen(argv[1], "r");
    int n_points, n_faces, n_edges;
    if (!file || std::fscanf(file, "OFF %d %d %d", &n_points, &n_faces, &n_edges) != 3) return 3;
    std::vector<openvdb::Vec3s> points(n_points);
    std::vector<openvdb::Vec3I> faces(n_faces);
    openvdb::Vec3s low(1e30f), high(-1e30f);
    for (auto &p : points) {
        if (std::fscanf(file, "%f %f %f", &p[0], &p[1], &p[2]) != 3) return 3;
        for (int k = 0; k < 3; k++) low[k] = std::min(low[k], p[k]), high[k] = std::max(high[k], p[k]);
    }
    for (auto &f : faces) {
        int n;
        if (std::fscanf(file, "%d %u %u %u", &n, &f[0], &f[1], &f[2]) != 4 || n != 3) return 3;
    }
    std::fclose(file);
    openvdb::initialize();
    tbb::global_control threads(tbb::global_control::max_allowed_parallelism, (size_t)std::atoi(argv[3]));
    const float longest = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
    const auto transform = openvdb::math::Transform::createLinearTransform(longest / ((float)std::atoi(argv[2]) - 5));
    for (int run = 0; run < std::atoi(argv[4]); run++) {
        const auto begin = std::chrono::steady_clock::now();
        const std::clock_t clock = std::clock();
        const auto grid = openvdb::tools::meshToUnsignedDistanceField<openvdb::FloatGrid>(*transform, points, faces, std::vector<openvdb::Vec4I>(), 1.0f);
        const double processor = (double)(std::clock() - clock) / CLOCKS_PER_SEC;
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        std::printf("%lld %.4f %.4f\n", (long long)grid->activeVoxelCount(), seconds, processor);
    }
    return 0;
}
