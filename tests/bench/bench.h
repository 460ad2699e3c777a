/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of modalbench share: the two machines (CPU and, where there is one, GPU), timing,
 * and rows of results.
 *
 * A row is the median and the spread (least, most) of BENCH_RUNS runs after warm-ups. On a GPU a run
 * is timed with events around as many calls as fill 200 us, on the CPU with the clock around as many
 * as fill 1 ms. Bytes count each input read once and each output written once, the same for all who
 * compute the same thing, whatever they really move. Modal matrices are taken from a pool of random
 * numbers in turn, so that none is in a cache ("cold"), unless a row says "hot". */
#ifndef MODAL_TESTS_BENCH_H
#define MODAL_TESTS_BENCH_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "kernels/registry.h"
#include "tests/bench/noise.h"
#include "tests/bench/worse.h"
#include "tools/modalbench/modalbench.h"

enum { BENCH_PAIR_OPERATIONS = 12, BENCH_RUNS = 15, BENCH_RUNS_QUICK = 3, BENCH_CACHE_BYTES = 256 << 20, BENCH_COPIES = 11 };

/* One machine that computes. */
typedef struct bench_side {
    int present, is_cuda;
    modal_device device;
    modal_stream *stream;
    float *pool; /* random numbers in [-1, 1), in the device's memory */
    int64_t pool_floats;
    double copy_rate;   /* bytes a second, read and written */
    double copies[BENCH_COPIES]; /* seconds of a copy that reads and writes 0.5 MB, 1 MB, ... 512 MB */
    int n_copies;
    double launch_seconds; /* an empty kernel; 0 on the CPU */
    double datasheet_rate; /* bytes a second, of the memory's clock and width; 0 on the CPU */
    double multiply_adds;  /* float32, a second, as `nbody` measures them; 0: not measured */
} bench_side;

struct modal_bench {
    int quick, runs, n_threads, cpu_rows; /* cpu_rows: 0 where `render` and `plants` leave them out */
    int64_t memory_limit;
    const char *folder; /* for the files of `pipeline` */
    const char *surface; /* of `octree`, or NULL */
    int depth;           /* of `octree`, or 0: those of the part */
    int only_ours;       /* `tled` without what is measured beside it */
    const char *plants;  /* the folder of `plants`, or NULL */
    FILE *text;         /* the table for people, or NULL */
    json_t *results, *absent;
    modal_device ref;
    bench_side cpu, gpu;
    const char *table;  /* of the rows that follow */
    double ours, ours_bytes; /* seconds and bytes of the latest row that is ours */
};

typedef struct bench_time {
    double median, least, most; /* seconds of one call */
    int runs, calls;            /* runs, and calls in each */
    double processor;           /* median of processor seconds of one call, of all threads; 0 on a GPU */
} bench_time;

/* Waits until this process's threads sleep: OpenBLAS's go on spinning for a tenth of a second after a call,
 * OpenMP's for some milliseconds, and either take the processors from whoever is measured next. Part of
 * bench_measure. */
void bench_settle(const modal_bench *b);

/* The k-th call of what is timed, k = 0, 1, ... over all runs. */
typedef modal_status bench_call(void *context, int64_t k, modal_error *err);

modal_status bench_measure(modal_bench *b, bench_side *side, bench_call *call, void *context,
                           bench_time *time, modal_error *err);

/* Seconds of a copy that reads and writes `bytes` in all under the rows' own conditions: read from memory,
 * written where the copy before wrote. Between the sizes measured: linear; beyond: at copy_rate. */
double bench_copy_seconds(const bench_side *side, double bytes);

/* ---- rows ---- */

typedef struct bench_row {
    const char *name;
    int ours;            /* the opponents behind it are compared with it */
    int hidden;          /* only in the JSON: the caller prints */
    const bench_side *side;
    int64_t n_vertices, n_columns, n_objects;
    double n_modes;      /* a mean over objects where they differ */
    double bytes;        /* useful bytes of a call; 0: no rate */
    double pairs;        /* interactions of a call, of 12 multiply-adds each; 0: none */
    double lookups;      /* of a call; 0: none */
    double held_bytes;   /* of what is looked up in; 0: not said */
    bench_time time;
    double error;        /* largest |result - reference| over its tolerance; < 0: nothing to check */
    const char *tolerance;
    double relative;     /* the same difference over a size that the part names; 0: none */
} bench_row;

