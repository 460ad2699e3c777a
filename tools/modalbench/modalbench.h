/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark behind modalbench; the parts and their opponents are in tests/bench. */
#ifndef TOOLS_MODALBENCH_H
#define TOOLS_MODALBENCH_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/status.h"

typedef struct modal_bench modal_bench;

typedef struct modal_bench_request {
    const char *back_end;  /* "cpu", "auto", "cuda" or "cuda:N": a GPU beside the CPU */
    int quick;             /* small sizes, few runs: does it work? */
    int gpu_only;          /* not 0: `render` and `plants` leave the CPU's rows out */
    int n_threads;         /* of the CPU */
    int64_t memory_limit;  /* bytes of main memory, 0: three quarters of what is free */
    const char *folder;    /* where `pipeline` makes its temporary files */
    const char *surface;   /* a file of what `octree` goes around, or NULL: a torus */
    int depth;             /* the only one of `octree`, or 0 */
    int only_ours;         /* `tled` without opponents, float64, several devices and frames */
    const char *plants;    /* the folder of what `plants` measures, or NULL */
    FILE *text;            /* tables for people, or NULL */
} modal_bench_request;

/* The names of the parts, in the order of `all`; NULL behind the last. */
extern const char *const modal_bench_parts[];

/* Opens the machines and measures their ceilings. */
modal_status modal_bench_new(modal_bench **bench, const modal_bench_request *request,
                             modal_error *err);
/* Runs the part with this index and adds its rows. MODAL_ERROR_SYSTEM when something cannot run, or
 * a result, ours or an opponent's, is wrong. */
modal_status modal_bench_run(modal_bench *bench, int part, modal_error *err);
/* {"date", "machine", "results", "absent"}: a new reference. */
json_t *modal_bench_json(const modal_bench *bench);
modal_bench *modal_bench_delete(modal_bench *bench); /* NULL is fine; returns NULL */

/* What the opponents were built with, a line each. */
void modal_bench_print_versions(FILE *to);

#endif
