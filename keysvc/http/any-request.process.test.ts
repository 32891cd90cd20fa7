import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CertificateAndKey } from '../../platform/tls/certificate-and-key.ts';
import { routes } from '../../protocol/key-service/routes.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import { ask, issueBy, startTestKeyService, type TestKeyService } from '../../test/support/keysvc/test-key-service.ts';

let keys: TestKeyService;
let root: CertificateAndKey;

beforeAll(async () => {
  keys = await startTestKeyService(async (ca) => {
    root = await issueBy(ca, 'root');
    return `root: ${identityOfCertificate(root.certPem)}`;
  });
  await ask(keys.service, 'POST', '/v1/key/create/k', { who: root });
});
afterAll(() => keys.stop());

/** The statuses of valid answers. Any other is a failure of the service. */
const known = new Set([200, 400, 403, 404, 405, 406, 409, 413, 501]);

const path = fc
  .constantFrom(...routes.filter(({ endless }) => !endless).map((route) => route.path), '/v1', '/v1/nothing')
  .chain((start) =>
    fc.oneof(
      fc.constant(start),
      fc.constantFrom('k', 'k--2', '*', '..', '%00', '%zz', 'x'.repeat(200)).map((tail) => `${start}/${tail}`),
      fc.webPath().map((tail) => `${start}${tail}`),
      fc.webQueryParameters().map((query) => `${start}/k?${query}`),
    ),
  );

/** Bodies similar to valid ones, which find more defects than random bytes. */
const field = fc.oneof(fc.base64String({ maxLength: 200 }), fc.string(), fc.jsonValue());
const body = fc.oneof(
  fc.string(),
  fc.json(),
  fc
    .record(
      {
        plaintext: field,
        ciphertext: field,
        context: field,
        message: field,
        bytes: field,
        algorithm: field,
        key: field,
        cipher: field,
        __proto__: field,
      },
      { requiredKeys: [] },
    )
    .map((record) => JSON.stringify(record)),
  fc.array(fc.record({ ciphertext: field }), { maxLength: 5 }).map((list) => JSON.stringify(list)),
);

describe('any request', () => {
  it('is answered as the protocol does, and none is a failure of the service', { timeout: 360_000 }, async () => {
    const failures: unknown[] = [];
    keys.service.audit.on('event', (event) => {
      if (!known.has(event.response.code)) failures.push(event);
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH'),
        path,
        body,
        async (method, at, text) => {
          const mayHaveBody = method !== 'GET';
          const answered = await ask(keys.service, method, at, { who: root, ...(mayHaveBody ? { body: text } : {}) });
          expect(known).toContain(answered.status);
          if (answered.status !== 200) expect(JSON.parse(answered.text)).toEqual({ message: expect.any(String) });
        },
      ),
      { numRuns: 100 },
    );
    expect(failures).toEqual([]);
  });
});
