// The thin layer of vector operations: the only file with intrinsics. Compiled once per instruction set, in the
// namespace POZOR_ISA, so that the copies never meet in the linker. Not here: anything about attention.
#pragma once
#include <cstdint>
#include <cstring>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define POZOR_INLINE inline __attribute__((always_inline))

namespace pozor::POZOR_ISA {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64, kScoreVectors = 4;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32, kScoreVectors = 2;  // 16 registers: 6 x 2 sums, 2 keys, 1 query
#else
constexpr int kVectorBytes = 16, kScoreVectors = 4;
#endif

#if defined(__FMA__) || defined(__aarch64__)
constexpr bool kFused = true;
#else
constexpr bool kFused = false;  // a product is rounded before it is added
#endif

template <class T> struct Int;
template <> struct Int<float> { using type = int32_t; using half = int16_t; };
template <> struct Int<double> { using type = int64_t; using half = int32_t; };

template <class T> using Vec __attribute__((vector_size(kVectorBytes))) = T;
template <class T> constexpr int lanes = kVectorBytes / static_cast<int>(sizeof(T));
template <class T> using IVec = Vec<typename Int<T>::type>;

template <class T> POZOR_INLINE Vec<T> load(const T* p) {
    Vec<T> v;
    std::memcpy(&v, p, kVectorBytes);
    return v;
}
template <class T> POZOR_INLINE void store(T* p, Vec<T> v) { std::memcpy(p, &v, kVectorBytes); }
template <class T> POZOR_INLINE Vec<T> splat(T x) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_set1_ps(x);
    else return (Vec<T>)_mm512_set1_pd(x);
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)_mm256_set1_ps(x);
    else return (Vec<T>)_mm256_set1_pd(x);
#else
    Vec<T> v;
    for (int i = 0; i < lanes<T>; ++i) v[i] = x;
    return v;
#endif
}

template <class T> POZOR_INLINE Vec<T> fma(Vec<T> a, Vec<T> b, Vec<T> c) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
    else return (Vec<T>)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
    else return (Vec<T>)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

// NaN in a is passed over (b is kept), as in maxps.
template <class T> POZOR_INLINE Vec<T> max(Vec<T> a, Vec<T> b) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_max_ps((__m512)a, (__m512)b);
    else return (Vec<T>)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)_mm256_max_ps((__m256)a, (__m256)b);
    else return (Vec<T>)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    return a > b ? a : b;
#endif
}

// x / d, with inverse = 1 / d rounded: the remainder of the first guess corrects it to the rounded quotient (Markstein
// 1990). Where there is no such remainder (infinities, NaN) the guess is it.
template <class T> POZOR_INLINE Vec<T> quotient(Vec<T> x, Vec<T> d, Vec<T> inverse) {
    if constexpr (!kFused) return x / d;
    const Vec<T> guess = x * inverse, rest = fma<T>(-guess, d, x);
    return rest == rest ? fma<T>(rest, inverse, guess) : guess;
}

template <class T, int N> POZOR_INLINE Vec<T> rotate(Vec<T> v) {
    constexpr int W = lanes<T>;
    return [&]<int... I>(std::integer_sequence<int, I...>) {
        return __builtin_shufflevector(v, v, ((I + N) % W)...);
    }(std::make_integer_sequence<int, W>{});
}
template <class T, class Op> POZOR_INLINE T reduce(Vec<T> v, Op op) {
    constexpr int W = lanes<T>;
    if constexpr (W > 8) v = op(v, rotate<T, W / 16 * 8>(v));
    if constexpr (W > 4) v = op(v, rotate<T, 4>(v));
    if constexpr (W > 2) v = op(v, rotate<T, 2>(v));
    return op(v, rotate<T, 1>(v))[0];
}
// A product rounded by itself: fused with a difference that follows, two equal products would not cancel, and the
// error of every block of keys would add up in a row's sum.
template <class T> POZOR_INLINE Vec<T> product(Vec<T> a, Vec<T> b) {
    Vec<T> p = a * b;
    asm("" : "+m"(p));
    return p;
}

template <class T> POZOR_INLINE T reduce_add(Vec<T> v) {
    return reduce<T>(v, [](Vec<T> a, Vec<T> b) { return a + b; });
}
template <class T> POZOR_INLINE T reduce_max(Vec<T> v) {
    return reduce<T>(v, [](Vec<T> a, Vec<T> b) { return max<T>(a, b); });
}

