/** A part of the address of a provider, which differs from one company to the next. */
interface RecipePart {
  readonly name: string;
  /** e.g. `https://idp.example.com`. */
  readonly example: string;
  /** What is taken where the part is not given. */
  readonly fallback?: string;
}

/** What is particular of a provider that many people have: its settings, and what it is known for. */
export interface ProviderRecipe {
  /** The word of `coffer idp openid add --provider`. */
  readonly name: string;
  readonly title: string;
  readonly parts: readonly RecipePart[];
  /** Keys of an OpenID configuration. `{part}` stands for a part. */
  readonly settings: Readonly<Record<string, string>>;
  /** The issuers of the provider, where they can be told from those of others. */
  readonly issuers?: RegExp;
  /** What goes wrong with it at first, and the cure. Whole sentences. */
  readonly advice: string;
}

const url: RecipePart = { name: 'url', example: 'https://idp.example.com' };

export const providerRecipes: readonly ProviderRecipe[] = [
  {
    name: 'keycloak',
    title: 'Keycloak',
    parts: [url, { name: 'realm', example: 'company' }],
    settings: {
      config_url: '{url}/realms/{realm}/.well-known/openid-configuration',
      vendor: 'keycloak',
      keycloak_admin_url: '{url}/admin',
      keycloak_realm: '{realm}',
      claim_name: 'policy',
    },
    issuers: /\/realms\/[^/]+$/u,
    advice:
      'Keycloak puts a claim into tokens only by a mapper: add one of the type User Attribute for "policy" to a client scope of the client. ' +
      'It refuses claims such as preferred_username as scopes. Users are looked up by the service account of the client, which needs view-users of realm-management.',
  },
  {
    name: 'entra',
    title: 'Microsoft Entra ID',
    parts: [{ name: 'tenant', example: '9188040d-6c67-4c5b-b112-36a304b66dad' }],
    settings: {
      config_url: 'https://login.microsoftonline.com/{tenant}/v2.0/.well-known/openid-configuration',
      scopes: 'openid,profile,email',
      claim_name: 'roles',
      user_readable_claim: 'preferred_username',
    },
    issuers: /^https:\/\/(?:login\.microsoftonline\.com|sts\.windows\.net)\//u,
    advice:
      'Name app roles of the registration as policies are named, and assign people or groups to them: the claim "groups" has IDs instead of names, and is left out for people in many groups.',
  },
  {
    name: 'okta',
    title: 'Okta',
    parts: [
      { name: 'domain', example: 'company.okta.com' },
      { name: 'server', example: 'default', fallback: 'default' },
    ],
    settings: {
      config_url: 'https://{domain}/oauth2/{server}/.well-known/openid-configuration',
      scopes: 'openid,profile,email',
      claim_name: 'groups',
      user_readable_claim: 'preferred_username',
    },
    issuers: /^https:\/\/[^/]+\.okta(?:preview)?\.com(?:\/|$)/u,
    advice:
      'Okta has no claim of groups until you add one: in the authorization server under Claims, named "groups", for the ID token and any scope, with a filter of the groups.',
  },
  {
    name: 'google',
    title: 'Google',
    parts: [],
    settings: {
      config_url: 'https://accounts.google.com/.well-known/openid-configuration',
      scopes: 'openid,email,profile',
      user_readable_claim: 'email',
    },
    issuers: /^https:\/\/accounts\.google\.com$/u,
    advice:
      'Tokens of Google name no groups and take no claim of your own: give rights by role_policy, or by "coffer idp openid policy attach --claim email" or "--claim hd", the domain of the company.',
  },
  {
    name: 'gitlab',
    title: 'GitLab',
    parts: [{ name: 'url', example: 'https://gitlab.com', fallback: 'https://gitlab.com' }],
    settings: {
      config_url: '{url}/.well-known/openid-configuration',
      scopes: 'openid,profile,email',
      claim_name: 'groups_direct',
      user_readable_claim: 'nickname',
    },
    issuers: /^https:\/\/gitlab\.com$/u,
    advice:
      'The claim groups_direct has the paths of the groups of a person. Name policies as these paths, or attach them to the claim. CI jobs are tokens of another kind, with the audience that the job names.',
  },
  {
    name: 'authelia',
    title: 'Authelia',
    parts: [url],
    settings: {
      config_url: '{url}/.well-known/openid-configuration',
      scopes: 'openid,profile,email,groups',
      claim_name: 'groups',
      claim_userinfo: 'on',
      user_readable_claim: 'preferred_username',
    },
    advice:
      'Since 4.39 Authelia gives groups by its userinfo endpoint and leaves them out of ID tokens, so that claim_userinfo is on. token_endpoint_auth_method of the client decides how the secret is sent; both ways are tried.',
  },
  {
    name: 'authentik',
    title: 'authentik',
    parts: [url, { name: 'application', example: 'coffer' }],
    settings: {
      config_url: '{url}/application/o/{application}/.well-known/openid-configuration',
      scopes: 'openid,profile,email',
      claim_name: 'groups',
      user_readable_claim: 'preferred_username',
    },
    issuers: /\/application\/o\/[^/]+\/?$/u,
    advice:
      'Choose a signing key for the provider, or it signs with the secret of the client and has no keys. Keep the issuer mode "each provider has a different issuer"; with the global one, set issuer.',
  },
  {
    name: 'zitadel',
    title: 'ZITADEL',
    parts: [url],
    settings: {
      config_url: '{url}/.well-known/openid-configuration',
      scopes: 'openid,profile,email',
      claim_name: 'policy',
      user_readable_claim: 'preferred_username',
    },
    advice:
      'The roles of ZITADEL are an object and no list: add an action of the flow "Complement Token" that sets the claim "policy" to a list of names, and switch "User Info inside ID Token" on.',
  },
  {
    name: 'github-actions',
    title: 'GitHub Actions',
    parts: [],
    settings: { config_url: 'https://token.actions.githubusercontent.com/.well-known/openid-configuration' },
    issuers: /^https:\/\/token\.actions\.githubusercontent\.com$/u,
    advice:
      'Jobs choose the audience of their token: client_id is that audience, and there is no secret. Give rights by "coffer idp openid policy attach --claim sub --value \'repo:OWNER/REPOSITORY:*\'", with the owner written out.',
  },
];

