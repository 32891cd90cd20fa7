import { ProgramError } from '../../../platform/errors/program-error.ts';
import { parseRemote } from '../../config/target.ts';
import { adminOf, type AdminClient } from '../admin-client.ts';
import { documentText } from '../../terminal/document-text.ts';
import type { Context } from '../context.ts';
import { parseSize } from '../data/entries/sizes.ts';

type Fields = Readonly<Record<string, unknown>>;

const version = { 'api-version': '1' };

/** Makes sites of servers: what one gets, all get. The first alias is asked to do it. */
export async function addSites(
  context: Context,
  aliases: readonly string[],
  { replicateIlmExpiry = false }: { readonly replicateIlmExpiry?: boolean },
): Promise<void> {
  if (aliases.length < 2) throw new ProgramError('BadArgument', 'Name at least two servers');
  const known = await context.aliases();
  const sites = aliases.map((name) => {
    const { alias, aliasName } = parseRemote(name.replace(/\/+$/, ''), known);
    return { name: aliasName, endpoints: alias.url, accessKey: alias.accessKey, secretKey: alias.secretKey };
  });
  const admin = await adminOf(context, aliases[0] ?? '');
  const query = { ...version, ...(replicateIlmExpiry && { replicateILMExpiry: 'true' }) };
  print(context, await call(admin, 'PUT', 'add', query, sites, true), 'The servers are sites of each other now.');
}

export async function siteInfo(context: Context, [alias = '']: readonly string[]): Promise<void> {
  const admin = await adminOf(context, alias);
  print(context, await call(admin, 'GET', 'info', version));
}

interface StatusOptions {
  readonly buckets?: boolean;
  readonly policies?: boolean;
  readonly users?: boolean;
  readonly groups?: boolean;
  readonly ilmExpiryRules?: boolean;
  readonly all?: boolean;
  readonly bucket?: string;
  readonly policy?: string;
  readonly user?: string;
  readonly group?: string;
  readonly ilmExpiryRule?: string;
}

export async function siteStatus(
  context: Context,
  [alias = '']: readonly string[],
  options: StatusOptions,
): Promise<void> {
  const { bucket, policy, user, group, ilmExpiryRule } = options;
  const single = Object.entries({ bucket, policy, user, group, 'ilm-expiry-rule': ilmExpiryRule }).filter(
    ([, value]) => value !== undefined,
  );
  const kinds = ['buckets', 'policies', 'users', 'groups', 'ilmExpiryRules'] as const;
  const several = kinds.filter((kind) => options[kind] === true);
  if (single.length > 1 || (single.length > 0 && several.length > 0)) {
    throw new ProgramError(
      'BadArgument',
      'Ask for one bucket, policy, user, group or rule, or for kinds of them, not both',
    );
  }
  const isAll = options.all === true || (single.length === 0 && several.length === 0);
  const [one] = single;
  const query = {
    ...version,
    ...Object.fromEntries(kinds.map((kind) => [kindNames[kind], String(isAll || options[kind] === true)])),
    ...(one !== undefined && { entity: one[0], entityvalue: one[1] }),
    'peer-state': 'true',
    metrics: String(isAll),
    showDeleted: 'false',
  };
  const admin = await adminOf(context, alias);
  print(context, await call(admin, 'GET', 'status', query));
}

const kindNames = {
  buckets: 'buckets',
  policies: 'policies',
  users: 'users',
  groups: 'groups',
  ilmExpiryRules: 'ilm-expiry-rules',
} as const;

export async function removeSites(
  context: Context,
  [alias = '', ...sites]: readonly string[],
  { all = false, force = false }: { readonly all?: boolean; readonly force?: boolean },
): Promise<void> {
  if (all === sites.length > 0) throw new ProgramError('BadArgument', 'Name the sites to remove, or use --all');
  if (!force)
    throw new ProgramError(
      'Unsafe',
      'A site that is removed gets nothing more of the others: add --force if you are sure',
    );
  const admin = await adminOf(context, alias);
  const body = { requestingDepID: '', sites, all };
  print(context, await call(admin, 'PUT', 'remove', version, body), 'The sites are removed.');
}

interface UpdateOptions {
  readonly deploymentId?: string;
  readonly endpoint?: string;
  readonly mode?: string;
  readonly sync?: string;
  readonly bucketBandwidth?: string;
  readonly disableIlmExpiryReplication?: boolean;
  readonly enableIlmExpiryReplication?: boolean;
}