template <class T> POZOR_INLINE IVec<T> lane_bits() {
    IVec<T> bits;
    for (int i = 0; i < lanes<T>; ++i) bits[i] = static_cast<typename Int<T>::type>(1) << i;
    return bits;
}

// Lane i of a where bit i is set, else of b.
template <class T> POZOR_INLINE Vec<T> select(uint64_t bits, Vec<T> a, Vec<T> b) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) return (Vec<T>)_mm512_mask_blend_ps((__mmask16)bits, (__m512)b, (__m512)a);
    else return (Vec<T>)_mm512_mask_blend_pd((__mmask8)bits, (__m512d)b, (__m512d)a);
#else
    using I = typename Int<T>::type;
    const IVec<T> on = (static_cast<I>(bits) - IVec<T>{}) & lane_bits<T>();
    return on != 0 ? a : b;
#endif
}

// Bit i is set where a > b (a == b, a >= b) in lane i.
#if defined(__AVX512F__)
#define POZOR_COMPARE(NAME, OP, CODE)                                                      \
    template <class T> POZOR_INLINE uint32_t NAME(Vec<T> a, Vec<T> b) {                     \
        if constexpr (sizeof(T) == 4) return _mm512_cmp_ps_mask((__m512)a, (__m512)b, CODE); \
        else return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, CODE);                        \
    }
#elif defined(__AVX2__)
#define POZOR_COMPARE(NAME, OP, CODE)                                                                        \
    template <class T> POZOR_INLINE uint32_t NAME(Vec<T> a, Vec<T> b) {                                       \
        if constexpr (sizeof(T) == 4) return _mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, CODE));    \
        else return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)a, (__m256d)b, CODE));                           \
    }
#else
#define POZOR_COMPARE(NAME, OP, CODE)                                                          \
    template <class T> POZOR_INLINE uint32_t NAME(Vec<T> a, Vec<T> b) {                         \
        uint32_t bits = 0;                                                                      \
        for (int i = 0; i < lanes<T>; ++i) bits |= static_cast<uint32_t>(a[i] OP b[i]) << i;     \
        return bits;                                                                            \
    }
#endif
POZOR_COMPARE(greater, >, _CMP_GT_OQ)
POZOR_COMPARE(equal, ==, _CMP_EQ_OQ)
POZOR_COMPARE(at_least, >=, _CMP_GE_OQ)
#undef POZOR_COMPARE

// 64 bytes -> bit i is set where byte i is not 0.
POZOR_INLINE uint64_t nonzero_bytes(const uint8_t* p) {
#if defined(__AVX512BW__)
    const __m512i v = _mm512_loadu_si512(p);
    return _mm512_test_epi8_mask(v, v);
#elif defined(__AVX2__)
    const __m256i zero = _mm256_setzero_si256();
    const __m256i a = _mm256_loadu_si256((const __m256i*)p), b = _mm256_loadu_si256((const __m256i*)(p + 32));
    const uint64_t lo = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, zero));
    const uint64_t hi = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, zero));
    return ~(lo | hi << 32);
#else
    uint64_t bits = 0;
    for (int i = 0; i < 64; ++i) bits |= static_cast<uint64_t>(p[i] != 0) << i;
    return bits;
#endif
}

// x = whole + part with 0 <= part < 1 and p = 2^part given by poly(part): p * 2^whole. NaN stays; -inf gives 0.
template <class T, class Poly> POZOR_INLINE Vec<T> exp2_by(Vec<T> x, Poly poly) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 4) {
        const Vec<T> p = poly((Vec<T>)_mm512_reduce_ps((__m512)x, 0x09));
        return (Vec<T>)_mm512_scalef_ps((__m512)p, (__m512)x);
    } else {
        const Vec<T> p = poly((Vec<T>)_mm512_reduce_pd((__m512d)x, 0x09));
        return (Vec<T>)_mm512_scalef_pd((__m512d)p, (__m512d)x);
    }
#else
    constexpr int mantissa = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023;
    const T least = static_cast<T>(1 - bias), most = static_cast<T>(bias) + T(0.5);
    const Vec<T> y = x < least ? splat<T>(least) : (x > most ? splat<T>(most) : x);
    IVec<T> whole = __builtin_convertvector(y, IVec<T>);
    Vec<T> floor = __builtin_convertvector(whole, Vec<T>);
    whole += (floor > y);  // true is -1
    floor = __builtin_convertvector(whole, Vec<T>);
    const IVec<T> power = (whole + bias) << mantissa;
    Vec<T> result = poly(y - floor) * (Vec<T>)power;
    result = x < least ? Vec<T>{} : result;
    return x > most ? splat<T>(static_cast<T>(__builtin_inf())) : result;
