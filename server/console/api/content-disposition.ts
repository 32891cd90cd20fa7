/**
 * `Content-Disposition` that saves under this name: the plain form for old readers, the extended form for every character.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6266 and RFC 8187
 */
export function attachment(name: string): string {
  const file = name.toWellFormed() || 'download';
  // What is not printable ASCII, quotes the string or marks an escape is left to the extended form.
  const plain = file.replaceAll(/[^ -~]|["\\%]/g, '_');
  const extended = encodeURIComponent(file).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${extended}`;
}

/** What a person calls an object: the part of its key after the last slash that has something behind it. */
export function fileNameOf(key: string): string {
  return key.split('/').findLast((part) => part !== '') ?? 'download';
}