/* A new table: title for people, name for the JSON; the columns' headings are printed. */
void bench_table(modal_bench *b, const char *name, const char *title);
void bench_headings(modal_bench *b);
/* Records and prints a row. A result that is off by more than its tolerance, or NaN, is an error. */
modal_status bench_row_add(modal_bench *b, const bench_row *row, modal_error *err);
/* Says what is not measured, and why. */
void bench_absent(modal_bench *b, const char *what, const char *why);
void bench_print(modal_bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- memory ---- */

/* Device memory with a copy of `host`, or filled with NaN where host is NULL. */
modal_status bench_to_device(bench_side *side, void *pointer, const void *host, int64_t bytes,
                             const char *what, modal_error *err);
/* Copies into device memory that is there, and waits for it. */
modal_status bench_refill(bench_side *side, void *to, const void *host, int64_t bytes, modal_error *err);
void bench_free(bench_side *side, void *pointer); /* also where the side is absent */
modal_status bench_poison(bench_side *side, void *pointer, int64_t bytes, modal_error *err);
/* Waits for the side's work, then copies from it. */
modal_status bench_from_device(bench_side *side, void *host, const void *pointer, int64_t bytes,
                               modal_error *err);
/* `count` random numbers of one seed on the side. */
modal_status bench_random_on(bench_side *side, float **pointer, int64_t count, uint64_t seed,
                             modal_error *err);
/* Where among the pool's disjoint sets of `floats` numbers the k-th call finds its own. */
static inline const float *bench_set(const bench_side *side, int64_t floats, int64_t k)
{
    return side->pool + k % (side->pool_floats / floats) * floats;
}

/* max |got[i] - expected[i]| / tolerance[i] over `count` numbers, NaN where one is NaN; `step`
 * skips the fourth numbers of got: 3 or 4 floats a vertex. */
double bench_error(int64_t count, const float *got, int step, const float *expected,
                   const float *tolerance);

/* ---- the parts ---- */
modal_status bench_uq(modal_bench *b, modal_error *err);
modal_status bench_half(modal_bench *b, modal_error *err); /* of `uq`: a modal matrix of 16 bits */
modal_status bench_multi(modal_bench *b, modal_error *err);
modal_status bench_batch(modal_bench *b, modal_error *err);
modal_status bench_frame(modal_bench *b, modal_error *err);
modal_status bench_operations(modal_bench *b, modal_error *err); /* of `frame`, too */
modal_status bench_pipeline(modal_bench *b, modal_error *err);
modal_status bench_rings(modal_bench *b, modal_error *err);
modal_status bench_nbody(modal_bench *b, modal_error *err);
modal_status bench_tled(modal_bench *b, modal_error *err);
struct tled_cube;
modal_status bench_tled_frames(modal_bench *b, bench_side *side, const struct tled_cube *cube, modal_error *err); /* of `tled` */
modal_status bench_octree(modal_bench *b, modal_error *err);
struct octree_scene;
struct modal_surface_mesh;
struct modal_octree_request;
typedef struct bench_octree_surface {
    const struct modal_octree_request *request;
    int64_t n_flat; /* triangles without area */
    double seconds; /* that the builder took for the scene's tree, with all threads */
} bench_octree_surface;
/* of `octree` */
modal_status bench_octree_build(modal_bench *b, bench_side *side, const bench_octree_surface *surface, const struct octree_scene *scene, modal_error *err);
modal_status bench_flow(modal_bench *b, bench_side *side, struct octree_scene *scene, const struct modal_surface_mesh *surface, modal_error *err);
modal_status bench_atlas(modal_bench *b, bench_side *side, const struct octree_scene *scene, const struct modal_surface_mesh *surface, modal_error *err);
modal_status bench_render(modal_bench *b, modal_error *err);
modal_status bench_plants(modal_bench *b, modal_error *err);
/* Of `render`: PNG of a picture, [height, width, 4], beside libpng. */
modal_status bench_png(modal_bench *b, const uint8_t *picture, int width, int height, modal_error *err);
/* Of `plants`: the paper's kernels in a launch or two, in one a distinct r, in one an object. */
modal_status bench_launches(modal_bench *b, modal_error *err);

#endif