#endif
}

template <class T> POZOR_INLINE Vec<T> exp2(Vec<T> x) {
    // minimax on [0, 1) with 2^0 = 1 exactly: relative error 2e-9 and 3e-18 before rounding
    if constexpr (sizeof(T) == 4) {
        return exp2_by<T>(x, [](Vec<T> f) {
            Vec<T> p = splat<T>(2.161291657246391e-4f);
            p = fma<T>(p, f, splat<T>(1.2467845905837624e-3f));
            p = fma<T>(p, f, splat<T>(9.675451635115642e-3f));
            p = fma<T>(p, f, splat<T>(5.5485280578767664e-2f));
            p = fma<T>(p, f, splat<T>(2.4022930556274535e-1f));
            p = fma<T>(p, f, splat<T>(6.931470444423605e-1f));
            return fma<T>(p, f, splat<T>(1.0f));
        });
    } else {
        constexpr double c[12] = {1.0, 0.6931471805599463, 0.2402265069590547, 0.05550410866571116,
                                  0.00961812909879245, 0.0013333558661583471, 0.00015403511446274287,
                                  1.5253190252751192e-05, 1.320819344985004e-06, 1.0254457714232472e-07,
                                  6.55445577385705e-09, 6.272436957137835e-10};
        return exp2_by<T>(x, [&](Vec<T> f) {
            Vec<T> p = splat<T>(c[11]);
            for (int i = 10; i >= 0; --i) p = fma<T>(p, f, splat<T>(c[i]));
            return p;
        });
    }
}

// ---- narrow types ----
POZOR_INLINE float half_to_float(uint16_t h) {
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16, rest = h & 0x7fff;
    uint32_t bits = (rest << 13) + (112u << 23);
    if (rest >= 0x7c00) bits += 112u << 23;  // inf and NaN
    float f;
    if (rest < 0x0400) {  // subnormal: rest * 2^-24
        f = static_cast<float>(rest) * 0x1p-24f;
        std::memcpy(&bits, &f, 4);
    }
    bits |= sign;
    std::memcpy(&f, &bits, 4);
    return f;
}
POZOR_INLINE uint16_t float_to_half(float f) {
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) return sign | 0x7e00;
    if (bits >= 0x477ff000) return sign | 0x7c00;  // 65520 and above round to inf
    if (bits < 0x38800000) {  // subnormal: adding 0.5 rounds to a multiple of 2^-24
        float magnitude;
        std::memcpy(&magnitude, &bits, 4);
        magnitude += 0.5f;
        std::memcpy(&bits, &magnitude, 4);
        return static_cast<uint16_t>(sign | (bits - 0x3f000000));
    }
    return static_cast<uint16_t>(sign | ((bits - (112u << 23) + 0x0fff + (bits >> 13 & 1)) >> 13));
}
POZOR_INLINE float bfloat_to_float(uint16_t h) {
    const uint32_t bits = static_cast<uint32_t>(h) << 16;
    float f;
    std::memcpy(&f, &bits, 4);
    return f;
}
POZOR_INLINE uint16_t float_to_bfloat(float f) {
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

POZOR_INLINE Vec<float> load_half(const uint16_t* p) {
#if defined(__AVX512F__)
    return (Vec<float>)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p));
#elif defined(__F16C__)
    return (Vec<float>)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));
#else
    Vec<float> v;
    for (int i = 0; i < lanes<float>; ++i) v[i] = half_to_float(p[i]);
    return v;
#endif
}
POZOR_INLINE Vec<float> load_bfloat(const uint16_t* p) {
#if defined(__AVX512F__)
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i*)p));
    return (Vec<float>)_mm512_slli_epi32(wide, 16);
#elif defined(__AVX2__)
    return (Vec<float>)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i*)p)), 16);
#else
    Vec<float> v;
    for (int i = 0; i < lanes<float>; ++i) v[i] = bfloat_to_float(p[i]);
    return v;
#endif
}

