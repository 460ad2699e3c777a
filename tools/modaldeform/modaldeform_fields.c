/* SPDX-License-Identifier: Apache-2.0 */
/* The arrays of the frames: which --normals, --tangents and --fields ask for, which formats carry them, and where
 * their values come from. The one file of this tool that knows arrays by name. */
#include <string.h>

#include "formats/sequences/sequence_null.h"
#include "formats/sequences/sequence_vtkhdf.h"
#include "lib/base/memory.h"
#include "tools/modaldeform/modaldeform.h"

static const struct {
    const char *name;
    int source;
} arrays[] = {{"Points", MODAL_FROM_POSITIONS},
              {"Normals", MODAL_FROM_NORMALS},
              {"displacement", MODAL_FROM_DISPLACEMENT},
              {"speed", MODAL_FROM_SPEED},
              {"Tangents", MODAL_FROM_TANGENTS}}; /* in the order of files */
static const char *const fields[] = {"displacement", "speed", "strain", "stress", "von_mises", "jacobian", "pressure"}; /* of --fields */
enum { N_ARRAYS = sizeof arrays / sizeof *arrays, N_FIELDS = sizeof fields / sizeof *fields, FIRST_STRESS = 2 };

size_t modaldeform_list_part(const char **text, const char **part)
{
    *part = *text;
    const size_t length = strcspn(*text, ",");
    *text += length + ((*text)[length] == ',');
    return length;
}

/* Which of none, rigid and dynamic, as modal_normals and modal_tangents count them. */
static modal_status kind_option(const tool_arguments *a, const char *option, const char **name,
                                int *kind, modal_error *err)
{
    static const char *const kinds[] = {"none", "rigid", "dynamic"};
    *name = tool_value(a, option);
    for (*kind = 0; *kind < 3; ++*kind)
        if (strcmp(*name, kinds[*kind]) == 0) return MODAL_OK;
    return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: not none, rigid or dynamic, %s", option,
                           *name);
}

static modal_status parse_fields(const char *text, int wanted[N_FIELDS], int curvature[MODAL_CURVATURE_FIELDS],
                                 int *colour, modal_error *err)
{
    if (!text) return MODAL_OK;
    const char *c = text, *part;
    do {
        const size_t length = modaldeform_list_part(&c, &part);
        int i = 0;
        while (i < N_FIELDS && (strlen(fields[i]) != length || strncmp(part, fields[i], length) != 0)) i++;
        if (i == N_FIELDS && length == 6 && strncmp(part, "colour", length) == 0) {
            if ((*colour)++) return modal_error_set(err, MODAL_ERROR_USAGE, "--fields: twice, colour");
            continue;
        }
        if (i == N_FIELDS) {
            char name[MODAL_ARRAY_NAME];
            modal_error fault = {0};
            if (length == 16 && strncmp(part, "quality_residual", length) == 0)
                return modal_error_set(err, MODAL_ERROR_USAGE,
                                       "--fields: a trajectory has how much its basis leaves out in a frame, not where (residual "
                                       "of modalinfo --check), quality_residual");
            snprintf(name, sizeof name, "%.*s", (int)length, part);
            if (modaldeform_curvature_fields(name, curvature, &fault) == MODAL_OK) continue;
            if (strstr(fault.message, "twice") || strstr(fault.message, "alone"))
                return modal_error_set(err, MODAL_ERROR_USAGE, "%s", fault.message);
            return modal_error_set(err, MODAL_ERROR_USAGE,
                                   "--fields: not displacement, speed, strain, stress, von_mises, jacobian or pressure, nor a field of curvature "
                                   "(docs/modalcurv.md), %.*s",
                                   (int)length, part);
        }
        if (wanted[i]++)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--fields: twice, %.*s", (int)length, part);
    } while (c > text && (*c || c[-1] == ','));
    return MODAL_OK;
}

/* The option by which an array was asked for; NULL: the run has it anyway. Normals are made unless they are
 * declined, so that a format without them is no surprise. */
