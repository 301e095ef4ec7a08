// The only file that knows Python: buffers in, one call of the kernel with the lock released.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "ceilings.hpp"
#include "dispatch.hpp"
#include "kernel/pool.hpp"
#include "kernel/problem.hpp"
#include "team.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using pozor::Dtype;
using pozor::Problem;
using pozor::View;

constexpr double kAlone = 8e5;  // multiplications that one thread does before another has woken up

// A Python buffer, held while the kernel reads or writes it.
class Held {
  public:
    Held(nb::handle object, bool writable) {
        if (object.is_none()) return;
        if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0)))
            throw nb::python_error();
        held_ = true;
    }
    ~Held() {
        if (held_) PyBuffer_Release(&buffer_);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    void* data() const { return held_ ? buffer_.buf : nullptr; }
    explicit operator bool() const { return held_; }
    int64_t shape(int axis) const { return held_ ? buffer_.shape[axis] : 0; }

    // Four axes; those of length 1 repeat.
    View view() const {
        View v;
        if (!held_) return v;
        if (buffer_.ndim != 4) throw nb::value_error("a buffer must have 4 axes");
        v.data = static_cast<const char*>(buffer_.buf);
        for (int i = 0; i < 4; ++i) v.stride[i] = buffer_.shape[i] == 1 ? 0 : buffer_.strides[i];
        v.dtype = dtype();
        return v;
    }
    // Rows of numbers: the last axis counts, even when it has one entry.
    View rows() const {
        View v = view();
        if (held_ && buffer_.shape[3] == 1) v.stride[3] = buffer_.itemsize;
        return v;
    }

  private:
    Dtype dtype() const {
        switch (buffer_.format[0]) {
            case 'f': return Dtype::f32;
            case 'd': return Dtype::f64;
            case 'e': return Dtype::f16;
            case 'H': return Dtype::bf16;  // bfloat16 exports no buffer: it comes as its bits
            case '?':
            case 'i': return Dtype::f32;   // masks and ranges: not read as numbers
            default: throw nb::type_error("a buffer must hold float64, float32, float16, or bfloat16 as uint16");
        }
    }
    Py_buffer buffer_{};
    bool held_ = false;
};

template <double (*measure)(int)> double ceiling(int threads) {
    if (threads < 1) throw nb::value_error("threads must be 1 or more");
    nb::gil_scoped_release free;
    return measure(threads);
}

bool interrupted() {
    nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
}

double work_of(const Problem& p) {
    return static_cast<double>(p.batch * p.heads) * static_cast<double>(p.q_len) * static_cast<double>(p.kv_len) *
           static_cast<double>(p.head_dim + p.v_head_dim);
}

// Python's lock is free while the work is done.
template <class Work> void leased(const char* isa, int threads, const pozor::Team& team, const Work& work) {
    const pozor::Isa* chosen = *isa == 0 ? &pozor::default_isa() : pozor::find_isa(isa);
    if (chosen == nullptr) throw nb::value_error("an instruction set that this machine does not run");
    bool stopped;
    {
        nb::gil_scoped_release free;
        const pozor::Lease lease(threads, interrupted, team);
        work(*chosen);
        stopped = lease.stopped();
    }
    if (stopped) throw nb::python_error();
}

void forward(const Problem& p, const char* isa, int threads, bool in_torch) {
    const bool alone = work_of(p) < kAlone;
    const pozor::Team team = in_torch && !alone ? pozor::torchs_team() : pozor::Team{};
    leased(isa, alone ? 1 : threads, team, [&](const pozor::Isa& chosen) { chosen.forward(p); });
}

