/* SPDX-License-Identifier: Apache-2.0 */
/* modalplace: one basis of many objects, out of the shapes of several bases and a list of places. */
#include <math.h>
#include <string.h>

#include "formats/basis/basis_h5.h"
#include "formats/meshes/csv.h"
#include "formats/h5/h5_util.h"
#include "lib/base/memory.h"
#include "lib/scene/motion.h"
#include "tools/common/commit.h"
#include "tools/common/hdf5_stdin.h"
#include "tools/common/parts.h"
#include "tools/common/pipes.h"
#include "tools/common/tool.h"
#include "tools/modalplace/modalplace.h"

static const tool_option options[] = {
    {"bases", 0, "FILE", NULL, "The bases, a path a line, in the place of operands: any number of them.", TOOL_READS},
    {"link", 0, NULL, NULL,
     "Name the files of the shapes instead of copying their arrays. The files must lie in the folder of OUT or below.",
     0},
    TOOL_OPTION_PARTS,
    TOOL_OPTION_FORCE,
    TOOL_OPTIONS_COMMON,
    {0},
};

static const tool_program program = {
    .name = "modalplace",
    .summary = "places the shapes of bases as the objects of a scene",
    .usage = "[options] PLACES.csv OUT.h5 BASIS.h5 ...\n--bases FILE [options] PLACES.csv OUT.h5",
    .options = options,
    .least_operands = 2,
    .most_operands = 65536,
    .input_traits = TOOL_READS | TOOL_PIPE,
    .output = 2,
    .output_traits = TOOL_WRITES | TOOL_PIPE,
    .endings = "h5",
    .notes =
        "PLACES is a CSV list, a line an object: object,shape,parent,x,y,z,rx,ry,rz. Objects count from 0 in\n"
        "order; shapes count from 0 through the given bases, one after the other; the parent is the\n"
        "object that this one hangs on, or -1. Position, m, and rotation vector, rad, lead from the\n"
        "shape's coordinates to the world's at rest.",
    .examples = "modalplace plant.csv plant.h5 trunk.h5 branch.h5 leaf.h5\n"
                "modalplace --link plant.csv plant.h5 trunk.h5 branch.h5 leaf.h5\n"
                "modalplace --bases list.txt places.csv all.h5",
    .library = modal_h5_version,
};

/* A whole number in [least, most] from a column of the list. */
static int whole(double value, int64_t least, int64_t most, int32_t *to)
{
    if (!(value >= (double)least && value <= (double)most) || value != floor(value)) return 0;
    *to = (int32_t)value;
    return 1;
}

static modal_status place_objects(const char *path, modal_basis *basis, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_series list = {0};
    MODAL_TRY(modal_list_read_csv(path, 8, &list, err));
    if (list.n_rows > INT32_MAX)
        MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: too many objects, %lld", path, (long long)list.n_rows);
    const int32_t n = (int32_t)list.n_rows;
    MODAL_TRY(modal_alloc_zero(&basis->objects, n, sizeof *basis->objects, "objects", err));
    basis->n_objects = n;
    for (int32_t i = 0; i < n; i++) {
        const double *row = list.values + 8 * (int64_t)i;
        modal_object *object = &basis->objects[i];
        double rotation[9];
        if (list.times[i] != i)
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: object %d: objects count from 0 in order, %g", path, i,
                       list.times[i]);
        if (!whole(row[0], 0, basis->n_shapes - 1, &object->shape))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: object %d: there are shapes 0 .. %d, %g", path, i,
                       basis->n_shapes - 1, row[0]);
        if (!whole(row[1], -1, n - 1, &object->parent))
            MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: object %d: a parent is one of 0 .. %d or -1, %g", path, i,
                       n - 1, row[1]);
        modal_rotation_of(row + 5, rotation);
        for (int r = 0; r < 3; r++) {
            memcpy(object->rest_pose + 4 * r, rotation + 3 * r, 3 * sizeof(double));
            object->rest_pose[4 * r + 3] = row[2 + r];
        }
    }
    for (int32_t i = 0; i < n; i++) { /* every chain ends within n steps */
        int32_t steps = 0;
        for (int32_t p = i; p >= 0; p = basis->objects[p].parent)
            if (steps++ > n)
                MODAL_FAIL(err, MODAL_ERROR_INPUT, "%s: object %d: hangs on itself", path, i);
    }
done:
    modal_series_free(&list);
    return status;
}

/* What the last step of provenance is made of. */
typedef struct ending {
    const tool *t;
    modalplace_bases *bases;
} ending;

