import { expect, it } from 'vitest';
import { runCommand } from './run-command.ts';

it('tells how a program ended that did not read what it was given', async () => {
  expect(await runCommand('sh', ['-c', 'exit 3'], { input: 'x'.repeat(4 << 20) })).toMatchObject({ code: 3 });
});
