/* SPDX-License-Identifier: Apache-2.0 */
/* How long a step may be.
 *
 * Both implicit rules lengthen the period of a mode by (h omega)^2 / 12. A mode that rings as strongly as the tree of
 * objects moves at most is to lose 0.002 of a radian in each of its own, 40 steps a period; one that rings less may lose
 * more, in inverse proportion, and one that rings less than a hundredth of that is left alone: so stiff modes
 * that slow loads only bend cost nothing. How strongly a mode rings is estimated from what sets it off: the jumps of the
 * loads and of their slopes, impulses, what it begins with, and sines near its frequency, each mode by itself, with
 * small deformations. The loads themselves get 20 steps in a period of a sine, a sweep's highest frequency, a turn, or
 * the eddies' mean frequency, weighted by their energy. Two bodies that attract each other get 40 steps in a turn around each
 * other where they begin. */
#include <math.h>
#include <string.h>

#include "lib/base/memory.h"
#include "lib/forest/simulate_private.h"
#include "lib/forest/small_motion.h"
#include "lib/scene/loads.h"

static const double TURN = 2 * 3.14159265358979323846;
static const double LOST = 0.002, LEAST = 0.01; /* of a radian; of the largest motion */
/* How near a sine comes to a mode, at most: in resonance; and where the motion is to be at least as large, which resonance only
 * makes it in time. */
static const double RESONANT = 0.02, SURE = 0.5;
enum { LOAD_STEPS = 20 };

/* A factor over time by what it does to oscillators. */
typedef struct shock {
    double jumps, kinks; /* sums of squares of its jumps and of the changes of its slope */
    double area, most;   /* integral and maximum of its size */
    double low, high;    /* frequencies of its sine, Hz; high 0: none */
} shock;

static void add_piece(shock *s, double h, double a, double b, double *value, double *slope)
{
    const double jump = a - *value, kink = (b - a) / h - *slope;
    s->jumps += jump * jump;
    s->kinks += kink * kink;
    s->area += 0.5 * h * (fabs(a) + fabs(b));
    s->most = fmax(s->most, fmax(fabs(a), fabs(b)));
    *value = b;
    *slope = (b - a) / h;
}

/* From t = 0 on; at_rest: it has acted for ever as it does at t = 0. */
static shock shock_of(const modal_curve *c, int at_rest)
{
    shock s = {.jumps = !at_rest, .area = INFINITY, .most = 1};
    const double rate = TURN * c->frequency * cos(c->phase), first = sin(c->phase);
    switch (c->kind) {
    case MODAL_CURVE_PULSE: return (shock){.jumps = INFINITY, .area = 1};
    case MODAL_CURVE_SINE:
        return (shock){at_rest ? 0 : first * first, rate * rate, INFINITY, 1, fabs(c->frequency), fabs(c->frequency)};
    case MODAL_CURVE_SWEEP:
        return (shock){.jumps = first * first, .area = c->end - c->start, .most = 1, .low = fmin(c->from, c->to),
                       .high = fmax(c->from, c->to)};
    case MODAL_CURVE_KEYS: break;
    default: return s;
    }
    s = (shock){0};
    double value = at_rest ? modal_curve_value(c, 0, 0) : 0, slope = 0;
    for (int64_t i = 1; i < c->n_keys; i++) {
        const double from = fmax(c->times[i - 1], 0), to = c->times[i];
        if (!(to > from)) continue;
        add_piece(&s, to - from, modal_curve_value(c, from, 0.5 * (from + to)), c->values[i], &value, &slope);
    }
    s.jumps += value * value;
    s.kinks += slope * slope;
    return s;
}

/* How far an oscillator rings after it, as a part of load / stiffness, where a sine is not nearer to it than `nearest`. */
static double ringing(const shock *s, double omega, double nearest)
{
    double size = fmin(s->area * omega, sqrt(s->jumps + s->kinks / (omega * omega)));
    if (s->high > 0) {
        const double at = fmin(fmax(omega / TURN, s->low), s->high) * TURN, off = fabs(1 - at * at / (omega * omega));
        size = fmax(size, 1 / fmax(off, nearest) * fmin(1, at * at / (omega * omega)));
    }
    return size;
}

