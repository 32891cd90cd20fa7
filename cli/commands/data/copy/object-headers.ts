import { extname } from 'node:path';
import { ProgramError } from '../../../../platform/errors/program-error.ts';
import { contentHeaderNames } from '../../../../protocol/s3/copies/copied-attributes.ts';

/** Headers that S3 stores with an object. */
const storedHeaderNames: ReadonlySet<string> = new Set(contentHeaderNames);

const types: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.bin': 'application/octet-stream',
  '.bmp': 'image/bmp',
  '.bz2': 'application/x-bzip2',
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.epub': 'application/epub+zip',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.htm': 'text/html',
  '.html': 'text/html',
  '.ico': 'image/x-icon',
  '.jar': 'application/java-archive',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.mjs': 'text/javascript',
  '.mov': 'video/quicktime',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.mpeg': 'video/mpeg',
  '.ogg': 'audio/ogg',
  '.parquet': 'application/vnd.apache.parquet',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.rtf': 'application/rtf',
  '.sh': 'application/x-sh',
  '.svg': 'image/svg+xml',
  '.tar': 'application/x-tar',
  '.tgz': 'application/gzip',
  '.tif': 'image/tiff',
  '.tiff': 'image/tiff',
  '.tsv': 'text/tab-separated-values',
  '.txt': 'text/plain',
  '.wasm': 'application/wasm',
  '.wav': 'audio/wav',
  '.webm': 'video/webm',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
  '.zst': 'application/zstd',
};

/** Returns the type for the extension of a name. */
export function contentTypeOf(name: string): string {
  return types[extname(name).toLowerCase()] ?? 'application/octet-stream';
}

/** Headers of the lock of an object. */
const lockHeaderNames = [
  'x-amz-object-lock-mode',
  'x-amz-object-lock-retain-until-date',
  'x-amz-object-lock-legal-hold',
];

export function hasLock(headers: Readonly<Record<string, string>>): boolean {
  return lockHeaderNames.some((name) => name in headers);
}

/**
 * Parses `--attr 'Cache-Control=no-cache;colour=blue'`. Names that S3 stores become headers, the others metadata.
 *
 * @throws ProgramError BadArgument
 */
export function parseAttributes(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const attribute of text.split(';').filter((one) => one.trim() !== '')) {
    const equals = attribute.indexOf('=');
    const name = attribute.slice(0, Math.max(equals, 0)).trim().toLowerCase();
    const value = attribute.slice(equals + 1).trim();
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) {
      throw new ProgramError('BadArgument', `Invalid attribute \`${attribute}\`: write NAME=VALUE;NAME=VALUE`);
    }
    if (!/^[\x20-\x7e]*$/.test(value)) {
      throw new ProgramError(
        'BadArgument',
        `Invalid value of the attribute \`${name}\`: only printable ASCII can be sent`,
      );
    }
    const known = storedHeaderNames.has(name) || name === 'x-amz-storage-class' || name.startsWith('x-amz-meta-');
    headers[known ? name : `x-amz-meta-${name}`] = value;
  }
  return headers;
}
