import type { Response } from 'express';
import { beforeEach, describe, expect, it } from 'vitest';
import { SignInLimits } from './guesses.ts';

let limits: SignInLimits;
let now: number;

beforeEach(() => {
  limits = new SignInLimits();
  now = 0;
});

const response = { set: () => response } as unknown as Response;
const attempt = (address: string, account: string, shared = false) => ({
  source: { address, shared, encrypted: false },
  account,
  now,
});
const fail = (times: number, address: string, account: string, shared = false) => {
  for (let time = 0; time < times; time += 1) limits.failed(attempt(address, account, shared));
};
/** Seconds until the next attempt. */
function wait(address: string, account: string, shared = false): number {
  try {
    limits.refuse(response, attempt(address, account, shared), 'access key');
    return 0;
  } catch (error) {
    return Number(/in (\d+) s/.exec((error as Error).message)?.[1]);
  }
}

describe('wrong secrets', () => {
  it('stop their sender with that account, and nobody else', () => {
    fail(10, '192.0.2.1', 'ann');
    expect(wait('192.0.2.1', 'ann')).toBe(60);
    expect(wait('192.0.2.1', 'bob')).toBe(0);
    expect(wait('192.0.2.2', 'ann')).toBe(0);
    now += 60_000;
    expect(wait('192.0.2.1', 'ann')).toBe(0);
  });

  it('for many accounts stop their address', () => {
    for (let account = 0; account < 100; account += 1) fail(1, '192.0.2.1', `user-${account}`);
    expect(wait('192.0.2.1', 'somebody')).toBe(60);
    expect(wait('192.0.2.2', 'somebody')).toBe(0);
  });

  it('stop nobody else behind a proxy that is not trusted, whose address all share', () => {
    for (let account = 0; account < 1_000; account += 1) fail(1, '10.0.0.1', `user-${account}`, true);
    expect(wait('10.0.0.1', 'somebody', true)).toBe(0);
  });

  it('from many addresses stop strangers with that account for seconds', () => {
    for (let host = 0; host < 200; host += 1) fail(1, `192.0.2.${host}`, 'ann');
    expect(wait('198.51.100.1', 'ann')).toBe(5);
    expect(wait('198.51.100.1', 'bob')).toBe(0);
    now += 5_000;
    expect(wait('198.51.100.1', 'ann')).toBe(0);
  });

  it('from many addresses never stop the owner where they signed in before', () => {
    limits.succeeded(attempt('198.51.100.1', 'ann'));
    for (let host = 0; host < 200; host += 1) fail(1, `192.0.2.${host}`, 'ann');
    expect(wait('198.51.100.1', 'ann')).toBe(0);
    expect(wait('198.51.100.2', 'ann')).toBe(5);
  });

  it('are forgotten after the right one', () => {
    fail(9, '192.0.2.1', 'ann');
    limits.succeeded(attempt('192.0.2.1', 'ann'));
    fail(9, '192.0.2.1', 'ann');
    expect(wait('192.0.2.1', 'ann')).toBe(0);
  });
});
