/* SPDX-License-Identifier: Apache-2.0 */
/* make_file_corpus FOLDER: writes FOLDER/basis/, FOLDER/trajectory/ and FOLDER/open/, the seeds of the fuzz targets:
 * good files, and files that are wrong in ways that a mutation of bytes seldom finds, since HDF5's
 * checksums stop it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/basis/basis_h5.h"
#include "formats/trajectory/trajectory_h5.h"
#include "lib/base/memory.h"
#include "tests/unit/file_samples.h"

static const char *folder;

static void copy_to(const char *kind, const char *name, const char *from, size_t divisor)
{
    char path[4096];
    size_t length;
    unsigned char *bytes = sample_bytes(from, &length);
    snprintf(path, sizeof path, "%s/%s/%s.h5", folder, kind, name);
    sample_put(path, bytes, length / divisor);
    free(bytes);
}

static void damaged(const char *kind, const char *name, const char *good, damage_case what)
{
    const char *path = sample_path("damaged.h5");
    size_t length;
    unsigned char *bytes = sample_bytes(good, &length);
    sample_put(path, bytes, length);
    free(bytes);
    sample_damage(path, &what);
    copy_to(kind, name, path, 1);
}

/* A seed of the C interface: the length of the trajectory, it, the basis. */
static void both(const char *name, const char *trajectory, const char *basis)
{
    char path[4096];
    size_t n_motion = 0, n_basis;
    unsigned char *motion = trajectory ? sample_bytes(trajectory, &n_motion) : NULL, *rest = sample_bytes(basis, &n_basis);
    unsigned char *all = malloc(4 + n_motion + n_basis);
    assert_non_null(all);
    const uint32_t length = (uint32_t)n_motion;
    memcpy(all, &length, 4);
    if (motion) memcpy(all + 4, motion, n_motion);
    memcpy(all + 4 + n_motion, rest, n_basis);
    snprintf(path, sizeof path, "%s/open/%s.bin", folder, name);
    sample_put(path, all, 4 + n_motion + n_basis);
    free(motion), free(rest), free(all);
}

static void make(void **state)
{
    (void)state;
    modal_basis basis = sample_basis(1), energy = sample_energy_basis();
    modal_trajectory trajectory = sample_trajectory(&basis, 1);
    char path[160], linked[160], own[160], quartic[160];
    strcpy(path, sample_path("good.h5"));
    strcpy(linked, sample_path("linked.h5"));
    assert_int_equal(modal_basis_write(path, &basis, NULL), MODAL_OK);
    copy_to("basis", "good", path, 1);
    strcpy(own, path);
    strcpy(quartic, sample_path("energy.h5"));
    assert_int_equal(modal_basis_write(quartic, &energy, NULL), MODAL_OK);
    copy_to("basis", "energy", quartic, 1);
    copy_to("basis", "cut", path, 3);
    assert_int_equal(modal_basis_hash(&basis, NULL), MODAL_OK);
    for (int32_t i = 0; i < basis.n_shapes; i++) {
        assert_int_equal(modal_copy_text(&basis.shapes[i].file, "good.h5", SIZE_MAX, NULL), MODAL_OK);
        basis.shapes[i].file_shape = i;
    }
    assert_int_equal(modal_basis_write_assembly(linked, &basis, NULL), MODAL_OK);
    copy_to("basis", "linked", linked, 1);
    damaged("basis", "linked-away", linked, (damage_case){SET_TEXT, "/shapes/0001@file", 0, 0, "../good.h5", NULL, 0});
    damaged("basis", "linked-wrong", linked, (damage_case){SET_INTEGER, "/shapes/0001@file_shape", 0, 0, NULL, NULL, 0});
    damaged("basis", "linked-half", linked, (damage_case){DELETE_ATTRIBUTE, "/shapes/0000@file", 0, 0, NULL, NULL, 0});
    damaged("basis", "huge", path,
            (damage_case){HUGE_CHUNKED, "/shapes/0000/tables/faces", 0, 0, NULL, NULL, 0});
    damaged("basis", "offsets", path,
            (damage_case){SET_VALUE, "/shapes/0000/tables/face_offsets", 3, 1e15, NULL, NULL, 0});
    damaged("basis", "no-positions", path,
            (damage_case){DELETE_LINK, "/shapes/0000/surface/rest_positions", 0, 0, NULL, NULL, 0});
    damaged("basis", "elsewhere", path,
            (damage_case){ELSEWHERE, "/shapes/0001/modes/modal_matrix", 0, 0, NULL, NULL, 0});
    damaged("basis", "circle", path,
            (damage_case){SET_VALUE, "/objects/parent", 2, 1, NULL, NULL, 0});
    strcpy(path, sample_path("good-trajectory.h5"));
    assert_int_equal(modal_trajectory_write(path, &trajectory, NULL), MODAL_OK);
    copy_to("trajectory", "good", path, 1);
    both("motion", path, own);
    both("basis", NULL, own);
    both("other", path, quartic);
    both("swapped", own, path);
    copy_to("trajectory", "cut", path, 2);
    damaged("trajectory", "huge", path, (damage_case){HUGE_CHUNKED, "/q", 0, 0, NULL, NULL, 0});
    damaged("trajectory", "virtual", path, (damage_case){VIRTUAL, "/poses", 0, 0, NULL, NULL, 0});
    damaged("trajectory", "no-times", path,
            (damage_case){DELETE_LINK, "/times", 0, 0, NULL, NULL, 0});
    damaged("trajectory", "link", path,
            (damage_case){EXTERNAL_LINK, "/basis", 0, 0, "/shapes", NULL, 0});
    modal_trajectory_free(&trajectory);
    modal_basis_free(&basis);
    modal_basis_free(&energy);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest all[] = {cmocka_unit_test(make)};
    if (argc != 2) return 2;
    folder = argv[1];
    return cmocka_run_group_tests(all, NULL, NULL);
}
