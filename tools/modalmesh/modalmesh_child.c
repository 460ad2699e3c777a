/* SPDX-License-Identifier: Apache-2.0 */
/* modalmesh: a meshing library in a process of its own, so that neither a crash nor a hang of it takes
 * the tool down. The mesh comes back through a file in memory. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <omp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/memory.h"
#include "tools/common/tool.h"
#include "tools/modalmesh/modalmesh.h"

/* ---- the way back ---- */

typedef struct answer_head {
    int64_t n_nodes, n_elements, n_element_nodes, n_groups;
    modalmesh_told told;
    modal_error err;
} answer_head;

typedef struct group_head {
    int64_t n_nodes, n_elements, name_length;
    int32_t dimension, tag;
} group_head;

static void put(FILE *file, const void *items, int64_t n, size_t bytes)
{
    if (n > 0) fwrite(items, bytes, (size_t)n, file);
}

static int write_answer(FILE *file, const modal_volume_mesh *mesh, const modalmesh_told *told, const modal_error *err)
{
    answer_head head = {mesh->n_nodes, mesh->n_elements,
                        mesh->n_elements > 0 ? mesh->element_offsets[mesh->n_elements] : 0,
                        mesh->n_groups, *told, *err};
    put(file, &head, 1, sizeof head);
    put(file, mesh->nodes, 3 * mesh->n_nodes, sizeof(double));
    put(file, mesh->node_tags, mesh->n_nodes, sizeof(int64_t));
    put(file, mesh->element_type, mesh->n_elements, 1);
    put(file, mesh->element_nodes, head.n_element_nodes, sizeof(int32_t));
    put(file, mesh->element_tags, mesh->n_elements, sizeof(int64_t));
    for (int32_t g = 0; g < mesh->n_groups; g++) {
        const modal_group *group = &mesh->groups[g];
        group_head part = {group->n_nodes, group->n_elements, (int64_t)strlen(group->name),
                           group->dimension, group->tag};
        put(file, &part, 1, sizeof part);
        put(file, group->name, part.name_length, 1);
        put(file, group->nodes, part.n_nodes, sizeof(int32_t));
        put(file, group->elements, part.n_elements, sizeof(int32_t));
    }
    return fflush(file) == 0 && !ferror(file);
}

static modal_status get(FILE *file, void *items, int64_t n, size_t bytes, modal_error *err)
{
    if (n == 0 || fread(items, bytes, (size_t)n, file) == (size_t)n) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_SYSTEM, "the mesh did not come back whole");
}

static modal_status read_group(FILE *file, modal_group *group, modal_error *err)
{
    modal_status status = MODAL_OK;
    group_head head;
    char name[256] = "";
    MODAL_TRY(get(file, &head, 1, sizeof head, err));
    for (int64_t k = 0; k < head.name_length; k++) {
        char c;
        MODAL_TRY(get(file, &c, 1, 1, err));
        if (k < (int64_t)sizeof name - 1) name[k] = c;
    }
    group->dimension = head.dimension;
    group->tag = head.tag;
    group->n_nodes = head.n_nodes;
    group->n_elements = head.n_elements;
    MODAL_TRY(modal_copy_text(&group->name, name, sizeof name, err));
    MODAL_TRY(modal_alloc(&group->nodes, head.n_nodes, sizeof(int32_t), "group", err));
    MODAL_TRY(modal_alloc(&group->elements, head.n_elements, sizeof(int32_t), "group", err));
    MODAL_TRY(get(file, group->nodes, head.n_nodes, sizeof(int32_t), err));
    MODAL_TRY(get(file, group->elements, head.n_elements, sizeof(int32_t), err));
done:
    return status;
}

