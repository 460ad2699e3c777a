/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs beside meshes, bases, trajectories and sequences: lists of nodes (.bou), tables over time (.csv),
 * VegaFEM's matrices, materials and
 * scenes (JSON). Of each: cut anywhere, out of memory anywhere, and a hundred broken ones, made from a fixed seed:
 * refused with the file's name in one line, or read as something sound (the fuzz targets say what that is). And
 * snapshots and checkpoints (HDF5): cut, and with bits turned over, refused or read, never a crash. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/checkpoint/checkpoint_h5.h"
#include "formats/meshes/csv.h"
#include "formats/json/materials.h"
#include "formats/meshes/mesh_parse.h"
#include "formats/json/scene.h"
#include "formats/snapshots/snapshots_h5.h"
#include "formats/meshes/vega_matrix.h"
#include "lib/base/memory.h"
#include "tests/unit/break_text.h"
#include "tests/unit/file_samples.h"

enum { N_BROKEN = 100, MOST_TRIES = 20000, ROOM = 4096 };

static const char bou[] = "# held\n0, 4, 7,\n9,12 13\n20\n";
static const char csv[] = "time,x,y,z\n0,0,0,0\n0.5,1,-2.5e-3,0\n1,0,0,9.81\n";
static const char materials[] =
    "{\"materials\": {\"steel\": {\"young\": 2.1e11, \"poisson\": 0.3, \"density\": 7850},\n"
    " \"wood\": {\"young\": [11e9, 9e8, 6e8], \"poisson\": [0.35, 0.4, 0.45], \"density\": 420,\n"
    "  \"shear\": [8e8, 7e8, 5e7], \"axes\": [[0, 2, 0], [1, 5, 0]]}},\n"
    " \"groups\": {\"top\": \"wood\"}, \"default\": \"steel\"}\n";
static const char scene[] =
    "{\"duration\": 4, \"fps\": 60, \"step\": 0.002, \"model\": \"stvk\", \"damping\": {\"alpha\": 0.5, \"beta\": 0.001},\n"
    " \"gravity\": [0, 0, -9.81], \"wind\": {\"velocity\": [3, 0, 0], \"turbulence\": 1, \"scale\": 5, \"seed\": 7},\n"
    " \"objects\": [{\"object\": 1, \"pose_motion\": {\"spin\": {\"axis\": [0, 0, 1], \"rate\": 3, \"centre\": [0, 0, 0]}}},\n"
    "  {\"object\": 2, \"pose_motion\": \"free\", \"velocity\": [0, 0, 2], \"initial\": [1, 2]}],\n"
    " \"base_accelerations\": [{\"acceleration\": [0, 0, 1], \"curve\": {\"sine\": {\"frequency\": 2}}}],\n"
    " \"forces\": [{\"object\": 0, \"vertex\": 3, \"force\": [0, 10, 0], \"curve\": {\"keys\": [[0, 0], [1, 1]]}}]}\n";

static const char response[] =
    "{\"response\": {\"from\": 0, \"to\": 500, \"points\": 11, \"acceleration\": [0, 0, 1],\n"
    "  \"probes\": [{\"object\": 0, \"vertex\": 3}, {\"object\": 1, \"point\": [0, 1, 0]}]}, \"damping\": {\"ratio\": 0.01},\n"
    " \"objects\": [{\"object\": 1, \"pose_motion\": \"fixed\", \"damping\": {\"alpha\": 2}}],\n"
    " \"forces\": [{\"object\": 0, \"group\": \"tip\", \"force\": [0, 10, 0], \"phase\": 1.5}]}\n";

