/* SPDX-License-Identifier: Apache-2.0 */
/* What launchers say, in variables of the environment: Open MPI's mpirun, PMI (MPICH, Intel MPI, Slurm's srun --mpi=pmi2), srun, and arrays of
 * jobs of Slurm and PBS (their manual pages). Nothing here is an MPI: processes meet in files. */
#include "tools/common/shares.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A launcher that numbers its processes. */
static const struct {
    const char *rank, *size;
} launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"}};
enum { N_LAUNCHERS = sizeof launchers / sizeof *launchers };

/* What one of them says. */
typedef struct said {
    const char *variables;
    modal_share share;
} said;

/* A whole number, 0 or more. */
static int whole(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    if (!text || text[0] < '0' || text[0] > '9') return 0;
    *value = strtoll(text, &end, 10);
    return errno == 0 && !*end;
}

/* 0: the variable is not set. */
static modal_status variable(const char *name, int *there, int64_t *value, modal_error *err)
{
    const char *text = getenv(name);
    *there = text && *text;
    if (!*there || whole(text, value)) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_USAGE, "--shard auto: %s is not a number, %s", name, text);
}

static modal_status say(said *all, int *n, const char *variables, int64_t index, int64_t size, modal_error *err)
{
    if (size < 1 || index >= size)
        return modal_error_set(err, MODAL_ERROR_USAGE, "--shard auto: %s say %" PRId64 " of %" PRId64, variables, index, size);
    all[(*n)++] = (said){variables, {index, size}};
    return MODAL_OK;
}

/* wanted: the number of shares that --shard names, or 0. */
static modal_status ask_ranks(int64_t wanted, said *all, int *n, modal_error *err)
{
    static const char *const both[N_LAUNCHERS] = {"OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE", "PMI_RANK, PMI_SIZE", "SLURM_PROCID, SLURM_NTASKS"};
    modal_status status = MODAL_OK;
    for (int i = 0; i < N_LAUNCHERS; i++) {
        int there, sized;
        int64_t rank = 0, size = 0;
        MODAL_TRY(variable(launchers[i].rank, &there, &rank, err));
        if (!there) continue;
        MODAL_TRY(variable(launchers[i].size, &sized, &size, err));
        if (!sized && wanted == 0)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shard auto: %s is set, %s is not", launchers[i].rank, launchers[i].size);
        if (!sized) size = wanted;
        if (size == 1 && wanted > 1) continue; /* alone: the array says which */
        MODAL_TRY(say(all, n, both[i], rank, size, err));
    }
done:
    return status;
}

