import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { settingsGuide } from './settings-guide.ts';

it.each([
  ['SVC_IDENTITY_LDAP_SERVER_ADDR', 'in `admin idp ldap`: `server_addr`'],
  ['SVC_IDENTITY_OPENID_CLIENT_ID_<ID>', 'in `admin idp openid`: `client_id`'],
])('names the command that sets %s', (name, expected) => {
  expect(factsOf(name)).toContain(expected);
});

it.each(['SVC_IDENTITY_TLS_CA_FILE', 'SVC_IDENTITY_PLUGIN_URL'])('names no command for %s, which none sets', (name) => {
  expect(factsOf(name)).not.toContain('admin idp');
});

function factsOf(name: string): string {
  return settingsGuide().split(`**\`${name}\`**`)[1]?.split('\n')[1] ?? '';
}

it('is what docs/guides/settings.md holds; if not, run "npm run docs"', () => {
  expect(readFileSync(new URL('../../docs/guides/settings.md', import.meta.url), 'utf8')).toBe(settingsGuide());
});
