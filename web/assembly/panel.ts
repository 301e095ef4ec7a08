// The engine of the single file in WASM SIMD: a panel of logits in float64, what a softmax makes of it, and its pixels.
// Runs say which cells of the panel are visible: three int32 each, row of the panel, first key, one past the last.
// `plain.ts` in web/src/file/engine does the same in JavaScript and is tested with the same numbers.

const LANES = 4; // keys that one step takes

/** Whether memory holds so many bytes, grown if need be; what lies where in it the host decides. */
export function room(bytes: i32): bool {
  const have = memory.size() << 16;
  if (bytes <= have) return true;
  return memory.grow((bytes - have + 0xffff) >>> 16) >= 0;
}

/**
 * scale · q kᵀ (softcap after it) of `rows` queries and `keys` keys, to `out`, float64, `stride` numbers a row.
 * q: float32 (rows, dim).  k: float32 (keys, dim).  wide: room for (LANES · rows up to LANES + LANES) · dim float64.
 * stride is a multiple of LANES and at least keys rounded up to LANES.
 */
export function logits(
  q: usize, k: usize, rows: i32, keys: i32, dim: i32, scale: f64, cap: f64, wide: usize, out: usize, stride: i32,
): void {
  // q in float64, each number twice; then LANES keys at a time, transposed
  const packed = wide + ((<usize>rows * dim) << 4);
  for (let at = 0; at < rows * dim; at++) {
    v128.store(wide + (<usize>at << 4), f64x2.splat(<f64>load<f32>(q + (<usize>at << 2))));
  }
  for (let key = 0; key < keys; key += LANES) {
    pack(k, key, keys, dim, packed);
    let row = 0;
    for (; row + 3 < rows; row += 4) four(wide, packed, row, key, dim, scale, cap, out, stride);
    for (; row < rows; row++) one(wide, packed, row, key, dim, scale, cap, out, stride);
  }
}

@inline
function pack(k: usize, key: i32, keys: i32, dim: i32, packed: usize): void {
  for (let lane = 0; lane < LANES; lane++) {
    // beyond the last key: the last one again; nobody reads those logits
    const from = k + ((<usize>min(key + lane, keys - 1) * dim) << 2);
    for (let d = 0; d < dim; d++) {
      store<f64>(packed + (<usize>(d * LANES + lane) << 3), <f64>load<f32>(from + (<usize>d << 2)));
    }
  }
}

@inline
function four(
  wide: usize, packed: usize, row: i32, key: i32, dim: i32, scale: f64, cap: f64, out: usize, stride: i32,
): void {
  const step = <usize>dim << 4;
  let q0 = wide + <usize>row * step;
  let at = packed;
  const zero = f64x2.splat(0);
  let a0 = zero, a1 = zero, b0 = zero, b1 = zero, c0 = zero, c1 = zero, d0 = zero, d1 = zero;
  for (let d = 0; d < dim; d++) {
    const k0 = v128.load(at), k1 = v128.load(at, 16);
    const qa = v128.load(q0);
    a0 = f64x2.add(a0, f64x2.mul(qa, k0));
    a1 = f64x2.add(a1, f64x2.mul(qa, k1));
    const qb = v128.load(q0 + step);
    b0 = f64x2.add(b0, f64x2.mul(qb, k0));
    b1 = f64x2.add(b1, f64x2.mul(qb, k1));
    const qc = v128.load(q0 + 2 * step);
    c0 = f64x2.add(c0, f64x2.mul(qc, k0));
    c1 = f64x2.add(c1, f64x2.mul(qc, k1));
    const qd = v128.load(q0 + 3 * step);
    d0 = f64x2.add(d0, f64x2.mul(qd, k0));
    d1 = f64x2.add(d1, f64x2.mul(qd, k1));
    q0 += 16;
    at += 32;
  }
  const line = <usize>stride << 3;
  const to = out + <usize>row * line + (<usize>key << 3);
  finish(to, a0, a1, scale, cap);
  finish(to + line, b0, b1, scale, cap);
  finish(to + 2 * line, c0, c1, scale, cap);
  finish(to + 3 * line, d0, d1, scale, cap);
}

