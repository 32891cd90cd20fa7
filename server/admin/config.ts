import { IdentityError } from '../auth/identity-error.ts';
import { type ConfigLine, parseConfigLines } from '../../protocol/settings/key-values.ts';
import {
  type IdentityProviderConfigurations,
  type SaveMode,
} from '../federation/configurations/provider-configurations.ts';
import {
  absentSubsystem,
  type AbsentSubsystem,
  absentSubsystems,
  absentText,
  helpOfAbsent,
  helpOfAll,
  helpOfEnvironment,
  helpOfProviders,
  environmentSubsystem,
  environmentSubsystems,
  environmentTargets,
  environmentText,
  providersText,
  settingOf,
  targetText,
  withoutSecrets,
} from './config-text.ts';
import type { GivenSetting } from '../../platform/settings/setting-source.ts';
import type { Setting } from '../../protocol/settings/setting.ts';
import { isMinioDefault } from '../../platform/settings/minio-config-defaults.ts';
import { saved } from './identity-providers/identity-providers.ts';
import { requireChangeOfProviders } from '../administration/caller.ts';
import { type AdminAnswer, type AdminCall, json, nothing, type Route, sealed } from './call.ts';
import type { AdminServices } from '../administration/services.ts';

const action = 'admin:ConfigUpdate';
const own = (call: string) => new RegExp(`^/minio/admin/v[34]/${call}$`);

/** `mc admin config get|set|reset|export|import|history|restore`. Only identity providers can be set while the server runs. */
export const configRoutes: readonly Route[] = [
  { method: 'GET', path: own('get-config-kv'), action, serve: getKeys },
  { method: 'PUT', path: own('set-config-kv'), action, serve: (call) => setLines(call, 'set') },
  { method: 'DELETE', path: own('del-config-kv'), action, serve: deleteKeys },
  {
    method: 'GET',
    path: own('help-config-kv'),
    action,
    serve: ({ services, query }) => Promise.resolve(json(help(services, query))),
  },
  { method: 'GET', path: own('config'), action, serve: async ({ services }) => text(await everything(services)) },
  { method: 'PUT', path: own('config'), action, serve: importLines },
  {
    method: 'GET',
    path: own('list-config-history-kv'),
    action,
    async serve({ services, query }) {
      const count = Math.min(200, Math.max(1, Number(query.get('count')) || 10));
      const entries = (await services.configurationHistory?.history(count)) ?? [];
      const kinds = services.identityProviders ?? [];
      return sealed(
        entries.map(({ id, at, text: data }) => ({
          restoreId: id,
          createTime: new Date(at).toISOString(),
          data: withoutSecrets(data, kinds),
        })),
      );
    },
  },
  {
    method: 'PUT',
    path: own('restore-config-history-kv'),
    action,
    async serve(call) {
      const id = call.required('restoreId');
      const entry = await call.services.configurationHistory?.historyEntry(id);
      if (entry === undefined) throw new IdentityError('no-such-history', `There is no entry ${id.slice(0, 64)}.`);
      return applyLines(call, parseConfigLines(entry.text), 'replace');
    },
  },
  {
    method: 'DELETE',
    path: own('clear-config-history-kv'),
    action,
    async serve(call) {
      const id = call.required('restoreId');
      await call.services.configurationHistory?.clearHistory(id === 'all' ? undefined : id);
      return nothing;
    },
  },
];

async function getKeys({ services, query }: AdminCall): Promise<AdminAnswer> {
  const asked = (query.get('key') ?? '').trim();
  if (asked === '') return text(await everything(services));
  const [, name = '', target] = /^([^\s:]+)(?::(\S+))?/.exec(asked) ?? [];
  const kind = kindOf(services, name);
  if (kind !== undefined) {
    const list = await detailsOf(kind);
    const shown = target === undefined ? list : list.filter((configuration) => configuration.name === target);
    if (target !== undefined && shown.length === 0) throw noSuch(`${name}:${target}`);
    return text(providersText(kind, shown));
  }
  const absent = absentSubsystem(name);
  if (absent !== undefined) return text(absentText(absent));
  const subsystem = environmentSubsystem(name);
  if (subsystem === undefined) throw noSuch(name);
  const given = services.given ?? new Map();
  if (!subsystem.multiple || target === undefined) return text(environmentText(subsystem, given));
  if (!environmentTargets(subsystem, given).includes(target)) throw noSuch(`${name}:${target}`);
  return text(targetText(subsystem, given, target));
}