/* The modes of one object: how far they ring, and how far they move at most, in q. */
typedef struct motion {
    const modal_shape *shape;
    double *rings, *moves, *sure; /* [n_modes]; the last: how far they are sure to move */
} motion;

static void add_mode(motion *m, int32_t k, double load, const shock *s)
{
    const double stiffness = m->shape->modes.eigenvalues[k];
    if (!(stiffness > 0) || load == 0) return;
    const double omega = sqrt(stiffness), way = fabs(load) / stiffness, rings = ringing(s, omega, RESONANT);
    m->rings[k] += way * rings;
    m->moves[k] += way * fmax(rings, fmin(s->most, s->area * omega));
    m->sure[k] += way * fmax(ringing(s, omega, SURE), fmin(s->most, s->area * omega));
}

/* An acceleration of any direction. */
static void add_push(motion *m, double acceleration, const shock *s)
{
    for (int32_t k = 0; k < m->shape->modes.n_modes; k++) {
        const double *p = m->shape->modes.participation + 3 * (int64_t)k;
        add_mode(m, k, acceleration * hypot(hypot(p[0], p[1]), p[2]) / m->shape->modes.modal_masses[k], s);
    }
}

static double size_of(const double *x) { return hypot(hypot(x[0], x[1]), x[2]); }

/* How far the solid reaches from its origin; where it is not there, its frame does not move. */
static double reach_of(const modal_solid *shape)
{
    double most = 0;
    for (int64_t i = 0; shape->mesh.nodes && i < shape->mesh.n_nodes; i++)
        most = fmax(most, size_of(shape->mesh.nodes + 3 * i));
    return most;
}

static void add_way(const modal_scene_run *r, int32_t root, const double *pose, motion *m)
{
    const modal_scene_object *said = r->said[root];
    const modal_spline *way = &r->splines[root];
    const double reach = reach_of(&m->shape->solid);
    if (said && said->motion == MODAL_SCENE_SPIN) {
        const double arm[3] = {pose[3] - said->centre[0], pose[7] - said->centre[1], pose[11] - said->centre[2]};
        add_push(m, said->rate * said->rate * (size_of(arm) + reach), &(shock){1, 0, INFINITY, 1, 0, 0});
    }
    for (int axis = 0; axis < 7 && way->n > 1; axis++) { /* of quaternions half the angles */
        shock s = {0};
        double value = 0, slope = 0;
        for (int64_t i = 1; i < way->n; i++)
            add_piece(&s, way->times[i] - way->times[i - 1], way->bends[7 * (i - 1) + axis], way->bends[7 * i + axis],
                      &value, &slope);
        s.jumps += value * value;
        s.kinks += slope * slope;
        add_push(m, axis < 3 ? 1 : 2 * reach, &s);
    }
}

static void add_forces(const modal_scene_run *r, int32_t i, motion *m, double *load)
{
    const modal_scene *scene = r->s->scene;
    for (int32_t n = 0; n < scene->n_forces; n++) {
        const modal_scene_force *force = &scene->forces[n];
        const int64_t first = r->force_first[n], end = r->force_first[n + 1];
        if (force->object != i) continue;
        const shock s = shock_of(&force->curve, scene->start_static);
        for (int32_t k = 0; k < m->shape->modes.n_modes; k++) load[m->shape->modes.n_modes + k] = 0;
        for (int64_t v = first; v < end; v++) {
            modal_impulse_jump(m->shape, r->bodies[i].pose, r->points[r->sorted[r->members[v]]].first_vertex,
                               force->vector, load);
            for (int32_t k = 0; k < m->shape->modes.n_modes; k++) load[m->shape->modes.n_modes + k] += load[k] / (double)(end - first);
        }
        for (int32_t k = 0; k < m->shape->modes.n_modes; k++) add_mode(m, k, load[m->shape->modes.n_modes + k], &s);
    }
}

