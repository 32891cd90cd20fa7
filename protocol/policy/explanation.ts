import type { PolicyDecision, PolicySource } from './decision.ts';

/** A decision with all that led to it: plain data for the admin API, the client and the console. */
export interface Explanation extends PolicyDecision {
  readonly action: string;
  /** `''` where the action has none. */
  readonly resource: string;
  readonly policies: readonly PolicyExplanation[];
}

export interface PolicyExplanation {
  readonly source: PolicySource;
  readonly policy: string;
  /** What this policy alone says: a Deny outweighs its Allows. */
  readonly effect: 'allow' | 'deny' | 'none';
  readonly statements: readonly StatementExplanation[];
}

export interface StatementExplanation {
  /** Its Sid, or its position as `#1`. */
  readonly statement: string;
  readonly effect: 'Allow' | 'Deny';
  readonly applied: boolean;
  /** The first element that did not fit; absent where the statement applied. */
  readonly mismatch?: Mismatch;
}

/** `expected` is what the policy says, `actual` what the request brought. */
export type Mismatch =
  | { readonly element: 'Principal'; readonly expected: readonly string[]; readonly actual: readonly string[] }
  | { readonly element: 'Action' | 'NotAction'; readonly expected: readonly string[]; readonly actual: string }
  | {
      readonly element: 'Resource' | 'NotResource';
      readonly expected: readonly string[];
      readonly actual: string;
      /** Names of variables that stand for nothing in this request. */
      readonly unresolved?: readonly string[];
    }
  | {
      readonly element: 'Condition';
      /** e.g. `ForAnyValue:StringLike`. */
      readonly operator: string;
      readonly key: string;
      readonly expected: readonly string[];
      /** Absent where the request lacks the key. */
      readonly actual?: readonly string[];
      readonly unresolved?: readonly string[];
      /** Values of the request that are not what the operator compares, such as a word where it compares numbers. */
      readonly unreadable?: readonly string[];
    };
