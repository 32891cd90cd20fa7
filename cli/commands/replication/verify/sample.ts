import { ProgramError } from '../../../../platform/errors/program-error.ts';

/** The versions whose attributes are read: all, a share of them, or a number. */
export type Sample =
  | { readonly kind: 'all' }
  /** `share` is from 0 to 1. */
  | { readonly kind: 'share'; readonly share: number }
  | { readonly kind: 'count'; readonly count: number };

/** They are held in memory until all versions are listed. */
const maxCount = 1_000_000;

/** Parses `1%`, `0.5%` or a number of versions. @throws ProgramError BadArgument */
export function parseSample(text: string | undefined): Sample {
  if (text === undefined) return { kind: 'all' };
  const [, number = '', percent] = /^(\d{1,7}(?:\.\d{1,6})?)(%)?$/.exec(text) ?? [];
  const value = Number(number);
  if (number !== '' && percent === '%' && value > 0 && value <= 100) return { kind: 'share', share: value / 100 };
  if (percent === undefined && Number.isInteger(value) && value > 0 && value <= maxCount) {
    return { kind: 'count', count: value };
  }
  throw new ProgramError(
    'BadArgument',
    `Invalid --sample \`${text}\`: write a share such as 1%, or a number from 1 to ${maxCount}`,
  );
}

/** Chooses from a stream of unknown length, each item with the same chance. `random` answers from 0 to 1, exclusive. */
export class Sampler<Item> {
  /** The items that are chosen where a number is asked for; empty for the other kinds. */
  readonly chosen: Item[] = [];
  readonly #sample: Sample;
  readonly #random: () => number;
  #seen = 0;

  constructor(sample: Sample, random: () => number) {
    this.#sample = sample;
    this.#random = random;
  }

  /** Reports whether an item is chosen now. One of a number may be among `chosen` at the end instead. */
  take(item: Item): boolean {
    const sample = this.#sample;
    if (sample.kind === 'all') return true;
    if (sample.kind === 'share') return this.#random() < sample.share;
    this.#seen += 1;
    const at = this.chosen.length < sample.count ? this.chosen.length : Math.floor(this.#random() * this.#seen);
    if (at < sample.count) this.chosen[at] = item;
    return false;
  }
}
