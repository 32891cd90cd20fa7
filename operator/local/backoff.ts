/**
 * Milliseconds to wait before starting a program again that ended `crashes` times in a row: growing, bounded, and spread by up to a
 * quarter either way, so that programs which fell together do not rise together.
 */
export function restartPause(crashes: number, random: number): number {
  const pause = Math.min(30_000, 250 * 2 ** Math.min(crashes - 1, 16));
  return Math.round(pause * (0.75 + random / 2));
}

/** A program that ran for this long, in milliseconds, starts counting anew. */
export const steadyMs = 30_000;

/** Crashes in a row from which a program counts as looping. */
export const loopingFrom = 3;
