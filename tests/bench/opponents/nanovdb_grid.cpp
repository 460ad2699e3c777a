// SPDX-License-Identifier: Apache-2.0
// Opponent: NanoVDB's grids and its sampler. Its headers are not a part of this project.
#include "tests/bench/opponents/nanovdb_look_up.h"

#include <nanovdb/util/GridBuilder.h>

#include <cstring>
#include <exception>

#include "tests/bench/opponents/octree_opponents.h"

struct nanovdb_grid {
    nanovdb::GridHandle<nanovdb::HostBuffer> handle;
};

namespace {

template <typename VALUE> void make(nanovdb_grid *grid, const modal_octree *o)
{
    nanovdb::GridBuilder<VALUE> builder(VALUE(0));
    auto accessor = builder.getAccessor();
    const VALUE *values = (const VALUE *)o->values;
    for (int64_t i = 0; i < o->n_samples; i++) {
        const uint64_t key = (uint64_t)o->keys[i];
        accessor.setValue(nanovdb::Coord(modal_morton_squeeze(key), modal_morton_squeeze(key >> 1), modal_morton_squeeze(key >> 2)), values[i]);
    }
    grid->handle = builder.template getHandle<>();
}

template <typename VALUE> void look_up(const void *data, const octree_points *p)
{
    const nanovdb::NanoGrid<VALUE> *grid = (const nanovdb::NanoGrid<VALUE> *)data;
#pragma omp parallel
    {
        const auto accessor = grid->getAccessor();
#pragma omp for schedule(static)
        for (int64_t i = 0; i < p->n; i++) {
            const float *at = p->points + 3 * i;
            if constexpr (std::is_same<VALUE, float>::value) ((float *)p->values)[i] = nanovdb_float(accessor, at);
            else ((uint32_t *)p->values)[i] = nanovdb_rgba8(accessor, at);
        }
    }
}

} // namespace

extern "C" modal_status nanovdb_grid_new(nanovdb_grid **grid, const modal_octree *octree, modal_error *err)
{
    *grid = nullptr;
    try {
        *grid = new nanovdb_grid;
        if (octree->channels == MODAL_OCTREE_RGBA8) make<uint32_t>(*grid, octree);
        else make<float>(*grid, octree);
    } catch (const std::exception &e) {
        *grid = nanovdb_grid_delete(*grid);
        return modal_error_set(err, MODAL_ERROR_MEMORY, "NanoVDB: %s", e.what());
    }
    return MODAL_OK;
}

extern "C" nanovdb_grid *nanovdb_grid_delete(nanovdb_grid *grid)
{
    delete grid;
    return nullptr;
}

extern "C" const void *nanovdb_grid_data(const nanovdb_grid *grid, int64_t *bytes)
{
    *bytes = (int64_t)grid->handle.size();
    return grid->handle.data();
}

#define NANOVDB_TEXT(x) #x
#define NANOVDB_DOTS(a, b, c) "NanoVDB " NANOVDB_TEXT(a) "." NANOVDB_TEXT(b) "." NANOVDB_TEXT(c)
extern "C" const char *nanovdb_version(void)
{
    return NANOVDB_DOTS(NANOVDB_MAJOR_VERSION_NUMBER, NANOVDB_MINOR_VERSION_NUMBER, NANOVDB_PATCH_VERSION_NUMBER);
}

extern "C" void nanovdb_cpu(const void *data, const octree_points *p)
{
    if (p->channels == MODAL_OCTREE_RGBA8) look_up<uint32_t>(data, p);
    else look_up<float>(data, p);
}
