#include "ceilings.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "dispatch.hpp"
#include "kernel/pool.hpp"

namespace pozor {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRuns = 9;                       // the best of some runs: a ceiling is what is possible
constexpr int64_t kPieces = 32;                // of each thread: a thread that wakes late takes fewer
constexpr int64_t kRounds = 20000;             // of one piece: about 0.1 ms
constexpr int64_t kBytes = int64_t{512} << 20;  // more than a cache holds
constexpr int64_t kPiece = int64_t{1} << 20;

std::atomic<float> result{0};  // what was computed is used, so that it is computed

template <class Body> double best_seconds(int threads, int64_t pieces, Body body) {
    const Lease lease(threads, nullptr);
    double best = 1e30;
    for (int run = 0; run <= kRuns; ++run) {  // the first one wakes the threads
        const auto began = Clock::now();
        parallel(pieces, [](void* context, int64_t i) { (*static_cast<Body*>(context))(i); }, &body);
        const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
        if (run > 0) best = std::min(best, seconds);
    }
    return best;
}

double peak(Spun (*spin)(int64_t), int threads) {
    const int64_t pieces = threads * kPieces;
    const double flop = spin(1).flop * static_cast<double>(kRounds * pieces);
    if (flop == 0) return 0;
    return flop / best_seconds(threads, pieces, [spin](int64_t) { result = spin(kRounds).sum; });
}

}  // namespace

double fma_peak(int threads) { return peak(default_isa().spin_fma, threads); }

double bf16_peak(int threads) {
    for (const std::string& name : runnable()) {
        const double found = peak(find_isa(name)->spin_pairs, threads);
        if (found > 0) return found;
    }
    return 0;
}

double read_bandwidth(int threads) {
    const Shared memory(kBytes);
    std::memset(memory.data, 0, kBytes);
    const auto read = default_isa().read_all;
    const double seconds = best_seconds(threads, kBytes / kPiece, [&memory, read](int64_t i) {
        result = read(reinterpret_cast<const float*>(memory.data + i * kPiece), kPiece);
    });
    return static_cast<double>(kBytes) / seconds;
}

}  // namespace pozor