@inline
function one(
  wide: usize, packed: usize, row: i32, key: i32, dim: i32, scale: f64, cap: f64, out: usize, stride: i32,
): void {
  let q0 = wide + ((<usize>row * dim) << 4);
  let at = packed;
  let a0 = f64x2.splat(0), a1 = f64x2.splat(0);
  for (let d = 0; d < dim; d++) {
    const qa = v128.load(q0);
    a0 = f64x2.add(a0, f64x2.mul(qa, v128.load(at)));
    a1 = f64x2.add(a1, f64x2.mul(qa, v128.load(at, 16)));
    q0 += 16;
    at += 32;
  }
  finish(out + ((<usize>row * stride + key) << 3), a0, a1, scale, cap);
}

@inline
function finish(to: usize, left: v128, right: v128, scale: f64, cap: f64): void {
  left = f64x2.mul(left, f64x2.splat(scale));
  right = f64x2.mul(right, f64x2.splat(scale));
  if (cap > 0) {
    left = capped(left, cap);
    right = capped(right, cap);
  }
  v128.store(to, left);
  v128.store(to, right, 16);
}

/** cap · tanh(x / cap), by tanh y = sign(y) · (1 − e) / (1 + e), e = exp(−2 |y|). */
function capped(x: v128, cap: f64): v128 {
  const one = f64x2.splat(1);
  const e = exp2(f64x2.mul(f64x2.abs(x), f64x2.splat(-2 / cap)));
  const size = f64x2.mul(f64x2.splat(cap), f64x2.div(f64x2.sub(one, e), f64x2.add(one, e)));
  const sign = v128.and(x, f64x2.splat(-0.0));
  return v128.or(size, sign);
}

/** exp of two numbers, within 1e-13 relative; below −700 it is 0; NaN stays NaN. */
@inline
function exp2(x: v128): v128 {
  const n = f64x2.nearest(f64x2.mul(x, f64x2.splat(1.4426950408889634)));
  let r = f64x2.sub(x, f64x2.mul(n, f64x2.splat(0.693147180369123816490)));
  r = f64x2.sub(r, f64x2.mul(n, f64x2.splat(1.90821492927058770002e-10)));
  // |r| ≤ ln 2 / 2: the terms of the series up to r¹¹ leave 1e-14
  let p = f64x2.splat(2.505210838544172e-8);
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(2.755731922398589e-7));
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(2.7557319223985893e-6));
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(2.48015873015873e-5));
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1.984126984126984e-4));
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1.388888888888889e-3));
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(8.333333333333333e-3));
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(4.1666666666666664e-2));
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1.6666666666666666e-1));
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(0.5));
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1));
  p = f64x2.add(f64x2.mul(p, r), f64x2.splat(1));
  // 2ⁿ through the exponent; n lies within the int32 of the lower lanes
  const whole = i64x2.extend_low_i32x4_s(i32x4.trunc_sat_f64x2_s_zero(n));
  const power = i64x2.shl(i64x2.add(whole, i64x2.splat(1023)), 52);
  const e = f64x2.mul(p, power);
  const tiny = f64x2.lt(x, f64x2.splat(-700));
  const huge = f64x2.gt(x, f64x2.splat(709));
  return v128.bitselect(f64x2.splat(0), v128.bitselect(f64x2.splat(Infinity), e, huge), tiny);
}

@inline
function exp1(x: f64): f64 {
  return f64x2.extract_lane(exp2(f64x2.splat(x)), 0);
}

/** Running maximum and sum of exp(logit − maximum) of each row over the visible cells. most, sum: float64, a row each. */
export function gather(runs: usize, count: i32, panel: usize, stride: i32, most: usize, sum: usize): void {
  for (let i = 0; i < count; i++) {
    const at = runs + <usize>i * 12;
    const row = load<i32>(at), first = load<i32>(at, 4), stop = load<i32>(at, 8);
    const line = panel + ((<usize>row * stride) << 3);
    let top = -Infinity;
    let nan = false;
    for (let key = first; key < stop; key++) {
      const x = load<f64>(line + (<usize>key << 3));
      if (x > top) top = x;
      if (x != x) nan = true;
    }
    const old = load<f64>(most + (<usize>row << 3));
    if (nan || old != old) {
      store<f64>(most + (<usize>row << 3), NaN);
      store<f64>(sum + (<usize>row << 3), NaN);
      continue;
    }
    top = max(top, old);
    if (top == -Infinity) continue;
    let total = old == -Infinity ? 0 : load<f64>(sum + (<usize>row << 3)) * exp1(old - top);
    let pair = f64x2.splat(0);
    const less = f64x2.splat(top);
    let key = first;
    for (; key + 1 < stop; key += 2) {
      pair = f64x2.add(pair, exp2(f64x2.sub(v128.load(line + (<usize>key << 3)), less)));
    }
    total += f64x2.extract_lane(pair, 0) + f64x2.extract_lane(pair, 1);
    if (key < stop) total += exp1(load<f64>(line + (<usize>key << 3)) - top);
    store<f64>(most + (<usize>row << 3), top);
    store<f64>(sum + (<usize>row << 3), total);
  }
}

