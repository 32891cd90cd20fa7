import { S3Error, type S3ErrorCode } from '../../../protocol/s3/s3-error.ts';
import { tokenize, type Token } from './lexer.ts';

/** Reads the tokens of an expression one after the other. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(sql: string) {
    this.#tokens = tokenize(sql);
  }

  get token(): Token {
    return this.#peek(0);
  }

  get following(): Token {
    return this.#peek(1);
  }

  /** Returns the token and goes on to the next. */
  take(): Token {
    const { token } = this;
    this.#at += 1;
    return token;
  }

  isOperator(...texts: readonly string[]): boolean {
    return this.token.kind === 'operator' && texts.includes(this.token.text);
  }

  isWord(...texts: readonly string[]): boolean {
    return this.token.kind === 'word' && texts.includes(this.token.text);
  }

  acceptOperator(text: string): boolean {
    if (!this.isOperator(text)) return false;
    this.#at += 1;
    return true;
  }

  acceptWord(text: string): boolean {
    if (!this.isWord(text)) return false;
    this.#at += 1;
    return true;
  }

  /** @throws S3Error with `code` unless the token is this operator */
  expectOperator(text: string, code: S3ErrorCode = 'ParseExpectedTokenType'): void {
    if (!this.acceptOperator(text)) throw this.error(code, `"${text}"`);
  }

  /** @throws S3Error with `code` unless the token is this word */
  expectWord(text: string, code: S3ErrorCode = 'ParseExpectedKeyword'): void {
    if (!this.acceptWord(text)) throw this.error(code, text);
  }

  /** Makes the error for a token that is not what the grammar expects. */
  error(code: S3ErrorCode, expected: string): S3Error {
    const { kind, text, at } = this.token;
    const found = kind === 'end' ? 'its end' : JSON.stringify(text.slice(0, 64));
    return new S3Error(code, `The SQL expression has ${found} at character ${at} where ${expected} is expected.`);
  }

  #peek(ahead: number): Token {
    const found = this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)];
    if (found === undefined) throw new Error('an expression has at least the token of its end');
    return found;
  }
}
