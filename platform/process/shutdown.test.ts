import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { createLogger } from '../output/logger.ts';
import { onShutdown } from './shutdown.ts';

const log = createLogger({ name: 'test', level: 'silent' });

class FakeProcess extends EventEmitter {
  env: Record<string, string | undefined> = {};
  exits: number[] = [];
  send: unknown;
  connected = true;
  channel: { unref(): void } | undefined;
  exit(code: number) {
    this.exits.push(code);
  }
}

function start(stop: (reason: string) => Promise<void>, set: Partial<FakeProcess> = {}) {
  const fake = Object.assign(new FakeProcess(), set);
  const clock = { now: 0 };
  const ask = onShutdown({ log, process: fake, now: () => clock.now }, stop);
  return { fake, clock, ask };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('shutdown', () => {
  it('stops once and exits with 0', async () => {
    const stop = vi.fn(async () => undefined);
    const { fake } = start(stop);
    fake.emit('SIGTERM');
    await settled();
    expect(stop).toHaveBeenCalledExactlyOnceWith('SIGTERM');
    expect(fake.exits).toEqual([0]);
  });

  it('stops when it is asked from within, and does what was asked for instead of the exit', async () => {
    const stop = vi.fn(async () => undefined);
    const { fake, ask } = start(stop);
    const again = vi.fn();
    ask('restart', again);
    ask('once more');
    await settled();
    expect(stop).toHaveBeenCalledExactlyOnceWith('restart');
    expect(again).toHaveBeenCalledOnce();
    expect(fake.exits).toEqual([]);
  });

  it('takes SIGUSR1, for which Node would open a debugger, and goes on', () => {
    const { fake } = start(async () => undefined);
    expect(fake.emit('SIGUSR1')).toBe(true);
    expect(fake.exits).toEqual([]);
  });

  it('exits with 1 when stopping fails', async () => {
    const { fake } = start(async () => Promise.reject(new Error('stuck')));
    fake.emit('SIGINT');
    await settled();
    expect(fake.exits).toEqual([1]);
  });

  it('gives up as the program says, and not by an exit, which ends its threads while they write', async () => {
    const fake = new FakeProcess();
    const clock = { now: 0 };
    const giveUp = vi.fn();
    onShutdown({ log, process: fake, now: () => clock.now, giveUp }, () => new Promise(() => undefined));
    fake.emit('SIGTERM');
    clock.now = 1000;
    fake.emit('SIGTERM');
    expect(giveUp).toHaveBeenCalledExactlyOnceWith(143);
    await settled();
    expect(fake.exits).toEqual([]);
  });

  it('takes a signal that the launcher repeats for the same wish', () => {
    const { fake, clock } = start(() => new Promise(() => undefined));
    fake.emit('SIGINT');
    clock.now = 999;
    fake.emit('SIGINT');
    expect(fake.exits).toEqual([]);
  });

  it('exits at once on a second signal later', () => {
    const { fake, clock } = start(() => new Promise(() => undefined));
    fake.emit('SIGINT');
    clock.now = 1000;
    fake.emit('SIGINT');
    expect(fake.exits).toEqual([130]);
  });

  it('exits with 1 when stopping takes too long', async () => {
    vi.useFakeTimers();
    try {
      const { fake } = start(() => new Promise(() => undefined));
      fake.emit('SIGTERM');
      await vi.advanceTimersByTimeAsync(30_000);
      expect(fake.exits).toEqual([1]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends with its parent when a launcher asked for it, and holds no grandchild to that', async () => {
    const stop = vi.fn(async () => undefined);
    const unref = vi.fn();
    const { fake } = start(stop, { env: { COFFER_EXIT_WITH_PARENT: '1' }, send: () => true, channel: { unref } });
    expect(fake.env).not.toHaveProperty('COFFER_EXIT_WITH_PARENT');
    expect(unref).toHaveBeenCalled();
    fake.emit('disconnect');
    await settled();
    expect(stop).toHaveBeenCalledOnce();
  });

  it('ends when its parent ended while it was still loading', async () => {
    const stop = vi.fn(async () => undefined);
    start(stop, { env: { COFFER_EXIT_WITH_PARENT: '1' }, send: () => true, connected: false });
    expect(stop).not.toHaveBeenCalled();
    await settled();
    expect(stop).toHaveBeenCalledExactlyOnceWith('the parent process ended');
  });

  it('does not end with a parent that did not ask for it', () => {
    const { fake } = start(async () => undefined, { send: () => true });
    expect(fake.listenerCount('disconnect')).toBe(0);
  });
});
