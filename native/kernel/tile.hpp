// Some query rows of one (sequence, kv head) against a run of keys, by online softmax: six rows at a time, 512 keys
// between two corrections of the running maximum (Milakov & Gimelshein 2018; Dao et al. 2022).
#pragma once
#include "direct.hpp"
#include "mask.hpp"
#include "micro.hpp"
#include "observe.hpp"

namespace pozor::POZOR_ISA {

enum Status : uint8_t { kHidden, kPartly, kWhole };
constexpr int kGroups = static_cast<int>(kBlock / kGroup);
constexpr int64_t kShort = 16;  // so many queries are split over keys, not over rows

// Where the keys and values of a tile come from: packed beforehand, or packed block by block into the tile's memory.
template <class P> struct Source {
    const typename P::Real* keys = nullptr;    // panels from key 0
    const typename P::Real* values = nullptr;  // rows from key 0, v_padded apart
};

template <class P> struct Tile {
    using Real = typename P::Real;
    static constexpr int W = lanes<Real>;

    const Problem& p;
    const Sizes<P> size;
    const Scoring<Real> how;
    Sight sight;
    Observer<Real> seen;
    int64_t kv_head = 0, padded_units;
    const int64_t run_of_units;
    bool values_lie;      // v can be read in place
    bool direct = false;  // one or two queries: keys and values are read where they lie, in their own dtype
    Real *q, *acc, *scores, *probs, *tail, *keys_here, *values_here, *clean;
    Real *m, *l;
    Real* best;  // of each row and group at hand, a vector of largest scores
    // the six rows and the block of keys at hand
    int row = 0, count = 0;
    int64_t key = 0;
    uint8_t status[kGroups];
    uint64_t words[kRows][kGroups];
    bool raw = false;   // the keys of this block were not packed
    Ahead ahead;
    int poisoned = -1;  // whether a value of this block is not finite; -1: not looked yet

    explicit Tile(const Problem& problem)
        : p(problem), size(problem), how(problem), sight(problem), seen(problem, how),
          padded_units(round_up(size.units, W)),
          run_of_units(p.q_len <= kShort ? kShortRun : size.units > kRun ? kWideRun : kRun) {
        values_lie = P::pair == 1 && p.v && p.v.stride[3] == static_cast<int64_t>(sizeof(Real)) &&
                     size_of(p.v.dtype) == static_cast<int64_t>(sizeof(Real)) && p.v_head_dim % W == 0 &&
                     p.v.stride[2] % static_cast<int64_t>(sizeof(Real)) == 0;
        carve(static_cast<Real*>(scratch((numbers() + 64) * static_cast<int64_t>(sizeof(Real)) + seen.bytes())));
    }

    int64_t numbers() const {
        return kTileRows * (padded_units + size.v_padded + 2) + kRows * (2 * kBlock + kGroups * W) + W * padded_units +
               kBlock * (size.units + 2 * size.v_padded) + 16 * W;
    }
    void carve(Real* next) {
        auto take = [&](int64_t n) {
            Real* here = next;
            next += round_up(n, W);
            return here;
        };
        q = take(kTileRows * padded_units);
        acc = take(kTileRows * size.v_padded);
        m = take(kTileRows);
        l = take(kTileRows);
        scores = take(kRows * kBlock);
        probs = P::pair == 1 ? scores : take(kRows * kBlock / P::pair);
        best = take(kRows * kGroups * W);
        tail = take(W * padded_units);
        keys_here = take(kBlock * size.units);
        values_here = take(kBlock * size.v_padded);
        clean = take(kBlock * size.v_padded);
        seen.carve(reinterpret_cast<char*>(next));
    }

    // Rows are (head, query) pairs set in sight by the caller; looks at keys [start, stop).
    void run(int64_t start, int64_t stop, Source<P> from) {
        begin();
        sight.look(start, stop);
        for (key = sight.first / kBlock * kBlock; key < sight.last && !cancelled(); key += kBlock) {
            // what this tile needs of the block
            const int64_t first = most(key, sight.first / kGroup * kGroup), last = least(key + kBlock, sight.last);
            const bool raw_keys = direct && p.k.stride[3] == size_of(p.k.dtype);
            const bool raw_values = direct && p.v && p.v.stride[3] == size_of(p.v.dtype) && p.v_head_dim % W == 0;
            const Real* k = from.keys ? from.keys + key * size.units : keys_here;
            if (!from.keys && !raw_keys)
                pack_keys<P>(keys_here + (first - key) * size.units, p.k, sight.b, kv_head, first, last, p.head_dim,
                             size.units, tail);
            const Real* v = values_here;
            int64_t v_stride = size.v_padded;
            if (raw_values) {
                v = nullptr;
            } else if (p.v && values_lie && !from.values) {
                v = reinterpret_cast<const Real*>(p.v.at(sight.b, kv_head, key));
                v_stride = p.v.stride[2] / static_cast<int64_t>(sizeof(Real));
            } else if (from.values) {
                v = from.values + key / P::pair * size.v_padded;
            } else if (p.v) {
                pack_values<P>(values_here + (first - key) / P::pair * size.v_padded, p.v, sight.b, kv_head, first,
                               last, p.v_head_dim, size.v_padded);
            }
            poisoned = -1;
            ahead = next_block(from, v, v_stride);
            raw = raw_keys;
            const bool whole = sight.all_seen(key, key + kBlock) && !how.transform;
            if (whole) see_all();
            for (row = 0; row < sight.rows; row += kRows) {
                count = static_cast<int>(least(kRows, sight.rows - row));
                if (!whole && !survey()) continue;
                score(k);
                Real factor[kRows];
                soften(factor);
                if (p.v) gather(v, v_stride, factor);
            }
        }
    }

    // The keys of one block alone, and its scores row by row: f(row, scores, status, words).
    void pack_all(int64_t first, int64_t last) {
        pack_keys<P>(keys_here, p.k, sight.b, kv_head, first, last, p.head_dim, size.units, tail);
    }
    template <class F> void score_all(int64_t at, F f) {
        take_queries();
        key = at;
        for (row = 0; row < sight.rows; row += kRows) {
            count = static_cast<int>(least(kRows, sight.rows - row));
            if (!survey()) continue;
            score(keys_here);
            for (int i = 0; i < count; ++i) f(row + i, scores + i * kBlock, status, words[i]);
        }
    }

    // The same without scores, where only what is visible counts.
    template <class F> void survey_all(int64_t at, F f) {
        key = at;
        for (row = 0; row < sight.rows; row += kRows) {
            count = static_cast<int>(least(kRows, sight.rows - row));
            if (!survey()) continue;
            for (int i = 0; i < count; ++i) f(row + i, scores, status, words[i]);
        }
    }

    // A row with a NaN: online maxima pass over it, so its largest logits are looked for again, NaN first; and no sum
    // of it is a number.
    void rank_again(int r, Source<P> from) {
        const Real infinity = static_cast<Real>(__builtin_inf());
        Real top = -infinity;
        row = r;
        count = 1;
        seen.forget_top(r);
        for (key = sight.lo[r] / kBlock * kBlock; key < sight.hi[r]; key += kBlock) {
            raw = false;
            if (!from.keys) pack_all(key, least(key + kBlock, p.kv_len));
            if (!survey()) continue;
            score(from.keys ? from.keys + key * size.units : keys_here);
            for (int64_t j = 0; j < kBlock; ++j) {
                if (status[j / kGroup] == kHidden || !(words[0][j / kGroup] >> (j % kGroup) & 1)) continue;
                const Real s = scores[j];
                top = s > top || s != s ? s : top;
                seen.insert_top(r, s != s ? infinity : s, key + j);
                seen.mark(r, sight.query[r] + p.q_offset[sight.b] - key - j);
            }
        }
        m[r] = top;
    }

    void begin() {
        take_queries();
        for (int r = 0; r < sight.rows; ++r) {
            m[r] = -static_cast<Real>(__builtin_inf());
            l[r] = 0;
        }
        std::memset(acc, 0, static_cast<size_t>(sight.rows * size.v_padded) * sizeof(Real));
        seen.begin(sight.rows);
    }

  private:
    // A share of the next block for each group of each panel.
    Ahead next_block(Source<P> from, const Real* v, int64_t v_stride) const {
        const int64_t more = least(kBlock, sight.last - key - kBlock);
        Ahead next;
        if (more <= 0) return next;
        constexpr int64_t real = sizeof(Real);
        if (from.keys) {
            next.keys = reinterpret_cast<const char*>(from.keys + (key + kBlock) * size.units);
            next.keys_end = next.keys + more * size.units * real;
        }
        if (v != nullptr && v != values_here && p.v) {
            next.values = reinterpret_cast<const char*>(v + kBlock / P::pair * v_stride);
            next.values_end = next.values + more / P::pair * v_stride * real;
        }
        const int64_t steps = (sight.rows + kRows - 1) / kRows * kGroups * 64;
        next.lines = static_cast<int>(most(next.keys_end - next.keys, next.values_end - next.values) / steps + 1);
        return next;
    }

    void take_queries() {
        constexpr int early = 8;  // rows asked for before they are read
        for (int r = 0; r < sight.rows; ++r) {
            if (r + early < sight.rows) {
                const char* next = p.q.at(sight.b, sight.head[r + early], sight.query[r + early]);
                for (int64_t c = 0; c < p.head_dim * p.q.stride[3]; c += 64) __builtin_prefetch(next + c, 0, 3);
            }
            Real* to = q + r * padded_units;
            row_units<P>(to, p.q.at(sight.b, sight.head[r], sight.query[r]), p.q.stride[3], p.q.dtype, p.head_dim,
                         padded_units);
            if (how.flip || how.fold != 1) turn(to);
        }
    }
    void turn(Real* row_of_q) {
        if constexpr (P::pair == 2) {  // a scale to fold keeps off this path
            uint16_t* half = reinterpret_cast<uint16_t*>(row_of_q);
            for (int64_t i = 0; i < p.head_dim; ++i) half[i] ^= 0x8000;
        } else {
            const double factor = how.flip ? -how.fold : how.fold;
            for (int64_t i = 0; i < p.head_dim; ++i) row_of_q[i] = static_cast<Real>(row_of_q[i] * factor);
        }
    }

    // The same without looking, where every row sees every key of the block.
    void see_all() {
        for (int g = 0; g < kGroups; ++g) {
            status[g] = kWhole;
            for (int i = 0; i < kRows; ++i) words[i][g] = ~uint64_t{0};
        }
    }

    // Sets status and words; false if these rows see nothing here.
    bool survey() {
        int64_t lo = p.kv_len, hi = 0, inner_lo = 0, inner_hi = p.kv_len;
        for (int i = 0; i < count; ++i) {
            const int64_t a = sight.lo[row + i], z = sight.hi[row + i];
            if (a < z) {
                lo = least(lo, a);
                hi = most(hi, z);
            }
            inner_lo = most(inner_lo, a);
            inner_hi = least(inner_hi, z);
        }
        bool any = false;
        for (int g = 0; g < kGroups; ++g) {
            const int64_t at = key + g * kGroup;
            status[g] = kHidden;
            if (at >= hi || at + kGroup <= lo) continue;
            if (sight.interval() && at >= inner_lo && at + kGroup <= inner_hi) {
                status[g] = kWhole;
                for (int i = 0; i < count; ++i) words[i][g] = ~uint64_t{0};
                any = true;
                continue;
            }
            uint64_t some = 0, all = ~uint64_t{0};
            for (int i = 0; i < count; ++i) {
                words[i][g] = sight.word(row + i, at);
                some |= words[i][g];
                all &= words[i][g];
            }
            if (some == 0) continue;
            status[g] = all == ~uint64_t{0} ? kWhole : kPartly;
            any = true;
        }
        return any;
    }

    void score(const Real* k) {
        const Real* q_rows = q + row * padded_units;
        const Vec<Real> hidden = splat<Real>(-static_cast<Real>(__builtin_inf()));
        for (int g = 0; g < kGroups; ++g)
            if (!kWholeGroup<P> || raw || status[g] == kHidden)
                for (int i = 0; i < count; ++i) store<Real>(best + (i * kGroups + g) * W, hidden);
        for (int g = 0, end; g < kGroups; g = end) {
            end = g + 1;
            if (status[g] == kHidden) continue;
            const bool plain = status[g] == kWhole && !how.transform;
            while (plain && end < kGroups && status[end] == kWhole) ++end;
            const int64_t j = g * kGroup;
            if (raw) {
                dots_here(q_rows, j, least(end * kGroup, p.kv_len - key), plain);
            } else {
                scores_of<P>(count, plain, q_rows, padded_units, k + j * size.units, size.units, run_of_units, end * kGroup - j,
                             scores + j, kBlock, best + g * W, kGroups * W, ahead);
            }
            if (plain) continue;
            for (int i = 0; i < count; ++i) {
                Real* s = scores + i * kBlock + g * kGroup;
                const uint64_t before = words[i][g];
                if (how.transform)
                    words[i][g] = to_logits<Real>(how, p, sight.b, sight.head[row + i], sight.query[row + i],
                                                  key + g * kGroup, s, before);
                if (words[i][g] != ~uint64_t{0}) status[g] = kPartly;
                Vec<Real> top = hidden;
                for (int j = 0; j < kGroup; j += W) {
                    // select, not add: what is hidden may be NaN
                    const Vec<Real> x = select<Real>(words[i][g] >> j, load(s + j), hidden);
                    store<Real>(s + j, x);
                    top = max<Real>(x, top);
                }
                store<Real>(best + (i * kGroups + g) * W, top);
            }
        }
    }

    void dots_here(const Real* q_rows, int64_t a, int64_t z, bool want_max) {
        if constexpr (P::pair == 1) {
            with_dtype<Real>(p.k.dtype, [&](auto dtype) {
                dots_of<Real, dtype.value>(count, q_rows, padded_units, p.k, sight.b, kv_head, key + a, key + z,
                                           p.head_dim, scores + a, kBlock);
            });
            if (!want_max) return;
            for (int i = 0; i < count; ++i) {
                Real* tops = best + i * kGroups * W;
                for (int64_t j = a; j < z; j += W) {
                    Real* top = tops + j / kGroup * W;
                    store<Real>(top, max<Real>(load(scores + i * kBlock + j), load(top)));
                }
            }
        }
    }

    // The lanes of the vectors of some rows joined, a row to a lane; in the same order whatever the rows beside it.
    template <class Op> static POZOR_INLINE void join_rows(const Vec<Real>* of_row, Real* joined, Op op) {
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
    void soften(Real* factor) {
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
            const Vec<Real> change = how.differences ? (old - larger) * bits : old * bits - larger * bits;
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

    template <bool See, bool Differences> POZOR_INLINE Vec<Real> exponentials(Real* s, int i, Real base) {
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

    // acc = acc * factor + probs . v over the runs of groups that are not hidden
    void gather(const Real* v, int64_t v_stride, const Real* factor) {
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
    void in_runs(int rows, const Real* weights, const Real* v, int64_t v_stride, int64_t units, Real* to,
                 const Real* factor) {
        constexpr Real one[kRows] = {1, 1, 1, 1, 1, 1};
        for (int64_t u = 0; u < units; u += kValueRun)
            add_values<P>(rows, weights + u, kBlock / P::pair, v + u * v_stride, v_stride, least(kValueRun, units - u),
                          size.v_padded, to, size.v_padded, u == 0 ? factor : one);
    }

    // One or two queries: what a row may not see is skipped key by key where something is hidden.
    void gather_raw(int64_t a, int64_t n, const Real* factor, bool partly) {
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
    bool visible(int i, int64_t j) const { return words[i][j / kGroup] >> (j % kGroup) & 1; }

    template <Dtype D>
    void raw_columns(int rows, const Real* weights, const char* v, int64_t first, int64_t n, Real* to,
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

    bool any_not_finite(const Real* v, int64_t v_stride) const {
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
    void gather_clean(const Real* v, int64_t v_stride, int64_t a, int64_t units, const Real* factor) {
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
};

}  // namespace pozor::POZOR_ISA
