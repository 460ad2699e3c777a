/* SPDX-License-Identifier: Apache-2.0 */
/* modalpack: from a mesh of a solid to its modal basis. */
#include <cholmod.h>
#include <limits.h>
#include <omp.h>
#include <signal.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/h5/h5_util.h"
#include "formats/meshes/surface_read.h"
#include "kernels/registry.h"
#include "lib/base/memory.h"
#include "lib/reduced/derivatives.h"
#include "lib/reduced/stvk.h"
#include "lib/shape/shape_surface.h"
#include "tools/common/commit.h"
#include "tools/common/pipes.h"
#include "tools/modalpack/modalpack.h"

static const tool_option options[] = {
    {"modes", 'm', "N", "20", "Number of modes, rigid ones not counted; or of columns of the basis. If it is not given, a solid with fewer "
                               "modes gives those.", TOOL_FIRST},
    {"derivatives", 0, "K", NULL,
     "For large deformations: a basis of K modes and their derivatives. It holds the N principal components of the first K "
     "natural modes and their K (K + 1) / 2 modal derivatives.",
     TOOL_FIRST},
    TOOL_OPTIONS_MATERIAL,
    TOOL_OPTIONS_FIXED,
    TOOL_OPTION_IGNORE,
    {"surface", 0, "FINE", NULL,
     "Deform this finer surface, embedded in the solid, instead of the solid's own boundary: "
     ".obj, .stl, .ply or .off. With several meshes: one for each, in their order.", TOOL_REPEATABLE | TOOL_READS | TOOL_FIRST},
    TOOL_OPTIONS_UNITS("of MESH and of --surface."),
    {"surface-unit", 0, "m|cm|mm|um|in|ft", NULL,
     "Unit of length of --surface, where it is another one than that of MESH.", 0},
    {"mass", 0, "consistent|lumped", "consistent", "Mass matrix: consistent or lumped.", 0},
    {"hex8", 0, "incompatible|conforming", NULL,
     "HEX8 with incompatible modes, which bend as they should, also one element thick; or conforming, which are too stiff then. The "
     "first where nothing is said; but plain with --derivatives and --reduced-forces, which are made for those, and as an .inp "
     "file says by C3D8 and C3D8I (docs/elements.md).",
     0},
    {"snapshots", 0, "FILE", NULL,
     "A basis of these motions instead (proper orthogonal decomposition): snapshots.h5 with displacements "
     "of all nodes, or a sequence.vtkhdf whose points are the nodes. Without --modes and --energy: an "
     "energy of 0.9999. With several meshes: one for each, in their order.",
     TOOL_REPEATABLE | TOOL_READS},
    {"energy", 0, "SHARE", NULL,
     "With --snapshots: as few columns as keep this share of their energy (mass-weighted squares), at "
     "most --modes, or 200.",
     0},
    {"import", 0, "FILE.U", NULL,
     "A VegaFEM basis instead: the columns of FILE (.U, .Ulin; float32 where it is called .float) in their order, all of "
     "them or the first --modes. MESH is their solid, or the surface that they move (.obj). With several meshes: one for "
     "each, in their order.",
     TOOL_REPEATABLE | TOOL_READS},
    {"rigid", 0, NULL, NULL,
     "MESH is a surface (.obj, .stl, .ply, .off) that does not deform: a shape without modes. With --density, which needs a closed "
     "surface, it has mass and inertia; without, it weighs nothing.",
     0},
    {"reduced-forces", 0, NULL, NULL,
     "Store the coefficients of the reduced internal forces, for large deformations. They are those of St. "
     "Venant-Kirchhoff material.",
     TOOL_FIRST},
    {"left-out", 0, "N", NULL,
     "With --reduced-forces: N directions beside the columns, in which it is measured how much of the elastic forces the "
     "columns cannot balance (modalsim's quality); 0: none. Without it 10, for solids of up to 200,000 nodes.",
     0},
    {"shapes", 0, "one|groups|bodies", "one",
     "What becomes a shape of its own: each mesh file, each of its volume groups, each body that touches no "
     "other. Shapes that are equal but for a rigid motion, nodes in the same order, are stored once; with "
     "orthotropic materials or single components held, those equal but for their place.",
     0},
    {"sturm", 0, NULL, NULL,
     "Prove that no mode is missing, by a Sturm count; done without being asked for where it is cheap and the factor "
     "is in float64.", 0},
    {"factor", 0, "auto|float64|float32", "auto",
     "What the factor of the stiffness is stored in. float32 takes half the memory, and the modes are as exact: "
     "each solve is made so by a few steps of conjugate gradients. auto: float32 where float64 does not fit into "
     "the memory.",
     0},
    {"eigensolver", 0, "lanczos|slepc", "lanczos",
     "What finds the modes. slepc: SLEPc, on all ranks of mpirun -n P modalpack ..., for one mesh whose eigenproblem one machine "
     "does not hold (docs/modes.md).",
     0},
    {"route", 0, "auto|direct|multigrid", NULL,
     "With --eigensolver slepc, auto without it. direct: block Lanczos with a factor by MUMPS, and a Sturm count. multigrid: LOBPCG "
     "without a factor, for compact solids. auto: direct where it fits into the memory.",
     0},
    {"plan", 0, "[P,...]", NULL,
     "With --eigensolver slepc: compute nothing, print what the most loaded rank of P would hold by each route (default: of the ranks "
     "that there are).",
     0},
    {"scratch", 0, "FOLDER", NULL,
     "With --eigensolver slepc: where rank 0 has large arrays of mesh and surface in nameless files, which go with the run, instead of main "
     "memory. Default: the folder of BASIS.",
     0},
    {"volume-modes", 0, "none|float32|float64", "float32",
     "The modes at the solid's nodes, which modaldeform --output-mesh volume and scenes with frames that move need: left "
     "out, or stored in float32 (as exact as the surface's), or in float64.",
     0},
    {"backend", 0, "NAME", "auto", "Where reduced forces are summed: auto, ref, cpu, cuda or cuda:N.", 0},
    TOOL_OPTION_FORCE,
    TOOL_OPTION_THREADS,
    TOOL_OPTION_MEMORY_LIMIT,
    TOOL_OPTIONS_COMMON,
    {0},
};

