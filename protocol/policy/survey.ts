import { compilePolicy, type CompiledStatement } from './compile-policy.ts';
import type { NamedPolicy } from './evaluate.ts';
import type { PreparedRequest } from './prepared-request.ts';
import { firstMismatch } from './statement-mismatch.ts';

export interface Found {
  readonly policy: NamedPolicy;
  readonly statement: CompiledStatement;
}

/** What policies that stand side by side say: the first statement that denies, and the first that allows. */
export interface Survey {
  readonly deny: Found | undefined;
  readonly allow: Found | undefined;
}

export function survey(policies: readonly NamedPolicy[], request: PreparedRequest): Survey {
  let allow: Found | undefined;
  for (const policy of policies) {
    for (const statement of compilePolicy(policy.document).statements) {
      const denies = statement.source.effect === 'Deny';
      // One Allow is enough; a Deny may still follow.
      if (!denies && allow !== undefined) continue;
      if (firstMismatch(statement, request) !== undefined) continue;
      if (denies) return { deny: { policy, statement }, allow };
      allow = { policy, statement };
    }
  }
  return { deny: undefined, allow };
}