void run(nb::handle q, nb::handle k, nb::handle v, nb::handle out, nb::handle lse, nb::handle q_offset, double scale,
         double softcap, nb::handle sink, nb::handle bias, nb::handle mask, nb::handle ranges, std::optional<int64_t> left,
         std::optional<int64_t> right, nb::handle row_max, nb::handle entropy, nb::handle top_probs, nb::handle top_keys,
         nb::handle distance, int64_t ahead, nb::handle received, int64_t pooled, nb::handle pooled_max,
         nb::handle pooled_mean, nb::handle pooled_share, const std::string& isa, int threads, bool in_torch) {
    const Held hq(q, false), hk(k, false), hv(v, false), hout(out, true), hlse(lse, true), hoffset(q_offset, false),
        hsink(sink, false), hbias(bias, false), hmask(mask, false), hranges(ranges, false), hmax(row_max, true),
        hentropy(entropy, true), hprobs(top_probs, true), hkeys(top_keys, true), hdistance(distance, true),
        hreceived(received, true), hpmax(pooled_max, true), hpmean(pooled_mean, true), hpshare(pooled_share, true);
    Problem p;
    p.q = hq.rows();
    p.k = hk.rows();
    p.v = hv.rows();
    p.out = hout.rows();
    p.batch = hq.shape(0);
    p.heads = hq.shape(1);
    p.q_len = hq.shape(2);
    p.head_dim = hq.shape(3);
    p.kv_heads = hk.shape(1);
    p.kv_len = hk.shape(2);
    p.v_head_dim = hv ? hv.shape(3) : 0;
    p.lse = hlse.data();
    p.q_offset = static_cast<const int64_t*>(hoffset.data());
    p.scale = scale;
    p.softcap = softcap;
    p.sink = static_cast<const double*>(hsink.data());
    p.bias = hbias.view();
    p.mask = hmask.view();
    p.ranges = hranges.view();
    p.num_ranges = hranges ? hranges.shape(3) / 2 : 0;
    if (left) p.left = *left;
    if (right) p.right = *right;
    p.row_max = hmax.data();
    p.entropy = hentropy.data();
    p.top_probs = hprobs.data();
    p.top_keys = static_cast<int64_t*>(hkeys.data());
    p.top_k = hprobs ? hprobs.shape(3) : 0;
    p.distance = hdistance.data();
    p.ahead = ahead;
    p.behind = hdistance ? hdistance.shape(3) - 1 - ahead : 0;
    p.received = hreceived.data();
    p.pooled = pooled;
    p.pooled_max = hpmax.data();
    p.pooled_mean = hpmean.data();
    p.pooled_share = hpshare.data();

    forward(p, isa.c_str(), threads, in_torch);
}

// An array of a call that needs no judging: a buffer, or what a tensor says of itself, (address, shape, strides in
// items, type as a buffer would say it). Axes that the caller left out are 1.
class Plain {
  public:
    explicit Plain(nb::handle object, bool writable = false) {
        if (PyTuple_Check(object.ptr())) take_tensor(object);
        else take_buffer(object, writable);
    }
    ~Plain() {
        if (held_) PyBuffer_Release(&buffer_);
    }
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;

    bool good = false;
    char type = 0;
    int axes = 0;
    int64_t shape[4] = {1, 1, 1, 1};
    View view;

