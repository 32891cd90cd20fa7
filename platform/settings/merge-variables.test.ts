import { describe, expect, it } from 'vitest';
import { mergeVariables } from './merge-variables.ts';

const merge = (env: Record<string, string>, file: Record<string, string> = {}) => {
  const { variables, warnings } = mergeVariables(env, new Map(Object.entries(file)));
  return { variables: Object.fromEntries(variables), warnings };
};

describe('mergeVariables', () => {
  it.each([
    [{ SVC_REGION: 'eu' }, { SVC_REGION: 'us' }, { SVC_REGION: 'eu' }],
    [{ MINIO_REGION: 'eu' }, { SVC_REGION: 'us' }, { MINIO_REGION: 'eu' }],
    [{ SVC_ROOT_PASSWORD_FILE: '/new' }, { SVC_ROOT_PASSWORD: 'old' }, { SVC_ROOT_PASSWORD_FILE: '/new' }],
    [
      { MINIO_IDENTITY_OPENID_CLIENT_SECRET_A: 'new' },
      { SVC_IDENTITY_OPENID_CLIENT_SECRET_FILE_A: '/old', SVC_IDENTITY_OPENID_CLIENT_SECRET_B: 'b' },
      { MINIO_IDENTITY_OPENID_CLIENT_SECRET_A: 'new', SVC_IDENTITY_OPENID_CLIENT_SECRET_B: 'b' },
    ],
    [{ SVC_REGION: '' }, { SVC_REGION: 'us' }, { SVC_REGION: 'us' }],
    [{ OTHER: 'a' }, { OTHER: 'b', MORE: 'c' }, { OTHER: 'a', MORE: 'c' }],
  ])('lets the environment %j win over the file %j', (env, file, expected) => {
    expect(merge(env, file)).toEqual({ variables: expected, warnings: [] });
  });

  it('warns of the second name of a setting that has another value', () => {
    expect(merge({ MINIO_REGION: 'us', SVC_REGION: 'eu' }).warnings).toEqual([
      'MINIO_REGION has no effect: SVC_REGION is the same setting with another value, and comes first',
    ]);
    expect(merge({ SVC_ROOT_PASSWORD_FILE: '/p', SVC_ROOT_PASSWORD: 'secret' }).warnings).toEqual([
      'SVC_ROOT_PASSWORD_FILE has no effect: SVC_ROOT_PASSWORD is the same setting with another value, and comes first',
    ]);
    expect(merge({ MINIO_ROOT_USER: 'a', MINIO_ACCESS_KEY: 'a' }).warnings).toEqual([]);
  });
});
