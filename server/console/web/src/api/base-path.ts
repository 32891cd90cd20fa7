/** Returns the path below which the browser sees the console, for example `/console`; empty for the root of its host. The server writes it. */
export function basePath(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="coffer-base"]')?.content ?? '';
}
