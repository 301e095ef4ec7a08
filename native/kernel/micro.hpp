// The two inner loops: a few rows of queries against a panel of keys, and of probabilities against values. Each sum
// runs over its axis in order, whatever the number of rows beside it: a row's bits do not depend on its neighbours.
#pragma once
#include "pack.hpp"

namespace pozor::POZOR_ISA {

// Units of one sum: longer ones are added up in parts, for their rounding. Few queries wait for memory, not for sums.
constexpr int64_t kRun = kFused ? 128 : 16, kShortRun = 16, kWideRun = kFused ? 64 : 16;
constexpr int64_t kValueRun = kFused ? kBlock : 64;
constexpr int64_t kAhead = 8;    // units whose keys or values are asked for early
constexpr int kRows = 6;       // rows of a panel: 6 x kScoreVectors sums fill the registers

// A panel holds all keys of a group.
template <class P> constexpr bool kWholeGroup = lanes<typename P::Real> * kScoreVectors == kGroup;

// Memory to ask for early, a little at each step: the next block of keys and of values on its way into the second cache.
struct Ahead {
    const char *keys = nullptr, *keys_end = nullptr, *values = nullptr, *values_end = nullptr;
    int lines = 0;  // of each at one step
    POZOR_INLINE void ask() {
        for (int i = 0; i < lines && keys < keys_end; ++i, keys += 64) __builtin_prefetch(keys, 0, 2);
        for (int i = 0; i < lines && values < values_end; ++i, values += 64) __builtin_prefetch(values, 0, 2);
    }
};

// scores[i][0 .. NV*W) = q[i] . k (+ what is there, if ADD), and best[i] = max(best[i], scores) lane by lane if MAX;
// without what was in best where a panel is a whole group.
template <class P, int MR, bool ADD, bool MAX>
POZOR_INLINE void score_panel(const typename P::Real* q, int64_t q_stride, const typename P::Real* k, int64_t units,
                              typename P::Real* scores, int64_t s_stride, typename P::Real* best, int64_t b_stride) {
    using Real = typename P::Real;
    constexpr int W = lanes<Real>, NV = kScoreVectors;
    Vec<Real> sum[MR][NV];
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j) sum[i][j] = Vec<Real>{};
#pragma GCC unroll 4
    for (int64_t u = 0; u < units; ++u) {
        Vec<Real> key[NV];
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j) {
            key[j] = load(k + (u * NV + j) * W);
            prefetch(k + ((u + kAhead) * NV + j) * W);
        }
#pragma GCC unroll 8
        for (int i = 0; i < MR; ++i) {
            const Vec<Real> x = splat<Real>(q[i * q_stride + u]);
#pragma GCC unroll 8
            for (int j = 0; j < NV; ++j) sum[i][j] = multiply_add<P>(x, key[j], sum[i][j]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i) {
        if constexpr (ADD)
#pragma GCC unroll 8
            for (int j = 0; j < NV; ++j) sum[i][j] += load(scores + i * s_stride + j * W);
        if constexpr (MAX) {
            Vec<Real> top = kWholeGroup<P> ? splat<Real>(-static_cast<Real>(__builtin_inf())) : load(best + i * b_stride);
#pragma GCC unroll 8
            for (int j = 0; j < NV; ++j) top = max<Real>(sum[i][j], top);
            store<Real>(best + i * b_stride, top);
        }
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j) store<Real>(scores + i * s_stride + j * W, sum[i][j]);
    }
}

// acc[i] = acc[i] * factor[i] + probs[i] . v for NV vectors of columns.
template <class P, int MR, int NV>
POZOR_INLINE void value_panel(const typename P::Real* probs, int64_t p_stride, const typename P::Real* v,
                              int64_t v_stride, int64_t units, typename P::Real* acc, int64_t a_stride,
                              const typename P::Real* factor) {
    using Real = typename P::Real;
    constexpr int W = lanes<Real>;
    Vec<Real> sum[MR][NV];
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j)
            sum[i][j] = kFused ? load(acc + i * a_stride + j * W) * splat<Real>(factor[i]) : Vec<Real>{};
    for (int64_t u = 0; u < units; ++u) {
        Vec<Real> value[NV];
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j) {
            value[j] = load(v + u * v_stride + j * W);
            prefetch(v + (u + kAhead) * v_stride + j * W);
        }