static modal_status ask_arrays(int64_t wanted, said *all, int *n, modal_error *err)
{
    modal_status status = MODAL_OK;
    int there, known[3];
    int64_t id = 0, min = 0, count = 0, step = 1;
    MODAL_TRY(variable("SLURM_ARRAY_TASK_ID", &there, &id, err));
    if (there && wanted > 0) MODAL_TRY(say(all, n, "SLURM_ARRAY_TASK_ID", id, wanted, err));
    if (there && wanted == 0) {
        MODAL_TRY(variable("SLURM_ARRAY_TASK_MIN", &known[0], &min, err));
        MODAL_TRY(variable("SLURM_ARRAY_TASK_COUNT", &known[1], &count, err));
        MODAL_TRY(variable("SLURM_ARRAY_TASK_STEP", &known[2], &step, err));
        if (!known[0] || !known[1])
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shard auto: SLURM_ARRAY_TASK_ID is set, SLURM_ARRAY_TASK_MIN or _COUNT is not");
        if (step < 1 || id < min || (id - min) % step != 0 || (id - min) / step >= count)
            MODAL_FAIL(err, MODAL_ERROR_USAGE,
                       "--shard auto: SLURM_ARRAY_TASK_ID, _MIN, _STEP, _COUNT are no even series (--shard auto/N takes the ID itself), "
                       "%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64, id, min, step, count);
        MODAL_TRY(say(all, n, "SLURM_ARRAY_TASK_ID, _MIN, _STEP, _COUNT", (id - min) / step, count, err));
    }
    MODAL_TRY(variable("PBS_ARRAY_INDEX", &there, &id, err));
    if (there && wanted == 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shard auto: PBS_ARRAY_INDEX comes without the number of shards (--shard auto/N says it)");
    if (there) MODAL_TRY(say(all, n, "PBS_ARRAY_INDEX", id, wanted, err));
done:
    return status;
}

static modal_status ask(int64_t wanted, modal_share *share, modal_error *err)
{
    modal_status status = MODAL_OK;
    said all[N_LAUNCHERS + 2];
    int n = 0, first = 0;
    MODAL_TRY(ask_ranks(wanted, all, &n, err));
    MODAL_TRY(ask_arrays(wanted, all, &n, err));
    if (n == 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "--shard auto: no launcher has set OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID, SLURM_ARRAY_TASK_ID or PBS_ARRAY_INDEX");
    /* One process of one says nothing: each job of an array is that, too. */
    while (first < n - 1 && all[first].share.n == 1) first++;
    for (int i = first + 1; i < n; i++) {
        const modal_share *a = &all[first].share, *b = &all[i].share;
        if (b->n == 1 || (a->index == b->index && a->n == b->n)) continue;
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "--shard auto: %s say %" PRId64 "/%" PRId64 ", %s say %" PRId64 "/%" PRId64 " (--shard I/N decides)",
                   all[first].variables, a->index, a->n, all[i].variables, b->index, b->n);
    }
    *share = all[first].share;
    if (wanted > 0 && share->n != wanted)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shard: %s say %" PRId64 " processes, not %" PRId64, all[first].variables, share->n, wanted);
done:
    return status;
}

modal_status tool_share_parse(const char *text, modal_share *share, modal_error *err)
{
    char index[24] = "";
    const char *slash = strchr(text, '/');
    const int is_auto = strcmp(text, "auto") == 0 || strncmp(text, "auto/", 5) == 0;
    if (slash && slash - text < (int)sizeof index) snprintf(index, sizeof index, "%.*s", (int)(slash - text), text);
    *share = (modal_share){0, 0};
    if (slash && !whole(slash + 1, &share->n)) share->n = -1;
    if (share->n < 0 || share->n > TOOL_MOST_SHARES || (slash && share->n == 0) || (!is_auto && (!slash || !whole(index, &share->index))))
        return modal_error_set(err, MODAL_ERROR_USAGE, "--shard: not I/N, auto or auto/N (N up to %d), %s", TOOL_MOST_SHARES, text);
    if (is_auto) return ask(share->n, share, err);
    if (share->index < share->n) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_USAGE, "--shard: shards of %" PRId64 " are 0 to %" PRId64 ", %s", share->n, share->n - 1, text);
}

modal_status tool_local_rank(int64_t *rank, modal_error *err)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) && whole(getenv(names[i]), rank)) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_USAGE,
                           "--backend: cuda:auto: no launcher has set OMPI_COMM_WORLD_LOCAL_RANK, MPI_LOCALRANKID or SLURM_LOCALID");
}

/* ---- names ---- */

modal_status tool_publish(tool_output *output, const char *name, int *first, modal_error *err)
{
    modal_status status = MODAL_OK;
    *first = 0;
    MODAL_TRY(tool_output_sync(output, err));
    int failed = link(output->temporary, name);
    if (failed && errno != EEXIST) {
        const int code = errno;
        failed = renameat2(AT_FDCWD, output->temporary, AT_FDCWD, name, RENAME_NOREPLACE);
        if (failed && errno != EEXIST) errno = errno == EINVAL || errno == ENOSYS ? code : errno;
    }
    if (failed && (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == EMLINK))
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM,
                   "%s: the file system has no hard links and no renames that replace nothing, %s; write elsewhere, or without --shard",
                   name, strerror(errno));
    if (failed && errno != EEXIST) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be made, %s", name, strerror(errno));
    *first = !failed;
done:
    tool_output_discard(output);
    return status;
}
