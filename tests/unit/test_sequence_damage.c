/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences that are damaged: cut, with flipped bits, and with one rule broken. */
#include "tests/unit/sequence_fixtures.h"

/* Any result is fine, as long as there is one. */
static int64_t look(const char *path, modal_status *status)
{
    modal_error err = {0};
    modal_findings findings = {0};
    *status = modal_sequence_check(path, &findings, &err);
    int64_t n = findings.n;
    modal_findings_free(&findings);
    assert_true(*status == MODAL_OK || *status == MODAL_ERROR_INPUT ||
                *status == MODAL_ERROR_MEMORY);
    return n;
}

/* MODAL_ALL_DAMAGE is in the environment, as of unit.test_sequence_damage_all. */
static int all_damage(void) { return getenv("MODAL_ALL_DAMAGE") != NULL; }

static void test_truncations(void **state)
{
    (void)state;
    long size;
    modal_status status;
    write_both();
    free(read_whole(file_a, &size));
    assert_int_equal(rename(file_a, file_b), 0);
    for (long length = size - 1; length >= 0; length -= all_damage() ? 1 : 5) {
        assert_int_equal(truncate(file_b, length), 0);
        int64_t n = look(file_b, &status);
        if (status == MODAL_OK && n == 0) fail_msg("accepted with %ld of %ld bytes", length, size);
    }
}

/* A few hundred of the bits, or one in every byte. */
static void test_bit_flips(void **state)
{
    (void)state;
    long size, found = 0, tried = 0;
    modal_status status;
    write_both();
    char *bytes = read_whole(file_a, &size);
    long step = all_damage() ? 1 : size / 500;
    for (long i = 0; i < size; i += step, tried++) {
        bytes[i] ^= (char)(1 << (i / step % 8));
        write_whole(file_b, bytes, size);
        bytes[i] ^= (char)(1 << (i / step % 8));
        found += look(file_b, &status) > 0 || status != MODAL_OK;
    }
    free(bytes);
    print_message("%ld of %ld flips noticed\n", found, tried);
    assert_true(found > tried / 20);
}

/* ---- mutations: each breaks one rule ---- */

static hid_t opened;

static void rewrite_i64(const char *path, int64_t at, int64_t value)
{
    int64_t values[64];
    hid_t dataset = H5Dopen2(opened, path, H5P_DEFAULT);
    assert_true(H5Dread(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    values[at] = value;
    assert_true(H5Dwrite(dataset, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
}

static void rewrite_real(const char *path, int64_t at, double value)
{
    double values[256];
    hid_t dataset = H5Dopen2(opened, path, H5P_DEFAULT);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    values[at] = value;
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(dataset);
}

static void retype(H5T_str_t pad, H5T_cset_t set, size_t length, const char *text)
{
    hid_t group = H5Gopen2(opened, "/VTKHDF", H5P_DEFAULT), space = H5Screate(H5S_SCALAR);
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, length);
    H5Tset_strpad(type, pad);
    H5Tset_cset(type, set);
    H5Adelete(group, "Type");
    hid_t attribute = H5Acreate2(group, "Type", type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, text) >= 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
    H5Gclose(group);
}

/* A view of other rows, of another source, or a copy instead of a view. */
static void review(int64_t row, const char *file, const char *source_path, int virtual)
{
    const char *path = "/xdmf/000002/Points";
    const hsize_t all[2] = {F * N, 3}, one[2] = {N, 3}, start[2] = {(hsize_t)row, 0};
    hid_t source = H5Screate_simple(2, all, NULL), space = H5Screate_simple(2, one, NULL);
    hid_t plist = H5Pcreate(H5P_DATASET_CREATE);
    H5Fset_libver_bounds(opened, H5F_LIBVER_V18, H5F_LIBVER_V110);
    H5Ldelete(opened, path, H5P_DEFAULT);
    H5Sselect_hyperslab(source, H5S_SELECT_SET, start, NULL, one, NULL);
    if (virtual) H5Pset_virtual(plist, space, file, source_path, source);
    hid_t view = H5Dcreate2(opened, path, H5T_IEEE_F32LE, space, H5P_DEFAULT, plist, H5P_DEFAULT);
    assert_true(view >= 0);
    H5Dclose(view);
    H5Pclose(plist);
    H5Sclose(source);
    H5Sclose(space);
}

static void remove_attribute(const char *group, const char *name)
{
    assert_true(H5Adelete_by_name(opened, group, name, H5P_DEFAULT) >= 0);
}

static void set_text(const char *group, const char *name, const char *text)
{
    hid_t place = H5Gopen2(opened, group, H5P_DEFAULT), type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text));
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Adelete(place, name);
    hid_t attribute = H5Acreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, text) >= 0);
    H5Aclose(attribute);
    H5Tclose(type);
    H5Sclose(space);
    H5Gclose(place);
}

#define ALL_ARRAYS "Points Normals displacement Tangents strain damage"