#pragma GCC unroll 8
        for (int i = 0; i < MR; ++i) {
            const Vec<Real> x = splat<Real>(probs[i * p_stride + u]);
#pragma GCC unroll 8
            for (int j = 0; j < NV; ++j) sum[i][j] = multiply_add<P>(x, value[j], sum[i][j]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < MR; ++i)
#pragma GCC unroll 8
        for (int j = 0; j < NV; ++j) {
            Real* to = acc + i * a_stride + j * W;
            store<Real>(to, kFused ? sum[i][j] : load(to) * splat<Real>(factor[i]) + sum[i][j]);
        }
}

template <class F> POZOR_INLINE void with_rows(int rows, F f) {
    switch (rows) {
        case 1: f(std::integral_constant<int, 1>{}); break;
        case 2: f(std::integral_constant<int, 2>{}); break;
        case 3: f(std::integral_constant<int, 3>{}); break;
        case 4: f(std::integral_constant<int, 4>{}); break;
        case 5: f(std::integral_constant<int, 5>{}); break;
        default: f(std::integral_constant<int, 6>{}); break;
    }
}

// keys / (NV*W) panels, one after the other; best holds a vector for each group of 64 keys.
template <class P, int MR, bool MAX>
POZOR_INLINE void score_panels(const typename P::Real* q, int64_t q_stride, const typename P::Real* k, int64_t units,
                               int64_t run, int64_t keys, typename P::Real* scores, int64_t s_stride, typename P::Real* best,
                               int64_t b_stride, Ahead& ahead) {
    constexpr int W = lanes<typename P::Real>;
    constexpr int64_t panel = W * kScoreVectors;
    for (int64_t j = 0; j < keys; j += panel) {
        const typename P::Real* at = k + j * units;
        if (j % kGroup == 0) ahead.ask();
        typename P::Real *to = scores + j, *top = best + j / kGroup * W;
        if (units <= run) {
            score_panel<P, MR, false, MAX>(q, q_stride, at, units, to, s_stride, top, b_stride);
            continue;
        }
        score_panel<P, MR, false, false>(q, q_stride, at, run, to, s_stride, top, b_stride);
        for (int64_t u = run; u < units; u += run) {
            const int64_t n = least(run, units - u);
            if (u + n < units) score_panel<P, MR, true, false>(q + u, q_stride, at + u * panel, n, to, s_stride, top, b_stride);
            else score_panel<P, MR, true, MAX>(q + u, q_stride, at + u * panel, n, to, s_stride, top, b_stride);
        }
    }
}

template <class P>
inline void scores_of(int rows, bool want_max, const typename P::Real* q, int64_t q_stride, const typename P::Real* k,
                      int64_t units, int64_t run, int64_t keys, typename P::Real* scores, int64_t s_stride,
                      typename P::Real* best, int64_t b_stride, Ahead& ahead) {
    with_rows(rows, [&](auto mr) {
        if (want_max)
            score_panels<P, mr.value, true>(q, q_stride, k, units, run, keys, scores, s_stride, best, b_stride, ahead);
        else
            score_panels<P, mr.value, false>(q, q_stride, k, units, run, keys, scores, s_stride, best, b_stride, ahead);
    });
}

template <class P>
inline void add_values(int rows, const typename P::Real* probs, int64_t p_stride, const typename P::Real* v,
                       int64_t v_stride, int64_t units, int64_t columns, typename P::Real* acc, int64_t a_stride,
                       const typename P::Real* factor) {
    using Real = typename P::Real;
    constexpr int W = lanes<Real>, NV = kScoreVectors;
    with_rows(rows, [&](auto mr) {
        constexpr int MR = mr.value;
        int64_t c = 0;
        // few rows: more columns at once, so that there are enough sums to hide the latency
        if constexpr (MR <= 2 && NV == 4)
            for (; c + 8 * W <= columns; c += 8 * W)
                value_panel<P, MR, 8>(probs, p_stride, v + c, v_stride, units, acc + c, a_stride, factor);
        for (; c + NV * W <= columns; c += NV * W)
            value_panel<P, MR, NV>(probs, p_stride, v + c, v_stride, units, acc + c, a_stride, factor);
        const int64_t rest = (columns - c) / W;
        if constexpr (NV > 2) {
            if (rest == 3) value_panel<P, MR, 3>(probs, p_stride, v + c, v_stride, units, acc + c, a_stride, factor);
            if (rest == 2) value_panel<P, MR, 2>(probs, p_stride, v + c, v_stride, units, acc + c, a_stride, factor);
        }
        if (rest == 1) value_panel<P, MR, 1>(probs, p_stride, v + c, v_stride, units, acc + c, a_stride, factor);
    });
}

}  // namespace pozor::POZOR_ISA
