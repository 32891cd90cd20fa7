import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, type DecisionInput } from './decide.ts';
import { evaluate, type NamedPolicy } from './evaluate.ts';
import { explain } from './explain.ts';
import type { Explanation } from './explanation.ts';
import { parsePolicyDocument } from './parse-policy.ts';
import { request, statement, statements } from '../../test/support/policy/policy-arbitraries.ts';
import { serializePolicy } from './document.ts';
import type { WrittenStatement } from '../../test/support/policy/policy-cases.ts';

const runs = { numRuns: 300 };

function policy(name: string, written: readonly WrittenStatement[]): NamedPolicy {
  return { name, document: parsePolicyDocument({ Statement: written }) };
}

/** Statements of an identity, of a bucket, of boundaries. */
const input = fc
  .record({
    identity: fc.array(statements(), { maxLength: 2 }),
    bucket: fc.option(statements(), { nil: undefined }),
    boundaries: fc.array(statements(), { maxLength: 2 }),
    allowedByDefault: fc.constantFrom(false, false, true),
    request: request(),
  })
  .map((one): DecisionInput => ({
    ...one,
    identity: one.identity.map((written, index) => policy(`i${index}`, written)),
    bucket: one.bucket === undefined ? undefined : policy('b', one.bucket),
    boundaries: one.boundaries.map((written, index) => policy(`s${index}`, written)),
  }));

/** What an explanation's statements come to, by the rule alone. */
function combined({ policies }: Explanation, allowedByDefault: boolean): 'allow' | 'deny' {
  const applied = (source: string, effect: string) =>
    policies
      .filter((one) => source.includes(one.source))
      .some((one) => one.statements.some((s) => s.applied && s.effect === effect));
  if (applied('identity bucket boundary', 'Deny')) return 'deny';
  if (!applied('identity bucket', 'Allow') && !allowedByDefault) return 'deny';
  const within = policies.filter(({ source }) => source === 'boundary').every((one) => one.effect === 'allow');
  return within ? 'allow' : 'deny';
}

describe('whatever the policies', () => {
  it('a Deny that applies always wins', () => {
    fc.assert(
      fc.property(
        input,
        statement(fc.constant('Deny')),
        fc.constantFrom('identity', 'bucket', 'boundaries'),
        (before, added, where) => {
          const deny = policy('deny', [added]);
          const after: DecisionInput = {
            ...before,
            ...(where === 'bucket' ? { bucket: deny } : { [where]: [...(before[where as 'identity'] ?? []), deny] }),
          };
          fc.pre(evaluate([deny], before.request).effect === 'deny');
          expect(decide(after).effect).toBe('deny');
        },
      ),
      runs,
    );
  });

  it('adding an Allow never removes a permission', () => {
    fc.assert(
      fc.property(input, statement(fc.constant('Allow')), (before, added) => {
        fc.pre(decide(before).effect === 'allow');
        expect(decide({ ...before, identity: [...before.identity, policy('more', [added])] }).effect).toBe('allow');
      }),
      runs,
    );
  });

  it('adding a Deny never adds a permission', () => {
    fc.assert(
      fc.property(input, statement(fc.constant('Deny')), (before, added) => {
        fc.pre(decide(before).effect === 'deny');
        expect(decide({ ...before, identity: [...before.identity, policy('less', [added])] }).effect).toBe('deny');
      }),
      runs,
    );
  });

  it('adding a boundary never adds a permission', () => {
    fc.assert(
      fc.property(input, statements(), (before, added) => {
        fc.pre(decide(before).effect === 'deny');
        const boundaries = [...(before.boundaries ?? []), policy('narrower', added)];
        expect(decide({ ...before, boundaries }).effect).toBe('deny');
      }),
      runs,
    );
  });

  it('the order of statements and policies does not matter', () => {
    fc.assert(
      fc.property(input, (one) => {
        const reversed = one.identity.toReversed().map(({ name, document }) => ({
          name,
          document: { ...document, statements: document.statements.toReversed() },
        }));
        expect(decide({ ...one, identity: reversed }).effect).toBe(decide(one).effect);
      }),
      runs,
    );
  });

  it('the explanation agrees with the decision', () => {
    fc.assert(
      fc.property(input, (one) => {
        const explanation = explain(one);
        expect(explanation).toMatchObject({ ...decide(one) });
        expect(combined(explanation, one.allowedByDefault ?? false)).toBe(explanation.effect);
        for (const { source, policy: name, statement: label } of explanation.statements) {
          const explained = explanation.policies.filter((entry) => entry.source === source && entry.policy === name);
          expect(explained.some((entry) => entry.statements.some((s) => s.statement === label && s.applied))).toBe(
            true,
          );
        }
      }),
      runs,
    );
  });

  it('a statement either applies or has a mismatch, never both', () => {
    fc.assert(
      fc.property(input, (one) => {
        for (const { statements: explained } of explain(one).policies) {
          for (const { applied, mismatch } of explained) expect(applied).toBe(mismatch === undefined);
        }
      }),
      runs,
    );
  });

  it('a document that was serialised decides the same', () => {
    fc.assert(
      fc.property(statements(), request(), (written, asked) => {
        const first = policy('p', written);
        const again = { name: 'p', document: parsePolicyDocument(serializePolicy(first.document)) };
        expect(evaluate([again], asked)).toEqual(evaluate([first], asked));
      }),
      runs,
    );
  });
});
