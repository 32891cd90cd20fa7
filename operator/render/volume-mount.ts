import type { VolumeFields } from '../api/volume-fields.ts';
import type { Mount } from '../workload.ts';

/** A volume of a spec. `sharing`: whether each instance has one of its own, or all have one together. */
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
