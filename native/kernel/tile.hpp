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
        // dot products take up to 4 rows together: what lies beyond must not be slow numbers, such as denormal ones
        const int64_t beyond = least(3, kTileRows - sight.rows);
        std::memset(q + sight.rows * padded_units, 0, static_cast<size_t>(beyond * padded_units) * sizeof(Real));
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

    // soften.hpp: scores -> exp(logit - running maximum) in probs; factor: what the sums so far are multiplied by.
    template <class Op> static void join_rows(const Vec<Real>* of_row, Real* joined, Op op);
    void soften(Real* factor);
    template <bool See, bool Differences> Vec<Real> exponentials(Real* s, int i, Real base);

    // gather.hpp: acc = acc * factor + probs . v over the runs of groups that are not hidden
    void gather(const Real* v, int64_t v_stride, const Real* factor);
    void in_runs(int rows, const Real* weights, const Real* v, int64_t v_stride, int64_t units, Real* to, const Real* factor);
    void gather_raw(int64_t a, int64_t n, const Real* factor, bool partly);
    bool visible(int i, int64_t j) const { return words[i][j / kGroup] >> (j % kGroup) & 1; }
    template <Dtype D>
    void raw_columns(int rows, const Real* weights, const char* v, int64_t first, int64_t n, Real* to, const Real* factor);
    bool any_not_finite(const Real* v, int64_t v_stride) const;
    void gather_clean(const Real* v, int64_t v_stride, int64_t a, int64_t units, const Real* factor);
};

}  // namespace pozor::POZOR_ISA

#include "gather.hpp"
#include "soften.hpp"
