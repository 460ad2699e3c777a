// SPDX-License-Identifier: Apache-2.0
// A team: RS_LANES threads that work on one object together (reduced_step_body.h). RS_CLOSE: a lane's columns of a table
// are neighbours, for teams whose lanes do not fill a line. RS_GRID_MODES: objects of more modes find forces and stiffness
// where the whole grid has put them. RS_WARP_SUMS: sums over modes that one lane would make are a warp's. RS_MOST_SWEPT: no object has
// more modes, and blocks are of 128 or 512 threads (body_sweep.cuh). No include guard: a template.
#ifndef RS_GRID_MODES
#define RS_GRID_MODES INT32_MAX
#endif
#ifndef RS_MOST_SWEPT
#define RS_MOST_SWEPT INT32_MAX
#endif
#ifndef RS_WARP_SUMS
#define RS_WARP_SUMS 0
#endif

template <bool two>
__device__ static __forceinline__ void column_sums(int32_t rows, int32_t n, const double *table, const double *m1,
                                                   const double *m2, double *out1, double *out2);

#include "kernels/reduced_step/reduced_step_body.h"

// Four columns a lane at once. `two`: out2 = m2^T table, too.
template <bool two>
__device__ static __forceinline__ void column_sums(int32_t rows, int32_t n, const double *table, const double *m1,
                                                   const double *m2, double *out1, double *out2)
{
    const int32_t begin = RS_CLOSE ? 4 * RS_LANE : RS_LANE, apart = RS_CLOSE ? 1 : RS_LANES;
    for (int32_t c = begin; c < n; c += 4 * RS_LANES) {
        double x[4] = {0}, y[4] = {0};
        RS_TOGETHER(i, on, rows, 4)
        {
            const double *row = table + (int64_t)i * n + c;
            double e[4];
#if RS_CLOSE
            const double2 low = __ldg((const double2 *)row), high = __ldg((const double2 *)row + 1);
            e[0] = low.x, e[1] = low.y, e[2] = high.x, e[3] = high.y;
#else
            for (int j = 0; j < 4; j++) e[j] = __ldg(row + (c + j * apart < n ? j * apart : 0));
#endif
            const double f1 = RS_IF(on, m1[i]), f2 = RS_IF(on, m2[i]);
            for (int j = 0; j < 4; j++) {
                x[j] = fma(f1, e[j], x[j]);
                if (two) y[j] = fma(f2, e[j], y[j]);
            }
        }
        for (int j = 0; j < 4; j++) {
            if (c + j * apart >= n) break;
            out1[c + j * apart] = x[j];
            if (two) out2[c + j * apart] = y[j];
        }
    }
    RS_SYNC();
}

struct team {
    __device__ static __forceinline__ int32_t lane() { return RS_LANE; }
    __device__ static __forceinline__ void predict(const modal_step_task &t, int32_t i, double *own)
    {
        rs_predict(&t, i, own);
    }
    __device__ static __forceinline__ void descend(const modal_step_task &t, int32_t i, int first, int32_t begin,
                                                   double *own)
    {
        RS_OBJECT(o, &t, i);
        const rs_work w = rs_work_by(&t, o, i);
        rs_descend(&t, &w, first, begin, own);
    }
    __device__ static __forceinline__ void find_pose(const modal_step_task &t, int32_t i, int32_t begin, double *own)
    {
        RS_OBJECT(o, &t, i);
        const rs_work w = rs_work_by(&t, o, i);
        rs_find_pose(&t, &w, begin, own);
    }
    __device__ static __forceinline__ void evaluate(const modal_step_task &t, int32_t i, double *own)
    {
        RS_OBJECT(o, &t, i);
        const rs_work w = rs_work_by(&t, o, i);
        rs_evaluate(&t, &w, own);
    }
    // A root that is through counts its tree where that runs on.
    __device__ static __forceinline__ void finish(const modal_step_task &t, int32_t i, double *own, int32_t *running)
    {
        RS_OBJECT(o, &t, i);
        const rs_work w = rs_work_by(&t, o, i);
        rs_eliminate(&t, &w, own);
        if (o->parent < 0 && RS_LANE == 0 && rs_takes_part(&t, o)) atomicAdd(running, 1);
    }
    __device__ static __forceinline__ void accept(const modal_step_task &t, int32_t i, double *own)
    {
        rs_accept(&t, i, own);
    }
    __device__ static __forceinline__ void measure(const modal_step_task &t, int32_t i, double *own)
    {
        rs_measure(&t, i, own);
    }
};

#undef RS_LANE
#undef RS_LANES
#undef RS_SYNC
#undef RS_CLOSE
#undef RS_MOST
#undef RS_MOST_ROWS
#undef RS_FEW
#undef RS_GRID_MODES
#undef RS_MOST_SWEPT
#undef RS_WARP_SUMS
