/** Milliseconds. A local disk answers for a small file in 10 µs. */
const slowMs = 5;

/** Milliseconds. */
const pauseMs = 1_000;

let backgroundUntil = 0;

/**
 * Reports whether calls of the file system for one small file may be made on this thread. A call in the background takes 40 µs of processor
 * time, four times as much as the call itself on a local disk. A slow disk would hold up the other copies: after a call that took long, the
 * calls of the next second are made in the background.
 */
export function isDiskFast(): boolean {
  return performance.now() >= backgroundUntil;
}

/** Makes calls of the file system on this thread, and measures them. */
export function onThisThread<T>(calls: () => T): T {
  const started = performance.now();
  try {
    return calls();
  } finally {
    const ended = performance.now();
    if (ended - started > slowMs) backgroundUntil = ended + pauseMs;
  }
}