/* Four rows and three columns. */
static struct {
    int32_t n[2];
    double values[12];
} matrix = {{4, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};

static modal_status parse_bou(const char *data, int64_t length, modal_error *err)
{
    int64_t *numbers = NULL, count = 0;
    modal_status status = modal_bou_parse(data, length, "input", &numbers, &count, err);
    assert_true(status == MODAL_OK ? numbers && count >= 0 : !numbers && count == 0);
    modal_free(&numbers);
    return status;
}

static modal_status parse_csv(const char *data, int64_t length, modal_error *err)
{
    modal_series series;
    modal_status status = modal_series_parse_csv(data, length, "input", 3, &series, err);
    assert_true(status == MODAL_OK ? series.n_rows > 0 : !series.values && series.n_rows == 0);
    modal_series_free(&series);
    return status;
}

static modal_status parse_matrix(const char *data, int64_t length, modal_error *err)
{
    modal_vega_matrix m;
    modal_status status = modal_vega_matrix_parse(data, length, "input", &m, err);
    assert_true(status == MODAL_OK ? m.n_rows > 0 : !m.values && m.n_rows == 0);
    modal_free(&m.values);
    return status;
}

static modal_status parse_materials(const char *data, int64_t length, modal_error *err)
{
    modal_material_file file;
    modal_status status = modal_materials_parse(data, (size_t)length, "input", &file, err);
    assert_true(status == MODAL_OK ? file.n_materials > 0 : !file.materials && !file.group_names);
    modal_material_file_free(&file);
    return status;
}

static modal_status parse_scene(const char *data, int64_t length, modal_error *err)
{
    modal_scene s;
    modal_status status = modal_scene_parse(data, (size_t)length, "input", &s, err);
    assert_true(status == MODAL_OK ? s.response.given || s.fps > 0
                                   : s.n_objects == 0 && s.n_forces == 0 && s.n_shakings == 0 && s.response.n_probes == 0);
    modal_scene_free(&s);
    return status;
}

static const struct {
    const char *name;
    modal_status (*parse)(const char *data, int64_t length, modal_error *err);
    const char *good;
    int64_t length;
} inputs[] = {{"bou", parse_bou, bou, sizeof bou - 1},
              {"csv", parse_csv, csv, sizeof csv - 1},
              {"matrix", parse_matrix, (const char *)&matrix, sizeof matrix},
              {"materials", parse_materials, materials, sizeof materials - 1},
              {"scene", parse_scene, scene, sizeof scene - 1},
              {"response", parse_scene, response, sizeof response - 1}};
enum { N_INPUTS = sizeof inputs / sizeof *inputs };

/* In memory of exactly this size, so that a sanitizer sees a read beyond it. */
static modal_status parse(int i, const char *data, int64_t length)
{
    modal_error err = {0};
    char *copy = malloc(length > 0 ? (size_t)length : 1);
    assert_non_null(copy);
    memcpy(copy, data, (size_t)length);
    modal_status status = inputs[i].parse(copy, length, &err);
    assert_true(err.status == status);
    if (status == MODAL_ERROR_INPUT && (strncmp(err.message, "input", 5) != 0 || strchr(err.message, '\n')))
        fail_msg("%s: %s", inputs[i].name, err.message);
    free(copy);
    return status;
}

static void test_broken(void **state)
{
    (void)state;
    for (int i = 0; i < N_INPUTS; i++) {
        static char broken[ROOM];
        int n_refused = 0, n_tries = 0;
        random_state = 20260101;
        assert_int_equal(parse(i, inputs[i].good, inputs[i].length), MODAL_OK);
        assert_true(inputs[i].length + 128 < ROOM);
        for (; n_refused < N_BROKEN && n_tries < MOST_TRIES; n_tries++) {
            int64_t length = inputs[i].length;
            memcpy(broken, inputs[i].good, (size_t)length);
            for (int64_t k = 1 + random_below(2); k > 0 && length > 0; k--) length = break_it(broken, length);
            n_refused += parse(i, broken, length) == MODAL_ERROR_INPUT;
        }
        print_message("%s: %d of %d refused\n", inputs[i].name, n_refused, n_tries);
        assert_int_equal(n_refused, N_BROKEN);
    }
}

static void test_cut(void **state)
{
    (void)state;
    for (int i = 0; i < N_INPUTS; i++)
        for (int64_t cut = 0; cut < inputs[i].length; cut++) {
            modal_status status = parse(i, inputs[i].good, cut);
            assert_true(status == MODAL_ERROR_INPUT || (status == MODAL_OK && (cut > 0 || inputs[i].parse == parse_bou)));
        }
}

static void test_failing_allocations(void **state)
{
    (void)state;
    for (int i = 0; i < N_INPUTS; i++) {
        int n = 0;
        for (int fired = 1; fired;) {
            modal_alloc_fail_at(++n);
            modal_status status = parse(i, inputs[i].good, inputs[i].length);
            fired = modal_alloc_fired();
            modal_alloc_fail_at(0);
            assert_int_equal(status, fired ? MODAL_ERROR_MEMORY : MODAL_OK);
        }
        assert_true(n > 1);
    }
}

/* ---- HDF5 ---- */

enum { N_NODES = 5, N_SNAPSHOTS = 3 };

static hid_t create(const char *path)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18); /* with checksums: HDF5 believes any other size */
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    assert_true(file >= 0);
    return file;
}

static void put_text(hid_t file, const char *name, const char *text)
{
    hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, strlen(text));
    hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(attribute >= 0 && H5Awrite(attribute, type, text) >= 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
}

