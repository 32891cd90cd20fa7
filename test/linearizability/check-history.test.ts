import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkHistory, describeViolation } from './check-history.ts';
import { type Action, type Condition, effect, type Operation, type State } from './operation.ts';

const get = (shown: State): Action => ({ kind: 'get', shown });
const put = (value: string, answer: 'done' | 'refused' | 'unknown' = 'done', condition?: Condition): Action => ({
  kind: 'put',
  value,
  answer,
  condition: condition ?? { kind: 'none' },
});
const ifAbsent: Condition = { kind: 'absent' };
const ifHolds = (value: string): Condition => ({ kind: 'holds', value });
const remove = (answer: 'done' | 'unknown' = 'done'): Action => ({ kind: 'delete', answer });

/** Each line is a call: where it begins, where its answer comes, what it is. */
function history(...calls: readonly (readonly [number, number, Action])[]): Operation[] {
  return calls.map(([called, answered, action], client) => ({ client, key: 'key', called, answered, action }));
}
const isExplained = (operations: readonly Operation[]) => checkHistory(operations).length === 0;

describe('a history is linearizable', () => {
  it.each([
    ['that is sequential', history([1, 2, put('a')], [3, 4, get('a')], [5, 6, remove()], [7, 8, get(undefined)])],
    ['when a read during a write shows the old', history([1, 4, put('a')], [2, 3, get(undefined)])],
    ['when a read during a write shows the new', history([1, 4, put('a')], [2, 3, get('a')])],
    [
      'when two writes at once end either way',
      history([1, 4, put('a')], [2, 3, put('b')], [5, 6, get('a')], [7, 8, get('a')]),
    ],
    [
      'when one of two writes of an absent key is refused',
      history([1, 4, put('a', 'refused', ifAbsent)], [2, 3, put('b')]),
    ],
    [
      'when an unknown write shows late',
      history([1, 2, put('a')], [3, 3, put('u', 'unknown')], [4, 5, get('a')], [6, 7, get('u')]),
    ],
    ['when an unknown write never shows', history([1, 2, put('a')], [3, 3, put('u', 'unknown')], [4, 5, get('a')])],
    [
      'when an unknown deletion lets a conditional write pass',
      history([1, 2, put('a')], [3, 3, remove('unknown')], [4, 5, put('b', 'done', ifAbsent)], [6, 7, get('b')]),
    ],
    [
      'when a conditional write meets what it expects',
      history([1, 2, put('a')], [3, 4, put('b', 'done', ifHolds('a'))], [5, 6, put('c', 'refused', ifHolds('a'))]),
    ],
  ])('%s', (_what, operations) => {
    expect(checkHistory(operations).map(describeViolation)).toEqual([]);
  });
});

describe('a violation is found', () => {
  it.each([
    ['a lost write', history([1, 2, put('a')], [3, 4, get(undefined)])],
    ['a stale read', history([1, 2, put('a')], [3, 4, put('b')], [5, 6, get('a')])],
    ['a read from nowhere', history([1, 2, put('a')], [3, 4, get('x')])],
    ['a read that goes back in time', history([1, 8, put('a')], [2, 3, get('a')], [4, 5, get(undefined)])],
    [
      'two readers who disagree on the order',
      history([1, 2, put('a')], [3, 4, put('b')], [5, 6, get('b')], [7, 8, get('a')]),
    ],
    [
      'two conditional writes that both found nothing',
      history([1, 4, put('a', 'done', ifAbsent)], [2, 3, put('b', 'done', ifAbsent)]),
    ],
    [
      'two writes that replaced the same value',
      history([1, 2, put('a')], [3, 6, put('b', 'done', ifHolds('a'))], [4, 5, put('c', 'done', ifHolds('a'))]),
    ],
    ['a refusal without a reason', history([1, 2, put('a', 'refused', ifAbsent)])],
    ['a deletion that was undone', history([1, 2, put('a')], [3, 4, remove()], [5, 6, get('a')])],
    [
      'an unknown write that shows twice with another between',
      history([1, 1, put('u', 'unknown')], [2, 3, get('u')], [4, 5, put('a')], [6, 7, get('a')], [8, 9, get('u')]),
    ],
    ['an unknown write that shows before it was asked for', history([1, 2, get('u')], [3, 3, put('u', 'unknown')])],
  ])('%s', (_what, operations) => {
    expect(isExplained(operations)).toBe(false);
  });

  it('with the key, the answer and what the key could hold', () => {
    const [violation] = checkHistory(history([1, 2, put('a')], [3, 4, get('x')]));
    expect(violation).toMatchObject({ key: 'key', operation: { client: 1 }, couldHold: ['a'] });
  });
});

