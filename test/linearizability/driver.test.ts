import { describe, expect, it } from 'vitest';
import { MemoryRecordStore } from '../../server/store/memory/record-store.ts';
import { Faults } from '../../server/store/memory/faults.ts';
import { checkRounds } from './run-clients.ts';
import { recordRegister } from './record-register.ts';
import type { Register } from './operation.ts';

const registersOf = (register: Register) => Array.from({ length: 8 }, () => register);
const options = { operations: 5_000, seed: 7, keysAtATime: 2 };

describe('the clients and the checker together', () => {
  it('accept a store in memory that is slow', async () => {
    const store = new MemoryRecordStore({ places: 'unchecked', faults: new Faults({ seed: 3, latencyTicks: 4 }) });
    const checked = await checkRounds({ ...options, registers: registersOf(recordRegister(store)) });
    expect(checked.violations).toEqual([]);
    expect(checked.overlapping).toBeGreaterThan(1_000);
  });

  it('accept one that loses answers and cannot be reached now and then', async () => {
    const store = new MemoryRecordStore({
      places: 'unchecked',
      faults: new Faults({ seed: 3, latencyTicks: 4, lostAfter: 0.01, lostBefore: 0.01, unavailable: 0.005 }),
    });
    const checked = await checkRounds({ ...options, operations: 1_000, registers: registersOf(recordRegister(store)) });
    expect(checked.violations).toEqual([]);
  });

  it.each<[string, (right: Register) => Register]>([
    ['now and then shows an older value', staleReads],
    ['forgets a write that it answered', forgottenWrites],
    ['checks a condition some time before it writes', checkThenWrite],
  ])('find a register that %s', async (_what, broken) => {
    const store = new MemoryRecordStore({ places: 'unchecked', faults: new Faults({ seed: 3, latencyTicks: 4 }) });
    const register = broken(recordRegister(store));
    const { violations } = await checkRounds({ ...options, registers: registersOf(register) });
    expect(violations).not.toEqual([]);
  });
});

function staleReads(right: Register): Register {
  const before = new Map<string, string | undefined>();
  let reads = 0;
  return {
    ...right,
    async get(key) {
      const answer = await right.get(key);
      if (answer === 'unknown') return answer;
      const shown = (reads += 1) % 500 === 0 && before.has(key) ? before.get(key) : answer.shown;
      if (reads % 20 === 0) before.set(key, answer.shown);
      return { shown };
    },
  };
}

function forgottenWrites(right: Register): Register {
  let writes = 0;
  return {
    ...right,
    put: (key, value, condition) =>
      (writes += 1) % 20 === 0 && condition.kind === 'none'
        ? Promise.resolve('done')
        : right.put(key, value, condition),
  };
}

function checkThenWrite(right: Register): Register {
  return {
    ...right,
    async put(key, value, condition) {
      if (condition.kind === 'none') return right.put(key, value, condition);
      const found = await right.get(key);
      if (found === 'unknown') return 'unknown';
      const wanted = condition.kind === 'holds' ? condition.value : undefined;
      return found.shown === wanted ? right.put(key, value, { kind: 'none' }) : 'refused';
    },
  };
}
