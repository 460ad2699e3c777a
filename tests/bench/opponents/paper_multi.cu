// SPDX-License-Identifier: Apache-2.0
// Opponent: U q of many objects after section 4.3 of B. Wang and J. Barbic, CUDA Deformers for Model
// Reduction, MIG 2020 (figures 6 to 9, table 3): a warp is floor(32 / C) chunks of C threads; a chunk
// computes Q = floor(C / N) rows of one object (the paper prints a ceiling, its figures show a floor),
// N = ceil(r / 4) threads a row, four products a thread; partial sums go through shared memory and the
// first thread of a row adds them. Matrices are stored chunk after chunk, those of a warp from a
// multiple of 128 bytes on; one kernel and one stream a chunk size. The meta-data (whose q, which rows,
// N) is one record a chunk here, less to read than the paper's record a thread.
#include <cstring>
#include <new>
#include <vector>

#include "kernels/cuda_check.cuh"
#include "tests/bench/opponents/opponents.h"

namespace {

constexpr int WARPS = 16, SIZES = 4, SMALLEST = 5; // chunks of 5, 6, 7, 8

struct Chunk {
    int q;     // where its object's q begins
    int row;   // its first row: 4 (vertex) + component of u
    int shape; // N + 32 rows
    int n_modes;
};

template <int C>
__global__ void __launch_bounds__(WARPS * 32)
    product(int64_t n_chunks, const Chunk *__restrict__ chunks, const float4 *__restrict__ U,
            const float *__restrict__ q, float *__restrict__ u)
{
    constexpr int CHUNKS = 32 / C, WARP_VECTORS = (CHUNKS * C + 7) / 8 * 8;
    __shared__ float part[WARPS][32];
    const int I = threadIdx.y, J = threadIdx.x;
    const int64_t warp = (int64_t)blockIdx.x * WARPS + I, at = warp * CHUNKS + J / C;
    const bool exists = J < CHUNKS * C && at < n_chunks;
    const int in_chunk = J % C;
    int threads = 1, of_row = 0, row = 0, rows = 0, first = 0;
    float sum = 0.0f;
    if (exists) {
        const int4 record = __ldg(reinterpret_cast<const int4 *>(chunks) + at);
        threads = record.z % 32, rows = record.z / 32, first = record.y;
        row = in_chunk / threads, of_row = in_chunk % threads;
        if (row < rows) {
            const float4 a = __ldg(U + warp * WARP_VECTORS + J);
            const float *mine = q + record.x + 4 * of_row;
            const int left = record.w - 4 * of_row; // modes; U holds zeros past them
            sum = a.x * __ldg(mine);
            if (left > 1) sum += a.y * __ldg(mine + 1);
            if (left > 2) sum += a.z * __ldg(mine + 2);
            if (left > 3) sum += a.w * __ldg(mine + 3);
        }
    }
    part[I][J] = sum;
    __syncwarp();
    if (exists && row < rows && of_row == 0) {
        float total = 0.0f;
        for (int i = 0; i < threads; i++) total += part[I][J + i];
        const int component = first % 4 + row; // three of four hold a component
        u[first / 4 * 4 + component / 3 * 4 + component % 3] = total;
    }
}

int chunk_size(paper_chunks chunks, int threads)
{
    static const int first[9] = {0, 6, 6, 6, 8, 6, 6, 8, 8}, second[9] = {0, 8, 8, 6, 8, 6, 6, 8, 8},
                     four[9] = {0, 6, 6, 6, 8, 5, 6, 7, 8};
    switch (chunks) {
    case PAPER_CHUNKS_6_8_FIRST:
    case PAPER_A_RANK: return first[threads];
    case PAPER_CHUNKS_6_8_SECOND: return second[threads];
    case PAPER_CHUNKS_5_6_7_8: return four[threads];
    default: return 8;
    }
}

} // namespace

struct paper_multi {
    int64_t n_chunks[SIZES], vectors[SIZES];
    Chunk *d_chunks[SIZES];
    float4 *d_matrix[SIZES]; // [n_copies, vectors]
    int64_t n_copies;
    int n_kernels;
    cudaStream_t streams[SIZES];
    cudaEvent_t begun, ended[SIZES];
    // of PAPER_A_RANK: chunks of one r lie together, and have a launch of their own
    bool by_rank;
    std::vector<int64_t> first[SIZES];
};

