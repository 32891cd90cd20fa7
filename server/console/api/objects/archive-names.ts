/**
 * Returns the name of a key in an archive, relative to the folder of the page. Programs that unpack must not write outside of their folder:
 * parts such as `..`, leading slashes, backslashes and control characters are replaced by `_`. Two keys with one name get numbers.
 */
export class ArchiveNames {
  readonly #taken = new Set<string>();

  nameOf(prefix: string, key: string): string {
    const path = key.startsWith(prefix) ? key.slice(prefix.length) : key;
    const name = path.split('/').map(safePart).join('/').toWellFormed();
    for (let count = 1; ; count += 1) {
      const free = count === 1 ? name : numbered(name, count);
      // Most file systems of desktops take upper and lower case for the same.
      const taken = free.toLowerCase();
      if (this.#taken.has(taken)) continue;
      this.#taken.add(taken);
      return free;
    }
  }
}

function safePart(part: string): string {
  if (part === '' || part === '.' || part === '..') return `_${part.replaceAll('.', '_')}`;
  const safe = part.replaceAll(/[\p{Cc}\\:*?"<>|]/gu, '_').replace(/[. ]+$/, '_');
  return /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(safe) ? `_${safe}` : safe;
}

function numbered(name: string, count: number): string {
  const dot = name.lastIndexOf('.');
  const hasExtension = dot > name.lastIndexOf('/') + 1;
  return hasExtension ? `${name.slice(0, dot)} (${count})${name.slice(dot)}` : `${name} (${count})`;
}