static modal_status read_answer(FILE *file, modal_volume_mesh *mesh, modalmesh_told *told, modal_error *err)
{
    modal_status status = MODAL_OK;
    answer_head head;
    MODAL_TRY(get(file, &head, 1, sizeof head, err));
    *told = head.told;
    if (head.err.status != MODAL_OK)
        MODAL_FAIL(err, head.err.status, "%s", head.err.message);
    MODAL_TRY(modalmesh_new_mesh(mesh, head.n_nodes, head.n_elements, MODAL_ELEMENT_TET4, err));
    modal_free(&mesh->element_nodes);
    modal_free(&mesh->groups);
    MODAL_TRY(modal_alloc(&mesh->element_nodes, head.n_element_nodes, sizeof(int32_t), "elements", err));
    MODAL_TRY(modal_alloc_zero(&mesh->groups, head.n_groups, sizeof *mesh->groups, "groups", err));
    MODAL_TRY(get(file, mesh->nodes, 3 * head.n_nodes, sizeof(double), err));
    MODAL_TRY(get(file, mesh->node_tags, head.n_nodes, sizeof(int64_t), err));
    MODAL_TRY(get(file, mesh->element_type, head.n_elements, 1, err));
    MODAL_TRY(get(file, mesh->element_nodes, head.n_element_nodes, sizeof(int32_t), err));
    MODAL_TRY(get(file, mesh->element_tags, head.n_elements, sizeof(int64_t), err));
    for (int64_t e = 0; e < head.n_elements; e++)
        mesh->element_offsets[e + 1] = mesh->element_offsets[e] + modal_mesh_kind(mesh, e)->n_nodes;
    for (int64_t g = 0; g < head.n_groups; g++) {
        mesh->n_groups++;
        MODAL_TRY(read_group(file, &mesh->groups[g], err));
    }
done:
    return status;
}

/* ---- a budget of nodes ---- */

static double volume_of(const modal_volume_mesh *mesh)
{
    double sum = 0;
    for (int64_t e = 0; e < mesh->n_elements; e++) {
        const int32_t *nodes = modal_mesh_nodes(mesh, e);
        const double *x = mesh->nodes + 3 * (int64_t)nodes[0];
        double a[3][3];
        if (modal_mesh_kind(mesh, e)->n_corners != 4) continue;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++) a[i][k] = mesh->nodes[3 * (int64_t)nodes[i + 1] + k] - x[k];
        sum += fabs(a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) +
                    a[0][1] * (a[1][2] * a[2][0] - a[1][0] * a[2][2]) +
                    a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])) / 6;
    }
    return sum;
}

/* Tries sizes until 90 % of the nodes that may be are there, eight times at most; the mesh of most nodes
 * that fits is kept. The library's own choice comes first: it is the coarsest, and says how many nodes
 * the surface needs whatever the size, n = n_least + b / size^3. */
static modal_status fit(modalmesh_engine *engine, const modalmesh_order *order, modal_volume_mesh *mesh,
                        modalmesh_told *told, modal_error *err)
{
    enum { MOST_TRIES = 8 };
    modal_status status = MODAL_OK;
    modalmesh_order next_order = *order;
    const double limit = (double)order->n_nodes;
    /* 1 / size^3 of the last try, of the finest that fitted, of the coarsest that did not. */
    double density = 0, fits = 0, too_fine = INFINITY, before = 0, last_n = 0, b = 0;
    if (order->n_nodes == 0) return engine(order, mesh, told, err);
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        modal_volume_mesh next = {0};
        next_order.size = density > 0 ? 1 / cbrt(density) : 0;
        status = engine(&next_order, &next, told, err);
        if (status != MODAL_OK) break;
        double n = (double)next.n_nodes;
        if (tries == 0) b = 6 * volume_of(&next); /* about what TetGen does to the bunny */
        else if ((n - last_n) / (density - before) > 0) b = (n - last_n) / (density - before);
        before = density;
        if (n <= limit) fits = density;
        else too_fine = density;
        if (n <= limit && next.n_nodes > mesh->n_nodes) {
            modal_volume_mesh_free(mesh);
            *mesh = next;
        } else {
            modal_volume_mesh_free(&next);
        }
        if (tries == 0 && n > limit)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: no mesh of so few nodes, %lld: the coarsest has %.0f",
                       order->path, (long long)order->n_nodes, n);
        if (n <= limit && n >= 0.9 * limit) break;
        density += (0.95 * limit - n) / b;
        if (!(density > fits && density < too_fine))
            density = too_fine < INFINITY ? (fits + too_fine) / 2 : 2 * fits + 1e-300;
        last_n = n;
    }
done:
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}

/* ---- the child ---- */