static const char *option_of(const modaldeform_request *r, int source)
{
    return r->show_arrays && source >= MODAL_FROM_STAGES && source < MODALDEFORM_FROM_CURVATURE ? "show"
           : source == MODAL_FROM_TANGENTS                                 ? "tangents"
           : source == MODAL_FROM_DISPLACEMENT || source >= MODAL_FROM_SPEED ? "fields"
                                                                 : NULL;
}

/* An array that was asked for is in one format at least; those that leave it out say so. */
static modal_status check_carried(tool *t, const modaldeform_request *r, modal_error *err)
{
    for (int i = 1; i < r->arrays.n; i++) {
        const modal_array *a = &r->arrays.all[i];
        char without[256] = "";
        int n_carry = 0;
        if (!option_of(r, a->source)) continue;
        for (int f = 0; f < r->n_formats; f++) {
            const modal_sequence_format *format = r->formats[f];
            const int carries = !format->carries || format->carries(a);
            n_carry += carries;
            if (carries || !format->name) continue;
            if (without[0]) strcat(without, ", ");
            strcat(without, format->name);
        }
        if (n_carry == 0)
            return modal_error_set(err, MODAL_ERROR_USAGE, "--%s: %s cannot carry %s, %s", option_of(r, a->source), without,
                                   a->of_cells ? "this array of the cells" : "this array of the points", a->name);
        if (without[0]) tool_note(t, "--%s: %s: left out of %s", option_of(r, a->source), a->name, without);
    }
    return MODAL_OK;
}

modal_status modaldeform_read_fields(tool *t, modaldeform_request *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const tool_arguments *a = &t->arguments;
    int kind = 0, wanted[N_FIELDS] = {0};
    MODAL_TRY(kind_option(a, "normals", &r->normals_name, &kind, err));
    if (r->volume && tool_count(a, "normals") == 0) { /* nodes have none */
        r->normals_name = "none";
        kind = MODAL_NORMALS_NONE;
    }
    r->deform.normals = (modal_normals)kind;
    MODAL_TRY(kind_option(a, "tangents", &r->tangents_name, &kind, err));
    r->deform.tangents = (modal_tangents)kind;
    if (r->deform.tangents == MODAL_TANGENTS_DYNAMIC && r->deform.normals != MODAL_NORMALS_DYNAMIC)
        MODAL_FAIL(err, MODAL_ERROR_USAGE,
                   "--tangents: dynamic ones are orthogonal to dynamic normals, --normals %s",
                   r->normals_name);
    if (r->volume && (r->deform.normals != MODAL_NORMALS_NONE || r->deform.tangents != MODAL_TANGENTS_NONE))
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--output-mesh: a volume has no normals and no tangents");
    MODAL_TRY(parse_fields(tool_value(a, "fields"), wanted, r->curvature, &r->colour, err));
    for (int i = 0; i < N_FIELDS; i++)
        if (wanted[i]) {
            strcat(r->fields_text, r->fields_text[0] ? "," : " --fields ");
            strcat(r->fields_text, fields[i]);
        }
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++)
        if (r->curvature[i]) {
            strcat(r->fields_text, r->fields_text[0] ? "," : " --fields ");
            strcat(r->fields_text, modal_curvature_arrays[i].name);
            r->curved = 1;
        }
    if (r->curved && r->volume)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fields: curvature is of surfaces, --output-mesh volume, %s", tool_value(a, "fields"));
    const int has[] = {[MODAL_FROM_POSITIONS] = 1,
                       [MODAL_FROM_NORMALS] = r->deform.normals != MODAL_NORMALS_NONE,
                       [MODAL_FROM_DISPLACEMENT] = wanted[0],
                       [MODAL_FROM_SPEED] = wanted[1],
                       [MODAL_FROM_TANGENTS] = r->deform.tangents != MODAL_TANGENTS_NONE};
    for (int i = 0; i < N_ARRAYS; i++) {
        modal_array array = *modal_sequence_known(arrays[i].name);
        array.source = arrays[i].source;
        if (has[array.source]) MODAL_TRY(modal_array_add(&r->arrays, &array, err));
    }
    for (int i = FIRST_STRESS; i < N_FIELDS; i++) r->stress |= wanted[i];
    if (r->stress && !r->volume && !r->snapshots)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--fields: strain, stress, von_mises, jacobian and pressure are of solids, --output-mesh volume, %s",
                   tool_value(a, "fields"));
    for (int of_nodes = !r->volume; of_nodes < 2; of_nodes++) /* the points of a surface are nodes, its triangles no elements */
        for (int i = FIRST_STRESS; i < N_FIELDS; i++) {
            const int value = i - FIRST_STRESS + of_nodes * (N_FIELDS - FIRST_STRESS);
            modal_array array = modal_stress_frames_array(value);
            array.source = MODAL_FROM_STAGES + value;
            if (wanted[i]) MODAL_TRY(modal_array_add(&r->arrays, &array, err));
        }
    for (int i = 0; i < MODAL_CURVATURE_FIELDS; i++) {
        modal_array array = modal_curvature_arrays[i];
        array.source = MODALDEFORM_FROM_CURVATURE + i;
        if (r->curvature[i]) MODAL_TRY(modal_array_add(&r->arrays, &array, err));
    }
    r->speed = wanted[1];
    r->deform.displacement = wanted[0];
    MODAL_TRY(check_carried(t, r, err));
