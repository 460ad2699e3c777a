// SPDX-License-Identifier: Apache-2.0
// A node's step: from its force to its new displacement, the same in every kernel that moves nodes.
#ifndef MODAL_KERNELS_TLED_NODES_CUH
#define MODAL_KERNELS_TLED_NODES_CUH

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
    R keep, gain;
    int64_t first;            // n of the task's first step
    int32_t number;           // of the state whose forces are computed, from `first` on
    Stop *stop;
    modal_tled_watch *watch;
    R *viscous;
    double *touches;          // the task's, where this step's are wanted, or NULL
    double factor;            // gain in double, for touches
};

// u and d of a node. In float32 the three compensations (u + low is the sum without rounding) lie in the fourth words, with 12
// bits of each number behind the leading one: x in u.w, y in d.w, and z in the low 11 bits of both.
template <class R> struct Motion {
    Vector4<R> u, d;
};

struct Low {
    float x, y, z;
};

__device__ __forceinline__ Low unpack(const Motion<float> &m)
{
    const uint32_t a = __float_as_uint(m.u.w), b = __float_as_uint(m.d.w);
    return {__uint_as_float(a & 0xfffff800u), __uint_as_float(b & 0xfffff800u),
            __uint_as_float(a << 21 | (b & 0x7ffu) << 10)};
}

__device__ __forceinline__ void pack(Motion<float> &m, Low low)
{
    const uint32_t z = __float_as_uint(low.z);
    m.u.w = __uint_as_float((__float_as_uint(low.x) & 0xfffff800u) | z >> 21);
    m.d.w = __uint_as_float((__float_as_uint(low.y) & 0xfffff800u) | (z >> 10 & 0x7ffu));
}

// u + low + d as u and low (W. Kahan, Further remarks on reducing truncation errors, 1965).
__device__ __forceinline__ void add(float &u, float &low, float d)
{
    const float way = __fadd_rn(low, d), next = __fadd_rn(u, way);
    low = __fsub_rn(way, __fsub_rn(next, u));
    u = next;
}

__device__ __forceinline__ void advance(Motion<float> &m)
{
    Low low = unpack(m);
    add(m.u.x, low.x, m.d.x);
    add(m.u.y, low.y, m.d.y);
    add(m.u.z, low.z, m.d.z);
    pack(m, low);
}

__device__ __forceinline__ void advance(Motion<double> &m)
{
    m.u.x += m.d.x;
    m.u.y += m.d.y;
    m.u.z += m.d.z;
}

// A component that goes where it is told.
__device__ __forceinline__ void place(float &u, float &low, float &d, double to)
{
    d = (float)(to - ((double)u + low));
    u = (float)to;
    low = (float)(to - u);
}

__device__ __forceinline__ void place_held(Motion<float> &m, const Motion<float> &old, const int held[3], const double to[3])
{
    Low low = unpack(m), was = unpack(old);
    Vector4<float> u = old.u;
    if (held[0]) low.x = was.x, place(u.x, low.x, m.d.x, to[0]), m.u.x = u.x;
    if (held[1]) low.y = was.y, place(u.y, low.y, m.d.y, to[1]), m.u.y = u.y;
    if (held[2]) low.z = was.z, place(u.z, low.z, m.d.z, to[2]), m.u.z = u.z;
    pack(m, low);
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
};

template <class R> __device__ __forceinline__ Now<R> now_of(const Step<R> &s, int n_signals, int k)
{
    Now<R> now = {{0, 0, 0}, s.signals + (int64_t)k * n_signals};
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
    const Low low = unpack(m);
    at[0] = (double)m.u.x + low.x, at[1] = (double)m.u.y + low.y, at[2] = (double)m.u.z + low.z;
}

__device__ __forceinline__ void position(const Motion<double> &m, double at[3]) { at[0] = m.u.x, at[1] = m.u.y, at[2] = m.u.z; }

