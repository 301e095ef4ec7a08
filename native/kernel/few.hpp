// A few queries over a few keys: a head is one task without blocks, copies of keys, or online corrections, since here
// such preparations would take longer than the sums. Keys and values are read where they lie.
#pragma once
#include "finish.hpp"
#include "mask.hpp"
#include "tile.hpp"

namespace pozor::POZOR_ISA {

template <class P> class Few {
    using Real = typename P::Real;
    static constexpr int W = lanes<Real>;
    static constexpr int64_t kMost = kGroup;  // keys

    const Problem& p;
    const Sizes<P> size;
    const Scoring<Real>& how;
    const int64_t q_stride;
    // of the head at hand
    int64_t b = 0, h = 0, kv_head = 0;
    Real *q = nullptr, *scores = nullptr, *acc = nullptr;
    int64_t lo[kShort], hi[kShort];
    Real top[kShort], sum[kShort];

  public:
    Few(const Problem& problem, const Scoring<Real>& scoring)
        : p(problem), size(problem), how(scoring), q_stride(round_up(problem.head_dim, W)) {}

    static bool takes(const Problem& p, const Scoring<Real>& how) {
        return P::pair == 1 && p.v && p.q_len <= kShort && p.kv_len <= kMost && !p.observes() && !p.row_max &&
               !how.transform && !p.mask && p.num_ranges == 0 && p.v_head_dim % W == 0 &&
               p.k.stride[3] == size_of(p.k.dtype) && p.v.stride[3] == size_of(p.v.dtype);
    }
    void run() {
        parallel(p.batch * p.heads, [](void* self, int64_t i) { Few(*static_cast<Few*>(self)).head(i); }, this);
    }

  private:
    void head(int64_t i) {
        FlushToZero guard;
        b = i / p.heads;
        h = i % p.heads;
        kv_head = h / (p.heads / p.kv_heads);
        const int rows = static_cast<int>(p.q_len);
        const int64_t padded_rows = rows + 3;  // dot products take up to 4 rows together
        q = static_cast<Real*>(scratch((padded_rows * (q_stride + kMost + W) + rows * size.v_padded) *
                                       static_cast<int64_t>(sizeof(Real))));
        scores = q + padded_rows * q_stride;
        acc = scores + padded_rows * (kMost + W);
        for (int r = 0; r < rows; ++r) take_row(r);
        // not what lay there: arithmetic on denormal numbers is slow
        std::memset(q + rows * q_stride, 0, static_cast<size_t>((padded_rows - rows) * q_stride) * sizeof(Real));
        with_dtype<Real>(p.k.dtype, [&](auto dtype) {
            dots_of<Real, dtype.value>(rows, q, q_stride, p.k, b, kv_head, 0, p.kv_len, p.head_dim, scores, kMost + W);
        });
        for (int r = 0; r < rows; ++r) how.differences ? soften<true>(r) : soften<false>(r);
        std::memset(acc, 0, static_cast<size_t>(rows * size.v_padded) * sizeof(Real));
        with_dtype<Real>(p.v.dtype, [&](auto dtype) {
            for (int r = 0; r < rows; r += kRows) gather<dtype.value>(r, static_cast<int>(least(kRows, rows - r)));
        });
        for (int r = 0; r < rows; ++r) finish_row<Real>(p, how, b, h, r, top[r], sum[r], acc + r * size.v_padded);
    }

    void take_row(int r) {
        const int64_t position = r + p.q_offset[b];
        lo[r] = most(0, position - p.left);
        hi[r] = least(p.kv_len, position + p.right + 1);
        Real* to = q + r * q_stride;
        row_units<P>(to, p.q.at(b, h, r), p.q.stride[3], p.q.dtype, p.head_dim, q_stride);
        if (!how.flip && how.fold == 1) return;
        const double factor = how.flip ? -how.fold : how.fold;
        for (int64_t c = 0; c < p.head_dim; ++c) to[c] = static_cast<Real>(to[c] * factor);
    }

    // scores -> exp(logit - maximum), 0 where hidden
    template <bool Differences> void soften(int r) {
        const Real minus_inf = -static_cast<Real>(__builtin_inf());
        const Vec<Real> hidden = splat<Real>(minus_inf);
        const uint64_t seen = span_word(lo[r], hi[r], 0);
        Real* s = scores + r * (kMost + W);
        Vec<Real> largest = hidden;
        for (int64_t j = 0; j < p.kv_len; j += W) {
            // select, not add: what is hidden may be NaN
            const Vec<Real> x = select<Real>(seen >> j, load(s + j), hidden);
            store<Real>(s + j, x);
            largest = max<Real>(x, largest);
        }
        top[r] = reduce_max<Real>(largest);
        const Real base = top[r] == minus_inf ? 0 : top[r];
        const Vec<Real> scale = splat<Real>(how.to_bits), from = splat<Real>(base);
        const Vec<Real> shift = splat<Real>(-base * how.to_bits);
        Vec<Real> total{};
        for (int64_t j = 0; j < p.kv_len; j += W) {
            const Vec<Real> x = load(s + j);
            const Vec<Real> e = exp2<Real>(Differences ? (x - from) * scale : fma<Real>(x, scale, shift));
            total += e;
            store<Real>(s + j, e);
        }
        sum[r] = reduce_add<Real>(total);
    }

    // acc += probs . v: the keys that all rows see together, then what single rows see beside them; a hidden value is
    // not read, for 0 * NaN would reach the row.
    template <Dtype D> void gather(int first, int rows) {
        int64_t a = 0, z = p.kv_len;
        for (int r = first; r < first + rows; ++r) {
            a = most(a, lo[r]);
            z = least(z, hi[r]);
        }
        z = most(a, z);
        add<D>(first, rows, a, z);
        for (int r = first; r < first + rows; ++r) {
            add<D>(r, 1, lo[r], least(a, hi[r]));
            add<D>(r, 1, most(z, lo[r]), hi[r]);
        }
    }
    template <Dtype D> void add(int first, int rows, int64_t a, int64_t z) {
        if (a >= z) return;
        constexpr Real one[kRows] = {1, 1, 1, 1, 1, 1};
        constexpr int NV = kScoreVectors;
        const char* from = p.v.at(b, kv_head, a);
        const Real* probs = scores + first * (kMost + W) + a;
        Real* to = acc + first * size.v_padded;
        with_rows(rows, [&](auto mr) {
            int64_t c = 0;
            auto some = [&](auto vectors) {
                values_where_they_lie<Real, D, mr.value, vectors.value>(probs, kMost + W, from + c * size_of(D), p.v.stride[2],
                                                                        z - a, to + c, size.v_padded, one);
                c += vectors.value * W;
            };
            while (c + NV * W <= size.v_padded) some(std::integral_constant<int, NV>{});
            while (c < size.v_padded) some(std::integral_constant<int, 1>{});
        });
    }
};

}  // namespace pozor::POZOR_ISA
