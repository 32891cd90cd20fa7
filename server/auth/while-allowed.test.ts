import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StoredCredentials } from './principal.ts';
import { currentPrincipal, whileAllowed } from './while-allowed.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A stream that yields what is pushed, until its signal. */
function pushed() {
  const items: number[] = [];
  let news = Promise.withResolvers<void>();
  async function* stream(gone: AbortSignal) {
    gone.addEventListener('abort', () => news.resolve());
    while (!gone.aborted) {
      const item = items.shift();
      if (item !== undefined) {
        yield item;
        continue;
      }
      await news.promise;
      news = Promise.withResolvers<void>();
    }
  }
  const push = (item: number) => {
    items.push(item);
    news.resolve();
  };
  return { stream, push };
}

const never = new AbortController().signal;
const none = () => Promise.resolve(undefined);

describe('a stream of a caller', () => {
  it('ends when the caller loses the right, though nothing comes', async () => {
    const { stream, push } = pushed();
    let allowed = true;
    const read = whileAllowed(stream, () => Promise.resolve(allowed))(never)[Symbol.asyncIterator]();
    push(1);
    expect(await read.next()).toEqual({ done: false, value: 1 });
    const next = read.next();
    await vi.advanceTimersByTimeAsync(60_000);
    push(2);
    expect(await next).toEqual({ done: false, value: 2 });
    const last = read.next();
    allowed = false;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await last).toMatchObject({ done: true });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('goes on where the check fails, and asks once at a time', async () => {
    const { stream, push } = pushed();
    let asked = 0;
    const isAllowed = () => {
      asked += 1;
      return asked === 1 ? Promise.reject(new Error('the store is away')) : new Promise<boolean>(() => undefined);
    };
    const read = whileAllowed(stream, isAllowed)(never)[Symbol.asyncIterator]();
    const next = read.next();
    await vi.advanceTimersByTimeAsync(60_000);
    push(1);
    expect(await next).toEqual({ done: false, value: 1 });
    expect(asked).toBe(2);
    await read.return?.();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends when the client is gone', async () => {
    const { stream } = pushed();
    const gone = new AbortController();
    const read = whileAllowed(stream, () => Promise.resolve(true))(gone.signal)[Symbol.asyncIterator]();
    const next = read.next();
    gone.abort();
    expect(await next).toMatchObject({ done: true });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('the principal of a stream', () => {
  const ann = { kind: 'user', accessKey: 'ann', subject: { kind: 'user', name: 'ann' } } as const;
  const former: StoredCredentials = {
    accessKey: 'root',
    secretKey: 'before',
    principal: { kind: 'root', accessKey: 'root', former: true },
  };

  it.each([
    [{ kind: 'anonymous' } as const, { kind: 'anonymous' }],
    [{ kind: 'root', accessKey: 'root' } as const, { kind: 'root' }],
    [former.principal, { former: true }],
    [ann, { accessKey: 'ann' }],
  ])('is found again: %j', async (principal, expected) => {
    const credentials = { accessKey: 'ann', secretKey: 'x', principal: ann };
    const access = { credentials: () => Promise.resolve(credentials), formerRoot: () => Promise.resolve(former) };
    expect(await currentPrincipal(access, principal)).toMatchObject(expected);
  });

  it.each([ann, former.principal])('is gone with its credentials: %j', async (principal) => {
    expect(await currentPrincipal({ credentials: none, formerRoot: none }, principal)).toBeUndefined();
    expect(await currentPrincipal({ credentials: none }, principal)).toBeUndefined();
  });
});
