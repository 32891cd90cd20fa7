/** The part of a JSON text that is being typed: the text of a string from its quote to the caret. */
interface Typed {
  readonly start: number;
  readonly text: string;
}

/** Returns what is typed at the caret; undefined outside of a string. */
export function typedAt(document: string, caret: number): Typed | undefined {
  const line = document.lastIndexOf('\n', caret - 1) + 1;
  let start: number | undefined;
  for (let at = line; at < caret; at += 1) {
    if (document[at] === '\\') at += 1;
    else if (document[at] === '"') start = start === undefined ? at + 1 : undefined;
  }
  return start === undefined ? undefined : { start, text: document.slice(start, caret) };
}

const maxSuggestions = 8;

/** Returns the names that begin with the typed text, those of a group such as `s3:` with its next words; none for a whole name. */
export function suggestions(typed: Typed | undefined, names: readonly string[]): readonly string[] {
  const text = typed?.text.toLowerCase() ?? '';
  if (text.length < 2) return [];
  const found = names.filter((name) => name.toLowerCase().startsWith(text));
  return found.length === 1 && found[0] === typed?.text ? [] : found.slice(0, maxSuggestions);
}

/** Replaces what is typed by a name. The rest of the string after the caret goes too. */
export function completed(
  document: string,
  caret: number,
  name: string,
): { readonly document: string; readonly caret: number } {
  const start = typedAt(document, caret)?.start ?? caret;
  const rest = /^[^"\n]*/.exec(document.slice(caret))?.[0] ?? '';
  const after = document.slice(caret + rest.length);
  const quote = after.startsWith('"') ? '' : '"';
  return { document: `${document.slice(0, start)}${name}${quote}${after}`, caret: start + name.length };
}
