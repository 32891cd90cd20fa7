import type { PolicyDecision, PolicySource } from './decide.ts';

/** A decision with the result of each statement: plain data for the admin API, the client and the console. */
export interface Explanation extends PolicyDecision {
  readonly action: string;
  /** `''` if the action has no resource. */
  readonly resource: string;
  readonly policies: readonly PolicyExplanation[];
}

export interface PolicyExplanation {
  readonly source: PolicySource;
  readonly policy: string;
  /** The effect of this policy alone: a Deny outweighs its Allows. */
  readonly effect: 'allow' | 'deny' | 'none';
  readonly statements: readonly StatementExplanation[];
}

export interface StatementExplanation {
  /** Its Sid, or its position as `#1`. */
  readonly statement: string;
  readonly effect: 'Allow' | 'Deny';
  readonly applied: boolean;
  /** The first element that did not match. Absent if the statement applied. */
  readonly mismatch?: Mismatch;
}

/** `expected` is the value of the policy, `actual` the value of the request. */
export type Mismatch =
  | { readonly element: 'Principal'; readonly expected: readonly string[]; readonly actual: readonly string[] }
  | { readonly element: 'Action' | 'NotAction'; readonly expected: readonly string[]; readonly actual: string }
  | {
      readonly element: 'Resource' | 'NotResource';
      readonly expected: readonly string[];
      readonly actual: string;
      /** The variables that have no value in this request. */
      readonly unresolved?: readonly string[];
    }
  | {
      readonly element: 'Condition';
      /** e.g. `ForAnyValue:StringLike`. */
      readonly operator: string;
      readonly key: string;
      readonly expected: readonly string[];
      /** Absent if the request lacks the key. */
      readonly actual?: readonly string[];
      readonly unresolved?: readonly string[];
      /** The values of the request that the operator cannot read, such as a word where it compares numbers. */
      readonly unreadable?: readonly string[];
    };

/** Writes an explanation for a terminal: the decision, the reason, and the first mismatch of each statement. */
export function renderExplanation(explanation: Explanation): string {
  const { effect, action, resource, reason, policies } = explanation;
  const verdict = `${effect === 'allow' ? 'ALLOWED' : 'DENIED'}  ${action}${resource === '' ? '' : ` on "${resource}"`}`;
  return [verdict, `Because ${reason}.`, ...policies.flatMap(renderPolicy), ''].join('\n');
}

const sources: Readonly<Record<PolicyExplanation['source'], string>> = {
  identity: 'Policy',
  bucket: 'Bucket policy',
  boundary: 'Boundary',
};

const says: Readonly<Record<PolicyExplanation['effect'], string>> = {
  allow: 'allows',
  deny: 'denies',
  none: 'says nothing',
};

function renderPolicy({ source, policy, effect, statements }: PolicyExplanation): string[] {
  return ['', `${sources[source]} "${policy}" ${says[effect]}`, ...statements.map(renderStatement)];
}

function renderStatement({ statement, effect, mismatch }: StatementExplanation): string {
  if (mismatch === undefined) return `  + ${statement} ${effect}: applies`;
  return `  - ${statement} ${effect}: ${describeMismatch(mismatch)}`;
}

/** Says in one line why a statement does not apply. */
export function describeMismatch(mismatch: Mismatch): string {
  switch (mismatch.element) {
    case 'Principal':
      return mismatch.actual.length === 0
        ? `Principal is ${list(mismatch.expected)}, and the request has no credentials`
        : `Principal is ${list(mismatch.expected)}, not ${list(mismatch.actual)}`;
    case 'Action':
      return `Action is ${list(mismatch.expected)}, not ${mismatch.actual}`;
    case 'NotAction':
      return `NotAction excludes ${mismatch.actual}: ${list(mismatch.expected)}`;
    case 'Resource':
      return `Resource is ${list(mismatch.expected)}, not "${mismatch.actual}"${unresolved(mismatch)}`;
    case 'NotResource':
      return `NotResource excludes "${mismatch.actual}": ${list(mismatch.expected)}${unresolved(mismatch)}`;
    case 'Condition':
      return describeCondition(mismatch);
  }
}

function describeCondition(mismatch: Extract<Mismatch, { element: 'Condition' }>): string {
  const { operator, key, expected, actual, unreadable } = mismatch;
  const found = actual === undefined ? 'the request has no such key' : `the request has ${list(actual)}`;
  const nonsense = unreadable === undefined ? '' : `, of which ${list(unreadable)} cannot be compared`;
  return `Condition ${operator} ${key} wants ${list(expected)}; ${found}${nonsense}${unresolved(mismatch)}`;
}

function unresolved({ unresolved: names }: { readonly unresolved?: readonly string[] }): string {
  return names === undefined ? '' : `; nothing is known for ${names.map((name) => `\${${name}}`).join(', ')}`;
}

const maxShown = 10;

function list(values: readonly string[]): string {
  const shown = values
    .slice(0, maxShown)
    .map((value) => JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}…` : value));
  return values.length > maxShown ? `${shown.join(', ')} and ${values.length - maxShown} more` : shown.join(', ');
}
