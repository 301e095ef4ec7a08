// What each row of a tile may see, as an interval and as 64-bit words of keys; and the terms of a logit that are not
// q.k: softcap and bias.
#pragma once
#include "pack.hpp"

namespace pozor::POZOR_ISA {

constexpr int kTileRows = 384;  // at most: 64 panels of 6, 6 x 64: tiles never share a pooled block of up to 64 rows

// bits [start, stop) of the 64 keys from `key`
POZOR_INLINE uint64_t span_word(int64_t start, int64_t stop, int64_t key) {
    const int64_t a = most(start - key, 0), b = least(stop - key, 64);
    if (a >= b) return 0;
    return (~uint64_t{0} >> (64 - (b - a))) << a;
}

struct Sight {
    const Problem& p;
    int64_t b = 0;
    int rows = 0;
    int32_t head[kTileRows], query[kTileRows];
    int64_t lo[kTileRows], hi[kTileRows];  // no key outside [lo, hi) is visible; both 0 if none is
    int64_t first = 0, last = 0;           // the same for the whole tile
    int64_t inner_first = 0, inner_last = 0;  // what lies in every row's [lo, hi)
    explicit Sight(const Problem& problem) : p(problem) {}

    const int32_t* ranges(int row) const {
        return reinterpret_cast<const int32_t*>(p.ranges.at(b, head[row], query[row]));
    }
    // Keys [start, stop) are those this tile looks at.
    void look(int64_t start, int64_t stop) {
        first = stop;
        last = start;
        inner_first = start;
        inner_last = stop;
        for (int r = 0; r < rows; ++r) {
            const int64_t position = query[r] + p.q_offset[b];
            lo[r] = most(start, position - p.left);
            hi[r] = least(stop, position + p.right + 1);
            if (p.num_ranges > 0) {
                const int32_t* pairs = ranges(r);
                int64_t a = stop, z = start;
                for (int64_t n = 0; n < p.num_ranges; ++n)
                    if (pairs[2 * n] < pairs[2 * n + 1]) {
                        a = least(a, pairs[2 * n]);
                        z = most(z, pairs[2 * n + 1]);
                    }
                lo[r] = most(lo[r], a);
                hi[r] = least(hi[r], z);
            }
            if (lo[r] >= hi[r]) {
                lo[r] = hi[r] = 0;
                inner_last = start;
                continue;
            }
            inner_first = most(inner_first, lo[r]);
            inner_last = least(inner_last, hi[r]);
            first = least(first, lo[r]);
            last = most(last, hi[r]);
        }
    }
    // Without arrays and with one range at most, everything inside [lo, hi) is visible.
    bool interval() const { return !p.mask && p.num_ranges <= 1; }
    // Every row sees every one of keys [a, z).
    bool all_seen(int64_t a, int64_t z) const { return interval() && a >= inner_first && z <= inner_last; }

    uint64_t word(int row, int64_t key) const {
        uint64_t seen = span_word(lo[row], hi[row], key);
        if (seen != 0 && p.num_ranges > 1) {
            const int32_t* pairs = ranges(row);
            uint64_t any = 0;
            for (int64_t n = 0; n < p.num_ranges; ++n) any |= span_word(pairs[2 * n], pairs[2 * n + 1], key);
            seen &= any;
        }
        if (seen != 0 && p.mask) seen &= mask_word(row, key);
        return seen;
    }