  private:
    bool take_type(char c) {
        type = c;
        view.dtype = c == 'd' ? Dtype::f64 : c == 'e' ? Dtype::f16 : c == 'H' ? Dtype::bf16 : Dtype::f32;
        return c == 'f' || c == 'd' || c == 'e' || c == 'H';
    }
    int64_t item() const { return type == 'd' ? 8 : type == 'f' ? 4 : 2; }
    void take_axis(int axis, int64_t length, int64_t stride) {
        shape[axis] = length;
        view.stride[axis] = length == 1 && axis < 3 ? 0 : length == 1 ? item() : stride;
    }
    void take_buffer(nb::handle object, bool writable) {
        if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0))) {
            PyErr_Clear();
            return;
        }
        held_ = true;
        axes = buffer_.ndim;
        if (axes < 2 || axes > 4 || buffer_.format[1] != 0 || buffer_.format[0] == 'H' || !take_type(buffer_.format[0])) return;
        view.stride[3] = item();
        for (int i = 0; i < axes; ++i) take_axis(4 - axes + i, buffer_.shape[i], buffer_.strides[i]);
        view.data = static_cast<const char*>(buffer_.buf);
        good = true;
    }
    void take_tensor(nb::handle object) {
        PyObject* parts = object.ptr();
        if (PyTuple_GET_SIZE(parts) != 4) return;
        PyObject *lengths = PyTuple_GET_ITEM(parts, 1), *strides = PyTuple_GET_ITEM(parts, 2);
        if (!PyTuple_Check(lengths) || !PyTuple_Check(strides)) return;
        axes = static_cast<int>(PyTuple_GET_SIZE(lengths));
        const char* code = PyUnicode_AsUTF8(PyTuple_GET_ITEM(parts, 3));
        if (axes < 2 || axes > 4 || PyTuple_GET_SIZE(strides) != axes || code == nullptr || !take_type(code[0])) {
            PyErr_Clear();
            return;
        }
        for (int i = 0; i < axes; ++i)
            take_axis(4 - axes + i, PyLong_AsLongLong(PyTuple_GET_ITEM(lengths, i)),
                      PyLong_AsLongLong(PyTuple_GET_ITEM(strides, i)) * item());
        view.data = static_cast<const char*>(PyLong_AsVoidPtr(PyTuple_GET_ITEM(parts, 0)));
        if (PyErr_Occurred()) {
            PyErr_Clear();
            return;
        }
        good = view.data != nullptr;
    }
    Py_buffer buffer_{};
    bool held_ = false;
};

// Runs a call that is plainly right: four lengths that agree, one dtype, nothing to broadcast. False where a judge is needed.
bool plain(nb::handle q, nb::handle k, nb::handle v, nb::handle out, bool causal, std::optional<int64_t> q_offset, double scale,
           const char* isa, nb::handle threads, bool in_torch) {
    const Plain hq(q), hk(k), hv(v), ho(out, true);
    for (const Plain* array : {&hq, &hk, &hv, &ho})
        if (!array->good || array->type != hq.type || array->axes != hq.axes) return false;
    constexpr int64_t most_dim = 576;
    const int64_t batch = hq.shape[0], heads = hq.shape[1], kv_heads = hk.shape[1];
    if (hk.shape[0] != batch || hv.shape[0] != batch || ho.shape[0] != batch || kv_heads < 1 || heads < 1 || heads % kv_heads != 0 ||
        hv.shape[1] != kv_heads || ho.shape[1] != heads || hv.shape[2] != hk.shape[2] || ho.shape[2] != hq.shape[2] ||
        hk.shape[3] != hq.shape[3] || ho.shape[3] != hv.shape[3] || hq.shape[3] < 1 || hq.shape[3] > most_dim ||
        hv.shape[3] < 1 || hv.shape[3] > most_dim || batch < 1 || hq.shape[2] < 1 || hk.shape[2] < 1)
        return false;
    if (causal && !q_offset && hq.shape[2] != hk.shape[2]) return false;  // ambiguous: the judge says so
    const int64_t rows = batch * heads * hq.shape[2];
    std::vector<int64_t> offsets(static_cast<size_t>(batch), q_offset.value_or(0));
    std::vector<double> lse(static_cast<size_t>(rows));  // asked for by nobody; doubles hold floats too
    Problem p;
    p.q = hq.view;
    p.k = hk.view;
    p.v = hv.view;
    p.out = ho.view;
    p.batch = batch;
    p.heads = heads;
    p.kv_heads = kv_heads;
    p.q_len = hq.shape[2];
    p.kv_len = hk.shape[2];
    p.head_dim = hq.shape[3];
    p.v_head_dim = hv.shape[3];
    p.lse = lse.data();
    p.q_offset = offsets.data();
    p.scale = scale;
    if (causal) p.right = 0;
    forward(p, isa, work_of(p) < kAlone ? 1 : nb::cast<int>(threads()), in_torch);  // asking takes as long as a small head
    return true;
}

