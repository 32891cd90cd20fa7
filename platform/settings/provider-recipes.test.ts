import { describe, expect, it } from 'vitest';
import { openIdKeys, providerFromKeys } from './openid-settings.ts';
import { openIdContradictions } from './openid-contradictions.ts';
import { fillRecipe, providerRecipes, recipeOfIssuer } from '../../protocol/settings/provider-recipes.ts';

const recipe = (name: string) => {
  const found = providerRecipes.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no recipe ${name}`);
  return found;
};
const filled = (name: string, parts: Readonly<Record<string, string>> = {}) =>
  fillRecipe(recipe(name), new Map(Object.entries(parts)));

describe('each recipe', () => {
  it.each(providerRecipes.map((one) => [one.name, one] as const))('%s makes a provider that is valid', (_, one) => {
    const parts = new Map(one.parts.map(({ name, example }) => [name, example]));
    const result = fillRecipe(one, parts);
    if (result.kind !== 'settings') throw new Error('A part is missing');
    const known = openIdKeys.map(({ key }) => key);
    expect(known).toEqual(expect.arrayContaining(Object.keys(result.settings)));
    const values = new Map(Object.entries({ ...result.settings, client_id: 'coffer', client_secret: 'secret' }));
    const { provider, problems } = providerFromKeys('p', values);
    expect(problems).toEqual([]);
    expect(provider && openIdContradictions(provider, (part) => part)).toEqual([]);
    expect(JSON.stringify(result.settings)).not.toMatch(/[{}]{2}|\{[a-z]+\}/u);
  });

  it('has names of its own, and parts that are no keys of a configuration', () => {
    expect(new Set(providerRecipes.map(({ name }) => name)).size).toBe(providerRecipes.length);
    const keys = new Set(openIdKeys.flatMap(({ key, synonyms }) => [key, ...synonyms]));
    expect(providerRecipes.flatMap(({ parts }) => parts).filter(({ name }) => keys.has(name))).toEqual([]);
  });
});

describe('a recipe', () => {
  it('puts the parts into the addresses', () => {
    expect(filled('keycloak', { url: 'https://idp.example.com/', realm: 'company' })).toMatchObject({
      settings: {
        config_url: 'https://idp.example.com/realms/company/.well-known/openid-configuration',
        keycloak_admin_url: 'https://idp.example.com/admin',
        keycloak_realm: 'company',
      },
    });
    expect(filled('okta', { domain: 'https://company.okta.com' })).toMatchObject({
      settings: { config_url: 'https://company.okta.com/oauth2/default/.well-known/openid-configuration' },
    });
  });

  it('encodes a name within an address, and leaves it as it is by itself', () => {
    expect(filled('keycloak', { url: 'https://idp.example.com', realm: 'our people' })).toMatchObject({
      settings: {
        config_url: 'https://idp.example.com/realms/our%20people/.well-known/openid-configuration',
        keycloak_realm: 'our people',
      },
    });
  });

  it('needs no part for what is given otherwise', () => {
    const chosen = new Set(['config_url', 'keycloak_admin_url', 'keycloak_realm']);
    expect(fillRecipe(recipe('keycloak'), new Map(), chosen)).toEqual({
      kind: 'settings',
      settings: { vendor: 'keycloak', claim_name: 'policy' },
    });
  });

  it('names the parts that it needs', () => {
    expect(filled('keycloak', { url: ' ' })).toMatchObject({
      kind: 'missing',
      parts: [{ name: 'url' }, { name: 'realm' }],
    });
    expect(filled('google')).toMatchObject({ kind: 'settings' });
  });
});

describe('recipeOfIssuer', () => {
  it.each([
    ['https://idp.example.com/realms/company', 'keycloak'],
    ['https://login.microsoftonline.com/9188040d/v2.0', 'entra'],
    ['https://sts.windows.net/9188040d/', 'entra'],
    ['https://company.okta.com/oauth2/default', 'okta'],
    ['https://accounts.google.com', 'google'],
    ['https://gitlab.com', 'gitlab'],
    ['https://auth.example.com/application/o/coffer/', 'authentik'],
    ['https://token.actions.githubusercontent.com', 'github-actions'],
    ['https://accounts.google.com.example.org', undefined],
    ['https://idp.example.com', undefined],
  ])('knows the provider of %s: %s', (issuer, name) => {
    expect(recipeOfIssuer(issuer)?.name).toBe(name);
  });
});
