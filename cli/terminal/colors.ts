/** Colors by meaning. */
const codes = {
  error: 31,
  warning: 33,
  success: 32,
  time: 32,
  size: 33,
  folder: 36,
  title: 1,
} as const;

type Meaning = keyof typeof codes;

/** Colors a text by its meaning, or returns it unchanged. */
export type Paint = (meaning: Meaning, text: string) => string;

const plainText: Paint = (_, text) => text;

/**
 * Returns how a stream is colored: by ANSI sequences on a terminal, unless `NO_COLOR` is set to anything or the terminal has none.
 *
 * @see https://no-color.org
 */
export function paintFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv, wanted = true): Paint {
  const rejected = Boolean(env['NO_COLOR']) || /^(?:1|on|t|true|yes)$/i.test(env['MC_NO_COLOR'] ?? '');
  const none = !wanted || stream.isTTY !== true || rejected || env['TERM'] === 'dumb';
  return none ? plainText : (meaning, text) => `\u001b[${codes[meaning]}m${text}\u001b[0m`;
}