static void print_versions(FILE *to)
{
    int c[3];
    cholmod_version(c);
    fprintf(to, "%s, CHOLMOD %d.%d.%d\n", modal_h5_version(), c[0], c[1], c[2]);
    fprintf(to, "this program links CHOLMOD's supernodal module and carries its terms (GPL)\n");
}

static int is_divided(const tool_arguments *a) { return strcmp(tool_value(a, "eigensolver"), "slepc") == 0; }

static const tool_program program = {
    .name = "modalpack",
    .summary = "computes the modal basis of a solid and packs it into a file",
    .usage = "[options] MESH... BASIS.h5",
    .options = options,
    .least_operands = 2,
    .most_operands = INT_MAX,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = -1,
    .output_traits = TOOL_WRITES | TOOL_PIPE,
    .endings = "h5",
    .divided_by = "--eigensolver slepc",
    .is_divided = is_divided,
    .notes = "MESH is one of formats/meshes.md (.msh, .veg, .inp, .mesh, .meshb, .node, .vtk, .vtu), of\n"
             "tetrahedra of 4 or 10 nodes, hexahedra of 8 or 20, wedges, pyramids. It is in metres, or in --unit;\n"
             "all that options give, places of --fixed among them, is SI, as is the basis.\n"
             "Several meshes make a basis of several shapes, each mesh (or with --shapes part of it) an object.",
    .examples = "modalpack fork.msh fork.h5 --young 2.06e11 --poisson 0.29 --density 7850 --fixed stem_end\n"
                "modalpack bridge.veg bridge.h5 --fixed bridge.bou --surface bridge.obj --modes 30",
    .first_examples = "modalpack fork.msh fork.h5 --material steel --fixed stem_end\n"
                      "modalpack bridge.veg bridge.h5 --fixed bridge.bou --surface bridge.obj --modes 30\n"
                      "modalpack bunny.msh bunny.h5 --material rubber --derivatives 10 --reduced-forces",
    .print_versions = print_versions,
};

/* What each mesh has a file of its own for. */
static const char *const own_files[] = {"surface", "snapshots", "import"};
enum { N_OWN_FILES = sizeof own_files / sizeof *own_files };

/* Whether solids are looked for in the meshes, and equal ones among them. With files of their own each mesh is
 * a shape. */
static int makes_shapes(const modalpack_request *r)
{
    return !(r->rigid || r->surface_path || r->snapshots_path || r->import_path) && (r->n_meshes > 1 || r->shapes != SHAPES_ONE);
}

/* Each mesh has one of these files or none has. */
static modal_status check_files(const tool_arguments *a, const modalpack_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int k = 0; k < N_OWN_FILES; k++) {
        const int n = tool_count(a, own_files[k]);
        if (n == 0) continue;
        if (r->shapes != SHAPES_ONE)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--%s: is for whole meshes, --shapes %s", own_files[k],
                       tool_value(a, "shapes"));
        if (n != r->n_meshes)
            MODAL_FAIL(err, MODAL_ERROR_USAGE, "--%s: one for each mesh, %d for %d", own_files[k], n, r->n_meshes);
    }
