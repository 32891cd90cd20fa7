import { matchesText, textMatcher } from '../../../../protocol/policy/glob.ts';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import type { Entry } from '../entries/entry.ts';
import { parseSize } from '../entries/sizes.ts';
import { ageTest, type AgeOptions } from '../entries/times.ts';

export interface FindTestOptions extends AgeOptions {
  readonly name?: string;
  readonly path?: string;
  readonly regex?: string;
  readonly ignore?: string;
  readonly larger?: string;
  readonly smaller?: string;
  readonly maxdepth?: string;
}

type EntryTest = (entry: Entry) => boolean;

/**
 * Returns the test of all flags together. `*` and `?` match any character, also `/`. `--name` is compared with the last part of the name,
 * and with each folder as it is.
 *
 * @throws ProgramError BadArgument
 */
export function findTest(options: FindTestOptions, now: Date): EntryTest {
  const { name, path, regex, ignore, larger, smaller, maxdepth } = options;
  const isOfAge = ageTest(options, now);
  const tests: EntryTest[] = [({ modified }) => isOfAge(modified)];
  if (name !== undefined) {
    const isNamed = glob(name);
    tests.push((entry) => {
      const parts = entry.name.split('/');
      return isNamed(parts.at(-1) ?? '') || parts.includes(name);
    });
  }
  if (path !== undefined) {
    const matches = glob(path);
    tests.push(({ display }) => matches(display));
  }
  if (ignore !== undefined) {
    const matches = glob(ignore);
    tests.push(({ display, name: own }) => !matches(display) && !matches(own));
  }
  if (regex !== undefined) {
    const pattern = parseRegex('--regex', regex);
    tests.push(({ display }) => pattern.test(display));
  }
  if (larger !== undefined) {
    const limit = parseSize('--larger', larger);
    tests.push(({ size }) => size > limit);
  }
  if (smaller !== undefined) {
    const limit = parseSize('--smaller', smaller);
    tests.push(({ size }) => size < limit);
  }
  if (maxdepth !== undefined) {
    const depth = Number(maxdepth);
    if (!Number.isInteger(depth) || depth < 0) {
      throw new ProgramError('BadArgument', `Invalid --maxdepth \`${maxdepth}\`: it is a whole number`);
    }
    if (depth > 0) tests.push((entry) => entry.name.split('/').length <= depth);
  }
  return (entry) => tests.every((test) => test(entry));
}

function glob(pattern: string): (text: string) => boolean {
  const matcher = textMatcher(pattern);
  return (text) => matchesText(matcher, text);
}

/** Parses a regular expression. `(?i)` at its beginning ignores the case. */
function parseRegex(option: string, text: string): RegExp {
  const ignoresCase = text.startsWith('(?i)');
  try {
    return new RegExp(ignoresCase ? text.slice(4) : text, ignoresCase ? 'iu' : 'u');
  } catch (error) {
    throw new ProgramError('BadArgument', `Invalid ${option} \`${text}\``, { cause: error });
  }
}

/** A test of one value of many: `--tags` and `--metadata` are `KEY=REGEX`. */
interface FieldTest {
  readonly key: string;
  readonly value: RegExp;
}

/** @throws ProgramError BadArgument */
export function parseFieldTests(option: string, texts: readonly string[]): readonly FieldTest[] {
  return texts.map((text) => {
    const equals = text.indexOf('=');
    if (equals < 1) throw new ProgramError('BadArgument', `Invalid ${option} \`${text}\`: write KEY=REGEX`);
    return { key: text.slice(0, equals), value: parseRegex(option, text.slice(equals + 1)) };
  });
}

/** Keys of metadata are compared without their case. */
export function matchesFields(tests: readonly FieldTest[], fields: Readonly<Record<string, string>>): boolean {
  const byName = new Map(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
  return tests.every(({ key, value }) => {
    const found = byName.get(key.toLowerCase());
    return found !== undefined && value.test(found);
  });
}
