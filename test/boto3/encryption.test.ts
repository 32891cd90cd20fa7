import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand, tool } from '../support/process/run-command.ts';
import { startEncryptingServer, type EncryptingServer } from '../support/server/start-encrypting-server.ts';

const python = tool('boto3/bin/python', 'boto3');
const script = fileURLToPath(new URL('encryption.py', import.meta.url));
let running: EncryptingServer;
let outcome: Record<'customer_keys' | 'multipart' | 'service_keys' | 'copies' | 'defaults', Record<string, unknown>>;

const ofClient = { SSECustomerAlgorithm: 'AES256' };
const ofService = { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'arn:aws:kms:team-key' };

beforeAll(async () => {
  running = await startEncryptingServer();
  const { server, caFile } = running;
  const made = await running.createKey('team-key');
  if (made.code !== 0) throw new Error(made.stderr);
  const job = { endpoint: server.s3, accessKey: server.accessKey, secretKey: server.secretKey, authority: caFile };
  const result = await runCommand(python, [script], { input: JSON.stringify(job), env: { NO_PROXY: '*' } });
  if (result.code !== 0) throw new Error(result.stderr);
  outcome = JSON.parse(result.stdout) as typeof outcome;
}, 360_000);
afterAll(() => running.stop());

describe('boto3 with a key of its own', () => {
  it('puts an object, and gets it back whole and in part', () => {
    expect(outcome.customer_keys).toMatchObject({ put: ofClient, got: ofClient, whole: true, range: 'my', size: 16 });
  });

  it('is refused without the key, and with another', () => {
    expect(outcome.customer_keys).toMatchObject({
      // A HEAD has no body: the client makes a code of the status.
      without: [
        ['InvalidRequest', 400],
        ['400', 400],
      ],
      other: [
        ['AccessDenied', 403],
        ['403', 403],
      ],
    });
  });

  it('puts and gets 20 MiB in parts, and reads across them', () => {
    expect(outcome.customer_keys).toMatchObject({ large: true, acrossParts: true });
  });

  it('makes an object of parts, of which one is copied from under another key', () => {
    expect(outcome.multipart).toEqual({
      begun: ofClient,
      part: ofClient,
      refused: ['InvalidRequest', 400],
      whole: true,
    });
  });
});

describe('boto3 with keys of the key service', () => {
  it('encrypts under the default key, as SSE-S3 and as SSE-KMS', () => {
    const s3 = { ServerSideEncryption: 'AES256' };
    const kms = { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'arn:aws:kms:my-key' };
    expect(outcome.service_keys).toMatchObject({ s3: [s3, s3, true], kms: [kms, kms, true] });
  });

  it('encrypts under a key that it names, with a bucket key, and in a context', () => {
    const named = { ...ofService, BucketKeyEnabled: true };
    expect(outcome.service_keys).toMatchObject({
      named: [named, named, true],
      context: [{ ServerSideEncryption: 'aws:kms' }, { ServerSideEncryption: 'aws:kms' }, true],
      large: [ofService, true],
    });
  });

  it('is refused a key that does not exist', () => {
    expect(outcome.service_keys['unknown']).toEqual(['KMS.NotFoundException', 400]);
  });
});

describe('boto3 copies', () => {
  const kinds = ['plain', 's3', 'kms', 'mine', 'other'];
  it.each(kinds.flatMap((from) => kinds.map((to) => [from, to])))('from %s to %s', (from, to) => {
    expect(outcome.copies[`${from}-${to}`]).toEqual([true, to === 'mine' || to === 'other', true]);
  });

  it("nothing from under a client's key without it, or with another", () => {
    expect(outcome.copies).toMatchObject({ withoutKey: ['InvalidRequest', 400], otherKey: ['AccessDenied', 403] });
  });

  it('20 MiB in parts, to another key', () => {
    expect(outcome.copies['large']).toBe(true);
  });
});

describe("boto3 sets a bucket's encryption", () => {
  it('and reads what it set', () => {
    expect(outcome.defaults).toMatchObject({ same: true, put: { ...ofService, BucketKeyEnabled: true } });
  });

  it("and blocks clients' keys by it, until it takes it away", () => {
    expect(outcome.defaults).toMatchObject({
      blocked: ['AccessDenied', 403],
      blockedUpload: ['AccessDenied', 403],
      before: true,
      after: ['allowed'],
    });
  });
});
