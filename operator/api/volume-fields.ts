import { z } from 'zod';
import { coreObjectName, volumeSize } from './fields.ts';

const units: Readonly<Record<string, number>> = {
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * Returns the value of a Kubernetes quantity (`1.5Gi`, `100M`, `1e9`); undefined for other text.
 *
 * @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
export function quantityValue(quantity: string): number | undefined {
  const match = /^([+-]?[0-9]*\.?[0-9]+|[0-9]+\.)((?:[eE][+-]?[0-9]+)|[A-Za-z]{0,2})$/.exec(quantity);
  if (match === null) return undefined;
  const [, digits = '', unit = ''] = match;
  if (/^[eE][+-]?[0-9]/.test(unit)) return Number(digits + unit);
  const factor = units[unit];
  return factor === undefined ? undefined : Number(digits) * factor;
}

/** Returns the larger of two quantities, or the first when one is invalid. */
export function largerQuantity(first: string, second: string): string {
  const [left, right] = [quantityValue(first), quantityValue(second)];
  return left !== undefined && right !== undefined && right > left ? second : first;
}

const storageClass = z
  .string()
  .max(253)
  .regex(/^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)?$/);

/** A volume of the operator, or an existing claim of the user. */
export const volumeFields = {
  size: volumeSize
    .optional()
    .describe(
      'Size of the volume, e.g. 100Gi; needed in a cluster. It may grow. A smaller size takes back a growth that did not happen; a volume never shrinks.',
    ),
  path: z.string().min(1).max(4096).optional().describe('Folder on this machine, for the local runtime only.'),
  storageClassName: storageClass
    .optional()
    .describe(
      "Storage class of the volume; the cluster's default without it. Empty: none, so that a volume made by hand is bound.",
    ),
  accessMode: z
    .enum(['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'])
    .default('ReadWriteOnce')
    .describe('How the volume can be mounted, also that of existingClaim.'),
  existingClaim: coreObjectName.optional().describe('PersistentVolumeClaim to use instead of one of its own.'),
} as const;

export type VolumeFields = z.output<z.ZodObject<typeof volumeFields>>;

/** Reports whether a change keeps the data on the same volume. Of a claim only the size can change. */
export function sameVolume(now: VolumeFields, before: VolumeFields): boolean {
  return (
    now.storageClassName === before.storageClassName &&
    now.accessMode === before.accessMode &&
    now.existingClaim === before.existingClaim
  );
}

/** Returns `sameVolume` in CEL. `at` is the field of the volume, `storage`. */
export function celSameVolume(at: string): string {
  const optional = (field: string) =>
    `has(self.${at}.${field}) == has(oldSelf.${at}.${field}) && ` +
    `(!has(self.${at}.${field}) || self.${at}.${field} == oldSelf.${at}.${field})`;
  return [
    optional('storageClassName'),
    optional('existingClaim'),
    `self.${at}.accessMode == oldSelf.${at}.accessMode`,
  ].join(' && ');
}
