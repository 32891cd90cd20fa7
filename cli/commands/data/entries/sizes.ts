import { ProgramError } from '../../../../platform/errors/program-error.ts';

const powers = { '': 0, k: 1, m: 2, g: 3, t: 4 } as const;

/**
 * Parses a size and returns bytes: `5`, `10KB` (units of 1,000), `10KiB` (of 1,024); the case and the `b` do not matter.
 *
 * @throws ProgramError BadArgument
 */
export function parseSize(option: string, text: string): number {
  const [, count, unit = '', binary = ''] = /^(\d{1,12}(?:\.\d{1,3})?)([kmgt]?)(i?)b?$/i.exec(text.trim()) ?? [];
  const power = powers[unit.toLowerCase() as keyof typeof powers];
  const bytes = Math.floor(Number(count) * (binary === '' ? 1_000 : 1_024) ** power);
  if (count !== undefined && Number.isSafeInteger(bytes) && (unit !== '' || binary === '')) return bytes;
  throw new ProgramError('BadArgument', `Invalid ${option} \`${text}\`: write a size such as 64MiB, 1GB or 1000`);
}
