// The observables of a tile, gathered beside the sums of online softmax and finished when a row's lse is known.
// Sums are relative to the running maximum, like the row sum; what is kept per block of keys notes its maximum.
#pragma once
#include "top.hpp"

namespace pozor::POZOR_ISA {

// What a row came to: p = exp(logit - maximum) * weight.
template <class T> struct Ending {
    T maximum;      // the largest score
    double sum;     // of exp(logit - maximum)
    double weight;  // of one, 0 if nothing is visible
    bool empty;
};

constexpr double kLn2 = 0.6931471805599453;

template <class T> struct Observer {
    static constexpr int W = lanes<T>;
    static constexpr int kFinest = 16;  // keys of the smallest pooled block
    static constexpr int kFewest = static_cast<int>(kBlock / kGroup);  // parts of a block at the coarsest
    static constexpr int kGroups = static_cast<int>(kBlock / kGroup);
    static constexpr int kParts = static_cast<int>(kBlock) / kFinest;

    const Problem& p;
    const Scoring<T>& how;
    const bool active;
    int64_t grain, parts_in_group, parts, blocks, bin_room;
    Top<T> top;
    T *weighted, *bins, *largest, *sums, *bases, *factors, *whole_max;
    T* whole_sum;
    int32_t* whole_cells;
    uint8_t* cells;
    int64_t rows_seeing = 0;
    alignas(64) T here_max[kRows * kParts], group_sum[kRows * kGroups * W];

    Observer(const Problem& problem, const Scoring<T>& scoring) : p(problem), how(scoring), active(problem.observes()), top(problem.top_k) {
        grain = p.pooled > 0 && p.pooled < kGroup ? p.pooled : kGroup;
        parts_in_group = kGroup / grain;
        blocks = (p.kv_len + kBlock - 1) / kBlock;
        parts = blocks * kBlock / grain;
        bin_room = round_up(p.distance ? p.ahead + 1 + p.behind : 0, W);
    }

    int64_t bytes() const {
        if (!active) return 0;
        const int64_t pooled = p.pooled > 0;
        return kTileRows * (static_cast<int64_t>(sizeof(T)) * (1 + 2 * top.room + bin_room + pooled * (2 * parts + blocks)) +
                            pooled * parts) + pooled * kGroup +
               pooled * (parts * (3 * static_cast<int64_t>(sizeof(T)) + 4) + 8 * kBlock) + 64 * 16;
    }
    void carve(char* next) {
        if (!active) return;
        const int64_t pooled = p.pooled > 0;
        auto take = [&](auto*& pointer, int64_t n) {
            pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(next);
            next += round_up(n * static_cast<int64_t>(sizeof *pointer), 64);
        };
        take(weighted, kTileRows);
        take(top.scores, kTileRows * top.room);
        take(top.keys, kTileRows * top.room);
        take(bins, kTileRows * bin_room);
        take(largest, pooled * kTileRows * parts);
        take(sums, pooled * kTileRows * parts);
        take(bases, pooled * kTileRows * blocks);
        take(cells, pooled * (kTileRows * parts + kGroup));
        take(factors, pooled * (blocks + W));
        take(whole_max, pooled * (parts + W));
        take(whole_sum, pooled * (parts + W));
        take(whole_cells, pooled * parts);
    }

    void begin(int rows) {
        if (!active) return;
        for (int r = 0; r < rows; ++r) weighted[r] = 0;
        top.begin(rows);
        for (int64_t i = 0; i < rows * bin_room; ++i) bins[i] = 0;
        if (p.pooled > 0) std::memset(cells, 0, static_cast<size_t>(rows * parts));
    }
    void begin_block_row() {
        for (int64_t j = 0; j < parts; ++j) {
            whole_max[j] = 0;
            whole_sum[j] = 0;
            whole_cells[j] = 0;
        }
        rows_seeing = 0;
    }

    // The largest score of each part, those of whole groups from their vectors of largest scores.
    void maxima(int i, const T* scores, const uint8_t* status, const T* best) {
        T* here = here_max + i * kParts;
        if (parts_in_group == 1) return join(best, here, [](Vec<T> a, Vec<T> b) { return max<T>(a, b); });
        for (int64_t g = 0; g < kGroups; ++g)
            for (int64_t j = g * parts_in_group; status[g] != 0 && j < (g + 1) * parts_in_group; ++j) {
                Vec<T> most_here = load(scores + j * grain);
                for (int64_t c = W; c < grain; c += W) most_here = max<T>(load(scores + j * grain + c), most_here);
                here[j] = reduce_max<T>(most_here);
            }
    }
    template <class Op> POZOR_INLINE static void join(const T* vectors, T* to, Op op) {
        constexpr int N = W < kGroups ? W : kGroups;
        alignas(64) T joined[W];
        for (int g = 0; g < kGroups; g += N) {
            Vec<T> v[N];
            for (int i = 0; i < N; ++i) v[i] = load(vectors + (g + i) * W);
            store<T>(joined, across<T, N>(v, op));
            std::memcpy(to + g, joined, N * sizeof(T));
        }
    }

    // Scores of the `count` rows from r.
    void rank(int r, int count, int64_t key, const T* scores, const T* best) {
        if (p.top_k > 0) top.take(r, count, key, scores, best);
    }
    // Scores of one row, the i-th at hand, before they become exponentials. drop, factor: the change of the maximum, in bits.
    void before(int r, int i, const T* scores, const uint8_t* status, const T* best, T factor, T drop,
                T row_sum) {
        if (p.pooled > 0) maxima(i, scores, status, best);
        if (p.entropy) weighted[r] = factor == 0 ? 0 : factor * (weighted[r] + drop * row_sum);
        if (bin_room > 0 && factor != 1) {
            T* row = bins + r * bin_room;
            for (int64_t i = 0; i < bin_room; i += W) {
                const Vec<T> x = load(row + i);
                // select: a sum that is NaN by overflow must not reach an empty bin
                store<T>(row + i, x == 0 ? x : x * splat<T>(factor));
            }
        }
    }
    void weigh(int r, T amount) { if (p.entropy) weighted[r] += amount; }
    POZOR_INLINE void sum_of_group(int i, int g, Vec<T> sum) { store<T>(group_sum + (i * kGroups + g) * W, sum); }

    // The exponentials of one row. lo, hi: what it may see; total: their sum.
    void after(int r, int i, int64_t key, T* e, const uint8_t* status, const uint64_t* words, T base, T total, int64_t lo,
               int64_t hi, int64_t position) {
        if (p.pooled == 0 && !p.distance) return;
        for (int g = 0; g < kGroups; ++g) {
            if (status[g] != 0) continue;
            sum_of_group(i, g, Vec<T>{});
            if (p.distance) std::memset(e + g * kGroup, 0, kGroup * sizeof(T));
        }
        if (p.distance) spread(r, key, e, total, lo, hi, position);
        if (p.pooled > 0) keep(r, i, key, e, status, words, base);
    }

    // What a block of keys gave to each part, until the row's lse is known.
    void keep(int r, int i, int64_t key, const T* e, const uint8_t* status, const uint64_t* words, T base) {
        const int64_t at = r * parts + key / grain;
        bases[r * blocks + key / kBlock] = base;
        if (parts_in_group == 1) {
            std::memcpy(largest + at, here_max + i * kParts, kGroups * sizeof(T));
            join(group_sum + i * kGroups * W, sums + at, [](Vec<T> a, Vec<T> b) { return a + b; });
            for (int g = 0; g < kGroups; ++g)
                cells[at + g] = static_cast<uint8_t>(status[g] == 0 ? 0 : __builtin_popcountll(words[g]));
            return;
        }
        for (int64_t g = 0; g < kGroups; ++g) {
            if (status[g] == 0) continue;
            for (int64_t n = g * parts_in_group; n < (g + 1) * parts_in_group; ++n) {
                Vec<T> here = load(e + n * grain);
                for (int64_t c = W; c < grain; c += W) here += load(e + n * grain + c);
                const uint64_t bits = (words[g] >> (n * grain % kGroup)) << (64 - grain);
                largest[at + n] = here_max[i * kParts + n];
                sums[at + n] = reduce_add<T>(here);
                cells[at + n] = static_cast<uint8_t>(__builtin_popcountll(bits));
            }
        }
    }

    // ---- parts of a row that several tiles found, each over some blocks of keys ----
    // Numbers of one row relative to its maximum, and those kept for each block of keys.
    int64_t state_size() const { return active ? 1 + 2 * top.room + bin_room : 0; }
    int64_t kept_size() const { return active && p.pooled > 0 ? 2 * parts + blocks : 0; }
    int64_t kept_cells() const { return active && p.pooled > 0 ? parts : 0; }

    void save(int r, T* to) const {
        if (!active) return;
        const auto room = static_cast<size_t>(top.room) * sizeof(T);
        to[0] = weighted[r];
        std::memcpy(to + 1, top.scores + r * top.room, room);
        std::memcpy(to + 1 + top.room, top.keys + r * top.room, room);
        std::memcpy(to + 1 + 2 * top.room, bins + r * bin_room, static_cast<size_t>(bin_room) * sizeof(T));
    }
    // Blocks [first, last) of one row; to: room for all of them.
    void save_kept(int r, int64_t first, int64_t last, T* to, uint8_t* to_cells) const {
        if (kept_size() == 0) return;
        const int64_t per_block = kBlock / grain, a = first * per_block, n = (last - first) * per_block;
        std::memcpy(to + a, largest + r * parts + a, static_cast<size_t>(n) * sizeof(T));
        std::memcpy(to + parts + a, sums + r * parts + a, static_cast<size_t>(n) * sizeof(T));
        std::memcpy(to + 2 * parts + first, bases + r * blocks + first, static_cast<size_t>(last - first) * sizeof(T));
        std::memcpy(to_cells + a, cells + r * parts + a, static_cast<size_t>(n));
    }
    void take_kept(int r, const T* from, const uint8_t* from_cells) {
        if (kept_size() == 0) return;
        std::memcpy(largest + r * parts, from, static_cast<size_t>(parts) * sizeof(T));
        std::memcpy(sums + r * parts, from + parts, static_cast<size_t>(parts) * sizeof(T));
        std::memcpy(bases + r * blocks, from + 2 * parts, static_cast<size_t>(blocks) * sizeof(T));
        std::memcpy(cells + r * parts, from_cells, static_cast<size_t>(parts));
    }
    // A saved state, in the order of the keys. factor, drop: from its maximum to that of the row; sum: its row sum.
    void add_state(int r, const T* from, T factor, T drop, T sum) {
        if (!active) return;
        if (p.entropy && factor != 0) weighted[r] += factor * (from[0] + drop * sum);
        for (int64_t n = 0; n < p.top_k; ++n) {
            typename Int<T>::type key;
            std::memcpy(&key, from + 1 + top.room + n, sizeof key);
            if (key >= 0) top.insert(r, from[1 + n], key);
        }
        for (int64_t i = 0; i < bin_room; ++i) {
            const T x = from[1 + 2 * top.room + i];
            if (x != 0) bins[r * bin_room + i] += x * factor;
        }
    }

    static int width_of(int64_t delta) {
        return 63 - __builtin_clzll(static_cast<uint64_t>(delta < 0 ? -delta : delta));
    }
    int64_t bin_of(int64_t delta) const {
        if (delta == 0) return p.ahead;
        return delta > 0 ? p.ahead + 1 + width_of(delta) : p.ahead - 1 - width_of(delta);
    }
    // A visible key of a row whose sums are no numbers.
    void mark(int r, int64_t delta) {
        if (p.distance) bins[r * bin_room + bin_of(delta)] = static_cast<T>(__builtin_nan(""));
    }
    void forget_top(int r) { if (p.top_k > 0) top.forget(r); }
    void insert_top(int r, T score, int64_t key) { if (p.top_k > 0) top.insert(r, score, key); }

    void finish_row(int r, int64_t b, int64_t h, int64_t i, const Ending<T>& end) {
        const int64_t at = (b * p.heads + h) * p.q_len + i;
        if (p.entropy) {
            // -sum p ln p with p = e * weight, ln p = ln 2 * y + ln weight
            const double value =
                -end.weight * (kLn2 * weighted[r] + (end.empty ? 0 : end.sum * __builtin_log(end.weight)));
            static_cast<T*>(p.entropy)[at] = end.empty ? 0 : static_cast<T>(value > 0 || value != value ? value : 0);
        }
        if (p.top_k > 0) finish_top(r, at, end);
        if (p.distance) {
            T* to = static_cast<T*>(p.distance) + at * (p.ahead + 1 + p.behind);
            const T* row = bins + r * bin_room;
            for (int64_t n = 0; n < p.ahead + 1 + p.behind; ++n)
                to[n] = row[n] == 0 ? 0 : static_cast<T>(row[n] * end.weight);
        }
        if (p.pooled > 0) add_to_block_row(r, end);
    }

  private:
    // Bins of one block, each a vector to be added up, all of them together.
    struct Pieces {
        T* row;
        int n = 0;
        int64_t bin[W];
        Vec<T> sum[W];
        POZOR_INLINE explicit Pieces(T* to) : row(to) {}
        POZOR_INLINE void add(int64_t to, Vec<T> some) {
            bin[n] = to;
            sum[n] = some;
            if (++n == W) flush();
        }
        POZOR_INLINE void flush() {
            alignas(64) T joined[W];
            for (int i = n; i < W; ++i) sum[i] = Vec<T>{};
            store<T>(joined, across<T, W>(sum, [](Vec<T> a, Vec<T> b) { return a + b; }));
            for (int i = 0; i < n; ++i) row[bin[i]] += joined[i];
            n = 0;
        }
    };

    // Within a row the distance falls as the key grows: bins are runs of keys.
    void spread(int r, int64_t key, const T* e, T total, int64_t lo, int64_t hi, int64_t position) {
        T* row = bins + r * bin_room;
        const int64_t first = most(lo, key), stop = least(hi, key + kBlock);
        if (first >= stop) return;
        const int64_t farthest = bin_of(position - first);
        if (farthest == bin_of(position - stop + 1)) {
            row[farthest] += total;
            return;
        }
        Pieces pieces(row);
        for (int64_t j = first; j < stop;) {
            const int64_t delta = position - j;
            if (delta < W && delta > -W) {
                near(pieces, key, e, first, stop, position);
                j = position + W;
                continue;
            }
            const int width = width_of(delta);
            int64_t end = delta > 0 ? position - (int64_t{1} << width) + 1 : position + (int64_t{2} << width);
            end = least(end, stop);
            const int64_t bin = bin_of(delta);
            pieces.add(bin, sum_of_run(e + j - key, end - j));
            j = end;
        }
        pieces.flush();
    }
    POZOR_INLINE static Vec<T> sum_of_run(const T* from, int64_t n) {
        Vec<T> even{}, odd{};
        const T* last = from + n;
        for (; from + 2 * W <= last; from += 2 * W) {
            even += load(from);
            odd += load(from + W);
        }
        const uint64_t rest = (uint64_t{1} << (last - from)) - 1;  // bits of fewer than two vectors
        even += select<T>(rest, load(from), Vec<T>{});
        odd += select<T>(rest >> W, load(from + W), Vec<T>{});
        return even + odd;
    }
    // Distances below W: the bins are fixed lanes of the vectors before and after the query.
    POZOR_INLINE void near(Pieces& pieces, int64_t key, const T* e, int64_t first, int64_t stop, int64_t position) {
        const Vec<T> none{};
        const int64_t behind = position - W + 1, ahead = position + 1;
        if (behind < stop && position >= first) {
            const Vec<T> x = select<T>(span_word(first, stop, behind), load(e + behind - key), none);
            pieces.add(p.ahead, select<T>(uint64_t{1} << (W - 1), x, none));
            for (int s = 0; (1 << s) < W; ++s)
                pieces.add(p.ahead + 1 + s, select<T>(((uint64_t{1} << (1 << s)) - 1) << (W - (2 << s)), x, none));
        }
        if (ahead < stop && position + W > first) {
            const Vec<T> x = select<T>(span_word(first, stop, ahead), load(e + ahead - key), none);
            for (int s = 0; (1 << s) < W; ++s)
                pieces.add(p.ahead - 1 - s, select<T>(((uint64_t{1} << (1 << s)) - 1) << ((1 << s) - 1), x, none));
        }
    }

    void finish_top(int r, int64_t at, const Ending<T>& end) {
        T* probs = static_cast<T*>(p.top_probs) + at * p.top_k;
        int64_t* keys = p.top_keys + at * p.top_k;
        T* s = top.scores + r * top.room;
        for (int64_t n = 0; n < top.room; n += W)
            store<T>(s + n, exp2<T>((load(s + n) - splat<T>(end.maximum)) * splat<T>(how.to_bits)));
        for (int64_t n = 0; n < p.top_k; ++n) {
            keys[n] = top.keys[r * top.room + n];
            probs[n] = keys[n] < 0 ? 0 : static_cast<T>(s[n] * end.weight);
        }
    }

    void add_to_block_row(int r, const Ending<T>& end) {
        const T* base = bases + r * blocks;
        const T* largest_here = largest + r * parts;
        const T* sums_here = sums + r * parts;
        const uint8_t* cells_here = cells + r * parts;
        const int64_t per_block = kBlock / grain;
        const Vec<T> weight = splat<T>(static_cast<T>(end.weight));
        for (int64_t n = 0; n < blocks; n += W) {
            const Vec<T> x = (load(base + n) - splat<T>(end.maximum)) * splat<T>(how.to_bits);
            store<T>(factors + n, exp2<T>(x) * weight);
        }
        bool any = false;
        for (int64_t first = 0; first < parts; first += kGroup) {
            const int64_t n = least(kGroup, parts - first);
            const uint64_t seen = nonzero_bytes(cells_here + first) & (~uint64_t{0} >> (kGroup - n));
            if (seen == 0) continue;
            any = true;
            for (int64_t j = first; j < first + n; ++j) whole_cells[j] += cells_here[j];
            for (int64_t j = first; j < first + n; j += W) {
                const uint64_t bits = seen >> (j - first);
                // a vector of parts is of one block or, at most, of two
                const Vec<T> head = splat<T>(factors[j / per_block]), tail = splat<T>(factors[(j + W - 1) / per_block]);
                const Vec<T> factor = W <= kFewest ? head : select<T>((uint64_t{1} << kFewest) - 1, head, tail);
                add_parts(j, bits, per_block == kFewest ? factor : head, weight, splat<T>(end.maximum), largest_here,
                          sums_here);
            }
        }
        rows_seeing += any;
    }
    // select: the NaN of a row must not reach a block that it does not see
    POZOR_INLINE void add_parts(int64_t j, uint64_t bits, Vec<T> factor, Vec<T> weight, Vec<T> maximum,
                                const T* largest_here, const T* sums_here) {
        const Vec<T> p_max = exp2<T>((load(largest_here + j) - maximum) * splat<T>(how.to_bits)) * weight;
        const Vec<T> old = load(whole_max + j), sum = load(whole_sum + j);
        const Vec<T> higher = p_max > old || p_max != p_max ? p_max : old;
        store<T>(whole_max + j, select<T>(bits, higher, old));
        store<T>(whole_sum + j, select<T>(bits, fma<T>(load(sums_here + j), factor, sum), sum));
    }

  public:
    // The reductions of block row `line`, once all its rows are added.
    void finish_block_row(int64_t b, int64_t h, int64_t line) {
        const int64_t columns = (p.kv_len + p.pooled - 1) / p.pooled, lines = (p.q_len + p.pooled - 1) / p.pooled;
        const int64_t at = ((b * p.heads + h) * lines + line) * columns, width = p.pooled / grain;
        for (int64_t c = 0; c < columns; ++c) {
            T top = 0;
            double sum = 0, count = 0;
            for (int64_t j = c * width; j < least((c + 1) * width, parts); ++j) {
                top = whole_max[j] > top || whole_max[j] != whole_max[j] ? whole_max[j] : top;
                sum += whole_sum[j];
                count += whole_cells[j];
            }
            const T none = static_cast<T>(__builtin_nan(""));
            static_cast<T*>(p.pooled_max)[at + c] = count == 0 ? none : top;
            static_cast<T*>(p.pooled_mean)[at + c] = count == 0 ? none : static_cast<T>(sum / count);
            static_cast<T*>(p.pooled_share)[at + c] = count == 0 ? none : static_cast<T>(sum / rows_seeing);
        }
    }
};

}  // namespace pozor::POZOR_ISA
