#include "dispatch.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace pozor {
namespace portable { extern const Isa isa; }
#if defined(__x86_64__)
namespace avx2 { extern const Isa isa; }
namespace avx512 { extern const Isa isa; }
namespace avx512bf16 { extern const Isa isa; }

namespace {
// The dot product of bfloat16 pairs runs at the full rate of a multiplication on AMD; on Intel at a quarter of it
// (measured: half the throughput of float32), where widening to float32 is faster and more exact.
bool fast_pairs() {
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d)) return false;
    char vendor[12];
    std::memcpy(vendor, &b, 4);
    std::memcpy(vendor + 4, &d, 4);
    std::memcpy(vendor + 8, &c, 4);
    return std::memcmp(vendor, "AuthenticAMD", 12) == 0;
}
}  // namespace
#endif

namespace {
std::vector<std::string> look() {
    std::vector<std::string> names;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("fma");
    const bool pairs = wide && __builtin_cpu_supports("avx512bf16");
    if (pairs && fast_pairs()) names.push_back("avx512bf16");
    if (wide) names.push_back("avx512");
    if (pairs && !fast_pairs()) names.push_back("avx512bf16");
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
        names.push_back("avx2");
#endif
    names.push_back("portable");
    return names;
}
}  // namespace

// Asked once: in a virtual machine each question to the processor costs tens of microseconds.
const std::vector<std::string>& runnable() {
    static const std::vector<std::string> names = look();
    return names;
}

const Isa* find_isa(const std::string& name) {
    for (const std::string& can : runnable()) {
        if (can != name) continue;
#if defined(__x86_64__)
        for (const Isa* isa : {&avx512bf16::isa, &avx512::isa, &avx2::isa})
            if (name == isa->name) return isa;
#endif
        return &portable::isa;
    }
    return nullptr;
}

const Isa& default_isa() {
    static const Isa& isa = *find_isa(runnable().front());
    return isa;
}

}  // namespace pozor