/* The loads on an object. */
static void add_loads(const modal_scene_run *r, int32_t i, int32_t root, double drag, motion *m, double *load)
{
    const modal_scene *scene = r->s->scene;
    const modal_curve always = {.kind = MODAL_CURVE_CONSTANT};
    const shock weight = shock_of(&always, scene->start_static), gust = shock_of(&always, 0);
    if (r->bodies[root].motion != MODAL_STEP_FREE) { /* what falls freely does not feel it */
        add_push(m, size_of(scene->gravity), &weight);
        for (int32_t n = 0; n < scene->n_shakings; n++) {
            const shock s = shock_of(&scene->shakings[n].curve, scene->start_static);
            add_push(m, size_of(scene->shakings[n].acceleration), &s);
        }
    }
    add_way(r, root, r->bodies[i].pose, m);
    const double speed = size_of(scene->wind.velocity) + scene->wind.turbulence;
    if (drag > 0 && m->shape->modes.total_mass > 0) add_push(m, drag * speed * speed / m->shape->modes.total_mass, &gust);
    add_forces(r, i, m, load);
}

/* ---- what loads do to a parent by the objects on it ---- */

/* What hangs on an object, itself included, where it is at rest: mass and first moments in the world; drag and what it is about. */
typedef struct branch {
    int32_t n_objects;
    double mass, first[3], drag, dragged[3];
} branch;

/* The loads of a tree's estimate. */
typedef struct riding {
    const modal_scene_run *run;
    const double *drag;        /* [objects] of each by itself */
    branch *branches;          /* [objects] */
    modal_rigid_field *fields; /* [most modes] scratch */
} riding;

static int32_t above(const modal_scene_run *r, int32_t i)
{
    return r->bodies[i].motion == MODAL_STEP_ATTACHED ? r->s->basis->objects[i].parent : -1;
}

static void add_branches(riding *ride)
{
    const modal_scene_run *r = ride->run;
    const modal_basis *basis = r->s->basis;
    for (int32_t i = 0; i < basis->n_objects; i++) {
        double own[3], first[3];
        const double *pose = basis->objects[i].rest_pose, mass = modal_forest_mass(r->forest, i, own);
        for (int a = 0; a < 3; a++)
            first[a] = pose[4 * a] * own[0] + pose[4 * a + 1] * own[1] + pose[4 * a + 2] * own[2] + mass * pose[4 * a + 3];
        int32_t steps = 0; /* where objects are in a circle the forest has refused them */
        for (int32_t up = i; up >= 0 && steps <= basis->n_objects; up = above(r, up), steps++) {
            branch *b = &ride->branches[up];
            b->n_objects++;
            b->mass += mass;
            b->drag += ride->drag[i];
            for (int a = 0; a < 3; a++) {
                b->first[a] += first[a];
                b->dragged[a] += mass > 0 ? ride->drag[i] * first[a] / mass : 0;
            }
        }
    }
}

static void velocity_at(const modal_rigid_field *field, const double *x, double *v)
{
    for (int a = 0; a < 3; a++) {
        const int b = (a + 1) % 3, c = (a + 2) % 3;
        v[a] = field->go[a] + field->turn[b] * x[c] - field->turn[c] * x[b];
    }
}

static void middle(const double *sums, double total, double *x)
{
    for (int a = 0; a < 3; a++) x[a] = total > 0 ? sums[a] / total : 0;
}

static int is_on(const modal_scene_run *r, int32_t object, int32_t child)
{
    while (object >= 0 && object != child) object = above(r, object);
    return object >= 0;
}