const char *modalmesh_engine_version(const char *name)
{
#ifdef MODAL_GMSH_VERSION
    if (strcmp(name, "gmsh") == 0) return MODAL_GMSH_VERSION;
#endif
#ifdef MODAL_TETGEN_VERSION
    if (strcmp(name, "tetgen") == 0) return MODAL_TETGEN_VERSION;
#endif
#ifdef MODAL_CGAL_VERSION
    if (strcmp(name, "cgal") == 0) return MODAL_CGAL_VERSION;
#endif
    (void)name;
    return NULL;
}

/* From ../lib/modaltools of the program's folder, wherever that was moved. */
static modal_status load_engine(const char *name, modalmesh_engine **engine, modal_error *err)
{
    char program[PATH_MAX], module[PATH_MAX + 64], function[64];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "/proc/self/exe: %s", strerror(errno));
    program[length] = '\0';
    snprintf(module, sizeof module, "%s/../lib/modaltools/modalmesh_%s.so", dirname(program), name);
    snprintf(function, sizeof function, "modalmesh_%s", name);
    void *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, function) : NULL;
    if (!symbol)
        return modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: cannot be loaded, %s", name, dlerror());
    memcpy(engine, &symbol, sizeof symbol);
    return MODAL_OK;
}

/* Meshing libraries take millions of small pieces of memory: with large pages for the first 256 MiB of the heap
 * (of addresses: memory is taken as it is touched) TetGen is some 8 % faster. Without them it works, too. */
static void prepare_heap(void)
{
    const size_t size = (size_t)256 << 20, page = (size_t)2 << 20;
    void *volatile pieces[4]; /* together more than the heap has left; volatile: not left out */
    char *first = sbrk(0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_TOP_PAD, (int)size);
    for (int i = 0; i < 4; i++) pieces[i] = malloc(100000);
    mallopt(M_TOP_PAD, 1 << 20);
    for (int i = 0; i < 4; i++) free(pieces[i]);
    char *end = sbrk(0);
    first += (page - (uintptr_t)first % page) % page;
    if (end > first) madvise(first, (size_t)(end - first), MADV_HUGEPAGE);
}

static _Noreturn void be_the_child(const char *name, modalmesh_order *order, int log, int answer, int done)
{
    modalmesh_engine *engine = NULL;
    modal_volume_mesh mesh = {0};
    modal_error err = {0};
    modalmesh_told told = {0};
    const struct rlimit none = {0, 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &none);
    for (int s = 1; s < 32; s++)
        if (s != SIGKILL && s != SIGSTOP) signal(s, SIG_DFL);
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC); /* not 0 to 2: the tool has these open, whatever it was given */
    dup2(nowhere, 0);
    dup2(log >= 0 ? log : nowhere, 1);
    dup2(log >= 0 ? log : nowhere, 2);
    setvbuf(stdout, NULL, _IOLBF, 0); /* what the library prints is read as it comes */
    prepare_heap();
    omp_set_num_threads(1); /* the parent's threads are not here */
    modal_status status = load_engine(name, &engine, &err);
    order->tell = done;
    if (status == MODAL_OK && order->surface)
        status = modalmesh_expect(order, order->low, order->high, order->volume, &err);
    if (status == MODAL_OK) status = fit(engine, order, &mesh, &told, &err);
    if (status != MODAL_OK) {
        modal_volume_mesh_free(&mesh);
        err.status = status;
    }
    FILE *file = fdopen(answer, "wb");
    int written = file && write_answer(file, &mesh, &told, &err);
    fflush(NULL);
    /* Said before the end, which gives all of the library's memory back first. */
    if (written) written = write(done, "", 1) == 1;
    _exit(written ? 0 : 99);
}

/* What the library prints, as it comes; said line by line, and as progress. */
typedef struct child_log {
    int end; /* of a pipe, or -1 */
    size_t used;
    char line[512];
    double expected;   /* elements, 0: not known */
    const char *stage; /* of the library's work */
    double fraction;   /* of that, < 0: not known */
} child_log;

static void show_progress(tool *t, const child_log *log)
{
    if (log->stage) modal_progress_report(&t->progress, log->stage, log->fraction, NULL);
}

/* The words that Gmsh 4 and TetGen 1.5 begin a part of their work with. Other versions may have others: then the stage
 * before stays, and the time still runs. */
