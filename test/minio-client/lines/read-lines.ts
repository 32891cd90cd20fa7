import { readdirSync, readFileSync } from 'node:fs';

/** One command line of a data file. */
export interface Line {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input: string | undefined;
  /** `!` before the line: a wrong use, which both clients refuse with an exit code other than 0. */
  readonly wrong: boolean;
  /** `=` before the line: a line that stock mc runs for both servers, to show the effect of lines before it. */
  readonly effect: boolean;
  readonly text: string;
}

/** The lines of one file, which run one after the other. Files run at the same time. */
export interface Group {
  /**
   * The name of the file. The names of its buckets begin with it and a hyphen, and no line lists all buckets: other files make and remove
   * theirs meanwhile.
   */
  readonly name: string;
  readonly lines: readonly Line[];
}

const folder = new URL('data/', import.meta.url);

export function readGroups(): Group[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((file) => ({
      name: file.replace(/\.txt$/, ''),
      lines: parseLines(readFileSync(new URL(file, folder), 'utf8')),
    }));
}

/** `[!|=] [NAME=VALUE …] COMMAND … [<<< INPUT]`; `#` begins a comment. Words may be quoted as in a shell. */
function parseLines(text: string): Line[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => parseLine(line));
}

function parseLine(text: string): Line {
  const [command = '', input] = text.replace(/^[!=] /, '').split(' <<< ');
  const words = wordsOf(command);
  const first = words.findIndex((word) => !/^[A-Z_a-z]+=/.test(word));
  const env = Object.fromEntries(
    words.slice(0, first).map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
  );
  return {
    words: words.slice(first),
    env,
    input: input?.replaceAll(String.raw`\n`, '\n'),
    wrong: text.startsWith('! '),
    effect: text.startsWith('= '),
    text,
  };
}

function wordsOf(command: string): string[] {
  const words = command.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
  return words.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
}