export async function updateSite(
  context: Context,
  [alias = '']: readonly string[],
  options: UpdateOptions,
): Promise<void> {
  checkUpdate(options);
  const body = {
    endpoint: options.endpoint ?? '',
    name: '',
    deploymentID: options.deploymentId ?? '',
    sync: syncState(options),
    defaultbandwidth: bandwidthOf(options.bucketBandwidth),
    'replicate-ilm-expiry': false,
  };
  const query = {
    ...version,
    ...(options.disableIlmExpiryReplication === true && { disableILMExpiryReplication: 'true' }),
    ...(options.enableIlmExpiryReplication === true && { enableILMExpiryReplication: 'true' }),
  };
  const admin = await adminOf(context, alias);
  print(context, await call(admin, 'PUT', 'edit', query, body, true), 'The site is updated.');
}

/** @throws ProgramError BadArgument */
function checkUpdate(options: UpdateOptions): void {
  const { deploymentId, endpoint, mode, sync, bucketBandwidth } = options;
  const { disableIlmExpiryReplication: disable = false, enableIlmExpiryReplication: enable = false } = options;
  const ofAllSites = disable || enable;
  const changes = [endpoint, mode, sync, bucketBandwidth].filter((value) => value !== undefined);
  const problems: readonly (readonly [boolean, string])[] = [
    [disable && enable, 'Enable or disable the replication of expiry rules, not both'],
    [
      ofAllSites && deploymentId !== undefined,
      'The replication of expiry rules is of all sites: leave out --deployment-id',
    ],
    [!ofAllSites && deploymentId === undefined, 'Name the site by --deployment-id'],
    [!ofAllSites && changes.length === 0, 'Say what to change: --endpoint, --mode or --bucket-bandwidth'],
    [mode !== undefined && sync !== undefined, '--sync is the older name of --mode: leave it out'],
  ];
  const issue = problems.find(([isThere]) => isThere);
  if (issue !== undefined) throw new ProgramError('BadArgument', issue[1]);
}

const syncStates: Readonly<Record<string, string>> = {
  sync: 'enable',
  async: 'disable',
  enable: 'enable',
  disable: 'disable',
};

function syncState({ mode, sync }: UpdateOptions): string {
  const text = mode ?? sync;
  if (text === undefined) return '';
  const state = syncStates[text.toLowerCase()];
  if (state !== undefined) return state;
  throw new ProgramError('BadArgument', `Invalid --mode \`${text}\`: it is sync or async`);
}

function bandwidthOf(text: string | undefined): Fields {
  return text === undefined
    ? { bandwidthLimitPerBucket: 0, set: false }
    : { bandwidthLimitPerBucket: parseSize('--bucket-bandwidth', text), set: true };
}

/** Sends all that one server holds to another again: `start`, `status` or `cancel`. */
export async function resyncSites(
  context: Context,
  [alias = '', peerAlias = '']: readonly string[],
  operation: 'start' | 'cancel',
): Promise<void> {
  const admin = await adminOf(context, alias);
  const peer = await peerOf(context, alias, peerAlias);
  print(context, await call(admin, 'PUT', 'resync/op', { ...version, operation }, peer));
}

/** Prints how far it is, one report after the other. */
export async function resyncStatus(context: Context, [alias = '', peerAlias = '']: readonly string[]): Promise<void> {
  const peer = await peerOf(context, alias, peerAlias);
  const { topMetrics } = await import('../support/diagnostics.ts');
  await topMetrics(context, [alias], { deployment: String(peer['deploymentID']) }, 'site-resync');
}

async function peerOf(context: Context, alias: string, peerAlias: string): Promise<Fields> {
  const info = await call(await adminOf(context, alias), 'GET', 'info', version);
  const peerAdmin = await adminOf(context, peerAlias);
  const { deploymentID } = await peerAdmin.json<{ readonly deploymentID?: string }>({ method: 'GET', call: 'info' });
  const sites = (info['sites'] ?? []) as readonly Fields[];
  const peer = sites.find((site) => site['deploymentID'] === deploymentID);
  if (peer === undefined) throw new ProgramError('NotFound', `\`${peerAlias}\` is no site of \`${alias}\``);
  return peer;
}

async function call(
  admin: AdminClient,
  method: 'GET' | 'PUT',
  name: string,
  query: Readonly<Record<string, string>>,
  body?: unknown,
  encrypted = false,
): Promise<Fields> {
  return admin.json<Fields>({ method, call: `site-replication/${name}`, query, body, ...(encrypted && { encrypted }) });
}

function print(context: Context, answer: Fields, human = documentText(answer)): void {
  context.output.message(answer['enabled'] === false ? 'Site replication is not enabled' : human, answer);
}