/* Of operands each file and its hash; of a list its own hash and that of the contents of all, in their order: a line each would not fit. */
static modal_status add_provenance(void *context, modal_error *err)
{
    const ending *e = context;
    const modalplace_bases *b = e->bases;
    const char *places = e->t->arguments.operands[0];
    modal_status status = MODAL_OK;
    char *inputs = NULL, hash[MODAL_HASH_TEXT];
    modal_hash *all = NULL;
    int64_t length = 4 * MODAL_HASH_TEXT + 64 + (int64_t)strlen(places) + (b->list ? 2 * (int64_t)strlen(b->list) : 0), used = 0;
    for (int64_t i = 0; i < b->n_files && !b->list; i++) length += MODAL_HASH_TEXT + 4 + (int64_t)strlen(b->files[i].path);
    MODAL_TRY(modal_alloc_zero(&inputs, length, 1, "provenance", err));
    MODAL_TRY(modal_hash_file(places, hash, err));
    used = snprintf(inputs, (size_t)length, "%s  %s", hash, tool_pipe_shown(places));
    if (b->list) {
        MODAL_TRY(modal_hash_file(b->list, hash, err));
        used += snprintf(inputs + used, (size_t)(length - used), "\n%s  %s", hash, b->list);
        MODAL_TRY(modal_hash_new(&all, err));
        for (int64_t i = 0; i < b->n_files; i++) modal_hash_array(all, "basis", b->files[i].hash, MODAL_HASH_TEXT - 1, 1);
        modal_hash_text(all, hash);
        snprintf(inputs + used, (size_t)(length - used), "\n%s  %lld bases of %s", hash, (long long)b->n_files, b->list);
    }
    for (int64_t i = 0; i < b->n_files && !b->list; i++)
        used += snprintf(inputs + used, (size_t)(length - used), "\n%s  %s", b->files[i].hash, tool_pipe_shown(b->files[i].path));
    MODAL_TRY(modal_provenance_append(&b->basis->provenance, &b->basis->n_provenance, program.name, tool_build(),
                                      e->t->command_line, inputs, "cpu", err));
done:
    modal_hash_delete(all);
    modal_free(&inputs);
    return status;
}

static modal_status check_operands(const tool_arguments *a, modal_error *err)
{
    const char *list = tool_value(a, "bases");
    if (list && a->n_operands > 2) return modal_error_set(err, MODAL_ERROR_USAGE, "--bases: not with bases as operands, %s", a->operands[2]);
    if (!list && a->n_operands < 3) return modal_error_set(err, MODAL_ERROR_USAGE, "needs PLACES.csv, OUT.h5 and bases, or --bases; see --help");
    for (int i = 1; i < a->n_operands && tool_count(a, "link"); i++)
        if (strcmp(a->operands[i], "-") == 0)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--link: a file below the folder of OUT is linked, and a pipe has neither, -");
    return MODAL_OK;
}

/* PLACES or a basis that is standard input. */
static modal_status take_pipe(const tool_arguments *a, modal_error *err)
{
    modal_status status = MODAL_OK;
    for (int i = 0; i < a->n_operands; i++) {
        const char *path = a->operands[i];
        if (i == 0) MODAL_TRY(tool_pipe_take(&path, err));
        else if (i > 1) MODAL_TRY(tool_take_hdf5(&path, err));
        a->operands[i] = (char *)path;
    }
done:
    return status;
}

int main(int argc, char **argv)
{
    tool t;
    int exit_code;
    if (tool_start(&t, &program, argc, argv, &exit_code)) return exit_code;
    modal_status status = MODAL_OK;
    modal_error err = {0};
    modal_basis basis = {0};
    tool_output output = {0};
    modalplace_bases bases = {.basis = &basis};
    ending end = {&t, &bases};
    const int link = tool_count(&t.arguments, "link");
    char **operands = t.arguments.operands;

    bases.before_end = add_provenance;
    bases.before_end_context = &end;
    MODAL_TRY(check_operands(&t.arguments, &err));
    MODAL_TRY(tool_use_parts(&t, &err));
    MODAL_TRY(tool_output_begin(&output, operands[1], tool_count(&t.arguments, "force") > 0, &err));
    MODAL_TRY(take_pipe(&t.arguments, &err));
    MODAL_TRY(modalplace_list_bases(&bases, tool_value(&t.arguments, "bases"), t.arguments.n_operands - 2, operands + 2, &err));
    MODAL_TRY(place_objects(operands[0], &basis, &err));
    if (link) {
        for (int64_t i = 0; i < bases.n_files; i++) MODAL_TRY(modalplace_take(&bases, i, operands[1], &err));
        MODAL_TRY(add_provenance(&end, &err));
        MODAL_TRY(modal_basis_write_assembly(output.temporary, &basis, &err));
        MODAL_TRY(modalplace_check_links(output.temporary, &err));
    } else {
        MODAL_TRY(modal_basis_write_passing(output.temporary, &basis, modalplace_wait, modalplace_release, &bases, &err));
    }
    MODAL_TRY(tool_output_complete(&output, &err));
    tool_note(&t, "%d object%s of %d shape%s, %lld modes in all", basis.n_objects, basis.n_objects == 1 ? "" : "s",
              basis.n_shapes, basis.n_shapes == 1 ? "" : "s", (long long)modal_basis_mode_offsets(&basis, NULL));
done:
    tool_output_name_error(&output, &err);
    tool_output_discard(&output);
    modalplace_free_bases(&bases);
    modal_basis_free(&basis);
    return tool_finish(&t, status, &err, TOOL_EXIT_DONE);
}
