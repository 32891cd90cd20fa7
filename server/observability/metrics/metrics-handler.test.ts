import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { adminTest } from '../../../test/support/admin/admin.ts';
import type { Access, Decision, StoredCredentials } from '../../auth/principal.ts';
import { whyScrapeDenied } from './metrics-handler.ts';

const now = new Date('2026-01-01T00:00:00Z');
const root: StoredCredentials = {
  accessKey: 'root',
  secretKey: 'root-password',
  principal: { kind: 'root', accessKey: 'root' },
};

function accessOf(credentials: StoredCredentials, decision: Decision['kind'] = 'allow'): Access {
  return {
    credentials: (accessKey) => Promise.resolve(accessKey === credentials.accessKey ? credentials : undefined),
    authorize: ({ action }) =>
      Promise.resolve({ kind: action === 'admin:Prometheus' ? decision : 'deny', reason: 'test' }),
  };
}

interface Token {
  readonly secret?: string;
  readonly issuer?: string;
  readonly subject?: string;
  readonly algorithm?: string;
  readonly expires?: Date;
}

async function bearer({ secret = 'root-password', issuer = 'prometheus', subject = 'root', ...more }: Token = {}) {
  const token = new SignJWT()
    .setProtectedHeader({ alg: more.algorithm ?? 'HS512' })
    .setIssuer(issuer)
    .setSubject(subject);
  if (more.expires !== undefined) token.setExpirationTime(more.expires);
  return `Bearer ${await token.sign(Buffer.from(secret))}`;
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const from = { remoteAddress: '192.0.2.1', secure: false };

describe('the metrics are read', () => {
  it('with a token of the root credentials', async () => {
    const expires = new Date('2126-01-01T00:00:00Z');
    expect(await whyScrapeDenied(await bearer({ expires }), accessOf(root), now, from)).toBeUndefined();
  });
  it('with one that never expires, which the operator makes', async () => {
    expect(await whyScrapeDenied(await bearer(), accessOf(root), now, from)).toBeUndefined();
  });
});

describe('the metrics are not read', () => {
  const rejected: Readonly<Record<string, Token>> = {
    'of another password': { secret: 'another-password' },
    'of a user that does not exist': { subject: 'nobody' },
    'for something else': { issuer: 'other' },
    'signed by a weaker algorithm': { algorithm: 'HS256' },
    'that has expired': { expires: new Date('2025-12-31T23:59:00Z') },
  };
  it.each(Object.entries(rejected))('with a token %s', async (_title, token) => {
    expect(await whyScrapeDenied(await bearer(token), accessOf(root), now, from)).toMatch(
      /^The bearer token is not signed by/,
    );
  });
  it('with an unsigned token', async () => {
    const token = `${part({ alg: 'none' })}.${part({ iss: 'prometheus', sub: 'root' })}.`;
    expect(await whyScrapeDenied(`Bearer ${token}`, accessOf(root), now, from)).toMatch(/not signed/);
  });
  it.each([[undefined], ['Basic cm9vdDpyb290'], ['Bearer ']])('without a token: %s', async (header) => {
    expect(await whyScrapeDenied(header, accessOf(root), now, from)).toMatch(/mc admin prometheus generate/);
  });
  it('with what is no token', async () => {
    expect(await whyScrapeDenied('Bearer abc', accessOf(root), now, from)).toMatch(/no JWT/);
  });
  it('with temporary credentials', async () => {
    expect(await whyScrapeDenied(await bearer(), accessOf({ ...root, sessionToken: 't' }), now, from)).toMatch(
      /not signed/,
    );
  });
  it('by a user whose policies do not allow it', async () => {
    expect(await whyScrapeDenied(await bearer(), accessOf(root, 'deny'), now, from)).toMatch(/admin:Prometheus/);
  });
});

/** Ann and her access key may read the metrics, and the scrape uses a token of one of them. */
async function stageOf(subject: string) {
  const { identities, access } = await adminTest();
  await identities.putUser({ accessKey: 'ann', secretKey: 'ann-password' });
  await identities.createServiceAccount({
    subject: { kind: 'user', name: 'ann' },
    accessKey: 'robot',
    secretKey: 'robot-password',
  });
  const Statement = [{ Effect: 'Allow', Action: 'admin:Prometheus' }];
  await identities.putPolicy('scrape', JSON.stringify({ Version: '2012-10-17', Statement }));
  await identities.attach({ kind: 'user', name: 'ann' }, ['scrape']);
  const token = await bearer({ subject, secret: `${subject}-password` });
  expect(await whyScrapeDenied(token, access, now, from)).toBeUndefined();
  return { identities, whyDenied: () => whyScrapeDenied(token, access, now, from) };
}

describe('a token of a user who reads the metrics', () => {
  it.each(['ann', 'robot'])('is refused by that reason once ann is disabled: %s', async (subject) => {
    const { identities, whyDenied } = await stageOf(subject);
    await identities.putUser({ accessKey: 'ann', status: 'disabled' });
    expect(await whyDenied()).toContain('is of a user who is disabled or removed');
    await identities.putUser({ accessKey: 'ann', status: 'enabled' });
    expect(await whyDenied()).toBeUndefined();
  });

  it('is refused once its access key is disabled', async () => {
    const { identities, whyDenied } = await stageOf('robot');
    await identities.updateServiceAccount('robot', { status: 'disabled' });
    expect(await whyDenied()).toContain('disabled or removed');
  });

  it('is refused once the user is removed', async () => {
    const { identities, whyDenied } = await stageOf('ann');
    await identities.removeUser('ann');
    expect(await whyDenied()).toContain('disabled or removed');
  });
});
