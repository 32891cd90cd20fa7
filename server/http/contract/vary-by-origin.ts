/**
 * The headers of a request on which the CORS headers of its answer depend. Each answer that can have CORS headers names them, also where the
 * request has no `Origin`: a cache would serve it to a page otherwise, which could not read it.
 *
 * @see https://fetch.spec.whatwg.org/#cors-protocol-and-http-caches
 */
export const varyByOrigin = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method';
