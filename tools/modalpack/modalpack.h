/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of modalpack: modalpack.c tells the story of a run. */
#ifndef TOOLS_MODALPACK_H
#define TOOLS_MODALPACK_H

#include "kernels/operations.h"
#include "lib/base/scratch.h"
#include "lib/mesh/boundary.h"
#include "lib/model/basis.h"
#include "lib/model/node_modes.h"
#include "lib/modes/modes.h"
#include "lib/ranks/ranks.h"
#include "lib/reduced/derivatives.h"
#include "tools/common/output.h"
#include "tools/common/solid.h"
#include "tools/common/tool.h"

/* What the command line asks for, checked as far as that goes without the mesh. */
typedef enum modalpack_shapes { SHAPES_ONE, SHAPES_GROUPS, SHAPES_BODIES } modalpack_shapes;

enum { MODALPACK_MOST_PLANS = 32 };

typedef struct modalpack_request {
    int n_meshes;
    char **mesh_paths;
    modalpack_shapes shapes;
    tool_solid_request input; /* its mesh_path is one of them */
    const char *basis_path, *surface_path; /* --surface, --snapshots, --import: those of input.mesh_path */
    tool_units surface_units; /* of --surface */
    int64_t n_modes;
    int default_modes; /* nobody has said how many: a solid that has fewer gives those */
    modal_mass_rule mass_rule;
    int hex8; /* --hex8, a modal_stiffness_rule; -1: not said */
    const char *snapshots_path; /* --snapshots, or NULL */
    const char *import_path;    /* --import, or NULL */
    int import_all;             /* all its columns, else the first n_modes */
    double energy;
    int64_t n_linear; /* --derivatives, 0: none */
    int rigid;            /* --rigid: meshes are surfaces, which do not deform */
    double rigid_density; /* --density with it, 0: they weigh nothing */
    int reduced_forces;
    int64_t n_left_out; /* --left-out; -1: as many as usual, where the solid is not large */
    int sturm;
    modal_modes_factor factor;
    modal_modes_route route; /* --eigensolver slepc: --route; else MODAL_ROUTE_OWN */
    const modal_ranks_program *ranks; /* what was loaded for it, else NULL */
    modal_face_finder *find_faces; /* of the surface: by the ranks, where they are several, else by this process */
    int n_plans;                      /* --plan: 0, not asked for */
    int32_t plans[MODALPACK_MOST_PLANS]; /* [n_plans] numbers of ranks */
    modal_modes_kept volume_modes; /* --volume-modes */
    int64_t memory_limit; /* bytes of the eigenvalue computation, 0: what the machine has */
    double available_memory; /* what that was a moment ago, 0: to be asked */
    modal_device *device; /* --backend: of the reduced forces, "cpu" without */
    int threads;
} modalpack_request;

/* modalpack_solid.c */
/* Reads the mesh into shape->volume, says what was found, gives it materials and fixed nodes. */
modal_status modalpack_read_solid(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err);
/* Says where linear elements bend too stiffly, by the solid's boundary; what is wrong with that is no error here. */
modal_status modalpack_hint_at_bending(tool *t, const modalpack_request *r, const modal_volume_mesh *mesh, modal_error *err);
/* That, and the surface that will deform: the solid's boundary, or --surface. */
modal_status modalpack_make_surface(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err);

/* modalpack_modes.c */
/* Solves for the modes and moves them into the shape. */
modal_status modalpack_solve_modes(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err);
/* Like modalpack_solve_modes, but prints nothing. With n_threads = 1 it may run in several threads. `t`: NULL, or what it
 * reports to. */
modal_status modalpack_find_modes(const modalpack_request *r, modal_shape *shape, int n_threads, tool *t,
                                  const modal_progress *progress, modal_error *err);
/* Moves a result into the shape. */
modal_status modalpack_take_modes(modal_shape *shape, modal_modes_result *result, modal_mass_rule mass_rule, modal_error *err);
void modalpack_print_modes(tool *t, const modal_shape *shape);

/* modalpack_ranks.c */
/* --eigensolver slepc: loads the module and starts MPI; *rank of *n_ranks. All ranks but 0 serve it from then on, until it ends. An
 * error on them is one on all. */
modal_status modalpack_ranks_begin(tool *t, const modal_ranks_program **program, int *rank, int *n_ranks, modal_error *err);
/* Rank 0, with --eigensolver slepc: from here on large arrays are in files below --scratch, else in the folder of the basis, with a window of the
 * mesh's share in main memory. The end is after all arrays and ranks->end; the report gets how many bytes there were at most. */
modal_status modalpack_ranks_scratch(const tool *t, const modalpack_request *r, int n_ranks, modal_scratch **scratch, modal_error *err);
modal_scratch *modalpack_ranks_scratch_end(tool *t, const modal_ranks_program *ranks, modal_scratch *scratch); /* NULL is fine; gives NULL */
/* Rank 0: --route, --plan (its default: n_ranks), and what does not go together with --eigensolver slepc. MODAL_ERROR_USAGE. */
modal_status modalpack_ranks_check(const tool_arguments *a, int n_ranks, modalpack_request *r, modal_error *err);
/* --plan: what each number of ranks would hold, printed and into the report; nothing is computed. */
modal_status modalpack_ranks_plan(tool *t, const modalpack_request *r, modal_scratch *scratch, modal_error *err);
/* The modes of a solid by all ranks, which keep its mesh where they are several; the report gets what is known of them. */
modal_status modalpack_ranks_solve(tool *t, const modalpack_request *r, modal_shape *shape, modal_modes_result *result,
                                   modal_error *err);