/* The push of `child`, a child of m's object, by what loads it and what hangs on it, as if these were rigid. */
static void add_push_of(const riding *ride, int32_t child, int falls, motion *m)
{
    const modal_scene_run *r = ride->run;
    const modal_scene *scene = r->s->scene;
    const modal_basis *basis = r->s->basis;
    const branch *b = &ride->branches[child];
    const modal_curve always = {.kind = MODAL_CURVE_CONSTANT};
    const shock weight = shock_of(&always, scene->start_static), gust = shock_of(&always, 0);
    const double speed = size_of(scene->wind.velocity) + scene->wind.turbulence;
    double v[3], centre[3], dragged[3];
    middle(b->first, b->mass, centre);
    middle(b->dragged, b->drag, dragged);
    for (int32_t k = 0; k < m->shape->modes.n_modes; k++) {
        const double mass = m->shape->modes.modal_masses[k];
        velocity_at(&ride->fields[k], centre, v);
        add_mode(m, k, falls ? 0 : b->mass * size_of(scene->gravity) * size_of(v) / mass, &weight);
        for (int32_t n = 0; n < scene->n_shakings && !falls; n++) {
            const shock s = shock_of(&scene->shakings[n].curve, scene->start_static);
            add_mode(m, k, b->mass * size_of(scene->shakings[n].acceleration) * size_of(v) / mass, &s);
        }
        velocity_at(&ride->fields[k], dragged, v);
        add_mode(m, k, b->drag * speed * speed * size_of(v) / mass, &gust);
    }
    for (int32_t n = 0; n < scene->n_forces; n++) {
        const modal_scene_force *force = &scene->forces[n];
        const int64_t first = r->force_first[n], end = r->force_first[n + 1];
        if (!is_on(r, force->object, child)) continue;
        const shock s = shock_of(&force->curve, scene->start_static);
        const modal_object *object = &basis->objects[force->object];
        for (int32_t k = 0; k < m->shape->modes.n_modes; k++) {
            double load = 0;
            for (int64_t at = first; at < end; at++) {
                const double *x = basis->shapes[object->shape].surface.rest_positions +
                                  3 * r->points[r->sorted[r->members[at]]].first_vertex, *pose = object->rest_pose;
                double world[3];
                for (int a = 0; a < 3; a++) world[a] = pose[4 * a] * x[0] + pose[4 * a + 1] * x[1] + pose[4 * a + 2] * x[2] + pose[4 * a + 3];
                velocity_at(&ride->fields[k], world, v);
                load += (v[0] * force->vector[0] + v[1] * force->vector[1] + v[2] * force->vector[2]) / (double)(end - first);
            }
            add_mode(m, k, load / m->shape->modes.modal_masses[k], &s);
        }
    }
}

/* The pushes of all that stands on object i. */
static modal_status add_riding(const riding *ride, int32_t i, int falls, motion *m, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *basis = ride->run->s->basis;
    for (int32_t child = 0; child < basis->n_objects; child++) {
        if (above(ride->run, child) != i) continue;
        MODAL_TRY(modal_joint_fields(m->shape, basis->objects[i].rest_pose, &basis->shapes[basis->objects[child].shape],
                                     basis->objects[child].rest_pose, ride->fields, err));
        add_push_of(ride, child, falls, m);
    }
done:
    return status;
}

/* What the scene gives it at t = 0. */
static void add_initial(const modal_scene_run *r, int32_t i, motion *m)
{
    const modal_scene_object *said = r->said[i];
    for (int32_t k = 0; k < m->shape->modes.n_modes; k++) {
        const double q = said && k < said->n_initial ? fabs(said->initial[k]) : 0;
        const double v = said && k < said->n_initial_velocity ? fabs(said->initial_velocity[k]) : 0;
        const double rings = m->shape->modes.eigenvalues[k] > 0 ? hypot(q, v / sqrt(m->shape->modes.eigenvalues[k])) : 0;
        m->rings[k] += rings;
        m->moves[k] += rings;
        m->sure[k] += rings;
    }
}

static void follow(modal_simulation *s, double step, double frequency, int32_t object, int32_t mode, const char *what)
{
    if (step < s->pace.step) s->pace = (modal_scene_pace){step, frequency, object, mode, what};
}

static void follow_load(modal_simulation *s, double frequency, int32_t object, const char *what)
{
    if (frequency > 0) follow(s, 1 / (LOAD_STEPS * frequency), frequency, object, -1, what);
}

static void follow_curve(modal_simulation *s, const modal_curve *c, int exact, int32_t object)
{
    if (c->kind == MODAL_CURVE_SINE && !exact) follow_load(s, fabs(c->frequency), object, "a sine");
    if (c->kind == MODAL_CURVE_SWEEP) follow_load(s, fmax(fabs(c->from), fabs(c->to)), object, "a sweep");
}