static void put_array(hid_t file, const char *name, int rank, hsize_t a, hsize_t b, hsize_t c)
{
    const hsize_t dims[3] = {a, b, c};
    double values[64];
    for (int i = 0; i < 64; i++) values[i] = i / 3.0;
    hid_t space = H5Screate_simple(rank, dims, NULL);
    hid_t dataset = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

enum { N_COORDINATES = 6, N_OBJECTS = 2, N_FRAMES = 40 };

/* The frames of a motion so far; sines, and frames that turn. */
static void add_frames(modal_trajectory_out *rows, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        double q[N_COORDINATES], frames[N_OBJECTS][12] = {{0}}, energy[4];
        modal_quality quality = modal_quality_none();
        quality.residual = 0.01 * (double)i;
        for (int k = 0; k < N_COORDINATES; k++) q[k] = sin((double)(10 * i + k));
        for (int k = 0; k < 4; k++) energy[k] = cos((double)(10 * i + k));
        for (int k = 0; k < N_OBJECTS; k++)
            for (int a = 0; a < 3; a++) frames[k][5 * a] = 1;
        assert_int_equal(modal_trajectory_out_row(rows, (double)i / 25, q, frames[0], energy, &quality, NULL), MODAL_OK);
    }
}

static modal_trajectory_out *new_rows(void)
{
    static int64_t offsets[N_OBJECTS + 1] = {0, 4, N_COORDINATES};
    static double there;
    static modal_quality some;
    static char path[] = "basis.h5";
    modal_trajectory_out *rows = NULL;
    const modal_trajectory head = {.n_frames = N_FRAMES, .n_objects = N_OBJECTS, .mode_offsets = offsets,
                                   .basis_path = path, .poses = &there, .energy = &there, .quality = &some,
                                   .basis_hash = "00112233445566778899aabbccddeeff"};
    assert_int_equal(modal_trajectory_out_open(&rows, NULL, &head, NULL), MODAL_OK);
    return rows;
}

/* Two states, after 7 and after 16 frames. */
static void make_checkpoint(const char *path)
{
    static char back_end[] = "cpu";
    double state[MODAL_CHECKPOINT_STATE][8];
    modal_checkpoint c = {.basis_hash = "00112233445566778899aabbccddeeff",
                          .scene_hash = "ffeeddccbbaa99887766554433221100", .back_end = back_end,
                          .most_frames = N_FRAMES, .n_coordinates = N_COORDINATES, .n_objects = N_OBJECTS,
                          .n_quality = MODAL_QUALITY_NUMBERS};
    modal_trajectory_out *rows = new_rows();
    modal_checkpoint_out *out = NULL;
    for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++) {
        c.state_counts[i] = 4 + i;
        c.state[i] = state[i];
    }
    assert_int_equal(modal_checkpoint_out_open(&out, path, path, &c, NULL), MODAL_OK);
    while (c.n_frames < 16) {
        const int64_t before = c.n_frames;
        c.n_frames = before ? 16 : 7;
        add_frames(rows, before, c.n_frames);
        for (int i = 0; i < MODAL_CHECKPOINT_STATE; i++)
            for (int k = 0; k < 4 + i; k++) state[i][k] = (double)c.n_frames + 0.1 * k + i;
        assert_int_equal(modal_checkpoint_out_put(out, &c, rows, NULL), MODAL_OK);
    }
    assert_true(modal_checkpoint_out_is_at(out, path) && !modal_checkpoint_out_is_at(out, "/"));
    modal_checkpoint_out_close(out);
    modal_trajectory_out_abandon(&rows);
}

