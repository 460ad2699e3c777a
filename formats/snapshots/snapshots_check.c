/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/snapshots/snapshots_check.h"

#include <math.h>
#include <string.h>

#include "formats/h5/h5_util.h"
#include "formats/h5/provenance_h5.h"
#include "formats/h5/quality_h5.h"
#include "formats/h5/rules.h"
#include "lib/base/memory.h"

static const modal_h5_place nowhere = {H5I_INVALID_HID, ""};

/* An array [S, N, 3] of either type; its values where `values`. */
static modal_status look_at_field(const modal_h5_in *in, const modal_h5_place *root, const char *name, modal_h5_need need,
                                  int64_t dims[3], int values, int *there)
{
    modal_status status = MODAL_OK;
    const int single = modal_h5_is_float(root, name);
    modal_h5_rows *rows = NULL;
    void *row = NULL;
    char where[64];
    snprintf(where, sizeof where, "/%s", name);
    MODAL_TRY(modal_h5_rows_open(in, root, name, single ? MODAL_H5_F32 : MODAL_H5_F64, 3, dims, need, &rows));
    *there = rows != NULL;
    if (!rows || !values) goto done;
    MODAL_TRY(modal_alloc(&row, 3 * dims[1], single ? sizeof(float) : sizeof(double), "a snapshot", in->checker.err));
    for (int64_t k = 0; k < dims[0]; k++) {
        const modal_axes axes = {"node", "axis"};
        MODAL_TRY(modal_h5_rows_read(rows, k, 1, row, in->checker.err));
        MODAL_TRY(single ? modal_rule_finite_float(&in->checker, where, row, dims[1], 3, axes)
                         : modal_rule_finite(&in->checker, where, row, dims[1], 3, axes));
    }
done:
    modal_free(&row);
    modal_h5_rows_close(rows);
    return status;
}

/* A small optional array of float64, all of it finite. */
static modal_status look_at_numbers(const modal_h5_in *in, const modal_h5_place *place, const char *name, modal_h5_need need,
                                    int rank, int64_t *dims, int *there)
{
    double *values = NULL;
    char where[MODAL_H5_PATH];
    snprintf(where, sizeof where, "%.200s/%.40s", place->path, name);
    modal_status status = modal_h5_read_array(in, place, name, MODAL_H5_F64, rank, dims, need, &values);
    const int64_t width = rank > 2 ? dims[1] * dims[2] : dims[1];
    if (status == MODAL_OK && values)
        status = modal_rule_finite(&in->checker, where, values, dims[0], width, (modal_axes){"snapshot", "column"});
    *there = values != NULL;
    modal_free(&values);
    return status;
}

static modal_status look_at_times(const modal_h5_in *in, const modal_h5_place *root, modal_snapshots_contents *c)
{
    modal_status status = MODAL_OK;
    int64_t n = c->n_snapshots;
    MODAL_TRY(modal_h5_read_array(in, root, "times", MODAL_H5_F64, 1, &n, MODAL_H5_OPTIONAL, &c->times));
    if (!c->times) goto done;
    MODAL_TRY(modal_rule_finite(&in->checker, "/times", c->times, n, 1, (modal_axes){"snapshot", "column"}));
    for (int64_t i = 1; i < n; i++)
        if (!(c->times[i] > c->times[i - 1])) {
            status = modal_broken(&in->checker, "/times", "snapshot %lld: not increasing, %.17g after %.17g", (long long)i,
                                  c->times[i], c->times[i - 1]);
            break;
        }
done:
    return status;
}

/* A line for each probe. */
static modal_status check_names(const modal_h5_in *in, const modal_snapshots_contents *c)
{
    int64_t lines = c->probe_names && c->probe_names[0] ? 1 : 0;
    for (const char *at = c->probe_names; at && *at; at++) lines += *at == '\n';
    if (!c->probe_names || lines == c->n_probes) return MODAL_OK;
    return modal_broken(&in->checker, "/probes@names", "%lld names of %lld probes", (long long)lines, (long long)c->n_probes);
}

/* The last column is what the others leave. */
static modal_status look_at_energy(const modal_h5_in *in, const modal_h5_place *root, modal_snapshots_contents *c)
{
    modal_status status = MODAL_OK;
    int64_t dims[2] = {c->n_snapshots, 6};
    double *e = NULL;
    MODAL_TRY(modal_h5_read_array(in, root, "energy", MODAL_H5_F64, 2, dims, MODAL_H5_OPTIONAL, &e));
    MODAL_TRY(modal_rule_finite(&in->checker, "/energy", e, dims[0], dims[1], (modal_axes){"snapshot", "column"}));
    c->energy = e != NULL;
    for (int64_t i = 0; e && i < dims[0]; i++) {
        const double *row = e + 6 * i, left = row[0] + row[1] + row[2] - row[3] - row[4];
        double largest = 0;
        for (int k = 0; k < 5; k++) largest = fmax(largest, fabs(row[k]));
        if (fabs(row[5] - left) <= 1e-9 * largest || !isfinite(left)) continue;
        MODAL_TRY(modal_broken(&in->checker, "/energy", "snapshot %lld: the balance is %g, the others leave %g", (long long)i, row[5], left));
        break;
    }
done:
    modal_free(&e);
    return status;
}

