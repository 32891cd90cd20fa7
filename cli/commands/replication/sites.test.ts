import { describe, expect, it } from 'vitest';
import type { Context } from '../context.ts';
import { updateSite } from './sites.ts';

describe('admin replicate update', () => {
  it.each<[string, Parameters<typeof updateSite>[2], RegExp]>([
    ['a change of no site', { endpoint: 'http://127.0.0.1:9000' }, /^Name the site by --deployment-id$/],
    ['no change', { deploymentId: 'one' }, /^Say what to change/],
    ['the older name beside the newer', { deploymentId: 'one', mode: 'sync', sync: 'enable' }, /^--sync is the older/],
    [
      'expiry rules of one site',
      { deploymentId: 'one', enableIlmExpiryReplication: true },
      /is of all sites: leave out --deployment-id$/,
    ],
    [
      'expiry rules both ways',
      { enableIlmExpiryReplication: true, disableIlmExpiryReplication: true },
      /^Enable or disable .*, not both$/,
    ],
  ])('refuses %s before it asks the server', async (_, options, message) => {
    const unused = {} as Context;
    await expect(updateSite(unused, ['mine'], options)).rejects.toMatchObject({
      code: 'BadArgument',
      message: expect.stringMatching(message) as string,
    });
  });
});