done:
    return status;
}

/* The options that are one of some words, once r has the kind of columns. */
static modal_status read_choices(const tool_arguments *a, modalpack_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const char *mass = tool_value(a, "mass");
    if (strcmp(mass, "consistent") == 0)
        r->mass_rule = MODAL_MASS_CONSISTENT;
    else if (strcmp(mass, "lumped") == 0)
        r->mass_rule = MODAL_MASS_LUMPED;
    else
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--mass: must be consistent or lumped, %s", mass);
    const char *hex8 = tool_value(a, "hex8");
    r->hex8 = !hex8 ? -1 : strcmp(hex8, "incompatible") == 0 ? MODAL_STIFFNESS_INCOMPATIBLE : MODAL_STIFFNESS_PLAIN;
    if (hex8 && r->hex8 == MODAL_STIFFNESS_PLAIN && strcmp(hex8, "conforming") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--hex8: must be incompatible or conforming, %s", hex8);
    if (r->hex8 == MODAL_STIFFNESS_INCOMPATIBLE && (r->reduced_forces || r->n_linear > 0))
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "--hex8 incompatible: is for linear analysis, --%s are those of St. Venant-Kirchhoff material, of --hex8 conforming",
                   r->reduced_forces ? "reduced-forces" : "derivatives");
    const char *shapes = tool_value(a, "shapes");
    if (strcmp(shapes, "groups") == 0)
        r->shapes = SHAPES_GROUPS;
    else if (strcmp(shapes, "bodies") == 0)
        r->shapes = SHAPES_BODIES;
    else if (strcmp(shapes, "one") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--shapes: must be one, groups or bodies, %s", shapes);
    r->sturm = tool_count(a, "sturm");
    if (r->sturm && (r->snapshots_path || r->import_path))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--sturm: is for natural modes");
    const char *factor = tool_value(a, "factor");
    if (strcmp(factor, "float64") == 0)
        r->factor = MODAL_FACTOR_FLOAT64;
    else if (strcmp(factor, "float32") == 0)
        r->factor = MODAL_FACTOR_FLOAT32;
    else if (strcmp(factor, "auto") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--factor: must be auto, float64 or float32, %s", factor);
    if (r->factor != MODAL_FACTOR_AUTO && (r->snapshots_path || r->import_path))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--factor: is for natural modes");
    const char *kept = tool_value(a, "volume-modes");
    if (strcmp(kept, "float32") == 0)
        r->volume_modes = MODAL_KEEP_FLOAT32;
    else if (strcmp(kept, "float64") == 0)
        r->volume_modes = MODAL_KEEP_FLOAT64;
    else if (strcmp(kept, "none") != 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--volume-modes: must be none, float32 or float64, %s", kept);
done:
    return status;
}

static modal_status read_request(const tool *t, int n_ranks, modalpack_request *r, modal_device *device, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    *r = (modalpack_request){.device = device,
                             .n_meshes = a->n_operands - 1,
                             .mesh_paths = a->operands,
                             .basis_path = a->operands[a->n_operands - 1],
                             .surface_path = tool_value(a, "surface"),
                             .snapshots_path = tool_value(a, "snapshots"),
                             .import_path = tool_value(a, "import"),
                             .reduced_forces = tool_count(a, "reduced-forces")};
    MODAL_TRY(tool_integer(a, "modes", 1, 1000000, &r->n_modes, err));
    MODAL_TRY(tool_integer(a, "derivatives", 1, 1000, &r->n_linear, err));
    r->n_left_out = -1;
    MODAL_TRY(tool_integer(a, "left-out", 0, MODAL_STVK_MOST_MODES, &r->n_left_out, err));
    if (tool_count(a, "left-out") && !r->reduced_forces) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--left-out: needs --reduced-forces");
    if (r->n_left_out > 0 && r->import_path)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--left-out: is for columns that are made here, not for --import");
    r->rigid = tool_count(a, "rigid");
    if (r->rigid) {
        MODAL_TRY(modalpack_check_rigid(a, r, err));
        MODAL_TRY(tool_number(a, "density", 0, 1e9, &r->rigid_density, err));
        MODAL_TRY(tool_units_read(a, &r->input.units, err));
        r->input.mesh_path = a->operands[0];
    } else {
        MODAL_TRY(tool_solid_options(a, a->operands[0], &r->input, err));
    }
    r->surface_units = r->input.units;
    if (tool_count(a, "surface-unit") && !r->surface_path) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--surface-unit: needs --surface");
    if (tool_count(a, "surface-unit")) MODAL_TRY(tool_unit_read(a, "surface-unit", &r->surface_units.unit, err));
    const int counted = tool_count(a, "modes"), by_energy = tool_count(a, "energy");
    if (!r->snapshots_path && by_energy) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--energy: needs --snapshots");
    if ((r->snapshots_path != NULL) + (r->import_path != NULL) + (r->n_linear > 0) > 1)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--derivatives, --snapshots, --import: one of them at most");
    r->import_all = !counted;
    r->default_modes = !counted && r->n_linear == 0;
    const int64_t most = r->n_linear + modal_derivative_count(r->n_linear);
    if (r->n_linear > 0 && !counted && r->n_modes > most) r->n_modes = most;
    if (r->n_linear > 0 && r->n_modes > most)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--modes: %lld modes and their derivatives are at most %lld, %lld",
                   (long long)r->n_linear, (long long)most, (long long)r->n_modes);
    if (r->snapshots_path && !counted) r->n_modes = 200;
    r->energy = counted ? 1 : 0.9999;
    MODAL_TRY(tool_number(a, "energy", 0, 1, &r->energy, err));
    if (!(r->energy > 0)) MODAL_FAIL(err, MODAL_ERROR_USAGE, "--energy: must be > 0, %g", r->energy);
    if (r->reduced_forces && r->n_modes > MODAL_STVK_MOST_MODES)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--reduced-forces: for 1 to %d modes, %lld",
                   MODAL_STVK_MOST_MODES, (long long)r->n_modes);
    MODAL_TRY(read_choices(a, r, err));
    MODAL_TRY(modalpack_ranks_check(a, n_ranks, r, err));
    MODAL_TRY(tool_size(a, "memory-limit", &r->memory_limit, err));
    if (tool_value(a, "memory-limit") && r->memory_limit <= 0)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--memory-limit: must be positive, %s",
                   tool_value(a, "memory-limit"));
    MODAL_TRY(tool_threads(t, &r->threads, err));
    omp_set_num_threads(r->threads);
    if (r->reduced_forces || tool_count(a, "backend"))
        MODAL_TRY(modal_device_open(r->device, tool_value(a, "backend"), err));
    if (!r->reduced_forces) MODAL_TRY(modal_device_open(r->device, "cpu", err)); /* nothing else is there yet */
    r->input.bodies_apart = r->shapes == SHAPES_BODIES;
    MODAL_TRY(check_files(a, r, err));
done:
    return status;
}

