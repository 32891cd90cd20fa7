import { describe, expect, it } from 'vitest';
import { HashingRounds, hashingPlaces } from '../objects/hashing/hashing.ts';
import { startHashingThreads } from './hashing-threads.ts';

/** HTTP threads of one place, whose hashing thread starts or fails as the test says. */
function threads(start: (onFailure: (message: string) => void) => void) {
  const places = hashingPlaces(2);
  const needed: (() => void)[] = [];
  const failures: string[] = [];
  const warnings: string[] = [];
  let started = 0;
  let now = 0;
  startHashingThreads({
    http: places.map(() => ({ on: (_: string, listener: () => void) => void needed.push(listener) })),
    places,
    start: (_, onFailure) => {
      started += 1;
      start(onFailure);
    },
    fail: (message) => failures.push(message),
    log: { warn: (_: unknown, text: string) => warnings.push(text) } as never,
    clock: () => now,
  });
  return {
    need: () => needed.forEach((ask) => ask()),
    pass: (ms: number) => (now += ms),
    run: () => places[0] && new HashingRounds(places[0].memory.buffer, 1, () => undefined),
    started: () => started,
    failures,
    warnings,
  };
}

const unable = () => {
  throw new Error('EMFILE');
};

describe('the hashing thread of a place', () => {
  it('is started once', () => {
    const { need, started } = threads(() => undefined);
    need();
    need();
    expect(started()).toBe(1);
  });

  it('that cannot start ends nothing, and is started again after some time', () => {
    const { need, pass, started, failures, warnings } = threads(unable);
    need();
    need();
    expect([started(), failures]).toEqual([1, []]);
    expect(warnings).toEqual([
      'the hashing thread cannot start: EMFILE; the HTTP threads hash large bodies until it starts',
    ]);
    pass(10_000);
    need();
    expect([started(), failures]).toEqual([2, []]);
  });

  it('that reports its failure later, twice, ends nothing', () => {
    const { need, started, failures, warnings } = threads((onFailure) => {
      onFailure('the hashing thread failed: ERR_WORKER_INIT_FAILED');
      onFailure('the hashing thread ended with code 1');
    });
    need();
    expect([started(), failures, warnings.length]).toEqual([1, [], 1]);
  });

  it('that dies when it has taken buffers ends the process: bodies wait for it', () => {
    const onFailures: ((message: string) => void)[] = [];
    const { need, run, failures } = threads((onFailure) => onFailures.push(onFailure));
    need();
    run();
    onFailures[0]?.('the hashing thread ended with code 1');
    expect(failures).toEqual(['the hashing thread ended with code 1']);
  });
});