async function setLines(call: AdminCall, mode: SaveMode): Promise<AdminAnswer> {
  const lines = parseConfigLines((await call.sealedBody()).toString());
  return applyLines(call, lines, mode);
}

/**
 * An export of MinIO has lines for subsystems and keys that Coffer does not have. Where MinIO's default is their value, nothing is lost without
 * them. The import takes what it can, and the error lists what else was left out, because clients print no successful answer.
 */
async function importLines(call: AdminCall): Promise<AdminAnswer> {
  const lines = parseConfigLines((await call.sealedBody()).toString());
  const taken: ConfigLine[] = [];
  const leftOut: string[] = [];
  for (const line of lines) {
    const { subsystem, target } = line;
    if (kindOf(call.services, subsystem) !== undefined) {
      taken.push(line);
      continue;
    }
    const name = target === '_' ? subsystem : `${subsystem}:${target}`;
    const { known, unknown } = withoutMinioDefaults(line);
    if (unknown.length > 0) leftOut.push(`${name} (it has no ${unknown.join(', ')})`);
    else if (environmentSubsystem(subsystem) !== undefined) {
      try {
        refuseChange(call.services, { ...known, mode: 'replace' });
        taken.push(known);
      } catch (error) {
        if (!(error instanceof IdentityError)) throw error;
        leftOut.push(`${name} (${error.message.replace(/\.$/, '')})`);
      }
    } else if (line.values.size === 0) leftOut.push(name);
  }
  const answer = await applyLines(call, taken, 'replace');
  if (leftOut.length === 0) return answer;
  const imported = taken.map(({ subsystem }) => subsystem);
  throw new IdentityError(
    'invalid-configuration',
    `Imported: ${imported.length === 0 ? 'nothing' : [...new Set(imported)].join(', ')}. ` +
      `Left out, since this server cannot set it: ${leftOut.join(', ')}. Remove these lines to import without this message.`,
  );
}

/** Parts the keys that this server has from those that it lacks. Of the latter those with MinIO's default are left out. */
function withoutMinioDefaults(line: ConfigLine): { readonly known: ConfigLine; readonly unknown: readonly string[] } {
  const { subsystem, target, values } = line;
  const keys = environmentSubsystem(subsystem)?.keys ?? [];
  const isKnown = (key: string) => keys.some((one) => one.key === key);
  const known = new Map([...values].filter(([key]) => isKnown(key)));
  const unknown = [...values].filter(
    ([key, value]) => !isKnown(key) && !(target === '_' && isMinioDefault(subsystem, key, value)),
  );
  return { known: { ...line, values: known }, unknown: unknown.map(([key]) => key) };
}

/** Checks all lines before it changes anything. */
async function applyLines(call: AdminCall, lines: readonly ConfigLine[], mode: SaveMode): Promise<AdminAnswer> {
  const { services } = call;
  const changes = [];
  for (const { subsystem, target, values } of lines) {
    const kind = kindOf(services, subsystem);
    if (kind === undefined) refuseChange(services, { subsystem, target, values, mode });
    // An export has this line for a kind without configurations, and for one of the environment.
    else if (values.size > 0 && !(mode === 'replace' && isOff(values))) changes.push({ kind, target, values });
  }
  if (changes.length > 0) await requireChangeOfProviders(call);
  let applied = true;
  for (const { kind, target, values } of changes) applied &&= (await kind.save(target, values, mode)).applied;
  return saved({ applied });
}

function isOff(values: ReadonlyMap<string, string>): boolean {
  return values.size === 1 && values.get('enable') === 'off';
}

async function deleteKeys(call: AdminCall): Promise<AdminAnswer> {
  const words = (await call.sealedBody()).toString().trim().split(/\s+/);
  const [first = '', ...keys] = words;
  const [name = '', target = '_'] = first.split(':', 2);
  const kind = kindOf(call.services, name);
  if (kind === undefined) {
    refuseChange(call.services, { subsystem: name, target, values: new Map([['', '']]), mode: 'set' });
    return nothing;
  }
  // Removing a provider gives no rights. Removing its role policy or claim name may give some.
  if (keys.length > 0) await requireChangeOfProviders(call);
  return saved(await kind.remove(target, keys.length === 0 ? undefined : keys));
}