static modal_status make_shape(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err)
{
    modal_status status = MODAL_OK;
    MODAL_TRY(modalpack_read_solid(t, r, shape, err));
    MODAL_TRY(modalpack_check_large(r, shape, r->threads, err));
    MODAL_TRY(modalpack_make_surface(t, r, shape, err));
    MODAL_TRY(r->snapshots_path ? modalpack_decompose(t, r, shape, err)
              : r->import_path  ? modalpack_import(t, r, shape, err)
                                : modalpack_solve_modes(t, r, shape, err));
    if (r->n_linear > 0) MODAL_TRY(modalpack_add_derivatives(t, r, shape, err));
    if (r->ranks) goto done; /* modes come while they are written */
    MODAL_TRY(modalpack_reduced_forces(t, r, shape, err));
    MODAL_TRY(modal_shape_modal_matrix(shape, err));
    MODAL_TRY(modal_shape_keep_modes(shape, r->volume_modes, err));
done:
    return status;
}

/* What the report says of a shape moves into an entry of its own, so that the next one's does not replace it. */
static void set_apart(tool *t, const modal_shape *shape)
{
    static const char *const keys[] = {"solver",      "derivatives",         "snapshots",       "import",
                                       "reduced_force_terms", "vertices_outside", "farthest_outside_m"};
    json_t *all = json_object_get(t->report, "solids"), *entry = json_pack("{s:s}", "name", shape->name);
    if (!all) json_object_set_new(t->report, "solids", all = json_array());
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        json_object_set(entry, keys[i], json_object_get(t->report, keys[i]));
        json_object_del(t->report, keys[i]);
    }
    json_array_append_new(all, entry);
}

