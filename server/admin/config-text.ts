import { formatKeyValues, parseConfigLines } from '../../protocol/settings/key-values.ts';
import { configSubsystems } from '../../platform/settings/config-subsystems.ts';
import type { ConfigSubsystem } from '../../platform/settings/config-subsystems.ts';
import type { GivenSetting } from '../../platform/settings/setting-source.ts';
import { redacted } from '../identity-providers/identity-provider-configurations.ts';
import type {
  ConfigurationDetails,
  IdentityProviderConfigurations,
} from '../identity-providers/identity-provider-configurations.ts';

/**
 * The configuration as `mc admin config get|export` prints it: a line for each subsystem and name, after it has been said by comments
 * which of its keys the environment gives.
 */
export function environmentText(subsystem: ConfigSubsystem, given: ReadonlyMap<string, GivenSetting>): string {
  const comments = subsystem.keys.flatMap(({ row }) => {
    const set = given.get(row.name);
    return set === undefined ? [] : [`# ${set.variable}=${set.value ?? redacted}`];
  });
  const values = subsystem.keys.map(({ key, row }) => [key, row.secret ? '' : (row.default ?? '')] as const);
  return [...comments, `${subsystem.name} ${formatKeyValues(values)}`].join('\n');
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
    return `# ${variable}${suffix}=${value.replaceAll('\n', String.raw`\n`)}`;
  });
  return [...comments, named].join('\n');
}

/** A text of lines without its secrets. */
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

export function environmentSubsystem(name: string): ConfigSubsystem | undefined {
  // Releases before 2022 called it region.
  return configSubsystems.find((one) => one.name === (name === 'region' ? 'site' : name));
}
