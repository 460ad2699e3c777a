// SPDX-License-Identifier: Apache-2.0
// Forces of a lane's elements: a fan of tetrahedra or a hexahedron, whose corners' rest positions and displacements lie in
// shared memory. Gradients are not stored: they follow from the rest positions, which costs less than reading them.
#ifndef MODAL_KERNELS_TLED_ELEMENTS_CUH
#define MODAL_KERNELS_TLED_ELEMENTS_CUH

#include "kernels/tled_step/tled_nodes.cuh"
#include "kernels/tled_step/tled_rich.cuh"

namespace modal_tled {

// The block's shared memory, as large as the launch says.
__device__ __forceinline__ unsigned char *shared_memory()
{
#ifdef __CUDACC__
    extern __shared__ __align__(16) unsigned char bytes[];
    return bytes;
#else // tests/emulate
    return (unsigned char *)emulated.shared;
#endif
}

// The part of shared memory that one patch uses.
template <class R> struct Bench {
    Vector4<R> *rest, *u; // [places]
    R *force;             // [3, n_slots]
    R *means;             // [MEANS, most_means] what lanes of one macro-element give each other
    int n_slots, most_means;
    uint16_t *bases;
    const uint32_t *corners; // the patch's
    modal_tled_place *places; // of steps that stage all (STAGES_ALL)
};

enum { MEANS = 11 }; // of a lane: 6 V H, 6 V, its next lane

// What of its tables a step has in shared memory. Tetrahedra in float32 gain by corners there, those with a Prony term by places and rest positions,
// too, since registers leave room for few blocks in any case; to hexahedra room for more blocks is worth more.
enum { STAGES_NONE, STAGES_CORNERS, STAGES_ALL };
template <class R> __host__ __device__ constexpr int stages_of(int law, int elements)
{
    return law == LAW_PRONY ? (int)STAGES_ALL : elements == TETRAHEDRA && sizeof(R) == 4 ? (int)STAGES_CORNERS : (int)STAGES_NONE;
}

// What comes after the bench, aligned: of steps of one launch the sums of other patches, else what is staged.
template <class R> __host__ __device__ static inline size_t remote_offset(const Tables<R> &t)
{
    return (sizeof(R) * (8 * (size_t)t.most_places + 3 * (size_t)t.most_slots + MEANS * (size_t)t.most_means) + 2 * (size_t)t.most_bases + 15) / 16 * 16;
}

template <class R> __device__ __forceinline__ Bench<R> bench_of(const Tables<R> &t, void *shared)
{
    Bench<R> b;
    b.u = (Vector4<R> *)shared;
    b.rest = b.u + t.most_places;
    b.force = (R *)(b.rest + t.most_places);
    b.n_slots = t.most_slots;
    b.means = b.force + 3 * t.most_slots;
    b.most_means = t.most_means;
    b.bases = (uint16_t *)(b.means + MEANS * t.most_means);
    b.places = nullptr;
    b.corners = nullptr;
    return b;
}

// The staged tables, after the bench.
template <class R> __device__ __forceinline__ uint32_t *staged_corners(const Tables<R> &t, void *shared)
{
    return (uint32_t *)((unsigned char *)shared + remote_offset(t));
}
template <class R> __device__ __forceinline__ modal_tled_place *staged_places(const Tables<R> &t, void *shared)
{
    return (modal_tled_place *)(staged_corners(t, shared) + (t.most_corners + 3) / 4 * 4);
}

template <class R> static inline size_t bench_bytes(const Tables<R> &t, int stages)
{
    const size_t corners = 16 * (((size_t)t.most_corners + 3) / 4), places = sizeof(modal_tled_place) * (size_t)t.most_places;
    return remote_offset(t) + (stages >= STAGES_CORNERS ? corners : 0) + (stages >= STAGES_ALL ? places : 0);
}

__device__ __forceinline__ int place_of(uint32_t corner) { return corner & (MODAL_TLED_MOST_PLACES - 1); }
__device__ __forceinline__ int slot_of(uint32_t corner) { return corner >> 16; }
__device__ __forceinline__ int tetrahedra_of(uint32_t corner) { return corner >> MODAL_TLED_PLACE_BITS & 31; }

// Whole numbers where nobody reads a float.
__device__ __forceinline__ void keep(float &at, uint32_t n) { at = __uint_as_float(n); }
__device__ __forceinline__ void keep(double &at, uint32_t n) { at = n; }
__device__ __forceinline__ uint32_t kept(float at) { return __float_as_uint(at); }
__device__ __forceinline__ uint32_t kept(double at) { return (uint32_t)at; }

// Component i of what is left in a slot.
template <class R> __device__ __forceinline__ R &force_at(const Bench<R> &b, int slot, int i)
{
    return b.force[3 * slot + i];
}

template <class R> __device__ __forceinline__ void leave(const Bench<R> &b, uint32_t corner, Vector3<R> f)
{
    const int slot = slot_of(corner);
    force_at(b, slot, 0) = f.x;
    force_at(b, slot, 1) = f.y;
    force_at(b, slot, 2) = f.z;
}

// H of a tetrahedron whose cofactor vectors are c: sum of u_k (x) c_k / det.
template <class R>
__device__ __forceinline__ void gradient(Vector3<R> ub, Vector3<R> ui, Vector3<R> uj, Vector3<R> cb, Vector3<R> ci,
                                         Vector3<R> cj, R scale, R h[9])
{
    h[0] = scale * (ub.x * cb.x + ui.x * ci.x + uj.x * cj.x);
    h[1] = scale * (ub.x * cb.y + ui.x * ci.y + uj.x * cj.y);
    h[2] = scale * (ub.x * cb.z + ui.x * ci.z + uj.x * cj.z);
    h[3] = scale * (ub.y * cb.x + ui.y * ci.x + uj.y * cj.x);
    h[4] = scale * (ub.y * cb.y + ui.y * ci.y + uj.y * cj.y);
    h[5] = scale * (ub.y * cb.z + ui.y * ci.z + uj.y * cj.z);
    h[6] = scale * (ub.z * cb.x + ui.z * ci.x + uj.z * cj.x);
    h[7] = scale * (ub.z * cb.y + ui.z * ci.y + uj.z * cj.y);
    h[8] = scale * (ub.z * cb.z + ui.z * ci.z + uj.z * cj.z);
}

// Notes that an element is turned; jacobian is NaN where it is not finite.
static __device__ __noinline__ void note_turned(Stop *stop, modal_tled_watch *watch, int64_t first, int32_t step,
                                                int32_t element, double jacobian)
{
    const unsigned long long key = (unsigned long long)step << 32 | (uint32_t)element;
    if (!*(volatile int *)&stop->armed) return;
    while (key < *(volatile unsigned long long *)&stop->key) {
        if (atomicCAS(&stop->lock, 0, 1) != 0) continue;
        __threadfence();
        if (key < *(volatile unsigned long long *)&stop->key) {
            *(volatile unsigned long long *)&stop->key = key;
            watch->step = first + step;
            watch->element = element;
            watch->jacobian = jacobian <= DBL_MAX && jacobian >= -DBL_MAX ? jacobian : (double)NAN;
        }
        __threadfence();
        atomicExch(&stop->lock, 0);
    }
}

// Material of element k of a lane of this patch, as its number.
template <class R>
__device__ __forceinline__ int material_of(const Tables<R> &t, const modal_tled_patch &patch, int lane, int k)
{
    return patch.material >= 0 ? patch.material
                               : t.lane_materials[patch.first_element + (int64_t)k * patch.n_lanes + lane];
}

// A material's numbers with volume / det = 1/6.
template <bool ONE, class R> __device__ __forceinline__ Material<R> material_of_fan(const Tables<R> &t, int number)
{
    if (ONE) return t.of_tetrahedra;
    Material<R> m = t.materials[number];
    m.mu *= (R)(1.0 / 6), m.modulus *= (R)(1.0 / 6), m.control *= (R)(1.0 / 6);
    return m;
}

// Forces of a fan. ONE: the solid has one material. 1: an element is turned.
template <int LAW, bool ONE, class R>
__device__ __forceinline__ int fan_forces(const Tables<R> &t, const modal_tled_patch &patch, int lane, const Bench<R> &b,
                                          R *viscous)
{
    const int n_lanes = patch.n_lanes;
    const uint32_t *corner = b.corners + lane;
    const uint32_t ra = corner[0], rb = corner[n_lanes];
    uint32_t ri = corner[2 * n_lanes], rj;
    int left = tetrahedra_of(ra) << 1; // lowest bit: an element is turned
    const int n = tetrahedra_of(ra);
    int number = ONE ? 0 : material_of(t, patch, lane, 0);
    Material<R> m = material_of_fan<ONE>(t, number);
    R edge_pressure = 0, pressure_i = 0;
    if (is_rich(LAW)) edge_pressure = b.u[place_of(ra)].w + b.u[place_of(rb)].w, pressure_i = b.u[place_of(ri)].w;
    const Vector3<R> xa = vector(b.rest[place_of(ra)]), ua = vector(b.u[place_of(ra)]);
    const Vector3<R> eb = vector(b.rest[place_of(rb)]) - xa, ub = vector(b.u[place_of(rb)]) - ua;
    Vector3<R> ei = vector(b.rest[place_of(ri)]) - xa, ui = vector(b.u[place_of(ri)]) - ua;
    Vector3<R> cj = cross(eb, ei), fa = {0, 0, 0}, fb = {0, 0, 0}, fi = {0, 0, 0};
    Early<R> early = early_of<LAW>(t, viscous, number, patch.first_element + lane);
    corner += 3 * n_lanes;
    for (int k = 0;;) {
        const int64_t at = patch.first_element + (int64_t)k * n_lanes + lane;
        Early<R> next; // asked for before this one's stress
        if (asks_early(LAW) && k + 1 < n) {
            next = early;
            if (!ONE && patch.material < 0) read_material<LAW>(t, material_of(t, patch, lane, k + 1), next);
            read_own<LAW>(t, viscous, at + n_lanes, next);
        }
        rj = *corner;
        const Vector3<R> ej = vector(b.rest[place_of(rj)]) - xa, uj = vector(b.u[place_of(rj)]) - ua;
        const Vector3<R> cb = cross(ei, ej), ci = cross(ej, eb);
        R h[9], p[9], mean = 0;
        gradient(ub, ui, uj, cb, ci, cj, inverse(dot(ej, cj)), h);
        if (is_rich(LAW)) {
            const R pressure_j = b.u[place_of(rj)].w;
            mean = (edge_pressure + pressure_i + pressure_j) * (R)0.25;
            pressure_i = pressure_j;
        }
        const Extra<R> extra = {viscous, at, number, true, mean, (R)(1.0 / 6), early};
        left = (left - 2) | turned(whole_stress<LAW>(t, m, extra, h, p));
        fb = fb + times(p, cb);
        fi = fi + times(p, ci);
        fa = fa - fi;
        leave(b, ri, fi);
        fi = times(p, cj);
        if (left < 2) break;
        ++k;
        if (asks_early(LAW)) early = next;
        cj = {-ci.x, -ci.y, -ci.z};
        ei = ej;
        ui = uj;
        ri = rj;
        corner += n_lanes;
        if (!ONE && patch.material < 0) m = material_of_fan<ONE>(t, number = material_of(t, patch, lane, k));
    }
    leave(b, rj, fi);
    leave(b, rb, fb);
    leave(b, ra, fa - fb - fi);
    return left;
}

#include "kernels/tled_step/tled_macros.cuh"

// Which elements of a fan of patch `number` are turned: the slow path, once.
template <class R>
__device__ __noinline__ void find_turned_fan(const Tables<R> &t, int number, int lane, void *shared, Stop *stop,
                                             modal_tled_watch *watch, int64_t first, int32_t step)
{
    const Bench<R> b = bench_of(t, shared);
    const modal_tled_patch &patch = t.patches[number];
    const uint32_t *corners = t.corners + patch.first_corner + lane;
    const int n = tetrahedra_of(corners[0]);
    const Vector3<R> xa = vector(b.rest[place_of(corners[0])]), ua = vector(b.u[place_of(corners[0])]);
    const uint32_t rb = corners[patch.n_lanes];
    const Vector3<R> eb = vector(b.rest[place_of(rb)]) - xa, ub = vector(b.u[place_of(rb)]) - ua;
    for (int k = 0; k < n; k++) {
        const uint32_t ri = corners[(2 + k) * patch.n_lanes], rj = corners[(3 + k) * patch.n_lanes];
        const Vector3<R> ei = vector(b.rest[place_of(ri)]) - xa, ui = vector(b.u[place_of(ri)]) - ua;
        const Vector3<R> ej = vector(b.rest[place_of(rj)]) - xa, uj = vector(b.u[place_of(rj)]) - ua;
        const Vector3<R> cb = cross(ei, ej), ci = cross(ej, eb), cj = cross(eb, ei);
        R h[9], p[9];
        gradient(ub, ui, uj, cb, ci, cj, inverse(dot(ej, cj)), h);
        const R jacobian = stress<MODAL_TLED_STVK>(0, (R)1, (R)1, h, p);
        if (turned(jacobian))
            note_turned(stop, watch, first, step, t.elements[patch.first_element + (int64_t)k * patch.n_lanes + lane],
                        jacobian);
    }
}

// Changes of volume of a fan's averaging elements, a quarter of each for every corner, into the first third of the slots.
template <class R>
__device__ __forceinline__ void fan_changes(const Tables<R> &t, const modal_tled_patch &patch, int lane, const Bench<R> &b)
{
    const uint32_t *corners = t.corners + patch.first_corner + lane;
    const int n_lanes = patch.n_lanes, n = tetrahedra_of(corners[0]);
    const uint32_t ra = corners[0], rb = corners[n_lanes];
    const Vector3<R> xa = vector(b.rest[place_of(ra)]), ua = vector(b.u[place_of(ra)]);
    const Vector3<R> eb = vector(b.rest[place_of(rb)]) - xa, ub = vector(b.u[place_of(rb)]) - ua;
    R all = 0, last = 0;
    for (int k = 0; k < n; k++) {
        const uint32_t ri = corners[(2 + k) * n_lanes], rj = corners[(3 + k) * n_lanes];
        const Vector3<R> ei = vector(b.rest[place_of(ri)]) - xa, ui = vector(b.u[place_of(ri)]) - ua;
        const Vector3<R> ej = vector(b.rest[place_of(rj)]) - xa, uj = vector(b.u[place_of(rj)]) - ua;
        const Vector3<R> cb = cross(ei, ej), ci = cross(ej, eb), cj = cross(eb, ei);
        const R det = dot(ej, cj);
        R h[9], c[9], change = 0;
        gradient(ub, ui, uj, cb, ci, cj, inverse(det), h);
        if (t.rich[material_of(t, patch, lane, k)].averages) change = whole_cofactors(h, c) * (det * (R)(1.0 / 24));
        b.force[slot_of(ri)] = last + change;
        all += change;
        last = change;
        if (k == n - 1) b.force[slot_of(rj)] = change;
    }
    b.force[slot_of(rb)] = all;
    b.force[slot_of(ra)] = all;
}

// Sums and differences of eight values by the signs of 1, xi, eta, zeta, xi eta, eta zeta, xi zeta, xi eta zeta at the
// corners in VTK's order: eight corners to eight modes, or back.
template <class R> __device__ __forceinline__ void to_modes(R v[8])
{
    // along xi: pairs (0 1), (3 2), (4 5), (7 6)
    const R s0 = v[0] + v[1], d0 = v[1] - v[0], s1 = v[3] + v[2], d1 = v[2] - v[3];
    const R s2 = v[4] + v[5], d2 = v[5] - v[4], s3 = v[7] + v[6], d3 = v[6] - v[7];
    // along eta
    const R ss0 = s0 + s1, sd0 = s1 - s0, ds0 = d0 + d1, dd0 = d1 - d0;
    const R ss1 = s2 + s3, sd1 = s3 - s2, ds1 = d2 + d3, dd1 = d3 - d2;
    // along zeta
    v[0] = ss0 + ss1;
    v[1] = ds0 + ds1;
    v[2] = sd0 + sd1;
    v[3] = ss1 - ss0;
    v[4] = dd0 + dd1;
    v[5] = sd1 - sd0;
    v[6] = ds1 - ds0;
    v[7] = dd1 - dd0;
}

template <class R> __device__ __forceinline__ void from_modes(R v[8])
{
    // back along zeta: what belongs to the lower and the upper face
    const R ss0 = v[0] - v[3], ss1 = v[0] + v[3], ds0 = v[1] - v[6], ds1 = v[1] + v[6];
    const R sd0 = v[2] - v[5], sd1 = v[2] + v[5], dd0 = v[4] - v[7], dd1 = v[4] + v[7];
    const R s0 = ss0 - sd0, s1 = ss0 + sd0, d0 = ds0 - dd0, d1 = ds0 + dd0;
    const R s2 = ss1 - sd1, s3 = ss1 + sd1, d2 = ds1 - dd1, d3 = ds1 + dd1;
    v[0] = s0 - d0;
    v[1] = s0 + d0;
    v[2] = s1 + d1;
    v[3] = s1 - d1;
    v[4] = s2 - d2;
    v[5] = s2 + d2;
    v[6] = s3 + d3;
    v[7] = s3 - d3;
}

// Number a of eight of 16 bits.
__device__ __forceinline__ int half(const int4 &words, int a)
{
    const int word = a < 2 ? words.x : a < 4 ? words.y : a < 6 ? words.z : words.w;
    return a % 2 ? (uint32_t)word >> 16 : word & 0xffff;
}

// The modes, but the first, of vectors at eight places.
template <class R> __device__ __forceinline__ void differences(const Vector4<R> *at, const int4 &places, R modes[3][8])
{
    const Vector3<R> first = vector(at[half(places, 0)]);
#pragma unroll
    for (int i = 0; i < 3; i++) modes[i][0] = 0;
#pragma unroll
    for (int a = 1; a < 8; a++) {
        const Vector3<R> v = vector(at[half(places, a)]) - first;
        modes[0][a] = v.x, modes[1][a] = v.y, modes[2][a] = v.z;
    }
#pragma unroll
    for (int i = 0; i < 3; i++) to_modes(modes[i]);
}

// Forces of a hexahedron by the modes of its corners, with the c_k and D of tled_hexahedron.h: gradients' modes are c_k / D, the
// stress's weight is D / 64, and gamma's part along the gradients goes into the first six modes. Returns J.
template <int LAW, class R>
__device__ __forceinline__ R hexahedron_forces(const Tables<R> &t, const modal_tled_patch &patch, int lane,
                                               const Bench<R> &b, R *viscous)
{
    const int4 *words = (const int4 *)b.corners + lane; // places, slots
    const int number = material_of(t, patch, lane, 0);
    Material<R> m = t.materials[number];
    m.mu *= (R)(1.0 / 64), m.modulus *= (R)(1.0 / 64);
    const R k = t.stiffness[patch.first_element + lane];
    R x[3][8], u[3][8];
    const int4 places = words[0];
    differences(b.rest, places, x);
    const Vector3<R> m1 = {x[0][1], x[1][1], x[2][1]}, m2 = {x[0][2], x[1][2], x[2][2]}, m3 = {x[0][3], x[1][3], x[2][3]};
    const Vector3<R> m4 = {x[0][4], x[1][4], x[2][4]}, m5 = {x[0][5], x[1][5], x[2][5]}, m6 = {x[0][6], x[1][6], x[2][6]};
    const Vector3<R> c1 = cross(m2, m3) + t.third * cross(m4, m6), c4 = t.third * (cross(m2, m5) + cross(m6, m1));
    const Vector3<R> c2 = cross(m3, m1) + t.third * cross(m5, m4), c5 = t.third * (cross(m4, m2) + cross(m3, m6));
    const Vector3<R> c3 = cross(m1, m2) + t.third * cross(m6, m5), c6 = t.third * (cross(m5, m3) + cross(m1, m4));
    const R over = inverse(dot(m1, c1) + dot(m5, c5));
    differences(b.u, places, u);
    R h[9], p[9];
#pragma unroll
    for (int i = 0; i < 3; i++) {
        h[3 * i] = over * (u[i][1] * c1.x + u[i][2] * c2.x + u[i][3] * c3.x + u[i][4] * c4.x + u[i][5] * c5.x + u[i][6] * c6.x);
        h[3 * i + 1] = over * (u[i][1] * c1.y + u[i][2] * c2.y + u[i][3] * c3.y + u[i][4] * c4.y + u[i][5] * c5.y + u[i][6] * c6.y);
        h[3 * i + 2] = over * (u[i][1] * c1.z + u[i][2] * c2.z + u[i][3] * c3.z + u[i][4] * c4.z + u[i][5] * c5.z + u[i][6] * c6.z);
    }
    const Extra<R> extra = {viscous, patch.first_element + lane, number, false, 0, (R)(1.0 / 64)};
    const R jacobian = whole_stress<LAW>(t, m, extra, h, p);
    const R scale = k * over;
    const int4 slots = words[patch.n_lanes];
#pragma unroll
    for (int i = 0; i < 3; i++) { // one component after the other: registers
        R f[8], row[3] = {0, 0, 0}; // row: sum over modes of hourglass displacement times moment, then P's row less its part along the gradients
#pragma unroll
        for (int g = 4; g < 8; g++) {
            const R mode = u[i][g] - (h[3 * i] * x[0][g] + h[3 * i + 1] * x[1][g] + h[3 * i + 2] * x[2][g]);
            f[g] = k * mode;
#pragma unroll
            for (int j = 0; j < 3; j++) row[j] += mode * x[j][g];
        }
#pragma unroll
        for (int j = 0; j < 3; j++) row[j] = p[3 * i + j] - scale * row[j];
        f[0] = 0;
        f[1] = row[0] * c1.x + row[1] * c1.y + row[2] * c1.z;
        f[2] = row[0] * c2.x + row[1] * c2.y + row[2] * c2.z;
        f[3] = row[0] * c3.x + row[1] * c3.y + row[2] * c3.z;
        f[4] += row[0] * c4.x + row[1] * c4.y + row[2] * c4.z;
        f[5] += row[0] * c5.x + row[1] * c5.y + row[2] * c5.z;
        f[6] += row[0] * c6.x + row[1] * c6.y + row[2] * c6.z;
        from_modes(f);
#pragma unroll
        for (int a = 0; a < 8; a++) force_at(b, half(slots, a), i) = f[a];
    }
    return jacobian;
}

// All elements of a patch; slots are written. For all threads of a block, between two barriers.
template <int ELEMENTS, int LAW, bool ONE, class R>
__device__ __forceinline__ void patch_elements(const Tables<R> &t, const Step<R> &s, int number, const modal_tled_patch &patch,
                                               const Bench<R> &b)
{
    if (has_macros(LAW) && patch.shares) {
        for (int lane = threadIdx.x; lane < patch.n_lanes; lane += blockDim.x) leave_mean(t, patch, lane, b);
        __syncthreads();
    }
    for (int lane = threadIdx.x; lane < patch.n_lanes; lane += blockDim.x) {
        if (ELEMENTS == HEXAHEDRA || (ELEMENTS == BOTH && patch.hexahedra)) {
            const R jacobian = hexahedron_forces<LAW>(t, patch, lane, b, s.viscous);
            if (turned(jacobian))
                note_turned(s.stop, s.watch, s.first, s.number, t.elements[patch.first_element + lane], jacobian);
        } else if (has_macros(LAW)) {
            const R jacobian = macro_forces<LAW>(t, patch, lane, b, s.viscous);
            if (turned(jacobian)) note_turned_macro(t, number, lane, s.stop, s.watch, s.first, s.number, jacobian);
        } else if (fan_forces<LAW, ONE>(t, patch, lane, b, s.viscous)) {
            find_turned_fan(t, number, lane, b.u, s.stop, s.watch, s.first, s.number);
        }
    }
}

// The force on place i, in the order of its slots.
template <class R> __device__ __forceinline__ Vector3<R> place_force(const Bench<R> &b, int i, int n)
{
    Vector3<R> f = {0, 0, 0};
    int j = 0;
    for (; j + 4 <= n; j += 4) { // four at once: the loads do not wait for one another
        const R *p0 = b.force + 3 * (b.bases[j] + i), *p1 = b.force + 3 * (b.bases[j + 1] + i), *p2 = b.force + 3 * (b.bases[j + 2] + i),
                *p3 = b.force + 3 * (b.bases[j + 3] + i);
        f.x += (p0[0] + p1[0]) + (p2[0] + p3[0]);
        f.y += (p0[1] + p1[1]) + (p2[1] + p3[1]);
        f.z += (p0[2] + p1[2]) + (p2[2] + p3[2]);
    }
    for (; j < n; j++) {
        const int s = b.bases[j] + i;
        f = f + Vector3<R>{b.force[3 * s], b.force[3 * s + 1], b.force[3 * s + 2]};
    }
    return f;
}

} // namespace modal_tled

#endif
