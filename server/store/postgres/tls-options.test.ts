import { describe, expect, it } from 'vitest';
import { tlsOptions } from './tls-options.ts';

describe('TLS of PostgreSQL', () => {
  it('verifies the chain and the name by verify-full', () => {
    const options = tlsOptions({ kind: 'verify-full' });
    expect(options).toEqual({ rejectUnauthorized: true });
  });

  it('verifies nothing by require, as libpq does', () => {
    expect(tlsOptions({ kind: 'require' })).toMatchObject({ rejectUnauthorized: false });
  });
});
