import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { GuessLimits, isTooManyGuesses, networkOf } from './guess-limits.ts';

let limits: GuessLimits;
let now: number;

beforeEach(() => {
  now = 0;
  limits = new GuessLimits(() => new Date(now));
});

class Wrong extends Error {}
const wrong = () => Promise.reject(new Wrong());
const isGuess = (error: unknown) => error instanceof Wrong;

const attempt = (prove: () => Promise<void>, address: string, account?: string) =>
  limits.attempt({ from: { remoteAddress: address }, ...(account !== undefined && { account }) }, prove, isGuess);
async function fail(times: number, address: string, account?: string) {
  for (let time = 0; time < times; time += 1) await attempt(wrong, address, account).catch(() => undefined);
}
/** Seconds until the next attempt. */
const wait = (address: string, account?: string): Promise<number> =>
  attempt(() => Promise.reject(new Error('no guess')), address, account).then(
    () => 0,
    (error: unknown) => (isTooManyGuesses(error) ? error.waitSeconds : 0),
  );
const succeed = (address: string, account: string) => attempt(() => Promise.resolve(), address, account);

describe('wrong secrets', () => {
  it('stop their sender no longer after the clock was set back', async () => {
    await fail(10, '192.0.2.1', 'ann');
    now -= 1_200_000;
    expect(await wait('192.0.2.1', 'ann')).toBe(0);
  });

  it('stop their sender with that account, and nobody else', async () => {
    await fail(10, '192.0.2.1', 'ann');
    expect(await wait('192.0.2.1', 'ann')).toBe(60);
    expect(await wait('192.0.2.1', 'bob')).toBe(0);
    expect(await wait('192.0.2.2', 'ann')).toBe(0);
    now += 60_000;
    expect(await wait('192.0.2.1', 'ann')).toBe(0);
  });

  it('for many accounts stop their address', async () => {
    for (let account = 0; account < 100; account += 1) await fail(1, '192.0.2.1', `user-${account}`);
    expect(await wait('192.0.2.1', 'somebody')).toBe(60);
    expect(await wait('192.0.2.2', 'somebody')).toBe(0);
  });

  it('that name no account stop their address', async () => {
    await fail(100, '192.0.2.1');
    expect(await wait('192.0.2.1')).toBe(60);
    expect(await wait('192.0.2.2')).toBe(0);
  });

  it('stop strangers at an address that many share, and no owner who signed in there', async () => {
    await succeed('10.0.0.1', 'ann');
    for (let account = 0; account < 100; account += 1) await fail(1, '10.0.0.1', `user-${account}`);
    expect(await wait('10.0.0.1', 'somebody')).toBe(60);
    expect(await wait('10.0.0.1')).toBe(60);
    expect(await wait('10.0.0.1', 'ann')).toBe(0);
    await fail(10, '10.0.0.1', 'ann');
    expect(await wait('10.0.0.1', 'ann')).toBe(60);
  });

  // A provider gives each customer that many addresses at least.
  it('from a network of IPv6 count as from one address', async () => {
    for (let host = 1; host <= 100; host += 1) await fail(1, `2001:db8:1:2::${host.toString(16)}`, `user-${host}`);
    expect(await wait('2001:0db8:1:2:ffff::1', 'somebody')).toBe(60);
    expect(await wait('2001:db8:1:3::1', 'somebody')).toBe(0);
    for (let time = 0; time < 10; time += 1) await fail(1, `2001:db8:2:2::${time}`, 'ann');
    expect(await wait('2001:db8:2:2::a', 'ann')).toBe(60);
  });

  it('from an IPv4 address that a proxy writes as IPv6 count for that address', async () => {
    await fail(100, '::ffff:a00:1');
    expect(await wait('::ffff:10.0.0.1')).toBe(60);
    expect(await wait('10.0.0.1')).toBe(60);
    expect(await wait('::ffff:a00:2')).toBe(0);
  });

  it('from many addresses stop strangers with that account for seconds', async () => {
    for (let host = 0; host < 200; host += 1) await fail(1, `192.0.2.${host}`, 'ann');
    expect(await wait('198.51.100.1', 'ann')).toBe(5);
    expect(await wait('198.51.100.1', 'bob')).toBe(0);
    now += 5_000;
    expect(await wait('198.51.100.1', 'ann')).toBe(0);
  });

  it('from many addresses never stop the owner where they signed in before', async () => {
    await succeed('198.51.100.1', 'ann');
    for (let host = 0; host < 200; host += 1) await fail(1, `192.0.2.${host}`, 'ann');
    expect(await wait('198.51.100.1', 'ann')).toBe(0);
    expect(await wait('198.51.100.2', 'ann')).toBe(5);
  });

  it('are forgotten after the right one', async () => {
    await fail(9, '192.0.2.1', 'ann');
    await succeed('192.0.2.1', 'ann');
    await fail(9, '192.0.2.1', 'ann');
    expect(await wait('192.0.2.1', 'ann')).toBe(0);
  });

  it('that are sent at the same time are not all proven', async () => {
    let proven = 0;
    const slow = async () => {
      proven += 1;
      await new Promise((resolve) => setTimeout(resolve, 5));
      throw new Wrong();
    };
    await Promise.allSettled(Array.from({ length: 500 }, () => attempt(slow, '192.0.2.1', 'ann')));
    expect(proven).toBeLessThanOrEqual(13);
  });
});

describe('right secrets', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('that wait too long for others of the account are refused, and the next ones are taken', async () => {
    vi.useFakeTimers();
    const proven: number[] = [];
    const sent = Array.from({ length: 40 }, (_, index) =>
      attempt(
        async () => {
          proven.push(index);
          await new Promise((done) => setTimeout(done, 10_000));
        },
        '192.0.2.1',
        'ann',
      ),
    );
    const settled = Promise.allSettled(sent);
    await vi.advanceTimersByTimeAsync(10_000);
    const refused = (await settled).slice(4) as PromiseRejectedResult[];
    expect(proven).toEqual([0, 1, 2, 3]);
    expect(refused).toHaveLength(36);
    for (const { reason } of refused) {
      expect(isTooManyGuesses(reason) && reason.waitSeconds).toBe(5);
      expect(String(reason)).toContain('waited longer than 5 s');
    }
    await succeed('192.0.2.1', 'ann');
  });

  it('that are sent at the same time are all taken', async () => {
    const sent = Array.from({ length: 50 }, () =>
      attempt(() => new Promise((done) => setTimeout(done, 1)), 'a', 'ann'),
    );
    expect((await Promise.allSettled(sent)).every(({ status }) => status === 'fulfilled')).toBe(true);
  });
});

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:DB8:0:0:1:2:3:4', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['::1', '0:0:0:0'],
  ['unknown', 'unknown'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
