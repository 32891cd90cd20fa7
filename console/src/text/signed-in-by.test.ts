import { expect, it } from 'vitest';
import { providerName } from './signed-in-by.ts';

it.each([
  ['Sign in with Keycloak', 'Keycloak'],
  ['Login with SSO (PRIMARY_IAM)', 'SSO (PRIMARY_IAM)'],
  ['Partner login', 'Partner login'],
  ['Sign in with ', 'Sign in with '],
])('calls the provider with the button "%s": %s', (label, name) => {
  expect(providerName(label)).toBe(name);
});
