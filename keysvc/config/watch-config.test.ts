import { describe, expect, it } from 'vitest';
import { compareConfigs } from './watch-config.ts';
import { parseConfig } from './config-file.ts';

const config = (changes: Record<string, string> = {}) => {
  const parts = {
    root: 'disabled',
    tls: '{ key: k.pem, cert: c.pem }',
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
