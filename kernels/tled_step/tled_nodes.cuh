// SPDX-License-Identifier: Apache-2.0
// A node's step: from its force to its new displacement, the same in every kernel that moves nodes.
#ifndef MODAL_KERNELS_TLED_NODES_CUH
#define MODAL_KERNELS_TLED_NODES_CUH

#include "kernels/tled_step/tled_bodies.h"
#include "kernels/tled_step/tled_low.h"
#include "kernels/tled_step/tled_stress.cuh"

namespace modal_tled {

// What a step is made of; the rest is in Tables.
template <class R> struct Step {
    const Vector4<R> *from; // [n_nodes, 2] u, d at its start
    Vector4<R> *to;         // ... and its end, another array
    const Vector4<R> *forces; // partial sums at its start
    Vector4<R> *next_forces;  // ... and its end
    const double *gravity;    // [3] or NULL; then those of the next step, and so on
    const double *signals;    // [2, n_signals] at its start and its end; the next step's start at the second row
    R keep, lose, gain;       // lose: 1 - keep
    int64_t first;            // n of the task's first step
    int64_t step;             // n of the launch's first step
    int32_t number;           // of the state whose forces are computed, from `first` on
    int gives_marks, waits_for_marks; // each patch, when it is done; for those of the launch before, instead of all of it
    uint32_t mark;            // this launch's, one more than that of the one before
    int parity;               // which of a piece's partial sums next_forces are
    Stop *stop;
    modal_tled_watch *watch;
    R *viscous;
    double *touches;          // the task's, where this step's are wanted, or NULL
    double factor;            // gain in double, for touches
};

// u and d of a node. In float32 what both have lost (tled_low.h) lies in the fourth words.
template <class R> struct Motion {
    Vector4<R> u, d;
};

__device__ __forceinline__ modal_tled_low unpack(const Motion<float> &m)
{
    const float u[3] = {m.u.x, m.u.y, m.u.z}, d[3] = {m.d.x, m.d.y, m.d.z};
    const uint32_t words[2] = {__float_as_uint(m.u.w), __float_as_uint(m.d.w)};
    modal_tled_low low;
    modal_tled_low_unpack(words, u, d, &low);
    return low;
}

__device__ __forceinline__ void pack(Motion<float> &m, const modal_tled_low &low, float more)
{
    const float u[3] = {m.u.x, m.u.y, m.u.z}, d[3] = {m.d.x, m.d.y, m.d.z};
    uint32_t words[2];
    modal_tled_low_pack(&low, u, d, more, words);
    m.u.w = __uint_as_float(words[0]);
    m.d.w = __uint_as_float(words[1]);
}

// x + low + more as x and low (W. Kahan, Further remarks on reducing truncation errors, 1965).
__device__ __forceinline__ void add(float &x, float &low, float more)
{
    const float way = __fadd_rn(low, more), next = __fadd_rn(x, way);
    low = __fsub_rn(way, __fsub_rn(next, x));
    x = next;
}

// keep (d + low) + push as d and low.
__device__ __forceinline__ void push_on(const Step<float> &s, float &d, float &low, float push)
{
    const float more = s.keep * low + (push - s.lose * d);
    low = 0;
    add(d, low, more);
}

// d <- keep d + push, u <- u + d, with what both lose beside them, not rounded yet.
__device__ __forceinline__ void advance(const Step<float> &s, Vector3<float> push, Motion<float> &m, modal_tled_low &low)
{
    if (s.keep == 0) { // whatever was there
        m.d.x = m.d.y = m.d.z = 0;
        low.d[0] = low.d[1] = low.d[2] = 0;
    }
    push_on(s, m.d.x, low.d[0], push.x);
    push_on(s, m.d.y, low.d[1], push.y);
    push_on(s, m.d.z, low.d[2], push.z);
    add(m.u.x, low.u[0], m.d.x);
    add(m.u.y, low.u[1], m.d.y);
    add(m.u.z, low.u[2], m.d.z);
}

__device__ __forceinline__ void advance(const Step<float> &s, float more, Vector3<float> push, Motion<float> &m)
{
    modal_tled_low low = unpack(m);
    advance(s, push, m, low);
    pack(m, low, more);
}

__device__ __forceinline__ void advance(const Step<double> &s, float, Vector3<double> push, Motion<double> &m)
{
    if (s.keep == 0) m.d.x = m.d.y = m.d.z = 0; // whatever was there
    m.d.x = s.keep * m.d.x + push.x;
    m.d.y = s.keep * m.d.y + push.y;
    m.d.z = s.keep * m.d.z + push.z;
    m.u.x += m.d.x;
    m.u.y += m.d.y;
    m.u.z += m.d.z;
}

// A component that goes where it is told from where it was, old + old_low.
__device__ __forceinline__ void place(float old, float old_low, double to, float &u, float &low, float &d, float &d_low)
{
    const double way = to - ((double)old + old_low);
    d = (float)way;
    d_low = (float)(way - d);
    u = (float)to;
    low = (float)(to - u);
}

__device__ __forceinline__ void place_held(Motion<float> &m, const Motion<float> &old, const int held[3], const double to[3])
{
    modal_tled_low low = unpack(m);
    const modal_tled_low was = unpack(old);
    if (held[0]) place(old.u.x, was.u[0], to[0], m.u.x, low.u[0], m.d.x, low.d[0]);
    if (held[1]) place(old.u.y, was.u[1], to[1], m.u.y, low.u[1], m.d.y, low.d[1]);
    if (held[2]) place(old.u.z, was.u[2], to[2], m.u.z, low.u[2], m.d.z, low.d[2]);
    pack(m, low, 0);
}

__device__ __forceinline__ void place_held(Motion<double> &m, const Motion<double> &old, const int held[3],
                                           const double to[3])
{
    if (held[0]) m.u.x = to[0], m.d.x = to[0] - old.u.x;
    if (held[1]) m.u.y = to[1], m.d.y = to[1] - old.u.y;
    if (held[2]) m.u.z = to[2], m.d.z = to[2] - old.u.z;
}

struct Double3 {
    double at[3];
};

// What a step's own time gives.
template <class R> struct Now {
    Vector3<R> fall;       // displacement by gravity
    const double *signals; // as in Step
    float more;            // modal_tled_low_shift
};

template <class R> __device__ __forceinline__ Now<R> now_of(const Step<R> &s, int n_signals, int k)
{
    Now<R> now = {{0, 0, 0}, s.signals + (int64_t)k * n_signals, modal_tled_low_shift(s.step + k)};
    if (s.gravity) {
        const double *g = s.gravity + 3 * (int64_t)k;
        now.fall = {s.gain * (R)g[0], s.gain * (R)g[1], s.gain * (R)g[2]};
    }
    return now;
}

// The force of a following pressure on corner `corner` of a face (modal_tled_face_force, one corner of it).
template <class R>
__device__ __noinline__ Double3 face_force(const Tables<R> &t, const Vector4<R> *state, const double *signals, int face,
                                           int corner)
{
    const int4 f = t.faces[face];
    const int node[4] = {f.x, f.y, f.z, f.w};
    const int n = f.w < 0 ? 3 : 4;
    const double sign[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    const double pressure = t.face_pressures[face] * signals[t.face_signals[face]];
    double x[4][3];
    Double3 force = {{0, 0, 0}};
    for (int a = 0; a < n; a++) {
        const Vector4<R> r = t.rest[node[a]], u = state[2 * (int64_t)node[a]];
        x[a][0] = (double)r.x + u.x, x[a][1] = (double)r.y + u.y, x[a][2] = (double)r.z + u.z;
    }
    for (int k = 0; k < (n == 3 ? 1 : 4); k++) {
        double one[3] = {0, 0, 0}, two[3] = {0, 0, 0}, weight = pressure / 6;
        if (n == 3) {
            for (int i = 0; i < 3; i++) one[i] = x[1][i] - x[0][i], two[i] = x[2][i] - x[0][i];
        } else {
            const double p = sign[k][0] / sqrt(3.0), q = sign[k][1] / sqrt(3.0);
            weight = pressure * (1 + sign[corner][0] * p) * (1 + sign[corner][1] * q) / 4;
            for (int a = 0; a < 4; a++)
                for (int i = 0; i < 3; i++) {
                    one[i] += sign[a][0] * (1 + sign[a][1] * q) / 4 * x[a][i];
                    two[i] += sign[a][1] * (1 + sign[a][0] * p) / 4 * x[a][i];
                }
        }
        for (int i = 0; i < 3; i++)
            force.at[i] -= weight * (one[(i + 1) % 3] * two[(i + 2) % 3] - one[(i + 2) % 3] * two[(i + 1) % 3]);
    }
    return force;
}

// Loads and pressures on a special node, N.
template <class R>
__device__ __noinline__ Double3 loads_on(const Tables<R> &t, const Vector4<R> *state, const double *signals, int node)
{
    const Special p = t.specials[t.specials_of[node]];
    Double3 sum = {{0, 0, 0}};
    for (int e = p.first_load; e < p.end_load; e++)
        for (int i = 0; i < 3; i++)
            sum.at[i] += signals[t.load_signals[e]] * t.load_vectors[3 * (int64_t)e + i];
    for (int f = p.first_face; f < p.end_face; f++) {
        const int2 c = t.face_corners[f];
        const Double3 force = face_force(t, state, signals, c.x, c.y);
        for (int i = 0; i < 3; i++) sum.at[i] += force.at[i];
    }
    return sum;
}

// Where the prescribed components of row `held` are at the step's end; held[c]: whether component c is one.
template <class R>
__device__ __forceinline__ void held_at(const Tables<R> &t, const double *signals, int row, int held[3], double to[3])
{
    for (int c = 0; c < 3; c++) {
        const int signal = row < 0 ? (int)MODAL_TLED_FREE : t.held_signals[3 * (int64_t)row + c];
        held[c] = signal != MODAL_TLED_FREE;
        to[c] = signal >= 0 ? t.held_values[3 * (int64_t)row + c] * signals[t.n_signals + signal] : 0;
    }
}

__device__ __forceinline__ void position(const Motion<float> &m, double at[3])
{
    const modal_tled_low low = unpack(m);
    at[0] = (double)m.u.x + low.u[0], at[1] = (double)m.u.y + low.u[1], at[2] = (double)m.u.z + low.u[2];
}

__device__ __forceinline__ void position(const Motion<double> &m, double at[3]) { at[0] = m.u.x, at[1] = m.u.y, at[2] = m.u.z; }

static __device__ __noinline__ bool put_out(const modal_tled_contact &contact, const double *before, const double *at, const double from[3],
                                            double x[3])
{
    return modal_tled_out_of(&contact, before, at, from, x);
}

// Bodies that a node which has moved to m is in put it out; old: where it was.
template <class R>
__device__ __noinline__ void touch(const Tables<R> &t, const Step<R> &s, const double *signals, const Special &p, double mass,
                                   const Motion<R> &old, Motion<R> &m)
{
    double x[3], from[3];
    bool moved = false;
    position(m, x);
    position(old, from);
    for (int c = 0; c < 3; c++) x[c] += p.rest[c], from[c] += p.rest[c];
    for (int k = 0; k < t.n_contacts; k++) {
        const double was[3] = {x[0], x[1], x[2]};
        const modal_tled_contact contact = t.contacts[k];
        const double *const at = signals + contact.signal;
        const bool in = p.held < 0 && (p.mask >> k & 1) && put_out(contact, at, at + t.n_signals, from, x);
        moved |= in;
        for (int c = 0; s.touches && c < 3; c++)
            s.touches[3 * (k * t.n_touching + p.touching) + c] = in ? mass * (x[c] - was[c]) / s.factor : 0;
    }
    if (!moved) return;
    const int held[3] = {1, 1, 1};
    for (int c = 0; c < 3; c++) x[c] -= p.rest[c];
    place_held(m, old, held, x);
}

// push: without the loads on the node itself.
template <class R>
__device__ __noinline__ void move_special(const Tables<R> &t, const Step<R> &s, const Now<R> &now, int node, R weight,
                                          Vector3<R> push, const Motion<R> &old, Motion<R> &m)
{
    const Double3 load = loads_on(t, s.from, now.signals, node);
    const Special &p = t.specials[t.specials_of[node]];
    int held[3];
    double to[3];
    m = old;
    push.x += (R)(weight * load.at[0]);
    push.y += (R)(weight * load.at[1]);
    push.z += (R)(weight * load.at[2]);
    advance(s, now.more, push, m);
    held_at(t, now.signals, p.held, held, to);
    place_held(m, old, held, to);
    if (p.touching >= 0) touch(t, s, now.signals, p, t.mass[node], old, m);
}

// What gravity and elements add to d.
template <class R>
__device__ __forceinline__ Vector3<R> push_of(const Tables<R> &t, const Now<R> &now, int node, R weight, Vector3<R> force)
{
    const R falls = t.falls ? t.falls[node] : (R)1;
    return {falls * now.fall.x - weight * force.x, falls * now.fall.y - weight * force.y, falls * now.fall.z - weight * force.z};
}

// The step of a node that is not special, on which the elements' force is `force`; rest.w as in Tables.
template <class R>
__device__ __forceinline__ Motion<R> move_plain(const Tables<R> &t, const Step<R> &s, const Now<R> &now, int node, R rest_w,
                                                Motion<R> m, Vector3<R> force)
{
    if (rest_w == 0) {
        const Motion<R> old = m;
        const int held[3] = {1, 1, 1};
        const double to[3] = {0, 0, 0};
        place_held(m, old, held, to);
    } else {
        advance(s, now.more, push_of(t, now, node, s.gain * rest_w, force), m);
    }
    return m;
}

// The step of any node.
template <class R>
__device__ __forceinline__ Motion<R> move(const Tables<R> &t, const Step<R> &s, const Now<R> &now, int node, R rest_w, Motion<R> m,
                                          Vector3<R> force)
{
    if (!(rest_w < 0)) return move_plain(t, s, now, node, rest_w, m, force);
    const Motion<R> in = m; // m itself stays in registers
    Motion<R> out;
    move_special(t, s, now, node, -s.gain * rest_w, push_of(t, now, node, -s.gain * rest_w, force), in, out);
    return out;
}

// A node's force: its partial sums in order.
template <class R> __device__ __forceinline__ Vector3<R> node_force(const Vector4<R> *sums, int n)
{
    Vector3<R> f = vector(sums[0]);
    if (n > 1) { // up to four at once: the loads do not wait for one another
        const Vector3<R> a = vector(sums[1]), b = vector(sums[n > 2 ? 2 : 1]), c = vector(sums[n > 3 ? 3 : 1]);
        f = f + a;
        if (n > 2) f = f + b;
        if (n > 3) f = f + c;
        for (int k = 4; k < n; k++) f = f + vector(sums[k]);
    }
    return f;
}

} // namespace modal_tled

#endif
