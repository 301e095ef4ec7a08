// Of a tile: from the scores of six rows to their exponentials and running sums.
#pragma once
#include "tile.hpp"

namespace pozor::POZOR_ISA {

// The lanes of the vectors of some rows joined, a row to a lane; in the same order whatever the rows beside it.
template <class P>
template <class Op>
POZOR_INLINE void Tile<P>::join_rows(const Vec<Real>* of_row, Real* joined, Op op) {
    if constexpr (W >= kRows) {
        Vec<Real> v[kRows];
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) v[i] = of_row[i];
        store<Real>(joined, across<Real, kRows>(v, op));
    } else {
        for (int i = 0; i < kRows; ++i) joined[i] = reduce<Real>(of_row[i], op);
    }
}

// scores -> exp(logit - running maximum) in probs; factor: what the sums so far are multiplied by.
template <class P> inline void Tile<P>::soften(Real* factor) {
    alignas(64) Real top[kRows + W], now[kRows + W], drop[kRows + W], times[kRows + W];
    const Vec<Real> minus_inf = splat<Real>(-static_cast<Real>(__builtin_inf())), bits = splat<Real>(how.to_bits);
    Vec<Real> of_row[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {  // those beyond count are not used
        of_row[i] = load(best + i * kGroups * W);
        for (int g = 1; g < kGroups; ++g) of_row[i] = max<Real>(load(best + (i * kGroups + g) * W), of_row[i]);
    }
    join_rows(of_row, top, [](Vec<Real> a, Vec<Real> b) { return max<Real>(a, b); });
    for (int i = 0; i < kRows; i += W) {
        const Vec<Real> old = load(m + row + i), larger = max<Real>(load(top + i), old);
        const Vec<Real> change = how.differences ? (old - larger) * bits
                                                 : product<Real>(old, bits) - product<Real>(larger, bits);
        store<Real>(now + i, larger);
        store<Real>(drop + i, old == minus_inf ? minus_inf : change);
        store<Real>(times + i, exp2<Real>(load(drop + i)));
    }
    if (seen.active) seen.rank(row, count, key, scores, best);
    for (int i = 0; i < count; ++i) {
        factor[i] = times[i];
        Real* s = scores + i * kBlock;
        const int r = row + i;
        m[r] = now[i];
        const Real base = now[i] == minus_inf[0] ? 0 : now[i];
        if (seen.active) {
            seen.before(r, i, s, status, best + i * kGroups * W, factor[i], drop[i], l[r]);
            of_row[i] = how.differences ? exponentials<true, true>(s, i, base) : exponentials<true, false>(s, i, base);
        } else {
            of_row[i] = how.differences ? exponentials<false, true>(s, i, base) : exponentials<false, false>(s, i, base);
        }
    }
    join_rows(of_row, top, [](Vec<Real> a, Vec<Real> b) { return a + b; });
    for (int i = 0; i < count; ++i) l[row + i] = l[row + i] * factor[i] + top[i];
    // a loop of its own: what was just written is slow to read off its grid
    for (int i = 0; seen.active && i < count; ++i) {
        const int r = row + i;
        seen.after(r, i, key, scores + i * kBlock, status, words[i], m[r], top[i], sight.lo[r], sight.hi[r],
                   p.q_offset[sight.b] + sight.query[r]);
    }
}

template <class P>
template <bool See, bool Differences>
POZOR_INLINE Vec<typename P::Real> Tile<P>::exponentials(Real* s, int i, Real base) {
    const Vec<Real> scale = splat<Real>(how.to_bits), from = splat<Real>(base), shift = splat<Real>(-base * how.to_bits);
    Vec<Real> sum{}, weighted{};
    [[maybe_unused]] const Vec<Real> floor = splat<Real>(Real(-2000));
    for (int g = 0; g < kGroups; ++g) {
        if (status[g] == kHidden) continue;
        Real* group = s + g * kGroup;
        [[maybe_unused]] Vec<Real> narrow{};
        Vec<Real> part[2] = {Vec<Real>{}, Vec<Real>{}};
#pragma GCC unroll 4
        for (int j = 0; j < kGroup; j += W) {
            const Vec<Real> x = load(group + j);
            const Vec<Real> y = Differences ? (x - from) * scale : fma<Real>(x, scale, shift);
            const Vec<Real> e = exp2<Real>(y);
            // -inf * 0 is NaN; below the floor e is 0 anyway
            if constexpr (See) weighted = fma<Real>(e, max<Real>(floor, y), weighted);
            part[j / W % 2] += e;
            if constexpr (P::pair == 2) {
#if defined(__AVX512BF16__)
                if (j / W % 2 == 1)
                    store<Real>(probs + (i * kBlock + g * kGroup + j - W) / 2, narrow_pairs(narrow, e));
#endif
                narrow = e;
            }
            if (P::pair == 1 || See) store<Real>(group + j, e);
        }
        part[0] += part[1];
        if constexpr (See) seen.sum_of_group(i, g, part[0]);
        sum += part[0];
    }
    if constexpr (See) seen.weigh(row + i, reduce_add<Real>(weighted));
    return sum;
}

}  // namespace pozor::POZOR_ISA