/** Returns what a provider is known for, by its issuer; undefined for one that cannot be told from others. */
export function recipeOfIssuer(issuer: string): ProviderRecipe | undefined {
  return providerRecipes.find(({ issuers }) => issuers?.test(issuer) === true);
}

/** What a recipe makes of the parts: its settings, or the parts that are missing. */
type FilledRecipe =
  | { readonly kind: 'settings'; readonly settings: Readonly<Record<string, string>> }
  | { readonly kind: 'missing'; readonly parts: readonly RecipePart[] };

/**
 * Puts the parts of an address into the settings of a recipe. A `/` at the end of a part is cut off, and `https://` before a domain.
 *
 * @param chosen the keys that are given otherwise: the recipe leaves them alone, and needs no part for them
 */
export function fillRecipe(
  recipe: ProviderRecipe,
  given: ReadonlyMap<string, string>,
  chosen: ReadonlySet<string> = new Set(),
): FilledRecipe {
  const values = new Map<string, string>();
  for (const { name, fallback } of recipe.parts) {
    const value = (given.get(name) ?? '').trim().replace(/\/+$/u, '') || fallback;
    if (value !== undefined) values.set(name, name === 'domain' ? value.replace(/^https:\/\//u, '') : value);
  }
  const texts = Object.entries(recipe.settings).filter(([key]) => !chosen.has(key));
  const missing = recipe.parts.filter(
    ({ name }) => !values.has(name) && texts.some(([, text]) => text.includes(`{${name}}`)),
  );
  if (missing.length > 0) return { kind: 'missing', parts: missing };
  const settings = texts.map(([key, text]) => {
    // A name within an address is encoded; one by itself is not.
    const isWhole = /^\{[a-z]+\}$/u.test(text);
    const filled = text.replaceAll(/\{([a-z]+)\}/gu, (_, part: string) => {
      const value = values.get(part) ?? '';
      return isWhole || part === 'url' || part === 'domain' ? value : encodeURIComponent(value);
    });
    return [key, filled] as const;
  });
  return { kind: 'settings', settings: Object.fromEntries(settings) };
}
