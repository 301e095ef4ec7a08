// The threads: a small pool that sleeps between calls, is rebuilt after fork, and never nests.
#pragma once
#include <cstdint>

namespace pozor {

// The threads of another runtime in this process, lent to a call: run(body, context, threads, 0) calls body(context) on
// each of up to `threads` threads, the caller among them, and comes back when all have; size() is how many its owner has.
struct Team {
    void (*run)(void (*body)(void*), void* context, unsigned threads, unsigned flags) = nullptr;
    int (*size)() = nullptr;
};

// How one call may use the pool. interrupted() is asked every 100 ms from the calling thread alone.
struct Lease {
    Lease(int threads, bool (*interrupted)(), Team team = {});
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    bool stopped() const;
};

int pool_size();  // threads of the pool that are alive
int usable_cores();

}  // namespace pozor
