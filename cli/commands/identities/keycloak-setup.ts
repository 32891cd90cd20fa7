import { ProgramError } from '../../../platform/errors/program-error.ts';
import { formatKeyValues } from '../../../protocol/settings/key-values.ts';
import { fillRecipe } from '../../../protocol/settings/provider-recipes.ts';
import { createLimitedFetch } from '../../../platform/http/limited-fetch.ts';
import { printable } from '../../../platform/text/printable.ts';
import { secret } from '../../terminal/prompt.ts';
import type { Context } from '../context.ts';
import { trustedAuthorities } from '../login/trusted-authorities.ts';
import { clientOf, nameless, recipeNamed, sendIdp } from './idp-configs.ts';
import { KeycloakRealm } from './keycloak-realm.ts';

interface SetupOptions {
  readonly url?: string;
  readonly realm?: string;
  readonly admin?: string;
  readonly adminRealm?: string;
  readonly client?: string;
  readonly console?: string;
}

/** The claim and the attribute of people and groups that name policies. */
const claim = 'policy';
const policyScope = 'coffer-policy';

/** One part of the realm: made now, there already, or there in another form, which is left to the administrator. */
interface Part {
  readonly part: string;
  readonly outcome: 'made' | 'there' | 'differs';
  readonly message: string;
}

/**
 * Makes what a sign-in by Keycloak needs, and saves the provider at the server: a client, the scope that puts `policy` into tokens, that of the
 * audience, the attribute of the user profile, and the role of the service account. What is there is not changed: it may be edited by others.
 */
export async function setUpKeycloak(
  context: Context,
  [alias = '', name = nameless]: readonly string[],
  options: SetupOptions,
): Promise<void> {
  const { realm, admin } = options;
  const url = options.url?.replace(/\/+$/u, '');
  const pages = options.console?.replace(/\/+$/u, '');
  if (url === undefined || realm === undefined || admin === undefined || pages === undefined) {
    const form = '--url https://idp.example.com --realm company --admin admin --console https://console.example.com';
    throw new ProgramError('BadArgument', `--url, --realm, --admin and --console are needed: ${form}`);
  }
  refuseClear(url);
  const clientId = options.client ?? 'coffer';
  const mode = await modeOf(context, alias, name, clientId);
  const password = await secret(context, `password of ${admin}`, undefined);
  const ca = await trustedAuthorities(context);
  const fetch = createLimitedFetch(ca === '' ? {} : { ca });
  const administrator = { url, realm: options.adminRealm ?? 'master', user: admin, password };
  const keycloak = await KeycloakRealm.open(administrator, realm, fetch);
  const differing: string[] = [];
  const show = (part: Part): void => {
    if (part.outcome === 'differs') differing.push(part.part);
    const mark = { made: '+', there: '✔', differs: '?' }[part.outcome];
    context.output.message(`${mark} ${part.part.padEnd(15)} ${printable(part.message)}`, { ...part });
  };
  // First of all: where people could write the attribute themselves, each could name any policy.
  await declareAttribute(context, keycloak, show);
  const client = await makeClient(keycloak, clientId, pages, show);
  await makeScope(keycloak, policyScope, policyMapper, client.id, show);
  await makeScope(keycloak, `${clientId}-audience`, audienceMapper(clientId), client.id, show);
  await allowLookups(keycloak, client.id, show);
  const { value } = await keycloak.get<{ readonly value?: string }>(`/clients/${client.id}/client-secret`);
  if (value === undefined) throw new ProgramError('Failed', `The client ${clientId} has no secret: it is public`);
  const recipe = recipeNamed('keycloak');
  const filled = fillRecipe(recipe, new Map(Object.entries({ url, realm })));
  const settings = filled.kind === 'settings' ? Object.entries(filled.settings) : [];
  const body = formatKeyValues([...settings, ['client_id', clientId], ['client_secret', value]]);
  await sendIdp(context, alias, { type: 'openid', name, mode, recipe: undefined }, body);
  if (differing.length > 0) {
    throw new ProgramError('Reported', `The realm is not complete: ${differing.join(', ')}`);
  }
  context.output.hint(`Name policies in the attribute "${claim}" of people and groups.`);
}

/** The password of an administrator of Keycloak goes to that address. */
function refuseClear(url: string): void {
  const { protocol, hostname } = parsedUrl(url);
  if (protocol === 'https:' || /^(?:localhost|127\.[0-9.]+|\[::1\])$/u.test(hostname)) return;
  throw new ProgramError('BadArgument', `${url} is no https address: the password would go over the network in clear`);
}

