import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CertificateAndKey } from '../../platform/certificates/certificate-and-key.ts';
import { issueCertificate } from '../../platform/certificates/issue-certificate.ts';
import { makeCa } from '../../platform/certificates/make-ca.ts';
import { createLogger } from '../../platform/logger.ts';
import type { Logger } from '../../platform/logger.ts';
import { parseConfig } from '../config/config-file.ts';
import { MemoryKeyStore } from '../keystore/memory/memory-keystore.ts';
import { startKeyService } from '../start.ts';
import type { KeyService } from '../start.ts';

/** A key service in this process, on keys in memory, and the authority that its clients' certificates come from. */
export interface TestKeyService {
  readonly service: KeyService;
  readonly store: MemoryKeyStore;
  readonly ca: CertificateAndKey;
  stop(): Promise<void>;
}

export interface Asked {
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

/** Starts one whose configuration is `settings` besides address, certificate and key store. */
export async function startTestKeyService(
  settings: (ca: CertificateAndKey) => Promise<string>,
  options: { readonly tls?: string; readonly log?: Logger } = {},
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
log: { error: off }
keystore: { fs: { path: unused } }
`;
  const store = new MemoryKeyStore();
  const service = await startKeyService(parseConfig(text, {}), {
    log: options.log ?? createLogger({ name: 'test', level: 'silent' }),
    writeAudit: () => undefined,
    openStore: () => Promise.resolve(store),
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

/** The answer's head; its body is read by whoever asked. */
export function open(service: KeyService, method: string, path: string, asked: Asked = {}): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { who, body, headers = {} } = asked;
  const [host = '', port] = service.address.split(':');
  const credentials = who === undefined ? {} : { cert: who.certPem, key: who.keyPem };
  // Node leaves the length out where a method usually has no body.
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
