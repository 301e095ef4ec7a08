// The largest scores of each row, in the order of the keys: of equal ones the first comes first.
#pragma once
#include "mask.hpp"

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

    // One row's scores of a block; best: a vector of largest scores for each group.
    void take(int r, int64_t key, const T* block, const uint8_t* status, const T* best, const T* best_of_group) {
        if (k > W) return take_many(r, key, block, status, best_of_group);
        Vec<T> list = load(scores + r * room);
        IVec<T> places;
        std::memcpy(&places, keys + r * room, kVectorBytes);
        // of the first block the k-th largest of W lanes' maxima is at most its k-th largest score
        T bar = list[k - 1] == -static_cast<T>(__builtin_inf()) ? bar_of(best) : list[k - 1];
        for (int64_t g = 0; g < kBlock / kGroup; ++g) {
            if (status[g] == 0 || !(best_of_group[g] >= bar)) continue;
            for (int64_t c = g * kGroup; c < (g + 1) * kGroup; c += W) {
                const Vec<T> x = load(block + c);
                for (uint32_t bits = at_least<T>(x, splat<T>(bar)); bits != 0; bits &= bits - 1) {
                    const int lane = __builtin_ctz(bits);
                    const Vec<T> score = splat<T>(block[c + lane]);
                    // lanes fall: those at least as large are the first ones, and the score comes after them
                    const uint64_t ahead = at_least<T>(list, score), here = ahead + 1;
                    list = select<T>(ahead, list, select<T>(here, score, shifted<T>(list)));
                    const IVec<T> place = static_cast<typename Int<T>::type>(key + c + lane) - IVec<T>{};
                    places = (IVec<T>)select<T>(ahead, (Vec<T>)places,
                                                select<T>(here, (Vec<T>)place, shifted<T>((Vec<T>)places)));
                }
            }
            bar = list[k - 1] > bar ? list[k - 1] : bar;
        }
        store<T>(scores + r * room, list);
        std::memcpy(keys + r * room, &places, kVectorBytes);
    }

  private:
    T bar_of(const T* best) const {
        Vec<T> tops = load(best);
        for (int g = 1; g < static_cast<int>(kBlock / kGroup); ++g) tops = max<T>(load(best + g * W), tops);
        T bar = static_cast<T>(__builtin_inf());
        for (int i = 0; i < W; ++i) {
            const bool high = __builtin_popcount(greater<T>(tops, splat<T>(tops[i]))) < k;
            bar = high && tops[i] < bar ? tops[i] : bar;
        }
        // -inf is what hidden keys have: they are never taken
        return bar == -static_cast<T>(__builtin_inf()) ? lowest() : bar;
    }
    static T lowest() { return static_cast<T>(sizeof(T) == 4 ? -3.4028234663852886e38 : -1.7976931348623157e308); }

    void take_many(int r, int64_t key, const T* block, const uint8_t* status, const T* best_of_group) {
        const T* bar = scores + r * room + k - 1;
        for (int64_t g = 0; g < kBlock / kGroup; ++g) {
            if (status[g] == 0 || !(best_of_group[g] > *bar)) continue;
            for (int64_t c = g * kGroup; c < (g + 1) * kGroup; c += W)
                for (uint32_t bits = greater<T>(load(block + c), splat<T>(*bar)); bits != 0; bits &= bits - 1)
                    insert(r, block[c + __builtin_ctz(bits)], key + c + __builtin_ctz(bits));
        }
    }
};

}  // namespace pozor::POZOR_ISA
