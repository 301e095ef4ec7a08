// Compiled once per instruction set; POZOR_ISA is its namespace and name.
#include "kernel/ceilings.hpp"
#include "kernel/forward.hpp"
#include "kernel/squares.hpp"

#define POZOR_TEXT_OF(x) #x
#define POZOR_TEXT(x) POZOR_TEXT_OF(x)

namespace pozor::POZOR_ISA {

static void forward(const Problem& p) {
    if (p.q.dtype == Dtype::f64) return Forward<InDouble>(p).run();
#if defined(__AVX512BF16__)
    const Scoring<float> how(p);
    // what goes into q must be exact there
    if (p.q.dtype == Dtype::bf16 && how.fold == 1 && p.q_len > kDirect) return Forward<InPairs>(p).run();
#endif
    Forward<InFloat>(p).run();
}

static void squares(const Problem& p, const Squares& to) {
    if (p.q.dtype == Dtype::f64 || to.wide) return SquarePass<InDouble>(p, to).run();
    SquarePass<InFloat>(p, to).run();
}

extern const Isa isa;
const Isa isa = {POZOR_TEXT(POZOR_ISA), forward, squares, spin_fma, spin_pairs, read_all};

}  // namespace pozor::POZOR_ISA