// Squares of one head; see kernel/problem.hpp. The arrays have four axes, the first two of length 1.
void squares(nb::handle q, nb::handle k, nb::handle q_offset, double scale, double softcap, nb::handle bias, nb::handle mask,
             nb::handle ranges, std::optional<int64_t> left, std::optional<int64_t> right, int64_t size, nb::handle lse,
             nb::handle weight, nb::handle largest, nb::handle total, nb::handle count, bool wide, const std::string& isa,
             int threads) {
    const Held hq(q, false), hk(k, false), hoffset(q_offset, false), hbias(bias, false), hmask(mask, false),
        hranges(ranges, false), hlse(lse, false), hweight(weight, false), hlargest(largest, true), htotal(total, true),
        hcount(count, true);
    Problem p;
    p.q = hq.rows();
    p.k = hk.rows();
    p.batch = p.heads = p.kv_heads = 1;
    p.q_len = hq.shape(2);
    p.head_dim = hq.shape(3);
    p.kv_len = hk.shape(2);
    p.q_offset = static_cast<const int64_t*>(hoffset.data());
    p.scale = scale;
    p.softcap = softcap;
    p.bias = hbias.view();
    p.mask = hmask.view();
    p.ranges = hranges.view();
    p.num_ranges = hranges ? hranges.shape(3) / 2 : 0;
    if (left) p.left = *left;
    if (right) p.right = *right;
    pozor::Squares to;
    to.size = size;
    to.wide = wide;
    to.lse = static_cast<const double*>(hlse.data());
    to.weight = static_cast<const double*>(hweight.data());
    to.largest = static_cast<float*>(hlargest.data());
    to.total = static_cast<double*>(htotal.data());
    to.count = static_cast<int64_t*>(hcount.data());
    if (size < 1 || size > 64 || (size & (size - 1)) != 0) throw nb::value_error("size must be a power of two up to 64");
    leased(isa.c_str(), threads, pozor::Team{}, [&](const pozor::Isa& chosen) { chosen.squares(p, to); });
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "The native kernel; call it through pozor.attention(backend='native').";
    m.def("run", &run, "q"_a, "k"_a, "v"_a.none(), "out"_a.none(), "lse"_a, "q_offset"_a, "scale"_a, "softcap"_a = 0.0,
          "sink"_a = nb::none(), "bias"_a = nb::none(), "mask"_a = nb::none(), "ranges"_a = nb::none(),
          "left"_a = nb::none(), "right"_a = nb::none(), "row_max"_a = nb::none(), "entropy"_a = nb::none(),
          "top_probs"_a = nb::none(), "top_keys"_a = nb::none(), "distance"_a = nb::none(), "ahead"_a = 0,
          "received"_a = nb::none(), "pooled"_a = 0, "pooled_max"_a = nb::none(), "pooled_mean"_a = nb::none(),
          "pooled_share"_a = nb::none(), "isa"_a = "", "threads"_a = 1, "in_torch"_a = false);
    m.def("plain", &plain, "q"_a, "k"_a, "v"_a, "out"_a, "causal"_a, "q_offset"_a.none(), "scale"_a, "isa"_a, "threads"_a, "in_torch"_a,
          "Runs a call of arrays that agree, or of tensors as (address, shape, strides, type); False where it must be judged.");
    m.def("squares", &squares, "q"_a, "k"_a, "q_offset"_a, "scale"_a, "softcap"_a, "bias"_a.none(), "mask"_a.none(),
          "ranges"_a.none(), "left"_a.none(), "right"_a.none(), "size"_a, "lse"_a.none(), "weight"_a.none(),
          "largest"_a.none(), "total"_a.none(), "count"_a, "wide"_a, "isa"_a, "threads"_a);
    m.def("runnable", &pozor::runnable, "Instruction sets that this machine runs, the default first.");
    m.def("usable_cores", &pozor::usable_cores);
    m.def("fma_peak", &ceiling<pozor::fma_peak>, "threads"_a, "FLOP/s in float32 at most, measured for 0.1 s.");
    m.def("bf16_peak", &ceiling<pozor::bf16_peak>, "threads"_a, "FLOP/s of bfloat16 dot products; 0 without them.");
    m.def("read_bandwidth", &ceiling<pozor::read_bandwidth>, "threads"_a, "Bytes/s read from memory (takes 512 MiB).");
}