enum { MUTATIONS = 54 };
static const char *mutate(int which)
{
    switch (which) {
    case 0: rewrite_i64("/VTKHDF/NumberOfPoints", 0, N - 1); return "/VTKHDF/Points: must have 16 rows";
    case 1: rewrite_i64("/VTKHDF/NumberOfPoints", 0, -1); return "/VTKHDF/NumberOfPoints: must be pos";
    case 2: rewrite_i64("/VTKHDF/Polygons/Connectivity", 7, N); return "triangle 2: no such point, 5";
    case 3: rewrite_i64("/VTKHDF/Polygons/Connectivity", 0, -1); return "triangle 0: no such point";
    case 4: rewrite_i64("/VTKHDF/Polygons/Offsets", 3, 8); return "/VTKHDF/Polygons/Offsets: value 3";
    case 5: rewrite_i64("/VTKHDF/Polygons/NumberOfCells", 0, 5); return "Connectivity: three indices";
    case 6: rewrite_i64("/VTKHDF/Polygons/NumberOfConnectivityIds", 0, 5); return "ConnectivityIds: val";
    case 7: rewrite_i64("/VTKHDF/Strips/NumberOfCells", 0, 1); return "/VTKHDF/Strips/NumberOfCells: ";
    case 8: rewrite_i64("/VTKHDF/Steps/PointOffsets", 2, 9); return "Steps/PointOffsets: value 2";
    case 9: rewrite_i64("/VTKHDF/Steps/CellOffsets", 6, 1); return "Steps/CellOffsets: value 6";
    case 10: rewrite_i64("/VTKHDF/Steps/ConnectivityIdOffsets", 0, 1); return "IdOffsets: value 0";
    case 11: rewrite_i64("/VTKHDF/Steps/NumberOfParts", 3, 2); return "NumberOfParts: value 3";
    case 12: rewrite_i64("/VTKHDF/Steps/PartOffsets", 3, 2); return "PartOffsets: value 3";
    case 13: rewrite_i64("/VTKHDF/Steps/PointDataOffsets/Normals", 1, 0); return "Offsets/Normals: val";
    case 14: rewrite_real("/VTKHDF/Steps/Values", 1, NAN); return "/VTKHDF/Steps/Values: frame 1";
    case 15: rewrite_real("/VTKHDF/Steps/Values", 1, 0.1); return "Values: frame 2: not after";
    case 16: rewrite_real("/VTKHDF/Points", 3 * (N + 2), NAN); return "frame 1, point 2: not finite";
    case 17: rewrite_real("/VTKHDF/PointData/displacement", 3 * F * N - 1, INFINITY);
        return "/VTKHDF/PointData/displacement: frame 3, point 4: not finite";
    case 18: retype(H5T_STR_NULLTERM, H5T_CSET_ASCII, 8, "PolyData"); return "/VTKHDF@Type: must be one";
    case 19: retype(H5T_STR_NULLPAD, H5T_CSET_UTF8, 8, "PolyData"); return "/VTKHDF@Type: must be one";
    case 20: retype(H5T_STR_NULLPAD, H5T_CSET_ASCII, 9, "PolyData"); return "/VTKHDF@Type: must be one";
    case 21: retype(H5T_STR_NULLPAD, H5T_CSET_ASCII, 8, "PolyDatb"); return "must be PolyData, is P";
    case 22: remove_attribute("/VTKHDF", "Version"); return "/VTKHDF@Version: missing";
    case 23: remove_attribute("/VTKHDF", "Type"); return "/VTKHDF@Type: missing";
    case 24: remove_attribute("/VTKHDF/Steps", "NSteps"); return "NSteps: missing";
    case 25: set_text("/modal", "basis_hash", "none"); return "/modal@basis_hash: must be 32";
    case 26: review(N, ".", "/VTKHDF/Points", 1); return "/xdmf/000002/Points: other rows";
    case 27: review(2 * N, "x", "/VTKHDF/Points", 1); return "/xdmf/000002/Points: source file";
    case 28: review(2 * N, ".", "/VTKHDF/PointData/Normals", 1); return "Points: another source";
    case 29: review(2 * N, ".", "/VTKHDF/Points", 0); return "Points: not a virtual dataset";
    case 30: H5Ldelete(opened, "/xdmf/000001", H5P_DEFAULT); return "/xdmf/000001: missing";
    case 31: H5Ldelete(opened, "/xdmf/000003/Normals", H5P_DEFAULT); return "000003/Normals: missing";
    case 32: H5Ldelete(opened, "/VTKHDF/Steps", H5P_DEFAULT); return "/VTKHDF/Steps: missing";
    case 33: H5Ldelete(opened, "/VTKHDF/Points", H5P_DEFAULT); return "/VTKHDF/Points: missing";
    case 34: remove_attribute("/modal", "source_kind"); return "source_kind: missing";
    case 35: remove_attribute("/modal", "source_hash"); return "source_hash: missing";
    case 36: set_text("/modal", "source_kind", "dream"); return "/modal@source_kind: no known kind, \"dream\"";
    case 37: set_text("/modal", "source_hash", "ab"); return "/modal@source_hash: must be 32";
    case 38: remove_attribute("/modal", "arrays"); return "arrays: missing";
    case 39: remove_attribute("/modal", "array_units"); return "array_units: missing";
    case 40: set_text("/modal", "arrays", "Normals Points"); return "/modal@arrays: must begin with Points";
    case 41: set_text("/modal", "arrays", ALL_ARRAYS " stress"); return "/modal@arrays: stress: there is no such array";
    case 42: set_text("/modal", "arrays", ALL_ARRAYS " damage"); return "/modal@arrays: array damage: twice";
    case 43: set_text("/modal", "array_units", "m 1 m 1 1"); return "/modal@arrays: array damage: its name, unit or";
    case 44: H5Ldelete(opened, "/VTKHDF/CellData/strain", H5P_DEFAULT); return "strain: there is no such array";
    case 45:
        H5Lcreate_hard(opened, "/VTKHDF/CellData/strain", opened, "/VTKHDF/PointData/strain", H5P_DEFAULT, H5P_DEFAULT);
        return "/modal@arrays: strain: both of points and of cells";
    case 46: rewrite_i64("/VTKHDF/Steps/CellDataOffsets/strain", 1, N); return "CellDataOffsets/strain: value 1 must be 6";
    case 47: rewrite_real("/VTKHDF/CellData/damage", M + 2, NAN); return "CellData/damage: frame 1, cell 2: not finite";
    case 48: set_text("/modal", "array_units", "m 1 1 1 1 1"); return "/modal@arrays: displacement: components, unit or";
    case 49: set_text("/modal", "arrays", ALL_ARRAYS " "); return "/modal@arrays: names and units have one blank";
    case 50: set_text("/modal", "array_units", "mm 1 m 1 1 1"); return "/modal@arrays: Points: components, unit or";
    case 51:
        H5Lcreate_hard(opened, "/VTKHDF/Steps/PartOffsets", opened, "/VTKHDF/Steps/PointDataOffsets/colour", H5P_DEFAULT, H5P_DEFAULT);
        return "/VTKHDF/PointData/colour: missing";
    case 52:
        H5Lcreate_hard(opened, "/VTKHDF/Points", opened, "/VTKHDF/PointData/TCoords", H5P_DEFAULT, H5P_DEFAULT);
        return "/VTKHDF/Steps/PointDataOffsets/TCoords: missing";
    default: H5Ldelete(opened, "/xdmf/000001/damage", H5P_DEFAULT); return "/xdmf/000001/damage: missing";
    }
}

