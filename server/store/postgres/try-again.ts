import { setTimeout as sleep } from 'node:timers/promises';

/** Bounded: who still meets others after so many tries, or so many milliseconds, is told so. */
export interface Patience {
  readonly attempts: number;
  readonly milliseconds: number;
  readonly random: () => number;
}

/** What an attempt came to: a result, or a reason for another one. */
export type Attempt<T> =
  { readonly kind: 'done'; readonly result: T } | { readonly kind: 'again'; readonly error: Error };

/** Waits between attempts, longer each time and by chance, so that those who met do not meet again. Throws the last error. */
export async function tryAgain<T>(patience: Patience, attempt: (number: number) => Promise<Attempt<T>>): Promise<T> {
  const deadline = performance.now() + patience.milliseconds;
  for (let number = 1; ; number += 1) {
    const outcome = await attempt(number);
    if (outcome.kind === 'done') return outcome.result;
    if (number >= patience.attempts || performance.now() > deadline) throw outcome.error;
    await sleep(patience.random() * Math.min(2 ** number, 250));
  }
}
