import { formatKeyValues, parseConfigLines } from '../../protocol/settings/key-values.ts';
import { redactSetting } from '../../platform/output/redact-secrets.ts';
import { configSubsystems, targetSubsystems, type ConfigSubsystem } from '../../platform/settings/config-subsystems.ts';
import { minioDefaults } from '../../platform/settings/minio-config-defaults.ts';
import type { GivenSetting } from '../../platform/settings/setting-source.ts';
import {
  redacted,
  type ConfigurationDetails,
  type IdentityProviderConfigurations,
} from '../federation/configurations/provider-configurations.ts';

/** Formats a subsystem for `mc admin config get|export`: comments with the settings of the environment, then a line per name. */
export function environmentText(subsystem: ConfigSubsystem, given: ReadonlyMap<string, GivenSetting>): string {
  if (!subsystem.multiple) return targetText(subsystem, given, nameless);
  const names = environmentTargets(subsystem, given);
  if (names.length === 0) return `${subsystem.name} enable=off`;
  return names.map((name) => targetText(subsystem, given, name)).join('\n');
}

/** Formats the target of this name. */
export function targetText(
  subsystem: ConfigSubsystem,
  given: ReadonlyMap<string, GivenSetting>,
  target: string,
): string {
  const comments = subsystem.keys.flatMap(({ row }) => {
    const set = given.get(settingOf(row, target));
    // A URL may contain a password or a token.
    return set === undefined ? [] : [`# ${set.variable}=${redactSetting(set.value ?? redacted)}`];
  });
  const values = subsystem.keys.map(({ key, row }) => [key, row.secret ? '' : (row.default ?? '')] as const);
  const name = target === nameless ? subsystem.name : `${subsystem.name}:${target}`;
  return [...comments, `${name} ${formatKeyValues(values)}`].join('\n');
}

/** The name that clients give to the unnamed target. */
const nameless = '_';

/** Returns the targets that the environment sets, the unnamed one first. */
export function environmentTargets({ keys }: ConfigSubsystem, given: ReadonlyMap<string, GivenSetting>): string[] {
  const rows = keys.map(({ row }) => row.name).sort((a, b) => b.length - a.length);
  const found = new Set<string>();
  for (const name of given.keys()) {
    const row = rows.find((one) => name === one || name.startsWith(`${one}_`));
    if (row !== undefined) found.add(name === row ? nameless : name.slice(row.length + 1));
  }
  return [...found].sort((a, b) => Number(b === nameless) - Number(a === nameless) || (a < b ? -1 : 1));
}

/** Returns the key of a setting in `given`. */
export function settingOf(row: { readonly name: string }, target: string): string {
  return target === nameless ? row.name : `${row.name}_${target}`;
}

export function providersText(
  kind: Pick<IdentityProviderConfigurations, 'subsystem' | 'keys'>,
  configurations: readonly ConfigurationDetails[],
): string {
  if (configurations.length === 0) return `${kind.subsystem} enable=off`;
  return configurations.map((configuration) => providerText(kind, configuration)).join('\n');
}

function providerText(
  { subsystem, keys }: Pick<IdentityProviderConfigurations, 'subsystem' | 'keys'>,
  { name, origin, values }: ConfigurationDetails,
): string {
  const named = name === '_' ? subsystem : `${subsystem}:${name}`;
  if (origin === 'stored') return `${named} ${formatKeyValues(values.map(({ key, value }) => [key, value]))}`;
  const suffix = name === '_' ? '' : `_${name}`;
  const comments = values.map(({ key, value }) => {
    const variable = keys.find((known) => known.key === key)?.variable ?? key;
    return `# ${variable}${suffix}=${redactSetting(value).replaceAll('\n', String.raw`\n`)}`;
  });
  return [...comments, named].join('\n');
}

/** Redacts the secrets of configuration lines. */
export function withoutSecrets(text: string, kinds: readonly IdentityProviderConfigurations[]): string {
  return parseConfigLines(text)
    .map(({ subsystem, target, values }) => {
      const keys = kinds.find((kind) => kind.subsystem === subsystem)?.keys ?? [];
      const shown = [...values].map(([key, value]): [string, string] => [
        key,
        keys.some((known) => known.key === key && known.secret) ? redacted : value,
      ]);
      return `${subsystem}${target === '_' ? '' : `:${target}`} ${formatKeyValues(shown)}`;
    })
    .join('\n');
}

