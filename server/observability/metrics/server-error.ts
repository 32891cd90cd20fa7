/**
 * Reports whether a status counts as an error of the server. 501 does not: a client asks for what the server does not offer, and nothing is
 * wrong with the server. It counts with the errors of clients.
 */
export function isServerError(status: number): boolean {
  return status >= 500 && status !== 501;
}
