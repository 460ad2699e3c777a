/* SPDX-License-Identifier: Apache-2.0 */
/* libmodaltools's calls in a thread of 256 KiB of stack, as threads of other programs have: none takes more than 128 KiB of
 * it. The stack is painted before, and looked at afterwards. usage: test_small_stacks */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "file_samples.h"
#include "formats/basis/basis_h5.h"
#include "formats/json/materials.h"
#include "formats/json/scene.h"
#include "formats/meshes/bou.h"
#include "formats/meshes/csv.h"
#include "formats/meshes/mesh_read.h"
#include "formats/meshes/surface_read.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/memory.h"
#include "lib/deform/deform.h"
#ifdef MODAL_HAVE_MODES
#include "lib/modes/modes.h"
#include "tests/unit/solid_fixtures.h"
#endif

enum { STACK = 256 << 10, MOST = 128 << 10, GUARD = 64 << 10, PAINT = 0xa5, FRAMES = 70 };

/* In a thread cmocka's asserts cannot jump back. */
static void require(int ok, const char *what)
{
    if (ok) return;
    fprintf(stderr, "test_small_stacks: %s\n", what);
    abort();
}

static void call(modal_status status, modal_status wanted, const modal_error *err)
{
    require(status == wanted, *err->message ? err->message : "a status that was not expected");
}

/* ---- what runs on the stack ---- */

static void *nothing(void *context) { return context; }

typedef void reader(const char *path);

static void read_solid(const char *path)
{
    modal_volume_mesh mesh;
    modal_mesh_read(path, &mesh, NULL);
    modal_volume_mesh_free(&mesh);
}

static void read_surface(const char *path)
{
    modal_surface_mesh surface;
    int64_t n_collapsed;
    modal_surface_read(path, &surface, &n_collapsed, NULL);
    modal_surface_mesh_free(&surface);
}

static void read_numbers(const char *path)
{
    int64_t *numbers, count;
    modal_series series;
    modal_bou_read(path, &numbers, &count, NULL);
    modal_free(&numbers);
    modal_series_read_csv(path, 3, &series, NULL);
    modal_series_free(&series);
}

static void read_json(const char *path)
{
    modal_scene scene;
    modal_material_file materials;
    modal_scene_read(path, &scene, NULL);
    modal_scene_free(&scene);
    modal_materials_read(path, &materials, NULL);
    modal_material_file_free(&materials);
}

static void read_hdf5(const char *path)
{
    modal_basis basis;
    modal_trajectory motion;
    modal_findings findings = {0};
    modal_basis_read(path, MODAL_BASIS_ALL, &basis, NULL);
    modal_basis_free(&basis);
    modal_basis_check(path, &findings, NULL);
    modal_trajectory_read(path, &motion, NULL);
    modal_trajectory_free(&motion);
    modal_trajectory_check(path, &findings, NULL);
    modal_sequence_check(path, &findings, NULL);
    modal_findings_free(&findings);
}

/* Every file of the folder, sound or not, through the reader. */
static void read_folder(const char *folder, reader *read)
{
    char path[512];
    DIR *entries = opendir(folder);
    require(entries != NULL, folder);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(entries)); n++) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_type == DT_REG) read(path);
    }
    closedir(entries);
    require(n > 4, folder);
}

static const char files[] = MODAL_SOURCE_DIR "/tests/files";

static void *read_meshes(void *context)
{
    read_folder(files, read_solid);
    read_folder(files, read_surface);
    read_folder(files, read_numbers);
    return context;
}

static void *read_nested(void *context)
{
    enum { DEPTH = 2000 };
    static char text[2 * DEPTH];
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    sample_put(sample_path("deep.json"), text, sizeof text);
    read_json(sample_path("deep.json"));
    read_folder(MODAL_SOURCE_DIR "/tests/fuzz/corpus/scene", read_json);
    read_folder(MODAL_SOURCE_DIR "/tests/fuzz/corpus/materials", read_json);
    return context;
}

static void *read_files(void *context)
{
    read_folder(MODAL_SOURCE_DIR "/tests/fuzz/corpus/basis", read_hdf5);
    read_folder(MODAL_SOURCE_DIR "/tests/fuzz/corpus/trajectory", read_hdf5);
    read_folder(MODAL_SOURCE_DIR "/tests/fuzz/corpus/sequence", read_hdf5);
    return context;
}

static void *write_and_read(void *context)
{
    modal_error err = {0};
    modal_basis basis = sample_large_basis(), read;
    modal_trajectory motion = sample_trajectory(&basis, 1), again;
    char path[512];
    snprintf(path, sizeof path, "%s", sample_path("basis.h5"));
    call(modal_basis_hash(&basis, &err), MODAL_OK, &err);
    call(modal_basis_write(path, &basis, &err), MODAL_OK, &err);
    call(modal_basis_read(path, MODAL_BASIS_ALL, &read, &err), MODAL_OK, &err);
    read_hdf5(path);
    snprintf(path, sizeof path, "%s", sample_path("traj.h5"));
    call(modal_trajectory_write(path, &motion, &err), MODAL_OK, &err);
    call(modal_trajectory_read(path, &again, &err), MODAL_OK, &err);
    read_hdf5(path);
    modal_trajectory_free(&motion), modal_trajectory_free(&again);
    modal_basis_free(&basis), modal_basis_free(&read);
    return context;
}

