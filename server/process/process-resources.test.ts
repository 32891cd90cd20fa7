import { describe, expect, it } from 'vitest';
import { sizeThreadPool } from './process-resources.ts';

describe('the pool of threads that wait on the disk', () => {
  it('has four for files beside the writers of every thread', () => {
    const env: NodeJS.ProcessEnv = {};
    sizeThreadPool(env, 2);
    expect(env['UV_THREADPOOL_SIZE']).toBe('10');
  });

  it('does not change a size from the environment', () => {
    const env: NodeJS.ProcessEnv = { UV_THREADPOOL_SIZE: '7' };
    sizeThreadPool(env, 16);
    expect(env['UV_THREADPOOL_SIZE']).toBe('7');
  });
});
