// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/opponents/tled_opponents.h"

#include <algorithm>
#include <cub/cub.cuh>
#include <new>
#include <vector>

#include "kernels/cuda_check.cuh"
#include "kernels/tled_step/tled_stress.cuh"

extern "C" const char *const tled_way_names[TLED_WAYS] = {
    "scatter, slots in node order", "scatter, slots in element order", "atomic sums, 12 scalars", "atomic sums, 4 vectors",
    "atomic sums by compare and swap", "colours", "one thread a node", "sorted by node, summed by segment"};

namespace {

enum { BLOCK = 128 }; // threads, unless another number is asked for
typedef modal_tled::Vector4<float> Vector;
typedef modal_tled::Vector3<float> Force;

struct Solid { // on the device
    int n_nodes, n_elements;
    const int4 *elements;
    const int4 *slots;    // where the four forces go
    const float *shapes;  // [10, n_elements]: gradients of three corners, volume
    const float2 *materials; // [n_elements]
    const int *offsets, *list; // of nodes
    const float *weight;  // [n_nodes] 1 / m, 0: held still
    Vector *u, *next, *d, *forces;
};

struct Rates {
    float keep, gain, gx, gy, gz;
};

__device__ __forceinline__ void element_forces(const Solid &s, int e, const Vector *u, int4 n, Force f[4])
{
    const Vector a = u[n.x], b = u[n.y], c = u[n.z], d = u[n.w];
    const Force one = {b.x - a.x, b.y - a.y, b.z - a.z}, two = {c.x - a.x, c.y - a.y, c.z - a.z},
                three = {d.x - a.x, d.y - a.y, d.z - a.z};
    float g[9], h[9], p[9];
#pragma unroll
    for (int k = 0; k < 9; k++) g[k] = s.shapes[(size_t)k * s.n_elements + e];
    const float v = s.shapes[(size_t)9 * s.n_elements + e];
    const float2 m = s.materials[e];
#pragma unroll
    for (int j = 0; j < 3; j++) {
        h[j] = one.x * g[j] + two.x * g[3 + j] + three.x * g[6 + j];
        h[3 + j] = one.y * g[j] + two.y * g[3 + j] + three.y * g[6 + j];
        h[6 + j] = one.z * g[j] + two.z * g[3 + j] + three.z * g[6 + j];
    }
    modal_tled::stress<MODAL_TLED_NEO_HOOKEAN>(0, v * m.x, v * m.y, h, p);
#pragma unroll
    for (int k = 0; k < 3; k++) f[k + 1] = modal_tled::times(p, Force{g[3 * k], g[3 * k + 1], g[3 * k + 2]});
    f[0] = Force{0, 0, 0} - f[1] - f[2] - f[3];
}

__device__ __forceinline__ Vector four(Force f) { return {f.x, f.y, f.z, 0}; }

template <int WAY> __global__ void elements_to_slots(Solid s)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= s.n_elements) return;
    const int4 n = s.elements[e];
    Force f[4];
    element_forces(s, e, s.u, n, f);
    if (WAY == TLED_SCATTER_NODES) {
        const int4 to = s.slots[e];
        s.forces[to.x] = four(f[0]), s.forces[to.y] = four(f[1]), s.forces[to.z] = four(f[2]), s.forces[to.w] = four(f[3]);
    } else {
        for (int k = 0; k < 4; k++) s.forces[4 * (size_t)e + k] = four(f[k]);
    }
}

__device__ __forceinline__ void add_by_swap(float *to, float x)
{
    int old = __float_as_int(*to), seen;
    do {
        seen = old;
        old = atomicCAS((int *)to, seen, __float_as_int(__int_as_float(seen) + x));
    } while (old != seen);
}

template <int WAY> __device__ __forceinline__ void add_force(Vector *to, Force f)
{
    if (WAY == TLED_ATOMIC_SCALAR) {
        atomicAdd(&to->x, f.x), atomicAdd(&to->y, f.y), atomicAdd(&to->z, f.z);
    } else if (WAY == TLED_ATOMIC_CAS) {
        add_by_swap(&to->x, f.x), add_by_swap(&to->y, f.y), add_by_swap(&to->z, f.z);
    } else if (WAY == TLED_ATOMIC_VECTOR) {
#if __CUDA_ARCH__ >= 900
        asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(f.x), "f"(f.y), "f"(f.z), "f"(0.f)
                     : "memory");
#endif
    } else { // colours: nobody else adds here now
        const Vector now = *to;
        *to = {now.x + f.x, now.y + f.y, now.z + f.z, 0};
    }
}

