// What this machine can do at most, measured: the ceilings that the benchmark compares with.
#pragma once

namespace pozor {

double fma_peak(int threads);        // FLOP/s in float32
double bf16_peak(int threads);       // FLOP/s of the dot product of bfloat16 pairs; 0 without such a unit
double read_bandwidth(int threads);  // bytes/s from memory

}  // namespace pozor
