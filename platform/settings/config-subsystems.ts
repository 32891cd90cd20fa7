import type { Setting } from '../../protocol/settings/setting.ts';
import { notifyPrefix, notifyTypes } from '../../protocol/settings/notify-rows.ts';
import { settings } from '../../protocol/settings/table.ts';

/** A key of `admin idp` and `admin config`. Synonyms mean the same. */
export interface ConfigKey {
  readonly key: string;
  readonly synonyms: readonly string[];
  readonly row: Setting;
}

/** Returns the values by their main names, and the problems. `whose` is for messages: `an OpenID provider`. */
export function valuesByKey(
  keys: readonly ConfigKey[],
  whose: string,
  values: ReadonlyMap<string, string>,
): { readonly values: Map<string, string>; readonly problems: readonly string[] } {
  const found = new Map<string, string>();
  const problems: string[] = [];
  for (const [given, value] of values) {
    const known = keys.find(({ key, synonyms }) => key === given || synonyms.includes(given));
    if (known === undefined) problems.push(`${given} is no key of ${whose}`);
    else if (found.has(known.key)) problems.push(`${known.key} is given twice, once as ${given}`);
    else found.set(known.key, value);
  }
  if (problems.some((issue) => issue.includes('is no key'))) {
    problems.push(`the keys are ${keys.map(({ key }) => key).join(', ')}`);
  }
  return { values: found, problems };
}

/** Settings of the server that belong together, for `admin config`. They come from the environment only. */
export interface ConfigSubsystem {
  readonly name: string;
  readonly description: string;
  /** There are several by name: their settings have the suffix `_<name>`. */
  readonly multiple: boolean;
  readonly keys: readonly { readonly key: string; readonly row: Setting }[];
}

/** The first prefix that matches the name of a setting decides. The rest of the name is the key. */
const subsystems: readonly (readonly [name: string, prefix: RegExp, description: string])[] = [
  ['site', /^SVC_(?=REGION$)/, 'region of this store'],
  ['api', /^SVC_API_/, 'the S3 API'],
  ['browser', /^SVC_BROWSER_?|^SVC_CONSOLE_(?=SESSION)/, 'the console'],
  ['kms', /^SVC_KMS_(?:KEYSVC_)?/, 'key service and encryption'],
  ['storage', /^SVC_(?=STOR|SCRUB)/, 'where records and bodies are kept, and how'],
  ['scanner', /^SVC_SCANNER_/, 'how often objects and bytes are counted by bucket'],
  ['lifecycle', /^SVC_LIFECYCLE_/, 'how fast lifecycle rules remove objects'],
  ['identity_check', /^SVC_IDENTITY_OPENID_CHECK_/, 'whether people who have credentials still exist'],
  ['identity_plugin', /^SVC_IDENTITY_PLUGIN_/, 'a web service that vouches for people'],
  ['identity_tls', /^SVC_IDENTITY_TLS_/, 'sign-in by client certificates'],
  ['audit', /^SVC_AUDIT_/, 'where the audit log goes'],
  ['notify', /^SVC_NOTIFY_/, 'how many events wait for a target'],
  ['sts', /^SVC_STS_/, 'temporary credentials'],
  ['server', /^SVC_(?!IDENTITY_)/, 'root credentials, addresses, threads, logs and shutdown of the server'],
];

const rows: readonly Setting[] = settings;

export const configSubsystems: readonly ConfigSubsystem[] = subsystems.map(([name, , description]) => ({
  name,
  description,
  multiple: false,
  keys: rows.flatMap((row) => {
    if (row.scope !== 'server') return [];
    const [owner, prefix] = subsystems.find(([, pattern]) => pattern.test(row.name)) ?? [];
    if (owner !== name || prefix === undefined) return [];
    return [{ key: row.name.replace(prefix, '').toLowerCase() || 'enable', row }];
  }),
}));

/** The subsystems of which there are several, with the names that MinIO's clients know. */
export const targetSubsystems: readonly ConfigSubsystem[] = [
  targetSubsystem('audit_webhook', 'web services that the audit log goes to', 'SVC_AUDIT_WEBHOOK_'),
  ...notifyTypes.map((type) =>
    targetSubsystem(
      `notify_${notifyPrefix(type).slice('SVC_NOTIFY_'.length, -1).toLowerCase()}`,
      `${type} targets of events of buckets`,
      notifyPrefix(type),
    ),
  ),
];

function targetSubsystem(name: string, description: string, prefix: string): ConfigSubsystem {
  const keys = rows
    .filter((row) => row.scope === 'per-target' && row.name.startsWith(prefix))
    .map((row) => ({ key: row.name.slice(prefix.length).toLowerCase(), row }));
  return { name, description, multiple: true, keys };
}
