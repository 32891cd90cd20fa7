import type { Context } from '../../context.ts';

export interface SignInOptions {
  readonly tokenFile?: string;
  readonly user?: string;
  readonly device?: boolean;
}

export async function testOpenId(_context: Context, _args: readonly string[], _options: SignInOptions): Promise<void> {
  throw new Error('not built yet');
}
