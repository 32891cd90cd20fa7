import { CliError } from '../cli-error.ts';

/** When and how an upload goes in parts; bytes. */
export interface Multipart {
  /** Larger ones go in parts. */
  readonly above: number;
  readonly partSize: number;
}

const mebibyte = 1_024 * 1_024;

/** S3 takes no smaller parts, but for the last, and no larger ones. */
const smallest = 5 * mebibyte;
const largest = 5 * 1_024 * mebibyte;

/**
 * Parts of 16 MiB for what is larger than 64 MiB; from the size that `COFFER_UPLOAD_MULTIPART_SIZE` or
 * `MC_UPLOAD_MULTIPART_SIZE` names (`8MiB`) on, where it is set; never with `--disable-multipart`.
 */
export function multipartSettings(env: NodeJS.ProcessEnv, disabled: boolean): Multipart {
  const name = env['COFFER_UPLOAD_MULTIPART_SIZE'] ? 'COFFER_UPLOAD_MULTIPART_SIZE' : 'MC_UPLOAD_MULTIPART_SIZE';
  const text = env[name];
  const given = text === undefined || text === '' ? undefined : parseSize(name, text);
  const partSize = given ?? 16 * mebibyte;
  return { partSize, above: disabled ? Infinity : (given ?? 64 * mebibyte) };
}

function parseSize(name: string, text: string): number {
  const match = /^(\d{1,12})(?:(K|M|G)i?B?)?$/i.exec(text.trim());
  const factor = { K: 1_024, M: mebibyte, G: 1_024 * mebibyte }[match?.[2]?.toUpperCase() ?? ''] ?? 1;
  const size = Number(match?.[1] ?? Number.NaN) * factor;
  if (size >= smallest && size <= largest) return size;
  throw new CliError(
    'BadArgument',
    `Invalid value of ${name}, \`${text}\`: it is a size from 5MiB to 5GiB, such as 16MiB`,
  );
}
