import { gzipSync } from 'node:zlib';

const block = 512;

/**
 * Packs files into a .tar.gz that every tar can read. `modified` is the time of all files. Errors with a `RangeError` for a path of more
 * than 255 bytes, which the format cannot hold.
 *
 * @see https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html (ustar)
 */
export function tarGz(files: ReadonlyMap<string, string>, modified: Date): Buffer {
  const blocks = [...files].flatMap(([path, text]) => {
    const content = Buffer.from(text);
    return [header(path, content.length, modified), content, Buffer.alloc(-content.length & (block - 1))];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * block)]));
}

function header(path: string, size: number, modified: Date): Buffer {
  const { prefix, name } = split(path);
  const head = Buffer.alloc(block);
  const octal = (value: number, at: number, length: number) =>
    head.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  head.write(name, 0);
  octal(0o600, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.floor(modified.getTime() / 1000), 136, 12);
  // The checksum counts its own field as spaces.
  head.fill(' ', 148, 156);
  head.write('0', 156);
  head.write('ustar', 257);
  // Version 00.
  head.write('00', 263);
  head.write(prefix, 345);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return head;
}

/** The name has 100 bytes; folders before it may go into the prefix, which has 155. */
function split(path: string): { readonly prefix: string; readonly name: string } {
  if (Buffer.byteLength(path) <= 100) return { prefix: '', name: path };
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100) return { prefix, name };
  }
  throw new RangeError(`the path is too long for an archive: ${path}`);
}
