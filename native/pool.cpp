#include "kernel/pool.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "kernel/problem.hpp"

namespace pozor {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kInterruptPeriod = std::chrono::milliseconds(100);
constexpr auto kSpin = std::chrono::microseconds(30);  // waking a thread costs about as much
constexpr int64_t kKeep = int64_t{64} << 20;           // larger memory is given back
constexpr int64_t kHugePage = int64_t{2} << 20;

struct Job {
    Body body;
    void* context;
    int64_t count;
    std::atomic<int64_t> next{0};
    std::atomic<int> seats{0};  // threads that may still join
    std::atomic<bool> stop{false};
    std::atomic<bool> no_memory{false};
};

class Pool {
  public:
    // Runs the job on the caller and on up to `helpers` threads of the pool.
    void run(Job& job, int helpers, void (*work)(Job&)) {
        {
            std::lock_guard lock(mutex_);
            while (static_cast<int>(threads_.size()) < helpers)
                threads_.emplace_back([this, id = static_cast<int>(threads_.size())] { serve(id); });
            size.store(static_cast<int>(threads_.size()));
            job_ = &job;
            work_ = work;
            helpers_ = helpers;
            running_.store(helpers);
            generation_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        work(job);
        const auto limit = Clock::now() + kSpin;
        while (running_.load(std::memory_order_acquire) > 0 && Clock::now() < limit) pause();
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return running_.load(std::memory_order_acquire) == 0; });
        job_ = nullptr;
    }
    std::mutex busy;
    std::atomic<int> size{0};

  private:
    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    void serve(int id) {
        uint64_t seen = 0;
        for (;;) {
            const auto limit = Clock::now() + kSpin;
            while (generation_.load(std::memory_order_acquire) == seen && Clock::now() < limit) pause();
            std::unique_lock lock(mutex_);
            wake_.wait(lock, [&] { return generation_.load() != seen; });
            seen = generation_.load();
            if (id >= helpers_ || job_ == nullptr) continue;
            Job& job = *job_;
            const auto work = work_;
            lock.unlock();
            work(job);
            lock.lock();
            if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) done_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, done_;
    std::vector<std::thread> threads_;
    std::atomic<uint64_t> generation_{0};
    std::atomic<int> running_{0};
    Job* job_ = nullptr;
    void (*work_)(Job&) = nullptr;
    int helpers_ = 0;
};

// Never destroyed: its threads end with the process. After a fork the child has none of them and starts afresh.
std::atomic<Pool*> pool{nullptr};
std::atomic<bool> forked{false};
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] {
    pool.store(nullptr);
    forked.store(true);
});
Pool& the_pool() {
    Pool* p = pool.load();
    if (p == nullptr) {
        Pool* fresh = new Pool;
        if (pool.compare_exchange_strong(p, fresh)) p = fresh;
        else delete fresh;
    }
    return *p;
}

struct Call {
    int threads = 1;
    Team team;
    bool (*interrupted)() = nullptr;
    Clock::time_point asked;
    std::atomic<bool> stop{false};
};
thread_local Call* current = nullptr;       // of the thread that called
thread_local Job* working = nullptr;        // of a thread of the pool
thread_local Call the_call;

struct Memory {
    void* data = nullptr;
    int64_t size = 0;
    ~Memory() { std::free(data); }
};
thread_local Memory memory;

void take(Job& job) {
    for (;;) {
        const int64_t i = job.next.fetch_add(1, std::memory_order_relaxed);
        if (i >= job.count || cancelled()) return;
        job.body(job.context, i);
    }
}
void serve_job(Job& job) {
    working = &job;
    try {
        take(job);
    } catch (const std::bad_alloc&) {  // the only thing a body throws; an exception may not leave a thread
        job.no_memory = true;
        job.stop = true;
    }
    working = nullptr;
}

// A team has as many threads as its runtime likes; those beyond the number asked for leave at once.
void serve_in_team(void* context) {
    Job& job = *static_cast<Job*>(context);
    if (job.seats.fetch_sub(1, std::memory_order_relaxed) > 0) serve_job(job);
}

