import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CertificateAndKey } from '../../../platform/tls/certificate-and-key.ts';
import { issueCertificate, makeCa } from '../../../platform/tls/issue-certificate.ts';
import { createLogger, type Logger } from '../../../platform/output/logger.ts';
import { parseConfig } from '../../../keysvc/config/config-file.ts';
import type { KeyStore } from '../../../keysvc/keystores/keystore.ts';
import { MemoryKeyStore } from './memory-keystore.ts';
import { startKeyService, type KeyService } from '../../../keysvc/http/start.ts';
import { afterAll, beforeAll } from 'vitest';
import { identityOfCertificate } from '../../../protocol/key-service/identity.ts';
import type { AuditEvent } from '../../../keysvc/calls/event-logs.ts';

/** A key service in this process with keys in memory, and the authority of its clients' certificates. */
export interface TestKeyService {
  readonly service: KeyService;
  readonly store: MemoryKeyStore;
  readonly ca: CertificateAndKey;
  stop(): Promise<void>;
}

interface Asked {
  readonly who?: CertificateAndKey;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

const hour = 3_600_000;

export function issueBy(ca: CertificateAndKey, commonName: string): Promise<CertificateAndKey> {
  return issueCertificate({ commonName, issuer: ca, ipAddresses: ['127.0.0.1'], validForMs: hour });
}

/** Starts a key service with `settings`; address, certificate and key store are set here. */
export async function startTestKeyService(
  settings: (ca: CertificateAndKey) => Promise<string>,
  options: {
    readonly tls?: string;
    readonly log?: Logger;
    readonly logErrors?: boolean;
    /** The key store, instead of one in memory. */
    readonly keyStore?: KeyStore;
  } = {},
): Promise<TestKeyService> {
  const folder = await mkdtemp(join(tmpdir(), 'keysvc-test-'));
  const ca = await makeCa({ commonName: 'test ca', validForMs: hour });
  const server = await issueBy(ca, 'keysvc');
  const file = (name: string) => join(folder, name);
  await Promise.all([
    writeFile(file('ca.crt'), ca.certPem),
    writeFile(file('tls.crt'), server.certPem),
    writeFile(file('tls.key'), server.keyPem),
  ]);
  const tls = `key: ${file('tls.key')}, cert: ${file('tls.crt')}, ca: ${file('ca.crt')}`;
  const text = `${await settings(ca)}
address: 127.0.0.1:0
tls: { ${tls}${options.tls === undefined ? '' : `, ${options.tls}`} }
log: { error: ${options.logErrors === true ? 'on' : 'off'} }
keystore: { fs: { path: unused } }
`;
  const store = new MemoryKeyStore();
  const service = await startKeyService(parseConfig(text, {}), {
    log: options.log ?? createLogger({ name: 'test', level: 'silent' }),
    writeAudit: () => undefined,
    openStore: () => Promise.resolve(options.keyStore ?? store),
  });
  return {
    service,
    store,
    ca,
    async stop() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Sends a request and returns the head of the answer; the caller reads the body. */
export function open(service: KeyService, method: string, path: string, asked: Asked = {}): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { who, body, headers = {} } = asked;
  const [host = '', port] = service.address.split(':');
  const credentials = who === undefined ? {} : { cert: who.certPem, key: who.keyPem };
  // Node omits the length for methods that usually have no body.
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const sent = { ...headers, ...length };
  const options = { host, port, method, path, headers: sent, rejectUnauthorized: false, agent: false, ...credentials };
  const request = httpsRequest(options, resolve);
  request.on('error', reject);
  request.end(body);
  return promise;
}

export async function ask(service: KeyService, method: string, path: string, asked: Asked = {}): Promise<Answered> {
  const response = await open(service, method, path, asked);
  const chunks = await Array.fromAsync(response as AsyncIterable<Buffer>);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: Buffer.concat(chunks).toString(),
  };
}

/** A key service for the tests of a file, with a superuser and an identity that may only list. */
interface TestKeyServer {
  /** Sends a request as the superuser or as `who`; `null` sends no certificate. */
  ask(method: string, path: string, body?: string, who?: CertificateAndKey | null): Promise<Answered>;
  readonly root: CertificateAndKey;
  readonly reader: CertificateAndKey;
  readonly store: MemoryKeyStore;
  /** The events of the audit log. */
  readonly events: readonly AuditEvent[];
}

/** Starts before the first test of the file, and stops after the last. */
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

/** The message of an error answer. */
export const messageOf = (answered: Answered) => (JSON.parse(answered.text) as { message: string }).message;
