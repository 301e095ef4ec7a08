// Arrays as the file holds them: base64 of little-endian numbers, their bytes in planes, most often deflated.

export type Held = "f64" | "f32" | "f24" | "f16" | "i32" | "u8";

export interface ArrayDocument {
  /** f24: the upper three bytes of a float32 of 0 or more, its sign left out; i32: differences along the last axis. */
  dtype: Held;
  shape: number[];
  /** Whether the planes (all first bytes, all second, …) are deflated. */
  packed: boolean;
}

const BYTES: Record<Held, number> = { f64: 8, f32: 4, f24: 3, f16: 2, i32: 4, u8: 1 };

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** The numbers of an array: Float32Array of the floats, Int32Array of i32, Uint8Array of u8. */
export async function floats(base64: string, document: ArrayDocument): Promise<Float32Array> {
  const planes = await unpacked(base64, document);
  const count = length(document);
  const at = (plane: number): Uint8Array => planes.subarray(plane * count, (plane + 1) * count);
  if (document.dtype === "f16") {
    const table = halves();
    const [low, high] = [at(0), at(1)];
    return Float32Array.from({ length: count }, (_, i) => table[low[i]! | (high[i]! << 8)]!);
  }
  const bits = new Uint32Array(count);
  if (document.dtype === "f24") {
    const [a, b, c] = [at(0), at(1), at(2)];
    for (let i = 0; i < count; i++) bits[i] = (a[i]! | (b[i]! << 8) | (c[i]! << 16)) << 7;
  } else {
    const [a, b, c, d] = [at(0), at(1), at(2), at(3)];
    for (let i = 0; i < count; i++) bits[i] = a[i]! | (b[i]! << 8) | (c[i]! << 16) | (d[i]! << 24);
  }
  return new Float32Array(bits.buffer);
}

/** The numbers of f32 or f64 as they are. */
export async function doubles(base64: string, document: ArrayDocument): Promise<Float64Array> {
  if (document.dtype !== "f64") return Float64Array.from(await floats(base64, document));
  const planes = await unpacked(base64, document);
  const count = length(document);
  const each = new Uint8Array(count * 8);
  for (let plane = 0; plane < 8; plane++) for (let i = 0; i < count; i++) each[i * 8 + plane] = planes[plane * count + i]!;
  const view = new DataView(each.buffer);
  return Float64Array.from({ length: count }, (_, i) => view.getFloat64(i * 8, true));
}

export async function integers(base64: string, document: ArrayDocument): Promise<Int32Array> {
  const planes = await unpacked(base64, document);
  const count = length(document);
  const along = document.shape.at(-1) ?? 1;
  const found = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const step = planes[i]! | (planes[count + i]! << 8) | (planes[2 * count + i]! << 16) | (planes[3 * count + i]! << 24);
    found[i] = (i % along === 0 ? 0 : found[i - 1]!) + step;
  }
  return found;
}

export const bytes = (base64: string, document: ArrayDocument): Promise<Uint8Array> => unpacked(base64, document);

/** The bytes in planes, whether they were deflated or not. */
async function unpacked(base64: string, document: ArrayDocument): Promise<Uint8Array> {
  const raw = bytesOf(base64);
  const found = document.packed ? await inflated(raw) : raw;
  const wanted = length(document) * BYTES[document.dtype];
  if (found.length !== wanted) throw new RangeError(`an array of the file has ${found.length} bytes; it must have ${wanted}`);
  return found;
}

async function inflated(raw: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const length = ({ shape }: ArrayDocument): number => shape.reduce((product, side) => product * side, 1);

let known: Float32Array | null = null;

/** Every float16 as a float32. */
function halves(): Float32Array {
  if (known !== null) return known;
  known = Float32Array.from({ length: 65_536 }, (_, bits) => {
    const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
    if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
    return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  });
  return known;
}