  private:
    uint64_t mask_word(int row, int64_t key) const {
        const int64_t stride = p.mask.stride[3];
        const uint8_t* bytes = reinterpret_cast<const uint8_t*>(p.mask.at(b, head[row], query[row]));
        if (stride == 0) return *bytes != 0 ? ~uint64_t{0} : 0;
        if (stride == 1 && key + 64 <= p.kv_len) return nonzero_bytes(bytes + key);
        uint64_t bits = 0;
        const int64_t n = least(64, p.kv_len - key);
        for (int64_t i = 0; i < n; ++i) bits |= static_cast<uint64_t>(bytes[(key + i) * stride] != 0) << i;
        return bits;
    }
};

// The order of a logit: scale, softcap, bias. Where none but the scale is at work, scores stay q.k and the scale goes
// into the exponent; otherwise they become logits in nats.
template <class T> struct Scoring {
    bool flip = false;         // a negative scale turns the sign of q
    bool transform = false;    // scores are turned into logits
    bool differences = false;  // subtract before scaling: the product could overflow
    T to_bits = 1;             // score -> logit / ln 2
    double to_nats = 1;        // score -> logit
    double fold = 1;           // goes into q: a scale that to_bits could not hold
    T scale = 1, cap = 0;
    explicit Scoring(const Problem& p) {
        constexpr double log2e = 1.4426950408889634;
        double magnitude = p.scale < 0 ? -p.scale : p.scale;
        if (magnitude > 1e20 || (magnitude < 1e-20 && magnitude > 0)) {
            fold = magnitude;
            magnitude = 1;
        }
        flip = p.scale < 0;
        // a scale of 0 makes all logits equal, which q.k is not
        transform = p.softcap != 0 || p.bias || p.scale == 0;
        scale = static_cast<T>(magnitude);
        cap = static_cast<T>(p.softcap);
        to_nats = transform ? 1 : magnitude;
        to_bits = static_cast<T>(to_nats * log2e);
        differences = transform || to_nats * log2e > 1;
    }
};

// tanh without cancellation near 0: the odd rational of Cephes below 0.625, else 1 - 2 / (e^2x + 1).
template <class T> POZOR_INLINE Vec<T> tanh(Vec<T> x) {
    const Vec<T> size = x < 0 ? -x : x;
    Vec<T> big = T(1) - T(2) / (exp2<T>(size * splat<T>(T(2.8853900817779268))) + T(1));
    big = x < 0 ? -big : big;
    const Vec<T> z = x * x;
    Vec<T> num = fma<T>(splat<T>(T(-9.64399179425052238628e-1)), z, splat<T>(T(-9.92877231001918586564e1)));
    num = fma<T>(num, z, splat<T>(T(-1.61468768441708447952e3)));
    Vec<T> den = fma<T>(z + splat<T>(T(1.12811678491632931402e2)), z, splat<T>(T(2.23548839060100448583e3)));
    den = fma<T>(den, z, splat<T>(T(4.84406305325125486048e3)));
    const Vec<T> small = fma<T>(x * z, num / den, x);
    return size < T(0.625) ? small : big;  // NaN goes to big and stays NaN
}

// Numbers [0, n) of a bias row. A finite float64 too large for float stays finite: only a real -inf hides.
template <class T> inline void bias_row(T* to, const char* from, int64_t stride, Dtype dtype, int64_t n) {
    if (stride == 0) {
        bias_row<T>(to, from, size_of(dtype), dtype, 1);
        for (int64_t i = 1; i < n; ++i) to[i] = to[0];
    } else if (sizeof(T) == 4 && dtype == Dtype::f64) {
        for (int64_t i = 0; i < n; ++i) {
            const double x = number_at<double>(from + i * stride, dtype);
            const bool finite = x - x == 0;
            to[i] = static_cast<T>(!finite ? x : x > 3e38 ? 3e38 : x < -3e38 ? -3e38 : x);
        }
    } else {
        widen_row<T>(to, from, stride, dtype, n);
    }
}

// 64 scores of one row -> logits; gives back the keys of `seen` that the bias does not hide.
template <class T>
inline uint64_t to_logits(const Scoring<T>& how, const Problem& p, int64_t b, int64_t h, int64_t i, int64_t key,
                          T* scores, uint64_t seen) {
    constexpr int W = lanes<T>;
    const T minus_inf = -static_cast<T>(__builtin_inf());
    alignas(64) T bias[kGroup];
    if (p.bias) {
        const int64_t n = least(kGroup, p.kv_len - key);
        for (int64_t j = n; j < kGroup; ++j) bias[j] = 0;
        bias_row<T>(bias, p.bias.at(b, h, i) + key * p.bias.stride[3], p.bias.stride[3], p.bias.dtype, n);
    }
    for (int j = 0; j < kGroup; j += W) {
        Vec<T> s = load(scores + j) * splat<T>(how.scale);
        if (how.cap != 0) s = tanh<T>(s / splat<T>(how.cap)) * splat<T>(how.cap);
        if (p.bias) {
            const Vec<T> x = load(bias + j);
            s += x;
            seen &= ~(static_cast<uint64_t>(equal<T>(x, splat<T>(minus_inf))) << j);
        }
        store<T>(scores + j, s);
    }
    return seen;
}

}  // namespace pozor::POZOR_ISA
