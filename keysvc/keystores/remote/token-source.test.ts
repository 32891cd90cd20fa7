import { beforeEach, describe, expect, it } from 'vitest';
import { type Token, TokenSource } from './token-source.ts';
import { VirtualClock } from '../../../test/support/keysvc/http-double.ts';

describe('the token of a login', () => {
  let clock: VirtualClock;
  let logins: (Token | undefined)[];
  let failure: Error | undefined;
  let source: TokenSource;

  beforeEach(() => {
    clock = new VirtualClock();
    logins = [];
    failure = undefined;
    source = new TokenSource(async (previous) => {
      logins.push(previous);
      if (failure !== undefined) throw failure;
      return { value: `token ${logins.length}`, expiresAt: clock.now() + 100_000 };
    }, clock);
  });

  it('is shared by all who need it at once', async () => {
    expect(await Promise.all([source.current(), source.current()])).toEqual(['token 1', 'token 1']);
  });

  it('is renewed when a fifth of its life is left, with the one at hand', async () => {
    await source.current();
    clock.advance(79_000);
    expect(await source.current()).toBe('token 1');
    clock.advance(2000);
    expect(await source.current()).toBe('token 2');
    expect(logins[1]).toMatchObject({ value: 'token 1' });
  });

  it('serves to its end where it cannot be renewed', async () => {
    await source.current();
    failure = new Error('away');
    clock.advance(90_000);
    expect(await source.current()).toBe('token 1');
    clock.advance(10_000);
    await expect(source.current()).rejects.toThrow('away');
  });

  it('is replaced when it is dropped, unless it was replaced already', async () => {
    await source.current();
    source.drop('token 1');
    expect(await source.current()).toBe('token 2');
    source.drop('token 1');
    expect(await source.current()).toBe('token 2');
    expect(logins[1]).toBeUndefined();
  });
});
