/** A text or a payload that does not have the form of its protocol. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}
