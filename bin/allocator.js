// How glibc's allocator serves a process of many threads through which large bodies stream. Without it each of a dozen threads has an
// arena of its own and keeps in it what bodies leave behind: 60 MiB more at the peak of a large GET (`npm run bench:memory`).
/** @see mallopt(3) */
export const allocatorEnvironment = {
  MALLOC_ARENA_MAX: '2',
  // Set, so that it does not grow: buffers of bodies go back to the system when they are freed.
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};
