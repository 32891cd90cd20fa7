import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { identityOfCertificate } from '../../platform/certificates/certificate-identity.ts';
import { issueCertificate } from '../../platform/certificates/issue-certificate.ts';
import { makeCa } from '../../platform/certificates/make-ca.ts';
import { startKeysvc, writePair } from '../key-service/keysvc-process.ts';

export interface KeyService {
  /** What a server is told of it. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<unknown>;
}

/** A key service in a process of its own, which goes on while servers are killed. */
export async function startKeyService(folder: string): Promise<KeyService> {
  // Longer than any soak.
  const validForMs = 7 * 86_400_000;
  const ca = await makeCa({ commonName: 'test', validForMs });
  const issue = (commonName: string) =>
    issueCertificate({ commonName, issuer: ca, validForMs, ipAddresses: ['127.0.0.1'] });
  const caFile = join(folder, 'ca.crt');
  await writeFile(caFile, ca.certPem);
  const app = await issue('app');
  const appFiles = await writePair(folder, 'app', app);
  const keysFiles = await writePair(folder, 'keys', await issue('keys'));
  const config = join(folder, 'keysvc.yaml');
  await writeFile(
    config,
    `
address: 127.0.0.1:0
root: disabled
tls: { key: ${keysFiles.keyFile}, cert: ${keysFiles.certFile}, ca: ${caFile} }
policy:
  app:
    allow: [/v1/key/create/*, /v1/key/generate/*, /v1/key/decrypt/*, /v1/key/list, /v1/status]
    identities: [${identityOfCertificate(app.certPem)}]
keys: [{ name: main-key }]
keystore: { fs: { path: ${join(folder, 'key-files')} } }
`,
  );
  const keysvc = await startKeysvc(['--config', config]);
  return {
    env: {
      SVC_KMS_KEYSVC_ENDPOINT: `https://${keysvc.address}`,
      SVC_KMS_KEYSVC_KEY_NAME: 'main-key',
      SVC_KMS_KEYSVC_CERT_FILE: appFiles.certFile,
      SVC_KMS_KEYSVC_KEY_FILE: appFiles.keyFile,
      SVC_KMS_KEYSVC_CAPATH: caFile,
    },
    stop: () => keysvc.stop(),
  };
}
