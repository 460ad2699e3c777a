/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MODAL_TESTS_BENCH_BUS_H
#define MODAL_TESTS_BENCH_BUS_H

#include "tests/bench/bench.h"

/* The table "bus", of `pipeline`: b->gpu is present and CUDA's. Only in builds with CUDA. */
modal_status bench_bus(modal_bench *b, modal_error *err);

#endif
