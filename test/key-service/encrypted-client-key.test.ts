import { expect, it } from 'vitest';
import { startEncryptingServer } from '../support/server/start-encrypting-server.ts';

it('a storage server and the commands show the key service a key that a password encrypts', async () => {
  const password = 'the password of the key';
  const running = await startEncryptingServer({ password });
  try {
    expect(await running.createKey('made')).toMatchObject({ code: 0 });
    expect(running.server.log.join('\n')).not.toContain(password);
  } finally {
    await running.stop();
  }
}, 180_000);
