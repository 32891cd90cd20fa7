import type { ConfigSubsystem } from '../../platform/settings/config-subsystems.ts';
import type { IdentityProviderConfigurations } from '../identity-providers/identity-provider-configurations.ts';

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

/** What can be asked about. */
export function helpOfAll(
  kinds: readonly IdentityProviderConfigurations[],
  subsystems: readonly ConfigSubsystem[],
): Help {
  const entries = [
    ...kinds.map(({ subsystem, description, multiple }) => ({ key: subsystem, description, multiple })),
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

/** With `variables`, keys are named as the environment has them. */
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