/* Enough frames that all columns of a vector register are there, and the sequence of them. */
static void *deform(void *context)
{
    modal_error err = {0};
    modal_basis basis = sample_large_basis();
    const int64_t n_modes = modal_basis_mode_offsets(&basis, NULL);
    double times[FRAMES], *q;
    int64_t n_points, n_triangles, *triangles;
    for (int i = 0; i < FRAMES; i++) times[i] = i;
    call(modal_alloc_zero(&q, FRAMES * n_modes, sizeof *q, "q", &err), MODAL_OK, &err);
    call(modal_deform_topology(&basis, 0, &n_points, &n_triangles, &triangles, &err), MODAL_OK, &err);
    static const char *const back_ends[] = {"cpu", "ref"};
    for (int b = 0; b < 2; b++) {
        modal_deformer *deformer;
        modal_deform_batch batch;
        modal_sequence_writer *writer;
        const modal_deform_request request = {.back_end = back_ends[b], .n_frames = FRAMES, .normals = MODAL_NORMALS_DYNAMIC,
                                              .displacement = b};
        const char *const hash = "00112233445566778899aabbccddeeff";
        const modal_sequence_info info = {.n_points = n_points, .n_triangles = n_triangles, .triangles = triangles,
                                          .n_frames = FRAMES, .times = times,
                                          .arrays = {2 + b, {modal_sequence_points, *modal_sequence_known("Normals"),
                                                             *modal_sequence_known("displacement")}},
                                          .basis_hash = hash, .source_kind = "trajectory", .source_hash = hash,
                                          .n_provenance = basis.n_provenance, .provenance = basis.provenance};
        call(modal_sequence_begin(&writer, sample_path("sequence.vtkhdf"), &info, &err), MODAL_OK, &err);
        call(modal_deformer_new(&deformer, &basis, &request, &err), MODAL_OK, &err);
        const int64_t most = modal_deformer_batch_frames(deformer);
        for (int64_t i = 0, n; i < FRAMES; i += n) {
            n = FRAMES - i < most ? FRAMES - i : most;
            call(modal_deformer_submit(deformer, n, q + i * n_modes, NULL, &err), MODAL_OK, &err);
            call(modal_deformer_collect(deformer, &batch, &err), MODAL_OK, &err);
            const modal_frames frames = {n, {batch.positions, batch.normals, batch.displacement}};
            call(modal_sequence_append(writer, &frames, &err), MODAL_OK, &err);
            modal_deformer_release(deformer, &batch);
        }
        modal_deformer_delete(deformer);
        call(modal_sequence_end(&writer, &err), MODAL_OK, &err);
        read_hdf5(sample_path("sequence.vtkhdf"));
    }
    modal_free(&q), modal_free(&triangles);
    modal_basis_free(&basis);
    return context;
}

#ifdef MODAL_HAVE_MODES
static void *solve_modes(void *context)
{
    modal_error err = {0};
    modal_volume_mesh mesh;
    modal_modes_result result;
    const double size[3] = {3, 1, 1};
    solid_bar(&mesh, 9, 3, 3, size, 1, 1e6, 0.3, 1000);
    for (int solver = MODAL_MODES_LANCZOS; solver <= MODAL_MODES_DENSE; solver++)
        for (int floats = 0; floats < 2; floats++) {
            const modal_modes_options options = {.n_modes = 6, .solver = (modal_modes_solver)solver,
                                                 .proof = MODAL_PROOF_ALWAYS,
                                                 .factor = floats ? MODAL_FACTOR_FLOAT32 : MODAL_FACTOR_FLOAT64};
            call(modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, &err), MODAL_OK, &err);
            modal_modes_result_free(&result);
        }
    modal_volume_mesh_free(&mesh);
    return context;
}
#endif

/* ---- how much they take ---- */

static int64_t bytes_taken(void *(*function)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;
    unsigned char *memory =
        mmap(NULL, GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory, GUARD, PROT_NONE), 0);
    memset(memory + GUARD, PAINT, STACK);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstack(&attributes, memory + GUARD, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, function, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
    int64_t untouched = 0;
    while (untouched < STACK && memory[GUARD + untouched] == PAINT) untouched++;
    munmap(memory, GUARD + STACK);
    return STACK - untouched;
}

static void test_stacks(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        void *(*function)(void *);
    } calls[] = {
        {"meshes, surfaces, tables", read_meshes},
        {"scenes and materials", read_nested},
        {"damaged HDF5 files", read_files},
        {"bases and trajectories", write_and_read},
        {"deformer and sequences", deform},
#ifdef MODAL_HAVE_MODES
        {"modes", solve_modes},
#endif
    };
    const int64_t base = bytes_taken(nothing); /* thread-local memory of all libraries, and what the C library needs */
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const int64_t taken = bytes_taken(calls[i].function) - base;
        printf("%-26s %6lld bytes of stack\n", calls[i].what, (long long)taken);
        assert_true(taken > 0 && taken <= MOST);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_stacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
