/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/model/quality.h"

#include <stddef.h>
#include <stdio.h>

#define COLUMN(member) ((int)(offsetof(modal_quality, member) / sizeof(double)))

/* formats/trajectory.md has the reasons for these limits. */
const modal_quality_measure modal_quality_measures[MODAL_QUALITY_MEASURES] = {
    {"energy_balance", COLUMN(energy_balance), -1, -1, 0, 0.05, 0.5, "",
     "energy came from nowhere or went there; try a smaller \"step\", in modalsim or \"integrator\": \"auto\""},
    {"step_error", COLUMN(step_error), -1, -1, 0, 0.05, 0.25, "", "the steps are too long; try a smaller \"step\""},
    {"phase_error", COLUMN(step_drift), -1, -1, 0, 0.1, INFINITY, "", "errors of the steps add up; try a smaller \"step\""},
    {"newton_residual", COLUMN(newton_residual), -1, -1, 0, 1e-4, 1e-1, "",
     "the equations of motion are not solved; try a smaller \"tolerance\" of \"newton\""},
    {"min_jacobian", COLUMN(least_jacobian), COLUMN(least_jacobian_object), COLUMN(least_jacobian_element), 1, 0.6, 0, "",
     "St. Venant-Kirchhoff's law softens under such compression, and elements turn inside out; try smaller loads"},
    {"force_truncation", COLUMN(residual), COLUMN(residual_object), -1, 0, 0.1, 1, "",
     "the basis lacks what the motion needs; try more modes, with --derivatives"},
    {"load_truncation", COLUMN(load_left_out), COLUMN(load_left_out_object), -1, 0, 0.025, INFINITY, "",
     "the basis lacks motions that the loads ask for; try more modes"},
    {"rotation", COLUMN(rotation), COLUMN(rotation_object), -1, 0, 10, 90, " degrees",
     "too much for a linear model; try \"model\": \"stvk\""},
    {"strain", COLUMN(strain), COLUMN(strain_object), -1, 0, 0.05, 1, "", "too much for a linear model; try \"model\": \"stvk\""},
    {"projected", COLUMN(projected), COLUMN(projected_object), -1, 0, 0.05, 0.5, "",
     "the basis cannot do what the motion was; try more modes"},
    {"projected_node", COLUMN(projected_node), -1, -1, 0, 0.05, 0.5, "", "the basis cannot do what some node does; try more modes"},
    {"min_volume_ratio", COLUMN(min_volume_ratio), -1, COLUMN(min_volume_ratio_element), 1, 0.4, 0.05, "",
     "an element is nearly pressed flat; try smaller loads or a finer mesh there"},
    {"max_volume_ratio", COLUMN(max_volume_ratio), -1, COLUMN(max_volume_ratio_element), 0, 3, INFINITY, "",
     "an element is blown up; try loads on more nodes or a finer mesh there"},
    {"bad_elements", COLUMN(bad_elements), -1, -1, 0, 0.2, INFINITY, "", "many elements have lost or gained half of their volume or more"},
    {"hourglass", COLUMN(hourglass), -1, -1, 0, 0.1, INFINITY, "",
     "hourglass control carries part of the load; try more elements through the thickness, or loads on more nodes"},
    {"locking", COLUMN(locking), -1, -1, 0, 0.1, INFINITY, "",
     "linear tetrahedra are much too stiff near nu = 0.5; try \"mean_patches\": true, or hexahedra"},
    {"added_kinetic", COLUMN(added_kinetic), -1, -1, 0, 0.03, 0.5, "", "mass that was added moves; try a smaller step of \"mass_scaling\""},
    {"penetration", COLUMN(penetration), -1, -1, 0, 0.05, 0.3, "", "a rigid body is in the surface between its nodes; try a finer mesh there"},
};

const char *const modal_verdicts[4] = {"not judged", "ok", "suspect", "invalid"};

static modal_verdict verdict_of(const modal_quality_measure *m, double value)
{
    if (isnan(value)) return MODAL_NOT_JUDGED;
    if (m->low) return value >= m->doubtful ? MODAL_SOUND : value > m->wrong ? MODAL_DOUBTFUL : MODAL_WRONG;
    return value <= m->doubtful ? MODAL_SOUND : value <= m->wrong ? MODAL_DOUBTFUL : MODAL_WRONG;
}

/* What is missing of a frame. */
static unsigned missing_of(const modal_quality *row)
{
    const double bits = row->not_judged; /* another sum than of these is not known either */
    return bits >= 0 && bits <= 15 && bits == (double)(unsigned)bits ? (unsigned)bits : MODAL_MISSING_ALL;
}

