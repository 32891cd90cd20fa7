import { describe, expect, it } from 'vitest';
import type { FinishedRequest } from '../../http/contract/request.ts';
import type { FederatedSubject, Subject } from '../../auth/identities/subject.ts';
import { auditEntry } from './audit-entry.ts';

/** A text as Node reads it from a header. */
const bytes = (text: string) => Buffer.from(text).toString('latin1');
const origin = { deploymentId: 'D-1', rootUser: 'root' };

const read: FinishedRequest = {
  request: {
    requestId: '0123456789ABCDEF',
    method: 'GET',
    rawPath: '/photos/a.jpg',
    rawQuery: 'versionId=7',
    headers: {
      host: 'coffer:9000',
      'user-agent': 'mc',
      authorization: 'AWS4-HMAC-SHA256 Credential=ROOT/x, Signature=abc',
    },
    remoteAddress: '10.0.0.7',
    secure: true,
  },
  api: 's3',
  operation: 'GetObject',
  bucket: 'photos',
  key: 'a.jpg',
  principal: { kind: 'root', accessKey: 'root' },
  decisions: [
    {
      action: 's3:GetObject',
      resource: 'photos/a.jpg',
      decision: { kind: 'allow', reason: 'root may do everything' },
    },
  ],
  decisionsLeftOut: 0,
  status: 200,
  outcome: 'answered',
  responseHeaders: ['content-type', 'image/jpeg'],
  startedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  firstByteMs: 1.5,
  ms: 2.25,
  received: 300,
  sent: 4_000,
};

const person: FederatedSubject = {
  kind: 'federated',
  source: 'openid',
  provider: 'PRIMARY',
  parent: 'hash-of-person',
  displayName: 'ada',
  subjectId: 'sub-1',
  policies: ['readers'],
  targets: [],
  claims: { email: 'ada@example.org', nonce_token: 'secret-token' },
};
const temporary = {
  kind: 'temporary',
  accessKey: 'TEMP1',
  subject: person,
  expiration: new Date(Date.UTC(2026, 0, 2)),
} as const;

function grantOf(subject: Subject) {
  const principal = { ...temporary, subject, sessionPolicy: { version: '2012-10-17', statements: [] } as const };
  return auditEntry({ ...read, api: 'sts', granted: { principal, policies: [] } }, origin).granted;
}

