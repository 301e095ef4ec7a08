// A pause that can be called off: whoever runs through rows with the arrows asks only about the last one.

export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new DOMException("called off", "AbortError"));
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("called off", "AbortError"));
    }, { once: true });
  });
}
