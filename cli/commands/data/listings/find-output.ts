import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { formatSize } from '../../../terminal/format.ts';
import type { Context } from '../../context.ts';
import { writeOut } from '../../../terminal/io.ts';
import type { Entry } from '../entries/entry.ts';

/** Replaces `{}`, `{base}`, `{dir}`, `{size}`, `{time}`, `{version}` and `{url}`; in quotes, as `{"base"}`, the value is quoted too. */
export function fillTemplate(template: string, entry: Entry, url: () => string): string {
  return template.replaceAll(/\{("?)(|base|dir|size|time|version|url)\1\}/g, (_, quote: string, name: string) => {
    const value = valueOf(name, entry, url);
    return quote === '' ? value : JSON.stringify(value);
  });
}

function valueOf(name: string, entry: Entry, url: () => string): string {
  const { display, size, modified, version } = entry;
  const slash = display.lastIndexOf('/');
  switch (name) {
    case 'base':
      return display.slice(slash + 1);
    case 'dir':
      return slash < 0 ? '.' : display.slice(0, slash) || '/';
    case 'size':
      return formatSize(size);
    case 'time':
      return modified.toISOString();
    case 'version':
      return version?.id ?? '';
    case 'url':
      return url();
    default:
      return display;
  }
}

/**
 * Splits a command into words at spaces. Quotes and backslashes keep a word together. The words are split before names are put into them, so
 * that a name is never more than one word.
 *
 * @throws ProgramError BadArgument
 */
export function splitWords(command: string): readonly string[] {
  const word = /(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/gs;
  const words = command.match(word) ?? [];
  if (words.length === 0 || command.replaceAll(word, '').trim() !== '') {
    throw new ProgramError(
      'BadArgument',
      `Invalid --exec \`${command}\`: a quote is not closed, or there is no command`,
    );
  }
  return words.map(withoutQuotes);
}

function withoutQuotes(word: string): string {
  const quoted = /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs;
  return word.replaceAll(quoted, (_, double?: string, single?: string, escaped?: string) =>
    double === undefined ? (single ?? escaped ?? '') : double.replaceAll(/\\(["\\])/g, '$1'),
  );
}

/** Runs a command and prints its output. @throws ProgramError Failed if its exit code is not 0 */
export async function runCommand({ io, signal }: Context, words: readonly string[]): Promise<void> {
  const [program = '', ...args] = words;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], signal, env: process.env });
  const outputs = [copyTo(child.stdout, io.stdout, signal), copyTo(child.stderr, io.stderr, signal)];
  const [code, killed] = (await once(child, 'close')) as [number | null, string | null];
  await Promise.all(outputs);
  if (code === 0) return;
  throw new ProgramError('Failed', `\`${words.join(' ')}\` ended with ${code === null ? killed : `exit code ${code}`}`);
}

async function copyTo(from: AsyncIterable<Buffer>, stdout: Writable, signal: AbortSignal): Promise<void> {
  for await (const bytes of from) await writeOut({ stdout, signal }, bytes);
}
