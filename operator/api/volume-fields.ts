import { z } from 'zod';
import { byteQuantity, coreObjectName } from './fields.ts';

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
 * The value of a Kubernetes quantity (`1.5Gi`, `100M`, `1e9`); undefined for anything else.
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

/** The larger of two quantities; the first where one cannot be read. */
export function largerQuantity(first: string, second: string): string {
  const [left, right] = [quantityValue(first), quantityValue(second)];
  return left !== undefined && right !== undefined && right > left ? second : first;
}

/** A volume of the operator's, or one that somebody else made. */
export const volumeFields = {
  size: byteQuantity
    .optional()
    .describe('Size of the volume, e.g. 100Gi; needed in a cluster. It may grow, never shrink.'),
  path: z.string().min(1).max(4096).optional().describe('Folder on this machine, for the local runtime only.'),
  storageClassName: coreObjectName
    .optional()
    .describe("Storage class of the volume; the cluster's default without it."),
  accessMode: z
    .enum(['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany'])
    .default('ReadWriteOnce')
    .describe('How the volume can be mounted, also that of existingClaim.'),
  existingClaim: coreObjectName.optional().describe('PersistentVolumeClaim to use instead of one of its own.'),
} as const;

export type VolumeFields = z.output<z.ZodObject<typeof volumeFields>>;

/** Whether a change leaves the volume where the data are. A claim cannot be changed but in its size. */
export function sameVolume(now: VolumeFields, before: VolumeFields): boolean {
  return (
    now.storageClassName === before.storageClassName &&
    now.accessMode === before.accessMode &&
    now.existingClaim === before.existingClaim
  );
}

/** `sameVolume` in CEL. `at`: the field with the volume, `storage`. */
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

/** Whether a change leaves the volume at least as large: a claim never shrinks. */
export function noSmaller(now: VolumeFields, before: VolumeFields): boolean {
  return now.size === undefined || before.size === undefined || largerQuantity(now.size, before.size) === now.size;
}

/** `noSmaller` in CEL. `at`: as of `celSameVolume`. */
export function celNoSmaller(at: string): string {
  return (
    `!has(self.${at}.size) || !has(oldSelf.${at}.size) || ` +
    `quantity(self.${at}.size).compareTo(quantity(oldSelf.${at}.size)) >= 0`
  );
}
