import { parse } from 'yaml';
import { expect, it } from 'vitest';
import { expandEnvironment } from '../../keysvc/config/config-file.ts';
import type { Workload } from './workload.ts';
import { resolveContent, type Symbols } from './resolve.ts';

it.each(['plain', '${HOME}', 'a$${HOME}b', '$$${A}', '${', '$HOME', '${not a name}', '\'quotes\': "and" {braces}'])(
  'a secret that is %j reaches the key service as it is',
  async (secret) => {
    const symbols = { secret: () => secret } as unknown as Symbols;
    const document = { client_secret: { kind: 'secret', secret: 'azure', key: 'secret' } } as const;
    const file = await resolveContent({ kind: 'yaml', document }, {} as Workload, symbols);
    expect(expandEnvironment(parse(file), { HOME: '/root', A: 'b' })).toEqual({ client_secret: secret });
  },
);