template <int WAY> __global__ void elements_add(Solid s, int first, int end)
{
    const int e = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= end) return;
    const int4 n = s.elements[e];
    Force f[4];
    element_forces(s, e, s.u, n, f);
    add_force<WAY>(s.forces + n.x, f[0]), add_force<WAY>(s.forces + n.y, f[1]);
    add_force<WAY>(s.forces + n.z, f[2]), add_force<WAY>(s.forces + n.w, f[3]);
}

__device__ __forceinline__ Vector move_node(const Solid &s, int i, Rates r, Force f, Vector u)
{
    Vector d = s.d[i];
    const float w = s.weight[i], on = w > 0 ? 1.0f : 0.0f;
    d = {on * (r.keep * d.x + r.gx) - r.gain * w * f.x, on * (r.keep * d.y + r.gy) - r.gain * w * f.y,
         on * (r.keep * d.z + r.gz) - r.gain * w * f.z, 0};
    s.d[i] = d;
    return {u.x + d.x, u.y + d.y, u.z + d.z, 0};
}

template <int WAY> __global__ void nodes(Solid s, Rates r)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.n_nodes) return;
    Force f = {0, 0, 0};
    if (WAY == TLED_SCATTER_NODES || WAY == TLED_SCATTER_ELEMENTS) {
        for (int k = s.offsets[i]; k < s.offsets[i + 1]; k++)
            f = f + vector(s.forces[WAY == TLED_SCATTER_NODES ? k : s.list[k]]);
    } else {
        f = vector(s.forces[i]);
        s.forces[i] = {0, 0, 0, 0};
    }
    s.u[i] = move_node(s, i, r, f, s.u[i]);
}

__global__ void thread_a_node(Solid s, Rates r, const Vector *u, Vector *next)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= s.n_nodes) return;
    Force sum = {0, 0, 0};
    for (int k = s.offsets[i]; k < s.offsets[i + 1]; k++) {
        const int e = s.list[k] >> 2, corner = s.list[k] & 3;
        Force f[4];
        element_forces(s, e, u, s.elements[e], f);
        sum = sum + (corner == 0 ? f[0] : corner == 1 ? f[1] : corner == 2 ? f[2] : f[3]);
    }
    next[i] = move_node(s, i, r, sum, u[i]);
}

struct Add {
    __device__ Vector operator()(const Vector &a, const Vector &b) const { return {a.x + b.x, a.y + b.y, a.z + b.z, 0}; }
};

} // namespace

struct tled_opponent {
    tled_way way;
    int block = BLOCK;
    Solid solid;
    std::vector<int> colours; // first element of each, and the end
    std::vector<void *> owned;
    int *keys[2], *unique, *n_unique;
    Vector *sorted;
    void *scratch;
    size_t scratch_bytes, sort_bytes;
};

namespace {

template <class T> cudaError_t take(tled_opponent *o, T **pointer, size_t count)
{
    const cudaError_t code = cudaMalloc((void **)pointer, std::max<size_t>(count, 1) * sizeof(T));
    if (code == cudaSuccess) o->owned.push_back((void *)*pointer);
    return code;
}

template <class T> cudaError_t put(tled_opponent *o, const T **pointer, const std::vector<T> &from)
{
    T *to = nullptr;
    const cudaError_t code = take(o, &to, from.size());
    *pointer = to;
    return code != cudaSuccess ? code : cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice);
}