/**
 * Visible logits become probs = exp(logit − lse), 0 where lse is −∞; their entropy −Σ p (logit − lse) is added to
 * `entropy`. lse, entropy: float64, a row each.
 */
export function weigh(runs: usize, count: i32, panel: usize, stride: i32, lse: usize, entropy: usize): void {
  for (let i = 0; i < count; i++) {
    const at = runs + <usize>i * 12;
    const row = load<i32>(at), first = load<i32>(at, 4), stop = load<i32>(at, 8);
    const line = panel + ((<usize>row * stride) << 3);
    const own = load<f64>(lse + (<usize>row << 3));
    if (own == -Infinity) {
      for (let key = first; key < stop; key++) store<f64>(line + (<usize>key << 3), 0);
      continue;
    }
    const less = f64x2.splat(own);
    let bits = f64x2.splat(0);
    let key = first;
    for (; key + 1 < stop; key += 2) {
      const x = f64x2.sub(v128.load(line + (<usize>key << 3)), less);
      const p = exp2(x);
      v128.store(line + (<usize>key << 3), p);
      // 0 · −∞ is no number, and stands for 0
      bits = f64x2.add(bits, v128.bitselect(f64x2.mul(p, x), f64x2.splat(0), f64x2.ne(p, f64x2.splat(0))));
    }
    let total = f64x2.extract_lane(bits, 0) + f64x2.extract_lane(bits, 1);
    if (key < stop) {
      const x = load<f64>(line + (<usize>key << 3)) - own;
      const p = exp1(x);
      store<f64>(line + (<usize>key << 3), p);
      if (p != 0) total += p * x;
    }
    const to = entropy + (<usize>row << 3);
    store<f64>(to, load<f64>(to) - total);
  }
}

/**
 * Largest, total and number of the visible, in pixels of 2^down × 2^right cells. weight: float32 of the panel's keys, or
 * 0. The panel's first row and key start a pixel. most, total: float64, seen: int32, `across` pixels a line.
 */
export function pixels(
  runs: usize, count: i32, panel: usize, stride: i32, weight: usize, down: i32, right: i32,
  most: usize, total: usize, seen: usize, across: i32,
): void {
  for (let i = 0; i < count; i++) {
    const at = runs + <usize>i * 12;
    const row = load<i32>(at), first = load<i32>(at, 4), stop = load<i32>(at, 8);
    const line = panel + ((<usize>row * stride) << 3);
    let key = first;
    while (key < stop) {
      const end = min(stop, ((key >> right) + 1) << right);
      const to = (row >> down) * across + (key >> right);
      let top = load<f64>(most + (<usize>to << 3));
      let sum = load<f64>(total + (<usize>to << 3));
      store<i32>(seen + (<usize>to << 2), load<i32>(seen + (<usize>to << 2)) + end - key);
      for (; key < end; key++) {
        let p = load<f64>(line + (<usize>key << 3));
        if (weight) p *= <f64>load<f32>(weight + (<usize>key << 2));
        top = max(top, p); // a NaN stays
        sum += p;
      }
      store<f64>(most + (<usize>to << 3), top);
      store<f64>(total + (<usize>to << 3), sum);
    }
  }
}

/** What each key of the panel receives from its rows. received: float64, seen: int32, a key each. */
export function receive(runs: usize, count: i32, panel: usize, stride: i32, received: usize, seen: usize): void {
  for (let i = 0; i < count; i++) {
    const at = runs + <usize>i * 12;
    const row = load<i32>(at), first = load<i32>(at, 4), stop = load<i32>(at, 8);
    const line = panel + ((<usize>row * stride) << 3);
    for (let key = first; key < stop; key++) {
      const to = received + (<usize>key << 3);
      store<f64>(to, load<f64>(to) + load<f64>(line + (<usize>key << 3)));
      store<i32>(seen + (<usize>key << 2), load<i32>(seen + (<usize>key << 2)) + 1);
    }
  }
}