done:
    return status;
}

modal_status modaldeform_add_modes(tool *t, modaldeform_request *r, const modaldeform_modes *modes, modal_error *err)
{
    modal_status status = MODAL_OK;
    if (r->arrays.n + modes->n > MODAL_MOST_ARRAYS)
        MODAL_FAIL(err, MODAL_ERROR_USAGE, "--show: a file has room for %d arrays, %d modes (--modes names some)",
                   MODAL_MOST_ARRAYS - r->arrays.n, modes->n);
    for (int32_t i = 0; i < modes->n; i++) {
        modal_array array = {.components = 3, .unit = "m", .source = MODAL_FROM_STAGES + i};
        snprintf(array.name, sizeof array.name, "mode_%03d", modes->list[i]);
        MODAL_TRY(modal_array_add(&r->arrays, &array, err));
    }
    MODAL_TRY(check_carried(t, r, err));
done:
    return status;
}

/* Whether all that is written takes arrays encoded: then their float32 stay on the device. */
static int all_take_encoded(const modaldeform_request *r)
{
    for (int i = 0; i < r->n_formats; i++)
        if (r->formats[i] != &modal_sequence_vtkhdf && r->formats[i] != &modal_sequence_null) return 0;
    return 1;
}

modal_status modaldeform_plan(const modaldeform_request *r, const modaldeform_input *in, modal_frame_plan *plan, modal_error *err)
{
    modal_status status = MODAL_OK;
    const int64_t n_cells = r->volume ? in->cells.n_cells : in->n_triangles;
    *plan = (modal_frame_plan){0};
    if (r->precision > 0) plan->scale = modal_sequence_scale(r->precision);
    for (int i = 0; i < r->arrays.n; i++) {
        const modal_array *a = &r->arrays.all[i];
        const int of_steps = a->source >= MODAL_FROM_STAGES && a->source < MODALDEFORM_FROM_CURVATURE;
        const int encoded = modal_sequence_is_rounded(r->precision, a) && all_take_encoded(r);
        MODAL_TRY(modal_frame_plan_add(plan, a, a->of_cells ? n_cells : 0,
                                       of_steps ? MODAL_OF_STEPS : encoded ? MODAL_TAKEN_ENCODED : MODAL_TAKEN, err));
    }
done:
    return status;
}

modal_status modaldeform_begin_stress(const modaldeform_request *r, modaldeform_input *in, modal_error *err)
{
    return modal_stress_frames_begin(in->stress, &in->basis, &r->arrays, MODAL_FROM_STAGES, err);
}
