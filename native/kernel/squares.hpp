// Probabilities of one head by a stored lse, reduced to squares of `size` x `size` cells: the largest, the sum, and the
// number of visible cells of each. Rows add up column by column; columns are joined once a line of squares is whole.
#pragma once
#include "tile.hpp"

namespace pozor::POZOR_ISA {

template <class P> class SquarePass {
    using Real = typename P::Real;
    static constexpr int W = lanes<Real>;
    const Problem& p;
    const Squares& to;
    const Scoring<Real> how;
    int64_t chunks, columns;

    // One block of keys, some rows.
    struct Sums {
        int64_t line = -1;  // of squares at hand, counted from the first of these rows
        alignas(64) Real top[kBlock], sum[kBlock], seen[kBlock], weight[kBlock];
        int64_t whole[kGroups];  // rows that see a group of keys from end to end
        void begin(int64_t next) {
            line = next;
            for (int64_t j = 0; j < kBlock; ++j) top[j] = sum[j] = seen[j] = 0;
            for (int64_t& n : whole) n = 0;
        }
    };

  public:
    SquarePass(const Problem& problem, const Squares& squares)
        : p(problem), to(squares), how(problem), chunks((problem.q_len + kTileRows - 1) / kTileRows),
          columns((problem.kv_len + squares.size - 1) / squares.size) {
        static_assert(kTileRows % kGroup == 0);  // a square is of one task
    }
    void run() {
        parallel((p.kv_len + kBlock - 1) / kBlock * chunks,
                 [](void* self, int64_t i) { static_cast<SquarePass*>(self)->part(i); }, this);
    }

  private:
    void part(int64_t i) {
        FlushToZero guard;
        const int64_t key = i / chunks * kBlock, first = i % chunks * kTileRows, stop = least(key + kBlock, p.kv_len);
        Tile<P> tile(p);
        tile.sight.rows = static_cast<int>(least(kTileRows, p.q_len - first));
        for (int r = 0; r < tile.sight.rows; ++r) {
            tile.sight.head[r] = 0;
            tile.sight.query[r] = static_cast<int32_t>(first + r);
        }
        tile.sight.look(key, stop);
        if (tile.sight.first >= tile.sight.last) return;
        Sums sums;
        for (int64_t j = 0; j < kBlock; ++j)
            sums.weight[j] = to.weight != nullptr && key + j < stop ? static_cast<Real>(to.weight[key + j]) : 1;
        auto row = [&](int r, const Real* scores, const uint8_t* status, const uint64_t* words) {
            if (r / to.size != sums.line) {
                finish(sums, first, key);
                sums.begin(r / to.size);
            }
            const double lse = to.largest != nullptr ? to.lse[first + r] : 0;
            if (to.largest == nullptr || lse == -__builtin_inf()) count(status, words, sums);
            else if (how.differences) add<true>(lse, scores, status, words, sums);
            else add<false>(lse, scores, status, words, sums);
        };
        if (to.largest != nullptr) {
            tile.pack_all(key, stop);
            tile.score_all(key, row);
        } else {
            tile.survey_all(key, row);
        }
        finish(sums, first, key);
    }

    void count(const uint8_t* status, const uint64_t* words, Sums& sums) {
        for (int64_t g = 0; g < kGroups; ++g) {
            if (status[g] == kHidden || words[g] == 0) continue;
            if (words[g] == ~uint64_t{0}) ++sums.whole[g];
            else count_some(g, words[g], sums);
        }
    }
    POZOR_INLINE void count_some(int64_t g, uint64_t word, Sums& sums) {
        Real* seen = sums.seen + g * kGroup;
        for (int64_t j = 0; j < kGroup; j += W)
            store<Real>(seen + j, load(seen + j) + select<Real>(word >> j, splat<Real>(1), Vec<Real>{}));
    }

    template <bool Differences>
    POZOR_INLINE void add(double lse, const Real* scores, const uint8_t* status, const uint64_t* words, Sums& sums) {
        const Vec<Real> scale = splat<Real>(how.to_bits), shift = splat<Real>(static_cast<Real>(lse / kLn2));
        const Vec<Real> from = splat<Real>(static_cast<Real>(lse / how.to_nats));
        for (int64_t g = 0; g < kGroups; ++g) {
            if (status[g] == kHidden || words[g] == 0) continue;
            const bool whole = words[g] == ~uint64_t{0};
            if (whole) ++sums.whole[g];
            else count_some(g, words[g], sums);
#pragma GCC unroll 4
            for (int64_t j = g * kGroup; j < (g + 1) * kGroup; j += W) {
                const Vec<Real> s = load(scores + j);
                Vec<Real> x = exp2<Real>(Differences ? (s - from) * scale : fma<Real>(s, scale, -shift));
                if (to.weight != nullptr) x *= load(sums.weight + j);
                // select: the NaN of a row must not reach a key that it does not see
                if (!whole) x = select<Real>(words[g] >> (j % kGroup), x, Vec<Real>{});
                store<Real>(sums.top + j, max<Real>(x, load(sums.top + j)));
                store<Real>(sums.sum + j, load(sums.sum + j) + x);
            }
        }
    }

    // A line of squares is whole.
    void finish(const Sums& sums, int64_t first, int64_t key) {
        if (sums.line < 0) return;
        const int64_t at = (first / to.size + sums.line) * columns + key / to.size;
        for (int64_t c = 0; c * to.size < least(kBlock, p.kv_len - key); ++c) {
            Real top = 0;
            double sum = 0, seen = 0;
            for (int64_t j = c * to.size; j < (c + 1) * to.size; ++j) {
                top = sums.top[j] > top ? sums.top[j] : top;
                sum += sums.sum[j];
                seen += sums.seen[j];
            }
            to.count[at + c] = static_cast<int64_t>(seen) + sums.whole[c * to.size / kGroup] * to.size;
            if (to.largest == nullptr) continue;
            to.largest[at + c] = static_cast<float>(sum != sum ? sum : top);
            to.total[at + c] = sum;
        }
    }
};

}  // namespace pozor::POZOR_ISA