static void follow_loads(modal_scene_run *r, int implicit)
{
    modal_simulation *s = r->s;
    const modal_scene *scene = s->scene;
    for (int32_t i = 0; i < scene->n_forces; i++)
        follow_curve(s, &scene->forces[i].curve, r->bodies[scene->forces[i].object].exact, scene->forces[i].object);
    for (int32_t i = 0; i < scene->n_shakings; i++) follow_curve(s, &scene->shakings[i].curve, !implicit, -1);
    for (int32_t i = 0; i < s->basis->n_objects; i++)
        if (r->said[i] && r->said[i]->motion == MODAL_SCENE_SPIN)
            follow_load(s, fabs(r->said[i]->rate) / TURN, i, "a turn");
    const double turn = modal_attraction_frequency(&r->attraction, s->basis, r->bodies); /* rings as much as it moves */
    if (turn > 0) follow(s, sqrt(12 * LOST) / (TURN * turn), turn, -1, -1, "a turn by attraction");
    double energy = 0, sum = 0;
    for (int32_t i = 0; i < r->air.n_waves && implicit; i++) {
        const double *a = r->air.amplitude[i], own = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
        energy += own;
        sum += own * fabs(r->air.frequency[i]) / TURN;
    }
    if (energy > 0) follow_load(s, sum / energy, -1, "eddies");
}

static int32_t root_of(const modal_scene_run *r, int32_t i)
{
    const modal_basis *basis = r->s->basis;
    for (int32_t up = 0; up < basis->n_objects && r->bodies[i].motion == MODAL_STEP_ATTACHED; up++)
        if (basis->objects[i].parent >= 0) i = basis->objects[i].parent;
    return i;
}

/* Adds the square of how far loads are sure to move the modes of a shape, kg m^2, and twice the energy of that, J.
 * numbers [5 modes]: scratch. */
static modal_status sure_square(const riding *ride, int32_t i, int initial, const modal_shape *shape, double *numbers, double square[2],
                                modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_scene_run *r = ride->run;
    const int32_t n = shape->modes.n_modes, root = root_of(r, i);
    motion m = {shape, numbers, numbers + n, numbers + 2 * (int64_t)n};
    memset(numbers, 0, 5 * (size_t)n * sizeof *numbers);
    add_loads(r, i, root, ride->drag[i], &m, numbers + 3 * (int64_t)n);
    if (ride->branches[i].n_objects > 1) MODAL_TRY(add_riding(ride, i, r->bodies[root].motion == MODAL_STEP_FREE, &m, err));
    if (initial) add_initial(r, i, &m);
    for (int32_t k = 0; k < n; k++) {
        const double own = shape->modes.modal_masses[k] * m.sure[k] * m.sure[k];
        square[0] += own;
        square[1] += shape->modes.eigenvalues[k] * own;
    }
done:
    return status;
}

static double part_of(double left, double kept) { return left > 0 ? sqrt(left / (kept + left)) : 0; }

/* Pushes through joints cost a look at all vertices of a parent for each child: not in forests. */
static int is_small(const modal_scene_run *r)
{
    enum { MOST_CHILDREN = 1000 };
    int64_t n = 0;
    for (int32_t i = 0; i < r->s->basis->n_objects; i++) n += above(r, i) >= 0;
    return n <= MOST_CHILDREN;
}

/* What is kept and left out of each object's loads, by how far these move it. */
typedef struct estimate {
    riding ride;
    double *kept, *left, *own; /* [objects, 2] norms of the mass and of the energy; of roots, of roots, of each object */
    double *alone;             /* [objects] the part of objects that are trees by themselves, -1: others */
    double *drag, *numbers, *ones;
    uint8_t *has_children;     /* [objects] */
} estimate;

