// Sums of a row -> out and lse. The sink takes part in the denominator alone.
#pragma once
#include "observe.hpp"

namespace pozor::POZOR_ISA {

template <class T> POZOR_INLINE void write_row(char* to, Dtype dtype, const T* from, T divisor, bool zero, int64_t n) {
    constexpr int W = lanes<T>;
    alignas(64) T value[W];
    const T factor_of_none = zero ? 0 : 1, inverse = T(1) / divisor;
    for (int64_t c = 0; c < n; c += W) {
        const Vec<T> x = factor_of_none == 0 ? Vec<T>{} : quotient<T>(load(from + c), splat<T>(divisor), splat<T>(inverse));
        const int64_t width = least(W, n - c);
        if (size_of(dtype) == static_cast<int64_t>(sizeof(T)) && width == W) {
            std::memcpy(to + c * static_cast<int64_t>(sizeof(T)), &x, kVectorBytes);
            continue;
        }
        if constexpr (sizeof(T) == 4) {
            if (width == W) {
                auto* half = reinterpret_cast<uint16_t*>(to + c * 2);
                dtype == Dtype::f16 ? store_half(half, x) : store_bfloat(half, x);
                continue;
            }
        }
        store<T>(value, x);
        for (int64_t i = 0; i < width; ++i) {
            if (size_of(dtype) == static_cast<int64_t>(sizeof(T))) {
                std::memcpy(to + (c + i) * static_cast<int64_t>(sizeof(T)), value + i, sizeof(T));
            } else {
                const float f = static_cast<float>(value[i]);
                const uint16_t h = dtype == Dtype::f16 ? float_to_half(f) : float_to_bfloat(f);
                std::memcpy(to + (c + i) * 2, &h, 2);
            }
        }
    }
}

POZOR_INLINE float log_of(float x) { return __builtin_logf(x); }
POZOR_INLINE double log_of(double x) { return __builtin_log(x); }

// maximum, sum: of one row's scores and exponentials, acc its sum of exponentials times values.
template <class T>
inline Ending<T> finish_row(const Problem& p, const Scoring<T>& how, int64_t b, int64_t h, int64_t i, T maximum, T sum,
                            const T* acc) {
    const double infinity = __builtin_inf();
    Ending<T> end{maximum, sum, 0, maximum == -static_cast<T>(infinity) && sum == 0};
    // the same rounded product as the exponents were taken from
    const double top = end.empty        ? -infinity
                       : how.differences ? static_cast<double>(maximum) * how.to_nats
                                         : static_cast<double>(maximum * how.to_bits) * kLn2;
    double lse = end.empty ? -infinity : (maximum == -static_cast<T>(infinity) ? 0 : top) + log_of(static_cast<T>(sum));
    T divisor = sum;
    if (p.sink != nullptr) {
        const double sink = p.sink[h], least_upper = lse > sink ? lse : sink;
        if (least_upper != -infinity)
            lse = least_upper + __builtin_log(__builtin_exp(lse - least_upper) + __builtin_exp(sink - least_upper));
        if (!end.empty) {
            // out = acc / (sum + exp(sink - top)), and 0 where the sink takes all
            const double part = __builtin_exp(sink - top);
            divisor = static_cast<T>(sum + part);
        }
    }
    end.weight = end.empty ? 0 : 1.0 / static_cast<double>(divisor);
    static_cast<T*>(p.lse)[(b * p.heads + h) * p.q_len + i] = static_cast<T>(lse);
    if (p.row_max)
        static_cast<T*>(p.row_max)[(b * p.heads + h) * p.q_len + i] =
            static_cast<T>(end.empty ? -infinity : static_cast<double>(maximum) * how.to_nats);
    if (p.v)
        write_row<T>(const_cast<char*>(p.out.at(b, h, i)), p.out.dtype, acc, divisor, end.empty, p.v_head_dim);
    return end;
}

}  // namespace pozor::POZOR_ISA
