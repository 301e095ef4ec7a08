// The threads: a small pool that sleeps between calls, is rebuilt after fork, and never nests.
#pragma once
#include <cstdint>

namespace pozor {

// How one call may use the pool. interrupted() is asked every 100 ms from the calling thread alone.
struct Lease {
    Lease(int threads, bool (*interrupted)());
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    bool stopped() const;
};

int usable_cores();

}  // namespace pozor
