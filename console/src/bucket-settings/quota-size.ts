/** The units of the form, from the smallest one. */
export const units = ['MiB', 'GiB', 'TiB', 'PiB'] as const;

export interface EditedSize {
  readonly count: string;
  readonly unit: string;
}

const bytesIn = (unit: string): number => 1024 ** (2 + Math.max(0, (units as readonly string[]).indexOf(unit)));

/** Splits bytes into a count of the largest unit that divides them; 0 is an empty count. */
export function splitBytes(bytes: number): EditedSize {
  if (bytes === 0) return { count: '', unit: 'GiB' };
  const unit = units.findLast((one) => bytes % bytesIn(one) === 0) ?? 'MiB';
  return { count: String(bytes / bytesIn(unit)), unit };
}

/** Returns whole bytes; 0 for an empty count. */
export function bytesOf({ count, unit }: EditedSize): number {
  const size = Math.round(Number(count) * bytesIn(unit));
  return Number.isFinite(size) ? Math.max(0, size) : 0;
}
