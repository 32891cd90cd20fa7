import { expect, it } from 'vitest';
import { readIdentityArchive } from './identity-archive.ts';
import { writeZip } from './zip.ts';

const now = new Date('2026-01-01T00:00:00Z');

const entry = (name: string, text: string) => ({ name: `iam-assets/${name}`, content: Buffer.from(text) });

it('an archive of identities keeps names of any kind', async () => {
  const archive = await readIdentityArchive(
    await writeZip(
      [
        entry('users.json', '{"__proto__":{"secretKey":"secret-of-it"},"constructor":{"secretKey":"secret-of-it"}}'),
        entry('policies.json', '{"__proto__":{"Version":"2012-10-17","Statement":[]}}'),
        entry('user_mappings.json', '{"__proto__":{"policy":"__proto__"}}'),
      ],
      now,
    ),
  );
  expect(Object.keys(archive.users ?? {})).toEqual(['__proto__', 'constructor']);
  expect(Object.keys(archive.policies ?? {})).toEqual(['__proto__']);
  expect(Object.entries(archive.userMappings ?? {})).toEqual([['__proto__', { policy: '__proto__' }]]);
});
