import { FormatError } from '../format-error.ts';
/**
 * Reads `key=value key="a value with spaces" …` as clients of the admin API send it. A value without quotes ends before the next word that
 * is followed by `=`, so that `display_name=Our staff scopes=openid` has the meaning that its author expects.
 */
export function parseKeyValues(text: string): Map<string, string> {
  const found = new Map<string, string>();
  let rest = text.trim();
  while (rest !== '') {
    const [head, key = ''] = /^([A-Za-z][A-Za-z0-9_]*)\s*=/.exec(rest) ?? [];
    if (head === undefined) {
      throw new FormatError(`Settings are given as key=value; this is none: ${JSON.stringify(firstWord(rest))}.`);
    }
    if (found.has(key)) throw new FormatError(`${key} is given twice.`);
    rest = rest.slice(head.length);
    const { value, after } = rest.startsWith('"') ? quoted(key, rest) : bare(rest);
    found.set(key, value);
    rest = after.trimStart();
  }
  return found;
}

/** Reads up to the quote before the next key or the end. Quotes inside need no escape. */
function quoted(key: string, text: string): { value: string; after: string } {
  const [all, value] = /^"(.*?)"(?=\s*$|\s+[A-Za-z][A-Za-z0-9_]*\s*=)/s.exec(text) ?? [];
  if (all === undefined || value === undefined) throw new FormatError(`The value of ${key} has no closing quote.`);
  return { value, after: text.slice(all.length) };
}

function bare(text: string): { value: string; after: string } {
  const next = /\s+[A-Za-z][A-Za-z0-9_]*\s*=/.exec(text)?.index ?? text.length;
  return { value: text.slice(0, next).trim(), after: text.slice(next) };
}

/** Returns only the first word, because the rest may be part of a secret. */
function firstWord(text: string): string {
  return (/^[^\s=]{1,40}/.exec(text)?.[0] ?? '').slice(0, 40);
}

/** Writes the same text on one line, so that it can be one of many lines. */
export function formatKeyValues(values: Iterable<readonly [string, string]>): string {
  return [...values].map(([key, value]) => `${key}=${formatValue(value)}`).join(' ');
}

function formatValue(value: string): string {
  const line = value.replaceAll('\n', String.raw`\n`);
  return /[\s"=]/.test(line) ? `"${line}"` : line;
}

export interface ConfigLine {
  readonly subsystem: string;
  /** `_` if the line names none. */
  readonly target: string;
  readonly values: ReadonlyMap<string, string>;
}

/** Reads lines of `subsystem[:target] key=value …`. It skips comments and empty lines. */
export function parseConfigLines(text: string): ConfigLine[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, subsystem = '', target = '_', rest = ''] = /^([a-z0-9_]+)(?::(\S+))?(?:\s+(.*))?$/s.exec(line) ?? [];
      if (subsystem === '') {
        throw new FormatError(`A line begins with the name of a subsystem; this does not: "${firstWord(line)}".`);
      }
      return { subsystem, target, values: parseKeyValues(rest) };
    });
}
