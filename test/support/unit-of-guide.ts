import { readFileSync } from 'node:fs';

/** Returns the unit of systemd as a reader of the guide copies it. */
export function unitOfGuide(): string {
  const guide = readFileSync(new URL('../../docs/guides/server.md', import.meta.url), 'utf8');
  const [, text = ''] = /```ini\n(.*?)```/s.exec(guide) ?? [];
  return text.replaceAll(/^ {3}/gm, '');
}
