// Of a tile: sums of values, weighted by the exponentials of six rows; what a row may not see cannot reach it.
#pragma once
#include "tile.hpp"

namespace pozor::POZOR_ISA {

// acc = acc * factor + probs . v over the runs of groups that are not hidden
template <class P> inline void Tile<P>::gather(const Real* v, int64_t v_stride, const Real* factor) {
    constexpr Real one[kRows] = {1, 1, 1, 1, 1, 1};
    int64_t lo = p.kv_len, hi = 0;
    bool partly = false;
    for (int i = 0; i < count; ++i)
        if (sight.lo[row + i] < sight.hi[row + i]) {
            lo = least(lo, sight.lo[row + i]);
            hi = most(hi, sight.hi[row + i]);
        }
    for (int g = 0; g < kGroups; ++g) partly |= status[g] == kPartly;
    if (v != nullptr && partly && poisoned < 0) poisoned = any_not_finite(v, v_stride);
    for (int g = 0; g < kGroups;) {
        if (status[g] == kHidden) {
            ++g;
            continue;
        }
        int end = g;
        while (end < kGroups && status[end] != kHidden) ++end;
        int64_t a = most(lo, key + g * kGroup) - key, z = least(hi, key + end * kGroup) - key;
        a = a / P::pair * P::pair;
        const int64_t units = (z - a + P::pair - 1) / P::pair;
        const Real* from = v + a / P::pair * v_stride;
        const Real* weights = probs + a / P::pair;
        if (v == nullptr)
            gather_raw(a, units, factor, partly);
        else if (partly && poisoned)
            gather_clean(from, v_stride, a, units, factor);
        else
            in_runs(count, weights, from, v_stride, units, acc + row * size.v_padded, factor);
        factor = one;
        g = end;
    }
}

// In runs, so that a sum is not longer than its rounding allows.
template <class P>
inline void Tile<P>::in_runs(int rows, const Real* weights, const Real* v, int64_t v_stride, int64_t units, Real* to,
                             const Real* factor) {
    constexpr Real one[kRows] = {1, 1, 1, 1, 1, 1};
    for (int64_t u = 0; u < units; u += kValueRun)
        add_values<P>(rows, weights + u, kBlock / P::pair, v + u * v_stride, v_stride, least(kValueRun, units - u),
                      size.v_padded, to, size.v_padded, u == 0 ? factor : one);
}

// One or two queries: what a row may not see is skipped key by key where something is hidden.
template <class P> inline void Tile<P>::gather_raw(int64_t a, int64_t n, const Real* factor, bool partly) {
    if constexpr (P::pair == 1) {
        with_dtype<Real>(p.v.dtype, [&](auto dtype) {
            const char* v = p.v.at(sight.b, kv_head, key);
            Real* to = acc + row * size.v_padded;
            if (!partly) return raw_columns<dtype.value>(count, probs, v, a, n, to, factor);
            for (int i = 0; i < count; ++i) {
                const Real* weights = probs + i * kBlock;
                Real* sums = to + i * size.v_padded;
                Real times[kRows] = {factor[i]};
                for (int64_t j = a, end; j < a + n; j = end) {
                    const bool shown = visible(i, j);
                    for (end = j + 1; end < a + n && visible(i, end) == shown; ++end) {
                    }
                    if (!shown) continue;
                    raw_columns<dtype.value>(1, weights, v, j, end - j, sums, times);
                    times[0] = 1;
                }
                if (times[0] != 1)  // nothing shown here: the change of the maximum is still due
                    raw_columns<dtype.value>(1, weights, v, a, 0, sums, times);
            }
        });
    }
}

template <class P>
template <Dtype D>
inline void Tile<P>::raw_columns(int rows, const Real* weights, const char* v, int64_t first, int64_t n, Real* to,
                                 const Real* factor) {
    const char* from = v + first * p.v.stride[2];
    constexpr int NV = kScoreVectors;
    with_rows(rows, [&](auto mr) {
        int64_t c = 0;
        auto some = [&](auto vectors) {
            values_where_they_lie<Real, D, mr.value, vectors.value>(weights + first, kBlock,
                                                                    from + c * size_of(D), p.v.stride[2], n,
                                                                    to + c, size.v_padded, factor);
            c += vectors.value * W;
        };
        while (c + NV * W <= size.v_padded) some(std::integral_constant<int, NV>{});
        while (c < size.v_padded) some(std::integral_constant<int, 1>{});
    });
}

template <class P> inline bool Tile<P>::any_not_finite(const Real* v, int64_t v_stride) const {
    const int64_t first = most(key, sight.first / kGroup * kGroup) - key;
    const int64_t last = least(key + kBlock, sight.last) - key;
    Vec<Real> sum{};
    for (int64_t u = first / P::pair; u < (last + P::pair - 1) / P::pair; ++u)
        for (int64_t c = 0; c < size.v_padded; c += W) {
            const Vec<Real> x = load(v + u * v_stride + c);
            if constexpr (P::pair == 2) {
                sum += (Vec<Real>)((IVec<Real>)x << 16) * Real(0);
                sum += (Vec<Real>)((IVec<Real>)x & static_cast<int32_t>(0xffff0000)) * Real(0);
            } else {
                sum += x * Real(0);
            }
        }
    const Real total = reduce_add<Real>(sum);
    return !(total == 0);
}

// Row by row with the values that it may not see set to 0: 0 * NaN would reach it.
template <class P>
inline void Tile<P>::gather_clean(const Real* v, int64_t v_stride, int64_t a, int64_t units, const Real* factor) {
    for (int i = 0; i < count; ++i) {
        for (int64_t u = 0; u < units; ++u) {
            Real* to = clean + u * size.v_padded;
            std::memcpy(to, v + u * v_stride, static_cast<size_t>(size.v_padded) * sizeof(Real));
            for (int half = 0; half < P::pair; ++half) {
                const int64_t j = a + u * P::pair + half;
                if (words[i][j / kGroup] >> (j % kGroup) & 1) continue;
                if constexpr (P::pair == 2) {
                    uint16_t* pairs = reinterpret_cast<uint16_t*>(to);
                    for (int64_t c = 0; c < size.v_padded; ++c) pairs[2 * c + half] = 0;
                } else {
                    std::memset(to, 0, static_cast<size_t>(size.v_padded) * sizeof(Real));
                }
            }
        }
        in_runs(1, probs + (i * kBlock + a) / P::pair, clean, size.v_padded, units, acc + (row + i) * size.v_padded,
                factor + i);
    }
}

}  // namespace pozor::POZOR_ISA
