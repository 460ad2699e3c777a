// SPDX-License-Identifier: Apache-2.0
// The kernels over all objects, for one kind of group (RS_LANE, RS_LANES, RS_SYNC; reduced_step_cuda.cu).
// No include guard: a template.

// Neighbouring objects go to different multiprocessors first.
__device__ static int32_t group_index() { return (threadIdx.x - RS_LANE) / RS_LANES * gridDim.x + blockIdx.x; }
__device__ static int32_t group_count() { return blockDim.x / RS_LANES * gridDim.x; }

__device__ static double *group_scratch(const modal_step_task &t, int64_t size)
{
    extern __shared__ double shared[];
#if RS_LARGE
    if (t.scratch) return t.scratch + group_index() * size;
#endif
    return shared + (threadIdx.x - RS_LANE) / RS_LANES * size; // and the compiler knows that it is shared
}

// A root that is through counts its tree where that runs on.
__device__ static void finish(const modal_step_task &t, int32_t i, double *own, int32_t *running)
{
    const rs_work w = rs_work_of(&t, i);
    rs_eliminate(&t, &w, own);
    if (t.objects[i].parent < 0 && RS_LANE == 0 && rs_takes_part(&t, &t.objects[i])) atomicAdd(running, 1);
}

__global__ void RS_BOUNDS solve(const __grid_constant__ modal_step_task t, int64_t size)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    const int32_t group = group_index(), groups = group_count();
    double *own = group_scratch(t, size);
    // running trees of an iteration, of the next, and of that after it; then the iterations made
    int32_t *counters = t.status + t.n_trees;
    for (int32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < t.n_trees; i += gridDim.x * blockDim.x)
        t.status[i] = t.active[i] ? MODAL_STEP_RUNNING : MODAL_STEP_IDLE;
    if (grid.thread_rank() == 0) counters[0] = 0;
    grid.sync();
    for (int32_t i = group; i < t.n_objects; i += groups) {
        rs_predict(&t, i, own);
        RS_SYNC();
    }
    grid.sync();
    for (int32_t iteration = 0;; iteration++) {
        int32_t *running = counters + iteration % 3;
        if (grid.thread_rank() == 0) counters[(iteration + 1) % 3] = 0; // nobody reads the one before the last
        for (int32_t level = 0; level < t.n_levels; level++) {
            for (int32_t i = t.levels[level] + group; i < t.levels[level + 1]; i += groups) {
                const rs_work w = rs_work_of(&t, i);
                rs_descend(&t, &w, iteration == 0, own);
            }
            grid.sync();
        }
        // nearly all the work, for all levels at once; an object that bears none is finished at once
        for (int32_t i = group; i < t.n_objects; i += groups) {
            const rs_work w = rs_work_of(&t, i);
            rs_evaluate(&t, &w, own);
            if (t.objects[i].n_children == 0) finish(t, i, own, running);
            RS_SYNC();
        }
        grid.sync();
        for (int32_t level = t.n_levels - 1; level-- > 0;) {
            for (int32_t i = t.levels[level] + group; i < t.levels[level + 1]; i += groups) {
                if (t.objects[i].n_children > 0) finish(t, i, own, running);
                RS_SYNC();
            }
            grid.sync();
        }
        if (*(volatile int32_t *)running > 0 && iteration < t.most_iterations) continue;
        if (grid.thread_rank() == 0) counters[3] = iteration;
        break;
    }
    for (int32_t i = group; i < t.n_objects; i += groups) {
        rs_accept(&t, i, own);
        RS_SYNC();
    }
}

__global__ void RS_BOUNDS measure(const __grid_constant__ modal_step_task t, int64_t size)
{
    double *own = group_scratch(t, size);
    for (int32_t i = group_index(); i < t.n_objects; i += group_count()) {
        rs_measure(&t, i, own);
        RS_SYNC();
    }
}