static void test_mutations(void **state)
{
    (void)state;
    for (int i = 0; i < MUTATIONS; i++) {
        modal_error err = {0};
        modal_findings findings = {0};
        int seen = 0;
        write_both();
        opened = H5Fopen(file_a, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(opened >= 0);
        const char *expected = mutate(i);
        assert_true(H5Fclose(opened) >= 0);
        assert_int_equal(modal_sequence_check(file_a, &findings, &err), MODAL_OK);
        for (int64_t k = 0; k < findings.n; k++) seen |= strstr(findings.texts[k], expected) != NULL;
        if (!seen)
            fail_msg("mutation %d: no finding \"%s\", but %s", i, expected,
                     findings.n ? findings.texts[0] : "none");
        modal_findings_free(&findings);
        /* Without a list the first finding is the error. */
        assert_int_equal(modal_sequence_check(file_a, NULL, &err), MODAL_ERROR_INPUT);
        assert_non_null(strstr(err.message, file_a));
    }
}

/* There is one version of the format. */
static void test_version(void **state)
{
    (void)state;
    static const char *const versions[] = {"0.9", "2.0"};
    for (int i = 0; i < 2; i++) {
        modal_error err = {0};
        modal_findings findings = {0};
        char says[96];
        write_both();
        opened = H5Fopen(file_a, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(opened >= 0);
        set_text("/", "modal_format_version", versions[i]);
        assert_true(H5Fclose(opened) >= 0);
        assert_int_equal(modal_sequence_check(file_a, &findings, &err), MODAL_ERROR_INPUT);
        snprintf(says, sizeof says, "modal_format_version: unsupported version %s, this program reads 1.x", versions[i]);
        if (!strstr(err.message, says)) fail_msg("no \"%s\", but %s", says, err.message);
        modal_findings_free(&findings);
    }
}

int main(void)
{
    fill();
    if (!make_folder()) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_truncations, tidy),
        cmocka_unit_test_teardown(test_bit_flips, tidy),
        cmocka_unit_test_teardown(test_mutations, tidy),
        cmocka_unit_test_teardown(test_version, tidy),
    };
    return cmocka_run_group_tests(tests, NULL, remove_folder);
}
