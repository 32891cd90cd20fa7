import { ProgramError } from '../../platform/errors/program-error.ts';

/** The words of commands in older releases of mc, with the present ones. `*` is any word, and stays. */
const renamed: readonly (readonly [was: string, now: string])[] = [
  ['policy none', 'anonymous set none'],
  ['policy download', 'anonymous set download'],
  ['policy upload', 'anonymous set upload'],
  ['policy public', 'anonymous set public'],
  ['policy', 'anonymous'],
  ['config host add', 'alias set'],
  ['config host list', 'alias list'],
  ['config host ls', 'alias list'],
  ['config host remove', 'alias remove'],
  ['config host rm', 'alias remove'],
  ['ilm add', 'ilm rule add'],
  ['ilm edit', 'ilm rule edit'],
  ['ilm list', 'ilm rule list'],
  ['ilm ls', 'ilm rule list'],
  ['ilm remove', 'ilm rule remove'],
  ['ilm rm', 'ilm rule remove'],
  ['ilm export', 'ilm rule export'],
  ['ilm import', 'ilm rule import'],
  ['admin policy add', 'admin policy create'],
  ['admin policy set', 'admin policy attach'],
  ['admin policy update', 'admin policy attach'],
  ['admin policy unset', 'admin policy detach'],
  ['admin bucket info', 'stat'],
  ['admin speedtest', 'support perf'],
  ['admin inspect', 'support inspect'],
  ['admin health', 'support diag'],
  ['admin obd', 'support diag'],
  ['admin subnet health', 'support diag'],
];

const noDrives = 'Coffer has no drives to heal, drain or fill evenly; for a MinIO use stock mc';
const company = 'it sends data to a company, and this client sends nothing anywhere';

/** Commands that there are not, with the reason or the command to use instead. */
const absent: Readonly<Record<string, string>> = {
  'admin heal': noDrives,
  'admin decom': noDrives,
  'admin decommission': noDrives,
  'admin rebalance': noDrives,
  'admin update': 'a server is replaced by its image or its package, not by a download that a client starts',
  'admin profile': 'use `coffer support profile`',
  'admin bucket remote': 'use `coffer replicate`',
  'support callhome': company,
  'support proxy': company,
  'support register': company,
  'support upload': company,
  config: 'use `coffer alias`, or `coffer admin config` for the settings of a server',
  session: 'the same command goes on where it was interrupted',
  lock: 'use `coffer retention` or `coffer legalhold`',
  autocompletion: 'use `coffer completion`',
  // The words of other programs.
  copy: 'use `coffer cp`',
  move: 'use `coffer mv`',
  rename: 'use `coffer mv`',
  list: 'use `coffer ls`',
  dir: 'use `coffer ls`',
  delete: 'use `coffer rm`',
  del: 'use `coffer rm`',
  remove: 'use `coffer rm`',
  sync: 'use `coffer mirror`',
  upload: 'use `coffer put` or `coffer cp`',
  download: 'use `coffer get` or `coffer cp`',
  presign: 'use `coffer share`',
};

/** A command line in present words. */
export interface PresentWords {
  readonly words: readonly string[];
  /** The words that are of an older release, and those that took their place. */
  readonly hint?: { readonly was: string; readonly now: string };
}

/**
 * Replaces the words of an older release of mc by the present ones. `isCommand` distinguishes words of commands from flags and their values.
 *
 * @throws ProgramError BadArgument for a command that there is not, with the reason
 */
export function presentWords(words: readonly string[], isCommand: (word: string, at: number) => boolean): PresentWords {
  const places = words.flatMap((word, at) => (isCommand(word, at) ? [at] : []));
  const begins = (command: string): boolean => command.split(' ').every((word, at) => words[places[at] ?? -1] === word);
  const quota = begins('admin bucket quota') ? quotaCommand(words) : undefined;
  const found = quota ?? renamed.find(([was]) => begins(was));
  if (found === undefined) {
    const gone = Object.keys(absent).find(begins);
    if (gone === undefined) return { words };
    throw new ProgramError('BadArgument', `There is no command \`${gone}\`: ${absent[gone]}`);
  }
  const [was, now] = found;
  const replaced = new Set(places.slice(0, was.split(' ').length));
  const [first = 0] = places;
  const rest = words.filter((_, at) => at >= first && !replaced.has(at));
  return { words: [...words.slice(0, first), ...now.split(' '), ...presentFlags(now, rest)], hint: { was, now } };
}

function quotaCommand(words: readonly string[]): readonly [was: string, now: string] {
  const isSet = words.some((word) => /^--(hard|fifo)(=|$)/.test(word));
  return ['admin bucket quota', isSet ? 'quota set' : words.includes('--clear') ? 'quota clear' : 'quota info'];
}

/** The values of `--path` for those of the older flag `--lookup`. */
const lookups: Readonly<Record<string, string>> = { auto: 'auto', dns: 'off', path: 'on' };

/** The flags and arguments of an old command in their present form. */
function presentFlags(now: string, words: readonly string[]): readonly string[] {
  switch (now) {
    case 'admin policy attach':
    case 'admin policy detach':
      return words.flatMap((word) => {
        const [, kind, name = ''] = /^(user|group)=(.*)$/.exec(word) ?? [];
        return kind === undefined ? word.split(',') : [`--${kind}`, name];
      });
    case 'alias set':
      return words
        .flatMap((word) => (word.startsWith('--lookup=') ? word.split('=') : [word]))
        .map((word, at, all) =>
          word === '--lookup' ? '--path' : all[at - 1] === '--lookup' ? (lookups[word] ?? word) : word,
        );
    case 'quota set':
    case 'quota clear':
      return words.filter((word) => word !== '--clear').map((word) => word.replace(/^--hard(?==|$)/, '--size'));
    default:
      return words;
  }
}
