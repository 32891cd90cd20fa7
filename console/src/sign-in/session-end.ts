/** Milliseconds before the end of a session at which the page warns the user. */
const warningMs = 60_000;

/** Reports whether a session ends soon, and in how many seconds. */
export function endOf(
  expires: string,
  now: number,
): { readonly state: 'running' | 'ending' | 'over'; readonly seconds: number } {
  const left = Date.parse(expires) - now;
  const state = left <= 0 ? 'over' : left <= warningMs ? 'ending' : 'running';
  return { state, seconds: Math.max(0, Math.ceil(left / 1_000)) };
}
