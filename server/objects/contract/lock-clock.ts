/**
 * The time by which object lock decides, in milliseconds since 1970. It takes the wall clock at the start of the process, and the
 * monotonic clock of the time since. A wall clock that is set while the server runs ends no retention, and shortens no default one.
 */
export interface LockClock {
  /** The earlier of the wall clock and the time that passed since the start: a retention has ended when both say so. */
  earliest(): number;
  /** The later of both: a default retention does not begin before it. */
  latest(): number;
}

/** `monotonic` returns milliseconds since any moment. */
export function lockClock(wall: () => number, monotonic: () => number): LockClock {
  const start = wall() - monotonic();
  const passed = () => Math.floor(start + monotonic());
  return {
    earliest: () => Math.min(wall(), passed()),
    latest: () => Math.max(wall(), passed()),
  };
}

/** The clock of this thread since its start. */
export const threadLockClock = lockClock(Date.now, () => performance.now());
