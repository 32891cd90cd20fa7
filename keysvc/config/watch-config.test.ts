import { describe, expect, it } from 'vitest';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../platform/output/logger.ts';
import { compareConfigs, watchConfig } from './watch-config.ts';
import { parseConfig } from './config-file.ts';

const config = (changes: Record<string, string> = {}) => {
  const parts = {
    root: 'disabled',
    tls: '{ key: k.pem, cert: c.pem, auth: on }',
    keystore: '{ fs: { path: keys } }',
    ...changes,
  };
  const lines = Object.entries(parts).map(([name, value]) => `${name}: ${value}`);
  return parseConfig(lines.join('\n'), {});
};
const identity = 'a'.repeat(64);

describe('a new configuration of a running key service', () => {
  it.each([
    ['root', identity],
    ['policy', `{ app: { allow: [/v1/key/create/*], identities: [${identity}] } }`],
    ['keys', '[{ name: new }]'],
    ['cache', '{ expiry: { any: 1m } }'],
    ['log', '{ audit: on }'],
  ])('takes %s into use', (name, value) => {
    expect(compareConfigs(config(), config({ [name]: value }))).toEqual({ live: [name], needRestart: [] });
  });

  it.each([
    ['address', '127.0.0.1:7000'],
    ['tls', '{ key: other.pem, cert: c.pem }'],
    ['tls', '{ key: k.pem, cert: c.pem, auth: off }'],
    ['api', '{ /v1/ready: { skip_auth: true } }'],
    ['keystore', '{ fs: { path: elsewhere } }'],
    ['shutdown', '{ delay: 5s }'],
  ])('cannot take %s into use', (name, value) => {
    expect(compareConfigs(config(), config({ [name]: value }))).toEqual({ live: [], needRestart: [name] });
  });

  it('may be the same', () => {
    expect(compareConfigs(config(), config())).toEqual({ live: [], needRestart: [] });
  });
});

/** Reloads a configuration, and returns the warnings. */
const reloaded = async (before: Record<string, string>, after: Record<string, string>) => {
  const folder = await mkdtemp(join(tmpdir(), 'watch-config-'));
  const path = join(folder, 'config.yml');
  await writeFile(path, 'changed');
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const watched = watchConfig({
    path,
    config: config(before),
    load: () => Promise.resolve(config(after)),
    apply: () => Promise.resolve(),
    log: createLogger({ name: 'test', stream }),
    pollMs: 3_600_000,
  });
  await watched.reload();
  watched.close();
  await rm(folder, { recursive: true });
  return lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
};

describe('the warnings of a new configuration', () => {
  it('are told where nothing else changes', async () => {
    const warned = await reloaded({}, { keys: '[{ name: "" }]' });
    expect(warned).toEqual([expect.stringMatching(/^keys\.0\.name is not set/)]);
  });

  it('are told where another setting changes', async () => {
    const warned = await reloaded({}, { log: '{ audit: on }', keys: '[{ name: a }, null]' });
    expect(warned).toEqual([expect.stringMatching(/^keys\.1\.name is not set/)]);
  });
});
