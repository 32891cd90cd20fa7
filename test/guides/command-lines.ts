import type { Command } from 'commander';

/** The lines of a page that call programs: in its blocks and in its code spans, without remarks, with the lines that a backslash joins. */
export function commandLinesOf(page: string): readonly string[] {
  const lines = page.replaceAll(/\\\n\s*/g, '').split('\n');
  const found: string[] = [];
  let fence: string | undefined;
  for (const line of lines) {
    const mark = /^\s*```(\w*)/.exec(line);
    if (mark !== null) fence = fence === undefined ? (mark[1] ?? '') : undefined;
    else if (fence === undefined ? /^ {4,}\S/.test(line) : ['', 'sh', 'bash', 'console'].includes(fence))
      found.push(...callsOf(line));
    else if (fence === undefined)
      found.push(...[...line.matchAll(/`([^`]+)`/g)].flatMap(([, span = '']) => callsOf(span)));
  }
  return found;
}

/** The calls of one line of a shell. */
function callsOf(line: string): string[] {
  return line
    .replace(/(?:^|\s)#\s.*$/, '')
    .replaceAll('\\|', '|')
    .split(/\s\|\s|&&|;\s|\$\(|<\(/)
    .map((call) =>
      call
        .trim()
        .replace(/^\$ /, '')
        .replace(/^(?:[A-Z_]+[a-z_]*=\S+ +)+/, '')
        .replace(/^node bin\/([a-z-]+)\.js/, '$1'),
    );
}

/** The errors of a call: an unknown command or flag of a program. It answers nothing for a call of another program. */
export function errorsOf(call: string, programs: ReadonlyMap<string, Command>): readonly string[] {
  const name = [...programs.keys()].find((each) => call === each || call.startsWith(`${each} `));
  const program = name === undefined ? undefined : programs.get(name);
  if (name === undefined || program === undefined) return [];
  const words = call
    .slice(name.length)
    .split(/\s+/)
    .filter((word) => word !== '');
  return pathsOf(program, words).flatMap(({ command, error, rest }) =>
    error === undefined ? rest.flatMap((word) => flagErrors(command, word)) : [error],
  );
}

interface Path {
  readonly command: Command;
  readonly rest: readonly string[];
  readonly error?: string;
}

/** Follows the words of commands. A word such as `add|list` names several. */
function pathsOf(command: Command, words: readonly string[]): readonly Path[] {
  const flags = words.findIndex((word) => !word.startsWith('-'));
  const at = flags < 0 ? words.length : flags;
  const [word, ...after] = words.slice(at);
  const before = words.slice(0, at);
  if (command.commands.length === 0 || word === undefined || isPlaceholder(word)) return [{ command, rest: words }];
  return word.split('|').flatMap((name): readonly Path[] => {
    const next = command.commands.find((each) => each.name() === name || each.aliases().includes(name));
    if (name === 'help') return [];
    if (next === undefined) return [{ command, rest: [], error: `${command.name()}: no command ${name}` }];
    return pathsOf(next, [...before, ...after]);
  });
}

/** Such as `ALIAS`, `…`, `COMMAND`. */
function isPlaceholder(word: string): boolean {
  return /^[A-Z…[<{"'.*]/.test(word);
}

function flagErrors(command: Command, word: string): readonly string[] {
  const [, flag] = /^(--?[a-zA-Z][\w-]*)/.exec(word) ?? [];
  if (flag === undefined) return [];
  const names =
    flag.startsWith('--') || hasFlag(command, flag) ? [flag] : Array.from(flag.slice(1), (letter) => `-${letter}`);
  return names.filter((name) => !hasFlag(command, name)).map((name) => `${command.name()}: no flag ${name}`);
}

function hasFlag(command: Command, flag: string): boolean {
  if (['-h', '--help'].includes(flag)) return true;
  const known = command.options.some(({ short, long, negate }) => {
    const names = [short, long, negate ? undefined : long?.replace(/^--/, '--no-')];
    return names.includes(flag);
  });
  return known || (command.parent !== null && hasFlag(command.parent, flag));
}
