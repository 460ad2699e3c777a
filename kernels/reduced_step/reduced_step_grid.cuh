// SPDX-License-Identifier: Apache-2.0
// The kernels over all objects, for one way to share them out (`teams`), and BAND levels at once on the way down. What the
// whole grid evaluates before (reduced_step_large.cuh) is of teams alone that have objects of many modes. teams::ONE: of one object
// alone, which has one level and bears nothing; what only others need is not compiled.

template <class teams>
__device__ static __forceinline__ void solve(const modal_step_task &t, int64_t size)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    // running trees of an iteration, of the next, and of that after it; then the iterations made
    int32_t *counters = t.status + t.n_trees;
    for (int32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < t.n_trees; i += gridDim.x * blockDim.x)
        t.status[i] = t.active[i] ? MODAL_STEP_RUNNING : MODAL_STEP_IDLE;
    if (grid.thread_rank() == 0) counters[0] = 0;
    grid.sync();
    if (t.rule == MODAL_STEP_ENERGY) teams::evaluate_large(t, size, LARGE_START, false, 0);
    teams::each(t, size, 0, t.n_objects, [&](auto team, int32_t i, double *own) { team.predict(t, i, own); });
    grid.sync();
    const int32_t band = BAND, shallow = t.n_levels <= band;
    for (int32_t iteration = 0;; iteration++) {
        int32_t *running = counters + iteration % 3;
        if (grid.thread_rank() == 0) counters[(iteration + 1) % 3] = 0; // nobody reads the one before the last
        for (int32_t level = 0; level < t.n_levels; level += band) {
            const int32_t begin = t.levels[level], end = t.levels[min(level + band, t.n_levels)];
            teams::each(t, size, begin, end, [&](auto team, int32_t i, double *own) {
                team.descend(t, i, iteration == 0, begin, own);
            });
            grid.sync();
        }
        for (int32_t level = 0; !teams::ONE && !shallow && level < t.n_levels; level += band) {
            const int32_t begin = t.levels[level], end = t.levels[min(level + band, t.n_levels)];
            teams::each(t, size, begin, end, [&](auto team, int32_t i, double *own) { team.find_pose(t, i, begin, own); });
            grid.sync();
        }
        teams::evaluate_large(t, size, LARGE_END, false, 0);
        if (t.rule == MODAL_STEP_ENERGY) teams::evaluate_large(t, size, LARGE_MIDDLE, false, 1);
        // nearly all the work, for all levels at once; an object that bears none is finished at once
        teams::each(t, size, 0, t.n_objects, [&](auto team, int32_t i, double *own) {
            if (teams::ONE || shallow) team.find_pose(t, i, 0, own);
            team.evaluate(t, i, own);
            if (teams::ONE || __ldg(&t.objects[i].n_children) == 0) team.finish(t, i, own, running);
        });
        grid.sync();
        for (int32_t level = t.n_levels - 1; !teams::ONE && level-- > 0;) {
            teams::each_parent(t, size, t.levels[level], t.levels[level + 1],
                               [&](auto team, int32_t i, double *own) { team.finish(t, i, own, running); });
            grid.sync();
        }
        if (*(volatile int32_t *)running > 0 && iteration < t.most_iterations) continue;
        if (grid.thread_rank() == 0) counters[3] = iteration;
        break;
    }
    teams::evaluate_large(t, size, LARGE_MIDDLE, true, 1);
    teams::each(t, size, 0, t.n_objects, [&](auto team, int32_t i, double *own) { team.accept(t, i, own); });
}

template <class teams>
__device__ static __forceinline__ void measure(const modal_step_task &t, int64_t size)
{
    teams::evaluate_large(t, size, LARGE_START, false, 0);
    teams::each(t, size, 0, t.n_objects, [&](auto team, int32_t i, double *own) { team.measure(t, i, own); });
}
