import type { Access, Principal } from './principal.ts';

/** Milliseconds between two checks. */
const checkMs = 5_000;

/**
 * Ends a stream that has no end of its own when its caller loses the right to it. The right was checked when the stream began; without
 * further checks a removed user would go on reading for as long as the connection lives. A check that fails, because the records cannot be
 * read now, ends nothing.
 */
export function whileAllowed<Item>(
  stream: (gone: AbortSignal) => AsyncIterable<Item>,
  isAllowed: () => Promise<boolean>,
): (gone: AbortSignal) => AsyncIterable<Item> {
  return async function* (gone) {
    const revoked = new AbortController();
    let isChecking = false;
    const check = async () => {
      if (isChecking) return;
      isChecking = true;
      try {
        if (!(await isAllowed())) revoked.abort();
      } catch {
        // The next check decides.
      } finally {
        isChecking = false;
      }
    };
    const timer = setInterval(() => void check(), checkMs);
    timer.unref();
    try {
      for await (const item of stream(AbortSignal.any([gone, revoked.signal]))) {
        if (revoked.signal.aborted) return;
        yield item;
      }
    } finally {
      clearInterval(timer);
    }
  };
}

/**
 * Returns the principal as the identities have it now, with a policy of an access key that was changed. Undefined where the credentials
 * were removed or disabled, or have expired.
 */
export async function currentPrincipal(
  access: Pick<Access, 'credentials' | 'formerRoot'>,
  principal: Principal,
): Promise<Principal | undefined> {
  if (principal.kind === 'anonymous') return principal;
  if (principal.kind !== 'root') return (await access.credentials(principal.accessKey))?.principal;
  // The root credentials change by a restart alone; those from before a rotation end.
  return principal.former === true ? (await access.formerRoot?.(principal.accessKey))?.principal : principal;
}