// Elements in the order of their colours; the order itself where the way is another one.
std::vector<int> order_of(tled_opponent *o, const modal_tled_solid *s)
{
    const int n = (int)s->n_tetrahedra;
    std::vector<int> order(n), colour(n, 0);
    std::vector<uint64_t> used(o->way == TLED_COLOURS ? s->n_nodes : 0, 0);
    int most = 0;
    for (int e = 0; e < n; e++) {
        const int32_t *c = s->tetrahedra + 4 * (int64_t)e;
        order[e] = e;
        if (o->way != TLED_COLOURS) continue;
        const uint64_t taken = used[c[0]] | used[c[1]] | used[c[2]] | used[c[3]];
        colour[e] = taken == ~0ull ? 63 : __builtin_ctzll(~taken);
        for (int k = 0; k < 4; k++) used[c[k]] |= 1ull << colour[e];
        most = std::max(most, colour[e]);
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return colour[a] < colour[b]; });
    o->colours.assign(most + 2, 0);
    for (int e = 0; e < n; e++) o->colours[colour[e] + 1]++;
    for (int k = 0; k <= most; k++) o->colours[k + 1] += o->colours[k];
    return order;
}

cudaError_t fill(tled_opponent *o, const modal_tled_solid *s)
{
    const int n = (int)s->n_tetrahedra, n_nodes = (int)s->n_nodes;
    const std::vector<int> order = order_of(o, s);
    std::vector<int4> elements(n), slots(n);
    std::vector<float> shapes((size_t)10 * n), weight(n_nodes);
    std::vector<float2> materials(n);
    std::vector<int> offsets(n_nodes + 1, 0), list((size_t)4 * n), keys((size_t)4 * n);
    for (int64_t k = 0; k < 4 * (int64_t)n; k++) offsets[s->tetrahedra[k] + 1]++;
    for (int i = 0; i < n_nodes; i++) offsets[i + 1] += offsets[i];
    std::vector<int> next(offsets.begin(), offsets.end() - 1);
    for (int e = 0; e < n; e++) {
        const int32_t *c = s->tetrahedra + 4 * (int64_t)order[e];
        const modal_tled_material *m = &s->materials[s->material[order[e]]];
        double gradients[3][3];
        int at[4];
        const double volume = modal_tled_tetrahedron_shape(s->nodes, c, gradients);
        for (int k = 0; k < 4; k++) at[k] = next[c[k]]++, list[at[k]] = 4 * e + k, keys[(size_t)4 * e + k] = c[k];
        for (int k = 0; k < 9; k++) shapes[(size_t)k * n + e] = (float)gradients[k / 3][k % 3];
        shapes[(size_t)9 * n + e] = (float)volume;
        elements[e] = make_int4(c[0], c[1], c[2], c[3]);
        slots[e] = make_int4(at[0], at[1], at[2], at[3]);
        materials[e] = make_float2((float)m->mu, (float)m->modulus);
    }
    for (int i = 0; i < n_nodes; i++) weight[i] = (float)(1 / s->mass[i]);
    for (int64_t k = 0; k < s->n_held; k++) weight[s->held[k]] = 0;
    Solid *d = &o->solid;
    d->n_nodes = n_nodes;
    d->n_elements = n;
    cudaError_t code = put(o, &d->elements, elements);
    if (code == cudaSuccess) code = put(o, &d->slots, slots);
    if (code == cudaSuccess) code = put(o, &d->shapes, shapes);
    if (code == cudaSuccess) code = put(o, &d->materials, materials);
    if (code == cudaSuccess) code = put(o, &d->offsets, offsets);
    if (code == cudaSuccess) code = put(o, &d->list, list);
    if (code == cudaSuccess) code = put(o, &d->weight, weight);
    if (code == cudaSuccess) code = take(o, &d->u, n_nodes);
    if (code == cudaSuccess) code = take(o, &d->next, n_nodes);
    if (code == cudaSuccess) code = take(o, &d->d, n_nodes);
    if (code == cudaSuccess) code = take(o, &d->forces, (size_t)4 * n);
    if (o->way != TLED_SORTED || code != cudaSuccess) return code;
    const int *first = nullptr;
    code = put(o, &first, keys);
    o->keys[0] = (int *)first;
    if (code == cudaSuccess) code = take(o, &o->keys[1], (size_t)4 * n);
    if (code == cudaSuccess) code = take(o, &o->unique, n_nodes);
    if (code == cudaSuccess) code = take(o, &o->n_unique, 1);
    if (code == cudaSuccess) code = take(o, &o->sorted, (size_t)4 * n);
    size_t sum_bytes = 0;
    if (code == cudaSuccess)
        code = cub::DeviceRadixSort::SortPairs(nullptr, o->sort_bytes, o->keys[0], o->keys[1], d->forces, o->sorted, 4 * n);
    if (code == cudaSuccess)
        code = cub::DeviceReduce::ReduceByKey(nullptr, sum_bytes, o->keys[1], o->unique, o->sorted, d->forces, o->n_unique,
                                              Add(), 4 * n);
    o->scratch_bytes = std::max(o->sort_bytes, sum_bytes);
    char *scratch = nullptr;
    if (code == cudaSuccess) code = take(o, &scratch, o->scratch_bytes);
    o->scratch = scratch;
    return code;
}

