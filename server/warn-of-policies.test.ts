import { describe, expect, it } from 'vitest';
import { testIdentities } from './identities/testing.ts';
import { identityKeys } from './identities/identity-keys.ts';
import { testLayer } from '../test/support/objects/test-layer.ts';
import { warnOfPolicies } from './warn-of-policies.ts';

const tagged = (changes: object = {}) =>
  JSON.stringify({
    Version: '2012-10-17',
    Statement: [
      {
        Effect: 'Deny',
        Action: 's3:GetObject',
        Resource: 'arn:aws:s3:::photos/*',
        Condition: { StringEquals: { 's3:ExistingObjectTag/class': 'secret' } },
        ...changes,
      },
    ],
  });

describe('policies that are stored already', () => {
  it('are told to the log where they deny whatever their condition says', async () => {
    const { records, identities } = await testIdentities();
    const { layer: objects } = testLayer();
    await objects.createBucket('photos', { location: '' });
    await objects.createBucket('plain', { location: '' });
    await objects.putBucketPolicy('photos', tagged({ Principal: '*', Sid: 'Tags' }));
    // As an earlier release stored it.
    const policy = { format: 1, name: 'old', document: tagged(), createdAt: 0, updatedAt: 0, earlier: [] };
    await records.commit({
      id: 'b',
      put: [{ key: identityKeys.policy('old'), value: Buffer.from(JSON.stringify(policy)) }],
    });
    const lines: string[] = [];
    await warnOfPolicies({ identities, objects }, { warn: (_, message) => void lines.push(message) });
    expect(lines).toEqual([
      expect.stringMatching(/^policy "old": statement #1 denies whatever.*s3:ExistingObjectTag\/class/),
      expect.stringMatching(/^policy of the bucket photos: statement Tags denies/),
    ]);
  });
});