/* Each mesh a shape and an object, one after the other. */
static modal_status make_each(tool *t, const modalpack_request *r, modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    MODAL_TRY(modal_alloc_zero(&basis->shapes, r->n_meshes, sizeof *basis->shapes, "shapes", err));
    basis->n_shapes = r->n_meshes;
    MODAL_TRY(modal_alloc_zero(&basis->objects, r->n_meshes, sizeof *basis->objects, "objects", err));
    basis->n_objects = r->n_meshes;
    for (int i = 0; i < r->n_meshes; i++) {
        modal_shape *shape = &basis->shapes[i];
        modalpack_request one = *r;
        one.input.mesh_path = r->mesh_paths[i];
        if (r->surface_path) one.surface_path = tool_value_at(a, "surface", i);
        if (r->snapshots_path) one.snapshots_path = tool_value_at(a, "snapshots", i);
        if (r->import_path) one.import_path = tool_value_at(a, "import", i);
        basis->objects[i] = (modal_object){i, -1, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};
        MODAL_TRY(modalpack_name_shape(&one, NULL, 0, &shape->name, err));
        if (r->n_meshes > 1) tool_note(t, "%s", one.input.mesh_path);
        status = r->rigid ? modalpack_make_rigid(t, &one, shape, err)
                 : one.import_path && modal_surface_is_named(one.input.mesh_path) ? modalpack_import_surface(t, &one, shape, err)
                                                                          : make_shape(t, &one, shape, err);
        if (status != MODAL_OK) goto done;
        if (r->n_meshes > 1) set_apart(t, shape);
    }
done:
    return status;
}

/* The mesh that is standard input, where one is. */
static modal_status take_mesh(modalpack_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < r->n_meshes; i++) {
        const char *path = r->mesh_paths[i];
        MODAL_TRY(tool_pipe_take(&path, err));
        r->mesh_paths[i] = (char *)path;
    }
    r->input.mesh_path = r->mesh_paths[0];
done:
    return status;
}

int main(int argc, char **argv)
{
    tool t;
    int code;
    if (argc == 3 && strcmp(argv[1], "--material") == 0 && strcmp(argv[2], "list") == 0) return tool_list_materials();
    if (tool_start(&t, &program, argc, argv, &code)) return code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modalpack_request r;
    modal_device device;
    tool_output output = {0};
    modal_basis basis = {0};
    const modal_ranks_program *ranks = NULL;
    modalpack_stream *stream = NULL;
    modal_scratch *scratch = NULL;
    int rank = 0, n_ranks = 1;
    MODAL_TRY(modalpack_ranks_begin(&t, &ranks, &rank, &n_ranks, &err));
    if (rank > 0) { /* rank 0 says what there is to say, also when a signal ends it: then mpirun ends this one */
        signal(SIGTERM, SIG_DFL);
        ranks->serve();
        ranks->end();
        tool_leave(&t);
        return TOOL_EXIT_DONE;
    }
    MODAL_TRY(read_request(&t, n_ranks, &r, &device, &err));
    r.ranks = ranks;
    r.find_faces = n_ranks > 1 && r.n_plans == 0 ? ranks->find_faces : modal_find_faces; /* a plan is one process's */
    if (r.n_plans > 0) {
        MODAL_TRY(take_mesh(&r, &err));
        MODAL_TRY(modalpack_ranks_scratch(&t, &r, n_ranks, &scratch, &err));
        status = modalpack_ranks_plan(&t, &r, scratch, &err);
        goto done;
    }
    MODAL_TRY(tool_output_begin(&output, r.basis_path, tool_count(&t.arguments, "force"), &err));
    MODAL_TRY(take_mesh(&r, &err));
    MODAL_TRY(modalpack_ranks_scratch(&t, &r, n_ranks, &scratch, &err));
    if (makes_shapes(&r)) {
        MODAL_TRY(modalpack_make_shapes(&t, &r, &output, &basis, &err));
    } else {
        MODAL_TRY(make_each(&t, &r, &basis, &err));
        if (ranks) MODAL_TRY(modalpack_stream_new(&r, &basis.shapes[0], &stream, &err));
        MODAL_TRY(modalpack_write(&t, &r, &output, &basis, &err));
    }
    const double start = tool_seconds();
    MODAL_TRY(tool_output_complete(&output, &err));
    tool_stage(&t, "sync", tool_seconds() - start, -1);
    if (makes_shapes(&r) || r.n_meshes > 1)
        modalpack_print_shapes(&t, &basis);
    else
        modalpack_print_modes(&t, &basis.shapes[0]);
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modal_basis_free(&basis);
    modalpack_stream_delete(stream);
    if (ranks) ranks->end();
    modalpack_ranks_scratch_end(&t, ranks, scratch);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
