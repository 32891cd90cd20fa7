/**
 * Returns a path of this machine with `/` between its parts. Windows takes both separators, and the rest of the client then needs to know
 * one of them only. A path that begins with `\\?\` is left alone: Windows reads it literally.
 */
export function localPath(text: string, platform: NodeJS.Platform): string {
  return platform === 'win32' && !text.startsWith('\\\\?\\') ? text.replaceAll('\\', '/') : text;
}

/** Names that mean devices on Windows, with any extension. */
const devices = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\..*)?$/i;

/**
 * Reports whether a segment of a key can be the name of a file.
 *
 * @see https://learn.microsoft.com/en-us/windows/win32/fileio/naming-a-file
 */
export function isFileName(segment: string, platform: NodeJS.Platform): boolean {
  if (segment === '' || segment === '.' || segment === '..' || segment.includes('\0')) return false;
  if (platform !== 'win32') return true;
  // Windows removes dots and spaces at the end, so that two keys would become one file.
  // eslint-disable-next-line no-control-regex
  return !/[\\:*?"<>|\u0001-\u001f]/.test(segment) && !/[. ]$/.test(segment) && !devices.test(segment);
}
