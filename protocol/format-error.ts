/**
 * A text or a payload that does not have the form of its protocol. It has no code and is not a code of another class: parsers know neither the
 * program nor the call that they work for.
 */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}