static void read_progress(tool *t, child_log *log)
{
    static const struct {
        const char *words, *stage;
    } known[] = {{"Meshing 1D...", "edges"},         {"Meshing 2D...", "surfaces"},
                 {"Meshing 3D...", "volume"},        {"Optimizing mesh...", "optimizing"},
                 {"Meshing order", "second order"},  {"Delaunizing vertices", "tetrahedra of the vertices"},
                 {"Constrained Delaunay...", "boundary"}, {"Recovering boundar", "boundary"},
                 {"Refining mesh", "refining"},
                 {"Optimizing mesh", "optimizing"}};
    const char *percent = strchr(log->line, '['), *created = strstr(log->line, "It. ");
    long long n = 0;
    int done = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(log->line, known[i].words)) {
            log->stage = known[i].stage;
            log->fraction = -1;
            break;
        }
    if (percent && sscanf(percent, "[%d%%]", &done) == 1 && done >= 0 && done <= 100) log->fraction = 0.01 * done;
    /* Gmsh's points inside the volume, of which there are a tenth to an eleventh of the tetrahedra. */
    if (created && log->expected > 0 && sscanf(created, "It. %*d - %lld nodes created", &n) == 1)
        log->fraction = fmin(0.95, (double)n / (log->expected / 11));
    if (created) log->stage = "refining";
    show_progress(t, log);
}

static void say_line(tool *t, child_log *log)
{
    log->line[log->used] = '\0';
    if (log->used > 0) tool_detail(t, "%s", log->line);
    if (log->used > 0) read_progress(t, log);
    log->used = 0;
}

/* Says what is there; at the end of the pipe, which it then closes, the last line, too. */
static void read_log(tool *t, child_log *log)
{
    char bytes[4096];
    ssize_t n;
    while (log->end >= 0 && (n = read(log->end, bytes, sizeof bytes)) != 0) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return;
        if (n < 0) break;
        for (ssize_t i = 0; i < n; i++) {
            if (bytes[i] == '\n' || bytes[i] == '\r' || log->used + 1 == sizeof log->line) say_line(t, log);
            if (bytes[i] != '\n' && bytes[i] != '\r') log->line[log->used++] = bytes[i];
        }
    }
    say_line(t, log);
    if (log->end >= 0) close(log->end);
    log->end = -1;
}

/* What the library will make and take, as it did of boxes of 7,000 to 200,000 elements. Gmsh makes a new surface where a size is given. */
static void say_expected(tool *t, const char *name, const modalmesh_expected *expected, child_log *log)
{
    const int is_gmsh = strcmp(name, "gmsh") == 0;
    const double elements = (is_gmsh ? 5 : 18) * expected->cells + (strcmp(name, "tetgen") == 0 ? expected->beside : 0),
                 mebibytes = is_gmsh ? 80 + 440e-6 * elements : 10 + 230e-6 * elements;
    if (elements == 0) return;
    tool_note(t, "%s %.2g tetrahedra to come, in some %.2g MiB of memory", expected->is_box ? "at most" : "about", elements,
              mebibytes);
    json_object_set_new(t->report, "expected_elements", json_real(elements));
    if (!expected->is_box) log->expected = elements;
}

/* Waits until the child has answered, 2, or the pipe's other end is closed, which the child's end does, 1; 0 when time is
 * over. Says what it tells before. */
static int wait_for_end(tool *t, const char *name, int pipe_end, child_log *log, double seconds)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        double left = seconds - (double)(now.tv_sec - start.tv_sec) - 1e-9 * (double)(now.tv_nsec - start.tv_nsec);
        if (left <= 0) return 0;
        struct pollfd ends[2] = {{pipe_end, POLLIN, 0}, {log->end, POLLIN, 0}}; /* -1 is left out */
        int got = poll(ends, 2, (int)ceil(1000 * fmin(left, 1))); /* once a second the time is shown anew */
        if (got < 0 && errno != EINTR) return 1;
        if (got == 0) show_progress(t, log);
        if (got > 0 && ends[1].revents) read_log(t, log);
        if (got > 0 && ends[0].revents) {
            modalmesh_expected told;
            const ssize_t n = read(pipe_end, &told, sizeof told);
            if (n != (ssize_t)sizeof told) return n == 1 ? 2 : 1;
            say_expected(t, name, &told, log);
        }
    }
}

