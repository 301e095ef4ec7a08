// The kernel against plain loops in double, without Python: for machines that only run it (qemu) and for sanitizers.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "dispatch.hpp"
#include "kernel/pool.hpp"

using namespace pozor;

namespace {

std::mt19937 random_bits(1);
double normal() {
    static std::normal_distribution<double> draw;
    return draw(random_bits);
}

template <class T> struct Tensor {
    int64_t b, h, n, d;
    std::vector<T> data;
    Tensor(int64_t b_, int64_t h_, int64_t n_, int64_t d_) : b(b_), h(h_), n(n_), d(d_), data(b_ * h_ * n_ * d_) {}
    T& at(int64_t i, int64_t j, int64_t k, int64_t l) { return data[((i * h + j) * n + k) * d + l]; }
    View view(Dtype dtype) {
        View v;
        v.data = reinterpret_cast<const char*>(data.data());
        const int64_t size = sizeof(T);
        const int64_t stride[4] = {h * n * d * size, n * d * size, d * size, size};
        std::memcpy(v.stride, stride, sizeof stride);
        v.dtype = dtype;
        return v;
    }
};

struct Case {
    int64_t q_len, kv_len, dim, v_dim, group;
    bool causal, mask, bias;
    int64_t left;
    int threads;
};

// The first head in squares by the lse just found: a line of them adds up to its rows that see something.
template <class T> double check_squares(const Isa& isa, const Case& c, const Problem& all, const std::vector<T>& lse) {
    Problem p;
    p.batch = p.heads = p.kv_heads = 1;
    p.q_len = c.q_len, p.kv_len = c.kv_len, p.head_dim = c.dim, p.scale = all.scale;
    p.q = all.q, p.k = all.k, p.mask = all.mask, p.bias = all.bias, p.left = all.left, p.right = all.right;
    p.q_offset = all.q_offset;
    const int64_t lines = (c.q_len + 3) / 4, columns = (c.kv_len + 3) / 4;
    std::vector<double> by(lse.begin(), lse.begin() + c.q_len), total(lines * columns);
    std::vector<float> largest(total.size());
    std::vector<int64_t> count(total.size());
    Squares to;
    to.size = 4, to.lse = by.data(), to.largest = largest.data(), to.total = total.data(), to.count = count.data();
    {
        const Lease lease(c.threads, nullptr);
        isa.squares(p, to);
    }
    double worst = 0;
    for (int64_t line = 0; line < lines; ++line) {
        double sum = 0, rows = 0;
        for (int64_t i = 0; i < columns; ++i) sum += total[line * columns + i];
        for (int64_t i = 4 * line; i < 4 * line + 4 && i < c.q_len; ++i) rows += lse[i] != -INFINITY;
        worst = std::fmax(worst, std::fabs(sum - rows) / 4);
    }
    return worst;
}

// One call with every observable; the largest errors of out and lse.
template <class T> double check(const Isa& isa, const Case& c, Dtype dtype) {
    const int64_t B = 2, K = 2, H = K * c.group;
    Tensor<T> q(B, H, c.q_len, c.dim), k(B, K, c.kv_len, c.dim), v(B, K, c.kv_len, c.v_dim), out(B, H, c.q_len, c.v_dim),
        bias(1, H, c.q_len, c.kv_len);
    Tensor<uint8_t> mask(B, 1, c.q_len, c.kv_len);
    for (auto* t : {&q, &k, &v, &bias})
        for (T& x : t->data) x = static_cast<T>(normal());
    for (uint8_t& x : mask.data) x = random_bits() % 4 != 0;
    const int64_t rows = B * H * c.q_len, side = 64, lines = (c.q_len + side - 1) / side,
                  columns = (c.kv_len + side - 1) / side;
    std::vector<T> lse(rows), entropy(rows), row_max(rows), probs(rows * 3), far(rows * 41), top(B * H * lines * columns),
        mean(top.size()), share(top.size()), received(B * H * c.kv_len);
    std::vector<int64_t> keys(rows * 3), offset(B, c.kv_len - c.q_len);
    Problem p;
    p.batch = B, p.heads = H, p.kv_heads = K, p.q_len = c.q_len, p.kv_len = c.kv_len, p.head_dim = c.dim;
    p.v_head_dim = c.v_dim;
    p.q = q.view(dtype), p.k = k.view(dtype), p.v = v.view(dtype), p.out = out.view(dtype);
    p.lse = lse.data(), p.q_offset = offset.data(), p.scale = 0.3;
    p.left = c.left;
    if (c.causal) p.right = 0;
    if (c.mask) p.mask = mask.view(dtype), p.mask.stride[1] = 0;
    if (c.bias) p.bias = bias.view(dtype), p.bias.stride[0] = 0;
    double worst = 0;
    for (const bool observe : {false, true}) {
        if (observe) {
            p.entropy = entropy.data(), p.row_max = row_max.data(), p.top_k = 3, p.top_probs = probs.data();
            p.top_keys = keys.data(), p.ahead = 20, p.behind = 20, p.distance = far.data(), p.pooled = side;
            p.pooled_max = top.data(), p.pooled_mean = mean.data(), p.pooled_share = share.data();
            p.received = received.data();
        }
        {
            const Lease lease(c.threads, nullptr);
            isa.forward(p);
        }
        worst = std::fmax(worst, check_squares<T>(isa, c, p, lse));
        for (int64_t b = 0; b < B; ++b)
            for (int64_t h = 0; h < H; ++h)
                for (int64_t i = 0; i < c.q_len; ++i) {
                    std::vector<double> logits(c.kv_len, -INFINITY);
                    double best = -INFINITY, sum = 0, logs = 0;
                    for (int64_t j = 0; j < c.kv_len; ++j) {
                        const int64_t position = i + offset[b];
                        if ((c.causal && j > position) || j < position - c.left) continue;
                        if (c.mask && !mask.at(b, 0, i, j)) continue;
                        double dot = 0;
                        for (int64_t x = 0; x < c.dim; ++x)
                            dot += static_cast<double>(q.at(b, h, i, x)) * k.at(b, h / c.group, j, x);
                        logits[j] = dot * 0.3 + (c.bias ? bias.at(0, h, i, j) : 0);
                        best = std::fmax(best, logits[j]);
                    }
                    for (double l : logits) sum += best == -INFINITY ? 0 : std::exp(l - best);
                    const double want_lse = sum == 0 ? -INFINITY : best + std::log(sum);
                    const int64_t at = (b * H + h) * c.q_len + i;
                    if (lse[at] != want_lse) worst = std::fmax(worst, std::fabs(lse[at] - want_lse));
                    for (int64_t x = 0; x < c.v_dim; ++x) {
                        double want = 0;
                        for (int64_t j = 0; j < c.kv_len; ++j)
                            if (logits[j] != -INFINITY)
                                want += std::exp(logits[j] - want_lse) * v.at(b, h / c.group, j, x);
                        worst = std::fmax(worst, std::fabs(want - out.at(b, h, i, x)));
                    }
                    for (double l : logits)
                        if (l != -INFINITY) logs -= std::exp(l - want_lse) * (l - want_lse);
                    if (observe) worst = std::fmax(worst, std::fabs(logs - entropy[at]) / 4);
                }
    }
    return worst;
}

}  // namespace