extern "C" paper_multi *paper_multi_delete(paper_multi *m)
{
    if (!m) return nullptr;
    for (int i = 0; i < SIZES; i++) {
        cudaFree(m->d_chunks[i]);
        cudaFree(m->d_matrix[i]);
        if (m->streams[i]) cudaStreamDestroy(m->streams[i]);
        if (m->ended[i]) cudaEventDestroy(m->ended[i]);
    }
    if (m->begun) cudaEventDestroy(m->begun);
    delete m;
    return nullptr;
}

// Objects of `rank` modes, or of all where that is 0.
static void pack(const plant_scene *scene, paper_chunks chunks, int rank, std::vector<Chunk> *records,
                 std::vector<float4> *matrices)
{
    for (int32_t o = 0; o < scene->n_objects; o++) {
        if (rank && scene->modes[o] != rank) continue;
        const int r = scene->modes[o], threads = (r + 3) / 4, size = chunk_size(chunks, threads);
        const int rows = size / threads, per_warp = 32 / size, vectors = (per_warp * size + 7) / 8 * 8;
        const int64_t n_rows = 3 * (int64_t)scene->vertices[o];
        std::vector<Chunk> &mine = records[size - SMALLEST];
        std::vector<float4> &matrix = matrices[size - SMALLEST];
        for (int64_t row = 0; row < n_rows; row += rows) {
            const int count = (int)(n_rows - row < rows ? n_rows - row : rows);
            const size_t at = mine.size();
            mine.push_back({(int)scene->first_mode[o],
                            (int)(4 * (scene->first_padded[o] + row / 3) + row % 3),
                            threads + 32 * count, r});
            if (at % per_warp == 0) matrix.resize(matrix.size() + vectors, float4{0, 0, 0, 0});
            float *to = &matrix[at / per_warp * vectors + at % per_warp * size].x;
            for (int i = 0; i < count; i++)
                for (int k = 0; k < r; k++)
                    to[i * threads * 4 + k] = plant_scene_u(scene, o, row + i, k);
        }
    }
}

static modal_status upload(paper_multi *m, int i, const std::vector<Chunk> &records,
                           const std::vector<float4> &matrix, modal_error *err)
{
    m->n_chunks[i] = (int64_t)records.size();
    m->vectors[i] = (int64_t)matrix.size();
    if (records.empty()) return MODAL_OK;
    m->n_kernels++; // or streams, where each has many launches
    const size_t bytes = matrix.size() * sizeof(float4);
    cudaError_t code = cudaMalloc((void **)&m->d_chunks[i], records.size() * sizeof(Chunk));
    if (code == cudaSuccess) code = cudaMalloc((void **)&m->d_matrix[i], bytes * (size_t)m->n_copies);
    if (code == cudaSuccess)
        code = cudaMemcpy(m->d_chunks[i], records.data(), records.size() * sizeof(Chunk),
                          cudaMemcpyHostToDevice);
    for (int64_t copy = 0; code == cudaSuccess && copy < m->n_copies; copy++)
        code = cudaMemcpy(m->d_matrix[i] + copy * m->vectors[i],
                          copy ? (const void *)m->d_matrix[i] : (const void *)matrix.data(), bytes,
                          copy ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice);
    if (code == cudaSuccess) code = cudaStreamCreateWithFlags(&m->streams[i], cudaStreamNonBlocking);
    if (code == cudaSuccess) code = cudaEventCreateWithFlags(&m->ended[i], cudaEventDisableTiming);
    return modal_cuda_status(code, "paper 4.3, packing", err);
}

