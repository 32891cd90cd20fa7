import { describe, expect, it } from 'vitest';
import { couldAllow } from '../../../protocol/policy/could-allow.ts';
import { evaluate } from '../../../protocol/policy/evaluate.ts';
import { parsePolicyDocument } from '../../../protocol/policy/parse-policy.ts';
import { testCalls } from '../../../test/support/s3-api/s3-calls.ts';

const located = (location: string) =>
  `<CreateBucketConfiguration><LocationConstraint>${location}</LocationConstraint></CreateBucketConfiguration>`;

/** Creates a bucket as a user whose policy has this statement. The store is in us-east-1. */
async function creatingWith(more: Record<string, unknown>, body?: string) {
  const statement = { Effect: 'Allow', Action: 's3:CreateBucket', Resource: 'arn:aws:s3:::*', ...more };
  let decisions = 0;
  const document = parsePolicyDocument(JSON.stringify({ Version: '2012-10-17', Statement: [statement] }));
  const { call } = await testCalls({
    authorize: ({ action, resource, context, unknown }) => {
      decisions += 1;
      const request = { action, resource, context, variables: {}, principals: [] };
      const identity = [{ name: 'p', document }];
      return unknown === undefined
        ? evaluate(identity, request).effect === 'allow'
        : couldAllow({ identity, request }, unknown);
    },
  });
  const { status, code } = await call('PUT', '/made', body === undefined ? {} : { body });
  return { outcome: code ?? status, decisions };
}

async function creating(condition: Record<string, Record<string, string>>, body?: string) {
  return (await creatingWith({ Condition: condition }, body)).outcome;
}

describe('a policy about where buckets are made', () => {
  const here = { StringEquals: { 's3:LocationConstraint': 'us-east-1' } };
  const elsewhere = { StringEquals: { 's3:LocationConstraint': 'eu-central-1' } };

  it.each([
    ['the store without a body', here, undefined, 200],
    ['the region that the body names', here, located('us-east-1'), 200],
    ['another region', elsewhere, undefined, 'AccessDenied'],
    ['another region than the body names', elsewhere, located('us-east-1'), 'AccessDenied'],
    ['a region that the body names, to a store without a region', elsewhere, located('eu-central-1'), 200],
    ['any region, with a body that is none', {}, '<x', 'MalformedXML'],
    ['another region, with a body that is none', elsewhere, '<x', 'AccessDenied'],
  ])('that allows %s', async (_, condition, body, outcome) => {
    expect(await creating(condition, body)).toBe(outcome);
  });

  it('is refused before the body is read where the policy is about objects alone', async () => {
    const created = creatingWith({ Resource: 'arn:aws:s3:::made/object*' }, located('us-east-1'));
    expect(await created).toEqual({ outcome: 'AccessDenied', decisions: 1 });
  });
});