/** A client's wishes; the answers come from a register in which each takes effect at a moment between call and answer. */
const wishes = fc.array(
  fc.record({
    client: fc.nat({ max: 3 }),
    wish: fc.constantFrom('get', 'put', 'absent', 'holds', 'delete'),
    lasts: fc.nat({ max: 6 }),
    takesEffect: fc.nat({ max: 6 }),
    lost: fc.nat({ max: 9 }),
  }),
  { maxLength: 14 },
);

/** What a register that is right answers, in an order that overlaps at random. */
function trueHistory(
  plan: readonly { client: number; wish: string; lasts: number; takesEffect: number; lost: number }[],
): Operation[] {
  const free = new Map<number, number>();
  const moments = plan.map(({ client, lasts, takesEffect }, index) => {
    const called = Math.max(free.get(client) ?? 0, index * 10) + 1;
    const answered = called + lasts * 10 + 8;
    free.set(client, answered);
    const effective = called + 1 + (takesEffect * (answered - called - 2)) / 6;
    // No two moments are the same: the checker would take the one for the earlier, trying every order for neither.
    return {
      index,
      called: called * 100 + index,
      answered: answered * 100 + index,
      effective: effective * 100 + index,
    };
  });
  let state: State;
  let last = 'none yet';
  const operations: Operation[] = [];
  for (const { index, called, answered, effective } of moments.toSorted((a, b) => a.effective - b.effective)) {
    const { client, wish, lost } = plan[index] ?? { client: 0, wish: 'get', lost: 9 };
    const unknown = lost === 0;
    const value = `value ${index} at ${effective}`;
    const condition: Condition = wish === 'absent' ? ifAbsent : wish === 'holds' ? ifHolds(last) : { kind: 'none' };
    const wished: Action = wish === 'get' ? get(state) : wish === 'delete' ? remove() : put(value, 'done', condition);
    const after = effect(wished, state);
    let action = wished;
    if (after === 'impossible') action = put(value, 'refused', condition);
    else state = after.state;
    if (state !== undefined) last = state;
    if (unknown && action.kind !== 'get') action = { ...action, answer: 'unknown' };
    operations.push({ client, key: 'key', called, answered, action });
  }
  return operations;
}

/** The definition itself: tries every order. */
function hasOrder(operations: readonly Operation[], state?: State): boolean {
  const known = operations.filter(({ action }) => action.kind === 'get' || action.answer !== 'unknown');
  if (known.length === 0) return true;
  const earliest = Math.min(...known.map(({ answered }) => answered));
  return operations.some((first) => {
    if (first.called > earliest) return false;
    const after = effect(first.action, state);
    return (
      after !== 'impossible' &&
      hasOrder(
        operations.filter((operation) => operation !== first),
        after.state,
      )
    );
  });
}

describe('over random histories', () => {
  it('finds an order of every one that a register made', () => {
    fc.assert(fc.property(wishes, (plan) => isExplained(trueHistory(plan))));
  });

  it('agrees with trying every order, also where answers were exchanged', () => {
    let wrong = 0;
    fc.assert(
      fc.property(
        wishes.filter((plan) => plan.length <= 8),
        fc.nat(),
        fc.nat(),
        (plan, left, right) => {
          const operations = trueHistory(plan);
          const gets = operations.flatMap(({ action }, index) =>
            action.kind === 'get' ? [{ index, shown: action.shown }] : [],
          );
          const first = gets[left % gets.length];
          // The exchange of two equal answers would change nothing.
          const others = gets.filter(({ shown }) => shown !== first?.shown);
          const second = others[right % others.length];
          const [one, other] = [operations[first?.index ?? -1], operations[second?.index ?? -1]];
          const swapped = operations.map((operation) => {
            if (operation === one && other !== undefined) return { ...operation, action: other.action };
            if (operation === other && one !== undefined) return { ...operation, action: one.action };
            return operation;
          });
          const expected = hasOrder(swapped);
          if (!expected) wrong += 1;
          return isExplained(swapped) === expected;
        },
      ),
      { numRuns: 2_000 },
    );
    // Otherwise nothing would have been compared. Of the 200 runs of npm test, 15 are wrong on average.
    expect(wrong).toBeGreaterThan(0);
  });
});
