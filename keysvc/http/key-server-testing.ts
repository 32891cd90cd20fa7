import { afterAll, beforeAll } from 'vitest';
import type { CertificateAndKey } from '../../platform/certificates/certificate-and-key.ts';
import { identityOfCertificate } from '../../protocol/key-service/identity.ts';
import type { AuditEvent } from '../audit/audit-log.ts';
import type { MemoryKeyStore } from '../keystore/memory/memory-keystore.ts';
import { ask, issueBy, startTestKeyService } from './testing.ts';
import type { Answered, TestKeyService } from './testing.ts';

/** A key service for the tests of a file, with a superuser and somebody who may list and no more. */
export interface TestKeyServer {
  /** One request, as the superuser unless told otherwise; `null` brings no certificate. */
  ask(method: string, path: string, body?: string, who?: CertificateAndKey | null): Promise<Answered>;
  readonly root: CertificateAndKey;
  readonly reader: CertificateAndKey;
  readonly store: MemoryKeyStore;
  /** Of the audit, so far. */
  readonly events: readonly AuditEvent[];
}

/** Started before the first test of the file, and stopped after the last. */
export function testKeyServer(): TestKeyServer {
  let keys: TestKeyService;
  let root: CertificateAndKey;
  let reader: CertificateAndKey;
  const events: AuditEvent[] = [];
  beforeAll(async () => {
    keys = await startTestKeyService(
      async (ca) => {
        root = await issueBy(ca, 'root');
        reader = await issueBy(ca, 'reader');
        return `
root: ${identityOfCertificate(root.certPem)}
policy:
  reader: { allow: [/v1/key/list/*], deny: [/v1/key/list/hidden*], identities: [${identityOfCertificate(reader.certPem)}] }
api: { /v1/ready: { skip_auth: true, timeout: 3s } }`;
      },
      { tls: 'auth: off' },
    );
    keys.service.audit.on('event', (event) => events.push(event));
  });
  afterAll(() => keys.stop());
  return {
    ask: (method, path, body, who = root) =>
      ask(keys.service, method, path, {
        ...(who === null ? {} : { who }),
        ...(body === undefined ? {} : { body }),
      }),
    get root() {
      return root;
    },
    get reader() {
      return reader;
    },
    get store() {
      return keys.store;
    },
    events,
  };
}

/** What a refusal says. */
export const messageOf = (answered: Answered) => (JSON.parse(answered.text) as { message: string }).message;
