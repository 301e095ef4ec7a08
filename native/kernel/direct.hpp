// One or two queries: keys and values are read once, where they lie, in their own dtype. Scores are dot products along
// head_dim; sixteen (on AVX-512) sums are added up across their lanes together.
#pragma once
#include "pack.hpp"

namespace pozor::POZOR_ISA {

constexpr int64_t kDirect = 2;  // so many queries read keys and values where they lie
constexpr int64_t kEarly = 24;  // keys that are asked for before they are read

template <class T, Dtype D> struct Raw;
template <> struct Raw<float, Dtype::f32> {
    using Item = float;
    static POZOR_INLINE Vec<float> get(const Item* p) { return load(p); }
};
template <> struct Raw<double, Dtype::f64> {
    using Item = double;
    static POZOR_INLINE Vec<double> get(const Item* p) { return load(p); }
};
template <> struct Raw<float, Dtype::f16> {
    using Item = uint16_t;
    static POZOR_INLINE Vec<float> get(const Item* p) { return load_half(p); }
};
template <> struct Raw<float, Dtype::bf16> {
    using Item = uint16_t;
    static POZOR_INLINE Vec<float> get(const Item* p) { return load_bfloat(p); }
};

// scores[r][j] = q[r] . key[j] for R rows and W / R keys; `next` items further lie keys to ask for early. `whole` items are read as vectors, `rest` one by one.
template <class T, Dtype D, int R>
POZOR_INLINE void dots(const T* q, int64_t q_stride, const char* const* key, int64_t next, int64_t whole, int64_t rest,
                       T* scores, int64_t s_stride) {
    using Item = typename Raw<T, D>::Item;
    constexpr int W = lanes<T>, N = W / R;
    Vec<T> sum[W];
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) sum[i] = Vec<T>{};
    const Item* k[N];
#pragma GCC unroll 16
    for (int j = 0; j < N; ++j) k[j] = reinterpret_cast<const Item*>(key[j]);
    for (int64_t c = 0; c < whole; c += W) {
        Vec<T> row[R];
#pragma GCC unroll 16
        for (int r = 0; r < R; ++r) row[r] = load(q + r * q_stride + c);
#pragma GCC unroll 16
        for (int j = 0; j < N; ++j) {
            const Vec<T> x = Raw<T, D>::get(k[j] + c);
            prefetch(k[j] + c + next);
#pragma GCC unroll 16
            for (int r = 0; r < R; ++r) sum[r * N + j] = fma<T>(row[r], x, sum[r * N + j]);
        }
    }
    if (rest > 0) {
        alignas(64) Item some[W] = {};
        for (int j = 0; j < N; ++j) {
            std::memcpy(some, k[j] + whole, static_cast<size_t>(rest) * sizeof(Item));
            const Vec<T> x = Raw<T, D>::get(some);
            for (int r = 0; r < R; ++r) sum[r * N + j] = fma<T>(load(q + r * q_stride + whole), x, sum[r * N + j]);
        }
    }
    alignas(64) T result[W];
    store<T>(result, across<T, W>(sum, [](Vec<T> a, Vec<T> b) { return a + b; }));
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) std::memcpy(scores + r * s_stride, result + r * N, N * sizeof(T));
}

// scores of `rows` queries and keys [first, last) of one head; q has rows for up to W / 4 more.
template <class T, Dtype D>
inline void dots_of(int rows, const T* q, int64_t q_stride, const View& k, int64_t b, int64_t h, int64_t first,
                    int64_t last, int64_t head_dim, T* scores, int64_t s_stride) {
    constexpr int W = lanes<T>, most_rows = W >= 16 ? 4 : W >= 8 ? 2 : 1;
    const int64_t whole = head_dim / W * W, rest = head_dim - whole;
    const int64_t next = kEarly * k.stride[2] / size_of(D);
    for (int64_t j = first; j < last; j += W) {
        const char* key[W];
        for (int n = 0; n < W; ++n) key[n] = k.at(b, h, least(j + n, last - 1));
        for (int r = 0; r < rows;) {
            auto some = [&](auto count) {
                constexpr int R = count.value, N = W / R;
                for (int n = 0; n < W; n += N)
                    dots<T, D, R>(q + r * q_stride, q_stride, key + n, next, whole, rest, scores + r * s_stride + j - first + n,
                                  s_stride);
                r += R;
            };
            const int left = rows - r;
            if (most_rows >= 4 && left >= 3) some(std::integral_constant<int, most_rows >= 4 ? 4 : 1>{});
            else if (most_rows >= 2 && left >= 2) some(std::integral_constant<int, most_rows >= 2 ? 2 : 1>{});
            else some(std::integral_constant<int, 1>{});
        }
    }
}

// acc[i] = acc[i] * factor[i] + probs[i] . v over keys [first, first + n), v in its own dtype.
template <class T, Dtype D, int MR, int NV>
POZOR_INLINE void values_where_they_lie(const T* probs, int64_t p_stride, const char* v, int64_t v_stride, int64_t n,
                                        T* acc, int64_t a_stride, const T* factor) {
    using Item = typename Raw<T, D>::Item;
    constexpr int W = lanes<T>;
    Vec<T> sum[MR][NV];
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j) sum[i][j] = load(acc + i * a_stride + j * W) * splat<T>(factor[i]);
    const int64_t next = kEarly * v_stride / size_of(D);
    for (int64_t u = 0; u < n; ++u) {
        const Item* row = reinterpret_cast<const Item*>(v + u * v_stride);
        Vec<T> value[NV];
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j) {
            value[j] = Raw<T, D>::get(row + j * W);
            prefetch(row + j * W + next);
        }
#pragma GCC unroll 8
        for (int i = 0; i < MR; ++i) {
            const Vec<T> x = splat<T>(probs[i * p_stride + u]);
#pragma GCC unroll 8
            for (int j = 0; j < NV; ++j) sum[i][j] = fma<T>(x, value[j], sum[i][j]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j) store<T>(acc + i * a_stride + j * W, sum[i][j]);
}

template <class T, class F> POZOR_INLINE void with_dtype(Dtype dtype, F f) {
    if constexpr (sizeof(T) == 8) {
        f(std::integral_constant<Dtype, Dtype::f64>{});
    } else {
        if (dtype == Dtype::f32) f(std::integral_constant<Dtype, Dtype::f32>{});
        else if (dtype == Dtype::f16) f(std::integral_constant<Dtype, Dtype::f16>{});
        else f(std::integral_constant<Dtype, Dtype::bf16>{});
    }
}

}  // namespace pozor::POZOR_ISA