/* modalpack_stream.c */
/* Modes of --eigensolver slepc, from the ranks into the file: shape->source, once the shape has its surface and number of modes. *stream
 * may be there after an error. */
typedef struct modalpack_stream modalpack_stream;
modal_status modalpack_stream_new(const modalpack_request *r, modal_shape *shape, modalpack_stream **stream, modal_error *err);
modalpack_stream *modalpack_stream_delete(modalpack_stream *stream); /* NULL is fine; gives NULL */

/* modalpack_recipe.c */
/* The hash of the bytes of all files that the run reads, of the options that what it makes depends on, and of the version
 * of the method. Where the back end, the threads or the memory decide how sums are rounded, they do not count. */
modal_status modalpack_find_recipe(const tool *t, const modalpack_request *r, char recipe[MODAL_HASH_TEXT], modal_error *err);

/* modalpack_write.c */
/* What the run was given, into the basis: its provenance and recipe. */
modal_status modalpack_add_provenance(const tool *t, const modalpack_request *r, modal_basis *basis, modal_error *err);
/* With it, the whole basis into the output's temporary file. */
modal_status modalpack_write(tool *t, const modalpack_request *r, const tool_output *output, modal_basis *basis,
                             modal_error *err);

/* Writes the basis into `path` while its shapes are still made, in a thread of its own where n_threads > 1. All
 * but the shapes is there. After an error *writer may be there, too: modalpack_writer_finish takes it. */
typedef struct modalpack_writer modalpack_writer;
modal_status modalpack_writer_new(const char *path, const modal_basis *basis, int n_threads, modalpack_writer **writer,
                                  modal_error *err);
/* Shape `index` is complete and nobody changes it any more. From any thread. MODAL_ERROR_INTERRUPTED where
 * writing failed already. */
modal_status modalpack_writer_ready(modalpack_writer *writer, int64_t index, modal_error *err);
/* Waits until all is written, or, where status says that shapes are missing, until the writer gave up; frees it.
 * Returns what went wrong first, and puts a failure of the writer into err. */
modal_status modalpack_writer_finish(modalpack_writer *writer, modal_status status, modal_error *err);

/* modalpack_shapes.c */
/* After the mesh file (where there are several), its group or the number of its body, as --shapes says; else
 * "solid". The caller frees *name. */
modal_status modalpack_name_shape(const modalpack_request *r, const char *group, int32_t number, char **name,
                                  modal_error *err);
/* Several meshes, or --shapes: the solids, their congruence, their modes, into shapes and objects, and the
 * basis into the output's temporary file. */
modal_status modalpack_make_shapes(tool *t, modalpack_request *r, const tool_output *output, modal_basis *basis,
                                   modal_error *err);
void modalpack_print_shapes(tool *t, const modal_basis *basis);

/* modalpack_reduced.c */
/* Before anything is computed: what large deformations and snapshots take must be within --memory-limit, or what the machine has
 * left, of which each of the r->threads has its share. */
modal_status modalpack_check_large(const modalpack_request *r, const modal_shape *shape, int n_threads, modal_error *err);
/* --derivatives: from the shape's natural modes to the basis of them and their derivatives. */
modal_status modalpack_add_derivatives(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err);
/* Like modalpack_add_derivatives, but prints nothing, and may run in several threads. The caller frees the report with
 * modal_derivatives_report_free. */
modal_status modalpack_find_derivatives(const modalpack_request *r, modal_shape *shape, int n_threads,
                                        const modal_progress *progress, modal_derivatives_report *report,
                                        double *orthogonality, modal_error *err);
/* The result's columns take the place of the shape's; what is known of its rigid modes stays. */
modal_status modalpack_replace_modes(modal_shape *shape, modal_modes_result *result,
                                     modal_basis_kind kind, modal_error *err);
/* --snapshots: the basis of what they show. */
modal_status modalpack_decompose(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err);
/* --reduced-forces: their coefficients for the shape's columns. */
modal_status modalpack_reduced_forces(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err);
/* Before forces of many columns are made on a processor: how long it will take, and how much memory. */
void modalpack_tell_estimate(tool *t, const modalpack_request *r, int64_t n_shapes, const modal_shape *shapes);
/* --left-out, after them: in what the columns leave of the forces; *passed is whether and why that is not done. For several
 * threads at once. */
enum { MODALPACK_PASSED_LARGE = 1, MODALPACK_PASSED_COLUMNS };
modal_status modalpack_find_left_out(const modalpack_request *r, modal_shape *shape, int n_threads, int *passed,
                                     const modal_progress *progress, modal_error *err);
void modalpack_tell_left_out(tool *t, int64_t n, const int *passed);
/* What they were made on, and how many there are a shape. */
void modalpack_tell_forces(tool *t, const modalpack_request *r, int64_t n_modes);

/* modalpack_rigid.c */
/* MODAL_ERROR_USAGE: options that are for solids, meshes that are no surfaces. */
modal_status modalpack_check_rigid(const tool_arguments *a, const modalpack_request *r, modal_error *err);
/* --rigid: a surface without modes, and its mass. */
modal_status modalpack_make_rigid(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err);

/* modalpack_import.c */
/* --import: another program's columns, for the shape's solid, or for a surface alone. */
modal_status modalpack_import(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err);
modal_status modalpack_import_surface(tool *t, const modalpack_request *r, modal_shape *shape, modal_error *err);

#endif
