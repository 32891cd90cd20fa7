import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueCertificate, makeCa } from '../../../platform/tls/issue-certificate.ts';
import type { AuditEntry } from '../../../server/observability/audit/audit-entry.ts';
import { startServer, type RunningServer } from './start-server.ts';

/** A server with virtual hosts over TLS, whose certificate is for its name and every bucket below it. */
export interface HostedServer {
  readonly server: RunningServer;
  /** The name of the server. Its buckets are below it. No name server knows it. */
  readonly domain: string;
  /** `https://DOMAIN:PORT`. */
  readonly endpoint: string;
  readonly port: string;
  /** The certificate of the authority, and its file. */
  readonly ca: string;
  readonly caFile: string;
  /** A folder for what the test writes; `stop` removes it. */
  readonly folder: string;
  audit(): Promise<AuditEntry[]>;
  stop(): Promise<void>;
}

const domain = 's3.coffer.test';

export async function startHostedServer(env: Readonly<Record<string, string>> = {}): Promise<HostedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'coffer-hosted-'));
  const validForMs = 3_600_000;
  const authority = await makeCa({ commonName: 'test', validForMs });
  const pair = await issueCertificate({
    issuer: authority,
    commonName: domain,
    dnsNames: [domain, `*.${domain}`],
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    validForMs,
  });
  const file = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const caFile = await file('ca.crt', authority.certPem);
  const auditFile = join(folder, 'audit.log');
  const server = await startServer({
    env: {
      SVC_DOMAIN: `coffer.invalid,${domain}`,
      SVC_TLS_CERT_FILE: await file('server.crt', pair.certPem),
      SVC_TLS_KEY_FILE: await file('server.key', pair.keyPem),
      SVC_AUDIT_FILE: auditFile,
      ...env,
    },
  });
  await server.untilLogged('"event":"ready"');
  const { port } = new URL(server.s3);
  return {
    server,
    domain,
    endpoint: `https://${domain}:${port}`,
    port,
    ca: authority.certPem,
    caFile,
    folder,
    async audit() {
      const lines = (await readFile(auditFile, 'utf8')).split('\n').filter((line) => line !== '');
      return lines.map((line) => JSON.parse(line) as AuditEntry);
    },
    async stop() {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
