/* SPDX-License-Identifier: Apache-2.0 */
/* dump_modes MESH N_FIXED N_MODES RULE [OUT]: the modes of a mesh, their cost on stdout, and everything
 * raw into OUT for check_modes.py. MESH is a .veg, or bar:NX,NY,NZ,LX,LY,LZ,E,NU,RHO[,COPIES].
 * The first N_FIXED nodes are fixed. RULE: 0 consistent, 1 lumped. MODAL_THREADS sets the
 * threads, MODAL_VERBOSE prints every residual. */
#include <inttypes.h>
#include <sys/resource.h>

#include "lib/fem/assemble.h"
#include "lib/modes/modes.h"
#include "tests/unit/solid_fixtures.h"

static void put(FILE *file, const void *items, size_t size, int64_t count)
{
    solid_require(fwrite(items, size, (size_t)count, file) == (size_t)count, "write");
}

/* Little-endian: int64 n_nodes, n_elements, n_free, n_blocks, n_modes, n_fixed; nodes, tetrahedra,
 * material (E, nu, rho), free_nodes, offsets, rows, stiffness, mass; eigenvalues, modes, residuals,
 * modal masses, participation, total mass. */
static void dump(const char *path, const modal_volume_mesh *mesh, int64_t n_fixed,
                 const modal_fem_system *system, const modal_modes_result *result)
{
    FILE *file = fopen(path, "wb");
    solid_require(file != NULL, path);
    const int64_t n_blocks = modal_block_count(&system->pattern);
    const int64_t sizes[6] = {mesh->n_nodes, mesh->n_elements, system->n_free, n_blocks,
                              result->n_modes, n_fixed};
    const double material[3] = {mesh->materials[0].young, mesh->materials[0].poisson,
                                mesh->materials[0].density};
    put(file, sizes, 8, 6);
    put(file, mesh->nodes, 8, 3 * mesh->n_nodes);
    put(file, mesh->element_nodes, 4, 4 * mesh->n_elements);
    put(file, material, 8, 3);
    put(file, system->free_nodes, 4, system->n_free);
    put(file, system->pattern.offsets, 8, system->n_free + 1);
    put(file, system->pattern.rows, 4, n_blocks);
    put(file, system->stiffness, 8, 9 * n_blocks);
    put(file, system->mass, 8, n_blocks);
    put(file, result->eigenvalues, 8, result->n_modes);
    put(file, result->modes, 8, 3 * mesh->n_nodes * result->n_modes);
    put(file, result->residuals, 8, result->n_modes);
    put(file, result->modal_masses, 8, result->n_modes);
    put(file, result->participation, 8, 3 * (int64_t)result->n_modes);
    put(file, &result->total_mass, 8, 1);
    solid_require(fclose(file) == 0, path);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: dump_modes MESH N_FIXED N_MODES RULE [OUT]\n");
        return 2;
    }
    modal_volume_mesh mesh = {0};
    modal_modes_result result = {0};
    modal_fem_system system = {0};
    modal_error err = {0};
    int n[3], copies = 1;
    double size[3], young, poisson, density;
    if (sscanf(argv[1], "bar:%d,%d,%d,%lf,%lf,%lf,%lf,%lf,%lf,%d", n, n + 1, n + 2, size, size + 1,
               size + 2, &young, &poisson, &density, &copies) >= 9)
        solid_bar(&mesh, n[0], n[1], n[2], size, copies, young, poisson, density);
    else
        solid_require(solid_read_veg(argv[1], &mesh), argv[1]);
    const int64_t n_fixed = atoll(argv[2]);
    int32_t *fixed = malloc(sizeof *fixed * (size_t)(n_fixed + 1));
    for (int64_t i = 0; i < n_fixed; i++) fixed[i] = (int32_t)i;
    const modal_modes_options options = {
        .n_modes = atoi(argv[3]),
        .mass_rule = atoi(argv[4]) ? MODAL_MASS_LUMPED : MODAL_MASS_CONSISTENT,
        .seed = 1,
        .n_threads = getenv("MODAL_THREADS") ? atoi(getenv("MODAL_THREADS")) : 0};
    modal_status status = modal_modes_solve(&mesh, fixed, n_fixed, &options, &result, NULL, &err);
    if (status == MODAL_OK)
        status = modal_fem_assemble(&mesh, fixed, NULL, n_fixed, options.mass_rule, 1, &system, &err);
    if (status != MODAL_OK) {
        fprintf(stderr, "dump_modes: %s\n", err.message);
        return 5;
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double worst = 0;
    for (int32_t k = 0; k < result.n_modes; k++)
        if (!(result.residuals[k] <= worst)) worst = result.residuals[k];
    if (getenv("MODAL_VERBOSE"))
        for (int32_t k = 0; k < result.n_modes; k++)
            printf("%.2g%c", result.residuals[k], k + 1 < result.n_modes ? ' ' : '\n');
    printf("nodes %" PRId64 " dof %" PRId64 " modes %d rigid %d dense %d\n"
           "assemble %.2f order %.2f analyse %.2f factor %.2f solve %.2f refine %.2f s\n"
           "solves %" PRId64 " restarts %" PRId64 " refinements %d recovered %d shift %.3g\n"
           "residual %.2g orthogonality %.2g nnz %.3g flops %.3g estimate %.0f MB\n"
           "user %.2f system %.2f s, peak %.0f MB\n",
           mesh.n_nodes, result.n_dof, result.n_modes, result.n_rigid, result.dense,
           result.seconds_assemble, result.seconds_order, result.seconds_analyse,
           result.seconds_factor, result.seconds_solve, result.seconds_refine, result.n_solves,
           result.n_iterations, result.n_refinements, result.n_recovered, result.shift, worst,
           result.orthogonality, result.factor_nonzeros, result.factor_flops,
           result.peak_bytes / 1e6,
           (double)usage.ru_utime.tv_sec + 1e-6 * (double)usage.ru_utime.tv_usec,
           (double)usage.ru_stime.tv_sec + 1e-6 * (double)usage.ru_stime.tv_usec,
           (double)usage.ru_maxrss / 1e3);
    for (int32_t k = 0; k < result.n_rigid; k++)
        printf("%s%.2g", k ? " " : "rigid ", result.rigid_eigenvalues[k]);
    printf("%slambda", result.n_rigid ? "\n" : "");
    for (int32_t k = 0; k < result.n_modes; k++) printf(" %.10g", result.eigenvalues[k]);
    printf("\n");
    if (argc > 5) dump(argv[5], &mesh, n_fixed, &system, &result);
    free(fixed);
    modal_fem_system_free(&system);
    modal_modes_result_free(&result);
    modal_volume_mesh_free(&mesh);
    return 0;
}