function parsedUrl(url: string): URL {
  if (URL.canParse(url)) return new URL(url);
  throw new ProgramError('BadArgument', `Invalid --url \`${url}\`: write an address such as https://idp.example.com`);
}

/** A provider of the same client is updated, so that the command can be repeated. Another one of the name is refused before anything is made. */
async function modeOf(context: Context, alias: string, name: string, clientId: string): Promise<'add' | 'update'> {
  const there = await clientOf(context, alias, name);
  if (there === undefined) return 'add';
  if (there === clientId) return 'update';
  throw new ProgramError(
    'Failed',
    `There is a provider of this name already, with the client ${there}: choose another name, or remove it first`,
  );
}

type Show = (part: Part) => void;

interface ClientRow {
  readonly id: string;
  readonly enabled?: boolean;
  readonly publicClient?: boolean;
  readonly standardFlowEnabled?: boolean;
  readonly serviceAccountsEnabled?: boolean;
  readonly redirectUris?: readonly string[];
}

async function makeClient(keycloak: KeycloakRealm, clientId: string, pages: string, show: Show): Promise<ClientRow> {
  const redirectUri = `${pages}/oauth_callback`;
  const path = `/clients?clientId=${encodeURIComponent(clientId)}`;
  const [there] = await keycloak.get<readonly ClientRow[]>(path);
  if (there !== undefined) {
    const wrong = [
      ...(there.publicClient === true ? ['switch client authentication on'] : []),
      ...(there.standardFlowEnabled === false ? ['switch the standard flow on'] : []),
      ...(there.serviceAccountsEnabled === true ? [] : ['switch service accounts on']),
      ...(there.enabled === false ? ['enable it'] : []),
      ...(there.redirectUris?.some((pattern) => covers(pattern, redirectUri)) === true
        ? []
        : [`add the redirect URI ${redirectUri}`]),
    ];
    if (wrong.length > 0) {
      throw new ProgramError(
        'Failed',
        `The client ${clientId} is there in another form, and is not changed, since others may use it: ${wrong.join(', ')}; or make another one by --client`,
      );
    }
    show({ part: 'Client', outcome: 'there', message: `${clientId} is there.` });
    return there;
  }
  await keycloak.post('/clients', {
    clientId,
    name: 'Coffer',
    protocol: 'openid-connect',
    publicClient: false,
    standardFlowEnabled: true,
    directAccessGrantsEnabled: false,
    serviceAccountsEnabled: true,
    redirectUris: [redirectUri],
    attributes: { 'use.jwks.url': 'true', 'post.logout.redirect.uris': `${pages}/*` },
  });
  const [made] = await keycloak.get<readonly ClientRow[]>(path);
  if (made === undefined)
    throw new ProgramError('Failed', `Keycloak does not list the client ${clientId} that it made`);
  show({ part: 'Client', outcome: 'made', message: `${clientId}, with the redirect URI ${redirectUri}.` });
  return made;
}

/** Keycloak takes a `*` at the end of a redirect URI. */
function covers(pattern: string, redirectUri: string): boolean {
  return pattern.endsWith('*') ? redirectUri.startsWith(pattern.slice(0, -1)) : pattern === redirectUri;
}

interface Mapper {
  readonly name: string;
  readonly protocolMapper: string;
  readonly config: Readonly<Record<string, string>>;
}

const policyMapper: Mapper = {
  name: claim,
  protocolMapper: 'oidc-usermodel-attribute-mapper',
  config: {
    'user.attribute': claim,
    'claim.name': claim,
    'jsonType.label': 'String',
    multivalued: 'true',
    'aggregate.attrs': 'true',
    'id.token.claim': 'true',
    'access.token.claim': 'true',
    'userinfo.token.claim': 'true',
  },
};

/** Puts the client into the audience of its access tokens, which programs send. */
function audienceMapper(clientId: string): Mapper {
  const config = { 'included.client.audience': clientId, 'access.token.claim': 'true', 'id.token.claim': 'false' };
  return { name: 'audience', protocolMapper: 'oidc-audience-mapper', config };
}

interface ScopeRow {
  readonly id: string;
  readonly name: string;
  readonly protocolMappers?: readonly Mapper[];
}

