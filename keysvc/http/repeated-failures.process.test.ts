import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createLogger } from '../../platform/output/logger.ts';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { ask, issueBy, startTestKeyService, type TestKeyService } from '../../test/support/keysvc/test-key-service.ts';
import { KeyError } from '../keystores/keystore.ts';

let keys: TestKeyService;
let root: CertificateAndKey;
let lines: { level: string; path?: string }[] = [];

beforeAll(async () => {
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as { level: string; path?: string }) };
  keys = await startTestKeyService(
    async (ca) => {
      root = await issueBy(ca, 'root');
      return `root: ${identityOfCertificate(root.certPem)}`;
    },
    { log: createLogger({ name: 'test', stream }), logErrors: true },
  );
});
beforeEach(() => {
  lines = [];
});
afterAll(() => keys.stop());

/** Asks for keys while the store fails, and returns the paths of the errors in the log. */
async function pathsOfErrors(failure: KeyError, count: number): Promise<string[]> {
  keys.store.failure = failure;
  for (let key = 0; key < count; key += 1) await ask(keys.service, 'GET', `/v1/key/describe/key-${key}`, { who: root });
  keys.store.failure = undefined;
  return lines.filter(({ level }) => level === 'error').map(({ path = '' }) => path);
}

it('names each damaged key in the log', async () => {
  const paths = await pathsOfErrors(new KeyError('corrupted', 'the record of the key is damaged'), 40);
  expect(new Set(paths).size).toBe(40);
});

it('leaves lines out while the key store does not answer', async () => {
  expect(await pathsOfErrors(new KeyError('unreachable', 'the key store does not answer'), 40)).toHaveLength(5);
});
