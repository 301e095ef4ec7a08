// One attention call as plain pointers, strides and numbers: what the bindings hand to the kernel.
// Compiled with every instruction set: functions here are inlined always, so that no copy of one set serves another.
// Axes are always (batch, heads, rows, columns); a stride of 0 repeats an axis. Strides are in bytes.
#pragma once
#include <cstdint>

namespace pozor {

enum class Dtype : int32_t { f32, f64, f16, bf16 };

struct View {
    const char* data = nullptr;
    int64_t stride[4] = {0, 0, 0, 0};
    Dtype dtype = Dtype::f32;
    [[gnu::always_inline]] explicit operator bool() const { return data != nullptr; }
    [[gnu::always_inline]] const char* at(int64_t b, int64_t h, int64_t i) const {
        return data + b * stride[0] + h * stride[1] + i * stride[2];
    }
};

constexpr int64_t kOpen = INT64_MAX / 4;  // a side of the window that is open

struct Problem {
    int64_t batch = 0, heads = 0, kv_heads = 0, q_len = 0, kv_len = 0, head_dim = 0, v_head_dim = 0;
    View q, k, v;  // v is empty where only the probabilities count
    View out;      // written; the last axis is contiguous
    void* lse = nullptr;  // (batch, heads, q_len), double for Dtype::f64 and float for the others, as all below

    double scale = 1, softcap = 0;  // softcap 0: none
    const double* sink = nullptr;   // (heads,)
    View bias;
    View mask;                            // bytes, 0 hides
    View ranges;                          // int32 pairs [start, stop): the column axis counts the pairs
    int64_t num_ranges = 0;               // 0: every key
    int64_t left = kOpen, right = kOpen;  // position - left <= key <= position + right
    const int64_t* q_offset = nullptr;    // (batch,)

    void* entropy = nullptr;  // (batch, heads, q_len) each
    void* row_max = nullptr;
    int64_t top_k = 0;
    void* top_probs = nullptr;  // (batch, heads, q_len, top_k)
    int64_t* top_keys = nullptr;
    int64_t ahead = 0, behind = 0;  // bins of keys after and before the query; one more is the query itself
    void* distance = nullptr;       // (batch, heads, q_len, ahead + 1 + behind), the farthest key ahead first
    int64_t pooled = 0;         // side of a block
    void *pooled_max = nullptr, *pooled_mean = nullptr, *pooled_share = nullptr;  // (batch, heads, blocks, blocks)
    void* received = nullptr;   // (batch, heads, kv_len)

    [[gnu::always_inline]] bool observes() const { return entropy || top_k || distance || pooled; }
};

// Squares of cells of one head, from the first row and key of a problem of one sequence and one head: a power of two
// of up to 64 cells a side. Nothing is written where nothing is visible.
struct Squares {
    int64_t size = 1;
    bool wide = false;               // in double, whatever the inputs
    const double* lse = nullptr;     // (q_len,)
    const double* weight = nullptr;  // (kv_len,): of each key's probabilities; null: 1
    float* largest = nullptr;        // (lines, columns) of squares each; null: counts alone
    double* total = nullptr;
    int64_t* count = nullptr;
};

// Work shared by threads; defined in pool.cpp. body(context, index) for every index in [0, count), in any order.
using Body = void (*)(void* context, int64_t index);
void parallel(int64_t count, Body body, void* context);
int threads();                   // that this call may use
bool cancelled();                // true once the caller was interrupted; cheap enough to ask every 100 us
void* scratch(int64_t bytes);    // memory of this thread, 64-byte aligned, valid until the next call on it
struct Shared {                  // memory for one call, 64-byte aligned
    explicit Shared(int64_t bytes);
    ~Shared();
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    char* data;

  private:
    int64_t size_;
};

struct Spun {  // what a loop of nothing but arithmetic did
    double flop;
    float sum;
};

struct Isa {
    const char* name;
    void (*forward)(const Problem&);
    void (*squares)(const Problem&, const Squares&);
    Spun (*spin_fma)(int64_t rounds);
    Spun (*spin_pairs)(int64_t rounds);
    float (*read_all)(const float* data, int64_t bytes);
};

}  // namespace pozor