static modal_status make_estimate(estimate *e, const modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *basis = r->s->basis;
    const int32_t n = basis->n_objects;
    int32_t most = 1;
    for (int32_t i = 0; i < basis->n_shapes; i++) {
        const modal_modes *modes = &basis->shapes[i].modes;
        if (modes->n_modes > most) most = modes->n_modes;
        if (modes->left_out.n_slow > most) most = modes->left_out.n_slow;
    }
    MODAL_TRY(modal_alloc_zero(&e->kept, 2 * (int64_t)n, sizeof *e->kept, "loads", err));
    MODAL_TRY(modal_alloc_zero(&e->left, 2 * (int64_t)n, sizeof *e->left, "loads", err));
    MODAL_TRY(modal_alloc_zero(&e->own, 2 * (int64_t)n, sizeof *e->own, "loads", err));
    MODAL_TRY(modal_alloc(&e->alone, n, sizeof *e->alone, "loads", err));
    MODAL_TRY(modal_alloc_zero(&e->drag, n, sizeof *e->drag, "loads", err));
    MODAL_TRY(modal_alloc_zero(&e->has_children, n, 1, "loads", err));
    MODAL_TRY(modal_alloc(&e->numbers, 5 * (int64_t)most, sizeof *e->numbers, "loads", err));
    MODAL_TRY(modal_alloc(&e->ones, most, sizeof *e->ones, "loads", err));
    MODAL_TRY(modal_alloc_zero(&e->ride.branches, n, sizeof *e->ride.branches, "loads", err));
    MODAL_TRY(modal_alloc(&e->ride.fields, most, sizeof *e->ride.fields, "loads", err));
    for (int32_t k = 0; k < most; k++) e->ones[k] = 1;
    for (int64_t i = 0; i < r->n_points; i++) e->drag[r->points[i].object] += r->points[i].drag;
    for (int32_t i = 0; i < n; i++) {
        e->alone[i] = -1;
        if (above(r, i) >= 0) e->has_children[above(r, i)] = 1;
    }
    e->ride.run = r;
    e->ride.drag = e->drag;
    if (is_small(r)) add_branches(&e->ride); /* else there is nothing on anything */
done:
    return status;
}

static void free_estimate(estimate *e)
{
    void *arrays[] = {&e->kept, &e->left, &e->own, &e->alone, &e->drag, &e->has_children, &e->numbers, &e->ones, &e->ride.branches,
                      &e->ride.fields};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
}

/* Objects by themselves are moved by their loads (simulate_alone.c). Trees of several objects are estimated by how far loads move what is
 * kept and what is left out, by the norms of the mass and of the energy: an object's modes carry what stands on it, and are faster without
 * the motions that are left out by half the square of that part (the inertia of children pushes as their weight does), so that the
 * tree runs ahead. */
modal_status modal_scene_run_left_out(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    const modal_basis *basis = r->s->basis;
    const int32_t n = basis->n_objects;
    estimate e = {0};
    MODAL_TRY(make_estimate(&e, r, err));
    for (int32_t i = 0; i < n; i++) {
        const modal_shape *shape = &basis->shapes[basis->objects[i].shape];
        const modal_shape slow = modal_slow_shape(shape, e.ones);
        const int32_t root = root_of(r, i);
        if (shape->modes.n_modes > 0 && !shape->modes.left_out.slow_eigenvalues) r->loads_unknown = 1;
        if (modal_scene_run_is_alone(r, i, e.has_children[i])) {
            e.alone[i] = 0;
            if (slow.modes.n_modes > 0) MODAL_TRY(modal_scene_run_left_alone(r, i, &slow, &e.alone[i], err));
            r->loads_unknown |= isnan(e.alone[i]);
            continue;
        }
        MODAL_TRY(sure_square(&e.ride, i, 1, shape, e.numbers, &e.kept[2 * root], err));
        if (slow.modes.n_modes > 0) MODAL_TRY(sure_square(&e.ride, i, 0, &slow, e.numbers, &e.own[2 * i], err));
        for (int k = 0; k < 2; k++) e.left[2 * root + k] += e.own[2 * i + k];
    }
    for (int32_t i = 0; i < n; i++) {
        double part = e.alone[i] >= 0 || isnan(e.alone[i]) ? e.alone[i] : part_of(e.left[2 * i], e.kept[2 * i]);
        if (e.ride.branches[i].n_objects > 1) part = fmax(part, part_of(e.left[2 * i + 1], e.kept[2 * i + 1]));
        if (root_of(r, i) != i || isnan(part) || part < r->load_left_out) continue; /* NaN is less than nothing */
        r->load_left_out = part;
        r->load_left_out_object = i;
    }
    for (int32_t i = 0, root = r->load_left_out_object; i < n; i++)
        if (root_of(r, i) == root && e.own[2 * i] > e.own[2 * r->load_left_out_object]) r->load_left_out_object = i;
done:
    free_estimate(&e);
    return status;
}