static modal_status look_at_parts(const modal_h5_in *in, const modal_h5_place *root, modal_snapshots_contents *c)
{
    static const char path[] = "/energy_parts";
    modal_status status = MODAL_OK;
    int64_t dims[2] = {c->n_snapshots, 2};
    double *parts = NULL;
    MODAL_TRY(modal_h5_read_array(in, root, "energy_parts", MODAL_H5_F64, 2, dims, MODAL_H5_OPTIONAL, &parts));
    c->parts = parts != NULL;
    if (c->parts && !c->energy) MODAL_TRY(modal_broken(&in->checker, path, "there is no /energy"));
    MODAL_TRY(modal_rule_finite(&in->checker, path, parts, dims[0], dims[1], (modal_axes){"snapshot", "column"}));
    for (int64_t i = 0; parts && i < dims[0]; i++) {
        if (!(parts[2 * i] < 0)) continue;
        MODAL_TRY(modal_broken(&in->checker, path, "snapshot %lld: hourglass control stores less than nothing, %g J", (long long)i, parts[2 * i]));
        break;
    }
done:
    modal_free(&parts);
    return status;
}

static modal_status look_at_probes(const modal_h5_in *in, const modal_h5_place *root, modal_snapshots_contents *c)
{
    modal_status status = MODAL_OK;
    modal_h5_place probes = nowhere;
    int64_t all[3] = {c->n_snapshots, -1, 3};
    int there;
    if (!modal_h5_has_link(root, "probes")) goto done;
    MODAL_TRY(modal_h5_enter(in, root, "probes", MODAL_H5_OPTIONAL, &probes));
    MODAL_TRY(modal_h5_read_text(in, &probes, "names", &c->probe_names));
    MODAL_TRY(look_at_numbers(in, &probes, "displacements", MODAL_H5_REQUIRED, 3, all, &there));
    MODAL_TRY(look_at_numbers(in, &probes, "reactions", MODAL_H5_REQUIRED, 3, all, &there));
    MODAL_TRY(look_at_numbers(in, &probes, "velocities", MODAL_H5_REQUIRED, 3, all, &there));
    c->n_probes = all[1] > 0 ? all[1] : 0;
    MODAL_TRY(check_names(in, c));
done:
    modal_h5_leave(&probes);
    return status;
}

static modal_status look(const modal_h5_in *in, int values, modal_snapshots_contents *c)
{
    modal_status status = MODAL_OK;
    modal_h5_place root = nowhere;
    int64_t dims[3] = {-1, -1, 3};
    int there;
    MODAL_TRY(modal_h5_check_root(in, "snapshots", 1));
    MODAL_TRY(modal_h5_enter(in, NULL, NULL, MODAL_H5_REQUIRED, &root));
    c->single = modal_h5_is_float(&root, "displacements");
    MODAL_TRY(look_at_field(in, &root, "displacements", MODAL_H5_REQUIRED, dims, values, &there));
    if (!there) goto done;
    c->n_snapshots = dims[0], c->n_nodes = dims[1];
    if (dims[0] < 1 || dims[1] < 1) {
        status = modal_broken(&in->checker, "/displacements", "no snapshot or no node, [%lld, %lld, 3]", (long long)dims[0],
                              (long long)dims[1]);
        goto done;
    }
    MODAL_TRY(look_at_times(in, &root, c));
    MODAL_TRY(look_at_field(in, &root, "velocities", MODAL_H5_OPTIONAL, dims, values, &c->velocities));
    MODAL_TRY(look_at_field(in, &root, "internal_forces", MODAL_H5_OPTIONAL, dims, values, &c->forces));
    MODAL_TRY(look_at_energy(in, &root, c));
    MODAL_TRY(look_at_parts(in, &root, c));
    MODAL_TRY(look_at_probes(in, &root, c));
    MODAL_TRY(modal_quality_read(in, &root, c->n_snapshots, &c->quality));
    MODAL_TRY(modal_quality_rules(&in->checker, c->quality, c->n_snapshots, 0));
    MODAL_TRY(modal_snapshots_solid_look(in, &root, c->n_nodes, &c->solid, &c->has_solid));
    MODAL_TRY(modal_provenance_read(in, &root, MODAL_H5_OPTIONAL, &c->provenance, &c->n_provenance));
done:
    modal_h5_leave(&root);
    return status;
}

static modal_status open_and_look(const char *path, int values, modal_findings *findings, modal_snapshots_contents *c,
                                  modal_error *err)
{
    const modal_h5_source source = {path, NULL, 0};
    modal_h5_in in = {.file = H5I_INVALID_HID, .checker = {findings, err}};
    *c = (modal_snapshots_contents){0};
    modal_status status = modal_h5_open(&in, &source);
    if (status == MODAL_OK) status = modal_h5_close(&in, look(&in, values, c));
    if (status != MODAL_OK) {
        modal_error_context(err, "%s", path);
        modal_snapshots_contents_free(c);
    }
    return status;
}

modal_status modal_snapshots_describe(const char *path, modal_snapshots_contents *contents, modal_error *err)
{
    return open_and_look(path, 0, NULL, contents, err);
}

modal_status modal_snapshots_check(const char *path, modal_findings *findings, modal_error *err)
{
    modal_snapshots_contents contents;
    const modal_status status = open_and_look(path, 1, findings, &contents, err);
    modal_snapshots_contents_free(&contents);
    return status;
}

void modal_snapshots_contents_free(modal_snapshots_contents *c)
{
    for (int32_t i = 0; i < c->n_provenance; i++) modal_provenance_free(&c->provenance[i]);
    modal_free(&c->provenance);
    modal_free(&c->times);
    modal_free(&c->quality);
    modal_free(&c->probe_names);
    modal_snapshots_solid_free(&c->solid);
    *c = (modal_snapshots_contents){0};
}
