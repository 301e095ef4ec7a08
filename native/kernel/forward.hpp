// One call: what is packed once, how the rows are cut into tiles, which thread does what. Nothing here changes a bit of
// the result except q_len, which decides whether the keys are split and packed, and kv_len, which decides where.
#pragma once
#include "few.hpp"
#include "finish.hpp"
#include "received.hpp"
#include "tile.hpp"

namespace pozor::POZOR_ISA {

constexpr int64_t kPackBudget = int64_t{40} << 20;    // bytes packed at once
constexpr int64_t kChunk = 512;                       // keys of one part of a split
constexpr int64_t kMostChunks = 64;
constexpr int64_t kLongRows = 32768;                  // keys from which a row's pooled sums need much memory

template <class P> class Forward {
    using Real = typename P::Real;
    const Problem& p;
    const Sizes<P> size;
    const Scoring<Real> how;
    const int64_t group;
    // heads packed at the moment: kv heads [first_pair, first_pair + pairs) of batch * kv_heads
    int64_t first_pair = 0, pairs = 0;
    bool copy_values = false;  // block by block, in each tile
    Real *packed_keys = nullptr, *packed_values = nullptr;
    int64_t task_rows = kTileRows, tasks_per_head = 0;
    int64_t chunk = 0, chunks = 0, row_tiles = 0, rows_of_tile = 0;
    int64_t part_size = 0;  // of one row and chunk: sum of values, maximum, sum, observables
    Real *parts = nullptr, *kept = nullptr;
    uint8_t* kept_cells = nullptr;

  public:
    explicit Forward(const Problem& problem)
        : p(problem), size(problem), how(problem), group(problem.kv_heads ? problem.heads / problem.kv_heads : 1) {}

    void run() {
        if (p.batch * p.heads * p.q_len == 0) return;
        if (Few<P>::takes(p, how)) Few<P>(p, how).run();
        else if (p.q_len <= kShort) short_queries();
        else long_queries();
        if (p.received && !cancelled()) Received<P>(p, how).run();
    }

  private:
    // Values that do not lie row after row are copied: a long stride makes them fall on the same cache lines; so are
    // those off the grid of vectors, for every load of one would touch two lines.
    bool lies(const View& v, int64_t columns) const {
        return P::pair == 1 && v.stride[3] == static_cast<int64_t>(sizeof(Real)) &&
               size_of(v.dtype) == static_cast<int64_t>(sizeof(Real)) && columns % lanes<Real> == 0 &&
               v.stride[2] == columns * static_cast<int64_t>(sizeof(Real)) &&
               (reinterpret_cast<intptr_t>(v.data) | v.stride[0] | v.stride[1] | v.stride[2]) % kVectorBytes == 0;
    }

    // Long tiles read keys and values less often; shorter ones keep every thread at work.
    void cut_rows() {
        if (p.pooled > kGroup) {
            task_rows = p.pooled;
        } else {
            const int64_t choices[] = {kTileRows, 192, p.pooled > 0 ? 64 : 96, p.pooled > 0 ? 64 : 48};
            for (const int64_t rows : choices) {
                task_rows = rows;
                if (p.pooled > 0 && p.kv_len > kLongRows && rows > 192) continue;
                if (p.batch * p.heads * ((p.q_len + rows - 1) / rows) >= 6 * threads()) break;
            }
        }
        tasks_per_head = (p.q_len + task_rows - 1) / task_rows;
    }

    // ---- many queries: tiles of rows, keys packed once for all of them ----
    void long_queries() {
        cut_rows();
        const int64_t keys = size.keys_size(p.kv_len), all = p.batch * p.kv_heads;
        const bool copy = p.v && !lies(p.v, p.v_head_dim);
        const int64_t values = copy ? round_up(size.values_size(p.kv_len), 16) : 0;
        const int64_t each = (keys + values) * static_cast<int64_t>(sizeof(Real));
        const bool pack = tasks_per_head * group > 1 && each <= kPackBudget;
        copy_values = copy && !pack;
        pairs = pack ? most(1, least(all, kPackBudget / most(each, 1))) : all;
        Shared memory(pack ? pairs * each + 64 : 0);
        packed_keys = pack ? reinterpret_cast<Real*>(memory.data) : nullptr;
        packed_values = pack && values ? packed_keys + pairs * keys : nullptr;
        for (first_pair = 0; first_pair < all && !cancelled(); first_pair += pairs) {
            pairs = least(pairs, all - first_pair);
            if (pack)
                parallel(pairs * blocks(), [](void* self, int64_t i) { static_cast<Forward*>(self)->pack_block(i); },
                         this);
            parallel(pairs * group * tasks_per_head,
                     [](void* self, int64_t i) { static_cast<Forward*>(self)->rows_of_head(i); }, this);
        }
    }
    int64_t blocks() const { return (p.kv_len + kBlock - 1) / kBlock; }

    void pack_block(int64_t i) {
        const int64_t slot = i / blocks(), pair = first_pair + slot, b = pair / p.kv_heads, h = pair % p.kv_heads;
        const int64_t first = i % blocks() * kBlock, last = least(first + kBlock, p.kv_len);
        auto* tail = static_cast<Real*>(scratch(lanes<Real> * (round_up(size.units, lanes<Real>)) * 8));
        pack_keys<P>(keys_of(slot) + first * size.units, p.k, b, h, first, last, p.head_dim, size.units, tail);
        if (packed_values)
            pack_values<P>(values_of(slot) + first / P::pair * size.v_padded, p.v, b, h, first, last, p.v_head_dim,
                           size.v_padded);
    }
    Real* keys_of(int64_t slot) const { return packed_keys ? packed_keys + slot * size.keys_size(p.kv_len) : nullptr; }
    Real* values_of(int64_t slot) const {
        return packed_values ? packed_values + slot * round_up(size.values_size(p.kv_len), 16) : nullptr;
    }

    void rows_of_head(int64_t i) {
        FlushToZero guard;
        // the last rows first: under a causal mask they see most
        const int64_t slot_head = i / tasks_per_head, task = tasks_per_head - 1 - i % tasks_per_head;
        const int64_t slot = slot_head / group, pair = first_pair + slot;
        const int64_t b = pair / p.kv_heads, kv_head = pair % p.kv_heads, h = kv_head * group + slot_head % group;
        Tile<P> tile(p);
        tile.kv_head = kv_head;
        tile.sight.b = b;
        tile.values_lie &= !copy_values;
        const int64_t end = least((task + 1) * task_rows, p.q_len);
        if (p.pooled > 0) tile.seen.begin_block_row();
        for (int64_t first = task * task_rows; first < end; first += kTileRows) {
            tile.sight.rows = static_cast<int>(least(kTileRows, end - first));
            for (int r = 0; r < tile.sight.rows; ++r) {
                tile.sight.head[r] = static_cast<int32_t>(h);
                tile.sight.query[r] = static_cast<int32_t>(first + r);
            }
            const Source<P> from{keys_of(slot), values_of(slot)};
            tile.run(0, p.kv_len, from);
            if (cancelled()) return;
            for (int r = 0; r < tile.sight.rows; ++r) finish(tile, r, b, h, first + r, from, end);
        }
    }
    void finish(Tile<P>& tile, int r, int64_t b, int64_t h, int64_t i, Source<P> from, int64_t end) {
        if (tile.l[r] != tile.l[r] && (p.row_max || p.top_k || p.distance)) tile.rank_again(r, from);
        const Ending<Real> ending =
            finish_row<Real>(p, how, b, h, i, tile.m[r], tile.l[r], tile.acc + r * size.v_padded);
        if (!tile.seen.active) return;
        tile.seen.finish_row(r, b, h, i, ending);
        if (p.pooled > 0 && ((i + 1) % p.pooled == 0 || i + 1 == end)) {
            tile.seen.finish_block_row(b, h, i / p.pooled);
            tile.seen.begin_block_row();
        }
    }

    // ---- few queries: every kv head's rows together, keys split into chunks fixed by kv_len ----
    void short_queries() {
        chunk = most(kChunk, round_up((p.kv_len + kMostChunks - 1) / kMostChunks, kBlock));
        chunks = most(1, (p.kv_len + chunk - 1) / chunk);
        const int64_t rows = group * p.q_len, all = p.batch * p.kv_heads;
        rows_of_tile = kTileRows / p.q_len * p.q_len;  // whole heads: their rows share pooled blocks
        row_tiles = (rows + rows_of_tile - 1) / rows_of_tile;
        const Observer<Real> seen(p, how);
        part_size = size.v_padded + 2 + seen.state_size();
        const int64_t each = chunks > 1 ? round_up(all * chunks * rows * part_size, 16) : 0;
        const int64_t keep = chunks > 1 ? round_up(all * rows * seen.kept_size(), 16) : 0;
        const int64_t cells = chunks > 1 ? all * rows * seen.kept_cells() : 0;
        Shared memory((each + keep) * static_cast<int64_t>(sizeof(Real)) + cells + 64);
        parts = reinterpret_cast<Real*>(memory.data);
        kept = parts + each;
        kept_cells = reinterpret_cast<uint8_t*>(kept + keep);
        if (cells > 0) std::memset(kept_cells, 0, static_cast<size_t>(cells));
        parallel(all * row_tiles * chunks,
                 [](void* self, int64_t i) { static_cast<Forward*>(self)->chunk_of_rows(i); }, this);
        if (chunks > 1 && !cancelled())
            parallel(all * row_tiles, [](void* self, int64_t i) { static_cast<Forward*>(self)->merge_rows(i); }, this);
    }

    // Some rows of one kv head, head after head. tile_of: which of its row tiles.
    void set_rows(Tile<P>& tile, int64_t pair, int64_t tile_of) {
        tile.kv_head = pair % p.kv_heads;
        tile.sight.b = pair / p.kv_heads;
        tile.direct = p.q_len <= kDirect;
        const int64_t first = tile_of * rows_of_tile;
        tile.sight.rows = static_cast<int>(least(rows_of_tile, group * p.q_len - first));
        for (int r = 0; r < tile.sight.rows; ++r) {
            tile.sight.head[r] = static_cast<int32_t>(tile.kv_head * group + (first + r) / p.q_len);
            tile.sight.query[r] = static_cast<int32_t>((first + r) % p.q_len);
        }
    }
    int64_t row_of(int64_t pair, int64_t tile_of, int r) const {
        return pair * group * p.q_len + tile_of * rows_of_tile + r;
    }

    void chunk_of_rows(int64_t i) {
        FlushToZero guard;
        const int64_t c = i % chunks, tile_of = i / chunks % row_tiles, pair = i / chunks / row_tiles;
        Tile<P> tile(p);
        set_rows(tile, pair, tile_of);
        tile.run(c * chunk, least((c + 1) * chunk, p.kv_len), Source<P>{});
        if (cancelled()) return;
        if (chunks == 1) return finish_rows(tile);
        const int64_t first = c * chunk / kBlock, last = least((c + 1) * chunk / kBlock, tile.seen.blocks);
        for (int r = 0; r < tile.sight.rows; ++r) {
            const int64_t row = row_of(pair, tile_of, r);
            Real* to = parts + (row * chunks + c) * part_size;
            std::memcpy(to, tile.acc + r * size.v_padded, static_cast<size_t>(size.v_padded) * sizeof(Real));
            to[size.v_padded] = tile.m[r];
            to[size.v_padded + 1] = tile.l[r];
            tile.seen.save(r, to + size.v_padded + 2);
            tile.seen.save_kept(r, first, last, kept + row * tile.seen.kept_size(),
                                kept_cells + row * tile.seen.kept_cells());
        }
    }

    void merge_rows(int64_t i) {
        FlushToZero guard;
        const int64_t pair = i / row_tiles, tile_of = i % row_tiles;
        Tile<P> tile(p);
        set_rows(tile, pair, tile_of);
        tile.begin();
        bool numbers = true;
        for (int r = 0; r < tile.sight.rows; ++r) {
            const int64_t row = row_of(pair, tile_of, r);
            numbers &= merge_row(tile, r, parts + row * chunks * part_size);
            tile.seen.take_kept(r, kept + row * tile.seen.kept_size(), kept_cells + row * tile.seen.kept_cells());
        }
        if (!numbers && (p.row_max || tile.seen.active)) tile.run(0, p.kv_len, Source<P>{});  // NaN: its rules need all keys
        if (!cancelled()) finish_rows(tile);
    }
    // False if a sum is not a number.
    bool merge_row(Tile<P>& tile, int r, const Real* part) {
        constexpr int W = lanes<Real>;
        const int64_t at_max = size.v_padded, at_sum = size.v_padded + 1;
        Real top = -static_cast<Real>(__builtin_inf()), sum = 0;
        for (int64_t c = 0; c < chunks; ++c) top = part[c * part_size + at_max] > top ? part[c * part_size + at_max] : top;
        Real* acc = tile.acc + r * size.v_padded;
        for (int64_t c = 0; c < chunks; ++c, part += part_size) {
            if (part[at_sum] == 0) continue;  // nothing visible
            const Real from = part[at_max];
            const Real drop = from == top         ? 0
                              : how.differences ? (from - top) * how.to_bits
                                                : product<Real>(splat<Real>(from), splat<Real>(how.to_bits))[0] -
                                                      product<Real>(splat<Real>(top), splat<Real>(how.to_bits))[0];
            const Vec<Real> factor = exp2<Real>(splat<Real>(drop));
            sum += part[at_sum] * factor[0];
            for (int64_t x = 0; x < size.v_padded; x += W)
                store<Real>(acc + x, fma<Real>(load(part + x), factor, load(acc + x)));
            tile.seen.add_state(r, part + at_sum + 1, factor[0], drop, part[at_sum]);
        }
        tile.m[r] = top;
        tile.l[r] = sum;
        return sum == sum;
    }

    void finish_rows(Tile<P>& tile) {
        if (p.pooled > 0) tile.seen.begin_block_row();
        for (int r = 0; r < tile.sight.rows; ++r)
            finish(tile, r, tile.sight.b, tile.sight.head[r], tile.sight.query[r], Source<P>{}, p.q_len);
    }
};

}  // namespace pozor::POZOR_ISA
