// The largest scores of each row, in the order of the keys: of equal ones the first comes first.
#pragma once
#include "mask.hpp"
#include "micro.hpp"

namespace pozor::POZOR_ISA {

template <class T> struct Top {
    static constexpr int W = lanes<T>;
    int64_t k, room;  // room: scores kept for each row, whole vectors
    T* scores = nullptr;
    typename Int<T>::type* keys = nullptr;  // of each score, -1 where unused

    explicit Top(int64_t count) : k(count), room(round_up(count, W)) {}

    void begin(int rows) {
        for (int64_t i = 0; i < rows * room; ++i) {
            scores[i] = -static_cast<T>(__builtin_inf());
            keys[i] = -1;
        }
    }
    void forget(int r) {
        for (int64_t i = r * room; i < (r + 1) * room; ++i) {
            scores[i] = -static_cast<T>(__builtin_inf());
            keys[i] = -1;
        }
    }

    void insert(int r, T score, int64_t key) {
        T* s = scores + r * room;
        auto* at = keys + r * room;
        if (!(score > s[k - 1])) return;
        int64_t i = k - 1;
        for (; i > 0 && score > s[i - 1]; --i) {
            s[i] = s[i - 1];
            at[i] = at[i - 1];
        }
        s[i] = score;
        at[i] = static_cast<typename Int<T>::type>(key);
    }

    // The scores of a block for `count` rows from r; best: of each row and group a vector of largest scores. The groups
    // that have something for a list are found first, for all rows: a branch on each would be guessed wrong.
    void take(int r, int count, int64_t key, const T* block, const T* best) {
        static_assert(kRows * kGroups <= 64);
        uint64_t hits = 0;
        alignas(64) T bars[kRows];
        for (int i = 0; i < count; ++i) {
            const T last = scores[(r + i) * room + k - 1];
            const T* tops = best + i * kGroups * W;
            bars[i] = last == -static_cast<T>(__builtin_inf()) && k <= W ? bar_of(tops) : last;
            for (int g = 0; g < kGroups; ++g)
                hits |= static_cast<uint64_t>(greater<T>(load(tops + g * W), splat<T>(bars[i])) != 0) << (i * kGroups + g);
        }
        for (; hits != 0; hits &= hits - 1) {
            const int at = __builtin_ctzll(hits), i = at / kGroups;
            const int64_t first = at % kGroups * kGroup;
            const T* group = block + i * kBlock + first;
            uint64_t higher = 0;
            for (int c = 0; c < kGroup; c += W)
                higher |= static_cast<uint64_t>(greater<T>(load(group + c), splat<T>(bars[i]))) << c;
            for (; higher != 0; higher &= higher - 1) {
                const int j = __builtin_ctzll(higher);
                if (k <= W) put(r + i, group[j], static_cast<Index>(key + first + j));
                else insert(r + i, group[j], key + first + j);
            }
        }
    }

  private:
    using Index = typename Int<T>::type;
    static constexpr int kGroups = static_cast<int>(kBlock / kGroup);

    // As insert, in one vector and without a branch.
    POZOR_INLINE void put(int r, T x, Index key) {
        const Vec<T> list = load(scores + r * room), score = splat<T>(x);
        IVec<T> places;
        std::memcpy(&places, keys + r * room, kVectorBytes);
        // lanes fall: those at least as large are the first ones, and the score comes after them
        const uint64_t ahead = at_least<T>(list, score), here = ahead + ahead + 1;
        store<T>(scores + r * room, select<T>(ahead, list, select<T>(here, score, shifted<T>(list))));
        places = (IVec<T>)select<T>(ahead, (Vec<T>)places,
                                    select<T>(here, (Vec<T>)(key - IVec<T>{}), shifted<T>((Vec<T>)places)));
        std::memcpy(keys + r * room, &places, kVectorBytes);
    }

    // Below the k largest scores of a block: the least of as many lanes' maxima, at least k. -inf, which hidden keys
    // have, where a lane has none.
    T bar_of(const T* best) const {
        Vec<T> tops = load(best);
        for (int g = 1; g < kGroups; ++g) tops = max<T>(load(best + g * W), tops);
        alignas(64) T top[2 * W];
        for (int n = W / 2; n >= k; n /= 2) {
            store<T>(top, tops);
            std::memcpy(top + W, top, kVectorBytes);
            tops = max<T>(tops, load(top + n));
        }
        const T bar = -reduce_max<T>(-tops);
        constexpr T largest = static_cast<T>(sizeof(T) == 4 ? 3.4028234663852886e38 : 1.7976931348623157e308);
        constexpr T smallest = static_cast<T>(sizeof(T) == 4 ? 1.1754943508222875e-38 : 2.2250738585072014e-308);
        constexpr T step = static_cast<T>(sizeof(T) == 4 ? 0x1p-22 : 0x1p-51);
        return bar > largest ? largest : bar - (bar < 0 ? -bar : bar) * step - smallest;
    }
};

}  // namespace pozor::POZOR_ISA
