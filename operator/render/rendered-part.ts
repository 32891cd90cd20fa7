import {
  type EnvironmentVariable,
  type Mount,
  type MountedFile,
  type RestartInput,
  plain,
  type Text,
} from '../contract/workload.ts';
import { setting } from '../../protocol/settings/table.ts';
import type { VolumeFields } from '../api/volume-fields.ts';
import { parseDuration } from '../../platform/settings/parse-value.ts';

/** The part of one subject of a spec (TLS, encryption, storage, …) in a workload. */
export interface RenderedPart {
  readonly environment: readonly EnvironmentVariable[];
  readonly files: readonly MountedFile[];
  readonly inputs: readonly RestartInput[];
}

export const nothing: RenderedPart = { environment: [], files: [], inputs: [] };

/** Returns the mount of these files; no mount without files. */
export function filesMount(name: string, files: readonly MountedFile[]): readonly Mount[] {
  return files.length === 0 ? [] : [{ kind: 'files', name, files }];
}

/**
 * Returns the variable of a setting, with the name in the settings table. `suffix` is `_<ID>` for a provider. Errors for a secret setting,
 * which must be a file.
 */
export function variable(name: string, value: string | Text, suffix = ''): EnvironmentVariable {
  if (setting(name).secret) throw new Error(`${name} is a secret and may not stand in the environment`);
  return { name: name + suffix, value: typeof value === 'string' ? plain(value) : value };
}

/** Returns the variable with the path of a secret setting's file. */
export function secretFileVariable(name: string, path: Text, suffix = ''): EnvironmentVariable {
  if (!setting(name).secret) throw new Error(`${name} is no secret and has no _FILE form`);
  return { name: `${name}${suffix}_FILE`, value: path };
}

export function byName(a: EnvironmentVariable, b: EnvironmentVariable): number {
  return a.name < b.name ? -1 : 1;
}

/** Returns the mount of a volume. `sharing` says whether each instance has its own claim or all share one. */
export function volumeMount(name: string, volume: VolumeFields, sharing: 'each' | 'shared'): Mount {
  const { size, path, storageClassName, accessMode, existingClaim } = volume;
  return {
    kind: 'volume',
    name,
    ...(size === undefined ? {} : { size }),
    ...(path === undefined ? {} : { path }),
    claim:
      existingClaim === undefined
        ? { kind: sharing, ...(storageClassName === undefined ? {} : { storageClassName }), accessMode }
        : { kind: 'existing', claimName: existingClaim },
  };
}

/** Returns the milliseconds of a duration that a schema has checked: `90d`, `1h30m`. */
export function milliseconds(duration: string): number {
  return parseDuration(duration);
}
