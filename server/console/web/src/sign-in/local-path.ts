/** Where to go after signing in: only ever a page of this console. The server checks again what passes through it. */
export function localPath(wanted: string | null): string {
  return wanted !== null && /^\/(?![/\\])/.test(wanted) && !wanted.startsWith('/sign-in') ? wanted : '/';
}
