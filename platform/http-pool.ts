import type { Pool } from 'undici';

/** Bytes of the header of an answer. It must be given: the package cannot read Node's own limit in a bundle. */
const maxHeaderSize = 16 * 1024;

/**
 * Opens a pool of kept connections by the package `undici`, which is loaded with the first call.
 *
 * The package becomes the client behind `fetch`, too, unless Node has loaded its own copy before. In the bundled programs each call of
 * `fetch` then fails (`UND_ERR_INVALID_ARG`), because of the limit above. So Node's copy is loaded first.
 *
 * @example
 *     const pool = await openPool('https://events.example.com', { connections: 16 });
 */
export async function openPool(origin: string, options: Pool.Options): Promise<Pool> {
  // The first use of `Response` loads Node's copy.
  Response.error();
  const undici = await import('undici');
  return new undici.Pool(origin, { maxHeaderSize, ...options });
}
