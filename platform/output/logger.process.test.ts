import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('has warnings of the runtime as lines of its own form, and Node prints none', async () => {
  const module = new URL('./logger.ts', import.meta.url).href;
  const program = `
    const { createLogger, logWarnings } = await import('${module}');
    logWarnings(createLogger({ name: 'test' }));
    process.emitWarning('the time is negative', 'TimeoutNegativeWarning');`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toMatchObject({ level: 'warn', err: { message: 'the time is negative' } });
});