async function makeScope(
  keycloak: KeycloakRealm,
  name: string,
  mapper: Mapper,
  client: string,
  show: Show,
): Promise<void> {
  const find = async () => (await keycloak.get<readonly ScopeRow[]>('/client-scopes')).find((one) => one.name === name);
  const protocolMappers = [{ ...mapper, protocol: 'openid-connect' }];
  const there = await find();
  if (there === undefined) {
    const attributes = { 'include.in.token.scope': 'true' };
    await keycloak.post('/client-scopes', { name, protocol: 'openid-connect', attributes, protocolMappers });
  }
  const scope = there ?? (await find());
  if (scope === undefined) throw new ProgramError('Failed', `Keycloak does not list the scope ${name} that it made`);
  const same = scope.protocolMappers?.find((one) => one.name === mapper.name);
  const wrong = Object.entries(mapper.config).filter(
    ([key, value]) => same !== undefined && same.config[key] !== value,
  );
  if (same === undefined) await keycloak.post(`/client-scopes/${scope.id}/protocol-mappers/models`, protocolMappers[0]);
  const path = `/clients/${client}/default-client-scopes`;
  const assigned = (await keycloak.get<readonly ScopeRow[]>(path)).some(({ id }) => id === scope.id);
  const optional = await keycloak.get<readonly ScopeRow[]>(`/clients/${client}/optional-client-scopes`);
  const isOptional = optional.some(({ id }) => id === scope.id);
  if (!assigned && !isOptional) await keycloak.put(`${path}/${scope.id}`, undefined);
  const part = 'Client scope';
  if (isOptional) {
    const message = `${name} is an optional scope of the client, and is not changed: make it a default one.`;
    show({ part, outcome: 'differs', message });
  } else if (wrong.length > 0) {
    const texts = wrong.map(([key, value]) => `${key}=${value}`).join(', ');
    show({
      part,
      outcome: 'differs',
      message: `The mapper ${mapper.name} of ${name} is not changed; it needs ${texts}.`,
    });
  } else if (there !== undefined && same !== undefined && assigned) {
    show({ part, outcome: 'there', message: `${name} is there.` });
  } else show({ part, outcome: 'made', message: `${name}, with the mapper ${mapper.name}, as a default scope.` });
}

interface UserProfile {
  readonly attributes?: readonly {
    readonly name?: string;
    readonly permissions?: { readonly edit?: readonly string[] };
  }[];
  readonly unmanagedAttributePolicy?: string;
}

/**
 * Since 24, attributes that the user profile does not declare are dropped without a word, or, as unmanaged ones that are `ENABLED`, written by
 * people themselves.
 */
async function declareAttribute(context: Context, keycloak: KeycloakRealm, show: Show): Promise<void> {
  const part = 'User profile';
  const profile = await keycloak.find<UserProfile>('/users/profile');
  if (profile?.attributes === undefined) {
    context.output.warn(
      'provider',
      `This Keycloak has no user profile, and people can write attributes of their own by the API of accounts: start it with --spi-user-profile-legacy-user-profile-read-only-attributes=${claim}, or everybody can name any policy`,
    );
    return;
  }
  const declared = profile.attributes.find(({ name }) => name === claim);
  if (declared?.permissions?.edit?.includes('user') === true) {
    throw new ProgramError(
      'Failed',
      `People may edit the attribute "${claim}" themselves by the user profile of the realm, and so give themselves any policy: let administrators alone edit it`,
    );
  }
  if (declared !== undefined || profile.unmanagedAttributePolicy === 'ADMIN_EDIT') {
    return show({ part, outcome: 'there', message: `Administrators alone give people the attribute "${claim}".` });
  }
  const permissions = { view: ['admin'], edit: ['admin'] };
  const attribute = { name: claim, displayName: 'Policies of Coffer', multivalued: true, permissions };
  await keycloak.put('/users/profile', { ...profile, attributes: [...profile.attributes, attribute] });
  return show({ part, outcome: 'made', message: `The attribute "${claim}", which administrators alone see and edit.` });
}

interface RoleRow {
  readonly id: string;
  readonly name: string;
}

/** Lets the service account look people up, so that access of those who are gone ends. */
async function allowLookups(keycloak: KeycloakRealm, client: string, show: Show): Promise<void> {
  const part = 'Service account';
  const { id: account } = await keycloak.get<{ readonly id: string }>(`/clients/${client}/service-account-user`);
  const [management] = await keycloak.get<readonly ClientRow[]>('/clients?clientId=realm-management');
  if (management === undefined) {
    const message = 'Give it view-users: the realm has no client realm-management (that of "master" is MASTER-realm).';
    return show({ part, outcome: 'differs', message });
  }
  const path = `/users/${account}/role-mappings/clients/${management.id}`;
  const given = await keycloak.get<readonly RoleRow[]>(path);
  if (given.some(({ name }) => name === 'view-users')) {
    return show({ part, outcome: 'there', message: 'It has view-users.' });
  }
  await keycloak.post(path, [await keycloak.get<RoleRow>(`/clients/${management.id}/roles/view-users`)]);
  return show({ part, outcome: 'made', message: 'The role view-users of realm-management.' });
}