/* A checkpoint that broke off while its later state was written goes on from the other one, with its frames. */
static void test_checkpoint(void **state)
{
    (void)state;
    char path[512], broken[512];
    size_t size;
    snprintf(path, sizeof path, "%s", sample_path("torn.h5"));
    snprintf(broken, sizeof broken, "%s", sample_path("torn-broken.h5"));
    make_checkpoint(path);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), dataset = H5Dopen2(file, "state_4", H5P_DEFAULT);
    const haddr_t of_state = H5Dget_offset(dataset);
    H5Dclose(dataset);
    dataset = H5Dopen2(file, "checksum", H5P_DEFAULT);
    const haddr_t of_seal = H5Dget_offset(dataset);
    H5Dclose(dataset);
    H5Fclose(file);
    assert_true(of_state != HADDR_UNDEF && of_seal != HADDR_UNDEF);
    unsigned char *bytes = sample_bytes(path, &size);
    const size_t places[3] = {of_state + 15 * sizeof(double) + 3, of_seal + 33, of_seal + 5};
    for (int i = 0; i < 4; i++) {
        /* whole; then the later state torn, the later seal, and the earlier seal, too */
        if (i > 0) bytes[places[i - 1]] ^= 64;
        modal_checkpoint c;
        modal_error err = {0};
        sample_put(broken, bytes, size);
        const modal_status status = modal_checkpoint_read(broken, &c, &err);
        assert_int_equal(status, i < 3 ? MODAL_OK : MODAL_ERROR_INPUT);
        if (i == 3) {
            assert_non_null(strstr(err.message, "torn-broken.h5: /checksum: neither of the two states is whole"));
            break;
        }
        const int64_t n = i == 0 ? 16 : 7;
        assert_true(c.n_frames == n && c.most_frames == N_FRAMES && c.state[4][7] == (double)n + 0.1 * 7 + 4);
        modal_trajectory_out *rows = new_rows(), *wanted = new_rows();
        assert_int_equal(modal_checkpoint_rows(broken, &c, 25, rows, &err), MODAL_OK);
        assert_int_equal(modal_trajectory_out_count(rows), n);
        void *image[2];
        size_t length[2];
        add_frames(rows, n, N_FRAMES);
        add_frames(wanted, 0, N_FRAMES);
        assert_int_equal(modal_trajectory_out_close(&rows, &image[0], &length[0], &err), MODAL_OK);
        assert_int_equal(modal_trajectory_out_close(&wanted, &image[1], &length[1], &err), MODAL_OK);
        assert_true(length[0] == length[1] && memcmp(image[0], image[1], length[0]) == 0);
        for (int k = 0; k < 2; k++) modal_free(&image[k]);
        modal_checkpoint_free(&c);
    }
    free(bytes);
    assert_no_ids();
}

static void make_snapshots(const char *path)
{
    hid_t file = create(path);
    put_text(file, "modal_format", "snapshots");
    put_text(file, "modal_format_version", "1.0");
    put_array(file, "displacements", 3, N_SNAPSHOTS, N_NODES, 3);
    assert_true(H5Fclose(file) >= 0);
}

static modal_status read_checkpoint(const char *path, modal_error *err)
{
    modal_checkpoint c;
    modal_status status = modal_checkpoint_read(path, &c, err);
    assert_true(status == MODAL_OK ? c.back_end != NULL && c.state[0] != NULL : !c.back_end && !c.state[0]);
    modal_checkpoint_free(&c);
    return status;
}

static modal_status read_snapshots(const char *path, modal_error *err)
{
    static const double nodes[3 * N_NODES] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    modal_snapshots *snapshots = NULL;
    int64_t n = 0;
    int single;
    modal_status status = modal_snapshots_open(&snapshots, path, N_NODES, nodes, &n, &single, err);
    double *u = status == MODAL_OK ? malloc((size_t)n * N_NODES * 3 * sizeof *u) : NULL;
    if (status == MODAL_OK) status = modal_snapshots_read(snapshots, 0, n, u, err);
    free(u);
    modal_snapshots_close(snapshots);
    return status;
}

static void damage_all(const char *name, modal_status (*read)(const char *path, modal_error *err))
{
    char path[512], broken[512];
    size_t size;
    int n_refused = 0, n_tries = 0;
    modal_error err = {0};
    snprintf(path, sizeof path, "%s", sample_path(name));
    snprintf(broken, sizeof broken, "%s", sample_path("broken.h5"));
    if (read(path, &err) != MODAL_OK) fail_msg("%s", err.message);
    unsigned char *bytes = sample_bytes(path, &size);
    for (size_t i = 0; i < size; i += 1 + size / 700, n_tries += 2)
        for (int cut = 0; cut < 2; cut++) {
            err = (modal_error){0};
            bytes[i] ^= (unsigned char)(cut ? 0 : 1 << (i % 8));
            sample_put(broken, bytes, cut ? i : size);
            bytes[i] ^= (unsigned char)(cut ? 0 : 1 << (i % 8));
            modal_status status = read(broken, &err);
            assert_true(status == MODAL_OK || status == MODAL_ERROR_INPUT);
            assert_true(err.status == status && !strchr(err.message, '\n'));
            n_refused += status != MODAL_OK;
        }
    free(bytes);
    assert_no_ids();
    print_message("%s: %d of %d refused\n", name, n_refused, n_tries);
    assert_true(n_refused >= N_BROKEN);
}

static void test_hdf5(void **state)
{
    (void)state;
    make_checkpoint(sample_path("checkpoint.h5"));
    damage_all("checkpoint.h5", read_checkpoint);
    make_snapshots(sample_path("snapshots.h5"));
    damage_all("snapshots.h5", read_snapshots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_broken), cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_failing_allocations), cmocka_unit_test(test_checkpoint),
                                       cmocka_unit_test(test_hdf5)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