// As modal_tled_put_out.
static __device__ __noinline__ bool put_out(const modal_tled_contact &contact, const double *at, double x[3])
{
    double way[3], part = 0, square = 0;
    for (int i = 0; i < 3; i++) way[i] = x[i] - at[i];
    if (contact.kind == MODAL_TLED_PLANE) {
        const double depth = way[0] * contact.normal[0] + way[1] * contact.normal[1] + way[2] * contact.normal[2];
        if (!(depth < 0)) return false;
        for (int i = 0; i < 3; i++) x[i] -= depth * contact.normal[i];
        return true;
    }
    if (contact.kind == MODAL_TLED_CAPSULE) {
        double axis[3], length = 0;
        for (int i = 0; i < 3; i++) axis[i] = at[3 + i] - at[i], length += axis[i] * axis[i], part += axis[i] * way[i];
        part = length > 0 ? part / length : 0;
        part = part < 0 ? 0 : part > 1 ? 1 : part;
        for (int i = 0; i < 3; i++) way[i] -= part * axis[i];
    }
    for (int i = 0; i < 3; i++) square += way[i] * way[i];
    const double distance = sqrt(square);
    if (!(distance < contact.radius) || !(distance > 0)) return false;
    for (int i = 0; i < 3; i++) x[i] += (contact.radius / distance - 1) * way[i];
    return true;
}

// Bodies that a node which has moved to m is in put it out; old: where it was.
template <class R>
__device__ __noinline__ void touch(const Tables<R> &t, const Step<R> &s, const double *signals, const Special &p, double mass,
                                   const Motion<R> &old, Motion<R> &m)
{
    double x[3];
    bool moved = false;
    position(m, x);
    for (int c = 0; c < 3; c++) x[c] += p.rest[c];
    for (int k = 0; k < t.n_contacts; k++) {
        const double was[3] = {x[0], x[1], x[2]};
        const modal_tled_contact contact = t.contacts[k];
        const bool in = p.held < 0 && (p.mask >> k & 1) && put_out(contact, signals + t.n_signals + contact.signal, x);
        moved |= in;
        for (int c = 0; s.touches && c < 3; c++)
            s.touches[3 * (k * t.n_touching + p.touching) + c] = in ? mass * (x[c] - was[c]) / s.factor : 0;
    }
    if (!moved) return;
    const int held[3] = {1, 1, 1};
    for (int c = 0; c < 3; c++) x[c] -= p.rest[c];
    place_held(m, old, held, x);
}

// old.d holds what is new but for the loads.
template <class R>
__device__ __noinline__ void move_special(const Tables<R> &t, const Step<R> &s, const double *signals, int node, R weight,
                                          const Motion<R> &old, Motion<R> &m)
{
    const Double3 load = loads_on(t, s.from, signals, node);
    const Special &p = t.specials[t.specials_of[node]];
    int held[3];
    double to[3];
    m = old;
    m.d.x += (R)(weight * load.at[0]);
    m.d.y += (R)(weight * load.at[1]);
    m.d.z += (R)(weight * load.at[2]);
    advance(m);
    held_at(t, signals, p.held, held, to);
    place_held(m, old, held, to);
    if (p.touching >= 0) touch(t, s, signals, p, t.mass[node], old, m);
}

// d without loads on the node itself.
template <class R>
__device__ __forceinline__ void push(const Tables<R> &t, const Step<R> &s, const Now<R> &now, int node, R weight, Vector3<R> force,
                                     Motion<R> &m)
{
    const R falls = t.falls ? t.falls[node] : (R)1;
    if (s.keep == 0) m.d.x = m.d.y = m.d.z = 0; // whatever was there
    m.d.x = s.keep * m.d.x + falls * now.fall.x - weight * force.x;
    m.d.y = s.keep * m.d.y + falls * now.fall.y - weight * force.y;
    m.d.z = s.keep * m.d.z + falls * now.fall.z - weight * force.z;
}

// The step of a node that is not special, on which the elements' force is `force`; rest.w as in Tables.
template <class R>
__device__ __forceinline__ Motion<R> move_plain(const Tables<R> &t, const Step<R> &s, const Now<R> &now, int node, R rest_w,
                                                Motion<R> m, Vector3<R> force)
{
    push(t, s, now, node, s.gain * rest_w, force, m);
    if (rest_w == 0) {
        const Motion<R> old = m;
        const int held[3] = {1, 1, 1};
        const double to[3] = {0, 0, 0};
        place_held(m, old, held, to);
    } else {
        advance(m);
    }
    return m;
}

// The step of any node.
template <class R>
__device__ __forceinline__ Motion<R> move(const Tables<R> &t, const Step<R> &s, const Now<R> &now, int node, R rest_w, Motion<R> m,
                                          Vector3<R> force)
{
    if (!(rest_w < 0)) return move_plain(t, s, now, node, rest_w, m, force);
    push(t, s, now, node, -s.gain * rest_w, force, m);
    const Motion<R> in = m; // m itself stays in registers
    Motion<R> out;
    move_special(t, s, now.signals, node, -s.gain * rest_w, in, out);
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