/** All subsystems that only the environment sets. */
export const environmentSubsystems: readonly ConfigSubsystem[] = [...configSubsystems, ...targetSubsystems];

export function environmentSubsystem(name: string): ConfigSubsystem | undefined {
  // MinIO releases before 2022 called it region.
  return environmentSubsystems.find((one) => one.name === (name === 'region' ? 'site' : name));
}

/** A subsystem of MinIO that this server shows, and does not have. */
export interface AbsentSubsystem {
  readonly name: string;
  readonly description: string;
  readonly keys: ReturnType<typeof minioDefaults>;
}

/** `mc support` and `mc license` read these first, and then report that the deployment is not registered. */
export const absentSubsystems: readonly AbsentSubsystem[] = [
  {
    name: 'subnet',
    description: 'registration with SUBNET, which this server does not do',
    keys: minioDefaults('subnet'),
  },
  {
    name: 'callhome',
    description: 'reports to SUBNET, which this server does not send',
    keys: minioDefaults('callhome'),
  },
];

export function absentSubsystem(name: string): AbsentSubsystem | undefined {
  return absentSubsystems.find((one) => one.name === name);
}

export function absentText({ name, keys }: AbsentSubsystem): string {
  return `${name} ${formatKeyValues(keys.map(({ key, value }) => [key, value] as const))}`;
}

export function helpOfAbsent({ name, description, keys }: AbsentSubsystem, key: string): Help {
  return {
    subSys: name,
    description,
    multipleTargets: false,
    keysHelp: keys
      .filter((known) => key === '' || known.key === key)
      .map((known) => ({ key: known.key, description, optional: true, type: '', multipleTargets: false })),
  };
}

interface Help {
  readonly subSys: string;
  readonly description: string;
  readonly multipleTargets: boolean;
  readonly keysHelp: readonly {
    readonly key: string;
    readonly description: string;
    readonly optional: boolean;
    readonly type: string;
    readonly multipleTargets: boolean;
  }[];
}

/** Lists all subsystems. */
export function helpOfAll(
  kinds: readonly IdentityProviderConfigurations[],
  subsystems: readonly ConfigSubsystem[],
): Help {
  const entries = [
    ...kinds.map(({ subsystem, description, multiple }) => ({ key: subsystem, description, multiple })),
    ...absentSubsystems.map(({ name, description }) => ({ key: name, description, multiple: false })),
    ...subsystems.map(({ name, description, multiple }) => ({
      key: name,
      description: `${description} (from the environment)`,
      multiple,
    })),
  ];
  return {
    subSys: '',
    description: '',
    multipleTargets: false,
    keysHelp: entries.map(({ key, description, multiple }) => ({
      key,
      description,
      optional: true,
      type: '',
      multipleTargets: multiple,
    })),
  };
}

/** With `variables`, keys have the names of environment variables. */
export function helpOfProviders(kind: IdentityProviderConfigurations, key: string, variables: boolean): Help {
  return {
    subSys: kind.subsystem,
    description: kind.description,
    multipleTargets: kind.multiple,
    keysHelp: kind.keys
      .filter((known) => key === '' || known.key === key)
      .map((known) => ({
        key: variables ? known.variable : known.key,
        description: known.help,
        optional: known.optional,
        type: known.type,
        multipleTargets: false,
      })),
  };
}

export function helpOfEnvironment(subsystem: ConfigSubsystem, key: string, variables: boolean): Help {
  return {
    subSys: subsystem.name,
    description: `${subsystem.description}; set in the environment, in effect after a restart`,
    multipleTargets: subsystem.multiple,
    keysHelp: subsystem.keys
      .filter((known) => key === '' || known.key === key)
      .map(({ key: name, row }) => ({
        key: variables ? row.name : name,
        description: row.help,
        optional: true,
        type: row.type.kind,
        multipleTargets: false,
      })),
  };
}