// Large memory lies on huge pages where the system has them: fewer page faults and address look-ups.
void* aligned(int64_t bytes) {
    const int64_t grain = bytes >= 2 * kHugePage ? kHugePage : 64;
    const auto size = static_cast<size_t>((bytes + 64 + grain - 1) / grain * grain);
    void* p = std::aligned_alloc(static_cast<size_t>(grain), size);
    if (p == nullptr) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
    if (grain == kHugePage) madvise(p, size, MADV_HUGEPAGE);
#endif
    return p;
}

// The memory of the last call, for the next one: fresh pages cost as much as packing into them. Not waited for.
struct Kept {
    std::mutex mutex;
    char* data = nullptr;
    int64_t size = 0;
};
Kept& kept() {
    static Kept* const memory = new Kept;  // never destroyed: a call may outlive the end of main
    return *memory;
}

}  // namespace

Lease::Lease(int threads, bool (*interrupted)(), Team team) {
    the_call.threads = threads;
    the_call.team = forked.load() ? Team{} : team;
    the_call.interrupted = interrupted;
    the_call.asked = Clock::now();
    the_call.stop = false;
    current = &the_call;
}
Lease::~Lease() {
    current = nullptr;
    if (memory.size > kKeep) {
        std::free(memory.data);
        memory.data = nullptr;
        memory.size = 0;
    }
}
bool Lease::stopped() const { return the_call.stop; }

bool cancelled() {
    if (working != nullptr && working->stop.load(std::memory_order_relaxed)) return true;
    if (current == nullptr) return false;
    Call& call = *current;
    if (!call.stop && call.interrupted != nullptr) {
        const auto now = Clock::now();
        if (now - call.asked >= kInterruptPeriod) {
            call.asked = now;
            if (call.interrupted()) {
                call.stop = true;
                if (working != nullptr) working->stop = true;
            }
        }
    }
    return call.stop;
}

int threads() { return current == nullptr ? 1 : current->threads; }

void parallel(int64_t count, Body body, void* context) {
    Job job;
    job.body = body;
    job.context = context;
    job.count = count;
    const int64_t wanted = threads();
    const int helpers = static_cast<int>((wanted < count ? wanted : count) - 1);
    const Team team = current == nullptr ? Team{} : current->team;
    Pool& shared = the_pool();
    std::unique_lock lock(shared.busy, std::defer_lock);
    // a pool at work for another caller is not waited for: that caller's cores are taken
    if (helpers < 1 || !lock.try_lock()) {
        serve_job(job);
    } else if (team.run != nullptr) {
        job.seats = helpers + 1;
        // never a smaller team than its owner has: the runtime would end the threads left over
        const int size = team.size();
        team.run(serve_in_team, &job, static_cast<unsigned>(size > wanted ? size : wanted), 0);
        if (job.next.load() < count && !job.no_memory && !cancelled()) serve_job(job);
    } else {
        shared.run(job, helpers, serve_job);
    }
    if (job.no_memory) throw std::bad_alloc();
}

void* scratch(int64_t bytes) {
    if (memory.size < bytes) {
        std::free(memory.data);
        memory.data = nullptr;
        memory.size = 0;
        memory.data = aligned(bytes);
        memory.size = bytes;
    }
    return memory.data;
}

Shared::Shared(int64_t bytes) : data(nullptr), size_(bytes) {
    if (bytes == 0) return;
    Kept& memory = kept();
    {
        std::unique_lock lock(memory.mutex, std::try_to_lock);
        if (lock && memory.data != nullptr && memory.size >= bytes) {
            data = memory.data;
            size_ = memory.size;
            memory.data = nullptr;
        }
    }
    if (data == nullptr) data = static_cast<char*>(aligned(bytes));
}
Shared::~Shared() {
    Kept& memory = kept();
    if (data != nullptr && size_ <= kKeep) {
        std::unique_lock lock(memory.mutex, std::try_to_lock);
        if (lock && (memory.data == nullptr || memory.size < size_)) {
            std::swap(memory.data, data);
            std::swap(memory.size, size_);
        }
    }
    std::free(data);
}

int pool_size() { return the_pool().size.load(); }

int usable_cores() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    const unsigned n = std::thread::hardware_concurrency();
    return n == 0 ? 1 : static_cast<int>(n);
}

}  // namespace pozor