/* A library died of a signal: at which stage of its work, and what else may be tried. */
static void fail_crashed(const char *name, const modalmesh_order *order, const char *stage, int signal_number, modal_error *err)
{
    const char *other = strcmp(name, "gmsh") == 0 ? "tetgen" : "gmsh";
    const char *limit = signal_number == SIGXFSZ ? "ulimit -f" : signal_number == SIGXCPU ? "ulimit -t" : NULL;
    char at[80] = "", advice[80] = "";
    if (limit) {
        modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: %s was ended, %s (%s)", order->path, name, strsignal(signal_number), limit);
        return;
    }
    if (strcmp(stage, name) != 0) snprintf(at, sizeof at, " at the stage \"%s\"", stage);
    if (strcmp(name, "cgal") == 0) snprintf(advice, sizeof advice, "; a larger distance may do it");
    else if (order->surface && modalmesh_engine_version(other))
        snprintf(advice, sizeof advice, "; --engine %s or --repair may do it", other);
    else if (order->surface) snprintf(advice, sizeof advice, "; --repair may do it");
    modal_error_set(err, MODAL_ERROR_SYSTEM, "%s: %s crashed%s, %s%s", order->path, name, at, strsignal(signal_number), advice);
}

modal_status modalmesh_run(tool *t, const char *name, const modalmesh_order *order, double seconds,
                           modal_volume_mesh *mesh, modalmesh_told *told, modal_error *err)
{
    modal_status status = MODAL_OK;
    int ends[2] = {-1, -1}, log_ends[2] = {-1, -1}, answer = -1, result = 0;
    child_log log = {.end = -1, .stage = name, .fraction = -1};
    pid_t child = -1;
    FILE *file = NULL;
    memset(mesh, 0, sizeof *mesh);
    answer = memfd_create("mesh", MFD_CLOEXEC);
    if (answer < 0 || pipe2(ends, O_CLOEXEC) != 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be started, %s", name, strerror(errno));
    if (pipe2(log_ends, O_CLOEXEC) != 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be started, %s", name, strerror(errno));
    log.end = log_ends[0];
    if (log.end >= 0) fcntl(log.end, F_SETFL, O_NONBLOCK);
    fflush(NULL);
    child = fork();
    if (child < 0) MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: cannot be started, %s", name, strerror(errno));
    if (child == 0) {
        close(ends[0]);
        modalmesh_order own = *order;
        be_the_child(name, &own, log_ends[1], answer, ends[1]);
    }
    close(ends[1]);
    ends[1] = -1;
    if (log_ends[1] >= 0) close(log_ends[1]);
    log_ends[1] = -1;
    const int ended = wait_for_end(t, name, ends[0], &log, seconds);
    if (!ended) {
        kill(child, SIGKILL);
        waitpid(child, &result, 0);
        MODAL_FAIL(err, MODAL_ERROR_NOT_CONVERGED, "%s: %s not finished after %g s", order->path, name, seconds);
    }
    const int is_there = ended == 2;
    while (!is_there && waitpid(child, &result, 0) < 0 && errno == EINTR) continue;
    if (WIFSIGNALED(result)) {
        read_log(t, &log); /* what it printed last says where it was */
        fail_crashed(name, order, log.stage, WTERMSIG(result), err);
        status = MODAL_ERROR_SYSTEM;
        goto done;
    }
    if (WEXITSTATUS(result) != 0)
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: %s ended without a mesh, exit %d", order->path, name,
                   WEXITSTATUS(result));
    if (lseek(answer, 0, SEEK_SET) < 0 || !(file = fdopen(answer, "rb")))
        MODAL_FAIL(err, MODAL_ERROR_SYSTEM, "%s: %s", name, strerror(errno));
    answer = -1;
    status = read_answer(file, mesh, told, err);
    if (is_there) waitpid(child, &result, WNOHANG); /* it only has memory left to give back */
done:
    read_log(t, &log);
    say_line(t, &log);
    if (log.end >= 0) close(log.end);
    if (log_ends[1] >= 0) close(log_ends[1]);
    if (file) fclose(file);
    if (answer >= 0) close(answer);
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) close(ends[i]);
    if (status != MODAL_OK) modal_volume_mesh_free(mesh);
    return status;
}
