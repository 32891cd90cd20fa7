/** Asked for at once: a call of the system's generator costs 9 µs however few bytes it gives, and each write wants some twice. */
const POOL_BYTES = 4096;

/** Random bytes of `source`, taken many at a time. Each byte is given out once, and nothing of it stays in the pool. */
export function pooledRandom(source: (size: number) => Buffer): (size: number) => Buffer {
  let pool: Buffer = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (size > POOL_BYTES / 4) return source(size);
    if (used + size > pool.length) {
      pool = source(POOL_BYTES);
      used = 0;
    }
    const taken = Buffer.from(pool.subarray(used, used + size));
    pool.fill(0, used, used + size);
    used += size;
    return taken;
  };
}
