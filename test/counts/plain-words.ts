import { parseAst } from 'vite';
import type { Source } from './source-counts.ts';

/** What the glossary of CONTRIBUTING.md replaces, as parts of names: `mostKept` holds `most`, `OpenIdPerson` holds `person`. */
const glossary =
  'piece pieces seat seats pour lend tenure patience most longest turns finding findings declared greet noticed person people ' +
  'cutoff problem refused lost survey silence narrowed undenied tidy reach supersede superseded reseal told telling';

/** Words that no comment needs. */
const unclear = /\b(?:somebody|someone|nobody|whoever|whomever|he|him|his|so many|beside|stands|of now|tells?|told)\b/i;

/** A comment that begins with one of these is no sentence with a subject. */
const headless = /^(?:What|Who|Whom|Whose|Whoever|Whether|Where|Wherever|Of)\b/;

export interface WordCounts {
  readonly comments: number;
  readonly headless: number;
  /** Comments with a word that a plain sentence does without. */
  readonly unclear: number;
  /** How often each word of the glossary is part of a name, without those that are gone. */
  readonly names: ReadonlyMap<string, number>;
}

export function countWords(sources: readonly Source[]): WordCounts {
  const comments = sources.flatMap(({ text }) => commentsOf(text));
  const names = new Map(glossary.split(' ').map((word) => [word, 0]));
  for (const source of sources) {
    for (const word of wordsOfNames(source)) {
      const count = names.get(word);
      if (count !== undefined) names.set(word, count + 1);
    }
  }
  return {
    comments: comments.length,
    headless: comments.filter((comment) => headless.test(comment)).length,
    unclear: comments.filter((comment) => unclear.test(comment)).length,
    names: new Map([...names].filter(([, count]) => count > 0)),
  };
}

const comment = /\/\*\*?([\s\S]*?)\*\/|(?:^|\s)\/\/ ?([^\n]*(?:\n\s*\/\/[^\n]*)*)/g;

/** The text of each comment, in one line. Lines of `//` that follow each other are one comment. */
export function commentsOf(text: string): readonly string[] {
  return [...text.matchAll(comment)]
    .map(([, block, lines]) =>
      (block ?? lines ?? '')
        .replace(/^\s*(?:\*|\/\/) ?/gm, '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter((line) => line !== '' && !/^(?:oxlint|eslint|@ts|prettier)/.test(line));
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

/** The words of the names in a source, in lower case: `readIfMatch` gives `read`, `if`, `match`. Comments and messages have no names. */
function* wordsOfNames({ path, text }: Source): Iterable<string> {
  const names = new Map<number, string>();
  // The key and the value of `{ name }` are one place.
  addNames(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts', astType: 'ts' }), names);
  for (const name of names.values()) {
    for (const [word] of name.replace(/cut_?off/gi, 'cutoff').matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g))
      yield word.toLowerCase();
  }
}

function addNames(value: unknown, names: Map<number, string>): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) return value.forEach((item) => addNames(item, names));
  const { type, start, name } = value as Node;
  if (/^(?:JSX|Private)?Identifier$/.test(type) && typeof name === 'string') names.set(start, name);
  for (const child of Object.values(value)) addNames(child, names);
}
