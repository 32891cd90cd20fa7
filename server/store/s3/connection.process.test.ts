import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../../platform/tls/issue-certificate.ts';
import { createLogger } from '../../../platform/output/logger.ts';
import { from, read, someBlobId } from '../../../test/support/store/blob-store.conformance.ts';
import { openS3BlobStore } from './blob-store.ts';
import { type S3Double, startS3Double } from '../../../test/support/s3/s3-double.ts';

const DAY = 86_400_000;
const log = createLogger({ name: 'test', level: 'silent' });
let folder: string;
let s3: S3Double;
let own: CertificateAndKey;

const path = (name: string) => join(folder, name);
const open = (caFile?: string, endpoint = s3.endpoint) =>
  openS3BlobStore({
    endpoint,
    region: 'us-east-1',
    bucket: 'blobs',
    prefix: '',
    accessKey: 'KEY',
    secretKey: 'the-secret',
    log,
    ...(caFile !== undefined && { caFile }),
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-authorities-'));
  own = await makeCa({ commonName: 'own', validForMs: DAY });
  await writeFile(path('own.pem'), own.certPem);
  await writeFile(path('other.pem'), (await makeCa({ commonName: 'other', validForMs: DAY })).certPem);
  await writeFile(path('empty.pem'), 'nothing\n');
  const { certPem: cert, keyPem: key } = await issueCertificate({
    commonName: 's3',
    ipAddresses: ['127.0.0.1'],
    validForMs: DAY,
    issuer: own,
  });
  s3 = await startS3Double({ cert, key });
});

afterAll(async () => {
  await s3.close();
  await rm(folder, { recursive: true });
});

describe('the certificate of another S3', () => {
  it('is trusted where its authority is named', async () => {
    const store = await open(path('own.pem'));
    const id = someBlobId();
    await store.write(id, from([Buffer.from('bytes')]));
    expect(String(await read(store, id, 0, 5))).toBe('bytes');
  });

  it.each([['other.pem'], [undefined]])(
    'is refused with the authorities of %s, and the setting is named',
    async (name) => {
      await expect(open(name && path(name))).rejects.toThrow(/SVC_STORE_BLOBS_S3_CA_FILE/);
    },
  );

  it.each([
    [
      'has expired',
      { ipAddresses: ['127.0.0.1'], validForMs: 1, now: new Date(Date.now() - DAY) },
      /certificate has expired; have it renewed/,
    ],
    [
      'is for another name',
      { dnsNames: ['elsewhere.example'], validForMs: DAY },
      /certificate is for another host name/,
    ],
  ])('is refused when it %s, and no authority is asked for', async (_, subject, message) => {
    const { certPem: cert, keyPem: key } = await issueCertificate({ commonName: 's3', issuer: own, ...subject });
    const wrong = await startS3Double({ cert, key });
    try {
      const opened = open(path('own.pem'), wrong.endpoint);
      await expect(opened).rejects.toThrow(message);
      await expect(opened).rejects.not.toThrow(/CA_FILE/);
    } finally {
      await wrong.close();
    }
  });

  it.each([
    ['empty.pem', /SVC_STORE_BLOBS_S3_CA_FILE is .*empty\.pem, which cannot be used: it has no certificate \(PEM\)/],
    ['none.pem', /SVC_STORE_BLOBS_S3_CA_FILE is .*none\.pem, which cannot be used: no such file/],
  ])('is not asked for where the authorities of %s cannot be read', async (name, message) => {
    await expect(open(path(name))).rejects.toThrow(message);
  });
});
