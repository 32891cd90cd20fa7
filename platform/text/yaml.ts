import { LineCounter, parseDocument, type YAMLError } from 'yaml';
import { ProgramError } from '../errors/program-error.ts';

/** Messages by code, for the errors whose own message repeats the text of the document. A document may hold secrets. */
const withoutText: Readonly<Record<string, string>> = {
  UNEXPECTED_TOKEN: 'a text that does not belong here; write the value in quotes',
  TAG_RESOLVE_FAILED: 'a tag that does not exist; write a value that begins with ! in quotes',
  BAD_DIRECTIVE: 'a directive that does not exist; write a value that begins with % in quotes',
  BAD_ALIAS: 'a bad alias or anchor; write a value that begins with * or & in quotes',
};

/** Describes an error of the parser without the text of the document. */
export function yamlProblem({ code, message }: YAMLError): string {
  return withoutText[code] ?? (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:$/, '');
}

interface YamlOptions {
  readonly maxAliases: number;
  /** `texts` reads each scalar but null as it is written, so that the reader of a setting decides its type: `0123` and `false` may be names. */
  readonly scalars?: 'typed' | 'texts';
  /** Merges the mappings under the key `<<` into the one that has it, as YAML 1.1 does. By default `<<` is a key like others. */
  readonly merge?: boolean;
}

/**
 * Parses a YAML document. What the parser only warns of, for instance an unknown tag, is refused too, since it changes the value.
 *
 * @throws ProgramError with line and column, and without the text of the document
 */
export function parseYaml(text: string, { maxAliases, scalars = 'typed', merge = false }: YamlOptions): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    merge,
    logLevel: 'silent',
    ...(scalars === 'texts' && { schema: 'failsafe', customTags: ['null'] }),
  });
  const [issue] = [...document.errors, ...document.warnings];
  if (issue !== undefined) {
    const { line, col } = lineCounter.linePos(issue.pos[0]);
    throw new ProgramError('invalid-value', `line ${line}, column ${col}: ${yamlProblem(issue)}`);
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: maxAliases });
  } catch (error) {
    // Nothing else throws a plain error here.
    if (merge && (error as Error).constructor === Error)
      throw new ProgramError('invalid-value', 'a key << whose value is no mapping, and no list of mappings');
    // The message would repeat the name of the alias.
    if (!(error instanceof ReferenceError)) throw error;
    throw new ProgramError(
      'invalid-value',
      'an alias of nothing, or more aliases than are allowed; write a value that begins with * in quotes',
    );
  }
  if (holdsItself(value, [])) throw new ProgramError('invalid-value', 'an alias of the value that holds it');
  return value;
}

function holdsItself(value: unknown, holders: readonly unknown[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (holders.includes(value)) return true;
  return Object.values(value).some((item) => holdsItself(item, [...holders, value]));
}
