/** Clients send text as UTF-8, and Node reads a header as one character for each byte. A text that is not UTF-8 stays as it is. */
export function textOfHeader(value: string): string {
  // oxlint-disable-next-line no-control-regex -- it is what ASCII ends with
  if (/^[\u0000-\u007f]*$/.test(value)) return value;
  const text = Buffer.from(value, 'latin1').toString();
  return text.includes('\ufffd') ? value : text;
}
