// What each key receives: the mean of p over the queries that may see it. A second pass, for it needs every row's lse;
// split over keys, so that each sum belongs to one thread and runs over the queries in order.
#pragma once
#include "tile.hpp"

namespace pozor::POZOR_ISA {

template <class P> class Received {
    using Real = typename P::Real;
    static constexpr int W = lanes<Real>;
    const Problem& p;
    const Scoring<Real>& how;
    int64_t blocks;

  public:
    Received(const Problem& problem, const Scoring<Real>& scoring)
        : p(problem), how(scoring), blocks((problem.kv_len + kBlock - 1) / kBlock) {}

    void run() {
        parallel(p.batch * p.kv_heads * blocks,
                 [](void* self, int64_t i) { static_cast<Received*>(self)->block_of_keys(i); }, this);
    }

  private:
    // One block of keys for every query head that shares them.
    void block_of_keys(int64_t i) {
        FlushToZero guard;
        const int64_t b = i / blocks / p.kv_heads, kv_head = i / blocks % p.kv_heads, key = i % blocks * kBlock;
        Tile<P> tile(p);
        tile.kv_head = kv_head;
        tile.sight.b = b;
        tile.raw = P::pair == 1 && p.q_len <= kDirect && p.k.stride[3] == size_of(p.k.dtype);
        bool packed = tile.raw;
        const int64_t group = p.heads / p.kv_heads;
        for (int64_t h = kv_head * group; h < (kv_head + 1) * group && !cancelled(); ++h)
            block_of_head(tile, b, h, key, packed);
    }

    void block_of_head(Tile<P>& tile, int64_t b, int64_t h, int64_t key, bool& packed) {
        const int64_t stop = least(key + kBlock, p.kv_len);
        double sum[kBlock] = {}, queries[kBlock] = {};
        alignas(64) Real tile_sum[kBlock], tile_queries[kBlock];
        for (int64_t first = 0; first < p.q_len && !cancelled(); first += kTileRows) {
            tile.sight.rows = static_cast<int>(least(kTileRows, p.q_len - first));
            for (int r = 0; r < tile.sight.rows; ++r) {
                tile.sight.head[r] = static_cast<int32_t>(h);
                tile.sight.query[r] = static_cast<int32_t>(first + r);
            }
            tile.sight.look(key, stop);
            if (tile.sight.first >= tile.sight.last) continue;
            if (!packed) tile.pack_all(key, stop);
            packed = true;
            for (int64_t j = 0; j < kBlock; ++j) tile_sum[j] = tile_queries[j] = 0;
            int64_t whole[kGroups] = {};
            tile.score_all(key, [&](int r, const Real* scores, const uint8_t* status, const uint64_t* words) {
                const Real lse = static_cast<Real*>(p.lse)[(b * p.heads + h) * p.q_len + first + r];
                if (how.differences) add<true>(lse, scores, status, words, tile_sum, tile_queries, whole);
                else add<false>(lse, scores, status, words, tile_sum, tile_queries, whole);
            });
            for (int64_t j = 0; j < kBlock; ++j) {
                sum[j] += tile_sum[j];
                queries[j] += static_cast<double>(tile_queries[j]) + static_cast<double>(whole[j / kGroup]);
            }
        }
        Real* to = static_cast<Real*>(p.received) + (b * p.heads + h) * p.kv_len;
        for (int64_t j = key; j < stop; ++j)
            to[j] = static_cast<Real>(queries[j - key] == 0 ? __builtin_nan("") : sum[j - key] / queries[j - key]);
    }

    // One row's probabilities to the sums of the keys; whole: rows that see a group of keys from end to end.
    template <bool Differences>
    POZOR_INLINE void add(Real lse, const Real* scores, const uint8_t* status, const uint64_t* words, Real* sum,
                          Real* queries, int64_t* whole) {
        const Vec<Real> scale = splat<Real>(how.to_bits), shift = splat<Real>(static_cast<Real>(lse / kLn2));
        const Vec<Real> from = splat<Real>(static_cast<Real>(lse / how.to_nats)), none{};
        auto prob = [&](int64_t j) {
            const Vec<Real> s = load(scores + j);
            return exp2<Real>(Differences ? (s - from) * scale : fma<Real>(s, scale, -shift));
        };
        for (int64_t g = 0; g < kGroups; ++g) {
            if (status[g] == kHidden || words[g] == 0) continue;
            if (words[g] == ~uint64_t{0}) {
                ++whole[g];
#pragma GCC unroll 4
                for (int64_t j = g * kGroup; j < (g + 1) * kGroup; j += W) store<Real>(sum + j, load(sum + j) + prob(j));
                continue;
            }
            for (int64_t j = g * kGroup; j < (g + 1) * kGroup; j += W) {
                const uint64_t bits = words[g] >> (j % kGroup);
                // select: the NaN of a row must not reach a key that it does not see
                store<Real>(sum + j, load(sum + j) + select<Real>(bits, prob(j), none));
                store<Real>(queries + j, load(queries + j) + select<Real>(bits, splat<Real>(1), none));
            }
        }
    }
};

}  // namespace pozor::POZOR_ISA
