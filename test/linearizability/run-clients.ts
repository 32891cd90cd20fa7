import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../support/seeded-random.ts';
import { checkHistory, describeViolation } from './check-history.ts';
import type { Action, Condition, Operation, Register } from './operation.ts';

export interface ClientsOptions {
  /** One for each client; several may lead to the same server. */
  readonly registers: readonly Register[];
  /** Few, so that clients meet. */
  readonly keys: readonly string[];
  /** Of all clients together. */
  readonly operations: number;
  readonly seed: number;
}

/** Lets each client ask one thing after the other, all clients at once, and writes down what they were told. */
export async function runClients(options: ClientsOptions): Promise<Operation[]> {
  const history: Operation[] = [];
  /** The last value that a client was shown of a key: what conditional writes expect. */
  const lastShown = new Map<string, string>();
  let moment = 0;
  let begun = 0;
  const random = new SeededRandom(options.seed);

  async function client(number: number, register: Register, own: SeededRandom): Promise<void> {
    while (begun < options.operations) {
      begun += 1;
      const key = options.keys[own.between(0, options.keys.length - 1)] ?? '';
      const called = (moment += 1);
      const action = await act(register, key, `${options.seed}-${number}-${called}`, own, lastShown.get(key));
      const answered = (moment += 1);
      // A read without an answer says nothing.
      if (action === undefined) await sleep(20);
      else history.push({ client: number, key, called, answered, action });
      if (action?.kind === 'get' && action.shown !== undefined) lastShown.set(key, action.shown);
    }
  }

  await Promise.all(
    options.registers.map((register, number) => client(number, register, new SeededRandom(random.between(0, 2 ** 30)))),
  );
  return history;
}

async function act(
  register: Register,
  key: string,
  value: string,
  random: SeededRandom,
  lastShown: string | undefined,
): Promise<Action | undefined> {
  const choice = random.between(1, 100);
  if (choice <= 45) {
    const answer = await register.get(key);
    return answer === 'unknown' ? undefined : { kind: 'get', shown: answer.shown };
  }
  if (choice <= 57) return { kind: 'delete', answer: await register.delete(key) };
  const condition = register.conditional === false ? { kind: 'none' as const } : conditionFor(choice, lastShown);
  return { kind: 'put', value, condition, answer: await register.put(key, value, condition) };
}

function conditionFor(choice: number, lastShown: string | undefined): Condition {
  if (choice <= 72) return { kind: 'none' };
  if (choice <= 85 || lastShown === undefined) return { kind: 'absent' };
  return { kind: 'holds', value: lastShown };
}

export interface Checked {
  readonly operations: number;
  readonly unknown: number;
  readonly refused: number;
  /** Calls that began while another one on the same key was on its way: without them nothing is shown. */
  readonly overlapping: number;
  readonly violations: readonly string[];
}

export function summaryOf({ operations, overlapping, refused: rejected, unknown, violations }: Checked): string {
  return (
    `${operations} operations, ${overlapping} overlapping, ${rejected} refused by their condition, ${unknown} unknown, ` +
    `${violations.length} violations`
  );
}

const ROUND = 50_000;

/**
 * Returns the milliseconds after which a test of this many operations is ended. A quiet machine needs 1 to 4 for each, and one with a load
 * of 25 up to 30. The constant part is for the start, and for a machine that stands still for a moment.
 */
export function timeLimit(operations: number): number {
  return 120_000 + operations * 50;
}

/** Runs and checks rounds on fresh keys, so that memory does not grow with the number of operations. */
export async function checkRounds(
  options: Omit<ClientsOptions, 'keys'> & {
    readonly keysAtATime: number;
    readonly onRound?: (so: Checked) => void;
    /** Returns further violations, found in what is stored after a round. */
    readonly checkStored?: (history: readonly Operation[]) => Promise<readonly string[]>;
  },
): Promise<Checked> {
  let sum: Checked = { operations: 0, unknown: 0, refused: 0, overlapping: 0, violations: [] };
  for (let round = 0; sum.operations < options.operations && sum.violations.length === 0; round += 1) {
    const keys = Array.from({ length: options.keysAtATime }, (_, index) => `seed-${options.seed}/${round}/${index}`);
    const operations = Math.min(ROUND, options.operations - sum.operations);
    const history = await runClients({ ...options, seed: options.seed + round, keys, operations });
    if (history.length === 0) throw new Error('no call of a whole round was answered');
    sum = {
      operations: sum.operations + history.length,
      unknown: sum.unknown + history.filter(({ action }) => 'answer' in action && action.answer === 'unknown').length,
      refused: sum.refused + history.filter(({ action }) => 'answer' in action && action.answer === 'refused').length,
      overlapping: sum.overlapping + overlapping(history),
      violations: [...checkHistory(history).map(describeViolation), ...((await options.checkStored?.(history)) ?? [])],
    };
    options.onRound?.(sum);
  }
  return sum;
}

function overlapping(history: readonly Operation[]): number {
  let count = 0;
  for (const operations of Map.groupBy(history, ({ key }) => key).values()) {
    let latest = -1;
    for (const { called, answered } of operations.toSorted((left, right) => left.called - right.called)) {
      if (called < latest) count += 1;
      latest = Math.max(latest, answered);
    }
  }
  return count;
}
