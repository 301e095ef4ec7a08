// Inputs of any dtype and stride -> the layouts of the inner loops. A *unit* is what one multiplication takes: one
// number, or with bfloat16 pairs two of them in 32 bits.
//   keys   [panel][unit of head_dim][key of the panel]   transposed, zero beyond kv_len
//   values [unit of keys][v_padded]                      as they lie, or copied
#pragma once
#include "problem.hpp"
#include "vec.hpp"

namespace pozor::POZOR_ISA {

constexpr int64_t kGroup = 64;   // keys whose visibility is one 64-bit word
constexpr int64_t kBlock = 512;  // keys between two corrections of the running maximum

POZOR_INLINE int64_t round_up(int64_t n, int64_t m) { return (n + m - 1) / m * m; }
POZOR_INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
POZOR_INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

struct InFloat {
    using Real = float;
    static constexpr int pair = 1;
};
struct InDouble {
    using Real = double;
    static constexpr int pair = 1;
};
struct InPairs {  // bfloat16, two to a lane, summed in float
    using Real = float;
    static constexpr int pair = 2;
};

template <class P> POZOR_INLINE Vec<typename P::Real> multiply_add(Vec<typename P::Real> a, Vec<typename P::Real> b,
                                                                   Vec<typename P::Real> c) {
#if defined(__AVX512BF16__)
    if constexpr (P::pair == 2) return dot_pairs(a, b, c);
    else return fma<typename P::Real>(a, b, c);
#else
    return fma<typename P::Real>(a, b, c);
#endif
}

POZOR_INLINE int64_t size_of(Dtype t) { return t == Dtype::f64 ? 8 : t == Dtype::f32 ? 4 : 2; }

template <class T> POZOR_INLINE T number_at(const char* p, Dtype dtype) {
    uint16_t h;
    float f;
    double d;
    switch (dtype) {
        case Dtype::f32: std::memcpy(&f, p, 4); return static_cast<T>(f);
        case Dtype::f64: std::memcpy(&d, p, 8); return static_cast<T>(d);
        case Dtype::f16: std::memcpy(&h, p, 2); return static_cast<T>(half_to_float(h));
        default: std::memcpy(&h, p, 2); return static_cast<T>(bfloat_to_float(h));
    }
}

// n numbers -> Real. Writes nothing beyond n.
template <class T> inline void widen_row(T* to, const char* from, int64_t stride, Dtype dtype, int64_t n) {
    int64_t i = 0;
    if (stride == size_of(dtype)) {
        if (sizeof(T) == size_of(dtype)) {
            std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
            return;
        }
        if constexpr (sizeof(T) == 4) {
            const uint16_t* h = reinterpret_cast<const uint16_t*>(from);
            if (dtype == Dtype::f16)
                for (; i + lanes<T> <= n; i += lanes<T>) store<T>(to + i, load_half(h + i));
            else if (dtype == Dtype::bf16)
                for (; i + lanes<T> <= n; i += lanes<T>) store<T>(to + i, load_bfloat(h + i));
        }
    }
    for (; i < n; ++i) to[i] = number_at<T>(from + i * stride, dtype);
}

// One row as units, zero up to `units`.
template <class P>
inline void row_units(typename P::Real* to, const char* from, int64_t stride, Dtype dtype, int64_t n, int64_t units) {
    using Real = typename P::Real;
    if constexpr (P::pair == 2) {
        uint16_t* half = reinterpret_cast<uint16_t*>(to);
        if (stride == 2) std::memcpy(half, from, static_cast<size_t>(n) * 2);
        else
            for (int64_t i = 0; i < n; ++i) std::memcpy(half + i, from + i * stride, 2);
        for (int64_t i = n; i < 2 * units; ++i) half[i] = 0;
    } else {
        widen_row<Real>(to, from, stride, dtype, n);
        for (int64_t i = n; i < units; ++i) to[i] = 0;
    }
}

template <class P> struct Sizes {
    using Real = typename P::Real;
    static constexpr int W = lanes<Real>;
    static constexpr int64_t panel = W * kScoreVectors;  // keys of one panel
    int64_t units, v_padded;
    explicit Sizes(const Problem& p)
        : units(round_up(p.head_dim, P::pair) / P::pair), v_padded(round_up(p.v_head_dim, W)) {}
    int64_t keys_size(int64_t kv_len) const { return round_up(kv_len, kGroup) * units; }                 // Reals
    int64_t values_size(int64_t kv_len) const { return round_up(kv_len, P::pair) / P::pair * v_padded; }
};

// Keys [first, last) of one head -> panels; first is a multiple of a panel. tail: W * (units + W) Reals.
template <class P>
inline void pack_keys(typename P::Real* to, const View& k, int64_t b, int64_t h, int64_t first, int64_t last,
                      int64_t head_dim, int64_t units, typename P::Real* tail) {
    using Real = typename P::Real;
    constexpr int W = lanes<Real>;
    constexpr int64_t panel = Sizes<P>::panel;
    const int64_t padded = round_up(units, W);
    const int64_t end = round_up(last, kGroup);
    // halves that are widened on the way
    const bool narrow = P::pair == 1 && sizeof(Real) == 4 && k.stride[3] == 2 && size_of(k.dtype) == 2 && units % W == 0;
    const bool direct = P::pair == 1 && k.stride[3] == static_cast<int64_t>(sizeof(Real)) &&
                        size_of(k.dtype) == static_cast<int64_t>(sizeof(Real)) && units % W == 0;
    for (int64_t j = first; j < end; j += W) {
        Real* column = to + (j - first) / panel * panel * units + (j - first) % panel;
        const char* row[W];
        for (int r = 0; r < W; ++r) {
            row[r] = k.at(b, h, least(j + r, last - 1));
            if (!direct && !narrow) {
                Real* copy = tail + r * padded;
                row_units<P>(copy, row[r], k.stride[3], k.dtype, head_dim, padded);
                row[r] = reinterpret_cast<const char*>(copy);
            }
        }
        for (int64_t u = 0; u < units; u += W) {
            Vec<Real> v[W];
            if constexpr (P::pair == 1 && sizeof(Real) == 4) {
                if (narrow)
                    for (int r = 0; r < W; ++r) {
                        const auto* half = reinterpret_cast<const uint16_t*>(row[r]) + u;
                        v[r] = k.dtype == Dtype::f16 ? load_half(half) : load_bfloat(half);
                    }
            }
            if (!narrow)
                for (int r = 0; r < W; ++r) v[r] = load(reinterpret_cast<const Real*>(row[r]) + u);
            if (j + W > last)
                for (int r = 0; r < W; ++r)
                    if (j + r >= last) v[r] = Vec<Real>{};
            transpose<Real>(v);
            const int64_t n = least(W, units - u);
            if (n == W)
                for (int r = 0; r < W; ++r) store<Real>(column + (u + r) * panel, v[r]);
            else
                for (int64_t r = 0; r < n; ++r) store<Real>(column + (u + r) * panel, v[r]);
        }
    }
}

// Values [first, last) -> rows of v_padded; first is even.
template <class P>
inline void pack_values(typename P::Real* to, const View& v, int64_t b, int64_t h, int64_t first, int64_t last,
                        int64_t v_head_dim, int64_t v_padded) {
    if constexpr (P::pair == 1) {
        for (int64_t j = first; j < last; ++j, to += v_padded)
            row_units<P>(to, v.at(b, h, j), v.stride[3], v.dtype, v_head_dim, v_padded);
    } else {
        for (int64_t j = first; j < last; j += 2, to += v_padded) {
            uint16_t* pairs = reinterpret_cast<uint16_t*>(to);
            const char *low = v.at(b, h, j), *high = v.at(b, h, j + 1 < last ? j + 1 : j);
            const uint16_t keep = j + 1 < last ? 0xffff : 0;
            int64_t i = 0;
#if defined(__AVX512BW__)
            if (v.stride[3] == 2) {
                const __m512i top = _mm512_set1_epi32(keep ? static_cast<int>(0xffff0000u) : 0);
                for (; i + 16 <= v_head_dim; i += 16) {
                    const __m512i a = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)(low + 2 * i)));
                    const __m512i c = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)(high + 2 * i)));
                    _mm512_storeu_si512(pairs + 2 * i,
                                        _mm512_or_si512(a, _mm512_and_si512(_mm512_slli_epi32(c, 16), top)));
                }
            }
#endif
            for (; i < v_head_dim; ++i) {
                uint16_t c;
                std::memcpy(pairs + 2 * i, low + i * v.stride[3], 2);
                std::memcpy(&c, high + i * v.stride[3], 2);
                pairs[2 * i + 1] = c & keep;
            }
            for (; i < v_padded; ++i) pairs[2 * i] = pairs[2 * i + 1] = 0;
        }
    }
}

}  // namespace pozor::POZOR_ISA