extern "C" modal_status paper_multi_new(paper_multi **multi, paper_chunks chunks,
                                        const plant_scene *scene, int64_t n_copies,
                                        modal_stream *stream, modal_error *err)
{
    modal_status status = MODAL_OK;
    *multi = nullptr;
    paper_multi *m = new (std::nothrow) paper_multi{};
    if (!m) return modal_error_set(err, MODAL_ERROR_MEMORY, "paper 4.3: no memory");
    m->n_copies = n_copies;
    try {
        std::vector<Chunk> records[SIZES];
        std::vector<float4> matrices[SIZES];
        m->by_rank = chunks == PAPER_A_RANK;
        if (!m->by_rank) pack(scene, chunks, 0, records, matrices);
        for (int r = 1; m->by_rank && r <= 32; r++) {
            for (int i = 0; i < SIZES; i++) { // a launch begins with a warp of its own
                const size_t per_warp = 32 / (i + SMALLEST);
                while (records[i].size() % per_warp) records[i].push_back(Chunk{0, 0, 1, 0});
                m->first[i].push_back((int64_t)records[i].size());
            }
            pack(scene, chunks, r, records, matrices);
        }
        for (int i = 0; m->by_rank && i < SIZES; i++) m->first[i].push_back((int64_t)records[i].size());
        for (int i = 0; i < SIZES && status == MODAL_OK; i++)
            status = upload(m, i, records[i], matrices[i], err);
    } catch (const std::bad_alloc &) {
        status = modal_error_set(err, MODAL_ERROR_MEMORY, "paper 4.3: no memory");
    }
    if (status == MODAL_OK)
        status = modal_cuda_status(cudaEventCreateWithFlags(&m->begun, cudaEventDisableTiming),
                                   "event", err);
    if (status == MODAL_OK)
        status = modal_cuda_status(cudaStreamSynchronize((cudaStream_t)stream), "wait", err);
    *multi = status == MODAL_OK ? m : paper_multi_delete(m);
    return status;
}

extern "C" int paper_multi_kernels(const paper_multi *m) { return m->n_kernels; }

template <int C>
static modal_status launch(const paper_multi *m, int64_t k, const float *q, float *u,
                           cudaStream_t stream, modal_error *err)
{
    constexpr int i = C - SMALLEST, per_warp = 32 / C, per_block = per_warp * WARPS, warp_vectors = (per_warp * C + 7) / 8 * 8;
    const float4 *matrix = m->d_matrix[i] + k % m->n_copies * m->vectors[i];
    modal_status status = MODAL_OK;
    for (size_t part = 0; part < (m->by_rank ? m->first[i].size() - 1 : 1) && status == MODAL_OK; part++) {
        const int64_t first = m->by_rank ? m->first[i][part] : 0, n = (m->by_rank ? m->first[i][part + 1] : m->n_chunks[i]) - first;
        if (n == 0) continue;
        product<C><<<(unsigned)((n + per_block - 1) / per_block), dim3(32, WARPS), 0, stream>>>(
            n, m->d_chunks[i] + first, matrix + first / per_warp * warp_vectors, q, u);
        status = modal_cuda_launched("paper 4.3", err);
    }
    return status;
}

// The first chunk size runs in the caller's stream, each further one in a stream of its own that
// begins and ends with it.
extern "C" modal_status paper_multi_run(const paper_multi *m, int64_t k, const float *q, float *u,
                                        modal_stream *queue, modal_error *err)
{
    const cudaStream_t stream = (cudaStream_t)queue;
    cudaError_t code = m->n_kernels > 1 ? cudaEventRecord(m->begun, stream) : cudaSuccess;
    bool first = true;
    for (int i = SIZES - 1; i >= 0; i--) { // 8 first, the most frequent
        if (m->n_chunks[i] == 0) continue;
        const cudaStream_t mine = first ? stream : m->streams[i];
        if (!first && code == cudaSuccess) code = cudaStreamWaitEvent(mine, m->begun, 0);
        if (code != cudaSuccess) return modal_cuda_status(code, "paper 4.3, streams", err);
        modal_status status;
        switch (i + SMALLEST) {
        case 5: status = launch<5>(m, k, q, u, mine, err); break;
        case 6: status = launch<6>(m, k, q, u, mine, err); break;
        case 7: status = launch<7>(m, k, q, u, mine, err); break;
        default: status = launch<8>(m, k, q, u, mine, err); break;
        }
        if (status != MODAL_OK) return status;
        if (!first) code = cudaEventRecord(m->ended[i], mine);
        first = false;
    }
    for (int i = 0, at = 0; i < SIZES; i++) {
        if (m->n_chunks[i] == 0 || ++at == m->n_kernels) continue; // the last is the caller's stream
        if (code == cudaSuccess) code = cudaStreamWaitEvent(stream, m->ended[i], 0);
    }
    return modal_cuda_status(code, "paper 4.3, streams", err);
}