describe('an audit entry', () => {
  it.each([
    ['of a plain object', {}, true],
    ['of an encrypted object', { responseHeaders: ['x-amz-server-side-encryption', 'AES256'] }, false],
    ['of a refusal, which does not tell', { status: 412 }, false],
    ['of a copy, whose source may be encrypted', { operation: 'CopyObject' }, false],
    ['of a removal, whose answer does not tell', { operation: 'DeleteObject', status: 204 }, false],
    ['of an upload that is completed while its answer is sent', { operation: 'CompleteMultipartUpload' }, false],
  ] as const)('has digests of bodies where nothing is encrypted: %s', (_, more, shown) => {
    const etag = '"81dc9bdb52d04dc20036dbd8313ed055"';
    const headers = { ...read.request.headers, 'content-md5': 'gdyb21LQTcIANtvYMT7QVQ==' };
    const responseHeaders = ['etag', etag, ...('responseHeaders' in more ? more.responseHeaders : [])];
    const entry = auditEntry({ ...read, ...more, request: { ...read.request, headers }, responseHeaders }, origin);
    expect(entry.responseHeader['Etag'] === etag).toBe(shown);
    expect(entry.requestHeader['Content-Md5'] === headers['content-md5']).toBe(shown);
  });

  it.each([
    [{ authorization: 'AWS4-HMAC-SHA256 Credential=a' }, '', { version: 'SigV4', method: 'AuthHeader' }],
    [{ authorization: 'AWS ann:c2ln' }, '', { version: 'SigV2', method: 'AuthHeader' }],
    [{}, 'X-Amz-Signature=a', { version: 'SigV4', method: 'QueryString' }],
    [{}, 'AWSAccessKeyId=ann&Expires=1&Signature=c2ln', { version: 'SigV2', method: 'QueryString' }],
    [{ authorization: 'Bearer abc' }, '', undefined],
    [{}, 'prefix=a', undefined],
  ])('says how a request with %j and %j is signed, and whether that was verified', (headers, rawQuery, signature) => {
    const { principal: _, ...rejected } = read;
    const request = { ...read.request, headers, rawQuery };
    const entry = auditEntry({ ...rejected, request }, origin);
    expect(entry.signature).toEqual(signature && { ...signature, claimed: true });
    expect(auditEntry({ ...read, request }, origin).signature).toEqual(signature);
    expect(auditEntry({ ...read, principal: { kind: 'anonymous' }, request }, origin).signature).toBeUndefined();
    expect(JSON.stringify(entry)).not.toContain('c2ln');
    if (JSON.stringify([headers, rawQuery]).includes('ann')) expect(entry.tags).toEqual({ claimedAccessKey: 'ann' });
  });

  it('has the form of MinIO, version 1, and which statement decided', () => {
    expect(auditEntry(read, origin)).toEqual({
      version: '1',
      deploymentid: 'D-1',
      time: '2026-01-02T03:04:05.678Z',
      event: '',
      trigger: 'incoming',
      api: {
        name: 'GetObject',
        bucket: 'photos',
        object: 'a.jpg',
        status: 'OK',
        statusCode: 200,
        rx: 300,
        tx: 4_000,
        timeToFirstByte: '1500000ns',
        timeToFirstByteInNS: '1500000',
        timeToResponse: '2250000ns',
        timeToResponseInNS: '2250000',
      },
      remotehost: '10.0.0.7',
      requestID: '0123456789ABCDEF',
      userAgent: 'mc',
      requestPath: '/photos/a.jpg',
      requestHost: 'coffer:9000',
      requestQuery: { versionId: '7' },
      requestHeader: { 'User-Agent': 'mc', Authorization: '*REDACTED*' },
      responseHeader: { 'Content-Type': 'image/jpeg' },
      accessKey: 'root',
      signature: { version: 'SigV4', method: 'AuthHeader' },
      identity: { kind: 'root', name: 'root' },
      decisions: [
        { action: 's3:GetObject', resource: 'photos/a.jpg', effect: 'allow', reason: 'root may do everything' },
      ],
    });
  });

  it('has headers in UTF-8 as text, and no program where the client named none', () => {
    const headers = { host: 'coffer:9000', 'x-amz-meta-name': bytes('Grüße 日本'), 'x-amz-meta-latin': '\xfc' };
    const withHeaders = (more: object) =>
      auditEntry({ ...read, request: { ...read.request, headers: { ...headers, ...more } } }, origin);
    expect(withHeaders({ 'user-agent': bytes('Käfer/1') })).toMatchObject({
      userAgent: 'Käfer/1',
      requestHeader: { 'User-Agent': 'Käfer/1', 'X-Amz-Meta-Name': 'Grüße 日本', 'X-Amz-Meta-Latin': 'ü' },
    });
    expect(withHeaders({})).not.toHaveProperty('userAgent');
  });

  it('names operations as MinIO does', () => {
    expect(auditEntry({ ...read, operation: 'CreateMultipartUpload' }, origin).api.name).toBe('NewMultipartUpload');
  });

  it('says whose credentials were used, and the claims of the provider, without secrets', () => {
    const entry = auditEntry({ ...read, principal: temporary }, origin);
    expect(entry).toMatchObject({
      accessKey: 'TEMP1',
      parentUser: 'hash-of-person',
      requestClaims: { email: 'ada@example.org', parent: 'hash-of-person', nonce_token: '*REDACTED*' },
      identity: { kind: 'temporary', name: 'ada', provider: 'PRIMARY', source: 'openid', policies: ['readers'] },
    });
  });

  it('names the user behind a service account', () => {
    const principal = { kind: 'service-account', accessKey: 'SVC1', subject: { kind: 'user', name: 'bob' } } as const;
    expect(auditEntry({ ...read, principal }, origin)).toMatchObject({ accessKey: 'SVC1', parentUser: 'bob' });
  });

  it('says which credentials STS made, for whom, what they may do and how long', () => {
    const made = { principal: temporary, policies: ['readers', 'attached'], roleArn: 'arn:minio:iam:::role/x' };
    const { granted } = auditEntry({ ...read, api: 'sts', granted: made, principal: undefined }, origin);
    expect(granted).toEqual({
      kind: 'temporary',
      accessKey: 'TEMP1',
      parentUser: 'hash-of-person',
      name: 'ada',
      provider: 'PRIMARY',
      source: 'openid',
      policies: ['readers', 'attached'],
      narrowed: false,
      roleArn: 'arn:minio:iam:::role/x',
      expiration: '2026-01-02T00:00:00.000Z',
    });
  });

  it('names the user, or root, for whom STS made credentials, and that a policy narrows them', () => {
    expect(grantOf({ kind: 'user', name: 'bob' })).toMatchObject({ parentUser: 'bob', name: 'bob', narrowed: true });
    expect(grantOf({ kind: 'root' })).toMatchObject({ parentUser: 'root', name: 'root', policies: [] });
  });

  it('says who asked STS for credentials, and by which claims, without secrets', () => {
    const bearer = {
      source: 'openid',
      provider: 'PRIMARY',
      issuer: 'https://idp.example.org',
      subject: 'sub-1',
      name: 'ada',
      claims: { policy: ['gone'], api_token: 'hidden' },
    } as const;
    const entry = auditEntry({ ...read, api: 'sts', bearer, principal: undefined }, origin);
    expect(entry.bearer).toEqual({
      source: 'openid',
      provider: 'PRIMARY',
      issuer: 'https://idp.example.org',
      subject: 'sub-1',
      name: 'ada',
    });
    expect(entry.requestClaims).toEqual({ policy: ['gone'], api_token: '*REDACTED*' });
  });

  it('says the claimed identity of a wrong signature, and that no user was found', () => {
    const entry = auditEntry(
      {
        ...read,
        principal: undefined,
        decisions: [],
        status: 403,
        refusal: { code: 'SignatureDoesNotMatch', message: 'm' },
      },
      origin,
    );
    expect(entry).toMatchObject({ error: 'SignatureDoesNotMatch: m', tags: { claimedAccessKey: 'ROOT' } });
    expect(entry).not.toHaveProperty('accessKey');
    expect(entry).not.toHaveProperty('decisions');
  });

  it('finds that in a presigned address too', () => {
    const request = { ...read.request, headers: {}, rawQuery: 'X-Amz-Credential=AKIAX%2F20260101%2Fus-east-1' };
    expect(auditEntry({ ...read, request, principal: undefined }, origin).tags).toEqual({ claimedAccessKey: 'AKIAX' });
  });

  it('says that the client went away', () => {
    const entry = auditEntry({ ...read, outcome: 'canceled', status: 0 }, origin);
    expect(entry).toMatchObject({
      api: { statusCode: 499, status: 'Client Closed Request' },
      tags: { outcome: 'canceled' },
    });
  });

  it('says that decisions are left out', () => {
    expect(auditEntry({ ...read, decisionsLeftOut: 12 }, origin).tags).toEqual({ decisionsLeftOut: 12 });
  });

  it('says that an open page of the console repeated a read', () => {
    expect(auditEntry({ ...read, refresh: true }, origin).tags).toEqual({ refresh: true });
  });
});
