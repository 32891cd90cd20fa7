/**
 * How glibc's allocator serves a process of many threads through which large bodies stream. By itself it gives threads arenas of their
 * own, and keeps in each what bodies left behind: one arena took 60 MiB off the peak of two (docs/decisions/0004-memory-of-bodies.md).
 *
 * @see mallopt(3)
 */
export const allocatorEnvironment = {
  MALLOC_ARENA_MAX: '1',
  // Set, so that it does not grow: buffers of this size and more go back to the system when they are freed.
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