modal_status modal_scene_run_pace(modal_scene_run *r, modal_error *err)
{
    modal_status status = MODAL_OK;
    modal_simulation *s = r->s;
    const modal_basis *basis = s->basis;
    const int32_t n = basis->n_objects;
    int64_t *at = NULL, total;
    int32_t *root = NULL;
    int implicit = 0;
    double *rings = NULL, *moves = NULL, *sure = NULL, *load = NULL, *drag = NULL, *most = NULL;
    s->pace = (modal_scene_pace){.step = INFINITY, .object = -1, .mode = -1};
    MODAL_TRY(modal_alloc_zero(&r->least_moved, n, sizeof(double), "choice of a step", err));
    MODAL_TRY(modal_alloc_zero(&r->least_energy, n, sizeof(double), "choice of a step", err));
    MODAL_TRY(modal_alloc(&at, (int64_t)n + 1, sizeof *at, "choice of a step", err));
    total = modal_basis_mode_offsets(basis, at);
    MODAL_TRY(modal_alloc(&root, n, sizeof *root, "choice of a step", err));
    MODAL_TRY(modal_alloc_zero(&rings, total, sizeof(double), "choice of a step", err));
    MODAL_TRY(modal_alloc_zero(&moves, total, sizeof(double), "choice of a step", err));
    MODAL_TRY(modal_alloc_zero(&sure, total, sizeof(double), "choice of a step", err));
    MODAL_TRY(modal_alloc_zero(&load, 2 * total, sizeof(double), "choice of a step", err));
    MODAL_TRY(modal_alloc_zero(&drag, n, sizeof(double), "choice of a step", err));
    MODAL_TRY(modal_alloc_zero(&most, n, sizeof(double), "choice of a step", err)); /* of each root's tree, m */
    for (int64_t i = 0; i < r->n_points; i++) drag[r->points[i].object] += r->points[i].drag;
    for (int32_t i = 0; i < n; i++) {
        const modal_shape *shape = &basis->shapes[basis->objects[i].shape];
        if (r->bodies[i].exact) continue;
        implicit = 1;
        root[i] = root_of(r, i);
        motion m = {shape, rings + at[i], moves + at[i], sure + at[i]};
        add_loads(r, i, root[i], drag[i], &m, load);
        add_initial(r, i, &m);
        for (int32_t k = 0; k < shape->modes.n_modes; k++) {
            const double square = shape->modes.modal_masses[k] * m.sure[k] * m.sure[k];
            r->least_moved[root[i]] += square;
            r->least_energy[root[i]] += 0.5 * shape->modes.eigenvalues[k] * square;
        }
        for (int32_t k = 0; k < shape->modes.n_modes; k++) { /* from here on of the mean displacement, m */
            const double scale = shape->modes.total_mass > 0 ? sqrt(shape->modes.modal_masses[k] / shape->modes.total_mass) : 1;
            m.rings[k] *= scale;
            m.moves[k] *= scale;
            most[root[i]] = fmax(most[root[i]], m.moves[k]);
        }
    }
    for (int32_t i = 0; i < n; i++) {
        const modal_shape *shape = &basis->shapes[basis->objects[i].shape];
        const modal_body *body = &r->bodies[i];
        for (int32_t k = 0; k < shape->modes.n_modes && !body->exact; k++) {
            const double omega = sqrt(shape->modes.eigenvalues[k]);
            const double ratio = 0.5 * (body->alpha / omega + body->beta * omega) + body->ratio;
            const double share = rings[at[i] + k] / most[root[i]] * fmin(1, 0.37 / ratio); /* what is damped loses less */
            if (omega > 0 && share > LEAST) follow(s, sqrt(12 * LOST / share) / omega, omega / TURN, i, k, "mode");
        }
    }
    follow_loads(r, implicit);
done:;
    void *arrays[] = {&at, &root, &rings, &moves, &sure, &load, &drag, &most};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) modal_free(arrays[i]);
    return status;
}