// Rounded to the nearest, ties to even.
POZOR_INLINE void store_half(uint16_t* p, Vec<float> v) {
#if defined(__AVX512F__)
    const __m256i half = _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    std::memcpy(p, &half, sizeof half);
#elif defined(__F16C__)
    const __m128i half = _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    std::memcpy(p, &half, sizeof half);
#else
    for (int i = 0; i < lanes<float>; ++i) p[i] = float_to_half(v[i]);
#endif
}
POZOR_INLINE void store_bfloat(uint16_t* p, Vec<float> v) {
    typedef uint32_t Words __attribute__((vector_size(kVectorBytes)));
    typedef uint16_t Halves __attribute__((vector_size(kVectorBytes / 2)));
    const Words bits = (Words)v;
    const Words number = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16, none = bits >> 16 | 0x40u;
    const Halves half = __builtin_convertvector((bits & 0x7fffffffu) > 0x7f800000u ? none : number, Halves);
    std::memcpy(p, &half, sizeof half);
}

#if defined(__AVX512BF16__)
// sum + a.low * b.low + a.high * b.high, each lane two bfloat16
POZOR_INLINE Vec<float> dot_pairs(Vec<float> a, Vec<float> b, Vec<float> sum) {
    return (Vec<float>)_mm512_dpbf16_ps((__m512)sum, (__m512bh)(__m512)a, (__m512bh)(__m512)b);
}
// 32 floats -> 32 bfloat16 in order
POZOR_INLINE Vec<float> narrow_pairs(Vec<float> low, Vec<float> high) {
    return (Vec<float>)(__m512)(_mm512_cvtne2ps_pbh((__m512)high, (__m512)low));
}
#endif

// Ask for the cache lines of one vector early.
template <class T> POZOR_INLINE void prefetch(const T* p) { __builtin_prefetch(p, 0, 3); }

// Subnormal results of the exponential cost an interrupt each on x86; they are below 1.2e-38 and become 0.
struct [[maybe_unused]] FlushToZero {
#if defined(__x86_64__)
    unsigned saved = _mm_getcsr();
    FlushToZero() { _mm_setcsr(saved | 0x8000); }
    ~FlushToZero() { _mm_setcsr(saved); }
#endif
};

// out[i] = all lanes of v[i] joined by op, for the first N of lanes<T> vectors; each in the same order. v is used up.
template <class T, int N, class Op> POZOR_INLINE Vec<T> across(Vec<T>* v, Op op) {
    constexpr int W = lanes<T>;
    [&]<int... S>(std::integer_sequence<int, S...>) {
        ([&] {
            constexpr int step = 1 << S;
            if constexpr (step < W) {
                for (int i = 0; i < N; i += 2 * step) {
                    const Vec<T> a = v[i], b = i + step < N ? v[i + step] : a;
                    [&]<int... L>(std::integer_sequence<int, L...>) {
                        v[i] = op(__builtin_shufflevector(a, b, ((L & step) ? W + L - step : L)...),
                                  __builtin_shufflevector(a, b, ((L & step) ? W + L : L + step)...));
                    }(std::make_integer_sequence<int, W>{});
                }
            }
        }(), ...);
    }(std::make_integer_sequence<int, 4>{});
    return v[0];
}

// Each lane takes the one before it; the first stays.
template <class T> POZOR_INLINE Vec<T> shifted(Vec<T> v) {
    constexpr int W = lanes<T>;
    return [&]<int... L>(std::integer_sequence<int, L...>) {
        return __builtin_shufflevector(v, v, (L == 0 ? 0 : L - 1)...);
    }(std::make_integer_sequence<int, W>{});
}

// Rows -> columns: out[j] lane i = in[i] lane j.
template <class T> POZOR_INLINE void transpose(Vec<T>* v) {
    constexpr int W = lanes<T>;
    [&]<int... S>(std::integer_sequence<int, S...>) {
        ([&] {
            constexpr int step = 1 << S;
            if constexpr (step < W) {
                for (int i = 0; i < W; ++i) {
                    if (i & step) continue;
                    const Vec<T> a = v[i], b = v[i + step];
                    [&]<int... L>(std::integer_sequence<int, L...>) {
                        v[i] = __builtin_shufflevector(a, b, ((L & step) ? W + L - step : L)...);
                        v[i + step] = __builtin_shufflevector(a, b, ((L & step) ? W + L : L + step)...);
                    }(std::make_integer_sequence<int, W>{});
                }
            }
        }(), ...);
    }(std::make_integer_sequence<int, 4>{});
}

}  // namespace pozor::POZOR_ISA
