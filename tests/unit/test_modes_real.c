/* SPDX-License-Identifier: Apache-2.0 */
/* Modes of real meshes, which are no part of the repository: exits 77 (skipped) where they are absent.
 * The bridge's frequencies are those of VegaFEM 4.0, printed to five digits. */
#include <math.h>

#include "lib/modes/modes.h"
#include "tests/unit/solid_fixtures.h"

static int failures;

static void check(int ok, const char *what, double value)
{
    if (!ok) failures++;
    printf("%s %s: %.10g\n", ok ? "ok  " : "FAIL", what, value);
}

static void check_bridge(void)
{
    static const double vega[5] = {0.21721, 0.47889, 0.68006, 0.79582, 0.84151};
    const char *folder = MODAL_TEST_DATA "/simpleBridge";
    char path[4096];
    modal_volume_mesh mesh;
    modal_modes_result result;
    modal_error err = {0};
    int32_t fixed[256];
    snprintf(path, sizeof path, "%s/simpleBridge-ic_128_0.15_.1.veg", folder);
    solid_require(solid_read_veg(path, &mesh), path);
    snprintf(path, sizeof path, "%s/simpleBridge.bou", folder);
    const int64_t n_fixed = solid_read_bou(path, fixed, 256);
    check(n_fixed == 121, "fixed nodes", (double)n_fixed);
    check(mesh.materials[0].young == 1e7 && mesh.materials[0].poisson == 0.45 &&
              mesh.materials[0].density == 1000,
          "material", mesh.materials[0].young);
    const modal_modes_options options = {.n_modes = 20, .mass_rule = MODAL_MASS_CONSISTENT};
    if (modal_modes_solve(&mesh, fixed, n_fixed, &options, &result, NULL, &err) != MODAL_OK) {
        check(0, err.message, 0);
    } else {
        for (int k = 0; k < 5; k++) {
            const double f = sqrt(result.eigenvalues[k]) / (2 * 3.14159265358979323846);
            check(fabs(f - vega[k]) <= 0.51e-5, "frequency, Hz", f);
        }
        for (int k = 0; k < 20; k++)
            if (!(result.residuals[k] <= 1e-9)) check(0, "residual", result.residuals[k]);
        check(result.n_rigid == 0, "rigid modes", result.n_rigid);
        check(result.orthogonality <= 1e-10, "orthogonality", result.orthogonality);
        modal_modes_result_free(&result);
    }
    modal_volume_mesh_free(&mesh);
}

static void check_yeahright(void)
{
    modal_volume_mesh mesh;
    modal_modes_result result;
    modal_error err = {0};
    const modal_modes_options options = {.n_modes = 20};
    solid_require(solid_read_veg(MODAL_TEST_DATA "/yeahright/yeahright-on-ground.veg", &mesh),
                  "yeahright");
    if (modal_modes_solve(&mesh, NULL, 0, &options, &result, NULL, &err) != MODAL_OK) {
        check(0, err.message, 0);
    } else {
        check(result.n_rigid == 6, "rigid modes", result.n_rigid);
        check(fabs(result.rigid_eigenvalues[5]) <= 1e-8 * result.eigenvalues[0],
              "largest rigid eigenvalue", result.rigid_eigenvalues[5]);
        check(result.orthogonality <= 1e-10, "orthogonality", result.orthogonality);
        /* the rounding of K phi is 4e-8 of lambda M phi in the first mode, and less in later ones */
        for (int k = 0; k < 20; k++)
            if (!(result.residuals[k] <= fmax(1e-9, 4e-8 * result.eigenvalues[0] /
                                                        result.eigenvalues[k])))
                check(0, "residual", result.residuals[k]);
        modal_modes_result_free(&result);
    }
    modal_volume_mesh_free(&mesh);
}

int main(void)
{
    FILE *file = fopen(MODAL_TEST_DATA "/simpleBridge/simpleBridge.bou", "r");
    if (!file) {
        printf("skipped: no meshes in %s\n", MODAL_TEST_DATA);
        return 77;
    }
    fclose(file);
    check_bridge();
    check_yeahright();
    return failures != 0;
}
