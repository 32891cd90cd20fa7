/**
 * Returns the header for a text. A header has ASCII without blanks at its ends; any other text is written as S3 takes it, in an encoded word.
 * So is text that looks like such a word, which S3 would decode.
 *
 * @see https://www.rfc-editor.org/rfc/rfc2047#section-2
 */
export function headerText(value: string): string {
  if (/^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(value) && !value.includes('=?')) return value;
  const bytes = new TextEncoder().encode(value);
  return `=?UTF-8?B?${btoa(String.fromCodePoint(...bytes))}?=`;
}
