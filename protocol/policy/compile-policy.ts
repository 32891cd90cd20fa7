import { compileCondition, type CompiledCondition } from './compile-condition.ts';
import type { PolicyDocument, PolicyStatement } from './document.ts';
import { principalMatcher, type PrincipalMatcher } from './principals.ts';
import { kmsArn, s3Arn } from './resource-arn.ts';
import { textMatcher, type TextMatcher } from './text-matcher.ts';
import { valueMatcher, type ValueMatcher } from './value-matcher.ts';

/** A document with every pattern taken apart. */
export interface CompiledPolicy {
  readonly statements: readonly CompiledStatement[];
}

export interface CompiledStatement {
  readonly source: PolicyStatement;
  /** Its Sid, or its position as `#1`. */
  readonly label: string;
  readonly principals: readonly PrincipalMatcher[] | undefined;
  readonly actions: readonly CompiledAction[];
  readonly resources: readonly CompiledResource[] | undefined;
  readonly conditions: readonly CompiledCondition[];
}

export interface CompiledAction {
  readonly matcher: TextMatcher;
  /** Written with its service, as `admin:*` is and `*` is not. */
  readonly namesService: boolean;
}

export interface CompiledResource {
  /** What it may name: buckets and objects, keys of the key service, or all. */
  readonly of: 's3' | 'kms' | 'all';
  readonly value: ValueMatcher;
}

const compiled = new WeakMap<PolicyDocument, CompiledPolicy>();

/** Once for each document, which never changes: who keeps the document keeps this too. */
export function compilePolicy(document: PolicyDocument): CompiledPolicy {
  const known = compiled.get(document);
  if (known !== undefined) return known;
  // Documents of 2008 know no variables: there `${aws:username}` is plain text.
  const variables = document.version !== '2008-10-17';
  const policy = {
    statements: document.statements.map((statement, index) => compileStatement(statement, index, variables)),
  };
  compiled.set(document, policy);
  return policy;
}

function compileStatement(source: PolicyStatement, index: number, variables: boolean): CompiledStatement {
  return {
    source,
    label: source.sid ?? `#${index + 1}`,
    principals: source.principals?.map(principalMatcher),
    actions: source.actions.patterns.map((pattern) => ({
      matcher: textMatcher(pattern.toLowerCase()),
      namesService: pattern.includes(':'),
    })),
    resources: source.resources?.patterns.map((pattern) => compileResource(pattern, variables)),
    conditions: source.conditions.map((condition) => compileCondition(condition, variables)),
  };
}

function compileResource(pattern: string, variables: boolean): CompiledResource {
  const value = (text: string): ValueMatcher => valueMatcher(text, { variables, wildcards: true });
  if (pattern.startsWith(kmsArn)) return { of: 'kms', value: value(pattern.slice(kmsArn.length)) };
  const bare = pattern.startsWith(s3Arn) ? pattern.slice(s3Arn.length) : pattern;
  // MinIO's own policies write arn:aws:s3:::* where they mean everything.
  return { of: bare === '*' ? 'all' : 's3', value: value(bare) };
}
