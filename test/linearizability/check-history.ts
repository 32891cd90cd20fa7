import { effect, isUnknown, onlyLooks, type Operation, type State } from './operation.ts';

export interface Violation {
  readonly key: string;
  /** The call whose answer no order explains. */
  readonly operation: Operation;
  /** What the key could hold just before that answer, and what else was on its way. */
  readonly couldHold: readonly State[];
  readonly onTheirWay: readonly Operation[];
}

/**
 * Whether each key behaved as if its operations had taken effect one after the other, each at a moment between its call and its
 * answer (linearizability). Keys are independent, so each is checked for itself.
 *
 * Wing and Gong's search, taken forward in time as in Lowe's just-in-time linearization: along the history goes the set of all
 * explanations that are still possible; an explanation is what the key holds and which of the calls on their way took effect
 * already. When an answer comes, explanations in which that call can have taken effect remain; none remaining is a violation.
 * Explanations with the same state and the same calls are one (the memory of Wing and Gong's search), so that a million operations
 * of a few clients are a million small steps.
 *
 * @see http://www.cs.ox.ac.uk/people/gavin.lowe/LinearizabiltyTesting/paper.pdf
 */
export function checkHistory(history: readonly Operation[], initially?: State): Violation[] {
  const violations: Violation[] = [];
  for (const [key, operations] of Map.groupBy(history, (operation) => operation.key)) {
    const violation = checkKey(key, operations, initially);
    if (violation !== undefined) violations.push(violation);
  }
  return violations;
}

/** `open`: calls on their way that have taken no effect yet. Unknown ones stay so for ever, or take effect at any later time. */
interface Explanation {
  readonly state: State;
  readonly open: ReadonlySet<Operation>;
}

function checkKey(key: string, operations: readonly Operation[], initially: State): Violation | undefined {
  const numbers = new Map(operations.map((operation, index) => [operation, index]));
  let explanations: Explanation[] = [{ state: initially, open: new Set() }];
  const pending = new Set<Operation>();
  for (const { operation, answered } of inOrder(operations)) {
    if (!answered) {
      pending.add(operation);
      explanations = explanations.map(({ state, open }) => settled(state, new Set(open).add(operation)));
      continue;
    }
    const explained = explanationsOf(operation, explanations, numbers);
    if (explained.length === 0) {
      const couldHold = [...new Set(explanations.map(({ state }) => state))];
      return { key, operation, couldHold, onTheirWay: [...pending] };
    }
    pending.delete(operation);
    explanations = explained;
  }
  return undefined;
}

/** Calls and answers as the clients saw them; an unknown call is never answered. */
function inOrder(operations: readonly Operation[]): { readonly operation: Operation; readonly answered: boolean }[] {
  const events = operations.flatMap((operation) => [
    { at: operation.called, operation, answered: false },
    ...(isUnknown(operation.action) ? [] : [{ at: operation.answered, operation, answered: true }]),
  ]);
  return events.toSorted((left, right) => left.at - right.at);
}

/** Every explanation in which the call has taken effect. */
function explanationsOf(
  operation: Operation,
  before: readonly Explanation[],
  numbers: ReadonlyMap<Operation, number>,
): Explanation[] {
  const seen = new Set<string>();
  const explained: Explanation[] = [];
  const left = [...before];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const name = nameOf(next, numbers);
    if (seen.has(name)) continue;
    seen.add(name);
    if (!next.open.has(operation)) {
      explained.push(next);
      continue;
    }
    for (const other of next.open) {
      const after = effect(other.action, next.state);
      if (after === 'impossible') continue;
      const open = new Set(next.open);
      open.delete(other);
      left.push(settled(after.state, open));
    }
  }
  return withoutWeaker(explained);
}

/** What only looks takes effect as soon as it can: waiting could only make it impossible. */
function settled(state: State, open: Set<Operation>): Explanation {
  for (const operation of open) {
    if (onlyLooks(operation.action) && effect(operation.action, state) !== 'impossible') open.delete(operation);
  }
  return { state, open };
}

/**
 * Leaves out explanations that used up an unknown call where another one comes to the same state without it: the other one may
 * still use it, and need not.
 */
function withoutWeaker(explanations: readonly Explanation[]): Explanation[] {
  const unknown = ({ open }: Explanation) => [...open].filter(({ action }) => isUnknown(action));
  if (explanations.every((explanation) => unknown(explanation).length === 0)) return [...explanations];
  return explanations.filter(
    (one) =>
      !explanations.some(
        (other) =>
          other !== one &&
          other.state === one.state &&
          other.open.size > one.open.size &&
          [...one.open].every((operation) => other.open.has(operation)) &&
          [...other.open].every((operation) => one.open.has(operation) || isUnknown(operation.action)),
      ),
  );
}

function nameOf({ state, open }: Explanation, numbers: ReadonlyMap<Operation, number>): string {
  const calls = [...open].map((operation) => numbers.get(operation) ?? -1).toSorted((left, right) => left - right);
  return `${state ?? ''}/${calls.join()}`;
}

/** A violation as a person reads it. */
export function describeViolation({ key, operation, couldHold, onTheirWay }: Violation): string {
  const holds = couldHold.map((state) => state ?? 'nothing').join(' or ');
  return [
    `${key}: no order explains ${described(operation)}`,
    `  before that answer the key could hold ${holds}`,
    ...onTheirWay.map((other) => `  on its way: ${described(other)}`),
  ].join('\n');
}

function described({ client, called, answered, action }: Operation): string {
  return `client ${client} [${called}, ${answered}] ${JSON.stringify(action)}`;
}