int main() {
    const Case cases[] = {
        {1, 1, 1, 1, 1, false, false, false, kOpen, 1},     {1, 700, 64, 64, 2, true, false, false, kOpen, 3},
        {2, 1300, 33, 20, 1, true, true, false, kOpen, 2},  {9, 600, 16, 48, 3, true, false, true, kOpen, 2},
        {130, 130, 64, 64, 2, true, false, false, kOpen, 4}, {90, 650, 40, 17, 1, false, true, true, kOpen, 2},
        {200, 200, 8, 8, 2, true, false, false, 30, 3},     {70, 70, 130, 8, 1, true, true, true, 20, 1},
    };
    bool good = true;
    for (const std::string& name : runnable()) {
        const Isa& isa = *find_isa(name);
        double worst_float = 0, worst_double = 0;
        for (const Case& c : cases) {
            worst_float = std::fmax(worst_float, check<float>(isa, c, Dtype::f32));
            worst_double = std::fmax(worst_double, check<double>(isa, c, Dtype::f64));
        }
        const bool fine = worst_float <= 1e-5 && worst_double <= 1e-13;  // NaN fails
        std::printf("%-12s float %.2e double %.2e %s\n", isa.name, worst_float, worst_double, fine ? "ok" : "WRONG");
        good = good && fine;
    }
    return good ? 0 : 1;
}
