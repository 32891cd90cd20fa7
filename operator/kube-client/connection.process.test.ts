import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fromKubeconfig } from './connection.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'coffer-credentials-'));
});
afterEach(() => rm(folder, { recursive: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');

const config = (user: object, cluster: object = {}) =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'here',
    clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u', namespace: 'red' } }],
  });

async function from(text: string) {
  const file = join(folder, 'config');
  await writeFile(file, text);
  return fromKubeconfig({ file });
}

describe('fromKubeconfig', () => {
  it('gives a token, an authority and the namespace of the context', async () => {
    const connection = await from(config({ token: 't' }, { 'certificate-authority-data': base64('AUTHORITY') }));
    expect(await connection.authorization()).toBe('Bearer t');
    expect(connection.tls.ca).toBe('AUTHORITY');
    expect(connection.namespace).toBe('red');
  });

  it('gives a client certificate', async () => {
    const user = { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') };
    const connection = await from(config(user));
    expect(connection.tls).toMatchObject({ cert: 'CERT', key: 'KEY' });
    expect(await connection.authorization()).toBeUndefined();
  });

  it('asks an exec plugin', async () => {
    const answer = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: 'made' } };
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', `console.log(${JSON.stringify(JSON.stringify(answer))})`],
    };
    const connection = await from(config({ exec }));
    expect(await connection.authorization()).toBe('Bearer made');
  });

  it('speaks plain HTTP where the server does', async () => {
    const connection = await from(config({ token: 't' }, { server: 'http://127.0.0.1:8001/prefix' }));
    expect(connection.server.href).toBe('http://127.0.0.1:8001/prefix');
    expect(await connection.authorization()).toBe('Bearer t');
  });

  it('names a context that is not there', async () => {
    await from(config({}));
    await expect(fromKubeconfig({ file: join(folder, 'config'), context: 'other' })).rejects.toThrow('"other"');
  });
});