modal_verdict modal_quality_verdict(const modal_quality *row, int *measure)
{
    double values[MODAL_QUALITY_NUMBERS];
    modal_verdict worst = missing_of(row) ? MODAL_NOT_JUDGED : MODAL_SOUND;
    memcpy(values, row, sizeof values);
    *measure = -1;
    for (int i = 0; i < MODAL_QUALITY_MEASURES; i++) {
        const modal_verdict own = verdict_of(&modal_quality_measures[i], values[modal_quality_measures[i].column]);
        if (own <= worst || own == MODAL_SOUND) continue;
        worst = own;
        *measure = i;
    }
    return worst;
}

void modal_quality_judge(modal_quality_judgement *j, int64_t frame, double time, const modal_quality *row)
{
    const modal_quality none = modal_quality_none();
    if (!row) row = &none;
    double values[MODAL_QUALITY_NUMBERS];
    memcpy(values, row, sizeof values);
    j->missing |= missing_of(row);
    if (j->n_frames++ == 0) j->verdict = MODAL_SOUND;
    if (j->missing && j->verdict == MODAL_SOUND) j->verdict = MODAL_NOT_JUDGED;
    for (int i = 0; i < MODAL_QUALITY_MEASURES; i++) {
        const modal_quality_measure *m = &modal_quality_measures[i];
        modal_quality_finding *f = &j->of[i];
        const double value = values[m->column];
        const modal_verdict own = verdict_of(m, value);
        if (own == MODAL_NOT_JUDGED) continue;
        if (f->verdict == MODAL_NOT_JUDGED || (m->low ? value < f->worst : value > f->worst)) {
            f->worst = value;
            f->frame = frame;
            f->time = time;
            f->object = m->object < 0 || isnan(values[m->object]) ? -1 : (int64_t)values[m->object];
            f->element = m->element < 0 || isnan(values[m->element]) ? -1 : (int64_t)values[m->element];
        }
        if (own > MODAL_SOUND) {
            if (f->n_past++ == 0) f->first = frame;
            f->last = frame;
        }
        if (own > f->verdict) f->verdict = own;
        if (own > MODAL_SOUND && own > j->verdict) j->verdict = own;
    }
}

void modal_quality_text(const modal_quality_judgement *j, int measure, char *text, size_t bytes)
{
    const modal_quality_measure *m = &modal_quality_measures[measure];
    const modal_quality_finding *f = &j->of[measure];
    char where[96] = "";
    if (f->object >= 0 && f->element >= 0)
        snprintf(where, sizeof where, ", element %lld of object %lld", (long long)f->element, (long long)f->object);
    else if (f->element >= 0)
        snprintf(where, sizeof where, ", element %lld", (long long)f->element);
    else if (f->object >= 0)
        snprintf(where, sizeof where, ", object %lld", (long long)f->object);
    int used = snprintf(text, bytes, "%s %.3g%s in frame %lld (%.4g s)%s", m->name, f->worst, m->unit,
                        (long long)f->frame, f->time, where);
    if (f->verdict <= MODAL_SOUND || used < 0 || (size_t)used >= bytes) return;
    const double limit = f->verdict == MODAL_WRONG ? m->wrong : m->doubtful;
    used += snprintf(text + used, bytes - (size_t)used, "; the limit is %g", limit);
    if (f->n_past > 1 && (size_t)used < bytes)
        used += snprintf(text + used, bytes - (size_t)used, ", %lld frames from %lld to %lld are past %g", (long long)f->n_past,
                         (long long)f->first, (long long)f->last, m->doubtful);
    if ((size_t)used < bytes) snprintf(text + used, bytes - (size_t)used, ": %s", m->advice);
}

void modal_quality_missing_text(unsigned missing, char *text, size_t bytes)
{
    static const struct {
        unsigned bit;
        const char *text;
    } all[] = {
        {MODAL_MISSING_LOADS, "what the basis leaves out of the loads was not measured; try a basis of natural modes, or --reduced-forces, of modalpack"},
        {MODAL_MISSING_FORCES, "what the basis leaves out of the elastic forces was not measured; try modalpack --left-out"},
        {MODAL_MISSING_SOLIDS, "how strongly solids are deformed was not measured; try --quality full, and modes at the nodes"},
        {MODAL_MISSING_ENERGIES, "energies were not kept, without which hourglass control, locking and the balance are not judged; try --fields energy"},
        {MODAL_MISSING_ALL, "the file does not say what was measured; try modalsim again"},
    };
    size_t used = 0;
    if (bytes > 0) text[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!(missing & all[i].bit) || used >= bytes) continue;
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", used ? "; " : "", all[i].text);
    }
}