// Every node has elements, so that the k-th sum is the k-th node's.
cudaError_t sort_and_sum(tled_opponent *o, cudaStream_t stream)
{
    const int n = 4 * o->solid.n_elements;
    size_t bytes = o->scratch_bytes;
    int bits = 1;
    while (bits < 31 && o->solid.n_nodes >> bits) bits++;
    cudaError_t code = cub::DeviceRadixSort::SortPairs(o->scratch, bytes, o->keys[0], o->keys[1], o->solid.forces, o->sorted,
                                                       n, 0, bits, stream);
    bytes = o->scratch_bytes;
    if (code == cudaSuccess)
        code = cub::DeviceReduce::ReduceByKey(o->scratch, bytes, o->keys[1], o->unique, o->sorted, o->solid.forces,
                                              o->n_unique, Add(), n, stream);
    return code;
}

template <int WAY> void add_all(const tled_opponent *o, cudaStream_t stream)
{
    for (size_t c = 0; c + 1 < o->colours.size(); c++) {
        const int first = o->colours[c], end = o->colours[c + 1];
        elements_add<WAY><<<(end - first + o->block - 1) / o->block, o->block, 0, stream>>>(o->solid, first, end);
    }
}

cudaError_t element_loop(tled_opponent *o, cudaStream_t stream)
{
    const int blocks = (o->solid.n_elements + o->block - 1) / o->block;
    switch (o->way) {
    case TLED_SCATTER_NODES: elements_to_slots<TLED_SCATTER_NODES><<<blocks, o->block, 0, stream>>>(o->solid); break;
    case TLED_ATOMIC_SCALAR: add_all<TLED_ATOMIC_SCALAR>(o, stream); break;
    case TLED_ATOMIC_VECTOR: add_all<TLED_ATOMIC_VECTOR>(o, stream); break;
    case TLED_ATOMIC_CAS: add_all<TLED_ATOMIC_CAS>(o, stream); break;
    case TLED_COLOURS: add_all<TLED_COLOURS>(o, stream); break;
    default: elements_to_slots<TLED_SCATTER_ELEMENTS><<<blocks, o->block, 0, stream>>>(o->solid); break;
    }
    return o->way == TLED_SORTED ? sort_and_sum(o, stream) : cudaSuccess;
}

void node_loop(const tled_opponent *o, const Rates &r, cudaStream_t stream)
{
    const int blocks = (o->solid.n_nodes + o->block - 1) / o->block;
    if (o->way == TLED_SCATTER_NODES) nodes<TLED_SCATTER_NODES><<<blocks, o->block, 0, stream>>>(o->solid, r);
    else if (o->way == TLED_SCATTER_ELEMENTS) nodes<TLED_SCATTER_ELEMENTS><<<blocks, o->block, 0, stream>>>(o->solid, r);
    else nodes<TLED_ATOMIC_SCALAR><<<blocks, o->block, 0, stream>>>(o->solid, r);
}

} // namespace

extern "C" modal_status tled_opponent_new(tled_opponent **opponent, const modal_tled_solid *solid, tled_way way,
                                          modal_error *err)
{
    tled_opponent *o = new (std::nothrow) tled_opponent();
    *opponent = nullptr;
    if (!o) return modal_error_set(err, MODAL_ERROR_MEMORY, "tled: no memory");
    o->way = way;
    const cudaError_t code = fill(o, solid);
    if (code != cudaSuccess) tled_opponent_delete(o);
    else *opponent = o;
    return modal_cuda_status(code, tled_way_names[way], err);
}

extern "C" tled_opponent *tled_opponent_delete(tled_opponent *o)
{
    if (!o) return nullptr;
    for (void *p : o->owned) cudaFree(p);
    delete o;
    return nullptr;
}

