import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AzureDouble } from '../support/keysvc/azure-double.ts';
import { entraLogin } from '../support/keysvc/entra-double.ts';
import { VirtualClock } from '../support/keysvc/http-double.ts';
import { issueCertificate } from '../../platform/tls/issue-certificate.ts';
import { runKeysvc, startKeysvc, writePair, type KeysvcProcess } from '../support/server/keysvc-process.ts';

/** Processes live in real time. */
class RunningClock extends VirtualClock {
  override now(): number {
    return Date.now();
  }
}

describe('key services with a key vault of Azure', () => {
  let folder: string;
  let double: AzureDouble;
  let config: string;
  let running: KeysvcProcess[];

  beforeEach(async () => {
    running = [];
    folder = await mkdtemp(join(tmpdir(), 'azure-processes-'));
    double = await AzureDouble.start(new RunningClock());
    await writeFile(join(folder, 'azure-ca.crt'), double.ca);
    const pair = await issueCertificate({ commonName: 'keysvc', ipAddresses: ['127.0.0.1'], validForMs: 3_600_000 });
    const { certFile, keyFile } = await writePair(folder, 'server', pair);
    config = join(folder, 'keysvc.yml');
    await writeFile(
      config,
      `address: 127.0.0.1:0
root: disabled
tls: { key: ${keyFile}, cert: ${certFile}, auth: off }
keys: [{ name: my-key }]
keystore:
  azure:
    keyvault:
      endpoint: ${double.http.url}
      credentials:
        tenant_id: ${entraLogin.tenantId}
        client_id: ${entraLogin.clientId}
        client_secret: \${CLIENT_SECRET}
`,
    );
  });
  afterEach(async () => {
    for (const one of running) await one.stop();
    await double.http.close();
    await rm(folder, { recursive: true });
  });

  const environment = () => ({
    ...double.environment,
    CLIENT_SECRET: entraLogin.clientSecret,
    NODE_EXTRA_CA_CERTS: join(folder, 'azure-ca.crt'),
  });
  const start = async () => {
    const started = await startKeysvc(['--config', config], environment());
    running.push(started);
    return started.lines.map(({ msg }) => msg);
  };

  it('that start at once agree on the key that both lack', async () => {
    const lines = (await Promise.all([start(), start()])).flat();
    expect(lines.filter((line) => line === 'key "my-key" created')).toHaveLength(1);
    expect(lines.filter((line) => line === 'key "my-key" validated')).toHaveLength(1);
  }, 360_000);

  it('start again on the keys that are there', async () => {
    await start();
    expect(await start()).toContain('key "my-key" validated');
    expect(double.versionsOf('my-key')).toBe(1);
  }, 360_000);

  it('do not start without a permission, and name it, the key and the vault', async () => {
    double.denied.add('set');
    const { code, stdout, stderr } = await runKeysvc(['server', '--config', config], environment());
    expect(code).toBe(1);
    expect(stderr).toContain('the key "my-key" listed under "keys" cannot be validated or created');
    expect(stderr).toContain('it lacks the secret permission "Set"');
    expect(stderr).toContain(double.http.url);
    expect(stdout + stderr).not.toContain(entraLogin.clientSecret);
  }, 360_000);

  it('do not replace a key that was deleted by mistake', async () => {
    double.put('my-key', 'a record');
    double.deleteInPortal('my-key');
    const { code, stderr } = await runKeysvc(['server', '--config', config], environment());
    expect(code).toBe(1);
    expect(stderr).toContain('az keyvault secret recover --name my-key');
  }, 360_000);
});
