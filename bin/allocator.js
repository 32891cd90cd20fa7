/**
 * How glibc's allocator serves a process of many threads through which large bodies stream. By itself it gives each of a dozen threads
 * an arena, and keeps in each what bodies left behind: 60 MiB more at the peak of four parallel parts (`npm run bench:memory`).
 *
 * @see mallopt(3)
 */
export const allocatorEnvironment = {
  MALLOC_ARENA_MAX: '1',
  // Set, so that it does not grow: buffers of this size and more go back to the system when they are freed.
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