/** Throws for a value that only the environment can set. An exported value may come back unchanged. */
function refuseChange(
  { given }: AdminServices,
  { subsystem: name, target, values, mode }: ConfigLine & { readonly mode: SaveMode },
): void {
  const absent = absentSubsystem(name);
  if (absent !== undefined) return refuseAbsent(absent, values);
  const subsystem = environmentSubsystem(name);
  if (subsystem === undefined) throw noSuch(name);
  // `environmentText` writes this for no targets.
  if (subsystem.multiple && mode === 'replace' && isOff(values)) return;
  for (const [key, value] of values) {
    const row = subsystem.keys.find((known) => known.key === key)?.row;
    // A removal of a whole subsystem names no key.
    if (row === undefined && key !== '') throw noSuchKey(subsystem, key);
    if (row !== undefined && isUnchanged(row, value, mode, given?.get(settingOf(row, target)))) continue;
    const rows = row === undefined ? subsystem.keys.map((known) => known.row) : [row];
    const variable = rows.map((one) => settingOf(one, target)).join(', ');
    throw new IdentityError(
      'from-environment',
      `${name} comes from the environment and is not set here: set ${variable} there and restart the server.`,
    );
  }
}

/** An export has the defaults, also of what the environment sets, and MinIO's has an empty text for what was not set. */
function isUnchanged(
  { secret, default: ofTable = '' }: Setting,
  value: string,
  mode: SaveMode,
  given: GivenSetting | undefined,
): boolean {
  if (given !== undefined && value === given.value) return true;
  if (given !== undefined && mode === 'set') return false;
  return (mode === 'replace' && value === '') || (secret ? value === '' : value === ofTable);
}

/** Takes the values that an export has. */
function refuseAbsent({ name, keys }: AbsentSubsystem, values: ReadonlyMap<string, string>): void {
  for (const [key, value] of values) {
    // A removal of a whole subsystem names no key.
    if (key === '') continue;
    const known = keys.find((one) => one.key === key);
    if (known === undefined) throw noSuchKey({ name, keys }, key);
    if (value !== known.value) {
      throw new IdentityError(
        'invalid-configuration',
        `${name} cannot be set: this server registers nowhere and calls nobody.`,
      );
    }
  }
}

function noSuchKey(
  { name, keys }: { readonly name: string; readonly keys: readonly { readonly key: string }[] },
  key: string,
) {
  const known = keys.map((one) => one.key).join(', ');
  return new IdentityError(
    'invalid-configuration',
    `${name} has no key ${JSON.stringify(key.slice(0, 80))}; its keys are ${known}.`,
  );
}

function help(services: AdminServices, query: URLSearchParams): object {
  const [name, key] = [query.get('subSys') ?? '', query.get('key') ?? ''];
  const variables = query.has('env');
  const kinds = services.identityProviders ?? [];
  if (name === '') return helpOfAll(kinds, environmentSubsystems);
  const kind = kindOf(services, name);
  if (kind !== undefined) return helpOfProviders(kind, key, variables);
  const absent = absentSubsystem(name);
  if (absent !== undefined) return helpOfAbsent(absent, key);
  const subsystem = environmentSubsystem(name);
  if (subsystem === undefined) throw noSuch(name);
  return helpOfEnvironment(subsystem, key, variables);
}

async function everything(services: AdminServices): Promise<string> {
  const given = services.given ?? new Map();
  const kinds = services.identityProviders ?? [];
  const fromStore = await Promise.all(kinds.map(async (kind) => providersText(kind, await detailsOf(kind))));
  const ofEnvironment = environmentSubsystems.map((subsystem) => environmentText(subsystem, given));
  return [...ofEnvironment, ...absentSubsystems.map((one) => absentText(one)), ...fromStore].join('\n\n');
}

async function detailsOf(kind: IdentityProviderConfigurations) {
  const names = (await kind.list()).map(({ name }) => name);
  const found = await Promise.all(names.map((name) => kind.get(name)));
  return found.filter((details) => details !== undefined);
}

function kindOf({ identityProviders = [] }: AdminServices, name: string): IdentityProviderConfigurations | undefined {
  return identityProviders.find(({ subsystem }) => subsystem === name);
}

function noSuch(name: string): IdentityError {
  const known = [...environmentSubsystems, ...absentSubsystems].map((subsystem) => subsystem.name).join(', ');
  return new IdentityError(
    'no-such-subsystem',
    `There is no configuration ${JSON.stringify(name.slice(0, 80))}; there are identity_openid, identity_ldap, ${known}.`,
  );
}

function text(value: string): AdminAnswer {
  return { kind: 'sealed', value: `${value}\n` };
}