extern "C" int tled_opponent_parts(const tled_opponent *o) { return (int)o->colours.size() - 1; }

extern "C" modal_status tled_opponent_reset(tled_opponent *o, modal_stream *stream, modal_error *err)
{
    const size_t bytes = (size_t)o->solid.n_nodes * sizeof(Vector);
    cudaError_t code = cudaMemsetAsync(o->solid.u, 0, bytes, (cudaStream_t)stream);
    if (code == cudaSuccess) code = cudaMemsetAsync(o->solid.d, 0, bytes, (cudaStream_t)stream);
    if (code == cudaSuccess)
        code = cudaMemsetAsync(o->solid.forces, 0, (size_t)4 * o->solid.n_elements * sizeof(Vector), (cudaStream_t)stream);
    return modal_cuda_status(code, "tled: at rest", err);
}

extern "C" modal_status tled_opponent_step(tled_opponent *o, int n, double step, double before, double alpha,
                                           const double gravity[3], int part, modal_stream *stream, modal_error *err)
{
    const modal_tled_factors f = modal_tled_step_factors(step, before, alpha);
    const Rates r = {(float)f.keep, (float)f.gain, (float)(f.gain * gravity[0]), (float)(f.gain * gravity[1]),
                     (float)(f.gain * gravity[2])};
    const int blocks = (o->solid.n_nodes + o->block - 1) / o->block;
    cudaError_t code = cudaSuccess;
    for (int i = 0; i < n && code == cudaSuccess; i++) {
        if (o->way == TLED_THREAD_A_NODE) {
            thread_a_node<<<blocks, o->block, 0, (cudaStream_t)stream>>>(o->solid, r, o->solid.u, o->solid.next);
            std::swap(o->solid.u, o->solid.next);
            continue;
        }
        if (part & 1) code = element_loop(o, (cudaStream_t)stream);
        if (part & 2) node_loop(o, r, (cudaStream_t)stream);
    }
    return code != cudaSuccess ? modal_cuda_status(code, tled_way_names[o->way], err)
                               : modal_cuda_launched(tled_way_names[o->way], err);
}

// The kernel of a loop, for what the runtime knows of it; the others' element loops are alike.
static const void *kernel_of(const tled_opponent *o, int of_nodes)
{
    if (of_nodes && o->way == TLED_SCATTER_NODES) return (const void *)nodes<TLED_SCATTER_NODES>;
    if (of_nodes && o->way == TLED_SCATTER_ELEMENTS) return (const void *)nodes<TLED_SCATTER_ELEMENTS>;
    if (of_nodes) return (const void *)nodes<TLED_ATOMIC_SCALAR>;
    switch (o->way) {
    case TLED_SCATTER_NODES: return (const void *)elements_to_slots<TLED_SCATTER_NODES>;
    case TLED_ATOMIC_SCALAR: return (const void *)elements_add<TLED_ATOMIC_SCALAR>;
    case TLED_ATOMIC_VECTOR: return (const void *)elements_add<TLED_ATOMIC_VECTOR>;
    case TLED_ATOMIC_CAS: return (const void *)elements_add<TLED_ATOMIC_CAS>;
    case TLED_COLOURS: return (const void *)elements_add<TLED_COLOURS>;
    default: return (const void *)elements_to_slots<TLED_SCATTER_ELEMENTS>;
    }
}

extern "C" modal_status tled_opponent_block(tled_opponent *o, int threads, tled_kernel_use use[2], modal_error *err)
{
    cudaError_t code = cudaSuccess;
    o->block = threads;
    for (int of_nodes = 0; of_nodes < 2 && code == cudaSuccess; of_nodes++) {
        cudaFuncAttributes about = {};
        int blocks = 0;
        code = cudaFuncGetAttributes(&about, kernel_of(o, of_nodes));
        if (code == cudaSuccess) code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_of(o, of_nodes), threads, 0);
        use[of_nodes].registers = about.numRegs;
        use[of_nodes].threads = blocks * threads;
    }
    return modal_cuda_status(code, tled_way_names[o->way], err);
}

extern "C" const float *tled_opponent_displacements(const tled_opponent *o) { return &o->solid.u->x; }
