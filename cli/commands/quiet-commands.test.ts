import { expect, it } from 'vitest';
import { isQuietable } from './quiet-commands.ts';

it.each(['cp', 'rm', 'tag set', 'ilm rule add', 'admin policy create', 'idp openid accesskey disable'])(
  '--quiet leaves out what %s did',
  (path) => {
    expect(isQuietable(path)).toBe(true);
  },
);

it.each([
  'ls',
  'cat',
  'sql',
  'stat',
  'find',
  'share download',
  'alias list',
  'alias export',
  'tag list',
  'get-json',
  'admin info',
  'login',
  'admin accesskey create',
  'admin user svcacct add',
  'admin cluster iam import',
])('--quiet leaves the data of %s', (path) => {
  expect(isQuietable(path)).toBe(false);
});
