// What the units of one instruction set can do at most: multiply-adds from registers, bytes from memory.
#pragma once
#include "problem.hpp"
#include "vec.hpp"

namespace pozor::POZOR_ISA {

// Sums that do not wait for each other: more than latency times units asks for, fewer than the registers.
constexpr int kSums = 12;
constexpr float kShrink = 0.5f, kAdd = 1.0f;  // x = x / 2 + 1 stays at 2

template <class Step> POZOR_INLINE float spin(int64_t rounds, Step step) {
    Vec<float> sums[kSums];
    for (int i = 0; i < kSums; ++i) sums[i] = splat<float>(static_cast<float>(i));
    for (int64_t round = 0; round < rounds; ++round)
        for (int i = 0; i < kSums; ++i) sums[i] = step(sums[i]);
    for (int i = 1; i < kSums; ++i) sums[0] = sums[0] + sums[i];
    return reduce_add<float>(sums[0]);
}

static Spun spin_fma(int64_t rounds) {
    const Vec<float> shrink = splat<float>(kShrink), add = splat<float>(kAdd);
    const float sum = spin(rounds, [&](Vec<float> x) { return fma<float>(x, shrink, add); });
    return {2.0 * kSums * lanes<float> * static_cast<double>(rounds), sum};
}

// The dot product of bfloat16 pairs; no FLOP where there is no such unit.
static Spun spin_pairs(int64_t rounds) {
#if defined(__AVX512BF16__)
    const Vec<float> a = narrow_pairs(splat<float>(kShrink), splat<float>(kShrink));
    const Vec<float> b = narrow_pairs(splat<float>(kAdd), splat<float>(-kAdd));  // the sums stay small
    const float sum = spin(rounds, [&](Vec<float> x) { return dot_pairs(a, b, x); });
    return {4.0 * kSums * lanes<float> * static_cast<double>(rounds), sum};
#else
    (void)rounds;
    return {0, 0};
#endif
}

// bytes: a multiple of eight vectors.
static float read_all(const float* data, int64_t bytes) {
    constexpr int streams = 8;
    Vec<float> sums[streams] = {};
    const int64_t count = bytes / static_cast<int64_t>(sizeof(float));
    for (int64_t at = 0; at < count; at += streams * lanes<float>)
        for (int i = 0; i < streams; ++i) sums[i] = sums[i] + load<float>(data + at + i * lanes<float>);
    for (int i = 1; i < streams; ++i) sums[0] = sums[0] + sums[i];
    return reduce_add<float>(sums[0]);
}

}  // namespace pozor::POZOR_ISA
