import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inCluster } from './connection.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-credentials-'));
  await writeFile(join(folder, 'ca.crt'), 'AUTHORITY');
  await writeFile(join(folder, 'namespace'), 'coffer-system\n');
  await writeFile(join(folder, 'token'), 'first\n');
});
afterEach(() => rm(folder, { recursive: true }));

describe('inCluster', () => {
  it('speaks as the service account of its pod', async () => {
    const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
    const connection = await inCluster({ environment, folder });
    expect(connection.server.href).toBe('https://[fd00::1]:6443/');
    expect(connection.tls).toEqual({ ca: 'AUTHORITY' });
    expect(connection.namespace).toBe('coffer-system');
    expect(await connection.authorization()).toBe('Bearer first');
  });

  it('reads the token again after a while', async () => {
    let clock = 0;
    const environment = { KUBERNETES_SERVICE_HOST: '10.0.0.1' };
    const connection = await inCluster({ environment, folder, monotonic: () => clock });
    await connection.authorization();
    await writeFile(join(folder, 'token'), 'second');
    expect(await connection.authorization()).toBe('Bearer first');
    clock = 60_000;
    expect(await connection.authorization()).toBe('Bearer second');
  });

  it('says what to do outside a cluster', async () => {
    await expect(inCluster({ environment: {}, folder })).rejects.toThrow('--kubeconfig');
  });
});
