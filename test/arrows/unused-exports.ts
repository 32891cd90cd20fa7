/** One file with its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const enum|const|let|var|function ?\*?|class|interface|type|enum) ?(\w+)/gm;
/** `export const { a, b: c } = x`, `export const [a, b] = x`. */
const pattern = /^export (?:const|let|var) ([{[][^=]*[}\]]) =/gm;
const list = /^export (?:type )?\{([^}]*)\}( from )?/gm;
const namespace = /^export \* as (\w+)/gm;
const comment = /\/\*.*?\*\/|\/\/[^\n]*/gs;

interface Exported {
  readonly name: string;
  /** The files that have the name where no file imports it. */
  readonly owners: number;
}

function exportsOf(text: string): Exported[] {
  const named = [declaration, namespace].flatMap((form) => [...text.matchAll(form)].map(([, name = '']) => name));
  const unpacked = [...text.matchAll(pattern)].flatMap(([, names = '']) => lastWords(names));
  const listed = [...text.matchAll(list)].flatMap(([, names = '', from]) =>
    entriesOf(names).map((entry) => {
      const [name = '', isRenamed] = [lastWords(entry)[0], / as /.test(entry)];
      // The file from which it is handed on has the name too.
      return { name, owners: from !== undefined && !isRenamed ? 2 : 1 };
    }),
  );
  const here = [...named, ...unpacked].map((name) => ({ name, owners: 1 }));
  return [...here, ...listed].filter(({ name }) => name !== 'default');
}

function entriesOf(names: string): string[] {
  return names
    .replaceAll(comment, '')
    .split(',')
    .filter((entry) => entry.trim() !== '');
}

/** Returns the last word of each entry: the name under which others know it. */
function lastWords(names: string): string[] {
  return entriesOf(names).flatMap((entry) => entry.match(/\w+/g)?.at(-1) ?? []);
}

/**
 * Returns the exports whose name stands in no other file, as `PATH: NAME`: they need no `export`. A name that other files have by chance
 * hides one, which costs nothing.
 *
 * @param checked the files whose exports are looked at
 * @param all every file that may import them, tests too
 */
export function unusedExports(checked: readonly Source[], all: readonly Source[]): string[] {
  const filesWith = new Map<string, number>();
  for (const { text } of all) {
    for (const word of new Set(text.match(/\w+/g))) filesWith.set(word, (filesWith.get(word) ?? 0) + 1);
  }
  return checked.flatMap(({ path, text }) =>
    exportsOf(text).flatMap(({ name, owners }) => ((filesWith.get(name) ?? 0) <= owners ? [`${path}: ${name}`] : [])),
  );
}
