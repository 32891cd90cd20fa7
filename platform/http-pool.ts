import type { Pool } from 'undici';

/** Bytes of the header of an answer. It must be given: the package cannot read Node's own limit in a bundle. */
const maxHeaderSize = 16 * 1024;

/**
 * Opens a pool of kept connections by the package `undici`, which is loaded with the first call.
 *
 * Where Node has not loaded its own copy, the package becomes the client behind `fetch`, too. In the bundled programs each call then fails
 * (`UND_ERR_INVALID_ARG`), because of the limit above. So Node's copy is loaded first.
 *
 * @example
 *     const pool = await openPool('https://events.example.com', { connections: 16 });
 */
export async function openPool(origin: string, options: Pool.Options): Promise<Pool> {
  Response.error();
  const undici = await import('undici');
  return new undici.Pool(origin, { maxHeaderSize, ...options });
}
