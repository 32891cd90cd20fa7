import { S3Error } from '../../../protocol/s3/s3-error.ts';
import { reservedWords } from './reserved-words.ts';

/** A token of an expression. `at` is its first character, counted from 1, for error messages. */
export type Token = { readonly at: number } &
  /** A name without quotes, in its own case, that is not a reserved word. */
  (
    | { readonly kind: 'name'; readonly text: string }
    /** A name in double quotes: its case counts. */
    | { readonly kind: 'quoted'; readonly text: string }
    /** A reserved word; `text` is in upper case. */
    | { readonly kind: 'word'; readonly text: string }
    | { readonly kind: 'string'; readonly text: string }
    | { readonly kind: 'number'; readonly text: string }
    /** An Ion literal in backticks, e.g. a timestamp. */
    | { readonly kind: 'ion'; readonly text: string }
    | { readonly kind: 'operator'; readonly text: string }
    | { readonly kind: 'end'; readonly text: '' }
  );

const twoCharacters: ReadonlySet<string> = new Set(['<>', '!=', '<=', '>=', '||']);
const oneCharacter = new Set('=<>+-*/%(),.[];');

/**
 * Splits an SQL expression into tokens in one pass.
 *
 * @throws S3Error LexerInvalidChar, LexerInvalidLiteral
 */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = skipBlank(sql, 0);
  while (at < sql.length) {
    const { token, end } = readToken(sql, at);
    tokens.push(token);
    at = skipBlank(sql, end);
  }
  tokens.push({ kind: 'end', text: '', at: sql.length + 1 });
  return tokens;
}

interface Read {
  readonly token: Token;
  readonly end: number;
}

function readToken(sql: string, start: number): Read {
  const first = sql.charAt(start);
  const at = start + 1;
  if (isNameStart(first)) {
    const end = scan(sql, start, (one) => isNameStart(one) || isDigit(one));
    const text = sql.slice(start, end);
    const isWord = reservedWords.has(text.toLowerCase());
    return { token: isWord ? { kind: 'word', text: text.toUpperCase(), at } : { kind: 'name', text, at }, end };
  }
  if (first === "'") return readQuoted(sql, start, "'", 'string');
  if (first === '"') return readQuoted(sql, start, '"', 'quoted');
  if (first === '`') return readQuoted(sql, start, '`', 'ion');
  if (isDigit(first) || (first === '.' && isDigit(sql.charAt(start + 1)))) return readNumber(sql, start);
  const two = sql.slice(start, start + 2);
  if (twoCharacters.has(two)) return { token: { kind: 'operator', text: two, at }, end: start + 2 };
  if (oneCharacter.has(first)) return { token: { kind: 'operator', text: first, at }, end: start + 1 };
  throw new S3Error('LexerInvalidChar', `The SQL expression contains a character that is not valid at ${at}.`);
}

/** Reads text between quotes. Two quotes within it stand for one. */
function readQuoted(sql: string, start: number, quote: string, kind: 'string' | 'quoted' | 'ion'): Read {
  let text = '';
  let from = start + 1;
  for (;;) {
    const close = sql.indexOf(quote, from);
    if (close < 0) {
      throw new S3Error('LexerInvalidLiteral', `The literal at ${start + 1} of the SQL expression has no end.`);
    }
    text += sql.slice(from, close);
    if (sql.charAt(close + 1) !== quote) return { token: { kind, text, at: start + 1 }, end: close + 1 };
    text += quote;
    from = close + 2;
  }
}

function readNumber(sql: string, start: number): Read {
  let end = scan(sql, start, isDigit);
  if (sql.charAt(end) === '.') end = scan(sql, end + 1, isDigit);
  if (sql.charAt(end).toLowerCase() === 'e') {
    const sign = sql.charAt(end + 1);
    const exponent = sign === '+' || sign === '-' ? end + 2 : end + 1;
    const last = scan(sql, exponent, isDigit);
    end = last > exponent ? last : end;
  }
  if (isNameStart(sql.charAt(end))) {
    throw new S3Error('LexerInvalidLiteral', `The number at ${start + 1} of the SQL expression is not valid.`);
  }
  return { token: { kind: 'number', text: sql.slice(start, end), at: start + 1 }, end };
}

/** Skips white space and comments. */
function skipBlank(sql: string, from: number): number {
  let at = from;
  for (;;) {
    at = scan(sql, at, (one) => one === ' ' || one === '\n' || one === '\t' || one === '\r');
    if (!sql.startsWith('--', at)) return at;
    const end = sql.indexOf('\n', at);
    at = end < 0 ? sql.length : end + 1;
  }
}

function scan(sql: string, from: number, accepts: (character: string) => boolean): number {
  let at = from;
  while (at < sql.length && accepts(sql.charAt(at))) at += 1;
  return at;
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9' && character.length === 1;
}

function isNameStart(character: string): boolean {
  return (
    (character >= 'a' && character <= 'z') ||
    (character >= 'A' && character <= 'Z') ||
    character === '_' ||
    character === '$'
  );
}
